"""A feasible point from a few rays: crude, but it bounds the search and costs microseconds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot.waist.geometry import dual_exponent, lp_norm
from surefoot.waist.problem import RobustProblem

Array = NDArray[np.float64]


def ray_point(
    problem: RobustProblem,
    scenarios: Sequence[Array],
    towards: Array | None = None,
    above: float = 0.0,
) -> Array | None:
    """A point of the domain whose margin is at least ``above`` in all scenarios, the closest on some rays.

    Along a ray every scenario is a quadratic in one variable, so the first step that satisfies all of
    them lies just behind a root. ``towards`` adds the ray through a point that nearly does.
    """
    best, best_step = None, np.inf
    for direction in _directions(problem, towards):
        step = _first_step(problem, direction, scenarios, above)
        if step is None or step >= best_step:
            continue
        point = problem.factual + step * direction
        if problem.domain.contains(point):  # a factual outside its bounds is not always led back inside
            best, best_step = point, step
    return best


def reach(problem: RobustProblem, distance: float) -> Array:
    """Largest absolute change of each feature within ``distance`` of the factual."""
    return distance * np.asarray(lp_norm(problem.whitening.inverse, dual_exponent(problem.norm)))


def _directions(problem: RobustProblem, towards: Array | None) -> list[Array]:
    """Directions in feature space of unit distance that respect the domain's one-sided ends."""
    n = problem.n_features
    B = problem.whitening.inverse
    rays = [*np.eye(n), *-np.eye(n)]
    if towards is not None:
        rays.append(problem.whitening.apply(towards - problem.factual))
    for H in problem.margins:
        G = H.in_coordinates(B, problem.factual)
        rays += [G.vector, np.sign(G.vector), H_peak(G.matrix, G.vector)]
        eigenvectors = np.linalg.eigh(G.matrix)[1].T
        rays += [*eigenvectors, *-eigenvectors, *np.sign(eigenvectors), *-np.sign(eigenvectors)]
        rays += [np.sign(H_peak(G.matrix, G.vector))]
    at_low, at_high = problem.factual <= problem.domain.low, problem.factual >= problem.domain.high
    directions = []
    for ray in rays:
        step = B @ ray
        step = np.where((at_low & (step < 0)) | (at_high & (step > 0)), 0.0, step)
        size = lp_norm(problem.whitening.apply(step), problem.norm)
        if size > 1e-12:
            directions.append(step / size)
    return directions


def H_peak(Q: Array, q: Array) -> Array:  # noqa: N802
    """Stationary point of u'Qu + q'u, where the target class is often most likely."""
    return np.asarray(np.linalg.lstsq(-2 * Q, q, rcond=1e-10)[0])


def _first_step(
    problem: RobustProblem, direction: Array, scenarios: Sequence[Array], above: float
) -> float | None:
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(
            direction > 0,
            (problem.domain.high - problem.factual) / direction,
            (problem.domain.low - problem.factual) / direction,
        )
    longest = float(np.min(np.where(direction == 0, np.inf, room)))
    coefficients = []
    for H in problem.margins:
        curvature = direction @ H.matrix @ direction
        for delta in scenarios:
            point = problem.factual + delta
            coefficients.append(
                (curvature, H.gradient(point) @ direction, H(point) - problem.log_odds_threshold - above)
            )
    a, b, c = (np.array(part, dtype=float) for part in zip(*coefficients, strict=True))
    steps = _roots(a, b, c)
    steps = np.append(steps * (1 + 1e-9) + 1e-12, 0.0)
    steps = np.sort(steps[(steps >= 0) & (steps <= longest)])
    values = a[:, None] * steps**2 + b[:, None] * steps + c[:, None]
    good = np.flatnonzero((values >= 0).all(axis=0))
    return float(steps[good[0]]) if good.size else None


def _roots(a: Array, b: Array, c: Array) -> Array:
    """All real roots of a s^2 + b s + c, without cancellation."""
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(b * b - 4 * a * c)
        half = -0.5 * (b + np.copysign(root, b))
        roots = np.concatenate([half / a, c / half, -c / b])
    return np.asarray(roots[np.isfinite(roots)])
