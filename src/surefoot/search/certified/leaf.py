"""Leaf: the entries of a certificate that refute one region."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
    """

    level: float
    norm: list[float]
    cross: list[tuple[int, int, float]]
    products: list[tuple[float, Affine, Affine]]
    margins: dict[int, float]
    between: list[tuple[float, int, float, float]] = field(default_factory=list)
