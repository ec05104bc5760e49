"""Where no answer is as typical as asked: the largest share that one can reach, proved from both sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.diagnose.bisection import NONE, answered, narrowed
from surefoot.problem.family import Family
from surefoot.problem.question import Question
from surefoot.problem.requirements import DensityFloor
from surefoot.search.certified.clock import Clock

Array = NDArray[np.float64]

# Two shares are close enough if they differ by less than CLOSE and by less than CLOSE_RATIO of the larger
# one, or by less than FINEST. Ten times smaller, and the searches take all of their time.
CLOSE, CLOSE_RATIO, FINEST = 0.005, 0.01, 0.0005
PATIENCE = 10.0  # seconds for all questions together


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
    clock = Clock(min(PATIENCE, time_limit))
    share = float(np.interp(asked.floor, percentiles, np.arange(101.0))) / 100

    def reaches(between: float) -> float | None:
        floor = float(np.interp(100 * between, np.arange(101.0), percentiles))
        found = answered(_with_higher_floor(problem, r, floor - asked.floor), clock)
        return None if found is None else between if found.point is not None else NONE

    if reaches(0.0) != 0.0:
        return None
    return Reachable(*narrowed(0.0, share, reaches, _is_close))


def _is_close(low: float, high: float) -> bool:
    """Whether two shares are close enough."""
    return high - low <= max(min(CLOSE, CLOSE_RATIO * high), FINEST)


def _with_higher_floor(problem: Family, r: int, raised: float) -> Family:
    """The problem with the floor of requirement r raised."""
    mixed = list(problem.requirements)
    mixed[r] = replace(mixed[r], margin=mixed[r].margin.shifted(-raised))
    return replace(problem, requirements=tuple(mixed), _bases={})
