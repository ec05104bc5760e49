"""Learning from rows with holes: expectation-maximisation over the same statistics as without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.bars import stepped
from surefoot.model.completion import completed_by_class
from surefoot.model.dag import Dag
from surefoot.model.elimination import RowFactor, log_evidence, posterior
from surefoot.model.holes import (
    Component,
    Conditioned,
    MixedGaps,
    gaussian_gaps,
    known_log_density,
    mixed_gaps,
)
from surefoot.model.mixed import MixedNetwork, Network, positions
from surefoot.model.moments import ClassMoments, class_moments
from surefoot.model.network import LinearGaussianNetwork
from surefoot.model.rows import TrainingRows
from surefoot.model.statistics import (
    CellMoments,
    Statistics,
    category_family,
    cell_moments,
    gathered,
    number_family,
)

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
NetworksOf = Callable[[ClassMoments, Statistics | None], Sequence[Network]]

MOST_ROUNDS = 25
TOLERANCE = 1e-4  # nats for each row; a round that gains less is the last


@dataclass(frozen=True, eq=False)
class Completed:
    """What rows with holes say about a graph's networks, and how that was found.

    Parameters
    ----------
    moments : ClassMoments
        Of the numbers; ranges are those of the values that were there.
    statistics : Statistics or None
        Of tables and cells, where there are categories.
    holes : int
        Number of missing values.
    rounds : int
        Rounds of expectation-maximisation.
    converged : bool
        Whether the last round gained less than 0.0001 nats for each row.
    log_likelihoods : tuple of float
        Of what is known of the rows, before each round, for each row on average.
    """

    moments: ClassMoments
    statistics: Statistics | None
    holes: int
    rounds: int
    converged: bool
    log_likelihoods: tuple[float, ...]

    def __str__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        return f"{self.holes:,} missing value{'s' * (self.holes != 1)}, {state} after {self.rounds} rounds"


def learn_with_holes(
    rows: TrainingRows, dag: Dag, networks_of: NetworksOf, max_rounds: int = MOST_ROUNDS
) -> Completed:
    """Expectation-maximisation: statistics expected under the networks, networks from these, and so on.

    It starts from rows completed with the mean or most frequent value of their class, each missing number as
    uncertain as the known ones are spread: without that variances would have to grow from near zero.

    Parameters
    ----------
    rows : TrainingRows
        With nan and -1 for holes; numbers are warped already.
    dag : Dag
    networks_of : callable
        From statistics to the network of every class.
    max_rounds : int
    """
    found = first_statistics(rows, dag)
    likelihoods: list[float] = []
    converged = False
    for _ in stepped(range(max_rounds), "filling holes", "round"):
        networks = networks_of(found.moments, found.statistics)
        found = expected_statistics(networks, rows, found.moments, dag)
        likelihoods.append(found.log_likelihood)
        converged = len(likelihoods) > 1 and likelihoods[-1] - likelihoods[-2] < TOLERANCE
        if converged:
            break
    holes = int(np.isnan(rows.numbers).sum() + (rows.codes < 0).sum())
    return Completed(found.moments, found.statistics, holes, len(likelihoods), converged, tuple(likelihoods))


class Expected(NamedTuple):
    """Statistics that networks expect, and the mean log likelihood of what is known under them."""

    moments: ClassMoments
    statistics: Statistics | None
    log_likelihood: float = -np.inf


def first_statistics(rows: TrainingRows, dag: Dag) -> Expected:
    """Statistics of rows completed with the mean or most frequent value of their class."""
    numbers, codes = completed_by_class(rows.numbers, rows.codes, rows.labels, rows.weights)
    k = len(rows.classes)
    moments = class_moments(numbers, rows.labels, k, rows.weights)
    spread = np.apply_along_axis(np.diag, 1, _spread_of_holes(rows, k))
    moments = _observed_range(replace(moments, covariances=moments.covariances + spread), rows)
    if not rows.schema.n_categories:
        return Expected(moments, None)
    return Expected(moments, gathered(numbers, codes, rows.labels, k, rows.weights, (dag, rows.schema)))


def _spread_of_holes(rows: TrainingRows, k: int) -> Array:
    """For each class and number the share of holes times the variance of what is known.

    Where a class has less than two values, the mean variance within the others serves.
    """
    shape = k, rows.numbers.shape[1]
    shares, variances, some = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
    for c in range(k):
        own = rows.part(np.flatnonzero(rows.labels == c))
        w = np.where(np.isnan(own.numbers), 0.0, _weights(own)[:, None])
        known, total = w.sum(axis=0), float(_weights(own).sum())
        values = np.where(w > 0, own.numbers, 0.0)
        safe = np.where(known > 0, known, 1.0)
        means = (w * values).sum(axis=0) / safe
        variances[c] = (w * (values - means) ** 2).sum(axis=0) / safe
        shares[c] = 1.0 - known / total if total > 0 else 0.0
        some[c] = (w > 0).sum(axis=0) > 1
    others = np.where(some, variances, 0.0).sum(axis=0) / np.maximum(some.sum(axis=0), 1)
    return np.asarray(shares * np.where(some, variances, others))


def expected_statistics(
    networks: Sequence[Network], rows: TrainingRows, scale: ClassMoments, dag: Dag
) -> Expected:
    """Statistics that the networks expect of the rows, given what is known of them.

    Parameters
    ----------
    networks : sequence of Network
        One for each class.
    rows : TrainingRows
    scale : ClassMoments
        Rough moments of the numbers. Mixed networks have cells of their own, and keep these.
    dag : Dag
    """
    if rows.schema.n_categories:
        gatherer = _Gatherer(rows, dag)
        statistics = gatherer.statistics(networks)
        return Expected(scale, statistics, gatherer.log_likelihood / _total(rows))
    numbers, likelihood = rows.numbers.astype(float), 0.0
    uncertain = np.zeros_like(scale.covariances)
    for c, network in enumerate(networks):
        own = np.flatnonzero(rows.labels == c)
        numbers[own], uncertain[c], density = _completed_gaussian(network, rows.part(own))
        likelihood += density
    moments = class_moments(numbers, rows.labels, len(rows.classes), rows.weights)
    extra = uncertain / np.where(moments.totals > 0, moments.totals, 1.0)[:, None, None]
    moments = _observed_range(replace(moments, covariances=moments.covariances + extra), rows)
    return Expected(moments, None, likelihood / _total(rows))


def _completed_gaussian(network: Network, rows: TrainingRows) -> tuple[Array, Array, float]:
    """Rows of one class without holes, the covariances of what was filled in, and the log likelihood."""
    assert isinstance(network, LinearGaussianNetwork)
    Z = rows.numbers.astype(float)
    full, w = Z.copy(), _weights(rows)
    uncertain = np.zeros_like(network.weights)
    known = np.flatnonzero(~np.isnan(Z).any(axis=1))
    likelihood = float(w[known] @ network.log_density(Z[known]))
    for own, gaps in gaussian_gaps(network, Z):
        found = gaps.condition(Z[own])
        full[np.ix_(own, gaps.missing)] = found.means
        uncertain[np.ix_(gaps.missing, gaps.missing)] += w[own].sum() * found.covariance
        likelihood += float(w[own] @ found.log_density)
    return full, uncertain, likelihood


def _weights(rows: TrainingRows) -> Array:
    return np.ones(len(rows.labels)) if rows.weights is None else rows.weights


def _total(rows: TrainingRows) -> float:
    return float(_weights(rows).sum())


def _observed_range(moments: ClassMoments, rows: TrainingRows) -> ClassMoments:
    seen = rows.numbers if rows.weights is None else rows.numbers[rows.weights > 0]
    low = np.nanmin(seen, axis=0, initial=np.inf)
    high = np.nanmax(seen, axis=0, initial=-np.inf)
    return replace(moments, low=low.astype(float), high=high.astype(float))


class _Piece(NamedTuple):
    """Rows, or possible completions of rows, that a number's cells are estimated from."""

    values: Array
    cells: Codes
    weights: Array
    covariances: Array | None


