"""How far a point may be off: worst perturbation and certified radius, by a route of their own.

Nothing here is shared with the searches: a point is judged by the quadratics alone. Perturbations are
d = r c + E w with ||w||_q <= r in the ball's own coordinates w, so each requirement is a quadratic in w.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import RobustProblem
from surefoot.proof.lowest import lowest_in_ball

Array = NDArray[np.float64]

__all__ = [
    "Worst",
    "certified_radius",
    "coverage",
    "holds_everywhere",
    "lowest_in_ball",
    "worst_perturbation",
]


@dataclass(frozen=True, eq=False)
class Worst:
    """The worst perturbation of a point.

    Parameters
    ----------
    perturbation : array
        The worst one found, in the features' units.
    violation : float
        The paper's phi = -g(x + perturbation) of the requirement that suffers most; one that is not robust
        sees no perturbation.
    violation_bound : float
        Proven: no perturbation in the ball violates by more. Equal to ``violation`` up to 1e-9 unless
        the effort ran out.
    """

    perturbation: Array
    violation: float
    violation_bound: float


def worst_perturbation(
    problem: RobustProblem, x: ArrayLike, radius: float | None = None, time_limit: float = np.inf
) -> Worst:
    """Max over the ball of -g(x + d), exactly (radius: the budget), or what is proven in the time."""
    r = problem.budget if radius is None else radius
    point = np.asarray(x, dtype=float)
    deadline = time.perf_counter() + time_limit
    found = []
    for requirement in problem.requirements:
        if requirement.robust:
            found.append(_worst_for(requirement.margin, problem, point, r, deadline))
        else:
            violation = -float(requirement.margin(point))
            found.append(Worst(np.zeros(problem.n_features), violation, violation))
    worst = max(found, key=lambda w: w.violation)
    return Worst(worst.perturbation, worst.violation, max(w.violation_bound for w in found))


def _worst_for(g: Quadratic, problem: RobustProblem, point: Array, radius: float, deadline: float) -> Worst:
    """Of one robust requirement, in the ball's coordinates."""
    ball = problem.ball
    G = g.in_coordinates(ball.basis, point + radius * ball.centre)
    w, lowest, bound = lowest_in_ball(G, ball.norm, radius, deadline)
    return Worst(ball.perturbation(w, radius), -lowest, -bound)


def certified_radius(
    problem: RobustProblem, x: ArrayLike, rtol: float = 1e-7, time_limit: float = 10.0
) -> float:
    """The largest radius within which every perturbation provably keeps all robust requirements.

    0 if they do not hold at x itself. The worst violation grows with the radius, so the radius is the root
    of one function. Infinite where nothing can break (checked up to a million budgets' units). When time or
    effort run out the radius is smaller than the largest one, but still proven.
    """
    point = np.asarray(x, dtype=float)
    deadline = time.perf_counter() + time_limit
    margins = [r.margin for r in problem.requirements if r.robust]

    def violation(radius: float) -> float:
        if time.perf_counter() > deadline:
            return np.inf
        return max(_worst_for(g, problem, point, radius, deadline).violation_bound for g in margins)

    excess = max((-float(g(point)) for g in margins), default=-np.inf)  # with radius 0
    if not excess <= 0:
        return 0.0
    if not margins or not problem.ball.basis.shape[1]:
        return np.inf
    low, high = 0.0, problem.budget if problem.budget > 0 else 0.01
    while (above := violation(high)) <= 0:
        if high > 1e6:
            return np.inf if holds_everywhere(problem, point) else high
        low, excess, high = high, above, 2 * high
    while high - low > rtol * high and high > 1e-12:
        middle = _between(low, excess, high, above)
        value = violation(middle)
        if value <= 0:
            low, excess, above = middle, value, 0.5 * above  # halved: a steady end must not stall (Illinois)
        else:
            high, above, excess = middle, value, 0.5 * excess
    return low


def holds_everywhere(problem: RobustProblem, x: ArrayLike | None = None) -> bool:
    """Whether no perturbation of any size breaks a robust requirement at x; without x, at any point.

    Convex margins that are nowhere below zero, whatever the features that do not land exactly may be.
    """
    basis = problem.metric.inverse if x is None else problem.ball.basis
    at = problem.factual if x is None else np.asarray(x, dtype=float)
    margins = [r.margin.in_coordinates(basis, at) for r in problem.requirements if r.robust]
    return all(_nowhere_negative(G) for G in margins)


def _nowhere_negative(G: Quadratic) -> bool:
    if not G.matrix.any() and not G.vector.any():
        return G.constant >= 0
    if np.linalg.eigvalsh(G.matrix)[0] <= 0:
        return False
    return float(G(np.linalg.solve(-2 * G.matrix, G.vector))) >= 0


def _between(low: float, below: float, high: float, above: float) -> float:
    """Where a straight line through both ends vanishes, kept away from them."""
    if not np.isfinite(above) or above - below <= 0:
        return 0.5 * (low + high)
    step = -below / (above - below)
    return low + float(np.clip(step, 1e-7, 1 - 1e-7)) * (high - low)


def coverage(radius: float, budget: float) -> float:
    """Share of the budget that is covered: min(1, radius / budget)."""
    return 1.0 if budget == 0 or radius >= budget else radius / budget
