"""The least value of a quadratic over a ball of the norms 1, 2 and infinity, with a proven lower bound."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from surefoot.problem.quadratic import Quadratic

Array = NDArray[np.float64]
Found = tuple[Array, float, float]  # minimiser, value, proven lower bound

MAX_NODES = 2_000
MAX_CORNERS = 200_000


def lowest_in_ball(G: Quadratic, p: float, radius: float, deadline: float = np.inf) -> Found:
    """Minimise G(v) over ||v||_p <= radius: minimiser, value, proven lower bound.

    The bound is the value up to rounding unless effort runs out, or time (until ``deadline``).
    """
    n = G.n_features
    if radius == 0 or n == 0:
        v = np.zeros(n)
        return v, float(G(v)), float(G(v))
    if p == 2:
        return _lowest_in_sphere(G, radius)
    if p == np.inf:
        low, high = np.full(n, -radius), np.full(n, radius)
        _fix_monotone(G, low, high)
        if (G.matrix.diagonal()[high > low] <= 0).all():
            return _lowest_corner(G, low, high, deadline)
        return _branch_and_bound(G, _Cube(radius), deadline)
    if _concave_along_edges(G.matrix):
        v = min((s * radius * e for e in np.eye(n) for s in (1.0, -1.0)), key=G)
        terms = radius * float(np.abs(G.vector).max()) + radius**2 * float(np.abs(G.matrix).max())
        slack = 1e-13 * (abs(G.constant) + terms)
        return v, float(G(v)), float(G(v)) - slack
    return _branch_and_bound(G, _Cross(radius), deadline)


def _concave_along_edges(Q: Array) -> bool:
    """Whether u'Qu is concave along e_i and all e_i +- e_j: on a cross-polytope it is least at a corner."""
    d = Q.diagonal()
    pairs = np.add.outer(d, d) + 2 * np.abs(Q - np.diag(d))
    np.fill_diagonal(pairs, d)
    return bool((pairs <= 0).all())


def _lowest_in_sphere(G: Quadratic, radius: float) -> Found:
    """Trust-region subproblem: (2Q + lam I) v = -q with ||v|| = radius, by bisection on lam.

    In the hard case q has no part along the lowest eigenvector, which then supplies the missing length.
    """
    eigenvalues, vectors = np.linalg.eigh(2 * G.matrix)
    g = vectors.T @ G.vector
    lam = _multiplier(eigenvalues, g, radius)
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
    lost = 0.5 * float(np.sum(g**2 / np.maximum(eigenvalues + safe, 1e-300))) + 0.5 * safe * radius**2
    return v, value, min(value, G.constant - lost)


def _multiplier(eigenvalues: Array, g: Array, radius: float) -> float:
    """The least lam >= 0 with 2Q + lam I semidefinite and a minimiser no longer than the radius."""

    def length(lam: float) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.linalg.norm(np.where(g == 0, 0.0, g / (eigenvalues + lam))))

    if eigenvalues[0] > 0 and length(0.0) <= radius:
        return 0.0
    low = max(0.0, -float(eigenvalues[0]))
    high = low + float(np.linalg.norm(g)) / radius + 1e-12
    for _ in range(200):
        lam = 0.5 * (low + high)
        low, high = (lam, high) if length(lam) > radius else (low, lam)
    return high


def _lowest_corner(G: Quadratic, low: Array, high: Array, deadline: float) -> Found:
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
    while stack and visited < MAX_CORNERS and time.perf_counter() < deadline:
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


class _Ball(Protocol):
    """What branch and bound asks of a ball that is cut into boxes."""

    @property
    def radius(self) -> float:
        """Its size."""

    def reduced(self, G: Quadratic, low: Array, high: Array) -> bool:
        """Shrink a box in place without losing its least point in the ball; False if none is in the ball."""

    def lowest_linear(self, slope: Array, low: Array, high: Array) -> Array:
        """Argmin slope'v over box and ball."""

    def lowest_convex(self, under: Under, low: Array, high: Array) -> Array:
        """A point of box and ball where a convex function is low."""


Under = Callable[[Array], tuple[float, Array]]  # value and gradient


@dataclass(frozen=True)
class _Cube:
    """||v||_inf <= radius: every box of it lies in it."""

    radius: float

    def reduced(self, G: Quadratic, low: Array, high: Array) -> bool:
        """Fix coordinates along which the quadratic is monotone; the box lies in the ball."""
        _fix_monotone(G, low, high)
        return True

    def lowest_linear(self, slope: Array, low: Array, high: Array) -> Array:
        """The lower end where the slope rises, the upper end elsewhere."""
        return np.where(slope > 0, low, high)

    def lowest_convex(self, under: Under, low: Array, high: Array) -> Array:
        """By L-BFGS-B, which keeps to the box."""
        start, bounds = 0.5 * (low + high), optimize.Bounds(low, high)
        found = optimize.minimize(
            under, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-12}
        )
        return np.asarray(np.clip(found.x, low, high))


