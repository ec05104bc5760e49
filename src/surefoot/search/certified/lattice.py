"""Branch and bound over allowed values, with a concave quadratic instead of a semidefinite program.

Where features take whole numbers a proof needs many small regions, in which margins are nearly linear. There
the peak of one concave majorant between the region's ends is about as good a bound as a semidefinite
program's (even a better one, since ends have prices of their own), and takes a fiftieth of the time.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.branching import choose_fork
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.frame import Frame, Gaps
from surefoot.search.certified.leaf import ONE, Affine, Leaf
from surefoot.search.certified.local import ROW_MARGIN
from surefoot.search.certified.majorant import Majorant, cheapest
from surefoot.search.certified.peak import Peak
from surefoot.search.certified.proof import Ends, side
from surefoot.search.certified.region import Cut, Region
from surefoot.search.certified.rounding import Rounding
from surefoot.search.certified.space import Space
from surefoot.search.certified.ways import Ways
from surefoot.waist.narrowing import Taken

Array = NDArray[np.float64]

MOST = 1000  # nodes; what is open then is left to the semidefinite bounds
BLIND = 50  # nodes without any point
FAR = 1.25  # times the distance without sets of values: rounded points beyond are suspicious
DEEPEST = 150
SPATIAL = 0.5  # a direction is cut for the margin's curvature where that costs such a share of the peak
HEAVY = 0.3  # a majorant is made anew where all its slabs cost such a share
NARROW = 0.03  # of the widest range: slabs count as at least so wide, or their weights would grow too large
INNER = 0.2  # such cuts stay this share of the range away from its ends
SAFETY = 1e-9  # how far below zero, relative to what is added up, a peak must be
ASTRAY = 1e-6  # of the largest end
TRIES = 5


def fits(space: Space) -> bool:
    """Whether this search is for a space: sets of values, one requirement, p = infinity, no equations."""
    if any(space.functions[k][0] == "r" for k in np.flatnonzero(space.fixed)):
        return False  # its leaves do not eliminate them
    return bool(space.sets) and space.norm == np.inf and len(space.margins) == 1 and space.problem is not None


@dataclass(eq=False)
class _Node:
    """A region with the ends of its directions in units of their reach, and its parent's solution."""

    region: Region
    low: Array
    high: Array
    major: Majorant
    prices: Array
    u: Array


