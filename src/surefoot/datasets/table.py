"""A user's own table: every complaint names the column and the row."""

from __future__ import annotations

import csv
import os
import warnings
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
MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "None", "<NA>"]


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
    drop = [drop] if isinstance(drop, str) else list(drop)
    frame = source if isinstance(source, pd.DataFrame) else _read_csv(Path(source), label, separator)
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
        class_names=tuple(str(c) for c in np.unique(plain_labels(labels))),
        title="" if isinstance(source, pd.DataFrame) else Path(source).stem,
        origin="the user's own table" if isinstance(source, pd.DataFrame) else os.fspath(source),
    )


def feature_table(
    source: str | os.PathLike[str],
    features: Sequence[Any],
    *,
    separator: str = ",",
    label: str | None = None,
) -> pd.DataFrame:
    """Read the rows of a CSV file that a fitted classifier is to look at, its features only.

    Values that are not numbers are left as they are: whoever explains the row complains about them.

    Parameters
    ----------
    source : path
    features : sequence
        The features' names; columns that are none of them are left out.
    separator : str
    label : str, optional
        A column that says what the rows are called. Default: they are counted from 0.

    Raises
    ------
    DataError
        When a feature has no column, or there are no rows.
    """
    frame = _read_csv(Path(source), label, separator)
    if label is not None and label not in frame.columns:
        raise DataError(f"{os.fspath(source)}: there is no column {label!r} to name the rows by")
    missing = [name for name in features if str(name) not in frame.columns]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        hint = " (another separator?)" if frame.shape[1] == 1 else ""
        need = f"there is no column {str(missing[0])!r}{more}, which the model needs{hint}"
        raise DataError(f"{os.fspath(source)}: {need}")
    if frame.empty:
        raise DataError(f"{os.fspath(source)}: there are no rows")
    rows = frame[[str(name) for name in features]].set_axis(list(features), axis=1)
    return rows if label is None else rows.set_axis(frame[label].tolist(), axis=0)


def column_faults(frame: pd.DataFrame) -> list[str]:
    """Say which columns are not numeric, missing or infinite, and in which rows."""
    found = []
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        missing = column.isna().to_numpy()
        numbers = _numbers(column)
        text = np.isnan(numbers) & ~missing
        if text.any():
            example = column.iloc[int(np.flatnonzero(text)[0])]
            found.append(f"column {name!r} is not a number in {_rows(text)}: {_short(example)}")
        if missing.any():
            found.append(f"column {name!r} is missing (NaN) in {_rows(missing)}")
        if np.isinf(numbers).any():
            found.append(f"column {name!r} is infinite (inf) in {_rows(np.isinf(numbers))}")
    return found


def _numbers(column: pd.Series) -> np.ndarray:
    """The column as floats, NaN where it holds something else (text, dates, complex numbers)."""
    if column.dtype.kind in "cMm":
        return np.full(len(column), np.nan)
    return np.asarray(pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan))


def plain_labels(y: Any) -> Any:
    """Labels as a plain array of numbers, booleans or strings; missing ones are refused by row.

    Object and nullable pandas types are turned into what they hold. Whatever is not one-dimensional is
    passed on for scikit-learn to judge.
    """
    if not isinstance(y, list | np.ndarray | pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        return y
    if getattr(y, "ndim", 1) != 1 or not len(y):
        return y
    series = y if isinstance(y, pd.Series) else pd.Series(y)
    faults = missing_label_faults(series, "y" if series.name is None else str(series.name))
    if faults:
        raise DataError(joined(faults))
    kind = pd.api.types.infer_dtype(series)
    if series.dtype.kind == "O" or isinstance(series.dtype, pd.api.extensions.ExtensionDtype):
        target = {"boolean": bool, "integer": np.int64, "floating": float}.get(kind)
        return np.asarray(series.astype(target)) if target else np.asarray(series, dtype=object)
    return y


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


def _read_csv(path: Path, label: str | None, separator: str) -> pd.DataFrame:
    separator = "\t" if separator == "\\t" else separator
    if len(separator) != 1 or not separator.isascii() or separator in '\r\n"':
        raise DataError(f"separator must be a single character, not {separator!r}")
    try:
        header = _checked_header(path, separator)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                path,
                sep=separator,
                encoding="utf-8-sig",
                index_col=False,
                low_memory=False,
                # The label as written: '01' is not 1, and a class may be called NA.
                dtype={} if label is None else {label: str},
                keep_default_na=False,
                na_values={name: MISSING for name in header if name != label},
            )
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8 text") from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{path}: the file is empty") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning, csv.Error) as error:
        raise DataError(f"{path}: is not a CSV table ({' '.join(str(error).split())})") from None
    if label in frame.columns:
        frame[label] = _read_labels(frame[label])
    return frame


def _checked_header(path: Path, separator: str) -> list[str]:
    """Look at the first lines before pandas does: it would rename, shift or cut what does not fit."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = (line for line in csv.reader(file, delimiter=separator) if line)
        header, first = next(lines, []), next(lines, None)
    twice = duplicate_names(header)
    if twice:
        raise DataError(f"{path}: column name {twice[0]!r} occurs more than once")
    if "" in (name.strip() for name in header):
        raise DataError(f"{path}: column {[n.strip() for n in header].index('') + 1} has no name")
    if first is not None and len(first) != len(header):
        raise DataError(f"{path}: row 0 has {len(first)} fields, but the header has {len(header)}")
    return header


def _read_labels(column: pd.Series) -> pd.Series:
    """Text as read, turned into whole numbers or booleans where that loses nothing; empty is missing."""
    if column.isin(["True", "False"]).all():
        return column == "True"
    if column.str.fullmatch(r"0|-?[1-9][0-9]{0,17}").all():
        return column.astype("int64")
    return column.replace("", None)


def _refuse_columns(frame: pd.DataFrame, label: str, drop: Sequence[str], where: str) -> None:
    twice = duplicate_names(list(frame.columns))
    if twice:
        raise DataError(f"{where}column name {twice[0]!r} occurs more than once")
    if label in drop:
        raise DataError(f"{where}the label column {label!r} cannot be dropped")
    for name, what in [(label, "label column"), *((name, "column to drop") for name in drop)]:
        if name not in frame.columns:
            shown = ", ".join(repr(c) for c in frame.columns[:8]) + (", ..." if frame.shape[1] > 8 else "")
            hint = " (another separator?)" if where and frame.shape[1] == 1 else ""
            raise DataError(f"{where}there is no {what} {name!r}; the columns are {shown}{hint}")


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
