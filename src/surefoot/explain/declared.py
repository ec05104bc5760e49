"""Wishes as a file declares them: read strictly, and compared with the domain that was searched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.actions import Action, Actions
from surefoot.explain.categories import Category
from surefoot.explain.wishes import DATA, Wishes
from surefoot.plain import entries, finite, label, sequence, shown, text, truth
from surefoot.waist.domain import Domain
from surefoot.waist.question import Question

FIELDS = ("may", "low", "high", "most", "step", "whole", "values", "moves", "cost", "protected")


def read_declared(
    values: Any,
    names: tuple[Any, ...],
    observed_range: ArrayLike | None = None,
    categories: Sequence[Category] = (),
) -> Wishes:
    """Read what `Wishes.declared` gave; rules are not part of it, since the domain holds them in full."""
    entries(values, "declared", (), ("bounds", "actions", "whole", "imputed"))
    for name in sequence(values.get("imputed", []), "imputed"):
        _name(name, names)
    actions = values.get("actions", {})
    if not isinstance(actions, Mapping):
        raise DataError(f"the declared actions must be an object, not {shown(actions)}")
    named = {_name(name, names): _action(entry) for name, entry in actions.items()}
    bounds = _bounds(values.get("bounds"), names)
    listed = [_name(name, names) for name in sequence(values.get("whole", []), "whole")]
    return Wishes.by_name(
        names,
        actions=Actions(named),
        bounds=bounds,
        observed_range=observed_range,
        categories=categories,
        whole=[names.index(name) for name in listed],
    )


def check_declared(question: Question) -> None:
    """Refuse a question whose domain is not what its declared wishes say.

    The range seen in training is not in the question: where it is a bound, it is taken to be what the
    domain says, which must agree with all other wishes.
    """
    domain, seen = question.domain, np.full((2, len(question.features)), np.nan)
    seen[:, list(question.numbers)] = domain.low, domain.high
    try:
        wishes = read_declared(question.declared, question.features, seen, _categories(question))
        said = wishes.domain(question.factual)
        choices = wishes.choices(question.state)
    except ProblemError as error:
        raise DataError(f"the declared wishes make no sense: {error}") from None
    same = (domain.low == said.low) & (domain.high == said.high)
    if not same.all() or _sets(domain) != _sets(said):
        raise DataError("the domain is not what the declared wishes say")
    if choices != question.choices:
        raise DataError("the choices of the categories are not what the declared wishes say")


def _categories(question: Question) -> list[Category]:
    """The categories of a question; one that may rise or fall must have an order."""
    actions = question.declared.get("actions", {})
    found = []
    for choice in question.choices:
        name = question.features[choice.feature]
        said = actions.get(str(name), {}) if isinstance(actions, Mapping) else {}
        ordered = isinstance(said, Mapping) and said.get("may") in ("rise", "fall")
        found.append(Category(choice.feature, name, choice.values, ordered))
    return found


def _sets(domain: Domain) -> dict[int, Any]:
    return {one.feature: one.values for one in domain.sets}


def _name(name: Any, names: tuple[Any, ...]) -> Any:
    found = [feature for feature in names if str(feature) == name]
    if len(found) != 1:
        raise DataError(f"the declared wishes name {shown(name)}, which is not a feature")
    return found[0]


def _action(values: Any) -> Action:
    entry = entries(values, "a declared action", (), FIELDS)
    found: dict[str, Any] = {}
    if "may" in entry:
        found["may"] = text(entry["may"], "may")
    for name in ("low", "high", "most", "step"):
        if name in entry:
            found[name] = finite(entry[name], name)
    for name in ("whole", "protected"):
        if name in entry:
            found[name] = truth(entry[name], name)
    if "values" in entry:
        found["values"] = [label(v, "an allowed value") for v in sequence(entry["values"], "values")]
    if "moves" in entry:
        moves = entry["moves"] if isinstance(entry["moves"], Mapping) else {}
        found["moves"] = {v: [label(t, "a move") for t in sequence(to, "moves")] for v, to in moves.items()}
    if "cost" in entry:
        cost = entry["cost"]
        prices = {v: finite(p, "a price") for v, p in cost.items()} if isinstance(cost, Mapping) else {}
        found["cost"] = prices if isinstance(cost, Mapping) else finite(cost, "a price")
    return Action(**found)


def _bounds(values: Any, names: tuple[Any, ...]) -> Any:
    if values is None or values == DATA:
        return values
    if not isinstance(values, Mapping):
        raise DataError(f"the declared bounds must be null, 'data' or an object, not {shown(values)}")
    return {_name(name, names): _interval(ends) for name, ends in values.items()}


def _interval(ends: Any) -> Any:
    if ends == DATA:
        return DATA
    low, high = sequence(ends, "the bounds of a feature", 2)
    return (
        -math.inf if low is None else finite(low, "a bound"),
        math.inf if high is None else finite(high, "a bound"),
    )
