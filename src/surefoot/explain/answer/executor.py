"""Answers to one problem or thousands; only problems are sent to other processes or machines."""

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from inspect import signature
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import SurefootError
from surefoot.explain.answer.methods import GRACE, SMALLEST_GAP, Settings, at_factual, search
from surefoot.explain.answer.printable import SPARE, in_decimals
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
    """One problem, and how it is to be solved.

    Parameters
    ----------
    problem : Family
    question : Question
    method : str
    settings : Settings
    printable : bool, default=False
        Whether the point goes to short decimals, within the gap that was asked for.
    """

    problem: Family
    question: Question
    method: str
    settings: Settings
    printable: bool = False

    def within(self, seconds: float) -> Task:
        """The same task with so many seconds for all of it."""
        return replace(self, settings=self.settings.within(seconds))

    def answer(self) -> Answer:
        """Search; the point comes in the features' own units."""
        start = time.perf_counter()
        question = self.question
        found = self._already_there(self.problem.here) if self.is_there else self._search()
        found = question.unwarped(found)
        if self.printable:
            left = self.settings.options.time_limit - (time.perf_counter() - start)
            found = in_decimals(question, self.problem, found, max(left, GRACE))
        seconds = time.perf_counter() - start
        return replace(found, seconds=seconds, search_seconds=seconds)

    @property
    def is_there(self) -> bool:
        """Whether the unchanged row is allowed and has the target, leaving errors aside."""
        here, question = self.problem.here, self.question
        return here.margin(here.factual) >= 0 and question.allows(question.factual, question.state)

    def _search(self) -> Answer:
        """Run the method; with a narrower gap where rounding needs a part of it."""
        if not self.printable:
            return search(self.method, self.problem, self.settings)
        options = self.settings.options
        narrow = replace(options, gap=max((1 - SPARE) * options.gap, SMALLEST_GAP))
        return search(self.method, self.problem, replace(self.settings, options=narrow))

    def _already_there(self, here: RobustProblem) -> Answer:
        """Nothing needs to change; or, where a small error undoes it, the least change that makes it safe."""
        found = replace(at_factual(here, self.settings.options.time_limit), state=self.question.state)
        if found.worst is None or here.violation(here.factual, found.worst)[0] <= 0:
            return found
        safe = self._search()
        return found if safe.point is None else safe


class Work(Protocol):
    """What the executor carries out, here or in another process."""

    @property
    def task(self) -> Task:
        """The task in it."""

    def answer(self) -> Answer:
        """The answer to it."""


def attempt(work: Work) -> Answer:
    """The answer; after an unexpected error, an answer that says that the search failed."""
    try:
        return work.answer()
    except SurefootError:
        raise
    except Exception as error:  # of numpy or a solver: a defect of ours, which a user cannot mend
        return failed(Status.FAILED, work.task.problem, unforeseen(error))


def unforeseen(error: Exception) -> str:
    """The message about an unexpected error; its traceback goes to the log."""
    LOG.error("unexpected error", exc_info=error)
    kind = type(error).__name__
    return f"An unexpected {kind} ({one_line(str(error))}) stopped it. Please report it, with the log."


@contextmanager
def answers(work: Iterable[tuple[int, Work]], n_jobs: int | None) -> Iterator[Iterator[tuple[int, Answer]]]:
    """Answers as they come, each with its number, by whatever joblib is set up to use.

    Leaving the context cancels what is still open.
    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    backend = get_active_backend()[0]
    streams = backend.supports_return_generator
    # Other processes are children of this one only where joblib starts them its own way.
    parent = os.getpid() if type(backend).__name__ == "LokyBackend" else None
    begun: dict[str, Any] = {}
    if parent is not None and _takes_more(Parallel):
        begun = {"initializer": end_with, "initargs": (parent,)}
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered" if streams else "list", **begun)
    found = parallel(delayed(_numbered)(number, one, parent) for number, one in work)
    try:
        yield iter(found)
    finally:
        if streams:
            with warnings.catch_warnings():  # leaving early is deliberate: no warning is needed
                warnings.filterwarnings("ignore", message=".*tasks ", category=UserWarning)
                found.close()


def _takes_more(parallel: type) -> bool:
    """Whether this joblib passes on initializers of processes; older versions do not."""
    return any(p.kind is p.VAR_KEYWORD for p in signature(parallel).parameters.values())


def failed(status: Status, problem: Family, advice: str = "") -> Answer:
    """An answer without a point."""
    return Answer(status, certificate=certificate(problem.here), advice=advice)


def _numbered(number: int, work: Work, parent: int | None = None) -> tuple[int, Answer]:
    """An answer with its number; an error in one request must not stop the others."""
    if parent is not None and parent != os.getpid():
        end_with(parent)
    try:
        return number, attempt(work)
    except SurefootError as error:
        return number, failed(Status.FAILED, work.task.problem, sentence(str(error)))


# Seconds between checks. Ten times larger, and processes outlive their parent by seconds.
BETWEEN_LOOKS = 0.5


@cache
def end_with(parent: int) -> None:
    """End this process once its parent is gone, however the parent ended."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(BETWEEN_LOOKS)
    os._exit(1)
