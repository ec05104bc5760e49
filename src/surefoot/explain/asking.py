"""From a checked row to its Question, and to the Task that a search works on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.answering import Task
from surefoot.explain.assembly import class_position
from surefoot.explain.diagnosis import Noise
from surefoot.explain.explanation import Refusal
from surefoot.explain.methods import Settings
from surefoot.explain.rows import as_numbers
from surefoot.explain.targets import chosen_target
from surefoot.explain.wishes import Wishes
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.dag import feature_index
from surefoot.waist.geometry import WhiteningKind, checked_norm
from surefoot.waist.problem import checked_threshold
from surefoot.waist.question import Budget, Odds, Question

Array = NDArray[np.float64]
NoiseOn = Literal["changeable", "all"]


class Terms(NamedTuple):
    """What all questions of an explainer have in common.

    Parameters
    ----------
    norm : float
    whitening : str
    threshold : float
    budget : float or dict
        As the user gives it: by feature name.
    noise_on : {"changeable", "all"}
    """

    norm: float
    whitening: WhiteningKind
    threshold: float
    budget: Any
    noise_on: NoiseOn

    def checked(self) -> Terms:
        """The same, unless no question could have these terms."""
        checked_norm(self.norm)
        checked_threshold(self.threshold)
        if self.whitening not in get_args(WhiteningKind):
            raise DataError(f"whitening must be one of {get_args(WhiteningKind)}, not {self.whitening!r}")
        if not isinstance(self.noise_on, str) or self.noise_on not in get_args(NoiseOn):
            raise ProblemError(f"noise_on must be 'changeable' or 'all', not {self.noise_on!r}")
        if not isinstance(self.budget, Mapping):
            _size(self.budget, "the budget")
        return self


class Asked(NamedTuple):
    """A row about which something can be asked."""

    label: Any
    question: Question
    task: Task


class Asker:
    """Makes questions about the rows of one fitted classifier, and keeps what they share.

    Parameters
    ----------
    classifier : ConditionalGaussianNetworkClassifier
    wishes : Wishes
    terms : Terms
    method : str
    settings : Settings
    """

    def __init__(
        self,
        classifier: ConditionalGaussianNetworkClassifier,
        wishes: Wishes,
        terms: Terms,
        method: str,
        settings: Settings,
    ) -> None:
        self.classifier, self.wishes, self.terms = classifier, wishes, terms
        self.method, self.settings = method, settings
        self.networks, self.models = classifier.networks_, (classifier.fingerprint_,)
        self.features, self.declared = tuple(classifier.feature_labels_), wishes.declared()
        self.budget = positioned(terms.budget, self.features)
        self.noise = self._noise()
        self.exact = self._exact()
        if len(self.exact) == len(self.features):
            self.budget = 0.0  # nothing can miss
        self.shared: dict[Any, Any] = {}

    def asked(self, factual: Array, target: Any, label: Any) -> Asked:
        """The question about a checked row."""
        clf, terms = self.classifier, self.terms
        labels = clf.classes_.tolist()
        here = class_position(clf, factual)
        wanted = chosen_target(target, labels, here)
        question = Question(
            models=self.models,
            features=self.features,
            factual=factual,
            factual_class=labels[here],
            target=wanted,
            norm=terms.norm,
            whitening=terms.whitening,
            budget=self.budget,
            exact=self.exact,
            requirements=tuple(Odds(wanted, c, float(terms.threshold)) for c in labels if c != wanted),
            domain=self.wishes.domain(factual),
            declared=self.declared,
            gap=float(self.settings.options.gap),
        )
        problem = question.problem(clf, shared=self.shared)
        return Asked(label, question, Task(problem, self.wishes, self.method, self.settings, self.noise))

    def refusal(self, values: list[Any], target: Any) -> Refusal:
        """What is known of a row about which nothing can be asked."""
        return Refusal(
            models=self.models,
            features=self.features,
            factual=as_numbers(values),
            target=target,
            budget=self.budget,
            norm=float(self.terms.norm),
            whitening=self.terms.whitening,
            threshold=float(self.terms.threshold),
        )

    def _noise(self) -> Noise | None:
        """What the ball depends on when a feature may change that must not now."""
        if self.terms.noise_on == "all" or isinstance(self.budget, Mapping):
            return None
        return Noise(self.budget, self.classifier.dag_.smallest_first_order)

    def _exact(self) -> tuple[int, ...]:
        """The features that land exactly."""
        if isinstance(self.budget, Mapping):
            return tuple(j for j in range(len(self.features)) if j not in self.budget)
        return self.wishes.kept if self.terms.noise_on == "changeable" else ()


def positioned(budget: Any, features: Sequence[Any]) -> Budget:
    """A budget by feature name as one by position; features that cannot miss are left out.

    Examples
    --------
    >>> positioned({"income": 500, "weight": (1, 2)}, ["age", "income", "weight"])
    {1: (500.0, 500.0), 2: (1.0, 2.0)}
    """
    if not isinstance(budget, Mapping):
        return _size(budget, "the budget")
    found: dict[int, tuple[float, float]] = {}
    for feature, size in budget.items():
        try:
            j = feature_index(feature, features)
        except ValueError as error:
            raise ProblemError(f"budget: {error}") from None
        if j in found:
            raise ProblemError(f"the budget names {features[j]!r} twice")
        found[j] = _pair(size, features[j])
    return {j: found[j] for j in sorted(found) if any(found[j])} or 0.0


def _pair(size: Any, name: Any) -> tuple[float, float]:
    what = f"the budget of {name!r}"
    if not isinstance(size, tuple | list):
        return _size(size, what), _size(size, what)
    if len(size) != 2:
        raise DataError(f"{what} must be a number or a pair (down, up), not {size!r}")
    return _size(size[0], what), _size(size[1], what)


def _size(value: Any, what: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < math.inf:
        raise DataError(f"{what} must be a finite number >= 0, not {value!r}")
    return float(value)
