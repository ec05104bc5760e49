"""Tables that commands read: how they were taken is said in one line."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from surefoot.datasets import Dataset, Table
from surefoot.exceptions import DataError, ModelFileError, ProblemError
from surefoot.formats import listed, suggestion
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.progress import alive
from surefoot.table.again import read_like, table_form, with_truths
from surefoot.table.decimals import own_decimals
from surefoot.table.kinds_text import kinds_text
from surefoot.table.labelled import feature_table
from surefoot.table.reading import Form, Reading, read_table
from surefoot.table.recipe import Recipe
from surefoot.table.said import Said
from surefoot.table.stream import Streamed, streamed
from surefoot.table.typed import typed
from surefoot.table.writing import csv_text
from surefoot.ui.cli.main import say, show

__all__ = [
    "check_names",
    "csv_text",
    "known_table",
    "labelled_table",
    "model",
    "rows_of_table",
    "rows_with_groups",
    "streamed_rows",
    "training_table",
]


def labelled_table(options: argparse.Namespace, ordered: Mapping[str, Sequence[str]]) -> Table:
    """The table with labels that ``fit`` learns from; its notes are those that were not said yet."""
    said = Said(
        options.label,
        options.drop,
        options.categorical,
        options.numeric,
        options.date,
        options.text,
        options.day_first,
        options.month_first,
        ordered,
        missing_values(options.missing),
        options.most_values,
    )
    label = [options.label]
    form = _form(options, Form(as_written=label, as_text=said.as_text, expected=label, missing=said.missing))
    with alive("reading the table"):
        reading = read_table(options.data, form)
        found = typed(reading, said)
    _said(reading)
    return replace(found, notes=tuple(note for note in found.notes if note not in reading.notes))


def show_kinds(data: Table) -> None:
    """How each column is read, before anything is learned from it."""
    show(f"{kinds_text(data.kinds)}\n\n")
    for note in data.notes:
        say(f"surefoot: {note}")


def missing_values(entries: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """What ``--missing`` says, by column."""
    found: dict[str, list[str]] = {}
    for name, *values in entries:
        if not values:
            raise ProblemError(f"--missing {name}: needs at least one value")
        found[name] = [*found.get(name, []), *values]
    return found


def known_table(options: argparse.Namespace, clf: ConditionalGaussianNetworkClassifier) -> Dataset:
    """A table with labels whose features are those of a model."""
    known = table_form(clf)
    form = replace(known, as_written=[options.label], expected=[*known.expected, options.label])
    reading = _read_again(options.data, _form(options, form), clf)
    rows = feature_table(reading, clf.feature_labels_)
    if options.label not in reading.frame.columns:
        hint = suggestion(options.label, reading.frame.columns)
        raise DataError(f"{reading.name}: there is no label column {options.label!r}{hint}")
    labels = with_truths(reading.frame[options.label], clf.classes_.tolist())
    return Dataset(X=rows, y=labels, class_names=tuple(str(c) for c in clf.classes_), title=reading.name)


def training_table(options: argparse.Namespace, clf: ConditionalGaussianNetworkClassifier) -> Dataset:
    """The rows and labels to which a model is fitted again."""
    classes = {str(c): c for c in clf.classes_.tolist()}
    reading = _read_again(options.training, _form(options, table_form(clf)), clf)
    rows = feature_table(reading, clf.feature_labels_)
    label = _label(reading, clf, list(classes)) if options.label is None else options.label
    if label not in reading.frame.columns:
        hint = suggestion(label, reading.frame.columns)
        raise DataError(f"{reading.name}: there is no label column {label!r}{hint}")
    labels = _decisions(reading, label, list(classes))
    if set(labels.dropna()) != set(classes):
        raise DataError(f"{reading.name}: the column {label!r} does not hold the model's classes")
    known = labels.notna().to_numpy()
    return Dataset(
        X=rows[known], y=labels[known].map(classes), class_names=tuple(classes), title=reading.name
    )


def _label(reading: Reading, clf: ConditionalGaussianNetworkClassifier, classes: Sequence[str]) -> Any:
    """The label column: the one of which the model was made, or else the only one with its classes."""
    names, label = set(map(str, clf.feature_labels_)), (clf.recipe_ or Recipe({})).label
    others = [name for name in reading.frame.columns if str(name) not in names]
    fits = [n for n in others if set(_decisions(reading, n, classes).dropna()) == set(classes)]
    if label in fits:
        return label
    if len(fits) != 1:
        which = "none" if not fits else ", ".join(repr(str(name)) for name in fits)
        raise DataError(
            f"{reading.name}: which column holds the labels? {which} would do; say it with --label"
        )
    return fits[0]


def _decisions(reading: Reading, name: Any, classes: Sequence[str]) -> pd.Series:
    """A column as text, with yes and no in the words of the classes."""
    return with_truths(reading.frame[name], classes).map(lambda cell: str(cell).strip(), na_action="ignore")


def rows_of_table(options: argparse.Namespace, clf: ConditionalGaussianNetworkClassifier) -> pd.DataFrame:
    """The rows that a model is asked about, named by ``--id``."""
    reading = _read_again(options.data, _form_of_rows(options, clf), clf)
    return feature_table(reading, clf.feature_labels_, label=options.id)


def rows_with_groups(
    options: argparse.Namespace,
    clf: ConditionalGaussianNetworkClassifier,
    groups: Sequence[str],
    as_text: Sequence[str],
) -> pd.DataFrame:
    """The same rows with further columns, some of which are kept as text: '01' is another group than 1."""
    form = _form_of_rows(options, clf)
    others = [name for name in as_text if name not in form.expected]
    reading = _read_again(options.data, replace(form, as_text=[*form.as_text, *others]), clf)
    rows = feature_table(reading, clf.feature_labels_, label=options.id)
    unknown = next((name for name in groups if name not in reading.frame.columns), None)
    if unknown is not None:
        hint = (
            suggestion(unknown, reading.frame.columns) or f"; columns: {listed(list(reading.frame.columns))}"
        )
        raise DataError(f"{reading.name}: there is no column {unknown!r} (--by){hint}")
    more = [name for name in dict.fromkeys(groups) if name not in rows.columns]
    return pd.concat([rows, reading.frame[more].set_axis(rows.index, axis=0)], axis=1)


def rows_and_record(
    options: argparse.Namespace, clf: ConditionalGaussianNetworkClassifier
) -> tuple[pd.DataFrame, pd.Series | None]:
    """The same rows; and what the table that they are in records as decided, if it has the label's column."""
    form, label = _form_of_rows(options, clf), (clf.recipe_ or Recipe({})).label
    if label is None or label in form.expected or label == options.id:
        return rows_of_table(options, clf), None
    reading = _read_again(options.data, replace(form, as_written=[*form.as_written, label]), clf)
    rows = feature_table(reading, clf.feature_labels_, label=options.id)
    if label not in reading.frame.columns:
        return rows, None
    return rows, with_truths(reading.frame[label], clf.classes_.tolist())


