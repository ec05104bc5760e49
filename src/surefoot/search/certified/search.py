"""Branch and bound over regions: points from above, proofs from below, until they meet."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.adversary import harm
from surefoot.search.certified.branching import choose_cut, idle_rows, split
from surefoot.search.certified.interior import Multipliers, minimise
from surefoot.search.certified.lagrangian import Lagrangian
from surefoot.search.certified.local import ConvexConcave, Step
from surefoot.search.certified.region import (
    Leaf,
    Piece,
    Region,
    first_multipliers,
    lagrangian,
    piece,
    told_directions,
)
from surefoot.search.certified.space import Space
from surefoot.search.certified.sphere import nearest_robust
from surefoot.search.certified.stationary import at_once, stationary_multipliers
from surefoot.status import Status
from surefoot.waist.quadratic import Quadratic

Array = NDArray[np.float64]

AIM = 0.8  # share of the gap at which proofs are attempted: the rest is room for rounding
HAIR = 1e-7  # how far above the threshold points are aimed, as a share of the distance; more after a breach
ROOT_TRIES = 6  # the whole is tried again this often when there are new scenarios or a nearer point
POINT_FIRST = 40  # with more features the bound is cheaper than the steps it saves, and comes first
EAGER = 4  # the first nodes, and then every LOCAL_EVERY-th, start a local search
LOCAL_EVERY = 4
LOCAL_STEPS = 15
LOCAL_EFFORT = 5_000  # corners an adversary may look at in passing; at the end it may look at all it needs
ROOT_SHARE = 0.02  # how exactly a bound that does not refute is computed, relative to itself: at the root
SHARE = 30.0  # and below it, where a vague relaxed solution shows better where to cut than a sharp one
MAX_DEPTH = 300  # rounding, not the bound, keeps such a deep region alive
FAR = 1e5  # beyond so many standard deviations an open domain is given up


class Round(NamedTuple):
    """The state of a search after one step forward."""

    u: Array | None
    distance: float
    bound: float
    margin: float
    perturbation: Array | None
    seconds: float
    adversary_seconds: float


class OutOfTimeError(Exception):
    """The deadline has passed."""


class NotConcaveError(Exception):
    """No multipliers were found that make the Lagrangian concave."""


class Search:
    """Looks for the nearest robust counterfactual of a space and for a proof that none is nearer.

    Regions are refuted at the level (1 - gap) * distance of the best point known; what cannot be
    refuted yields a better point, a new scenario or two smaller regions.
    """

    def __init__(self, space: Space, gap: float, deadline: float) -> None:
        self.space, self.gap, self.deadline = space, gap, deadline
        self.scenarios = [(r, np.zeros(space.n)) for r in range(len(space.margins))]
        self.best: Array | None = None
        self.distance = np.inf
        self.within = np.inf
        self._start: Array | None = None
        self._aim_above = HAIR
        self._breaches: list[int] = []
        self._local_optimum: tuple[Step, list[int]] | None = None
        self.level = self._first_level()
        self.root = self._whole()
        self._finished = self.root
        self.nodes = 0
        self.adversary_seconds = 0.0
        self.rounds: list[Round] = []
        self._worst: tuple[float, Array | None] = (-np.inf, None)
        self._clock = time.perf_counter()
        self._convex_concave = ConvexConcave(space)

    def run(self) -> Status:
        """Search until the gap is closed, nothing can be found, or time is up."""
        try:
            if self._start is not None or self.space.n <= POINT_FIRST or self.space.norm == 2:
                self._begin(self._first_point() if self._start is None else self._start)
            while True:
                if self._close_tree():
                    return Status.OPTIMAL
                if self.level >= self.space.farthest or self._refuted_everywhere():
                    return Status.INFEASIBLE
                if self.level > FAR:
                    return Status.UNDECIDED
                self.level = min(4 * self.level, self.space.farthest)
                self._finished, self.root = self.root, self._whole()
        except OutOfTimeError:
            return Status.TIME_LIMIT if self.best is not None else Status.TIME_LIMIT.without_point

    def _mind_the_time(self) -> None:
        if time.perf_counter() > self.deadline:
            raise OutOfTimeError

    def _begin(self, u: Array) -> None:
        """Take the first point for what it is (for p = 2 mostly the optimum), and look around it."""
        self._mind_the_time()
        u = self.space.into_domain(u)
        margin, s = self._harm(u, self.root.scenarios, LOCAL_EFFORT)
        if margin >= 0 and self._improve(u):
            self._worst = margin, self.scenarios[s][1]
        self._local(u, self.root.scenarios)

    def refute(self, level: float) -> bool:
        """Prove that nothing lies within a level; False as soon as something does (or time is up)."""
        self.within, self.level, self.root = level, level, self._whole()
        try:
            return not self._close_tree()
        except OutOfTimeError:
            return False

    def discard(self, rival: int, perturbation: Array) -> None:
        """The best point does not withstand a perturbation: forget it, keep the scenario and all proofs."""
        start = self.best
        self._aim_above = max(self._aim_above, min(4 * self._aim_above, 0.05 * self.gap))
        self.scenarios.append((rival, perturbation))
        self.best, self.distance, self._local_optimum = None, np.inf, None
        self.level = max(self.level, 2 * self.space.size(start)) if start is not None else self.level
        self._breaches.append(len(self.scenarios) - 1)
        for region in {self.root, *_leaves(self.root)}:
            region.scenarios.append(len(self.scenarios) - 1)
        self._start = start

    @property
    def bound(self) -> float:
        """Proven: no robust counterfactual is closer."""
        return min(self.proof.proven(), self.distance)

    @property
    def proof(self) -> Region:
        """The tree that proves the bound: while a wider one is unfinished, the last finished one."""
        return max(self.root, self._finished, key=Region.proven)

    def _whole(self) -> Region:
        return Region(scenarios=list(range(len(self.scenarios))))

    def _enough(self) -> float:
        """The bound at which a region is done with."""
        return self.distance * (1 - self.gap) if self.best is not None else self.level

    def _goal(self) -> float:
        """The level at which refutations are attempted."""
        return self.distance * (1 - AIM * self.gap) if self.best is not None else self.level

    def _close_tree(self) -> bool:
        """Refute all regions up to the goal; whether there is a point."""
        order = count()
        heap = [(leaf.bound, next(order), leaf, 0) for leaf in _leaves(self.root)]
        heapq.heapify(heap)
        while heap:
            bound, _, region, tries = heapq.heappop(heap)
            if bound >= self._enough():
                continue
            if self.best is not None and np.isfinite(self.within):
                break  # asked only whether there is anything at all
            self._mind_the_time()
            part, form, found = self._attempt(region, self._goal())
            if found.refuted:
                continue
            before = self.distance
            changed = self._explore(region, part.lifted(found.z)) or self.distance < before
            if region.depth == 0 or self.distance < before:
                self.record(bound=min(region.bound, heap[0][0] if heap else np.inf))
            if region.depth == 0 and changed and tries < ROOT_TRIES:
                heapq.heappush(heap, (region.bound, next(order), region, tries + 1))
                continue
            if region.depth >= MAX_DEPTH:
                raise OutOfTimeError
            region.idle = idle_rows(part, found, form)
            region.cut = choose_cut(part, found, form)
            region.children = split(region, region.cut)
            for child in region.children:
                heapq.heappush(heap, (child.bound, next(order), child, 0))
        return self.best is not None

    def _attempt(self, region: Region, level: float) -> tuple[Piece, Lagrangian, Multipliers]:
        """Try to refute a region at a level, and keep what is proven on the way."""
        self.nodes += 1
        part = piece(self.space, region, level, use_corners=self.nodes > 1 or self.space.budget == 0)
        form = lagrangian(part, [self.scenarios[s] for s in region.scenarios])
        share = ROOT_SHARE if region.depth == 0 else SHARE
        guess = self._guess(region, part, form)
        found = _multipliers(part, form, guess, share, 1e-3 * self.gap * self.space.slope * min(level, FAR))
        bound = _proven_level(part, form, found)
        if bound > region.bound:
            region.leaf = _leaf(region, part, form, found, bound)
            region.bound = bound
        weights = found.x[form.margins]
        kept = weights >= 1e-3 * weights.max()
        region.scenarios = [s for s, keep in zip(region.scenarios, kept, strict=True) if keep]
        return part, form, found

    def _guess(self, region: Region, part: Piece, form: Lagrangian) -> Array | None:
        """Multipliers that may refute the whole at once: the best point's own."""
        if region.depth or self._local_optimum is None:
            return None
        step, active = self._local_optimum
        return stationary_multipliers(step, active, part, form, region.scenarios)

    def _explore(self, region: Region, u: Array) -> bool:
        """Use the relaxed solution: a point from it, a scenario against it. Whether a scenario was added."""
        known = set(region.scenarios)
        margin, s = self._harm(u, region.scenarios, effort=0)
        if margin >= 0 or self.nodes <= EAGER or self.nodes % LOCAL_EVERY == 0:
            self._local(u, region.scenarios)
        if margin < 0 and s not in region.scenarios:
            region.scenarios.append(s)
        return not known.issuperset(region.scenarios)

    def _harm(self, u: Array, active: list[int], effort: int) -> tuple[float, int]:
        """Lowest margin around u and the scenario that shows it, an active one if that does."""
        start = time.perf_counter()
        found = [harm(H, u, self.space.norm, self.space.budget, effort) for H in self.space.margins]
        r = int(np.argmin([h.value for h in found]))
        margin, v, _ = found[r]
        active = active + [s for s in self._breaches if s not in active]
        known = self._margins(u, active)
        s = active[int(known.argmin())]
        if margin < known.min() - 1e-9 * self.space.slope * max(self.space.size(u), self.space.budget):
            self.scenarios.append((r, v))
            s = len(self.scenarios) - 1
        self.adversary_seconds += time.perf_counter() - start
        return min(margin, float(known.min())), s

    def _margins(self, u: Array, active: list[int]) -> Array:
        """The margins at u in some scenarios."""
        rivals = np.array([self.scenarios[s][0] for s in active])
        points = u + np.array([self.scenarios[s][1] for s in active])
        values = np.empty(len(points))
        for r, H in enumerate(self.space.margins):
            values[rivals == r] = H(points[rivals == r])
        return values

    def _local(self, u: Array, active: list[int]) -> None:
        """Convex-concave steps from u; scenarios that a point does not withstand become active."""
        size, price = np.inf, 100.0 / self.space.slope
        for _ in range(LOCAL_STEPS):
            self._mind_the_time()
            hair = self._hair(u)
            solved = self._convex_concave.step(u, [self.scenarios[s] for s in active], hair, price)
            if solved is None:
                break
            u = self.space.into_domain(solved.u)
            margin, s = self._harm(u, active, LOCAL_EFFORT)
            fresh = margin < 0 and s not in active
            if margin >= 0:
                nearer = self._improve(u)
                if nearer:
                    self._worst = margin, self.scenarios[s][1]
                if nearer or self._local_optimum is None:
                    self._local_optimum = solved, list(active)
            elif fresh:
                active.append(s)
            if solved.slack > hair:
                price *= 10
            length = self.space.size(u)
            gain = abs(length - size)
            if margin >= 0:  # what is left above the threshold can be turned into so much distance
                gain = min(gain, margin * float(solved.margins.sum()))
            if not fresh and gain <= 0.05 * self.gap * length:
                break
            size = length

    def record(self, bound: float) -> None:
        """Note where the search stands."""
        now, spent = time.perf_counter(), self.adversary_seconds
        adversary = spent - sum(r.adversary_seconds for r in self.rounds)
        margin, perturbation = self._worst
        self.rounds.append(
            Round(
                self.best,
                self.distance,
                min(bound, self.distance),
                margin,
                perturbation,
                now - self._clock - adversary,
                adversary,
            )
        )
        self._clock = now

    def _improve(self, u: Array) -> bool:
        """Keep a point if it is the nearest so far."""
        size = self.space.size(u)
        nearer = size < min(self.distance, self.within)
        if nearer:
            self.best, self.distance = u, size
        return nearer

    def _hair(self, u: Array) -> float:
        return self._aim_above * self.space.slope * max(self.space.size(u), 1e-9)

    def _first_point(self) -> Array:
        """Where the first local search starts: for p = 2 at the optimum, else up the steepest slope."""
        margins = self.space.margins
        if self.space.norm == 2 and len(margins) == 1:
            u = nearest_robust(margins[0], self.space.budget, self._aim_above * self.space.slope * self.level)
            if u is not None:
                return u
        return self.level * _steepest(np.sum([H.vector for H in margins], axis=0), self.space.norm)

    def _first_level(self) -> float:
        """A bit more than the way to the boundary in the steepest direction."""
        steps = [_first_root(H, _steepest(H.vector, self.space.norm)) for H in self.space.margins]
        return min(1.2 * (max(steps) + self.space.budget) + 1e-9, self.space.farthest)

    def _refuted_everywhere(self) -> bool:
        """Whether no distance at all is enough."""
        region = self._whole()
        try:
            _, _, found = self._attempt(region, np.inf)
        except NotConcaveError:
            return False
        if found.refuted:
            self.root = region
        return found.refuted


