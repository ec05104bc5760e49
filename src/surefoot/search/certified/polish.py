"""Features that need not change keep their values of today, to the last digit: solvers leave crumbs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.local import ConvexConcave
from surefoot.search.certified.points import Points
from surefoot.search.certified.prices import Prices
from surefoot.search.certified.space import DUST

Array = NDArray[np.float64]

CRUMB = 0.05  # of the gap: changes that cost a smaller share of the whole are negligible
BELOW = 0.999  # of the largest price, for p = infinity: what is cheaper may be cheaper still
STEPS = 3


def polish(points: Points, most: float) -> None:
    """Put back the features of the best point that need not change; if need be the rest is solved again.

    Parameters
    ----------
    points : Points
        Where distances are no prices, coordinates are no features: then only crumbs are put back.
    most : float
        How far away the point may be, if that is more than it is now.
    """
    prices, u = points.space.prices, points.best
    if u is None or points.space.problem is None:
        return
    most = max(most, points.distance)
    if prices is None:
        _put_back(points, u, most)
        return
    crumbs = _crumbs(points, prices, u)
    if not crumbs or points.replace(_without(u, crumbs), most):
        return
    left = []
    for i in crumbs:
        moved = _without(u, [i])
        if points.replace(moved, most):
            u = moved
        elif prices.part(u)[i] <= CRUMB * points.gap * points.distance:
            left.append(i)
    if left:
        _solve_again(points, u, left, most)


def _put_back(points: Points, u: Array, most: float) -> None:
    """Put back features whose change is negligible: all of them, or one after the other."""
    space = points.space
    changes, own = space.inverse @ u, slice(space.n, 2 * space.n)
    sizes = np.abs(changes) / space.reach[own]
    today = (space.low[own] <= 0) & (space.high[own] >= 0)
    small = today & (sizes <= CRUMB * points.gap * points.distance)
    crumbs = np.flatnonzero(small & (sizes > DUST * float(np.abs(u).max())))  # what is less is no change
    if not len(crumbs) or points.replace(space.matrix @ np.where(small, 0.0, changes), most):
        return
    for j in crumbs[np.argsort(sizes[crumbs], kind="stable")].tolist():
        moved = changes.copy()
        moved[j] = 0.0
        if points.replace(space.matrix @ moved, most):
            changes = moved


def _crumbs(points: Points, prices: Prices, u: Array) -> list[int]:
    """Coordinates that could be zero, the smallest first."""
    parts, own = prices.part(u), slice(points.space.n, 2 * points.space.n)
    limit = (BELOW if prices.norm == np.inf else CRUMB * points.gap) * points.distance
    today = (points.space.low[own] <= 0) & (points.space.high[own] >= 0)
    return [int(i) for i in np.argsort(parts, kind="stable") if 0 < parts[i] <= limit and today[i]]


def _without(u: Array, places: list[int]) -> Array:
    """The point with some coordinates at zero."""
    moved = u.copy()
    moved[places] = 0.0
    return moved


def _solve_again(points: Points, u: Array, crumbs: list[int], most: float) -> None:
    """Steps of the convex program in which sets of values stay where they are, and crumbs are zero."""
    space = points.space
    pins = {k: float(space.directions[k] @ u) for k in space.sets} | {space.n + i: 0.0 for i in crumbs}
    price, known = 100.0 * space.dearest / space.slope, list(points.scenarios)
    program = ConvexConcave(space, tuple(sorted(pins))).among({r for r, _ in known})
    values = np.array([pins[k] for k in sorted(pins)])
    for _ in range(STEPS):
        step = program.near(u).step(u, known, points.safety_margin(u), price, points.clock, values)
        if step is None:
            return
        u = _without(step.u, crumbs)
        u = points.on_values(u) if space.sets else space.into_domain(u)
        if points.replace(u, most):
            return