def streamed_rows(options: argparse.Namespace, clf: ConditionalGaussianNetworkClassifier) -> Streamed:
    """The same rows, to be read in chunks."""
    found = streamed(options.data, _form_of_rows(options, clf))
    if found.said:
        say(f"surefoot: {found.said}")
    return found


def _form_of_rows(options: argparse.Namespace, clf: ConditionalGaussianNetworkClassifier) -> Form:
    return _form(options, table_form(clf, options.id))


def row_place(options: argparse.Namespace, rows: pd.DataFrame) -> int:
    """The place of the row that ``--row`` means: by its name in the column of ``--id``, or its number."""
    text, labels = options.row, [str(label) for label in rows.index]
    places = [k for k, label in enumerate(labels) if label == text] if options.id else []
    if len(places) > 1:
        raise ProblemError(f"--row {text}: {len(places)} rows of {options.data} have this {options.id}")
    if places:
        return places[0]
    # Where names are numbers, one that is not there is a mistake; else nobody can mean a name with a number.
    if options.id and (not text.isdecimal() or any(label.isdecimal() for label in labels)):
        raise ProblemError(
            f"--row {text}: no row of {options.data} has this {options.id}{suggestion(text, labels)}"
        )
    try:
        place = int(text)
    except ValueError:
        raise ProblemError(
            f"--row {text}: is not a number; --id COLUMN says which column names the rows"
        ) from None
    if not 0 <= place < len(rows):
        raise ProblemError(f"--row {place}: {options.data} has rows 0 to {len(rows) - 1}")
    return place


def model(path: str, options: argparse.Namespace) -> ConditionalGaussianNetworkClassifier:
    """Read a model; who gives the table first is told so."""
    try:
        return ConditionalGaussianNetworkClassifier.load(path, max_size=options.max_size)
    except ModelFileError as error:
        hint = " (the model comes first, then the data)" if Path(path).suffix != ".json" else ""
        raise ModelFileError(f"{error}{hint}") from None


def check_names(flag: str, names: Iterable[str], known: Sequence[Any], what: str = "feature") -> None:
    """Refuse a name that is none of the known ones."""
    texts = [str(name) for name in known]
    for name in names:
        if name not in texts:
            hint = suggestion(name, texts) or f"; the {what}s are {listed(texts)}"
            raise ProblemError(f"{flag}: unknown {what} {name!r}{hint}")


def _form(options: argparse.Namespace, known: Form) -> Form:
    """What flags say of how a table is written, with what is known of it."""
    own = own_decimals(options.decimal_comma, options.decimal_point)
    written = {name: getattr(options, name) for name in ("separator", "decimal", "header", "max_size")}
    return replace(known, **written, own_decimals=own)


def _read_again(path: str, form: Form, clf: ConditionalGaussianNetworkClassifier) -> Reading:
    """A table that is read as the one was of which the model was made."""
    return _said(read_like(read_table(path, form), clf))


def _said(reading: Reading) -> Reading:
    if reading.assumed or reading.notes:
        say(f"surefoot: {reading}")
    return reading
