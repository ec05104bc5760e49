"""Whether anything is left under other wishes: the same question with another domain, searched roughly."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.explain.giving_up import Part, without
from surefoot.explain.rules import ContradictionError
from surefoot.explain.wishes import Allowed, Wishes
from surefoot.search.certified import certified_search, certified_states
from surefoot.status import Status
from surefoot.waist.answer import Answer
from surefoot.waist.domain import Domain, warped_limit, warped_row
from surefoot.waist.family import Family, MixedRequirement
from surefoot.waist.geometry import Ball
from surefoot.waist.mixed import MixedQuadratic, State
from surefoot.waist.problem import Requirement, RobustProblem
from surefoot.waist.quadratic import Quadratic
from surefoot.waist.question import Question

Array = NDArray[np.float64]

ROUGH_GAP = 0.5  # whether there is a point at all matters, not how near it is
ONE_SEARCH = 1.0  # seconds; a single hard search must not use up the time of all others


class Noise(NamedTuple):
    """What the ball of other wishes needs: a budget, and features, parents before children."""

    budget: float
    order: tuple[int, ...]


class Verdict(NamedTuple):
    """Whether there is a point under some wishes.

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


class Judge:
    """Judges wishes about one question until its time is over.

    Parameters
    ----------
    problem : RobustProblem or Family
        Of the question as it was asked.
    question : Question
    wishes : Wishes
        All of them.
    seconds : float
    noise : Noise or None
        Where features that must not change land exactly: other wishes have another ball then.
    """

    def __init__(
        self,
        problem: RobustProblem | Family,
        question: Question,
        wishes: Wishes,
        seconds: float,
        noise: Noise | None,
    ) -> None:
        self.problem, self.question, self.wishes, self.noise = problem, question, wishes, noise
        self.end = time.perf_counter() + seconds
        said = {rule.name for rule in wishes.when}
        self._background = tuple(one for one in question.eithers if one.name not in said)
        self._known: dict[tuple[frozenset[Part], float], Verdict] = {}

    @property
    def seconds_left(self) -> float:
        """Until the time is over."""
        return self.end - time.perf_counter()

    def excludes_itself(self, given_up: Iterable[Part] = ()) -> Verdict:
        """Whether ends and linear rules alone leave nothing; the model is not asked."""
        try:
            allowed = without(self.wishes, given_up).allowed(self.question.factual, self.question.state)
        except ContradictionError:
            return NOTHING
        except ProblemError:  # a step without ends, for instance
            return UNKNOWN
        return NOTHING if is_empty(allowed.domain, self.problem.metric.unit) else Verdict(0.0, True)

    def verdict(self, given_up: Iterable[Part] = (), gap: float = ROUGH_GAP) -> Verdict:
        """Whether there is a counterfactual when some wishes are given up."""
        gone = frozenset(given_up)
        if (gone, gap) not in self._known:
            self._known[gone, gap] = self._verdict(without(self.wishes, gone), gap)
        return self._known[gone, gap]

    def _verdict(self, wishes: Wishes, gap: float) -> Verdict:
        try:
            allowed = wishes.allowed(self.question.factual, self.question.state)
            ball = self._ball(wishes)
        except ContradictionError:
            return NOTHING
        except ProblemError:
            return UNKNOWN
        if is_empty(allowed.domain, self.problem.metric.unit):
            return NOTHING
        return self._searched(self._posed(allowed, ball), gap)

    def is_inconsistent(self, given_up: Iterable[Part]) -> bool:
        """Whether it is certain that wishes leave no point at all, whatever the model says of it."""
        wishes, question = without(self.wishes, given_up), self.question
        try:
            allowed = wishes.allowed(question.factual, question.state)
        except ContradictionError:
            return True
        except ProblemError:
            return False
        asked = replace(question, **self._with_background(allowed)._asdict())
        if asked.allows(question.factual, question.state):
            return False
        if is_empty(allowed.domain, self.problem.metric.unit):
            return True
        return self._searched(_anything(self._posed(allowed, self.problem.ball)), ROUGH_GAP).is_infeasible

    def _searched(self, posed: RobustProblem | Family, gap: float) -> Verdict:
        seconds = min(ONE_SEARCH, self.seconds_left)
        if seconds <= 0:
            return UNKNOWN
        if isinstance(posed, Family):
            answer = certified_states(posed, gap, seconds)
        else:
            answer = certified_search(posed, gap, seconds)
        return self._judged(posed, answer)

    def _judged(self, posed: RobustProblem | Family, answer: Answer) -> Verdict:
        if answer.status.with_point is Status.INTERRUPTED:
            raise KeyboardInterrupt  # the search took the signal; nothing may be concluded from it
        if answer.point is None:
            return NOTHING if answer.status is Status.INFEASIBLE else UNKNOWN
        if isinstance(posed, Family):
            return Verdict(posed.distance(answer.state, answer.point), True)
        return Verdict(posed.distance(answer.point), True)

    def _posed(self, allowed: Allowed, ball: Ball) -> RobustProblem | Family:
        """The same question about what is allowed."""
        problem, warps = self.problem, self.question.warps
        domain, choices, eithers, limits = self._with_background(allowed)
        if warps:
            domain = domain.warped(warps)
            eithers = tuple(one.mapped(lambda row: warped_row(row, warps)) for one in eithers)
            limits = tuple(warped_limit(limit, warps) for limit in limits)
        if isinstance(problem, Family):
            said = replace(problem, domain=domain, choices=choices, eithers=eithers, limits=limits)
            return replace(said, ball=ball)
        return replace(problem, domain=replace(domain, eithers=eithers, limits=limits), ball=ball)

    def _with_background(self, allowed: Allowed) -> Allowed:
        """With what the question asks beyond the wishes: that an answer differs from others, for instance."""
        return allowed._replace(eithers=(*allowed.eithers, *self._background))

    def _ball(self, wishes: Wishes) -> Ball:
        """The ball of the same question under other wishes: what may change need not land exactly."""
        if self.noise is None:
            return self.problem.ball
        metric = self.problem.metric
        return Ball.whitened(metric.whitening, metric.norm, self.noise.budget, wishes.kept, self.noise.order)


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


def _anything(posed: RobustProblem | Family) -> RobustProblem | Family:
    """The same domain, with nothing asked of its points."""
    n = len(posed.factual)
    holds = Quadratic(np.zeros((n, n)), np.zeros(n), 1.0)

    def given(_: State) -> Quadratic:
        return holds

    if isinstance(posed, Family):
        return replace(posed, requirements=(MixedRequirement(MixedQuadratic(given), False),), _bases={})
    return replace(posed, requirements=(Requirement(holds, robust=False),))
