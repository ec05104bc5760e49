"""``surefoot explain``: one row, alternatives for it, or all rows."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from surefoot.exceptions import NoCounterfactualError, ProblemError
from surefoot.explain.ask.row import FILLS
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.rows.trade_off import VALUES
from surefoot.files import write_whole
from surefoot.status import Status
from surefoot.ui.cli.explaining_all import explain_to_file, goes_to_file, refuse_unused, say_holes
from surefoot.ui.cli.flags import refuse_no_jobs
from surefoot.ui.cli.main import DONE, INTERRUPTED, NOT_FOUND, say, show_sentences
from surefoot.ui.cli.more import more_text, with_more
from surefoot.ui.cli.paths import refit_path
from surefoot.ui.cli.request import check_request, explainer_of, wanted_targets
from surefoot.ui.cli.spoken import spoken
from surefoot.ui.cli.tables import csv_text, model, row_place, rows_of_table
from surefoot.ui.report.page import write_report
from surefoot.ui.report.summary import presets_of


def run_explain(options: argparse.Namespace) -> int:
    """``surefoot explain``."""
    _check_flags(options)
    clf = model(options.model, options)
    check_request(options, clf)
    explainer = explainer_of(clf, options)
    target = wanted_targets(options.target, clf)
    if options.all and goes_to_file(options):
        return explain_to_file(explainer, target, options)
    rows = rows_of_table(options, clf)
    return (_explain_all if options.all else _explain_row)(explainer, rows, target, options)


def _check_flags(options: argparse.Namespace) -> None:
    """Flags that do not go together, or would be ignored."""
    if options.output and not options.all:
        raise ProblemError("--output is the table of all rows; it goes with --all")
    refuse_unused(options)
    if options.trade_off and options.all:
        raise ProblemError("--trade-off is about one row; it goes with --row")
    if options.alternatives is not None and options.all:
        raise ProblemError("--alternatives are about one row; they go with --row")
    if options.alternatives is not None and options.alternatives < 1:
        raise ProblemError(f"--alternatives must be at least 1, not {options.alternatives}")
    refuse_no_jobs(options)


def _explain_row(
    explainer: CounterfactualExplainer, rows: Any, target: Any, options: argparse.Namespace
) -> int:
    place = row_place(options, rows)
    if options.alternatives is not None:
        return _explain_alternatives(explainer, rows.iloc[place], target, options)
    try:
        explanation = explainer.explain(rows.iloc[place], target)
    except NoCounterfactualError as error:
        explanation = error.explanation
    except ProblemError as error:
        raise ProblemError(f"{options.data}, row {options.row}: {error}") from None
    explanation = with_more(explanation, options)
    if options.json != "-":
        show_sentences(f"{spoken(str(explanation))}\n{more_text(explanation)}")
    _write(explanation, explanation.to_json(), explainer, options)
    if options.trade_off:
        _write_costs(explainer, rows.iloc[place], target, options)
    return DONE if explanation.counterfactual is not None else NOT_FOUND


def _write_costs(
    explainer: CounterfactualExplainer, row: Any, target: Any, options: argparse.Namespace
) -> None:
    """What more safety costs one row, as a page; with refits up to as many as were asked for."""
    fewer = [n for n in VALUES["models"] if n is None or n < (options.models or 0)]
    models = [*fewer, options.models] if options.models else []
    write_report(explainer.trade_off(row, target, models=models), options.trade_off)
    say(f"surefoot: wrote {options.trade_off}")


def _explain_alternatives(
    explainer: CounterfactualExplainer, row: Any, target: Any, options: argparse.Namespace
) -> int:
    """Several answers about one row."""
    try:
        found = explainer.alternatives(row, target, options.alternatives, options.differ, options.apart)
    except ProblemError as error:
        raise ProblemError(f"{options.data}, row {options.row}: {error}") from None
    found = Explanations(with_more(explanation, options) for explanation in found)
    if options.json != "-":
        for k, explanation in enumerate(found, start=1):
            more = more_text(explanation)
            show_sentences(f"Answer {k} of {len(found)}\n{spoken(str(explanation))}\n{more}\n")
    if len(found) < options.alternatives:
        say(f"surefoot: {len(found)} of {options.alternatives} answers: nothing else is allowed")
    _write(found, found.to_json(), explainer, options)
    return DONE if found.found else NOT_FOUND


def _of_each(rows: Any, target: Any) -> Any:
    """A list of targets is repeated for each row."""
    return [target] * len(rows) if isinstance(target, list) else target


def _explain_all(
    explainer: CounterfactualExplainer, rows: Any, target: Any, options: argparse.Namespace
) -> int:
    n_rows = len(rows)
    if options.skip_accepted and target is not None:
        rows = rows[[not accepted for accepted in explainer.accepted(rows, _of_each(rows, target))]]
    wanted = _of_each(rows, target)
    explanations = explainer.explain_batch(rows, wanted, n_jobs=options.jobs, progress=not options.quiet)
    if len(rows) < n_rows:
        have = "row has" if n_rows - len(rows) == 1 else "rows have"
        left = f"{n_rows - len(rows)} of {n_rows} {have} the target already"
        say(f"surefoot: {left}; --no-skip-accepted lists them")
    if target is None:
        say("surefoot: no --target: every row is explained towards the class that it is not decided as")
    explanations = Explanations(with_more(explanation, options) for explanation in explanations)
    frame = explanations.to_frame()
    for column in ("advice", "kept"):
        frame[column] = frame[column].map(spoken)
    if options.output and options.output != "-":
        write_whole(options.output, csv_text(frame.reset_index()))
        say(f"surefoot: wrote {options.output}")
    elif options.output or not (options.json or options.html):
        sys.stdout.write(csv_text(frame.reset_index()))
    _write(explanations, explanations.to_json() if options.json else "", explainer, options)
    say(f"surefoot: {explanations}")
    for words in (*presets_of(explanations), *dict.fromkeys(e.kept for e in explanations if e.kept)):
        say(f"surefoot: {spoken(words)}")
    _say_why(explanations)
    say_holes(sum(e.status is Status.INVALID and FILLS in e.advice for e in explanations))
    _say_cautions(explanations, options)
    if any(e.status.with_point is Status.INTERRUPTED for e in explanations):
        return INTERRUPTED
    return DONE if len(explanations.found) == len(explanations) else NOT_FOUND


SHOWN_FAILURES = 5  # rows that are named; ten times as many would hide what was said before


def _say_why(explanations: Explanations) -> None:
    """Name the rows without a counterfactual."""
    lost = [
        e for e in explanations if e.counterfactual is None and e.status is not Status.INTERRUPTED_NO_POINT
    ]
    for e in lost[:SHOWN_FAILURES]:
        say(f"surefoot: row {e.row}: {spoken(e.outcome)}")
    if len(lost) > SHOWN_FAILURES:
        say(f"surefoot: and {len(lost) - SHOWN_FAILURES} more without a counterfactual")


def _say_cautions(explanations: Explanations, options: argparse.Namespace) -> None:
    """How many rows deserve a caution, and where it is written."""
    careful = sum(bool(e.cautions) for e in explanations)
    if not careful:
        return
    if options.html:
        where = f"see {options.html}"
    elif options.json and not options.output:
        where = f"see 'cautions' in {'the output' if options.json == '-' else options.json}"
    else:
        table = "the output" if options.output in (None, "-") else options.output
        where = f"see the column 'cautions' of {table}; --html writes them out"
    say(f"surefoot: {careful} with a caution ({where})")


def _save_models(explainer: CounterfactualExplainer, folder: str) -> None:
    """The refits, a file each: a proof that names them cannot be checked without."""
    assert explainer.refits is not None
    Path(folder).mkdir(parents=True, exist_ok=True)
    for k, refit in enumerate(explainer.refits.searched, start=1):
        refit.save(refit_path(folder, k))
    say(f"surefoot: wrote {len(explainer.refits.searched)} models into {folder}")


def _write(
    explained: Explanation | Explanations,
    text: str,
    explainer: CounterfactualExplainer,
    options: argparse.Namespace,
) -> None:
    if options.json == "-":
        sys.stdout.write(text + "\n")
    elif options.json:
        write_whole(options.json, text + "\n")
        say(f"surefoot: wrote {options.json}")
    if options.save_models:
        _save_models(explainer, options.save_models)
    if options.html and isinstance(explained, Explanations) and not explained:
        say(f"surefoot: there is no row to explain, so {options.html} is not written")
    elif options.html:
        write_report(explained, options.html, explainer.classifier)
        say(f"surefoot: wrote {options.html}")
