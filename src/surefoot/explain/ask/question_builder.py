"""From a checked row to its Question, and to the Task that a search works on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError, SurefootWarning
from surefoot.explain.ask.asked import Asked, Noise
from surefoot.explain.ask.coordinates import coordinates
from surefoot.explain.ask.dates import plain_cell
from surefoot.explain.ask.differing import NOTHING, Differing, keeping_one
from surefoot.explain.ask.imputation import Filled
from surefoot.explain.ask.methods import Settings
from surefoot.explain.ask.plausible import Plausible, density_floor, near_expected
from surefoot.explain.ask.refits import RefittedModels
from surefoot.explain.ask.refusal import Refusal
from surefoot.explain.ask.row import as_numbers, class_position
from surefoot.explain.ask.target import chosen_target
from surefoot.explain.ask.task import Task
from surefoot.explain.ask.terms import EVEN, NO_MORE, Terms, positioned
from surefoot.explain.constraints.constraint_set import Allowed, ConstraintSet
from surefoot.explain.constraints.document import NO_PRESET, Preset
from surefoot.formats import listed
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.decision import numbers_network
from surefoot.problem.mixed import State
from surefoot.problem.question import Budget, Question
from surefoot.problem.requirements import Away, Decision, Odds, Probability, Required

Array = NDArray[np.float64]


class QuestionBuilder:
    """Makes questions about the rows of one fitted classifier, and keeps what they share."""

    def __init__(
        self,
        classifier: ConditionalGaussianNetworkClassifier,
        constraints: ConstraintSet,
        terms: Terms,
        *,
        method: str,
        settings: Settings,
        refits: RefittedModels | None = None,
        printable: bool = False,
        preset: Preset = NO_PRESET,
    ) -> None:
        self.printable = printable
        self.others = () if refits is None else refits.searched
        self.classifier, self.terms, self.plausible = classifier, terms, terms.plausible or Plausible()
        self.has_probability, self.labels = classifier.has_probability, classifier.classes_.tolist()
        self._refuse_idle_terms()
        self._refuse_against_all(method)
        self.method, self.settings = method, settings
        self.networks = classifier.networks_
        self.models = tuple(model.fingerprint_ for model in (classifier, *self.others))
        self.features = tuple(classifier.feature_labels_)
        self.schema, warps = classifier.schema_, tuple(classifier.warps_)
        self.warps = () if all(warp.is_identity for warp in warps) else warps
        self.numbers = tuple(self.features[j] for j in self.schema.numbers)
        self.whitening, self.matrix = coordinates(terms.whitening, self.numbers)
        if terms.distance != "cost" and constraints.priced:
            names = ", ".join(repr(name) for name in constraints.priced)
            said = "has a price, which counts" if len(constraints.priced) == 1 else "have prices, which count"
            unused = f"{names} {said} with distance='cost' only"
            warnings.warn(unused, SurefootWarning, stacklevel=5)  # where the explainer is made
            constraints = constraints.unpriced()
        self.constraints, self.declared = constraints, constraints.declared() | preset.declared()
        self.budget = self._positioned(terms.budget)
        self.exact = self._exact()
        if len(self.exact) == len(self.numbers):
            self.budget = 0.0  # nothing can miss
        self.shared: dict[Any, Any] = {}
        self.units = classifier.units_

    def asked(self, row: Filled, target: Any, label: Any, differing: Differing = NOTHING) -> Asked:
        """The question about a row; its label is what the row is called."""
        clf, terms = self.classifier, self.terms
        factual, state, imputed, written = row
        more = {
            "dates": [str(name) for name in self.schema.date_names],
            "units": self.units,
            "written": dict(written),
            "imputed": [str(name) for name in imputed],
            "plausible": terms.plausible and terms.plausible.declared(),
        }
        here = class_position(clf, factual, state)
        wanted = chosen_target(target, self.labels, here)
        question = Question(
            **self._about(factual, here),
            target=wanted,
            budget=self.budget,
            exact=self.exact,
            requirements=self.required(wanted, differing.away),
            declared=self.declared | differing.declared() | {key: said for key, said in more.items() if said},
            prices=self.constraints.prices if terms.distance == "cost" else None,
            **self._allowed(factual, state, wanted, differing)._asdict(),
        )
        self._refuse_curved_sums(question)
        posed = question.family(clf, *self.others, shared=self.shared)
        typical = self.plausible.share is not None
        percentiles = clf.density_percentiles_[self.labels.index(wanted)] if typical else None
        task = Task(posed, question, self.method, self.settings, self.printable)
        return Asked(label, task, self.constraints, self._noise(state), percentiles)

    def anywhere(self, factual: Array, state: State, target: Any, allowed: Allowed) -> Question:
        """Whether anything that is allowed has the target, however far from a row, if it is carried out well.

        Without errors and prices: where nothing has it, nothing has it with them.
        """
        return Question(
            **self._about(factual, class_position(self.classifier, factual, state)),
            target=target,
            budget=0.0,
            exact=(),
            requirements=self.required(target),
            **allowed._asdict(),
        )

    def _about(self, factual: Array, here: int) -> dict[str, Any]:
        """What all questions about a row have in common, whatever they ask."""
        return {
            "models": self.models,
            "features": self.features,
            "factual": factual,
            "factual_class": self.labels[here],
            "norm": self.terms.norm,
            "whitening": self.whitening,
            "matrix": self.matrix,
            "gap": float(self.settings.options.gap),
            "warps": self.warps,
        }

    def _refuse_curved_sums(self, question: Question) -> None:
        """Refuse to add up numbers on curved scales, and say how to make a model that can."""
        if not self.warps:
            return
        ways = [row for either in question.eithers for way in either.ways for row in way.rows]
        for row in (*question.domain.rows, *ways):
            terms = list(zip(self.numbers, row.coefficients, self.warps, strict=True))
            bent = [name for name, a, warp in terms if a and not warp.is_identity]
            if bent and row.feature is None:
                names = [name for name, a, _ in terms if a]
                raise ProblemError(
                    f"{row.name!r} adds up {listed(names)}, but the model measures {listed(bent)} on a "
                    f"curved scale; fit the model with plain={names!r}, which leaves their scales as they are"
                )

    def _allowed(self, factual: Array, state: State, target: Any, differing: Differing) -> Allowed:
        """What constraints allow, with what must differ from earlier answers and what is plausible."""
        found, deviations = self.constraints.allowed(factual, state), self.plausible.deviations
        kept = [keeping_one(one, self.features, self.schema.numbers, factual) for one in differing.keeping]
        near = () if deviations is None else near_expected(self.classifier, target, factual, deviations)
        return found._replace(eithers=(*found.eithers, *near), limits=(*found.limits, *kept))

    def required(self, target: Any, away: tuple[Away, ...] = ()) -> tuple[Required, ...]:
        """What every answer must reach: odds, a floor on its density, a distance from earlier answers."""
        return (*self._requirements(target), *away, *self._among_all(target))

    def _requirements(self, target: Any) -> tuple[Required, ...]:
        """The odds against every rival, what is plausible as a whole, and the odds under further models."""
        rivals = [c for c in self.labels if c != target]
        if self.has_probability:
            odds: list[Odds | Decision] = [Odds(target, c, float(self.terms.threshold)) for c in rivals]
        else:
            odds = [Decision(target, c, float(self.terms.decision)) for c in rivals]
        found: list[Required] = [*odds]
        if self.plausible.share is not None:
            found.append(density_floor(self.classifier, target, self.plausible.share))
        for number in range(1, len(self.models)):
            found += [replace(r, model=number) for r in odds]
        return tuple(found)

    @property
    def _is_among_all(self) -> bool:
        """Whether the threshold is one among all of more than two classes."""
        return self.terms.against == "all" and len(self.labels) > 2

    def _among_all(self, target: Any) -> tuple[Probability, ...]:
        """The probability among all classes, by every model."""
        if not self._is_among_all:
            return ()
        threshold = float(self.terms.threshold)
        return tuple(Probability(target, threshold, model=number) for number in range(len(self.models)))

    def _refuse_against_all(self, method: str) -> None:
        """Refuse a probability among more than two classes where there is none, or no search for it."""
        if not self._is_among_all:
            return
        if not self.has_probability:
            raise ProblemError("against='all' needs probabilities, which this model does not have")
        if method != "certified":
            raise ProblemError(f"against='all' needs method='certified', not {method!r}")

    def _refuse_idle_terms(self) -> None:
        """Refuse a threshold or decision value that the model cannot be asked for: it would be ignored."""
        if self.has_probability and self.terms.decision != NO_MORE:
            raise ProblemError("decision is for models without probabilities; use threshold for this one")
        if not self.has_probability and self.terms.threshold != EVEN:
            raise ProblemError(
                f"the model has no probabilities, so that threshold={self.terms.threshold:g} cannot be "
                "reached; use decision, a value of its decision function"
            )

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
        for j in found if isinstance(found, Mapping) and self.warps else ():
            if not self.warps[j].is_identity:
                raise ProblemError(
                    f"the budget names {self.numbers[j]!r}, which the model measures on a curved scale; give "
                    f"the budget as one number, or fit the model with plain={[self.numbers[j]]!r}"
                )
        return found

    def _noise(self, state: State) -> Noise | None:
        """What the ball depends on when a constraint on a feature is given up."""
        if self.terms.noise_on == "all" or isinstance(self.budget, Mapping):
            return None
        return Noise(self.budget, numbers_network(self.networks[0], state).dag.smallest_first_order)

    def _exact(self) -> tuple[int, ...]:
        """The features that land exactly."""
        if isinstance(self.budget, Mapping):
            return tuple(j for j in range(len(self.numbers)) if j not in self.budget)
        return self.constraints.kept if self.terms.noise_on == "changeable" else ()
