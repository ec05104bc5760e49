"""Row: a linear restriction of the numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError

Array = NDArray[np.float64]

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
        terms = [Fraction(float(a)) * Fraction(float(v)) for a, v in zip(self.coefficients, x, strict=True)]
        value = sum(terms, Fraction(0))
        if self.low == self.high:
            return abs(value - Fraction(self.low)) <= Fraction(EQUALITY) * sum(map(abs, terms), Fraction(0))
        return (self.low == -math.inf or value >= Fraction(self.low)) and (
            self.high == math.inf or value <= Fraction(self.high)
        )

    @property
    def feature(self) -> int | None:
        """The feature of a row about one alone: its ends are those of the feature."""
        used = np.flatnonzero(self.coefficients)
        return int(used[0]) if len(used) == 1 and self.coefficients[used[0]] == 1.0 else None
