"""Problems answered, one or thousands: what crosses to another process or machine is a problem alone."""

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import SurefootError
from surefoot.explain.answer.methods import Settings, at_factual, search
from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.explain.diagnose.conflict import Noise, diagnosed
from surefoot.explain.diagnose.feasibility_oracle import is_empty
from surefoot.explain.diagnose.largest_share import largest_share
from surefoot.formats import one_line, sentence
from surefoot.problem.answer import Answer
from surefoot.problem.family import Family
from surefoot.problem.question import Question
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified import certificate
from surefoot.status import Status

Array = NDArray[np.float64]

LOG = logging.getLogger("surefoot")
LOG.addHandler(logging.NullHandler())  # tracebacks are for those who ask for the log


@dataclass(frozen=True, eq=False)
class Task:
    """One problem, the wishes it came from, and how it is to be solved.

    Parameters
    ----------
    problem : RobustProblem
    wishes : ConstraintSet
    method : str
    settings : Settings
    noise : Noise or None
        Where features that must not change land exactly: lifting such a wish changes the ball too. None
        where the ball does not depend on the wishes.
    percentiles : array or None
        Of the target's own log densities, where answers must be typical of it.
    """

    problem: RobustProblem | Family
    question: Question
    wishes: ConstraintSet
    method: str
    settings: Settings
    noise: Noise | None = None
    percentiles: Array | None = None

    def within(self, seconds: float) -> Task:
        """The same task with so many seconds for all of it."""
        options = replace(self.settings.options, time_limit=max(seconds, 0.0))
        return replace(self, settings=replace(self.settings, options=options))


def answer(task: Task) -> Answer:
    """Search; where nothing exists, say which wishes stand in the way. All of it within the time limit."""
    start = time.perf_counter()
    here = _today(task.problem)
    question = task.question
    if question.allows(question.factual, question.state) and here.margin(here.factual) >= 0:
        found = _already_there(task, here)
    else:
        found = search(task.method, task.problem, task.settings)
    if _is_hopeless(found, here):
        left = task.settings.options.time_limit - (time.perf_counter() - start)
        conflict, advice = _why_none(task, left)
        found = replace(found, advice=advice, conflict=conflict)
    return replace(question.unwarped(found), seconds=time.perf_counter() - start)


def attempt(task: Task) -> Answer:
    """The answer, or that the search failed where something happened that nobody expected."""
    try:
        return answer(task)
    except SurefootError:
        raise
    except Exception as error:  # of numpy or a solver: a defect of ours, which a user cannot mend
        return failed(Status.FAILED, task.problem, unforeseen(error))


def unforeseen(error: Exception) -> str:
    """What to say of an error that nobody expected; where it came from is in the log."""
    LOG.error("unexpected error", exc_info=error)
    kind = type(error).__name__
    return f"An unexpected {kind} ({one_line(str(error))}) stopped it. Please report it, with the log."


def _why_none(task: Task, seconds: float) -> tuple[tuple[str, ...], str]:
    """The wishes that exclude each other, and what would have to be given up."""
    if task.percentiles is not None:
        reachable = largest_share(task.problem, task.question, task.percentiles, seconds)
        if reachable is not None:
            return ("plausible",), reachable.words()
    return diagnosed(task.problem, task.question, task.wishes, seconds, task.noise)


def _already_there(task: Task, here: RobustProblem) -> Answer:
    """Nothing needs to change; or, where a small error undoes it, the least change that makes it safe."""
    found = replace(at_factual(here, task.settings.options.time_limit), state=task.question.state)
    if found.worst is None or here.violation(here.factual, found.worst)[0] <= 0:
        return found
    safe = search(task.method, task.problem, task.settings)
    return found if safe.point is None else safe


def _today(problem: RobustProblem | Family) -> RobustProblem:
    """The problem in the factual's state, which if-then rules and limits need not allow."""
    return problem.problem(domain=problem.domain) if isinstance(problem, Family) else problem


def _is_hopeless(found: Answer, here: RobustProblem) -> bool:
    """Whether there is nothing: proved, or since the rules themselves exclude each other."""
    if found.status is Status.UNDECIDED:
        return is_empty(here.domain, here.unit)
    return found.status is Status.INFEASIBLE


@contextmanager
def answers(tasks: Iterable[tuple[int, Task]], n_jobs: int | None) -> Iterator[Iterator[tuple[int, Answer]]]:
    """Answers as they come, each with the number of its task, by whatever joblib is set up to use.

    On leaving, the tasks that are still open are given up.
    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    backend = get_active_backend()[0]
    streams = backend.supports_return_generator
    # Other processes are children of this one only where joblib starts them its own way.
    parent = os.getpid() if type(backend).__name__ == "LokyBackend" else None
    begun = (
        {}
        if parent is None or not _takes_more(Parallel)
        else {"initializer": _end_with, "initargs": (parent,)}
    )
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered" if streams else "list", **begun)
    found = parallel(delayed(_numbered)(number, task, parent) for number, task in tasks)
    try:
        yield iter(found)
    finally:
        if streams:
            _close_quietly(found)


def _takes_more(parallel: type) -> bool:
    """Whether this joblib hands on what a process has to do first; older ones do not."""
    return any(p.kind is p.VAR_KEYWORD for p in signature(parallel).parameters.values())


def failed(status: Status, problem: RobustProblem | Family, advice: str = "") -> Answer:
    """The answer that there is none."""
    return Answer(status, certificate=certificate(_today(problem)), advice=advice)


def _close_quietly(found: Generator[Any, None, None]) -> None:
    """Whoever leaves early knows that some answers will not be used; joblib need not warn of it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*tasks ", category=UserWarning)
        found.close()


def _numbered(number: int, task: Task, parent: int | None = None) -> tuple[int, Answer]:
    """An answer with its number; a request that cannot be met must not take the other rows along."""
    if parent is not None and parent != os.getpid():
        _end_with(parent)
    try:
        return number, attempt(task)
    except SurefootError as error:
        return number, failed(Status.FAILED, task.problem, sentence(str(error)))


# Seconds between looks. Ten times larger, and processes outlive by seconds the one that they work for.
BETWEEN_LOOKS = 0.5


@cache
def _end_with(parent: int) -> None:
    """End this process when the one that it works for is gone, however that ended: nobody else would."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(BETWEEN_LOOKS)
    os._exit(1)
