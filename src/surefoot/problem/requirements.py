"""Requirements: what a question asks of the models, each as a quadratic for every state of the categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

import numpy as np

from surefoot.exceptions import ProblemError
from surefoot.problem.family import MixedRequirement
from surefoot.problem.mixed import MixedQuadratic, Same, State
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import checked_threshold, log_odds
from surefoot.problem.share import Share


class Decider(Protocol):
    """What a question needs of a fitted classifier."""

    feature_labels_: Any
    classes_: Any
    dag_: Any
    calibration_: Any

    @property
    def fingerprint_(self) -> str:
        """A digest of everything that decides."""

    def decision(self, target: Any, rival: Any) -> MixedQuadratic:
        """H of two classes, for every state of the categories."""

    def log_density_quadratic(self, label: Any) -> MixedQuadratic:
        """The log density of a class."""

    def network(self, label: Any, state: State = ()) -> Any:
        """The density of the numbers of a class, given the categories."""


def _heat(clf: Decider) -> float:
    """How much of the network's own log-odds is one unit of the calibrated ones."""
    return 1.0 if clf.calibration_ is None else float(clf.calibration_.temperature)


class _Stated:
    """A requirement that a document states by its kind, its model and its other fields."""

    kind: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind, "model": own.pop("model"), **own}


@dataclass(frozen=True)
class Odds(_Stated):
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

    kind: ClassVar[str] = "odds"
    target: Any
    rival: Any
    threshold: float
    robust: bool = True
    model: int = 0

    @property
    def needed(self) -> float:
        """By how much the target's score must exceed the rival's."""
        return log_odds(checked_threshold(self.threshold))

    def requirement(self, models: Sequence[Decider]) -> MixedRequirement:
        """As a quadratic for every state.

        In the units of the network's own log-odds: a temperature scales them, but not their sign.
        """
        clf = models[self.model]
        heat = _heat(clf)
        H = clf.decision(self.target, self.rival)
        return MixedRequirement(H.shifted(-self.needed).scaled(heat), self.robust, self.model == 0, heat)


@dataclass(frozen=True)
class Decision(_Stated):
    """The decision value of a target less that of a rival reaches a value: for models without probabilities.

    Parameters
    ----------
    target, rival : labels
    value : float
    robust : bool, default=True
    model : int, default=0
    """

    kind: ClassVar[str] = "decision"
    target: Any
    rival: Any
    value: float = 0.0
    robust: bool = True
    model: int = 0

    @property
    def needed(self) -> float:
        """By how much the target's score must exceed the rival's."""
        return float(self.value)

    def requirement(self, models: Sequence[Decider]) -> MixedRequirement:
        """As a quadratic for every state."""
        H = models[self.model].decision(self.target, self.rival)
        return MixedRequirement(H.shifted(-self.needed), self.robust, self.model == 0)


@dataclass(frozen=True)
class Probability(_Stated):
    """The probability of a target among all classes reaches a threshold.

    Not a quadratic: a `Share` over the odds against every rival, which a question with it also requires.

    Parameters
    ----------
    target : label
    threshold : float
    robust : bool, default=True
    model : int, default=0
        Which of the question's models decides.
    """

    kind: ClassVar[str] = "probability"
    target: Any
    threshold: float
    robust: bool = True
    model: int = 0

    def share(self, models: Sequence[Decider], quadratics: Sequence[Required]) -> Share:
        """The same over the odds among the quadratic requirements."""
        clf = models[self.model]
        rivals = [c for c in clf.classes_.tolist() if c != self.target]
        odds = [Odds(self.target, rival, self.threshold, self.robust, self.model) for rival in rivals]
        if not odds or not all(one in quadratics for one in odds):
            raise ProblemError("a probability among all classes needs the odds against every rival")
        heat = _heat(clf)
        members = tuple(quadratics.index(one) for one in odds)
        return Share(members, heat, self.robust, self.model == 0)


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

    def requirement(self, models: Sequence[Decider]) -> MixedRequirement:
        """As a quadratic for every state."""
        density = models[self.model].log_density_quadratic(self.label)
        return MixedRequirement(density.shifted(-self.floor), self.robust, decides=False)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "kind": "density",
            "model": self.model,
            "class": self.label,
            "floor": self.floor,
            "robust": self.robust,
        }


@dataclass(frozen=True)
class Away:
    """The numbers lie at least so far from a point, in the 2-norm of the factual's class.

    Parameters
    ----------
    point : tuple of float
        On the scales on which distances are measured.
    distance : float
        In standard deviations.
    label : label
        The factual's class.
    state : tuple of int
        The factual's categories.
    """

    point: tuple[float, ...]
    distance: float
    label: Any
    state: State = ()
    robust: bool = False
    model: int = 0

    def requirement(self, models: Sequence[Decider]) -> MixedRequirement:
        """As a quadratic that is the same for every state."""
        M = models[0].network(self.label, self.state).whitening("cholesky").matrix
        center = np.array(self.point)
        Q = Quadratic(0.5 * M.T @ M, np.zeros(len(center)), -0.5 * float(self.distance) ** 2, center)
        return MixedRequirement(MixedQuadratic(Same(Q)), robust=False, decides=False)

    def to_dict(self) -> dict[str, Any]:
        """As plain values; class and state are the question's."""
        return {"kind": "away", "point": list(self.point), "distance": self.distance}


Required = Odds | Decision | DensityFloor | Away | Probability
