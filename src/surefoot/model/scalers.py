"""What scikit-learn's scalers do to each feature: a scale and an offset."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

Entry = TypeVar("Entry")


class Affine(NamedTuple):
    """x' = scale * x + offset, feature by feature; scales are positive."""

    scale: Any
    offset: Any


def by_type(table: Mapping[type, Entry], thing: Any) -> Entry | None:
    """The entry of the nearest class that ``thing`` is an instance of."""
    return next((table[kind] for kind in type(thing).__mro__ if kind in table), None)


def composed(steps: list[tuple[str, Any]], n_features: int) -> Affine | None:
    """a_2 (a_1 x + b_1) + b_2 = (a_2 a_1) x + (a_2 b_1 + b_2), and so on; None where a step does more."""
    maps = [affine(step) for _, step in steps]
    scale, offset = np.ones(n_features), np.zeros(n_features)
    # First of all: a step that does more may change the number of features.
    if any(units is None for units in maps):
        return None
    for units in maps:
        assert units is not None
        scale, offset = units.scale * scale, units.scale * offset + units.offset
    return Affine(scale, offset)


def affine(step: Any) -> Affine | None:
    """What a fitted scaler does; None if it is not a fixed scale and offset for each feature."""
    read = by_type(SCALERS, step)
    if read is None or getattr(step, "clip", False) or getattr(step, "func", None) is not None:
        return None
    check_is_fitted(step)
    return read(step)


def _standardized(center: Any, scale: Any) -> Affine:
    """(x - center) / scale, where None stands for leaving that out."""
    a = 1.0 if scale is None else 1.0 / np.asarray(scale, dtype=float)
    return Affine(a, 0.0 if center is None else -a * np.asarray(center, dtype=float))


# Settings decide, not attributes: StandardScaler(with_mean=False) keeps a mean that it does not use.
SCALERS: dict[type, Callable[[Any], Affine]] = {
    StandardScaler: lambda step: _standardized(
        step.mean_ if step.with_mean else None, step.scale_ if step.with_std else None
    ),
    RobustScaler: lambda step: _standardized(
        step.center_ if step.with_centering else None, step.scale_ if step.with_scaling else None
    ),
    MinMaxScaler: lambda step: Affine(np.asarray(step.scale_, float), np.asarray(step.min_, float)),
    MaxAbsScaler: lambda step: _standardized(None, step.scale_),
    FunctionTransformer: lambda _: Affine(1.0, 0.0),
}
