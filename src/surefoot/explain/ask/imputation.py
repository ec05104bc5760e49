"""Holes in a factual, filled with what the network expects given the rest."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.ask.row import encoded_with_holes
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.fitting import unwarped, warped
from surefoot.model.holes import expected_values, marginal_log_density
from surefoot.problem.mixed import State

Array = NDArray[np.float64]


class Filled(NamedTuple):
    """A row without holes."""

    numbers: Array
    state: State
    imputed: tuple[Any, ...] = ()  # names of the features that were missing
    written: Mapping[str, str] = MappingProxyType({})  # category -> its own value, which counts as a rare one


def filled(row: Any, clf: ConditionalGaussianNetworkClassifier) -> Filled:
    """One row, its holes filled with what its most probable class expects given the values that are known.

    Numbers that were whole in training are rounded, and none leaves the range seen there.
    """
    schema = clf.schema_
    numbers, state, holes = encoded_with_holes(row, schema)
    if not holes:
        return Filled(numbers, state)
    z, codes = warped(numbers[None], clf.warps_), np.array([state], dtype=np.intp)
    scores = [
        np.log(prior) + marginal_log_density(network, z, codes)[0]
        for network, prior in zip(clf.networks_, clf.class_prior_, strict=True)
    ]
    full, values = expected_values(clf.networks_[int(np.argmax(scores))], z, codes)
    imputed = tuple(schema.names[j] for j in sorted(holes))
    x = _usual(unwarped(full, clf.warps_)[0], clf)
    numbers = np.where(np.isnan(numbers), x, numbers)
    return Filled(numbers, tuple(int(v) for v in values[0]), imputed)


def _usual(x: Array, clf: ConditionalGaussianNetworkClassifier) -> Array:
    """Numbers inside the range seen in training, and whole where all were."""
    schema = clf.schema_
    low, high = clf.feature_range_[:, list(schema.numbers)]
    whole = np.array([schema.whole[j] for j in schema.numbers], dtype=bool)
    return np.asarray(np.clip(np.where(whole, np.round(x), x), low, high))
