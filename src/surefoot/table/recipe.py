"""Recipe: how a table was read, kept with a model so that the next table is read in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from surefoot.exceptions import DataError
from surefoot.plain import entries, sequence, text
from surefoot.table.dates import ORDERS
from surefoot.table.kinds import CATEGORY, DATE, KINDS, NAMES, Column

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
    """

    kind: str
    order: str = ""
    missing: tuple[str, ...] = ()


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
        return cls({name: Step(c.kind, c.order, c.missing) for name, c in features.items()}, label)

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
            "columns": [
                {"name": name, "kind": step.kind, "order": step.order, "missing": list(step.missing)}
                for name, step in self.steps.items()
            ],
        }

    @classmethod
    def read(cls, values: Any) -> Recipe:
        """Read what `plain` gave; anything else is refused by name."""
        found = entries(values, "table", ("label", "columns"))
        steps: dict[str, Step] = {}
        for entry in sequence(found["columns"], "columns"):
            parts = entries(entry, "a column", ("name", "kind", "order", "missing"))
            name, kind, order = (text(parts[key], f"a column's {key}") for key in ("name", "kind", "order"))
            if kind not in KINDS or order not in (DATE_ORDERS if kind == DATE else ("",)) or name in steps:
                raise DataError(f"the column {name!r} of the table is wrong")
            marks = sequence(parts["missing"], "missing")
            steps[name] = Step(kind, order, tuple(text(mark, "a missing value") for mark in marks))
        label = found["label"]
        return cls(steps, None if label is None else text(label, "label"))
