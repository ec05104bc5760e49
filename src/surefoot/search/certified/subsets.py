"""At most so many features change: one small problem for every choice of those that may.

A relaxation without the count is weak, and a tree of kept and changed features deep. But the problems in
which few features move are small: nearly all of them are refuted side by side, at the distance of a point
that the most promising of them gives. What is left is cut between allowed values, or searched like any other
problem where there are none.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.memory import no_collection
from surefoot.problem.answer import Round
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified.bunches import refute_in_bunches
from surefoot.search.certified.changes import DEEPEST as TOO_DEEP
from surefoot.search.certified.changes import Choice, Cut, Limits
from surefoot.search.certified.climb import Climb
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.grafting import AtOnce, Graft, Searched, Tree
from surefoot.search.certified.narrowing import ends, narrowed
from surefoot.search.certified.points import LOCAL_EFFORT, Points
from surefoot.search.certified.promise import Promise
from surefoot.search.certified.region import Scenario
from surefoot.search.certified.search import AIM, FAR, Search, allowance
from surefoot.search.certified.settling import Open, choose_cuts, nearest_values, settled_points
from surefoot.search.certified.side_by_side import MOST_FREE, refuted_side_by_side
from surefoot.search.certified.slices import Slices
from surefoot.search.certified.space import Space, whitened
from surefoot.search.certified.together import refuted_at_once
from surefoot.status import Status

Array = NDArray[np.float64]

MANY = 50_000  # choices beyond which many of them must be refuted together
AT_ONCE = 100  # choices beyond which one leaf that refutes all of them is looked for first
BUNCH = 2_000  # those that are then looked at one by one
CHUNK = 500  # slices in one stack: what they need should fit into a processor's cache
MOST_SCENARIOS = 16  # in stacks
FIRST_LOOKS = 3  # choices that are searched before all are looked at
LOOKS = 4  # choices in which points on allowed values are looked for after each stack
ROUNDS = 4  # new scenarios against points on allowed values before a choice is left as it is
TRIES = 4  # points on allowed values that are tried for a scenario that is new
FEW = 4  # choices that are searched one by one rather than looked at again after each better point
SHARE = 0.3  # of the choices that are left are cut at once, the most promising ones
NEARBY = 1.05  # where allowed values may be, relative to the distance when every value is allowed
WIDER = 1.3  # how much farther to look where there was no point
DEEPEST = 360  # rounding, not the bound, keeps such a deep choice alive
BRIEFLY = 0.05  # of the time for each of the first searches
GRACE = 0.2  # seconds for the bound without any limit when time is up
# Share of the time limit, and seconds at least, that writing the proof may take beyond it; then the bound
# without any limit has to do. Ten times as much overruns the limit by half of it.
WRITING = (0.05, 0.05)


class _FoundError(Exception):
    """Asked only whether there is a point: there is."""


class Subsets:
    """Looks for the nearest robust counterfactual within limits, and for a proof that none is nearer.

    Parameters
    ----------
    problem : RobustProblem
        With limits.
    gap : float
        Relative, between the distance of the best point and the bound.
    clock : Clock
    """

    def __init__(self, problem: RobustProblem, gap: float, clock: Clock) -> None:
        self.gap, self.clock = gap, clock
        self.whole = whitened(replace(problem, domain=replace(problem.domain, limits=())))
        self.promise = Promise(self.whole)
        self.pool = self.promise.scenarios()
        self.root = Limits(problem, self.promise.order).root()
        self.choices: dict[Choice, None] = {self.root: None}
        self.rounds: list[Round] = []
        self.within = np.inf
        self._found: list[Points] = [Points(self.whole, gap, clock)]
        self._searches: dict[Points, Searched] = {}
        self._open: dict[Choice, tuple[tuple[float, int], Open]] = {}
        self._tried: set[tuple[Any, ...]] = set()
        self._unlimited: Search | None = None
        self._stopped = Status.UNDECIDED
        self.unwritten = False  # whether writing the proof took too long
        self._again: Points | None = None
        self._moment = time.perf_counter()

    @property
    def points(self) -> Points:
        """The nearest point."""
        return min(self._found, key=lambda points: points.distance)

    @property
    def space(self) -> Space:
        """The space of the nearest point: features that are kept have one value in it."""
        return self.points.space

    @property
    def bound(self) -> float:
        """Proven: no robust counterfactual within the limits is closer."""
        unlimited = 0.0 if self._unlimited is None else self._unlimited.proof.proven()
        limited = 0.0 if self.unwritten else self._proven()
        return min(max(limited, unlimited), self.points.distance)

    @property
    def too_deep(self) -> bool:
        """Whether some choice is left undecided, since a proof would be nested too deeply."""
        return any(choice.stuck and choice.feature is not None for choice in self.choices)

    def run(self, start: Array | None = None) -> Status:
        """Search until the gap is closed, nothing can be found, or time is up.

        ``start``: after `discard`, where the discarded point was.
        """
        try:
            if self._excluded():
                return Status.INFEASIBLE
            if start is None and self.root.size > MANY:
                self._look_at_most_promising()
            self._begin()
            again = None if self._again is None else self._searches.get(self._again)
            if start is not None and again is not None:
                self._judge(again, again.search.run(start))
            if self.points.best is None and self._pending(self.whole.farthest):
                self._first_point()
            while self.points.best is not None and (pending := self._pending(self._enough())):
                self._scan(pending, self._goal())
        except OutOfTimeError:
            self._fall_back()
            return Status.TIME_LIMIT if self.points.best is not None else Status.TIME_LIMIT.without_point
        if self.too_deep:
            self._fall_back()
        return self._status()

    def _excluded(self) -> bool:
        """Whether nothing is allowed, however many features change."""
        search = Search(self.whole, self.gap, self.clock)
        self._unlimited = search if search.excluded() else self._unlimited
        return self._unlimited is search

    def _begin(self) -> None:
        """Refute what can be at any distance, many choices at once; list the others one by one."""
        if self.root.bound > 0 or self.root.parts:
            return
        if self.root.size > AT_ONCE:
            numbers = range(len(self.pool))
            refute_in_bunches(Slices(self.whole, np.inf, self.pool, numbers), self.root, self.clock)
        self._grow()

    def _grow(self) -> None:
        """List all choices; when time is up half-way, some of them are still together."""
        try:
            if self.root.size <= MANY:
                with no_collection():
                    for choice in [choice for choice in self.root.leaves() if choice.bound < np.inf]:
                        choice.grow(self.clock)
        finally:
            self.choices = dict.fromkeys(self.root.leaves())

    def refute(self, level: float) -> bool:
        """Prove that nothing lies within a level; False as soon as something does."""
        self.within = level
        if self.root.size <= AT_ONCE or not self._refuted_at_once(self.root, level):
            self._grow()
        try:
            while pending := self._pending(level):
                self._scan(pending, level)
        except _FoundError:
            return False
        finally:
            self.within = np.inf  # what is known by now is of use to a search that goes on
        return self._proven() >= level

    def discard(self, requirement: int, perturbation: Array) -> None:
        """The best point does not withstand a perturbation: forget it, keep the scenario and all proofs."""
        self._again = self.points
        searched = self._searches.get(self._again)
        if searched is None:
            self._again.discard(requirement, perturbation)
        else:
            searched.search.discard(requirement, perturbation)
        self._learn([(requirement, perturbation)])

    def record(self) -> None:
        """Note where the search stands."""
        points, now = self.points, time.perf_counter()
        points.record(self.bound)
        last = points.rounds[-1]
        spent = max(now - self._moment - last.adversary_seconds, 0.0)
        shift = None if last.perturbation is None else self.space.inverse @ last.perturbation
        self.rounds.append(replace(last, master_seconds=spent, candidate=points.point, perturbation=shift))
        self._moment = now

    def proof(self, perturbation: Callable[[Array], Array]) -> dict[str, Any]:
        """What proves the bound, in the format of docs/certificate.md.

        ``perturbation`` turns a scenario's shift of u into features. Where writing takes too long, it is the
        proof without any limit, and the bound is that one's from then on.
        """
        other, clock = self._unlimited, Clock(self._writing)
        if self.bound and (other is None or other.proof.proven() <= self._proven()):
            try:
                graft = Graft(perturbation, clock)
                with no_collection():
                    return graft.proof(graft.node(self.whole, self.root, self.pool))
            except OutOfTimeError:
                self.unwritten = True
                other = self._unlimited or self._fall_back()
        graft = Graft(perturbation)
        if not self.bound or other is None:
            return graft.proof(None)
        return graft.proof(graft.branch(Tree(other.space, other.proof, other.scenarios)))

    @property
    def _writing(self) -> float:
        """Seconds for writing the proof: what is left, and a little more."""
        share, least = WRITING
        return max(self.clock.left, 0.0) + max(share * (self.clock.deadline - self.clock.start), least)

    def _proven(self) -> float:
        return min(choice.bound for choice in self.choices)

    def _enough(self) -> float:
        """The bound at which a choice is done with."""
        return self.points.distance - allowance(self.gap, self.points.distance)

    def _goal(self) -> float:
        """The level at which refutations are attempted."""
        return self.points.distance - AIM * allowance(self.gap, self.points.distance)

    def _pending(self, level: float) -> list[Choice]:
        return [choice for choice in self.choices if choice.bound < level and not choice.stuck]

    def _levels(self, hint: float) -> Iterator[float]:
        """Levels at which to look for a first point: farther and farther away; ``hint``: it may be there."""
        typical, farthest = self.whole.typical_distance, self.whole.farthest
        level, wider = (NEARBY * hint, WIDER) if np.isfinite(hint) else (typical, 4.0)
        while level < min(farthest, FAR * max(1.0, typical)):
            yield level
            level, wider = wider * level, min(WIDER * wider, 4.0)
        if np.isfinite(farthest):
            yield farthest

    def _first_point(self) -> None:
        """Look for a point in the most promising choices, and then wherever there may be one.

        What a stack refutes at any distance takes a small part of the time of a search for points in it.
        """
        farthest, hint = self.whole.farthest, self._look_at_most_promising()
        if self.points.best is not None:
            return
        if np.isinf(hint):
            self._refuted_together(self._pending(farthest), farthest)
        few = len(self._pending(farthest)) <= LOOKS
        for level in () if few and np.isinf(farthest) else self._levels(hint):
            while self.points.best is None and (pending := self._pending(level)):
                self._scan(pending, level)
        for choice in self._split(self._pending(farthest), farthest):
            if self.points.best is None:
                self._look_at(choice, farthest, promising=True)

    def _look_at_most_promising(self) -> float:
        """Look for a point where it seems nearest; about how far it is, if sets of values hide it."""
        self.clock.check()
        farthest, first, hint = self.whole.farthest, self._most_promising(), math.inf
        self._refuted_together(first, farthest)
        for choice in (choice for choice in first if choice.bound < farthest):
            space = narrowed(self.whole, choice)
            if self._is_cut(choice) and space.sets:
                hint = min(hint, self._look_past_sets(choice, space))
            else:
                searched = Searched(self._search(space, BRIEFLY), choice)
                self._judge(searched, searched.search.run())
            if self.points.best is not None:
                break
        return hint

    def _most_promising(self) -> list[Choice]:
        """The choices that lead uphill fastest; where there are very many, also one that leads far."""
        if self.root.size > MANY:
            few = self.root.filled_in(Climb(self.whole, self.pool).order())
            return [self.root.filled(self.promise.gain), few.filled(self.promise.gain)]
        ranked: list[tuple[float, Choice]] = []
        for free, choices in _alike([choice for choice in self.choices if choice.bound < np.inf]):
            scores = self.promise.scores(free)
            first = np.argsort(-scores, kind="stable")[:FIRST_LOOKS]
            ranked += [(float(scores[i]), choices[i]) for i in first.tolist()]
        return [choice for _, choice in sorted(ranked, key=lambda entry: -entry[0])[:FIRST_LOOKS]]

    def _look_past_sets(self, choice: Choice, space: Space) -> float:
        """How far it is to a point when every value is allowed; allowed ones are looked for around it."""
        assert space.problem is not None
        domain = space.problem.domain.relaxed()
        search = self._search(replace(space, sets={}, problem=replace(space.problem, domain=domain)), BRIEFLY)
        search.run()
        self._learn(search.scenarios[s] for s in _used(search))
        if search.points.best is None:
            return math.inf
        changes = search.points.space.inverse @ search.points.best
        low, high = ends(self.whole, [choice])
        nothing, far = np.zeros(space.n), search.points.distance
        self._settle([Open(far, choice, changes, nothing, changes, low[0], high[0])], math.inf)
        return search.points.distance

    def _is_cut(self, choice: Choice) -> bool:
        """Whether a choice that is not refuted is cut between allowed values, if it has any."""
        return len(choice.free) <= MOST_FREE and not self.whole.forks

    def _scan(self, choices: Sequence[Choice], level: float) -> None:
        """Refute choices together; what is left is cut, or searched until there is something new."""
        left = self._refuted_together(choices, level)
        before, known = self.points.distance, len(self.pool)
        self._settle(left, level)
        for number, open_ in enumerate(left[: max(FEW, int(SHARE * len(left)))]):
            nearer = self.points.distance < before
            if (nearer or len(self.pool) > known) and (len(left) - number > FEW or np.isinf(before)):
                return
            level = min(level, self._goal()) if self.points.best is not None else level
            if open_.choice.depth >= DEEPEST:
                open_.choice.stuck, self._stopped = True, Status.PRECISION_LIMIT
                continue
            cuts = choose_cuts(self.whole, open_, level) if self._is_cut(open_.choice) else []
            if not cuts:
                promising = open_.far <= level or self.points.best is None
                self._look_at(open_.choice, level, promising=promising)
            else:
                del self.choices[open_.choice]
                # Few parts in a stack take as long as two: where few choices are left, all cuts are made.
                self.choices |= dict.fromkeys(_cut(open_.choice, cuts if len(left) <= FEW else cuts[:1]))

    def _settle(self, left: Sequence[Open], level: float) -> None:
        """Look for points with allowed values near relaxed solutions."""
        if not self.whole.sets or self.whole.forks:
            return
        for number, open_ in enumerate(left[:LOOKS]):
            self.clock.check()
            if number >= FIRST_LOOKS and open_.far >= min(self.points.distance, self.within):
                break
            if number == 0 and open_.far <= level:
                self._look_with(open_.choice, nearest_values(self.whole, open_))
            for _ in range(ROUNDS):
                if not self._settled_nearer(open_):
                    break

    def _settled_nearer(self, open_: Open) -> bool:
        """Try the nearest point on allowed values that seems to do; whether it may be worth another try."""
        base = self._found[0]
        aim = base.safety_margin(self.whole.matrix @ open_.near, 0.5)
        found, known = settled_points(self.whole, self.pool, open_, aim), len(self.pool)
        for size, u, values in found[:TRIES]:
            if size >= min(self.points.distance, self.within):
                return False
            if self._accepted(open_.choice, u):
                self._look_with(open_.choice, values)
                return False
            if len(self.pool) > known:
                return True
        return False

    def _accepted(self, choice: Choice, u: Array) -> bool:
        """Whether a point is robust, and nearer than any other."""
        points = Points(narrowed(self.whole, choice), self.gap, self.clock)
        margin, s = points.harm(u, list(range(len(points.scenarios))), LOCAL_EFFORT)
        accepted = points.accept(u, margin, s, as_it_is=not self._loose(choice))
        self._learn(points.scenarios[s : s + 1])
        if accepted:
            self._note(points)
        return accepted

    def _loose(self, choice: Choice) -> int:
        """How many features move that take any value."""
        return sum(self.whole.n + j not in self.whole.sets for j in choice.free)

    def _look_with(self, choice: Choice, values: Mapping[int, float]) -> None:
        """The nearest point with given changes of the features with sets of values, once."""
        key = (choice.free, tuple(values.items()))
        if key in self._tried or not values or self._loose(choice) < 2:  # on a line there is nothing to add
            return
        self._tried.add(key)
        search = self._search(narrowed(self.whole, choice, values), BRIEFLY)
        search.run()
        self._learn(search.scenarios[s] for s in _used(search))
        if search.points.distance < self.points.distance:
            self._searches[search.points] = Searched(search, choice)
            self._note(search.points)
        self.clock.check()

    def _note(self, points: Points) -> None:
        """A nearer point was found."""
        self._found.append(points)
        self.record()
        if points.distance < self.within < np.inf:
            raise _FoundError

    def _refuted_together(self, choices: Sequence[Choice], level: float) -> list[Open]:
        """Refute choices side by side; those that are left, the most promising first."""
        left, fresh, now = [], [], (level, len(self.pool))
        for choice in self._split(choices, level):
            known = self._open.get(choice)
            if known is not None and known[0] == now:
                left.append(known[1])
            else:
                fresh.append(choice)
        first = len(self.whole.margins)
        numbers = [*range(first), *range(max(first, len(self.pool) - MOST_SCENARIOS), len(self.pool))]
        cut = any(choice.low or choice.high for choice in fresh)
        slices = Slices(self.whole, level, [self.pool[s] for s in numbers], numbers, cut)
        stacks = -(-len(fresh) // CHUNK)
        for first_one in range(stacks):
            left += refuted_side_by_side(
                slices, fresh[first_one::stacks], self.clock
            )  # each is like the others
        self._open = {open_.choice: (now, open_) for open_ in left}
        return sorted(left, key=lambda open_: open_.far)

    def _split(self, choices: Sequence[Choice], level: float) -> list[Choice]:
        """Choices in which every feature is decided; those that are not are refuted at once or split."""
        done, stack = [], list(choices)
        while stack:
            choice = stack.pop()
            if choice.feature is None:
                done.append(choice)
                continue
            self.clock.check()
            if choice.size <= BUNCH and choice.depth < TOO_DEEP:
                choice.grow()
                stack += [part for part in choice.leaves() if part.bound < level]
            elif not self._refuted_at_once(choice, level):
                stack += [part for part in choice.split() if part.bound < level]
                if not choice.parts:
                    choice.stuck, self._stopped = True, Status.BOUND_LIMIT
        if len(done) != len(choices):
            self.choices = dict.fromkeys(self.root.leaves())
        return done

    def _refuted_at_once(self, choice: Choice, level: float) -> bool:
        """Whether one leaf refutes all that a choice falls into."""
        space = narrowed(self.whole, choice)
        region = refuted_at_once(space, level, self.pool, self.clock)
        if region is not None:
            choice.proven(level, AtOnce(Tree(space, region, list(self.pool)), choice))
        return region is not None

    def _search(self, space: Space, share: float = 1.0) -> Search:
        """A search that knows what others had to withstand, and has a share of the time that is left."""
        clock = self.clock if share == 1.0 else Clock(share * self.clock.left)
        search = Search(space, self.gap, clock)
        first = len(self.whole.margins)
        search.points.scenarios += self.pool[max(first, len(self.pool) - MOST_SCENARIOS) :]
        search.root.scenarios = list(range(len(search.scenarios)))
        return search

    def _look_at(self, choice: Choice, level: float, *, promising: bool) -> None:
        """Refute a choice up to a level, or find the nearest point in it."""
        space = narrowed(self.whole, choice)
        if not promising or self.within < np.inf:
            search = self._search(space)
            if search.refute(level):
                self._keep(Searched(search, choice))
                return
            if self.within < np.inf:
                raise _FoundError
        searched = Searched(self._search(space), choice)
        self._judge(searched, searched.search.run())

    def _judge(self, searched: Searched, status: Status) -> None:
        """Keep what a search found, and go on."""
        self._keep(searched)
        self.clock.check()
        search = searched.search
        search.points.clock = self.clock  # the first ones had less
        if status not in (Status.OPTIMAL, Status.INFEASIBLE) and status.with_point is not Status.TIME_LIMIT:
            searched.choice.stuck, self._stopped = True, status

    def _keep(self, searched: Searched) -> None:
        search, choice = searched
        before = self.points.distance
        self._learn(search.scenarios[s] for s in _used(search))
        pinned = search.points in self._searches and choice.proof != searched
        if not pinned and not choice.parts and search.proof.proven() >= choice.bound:
            choice.proven(search.proof.proven(), searched)
        self._searches[search.points] = searched
        if search.points.distance < before:
            self._note(search.points)

    def _learn(self, scenarios: Iterable[Scenario]) -> None:
        known = {(r, v.tobytes()) for r, v in self.pool}
        self.pool += [(r, v) for r, v in scenarios if (r, v.tobytes()) not in known]

    def _fall_back(self) -> Search:
        """No more can be proved: what is proven without any limit holds within limits too."""
        self._unlimited = Search(self.whole, self.gap, Clock(GRACE))
        self._unlimited.run()
        return self._unlimited

    def _status(self) -> Status:
        if self.points.best is None:
            nothing = self._proven() >= self.whole.farthest
            return Status.INFEASIBLE if nothing else self._stopped.without_point
        return Status.OPTIMAL if self._proven() >= self._enough() else self._stopped.with_point


def _cut(choice: Choice, cuts: Sequence[Cut]) -> list[Choice]:
    """The parts of a choice after cuts of different features."""
    parts = [choice]
    for cut in cuts:
        parts = [part for whole in parts for part in whole.cut(cut)]
    return parts


def _alike(choices: Sequence[Choice]) -> Iterator[tuple[NDArray[np.intp], list[Choice]]]:
    """Choices with as many free features each, with these as rows."""
    groups = defaultdict(list)
    for choice in choices:
        groups[len(choice.free)].append(choice)
    for size, some in groups.items():
        yield np.array([choice.free for choice in some], dtype=np.intp).reshape(len(some), size), some


def _used(search: Search) -> list[int]:
    """The scenarios that a search's proof refers to."""
    leaves = [region.leaf for region in search.proof.leaves() if region.leaf is not None]
    return sorted({s for leaf in leaves for s in leaf.margins})
