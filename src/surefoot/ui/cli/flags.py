"""Flags that several commands share, and the roles of files that they name."""

from __future__ import annotations

import argparse
import re
from typing import Any

from surefoot.exceptions import ProblemError


class Input(str):
    """A file that is read."""


class Output(str):
    """A file that is written."""


class Folder(str):
    """A folder that files are written into."""


FILES: dict[str, Any] = {"bash": "_shtab_compgen_files", "zsh": "_files"}


def file_flag(
    group: Any, name: str, metavar: str, text: str, role: type[str] = Input, **options: Any
) -> None:
    """A flag or argument whose value is a file; shells complete it, and its role is checked (`paths`)."""
    group.add_argument(name, metavar=metavar, help=text, type=role, **options).complete = FILES


def model_flag(command: Any) -> None:
    """The model that a command works with."""
    file_flag(command, "model", "MODEL.json", "what `surefoot fit` wrote")


def template_flags(command: Any) -> None:
    """Of a command that begins a file for a model."""
    model_flag(command)
    where = "where to write the file ('-' or left out: to stdout)"
    file_flag(command, "--output", "FILE.toml", where, Output)
    size_flag(command)


def refuse_no_jobs(options: argparse.Namespace) -> None:
    """Refuse a number of processes that makes no sense."""
    if options.jobs == 0:
        raise ProblemError("--jobs must be an integer other than 0 (-1: all cores), not 0")


def names_flag(group: Any, name: str, metavar: str, text: str, role: type[str] = str) -> None:
    """A flag that takes several names and may be repeated."""
    group.add_argument(name, nargs="+", action="extend", default=[], metavar=metavar, help=text, type=role)


def size_flag(command: Any) -> None:
    """The limit on what is read."""
    command.add_argument(
        "--max-size",
        type=_size,
        metavar="SIZE",
        help="largest file that is read, unpacked: bytes, or such as 500M or 4G (default: 2G, and 200 times "
        "its size for a packed table beyond 50M)",
    )


UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def _size(text: str) -> int:
    unit = UNITS.get(text[-1:].upper())
    digits = text[:-1] if unit else text
    if not re.fullmatch("0*[1-9][0-9]{0,17}", digits):
        raise argparse.ArgumentTypeError(f"must be a number of bytes, such as 500M or 4G, not {text!r}")
    return int(digits) * (unit or 1)


def listing_flag(group: Any, name: str, text: str) -> None:
    """A flag that takes a feature and some values of it, and may be repeated."""
    group.add_argument(name, nargs="+", action="append", default=[], metavar=("FEATURE", "VALUE"), help=text)


def reading_flags(command: Any) -> None:
    """How a table is written; everything is looked for by default."""
    size_flag(command)
    group = command.add_argument_group("how the table is written (looked for by default)")
    group.add_argument("--separator", metavar="C", help="what separates the fields: , ; | or \\t")
    group.add_argument("--decimal", choices=(",", "."), metavar="C", help="decimal sign: , or .")
    names_flag(group, "--decimal-comma", "COLUMN", "columns with decimal commas, whatever others have")
    names_flag(group, "--decimal-point", "COLUMN", "columns with decimal points, whatever others have")
    header = group.add_mutually_exclusive_group()
    header.add_argument(
        "--header",
        action="store_true",
        default=None,
        help="the first row holds names, even if they are numbers",
    )
    header.add_argument(
        "--no-header",
        action="store_false",
        dest="header",
        help="the first row is data; columns are called column_1, column_2, ...",
    )
