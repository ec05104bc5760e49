"""An Explanation as words and rounded numbers; every face prints this and computes nothing."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from surefoot.explain.explanation import TAIL, Explanation
from surefoot.explain.explanations import Explanations
from surefoot.explain.words import NORMS, allowed_words, miss_words, question_words
from surefoot.formats import number, part, share
from surefoot.status import Status
from surefoot.waist.question import Question

SHOWN = 0.005  # standard deviations; smaller changes are counted, not listed
SMALL_GAP = 0.05  # with a larger one a distance is not called the smallest
UNUSUAL = 2.0  # z-scores beyond this are marked


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
        The features that change, largest first.
    smaller : str
        How many are not listed.
    assurances : tuple of str
        What is proven.
    cautions : tuple of str
    question : str
        What was asked; "" where the request was invalid.
    allowed : tuple of str
        What was allowed, as it was declared.
    facts : tuple of (str, str)
        The small print.
    """

    title: str
    status: str
    found: bool
    headline: str
    outcome: str
    changes: tuple[Change, ...]
    smaller: str
    assurances: tuple[str, ...]
    cautions: tuple[str, ...]
    question: str
    allowed: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]

    @property
    def longest(self) -> float:
        """The largest change, against which bars are drawn."""
        return max((abs(change.size) for change in self.changes), default=1.0)


def summary_of(explanation: Explanation) -> Summary:
    """Put an explanation into words."""
    changes = _changes(explanation)
    shown = tuple(c for c in changes if abs(c.size) >= SHOWN)
    left = len(changes) - len(shown)
    who = "1 more feature changes" if left == 1 else f"{left} more features change"
    smaller = f"{who} by less than {SHOWN:g} standard deviations" if left else ""
    asked = explanation.question
    return Summary(
        title="" if explanation.row is None else f"Row {explanation.row}",
        status=str(explanation.status).replace("_", " "),
        found=explanation.counterfactual is not None,
        headline=_headline(explanation),
        outcome=f"{explanation.message} {explanation.advice}".strip(),
        changes=shown,
        smaller=smaller,
        assurances=_assurances(explanation),
        cautions=explanation.cautions,
        question=question_words(asked) if isinstance(asked, Question) else "",
        allowed=allowed_words(asked) if isinstance(asked, Question) else (),
        facts=_facts(explanation),
    )


def overview_of(batch: Explanations) -> list[tuple[str, str]]:
    """What a reader wants to know of a batch: pairs of a heading and its text."""
    lines = [("rows", str(len(batch)))]
    lines += [(status.replace("_", " "), str(count)) for status, count in batch.counts().items()]
    moved = [e for e in batch.found if e.distance > 0]
    if not moved:
        return lines
    return [
        *lines,
        ("median distance", number(statistics.median(e.distance for e in moved))),
        ("largest gap to the proven bound", f"{max(e.gap for e in moved) * 100:.2f} %"),
        *([("least coverage", part(min(e.coverage for e in moved)))] if moved[0].asks_for_robustness else []),
        ("least probability at a worst error found", share(min(e.worst_probability for e in moved))),
        ("with a caution", str(sum(bool(e.cautions) for e in batch))),
    ]


def _headline(e: Explanation) -> str:
    if e.factual_class is None:
        return ""
    now = f"Decided {e.factual_class}: the probability of {e.target} is {share(e.factual_probability)}"
    if e.status is Status.ALREADY_TARGET:
        return _already(e, now)
    if e.counterfactual is None:
        return f"{now}."
    after = f"With the change below it is {share(e.probability)}"
    if e.decision == e.target:
        return f"{now}. {after}, and the decision is {e.target}."
    return f"{now}. {after}: the threshold of {share(e.threshold)}, though the decision is {e.decision}."


def _already(e: Explanation, now: str) -> str:
    enough = "" if e.factual_class == e.target else f", which reaches the threshold of {share(e.threshold)}"
    if e.asks_for_robustness and e.coverage < 1:
        return f"{now}{enough}, but not safely."
    return f"{now}{enough}. Nothing needs to change."


def _assurances(e: Explanation) -> tuple[str, ...]:
    if e.counterfactual is None or e.distance == 0:
        return ()
    found = [_robust(e), _smallest(e)]
    if e.density_percentile >= TAIL:
        found.append(
            f"Plausible: more typical of class {e.target} than {e.density_percentile:.0f} % of its cases."
        )
    return tuple(found)


def _smallest(e: Explanation) -> str:
    gap = f"{e.gap * 100:.2f} %" if math.isfinite(e.gap) else "unknown"
    bound = f"no change smaller than {number(e.lower_bound)} is enough (gap {gap})"
    if e.status is Status.OPTIMAL and e.gap <= SMALL_GAP:
        return f"Smallest: the distance is {number(e.distance)}, and {bound}."
    return f"Distance: {number(e.distance)}; {bound}."


def _robust(e: Explanation) -> str:
    if not e.asks_for_robustness:
        return "Not robust: no budget was given, so the change has to be carried out exactly."
    off = miss_words(e.question.budget, e.question.features)
    where = "" if isinstance(e.budget, dict) else f" ({NORMS[e.norm]})"
    kept = f"the decision stays {e.target}" if e.threshold >= 0.5 else "the threshold is kept"
    worst = f"the worst error found leaves a probability of {share(e.worst_probability)}"
    if e.coverage >= 1:
        return f"Robust: with {off}{where} {kept}; this is proven, and {worst}."
    name = "Nearly robust" if e.coverage > 0.9 else "Not proven robust"
    return f"{name}: that {kept} with {off}{where} is proven for {part(e.coverage)} of that size; {worst}."


def _changes(e: Explanation) -> tuple[Change, ...]:
    if e.counterfactual is None or e.distance == 0:
        return ()
    moved = e.changes().set_index("feature")
    return tuple(
        Change(
            feature=str(line["feature"]),
            depends_on=str(line["depends on"]),
            start=number(line["from"], e.unit[line["feature"]]),
            end=number(line["to"], e.unit[line["feature"]]),
            deviations=f"{moved.loc[line['feature'], 'in standard deviations']:+.2f}",
            size=float(moved.loc[line["feature"], "in standard deviations"]),
            expected_before=number(line["expected before"], e.unit[line["feature"]]),
            expected_after=number(line["expected after"], e.unit[line["feature"]]),
            z_score=f"{line['z-score']:+.2f}",
            unusual=abs(line["z-score"]) > UNUSUAL,
        )
        for line in e.expectations().to_dict("records")
    )


def _facts(e: Explanation) -> tuple[tuple[str, str], ...]:
    budget = miss_words(e.question.budget, e.question.features) if e.asks_for_robustness else "none"
    facts = [
        ("status", str(e.status)),
        ("method", f"{e.method} ({e.backend})" if e.backend else e.method),
        ("distance", f"Mahalanobis, p = {e.norm:g}, {e.whitening} whitening"),
        ("budget", budget),
        ("threshold", f"{e.threshold:g}"),
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
