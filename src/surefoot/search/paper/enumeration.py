"""The paper's methods know no categories: they are run for one state after the other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product

from surefoot.exceptions import ProblemError
from surefoot.status import Status
from surefoot.waist.answer import Answer
from surefoot.waist.family import Family
from surefoot.waist.mixed import State
from surefoot.waist.problem import RobustProblem

MOST_STATES = 1000  # more would take a solver hours

Run = Callable[[RobustProblem, float], Answer]


def each_state(family: Family, run: Run, time_limit: float) -> Answer:
    """The best answer over all states, the cheapest states first.

    Parameters
    ----------
    family : Family
    run : callable
        Solves the problem of one state within so many seconds.
    time_limit : float
        Seconds for all of them.
    """
    end = time.perf_counter() + time_limit
    best, distance, bound = None, math.inf, math.inf
    status = Status.INFEASIBLE
    for state in states_by_price(family):
        price = family.price(state)
        if price >= distance:
            break
        left = end - time.perf_counter()
        found = run(family.problem(state), left) if left > 0 else Answer(Status.TIME_LIMIT_NO_POINT)
        bound = min(bound, price + found.lower_bound)
        if found.point is not None and family.distance(state, found.point) < distance:
            best, distance = replace(found, state=state), family.distance(state, found.point)
        if found.status not in (Status.OPTIMAL, Status.INFEASIBLE):
            status = found.status.with_point
        if found.status.with_point is Status.INTERRUPTED or left <= 0:
            break
    if best is None:
        return Answer(status.without_point, lower_bound=bound)
    ended = best.status if status is Status.INFEASIBLE else status
    return replace(best, status=ended, lower_bound=min(bound, distance))


def states_by_price(family: Family) -> list[State]:
    """All states that may be taken, the cheapest first; refused where they are too many."""
    number = math.prod(len(choice.allowed) for choice in family.choices)
    if number > MOST_STATES:
        raise ProblemError(
            f"the paper's methods try every combination of categories, and here are {number:,}; "
            "use method='certified', or let fewer categories change"
        )
    return sorted(product(*(choice.allowed for choice in family.choices)), key=family.price)
