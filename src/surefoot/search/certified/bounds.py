"""Bounds of regions: what refutes one at a level, and what is proven of it on the way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.interior import Multipliers, minimise, refutes
from surefoot.search.certified.lagrangian import Lagrangian
from surefoot.search.certified.levels import proven_level
from surefoot.search.certified.local import Step
from surefoot.search.certified.proof import leaf_of
from surefoot.search.certified.region import Pair, Piece, Region, Wedge, piece
from surefoot.search.certified.rows import first_multipliers, lagrangian
from surefoot.search.certified.space import MAX_CROSS
from surefoot.search.certified.stationary import at_once, stationary_multipliers
from surefoot.search.certified.ways import Ways

Array = NDArray[np.float64]

LOWER = (1e-3, 3e-3, 1e-2, 3e-2, 0.1)  # shares by which the level is lowered to prove something
ROOT_SHARE = 0.02  # how exactly a bound that does not refute is computed, relative to itself: at the root
FIRST_SHARE = 0.2  # likewise with very many features as long as it shows where the first programs start
SHARE = 30.0  # and below it, where a vague relaxed solution shows better where to cut than a sharp one
SHARE_SETS = 0.3  # with sets of values it shows which one to decide next
IDLE = 1e-3  # scenarios and pairs with less than such a share of the largest weight are left out
IDLE_OF_MANY = 0.01  # the same with a crowd of margins, whose regions are many
EXACT = 1e-3  # of the gap: margins are not computed more exactly than what so little distance changes


class NotConcaveError(Exception):
    """No multipliers were found that make the Lagrangian concave."""


class Bounds:
    """Tries to refute regions by weighted sums, with what is known of points and scenarios.

    Parameters
    ----------
    ways : Ways
        With the points so far, and the clock.
    far : float
        Bounds at higher levels need not be more exact than at this one.

    Attributes
    ----------
    nodes : int
        Regions that were tried so far, in whatever way.
    """

    def __init__(self, ways: Ways, far: float) -> None:
        self.ways, self.points, self.space = ways, ways.points, ways.points.space
        self.far = far
        self.nodes = 0

    def attempt(self, region: Region, level: float) -> tuple[Piece, Lagrangian, Multipliers]:
        """Try to refute a region at a level, and keep what is proven on the way."""
        self.nodes += 1
        use_corners = self.nodes > 1 or self.space.noise.radius == 0
        if self.space.prices is not None:
            use_corners = region.bound > 0  # a first bound comes without them: with them it is all or nothing
        scenarios = [self.points.scenarios[s] for s in region.scenarios]
        rivals, rays = {r for r, _ in scenarios}, self._rays(region, level)
        part = piece(self.space, region, level, use_corners=use_corners, rays=rays, rivals=rivals)
        form = lagrangian(part, scenarios)
        share = ROOT_SHARE if region.is_whole else (SHARE_SETS if self.space.sets else SHARE)
        if self.space.wide and self.points.local_optimum is None:
            share = FIRST_SHARE
        floor = EXACT * self.points.gap * self.space.slope * min(level, self.far)
        found = self._multipliers(part, form, self._guess(region, part, form), share, floor)
        bound = proven_level(part, form, found)
        if not bound and part.corners and region.is_whole and np.isinf(self.points.within):
            self._prove_lower(region, part, form, found)
        if bound > region.bound:
            region.leaf = leaf_of(part, form, found, bound, scenarios)
            region.bound = bound
        self._drop_idle(region, part, form, found)
        return part, form, found

    def _prove_lower(self, region: Region, part: Piece, form: Lagrangian, found: Multipliers) -> None:
        """See whether the multipliers refute lower levels, where corners are elsewhere."""
        scenarios = [self.points.scenarios[s] for s in region.scenarios]
        rivals = {r for r, _ in scenarios}
        for share in LOWER if form.left.shape[1] > 1 else ():
            level = (1 - share) * part.level
            lower = piece(self.space, region, level, use_corners=True, rivals=rivals)
            if lower.level <= region.bound or lower.empty or lower.corners.keys() != part.corners.keys():
                return
            below = lagrangian(lower, scenarios)
            same = below.left.shape == form.left.shape and np.array_equal(lower.stated, part.stated)
            same &= below.left.shape[1] > 1  # a single point leaves no matrix
            value = refutes(below, found.x) if same else None
            if value is not None:
                known = replace(found, value=value, refuted=True)
                region.leaf = leaf_of(lower, below, known, lower.level, scenarios)
                region.bound = lower.level
                return

    def _drop_idle(self, region: Region, part: Piece, form: Lagrangian, found: Multipliers) -> None:
        """Leave out scenarios and pairs that add next to nothing to the bound."""
        idle = IDLE_OF_MANY if self.space.crowded else IDLE
        weights = found.x[form.margins]
        kept = weights >= idle * weights.max()
        region.scenarios = [s for s, keep in zip(region.scenarios, kept, strict=True) if keep]
        pairs: list[Pair | Wedge] = [*part.pairs, *part.wedges]
        if pairs:
            end = form.margins.start - len(part.gaps)
            weights = found.x[end - len(pairs) : end]
            useful = weights >= idle * weights.max()
            region.pairs = frozenset(p for p, keep in zip(pairs, useful, strict=True) if keep)

    def _multipliers(
        self, part: Piece, form: Lagrangian, guess: Array | None, share: float, floor: float
    ) -> Multipliers:
        """Multipliers of a region: its guess's if these refute it, else those of the semidefinite program."""
        if part.empty:
            n = form.left.shape[1] - 1
            return Multipliers(np.zeros(form.size), -np.inf, True, np.zeros(n), np.zeros((n, n)), 0)
        if form.left.shape[1] == 1:
            return _single_point(form)
        x = first_multipliers(part, form)
        if x is None:
            raise NotConcaveError
        found = None if guess is None else at_once(form, guess, x)
        return minimise(form, x, share, floor, self.points.clock) if found is None else found

    def _rays(self, region: Region, level: float) -> tuple[Array, ...]:
        """For p = 1 with very many features: the norm's subgradient at the local optimum.

        For p = 1 and 2 where prices differ up and down: that one and the region's own.
        """
        optimum = self._optimum(region)
        if self.space.lopsided and self.space.norm != np.inf and np.isfinite(level):
            known = self.points.local_optimum if optimum is None else optimum
            return region.rays if known is None else (known[0].subgradient, *region.rays)
        wide = self.space.norm == 1 and self.space.n > MAX_CROSS and np.isfinite(level)
        if optimum is None or not wide:
            return ()
        return (np.clip(optimum[0].subgradient, -1.0, 1.0),)

    def _guess(self, region: Region, part: Piece, form: Lagrangian) -> Array | None:
        """Multipliers that may refute the whole at once: the best point's own."""
        optimum = self._optimum(region)
        if optimum is None or not np.isfinite(part.level):
            return None
        step, active = optimum
        return stationary_multipliers(step, active, part, form, region.scenarios)

    def _optimum(self, region: Region) -> tuple[Step, list[int]] | None:
        """The local optimum of the whole, or of the ways that were taken."""
        if not region.depth:
            return self.points.local_optimum
        return self.ways.optima.get(frozenset(region.ways.items())) if region.is_whole else None


def _single_point(form: Lagrangian) -> Multipliers:
    """Everything is fixed: the region is one point, and one entry that is negative there refutes it."""
    values = form.left[:, -1] * form.right[:, -1]
    if form.n_cross:  # for p = 1 the norm is one entry with its cross terms at their worst
        values[0] -= np.abs(values[1 : 1 + form.n_cross]).sum()
        values[1 : 1 + form.n_cross] = np.inf
    worst = int(values.argmin())
    x = np.zeros(form.size)
    x[worst] = 1.0
    if form.n_cross and worst == 0:
        terms = slice(1, 1 + form.n_cross)
        x[terms] = -np.sign(form.left[terms, -1] * form.right[terms, -1])
    return Multipliers(x, float(values[worst]), bool(values[worst] < 0), np.zeros(0), np.zeros((0, 0)), 0)
