"""ClassValues: what values each feature takes in each class, for saying what is usual and what is rare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ModelFileError
from surefoot.model.mixed import MixedNetwork
from surefoot.model.moments import quantiles
from surefoot.model.network import DENSITY_ROWS
from surefoot.model.parts import numeric
from surefoot.model.schema import Schema
from surefoot.plain import entries, sequence

if TYPE_CHECKING:
    from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
    from surefoot.model.rows import TrainingRows

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

STEPS = 101  # percentiles 0 to 100; ten times as many make a model's file ten times as long
# Rows that are drawn from a class where no training rows are known. Ten times as many take ten times as long,
# a tenth makes shares wrong by a case in a hundred.
DRAWN = 4_000


@dataclass(frozen=True, eq=False)
class ClassValues:
    """Percentiles of each number and shares of each category's values, class by class.

    Parameters
    ----------
    percentiles : array of shape (n_classes, 101, n_numbers)
        0 to 100, of the known values, in the features' own units; NaN where a class has none.
    shares : tuple of arrays of shape (n_classes, n_values)
        One for each category.
    """

    percentiles: Array
    shares: tuple[Array, ...] = ()

    def median(self, label: int, number: int) -> float:
        """The middle value of a number in the class in one position."""
        return float(self.percentiles[label, STEPS // 2, number])

    def most_frequent(self, label: int, category: int) -> int:
        """The most frequent value of a category, as its position."""
        return int(np.argmax(self.shares[category][label]))

    def tail(self, label: int, number: int, value: float) -> float:
        """The share of the class's cases whose number is at least as far from the median, on the same side.

        Of cases at the value itself all count, which matters where many share one value.
        """
        steps = self.percentiles[label, :, number]
        if np.isnan(steps).any():
            return float("nan")
        if value < self.median(label, number):
            steps, value = -steps[::-1], -value
        if value > steps[-1]:
            return 0.0
        below = np.searchsorted(steps, value, side="left")  # the first percentile that is not below
        if below == 0:
            return 1.0
        low, high = steps[below - 1], steps[below]
        tail = 1.0 - (below - 1 + (value - low) / (high - low)) / (STEPS - 1)
        return float(max(tail, 0.5 / (STEPS - 1)))  # the case with this value has it

    def content(self) -> dict[str, Any]:
        """As plain JSON values."""
        numbers = [
            [[None if np.isnan(v) else v for v in row] for row in one] for one in self.percentiles.tolist()
        ]
        return {"percentiles": numbers, "shares": [table.tolist() for table in self.shares]}

    @classmethod
    def from_content(cls, values: Any, schema: Schema, n_classes: int) -> ClassValues | None:
        """Read what `content` wrote; None where a file has nothing of the kind."""
        if values is None:
            return None
        parts = entries(values, "class_values", ("percentiles", "shares"))
        shape = (n_classes, STEPS, schema.n_numbers)
        given = [
            [
                [np.nan if v is None else v for v in sequence(row, "percentiles")]
                for row in sequence(one, "percentiles")
            ]
            for one in sequence(parts["percentiles"], "percentiles", n_classes)
        ]
        percentiles = numeric(given, "percentiles") if schema.n_numbers else np.zeros(shape)
        with np.errstate(invalid="ignore"):
            rising = percentiles.shape == shape and not (np.diff(percentiles, axis=1) < 0).any()
        if not rising or np.isinf(percentiles).any():
            raise ModelFileError("'percentiles' is wrong")
        shares = []
        for size, table in zip(
            schema.sizes, sequence(parts["shares"], "shares", schema.n_categories), strict=True
        ):
            found = numeric(table, "shares")
            if found.shape != (n_classes, size) or not ((found >= 0) & (found <= 1)).all():
                raise ModelFileError("'shares' is wrong")
            shares.append(found)
        return cls(percentiles, tuple(shares))


def values_of_rows(rows: TrainingRows, n_classes: int) -> ClassValues:
    """Of the training rows: evenly spaced ones of each class where there are very many."""
    return _of_classes(rows.numbers, rows.codes, rows.labels, rows.weights, rows.schema, n_classes)


def _of_classes(
    numbers: NDArray[Any], codes: Codes, labels: Codes, weights: Array | None, schema: Schema, n_classes: int
) -> ClassValues:
    found = []
    for c in range(n_classes):
        own = labels == c
        kept = np.flatnonzero(own if weights is None else own & (weights > 0))
        kept = kept[:: max(1, -(-len(kept) // DENSITY_ROWS))]
        own_weights = np.ones(len(kept)) if weights is None else np.asarray(weights[kept], dtype=float)
        found.append(_of_class(numbers[kept], codes[kept], own_weights, schema))
    return _gathered(found)


def values_of_numbers(numbers: Array, labels: Codes, n_classes: int) -> ClassValues:
    """Of rows of numbers without weights, each with the position of its class."""
    schema = Schema.of_numbers(tuple(range(numbers.shape[1])))
    nothing = np.zeros((len(numbers), 0), dtype=np.intp)
    return _of_classes(numbers, nothing, labels, None, schema, n_classes)


def values_of_model(clf: ConditionalGaussianNetworkClassifier) -> ClassValues:
    """What a classifier remembers of its training rows; without any, of rows drawn from its networks."""
    if clf.class_values_ is not None:
        return clf.class_values_
    known = clf.__dict__.get("_drawn_values")
    if known is None or known[0] is not clf.networks_:
        known = clf.__dict__["_drawn_values"] = (clf.networks_, _drawn(clf))
    found: ClassValues = known[1]
    return found


def _drawn(clf: ConditionalGaussianNetworkClassifier) -> ClassValues:
    found, nothing = [], np.zeros((DRAWN, 0), dtype=np.intp)
    for network in clf.networks_:
        if isinstance(network, MixedNetwork):
            Z, codes = network.sample(DRAWN, 0)
        else:
            Z, codes = network.sample(DRAWN, 0), nothing
        columns = [warp.inverse(z) for warp, z in zip(clf.warps_, Z.T, strict=True)]
        numbers = np.column_stack(columns) if columns else Z
        known = np.where(np.isfinite(numbers), numbers, np.nan)
        found.append(_of_class(known, codes, np.ones(DRAWN), clf.schema_))
    return _gathered(found)


def _of_class(
    numbers: NDArray[Any], codes: Codes, weights: Array, schema: Schema
) -> tuple[Array, list[Array]]:
    """Percentiles of the numbers and shares of the categories' values, holes left out."""
    columns = [_steps(np.asarray(column, dtype=float), weights) for column in numbers.T]
    shares = []
    for k, size in enumerate(schema.sizes):
        known = codes[:, k] >= 0
        counts = np.bincount(codes[known, k], weights[known], size)
        shares.append(counts / max(counts.sum(), np.finfo(float).tiny))
    return np.array(columns).reshape(-1, STEPS).T, shares


def _steps(column: Array, weights: Array) -> Array:
    known = ~np.isnan(column)
    if not known.any():
        return np.full(STEPS, np.nan)
    even = bool((weights[known] == 1).all())
    return quantiles(column[known], np.linspace(0, 1, STEPS), None if even else weights[known])


def _gathered(found: list[tuple[Array, list[Array]]]) -> ClassValues:
    shares = zip(*(one[1] for one in found), strict=True)
    return ClassValues(np.array([one[0] for one in found]), tuple(np.array(table) for table in shares))
