"""When: an if-then rule. If A then B is the disjunction "not A, or B".

On a number that takes any value, "not at least c" begins a little below c: by the number's gap, a millionth
of its training range; of a sum, by the gaps of its terms together. On a number with a set of values it begins
at the next value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.days import Day
from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.arithmetic import ContradictionError, is_number, rounded_down, rounded_up
from surefoot.explain.constraints.category import Category, same_value
from surefoot.explain.constraints.constraint import (
    Broken,
    Constraint,
    Features,
    Place,
    column_of,
    numbers_of,
    shown_entry,
)
from surefoot.explain.constraints.grammar import Condition, Moves, Takes, parse_condition
from surefoot.explain.constraints.linear import Rule, broken_sums, check_sum
from surefoot.problem.domain import ValueSet
from surefoot.problem.either import Either, Way
from surefoot.problem.row import Row

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

# Of a number's training range; of the distance between two values of a set. Ten times larger, and a value
# that is just beyond an end would not count as beyond it.
GAP = 1e-6
HOLDS, FAILS, UNKNOWN = 1, 0, -1


class _Fields(NamedTuple):
    condition: str
    consequence: str


class When(_Fields, Constraint):
    """An if-then rule, both parts as text."""

    __slots__ = ()
    key = "when"
    example = 'when = [{ if = "schooling rises", then = "age >= age.now + 2" }]'
    says = 3
    is_strict = True
    frees = True

    @property
    def name(self) -> str:
        """In words."""
        return f"if {self.condition.strip()}, then {self.consequence.strip()}"

    @classmethod
    def read(cls, entry: Any) -> When:
        """From (condition, consequence)."""
        if not isinstance(entry, list | tuple) or len(entry) != 2:
            raise ProblemError(f"an if-then rule must be (condition, consequence), not {entry!r:.80}")
        for text in entry:
            parse_condition(text)
        return cls(*entry)

    def plain(self) -> list[str]:
        """Both texts."""
        return [*self]

    @classmethod
    def from_toml(cls, entry: Any) -> When:
        """From a table with if and then."""
        if not isinstance(entry, dict):
            raise ProblemError(f"must be a table with if and then, not {shown_entry(entry)}")
        for name in entry:
            if name not in ("if", "then"):
                raise ProblemError(f"{name!r:.60} is unknown; there are if and then")
        for name in ("if", "then"):
            if name not in entry:
                raise ProblemError(f"lacks {name!r}")
        for name, text in entry.items():
            try:
                parse_condition(text)
            except ProblemError as error:
                raise ProblemError(f"{name}: {error}") from None
        return cls(entry["if"], entry["then"])

    def to_toml(self) -> dict[str, str]:
        """As a table with if and then."""
        return {"if": self.condition, "then": self.consequence}

    @property
    def conditions(self) -> tuple[Condition, Condition]:
        """Both texts, read."""
        first, then = (parse_condition(text) for text in self)
        return first, then

    def check(self, features: Features) -> None:
        """Refuse features and values that do not exist, and conditions that make no sense for them."""
        for condition in self.conditions:
            if isinstance(condition, Rule):
                check_sum(condition, features, f"{self.name!r}")
                continue
            i = features.position(condition.feature, repr(self.name))
            try:
                _check_feature(condition, features.names[i], features.categories.get(i), i in features.dates)
            except ProblemError as error:
                raise ProblemError(f"{self.name!r}: {error}") from None

    def named(self) -> list[Any]:
        """The features that both parts name."""
        found: list[Any] = []
        for one in self.conditions:
            found += one.named() if isinstance(one, Rule) else [one.feature]
        return found

    def added_up(self) -> tuple[Any, ...]:
        """The features in the sums of both parts."""
        return tuple(name for one in self.conditions if isinstance(one, Rule) for name in one.added_up())

    def disjunctions(self, place: Place) -> tuple[Either, ...]:
        """Ways in which the condition fails, and ways in which the consequence holds."""
        first, then = self.conditions
        ways = [*self._ways(first, place, False), *self._ways(then, place, True)]
        if not ways:
            raise ContradictionError(
                f"{self.name!r}: the row can neither break the condition nor reach the consequence"
            )
        return place.disjunction(ways, self.name)

    def _ways(self, condition: Condition, place: Place, holds: bool) -> list[Way]:
        """The ways in which a condition holds, or does not hold."""
        if isinstance(condition, Rule):
            return self._ways_of_sum(_line_of_rule(condition, place, repr(self.name)), place, holds)
        i = place.position(condition.feature, repr(self.name))
        if i not in place.categories:
            line = _line(condition, np.eye(len(place.names))[i], float(place.now[i]))
            return self._ways_of_sum(line, place, holds)
        category = place.categories[i]
        if isinstance(condition, Takes):
            condition = Takes(condition.feature, category.code(condition.value))
        line, codes = _line(condition, np.ones(1), place.codes[i]), range(len(category.values))
        wanted = frozenset(code for code in codes if line.holds(code) == holds)
        return [Way(values={sorted(place.categories).index(i): wanted})] if wanted else []

    def _ways_of_sum(self, line: _Line, place: Place, holds: bool) -> list[Way]:
        """A way for each interval that is not empty."""
        used = np.flatnonzero(line.coefficients).tolist()
        values = place.set_of(used[0]) if len(used) == 1 else None
        gaps = (Fraction(abs(float(line.coefficients[i]))) * Fraction(_gap(place, i)) for i in used)
        gap = sum(gaps, Fraction(0)) if values is None else Fraction(0)
        found = []
        for low, high in [line.inside()] if holds == line.is_inside else line.outside(gap):
            if values is not None:
                low = low if math.isinf(low) else values.at_least(low)
                high = high if math.isinf(high) else values.at_most(high)
            if low <= high and low < math.inf and high > -math.inf:
                found.append(Way((Row(line.coefficients[place.numbers], low, high, self.name),)))
        return found

    def broken(self, frame: pd.DataFrame) -> Iterator[Broken]:
        """Rows for which the condition holds today and the consequence does not.

        Today nothing moves: no feature rises, falls or changes, every feature stays.
        """
        first, then = (_holding(condition, frame, repr(self.name)) for condition in self.conditions)
        for k in np.flatnonzero((first == HOLDS) & (then == FAILS)).tolist():
            yield Broken(k, None, self.name, None)

    def relaxation(self) -> tuple[str, str]:
        """How a conflict names it, and that it is lifted."""
        return repr(self.name), f"the rule {self.name!r} is lifted"


class _Line(NamedTuple):
    """A condition on a sum of numbers: that it lies between two ends, or (not ``is_inside``) outside.

    What a feature does is one, too: "x rises" says that x does not lie at or below today's value.
    """

    coefficients: Array
    low: Fraction | None
    high: Fraction | None
    is_inside: bool = True

    def holds(self, value: int) -> bool:
        """Whether it holds for a value of the sum."""
        above, below = self.low is None or value >= self.low, self.high is None or value <= self.high
        return (above and below) == self.is_inside

    def inside(self) -> tuple[float, float]:
        """The interval between the ends in doubles, never wider."""
        low, high = self.low, self.high
        if low is not None and low == high:
            return float(low), float(low)
        return -math.inf if low is None else rounded_up(low), math.inf if high is None else rounded_down(high)

    def outside(self, gap: Fraction) -> list[tuple[float, float]]:
        """The intervals below and above, which begin beyond an end by a gap."""
        below = [] if self.low is None else [(-math.inf, -_above(-self.low, gap))]
        return below if self.high is None else [*below, (_above(self.high, gap), math.inf)]


def _above(end: Fraction, gap: Fraction) -> float:
    """An end plus the gap as a double, which is above the end even where the gap is lost in rounding."""
    found = float(end + gap)
    return found if Fraction(found) > end else math.nextafter(rounded_up(end), math.inf)


def _line_of_rule(rule: Rule, place: Place, what: str) -> _Line:
    """A rule for one row; one over a single number is divided by its coefficient."""
    coefficients, *ends = rule.at(place, what)
    low, high = (None if math.isinf(end) else Fraction(end) for end in ends)
    used = np.flatnonzero(coefficients)
    if len(used) == 1:
        factor = Fraction(float(coefficients[used[0]]))
        low, high = (None if end is None else end / factor for end in (low, high))
        low, high = (low, high) if factor > 0 else (high, low)
        coefficients[used[0]] = 1.0
    return _Line(coefficients, low, high)


def _line(condition: Moves | Takes, unit: Array, today: float) -> _Line:
    """What is said of one feature: of a number, or of the code of a category."""
    if isinstance(condition, Takes):
        value = Fraction(float(condition.value))
        return _Line(unit, value, value)
    low = None if condition.how == "rises" else Fraction(today)
    high = None if condition.how == "falls" else Fraction(today)
    return _Line(unit, low, high, condition.how == "stays")


def _gap(place: Place, i: int) -> float:
    """How far beyond an end a number counts as beyond it, in a sum."""
    values = place.set_of(i)
    return float(place.gaps[i]) if values is None else GAP * _spacing(values)


def _spacing(values: ValueSet) -> float:
    """The least distance between two values of a set."""
    listed = values.values  # noqa: PD011
    if listed is None:
        apart = abs(values.today - round(values.today))
        return min(apart, 1 - apart) if apart else 1.0
    known = sorted({*listed, values.today})
    return min((b - a for a, b in pairwise(known)), default=1.0)


def _check_feature(condition: Moves | Takes, name: Any, category: Category | None, is_date: bool) -> None:
    """Refuse a value that a feature does not have, and a direction that it cannot go."""
    if isinstance(condition, Takes):
        if isinstance(condition.value, Day) and not is_date:
            what = "number" if category is None else "category; its values stand in backticks"
            raise ProblemError(f"{condition.value} is a date, and {name!r} a {what}")
        if category is not None:
            category.code(condition.value)
        elif not is_number(condition.value):
            raise ProblemError(f"{name!r} is a number, and {condition.value!r} is none")
    elif category is not None and condition.how in ("rises", "falls") and not category.ordered:
        raise ProblemError(
            f"{category.name!r} has no order, so it neither rises nor falls; declare one with "
            "ordered={...} when the model is made, or in its OrdinalEncoder"
        )


def _holding(condition: Condition, frame: pd.DataFrame, what: str) -> NDArray[np.int_]:
    """Whether a condition holds for each row as it is; unknown where there is a hole."""
    if isinstance(condition, Rule):
        columns = [column_of(frame, name, what) for name in condition.named()]
        known = np.all([column.notna().to_numpy() for column in columns], axis=0)
        found = np.full(len(frame), HOLDS)
        found[list(broken_sums(condition, frame, what))] = FAILS
        return np.where(known, found, UNKNOWN)
    column = column_of(frame, condition.feature, what)
    if isinstance(condition, Moves):
        return np.full(len(frame), HOLDS if condition.how == "stays" else FAILS)
    cells = numbers_of(column, condition.feature) if isinstance(condition.value, Day) else column
    same = [HOLDS if same_value(value, condition.value) else FAILS for value in cells.tolist()]
    return np.where(column.notna().to_numpy(), np.array(same, dtype=int), UNKNOWN)
