"""How far a point may be off: worst perturbation and certified radius, by a route of their own.

Nothing here is shared with the searches: a point is judged by the quadratics alone.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from surefoot.waist.problem import RobustProblem
from surefoot.waist.quadratic import Quadratic

Array = NDArray[np.float64]

MAX_NODES = 2_000
MAX_CORNERS = 200_000


@dataclass(frozen=True, eq=False)
class Worst:
    """The perturbation that does most harm to a point.

    Parameters
    ----------
    perturbation : array
        The worst one found.
    violation : float
        The paper's phi = tau' - H(x + perturbation).
    violation_bound : float
        Proven: no perturbation in the ball violates by more. Equal to ``violation`` up to 1e-9 unless
        the effort ran out.
    """

    perturbation: Array
    violation: float
    violation_bound: float


def worst_perturbation(problem: RobustProblem, x: ArrayLike, radius: float | None = None) -> Worst:
    """Max over ||M d||_p <= radius of tau' - H(x + d), exactly (radius: the budget)."""
    gamma = problem.budget if radius is None else radius
    point = np.asarray(x, dtype=float)
    B = problem.whitening.inverse
    found = []
    for H in problem.margins:
        v, lowest, bound = lowest_in_ball(H.in_coordinates(B, point), problem.norm, gamma)
        tau = problem.log_odds_threshold
        found.append(Worst(B @ v, tau - lowest, tau - bound))
    worst = max(found, key=lambda w: w.violation)
    return Worst(worst.perturbation, worst.violation, max(w.violation_bound for w in found))


def certified_radius(
    problem: RobustProblem, x: ArrayLike, rtol: float = 1e-7, time_limit: float = 10.0
) -> float:
    """The largest radius within which every perturbation provably keeps the decision; 0 if there is none.

    The worst violation grows with the radius, so the radius is the root of one function. Infinite where the
    decision holds everywhere (checked up to a million standard deviations). When time or effort run out
    the radius is smaller than the largest one, but still proven.
    """
    point = np.asarray(x, dtype=float)
    deadline = time.perf_counter() + time_limit

    def violation(radius: float) -> float:
        if time.perf_counter() > deadline:
            return np.inf
        return worst_perturbation(problem, point, radius).violation_bound

    if problem.margin(point) < 0:
        return 0.0
    low, high = 0.0, problem.budget if problem.budget > 0 else 0.01
    excess = -problem.margin(point)  # at ``low``; below zero where the decision holds
    while (above := violation(high)) <= 0:
        if high > 1e6:
            return np.inf if holds_everywhere(problem) else high
        low, excess, high = high, above, 2 * high
    while high - low > rtol * high and high > 1e-12:
        middle = _between(low, excess, high, above)
        value = violation(middle)
        if value <= 0:
            low, excess, above = middle, value, 0.5 * above  # halved: a steady end must not stall (Illinois)
        else:
            high, above, excess = middle, value, 0.5 * excess
    return low


def holds_everywhere(problem: RobustProblem) -> bool:
    """Whether the decision is the target's at every point: convex margins that are nowhere below it."""
    for H in problem.margins:
        G = H.in_coordinates(problem.whitening.inverse, problem.factual)
        if np.linalg.eigvalsh(G.matrix)[0] <= 0:
            return False
        if float(G(np.linalg.solve(-2 * G.matrix, G.vector))) < problem.log_odds_threshold:
            return False
    return True


def _between(low: float, below: float, high: float, above: float) -> float:
    """Where a straight line through both ends vanishes, kept away from them."""
    if not np.isfinite(above) or above - below <= 0:
        return 0.5 * (low + high)
    step = -below / (above - below)
    return low + float(np.clip(step, 1e-7, 1 - 1e-7)) * (high - low)


def coverage(radius: float, budget: float) -> float:
    """Share of the budget that is covered: min(1, radius / budget)."""
    return 1.0 if budget == 0 or radius >= budget else radius / budget


