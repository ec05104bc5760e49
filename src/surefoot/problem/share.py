"""A probability among all classes: no quadratic, but the intersection of one for every mixture of rivals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Share:
    """sum_r exp(-g_r / heat) <= 1 over some requirements: P(target) reaches its threshold among all classes.

    g_r / heat is the log-odds of the target against rival r, less those of the threshold. By Jensen's
    inequality the sum is at most 1 exactly where ``sum_r w_r g_r >= heat * entropy(w)`` for all weights w
    that sum to 1; the weights that matter at a point are proportional to exp(-g_r / heat) there.

    Parameters
    ----------
    members : tuple of int
        The requirements g_r, by number: one for each rival.
    heat : float, default=1.0
        How much of g is one unit of log-odds: a calibrated model's temperature.
    robust : bool, default=True
    decides : bool, default=True
        Whether it is about the decision that is explained.

    Examples
    --------
    >>> half = Share((0, 1))
    >>> float(half.margin([np.log(2), np.log(2)])) + 0.0, half.weights([np.log(2), np.log(2)])
    (0.0, array([0.5, 0.5]))
    """

    members: tuple[int, ...]
    heat: float = 1.0
    robust: bool = True
    decides: bool = True

    def margin(self, values: ArrayLike) -> Array:
        """-heat log sum exp(-g / heat), not negative where it holds; the last axis runs over the members."""
        a = -np.asarray(values, dtype=float) / self.heat
        top = a.max(axis=-1)
        return np.asarray(-self.heat * (top + np.log(np.exp(a - top[..., None]).sum(axis=-1))))

    def weights(self, values: ArrayLike) -> Array:
        """The weights that matter where the members have these values."""
        a = -np.asarray(values, dtype=float) / self.heat
        found = np.exp(a - a.max())
        return np.asarray(found / found.sum())


def entropy(weights: Sequence[float] | Array) -> float:
    """Sum of w log(W / w), with W the sum of the weights.

    Examples
    --------
    >>> float(np.exp(entropy([0.5, 0.5]))), entropy([1.0, 0.0])
    (2.0, 0.0)
    """
    w = np.asarray(weights, dtype=float)
    some = w[w > 0]
    return float(np.sum(some * np.log(some.sum() / some)))
