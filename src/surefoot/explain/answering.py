"""Questions answered, one or thousands: what crosses to another process or machine is the waist alone."""

from __future__ import annotations

import time
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from surefoot.exceptions import SurefootError
from surefoot.explain.diagnosis import ways_out
from surefoot.explain.methods import Found, Settings, at_factual, search
from surefoot.status import Status
from surefoot.waist.problem import Constraints, RobustProblem

# What may go wrong with one row and must not take the others along.
FAULTS = (SurefootError, ArithmeticError, ValueError, RuntimeError, MemoryError)


@dataclass(frozen=True, eq=False)
class Question:
    """One problem, what it came from, and how it is to be solved."""

    problem: RobustProblem
    constraints: Constraints
    method: str
    settings: Settings


def answer(question: Question) -> Found:
    """Search; where nothing exists, say which constraint stands in the way."""
    start = time.perf_counter()
    problem = question.problem
    if problem.margin(problem.factual) >= 0 and problem.domain.contains(problem.factual):
        found = at_factual(problem, question.settings.options.time_limit)
    else:
        found = search(question.method, problem, question.settings)
    seconds = time.perf_counter() - start
    if found.status is Status.INFEASIBLE:
        left = question.settings.options.time_limit - seconds
        found = replace(found, message=ways_out(problem, question.constraints, left))
    return replace(found, seconds=seconds)


@contextmanager
def answers(
    questions: Iterable[tuple[int, Question]], n_jobs: int | None
) -> Iterator[Iterator[tuple[int, Found]]]:
    """Answers as they come, each with the number of its question, by whatever joblib is set up to use.

    On leaving, the questions that are still open are given up.
    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    streams = get_active_backend()[0].supports_return_generator
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered" if streams else "list")
    found = parallel(delayed(_attempt)(number, question) for number, question in questions)
    try:
        yield iter(found)
    finally:
        if streams:
            _close_quietly(found)


def failed(status: Status, message: str) -> Found:
    """The answer that there is none."""
    return Found(status, None, 0.0, None, 0.0, message=message)


def _close_quietly(found: Generator[Any, None, None]) -> None:
    """Whoever leaves early knows that some answers will not be used; joblib need not warn of it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*tasks ", category=UserWarning)
        found.close()


def _attempt(number: int, question: Question) -> tuple[int, Found]:
    try:
        return number, answer(question)
    except FAULTS as error:
        return number, failed(Status.FAILED, f"{type(error).__name__}: {error}")
