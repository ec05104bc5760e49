"""``surefoot fit``, ``predict`` and ``diagnose``."""

from __future__ import annotations

import argparse
import itertools
import shlex
import sys
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from surefoot.datasets import Dataset, Table
from surefoot.defaults import EDGE_PENALTY
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.constraints.actions import Actions
from surefoot.files import write_parts
from surefoot.formats import first_names, in_list, listed, suggestion
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.dag import feature_index
from surefoot.model.diagnosis import Diagnosis, diagnose
from surefoot.model.fitting import check_settings
from surefoot.model.refits import Kept, keep_refits, time_for_refits
from surefoot.model.selection import select
from surefoot.model.structure.knowledge import Knowledge
from surefoot.table.again import chunk_reader
from surefoot.table.kinds import NAMES, ORDERED, WHOLE, few_whole_values
from surefoot.table.label import label_cautions
from surefoot.table.labelled import feature_table, missing_label_faults, plain_labels
from surefoot.table.reading import Reading
from surefoot.table.suspicions import data_warnings
from surefoot.ui.cli.main import DONE, say, show, show_sentences
from surefoot.ui.cli.spoken import spoken
from surefoot.ui.cli.tables import (
    check_names,
    csv_text,
    known_table,
    labelled_table,
    model,
    show_kinds,
    streamed_rows,
)

SHOWN_NAMES = 6
# Rows that are classified at a time. Ten times larger, and they take hundreds of megabytes.
CHUNK = 10_000


def run_fit(options: argparse.Namespace) -> int:
    """``surefoot fit``."""
    data = labelled_table(options, _orders(options))
    wanted = _checked_label(data, options)
    about_data = {
        "categorical": _categories(data),
        "ordered": _all_orders(data, options) or None,
        "plain": _plain(data.X, options) or None,
    }
    settings = _settings(options)
    _check_settings(settings, list(data.X.columns), options.folds)
    show_kinds(data)
    try:
        if set(settings) <= {"marginals"}:
            tried = {"undecided": _undecided(data)}
            clf, kept = _selected(data, options, {**settings, **about_data, **tried})
        else:
            clf, kept = _fitted(data, options, {**settings, **about_data})
        clf.wanted_, clf.recipe_ = wanted, data.recipe.chosen(clf.feature_kinds_)
        clf.save(options.output)
        show_sentences(f"{clf.summary()}\n{kept}\n")
        if options.folds:
            show_sentences(spoken(f"\n{_diagnosis(clf, data, options.folds)}\n"))
            clf.save(options.output)  # with what the diagnosis found
        else:
            _warn(data, options.label)
    except DataError as error:
        raise DataError(f"{options.data}: {error}") from None
    say(f"surefoot: wrote {options.output}")
    _say_next(clf, options)
    return DONE


def _say_next(clf: ConditionalGaussianNetworkClassifier, options: argparse.Namespace) -> None:
    """The next step: what may change; where that is said already, an answer."""
    path = options.output
    if options.actions:
        data, actions = shlex.quote(options.data), shlex.quote(options.actions)
        say("surefoot: next, explain a row:")
        say(f"surefoot explain {shlex.quote(path)} {data} --row 0 --actions {actions}")
        return
    kept = [in_list(str(name)) for name in Actions.proposed(clf).features]
    stays = f" ({first_names(kept, SHOWN_NAMES)} will stay unless you say otherwise)" if kept else ""
    say(f"surefoot: next, say what may change{stays}, in the file that this command writes:")
    say(f"surefoot actions {shlex.quote(path)} --output actions.toml")