def _multipliers(
    part: Piece, form: Lagrangian, guess: Array | None, share: float, floor: float
) -> Multipliers:
    if part.empty:
        n = form.left.shape[1] - 1
        return Multipliers(np.zeros(form.size), -np.inf, True, np.zeros(n), np.zeros((n, n)), 0)
    if form.left.shape[1] > 1:
        x = first_multipliers(part, form)
        if x is None:
            raise NotConcaveError
        found = None if guess is None else at_once(form, guess, x)
        return minimise(form, x, share, floor) if found is None else found
    values = form.left[:, -1] * form.right[:, -1]  # everything is fixed: the region is one point
    worst = int(values.argmin())
    x = np.zeros(form.size)
    x[worst] = 1.0
    return Multipliers(x, float(values[worst]), bool(values[worst] < 0), np.zeros(0), np.zeros((0, 0)), 0)


def _proven_level(part: Piece, form: Lagrangian, found: Multipliers) -> float:
    """The level up to which the multipliers refute the region.

    Lowering the norm's level from L to L' lowers max F by the sum of its multipliers times L^2 - L'^2.
    Corners move with the level, so with them it is all or nothing.
    """
    if found.refuted:
        return part.level
    weight = float(found.x[: form.n_norm].sum())
    if part.corners or weight <= 0:
        return 0.0
    square = part.level**2 - max(found.value, 0.0) / weight
    return float(np.sqrt(square)) * (1 - 1e-9) if square > 0 else 0.0


