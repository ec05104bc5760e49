"""Rule: a linear constraint over several features, and today's values in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefoot.days import Day, as_day
from surefoot.exceptions import ProblemError
from surefoot.explain.constraints import arithmetic
from surefoot.explain.constraints.arithmetic import is_number, open_ends, rounded_down, rounded_up
from surefoot.explain.constraints.constraint import Broken, Constraint, Features, Today, column_of, numbers_of
from surefoot.formats import exact
from surefoot.problem.row import Row

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

FIELDS = ("coefficients", "low", "high", "name", "now")
# Of the terms' sizes: within it a sum is looked at exactly. Ten times larger, and more sums are.
CLOSE = 1e-9


@dataclass(frozen=True)
class Rule(Constraint):
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

    key = "rules"
    example = 'rules = ["rent + loan <= 0.4 * income"]'
    says = 4

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
        for end in ("low", "high"):
            object.__setattr__(self, end, as_day(getattr(self, end)))
        arithmetic.check_ends(self.low, self.high, "of a rule")
        if self.low is None and self.high is None:
            raise ProblemError("a rule needs an end: low or high")
        if not isinstance(self.name, str):
            raise ProblemError(f"the name of a rule must be text, not {self.name!r}")
        if not self.name:
            object.__setattr__(self, "name", self._written())

    @classmethod
    def read(cls, entry: Any) -> Rule:
        """From a rule, from text, or from what `plain` gives."""
        from surefoot.explain.constraints.grammar import parse_rule  # whose conditions are rules, too

        if isinstance(entry, Rule):
            return entry
        if isinstance(entry, str):
            return parse_rule(entry)
        if not isinstance(entry, dict):
            raise ProblemError(f"a rule must be text or a surefoot.Rule, not {entry!r:.80}")
        for name in entry:
            if name not in FIELDS:
                raise ProblemError(f"{name!r:.60} is unknown; there are {', '.join(FIELDS)}")
        return Rule(**{"coefficients": {}, **entry})

    @classmethod
    def from_toml(cls, entry: Any) -> Rule:
        """From text or a table."""
        if not isinstance(entry, str | dict):
            raise ProblemError(f"must be text or a table, not {entry!r:.60}")
        return cls.read(entry)

    from_document = from_toml

    def to_toml(self) -> str | dict[str, Any]:
        """As text where that says all of it, else as a table.

        Examples
        --------
        >>> Rule({"rent": 1}, high=5, name="my rule").to_toml()
        {'coefficients': {'rent': 1}, 'high': 5, 'name': 'my rule'}
        """
        try:
            if Rule.read(self.name) == self:
                return self.name
        except ProblemError:  # its name is something else
            pass
        ends = {name: getattr(self, name) for name in ("low", "high") if getattr(self, name) is not None}
        terms, now = ({str(name): a for name, a in part.items()} for part in (self.coefficients, self.now))
        return {"coefficients": terms, **ends, "name": self.name, **({"now": now} if now else {})}

    def plain(self) -> Any:
        """The same, with numbers as doubles and without infinite ends."""
        low, high = (None if end is None or math.isinf(end) else end for end in (self.low, self.high))
        rule = self if (low, high) == (self.low, self.high) else replace(self, low=low, high=high)
        return as_plain(rule.to_toml())

    def validated(self) -> Rule:
        """A rule checks itself when it is made."""
        return self

    def check(self, features: Features) -> None:
        """Refuse a rule over anything but numbers."""
        check_sum(self, features, f"the rule {self.name!r}")

    def named(self) -> list[Any]:
        """The features in its sum, as they will be or as they are today."""
        return [*dict.fromkeys([*self.coefficients, *self.now])]

    def added_up(self) -> tuple[Any, ...]:
        """The features in its sum; the interval of one feature is no sum."""
        named = tuple(name for name, a in self.coefficients.items() if a)
        return named if len(named) > 1 else ()

    def rules(self) -> tuple[Rule, ...]:
        """Itself."""
        return (self,)

    def rows(self, today: Today) -> tuple[Row, ...]:
        """The sum, with today's values of one row in its ends."""
        coefficients, low, high = self.at(today, "rules")
        return (Row(coefficients[today.numbers], low, high, self.name),)

    def at(self, today: Today, what: str) -> tuple[Array, float, float]:
        """Coefficients by feature, and the ends of their sum for one row."""
        a, now = np.zeros(len(today.names)), {}
        for name in self.named():
            now[name] = float(today.now[today.position(name, what)])
        for name, coefficient in self.coefficients.items():
            a[today.position(name, what)] += float(coefficient)
        return a, *self.ends(now)

    def broken(self, frame: pd.DataFrame) -> Iterator[Broken]:
        """Rows whose sum is beyond an end."""
        for k, total in broken_sums(self, frame, f"the rule {self.name!r}").items():
            yield Broken(k, None, self.name, total)

    def words(self) -> str:
        """The rule itself; one with a name of its own is written out behind it."""
        if isinstance(self.to_toml(), str) or self.name == self._written():
            return self.name
        return f"{self.name} ({self._written()})"

    def _written(self) -> str:
        terms = {**self.coefficients, **{f"{name}.now": a for name, a in self.now.items()}}
        low, high = open_ends(self.low, self.high)
        days = [
            end if isinstance(end, Day) else number for end, number in ((self.low, low), (self.high, high))
        ]
        return rule_text(terms, *days)

    def relaxation(self) -> tuple[str, str]:
        """How a conflict names it, and that it is lifted."""
        said = f"the rule {self.name!r}"
        return said, f"{said} is lifted"

    def ends(self, today: Mapping[Any, float]) -> tuple[float, float]:
        """Both ends of the sum without today's values, rounded inwards.

        Where today's values lie exactly at an end it is rounded outwards, so that they stay allowed.
        """
        low, high = open_ends(self.low, self.high)
        if not self.now:
            return low, high
        added = _sum(self.now, today)
        if low == high:
            return (float(Fraction(low) - added),) * 2
        at = _sum(self.coefficients, today) + added
        if not math.isinf(low):
            low = (rounded_down if at == low else rounded_up)(Fraction(low) - added)
        if not math.isinf(high):
            high = (rounded_up if at == high else rounded_down)(Fraction(high) - added)
        return low, high


