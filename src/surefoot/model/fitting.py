"""The steps of `fit`: from rows to the networks of all classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.model_selection import StratifiedKFold

from surefoot.bars import stepped
from surefoot.exceptions import DataError, SurefootWarning, ZeroVarianceError
from surefoot.formats import listed
from surefoot.model.calibration import Calibration, fit_calibration
from surefoot.model.cells import Smoothing, mixed_networks, pooled
from surefoot.model.completion import completed_by_class
from surefoot.model.dag import Dag, feature_index
from surefoot.model.holes import expected_values, has_holes, marginal_log_density
from surefoot.model.incomplete import MOST_ROUNDS, learn_with_holes
from surefoot.model.mixed import Network, log_density, refuse_arcs_into_categories
from surefoot.model.moments import ClassMoments, class_moments, quantiles, row_chunks
from surefoot.model.network import LinearGaussianNetwork, density_percentiles
from surefoot.model.rows import TrainingRows
from surefoot.model.schema import Schema
from surefoot.model.statistics import Statistics, gathered
from surefoot.model.structure import StructureReport, TrainingData, choose_structure
from surefoot.model.structure.choice import STRUCTURE_SETTINGS
from surefoot.model.warp import IDENTITY, Warp, fit_warp

Array = NDArray[np.float64]
Networks = tuple[Network, ...]
Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]

FOLDS = 5
# Held-out rows that are enough for a temperature or a shrinkage. With ten times as many,
# large tables would be fitted six times over; with ten times fewer, it would be off by ten per cent.
ROWS_HELD_OUT = 10_000
# Rounds of expectation-maximisation for models that are only compared, calibrated with or counted. Ten times
# as many would take as long as convergence does, and choose the same; with a single one, holes would be what
# the mean of their class says.
FEW_ROUNDS = 3
SHRINKAGES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)


def check_settings(clf: Any) -> None:
    """Refuse settings that no data could make sense of."""
    for name in ("var_smoothing", "cell_smoothing"):
        value = getattr(clf, name)
        if not (isinstance(value, Real) and 0 <= float(value) < np.inf):
            raise DataError(f"{name} must be a number >= 0, not {value!r}")
    if clf.marginals not in ("gaussian", "power", "auto"):
        raise DataError(f"marginals must be 'gaussian', 'power' or 'auto', not {clf.marginals!r}")
    if clf.calibration not in (None, "temperature"):
        raise DataError(f"calibration must be None or 'temperature', not {clf.calibration!r}")
    share = clf.shrinkage
    within = isinstance(share, Real) and 0 <= float(share) <= 1
    if not within and not (isinstance(share, str) and share == "auto"):
        raise DataError(f"shrinkage must be a number from 0 to 1 or 'auto', not {share!r}")


def fitted_warps(clf: Any, rows: TrainingRows) -> tuple[Warp, ...]:
    """One warp for each number; those that are to stay plain have none."""
    kept = plain_features(clf.plain, rows.schema)
    if clf.marginals == "gaussian":
        return (IDENTITY,) * rows.schema.n_numbers
    choose, k = clf.marginals == "auto", len(rows.classes)
    return tuple(
        IDENTITY if j in kept else fit_warp(column, rows.labels, k, rows.weights, choose)
        for j, column in zip(rows.schema.numbers, rows.numbers.T, strict=True)
    )


def plain_features(plain: Any, schema: Schema) -> set[int]:
    """Positions of the features that keep their own scale, whatever the marginals are."""
    if plain is None:
        return set()
    if isinstance(plain, str) or not hasattr(plain, "__iter__"):
        raise DataError(f"plain must be a list of features, not {plain!r}")
    try:
        return {feature_index(feature, schema.names) for feature in plain}
    except ValueError as error:
        raise DataError(f"plain: {error}") from None


def warped(numbers: NDArray[Any], warps: Sequence[Warp]) -> NDArray[Any]:
    """Z: numbers after their warps. The very same array if there are none."""
    if all(warp.is_identity for warp in warps):
        return numbers
    return np.column_stack([warp(column) for warp, column in zip(warps, numbers.T, strict=True)])


def unwarped(Z: Array, warps: Sequence[Warp]) -> Array:
    """Numbers from their warped values."""
    if all(warp.is_identity for warp in warps):
        return Z
    return np.column_stack([warp.inverse(column) for warp, column in zip(warps, Z.T, strict=True)])


def with_slopes(joint: Array, numbers: NDArray[Any], warps: Sequence[Warp]) -> Array:
    """Log densities of x from those of z: the logarithm of each dz/dx is added, the same in all classes."""
    columns = [(w, x) for w, x in zip(warps, numbers.T, strict=True) if not w.is_identity]
    slopes = [np.where(np.isnan(x), 0.0, w.log_slope(x)) for w, x in columns]
    return np.asarray(joint + np.sum(slopes, axis=0)[:, None]) if slopes else joint


@dataclass(frozen=True, eq=False)
class Gathered:
    """Everything about the rows that networks are computed from.

    Parameters
    ----------
    dag : Dag
    schema : Schema
    moments : ClassMoments
        Of the numbers.
    statistics : Statistics, optional
        Of tables and cells; only where there are categories.
    classes : list
        The labels, for complaints.
    completion : str, optional
        How holes were dealt with.
    """

    dag: Dag
    schema: Schema
    moments: ClassMoments
    statistics: Statistics | None
    classes: list[Any]
    completion: str | None = None

    def networks(self, clf: Any, shrinkage: float) -> Networks:
        """The network of every class; a class with a single row has the others' spread."""
        noise = _noise(self.moments, clf.var_smoothing)
        if self.statistics is not None:
            smoothing = Smoothing(float(clf.cell_smoothing), noise, shrinkage)
            statistics = self.statistics.borrowed(self.moments.single)
            return mixed_networks(self.dag, self.schema, statistics, smoothing, self.classes)
        moments = self.moments.borrowed()
        covariances, means = pooled(moments.covariances, moments.totals, shrinkage), moments.means
        return tuple(self._network(c, means[c], covariances[c], noise) for c in range(len(self.classes)))

    def _network(self, c: int, mean: Array, covariance: Array, noise: Array) -> LinearGaussianNetwork:
        try:
            return LinearGaussianNetwork.from_moments(self.dag, mean, covariance, noise)
        except ZeroVarianceError as error:
            raise DataError(
                f"feature {self.schema.names[error.feature]!r} is constant, or determined by its parents, in "
                f"class {self.classes[c]!r}; its variance is zero, so var_smoothing must be positive"
            ) from None


