"""An Explanation as words and rounded numbers; every face prints this and computes nothing."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, cast

from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.broken import broken_words
from surefoot.explain.result.cautions import HALF, TAIL
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.words import (
    allowed_words,
    miss_words,
    norm_words,
    question_words,
    standing_words,
)
from surefoot.formats import first_parts, in_list, number, one_line, part, share
from surefoot.problem.question import Question
from surefoot.problem.requirements import Away, Odds
from surefoot.status import Status
from surefoot.ui.plots.values import Values, is_change, is_cost
from surefoot.ui.report.lever_words import lever_words

MOST_NAMED = 12  # in one line; ten times as many would fill a screen
T = TypeVar("T")
SMALL_GAP = 0.05  # with a larger one a distance is not called the smallest
UNUSUAL = 2.0  # z-scores beyond this are marked
RARE = 0.05  # categories that are less probable are marked, as z-scores beyond two are about as rare


@dataclass(frozen=True)
class Change:
    """One feature's change, ready to print."""

    feature: str
    depends_on: str
    start: str
    end: str
    deviations: str
    size: float
    expected_before: str
    expected_after: str
    z_score: str
    unusual: bool
    unit: str = ""

    @property
    def name(self) -> str:
        """The feature and its unit."""
        return f"{self.feature} ({self.unit})" if self.unit else self.feature


@dataclass(frozen=True)
class Move:
    """The change of one category, ready to print."""

    feature: str
    depends_on: str
    start: str
    counted_as: str  # the value of the model that stands for it
    end: str
    price: str
    expected_before: str
    expected_after: str
    unusual: bool


@dataclass(frozen=True)
class Summary:
    """What a reader wants to know, in order.

    Parameters
    ----------
    title : str
        Which row.
    status : str
    found : bool
        Whether there is a counterfactual.
    headline : str
        The decision now and after the change.
    outcome : str
        Why the search stopped.
    changes : tuple of Change
        The numbers that change, largest first.
    to_do : str
        What to move and what follows; "" where the distance does not tell them apart.
    note : str
        What else there is to say of the change: what gave way for it, how it differs from earlier answers,
        and which rules today's row breaks.
    cautions : tuple of str
    assurances : tuple of str
        What is proven.
    question : str
        What was asked; "" where the request was invalid.
    allowed : tuple of str
        What was allowed, as it was declared.
    kept : str
        Which features stay because a person cannot change them, and how to free them; "" for none.
    preset : str
        What the preset means; "" where the file does not say which one was used.
    facts : tuple of (str, str)
        The small print.
    moves : tuple of Move
        The categories that change.
    """

    title: str
    status: str
    found: bool
    headline: str
    outcome: str
    changes: tuple[Change, ...]
    to_do: str
    note: str
    cautions: tuple[str, ...]
    assurances: tuple[str, ...]
    question: str
    allowed: tuple[str, ...]
    kept: str
    preset: str
    facts: tuple[tuple[str, str], ...]
    moves: tuple[Move, ...] = ()

    @property
    def longest(self) -> float:
        """The largest change, against which bars are drawn."""
        return max((abs(change.size) for change in self.changes), default=1.0)


def summary_of(explanation: Explanation) -> Summary:
    """Put an explanation into words."""
    changes, moves = _changes(explanation)
    asked = explanation.question
    found = Summary(
        title="" if explanation.row is None else f"Row {explanation.row}",
        status=str(explanation.status).replace("_", " "),
        found=explanation.counterfactual is not None,
        headline=_headline(explanation),
        outcome=explanation.outcome,
        changes=changes,
        to_do=lever_words(explanation) if is_change(explanation) else "",
        note=" ".join(filter(None, (_note(explanation), broken_words(asked, is_change(explanation))))),
        cautions=explanation.cautions,
        assurances=_assurances(explanation),
        question=question_words(asked, explanation.targets) if isinstance(asked, Question) else "",
        allowed=allowed_words(asked) if isinstance(asked, Question) else (),
        kept=explanation.kept,
        preset=explanation.preset,
        facts=_facts(explanation),
        moves=moves,
    )
    return _harmless(found)