def _sum(coefficients: Mapping[Any, float], values: Mapping[Any, float]) -> Fraction:
    terms = (Fraction(float(a)) * Fraction(float(values[name])) for name, a in coefficients.items())
    return sum(terms, Fraction(0))


def rule_text(coefficients: Mapping[Any, float], low: float, high: float) -> str:
    """A rule in words: what `Rule` is called by default."""
    terms = [_term(a, str(name)) for name, a in coefficients.items() if a]
    text = "".join(terms).removeprefix(" + ").removeprefix(" ")
    least, most = (str(end) if isinstance(end, Day) else exact(end) for end in (low, high))
    if low == high:
        return f"{text} = {least}"
    start = f"{least} <= " if low > -math.inf and high < math.inf else ""
    return f"{start}{text} <= {most}" if high < math.inf else f"{text} >= {least}"


def _term(a: float, name: str) -> str:
    size = "" if abs(a) == 1 else f"{exact(abs(a))} "
    return f" {'-' if a < 0 else '+'} {size}{name}"


def check_sum(rule: Rule, features: Features, what: str) -> None:
    """Refuse a sum of anything but numbers, or with unusable coefficients."""
    for name, a in (*rule.coefficients.items(), *rule.now.items()):
        arithmetic.check_size(a, f"the coefficient of {str(name)!r} in {what}")
    parts = (rule.coefficients, rule.now)
    used = [features.position(name, what) for part in parts for name in part if part[name]]
    day = next((end for end in (rule.low, rule.high) if isinstance(end, Day)), None)
    if day is not None and not any(i in features.dates for i in used):
        raise ProblemError(f"{what} has a date, and {str(features.names[used[0]])!r} is none")
    wrong = [features.names[i] for i in used if i in features.categories]
    if wrong:
        raise ProblemError(f"{what} adds up {str(wrong[0])!r}, which is a category")


def broken_sums(rule: Rule, frame: pd.DataFrame, what: str) -> dict[int, float]:
    """Rows that break a rule, today's values in the place of ``.now``; close ones are added up exactly."""
    names = rule.named()
    x = np.column_stack([numbers_of(column_of(frame, name, what), name) for name in names])
    parts: tuple[Mapping[Any, float], ...] = (rule.coefficients, rule.now)
    each = np.array([[float(part.get(name, 0)) for name in names] for part in parts])
    low, high = rule.ends(dict.fromkeys(names, 0.0))
    with np.errstate(invalid="ignore"):
        values, room = x @ each.sum(axis=0), CLOSE * (np.abs(x) @ np.abs(each).sum(axis=0))
    inside, found = (values >= low + room) & (values <= high - room), {}
    for k in np.flatnonzero(~inside & np.isfinite(values)).tolist():
        terms = np.concatenate([x[k, [names.index(name) for name in part]] for part in parts])
        coefficients = np.array([float(v) for part in parts for v in part.values()])
        if not Row(coefficients, low, high, rule.name).contains(terms):
            pairs = zip(coefficients.tolist(), terms.tolist(), strict=True)
            found[k] = float(sum(Fraction(c) * Fraction(v) for c, v in pairs))
    return found


def as_plain(value: Any) -> Any:
    """The same as JSON has it: text, truth values, doubles, lists and objects of these."""
    if isinstance(value, str | bool):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Mapping):
        return {str(name): as_plain(entry) for name, entry in value.items()}
    return [as_plain(v) for v in value] if isinstance(value, Iterable) else float(value)
