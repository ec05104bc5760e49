"""Schema: which features of a table are numbers, which are categories, and how both become arrays."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.days import as_date, as_days
from surefoot.exceptions import DataError, SurefootWarning
from surefoot.formats import suggestion
from surefoot.model.columns import (
    Lookup,
    category_values,
    days_column,
    holds_category,
    holds_dates,
    holds_whole,
    is_missing,
    plain_value,
    read_codes,
    read_days,
    read_numbers,
)
from surefoot.model.dag import feature_index

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
State = tuple[int, ...]


@dataclass(frozen=True)
class Schema:
    """The features in the table's order, each a number or a category.

    Parameters
    ----------
    names : tuple
        Names of the features, or their positions.
    values : tuple
        For each feature None if it is a number, else the tuple of the category's values.
    ordered : tuple of bool, optional
        Whether a category's values have an order, so that it can rise and fall. Default: none has.
    whole : tuple of bool, optional
        Whether a number was whole in every training row. Default: none was.
    dates : tuple of bool, optional
        Whether a number counts days since 1970-01-01 and is shown as a date. Default: none does.

    Examples
    --------
    >>> columns = {"age": [31, 45, 28], "housing": ["rent", "own", "rent"], "income": [2.5, 4.0, 1.9]}
    >>> frame = pd.DataFrame(columns)
    >>> schema = Schema.learned(frame)
    >>> schema.kinds
    {'age': 'whole', 'housing': 'category', 'income': 'number'}
    >>> numbers, codes = schema.encode(frame)
    >>> codes.ravel()
    array([1, 0, 1])
    >>> schema.encode_row([31, "owns", 2.5])
    Traceback (most recent call last):
        ...
    surefoot.exceptions.DataError: housing has no value 'owns'; its values are own, rent; did you mean 'own'?
    """

    names: tuple[Any, ...]
    values: tuple[tuple[Any, ...] | None, ...]
    ordered: tuple[bool, ...] = ()
    whole: tuple[bool, ...] = ()
    dates: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.names)
        for name in ("ordered", "whole", "dates"):
            object.__setattr__(self, name, tuple(getattr(self, name)) or (False,) * n)
        if not len(self.values) == len(self.ordered) == len(self.whole) == len(self.dates) == n:
            raise DataError(f"a schema of {n} features needs {n} entries of each kind")
        for name, values, ordered, whole in zip(
            self.names, self.values, self.ordered, self.whole, strict=True
        ):
            if (values is None and ordered) or (values is not None and whole):
                raise DataError(
                    f"{name} is {'ordered' if ordered else 'whole'}, but that is for the other kind"
                )
            if values is not None:
                Lookup(name, values)  # refuses none at all and values that look alike
        odd = [j for j, date in enumerate(self.dates) if date and not self.whole[j]]
        if odd:
            raise DataError(f"{self.names[odd[0]]} is a date, but not a whole number of days")

    @classmethod
    def of_numbers(cls, names: Sequence[Any], whole: Sequence[bool] = ()) -> Schema:
        """A table of numbers alone."""
        return cls(tuple(names), (None,) * len(names), (), tuple(whole))

    @classmethod
    def learned(
        cls,
        X: Any,
        categorical: Any = "auto",
        ordered: Mapping[Any, Sequence[Any]] | None = None,
        names: Sequence[Any] | None = None,
    ) -> Schema:
        """What each column of a table holds.

        Parameters
        ----------
        X : DataFrame or array of shape (rows, n_features)
        categorical : "auto" or list of features
            ``"auto"``: text, booleans and pandas categories (arrays of booleans stay numbers). A list: these
            features, by name or position, and text, which cannot be a number.
        ordered : dict, optional
            Categories that can rise and fall, with their values in order.
        names : sequence, optional
            What to call the features. Default: the frame's columns, or positions.
        """
        frame = as_frame(X)
        labels = tuple(list(frame.columns) if names is None else names)
        orders = _declared_orders(ordered, labels)
        chosen = _chosen(frame, X, categorical, labels) | orders.keys()
        values, ranked, whole, dates = [], [], [], []
        for j, name in enumerate(labels):
            column = frame.iloc[:, j]
            found = category_values(column, name, orders.get(j)) if j in chosen else None
            values.append(found)
            ranked.append(j in chosen and (j in orders or _is_ranked(column)))
            dates.append(j not in chosen and holds_dates(column))
            whole.append(j not in chosen and (dates[-1] or holds_whole(column)))
        return cls(labels, tuple(values), tuple(ranked), tuple(whole), tuple(dates))

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the numbers."""
        return tuple(j for j, values in enumerate(self.values) if values is None)

    @cached_property
    def categories(self) -> tuple[int, ...]:
        """Positions of the categories."""
        return tuple(j for j, values in enumerate(self.values) if values is not None)

    @property
    def n_numbers(self) -> int:
        """How many features are numbers."""
        return len(self.numbers)

    @property
    def n_categories(self) -> int:
        """How many features are categories."""
        return len(self.categories)

    @property
    def kinds(self) -> dict[Any, str]:
        """Each feature's kind: ``"number"``, ``"whole"``, ``"date"`` or ``"category"``."""
        columns = zip(self.names, self.values, self.whole, self.dates, strict=True)
        return {n: "category" if v is not None else _number_kind(w, d) for n, v, w, d in columns}

    @property
    def is_plain(self) -> bool:
        """Whether every feature is a number that an array can hold as it is: no category, no date."""
        return not (self.categories or any(self.dates))

    @property
    def date_names(self) -> tuple[Any, ...]:
        """Names of the features that are dates."""
        return tuple(name for name, date in zip(self.names, self.dates, strict=True) if date)

    @cached_property
    def category_values(self) -> tuple[tuple[Any, ...], ...]:
        """The values of each category."""
        return tuple(values for values in self.values if values is not None)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each category has."""
        return tuple(len(values) for values in self.category_values)

    @cached_property
    def _lookups(self) -> tuple[Lookup, ...]:
        return tuple(Lookup(self.names[j], self.values[j] or ()) for j in self.categories)

    def encode(self, X: Any) -> tuple[Array, Codes]:
        """Numbers and codes of every row: NaN and -1 where a value is missing.

        A value of a category that is not known counts as missing, with one warning for the whole table.
        """
        frame = as_frame(X)
        numbers = np.empty((self.n_numbers, len(frame))).T  # columns in one piece each: they are read so
        codes = np.empty((len(frame), self.n_categories), dtype=np.intp)
        for i, j in enumerate(self.numbers):
            read = read_days if self.dates[j] else read_numbers
            numbers[:, i] = read(frame.iloc[:, j], self.names[j])
        strange = []
        for k, j in enumerate(self.categories):
            codes[:, k], unknown = read_codes(frame.iloc[:, j], self._lookups[k])
            strange += [(self.names[j], value) for value in unknown[:1]]
        if strange:
            shown = ", ".join(f"{name!r} holds {value!r}" for name, value in strange[:3])
            message = f"unknown values count as missing: column {shown}, which fit never saw"
            warnings.warn(message, SurefootWarning, stacklevel=3)
        return numbers, codes

    def encode_row(self, row: Any, *, holes: bool = False) -> tuple[Array, State]:
        """Numbers and state of one row, given in the features' order or by name.

        Parameters
        ----------
        row : sequence, Series or dict by feature name
        holes : bool, default=False
            Whether values may be missing; they become NaN and -1.

        Raises
        ------
        DataError
            For a value that is missing, unknown or no finite number; the message names the feature.
        """
        cells = self._cells(row)
        for j, cell in enumerate(cells):
            if not holes and is_missing(cell):
                raise DataError(f"{self.names[j]} is missing")
        numbers = [self._number(j, cells[j]) for j in self.numbers]
        pairs = [(k, cells[j]) for k, j in enumerate(self.categories)]
        state = tuple(-1 if is_missing(cell) else self.code(k, cell) for k, cell in pairs)
        return np.array(numbers, dtype=float), state

    def code(self, category: int, value: Any) -> int:
        """Position of a value among those of a category, or an error that lists them."""
        code = self._lookups[category].code(value)
        if code < 0:
            raise DataError(self._unknown(category, value))
        return code

    def state(self, given: Any) -> State:
        """The state that a dict by name of the categories, or a whole row, stands for."""
        if isinstance(given, Mapping):
            strange = [name for name in given if name not in self.names]
            if strange:
                raise DataError(f"there is no feature {strange[0]!r}")
            wanted = [self.names[j] for j in self.categories if self.names[j] not in given]
            if wanted:
                raise DataError(f"the value of category {wanted[0]!r} is needed")
            return tuple(self.code(k, given[self.names[j]]) for k, j in enumerate(self.categories))
        cells = self._cells(given)
        return tuple(self.code(k, cells[j]) for k, j in enumerate(self.categories))

    def decode(self, numbers: Array, codes: Codes) -> pd.DataFrame:
        """A table in the features' order, categories by name; NaN and None where a value is missing."""
        columns: dict[int, Any] = {}
        for i, j in enumerate(self.numbers):
            values = np.asarray(numbers, dtype=float)[:, i]
            columns[j] = days_column(values) if self.dates[j] else values
        for k, j in enumerate(self.categories):
            columns[j] = _named(np.asarray(codes)[:, k], self.category_values[k])
        frame = pd.DataFrame({j: columns[j] for j in range(len(self.names))})
        return frame.set_axis(list(self.names), axis=1)

    def row(self, numbers: Sequence[float] | Array, state: Sequence[int]) -> list[Any]:
        """One row as Python values in the features' order."""
        row: list[Any] = [None] * len(self.names)
        for i, j in enumerate(self.numbers):
            row[j] = as_date(float(numbers[i])) if self.dates[j] else float(numbers[i])
        for k, j in enumerate(self.categories):
            row[j] = self.category_values[k][state[k]] if state[k] >= 0 else None
        return row

    def _cells(self, row: Any) -> list[Any]:
        """The row's values in the features' order."""
        if isinstance(row, pd.Series) and set(row.index) == set(self.names):
            return [row[name] for name in self.names]
        if isinstance(row, Mapping):
            missing = [name for name in self.names if name not in row]
            if missing:
                raise DataError(f"the row has no {missing[0]!r}")
            return [row[name] for name in self.names]
        cells = list(row)
        if len(cells) != len(self.names):
            raise DataError(f"the row has {len(cells)} values, but there are {len(self.names)} features")
        return cells

    def _number(self, j: int, cell: Any) -> float:
        if is_missing(cell):
            return float("nan")
        try:
            number = float(as_days(cell) if self.dates[j] else cell)
        except (TypeError, ValueError):
            what = "a date such as 2024-03-01" if self.dates[j] else "a number"
            raise DataError(f"{self.names[j]} must be {what}, not {plain_value(cell)!r}") from None
        except OverflowError:
            raise DataError(f"{self.names[j]} must be a number that a double holds") from None
        if not np.isfinite(number):
            raise DataError(f"{self.names[j]} must be a finite number, not {number!r}")
        return number

    def _unknown(self, category: int, value: Any) -> str:
        name, values = self.names[self.categories[category]], self.category_values[category]
        texts = [str(v) for v in values]
        shown = ", ".join(texts[:12]) + (", ..." if len(texts) > 12 else "")
        if is_missing(value):
            return f"{name} is missing; its values are {shown}"
        hint = suggestion(str(value), values)
        return f"{name} has no value {plain_value(value)!r}; its values are {shown}{hint}"


