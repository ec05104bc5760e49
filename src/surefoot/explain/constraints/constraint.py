"""Constraint: what a kind of constraint over several features has to be able to do.

A kind is a subclass in a file of its own, and a line in `kinds.py`. It says how a user, a TOML file and a
document write it; whether it fits the features; what it means for a row, as linear rows, disjunctions (of
several sets of rows one must hold) or limits; which rows of a table break it today; its words; and what it
means to give it up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError, ProblemError, StructureError
from surefoot.explain.constraints.category import Category
from surefoot.model.dag import feature_index
from surefoot.problem.choice import Choice
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.either import Either, Limit, Way
from surefoot.problem.row import Row

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Features:
    """The features that constraints name. Categories are given by position; all others are numbers."""

    names: tuple[Any, ...]
    categories: Mapping[int, Category]
    dates: tuple[int, ...] = field(default=(), kw_only=True)  # numbers of days, which words show as dates

    @cached_property
    def numbers(self) -> list[int]:
        """Positions of the numbers."""
        return [i for i in range(len(self.names)) if i not in self.categories]

    def position(self, name: Any, what: str) -> int:
        """Position of a feature; an error about an unknown one begins with ``what`` names it.

        Files and rules write names that are numbers as text.

        Examples
        --------
        >>> Features(("age", 7), {}).position("7", "rules")
        1
        """
        if isinstance(name, str) and name not in self.names:
            written = [own for own in self.names if str(own) == name]
            name = written[0] if len(written) == 1 else name
        try:
            return feature_index(name, self.names)
        except StructureError as error:
            raise ProblemError(f"{what}: {error}") from None


@dataclass(frozen=True, eq=False)
class Today(Features):
    """The features and a row's values of today."""

    now: Array  # its numbers by feature; anything for categories
    codes: Mapping[int, int]  # of its categories, by feature


@dataclass(frozen=True, eq=False)
class Place(Today):
    """A row, and the values that its features may take by themselves and by linear rules."""

    gaps: Array  # how far beyond an end each number counts as beyond it
    domain: Domain  # of the numbers
    choices: tuple[Choice, ...]  # of the categories

    def set_of(self, i: int) -> ValueSet | None:
        """The set of values of a number, if it has one."""
        k = self.numbers.index(i)
        return next((one for one in self.domain.sets if one.feature == k), None)

    def disjunction(self, ways: Sequence[Way], name: str) -> tuple[Either, ...]:
        """A disjunction of the possible ways; nothing where every allowed point takes one of them anyway."""
        if any(self._is_certain(way) for way in ways):
            return ()
        possible = [way for way in ways if self._is_possible(way)]
        return (Either(tuple(possible or ways), name),)

    def _is_certain(self, way: Way) -> bool:
        """Whether every allowed point takes a way."""
        low, high = self.domain.low, self.domain.high
        return all(
            row.feature is not None and row.low <= low[row.feature] and row.high >= high[row.feature]
            for row in way.rows
        ) and all(codes.issuperset(self.choices[k].allowed) for k, codes in way.values.items())  # noqa: PD011

    def _is_possible(self, way: Way) -> bool:
        """Whether ends and choices allow a point that takes a way."""
        low, high = self.domain.low, self.domain.high
        return all(
            row.feature is None or (row.low <= high[row.feature] and row.high >= low[row.feature])
            for row in way.rows
        ) and not any(codes.isdisjoint(self.choices[k].allowed) for k, codes in way.values.items())  # noqa: PD011


class Broken(NamedTuple):
    """A constraint that a row of a table breaks as it is today."""

    row: int
    feature: Any
    wish: str
    value: Any


