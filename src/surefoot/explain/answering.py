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
from surefoot.waist.family import Family
from surefoot.waist.problem import RobustProblem
from surefoot.waist.question import Question

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

    problem: RobustProblem | Family
    question: Question
    wishes: Wishes
    method: str
    settings: Settings
    noise: Noise | None = None


def answer(task: Task) -> Answer:
    """Search; where nothing exists, say which wish stands in the way."""
    start = time.perf_counter()
    here = task.problem.problem() if isinstance(task.problem, Family) else task.problem
    if here.margin(here.factual) >= 0 and here.domain.contains(here.factual):
        found = replace(at_factual(here, task.settings.options.time_limit), state=task.question.state)
    else:
        found = search(task.method, task.problem, task.settings)
    seconds = time.perf_counter() - start
    if found.status is Status.INFEASIBLE:
        left = task.settings.options.time_limit - seconds
        found = replace(found, advice=ways_out(task.problem, task.question, task.wishes, left, task.noise))
    return replace(task.question.unwarped(found), seconds=seconds)


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


def failed(status: Status, problem: RobustProblem | Family, advice: str = "") -> Answer:
    """The answer that there is none."""
    here = problem.problem() if isinstance(problem, Family) else problem
    return Answer(status, certificate=certificate(here), advice=advice)


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
