"""Explanation: a question, its answer, and what is worth knowing about both, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.explain.ask.refits import ModelShare
from surefoot.explain.result.cautions import Caution
from surefoot.explain.result.dates import with_dates
from surefoot.explain.result.words import imputed_words, miss_words
from surefoot.formats import in_list, one_line, share
from surefoot.problem.answer import Answer, Round
from surefoot.problem.question import Budget, Question
from surefoot.status import Status
from surefoot.views import view

if TYPE_CHECKING:
    from surefoot.explain.result.levers import Levers

Array = NDArray[np.float64]

TAIL = 1.0  # per cent of the target class's cases; below that a counterfactual is called untypical
UNCHANGED = 1e-6  # standard deviations; less is rounding


@dataclass(frozen=True, eq=False)
class Refusal:
    """What a request that is invalid says about its question.

    Parameters
    ----------
    models : tuple of str
        Fingerprint of the classifier.
    features : tuple
    factual : array of shape (n,)
        Not a number where the row has none.
    target : label
    budget, norm, whitening, threshold
        As in `Question`.
    factual_class : None
        Unknown.
    """

    models: tuple[str, ...]
    features: tuple[Any, ...]
    factual: Any
    target: Any
    budget: Budget
    norm: float
    whitening: str
    threshold: float
    factual_class: None = None

    @property
    def budget_radius(self) -> float:
        """The budget as a radius of the ball: 1 where it is given by feature."""
        return 1.0 if isinstance(self.budget, Mapping) else float(self.budget)


@dataclass(frozen=True, eq=False)
class Context:
    """What follows from question, answer and classifier; and where the row comes from.

    Parameters
    ----------
    factual_probability, probability, worst_probability : float
    distance, gap, coverage, violation : float
    early_stop : bool
    decision : label or None
    tol : float
        The paper's epsilon.
    unit : array of shape (n,)
    parents : tuple of tuples of int
    expected_before, expected_after, z_score : arrays or None
        Of the numbers.
    chance_before, chance_after : arrays or None
        Of the categories: how probable their values are, given their parents.
    density_percentile : float
    method : str
    row
        What the row is called in its table.
    cautions : tuple of Caution
        Those that need the model.
    model_share : ModelShare or None
    """

    factual_probability: float
    probability: float
    worst_probability: float
    distance: float
    gap: float
    coverage: float
    violation: float
    early_stop: bool
    decision: Any
    tol: float
    unit: Array
    parents: tuple[tuple[int, ...], ...]
    expected_before: Array | None = None
    expected_after: Array | None = None
    z_score: Array | None = None
    density_percentile: float = math.nan
    method: str = "certified"
    row: Any = None
    chance_before: Array | None = None
    chance_after: Array | None = None
    cautions: tuple[Caution, ...] = ()
    model_share: ModelShare | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The answer to "what would have to change?"; frozen, without any solver object.

    Parameters
    ----------
    question : Question or Refusal
        What was asked; a `Refusal` where the request was invalid.
    answer : Answer
        What was found, and what proves it.
    context : Context
        What follows from the two and the classifier.
    searched_with : tuple of classifiers
        Further models that the question names, for `verify`; a file only names them.

    The names below are properties that read the first three.
    """

    question: Question | Refusal
    answer: Answer
    context: Context
    searched_with: tuple[Any, ...] = ()

    @property
    def status(self) -> Status:
        """Why the search stopped."""
        return self.answer.status

    @property
    def message(self) -> str:
        """The same as a sentence."""
        return self.answer.status.sentence

    @property
    def advice(self) -> str:
        """What else a person should know: ways out, why a request is invalid, the solver's words."""
        return self.answer.advice

    @property
    def conflict(self) -> tuple[str, ...]:
        """Where there is no counterfactual: constraints that leave nothing together, none of them idle."""
        return self.answer.conflict

    @cached_property
    def factual(self) -> pd.Series:
        """The row that was asked about."""
        if isinstance(self.question, Question):
            return self._row(self.question.row(self.question.factual, self.question.state))
        return self._row(list(self.question.factual))

    @cached_property
    def counterfactual(self) -> pd.Series | None:
        """The row after the change, categories by name; None when there is none."""
        if self.answer.point is None:
            return None
        assert isinstance(self.question, Question)
        return self._row(self.question.row(self.answer.point, self.answer.state))

    @property
    def factual_class(self) -> Any:
        """Label that is predicted for the factual."""
        return self.question.factual_class

    @property
    def target(self) -> Any:
        """Label that is wanted."""
        return self.question.target

    @property
    def decision(self) -> Any:
        """Label predicted at the counterfactual: the target, unless the threshold asks for less."""
        return self.context.decision

    @property
    def factual_probability(self) -> float:
        """P(target) at the factual."""
        return self.context.factual_probability

    @property
    def probability(self) -> float:
        """P(target) at the counterfactual."""
        return self.context.probability

    @property
    def worst_probability(self) -> float:
        """P(target) at the worst perturbation found: the one that lowers the odds against a rival most."""
        return self.context.worst_probability

    @property
    def distance(self) -> float:
        """Mahalanobis-lp distance of the change, or its cost; with the prices of changed categories."""
        return self.context.distance

    @property
    def lower_bound(self) -> float:
        """No allowed change is smaller; infinite where there is none at all."""
        return self.answer.lower_bound

    @property
    def gap(self) -> float:
        """(distance - lower_bound) / distance."""
        return self.context.gap

    @property
    def budget(self) -> Any:
        """The paper's gamma; or a dict of feature -> (down, up) in the features' own units."""
        budget = self.question.budget
        if isinstance(budget, Mapping):
            names = self._number_names
            return {names[j]: pair for j, pair in budget.items()}
        return float(budget)

    @property
    def asks_for_robustness(self) -> bool:
        """Whether the change may be carried out with errors."""
        budget = self.question.budget
        return bool(budget) if isinstance(budget, Mapping) else budget > 0

    @property
    def norm(self) -> float:
        """The p of the distance."""
        return self.question.norm

    @property
    def whitening(self) -> str:
        """Name of the coordinates in which distances are measured."""
        return self.question.whitening

    @property
    def threshold(self) -> float:
        """The probability that was asked for."""
        return self.question.threshold

    @property
    def certified_radius(self) -> float:
        """Within it every error keeps the decision; proven."""
        return self.answer.radius

    @property
    def coverage(self) -> float:
        """Share of the budget that the certified radius covers."""
        return self.context.coverage

    @property
    def violation(self) -> float:
        """The paper's phi at the end: above zero if an error within the budget undoes the decision."""
        return self.context.violation

    @property
    def early_stop(self) -> bool:
        """Whether 0 < violation <= tol."""
        return self.context.early_stop

    @property
    def tol(self) -> float:
        """The paper's epsilon."""
        return self.context.tol

    @cached_property
    def unit(self) -> pd.Series:
        """Standard deviation of each feature in the factual class."""
        return self._series(self.context.unit)

    @cached_property
    def low(self) -> pd.Series:
        """Lower end of each feature in the search domain."""
        return self._series(self.question.domain.low if isinstance(self.question, Question) else None)

    @cached_property
    def high(self) -> pd.Series:
        """Upper end of each feature in the search domain."""
        return self._series(self.question.domain.high if isinstance(self.question, Question) else None)

    @property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """The features on which each feature depends."""
        return self.context.parents

    @cached_property
    def expected_before(self) -> pd.Series | None:
        """What the network of the factual class expects of each feature given its parents.

        Of a category: how probable its value is.
        """
        expected = self.context.expected_before
        return None if expected is None else self._series(expected, self.context.chance_before)

    @cached_property
    def expected_after(self) -> pd.Series | None:
        """What the network of the target expects of each feature of the counterfactual.

        Of a category: how probable its value is.
        """
        expected = self.context.expected_after
        return None if expected is None else self._series(expected, self.context.chance_after)

    @cached_property
    def z_score(self) -> pd.Series | None:
        """How far the counterfactual is from that, in conditional standard deviations of the target."""
        z = self.context.z_score
        return None if z is None else self._series(z)

    @property
    def density_percentile(self) -> float:
        """Share, in per cent, of the target's training rows that are less typical of it.

        Of the cases that the model expects, where it was adopted without its data.
        """
        return self.context.density_percentile

    @property
    def certificate(self) -> dict[str, Any] | None:
        """What proves lower bound and radius, for `surefoot.verify`."""
        return self.answer.certificate

    @property
    def iterations(self) -> tuple[Round, ...]:
        """One record for each round of the search."""
        return self.answer.rounds

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.answer.seconds

    @property
    def method(self) -> str:
        """How it was searched for."""
        return self.context.method

    @property
    def backend(self) -> str:
        """The solver."""
        return self.answer.backend

    @property
    def model(self) -> str:
        """Fingerprint of the classifier."""
        return self.question.models[0]

    @property
    def row(self) -> Any:
        """What the row is called in the table it comes from."""
        return self.context.row

    def changes(self) -> pd.DataFrame:
        """Feature by feature: from, to, difference, and that in standard deviations; largest first.

        Categories come by name, those that change first; they have no difference.
        """
        end = self.factual if self.counterfactual is None else self.counterfactual
        difference, deviations = self._moved()
        table = pd.DataFrame(
            {
                "feature": list(self.factual.index),
                "from": self.factual.to_numpy(),
                "to": end.to_numpy(),
                "difference": difference,
                "in standard deviations": deviations,
            }
        )
        order, _ = self._largest_first(end, deviations)
        return table.iloc[order].reset_index(drop=True)

    def _largest_first(self, end: pd.Series, deviations: Array) -> tuple[NDArray[np.intp], int]:
        """The places of the features, the largest change first, and how many of them change."""
        pairs = zip(self.factual.tolist(), end.tolist(), strict=True)
        differs = np.array([a != b for a, b in pairs], dtype=bool)
        moved = np.where(np.isnan(deviations), np.where(differs, np.inf, -1.0), np.abs(deviations))
        return np.argsort(-moved, kind="stable"), int(np.sum(moved > UNCHANGED))

    def _moved(self) -> tuple[Array, Array]:
        """Differences of the numbers, in their own units and in standard deviations of their scales."""
        names, question = len(self.question.features), self.question
        difference, deviations = np.full(names, np.nan), np.full(names, np.nan)
        if not isinstance(question, Question):
            return difference, deviations
        x0 = question.factual
        x = x0 if self.answer.point is None else self.answer.point
        with np.errstate(all="ignore"):
            difference[list(question.numbers)] = x - x0
            steps = question.warped(x) - question.warped(x0)
            deviations[list(question.numbers)] = steps / self.context.unit
        return difference, deviations

    @property
    def changed(self) -> list[Any]:
        """The features that change, the largest change first."""
        names = self.question.features
        return [names[j] for j in self._changed_places()]

    def _changed_places(self) -> NDArray[np.intp]:
        end = self.factual if self.counterfactual is None else self.counterfactual
        order, number = self._largest_first(end, self._moved()[1])
        return order[:number]

    def expectations(self) -> pd.DataFrame:
        """Whether the change hangs together: what the network expects of each feature that changes.

        Before: the factual class, given the factual's parents. After: the target class, given the
        counterfactual's parents; the z-score is the deviation from that in conditional standard
        deviations, within about two for what is usual in the target class. Of a category that is expected
        which it is, with the probability stated.
        """
        if self.counterfactual is None or self.z_score is None:
            raise DataError(f"there is no counterfactual to look at: {self.message}")
        names = list(self.factual.index)
        table = pd.DataFrame(
            {
                "feature": names,
                "depends on": [", ".join(in_list(names[j]) for j in group) for group in self.parents],
                "from": self.factual.to_numpy(),
                "expected before": self.expected_before.to_numpy(),  # type: ignore[union-attr]
                "to": self.counterfactual.to_numpy(),
                "expected after": self.expected_after.to_numpy(),  # type: ignore[union-attr]
                "z-score": self.z_score.to_numpy(),
            }
        )
        return table.iloc[self._changed_places()].reset_index(drop=True)

    def levers(self) -> Levers:
        """What is moved on purpose and what follows; for distances along the graph (``whitening="dag"``)."""
        from surefoot.explain.result.levers import levers_of

        return levers_of(self)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reader should be warned of: sentences, each with a ``code`` that programs can read."""
        return (*self._own_cautions(), *self.context.cautions)

    @property
    def model_share(self) -> ModelShare | None:
        """How many fresh refits of the model come to the same decision; None where none were asked for."""
        return self.context.model_share

    def _own_cautions(self) -> list[Caution]:
        """Those that follow from question and answer alone."""
        if self.counterfactual is None:
            return []
        found = []
        if isinstance(self.question, Question) and imputed_words(self.question):
            found.append(Caution("imputed", imputed_words(self.question)))
        if self.status not in (Status.OPTIMAL, Status.ALREADY_TARGET):
            found.append(Caution("not_finished", f"{self.message} {self.advice}".strip()))
        if self.distance > 0 and self.density_percentile < TAIL:
            few = "hardly any" if self.density_percentile < 0.05 else f"only {self.density_percentile:.1f} %"
            words = (
                f"The counterfactual is untypical of class {self.target}: {few} of the cases of that class "
                "are less typical (the tail). Ask for plausible answers."
            )
            found.append(Caution("untypical", words))
        if self.asks_for_robustness and self.coverage < 1:
            found.append(Caution("not_safe", self._not_safe()))
        return found

    def _not_safe(self) -> str:
        """That errors within the budget may undo the decision, with the worst one found."""
        size = miss_words(self.question)
        if self.violation > 0 and not math.isnan(self.worst_probability):
            lowered = f"can lower the probability of {self.target} to {share(self.worst_probability)}"
            return f"Not safe: {size} {lowered}."
        return f"Not proven safe: it is not proven that the decision withstands {size}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values only; infinite numbers become words, those that do not exist None."""
        from surefoot.explain.result.document import document

        return document(self)

    def to_json(self) -> str:
        """The same as JSON text, a line for each key."""
        from surefoot.explain.result.document import json_text

        return json_text(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        """Read what `to_json` wrote."""
        from surefoot.explain.result.document import read_json

        return read_json(text)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Explanation:
        """Read what `to_dict` gave."""
        from surefoot.explain.result.document import read_explanation

        return read_explanation(values)

    def __repr__(self) -> str:
        row = "" if self.row is None else f" of row {self.row}"
        return one_line(
            f"<Explanation{row}: {self.factual_class} -> {self.target}, {self.status}, "
            f"distance {self.distance:.4g}>"
        )

    def __str__(self) -> str:
        return str(view("explanation text", self))

    def _repr_html_(self) -> str:
        return str(view("explanation page", self))

    @property
    def _number_names(self) -> tuple[Any, ...]:
        question = self.question
        return question.number_names if isinstance(question, Question) else question.features

    def _row(self, values: list[Any]) -> pd.Series:
        """A row by feature: of numbers, or of numbers, dates and names."""
        names = pd.Index(list(self.question.features), tupleize_cols=False)
        values = with_dates(self.question, values)
        numbers = all(isinstance(v, float) for v in values)
        return pd.Series(values, names, dtype=float if numbers else object)

    def _series(self, values: Array | None, of_categories: Array | None = None) -> pd.Series:
        """Numbers by feature; not a number where there are none."""
        names = pd.Index(list(self.question.features), tupleize_cols=False)
        found = np.full(len(names), np.nan)
        if values is not None and isinstance(self.question, Question):
            found[list(self.question.numbers)] = values
            if of_categories is not None:
                found[[choice.feature for choice in self.question.choices]] = of_categories
        return pd.Series(found, names)
