"""The paper's methods know no categories, if-then rules or limits: they are run for each case by itself."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, product

from surefoot.exceptions import ProblemError
from surefoot.problem.answer import Answer
from surefoot.problem.family import Family
from surefoot.problem.mixed import State
from surefoot.problem.narrowing import narrowed
from surefoot.problem.robust_problem import RobustProblem
from surefoot.status import Status

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


def each_way(problem: RobustProblem, run: Run, time_limit: float) -> Answer:
    """The best answer over all combinations of ways of the disjunctions and of features that limits keep.

    Parameters
    ----------
    problem : RobustProblem
    run : callable
        Solves a problem without disjunctions and limits within so many seconds.
    time_limit : float
        Seconds for all of them.
    """
    if not problem.domain.eithers and not problem.domain.limits:
        return run(problem, time_limit)
    end = time.perf_counter() + time_limit
    best, stopped, bound = Answer(Status.INFEASIBLE), None, math.inf
    for case in _combinations(problem):
        left = end - time.perf_counter()
        found = run(case, left) if left > 0 else Answer(Status.TIME_LIMIT_NO_POINT)
        if found.status is not Status.INFEASIBLE:
            bound = min(bound, found.lower_bound)
        if found.status not in (Status.OPTIMAL, Status.INFEASIBLE):
            stopped = found.status.with_point
        if best.point is None or (found.point is not None and _nearer(problem, found, best)):
            best = found
        if found.status.with_point is Status.INTERRUPTED or left <= 0:
            break
    if best.point is None:
        status = Status.INFEASIBLE if stopped is None else stopped.without_point
        return replace(best, status=status, lower_bound=bound)
    return replace(best, status=stopped or best.status, lower_bound=min(bound, problem.distance(best.point)))


def _nearer(problem: RobustProblem, found: Answer, best: Answer) -> bool:
    assert found.point is not None
    assert best.point is not None
    return problem.distance(found.point) < problem.distance(best.point)


def _combinations(problem: RobustProblem) -> Iterator[RobustProblem]:
    """The problem with one way of each either and the features that limits keep; refused if too many."""
    eithers, limits = problem.domain.eithers, problem.domain.limits
    many = [len(limit.numbers) - limit.count for limit in limits]
    number = math.prod(len(either.ways) for either in eithers)
    number *= math.prod(math.comb(len(limit.numbers), m) for limit, m in zip(limits, many, strict=True))
    if number > MOST_STATES:
        raise ProblemError(
            "the paper's methods try every way to keep limits and if-then rules, and here are "
            f"{number:,}; use method='certified'"
        )
    taken = product(*(range(len(either.ways)) for either in eithers))
    kept = product(*(combinations(limit.numbers, m) for limit, m in zip(limits, many, strict=True)))
    for ways, groups in product(taken, kept):
        features = {j for group in groups for j in group}
        domain = narrowed(problem.domain, problem.factual, dict(enumerate(ways)), features)
        if domain is not None:
            yield replace(problem, domain=replace(domain, eithers=(), limits=()))


def states_by_price(family: Family) -> list[State]:
    """All states that are allowed, the cheapest first; refused where they are too many."""
    number = math.prod(len(choice.allowed) for choice in family.choices)
    if number > MOST_STATES:
        raise ProblemError(
            f"the paper's methods try every combination of categories, and here are {number:,}; "
            "use method='certified', or let fewer categories change"
        )
    states = product(*(choice.allowed for choice in family.choices))
    return sorted(filter(family.allows, states), key=family.price)
