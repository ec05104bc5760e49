"""What a column of a table holds: numbers, or the values of a category."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.days import as_days
from surefoot.exceptions import DataError
from surefoot.table.cells import as_numbers
from surefoot.table.labelled import column_faults, joined
from surefoot.table.rare import RARE

Array = NDArray[np.float64]

LAST_WHOLE = 2**53  # beyond it every double is a whole number, and most whole numbers are no double


class Lookup:
    """From a category's values to their positions.

    A value is found as it is (1.0 is 1), or else by its text, so that a file in which '1' was read as a
    number still fits. Where rare values were put together, those that were never seen are rare.

    Parameters
    ----------
    name : feature name
    values : sequence
        All different, in words as well.
    """

    def __init__(self, name: Any, values: Sequence[Any]) -> None:
        self.name = name
        self._codes = {value: code for code, value in enumerate(values)}
        self._texts = {str(value): code for code, value in enumerate(values)}
        self._rare = self._texts.get(RARE, -1)
        if not values:
            raise DataError(f"category {name!r} has no values: all of them are missing")
        if len(self._texts) != len(values) or len(self._codes) != len(values):
            raise DataError(f"category {name!r} has values that look alike: {', '.join(map(repr, values))}")

    def code(self, value: Any) -> int:
        """The value's position, or -1."""
        if is_missing(value):
            return -1
        plain = plain_value(value)
        if plain in self._codes:
            return self._codes[plain]
        whole = isinstance(plain, float) and plain.is_integer()
        return self._texts.get(str(int(plain)) if whole else str(plain), self._rare)


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing."""
    return value is None or (np.ndim(value) == 0 and bool(pd.isna(value)))


def plain_value(value: Any) -> Any:
    """A category's value as a Python string, bool, int or float; intervals, dates and the like as text."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else str(value)


def holds_category(column: pd.Series) -> bool:
    """Whether a column is a category by itself: text, booleans or pandas' own categories."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype | pd.StringDtype) or pd.api.types.is_bool_dtype(dtype):
        return True
    return dtype.kind in "OUS" and pd.api.types.infer_dtype(column, skipna=True) in ("string", "boolean")


def holds_dates(column: pd.Series) -> bool:
    """Whether a column holds dates as pandas or Python have them; text that reads like dates is text."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return True
    return column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) in ("date", "datetime")


def holds_whole(column: pd.Series) -> bool:
    """Whether a column holds whole numbers, and no others, missing ones aside."""
    try:
        numbers = column.to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError):  # complained about elsewhere, where rows can be named
        return False
    return not np.isnan(numbers).all() and are_whole(numbers)


def are_whole(numbers: NDArray[Any]) -> bool:
    """Whether numbers are whole, missing ones aside, and small enough for that to mean something."""
    whole = numbers.dtype.kind in "biu" or ((np.floor(numbers) == numbers) | np.isnan(numbers)).all()
    return bool(whole and not (numbers > LAST_WHOLE).any() and not (numbers < -LAST_WHOLE).any())


def category_values(column: pd.Series, name: Any, order: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """The values of a category: as declared, as pandas lists them, or those seen, sorted."""
    if order is None and isinstance(column.dtype, pd.CategoricalDtype):
        return tuple(plain_value(value) for value in column.cat.categories)
    seen = [plain_value(value) for value in pd.unique(column.dropna())]
    for value in seen:
        if isinstance(value, float) and not np.isfinite(value):
            raise DataError(f"category {name!r} holds {value!r}, which is no value to have a name")
    if order is not None:
        lookup = Lookup(name, order)
        strange = [value for value in seen if lookup.code(value) < 0]
        if strange:
            raise DataError(f"ordered does not say where {strange[0]!r} of {name!r} comes")
        return order
    # A column of whole numbers with holes was read as 1.0 and 2.0.
    if seen and all(isinstance(value, float) and value.is_integer() for value in seen):
        seen = [int(value) for value in seen]
    return sorted_values(seen)


def sorted_values(values: Sequence[Any]) -> tuple[Any, ...]:
    """Each value once: numbers first, then text."""
    return tuple(sorted(set(values), key=lambda value: (isinstance(value, str), value)))


def read_numbers(column: pd.Series, name: Any) -> Array:
    """A column as floats, NaN where it is missing; what is no finite number is refused by row."""
    if column.dtype.kind in "biuf" and isinstance(column.dtype, np.dtype):
        numbers = column.to_numpy(dtype=np.float64)
        if not np.isinf(numbers).any():
            return numbers
    else:
        numbers = _parsed(column)
    if np.isinf(numbers).any() or np.isnan(numbers[~column.isna().to_numpy()]).any():
        faults = [fault for fault in column_faults(column.to_frame(name)) if " is missing " not in fault]
        raise DataError(joined(faults))
    return numbers


def read_days(column: pd.Series, name: Any) -> Array:
    """A column of dates as days since 1970-01-01: datetimes, dates, text such as 2024-03-01, or days."""
    if pd.api.types.is_datetime64_any_dtype(column):
        plain = column.dt.tz_localize(None) if column.dt.tz is not None else column
        days = plain.to_numpy().astype("datetime64[D]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(float))
    if column.dtype.kind in "biuf" and isinstance(column.dtype, np.dtype):
        return read_numbers(column, name)
    texts = column.astype(object).map(as_days, na_action="ignore")
    wrong = [value for value in texts.dropna() if isinstance(value, str)]
    if wrong:
        raise DataError(f"column {name!r} must hold dates such as 2024-03-01, not {wrong[0]!r}")
    return read_numbers(texts.astype(float), name)


def days_column(days: Array) -> NDArray[Any]:
    """Days since 1970-01-01 as datetimes; a part of a day is cut off."""
    known = np.isfinite(days)
    found = np.full(len(days), np.datetime64("NaT", "s"), dtype="datetime64[s]")
    found[known] = np.floor(days[known]).astype(np.int64).astype("datetime64[D]")
    return found


def read_codes(column: pd.Series, lookup: Lookup) -> tuple[NDArray[np.intp], list[Any]]:
    """Codes of a category's column, -1 for missing and unknown values, and the unknown ones."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        raw, uniques = column.cat.codes.to_numpy(), list(column.cat.categories)
    else:
        raw, found = pd.factorize(column)  # each row is hashed once, whatever the number of values
        uniques = list(found)
    table = np.array([*(lookup.code(value) for value in uniques), -1], dtype=np.intp)
    codes = table[raw]
    seen = np.bincount(raw[raw >= 0], minlength=len(uniques)) > 0
    strange = [plain_value(uniques[u]) for u in np.flatnonzero(seen & (table[:-1] < 0))]
    return codes, strange


def _parsed(column: pd.Series) -> Array:
    """The column as floats, NaN where it holds something else (text, dates, complex numbers)."""
    if column.dtype.kind in "cMm":
        return np.full(len(column), np.nan)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    parsed = as_numbers(column)
    return np.asarray(parsed.to_numpy(dtype=np.float64, na_value=np.nan))
