"""What a user says about the columns of a table before it is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from surefoot.defaults import MOST_VALUES
from surefoot.exceptions import DataError
from surefoot.formats import listed, suggestion


@dataclass(frozen=True)
class Said:
    """Columns by name, and what they are.

    Parameters
    ----------
    label : str, optional
        The column that holds the classes.
    drop, categorical, numeric, date, text : sequences of str
        Columns to leave out; that are categories, numbers, dates, or text that is left out.
    day_first, month_first : sequences of str
        Dates whose order is known.
    ordered : dict
        Categories that can rise and fall, with their values, lowest first.
    missing : dict
        Column -> values that mean that there is none.
    most_values : int
        Categories with more values have the rare ones put together.
    """

    label: str | None = None
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    numeric: Sequence[str] = ()
    date: Sequence[str] = ()
    text: Sequence[str] = ()
    day_first: Sequence[str] = ()
    month_first: Sequence[str] = ()
    ordered: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    missing: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    most_values: int = MOST_VALUES

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name != "label" and isinstance(value, str):
                object.__setattr__(self, one.name, (value,))
        if (
            isinstance(self.most_values, bool)
            or not isinstance(self.most_values, int)
            or self.most_values < 3
        ):
            raise DataError(f"most_values must be an integer of at least 3, not {self.most_values!r}")
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        whats = {
            "categorical": self.categorical,
            "numeric": self.numeric,
            "date": [*self.date, *self.day_first, *self.month_first],
            "text": self.text,
            "ordered": self.ordered,
            "dropped": self.drop,
        }
        taken: dict[str, str] = {}
        for what, names in whats.items():
            for name in dict.fromkeys(names):
                if name in taken:
                    raise DataError(f"column {name!r} cannot be both {taken[name]} and {what}")
                taken[name] = what
        both = next((name for name in self.day_first if name in self.month_first), None)
        if both is not None:
            raise DataError(f"column {both!r} cannot have both the day and the month first")

    @property
    def dates(self) -> tuple[str, ...]:
        """Columns that hold dates."""
        return (*self.date, *self.day_first, *self.month_first)

    def order(self, name: str) -> str | None:
        """In which order the dates of a column are written, where it is known."""
        return "dmy" if name in self.day_first else "mdy" if name in self.month_first else None

    @property
    def as_text(self) -> tuple[str, ...]:
        """Columns whose values are names: '01' is not 1."""
        return (*self.categorical, *self.ordered)

    def named(self) -> Iterable[str]:
        """All columns of which something is said."""
        groups = (
            self.drop,
            self.categorical,
            self.numeric,
            self.dates,
            self.text,
            self.ordered,
            self.missing,
        )
        return (name for group in groups for name in group)

    def check(self, columns: Sequence[str]) -> None:
        """Refuse what is said about a column that is not there."""
        for name in self.named():
            if name not in columns:
                hint = suggestion(str(name), columns) or f"; the columns are {listed(list(columns))}"
                what = "column to drop" if name in self.drop else "column"
                raise DataError(f"there is no {what} {name!r}{hint}")
            if name == self.label and name not in self.missing:
                raise DataError(f"the label column {name!r} is no feature")
