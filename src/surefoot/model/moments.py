"""Sufficient statistics of every class, in one pass over the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROWS_PER_CHUNK = 16_384  # keeps working copies at a few megabytes, whatever the number of rows


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Weight, mean and biased covariance of each class, and the range of each feature.

    Parameters
    ----------
    rows : array of shape (k,)
        Number of rows with positive weight.
    totals : array of shape (k,)
        Sum of weights.
    means : array of shape (k, n)
    covariances : array of shape (k, n, n)
    low, high : arrays of shape (n,)
        Smallest and largest value of each feature.
    """

    rows: NDArray[np.int64]
    totals: Array
    means: Array
    covariances: Array
    low: Array
    high: Array

    @property
    def single(self) -> NDArray[np.bool_]:
        """Classes without a spread of their own: at most one row, and of a weight below two."""
        return np.asarray((self.rows < 2) & (self.totals < 2))

    def borrowed(self) -> ClassMoments:
        """The same, with the average spread of the other classes where a class has a single row."""
        if not self.single.any():
            return self
        covariances = with_borrowed(self.covariances, self.totals, self.single)
        return replace(self, covariances=covariances)

    def pooled_covariance(self) -> Array:
        """Biased covariance of all rows together: within the classes plus between them."""
        share = self.totals / self.totals.sum()
        offsets = self.means - self.means[0]
        offsets -= share @ offsets
        return np.asarray(
            np.tensordot(share, self.covariances, axes=1) + (offsets * share[:, None]).T @ offsets
        )


def with_borrowed(covariances: Array, totals: Array, single: NDArray[np.bool_]) -> Array:
    """Covariances by class, those of single rows replaced by the others' average by weight."""
    share = np.where(single, 0.0, totals)
    average = np.tensordot(share / share.sum(), covariances, axes=1)
    return np.where(single[:, None, None], average, covariances)


@np.errstate(over="ignore", invalid="ignore")  # the caller names columns whose squares overflow
def class_moments(
    X: NDArray[Any], codes: NDArray[np.intp], n_classes: int, weights: Array | None = None
) -> ClassMoments:
    """Accumulate the moments chunk by chunk.

    Each chunk is centred on its own means and merged by the update of Chan, Golub and LeVeque (1983),
    so that neither large offsets nor sorted rows cost digits.
    """
    n = X.shape[1]
    # Counted from the first row, so that a constant column has exactly zero deviations.
    reference = X[0].astype(np.float64)
    rows = np.zeros(n_classes, dtype=np.int64)
    totals, means = np.zeros(n_classes), np.zeros((n_classes, n))
    scatter = np.zeros((n_classes, n, n))
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    for c, Z, w in _groups(X, codes, weights):
        np.minimum(low, Z.min(axis=0), out=low)
        np.maximum(high, Z.max(axis=0), out=high)
        Z -= reference
        total = w.sum()
        mean = w @ Z / total
        Z -= mean
        Z *= np.sqrt(w)[:, None]
        step = mean - means[c]
        merged = totals[c] + total
        scatter[c] += Z.T @ Z + np.outer(step, step) * (totals[c] * total / merged)
        means[c] += step * (total / merged)
        totals[c] = merged
        rows[c] += len(Z)
    covariances = scatter / np.where(totals > 0, totals, 1.0)[:, None, None]
    return ClassMoments(rows, totals, means + reference, covariances, low, high)


def row_chunks(n_rows: int, most: int = ROWS_PER_CHUNK) -> Iterator[slice]:
    """Slices that cut ``n_rows`` rows into chunks of at most so many."""
    size = max(1, min(most, ROWS_PER_CHUNK))
    for start in range(0, n_rows, size):
        yield slice(start, start + size)


def _groups(
    X: NDArray[Any], codes: NDArray[np.intp], weights: Array | None
) -> Iterator[tuple[int, Array, Array]]:
    """Yield (class, its rows in this chunk as a fresh float64 copy, their weights)."""
    for chunk in row_chunks(len(X)):
        c, w = codes[chunk], np.ones(len(codes[chunk])) if weights is None else weights[chunk]
        for k in np.unique(c[w > 0]):
            rows = np.flatnonzero((c == k) & (w > 0))
            yield int(k), X[chunk][rows].astype(np.float64), w[rows]


def quantiles(column: NDArray[Any], levels: Array, weights: Array | None) -> NDArray[Any]:
    """Observed values at which the cumulative weight reaches the given shares of the total."""
    if weights is None:  # sorting alone is ten times as fast as sorting with the order kept
        ordered, cumulative = np.sort(column), np.arange(1.0, len(column) + 1)
    else:
        order = np.argsort(column, kind="stable")
        ordered, cumulative = column[order], np.cumsum(weights[order])
    # Sums of fractional weights carry rounding errors; a cut that falls on a row must stay there.
    targets = cumulative[-1] * np.asarray(levels) * (1 - 1e-12)
    return np.asarray(ordered[np.searchsorted(cumulative, targets)])
