"""The scores of models that decide by a linear or quadratic function of their columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.validation import check_is_fitted

from surefoot.exceptions import DataError
from surefoot.model.adoption.forms import Form, NotQuadraticError, combined
from surefoot.model.adoption.sources import Column, Sources
from surefoot.model.adoption.steps import inner, refuse_unknown_step, transformed
from surefoot.model.adoption.wrappers import unwrapped
from surefoot.model.scalers import by_type

Array = NDArray[np.float64]
Forms = list[Form]

SEVERAL = (
    "the probabilities of this CalibratedClassifierCV are the mean of {n} calibrated models, so its log-odds "
    "are not quadratic; fit it with ensemble=False"
)


def scores_of(name: str, estimator: Any, columns: list[Column], sources: Sources) -> Forms:
    """One form for each class; the class with the largest is predicted.

    Parameters
    ----------
    name : str
        Where the estimator stands, for complaints.
    estimator : fitted classifier
    columns : list of Raw or Form
        What goes into it.
    sources : Sources
        The columns before the whole pipeline.
    """
    estimator = unwrapped(estimator)
    read = by_type(WRAPPERS, estimator)
    if read is not None:
        return read(name, estimator, columns, sources)
    forms = sources.forms(columns)
    if len(forms) != estimator.n_features_in_:
        raise DataError(
            f"the steps before {type(estimator).__name__} give {len(forms)} columns, not the "
            f"{estimator.n_features_in_} that it was fitted on"
        )
    head = by_type(HEADS, estimator)
    assert head is not None, "refuse_unknown comes first"
    try:
        return head(estimator, forms)
    except NotQuadraticError as error:
        raise DataError(f"{type(estimator).__name__} behind these steps cannot be taken: {error}") from None


def refuse_unknown(name: str, estimator: Any) -> None:
    """Refuse models and steps that cannot be taken, whatever the data, and unfitted ones."""
    estimator = unwrapped(estimator)
    if isinstance(estimator, Pipeline):
        *steps, (last, model) = estimator.steps
        for part, step in steps:
            refuse_unknown_step(inner(name, part), step)
        return refuse_unknown(inner(name, last), model)
    if isinstance(estimator, OneVsRestClassifier | CalibratedClassifierCV):
        check_is_fitted(estimator)
        if getattr(estimator, "multilabel_", False):
            raise DataError("this OneVsRestClassifier gives several labels to a row, not one")
        held = getattr(estimator, "calibrated_classifiers_", None)
        return refuse_unknown(name, held[0].estimator if held else estimator.estimators_[0])
    if by_type(HEADS, estimator) is None:
        raise DataError(refusal(estimator))
    check_is_fitted(estimator)
    return None


def refusal(estimator: Any) -> str:
    """Why a model cannot be taken, and which can."""
    kinds = ", ".join(kind.__name__ for kind in HEADS if kind is not SVC)
    return (
        f"surefoot explains models whose log-odds are linear or quadratic, not {type(estimator).__name__}; "
        f"accepted are ConditionalGaussianNetworkClassifier, {kinds}, SVC with two classes and "
        "kernel='linear', and a Pipeline, search, OneVsRestClassifier or CalibratedClassifierCV of one"
    )


# --- models that hold others


def _pipeline(name: str, estimator: Any, columns: list[Column], sources: Sources) -> Forms:
    *steps, (last, model) = estimator.steps
    for part, step in steps:
        columns = transformed(inner(name, part), step, columns, sources)
    return scores_of(inner(name, last), model, columns, sources)


def _one_against_rest(name: str, estimator: Any, columns: list[Column], sources: Sources) -> Forms:
    pairs = [scores_of(name, model, columns, sources) for model in estimator.estimators_]
    _need_decision(estimator.estimators_[0], "OneVsRestClassifier")
    if any(len(pair) != 2 for pair in pairs):
        raise DataError("this OneVsRestClassifier holds models that do not tell two classes apart")
    return pairs[0] if len(pairs) == 1 else [_difference(pair) for pair in pairs]


def _calibrated(name: str, estimator: Any, columns: list[Column], sources: Sources) -> Forms:
    """Sigmoid: log-odds -(a f + b); temperature: beta times the logits, -f and f for two classes."""
    parts = estimator.calibrated_classifiers_
    if len(parts) != 1:
        raise DataError(SEVERAL.format(n=len(parts)))
    model, calibrators = parts[0].estimator, parts[0].calibrators
    scores = scores_of(name, model, columns, sources)
    _need_decision(model, "CalibratedClassifierCV")
    decisions = [_difference(scores)] if len(scores) == 2 else scores
    if parts[0].method == "temperature":
        factor = float(calibrators[0].beta_) * (2 if len(scores) == 2 else 1)
        decisions = [decision.scaled(factor) for decision in decisions]
    elif parts[0].method == "sigmoid":
        pairs = zip(decisions, calibrators, strict=True)
        decisions = [decision.scaled(-float(one.a_), -float(one.b_)) for decision, one in pairs]
    else:
        raise DataError(
            f"CalibratedClassifierCV with method={parts[0].method!r} is not taken: its probabilities rise in "
            "steps; use method='sigmoid'"
        )
    return [Form(), *decisions] if len(scores) == 2 else decisions


def _need_decision(model: Any, holder: str) -> None:
    if not hasattr(model, "decision_function"):
        raise DataError(
            f"{holder} of {type(model).__name__} works on probabilities, so its log-odds are not quadratic"
        )


def _difference(pair: Forms) -> Form:
    return combined([(1.0, pair[1]), (-1.0, pair[0])])


# --- models that decide themselves


def _linear(model: Any, forms: Forms) -> Forms:
    coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else np.asarray(model.coef_, dtype=float)
    coef = np.atleast_2d(coef).astype(float)
    intercepts = np.broadcast_to(np.asarray(model.intercept_, dtype=float), len(coef))
    scores = [
        combined(zip(row.tolist(), forms, strict=True), float(b))
        for row, b in zip(coef, intercepts, strict=True)
    ]
    return [Form(), *scores] if len(scores) == 1 else scores


def _linear_kernel(model: Any, forms: Forms) -> Forms:
    if model.kernel != "linear" or len(model.classes_) != 2:
        raise DataError(refusal(model))
    return _linear(model, forms)


def _independent(model: Any, forms: Forms) -> Forms:
    """Gaussian naive Bayes: log rho - sum log(2 pi v) / 2 - sum (x - m)^2 / (2 v)."""
    found = []
    for prior, means, variances in zip(model.class_prior_, model.theta_, model.var_, strict=True):
        peak = float(np.log(prior) - 0.5 * np.sum(np.log(2 * np.pi * variances)))
        deviations = [form.scaled(1.0, -float(m)) for form, m in zip(forms, means, strict=True)]
        found.append(_squares(deviations, 1.0 / variances, peak))
    return found


def _discriminant(model: Any, forms: Forms) -> Forms:
    """Quadratic discriminant analysis: log rho - sum log(s) / 2 - sum (R'(x - m))_k^2 / (2 s_k)."""
    found = []
    parts = zip(model.priors_, model.means_, model.rotations_, model.scalings_, strict=True)
    for prior, means, rotation, s in parts:
        peak = float(np.log(prior) - 0.5 * np.sum(np.log(s)))
        axes = [combined(zip(axis.tolist(), forms, strict=True), -float(axis @ means)) for axis in rotation.T]
        found.append(_squares(axes, 1.0 / s, peak))
    return found


def _squares(forms: Forms, precisions: Array, peak: float) -> Form:
    squares = [form * form for form in forms]
    return combined(zip((-0.5 * precisions).tolist(), squares, strict=True), peak)


WRAPPERS: dict[type, Callable[[str, Any, list[Column], Sources], Forms]] = {
    Pipeline: _pipeline,
    OneVsRestClassifier: _one_against_rest,
    CalibratedClassifierCV: _calibrated,
}
HEADS: dict[type, Callable[[Any, Forms], Forms]] = {
    GaussianNB: _independent,
    LinearDiscriminantAnalysis: _linear,
    QuadraticDiscriminantAnalysis: _discriminant,
    LogisticRegression: _linear,
    LinearSVC: _linear,
    RidgeClassifier: _linear,
    RidgeClassifierCV: _linear,
    SGDClassifier: _linear,
    Perceptron: _linear,
    SVC: _linear_kernel,
}
