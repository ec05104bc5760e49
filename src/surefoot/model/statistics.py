"""Sufficient statistics of a mixed network over a known graph: gathered in one pass, and mergeable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import StructureError
from surefoot.model.dag import Dag
from surefoot.model.mixed import positions, split_parents
from surefoot.model.moments import row_chunks, with_borrowed
from surefoot.model.schema import Schema

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

# Numbers in the tables and cells of all features and classes, 240 megabytes; a graph that needs more is a
# mistake. Ten times as many would not fit into the memory of a laptop.
MOST_NUMBERS = 30_000_000


@dataclass(frozen=True, eq=False)
class CellMoments:
    """Weight, mean and scatter of a number and its number parents, in every class and cell.

    Parameters
    ----------
    totals : array over classes and cells
    means : the same, and an axis for the number and its parents
    scatter : the same, and another such axis
        Sums of products of deviations from the means.
    """

    totals: Array
    means: Array
    scatter: Array

    @classmethod
    def zeros(cls, grid: tuple[int, ...], n_columns: int) -> CellMoments:
        """Nothing seen yet."""
        return cls(np.zeros(grid), np.zeros((*grid, n_columns)), np.zeros((*grid, n_columns, n_columns)))

    def merged(self, other: CellMoments) -> CellMoments:
        """What all rows of both say, by the update of Chan, Golub and LeVeque (1983)."""
        totals = self.totals + other.totals
        share = np.divide(other.totals, totals, out=np.zeros_like(totals), where=totals > 0)
        step = other.means - self.means
        between = step[..., :, None] * step[..., None, :] * (self.totals * share)[..., None, None]
        return CellMoments(
            totals, self.means + step * share[..., None], self.scatter + other.scatter + between
        )

    def over_cells(self) -> CellMoments:
        """Moments of whole classes; the axes of the cells are kept, with length one."""
        axes = tuple(range(1, self.totals.ndim))
        totals = self.totals.sum(axis=axes, keepdims=True)
        share = np.divide(self.totals, totals, out=np.zeros_like(self.totals), where=totals > 0)[..., None]
        # Empty cells have no mean; what stands there has no weight.
        offset = np.where(share > 0, self.means, 0.0).max(axis=(0, *axes))
        means = (share * (self.means - offset)).sum(axis=axes, keepdims=True) + offset
        away = np.where(share > 0, self.means - means, 0.0)
        between = away[..., :, None] * away[..., None, :] * self.totals[..., None, None]
        scatter = (self.scatter + between).sum(axis=axes, keepdims=True)
        return CellMoments(totals, means, scatter)

    def borrowed(self, single: NDArray[np.bool_]) -> CellMoments:
        """The same, with the other classes' average spread in the cell of a class's single row."""
        whole, n = self.over_cells(), self.scatter.shape[-1]
        totals = whole.totals.reshape(-1)
        divisor = np.where(totals > 0, totals, 1.0)[:, None, None]
        spread = with_borrowed(whole.scatter.reshape(-1, n, n) / divisor, totals, single)
        wide = (len(single), *(1,) * (self.totals.ndim - 1))
        scatter = spread.reshape(*wide, n, n) * self.totals[..., None, None]
        return replace(self, scatter=np.where(single.reshape(*wide, 1, 1), scatter, self.scatter))


@dataclass(frozen=True, eq=False)
class Statistics:
    """All that the tables and cells of every class are computed from.

    Parameters
    ----------
    counts : tuple of arrays
        For each category the weight of every combination of class, values of its parents and own value.
    families : tuple of CellMoments
        For each number.
    """

    counts: tuple[Array, ...]
    families: tuple[CellMoments, ...]

    def merged(self, other: Statistics) -> Statistics:
        """What all rows of both say."""
        counts = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        families = tuple(a.merged(b) for a, b in zip(self.families, other.families, strict=True))
        return Statistics(counts, families)

    def borrowed(self, single: NDArray[np.bool_]) -> Statistics:
        """The same, with the other classes' average spread where a class has a single row."""
        if not single.any():
            return self
        return replace(self, families=tuple(family.borrowed(single) for family in self.families))


@dataclass(frozen=True)
class Family:
    """The axes of a feature's statistics: its categorical parents, itself if it is one, number parents."""

    columns: tuple[int, ...]
    categories: tuple[int, ...]
    grid: tuple[int, ...]