class Constraint:
    """A constraint over several features; each kind is a subclass.

    A kind must have ``key``, ``says``, ``name``, `read`, `plain`, `check` and `named`, and one of `rules`,
    `rows`, `disjunctions` and `limits`. A kind that gives its `rules` needs no more. Any other says itself
    what it adds up (`added_up`) and which rows of a table break it (`broken`): nothing fails without these,
    but ``surefoot fit --actions`` then bends scales that it needs plain, and no answer says that it is
    broken today.
    """

    __slots__ = ()
    # What a TOML file calls a list of them. `Actions` has an argument of this name for the oldest kinds; all
    # kinds can be given as ``Actions(constraints=[...])``.
    key: ClassVar[str]
    document_key: ClassVar[str]  # what explanation files call it; the key, unless a kind says otherwise
    # How much it says: a link 1, a limit 2, an if-then rule 3, a rule, or whatever else always holds, 4. In a
    # conflict those that say less are left out first, where that is possible; equals in any order.
    says: ClassVar[int]
    is_strict: ClassVar[bool] = False  # whether it must know when a number is beyond an end, not only at it
    # Whether it implies that the features that it names may change: then none is kept because of its name.
    frees: ClassVar[bool] = False
    example: ClassVar[str] = ""  # a line of a TOML file, for the template
    name: Any  # in words

    def __init_subclass__(cls) -> None:
        """Documents know a kind by its key, unless it says otherwise."""
        if "document_key" not in cls.__dict__ and "key" in cls.__dict__:
            cls.document_key = cls.key

    @classmethod
    def read(cls, entry: Any) -> Self:
        """From what a user gives; whatever is wrong is refused in one line."""
        raise NotImplementedError

    def plain(self) -> Any:
        """As plain values, which documents hold."""
        raise NotImplementedError

    @classmethod
    def from_toml(cls, entry: Any) -> Self:
        """From a TOML file."""
        return cls.read(entry)

    def to_toml(self) -> Any:
        """As plain values for a TOML file."""
        return self.plain()

    @classmethod
    def from_document(cls, entry: Any) -> Self:
        """From what `plain` gives."""
        return cls.read(entry)

    def validated(self) -> Self:
        """The same constraint after the checks of `read`, which direct construction skips."""
        return type(self).from_document(self)

    def check(self, features: Features) -> None:
        """Refuse features and values that do not exist, and constraints that make no sense for them."""
        raise NotImplementedError

    def named(self) -> Iterable[Any]:
        """The features that it names."""
        raise NotImplementedError

    def concerned(self, features: Features) -> list[int]:
        """Positions of the features that it names, each once."""
        return list(dict.fromkeys(features.position(name, self.key) for name in self.named()))

    # Defaults for what a kind does not define; their arguments are for kinds that need them.
    # ruff: noqa: ARG002, ARG003
    @classmethod
    def presolve(cls, own: Sequence[Self], today: Today, low: Array, high: Array) -> Sequence[Self]:
        """Narrow the ends of features, in place, where constraints of this kind leave no choice.

        Returns the constraints that still matter after that.
        """
        return own

    def rules(self) -> tuple[Any, ...]:
        """Linear rules that mean the same as it does for every row, whatever its values of today."""
        return ()

    def added_up(self) -> tuple[Any, ...]:
        """Features that its rows add up, which a model must measure on plain scales."""
        return tuple(dict.fromkeys(name for rule in self.rules() for name in rule.added_up()))

    def most_changes(self) -> int | None:
        """How many of the features that it names (all, if none) may change; None if it sets no limit."""
        return None

    def rows(self, today: Today) -> tuple[Row, ...]:
        """Linear rows that an answer must satisfy."""
        return tuple(row for rule in self.rules() for row in rule.rows(today))

    def disjunctions(self, place: Place) -> tuple[Either, ...]:
        """Disjunctions that an answer must satisfy: it takes at least one way of each."""
        return ()

    def limits(self, place: Place) -> tuple[Limit, ...]:
        """Limits on how many features change."""
        return ()

    def broken(self, frame: pd.DataFrame) -> Iterator[Broken]:
        """The rows of a table that break it as they are today."""
        for rule in self.rules():
            yield from rule.broken(frame)

    def words(self) -> str:
        """The constraint as an answer states it."""
        return str(self.name)

    def relaxation(self) -> tuple[str, str]:
        """How a conflict names it, and what holds when it is given up."""
        return repr(self.name), f"{self.name!r} is lifted"


def column_of(frame: pd.DataFrame, name: Any, what: str) -> pd.Series:
    """The column of a table that has a name."""
    found = [k for k, column in enumerate(frame.columns) if column == name or str(column) == name]
    if len(found) != 1:
        raise DataError(f"{what}: the table has {'no' if not found else 'more than one'} column {name!r}")
    return frame.iloc[:, found[0]]


def shown_entry(value: Any) -> str:
    """An entry of a file of actions, in a complaint about it."""
    if isinstance(value, dict):
        return "a table"
    return "a list" if isinstance(value, list) else f"{value!r:.60}"


def numbers_of(column: pd.Series, name: Any) -> Array:
    """A column as numbers, nan for holes."""
    from surefoot.model.columns import holds_dates, read_days
    from surefoot.table.cells import as_numbers  # pandas, without which processes that only search start

    if holds_dates(column):
        return read_days(column, name)
    read = as_numbers(column).to_numpy(dtype=float, na_value=np.nan)
    wrong = np.flatnonzero(np.isnan(read) & column.notna().to_numpy())
    if wrong.size:
        k = int(wrong[0])
        raise DataError(f"{name!r} must be a number, not {column.iloc[k]!r:.60} (row {column.index[k]!r})")
    return np.asarray(read)
