"""From a checked row to its Question, and to the Task that a search works on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError, ProblemError, SurefootWarning
from surefoot.explain.answer.executor import Task
from surefoot.explain.answer.methods import Settings
from surefoot.explain.ask.coordinates import check_name, coordinates
from surefoot.explain.ask.differing import NOTHING, Differing
from surefoot.explain.ask.imputation import Filled
from surefoot.explain.ask.keeping import keeping_one
from surefoot.explain.ask.plausible import Plausible, density_floor, near_expected
from surefoot.explain.ask.refits import RefittedModels
from surefoot.explain.ask.row import as_numbers
from surefoot.explain.ask.target import chosen_target
from surefoot.explain.constraints.constraint_set import Allowed, ConstraintSet
from surefoot.explain.diagnose.conflict import Noise
from surefoot.explain.diagnose.inquiry import Inquiry
from surefoot.explain.result.assembly import class_position
from surefoot.explain.result.dates import plain_cell
from surefoot.explain.result.explanation import Refusal
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.dag import feature_index
from surefoot.model.decision import numbers_network
from surefoot.problem.family import Family
from surefoot.problem.geometry import checked_norm
from surefoot.problem.mixed import State
from surefoot.problem.question import Asked as Required
from surefoot.problem.question import Budget, Decision, Odds, Question
from surefoot.problem.robust_problem import checked_threshold
from surefoot.problem.warp import Warp

Array = NDArray[np.float64]
EVEN = 0.5  # the threshold of those who name none
NO_MORE = 0.0  # likewise of a decision value
SMALLEST_BUDGET = 1e-9  # standard deviations; doubles cannot tell a smaller one from none
NoiseOn = Literal["changeable", "all"]
Distance = Literal["mahalanobis", "cost"]


class Terms(NamedTuple):
    """What all questions of an explainer have in common.

    Parameters
    ----------
    norm : float
    whitening : str, array or DataFrame
    threshold : float
    budget : float or dict
        As the user gives it: by feature name.
    noise_on : {"changeable", "all"}
    decision : float
        In the place of the threshold, for models without probabilities.
    distance : {"mahalanobis", "cost"}
    plausible : Plausible or None
    """

    norm: float
    whitening: Any
    threshold: float
    budget: Any
    noise_on: NoiseOn
    decision: float = NO_MORE
    distance: Distance = "mahalanobis"
    plausible: Plausible | None = None

    def checked(self) -> Terms:
        """The same, unless no question could have these terms."""
        checked_norm(self.norm)
        checked_threshold(self.threshold)
        if isinstance(self.decision, bool) or not isinstance(self.decision, Real):
            raise ProblemError(f"decision must be a number, not {self.decision!r}")
        if not math.isfinite(self.decision):
            raise ProblemError(f"decision must be a finite number, not {self.decision!r}")
        check_name(self.whitening)
        if not isinstance(self.noise_on, str) or self.noise_on not in get_args(NoiseOn):
            raise ProblemError(f"noise_on must be 'changeable' or 'all', not {self.noise_on!r}")
        if not isinstance(self.distance, str) or self.distance not in get_args(Distance):
            raise ProblemError(f"distance must be 'mahalanobis' or 'cost', not {self.distance!r}")
        if not isinstance(self.budget, Mapping):
            _size(self.budget, "the budget")
        return self


class Asked(NamedTuple):
    """A row about which something can be asked."""

    label: Any
    inquiry: Inquiry

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.inquiry.task.question

    @property
    def problem(self) -> Family:
        """The problem that it poses."""
        return self.inquiry.task.problem


class QuestionBuilder:
    """Makes questions about the rows of one fitted classifier, and keeps what they share.

    Parameters
    ----------
    classifier : ConditionalGaussianNetworkClassifier
    constraints : ConstraintSet
    terms : Terms
    method : str
    settings : Settings
    refits : RefittedModels, optional
        Further models under which the decision must turn.
    """

    def __init__(
        self,
        classifier: ConditionalGaussianNetworkClassifier,
        constraints: ConstraintSet,
        terms: Terms,
        method: str,
        settings: Settings,
        refits: RefittedModels | None = None,
    ) -> None:
        self.others = () if refits is None else refits.searched
        self.classifier, self.terms = classifier, terms
        self.has_probability = classifier.has_probability
        self._refuse_idle_terms()
        self.method, self.settings = method, settings
        self.networks = classifier.networks_
        self.models = tuple(model.fingerprint_ for model in (classifier, *self.others))
        self.features = tuple(classifier.feature_labels_)
        self.schema, self.warps = classifier.schema_, _curved(classifier.warps_)
        self.numbers = tuple(self.features[j] for j in self.schema.numbers)
        self.whitening, self.matrix = coordinates(terms.whitening, self.numbers)
        if terms.distance != "cost" and constraints.priced:
            names = ", ".join(repr(name) for name in constraints.priced)
            said = "has a price, which counts" if len(constraints.priced) == 1 else "have prices, which count"
            unused = f"{names} {said} with distance='cost' only"
            warnings.warn(unused, SurefootWarning, stacklevel=4)  # where the explainer is made
            constraints = constraints.unpriced()
        self.constraints, self.declared = constraints, constraints.declared()
        self.budget = self._positioned(terms.budget)
        self.exact = self._exact()
        if len(self.exact) == len(self.numbers):
            self.budget = 0.0  # nothing can miss
        self.shared: dict[Any, Any] = {}

    def asked(self, row: Filled, target: Any, label: Any, differing: Differing = NOTHING) -> Asked:
        """The question about a row that was read: its numbers and its categories.

        Parameters
        ----------
        row : Filled
        target : label or None
        label
            What the row is called.
        differing : Differing
            What earlier answers about the row ask of this one.
        """
        clf, terms = self.classifier, self.terms
        factual, state, imputed = row
        declared = {**self.declared, **differing.declared()}
        if self.schema.date_names:
            declared["dates"] = [str(name) for name in self.schema.date_names]
        if imputed:
            declared["imputed"] = [str(name) for name in imputed]
        if terms.plausible is not None:
            declared["plausible"] = terms.plausible.declared()
        labels = clf.classes_.tolist()
        here = class_position(clf, factual, state)
        wanted = chosen_target(target, labels, here)
        question = Question(
            models=self.models,
            features=self.features,
            factual=factual,
            factual_class=labels[here],
            target=wanted,
            norm=terms.norm,
            whitening=self.whitening,
            matrix=self.matrix,
            budget=self.budget,
            exact=self.exact,
            requirements=(*self._requirements(wanted, labels), *differing.away),
            declared=declared,
            gap=float(self.settings.options.gap),
            warps=self.warps,
            prices=self.constraints.prices if terms.distance == "cost" else None,
            **self._allowed(factual, state, wanted, differing)._asdict(),
        )
        posed = question.family(clf, *self.others, shared=self.shared)
        typical = terms.plausible is not None and terms.plausible.share is not None
        percentiles = clf.density_percentiles_[labels.index(wanted)] if typical else None
        task = Task(posed, question, self.method, self.settings)
        return Asked(label, Inquiry(task, self.constraints, self._noise(state), percentiles))

    def _allowed(self, factual: Array, state: State, target: Any, differing: Differing) -> Allowed:
        """What constraints allow, what differs from earlier answers, what is plausible of each feature."""
        found = self.constraints.allowed(factual, state)
        place = (self.features, self.schema.numbers, factual)
        kept = [keeping_one(features, *place) for features in differing.keeping]
        eithers = list(found.eithers)
        if self.terms.plausible is not None and self.terms.plausible.deviations is not None:
            eithers += near_expected(self.classifier, target, factual, self.terms.plausible.deviations)
        return found._replace(eithers=tuple(eithers), limits=(*found.limits, *kept))

    def _requirements(self, target: Any, labels: Sequence[Any]) -> tuple[Required, ...]:
        """The odds against every rival, what is plausible as a whole, and the odds under further models."""
        odds = [self._required(target, c) for c in labels if c != target]
        plausible, found = self.terms.plausible, list[Required](odds)
        if plausible is not None and plausible.share is not None:
            found.append(density_floor(self.classifier, target, plausible.share))
        for number in range(1, len(self.models)):
            found += [replace(r, model=number) for r in odds]
        return tuple(found)

    def _refuse_idle_terms(self) -> None:
        """Refuse a threshold or decision value that the model cannot be asked for: it would be ignored."""
        if self.has_probability and self.terms.decision != NO_MORE:
            raise ProblemError("decision is for models without probabilities; use threshold for this one")
        if not self.has_probability and self.terms.threshold != EVEN:
            raise ProblemError(
                f"the model has no probabilities, so that threshold={self.terms.threshold:g} cannot be "
                "reached; use decision, a value of its decision function"
            )

    def _required(self, target: Any, rival: Any) -> Odds | Decision:
        """What must hold against one rival: a probability, or a decision value where there is none."""
        if self.has_probability:
            return Odds(target, rival, float(self.terms.threshold))
        return Decision(target, rival, float(self.terms.decision))

    def refusal(self, values: list[Any], target: Any) -> Refusal:
        """What is known of a row about which nothing can be asked."""
        return Refusal(
            models=self.models,
            features=self.features,
            factual=as_numbers(values) if self.schema.is_plain else [plain_cell(value) for value in values],
            target=target,
            budget=self.budget,
            norm=float(self.terms.norm),
            whitening=self.whitening,
            threshold=float(self.terms.threshold),
        )

    def _positioned(self, budget: Any) -> Budget:
        """The budget by number; a category lands exactly, and a curved scale has no units of its own."""
        if isinstance(budget, Mapping):
            wrong = [name for name in budget if name in self.features and name not in self.numbers]
            if wrong:
                raise ProblemError(f"the budget names {wrong[0]!r}, which is a category and lands exactly")
        found = positioned(budget, self.numbers)
        curved = [self.numbers[j] for j in found if self.warps] if isinstance(found, Mapping) else []
        bent = [name for name in curved if not self.warps[self.numbers.index(name)].is_identity]
        if bent:
            raise ProblemError(
                f"the budget names {bent[0]!r}, which the model measures on a curved scale; give the budget "
                "as one number, or fit the model with marginals='gaussian'"
            )
        return found

    def _noise(self, state: State) -> Noise | None:
        """What the ball depends on when a feature may change that must not now."""
        if self.terms.noise_on == "all" or isinstance(self.budget, Mapping):
            return None
        return Noise(self.budget, numbers_network(self.networks[0], state).dag.smallest_first_order)

    def _exact(self) -> tuple[int, ...]:
        """The features that land exactly."""
        if isinstance(self.budget, Mapping):
            return tuple(j for j in range(len(self.numbers)) if j not in self.budget)
        return self.constraints.kept if self.terms.noise_on == "changeable" else ()


def _curved(warps: tuple[Warp, ...]) -> tuple[Warp, ...]:
    """The scales of the numbers; none at all where each is its own."""
    return () if all(warp.is_identity for warp in warps) else tuple(warps)


def positioned(budget: Any, features: Sequence[Any]) -> Budget:
    """A budget by feature name as one by position; features that cannot miss are left out.

    Examples
    --------
    >>> positioned({"income": 500, "weight": (1, 2)}, ["age", "income", "weight"])
    {1: (500.0, 500.0), 2: (1.0, 2.0)}
    """
    if not isinstance(budget, Mapping):
        size = _size(budget, "the budget")
        if 0 < size < SMALLEST_BUDGET:
            raise DataError(f"the budget must be 0 or at least {SMALLEST_BUDGET:g}, not {budget!r}")
        return size
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
