"""Columns that repeat another one: they tell a model nothing, and count twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from surefoot.table.kinds import COPY, FEW_ROWS, NAMES, Column, flag


def without_copies(columns: Mapping[str, Column], labels: pd.Series | None) -> dict[str, Column]:
    """The columns, those that repeat an earlier one or the label left out.

    Categories repeat each other, too, where they differ in the names of their values alone.
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
        cells = _without_names(column)
        first = seen.setdefault(_key(cells), name)
        if first != name and _same(cells, _without_names(columns[first])):
            what = "the same as" if _same(column.cells, columns[first].cells) else "other names for"
            found[name] = _copy(column, f"{what} {first!r} in every row: left out")
    return found


def _is_said(column: Column) -> bool:
    return column.why.startswith("you say so")


def _copy(column: Column, why: str) -> Column:
    what = {"number": "numeric", "whole": "numeric", "date": "date"}.get(column.kind, "categorical")
    return replace(column, kind=COPY, why=why, change=flag(what, column.name), cells=None, order="", notes=())


def _without_names(column: Column) -> pd.Series:
    """The cells of a column; of categories the places of their values in the order in which they appear."""
    assert column.cells is not None
    if column.kind not in NAMES:
        return column.cells
    return pd.Series(pd.factorize(column.cells)[0], index=column.cells.index)


def _key(values: pd.Series) -> int:
    """The same for equal columns."""
    return hash(pd.util.hash_pandas_object(values, index=False).to_numpy().tobytes())


def _same(one: pd.Series | None, other: pd.Series | None) -> bool:
    if one is None or other is None:
        return False
    return bool(((one.astype(object) == other.astype(object)) | (one.isna() & other.isna())).all())


def _same_text(one: pd.Series, labels: pd.Series) -> bool:
    return bool((one.astype(str) == labels.astype(str)).all())
