"""Numbers that look like marks of a hole, such as 999, and rows of totals: said, not assumed."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.table.dates import are_plain_excel_days, excel_days
from surefoot.table.kinds import is_number
from surefoot.table.rare import as_text

# Surveys tell "refused", "does not know" and "not asked" apart: 97, 98, 99 or 77, 88, 99.
NINES = (
    *(77.0, 88.0, 97.0, 98.0, 99.0, 777.0, 888.0, 997.0, 998.0, 999.0, 7777.0, 8888.0, 9997.0, 9998.0),
    *(9999.0, 99999.0, 999999.0, 9999999.0),
)
BELOW = (-1.0, -2.0, -7.0, -8.0, -9.0, -98.0, -99.0, -998.0, -999.0, -9998.0, -9999.0, -99999.0)
FEWEST = 3  # rows: a value that occurs less often may be a value
DATE_NAME = re.compile(
    r"(^|[\W_])(dates?|datum|fecha|dato|data|dob|day|tag|born)($|[\W_\d])|[a-z]Date", re.IGNORECASE
)
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


def suspected_days(frame: pd.DataFrame) -> list[str]:
    """A sentence for each column that is called a date and holds days as Excel counts them.

    Examples
    --------
    >>> suspected_days(pd.DataFrame({"date": [44256, 44300], "income": [44256, 44300]}))
    ["'date': 44256 may be a day as Excel counts them, 2021-03-01; say --date date if it is"]
    """
    found = []
    for name in frame.columns:
        if not is_number(frame[name]) or not DATE_NAME.search(str(name)):
            continue
        seen = frame[name].dropna()
        if len(seen) and are_plain_excel_days(seen):
            day = excel_days(seen.iloc[:1]).dt.strftime("%Y-%m-%d").iloc[0]
            may_be = f"{as_text(seen.iloc[0])} may be a day as Excel counts them, {day}"
            found.append(f"{name!r}: {may_be}; say --date {shlex.quote(str(name))} if it is")
    return found


def suspected_total(frame: pd.DataFrame) -> list[str]:
    """A sentence if the last row holds the sums of all others, as spreadsheets do.

    Examples
    --------
    >>> suspected_total(pd.DataFrame({"income": [20.5, 31, 28, 79.5], "age": [40, 28, 33, 33]}))
    ["row 3 looks like a total: 'income' is the sum of all other rows there; leave it out if it is one"]
    """
    sums = [name for name in frame.columns if is_number(frame[name]) and _ends_with_sum(frame[name])]
    if not sums:
        return []
    what = f"{sums[0]!r} is the sum of all other rows there; leave it out if it is one"
    return [f"row {frame.index[-1]} looks like a total: {what}"]


def _ends_with_sum(column: pd.Series) -> bool:
    values = column.to_numpy(dtype=float, na_value=np.nan)
    rest, last = values[:-1], values[-1]
    return int((rest > 0).sum()) >= FEWEST and bool(np.isclose(np.nansum(rest), last, rtol=1e-9))


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
    high, low = _at_the_end(values[::-1], NINES), _at_the_end(values, BELOW)
    rest = values[~np.isin(values, [*high, *low])]
    if len(rest) < 2:
        return
    for value in (*high, *low):
        count = int((seen == value).sum())
        gap = value - rest[-1] if value > 0 else rest[0] - value
        if count >= FEWEST and (gap > np.ptp(rest) or value < 0 <= rest[0]):
            yield as_text(value), count


def _at_the_end(values: NDArray[np.float64], signs: Sequence[float]) -> list[float]:
    """The first values, as long as they are signs of a hole."""
    return [float(value) for value in itertools.takewhile(lambda value: value in signs, values)]


def _is_far(others: pd.Series, column: pd.Series, day: str) -> bool:
    rest = column[others.to_numpy()]
    if rest.nunique() < 2:
        return False
    at, low, high = pd.Timestamp(day), rest.min(), rest.max()
    return bool(min(abs(at - low), abs(at - high)) > high - low)
