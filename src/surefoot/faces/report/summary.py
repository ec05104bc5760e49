"""An Explanation as words and rounded numbers; every face prints this and computes nothing."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from surefoot.explain.explanation import TAIL, Explanation
from surefoot.explain.explanations import Explanations
from surefoot.formats import number, part, share
from surefoot.status import Status

SHOWN = 0.005  # standard deviations; smaller changes are counted, not listed
SMALL_GAP = 0.05  # with a larger one a distance is not called the smallest
UNUSUAL = 2.0  # z-scores beyond this are marked
NORMS = {
    1.0: "summed over the whitened coordinates",
    2.0: "as the length in whitened coordinates",
    math.inf: "in every whitened coordinate",
}


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
    return Summary(
        title="" if explanation.row is None else f"Row {explanation.row}",
        status=str(explanation.status).replace("_", " "),
        found=explanation.counterfactual is not None,
        headline=_headline(explanation),
        outcome=explanation.message,
        changes=shown,
        smaller=smaller,
        assurances=_assurances(explanation),
        cautions=explanation.cautions,
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
        *([("least coverage", part(min(e.coverage for e in moved)))] if moved[0].budget > 0 else []),
        ("least probability at a worst step found", share(min(e.worst_probability for e in moved))),
        ("with a caution", str(sum(bool(e.cautions) for e in batch))),
    ]


def _headline(e: Explanation) -> str:
    if e.factual_class is None:
        return ""
    now = f"Decided {e.factual_class}: the probability of {e.target} is {share(e.factual_probability)}"
    if e.status is Status.ALREADY_TARGET:
        enough = (
            "" if e.factual_class == e.target else f", which reaches the threshold of {share(e.threshold)}"
        )
        return f"{now}{enough}. Nothing needs to change."
    if e.counterfactual is None:
        return f"{now}."
    after = f"With the change below it is {share(e.probability)}"
    if e.decision == e.target:
        return f"{now}. {after}, and the decision is {e.target}."
    return f"{now}. {after}: the threshold of {share(e.threshold)}, though the decision is {e.decision}."


def _assurances(e: Explanation) -> tuple[str, ...]:
    if e.counterfactual is None or e.distance == 0:
        return ()
    found = [_robust(e), _smallest(e)]
    if e.density_percentile >= TAIL:
        found.append(
            f"Plausible: {e.density_percentile:.0f} % of the cases of class {e.target} are less typical "
            "of that class."
        )
    return tuple(found)


def _smallest(e: Explanation) -> str:
    gap = f"{e.gap * 100:.2f} %" if math.isfinite(e.gap) else "unknown"
    if e.status is Status.OPTIMAL and e.gap <= SMALL_GAP:
        return (
            f"Smallest: the distance is {number(e.distance)}, and nothing nearer than "
            f"{number(e.lower_bound)} does it (gap {gap})."
        )
    return f"Distance: {number(e.distance)}; nothing nearer than {number(e.lower_bound)} does it (gap {gap})."


def _robust(e: Explanation) -> str:
    if e.budget == 0:
        return "Not robust: no budget was given, so the step has to land exactly on the mark."
    within = f"while the step lands within {e.budget:g} standard deviations of the mark ({NORMS[e.norm]})"
    kept = f"the decision stays {e.target}" if e.threshold >= 0.5 else "the threshold is kept"
    worst = f"the worst step found leaves a probability of {share(e.worst_probability)}"
    if e.coverage >= 1:
        return f"Robust: {within}, {kept}; this is proven, and {worst}."
    name = "Nearly robust" if e.coverage > 0.9 else "Not proven robust"
    return f"{name}: that {kept} {within} is proven for {part(e.coverage)} of that radius; {worst}."


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
    facts = [
        ("status", str(e.status)),
        ("method", f"{e.method} ({e.backend})" if e.backend else e.method),
        ("distance", f"Mahalanobis, p = {e.norm:g}, {e.whitening} whitening"),
        ("budget", f"{e.budget:g}"),
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
    facts += [(what, ", ".join(names)) for what, names in _limits(e).items() if names]
    return (*facts, ("seconds", f"{e.seconds:.3f}"), ("model", e.model))


def _limits(e: Explanation) -> dict[str, list[str]]:
    """The features that could not move freely, by kind."""
    fixed = e.low == e.high
    kinds = {
        "held fixed": fixed,
        "may only rise": ~fixed & (e.low == e.factual),
        "may only fall": ~fixed & (e.high == e.factual),
    }
    return {what: [str(name) for name in e.factual.index[mask.to_numpy()]] for what, mask in kinds.items()}
