"""diagnose: how good a classifier is, compared with others on the same rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted, column_or_1d

from surefoot.bars import stepped
from surefoot.defaults import CHOOSE_ON
from surefoot.exceptions import DataError, SurefootWarning
from surefoot.model.calibration import fit_calibration
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.fitting import ROWS_HELD_OUT, warped
from surefoot.model.mixed import MixedNetwork
from surefoot.model.rivals import held_out_probabilities
from surefoot.model.rows import drawn_rows, known_rows, with_plain_numbers, with_rare_together
from surefoot.model.schema import as_frame
from surefoot.table.labelled import plain_labels
from surefoot.table.suspicions import data_warnings
from surefoot.threads import one_blas_thread
from surefoot.views import view

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

OWN = "this classifier"
BINS = 10  # of a calibration curve; with ten times as many, each has too few rows to say anything
LEAST_POINTS = 2.0  # of accuracy; a smaller loss is not worth a caution
LEAST_LOSS = 0.05  # share of a rival's log loss, likewise
LEAST_NATS = 0.005  # of log loss; a smaller lead does not show
CONFIDENT = 1.645  # standard errors; differences that chance explains are no differences
SMALLEST_PROBABILITY = 1e-15


@dataclass(frozen=True)
class Score:
    """How well one model predicts held-out rows.

    Parameters
    ----------
    model : str
    accuracy, log_loss, calibration_error : float
        The last two are nan for a model without probabilities. Calibration error: mean distance between
        predicted probability and observed share, over ten bins of equal mass.
    """

    model: str
    accuracy: float
    log_loss: float
    calibration_error: float


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What `diagnose` returns; print it, or draw it with `plot`.

    Parameters
    ----------
    scores : tuple of Score
        This classifier, logistic regression, gradient boosting, and always answering with the majority.
    verdict : str
        One sentence on whether to trust it.
    warnings : tuple of str
        What is suspicious about the data.
    cv : int
        Number of folds.
    refitted : bool
        Whether the classifier was fitted anew for each fold; an adopted model is taken as it is.
    classes : tuple
        Labels.
    labels : array of shape (rows,)
        Position of the true label of each row.
    probabilities : array of shape (rows, n_classes) or None
        What the classifier predicted for each row.
    residuals : DataFrame
        For each number and row, how many standard deviations it is from what its parents and the true class
        make expected. Standard normal if the network is right.
    """

    scores: tuple[Score, ...]
    verdict: str
    warnings: tuple[str, ...]
    cv: int
    refitted: bool
    classes: tuple[Any, ...]
    labels: Codes
    probabilities: Array | None
    residuals: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """One row for each model: accuracy, log loss and calibration error."""
        frame = pd.DataFrame([vars(score) for score in self.scores])
        return frame.set_index("model")

    def __str__(self) -> str:
        table = self.to_frame().rename(columns=lambda name: name.replace("_", " ")).rename_axis(None)
        lines = [self.verdict, "", table.to_string(float_format=lambda v: f"{v:.3f}", na_rep="-"), ""]
        lines.append(self.how())
        lines += [f"Caution: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        table = self.to_frame().to_html(float_format=lambda v: f"{v:.3f}", na_rep="-")
        cautions = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        how = f"<p>{escape(self.how())}</p>"
        return f"<p><b>{escape(self.verdict)}</b></p>{table}{how}" + (
            f"<ul>{cautions}</ul>" if cautions else ""
        )

    def plot(self, axes: Any = None) -> Any:
        """Draw the calibration curve and the quantiles of the residuals; returns both matplotlib Axes."""
        return view("diagnosis plot", self, axes=axes)

    def how(self) -> str:
        """On how many rows, and how."""
        rows = f"{len(self.labels):,} rows, {self.cv} folds; every model predicts rows that it has not seen."
        if self.refitted:
            return rows
        return (
            f"{len(self.labels):,} rows, {self.cv} folds. The adopted model is taken as it is: if it was "
            "fitted on these rows, its figures are too good."
        )


def diagnose(
    clf: ConditionalGaussianNetworkClassifier,
    frame: Any,
    y: Any,
    cv: int = 5,
    most_rows: int | None = CHOOSE_ON,
) -> Diagnosis:
    """Compare a classifier, by cross-validation, with logistic regression and gradient boosting.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
        Fitted. Its settings are fitted anew on each fold; an adopted model is taken as it is. What was found
        is kept as ``clf.judged_``, so that explanations can warn of a model below its baseline.
    frame : DataFrame or array of shape (rows, n_features)
    y : array of labels
    cv : int, default=5
        Number of folds.
    most_rows : int or None, default=20_000
        Models are compared on at most so many rows, drawn class by class; None takes all rows.

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, datasets
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    >>> report = diagnose(clf, bank.X, bank.y, cv=3)
    >>> report.to_frame().columns.tolist()
    ['accuracy', 'log_loss', 'calibration_error']
    """
    labels, numbers, codes = _known(clf, frame, y)
    frame = with_rare_together(clf, with_plain_numbers(clf, frame, numbers))
    caution = tuple(data_warnings(as_frame(frame), y, *_label_name(y, frame)))
    rows = drawn_rows(labels, len(clf.classes_), most_rows, 0)
    if len(rows) < len(labels):
        frame, y = _rows(frame, rows), np.asarray(plain_labels(y))[rows]
        labels, numbers, codes = labels[rows], numbers[rows], codes[rows]
    folds = _folds(labels, clf.classes_.tolist(), cv)
    with one_blas_thread():
        own = _held_out(clf, frame, y, folds) if _can_refit(clf) else _as_it_is(clf, frame)
    rivals = dict(held_out_probabilities(numbers, codes, labels, folds))
    scores = [_score(OWN, own.predicted, own.probabilities, labels)]
    scores += [_score(name, p.argmax(axis=1), p, labels) for name, p in rivals.items()]
    scores.append(_majority(labels, clf.classes_.tolist()))
    clf.judged_ = {"accuracy": scores[0].accuracy, "majority": scores[-1].accuracy}
    return Diagnosis(
        tuple(scores),
        _verdict(scores, _Comparison(own, rivals, labels), clf.calibration_ is not None),
        caution,
        len(folds),
        _can_refit(clf),
        tuple(clf.classes_.tolist()),
        labels,
        own.probabilities,
        pd.DataFrame(_residuals(own, clf, numbers, codes, labels), columns=_number_names(clf)),
    )


def _label_name(y: Any, frame: Any) -> tuple[str, ...]:
    """What the labels are called, unless they are made of a feature and have its name."""
    name = getattr(y, "name", None)
    return (name,) if isinstance(name, str) and name not in ("", *as_frame(frame).columns) else ()


def calibration_curve(probabilities: Array, happened: NDArray[np.bool_]) -> pd.DataFrame:
    """Mean predicted probability, observed share and number of rows in bins of equal mass.

    Equal probabilities stay in one bin.

    Parameters
    ----------
    probabilities : array of shape (rows,)
    happened : array of bool
    """
    cuts = np.unique(np.quantile(probabilities, np.arange(1, BINS) / BINS, method="inverted_cdf"))
    grouped = pd.DataFrame({"predicted": probabilities, "observed": happened.astype(float)}).groupby(
        np.searchsorted(cuts, probabilities)
    )
    return grouped.agg(
        predicted=("predicted", "mean"), observed=("observed", "mean"), rows=("observed", "size")
    ).reset_index(drop=True)


@dataclass(frozen=True, eq=False)
class _Held:
    """What a classifier says about rows that it has not seen, and the fitted classifier of each row."""

    predicted: Codes
    probabilities: Array | None
    models: list[tuple[ConditionalGaussianNetworkClassifier, Codes]]


def _can_refit(clf: ConditionalGaussianNetworkClassifier) -> bool:
    """Adopted models have settings that are not theirs."""
    asked = clf.structure if isinstance(clf.structure, str) else "given"
    return type(clf) is ConditionalGaussianNetworkClassifier and clf.structure_report_.method == asked


def _held_out(
    clf: ConditionalGaussianNetworkClassifier, frame: Any, y: Any, folds: list[tuple[Codes, Codes]]
) -> _Held:
    labels, models = np.asarray(plain_labels(y)), []
    scores = np.empty((len(y), len(clf.classes_)))
    # In a large table the other folds calibrate each fold; otherwise each would be fitted six times.
    together = clf.calibration is not None and len(y) > ROWS_HELD_OUT
    for train, test in stepped(folds, "comparing the model", "fit"):
        model = clone(clf).set_params(**({"calibration": None} if together else {}))
        model.fit(_rows(frame, train), labels[train])
        with warnings.catch_warnings():  # a fold may lack a rare value; that is no fault of the table
            warnings.simplefilter("ignore", SurefootWarning)
            scores[test] = model.class_scores(*known_rows(model, _rows(frame, test)))
        models.append((model, test))
    if together:
        codes = _label_codes(clf, y)
        raw = scores.copy()
        for (train, test), (model, _) in zip(folds, models, strict=True):
            model.calibration_ = fit_calibration(raw[train], codes[train])
            scores[test] = model.calibration_(raw[test])
    return _Held(scores.argmax(axis=1), softmax(scores, axis=1), models)


def _as_it_is(clf: ConditionalGaussianNetworkClassifier, frame: Any) -> _Held:
    found = {label: c for c, label in enumerate(clf.classes_.tolist())}
    predicted = np.array([found[label] for label in clf.predict(frame).tolist()], dtype=np.intp)
    probabilities = clf.predict_proba(frame) if hasattr(clf, "predict_proba") else None
    return _Held(predicted, probabilities, [(clf, np.arange(len(predicted)))])


def _rows(frame: Any, rows: Codes) -> Any:
    return frame.iloc[rows] if isinstance(frame, pd.DataFrame) else np.asarray(frame)[rows]


def _known(clf: ConditionalGaussianNetworkClassifier, frame: Any, y: Any) -> tuple[Codes, Array, Codes]:
    """Labels, numbers and codes of a table; refuses what the classifier cannot be asked about."""
    if not isinstance(clf, ConditionalGaussianNetworkClassifier):
        raise DataError(
            f"{type(clf).__name__} is not a classifier of surefoot; diagnose takes what "
            "surefoot.adopt(model, data=(X, y)) makes of it"
        )
    check_is_fitted(clf)
    numbers, codes = known_rows(clf, frame)
    labels = _label_codes(clf, y)
    if len(labels) != len(numbers):
        raise DataError(f"there are {len(numbers)} rows, but {len(labels)} labels")
    return labels, np.asarray(numbers, dtype=float), codes


def _label_codes(clf: ConditionalGaussianNetworkClassifier, y: Any) -> Codes:
    known = {label: c for c, label in enumerate(clf.classes_.tolist())}
    labels = column_or_1d(plain_labels(y)).tolist()
    strange = next((label for label in labels if label not in known), None)
    if strange is not None:
        raise DataError(f"unknown class {strange!r}; the classes are {clf.classes_.tolist()}")
    return np.array([known[label] for label in labels], dtype=np.intp)


def _folds(labels: Codes, classes: list[Any], cv: int) -> list[tuple[Codes, Codes]]:
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer) or cv < 2:
        raise DataError(f"cv must be a whole number of at least 2, not {cv!r}")
    sizes = np.bincount(labels, minlength=len(classes))
    if sizes.min() < 3:
        label = classes[int(sizes.argmin())]
        few = "a single row" if sizes.min() == 1 else f"{sizes.min()} rows"
        raise DataError(f"class {label!r} has {few}; a comparison needs at least three")
    splitter = StratifiedKFold(min(int(cv), int(sizes.min())), shuffle=True, random_state=0)
    return list(splitter.split(np.zeros(len(labels)), labels))


