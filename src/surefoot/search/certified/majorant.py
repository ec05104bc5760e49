"""Concave quadratics above a margin: its curvature is paid for by slabs, as cheaply as can be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

Array = NDArray[np.float64]

FIRST_STEPS = 25
STEPS = 3  # from a majorant of a somewhat larger region
SHRINK = 0.2  # of the barrier from step to step
CLOSE = 0.05  # share of the cost at which its weights are near enough to the cheapest
ROOM = 1e-4  # of the largest curvature: how far K stays from singular


@dataclass(frozen=True, eq=False)
class Majorant:
    """K = slopes' diag(weights) slopes - Q, positive definite.

    The margin plus the weighted products (d'u - low)(high - d'u) is then concave, and above the margin
    wherever every direction is in its range.

    Parameters
    ----------
    slopes : array of shape (m, n)
    weights : array of shape (m,)
    inverse : array of shape (n, n)
        Of K.
    """

    slopes: Array
    weights: Array
    inverse: Array

    @cached_property
    def half(self) -> Array:
        """A root of inverse(K) / 2."""
        return np.asarray(np.linalg.cholesky(0.5 * self.inverse), dtype=float)

    @cached_property
    def root(self) -> Array:
        """The directions times that root: what prices act through."""
        return np.asarray(self.slopes @ self.half)


def cheapest(slopes: Array, costs: Array, Q: Array, start: Majorant | None = None) -> Majorant:
    """The majorant of least costs'weights, nearly: Newton's steps along the central path.

    The first n directions must be the coordinates. From another majorant of the same Q few steps will do.
    """
    n, m = len(Q), len(costs)
    if start is None:
        w, inverse = _plain(slopes, Q)
        mu, steps = float(costs @ w) / (n + m), FIRST_STEPS
    else:
        w, inverse = start.weights, start.inverse
        mu, steps = CLOSE * float(costs @ w) / (n + m), STEPS
    for _ in range(steps):
        moved = _newton(slopes, costs / mu, Q, w, inverse)
        if moved is None:
            break
        w, inverse, length = moved
        if length > 0.3:
            if start is None and mu * (n + m) < CLOSE * float(costs @ w):
                break
            mu = max(SHRINK * mu, 0.2 * CLOSE * float(costs @ w) / (n + m))
    return Majorant(slopes, w, inverse)


def _plain(slopes: Array, Q: Array) -> tuple[Array, Array]:
    """Weights with which K is definite: those of the coordinates above all curvature."""
    n = len(Q)
    top = max(float(np.linalg.eigvalsh(Q)[-1]), 1e-3 * float(np.abs(Q).max()), 1e-12)
    w = np.full(len(slopes), 0.1 * top)
    w[:n] = 1.5 * top
    inverse = _inverse(slopes, w, Q)
    assert inverse is not None
    return w, inverse


def _newton(
    slopes: Array, costs: Array, Q: Array, w: Array, inverse: Array
) -> tuple[Array, Array, float] | None:
    """One step on costs'w - log det K - sum log w, shortened until K is definite."""
    P = slopes @ inverse @ slopes.T
    gradient = costs - P.diagonal() - 1 / w
    hessian = P * P
    hessian.flat[:: len(w) + 1] += 1 / w**2
    factor, info = dpotrf(hessian, lower=1)
    if info:
        return None
    step = -dpotrs(factor, gradient, lower=1)[0]
    length = min(1.0, 0.9 / max(float((-step / w).max()), 1e-300))
    while length > 1e-6:
        moved = _inverse(slopes, w + length * step, Q)
        if moved is not None:
            return w + length * step, moved, length
        length *= 0.5
    return None


def _inverse(slopes: Array, w: Array, Q: Array) -> Array | None:
    """Of K with a bit taken off its diagonal; None where that is not definite."""
    n = len(Q)
    K = (slopes.T * w) @ slopes - Q
    K.flat[:: n + 1] -= ROOM * max(float(np.abs(Q).max()), 1e-12)
    factor, info = dpotrf(K, lower=1)
    if info:
        return None
    W = dpotrs(factor, np.eye(n), lower=1)[0]
    return np.asarray(0.5 * (W + W.T))
