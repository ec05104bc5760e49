"""Stream: everything that rows seen once leave behind, batch by batch or part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.model.columns import Lookup, sorted_values
from surefoot.model.dag import Dag
from surefoot.model.moments import ClassMoments
from surefoot.model.network import DENSITY_ROWS
from surefoot.model.rows import TrainingRows
from surefoot.model.schema import Schema
from surefoot.model.statistics import (
    CellMoments,
    Statistics,
    category_family,
    gathered,
    number_family,
)

Array = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows of every class, a random choice that does not depend on the order of merging.

    Each row draws a key, exponential with its weight as the rate, and the smallest keys of a class stay.

    Parameters
    ----------
    rows : TrainingRows
    keys : array of shape (rows,)
    """

    rows: TrainingRows
    keys: Array

    @classmethod
    def of(cls, rows: TrainingRows, seed: int) -> Sample:
        """All rows of a batch, or as many as are kept."""
        if rows.weights is not None:  # rows without weight have not been seen
            rows = rows.part(np.flatnonzero(rows.weights > 0))
        keys = np.random.default_rng(seed).exponential(size=len(rows.labels))
        if rows.weights is not None:
            keys = keys / rows.weights
        return cls(replace(rows, numbers=np.asarray(rows.numbers, dtype=float)), keys).thinned()

    def thinned(self) -> Sample:
        """The rows with the smallest keys of each class."""
        counts = np.bincount(self.rows.labels, minlength=1)
        if counts.max(initial=0) <= DENSITY_ROWS:
            return self
        order = np.lexsort((self.keys, self.rows.labels))
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        kept = np.flatnonzero(rank < DENSITY_ROWS)
        return Sample(self.rows.part(kept), self.keys[kept])

    def merged(self, other: Sample) -> Sample:
        """A sample of the rows behind both."""
        a, b = self.rows, other.rows
        weights = None
        if a.weights is not None or b.weights is not None:
            ones = [np.ones(len(r.labels)) if r.weights is None else r.weights for r in (a, b)]
            weights = np.concatenate(ones)
        rows = replace(
            a,
            numbers=np.concatenate([a.numbers, b.numbers]),
            codes=np.concatenate([a.codes, b.codes]),
            labels=np.concatenate([a.labels, b.labels]),
            weights=weights,
        )
        return Sample(rows, np.concatenate([self.keys, other.keys])).thinned()

    def weighted(self, moments: ClassMoments) -> TrainingRows:
        """The rows, those of a thinned class sharing its weight."""
        counts = np.bincount(self.rows.labels, minlength=len(moments.totals))
        if (counts == moments.rows).all():
            return self.rows
        share = (moments.totals / np.maximum(counts, 1))[self.rows.labels]
        return replace(self.rows, weights=share)


@dataclass(frozen=True, eq=False)
class Stream:
    """Sufficient statistics over a known graph, and a sample of the rows.

    Parameters
    ----------
    dag : Dag
    moments : ClassMoments
    statistics : Statistics
    sample : Sample
        It also knows the schema and the classes.
    announced : bool
        Whether the classes are all that there will be.
    """

    dag: Dag
    moments: ClassMoments
    statistics: Statistics
    sample: Sample
    announced: bool = False

    @classmethod
    def of(cls, rows: TrainingRows, dag: Dag, moments: ClassMoments, seed: int = 0) -> Stream:
        """What one batch says."""
        found = Statistics((), ())  # of numbers alone the moments say it all
        if rows.schema.n_categories:
            k, graph = len(rows.classes), (dag, rows.schema)
            found = gathered(rows.numbers, rows.codes, rows.labels, k, rows.weights, graph)
        return cls(dag, moments, found, Sample.of(rows, seed))

    @property
    def schema(self) -> Schema:
        """What each feature is, as far as it was seen."""
        return self.sample.rows.schema

    @property
    def classes(self) -> NDArray[Any]:
        """The labels that were seen or announced."""
        return self.sample.rows.classes

    def merged(self, other: Stream) -> Stream:
        """What all rows of both say; values and labels that only one of them saw are added to the other."""
        if self.dag.parents != other.dag.parents:
            raise DataError(
                "the structure is another one than for the rows before, whose statistics do not fit it: "
                "go on with the old one, or start anew with clone(classifier)"
            )
        schema, classes = (
            merged_schema(self.schema, other.schema),
            merged_classes(self.classes, other.classes),
        )
        if self.announced and len(classes) > len(self.classes):
            strange = next(label for label in classes.tolist() if label not in self.classes.tolist())
            raise DataError(f"label {strange!r} is not among the classes {self.classes.tolist()}")
        a, b = self.widened(schema, classes), other.widened(schema, classes)
        return Stream(
            self.dag,
            _merged_moments(a.moments, b.moments),
            a.statistics.merged(b.statistics),
            a.sample.merged(b.sample),
            self.announced,
        )

    def widened(self, schema: Schema, classes: NDArray[Any]) -> Stream:
        """The same with more values of categories, and more classes."""
        if schema == self.schema and len(classes) == len(self.classes):
            return self
        new_class = np.searchsorted(classes, self.classes)
        new_codes = [
            np.array([schema.code(k, value) for value in values], dtype=np.intp)
            for k, values in enumerate(self.schema.category_values)
        ]
        spread = _Spread(schema, len(classes), new_class, new_codes)
        tables = [category_family(self.dag, schema, k).categories for k in range(schema.n_categories)]
        cells = [number_family(self.dag, schema, i).categories for i in range(len(self.statistics.families))]
        counts = [spread(c, t) for c, t in zip(self.statistics.counts, tables, strict=True)]
        families = [spread.cells(f, t) for f, t in zip(self.statistics.families, cells, strict=True)]
        rows = self.sample.rows
        codes = [new_codes[k][rows.codes[:, k]] for k in range(schema.n_categories)]
        widened = replace(
            rows,
            schema=schema,
            classes=classes,
            labels=new_class[rows.labels],
            codes=np.column_stack(codes) if codes else rows.codes,
        )
        m = self.moments
        moments = ClassMoments(
            spread(m.rows, ()),
            spread(m.totals, ()),
            spread(m.means, ()),
            spread(m.covariances, ()),
            m.low,
            m.high,
        )
        statistics = Statistics(tuple(counts), tuple(families))
        return Stream(self.dag, moments, statistics, Sample(widened, self.sample.keys), self.announced)


