"""The ball of perturbations in the metric's coordinates, and the worst of them for a margin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.geometry import Ball, dual_exponent, lp_norm
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified.adversary import MAX_CORNERS, lowest
from surefoot.search.certified.prices import coordinates

Array = NDArray[np.float64]

INSIDE = 1 - 1e-9  # perturbations end this share before the ball's edge: rounding must not carry them over it


class Harm(NamedTuple):
    """The lowest value of a margin found around a point, the perturbation, and whether none is lower."""

    value: float
    perturbation: Array
    exact: bool


@dataclass(frozen=True, eq=False)
class Noise:
    """{radius * centre + frame w : ||w||_q <= radius} in the coordinates u.

    Parameters
    ----------
    frame : array of shape (n, k) or None
        None for the identity, the paper's case: metric and ball are the same.
    centre : array of shape (n,)
    norm : float
        The q.
    radius : float
    ball : Ball or None
        The same set in the features' units.
    """

    frame: Array | None
    centre: Array
    norm: float
    radius: float
    ball: Ball | None = None

    @classmethod
    def of(cls, problem: RobustProblem) -> Noise:
        """The ball of a problem."""
        ball, (D, inverse) = problem.ball, coordinates(problem.metric)
        same = ball.basis.shape == D.shape and np.array_equal(ball.basis, inverse)
        radius = 0.0 if ball.is_point else ball.radius
        return cls(None if same else D @ ball.basis, D @ ball.centre, ball.norm, radius, ball)

    @classmethod
    def none(cls, n: int) -> Noise:
        """No perturbation at all."""
        return cls(None, np.zeros(n), np.inf, 0.0)

    @cached_property
    def extent(self) -> Array:
        """Largest absolute perturbation of each coordinate."""
        dual = dual_exponent(self.norm)
        reach = np.ones(len(self.centre)) if self.frame is None else np.asarray(lp_norm(self.frame, dual))
        return np.asarray(self.radius * (np.abs(self.centre) + reach))

    def harm(self, H: Quadratic, u: Array, effort: int = MAX_CORNERS, radius: float | None = None) -> Harm:
        """Min of H(u + v) over the noise: exact for q = 2 and wherever corners decide, else local.

        ``effort``: how many corners may be looked at side by side; with 0 any local minimum will do.
        """
        r = self.radius if radius is None else radius
        if r == 0:
            return Harm(float(H(u)), np.zeros_like(u), True)
        at = u + r * self.centre if self.centre.any() else u
        Q, g = H.matrix, H.gradient(at)
        spectrum = None
        if self.frame is not None:
            Q, g = self.frame.T @ Q @ self.frame, self.frame.T @ g
        elif self.norm == 2:
            spectrum = H.spectrum  # known from one point to the next
        w, exact = lowest(Q, g, self.norm, INSIDE * r, effort, spectrum)
        v = INSIDE * r * self.centre + (w if self.frame is None else self.frame @ w)
        return Harm(float(H(u + v)), v, exact)
