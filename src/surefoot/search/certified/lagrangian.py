"""The Lagrangian that refutes a region: if a weighted sum of its constraints is negative, it is empty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Lagrangian:
    """F(z) = sum_j x_j y'A_j y with y = (z, 1), a weighted sum of what is non-negative in a region.

    A row is a product of two affine functions plus, for margins and norms, a curvature:
    A_j = sym(left_j right_j') + diag(curvatures[kind_j], 0). Multipliers with max_z F(z) < 0 prove that
    the region is empty; F is bounded where K, minus the quadratic part of F, is positive definite.

    Parameters
    ----------
    left, right : arrays of shape (m, n + 1)
        The affine functions: slopes and, last, the offset.
    curvatures : array of shape (k, n, n)
    kind : indices of shape (m,)
        The curvature of each row, -1 for none.
    n_margins : int
        The last rows are the margins; their multipliers sum to one.
    n_norm : int
        The first rows are the norm's: lowering its level lowers their constants.
    n_cross : int
        The rows after the first one are the cross terms -2 u_i u_j of the 1-norm, whose multipliers
        lie between minus and plus the first one's instead of being non-negative.
    """

    left: Array
    right: Array
    curvatures: Array
    kind: Indices
    n_margins: int
    n_norm: int
    n_cross: int = 0

    @cached_property
    def size(self) -> int:
        """Number of multipliers."""
        return len(self.left)

    @cached_property
    def margins(self) -> slice:
        """Where the margins' multipliers are."""
        return slice(self.size - self.n_margins, self.size)

    @cached_property
    def lowered(self) -> Lagrangian:
        """The same rows and one more, the constant -1: minus its matrix is Z = s e e' - sum x_j A_j."""
        e = np.zeros((1, self.left.shape[1]))
        e[0, -1] = 1.0
        rows = np.concatenate([self.left, e]), np.concatenate([self.right, -e])
        return Lagrangian(*rows, self.curvatures, np.append(self.kind, -1), 0, self.n_norm, self.n_cross)

    @cached_property
    def constants(self) -> Array:
        """Absolute values of the rows at z = 0."""
        return np.abs(self.left[:, -1] * self.right[:, -1])

    @cached_property
    def members(self) -> Array:
        """One row per curvature: which rows carry it."""
        return np.array([self.kind == k for k in range(len(self.curvatures))], dtype=float)

    @cached_property
    def _flat(self) -> Array:
        """The curvatures as rows."""
        return self.curvatures.reshape(len(self.curvatures), -1)

    @cached_property
    def heights(self) -> Array:
        """The most a product can be: a quarter of its width squared for a slab."""
        total = self.left + self.right
        slab = np.abs(total[:, :-1]).max(axis=1, initial=0.0) <= 1e-12 * np.abs(self.left).max(axis=1)
        ends = np.abs(self.left[:, -1]) + np.abs(self.right[:, -1])
        return np.where(slab, 0.25 * total[:, -1] ** 2, np.maximum(ends, 1e-3 * ends.max()))

    def matrix(self, x: Array) -> Array:
        """sum_j x_j A_j."""
        half = (self.left.T * (0.5 * x)) @ self.right
        total = half + half.T
        total[:-1, :-1] += ((self.members @ x) @ self._flat).reshape(self.curvatures.shape[1:])
        return np.asarray(total)

    def bends(self, x: Array) -> Array:
        """What is added up to the diagonal of its quadratic part, by absolute value."""
        rows = np.abs(self.left[:, :-1] * self.right[:, :-1])
        bent = np.abs(self.members @ x) @ np.abs(np.einsum("kii->ki", self.curvatures))
        return np.asarray(np.abs(x) @ rows + bent)

    def products(self, N: Array) -> Array:
        """tr(A_j N) for every row, N symmetric."""
        values = np.einsum("ij,ij->i", self.left @ N, self.right)
        return np.asarray(values + (self._flat @ N[:-1, :-1].ravel()) @ self.members)

    def gram(self, Y: Array, W: Array) -> Array:
        """tr(A_i Y A_j W), symmetrised: the Schur complement of the interior-point method.

        The next call writes over it.
        """
        L, R, D, n = self.left, self.right, self.curvatures, len(Y) - 1
        LY, RY, LW, RW = L @ Y, R @ Y, L @ W, R @ W
        G, one, other = self._squares
        np.matmul(LY, R.T, out=one)
        one *= np.matmul(RW, L.T, out=other)
        np.add(one, one.T, out=G)
        for (a, b), (c, d) in (((RY, R), (LW, L)), ((LY, L), (RW, R))):
            np.matmul(a, b.T, out=one)
            one *= np.matmul(c, d.T, out=other)
            G += one
        G *= 0.25
        bent = np.einsum("kmi,mi->km", LY[:, :n] @ D, RW[:, :n])
        bent += np.einsum("kmi,mi->km", LW[:, :n] @ D, RY[:, :n])
        flat = len(D), n * n
        DY, DW = D @ Y[:n, :n], D @ W[:n, :n]
        with_each_other = DY.transpose(0, 2, 1).reshape(flat) @ DW.reshape(flat).T
        half = np.matmul(self.members.T, 0.5 * bent + 0.5 * (with_each_other @ self.members), out=one)
        G += half
        G += half.T
        return G

    @cached_property
    def _squares(self) -> tuple[Array, Array, Array]:
        """Room for products of all rows: to ask the system for it at every step costs more than they do."""
        m = len(self.left)
        return np.empty((m, m)), np.empty((m, m)), np.empty((m, m))
