"""Branch and bound over allowed values, with a concave quadratic instead of a semidefinite program.

Where features take whole numbers a proof needs many small regions, in which margins are nearly linear. There
the peak of one concave majorant between the region's ends is about as good a bound as a semidefinite
program's (even a better one, since ends have prices of their own), and takes a hundredth of the time.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.narrowing import Taken
from surefoot.search.certified.branching import choose_fork
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.entries import Entries
from surefoot.search.certified.frame import Found, Frame, Gaps, Top
from surefoot.search.certified.local import ROW_MARGIN
from surefoot.search.certified.majorant import Majorant
from surefoot.search.certified.region import Cut, Region
from surefoot.search.certified.rounding import EFFORT, Rounding
from surefoot.search.certified.space import Space
from surefoot.search.certified.ways import Ways

Array = NDArray[np.float64]

MOST = 1000  # nodes; what is open then is left to the semidefinite bounds
MOST_ROUND = 100  # likewise for p = 1 and 2, where those are better
BLIND = 50  # nodes without any point
DEEPEST = 150
SPATIAL = 0.5  # a direction is cut for the margin's curvature where that costs such a share of the peak
HEAVY = 2.0  # other majorants are tried where all slabs of one cost such a share
LOWER = 0.8  # and once more where that lowered the peak to such a share
INNER = 0.2  # cuts for curvature stay this share of the range away from its ends
SAFETY = 1e-9  # how far below zero, relative to what is added up, a peak must be
ASTRAY = 1e-3  # of the largest end
BESIDE = 1e-9  # of a direction's reach: a value this far from an allowed one may be cut off
TRIES = 5
LEAST = 1e-12  # standard deviations: within such a level there is nothing to look for


def fits(space: Space) -> bool:
    """Whether this search is for a space: sets of values, and not very many requirements.

    An equation is a slab without width, whose weight costs nothing.
    With eithers, or prices that differ up and down, for p = infinity alone.
    """
    uneven = space.prices is not None and not space.prices.even
    if space.norm != np.inf and (space.forks or uneven):
        return False
    return bool(space.sets) and not space.crowded and space.problem is not None


def is_box(space: Space) -> bool:
    """Whether one requirement is to be refuted within a box: then small regions are best."""
    return space.norm == np.inf and len(space.margins) == 1


@dataclass(eq=False)
class _Node:
    """A region with the ends of its directions in units of their reach, and the last peak found in it.

    ``ends``: what the level leaves of its ranges. ``costs``: what the majorant's weights add to the margin at
    the peak. ``promise``: about the least level at which its peak is not below zero.
    """

    region: Region
    low: Array
    high: Array
    major: Majorant
    found: Found
    level: float = math.inf
    ends: tuple[Array, Array] = field(init=False)
    costs: Array = field(init=False)
    promise: float = 0.0

    @property
    def paid(self) -> float:
        """What all weights together add."""
        return float(self.costs.sum())


class Lattice:
    """Refutes regions up to a goal that falls with the best point's distance, and finds that point.

    Parameters
    ----------
    ways : Ways
    gap : float
    clock : Clock
    goal, enough : callable
        The level at which regions are refuted, and the bound at which they are done with.
    requirement : int
        The one by which regions are refuted, and by others where these fail. Points meet all of them.
    """

    def __init__(
        self,
        ways: Ways,
        gap: float,
        clock: Clock,
        goal: Callable[[], float],
        enough: Callable[[], float],
        requirement: int = 0,
    ) -> None:
        self.ways, self.points, self.clock, self.goal, self.enough = ways, ways.points, clock, goal, enough
        self.frame = Frame(self.points, [requirement])
        self._rows = [k for k, function in enumerate(self.frame.space.functions) if function[0] in ("r", "w")]
        self.rounding = self._rounding(gap)
        self._roundings: dict[frozenset[tuple[int, int]], Rounding | None] = {frozenset(): self.rounding}
        self.entries = Entries(self.frame)
        self.nodes = 0
        self._first_look: tuple[Majorant, Found] | None = None
        self._others: list[Lattice] = []

    def helped_by(self, others: Iterable[Lattice]) -> Lattice:
        """The same search with others that have other requirements."""
        self._others = list(others)
        return self

    def run(self, regions: Iterable[Region], start: Array) -> None:
        """Go on until everything is refuted, or too much is left."""
        found = self.rounding.start(start)
        if found is None:
            return
        settled = not self.frame.space.forks and self.rounding.settle(found.u)
        if self.points.suffice:
            return
        ahead = None
        if settled and LEAST < self.goal() < self.frame.space.size(found.u):
            ahead = self._begun(regions, found)  # the values nearest to a local optimum may do
            if not ahead:
                return
        self._find_point(found.u, settled)
        if self.goal() > LEAST:
            self._close(self._begun(regions, found) if ahead is None else ahead)

    def _close(self, ahead: list[_Node]) -> None:
        """Refute nodes and what they are split into, the most promising first."""
        order = count()
        heap: list[tuple[float, int, _Node]] = []
        most = MOST if self.frame.space.norm == np.inf else MOST_ROUND
        asked = np.isfinite(self.points.within)  # only whether there is a point
        while (ahead or heap) and self.nodes < (most if asked or self.points.best is not None else BLIND):
            if self.points.suffice:
                return
            self.clock.check()
            blind = bool(ahead) and self.points.best is None
            ahead.sort(key=lambda node: node.promise)
            for node in ahead[1:] if blind else ahead:
                heapq.heappush(heap, (node.promise, next(order), node))
            node = ahead[0] if blind else heapq.heappop(heap)[2]  # straight on until there is a point
            ahead = self._processed(node) if node.region.bound < self.enough() else []

    def _find_point(self, u: Array, settled: bool) -> None:
        """Allowed values around a local optimum; with eithers within one way of each, the nearest first."""
        points = self.points
        if not self.frame.space.forks:
            self.rounding.dive(u, settled)
            return
        combinations = self.ways.nearest(u)
        for taken in combinations:
            self._begin_within(taken, self.ways.start(taken, u))
            if points.best is not None:
                return
        for taken in combinations:
            space = self.ways.space(taken)
            if space is not None:
                with points.inside(space):
                    points.dive(self.ways.start(taken, u), list(self.frame.scenarios))
            if points.best is not None:
                return

    def _begun(self, regions: Iterable[Region], start: Found) -> list[_Node]:
        """The nodes of regions, of those that are not refuted at once."""
        frame, level = self.frame, self.goal()
        major = frame.first_majorant(start, frame.within(frame.low, frame.high, level), level)
        found = []
        for region in regions:
            self.clock.check()
            node = _Node(region, *self._between(region), major, start)
            if self._open(node):
                found.append(node)
        return found

    def _between(self, region: Region) -> tuple[Array, Array]:
        """The ends of a region in units of the directions' reach."""
        frame = self.frame
        low, high = frame.low.copy(), frame.high.copy()
        for k, (a, b) in region.splits.items():
            if k < len(low):
                low[k], high[k] = max(low[k], a / frame.reach[k]), min(high[k], b / frame.reach[k])
        return low, high

    def _open(self, node: _Node) -> bool:
        """Whether a node is left to this search after an attempt to refute it at the goal."""
        self.nodes += 1
        node.level = level = self.goal()
        node.ends = low, high = self.frame.within(node.low, node.high, level)
        if (low > high).any() and (low > high + 1e-11 * (np.abs(low) + np.abs(high))).any():
            node.region.bound, node.region.leaf = level, self.entries.empty(node.region, level)
            return False
        if self._refuted(node):
            return False
        found = node.found
        node.promise = level - found.value / max(self.frame.rise(found, node.major), 1e-300)
        node.costs = self.frame.costs(found, node.major, node.ends, level)
        return not (self._astray(node) or self._undecided(node))

    def _refuted(self, node: _Node) -> bool:
        """Find the majorant's peak; whether it is below zero, which makes a leaf."""
        frame, (low, high) = self.frame, node.ends
        w = node.major.weights[: len(low)]
        slope, products, b = (w * (low + high)).dot(frame.slopes), w * low * high, frame.worst(node.found.u)
        paid = float(products.sum())
        for _ in range(TRIES):
            plain = frame.in_scenario(b)
            top = Top(plain.slope + slope, plain.constant - paid, b)
            node.found = found = frame.peak(node.major, top, node.ends, node.level, node.found)
            proves = len(found.shares) == 1 or float(found.shares.sum()) <= 1
            if proves:
                break
            b = int(found.shares.argmax())  # a base scenario's weight must not be negative
        if found.value >= 0 or not proves:
            return False
        size = abs(plain.constant) + float(np.abs(products).sum()) + found.size
        refuted = found.value < -SAFETY * size
        if refuted:
            node.region.leaf = self.entries.leaf(node.region, node.major, found, b, node.level)
            node.region.bound = node.level
        return refuted

    def _astray(self, node: _Node) -> bool:
        """Whether rounding has carried the peak out of its region, which is then left to other bounds."""
        y, (low, high) = node.found.places, node.ends
        beyond = np.maximum(y - high, low - y)
        most = float(beyond[beyond.argmax()])
        return most > 0 and most > ASTRAY * float(np.abs(high).max())

    def _undecided(self, node: _Node) -> bool:
        """Whether a scenario is lower at the peak than the peak says: then cuts would not help.

        Scenarios that took turns as the base, or a majorant so flat that its own peak is far away, and what
        it tolerates with it.
        """
        found = node.found
        off = found.value - self.frame.lowest(found.u) - (0.5 * found.value + SAFETY * found.size)
        return off > 0 and off > node.paid

    def _processed(self, node: _Node) -> list[_Node]:
        """Look closer at a node, then split it: its open parts. Allowed points on the way are used."""
        for _ in range(TRIES):
            if self.goal() < node.level and not self._open(node):
                return []
            if self._refuted_by_others(node):
                return []
            parts = self._ways_out(node)
            if parts is not None:
                return parts
            gaps = self._gaps(node)
            if not gaps and self._look(node):
                if not self._open(node):
                    return []
                continue
            before = node.found
            if node.paid <= HEAVY * before.value:
                break
            if not self._lowered(node):
                return []
            if node.found is not before:
                gaps = self._gaps(node)
            if node.found.value > LOWER * before.value:
                break
        cut = None if node.region.depth >= DEEPEST else self._cut(node, gaps)
        return [] if cut is None else [child for child in self._children(node, cut) if self._open(child)]

    def _refuted_by_others(self, node: _Node) -> bool:
        """Try the requirements that fail at a node's peak."""
        u = node.found.u
        return any(other.frame.H(u) < 0 and other._refutes(node, u) for other in self._others)

    def _refutes(self, node: _Node, start: Array) -> bool:
        """Whether this search's requirement refutes a node of another one's."""
        if self._first_look is None:
            found, level = self.rounding.start(start), self.goal()
            if found is None:
                return False
            frame = self.frame
            ends = frame.within(frame.low, frame.high, level)
            self._first_look = frame.first_majorant(found, ends, level), found
        own = _Node(node.region, node.low, node.high, *self._first_look)
        self._open(own)
        return own.region.bound >= self.enough()

    def _lowered(self, node: _Node) -> bool:
        """Take the best of other majorants; whether the node is still open."""
        best = node.major, node.found, node.costs, node.promise
        for major in self.frame.majorants(node.found, node.major, node.ends, node.level):
            node.major = major
            if not self._open(node):
                return False
            if node.found.value < best[1].value:
                best = node.major, node.found, node.costs, node.promise
            node.major, node.found, node.costs, node.promise = best
        return True

    def _ways_out(self, node: _Node) -> list[_Node] | None:
        """The open ways of an either of which the peak takes none; None if there is no such either."""
        space, reach, u = self.frame.space, self.frame.reach, node.found.u
        if not space.forks:
            return None
        low, high = node.ends
        fork = choose_fork(space, node.region, node.level, u, (low * reach, high * reach))
        if fork is None:
            return None
        children = node.region.take(fork)
        for _, way in fork.nearest(space.directions @ u, space.reach):
            self._begin_within(children[way].ways, u)
        nodes = [_Node(child, *self._between(child), node.major, node.found) for child in children]
        return [child for child in nodes if self._open(child)]

    def _begin_within(self, taken: Taken, u: Array) -> None:
        """Look for a first point within some ways."""
        key = frozenset(taken.items())
        if key not in self._roundings:
            space = self.ways.space(taken)
            self._roundings[key] = None
            if space is not None:
                with self.points.inside(space):
                    self._roundings[key] = rounding = self._rounding(self.rounding.gap)
                    found = rounding.start(u)
                    if found is not None:
                        rounding.dive(found.u)

    def _rounding(self, gap: float) -> Rounding:
        """Looks for points between the ends of the space, and a little inside of rows."""
        frame = Frame(self.points, self.frame.scenarios)
        inside = np.minimum(ROW_MARGIN, 0.25 * (frame.high - frame.low)[self._rows])
        frame.low[self._rows] += inside
        frame.high[self._rows] -= inside
        return Rounding(frame, gap)

    def _look(self, node: _Node) -> bool:
        """An allowed point: a better one, or one with a scenario against it; whether that is news."""
        self._begin_within(node.region.ways, node.found.u)
        rounding = self._roundings[frozenset(node.region.ways.items())]
        if rounding is None:
            return False
        with self.points.inside(rounding.frame.space):
            return self._settled(node, rounding)

    def _settled(self, node: _Node, rounding: Rounding) -> bool:
        frame, points, u = self.frame, self.points, node.found.u
        before, point = points.distance, points.on_values(u)
        margin, s = points.harm(point, frame.known, EFFORT)
        if margin >= 0:
            thin = node.found.value < points.enough(point)  # nothing in the node stands farther inside
            points.accept(point, margin, s, as_it_is=rounding.rigid or thin)
            with rounding.between(node.low, node.high):
                rounding.descend(u)
            return points.distance < before
        return frame.learn(s)

    def _gaps(self, node: _Node) -> Gaps:
        """The open features that are off their allowed values at a node's peak."""
        return self.frame.between(node.found.places, *node.ends)

    def _cut(self, node: _Node, gaps: Gaps) -> Cut | None:
        """Between the values around the feature that is farthest from one, or where curvature costs most."""
        y, (low, high) = node.found.places, node.ends
        cost = node.costs[: len(y)]
        # A peak that is all but on its values, and no point: it is beside them for the sake of the level.
        gaps = gaps or self.frame.between(y, low, high, BESIDE)
        if not gaps or float(cost.max()) > SPATIAL * node.found.value:
            order = np.argsort(-cost, kind="stable").tolist()
            cuts = (self._spatial_cut(k, float(y[k]), float(low[k]), float(high[k])) for k in order)
            found = next((cut for cut in cuts if cut is not None), None)
            if found is not None or not gaps:
                return found
        return self._value_cut(y, gaps)

    def _value_cut(self, y: Array, gaps: Gaps) -> Cut:
        reach = self.frame.reach
        off = {k: min(y[k] - a / reach[k], b / reach[k] - y[k]) for k, (a, b) in gaps.items()}
        k = max(off, key=lambda j: float(off[j]))
        return Cut(k, *gaps[k])

    def _spatial_cut(self, k: int, y: float, low: float, high: float) -> Cut | None:
        """A direction cut near a place; one with a set of values between two of them, if that leaves less."""
        width = high - low
        if width <= 1e-9:
            return None
        r = float(self.frame.reach[k])
        place = float(np.clip(y, low + INNER * width, high - INNER * width)) * r
        if k not in self.frame.space.sets:
            return Cut(k, place, place)
        values, offset = self.frame.space.sets[k]
        a = values.at_most(place + offset)
        b = values.at_least(math.nextafter(a, math.inf))
        if a - offset >= high * r - 1e-12 * abs(high * r):
            a, b = values.at_most(math.nextafter(a, -math.inf)), a
        if b - offset <= low * r + 1e-12 * abs(low * r) or not math.isfinite(b - a):
            return None
        return Cut(k, a - offset, b - offset)

    def _children(self, node: _Node, cut: Cut) -> list[_Node]:
        """Both sides of a cut."""
        k, nodes = cut.direction, []
        for child, above in zip(node.region.split(cut), (False, True), strict=True):
            low, high = node.low.copy(), node.high.copy()
            if above:
                low[k] = max(low[k], cut.above / self.frame.reach[k])
            else:
                high[k] = min(high[k], cut.below / self.frame.reach[k])
            nodes.append(_Node(child, low, high, node.major, node.found))
        return nodes