def run_predict(options: argparse.Namespace) -> int:
    """``surefoot predict``: chunk by chunk, in as much memory as one takes."""
    clf = model(options.model, options)
    table = streamed_rows(options, clf)
    read = chunk_reader(table, clf)
    texts = (
        csv_text(_predicted(clf, read(chunk.reading), options), header=chunk.start == 0)
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
    show_sentences(spoken(f"{report}\n"))
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


def _check_settings(settings: dict[str, Any], names: list[str], folds: int) -> None:
    """Refuse what no table could make sense of, before anything is shown."""
    if set(settings) <= {"marginals"} and folds < 2:
        raise ProblemError("--folds must be at least 2 for a model to be chosen; or say --structure")
    check_settings(ConditionalGaussianNetworkClassifier(**settings))
    if settings.get("max_parents", 0) < 0:
        raise ProblemError(
            f"--max-parents must be a whole number of at least 0, not {settings['max_parents']}"
        )
    Knowledge.from_names(names, settings.get("required_edges"), settings.get("forbidden_edges"))
    if settings.get("root") is not None:
        feature_index(settings["root"], names)


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


def _categories(data: Table) -> list[str]:
    """Columns that are categories of any sort."""
    kinds = data.kinds["kind"]
    return [name for name in data.X.columns if kinds[name] in NAMES]


def _all_orders(data: Table, options: argparse.Namespace) -> dict[str, list[Any]]:
    """Categories that can rise and fall: those that the user names, and those with an order of their own."""
    own = [name for name in data.X.columns if data.kinds.loc[name, "kind"] == ORDERED]
    found = {name: list(data.X[name].cat.categories) for name in own if name not in _orders(options)}
    return {**found, **_orders(options)}


def _undecided(data: Table) -> list[str]:
    """Whole numbers with few values, of which the user says nothing."""
    said = data.kinds["why"].str.startswith("you say so")
    return [
        name
        for name in data.X.columns
        if data.kinds.loc[name, "kind"] == WHOLE and not said[name] and few_whole_values(data.X[name])
    ]


def _checked_label(data: Table, options: argparse.Namespace) -> Any:
    """The class that is wanted, once the label is known to be one."""
    missing = missing_label_faults(data.y, options.label)
    if missing:
        raise DataError(f"{options.data}: {missing[0]}")
    try:
        for caution in label_cautions(data.y, options.label):
            say(f"surefoot: warning: {caution}")
    except DataError as error:
        raise DataError(f"{options.data}: {error}") from None
    if options.wanted is None:
        return None
    labels = {str(label): label for label in np.unique(plain_labels(data.y)).tolist()}
    if options.wanted not in labels:
        hint = suggestion(options.wanted, labels) or f"; the classes are {listed(list(labels))}"
        raise ProblemError(f"--wanted {options.wanted}: unknown class{hint}")
    return labels[options.wanted]


def _plain(X: pd.DataFrame, options: argparse.Namespace) -> list[str]:
    """Numbers that keep their own scale: named ones, and those that rules add up."""
    check_names("--plain", options.plain, list(X.columns), "column")
    if not options.actions:
        return list(options.plain)
    added = [str(name) for name in Actions.from_toml(options.actions).added_up]
    check_names("--actions", added, list(X.columns), "column")
    if added:
        say(f"surefoot: plain scales for what rules add up: {', '.join(map(in_list, added))}")
    return list(dict.fromkeys([*options.plain, *added]))


def _fitted(
    data: Table, options: argparse.Namespace, given: dict[str, Any]
) -> tuple[ConditionalGaussianNetworkClassifier, Kept]:
    began = perf_counter()
    clf = ConditionalGaussianNetworkClassifier(edge_penalty=EDGE_PENALTY, **given).fit(data.X, data.y)
    kept = keep_refits(clf, data.X, data.y, options.refits, time_for_refits(perf_counter() - began))
    return clf, kept


def _selected(
    data: Table, options: argparse.Namespace, given: dict[str, Any]
) -> tuple[ConditionalGaussianNetworkClassifier, Kept]:
    how = {"refits": options.refits, "choose_on": options.choose_on, "fast": options.fast}
    chosen = select(data.X, data.y, cv=options.folds, random_state=0, **how, **given)
    show(f"{chosen}\n\n")
    return chosen.classifier, chosen.kept


def _diagnosis(clf: ConditionalGaussianNetworkClassifier, data: Dataset | Table, folds: int) -> Diagnosis:
    try:
        return diagnose(clf, data.X, data.y, cv=folds)
    except ValueError as error:
        raise DataError(f"--folds {folds}: {error}") from None


def _warn(data: Table, label: str) -> None:
    """What is suspicious about the data, where no diagnosis says it."""
    for warning in data_warnings(data.X, data.y, label):
        say(f"surefoot: warning: {warning}")
