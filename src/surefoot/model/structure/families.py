"""How well a feature is explained by a set of parents, class by class and cell by cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Group = tuple[int, ...]

SMOOTHING = 10.0  # rows of the class's average that every cell is shrunk by, as in the fitted network
RIDGE = 1e-6  # added to variances of standardised numbers
# Counts of a category and its parents beyond which they are not considered: forty megabytes, and far more
# parameters than rows in any table of a million rows. Ten times as many would be felt.
MOST_COUNTS = 5_000_000
ROWS_PER_CELL = 5.0  # parents whose values split the rows more finely are not considered


class FamilyScores:
    """``log likelihood - log(N) / 2 * parameters`` of a feature given its parents; remembered once computed.

    A family's cells are the combinations of the class and the values of its categorical parents that occur.
    In each, a category has a table and a number a linear regression on its parents among the numbers, both
    shrunk towards the class.

    Parameters
    ----------
    X : array of shape (rows, n_numbers)
    categories : array of shape (rows, n_categories)
    positions : sequence of int
        Positions of the categories among all features.
    classes : array of int
    weights : array, optional
    """

    def __init__(
        self,
        X: NDArray[np.floating],
        categories: NDArray[np.intp],
        positions: Sequence[int],
        classes: NDArray[np.intp],
        weights: Array | None = None,
    ) -> None:
        w = np.ones(len(classes)) if weights is None else np.asarray(weights, dtype=float)
        rows = np.flatnonzero(w > 0)
        self.weights, self.classes = w[rows], np.unique(classes[rows], return_inverse=True)[1]
        self.categories, self.positions = categories[rows], list(positions)
        self.sizes = self.categories.max(axis=0) + 1
        features = range(X.shape[1] + len(self.positions))
        self.numbers = [i for i in features if i not in set(positions)]
        self.extended = _standardized(np.asarray(X, dtype=float)[rows], self.weights)
        self.price = 0.5 * np.log(self.weights.sum())
        self._scores: dict[tuple[int, frozenset[int]], float] = {}
        self._cells: dict[Group, tuple[NDArray[np.intp], NDArray[np.intp]]] = {}
        self._moments: dict[Group, Array] = {}

    def __call__(self, child: int, parents: frozenset[int]) -> float:
        """Score of one family, by positions of features."""
        key = (child, parents)
        if key not in self._scores:
            given = tuple(k for k, position in enumerate(self.positions) if position in parents)
            if child in self.positions:
                score = self._category(self.positions.index(child), given)
            else:
                others = [m for m, position in enumerate(self.numbers) if position in parents]
                score = self._number(self.numbers.index(child), others, given)
            self._scores[key] = score
        return self._scores[key]

    def total(self, parents: Sequence[frozenset[int]]) -> float:
        """Score of a whole graph."""
        return float(sum(self(i, group) for i, group in enumerate(parents)))

    def _category(self, child: int, given: Group) -> float:
        size = int(self.sizes[child])
        cell, class_of = self._cell(given)
        if given and len(class_of) * size > MOST_COUNTS:
            return -np.inf
        own = self.categories[:, child]
        counts = np.bincount(cell * size + own, self.weights, len(class_of) * size).reshape(-1, size)
        within = np.zeros((self.classes.max() + 1, size))
        np.add.at(within, class_of, counts)
        # One row spread evenly keeps values that a class never shows possible.
        shares = (within + 1.0 / size) / (within.sum(axis=1, keepdims=True) + 1.0)
        smoothed = counts + SMOOTHING * shares[class_of]
        likelihood = np.sum(counts * np.log(smoothed / smoothed.sum(axis=1, keepdims=True)))
        return float(likelihood - self.price * len(class_of) * (size - 1))

    def _number(self, child: int, others: list[int], given: Group) -> float:
        _, class_of = self._cell(given)
        if given and len(class_of) * ROWS_PER_CELL > self.weights.sum():
            return -np.inf
        chosen = [0, *(1 + m for m in others), 1 + child]
        moments = self._cell_moments(given)[:, chosen][:, :, chosen]
        average = np.zeros((self.classes.max() + 1, len(chosen), len(chosen)))
        np.add.at(average, class_of, moments)
        average /= average[:, :1, :1]
        fitted = moments + (SMOOTHING * average[class_of] if given else 0.0)
        likelihood = _regression_likelihood(fitted, moments)
        return float(likelihood - self.price * len(class_of) * (len(others) + 2))

    def _cell(self, given: Group) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Cell of each row, and class of each cell."""
        if given not in self._cells:
            combined = self.classes
            for k in given:
                combined = combined * self.sizes[k] + self.categories[:, k]
            _, first, cell = np.unique(combined, return_index=True, return_inverse=True)
            self._cells[given] = cell, self.classes[first]
        return self._cells[given]

    def _cell_moments(self, given: Group) -> Array:
        """Weighted sums of products of (1, z) in each cell."""
        if given not in self._moments:
            cell, class_of = self._cell(given)
            order = np.argsort(cell, kind="stable")
            ends = np.cumsum(np.bincount(cell, minlength=len(class_of)))[:-1]
            Z = self.extended * np.sqrt(self.weights)[:, None]
            self._moments[given] = np.array([part.T @ part for part in np.split(Z[order], ends)])
        return self._moments[given]


def _standardized(X: Array, weights: Array) -> Array:
    """(1, z): a column of ones, and the numbers with mean zero and variance one."""
    mean = weights @ X / weights.sum()
    deviation = np.sqrt(weights @ (X - mean) ** 2 / weights.sum())
    return np.column_stack([np.ones(len(X)), (X - mean) / np.where(deviation > 0, deviation, 1.0)])


def _regression_likelihood(fitted: Array, observed: Array) -> float:
    """Log likelihood of observed cells under regressions from fitted ones; the last column is the child."""
    counts = fitted[:, 0, 0]
    means = fitted[:, 0, 1:] / counts[:, None]
    S = fitted[:, 1:, 1:] / counts[:, None, None] - means[:, :, None] * means[:, None, :]
    S = S + RIDGE * np.eye(S.shape[1])
    weights = np.linalg.solve(S[:, :-1, :-1], S[:, :-1, -1:])[:, :, 0]
    variances = np.maximum(S[:, -1, -1] - np.einsum("ij,ij->i", weights, S[:, :-1, -1]), RIDGE)
    slopes = np.column_stack([-weights, np.ones(len(weights))])
    residual = np.column_stack([-np.einsum("ij,ij->i", slopes, means), slopes])
    squares = np.einsum("ij,ijk,ik->i", residual, observed, residual)
    n = observed[:, 0, 0]
    return float(-0.5 * np.sum(n * np.log(2 * np.pi * variances) + squares / variances))
