"""If-then rules of one row: the ways in which a condition holds, and those in which it does not.

If A then B is "not A, or B". On a number that takes any value, "not at least c" begins a little below c: by
the number's gap, a millionth of its training range; of a sum, by the gaps of its terms together. On a number
with a set of values it begins at the next value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.actions import When
from surefoot.explain.constraints.categories import Category
from surefoot.explain.constraints.grammar import Condition, Moves, Takes, parse_condition
from surefoot.explain.constraints.naming import position
from surefoot.explain.constraints.rules import (
    ContradictionError,
    Rule,
    check_size,
    is_number,
    rounded_down,
    rounded_up,
)
from surefoot.problem.choice import Choice
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.either import Either, Way
from surefoot.problem.row import Row

Array = NDArray[np.float64]

GAP = 1e-6  # of a number's training range; of the distance between two values of a set


class Span(NamedTuple):
    """Numbers from one end to another; a strict one leaves its end out."""

    low: Fraction | None
    high: Fraction | None
    strict: bool = False


@dataclass(frozen=True, eq=False)
class Place:
    """Where conditions are read: a row, and what its features may be.

    Parameters
    ----------
    names : tuple
        Of the features.
    today : array
        The row's numbers by feature; anything for categories.
    categories : dict of feature -> Category
    codes : dict of feature -> int
        The row's categories.
    gaps : array
        By feature.
    domain : Domain
        Of the numbers.
    choices : tuple of Choice
    """

    names: tuple[Any, ...]
    today: Array
    categories: Mapping[int, Category]
    codes: Mapping[int, int]
    gaps: Array
    domain: Domain
    choices: tuple[Choice, ...] = ()

    @property
    def numbers(self) -> list[int]:
        """Positions of the numbers."""
        return [i for i in range(len(self.names)) if i not in self.categories]

    def set_of(self, i: int) -> ValueSet | None:
        """The set of values of a number, if it has one."""
        k = self.numbers.index(i)
        return next((one for one in self.domain.sets if one.feature == k), None)

    def gap(self, i: int) -> float:
        """How far beyond an end a number counts as beyond it, in a sum."""
        values = self.set_of(i)
        return float(self.gaps[i]) if values is None else GAP * _spacing(values)


def either(rule: When, place: Place) -> Either | None:
    """An if-then rule for one row: ways of which one is taken; None where it holds anyway."""
    first, then = (parse_condition(text) for text in rule)
    ways = [*_Reading(first, place, rule.name).failing(), *_Reading(then, place, rule.name).holding()]
    if not ways:
        raise ContradictionError(
            f"{rule.name!r}: the row can neither break the condition nor reach the consequence"
        )
    if any(_is_certain(way, place) for way in ways):
        return None
    possible = [way for way in ways if _is_possible(way, place)]
    return Either(tuple(possible or ways), rule.name)


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
        i = position(condition.feature, names, repr(self.name))
        if i in self.place.categories:
            return self._of_category(condition, i, holds)
        line = np.zeros(len(names))
        line[i] = 1.0
        today = Fraction(float(self.place.today[i]))
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
            line[position(name, place.names, repr(self.name))] += float(a)
        for name in (*rule.coefficients, *rule.now):
            now[name] = float(place.today[position(name, place.names, repr(self.name))])
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
        gap = sum((Fraction(abs(float(line[i]))) * Fraction(self.place.gap(i)) for i in used), Fraction(0))
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
    if values.values is None:
        apart = abs(values.today - round(values.today))
        return min(apart, 1 - apart) if apart else 1.0
    known = sorted({*values.values, values.today})
    return min((b - a for a, b in pairwise(known)), default=1.0)


def _is_certain(way: Way, place: Place) -> bool:
    """Whether every point of the domain takes a way."""
    low, high, choices = place.domain.low, place.domain.high, place.choices
    return all(
        row.feature is not None and row.low <= low[row.feature] and row.high >= high[row.feature]
        for row in way.rows
    ) and all(set(choices[k].allowed) <= codes for k, codes in way.values.items())


def _is_possible(way: Way, place: Place) -> bool:
    """Whether ends and choices leave anything of a way."""
    low, high, choices = place.domain.low, place.domain.high, place.choices
    return all(
        row.feature is None or (row.low <= high[row.feature] and row.high >= low[row.feature])
        for row in way.rows
    ) and all(codes & set(choices[k].allowed) for k, codes in way.values.items())


def check_when(rule: When, names: Sequence[Any], categories: Mapping[int, Category]) -> None:
    """Refuse an if-then rule that names features or values that do not exist, or asks what makes no sense."""
    for text in rule:
        condition = parse_condition(text)
        if isinstance(condition, Rule):
            check_rule(condition, names, categories, f"{rule.name!r}")
            continue
        i = position(condition.feature, names, repr(rule.name))
        if i not in categories and isinstance(condition, Takes) and not is_number(condition.value):
            raise ProblemError(f"{rule.name!r}: {names[i]!r} is a number, and {condition.value!r} is none")
        if i in categories:
            _check_category(condition, categories[i], rule)


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


def check_rule(rule: Rule, names: Sequence[Any], categories: Mapping[int, Category], what: str) -> None:
    """Refuse a rule that names something else than numbers, or multiplies them by unusable ones."""
    for name, a in (*rule.coefficients.items(), *rule.now.items()):
        check_size(a, f"the coefficient of {str(name)!r} in {what}")
    used = [
        position(name, names, what) for part in (rule.coefficients, rule.now) for name in part if part[name]
    ]
    wrong = [names[i] for i in used if i in categories]
    if wrong:
        raise ProblemError(f"{what} adds up {str(wrong[0])!r}, which is a category")


def features_of(rule: When, names: Sequence[Any]) -> tuple[int, ...]:
    """The features that an if-then rule names."""
    found: list[int] = []
    for text in rule:
        condition = parse_condition(text)
        parts = (
            (*condition.coefficients, *condition.now) if isinstance(condition, Rule) else (condition.feature,)
        )
        found += [position(name, names, repr(rule.name)) for name in parts]
    return tuple(dict.fromkeys(found))
