"""Tables read in chunks: as much memory as a chunk takes, however many rows there are."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, BinaryIO, NamedTuple

import pandas as pd

from surefoot.exceptions import DataError, MissingDependencyError
from surefoot.files import CHUNK, LARGEST, too_large, unpacked_limit
from surefoot.formats import one_line
from surefoot.table.decimals import Signs, flag_of, other_sign, signs_of
from surefoot.table.dialect import (
    MARKS,
    MIXED,
    SEPARATORS,
    UNUSED,
    are_mixed,
    beginning,
    below_titles,
    codec,
    counted,
    guessed_separator,
    has_header,
    uneven,
    where,
)
from surefoot.table.packed import refuse_large_parquet
from surefoot.table.reading import (
    GZIP,
    OLD_EXCEL,
    PARQUET,
    STANDARD_INPUT,
    ZIP,
    Form,
    Layout,
    Reading,
    checked_names,
    comments,
    complaints,
    finished,
    numbered,
    read_table,
    refuse_other,
    row_before,
    with_decimal,
)
from surefoot.table.text_column import OTHER, text_columns

UTF_8 = MARKS[codecs.BOM_UTF8]
# Rows from which the separator and the decimal sign are taken. Ten times larger, and a table takes that
# much longer to begin; with a tenth, a first page of whole numbers hides a decimal comma.
SAMPLE = 1000
# Characters of a row. Ten times larger, and a file without a line end fills hundreds of megabytes.
LONGEST_ROW = 10_000_000


class Chunk(NamedTuple):
    """Some rows of a table, and the number of the first of them, counted from 0."""

    start: int
    reading: Reading


@dataclass(frozen=True, eq=False)
class Streamed:
    """A table whose rows are read when they are asked for.

    Parameters
    ----------
    name : str
        What the table is called in messages.
    fingerprint : str
        Digest of all that it holds.
    assumed : tuple of str
        How it was taken to be written.
    form : Form
    rows : int or None
        How many there are, if that is known.
    """

    name: str
    fingerprint: str
    assumed: tuple[str, ...]
    form: Form
    rows: int | None

    @property
    def said(self) -> str:
        """How it was taken to be written, as a line; empty where that is plain."""
        return one_line(f"{self.name} read as: {', '.join(self.assumed)}") if self.assumed else ""

    def chunks(self, size: int) -> Iterator[Chunk]:
        """The rows, so many at a time, from the first on."""
        raise NotImplementedError


def streamed(source: str | os.PathLike[str] | pd.DataFrame, form: Form | None = None) -> Streamed:
    """A table that is read in chunks: CSV, also packed by gzip, and Parquet; all else is held as a whole.

    Parameters
    ----------
    source : path or DataFrame
    form : Form, optional
        What is known about it.

    Raises
    ------
    DataError
        The message names the file and, where it can, the row.
    """
    form = form or Form()
    if isinstance(source, pd.DataFrame):
        return _held(
            Reading(source.set_axis([str(name) for name in source.columns], axis=1), "the table"), form
        )
    path = os.fspath(source)
    with complaints(path):
        first = b"" if path == STANDARD_INPUT or not stat.S_ISREG(os.stat(path).st_mode) else _first(path)
        if not first or first.startswith((ZIP, OLD_EXCEL)):
            return _held(read_table(path, form), form)
        return _parquet(path, form) if first.startswith(PARQUET) else _text(path, form)


def _first(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(4) or b"\n"  # an empty file is a text of no lines


@dataclass(frozen=True, eq=False)
class Held(Streamed):
    """A table in memory."""

    reading: Reading

    @property
    def said(self) -> str:
        """The same, with how much there is, and what is missing."""
        return str(self.reading) if self.reading.assumed or self.reading.notes else ""

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Slices of it."""
        frame = self.reading.frame
        for start in range(0, len(frame), size):
            yield Chunk(start, replace(self.reading, frame=frame.iloc[start : start + size]))


def _held(reading: Reading, form: Form) -> Held:
    frame = reading.frame
    digest = sha256(repr([(str(name), str(kind)) for name, kind in frame.dtypes.items()]).encode())
    for values in (frame.index, *(frame.iloc[:, column] for column in range(frame.shape[1]))):
        digest.update(ascii(values.tolist()).encode())  # which any text can be written as
    return Held(reading.name, digest.hexdigest(), reading.assumed, form, len(frame), reading)


