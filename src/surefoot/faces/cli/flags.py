"""Flags that several commands share."""

from __future__ import annotations

from typing import Any

FILES: dict[str, Any] = {"bash": "_shtab_compgen_files", "zsh": "_files"}


def file_flag(group: Any, name: str, metavar: str, text: str, default: Any = None, **options: Any) -> None:
    """A flag or argument whose value is a file; shells complete it."""
    group.add_argument(name, metavar=metavar, help=text, default=default, **options).complete = FILES


def names_flag(group: Any, name: str, metavar: str, text: str) -> None:
    """A flag that takes several names and may be repeated."""
    group.add_argument(name, nargs="+", action="extend", default=[], metavar=metavar, help=text)


def listing_flag(group: Any, name: str, text: str) -> None:
    """A flag that takes a feature and some values of it, and may be repeated."""
    group.add_argument(name, nargs="+", action="append", default=[], metavar=("FEATURE", "VALUE"), help=text)


def reading_flags(command: Any) -> None:
    """How a table is written; everything is looked for by default."""
    group = command.add_argument_group("how the table is written (looked for by default)")
    group.add_argument("--separator", metavar="C", help="what separates the fields: , ; | or \\t")
    group.add_argument("--decimal", choices=(",", "."), metavar="C", help="decimal sign: , or .")
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
