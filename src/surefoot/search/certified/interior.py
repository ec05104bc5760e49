"""Interior-point search for multipliers that refute a region."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dsyevr, dtrtrs

from surefoot.search.certified import kernel
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.lagrangian import Lagrangian

Array = NDArray[np.float64]

MAX_STEPS = 60
SMALL, FEW = 2_500, 150  # entries of the rows, and rows, up to which the compiled form takes less time
NARROW = 50  # and coordinates
SAFETY = 1e-11  # how far below zero, relative to what was added up, counts as below zero
BENT = 1e-13  # of the curvatures that were added up: how much must be left of them
FIRMER = (1e-9, 1e-6, 1e-3)  # shares of safely concave multipliers that are mixed in where less is left


class BoundaryError(ValueError):
    """Rounding leaves nothing beside the peak of the first multipliers."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Where the search for multipliers ended.

    Parameters
    ----------
    x : array
        The multipliers; those of the margins sum to one.
    value : float
        max F. The region is empty if it is negative.
    refuted : bool
        Whether it is, with room for rounding.
    z : array
        The relaxed solution, the most promising point of the region.
    spread : array of shape (n, n)
        Its second moments around z.
    steps : int
    """

    x: Array
    value: float
    refuted: bool
    z: Array
    spread: Array
    steps: int

    @property
    def moments(self) -> Array:
        """The means of yy' with y = (z, 1)."""
        y = np.append(self.z, 1.0)
        found = np.outer(y, y)
        found[:-1, :-1] += self.spread
        return found


def minimise(form: Lagrangian, x: Array, share: float, floor: float, clock: Clock) -> Multipliers:
    """Min over x of max_z F(z), stopping as soon as it is negative or surely is not.

    The pair of semidefinite programs is

        min s   s.t.  Z = s e e' - sum x_j A_j >= 0,  G x >= 0,  sum of the margins' x = 1
        max eta s.t.  tr(A_j Y) - eta [j is a margin] = (G'w)_j,  Y_ee = 1,  Y >= 0,  w >= 0

    with Y = (moments of z). A primal-dual method (HKM direction, Mehrotra's corrector) keeps the first
    one feasible throughout, so that every iterate is a certificate in waiting. Written by hand because a
    general cone solver carries the n^2/2 entries of Y as variables: Clarabel takes less time up to some
    16 features, eight times as much at 32 and forty-five at 60 (``benchmarks/speed/bound.py``), and cannot
    stop as soon as the sign is known.
    It stops when the optimum is known to be positive up to ``share`` of itself, or to ``floor``; and when
    time is up, since what the multipliers prove by then is better than nothing.
    """
    small = form.left.size <= SMALL and form.size <= FEW and form.left.shape[1] <= NARROW
    if kernel.LIBRARY is not None and small and clock.left >= 0:
        found = _compiled(kernel.LIBRARY, form, x, share, floor)
        if found is not None:
            return firm(form, found, x)
    state = _State.start(form, x)
    vague = np.inf if share > 1 else 0.2
    steps = 0
    while steps < MAX_STEPS and clock.left >= 0:
        steps += 1
        value = state.peak()
        gap = state.s - state.eta
        feasible = state.error() < 0.1 * min(1.0, vague * gap / abs(state.eta))
        if _negative(state, value) or (feasible and (gap < floor or 0 < gap < share * state.eta)):
            break
        if not state.advance():
            break
    value = state.peak()
    return firm(form, Multipliers(state.x, value, _negative(state, value), *state.moments(), steps), x)


