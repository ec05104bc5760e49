"""select: the classifier that predicts held-out rows best, and the table that it was chosen from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from surefoot.defaults import CHOOSE_ON, EDGE_PENALTY, KEPT
from surefoot.exceptions import DataError
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.race import Folds, Race, Setting, settings_of
from surefoot.model.refits import NONE_KEPT, Kept, checked_count, keep_refits, time_for_refits
from surefoot.model.rows import TrainingRows, drawn_rows, refuse_duplicate_names, training_rows
from surefoot.model.schema import Schema
from surefoot.model.undecided import undecided_categories
from surefoot.table.kinds import few_whole_values
from surefoot.table.labelled import two_valued_numbers
from surefoot.threads import one_blas_thread

STRUCTURES = ("naive", "tan", "ban")
MOST_FOR_BAN = {False: 10, True: 25}  # features, without and with categories; learning takes long otherwise
MARGINALS = ("gaussian", "auto")
SHRINKAGES = (0.0, 0.1, 0.3, 1.0)
CELL_SMOOTHINGS = (10.0, 40.0)
SHOWN_CANDIDATES = 8
SETTINGS = ("structure", "marginals", "shrinkage", "calibration", "cell_smoothing")


@dataclass(frozen=True)
class Judged:
    """By how much data candidates were compared.

    Parameters
    ----------
    folds : int
    rows : int
        On which they were compared.
    all_rows : int
        To which the best one was fitted.
    dropped : int
        Candidates that were too far behind to be fitted to every fold.
    """

    folds: int
    rows: int
    all_rows: int
    dropped: int

    def words(self) -> list[str]:
        """What is not as one would expect, in sentences."""
        found = []
        if self.dropped:
            found.append(f"{self.dropped} of them dropped out before the last fold: too far behind to win.")
        if self.folds and self.rows < self.all_rows:
            found.append(
                f"Compared on {self.rows:,} rows drawn at random; the best is fitted to {self.all_rows:,}."
            )
        return found


@dataclass(frozen=True, eq=False)
class Selection:
    """What `select` returns.

    Parameters
    ----------
    classifier : ConditionalGaussianNetworkClassifier
        The best candidate, fitted on all rows.
    table : DataFrame
        One row for each candidate, best first: its settings, log loss and accuracy on held-out rows.
    cv : int
        Number of folds.
    notes : tuple of str
        What was assumed about the table, in sentences.
    kept : Kept
        How many refits the classifier keeps, and what that took.
    judged : Judged
        By how many rows candidates were compared, and how many dropped out.
    """

    classifier: ConditionalGaussianNetworkClassifier
    table: pd.DataFrame
    cv: int
    notes: tuple[str, ...] = ()
    kept: Kept = NONE_KEPT
    judged: Judged | None = None

    def __str__(self) -> str:
        shown = self.table.head(SHOWN_CANDIDATES)
        text = shown.to_string(index=False, float_format=lambda value: f"{value:.4g}", na_rep="none")
        hidden = len(self.table) - len(shown)
        more = [f"... and {hidden} more"] if hidden else []
        head = f"{len(self.table)} models by log loss on held-out rows ({self.cv} folds), best first:"
        if not self.cv:
            head = "Taken without a comparison:"
        more += [] if self.judged is None else self.judged.words()
        return "\n".join([*self.notes, head, text, *more])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return notes + self.table.to_html(
            index=False, float_format=lambda value: f"{value:.4g}", na_rep="none"
        )


def select(
    frame: Any,
    y: Any,
    cv: int = 5,
    random_state: int | None = 0,
    *,
    categorical: Any = "auto",
    ordered: Any = None,
    marginals: str | None = None,
    plain: Any = None,
    refits: int = KEPT,
    choose_on: int | None = CHOOSE_ON,
    fast: bool = False,
    undecided: Any = "auto",
) -> Selection:
    """Choose structure, marginals, shrinkage, calibration and smoothing by held-out log loss.

    Every candidate is fitted on all folds but one and predicts that one. Calibrations are fitted on
    predictions for the other folds, so no row is calibrated with its own label. Candidates that are too far
    behind after some folds are not fitted to the others (see `Race`). ``"ban"`` is a candidate in
    tables of up to 10 numbers, or of up to 25 features some of which are categories.

    Parameters
    ----------
    frame : DataFrame or array of shape (rows, n_features)
    y : array of labels
    cv : int, default=5
        Number of folds; fewer where a class has fewer rows.
    random_state : int or None, default=0
        How rows are shuffled into folds.
    categorical : "auto" or list of features, default="auto"
        ``"auto"``: columns of text, booleans and pandas categories, and numbers that take two values only.
        A list is taken as it is.
    ordered : dict, optional
        Categories that can rise and fall, with their values in order.
    marginals : "gaussian", "power" or "auto", optional
        Consider these marginals only: with ``"gaussian"`` rules may add up any numbers.
    plain : list of features, optional
        Numbers that keep their own scale, so that rules may add them up; the others may be bent.
    refits : int, default=20
        How many refits of the classifier to keep with it (``classifier.refits_``), or as many of them as fit
        into half of the time that the choice took, or into two seconds where that is longer. See
        `keep_refits`. 0 keeps none.
    choose_on : int or None, default=20_000
        Candidates are compared on at most so many rows, drawn class by class; the chosen one is fitted to all
        rows. None takes all rows.
    fast : bool, default=False
        Do not compare: take settings that are usually good, with as dense a graph as can be learned soon and
        the shrinkage that is best on held-out rows.
    undecided : "auto" or list of features, default="auto"
        Whole numbers with few values, each of which becomes a category where the held-out log loss is lower
        that way. ``"auto"``: those with 3 to 10 values, unless ``categorical`` is a list.

    Returns
    -------
    Selection
        With ``classifier`` (fitted on all rows) and ``table`` (one row for each candidate).

    Examples
    --------
    >>> from surefoot import datasets
    >>> bank = datasets.load_banknote()
    >>> chosen = select(bank.X, bank.y, cv=3)
    >>> chosen.classifier.structure
    'ban'
    >>> bool(chosen.table["log_loss"].is_monotonic_increasing)
    True
    """
    began = perf_counter()
    checked_count(refits)
    refuse_duplicate_names(frame)
    categories, notes = _categories(frame, categorical, ordered)
    categories, more = _decided(frame, y, (categories, categorical, ordered, plain), undecided, random_state)
    notes = (*notes, *more)
    about_data: dict[str, Any] = {"categorical": categories, "ordered": ordered, "plain": plain}
    about_data["edge_penalty"] = EDGE_PENALTY
    rows = training_rows(ConditionalGaussianNetworkClassifier(**about_data), frame, y, None)
    _refuse_small_classes(rows)
    some = rows.part(drawn_rows(rows.labels, len(rows.classes), choose_on, random_state))
    folds = [] if fast else _folds(some, cv, random_state)
    kinds = MARGINALS if marginals is None else (marginals,)
    settings = _settings(rows.schema, kinds)
    with one_blas_thread():
        if fast:
            best, dropped = _guess(settings), 0
        else:
            race = Race(some, folds, settings, plain)
            race.run()
            table, dropped = _table(race), 2 * len(race.dropped)
            best = _python({name: table[name].iloc[0] for name in SETTINGS})
        classifier = ConditionalGaussianNetworkClassifier(**best, **about_data).fit(frame, y)
    if fast:  # whoever fits it again need not look for the shrinkage again
        best["shrinkage"] = classifier.shrinkage = classifier.shrinkage_
        table = pd.DataFrame([{**best, "log_loss": np.nan, "accuracy": np.nan}])
    kept = keep_refits(classifier, frame, y, refits, time_for_refits(perf_counter() - began))
    judged = Judged(len(folds), len(some.labels), len(rows.labels), dropped)
    return Selection(classifier, table, len(folds), notes, kept, judged)


def _categories(frame: Any, categorical: Any, ordered: Any) -> tuple[Any, tuple[str, ...]]:
    """Two-valued numbers join the categories, unless the user has said what these are."""
    if not (isinstance(categorical, str) and categorical == "auto") or not isinstance(frame, pd.DataFrame):
        return categorical, ()
    two = two_valued_numbers(frame)
    if not two:
        return "auto", ()
    kinds = Schema.learned(frame, "auto", ordered).kinds
    names = [name for name, kind in kinds.items() if kind == "category" or name in two]
    one = len(two) == 1
    what = (
        "column holds two values only and is taken as a category"
        if one
        else ("columns hold two values only and are taken as categories")
    )
    shown = ", ".join(str(name) for name in two)
    return names, (f"{len(two)} {what}: {shown}.",)


def _decided(
    frame: Any, y: Any, said: tuple[Any, Any, Any, Any], undecided: Any, random_state: int | None
) -> tuple[Any, list[str]]:
    """Whole numbers with few values join the categories where that predicts held-out rows better."""
    categories, categorical, ordered, plain = said
    automatic = isinstance(undecided, str) and undecided == "auto"
    if not isinstance(frame, pd.DataFrame) or (automatic and not isinstance(categorical, str)):
        return categories, []
    kinds = Schema.learned(frame, categories, ordered).kinds
    known = [name for name, kind in kinds.items() if kind == "category"]
    few = [name for name in frame.columns if kinds[name] == "whole" and few_whole_values(frame[name])]
    settled = {*known, *(plain or ())}  # what rules add up is a number
    names = [name for name in (few if automatic else undecided) if name not in settled]
    found, notes = undecided_categories(frame, y, names, known, random_state)
    return ([*known, *found] if found else categories), notes


def _refuse_small_classes(rows: TrainingRows) -> None:
    sizes = np.bincount(rows.labels)
    if sizes.min() < 3:
        label = rows.classes.tolist()[int(sizes.argmin())]
        few = "a single row" if sizes.min() == 1 else f"{sizes.min()} rows"
        raise DataError(
            f"class {label!r} has {few}; choosing a model needs at least three of every class: leave such "
            "rows out, or put classes together"
        )


def _folds(rows: TrainingRows, cv: int, random_state: int | None) -> Folds:
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer) or cv < 2:
        raise DataError(f"cv must be a whole number of at least 2, not {cv!r}")
    n = min(int(cv), int(np.bincount(rows.labels).min()))
    splitter = StratifiedKFold(n, shuffle=True, random_state=random_state)
    return list(splitter.split(np.zeros(len(rows.labels)), rows.labels))


def _settings(schema: Schema, kinds: Sequence[str]) -> list[Setting]:
    """What is tried: structures that can be learned, and soon; one of each where nothing depends on it."""
    n, numbers, categories = len(schema.names), schema.n_numbers > 0, schema.n_categories > 0
    structures = STRUCTURES if n <= MOST_FOR_BAN[categories] else STRUCTURES[:2]
    return settings_of(
        STRUCTURES[:1] if n == 1 else structures,
        kinds if numbers else kinds[:1],
        SHRINKAGES if numbers else SHRINKAGES[:1],
        CELL_SMOOTHINGS if categories else CELL_SMOOTHINGS[:1],
    )


def _guess(settings: Sequence[Setting]) -> dict[str, Any]:
    """What is best in the mean over the tables of the quality benchmark, as far as it can be had.

    There its log loss is 4 % above that of a choice in the mean (on Banknote alone 69 %), and equal to it in
    the median.
    """
    last = settings[-1]  # the densest graph and the most smoothing
    found = (last.structure, last.marginals, "auto", "temperature", last.cell_smoothing)
    return dict(zip(SETTINGS, found, strict=True))


def _table(race: Race) -> pd.DataFrame:
    """A row for each candidate, best first.

    The loss of one that dropped out is that of the best one, and by how much it was behind on the rows that
    it was judged by: losses on other rows cannot be compared.
    """
    kinds = (None, "temperature")
    judged = {(s, kind): race.losses(s, kind is not None) for s in race.settings for kind in kinds}
    whole = {key: loss for key, (_, loss, _) in judged.items() if key[0] not in race.dropped}
    best = min(whole.values(), key=lambda loss: float(loss.mean()))
    lines = []
    for (setting, kind), (seen, loss, accuracy) in judged.items():
        shown = loss.mean() if setting not in race.dropped else best.mean() + (loss - best[seen]).mean()
        given = setting._asdict() | {"calibration": kind}
        candidate = {name: given[name] for name in SETTINGS}
        lines.append({**candidate, "log_loss": float(shown), "accuracy": accuracy})
    return pd.DataFrame(lines).sort_values("log_loss", kind="stable", ignore_index=True)


def _python(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings from a line of the table: numbers as Python's own, and None for a missing calibration."""
    plain = {name: value.item() if hasattr(value, "item") else value for name, value in settings.items()}
    return {name: None if value != value else value for name, value in plain.items()}
