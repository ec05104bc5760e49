"""Presolve: what rules leave no choice about is settled before the search.

Opposite rules make an equation, and features that can only be at an end are held there.

Two rows with no room between them leave a search no interior and a proof nothing to rest on; with an
equation, or a value that cannot change, both are easy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.row import Row

Array = NDArray[np.float64]

ROUNDING = Fraction(1, 2**50)  # of the absolute terms: what the last digits of doubles do to a sum


def joined(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows, with one equation in the place of two that bound the same sum by the same number.

    Examples
    --------
    >>> above, below = Row([1.0, 1.0], 200.0, np.inf, "above"), Row([-2.0, -2.0], -400.0, np.inf, "below")
    >>> [(row.low, row.high, row.name) for row in joined([above, below])]
    [(200.0, 200.0, 'above and below')]
    """
    left, found = list(rows), []
    while left:
        row = left.pop(0)
        for place, other in enumerate(left):
            if _are_opposite(row, other):
                end = row.low if math.isfinite(row.low) else row.high
                row = replace(row, low=end, high=end, name=f"{row.name} and {other.name}")
                del left[place]
                break
        found.append(row)
    return tuple(found)


def _are_opposite(row: Row, other: Row) -> bool:
    """Whether one row is an end of a sum from below and the other the same end from above."""
    if math.isfinite(row.low) == math.isfinite(row.high) or math.isfinite(other.low) == math.isfinite(
        other.high
    ):
        return False
    a, b = ([Fraction(v) for v in one.coefficients.tolist()] for one in (row, other))
    factor = next(w / v for v, w in zip(a, b, strict=True) if v)
    own, ends = (
        (row.low, (other.high, other.low)) if math.isfinite(row.low) else (row.high, (other.low, other.high))
    )
    end = ends[factor < 0]
    return math.isfinite(end) and Fraction(end) == factor * Fraction(own) and b == [factor * v for v in a]


def held(low: Array, high: Array, rows: Sequence[Row]) -> tuple[Array, Array, tuple[Row, ...]]:
    """The ends, made equal where a row can be met (up to rounding) only with its features at an end.

    Such a row says nothing more then, and is left out; also where they are held already, so that whoever
    starts from the ends of a domain comes to the same rows.

    Examples
    --------
    >>> held(np.array([0.0, 0.0]), np.array([3.0, 4.0]), [Row([1.0, -1.0], 3.0, np.inf)])
    (array([3., 0.]), array([3., 0.]), ())
    """
    low, high, left, again = low.copy(), high.copy(), list(rows), True
    while again:
        again = False  # ends that were made equal may hold features of rows that were looked at before
        for row in tuple(left):
            ends = _holding(row, low, high)
            if ends is not None:
                free = (row.coefficients != 0) & (low < high)
                low[free] = high[free] = ends[free]
                left.remove(row)
                again = again or bool(free.any())
    return low, high, tuple(left)


def _holding(row: Row, low: Array, high: Array) -> Array | None:
    """The ends at which alone a row can be met; None where there is more room."""
    up = row.coefficients > 0
    for ends, limit in ((np.where(up, low, high), row.high), (np.where(up, high, low), row.low)):
        if _is_met_there(row, ends, limit):
            return ends
    return None


def _is_met_there(row: Row, x: Array, limit: float) -> bool:
    """Whether the sum of a row is its limit at a point."""
    used = np.flatnonzero(row.coefficients)
    if not (np.isfinite(x[used]).all() and math.isfinite(limit)):
        return False
    pairs = zip(row.coefficients[used].tolist(), x[used].tolist(), strict=True)
    terms = [Fraction(a) * Fraction(v) for a, v in pairs]
    return abs(sum(terms, Fraction(0)) - Fraction(limit)) <= ROUNDING * sum(map(abs, terms), Fraction(0))
