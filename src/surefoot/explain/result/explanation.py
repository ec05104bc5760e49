"""Explanation: a question, its answer, and what is worth knowing about both, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.explain.ask.dates import with_dates
from surefoot.explain.ask.refusal import Refusal
from surefoot.explain.result.best_words import best_words
from surefoot.explain.result.cautions import Caution, own_cautions
from surefoot.explain.result.changes import changes_table, expectations_table, largest_first
from surefoot.explain.result.context import Context, OtherTarget
from surefoot.explain.result.model_share import ModelShare
from surefoot.explain.result.words import kept_words, preset_words
from surefoot.formats import one_line
from surefoot.problem.answer import Answer, Round
from surefoot.problem.question import Question
from surefoot.status import Status
from surefoot.views import view

if TYPE_CHECKING:
    from surefoot.explain.answer.region import Region
    from surefoot.explain.result.levers import Levers
    from surefoot.explain.result.reasons import Reasons

Array = NDArray[np.float64]

T = TypeVar("T")


class Read(property, Generic[T]):
    """A property that reads an attribute of a part: ``gap = Read[float]("context.gap", "What it is.")``."""

    def __init__(self, path: str, doc: str) -> None:
        super().__init__(attrgetter(path), doc=doc)

    if TYPE_CHECKING:

        def __get__(self, e: Any, owner: type | None = None) -> T: ...  # type: ignore[override]


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
    made_by : CounterfactualExplainer, optional
        Who can say more about it: `reasons` and `enough` ask there. It goes neither into files nor into
        copies for other processes.
    stated_reasons : Reasons, optional
        Reasons that were asked for with the explanation, and go into its file.
    region : Region, optional
        What is enough, where that came with the explanation; see `enough`.
    others : tuple of OtherTarget
        Where the nearest of several targets was asked for: the targets that are not nearer.

    The names below are properties that read the first three.
    """

    question: Question | Refusal
    answer: Answer
    context: Context
    searched_with: tuple[Any, ...] = ()
    made_by: Any = field(default=None, compare=False)
    stated_reasons: Reasons | None = None
    region: Region | None = None
    others: tuple[OtherTarget, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "made_by": None}

    status = Read[Status]("answer.status", "Why the search stopped.")
    message = Read[str]("answer.status.sentence", "The same as a sentence.")
    advice = Read[str](
        "answer.advice",
        "What else a person should know: ways out, why a request is invalid, the solver's words.",
    )
    conflict = Read[tuple[str, ...]](
        "answer.conflict",
        "Where there is no counterfactual: constraints that together leave none, each of them needed.",
    )
    factual_class = Read[Any]("question.factual_class", "Label that is predicted for the factual.")
    target = Read[Any]("question.target", "Label that is wanted.")
    decision = Read[Any](
        "context.decision",
        "Label predicted at the counterfactual: the target, unless the threshold asks for less.",
    )
    factual_probability = Read[float]("context.factual_probability", "P(target) at the factual.")
    probability = Read[float]("context.probability", "P(target) at the counterfactual.")
    worst_probability = Read[float](
        "context.worst_probability",
        "P(target) at the worst perturbation found: the one that lowers the odds against a rival most.",
    )
    distance = Read[float](
        "context.distance",
        "Mahalanobis-lp distance of the change, or its cost; with the prices of changed categories.",
    )
    lower_bound = Read[float](
        "answer.lower_bound",
        "No allowed change is smaller, whichever target it leads to; infinite where there is none at all.",
    )
    gap = Read[float]("context.gap", "(distance - lower_bound) / distance.")
    norm = Read[float]("question.norm", "The p of the distance.")
    whitening = Read[str]("question.whitening", "Name of the coordinates in which distances are measured.")
    threshold = Read[float]("question.threshold", "The probability that was asked for.")
    certified_radius = Read[float]("answer.radius", "Within it every error keeps the decision; proven.")
    coverage = Read[float]("context.coverage", "Share of the budget that the certified radius covers.")
    violation = Read[float](
        "context.violation",
        "The paper's phi at the end: above zero if an error within the budget undoes the decision.",
    )
    early_stop = Read[bool]("context.early_stop", "Whether 0 < violation <= tol.")
    tol = Read[float]("context.tol", "The paper's epsilon.")
    parents = Read[tuple[tuple[int, ...], ...]](
        "context.parents", "The features on which each feature depends."
    )
    density_percentile = Read[float](
        "context.density_percentile",
        "Share, in per cent, of the target's training rows that are less typical of it; of the cases that "
        "the model expects, where it was adopted without its data.",
    )
    certificate = Read[dict[str, Any] | None](
        "answer.certificate", "What proves lower bound and radius, for `surefoot.verify`."
    )
    iterations = Read[tuple[Round, ...]]("answer.rounds", "One record for each round of the search.")
    seconds = Read[float]("answer.seconds", "How long all of it took.")
    search_seconds = Read[float](
        "answer.search_seconds", "How long the search took, without the reasons why there is no answer."
    )
    best_probability = Read[float](
        "answer.best_probability",
        "Where there is no answer: the highest P(target) that an allowed change was found to reach. Against "
        "the strongest rival, under each model of the question, at the worst error within the budget; all "
        "other requirements hold. Not a number where it is not known.",
    )
    best_probability_bound = Read[float](
        "answer.best_probability_bound",
        "No allowed change reaches this probability; proven, and part of what `verify` checks.",
    )
    method = Read[str]("context.method", "How it was searched for.")
    backend = Read[str]("answer.backend", "The solver.")
    row = Read[Any]("context.row", "What the row is called in the table it comes from.")
    model_share = Read[ModelShare | None](
        "context.model_share",
        "Under how many refits of the model the answer holds; None where there are none.",
    )

    @property
    def targets(self) -> tuple[Any, ...]:
        """The labels of which the nearest was asked for, the one that was found first."""
        return (self.target, *(other.question.target for other in self.others))

    @property
    def against(self) -> str:
        """``"all"`` where the threshold is one among all classes, ``"each"`` where against each rival."""
        return self.question.against if isinstance(self.question, Question) else "each"

    @property
    def outcome(self) -> str:
        """Message and advice; where there is no answer, the highest probability that can be reached too."""
        return " ".join(filter(None, (self.message, best_words(self), self.advice)))

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
    def budget(self) -> Any:
        """The paper's gamma; or a dict of feature -> (down, up) in the features' own units."""
        budget = self.question.budget
        if isinstance(budget, Mapping):
            names = self.question.number_names
            return {names[j]: pair for j, pair in budget.items()}
        return float(budget)

    @property
    def asks_for_robustness(self) -> bool:
        """Whether the change may be carried out with errors."""
        budget = self.question.budget
        return bool(budget) if isinstance(budget, Mapping) else budget > 0

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
    def model(self) -> str:
        """Fingerprint of the classifier."""
        return self.question.models[0]

    def changes(self) -> pd.DataFrame:
        """Feature by feature: from, to, difference, and that in standard deviations; largest first.

        Categories come by name, those that change first; they have no difference.
        """
        return changes_table(self)

    @property
    def changed(self) -> list[Any]:
        """The features that change, the largest change first."""
        order, number = largest_first(self)
        return [self.question.features[j] for j in order[:number]]

    def expectations(self) -> pd.DataFrame:
        """Whether the change is coherent: what the network expects of each feature that changes.

        Before: the factual class, given the factual's parents. After: the target class, given the
        counterfactual's parents; the z-score is the deviation from that in conditional standard
        deviations, within about two for what is usual in the target class. Of a category that is expected
        which it is, with the probability stated.
        """
        return expectations_table(self)

    def levers(self) -> Levers:
        """What is moved on purpose and what follows; for distances along the graph (``whitening="dag"``)."""
        from surefoot.explain.result.levers import levers_of

        return levers_of(self)

    @cached_property
    def reasons(self) -> Reasons:
        """Why the row was decided as it was; see `CounterfactualExplainer.reasons`."""
        if self.stated_reasons is not None:
            return self.stated_reasons
        if self.made_by is None or not isinstance(self.question, Question):
            raise DataError(
                "this explanation comes without reasons: ask explainer.reasons(row, target) of a "
                "CounterfactualExplainer of its model"
            )
        found: Reasons = self.made_by.reasons(self.factual, self.target)
        return found

    def enough(
        self,
        classifier: Any = None,
        time_limit: float = 10.0,
        decimals: Mapping[Any, int] | None = None,
    ) -> Region:
        """The region around the answer that is enough: every combination of values in it keeps the decision.

        For each number that changes an interval, open where the data or a bound ends it; for each category
        that changes the values that do as well. Features that do not change stay as they are. Its sides grow
        evenly, in standard deviations, each as far as it goes: the shortest is as long as it can be, then the
        next, and so on. Ends are rounded inwards to short decimals. Once it is known, it goes into the file,
        with a proof that `verify` checks.

        Parameters
        ----------
        classifier : fitted classifier, optional
            The one that was explained, for an explanation that was read from a file.
        time_limit : float, default=10
            Seconds.
        decimals : dict of feature -> int, optional
            How many decimals the stated ends of a feature may have: they are rounded inwards, wherever that
            leaves something. Default: 2 for amounts of money. What is known already stays as it is.

        Examples
        --------
        >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
        >>> bank = datasets.load_banknote()
        >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
        >>> e = CounterfactualExplainer(clf, at_most=1).explain(bank.X.iloc[0])
        >>> e.enough().contains(e.counterfactual)
        True
        """
        if self.region is None:
            object.__setattr__(self, "region", self._enough(classifier, time_limit, decimals))
        assert self.region is not None
        return self.region

    def _enough(self, classifier: Any, seconds: float, decimals: Mapping[Any, int] | None) -> Region:
        from surefoot.explain.answer.enough import what_is_enough
        from surefoot.model.adoption import adopt

        question, point = self.question, self.answer.point
        if point is None or not isinstance(question, Question):
            raise DataError(
                f"there is no counterfactual around which something could be enough: {self.message}"
            )
        if classifier is None and self.made_by is None:
            raise DataError(
                "this explanation was read from a file: pass its classifier, e.enough(classifier)"
            )
        clf = self.made_by.classifier if classifier is None else adopt(classifier)
        if clf.fingerprint_ != question.models[0] or len(self.searched_with) != len(question.models) - 1:
            raise DataError("the explanation is about another classifier, or further models are missing")
        return what_is_enough(clf, self.searched_with, question, point, self.answer.state, seconds, decimals)

    @property
    def not_enough(self) -> str:
        """A sentence about a value just outside of what is enough, at which the target is not reached."""
        return self.enough().not_enough

    def with_reasons(self) -> Explanation:
        """The same with its reasons, which go into its file then; an invalid request has none."""
        return replace(self, stated_reasons=self.reasons) if isinstance(self.question, Question) else self

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reader should be warned of: sentences, each with a ``code`` that programs can read."""
        return (*own_cautions(self), *self.context.cautions)

    @property
    def preset(self) -> str:
        """What the preset of the question means, in words."""
        return preset_words(self.question) if isinstance(self.question, Question) else ""

    @property
    def kept(self) -> str:
        """Which features stay because a person cannot change them, and how to free them, in words."""
        return kept_words(self.question) if isinstance(self.question, Question) else ""

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