def as_frame(X: Any) -> pd.DataFrame:
    """A table as a frame; columns of what has no names are called by their position."""
    return X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)


def _chosen(frame: pd.DataFrame, X: Any, categorical: Any, names: tuple[Any, ...]) -> set[int]:
    """Positions of the columns that are categories."""
    if isinstance(categorical, str) and categorical != "auto":
        raise DataError(f"categorical must be 'auto' or a list of features, not {categorical!r}")
    # A plain array of booleans is an array of numbers, as everywhere in scikit-learn.
    plain = isinstance(X, np.ndarray) and X.dtype.kind in "biuf"
    by_themselves = set() if plain else {j for j in range(len(names)) if holds_category(frame.iloc[:, j])}
    if isinstance(categorical, str):
        return by_themselves
    try:
        named = {feature_index(feature, names) for feature in categorical}
    except TypeError:
        raise DataError(f"categorical must be 'auto' or a list of features, not {categorical!r}") from None
    except ValueError as error:
        raise DataError(f"categorical: {error}") from None
    return named | {j for j in by_themselves if not pd.api.types.is_bool_dtype(frame.dtypes.iloc[j])}


def _declared_orders(
    ordered: Mapping[Any, Sequence[Any]] | None, names: tuple[Any, ...]
) -> dict[int, tuple[Any, ...]]:
    if ordered is None:
        return {}
    if not isinstance(ordered, Mapping):
        raise DataError("ordered must be a dict from features to lists of their values, lowest first")
    found = {}
    for feature, values in ordered.items():
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
            raise DataError(f"ordered: the values of {feature!r} must be a list, lowest first")
        try:
            found[feature_index(feature, names)] = tuple(plain_value(value) for value in values)
        except ValueError as error:
            raise DataError(f"ordered: {error}") from None
    return found


def _number_kind(whole: bool, date: bool) -> str:
    return "date" if date else "whole" if whole else "number"


def _is_ranked(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype) and bool(column.dtype.ordered)


def _named(codes: Codes, values: tuple[Any, ...]) -> Any:
    """Codes as the values they stand for: booleans and numbers as such where none is missing."""
    array = np.empty(len(values) + 1, dtype=object)
    array[: len(values)] = values  # the last entry, None, is what -1 points at
    found = array[codes]
    if (np.asarray(codes) >= 0).all() and {type(v) for v in values} <= {bool, int, float}:
        return found.astype(np.array(values).dtype)
    return found