def _compiled(
    library: ctypes.CDLL, form: Lagrangian, x: Array, share: float, floor: float
) -> Multipliers | None:
    """The compiled form: sixty steps take hundredths of a second at most, and need no look at the clock."""
    (m, D), x = form.left.shape, np.array(x, dtype=float)
    Y, out = np.empty((D, D)), np.empty(3)
    kind = np.ascontiguousarray(form.kind, dtype=np.intc)
    arrays = form.left, form.right, form.curvatures, form.heights
    left, right, curvatures, heights = (np.ascontiguousarray(array, dtype=float) for array in arrays)
    begun = library.interior_minimise(
        *(D, m, form.n_margins, form.n_cross, len(curvatures)),
        *(kernel.pointer(array) for array in (left, right, curvatures, kind, heights)),
        *(ctypes.c_double(value) for value in (share, floor, SAFETY)),
        *(MAX_STEPS, *(kernel.pointer(array) for array in (x, Y, out))),
    )
    if not begun:  # rounding decides whether F is concave at all: let numpy's decide
        return None
    value, refuted, steps = out.tolist()
    z = Y[:-1, -1] / Y[-1, -1]
    spread = Y[:-1, :-1] / Y[-1, -1] - np.outer(z, z)
    return Multipliers(x, value, bool(refuted), z, spread, int(steps))


def firm(form: Lagrangian, found: Multipliers, safe: Array) -> Multipliers:
    """The same multipliers, with a bit of safe ones where rounding hides whether F is concave.

    Without any bound where that does not help.
    """
    if _is_bent(form, found.x):
        return found
    for share in FIRMER:
        x = (1 - share) * found.x + share * safe
        value = _peak(form, x) if _is_bent(form, x) else None
        if value is not None:
            return replace(found, x=x, value=value, refuted=_below_zero(value, x, form))
    return replace(found, value=np.inf, refuted=False)


def _is_bent(form: Lagrangian, x: Array) -> bool:
    """Whether F is concave in every direction by more than rounding."""
    K, size = -form.matrix(x)[:-1, :-1], form.bends(x)
    K.flat[:: len(K) + 1] -= BENT * size
    return bool(dpotrf(K, lower=1)[1] == 0)


def refutes(form: Lagrangian, x: Array) -> float | None:
    """Max F if it is negative and F concave, else None: one factorisation instead of a search."""
    value = _peak(form, x)
    return value if value is not None and _below_zero(value, x, form) else None


def _peak(form: Lagrangian, x: Array) -> float | None:
    """Max F; None where F is not concave."""
    Z = -form.matrix(x)
    factor, info = dpotrf(Z[:-1, :-1], lower=1)
    if info:
        return None
    h = Z[:-1, -1]
    return float(h @ dpotrs(factor, h, lower=1)[0]) - float(Z[-1, -1])


def _below_zero(value: float, x: Array, form: Lagrangian) -> bool:
    return value < -SAFETY * (float(np.abs(x) @ form.constants) + abs(value))


def _negative(state: _State, value: float) -> bool:
    return _below_zero(value, state.x, state.form)


