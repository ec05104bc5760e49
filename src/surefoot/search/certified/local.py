"""Convex-concave procedure: from any start to a nearby local optimum of the scenario problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefoot.quadratic import Quadratic
from surefoot.search.certified.space import Space

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Split:
    """Q = convex - root'root, both parts positive semidefinite."""

    convex: Array
    root: Array


def split(H: Quadratic) -> Split:
    """Split a margin's curvature by the signs of its eigenvalues."""
    values, vectors = np.linalg.eigh(H.matrix)
    up, down = values > 0, values < -1e-14 * np.abs(values).max(initial=1e-300)
    convex = (vectors[:, up] * values[up]) @ vectors[:, up].T
    return Split(convex, (vectors[:, down] * np.sqrt(-values[down])).T)


@dataclass(frozen=True, eq=False)
class ConvexConcave:
    """The family of convex programs that replace the margins by what is linear or concave in them.

    min ||u||_p + price * slack  s.t.  H's convex part linearised at the current point: the feasible set
    lies inside the true one, so every step is feasible and never worse (Clarabel solves each).
    Variables: u, one or n entries of the norm, per margin a bound on its concave part, and the slack.
    """

    space: Space

    @cached_property
    def splits(self) -> list[Split]:
        """The margins' parts."""
        return [split(H) for H in self.space.margins]

    @cached_property
    def n_norm(self) -> int:
        """Number of variables that carry the norm."""
        return self.space.n if self.space.norm == 1 else 1

    @cached_property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.space.n + self.n_norm + len(self.space.margins) + 1

    @cached_property
    def _constant_rows(self) -> tuple[list[Array], list[Array], list[Array], list[Array]]:
        """Rows b - A y in the non-negative cone, and in second-order cones."""
        n, N, s = self.space.n, self.n_variables, self.space
        A, b = [], []
        eye = np.eye(n)
        if s.norm != 2:
            spread = np.ones((n, 1)) if s.norm == np.inf else eye
            rest = np.zeros((n, N - n - self.n_norm))
            A += [np.hstack([eye, -spread, rest]), np.hstack([-eye, -spread, rest])]
            b += [np.zeros(2 * n)]
        slack = np.zeros((1, N))
        slack[0, -1] = -1
        A.append(slack)
        b.append(np.zeros(1))
        for sign, ends in ((1.0, s.high), (-1.0, s.low)):
            bounded = np.isfinite(ends) & ~s.fixed
            A.append(np.hstack([sign * s.directions[bounded], np.zeros((bounded.sum(), N - n))]))
            b.append(sign * ends[bounded])
        cones, sides = [], []
        if s.norm == 2:
            C = np.zeros((n + 1, N))
            C[0, n] = -1
            C[1:, :n] = -eye
            cones.append(C)
            sides.append(np.zeros(n + 1))
        for r, part in enumerate(self.splits):
            column = n + self.n_norm + r
            k = len(part.root)
            C = np.zeros((k + 2, N))
            C[:2, column] = -1  # |root u|^2 <= w as a cone: |(w - 1, 2 root u)| <= w + 1
            C[2:, :n] = -2 * part.root
            cones.append(C)
            sides.append(np.concatenate([[1.0, -1.0], np.zeros(k)]))
        return A, b, cones, sides

    def step(
        self, start: Array, scenarios: Sequence[tuple[int, Array]], hair: float, price: float
    ) -> tuple[Array, float] | None:
        """Solve the convex program linearised at ``start``: point and slack; None where it failed."""
        import clarabel  # lazily: importing surefoot loads no solver

        A, b, cones, sides = self._constant_rows
        s, n, N = self.space, self.space.n, self.n_variables
        rows, ends = np.zeros((len(scenarios), N)), np.zeros(len(scenarios))
        for k, (r, v) in enumerate(scenarios):
            H, part = s.margins[r], self.splits[r]
            rows[k, :n] = -(2 * part.convex @ start + H.gradient(v))
            rows[k, n + self.n_norm + r] = 1.0
            rows[k, -1] = -1.0
            ends[k] = float(H(v)) - start @ part.convex @ start - hair
        fixed = s.directions[s.fixed]
        zero = np.hstack([fixed, np.zeros((len(fixed), N - n))])
        stacked = sparse.csc_matrix(np.vstack([zero, *A, rows, *cones]))
        right = np.concatenate([s.low[s.fixed], *b, ends, *sides])
        kinds = [clarabel.ZeroConeT(len(zero))] if len(zero) else []
        kinds.append(clarabel.NonnegativeConeT(sum(map(len, A)) + len(rows)))
        kinds += [clarabel.SecondOrderConeT(len(C)) for C in cones]
        cost = np.zeros(N)
        cost[n : n + self.n_norm] = 1.0
        cost[-1] = price
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        solved = clarabel.DefaultSolver(sparse.csc_matrix((N, N)), cost, stacked, right, kinds, settings).solve()
        y = np.array(solved.x)
        if str(solved.status) not in ("Solved", "AlmostSolved") or not np.isfinite(y).all():
            return None
        return y[:n], float(y[-1])
