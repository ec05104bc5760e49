"""Rows with the same values have the same answer: it is computed once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from surefoot.explain.population.columns import fitting
from surefoot.explain.population.row_job import Row
from surefoot.status import Status

# Rows that are remembered. Ten times larger, and they take a hundred megabytes.
MOST = 2000


class Twins:
    """Lines of finished rows by the values of the row; only those that would come out the same again.

    Parameters
    ----------
    names : sequence of str
        Of the columns of a line.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._places = [names.index(name) for name in ("row", "seconds", "status")]
        self._lines: OrderedDict[str, list[Any]] = OrderedDict()
        self.found = 0

    def learn(self, cells: list[Any], line: list[Any]) -> None:
        """Remember a line, unless its search was cut short or failed."""
        status = Status(line[self._places[2]])
        if status.is_cut_short or status in (Status.FAILED, Status.UNDECIDED):
            return
        self._lines[repr(cells)] = line
        if len(self._lines) > MOST:
            self._lines.popitem(last=False)

    def line(self, row: Row) -> list[Any] | None:
        """The line of a row with the values of a finished one; its time is zero."""
        known = self._lines.get(repr(row.cells))
        if known is None:
            return None
        name, seconds, _ = self._places
        line = list(known)
        line[name], line[seconds] = fitting(row.label, "text"), 0.0
        self.found += 1
        return line
