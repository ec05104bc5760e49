"""``surefoot audit``: a table by groups, as text, CSV and a page."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext, suppress
from typing import Any

from surefoot.exceptions import ProblemError
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.explain.population.audit import Audit, audited
from surefoot.explain.population.journal import Journal
from surefoot.files import write_whole
from surefoot.ui.cli.explaining_all import STOPPED, has_room_beside
from surefoot.ui.cli.flags import refuse_no_jobs
from surefoot.ui.cli.main import DONE, say, show_sentences
from surefoot.ui.cli.spoken import spoken
from surefoot.ui.cli.stopping import stopped, termination_as_interrupt
from surefoot.ui.cli.tables import rows_with_groups
from surefoot.ui.report.audit_page import audit_page

NOTHING_KEPT = (
    "surefoot: stopped; nothing is kept, as nothing goes to a file. With --output, --table or --html each "
    "finished row is kept beside it"
)


def check_flags(options: argparse.Namespace) -> None:
    """Flags that would be ignored."""
    if options.alternatives is not None:
        raise ProblemError("--alternatives are about one row; an audit is about all")
    if options.save_models:
        raise ProblemError("--save-models goes with surefoot explain; an audit writes no proofs")
    if options.restart and _place(options) is None:
        raise ProblemError("--restart goes with --output, --table or --html and a file")
    refuse_no_jobs(options)


def _place(options: argparse.Namespace) -> str | None:
    """The file beside which finished rows are kept; None where no output is one."""
    return next(filter(has_room_beside, (options.output, options.table, options.html)), None)


def run(explainer: CounterfactualExplainer, target: Any, options: argparse.Namespace) -> int:
    """Ask about every row, and say and write what was found."""
    place = _place(options)
    kept = STOPPED.format(place) if place else NOTHING_KEPT
    is_done = False
    with termination_as_interrupt(kept) as terminated, suppress(KeyboardInterrupt):
        with Journal(place) if place else nullcontext() as journal:
            _write(_audited(explainer, target, options, journal), options)
            if journal is not None:
                journal.remove()
        is_done = True
    return DONE if is_done else stopped(kept, terminated)


def _audited(
    explainer: CounterfactualExplainer, target: Any, options: argparse.Namespace, journal: Journal | None
) -> Audit:
    by = [_group(text) for text in options.by]
    plain = [name for name, ends in by if ends is None]
    frame = rows_with_groups(options, explainer.classifier, [name for name, _ in by], plain)
    return audited(
        explainer,
        frame,
        target,
        [name if ends is None else {name: ends} for name, ends in by],
        n_jobs=options.jobs,
        ci=options.ci,
        progress=not options.quiet,
        journal=journal,
        resume=not options.restart,
    )


def _write(found: Audit, options: argparse.Namespace) -> None:
    if options.output == "-":
        sys.stdout.write(str(found.to_csv()))
    else:
        show_sentences(f"{spoken(str(found))}\n")
    for path, which in ((options.output, "groups"), (options.table, "table")):
        if path == "-" and which == "table":
            sys.stdout.write(str(found.to_csv(which=which)))
        elif path and path != "-":
            found.to_csv(path, which)
            say(f"surefoot: wrote {path}")
    if options.html:
        write_whole(options.html, audit_page(found, worded=spoken))
        say(f"surefoot: wrote {options.html}")


def _group(text: str) -> tuple[str, list[float] | None]:
    """A column, and the ends of its bands; a colon may be a part of the name."""
    name, colon, ends = text.rpartition(":")
    try:
        return (name, [float(end) for end in ends.split(",")]) if colon and name else (text, None)
    except ValueError:
        if any(end.strip().replace(".", "").isdecimal() for end in ends.split(",")):
            raise ProblemError(f"--by {text}: the ends of bands must be numbers, not {ends!r}") from None
        return text, None
