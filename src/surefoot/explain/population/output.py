"""The finished table of a run, CSV or Parquet: put together segment by segment, put in place at once."""

from __future__ import annotations

import errno
import gzip
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from surefoot.exceptions import MissingDependencyError, ProblemError
from surefoot.explain.ask.row import FILLS
from surefoot.explain.population.columns import NUMBER, PREFIXES, Column, arrow_schema, as_frame
from surefoot.explain.population.journal import Journal, journal_folder
from surefoot.files import CHUNK, write_parts
from surefoot.status import Status
from surefoot.table.writing import csv_text

SHOWN = 5  # rows without a counterfactual that a summary names
Write = Callable[[pd.DataFrame], None]


@dataclass
class Summary:
    """How a run ended.

    Parameters
    ----------
    output : Path
    rows : int
        In the table.
    counts : dict
        How many ended with each status.
    reasons : dict
        How many have no counterfactual, by reason.
    computed : int
        How many were computed by this call; the others were finished before.
    cautions : int
        How many have one.
    lost : list of (row, sentences)
        The first rows without a counterfactual.
    holes : int
        How many have none because of missing values.
    """

    output: Path
    rows: int = 0
    counts: dict[str, int] = field(default_factory=Counter)
    reasons: dict[str, int] = field(default_factory=Counter)
    computed: int = 0
    cautions: int = 0
    lost: list[tuple[str, str]] = field(default_factory=list)
    holes: int = 0

    def __str__(self) -> str:
        counts = ", ".join(f"{n} {status}" for status, n in self.counts.items())
        return f"{self.rows} explanations: {counts or 'none'}"

    @property
    def found(self) -> int:
        """How many have a counterfactual."""
        return sum(n for status, n in self.counts.items() if Status(status).has_point)

    def stopped(self, status: Status) -> int:
        """How many were cut short like this, with or without a point."""
        return sum(n for name, n in self.counts.items() if Status(name).with_point is status)

    def _take(self, line: dict[str, Any]) -> None:
        self.rows += 1
        self.counts[line["status"]] += 1
        self.cautions += bool(line["cautions"])
        if not Status(line["status"]).has_point:
            self.reasons[line["reason"]] += 1
            self.holes += FILLS in line["advice"]
            if len(self.lost) < SHOWN:
                self.lost.append((line["row"], f"{line['message']} {line['advice']}".strip()))


def is_parquet(output: Path) -> bool:
    """Whether a table is to be Parquet; refused where it is to be something that cannot be written."""
    suffix = output.suffix.lower()
    if suffix in (".xlsx", ".xls", ".json", ".jsonl", ".feather", ".arrow"):
        raise ProblemError(f"{output}: tables are written as CSV (.csv, .csv.gz) or Parquet (.parquet)")
    return suffix in (".parquet", ".pq")


def check_places(table: str, output: Path, certificates: Path | None) -> None:
    """Before anything is computed: refuse what would destroy a file, or could not be written.

    Parameters
    ----------
    table : str
        Where the rows come from.
    output : Path
    certificates : Path, optional
    """
    taken = {table: "is read, so it cannot be written"}
    for path in (output, certificates):
        if path is None:
            continue
        if path.is_dir():
            raise ProblemError(f"{path}: cannot be written (is a directory)")
        if not path.parent.is_dir() or _is_same(path.parent, journal_folder(output)):
            raise ProblemError(f"{path}: cannot be written ({path.parent} is no folder for outputs)")
        for other, why in taken.items():
            if _is_same(path, other):
                raise ProblemError(f"{path}: {why}; give another name")
        taken[str(path)] = "two outputs cannot go to the same place"


