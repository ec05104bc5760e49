"""read_table: a table with the kind of each column, decided with reasons."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from surefoot.defaults import MOST_VALUES
from surefoot.exceptions import DataError
from surefoot.formats import listed, suggestion
from surefoot.table.cells import NESTED, holds_nested
from surefoot.table.copies import without_copies
from surefoot.table.decimals import own_decimals
from surefoot.table.kinds import (
    CATEGORY,
    LEFT_OUT,
    NUMBER,
    WHOLE,
    Column,
    are_names,
    decided,
    truth_words,
    with_few_values,
)
from surefoot.table.kinds_text import kinds_text
from surefoot.table.labelled import joined, number_faults, row_of_text
from surefoot.table.quantities import is_quantity
from surefoot.table.reading import Form, Reading, duplicate_names, framed
from surefoot.table.reading import read_table as read_file
from surefoot.table.recipe import Recipe
from surefoot.table.said import Said
from surefoot.table.suspected import suspected_days, suspected_holes, suspected_total
from surefoot.table.text_column import AMONG_NUMBERS


@dataclass(frozen=True, eq=False)
class Table:
    """A table and how each of its columns was read.

    Parameters
    ----------
    frame : DataFrame
        The columns that a model can use, and the label: numbers as floats, dates as datetimes, categories as
        text, truth values or pandas categories. What is left out is not in it.
    kinds : DataFrame
        One row for each column, by its name: ``column``, ``kind``, ``why``, and ``change``, the flag that
        would have it otherwise.
    notes : tuple of str
        What was assumed, removed or looks suspicious.
    recipe : Recipe
        How to read the next table in the same way.
    label : str or None
    name : str
        What the table is called in messages.
    """

    frame: pd.DataFrame
    kinds: pd.DataFrame
    notes: tuple[str, ...]
    recipe: Recipe
    label: str | None = None
    name: str = ""

    @property
    def X(self) -> pd.DataFrame:  # noqa: N802
        """The features."""
        return self.frame if self.label is None else self.frame.drop(columns=[self.label])

    @property
    def y(self) -> pd.Series:
        """The labels."""
        if self.label is None:
            raise DataError("the table was read without a label; say label=")
        return self.frame[self.label]

    @property
    def left_out(self) -> list[str]:
        """Columns that are not in the frame."""
        return self.kinds.index[self.kinds["kind"].isin(LEFT_OUT)].tolist()

    def __str__(self) -> str:
        return "\n".join([kinds_text(self.kinds), *self.notes])

    def _repr_html_(self) -> str:
        return str(self.kinds.to_html())


def read_table(
    source: str | os.PathLike[str] | pd.DataFrame | Reading,
    label: str | None = None,
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    date: Sequence[str] = (),
    text: Sequence[str] = (),
    ordered: Mapping[str, Sequence[Any]] | None = None,
    missing: Mapping[str, Sequence[Any]] | None = None,
    day_first: Sequence[str] = (),
    month_first: Sequence[str] = (),
    most_values: int = MOST_VALUES,
    separator: str | None = None,
    decimal: str | None = None,
    decimal_comma: Sequence[str] = (),
    decimal_point: Sequence[str] = (),
    header: bool | None = None,
    max_size: int | None = None,
) -> Table:
    """Read a table and decide what each column is: a number, a category, a date, or nothing for a model.

    Dates are read as days; free text, identifiers, constants and copies of other columns are left out; of
    categories with very many values the rare ones are put together. Units, currency signs, decimal commas
    and groups of digits are read, and whatever is assumed is said.

    Parameters
    ----------
    source : path or DataFrame
        CSV in its many forms, Parquet, Excel, ``"-"`` for standard input; or a frame.
    label : str, optional
        The column that holds the classes: it is kept as it is.
    drop : sequence of str
        Columns to leave out.
    categorical, numeric, date, text : sequences of str
        What columns are, where they should not be taken for what they look like.
    ordered : dict, optional
        Categories that can rise and fall, with their values, lowest first.
    missing : dict, optional
        Column -> values that mean that there is none, such as ``{"income": [999]}``.
    day_first, month_first : sequences of str
        Dates in one of these orders.
    most_values : int, default=50
        No category has more values: the rare ones of a larger one are put together.
    decimal_comma, decimal_point : sequences of str
        Columns whose decimals have this sign, whatever others have.
    separator, decimal, header, max_size
        As in `table`.

    Examples
    --------
    >>> rows = {"applied": ["27.03.2021", "02.04.2021"] * 20, "income": ["1.200,50 €", "900,00 €"] * 20}
    >>> found = read_table(pd.DataFrame(rows), missing={"income": ["900,00 €"]})
    >>> found.kinds["kind"].to_dict()
    {'applied': 'date', 'income': 'constant'}
    >>> read_table(pd.DataFrame(rows)).frame["income"].tolist()[:2]
    [1200.5, 900.0]
    """
    said = Said(
        label,
        _listed(drop),
        _listed(categorical),
        _listed(numeric),
        _listed(date),
        _listed(text),
        _listed(day_first),
        _listed(month_first),
        dict(ordered or {}),
        {name: _listed(values) for name, values in (missing or {}).items()},
        most_values,
    )
    written = [] if label is None else [label]
    own = own_decimals(_listed(decimal_comma), _listed(decimal_point))
    form = Form(
        separator, decimal, header, written, said.as_text, written, max_size, said.missing, own_decimals=own
    )
    return typed(opened(source, form), said)


def opened(source: Any, form: Form) -> Reading:
    """A file or a frame, read as far as that goes without kinds."""
    if isinstance(source, Reading):
        return source
    if not isinstance(source, pd.DataFrame):
        return read_file(source, form)
    twice = duplicate_names(list(source.columns))
    if twice:
        raise DataError(f"column name {twice[0]!r} occurs more than once")
    return framed(source, form)


def typed(reading: Reading, said: Said) -> Table:
    """The table with its kinds; every fault is named by column and row."""
    where = f"{reading.name}: " if reading.name else ""
    try:
        return _typed(reading, said)
    except DataError as error:
        raise DataError(f"{where}{error}") from None


def _typed(reading: Reading, said: Said) -> Table:
    frame = _plain_days(reading.frame.drop(columns=list(said.drop), errors="ignore"))
    spelling: tuple[str, ...] = ()
    if said.label in frame.columns:
        frame[said.label], spelling = truth_words(frame[said.label])
    said.check(list(reading.frame.columns))
    _refuse_label(reading.frame, said.label)
    if not len(frame):
        raise DataError("there are no rows")
    features = [name for name in frame.columns if name != said.label]
    if not features:
        raise DataError("there are no columns to learn from" + _beside(said.label))
    _refuse_faults(frame[features], said)
    columns = {
        name: _described(decided(name, frame[name], said, reading.day_first), reading) for name in features
    }
    labels = None if said.label is None else frame[said.label]
    columns = without_copies(columns, labels)
    columns = {name: with_few_values(column, said.most_values, labels) for name, column in columns.items()}
    kept = {name: column.cells for name, column in columns.items() if column.cells is not None}
    if features and not kept and said.label is not None:
        left_out = f"{', '.join(map(repr, features))} {'is' if len(features) == 1 else 'are'} left out"
        raise DataError(f"no column is left to learn from: {left_out}")
    if said.label is not None:
        kept[said.label] = frame[said.label]
        columns[said.label] = _label_column(said.label, frame[said.label])
    order = [name for name in frame.columns if name in kept]
    table = pd.DataFrame({name: kept[name] for name in order}, columns=pd.Index(order))
    notes = [*reading.notes, *spelling, *(note for c in columns.values() for note in c.notes)]
    kept_features = table[[name for name in order if name != said.label]]
    notes += [
        *suspected_holes(kept_features),
        *suspected_days(kept_features),
        *suspected_total(kept_features),
    ]
    kinds = _kinds([columns[name] for name in frame.columns])
    return Table(table, kinds, tuple(notes), Recipe.of(columns, said.label), said.label, reading.name)


def _beside(label: str | None) -> str:
    return "" if label is None else f" beside the label {label!r}"


def _label_column(name: str, labels: pd.Series) -> Column:
    count = labels.nunique()
    return Column(name, CATEGORY, f"the label: {count} class{'es' * (count != 1)}")


def _kinds(columns: Sequence[Column]) -> pd.DataFrame:
    rows = [(column.name, column.kind, column.why, column.change) for column in columns]
    index = pd.Index([column.name for column in columns])
    return pd.DataFrame(rows, index=index, columns=["column", "kind", "why", "change"])


def _described(column: Column, reading: Reading) -> Column:
    """The column with what was read around its numbers: their unit, and marks of holes."""
    unit, marks = reading.units.get(column.name, ""), reading.marks.get(column.name, ())
    if column.kind in (NUMBER, WHOLE):
        why = f"{column.why}, in {unit}" if unit else column.why
        decimal = reading.decimals.get(column.name, "")
        column = replace(column, why=why, unit=unit or column.unit, decimal=decimal)
    beyond = reading.beyond.get(column.name, "")
    column = replace(column, why=f"{column.why}; {beyond}") if beyond else column
    notes = [f"{column.name!r}: {said}" for said in (beyond, reading.doubts.get(column.name)) if said]
    notes += [f"{column.name!r}: {', '.join(map(repr, marks))} is taken as missing"] if marks else []
    dashes = [mark for mark in column.missing if mark not in marks and mark in AMONG_NUMBERS]
    notes += [f"{column.name!r}: {', '.join(map(repr, dashes))} is taken as missing"] if dashes else []
    return replace(
        column, notes=(*column.notes, *notes), missing=tuple(dict.fromkeys((*column.missing, *marks)))
    )


def _plain_days(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with columns of Python's dates as columns of datetimes."""
    found = frame.copy(deep=False)
    for name in [name for name in frame.columns if frame[name].dtype.kind == "O"]:
        if pd.api.types.infer_dtype(frame[name], skipna=True) in ("date", "datetime"):
            texts = frame[name].map(_iso, na_action="ignore")
            found[name] = pd.to_datetime(texts, format="ISO8601", errors="coerce")
    return found


