"""``surefoot explain --all --output FILE``: row by row into a file; after a stop it goes on from there."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from surefoot.exceptions import ProblemError
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.explain.population.output import Summary
from surefoot.explain.population.run import run_of
from surefoot.status import Status
from surefoot.ui.cli.main import DONE, NOT_FOUND, say
from surefoot.ui.cli.spoken import spoken
from surefoot.ui.cli.stopping import stopped, termination_as_interrupt
from surefoot.ui.cli.tables import streamed_rows

STOPPED = "surefoot: stopped; finished rows are kept in {}.parts, and the same command goes on from there"


def goes_to_file(options: argparse.Namespace) -> bool:
    """Whether the table goes to a file of its own, and nothing needs all explanations at once."""
    return has_room_beside(options.output) and not (options.json or options.html)


def has_room_beside(output: str | None) -> bool:
    """Whether an output is a file beside which finished rows can be kept."""
    if output in (None, "-"):
        return False
    path = Path(output)
    return (path.is_file() or not path.exists()) and os.access(path.parent, os.W_OK)


def refuse_unused(options: argparse.Namespace) -> None:
    """Flags about a run that is kept on disk, where there is none."""
    given = {"--restart": options.restart, "--retry": options.retry, "--certificates": options.certificates}
    flag = next((name for name, value in given.items() if value), None)
    if flag and not (options.all and goes_to_file(options)):
        raise ProblemError(f"{flag} goes with --all --output FILE, and without --json and --html")


def explain_to_file(explainer: CounterfactualExplainer, target: Any, options: argparse.Namespace) -> int:
    """Explain what is not finished yet, and say how it went."""
    table = streamed_rows(options, explainer.classifier)
    summary: Summary | None = None
    with termination_as_interrupt(STOPPED.format(options.output)) as terminated, suppress(KeyboardInterrupt):
        run = run_of(
            explainer,
            table,
            options.output,
            id=options.id,
            n_jobs=options.jobs,
            chunk=128,
            target=target,
            retry=options.retry,
            certificates=options.certificates,
            enough=options.enough,
            progress=not options.quiet,
            words=spoken,
        )
        summary = run.carried_out(resume=not options.restart)
    if summary is None:
        return stopped(STOPPED.format(options.output), terminated)
    if target is None:
        say("surefoot: no --target: every row is explained towards the class that it is not decided as")
    say(f"surefoot: wrote {options.output}")
    if options.certificates:
        say(f"surefoot: wrote {options.certificates}")
    _say(summary, options)
    return DONE if summary.found == summary.rows else NOT_FOUND


def _say(summary: Summary, options: argparse.Namespace) -> None:
    """What became of the rows."""
    before = summary.rows - summary.computed
    say(f"surefoot: {summary}{f'; {before} of them were finished before' if before else ''}")
    for row, why in summary.lost:
        say(f"surefoot: row {row}: {spoken(why)}")
    without = summary.rows - summary.found - len(summary.lost)
    if without:
        say(f"surefoot: and {without} more without a counterfactual")
    say_holes(summary.holes)
    if summary.cautions:
        where = f"see the column 'cautions' of {options.output}; --html writes them out"
        say(f"surefoot: {summary.cautions} with a caution ({where})")
    late = summary.stopped(Status.TIME_LIMIT)
    if late:
        say(f"surefoot: {late} stopped by the time limit; --retry time_limit asks them again")


def say_holes(count: int) -> None:
    """How many rows have holes, and what fills them."""
    if count:
        rows = "1 row has a missing value" if count == 1 else f"{count:,} rows have missing values"
        say(f"surefoot: {rows}; say --impute to fill them with what the model expects given the rest")
