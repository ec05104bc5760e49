"""Where no answer is as typical as asked: the largest share that one can reach, proved from both sides."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified import certified_search, certified_states
from surefoot.status import Status
from surefoot.waist.family import Family
from surefoot.waist.problem import RobustProblem
from surefoot.waist.question import DensityFloor, Question

Array = NDArray[np.float64]

CLOSE = 0.005  # shares nearer than this are not told apart
ROUGH_GAP = 0.5  # whether there is a point at all matters here, not how near it is
PATIENCE = 10.0  # seconds for all questions together


@dataclass(frozen=True)
class Reachable:
    """The largest share that can be reached.

    Parameters
    ----------
    share : float
        Some answer is as typical as this share of the target's training rows.
    beyond : float
        And none as this one: proved. Not a number where time ran out.
    """

    share: float
    beyond: float

    def words(self) -> str:
        """As a sentence."""
        said = f"The largest share that can be reached is about {self.share:.3g}"
        if np.isnan(self.beyond):
            return f"{said}, as far as was found in the time."
        return f"{said}: with plausible={self.beyond:.3g} it is proved that there is none."


def largest_share(
    problem: RobustProblem | Family, question: Question, percentiles: Array, time_limit: float
) -> Reachable | None:
    """The largest share for which there is an answer; None where the floor is not what stands in the way.

    Parameters
    ----------
    problem : RobustProblem or Family
        Of the question.
    question : Question
        Without an answer; with a floor on the density.
    percentiles : array of shape (101,)
        Of the log density that the target gives to its own training rows.
    time_limit : float
        Seconds.
    """
    r = next((i for i, asked in enumerate(question.requirements) if isinstance(asked, DensityFloor)), None)
    if r is None:
        return None
    asked = question.requirements[r]
    assert isinstance(asked, DensityFloor)
    end = time.perf_counter() + min(PATIENCE, time_limit)
    share = float(np.interp(asked.floor, percentiles, np.arange(101.0))) / 100
    low, high = 0.0, share
    if not _exists(problem, r, float(percentiles[0]) - asked.floor, end):
        return None
    while high - low > CLOSE:
        middle = 0.5 * (low + high)
        floor = float(np.interp(100 * middle, np.arange(101.0), percentiles))
        found = _exists(problem, r, floor - asked.floor, end)
        if found is None:
            return Reachable(low, np.nan)
        low, high = (middle, high) if found else (low, middle)
    return Reachable(low, high)


def _exists(problem: RobustProblem | Family, r: int, raised: float, end: float) -> bool | None:
    """Whether there is an answer with the floor raised by so much; None where time is up."""
    left = end - time.perf_counter()
    if left <= 0:
        return None
    if isinstance(problem, Family):
        mixed = list(problem.requirements)
        mixed[r] = replace(mixed[r], margin=mixed[r].margin.shifted(-raised))
        found = certified_states(replace(problem, requirements=tuple(mixed), _bases={}), ROUGH_GAP, left)
    else:
        plain = list(problem.requirements)
        plain[r] = replace(plain[r], margin=plain[r].margin + -raised)
        found = certified_search(replace(problem, requirements=tuple(plain)), ROUGH_GAP, left)
    if found.status.with_point is Status.INTERRUPTED:
        raise KeyboardInterrupt  # the search took the signal; nothing may be concluded from it
    if found.point is None and found.status is not Status.INFEASIBLE:
        return None
    return found.point is not None
