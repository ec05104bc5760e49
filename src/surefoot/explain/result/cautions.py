"""Cautions: what is proved may still be unwise to act on. Each has a code, and says what to do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.ask.row import class_position
from surefoot.explain.result.words import imputed_words, miss_words
from surefoot.formats import in_a_row, in_list, number, share
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier as Classifier
from surefoot.model.decision import numbers_network
from surefoot.model.holes import expected_values
from surefoot.model.mixed import Network, log_density
from surefoot.problem.answer import Answer
from surefoot.problem.question import Question
from surefoot.status import Status

if TYPE_CHECKING:
    from surefoot.explain.result.explanation import Explanation

Array = NDArray[np.float64]

TAIL = 1.0  # per cent of the target class's cases; below that a counterfactual is called untypical
HALF = 0.5  # of the refits of a model; an answer that fewer of them share deserves a caution
LARGE_BUDGET = 2.0  # standard deviations; ten times larger, and 5 for 0.05 would go unnoticed
FEW_ROWS = 30  # a class with fewer says little about its own spread
EXTREME = 3.0  # conditional standard deviations
EDGE = 1e-6  # of a range: values this near to its ends are at them
BEYOND = "beyond the training data. There"
SAME_DENSITY = 1e-9  # of a log density: rounding
# Standard deviations; nobody takes note of a smaller step. Ten times larger, and a step of half a standard
# deviation to the edge of the data goes without a word.
NOTICEABLE = 0.05
# Those that follow from question and answer alone.
OWN_CODES = ("imputed", "not_finished", "untypical", "not_safe", "unstable", "large_budget")
CODES = (
    *OWN_CODES, "against_means", "outside_range", "unlike_training", "one_extreme_value", "edge_of_data",
    "few_rows", "below_baseline",
)  # fmt: skip


class Caution(str):
    """A sentence with a code that programs can read.

    Parameters
    ----------
    code : str
        One of ``surefoot.explain.result.cautions.CODES``.
    text : str

    Examples
    --------
    >>> caution = Caution("few_rows", "Class 1 has 12 rows.")
    >>> caution.code, str(caution)
    ('few_rows', 'Class 1 has 12 rows.')
    """

    code: str

    def __new__(cls, code: str, text: str) -> Caution:
        """A sentence with its code."""
        found = super().__new__(cls, text)
        found.code = code
        return found

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.code, str(self)


def own_cautions(e: Explanation) -> list[Caution]:
    """The cautions that follow from question and answer alone."""
    found = []
    if _asks_for_too_much(e):
        words = (
            f"The budget is {miss_words(e.question)}: few rows differ from each other by more. It is "
            "measured in standard deviations; 0.05 is a usual value."
        )
        found.append(Caution("large_budget", words))
    if e.counterfactual is None:
        return found
    if isinstance(e.question, Question) and imputed_words(e.question):
        found.append(Caution("imputed", imputed_words(e.question)))
    if e.status not in (Status.OPTIMAL, Status.ALREADY_TARGET):
        found.append(Caution("not_finished", f"{e.message} {e.advice}".strip()))
    if e.distance > 0 and e.density_percentile < TAIL:
        few = "hardly any" if e.density_percentile < 0.05 else f"only {e.density_percentile:.1f} %"
        words = (
            f"The counterfactual is untypical of class {e.target}: {few} of the cases of that class "
            "are less typical (the tail). Ask for plausible answers."
        )
        found.append(Caution("untypical", words))
    if e.asks_for_robustness and e.coverage < 1:
        found.append(Caution("not_safe", _not_safe(e)))
    if e.model_share is not None and e.model_share.share < HALF:
        found.append(Caution("unstable", f"It holds under only {e.model_share}. {_steadier(e)}"))
    return found


def _asks_for_too_much(e: Explanation) -> bool:
    """Whether the budget is larger than differences between rows."""
    budget = e.question.budget
    if not isinstance(e.question, Question) or e.whitening == "given":
        return False
    if isinstance(budget, Mapping):
        sizes = [max(pair) / float(e.context.unit[j]) for j, pair in budget.items()]
        return max(sizes, default=0.0) > LARGE_BUDGET
    return budget > LARGE_BUDGET


def _steadier(e: Explanation) -> str:
    """What to do about an answer that other rows of the same kind would have undone."""
    ask = "with a larger budget" if e.asks_for_robustness else "with a budget"
    refits = e.model_share
    if refits is None or not refits.kept or len(e.question.models) > 1:
        return f"Ask for an answer that withstands more: {ask}, or under more models."
    return f"Ask for an answer that holds under all of them, with models={refits.refits}, or {ask}."


def _not_safe(e: Explanation) -> str:
    """That errors within the budget may undo the decision, with the worst one found."""
    size = miss_words(e.question)
    if e.violation > 0 and not math.isnan(e.worst_probability):
        lowered = f"can lower the probability of {e.target} to {share(e.worst_probability)}"
        return f"Not safe: {size} {lowered}."
    return f"Not proven safe: it is not proven that the decision withstands {size}."


def model_cautions(clf: Classifier, question: Question, answer: Answer, unit: Array) -> tuple[Caution, ...]:
    """The cautions that need the model: about the data behind it, the row, and the change."""
    found = [*_about_model(clf, question), *_about_row(clf, question)]
    if answer.point is not None:
        found += _about_change(clf, question, answer, unit)
    return tuple(found)


def _about_model(clf: Classifier, question: Question) -> Iterator[Caution]:
    labels = clf.classes_.tolist()
    for label in dict.fromkeys((question.factual_class, question.target)):
        rows = clf.class_count_[labels.index(label)]
        if rows < FEW_ROWS and clf.n_rows_ > len(labels):  # otherwise nobody counted them
            yield Caution(
                "few_rows",
                f"Class {label} has {rows:.0f} training rows: its averages and spreads are guesses. Fit the "
                "model to more rows before anyone acts on this.",
            )
    judged = getattr(clf, "judged_", None)
    if judged is not None and judged["accuracy"] < judged["majority"]:
        yield Caution(
            "below_baseline",
            f"The model is right for {share(judged['accuracy'])} of rows that it has not seen, less often "
            f"than always saying the same ({share(judged['majority'])}). Mend the model first: see "
            "surefoot.diagnose.",
        )


def _about_row(clf: Classifier, question: Question) -> Iterator[Caution]:
    low, high = clf.feature_range_[:, list(question.numbers)]
    x = question.factual
    for j in np.flatnonzero((x < low) | (x > high)):
        side = f"below {number(low[j])}" if x[j] < low[j] else f"above {number(high[j])}"
        yield Caution(
            "outside_range",
            f"{question.number_names[j]} is {number(x[j])}, {side}, where no training row lies. Check the "
            "value; if it is right, the model has nothing to go by.",
        )
    z, codes = question.warped(x)[None], np.array([question.state], dtype=np.intp)
    lowest = clf.density_percentiles_[:, 0]
    floors = lowest - SAME_DENSITY * np.maximum(1.0, np.abs(lowest))
    each = zip(clf.networks_, floors.tolist(), strict=True)
    if all(log_density(network, z, codes)[0] < floor for network, floor in each):  # mostly the first is not
        yield Caution(
            "unlike_training",
            "The row is less like either class than any training row. Check its values; decisions about such "
            "rows are extrapolations.",
        )


def _about_change(clf: Classifier, question: Question, answer: Answer, unit: Array) -> Iterator[Caution]:
    assert answer.point is not None
    now, then = question.warped(question.factual), question.warped(answer.point)
    steps = (then - now) / unit
    here, there = (class_means(clf, label) for label in (question.factual_class, question.target))
    farther = np.abs(then - there) - np.abs(now - there) > NOTICEABLE * unit
    differ = np.abs(there - here) > NOTICEABLE * unit  # where they hardly do, neither way is that of a class
    yield from _against_means(question, farther & differ & ((there - here) * steps < 0))
    yield from _edges(clf, question, answer.point, steps)
    if (answer.point != question.factual).any():
        yield from _extremes(clf, question, answer, now, then)


def _against_means(question: Question, against: NDArray[np.bool_]) -> Iterator[Caution]:
    names = [in_list(question.number_names[j]) for j in np.flatnonzero(against)]
    plausible = "" if "plausible" in question.declared else ", or ask for plausible answers"
    if names:
        yield Caution(
            "against_means",
            f"{in_a_row(names)} {'moves' if len(names) == 1 else 'move'} away from what is usual in class "
            f"{question.target}. If that makes no sense, say so with actions{plausible}.",
        )


def _edges(clf: Classifier, question: Question, point: Array, steps: Array) -> Iterator[Caution]:
    """Numbers that move to the edge of the data, or beyond it, by a noticeable step."""
    low, high = clf.feature_range_[:, list(question.numbers)]
    near = EDGE * (high - low)
    falls, rises = steps < -NOTICEABLE, steps > NOTICEABLE
    beyond = (falls & (point < low)) | (rises & (point > high))
    at = ~beyond & ((falls & (point <= low + near)) | (rises & (point >= high - near)))
    for which, where in ((at, "where the training data end. Farther out"), (beyond, BEYOND)):
        names = [in_list(question.number_names[j]) for j in np.flatnonzero(which)]
        if names:
            yield Caution(
                "edge_of_data",
                f"{in_a_row(names)} {'ends' if len(names) == 1 else 'end'} {where} the model knows nothing: "
                "look for another way, with actions or alternatives.",
            )


def _extremes(
    clf: Classifier, question: Question, answer: Answer, now: Array, then: Array
) -> Iterator[Caution]:
    """Numbers that the change puts far from what their parents predict, and on which the decision hangs.

    One that was as far from it before is not of the change's making.
    """
    t = clf.classes_.tolist().index(question.target)
    network = numbers_network(clf.networks_[t], answer.state)
    expected, deviations = network.expected(then), np.sqrt(network.variances)
    scores = np.abs(then - expected) / deviations
    before = np.abs(now - network.expected(now)) / deviations
    for j in np.flatnonzero((scores > EXTREME) & (scores > before + NOTICEABLE)):
        usual = then.copy()
        usual[j] = expected[j]
        x = question.unwarped_values(usual)
        if class_position(clf, x, answer.state) != t:
            keep = ", or keep it as it is" if then[j] != now[j] else ""
            yield Caution(
                "one_extreme_value",
                f"The decision hangs on {question.number_names[j]}, {scores[j]:.1f} standard deviations "
                f"from what the other features predict. Ask for plausible answers{keep}.",
            )


def class_means(clf: Classifier, label: Any) -> Array:
    """The mean of each number in a class, on its scale."""
    network = clf.networks_[clf.classes_.tolist().index(label)]
    return _means(network, clf.schema_.n_numbers, clf.schema_.n_categories)


@lru_cache(maxsize=64)  # a batch asks for the same few again and again
def _means(network: Network, n: int, k: int) -> Array:
    holes = np.full((1, n), np.nan), np.full((1, k), -1, dtype=np.intp)
    return np.asarray(expected_values(network, *holes)[0][0])
