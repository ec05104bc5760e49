"""The kinds of columns as a small table of text, in 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import pandas as pd

from surefoot.formats import one_line
from surefoot.table.kinds import LEFT_OUT

WIDTH = 80
LONGEST_NAME = 18
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
    rows = [(one_line(str(name)), *map(one_line, row)) for name, row in zip(kinds.index, _cells(kinds), strict=True)]
    rows.sort(key=lambda row: row[1] in LEFT_OUT)
    name = min(LONGEST_NAME, max(len(row[0]) for row in [HEAD, *rows]))
    kind = max(len(row[1]) for row in [HEAD, *rows])
    change = min(LONGEST_CHANGE, max(len(row[3]) for row in [HEAD, *rows]))
    widths = (name, kind, WIDTH - name - kind - change - 6, change)
    return "\n".join(line for row in [HEAD, *rows] for line in _lines(row, widths))


def _cells(kinds: pd.DataFrame) -> list[tuple[str, str, str]]:
    return [tuple(map(str, row)) for row in kinds[["kind", "why", "change"]].itertuples(index=False)]  # type: ignore[misc]


def _lines(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """A row of the table; long cells go on below."""
    cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
    for k in range(max(map(len, cells))):
        parts = [cell[k] if k < len(cell) else "" for cell in cells]
        yield "  ".join(f"{part:<{width}}" for part, width in zip(parts, widths, strict=True)).rstrip()
