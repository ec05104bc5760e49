"""A question held against what it declares: its domain must be what its constraints say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.ask.diversity import keeping_one
from surefoot.explain.ask.plausible import Plausible, checked_plausible
from surefoot.explain.constraints.category import Category
from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.explain.constraints.document import feature_named, read_constraints
from surefoot.plain import sequence
from surefoot.problem.domain import Domain
from surefoot.problem.either import Either, Limit
from surefoot.problem.question import Question
from surefoot.problem.row import Row


def check_declared(
    question: Question, observed_range: ArrayLike | None = None, near: Sequence[Either] | None = None
) -> None:
    """Refuse a question whose domain is not what its declared constraints say.

    The range seen in training is not in the question: where it is a bound and the model is not at hand, it
    is taken to be what the domain says, which must agree with all other constraints. Neither is what the
    model expects of each feature: ``near``, where that is required.
    """
    domain, seen = question.domain, np.full((2, len(question.features)), np.nan)
    seen[:, list(question.numbers)] = domain.low, domain.high
    seen = seen if observed_range is None else np.asarray(observed_range, dtype=float)
    try:
        constraints = read_constraints(question.declared, question.features, seen, categories_of(question))
        said = constraints.allowed(question.factual, question.state)
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
    _check_prices(question, constraints)
    _check_exact(question, constraints)


def _check_exact(question: Question, constraints: ConstraintSet) -> None:
    """Refuse features that land exactly for no reason: only those that are kept may, or none."""
    if isinstance(question.budget, Mapping):
        honest: tuple[tuple[int, ...], ...] = (
            tuple(j for j in range(len(question.numbers)) if j not in question.budget),
        )
    else:
        honest = ((), constraints.kept)
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


def _check_prices(question: Question, constraints: ConstraintSet) -> None:
    said = None if question.prices is None and not constraints.priced else constraints.prices
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
