"""Where to cut a region that could not be refuted."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.fork import Fork
from surefoot.search.certified.interior import Multipliers
from surefoot.search.certified.lagrangian import Lagrangian
from surefoot.search.certified.region import Cut, Pair, Piece, Region
from surefoot.search.certified.space import Space

Array = NDArray[np.float64]

MARGIN = 0.3  # a cut stays this share of the range away from its ends
PAIR_TOLERANCE = 1e-3  # share of the ranges; less negative products are left out
DEEP = 25  # in regions this deep any direction is cut, for p = infinity too
# In regions this deep every disjunction is decided, also those of which a way seems to be taken. Ten times as
# deep, and regions are cut thousands of times where the decision would have refuted them.
DECIDED = 6
WHOLE = 1e-6  # standard deviations; a value this near to an allowed one counts as allowed
# Share of the level: a direction with less width is not worth a cut. Were it ten times larger, regions would
# be cut elsewhere a little earlier.
NARROW = 1e-7


def choose_fork(
    space: Space, region: Region, level: float, u: Array, ends: tuple[Array, Array], narrow: bool = False
) -> Fork | None:
    """The either that a relaxed solution misses most, among those that the region's ends leave open.

    One of which it seems to take a way is decided only in ``narrow`` or deep regions: cuts no longer help.
    """
    if not space.forks:
        return None
    ways, along, best = region.ways, space.directions @ u, None
    most = -math.inf if narrow or region.depth >= DECIDED else WHOLE * min(level, 1.0)
    for fork in space.forks:
        if fork.number in ways or fork.implied(*ends):
            continue
        missed = fork.nearest(along, space.reach)[0][0]
        if missed > most:
            best, most = fork, missed
    return best


def is_narrow(part: Piece) -> bool:
    """Whether no coordinate has any width left that is worth a cut."""
    return not (part.high - part.low > NARROW * part.level * part.space.reach)[: part.space.n].any()


def choose_cut(part: Piece, found: Multipliers, form: Lagrangian) -> Cut:
    """Direction and place of the next cut; first between allowed values that the relaxed solution mixes."""
    u = part.lifted(found.z)
    between = _between_values(part, u)
    if between is not None:
        return between
    k, place = _spread_cut(part, found, form, u)
    i = k - part.space.n
    if part.scales is not None and 0 <= i < part.space.n and part.undecided[i]:
        return _cut_today(part, k, float(u[i]))
    return _value_cut(part, k, place) if k in part.space.sets else Cut(k, place, place)


def _cut_today(part: Piece, k: int, u: float) -> Cut:
    """A cut at today's value; with a set of values, between it and the next one on the dearer side."""
    if k not in part.space.sets:
        return Cut(k, 0.0, 0.0)
    values, offset = part.space.sets[k]
    up = values.at_least(math.nextafter(offset, math.inf)) - offset
    down = values.at_most(math.nextafter(offset, -math.inf)) - offset
    return Cut(k, 0.0, up) if u >= 0 and math.isfinite(up) else Cut(k, down, 0.0)


def _spread_cut(part: Piece, found: Multipliers, form: Lagrangian, u: Array) -> tuple[int, float]:
    """Where the relaxed solution, a mixture of points, spreads most.

    Weighted by what a spread costs the bound (its multiplier, or the convexity of H) and by how much of
    the range it fills: in a wide slab the mixture just moves elsewhere.
    """
    space = part.space
    slopes = part.reduced(space.directions)
    variance = np.maximum(np.einsum("ij,jk,ik->i", slopes, found.spread, slopes), 0.0)
    width = part.high - part.low
    share = np.minimum(1.0, variance / np.maximum((width / 4) ** 2, 1e-300))
    score = _worth(part, found, form) * variance * share
    if part.scales is not None and form.n_norm:
        score[space.n : 2 * space.n] += float(found.x[0]) * _unpaid(part, u, variance[: space.n])
    score[~(width > NARROW * part.level * space.reach)] = 0.0
    first = 0 if space.prices is None or space.norm == np.inf else space.n
    k = int(score.argmax()) if score.any() else first + int((width / space.reach)[first:][: space.n].argmax())
    low, high = part.low[k] + MARGIN * width[k], part.high[k] - MARGIN * width[k]
    return k, float(np.clip(float(space.directions[k] @ u), low, high))


def _by_features(part: Piece, worth: Array) -> None:
    """With prices a coordinate is a feature in other units, and is cut as one where that says more.

    For p = 1 and 2 it says on which side of today's value the feature is, elsewhere it goes with its ends.
    """
    space, n = part.space, part.space.n
    assert space.prices is not None
    own = slice(n, 2 * n)
    below, above = space.level_ends(part.level)
    moved = (part.low[own] > below[own]) | (part.high[own] < above[own]) | (space.norm != np.inf)
    moved[[k - n for k in space.sets]] = True
    worth[own] += np.where(moved, worth[:n] * space.prices.scale**2, 0.0)
    worth[:n] = np.where(moved, 0.0, worth[:n])


