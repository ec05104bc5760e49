"""Files that a command names: nothing that it reads, and nothing else that it writes, is written over."""

from __future__ import annotations

import argparse
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from surefoot.exceptions import ProblemError
from surefoot.files import write_whole
from surefoot.ui.cli.flags import Folder, Input, Output
from surefoot.ui.cli.main import say

STANDARD = "-"
REFIT = re.compile(r"refit-\d{3,}\.json")


def refit_path(folder: str, number: int) -> Path:
    """Where a refit of the model is saved."""
    return Path(folder) / f"refit-{number:03}.json"


def check_paths(options: argparse.Namespace) -> None:
    """Before anything is read or computed: refuse what would destroy a file, or could not be written."""
    given = [value for values in vars(options).values() for value in _each(values)]
    for path in given:
        if isinstance(path, Output):
            _check_output(path)
        elif isinstance(path, Folder):
            _check_folder(path, given)
    _refuse_same(given)
    pages = (getattr(options, name, None) for name in ("html", "trade_off"))
    if STANDARD in pages:  # else a file of that name would be written
        raise ProblemError("a page cannot go to standard output; give the name of a file")


def _each(values: Any) -> Iterator[str]:
    for value in values if isinstance(values, list) else [values]:
        if isinstance(value, Input | Output | Folder):
            yield value


def _refuse_same(given: list[str]) -> None:
    """Compare files, not names: links, relative names and files that are not there yet count too."""
    inputs = {_place(path, sys.stdin): path for path in given if isinstance(path, Input)}
    if sum(path == STANDARD for path in given if isinstance(path, Input)) > 1:
        raise ProblemError("standard input can be read only once; give one of the tables as a file")
    taken = dict.fromkeys(_standard(sys.stdout), "standard output")
    for path in given:
        if isinstance(path, Input):
            continue
        place = _place(path, sys.stdout)
        if place in inputs:
            what = "is read" if inputs[place] == path else f"is the same file as {_named(inputs[place])}"
            raise ProblemError(f"{path}: {what}, so it cannot be written; {OTHER}")
        if place in taken and path != STANDARD:
            raise ProblemError(f"{path}: two outputs cannot go to the same place ({taken[place]}); {OTHER}")
        if path == STANDARD and "-" in taken.values():
            raise ProblemError("two outputs cannot go to the same place (standard output)")
        taken[place] = path
    for stream, what in ((sys.stdout, "standard output"), (sys.stderr, "standard error")):
        both = next((inputs[place] for place in _standard(stream) if place in inputs), None)
        if both is not None:
            if stream is sys.stderr:
                sys.stderr = sys.stdout  # or this complaint would go there
            raise ProblemError(f"{_named(both)}: is read, so {what} cannot go there; {OTHER}")


OTHER = "give another name"


def _place(path: str, stream: TextIO | None) -> Any:
    """What tells a file from all others: its number on its disk; or, before it exists, where it would be."""
    if path == STANDARD:
        return next(_standard(stream), ("standard", isinstance(path, Input)))
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def _standard(stream: TextIO | None) -> Iterator[Any]:
    """The file that a standard stream comes from or goes to, where it is one."""
    try:
        found = os.fstat(stream.fileno())  # type: ignore[union-attr]
    except (OSError, ValueError, AttributeError):  # closed, or no stream of the system
        return
    if stat.S_ISREG(found.st_mode):
        yield found.st_dev, found.st_ino


def _named(path: str) -> str:
    return "standard input" if path == STANDARD else path


def _check_output(name: str) -> None:
    if name == STANDARD:
        return
    if not name:
        raise ProblemError("an output needs the name of a file")
    if name.endswith(tuple(filter(None, (os.sep, os.altsep)))):
        raise ProblemError(f"{name}: is a directory; give the name of a file")
    path = Path(name)
    if path.is_dir():
        raise ProblemError(f"{name}: cannot be written (is a directory)")
    if not path.parent.is_dir():
        raise ProblemError(f"{name}: No such file or directory")
    if path.is_fifo():
        _refuse_unread(name)
    there = path.exists()
    if path.is_block_device() or not os.access(path if there else path.parent, os.W_OK):
        raise ProblemError(f"{name}: cannot be written")


def _refuse_unread(name: str) -> None:
    """A named pipe that nobody reads would hold up the command for ever."""
    try:
        os.close(os.open(name, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        raise ProblemError(f"{name}: is a pipe that nobody reads") from None


def _check_folder(name: str, given: list[str]) -> None:
    path = Path(name)
    there = next(one for one in (path, *path.absolute().parents) if one.exists())
    if not name or not there.is_dir() or not os.access(there, os.W_OK):
        raise ProblemError(f"{name}: cannot be written (not a folder)")
    place = os.path.realpath(path)
    for other in given:
        own = REFIT.fullmatch(os.path.basename(other)) and not isinstance(other, Folder)
        if own and os.path.realpath(os.path.dirname(other)) == place:
            raise ProblemError(f"{other}: would be overwritten by a refit; {OTHER}, or another folder")


def begin_file(path: str | None, text: str, what: str, then: str) -> None:
    """Write a file that a person goes on with, or print it; one that is there is never written over."""
    if path in (None, STANDARD):
        sys.stdout.write(text)
        return
    if os.path.lexists(str(path)):
        raise ProblemError(f"{path}: exists already, and may hold {what}; give another name")
    write_whole(str(path), text)
    say(f"surefoot: wrote {path}; {then}")
