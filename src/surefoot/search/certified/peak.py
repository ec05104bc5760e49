"""The peak of a concave quadratic between the ends of directions: a dual active-set method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgels, dposv

Array = NDArray[np.float64]

ROUNDS = 200
TOLERANCE = 1e-8  # of the largest end: how far beyond its end a direction may be
STIFF = 1e-13  # a direction of which the others leave a smaller share free depends on them
NOISE = 1e-11  # changes of prices that rounding may have made


class Peak(NamedTuple):
    """Prices of the ends, what they prove the peak to be at most, and where directions are at it.

    ``size``: of what adds up to the value, for a judgement of its rounding.
    ``ray``: where the ends exclude each other, prices that show it, and ``missing``, by how much they do.
    """

    prices: Array
    value: float
    y: Array
    ray: Array | None = None
    missing: float = 0.0
    size: float = 0.0


def peak(G: Array, free: Array, constant: float, low: Array, high: Array, prices: Array, stop: float) -> Peak:
    """Max of constant + |free|^2 / 2 - |z - free|^2 / 2 with low <= G z <= high, or until it is below a stop.

    Goldfarb and Idnani's method: ends that are passed get a price one after the other, each of which
    lowers what is proven. It starts with the ends that have a price in ``prices``.
    """
    state = _State(G, low, high, G @ free, constant + 0.5 * float(free @ free))
    state.warm_start(prices)
    tolerance = max(TOLERANCE * float(np.abs(high).max()), 1e-14 * float(np.abs(state.y0).max()))
    for _ in range(ROUNDS):
        if state.value < stop or not state.chosen(tolerance):
            break
        found = state.raised(tolerance)
        if found is not None:
            return found
    return state.result()


@dataclass(eq=False)
class _State:
    """Prices with the right signs, those of active directions such that these are at their ends.

    ``sides``: 1 for an active direction at its upper end, -1 at the lower one, 0 where they are one.
    """

    G: Array
    low: Array
    high: Array
    y0: Array
    top: float
    active: list[int] = field(default_factory=list)
    sides: list[float] = field(default_factory=list)
    rising: int = -1
    sign: float = 1.0

    def __post_init__(self) -> None:
        self.prices = np.zeros(len(self.y0))
        self.y, self.value = self.y0, self.top

    def warm_start(self, prices: Array) -> None:
        """Keep as many of the given ends as can all have a price with the right sign."""
        at = np.flatnonzero(prices)[: self.G.shape[1]]
        signs = np.sign(prices[at])
        while len(at):
            rows = self.G[at]
            target = self.y0[at] - np.where(signs > 0, self.high[at], self.low[at])
            solved, info = dposv(rows @ rows.T, target)[1:]
            shift = solved @ rows
            if info or not np.abs(rows @ shift - target).max() <= 1e-9 * np.abs(target).max():
                return  # dependent ends
            sides = np.where(self.low[at] == self.high[at], 0.0, signs)
            keep = solved * sides >= 0
            if keep.all():
                self._adopt(at, sides, solved, shift)
                return
            at, signs = at[keep], signs[keep]

    def _adopt(self, at: NDArray[np.intp], sides: Array, solved: Array, shift: Array) -> None:
        """Start at these prices, unless rounding has spoiled them."""
        prices = np.zeros(len(self.y0))
        prices[at] = solved
        moved = self.G @ shift
        value = self.top + self._spent(prices, moved)
        if value <= self.top:
            self.prices, self.value, self.y = prices, value, self.y0 - moved
            self.active, self.sides = at.tolist(), sides.tolist()

    def _spent(self, prices: Array, moved: Array) -> float:
        """What prices add to the free peak: their ends minus the mean of where directions were and are."""
        ends = np.where(prices > 0, self.high, np.where(prices < 0, self.low, 0.0))
        return float(prices @ (ends - self.y0 + 0.5 * moved))

    def chosen(self, tolerance: float) -> bool:
        """Whether there is a direction whose price should rise: the one that passes its end most."""
        if self.rising < 0:
            above, below = self.y - self.high, self.low - self.y
            excess = np.maximum(above, below)
            excess[self.active] = 0.0
            p = int(excess.argmax())
            if not excess[p] > tolerance:
                return False
            self.rising, self.sign = p, 1.0 if above[p] >= below[p] else -1.0
        return True

    def raised(self, tolerance: float) -> Peak | None:
        """Raise its price until it is at its end or another price vanishes; a peak if nothing stops it."""
        p, sign = self.rising, self.sign
        missing = sign * (float(self.y[p]) - float(self.high[p] if sign > 0 else self.low[p]))
        change, left = self._response(p, sign)
        softness = float(left @ left)
        soft = len(self.active) < self.G.shape[1] and softness > STIFF * float(self.G[p] @ self.G[p])
        full = missing / softness if soft else np.inf
        if missing <= tolerance:
            self._settle(p, sign, soft and bool(self.prices[p]))
            return None
        block, i = self._blocking(change)
        step = min(full, block)
        if step == np.inf:
            return self._excluded(p, sign, change, missing)
        self.prices[p] += sign * step
        self.prices[self.active] += step * change
        self.y = self.y - step * (self.G @ left)
        self.value -= step * (missing - 0.5 * softness * step)
        if block <= full:
            self.prices[self.active[i]] = 0.0
            del self.active[i], self.sides[i]
        else:
            self._settle(p, sign, True)
        return None

    def _settle(self, p: int, sign: float, active: bool) -> None:
        self.rising = -1
        if active:
            self.active.append(p)
            self.sides.append(sign if self.low[p] < self.high[p] else 0.0)

    def _response(self, p: int, sign: float) -> tuple[Array, Array]:
        """How active prices change as the price of p grows, and the part of p that they leave free."""
        row = sign * self.G[p]
        if not self.active:
            return np.zeros(0), row
        rows = self.G[self.active]
        change = -dgels(rows.T, row)[1][: len(self.active)]
        return change, row + change @ rows

    def _blocking(self, change: Array) -> tuple[float, int]:
        """How far prices can move until one vanishes, and which."""
        best, which = np.inf, -1
        noise = NOISE * max(1.0, float(np.abs(change).max(initial=0.0)))
        for i, (k, c, side) in enumerate(zip(self.active, change.tolist(), self.sides, strict=True)):
            if side * c < -noise:
                step = max(-float(self.prices[k]) / c, 0.0)
                if step < best:
                    best, which = step, i
        return best, which

    def _excluded(self, p: int, sign: float, change: Array, missing: float) -> Peak:
        """The ends exclude each other: prices may rise without end, and the peak is below anything."""
        ray = np.zeros(len(self.y0))
        ray[p], ray[self.active] = sign, change
        prices = self._usable(self.prices + 2 * (abs(self.value) + abs(self.top)) / missing * ray)
        value = self.top + self._spent(prices, self.G @ (prices @ self.G))
        return Peak(prices, value, self.y, ray, missing)

    def result(self) -> Peak:
        """Where it ended, with the value computed anew."""
        prices = self._usable(self.prices)
        value = self.top + self._spent(prices, self.G @ (prices @ self.G))
        if not value <= self.top:
            return Peak(np.zeros(len(self.y0)), self.top, self.y0)
        return Peak(prices, value, self.y)

    def _usable(self, prices: Array) -> Array:
        """Without what rounding gave to ends that do not exist."""
        return np.where((prices < 0) & np.isinf(self.low), 0.0, prices)
