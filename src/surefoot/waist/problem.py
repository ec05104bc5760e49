"""RobustProblem: everything a search may know. Statistics ends here, optimisation begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.exceptions import ProblemError, StructureError
from surefoot.model.dag import feature_index
from surefoot.waist.geometry import Ball, Whitening, dual_exponent, lp_norm
from surefoot.waist.quadratic import Quadratic

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Domain:
    """The box in which counterfactuals may lie; infinite ends are open.

    Bounds, fixed features and features that may only rise or fall are all intervals around the factual.

    Parameters
    ----------
    low, high : arrays of shape (n,)
    """

    low: Array
    high: Array

    def __post_init__(self) -> None:
        low, high = np.array(self.low, dtype=float), np.array(self.high, dtype=float)
        if low.shape != high.shape or np.isnan(low).any() or np.isnan(high).any():
            raise ProblemError("the ends of the domain must be numbers, one pair for each feature")
        for name, value in (("low", low), ("high", high)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def whole_space(cls, n_features: int) -> Domain:
        """No restriction at all."""
        return cls(np.full(n_features, -np.inf), np.full(n_features, np.inf))

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether a point lies in the box, up to a tolerance relative to its size."""
        point = np.asarray(x, dtype=float)
        slack = tol * np.maximum(1.0, np.abs(point))
        return bool((point >= self.low - slack).all() and (point <= self.high + slack).all())


@dataclass(frozen=True, eq=False)
class Constraints:
    """What is said about features, by position: their bounds, and which may not change, only rise, only fall.

    Parameters
    ----------
    names : tuple
        Of the features, for messages.
    low, high : arrays of shape (n,)
        Bounds; infinite ends are open.
    immutable, increasing, decreasing : tuples of int
    observed : tuple of int
        The features whose bounds are only the range seen in training, which makes room for the factual.

    Examples
    --------
    >>> said = Constraints.by_name(["age", "income"], immutable=["age"], increasing=["income"])
    >>> domain = said.domain([30.0, 2.0])
    >>> domain.low, domain.high
    (array([30.,  2.]), array([30., inf]))
    """

    names: tuple[Any, ...]
    low: Array
    high: Array
    immutable: tuple[int, ...] = ()
    increasing: tuple[int, ...] = ()
    decreasing: tuple[int, ...] = ()
    observed: tuple[int, ...] = ()

    @classmethod
    def by_name(
        cls,
        names: Sequence[Any],
        *,
        bounds: Mapping[Any, Any] | str | None = None,
        observed_range: ArrayLike | None = None,
        immutable: Iterable[Any] = (),
        increasing: Iterable[Any] = (),
        decreasing: Iterable[Any] = (),
    ) -> Constraints:
        """Read what a user says by feature name; names that are unknown and empty bounds are refused.

        ``bounds`` is None, ``"data"`` (the ``observed_range`` of every feature), or a mapping from
        features to (low, high) or ``"data"``.
        """
        low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
        given = dict.fromkeys(names, DATA) if isinstance(bounds, str) else dict(bounds or {})
        observed = []
        for feature, ends in given.items():
            i = _position(feature, names, "bounds")
            if isinstance(ends, str) and ends == DATA and observed_range is not None:
                low[i], high[i] = np.asarray(observed_range, dtype=float)[:, i]
                observed.append(i)
            else:
                low[i], high[i] = _interval(feature, ends)
        said = (("immutable", immutable), ("increasing", increasing), ("decreasing", decreasing))
        fixed, up, down = (_positions(features, names, what) for what, features in said)
        return cls(tuple(names), low, high, fixed, up, down, tuple(observed))

    def domain(self, factual: ArrayLike) -> Domain:
        """The box around a factual; contradictions are named."""
        x0 = np.asarray(factual, dtype=float)
        low, high = self.low.copy(), self.high.copy()
        seen = list(self.observed)
        low[seen], high[seen] = np.minimum(low[seen], x0[seen]), np.maximum(high[seen], x0[seen])
        for i in self.immutable:
            _refuse_outside(x0[i], low[i], high[i], self.names[i], "immutable")
            low[i] = high[i] = x0[i]
        for i in self.increasing:
            _refuse_outside(x0[i], -np.inf, high[i], self.names[i], "increasing")
            low[i] = max(low[i], x0[i])
        for i in self.decreasing:
            _refuse_outside(x0[i], low[i], np.inf, self.names[i], "decreasing")
            high[i] = min(high[i], x0[i])
        return Domain(low, high)

    def one_relaxed(self) -> Iterator[tuple[str, Constraints]]:
        """What could be given up for a single feature, in words, and what is left then."""
        for kind, phrase in KINDS.items():
            features = getattr(self, kind)
            for i in features:
                rest = tuple(j for j in features if j != i)
                yield f"{self.names[i]!r} may {phrase}", self._with(kind, rest)
        for i in self._bounded():
            ends = f"{self.low[i]:g} to {self.high[i]:g}"
            yield f"{self.names[i]!r} may leave its bounds {ends}", self._unbounded([i])

    def kinds_relaxed(self) -> Iterator[tuple[str, Constraints]]:
        """The same for all constraints of a kind."""
        for kind, phrase in KINDS.items():
            if len(getattr(self, kind)) > 1:
                yield f"all {kind} features may {phrase}", self._with(kind, ())
        if len(self._bounded()) > 1:
            yield "features may leave their bounds", self._unbounded(self._bounded())
        if self.observed:
            yield "features may leave the range seen in training", self._unbounded(list(self.observed))

    def all_relaxed(self) -> Iterator[tuple[str, Constraints]]:
        """Nothing is left."""
        yield "every constraint is lifted", Constraints.by_name(self.names)

    def _with(self, kind: str, features: tuple[int, ...]) -> Constraints:
        lists: dict[str, Any] = {kind: features}
        return replace(self, **lists)

    def _bounded(self) -> list[int]:
        bounded = np.flatnonzero(np.isfinite(self.low) | np.isfinite(self.high)).tolist()
        return [i for i in bounded if i not in self.observed]

    def _unbounded(self, features: list[int]) -> Constraints:
        low, high = self.low.copy(), self.high.copy()
        low[features], high[features] = -np.inf, np.inf
        return replace(self, low=low, high=high)


