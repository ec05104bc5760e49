"""A user's own table: every complaint names the column and the row."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from surefoot.datasets.dataset import Dataset
from surefoot.exceptions import DataError

SHOWN_ROWS = 3
SHOWN_FAULTS = 8


def table(
    source: str | os.PathLike[str] | pd.DataFrame,
    label: str,
    *,
    drop: Sequence[str] = (),
    separator: str = ",",
) -> Dataset:
    """Read a CSV file or DataFrame into features and labels, or say exactly what is wrong with it.

    Parameters
    ----------
    source : path or DataFrame
        A CSV file with a header line (UTF-8), or a frame.
    label : str
        Name of the label column.
    drop : sequence of str
        Columns to leave out (identifiers, free text, constants).
    separator : str
        What separates the fields of the file.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        One message with every fault: a label or dropped column that is missing, duplicate names, no
        rows, and columns that are not numeric, missing, infinite or constant, by name and row. Rows
        are counted from 0, as ``iloc`` and the command line do.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [31, 45, 28], "income": [2.5, np.inf, 1.9], "risk": ["a", "b", "a"]})
    >>> table(frame, label="risk")
    Traceback (most recent call last):
        ...
    surefoot.exceptions.DataError: column 'income' is infinite (inf) in row 1
    """
    where = "" if isinstance(source, pd.DataFrame) else f"{os.fspath(source)}: "
    frame = source if isinstance(source, pd.DataFrame) else _read_csv(Path(source), separator)
    _refuse_columns(frame, label, drop, where)
    if frame.empty:
        raise DataError(f"{where}there are no rows")
    labels, features = frame[label], frame.drop(columns=[label, *drop])
    if features.shape[1] == 0:
        raise DataError(f"{where}there are no feature columns beside the label {label!r}")
    found = missing_label_faults(labels, label) + column_faults(features) + _constant_faults(features)
    if found:
        raise DataError(where + joined(found))
    return Dataset(
        X=features.astype(float),
        y=labels,
        class_names=tuple(str(c) for c in sorted(labels.unique().tolist(), key=str)),
        title="" if isinstance(source, pd.DataFrame) else Path(source).stem,
        origin="the user's own table" if isinstance(source, pd.DataFrame) else os.fspath(source),
    )


def column_faults(frame: pd.DataFrame) -> list[str]:
    """Say which columns are not numeric, missing or infinite, and in which rows."""
    found = []
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        missing = column.isna().to_numpy()
        text = np.isnan(numbers) & ~missing
        if text.any():
            example = column.iloc[int(np.flatnonzero(text)[0])]
            found.append(f"column {name!r} is not a number in {_rows(text)}: {_short(example)}")
        if missing.any():
            found.append(f"column {name!r} is missing (NaN) in {_rows(missing)}")
        if np.isinf(numbers).any():
            found.append(f"column {name!r} is infinite (inf) in {_rows(np.isinf(numbers))}")
    return found


def missing_label_faults(labels: pd.Series, name: str) -> list[str]:
    """Say in which rows there is no label."""
    missing = labels.isna().to_numpy()
    return [f"label column {name!r} is missing (NaN) in {_rows(missing)}"] if missing.any() else []


def joined(found: list[str]) -> str:
    """One sentence from several complaints."""
    more = f"; and {len(found) - SHOWN_FAULTS} more" if len(found) > SHOWN_FAULTS else ""
    return "; ".join(found[:SHOWN_FAULTS]) + more


def duplicate_names(names: Sequence[Any]) -> list[Any]:
    """Names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def _read_csv(path: Path, separator: str) -> pd.DataFrame:
    try:
        # Read the header by itself: pandas would silently rename a column that occurs twice.
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file, delimiter=separator), [])
        twice = duplicate_names(header)
        if twice:
            raise DataError(f"{path}: column name {twice[0]!r} occurs more than once")
        return pd.read_csv(path, sep=separator, encoding="utf-8-sig", index_col=False, low_memory=False)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8 text") from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{path}: the file is empty") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning, csv.Error) as error:
        raise DataError(f"{path}: is not a CSV table ({str(error).strip()})") from None


def _refuse_columns(frame: pd.DataFrame, label: str, drop: Sequence[str], where: str) -> None:
    twice = duplicate_names(list(frame.columns))
    if twice:
        raise DataError(f"{where}column name {twice[0]!r} occurs more than once")
    for name, what in [(label, "label column"), *((name, "column to drop") for name in drop)]:
        if name not in frame.columns:
            shown = ", ".join(repr(c) for c in frame.columns[:8]) + (", ..." if frame.shape[1] > 8 else "")
            raise DataError(f"{where}there is no {what} {name!r}; the columns are {shown}")


def _constant_faults(frame: pd.DataFrame) -> list[str]:
    constant = [name for name in frame.columns if _is_constant(frame[name])]
    return [
        f"column {name!r} is constant ({_short(frame[name].iloc[0])} in every row); drop it"
        for name in constant
        if len(frame) > 1
    ]


def _is_constant(column: pd.Series) -> bool:
    first = column.iloc[0]
    return bool(column.isna().all() if pd.isna(first) else (column == first).all())


def _rows(mask: np.ndarray) -> str:
    rows = np.flatnonzero(mask)
    shown = ", ".join(str(r) for r in rows[:SHOWN_ROWS])
    more = f" and {len(rows) - SHOWN_ROWS} more" if len(rows) > SHOWN_ROWS else ""
    return f"row{'s' if len(rows) > 1 else ''} {shown}{more}"


def _short(value: Any) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else text[:37] + "..."
