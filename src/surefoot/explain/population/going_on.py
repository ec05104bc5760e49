"""Rows explained into a journal: what is finished there is not asked again."""

from __future__ import annotations

import errno
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot.explain.population.journal import SEGMENT, Journal
from surefoot.explain.population.pool import finished
from surefoot.explain.population.row_job import Job, Row
from surefoot.explain.population.twins import Twins
from surefoot.status import Status


def explained_into(
    journal: Journal, job: Job, rows: Iterable[Row], n_jobs: int, bar: Any, again: Collection[Status] = ()
) -> int:
    """Explain the rows that are left; how many there were.

    Parameters
    ----------
    journal : Journal
    job : Job
    rows : iterable of Row
        All of them, in order.
    n_jobs : int
    bar : tqdm
        Moves on with each row.
    again : collection of Status
        Finished rows that ended so are asked once more.
    """
    with saying_what_is_kept(journal.folder):
        computed, twins = 0, Twins([column.name for column in job.columns])
        left = _open_rows(journal, job, rows, bar, again)
        if not job.proofs:  # which name their row
            left = _without_twins(left, twins, journal, bar)
        for done in finished(job, left, n_jobs):
            twins.learn(done.cells, done.line)
            journal.add(done.number, done.line, done.proof)
            computed += 1
            bar.update()
        journal.sync()
    return computed + twins.found


def _open_rows(
    journal: Journal, job: Job, rows: Iterable[Row], bar: Any, again: Collection[Status]
) -> Iterator[Row]:
    """The rows that are not finished."""
    known, at = set[int](), -1
    for row in rows:
        if row.number // SEGMENT != at:
            at = row.number // SEGMENT
            known = _finished(journal, job, at, again)
        if row.number in known:
            bar.update()
        else:
            yield row


def _finished(journal: Journal, job: Job, segment: int, again: Collection[Status]) -> set[int]:
    """The rows of a segment that need not be asked again."""
    names = [column.name for column in job.columns]
    status, coverage = names.index("status"), names.index("coverage")
    records = [one for one in journal.records(segment).values() if len(one.line) == len(names)]
    known = [one for one in records if one.line[status] in set(Status) and journal.is_whole(one)]
    ends = {one.number: _ends(one.line[status], one.line[coverage]) for one in known}
    return {number for number, there in ends.items() if not there & set(again)}


def _ends(status: str, coverage: float | None) -> set[Status]:
    """How a row ended; one that has the target, but not safely, may have had no time for more."""
    unsafe = status == Status.ALREADY_TARGET and coverage is not None and coverage < 1
    return {Status(status).with_point, *([Status.TIME_LIMIT] if unsafe else [])}


def _without_twins(rows: Iterator[Row], twins: Twins, journal: Journal, bar: Any) -> Iterator[Row]:
    """The rows whose answer is not known from a row with the same values."""
    for row in rows:
        line = twins.line(row)
        if line is None:
            yield row
        else:
            journal.add(row.number, line)
            bar.update()


@contextmanager
def saying_what_is_kept(folder: Path) -> Iterator[None]:
    """An error of the disk, which may be full, says that nothing is lost."""
    try:
        yield
    except OSError as error:
        kept = f"{error.strerror or error}; finished rows are kept, and the same command goes on"
        raise OSError(error.errno or errno.EIO, kept, error.filename or str(folder)) from None
