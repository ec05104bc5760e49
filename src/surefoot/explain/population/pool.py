"""Work done in this process or in others; a process that is lost loses nothing that was finished."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Generic, Protocol, TypeVar

from surefoot.explain.answer.executor import end_with

# Items that wait for each process. Ten times larger, and more of them are asked again after a kill; one
# alone, and processes wait for the next item.
WAITING = 3
# How often an item may take its process along before it is given up. Ten times larger, and one that needs
# more memory than there is holds up all others for that long.
LOSSES = 2
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows knows only the second, and ends at once


class Numbered(Protocol):
    """Something to be worked on, told apart by its number."""

    @property
    def number(self) -> int:
        """Its number."""


class Result(Protocol):
    """What comes of an item."""

    @property
    def interrupted(self) -> bool:
        """Whether an interrupt cut it short."""


Item_contra = TypeVar("Item_contra", bound=Numbered, contravariant=True)
Item = TypeVar("Item", bound=Numbered)
Result_co = TypeVar("Result_co", bound=Result, covariant=True)
Found = TypeVar("Found", bound=Result)


class Job(Protocol[Item_contra, Result_co]):
    """What is done with each item; it can be pickled."""

    def done(self, item: Item_contra, /) -> Result_co:
        """Do it."""

    def given_up(self, item: Item_contra, /) -> Result_co:
        """What to say of an item whose processes were lost."""


def finished(job: Job[Item, Found], items: Iterable[Item], n_jobs: int) -> Iterator[Found]:
    """Results as they are finished, in whatever order; nothing outlives the generator."""
    if n_jobs == 1:
        yield from _finished_here(job, items)
        return
    pool: _Pool[Item, Found] = _Pool(job, n_jobs)
    try:
        yield from pool.finished(iter(items))
    except BaseException:
        pool.close(kill=True)
        raise
    pool.close()


def _finished_here(job: Job[Item, Found], items: Iterable[Item]) -> Iterator[Found]:
    """What this process does; an item that was interrupted is not finished."""
    for item in items:
        with _noticed_interrupt() as interrupted:
            done = job.done(item)
        if done.interrupted or interrupted:  # searches and batches take the signal, and return what they have
            raise KeyboardInterrupt
        yield done


@contextmanager
def _noticed_interrupt() -> Iterator[list[int]]:
    """A list with an entry for each interrupt, including those that a search caught."""
    noticed: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield noticed
        return

    def notice(number: int, frame: Any) -> None:
        noticed.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, notice)
    try:
        yield noticed
    finally:
        signal.signal(signal.SIGINT, before)


class _Pool(Generic[Item, Found]):
    """Processes that do the job; made anew where one of them is lost."""

    def __init__(self, job: Job[Item, Found], n_jobs: int) -> None:
        self.job, self.n_jobs, self.payload = job, n_jobs, pickle.dumps(job)
        self.executor = self._new()
        self.running: dict[Any, Item] = {}
        self.suspects: deque[Item] = deque()  # items that ran while a process was lost: asked one at a time
        self.losses: dict[int, int] = {}

    def finished(self, items: Iterator[Item]) -> Iterator[Found]:
        """What comes back, and what was given up."""
        from joblib.externals.loky import FIRST_COMPLETED, wait

        more = True
        while more or self.running or self.suspects:
            more = self._fill(items) if more or self.suspects else False
            ready = wait(self.running, return_when=FIRST_COMPLETED).done if self.running else set()
            lost = []
            for future in ready:
                item = self.running.pop(future)
                try:
                    yield future.result()
                except _broken():
                    lost.append(item)
            if lost:
                yield from self._recovered(lost)

    def _fill(self, items: Iterator[Item]) -> bool:
        """Hand out items; whether there may be more."""
        if self.suspects:
            if not self.running:
                self._submit(self.suspects.popleft())
            return True
        while len(self.running) < WAITING * self.n_jobs:
            item = next(items, None)
            if item is None:
                return False
            self._submit(item)
        return True

    def _submit(self, item: Item) -> None:
        try:
            self.running[self.executor.submit(_done, item)] = item
        except _broken():
            self.suspects.append(item)
            self._renew()

    def _recovered(self, lost: list[Item]) -> Iterator[Found]:
        """Begin again with new processes; an item that was alone when its process was lost is to blame."""
        alone = len(lost) == 1 and not self.running
        for future, item in self.running.items():
            if future.done() and future.exception() is None:
                yield future.result()
            else:
                self.suspects.append(item)
        for item in lost:
            self.losses[item.number] = self.losses.get(item.number, 0) + alone
            if self.losses[item.number] >= LOSSES:
                yield self.job.given_up(item)
            else:
                self.suspects.append(item)
        self._renew()

    def _renew(self) -> None:
        self.running.clear()
        self.close(kill=True)
        self.executor = self._new()

    def _new(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        begun = {"initializer": _begin, "initargs": (self.payload, os.getpid())}
        return ProcessPoolExecutor(self.n_jobs, timeout=None, env=one, **begun)

    def close(self, kill: bool = False) -> None:
        """End all processes, at once or when they have nothing to do."""
        if kill:
            # The executor's own kill_workers forgets what waits and then looks it up: its thread ends in a
            # KeyError, and its semaphores stay. Processes that are gone it handles well.
            for number in list(self.executor._processes):
                with suppress(ProcessLookupError):
                    os.kill(number, KILL)
        self.executor.shutdown(wait=True)


def _broken() -> type[BaseException]:
    from joblib.externals.loky import BrokenProcessPool

    found: type[BaseException] = BrokenProcessPool
    return found


_JOB: list[Job[Any, Any]] = []  # what this process does, where it is one of the pool's


def _begin(payload: bytes, parent: int) -> None:
    """Set up a process of the pool: it ignores interrupts, which its parent handles."""
    from tqdm import tqdm

    tqdm.set_lock(threading.RLock())  # its own is shared by processes, and left behind by one that is killed
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)
    _JOB[:] = [pickle.loads(payload)]


def _done(item: Any) -> Any:
    return _JOB[0].done(item)
