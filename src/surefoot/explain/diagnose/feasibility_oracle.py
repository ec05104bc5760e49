"""The feasibility oracle: whether anything is left under other constraints.

It poses the same question with another domain, and searches roughly.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from copy import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.explain.ask.asked import Noise
from surefoot.explain.constraints.arithmetic import ContradictionError
from surefoot.explain.constraints.constraint_set import Allowed, ConstraintSet
from surefoot.explain.diagnose.relaxations import Relaxation, without
from surefoot.problem.answer import Answer
from surefoot.problem.domain import Domain, warped_together
from surefoot.problem.family import Family, MixedRequirement
from surefoot.problem.geometry import Ball
from surefoot.problem.mixed import MixedQuadratic, State
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.question import Question
from surefoot.search.certified import certified_states, is_robust, refuted_at_once
from surefoot.search.certified.clock import Clock
from surefoot.status import Status

Array = NDArray[np.float64]

ANY_GAP = 1.0  # where it matters whether there is a point, not how near it is: the first one will do
NEARLY = 0.1  # gap with which ways out are compared
ONE_SEARCH = 1.0  # seconds; a single hard search must not use up the time of all others


class Verdict(NamedTuple):
    """Whether there is a point under some constraints."""

    distance: float  # of the point found; infinite without one
    decided: bool  # whether a point was found, or it was proved that there is none

    @property
    def is_infeasible(self) -> bool:
        """Whether it is certain that there is no point."""
        return self.decided and self.distance == math.inf


NOTHING, UNKNOWN = Verdict(math.inf, True), Verdict(math.inf, False)


class Found(NamedTuple):
    """A counterfactual under some constraints: it is one under all others that allow it."""

    state: State
    point: Array  # the numbers on the scales of the problem
    ball: Ball  # the errors that it withstands
    distance: float

    def answers(self, posed: Family, seconds: float) -> bool:
        """Whether it is a counterfactual of another problem, too."""
        state = zip(self.state, posed.choices, strict=True)
        if not all(v in choice.allowed for v, choice in state) or not posed.allows(self.state):
            return False
        problem = posed.problem(self.state)
        if not problem.domain.contains(self.point):
            return False
        same = np.array_equal(problem.ball.basis, self.ball.basis)  # balls differ in what lands exactly
        return same or is_robust(problem, self.point, seconds)


class FeasibilityOracle:
    """Says whether constraints of one question leave an answer, until its time is over.

    With noise, features that must not change land exactly: other constraints have another ball then.
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
        self._clock = Clock(seconds)
        own = constraints.allowed(question.factual, question.state)
        said = {one.name for one in own.eithers} | {one.name for one in own.limits}
        # What the question asks beyond constraints: that an answer differs from others, for instance.
        self._eithers = tuple(one for one in question.eithers if one.name not in said)
        self._limits = tuple(one for one in question.limits if one.name not in said)
        self._known: dict[frozenset[Relaxation], Verdict] = {}
        self._found: list[Found] = []

    def under(self, constraints: ConstraintSet) -> FeasibilityOracle:
        """An oracle for the same question under other constraints, in the time that is left.

        What the question asks beyond constraints stays: other ones may be such that it cannot be told apart.
        """
        other = copy(self)
        other.constraints, other._known, other._found = constraints, {}, []
        return other

    @property
    def seconds_left(self) -> float:
        """Seconds that are left."""
        return self._clock.left

    def excludes_itself(self, given_up: Collection[Relaxation] = ()) -> Verdict:
        """Whether ends and linear rules alone leave nothing; the model is not asked."""
        if given_up and self.seconds_left <= 0:  # with hundreds of constraints many questions follow
            return UNKNOWN
        allowed = self._allowed(without(self.constraints, given_up))
        if isinstance(allowed, Verdict):
            return allowed
        return NOTHING if self._is_empty(allowed) else Verdict(0.0, True)

    def verdict(self, given_up: Iterable[Relaxation] = ()) -> Verdict:
        """Whether there is a counterfactual when some constraints are given up, at whatever distance.

        One that was found before is tried first: it answers most questions.
        """
        gone = frozenset(given_up)
        if gone not in self._known:
            if self.seconds_left <= 0:  # with hundreds of constraints it takes long even to pose the question
                return UNKNOWN
            self._known[gone] = self._verdict(without(self.constraints, gone), None)
        return self._known[gone]

    def nearest(self, given_up: Iterable[Relaxation]) -> Verdict:
        """The same, with the distance of a point that is nearly the nearest."""
        gone = frozenset(given_up)
        if self._known.get(gone, UNKNOWN).is_infeasible:
            return NOTHING
        if self.seconds_left <= 0:
            return UNKNOWN
        return self._verdict(without(self.constraints, gone), NEARLY)

    def is_inconsistent(self, given_up: Iterable[Relaxation]) -> bool:
        """Whether it is certain that constraints leave no point at all, whatever the model says of it."""
        question = self.question
        allowed = self._allowed(without(self.constraints, given_up))
        if isinstance(allowed, Verdict):
            return allowed.is_infeasible
        if replace(question, **allowed._asdict()).allows(question.factual, question.state):
            return False
        if self._is_empty(allowed):
            return True
        answer = self._answer(_anything(self._posed(allowed, self.problem.ball)), ANY_GAP)
        return answer is not None and answer.status is Status.INFEASIBLE

    def _verdict(self, constraints: ConstraintSet, gap: float | None) -> Verdict:
        """Without a gap any point will do."""
        allowed = self._allowed(constraints)
        if isinstance(allowed, Verdict):
            return allowed
        posed = self._posed(allowed, self._ball(constraints))
        if gap is None:
            seconds = min(ONE_SEARCH, self.seconds_left)
            known = next((one for one in self._found if one.answers(posed, seconds)), None)
            if known is not None:
                return Verdict(known.distance, True)
        if self._is_empty(allowed) or refuted_at_once(posed, min(ONE_SEARCH, self.seconds_left)):
            return NOTHING
        answer = self._answer(posed, ANY_GAP if gap is None else gap)
        if answer is None or answer.point is None:
            return NOTHING if answer is not None and answer.status is Status.INFEASIBLE else UNKNOWN
        if not posed.ball.is_point and answer.radius < posed.ball.radius:
            return UNKNOWN  # time was over before its robustness was proved
        distance = posed.distance(answer.state, answer.point)
        self._found.append(Found(answer.state, answer.point, posed.ball, distance))
        return Verdict(distance, True)

    def _allowed(self, constraints: ConstraintSet) -> Allowed | Verdict:
        """What constraints allow, with all else that is asked; a verdict where this cannot be said."""
        try:
            found = constraints.allowed(self.question.factual, self.question.state)
        except ContradictionError:
            return NOTHING
        except ProblemError:  # a step without ends, for instance
            return UNKNOWN
        return found._replace(eithers=(*found.eithers, *self._eithers), limits=(*found.limits, *self._limits))

    def _is_empty(self, allowed: Allowed) -> bool:
        return is_empty(allowed.domain, self.problem.metric.unit)

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
        domain, choices, eithers, limits = allowed
        if warps := self.question.warps:
            domain = domain.warped(warps)
            eithers, limits = warped_together(eithers, limits, warps)
        return replace(
            self.problem, ball=ball, domain=domain, choices=choices, eithers=eithers, limits=limits
        )

    def _ball(self, constraints: ConstraintSet) -> Ball:
        """The ball of the same question under other constraints: what may change need not land exactly."""
        if self.noise is None:
            return self.problem.ball
        metric, noise = self.problem.metric, self.noise
        return Ball.whitened(metric.whitening, metric.norm, noise.budget, constraints.kept, noise.order)


def is_empty(domain: Domain, unit: Array) -> bool:
    """Whether no point satisfies ends and rows, by more than rounding errors."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if not domain.rows:
        return False
    A, low, high = domain.linear()
    rows, free = LinearConstraint(A * unit, low, high), Bounds(-np.inf, np.inf)
    found = milp(np.zeros(domain.n_features), constraints=rows, bounds=free)
    return bool(found.status == 2)  # infeasible


def _anything(posed: Family) -> Family:
    """The same domain, with nothing asked of its points."""
    n = len(posed.factual)
    holds = Quadratic(np.zeros((n, n)), np.zeros(n), 1.0)

    def given(_: State) -> Quadratic:
        return holds

    nothing = MixedRequirement(MixedQuadratic(given), False)
    return replace(posed, requirements=(nothing,), shares=(), _bases={})
