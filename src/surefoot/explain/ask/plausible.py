"""Plausible answers: a floor on their density, or on how far a changed feature is from what is expected."""

from __future__ import annotations

import math
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.arithmetic import is_number
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.mixed import MixedNetwork
from surefoot.problem.either import Either, Way
from surefoot.problem.requirements import DensityFloor
from surefoot.problem.row import Row

Array = NDArray[np.float64]

CONDITIONAL = "conditional"


class Plausible(NamedTuple):
    """What is asked: a share of the target's training rows, or a number of standard deviations."""

    share: float | None = None
    deviations: float | None = None

    def declared(self) -> Any:
        """As files write it."""
        return [CONDITIONAL, self.deviations] if self.share is None else self.share


def checked_plausible(value: Any) -> Plausible | None:
    """Check what a user gives.

    Examples
    --------
    >>> checked_plausible(0.1)
    Plausible(share=0.1, deviations=None)
    >>> checked_plausible(("conditional", 2))
    Plausible(share=None, deviations=2.0)
    """
    if value is None:
        return None
    if isinstance(value, list | tuple) and len(value) == 2 and value[0] == CONDITIONAL:
        if not is_number(value[1]) or not 0 < value[1] < math.inf:
            raise ProblemError(f"plausible=('conditional', k) needs a finite k above 0, not {value[1]!r}")
        return Plausible(deviations=float(value[1]))
    if not is_number(value) or not 0 < value < 1:
        raise ProblemError(
            f"plausible must be a share between 0 and 1, or ('conditional', k), not {value!r:.80}"
        )
    return Plausible(share=float(value))


def density_floor(clf: ConditionalGaussianNetworkClassifier, target: Any, share: float) -> DensityFloor:
    """The log density below which a share of the target's own training rows lies."""
    t = clf.classes_.tolist().index(target)
    floor = float(np.interp(100 * share, np.arange(101.0), clf.density_percentiles_[t]))
    return DensityFloor(target, floor)


def near_expected(
    clf: ConditionalGaussianNetworkClassifier, target: Any, factual: Array, deviations: float
) -> tuple[Either, ...]:
    """Each number stays, or is within so many standard deviations of what its parents predict."""
    if not all(warp.is_identity for warp in clf.warps_):
        raise ProblemError(
            "plausible=('conditional', k) needs a model on straight scales; fit it with "
            "marginals='gaussian', or give plausible as a share"
        )
    network, units = clf.networks_[clf.classes_.tolist().index(target)], np.eye(len(factual))
    found = []
    for k, j in enumerate(clf.schema_.numbers):
        stays = Way((Row(units[k], float(factual[k]), float(factual[k])),))
        name = f"{clf.feature_labels_[j]} stays or is near what its parents predict"
        found.append(Either((stays, *_predicted(network, k, deviations)), name))
    return tuple(found)


def _predicted(network: Any, j: int, deviations: float) -> list[Way]:
    """A way for each combination of values of the categories that the number depends on."""
    if not isinstance(network, MixedNetwork):
        weights, mean = network.weights[j], float(network.intercepts[j])
        return [Way((_band(j, weights, mean, deviations * math.sqrt(network.variances[j])),))]
    cells, found = network.cells[j], []
    for cell in product(*(range(size) for size in cells.mean.shape)):
        weights = np.zeros(len(network.cells))
        weights[list(cells.parents)] = cells.weights[cell]
        mean = float(cells.mean[cell] - cells.weights[cell] @ cells.at[cell])
        row = _band(j, weights, mean, deviations * math.sqrt(float(cells.variance[cell])))
        found.append(Way((row,), {k: frozenset({v}) for k, v in zip(cells.given, cell, strict=True)}))
    return found


def _band(j: int, weights: Array, mean: float, width: float) -> Row:
    """Mean - width <= x_j - weights'x <= mean + width."""
    return Row(np.eye(len(weights))[j] - weights, mean - width, mean + width)
