"""MixedNetwork: the density of one class over numbers and categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.exceptions import DataError, StructureError
from surefoot.model.dag import Dag
from surefoot.model.network import FAR, LinearGaussianNetwork
from surefoot.model.schema import Schema
from surefoot.problem.mixed import Factor, State

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

KEPT_NETWORKS = 4096  # states whose network is remembered
# And entries of their matrices; ten times as many take gigabytes for categories of a thousand values.
KEPT_ENTRIES = 2_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """z_i ~ N(mean + weights' (z_parents - at), variance), one such regression for each cell.

    A cell is a combination of values of the number's categorical parents; the arrays' first axes run over
    these values. Without categorical parents there is one cell, and these axes are absent.

    Parameters
    ----------
    parents : tuple of int
        The number's parents among the numbers, counted among the numbers alone.
    given : tuple of int
        Its parents among the categories, counted among the categories alone.
    mean, variance : arrays over the cells
    at, weights : arrays over the cells, with one more axis for the parents
    """

    parents: tuple[int, ...]
    given: tuple[int, ...]
    mean: Array
    at: Array
    weights: Array
    variance: Array

    def __post_init__(self) -> None:
        mean = np.asarray(self.mean, dtype=float)
        wide = (*mean.shape, len(self.parents))
        shapes = {"mean": mean.shape, "at": wide, "weights": wide, "variance": mean.shape}
        for name, shape in shapes.items():
            value = np.array(getattr(self, name), dtype=float)
            if value.size == 0:  # nested lists lose the axes behind an empty one
                value = value.reshape(shape) if np.prod(shape) == 0 else value
            if value.shape != shape or not np.isfinite(value).all():
                raise DataError(f"{name} of a number's cells must be finite, of shape {shape}")
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        if mean.ndim != len(self.given):
            raise DataError(f"cells need one axis for each of {len(self.given)} categories, not {mean.ndim}")
        if not (self.variance > 0).all():
            raise DataError("conditional variances must be positive")

    def cell(self, state: State) -> State:
        """Where the arrays hold the cell of one state."""
        return tuple(state[k] for k in self.given)

    def cells(self, codes: Codes) -> Codes:
        """Number of the cell of each row, counted along the arrays as they lie in memory."""
        return positions(codes, self.given, self.mean.shape)

    def log_density(self, values: Array, numbers: Array, codes: Codes) -> Array:
        """Log density of the number's values, given each row's parents."""
        where = self.cells(codes)
        variance = self.variance.ravel()[where]
        deviation = np.clip(values - self.expected(numbers, where), -FAR, FAR) / np.sqrt(variance)
        squares = np.clip(deviation, -FAR, FAR) ** 2
        return np.asarray(-0.5 * (np.log(2 * np.pi * variance) + squares))

    def expected(self, numbers: Array, cells: Codes) -> Array:
        """What each row expects of the number, by its cell and its parents."""
        found = self.mean.ravel()[cells]
        for j, parent in enumerate(self.parents):
            deviation = np.clip(numbers[:, parent] - self.at[..., j].ravel()[cells], -FAR, FAR)
            found = found + self.weights[..., j].ravel()[cells] * deviation
        return found


@dataclass(frozen=True, eq=False)
class MixedNetwork:
    """p(s, z) = prod_d theta_{d | parents} prod_i N(z_i; ., .): categories by tables, numbers by cells.

    Parameters
    ----------
    dag : Dag
        Over all features; a category has only categories as parents.
    schema : Schema
    tables : tuple of arrays
        For each category its probabilities, one axis for each of its parents (in the order of the features)
        and the last one for its own values.
    cells : tuple of Cells
        One for each number.

    Examples
    --------
    >>> schema = Schema(("housing", "income"), (("own", "rent"), None))
    >>> cells = Cells((), (0,), [5.0, 3.0], [[], []], [[], []], [1.0, 2.0])
    >>> network = MixedNetwork(Dag([(), (0,)]), schema, ([0.25, 0.75],), (cells,))
    >>> network.given((1,)).means
    array([3.])
    >>> network.log_density([[3.0]], [[1]]).round(6)
    array([-1.553194])
    """

    dag: Dag
    schema: Schema
    tables: tuple[Array, ...]
    cells: tuple[Cells, ...]

    def __post_init__(self) -> None:
        refuse_arcs_into_categories(self.dag, self.schema)
        if len(self.tables) != self.schema.n_categories or len(self.cells) != self.schema.n_numbers:
            raise DataError("a mixed network needs a table for each category and cells for each number")
        tables = tuple(self._checked_table(k) for k in range(len(self.tables)))
        object.__setattr__(self, "tables", tables)
        for i, cells in enumerate(self.cells):
            self._check_cells(i, cells)

    def _checked_table(self, k: int) -> Array:
        name = self.schema.names[self.schema.categories[k]]
        table = np.array(self.tables[k], dtype=float)
        shape = tuple(self.schema.sizes[d] for d in self.family(k))
        if (
            table.shape != shape
            or not (table > 0).all()
            or not (np.abs(table.sum(axis=-1) - 1.0) < 1e-9).all()
        ):
            raise DataError(f"the table of {name!r} must hold probabilities, of shape {shape}")
        table.setflags(write=False)
        return table

    def _check_cells(self, i: int, cells: Cells) -> None:
        parents, given = split_parents(self.dag, self.schema, self.schema.numbers[i])
        shape = tuple(self.schema.sizes[k] for k in given)
        if (cells.parents, cells.given, cells.mean.shape) != (parents, given, shape):
            name = self.schema.names[self.schema.numbers[i]]
            raise DataError(f"the cells of {name!r} do not fit its parents in the graph")

    def family(self, category: int) -> tuple[int, ...]:
        """The categories that a category's table runs over: its parents, then itself."""
        position = self.schema.categories[category]
        return (*split_parents(self.dag, self.schema, position)[1], category)

    @cached_property
    def shaping(self) -> tuple[int, ...]:
        """Categories that are a parent of a number."""
        return tuple(sorted({k for cells in self.cells for k in cells.given}))

    @cached_property
    def numbers_dag(self) -> Dag:
        """The graph between the numbers."""
        return Dag(tuple(cells.parents for cells in self.cells))

    @cached_property
    def _networks(self) -> dict[State, LinearGaussianNetwork]:
        return {}

    def given(self, state: State) -> LinearGaussianNetwork:
        """The network of the numbers for one state of the categories."""
        key = tuple(state[k] for k in self.shaping)
        found = self._networks.get(key)
        if found is None:
            if len(self._networks) >= min(KEPT_NETWORKS, 1 + KEPT_ENTRIES // max(len(self.cells), 1) ** 2):
                self._networks.pop(next(iter(self._networks)), None)
            found = self._networks[key] = self._composed(state)
        return found

    def _composed(self, state: State) -> LinearGaussianNetwork:
        """Joint means along the graph: m_i = mean + weights' (m_parents - at)."""
        n = len(self.cells)
        W, means, variances = np.zeros((n, n)), np.zeros(n), np.ones(n)
        for i in self.numbers_dag.order:
            cells, parents = self.cells[i], list(self.cells[i].parents)
            cell = cells.cell(state)
            W[i, parents] = cells.weights[cell]
            means[i] = cells.mean[cell] + W[i, parents] @ (means[parents] - cells.at[cell])
            variances[i] = cells.variance[cell]
        return LinearGaussianNetwork(self.numbers_dag, W, means, variances)

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """Log probabilities of the categories, a table for each."""
        return tuple(Factor(self.family(k), np.log(table)) for k, table in enumerate(self.tables))

    def log_density(self, numbers: ArrayLike, codes: ArrayLike) -> Array:
        """Log density of each row, whose numbers and codes are all known."""
        Z, C = _rows(numbers, codes)
        density = np.zeros(len(Z))
        for factor in self.factors:
            density += factor.table.ravel()[positions(C, factor.categories, factor.table.shape)]
        for i, cells in enumerate(self.cells):
            density += cells.log_density(Z[:, i], Z, C)
        return density

    def expected(self, numbers: ArrayLike, codes: ArrayLike) -> tuple[Array, Array]:
        """What is expected of each feature of each row, given its parents there.

        Returns
        -------
        numbers : array of shape (rows, n_numbers)
            Expected values.
        probabilities : array of shape (rows, n_categories)
            How probable each category's value is.
        """
        Z, C = _rows(numbers, codes)
        found = [cells.expected(Z, cells.cells(C)) for cells in self.cells]
        chances = [
            table.ravel()[positions(C, self.family(k), table.shape)] for k, table in enumerate(self.tables)
        ]
        return _columns(found, len(Z)), _columns(chances, len(Z))

    def deviations(self, numbers: ArrayLike, codes: ArrayLike) -> Array:
        """How many standard deviations each number is from what its parents make expected."""
        Z, C = _rows(numbers, codes)
        found = []
        for i, cells in enumerate(self.cells):
            where = cells.cells(C)
            found.append((Z[:, i] - cells.expected(Z, where)) / np.sqrt(cells.variance.ravel()[where]))
        return _columns(found, len(Z))

    def sample(
        self, n_samples: int, random_state: int | np.random.Generator | None = None
    ) -> tuple[Array, Codes]:
        """Draw numbers and codes of rows from the network."""
        rng = np.random.default_rng(random_state)
        numbers = np.zeros((n_samples, len(self.cells)))
        codes = np.zeros((n_samples, len(self.tables)), dtype=np.intp)
        for feature in self.dag.order:
            if feature in self.schema.numbers:
                i = self.schema.numbers.index(feature)
                cells, where = self.cells[i], self.cells[i].cells(codes)
                noise = rng.standard_normal(n_samples) * np.sqrt(cells.variance.ravel()[where])
                numbers[:, i] = cells.expected(numbers, where) + noise
            else:
                k = self.schema.categories.index(feature)
                codes[:, k] = self._drawn(k, codes, rng)
        return numbers, codes

    def _drawn(self, k: int, codes: Codes, rng: np.random.Generator) -> Codes:
        table = self.tables[k]
        where = positions(codes, self.family(k)[:-1], table.shape[:-1])
        cumulative = np.cumsum(table.reshape(-1, table.shape[-1]), axis=1)[where]
        drawn = (rng.random(len(codes))[:, None] * cumulative[:, -1:] >= cumulative).sum(axis=1)
        return np.asarray(np.minimum(drawn, table.shape[-1] - 1), dtype=np.intp)


Network = LinearGaussianNetwork | MixedNetwork


def log_density(network: Network, numbers: ArrayLike, codes: ArrayLike) -> Array:
    """Log density of each row under either kind of network."""
    if isinstance(network, MixedNetwork):
        return network.log_density(numbers, codes)
    return network.log_density(numbers)


def split_parents(dag: Dag, schema: Schema, feature: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A feature's parents: those among the numbers and those among the categories, each counted alone."""
    parents = dag.parents[feature]
    return (
        tuple(schema.numbers.index(j) for j in parents if schema.values[j] is None),
        tuple(schema.categories.index(j) for j in parents if schema.values[j] is not None),
    )


def refuse_arcs_into_categories(dag: Dag, schema: Schema) -> None:
    """Refuse a graph in which a number is a parent of a category, by the names of both."""
    if dag.n_features != len(schema.names):
        raise StructureError(f"the graph has {dag.n_features} features, the table has {len(schema.names)}")
    for parent, child in dag.edges:
        if schema.values[parent] is None and schema.values[child] is not None:
            raise StructureError(
                f"edge {schema.names[parent]!r} -> {schema.names[child]!r} leads from a number to a "
                "category, but a category can depend on categories only"
            )


def _rows(numbers: ArrayLike, codes: ArrayLike) -> tuple[Array, Codes]:
    return np.asarray(numbers, dtype=float), np.asarray(codes, dtype=np.intp)


def positions(
    codes: Codes, categories: Sequence[int], shape: tuple[int, ...], start: Codes | None = None
) -> Codes:
    """Position of each row in a flattened array over some categories' values.

    Parameters
    ----------
    codes : array of shape (rows, n_categories)
    categories : sequence of int
        The array's axes.
    shape : tuple of int
        Their lengths.
    start : array of int, optional
        Position along an axis before these.
    """
    where = np.zeros(len(codes), dtype=np.intp) if start is None else start
    for k, size in zip(categories, shape, strict=True):
        where = where * size + codes[:, k]
    return where


def _columns(columns: list[Array], n_rows: int) -> Array:
    return np.column_stack(columns) if columns else np.zeros((n_rows, 0))
