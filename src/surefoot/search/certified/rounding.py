"""Points on allowed values: one feature after the other takes one, then they move to neighbouring ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.frame import Found, Frame, Top
from surefoot.search.certified.local import curvature_parts
from surefoot.search.certified.majorant import Majorant

Array = NDArray[np.float64]
Pins = dict[int, float]  # set direction -> the value it is held at

BEND = 1e-3  # of the largest curvature, so that the bent margin has one peak
TANGENTS = 4  # times the margin's convex part is replaced by its tangent
LEVELS = 12  # steps towards the least level
SETTLED = 1e-3  # of a direction's reach; features this near to an allowed value take it together
CLOSE = 0.05  # of the gap: how exactly least levels are computed
ROUND = 0.7  # of the norm's price: what bends the ball, p = 2; planes that touch it see to the rest
FIRST = 1.08  # times the distance without sets of values: where rounding begins
HIGH = 0.9  # of the peak before: a value that leaves so much is taken without a look at the next one
FAILURES = 3
SHORTER = 0.5  # of the way from there to the best point: the next level
EFFORT = 5_000  # corners an adversary may look at


@dataclass(eq=False)
class Rounding:
    """Looks for points of a search whose features are on allowed values.

    With the convex part of the margin replaced by its tangent at a point, the peak of what is left within
    a level grows with the level; the least one at which it reaches zero is found by Newton's steps.
    """

    frame: Frame
    gap: float
    bent: Majorant = field(init=False)

    @cached_property
    def concave(self) -> Array:
        """The concave part of the margin's curvature, and a bit more."""
        H = self.frame.H
        root = curvature_parts(H).root
        return np.asarray(
            root.T @ root + BEND * max(float(np.abs(H.matrix).max()), 1e-12) * np.eye(len(H.vector))
        )

    def bend(self, rate: float, level: float) -> None:
        """Make the majorant of the peaks here; for p = 2 the ball bends it by most of what it will cost."""
        round_ = ROUND * rate / (2 * max(level, 1e-9)) if self.frame.space.norm == 2 else 0.0
        weights = np.append(np.zeros(len(self.frame.slopes)), round_)
        K = self.concave + round_ * np.eye(len(self.concave))
        self.bent = Majorant(
            self.frame.bends(np.zeros(len(K))), weights, np.asarray(np.linalg.inv(K), dtype=float)
        )

    def start(self, u: Array) -> Found | None:
        """A local optimum without sets of values; None if none was found."""
        frame, points = self.frame, self.frame.points
        self.bend(points.rate, frame.space.size(u))
        for _ in range(5):
            found = self._nearest(u, frame.low, frame.high, TANGENTS, np.inf)
            if found is None:
                return None
            u = found.u
            points.learn_rate(found.rise, u)
            self.bend(found.rise, frame.space.size(u))
            _, s = points.harm(u, frame.scenarios, EFFORT)
            if s in frame.scenarios:
                break
            frame.scenarios.append(s)
        return found

    def dive(self, u: Array) -> None:
        """The values nearest to a local optimum, then others within one level after the other, and around."""
        points, least = self.frame.points, self.frame.space.size(u)
        pins: Pins | None = {k: self.frame.allowed(k, u) for k in self.frame.space.sets}
        best, level, failures = None, FIRST * least, -1
        while True:
            if pins is not None and self.settle(u, pins):
                best, level = pins, min(level, least + SHORTER * (points.distance - least))
            else:
                failures += 1
                level = level if failures == 0 else 0.5 * (level + min(points.distance, 1.5 * level))
            if failures >= FAILURES or points.distance - level <= self.gap * level:
                break
            pins = self._within(u, level)
        if best is not None:
            self._move(best)

    def _within(self, u: Array, level: float) -> Pins | None:
        """Allowed values for all features, one after the other one that leaves a high peak."""
        frame = self.frame
        pins: Pins = {}
        found = self._held(self._top(u), pins, level)
        while found.value >= 0:
            u = found.u
            gaps = frame.between(u, *self._pinned(pins), SETTLED)
            if not gaps:
                return {k: frame.allowed(k, u) for k in frame.space.sets}
            wide = {k: (b - a) / frame.reach[k] for k, (a, b) in gaps.items()}
            k = max(wide, key=lambda j: float(wide[j]))
            top, y, before = self._top(u), float(frame.space.directions[k] @ u), found.value
            for value in sorted(gaps[k], key=lambda v: abs(v - y)):
                tried = self._held(top, {**pins, k: value}, level)
                if found.u is u or tried.value > found.value:
                    found, pins[k] = tried, value
                if found.value > HIGH * before:
                    break
        return None

    def _held(self, top: Top, pins: Pins, level: float) -> Found:
        """The bent margin's peak with some features at given values."""
        return self.frame.peak(self.bent, top, self.frame.within(*self._pinned(pins), level), level)

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
            u = points.on_values(found.u)
            margin, s = points.harm(u, frame.scenarios, EFFORT)
            if points.accept(u, margin, s, as_it_is=self._rigid):
                return True
            if s in frame.scenarios:
                return False
            frame.scenarios.append(s)
        return False

    @cached_property
    def _rigid(self) -> bool:
        """Whether every feature is on an allowed value or cannot move: points cannot step inside."""
        space = self.frame.space
        return all(k in space.sets or bool(space.fixed[k]) for k in range(space.n, 2 * space.n))

    def _pinned(self, pins: Pins) -> tuple[Array, Array]:
        low, high = self.frame.low.copy(), self.frame.high.copy()
        for k, value in pins.items():
            low[k] = high[k] = value / self.frame.reach[k]
        return low, high

    def _top(self, u: Array) -> Top:
        """The worst scenario's margin with its convex part replaced by its tangent at u."""
        frame, K = self.frame, self.concave
        b = frame.worst(u)
        at = u + frame.scenario(b)
        slope, bend = frame.H.gradient(at), K @ u
        return Top(slope + 2 * bend, float(frame.H(at)) - float(slope @ u) - float(u @ bend), b)

    def _promising(self, u: Array, pins: Pins) -> bool:
        """Whether other values may come nearer than the best point, judged by the margin bent at u."""
        level = self.frame.points.distance * (1 - 0.1 * self.gap)
        ends = self.frame.within(*self._pinned(pins), level)
        if (ends[0] > ends[1]).any():
            return False
        return self.frame.peak(self.bent, self._top(u), ends, level).value >= 0

    def _nearest(self, u: Array, low: Array, high: Array, tangents: int, most: float) -> Found | None:
        """The point of least level at which the bent margin is as safe as points must be."""
        level, found = self.frame.space.size(u), None
        for _ in range(tangents):
            top = self._top(u)
            top = top._replace(constant=top.constant - self.frame.points.safety_margin(u))
            solved = self._least_level(top, low, high, level)
            if solved is None or solved[1] > most:
                return None
            found, before, level = solved[0], level, solved[1]
            u = found.u
            if abs(level - before) <= 2 * CLOSE * self.gap * level:
                break
        return found

    def _least_level(self, top: Top, low: Array, high: Array, level: float) -> tuple[Found, float] | None:
        """Newton's steps on the peak as a function of the level; the peak and the level."""
        frame = self.frame
        least = max(float(np.maximum(low / frame.above, -high / frame.below).max()) * (1 + 1e-9), 0.0)
        level = max(level, least, 1e-300)
        for _ in range(LEVELS):
            ends = frame.within(low, high, level)
            found = frame.peak(self.bent, top, ends, level)
            if found.missing:
                if found.rise <= 0:
                    return None
                level = least = level + found.missing / found.rise * (1 + 1e-6)
                continue
            near = abs(found.value) <= CLOSE * self.gap * found.rise * level
            if near or (found.value > 0 and level <= least):
                return found, level
            if found.rise > 0:
                level = max(level - found.value / found.rise, 0.1 * level, least)
            elif found.value > 0:
                level = least
            else:
                return None
        return None
