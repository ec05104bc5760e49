"""select: the classifier that predicts held-out rows best, and the table that it was chosen from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.model_selection import StratifiedKFold

from surefoot.exceptions import DataError
from surefoot.model.calibration import fit_calibration
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.fitting import Learned, joint_log, learned, warped
from surefoot.model.rows import TrainingRows, refuse_duplicate_names, training_rows
from surefoot.model.schema import Schema
from surefoot.model.undecided import undecided_categories
from surefoot.table.kinds import few_whole_values
from surefoot.table.labelled import two_valued_numbers
from surefoot.threads import one_blas_thread

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Folds = list[tuple[Codes, Codes]]

STRUCTURES = ("naive", "tan", "ban")
MOST_FOR_BAN = {False: 10, True: 25}  # features, without and with categories; learning takes long otherwise
MARGINALS = ("gaussian", "auto")
SHRINKAGES = (0.0, 0.1, 0.3, 1.0)
CELL_SMOOTHINGS = (10.0, 40.0)
SHOWN_CANDIDATES = 8


@dataclass(frozen=True)
class Candidate:
    """Settings of a classifier that differ between candidates."""

    structure: str
    marginals: str
    shrinkage: float
    calibration: str | None
    cell_smoothing: float

    def settings(self) -> dict[str, Any]:
        """As keyword arguments of the classifier."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


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
    """

    classifier: ConditionalGaussianNetworkClassifier
    table: pd.DataFrame
    cv: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = self.table.head(SHOWN_CANDIDATES)
        text = shown.to_string(index=False, float_format=lambda value: f"{value:.4g}", na_rep="none")
        hidden = len(self.table) - len(shown)
        more = [f"... and {hidden} more"] if hidden else []
        head = f"{len(self.table)} models by log loss on held-out rows ({self.cv} folds), best first:"
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
    undecided: Any = "auto",
) -> Selection:
    """Choose structure, marginals, shrinkage, calibration and smoothing by held-out log loss.

    Every candidate is fitted on all folds but one and predicts that one. Calibrations are fitted on
    predictions for the other folds, so no row is calibrated with its own label. ``"ban"`` is a candidate in
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
    refuse_duplicate_names(frame)
    categories, notes = _categories(frame, categorical, ordered)
    categories, more = _decided(frame, y, (categories, categorical, ordered), undecided, random_state)
    notes = (*notes, *more)
    about_data = {"categorical": categories, "ordered": ordered}
    rows = training_rows(ConditionalGaussianNetworkClassifier(**about_data), frame, y, None)
    folds = _folds(rows, cv, random_state)
    with one_blas_thread():
        scored = [
            {**candidate.settings(), "log_loss": loss, "accuracy": accuracy}
            for candidate, loss, accuracy in _scores(
                rows, folds, MARGINALS if marginals is None else (marginals,)
            )
        ]
    table = pd.DataFrame(scored).sort_values("log_loss", kind="stable", ignore_index=True)
    best = min(scored, key=lambda row: row["log_loss"])
    settings = {field.name: best[field.name] for field in fields(Candidate)}
    classifier = ConditionalGaussianNetworkClassifier(**settings, **about_data).fit(frame, y)
    return Selection(classifier, table, len(folds), notes)


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
    frame: Any, y: Any, said: tuple[Any, Any, Any], undecided: Any, random_state: int | None
) -> tuple[Any, list[str]]:
    """Whole numbers with few values join the categories where that predicts held-out rows better."""
    categories, categorical, ordered = said
    automatic = isinstance(undecided, str) and undecided == "auto"
    if not isinstance(frame, pd.DataFrame) or (automatic and not isinstance(categorical, str)):
        return categories, []
    kinds = Schema.learned(frame, categories, ordered).kinds
    known = [name for name, kind in kinds.items() if kind == "category"]
    few = [name for name in frame.columns if kinds[name] == "whole" and few_whole_values(frame[name])]
    names = few if automatic else [name for name in undecided if name not in known]
    found, notes = undecided_categories(frame, y, names, known, random_state)
    return ([*known, *found] if found else categories), notes


