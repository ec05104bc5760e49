"""The kinds of columns as a small table of text, in 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import pandas as pd

from surefoot.formats import one_line
from surefoot.table.kinds import LEFT_OUT

WIDTH = 80
LONGEST_NAME = (
    18  # a name may hold anything: where it is longer it is cut, never continued on a line of its own
)
LONGEST_CHANGE = 24
HEAD = ("column", "read as", "why", "to change")


def kinds_text(kinds: pd.DataFrame) -> str:
    """One line for each column, more where the reason is long; columns that are left out come last.

    Examples
    --------
    >>> one = {"kind": ["whole"], "why": ["whole numbers"], "change": ["--categorical age"]}
    >>> print(kinds_text(pd.DataFrame(one, index=["age"])))
    column  read as  why                                           to change
    age     whole    whole numbers                                 --categorical age
    """
    rows = [(_cut(one_line(str(name))), *row) for name, row in zip(kinds.index, _cells(kinds), strict=True)]
    rows.sort(key=lambda row: row[1] in LEFT_OUT)
    name = min(LONGEST_NAME, max(len(row[0]) for row in [HEAD, *rows]))
    kind = max(len(row[1]) for row in [HEAD, *rows])
    change = min(LONGEST_CHANGE, max(len(row[3]) for row in [HEAD, *rows]))
    widths = (name, kind, WIDTH - name - kind - change - 6, change)
    return "\n".join(line for row in [HEAD, *rows] for line in _lines(row, widths))


def _cells(kinds: pd.DataFrame) -> list[tuple[str, str, str]]:
    columns = zip(kinds["kind"], kinds["why"], kinds["change"], strict=True)
    return [
        (str(kind), one_line(str(why)), _short_flag(one_line(str(change)))) for kind, why, change in columns
    ]


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."


def _short_flag(change: str) -> str:
    """The flag; without the column's name where that is long."""
    return change if len(change) <= LONGEST_CHANGE else f"{change.split()[0]} ..."


def _lines(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """A row of the table; long cells go on below."""
    cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
    for k in range(max(map(len, cells))):
        parts = [cell[k] if k < len(cell) else "" for cell in cells]
        yield "  ".join(f"{part:<{width}}" for part, width in zip(parts, widths, strict=True)).rstrip()
