"""What bounds and points of a search over allowed values share: directions, scenarios, one quadratic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.majorant import Majorant
from surefoot.search.certified.peak import Peak, peak
from surefoot.search.certified.points import Points
from surefoot.waist.quadratic import Quadratic

Array = NDArray[np.float64]
Gaps = dict[int, tuple[float, float]]  # set direction -> the allowed values around a place

WHOLE = 1e-6  # of a direction's reach; a value this near to an allowed one counts as allowed


class Frame:
    """Coordinates, features and rows in units of their reach, and the scenarios of the one requirement.

    H(u + v) for another scenario v differs from that of a base scenario by an affine function: where it is
    lower its weight grows, up to one for all. It enters as one more direction, whose price is that weight.

    Parameters
    ----------
    points : Points
    scenarios : list of int
    """

    def __init__(self, points: Points, scenarios: list[int]) -> None:
        space = points.space
        self.points, self.space, self.scenarios = points, space, scenarios
        self.H: Quadratic = space.margins[0]
        m = sum(function[0] != "d" for function in space.functions)
        self.reach = space.reach[:m]
        self.slopes = space.directions[:m] / self.reach[:, None]
        self.low, self.high = space.low[:m] / self.reach, space.high[:m] / self.reach
        below, above = space.level_ends(1.0)
        self.below, self.above = -below[:m] / self.reach, above[:m] / self.reach  # 1 but for prices
        self._table = np.zeros(0), np.zeros((0, space.n))

    def within(self, low: Array, high: Array, level: float) -> tuple[Array, Array]:
        """Ends, and those of a level."""
        return np.maximum(low, -level * self.below), np.minimum(high, level * self.above)

    def scenario(self, b: int) -> Array:
        """A scenario's shift."""
        return self.points.scenarios[self.scenarios[b]][1]

    @property
    def table(self) -> tuple[Array, Array]:
        """For each scenario the margin's value at the factual, and the slope that its shift adds."""
        if len(self._table[0]) != len(self.scenarios):
            V = np.array([self.scenario(b) for b in range(len(self.scenarios))])
            self._table = np.asarray(self.H(V)), 2 * V @ self.H.matrix
        return self._table

    def worst(self, u: Array) -> int:
        """The scenario in which the margin is lowest at u."""
        values, slopes = self.table
        return int((values + slopes @ u).argmin())

    def peak(
        self,
        major: Majorant,
        top: tuple[Array, float, int],
        ends: tuple[Array, Array],
        prices: Array,
        stop: float,
    ) -> tuple[Peak, Array]:
        """The peak of constant + slope'u - u'Ku between ends, and where it is; top: slope, constant, base."""
        h, constant, b = top
        values, slopes = self.table
        extra = slopes[b] - slopes
        G = np.vstack([major.root, extra @ major.half])
        low = np.append(ends[0], np.full(len(values), -np.inf))
        high = np.append(ends[1], values - values[b])
        known = np.append(prices, np.zeros(len(G) - len(prices)))
        found = peak(G, h @ major.half, constant, low, high, known, stop)
        m = len(self.slopes)
        left = h - found.prices[:m] @ self.slopes - found.prices[m:] @ extra
        u = 0.5 * major.inverse @ left
        # The value once more without the large numbers that a nearly flat majorant's own peak consists of.
        paid = found.prices * np.where(found.prices > 0, high, np.where(found.prices < 0, low, 0.0))
        value = constant + float(paid.sum()) + 0.5 * float(left @ u)
        return found._replace(value=value, size=abs(constant) + float(np.abs(paid).sum())), u

    def shares(self, found: Peak) -> Array:
        """The other scenarios' weights."""
        return found.prices[len(self.slopes) :]

    def between(self, u: Array, low: Array, high: Array, tolerance: float = WHOLE) -> Gaps:
        """Open set directions off their allowed values: the two around."""
        found = {}
        for k, (values, offset) in self.space.sets.items():
            if high[k] > low[k]:
                value = float(self.space.directions[k] @ u) + offset
                a, b = values.at_most(value), values.at_least(value)
                if min(value - a, b - value) > tolerance * self.reach[k]:
                    found[k] = a - offset, b - offset
        return found

    def allowed(self, k: int, u: Array) -> float:
        """The allowed value of a set direction that is nearest to a point's."""
        values, offset = self.space.sets[k]
        low, high = self.space.low[k] + offset, self.space.high[k] + offset
        return values.nearest(float(self.space.directions[k] @ u) + offset, low, high) - offset
