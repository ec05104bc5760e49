"""Recipe: how a table was read, kept with a model so that the next table is read in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from surefoot.exceptions import DataError
from surefoot.formats import one_line
from surefoot.plain import entries, sequence, text
from surefoot.table.dates import ORDERS
from surefoot.table.kinds import CATEGORY, DATE, KINDS, NAMES, NUMBER, WHOLE, Column
from surefoot.table.text_column import DECIMALS

DATE_ORDERS = (*ORDERS, "digits", "excel")


@dataclass(frozen=True)
class Step:
    """How one column is read.

    Parameters
    ----------
    kind : str
        One of `kinds.KINDS`.
    order : str
        Of dates: how they are written.
    missing : tuple of str
        Values that mean that there is none, beyond the usual ones.
    unit : str
        Of numbers that were written with one.
    decimal : str
        Of numbers that were written with a comma or a point: their decimal sign.
    """

    kind: str
    order: str = ""
    missing: tuple[str, ...] = ()
    unit: str = ""
    decimal: str = ""

    def plain(self) -> dict[str, Any]:
        """As JSON values; a unit and a decimal sign only where there is one."""
        more = {"unit": self.unit, "decimal": self.decimal}
        found = {"kind": self.kind, "order": self.order, "missing": list(self.missing)}
        return {**found, **{name: value for name, value in more.items() if value}}


@dataclass(frozen=True)
class Recipe:
    """How the columns of a table are read.

    Parameters
    ----------
    steps : dict
        Column -> `Step`.
    label : str or None
        The column of the classes.

    Examples
    --------
    >>> recipe = Recipe({"applied": Step("date", "dmy"), "note": Step("text")}, "repaid")
    >>> Recipe.read(recipe.plain()) == recipe
    True
    """

    steps: Mapping[str, Step]
    label: str | None = None

    @classmethod
    def of(cls, columns: Mapping[str, Column], label: str | None) -> Recipe:
        """What was decided about the columns of a table."""
        features = {str(name): column for name, column in columns.items() if name != label}
        return cls({name: _step(column) for name, column in features.items()}, label)

    @property
    def missing(self) -> dict[str, tuple[str, ...]]:
        """Column -> values that mean that there is none, beyond the usual ones."""
        return {name: step.missing for name, step in self.steps.items() if step.missing}

    @property
    def numbers(self) -> list[str]:
        """Columns of numbers: in the next table, too, <0.1 is one."""
        return [name for name, step in self.steps.items() if step.kind in (NUMBER, WHOLE)]

    @property
    def usual(self) -> dict[str, str]:
        """What is known of the decimal signs of the next table; see `decimals.signs_of`."""
        found = {name: WHOLE if step.kind == WHOLE else step.decimal for name, step in self.steps.items()}
        return {name: sign for name, sign in found.items() if sign}

    @property
    def written_dates(self) -> list[str]:
        """Dates that stood as text: 03.2012 is no number in the next table either."""
        return [name for name, step in self.steps.items() if step.order in ORDERS]

    @property
    def units(self) -> dict[str, str]:
        """Of the numbers that were written with one."""
        kept = (NUMBER, WHOLE)
        return {name: step.unit for name, step in self.steps.items() if step.unit and step.kind in kept}

    def chosen(self, kinds: Mapping[Any, str]) -> Recipe:
        """The same with whole numbers as categories where a model took them so."""
        taken = {str(name) for name, kind in kinds.items() if kind == CATEGORY}
        steps = {
            name: replace(step, kind=CATEGORY) if name in taken and step.kind not in NAMES else step
            for name, step in self.steps.items()
        }
        return replace(self, steps=steps)

    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "label": self.label,
            "columns": [{"name": name, **step.plain()} for name, step in self.steps.items()],
        }

    @classmethod
    def read(cls, values: Any) -> Recipe:
        """Read what `plain` gave; anything else is refused by name."""
        found = entries(values, "table", ("label", "columns"))
        steps: dict[str, Step] = {}
        for entry in sequence(found["columns"], "columns"):
            parts = entries(entry, "a column", ("name", "kind", "order", "missing"), ("unit", "decimal"))
            name, kind, order = (text(parts[key], f"a column's {key}") for key in ("name", "kind", "order"))
            unit, decimal = (text(parts.get(key, ""), f"a column's {key}") for key in ("unit", "decimal"))
            orders = DATE_ORDERS if kind == DATE else ("",)
            if kind not in KINDS or order not in orders or decimal not in ("", *DECIMALS) or name in steps:
                raise DataError(f"the column {name!r} of the table is wrong")
            marks = tuple(text(mark, "a missing value") for mark in sequence(parts["missing"], "missing"))
            steps[name] = Step(kind, order, marks, one_line(unit), decimal)
        label = found["label"]
        return cls(steps, None if label is None else text(label, "label"))


def _step(column: Column) -> Step:
    return Step(column.kind, column.order, column.missing, column.unit, column.decimal)
