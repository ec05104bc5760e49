"""A probability among all classes: mixtures of the rivals enter the search as points violate them.

A mixture of the odds is a quadratic that the probability implies (`surefoot.problem.share`). So a bound that
is proved with some mixtures holds for the probability, and a point that has the probability is what was asked
for. The mixture that matters at a point which has it not takes that point away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.answer import Answer, Round
from surefoot.problem.family import Family
from surefoot.problem.mixed import State
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified.answer import certificate
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.robustness import Robustness, mixture_entries
from surefoot.search.certified.shares import WorstShare, truncated, worst_of_share
from surefoot.status import Status

Array = NDArray[np.float64]
Searched = Callable[[Family, float, float], Answer]
Judged = Callable[[RobustProblem, Array, Clock], Robustness | None]
Mixtures = list[tuple[int, list[float]]]

# Share of the gap that is left to the step from a point that nearly has the probability to one that has it.
# A tenth of it, and many more mixtures are needed; ten times as much is more than there is.
SPARE = 0.3
STEPS = (0.1, 0.25, 0.5, 1.0)  # of that room, tried in turn
INSIDE = 0.1  # of the margin at the end of the room: so far inside a point should stand
WIDEST = 0.5  # gap: a point farther off than that is none that is nearly there
# Share of the time that is kept for a point of another making, where a search takes all that it is given. Ten
# times as much is more than there is; with a tenth there would be no such point.
RESERVED = 0.1
PART = 0.3  # of the time that one search has at first. Ten times more is all of it, a tenth leads nowhere.
SHORTEST = 0.1  # seconds for it, even if time is up
ROUGHLY = 0.05  # and its gap
LEAST_PART = 0.02  # of what is allowed to all rivals that one has there
AT_ONCE = 2  # mixtures that enter after a search
# Weights that differ by less are the same mixture. Ten times larger, and points that nearly have the
# probability cannot be told from others; ten times smaller, and searches have to do with requirements that
# hardly differ.
ALIKE = 1e-4


def searched_among_all(
    family: Family, gap: float, time_limit: float, search: Searched, judged: Judged
) -> Answer:
    """Nearest robust counterfactual with a proof, up to a relative gap.

    Parameters
    ----------
    family : Family
        With shares.
    gap : float
    time_limit : float
        Seconds.
    search : callable
        From a family without shares, a gap and seconds to an answer.
    judged : callable
        From a problem with shares and a point to what is proven of its perturbations; None where one undoes
        it.
    """
    state = _AmongAll(family, gap, Clock(time_limit), search, judged)
    try:
        return state.run()
    except KeyboardInterrupt:  # between two searches; within one, that one takes it
        return state.answer(Answer(Status.INTERRUPTED, backend="clarabel"), Status.INTERRUPTED)


@dataclass(eq=False)
class _AmongAll:
    family: Family
    gap: float
    clock: Clock
    search: Searched
    judged: Judged
    mixtures: Mixtures = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    bound: float = 0.0
    proof: dict[str, Any] = field(default_factory=dict)
    best: tuple[float, State, Array, Robustness] | None = None

    def run(self) -> Answer:
        """Search until a point has the probabilities, nothing has, or time is up.

        A search that is cut short may still show what is missing: at first each has a part of the time.
        """
        part = PART
        while True:
            relaxed = self.family.relaxed(self.mixtures)
            seconds = max(part * (1 - RESERVED) * self.clock.left, 0.0)
            found = self.search(relaxed, (1 - SPARE) * self.gap, seconds)
            self._note(found)
            if found.point is None and part < 1 and found.status is Status.TIME_LIMIT.without_point:
                part = 1.0
                continue
            if found.point is None:
                return self._without_point(found)
            state = found.state or self.family.today
            problem, x = self.family.problem(state), found.point
            worst = self._worst(problem, x)
            if not self._fine(problem, state, x, worst):
                for nearby in self._stepped(problem, state, x):
                    if self._fine(problem, state, nearby, self._worst(problem, nearby)):
                        break
            if self.best is not None and self._close(self.best[0]):
                return self.answer(found, Status.OPTIMAL)
            late = found.status is Status.TIME_LIMIT and part < 1
            if self.clock.left > 0 and (late or found.status is Status.OPTIMAL):
                if self._learn(worst):
                    continue
                if late:
                    part = 1.0
                    continue
            if self.best is None and found.status is not Status.INTERRUPTED:
                self._look_inside(worst)
            return self.answer(found, Status.TIME_LIMIT if found.status is Status.OPTIMAL else found.status)

    def _worst(self, problem: RobustProblem, x: Array) -> list[list[WorstShare]]:
        """For each share the errors that lower it most."""
        reach = [problem.ball.radius if share.robust else 0.0 for share in problem.shares]
        return [worst_of_share(problem, s, x, r) for s, r in zip(problem.shares, reach, strict=True)]

    def _fine(self, problem: RobustProblem, state: State, x: Array, worst: list[list[WorstShare]]) -> bool:
        """Whether a point has the probabilities and provably withstands errors; then it may be the best."""
        if min(one[0].margin for one in worst) < 0 or problem.margin(x) < 0 or not problem.domain.contains(x):
            return False
        robust = self.judged(problem, x, self.clock)
        if robust is None:
            return False
        distance = self.family.distance(state, x)
        whole = problem.ball.is_point or robust.radius >= problem.budget
        if whole and (self.best is None or distance < self.best[0]):
            self.best = distance, state, x, robust
        return whole

    def _stepped(self, problem: RobustProblem, state: State, x: Array) -> Iterator[Array]:
        """Points a little farther on the same way, within the gap; what has listed values stays on them."""
        price, now = self.family.price(state), self.family.factual
        way = np.where(x == now, 0.0, x - now)
        way[[one.feature for one in problem.domain.sets]] = 0.0
        size = self.family.metric.distance(x, now)
        room = (self.bound / (1 - min(self.gap, WIDEST)) - price) / size - 1 if size > 0 else 0.0
        if not (room > 0 and way.any()):
            return
        points = [x + step * room * way for step in STEPS]
        inside = [min(one[0].margin for one in self._worst(problem, point)) for point in points]
        for point, margin in zip(points, inside, strict=True):
            if margin > 0 and margin >= INSIDE * inside[-1]:
                yield point

    def _look_inside(self, worst: list[list[WorstShare]]) -> None:
        """A point where each rival has its own part of what is allowed: not the nearest, but an answer."""
        inner = list(self.family.requirements)
        for share, errors in zip(self.family.shares, worst, strict=True):
            parts = np.maximum(errors[0].weights, LEAST_PART)
            for r, part in zip(share.members, parts / parts.sum(), strict=True):
                room = share.heat * float(np.log(part))
                inner[r] = replace(inner[r], margin=inner[r].margin.shifted(room))
        posed = replace(self.family, requirements=tuple(inner), shares=(), _bases={})
        found = self.search(posed, max(self.gap, ROUGHLY), max(self.clock.left, SHORTEST))
        if found.point is not None:
            state = found.state or self.family.today
            problem = self.family.problem(state)
            self._fine(problem, state, found.point, self._worst(problem, found.point))

    def _close(self, distance: float) -> bool:
        """Whether the bound is as near as was asked for."""
        return distance - self.bound <= max(self.gap * distance, 1e-6)

    def _learn(self, worst: list[list[WorstShare]]) -> bool:
        """Add the mixtures that a point violates; whether there is a new one."""
        before = len(self.mixtures)
        for number, found in enumerate(worst):
            for one in found[:AT_ONCE]:
                weights = truncated(one.weights).tolist()
                if one.margin < 0 and not any(
                    n == number and np.allclose(w, weights, rtol=0, atol=ALIKE) for n, w in self.mixtures
                ):
                    self.mixtures.append((number, weights))
        return len(self.mixtures) > before

    def _note(self, found: Answer) -> None:
        """Keep the best bound with what proves it: later searches know all mixtures of earlier ones."""
        self.rounds += found.rounds
        if found.certificate is not None and (not self.proof or found.lower_bound >= self.bound):
            self.bound = found.lower_bound
            self.proof = {
                **found.certificate,
                "version": 4,
                "mixtures": mixture_entries(self.mixtures),
                "robustness": None,
                "worst": None,
            }

    def _without_point(self, found: Answer) -> Answer:
        if found.status is Status.INFEASIBLE or self.best is None:
            bare = replace(found, certificate=self.proof, lower_bound=self.bound, rounds=tuple(self.rounds))
            return replace(bare, radius=0.0, worst=None)
        return self.answer(found, found.status.with_point)

    def answer(self, found: Answer, status: Status) -> Answer:
        """The best point, or none, with what is proven by now."""
        proof = self.proof or certificate(self.family.here)
        if self.best is None:
            bare = replace(found, status=status.without_point, point=None, radius=0.0, worst=None)
            return replace(
                bare, certificate=proof, lower_bound=self.bound, rounds=tuple(self.rounds), state=()
            )
        distance, state, x, robust = self.best
        held = {**proof, "robustness": robust.to_dict(), "worst": robust.worst.tolist()}
        return replace(
            found,
            status=status,
            point=x,
            state=state,
            lower_bound=min(self.bound, distance),
            radius=robust.radius,
            worst=robust.worst,
            certificate=held,
            rounds=tuple(self.rounds),
        )