def lowest_in_ball(G: Quadratic, p: float, radius: float) -> tuple[Array, float, float]:
    """Minimise G(v) over ||v||_p <= radius: minimiser, value, proven lower bound."""
    if radius == 0:
        v = np.zeros(G.n_features)
        return v, float(G(v)), float(G(v))
    if p == 2:
        return _lowest_in_sphere(G, radius)
    if p == np.inf:
        low, high = np.full(G.n_features, -radius), np.full(G.n_features, radius)
        _fix_monotone(G, low, high)
        if (G.matrix.diagonal()[high > low] <= 0).all():
            return _lowest_corner(G, low, high)
    if p == 1 and _concave_along_edges(G.matrix):
        v = min((s * radius * e for e in np.eye(G.n_features) for s in (1.0, -1.0)), key=G)
        return (
            v,
            float(G(v)),
            float(G(v)) - 1e-13 * (abs(G.constant) + radius * float(np.abs(G.vector).max())),
        )
    return _branch_and_bound(G, radius, _lowest_linear_box if p == np.inf else _lowest_linear_cross)


def _concave_along_edges(Q: Array) -> bool:
    """Whether u'Qu is concave along e_i and all e_i +- e_j: on a cross-polytope it is least at a corner."""
    d = Q.diagonal()
    pairs = np.add.outer(d, d) + 2 * np.abs(Q - np.diag(d))
    np.fill_diagonal(pairs, d)
    return bool((pairs <= 0).all())


def _lowest_in_sphere(G: Quadratic, radius: float) -> tuple[Array, float, float]:
    """Trust-region subproblem: (2Q + lam I) v = -q with ||v|| = radius, by bisection on lam.

    In the hard case q has no part along the lowest eigenvector, which then supplies the missing length.
    """
    eigenvalues, vectors = np.linalg.eigh(2 * G.matrix)
    g = vectors.T @ G.vector
    floor = max(0.0, -eigenvalues[0])

    def length(lam: float) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.linalg.norm(np.where(g == 0, 0.0, g / (eigenvalues + lam))))

    if eigenvalues[0] > 0 and length(0.0) <= radius:
        lam = 0.0
    else:
        low, high = floor, floor + np.linalg.norm(g) / radius + 1e-12
        for _ in range(200):
            lam = 0.5 * (low + high)
            low, high = (lam, high) if length(lam) > radius else (low, lam)
        lam = high
    curvature = eigenvalues + lam
    y = np.where(curvature > 1e-14 * max(1.0, abs(lam)), -g / np.maximum(curvature, 1e-300), 0.0)
    missing = radius**2 - y @ y
    if lam > 0 and missing > 0:
        y[0] += np.copysign(np.sqrt(missing + y[0] ** 2) - abs(y[0]), y[0] if y[0] else 1.0)
    y *= min(1.0, radius / max(float(np.linalg.norm(y)), 1e-300))
    v = vectors @ y
    value = float(G(v))
    # Weak duality for this lam: G(v) >= constant - 1/2 sum g^2 / (eigenvalue + lam) - lam/2 radius^2.
    safe = lam + 1e-12 * max(1.0, abs(lam))
    bound = (
        G.constant
        - 0.5 * float(np.sum(g**2 / np.maximum(eigenvalues + safe, 1e-300)))
        - 0.5 * safe * radius**2
    )
    return v, value, min(value, bound)


