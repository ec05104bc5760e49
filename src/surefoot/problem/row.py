"""Row: a linear restriction of the numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError

Array = NDArray[np.float64]

ROUNDING = 1e-15  # of the absolute terms, for each of them: more than products and sums of doubles may miss
TINY = 1e-290  # more than what is lost where they underflow
EQUALITY = 1e-9  # of the absolute terms: how far doubles may miss a row whose ends are equal


@dataclass(frozen=True, eq=False)
class Row:
    """low <= coefficients'x <= high.

    Parameters
    ----------
    coefficients : array of shape (n,)
    low, high : float
        Infinite ends are open.
    name : str
        In words, for messages.
    """

    coefficients: Array
    low: float
    high: float
    name: str = ""

    def __post_init__(self) -> None:
        a = np.array(self.coefficients, dtype=float)
        if a.ndim != 1 or not np.isfinite(a).all() or not a.any():
            raise ProblemError(f"the row {self.name!r} needs finite coefficients, not all of them zero")
        if not self.low <= self.high:
            raise ProblemError(f"the row {self.name!r} is empty: {self.low:g} to {self.high:g}")
        a.setflags(write=False)
        object.__setattr__(self, "coefficients", a)

    def contains(self, x: Array) -> bool:
        """Whether a point satisfies the row: an inequality to the last digit, an equation up to rounding."""
        pairs = [
            p for p in zip(self.coefficients.tolist(), np.asarray(x, float).tolist(), strict=True) if p[0]
        ]
        known = self._clearly_contains([a * v for a, v in pairs])
        if known is not None:
            return known
        terms = [Fraction(a) * Fraction(v) for a, v in pairs]
        value = sum(terms, Fraction(0))
        if self.low == self.high:
            return abs(value - Fraction(self.low)) <= Fraction(EQUALITY) * sum(map(abs, terms), Fraction(0))
        return (self.low == -math.inf or value >= Fraction(self.low)) and (
            self.high == math.inf or value <= Fraction(self.high)
        )

    def _clearly_contains(self, terms: list[float]) -> bool | None:
        """Whether an inequality holds, where rounding cannot matter; fractions take fifty times as long."""
        if self.low == self.high:
            return None
        total, rounding = sum(terms), ROUNDING * len(terms) * sum(map(abs, terms)) + TINY
        if total - rounding >= self.low and total + rounding <= self.high:
            return True
        return False if total + rounding < self.low or total - rounding > self.high else None

    @property
    def feature(self) -> int | None:
        """The feature of a row about one alone: its ends are those of the feature."""
        used = np.flatnonzero(self.coefficients)
        return int(used[0]) if len(used) == 1 and self.coefficients[used[0]] == 1.0 else None
