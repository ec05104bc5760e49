"""Explain a table of any size into a file; after a stop, go on from there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from surefoot import __version__
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.ask.target import chosen_target, several_targets
from surefoot.explain.population.columns import Column, result_columns, valid
from surefoot.explain.population.going_on import explained_into, saying_what_is_kept
from surefoot.explain.population.journal import Journal
from surefoot.explain.population.output import Summary, check_places, is_parquet, put_in_place
from surefoot.explain.population.row_job import Job, Row
from surefoot.explain.population.table import ENOUGH
from surefoot.status import Status
from surefoot.table.again import chunk_reader, table_form
from surefoot.table.labelled import feature_table
from surefoot.table.reading import Reading
from surefoot.table.stream import Streamed, streamed

if TYPE_CHECKING:
    from surefoot.explain.explainer import CounterfactualExplainer

RETRIED = {
    "time_limit": Status.TIME_LIMIT,
    "iteration_limit": Status.ITERATION_LIMIT,
    "failed": Status.FAILED,
}
# Arguments of an explainer that are no part of its question, or that have a fingerprint of their own.
ASIDE = ("classifier", "data", "models", "actions", "time_limit")


@dataclass(frozen=True)
class Run:
    """How a table is explained into a file.

    Parameters
    ----------
    explainer : CounterfactualExplainer
    source : Streamed
        The table.
    output : Path
    target : label or None
    id : str, optional
        The column that names the rows.
    n_jobs : int
    chunk : int
        Rows that are read at a time.
    retry : sequence of str
        Of those that are finished, which are asked again.
    certificates : Path, optional
        Where whole explanations go, with their certificates.
    enough : bool
        Whether the table says what else is enough.
    progress : bool
    words : callable
        What the advice is passed through.
    """

    explainer: CounterfactualExplainer
    source: Streamed
    output: Path
    target: Any = None
    id: str | None = None
    n_jobs: int = 1
    chunk: int = 128
    retry: Sequence[str] = ()
    certificates: Path | None = None
    enough: bool = False
    progress: bool = True
    words: Callable[[str], str] = str

    @property
    def columns(self) -> list[Column]:
        """Of the output."""
        return result_columns(self.explainer.classifier, ENOUGH if self.enough else ())

    def about(self) -> dict[str, Any]:
        """What must be the same when a run goes on, by the keys of the manifest."""
        kept = [*self.columns, self.certificates is not None]
        return {
            **fingerprints(self.explainer),
            "target": repr(_plain(self.target)),
            "table": self.source.fingerprint,
            "id": self.id,
            "columns": digest(kept),
            "version": __version__,
        }

    def carried_out(self, resume: bool) -> Summary:
        """Explain what is left, and put the table in its place."""
        is_parquet(self.output)
        check_places(self.source.name, self.output, self.certificates)
        self._check_table()
        with Journal(self.output) as journal:
            about = self.about()
            journal.begin(about, resume)
            schema = self.explainer.classifier.schema_
            whole = [valid(schema.names[j]) for j in schema.numbers if schema.whole[j]]
            computed = self._explained(journal)
            with saying_what_is_kept(journal.folder):
                summary = put_in_place(journal, self.columns, whole, self.certificates, self.words)
            summary.computed = computed
            journal.finish(keep=summary.stopped(Status.TIME_LIMIT) > 0, about=about)
        return summary

    def _check_table(self) -> None:
        """Refuse a table without rows, or without a feature, before anything is written."""
        first = next(self.source.chunks(self.chunk), None)
        if first is None:
            raise DataError(f"{self.source.name}: there are no rows")
        self._features(first.reading)

    def _features(self, reading: Reading) -> pd.DataFrame:
        clf = self.explainer.classifier
        return feature_table(self._read(reading), clf.feature_labels_, label=self.id)

    @cached_property
    def _read(self) -> Callable[[Reading], Reading]:
        return chunk_reader(self.source, self.explainer.classifier)

    def _explained(self, journal: Journal) -> int:
        """Explain the rows that are left; how many there were."""
        from tqdm.auto import tqdm

        job = Job(self.explainer, self.target, self.columns, self.certificates is not None, self.enough)
        again = {RETRIED[name] for name in self.retry}
        with tqdm(total=self.source.rows, desc="explaining", unit="row", disable=not self.progress) as bar:
            computed = explained_into(journal, job, self._rows(), self.n_jobs, bar, again)
            bar.total = bar.n  # lines of a file may be more than its rows
            bar.refresh()
        return computed

    def _rows(self) -> Iterator[Row]:
        """The rows of the table."""
        for start, reading in self.source.chunks(self.chunk):
            table = self._features(reading)
            values = table.to_numpy(dtype=object).tolist()
            for k, (label, row) in enumerate(zip(table.index.tolist(), values, strict=True)):
                yield Row(start + k, label, row)


def fingerprints(explainer: CounterfactualExplainer) -> dict[str, Any]:
    """Digests of the models, of what is asked, and of what may change."""
    given = {k: _plain(v) for k, v in explainer.asker.spec.given.items() if k not in ASIDE}
    others = () if explainer.refits is None else explainer.refits.searched
    return {
        "model": [explainer.classifier.fingerprint_, *(clf.fingerprint_ for clf in others)],
        "question": digest(sorted(given.items())),
        "actions": digest(explainer.actions),
    }


def explain_to(
    explainer: CounterfactualExplainer,
    source: Any,
    output: str | os.PathLike[str],
    id: str | None = None,  # noqa: A002
    resume: bool = True,
    n_jobs: int | None = -1,
    chunk: int = 128,
    *,
    target: Any = None,
    retry: str | Sequence[str] = (),
    certificates: str | os.PathLike[str] | None = None,
    enough: bool = False,
    progress: bool = True,
) -> Summary:
    """Explain a table of any size into a file; stopped at any moment, the same call goes on from there.

    Rows are read in chunks, and each one that is finished is kept on disk, in a folder beside the output
    (``OUTPUT.parts``). Neither a kill nor a full disk loses any of them. The output is put in its place
    when all are there, and the folder is removed; it stays where rows were stopped by time, for
    ``retry``.

    Parameters
    ----------
    source : path or DataFrame
        CSV, also packed by gzip, and Parquet are read in chunks; Excel is read as a whole.
    output : path
        ``.parquet``, or else CSV (``.csv``, ``.csv.gz``); its columns are those of `table_schema`.
    id : str, optional
        The column that names the rows. Default: they are counted from 0.
    resume : bool, default=True
        Whether to go on with a run that was stopped. It is refused, naming what changed, where model,
        question, actions or table are not the same; ``False`` begins again.
    n_jobs : int, default=-1
        Processes; -1 takes all cores.
    chunk : int, default=128
        Rows that are read at a time.
    target : label, optional
        The class that all should have. With two classes it may be left out: the other one.
    retry : str or sequence of str
        ``"time_limit"``, ``"iteration_limit"``, ``"failed"``: rows that ended so are asked again. The
        time limit may be another one.
    certificates : path, optional
        Write all explanations, with their certificates, as JSON lines (``.jsonl`` or ``.jsonl.gz``):
        what `surefoot verify` reads.
    enough : bool, default=False
        Add columns that say what else is enough.
    progress : bool, default=True
        Show a progress bar on stderr.

    Returns
    -------
    Summary
        How many rows ended with each status.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    >>> explainer = CounterfactualExplainer(clf)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     output = f"{folder}/changes.csv"
    ...     print(explainer.explain_to(bank.X.head(3), output, n_jobs=1, target=1, progress=False))
    ...     print(len(pd.read_csv(output)))
    3 explanations: 3 optimal
    3
    """
    run = run_of(
        explainer,
        source,
        output,
        id=id,
        n_jobs=n_jobs,
        chunk=chunk,
        target=target,
        retry=retry,
        certificates=certificates,
        enough=enough,
        progress=progress,
    )
    return run.carried_out(resume)


def run_of(
    explainer: CounterfactualExplainer,
    source: Any,
    output: str | os.PathLike[str],
    *,
    n_jobs: int | None,
    chunk: int,
    target: Any,
    retry: str | Sequence[str],
    certificates: str | os.PathLike[str] | None,
    **more: Any,
) -> Run:
    """A run with its arguments checked; see `explain_to`, and for ``more`` `Run`."""
    from joblib import effective_n_jobs

    for name, value in (("n_jobs", n_jobs), ("chunk", chunk)):
        if (value is None and name == "chunk") or value == 0 or not isinstance(value, Integral | None):
            raise ProblemError(f"{name} must be an integer other than 0, not {value!r}")
    if chunk < 1:
        raise ProblemError(f"chunk must be at least 1, not {chunk!r}")
    clf = explainer.classifier
    wanted = explainer.asker.wanted(target)
    for one in several_targets(wanted, clf.classes_.tolist()):
        chosen_target(one, clf.classes_.tolist(), 0)
    again = (retry,) if isinstance(retry, str) else tuple(retry)
    unknown = [name for name in again if name not in RETRIED]
    if unknown:
        raise ProblemError(f"retry: {unknown[0]!r} is none of {', '.join(RETRIED)}")
    return Run(
        explainer,
        source if isinstance(source, Streamed) else streamed(source, table_form(clf, more["id"])),
        Path(output),
        target=wanted,
        n_jobs=effective_n_jobs(n_jobs),
        chunk=chunk,
        retry=again,
        certificates=None if certificates is None else Path(certificates),
        **more,
    )


def _plain(value: Any) -> Any:
    """A value whose ``repr`` shows all of it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, pd.DataFrame):
        return [list(value.columns), value.to_numpy().tolist()]
    return value.tolist() if isinstance(value, np.ndarray) else value


def digest(value: Any) -> str:
    """A short fingerprint of what a value's ``repr`` shows."""
    return sha256(repr(value).encode("utf-8", "backslashreplace")).hexdigest()[:16]
