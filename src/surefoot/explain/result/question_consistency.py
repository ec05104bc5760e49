"""A question compared with what it declares: its domain must follow from its constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.ask.differing import keeping_one
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
        raise DataError(f"the declared constraints make no sense: {error}") from None
    ours, theirs = ([d.low.tolist(), d.high.tolist(), _sets(d)] for d in (domain, said.domain))
    if ours != theirs:
        older = " (before links held what is linked, they were written otherwise: ask again)"
        hint = older if question.declared.get("links") else ""
        raise DataError(f"the domain is not what the declared constraints say{hint}")
    if said.choices != question.choices:
        raise DataError("the choices of the categories are not what the declared constraints say")
    if _content(domain.rows) != _content(said.domain.rows):
        raise DataError("the rules are not what the declared constraints say")
    if near is None:
        is_asked = declared_plausible(question).deviations is not None
        near = question.eithers[len(said.eithers) :] if is_asked else ()
    limits = (*said.limits, *_keeping(question))
    if not same_eithers(question.eithers, [*said.eithers, *near]) or question.limits != limits:
        raise DataError("the if-then rules and limits are not what the declared constraints say")
    prices = None if question.prices is None and not constraints.priced else constraints.prices
    if question.prices != prices:
        raise DataError("the prices of the numbers are not what the declared constraints say")
    _check_exact(question, constraints)


def _check_exact(question: Question, constraints: ConstraintSet) -> None:
    """Refuse features that land exactly for no reason: only those that are kept may, or none."""
    honest: tuple[tuple[int, ...], ...] = ((), constraints.kept)
    if isinstance(question.budget, Mapping):
        honest = (tuple(j for j in range(len(question.numbers)) if j not in question.budget),)
    if question.budget and tuple(question.exact) not in honest:
        raise DataError("the features that land exactly are not those that must not change")


def declared_plausible(question: Question) -> Plausible:
    """What is declared to be plausible."""
    try:
        return checked_plausible(question.declared.get("plausible")) or Plausible()
    except ProblemError as error:
        raise DataError(f"the declared constraints make no sense: {error}") from None


def _keeping(question: Question) -> list[Limit]:
    """That one of some features stays, for each earlier answer."""
    place = (question.features, question.numbers, question.factual)
    listed = [sequence(e, "keeping") for e in sequence(question.declared.get("keeping", []), "keeping")]
    return [keeping_one([feature_named(n, question.features) for n in names], *place) for names in listed]


def _content(rows: Sequence[Row]) -> list[Any]:
    return [(row.low, row.high, row.name, row.coefficients.tolist()) for row in rows]


def same_eithers(some: Sequence[Either], others: Sequence[Either]) -> bool:
    """Whether two lists of disjunctions say the same in the same order."""
    one, other = (
        [(either.name, [(way.values, _content(way.rows)) for way in either.ways]) for either in eithers]
        for eithers in (some, others)
    )
    return one == other


def categories_of(question: Question) -> list[Category]:
    """The categories of a question, all as ordered ones: a question does not say whether they are."""
    return [
        Category(choice.feature, question.features[choice.feature], choice.values, ordered=True)
        for choice in question.choices
    ]


def _sets(domain: Domain) -> dict[int, Any]:
    return {one.feature: one.values for one in domain.sets}
