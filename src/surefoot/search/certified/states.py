"""The certified search over categories: states in the order of their promise, until all are covered."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, count, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.answer import Answer, Round
from surefoot.problem.family import Family
from surefoot.problem.geometry import dual_exponent, lp_norm
from surefoot.problem.mixed import State
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified.among_all import searched_among_all
from surefoot.search.certified.answer import (
    as_it_is,
    bound_document,
    certificate,
    certified_search,
    robust_or_none,
    search_of,
    searched,
)
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.cover import Cover, Leave, Refuted
from surefoot.search.certified.currency import exchanged, exchanged_search
from surefoot.search.certified.decided import changes_decided, eithers_decided, eithers_renumbered
from surefoot.search.certified.prices import coordinates
from surefoot.search.certified.search import AIM, Search, allowance
from surefoot.search.certified.space import whitened
from surefoot.search.certified.subsets import Subsets
from surefoot.search.certified.uphill import Uphill
from surefoot.status import Status
from surefoot.threads import one_blas_thread

Array = NDArray[np.float64]
Node = tuple[float, int, float, tuple[int, ...]]  # promised distance, order, price, values

REACHED = 0.99  # share of the gap below the best distance that every state has to reach
OWN = 0.9  # share of the gap to which single states are searched
DEAR = 2.0  # times the way of the numbers: where the price is more, a rough search may be enough
ROUGH = 10.0  # times the gap
ROOM = 1e-9  # constants are rounded up by this, so that what is proved covers the state itself
HALVINGS = 12  # for the bound of a search that ran out of time
GRACE = 0.2  # seconds for that
BRIEFLY = 0.1  # of the time for these
LEADING = 4  # requirements by which the promise of a state is judged, of however many
MOST_TRIED = 500  # changes of categories that are tried with the numbers as they are
# Changes of two categories that are listed; ten times as many would take some tenths of a second.
MOST_PAIRS = 20_000
# How often what errors take at first order must be left over, in turn: ten times costs many changes.
CAUTIONS = (1.0, 1.5, 3.0)
ROUGHLY = 0.05  # gap of the search for a first point in one state; ten times as wide is of little use
FIRST = 0.2  # of the time for that; nothing would be left with ten times as much


def certified_states(family: Family, gap: float, time_limit: float) -> Answer:
    """Nearest robust counterfactual over all states of the categories, with a proof, up to a relative gap.

    Parameters
    ----------
    family : Family
    gap : float
    time_limit : float
        Seconds.
    """
    if family.shares:
        return searched_among_all(family, gap, time_limit, certified_states, robust_or_none)
    if not family.choices:
        return certified_search(family.problem(), gap, time_limit)
    clock = Clock(time_limit)
    with one_blas_thread():
        return exchanged_search(family, gap, lambda posed: _States(posed, gap, clock).run())


def refuted_at_once(family: Family, time_limit: float) -> bool:
    """Whether it takes but one bound for each state to prove that there is nothing, at whatever distance.

    No points are sought. Where most problems have no answer, what is left for a search is little.

    Parameters
    ----------
    family : Family
    time_limit : float
        Seconds.
    """
    if family.shares:
        return False
    with one_blas_thread():
        try:
            return _States(exchanged(family), 1.0, Clock(time_limit)).refuted_at_once()
        except OutOfTimeError:
            return False


class _States:
    """One search over states: the best answer so far, and what covers the rest."""

    def __init__(self, family: Family, gap: float, clock: Clock) -> None:
        self.family, self.gap, self.clock = family, gap, clock
        self.cover = Cover(family)
        self._leading = replace(family, requirements=family.requirements[:LEADING], _bases={})
        self._shaping = self._leading.shaping
        self.best: tuple[float, State, Answer] | None = None
        self.rounds: list[Round] = []
        self.stopped: Status | None = None
        self._order = count()
        self._slopes: dict[tuple[int, ...], list[tuple[float, float]]] = {}

    @property
    def distance(self) -> float:
        """Of the best point, price included."""
        return np.inf if self.best is None else self.best[0]

    def level(self, share: float = REACHED) -> float:
        """What states have to reach: a share of the allowed gap below the best distance."""
        return self.distance - share * allowance(self.gap, self.distance) if self.best else np.inf

    def run(self) -> Answer:
        """Search until every state is covered or time is up."""
        try:
            if self._exclude():
                return self._answer()
            self._begin()
            if self.best is None:
                self._climb()
            if self.family.allows(self.family.today):
                self._look_at(self.family.today)
            heap = [self._node(0.0, ())]
            while heap:
                _, _, price, values = heapq.heappop(heap)
                if self.cover.covers(price, values, self.level()):
                    continue
                self.clock.check()
                if len(values) == len(self.cover.order):
                    self._look_at(self.cover.state(values))
                    continue
                self._extend(heap, price, values)
        except OutOfTimeError:
            self.stopped = Status.TIME_LIMIT
        except KeyboardInterrupt:
            self.stopped = Status.INTERRUPTED
        return self._answer()

    def refuted_at_once(self) -> bool:
        """Whether every state is refuted by one bound, first those that may gain most: they cover others."""
        stack: list[tuple[int, ...]] = [()]
        while stack:
            self.clock.check()
            values = stack.pop()
            if self.cover.covers(0.0, values, np.inf):
                continue
            depth = len(values)
            if depth < len(self.cover.order):
                longer = [(*values, v) for v in self._allowed(depth)]
                stack += sorted(longer, key=lambda values: self.cover.most(values)[0, 0])
            elif not self._refute_at_once(self.cover.state(values)):
                return False
        return True

    def _refute_at_once(self, state: State) -> bool:
        """Whether one bound refutes a state; limits of its numbers are not needed for that."""
        constants, generous = self._generous(state)
        posed = replace(generous, domain=replace(generous.domain, limits=()))
        search = Search(whitened(posed), self.gap, self.clock)
        if not search.refuted_at_once():
            return False
        self._keep(state, constants, np.inf, bound_document(posed, search))
        return True

    def _generous(self, state: State) -> tuple[Array, RobustProblem]:
        """What the categories add, rounded up, and the problem of a state with that."""
        own = self.family.constants(state)
        room = ROOM * (1 + np.abs(own))
        constants, surplus = own + room, float(room.max(initial=0.0))
        return constants, replace(self.family.problem(state, constants.tolist()), surplus=surplus)

    def _extend(self, heap: list[Node], price: float, values: tuple[int, ...]) -> None:
        """The values of the next category; what is too dear by itself is covered, and most values are."""
        choice, level = self.family.choices[self.cover.order[len(values)]], self.level()
        for v in choice.allowed:
            dearer = price + choice.prices[v]
            if dearer < level:
                heapq.heappush(heap, self._node(dearer, (*values, v)))

    def _exclude(self) -> bool:
        """Find out whether nothing is allowed with today's categories; whether that holds for all states.

        The proof needs no requirements: it holds for every state that leaves the numbers no more.
        """
        family, today = self.family, self.family.today
        if not family.allows(today):
            return False
        posed = family.problem(today)
        problem = replace(posed, domain=replace(posed.domain, limits=()))
        search = Search(whitened(problem), self.gap, self.clock)
        if search.excluded():
            proof = bound_document(problem, search)
            tree, leave = self._generalised(today, proof["tree"])
            self.cover.add(Refuted(None, np.zeros(0), np.inf, {**proof, "tree": tree}, leave))
        return self.cover.covers(0.0, (), np.inf)

    def _begin(self) -> None:
        """The cheapest change of one category, or of two, with which the numbers may stay as they are.

        What it costs is known at once, and bounds all that follows.
        """
        brief = Clock(BRIEFLY * self.clock.left)
        if not self.family.domain.contains(self.family.factual):
            return
        try:
            for flips in (1, 2):
                if flips == 1 or self._pairs() <= MOST_PAIRS:
                    near = list(self._near_states(flips))
                    turned = [s for s in self._turned(near, brief) if self.family.allows(s)]
                    for state in sorted(turned, key=self.family.price)[:MOST_TRIED]:
                        brief.check()
                        if self._stays(state):
                            return
        except OutOfTimeError:
            self.clock.check()

    def _climb(self) -> None:
        """A first point by changes of categories one by one, or of numbers too where these are not enough."""
        brief = Clock(FIRST * self.clock.left)
        try:
            way = self._way_with_numbers_as_they_are(Uphill(self.family, brief))
        except OutOfTimeError:
            self.clock.check()
            return
        if self.best is None:
            tried = dict.fromkeys([*sorted(way, key=self._promised)[:1], way[-1]])
            for state in tried:
                if self.best is None and state != self.family.today and self.family.allows(state):
                    self._search_roughly(state, Clock(FIRST * self.clock.left))

    def _way_with_numbers_as_they_are(self, uphill: Uphill) -> list[State]:
        """The states on the way up; where the last lacks nothing, it may be an answer."""
        way = [self.family.today]
        inside = self.family.domain.contains(self.family.factual)
        for caution in CAUTIONS if inside else CAUTIONS[:1]:
            way = uphill.way(caution)
            if not inside or uphill.lacks(way[-1:], caution)[0] or not self.family.allows(way[-1]):
                break
            if self._stays(uphill.trimmed(way[-1], caution)):
                break
        return way

    def _promised(self, state: State) -> float:
        """About how far the nearest point of a state is."""
        return self._node(self.family.price(state), tuple(state[k] for k in self.cover.order))[0]

    def _search_roughly(self, state: State, clock: Clock) -> None:
        """A point of a state, if one is found in a moment that is proved to be robust."""
        posed = self.family.problem(state)
        answer = searched(posed, ROUGHLY, clock, posed)
        robust = answer.radius >= posed.budget or posed.ball.is_point
        if answer.point is not None and robust:
            self.best = self.family.distance(state, answer.point), state, answer

    def _pairs(self) -> int:
        """How many states differ from today's in two categories."""
        sizes = [len(choice.allowed) - 1 for choice in self.family.choices]
        return (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2

    def _turned(self, states: list[State], clock: Clock) -> list[State]:
        """The states that alone turn the decision, were it not for errors; in doubt they do."""
        if not states:
            return []
        here = np.array([[margin for margin, _ in self._slope(state, clock)] for state in states])
        added = self._leading.constants_of(np.array(states))
        turns = (here + added >= -ROOM * (1 + np.abs(added))).all(axis=1)
        return [states[i] for i in np.flatnonzero(turns).tolist()]

    def _stays(self, state: State) -> bool:
        """Whether the numbers may stay as they are in a state; then its price is its least distance."""
        answer = (
            as_it_is(self.family.problem(state), self.clock) if self._turned([state], self.clock) else None
        )
        if answer is not None and self.family.price(state) < self.distance:
            self.best = self.family.price(state), state, answer
        return answer is not None

    def _near_states(self, flips: int) -> Iterator[State]:
        """The states in which so many categories have another value."""
        today, choices = self.family.today, self.family.choices
        for which in combinations(range(len(choices)), flips):
            for values in product(*([v for v in choices[k].allowed if v != today[k]] for k in which)):
                state = list(today)
                for k, v in zip(which, values, strict=True):
                    state[k] = v
                yield tuple(state)

    def _allowed(self, depth: int) -> tuple[int, ...]:
        return self.family.choices[self.cover.order[depth]].allowed

    def _node(self, price: float, values: tuple[int, ...]) -> Node:
        """An assignment with its price, first what may lead to near points."""
        if len(values) < len(self.cover.shaping):
            return price, next(self._order), price, values
        most, far = self.cover.most(values).tolist(), price
        for (margin, slope), more in zip(
            self._slope(self._completed(values), self.clock), most, strict=False
        ):
            far = max(far, self._least_far(price, margin, slope, more))
        return far, next(self._order), price, values

    def _least_far(self, price: float, margin: float, slope: float, most: list[float]) -> float:
        """About how far a requirement is from holding, whatever completions cost that help it.

        At a price P they gain at most ``more + rate P``: what is lacking then, the numbers must make up for.
        """
        far = price
        for rate, more in zip(self.cover.trades, most, strict=True):
            lacking = -(margin + more)
            if lacking > rate * price:
                bought = rate > slope
                far = max(far, lacking / rate if bought else price + (lacking - rate * price) / slope)
        return far

    def _completed(self, values: tuple[int, ...]) -> State:
        """Some state that begins with an assignment."""
        rest = (self._allowed(d)[0] for d in range(len(values), len(self.cover.order)))
        return self.cover.state((*values, *rest))

    def _slope(self, state: State, clock: Clock) -> list[tuple[float, float]]:
        """For the leading requirements of a shape: what they are at the factual, and how fast they grow."""
        family = self._leading
        shape = tuple(state[k] for k in self._shaping)
        if shape not in self._slopes:
            clock.check()
            problem = family.problem(state, [0.0] * len(family.requirements), family.domain)
            B, dual = coordinates(family.metric)[1], dual_exponent(family.metric.norm)
            self._slopes[shape] = [
                (
                    float(g(problem.factual)),
                    max(float(lp_norm(g.gradient(problem.factual) @ B, dual)), 1e-300),
                )
                for g in problem.margins
            ]
        return self._slopes[shape]

    def _look_at(self, state: State) -> None:
        """Refute a state up to the level, or find the nearest point in it."""
        constants, generous = self._generous(state)
        known = None
        if self.best is not None:
            search = search_of(generous, OWN * self.gap, self.clock)
            radius = self.level(AIM) - self.family.price(state)
            if search.refute(radius):
                self._keep(state, constants, radius, bound_document(generous, search))
                return
            known = search if isinstance(search, Subsets) else None
        if not self._stays(state):
            self._search(state, constants, generous, known)

    def _search(self, state: State, constants: Array, generous: RobustProblem, known: Subsets | None) -> None:
        """Find the nearest point in a state; ``known``: a search that has found out something about it."""
        answer, price = self._nearest(state, generous, known), self.family.price(state)
        assert answer.certificate is not None
        self._keep(state, constants, answer.lower_bound, answer.certificate["bound"])
        self.rounds += [_dearer(r, price) for r in answer.rounds]
        if answer.point is not None:
            distance = self.family.distance(state, answer.point)
            if distance < self.distance:
                self.best = distance, state, answer
        if answer.status.with_point is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if answer.status not in (Status.OPTIMAL, Status.INFEASIBLE) and self.stopped is None:
            self.stopped = answer.status.with_point

    def _nearest(self, state: State, generous: RobustProblem, known: Subsets | None) -> Answer:
        """The nearest point of a state, up to a share of the gap of its whole distance, price included.

        So the gap of the way that is left to the numbers may be wider, the more the price makes of it.
        """
        posed, price, gap = self.family.problem(state), self.family.price(state), OWN * self.gap
        if known is not None:
            return searched(generous, gap, self.clock, posed, known)
        promised, *_ = self._node(price, tuple(state[k] for k in self.cover.order))
        if price > DEAR * (promised - price):
            rough = searched(generous, min(ROUGH * gap, 0.5), self.clock, posed)
            if rough.point is None or rough.status is not Status.OPTIMAL:
                return rough
            way = posed.distance(rough.point)
            if way - rough.lower_bound <= gap * (price + way):
                return rough
            gap *= 1 + price / way
        return searched(generous, gap, self.clock, posed)

    def _keep(self, state: State, constants: Array, radius: float, proof: dict[str, Any] | None) -> None:
        if radius <= 0 or proof is None or proof["tree"] is None:  # nothing is proven: the price must do
            return
        shape = tuple(state[k] for k in self.cover.shaping)
        tree, leave = self._generalised(state, proof["tree"])
        self.cover.add(Refuted(shape, constants, radius, {**proof, "tree": tree}, leave))

    def _generalised(self, state: State, tree: dict[str, Any]) -> tuple[dict[str, Any] | None, Leave]:
        """A tree with the question's numbers of its eithers, and all that it holds for.

        A limit that leaves nothing fixes its numbers, whether the tree mentions them or not.
        """
        family = self.family
        open_, left = family.open_ways(state), family.left(state)
        tree_ = eithers_renumbered(tree, [e for e, ways in enumerate(open_) if ways is not None])
        taken, changed = eithers_decided(tree_), changes_decided(tree_)
        ways = [frozenset(ways) if ways is not None and e in taken else None for e, ways in enumerate(open_)]
        most = [
            max(limit.count, len(limit.numbers)) if now and changed.isdisjoint(limit.numbers) else now
            for limit, now in zip(family.limits, left, strict=True)
        ]
        return tree_, Leave(tuple(ways), tuple(most))

    def _answer(self) -> Answer:
        bound = self._bound()
        status = self._status(bound)
        covered = self._document(bound)
        # What a round proved of one state is no bound on the others.
        rounds = tuple(replace(r, lower_bound=min(r.lower_bound, bound)) for r in self.rounds)
        known: dict[str, Any] = {"status": status, "lower_bound": bound, "rounds": rounds}
        if self.best is None:
            held = certificate(self.family.problem(domain=self.family.domain))
            return Answer(**known, certificate={**held, "states": covered}, backend="clarabel")
        _, state, answer = self.best
        assert answer.certificate is not None
        held = {**answer.certificate, "bound": None, "states": covered}
        return replace(answer, **known, state=state, certificate=held)

    def _status(self, bound: float) -> Status:
        if self.best is None:
            if bound == np.inf:
                return Status.INFEASIBLE
            return Status.UNDECIDED if self.stopped is None else self.stopped.without_point
        if bound >= self.level() and self._finished(*self.best[1:]):
            return Status.OPTIMAL
        return self.stopped or Status.TIME_LIMIT

    def _finished(self, state: State, answer: Answer) -> bool:
        """Whether nothing is left to prove of the best answer but the bound.

        Its search aims at a share of the gap; when time ends before that, the bound may be enough for all.
        """
        posed = self.family.problem(state)
        robust = answer.radius >= posed.budget or posed.ball.is_point
        return answer.status is Status.OPTIMAL or (robust and self.stopped is not Status.INTERRUPTED)

    def _bound(self) -> float:
        """The largest level that is proven for every state."""
        if self.stopped is None:
            return max(self.level(), 0.0)
        high = min(max(self.level(), 0.0), 1e12)
        low, clock = 0.0, Clock(GRACE)
        try:
            if self._all_covered(high, clock):
                return high
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if self._all_covered(middle, clock) else (low, middle)
        except OutOfTimeError:
            pass
        return low

    def _all_covered(self, level: float, clock: Clock) -> bool:
        stack: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        while stack:
            clock.check()
            price, values = stack.pop()
            if self.cover.covers(price, values, level):
                continue
            depth = len(values)
            if depth == len(self.cover.order):
                return False
            choice = self.family.choices[self.cover.order[depth]]
            stack += [(price + choice.prices[v], (*values, v)) for v in choice.allowed]
        return True

    def _document(self, bound: float) -> dict[str, Any]:
        """What covers all states, in the format of docs/certificate.md."""
        entries = [e for group in self.cover.refuted.values() for e in group if e.proof is not None]
        needed = [e for e in entries if self._shape_price(e.shape) < bound]
        return {
            "trades": [float(rate) for rate in self.cover.trades],
            "proofs": [
                {
                    "shape": None
                    if e.shape is None
                    else [[k, v] for k, v in zip(self.cover.shaping, e.shape, strict=True)],
                    "constants": e.constants.tolist(),
                    "ways": [None if ways is None else sorted(ways) for ways in e.leave.ways],
                    "left": list(e.leave.left),
                    "proof": e.proof,
                }
                for e in needed
            ],
        }

    def _shape_price(self, shape: tuple[int, ...] | None) -> float:
        """What a state of a shape costs at least."""
        pairs = () if shape is None else zip(self.cover.shaping, shape, strict=True)
        return float(sum(self.family.choices[k].prices[v] for k, v in pairs))


def _dearer(r: Round, price: float) -> Round:
    """A round with the price of its state in its distance."""
    return replace(r, distance=r.distance + price, lower_bound=min(r.lower_bound, r.distance) + price)
