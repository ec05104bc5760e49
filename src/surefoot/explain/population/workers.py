"""Rows explained in this process or in others; a process that is lost loses no finished row."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from surefoot.explain.answer.executor import end_with
from surefoot.explain.population.columns import Column, fitting
from surefoot.explain.population.table import line
from surefoot.explain.result.batch import principal_features
from surefoot.explain.rows import explain_rows
from surefoot.formats import escaped
from surefoot.status import Status

if TYPE_CHECKING:
    from surefoot.explain.explainer import CounterfactualExplainer

# Rows that wait for each process. Ten times larger, and more of them are asked again after a kill; one
# alone, and processes wait for the next row.
WAITING = 3
# How often a row may take its process along before it is given up. Ten times larger, and a row that needs
# more memory than there is holds up all others for that long.
LOSSES = 2
LOST = "worker_lost"


class Row(NamedTuple):
    """A row that is to be explained: its number in the table, its name, the values of its features."""

    number: int
    label: Any
    cells: list[Any]


class Done(NamedTuple):
    """A row that is explained.

    Its line of the table, its proof if that is wanted; and one by one what the line has in one cell: what
    stands in the way, and the features of the principal reasons.
    """

    number: int
    cells: list[Any]
    line: list[Any]
    proof: bytes | None
    interrupted: bool = False
    blamed: tuple[str, ...] = ()
    principal: tuple[Any, ...] = ()


class Job(NamedTuple):
    """What is done with each row.

    Parameters
    ----------
    explainer : CounterfactualExplainer
    target : label or None
    columns : sequence of Column
    proofs : bool
        Whether the whole explanation is kept too, with its certificate.
    enough : bool
        Whether to say what else is enough.
    """

    explainer: CounterfactualExplainer
    target: Any
    columns: Sequence[Column]
    proofs: bool = False
    enough: bool = False

    def done(self, row: Row) -> Done:
        """Explain one row; errors are stated in its line."""
        names = list(self.explainer.classifier.feature_labels_)
        index = pd.Index([row.label], dtype=object)
        frame = pd.DataFrame([row.cells], index, names, dtype=object)
        wanted = [self.target] if isinstance(self.target, list) else self.target
        e = explain_rows(self.explainer, frame, wanted, brief=True)[0]
        stopped = e.status.with_point is Status.INTERRUPTED
        if self.enough and e.answer.point is not None and not stopped:
            e.enough()
        proof = None
        if self.proofs:
            text = json.dumps(e.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            proof = gzip.compress(escaped(text).encode("utf-8") + b"\n", mtime=0)
        why = e.conflict, principal_features(e)
        return Done(row.number, row.cells, line(e, self.columns), proof, stopped, *why)

    def given_up(self, row: Row) -> Done:
        """The line of a row whose processes were lost."""
        known = {
            "row": row.label,
            "status": str(Status.FAILED),
            "reason": LOST,
            "target": None if isinstance(self.target, list) else self.target,
            "message": Status.FAILED.sentence,
            "advice": f"The process that worked on it was lost {LOSSES} times, perhaps for want of memory.",
            "conflict": "",
            "cautions": "",
            "reasons": "",
        }
        values = [known.get(about.name) for about in self.columns[: -2 * len(row.cells)]]
        values += [*row.cells, *[None] * len(row.cells)]
        pairs = zip(values, self.columns, strict=True)
        found = [fitting(value, about.kind) for value, about in pairs]
        return Done(row.number, row.cells, found, None)


def finished(job: Job, rows: Iterable[Row], n_jobs: int) -> Iterator[Done]:
    """Rows as they are finished, in whatever order; nothing outlives the generator."""
    if n_jobs == 1:
        yield from _finished_here(job, rows)
        return
    pool = _Pool(job, n_jobs)
    try:
        yield from pool.finished(iter(rows))
    except BaseException:
        pool.close(kill=True)
        raise
    pool.close()


def _finished_here(job: Job, rows: Iterable[Row]) -> Iterator[Done]:
    """Rows explained by this process; a row that was interrupted is not finished."""
    for row in rows:
        with _noticed_interrupt() as interrupted:
            done = job.done(row)
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


class _Pool:
    """Processes that explain rows; made anew where one of them is lost."""

    def __init__(self, job: Job, n_jobs: int) -> None:
        self.job, self.n_jobs, self.payload = job, n_jobs, pickle.dumps(job)
        self.executor = self._new()
        self.running: dict[Any, Row] = {}
        self.suspects: deque[Row] = deque()  # rows that ran while a process was lost: asked one at a time
        self.losses: dict[int, int] = {}

    def finished(self, rows: Iterator[Row]) -> Iterator[Done]:
        """What comes back, and what was given up."""
        from joblib.externals.loky import FIRST_COMPLETED, wait

        more = True
        while more or self.running or self.suspects:
            more = self._fill(rows) if more or self.suspects else False
            ready = wait(self.running, return_when=FIRST_COMPLETED).done if self.running else set()
            lost = []
            for future in ready:
                row = self.running.pop(future)
                try:
                    yield future.result()
                except _broken():
                    lost.append(row)
            if lost:
                yield from self._recovered(lost)

    def _fill(self, rows: Iterator[Row]) -> bool:
        """Hand out rows; whether there may be more."""
        if self.suspects:
            if not self.running:
                self._submit(self.suspects.popleft())
            return True
        while len(self.running) < WAITING * self.n_jobs:
            row = next(rows, None)
            if row is None:
                return False
            self._submit(row)
        return True

    def _submit(self, row: Row) -> None:
        try:
            self.running[self.executor.submit(_done, row)] = row
        except _broken():
            self.suspects.append(row)
            self._renew()

    def _recovered(self, lost: list[Row]) -> Iterator[Done]:
        """Begin again with new processes; a row that was alone when its process was lost is to blame."""
        alone = len(lost) == 1 and not self.running
        for future, row in self.running.items():
            if future.done() and future.exception() is None:
                yield future.result()
            else:
                self.suspects.append(row)
        for row in lost:
            self.losses[row.number] = self.losses.get(row.number, 0) + alone
            if self.losses[row.number] >= LOSSES:
                yield self.job.given_up(row)
            else:
                self.suspects.append(row)
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
        self.executor.shutdown(wait=True, kill_workers=kill)


def _broken() -> type[BaseException]:
    from joblib.externals.loky import BrokenProcessPool

    found: type[BaseException] = BrokenProcessPool
    return found


_JOB: list[Job] = []  # what this process does, where it is one of the pool's


def _begin(payload: bytes, parent: int) -> None:
    """Set up a process of the pool: it ignores interrupts, which its parent handles."""
    from tqdm import tqdm

    tqdm.set_lock(threading.RLock())  # its own is shared by processes, and left behind by one that is killed
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)
    _JOB[:] = [pickle.loads(payload)]


def _done(row: Row) -> Done:
    return _JOB[0].done(row)
