"""What ``surefoot explain`` says beyond the change: reasons, and what else is enough."""

from __future__ import annotations

import argparse

from surefoot.exceptions import DataError
from surefoot.explain.result.explanation import Explanation
from surefoot.ui.cli.main import say


def with_more(explanation: Explanation, options: argparse.Namespace) -> Explanation:
    """The explanation with what the flags ask for; a message where that is impossible."""
    found = explanation.with_reasons() if options.reasons else explanation
    if options.enough and found.answer.point is not None:
        try:
            found.enough()
        except DataError as error:
            row = "" if found.row is None else f"row {found.row}: "
            say(f"surefoot: {row}{error}")
    return found


def more_text(explanation: Explanation) -> str:
    """Reasons, and what is enough, as lines; "" where neither was asked for."""
    lines = [] if explanation.stated_reasons is None else [str(explanation.stated_reasons)]
    if explanation.region is not None:
        lines.append(f"Enough: {explanation.region.words} (proven).")
        lines += [explanation.region.not_enough] if explanation.region.not_enough else []
    return "".join(f"{line}\n" for line in lines)