def gathered_rows(
    clf: Any,
    rows: TrainingRows,
    dag: Dag,
    moments: ClassMoments,
    shrinkage: float,
    rounds: int = MOST_ROUNDS,
) -> Gathered:
    """What the rows say about a graph's networks; holes by expectation-maximisation.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
        Its settings.
    rows : TrainingRows
        Their numbers are warped already.
    dag : Dag
    moments : ClassMoments
    shrinkage : float
    rounds : int
        Of expectation-maximisation, at most.
    """
    schema, classes = rows.schema, rows.classes.tolist()
    if has_holes(rows.numbers, rows.codes):

        def networks_of(moments: ClassMoments, statistics: Statistics | None) -> Networks:
            return Gathered(dag, schema, moments, statistics, classes).networks(clf, shrinkage)

        found = learn_with_holes(rows, dag, networks_of, rounds)
        return Gathered(dag, schema, found.moments, found.statistics, classes, f"{found}{_unseen(rows)}")
    if not schema.n_categories:
        return Gathered(dag, schema, moments, None, classes)
    statistics = gathered(rows.numbers, rows.codes, rows.labels, len(classes), rows.weights, (dag, schema))
    return Gathered(dag, schema, moments, statistics, classes)


@dataclass(frozen=True, eq=False)
class Learned:
    """A model without calibration, and what it was computed from.

    Parameters
    ----------
    warps : tuple of Warp
    report : StructureReport
    gathered : Gathered
    shrinkage : float
    networks : tuple
        One for each class.
    prior : array of shape (n_classes,)
    """

    warps: tuple[Warp, ...]
    report: StructureReport
    gathered: Gathered
    shrinkage: float
    networks: Networks
    prior: Array


def learned(
    clf: Any,
    rows: TrainingRows,
    shrinkage: float | None = None,
    warps: tuple[Warp, ...] | None = None,
    rounds: int = MOST_ROUNDS,
) -> Learned:
    """Warps, graph and networks, in this order.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
        Its settings.
    rows : TrainingRows
    shrinkage : float, optional
        Taken instead of the setting.
    warps : tuple of Warp, optional
        Taken instead of fitted ones.
    rounds : int
        Of expectation-maximisation, at most; one that is left early says nothing about it.
    """
    warps = fitted_warps(clf, rows) if warps is None else warps
    bent, classes = replace(rows, numbers=warped(rows.numbers, warps)), rows.classes.tolist()
    moments = first_moments(bent)
    refuse_unusable(moments, rows.schema, classes)
    report = learned_structure(clf, bent, moments)
    share = clf.shrinkage if shrinkage is None else shrinkage
    if isinstance(share, str):
        share = best_shrinkage(clf, bent, report.dag)
    found = gathered_rows(clf, bent, report.dag, moments, float(share), rounds)
    prior = class_priors(clf.priors, moments.totals, classes)
    return Learned(warps, report, found, float(share), found.networks(clf, float(share)), prior)


