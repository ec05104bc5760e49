"""``surefoot audit``: a table by groups, as text, CSV and a page."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from typing import Any

from surefoot.exceptions import ProblemError
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.explain.population.audit import Audit
from surefoot.files import write_whole
from surefoot.ui.cli.flags import refuse_no_jobs
from surefoot.ui.cli.main import DONE, say, show_sentences
from surefoot.ui.cli.spoken import spoken
from surefoot.ui.cli.stopping import stopped, termination_as_interrupt
from surefoot.ui.cli.tables import rows_with_groups
from surefoot.ui.report.audit_page import audit_page

STOPPED = (
    "surefoot: stopped; an audit needs all of its rows, so nothing is kept. surefoot explain --all keeps "
    "each row that is finished"
)


def check_flags(options: argparse.Namespace) -> None:
    """Flags that would be ignored."""
    if options.alternatives is not None:
        raise ProblemError("--alternatives are about one row; an audit is about all")
    if options.save_models:
        raise ProblemError("--save-models goes with surefoot explain; an audit writes no proofs")
    refuse_no_jobs(options)


def run(explainer: CounterfactualExplainer, target: Any, options: argparse.Namespace) -> int:
    """Ask about every row, and say and write what was found."""
    found: Audit | None = None
    with termination_as_interrupt(STOPPED) as terminated, suppress(KeyboardInterrupt):
        found = _audited(explainer, target, options)
    if found is None:
        return stopped(STOPPED, terminated)
    if options.output == "-":
        sys.stdout.write(str(found.to_csv()))
    else:
        show_sentences(f"{spoken(str(found))}\n")
    _write(found, options)
    return DONE


def _audited(explainer: CounterfactualExplainer, target: Any, options: argparse.Namespace) -> Audit:
    by = [_group(text) for text in options.by]
    plain = [name for name, ends in by if ends is None]
    frame = rows_with_groups(options, explainer.classifier, [name for name, _ in by], plain)
    return explainer.audit(
        frame,
        target,
        [name if ends is None else {name: ends} for name, ends in by],
        n_jobs=options.jobs,
        ci=options.ci,
        progress=not options.quiet,
    )


def _write(found: Audit, options: argparse.Namespace) -> None:
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
