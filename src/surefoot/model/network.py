"""LinearGaussianNetwork: the density of one class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from surefoot.exceptions import DataError, ZeroVarianceError
from surefoot.model.dag import Dag
from surefoot.model.moments import quantiles
from surefoot.problem.geometry import Whitening, WhiteningKind, dual_exponent, inverted, lp_norm, rotated
from surefoot.problem.quadratic import Quadratic

Array = NDArray[np.float64]

DENSITY_ROWS = 20_000  # of each class; enough for percentiles

FAR = 1e140  # beyond this many standard deviations all is equally far: squares must not overflow


@dataclass(frozen=True, eq=False)
class LinearGaussianNetwork:
    """X_i | parents ~ N(sum_j w_ij X_j + b_i, v_i), the paper's equations (4) and (5) for one class.

    Parameters
    ----------
    dag : Dag
        Who depends on whom.
    weights : array of shape (n, n)
        ``weights[child, parent]`` is w_ij; zero where there is no edge.
    means : array of shape (n,)
        Mean of every feature. Kept instead of the intercepts because deviations from the mean lose no
        digits when the data lie far from zero; ``intercepts`` gives b.
    variances : array of shape (n,)
        Conditional variances v_i, all positive.

    Examples
    --------
    >>> network = LinearGaussianNetwork(Dag([(), (0,)]), [[0, 0], [2, 0]], [1, 5], [1, 0.5])
    >>> network.intercepts
    array([1., 3.])
    >>> network.covariance
    array([[1. , 2. ],
           [2. , 4.5]])
    """

    dag: Dag
    weights: Array
    means: Array
    variances: Array

    def __post_init__(self) -> None:
        n = self.dag.n_features
        for name, shape in (("weights", (n, n)), ("means", (n,)), ("variances", (n,))):
            value = np.array(getattr(self, name), dtype=float)
            if value.shape != shape or not np.isfinite(value).all():
                raise DataError(f"{name} of a network with {n} features must be finite, of shape {shape}")
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        if not (self.variances > 0).all():
            raise DataError("conditional variances must be positive")
        if (self.weights[~self.dag.adjacency()] != 0).any():
            raise DataError("there is a weight where the graph has no edge")

    @classmethod
    def from_moments(
        cls, dag: Dag, mean: ArrayLike, covariance: ArrayLike, noise: ArrayLike | None = None
    ) -> LinearGaussianNetwork:
        """Maximum likelihood from mean and (biased) covariance, ``noise`` added to each variance.

        Raises
        ------
        ZeroVarianceError
            When a conditional variance is zero; names the feature's index.
        """
        S = np.asarray(covariance, dtype=float)
        epsilon = np.zeros(len(S)) if noise is None else np.asarray(noise, dtype=float)
        W, variances = np.zeros_like(S), np.empty(len(S))
        for child, group in enumerate(dag.parents):
            parents = list(group)
            W[child, parents] = _regression(S, epsilon, child, parents)
            a = -W[child]
            a[child] = 1.0
            # As a quadratic form this cannot fall below the noise, however collinear the parents are.
            variances[child] = max(a @ S @ a, 0.0) + epsilon @ a**2
            if variances[child] <= (0.0 if epsilon[child] else 1e-14 * S[child, child]):
                raise ZeroVarianceError(child)
        return cls(dag, W, np.asarray(mean, dtype=float), variances)

    @cached_property
    def deviation_matrix(self) -> Array:
        """The paper's A = I - W: row i maps x - mean to feature i's deviation from what is expected."""
        return np.eye(self.dag.n_features) - self.weights

    @cached_property
    def _scaled_deviations(self) -> Array:
        """diag(v)^(-1/2) A: deviations in standard deviations, M with M'M = inv(Sigma)."""
        return np.asarray(self.deviation_matrix / np.sqrt(self.variances)[:, None])

    @property
    def intercepts(self) -> Array:
        """The paper's b: expected value of each feature when its parents are zero."""
        return np.asarray(self.deviation_matrix @ self.means)

    @cached_property
    def precision(self) -> Array:
        """inv(Sigma) = A' diag(1/v) A."""
        A = self.deviation_matrix
        return np.asarray(A.T @ (A / self.variances[:, None]))

    @cached_property
    def covariance(self) -> Array:
        """Sigma = inv(A) diag(v) inv(A)'."""
        B = inverted(self._scaled_deviations)
        return np.asarray(B @ B.T)

    def whitening(self, kind: WhiteningKind = "cholesky") -> Whitening:
        """Matrix M with M'M = inv(Sigma); ``"dag"`` takes M = diag(v)^(-1/2) A.

        The others are rotations of that one, found without ever forming inv(Sigma), whose entries may
        differ by many orders of magnitude when units do.
        """
        M = self._scaled_deviations
        if kind in ("cholesky", "zca"):
            M = rotated(M, kind)
        return Whitening(M, kind)

    def expected(self, X: ArrayLike) -> Array:
        """What the network expects of every feature given its parents' values in each row."""
        x = np.asarray(X, dtype=float)
        return np.asarray(self.means + (x - self.means) @ self.weights.T)

    def log_density(self, X: ArrayLike) -> Array:
        """Log density of each row."""
        z = _near(_near(np.asarray(X, dtype=float) - self.means) @ self._scaled_deviations.T)
        return np.asarray(self._log_peak - 0.5 * np.einsum("ij,ij->i", z, z))

    def log_density_quadratic(self) -> Quadratic:
        """The log density as one quadratic around the mean."""
        return Quadratic(-0.5 * self.precision, np.zeros(self.dag.n_features), self._log_peak, self.means)

    def sample(self, n_samples: int, random_state: int | np.random.Generator | None = None) -> Array:
        """Draw rows from the network."""
        rng = np.random.default_rng(random_state)
        noise = rng.standard_normal((n_samples, self.dag.n_features))
        return np.asarray(self.means + noise @ inverted(self._scaled_deviations).T)

    @cached_property
    def _log_peak(self) -> float:
        return float(-0.5 * np.sum(np.log(2 * np.pi * self.variances)))


