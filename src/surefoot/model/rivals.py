"""The models that a classifier is compared with: logistic regression and gradient boosting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Fold = tuple[Codes, Codes]

LOGISTIC, BOOSTING = "logistic regression", "gradient boosting"
MANY_ROWS = 50_000  # fewer are done sooner by one thread than by many that wait for each other
MOST_VALUES = 250  # of a category; gradient boosting reads those with more as numbers


def held_out_probabilities(
    numbers: Array, codes: Codes, labels: Codes, folds: list[Fold]
) -> Iterator[tuple[str, Array]]:
    """Probabilities that each rival, fitted on the other folds, gives to the classes of every row.

    Parameters
    ----------
    numbers : array of shape (rows, n_numbers)
        With nan for holes.
    codes : array of shape (rows, n_categories)
        With -1 for holes.
    labels : array of int
    folds : list of (train, test)
    """
    inputs = {LOGISTIC: _one_hot(numbers, codes), BOOSTING: np.hstack([numbers, _nan_for_holes(codes)])}
    for name, X in inputs.items():
        found = np.empty((len(labels), labels.max() + 1))
        for train, test in folds:
            model = _logistic() if name == LOGISTIC else _boosting(numbers.shape[1], codes)
            with threadpool_limits(1 if len(train) < MANY_ROWS else None):
                model.fit(_filled(X, train, name), labels[train])
                found[test] = model.predict_proba(_filled(X, test, name, train))
        yield name, found


def _logistic() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))


def _boosting(n_numbers: int, codes: Codes) -> Any:
    """Few leaves and small steps: tables of some hundred rows are overfitted otherwise."""
    sizes = codes.max(axis=0, initial=-1) + 1
    categories = [n_numbers + k for k, size in enumerate(sizes) if size <= MOST_VALUES]
    return HistGradientBoostingClassifier(
        learning_rate=0.05,
        max_iter=150,
        max_leaf_nodes=8,
        categorical_features=categories or None,
        early_stopping=False,
        random_state=0,
    )


def _one_hot(numbers: Array, codes: Codes) -> Array:
    """Numbers, and a column for each value of each category; a missing one has none of them."""
    columns = [numbers]
    columns += [
        (codes[:, [k]] == np.arange(codes[:, k].max() + 1)).astype(float) for k in range(codes.shape[1])
    ]
    return np.hstack(columns)


def _nan_for_holes(codes: Codes) -> Array:
    return np.where(codes < 0, np.nan, codes)


def _filled(X: Array, rows: Codes, name: str, train: Codes | None = None) -> Array:
    """Rows for one rival; logistic regression gets the medians of its training rows for holes."""
    part = X[rows]
    if name != LOGISTIC or not np.isnan(X).any():
        return part
    with np.errstate(all="ignore"):
        medians = np.nan_to_num(_medians(X[rows if train is None else train]))
    return np.where(np.isnan(part), medians, part)


def _medians(X: Array) -> Array:
    """Column medians; nan (and no warning) for columns without a value."""
    found = [np.median(column[~np.isnan(column)]) if (~np.isnan(column)).any() else np.nan for column in X.T]
    return np.array(found)