class _State:
    """Iterates of both programs, and one step from them."""

    def __init__(self, form: Lagrangian, x: Array, s: float, Z: Array, factor: Array) -> None:
        self.form, self.x, self.s, self.Z, self.factor = form, x, s, Z, factor
        self.chosen = np.zeros(form.size + 1)
        self.chosen[form.margins] = 1.0
        self.W = _inverse(factor)
        # Both on the central path with the mu for which Y_ee = 1; the rest of Y's equations comes later.
        mu = 1.0 / self.W[-1, -1]
        self.Y = mu * self.W
        self.w = mu / self.slacks(x)
        self.eta = s - mu * (len(Z) + len(self.w))
        # How far the second program's equations are from being met; every step shrinks all by one factor.
        gaps = form.products(self.Y) - self.eta * self.chosen[:-1] - self.slacks_transposed(self.w)
        with np.errstate(over="ignore"):  # an entry without any height is never met
            shares = np.abs(gaps) / np.where(self.chosen[:-1] > 0, 1.0, np.maximum(form.heights, 1e-300))
        rest = np.delete(shares, form.margins)
        self.residuals = float(shares[form.margins].max()), float(rest.max(initial=0.0))

    @classmethod
    def start(cls, form: Lagrangian, x: Array) -> _State:
        """From multipliers for which F is strictly concave."""
        Z = -form.matrix(x)
        K, h = Z[:-1, :-1], Z[:-1, -1]
        factor, info = dpotrf(K, lower=1)
        if info:
            raise ValueError("the first multipliers must make the Lagrangian concave")
        peak = float(h @ dpotrs(factor, h, lower=1)[0]) - Z[-1, -1]
        s = peak + max(abs(peak), 1e-9 * float(np.abs(x).max()))
        Z[-1, -1] += s
        factor, info = dpotrf(Z, lower=1)
        if info:
            raise BoundaryError("the first multipliers are too close to the boundary")
        return cls(form, x, s, Z, factor)

    def slacks(self, x: Array) -> Array:
        """G x: what must stay positive."""
        c = self.form.n_cross
        if not c:
            return x
        return np.concatenate([x[:1], x[1 + c :], x[0] - x[1 : 1 + c], x[0] + x[1 : 1 + c]])

    def slacks_transposed(self, w: Array) -> Array:
        """G'w."""
        c = self.form.n_cross
        if not c:
            return w
        rest = self.form.size - 1 - c
        below, above = w[1 + rest : 1 + rest + c], w[1 + rest + c :]
        return np.concatenate([[w[0] + below.sum() + above.sum()], above - below, w[1 : 1 + rest]])

    def weights(self, d: Array) -> Array:
        """G' diag(d) G."""
        c = self.form.n_cross
        if not c:
            return np.diag(d)
        rest = self.form.size - 1 - c
        below, above = d[1 + rest : 1 + rest + c], d[1 + rest + c :]
        H = np.diag(np.concatenate([[d[0] + below.sum() + above.sum()], above + below, d[1 : 1 + rest]]))
        H[0, 1 : 1 + c] = H[1 : 1 + c, 0] = above - below
        return H

    def error(self) -> float:
        """How far the second program's equations are from being met, relative to what each is about.

        A margin is about eta, a product of two affine functions about the most it can be between its zeros.
        """
        margins, rest = self.residuals
        return float(max(margins / max(abs(self.eta), 1e-300), rest))

    def peak(self) -> float:
        """Max F for the present multipliers: s minus the Schur complement of Z."""
        return self.s - 1.0 / float(self.W[-1, -1])

    def moments(self) -> tuple[Array, Array]:
        """Mean and covariance of the relaxed solution."""
        z = self.Y[:-1, -1] / self.Y[-1, -1]
        return z, self.Y[:-1, :-1] / self.Y[-1, -1] - np.outer(z, z)

    def advance(self) -> bool:
        """One predictor-corrector step; False where rounding leaves no way on."""
        rows, Y, W = self.form.lowered, self.Y, self.W
        xi = self.slacks(self.x)
        if not xi.min() > 0:
            return False
        mu = (float(np.vdot(Y, self.Z)) + float(self.w @ xi)) / (len(Y) + len(xi))
        S = rows.gram(Y, W)
        S[:-1, :-1] += self.weights(self.w / xi)
        S.flat[:: len(S) + 1] *= 1 + 1e-13
        factor, info = dpotrf(S, lower=1)
        if info or not math.isfinite(factor.sum()):
            return False
        solve = self._solver(factor)
        target = np.zeros(len(S))
        target[-1] = -1.0
        affine = self._directions(solve(target), 0.0, xi, None)
        pace = _pace(self.Z, affine.dual_change, _ratio(xi, affine.dxi))
        pace = min(pace, _pace(Y, affine.primal_change, _ratio(self.w, affine.dw)))
        sigma = (1 - pace) ** 3 if pace > 0.2 else 0.8
        aim = max(sigma, 1e-4) * mu
        bend = affine.dw * affine.dxi / xi
        N = affine.primal_change @ affine.dual_change @ W
        N = 0.5 * (N + N.T)
        target += rows.products(N - aim * W)
        target[:-1] += self.slacks_transposed(aim / xi - bend)
        moves = self._directions(solve(target), aim, xi, (bend, N))
        if not (math.isfinite(moves.dual_change.sum()) and math.isfinite(moves.primal_change.sum())):
            return False
        dual, primal = self._dual_length(moves, xi), self._primal_length(moves)
        if max(dual, primal) < 1e-7:
            return False
        return self._move(moves, dual, primal)

    def _solver(self, factor: Array) -> Callable[[Array], tuple[Array, float]]:
        """Solve S d - chosen * (eta + d_eta) = right with the margins' sum unchanged."""
        chosen = self.chosen
        toward = dpotrs(factor, chosen, lower=1)[0]
        weight = float(chosen @ toward)

        def solve(right: Array) -> tuple[Array, float]:
            plain = dpotrs(factor, right, lower=1)[0]
            eta = -float(chosen @ plain) / weight
            return plain + eta * toward, eta

        return solve

    def _directions(
        self, step: tuple[Array, float], target: float, xi: Array, second: tuple[Array, Array] | None
    ) -> _Moves:
        d, eta = step
        dZ = -self.form.lowered.matrix(d)
        dxi = self.slacks(d[:-1])
        half = self.Y @ dZ @ self.W
        dY = -self.Y - 0.5 * (half + half.T)
        dw = -self.w - self.w / xi * dxi
        if second is not None:
            bend, N = second
            dY += target * self.W - N
            dw += target / xi - bend
        return _Moves(d[:-1], float(d[-1]), eta, dZ, dY, dxi, dw)

    def _dual_length(self, moves: _Moves, xi: Array) -> float:
        return min(0.95 * _ratio(xi, moves.dxi), 0.95 * _reach(self.factor, moves.dual_change), 1.0)

    def _primal_length(self, moves: _Moves) -> float:
        factor, info = dpotrf(self.Y, lower=1)
        if info:
            return 0.0
        return min(0.95 * _ratio(self.w, moves.dw), 0.95 * _reach(factor, moves.primal_change), 1.0)

    def _move(self, moves: _Moves, dual: float, primal: float) -> bool:
        x, s = self.x + dual * moves.dx, self.s + dual * moves.ds
        Z = -self.form.matrix(x)
        Z[-1, -1] += s
        factor, info = dpotrf(Z, lower=1)
        if info:
            return False
        self.x, self.s, self.Z, self.factor, self.W = x, s, Z, factor, _inverse(factor)
        self.Y = self.Y + primal * moves.primal_change
        self.w = self.w + primal * moves.dw
        self.eta = self.eta + primal * (moves.eta - self.eta)
        self.residuals = self.residuals[0] * (1 - primal), self.residuals[1] * (1 - primal)
        return True


