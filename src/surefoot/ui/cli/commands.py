"""What the commands do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.actions import Actions
from surefoot.search.certified import kernel
from surefoot.search.paper.backends import available_backends
from surefoot.ui.cli import auditing, letters
from surefoot.ui.cli.explaining import run_explain
from surefoot.ui.cli.fitting import run_diagnose, run_fit, run_predict
from surefoot.ui.cli.main import DONE, NOT_FOUND, say, show, show_sentences
from surefoot.ui.cli.parser import DATA_SETS, parser
from surefoot.ui.cli.paths import begin_file
from surefoot.ui.cli.regions import read_region
from surefoot.ui.cli.request import check_request, explainer_of, wanted_targets
from surefoot.ui.cli.spoken import spoken
from surefoot.ui.cli.tables import model, rows_and_record
from surefoot.ui.cli.verifying import run_verify
from surefoot.ui.report.demo import demo


def run_demo(options: argparse.Namespace) -> int:
    """``surefoot demo``."""
    show(demo(options.html) + "\n")
    say(f"surefoot: wrote {options.html}; open it in a browser")
    return DONE


def run_letter(options: argparse.Namespace) -> int:
    """``surefoot letter``."""
    letters.check_flags(options)
    clf = model(options.model, options)
    check_request(options, clf)
    target = wanted_targets(options.target, clf)
    if isinstance(target, list):
        raise ProblemError("a letter is about one class; give --target once")
    mailing = letters.mailing(explainer_of(clf, options), target, options)
    return letters.run(mailing, *rows_and_record(options, clf), options)


def run_audit(options: argparse.Namespace) -> int:
    """``surefoot audit``."""
    auditing.check_flags(options)
    clf = model(options.model, options)
    check_request(options, clf)
    return auditing.run(explainer_of(clf, options), wanted_targets(options.target, clf), options)


def run_nobody(options: argparse.Namespace) -> int:
    """``surefoot nobody``."""
    clf = model(options.model, options)
    check_request(options, clf)
    target = wanted_targets(options.target, clf)
    if isinstance(target, list):
        raise ProblemError("a region is about one class; give --target once")
    found = explainer_of(clf, options).nobody(read_region(options.region, clf), target)
    if options.json == "-":
        sys.stdout.write(found.to_json() + "\n")
    else:
        show_sentences(f"{spoken(str(found))}\n")
        if options.json:
            found.save(options.json)
            say(f"surefoot: wrote {options.json}")
    return DONE if found.holds else NOT_FOUND


def run_actions(options: argparse.Namespace) -> int:
    """``surefoot actions``."""
    begin_file(
        options.output,
        Actions.template(model(options.model, options)),
        what="what you said",
        then="say in it what may change, and give it to surefoot explain --actions",
    )
    return DONE


def run_backends(_: argparse.Namespace) -> int:
    """``surefoot backends``."""
    say(f"surefoot: {kernel.state()}")
    for backend in available_backends():
        state = "ready" if backend.usable else ("no licence" if backend.installed else "missing")
        sys.stdout.write(f"{backend.name:<8} {state:<11} {'+'.join(backend.kinds):<10} {backend.message}\n")
    return DONE


def run_reproduce(options: argparse.Namespace) -> int:
    """``surefoot reproduce``."""
    from surefoot.experiments import Plan, reproduce
    from surefoot.experiments.settings import METHODS

    budgets = {"1": 0.01, "2": 0.05}
    everything = not (options.table or options.figures or options.value)
    plan = Plan(
        budgets=tuple(b for t, b in budgets.items() if everything or t in options.table),
        figures=everything or options.figures,
        value=everything or options.value,
        quick=options.quick,
        n_factuals=options.factuals,
        time_limit=options.time_limit,
        data=tuple(options.data) or DATA_SETS,
        methods=tuple(
            (method, solver)
            for method, solver in METHODS
            if (not options.method or method in options.method)
            and (not options.backend or not solver or solver in options.backend)
        ),
    )
    for path in reproduce(plan, options.output, progress=not options.quiet):
        show(f"{path}\n")
    return DONE


def run_completion(options: argparse.Namespace) -> int:
    """``surefoot completion``."""
    import shtab

    sys.stdout.write(shtab.complete(parser(), shell=options.shell) + "\n")
    return DONE


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "demo": run_demo,
    "fit": run_fit,
    "diagnose": run_diagnose,
    "predict": run_predict,
    "actions": run_actions,
    "explain": run_explain,
    "audit": run_audit,
    "letter": run_letter,
    "labels": letters.run_labels,
    "nobody": run_nobody,
    "verify": run_verify,
    "backends": run_backends,
    "reproduce": run_reproduce,
    "completion": run_completion,
}
