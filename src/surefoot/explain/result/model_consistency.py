"""Constraints compared with the model: what a question says about the model must be true."""

from __future__ import annotations

import numpy as np

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.ask.imputation import filled
from surefoot.explain.ask.plausible import density_floor, near_expected
from surefoot.explain.constraints.document import feature_named, read_constraints
from surefoot.explain.result.question_consistency import (
    categories_of,
    check_declared,
    declared_plausible,
    same_eithers,
)
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier as Classifier
from surefoot.plain import shown
from surefoot.problem.either import Either
from surefoot.problem.question import Question
from surefoot.problem.requirements import DensityFloor


def check_by_model(question: Question, clf: Classifier) -> None:
    """Refuse a question whose constraints do not mean what they say by the model's own figures."""
    check_declared(question, clf.feature_range_, _near(question, clf))
    said = {key: value for key, value in question.declared.items() if key != "gaps"}
    constraints = read_constraints(said, question.features, clf.feature_range_, categories_of(question))
    if question.declared.get("gaps", {}) != constraints.declared().get("gaps", {}):
        raise DataError("the gaps of the if-then rules are not a millionth of the range seen in training")
    for name in question.declared.get("whole", []):
        if clf.feature_kinds_[feature_named(name, question.features)] not in ("whole", "date"):
            raise DataError(f"{shown(name)} is said to be whole in the training data, where it is not")
    if list(question.declared.get("dates", [])) != [str(name) for name in clf.schema_.date_names]:
        raise DataError("the features that are said to be dates are not those of the model")
    _check_imputed(question, clf)


def check_plausible(question: Question, clf: Classifier) -> None:
    """Refuse a question whose floor, or bands of what is expected, are not those of the model."""
    asked = declared_plausible(question)
    floors = [r for r in question.requirements if isinstance(r, DensityFloor)]
    wanted = [] if asked.share is None else [density_floor(clf, question.target, asked.share)]
    if floors != wanted:
        raise DataError("the floor of the density is not the declared share of the model's training rows")
    near = _near(question, clf)
    if not same_eithers(question.eithers[len(question.eithers) - len(near) :], near):
        raise DataError("what the model expects of each feature is not what the question says")


def _near(question: Question, clf: Classifier) -> tuple[Either, ...]:
    """What the model expects of each feature, where that is declared to be required."""
    asked = declared_plausible(question)
    if asked.deviations is None:
        return ()
    try:
        return near_expected(clf, question.target, question.factual, asked.deviations)
    except ProblemError as error:
        raise DataError(str(error)) from None


def _check_imputed(question: Question, clf: Classifier) -> None:
    """Refuse values that are said to be what the network expects, and are not."""
    names = question.declared.get("imputed") or []
    if not names:
        return
    row = dict(zip(question.features, question.row(question.factual, question.state), strict=True))
    row |= {feature_named(name, question.features): None for name in names}
    try:
        found = filled(row, clf)
    except ProblemError as error:
        raise DataError(f"the imputed values make no sense: {error}") from None
    if found.state != question.state or not np.allclose(found.numbers, question.factual, rtol=1e-9, atol=0):
        raise DataError("the imputed values are not what the network expects given the rest")
