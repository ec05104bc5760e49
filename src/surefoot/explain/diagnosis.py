"""Why nothing was found: which wish stands in the way."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from surefoot.exceptions import ProblemError
from surefoot.explain.wishes import Wishes
from surefoot.search.certified import certified_search, certified_states
from surefoot.status import Status
from surefoot.waist.family import Family
from surefoot.waist.geometry import Ball
from surefoot.waist.problem import RobustProblem
from surefoot.waist.question import Question

ENOUGH = 3  # ways out that are named
ROUGH_GAP = 0.5  # whether there is a point at all matters here, not how near it is
PATIENCE = 3.0  # seconds for all questions together


class Noise(NamedTuple):
    """What the ball of other wishes needs: a budget, and features, parents before children."""

    budget: float
    order: tuple[int, ...]


def ways_out(
    problem: RobustProblem | Family,
    question: Question,
    wishes: Wishes,
    time_limit: float,
    noise: Noise | None = None,
) -> str:
    """Say which wish, given up, would let a counterfactual exist; "" where that is not known."""
    end = time.perf_counter() + min(PATIENCE, time_limit)
    for relaxations in (wishes.one_relaxed(), wishes.kinds_relaxed(), wishes.all_relaxed()):
        ways = (
            phrase for phrase, relaxed in relaxations if _has_point(problem, question, relaxed, end, noise)
        )
        found = list(islice(ways, ENOUGH))
        if found:
            return f"There is one if {', or if '.join(found)}."
    return ""


def _has_point(
    problem: RobustProblem | Family, question: Question, wishes: Wishes, end: float, noise: Noise | None
) -> bool:
    seconds = end - time.perf_counter()
    if seconds <= 0:
        return False
    try:
        domain, ball = wishes.domain(question.factual), _ball(problem, wishes, noise)
    except ProblemError:  # what is left contradicts itself all the same
        return False
    domain = domain.warped(question.warps) if question.warps else domain
    if isinstance(problem, Family):
        choices = wishes.choices(question.state)
        family = replace(problem, domain=domain, ball=ball, choices=choices, _bases=problem._bases)
        answer = certified_states(family, ROUGH_GAP, seconds)
    else:
        answer = certified_search(replace(problem, domain=domain, ball=ball), ROUGH_GAP, seconds)
    if answer.status.with_point is Status.INTERRUPTED:
        raise KeyboardInterrupt  # the search took the signal; nothing may be concluded from it
    return answer.point is not None


def _ball(problem: RobustProblem | Family, wishes: Wishes, noise: Noise | None) -> Ball:
    """The ball of the same question under other wishes: what may change need not land exactly."""
    if noise is None:
        return problem.ball
    metric = problem.metric
    return Ball.whitened(metric.whitening, metric.norm, noise.budget, wishes.kept, noise.order)
