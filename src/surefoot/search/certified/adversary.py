"""The lowest value of a quadratic in a ball: exact where a closed form or corners decide, else local."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.linalg.lapack import dpotrf, dpotrs

Array = NDArray[np.float64]

MAX_CORNERS = 30_000
ALL_CORNERS = 9  # free coordinates up to which every corner is looked at


def lowest(
    Q: Array,
    g: Array,
    p: float,
    radius: float,
    effort: int = MAX_CORNERS,
    spectrum: tuple[Array, Array] | None = None,
) -> tuple[Array, bool]:
    """Argmin of g'w + w'Qw over ||w||_p <= radius, and whether it surely is.

    Exact for p = 2 and wherever corners decide, else local. ``effort``: how many corners may be looked
    at side by side; with 0 any local minimum will do. ``spectrum``: of Q, where it is known.
    """
    if p == np.inf:
        return _in_cube(Q, g, radius, effort)
    if p == 2:
        return _on_sphere(np.linalg.eigh(Q) if spectrum is None else spectrum, g, radius)
    return _on_cross(Q, g, radius)


def deepened(Q: Array, g: Array, w: Array, p: float, radius: float) -> Array:
    """A perturbation at least as bad as w, by descent from it (for p = 2 there is none to look for)."""
    if p == np.inf:
        return _coordinate_descent(Q, g + 2 * Q @ w, w.copy(), radius)
    return _between_corners(Q, g, w.copy(), radius) if p == 1 else w


def _in_cube(Q: Array, g: Array, radius: float, effort: int) -> tuple[Array, bool]:
    """Monotone coordinates first; where H is concave along all others the worst is a corner."""
    v = np.where(g > 0, -radius, radius)
    free = np.abs(g) <= 2 * radius * np.abs(Q).sum(axis=1)
    while free.any():
        slope = g + 2 * Q[:, ~free] @ v[~free]
        still = free & (np.abs(slope) <= 2 * radius * np.abs(Q[:, free]).sum(axis=1))
        settled = free & ~still
        if not settled.any():
            break
        v[settled] = np.where(slope[settled] > 0, -radius, radius)
        free = still
    if not free.any():
        return v, True
    part, rest = Q[np.ix_(free, free)], (g + 2 * Q[:, ~free] @ v[~free])[free]
    start = _flipped(part, rest, radius)
    if effort and (part.diagonal() <= 0).all():
        v[free], exact = lowest_corner(part, rest, radius, start, effort)
        return v, exact
    starts = [start, *_promising_corners(part, rest, radius)] if effort else [start]
    ends = [_coordinate_descent(part, rest + 2 * part @ s, s.copy(), radius) for s in starts]
    ends = [_newton_in_cube(part, rest, w, radius) for w in ends] if effort else ends
    v[free] = min(ends, key=lambda w: float(rest @ w + w @ part @ w))
    return v, False


def _promising_corners(Q: Array, g: Array, radius: float) -> list[Array]:
    """The lowest of all corners, or with many coordinates of those along the most concave directions."""
    n = len(g)
    if n <= ALL_CORNERS:
        corners = radius * _signs(n)
    else:
        directions = np.linalg.eigh(Q)[1].T[:4]
        corners = radius * np.vstack(
            [np.where(directions >= 0, 1.0, -1.0), np.where(directions >= 0, -1.0, 1.0)]
        )
    heights = corners @ g + np.einsum("ij,ij->i", corners @ Q, corners)
    return [corners[k] for k in np.argsort(heights)[:2]]


@cache
def _signs(n: int) -> Array:
    """The corners of the cube [-1, 1]^n, one in each row."""
    signs = 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    signs.setflags(write=False)
    return np.asarray(signs)


def _flipped(Q: Array, g: Array, radius: float) -> Array:
    """A corner of the cube that no flip of one coordinate improves."""
    v = np.where(g > 0, -radius, radius)
    diagonal = Q.diagonal()
    slope = g + 2 * Q @ v
    for _ in range(20 * len(v)):
        change = -2 * v * slope + 4 * diagonal * v * v
        i = int(change.argmin())
        if change[i] >= -1e-15 * (1 + abs(float(g @ v))):
            break
        slope -= 4 * Q[:, i] * v[i]
        v[i] = -v[i]
    return v


def _coordinate_descent(Q: Array, slope: Array, v: Array, radius: float) -> Array:
    """Exact minimisation over one coordinate at a time: inside where H is convex along it, else at an end."""
    diagonal = Q.diagonal()
    curved = np.maximum(diagonal, 1e-300)
    for _ in range(20 * len(v)):
        inside = np.clip(v - 0.5 * slope / curved, -radius, radius)
        ends = np.where(slope - 2 * diagonal * v > 0, -radius, radius)  # concave: the lower end
        step = np.where(diagonal > 0, inside, ends) - v
        gain = slope * step + diagonal * step**2
        i = int(gain.argmin())
        if gain[i] >= -1e-16 * (1 + radius * float(np.abs(slope).sum())):
            break
        slope = slope + 2 * Q[:, i] * step[i]
        v[i] += step[i]
    return v


def _newton_in_cube(Q: Array, g: Array, w: Array, radius: float) -> Array:
    """Newton's steps on the face that w lies on: descent along coordinates is slow in a narrow valley."""
    for _ in range(2 * len(w) + 4):
        slope = g + 2 * Q @ w
        free = ~(((w <= -radius) & (slope > 0)) | ((w >= radius) & (slope < 0)))
        if not free.any():
            break
        factor, info = dpotrf(2 * Q[np.ix_(free, free)], lower=1)
        if info:
            break
        step = -dpotrs(factor, slope[free], lower=1)[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0, (radius - w[free]) / step, (-radius - w[free]) / step)
        length = min(1.0, float(np.min(np.where(step == 0, np.inf, room))))
        if not length * float(np.abs(step).max()) > 1e-12 * radius:
            break
        w = w.copy()
        w[free] = np.clip(w[free] + length * step, -radius, radius)
    return w


