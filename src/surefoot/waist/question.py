"""Question: what is asked about one row, as a value. The only maker of problems."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError, ProblemError
from surefoot.waist.domain import Domain
from surefoot.waist.geometry import Ball, Metric, Whitening, WhiteningKind, checked_norm
from surefoot.waist.problem import Requirement, RobustProblem, checked_threshold, log_odds
from surefoot.waist.quadratic import Quadratic

Array = NDArray[np.float64]

FORMAT, VERSION = "surefoot-question", 1


class Decider(Protocol):
    """What a question needs of a fitted classifier."""

    feature_labels_: Any
    classes_: Any
    networks_: Any
    dag_: Any

    @property
    def fingerprint_(self) -> str:
        """A digest of everything that decides."""

    def decision_quadratic(self, target: Any, other: Any) -> Quadratic:
        """H of two classes."""


@dataclass(frozen=True)
class Odds:
    """The log-odds of a target against a rival reach a threshold.

    Parameters
    ----------
    target, rival : labels
    threshold : float
        A probability: log-odds of log(tau / (1 - tau)).
    robust : bool, default=True
    model : int, default=0
        Which of the question's models decides.
    """

    target: Any
    rival: Any
    threshold: float
    robust: bool = True
    model: int = 0

    def requirement(self, models: Sequence[Decider]) -> Requirement:
        """As a quadratic."""
        H = models[self.model].decision_quadratic(self.target, self.rival)
        return Requirement(H - log_odds(checked_threshold(self.threshold)), self.robust)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "kind": "odds",
            "model": self.model,
            "target": self.target,
            "rival": self.rival,
            "threshold": self.threshold,
            "robust": self.robust,
        }


@dataclass(frozen=True)
class DensityFloor:
    """The log density of a class reaches a floor.

    Parameters
    ----------
    label : label
    floor : float
    robust : bool, default=True
    model : int, default=0
    """

    label: Any
    floor: float
    robust: bool = True
    model: int = 0

    def requirement(self, models: Sequence[Decider]) -> Requirement:
        """As a quadratic."""
        clf = models[self.model]
        network = clf.networks_[clf.classes_.tolist().index(self.label)]
        return Requirement(network.log_density_quadratic() - self.floor, self.robust)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "kind": "density",
            "model": self.model,
            "class": self.label,
            "floor": self.floor,
            "robust": self.robust,
        }


Budget = float | Mapping[int, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Question:
    """Frozen, versioned, JSON both ways; what is printed, searched and verified is this object.

    Parameters
    ----------
    models : tuple of str
        Fingerprints: of the explained model, and of others that requirements name.
    features : tuple
        Names, in the model's order.
    factual : array of shape (n,)
    factual_class, target : labels
    norm : {1, 2, inf}
        Of distance and ball.
    whitening : {"cholesky", "dag", "zca"}
    budget : float, or dict of feature position -> (down, up)
        The paper's gamma; or how far each feature may miss, in its own units.
    exact : tuple of int
        Features that land exactly.
    requirements : tuple of Odds and DensityFloor
    domain : Domain
    declared : dict
        The wishes behind the domain in plain values, for printing: see `surefoot.Actions`.
    gap : float
        Relative, between the distance of the answer and the proven bound.
    """

    models: tuple[str, ...]
    features: tuple[Any, ...]
    factual: Array
    factual_class: Any
    target: Any
    norm: float
    whitening: WhiteningKind
    budget: Budget
    exact: tuple[int, ...]
    requirements: tuple[Odds | DensityFloor, ...]
    domain: Domain
    declared: Mapping[str, Any] = field(default_factory=dict)
    gap: float = 1e-3

    def __post_init__(self) -> None:
        factual = np.array(self.factual, dtype=float)
        if factual.shape != (len(self.features),) or not np.isfinite(factual).all():
            raise ProblemError("the factual must be a row of finite numbers, one for each feature")
        factual.setflags(write=False)
        object.__setattr__(self, "factual", factual)
        object.__setattr__(self, "norm", checked_norm(self.norm))
        if self.domain.n_features != len(self.features):
            raise ProblemError("the domain has another number of features")
        self._check_numbers()

    def _check_numbers(self) -> None:
        """Features and models that are named by number must be there."""
        named = [*self.exact, *(self.budget if isinstance(self.budget, Mapping) else ())]
        if not all(0 <= j < len(self.features) for j in named):
            raise ProblemError("budget or exact features: there is no feature of that number")
        if not all(0 <= r.model < len(self.models) for r in self.requirements):
            raise ProblemError("a requirement names a model that the question does not have")

    @property
    def threshold(self) -> float:
        """What the odds against every rival must reach."""
        return next(r.threshold for r in self.requirements if isinstance(r, Odds))

    @property
    def budget_radius(self) -> float:
        """The budget as a radius of the ball: 1 where it is given by feature."""
        return 1.0 if isinstance(self.budget, Mapping) else float(self.budget)

    def problem(
        self, classifier: Decider, *others: Decider, shared: dict[Any, Any] | None = None
    ) -> RobustProblem:
        """The optimisation problem of this question.

        Parameters
        ----------
        classifier : fitted classifier
            The explained one.
        *others : fitted classifiers
            Further models that requirements name, in the order of ``models``.
        shared : dict, optional
            Keeps what questions about the same models have in common; the same dict for each of them
            saves factoring the same matrices again.
        """
        models, kept = (classifier, *others), {} if shared is None else shared
        place = (self.factual_class, self.whitening, self.norm)
        metric = _once(kept, place, lambda: Metric(self._whitening(classifier), self.norm))
        size = tuple(self.budget.items()) if isinstance(self.budget, Mapping) else self.budget
        return RobustProblem(
            self.factual,
            tuple(_once(kept, r, partial(r.requirement, models)) for r in self.requirements),
            metric,
            _once(kept, (*place, size, self.exact), lambda: self._ball(classifier, metric)),
            self.domain,
        )

    def _whitening(self, classifier: Decider) -> Whitening:
        labels = classifier.classes_.tolist()
        found: Whitening = classifier.networks_[labels.index(self.factual_class)].whitening(self.whitening)
        return found

    def _ball(self, classifier: Decider, metric: Metric) -> Ball:
        if isinstance(self.budget, Mapping):
            ends = np.zeros((2, len(self.features)))
            for j, pair in self.budget.items():
                ends[:, j] = pair
            return Ball.box(*ends)
        order = classifier.dag_.smallest_first_order
        return Ball.whitened(metric.whitening, self.norm, self.budget, self.exact, order)

    def to_dict(self) -> dict[str, Any]:
        """As plain values; infinite numbers become words."""
        budget: Any = self.budget
        if isinstance(budget, Mapping):
            budget = {str(j): [float(a), float(b)] for j, (a, b) in budget.items()}
        return {
            "format": FORMAT,
            "version": VERSION,
            "models": list(self.models),
            "features": list(self.features),
            "factual": self.factual.tolist(),
            "factual_class": self.factual_class,
            "target": self.target,
            "distance": {"kind": "mahalanobis", "whitening": self.whitening, "norm": _norm(self.norm)},
            "ball": {"norm": _norm(self.ball_norm), "budget": budget, "exact": list(self.exact)},
            "requirements": [r.to_dict() for r in self.requirements],
            "domain": self._domain_dict(),
            "gap": self.gap,
        }

    @property
    def ball_norm(self) -> float:
        """The q: a budget by feature is a box."""
        return math.inf if isinstance(self.budget, Mapping) else self.norm

    def _domain_dict(self) -> dict[str, Any]:
        d = self.domain
        return {
            "low": [_word(v) for v in d.low.tolist()],
            "high": [_word(v) for v in d.high.tolist()],
            "rows": [
                {
                    "coefficients": row.coefficients.tolist(),
                    "low": _word(row.low),
                    "high": _word(row.high),
                    "name": row.name,
                }
                for row in d.rows
            ],
            "sets": [
                {"feature": s.feature, "values": None if s.values is None else list(s.values)} for s in d.sets
            ],
            "declared": dict(self.declared),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Question:
        """Read what `to_dict` gave; anything else is refused by name."""
        from surefoot.waist.reading import read_question

        try:
            return read_question(values)
        except ProblemError as error:
            raise DataError(f"the question makes no sense: {error}") from None


def _once(kept: dict[Any, Any], key: Any, make: Callable[[], Any]) -> Any:
    """What is kept under a key, made when it is first asked for."""
    if key not in kept:
        kept[key] = make()
    return kept[key]


def _norm(p: float) -> float | int | str:
    return "inf" if p == math.inf else int(p)


def _word(value: float) -> float | str:
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
