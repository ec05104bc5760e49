"""Distances that are prices: what a rise and a fall of each coordinate cost, where they differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.geometry import Metric, dual_exponent, lp_norm

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prices:
    """The price of u is the p-norm of up_i u_i or -down_i u_i, whichever is not negative.

    Coordinates are changes of features times the lower of their two prices: one of up_i and down_i is 1, and
    the other one not below it.

    Parameters
    ----------
    scale : array of shape (n,)
        What a feature's change is multiplied by.
    deviations : array of shape (n,)
        The same in standard deviations: u is so many times the certificate's D (x - factual).
    up, down : arrays of shape (n,)
        Prices of one unit of each coordinate.
    norm : float
        The p.
    """

    scale: Array
    deviations: Array
    up: Array
    down: Array
    norm: float

    @classmethod
    def of(cls, metric: Metric) -> Prices | None:
        """The prices of a metric; None where its distances are none."""
        if metric.prices is None:
            return None
        least = metric.prices.min(axis=1)
        up, down = metric.prices.T / least
        return cls(least / metric.unit, least, up, down, metric.norm)

    @cached_property
    def even(self) -> bool:
        """Whether every rise costs as much as a fall: ||u||_p is the price."""
        return not self.undecided.any()

    @cached_property
    def undecided(self) -> NDArray[np.bool_]:
        """Coordinates whose rise costs more or less than their fall."""
        return np.asarray(self.up != self.down)

    @cached_property
    def width(self) -> Array:
        """From the fall to the rise that cost one, for each coordinate."""
        return np.asarray(1 / self.up + 1 / self.down)

    def of_signs(self, signs: Array) -> Array:
        """The price of each coordinate on the side of a sign."""
        return np.where(signs >= 0, self.up, self.down)

    def part(self, u: Array) -> Array:
        """What each coordinate costs."""
        return np.asarray(self.of_signs(u) * np.abs(u))

    def size(self, u: Array) -> float:
        """The price of u."""
        return float(lp_norm(self.part(u), self.norm))

    def reaches(self, slopes: Array) -> tuple[Array, Array]:
        """The largest -y'u and y'u over all u of price one, for each row y."""
        dual = dual_exponent(self.norm)
        below, above = slopes / self.of_signs(-slopes), slopes / self.of_signs(slopes)
        return np.asarray(lp_norm(below, dual)), np.asarray(lp_norm(above, dual))

    def scales(self, low: Array, high: Array) -> Array:
        """The price of each coordinate where its feature has these ends: of its side, or the lower one."""
        return np.where(low >= 0, self.up, np.where(high <= 0, self.down, 1.0))

    def slope(self, u: Array) -> Array:
        """A slope y of the price at u, for p = 1 and 2: y'v is nowhere above the price of v."""
        priced = self.of_signs(u)
        if self.norm == 1:
            return np.asarray(np.sign(u) * priced)
        return np.asarray(priced**2 * u / max(self.size(u), 1e-300))


def coordinates(metric: Metric) -> tuple[Array, Array]:
    """The matrix from changes of features to the coordinates of a search, and its inverse."""
    prices = Prices.of(metric)
    if prices is None:
        return metric.matrix, metric.inverse
    return np.diag(prices.scale), np.diag(1 / prices.scale)