@dataclass(frozen=True)
class _Cross:
    """||v||_1 <= radius."""

    radius: float

    def reduced(self, G: Quadratic, low: Array, high: Array) -> bool:
        """Whether the box meets the ball; nothing is fixed."""
        del G  # the ends of a box need not belong to the ball, so nothing can be fixed
        return bool(np.abs(np.clip(0.0, low, high)).sum() <= self.radius * (1 + 1e-12))

    def lowest_linear(self, slope: Array, low: Array, high: Array) -> Array:
        """Spend the radius where it pays most, from the box's point nearest to zero on."""
        v = np.clip(0.0, low, high)
        left = self.radius - np.abs(v).sum()
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

    def lowest_convex(self, under: Under, low: Array, high: Array) -> Array:
        """By steps of Frank and Wolfe."""
        v = self.lowest_linear(np.zeros(len(low)), low, high)
        for _ in range(100):  # Frank-Wolfe: the bound is valid wherever it stops
            value, slope = under(v)
            step = self.lowest_linear(slope, low, high) - v
            if slope @ step > -1e-14 * max(1.0, abs(value)):
                break
            curvature = under(v + step)[0] - value - slope @ step
            v = v + _step_length(float(slope @ step), float(curvature)) * step
        return v


def _branch_and_bound(G: Quadratic, ball: _Ball, deadline: float) -> Found:
    """Best-first search over boxes; each is bounded by a convex underestimator (alpha-BB)."""
    n, r = G.n_features, ball.radius
    linear, curved = r * float(np.abs(G.vector).sum()), r * r * float(np.abs(G.matrix).sum())
    tol, rounding = 1e-9 * max(1.0, abs(G.constant), linear), 1e-13 * (abs(G.constant) + linear + curved)
    low, high = np.full(n, -r), np.full(n, r)
    bound, v = _bounded(G, low, high, ball)
    best, best_value = v, float(G(v))
    heap = [(bound, 0, low, high)]
    count, dropped = 1, np.inf
    while heap and heap[0][0] < best_value - tol and count < MAX_NODES and time.perf_counter() < deadline:
        _, _, low, high = heapq.heappop(heap)
        for part in _split(G, low, high):
            bound, v = _bounded(G, *part, ball)
            value = float(G(v))
            if value < best_value:
                best, best_value = v, value
            count += 1
            if bound < best_value - tol:
                heapq.heappush(heap, (bound, count, *part))
            else:
                dropped = min(dropped, bound)
    proven = min([best_value, dropped, *(bound for bound, *_ in heap[:1])])
    return best, best_value, proven - rounding


def _split(G: Quadratic, low: Array, high: Array) -> list[tuple[Array, Array]]:
    """Halve the box where the underestimator is weakest."""
    width = high - low
    k = int(np.argmax(width**2 * (np.abs(G.matrix).sum(axis=1) + 1e-12)))
    middle = 0.5 * (low[k] + high[k])
    left, right = high.copy(), low.copy()
    left[k] = right[k] = middle
    return [(low, left), (right, high)]


def _bounded(G: Quadratic, low: Array, high: Array, ball: _Ball) -> tuple[float, Array]:
    """Lower bound of G over box and ball, and a point of them with a low value."""
    low, high = low.copy(), high.copy()
    if not ball.reduced(G, low, high):
        return np.inf, np.zeros(len(low))
    free = high > low
    if not free.any():
        return float(G(low)), low
    Q = G.matrix[np.ix_(free, free)]
    shift = np.where(free, max(0.0, -float(np.linalg.eigvalsh(Q)[0])) * (1 + 1e-12), 0.0)

    def under(v: Array) -> tuple[float, Array]:
        """G(v) - alpha sum (v - low)(high - v), convex and below G in the box."""
        value = float(G(v)) - float(shift @ ((v - low) * (high - v)))
        return value, G.gradient(v) + shift * (2 * v - low - high)

    v = ball.lowest_convex(under, low, high)
    value, slope = under(v)
    corner = ball.lowest_linear(slope, low, high)
    return value + float(slope @ (corner - v)) - 1e-13 * abs(value), _polished(G, v, low, high, ball)


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


def _polished(G: Quadratic, v: Array, low: Array, high: Array, ball: _Ball) -> Array:
    """Walk to better and better corners of the linearised problem; keeps the best point seen."""
    best, best_value = v, float(G(v))
    for _ in range(20):
        step = ball.lowest_linear(G.gradient(best), low, high) - best
        slope, curvature = float(G.gradient(best) @ step), float(step @ G.matrix @ step)
        candidate = best + _step_length(slope, curvature) * step
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
