"""What the commands do."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from surefoot.exceptions import NoCounterfactualError, ProblemError
from surefoot.explain.answer.methods import Milp, Qcqp
from surefoot.explain.ask.presets import PRESET
from surefoot.explain.constraints.actions import Action, Actions
from surefoot.explain.constraints.constraint_set import DATA
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.trade_off import VALUES
from surefoot.files import write_whole
from surefoot.formats import suggestion
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.search.certified import kernel
from surefoot.search.paper.backends import available_backends
from surefoot.status import Status
from surefoot.ui.cli import letters
from surefoot.ui.cli.explaining_all import explain_to_file, goes_to_file, refuse_unused
from surefoot.ui.cli.fitting import run_diagnose, run_fit, run_predict
from surefoot.ui.cli.main import INTERRUPTED, say, show, show_sentences
from surefoot.ui.cli.more import more_text, with_more
from surefoot.ui.cli.parser import DATA_SETS, parser
from surefoot.ui.cli.paths import refit_path
from surefoot.ui.cli.spoken import spoken
from surefoot.ui.cli.tables import (
    check_names,
    csv_text,
    model,
    row_place,
    rows_of_table,
    training_table,
)
from surefoot.ui.cli.verifying import run_verify
from surefoot.ui.report.demo import demo
from surefoot.ui.report.page import write_report
from surefoot.ui.report.summary import presets_of

DONE, NOT_FOUND = 0, 1
FILLS = "impute='expected'"  # in the advice about a row with holes


def run_demo(options: argparse.Namespace) -> int:
    """``surefoot demo``."""
    show(demo(options.html) + "\n")
    say(f"surefoot: wrote {options.html}; open it in a browser")
    return DONE


def run_explain(options: argparse.Namespace) -> int:
    """``surefoot explain``."""
    _check_flags(options)
    clf = model(options.model, options)
    _check_request(options, clf)
    explainer = _explainer(clf, options)
    target = _targets(options.target, clf)
    if options.all and goes_to_file(options):
        return explain_to_file(explainer, target, options)
    rows = rows_of_table(options, clf)
    return (_explain_all if options.all else _explain_row)(explainer, rows, target, options)


def run_letter(options: argparse.Namespace) -> int:
    """``surefoot letter``."""
    letters.check_flags(options)
    clf = model(options.model, options)
    _check_request(options, clf)
    target = _targets(options.target, clf)
    if isinstance(target, list):
        raise ProblemError("a letter is about one class; give --target once")
    mailing = letters.mailing(_explainer(clf, options), target, options)
    return letters.run(mailing, rows_of_table(options, clf), options)


def run_actions(options: argparse.Namespace) -> int:
    """``surefoot actions``."""
    text, path = Actions.template(model(options.model, options)), options.output
    if path in (None, "-"):
        sys.stdout.write(text)
        return DONE
    if os.path.lexists(path):
        raise ProblemError(f"{path}: exists already, and may hold what you said; give another name")
    write_whole(path, text)
    say(f"surefoot: wrote {path}; say in it what may change, and give it to surefoot explain --actions")
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
    "letter": run_letter,
    "labels": letters.run_labels,
    "verify": run_verify,
    "backends": run_backends,
    "reproduce": run_reproduce,
    "completion": run_completion,
}


def _explainer(
    clf: ConditionalGaussianNetworkClassifier, options: argparse.Namespace
) -> CounterfactualExplainer:
    return CounterfactualExplainer(
        clf,
        preset=options.preset,
        budget=_budget(options),
        noise_on=options.noise_on,
        norm=options.norm if options.norm is PRESET else float(options.norm),
        at_most=options.at_most,
        printable=options.printable,
        threshold=options.threshold,
        against=options.against,
        decision=options.decision,
        method=_method(options),
        whitening=options.whitening,
        distance=options.distance,
        bounds=_bounds(clf, options),
        immutable=options.immutable,
        increasing=options.increasing,
        decreasing=options.decreasing,
        actions=_actions(clf, options),
        impute="expected" if options.impute else None,
        plausible=_plausible(options.plausible),
        models=options.models,
        random_state=options.seed,
        data=_training(clf, options),
        time_limit=options.time_limit,
        gap=options.gap,
        diagnose=options.diagnose,
    )


def _method(options: argparse.Namespace) -> Any:
    """The method with the options that are said for it."""
    if options.method == "qcqp":
        return Qcqp(backend=options.backend, tol=options.tol)
    if options.method == "milp":
        return Milp(
            options.backend, options.tol, n_segments=options.segments, contraction=options.contraction
        )
    if options.backend is not None:
        raise ProblemError(
            f"the certified method needs no backend; {options.backend!r} is for 'qcqp' or 'milp'"
        )
    return options.method


def _plausible(words: Any) -> Any:
    """A share, or 'conditional' and a number; as the preset says where nothing is said."""
    if not isinstance(words, list):
        return words
    if words[0] == "conditional" and len(words) == 2:
        return "conditional", _number("--plausible", "conditional", words[1])
    if len(words) != 1:
        raise ProblemError(
            f"--plausible takes a share, or 'conditional' and a number, not {' '.join(words)!r}"
        )
    return _number("--plausible", "SHARE", words[0])


def _training(clf: ConditionalGaussianNetworkClassifier, options: argparse.Namespace) -> Any:
    """The training rows for refits, with their labels."""
    if options.models is None:
        wrong = next((f for f in ("training", "label", "save_models") if getattr(options, f)), None)
        if wrong:
            raise ProblemError(f"--{FLAGS.get(wrong, wrong)} is for --models, which is missing")
        return None
    if not options.training:
        if not clf.refits_:
            raise ProblemError(
                "--models needs --data, the table to which the model is fitted again: it keeps no refits"
            )
        if options.label:
            raise ProblemError("--label is for --data, which is missing")
        return None
    data = training_table(options, clf)
    return data.X, data.y


FLAGS = {"training": "data", "save_models": "save-models"}


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
    if options.jobs == 0:
        raise ProblemError("--jobs must be an integer other than 0 (-1: all cores), not 0")


def _check_request(options: argparse.Namespace, clf: ConditionalGaussianNetworkClassifier) -> None:
    """Names that the model does not have, before anything is read."""
    names = clf.feature_labels_
    for flag in ("immutable", "increasing", "decreasing", "whole", "fractional", "free"):
        check_names(f"--{flag}", getattr(options, flag), names)
    listings = {"--bound": options.bound or [], "--budget-of": options.budget_of, "--values": options.values}
    for flag, entries in listings.items():
        check_names(flag, [entry[0] for entry in entries], names)


def _bounds(clf: ConditionalGaussianNetworkClassifier, options: argparse.Namespace) -> Any:
    """What --bounds says about every feature, and --bound about single ones."""
    if not options.bound:
        return {"data": DATA, "none": None}.get(options.bounds, PRESET)
    numbers = (name for name in clf.feature_labels_ if name not in clf.categories_)
    others = dict.fromkeys(numbers, DATA) if options.bounds != "none" else {}
    return others | {name: (_end(name, low), _end(name, high)) for name, low, high in options.bound}


def _budget(options: argparse.Namespace) -> Any:
    """What --budget says, or --budget-of by feature."""
    if not options.budget_of:
        return options.budget
    if options.budget is not PRESET:
        raise ProblemError("give either --budget or --budget-of, not both")
    return {name: _number("--budget-of", name, size) for name, size in options.budget_of}


def _actions(clf: ConditionalGaussianNetworkClassifier, options: argparse.Namespace) -> Actions:
    """What --actions, --whole, --fractional, --values and --free say."""
    both = next((name for name in options.whole if name in options.fractional), None)
    if both is not None:
        raise ProblemError(f"{both!r} cannot be both --whole and --fractional")
    found: dict[Any, Action] = {name: Action(whole=True) for name in options.whole}
    found |= {name: Action(whole=False) for name in options.fractional}
    for name, *texts in options.values:
        if name in found or not texts:
            reason = "has been given values or --whole already" if texts else "needs at least one value"
            raise ProblemError(f"--values {name}: {reason}")
        found[name] = Action(values=[_value(clf, name, text) for text in texts])
    found = {name: Action() for name in options.free} | found
    said = Actions.from_toml(Path(options.actions)) if options.actions else Actions()
    twice = next((name for name in said.features if name in found), None)
    if twice is not None:
        raise ProblemError(f"{twice!r} has an action in {options.actions} already")
    if options.at_most is not PRESET and said.at_most is not None:
        raise ProblemError(f"{options.actions} says at_most already; leave --at-most out")
    return replace(said, features={**said.features, **found})


def _value(clf: ConditionalGaussianNetworkClassifier, feature: str, text: str) -> Any:
    """A number, or the value of a category that reads like this."""
    categories = {str(name): values for name, values in clf.categories_.items()}
    if feature not in categories:
        return _number("--values", feature, text)
    values = {str(value): value for value in categories[feature]}
    if text not in values:
        hint = suggestion(text, values) or f"; its values are {_quoted(values)}"
        raise ProblemError(f"--values {feature}: unknown value {text!r}{hint}")
    return values[text]


def _number(flag: str, feature: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ProblemError(f"{flag} {feature}: {text!r} is not a number") from None


def _end(feature: str, text: str) -> float | None:
    try:
        return None if text == "-" else float(text)
    except ValueError:
        raise ProblemError(f"--bound {feature}: {text!r} is neither a number nor '-'") from None


def _targets(texts: list[str] | None, clf: ConditionalGaussianNetworkClassifier) -> Any:
    """The class that is wanted, or a list of those of which the nearest is."""
    if texts is None:
        return _label(None, clf)
    found = [_label(text, clf) for text in texts]
    twice = [text for k, text in enumerate(texts) if text in texts[:k]]
    if twice:
        raise ProblemError(f"--target {twice[0]} is given twice")
    return found[0] if len(found) == 1 else found


def _label(text: str | None, clf: ConditionalGaussianNetworkClassifier) -> Any:
    """The class whose label reads like this."""
    if text is None and clf.wanted_ is not None:
        return clf.wanted_
    if text is None and len(clf.classes_) == 2:
        return None
    labels = {str(label): label for label in clf.classes_.tolist()}
    if text is None:
        raise ProblemError(f"--target is needed; the classes are {_quoted(labels)}")
    if text not in labels:
        raise ProblemError(
            f"--target {text}: unknown class; the classes are {_quoted(labels)}{suggestion(text, labels)}"
        )
    return labels[text]


def _quoted(labels: Iterable[str]) -> str:
    """Labels in quotes; spaces at their ends, which are easily overlooked, are pointed out."""
    notes = {label: " (spaces at an end)" if label != label.strip() else "" for label in labels}
    return ", ".join(f"{label!r}{note}" for label, note in notes.items())


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
    """Several targets are those of each row."""
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
    _say_holes(explanations)
    _say_cautions(explanations, options)
    if any(e.status.with_point is Status.INTERRUPTED for e in explanations):
        return INTERRUPTED
    return DONE if len(explanations.found) == len(explanations) else NOT_FOUND


SHOWN_FAILURES = 5


def _say_why(explanations: Explanations) -> None:
    """Name the rows without a counterfactual."""
    lost = [
        e for e in explanations if e.counterfactual is None and e.status is not Status.INTERRUPTED_NO_POINT
    ]
    for e in lost[:SHOWN_FAILURES]:
        say(f"surefoot: row {e.row}: {spoken(e.outcome)}")
    if len(lost) > SHOWN_FAILURES:
        say(f"surefoot: and {len(lost) - SHOWN_FAILURES} more without a counterfactual")


def _say_holes(explanations: Explanations) -> None:
    """How many rows have holes, and what fills them."""
    holes = sum(e.status is Status.INVALID and FILLS in e.advice for e in explanations)
    if holes:
        rows = "1 row has a missing value" if holes == 1 else f"{holes:,} rows have missing values"
        say(f"surefoot: {rows}; say --impute to fill them with what the model expects given the rest")


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
    if options.html:
        write_report(explained, options.html, explainer.classifier)
        say(f"surefoot: wrote {options.html}")
