"""Whether anything is left under other constraints: the same question, another domain, a rough search."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.arithmetic import ContradictionError
from surefoot.explain.constraints.constraint_set import Allowed, ConstraintSet
from surefoot.explain.diagnose.relaxations import Part, without
from surefoot.problem.answer import Answer
from surefoot.problem.domain import Domain, warped_limit, warped_row
from surefoot.problem.family import Family, MixedRequirement
from surefoot.problem.geometry import Ball
from surefoot.problem.mixed import MixedQuadratic, State
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.question import Question
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified import certified_states, is_robust
from surefoot.status import Status

Array = NDArray[np.float64]

ANY_GAP = 1.0  # where it matters whether there is a point, not how near it is: the first one will do
NEARLY = 0.1  # gap with which ways out are compared
ONE_SEARCH = 1.0  # seconds; a single hard search must not use up the time of all others


class Noise(NamedTuple):
    """What the ball of other constraints needs: a budget, and features, parents before children."""

    budget: float
    order: tuple[int, ...]


class Verdict(NamedTuple):
    """Whether there is a point under some constraints.

    Parameters
    ----------
    distance : float
        Of the point found; infinite without one.
    decided : bool
        Whether a point was found, or it was proved that there is none.
    """

    distance: float
    decided: bool

    @property
    def is_infeasible(self) -> bool:
        """Whether it is certain that there is no point."""
        return self.decided and self.distance == math.inf


NOTHING, UNKNOWN = Verdict(math.inf, True), Verdict(math.inf, False)


class Found(NamedTuple):
    """A counterfactual under some constraints: it is one under all others that allow it.

    Parameters
    ----------
    state : tuple of int
        Of the categories.
    point : array of shape (n,)
        The numbers on the scales of the problem.
    ball : Ball
        Where it is robust.
    distance : float
    """

    state: State
    point: Array
    ball: Ball
    distance: float

    def answers(self, posed: Family, seconds: float) -> bool:
        """Whether it is one of a problem, too."""
        one = _problem_at(posed, self.state)
        if one is None or not one.domain.contains(self.point):
            return False
        same = np.array_equal(one.ball.basis, self.ball.basis)  # balls differ in what lands exactly
        return same or is_robust(one, self.point, seconds)


class FeasibilityOracle:
    """Judges constraints about one question until its time is over.

    Parameters
    ----------
    problem : Family
        Of the question as it was asked.
    question : Question
    constraints : ConstraintSet
        All of them.
    seconds : float
    noise : Noise or None
        Where features that must not change land exactly: other constraints have another ball then.
    """

    def __init__(
        self,
        problem: Family,
        question: Question,
        constraints: ConstraintSet,
        seconds: float,
        noise: Noise | None,
    ) -> None:
        self.problem, self.question, self.constraints, self.noise = problem, question, constraints, noise
        self.end = time.perf_counter() + seconds
        own = constraints.allowed(question.factual, question.state)
        said = {one.name for one in own.eithers} | {limit.name for limit in own.limits}
        self._eithers = tuple(one for one in question.eithers if one.name not in said)
        self._limits = tuple(one for one in question.limits if one.name not in said)
        self._known: dict[frozenset[Part], Verdict] = {}
        self._found: list[Found] = []

    @property
    def seconds_left(self) -> float:
        """Until the time is over."""
        return self.end - time.perf_counter()

    def excludes_itself(self, given_up: Iterable[Part] = ()) -> Verdict:
        """Whether ends and linear rules alone leave nothing; the model is not asked."""
        given_up = tuple(given_up)
        if (
            given_up and self.seconds_left <= 0
        ):  # with hundreds of constraints many questions follow the first
            return UNKNOWN
        try:
            allowed = without(self.constraints, given_up).allowed(self.question.factual, self.question.state)
        except ContradictionError:
            return NOTHING
        except ProblemError:  # a step without ends, for instance
            return UNKNOWN
        return NOTHING if is_empty(allowed.domain, self.problem.metric.unit) else Verdict(0.0, True)

    def verdict(self, given_up: Iterable[Part] = ()) -> Verdict:
        """Whether there is a counterfactual when some constraints are given up; its distance is any.

        One that was found before is one again where it is allowed: most questions are answered so.
        """
        gone = frozenset(given_up)
        if gone not in self._known:
            if self.seconds_left <= 0:  # with hundreds of constraints it takes long even to pose the question
                return UNKNOWN
            self._known[gone] = self._verdict(without(self.constraints, gone), None)
        return self._known[gone]

    def nearest(self, given_up: Iterable[Part]) -> Verdict:
        """The same with the distance of a point that is about the nearest."""
        gone = frozenset(given_up)
        if gone in self._known and self._known[gone].is_infeasible:
            return NOTHING
        if self.seconds_left <= 0:
            return UNKNOWN
        return self._verdict(without(self.constraints, gone), NEARLY)

    def _verdict(self, constraints: ConstraintSet, gap: float | None) -> Verdict:
        """Without a gap any point will do."""
        try:
            allowed = constraints.allowed(self.question.factual, self.question.state)
            ball = self._ball(constraints)
        except ContradictionError:
            return NOTHING
        except ProblemError:
            return UNKNOWN
        posed = self._posed(allowed, ball)
        known = None if gap is not None else self._known_point(posed)
        if known is not None:
            return Verdict(known.distance, True)
        if is_empty(allowed.domain, self.problem.metric.unit):
            return NOTHING
        return self._searched(posed, ANY_GAP if gap is None else gap)

    def _known_point(self, posed: Family) -> Found | None:
        seconds = min(ONE_SEARCH, self.seconds_left)
        return next((one for one in self._found if one.answers(posed, seconds)), None)

    def is_inconsistent(self, given_up: Iterable[Part]) -> bool:
        """Whether it is certain that constraints leave no point at all, whatever the model says of it."""
        constraints, question = without(self.constraints, given_up), self.question
        try:
            allowed = constraints.allowed(question.factual, question.state)
        except ContradictionError:
            return True
        except ProblemError:
            return False
        asked = replace(question, **self._with_background(allowed)._asdict())
        if asked.allows(question.factual, question.state):
            return False
        if is_empty(allowed.domain, self.problem.metric.unit):
            return True
        anything = _anything(self._posed(allowed, self.problem.ball))
        answer = self._answer(anything, ANY_GAP)
        return answer is not None and answer.status is Status.INFEASIBLE

    def _searched(self, posed: Family, gap: float) -> Verdict:
        answer = self._answer(posed, gap)
        if answer is None or answer.point is None:
            return NOTHING if answer is not None and answer.status is Status.INFEASIBLE else UNKNOWN
        if not posed.ball.is_point and answer.radius < posed.ball.radius:
            return UNKNOWN  # time was over before its robustness was proved
        distance = posed.distance(answer.state, answer.point)
        self._found.append(Found(answer.state, answer.point, posed.ball, distance))
        return Verdict(distance, True)

    def _answer(self, posed: Family, gap: float) -> Answer | None:
        """The answer to a problem; None where the time is over."""
        seconds = min(ONE_SEARCH, self.seconds_left)
        if seconds <= 0:
            return None
        answer = certified_states(posed, gap, seconds)
        if answer.status.with_point is Status.INTERRUPTED:
            raise KeyboardInterrupt  # the search took the signal; nothing may be concluded from it
        return answer

    def _posed(self, allowed: Allowed, ball: Ball) -> Family:
        """The same question about what is allowed."""
        problem, warps = self.problem, self.question.warps
        domain, choices, eithers, limits = self._with_background(allowed)
        if warps:
            domain = domain.warped(warps)
            eithers = tuple(one.mapped(lambda row: warped_row(row, warps)) for one in eithers)
            limits = tuple(warped_limit(limit, warps) for limit in limits)
        said = replace(problem, domain=domain, choices=choices, eithers=eithers, limits=limits)
        return replace(said, ball=ball)

    def _with_background(self, allowed: Allowed) -> Allowed:
        """With what the question asks beyond constraints: that an answer differs from others, say."""
        return allowed._replace(
            eithers=(*allowed.eithers, *self._eithers), limits=(*allowed.limits, *self._limits)
        )

    def _ball(self, constraints: ConstraintSet) -> Ball:
        """The ball of the same question under other constraints: what may change need not land exactly."""
        if self.noise is None:
            return self.problem.ball
        metric = self.problem.metric
        return Ball.whitened(
            metric.whitening, metric.norm, self.noise.budget, constraints.kept, self.noise.order
        )


def _problem_at(posed: Family, state: State) -> RobustProblem | None:
    """The problem over the numbers in a state; None where it is not allowed."""
    open_ = all(v in choice.allowed for v, choice in zip(state, posed.choices, strict=True))
    return posed.problem(state) if open_ and posed.allows(state) else None


def is_empty(domain: Domain, unit: Array) -> bool:
    """Whether no point satisfies ends and rows, by more than rounding errors."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if not domain.rows:
        return False
    A, low, high = domain.linear()
    found = milp(
        np.zeros(domain.n_features),
        constraints=LinearConstraint(A * unit, low, high),
        bounds=Bounds(-np.inf, np.inf),
    )
    return bool(found.status == 2)  # infeasible


def _anything(posed: Family) -> Family:
    """The same domain, with nothing asked of its points."""
    n = len(posed.factual)
    holds = Quadratic(np.zeros((n, n)), np.zeros(n), 1.0)

    def given(_: State) -> Quadratic:
        return holds

    nothing = MixedRequirement(MixedQuadratic(given), False)
    return replace(posed, requirements=(nothing,), shares=(), _bases={})
