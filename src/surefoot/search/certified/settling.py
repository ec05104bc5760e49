"""Allowed values of the few features that move: points on them, and where to cut between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.changes import Choice, Cut
from surefoot.search.certified.region import Scenario
from surefoot.search.certified.space import Space

Array = NDArray[np.float64]

WHOLE = 1e-6  # standard deviations; a value this near to an allowed one counts as allowed
MARGIN = 0.3  # other cuts stay this share of the range away from its ends
MOST_SETTLED = 8  # features of which both neighbouring values are tried


class Open(NamedTuple):
    """A choice that was not refuted.

    Parameters
    ----------
    far : float
        About how far it is to a point.
    choice : Choice
    changes, spread : arrays of shape (n,)
        Of the features in the relaxed solution: their changes, and variances around them.
    low, high : arrays of shape (n,)
        Between which ends the changes lie.
    """

    far: float
    choice: Choice
    changes: Array
    spread: Array
    low: Array
    high: Array

    @property
    def moving(self) -> list[int]:
        """The features that move."""
        return [int(j) for j in np.flatnonzero(self.low < self.high)]


def choose_cut(space: Space, open_: Open) -> Cut | None:
    """Where to cut a choice: at today's value where prices differ, or between allowed values.

    None where neither is left: then a search does better.
    """
    n, sides = space.n, space.prices.undecided if space.prices is not None and space.norm < np.inf else None
    moving = open_.moving
    for j in moving:
        if sides is not None and sides[j] and open_.low[j] < 0 < open_.high[j]:
            return Cut(j, 0.0, 0.0)
    settled = [j for j in moving if n + j in space.sets]
    if not settled or space.forks:
        return None
    off = {j: _neighbours(space, open_, j) for j in settled}
    j = max(off, key=lambda j: off[j][0])
    if off[j][0] > WHOLE:
        return Cut(j, *off[j][1:])
    return _spread_cut(space, open_, moving)


def _neighbours(space: Space, open_: Open, j: int) -> tuple[float, float, float]:
    """How far a feature is from an allowed value (in deviations), and the allowed changes around it."""
    values, today = space.sets[space.n + j]
    at = today + min(max(float(open_.changes[j]), float(open_.low[j])), float(open_.high[j]))
    a, b = values.at_most(at), values.at_least(at)
    off = min(at - a, b - at) / float(space.reach[space.n + j])
    return off if math.isfinite(off) else 0.0, a - today, b - today


def _spread_cut(space: Space, open_: Open, moving: Sequence[int]) -> Cut | None:
    """Every value is allowed: cut where the relaxed solution, a mixture of points, spreads most."""
    reach = space.reach[space.n : 2 * space.n]
    width = {j: min(float(open_.high[j] - open_.low[j]), 1e3 * reach[j]) for j in moving}
    j = max(moving, key=lambda j: float(open_.spread[j]) / float(reach[j]) ** 2)
    low, high = (end if math.isfinite(end) else open_.changes[j] for end in (open_.low[j], open_.high[j]))
    at = float(np.clip(open_.changes[j], low + MARGIN * width[j], high - MARGIN * width[j]))
    if space.n + j not in space.sets:
        return Cut(j, at, at)
    values, today = space.sets[space.n + j]
    a = values.at_most(today + at)
    b = values.at_least(math.nextafter(a, math.inf))
    if not b - today <= open_.high[j]:
        a, b = values.at_most(math.nextafter(a, -math.inf)), a
    inside = math.isfinite(a) and math.isfinite(b) and a - today >= open_.low[j]
    return Cut(j, a - today, b - today) if inside else None


def settled_points(space: Space, scenarios: Sequence[Scenario], open_: Open) -> Iterator[tuple[float, Array]]:
    """Points near the relaxed solution with allowed values that withstand the scenarios, the nearest first."""
    corners = []
    for j in open_.moving:
        if space.n + j in space.sets:
            _, a, b = _neighbours(space, open_, j)
            inside = [v for v in dict.fromkeys((a, b)) if open_.low[j] <= v <= open_.high[j]]
            corners.append((j, inside))
    if len(corners) > MOST_SETTLED or not all(inside for _, inside in corners):
        return
    changes = np.array([_with(open_.changes, corners, taken) for taken in product(*(v for _, v in corners))])
    u = changes @ space.matrix.T
    margin = np.min([space.margins[r](u + v) for r, v in scenarios], axis=0)
    good = [(space.size(u[i]), i) for i in np.flatnonzero(margin >= 0)]
    for size, i in sorted(good):
        yield size, u[i]


def _with(changes: Array, corners: Sequence[tuple[int, list[float]]], taken: Sequence[float]) -> Array:
    found = changes.copy()
    found[[j for j, _ in corners]] = taken
    return found


def nearest_values(space: Space, open_: Open) -> dict[int, float]:
    """The allowed changes nearest to the relaxed solution, of moving features with sets of values."""
    found = {}
    for j in open_.moving:
        if space.n + j in space.sets:
            values, today = space.sets[space.n + j]
            low, high = today + float(open_.low[j]), today + float(open_.high[j])
            found[j] = values.nearest(today + float(open_.changes[j]), low, high) - today
    return found if not any(math.isnan(v) for v in found.values()) else {}
