"""The nearest robust point by trying: every allowed value, and a fine grid of what is continuous."""

import itertools

import numpy as np

from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.paper.rays import reach


def nearest_by_trying(problem, distance, count=2001):
    """Distance of the nearest robust point of a grid within a distance of the factual; infinite if none is."""
    size = reach(problem, distance)
    axes = [_values(problem, j, problem.factual[j] - size[j], problem.factual[j] + size[j], count)
            for j in range(problem.n_features)]  # fmt: skip
    points = np.array(list(itertools.product(*axes))).reshape(-1, problem.n_features)
    A, low, high = problem.domain.linear()
    values = points @ A.T
    points = points[((values >= low) & (values <= high)).all(axis=1)]
    if not len(points):
        return np.inf
    points = points[_margins(problem, points) >= 0]
    for point in sorted(points, key=problem.distance):
        if worst_perturbation(problem, point).violation <= 0:
            return problem.distance(point)
    return np.inf


def _margins(problem, points):
    """Least margins over some perturbations: what fails here needs no closer look."""
    shifts = [np.zeros(problem.n_features), *problem.ball.sample(60, 0)]
    least = np.full(len(points), np.inf)
    for r in problem.requirements:
        for shift in shifts if r.robust else shifts[:1]:
            least = np.minimum(least, r.margin(points + shift))
    return least


def _values(problem, j, low, high, count):
    domain = problem.domain
    low, high = max(low, domain.low[j]), min(high, domain.high[j])
    for s in domain.sets:
        if s.feature == j:
            found = [v for v in np.arange(np.floor(low), np.ceil(high) + 1) if low <= v <= high]
            if s.values is not None:
                found = [v for v in s.values if low <= v <= high]
            return sorted({*found, *([s.today] if low <= s.today <= high else [])})
    return [low] if low == high else [] if low > high else np.linspace(low, high, count)