def _harmless(value: T) -> T:
    """The same with every text on one line, whatever names are in it."""
    found: Any = value
    if isinstance(value, str):
        found = value if value.isprintable() else one_line(value)
    elif isinstance(value, tuple):
        found = tuple(map(_harmless, value))
    elif isinstance(value, Summary | Change | Move):
        found = replace(
            value, **{field.name: _harmless(getattr(value, field.name)) for field in fields(value)}
        )
    return cast(T, found)


def overview_of(batch: Explanations) -> list[tuple[str, str]]:
    """What a reader wants to know of a batch: pairs of a heading and its text."""
    lines = [("rows", f"{len(batch):,}")]
    lines += [(status.replace("_", " "), str(count)) for status, count in batch.counts().items()]
    moved = [e for e in batch.found if is_change(e)]
    if not moved:
        return lines
    return [
        *lines,
        ("median distance", number(statistics.median(e.distance for e in moved))),
        ("largest gap to the proven bound", f"{max(e.gap for e in moved) * 100:.2f} %"),
        *([("least coverage", part(min(e.coverage for e in moved)))] if moved[0].asks_for_robustness else []),
        *_least_probability(moved),
        ("with a caution", str(sum(bool(e.cautions) for e in batch))),
    ]


def presets_of(batch: Iterable[Explanation]) -> list[str]:
    """What the presets of some answers mean, each once; where they differ, of how many rows."""
    counts = Counter(one_line(e.preset) for e in batch if e.preset)
    if len(counts) < 2:
        return list(counts)
    return [f"Asked of {n:,} row{'s' if n > 1 else ''}. {text}" for text, n in counts.items()]


def _least_probability(moved: list[Explanation]) -> list[tuple[str, str]]:
    least = min(e.worst_probability for e in moved)
    asked = _decision_value(moved[0]) is None
    return [("least probability at a worst error found", share(least))] if asked else []


def _headline(e: Explanation) -> str:
    if e.factual_class is None:
        return ""
    if _decision_value(e) is not None:
        return _headline_without_probabilities(e)
    now = f"Decided {e.factual_class}: the probability of {e.target} is {share(e.factual_probability)}"
    if e.status is Status.ALREADY_TARGET:
        return _already(e, now)
    if e.counterfactual is None:
        return f"{now}."
    if e.factual_class == e.target and e.advice:
        reached = f"{share(e.probability)}{standing_words(e.probability, e.question)}"
        return f"{e.advice} With it the probability of {e.target} is {reached}."
    after = f"With the change below it is {share(e.probability)}"
    if e.factual_class == e.target and e.factual_probability >= e.threshold:
        return f"{now}, but the row does not meet all that was asked. {after}, and all of it is met."
    if e.decision == e.target:
        return f"{now}. {after}{standing_words(e.probability, e.question)}, and the decision is {e.target}."
    return f"{now}. {after}: the threshold of {share(e.threshold)}, though the decision is {e.decision}."


def _decision_value(e: Explanation) -> float | None:
    """What a model without probabilities was asked for; None for one with them."""
    if not isinstance(e.question, Question) or not math.isnan(e.question.threshold):
        return None
    return e.question.decision


def _headline_without_probabilities(e: Explanation) -> str:
    now = f"Decided {e.factual_class}"
    if e.status is Status.ALREADY_TARGET:
        unsafe = e.asks_for_robustness and e.coverage < 1
        return f"{now}, but not safely." if unsafe else f"{now}. Nothing needs to change."
    if e.counterfactual is None:
        return f"{now}."
    return f"{now}. With the change below the decision is {e.decision}."


def _already(e: Explanation, now: str) -> str:
    enough = f", which reaches the threshold of {share(e.threshold)}"
    if e.factual_class == e.target:
        enough = standing_words(e.factual_probability, e.question)
    if e.asks_for_robustness and e.coverage < 1:
        return f"{now}{enough}, but not safely."
    return f"{now}{enough}. Nothing needs to change."


def _note(e: Explanation) -> str:
    """What else there is to say of a change, unless the headline or a caution says it already."""
    said = e.factual_class == e.target or e.status is not Status.OPTIMAL or not is_change(e)
    return "" if said else e.advice


