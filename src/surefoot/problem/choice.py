"""Choice: the values that a category may take, and what a change to each of them costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from surefoot.exceptions import ProblemError


@dataclass(frozen=True)
class Choice:
    """The values of one category, as they are named, with the price of each.

    Parameters
    ----------
    feature : int
        Its position among the features.
    values : tuple
        Names, in the model's order.
    prices : tuple of float
        What moving there adds to the distance: nothing for today's value, infinite where it must not go.
    today : int
        Position of the factual's value.
    """

    feature: int
    values: tuple[Any, ...]
    prices: tuple[float, ...]
    today: int

    def __post_init__(self) -> None:
        if len(self.values) != len(self.prices) or not 0 <= self.today < len(self.values):
            raise ProblemError("a choice needs a price for each value, and one of them is today's")
        if self.prices[self.today] != 0 or not all(price >= 0 for price in self.prices):
            raise ProblemError("prices of categories must not be negative, and today's value is free")

    @cached_property
    def allowed(self) -> tuple[int, ...]:
        """Positions of the values that may be taken, the cheapest first."""
        open_ones = [v for v, price in enumerate(self.prices) if math.isfinite(price)]
        return tuple(sorted(open_ones, key=lambda v: (self.prices[v], v)))

    @property
    def is_open(self) -> bool:
        """Whether there is anything to choose."""
        return len(self.allowed) > 1
