"""``surefoot fit``, ``predict`` and ``diagnose``."""

from __future__ import annotations

import argparse
import itertools
import sys
from numbers import Real
from typing import Any

import pandas as pd

from surefoot.datasets import Dataset
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.constraints.actions import Actions
from surefoot.files import write_parts
from surefoot.formats import first_names, in_list
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.diagnosis import Diagnosis, diagnose
from surefoot.model.selection import select
from surefoot.table.labelled import feature_table, two_valued_numbers
from surefoot.table.reading import Reading
from surefoot.table.suspicions import data_warnings
from surefoot.ui.cli.main import say, show
from surefoot.ui.cli.spoken import spoken
from surefoot.ui.cli.tables import (
    check_names,
    csv_text,
    known_table,
    labelled_table,
    model,
    streamed_rows,
)

DONE = 0
SHOWN_NAMES = 6
# Rows that are classified at a time. Ten times larger, and they take hundreds of megabytes.
CHUNK = 10_000
MANY_CLASSES = 20  # of numbers: more are hardly names of classes


def run_fit(options: argparse.Namespace) -> int:
    """``surefoot fit``."""
    data = labelled_table(options, [*options.categorical, *_orders(options)], options.drop)
    _warn_of_numbers(data, options.label)
    about_data = {"categorical": _categories(data.X, options), "ordered": _orders(options) or None}
    settings = _settings(options)
    try:
        if set(settings) <= {"marginals"}:
            clf = _selected(data, options.folds, {**settings, **about_data})
        else:
            clf = _fitted(data, settings, about_data)
        clf.save(options.output)
        show(clf.summary() + "\n")
        if options.folds:
            show(spoken(f"\n{_diagnosis(clf, data, options.folds)}\n"))
            clf.save(options.output)  # with what the diagnosis found
        else:
            _warn(data, options.label)
    except DataError as error:
        raise DataError(f"{options.data}: {error}") from None
    say(f"surefoot: wrote {options.output}")
    _say_next(clf, options.output)
    return DONE


def _say_next(clf: ConditionalGaussianNetworkClassifier, path: str) -> None:
    """The next step: what may change."""
    kept = [in_list(str(name)) for name in Actions.proposed(clf).features]
    stays = f" ({first_names(kept, SHOWN_NAMES)} will stay unless you say otherwise)" if kept else ""
    say(f"surefoot: next, say what may change{stays}: surefoot actions {path} --output actions.toml")


def run_predict(options: argparse.Namespace) -> int:
    """``surefoot predict``: chunk by chunk, in as much memory as one takes."""
    clf = model(options.model, options)
    table = streamed_rows(options, clf)
    texts = (
        csv_text(_predicted(clf, chunk.reading, options), header=chunk.start == 0)
        for chunk in table.chunks(CHUNK)
    )
    first = next(texts, None)
    if first is None:
        raise DataError(f"{table.name}: there are no rows")
    if not options.output or options.output == "-":
        sys.stdout.writelines(itertools.chain([first], texts))
    else:
        write_parts(options.output, (text.encode("utf-8") for text in itertools.chain([first], texts)))
        say(f"surefoot: wrote {options.output}")
    return DONE


def _predicted(
    clf: ConditionalGaussianNetworkClassifier, reading: Reading, options: argparse.Namespace
) -> pd.DataFrame:
    rows = feature_table(reading, clf.feature_labels_, label=options.id)
    frame = pd.DataFrame({"row": rows.index, "predicted": clf.predict(rows)})
    if options.proba:
        shares = clf.predict_proba(rows)
        for position, label in enumerate(clf.classes_.tolist()):
            frame[f"probability: {label}"] = shares[:, position]
    return frame


