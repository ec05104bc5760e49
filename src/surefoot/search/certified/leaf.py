"""Leaf: the entries of a certificate that refute one region."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Affine = list[Any]  # an affine function as certificates name it
ONE: Affine = ["1"]


@dataclass(frozen=True, eq=False)
class Leaf:
    """Weights of functions that are not negative in a region, whose sum is negative everywhere.

    Parameters
    ----------
    level : float
        Nothing lies in the region within this distance.
    norm : list of float
    cross : list of (i, j, weight)
    products : list of (weight, affine, affine)
    margins : dict of scenario -> weight
    between : list of (weight, direction, low, high)
        Neighbouring allowed values of a direction.
    rates : array of shape (n,) or None
        What coordinates cost in the region (p = 1 and 2): ``cross`` is about rates_i u_i. None if all are 1.
    """

    level: float
    norm: list[float]
    cross: list[tuple[int, int, float]]
    products: list[tuple[float, Affine, Affine]]
    margins: dict[int, float]
    between: list[tuple[float, int, float, float]] = field(default_factory=list)
    rates: NDArray[np.float64] | None = None

    def cross_at(self, rates: NDArray[np.float64] | None) -> list[tuple[int, int, float]]:
        """``cross`` in a part of the region, where coordinates cost more.

        The squares of coordinates weigh more there, the terms of two are to weigh the same. A coordinate that
        costs less is zero there.
        """
        if self.rates is None or rates is None:
            return self.cross
        share = np.minimum(self.rates / rates, 1.0).tolist()
        return [(i, j, w * share[i] * share[j]) for i, j, w in self.cross]
