"""Numbers that constraints are made of: checked, and rounded to the safe side."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import Any

from surefoot.exceptions import ProblemError

# Sizes of prices, of coefficients and of the factors of links. Ten times wider, and products of two of them
# leave nothing of the other terms of a sum.
LEAST, MOST = 1e-9, 1e9


class ContradictionError(ProblemError):
    """Constraints that contradict each other for a row."""


def is_number(value: Any) -> bool:
    """Whether something is a number; a truth value is none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_ends(low: Any, high: Any, what: str) -> None:
    """Refuse ends that are no numbers or exclude each other."""
    for end in (low, high):
        if end is not None and not (is_number(end) and not math.isnan(end)):
            raise ProblemError(f"the ends {what} must be numbers or None, not {end!r}")
    if low == math.inf or high == -math.inf:
        raise ProblemError(f"the ends {what} leave no number: at least {low} and at most {high}")
    if low is not None and high is not None and low > high:
        raise ProblemError(f"the ends {what} exclude each other: at least {low:g} and at most {high:g}")


def open_ends(low: float | None, high: float | None) -> tuple[float, float]:
    """Both ends as doubles; one that is left out is infinite."""
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)


def check_size(value: float, what: str) -> None:
    """Refuse a factor too large or too small to calculate and prove with."""
    if value and not LEAST <= abs(value) <= MOST:
        raise ProblemError(f"{what} is {value:g}; it must be 0, or of a size between {LEAST:g} and {MOST:g}")


def rounded_up(value: Fraction) -> float:
    """The smallest double that is not below a number."""
    found = float(value)
    return found if Fraction(found) >= value else math.nextafter(found, math.inf)


def rounded_down(value: Fraction) -> float:
    """The largest double that is not above a number."""
    return -rounded_up(-value)