Stamp = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class OnDisk(Streamed):
    """A file, and what told that it was the same when its fingerprint was taken."""

    stamp: Stamp

    def check(self) -> None:
        """Refuse rows that were read after the file was written to: they are of another table."""
        if _stamp(self.name) != self.stamp:
            raise DataError("was written to while it was read; its rows may be of two tables")


def _stamp(path: str) -> Stamp:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


@dataclass(frozen=True, eq=False)
class Parquet(OnDisk):
    """A Parquet file, read by row groups."""

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Batches of its rows."""
        import pyarrow.parquet as pq

        start = 0
        with complaints(self.name), pq.ParquetFile(self.name) as file:
            for batch in _batches(file, size):
                self.check()
                frame = batch.to_pandas()
                named = any(level is not None for level in frame.index.names)
                frame = frame.reset_index(drop=not named)
                frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
                frame.index = pd.RangeIndex(start, start + len(frame))
                about = self.form.decimal, self.form.usual, self.form.own_decimals
                signs = signs_of(text_columns(frame, self.form.kept, self.form.numbers), *about)
                yield Chunk(start, finished(frame, self.name, self.form, self.assumed, signs))
                start += len(frame)


def _batches(file: Any, size: int) -> Iterator[Any]:
    try:
        yield from file.iter_batches(batch_size=size)
    except Exception as error:  # the reader has errors of its own
        raise DataError(f"is not a Parquet table ({one_line(str(error))})") from None


def _parquet(path: str, form: Form) -> Parquet:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError("Parquet files need pyarrow: pip install pyarrow") from None
    stamp = _stamp(path)
    try:
        about = pq.read_metadata(path)
    except Exception as error:  # the reader has errors of its own
        raise DataError(f"is not a Parquet table ({one_line(str(error))})") from None
    if form.max_size is not None:
        refuse_large_parquet(about, form.max_size)
    with open(path, "rb") as file:
        digest = sha256()
        while block := file.read(CHUNK):
            digest.update(block)
    return Parquet(path, digest.hexdigest(), ("Parquet",), form, about.num_rows, stamp)


@dataclass(frozen=True, eq=False)
class Text(OnDisk):
    """A text table whose encoding, separator and names are known."""

    encoding: str
    layout: Layout
    signs: Signs

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Pieces of the text, each read as a table of its own."""
        start = 0
        with complaints(self.name):
            for text, count in _pieces(self.name, self.encoding, self.layout, size):
                self.check()
                layout = replace(self.layout, text=text, header=False, skipped=0)
                frame = layout.parsed(self.signs.table, self.form)
                frame.index = pd.RangeIndex(start, start + count)
                self._check_decimal(frame)
                yield Chunk(start, finished(frame, self.name, self.form, self.assumed, self.signs))
                start += count

    def _check_decimal(self, frame: pd.DataFrame) -> None:
        """Refuse rows whose numbers are written in another way than those of the first rows."""
        for column in text_columns(frame, self.form.kept, self.form.numbers):
            sign = self.signs.of(column.name)
            if column.proves(OTHER[sign]):
                where = f"from row {frame.index[0]} on {other_sign(column, sign)}, before it has none"
                raise DataError(f"{where}; say {flag_of(column.name, OTHER[sign])}")


def _text(path: str, form: Form) -> Text:
    stamp = _stamp(path)
    digest, encoding, lines = _surveyed(path, form.max_size)
    with closing(_lines(path, encoding)) as some:
        sample = "".join(itertools.islice(some, SAMPLE + 2))
    if not sample.strip():
        raise DataError("the file is empty")
    refuse_other(sample)
    start = below_titles(sample, beginning(sample), form.expected, form.separator)
    sample = sample[start.length :]
    separator = form.separator or start.separator or guessed_separator(sample)
    layout = _layout(sample, separator, form, start.lines)
    text, _ = next(_pieces(path, encoding, layout, SAMPLE), ("", 0))
    signs = Signs(form.decimal or ".")
    if text:
        _, signs, form = with_decimal(replace(layout, text=text, header=False), form)
    assumed = (
        SEPARATORS.get(separator, repr(separator)) if separator != "," else "",
        "decimal comma" if signs.table == "," else "",
        encoding.removesuffix("-sig") if encoding not in ("utf-8", "utf-8-sig") else "",
        "" if layout.header else "no header",
        comments(start),
    )
    rows = lines - layout.header - layout.skipped
    layout = replace(layout, text="")
    about = (path, digest, tuple(filter(None, assumed)), form, max(rows, 0), stamp)
    return Text(*about, encoding, layout, signs)


