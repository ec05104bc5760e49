"""Multipliers for many small problems side by side: Newton's method on a stack of small matrices.

Each problem is a list of quadratic functions of a few variables; where some combination of them with
non-negative weights is negative everywhere, nothing makes all of them non-negative. A problem by itself takes
milliseconds, most of which are spent on calling functions: thousands of them in one stack take no more than a
few hundred.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified import kernel

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

STEPS = 40
MORE_STEPS = 8  # for weights that are near the best
LARGEST = 1e6  # a weight at which ends exclude each other: the sum has no lowest peak
HUGE = 1e50  # a weight that grows without end: a step more might overflow
SAFETY = 1e-9  # how far below zero, relative to what is added up, counts as below zero
FIRST = 0.05  # the barrier's first weight, in units of a function's height
SHRINK, SLOWER = 0.15, 0.5  # what it is multiplied by after a long step, and after a shorter one
LEAST = 1e-8  # below it rounding decides
INNER = 0.9  # share of the way to the boundary that a step may go
RIDGE = 1 + 1e-12  # keeps systems solvable in which rounding hides the one that is added
TRIES = 30  # for weights with which the sum is concave
MORE = 3.0

_SETTINGS = kernel.StackSettings(
    *(STEPS, MORE_STEPS, TRIES, LARGEST, HUGE, SAFETY, FIRST, SHRINK, SLOWER, LEAST, INNER, RIDGE, MORE)
)


@dataclass(eq=False)
class Multipliers:
    """Where the search for multipliers ended, for each problem.

    Parameters
    ----------
    weights : array of shape (N, m)
        Those of the margins sum to one.
    value : array of shape (N,)
        The peak of the weighted sum.
    refuted : array of bool of shape (N,)
        Whether it is below zero, with room for rounding.
    relaxed : array of bool of shape (N,)
        Whether a relaxed solution keeps everything: then no weights refute the problem.
    z : array of shape (N, d)
        Where the peak is.
    spread : array of shape (N, d, d)
        Second moments of the relaxed solution around it.
    """

    weights: Array
    value: Array
    refuted: Mask
    relaxed: Mask
    z: Array
    spread: Array

    @property
    def moments(self) -> Array:
        """Of the relaxed solutions (z, 1), shape (N, d + 1, d + 1)."""
        y = np.append(self.z, np.ones((len(self.z), 1)), axis=1)
        found = y[:, :, None] * y[:, None, :]
        found[:, :-1, :-1] += self.spread
        return np.asarray(found)

    def put(self, places: Mask, others: Multipliers) -> None:
        """Take over what is known of some of the problems."""
        for name in ("weights", "value", "refuted", "relaxed", "z", "spread"):
            getattr(self, name)[places] = getattr(others, name)

    @classmethod
    def unknown(cls, weights: Array, d: int) -> Multipliers:
        """Before the first step."""
        N = len(weights)
        nothing = np.zeros(N, dtype=bool)
        return cls(
            weights, np.full(N, np.inf), nothing, nothing.copy(), np.zeros((N, d)), np.zeros((N, d, d))
        )


def first_weights(terms: Array, n_margins: int) -> tuple[Array, Mask]:
    """Weights with which each sum is concave, and for which problems they were found.

    Parameters
    ----------
    terms : array of shape (N, m, d + 1, d + 1)
        The functions y'Ty of y = (z, 1), in units of their height; the last ones are the margins.
    n_margins : int
    """
    N, m, D, _ = terms.shape
    others = m - n_margins
    base = terms[:, :others, : D - 1, : D - 1].sum(axis=1)
    margins = terms[:, others:, : D - 1, : D - 1].mean(axis=1)
    size = np.full(N, 0.05)
    for _ in range(TRIES):
        concave = cholesky(-(size[:, None, None] * base + margins))[1]
        if concave.all():
            break
        size = np.where(concave, size, MORE * size)
    weights = np.full((N, m), 1.0 / n_margins)
    weights[:, :others] = 1.5 * size[:, None]
    return weights, concave


def of_points(values: Array) -> Multipliers:
    """Problems without variables: what the functions are, and the lowest one refutes if it is below zero."""
    lowest = values.argmin(axis=1)
    weights = np.zeros_like(values)
    weights[np.arange(len(values)), lowest] = 1.0
    found = Multipliers.unknown(weights, 0)
    found.value = values.min(axis=1)
    found.refuted, found.relaxed = found.value < -SAFETY, found.value >= -SAFETY
    return found


def judged(terms: Array, n_margins: int, weights: Array) -> Multipliers:
    """What given weights prove, without a step to better ones."""
    found = Multipliers.unknown(weights, terms.shape[2] - 1)
    state = _State(terms, weights, np.ones(len(terms)), n_margins)
    found.value, found.z, found.refuted = state.value, state.z, state.refuted
    return found


def from_scratch(terms: Array, n_margins: int, *, exactly: bool = False) -> Multipliers:
    """What `minimise` finds from weights with which the sums are concave, where there are any."""
    if kernel.LIBRARY is not None:
        return _compiled(kernel.LIBRARY, terms, n_margins, exactly=exactly)
    weights, concave = first_weights(terms, n_margins)
    if concave.all():
        return minimise(terms, n_margins, weights, exactly=exactly)
    found = Multipliers.unknown(weights, terms.shape[2] - 1)
    if concave.any():
        found.put(concave, minimise(terms[concave], n_margins, weights[concave], exactly=exactly))
    return found


def _compiled(library: ctypes.CDLL, terms: Array, n_margins: int, *, exactly: bool) -> Multipliers:
    """The same one problem after the other: without calls of numpy's functions a stack saves nothing."""
    terms = np.ascontiguousarray(terms, dtype=float)
    N, m, D, _ = terms.shape
    found = Multipliers.unknown(np.empty((N, m)), D - 1)
    parts = (found.weights, found.value, found.refuted, found.relaxed, found.z, found.spread)
    if not library.stack_minimise(
        *(N, m, D, n_margins, kernel.pointer(terms), int(exactly), ctypes.byref(_SETTINGS)),
        *(kernel.pointer(part) for part in parts),
    ):
        raise MemoryError("no room for multipliers")
    return found


