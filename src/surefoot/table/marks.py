"""Marks: columns in which some rows have an x, or yes, and the others nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from surefoot.table.cells import holds_nested
from surefoot.table.rare import as_text
from surefoot.table.text_column import DASHES

# The value of a row without the mark. A category that has it knows what an empty cell means.
BLANK = "(blank)"
YES = ("yes", "y", "true", "t", "ja", "j", "wahr", "oui", "vrai", "si", "sí", "sì", "vero", "sim")
NO = ("no", "n", "false", "f", "nein", "falsch", "non", "faux", "falso", "nee", "não")
MARKS = ("x", "xx", "1", "*", "+", "•", "✓", "✔", "☑", "☒", "✗", "✘")
FEW = 3  # cells that are looked at before all are: most columns hold no marks
NO_MARKS = (*NO, *DASHES, "0")


def the_mark(column: pd.Series) -> str:
    """The mark that some rows have, in its most frequent spelling; "" where a column holds something else.

    Examples
    --------
    >>> [the_mark(pd.Series(cells)) for cells in (["x", None, "X", "x"], ["x", "x"], ["EUR", None])]
    ['x', '', '']
    """
    cells = column.dropna()
    first = {_sort(as_text(cell)) for cell in cells[:FEW]}
    if len(cells) == len(column) or len(first) != 1 or first == {""} or holds_nested(column):
        return ""
    sorts = {_sort(as_text(value)) for value in cells.unique()}
    return as_text(cells.value_counts().index[0]) if sorts == first else ""


def marked(column: pd.Series, mark: str) -> pd.Series:
    """The column with its marks in one spelling, and a value for the cells without one.

    Examples
    --------
    >>> marked(pd.Series(["x", None, "X", "-", "?!"]), "x").tolist()
    ['x', '(blank)', 'x', '(blank)', '?!']
    """
    own = _sort(mark)
    found = column.map(lambda cell: _plain(cell, mark) if own else as_text(cell), na_action="ignore")
    return found.astype(object).where(found.notna(), BLANK)


def _sort(text: str) -> str:
    """The mark in one spelling for all words of yes; "" for what is none."""
    plain = text.casefold()
    return "yes" if plain in YES else plain if plain in MARKS else ""


def _plain(cell: Any, mark: str) -> Any:
    text = as_text(cell)
    return mark if _sort(text) else BLANK if text.casefold() in NO_MARKS else cell


def mark_of(values: Sequence[Any]) -> str:
    """The mark among the values of a category that knows what an empty cell means; "" of any other."""
    return next((str(value) for value in values if value != BLANK), "") if BLANK in values else ""
