"""RobustProblem: everything a search may know. Statistics ends here, optimisation begins."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.exceptions import ProblemError
from surefoot.problem.domain import Domain
from surefoot.problem.geometry import Ball, Metric, Whitening, dual_exponent, lp_norm
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.share import Share

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Requirement:
    """g(x) >= 0, or g(x + d) >= 0 for every perturbation d of the ball.

    Parameters
    ----------
    margin : Quadratic
        g, with its threshold folded into the constant.
    robust : bool, default=True
        Whether it must hold on the whole ball.
    decides : bool, default=True
        Whether it is about the decision that is explained: what is said of the worst perturbation is about
        this one.
    heat : float, default=1.0
        How much of g is one unit of log-odds: a calibrated model's temperature.
    """

    margin: Quadratic
    robust: bool = True
    decides: bool = True
    heat: float = 1.0


@dataclass(frozen=True, eq=False)
class RobustProblem:
    """min ||D (x - factual)||_p over the domain, with g_r(x) >= 0, on the whole ball where r is robust.

    The paper's robust counterfactual search for any factual and target class, where g_r = H_r - tau' is
    the log-odds of the target against rival r less the threshold's; and for anything else that a
    quadratic can ask of a point.

    Parameters
    ----------
    factual : array of shape (n,)
    requirements : tuple of Requirement
    metric : Metric
    ball : Ball
    domain : Domain, optional
        Default: the whole space.
    shares : tuple of Share
        Probabilities among all classes, over requirements that are named by number.
    surplus : float, default=0.0
        By how much margins are larger than what was asked for: a point must have so much to meet that.
    """

    factual: Array
    requirements: tuple[Requirement, ...]
    metric: Metric
    ball: Ball
    domain: Domain = None  # type: ignore[assignment]  # replaced by the whole space when left out
    shares: tuple[Share, ...] = ()
    surplus: float = 0.0

    def __post_init__(self) -> None:
        factual = np.array(self.factual, dtype=float)
        if factual.ndim != 1 or not np.isfinite(factual).all():
            raise ProblemError("the factual must be a row of finite numbers")
        factual.setflags(write=False)
        object.__setattr__(self, "factual", factual)
        object.__setattr__(self, "requirements", tuple(self.requirements))
        if self.domain is None:
            object.__setattr__(self, "domain", Domain.whole_space(factual.size))
        if not self.requirements:
            raise ProblemError("a problem needs a requirement")
        sizes = {r.margin.n_features for r in self.requirements}
        sizes |= {len(self.metric.matrix), len(self.ball.basis), self.domain.n_features}
        if sizes != {factual.size}:
            raise ProblemError(
                f"factual, requirements, metric, ball and domain differ in size: {factual.size}, {sizes}"
            )
        if any(s.now != factual[s.feature] for s in self.domain.sets):
            raise ProblemError("a set of values belongs to another factual: its value of today differs")

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.factual.size

    @property
    def margins(self) -> tuple[Quadratic, ...]:
        """The quadratics g_r of the requirements."""
        return tuple(r.margin for r in self.requirements)

    @property
    def whitening(self) -> Whitening:
        """The metric's matrix with its name."""
        return self.metric.whitening

    @property
    def norm(self) -> float:
        """The p of the distance."""
        return self.metric.norm

    @property
    def budget(self) -> float:
        """Radius of the ball."""
        return self.ball.radius

    @property
    def unit(self) -> Array:
        """Standard deviation of each feature in the factual class: the natural unit of its changes."""
        return self.metric.unit

    def radius_of(self, requirement: Requirement) -> float:
        """How far perturbations reach for a requirement: the budget, or nowhere."""
        return self.ball.radius if requirement.robust else 0.0

    def distance(self, x: ArrayLike) -> float:
        """||D (x - factual)||_p."""
        return self.metric.distance(x, self.factual)

    def margin(self, x: ArrayLike) -> float:
        """Min over the requirements of g_r(x), and over shares: not negative exactly where all hold."""
        values = np.array([float(g(x)) for g in self.margins])
        return float(min(values.min(), *(s.margin(values[list(s.members)]) for s in self.shares), np.inf))

    def violation(self, x: ArrayLike, perturbations: ArrayLike) -> Array:
        """-g(x + d), worst over the requirements, for each row d; those that are not robust see d = 0."""
        point = np.asarray(x, dtype=float)
        points = point + np.atleast_2d(np.asarray(perturbations, dtype=float))
        values = [
            np.asarray(r.margin(points)) if r.robust else np.full(len(points), float(r.margin(point)))
            for r in self.requirements
        ]
        shares = [s.margin(np.array(values)[list(s.members)].T) for s in self.shares]
        return np.asarray(-np.min([*values, *shares], axis=0))

    def lipschitz_bound(self, radius: float) -> float:
        """G with ``|g(x) - g(x')| <= G ||D (x - x')||_p`` for all x, x' within ``radius`` of the factual.

        The largest dual norm of the gradient 2Qu + q in the metric's coordinates. It is smaller than the
        constant of the paper's theorem, which bounds each class by itself.
        """
        bounds = []
        for g in self.margins:
            G = g.in_coordinates(self.metric.inverse, self.factual)
            bounds.append(
                lp_norm(G.vector, dual_exponent(self.norm)) + 2 * radius * _largest(G.matrix, self.norm)
            )
        return float(max(bounds))

    def iteration_bound(self, radius: float, tol: float) -> float:
        """The paper's T <= (R G / tol)^n; astronomically large, but finite."""
        with np.errstate(over="ignore"):
            return float(np.power(radius * self.lipschitz_bound(radius) / tol, float(self.n_features)))


def log_odds(threshold: float) -> float:
    """The paper's tau' = log(tau / (1 - tau))."""
    return float(np.log(threshold) - np.log1p(-threshold))


def checked_threshold(threshold: Any) -> float:
    """Return a probability strictly between 0 and 1, else raise."""
    if not isinstance(threshold, Real) or not 0 < float(threshold) < 1:
        raise ProblemError(f"threshold must lie strictly between 0 and 1, not {threshold!r}")
    return float(threshold)


def _largest(Q: Array, p: float) -> float:
    """Bound on the dual norm of Qu over the unit ball ``||u||_p <= 1`` (exact for p = 1 and 2)."""
    if p == 2:
        return float(np.linalg.norm(Q, 2))
    return float(np.abs(Q).max() if p == 1 else np.abs(Q).sum())