def _score(name: str, predicted: Codes, probabilities: Array | None, labels: Codes) -> Score:
    accuracy = float((predicted == labels).mean())
    if probabilities is None:
        return Score(name, accuracy, np.nan, np.nan)
    loss = float(_losses(probabilities, labels).mean())
    return Score(name, accuracy, loss, _calibration_error(probabilities, labels))


def _losses(probabilities: Array, labels: Codes) -> Array:
    own = probabilities[np.arange(len(labels)), labels]
    return np.asarray(-np.log(np.maximum(own, SMALLEST_PROBABILITY)))


def _calibration_error(probabilities: Array, labels: Codes) -> float:
    """Mean over the classes; with two classes, that of either."""
    errors = []
    for c in range(probabilities.shape[1]):
        curve = calibration_curve(probabilities[:, c], labels == c)
        errors.append(np.average((curve["predicted"] - curve["observed"]).abs(), weights=curve["rows"]))
    return float(np.mean(errors))


def _majority(labels: Codes, classes: list[Any]) -> Score:
    shares = np.bincount(labels, minlength=len(classes)) / len(labels)
    most = int(shares.argmax())
    entropy = float(-np.sum(shares * np.log(np.maximum(shares, SMALLEST_PROBABILITY))))
    return Score(f"always {classes[most]!r}", float(shares[most]), entropy, 0.0)


