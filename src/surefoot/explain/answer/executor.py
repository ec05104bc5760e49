"""Answers to one problem or thousands; only problems are sent to other processes or machines."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import SurefootError
from surefoot.explain.answer.printable import SPARE, in_decimals
from surefoot.explain.answer.search import GRACE, at_factual, search
from surefoot.explain.ask.methods import SMALLEST_GAP
from surefoot.explain.ask.task import Task
from surefoot.formats import sentence
from surefoot.problem.answer import Answer
from surefoot.problem.family import Family
from surefoot.search.certified import certificate
from surefoot.status import Status
from surefoot.unforeseen import unforeseen

Array = NDArray[np.float64]


def answer_to(task: Task) -> Answer:
    """Search; the point comes in the features' own units."""
    start = time.perf_counter()
    question, problem = task.question, task.problem
    found = question.unwarped(_already_there(task) if task.is_there else _found(task))
    if task.printable:
        left = task.settings.options.time_limit - (time.perf_counter() - start)
        found = in_decimals(question, problem, found, max(left, GRACE))
    seconds = time.perf_counter() - start
    return replace(found, seconds=seconds, search_seconds=seconds)


def _found(task: Task) -> Answer:
    """Run the method; with a narrower gap where rounding needs a part of it."""
    settings = task.settings
    if task.printable:
        gap = max((1 - SPARE) * settings.options.gap, SMALLEST_GAP)
        settings = replace(settings, options=replace(settings.options, gap=gap))
    return search(task.method, task.problem, settings)


def _already_there(task: Task) -> Answer:
    """Nothing needs to change; or, where a small error undoes it, the least change that makes it safe."""
    here = task.problem.here
    found = replace(at_factual(here, task.settings.options.time_limit), state=task.question.state)
    if found.worst is None or here.violation(here.factual, found.worst)[0] <= 0:
        return found
    safe = _found(task)
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
    except Exception as error:
        return failed(Status.FAILED, work.task.problem, unforeseen(error))


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
