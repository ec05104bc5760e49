"""Allowed values of the few features that move: points on them, and where to cut between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.changes import Choice, Cut
from surefoot.search.certified.region import Scenario
from surefoot.search.certified.space import Space

Array = NDArray[np.float64]

WHOLE = 1e-6  # of what a level allows; a value this near to an allowed one counts as allowed
MARGIN = 0.3  # other cuts stay this share of the range away from its ends
EQUAL = 1e-12  # of a row's reach: rounding of an equation
NARROW = 1e-7  # of what a level allows; nothing is cut any more that is so narrow
MOST_SETTLED = 8  # features of which both neighbouring values are tried
NEAREST = 8  # points on allowed values that are worth a look


class Open(NamedTuple):
    """A choice that was not refuted.

    Parameters
    ----------
    far : float
        About how far it is to a point.
    choice : Choice
    changes, spread : arrays of shape (n,)
        Of the features in the relaxed solution: their changes, and variances around them.
    near : array of shape (n,)
        Changes on the way there that may be enough.
    low, high : arrays of shape (n,)
        Between which ends the changes lie.
    """

    far: float
    choice: Choice
    changes: Array
    spread: Array
    near: Array
    low: Array
    high: Array

    @property
    def moving(self) -> list[int]:
        """The features that move."""
        return [int(j) for j in np.flatnonzero(self.low < self.high)]


def choose_cuts(space: Space, open_: Open, level: float) -> list[Cut]:
    """Where to cut a choice: at today's value where prices differ, or between allowed values.

    The most promising one comes first, and each is of another feature. None where neither is left: then a
    search does better.
    """
    n, sides = space.n, space.prices.undecided if space.prices is not None and space.norm < np.inf else None
    moving = open_.moving
    for j in moving:
        if sides is not None and sides[j] and open_.low[j] < 0 < open_.high[j]:
            return [Cut(j, 0.0, 0.0)]
    settled = [j for j in moving if n + j in space.sets]
    if not settled or space.forks:
        return []
    size = level if math.isfinite(level) else 1.0
    around = {j: _neighbours(space, open_, j, float(open_.changes[j])) for j in settled}
    off = [j for j in settled if around[j][0] > WHOLE * size]
    if off:
        return [Cut(j, *around[j][1:]) for j in sorted(off, key=lambda j: -around[j][0])]
    spread = _spread_cut(space, open_, moving, NARROW * size)
    return [] if spread is None else [spread]


def _neighbours(space: Space, open_: Open, j: int, change: float) -> tuple[float, float, float]:
    """How far a feature is from an allowed value (in deviations), and the allowed changes around it."""
    values, today = space.sets[space.n + j]
    at = today + min(max(change, float(open_.low[j])), float(open_.high[j]))
    a, b = values.at_most(at), values.at_least(at)
    off = min(at - a, b - at) / float(space.reach[space.n + j])
    return off if math.isfinite(off) else 0.0, a - today, b - today


def _spread_cut(space: Space, open_: Open, moving: Sequence[int], narrow: float) -> Cut | None:
    """Every value is allowed: cut where the relaxed solution, a mixture of points, spreads most."""
    reach = space.reach[space.n : 2 * space.n]
    j = max(moving, key=lambda j: float(open_.spread[j]) / float(reach[j]) ** 2)
    at, low, high = float(open_.changes[j]), float(open_.low[j]), float(open_.high[j])
    if math.isfinite(high - low):
        at = min(max(at, low + MARGIN * (high - low)), high - MARGIN * (high - low))
    if high - low < narrow * reach[j] or not low < at < high:
        return None
    if space.n + j not in space.sets:
        return Cut(j, at, at)
    values, today = space.sets[space.n + j]
    a = values.at_most(today + at)
    b = values.at_least(math.nextafter(a, math.inf))
    if not b - today <= open_.high[j]:
        a, b = values.at_most(math.nextafter(a, -math.inf)), a
    inside = math.isfinite(a) and math.isfinite(b) and a - today >= open_.low[j]
    return Cut(j, a - today, b - today) if inside else None


def settled_points(
    space: Space, scenarios: Sequence[Scenario], open_: Open, aim: float
) -> list[tuple[float, Array, dict[int, float]]]:
    """Points with allowed values near the relaxed solution that withstand the scenarios, nearest first.

    With each comes its distance before, and the changes of features with sets of values after it. Next to
    the corners around the relaxed solution all lines through them along a feature are looked at, where the
    scenarios' margins change sign: at ``aim`` for a feature that takes any value. A few of the nearest.
    """
    corners = [_corner_points(space, open_, changes) for changes in (open_.near, open_.changes)]
    within = _Within.of(space, scenarios, open_)
    moved = _different(np.concatenate(corners)[:, within.moving])
    lines = [within.crossed(moved, place, aim) for place in range(len(within.moving))]
    moved = np.concatenate([moved, *lines])
    moved = moved[within.lowest(moved) >= 0]
    u = within.origin + moved @ within.matrix.T
    inside = _between_rows(space, u)
    moved, u = moved[inside], u[inside]
    sizes = space.sizes_of(u)
    settled = [(place, j) for place, j in enumerate(within.moving) if space.n + j in space.sets]
    return [
        (float(sizes[i]), u[i], {j: float(moved[i, place]) for place, j in settled})
        for i in np.argsort(sizes, kind="stable")[:NEAREST].tolist()
    ]


def _between_rows(space: Space, u: Array) -> NDArray[np.bool_]:
    """Which points keep the domain's rows."""
    rows = slice(2 * space.n, None)
    along = u @ space.directions[rows].T
    room = np.where(space.fixed, EQUAL * space.reach, 0.0)[rows]
    inside = (along >= space.low[rows] - room) & (along <= space.high[rows] + room)
    return np.asarray(inside.all(axis=1))