def minimise(terms: Array, n_margins: int, weights: Array, *, exactly: bool = False) -> Multipliers:
    """Weights for which the peaks are lowest; a problem is done with as soon as its peak is below zero.

    A barrier method. With K the curvature of minus the sum and z its peak, the barrier
    peak / mu - log det K - sum log weights has the slope tr(T_j Y) / mu - 1 / x_j in weight j, where the
    moment matrix Y has mean z and covariance mu inv(K): where it is stationary, Y is a relaxed solution.

    Parameters
    ----------
    terms : array of shape (N, m, d + 1, d + 1)
    n_margins : int
    weights : array of shape (N, m)
        With which the sums are concave.
    exactly : bool, default=False
        Go on for some steps where a peak is below zero.
    """
    found = Multipliers.unknown(np.array(weights), terms.shape[2] - 1)
    live = np.arange(len(terms))
    mu = np.full(len(terms), FIRST)
    for step in range(STEPS):
        if not len(live):
            break
        state = _State(terms[live], found.weights[live], mu[live], n_margins)
        refuted = state.refuted
        if refuted.all() and not exactly:  # as in most stacks: what else is known of them is of no use
            found.weights[live], found.value[live], found.refuted[live] = state.x, state.value, True
            break
        enough = np.asarray((state.x > LARGEST).any(axis=1) | (not exactly or step >= MORE_STEPS))
        open_ = _note(found, live, state, refuted, done=enough)
        if not open_.any():
            break
        live, state = live[open_], state.of(open_)
        found.weights[live], mu[live] = state.step()
    return found


def _note(found: Multipliers, live: NDArray[np.intp], state: _State, refuted: Mask, *, done: Mask) -> Mask:
    """Keep what is known after a step; which problems go on. ``done``: which do not once they are refuted."""
    relaxed = state.concave & ~refuted & (state.traces >= 0).all(axis=1)
    found.value[live], found.z[live] = state.value, state.z
    found.spread[live] = state.mu[:, None, None] * (state.root @ np.swapaxes(state.root, 1, 2))
    found.refuted[live], found.relaxed[live] = refuted, relaxed
    finite = np.isfinite(state.local).all(axis=(1, 2, 3))
    endless = (state.x > HUGE).any(axis=1)
    return np.asarray(state.concave & ~(refuted & done) & ~relaxed & finite & ~endless & (state.mu > LEAST))


