"""Rule: a linear restriction over several features, and today's values in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any

from surefoot.exceptions import ProblemError
from surefoot.formats import exact

LEAST, MOST = 1e-9, 1e9  # sizes of prices, of coefficients and of the factors of links


class ContradictionError(ProblemError):
    """Wishes that exclude each other for a row, whatever else holds."""


@dataclass(frozen=True)
class Rule:
    """low <= sum of coefficient * feature, with today's values added <= high.

    Parameters
    ----------
    coefficients : dict
        Of the features, by name.
    low, high : float, optional
        An end that is left out is open.
    name : str
        How messages call the rule. Default: the rule itself.
    now : dict, optional
        Coefficients of the features' values of today, which are added to the sum.

    Examples
    --------
    >>> Rule({"rent": 1, "loan": 1, "income": -0.4}, high=0).name
    'rent + loan - 0.4 income <= 0'
    >>> Rule({"age": 1}, low=2, now={"age": -1}).ends({"age": 30.0})
    (32.0, inf)
    """

    coefficients: Mapping[Any, float]
    low: float | None = None
    high: float | None = None
    name: str = ""
    now: Mapping[Any, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Mapping) or not self.coefficients:
            raise ProblemError(f"a rule needs a dict of feature -> coefficient, not {self.coefficients!r}")
        if not isinstance(self.now, Mapping):
            raise ProblemError(f"now must be a dict of feature -> coefficient, not {self.now!r}")
        for numbers in (self.coefficients, self.now):
            if not all(is_number(a) and math.isfinite(a) for a in numbers.values()):
                raise ProblemError(f"the coefficients of a rule must be finite numbers: {numbers!r}")
        if not any(self.coefficients.values()):
            raise ProblemError("a rule needs a coefficient that is not zero")
        check_ends(self.low, self.high, "of a rule")
        if self.low is None and self.high is None:
            raise ProblemError("a rule needs an end: low or high")
        if not isinstance(self.name, str):
            raise ProblemError(f"the name of a rule must be text, not {self.name!r}")
        if not self.name:
            terms = {**self.coefficients, **{f"{name}.now": a for name, a in self.now.items()}}
            object.__setattr__(self, "name", rule_text(terms, *self._open_ends()))

    def ends(self, today: Mapping[Any, float]) -> tuple[float, float]:
        """Both ends of the sum without today's values, rounded so that they are never wider than they are.

        Only a rule that today's values meet at its end must not exclude them by rounding.
        """
        low, high = self._open_ends()
        if not self.now:
            return low, high
        added = _sum(self.now, today)
        if low == high:
            return (float(Fraction(low) - added),) * 2
        at = _sum(self.coefficients, today) + added
        return (
            low if math.isinf(low) else (rounded_down if at == low else rounded_up)(Fraction(low) - added),
            high
            if math.isinf(high)
            else (rounded_up if at == high else rounded_down)(Fraction(high) - added),
        )

    def _open_ends(self) -> tuple[float, float]:
        return (
            -math.inf if self.low is None else float(self.low),
            math.inf if self.high is None else float(self.high),
        )


def _sum(coefficients: Mapping[Any, float], values: Mapping[Any, float]) -> Fraction:
    terms = (Fraction(float(a)) * Fraction(float(values[name])) for name, a in coefficients.items())
    return sum(terms, Fraction(0))


def rule_text(coefficients: Mapping[Any, float], low: float, high: float) -> str:
    """A rule in words: what `Rule` is called by default."""
    terms = [_term(a, str(name)) for name, a in coefficients.items() if a]
    text = "".join(terms).removeprefix(" + ").removeprefix(" ")
    if low == high:
        return f"{text} = {exact(low)}"
    start = f"{exact(low)} <= " if low > -math.inf and high < math.inf else ""
    return f"{start}{text} <= {exact(high)}" if high < math.inf else f"{text} >= {exact(low)}"


def _term(a: float, name: str) -> str:
    size = "" if abs(a) == 1 else f"{exact(abs(a))} "
    return f" {'-' if a < 0 else '+'} {size}{name}"


def rounded_up(value: Fraction) -> float:
    """The smallest double that is not below a number."""
    found = float(value)
    return found if Fraction(found) >= value else math.nextafter(found, math.inf)


def rounded_down(value: Fraction) -> float:
    """The largest double that is not above a number."""
    return -rounded_up(-value)


def check_ends(low: Any, high: Any, what: str) -> None:
    """Refuse ends that are no numbers or exclude each other."""
    for end in (low, high):
        if end is not None and not (is_number(end) and not math.isnan(end)):
            raise ProblemError(f"the ends {what} must be numbers or None, not {end!r}")
    if low == math.inf or high == -math.inf:
        raise ProblemError(f"the ends {what} leave no number: at least {low} and at most {high}")
    if low is not None and high is not None and low > high:
        raise ProblemError(f"the ends {what} exclude each other: at least {low:g} and at most {high:g}")


def check_size(value: float, what: str) -> None:
    """Refuse a factor so large or so small that nothing can be calculated with it and proved of it."""
    if value and not LEAST <= abs(value) <= MOST:
        raise ProblemError(f"{what} is {value:g}; it must be 0, or of a size between {LEAST:g} and {MOST:g}")


def is_number(value: Any) -> bool:
    """Whether something is a number; a truth value is none."""
    return isinstance(value, Real) and not isinstance(value, bool)