def run_diagnose(options: argparse.Namespace) -> int:
    """``surefoot diagnose``."""
    clf = model(options.model, options)
    data = known_table(options, clf)
    report = _diagnosis(clf, data, options.folds)
    show(spoken(f"{report}\n"))
    if options.html:
        from surefoot.ui.report.diagnosis_page import write_diagnosis

        write_diagnosis(report, options.html, clf, title=f"How good is {options.model}?")
        say(f"surefoot: wrote {options.html}")
    return DONE


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """What the user says about the model; empty: it is to be chosen."""
    given = {
        "structure": options.structure,
        "max_parents": options.max_parents,
        "root": options.root,
        "required_edges": options.require,
        "forbidden_edges": options.forbid,
        "marginals": options.marginals,
        "shrinkage": _shrinkage(options.shrinkage),
        "cell_smoothing": options.cell_smoothing,
    }
    found = {name: value for name, value in given.items() if value is not None}
    if options.calibration:
        found["calibration"] = None if options.calibration == "none" else options.calibration
    return found


def _shrinkage(text: str | None) -> float | str | None:
    try:
        return text if text in (None, "auto") else float(str(text))
    except ValueError:
        raise ProblemError(f"--shrinkage {text}: must be a number from 0 to 1, or auto") from None


def _orders(options: argparse.Namespace) -> dict[str, list[str]]:
    for name, *values in options.ordered:
        if len(values) < 2:
            raise ProblemError(f"--ordered {name}: needs at least two values, lowest first")
    return {name: values for name, *values in options.ordered}


def _categories(X: pd.DataFrame, options: argparse.Namespace) -> Any:
    """Columns that are categories: named ones, text, truth values, and numbers with two values."""
    for flag in ("categorical", "numeric"):
        check_names(f"--{flag}", getattr(options, flag), list(X.columns), "column")
    numbers = set(X.select_dtypes("number").columns)
    text = next((name for name in options.numeric if name not in numbers), None)
    if text is not None:
        raise ProblemError(f"--numeric {text}: the column holds text, which makes it a category")
    two = [name for name in two_valued_numbers(X) if name not in (*options.numeric, *options.categorical)]
    found = [n for n in X.columns if n not in numbers or n in two or n in options.categorical]
    if found:
        taken = f", two-valued numbers ({', '.join(map(in_list, two))}) among them" if two else ""
        what = "column holds categories" if len(found) == 1 else "columns hold categories"
        more = f" and {len(found) - SHOWN_NAMES} more" if len(found) > SHOWN_NAMES else ""
        say(f"surefoot: {len(found)} {what}: {', '.join(map(in_list, found[:SHOWN_NAMES]))}{more}{taken}")
    return found or "auto"


def _fitted(
    data: Dataset, settings: dict[str, Any], about_data: dict[str, Any]
) -> ConditionalGaussianNetworkClassifier:
    return ConditionalGaussianNetworkClassifier(**settings, **about_data).fit(data.X, data.y)


def _selected(data: Dataset, folds: int, given: dict[str, Any]) -> ConditionalGaussianNetworkClassifier:
    if folds < 2:
        raise ProblemError("--folds must be at least 2 for a model to be chosen; or say --structure")
    chosen = select(data.X, data.y, cv=folds, random_state=0, **given)
    show(f"{chosen}\n\n")
    return chosen.classifier


def _diagnosis(clf: ConditionalGaussianNetworkClassifier, data: Dataset, folds: int) -> Diagnosis:
    try:
        return diagnose(clf, data.X, data.y, cv=folds)
    except ValueError as error:
        raise DataError(f"--folds {folds}: {error}") from None


def _warn_of_numbers(data: Dataset, label: str) -> None:
    """Say beforehand that a label looks like a number: what goes wrong with it later does not tell so."""
    values = data.y.unique()
    if len(values) > MANY_CLASSES and all(isinstance(value, Real) for value in values):
        say(
            f"surefoot: warning: {label!r} has {len(values)} classes; is this a number? Each value is "
            "taken as a class of its own. Choose another --label, or put its values together first"
        )


def _warn(data: Dataset, label: str) -> None:
    """What is suspicious about the data, where no diagnosis says it."""
    for warning in data_warnings(data.X, data.y, label):
        say(f"surefoot: warning: {warning}")