@dataclass(frozen=True, eq=False)
class _Spread:
    """Puts arrays over classes and values of categories where these are in a larger schema."""

    schema: Schema
    n_classes: int
    classes: Codes
    codes: list[Codes]

    def __call__(self, array: NDArray[Any], categories: Sequence[int]) -> NDArray[Any]:
        sizes = [self.schema.sizes[k] for k in categories]
        rest = array.shape[1 + len(sizes) :]
        found = np.zeros((self.n_classes, *sizes, *rest), dtype=array.dtype)
        found[np.ix_(self.classes, *(self.codes[k] for k in categories))] = array
        return found

    def cells(self, family: CellMoments, categories: Sequence[int]) -> CellMoments:
        """All parts of a number's moments."""
        parts = (family.totals, family.means, family.scatter)
        return CellMoments(*(self(part, categories) for part in parts))


def merged_schema(a: Schema, b: Schema) -> Schema:
    """The schema of all rows behind two."""
    if a == b:
        return a
    values: list[tuple[Any, ...] | None] = []
    for name, first, second, ordered in zip(a.names, a.values, b.values, a.ordered, strict=True):
        if (first is None) != (second is None):
            raise DataError(
                f"column {name!r} holds numbers in some rows and text in others; name it in categorical"
            )
        if first is None or second is None or first == second:
            values.append(first)
        elif ordered:
            raise DataError(f"the values of {name!r} are ordered, but not the same in all parts of the table")
        else:
            values.append(_union(name, first, second))
    whole = tuple(x and y for x, y in zip(a.whole, b.whole, strict=True))
    changed = [name for name, x, y in zip(a.names, a.dates, b.dates, strict=True) if x != y]
    if changed:
        raise DataError(f"column {changed[0]!r} holds dates in some rows and numbers in others")
    return Schema(a.names, tuple(values), a.ordered, whole, a.dates)


def merged_classes(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """The labels of both."""
    if len(a) == len(b) and (a == b).all():
        return a
    try:
        return np.union1d(a, b)
    except TypeError:
        raise DataError("labels must all be of one kind (all numbers or all strings)") from None


def _union(name: Any, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values of both, sorted as if all rows had been seen at once."""
    known = Lookup(name, first)
    return sorted_values([*first, *(value for value in second if known.code(value) < 0)])


def _merged_moments(a: ClassMoments, b: ClassMoments) -> ClassMoments:
    parts = [CellMoments(m.totals, m.means, m.covariances * m.totals[:, None, None]) for m in (a, b)]
    found = parts[0].merged(parts[1])
    covariances = found.scatter / np.where(found.totals > 0, found.totals, 1.0)[:, None, None]
    low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    return ClassMoments(a.rows + b.rows, found.totals, found.means, covariances, low, high)
