"""Whether a domain allows nothing at all: a tree of ends and rows that exclude each other.

Rules that exclude each other are refuted by linear programs in milliseconds. The bounds of regions would get
there, too, but know nothing of that, and with categories they would once for every shape of the densities.
"""

from __future__ import annotations

import math
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from surefoot.problem.domain import Domain
from surefoot.search.certified.branching import WHOLE, choose_fork
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.contradiction import contradiction, linear_terms
from surefoot.search.certified.region import Cut, Region
from surefoot.search.certified.space import Space

Array = NDArray[np.float64]

MOST_PARTS = 60  # of the domain; what is undecided then is left to bounds
MOST_TRIED = 64  # ways of putting the nearest point onto allowed values
INFEASIBLE = 2  # status of a linear program


def allows_nothing(space: Space, whole: Region, clock: Clock) -> bool:
    """Split a region along eithers and sets of values until ends and rows exclude each other in every part.

    False as soon as something is allowed, or where that takes too long; the region is of no use then.
    """
    assert space.problem is not None
    domain, factual = space.problem.domain, space.problem.factual
    stack = [whole]
    for _ in range(MOST_PARTS):
        clock.check()
        region = stack.pop()
        nearest = _nearest(space, region)
        if nearest is None:
            leaf = contradiction(space, region)
            if leaf is None:
                return False
            region.leaf, region.bound = leaf, math.inf
        else:
            if _on_values(domain, factual + nearest):
                return False
            parts = _parts(space, region, space.matrix @ nearest)
            if not parts:
                return False
            stack += parts
        if not stack:
            return True
    return False


def _nearest(space: Space, region: Region) -> Array | None:
    """The least change of the features, in units of their reach, within ends and rows; None without one.

    Few features change in it, and those that do not are on allowed values.
    """
    n, (low, high) = space.n, region.ends(space)
    unit = space.reach[n : 2 * n]
    A = linear_terms(space)[n:] * unit
    least, most = low[n : 2 * n] / unit, high[n : 2 * n] / unit
    rows = slice(2 * n, 2 * n + len(A))
    below, above = np.isfinite(low[rows]), np.isfinite(high[rows])
    sides = np.vstack([A[above], -A[below]])
    found = linprog(
        np.ones(2 * n),
        np.hstack([sides, -sides]) if len(sides) else None,
        np.concatenate([high[rows][above], -low[rows][below]]) if len(sides) else None,
        bounds=[
            *zip(np.maximum(least, 0.0), np.maximum(most, 0.0), strict=True),
            *zip(np.maximum(-most, 0.0), np.maximum(-least, 0.0), strict=True),
        ],
        method="highs-ds",
    )
    if found.status == INFEASIBLE or found.x is None:
        return None
    return np.asarray(unit * (found.x[:n] - found.x[n:]))


def _on_values(domain: Domain, x: Array) -> bool:
    """Whether a point is allowed once its features are on allowed values around it."""
    sets = [s for s in domain.sets if not s.contains(float(x[s.feature]))]
    around = [
        [v for v in (s.at_most(float(x[s.feature])), s.at_least(float(x[s.feature]))) if math.isfinite(v)]
        for s in sets
    ]
    for values in islice(product(*around), MOST_TRIED):
        moved = x.copy()
        moved[[s.feature for s in sets]] = values
        if domain.contains(np.clip(moved, domain.low, domain.high)):
            return True
    return False


def _parts(space: Space, region: Region, u: Array) -> list[Region]:
    """What a region is split into: the ways of an either that a point misses, or values around it."""
    fork = choose_fork(space, region, 1.0, u, region.ends(space))
    if fork is not None:
        return region.take(fork)
    along, cuts = space.directions @ u, []
    for k, (values, offset) in space.sets.items():
        value = float(along[k]) + offset
        a, b = values.at_most(value), values.at_least(value)
        off = min(value - a, b - value) / float(space.reach[k])
        if off > WHOLE and math.isfinite(b - a):
            cuts.append((off, Cut(k, a - offset, b - offset)))
    return region.split(max(cuts, key=lambda entry: entry[0])[1]) if cuts else []
