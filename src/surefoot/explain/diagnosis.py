"""Why nothing was found: which constraint stands in the way."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import islice

from surefoot.exceptions import ProblemError
from surefoot.search.certified import certified_search
from surefoot.status import Status
from surefoot.waist.problem import Constraints, RobustProblem

ENOUGH = 3  # ways out that are named
ROUGH_GAP = 0.5  # whether there is a point at all matters here, not how near it is
PATIENCE = 3.0  # seconds for all questions together


def ways_out(problem: RobustProblem, constraints: Constraints, time_limit: float) -> str:
    """Say which constraint, given up, would let a counterfactual exist; "" where that is not known."""
    end = time.perf_counter() + min(PATIENCE, time_limit)
    for relaxations in (constraints.one_relaxed(), constraints.kinds_relaxed(), constraints.all_relaxed()):
        ways = (phrase for phrase, relaxed in relaxations if _has_point(problem, relaxed, end))
        found = list(islice(ways, ENOUGH))
        if found:
            return f"there is one if {', or if '.join(found)}"
    return ""


def _has_point(problem: RobustProblem, constraints: Constraints, end: float) -> bool:
    seconds = end - time.perf_counter()
    if seconds <= 0:
        return False
    try:
        relaxed = replace(problem, domain=constraints.domain(problem.factual))
    except ProblemError:  # what is left contradicts itself all the same
        return False
    answer = certified_search(relaxed, ROUGH_GAP, seconds)
    if answer.status.with_point is Status.INTERRUPTED:
        raise KeyboardInterrupt  # the search took the signal; nothing may be concluded from it
    return answer.point is not None
