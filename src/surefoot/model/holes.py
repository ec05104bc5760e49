"""Rows with holes: exact densities of what is known, and what a network expects of the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.model.elimination import RowFactor, log_evidence, posterior
from surefoot.model.mixed import MixedNetwork, Network, positions
from surefoot.model.network import FAR, LinearGaussianNetwork

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Rows = NDArray[np.intp]

ROWS_AT_ONCE = 4096  # of one pattern of holes; keeps tables over categories small


def has_holes(numbers: NDArray[np.floating], codes: Codes) -> bool:
    """Whether any value is missing."""
    return bool(np.isnan(numbers).any() or (codes < 0).any())


def marginal_log_density(network: Network, numbers: ArrayLike, codes: ArrayLike | None = None) -> Array:
    """Log density of the known values of each row, the missing ones integrated and summed out exactly.

    Parameters
    ----------
    network : LinearGaussianNetwork or MixedNetwork
    numbers : array of shape (rows, n_numbers)
        With nan for holes.
    codes : array of shape (rows, n_categories), optional
        With -1 for holes.
    """
    Z, C = _arrays(numbers, codes)
    if isinstance(network, LinearGaussianNetwork):
        density = _complete_density(network, Z)
        for rows, gaps in gaussian_gaps(network, Z):
            density[rows] = gaps.condition(Z[rows]).log_density
        return density
    density = known_log_density(network, Z, C)
    for rows, mixed in mixed_gaps(network, Z, C):
        density[rows] += mixed.log_evidence(Z[rows], C[rows])
    return density


def expected_values(
    network: Network, numbers: ArrayLike, codes: ArrayLike | None = None
) -> tuple[Array, Codes]:
    """The rows with their holes filled by what the network expects given the known values.

    A number becomes its conditional mean, a category its most probable value.

    Parameters
    ----------
    network, numbers, codes
        As in `marginal_log_density`.
    """
    Z, C = _arrays(numbers, codes)
    full, values = Z.copy(), C.copy()
    if isinstance(network, LinearGaussianNetwork):
        for rows, gaps in gaussian_gaps(network, Z):
            full[np.ix_(rows, gaps.missing)] = gaps.condition(Z[rows]).means
        return full, values
    for rows, mixed in mixed_gaps(network, Z, C, everything=True):
        full[rows], values[rows] = mixed.expected(Z[rows], C[rows])
    return full, values


class Conditioned(NamedTuple):
    """What known numbers say about themselves and about the missing ones."""

    log_density: Array  # of the known numbers, for each row
    means: Array  # of the missing numbers, for each row
    covariance: Array  # of the missing numbers, the same for all rows


@dataclass(frozen=True, eq=False)
class GaussianGaps:
    """z = m + B e with e standard normal: some coordinates of z are known, the others are not.

    Parameters
    ----------
    mean : array of shape (n,) or (rows, n)
    spread : array of shape (n, m)
        B.
    missing, known : arrays of int
        Positions.
    """

    mean: Array
    spread: Array
    missing: Rows
    known: Rows

    def condition(self, Z: Array) -> Conditioned:
        """Density of the known coordinates, and moments of the missing ones given them.

        B_known' = Q R makes R'R their covariance, which is never formed.
        """
        Q, R = np.linalg.qr(self.spread[self.known].T)
        deviations = np.clip(Z[:, self.known] - self.mean[..., self.known], -FAR, FAR)
        y = np.clip(np.linalg.solve(R.T, deviations.T).T, -FAR, FAR)
        peak = -np.log(np.abs(np.diag(R))).sum() - 0.5 * len(self.known) * np.log(2 * np.pi)
        B = self.spread[self.missing]
        explained = B @ Q
        means = self.mean[..., self.missing] + y @ explained.T
        covariance = B @ B.T - explained @ explained.T
        return Conditioned(peak - 0.5 * np.einsum("ij,ij->i", y, y), means, covariance)


def gaussian_gaps(network: LinearGaussianNetwork, Z: Array) -> Iterator[tuple[Rows, GaussianGaps]]:
    """Rows with holes, those with the same ones together."""
    spread = np.diag(np.sqrt(network.variances))
    for i in network.dag.order:  # inv(A) diag(v)^(1/2), whatever the units
        spread[i] += network.weights[i] @ spread
    holes = np.isnan(Z)
    for rows, hole in patterns(holes, np.asarray(holes.any(axis=1))):
        yield rows, GaussianGaps(network.means, spread, np.flatnonzero(hole), np.flatnonzero(~hole))


def patterns(kinds: NDArray[Any], some: NDArray[np.bool_]) -> Iterator[tuple[Rows, NDArray[Any]]]:
    """Of some rows, those that are alike together, and what they look like."""
    chosen = np.flatnonzero(some)
    if chosen.size == 0:
        return
    distinct, which = np.unique(kinds[chosen], axis=0, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which))
    for pattern, rows in zip(distinct, np.split(chosen[order], ends[:-1]), strict=True):
        for start in range(0, len(rows), ROWS_AT_ONCE):
            yield rows[start : start + ROWS_AT_ONCE], pattern


def mixed_gaps(
    network: MixedNetwork, Z: Array, C: Codes, everything: bool = False
) -> Iterator[tuple[Rows, MixedGaps]]:
    """Rows with holes that matter, those with the same ones together.

    A missing feature of which no child is known, nor known through its own children, says nothing about
    anything else: it integrates to one and is left out, unless ``everything`` is wanted.
    """
    holes = _by_feature(network, np.isnan(Z), C < 0)
    idle = np.zeros_like(holes) if everything else _idle(network, holes)
    needed = holes & ~idle
    # What is left out matters only where it hangs on something that is not.
    left_out = idle & (needed @ network.dag.adjacency().T)
    schema = network.schema
    for rows, pattern in patterns(needed + 2 * left_out.astype(np.int8), np.asarray(needed.any(axis=1))):
        yield (
            rows,
            MixedGaps(
                network,
                tuple(i for i, j in enumerate(schema.numbers) if pattern[j] == 1),
                tuple(k for k, j in enumerate(schema.categories) if pattern[j] == 1),
                frozenset(np.flatnonzero(pattern == 2).tolist()),
            ),
        )


def _by_feature(
    network: MixedNetwork, numbers: NDArray[np.bool_], categories: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Columns of numbers and of categories in the order of the features."""
    found = np.empty((len(numbers), network.dag.n_features), dtype=bool)
    found[:, list(network.schema.numbers)] = numbers
    found[:, list(network.schema.categories)] = categories
    return found


