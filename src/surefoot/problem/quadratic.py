"""Quadratic: the one shape that every decision function has here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.exceptions import DataError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Quadratic:
    """H(x) = (x - center)' matrix (x - center) + vector' (x - center) + constant.

    The centre is kept apart because data may lie far from the origin (years, time stamps): expanding
    around zero would lose the digits that decide the class.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Symmetric part is taken; the Hessian is ``2 * matrix``.
    vector : array of shape (n,)
        Gradient at the centre.
    constant : float
        Value at the centre.
    center : array of shape (n,), optional
        Default: the origin.

    Examples
    --------
    >>> H = Quadratic([[1.0, 0.0], [0.0, -1.0]], [0.0, 2.0], 3.0)
    >>> H([1.0, 2.0])
    4.0
    >>> H.gradient([1.0, 2.0])
    array([ 2., -2.])
    >>> H.shifted([0.5, 0.0])([0.5, 2.0])
    4.0
    """

    matrix: Array
    vector: Array
    constant: float
    center: Array = None  # type: ignore[assignment]  # replaced by zeros when left out

    def __post_init__(self) -> None:
        vector = np.array(self.vector, dtype=float)
        matrix = np.array(self.matrix, dtype=float)
        center = np.zeros_like(vector) if self.center is None else np.array(self.center, dtype=float)
        if matrix.shape != (vector.size, vector.size) or vector.ndim != 1 or center.shape != vector.shape:
            raise DataError(
                f"a quadratic in n variables needs an n x n matrix and vectors of length n; got "
                f"{matrix.shape}, {vector.shape} and {center.shape}"
            )
        for name, value in (("matrix", (matrix + matrix.T) / 2), ("vector", vector), ("center", center)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "constant", float(self.constant))

    @property
    def n_features(self) -> int:
        """Number of variables."""
        return self.vector.size

    @cached_property
    def spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues of the matrix in rising order, and eigenvectors as columns."""
        values, vectors = np.linalg.eigh(self.matrix)
        return values, vectors

    def value(self, x: ArrayLike) -> float | Array:
        """H at one point (a float) or at each row of a matrix (an array)."""
        z = np.asarray(x, dtype=float) - self.center
        if z.ndim == 1:
            return float((z @ self.matrix + self.vector) @ z) + self.constant
        values = np.einsum("...i,...i->...", z @ self.matrix + self.vector, z) + self.constant
        return np.asarray(values)

    __call__ = value

    def gradient(self, x: ArrayLike) -> Array:
        """Gradient of H at one point, or at each row of a matrix."""
        z = np.asarray(x, dtype=float) - self.center
        return np.asarray(2 * z @ self.matrix + self.vector)

    def recentered(self, center: ArrayLike) -> Quadratic:
        """The same function, written around another centre."""
        point = np.asarray(center, dtype=float)
        return Quadratic(self.matrix, self.gradient(point), float(self.value(point)), point)

    def shifted(self, perturbation: ArrayLike) -> Quadratic:
        """The function x -> H(x + perturbation)."""
        return Quadratic(self.matrix, self.vector, self.constant, self.center - np.asarray(perturbation))

    def in_coordinates(self, basis: ArrayLike, origin: ArrayLike) -> Quadratic:
        """The function u -> H(origin + basis u)."""
        B = np.asarray(basis, dtype=float)
        point = np.asarray(origin, dtype=float)
        return Quadratic(B.T @ self.matrix @ B, B.T @ self.gradient(point), float(self.value(point)))

    def scaled(self, factor: float) -> Quadratic:
        """The function times a number."""
        return Quadratic(factor * self.matrix, factor * self.vector, factor * self.constant, self.center)

    def __neg__(self) -> Quadratic:
        return Quadratic(-self.matrix, -self.vector, -self.constant, self.center)

    def __add__(self, other: Quadratic | float) -> Quadratic:
        if not isinstance(other, Quadratic):
            return Quadratic(self.matrix, self.vector, self.constant + other, self.center)
        o = other.recentered(self.center)
        return Quadratic(
            self.matrix + o.matrix, self.vector + o.vector, self.constant + o.constant, self.center
        )

    def __sub__(self, other: Quadratic | float) -> Quadratic:
        return self + (-other)