@dataclass(eq=False)
class _Gatherer:
    """Collects, feature by feature, what completed rows say about tables and cells."""

    rows: TrainingRows
    dag: Dag
    counts: list[Array] = field(default_factory=list)
    pieces: list[list[_Piece]] = field(default_factory=list)
    log_likelihood: float = 0.0

    def __post_init__(self) -> None:
        schema, k = self.rows.schema, len(self.rows.classes)
        self.tables = [category_family(self.dag, schema, d) for d in range(schema.n_categories)]
        self.families = [number_family(self.dag, schema, i) for i in range(schema.n_numbers)]
        self.counts = [np.zeros((k, *table.grid)) for table in self.tables]
        self.pieces = [[] for _ in self.families]

    def statistics(self, networks: Sequence[Network]) -> Statistics:
        """Statistics of all rows, class by class."""
        for c, network in enumerate(networks):
            assert isinstance(network, MixedNetwork)
            own = self.rows.part(np.flatnonzero(self.rows.labels == c))
            Z, weights = own.numbers.astype(float), _weights(own)
            self._add_known(c, Z, own.codes, weights)
            self.log_likelihood += float(weights @ known_log_density(network, Z, own.codes))
            for rows, gaps in mixed_gaps(network, Z, own.codes):
                self._add_unknown(c, gaps, Z[rows], own.codes[rows], weights[rows])
        k = len(networks)
        moments = [self._moments(i, (k, *family.grid)) for i, family in enumerate(self.families)]
        return Statistics(tuple(self.counts), tuple(moments))

    def _add_known(self, c: int, Z: Array, C: Codes, w: Array) -> None:
        """Features of rows that are known together with their parents."""
        for d, table in enumerate(self.tables):
            rows = (C[:, table.categories] >= 0).all(axis=1)
            self._count(d, c, C[rows], w[rows])
        for i, family in enumerate(self.families):
            known = ~np.isnan(Z[:, family.columns]).any(axis=1)
            rows = known & (C[:, family.categories] >= 0).all(axis=1)
            self._keep(i, c, _Completion(Z[rows], C[rows], w[rows]))

    def _add_unknown(self, c: int, gaps: MixedGaps, Z: Array, C: Codes, w: Array) -> None:
        """Features of rows with the same holes, each possible completion by its probability."""
        factors = gaps.factors(Z, C)
        self.log_likelihood += float(w @ log_evidence(factors, len(Z)))
        for d, table in enumerate(self.tables):
            scope = gaps.scope(table.categories)
            if scope and gaps.uses_category(d):
                for codes, chance in _completions(gaps, factors, C, scope):
                    self._count(d, c, codes, w * chance)
        for i, family in enumerate(self.families):
            scope = gaps.scope(family.categories)
            if scope and gaps.uses_number(i) and not set(family.columns) & set(gaps.numbers):
                for codes, chance in _completions(gaps, factors, C, scope):
                    self._keep(i, c, _Completion(Z, codes, w * chance))
        for component in gaps.components:
            parts = gaps.conditioned(component, Z, C)
            completions = _completions(gaps, factors, C, gaps.scope(component.categories))
            for (codes, chance), (_, part) in zip(completions, parts, strict=True):
                self._add_component(c, gaps, component, _Completion(Z, codes, w * chance), part)

    def _add_component(
        self, c: int, gaps: MixedGaps, component: Component, completion: _Completion, part: Conditioned
    ) -> None:
        """Regressions that missing numbers take part in: their means, and how far they are uncertain."""
        holes, n = gaps.missing_in(component), completion.numbers.shape[1]
        numbers = completion.numbers.copy()
        numbers[:, holes] = part.means
        covariances = np.zeros((len(numbers), n, n))
        covariances[:, np.array(holes)[:, None], holes] = part.covariance
        for i in component.members:
            self._keep(i, c, completion._replace(numbers=numbers), covariances)

    def _count(self, d: int, c: int, C: Codes, w: Array) -> None:
        table, counts = self.tables[d], self.counts[d]
        where = positions(C, table.categories, table.grid)
        counts[c] += np.bincount(where, w, counts[c].size).reshape(table.grid)

    def _keep(self, i: int, c: int, found: _Completion, covariances: Array | None = None) -> None:
        family, columns = self.families[i], list(self.families[i].columns)
        label = np.full(len(found.weights), c, dtype=np.intp)
        cells = positions(found.codes, family.categories, family.grid, label)
        if covariances is not None:
            covariances = covariances[:, np.array(columns)[:, None], columns]
        self.pieces[i].append(_Piece(found.numbers[:, columns], cells, found.weights, covariances))

    def _moments(self, i: int, grid: tuple[int, ...]) -> CellMoments:
        pieces = self.pieces[i]
        values, cells, weights = (np.concatenate([piece[a] for piece in pieces]) for a in range(3))
        found = cell_moments(values, cells, weights, grid)
        scatter = found.scatter.reshape(-1, *found.scatter.shape[-2:])
        for piece in pieces:
            if piece.covariances is not None:
                np.add.at(scatter, piece.cells, piece.weights[:, None, None] * piece.covariances)
        return replace(found, scatter=scatter.reshape(found.scatter.shape))


class _Completion(NamedTuple):
    """Rows with values in place of their holes, and the weight of each."""

    numbers: Array
    codes: Codes
    weights: Array


def _completions(
    gaps: MixedGaps, factors: Sequence[RowFactor], C: Codes, scope: tuple[int, ...]
) -> Iterator[tuple[Codes, Array]]:
    """All completions of some missing categories, and the probability of each in every row."""
    chances = posterior(factors, scope, len(C)).table.reshape(len(C), -1)
    for combination, chance in zip(gaps.combinations(scope), chances.T, strict=True):
        yield gaps.filled(C, scope, combination), chance
