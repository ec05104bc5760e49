"""The first guess for missing values: the mean or the most frequent value of the row's class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.intp]


def completed_by_class(
    numbers: NDArray[np.floating], codes: Codes, classes: Codes, weights: Array | None = None
) -> tuple[Array, Codes]:
    """Copies without holes; where a class has no value at all, those of all classes serve.

    Parameters
    ----------
    numbers : array of shape (rows, n_numbers)
        With nan for holes.
    codes : array of shape (rows, n_categories)
        With -1 for holes.
    classes : array of shape (rows,)
    weights : array of shape (rows,), optional
    """
    w = np.ones(len(classes)) if weights is None else weights
    full, values = np.array(numbers, dtype=float), np.array(codes, dtype=np.intp)
    for j in range(full.shape[1]):
        for hole, present in _holes(np.isnan(full[:, j]), classes):
            full[hole, j] = _mean(full[present, j], w[present])
    for k in range(values.shape[1]):
        for hole, present in _holes(values[:, k] < 0, classes):
            values[hole, k] = np.bincount(values[present, k], w[present], 1).argmax()
    return full, values


def _holes(missing: NDArray[np.bool_], classes: Codes) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """For every class with holes in a column: where they are, and which rows to learn from."""
    found = []
    for c in np.unique(classes[missing]):
        own = ~missing & (classes == c)
        found.append((missing & (classes == c), own if own.any() else ~missing))
    return found


def _mean(values: Array, weights: Array) -> float:
    return float(values @ weights / weights.sum()) if weights.sum() > 0 else 0.0
