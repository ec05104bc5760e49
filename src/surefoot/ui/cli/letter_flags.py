"""The flags of ``surefoot letter`` and ``surefoot labels``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from surefoot.ui.cli.explain_flags import question_flags, rows_flags
from surefoot.ui.cli.flags import Output, file_flag

if TYPE_CHECKING:
    import datetime

LETTER_EXAMPLES = """examples:
  surefoot letter model.json loans.csv --row 3 --target yes --output letter.html
  surefoot letter model.json loans.csv --row 3 --language de --labels labels.toml --output letter.txt
  surefoot letter model.json loans.csv --all --target yes --id customer --template eu --output letters/

With --all the folder holds a letter for each row, an index (index.html), and for each letter the file that
proves it (proofs/). A run that was stopped goes on where it was when the same command is given again.
No template claims to be what a law asks for: read letters before you send them.
"""
LABELS_EXAMPLES = """examples:
  surefoot labels model.json --output labels.toml
  surefoot letter model.json loans.csv --row 3 --labels labels.toml --output letter.html
"""


def letter_flags(command: argparse.ArgumentParser) -> None:
    """Of ``surefoot letter``."""
    rows_flags(command, "write to")
    group = command.add_argument_group("the letter")
    group.add_argument("--language", default="en", metavar="CODE", help="en or de (default: en)")
    group.add_argument(
        "--template",
        default="neutral",
        metavar="NAME",
        help="which slots for rights and addresses there are: neutral, us or eu (default: neutral)",
    )
    file_flag(group, "--labels", "FILE.toml", "what things are called; `surefoot labels` begins one")
    group.add_argument("--date", type=_day, metavar="YYYY-MM-DD", help="of the letter (default: today)")
    group.add_argument("--to", default="", metavar="NAME", help="with --row: for whom the letter is")
    group.add_argument(
        "--output",
        required=True,
        metavar="PLACE",
        help="with --row the letter, .html or .txt; with --all the folder for all letters",
    )
    group.add_argument("--text", action="store_true", help="with --all: plain text instead of HTML")
    group.add_argument("--restart", action="store_true", help="with --all: begin again")
    file_flag(group, "--json", "FILE", "with --row: also write what proves the letter", Output)
    group.add_argument("--quiet", action="store_true", help="no progress bar")
    question_flags(command)
    command.set_defaults(alternatives=3)


def _day(text: str) -> datetime.date:
    import datetime  # help does not need it

    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a day such as 2026-03-31, not {text!r}") from None
