"""A user's own table: every complaint names the column and the row."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from surefoot.exceptions import DataError
from surefoot.formats import first_parts, listed, suggestion
from surefoot.table.cells import as_numbers
from surefoot.table.dataset import Dataset
from surefoot.table.reading import Form, Reading, duplicate_names, read_table

__all__ = [
    "column_faults",
    "duplicate_names",
    "feature_table",
    "joined",
    "plain_labels",
    "table",
    "two_valued_numbers",
]

SHOWN_ROWS = 3
SHOWN_FAULTS = 8
# Text with more different values than this, nearly as many as rows, names rows and is no category.
MANY_VALUES = 20
NEARLY_ALL = 0.95
TOTALS = ("total", "totals", "grand total", "sum", "summe", "gesamt", "total général", "totale", "suma")


def table(
    source: str | os.PathLike[str] | pd.DataFrame | Reading,
    label: str,
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    max_size: int | None = None,
) -> Dataset:
    """Read a table into features and labels, or say exactly what is wrong with it.

    Files are read as people have them: fields separated by commas, semicolons or tabs, decimal commas,
    UTF-8 or Latin-1, packed by gzip; Parquet and Excel where pyarrow and openpyxl are installed. Empty
    fields, ``NA``, ``?`` and ``nan`` are holes. A column of text or booleans is a category.

    Parameters
    ----------
    source : path, DataFrame or Reading
        A file with a header line, ``"-"`` for standard input, or a frame.
    label : str
        Name of the label column.
    drop : sequence of str
        Columns to leave out (identifiers, free text, constants).
    categorical : sequence of str
        Columns that are categories whatever they hold; their values are kept as they are written.
    separator : str, optional
        What separates the fields of the file. Default: looked for.
    decimal : str, optional
        ``","`` or ``"."``. Default: looked for.
    header : bool, optional
        Whether the first row holds names. Default: it should; where it looks like data that is an error.
        Without a header the columns are called column_1, column_2, ...
    max_size : int, optional
        The most bytes that the file may have, unpacked. Default: two billion, and no more than 200 times its
        size where it is packed and holds more than 50 million.

    Returns
    -------
    Dataset
        Numbers are floats; categories are text, booleans or whole numbers.

    Raises
    ------
    DataError
        One message with every fault: a label or dropped column that is missing, duplicate names, no
        rows, and columns that mix numbers and text, are infinite, constant or different in nearly every
        row, by name and row. Rows are counted from 0, as ``iloc`` and the command line do.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [31, 45, 28], "income": [2.5, np.inf, 1.9], "risk": ["a", "b", "a"]})
    >>> table(frame, label="risk")
    Traceback (most recent call last):
        ...
    surefoot.exceptions.DataError: column 'income' is infinite (inf) in row 1
    """
    drop = [drop] if isinstance(drop, str) else list(drop)
    categorical = [categorical] if isinstance(categorical, str) else list(categorical)
    form = Form(separator, decimal, header, [label], categorical, [label], max_size)
    reading = source if isinstance(source, Reading) else _reading(source, form)
    where = f"{reading.name}: " if reading.name else ""
    labels, features = _parts(reading.frame, label, drop, where)
    useless = _useless(features, categorical)
    found = missing_label_faults(labels, label) + _number_faults(features, categorical)
    found += [f"column {name!r} {why}" for name, why in useless.items()]
    if found:
        raise DataError(where + joined(found) + _all_at_once(useless))
    return Dataset(
        X=_with_floats(features, categorical),
        y=labels,
        class_names=tuple(str(c) for c in np.unique(plain_labels(labels))),
        title=Path(reading.name).stem,
        origin=reading.name or "the user's own table",
    )


def feature_table(
    source: str | os.PathLike[str] | Reading,
    features: Sequence[Any],
    *,
    label: str | None = None,
) -> pd.DataFrame:
    """The rows that a fitted classifier is to look at, its features only.

    Values that are not numbers are left as they are: whoever explains the row complains about them.

    Parameters
    ----------
    source : path or Reading
    features : sequence
        The features' names; columns that are none of them are left out.
    label : str, optional
        A column that says what the rows are called. Default: they are counted from 0.

    Raises
    ------
    DataError
        When a feature has no column, or there are no rows.
    """
    names = [str(name) for name in features]
    form = Form(as_written=() if label is None or label in names else (label,), expected=names)
    reading = source if isinstance(source, Reading) else read_table(source, form)
    frame, where = reading.frame, f"{reading.name}: "
    known = suggestion(label or "", frame.columns)
    if label is not None and label not in frame.columns:
        raise DataError(f"{where}there is no column {label!r} to name the rows by{known}")
    missing = [name for name in names if name not in frame.columns]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        hint = _separator_hint(frame) or suggestion(missing[0], [c for c in frame.columns if c not in names])
        raise DataError(f"{where}there is no column {missing[0]!r}{more}, which the model needs{hint}")
    if frame.empty:
        raise DataError(f"{where}there are no rows")
    rows = frame[names].set_axis(list(features), axis=1)
    if label is None:
        return rows
    called = [str(value) if np.ndim(value) else value for value in frame[label].tolist()]  # a list, as text
    return rows.set_axis(pd.Index(called, dtype=object), axis=0)  # of any text, as far as it is text at all


def two_valued_numbers(frame: pd.DataFrame) -> list[Any]:
    """Columns of numbers that hold two different values, which are categories more often than not.

    Examples
    --------
    >>> two_valued_numbers(pd.DataFrame({"smoker": [0, 1, 1], "age": [31, 45, 28], "sex": ["f", "m", "m"]}))
    ['smoker']
    """
    numbers = frame.select_dtypes("number")
    return [name for name in numbers.columns if numbers[name].nunique() == 2]


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
    return np.asarray(as_numbers(column).to_numpy(dtype=float, na_value=np.nan))


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
    if not missing.any():
        return []
    last = missing[-int(missing.sum()) :].all()
    end = "; at the end of a table that is a line of totals, or an empty one: take it out" if last else ""
    return [f"label column {name!r} is missing (NaN) in {_rows(missing)}{end}"]


def joined(found: list[str]) -> str:
    """One sentence from several complaints."""
    return first_parts(found, SHOWN_FAULTS)


def _reading(source: str | os.PathLike[str] | pd.DataFrame, form: Form) -> Reading:
    return Reading(source, "") if isinstance(source, pd.DataFrame) else read_table(source, form)


def _parts(
    frame: pd.DataFrame, label: str, drop: Sequence[str], where: str
) -> tuple[pd.Series, pd.DataFrame]:
    """Labels and features."""
    _refuse_columns(frame, label, drop, where)
    if frame.empty:
        raise DataError(f"{where}there are no rows")
    features = frame.drop(columns=[label, *drop])
    if features.shape[1] == 0:
        raise DataError(f"{where}there are no feature columns beside the label {label!r}")
    return frame[label], features


def _refuse_columns(frame: pd.DataFrame, label: str, drop: Sequence[str], where: str) -> None:
    twice = duplicate_names(list(frame.columns))
    if twice:
        raise DataError(f"{where}column name {twice[0]!r} occurs more than once")
    if label in drop:
        raise DataError(f"{where}the label column {label!r} cannot be dropped")
    for name, what in [(label, "label column"), *((name, "column to drop") for name in drop)]:
        if name not in frame.columns:
            shown = listed(list(frame.columns))
            hint = (_separator_hint(frame) if where else "") or suggestion(name, frame.columns)
            raise DataError(f"{where}there is no {what} {name!r}; the columns are {shown}{hint}")


def _separator_hint(frame: pd.DataFrame) -> str:
    return " (another separator?)" if frame.shape[1] == 1 else ""


def _number_faults(features: pd.DataFrame, categorical: Sequence[str]) -> list[str]:
    """What is wrong with numbers; holes are not."""
    found = []
    for name in features.columns:
        if name not in categorical and not _is_category(features[name]):
            faults = [fault for fault in column_faults(features[[name]]) if " is missing " not in fault]
            found += [fault + _category_hint(features[name], fault) for fault in faults]
    return found


def number_faults(features: pd.DataFrame) -> list[str]:
    """What is wrong with columns of numbers, by row."""
    found = _number_faults(features, ())
    hint = "(if it is a category, say --categorical, categorical="
    both = f"{hint}; if that means that there is none, say --missing, missing=)"
    return [fault.replace(f"{hint})", both) for fault in found]


def row_of_text(features: pd.DataFrame) -> str:
    """That all text among numbers is in a single row, which is hardly one of the data; "" where it is not."""
    cells: dict[int, list[Any]] = {}
    for name in features.columns:
        column = features[name]
        if column.dtype.kind == "O" and not _is_category(column):
            for row in np.flatnonzero(np.isnan(_numbers(column)) & column.notna().to_numpy())[:2].tolist():
                cells.setdefault(row, []).append(column.iloc[row])
    row, texts = next(iter(cells.items()), (-1, []))
    if len(cells) != 1 or (len(texts) < 2 and str(texts[0]).strip(" :").casefold() not in TOTALS):
        return ""
    shown = ", ".join(_short(text) for text in texts[:SHOWN_ROWS])
    what = "totals or a remark" if row == len(features) - 1 else "names of columns or units"
    return f"row {row} holds text among numbers ({shown}); if these are {what}, leave the row out"


def _useless(features: pd.DataFrame, categorical: Sequence[str]) -> dict[str, str]:
    """Columns that no model can use, and why."""
    found = {}
    for name in features.columns:
        column, count = features[name], features[name].nunique()
        if len(column) > 1 and count < 2:
            found[name] = f"{_constant(column)}; drop it"
        elif name not in categorical and _names_rows(column, count):
            found[name] = (
                f"holds text that differs in nearly every row ({count:,} values in {len(column):,} rows); "
                "datasets.read_table reads amounts, dates and codes; if it is none of these, drop it"
            )
    return found


def _all_at_once(names: Collection[str]) -> str:
    """What to say so that all of them are left out."""
    return f" (all of these: drop={list(map(str, names))!r})" if len(names) > 1 else ""


def _category_hint(column: pd.Series, fault: str) -> str:
    texts = pd.api.types.infer_dtype(column, skipna=True) in ("string", "mixed", "mixed-integer")
    return " (if it is a category, say --categorical, categorical=)" if texts and "a number" in fault else ""


def _is_category(column: pd.Series) -> bool:
    """Whether a column holds booleans, or text rather than numbers."""
    if isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(column.dtype):
        return True
    if pd.api.types.infer_dtype(column, skipna=True) == "boolean":
        return True
    if pd.api.types.infer_dtype(column, skipna=True) != "string":
        return False
    # Text among numbers is a slip of the pen, numbers among text are names.
    return bool(np.isfinite(_numbers(column)).sum() <= column.notna().sum() / 2)


def _names_rows(column: pd.Series, count: int) -> bool:
    """Whether a column of text has another value in nearly every row."""
    if isinstance(column.dtype, pd.CategoricalDtype) or not _is_category(column):
        return False
    return MANY_VALUES < count >= NEARLY_ALL * len(column)


def _with_floats(features: pd.DataFrame, categorical: Sequence[str]) -> pd.DataFrame:
    numbers = [n for n in features.columns if n not in categorical and not _is_category(features[n])]
    return features.astype(dict.fromkeys(numbers, float))


def _constant(column: pd.Series) -> str:
    """How a column without two different values reads."""
    seen = column.dropna()
    if seen.empty:
        return "is missing in every row"
    return f"is constant ({_short(seen.iloc[0])} in every row{' that has it' * (len(seen) < len(column))})"


def _rows(mask: np.ndarray) -> str:
    rows = np.flatnonzero(mask)
    shown = ", ".join(str(r) for r in rows[:SHOWN_ROWS])
    more = f" and {len(rows) - SHOWN_ROWS} more" if len(rows) > SHOWN_ROWS else ""
    return f"row{'s' if len(rows) > 1 else ''} {shown}{more}"


def _short(value: Any) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else text[:37] + "..."
