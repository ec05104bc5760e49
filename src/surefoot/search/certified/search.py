"""Branch and bound over regions: points from above, proofs from below, until they meet."""

from __future__ import annotations

import heapq
from itertools import count

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.bounds import Bounds, NotConcaveError
from surefoot.search.certified.branching import (
    choose_cut,
    choose_fork,
    idle_rows,
    is_narrow,
    mixed_values,
    violated_pairs,
)
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.contradiction import contradiction
from surefoot.search.certified.emptiness import allows_nothing
from surefoot.search.certified.interior import BoundaryError, Multipliers
from surefoot.search.certified.lagrangian import Lagrangian
from surefoot.search.certified.lattice import Lattice, fits, is_box
from surefoot.search.certified.points import LOCAL_EFFORT, Points
from surefoot.search.certified.region import Piece, Region, Scenario
from surefoot.search.certified.space import MAX_CROSS, Space
from surefoot.search.certified.ways import Ways
from surefoot.search.certified.wedges import violated_wedges
from surefoot.status import Status

Array = NDArray[np.float64]

AIM = 0.9  # share of the gap at which proofs are attempted: the rest is room for rounding
AIM_VALUES = 0.97  # and in the search over allowed values, whose leaves prove the whole level
ABSOLUTE_GAP = 1e-6  # standard deviations; near distance zero a relative gap means nothing
ROOT_TRIES = 6  # the whole is tried again this often when there are new scenarios or a nearer point
STALLED = 0.9  # of what was left to refute: with more than that, another try of the whole will not do
EAGER = 4  # the first nodes, and then every LOCAL_EVERY-th, start a local search
EAGER_WIDE = 2  # likewise with very many features, where each takes long
LOCAL_EVERY = 4
MAX_DEPTH = 300  # rounding, not the bound, keeps such a deep region alive
PAIRS = 100  # products of two coordinates that are added to the whole's bound in one round
PAIRS_OF_MANY = 200  # the same with a crowd of margins, whose regions are many and inherit them
PAIR_ROUNDS = 2
USEFUL = 0.75  # share of what is left to refute that must not remain for pairs to be kept
USEFUL_TO_MANY = 0.97  # the same with a crowd of margins: many regions inherit what helps the whole a little
WEAK = 0.5  # of the distance: a bound of the whole below that is given up, p = 1 with very many features
WEAK_LEVELS = (0.4, 0.25, 0.1)  # of the distance: where something may be proven then
RAYS = 4  # slopes of the price that a region inherits at most
RAY_ROUNDS = 3
DEARER = 1e-3  # share of the level by which the relaxed solution must be too dear for another slope
MOST_EVERYWHERE = 100  # combinations of ways that are tried at an infinite distance
MISSED_BY_WHOLE, MISSED = 6, 2  # scenarios of a crowd of margins that a bound takes in at once
MOST_TELLING = 40  # scenarios that a search begins with; regions take in others as they need them
FAR = 1e5  # an open domain is given up beyond so many times the way to the boundary


def allowance(gap: float, distance: float) -> float:
    """How far below a distance a proof may end."""
    return max(gap * distance, ABSOLUTE_GAP)


class PrecisionError(Exception):
    """Rounding keeps a region alive that is too small to matter."""


class WeakBoundError(Exception):
    """The whole's bound is so far off that branching leads nowhere."""


