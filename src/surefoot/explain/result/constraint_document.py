"""Wishes as a file declares them: read strictly, and compared with the domain that was searched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.ask.keeping import keeping_one
from surefoot.explain.ask.plausible import Plausible, checked_plausible
from surefoot.explain.constraints.actions import Action, Actions
from surefoot.explain.constraints.categories import Category
from surefoot.explain.constraints.grammar import read_rule_entry
from surefoot.explain.constraints.wishes import DATA, Wishes
from surefoot.plain import end, entries, finite, label, sequence, shown, text, truth
from surefoot.problem.domain import Domain
from surefoot.problem.either import Either, Limit
from surefoot.problem.question import Question
from surefoot.problem.row import Row

KEYS = (
    "bounds",
    "actions",
    "whole",
    "imputed",
    "rules",
    "links",
    "when",
    "at_most",
    "gaps",
    "plausible",
    "keeping",
)
FIELDS = ("may", "low", "high", "most", "step", "whole", "values", "moves", "cost", "protected")


def read_declared(
    values: Any,
    names: tuple[Any, ...],
    observed_range: ArrayLike | None = None,
    categories: Sequence[Category] = (),
) -> Wishes:
    """Read what `Wishes.declared` gave."""
    entries(values, "declared", (), KEYS)
    for name in sequence(values.get("imputed", []), "imputed"):
        feature_named(name, names)
    actions = _object(values.get("actions", {}), "actions")
    named = {feature_named(name, names): _action(entry) for name, entry in actions.items()}
    listed = [feature_named(name, names) for name in sequence(values.get("whole", []), "whole")]
    return Wishes.by_name(
        names,
        actions=Actions(named, **_over_several(values)),
        bounds=_bounds(values.get("bounds"), names),
        observed_range=observed_range,
        categories=categories,
        whole=[names.index(name) for name in listed],
        gaps=_gaps(values["gaps"]) if "gaps" in values else None,
    )


def _over_several(values: Mapping[str, Any]) -> dict[str, Any]:
    """Rules, links, if-then rules and limits."""
    limits = [sequence(one, "a limit", 2) for one in sequence(values.get("at_most", []), "at_most")]
    every = [most for most, features in limits if features is None]
    if len(every) > 1:
        raise DataError("the declared wishes limit all features twice")
    return {
        "rules": [read_rule_entry(entry) for entry in sequence(values.get("rules", []), "rules")],
        "links": sequence(values.get("links", []), "links"),
        "when": sequence(values.get("when", []), "when"),
        "at_most": every[0] if every else None,
        "at_most_of": [one for one in limits if one[1] is not None],
    }


def _gaps(values: Any) -> dict[str, float]:
    found = {name: finite(gap, "a gap") for name, gap in _object(values, "gaps").items()}
    if not all(gap > 0 for gap in found.values()):
        raise DataError("a gap must be above 0")
    return found


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError(f"the declared {what} must be an object, not {shown(value)}")
    return value


def check_declared(
    question: Question, observed_range: ArrayLike | None = None, near: Sequence[Either] | None = None
) -> None:
    """Refuse a question whose domain is not what its declared wishes say.

    The range seen in training is not in the question: where it is a bound and the model is not at hand, it
    is taken to be what the domain says, which must agree with all other wishes. Neither is what the model
    expects of each feature: ``near``, where that is required.
    """
    domain, seen = question.domain, np.full((2, len(question.features)), np.nan)
    seen[:, list(question.numbers)] = domain.low, domain.high
    seen = seen if observed_range is None else np.asarray(observed_range, dtype=float)
    try:
        wishes = read_declared(question.declared, question.features, seen, categories_of(question))
        said = wishes.allowed(question.factual, question.state)
    except ProblemError as error:
        raise DataError(f"the declared wishes make no sense: {error}") from None
    same = (domain.low == said.domain.low) & (domain.high == said.domain.high)
    if not same.all() or _sets(domain) != _sets(said.domain):
        older = " (before links held what is linked, they were written otherwise: ask again)"
        hint = older if question.declared.get("links") else ""
        raise DataError(f"the domain is not what the declared wishes say{hint}")
    if said.choices != question.choices:
        raise DataError("the choices of the categories are not what the declared wishes say")
    if not _same_rows(domain.rows, said.domain.rows):
        raise DataError("the rules are not what the declared wishes say")
    if near is None:
        near = (
            question.eithers[len(said.eithers) :]
            if declared_plausible(question).deviations is not None
            else ()
        )
    limits = (*said.limits, *_keeping(question))
    if not same_eithers(question.eithers, [*said.eithers, *near]) or question.limits != limits:
        raise DataError("the if-then rules and limits are not what the declared wishes say")
    _check_prices(question, wishes)
    _check_exact(question, wishes)


def _check_exact(question: Question, wishes: Wishes) -> None:
    """Refuse features that land exactly for no reason: only those that are kept may, or none."""
    if isinstance(question.budget, Mapping):
        honest: tuple[tuple[int, ...], ...] = (
            tuple(j for j in range(len(question.numbers)) if j not in question.budget),
        )
    else:
        honest = ((), wishes.kept)
    if question.budget and tuple(question.exact) not in honest:
        raise DataError("the features that land exactly are not those that must not change")


def declared_plausible(question: Question) -> Plausible:
    """What is declared to be plausible."""
    said = question.declared.get("plausible")
    try:
        return checked_plausible(said) or Plausible()
    except ProblemError as error:
        raise DataError(f"the declared wishes make no sense: {error}") from None


def _keeping(question: Question) -> list[Limit]:
    """That one of some features stays, for each earlier answer."""
    found = []
    for entry in sequence(question.declared.get("keeping", []), "keeping"):
        features = [feature_named(name, question.features) for name in sequence(entry, "keeping")]
        place = (question.features, question.numbers, question.factual)
        found.append(keeping_one(features, *place))
    return found


def _same_rows(some: Sequence[Row], others: Sequence[Row]) -> bool:
    return len(some) == len(others) and all(
        (a.low, a.high, a.name) == (b.low, b.high, b.name) and np.array_equal(a.coefficients, b.coefficients)
        for a, b in zip(some, others, strict=True)
    )


def same_eithers(some: Sequence[Either], others: Sequence[Either]) -> bool:
    """Whether two lists of eithers say the same in the same order."""
    return len(some) == len(others) and all(
        a.name == b.name
        and len(a.ways) == len(b.ways)
        and all(
            v.values == w.values and _same_rows(v.rows, w.rows) for v, w in zip(a.ways, b.ways, strict=True)
        )
        for a, b in zip(some, others, strict=True)
    )


def _check_prices(question: Question, wishes: Wishes) -> None:
    said = None if question.prices is None and not wishes.priced else wishes.prices
    if question.prices != said:
        raise DataError("the prices of the numbers are not what the declared wishes say")


def categories_of(question: Question) -> list[Category]:
    """The categories of a question; whether they have an order is not in it, so that all may."""
    return [
        Category(choice.feature, question.features[choice.feature], choice.values, ordered=True)
        for choice in question.choices
    ]


def _sets(domain: Domain) -> dict[int, Any]:
    return {one.feature: one.values for one in domain.sets}


def feature_named(name: Any, names: tuple[Any, ...]) -> Any:
    """The feature that a file calls by a name."""
    found = [feature for feature in names if str(feature) == name]
    if len(found) != 1:
        raise DataError(f"the declared wishes name {shown(name)}, which is not a feature")
    return found[0]


def _action(values: Any) -> Action:
    entry = entries(values, "a declared action", (), FIELDS)
    found: dict[str, Any] = {}
    if "may" in entry:
        found["may"] = text(entry["may"], "may")
    for name, read in (("low", end), ("high", end), ("most", finite), ("step", finite)):
        if name in entry:
            found[name] = read(entry[name], name)
    for name in ("whole", "protected"):
        if name in entry:
            found[name] = truth(entry[name], name)
    if "values" in entry:
        found["values"] = [label(v, "an allowed value") for v in sequence(entry["values"], "values")]
    if "moves" in entry:
        moves = entry["moves"] if isinstance(entry["moves"], Mapping) else {}
        found["moves"] = {v: [label(t, "a move") for t in sequence(to, "moves")] for v, to in moves.items()}
    if "cost" in entry:
        found["cost"] = _cost(entry["cost"])
    return Action(**found)


def _cost(cost: Any) -> Any:
    if isinstance(cost, Mapping):
        return {value: finite(price, "a price") for value, price in cost.items()}
    if isinstance(cost, list):
        return tuple(finite(price, "a price") for price in cost)
    return finite(cost, "a price")


def _bounds(values: Any, names: tuple[Any, ...]) -> Any:
    if values is None or values == DATA:
        return values
    if not isinstance(values, Mapping):
        raise DataError(f"the declared bounds must be null, 'data' or an object, not {shown(values)}")
    return {feature_named(name, names): _interval(ends) for name, ends in values.items()}


def _interval(ends: Any) -> Any:
    if ends == DATA:
        return DATA
    low, high = sequence(ends, "the bounds of a feature", 2)
    return (
        -math.inf if low is None else finite(low, "a bound"),
        math.inf if high is None else finite(high, "a bound"),
    )
