"""The journal of a run: what is finished is kept on disk, row by row, until all of it is.

Beside the output lies a folder, ``OUTPUT.parts``: a manifest that says what was asked of which table, and
segments of two thousand rows. To a segment a line is appended for each row that is finished: a checksum and
the row's line of the table as JSON. Whatever stops the process leaves whole lines, and at most a part of one,
which counts for nothing. Nor does a line of another run, whose checksums begin elsewhere, or one whose proof
is not on disk as it was written.
"""

from __future__ import annotations

import errno
import json
import os
import re
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from surefoot.exceptions import DataError, ProblemError
from surefoot.files import write_whole
from surefoot.formats import in_a_row, one_line
from surefoot.plain import parsed

# Rows of a segment. Ten times larger, and putting the table together takes hundreds of megabytes.
SEGMENT = 2000
# Seconds between the moments at which rows are forced onto the disk. Ten times larger, and a power cut, not
# a kill, loses ten seconds of work; a tenth, and disks do little else.
BETWEEN_SYNCS = 1.0
FORMAT, VERSION = "surefoot run", 2
# What a run is about, by the key in the manifest: all of it must be as before when it goes on.
PARTS = {
    "model": "the model",
    "question": "the question",
    "actions": "the actions",
    "target": "the target",
    "table": "the table",
    "id": "the column that names the rows",
    "columns": "the columns of the output",
    "time_limit": "the time limit",
    "version": "the version of surefoot",
}
PLURAL = (PARTS["actions"], PARTS["columns"])
BEGINS_AGAIN = "--restart (resume=False) begins again"


# The files in the folder of a run; nothing else in it is ever removed.
OWN = re.compile(
    r"lock|manifest\.json|(rows|proofs)-\d{6,}\.jsonl|(table|certificates)\.tmp|\.manifest\.json\..*\.tmp"
)


class RunChangedError(ProblemError):
    """A run cannot go on, as something is not what it was when it began."""


class Record(NamedTuple):
    """What is kept of a finished row: its line of the table, and where its proof lies, if it is kept."""

    number: int
    line: list[Any]
    proof: tuple[int, int, int] | None = None  # place and length in the segment's file, and a checksum


def journal_folder(output: Path) -> Path:
    """Where the finished rows of an output are kept."""
    return output.with_name(f"{output.name}.parts")


