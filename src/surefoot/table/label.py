"""Labels that are none: numbers to be predicted, names of rows, dates, a single class."""

from __future__ import annotations

import datetime as dt
from numbers import Real

import pandas as pd

from surefoot.exceptions import DataError
from surefoot.table.kinds import FEW_ROWS, nearly_the_same, text_dates
from surefoot.table.rare import as_text

# Numbers: so many different ones are hardly names of classes, and more are none.
MANY_NUMBERS, TOO_MANY_NUMBERS = 10, 30
ROWS_PER_NUMBER = 50  # with fewer on average, more than twenty numbers are none either
SOME_NUMBERS = 20
MANY_CLASSES = 50
HALF = 0.5
NEARLY_ONE = 0.999


def label_cautions(labels: pd.Series, name: str) -> list[str]:
    """What is doubtful about a label, in sentences; a label that is none is refused.

    Parameters
    ----------
    labels : Series
    name : str
        Of its column.

    Raises
    ------
    DataError
        One line that says why it is none.

    Examples
    --------
    >>> label_cautions(pd.Series(range(40)), "age")
    Traceback (most recent call last):
        ...
    surefoot.exceptions.DataError: the label 'age' holds 40 different numbers, from 0 to 39: that is a...
    """
    seen = _as_numbers(labels.dropna())
    count = seen.nunique()
    _refuse(seen, count, name)
    found = []
    alike, what = nearly_the_same([value for value in seen.unique() if isinstance(value, str)])
    if alike:
        found.append(f"the label {name!r} has classes that differ in {what} only: {alike}")
    numbers = _are_numbers(seen)
    if count > (MANY_NUMBERS if numbers else MANY_CLASSES):
        found.append(f"the label {name!r} has {count} classes{'; is it a number?' if numbers else ''}")
    shares = seen.value_counts(normalize=True)
    if shares.iloc[0] >= NEARLY_ONE:
        rest = len(seen) - int((seen == shares.index[0]).sum())
        rows = "1 row of anything else is" if rest == 1 else f"{rest:,} rows of anything else are"
        most = f"{100 * shares.iloc[0]:.2f} % of the labels are {as_text(shares.index[0])!r}"
        found.append(f"{most}: {rows} too few to learn much from")
    return found


def _refuse(seen: pd.Series, count: int, name: str) -> None:
    advice = "choose another --label, or put its values together first"
    what = f"the label {name!r}"
    if count < 2:
        only = f"one class only, {as_text(seen.iloc[0])!r}" if count else "nothing"
        raise DataError(f"{what} holds {only}: there is nothing to tell apart")
    if _are_dates(seen):
        raise DataError(f"{what} holds dates, not classes; choose another --label")
    if _are_numbers(seen):
        few_rows = count > SOME_NUMBERS and len(seen) < ROWS_PER_NUMBER * count
        if count > TOO_MANY_NUMBERS or few_rows:
            ends = f"from {as_text(float(seen.min()))} to {as_text(float(seen.max()))}"
            none = f"{count:,} different numbers, {ends}: that is a number, not a class"
            raise DataError(f"{what} holds {none}; {advice}")
    elif len(seen) >= FEW_ROWS and count > max(HALF * len(seen), FEW_ROWS / 2):
        rows = f"{count:,} different values in {len(seen):,} rows"
        raise DataError(f"{what} has {rows}: names of rows or text; {advice}")


def _as_numbers(seen: pd.Series) -> pd.Series:
    """Labels as numbers where all of them are: files hold them as they are written."""
    if pd.api.types.infer_dtype(seen) != "string":
        return seen
    numbers = pd.to_numeric(seen.str.replace(",", "."), errors="coerce")
    return numbers if len(numbers) and numbers.notna().all() else seen


def _are_numbers(seen: pd.Series) -> bool:
    values = seen.unique()
    return all(isinstance(value, Real) and not isinstance(value, bool) for value in values.tolist())


def _are_dates(seen: pd.Series) -> bool:
    if pd.api.types.is_datetime64_any_dtype(seen) or all(isinstance(v, dt.date) for v in seen.unique()):
        return True
    texts = seen.nunique() > 2 and all(isinstance(value, str) for value in seen.unique())
    return texts and text_dates(seen, None, False) is not None