def _idle(network: MixedNetwork, holes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Missing features whose children are all idle."""
    idle = holes.copy()
    for child in reversed(network.dag.order):
        for parent in network.dag.parents[child]:
            idle[:, parent] &= idle[:, child]
    return idle


@dataclass(frozen=True)
class Component:
    """Numbers whose regressions hang together by missing numbers, and so have to be integrated at once.

    Parameters
    ----------
    members : tuple of int
        These numbers, parents first.
    categories : tuple of int
        All categories that shape them.
    """

    members: tuple[int, ...]
    categories: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class MixedGaps:
    """Rows of a mixed network that have the same holes.

    Given the categories, missing numbers are integrated out of a Gaussian; the results, one for each
    combination of those missing categories that matter, are then tables like those of the categories.

    Parameters
    ----------
    network : MixedNetwork
    numbers, categories : tuples of int
        The missing ones.
    left_out : frozenset of int
        Positions of missing features that nothing known depends on.
    """

    network: MixedNetwork
    numbers: tuple[int, ...]
    categories: tuple[int, ...]
    left_out: frozenset[int] = frozenset()

    def uses_number(self, i: int) -> bool:
        """Whether the regression of the i-th number has a part in this."""
        return self.network.schema.numbers[i] not in self.left_out

    def uses_category(self, k: int) -> bool:
        """Whether the table of the k-th category has a part in this."""
        return self.network.schema.categories[k] not in self.left_out

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """Groups of regressions that share missing numbers; every missing number is in one."""
        holes, cells = set(self.numbers), self.network.cells
        groups: list[tuple[set[int], set[int]]] = []
        for i, own in enumerate(cells):
            shared = holes & {i, *own.parents}
            if not shared or not self.uses_number(i):
                continue
            near = [group for group in groups if group[1] & shared]
            groups = [group for group in groups if not group[1] & shared]
            groups.append(({i}.union(*(g[0] for g in near)), shared.union(*(g[1] for g in near))))
        order = {i: place for place, i in enumerate(self.network.numbers_dag.order)}
        return tuple(
            Component(
                tuple(sorted(members, key=order.__getitem__)),
                tuple(sorted({k for i in members for k in cells[i].given})),
            )
            for members, _ in groups
        )

    def log_evidence(self, Z: Array, C: Codes) -> Array:
        """Log density of what is known, less the families that have no holes."""
        return log_evidence(self.factors(Z, C), len(Z))

    def expected(self, Z: Array, C: Codes) -> tuple[Array, Codes]:
        """The rows with their holes filled."""
        full, values = Z.copy(), C.copy()
        factors = self.factors(Z, C)
        for k in self.categories:
            values[:, k] = posterior(factors, (k,), len(Z)).table.argmax(axis=1)
        for component in self.components:
            scope = self.scope(component.categories)
            weights = posterior(factors, scope, len(Z)).table.reshape(len(Z), -1)
            means = [part.means for _, part in self.conditioned(component, Z, C)]
            full[:, self.missing_in(component)] = np.einsum("rc,crh->rh", weights, means)
        return full, values

    def factors(self, Z: Array, C: Codes) -> list[RowFactor]:
        """Everything that depends on a missing value, as tables over the missing categories."""
        network, holes = self.network, set(self.numbers)
        found = [
            self._spread_out(np.log(table), network.family(k), C)
            for k, table in enumerate(network.tables)
            if self.scope(network.family(k)) and self.uses_category(k)
        ]
        for i, cells in enumerate(network.cells):
            touched = self.scope(cells.given) and not holes & {i, *cells.parents}
            if touched and self.uses_number(i):
                found.append(self._known_number(i, Z, C))
        return found + [self._integrated(component, Z, C) for component in self.components]

    def scope(self, categories: Sequence[int]) -> tuple[int, ...]:
        """The missing ones among some categories, ascending."""
        return tuple(k for k in self.categories if k in categories)

    def combinations(self, scope: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """All combinations of values of some categories."""
        return np.ndindex(*(self.network.schema.sizes[k] for k in scope))

    def filled(self, C: Codes, scope: Sequence[int], combination: Sequence[int]) -> Codes:
        """Codes with some missing categories set to given values."""
        codes = C.copy()
        codes[:, list(scope)] = combination
        return codes

    def missing_in(self, component: Component) -> list[int]:
        """The missing numbers of a component, in the order of its members."""
        return [i for i in component.members if i in self.numbers]

    def conditioned(
        self, component: Component, Z: Array, C: Codes
    ) -> Iterator[tuple[tuple[int, ...], Conditioned]]:
        """For each combination of the missing categories that shape a component: what its numbers say.

        The covariance has a row's own axis in front, as rows differ in their known categories.
        """
        scope = self.scope(component.categories)
        shown = [k for k in component.categories if k not in scope]
        sizes = tuple(self.network.schema.sizes[k] for k in shown)
        _, first, which = np.unique(positions(C, shown, sizes), return_index=True, return_inverse=True)
        for combination in self.combinations(scope):
            codes = self.filled(C[first], scope, combination)
            yield combination, self._conditions(component, Z, codes, which)

    def _conditions(self, component: Component, Z: Array, codes: Codes, which: Rows) -> Conditioned:
        """The numbers m + B e of a component, parents outside being known: a B for each state.

        Parameters
        ----------
        component : Component
        Z : array of shape (rows, n_numbers)
        codes : array of shape (states, n_categories)
        which : array of shape (rows,)
            The state of each row. Rows differ in it, so that all states are worked on at once.
        """
        members, place = component.members, {i: a for a, i in enumerate(component.members)}
        mean, spread = np.empty((len(Z), len(members))), np.zeros((len(codes), *(len(members),) * 2))
        for a, i in enumerate(members):
            cells = self.network.cells[i]
            cell = cells.cells(codes)
            mean[:, a] = cells.mean.ravel()[cell][which]
            spread[:, a, a] = np.sqrt(cells.variance.ravel()[cell])
            for p, j in enumerate(cells.parents):
                w, at = cells.weights[..., p].ravel()[cell], cells.at[..., p].ravel()[cell]
                mean[:, a] += w[which] * ((mean[:, place[j]] if j in place else Z[:, j]) - at[which])
                if j in place:
                    spread[:, a] += w[:, None] * spread[:, place[j]]
        hole = np.array([i in self.numbers for i in members])
        return _conditioned(mean, spread, hole, Z[:, list(members)], which)

    def _integrated(self, component: Component, Z: Array, C: Codes) -> RowFactor:
        parts = [part.log_density for _, part in self.conditioned(component, Z, C)]
        return self._factor(self.scope(component.categories), parts)

    def _known_number(self, i: int, Z: Array, C: Codes) -> RowFactor:
        """A regression whose numbers are all known, but not its cell."""
        scope = self.scope(self.network.cells[i].given)
        every = (self.filled(C, scope, combination) for combination in self.combinations(scope))
        return self._factor(scope, [self.network.cells[i].log_density(Z[:, i], Z, codes) for codes in every])

    def _factor(self, scope: tuple[int, ...], columns: list[Array]) -> RowFactor:
        """A factor from its values for each combination, in their order."""
        sizes = (self.network.schema.sizes[k] for k in scope)
        return RowFactor(scope, np.stack(columns, axis=1).reshape(-1, *sizes))

    def _spread_out(self, table: Array, axes: tuple[int, ...], C: Codes) -> RowFactor:
        """A table over some categories, looked up at each row's known values."""
        scope = self.scope(axes)
        known = [k for k in axes if k not in scope]
        ordered = table.transpose([axes.index(k) for k in (*known, *scope)])
        shape = (len(C), *(self.network.schema.sizes[k] for k in scope))
        where = tuple(C[:, k] for k in known)
        return RowFactor(scope, np.broadcast_to(ordered[where], shape))


def _conditioned(mean: Array, spread: Array, hole: NDArray[np.bool_], Z: Array, which: Rows) -> Conditioned:
    """The same as `GaussianGaps.condition`, for a spread of each state; covariances for each row."""
    Q, R = np.linalg.qr(spread[:, ~hole].transpose(0, 2, 1))
    back = np.linalg.solve(R.transpose(0, 2, 1), np.broadcast_to(np.eye(R.shape[-1]), R.shape))
    deviations = np.clip(Z[:, ~hole] - mean[:, ~hole], -FAR, FAR)
    y = np.clip(np.einsum("rij,rj->ri", back[which], deviations), -FAR, FAR)
    peak = -np.log(np.abs(np.diagonal(R, axis1=1, axis2=2))).sum(axis=1)
    peak -= 0.5 * np.count_nonzero(~hole) * np.log(2 * np.pi)
    B = spread[:, hole]
    explained = B @ Q
    covariances = B @ B.transpose(0, 2, 1) - explained @ explained.transpose(0, 2, 1)
    means = mean[:, hole] + np.einsum("rij,rj->ri", explained[which], y)
    return Conditioned(peak[which] - 0.5 * np.einsum("ij,ij->i", y, y), means, covariances[which])


def _arrays(numbers: ArrayLike, codes: ArrayLike | None) -> tuple[Array, Codes]:
    Z = np.asarray(numbers, dtype=float)
    C = np.empty((len(Z), 0), dtype=np.intp) if codes is None else np.asarray(codes, dtype=np.intp)
    return Z, C


def _complete_density(network: LinearGaussianNetwork, Z: Array) -> Array:
    """Log density of rows without holes; zero for the others."""
    density = np.zeros(len(Z))
    full = np.flatnonzero(~np.isnan(Z).any(axis=1))
    density[full] = network.log_density(Z[full])
    return density


def known_log_density(network: MixedNetwork, Z: Array, C: Codes) -> Array:
    """Log density of each row's features that are known together with their parents."""
    density = np.zeros(len(Z))
    for k, table in enumerate(network.tables):
        rows = np.flatnonzero((C[:, network.family(k)] >= 0).all(axis=1))
        density[rows] += np.log(table).ravel()[positions(C[rows], network.family(k), table.shape)]
    for i, cells in enumerate(network.cells):
        known = ~np.isnan(Z[:, (i, *cells.parents)]).any(axis=1) & (C[:, cells.given] >= 0).all(axis=1)
        rows = np.flatnonzero(known)
        density[rows] += cells.log_density(Z[rows, i], Z[rows], C[rows])
    return density