DATA = "data"
KINDS = {"immutable": "change", "increasing": "fall", "decreasing": "rise"}


@dataclass(frozen=True, eq=False)
class RobustProblem:
    """min ||M (x - factual)||_p over the domain, H_r(x + d) >= tau' for all ||M d||_p <= budget and all r.

    The paper's robust counterfactual search for any factual and target class: H_r is the log-odds of
    the target against rival r (one rival if there are two classes).

    Parameters
    ----------
    factual : array of shape (n,)
    margins : tuple of Quadratic
        The decision functions H_r.
    whitening : Whitening
        M, of the factual class.
    norm : {1, 2, inf}
    budget : float
        The paper's gamma, >= 0.
    threshold : float
        The paper's tau in (0, 1).
    domain : Domain, optional
        Default: the whole space.
    """

    factual: Array
    margins: tuple[Quadratic, ...]
    whitening: Whitening
    norm: float = np.inf
    budget: float = 0.0
    threshold: float = 0.5
    domain: Domain = None  # type: ignore[assignment]  # replaced by the whole space when left out

    def __post_init__(self) -> None:
        factual = np.array(self.factual, dtype=float)
        if factual.ndim != 1 or not np.isfinite(factual).all():
            raise ProblemError("the factual must be a row of finite numbers")
        factual.setflags(write=False)
        object.__setattr__(self, "factual", factual)
        object.__setattr__(self, "margins", tuple(self.margins))
        if self.domain is None:
            object.__setattr__(self, "domain", Domain.whole_space(factual.size))
        sizes = {H.n_features for H in self.margins} | {len(self.whitening.matrix), self.domain.low.size}
        if sizes != {factual.size}:
            raise ProblemError(
                f"factual, margins, whitening and domain differ in size: {factual.size}, {sizes}"
            )
        _check_threshold(self.threshold)
        _ = self.ball  # checks norm and budget
        object.__setattr__(self, "norm", self.ball.norm)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.factual.size

    @property
    def log_odds_threshold(self) -> float:
        """The paper's tau' = log(tau / (1 - tau))."""
        return float(np.log(self.threshold) - np.log1p(-self.threshold))

    @cached_property
    def ball(self) -> Ball:
        """The uncertainty set."""
        return Ball(self.whitening, self.norm, self.budget)

    @cached_property
    def unit(self) -> Array:
        """Standard deviation of each feature in the factual class: the natural unit of its changes."""
        return np.asarray(lp_norm(self.whitening.inverse, 2))

    def distance(self, x: ArrayLike) -> float:
        """||M (x - factual)||_p."""
        return float(self.whitening.distance(x, self.factual, self.norm))

    def margin(self, x: ArrayLike) -> float:
        """Min over rivals of H_r(x) - tau': not negative exactly where the target is reached."""
        return float(min(H(x) for H in self.margins)) - self.log_odds_threshold

    def violation(self, x: ArrayLike, perturbations: ArrayLike) -> Array:
        """Tau' - H(x + d), worst over the rivals, for each row d."""
        points = np.asarray(x, dtype=float) + np.atleast_2d(np.asarray(perturbations, dtype=float))
        values = np.array([np.asarray(H(points)) for H in self.margins])
        return np.asarray(self.log_odds_threshold - values.min(axis=0))

    def lipschitz_bound(self, radius: float) -> float:
        """G with ``|H(x) - H(x')| <= G ||M (x - x')||_p`` for all x, x' within ``radius`` of the factual.

        The largest dual norm of the gradient 2Qu + q in whitened coordinates. It is smaller than the
        constant of the paper's theorem, which bounds each class by itself.
        """
        bounds = []
        for H in self.margins:
            G = H.in_coordinates(self.whitening.inverse, self.factual)
            bounds.append(
                lp_norm(G.vector, dual_exponent(self.norm)) + 2 * radius * _largest(G.matrix, self.norm)
            )
        return float(max(bounds))

    def iteration_bound(self, radius: float, tol: float) -> float:
        """The paper's T <= (R G / tol)^n; astronomically large, but finite."""
        with np.errstate(over="ignore"):
            return float(np.power(radius * self.lipschitz_bound(radius) / tol, float(self.n_features)))


