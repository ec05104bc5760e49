"""The peak of a concave quadratic between ends: a least-distance problem, by non-negative least squares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Array = NDArray[np.float64]

EXCLUDED = 1e-9  # of one: where less than this is left of the target, the ends exclude each other
OUTSIDE = 1e-3  # of what is lacking: a place this far beyond its ends is none
ROUNDS = 20  # for each end


class Peak(NamedTuple):
    """Prices of the ends, none negative, and the place z = free - columns @ prices.

    ``ray``: where the ends exclude each other, prices that show it, and ``missing``, by how much they do.
    """

    prices: Array
    z: Array
    ray: Array | None = None
    missing: float = 0.0


def peak(columns: Array, steep: float, free: Array, ends: Array) -> Peak:
    """The z nearest to ``free`` with columns' z <= ends; steep: the largest entry of the columns.

    Lawson and Hanson: the prices of the nearest z, up to a factor, are the y >= 0 for which the columns,
    each with what it lacks below it, come nearest to (0, ..., 0, 1).
    """
    lacking = free @ columns - ends
    most = float(lacking.max())
    if most <= 0:
        return Peak(np.zeros(len(ends)), free)
    n, unit = len(free), most / steep
    E = np.empty((n + 1, len(ends)))
    np.negative(columns, out=E[:n])
    np.divide(lacking, unit, out=E[n])
    target = np.zeros(n + 1)
    target[n] = 1.0
    try:
        y = nnls(E, target, maxiter=ROUNDS * len(ends))[0]
    except RuntimeError:  # too many rounds: no prices are prices too
        return Peak(np.zeros(len(ends)), free)
    left, missing = 1.0 - float(E[n] @ y), float(lacking @ y)
    prices = y * (unit / max(left, EXCLUDED))
    z = free - columns @ prices
    beyond = left < EXCLUDED or float((z @ columns - ends).max()) > OUTSIDE * most
    if beyond and missing > 0:
        return Peak(np.zeros(len(ends)), free, y, missing)
    return Peak(prices, z)
