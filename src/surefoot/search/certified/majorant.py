"""Concave quadratics above a margin: its curvature is paid for by slabs, as cheaply as can be."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from surefoot.search.certified import kernel
from surefoot.search.certified.peak import Columns

Array = NDArray[np.float64]

FIRST_STEPS = 25
STEPS = 3  # from another majorant
SHRINK = 0.1  # of the barrier from step to step
CLOSE = 0.05  # share of the cost at which its weights are near enough to the cheapest
ROOM = 1e-4  # of the largest curvature: how far K stays from singular


@dataclass(frozen=True, eq=False)
class Bends:
    """The quadratics that pay for curvature: u'(r_1 r_1' + r_2 r_2' + ...)u with a weight for each sum.

    Parameters
    ----------
    rows : array of shape (k, n)
    owner : array of int of shape (k,)
        The weight that each row belongs to, in ascending order.
    n_slabs : int
        So many of the weights are of slabs; the norm's follows, if it has one.
    """

    rows: Array
    owner: NDArray[np.intp]
    n_slabs: int

    @cached_property
    def _of_weights(self) -> Array | None:
        """One for each row of a weight; None where each has one row."""
        if len(self.owner) == self.owner[-1] + 1:
            return None
        return np.equal.outer(np.arange(self.owner[-1] + 1), self.owner).astype(float)

    def round(self, u: Array) -> float:
        """The norm's quadratic at u."""
        along = self.rows[self.n_slabs :].dot(u)
        return float(along.dot(along))

    def curvature(self, weights: Array) -> Array:
        """The weighted sum."""
        return np.asarray((self.rows.T * weights[self.owner]).dot(self.rows))

    def gathered(self, P: Array) -> Array:
        """Entries for pairs of rows as entries for pairs of weights."""
        sums = self._of_weights
        return P if sums is None else np.asarray(sums.dot(P).dot(sums.T))

    def summed(self, p: Array) -> Array:
        """Entries for rows as entries for weights."""
        return p if self._of_weights is None else np.asarray(self._of_weights.dot(p))


@dataclass(frozen=True, eq=False)
class Majorant:
    """K = (weighted bends) - Q, positive definite.

    The margin plus the weighted products (d'u - low)(high - d'u) is then concave, and above the margin
    wherever every direction is in its range.

    Parameters
    ----------
    bends : Bends
    weights : array of shape (m,)
    inverse : array of shape (n, n)
        Of K.
    columns, posed : dict
        What prices act through, kept by `Frame`: in numpy's form and in the compiled one.
    """

    bends: Bends
    weights: Array
    inverse: Array
    columns: dict[tuple[int, int, bytes | None], Columns] = field(default_factory=dict)
    posed: dict[tuple[int, int], kernel.Posed] = field(default_factory=dict)

    @cached_property
    def round_weight(self) -> float:
        """The norm's weight; zero where it has none."""
        return float(self.weights[self.bends.n_slabs :].sum())

    @cached_property
    def plain(self) -> bool:
        """Whether no slab has a weight."""
        return not self.weights[: self.bends.n_slabs].any()

    @cached_property
    def half(self) -> Array:
        """A root of inverse(K) / 2."""
        return np.asarray(np.linalg.cholesky(0.5 * self.inverse), dtype=float)


def cheapest(bends: Bends, costs: Array, Q: Array) -> Majorant:
    """The majorant of least costs'weights, nearly: Newton's steps along the central path.

    The first n bends must be the coordinates.
    """
    return _made(bends, _cheapest(bends, costs, _with_room(Q)), Q)


def _cheapest(bends: Bends, costs: Array, Q: Array) -> Array:
    n, m = len(Q), len(costs)
    w = _plain(bends, m, Q)[0]
    return _along_path(bends, costs, Q, w, Path(float(costs @ w) / (n + m), FIRST_STEPS, stop=True))


def cheaper(major: Majorant, costs: Array, Q: Array) -> Majorant:
    """A few more steps from a majorant of the same Q, at other costs."""
    w = np.maximum(major.weights, 1e-9 * float(major.weights.max()))
    path = Path(CLOSE * float(costs @ w) / (len(Q) + len(costs)), STEPS, stop=False)
    return _made(major.bends, _along_path(major.bends, costs, _with_room(Q), w, path), Q)


class Path(NamedTuple):
    """The barrier's weight at first, how many steps to take, and whether to stop near the least cost."""

    mu: float
    steps: int
    stop: bool