def checked_question(norm: Any, budget: Any, threshold: Any, whitening: Any) -> None:
    """Refuse a norm, budget, threshold or whitening that no problem could have."""
    Ball(Whitening(np.eye(1), whitening), norm, budget)
    _check_threshold(threshold)


def _check_threshold(threshold: Any) -> None:
    if not isinstance(threshold, Real) or not 0 < float(threshold) < 1:
        raise ProblemError(f"threshold must lie strictly between 0 and 1, not {threshold!r}")


def _largest(Q: Array, p: float) -> float:
    """Bound on the dual norm of Qu over the unit ball ``||u||_p <= 1`` (exact for p = 1 and 2)."""
    if p == 2:
        return float(np.linalg.norm(Q, 2))
    return float(np.abs(Q).max() if p == 1 else np.abs(Q).sum())


def _position(feature: Any, names: Sequence[Any], what: str) -> int:
    try:
        return feature_index(feature, names)
    except StructureError as error:
        raise ProblemError(f"{what}: {error}") from None


def _positions(features: Iterable[Any], names: Sequence[Any], what: str) -> tuple[int, ...]:
    if isinstance(features, str):
        raise ProblemError(f"{what} must be a list of features, not {features!r}")
    return tuple(dict.fromkeys(_position(feature, names, what) for feature in features))


def _interval(feature: Any, ends: Any) -> tuple[float, float]:
    try:
        low, high = ends
        pair = -np.inf if low is None else float(low), np.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise ProblemError(f"bounds of {feature!r} must be a pair (low, high), not {ends!r}") from None
    if np.isnan(pair).any():
        raise ProblemError(f"bounds of {feature!r} must be numbers or None, not {ends!r}")
    if pair[0] > pair[1]:
        raise ProblemError(f"bounds of {feature!r} are empty: {pair[0]:g} to {pair[1]:g}")
    return pair


def _refuse_outside(value: float, low: float, high: float, name: Any, what: str) -> None:
    if not low <= value <= high:
        raise ProblemError(
            f"{name!r} is {what} and its value {value:g} lies outside its bounds {low:g} to {high:g}"
        )
