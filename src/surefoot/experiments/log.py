"""A file of records, one line of JSON each, written as they come, so that nothing is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class Log:
    """Records in a file that may be cut off at any moment.

    A line that was cut off when the program was killed is left out, and what it stood for is done again.

    Parameters
    ----------
    path : Path
        Made if it is not there.
    key : function
        What tells a record from every other; a line without it is no record.
    """

    def __init__(self, path: Path, key: Callable[[Record], Hashable]) -> None:
        self.path, self.key = path, key
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
        found = [(line, self._record(line)) for line in lines]
        self.records: list[Record] = [record for _, record in found if record is not None]
        if len(self.records) < len(lines):
            self._replace("".join(line for line, record in found if record is not None))

    def add(self, record: Record) -> None:
        """Write a record at once, through to the disk."""
        _write_through(self.path, "a", json.dumps(record, allow_nan=False) + "\n")
        self.records.append(record)

    def latest(self) -> dict[Hashable, Record]:
        """One record for each key, the last where it was repeated."""
        return {self.key(record): record for record in self.records}

    def _record(self, line: str) -> Record | None:
        try:
            record = json.loads(line)
            self.key(record)
        except (ValueError, KeyError, TypeError):
            return None
        return dict(record) if line.endswith("\n") else None

    def _replace(self, text: str) -> None:
        """All or nothing: whoever is killed here must not lose what was there."""
        spare = self.path.with_suffix(".part")
        _write_through(spare, "w", text)
        spare.replace(self.path)


def _write_through(path: Path, mode: str, text: str) -> None:
    """Return when it is on the disk."""
    with path.open(mode, encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
