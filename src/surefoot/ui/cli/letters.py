"""``surefoot letter`` and ``surefoot labels``."""

from __future__ import annotations

import argparse
import datetime
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from surefoot.exceptions import ProblemError
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.files import write_whole
from surefoot.ui.cli.flags import Folder, Output, refuse_no_jobs
from surefoot.ui.cli.main import DONE, NOT_FOUND, say
from surefoot.ui.cli.paths import STANDARD, begin_file, check_paths
from surefoot.ui.cli.stopping import stopped, termination_as_interrupt
from surefoot.ui.cli.tables import model, row_place
from surefoot.ui.letters.folder import Mailing, rows_digest, write_letters
from surefoot.ui.letters.labels import Labels, labels_template, read_labels
from surefoot.ui.letters.page import refuse_ending
from surefoot.ui.letters.sender import NO_LABELS, NO_LIMITS, NO_NAMES, REVIEW, blanks_of
from surefoot.ui.letters.slots import template
from surefoot.ui.letters.writer import is_missing

STOPPED = "surefoot: stopped; letters that are written stay in {}, and the same command goes on there"
# Flags that say where and how letters are written, not what is in them.
NOT_ASKED = (
    "command", "debug", "model", "data", "output", "jobs", "quiet", "restart", "date", "max_size", "row",
    "all", "separator", "decimal", "decimal_comma", "decimal_point", "header", "labels", "actions", "json",
    "to", "text",
)  # fmt: skip


def run_labels(options: argparse.Namespace) -> int:
    """``surefoot labels``."""
    begin_file(
        options.output,
        labels_template(model(options.model, options)),
        what="what you wrote",
        then="change the texts in it, and give it to surefoot letter --labels",
    )
    return DONE


def check_flags(options: argparse.Namespace) -> None:
    """Flags that do not go together, before anything is read."""
    if options.output == STANDARD:
        raise ProblemError("letters cannot go to standard output; give the name of a file or folder")
    for flag in ("restart", "text"):
        if getattr(options, flag) and not options.all:
            raise ProblemError(f"--{flag} goes with --all")
    for flag in ("to", "json"):
        if getattr(options, flag) and options.all:
            raise ProblemError(f"--{flag} is about one letter; it goes with --row")
    refuse_no_jobs(options)
    if options.alternatives < 1:
        raise ProblemError(f"--alternatives must be at least 1, not {options.alternatives}")
    options.output = (Folder if options.all else Output)(options.output)
    check_paths(options)
    if not options.all:
        refuse_ending(Path(options.output))


def mailing(explainer: CounterfactualExplainer, target: Any, options: argparse.Namespace) -> Mailing:
    """What all letters have in common."""
    as_text = options.text or (not options.all and options.output.lower().endswith(".txt"))
    labels = read_labels(options.labels, explainer.classifier)
    return Mailing(
        explainer,
        target,
        labels,
        options.language,
        options.template,
        ".txt" if as_text else ".html",
        options.alternatives,
        _notes(options, labels),
    )


def _notes(options: argparse.Namespace, labels: Labels) -> tuple[str, ...]:
    """What the sender should know, whatever is in the letters."""
    no_limits = () if options.actions else (NO_LIMITS,)
    blanks = blanks_of(labels, template(options.template)) if options.labels else (NO_LABELS,)
    return (*no_limits, *blanks, REVIEW, *(() if options.id else (NO_NAMES,)))


def run(letters: Mailing, rows: pd.DataFrame, recorded: pd.Series | None, options: argparse.Namespace) -> int:
    """Write one letter, or all; what the sender should know is said at the end."""
    if options.id:  # names, also where they are numbers
        rows = rows.set_axis([x if is_missing(x) else str(x) for x in rows.index], axis=0)
    if options.all:
        return _all(letters, rows, recorded, options)
    place, day = row_place(options, rows), options.date or datetime.date.today()
    known = None if recorded is None else recorded.iloc[place]
    found = letters.written(rows.iloc[place], rows.index[place], day, options.to, known)
    write_whole(options.output, found.letter)
    say(f"surefoot: wrote {options.output} ({found.status})")
    if options.json:
        write_whole(options.json, found.proof)
        say(f"surefoot: wrote {options.json}")
    _tell([*letters.notes, *found.notes])
    return DONE


def _tell(notes: Iterable[str]) -> None:
    """What the sender should know."""
    for note in notes:
        say(f"surefoot: note: {note}")


def _all(
    letters: Mailing, rows: pd.DataFrame, recorded: pd.Series | None, options: argparse.Namespace
) -> int:
    if letters.target is None:
        say("surefoot: no --target: every letter is about the class that its row is not decided as")
    folder, kept = None, STOPPED.format(options.output)
    with termination_as_interrupt(kept) as terminated, suppress(KeyboardInterrupt):
        folder = write_letters(
            letters,
            rows,
            Path(options.output),
            _asked(letters, rows, recorded, options),
            n_jobs=options.jobs,
            restart=options.restart,
            progress=not options.quiet,
            recorded=None if recorded is None else recorded.tolist(),
        )
    if folder is None:
        return stopped(kept, terminated)
    counts = pd.Series([one["status"] for one in folder.entries], dtype=object).value_counts()
    said = ", ".join(f"{count} {status}" for status, count in counts.items())
    say(f"surefoot: {len(folder.done)} letters in {options.output}: {said or 'none'}")
    for why in folder.unwritten:
        say(f"surefoot: no letter: {why}")
    _tell([*letters.notes, *folder.notes])
    return NOT_FOUND if folder.unwritten else DONE


def _asked(
    letters: Mailing, rows: pd.DataFrame, recorded: pd.Series | None, options: argparse.Namespace
) -> dict[str, Any]:
    """What tells these letters from others in the same folder."""
    flags = {name: str(value) for name, value in sorted(vars(options).items()) if name not in NOT_ASKED}
    actions = Path(options.actions).read_bytes() if options.actions else b""
    return {
        "model": letters.explainer.classifier.fingerprint_,
        "rows": rows_digest(rows),
        "recorded": None if recorded is None else rows_digest(recorded.to_frame()),
        "labels": hashlib.sha256(repr(letters.labels).encode("utf-8", "surrogatepass")).hexdigest(),
        "actions": hashlib.sha256(actions).hexdigest(),
        "form": letters.form,
        "flags": flags,
        "date": options.date.isoformat() if options.date else None,
    }
