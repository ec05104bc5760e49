"""Ends of features and rows that exclude each other at any distance, as a leaf of a certificate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from surefoot.search.certified.fork import rows_of_ways
from surefoot.search.certified.leaf import ONE, Leaf
from surefoot.search.certified.proof import Ends, side
from surefoot.search.certified.region import Region
from surefoot.search.certified.space import Space

Array = NDArray[np.float64]

CLEAR = 1e-9  # of what is added up: by how much ends must exclude each other
IDLE = 1e-9  # of the sum of weights: less than this is none
BITS = 53  # of a double
MOST_BITS = 1000  # that a weight may need: doubles hold little more beside each other


def contradiction(space: Space, region: Region) -> Leaf | None:
    """Weights y >= 0 of rows a_k'x <= b_k with sum y_k a_k = 0 and sum y_k b_k < 0 (Farkas); None without.

    An open domain has no farthest point, so that the sum of a leaf must not depend on x at all: the weights
    that a linear program finds are computed anew in rational numbers, and written as sums of doubles.
    """
    ends = Ends(space, region, *region.ends(space))
    coefficients, n = linear_terms(space).tolist(), space.n
    sides = [
        (k, above)
        for k in range(n, n + len(coefficients))
        for above, end in ((False, ends.low[k]), (True, ends.high[k]))
        if math.isfinite(end)
    ]
    support = _support(ends, sides)
    signed = [[Fraction(a if above else -a) for a in coefficients[k - n]] for k, above in support]
    weights = _written(_dependence(signed))
    if not weights:
        return None
    products = [
        (part, side(ends, k, above), ONE)
        for (k, above), parts in zip(support, weights, strict=True)
        for part in parts
    ]
    return Leaf(math.inf, [], [], products, {})


def linear_terms(space: Space) -> Array:
    """Coefficients of features, rows of the domain and rows of ways, to the last digit."""
    assert space.problem is not None
    domain = space.problem.domain
    return np.vstack([domain.linear()[0], *rows_of_ways(domain)])


def _support(ends: Ends, sides: Sequence[tuple[int, bool]]) -> list[tuple[int, bool]]:
    """Sides of directions that exclude each other, none of which can be left out; empty without."""
    if not sides:
        return []
    space, signs = ends.space, [1.0 if above else -1.0 for _, above in sides]
    k = [k for k, _ in sides]
    rows = np.array(signs)[:, None] * space.directions[k] / space.reach[k, None]
    room = np.array([(ends.high[j] if above else -ends.low[j]) / space.reach[j] for j, above in sides])
    equal, total = np.vstack([rows.T, np.ones(len(k))]), np.append(np.zeros(space.n), 1.0)
    found = linprog(room, A_eq=equal, b_eq=total, method="highs-ds")
    if found.x is None or not float(found.x @ room) < -CLEAR * float(found.x @ np.abs(room)):
        return []
    return [one for one, weight in zip(sides, found.x.tolist(), strict=True) if weight > IDLE]


def _dependence(rows: list[list[Fraction]]) -> list[Fraction]:
    """Positive y with sum y_k rows_k = 0, the last of them 1; empty where there are none, or several."""
    solved: list[list[Fraction]] = []
    left = [list(column) for column in zip(*rows, strict=True)]
    for k in range(len(rows) - 1):
        pivot = next((column for column in left if column[k]), None)
        if pivot is None:
            return []
        left.remove(pivot)
        pivot = [v / pivot[k] for v in pivot]
        solved, left = [*_cleared(solved, pivot, k), pivot], _cleared(left, pivot, k)
    if any(column[-1] for column in left):
        return []
    found = [*(-column[-1] for column in solved), Fraction(1)]
    return found if len(rows) > 1 and min(found) > 0 else []


def _cleared(columns: list[list[Fraction]], pivot: list[Fraction], k: int) -> list[list[Fraction]]:
    """The columns less so many times the pivot that entry k is zero."""
    return [[v - column[k] * p for v, p in zip(column, pivot, strict=True)] for column in columns]


def _written(weights: list[Fraction]) -> list[list[float]]:
    """The weights times one number, each as doubles whose sum it is to the last digit; empty if too long."""
    common = math.lcm(*(w.denominator for w in weights))
    whole = [int(w * common) for w in weights]
    longest = max((w.bit_length() for w in whole), default=0)
    return [_doubles(w, longest) for w in whole] if longest <= MOST_BITS else []


def _doubles(whole: int, scale: int) -> list[float]:
    """Doubles whose sum is a whole number over a power of two."""
    found = []
    while whole:
        shift = max(whole.bit_length() - BITS, 0)
        found.append(math.ldexp(float(whole >> shift), shift - scale))
        whole -= whole >> shift << shift
    return found
