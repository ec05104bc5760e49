"""Refits: the model fitted again to rows drawn with replacement, and those that a model keeps."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import takewhile
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length

from surefoot.bars import stepped
from surefoot.defaults import KEPT
from surefoot.exceptions import DataError
from surefoot.model.calibration import Calibration, fit_calibration
from surefoot.model.fitting import FEW_ROUNDS, Learned, held_out_calibration, joint_log, learned, warped
from surefoot.model.kept_refits import n_numbers, refits_size
from surefoot.model.rows import TrainingRows, known_rows
from surefoot.table.labelled import plain_labels
from surefoot.threads import one_blas_thread

if TYPE_CHECKING:
    from surefoot.model.classifier import ConditionalGaussianNetworkClassifier

    Classifier = TypeVar("Classifier", bound=ConditionalGaussianNetworkClassifier)

Array = NDArray[np.float64]

TRIES = 50  # draws until every class is among the rows; ten times more would only delay the complaint
SHARE = 0.5  # of the time that the model took; ten times more, and most of the time would go into refits
# What refits may take in any case, so that small models, which are fitted at once, keep all of theirs. With
# ten times as many seconds, tables of a million rows would keep somebody waiting.
SECONDS = 2.0
# Parameters of all kept refits together: eleven megabytes in a file. With ten times as many, reading the file
# would take longer than the answer.
MOST_NUMBERS = 1_000_000


@dataclass(frozen=True)
class Kept:
    """What keeping refits took.

    Parameters
    ----------
    count : int
    asked : int
    seconds : float
    size : int
        Bytes in the model's file.
    reason : str
        Why there are fewer than were asked for; empty otherwise.
    """

    count: int
    asked: int
    seconds: float
    size: int
    reason: str = ""

    def __str__(self) -> str:
        if not self.asked:
            return "No refits of the model are kept."
        if not self.count:
            return f"No refits of the model are kept: {self.reason}."
        few = f" of {self.asked}: {self.reason}" if self.count < self.asked else ""
        size = f"{self.size / 1000:,.0f} kB" if self.size < 1e6 else f"{self.size / 1e6:,.1f} MB"
        return (
            f"Kept {self.count} refits of the model{few} ({self.seconds:.1f} s, {size} in its file): every "
            "answer says under how many of them it holds."
        )


NONE_KEPT = Kept(0, 0, 0.0, 0)


class Bootstrap:
    """Rows that a model is fitted to again and again, read once.

    Numbers are measured on the model's scales and categories have the model's values, whether they are drawn
    or not: what is compared must be measured alike.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
        Fitted.
    X, y
        Rows and their labels.
    structure : bool
        Whether the graph, and a shrinkage that was learned, are learned anew from every draw. Otherwise they
        are those of the model.
    """

    def __init__(self, clf: ConditionalGaussianNetworkClassifier, X: Any, y: Any, *, structure: bool) -> None:
        numbers, codes = known_rows(clf, X)
        labels = _positions(clf, y)
        check_consistent_length(numbers, labels)
        self.clf = clf
        self.rows = TrainingRows(clf.schema_, warped(numbers, clf.warps_), codes, clf.classes_, labels, None)
        self.settings = clone(clf).set_params(marginals="gaussian")
        if not structure:
            self.settings.set_params(
                structure=clf.dag_,
                shrinkage=clf.shrinkage_,
                max_parents=None,
                root=None,
                required_edges=None,
                forbidden_edges=None,
            )

    def refit(self, rng: np.random.Generator) -> ConditionalGaussianNetworkClassifier:
        """The model fitted to as many rows as there are, drawn with replacement."""
        reason: Exception | None = None
        for _ in range(TRIES):
            weights = drawn_weights(self.rows.labels, len(self.clf.classes_), rng)
            seen = np.flatnonzero(weights)
            part = replace(self.rows.part(seen), weights=weights[seen])
            try:
                model = learned(self.settings, part, rounds=FEW_ROUNDS)
                return _twin(self.clf, model, self._calibration(model, weights == 0))
            except DataError as error:  # a draw may leave nothing of a column
                reason = error
        raise DataError(f"the model cannot be fitted again to rows drawn with replacement: {reason}")

    def _calibration(self, model: Learned, left_out: NDArray[np.bool_]) -> Calibration | None:
        """By the rows that were not drawn; by all of them where these are too few of some class."""
        if self.settings.calibration is None:
            return None
        held = self.rows.part(left_out)
        if np.bincount(held.labels, minlength=len(held.classes)).min() < 2:
            return held_out_calibration(self.settings, self.rows, model.shrinkage)
        return fit_calibration(joint_log(model.networks, model.prior, held.numbers, held.codes), held.labels)


def keep_refits(
    clf: ConditionalGaussianNetworkClassifier,
    X: Any,
    y: Any,
    count: int = KEPT,
    seconds: float = np.inf,
    random_state: int = 0,
) -> Kept:
    """Fit the model again to rows drawn with replacement and keep the refits as ``clf.refits_``.

    Each refit has the graph, the scales and the shrinkage of the model; its priors, parameters and
    calibration (by the rows that were not drawn) are its own. Answers then say under how many of them they
    hold.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
        Fitted to these rows.
    X, y
        Rows and their labels.
    count : int, default=20
        How many; 0 keeps none.
    seconds : float, default=inf
        No refit is begun that would probably end later.
    random_state : int, default=0

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, datasets
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    >>> keep_refits(clf, bank.X, bank.y, 3).count, len(clf.refits_)
    (3, 3)
    """
    asked, began = checked_count(count), perf_counter()
    clf.refits_ = ()
    within = min(asked, MOST_NUMBERS // max(1, n_numbers(clf)))
    reason = "more would make the file too large" if within < asked else ""
    found: list[ConditionalGaussianNetworkClassifier] = []
    if within:
        try:
            with one_blas_thread():  # small matrices: threads would wait for each other
                bootstrap = Bootstrap(clf, X, y, structure=False)
                found = list(_in_time(bootstrap, within, seconds, np.random.default_rng(random_state)))
        except DataError as error:
            reason = str(error)
    if len(found) < within:
        reason = reason or "more would take too long"
    clf.refits_ = tuple(found)
    return Kept(len(found), asked, perf_counter() - began, refits_size(clf), reason)


def checked_count(count: Any) -> int:
    """A number of refits to be kept."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
        raise DataError(f"refits must be a whole number of at least 0, not {count!r}")
    return int(count)


