"""Whitening, lp norms and the uncertainty ball: the geometry of one class."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from surefoot.exceptions import DataError

Array = NDArray[np.float64]
WhiteningKind = Literal["cholesky", "dag", "zca"]

NORMS = (1.0, 2.0, np.inf)


def checked_norm(p: float) -> float:
    """Return p as a float if it is 1, 2 or infinity, else raise."""
    if p not in NORMS:
        raise DataError(f"norm must be 1, 2 or numpy.inf, not {p!r}")
    return float(p)


def lp_norm(u: ArrayLike, p: float) -> float | Array:
    """||u||_p of one vector (a float) or of each row of a matrix (an array)."""
    values = np.linalg.norm(np.asarray(u, dtype=float), ord=checked_norm(p), axis=-1)
    return float(values) if np.ndim(values) == 0 else values


def dual_exponent(p: float) -> float:
    """The q with 1/p + 1/q = 1: |u'v| <= ||u||_p ||v||_q."""
    return {1.0: np.inf, 2.0: 2.0, np.inf: 1.0}[checked_norm(p)]


@dataclass(frozen=True, eq=False)
class Whitening:
    """A matrix M with M'M = inv(Sigma), so that d(x, x') = ||M (x - x')||_p.

    M is unique up to a rotation, which changes nothing for p = 2 and everything for p = 1 and
    p = infinity; hence the choice has a name and is kept.

    Parameters
    ----------
    matrix : array of shape (n, n)
        M itself.
    kind : {"cholesky", "dag", "zca"}
        How it was made.

    Examples
    --------
    >>> whitening = Whitening.from_covariance([[4.0, 0.0], [0.0, 1.0]])
    >>> whitening.distance([0.0, 0.0], [2.0, 3.0], p=np.inf)
    3.0
    """

    matrix: Array
    kind: WhiteningKind = "cholesky"

    def __post_init__(self) -> None:
        matrix = np.array(self.matrix, dtype=float)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise DataError(f"a whitening matrix must be square and finite; got shape {matrix.shape}")
        if self.kind not in get_args(WhiteningKind):
            raise DataError(f"whitening must be one of {get_args(WhiteningKind)}, not {self.kind!r}")
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)

    @classmethod
    def from_precision(cls, precision: ArrayLike, kind: WhiteningKind = "cholesky") -> Whitening:
        """From inv(Sigma): M = L' with LL' = inv(Sigma) (the paper's), or its symmetric root (zca)."""
        P = np.asarray(precision, dtype=float)
        if kind == "cholesky":
            try:
                return cls(linalg.cholesky(P, lower=True).T, kind)
            except linalg.LinAlgError:
                raise DataError("the covariance is not positive definite; raise var_smoothing") from None
        if kind == "zca":
            eigenvalues, vectors = linalg.eigh(P)
            if eigenvalues[0] <= 0:
                raise DataError("the covariance is not positive definite; raise var_smoothing")
            return cls((vectors * np.sqrt(eigenvalues)) @ vectors.T, kind)
        raise DataError(f"whitening {kind!r} cannot be made from a covariance; use 'cholesky' or 'zca'")

    @classmethod
    def from_covariance(cls, covariance: ArrayLike, kind: WhiteningKind = "cholesky") -> Whitening:
        """From Sigma."""
        try:
            precision = linalg.inv(np.asarray(covariance, dtype=float))
        except linalg.LinAlgError:
            raise DataError("the covariance is not positive definite; raise var_smoothing") from None
        return cls.from_precision(precision, kind)

    @property
    def inverse(self) -> Array:
        """inv(M): columns are the directions in feature space of the whitened coordinates."""
        return np.asarray(linalg.inv(self.matrix))

    def apply(self, difference: ArrayLike) -> Array:
        """Whiten a difference of points (or each row of a matrix of differences)."""
        return np.asarray(np.asarray(difference, dtype=float) @ self.matrix.T)

    def undo(self, u: ArrayLike) -> Array:
        """The difference of points whose whitened form is u (or each row of u)."""
        return np.asarray(linalg.solve(self.matrix, np.asarray(u, dtype=float).T).T)

    def distance(self, x: ArrayLike, other: ArrayLike, p: float) -> float | Array:
        """Mahalanobis-lp distance between points."""
        return lp_norm(self.apply(np.asarray(x, dtype=float) - np.asarray(other, dtype=float)), p)


@dataclass(frozen=True, eq=False)
class Ball:
    """The uncertainty set {delta : ||M delta||_p <= radius}.

    Parameters
    ----------
    whitening : Whitening
        Carries M.
    norm : {1, 2, inf}
        The p.
    radius : float
        The paper's budget gamma.
    """

    whitening: Whitening
    norm: float
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "norm", checked_norm(self.norm))
        if not isinstance(self.radius, Real) or not 0 <= self.radius < np.inf:
            raise DataError(f"the budget must be a finite number >= 0, not {self.radius!r}")

    def size(self, perturbation: ArrayLike) -> float | Array:
        """||M delta||_p."""
        return lp_norm(self.whitening.apply(perturbation), self.norm)

    def contains(self, perturbation: ArrayLike, tol: float = 1e-9) -> bool | NDArray[np.bool_]:
        """Whether perturbations lie in the ball, up to a relative tolerance."""
        return self.size(perturbation) <= self.radius * (1 + tol)

    def feature_extent(self) -> Array:
        """Largest absolute perturbation of each feature: radius times the dual norm of its row of inv(M)."""
        return self.radius * np.asarray(lp_norm(self.whitening.inverse, dual_exponent(self.norm)))

    def vertices(self) -> Array:
        """Corners of the ball (p = infinity: 2**n, p = 1: 2n), one per row."""
        n = len(self.whitening.matrix)
        if self.norm == 2:
            raise DataError("a ball of the 2-norm has no vertices")
        if self.norm == np.inf and n > 20:
            raise DataError(f"a cube in {n} dimensions has too many vertices to list")
        corners = np.vstack([np.eye(n), -np.eye(n)]) if self.norm == 1 else _signs(n)
        return self.whitening.undo(self.radius * corners)

    def sample(self, n_samples: int, random_state: int | np.random.Generator | None = None) -> Array:
        """Draw perturbations uniformly from the ball, one per row."""
        rng = np.random.default_rng(random_state)
        n = len(self.whitening.matrix)
        if self.norm == np.inf:
            return self.whitening.undo(self.radius * rng.uniform(-1, 1, (n_samples, n)))
        # A direction with density exp(-|u|^p) is uniform on the sphere; radius U^(1/n) fills the ball.
        u = rng.standard_normal((n_samples, n)) if self.norm == 2 else rng.laplace(size=(n_samples, n))
        u /= np.linalg.norm(u, ord=self.norm, axis=1, keepdims=True)
        return self.whitening.undo(self.radius * u * rng.uniform(size=(n_samples, 1)) ** (1 / n))


def _signs(n: int) -> Array:
    return np.array(list(product((-1.0, 1.0), repeat=n)))