@dataclass(frozen=True, eq=False)
class _Comparison:
    """Row by row, so that differences can be told from chance."""

    own: _Held
    rivals: dict[str, Array]
    labels: Codes

    def clearly_wrong_more_often(self, rival: str) -> bool:
        """Whether the model is wrong for more rows than a rival, beyond chance."""
        right = self.rivals[rival].argmax(axis=1) == self.labels
        return _clear(right.astype(float) - (self.own.predicted == self.labels))

    def clearly_loses(self, rival: str) -> bool:
        """Whether the log loss is larger than that of a rival, beyond chance."""
        assert self.own.probabilities is not None
        gaps = _losses(self.own.probabilities, self.labels) - _losses(self.rivals[rival], self.labels)
        return _clear(gaps)


def _clear(differences: Array) -> bool:
    error = differences.std() / np.sqrt(len(differences))
    return bool(differences.mean() > CONFIDENT * error)


def _verdict(scores: list[Score], comparison: _Comparison, calibrated: bool) -> str:
    """One sentence, the worst news first."""
    own, *rivals, majority = scores
    if own.accuracy < majority.accuracy:
        return _below_majority(own, majority)
    if _knows_little(own, majority):
        return (
            f"Predicts hardly better than {majority.model} (accuracy {own.accuracy:.1%} : "
            f"{majority.accuracy:.1%}, log loss {own.log_loss:.2f} : {majority.log_loss:.2f}): "
            "do not act on explanations of this model."
        )
    best = max(rivals, key=lambda score: score.accuracy)
    points = 100 * (best.accuracy - own.accuracy)
    if points >= LEAST_POINTS and comparison.clearly_wrong_more_often(best.model):
        return (
            f"Gives up {points:.2g} points of accuracy compared with {best.model} ({own.accuracy:.1%} : "
            f"{best.accuracy:.1%}): treat explanations as a description of this model, not of the data."
        )
    if np.isnan(own.log_loss):
        return f"Predicts as well as {best.model} (accuracy {own.accuracy:.1%} : {best.accuracy:.1%})."
    sharpest = min(rivals, key=lambda score: score.log_loss)
    losses = f"(log loss {own.log_loss:.2f} : {sharpest.log_loss:.2f})"
    if own.log_loss > (1 + LEAST_LOSS) * sharpest.log_loss and comparison.clearly_loses(sharpest.model):
        worse = f"Is right as often as {best.model}, but its probabilities"
        if calibrated:
            return f"{worse} say less than those of {sharpest.model} {losses}."
        return (
            f"{worse} are worse than those of {sharpest.model} {losses}: do not rely on them, or fit with "
            "calibration='temperature'."
        )
    if own.log_loss < min((1 - LEAST_LOSS) * sharpest.log_loss, sharpest.log_loss - LEAST_NATS):
        return f"Predicts better than {' and '.join(score.model for score in rivals)} {losses}."
    return f"Predicts as well as {sharpest.model} {losses}."