def _near(deviations: Array) -> Array:
    """Cut off at +-FAR; numpy.clip does the same in three times the time, which shows for single rows."""
    return np.asarray(np.minimum(np.maximum(deviations, -FAR), FAR))


def density_percentiles(
    networks: Sequence[Any],
    X: NDArray[Any],
    codes: NDArray[np.intp],
    weights: Array | None = None,
    states: NDArray[np.intp] | None = None,
) -> Array:
    """Percentiles 0 to 100 of the log density that each class gives to its own rows.

    Parameters
    ----------
    networks : sequence of LinearGaussianNetwork or of MixedNetwork
        One for each class.
    X : array of shape (rows, n_numbers)
    codes : array of shape (rows,)
        The class of each row, as its position.
    weights : array of shape (rows,), optional
    states : array of shape (rows, n_categories), optional
        Codes of the categories; mixed networks need them.

    Returns
    -------
    array of shape (n_classes, 101)
    """
    table = np.empty((len(networks), 101))
    for c, network in enumerate(networks):
        own = codes == c
        rows = np.flatnonzero(own if weights is None else own & (weights > 0))
        rows = rows[:: -(-len(rows) // DENSITY_ROWS)]
        density = network.log_density(X[rows], *([] if states is None else [states[rows]]))
        table[c] = quantiles(density, np.linspace(0, 1, 101), None if weights is None else weights[rows])
    return table


def theorem_lipschitz_constant(
    networks: Sequence[LinearGaussianNetwork], whitening: Whitening, norm: float, radius: float
) -> float:
    """The paper's ``G = sum_c sum_i (||a_i||_* R + |b_i|) / v_i ||a_i||_*``, for ``||M x||_p <= R``.

    ``||.||_*`` is the dual of the Mahalanobis-lp norm. `RobustProblem.lipschitz_bound` is never larger
    for the same ball and usually far smaller.
    """
    total = 0.0
    for network in networks:
        A = network.deviation_matrix
        size = np.asarray(lp_norm(A @ whitening.inverse, dual_exponent(norm)))
        total += float(np.sum((size * radius + np.abs(network.intercepts)) / network.variances * size))
    return total


def _regression(S: Array, noise: Array, child: int, parents: list[int]) -> Array:
    """Solve the normal equations in correlation scale, where units cannot spoil the conditioning."""
    if not parents:
        return np.zeros(0)
    variances = np.diag(S)[parents] + noise[parents]
    scale = np.sqrt(np.where(variances > 0, variances, 1.0))
    gram = S[np.ix_(parents, parents)] / np.outer(scale, scale) + np.diag(noise[parents] / scale**2)
    target = S[parents, child] / scale
    try:
        return np.asarray(linalg.solve(gram, target, assume_a="pos") / scale)
    except linalg.LinAlgError:
        return np.asarray(linalg.lstsq(gram, target)[0] / scale)
