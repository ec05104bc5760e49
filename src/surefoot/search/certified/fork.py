"""Fork: an either of the domain, each of its ways as ends of directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.domain import Domain
from surefoot.problem.row import Row

Array = NDArray[np.float64]


class Ends(NamedTuple):
    """low <= direction'u <= high."""

    direction: int
    low: float
    high: float


@dataclass(frozen=True)
class Fork:
    """An either of a space.

    Parameters
    ----------
    number : int
        Its place among the domain's eithers.
    ways : tuple of tuple of Ends
        For each way what its rows say, in their order.
    """

    number: int
    ways: tuple[tuple[Ends, ...], ...]

    def missed(self, way: int, along: Array, reach: Array) -> float:
        """How far a point, given by its values along all directions, is from a way at least."""
        return max(
            (max(low - float(along[k]), float(along[k]) - high) / float(reach[k]))
            for k, low, high in self.ways[way]
        )

    def nearest(self, along: Array, reach: Array) -> list[tuple[float, int]]:
        """The ways with how far a point is from each, the nearest first."""
        return sorted((self.missed(way, along, reach), way) for way in range(len(self.ways)))

    def implied(self, low: Array, high: Array) -> bool:
        """Whether everything between some ends takes one of the ways."""
        return any(all(low[k] >= least and high[k] <= most for k, least, most in ends) for ends in self.ways)


def rows_of_ways(domain: Domain) -> list[Array]:
    """The coefficients of rows that occur in ways alone: neither a feature's nor the domain's own."""
    known = [row.coefficients for row in domain.rows]
    found: list[Array] = []
    for row in (row for either in domain.eithers for way in either.ways for row in way.rows):
        if row.feature is None and _place(row, known + found) is None:
            found.append(row.coefficients)
    return found


def forks(domain: Domain, rows: list[Array], at: Array) -> tuple[Fork, ...]:
    """The eithers of a domain.

    Parameters
    ----------
    domain : Domain
    rows : list of array
        Coefficients of the domain's rows, then of those that occur in ways alone.
    at : array
        What features and rows are at the factual: directions count from there.
    """
    n = domain.n_features

    def ends(row: Row) -> Ends:
        place = _place(row, rows)
        k = row.feature if place is None else n + place
        assert k is not None
        return Ends(n + k, row.low - float(at[k]), row.high - float(at[k]))

    return tuple(
        Fork(number, tuple(tuple(ends(row) for row in way.rows) for way in either.ways))
        for number, either in enumerate(domain.eithers)
    )


def _place(row: Row, rows: list[Array]) -> int | None:
    """Where a row's coefficients are listed."""
    if row.feature is not None:
        return None
    return next((i for i, a in enumerate(rows) if np.array_equal(a, row.coefficients)), None)