class Lattice:
    """Refutes regions up to a goal that falls with the best point's distance, and finds that point.

    Parameters
    ----------
    ways : Ways
        Of points with a local optimum.
    gap : float
    clock : Clock
    goal, enough : callable
        The level at which regions are refuted, and the bound at which they are done with.
    """

    def __init__(
        self,
        ways: Ways,
        gap: float,
        clock: Clock,
        goal: Callable[[], float],
        enough: Callable[[], float],
    ) -> None:
        self.ways, self.points, self.clock, self.goal, self.enough = ways, ways.points, clock, goal, enough
        assert self.points.local_optimum is not None
        step, active = self.points.local_optimum
        self.start = step.u
        self.frame = Frame(self.points, list(active))
        self._rows = [k for k, function in enumerate(self.frame.space.functions) if function[0] in ("r", "w")]
        self.rounding = self._rounding(gap)
        self._roundings: dict[frozenset[tuple[int, int]], Rounding | None] = {frozenset(): self.rounding}
        self.nodes = 0
        self._sides: dict[tuple[int, bool, float], Affine] = {}

    def run(self, regions: Iterable[Region]) -> None:
        """Go on until everything is refuted, or too much is left."""
        self._find_point()
        order = count()
        stack = self._first(regions) if self.goal() > 0 else []
        heap: list[tuple[float, int, _Node]] = []
        while (stack or heap) and self.nodes < (MOST if self.points.best is not None else BLIND):
            self.clock.check()
            node = stack.pop() if stack else heapq.heappop(heap)[2]
            if node.region.bound >= self.enough():
                continue
            value, nodes = self._processed(node)
            if self.points.best is None:
                stack += nodes  # depth first until there is a point, the highest peak first from then on
            else:
                for child in nodes:
                    heapq.heappush(heap, (-value, next(order), child))

    def _find_point(self) -> None:
        """Round quickly, and where that leads far astray with care."""
        if self.frame.space.forks:
            self._find_way()
            return
        self.rounding.dive(self.start)
        if self.points.distance > FAR * self.frame.space.size(self.start):
            self.points.dive(self.start, list(self.frame.scenarios))

    def _find_way(self) -> None:
        """The same within one way of each either, the nearest combinations first, until there is a point."""
        points, combinations = self.points, self.ways.nearest(self.start)
        for taken in combinations:
            self._begin_within(taken, self.ways.start(taken, self.start))
            if points.best is not None:
                return
        for taken in combinations:
            space = self.ways.space(taken)
            if space is not None:
                with points.inside(space):
                    points.dive(self.ways.start(taken, self.start), list(self.frame.scenarios))
            if points.best is not None:
                return

    def _first(self, regions: Iterable[Region]) -> list[_Node]:
        frame, level = self.frame, self.goal()
        ends = frame.within(frame.low, frame.high, level)
        major = self._majorant(*ends, None)
        return [_Node(region, *self._between(region), major, np.zeros(0), self.start) for region in regions]

    def _between(self, region: Region) -> tuple[Array, Array]:
        """The ends of a region in units of the directions' reach."""
        frame = self.frame
        low, high = frame.low.copy(), frame.high.copy()
        for k, (a, b) in region.splits.items():
            if k < len(low):
                low[k], high[k] = max(low[k], a / frame.reach[k]), min(high[k], b / frame.reach[k])
        return low, high

    def _majorant(self, low: Array, high: Array, start: Majorant | None) -> Majorant:
        width = np.maximum(high - low, 0.0)
        costs = width**2 + (NARROW * float(width.max())) ** 2
        return cheapest(self.frame.slopes, costs, self.frame.H.matrix, start)

    def _processed(self, node: _Node) -> tuple[float, list[_Node]]:
        """Refute a node, or split it: its peak and its children. Allowed points on the way are used."""
        self.nodes += 1
        level = self.goal()
        ends = self.frame.within(node.low, node.high, level)
        if (ends[0] > ends[1] + 1e-11 * (np.abs(ends[0]) + np.abs(ends[1]))).any():
            node.region.bound, node.region.leaf = level, self._empty(node.region, level)
            return 0.0, []
        if (ends[1][self._rows] - ends[0][self._rows] <= 0).any():
            return 0.0, []  # an equation, which its leaves do not eliminate
        for _ in range(TRIES):
            found, u, leaf = self._peak(node, ends, level)
            if leaf is not None:
                node.region.bound, node.region.leaf = level, leaf
                return 0.0, []
            if self._astray(u, *ends) or self._undecided(node, found, u, ends):
                return 0.0, []
            nodes = self._ways_out(node, found, u, ends)
            if nodes:
                return found.value, nodes
            gaps = self.frame.between(u, *ends)
            if gaps or not self._look(node, u):
                break
            if self.goal() < level:
                return found.value, [node]
        cut = None if node.region.depth >= DEEPEST else self._cut(node, found, u, ends, gaps)
        return found.value, [] if cut is None else self._children(node, cut, found, u, ends)

    def _astray(self, u: Array, low: Array, high: Array) -> bool:
        """Whether rounding has carried the peak out of its region, which is then left to other bounds."""
        y = self.frame.slopes @ u
        return float(np.maximum(y - high, low - y).max()) > ASTRAY * float(np.abs(high).max())

    def _undecided(self, node: _Node, found: Peak, u: Array, ends: tuple[Array, Array]) -> bool:
        """Whether scenarios took turns as the base: then the peak is none, and cuts would not help."""
        frame, y = self.frame, self.frame.slopes @ u
        paid = float(node.major.weights @ np.maximum((y - ends[0]) * (ends[1] - y), 0.0))
        lowest = float(frame.H(u + frame.scenario(frame.worst(u))))
        return found.value - lowest - paid > 0.5 * found.value + SAFETY * found.size

    def _peak(self, node: _Node, ends: tuple[Array, Array], level: float) -> tuple[Peak, Array, Leaf | None]:
        """The majorant's peak, where it is, and what refutes the node if it is below zero."""
        frame, w = self.frame, node.major.weights
        low, high = ends
        slope, paid, b = (w * (low + high)) @ frame.slopes, w * low, frame.worst(node.u)
        for _ in range(TRIES):
            v = frame.scenario(b)
            at = float(frame.H(v))
            top = frame.H.gradient(v) + slope, at - float(paid @ high), b
            size = abs(at) + float(np.abs(paid) @ np.abs(high))
            found, u = frame.peak(node.major, top, ends, node.prices, -10 * SAFETY * size)
            shares = frame.shares(found)
            if shares.sum() <= 1:
                refuted = found.value < -SAFETY * (size + found.size)
                return found, u, self._leaf(node, found, b, level) if refuted else None
            b = int(shares.argmax())  # a base scenario's weight must not be negative
        return found, u, None

    def _ways_out(self, node: _Node, found: Peak, u: Array, ends: tuple[Array, Array]) -> list[_Node]:
        """The ways of an either of which the peak takes none, the nearest last; each has its own points."""
        space, reach = self.frame.space, self.frame.reach
        fork = choose_fork(space, node.region, self.goal(), u, (ends[0] * reach, ends[1] * reach))
        if fork is None:
            return []
        children = node.region.take(fork)
        nodes = [_Node(child, *self._between(child), node.major, found.prices, u) for child in children]
        order = [way for _, way in fork.nearest(space.directions @ u, space.reach)]
        for way in order:
            self._begin_within(children[way].ways, u)
        return [nodes[way] for way in reversed(order)]

    def _begin_within(self, taken: Taken, u: Array) -> None:
        """Look for a first point within some ways."""
        key = frozenset(taken.items())
        if key not in self._roundings:
            space = self.ways.space(taken)
            self._roundings[key] = None
            if space is not None:
                with self.points.inside(space):
                    self._roundings[key] = rounding = self._rounding(self.rounding.gap)
                    rounding.dive(u)

    def _rounding(self, gap: float) -> Rounding:
        """Looks for points between the ends of the space, and a little inside of rows."""
        frame = Frame(self.points, self.frame.scenarios)
        inside = np.minimum(ROW_MARGIN, 0.25 * (frame.high - frame.low)[self._rows])
        frame.low[self._rows] += inside
        frame.high[self._rows] -= inside
        return Rounding(frame, gap)

    def _look(self, node: _Node, u: Array) -> bool:
        """An allowed point: a better one, or one with a scenario against it; whether that is news."""
        self._begin_within(node.region.ways, u)
        rounding = self._roundings[frozenset(node.region.ways.items())]
        if rounding is None:
            return False
        with self.points.inside(rounding.frame.space):
            return self._settled(node, u, rounding)

    def _settled(self, node: _Node, u: Array, rounding: Rounding) -> bool:
        frame, points = self.frame, self.points
        before = points.distance
        margin, s = points.harm(points.on_values(u), frame.scenarios, 0)
        if margin >= 0:
            rounding.settle(u)
            return points.distance < before
        if s in frame.scenarios:
            return False
        frame.scenarios.append(s)
        node.u = u
        return True

    def _cut(self, node: _Node, found: Peak, u: Array, ends: tuple[Array, Array], gaps: Gaps) -> Cut | None:
        """Between the values around the feature that is farthest from one, or where curvature costs most."""
        frame, y = self.frame, self.frame.slopes @ u
        cost = node.major.weights * np.maximum((y - ends[0]) * (ends[1] - y), 0.0)
        k = int(cost.argmax())
        if not gaps or float(cost[k]) > SPATIAL * found.value:
            return self._spatial_cut(k, float(y[k]), float(ends[0][k]), float(ends[1][k]))
        off = {k: min(y[k] - a / frame.reach[k], b / frame.reach[k] - y[k]) for k, (a, b) in gaps.items()}
        k = max(off, key=lambda j: float(off[j]))
        return Cut(k, *gaps[k])

    def _spatial_cut(self, k: int, y: float, low: float, high: float) -> Cut | None:
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
        if a - offset >= high * r * (1 - 1e-12) and b - offset > high * r * (1 + 1e-12):
            a, b = values.at_most(math.nextafter(a, -math.inf)), a
        return Cut(k, a - offset, b - offset) if math.isfinite(b - a) else None

    def _children(
        self, node: _Node, cut: Cut, found: Peak, u: Array, ends: tuple[Array, Array]
    ) -> list[_Node]:
        """Both sides of a cut, the one that the peak is nearer to last."""
        k, major, y = cut.direction, node.major, self.frame.slopes @ u
        cost = float(major.weights @ np.maximum((y - ends[0]) * (ends[1] - y), 0.0))
        nodes = []
        for child, above in zip(node.region.split(cut), (False, True), strict=True):
            low, high = node.low.copy(), node.high.copy()
            if above:
                low[k] = max(low[k], cut.above / self.frame.reach[k])
            else:
                high[k] = min(high[k], cut.below / self.frame.reach[k])
            if cost > HEAVY * found.value:
                major = self._majorant(np.maximum(low, ends[0]), np.minimum(high, ends[1]), node.major)
            nodes.append(_Node(child, low, high, major, found.prices, u))
        if 2 * float(self.frame.space.directions[k] @ u) < cut.below + cut.above:
            nodes.reverse()
        return nodes

    def _leaf(self, node: _Node, found: Peak, b: int, level: float) -> Leaf:
        """The majorant's slabs and the prices of ends, as entries of a certificate."""
        frame, ends = self.frame, self._ends(node.region, level)
        below, above = frame.space.level_ends(level)
        weights = node.major.weights / frame.reach**2
        norm, products = np.zeros(frame.space.n), []
        for k, weight in enumerate(weights.tolist()):
            if k < frame.space.n and ends.low[k] == below[k] and ends.high[k] == above[k]:
                norm[k] = weight
            elif ends.low[k] < ends.high[k]:
                products.append((weight, self._side(ends, k, False), self._side(ends, k, True)))
        for k in np.flatnonzero(found.prices[: len(weights)]).tolist():
            price = float(found.prices[k] / frame.reach[k])
            products.append((abs(price), self._side(ends, k, price > 0), ONE))
        return Leaf(level, norm.tolist(), [], products, self._margins(found, b))

    def _margins(self, found: Peak, b: int) -> dict[int, float]:
        """The scenarios' weights, which sum to one."""
        shares = self.frame.shares(found).copy()
        shares[b] += 1.0 - float(shares.sum())
        return {s: float(w) for s, w in zip(self.frame.scenarios, shares, strict=True) if w > 0}

    def _empty(self, region: Region, level: float) -> Leaf:
        """Ends that exclude each other: (d'u - low) + (high - d'u) is below zero."""
        ends, n = self._ends(region, level), self.frame.space.n
        k = int(((ends.low - ends.high) / self.frame.reach).argmax())
        share = 0.25 * float(ends.low[k] - ends.high[k]) / max(n * level**2, 1e-300)
        products = [(1.0, self._side(ends, k, above), ONE) for above in (False, True)]
        return Leaf(level, [share] * n, [], products, {})

    def _ends(self, region: Region, level: float) -> Ends:
        """The region's ends in their own units, to the last digit."""
        space, m = self.frame.space, len(self.frame.reach)
        below, above = space.level_ends(level)
        low, high = np.maximum(space.low[:m], below[:m]), np.minimum(space.high[:m], above[:m])
        for k, (a, b) in region.splits.items():
            if k < m:
                low[k], high[k] = max(low[k], a), min(high[k], b)
        return Ends(space, region, low, high)

    def _side(self, ends: Ends, k: int, above: bool) -> Affine:
        """An end's distance; those that no cut has moved are the same in all leaves of a level."""
        if k in ends.region.splits:
            return side(ends, k, above)
        key = k, above, float(ends.high[k] if above else ends.low[k])
        if key not in self._sides:
            self._sides[key] = side(ends, k, above)
        return self._sides[key]
