"""What flags ask for: the explainer and the target of `surefoot explain` and `surefoot letter`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from surefoot.days import Day, as_day
from surefoot.exceptions import ProblemError
from surefoot.explain.ask.methods import Milp, Qcqp
from surefoot.explain.ask.presets import PRESET
from surefoot.explain.constraints.actions import Action, Actions
from surefoot.explain.constraints.constraint_set import DATA
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.formats import suggestion
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.ui.cli.tables import check_names, training_table


def explainer_of(
    clf: ConditionalGaussianNetworkClassifier, options: argparse.Namespace
) -> CounterfactualExplainer:
    """The explainer that the flags ask for."""
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


def check_request(options: argparse.Namespace, clf: ConditionalGaussianNetworkClassifier) -> None:
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
    return others | {name: (_end(clf, name, low), _end(clf, name, high)) for name, low, high in options.bound}


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
        day = _day(clf, feature, text)
        return _number("--values", feature, text) if day is None else day
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


def _end(clf: ConditionalGaussianNetworkClassifier, feature: str, text: str) -> float | None:
    day = _day(clf, feature, text)
    try:
        return day if day is not None or text == "-" else float(text)
    except ValueError:
        what = "a date such as 2024-03-01" if feature in _dates(clf) else "a number"
        raise ProblemError(f"--bound {feature}: {text!r} is neither {what} nor '-'") from None


def _dates(clf: ConditionalGaussianNetworkClassifier) -> list[str]:
    return [str(name) for name in clf.schema_.date_names]


def _day(clf: ConditionalGaussianNetworkClassifier, feature: str, text: str) -> Day | None:
    """The day that a text means where the feature is a date."""
    day = as_day(text) if feature in _dates(clf) else None
    return day if isinstance(day, Day) else None


def wanted_targets(texts: list[str] | None, clf: ConditionalGaussianNetworkClassifier) -> Any:
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
