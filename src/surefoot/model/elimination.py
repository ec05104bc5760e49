"""Sums over many categories at once: variables are summed out one by one, never all combinations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RowFactor:
    """For each row a number for each combination of values of some categories.

    Parameters
    ----------
    scope : tuple of int
        The categories, ascending.
    table : array of shape (rows, ...)
        One axis for each of them.
    """

    scope: tuple[int, ...]
    table: Array

    def over(self, scope: Sequence[int]) -> Array:
        """The table with an axis of length one for each category of a larger scope that is not its own."""
        sizes = dict(zip(self.scope, self.table.shape[1:], strict=True))
        return self.table.reshape(len(self.table), *(sizes.get(k, 1) for k in scope))


def log_evidence(factors: Sequence[RowFactor], n_rows: int) -> Array:
    """Logarithm of sum_s exp(sum_f f(s)) over all categories, for each row."""
    left = _summed_out(factors, keep=())
    return np.asarray(sum((factor.table for factor in left), np.zeros(n_rows)))


def posterior(factors: Sequence[RowFactor], scope: tuple[int, ...], n_rows: int) -> RowFactor:
    """Probabilities of the combinations of values of some categories, for each row."""
    if not scope:
        return RowFactor((), np.ones(n_rows))
    joint = _product(_summed_out(factors, keep=scope), scope, n_rows)
    axes = tuple(range(1, joint.ndim))
    weights = np.exp(joint - joint.max(axis=axes, keepdims=True))
    return RowFactor(scope, weights / weights.sum(axis=axes, keepdims=True))


def _summed_out(factors: Sequence[RowFactor], keep: Collection[int]) -> list[RowFactor]:
    """Factors over the kept categories alone; the others are summed out, the cheapest next."""
    left = list(factors)
    sizes = {k: size for f in factors for k, size in zip(f.scope, f.table.shape[1:], strict=True)}
    waiting = set(sizes) - set(keep)
    while waiting:
        # The product that has to be formed is as large as all neighbours' values combined.
        k = min(sorted(waiting), key=lambda k: _size(left, k, sizes))
        own = [f for f in left if k in f.scope]
        scope = tuple(sorted({j for f in own for j in f.scope}))
        total = logsumexp(_product(own, scope, len(own[0].table)), axis=1 + scope.index(k))
        left = [f for f in left if k not in f.scope]
        left.append(RowFactor(tuple(j for j in scope if j != k), np.asarray(total)))
        waiting.remove(k)
    return left


def logsumexp(table: Array, axis: int | tuple[int, ...]) -> Array:
    """Logarithm of the sum of exponentials; scipy's is general, and slow for small tables."""
    top = table.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(table - top).sum(axis=axis)) + top.squeeze(axis))


def _product(factors: Sequence[RowFactor], scope: tuple[int, ...], n_rows: int) -> Array:
    """Sum of the factors, which are logarithms, as one table."""
    start = np.zeros((n_rows, *(1,) * len(scope)))
    return np.asarray(sum((factor.over(scope) for factor in factors), start))


def _size(factors: Sequence[RowFactor], category: int, sizes: Mapping[int, int]) -> int:
    neighbours = {k for f in factors if category in f.scope for k in f.scope}
    return prod(sizes[k] for k in neighbours)
