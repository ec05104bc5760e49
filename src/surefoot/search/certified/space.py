"""The robust problem in whitened coordinates u = M (x - factual), with every direction a search may cut."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from surefoot.waist.geometry import dual_exponent, lp_norm
from surefoot.waist.problem import Domain, RobustProblem
from surefoot.waist.quadratic import Quadratic

Array = NDArray[np.float64]

MAX_CROSS = 40  # coordinates whose cross terms enter the bound for p = 1


@dataclass(frozen=True, eq=False)
class Space:
    """min ||u||_p  s.t.  margins[r](u + v) >= 0 for ||v||_p <= budget,  low <= directions u <= high.

    Directions are, in this order, the n whitened coordinates, the n features (their domain) and the
    eigenvectors along which some margin is convex.

    Parameters
    ----------
    problem : RobustProblem
    margins : tuple of Quadratic
        H_r - tau' as functions of u.
    directions, low, high : arrays
        Domain of the directions; infinite where there is none.
    convexity : array
        Curvature along each direction: of the eigenvectors their eigenvalue, of the others zero.
    """

    problem: RobustProblem
    margins: tuple[Quadratic, ...]
    directions: Array
    low: Array
    high: Array
    convexity: Array

    @property
    def n(self) -> int:
        """Number of features."""
        return self.problem.n_features

    @property
    def norm(self) -> float:
        """The p."""
        return self.problem.norm

    @property
    def budget(self) -> float:
        """The paper's gamma."""
        return float(self.problem.budget)

    @cached_property
    def fixed(self) -> NDArray[np.bool_]:
        """Directions with one value only."""
        return np.asarray(self.low == self.high)

    @cached_property
    def reach(self) -> Array:
        """Largest |d'u| over ||u||_p <= 1, for each direction."""
        return np.asarray(lp_norm(self.directions, dual_exponent(self.norm)))

    @cached_property
    def curvatures(self) -> Array:
        """Matrices of the margins, shape (r, n, n)."""
        return np.array([H.matrix for H in self.margins])

    @cached_property
    def sizes(self) -> Array:
        """Their absolute values, for bounds on the slopes."""
        return np.abs(self.curvatures)

    @cached_property
    def cross(self) -> list[tuple[int, int]]:
        """Pairs of coordinates whose cross terms enter the bound for p = 1: the steepest ones."""
        steep = np.abs(np.sum([H.vector for H in self.margins], axis=0))
        kept = [int(i) for i in np.argsort(-steep, kind="stable")[:MAX_CROSS]]
        return [(i, j) for k, i in enumerate(kept) for j in kept[:k]]

    @cached_property
    def slope(self) -> float:
        """Steepest margin at the factual, in the dual norm: a unit for log-odds per distance."""
        steep = max(float(lp_norm(H.vector, dual_exponent(self.norm))) for H in self.margins)
        return max(steep, float(np.abs(self.curvatures).max(initial=0.0)), 1e-300)

    @cached_property
    def farthest(self) -> float:
        """No point of the domain is farther away; infinite if the domain is open."""
        features = slice(self.n, 2 * self.n)
        ends = np.maximum(np.abs(self.low[features]), np.abs(self.high[features]))
        if not np.isfinite(ends).all():
            return np.inf
        return float(lp_norm(np.abs(self.problem.whitening.matrix) @ ends, self.norm)) * (1 + 1e-9) + 1e-300

    def size(self, u: Array) -> float:
        """||u||_p."""
        return float(lp_norm(u, self.norm))

    def x(self, u: Array) -> Array:
        """Point in feature space, inside the domain to the last digit."""
        point = self.problem.factual + self.problem.whitening.inverse @ u
        return np.clip(point, self.problem.domain.low, self.problem.domain.high)

    def into_domain(self, u: Array) -> Array:
        """The point of the domain that u stands for: what a solver's tolerance left outside is pulled in."""
        if not self.bounded:
            return u
        return np.asarray(self.problem.whitening.matrix @ (self.x(u) - self.problem.factual))

    @cached_property
    def bounded(self) -> bool:
        """Whether there is any domain at all."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    @property
    def most_convex(self) -> float:
        """The largest positive curvature."""
        return float(self.convexity.max())


def whitened(problem: RobustProblem) -> Space:
    """The problem in whitened coordinates."""
    B = problem.whitening.inverse
    tau = problem.log_odds_threshold
    margins = tuple(H.in_coordinates(B, problem.factual) - tau for H in problem.margins)
    low, high = problem.domain.low - problem.factual, problem.domain.high - problem.factual
    return _space(problem, margins, B, low, high)


def around(problem: RobustProblem, H: Quadratic, u: Array) -> Space:
    """All perturbations v of a point u, those being sought that turn H(u + v) negative."""
    open_ = np.full(problem.n_features, np.inf)
    flipped = -H.in_coordinates(np.eye(len(u)), u)
    plain = replace(problem, budget=0.0, domain=Domain.whole_space(len(u)))
    return _space(plain, (flipped,), problem.whitening.inverse, -open_, open_)


def _space(
    problem: RobustProblem, margins: tuple[Quadratic, ...], features: Array, low: Array, high: Array
) -> Space:
    n = len(features)
    values, vectors = zip(*(_convex_part(H) for H in margins), strict=True)
    extra = np.concatenate(vectors)
    open_ = np.full(n, np.inf), np.full(len(extra), np.inf)
    return Space(
        problem,
        margins,
        np.concatenate([np.eye(n), features, extra]),
        np.concatenate([-open_[0], low, -open_[1]]),
        np.concatenate([open_[0], high, open_[1]]),
        np.concatenate([np.zeros(2 * n), *values]),
    )


def _convex_part(H: Quadratic) -> tuple[Array, Array]:
    """Positive eigenvalues and their eigenvectors as rows."""
    values, vectors = np.linalg.eigh(H.matrix)
    convex = values > 1e-9 * np.abs(values).max(initial=1e-300)
    return values[convex], vectors[:, convex].T
