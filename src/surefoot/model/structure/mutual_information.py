"""Conditional mutual information of binned features given the class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.model.moments import quantiles, row_chunks

Array = NDArray[np.float64]
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