class Journal:
    """The folder of a run, taken by one process at a time.

    Parameters
    ----------
    output : path
        The file that the run is to write.
    """

    def __init__(self, output: str | os.PathLike[str]) -> None:
        self.output = Path(output)
        self.folder = journal_folder(self.output)
        self._lock: BinaryIO | None = None
        self._open: dict[str, BinaryIO] = {}
        self._synced = time.monotonic()
        self._seed = 0  # where the checksums of this run begin

    def __enter__(self) -> Journal:
        self._refuse_strange()
        while self._lock is None:
            self.folder.mkdir(exist_ok=True)
            self._lock = _locked(self.folder / "lock", self.output)
        return self

    def _refuse_strange(self) -> None:
        """Refuse a folder of that name that does not belong to a run."""
        if not os.path.lexists(self.folder):
            return
        if self.folder.is_symlink() or not self.folder.is_dir():
            raise ProblemError(f"{self.folder}: must be a folder for finished rows, and is something else")
        strange = [path.name for path in self.folder.iterdir() if not OWN.fullmatch(path.name)]
        if strange:
            raise ProblemError(f"{self.folder}: holds {strange[0]!r}, which is not of a run")

    def __exit__(self, *_: object) -> None:
        for file in self._open.values():
            file.close()
        self._open.clear()
        if self.folder.exists() and not self.segments():
            self.remove()  # nothing is finished: nothing to go on with
        assert self._lock is not None
        self._lock.close()

    @property
    def manifest(self) -> dict[str, Any] | None:
        """What the folder says that its rows are about; None where there are none."""
        try:
            content = parsed((self.folder / "manifest.json").read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, DataError) as error:
            reason = f"cannot be read ({one_line(str(error))})"
            raise DataError(f"{self.folder}/manifest.json: {reason}; {BEGINS_AGAIN}") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise DataError(f"{self.folder}/manifest.json: is not the manifest of a run; {BEGINS_AGAIN}")
        return content

    def begin(self, about: Mapping[str, Any], resume: bool) -> None:
        """Go on with what is there; or begin again, where that was asked for or the last run was finished.

        Raises
        ------
        RunChangedError
            Naming what has changed since the run began.
        """
        self._seed = zlib.crc32(json.dumps(about, sort_keys=True).encode())
        known = self.manifest if resume else None
        if known is not None:
            changed = [words for key, words in PARTS.items() if known.get(key) != about.get(key)]
            if known.get("kept") != VERSION:
                changed.append("the format of the folder")
            if changed and not known.get("finished"):
                raise RunChangedError(_changed(changed, self.folder))
            if not changed:
                return
        self._clear()
        self._write_manifest(about)

    def finish(self, keep: bool, about: Mapping[str, Any]) -> None:
        """Called once the output is in place: mark the folder as finished, or remove it."""
        if keep:
            self._write_manifest({**about, "finished": True})
        else:
            self.remove()

    def remove(self) -> None:
        """Remove the folder."""
        for file in self._open.values():
            file.close()
        self._open.clear()
        self._clear()
        for name in ("lock", ""):
            path = self.folder / name
            path.unlink() if name else path.rmdir()

    def _write_manifest(self, about: Mapping[str, Any]) -> None:
        text = json.dumps({"format": FORMAT, "kept": VERSION, **about}, indent=1)
        write_whole(self.folder / "manifest.json", text + "\n")
        _sync_folder(self.folder)

    def _clear(self) -> None:
        """Remove the files of an earlier run, the manifest last."""
        for path in sorted(self.folder.iterdir(), key=lambda path: path.name == "manifest.json"):
            if path.name != "lock" and OWN.fullmatch(path.name):
                path.unlink()

    def segments(self) -> list[int]:
        """The segments of which some row is finished, in order."""
        names = [path.name for path in self.folder.glob("rows-*.jsonl")]
        return sorted(int(name.removeprefix("rows-").removesuffix(".jsonl")) for name in names)

    def records(self, segment: int) -> dict[int, Record]:
        """The finished rows of a segment; of a row that was asked twice, the later record."""
        found: dict[int, Record] = {}
        try:
            file = open(self._path(segment), "rb")  # noqa: SIM115
        except FileNotFoundError:
            return found
        with file:
            for record in filter(None, map(self._record, file)):
                if record.number // SEGMENT == segment:
                    found[record.number] = record
        return found

    def add(self, number: int, values: list[Any], proof: bytes | None = None) -> None:
        """Keep a finished row.

        Raises
        ------
        OSError
            The disk is full, for instance; nothing of this row is left then.
        """
        segment = number // SEGMENT
        kept = None
        if proof is not None:
            place = self._append(self._path(segment, "proofs"), proof)
            kept = place, len(proof), zlib.crc32(proof)
        self._append(self._path(segment), self._checked(json.dumps([number, values, kept]).encode()))
        if time.monotonic() - self._synced > BETWEEN_SYNCS:
            self.sync()

    def sync(self) -> None:
        """Force what was added onto the disk; files that are not in use any more are closed."""
        for file in self._open.values():
            os.fsync(file.fileno())
        while len(self._open) > MOST_OPEN:
            self._open.pop(next(iter(self._open))).close()
        self._synced = time.monotonic()

    def proof(self, record: Record) -> bytes:
        """The proof of a finished row."""
        assert record.proof is not None
        with open(self._path(record.number // SEGMENT, "proofs"), "rb") as file:
            file.seek(record.proof[0])
            return file.read(record.proof[1])

    def is_whole(self, record: Record) -> bool:
        """Whether the proof of a finished row, if it is kept, is on disk as it was written."""
        if record.proof is None:
            return True
        try:
            return zlib.crc32(self.proof(record)) == record.proof[2]
        except FileNotFoundError:
            return False

    def _checked(self, body: bytes) -> bytes:
        """A line of a segment."""
        return b"%08x %s\n" % (zlib.crc32(body, self._seed), body)

    def _record(self, line: bytes) -> Record | None:
        """What a line of a segment says; None where it is not whole, or not of this run."""
        body = line.rstrip(b"\n").partition(b" ")[2]
        if line != self._checked(body):
            return None
        match parsed_or_none(body):
            case [int(number), [*values], None]:
                return Record(number, values)
            case [int(number), [*values], [int(place), int(length), int(checksum)]]:
                return Record(number, values, (place, length, checksum))
        return None

    def _append(self, path: Path, content: bytes) -> int:
        """Append to a file, all or nothing; the place where it begins."""
        file = self._open.get(path.name)
        if file is None:
            file = self._open[path.name] = _opened_to_append(path)
        place = file.seek(0, os.SEEK_END)
        try:
            left = memoryview(content)
            while left:
                left = left[file.write(left) :]
        except BaseException:
            file.truncate(place)
            raise
        return place

    def _path(self, segment: int, what: str = "rows") -> Path:
        return self.folder / f"{what}-{segment:06}.jsonl"


# Files that stay open. Ten times larger is no harm; one alone, and files are opened again and again.
MOST_OPEN = 8


def parsed_or_none(body: bytes) -> Any:
    """The values of a line; None where it is no JSON. Infinite numbers are written as Python has them."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _opened_to_append(path: Path) -> BinaryIO:
    """A file to append to, without the part of a line that a kill may have left at its end."""
    file = open(path, "a+b", buffering=0)  # noqa: SIM115
    end = size = file.seek(0, os.SEEK_END)
    block = 1 << 16
    if path.name.startswith("rows"):
        while end > 0:
            start = max(0, end - block)
            file.seek(start)
            last = file.read(end - start).rfind(b"\n")
            if last >= 0:
                end = start + last + 1
                break
            end = start
        if end < size:
            file.truncate(end)
    return file


def _changed(changed: list[str], folder: Path) -> str:
    what = in_a_row(changed)
    has = "has" if len(changed) == 1 and what not in PLURAL else "have"
    return f"{what} {has} changed since this run began ({folder}); {BEGINS_AGAIN}"


def _locked(path: Path, output: Path) -> BinaryIO | None:
    """The lock of a run; None where the run before has just ended and removed it."""
    try:
        file = open(path, "ab")  # noqa: SIM115
    except FileNotFoundError:
        return None
    try:
        _take(file)
    except OSError:
        file.close()
        raise ProblemError(
            f"{output}: another run is writing it at this moment; wait for its end, or give another name"
        ) from None
    try:
        same = os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        same = False
    if not same:
        file.close()
    return file if same else None


def _take(file: BinaryIO) -> None:
    """Take a lock that ends with the process, however that ends; an ``OSError`` where another has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        return
    fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync_folder(folder: Path) -> None:
    """Force the names in a folder onto the disk, where the system knows how."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EISDIR, errno.EPERM):  # Windows opens no folders
            return
        raise
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