def number_family(dag: Dag, schema: Schema, i: int) -> Family:
    """The i-th number and its number parents, over the grid of its categorical parents."""
    parents, given = split_parents(dag, schema, schema.numbers[i])
    return Family((i, *parents), given, tuple(schema.sizes[k] for k in given))


def category_family(dag: Dag, schema: Schema, k: int) -> Family:
    """The k-th category's parents and, last, itself."""
    _, given = split_parents(dag, schema, schema.categories[k])
    return Family((), (*given, k), tuple(schema.sizes[d] for d in (*given, k)))


def gathered(
    numbers: Array,
    codes: Codes,
    labels: Codes,
    n_classes: int,
    weights: Array | None,
    graph: tuple[Dag, Schema],
) -> Statistics:
    """Statistics of rows whose numbers and codes are all known.

    Parameters
    ----------
    numbers : array of shape (rows, n_numbers)
    codes : array of shape (rows, n_categories)
    labels : array of int
        Class of each row.
    n_classes : int
    weights : array, optional
    graph : (Dag, Schema)
    """
    dag, schema = graph
    tables = [category_family(dag, schema, k) for k in range(schema.n_categories)]
    families = [number_family(dag, schema, i) for i in range(schema.n_numbers)]
    _refuse_huge(schema, n_classes, tables, families)
    counts = [np.zeros((n_classes, *table.grid)) for table in tables]
    moments = [CellMoments.zeros((n_classes, *f.grid), len(f.columns)) for f in families]
    for chunk in row_chunks(len(labels)):
        Z, C, c = np.asarray(numbers[chunk], dtype=float), codes[chunk], labels[chunk]
        w = None if weights is None else weights[chunk]
        for k, table in enumerate(tables):
            where = positions(C, table.categories, table.grid, c)
            counts[k] += np.bincount(where, w, counts[k].size).reshape(counts[k].shape)
        for i, family in enumerate(families):
            where = positions(C, family.categories, family.grid, c)
            part = cell_moments(Z[:, family.columns], where, w, (n_classes, *family.grid))
            moments[i] = moments[i].merged(part)
    return Statistics(tuple(counts), tuple(moments))


def cell_moments(Z: Array, cells: Codes, w: Array | None, grid: tuple[int, ...]) -> CellMoments:
    """Centred on the mean of each cell, so that large offsets cost no digits."""
    size, n = prod(grid), Z.shape[1]
    totals = np.bincount(cells, w, size).astype(float)
    divisor = np.where(totals > 0, totals, 1.0)
    reference = Z[0] if len(Z) else np.zeros(n)  # a constant column has exactly zero deviations
    Z = Z - reference
    means = np.empty((size, n))
    for a in range(n):
        means[:, a] = np.bincount(cells, Z[:, a] if w is None else w * Z[:, a], size) / divisor
    Z -= means[cells]
    scatter = np.empty((size, n, n))
    for a in range(n):
        weighted = Z[:, a] if w is None else w * Z[:, a]
        for b in range(a + 1):
            scatter[:, a, b] = scatter[:, b, a] = np.bincount(cells, weighted * Z[:, b], size)
    means += reference
    return CellMoments(totals.reshape(grid), means.reshape(*grid, n), scatter.reshape(*grid, n, n))


def _refuse_huge(schema: Schema, n_classes: int, tables: list[Family], families: list[Family]) -> None:
    """Refuse tables and cells that would not fit into memory, before they are made."""
    needed = {schema.categories[k]: n_classes * prod(table.grid) for k, table in enumerate(tables)}
    for i, family in enumerate(families):
        wide = len(family.columns)
        needed[schema.numbers[i]] = n_classes * prod(family.grid) * (1 + wide + wide**2)
    total = sum(needed.values())
    if total > MOST_NUMBERS:
        worst = max(needed, key=needed.__getitem__)
        grid = dict(zip(schema.categories, tables, strict=True))
        grid |= dict(zip(schema.numbers, families, strict=True))
        raise StructureError(
            f"the model would have {total:,} parameters, most of them as {schema.names[worst]!r} depends on "
            f"categories with {prod(grid[worst].grid):,} combinations; give it fewer parents, or put rare "
            "values of categories together"
        )
