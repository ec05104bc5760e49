"""Evidence: what each feature of a row adds to the log-odds of one class against another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefoot.model.fitting import warped
from surefoot.model.holes import expected_values, has_holes, marginal_log_density
from surefoot.model.mixed import MixedNetwork, Network, positions
from surefoot.model.network import FAR

if TYPE_CHECKING:
    from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
    from surefoot.model.scores import Scores

Array = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Evidence:
    """prior + sum of weights = log-odds of one class against another.

    Parameters
    ----------
    weights : array of shape (n_features,)
        In the order of the features; 0 for what is missing.
    prior : float
        What is left without any feature.
    """

    weights: Array
    prior: float


def evidence(
    clf: ConditionalGaussianNetworkClassifier,
    numbers: Array,
    codes: Codes,
    decided: int,
    other: int,
    wanted: int,
) -> Evidence:
    """What each feature of a row adds to the log-odds of one class against another.

    For a network this is log p(x_i | parents, decided) - log p(x_i | parents, other). A temperature divides
    all of it, and shifts of a calibration belong to the prior. What is missing weighs nothing: a feature is
    then judged given the known ones before it, parents first, so that the sum stays exact.

    A linear or quadratic model adds up its own terms, each counted from the mean of the wanted class; half of
    a product of two features goes to each of them. The value at that mean belongs to the prior.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
    numbers, codes : arrays of shape (n_numbers,) and (n_categories,)
        One row as it was read; nan and -1 for what is missing.
    decided, other, wanted : int
        Positions of classes.
    """
    Z = np.asarray(warped(numbers[None], clf.warps_), dtype=float)
    C = np.asarray(codes, dtype=np.intp).reshape(1, -1)
    scores: Scores | None = getattr(clf, "scores_", None)
    if scores is not None:
        return _of_scores(clf, scores, Z, C, (decided, other), wanted)
    terms = [_terms(clf.networks_[c], Z, C) for c in (decided, other)]
    log_prior = np.log(clf.class_prior_)
    prior = float(log_prior[decided] - log_prior[other])
    heat, shift = 1.0, 0.0
    if clf.calibration_ is not None:
        heat = clf.calibration_.temperature
        shift = clf.calibration_.shifts[decided] - clf.calibration_.shifts[other]
    return Evidence((terms[0] - terms[1]) / heat, prior / heat + shift)


def _terms(network: Network, Z: Array, C: Codes) -> Array:
    """The log p(x_i | parents) of every feature of one row; with holes, given what is known before it."""
    if has_holes(Z, C):
        return _telescoped(network, Z, C)
    if not isinstance(network, MixedNetwork):
        deviations = network.deviation_matrix @ np.clip(Z[0] - network.means, -FAR, FAR)
        return _gaussian(deviations, network.variances)
    found, schema = np.empty(network.dag.n_features), network.schema
    for k, table in enumerate(network.tables):
        place = positions(C, network.family(k), table.shape)
        found[schema.categories[k]] = np.log(table.ravel()[place[0]])
    for i, cells in enumerate(network.cells):
        where = cells.cells(C)
        deviation = Z[:, i] - cells.expected(Z, where)
        found[schema.numbers[i]] = _gaussian(deviation, cells.variance.ravel()[where])[0]
    return found


def _gaussian(deviations: Array, variances: Array) -> Array:
    z = np.clip(deviations / np.sqrt(variances), -FAR, FAR)
    return np.asarray(-0.5 * (np.log(2 * np.pi * variances) + z * z))


def _telescoped(network: Network, Z: Array, C: Codes) -> Array:
    """The log p(known features up to i) - log p(those before i), parents first; 0 for what is missing."""
    n, order = network.dag.n_features, network.dag.order
    mixed = isinstance(network, MixedNetwork)
    numbers = list(network.schema.numbers) if isinstance(network, MixedNetwork) else list(range(n))
    categories = list(network.schema.categories) if isinstance(network, MixedNetwork) else []
    rank = np.empty(n, dtype=np.intp)
    rank[list(order)] = np.arange(n)
    shown = rank[None, :] < np.arange(n + 1)[:, None]  # row k shows the first k features
    prefixes = np.where(shown[:, numbers], Z, np.nan)
    codes = np.where(shown[:, categories], C, -1)
    total = marginal_log_density(network, prefixes, codes if mixed else None)
    found = np.empty(n)
    found[list(order)] = np.diff(total)
    missing = [j for j, z in zip(numbers, Z[0], strict=True) if np.isnan(z)]
    missing += [j for j, code in zip(categories, C[0], strict=True) if code < 0]
    found[missing] = 0.0
    return found


def _of_scores(
    clf: ConditionalGaussianNetworkClassifier,
    scores: Scores,
    Z: Array,
    C: Codes,
    pair: tuple[int, int],
    wanted: int,
) -> Evidence:
    """A decision's own terms, counted from the mean of the wanted class."""
    (t, r), schema = pair, clf.schema_
    mean, chances = _usual(clf.networks_[wanted], schema.n_numbers, schema.sizes)
    linear = scores.linear[t] - scores.linear[r]
    A = np.zeros((len(mean),) * 2) if scores.matrix is None else scores.matrix[t] - scores.matrix[r]
    away = Z[0] - mean
    weights = np.empty(len(schema.names))
    weights[list(schema.numbers)] = away * (linear + 2 * A @ mean + A @ away)
    prior = float(scores.constant[t] - scores.constant[r] + linear @ mean + mean @ A @ mean)
    for k, table in enumerate(scores.tables):
        gains = table[t] - table[r]
        usual = float(gains @ chances[k])
        weights[schema.categories[k]] = gains[C[0, k]] - usual
        prior += usual
    return Evidence(weights, prior)


def _usual(network: Network, n_numbers: int, sizes: tuple[int, ...]) -> tuple[Array, list[Array]]:
    """The mean of each number in a class, and how probable each value of each category is, by itself."""
    if not isinstance(network, MixedNetwork):
        return network.means, []
    none: Any = np.full((1, n_numbers), np.nan)
    nothing = np.full((1, len(sizes)), -1, dtype=np.intp)
    chances = []
    for k, size in enumerate(sizes):
        codes = np.repeat(nothing, size, axis=0)
        codes[:, k] = np.arange(size)
        chances.append(np.exp(marginal_log_density(network, np.repeat(none, size, axis=0), codes)))
    return expected_values(network, none, nothing)[0][0], chances
