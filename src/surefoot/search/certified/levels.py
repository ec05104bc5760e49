"""The level up to which multipliers refute a region, where they do not refute it at its own."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from surefoot.search.certified.interior import Multipliers
from surefoot.search.certified.lagrangian import Lagrangian
from surefoot.search.certified.region import Piece

Array = NDArray[np.float64]

ROOM = 1e-9  # share of a level that is left to rounding
EQUATED = 1e-6  # likewise where equations take a part of what a refutation leaves over
NOISE = 1e-10  # of what is added up


def proven_level(part: Piece, form: Lagrangian, found: Multipliers) -> float:
    """The level up to which the multipliers refute the region.

    Lowering the norm's level from L to L' lowers max F by the sum of its multipliers times L^2 - L'^2.
    Corners move with the level, so with them it is all or nothing.
    """
    if found.refuted:
        return part.level
    weight = float(found.x[: form.n_norm].sum())
    if part.corners or weight <= 0:
        return 0.0
    if part.space.prices is not None and not part.space.prices.even:
        return _lower_level(part, form, found.x) if form.left.shape[1] > 1 else 0.0
    square = part.level**2 - max(found.value, 0.0) / weight
    return float(np.sqrt(square)) * (1 - _room(part)) if square > 0 else 0.0


def at_level(part: Piece, form: Lagrangian, level: float) -> Lagrangian:
    """The same weighted functions with the norm, and what moves with it, at another level."""
    if level == part.level:
        return form
    space, rows = part.space, slice(0, form.n_norm)
    left, right = form.left.copy(), form.right.copy()
    if space.norm == np.inf:
        (below, above), (lower, upper) = space.level_ends(part.level), space.level_ends(level)
        left[rows, -1] += (upper - above)[part.free]
        right[rows, -1] -= (lower - below)[part.free]
    else:
        right[0, -1] += level**2 - part.level**2
    if space.prices is not None and not space.prices.even:
        start, share = form.n_norm + form.n_cross + len(part.stated), level / part.level - 1
        for k, (_, (low, high)) in enumerate(part.ray_ends, start):
            left[k, -1] -= share * low
            right[k, -1] += share * high
    return replace(form, left=left, right=right)


def _room(part: Piece) -> float:
    return EQUATED if part.equations else ROOM


class _Moving(NamedTuple):
    """Products whose ends move with the level: x (a L + ...)(b L - ...); and the weight of L^2 alone."""

    rows: slice
    a: Array
    b: Array
    alone: float


def _moving(part: Piece, form: Lagrangian, x: Array) -> _Moving:
    """For p = infinity those of the norm, else the rays."""
    assert part.space.prices is not None
    if part.space.norm == np.inf:
        up, down = part.space.prices.up[part.free], part.space.prices.down[part.free]
        return _Moving(slice(0, form.n_norm), 1 / up, 1 / down, 0.0)
    start = form.n_norm + form.n_cross + len(part.stated)
    ends = np.array([ends for _, ends in part.ray_ends]).reshape(-1, 2) / part.level
    return _Moving(slice(start, start + len(ends)), -ends[:, 0], ends[:, 1], float(x[0]))


def _lower_level(part: Piece, form: Lagrangian, multipliers: Array) -> float:
    """The same where prices differ up and down: max F is a quadratic function of L.

    Lowering L then moves the middle of products too.
    """
    rows, a, b, alone = _moving(part, form, multipliers)
    x, left, right = multipliers[rows], form.left[rows], form.right[rows]
    first = (x * a) @ right + (x * b) @ left  # what one unit of L adds, but for its square
    A = form.matrix(multipliers)
    factor, info = dpotrf(-A[:-1, :-1], lower=1)
    if info:
        return 0.0
    moved = dpotrs(factor, np.column_stack([A[:-1, -1], 0.5 * first[:-1]]), lower=1)[0]
    bend = alone + float(x @ (a * b)) + 0.5 * float(first[:-1] @ moved[:, 1])
    slope = 2 * alone * part.level + float(first[-1]) + float(first[:-1] @ moved[:, 0])
    noise = NOISE * float(np.abs(multipliers) @ np.abs(form.left[:, -1] * form.right[:, -1]))
    peak = max(float(A[-1, -1]) + float(A[:-1, -1] @ moved[:, 0]), 0.0) + noise
    square = slope**2 - 4 * bend * peak
    if slope <= 0 or square < 0:
        return 0.0
    return max(part.level - 2 * peak / (slope + float(np.sqrt(square))), 0.0) * (1 - _room(part))
