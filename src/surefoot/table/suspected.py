"""Numbers that look like marks of a hole, such as 999: said, not assumed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import numpy as np
import pandas as pd

from surefoot.table.kinds import is_number
from surefoot.table.rare import as_text

NINES = (99.0, 999.0, 9999.0, 99999.0, 999999.0, 9999999.0)
BELOW = (-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0)
FEWEST = 3  # rows: a value that occurs less often may be a value
FIRST_DAYS = ("1900-01-01", "1899-12-30", "9999-12-31", "2099-12-31", "1970-01-01")


def suspected_holes(frame: pd.DataFrame) -> list[str]:
    """A sentence for each column with a value that stands apart and is often written for a hole.

    Examples
    --------
    >>> suspected_holes(pd.DataFrame({"income": [20, 31, 28, 999, 25, 999, 999, 40]}))
    ["'income': 999 in 3 rows looks like a hole; say --missing income 999 if it is one"]
    """
    return [
        f"{name!r}: {text} in {count:,} rows looks like a hole; say "
        f"--missing {shlex.quote(str(name))} {shlex.quote(text)} if it is one"
        for name in frame.columns
        for text, count in _apart(frame[name])
    ]


def _apart(column: pd.Series) -> Iterator[tuple[str, int]]:
    """Values at an end of a column that lie farther off than all others together, and are usual marks."""
    if pd.api.types.is_datetime64_any_dtype(column):
        texts = column.dropna().dt.strftime("%Y-%m-%d")
        for day in FIRST_DAYS:
            count = int((texts == day).sum())
            if count >= FEWEST and _is_far(texts.ne(day), column.dropna(), day):
                yield day, count
        return
    if not is_number(column):
        return
    seen = column.dropna().to_numpy(dtype=float)
    values = np.unique(seen)
    if len(values) < 3:
        return
    for value, rest, signs in ((values[-1], values[:-1], NINES), (values[0], values[1:], BELOW)):
        count = int((seen == value).sum())
        alone = value < 0 <= rest[0] if value < 0 else abs(value - rest[-1]) > np.ptp(rest)
        if value in signs and count >= FEWEST and alone:
            yield as_text(float(value)), count


def _is_far(others: pd.Series, column: pd.Series, day: str) -> bool:
    rest = column[others.to_numpy()]
    if rest.nunique() < 2:
        return False
    at, low, high = pd.Timestamp(day), rest.min(), rest.max()
    return bool(min(abs(at - low), abs(at - high)) > high - low)
