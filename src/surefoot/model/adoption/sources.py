"""Sources: the columns that go into a pipeline, and how it reads each of them, as a number or a category."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from surefoot.exceptions import DataError
from surefoot.model.adoption.forms import Atom, Form

Role = Literal["number", "category"]


class Raw(NamedTuple):
    """A column as it goes into the pipeline; an imputer may replace a marker by a value."""

    feature: int
    replaced: tuple[tuple[Any, Any], ...] = ()


Column = Raw | Form


class Sources:
    """The columns of the training data, and what the steps of a pipeline took them for.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    absent : collection of int
        Positions of columns that are not there, though the pipeline was fitted with them.

    Attributes
    ----------
    roles : dict
        ``"number"`` or ``"category"`` for every column that a step or the model has read.
    orders : dict
        The values of categories whose order the user gave.
    """

    def __init__(self, frame: pd.DataFrame, absent: Collection[int] = ()) -> None:
        self.frame, self.names, self.absent = frame, tuple(frame.columns), absent
        self.roles: dict[int, Role] = {}
        self.orders: dict[int, list[Any]] = {}
        self._values: dict[int, list[Any]] = {}

    def values(self, feature: int) -> list[Any]:
        """The distinct values of a column, holes left out."""
        if feature not in self._values:
            self._values[feature] = distinct(self.frame.iloc[:, feature])
            if not self._values[feature]:
                raise DataError(f"data has no value in column {self.names[feature]!r}")
        return self._values[feature]

    def forms(self, columns: Sequence[Column]) -> list[Form]:
        """The columns as the numbers that a scaler or a model sees."""
        return [column if isinstance(column, Form) else self._number(column) for column in columns]

    def coded(self, column: Column) -> tuple[int, list[Any]]:
        """The position of a category, and what an encoder sees for each of its values."""
        if not isinstance(column, Raw):
            raise DataError("it encodes a column that an earlier step has changed")
        self._take(column.feature, "category")
        return column.feature, [_replaced(value, column) for value in self.values(column.feature)]

    def _number(self, column: Raw) -> Form:
        """Truth values and pandas' categories stay categories; each value counts as the number it is."""
        series = self.frame.iloc[:, column.feature]
        if is_category(series) or self.roles.get(column.feature) == "category":
            feature, values = self.coded(column)
            return Form(tables={feature: self._as_floats(feature, values)})
        if column.replaced:
            raise DataError(
                f"it replaces {column.replaced[0][0]!r} in column {self.names[column.feature]!r}, so the "
                "decision jumps there; mark missing numbers by NaN"
            )
        self._take(column.feature, "number")
        return Form.of_number(Atom(column.feature))

    def _as_floats(self, feature: int, values: list[Any]) -> Any:
        try:
            return np.array([float(value) for value in values])
        except (TypeError, ValueError):
            raise DataError(f"column {self.names[feature]!r} is read as a number, but holds text") from None

    def _take(self, feature: int, role: Role) -> None:
        if feature in self.absent:
            raise DataError(f"data has no column {self.names[feature]!r}")
        if self.roles.setdefault(feature, role) != role:
            name = self.names[feature]
            raise DataError(f"column {name!r} is used both as a number and as a category; use a copy of it")


def is_category(series: pd.Series) -> bool:
    """Whether the column holds truth values or is one of pandas' categories."""
    if isinstance(series.dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(series.dtype):
        return True
    return series.dtype == object and all(isinstance(value, bool | np.bool_) for value in series.dropna())


def distinct(series: pd.Series) -> list[Any]:
    """The distinct values in the order of their first row, as Python's own; holes left out."""
    return list(series.dropna().unique().tolist())


def _replaced(value: Any, column: Raw) -> Any:
    for marker, fill in column.replaced:
        value = fill if value == marker else value
    return value
