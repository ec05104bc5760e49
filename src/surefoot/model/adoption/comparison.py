"""The check that an adopted model decides exactly as the original does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from surefoot.exceptions import DataError

Array = NDArray[np.float64]
TOLERANCE = 1e-9


def compared(estimator: Any, rows: Any, scores: Array) -> bool:
    """Whether the model's probabilities are those of the scores; refuses other decisions.

    Parameters
    ----------
    estimator : fitted classifier
    rows : table
        Rows as the estimator takes them.
    scores : array of shape (rows, n_classes)
        What the adopted model gives to the same rows.
    """
    chances = np.asarray(estimator.predict_proba(rows)) if hasattr(estimator, "predict_proba") else None
    likely = chances is not None and _gap(softmax(scores, axis=1), chances) <= TOLERANCE
    if hasattr(estimator, "decision_function"):
        theirs = np.asarray(estimator.decision_function(rows), dtype=float)
        _refuse(estimator, _relative_gap(class_odds(scores), class_odds(theirs)), "decisions")
    elif chances is not None and not likely:
        # Several calibrated classes: the sigmoid of each score, divided by their sum.
        sigmoids = expit(scores)
        _refuse(estimator, _gap(sigmoids / sigmoids.sum(axis=1, keepdims=True), chances), "probabilities")
    _refuse_other_labels(estimator, rows, scores)
    return bool(likely)


def class_odds(scores: Array) -> Array:
    """Every class against the first; two classes may come as one number per row."""
    return scores[:, None] if scores.ndim == 1 else scores[:, 1:] - scores[:, :1]


def _gap(ours: Array, theirs: Array) -> float:
    return float(np.max(np.abs(ours - theirs))) if ours.shape == theirs.shape else np.inf


def _relative_gap(ours: Array, theirs: Array) -> float:
    if ours.shape != theirs.shape:
        return np.inf
    return float(np.max(np.abs(ours - theirs) / (1 + np.abs(theirs))))


def _refuse_other_labels(estimator: Any, rows: Any, scores: Array) -> None:
    """Labels must agree wherever the two largest scores are not all but tied."""
    best = np.sort(scores, axis=1)
    clear = best[:, -1] - best[:, -2] > 10 * TOLERANCE * (1 + np.abs(best[:, -1]))
    ours = np.asarray(estimator.classes_)[scores.argmax(axis=1)]
    other = float(np.mean((ours != np.asarray(estimator.predict(rows)))[clear])) if clear.any() else 0.0
    _refuse(estimator, other, "labels")


def _refuse(estimator: Any, gap: float, what: str) -> None:
    if not gap <= TOLERANCE:
        raise DataError(
            f"this {type(estimator).__name__} is not adopted: its {what} differ by {gap:.1g} from those of "
            "its coefficients; does a subclass predict in its own way, was it changed after fitting, or are "
            "numbers so far from zero, or bent so strongly, that digits are lost?"
        )
