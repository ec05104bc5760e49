"""Cells as frames, spreadsheets and databases hold them, turned into numbers, text and dates."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from numbers import Rational
from typing import Any

import numpy as np
import pandas as pd

NESTED = (list, tuple, dict, set, frozenset, np.ndarray)
# What pandas calls columns of objects that are looked at cell by cell; text and truth values are not.
LOOKED_AT = ("decimal", "bytes", "time", "period", "interval", "mixed", "mixed-integer", "unknown-array")


def as_numbers(column: pd.Series) -> pd.Series:
    """Each cell as a number, NaN where it is none; whole numbers beyond all doubles are infinite, like 1e400.

    Examples
    --------
    >>> as_numbers(pd.Series([10**400, 2, None, "x"], dtype=object)).tolist()
    [inf, 2.0, nan, nan]
    """
    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:
        return pd.to_numeric(column.map(_within_doubles), errors="coerce")


def _within_doubles(cell: Any) -> Any:
    try:
        return float(cell) if isinstance(cell, int) else cell
    except OverflowError:
        return math.inf if cell > 0 else -math.inf


def with_plain_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with decimals and fractions as floats, bytes and times of day as text, periods as dates.

    Examples
    --------
    >>> frame = pd.DataFrame({"rate": [Decimal("1.5"), Decimal("2")], "who": [b"ann", b"bob"]})
    >>> with_plain_cells(frame).to_dict("list")
    {'rate': [1.5, 2.0], 'who': ['ann', 'bob']}
    """
    found = frame.copy(deep=False)
    for position, name in enumerate(frame.columns):
        plain = _plain_column(frame.iloc[:, position])
        if plain is not None:
            found[name] = plain
    return found


def _plain_column(column: pd.Series) -> pd.Series | None:
    """The column in plain cells; None where it has them."""
    if isinstance(column.dtype, pd.PeriodDtype):
        return pd.Series(column.dt.to_timestamp())
    if isinstance(column.dtype, pd.IntervalDtype):
        return column.astype(str).astype(object).where(column.notna(), None)
    if isinstance(column.dtype, pd.CategoricalDtype):
        if not isinstance(column.dtype.categories.dtype, pd.IntervalDtype):
            return None
        return column.cat.rename_categories([str(one) for one in column.dtype.categories])
    if column.dtype.kind != "O" or pd.api.types.infer_dtype(column, skipna=True) not in LOOKED_AT:
        return None
    if holds_nested(column):
        return None
    plain = column.map(_plain_cell, na_action="ignore")
    return plain.infer_objects()


def holds_nested(column: pd.Series) -> bool:
    """Whether some cell is a list or the like."""
    return column.dtype.kind == "O" and any(isinstance(cell, NESTED) for cell in column)


def _plain_cell(cell: Any) -> Any:
    if isinstance(cell, Decimal | Rational) and not isinstance(cell, bool | int):
        return float(cell)
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    if isinstance(cell, dt.datetime):
        return cell.isoformat(" ") if cell.time() != dt.time() else cell.date().isoformat()
    if isinstance(cell, pd.Period):
        return cell.to_timestamp().date().isoformat()
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    return str(cell) if isinstance(cell, pd.Interval) else cell
