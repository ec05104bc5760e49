"""The nearest robust point by trying: every allowed value, and a fine grid of what is continuous."""

import itertools

import numpy as np

from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.paper.rays import reach


def nearest_by_trying(problem, distance, count=2001):
    """Distance of the nearest robust point on a grid of what is within a distance; infinite if none is."""
    size = reach(problem, distance)
    axes = [_values(problem, j, problem.factual[j] - size[j], problem.factual[j] + size[j], count)
            for j in range(problem.n_features)]  # fmt: skip
    points = np.array(list(itertools.product(*axes))).reshape(-1, problem.n_features)
    A, low, high = problem.domain.linear()
    values = points @ A.T
    points = points[((values >= low) & (values <= high)).all(axis=1)]
    points = points[np.argsort(problem.whitening.distance(points, problem.factual, problem.norm))]
    for shift in problem.ball.sample(30, 0):
        points = _withstanding(problem, points, shift)
    while len(points):  # what harms the first may harm many others
        worst = worst_perturbation(problem, points[0])
        if worst.violation <= 0:
            return problem.distance(points[0])
        points = _withstanding(problem, points[1:], worst.perturbation)
    return np.inf


def _withstanding(problem, points, shift):
    margins = [r.margin(points + shift if r.robust else points) for r in problem.requirements]
    return points[np.min(margins, axis=0) >= 0]


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