@dataclass(eq=False)
class _State:
    """Sums with given weights, their peaks, and one step of Newton's method from there."""

    terms: Array
    x: Array
    mu: Array
    n_margins: int

    def __post_init__(self) -> None:
        total = np.matmul(self.x[:, None], self.terms.reshape(*self.x.shape, -1)).reshape(
            len(self.x), *self.terms.shape[2:]
        )
        half, self.concave = cholesky(-total[:, :-1, :-1])
        inverse = np.linalg.inv(half)
        self.root = np.swapaxes(inverse, 1, 2)  # K = inv(root root')
        h = total[:, :-1, -1]
        self.z = (self.root @ (inverse @ h[..., None]))[..., 0]
        self.value = total[:, -1, -1] + np.einsum("nd,nd->n", h, self.z)

    @property
    def refuted(self) -> Mask:
        """Where the peak is below zero, with room for rounding."""
        constants = np.abs(self.terms[:, :, -1, -1])
        size = np.einsum("nm,nm->n", self.x, constants) + np.abs(self.value)
        return np.asarray(self.concave & (self.value < -SAFETY * size))

    def of(self, some: Mask) -> _State:
        """Some of the problems."""
        if some.all():
            return self
        part = _State.__new__(_State)
        part.n_margins = self.n_margins
        for name in ("terms", "x", "mu", "concave", "root", "z", "value", "local", "traces"):
            setattr(part, name, getattr(self, name)[some])
        return part

    @cached_property
    def local(self) -> Array:
        """The functions in the coordinates in which the moments of the relaxed solution are the identity."""
        N, D = len(self.x), self.terms.shape[2]
        C = np.zeros((N, D, D))
        C[:, :-1, :-1] = np.sqrt(self.mu)[:, None, None] * self.root
        C[:, :-1, -1] = self.z
        C[:, -1, -1] = 1.0
        # Two products of long matrices: one for each function by itself takes several times as long.
        half = (self.terms.reshape(N, -1, D) @ C).reshape(self.terms.shape)
        both = np.swapaxes(half, 2, 3).reshape(N, -1, D) @ C
        return np.asarray(both.reshape(self.terms.shape))

    @cached_property
    def traces(self) -> Array:
        """What the functions are on average over the relaxed solution."""
        return np.asarray(np.einsum("nmii->nm", self.local))

    def step(self) -> tuple[Array, Array]:
        """The next weights, and the barrier's next weight."""
        x, mu = self.x, self.mu
        change = self._direction()
        length = np.minimum(1.0, INNER / np.maximum(self._nearest_end(change), 1e-12))
        pace = np.where(length > 0.5, SHRINK, np.where(length > 0.2, SLOWER, 1.0))
        return x * (1 + length[:, None] * change), mu * pace

    def _direction(self) -> Array:
        """Newton's direction as shares of the weights, those of the margins keeping their sum."""
        x, mu, D = self.x, self.mu, self.terms.shape[2]
        i, j, scale = _upper(D)
        U = (x / mu[:, None])[..., None] * (self.local[:, :, i, j] * scale)
        Ut = np.swapaxes(U, 1, 2)
        inner = Ut @ U
        every = np.arange(len(i))
        inner[:, every, every] = RIDGE * inner[:, every, every] + 1.0
        margins = x.copy()
        margins[:, : x.shape[1] - self.n_margins] = 0.0
        right = np.stack([1.0 - x * self.traces / mu[:, None], margins], axis=-1)
        right -= U @ np.linalg.solve(inner, Ut @ right)
        along, fixed = right[..., 0], right[..., 1]
        excess = np.einsum("nm,nm->n", margins, along) / np.einsum("nm,nm->n", margins, fixed)
        return np.asarray(along - excess[:, None] * fixed)

    def _nearest_end(self, change: Array) -> Array:
        """One over the length at which a weight vanishes or a sum is no longer concave."""
        d = self.terms.shape[2] - 1
        moved = np.matmul((self.x * change)[:, None], self.terms.reshape(*change.shape, -1))
        moved = moved.reshape(len(change), d + 1, d + 1)[:, :d, :d]
        bent = np.swapaxes(self.root, 1, 2) @ moved @ self.root
        return np.asarray(np.maximum(-change.min(axis=1), np.linalg.eigvalsh(bent)[:, -1]))


@cache
def _upper(D: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Rows and columns of a symmetric matrix's entries but the last, and their weights in inner products."""
    i, j = (index[:-1] for index in np.triu_indices(D))
    return i, j, np.where(i == j, 1.0, np.sqrt(2.0))


def cholesky(K: Array) -> tuple[Array, Mask]:
    """Lower factors of a stack of matrices, and which of these are positive definite."""
    diagonal = np.einsum("nii->ni", K)
    try:
        L: Array = np.linalg.cholesky(K).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:  # one of them is enough for that
        return _cholesky_by_columns(K)
    return L, np.asarray((np.einsum("nii->ni", L) ** 2 > 1e-13 * diagonal).all(axis=1))


def _cholesky_by_columns(K: Array) -> tuple[Array, Mask]:
    """The same where some are not."""
    L, definite = np.zeros_like(K), np.ones(len(K), dtype=bool)
    for j in range(K.shape[1]):
        column = K[:, j:, j] - (L[:, j:, :j] @ L[:, j, :j, None])[..., 0]
        positive = column[:, 0] > 1e-13 * K[:, j, j]
        definite &= positive & (K[:, j, j] > 0)
        L[:, j:, j] = column / np.sqrt(np.where(positive, column[:, 0], 1.0))[:, None]
        L[~positive, j, j] = 1.0
    return L, definite