def _knows_little(own: Score, majority: Score) -> bool:
    """Whether the features hardly matter; where one class is rare, log loss shows that they do."""
    more = 100 * (own.accuracy - majority.accuracy)
    return more < LEAST_POINTS and own.log_loss > (1 - LEAST_LOSS) * majority.log_loss


def _below_majority(own: Score, majority: Score) -> str:
    return (
        f"Is right less often than {majority.model} would be ({own.accuracy:.1%} : {majority.accuracy:.1%}): "
        "do not act on explanations of this model."
    )


def _number_names(clf: ConditionalGaussianNetworkClassifier) -> list[Any]:
    return [clf.schema_.names[j] for j in clf.schema_.numbers]


def _residuals(
    own: _Held, clf: ConditionalGaussianNetworkClassifier, numbers: Array, codes: Codes, labels: Codes
) -> Array:
    """Deviations of each number from what its parents make expected, in the network of its true class."""
    found = np.full(numbers.shape, np.nan)
    known = np.asarray(~np.isnan(numbers).any(axis=1) & (codes >= 0).all(axis=1))
    for model, test in own.models:
        for c, network in enumerate(model.networks_):
            rows = test[(labels[test] == c) & known[test]]
            Z = np.asarray(warped(numbers[rows], model.warps_), dtype=float)
            if isinstance(network, MixedNetwork):
                # A category that the fold never saw has no cell; its schema may have other codes.
                values = _recoded(clf, model, codes[rows])
                fine = (values >= 0).all(axis=1)
                found[rows[fine]] = network.deviations(Z[fine], values[fine])
            else:
                found[rows] = (Z - network.expected(Z)) / np.sqrt(network.variances)
    return found


def _recoded(
    clf: ConditionalGaussianNetworkClassifier, model: ConditionalGaussianNetworkClassifier, codes: Codes
) -> Codes:
    """Codes of one schema's values in another; -1 where it does not have them."""
    found = np.empty_like(codes)
    pairs = zip(clf.schema_.category_values, model.schema_.category_values, strict=True)
    for k, (values, others) in enumerate(pairs):
        places = {value: code for code, value in enumerate(others)}
        table = np.array([places.get(value, -1) for value in values], dtype=np.intp)
        found[:, k] = table[codes[:, k]]
    return found
