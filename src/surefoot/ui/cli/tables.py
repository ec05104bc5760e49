"""Tables that commands read: how they were taken is said in one line."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from surefoot.datasets import Dataset, table
from surefoot.exceptions import DataError, ModelFileError, ProblemError
from surefoot.formats import cell, listed, suggestion
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.table.labelled import feature_table
from surefoot.table.reading import Form, Reading, read_table
from surefoot.ui.cli.main import say


def labelled_table(
    options: argparse.Namespace, categorical: Sequence[str] = (), drop: Sequence[str] = ()
) -> Dataset:
    """The table with labels that ``fit`` learns from."""
    form = _form(options, as_written=[options.label], as_text=categorical, expected=[options.label])
    reading = _said(read_table(options.data, form))
    return table(reading, options.label, drop=drop, categorical=categorical)


def known_table(options: argparse.Namespace, clf: ConditionalGaussianNetworkClassifier) -> Dataset:
    """A table with labels whose features are those of a model."""
    names = [str(name) for name in clf.feature_labels_]
    written = [options.label]
    form = _form(options, as_written=written, as_text=_text_features(clf), expected=[*names, *written])
    reading = _said(read_table(options.data, form))
    rows = feature_table(reading, clf.feature_labels_)
    if options.label not in reading.frame.columns:
        hint = suggestion(options.label, reading.frame.columns)
        raise DataError(f"{reading.name}: there is no label column {options.label!r}{hint}")
    labels = reading.frame[options.label]
    return Dataset(X=rows, y=labels, class_names=tuple(str(c) for c in clf.classes_), title=reading.name)


def training_table(options: argparse.Namespace, clf: ConditionalGaussianNetworkClassifier) -> Dataset:
    """The rows and labels to which a model is fitted again; the label column is found by its values."""
    names, classes = [str(name) for name in clf.feature_labels_], {str(c): c for c in clf.classes_.tolist()}
    form = _form(options, as_written=[], as_text=_text_features(clf), expected=names)
    reading = _said(read_table(options.training, form))
    rows = feature_table(reading, clf.feature_labels_)
    others = [name for name in reading.frame.columns if str(name) not in names]
    fits = [n for n in others if set(reading.frame[n].dropna().astype(str).str.strip()) == set(classes)]
    if options.label is None and len(fits) != 1:
        which = "none" if not fits else ", ".join(repr(str(name)) for name in fits)
        raise DataError(
            f"{reading.name}: which column holds the labels? {which} would do; say it with --label"
        )
    label = fits[0] if options.label is None else options.label
    if label not in reading.frame.columns:
        hint = suggestion(label, reading.frame.columns)
        raise DataError(f"{reading.name}: there is no label column {label!r}{hint}")
    if set(reading.frame[label].dropna().astype(str).str.strip()) != set(classes):
        raise DataError(f"{reading.name}: the column {label!r} does not hold the model's classes")
    known = reading.frame[label].notna().to_numpy()
    labels = reading.frame.loc[known, label].astype(str).str.strip().map(classes)
    return Dataset(X=rows[known], y=labels, class_names=tuple(classes), title=reading.name)


def rows_of_table(options: argparse.Namespace, clf: ConditionalGaussianNetworkClassifier) -> pd.DataFrame:
    """The rows that a model is asked about, named by ``--id``."""
    names = [str(name) for name in clf.feature_labels_]
    written = [options.id] if options.id and options.id not in names else []  # a feature is read as one
    form = _form(options, as_written=written, as_text=_text_features(clf), expected=names)
    return feature_table(_said(read_table(options.data, form)), clf.feature_labels_, label=options.id)


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


def csv_text(frame: pd.DataFrame) -> str:
    """A table as CSV that a spreadsheet can open without running what is in it."""
    # Object columns stay what they are: pandas would turn 1 beside a hole into 1.0.
    columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
    safe = [c if is_numeric_dtype(c) else pd.Series(list(map(cell, c)), dtype=object) for c in columns]
    table = dict(enumerate(safe))
    header = [cell(str(name)) for name in frame.columns]
    return str(pd.DataFrame(table).to_csv(index=False, header=header, lineterminator="\n"))


def check_names(flag: str, names: Iterable[str], known: Sequence[Any], what: str = "feature") -> None:
    """Refuse a name that is none of the known ones."""
    texts = [str(name) for name in known]
    for name in names:
        if name not in texts:
            hint = suggestion(name, texts) or f"; the {what}s are {listed(texts)}"
            raise ProblemError(f"{flag}: unknown {what} {name!r}{hint}")


def _form(options: argparse.Namespace, **known: Any) -> Form:
    return Form(options.separator, options.decimal, options.header, max_size=options.max_size, **known)


def _said(reading: Reading) -> Reading:
    if reading.assumed or reading.notes:
        say(f"surefoot: {reading}")
    return reading


def _text_features(clf: ConditionalGaussianNetworkClassifier) -> list[str]:
    """Categories with text among their values: '01' is not 1."""
    return [
        str(name)
        for name, values in clf.categories_.items()
        if any(isinstance(value, str) for value in values)
    ]
