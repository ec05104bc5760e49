"""Disjunctions and limits: at least one of several ways is taken; at most so many features change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.problem.mixed import State
from surefoot.problem.row import Row

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Way:
    """One way to satisfy an either: rows that hold, and categories with the values they may have.

    Parameters
    ----------
    rows : tuple of Row
        Over the numbers. A row about one feature has the coefficient 1: it is an interval.
    values : dict of int -> frozenset of int
        Category number -> codes.
    """

    rows: tuple[Row, ...] = ()
    values: Mapping[int, frozenset[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if any(np.count_nonzero(row.coefficients) == 1 and row.feature is None for row in self.rows):
            raise ProblemError("a row about one feature alone must have the coefficient 1 in a way")
        object.__setattr__(self, "rows", tuple(self.rows))
        object.__setattr__(self, "values", {k: frozenset(v) for k, v in sorted(self.values.items())})

    def allows(self, state: State) -> bool:
        """Whether the categories have values of this way."""
        return all(state[k] in codes for k, codes in self.values.items())

    def contains(self, x: Array) -> bool:
        """Whether numbers satisfy the rows: intervals and inequalities to the last digit."""
        return all(_holds(row, x) for row in self.rows)

    def clipped(self, x: Array) -> Array:
        """Numbers moved into the intervals of single features."""
        found = np.array(x, dtype=float)
        for row in self.rows:
            if row.feature is not None:
                found[row.feature] = min(max(float(found[row.feature]), row.low), row.high)
        return found


@dataclass(frozen=True, eq=False)
class Either:
    """A disjunction: a point takes at least one of several ways.

    Parameters
    ----------
    ways : tuple of Way
    name : str
        In words, for messages.
    """

    ways: tuple[Way, ...]
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ways", tuple(self.ways))

    def open_ways(self, state: State) -> tuple[int, ...] | None:
        """The ways that a state leaves, by number; None where the categories alone take one of them."""
        found = tuple(i for i, way in enumerate(self.ways) if way.allows(state))
        return None if any(not self.ways[i].rows for i in found) else found

    def given(self, state: State) -> Either | None:
        """The same over the numbers alone; None where the categories alone take a way."""
        return self.narrowed(self.open_ways(state))

    def narrowed(self, ways: tuple[int, ...] | None) -> Either | None:
        """Some of the ways over the numbers alone, by number; None where there is nothing to choose."""
        return None if ways is None else Either(tuple(Way(self.ways[i].rows) for i in ways), self.name)

    def contains(self, x: Array, state: State = ()) -> bool:
        """Whether numbers and categories take one of the ways."""
        return any(way.allows(state) and way.contains(x) for way in self.ways)

    def mapped(self, row: Callable[[Row], Row]) -> Either:
        """The same with other rows."""
        return Either(
            tuple(Way(tuple(row(one) for one in way.rows), way.values) for way in self.ways), self.name
        )


@dataclass(frozen=True)
class Limit:
    """At most ``count`` of some features differ from today.

    Parameters
    ----------
    count : int
    numbers : tuple of int
        Positions among the numbers.
    today : tuple of float
        Their values of today.
    categories : tuple of int
        Category numbers.
    name : str
        In words, for messages.
    """

    count: int
    numbers: tuple[int, ...]
    today: tuple[float, ...]
    categories: tuple[int, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        for name in ("numbers", "today", "categories"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len(self.today) != len(self.numbers):
            raise ProblemError("a limit needs today's value of each of its numbers")
        for named in (self.numbers, self.categories):
            if list(named) != sorted(set(named)):
                raise ProblemError("a limit names different features in ascending order")

    def left(self, state: State, today: State) -> int:
        """How many numbers may still change in a state; negative where too many categories did."""
        return self.count - sum(state[k] != today[k] for k in self.categories)

    def given(self, left: int) -> Limit:
        """The same over the numbers alone, of which ``left`` may change."""
        return replace(self, count=left, categories=())

    def changed(self, x: Array) -> int:
        """How many of its numbers differ from today, by however little."""
        return sum(float(x[j]) != now for j, now in zip(self.numbers, self.today, strict=True))

    def contains(self, x: Array) -> bool:
        """Whether no more of its numbers changed than may."""
        return self.changed(x) <= self.count


def _holds(row: Row, x: Array) -> bool:
    j = row.feature
    return row.contains(x) if j is None else row.low <= float(x[j]) <= row.high
