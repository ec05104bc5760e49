"""Conditional mutual information of binned features given the class."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from surefoot.model.moments import quantiles, row_chunks

Array = NDArray[np.float64]

# Values of a feature up to which all its pairs are counted by one product of matrices. With ten times as
# many, categories of hundreds of values would take gigabytes; with ten times fewer, most pairs would be
# counted one by one, which takes longer.
WIDE = 64
INDICATORS = 4_000_000  # entries of such a matrix at a time, 32 megabytes; ten times more would be felt
Codes = NDArray[np.unsignedinteger]


def equal_frequency_codes(X: NDArray[np.floating], n_bins: int, weights: Array | None = None) -> Codes:
    """Replace each value by the number of its bin, bins holding (nearly) equal weight.

    Cut points are observed values, so a value never straddles two bins and a row of weight two counts
    exactly like two rows. Heavily tied columns get fewer bins.

    Parameters
    ----------
    X : array of shape (rows, n_features)
    n_bins : int
    weights : array of shape (rows,), optional

    Examples
    --------
    >>> equal_frequency_codes(np.array([[3.0], [1.0], [2.0], [4.0]]), 2).ravel()
    array([1, 0, 0, 1], dtype=uint8)
    """
    codes = np.empty(X.shape, dtype=np.min_scalar_type(n_bins))  # a byte per value, not eight
    for j in range(X.shape[1]):
        column = np.ascontiguousarray(X[:, j])
        cuts = np.unique(quantiles(column, np.arange(1, n_bins) / n_bins, weights))
        codes[:, j] = np.searchsorted(cuts, column)
    return codes


def feature_codes(
    X: NDArray[np.floating],
    categories: NDArray[np.intp],
    positions: Sequence[int],
    n_bins: int,
    weights: Array | None = None,
) -> NDArray[np.intp]:
    """Bins of the numbers and values of the categories side by side, in the order of the features.

    Parameters
    ----------
    X : array of shape (rows, n_numbers)
        Numbers; nan where missing.
    categories : array of shape (rows, n_categories)
        Codes of the categories' values; -1 where missing.
    positions : sequence of int
        Positions of the categories among all features.
    n_bins : int
        Number of equal-frequency bins of a number.
    weights : array of shape (rows,), optional

    Returns
    -------
    array of shape (rows, n_features)
        With -1 where a value is missing.
    """
    n = X.shape[1] + len(positions)
    codes = np.full((len(X), n), -1, dtype=np.intp)
    codes[:, list(positions)] = categories
    numbers = [i for i in range(n) if i not in set(positions)]
    for column, position in zip(X.T, numbers, strict=True):
        rows = np.flatnonzero(~np.isnan(column))
        if rows.size:
            part = None if weights is None else weights[rows]
            codes[rows, position] = equal_frequency_codes(column[rows, None], n_bins, part)[:, 0]
    return codes


def corrected_mutual_information(
    codes: NDArray[np.intp], classes: NDArray[np.intp], weights: Array | None = None
) -> Array:
    """I(X_i; X_j | Y) for all pairs in nats, less what chance alone would give: at least zero.

    Independent features with a and b values seem to share ``(a - 1)(b - 1) / (2 N)`` nats in a class of N
    rows; without this correction categories of many values would win. A row counts for the pairs of features
    that it has values of.

    Parameters
    ----------
    codes : array of shape (rows, n_features)
        What `feature_codes` returns.
    classes : array of shape (rows,)
    weights : array of shape (rows,), optional
    """
    n = codes.shape[1]
    sizes = codes.max(axis=0) + 1
    # All pairs of features with few values are counted by one product, the others pair by pair.
    starts = np.concatenate([[0], np.cumsum(np.where(sizes > WIDE, 0, sizes))])
    w = np.ones(len(codes)) if weights is None else weights
    information, total = np.zeros((n, n)), np.zeros((n, n))
    for c in np.unique(classes[w > 0]):
        rows = np.flatnonzero((classes == c) & (w > 0))
        counts = _present_counts(codes, rows, w, starts)
        for i, j in combinations(range(n), 2):
            if max(sizes[i], sizes[j]) > WIDE:
                block = _pair_counts(codes[rows][:, (i, j)], w[rows])
            else:
                block = counts[starts[i] : starts[i + 1], starts[j] : starts[j + 1]]
            information[i, j] += _excess_information(block)
            total[i, j] += block.sum()
    # A pair that is never seen together carries no information that could be used.
    information = np.maximum(information, 0.0) / np.where(total > 0, total, 1.0)
    return np.asarray(information + information.T)


def _present_counts(
    codes: NDArray[np.intp], rows: NDArray[np.intp], w: Array, starts: NDArray[np.intp]
) -> Array:
    """Weight of every pair of values of features with few values; missing values do not count."""
    counts = np.zeros((starts[-1], starts[-1]))
    narrow = np.diff(starts) > 0
    for chunk in row_chunks(len(rows), INDICATORS // max(1, int(starts[-1]))):
        part = rows[chunk]
        indicator = np.zeros((len(part), starts[-1]))
        present, feature = np.nonzero((codes[part] >= 0) & narrow)
        columns = codes[part[present], feature] + starts[feature]
        indicator[present, columns] = np.sqrt(w[part[present]])
        counts += indicator.T @ indicator
    return counts


def _pair_counts(codes: NDArray[np.intp], w: Array) -> Array:
    """Weight of every pair of values of two features that occur: as large as the rows make it, at most."""
    known = (codes >= 0).all(axis=1)
    if not known.any():
        return np.zeros((1, 1))
    # Values that do not occur say nothing; without them the table has at most as many cells as it may.
    (one, a), (other, b) = (np.unique(codes[known, side], return_inverse=True) for side in (0, 1))
    size = len(one) * len(other)
    counts: Array = np.bincount(a * len(other) + b, w[known], size).astype(float)
    return counts.reshape(len(one), len(other))


def _excess_information(counts: Array) -> float:
    """N times the mutual information of a table of counts, less its expectation under independence."""
    rows, columns, total = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
    if total == 0:
        return 0.0
    present = counts > 0
    ratio = np.divide(counts * total, np.outer(rows, columns), out=np.ones_like(counts), where=present)
    chance = (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1) / 2
    return float(np.sum(counts * np.log(ratio)) - chance)


def conditional_mutual_information(
    codes: Codes, classes: NDArray[np.intp], weights: Array | None = None
) -> Array:
    """I(X_i; X_j | Y) = sum_c P(c) I(X_i; X_j | Y = c) for all pairs, in nats.

    Joint counts of all pairs at once are one product of indicator matrices.

    Parameters
    ----------
    codes : array of shape (rows, n_features)
        What `equal_frequency_codes` returns.
    classes : array of shape (rows,)
    weights : array of shape (rows,), optional
    """
    n = codes.shape[1]
    n_bins = int(codes.max()) + 1
    # Counts below 2^24 are exact in single precision, which halves the time of the products.
    w = np.ones(len(codes), dtype=np.float32) if weights is None else weights
    information, total = np.zeros((n, n)), 0.0
    for c in np.unique(classes[w > 0]):
        rows = np.flatnonzero((classes == c) & (w > 0))
        joint = _joint_counts(codes, rows, w, n_bins)
        weight = float(w[rows].sum(dtype=np.float64))
        information += weight * _mutual_information(joint / weight)
        total += weight
    np.fill_diagonal(information, 0.0)
    return information / total


def _joint_counts(codes: Codes, rows: NDArray[np.intp], w: NDArray[np.floating], n_bins: int) -> Array:
    """Array ``[i, a, j, b]``: weight of rows with feature i in bin a and feature j in bin b."""
    n = codes.shape[1]
    counts = np.zeros((n * n_bins, n * n_bins))
    columns = np.arange(n) * n_bins
    for chunk in row_chunks(len(rows)):
        part = rows[chunk]
        indicator = np.zeros((len(part), n * n_bins), dtype=w.dtype)
        indicator[np.arange(len(part))[:, None], codes[part] + columns] = np.sqrt(w[part])[:, None]
        counts += indicator.T @ indicator
    return counts.reshape(n, n_bins, n, n_bins)


def _mutual_information(joint: Array) -> Array:
    """Mutual information of every pair from joint probabilities ``[i, a, j, b]``."""
    marginal = np.array([np.diagonal(joint[i, :, i, :]) for i in range(len(joint))])
    independent = marginal[:, :, None, None] * marginal[None, None]
    present = joint > 0
    ratio = np.divide(joint, independent, out=np.ones_like(joint), where=present)
    information = np.sum(joint * np.log(ratio), axis=(1, 3))
    return np.asarray(np.maximum((information + information.T) / 2, 0.0))
