"""Once the order of the features is known, learning a sparse network is convex: one lasso per feature."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OrderedLasso:
    """min_W 1/2 tr((I - W)' S (I - W)) + penalty |W|_1 over W that follow an order.

    ``W[parent, child]`` as in NOTEARS. Required edges carry no penalty.

    Parameters
    ----------
    covariance : array of shape (n, n)
        S.
    penalty : float
        l1 penalty.
    allowed, required : boolean arrays ``[parent, child]``
        Which edges may and which must be used.
    """

    covariance: Array
    penalty: float
    allowed: NDArray[np.bool_]
    required: NDArray[np.bool_]

    def fit(self, order: Sequence[int]) -> tuple[Array, Array]:
        """Exact weights for an order, and the objective's share of each feature."""
        n = len(order)
        W, shares = np.zeros((n, n)), np.empty(n)
        for k, child in enumerate(order):
            W[:, child], shares[child] = self.fit_child(child, order[:k])
        return W, shares

    def fit_child(self, child: int, earlier: Sequence[int]) -> tuple[Array, float]:
        """Weights of one feature's possible parents, and its share of the objective."""
        S = self.covariance
        must = [j for j in earlier if self.required[j, child]]
        may = [j for j in earlier if self.allowed[j, child] and not self.required[j, child]]
        w = np.zeros(len(S))
        gram, target = S[np.ix_(may, may)], S[may, child]
        if must:
            # Frisch-Waugh: take the unpenalised parents out of everything else first.
            explained = linalg.lstsq(S[np.ix_(must, must)], S[np.ix_(must, [*may, child])])[0]
            gram = gram - S[np.ix_(may, must)] @ explained[:, :-1]
            target = target - S[np.ix_(may, must)] @ explained[:, -1]
        if may:
            w[may] = _lasso(gram, target, self.penalty)
        if must:
            w[must] = explained[:, -1] - explained[:, :-1] @ w[may]
        residual = -w
        residual[child] = 1.0
        return w, float(0.5 * residual @ S @ residual + self.penalty * np.abs(w[may]).sum())

    def swap_neighbours(self, order: Sequence[int]) -> tuple[Array, float, list[int]]:
        """Exchange neighbours in the order while that lowers the objective."""
        current = list(order)
        W, shares = self.fit(current)
        improved = True
        while improved:
            improved = False
            for k in range(len(current) - 1):
                first, second = current[k : k + 2]
                if self.required[first, second] or not self._may_gain(W, first, second):
                    continue
                w_second, share_second = self.fit_child(second, current[:k])
                w_first, share_first = self.fit_child(first, [*current[:k], second])
                gain = shares[first] + shares[second] - share_first - share_second
                if gain > 1e-9 * shares.sum():
                    current[k : k + 2] = second, first
                    W[:, first], W[:, second] = w_first, w_second
                    shares[first], shares[second] = share_first, share_second
                    improved = True
        return W, float(shares.sum()), current

    def _may_gain(self, W: Array, first: int, second: int) -> bool:
        """Whether letting ``second`` come before ``first`` could lower the objective.

        Not if that edge is ruled out, nor if no edge is lost and the lasso's optimality condition
        says that ``first`` has no use for the new parent.
        """
        if not self.allowed[second, first]:
            return False
        residual = -W[:, first]
        residual[first] += 1.0
        return bool(W[first, second] != 0 or abs(self.covariance[second] @ residual) > self.penalty)


def _lasso(gram: Array, target: Array, penalty: float) -> Array:
    """Least-angle regression: exact in a few dozen steps, however correlated the features are."""
    ridge = 1e-12 * np.trace(gram) / len(gram)  # duplicated features would make a step degenerate
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, _, w = lars_path_gram(
            Xy=target.copy(),
            Gram=gram + ridge * np.eye(len(gram)),
            n_samples=1,
            alpha_min=penalty,
            method="lasso",
            return_path=False,
        )
    return np.asarray(w)
