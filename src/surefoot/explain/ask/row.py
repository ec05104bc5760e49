"""Rows as users have them, in the classifier's order; complaints name the feature."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.exceptions import DataError, ProblemError
from surefoot.formats import in_list
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.columns import is_missing
from surefoot.model.schema import Schema
from surefoot.problem.mixed import State
from surefoot.table.rare import RARE, as_text

Array = NDArray[np.float64]
FILLS = "impute='expected'"  # in whatever is said of a row with holes


def row_label(row: Any) -> Any:
    """What the row is called: its name in the frame it comes from, if it has one."""
    if isinstance(row, pd.DataFrame) and len(row) == 1:
        return row.index[0]
    return row.name if isinstance(row, pd.Series) else None


def encoded(row: Any, schema: Schema) -> tuple[Array, State]:
    """One row (Series, mapping, array, frame of one row) as numbers and categories, all of them known."""
    if schema.is_plain:
        return row_values(row, schema.names), ()
    values = raw_values(row, schema.names)
    try:
        return schema.encode_row(values)
    except DataError as error:
        _refuse_holes(values, schema.names)
        raise ProblemError(f"the row cannot be explained: {error}") from None


def encoded_with_holes(row: Any, schema: Schema) -> tuple[Array, State, list[int]]:
    """The same where some values may be missing, and the positions of the features that are."""
    try:
        numbers, state = schema.encode_row(raw_values(row, schema.names), holes=True)
    except DataError as error:
        raise ProblemError(f"the row cannot be explained: {error}") from None
    holes = [j for j, x in zip(schema.numbers, numbers, strict=True) if np.isnan(x)]
    holes += [j for j, code in zip(schema.categories, state, strict=True) if code < 0]
    if len(holes) == len(schema.names):
        raise ProblemError("every value of the row is missing")
    return numbers, state, holes


def written_values(row: Any, schema: Schema, state: State) -> dict[str, str]:
    """Category -> the row's own value, where the model counts it with other rare ones."""
    rare = [k for k, values in enumerate(schema.category_values) if values[state[k]] == RARE]
    if not rare:
        return {}
    cells = raw_values(row, schema.names)
    own = {str(schema.names[schema.categories[k]]): cells[schema.categories[k]] for k in rare}
    return {name: as_text(cell) for name, cell in own.items() if not is_missing(cell) and str(cell) != RARE}


def _refuse_holes(values: Sequence[Any], names: Sequence[Any]) -> None:
    """Refuse a row with holes, naming all of them."""
    pairs = zip(names, values, strict=True)
    holes = [name for name, value in pairs if np.ndim(value) == 0 and pd.isna(value)]
    if holes:
        are, named = "is" if len(holes) == 1 else "are", ", ".join(map(in_list, holes))
        raise ProblemError(f"the row cannot be explained: {named} {are} missing; {FILLS} fills holes")


def row_values(row: Any, names: Sequence[Any]) -> Array:
    """One row (Series, mapping, array, frame of one row) as numbers, all of them finite."""
    values = raw_values(row, names)
    numbers = as_numbers(values)
    if np.isfinite(numbers).all():
        return numbers
    for name, number, value in zip(names, numbers, values, strict=True):
        if not np.isfinite(number):
            hint = f"; {FILLS} fills holes" if value is None or value != value else ""
            raise ProblemError(f"the row's value of {name!r} is not a finite number: {_shown(value)}{hint}")
    return numbers


def raw_values(row: Any, names: Sequence[Any]) -> list[Any]:
    """The row's values unchanged, in the order of the names."""
    if isinstance(row, pd.DataFrame):
        if len(row) != 1:
            raise ProblemError(f"explain takes one row, not {len(row)}; explain_batch takes many")
        row = row.iloc[0]
    if isinstance(row, pd.Series) and row.index.is_unique:
        row = dict(zip(row.index.tolist(), row.tolist(), strict=True))  # one look at pandas for all features
    if isinstance(row, Mapping | pd.Series):
        missing = [name for name in names if name not in row]
        if missing:
            raise ProblemError(f"the row has no value for {missing[0]!r}")
        if isinstance(row, pd.Series):
            twice = [name for name in names if isinstance(row[name], pd.Series)]
            if twice:
                raise ProblemError(f"the row has several values for {twice[0]!r}")
        return [row[name] for name in names]
    values = list(np.ravel(np.asarray(row, dtype=object)))
    if len(values) != len(names):
        raise ProblemError(f"the row has {len(values)} values, the classifier {len(names)} features")
    return values


def split_rows(rows: Any, names: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """A table (frame, 2-D array, list of rows) as labels and single rows that `row_values` can read."""
    if isinstance(rows, pd.DataFrame):
        twice = [name for name in names if list(rows.columns).count(name) > 1]
        if twice:
            raise ProblemError(f"column name {twice[0]!r} occurs more than once")
        missing = [name for name in names if name not in rows.columns]
        if missing:
            raise ProblemError(f"the rows have no column {missing[0]!r}")
        return rows.index.tolist(), list(rows[list(names)].to_numpy(dtype=object))
    if isinstance(rows, pd.Series | Mapping | str) or not isinstance(rows, Iterable):
        raise ProblemError("the rows must be a table: a frame, a 2-D array or a list of rows")
    single = list(rows)
    if single and np.ndim(single[0]) == 0 and not isinstance(single[0], Mapping):
        raise ProblemError("the rows must be a table; this is a single row, which explain takes")
    labels = [row_label(row) for row in single]
    return [i if label is None else label for i, label in enumerate(labels)], single


def as_numbers(values: list[Any]) -> Array:
    """The values as numbers; nan where they are none."""
    if all(type(value) in (float, np.float64) for value in values):
        return np.array(values, dtype=float)  # the common case; pandas' reader costs as much as a search
    return np.array([_number(value) for value in values])


def _number(value: Any) -> float:
    """Text that reads as a number counts as one; a truth value as 0 or 1."""
    try:
        return math.nan if isinstance(value, complex | np.complexfloating) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _shown(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)


def class_position(clf: ConditionalGaussianNetworkClassifier, numbers: Array, state: State) -> int:
    """Position of the class that is predicted for a row that was read.

    scikit-learn's validation costs more than the search.
    """
    return int(np.argmax(clf.class_scores(numbers[None], np.array([state], dtype=np.intp))[0]))
