"""Files that are written whole, or not at all, and read up to a limit."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

# Bytes of a file, unpacked. Ten times larger, and what is read fills the memory of most machines.
LARGEST = 2_000_000_000
# How many times its size a packed file may hold. Ten times larger is more than gzip and zip can pack.
LARGEST_RATIO = 200
# Unpacked bytes that are no harm at any ratio. Ten times larger, and small bombs take seconds and a gigabyte.
HARMLESS = 50_000_000
CHUNK = 1 << 20  # bytes read at a time; ten times larger, reading overshoots a limit by ten megabytes
DIRECTORY = os.strerror(errno.EISDIR)
LIFTED = "--max-size (max_size=) sets another limit"


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file beside its place, then put it there: nobody finds half of it, and an old one is not lost.

    A symbolic link is replaced, not followed: what it points to stays as it is. What is no regular file (a
    pipe, a terminal) is written as it is, and so is a file in a folder that may not be written to.

    Parameters
    ----------
    path : path
    content : str or bytes
        Text is encoded as UTF-8.
    """
    write_parts(path, [content.encode("utf-8") if isinstance(content, str) else content])


def write_parts(path: str | os.PathLike[str], parts: Iterable[bytes]) -> None:
    """The same for a file that comes in parts: only one of them is in memory at a time."""
    try:
        if _takes_no_neighbour(path):
            _write(path, parts, os.O_TRUNC)
        else:
            _write_and_replace(Path(path), parts)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None  # names what was asked for


def _takes_no_neighbour(path: str | os.PathLike[str]) -> bool:
    """Whether there is a pipe, a device or a terminal; or a file whose folder takes no other."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:  # nothing there, or a link that leads nowhere
        return False
    if stat.S_ISDIR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, DIRECTORY if stat.S_ISDIR(mode) else "Is a disk")
    return not stat.S_ISREG(mode) or not os.access(Path(path).parent, os.W_OK)


def _write_and_replace(path: Path, content: Iterable[bytes]) -> None:
    # A new name that nobody can guess, so that nobody has put a link there; short, as folders limit names.
    part = path.with_name(f".{path.name[:40]}.{secrets.token_hex(8)}.tmp")
    try:
        _write(part, content, os.O_EXCL)
        if path.is_file() and not path.is_symlink():
            part.chmod(stat.S_IMODE(path.stat().st_mode))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _write(path: str | os.PathLike[str], content: Iterable[bytes], how: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | how | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, 0o666), "wb") as file:
        file.writelines(content)


def read_limited(path: str | os.PathLike[str], largest: int | None = None) -> bytes:
    """The content of a regular file, up to a limit; anything else is an ``OSError`` that says what is wrong.

    A pipe that is open already (``/dev/stdin``, ``/dev/fd/63``) is read too. Devices have no end, and a named
    pipe may never get a beginning.

    Parameters
    ----------
    path : path
    largest : int, optional
        The most bytes. Default: `LARGEST`.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not (stat.S_ISFIFO(mode) and _is_open_already(path)):
        what = DIRECTORY if stat.S_ISDIR(mode) else "Is not a regular file"
        raise OSError(errno.EINVAL, what, os.fspath(path))
    with open(path, "rb") as file:
        return read_up_to(file, LARGEST if largest is None else largest)


def read_standard_input(largest: int | None = None) -> bytes:
    """The bytes of standard input, up to a limit; not from a device, which would have no end."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "Is closed")
    source = sys.stdin.buffer
    try:
        mode = os.fstat(source.fileno()).st_mode
    except OSError:  # not the process's own: somebody has put text in its place
        mode = stat.S_IFREG
    if stat.S_ISDIR(mode) or (stat.S_ISCHR(mode) and not source.isatty()):
        raise OSError(errno.EINVAL, DIRECTORY if stat.S_ISDIR(mode) else "Is a device")
    return read_up_to(source, LARGEST if largest is None else largest)


def read_up_to(file: BinaryIO, largest: int, complaint: str = "") -> bytes:
    """What is left of an open file; an ``OSError`` where that is more than a number of bytes."""
    chunks, size = [], 0
    while chunk := file.read(CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > largest:
            raise OSError(errno.EFBIG, complaint or too_large(largest))
    return b"".join(chunks)


def too_large(largest: int) -> str:
    """What is said of a file beyond a limit."""
    return f"it has more than {largest:,} bytes; {LIFTED}"


def unpacked_limit(packed: int, largest: int | None) -> tuple[int, str]:
    """How many bytes a packed file may hold, and what is said of one that holds more.

    Whoever sets a limit knows how much there is, so the ratio counts without one alone.
    """
    by_ratio = max(HARMLESS, LARGEST_RATIO * packed)
    if largest is None and by_ratio < LARGEST:
        return by_ratio, f"it unpacks to more than {by_ratio // packed:,} times its size; {LIFTED}"
    return (found := LARGEST if largest is None else largest), f"unpacked, {too_large(found)}"


def _is_open_already(path: str | os.PathLike[str]) -> bool:
    """Whether the path leads to a descriptor of this process, such as the shell's ``<(...)``."""
    return os.path.realpath(os.path.dirname(path)).endswith("/fd") or os.fspath(path) == "/dev/stdin"
