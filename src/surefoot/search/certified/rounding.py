"""Points on allowed values: one feature after the other takes one, then they move to neighbouring ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
FLAT = 1e-3  # of the slope over a typical distance: margins with less curvature are bent by so much
FLATTEST = 1e-12  # and also those that nothing changes by so much: inverses of less overflow
STEPS = 20  # towards the least level
FARTHEST = 1e100  # standard deviations: whoever asks for more has no least level, and its square has no end
SETTLED = 1e-3  # of a direction's reach; features this near to an allowed value take it together
CLOSE = 0.05  # of the gap: how exactly least levels are computed
ROUND = 0.7  # of the norm's price: what bends the ball, p = 2; planes that touch it see to the rest
FIRST = 1.08  # times the distance without sets of values: where rounding begins
HIGH = 0.9  # of the peak before: a value that leaves so much is taken without a look at the next one
FAILURES = 2
MOVES = 4  # to neighbouring values: those with the highest outlook are looked at
DOUBLINGS = 20  # and halvings, where these levels had no values
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
    low: Array = field(init=False)
    high: Array = field(init=False)

    def __post_init__(self) -> None:
        self.low, self.high = self.frame.low, self.frame.high

    @contextmanager
    def between(self, low: Array, high: Array) -> Iterator[None]:
        """Look for points between other ends of directions, where these are narrower."""
        before = self.low, self.high
        self.low, self.high = np.maximum(low, self.low), np.minimum(high, self.high)
        try:
            yield
        finally:
            self.low, self.high = before

    @cached_property
    def concave(self) -> Array:
        """The concave part of the margin's curvature, and a bit more."""
        H, space = self.frame.H, self.frame.space
        root = curvature_parts(H).root
        flat = FLAT * space.slope / space.typical_distance
        more = BEND * max(float(np.abs(H.matrix).max()), flat, FLATTEST)
        return np.asarray(root.T @ root + more * np.eye(len(H.vector)))

    @cached_property
    def _convex(self) -> Array:
        """What tangents replace: the curvature without its concave part."""
        return np.asarray(self.frame.Q + self.concave)

    def bend(self, rate: float, level: float) -> None:
        """Make the majorant of the peaks here; for p = 2 the ball bends it by most of what it will cost."""
        round_ = ROUND * rate / (2 * max(level, 1e-9)) if self.frame.space.norm == 2 else 0.0
        self.bent = self._bent_by(round_) if round_ else self._plain

    @cached_property
    def _plain(self) -> Majorant:
        """The majorant that no ball bends."""
        return self._bent_by(0.0)

    def _bent_by(self, round_: float) -> Majorant:
        weights = np.append(np.zeros(len(self.frame.slopes)), round_)
        K = self.concave + round_ * np.eye(len(self.concave))
        return Majorant(
            self.frame.bends(np.zeros(len(K))), weights, np.asarray(np.linalg.inv(K), dtype=float)
        )

    def start(self, u: Array) -> Found | None:
        """A local optimum without sets of values; None if none was found."""
        frame, points = self.frame, self.frame.points
        self.bend(points.rate, frame.space.size(u))
        self._withstand(u)  # a perturbation that is the worst at one point often is at others
        for _ in range(5):
            found = self._nearest(u, self.low, self.high, np.inf)
            if found is None:
                return None
            u = found.u
            rate = frame.rise(found, self.bent)
            points.learn_rate(rate, u)
            self.bend(rate, frame.space.size(u))
            if not self._withstand(u):
                break
        return found

    def _withstand(self, u: Array) -> bool:
        """Make the worst perturbation of a point a scenario; whether it is a new one."""
        frame = self.frame
        _, s = frame.points.harm(u, frame.known, EFFORT)
        return frame.learn(s)

    def dive(self, u: Array, settled: bool = False) -> None:
        """Other values than those nearest to a local optimum, within one level after the other, and around.

        ``settled``: whether those nearest to it made a point already.
        """
        points, least = self.frame.points, self.frame.space.size(u)
        pins: Pins | None = self._values_near(u)
        best, level, failures = None, FIRST * least, -1
        while True:
            if pins is not None and (settled or self.settle(u, pins)):
                best, level = pins, min(level, least + SHORTER * (points.distance - least))
            else:
                failures += 1
                level = level if failures == 0 else 0.5 * (level + min(points.distance, 1.5 * level))
            settled = False
            if failures >= FAILURES or points.distance - level <= self.gap * level:
                break
            pins = self._within(u, level)
        if points.best is None:
            best = self._bracketed(u, level)
        if best is not None:
            self._move(best)

    def _bracketed(self, u: Array, low: float) -> Pins | None:
        """Values far beyond a level that has none: levels twice as far until there are some, then halves."""
        points, farthest, best = self.frame.points, self.frame.space.farthest, None
        for _ in range(DOUBLINGS):
            high = points.distance
            level = 0.5 * (low + high) if np.isfinite(high) else min(2 * low, farthest)
            if level <= low or high - level <= self.gap * level:
                break
            pins = self._within(u, level)
            if pins is not None and self.settle(u, pins):
                best = pins
            else:
                low = level
        return best

    def descend(self, u: Array) -> None:
        """Points nearer than an allowed one: around the nearest with values left aside, and beyond that."""
        found = self._nearest(u, self.low, self.high, self.frame.points.distance)
        if found is not None and not self.settle(found.u):
            self._bracketed(found.u, self.frame.space.size(found.u))

    def _values_near(self, u: Array) -> Pins:
        return {k: self.frame.allowed(k, u) for k in self.frame.space.sets}

    def _within(self, u: Array, level: float) -> Pins | None:
        """Allowed values for all features, one after the other one that leaves a high peak."""
        frame = self.frame
        pins: Pins = {}
        found = self._held(self._top(u), pins, level)
        while found.value >= 0:
            frame.points.clock.check()  # with very many features a single peak takes its time
            u = found.u
            gaps = frame.between(found.places, *self._pinned(pins), SETTLED)
            if not gaps:
                return self._values_near(u)
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
        """To neighbouring values, one feature at a time, for as long as one of the likeliest helps."""
        points, improved = self.frame.points, True
        while improved and points.best is not None:
            improved = False
            for k, value in self._likeliest(points.best, pins):
                points.clock.check()
                before, moved = points.distance, {**pins, k: value}
                if self._promising(points.best, moved):
                    self.settle(points.best, moved)
                if points.distance < before * (1 - 0.1 * self.gap):
                    pins, improved = moved, True
                    break

    def _likeliest(self, u: Array, pins: Pins) -> list[tuple[int, float]]:
        """The features and neighbouring values with the highest outlook."""
        (height, prices), points = self._outlook(u, pins), self.frame.points
        moves = [
            (height + float(prices[k]) * (value - pins[k]), k, value)
            for k in points.coarse(pins)
            for value in points.neighbours(k, pins[k])
        ]
        return [(k, value) for hope, k, value in sorted(moves, reverse=True)[:MOVES] if hope >= 0]

    def _outlook(self, u: Array, pins: Pins) -> tuple[float, Array]:
        """The bent margin's peak with some values, and prices: what another value of a feature adds at most.

        That is so with any prices. Where the ends exclude each other, nothing is known.
        """
        ends = self.frame.within(*self._pinned(pins), self._nearer)
        if (ends[0] > ends[1]).any():
            return np.inf, np.zeros(len(self.frame.reach))
        found = self.frame.peak(self.bent, self._top(u), ends, self._nearer)
        return found.value, found.prices / self.frame.reach

    @property
    def _nearer(self) -> float:
        """A level at which another point would be worth having."""
        return self.frame.points.distance * (1 - 0.1 * self.gap)

    def settle(self, u: Array, pins: Pins | None = None) -> bool:
        """The nearest point with these values (by default those nearest to u); whether it is the best yet."""
        frame, points = self.frame, self.frame.points
        if pins is None:
            pins = self._values_near(u)
        low, high = self._pinned(pins)
        for _ in range(3):
            found = self._nearest(u, low, high, points.distance)
            if found is None:
                return False
            u = points.on_values(found.u)
            margin, s = points.harm(u, frame.known, EFFORT)
            if points.accept(u, margin, s, as_it_is=self.rigid):
                return True
            if not frame.learn(s):
                return False
        return False

    @cached_property
    def rigid(self) -> bool:
        """Whether every feature is on an allowed value or cannot move: points cannot step inside."""
        space = self.frame.space
        return all(k in space.sets or bool(space.fixed[k]) for k in range(space.n, 2 * space.n))

    def _pinned(self, pins: Pins) -> tuple[Array, Array]:
        low, high = self.low.copy(), self.high.copy()
        for k, value in pins.items():
            low[k] = high[k] = value / self.frame.reach[k]
        return low, high

    def _top(self, u: Array) -> Top:
        """The worst scenario's margin with its convex part replaced by its tangent at u."""
        plain, bent = self.frame.in_scenario(self.frame.worst(u)), self._convex.dot(u)
        return Top(plain.slope + 2 * bent, plain.constant - float(u.dot(bent)), plain.base)

    def _promising(self, u: Array, pins: Pins) -> bool:
        """Whether other values may come nearer than the best point, judged by the margin bent at u."""
        level = self._nearer
        ends = self.frame.within(*self._pinned(pins), level)
        if (ends[0] > ends[1]).any():
            return False
        return self.frame.peak(self.bent, self._top(u), ends, level).value >= 0

    def _nearest(self, u: Array, low: Array, high: Array, most: float) -> Found | None:
        """The point of least level at which the margin is as safe as points must be; None beyond ``most``.

        Newton's steps on the peak as a function of the level, each with the tangent at the last peak: the
        margin is above its tangent, so every peak stays as safe when the tangent moves there.
        """
        frame = self.frame
        least = max(float(np.maximum(low / frame.above, -high / frame.below).max()) * (1 + 1e-9), 0.0)
        level, top = max(frame.space.size(u), least, 1e-300), self._safe_top(u)
        for _ in range(STEPS):
            frame.points.clock.check()
            if level > FARTHEST:
                return None
            found = frame.peak(self.bent, top, frame.within(low, high, level), level)
            rise = frame.rise(found, self.bent)
            if found.missing:
                if rise > 0:
                    level = least = level + found.missing / rise * (1 + 1e-6)
                if rise <= 0 or least > most:
                    return None
                continue
            moved = found.u - u
            above = float(moved.dot(self._convex.dot(moved)))
            close = CLOSE * self.gap * rise * level
            if abs(found.value) <= close or (found.value > 0 and level <= least):
                if level > most:
                    return None
                if above <= 2 * close or level <= least:
                    return found
            u = found.u
            top = self._safe_top(u)
            if rise > 0:
                level = max(level - (found.value + above) / rise, 0.1 * level, least)
            elif found.value + above > 0:
                level = least
            else:
                return None
        return None

    def _safe_top(self, u: Array) -> Top:
        top = self._top(u)
        return top._replace(constant=top.constant - self.frame.points.safety_margin(u))