def _layout(sample: str, separator: str, form: Form, skipped: int) -> Layout:
    """What the first rows say: names, and whether there are any."""
    rows = (row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=separator) if row)
    first = next(rows, [])
    header = has_header(first, form.header, form.expected)
    names = checked_names([name.strip() for name in first]) if header else numbered(len(first))
    return Layout("", separator, tuple(names), header, skipped)


def _surveyed(path: str, largest: int | None) -> tuple[str, str, int]:
    """Digest, encoding and number of lines of a text, from one pass over it."""
    digest, decoder, seen, size, lines = sha256(), codecs.getincrementaldecoder("utf-8")(), set(), 0, 0
    limit, complaint = _limit(path, largest)
    plain, last, wide, strange = True, b"\n", 0, 0
    with _opened(path) as file:
        start = file.read(4)
        mark = next((name for mark, name in MARKS.items() if start.startswith(mark)), None)
        block = start + file.read(CHUNK)
        while block:
            size += len(block)
            if size > limit:
                raise DataError(complaint)
            digest.update(block)
            lines += block.count(b"\n")
            last = block[-1:]
            if mark in (None, UTF_8):
                seen |= set(block)
                plain = plain and _decodes(decoder, block)
                wide, strange = (sum(pair) for pair in zip((wide, strange), counted(block), strict=True))
            block = file.read(CHUNK)
    if 0 in seen:
        raise DataError("is neither text nor a table that can be read (CSV, Parquet, Excel)")
    plain = plain and _decodes(decoder, b"", final=True)
    mixed = MIXED if not plain and (mark == UTF_8 or are_mixed(wide, strange)) else None
    return digest.hexdigest(), mixed or mark or _encoding(plain, seen), lines + (last != b"\n")


def _limit(path: str, largest: int | None) -> tuple[int, str]:
    """The most bytes of a text: memory does not grow with them, so only what is packed has a limit."""
    if _first(path).startswith(GZIP):
        limit, complaint = unpacked_limit(os.path.getsize(path), largest)
        return (limit, complaint) if largest is not None or limit < LARGEST else (2**63, "")
    return (2**63, "") if largest is None else (largest, too_large(largest))


def _decodes(decoder: Any, block: bytes, final: bool = False) -> bool:
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True


def _encoding(plain: bool, seen: set[int]) -> str:
    """UTF-8, or else what Windows wrote, or else Latin-1; see `dialect.decoded`."""
    if plain:
        return "utf-8"
    windows = any(0x80 <= byte <= 0x9F for byte in seen) and not seen & UNUSED
    return "windows-1252" if windows else "latin-1"


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked."""
    packed = _first(path).startswith(GZIP)
    with gzip.open(path, "rb") if packed else open(path, "rb") as file:
        yield file  # type: ignore[misc]


def _lines(path: str, encoding: str) -> Generator[str, None, None]:
    """Lines with their ends; an endless one is refused."""
    with _opened(path) as file, io.TextIOWrapper(file, *codec(encoding), newline="") as text:
        while line := text.readline(LONGEST_ROW):
            if len(line) >= LONGEST_ROW:
                raise DataError(f"a line has more than {LONGEST_ROW:,} characters")
            yield line


def _pieces(path: str, encoding: str, layout: Layout, size: int) -> Iterator[tuple[str, int]]:
    """Texts of so many whole rows, without the header; rows that are too short or too long are refused."""
    taken: list[str] = []
    with closing(_lines(path, encoding)) as some:
        lines = _kept(some, taken)
        for _ in range(layout.skipped):
            next(lines, None)
        count = 0
        for number, _ in enumerate(_checked(lines, layout)):
            if number == 0 and layout.header:
                taken.clear()
                continue
            count += 1
            if count == size:
                yield "".join(taken), count
                taken.clear()
                count = 0
        if count:
            yield "".join(taken), count


def _checked(lines: Iterator[str], layout: Layout) -> Iterator[list[str]]:
    """Rows of the table, the header among them; all of the same length."""
    reader = csv.reader(lines, delimiter=layout.separator)
    number = -1 if layout.header else 0
    for row in reader:
        if not row:
            continue
        if len(row) != len(layout.names):
            width = len(layout.names)
            what = uneven(row, number, width, row_before(layout.header))
            raise DataError(f"{what}{where(row, reader.line_num + layout.skipped, width)}")
        number += 1
        yield row


def _kept(lines: Iterator[str], taken: list[str]) -> Iterator[str]:
    """The lines, each noted before it is handed on; a quote that is never closed ends at csv's own limit."""
    for line in lines:
        taken.append(line)
        yield line
