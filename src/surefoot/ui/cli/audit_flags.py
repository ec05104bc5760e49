"""The flags of ``surefoot audit``."""

from __future__ import annotations

import argparse

from surefoot.ui.cli.explain_flags import data_flags, question_flags
from surefoot.ui.cli.flags import Output, file_flag

AUDIT_EXAMPLES = """examples:
  surefoot audit model.json loans.csv --target yes --by sex --html audit.html
  surefoot audit model.json loans.csv --target yes --by sex --by age:25,40,60 --output audit.csv --jobs 2
  surefoot audit model.json loans.csv --target yes --by region --actions actions.toml --table rows.csv

outputs:
  stdout    the answer in three sentences, and the figures of each group
  --output  one line for all rows, and one for each group: rows, asked (not decided as the target), found,
            none (proven), undecided, none_share and cost_median with the ends of their intervals, cost_90,
            burden, blamed (what stands in the way)
  --table   one line for each row, as `surefoot explain --all` writes it, with its groups
  --html    a page to read and to print, with a statement of method; opens offline

exit status: 0 done; 2 bad usage or input
"""


def audit_flags(command: argparse.ArgumentParser) -> None:
    """Of ``surefoot audit``."""
    data_flags(command)
    group = command.add_argument_group("the audit")
    group.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="COLUMN[:A,B,...]",
        help="a column that says who belongs together, of the model's features or another one; age:25,40,60 "
        "makes bands of a number; repeated, each combination of values is a group",
    )
    group.add_argument(
        "--ci", type=float, default=0.95, metavar="LEVEL", help="level of the intervals (default: 0.95)"
    )
    question_flags(command)
    outputs = command.add_argument_group("outputs")
    file_flag(outputs, "--html", "FILE", "write a page to read", Output)
    file_flag(outputs, "--output", "FILE", "write the figures of each group as CSV; '-': to stdout", Output)
    file_flag(outputs, "--table", "FILE", "write the explanation of each row as CSV, with its groups", Output)
    outputs.add_argument(
        "--restart",
        action="store_true",
        help="begin again; else an audit that was stopped goes on: each finished row is kept in FILE.parts, "
        "beside the first of --output, --table and --html, until all are there",
    )
    outputs.add_argument("--quiet", action="store_true", help="no progress bar")
