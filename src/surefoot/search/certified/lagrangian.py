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
    def members(self) -> Array:
        """One row per curvature: which rows carry it."""
        return np.array([self.kind == k for k in range(len(self.curvatures))], dtype=float)

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
        for weight, curvature in zip(self.members @ x, self.curvatures, strict=True):
            total[:-1, :-1] += weight * curvature
        return np.asarray(total)

    def products(self, N: Array) -> Array:
        """tr(A_j N) for every row, N symmetric."""
        values = np.einsum("ij,ij->i", self.left @ N, self.right)
        for curvature, members in zip(self.curvatures, self.members, strict=True):
            values += np.vdot(curvature, N[:-1, :-1]) * members
        return np.asarray(values)

    def gram(self, Y: Array, W: Array) -> Array:
        """tr(A_i Y A_j W), symmetrised: the Schur complement of the interior-point method."""
        L, R = self.left, self.right
        LY, RY, LW, RW = L @ Y, R @ Y, L @ W, R @ W
        mixed = (LY @ R.T) * (RW @ L.T)
        G = 0.25 * (mixed + mixed.T + (RY @ R.T) * (LW @ L.T) + (LY @ L.T) * (RW @ R.T))
        n = len(Y) - 1
        DY = [D @ Y[:n] for D in self.curvatures]
        DW = [D @ W[:n] for D in self.curvatures]
        for k, members in enumerate(self.members):
            N = Y[:, :n] @ DW[k]
            both = np.outer(members, 0.5 * np.einsum("mi,mi->m", L @ (N + N.T), R))
            G += both + both.T
            for other, others in zip(DY, self.members, strict=True):
                G += np.vdot(other[:, :n].T, DW[k][:, :n]) * np.outer(others, members)
        return np.asarray(G)
