"""Models that decide by linear or quadratic scores, adopted beside a network of their training data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.model.adopted import AdoptedClassifier
from surefoot.model.adoption.comparison import compared
from surefoot.model.adoption.data import Data, read_data
from surefoot.model.adoption.forms import Form
from surefoot.model.adoption.heads import refuse_unknown, scores_of
from surefoot.model.adoption.sources import Raw, Sources, is_category
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.columns import holds_whole, read_numbers
from surefoot.model.fitting import over_features, percentiles
from surefoot.model.schema import Schema
from surefoot.model.scores import Scores
from surefoot.model.warp import IDENTITY, Warp

Array = NDArray[np.float64]
Warps = dict[int, Warp]
COMPARED_ROWS = 2000
NO_DATA = (
    "{model} has no density of its own: pass data=(X, y), the rows it was fitted on, for the network that "
    "measures distances; where there is no place for data, pass explainer.classifier"
)


def adopted_decision(estimator: Any, data: Any) -> AdoptedClassifier:
    """The scores of a model in the columns that go into it, and the network of its data."""
    refuse_unknown("", estimator)
    if data is None:
        raise DataError(NO_DATA.format(model=type(estimator).__name__))
    rows = read_data(estimator, data)
    sources = Sources(rows.frame, rows.absent)
    forms = scores_of("", estimator, [Raw(j) for j in range(rows.frame.shape[1])], sources)
    if not len(forms) == len(estimator.classes_) >= 2:
        raise DataError(f"there must be two classes or more, and a score for each, not {len(forms)}")
    warps = _warps(forms, sources)
    features = _features(rows, sources)
    network = _network(rows, sources, features, warps)
    clf = AdoptedClassifier.of(network, _scores(forms, features, sources, network.schema_), False)
    clf.has_probability = _compared(clf, estimator, rows)
    return clf


def _warps(forms: Sequence[Form], sources: Sources) -> Warps:
    """The one warp of every number."""
    found: Warps = {}
    for atom in (atom for form in forms for term in form.terms for atom in term):
        if found.setdefault(atom.feature, atom.warp) != atom.warp:
            name = sources.names[atom.feature]
            raise DataError(f"column {name!r} goes into the model both bent by PowerTransformer and not so")
    return found


def _features(rows: Data, sources: Sources) -> list[int]:
    """The columns that the model sees; all where they are known by position, which must not change."""
    if rows.named:
        return sorted(sources.roles)
    for j in range(rows.frame.shape[1]):
        series = rows.frame.iloc[:, j]
        text = is_category(series) or not pd.api.types.is_numeric_dtype(series.dtype)
        sources.roles.setdefault(j, "category" if text else "number")
    return list(range(rows.frame.shape[1]))


def _network(
    rows: Data, sources: Sources, features: list[int], warps: Warps
) -> ConditionalGaussianNetworkClassifier:
    """The network of the numbers as the model bends them, and of the categories."""
    table = rows.frame.iloc[:, features].copy()
    names, roles = list(table.columns), [sources.roles[j] for j in features]
    for name, j, role in zip(names, features, roles, strict=True):
        if role == "number":
            table[name] = warps.get(j, IDENTITY)(read_numbers(table[name], name))
        elif isinstance(table[name].dtype, pd.CategoricalDtype):
            table[name] = table[name].cat.remove_unused_categories()
    categories = [name for name, role in zip(names, roles, strict=True) if role == "category"]
    orders = {rows.frame.columns[j]: order for j, order in sources.orders.items()}
    network = ConditionalGaussianNetworkClassifier(
        categorical=categories or "auto", ordered=orders or None
    ).fit(table, rows.labels)
    _unbend(network, rows.frame.iloc[:, features], [warps.get(j, IDENTITY) for j in features])
    return network


def _unbend(
    network: ConditionalGaussianNetworkClassifier, table: pd.DataFrame, warps: Sequence[Warp]
) -> None:
    """Let a network that was fitted to bent numbers know the numbers as they were."""
    schema = network.schema_
    own = tuple(warps[j] for j in schema.numbers)
    if all(warp.is_identity for warp in own):
        return
    numbers = np.column_stack([read_numbers(table.iloc[:, j], schema.names[j]) for j in schema.numbers])
    whole = tuple(j in schema.numbers and holds_whole(table.iloc[:, j]) for j in range(table.shape[1]))
    network.warps_, network.schema_ = own, replace(schema, whole=whole)
    network.feature_range_ = over_features(
        schema, np.array([np.nanmin(numbers, axis=0), np.nanmax(numbers, axis=0)])
    )
    network.feature_percentiles_ = over_features(schema, percentiles(numbers, None))


def _scores(forms: Sequence[Form], features: list[int], sources: Sources, schema: Schema) -> Scores:
    """The forms as arrays over the network's numbers and categories."""
    index = {features[j]: i for i, j in enumerate(schema.numbers)}
    linear, matrix = zip(*(_polynomial(form, index) for form in forms), strict=True)
    tables = tuple(_table(forms, features, sources, schema, k) for k in range(schema.n_categories))
    constant = np.array([form.constant for form in forms])
    return Scores(constant, np.array(linear), np.array(matrix) if np.any(matrix) else None, tables)


def _polynomial(form: Form, index: Mapping[int, int]) -> tuple[Array, Array]:
    """The linear part and the symmetric matrix of a form."""
    linear, matrix = np.zeros(len(index)), np.zeros((len(index), len(index)))
    for term, a in form.terms.items():
        places = [index[atom.feature] for atom in term]
        if len(places) == 1:
            linear[places[0]] += a
        else:
            matrix[places[0], places[1]] += a / 2
            matrix[places[1], places[0]] += a / 2
    return linear, matrix


def _table(
    forms: Sequence[Form], features: list[int], sources: Sources, schema: Schema, category: int
) -> Array:
    """A category's part of every score, its values in the network's order."""
    feature = features[schema.categories[category]]
    codes = [schema.code(category, value) for value in sources.values(feature)]
    table = np.zeros((len(forms), schema.sizes[category]))
    for c, form in enumerate(forms):
        table[c, codes] = form.tables.get(feature, 0.0)
    return table


def _compared(clf: AdoptedClassifier, estimator: Any, rows: Data) -> bool:
    """Whether probabilities agree as well, on the rows of data with their holes filled."""
    every = -(-len(rows.frame) // COMPARED_ROWS)
    part = rows.frame.iloc[::every].copy()
    for j, name in enumerate(part.columns):
        if j not in rows.absent:
            part[name] = _without_holes(part[name], rows.frame[name])
    names = list(clf.feature_labels_)
    return compared(estimator, rows.for_model(part), clf._scores(part[names]))


def _without_holes(part: pd.Series, column: pd.Series) -> pd.Series:
    if not part.isna().any():
        return part
    return part.where(part.notna(), column.mode().iloc[0])