def _lowest_corner(G: Quadratic, low: Array, high: Array) -> tuple[Array, float, float]:
    """Depth-first search over the corners of a box along whose open sides G is concave.

    With some corners' coordinates chosen, G changes by no more than its slopes and absolute curvatures
    allow along the others; a branch that cannot undercut the best corner found is left.
    """
    free = np.flatnonzero(high > low)
    free = free[np.argsort(-np.abs(G.gradient(0.5 * (low + high))[free]) * (high - low)[free])]
    half = 0.5 * (high - low)[free]
    A = G.matrix[np.ix_(free, free)] * np.outer(half, half)
    middle = 0.5 * (low + high)
    b = G.gradient(middle)[free] * half
    base = float(G(middle)) + float(A.trace())
    A = A - np.diag(A.diagonal())
    curved = [min(float(np.abs(A[k:, k:]).sum()), _curvature(A[k:, k:])) for k in range(len(free))] + [0.0]
    best_signs, best = np.where(b > 0, -1.0, 1.0), np.inf
    stack: list[tuple[float, Array, Array]] = [(base, b, np.zeros(0))]
    visited = 0
    while stack and visited < MAX_CORNERS:
        value, slopes, signs = stack.pop()
        visited += 1
        k = len(signs)
        if value - float(np.abs(slopes).sum()) - curved[k] >= best:
            continue
        if k == len(free):
            best_signs, best = signs, value
            continue
        lower = -1.0 if slopes[0] > 0 else 1.0
        for sign in (-lower, lower):  # the promising one last, so that it is taken up first
            rest = slopes[1:] + 2 * sign * A[k, k + 1 :]
            stack.append((value + sign * float(slopes[0]), rest, np.append(signs, sign)))
    v = middle.copy()
    v[free] += half * best_signs
    exact = float(G(v))
    left = [value - float(np.abs(slopes).sum()) - curved[len(signs)] for value, slopes, signs in stack]
    return v, exact, min([exact, *left]) - 1e-12 * (abs(base) + float(np.abs(b).sum() + np.abs(A).sum()))


def _curvature(A: Array) -> float:
    """How much s'As can be below zero over signs s."""
    return max(0.0, -float(np.linalg.eigvalsh(A)[0])) * len(A)


LinearMinimum = Callable[[Array, Array, Array, float], Array]


def _branch_and_bound(
    G: Quadratic, radius: float, lowest_linear: LinearMinimum
) -> tuple[Array, float, float]:
    """Best-first search over boxes; each is bounded by a convex underestimator (alpha-BB)."""
    n = G.n_features
    tol = 1e-9 * max(1.0, abs(G.constant), radius * float(np.abs(G.vector).sum()))
    low, high = np.full(n, -radius), np.full(n, radius)
    bound, v = _bounded(G, low, high, radius, lowest_linear)
    best, best_value = v, float(G(v))
    heap = [(bound, 0, low, high)]
    count = 1
    while heap and heap[0][0] < best_value - tol and count < MAX_NODES:
        _, _, low, high = heapq.heappop(heap)
        for part in _split(G, low, high):
            bound, v = _bounded(G, *part, radius, lowest_linear)
            value = float(G(v))
            if value < best_value:
                best, best_value = v, value
            count += 1
            if bound < best_value - tol:
                heapq.heappush(heap, (bound, count, *part))
    proven = min(best_value - tol, heap[0][0]) if heap else best_value - tol  # boxes were dropped up to tol
    return best, best_value, proven


def _split(G: Quadratic, low: Array, high: Array) -> list[tuple[Array, Array]]:
    """Halve the box where the underestimator is weakest."""
    width = high - low
    k = int(np.argmax(width**2 * (np.abs(G.matrix).sum(axis=1) + 1e-12)))
    middle = 0.5 * (low[k] + high[k])
    left, right = high.copy(), low.copy()
    left[k] = right[k] = middle
    return [(low, left), (right, high)]


def _bounded(
    G: Quadratic, low: Array, high: Array, radius: float, lowest_linear: LinearMinimum
) -> tuple[float, Array]:
    """Lower bound of G over box and ball, and a point of them with a low value.

    Coordinates along which G is monotone over the whole box are fixed first (cube only: there the ends
    of the box belong to the ball).
    """
    low, high = low.copy(), high.copy()
    if lowest_linear is _lowest_linear_box:
        _fix_monotone(G, low, high)
    elif np.abs(np.clip(0.0, low, high)).sum() > radius * (1 + 1e-12):
        return np.inf, np.zeros(len(low))  # the box lies outside the ball
    free = high > low
    if not free.any():
        return float(G(low)), low
    Q = G.matrix[np.ix_(free, free)]
    alpha = max(0.0, -float(np.linalg.eigvalsh(Q)[0])) * (1 + 1e-12)
    shift = np.where(free, alpha, 0.0)

    def under(v: Array) -> tuple[float, Array]:
        """G(v) - alpha sum (v - low)(high - v), convex and below G in the box."""
        value = float(G(v)) - float(shift @ ((v - low) * (high - v)))
        return value, G.gradient(v) + shift * (2 * v - low - high)

    v = _minimise_convex(under, low, high, radius, lowest_linear)
    value, slope = under(v)
    corner = lowest_linear(slope, low, high, radius)
    return value + float(slope @ (corner - v)) - 1e-13 * abs(value), _polished(
        G, v, low, high, radius, lowest_linear
    )