def first_moments(rows: TrainingRows) -> ClassMoments:
    """Moments of the numbers; holes are filled with the mean of their class for now."""
    k = len(rows.classes)
    if not has_holes(rows.numbers, rows.codes):
        return class_moments(rows.numbers, rows.labels, k, rows.weights)
    numbers, _ = completed_by_class(rows.numbers, rows.codes, rows.labels, rows.weights)
    return class_moments(numbers, rows.labels, k, rows.weights)


def best_shrinkage(clf: Any, rows: TrainingRows, dag: Dag) -> float:
    """The share of the pooled covariance under which held-out labels are likeliest, of a few."""
    total = np.zeros(len(SHRINKAGES))
    parts = folds(rows.labels, "shrinkage='auto'")
    for train, test in stepped(_enough(parts), "choosing the shrinkage", "fit"):
        part, held = rows.part(train), rows.part(test)
        moments = first_moments(part)
        prior = class_priors(clf.priors, moments.totals, rows.classes.tolist())
        found = gathered_rows(clf, part, dag, moments, 0.0, FEW_ROUNDS)
        for s, share in enumerate(SHRINKAGES):
            joint = joint_log(found.networks(clf, share), prior, held.numbers, held.codes)
            own = joint[np.arange(len(test)), held.labels] - logsumexp(joint, axis=1)
            total[s] += float(own.sum() if held.weights is None else held.weights @ own)
    return SHRINKAGES[int(np.argmax(total))]


def held_out_calibration(clf: Any, rows: TrainingRows, shrinkage: float) -> Calibration:
    """Temperature and shifts from folds that the model did not see, graph and warps included."""
    parts = _enough(folds(rows.labels, "calibration='temperature'"))
    found = []
    for train, test in stepped(parts, "calibrating the model", "fit"):
        model = learned(clf, rows.part(train), shrinkage, rounds=FEW_ROUNDS)
        Z = warped(rows.numbers[test], model.warps)
        found.append(joint_log(model.networks, model.prior, Z, rows.codes[test]))
    seen = np.concatenate([test for _, test in parts])
    weights = None if rows.weights is None else rows.weights[seen]
    return fit_calibration(np.concatenate(found), rows.labels[seen], weights)


def folds(labels: NDArray[np.intp], what: str) -> Folds:
    """Training and test rows of up to five folds with equal shares of the classes, always the same ones."""
    smallest = int(np.bincount(labels).min())
    if smallest < 3:
        raise DataError(f"{what} needs at least three rows of every class")
    splitter = StratifiedKFold(min(FOLDS, smallest), shuffle=True, random_state=0)
    return list(splitter.split(np.zeros(len(labels)), labels))