def _unpaid(part: Piece, u: Array, variance: Array) -> Array:
    """By how much squares of undecided coordinates are too cheap, where the mixture is on the dear side."""
    prices = part.space.prices
    assert prices is not None
    dear = np.where(prices.up > prices.down, u, -u) + np.sqrt(variance)
    square = (np.maximum(prices.up, prices.down) ** 2 - 1) * np.maximum(dear, 0.0) ** 2
    return np.where(part.undecided, square, 0.0)


def _between_values(part: Piece, u: Array) -> Cut | None:
    """The cut between two neighbouring values around the feature that is farthest from an allowed one."""
    mixed = mixed_values(part, u)
    if not mixed:
        return None
    k, (_, a, b) = max(mixed.items(), key=lambda entry: entry[1][0])
    return Cut(k, a, b)


def mixed_values(part: Piece, u: Array) -> dict[int, tuple[float, float, float]]:
    """Set directions with a value between two allowed ones: how far off (in deviations), and both."""
    found = {}
    for k, (values, offset) in part.space.sets.items():
        if part.fixed[k]:
            continue
        along = float(part.space.directions[k] @ u)  # a vague solution may lie outside the region
        value = float(np.clip(along, part.low[k], part.high[k])) + offset
        a, b = values.at_most(value), values.at_least(value)
        off = min(value - a, b - value) / float(part.space.reach[k])
        if off > WHOLE and math.isfinite(b - a):
            found[k] = (off, a - offset, b - offset)
    return found


def _value_cut(part: Piece, k: int, place: float) -> Cut:
    """A cut of a feature with a set of values, between the allowed ones around a place."""
    values, offset = part.space.sets[k]
    value = place + offset
    a, b = values.at_most(value), values.at_least(value)
    if a == b:
        below, above = (
            values.at_most(math.nextafter(a, -math.inf)),
            values.at_least(math.nextafter(a, math.inf)),
        )
        a, b = (a, above) if above <= part.high[k] + offset else (below, a)
    if not (math.isfinite(a) and math.isfinite(b)):
        return Cut(k, place, place)  # nothing is left to choose between
    return Cut(k, a - offset, b - offset)


def _worth(part: Piece, found: Multipliers, form: Lagrangian) -> Array:
    """What one unit of variance along each direction costs.

    For p = infinity coordinates, features and rows alone are cut: a cut across them would free coordinates
    that sit in a corner, and with them goes what products of the ends of two coordinates had gained. With
    sets of values, and in regions so deep that this has not helped, other directions are cut as well.
    """
    space = part.space
    across = space.norm != np.inf or bool(space.sets) or part.region.depth >= DEEP
    worth = space.convexity * float(across)
    if space.norm == np.inf and form.n_norm:
        worth[part.free] += found.x[: form.n_norm]
    elif form.n_norm:
        worth[: space.n] += found.x[0]
    stated = part.stated
    start = form.n_norm + form.n_cross
    worth[stated] += found.x[start : start + len(stated)] / space.grains[stated] ** 2
    if space.prices is not None:
        _by_features(part, worth)
    return worth


def idle_rows(part: Piece, found: Multipliers, form: Lagrangian) -> frozenset[int]:
    """Domain rows that add next to nothing to the bound and that the relaxed solution respects anyway."""
    space = part.space
    stated = part.stated
    start = form.n_norm + form.n_cross
    half = 0.5 * (part.high - part.low)[stated] / space.grains[stated]
    worth = found.x[start : start + len(stated)] * half**2
    along = space.directions @ part.lifted(found.z)
    inside = (along >= part.low) & (along <= part.high)
    candidates = part.region.idle.union(stated[worth < 1e-2 * abs(found.value)].tolist())
    return frozenset(k for k in candidates if space.exact_ends[k] and inside[k])


def violated_pairs(part: Piece, found: Multipliers, most: int) -> frozenset[Pair]:
    """Products of two distances from ends that the relaxed solution makes most negative.

    The ends are those of coordinates and, where a domain is stated, of its features and rows.
    """
    space = part.space
    if not np.isfinite(part.level) or len(part.free) < 2:
        return frozenset()
    chosen = np.array(part.free + [int(k) for k in part.stated if k >= space.n])
    slopes = space.directions[chosen]
    reduced = part.reduced(slopes)
    along, covariance = slopes @ part.lifted(found.z), reduced @ found.spread @ reduced.T
    half = 0.5 * (part.high - part.low)[chosen]
    scale = np.maximum(np.outer(half, half), 1e-300)
    below, above = along - part.low[chosen], part.high[chosen] - along
    found_pairs = []
    for side_i, side_j in ((False, False), (False, True), (True, False), (True, True)):
        a, b = (above if side else below for side in (side_i, side_j))
        sign = 1.0 if side_i == side_j else -1.0
        value = np.triu((np.outer(a, b) + sign * covariance) / scale, 1)
        for i, j in zip(*np.nonzero(value < -PAIR_TOLERANCE), strict=True):
            found_pairs.append((value[i, j], Pair(int(chosen[i]), side_i, int(chosen[j]), side_j)))
    found_pairs.sort(key=lambda entry: entry[0])
    return frozenset(pair for _, pair in found_pairs[:most])
