"""The flags of ``surefoot nobody``."""

from __future__ import annotations

import argparse

from surefoot.ui.cli.explain_flags import question_flags
from surefoot.ui.cli.flags import Output, file_flag, model_flag, size_flag

NOBODY_EXAMPLES = """examples:
  surefoot nobody model.json --region "age=60:" --region housing=rent --target good --actions actions.toml
  surefoot nobody model.json --region "income=:1500" --region "cards=1,2" --target good --json nobody.json
  surefoot verify model.json nobody.json

exit status: 0 it is proven that nobody has a way; 1 somebody has one, or it is undecided; 2 bad input
"""


def nobody_flags(command: argparse.ArgumentParser) -> None:
    """Of ``surefoot nobody``."""
    model_flag(command)
    command.add_argument(
        "--region",
        action="append",
        default=[],
        metavar="FEATURE=VALUES",
        help="who it is about: LOW:HIGH of a number (an end that is left out is where the training data end, "
        "inf and -inf are open), one value, or several with commas; may be repeated. A feature that is left "
        "out may be anything",
    )
    question_flags(command)
    file_flag(command, "--json", "FILE", "write the proof, or the person, as JSON; '-': to stdout", Output)
    size_flag(command)