def _assurances(e: Explanation) -> tuple[str, ...]:
    if not is_change(e):
        return _stable(e) if e.counterfactual is not None else ()
    found = [_robust(e), *_in_own_units(e), _smallest(e)]
    if e.density_percentile >= TAIL:
        found.append(
            f"Plausible: more typical of class {e.target} than {e.density_percentile:.0f} % of its cases."
        )
    return (*found, *_stable(e))


def _stable(e: Explanation) -> tuple[str, ...]:
    """Under how many refits the answer holds; where that is few, a caution says it."""
    judged = e.model_share
    if judged is None or judged.share < HALF:
        return ()
    said = f"Stable: the answer also holds under {judged}"
    if not judged.bound:
        return (f"{said}, all of which the search had to satisfy.",)
    return (f"{said}; of all such models under at least {share(judged.bound)} (95 % confidence).",)


def _smallest(e: Explanation) -> str:
    gap = f"{e.gap * 100:.2f} %" if math.isfinite(e.gap) else "unknown"
    small, what, smaller = (
        ("Cheapest", "cost", "cheaper") if is_cost(e) else ("Smallest", "distance", "smaller")
    )
    bound = f"no change {smaller} than {number(e.lower_bound)} is enough{_for_any(e)}{_among(e)} (gap {gap})"
    if e.status is Status.OPTIMAL and e.gap <= SMALL_GAP:
        return f"{small}: the {what} is {number(e.distance)}{_priced(e)}, and {bound}."
    return f"{what.capitalize()}: {number(e.distance)}{_priced(e)}; {bound}."


def _for_any(e: Explanation) -> str:
    """Of the nearest of several targets: what else a smaller change would not be enough for."""
    names = [str(target) for target in e.targets]
    if len(names) == 1:
        return ""
    return f" for {', '.join(names[:-1])} or {names[-1]}"


def _among(e: Explanation) -> str:
    """Of a later alternative: among which answers it is the smallest, as an earlier one may be nearer."""
    if not isinstance(e.question, Question):
        return ""
    keeping = e.question.declared.get("keeping") or ()
    # That one of some features stays follows where one of fewer of them does.
    needed = [one for one in keeping if not any(set(other) < set(one) for other in keeping)]
    kept = list(dict.fromkeys(_left(list(map(str, names))) for names in needed))
    same = "as it is" if len(kept) == 1 else "as they are"
    found = [f"that leave {' and '.join(kept)} {same}"] if kept else []
    away = [r.distance for r in e.question.requirements if isinstance(r, Away)]
    found += [f"at least {max(away):g} away from each earlier answer"] if away else []
    return f" among those {' and '.join(found)}" if found else ""


def _left(names: list[str]) -> str:
    """What stays: a feature, or one of several."""
    texts = [in_list(name) for name in names]
    return texts[0] if len(texts) == 1 else f"at least one of {first_parts(texts, MOST_NAMED, ', ')}"


def _priced(e: Explanation) -> str:
    """How much of the distance is the price of categories."""
    values = Values(e)
    moved, price = values.moved_categories, values.total_price
    if not moved:
        return ""
    who = "the changed category" if len(moved) == 1 else f"the {len(moved)} changed categories"
    if price == 0:
        return f" ({who} {'costs' if len(moved) == 1 else 'cost'} nothing)"
    if number(price) == number(e.distance):
        return f" (all of it the price of {who})"
    return f" ({number(price)} of it the price of {who})"


def _in_own_units(e: Explanation) -> list[str]:
    """What the budget is in own units, where that depends on the place."""
    errors = Values(e).errors()
    if not errors:
        return []
    what = f"{e.budget:g} standard deviations, at the values after the change, are"
    return [f"In own units: {what} {first_parts(list(errors), MOST_NAMED)}."]


