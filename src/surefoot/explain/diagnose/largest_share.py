"""Where no answer is as typical as asked: the largest share that one can reach, proved from both sides."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.family import Family
from surefoot.problem.question import DensityFloor, Question
from surefoot.search.certified import certified_states
from surefoot.status import Status

Array = NDArray[np.float64]

CLOSE, CLOSE_RATIO = 0.005, 0.01  # shares as near as both say are not told apart,
FINEST = 0.0005  # nor nearer ones
# Whether there is a point at all matters here, not how near it is: so a rough gap first. But points step
# inside by a share of the gap, and near the largest share there is little room: then a fine one.
GAPS = {0.5: 0.5, 0.001: 2.0}  # each with its seconds
PATIENCE = 10.0  # seconds for all questions together
BESIDE = (0.5, 0.25, 0.75)  # where the middle cannot be told, what lies beside it often can


@dataclass(frozen=True)
class Reachable:
    """The largest share that can be reached.

    Parameters
    ----------
    share : float
        Some answer is as typical as this share of the target's training rows.
    beyond : float
        And none as this one: proved.
    """

    share: float
    beyond: float

    def words(self) -> str:
        """As a sentence, which stays true when its digits are cut: one share is rounded down, one up."""
        share, beyond = (
            Context(prec=3, rounding=way).create_decimal_from_float(value)
            for value, way in ((self.share, ROUND_FLOOR), (self.beyond, ROUND_CEILING))
        )
        proved = f": with plausible={float(beyond):g} it is proved that there is none."
        if not _is_close(self.share, self.beyond):
            said = f"The largest share that can be reached is at least {float(share):g}"
            return f"{said}, as far as was found in the time{proved}"
        return f"The largest share that can be reached is about {float(share):g}{proved}"


def largest_share(
    problem: Family, question: Question, percentiles: Array, time_limit: float
) -> Reachable | None:
    """The largest share for which there is an answer; None where the floor is not what stands in the way.

    Parameters
    ----------
    problem : Family
        Of the question.
    question : Question
        Proved to be without an answer; with a floor on the density.
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
    while not _is_close(low, high):
        for part in BESIDE:
            between = low + part * (high - low)
            floor = float(np.interp(100 * between, np.arange(101.0), percentiles))
            found = _exists(problem, r, floor - asked.floor, end)
            if found is not None:
                break
        else:
            break
        low, high = (between, high) if found else (low, between)
    return Reachable(low, high)


def _is_close(low: float, high: float) -> bool:
    """Whether two shares need not be told apart any further."""
    return high - low <= max(min(CLOSE, CLOSE_RATIO * high), FINEST)


def _exists(problem: Family, r: int, raised: float, end: float) -> bool | None:
    """Whether there is an answer with the floor raised by so much; None where time is up."""
    higher = _with_higher_floor(problem, r, raised)
    for gap, seconds in GAPS.items():
        left = min(seconds, end - time.perf_counter())
        if left <= 0:
            return None
        found = certified_states(higher, gap, left)
        if found.status.with_point is Status.INTERRUPTED:
            raise KeyboardInterrupt  # the search took the signal; nothing may be concluded from it
        if found.point is not None or found.status is Status.INFEASIBLE:
            return found.point is not None
    return None


def _with_higher_floor(problem: Family, r: int, raised: float) -> Family:
    """The problem with the floor of requirement r raised."""
    mixed = list(problem.requirements)
    mixed[r] = replace(mixed[r], margin=mixed[r].margin.shifted(-raised))
    return replace(problem, requirements=tuple(mixed), _bases={})
