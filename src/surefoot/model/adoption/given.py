"""A QuadraticModel, adopted: its scores beside the network of its moments, or of data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.model.adopted import AdoptedClassifier
from surefoot.model.adoption.comparison import TOLERANCE
from surefoot.model.adoption.data import class_codes, pair
from surefoot.model.adoption.gaussian import completed, expected_summary, named_classifier
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.columns import read_numbers
from surefoot.model.dag import Dag
from surefoot.model.network import LinearGaussianNetwork
from surefoot.model.quadratic_model import QuadraticModel
from surefoot.model.schema import Schema
from surefoot.model.scores import Scores

Array = NDArray[np.float64]
NO_MOMENTS = (
    "a QuadraticModel does not say how far apart two rows are: give it means and covariance, or pass "
    "data=(X, y); where there is no place for data, pass explainer.classifier"
)


class Stated(NamedTuple):
    """A model as the makers of networks know one."""

    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: tuple[Any, ...]
    class_prior_: Array


def adopted_model(model: QuadraticModel, data: Any) -> AdoptedClassifier:
    """The scores of a model, and the network that measures: of its own moments, or fitted to data."""
    if (data is None) == (model.covariance is None):
        twice = "this QuadraticModel has a covariance of its own: leave that out, or data"
        raise DataError(NO_MOMENTS if data is None else twice)
    network = _fitted(model, data) if model.covariance is None else _stated(model)
    _set_ranges(network, model)
    scores = _scores(model, network.schema_)
    _refuse_lost_digits(model, scores, network)
    return AdoptedClassifier.of(network, scores, model.log_probabilities)


def _stated(model: QuadraticModel) -> ConditionalGaussianNetworkClassifier:
    """The Gaussian of every class, as the model states it."""
    if model.categories:
        raise DataError(f"the category {model.categories[0]!r} needs data=(X, y): a covariance is of numbers")
    moments, classes, n = model.moments(), np.array(model.classes), len(model.features)
    diagonal = all(not (S - np.diag(np.diag(S))).any() for _, S in moments)
    dag = Dag.empty(n) if diagonal else Dag.complete(n)
    networks = tuple(LinearGaussianNetwork.from_moments(dag, m, S) for m, S in moments)
    stated = Stated(classes, n, model.features, np.full(len(classes), 1 / len(classes)))  # type: ignore[arg-type]
    clf = named_classifier(stated, stated)
    completed(clf, stated, networks, expected_summary(networks, np.ones(len(classes))))
    return clf


def _fitted(model: QuadraticModel, data: Any) -> ConditionalGaussianNetworkClassifier:
    """A network of the rows."""
    X, y = pair(data)
    table = _table(model, X)
    codes = class_codes(model.classes, y, table)
    network = ConditionalGaussianNetworkClassifier(categorical=model.categories or "auto")
    network.fit(table, np.array(model.classes)[codes])
    return network


def _table(model: QuadraticModel, X: Any) -> pd.DataFrame:
    """The numbers and then the categories of data."""
    names = [*model.features, *model.categories]
    if not isinstance(X, pd.DataFrame):
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise DataError(f"data: X must have a column for each of {names}; its shape is {rows.shape}")
        X = pd.DataFrame(rows, columns=names).infer_objects()
    missing = [name for name in names if list(X.columns).count(name) != 1]
    if missing:
        raise DataError(f"data must have exactly one column {missing[0]!r}")
    table: pd.DataFrame = X[names].copy()
    for name in model.features:
        table[name] = read_numbers(table[name], name)
    return table


def _set_ranges(network: ConditionalGaussianNetworkClassifier, model: QuadraticModel) -> None:
    """The ranges that the model states, in the place of those that its rows have or would have."""
    found, usual = network.feature_range_.copy(), network.feature_percentiles_.copy()
    for name, (low, high) in (model.ranges or {}).items():
        j = model.features.index(name)
        found[:, j] = low, high
        usual[:, j] = np.clip(usual[:, j], low, high)
    network.feature_range_, network.feature_percentiles_ = found, usual


def _scores(model: QuadraticModel, schema: Schema) -> Scores:
    """The quadratics written out around zero, and the tables in the order of the network's values."""
    quadratics, origin = model.class_scores(), np.zeros(len(model.features))
    matrices = np.array([Q.matrix for Q in quadratics])
    return Scores(
        np.array([Q.value(origin) for Q in quadratics]),
        np.array([Q.gradient(origin) for Q in quadratics]),
        matrices if matrices.any() else None,
        tuple(_category(model, schema, k) for k in range(schema.n_categories)),
    )


def _category(model: QuadraticModel, schema: Schema, k: int) -> Array:
    """A category's part of the scores: a row for each class, a column for each value in data."""
    name = schema.names[schema.categories[k]]
    values, seen = list((model.tables or {})[name]), list(schema.category_values[k])
    unknown = [value for value in seen if value not in values]
    if unknown:
        raise DataError(f"data has the value {unknown[0]!r} of {name!r}, which its table does not have")
    unseen = [value for value in values if value not in seen]
    if unseen:
        raise DataError(f"the table of {name!r} has the value {unseen[0]!r}, which data does not have")
    return np.array([model.table(name, value) for value in seen]).T


def _refuse_lost_digits(
    model: QuadraticModel, scores: Scores, network: ConditionalGaussianNetworkClassifier
) -> None:
    """Compare with the quadratics as they were given: around zero, digits may be lost."""
    ends = network.feature_range_[:, list(network.schema_.numbers)]
    points = np.vstack([ends, ends.mean(axis=0)])
    flat = Scores(scores.constant, scores.linear, scores.matrix)
    ours = flat(points, np.zeros((len(points), 0), dtype=int))
    theirs = np.array([np.asarray(Q(points)) for Q in model.class_scores()]).T
    gap = float(np.max(np.abs(ours - theirs) / (1 + np.abs(theirs))))
    if not gap <= TOLERANCE:
        raise DataError(
            f"written out around zero the scores differ by {gap:.1g} from the quadratics: the features lie "
            "so far from zero that digits are lost; measure them from a nearer point"
        )