def time_for_refits(spent: float) -> float:
    """Seconds that refits may take after a fit, its choice included, that took so long."""
    return max(SECONDS, SHARE * spent)


def _in_time(
    bootstrap: Bootstrap, count: int, seconds: float, rng: np.random.Generator
) -> Iterator[ConditionalGaussianNetworkClassifier]:
    """Refits, until the next one would probably end too late; the first one is always made."""
    began = perf_counter()

    def in_time(k: int) -> bool:
        return k == 0 or (perf_counter() - began) * (k + 1) / k <= seconds

    steps = stepped(range(count), "fitting the model again", "refit")
    yield from (bootstrap.refit(rng) for _ in takewhile(in_time, steps))


def drawn_weights(labels: NDArray[np.intp], n_classes: int, rng: np.random.Generator) -> Array:
    """How often each row is drawn; at least two different rows of every class are."""
    for _ in range(TRIES):
        drawn = np.bincount(rng.integers(len(labels), size=len(labels)), minlength=len(labels))
        if np.bincount(labels[drawn > 0], minlength=n_classes).min() >= 2:
            return drawn.astype(float)
    raise DataError("a class has too few rows to fit the model again to rows drawn with replacement")


def _positions(clf: ConditionalGaussianNetworkClassifier, y: Any) -> NDArray[np.intp]:
    """Labels as positions among the model's classes."""
    labels = np.asarray(plain_labels(y))
    known = {label: k for k, label in enumerate(clf.classes_.tolist())}
    found = [known.get(label, -1) for label in labels.tolist()]
    if -1 in found:
        wrong = labels.tolist()[found.index(-1)]
        raise DataError(f"the rows have the label {wrong!r}, but the model's labels are {list(known)}")
    missing = set(range(len(known))) - set(found)
    if missing:
        raise DataError(f"no row has the label {list(known)[min(missing)]!r}")
    return np.array(found, dtype=np.intp)


def _twin(clf: Classifier, model: Learned, calibration: Any) -> Classifier:
    """The model with other parameters; what it says about its data is the model's own."""
    found = copy(clf)
    for name in ("refits_", "judged_", "_stream"):
        found.__dict__.pop(name, None)
    found.networks_, found.class_prior_, found.calibration_ = model.networks, model.prior, calibration
    found.dag_, found.structure_report_, found.shrinkage_ = model.report.dag, model.report, model.shrinkage
    if model.report.method == "given" and model.report.dag.parents == clf.dag_.parents:
        found.dag_, found.structure_report_ = clf.dag_, clf.structure_report_
    return found