def _corner_points(space: Space, open_: Open, changes: Array) -> Array:
    """Changes with the allowed values around given ones, one combination in each row."""
    corners = _corners(space, open_, changes)
    if len(corners) > MOST_SETTLED or not all(corners.values()):
        return np.zeros((0, space.n))
    taken = list(product(*corners.values()))
    moved = np.tile(np.clip(changes, open_.low, open_.high), (len(taken), 1))
    moved[:, list(corners)] = taken
    return moved


class _Within(NamedTuple):
    """The scenarios' margins as functions of the moving features' changes c: constant + slope'c + c'bend c.

    Parameters
    ----------
    space, open_
    moving : list of int
    origin : array of shape (n,)
        The coordinates where these have not moved.
    matrix : array of shape (n, d)
        From their changes to coordinates.
    constant, slope, bend : arrays of shape (S,), (S, d) and (S, d, d)
    """

    space: Space
    open_: Open
    moving: list[int]
    origin: Array
    matrix: Array
    constant: Array
    slope: Array
    bend: Array

    @classmethod
    def of(cls, space: Space, scenarios: Sequence[Scenario], open_: Open) -> _Within:
        """Those of a choice."""
        moving = open_.moving
        still = open_.low.copy()
        still[moving] = 0.0
        matrix, origin = space.matrix[:, moving], space.matrix @ still
        at = origin + np.array([v for _, v in scenarios])
        margins = [space.margins[r] for r, _ in scenarios]
        bends = {r: matrix.T @ space.margins[r].matrix @ matrix for r, _ in scenarios}
        return cls(
            space,
            open_,
            moving,
            origin,
            matrix,
            np.array([H(point) for H, point in zip(margins, at, strict=True)]),
            np.array([H.gradient(point) for H, point in zip(margins, at, strict=True)]) @ matrix,
            np.array([bends[r] for r, _ in scenarios]),
        )

    def lowest(self, moved: Array) -> Array:
        """The lowest scenario's margin for each row of changes."""
        bent = np.einsum("ri,sij,rj->rs", moved, self.bend, moved)
        return np.asarray((self.constant + moved @ self.slope.T + bent).min(axis=1))

    def crossed(self, moved: Array, place: int, aim: float) -> Array:
        """Changes of one feature with which scenarios' margins are zero, or on allowed values around that."""
        rest, j = moved.copy(), self.moving[place]
        rest[:, place] = 0.0
        rest = _different(rest)
        values = self.space.sets.get(self.space.n + j)
        height = self.constant + rest @ self.slope.T + np.einsum("ri,sij,rj->rs", rest, self.bend, rest)
        along = self.slope[:, place] + 2 * rest @ self.bend[:, :, place].T
        steps = np.stack(real_roots(self.bend[:, place, place], along, height - (0.0 if values else aim)))
        low, high = float(self.open_.low[j]), float(self.open_.high[j])
        _, lines, _ = found = (np.isfinite(steps) & (steps >= low) & (steps <= high)).nonzero()
        ends = steps[found]
        if values is not None:
            around = np.concatenate(values[0].around(values[1] + ends)) - values[1]
            inside = (around >= low) & (around <= high)
            lines, ends = np.concatenate([lines, lines])[inside], around[inside]
        taken = rest[lines]
        taken[:, place] = ends
        return taken


def _different(rows: Array) -> Array:
    """The rows without repetitions."""
    return rows[list({row.tobytes(): number for number, row in enumerate(rows)}.values())]


def real_roots(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """The roots of a t^2 + b t + c; nan where there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        half = -0.5 * (b + np.copysign(np.sqrt(b * b - 4 * a * c), b))
        return half / a, c / half


def nearest_values(space: Space, open_: Open) -> dict[int, float]:
    """The allowed changes nearest to those that may be enough, of moving features with sets of values."""
    corners = _corners(space, open_, open_.near)
    if not all(corners.values()):
        return {}
    return {j: min(some, key=lambda v: abs(v - float(open_.near[j]))) for j, some in corners.items()}


def _corners(space: Space, open_: Open, changes: Array) -> dict[int, list[float]]:
    """The allowed changes around given ones, of moving features with sets of values."""
    found = {}
    for j in open_.moving:
        if space.n + j in space.sets:
            _, a, b = _neighbours(space, open_, j, float(changes[j]))
            found[j] = [v for v in dict.fromkeys((a, b)) if open_.low[j] <= v <= open_.high[j]]
    return found
