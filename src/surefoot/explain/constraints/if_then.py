"""If-then rules of one row: the ways in which a condition holds, and those in which it does not.

If A then B is "not A, or B". On a number that takes any value, "not at least c" begins a little below c: by
the number's gap, a millionth of its training range; of a sum, by the gaps of its terms together. On a number
with a set of values it begins at the next value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.arithmetic import ContradictionError, is_number, rounded_down, rounded_up
from surefoot.explain.constraints.category import Category, same_value
from surefoot.explain.constraints.constraint import Broken, Constraint, Features, Place, column_of
from surefoot.explain.constraints.disjunction import possible_ways
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


class Span(NamedTuple):
    """Numbers from one end to another; a strict one leaves its end out."""

    low: Fraction | None
    high: Fraction | None
    strict: bool = False


class _Fields(NamedTuple):
    condition: str
    consequence: str


class When(_Fields, Constraint):
    """An if-then rule, both parts as text.

    Parameters
    ----------
    condition : str
    consequence : str
    """

    __slots__ = ()
    key = "when"
    says = 3
    is_strict = True

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
            shown = "a list" if isinstance(entry, list) else f"{entry!r:.60}"
            raise ProblemError(f"must be a table with if and then, not {shown}")
        wrong = [name for name in entry if name not in ("if", "then")]
        if wrong:
            raise ProblemError(f"{wrong[0]!r:.60} is unknown; there are if and then")
        lacking = [name for name in ("if", "then") if name not in entry]
        if lacking:
            raise ProblemError(f"lacks {lacking[0]!r}")
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
        """Refuse features and values that do not exist, and what makes no sense of them."""
        for condition in self.conditions:
            if isinstance(condition, Rule):
                check_sum(condition, features, f"{self.name!r}")
            else:
                self._check_one(condition, features)

    def _check_one(self, condition: Moves | Takes, features: Features) -> None:
        i = features.position(condition.feature, repr(self.name))
        if i in features.categories:
            _check_category(condition, features.categories[i], self)
        elif isinstance(condition, Takes) and not is_number(condition.value):
            number = features.names[i]
            raise ProblemError(f"{self.name!r}: {number!r} is a number, and {condition.value!r} is none")

    def concerned(self, features: Features) -> tuple[int, ...]:
        """The features that both parts name."""
        found: list[int] = []
        for one in self.conditions:
            named = (*one.coefficients, *one.now) if isinstance(one, Rule) else (one.feature,)
            found += [features.position(name, repr(self.name)) for name in named]
        return tuple(dict.fromkeys(found))

    def added_up(self) -> tuple[Any, ...]:
        """The features in the sums of both parts."""
        return tuple(name for one in self.conditions if isinstance(one, Rule) for name in one.added_up())

    def disjunctions(self, place: Place) -> tuple[Either, ...]:
        """Ways in which the condition fails, and ways in which the consequence holds."""
        first, then = self.conditions
        ways = [*_Reading(first, place, self.name).failing(), *_Reading(then, place, self.name).holding()]
        if not ways:
            raise ContradictionError(
                f"{self.name!r}: the row can neither break the condition nor reach the consequence"
            )
        return possible_ways(ways, place, self.name)

    def broken(self, frame: pd.DataFrame) -> Iterator[Broken]:
        """Rows for which the condition holds today and the consequence does not.

        Of today it is known what does not move: nothing rises, falls or changes, everything stays.
        """
        first, then = (_holding(condition, frame, repr(self.name)) for condition in self.conditions)
        for k in np.flatnonzero((first == HOLDS) & (then == FAILS)).tolist():
            yield Broken(k, None, self.name, None)

    def relaxation(self) -> tuple[str, str]:
        """That it is lifted."""
        return repr(self.name), f"the rule {self.name!r} is lifted"


def _gap(place: Place, i: int) -> float:
    """How far beyond an end a number counts as beyond it, in a sum."""
    values = place.set_of(i)
    return float(place.gaps[i]) if values is None else GAP * _spacing(values)


class _Reading:
    """A condition read against a row."""

    def __init__(self, condition: Condition, place: Place, name: str) -> None:
        self.condition, self.place, self.name = condition, place, name

    def holding(self) -> list[Way]:
        """The ways in which it holds."""
        return self._ways(True)

    def failing(self) -> list[Way]:
        """The ways in which it does not."""
        return self._ways(False)

    def _ways(self, holds: bool) -> list[Way]:
        condition, names = self.condition, self.place.names
        if isinstance(condition, Rule):
            return self._of_rule(condition, holds)
        i = self.place.position(condition.feature, repr(self.name))
        if i in self.place.categories:
            return self._of_category(condition, i, holds)
        line = np.zeros(len(names))
        line[i] = 1.0
        today = Fraction(float(self.place.now[i]))
        if isinstance(condition, Takes):
            value = Fraction(float(condition.value))
            return self._through(line, _closed(value, value)[not holds])
        return self._through(line, _moved(condition.how, today)[not holds])

    def _of_category(self, condition: Moves | Takes, i: int, holds: bool) -> list[Way]:
        category, today = self.place.categories[i], self.place.codes[i]
        codes = frozenset(range(len(category.values)))
        if isinstance(condition, Takes):
            met = frozenset({category.code(condition.value)})
        else:
            met = frozenset(v for v in codes if _goes(condition.how, today, v))
        wanted = met if holds else codes - met
        k = sorted(self.place.categories).index(i)
        return [Way(values={k: wanted})] if wanted else []

    def _of_rule(self, rule: Rule, holds: bool) -> list[Way]:
        place = self.place
        line, now = np.zeros(len(place.names)), {}
        for name, a in rule.coefficients.items():
            line[place.position(name, repr(self.name))] += float(a)
        for name in (*rule.coefficients, *rule.now):
            now[name] = float(place.now[place.position(name, repr(self.name))])
        low, high = (None if math.isinf(end) else Fraction(end) for end in rule.ends(now))
        used = np.flatnonzero(line)
        if len(used) == 1:
            factor = Fraction(float(line[used[0]]))
            low, high = (None if end is None else end / factor for end in (low, high))
            low, high = (low, high) if factor > 0 else (high, low)
            line[used[0]] = 1.0
        return self._through(line, _closed(low, high)[not holds])

    def _through(self, line: Array, spans: Sequence[Span]) -> list[Way]:
        """A way for each span of a sum that has something in it."""
        used = np.flatnonzero(line).tolist()
        values = self.place.set_of(used[0]) if len(used) == 1 else None
        gap = sum((Fraction(abs(float(line[i]))) * Fraction(_gap(self.place, i)) for i in used), Fraction(0))
        coefficients, found = line[self.place.numbers], []
        for span in spans:
            low, high = _ends(span, gap) if values is None else _values_within(span, values)
            if low <= high and low < math.inf and high > -math.inf:
                found.append(Way((Row(coefficients, low, high, self.name),)))
        return found


def _closed(low: Fraction | None, high: Fraction | None) -> tuple[list[Span], list[Span]]:
    """Where a sum lies between two ends, and where it does not."""
    below = [] if low is None else [Span(None, low, True)]
    above = [] if high is None else [Span(high, None, True)]
    return [Span(low, high)], [*below, *above]


def _moved(how: str, today: Fraction) -> tuple[list[Span], list[Span]]:
    """Where a number does what is said of it, and where it does not."""
    below, above, same = Span(None, today, True), Span(today, None, True), Span(today, today)
    return {
        "rises": ([above], [Span(None, today)]),
        "falls": ([below], [Span(today, None)]),
        "changes": ([below, above], [same]),
        "stays": ([same], [below, above]),
    }[how]


def _goes(how: str, today: int, code: int) -> bool:
    """Whether a category does what is said of it."""
    return {
        "rises": code > today,
        "falls": code < today,
        "changes": code != today,
        "stays": code == today,
    }[how]


def _ends(span: Span, gap: Fraction) -> tuple[float, float]:
    """The ends of a span in doubles: never wider, and a strict end is beyond it by the gap."""
    low, high = span.low, span.high
    if low is not None and low == high:
        return float(low), float(low)
    if span.strict:
        return (
            -math.inf if low is None else _above(low, gap),
            math.inf if high is None else -_above(-high, gap),
        )
    return (
        -math.inf if low is None else rounded_up(low),
        math.inf if high is None else rounded_down(high),
    )


def _above(end: Fraction, gap: Fraction) -> float:
    """A double above an end by the gap; above it in any case."""
    found = float(end + gap)
    return found if Fraction(found) > end else math.nextafter(rounded_up(end), math.inf)


def _values_within(span: Span, values: ValueSet) -> tuple[float, float]:
    """The least and the largest value of a set in a span."""
    low, high = _ends(span, Fraction(0))
    return (
        low if math.isinf(low) else values.at_least(low),
        high if math.isinf(high) else values.at_most(high),
    )


def _spacing(values: ValueSet) -> float:
    """The least distance between two values of a set."""
    listed = values.values  # noqa: PD011
    if listed is None:
        apart = abs(values.today - round(values.today))
        return min(apart, 1 - apart) if apart else 1.0
    known = sorted({*listed, values.today})
    return min((b - a for a, b in pairwise(known)), default=1.0)


def _check_category(condition: Moves | Takes, category: Category, rule: When) -> None:
    if isinstance(condition, Takes):
        try:
            category.code(condition.value)
        except ProblemError as error:
            raise ProblemError(f"{rule.name!r}: {error}") from None
    elif condition.how in ("rises", "falls") and not category.ordered:
        raise ProblemError(
            f"{rule.name!r}: {category.name!r} has no order, so it neither rises nor falls; declare one with "
            "ordered={...} when the model is made, or in its OrdinalEncoder"
        )


def _holding(condition: Condition, frame: pd.DataFrame, what: str) -> NDArray[np.int_]:
    """Whether a condition holds for each row as it is; unknown where there is a hole."""
    if isinstance(condition, Rule):
        names = dict.fromkeys([*condition.coefficients, *condition.now])
        known = np.all([column_of(frame, name, what).notna().to_numpy() for name in names], axis=0)
        found = np.full(len(frame), HOLDS)
        found[list(broken_sums(condition, frame, what))] = FAILS
        return np.where(known, found, UNKNOWN)
    column = column_of(frame, condition.feature, what)
    if isinstance(condition, Moves):
        return np.full(len(frame), HOLDS if condition.how == "stays" else FAILS)
    same = [HOLDS if same_value(value, condition.value) else FAILS for value in column.tolist()]
    return np.where(column.notna().to_numpy(), np.array(same, dtype=int), UNKNOWN)