def _is_same(one: Path, other: str | Path) -> bool:
    """Whether two names are of the same file, which need not be there yet."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def put_in_place(
    journal: Journal,
    columns: Sequence[Column],
    whole: Sequence[str],
    certificates: Path | None,
    words: Callable[[str], str],
) -> Summary:
    """Write the table of a run whose rows are all finished, and the file of certificates.

    Parameters
    ----------
    journal : Journal
    columns : sequence of Column
    whole : sequence of str
        Features whose numbers are whole: CSV has them without a decimal point.
    certificates : Path, optional
    words : callable
        What the advice is passed through.
    """
    summary, output = Summary(journal.output), journal.output
    names = [about.name for about in columns]
    segments = journal.segments()
    part = journal.folder / "table.tmp"
    with _writer(part, output, columns, whole) as write:
        for segment in segments:
            records = journal.records(segment)
            lines = [dict(zip(names, records[number].line, strict=True)) for number in sorted(records)]
            for line in lines:
                summary._take(line)
                line["advice"] = words(line["advice"])
            write(as_frame(columns, [list(line.values()) for line in lines]))
    if certificates is not None:
        beside = journal.folder / "certificates.tmp"
        with open(beside, "wb") as file:
            for proof in _proofs(journal, segments):
                file.write(proof if certificates.suffix == ".gz" else gzip.decompress(proof))
            _forced(file)
        _replace(beside, certificates)
    _replace(part, output)
    return summary


def _proofs(journal: Journal, segments: Sequence[int]) -> Iterator[bytes]:
    """The proofs of all rows, in order."""
    for segment in segments:
        records = journal.records(segment)
        yield from (journal.proof(records[n]) for n in sorted(records) if records[n].proof is not None)


@contextmanager
def _writer(part: Path, output: Path, columns: Sequence[Column], whole: Sequence[str]) -> Iterator[Write]:
    """What writes frames one after the other into a file, which is forced onto the disk at the end."""
    with open(part, "wb") as file:
        with _frames(file, output, columns, whole) as write:
            yield write
        _forced(file)


@contextmanager
def _frames(file: BinaryIO, output: Path, columns: Sequence[Column], whole: Sequence[str]) -> Iterator[Write]:
    """What writes frames in the format that the name of the output asks for."""
    if is_parquet(output):
        with _parquet_writer(file, columns) as write:
            yield write
    elif output.suffix.lower() == ".gz":
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
            yield _csv_writer(packed, columns, whole)
    else:
        yield _csv_writer(file, columns, whole)


def _csv_writer(file: Any, columns: Sequence[Column], whole: Sequence[str]) -> Write:
    integers = [
        about.name
        for about in columns
        if about.kind == NUMBER
        and about.name in {f"{prefix}: {name}" for prefix in PREFIXES for name in whole}
    ]
    file.write(csv_text(as_frame(columns, [])).encode("utf-8"))

    def write(frame: pd.DataFrame) -> None:
        frame = frame.copy(deep=False)
        for name in integers:
            frame[name] = pd.Series(list(map(_as_written, frame[name])), frame.index, dtype=object)
        file.write(csv_text(frame, header=False).encode("utf-8"))

    return write


def _as_written(value: float) -> Any:
    """A whole number without its decimal point."""
    return int(value) if value == value and float(value).is_integer() and abs(value) < 2**53 else value


@contextmanager
def _parquet_writer(file: BinaryIO, columns: Sequence[Column]) -> Iterator[Write]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError("Parquet files need pyarrow: pip install pyarrow") from None
    schema = arrow_schema(columns)
    with pq.ParquetWriter(file, schema) as writer:

        def write(frame: pd.DataFrame) -> None:
            writer.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False))

        yield write


def _forced(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _replace(part: Path, path: Path) -> None:
    """Put a file in its place; one that was there gives it its permissions."""
    if path.is_file() and not path.is_symlink():
        part.chmod(stat.S_IMODE(path.stat().st_mode))
    try:
        part.replace(path)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy(part, path)


def _copy(part: Path, path: Path) -> None:
    """Put a file in a place on another disk, where it cannot be moved."""
    with open(part, "rb") as file:
        write_parts(path, iter(lambda: file.read(CHUNK), b""))
    if path.is_file():
        with open(path, "rb") as file:
            os.fsync(file.fileno())
    part.unlink()
