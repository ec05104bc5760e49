"""Where to cut a region that could not be refuted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.interior import Multipliers
from surefoot.search.certified.lagrangian import Lagrangian
from surefoot.search.certified.region import Piece, Region, told_directions

Array = NDArray[np.float64]

MARGIN = 0.3  # a cut stays this share of the range away from its ends


def choose_cut(part: Piece, found: Multipliers, form: Lagrangian) -> tuple[int, float]:
    """Direction and place of the next cut.

    The relaxed solution is a mixture of points; a cut helps where it spreads, weighted by what a spread
    costs the bound (its multiplier, or the convexity of H) and by how much of the range it fills: in a
    wide slab the mixture just moves elsewhere.
    """
    space = part.space
    slopes = part.reduced(space.directions)
    variance = np.maximum(np.einsum("ij,jk,ik->i", slopes, found.spread, slopes), 0.0)
    width = part.high - part.low
    share = np.minimum(1.0, variance / np.maximum((width / 4) ** 2, 1e-300))
    score = _worth(part, found, form) * variance * share
    score[~(width > 1e-7 * part.level * space.reach)] = 0.0
    k = int(score.argmax()) if score.any() else int((width / space.reach)[: space.n].argmax())
    place = float(space.directions[k] @ part.lifted(found.z))
    low, high = part.low[k] + MARGIN * width[k], part.high[k] - MARGIN * width[k]
    return k, float(np.clip(place, low, high))


def _worth(part: Piece, found: Multipliers, form: Lagrangian) -> Array:
    """What one unit of variance along each direction costs."""
    space = part.space
    worth = space.convexity * 1.0
    if space.norm == np.inf and form.n_norm:
        worth[part.free] += found.x[: form.n_norm]
    elif form.n_norm:
        worth[: space.n] += found.x[0]
    told = told_directions(part)
    start = form.n_norm + form.n_cross
    worth[told] += found.x[start : start + len(told)]
    return worth


def idle_rows(part: Piece, found: Multipliers, form: Lagrangian) -> frozenset[int]:
    """Domain rows that add next to nothing to the bound and that the relaxed solution respects anyway."""
    space = part.space
    told = told_directions(part)
    start = form.n_norm + form.n_cross
    worth = found.x[start : start + len(told)] * (0.5 * (part.high - part.low)[told]) ** 2
    along = space.directions @ part.lifted(found.z)
    inside = (along >= part.low) & (along <= part.high)
    candidates = part.idle.union(told[worth < 1e-2 * abs(found.value)].tolist())
    return frozenset(k for k in candidates if space.n <= k < 2 * space.n and inside[k])


def split(region: Region, cut: tuple[int, float]) -> list[Region]:
    """The part below the cut and the part above it."""
    k, at = cut
    low, high = region.splits.get(k, (-np.inf, np.inf))
    return [
        Region(
            {**region.splits, k: ends},
            list(region.scenarios),
            region.idle,
            region.bound,
            region.leaf,
            region.depth + 1,
        )
        for ends in ((low, at), (at, high))
    ]
