"""Leaves of the search over allowed values: slabs, prices of ends and the norm's part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.frame import Found, Frame
from surefoot.search.certified.leaf import ONE, Affine, Leaf
from surefoot.search.certified.majorant import Majorant
from surefoot.search.certified.proof import ROUND_UP, Ends, affine, side
from surefoot.search.certified.region import Region, Split
from surefoot.waist.geometry import dual_exponent, lp_norm

Array = NDArray[np.float64]
Product = tuple[float, Affine, Affine]

SPARE = 0.25  # share of what a refutation leaves over that may be spent on making it strict


class Entries:
    """Writes leaves.

    Parameters
    ----------
    frame : Frame
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self._sides: dict[tuple[int, bool, float], Affine] = {}
        self._cuts: tuple[Region | None, dict[tuple[int, bool, float], Affine]] = None, {}

    def leaf(self, region: Region, major: Majorant, found: Found, base: int, level: float) -> Leaf:
        """A majorant's slabs and the prices at its peak; ``base``: the scenario with what others leave."""
        space, ends = self.frame.space, self._ends(region, level)
        norm, cross = np.zeros(space.n), []
        if space.norm != np.inf:
            norm = np.array([major.round_weight])
            cross = self._cross(major)
        products = self._slabs(ends, major, norm, level) + self._prices(ends, found)
        if found.push is not None:
            strength = float(lp_norm(found.push, dual_exponent(space.norm))) * ROUND_UP
            products.append((1.0, affine(level * strength, -found.push), ONE))
        return Leaf(level, norm.tolist(), cross, products, self._margins(found, base))

    def empty(self, region: Region, level: float) -> Leaf:
        """Ends that exclude each other: (d'u - low) + (high - d'u) is below zero."""
        ends, space = self._ends(region, level), self.frame.space
        n_norm = space.n if space.norm == np.inf else 1
        k = int(((ends.low - ends.high) / self.frame.reach).argmax())
        share = SPARE * float(ends.low[k] - ends.high[k]) / max(n_norm * level**2, 1e-300)
        products = [(1.0, self._side(ends, k, above), ONE) for above in (False, True)]
        return Leaf(level, [share] * n_norm, [], products, {})

    def _cross(self, major: Majorant) -> list[tuple[int, int, float]]:
        """What the norm's bend has beside its diagonal, p = 1."""
        if self.frame.space.norm != 1:
            return []
        rows = major.bends.rows[major.bends.n_slabs :]
        A = np.clip(rows.T @ rows, -1.0, 1.0) * major.round_weight
        return [(i, j, float(A[i, j])) for j in range(len(A)) for i in range(j) if A[i, j]]

    def _slabs(self, ends: Ends, major: Majorant, norm: Array, level: float) -> list[Product]:
        """The products of slabs' sides; for p = infinity those that the level sets are the norm's entries."""
        space, products = self.frame.space, []
        low, high, cube = ends.low.tolist(), ends.high.tolist(), space.norm == np.inf
        below, above = (end.tolist() for end in space.level_ends(level))
        weights = major.weights[: len(low)] / self.frame.reach**2
        for k, weight in enumerate(weights.tolist()):
            if cube and k < space.n and low[k] == below[k] and high[k] == above[k]:
                norm[k] = weight
            elif weight > 0 and (low[k] < high[k] or k >= 2 * space.n):  # features with one value go
                products.append((weight, self._side(ends, k, False), self._side(ends, k, True)))
        return products

    def _prices(self, ends: Ends, found: Found) -> list[Product]:
        prices = enumerate((found.prices / self.frame.reach).tolist())
        return [(abs(price), self._side(ends, k, price > 0), ONE) for k, price in prices if price]

    def _margins(self, found: Found, base: int) -> dict[int, float]:
        """The scenarios' weights, which sum to one."""
        shares = found.shares.copy()
        shares[base] += 1.0 - float(shares.sum())
        return {s: float(w) for s, w in zip(self.frame.scenarios, shares, strict=True) if w > 0}

    def _ends(self, region: Region, level: float) -> Ends:
        """The region's ends in their own units, to the last digit."""
        space, m = self.frame.space, len(self.frame.reach)
        low, high = region.ends(space, level)
        return Ends(space, region, low[:m], high[:m])

    def _side(self, ends: Ends, k: int, above: bool) -> Affine:
        """An end's distance; those that no cut has moved are the same in all leaves of a level."""
        key = k, above, float(ends.high[k] if above else ends.low[k])
        if k in ends.region.splits:
            named = self._set_by_cuts(ends.region).get(key)
            return side(ends, k, above) if named is None else named
        if key not in self._sides:
            self._sides[key] = side(ends, k, above)
        return self._sides[key]

    def _set_by_cuts(self, region: Region) -> dict[tuple[int, bool, float], Affine]:
        """The names of the ends that cuts on the way to a region set; kept for the region of one leaf."""
        if self._cuts[0] is not region:
            named = {
                (step.direction, not step.above, step.at): ["c", number]
                for number, step in enumerate(region.path)
                if isinstance(step, Split)
            }
            self._cuts = region, named
        return self._cuts[1]