class Search:
    """Looks for the nearest robust counterfactual of a space and for a proof that none is nearer.

    Regions are refuted at the level (1 - gap) * distance of the best point known; what cannot be
    refuted yields a better point, a new scenario or two smaller regions.

    Parameters
    ----------
    space : Space
    gap : float
        Relative, between the distance of the best point and the bound.
    clock : Clock
    """

    def __init__(self, space: Space, gap: float, clock: Clock) -> None:
        self.space, self.gap = space, gap
        self.points = Points(space, gap, clock)
        self.ways = Ways(self.points)
        self._over_values = fits(space)
        self.points.dives = not (self._over_values and self._alone)
        self.level = min(space.typical_distance, space.farthest)
        self.far = FAR * max(1.0, self.level)
        self.bounds = Bounds(self.ways, self.far)
        self.root = self._whole()
        self._finished = self.root
        self._start: Array | None = None

    @property
    def clock(self) -> Clock:
        """What says that time is up, for points and proofs alike."""
        return self.points.clock

    @property
    def scenarios(self) -> list[Scenario]:
        """What points had to withstand so far."""
        return self.points.scenarios

    def run(self, start: Array | None = None) -> Status:
        """Search until the gap is closed, nothing can be found, or time is up."""
        try:
            self._start = start
            if start is None and self.excluded():
                return Status.INFEASIBLE
            if self.space.wide and start is None:
                self.points.reach(self.root.scenarios, self.level)
            if (start is not None or self._point_first()) and not self._values_first:
                u = self.points.begin(self.root.scenarios, self.level, start)
                self._improve(u, self.root)
            while True:
                if self._close_tree():
                    return Status.OPTIMAL
                wider = min(4 * self.level, self.space.farthest)
                if self.level >= wider or (wider < self.space.farthest and self._refuted_everywhere()):
                    return Status.INFEASIBLE
                if self.level > self.far:
                    return Status.UNDECIDED
                self.level = wider
                self._finished, self.root = self.root, self._whole()
        except OutOfTimeError:
            stopped = Status.TIME_LIMIT
        except (PrecisionError, NotConcaveError):
            stopped = Status.PRECISION_LIMIT
        except WeakBoundError:
            stopped = Status.BOUND_LIMIT
        return stopped if self.points.best is not None else stopped.without_point

    @property
    def _alone(self) -> bool:
        """Whether there is one requirement: points of the search over allowed values know no other."""
        return len(self.space.margins) == 1

    @property
    def _values_first(self) -> bool:
        """Whether the search over allowed values begins, with points of its own."""
        return self._over_values and not self.space.forks and self._alone

    def _point_first(self) -> bool:
        """Whether a point comes before the first bound."""
        return not self.space.wide or self.space.norm < np.inf or self.space.is_convex

    def refute(self, level: float) -> bool:
        """Prove that nothing lies within a level; False as soon as something does."""
        self.points.within, self.level, self.root = level, level, self._whole()
        try:
            return not self._close_tree()
        except (PrecisionError, NotConcaveError):
            return False

    def refuted_at_once(self) -> bool:
        """Whether few bounds prove that nothing is there at any distance; no point is sought."""
        return self.excluded() or self._refuted_everywhere()

    def discard(self, requirement: int, perturbation: Array) -> None:
        """The best point does not withstand a perturbation: forget it, keep the scenario and all proofs."""
        size = self.points.distance
        number = self.points.discard(requirement, perturbation)
        self.level = max(self.level, 2 * size) if np.isfinite(size) else self.level
        for region in {self.root, *self.root.leaves()}:
            region.scenarios.append(number)

    @property
    def bound(self) -> float:
        """Proven: no robust counterfactual is closer."""
        return min(self.proof.proven(), self.points.distance)

    @property
    def proof(self) -> Region:
        """The tree that proves the bound: while a wider one is unfinished, the last finished one."""
        return max(self.root, self._finished, key=Region.proven)

    def _whole(self) -> Region:
        return Region(scenarios=self.points.telling(MOST_TELLING))

    def _allowance(self) -> float:
        """How far below the best point's distance a proof may end."""
        return allowance(self.gap, self.points.distance)

    def _enough(self) -> float:
        """The bound at which a region is done with."""
        return self.points.distance - self._allowance() if self.points.best is not None else self.level

    def _goal(self, aim: float = AIM) -> float:
        """The level at which refutations are attempted."""
        return self.points.distance - aim * self._allowance() if self.points.best is not None else self.level

    def _goal_of_values(self) -> float:
        """Likewise in the search over allowed values; prices leave room for features that go back to zero."""
        return self._goal(AIM_VALUES if self.space.prices is None else AIM)

    def _close_tree(self) -> bool:
        """Refute all regions up to the goal; whether there is a point."""
        if self._over_values:
            self._refute_values()
        before = self._enough()
        self._close_regions()
        if not self.points.suffice and self._enough() > before and self._open_leaves():
            # The first point lies beyond the level: what was refuted up to there is open again.
            self._close_regions()
        return self.points.best is not None

    def _close_regions(self) -> None:
        """Refute the regions that are open."""
        order = count()
        heap = [(leaf.bound, next(order), leaf, 0) for leaf in self.root.leaves()]
        heapq.heapify(heap)
        points = self.points
        while heap:
            bound, _, region, tries = heapq.heappop(heap)
            if bound >= self._enough():
                continue
            if points.suffice:
                break
            self.clock.check()
            part, form, found = self.bounds.attempt(region, self._goal())
            if found.refuted:
                continue
            before = points.distance
            changed = self._explore(region, part, form, found) or points.distance < before
            if region.depth == 0 or points.distance < before:
                points.record(min(region.bound, heap[0][0] if heap else np.inf))
            # Where tries take long, only a nearer point is worth one.
            least = 0.0 if self.space.wide else STALLED
            stalled = points.distance == before and found.value > least * region.before
            region.before = found.value
            self._give_up_if_weak(region, tries)
            if region.is_whole and changed and tries < ROOT_TRIES and not stalled:
                heapq.heappush(heap, (region.bound, next(order), region, tries + 1))
                continue
            u, ends = part.lifted(found.z), (part.low, part.high)
            fork = choose_fork(self.space, region, part.level, u, ends, is_narrow(part))
            if fork is not None:
                for child in region.take(fork):
                    heapq.heappush(heap, (child.bound, next(order), child, 0))
                continue
            fresh = self._note_gaps(region, part, found)
            if fresh and part.is_point:  # which equations leave, between allowed values
                heapq.heappush(heap, (region.bound, next(order), region, tries + 1))
                continue
            if self._tightened(region, part, found, tries):
                heapq.heappush(heap, (region.bound, next(order), region, max(tries, ROOT_TRIES) + 1))
                continue
            news = (changed and tries < MAX_DEPTH) or points.distance < before
            if part.is_point and (news or self._settled(region, part.origin)):
                heapq.heappush(heap, (region.bound, next(order), region, tries + 1))
                continue
            if part.is_point or region.depth >= MAX_DEPTH:
                raise PrecisionError
            region.idle = idle_rows(part, found, form)
            for child in region.split(choose_cut(part, found, form)):
                heapq.heappush(heap, (child.bound, next(order), child, 0))

    def _give_up_if_weak(self, region: Region, tries: int) -> None:
        """With very many features and p = 1: stop where the whole's bound comes nowhere near the distance."""
        many = self.space.norm == 1 and self.space.n - int(self.space.fixed.sum()) > MAX_CROSS
        far_off = region.bound < WEAK * self.points.distance < np.inf
        tried = tries > 0 or self.space.wide
        if not (many and far_off and region.is_whole and tried and np.isinf(self.points.within)):
            return
        for level in (share * self.points.distance for share in WEAK_LEVELS):
            if region.bound < level:
                self.bounds.attempt(region, level)
        self.clock.check()
        raise WeakBoundError

    def _refute_values(self) -> None:
        """Refute what can be without semidefinite programs; from then on these see to the rest."""
        left, start = self._open_leaves(), self._first_start()
        known = self._alone or self.points.best is not None
        if left and start is not None and known:
            lattice = self._lattice(start)
            lattice.run(left, start)
            self.points.dives = True
            if self.points.best is None and self._values_first and np.isinf(self.points.within):
                self._improve(self.points.begin(self.root.scenarios, self.level, None), self.root)
                if self.points.best is not None:
                    lattice.run(self._open_leaves(), start)
            self.bounds.nodes += lattice.nodes
            self._keep_or_begin_anew(left)
            self.points.record(self.root.proven())
        self.points.dives = True

    def _lattice(self, start: Array) -> Lattice:
        """The search over allowed values: by the tightest requirement, helped by the others."""
        first = self._tightest(start)
        order = [first, *(r for r in range(len(self.space.margins)) if r != first)]
        lattice, *others = (
            Lattice(self.ways, self.gap, self.clock, self._goal_of_values, self._enough, r) for r in order
        )
        return lattice.helped_by(others)

    def _open_leaves(self) -> list[Region]:
        return [leaf for leaf in self.root.leaves() if leaf.bound < self._enough()]

    def _tightest(self, u: Array) -> int:
        """The requirement that is hardest to meet around a point."""
        if len(self.space.margins) == 1:
            return 0
        _, s = self.points.harm(u, list(range(len(self.space.margins))), LOCAL_EFFORT)
        return self.scenarios[s][0]

    def _first_start(self) -> Array | None:
        """Where the search over allowed values starts."""
        if self._values_first:
            return self.points.first_point(self.level) if self._start is None else self._start
        return None if self.points.local_optimum is None else self.points.local_optimum[0].u

    def _keep_or_begin_anew(self, tried: list[Region]) -> None:
        """Semidefinite bounds go on where the search over values ended, or they begin anew.

        For p = 1 and 2, and for several requirements, they need few regions, and many small ones would cost
        more than one large one.
        """
        if is_box(self.space):
            self._bound_open_leaves()
        elif tried == [self.root] and self.root.proven() < self._enough():
            self.root = self._whole()

    def _bound_open_leaves(self) -> None:
        """Give what is still open the whole's bound: time may end before each has one of its own."""
        left = self._open_leaves()
        if left and self.root.children:
            whole = self._whole()
            self.bounds.attempt(whole, self._goal())
            for leaf in left:
                if leaf.bound < whole.bound:
                    leaf.bound, leaf.leaf = whole.bound, whole.leaf

    def _note_gaps(self, region: Region, part: Piece, found: Multipliers) -> bool:
        """Note allowed values that the relaxed solution mixes: nothing lies between; whether some are new."""
        if not self.space.sets:
            return False
        mixed = mixed_values(part, part.lifted(found.z))
        gaps = {k: (a, b) for k, (_, a, b) in mixed.items()}
        fresh = any(region.gaps.get(k) != ends for k, ends in gaps.items())
        region.gaps |= gaps
        return fresh

    def _tightened(self, region: Region, part: Piece, found: Multipliers, tries: int) -> bool:
        """Whether products of two distances were added to the whole's bound, which is then tried again.

        Where they do not lower what is left to refute by a good share, they cost more than they are worth
        and go again. For p = 1 and 2 slopes of the price are added first, where it differs up and down.
        """
        cube = self.space.norm == np.inf
        if not cube and tries < ROOT_TRIES + RAY_ROUNDS and self._sloped(region, part, found):
            return True
        if not region.is_whole or tries >= ROOT_TRIES + PAIR_ROUNDS:
            return False
        useful = USEFUL_TO_MANY if self.space.crowded else USEFUL
        if region.pairs and found.value > useful * region.before_pairs:
            region.pairs = frozenset()
            return False
        region.before_pairs = found.value
        most = PAIRS_OF_MANY if self.space.crowded else PAIRS
        pairs = (violated_pairs if cube else violated_wedges)(part, found, most) - region.pairs
        region.pairs |= pairs
        return bool(pairs)

    def _sloped(self, region: Region, part: Piece, found: Multipliers) -> bool:
        """Whether the relaxed solution is too dear: then the slope of the price there is a ray against it."""
        u = part.lifted(found.z)
        if not self.space.lopsided or not self.space.size(u) > (1 + DEARER) * part.level:
            return False
        assert self.space.prices is not None
        region.rays = (*region.rays, self.space.prices.slope(u))[-RAYS:]
        return True

    def _explore(self, region: Region, part: Piece, form: Lagrangian, found: Multipliers) -> bool:
        """Use the relaxed solution: a point from it, scenarios against it. Whether a scenario was added."""
        known, u = set(region.scenarios), part.lifted(found.z)
        margin, s = self.points.harm(u, region.scenarios, effort=0)
        if self._worth_a_look(margin) or (self.space.forks and not self.ways.seen(region.ways)):
            self._improve(u, region)
        if margin >= 0 and self.space.problem is not None:
            self._take(u, region, found.value)
        if self.space.crowded:
            region.scenarios += self._missed(region, part, form, found)
        elif margin < 0 and s not in region.scenarios:
            region.scenarios.append(s)
        return not known.issuperset(region.scenarios)

    def _take(self, u: Array, region: Region, most: float) -> None:
        """Keep a relaxed solution if there is no point yet, or none here stands as far inside as it should.

        And where it is much nearer than the best: local searches from it may have led nowhere, and no bound
        refutes a region that holds it. ``most``: no margin in the region is higher.
        """
        thin = most < self.points.enough(u)
        if thin or self.points.best is None or self.space.size(u) < self._enough():
            u = self.points.on_values(u)
            margin, s = self.points.harm(u, region.scenarios, LOCAL_EFFORT)
            self.points.accept(u, margin, s, as_it_is=thin)

    def _missed(self, region: Region, part: Piece, form: Lagrangian, found: Multipliers) -> list[int]:
        """New scenarios in which the relaxed solution is below the mean that the bound's own weights give.

        Weight that moves to them lowers the bound's value. Few margins are all in the bound from the start,
        and what harms the mean most serves them: a margin's curvature adds the same to all its scenarios.
        """
        values = form.products(found.moments)[form.margins]
        most = MISSED_BY_WHOLE if region.is_whole else MISSED
        mixture = part.lifted(found.z), part.lifted_spread(found.spread)
        return self.points.missed(*mixture, float(found.x[form.margins] @ values), region.scenarios, most)

    def _settled(self, region: Region, u: Array) -> bool:
        """Whether the only point of a region is now the best, or has a scenario against it."""
        u = self.points.on_values(u)
        margin, s = self.points.harm(u, region.scenarios, LOCAL_EFFORT)
        if margin < 0 and s not in region.scenarios:
            region.scenarios.append(s)
            return True
        return self.points.accept(u, margin, s, as_it_is=True)

    def _improve(self, u: Array, region: Region) -> None:
        """A local search from u, within the ways of a region."""
        if self.space.forks:
            self.ways.improve_from(u, region.scenarios, region.ways)
        else:
            self.points.improve_from(u, region.scenarios)

    def _worth_a_look(self, margin: float) -> bool:
        """Whether a local search starts here; with sets of values it takes many programs."""
        nodes = self.bounds.nodes
        if self.space.sets:
            return nodes <= EAGER or nodes % (4 * LOCAL_EVERY) == 0
        # Around a point only a breach is sought, and an adversary has looked for one before.
        eager = nodes <= (EAGER_WIDE if self.space.wide else EAGER) and self.space.problem is not None
        return margin >= 0 or eager or nodes % LOCAL_EVERY == 0

    def _refuted_everywhere(self) -> bool:
        """Whether no distance at all is enough."""
        whole = self._whole()
        stack, forks = [whole], self.space.forks
        for _ in range(MOST_EVERYWHERE):
            region = stack.pop()
            if not self._refuted_at_any_distance(region):
                if region.depth == len(forks):
                    return False
                stack += region.take(forks[region.depth])
            if not stack:
                self.root = whole
                return True
        return False

    def _refuted_at_any_distance(self, region: Region) -> bool:
        self.clock.check()
        if self._contradictory(region):
            return True
        try:
            return self.bounds.attempt(region, self.space.farthest)[2].refuted
        except (NotConcaveError, BoundaryError):
            return False

    def excluded(self) -> bool:
        """Whether nothing is allowed, whatever is required; then the tree proves it."""
        problem, whole = self.space.problem, self._whole()
        if problem is None or problem.domain.linear_holds(problem.factual):
            return False
        if not allows_nothing(self.space, whole, self.clock):
            return False
        self.root = whole
        return True

    def _contradictory(self, region: Region) -> bool:
        """Whether ends and rows exclude each other, whatever else is required."""
        problem = self.space.problem
        if problem is None or not (problem.domain.rows or region.ways):
            return False
        leaf = contradiction(self.space, region)
        if leaf is not None:
            region.leaf, region.bound = leaf, np.inf
        return leaf is not None