def _leaf(region: Region, part: Piece, form: Lagrangian, found: Multipliers, bound: float) -> Leaf:
    cross = form.n_norm + form.n_cross
    told = told_directions(part)
    return Leaf(
        level=part.level,
        bound=bound,
        depth=region.depth,
        corners=part.corners,
        norm=found.x[: form.n_norm],
        cross=found.x[form.n_norm : cross],
        slabs=dict(zip(told.tolist(), found.x[cross : cross + len(told)].tolist(), strict=True)),
        margins=dict(zip(region.scenarios, found.x[form.margins].tolist(), strict=True)),
    )


def _leaves(region: Region) -> Iterator[Region]:
    if not region.children:
        yield region
    for child in region.children:
        yield from _leaves(child)


def _steepest(q: Array, p: float) -> Array:
    """The direction of unit length in which q'u grows fastest."""
    if p == np.inf:
        return np.where(q >= 0, 1.0, -1.0)
    if p == 2:
        return np.asarray(q / max(float(np.linalg.norm(q)), 1e-300))
    d = np.zeros(len(q))
    i = int(np.abs(q).argmax())
    d[i] = 1.0 if q[i] >= 0 else -1.0
    return d


def _first_root(H: Quadratic, d: Array) -> float:
    """First step along d at which H becomes zero, or 1 if it never does."""
    a, b, c = float(d @ H.matrix @ d), float(H.vector @ d), H.constant
    disc = b * b - 4 * a * c
    if disc < 0:
        return 1.0
    half = -0.5 * (b + np.copysign(np.sqrt(disc), b))
    roots = [x for x in (half / a if a else np.inf, c / half if half else np.inf) if 0 < x < np.inf]
    return min(roots, default=1.0)
