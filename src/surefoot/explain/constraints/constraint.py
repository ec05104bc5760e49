"""Constraint: what a kind of constraint over several features has to be able to do.

A kind is a subclass in a file of its own, and a line in `kinds.py`. It says how a user, a TOML file and a
document write it; whether it fits the features; what it means for a row, as linear rows, disjunctions or
limits; which rows of a table break it today; its words; and what it means to give it up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.explain.constraints.category import Category
from surefoot.explain.constraints.naming import position
from surefoot.problem.choice import Choice
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.either import Either, Limit
from surefoot.problem.row import Row

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Features:
    """The features that constraints name.

    Parameters
    ----------
    names : tuple
    categories : dict of position -> Category
        Those that are no numbers.
    """

    names: tuple[Any, ...]
    categories: Mapping[int, Category]

    @cached_property
    def numbers(self) -> list[int]:
        """Positions of the numbers."""
        return [i for i in range(len(self.names)) if i not in self.categories]

    def position(self, name: Any, what: str) -> int:
        """Position of a feature; ``what`` names it and is to blame where there is none."""
        return position(name, self.names, what)


@dataclass(frozen=True, eq=False)
class Today(Features):
    """The features and their values of today.

    Parameters
    ----------
    now : array
        The row's numbers by feature; anything for categories.
    codes : dict of position -> int
        The row's categories.
    """

    now: Array
    codes: Mapping[int, int]


@dataclass(frozen=True, eq=False)
class Place(Today):
    """A row, and what its features may be by themselves and by linear rules.

    Parameters
    ----------
    gaps : array
        How far beyond an end each number counts as beyond it.
    domain : Domain
        Of the numbers.
    choices : tuple of Choice
        Of the categories.
    """

    gaps: Array
    domain: Domain
    choices: tuple[Choice, ...]

    def set_of(self, i: int) -> ValueSet | None:
        """The set of values of a number, if it has one."""
        k = self.numbers.index(i)
        return next((one for one in self.domain.sets if one.feature == k), None)


class Ends(NamedTuple):
    """The ends of all features, which a kind may narrow before the search.

    Parameters
    ----------
    today, low, high : arrays
        By feature. ``low`` and ``high`` are changed in place.
    """

    today: Array
    low: Array
    high: Array


class Broken(NamedTuple):
    """A constraint that a row of a table breaks as it is today."""

    row: int
    feature: Any
    wish: str
    value: Any


class Constraint:
    """A constraint over several features; each kind is a subclass.

    Attributes
    ----------
    key : str
        What a TOML file calls a list of them. In Python, `Actions` has an argument of this name for the
        oldest kinds; all kinds can be given as ``Actions(constraints=[...])``.
    document_key : str
        What explanation files call it. Default: the key.
    says : int
        How much it says (a link 1, a limit 2, an if-then rule 3, a rule 4). Where constraints exclude each
        other, those that say less are left out first; it does not matter who comes first of two that say
        as much.

    A kind must have ``key``, ``says``, ``name``, `read`, `plain`, `check` and `concerned`, and one of `rows`,
    `disjunctions` and `limits`; the other methods have defaults that do.
    is_strict : bool
        Whether it needs to know when a number is beyond an end, not only at it.
    """

    __slots__ = ()
    key: ClassVar[str]
    document_key: ClassVar[str]
    says: ClassVar[int]
    is_strict: ClassVar[bool] = False
    name: Any  # in words

    def __init_subclass__(cls) -> None:
        """A kind has one name, unless it says otherwise."""
        if "document_key" not in cls.__dict__ and "key" in cls.__dict__:
            cls.document_key = cls.key

    @classmethod
    def read(cls, entry: Any) -> Self:
        """From what a user gives, or from one that is made; whatever is wrong is refused in one line."""
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
        """The same, refused where it makes no sense: whoever makes one need not go through `read`."""
        return type(self).from_document(self)

    def check(self, features: Features) -> None:
        """Refuse features and values that do not exist, and what makes no sense for them."""
        raise NotImplementedError

    def concerned(self, features: Features) -> Iterable[int]:
        """Positions of the features that it names."""
        raise NotImplementedError

    # What a kind does not say is left to these; they take what others need.
    # ruff: noqa: ARG002, ARG003
    @classmethod
    def presolve(cls, own: Sequence[Self], features: Features, ends: Ends) -> Sequence[Self]:
        """Narrow ends by what constraints of this kind leave no choice about; those that say more."""
        return own

    def added_up(self) -> tuple[Any, ...]:
        """Features that its rows add up, which a model must measure on plain scales."""
        return ()

    def rows(self, today: Today) -> tuple[Row, ...]:
        """Linear rows that an answer must satisfy."""
        return ()

    def disjunctions(self, place: Place) -> tuple[Either, ...]:
        """Disjunctions: of each, an answer takes one of its ways."""
        return ()

    def limits(self, place: Place) -> tuple[Limit, ...]:
        """How many features may change."""
        return ()

    def broken(self, frame: pd.DataFrame) -> Iterator[Broken]:
        """The rows of a table that break it as they are today."""
        yield from ()

    def words(self) -> str:
        """How an answer says that it was asked for."""
        return str(self.name)

    def relaxation(self) -> tuple[str, str]:
        """What stands in the way, and what would be if it were given up."""
        return repr(self.name), f"{self.name!r} is lifted"


def column_of(frame: pd.DataFrame, name: Any, what: str) -> pd.Series:
    """The column of a table that has a name."""
    found = [k for k, column in enumerate(frame.columns) if column == name or str(column) == name]
    if len(found) != 1:
        raise DataError(f"{what}: the table has {'no' if not found else 'more than one'} column {name!r}")
    return frame.iloc[:, found[0]]


def numbers_of(column: pd.Series, name: Any) -> Array:
    """A column as numbers, nan for holes."""
    import pandas as pd  # processes that only search start without it

    read = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = np.flatnonzero(np.isnan(read) & column.notna().to_numpy())
    if wrong.size:
        k = int(wrong[0])
        raise DataError(f"{name!r} must be a number, not {column.iloc[k]!r:.60} (row {column.index[k]!r})")
    return np.asarray(read)