def _robust(e: Explanation) -> str:
    if not e.asks_for_robustness:
        return "Not robust: without a budget the change has to be carried out exactly as it is stated."
    off, mixed = miss_words(e.question), bool(Values(e).choices)
    where = (
        ""
        if isinstance(e.budget, dict)
        else f" ({norm_words(e.question)}{' of the numbers' if mixed else ''})"
    )
    value = _decision_value(e)
    kept_decision = e.threshold >= 0.5 if value is None else value >= 0
    kept = f"the decision stays {e.target}" if kept_decision else "the threshold is kept"
    asked = e.question.requirements if isinstance(e.question, Question) else ()
    rivals = sum(isinstance(r, Odds) and r.model == 0 for r in asked)
    worst = f"the worst error found leaves a probability of {share(e.worst_probability)}"
    if isinstance(e.question, Question) and e.question.against == "all":
        kept = f"the probability of {e.target} stays at least {share(e.threshold)}"
    elif rivals > 1:  # the worst error is the worst against one of them
        least = f"leaves a probability of {share(e.worst_probability)} among all classes"
        worst = f"the error that comes nearest to another class {least}"
    if e.coverage >= 1:
        return f"Robust: with {off}{where} {kept}; this is proven{f', and {worst}' if value is None else ''}."
    name = "Nearly robust" if e.coverage > 0.9 else "Not proven robust"
    proven = f"is proven for {part(e.coverage)} of that size{f'; {worst}' if value is None else ''}"
    return f"{name}: that {kept} with {off}{where} {proven}."


def _changes(e: Explanation) -> tuple[tuple[Change, ...], tuple[Move, ...]]:
    """What changes: numbers and categories."""
    if not is_change(e):
        return (), ()
    values, lines = Values(e), e.expectations().to_dict("records")
    sizes = e.changes().set_index("feature")["in standard deviations"]
    return (
        tuple(
            _change(values, line, float(sizes[line["feature"]]))
            for line in lines
            if line["feature"] not in values.choices
        ),
        tuple(_move(values, line) for line in lines if line["feature"] in values.choices),
    )


def _change(values: Values, line: dict[Any, Any], size: float) -> Change:
    return Change(
        **_of_either_kind(values, line),
        deviations=f"{size:+.2f}",
        size=size,
        z_score=f"{line['z-score']:+.2f}",
        unusual=abs(line["z-score"]) > UNUSUAL,
        unit=values.unit(line["feature"]),
    )


def _move(values: Values, line: dict[Any, Any]) -> Move:
    return Move(
        **_of_either_kind(values, line),
        counted_as=values.counted_as(line["feature"]),
        price=f"{values.price(line['feature']):g}",
        unusual=line["expected after"] < RARE,
    )


def _of_either_kind(values: Values, line: dict[Any, Any]) -> dict[str, str]:
    """What is said of numbers and categories alike."""
    feature, e = line["feature"], values.explanation
    return {
        "feature": str(feature),
        "depends_on": str(line["depends on"]),
        "start": values.today(feature),
        "end": values.reached[feature],
        "expected_before": values.expected(feature, line["expected before"], e.factual_class),
        "expected_after": values.expected(feature, line["expected after"], e.target),
    }


def _measured(e: Explanation) -> str:
    """How changes are measured."""
    if is_cost(e):
        return f"cost, p = {e.norm:g}: standard deviations times prices"
    if e.whitening == "given":
        return f"length in the coordinates of a given matrix, p = {e.norm:g}"
    return f"Mahalanobis, p = {e.norm:g}, {e.whitening} whitening"


def _threshold(e: Explanation) -> str:
    """The threshold, and with what the target's probability is compared where that is not one class alone."""
    if not isinstance(e.question, Question) or len(e.question.rivals) < 2:
        return f"{e.threshold:g}"
    return f"{e.threshold:g} {'among all classes' if e.against == 'all' else 'against each other class'}"


def _facts(e: Explanation) -> tuple[tuple[str, str], ...]:
    budget = miss_words(e.question) if e.asks_for_robustness else "none"
    value = _decision_value(e)
    prices = ", plus the prices of changed categories" if Values(e).choices else ""
    facts = [
        ("status", str(e.status)),
        ("method", f"{e.method} ({e.backend})" if e.backend else e.method),
        ("distance", _measured(e) + prices),
        ("budget", budget),
        ("threshold", _threshold(e) if value is None else f"a decision value of {value:g}"),
    ]
    if e.counterfactual is not None:
        facts += [
            ("certified radius", number(e.certified_radius)),
            ("coverage", part(e.coverage)),
            ("violation", f"{e.violation:.2e}"),
            ("rounds", str(len(e.iterations))),
        ]
        if e.early_stop:
            facts.append(("early stop", "a violation within the tolerance is left"))
    return (*facts, ("seconds", f"{e.seconds:.3f}"), ("model", e.model))
