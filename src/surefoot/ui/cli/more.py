"""What ``surefoot explain`` says beyond the change: reasons, and what else is enough."""

from __future__ import annotations

import argparse
from contextlib import suppress
from dataclasses import replace

from surefoot.exceptions import DataError
from surefoot.explain.result.explanation import Explanation
from surefoot.ui.cli.main import say
from surefoot.ui.cli.spoken import spoken

SHORT = 1.0  # seconds for what nobody asked for; ten times as many would be felt after every answer


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


def full_text(explanation: Explanation) -> str:
    """An answer with what else is enough, which the file has only where --enough asks for it; and reasons."""
    shown = replace(explanation)
    if shown.changed:
        with suppress(DataError):
            shown.enough(time_limit=SHORT)
    reasons = shown.stated_reasons
    return f"{spoken(str(shown))}\n" + ("" if reasons is None else f"{reasons}\n")