@dataclass(frozen=True, eq=False)
class _Moves:
    dx: Array
    ds: float
    eta: float
    dual_change: Array
    primal_change: Array
    dxi: Array
    dw: Array


def _ratio(value: Array, change: Array) -> float:
    """How far one may go until an entry vanishes."""
    fraction = float((change / value).min())
    return -1.0 / fraction if fraction < 0 else np.inf


def _pace(matrix: Array, change: Array, limit: float) -> float:
    """A rough guess of how far one may go, for the predictor: cheaper than `_reach`."""
    length = min(1.0, limit)
    for _ in range(8):
        if dpotrf(matrix + length * change, lower=1)[1] == 0:
            return length
        length *= 0.7
    return length


def _reach(factor: Array, change: Array) -> float:
    """How far one may go from factor factor' until it is singular; nowhere if that cannot be computed."""
    half = dtrtrs(factor, change, lower=1)[0]
    scaled = dtrtrs(factor, half.T, lower=1)[0]
    values, _, found, _, failed = dsyevr(scaled, compute_v=0, range="I", lower=1, il=1, iu=1)
    if failed or not found:
        return 0.0
    lowest = float(values[0])
    return -1.0 / lowest if lowest < 0 else np.inf


def _inverse(factor: Array) -> Array:
    lower = dpotri(factor, lower=1)[0]  # nothing above the diagonal: there is nothing in the factor either
    W = lower + lower.T
    W.flat[:: len(W) + 1] *= 0.5
    return np.asarray(W)