def _iso(value: Any) -> Any:
    return value.replace(tzinfo=None).isoformat() if isinstance(value, dt.datetime) else value.isoformat()


def _refuse_label(frame: pd.DataFrame, label: str | None) -> None:
    if label is not None and label not in frame.columns:
        hint = " (another separator?)" if frame.shape[1] == 1 else suggestion(label, frame.columns)
        raise DataError(
            f"there is no label column {label!r}; the columns are {listed(list(frame.columns))}{hint}"
        )


def _refuse_faults(features: pd.DataFrame, said: Said) -> None:
    """Refuse lists and the like, numbers with text among them, and infinite ones, by row."""
    nested = next((name for name in features.columns if holds_nested(features[name])), None)
    if nested is not None:
        cell = next(cell for cell in features[nested] if isinstance(cell, NESTED))
        what = f"a {type(cell).__name__} in a cell, {repr(cell)[:40]}"
        raise DataError(
            f"column {nested!r} holds {what}; make columns of it, or leave it out (--drop, drop=)"
        )
    taken = {*said.as_text, *said.dates, *said.text}
    looked = [
        name
        for name in features.columns
        if name not in taken and not _is_time(features[name]) and not are_names(features[name])
    ]
    wrong = [name for name in looked if number_faults(features[[name]])]
    if wrong:
        found = number_faults(features[wrong].apply(_without_numbers)) or number_faults(features[wrong])
        raise DataError(row_of_text(features[wrong]) or joined(found))


def _without_numbers(column: pd.Series) -> pd.Series:
    """A column of text without what would be a number if no other cell were something else, such as 3 kg."""
    if column.dtype.kind != "O":
        return column
    numbers = [value for value in column.dropna().unique() if isinstance(value, str) and is_quantity(value)]
    return column.mask(column.isin(numbers), 0) if 2 * len(numbers) > column.nunique() else column


def _is_time(column: pd.Series) -> bool:
    return column.dtype.kind in "mM" or pd.api.types.is_datetime64_any_dtype(column)


def _listed(names: Any) -> list[Any]:
    return [names] if isinstance(names, str) else list(names)
