"""Points on allowed values: one feature after the other takes one, then they move to neighbouring ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.frame import Frame
from surefoot.search.certified.local import curvature_parts
from surefoot.search.certified.majorant import Majorant

Array = NDArray[np.float64]
Pins = dict[int, float]  # set direction -> the value it is held at

BEND = 1e-3  # of the largest curvature, so that the bent margin has one peak
TANGENTS = 4  # times the margin's convex part is replaced by its tangent
LEVELS = 12  # steps towards the least level
SETTLED = 1e-3  # of a direction's reach; features this near to an allowed value take it together
CLOSE = 0.02  # of the gap: how exactly least levels are computed
EFFORT = 5_000  # corners an adversary may look at


@dataclass(eq=False)
class Rounding:
    """Looks for points of a search whose features are on allowed values (p = infinity).

    With the convex part of the margin replaced by its tangent at a point, the peak of what is left within
    a level grows with the level; the least one at which it reaches zero is found by Newton's steps.
    """

    frame: Frame
    gap: float

    def __post_init__(self) -> None:
        self.prices = np.zeros(0)

    @cached_property
    def bent(self) -> tuple[Array, Majorant]:
        """The concave part of the margin's curvature, and the peaks it has."""
        H, slopes = self.frame.H, self.frame.slopes
        root = curvature_parts(H).root
        K = root.T @ root + BEND * max(float(np.abs(H.matrix).max()), 1e-12) * np.eye(len(H.vector))
        return K, Majorant(slopes, np.zeros(len(slopes)), np.asarray(np.linalg.inv(K), dtype=float))

    def dive(self, u: Array) -> None:
        """Put features on allowed values, the nearest to one first, and look around."""
        frame = self.frame
        pins: Pins = {}
        while True:
            low, high = self._pinned(pins)
            found = self._nearest(u, low, high, 1, np.inf)
            if found is None:
                return
            u = found
            open_ = frame.between(u, low, high, SETTLED)
            for k in frame.space.sets.keys() - open_.keys() - pins.keys():
                pins[k] = frame.allowed(k, u)
            if not open_:
                break
            off = {
                k: abs(frame.allowed(k, u) - frame.space.directions[k] @ u) / frame.reach[k] for k in open_
            }
            k = min(off, key=lambda j: float(off[j]))
            pins[k] = frame.allowed(k, u)
        self.settle(u, pins)
        self._move(pins)

    def _move(self, pins: Pins) -> None:
        """To neighbouring values, one feature at a time, for as long as one helps."""
        points = self.frame.points
        improved = True
        while improved and points.best is not None:
            improved = False
            for k in points.coarse(pins):
                for value in points.neighbours(k, pins[k]):
                    before, moved = points.distance, {**pins, k: value}
                    if self._promising(points.best, moved):
                        self.settle(points.best, moved)
                    if points.distance < before * (1 - 0.1 * self.gap):
                        pins, improved = moved, True

    def settle(self, u: Array, pins: Pins | None = None) -> bool:
        """The nearest point with these values (by default those nearest to u); whether it is the best yet."""
        frame, points = self.frame, self.frame.points
        if pins is None:
            pins = {k: frame.allowed(k, u) for k in frame.space.sets}
        low, high = self._pinned(pins)
        for _ in range(3):
            found = self._nearest(u, low, high, TANGENTS, points.distance)
            if found is None:
                return False
            u = points.on_values(found)
            margin, s = points.harm(u, frame.scenarios, EFFORT)
            if points.accept(u, margin, s):
                return True
            if s in frame.scenarios:
                return False
            frame.scenarios.append(s)
        return False

    def _pinned(self, pins: Pins) -> tuple[Array, Array]:
        low, high = self.frame.low.copy(), self.frame.high.copy()
        for k, value in pins.items():
            low[k] = high[k] = value / self.frame.reach[k]
        return low, high

    def _top(self, u: Array) -> tuple[Array, float, int]:
        """The worst scenario's margin with its convex part replaced by its tangent at u."""
        frame, (K, _) = self.frame, self.bent
        b = frame.worst(u)
        at = u + frame.scenario(b)
        slope, bend = frame.H.gradient(at), K @ u
        return slope + 2 * bend, float(frame.H(at)) - float(slope @ u) - float(u @ bend), b

    def _promising(self, u: Array, pins: Pins) -> bool:
        """Whether other values may come nearer than the best point, judged by the margin bent at u."""
        level = self.frame.points.distance * (1 - 0.1 * self.gap)
        low, high = self._pinned(pins)
        low, high = self.frame.within(low, high, level)
        if (low > high).any():
            return False
        found, _ = self.frame.peak(self.bent[1], self._top(u), (low, high), self.prices, 0.0)
        if found.ray is None:
            self.prices = found.prices
        return found.value >= 0

    def _nearest(self, u: Array, low: Array, high: Array, tangents: int, most: float) -> Array | None:
        """The point of least level at which the bent margin is as safe as points must be."""
        level = self.frame.space.size(u)
        for _ in range(tangents):
            slope, constant, b = self._top(u)
            top = slope, constant - self.frame.points.safety_margin(u), b
            found = self._least_level(top, low, high, level)
            if found is None or found[1] > most:
                return None
            u, before, level = found[0], level, found[1]
            if abs(level - before) <= 2 * CLOSE * self.gap * level:
                break
        return u

    def _least_level(
        self, top: tuple[Array, float, int], low: Array, high: Array, level: float
    ) -> tuple[Array, float] | None:
        """Newton's steps on the peak as a function of the level; the point and the level."""
        frame = self.frame
        least = max(float(np.maximum(low / frame.above, -high / frame.below).max()) * (1 + 1e-9), 0.0)
        level = max(level, least, 1e-300)
        for _ in range(LEVELS):
            ends = frame.within(low, high, level)
            found, u = frame.peak(self.bent[1], top, ends, self.prices, -np.inf)
            if found.ray is not None:
                drain = self._by_level(found.ray, low, high, level)
                if drain <= 0:
                    return None
                level = least = level + found.missing / drain * (1 + 1e-6)
                continue
            self.prices = found.prices
            slope = self._by_level(found.prices, low, high, level)
            near = abs(found.value) <= CLOSE * self.gap * slope * level
            if near or (found.value > 0 and level <= least):
                return u, level
            if slope <= 0:
                return None
            level = max(level - found.value / slope, 0.1 * level, least)
        return None

    def _by_level(self, prices: Array, low: Array, high: Array, level: float) -> float:
        """What one unit of level adds to the peak: the prices of ends that it sets."""
        own, frame = prices[: len(low)], self.frame
        worth = np.abs(own) * np.where(own > 0, frame.above, frame.below)
        return float(worth[np.where(own > 0, high >= level * frame.above, low <= -level * frame.below)].sum())
