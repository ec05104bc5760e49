"""Why nothing was found: which wish stands in the way."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from surefoot.exceptions import ProblemError
from surefoot.explain.wishes import Wishes
from surefoot.search.certified import certified_search
from surefoot.status import Status
from surefoot.waist.geometry import Ball
from surefoot.waist.problem import RobustProblem

ENOUGH = 3  # ways out that are named
ROUGH_GAP = 0.5  # whether there is a point at all matters here, not how near it is
PATIENCE = 3.0  # seconds for all questions together


class Noise(NamedTuple):
    """What the ball of other wishes needs: a budget, and features, parents before children."""

    budget: float
    order: tuple[int, ...]


def ways_out(problem: RobustProblem, wishes: Wishes, time_limit: float, noise: Noise | None = None) -> str:
    """Say which wish, given up, would let a counterfactual exist; "" where that is not known."""
    end = time.perf_counter() + min(PATIENCE, time_limit)
    for relaxations in (wishes.one_relaxed(), wishes.kinds_relaxed(), wishes.all_relaxed()):
        ways = (phrase for phrase, relaxed in relaxations if _has_point(problem, relaxed, end, noise))
        found = list(islice(ways, ENOUGH))
        if found:
            return f"There is one if {', or if '.join(found)}."
    return ""


def _has_point(problem: RobustProblem, wishes: Wishes, end: float, noise: Noise | None) -> bool:
    seconds = end - time.perf_counter()
    if seconds <= 0:
        return False
    try:
        relaxed = replace(problem, domain=wishes.domain(problem.factual), ball=_ball(problem, wishes, noise))
    except ProblemError:  # what is left contradicts itself all the same
        return False
    answer = certified_search(relaxed, ROUGH_GAP, seconds)
    if answer.status.with_point is Status.INTERRUPTED:
        raise KeyboardInterrupt  # the search took the signal; nothing may be concluded from it
    return answer.point is not None


def _ball(problem: RobustProblem, wishes: Wishes, noise: Noise | None) -> Ball:
    """The ball of the same question under other wishes: what may change need not land exactly."""
    if noise is None:
        return problem.ball
    return Ball.whitened(problem.whitening, problem.norm, noise.budget, wishes.kept, noise.order)