def _on_sphere(spectrum: tuple[Array, Array], g: Array, radius: float) -> tuple[Array, bool]:
    """Trust-region subproblem by its secular equation 1/||v(lam)|| = 1/radius, which is nearly linear."""
    values, vectors = spectrum
    c = vectors.T @ g
    floor = max(0.0, -float(values[0]))

    def length(lam: float) -> float:
        return float(np.linalg.norm(c / (2 * (values + lam))))

    nudge = 1e-14 * max(1.0, abs(float(values[0])), float(np.abs(values).max()))
    if values[0] > nudge and length(0.0) <= radius:
        return np.asarray(-vectors @ (c / (2 * values))), True
    low, high = floor + nudge, floor + nudge + float(np.linalg.norm(c)) / radius
    if length(low) <= radius:  # the hard case: the lowest eigenvector supplies the missing length
        y = -c / (2 * (values + low))
        missing = float(radius**2 - y[1:] @ y[1:])
        y[0] = np.copysign(np.sqrt(max(missing, 0.0)), y[0] if y[0] else 1.0)
        return np.asarray(vectors @ y), True
    if not (np.isfinite(length(low)) and length(high) <= radius):
        return np.asarray(-radius * g / max(float(np.linalg.norm(g)), 1e-300)), False
    lam = optimize.brentq(lambda s: 1 / length(s) - 1 / radius, low, high, xtol=1e-300, rtol=1e-14)
    y = -c / (2 * (values + lam))
    return np.asarray(vectors @ (y * (radius / np.linalg.norm(y)))), True


def _on_cross(Q: Array, g: Array, radius: float) -> tuple[Array, bool]:
    """From the best corner of the cross-polytope, exact steps towards other corners.

    Where H is concave along all its edges (and through its middle) the best corner is the answer.
    """
    n, bend = len(g), Q.diagonal()
    i = int((radius * bend - np.abs(g)).argmin())
    v = np.zeros(n)
    v[i] = -radius if g[i] > 0 else radius
    if (bend <= 0).all():
        sums = np.add.outer(bend, bend)
        if (sums <= -2 * np.abs(Q) + np.diag(4 * np.abs(bend))).all():
            return v, True
    return _between_corners(Q, g, v, radius), False


def _between_corners(Q: Array, g: Array, v: Array, radius: float) -> Array:
    """Exact steps towards corners of the cross-polytope for as long as one helps."""
    n, bend = len(g), radius**2 * np.concatenate([Q.diagonal(), Q.diagonal()])
    first, second = np.empty(2 * n), np.empty(2 * n)
    for _ in range(20 * n):
        Qv = Q.dot(v)
        slope = g + 2 * Qv
        towards, across, back = radius * slope, 2 * radius * Qv, float(slope.dot(v))
        first[:n], first[n:] = towards - back, -towards - back
        second[:n], second[n:] = -across, across
        second += bend + float(v.dot(Qv))
        with np.errstate(divide="ignore", invalid="ignore"):
            length = np.where(second > 0, np.clip(-first / (2 * second), 0.0, 1.0), 1.0)
        gain = first * length + second * length**2
        i = int(gain.argmin())
        if not gain[i] < -1e-15 * (1 + abs(float(g @ v))):
            break
        corner = np.zeros(n)
        corner[i % n] = radius if i < n else -radius
        v = v + length[i] * (corner - v)
    return v


def lowest_corner(
    Q: Array, g: Array, radius: float, known: Array, effort: int = MAX_CORNERS
) -> tuple[Array, bool]:
    """Corner v of the cube with the least g'v + v'Qv, and whether that is sure (few enough remained).

    Coordinate after coordinate takes both signs, all partial corners side by side; those go that cannot
    beat the best corner known. What is left undecided can lower the sum by no more than its slopes and
    the lowest eigenvalue of its block allow. All corners of few coordinates are faster looked at in one go.
    """
    if len(g) <= ALL_CORNERS and 2 ** len(g) <= effort:
        signs = _signs(len(g))
        heights = signs @ g + radius * np.einsum("ij,ij->i", signs @ Q, signs)
        return radius * signs[int(heights.argmin())], True
    order = np.argsort(-np.abs(g), kind="stable")
    A, b = radius**2 * Q[np.ix_(order, order)], radius * g[order]
    best, best_value = known, float(known @ g + known @ Q @ known)
    offset = float(A.trace())
    A = A - np.diag(A.diagonal())
    signs, values, slopes = np.zeros((1, 0)), np.full(1, offset), b[None]
    for k in range(len(b)):
        both = [(s, values + s * slopes[:, 0], slopes[:, 1:] + 2 * s * A[k, k + 1 :]) for s in (1.0, -1.0)]
        signs = np.vstack([np.column_stack([signs, np.full(len(signs), s)]) for s, _, _ in both])
        values, slopes = np.concatenate([v for _, v, _ in both]), np.vstack([d for _, _, d in both])
        keep = values - np.abs(slopes).sum(axis=1) + _least(A[k + 1 :, k + 1 :]) < best_value - 1e-13 * abs(
            best_value
        )
        signs, values, slopes = signs[keep], values[keep], slopes[keep]
        if len(values) > effort:
            return best, False
    if len(values):
        best = np.empty(len(b))
        best[order] = radius * signs[int(values.argmin())]
    return best, True


def _least(block: Array) -> float:
    """A lower bound of s'As over signs s."""
    if not len(block):
        return 0.0
    return max(-float(np.abs(block).sum()), float(np.linalg.eigvalsh(block)[0]) * len(block))
