"""From statistics to tables and cells, rare ones shrunk to their class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.model.dag import Dag
from surefoot.model.mixed import Cells, MixedNetwork, split_parents
from surefoot.model.schema import Schema
from surefoot.model.statistics import CellMoments, Statistics

Array = NDArray[np.float64]

LEAST_PROBABILITY = 1e-12  # of a value that was never seen, where nothing else is known of it


@dataclass(frozen=True, eq=False)
class Smoothing:
    """How far estimates keep away from what few rows say.

    Parameters
    ----------
    cell : float
        Every cell is estimated as if so many rows of its class's average had been seen in it.
    noise : array of shape (n_numbers,)
        Added to the variance of each number.
    shrinkage : float
        Share of the average over the classes in each class's covariances.
    """

    cell: float
    noise: Array
    shrinkage: float = 0.0


def mixed_networks(
    dag: Dag, schema: Schema, statistics: Statistics, smoothing: Smoothing, labels: list[object]
) -> tuple[MixedNetwork, ...]:
    """The network of every class.

    Parameters
    ----------
    dag : Dag
    schema : Schema
    statistics : Statistics
    smoothing : Smoothing
    labels : list
        What the classes are called, for complaints.
    """
    tables = [_tables(counts, smoothing.cell) for counts in statistics.counts]
    cells = [
        _all_cells(dag, schema, i, family, smoothing, labels) for i, family in enumerate(statistics.families)
    ]
    return tuple(
        MixedNetwork(dag, schema, tuple(t[c] for t in tables), tuple(group[c] for group in cells))
        for c in range(len(labels))
    )


def _tables(counts: Array, rows: float) -> Array:
    """Probabilities (n + rows * the class's share) / (sum of n + rows); classes likewise towards all rows.

    Parameters
    ----------
    counts : array over classes, values of the parents and own values
    rows : float
        How many rows of the average count as seen.
    """
    size = counts.shape[-1]
    by_class = counts.reshape(len(counts), -1, size).sum(axis=1)
    everywhere = by_class.sum(axis=0) + 1.0 / size  # a declared value may never have occurred
    share = _shrunk(by_class, everywhere / everywhere.sum(), rows)
    inner = (len(counts), *(1,) * (counts.ndim - 2), size)
    tables = _shrunk(counts, share.reshape(inner), rows) if counts.ndim > 2 else share
    tables = np.maximum(tables, LEAST_PROBABILITY)
    return np.asarray(tables / tables.sum(axis=-1, keepdims=True))


def _shrunk(counts: Array, towards: Array, rows: float) -> Array:
    totals = counts.sum(axis=-1, keepdims=True) + rows
    towards = np.broadcast_to(towards, counts.shape)
    shrunk = np.divide(counts + rows * towards, totals, out=towards.copy(), where=totals > 0)
    return np.asarray(shrunk)


def _all_cells(
    dag: Dag, schema: Schema, i: int, family: CellMoments, smoothing: Smoothing, labels: list[object]
) -> list[Cells]:
    """Cells of one number in every class."""
    parents, given = split_parents(dag, schema, schema.numbers[i])
    totals, means, covariances = _smoothed(family, smoothing.cell if given else 0.0)
    covariances = pooled(covariances, totals, smoothing.shrinkage)
    noise = smoothing.noise[[i, *parents]]
    weights, variances = regressions(covariances, noise)
    # What rounding leaves of a constant is small beside the other cells.
    flat = variances <= (0.0 if noise[0] else 1e-14 * covariances[..., 0, 0].max())
    if flat.any():
        first = tuple(int(index) for index in np.argwhere(flat)[0])
        raise DataError(_constant(schema, i, given, first, labels))
    return [
        Cells(parents, given, means[c, ..., 0], means[c, ..., 1:], weights[c], variances[c])
        for c in range(len(labels))
    ]


def _smoothed(family: CellMoments, rows: float) -> tuple[Array, Array, Array]:
    """Weights, means and covariances as if so many rows of the class's average had been seen in each cell.

    With no such rows, cells that are empty are their class.
    """
    whole = _without_empty(family.over_cells())
    extra = np.full(family.totals.shape, rows) if rows else (family.totals == 0).astype(float)
    average = CellMoments(
        extra,
        np.broadcast_to(whole.means, family.means.shape),
        np.broadcast_to(whole.scatter / whole.totals[..., None, None], family.scatter.shape)
        * extra[..., None, None],
    )
    merged = family.merged(average)
    return merged.totals, merged.means, merged.scatter / merged.totals[..., None, None]


def _without_empty(classes: CellMoments) -> CellMoments:
    """The same, all classes together in the place of one in which a number is never known."""
    empty = classes.totals == 0
    if not empty.any():
        return classes
    weights = (classes.totals / classes.totals.sum())[..., None]
    means = (weights * classes.means).sum(axis=0, keepdims=True)
    away = np.where(weights > 0, classes.means - means, 0.0)
    between = away[..., :, None] * away[..., None, :] * classes.totals[..., None, None]
    scatter = (classes.scatter + between).sum(axis=0, keepdims=True)
    return CellMoments(
        np.where(empty, classes.totals.sum(), classes.totals),
        np.where(empty[..., None], means, classes.means),
        np.where(empty[..., None, None], scatter, classes.scatter),
    )


def pooled(covariances: Array, totals: Array, share: float) -> Array:
    """(1 - share) S_c + share S, S being the average over the classes (the first axis) by weight."""
    if not share:
        return covariances
    weights = (totals / totals.sum(axis=0))[..., None, None]
    return np.asarray((1 - share) * covariances + share * (weights * covariances).sum(axis=0))


def regressions(S: Array, noise: Array) -> tuple[Array, Array]:
    """Weights of the parents and conditional variance of the first variable, for every covariance in S.

    The normal equations are solved in correlation scale, where units cannot spoil the conditioning.
    """
    variances = np.diagonal(S, axis1=-2, axis2=-1)[..., 1:] + noise[1:]
    scale = np.sqrt(np.where(variances > 0, variances, 1.0))
    gram = S[..., 1:, 1:] / (scale[..., :, None] * scale[..., None, :])
    gram = gram + (noise[1:] / scale**2)[..., None] * np.eye(len(noise) - 1)
    target = S[..., 1:, 0] / scale
    try:
        weights = np.linalg.solve(gram, target[..., None])[..., 0] / scale
    except np.linalg.LinAlgError:
        weights = (np.linalg.pinv(gram, hermitian=True) @ target[..., None])[..., 0] / scale
    a = np.concatenate([np.ones((*weights.shape[:-1], 1)), -weights], axis=-1)
    # As a quadratic form this cannot fall below the noise, however collinear the parents are.
    explained = np.einsum("...i,...ij,...j->...", a, S, a)
    return weights, np.maximum(explained, 0.0) + a**2 @ noise


def _constant(
    schema: Schema, i: int, given: tuple[int, ...], where: tuple[int, ...], labels: list[object]
) -> str:
    names, values = schema.names, schema.category_values
    cell = [
        f"{names[schema.categories[k]]} is {values[k][v]!r}" for k, v in zip(given, where[1:], strict=True)
    ]
    place = f" where {' and '.join(cell)}" if cell else ""
    return (
        f"feature {names[schema.numbers[i]]!r} is constant, or determined by its parents, in class "
        f"{labels[where[0]]!r}{place}; its variance is zero, so var_smoothing must be positive"
    )