def _folds(rows: TrainingRows, cv: int, random_state: int | None) -> Folds:
    sizes = np.bincount(rows.labels)
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer) or cv < 2:
        raise DataError(f"cv must be a whole number of at least 2, not {cv!r}")
    if sizes.min() < 3:
        label = rows.classes.tolist()[int(sizes.argmin())]
        few = "a single row" if sizes.min() == 1 else f"{sizes.min()} rows"
        raise DataError(
            f"class {label!r} has {few}; choosing a model needs at least three of every class: leave such "
            "rows out, or put classes together"
        )
    splitter = StratifiedKFold(min(int(cv), int(sizes.min())), shuffle=True, random_state=random_state)
    return list(splitter.split(np.zeros(len(rows.labels)), rows.labels))


def _scores(
    rows: TrainingRows, folds: Folds, kinds: Sequence[str]
) -> Iterator[tuple[Candidate, float, float]]:
    """Held-out log loss and accuracy of every candidate."""
    for (structure, marginals, shrinkage, smoothing), joint in _held_out(rows, folds, kinds).items():
        calibrated = _cross_calibrated(joint, rows.labels, folds)
        for calibration, scores in ((None, joint), ("temperature", calibrated)):
            own = log_softmax(scores, axis=1)[np.arange(len(scores)), rows.labels]
            right = scores.argmax(axis=1) == rows.labels
            candidate = Candidate(structure, marginals, shrinkage, calibration, smoothing)
            yield candidate, float(-own.mean()), float(right.mean())


def _held_out(
    rows: TrainingRows, folds: Folds, kinds: Sequence[str]
) -> dict[tuple[str, str, float, float], Array]:
    """Joint log probabilities of every row under models that have not seen it.

    The statistics of a fold, a structure and a kind of marginals serve all shrinkages and smoothings.
    """
    joints: dict[tuple[str, str, float, float], Array] = {}
    for train, test in folds:
        part, held = rows.part(train), rows.part(test)
        for basis, structure, marginals in _bases(part, kinds):
            Z = warped(held.numbers, basis.warps)
            for smoothing in CELL_SMOOTHINGS if rows.schema.n_categories else CELL_SMOOTHINGS[:1]:
                clf = ConditionalGaussianNetworkClassifier(cell_smoothing=smoothing)
                for share in SHRINKAGES if rows.schema.n_numbers else SHRINKAGES[:1]:
                    key = (structure, marginals, share, smoothing)
                    joint = joints.setdefault(key, np.empty((len(rows.labels), len(rows.classes))))
                    networks = basis.gathered.networks(clf, share)
                    joint[test] = joint_log(networks, basis.prior, Z, held.codes)
    return joints


def _bases(rows: TrainingRows, kinds: Sequence[str]) -> Iterator[tuple[Learned, str, str]]:
    """Warps, graph and statistics for each structure and kind of marginals."""
    for marginals in kinds if rows.schema.n_numbers else kinds[:1]:
        for structure in _structures(rows.schema):
            clf = ConditionalGaussianNetworkClassifier(structure, marginals=marginals)
            yield learned(clf, rows, 0.0), structure, marginals


def _structures(schema: Schema) -> tuple[str, ...]:
    """Those that can be learned, and soon."""
    n = len(schema.names)
    if n == 1:
        return STRUCTURES[:1]
    return STRUCTURES if n <= MOST_FOR_BAN[schema.n_categories > 0] else STRUCTURES[:2]


def _cross_calibrated(joint: Array, labels: Codes, folds: Folds) -> Array:
    """Scores of each fold, calibrated by the held-out predictions of the others."""
    found = np.empty_like(joint)
    for train, test in folds:
        found[test] = fit_calibration(joint[train], labels[train])(joint[test])
    return found
