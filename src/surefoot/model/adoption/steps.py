"""What the steps of a pipeline do to the columns, exactly."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    TargetEncoder,
)
from sklearn.utils.validation import check_is_fitted

from surefoot.exceptions import DataError
from surefoot.model.adoption.forms import Form, combined, warped
from surefoot.model.adoption.sources import Column, Raw, Sources
from surefoot.model.scalers import SCALERS, affine, by_type

Array = NDArray[np.float64]
Columns = list[Column]
Step = Callable[[str, Any, Columns, Sources], Sequence[Column]]

ACCEPTED = (
    "scalers (StandardScaler, MinMaxScaler and MaxAbsScaler with clip=False, RobustScaler), PowerTransformer "
    "with method='yeo-johnson', OneHotEncoder, OrdinalEncoder, TargetEncoder, SimpleImputer, PCA, selection "
    "of features, PolynomialFeatures with degree=2, and ColumnTransformer or FeatureUnion of these"
)


def transformed(name: str, step: Any, columns: Columns, sources: Sources) -> Columns:
    """The columns behind a fitted step.

    Parameters
    ----------
    name : str
        The step's name, for complaints.
    step : fitted transformer, "passthrough", "drop" or None
    columns : list of Raw or Form
        The columns before it.
    sources : Sources
        The columns before the whole pipeline; learns which of them are categories.
    """
    if _does_nothing(step):
        return columns
    if isinstance(step, str) and step == "drop":
        return []
    change = by_type(STEPS, step)
    assert change is not None, "refuse_unknown_step comes first"
    if by_type(CONTAINERS, step):  # complaints come from the steps within
        return list(change(name, step, columns, sources))
    try:
        return list(change(name, step, columns, sources))
    except DataError as error:
        raise DataError(f"{_called(name, step)}, cannot be taken: {error}") from None


def refuse_unknown_step(name: str, step: Any) -> None:
    """Refuse steps that cannot be taken, whatever the data, and unfitted ones."""
    if _does_nothing(step) or (isinstance(step, str) and step == "drop"):
        return
    if by_type(STEPS, step) is None:
        raise DataError(f"{_called(name, step)}, cannot be taken; accepted are {ACCEPTED}")
    check_is_fitted(step)
    for part, held in _parts(step):
        refuse_unknown_step(inner(name, part), held)


def _parts(step: Any) -> list[tuple[str, Any]]:
    """The steps within a step; those of a ColumnTransformer that have no columns are never fitted."""
    if isinstance(step, ColumnTransformer):
        held = [(part, change) for part, change, _ in step.transformers_]
        return [(part, change) for part, change in held if len(_positions(step)[part])]
    return list(getattr(step, "steps", getattr(step, "transformer_list", [])))


def _positions(step: ColumnTransformer) -> dict[str, list[int]]:
    """Columns as the transformer itself resolved them in fit: from names, masks, slices or callables."""
    return dict(step._transformer_to_input_indices)


def _does_nothing(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _called(name: str, step: Any) -> str:
    return f"step {name!r}, {' '.join(repr(step).split())}"


def inner(name: str, part: Any) -> str:
    """The name of a step within another, as scikit-learn writes it."""
    return f"{name}__{part}" if name else str(part)


# --- steps that hold others


def _in_turn(name: str, step: Any, columns: Columns, sources: Sources) -> Columns:
    for part, change in _parts(step):
        columns = transformed(inner(name, part), change, columns, sources)
    return columns


def _side_by_side(name: str, step: Any, columns: Columns, sources: Sources) -> Columns:
    """ColumnTransformer: each part sees its columns; their results follow each other."""
    found: Columns = []
    for part, change in _parts(step):
        own = [columns[j] for j in _positions(step)[part]]
        results = transformed(inner(name, part), change, own, sources)
        found += _weighted(step, part, results, sources)
    return found


def _united(name: str, step: Any, columns: Columns, sources: Sources) -> Columns:
    """FeatureUnion: every part sees every column."""
    found: Columns = []
    for part, change in _parts(step):
        results = transformed(inner(name, part), change, columns, sources)
        found += _weighted(step, part, results, sources)
    return found


def _weighted(step: Any, part: str, results: Columns, sources: Sources) -> Columns:
    weight = (step.transformer_weights or {}).get(part)
    return results if weight is None else [form.scaled(float(weight)) for form in sources.forms(results)]


# --- categories


def _encoded(_: str, step: Any, columns: Columns, sources: Sources) -> Columns:
    """Encoders act on each column by itself: the fitted encoder is asked what it makes of every value."""
    coded = [sources.coded(column) for column in columns]
    seen = [values for _, values in coded]
    results = _asked(step, _one_at_a_time(seen))
    rows = np.cumsum([0, *map(len, seen)])
    base, found = results[0], [Form(float(value)) for value in results[0]]
    for (feature, values), start in zip(coded, rows, strict=False):
        block = results[start : start + len(values)]
        for m in np.flatnonzero((block != base).any(axis=0)):
            found[m] = Form(tables={feature: block[:, m]})
    _note_orders(step, coded, sources)
    return list(found)


def _one_at_a_time(seen: list[list[Any]]) -> pd.DataFrame:
    """A block of rows for each column, in which it runs through its values and the others stay first."""
    n = sum(map(len, seen))
    table: dict[int, list[Any]] = {j: [values[0]] * n for j, values in enumerate(seen)}
    start = 0
    for j, values in enumerate(seen):
        table[j][start : start + len(values)] = values
        start += len(values)
    return pd.DataFrame(table)


def _asked(step: Any, rows: pd.DataFrame) -> Array:
    """What the encoder makes of the rows, as a dense array."""
    names = getattr(step, "feature_names_in_", None)
    table = rows.to_numpy() if names is None else rows.set_axis(list(names), axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of values that it has not seen: they are encoded as it is told to
        try:
            results = step.transform(table)
        except (ValueError, TypeError) as error:
            raise DataError(f"it does not take the values in data ({' '.join(str(error).split())})") from None
    dense = results.toarray() if hasattr(results, "toarray") else np.asarray(results)
    if not np.isfinite(dense.astype(float)).all():
        raise DataError("it leaves values in data undefined")
    return np.asarray(dense, dtype=float)


def _note_orders(step: Any, coded: list[tuple[int, list[Any]]], sources: Sources) -> None:
    """An order that the user gave to OrdinalEncoder is the category's order."""
    if not isinstance(step, OrdinalEncoder) or isinstance(step.categories, str):
        return
    for (feature, _), order in zip(coded, step.categories_, strict=True):
        present = sources.values(feature)
        if set(present) <= set(order.tolist()):
            sources.orders[feature] = [value for value in order.tolist() if value in present]