def _enough(parts: Folds) -> Folds:
    """As many folds as it takes to hold out enough rows."""
    return parts[: -(-ROWS_HELD_OUT // len(parts[0][1]))]


def joint_log(networks: Networks, prior: Array, Z: NDArray[Any], codes: NDArray[np.intp]) -> Array:
    """Log P(c) + log density of every row in every class, by chunks of rows."""
    log_prior = np.log(prior)
    joint = np.empty((len(Z), len(networks)))
    for chunk in row_chunks(len(Z)):
        density = known_density(Z[chunk], codes[chunk])
        for c, network in enumerate(networks):
            joint[chunk, c] = log_prior[c] + density(network, Z[chunk], codes[chunk])
    return joint


def known_density(Z: NDArray[Any], codes: NDArray[np.intp]) -> Callable[..., Array]:
    """What gives the log density of what is known of each row."""
    return marginal_log_density if has_holes(Z, codes) else log_density


def learned_structure(clf: Any, rows: TrainingRows, moments: ClassMoments) -> StructureReport:
    """The graph that the classifier's settings ask for."""
    schema = rows.schema
    data = TrainingData(
        rows.numbers, rows.labels, rows.weights, moments, schema.names, rows.codes, schema.categories
    )
    options = {name: getattr(clf, name) for name in STRUCTURE_SETTINGS}
    report = choose_structure(clf.structure, data, **options)
    refuse_arcs_into_categories(report.dag, schema)
    return report


def refuse_unusable(moments: ClassMoments, schema: Schema, classes: Sequence[Any]) -> None:
    """Refuse classes without a row, classes of single rows alone, and columns whose squares overflow."""
    sizes = np.array([np.diag(S) for S in moments.covariances])
    huge = np.flatnonzero(~np.isfinite(sizes).all(axis=0))
    if huge.size:
        i = int(huge[0])
        name, low, high = schema.names[schema.numbers[i]], moments.low[i], moments.high[i]
        raise DataError(f"column {name!r} holds values too large to square ({low:g} to {high:g})")
    few = [(c, rows) for c, rows, one in zip(classes, moments.rows, moments.single, strict=True) if one]
    for label, rows in few:
        if not rows or len(few) == len(classes):
            raise DataError(
                f"class {label!r} has {'a single row' if rows else 'no row'} with positive weight; "
                f"its variances need at least two (all classes: n_samples={moments.rows.sum()})"
            )
    if few:
        one = len(few) == 1
        named = f"{'class' if one else 'classes'} {listed([label for label, _ in few])}"
        rest = "has a single row: its" if one else "have a single row each: their"
        warnings.warn(f"{named} {rest} spread is taken from the other classes", SurefootWarning, stacklevel=2)


def _unseen(rows: TrainingRows) -> str:
    """Which classes have no value of some numbers, which are then taken as in the other classes."""
    missing, notes = np.isnan(rows.numbers), ""
    for c, label in enumerate(rows.classes.tolist()):
        columns = np.flatnonzero(missing[rows.labels == c].all(axis=0))
        if columns.size:
            names = listed([rows.schema.names[rows.schema.numbers[i]] for i in columns])
            notes += f"; class {label!r} has no value of {names}: taken as in the other classes"
    return notes


def class_priors(priors: Any, totals: Array, classes: list[Any]) -> Array:
    """The classes' shares of the rows, or what the user says."""
    if priors is None:
        return np.asarray(totals / totals.sum())
    if isinstance(priors, Mapping):
        if [c for c in classes if c not in priors] or len(priors) != len(classes):
            raise DataError(f"priors must name exactly the classes {classes}")
        prior = np.array([priors[c] for c in classes], dtype=float)
    else:
        try:
            prior = np.array(priors, dtype=float)
        except (TypeError, ValueError):
            raise DataError(f"priors must be numbers, not {priors!r}") from None
    if prior.shape != totals.shape or not (prior > 0).all() or not np.isclose(prior.sum(), 1.0):
        raise DataError(f"priors must be {len(totals)} positive numbers that sum to one")
    return np.asarray(prior / prior.sum())


def number_range(rows: TrainingRows, model: Learned) -> Array:
    """Smallest and largest value of each number."""
    if all(warp.is_identity for warp in model.warps):
        return np.array([model.gathered.moments.low, model.gathered.moments.high])
    seen = rows.numbers if rows.weights is None else rows.numbers[rows.weights > 0]
    return np.array([np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)], dtype=float)


def percentiles(X: NDArray[Any], weights: Array | None) -> Array:
    """5th and 95th percentiles; searches only use them as rough bounds, so a large sample will do."""
    every = slice(None, None, -(-len(X) // 100_000))
    part = None if weights is None else weights[every]
    ends = [_ends(column, part) for column in X[every].T]
    return np.array(ends, dtype=float).reshape(-1, 2).T


def _ends(column: NDArray[Any], weights: Array | None) -> NDArray[Any]:
    holes = np.isnan(column)
    if holes.all():  # of the evenly spaced rows; never of all of them
        return np.full(2, np.nan)
    if holes.any():
        column, weights = column[~holes], None if weights is None else weights[~holes]
    return quantiles(column, np.array([0.05, 0.95]), weights)


def own_densities(rows: TrainingRows, model: Learned) -> Array:
    """Percentiles of the log density that each class gives to its own rows, holes filled as expected."""
    Z, codes = warped(rows.numbers, model.warps), rows.codes
    if has_holes(Z, codes):
        Z, codes = np.array(Z, dtype=float), codes.copy()
        for c, network in enumerate(model.networks):
            own = rows.labels == c
            Z[own], codes[own] = expected_values(network, Z[own], codes[own])
    states = codes if rows.schema.n_categories else None
    return density_percentiles(model.networks, Z, rows.labels, rows.weights, states)


def over_features(schema: Schema, numbers: Array) -> Array:
    """Two rows over the numbers as two rows over all features; categories are NaN."""
    if not schema.n_categories:
        return numbers
    found = np.full((2, len(schema.names)), np.nan)
    found[:, list(schema.numbers)] = numbers
    return found


def _noise(moments: ClassMoments, var_smoothing: float) -> Array:
    """Variance added to every feature: a share of its own overall variance, so units do not matter."""
    variances = np.diag(moments.pooled_covariance())
    return np.asarray(var_smoothing * np.where(variances > 0, variances, 1.0))
