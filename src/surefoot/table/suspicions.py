"""What is suspicious about a table: things that make a model look better, or worse, than it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from surefoot.formats import first_names
from surefoot.table.kinds import is_number
from surefoot.table.text_column import MISSING

FEW_ROWS = 20  # below this, hardly anything can be said about a class, or about a column
MANY_VALUES = 50  # of a category
ROWS_PER_VALUE = 5  # fewer than this on average: the category hardly repeats
NEARLY_ALL = 0.95
GIVEN_AWAY = 0.999  # share of labels that one column alone tells
ENOUGH_ROWS = 50  # fewer labels are told by chance
LARGEST_SAMPLE = 20_000
DUPLICATES = 0.01  # share of rows
SHOWN_NAMES = 5

NAME_OF_ROWS = re.compile(r"(^|[\W_])(id|ID|Id)$|[a-z](Id|ID)$")
HALF = 0.5  # of the values of a column of such a name are different
DAY = r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})"
DATE = re.compile(rf"^\s*{DAY}([T ]\d{{1,2}}:\d{{2}}(:\d{{2}}(\.\d+)?)?)?\s*$")


def data_warnings(frame: pd.DataFrame, y: Any, label: str = "class") -> list[str]:
    """Sentences about what is suspicious in a table, each with the names of the columns it is about.

    Looked for are: columns that are constant, or constant in one class; identifiers; dates; categories with
    very many values; rows that occur twice; columns that give the label away; classes of few rows; labels
    that read like missing ones; more columns than rows.

    Parameters
    ----------
    frame : DataFrame
        The features. A column of the label's name is left out.
    y : array of labels
    label : str
        What the label is called.

    Examples
    --------
    >>> frame = pd.DataFrame({"customer": [f"C{i:03}" for i in range(60)], "age": [30, 41, 52] * 20})
    >>> data_warnings(frame, ["good", "bad"] * 30)
    ["Identifier: 'customer' (names or counts the rows; best left out)."]
    """
    features = frame.drop(columns=[label], errors="ignore").reset_index(drop=True)
    labels = pd.Series(np.asarray(y), name=label).reset_index(drop=True)
    dates = [name for name in features.columns if _is_date(features[name])]
    days = [name for name in features.columns if features[name].dtype.kind == "M"]
    identifiers = [n for n in features.columns if n not in (*dates, *days) and _is_identifier(features[n])]
    others = [name for name in features.columns if name not in (*dates, *identifiers)]
    found = [*_constant(features[others], labels)]
    found += _about(identifiers, "Identifier", "names or counts the rows; best left out")
    found += _about(dates, "Date", "best turned into a number, such as an age, or left out")
    found += _many_values(features[others])
    found += _given_away(features[others], labels, label)
    found += _duplicates(features, labels)
    found += _small_classes(labels, label)
    found += _missing_labels(labels, label)
    if len(features.columns) >= len(features):
        found.append(f"More columns than rows: {len(features.columns)} columns, {len(features)} rows.")
    return found


def _about(names: Sequence[Any], what: str, remark: str) -> list[str]:
    quoted = first_names([repr(name) for name in names], SHOWN_NAMES)
    return [f"{what}: {quoted} ({remark})."] if names else []


def _is_date(column: pd.Series) -> bool:
    """Whether text reads like dates; dates that are known to be dates are numbers of days."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return False
    if is_number(column) or pd.api.types.is_bool_dtype(column):
        return False
    values = column.dropna().astype(str).head(200)
    return len(values) > 0 and float(values.map(lambda text: bool(DATE.match(text))).mean()) >= NEARLY_ALL


def _is_identifier(column: pd.Series) -> bool:
    """Text that hardly repeats, whole numbers that count the rows, or what is called an identifier."""
    values = column.dropna()
    if len(values) < FEW_ROWS:
        return False
    if NAME_OF_ROWS.search(str(column.name)) and values.nunique() >= HALF * len(values):
        return True
    if not is_number(column):
        return bool(values.nunique() >= NEARLY_ALL * len(values))
    numbers = values.to_numpy(dtype=float)
    if values.nunique() < len(values) or (numbers != np.floor(numbers)).any():
        return False
    steps = np.diff(numbers)
    return bool((steps > 0).all() or (steps < 0).all() or np.ptp(numbers) == len(numbers) - 1)


