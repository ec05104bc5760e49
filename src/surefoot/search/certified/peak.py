"""The peak of a concave quadratic between ends: a least-distance problem, by non-negative least squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Array = NDArray[np.float64]

EXCLUDED = 1e-9  # of one: where less than this is left of the target, the ends exclude each other
DOUBTFUL = 1e-3  # of one: where more than this is left, the place surely is between its ends
OUTSIDE = 1e-3  # of what is lacking: a place this far beyond its ends is none
FAR = 1e100  # times what is lacking most: an end that is farther off never has a price
ROUNDS = 20  # for each end


class Peak(NamedTuple):
    """Prices of the ends, none negative.

    ``excluded``: whether the ends exclude each other; the prices show it then, and ``missing``, by how much.
    """

    prices: Array
    excluded: bool = False
    missing: float = 0.0


@dataclass(frozen=True, eq=False)
class Columns:
    """What prices act through: a column for every end. Many peaks between other ends have them in common."""

    matrix: Array

    @cached_property
    def _posed(self) -> tuple[Array, float, Array]:
        """The matrix of the least squares, whose last row each peak fills in; its unit; the target."""
        n, m = self.matrix.shape
        E, target = np.empty((n + 1, m)), np.zeros(n + 1)
        np.negative(self.matrix, out=E[:n])
        target[n] = 1.0
        return E, max(float(np.abs(self.matrix).max()), 1e-300), target

    def peak(self, free: Array, ends: Array, stated: NDArray[np.intp] | None = None) -> Peak:
        """Prices at the z nearest to ``free`` with columns' z <= ends; ``stated``: those that may have one.

        Lawson and Hanson: the prices of the nearest z, up to a factor, are the y >= 0 for which the columns,
        each with what it lacks below it, come nearest to (0, ..., 0, 1).
        """
        lacking = free.dot(self.matrix)
        lacking -= ends
        most = float(lacking[lacking.argmax()])
        if most <= 0 or (stated is not None and not len(stated)):  # scipy's nnls dies of no columns
            return Peak(np.zeros(len(ends)))
        E, steep, target = self._posed
        unit = most / steep
        np.maximum(lacking, -FAR * unit, out=E[-1])
        E[-1] /= unit
        try:
            y = nnls(E if stated is None else E[:, stated], target, maxiter=ROUNDS * len(ends))[0]
        except RuntimeError:  # too many rounds: no prices are prices too
            return Peak(np.zeros(len(ends)))
        if stated is not None:
            some, y = y, np.zeros(len(ends))
            y[stated] = some
        missing = float(lacking.dot(y))
        left = 1.0 - missing / unit
        prices = y * (unit / max(left, EXCLUDED))
        if left < DOUBTFUL and (left < EXCLUDED or self._beyond(prices, lacking) > OUTSIDE * most):
            return Peak(y, True, missing)
        return Peak(prices)

    def _beyond(self, prices: Array, lacking: Array) -> float:
        """How far beyond an end the place free - columns prices is."""
        left = lacking - self.matrix.dot(prices).dot(self.matrix)
        return float(left[left.argmax()])