def _filled(_: str, step: Any, columns: Columns, __: Sources) -> Columns:
    """SimpleImputer: rows without holes pass unchanged, and only such rows are explained."""
    empty = pd.isna(np.asarray(step.statistics_, dtype=object)) & (not step.keep_empty_features)
    found = list(columns)
    if not _is_hole(step.missing_values):
        fills = zip(columns, step.statistics_.tolist(), strict=True)
        found = [_marked(column, step.missing_values, fill) for column, fill in fills]
    found = [column for column, left_out in zip(found, empty, strict=True) if not left_out]
    if step.add_indicator:
        found += [Form(0.0) for _ in step.indicator_.features_]
    return found


def _is_hole(value: Any) -> bool:
    return (
        value is None or value is pd.NA or (isinstance(value, float | np.floating) and bool(np.isnan(value)))
    )


def _marked(column: Column, marker: Any, fill: Any) -> Column:
    if not isinstance(column, Raw):
        raise DataError(f"it replaces {marker!r} in a column that an earlier step has changed")
    return Raw(column.feature, (*column.replaced, (marker, fill)))


# --- numbers


def _affine(_: str, step: Any, columns: Columns, sources: Sources) -> list[Form]:
    units = affine(step)
    if units is None:
        raise DataError("it is not a fixed scale and offset for each feature")
    scale, offset = (np.broadcast_to(part, len(columns)).tolist() for part in units)
    forms = zip(sources.forms(columns), scale, offset, strict=True)
    return [form.scaled(a, b) for form, a, b in forms]


def _unchanged(_: str, step: Any, columns: Columns, __: Sources) -> Columns:
    if step.func is not None:
        raise DataError("its function is not known to be monotone or linear; func=None is accepted")
    return columns


def _bent(name: str, step: Any, columns: Columns, sources: Sources) -> list[Form]:
    if step.method != "yeo-johnson":
        raise DataError("accepted is method='yeo-johnson'")
    powers = np.asarray(step.lambdas_, dtype=float).tolist()
    found = [warped(form, power) for form, power in zip(sources.forms(columns), powers, strict=True)]
    # The scaler that standardises afterwards has no public name.
    return _affine(name, step._scaler, list(found), sources) if step.standardize else found


def _multiplied(_: str, step: Any, columns: Columns, sources: Sources) -> list[Form]:
    forms, found = sources.forms(columns), []
    for powers in step.powers_:
        product = Form(1.0)
        for j in np.repeat(np.arange(len(powers)), powers):
            product = product * forms[j]
        found.append(product)
    return found


def _rotated(_: str, step: Any, columns: Columns, sources: Sources) -> list[Form]:
    """PCA: components (x - mean), each over its standard deviation if whitened."""
    forms, components = sources.forms(columns), np.asarray(step.components_, dtype=float)
    if step.whiten:
        spread = np.sqrt(step.explained_variance_)
        components = components / np.maximum(spread, np.finfo(spread.dtype).eps)[:, None]
    offsets = -components @ np.asarray(step.mean_, dtype=float)
    return [
        combined(zip(row.tolist(), forms, strict=True), float(offset))
        for row, offset in zip(components, offsets, strict=True)
    ]


def _selected(_: str, step: Any, columns: Columns, __: Sources) -> Columns:
    return [columns[j] for j in step.get_support(indices=True)]


CONTAINERS: dict[type, Step] = {Pipeline: _in_turn, ColumnTransformer: _side_by_side, FeatureUnion: _united}
STEPS: dict[type, Step] = {
    **CONTAINERS,
    **dict.fromkeys(SCALERS, _affine),
    OneHotEncoder: _encoded,
    OrdinalEncoder: _encoded,
    TargetEncoder: _encoded,
    SimpleImputer: _filled,
    FunctionTransformer: _unchanged,
    PowerTransformer: _bent,
    PolynomialFeatures: _multiplied,
    PCA: _rotated,
    SelectorMixin: _selected,
}
