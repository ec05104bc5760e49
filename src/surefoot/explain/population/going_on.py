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
    width, status = len(job.columns), [column.name for column in job.columns].index("status")
    records = [one for one in journal.records(segment).values() if len(one.line) == width]
    known = [one for one in records if one.line[status] in set(Status) and journal.is_whole(one)]
    return {one.number for one in known if Status(one.line[status]).with_point not in again}


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
