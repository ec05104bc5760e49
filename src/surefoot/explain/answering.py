"""Problems answered, one or thousands: what crosses to another process or machine is the waist alone."""

from __future__ import annotations

import time
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from surefoot.exceptions import SurefootError
from surefoot.explain.diagnosis import Noise, ways_out
from surefoot.explain.methods import Settings, at_factual, search
from surefoot.explain.wishes import Wishes
from surefoot.search.certified import certificate
from surefoot.status import Status
from surefoot.waist.answer import Answer
from surefoot.waist.problem import RobustProblem

# What may go wrong with one row and must not take the others along.
FAULTS = (SurefootError, ArithmeticError, ValueError, RuntimeError, MemoryError)


@dataclass(frozen=True, eq=False)
class Task:
    """One problem, the wishes it came from, and how it is to be solved.

    Parameters
    ----------
    problem : RobustProblem
    wishes : Wishes
    method : str
    settings : Settings
    noise : Noise or None
        Where features that must not change land exactly: lifting such a wish changes the ball too. None
        where the ball does not depend on the wishes.
    """

    problem: RobustProblem
    wishes: Wishes
    method: str
    settings: Settings
    noise: Noise | None = None


def answer(task: Task) -> Answer:
    """Search; where nothing exists, say which wish stands in the way."""
    start = time.perf_counter()
    problem = task.problem
    if problem.margin(problem.factual) >= 0 and problem.domain.contains(problem.factual):
        found = at_factual(problem, task.settings.options.time_limit)
    else:
        found = search(task.method, problem, task.settings)
    seconds = time.perf_counter() - start
    if found.status is Status.INFEASIBLE:
        left = task.settings.options.time_limit - seconds
        found = replace(found, advice=ways_out(problem, task.wishes, left, task.noise))
    return replace(found, seconds=seconds)


@contextmanager
def answers(tasks: Iterable[tuple[int, Task]], n_jobs: int | None) -> Iterator[Iterator[tuple[int, Answer]]]:
    """Answers as they come, each with the number of its task, by whatever joblib is set up to use.

    On leaving, the tasks that are still open are given up.
    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    streams = get_active_backend()[0].supports_return_generator
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered" if streams else "list")
    found = parallel(delayed(_attempt)(number, task) for number, task in tasks)
    try:
        yield iter(found)
    finally:
        if streams:
            _close_quietly(found)


def failed(status: Status, problem: RobustProblem, advice: str = "") -> Answer:
    """The answer that there is none."""
    return Answer(status, certificate=certificate(problem), advice=advice)


def _close_quietly(found: Generator[Any, None, None]) -> None:
    """Whoever leaves early knows that some answers will not be used; joblib need not warn of it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*tasks ", category=UserWarning)
        found.close()


def _attempt(number: int, task: Task) -> tuple[int, Answer]:
    try:
        return number, answer(task)
    except FAULTS as error:
        return number, failed(Status.FAILED, task.problem, f"{type(error).__name__}: {error}")