def _constant(features: pd.DataFrame, labels: pd.Series) -> Iterator[str]:
    constant = [name for name in features.columns if _has_one_value(features[name])]
    yield from _about(constant, "Constant", "the same value in every row; best left out")
    rest = features.drop(columns=constant)
    for value, part in rest.groupby(labels.to_numpy()):
        alone = [name for name in rest.columns if len(part) > 1 and _has_one_value(part[name])]
        yield from _about(alone, "Constant in a class", f"a single value in all rows of {_shown(value)}")


def _has_one_value(column: pd.Series) -> bool:
    return len(column) == 0 or bool((column == column.iloc[0]).all() or column.isna().all())


def _many_values(features: pd.DataFrame) -> Iterator[str]:
    for name in features.columns:
        column = features[name]
        values = column.nunique()
        rare = values * ROWS_PER_VALUE > len(column) and values > FEW_ROWS / 2
        if not is_number(column) and column.dtype.kind != "M" and (values > MANY_VALUES or rare):
            yield from _about([name], "Many values", f"{values} different values; put rare ones together")


def _given_away(features: pd.DataFrame, labels: pd.Series, label: str) -> list[str]:
    """Columns from which alone a small tree, or the values themselves, tell nearly every label."""
    every = slice(None, None, -(-len(labels) // LARGEST_SAMPLE))
    part, codes = features.iloc[every], pd.factorize(labels.iloc[every])[0]
    most = np.bincount(codes).max() / len(codes)
    if len(codes) < ENOUGH_ROWS or most >= GIVEN_AWAY:
        return []
    told = [name for name in part.columns if _told_share(part[name], codes) >= GIVEN_AWAY]
    remark = f"tells {label!r} in nearly every row; is it known beforehand?"
    return _about(told, "Gives the label away", remark)


def _told_share(column: pd.Series, codes: np.ndarray) -> float:
    if not is_number(column):
        values = pd.factorize(column, use_na_sentinel=False)[0]
        table = pd.crosstab(values, codes).to_numpy()
        # A value that occurs once tells its label by being alone.
        return float(np.where(table.sum(axis=1) > 1, table.max(axis=1), 0).sum() / len(codes))
    from sklearn.tree import DecisionTreeClassifier

    numbers = column.to_numpy(dtype=float)
    finite = numbers[np.isfinite(numbers)]
    if finite.size == 0:
        return 0.0
    filled = np.clip(np.where(np.isnan(numbers), finite.min() - 1.0, numbers), -1e30, 1e30)
    leaves = max(2, int(codes.max()) + 1)
    tree = DecisionTreeClassifier(max_leaf_nodes=2 * leaves, min_samples_leaf=2, random_state=0)
    return float(tree.fit(filled[:, None], codes).score(filled[:, None], codes))


def _duplicates(features: pd.DataFrame, labels: pd.Series) -> list[str]:
    twice = int(pd.concat([features, labels.to_frame()], axis=1, ignore_index=True).duplicated().sum())
    if twice <= DUPLICATES * len(features):
        return []
    return [f"Duplicates: {twice} rows repeat an earlier one, which makes a model look better than it is."]


def _small_classes(labels: pd.Series, label: str) -> list[str]:
    counts = labels.value_counts(sort=False)
    small = [f"{_shown(value)} ({count} rows)" for value, count in counts.items() if count < FEW_ROWS]
    return [f"Small class: {label!r} has few rows of {', '.join(small[:SHOWN_NAMES])}."] if small else []


def _missing_labels(labels: pd.Series, label: str) -> list[str]:
    found = [value for value in labels.unique() if isinstance(value, str) and value in MISSING]
    return [
        f"Missing label: {label!r} is {value!r} in {int((labels == value).sum())} rows, which are taken as a "
        "class of their own; leave them out if they have no label."
        for value in found
    ]


def _shown(value: Any) -> str:
    """A label as Python would write it."""
    return repr(value.item() if hasattr(value, "item") else value)