def _fix_monotone(G: Quadratic, low: Array, high: Array) -> None:
    """Set coordinates whose partial derivative has one sign over the box to the end where G is lower."""
    for _ in range(len(low)):
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        slope, spread = G.gradient(middle), 2 * np.abs(G.matrix) @ half
        rising, falling = (slope > spread) & (half > 0), (slope < -spread) & (half > 0)
        if not (rising | falling).any():
            return
        high[rising] = low[rising]
        low[falling] = high[falling]


def _minimise_convex(
    under: Callable[[Array], tuple[float, Array]],
    low: Array,
    high: Array,
    radius: float,
    lowest_linear: LinearMinimum,
) -> Array:
    start = 0.5 * (low + high)
    if lowest_linear is _lowest_linear_box:
        bounds = optimize.Bounds(low, high)
        result = optimize.minimize(
            under, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-12}
        )
        return np.clip(result.x, low, high)
    v = lowest_linear(np.zeros(len(low)), low, high, radius)
    for _ in range(100):  # Frank-Wolfe: the bound is valid wherever it stops
        value, slope = under(v)
        step = lowest_linear(slope, low, high, radius) - v
        if slope @ step > -1e-14 * max(1.0, abs(value)):
            break
        curvature = under(v + step)[0] - value - slope @ step
        length = _step_length(float(slope @ step), float(curvature))
        v = v + length * step
    return v


def _polished(
    G: Quadratic, v: Array, low: Array, high: Array, radius: float, lowest_linear: LinearMinimum
) -> Array:
    """Walk to better and better corners of the linearised problem; keeps the best point seen."""
    best, best_value = v, float(G(v))
    for _ in range(20):
        corner = lowest_linear(G.gradient(best), low, high, radius)
        step = corner - best
        slope, curvature = float(G.gradient(best) @ step), float(step @ G.matrix @ step)
        length = _step_length(slope, curvature)
        candidate = best + length * step
        value = float(G(candidate))
        if value >= best_value - 1e-15 * max(1.0, abs(best_value)):
            break
        best, best_value = candidate, value
    return best


def _step_length(slope: float, curvature: float) -> float:
    """Argmin of slope t + curvature t^2 over 0 <= t <= 1, safe when both are rounding errors."""
    if curvature <= 0:
        return 1.0 if slope + curvature < 0 else 0.0
    return min(1.0, max(0.0, -slope / (2 * curvature)))


def _lowest_linear_box(slope: Array, low: Array, high: Array, radius: float) -> Array:
    """Argmin slope'v over the box (which lies in the cube)."""
    del radius
    return np.where(slope > 0, low, high)


def _lowest_linear_cross(slope: Array, low: Array, high: Array, radius: float) -> Array:
    """Argmin slope'v over box and cross-polytope: spend the radius where it pays most.

    Start from the box's point nearest to zero and move the steepest coordinates first.
    """
    v = np.clip(0.0, low, high)
    left = radius - np.abs(v).sum()
    # Moving towards zero earns radius, but a coordinate at its nearest point to zero cannot.
    gain = np.abs(slope)
    for k in np.argsort(-gain):
        if left <= 0 or gain[k] == 0:
            break
        room = (v[k] - low[k]) if slope[k] > 0 else (high[k] - v[k])
        move = min(room, left)
        v[k] -= np.sign(slope[k]) * move
        left -= move
    return np.asarray(v)
