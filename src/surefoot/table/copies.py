"""Columns that repeat another one: they tell a model nothing, and count twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from surefoot.table.kinds import COPY, FEW_ROWS, Column, flag


def without_copies(columns: Mapping[str, Column], labels: pd.Series | None) -> dict[str, Column]:
    """The columns, those that repeat an earlier one or the label left out.

    Tables of a few rows have columns that are equal by chance; these stay.
    """
    found, seen = dict(columns), dict[Any, str]()
    for name, column in columns.items():
        if column.cells is None or len(column.cells) < FEW_ROWS or _is_said(column):
            continue
        if labels is not None and _same_text(column.cells, labels):
            why = f"the same as the label {labels.name!r} in every row: left out"
            found[name] = _copy(column, why)
            continue
        key = _key(column.cells)
        if key not in seen:
            seen[key] = name
        elif _same(column.cells, columns[seen[key]].cells):
            found[name] = _copy(column, f"the same as {seen[key]!r} in every row: left out")
    return found


def _is_said(column: Column) -> bool:
    return column.why.startswith("you say so")


def _copy(column: Column, why: str) -> Column:
    what = {"number": "numeric", "whole": "numeric", "date": "date"}.get(column.kind, "categorical")
    return replace(column, kind=COPY, why=why, change=flag(what, column.name), cells=None, order="", notes=())


def _key(values: pd.Series) -> int:
    """The same for equal columns."""
    plain = values.astype(object) if isinstance(values.dtype, pd.CategoricalDtype) else values
    return int(pd.util.hash_pandas_object(plain, index=False).sum())


def _same(one: pd.Series, other: pd.Series | None) -> bool:
    if other is None:
        return False
    return bool(((one.astype(object) == other.astype(object)) | (one.isna() & other.isna())).all())


def _same_text(one: pd.Series, labels: pd.Series) -> bool:
    return bool((one.astype(str) == labels.astype(str)).all())
