"""Leaves of the search over allowed values: slabs, prices of ends and the norm's part."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.frame import Found, Frame
from surefoot.search.certified.leaf import ONE, Affine, Leaf
from surefoot.search.certified.majorant import Majorant
from surefoot.search.certified.proof import ROUND_UP, Ends, affine, side
from surefoot.search.certified.region import Region, Split

Array = NDArray[np.float64]
Product = tuple[float, Affine, Affine]

SPARE = 0.25  # share of what a refutation leaves over that may be spent on making it strict


class Sides(NamedTuple):
    """The directions' ends, to the last digit, and the distances from them.

    ``cube``: whether a direction is a coordinate whose ends the level sets, p = infinity.
    """

    low: list[float]
    high: list[float]
    below: list[Affine]
    above: list[Affine]
    cube: list[bool]


class Entries:
    """Writes leaves.

    Parameters
    ----------
    frame : Frame
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self._uncut: tuple[float, Sides] | None = None

    def leaf(self, region: Region, major: Majorant, found: Found, base: int, level: float) -> Leaf:
        """A majorant's slabs and the prices at its peak; ``base``: the scenario with what others leave."""
        space, sides = self.frame.space, self._sides(region, level)
        norm, cross = [0.0] * space.n, []
        if space.norm != np.inf:
            norm = [major.round_weight]
            cross = self._cross(major)
        products = self._slabs(sides, major, norm) + self._prices(sides, found)
        if found.push is not None:
            strength = self.frame.strength(found.push) * ROUND_UP
            products.append((1.0, affine(level * strength, -found.push), ONE))
        return Leaf(level, norm, cross, products, self._margins(found, base))

    def empty(self, region: Region, level: float) -> Leaf:
        """Ends that exclude each other: (d'u - low) + (high - d'u) is below zero."""
        sides, space = self._sides(region, level), self.frame.space
        n_norm = space.n if space.norm == np.inf else 1
        crossed = np.array(sides.low) - np.array(sides.high)
        k = int((crossed / self.frame.reach).argmax())
        share = SPARE * float(crossed[k]) / max(n_norm * level**2, 1e-300)
        products: list[Product] = [(1.0, end, ONE) for end in (sides.below[k], sides.above[k])]
        return Leaf(level, [share] * n_norm, [], products, {})

    def _cross(self, major: Majorant) -> list[tuple[int, int, float]]:
        """What the norm's bend has beside its diagonal, p = 1."""
        if self.frame.space.norm != 1:
            return []
        rows = major.bends.rows[major.bends.n_slabs :]
        A = (np.clip(rows.T @ rows, -1.0, 1.0) * major.round_weight).tolist()
        return [(i, j, a) for j, row in enumerate(A) for i, a in enumerate(row[:j]) if a]

    def _slabs(self, sides: Sides, major: Majorant, norm: list[float]) -> list[Product]:
        """The products of slabs' sides; for p = infinity those that the level sets are the norm's entries."""
        products: list[Product] = []
        weights, rows = major.weights[: len(sides.low)] / self.frame.reach**2, 2 * self.frame.space.n
        for k, (weight, low, high, below, above, cube) in enumerate(
            zip(weights.tolist(), *sides, strict=True)
        ):
            if cube:
                norm[k] = weight
            elif weight > 0 and (low < high or k >= rows):  # features with one value go
                products.append((weight, below, above))
        return products

    def _prices(self, sides: Sides, found: Found) -> list[Product]:
        prices = enumerate((found.prices / self.frame.reach).tolist())
        return [
            (abs(price), (sides.above if price > 0 else sides.below)[k], ONE) for k, price in prices if price
        ]

    def _margins(self, found: Found, base: int) -> dict[int, float]:
        """The scenarios' weights, which sum to one."""
        shares = found.shares.copy()
        shares[base] += 1.0 - float(shares.sum())
        return {s: float(w) for s, w in zip(self.frame.scenarios, shares, strict=True) if w > 0}

    def _sides(self, region: Region, level: float) -> Sides:
        """The ends of a region: those that no cut has moved are the same in all leaves of a level."""
        if self._uncut is None or self._uncut[0] != level:
            self._uncut = level, self._at(level)
        uncut = self._uncut[1]
        moved = {k: ends for k, ends in region.splits.items() if k < len(uncut.low)}
        if not moved:
            return uncut
        sides = Sides(
            uncut.low.copy(), uncut.high.copy(), uncut.below.copy(), uncut.above.copy(), uncut.cube.copy()
        )
        ends = Ends(self.frame.space, region, sides.low, sides.high)
        names = {
            (step.direction, not step.above, step.at): ["c", number]
            for number, step in enumerate(region.path)
            if isinstance(step, Split)
        }
        for k, (a, b) in moved.items():
            low, high = max(sides.low[k], a), min(sides.high[k], b)
            sides.cube[k] &= sides.low[k] == low and sides.high[k] == high
            sides.low[k], sides.high[k] = low, high
            sides.below[k] = names.get((k, False, low)) or side(ends, k, False)
            sides.above[k] = names.get((k, True, high)) or side(ends, k, True)
        return sides

    def _at(self, level: float) -> Sides:
        """Within a level."""
        space, m = self.frame.space, len(self.frame.reach)
        whole = Region()
        (low, high), (least, most) = whole.ends(space, level), space.level_ends(level)
        ends = Ends(space, whole, low, high)
        below, above = ([side(ends, k, up) for k in range(m)] for up in (False, True))
        cube = np.asarray((low == least) & (high == most))
        cube[space.n if space.norm == np.inf else 0 :] = False
        return Sides(low[:m].tolist(), high[:m].tolist(), below, above, cube[:m].tolist())