def _along_path(bends: Bends, costs: Array, Q: Array, w: Array, path: Path) -> Array:
    """Weights that cost less, by Newton's steps along the central path."""
    if kernel.LIBRARY is not None and len(Q) <= kernel.SMALL:
        return _compiled(kernel.LIBRARY, bends, costs, Q, w, path)
    mu, size, inverse = path.mu, len(Q) + len(costs), _inverse(bends, w, Q)
    for _ in range(path.steps):
        moved = None if inverse is None else _newton(bends, costs / mu, Q, w, inverse)
        if moved is None:
            break
        w, inverse, length = moved
        if length > 0.3:
            cost = float(costs @ w)
            if path.stop and mu * size < CLOSE * cost:
                break
            mu = max(SHRINK * mu, 0.2 * CLOSE * cost / size)
    return w


def _compiled(library: ctypes.CDLL, bends: Bends, costs: Array, Q: Array, w: Array, path: Path) -> Array:
    w, rows = np.array(w, dtype=float), np.ascontiguousarray(bends.rows, dtype=float)
    owner = np.ascontiguousarray(bends.owner, dtype=np.intc)
    arrays = (rows, owner, np.ascontiguousarray(costs, dtype=float), np.ascontiguousarray(Q, dtype=float))
    if not library.cheaper_weights(
        *(len(Q), len(w), len(rows)),
        *(kernel.pointer(array) for array in arrays),
        *(ctypes.c_double(path.mu), path.steps, ctypes.c_double(SHRINK), ctypes.c_double(CLOSE)),
        *(int(path.stop), kernel.pointer(w)),
    ):
        raise MemoryError("no room for weights")
    return w


def at_least(bends: Bends, known: Array, costs: Array, Q: Array) -> Majorant:
    """A majorant with the known weights, and what else it takes to be concave as cheaply as can be."""
    left = _with_room(_with_room(Q) - bends.curvature(known))
    enough = _inverse(bends, np.zeros(len(known)), left) is not None
    return _made(bends, known if enough else known + _cheapest(bends, costs, left), Q)


def _made(bends: Bends, weights: Array, Q: Array) -> Majorant:
    """With the curvature that is left without the room: that would cost as much as a thin region's slabs."""
    inverse = _inverse(bends, weights, Q)
    if inverse is None:  # weights so large that rounding hides what is left: plain ones always do
        weights, inverse = _plain(bends, len(weights), Q)
    return Majorant(bends, weights, inverse)


def _with_room(Q: Array) -> Array:
    """Q with a bit added to its diagonal, so that K stays away from singular."""
    return np.asarray(Q + ROOM * max(float(np.abs(Q).max()), 1e-12) * np.eye(len(Q)))


def _plain(bends: Bends, m: int, Q: Array) -> tuple[Array, Array]:
    """Weights with which K is definite: those of the coordinates above all curvature."""
    n = len(Q)
    top = max(float(np.linalg.eigvalsh(Q)[-1]), 1e-3 * float(np.abs(Q).max()), 1e-12)
    w = np.full(m, 0.1 * top)
    w[:n] = 1.5 * top
    inverse = _inverse(bends, w, Q)
    assert inverse is not None
    return w, inverse


def _newton(
    bends: Bends, costs: Array, Q: Array, w: Array, inverse: Array
) -> tuple[Array, Array, float] | None:
    """One step on costs'w - log det K - sum log w, shortened until K is definite."""
    P = bends.rows @ inverse @ bends.rows.T
    gradient = costs - bends.summed(P.diagonal()) - 1 / w
    hessian = bends.gathered(P * P)
    hessian.flat[:: len(w) + 1] += 1 / w**2
    factor, info = dpotrf(hessian, lower=1)
    if info:
        return None
    step = -dpotrs(factor, gradient, lower=1)[0]
    length = min(1.0, 0.9 / max(float((-step / w).max()), 1e-300))
    while length > 1e-6:
        moved = _inverse(bends, w + length * step, Q)
        if moved is not None:
            return w + length * step, moved, length
        length *= 0.5
    return None


def _inverse(bends: Bends, w: Array, Q: Array) -> Array | None:
    """Of K; None where that is not definite."""
    factor, info = dpotrf(bends.curvature(w) - Q, lower=1)
    if info:
        return None
    W = dpotri(factor, lower=1, overwrite_c=1)[0]  # its lower half, zeros above
    inverse = np.asarray(W + W.T)
    inverse.flat[:: len(Q) + 1] *= 0.5
    return inverse
