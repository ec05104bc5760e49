"""An Explanation as words and rounded numbers; every face prints this and computes nothing."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from surefoot.explanation import Explanation
from surefoot.explanations import Explanations
from surefoot.status import Status

SHOWN = 0.005  # standard deviations; smaller changes are counted, not listed
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
    difference: str
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
    smaller = f"{left} more change by less than {SHOWN:g} standard deviations" if left else ""
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
        ("least coverage", f"{min(e.coverage for e in moved) * 100:.1f} %"),
        ("least probability after the worst step", share(min(e.worst_probability for e in moved))),
        ("with a caution", str(sum(bool(e.cautions) for e in moved))),
    ]


def number(value: float) -> str:
    """Four significant digits, without an exponent where people do not expect one."""
    if math.isnan(value):
        return "-"
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if 1e-3 <= abs(value) < 1e6:
        return f"{value:,.{max(0, 3 - math.floor(math.log10(abs(value))))}f}"
    return f"{value:.3e}"


def share(value: float) -> str:
    """A probability; nearly sure is not sure."""
    if math.isnan(value):
        return "-"
    if 0 < value < 0.001:
        return "below 0.1 %"
    if 0.999 < value < 1:
        return "above 99.9 %"
    return f"{value * 100:.1f} %"


def _headline(e: Explanation) -> str:
    if e.factual_class is None:
        return ""
    now = f"Decided {e.factual_class}: the probability of {e.target} is {share(e.factual_probability)}"
    if e.status is Status.ALREADY_TARGET:
        return f"{now}. Nothing needs to change."
    if e.counterfactual is None:
        return f"{now}."
    return f"{now}. With the change below it is {share(e.probability)}, and the decision is {e.target}."


def _assurances(e: Explanation) -> tuple[str, ...]:
    if e.counterfactual is None:
        return ()
    found = []
    if e.budget > 0:
        found.append(
            f"Robust: while the step lands within {e.budget:g} standard deviations of the mark "
            f"({NORMS[e.norm]}), the probability stays at least {share(e.worst_probability)}"
            + ("; this is proven." if e.coverage >= 1 else f"; proven for {e.coverage * 100:.1f} % of that.")
        )
    gap = f"{e.gap * 100:.2f} %" if math.isfinite(e.gap) else "unknown"
    found.append(
        f"Smallest: the distance is {number(e.distance)}, and nothing nearer than {number(e.lower_bound)} "
        f"does it (gap {gap})."
    )
    if not math.isnan(e.density_percentile):
        found.append(
            f"Typical: {e.density_percentile:.0f} % of the training rows of class {e.target} are less "
            "typical of it."
        )
    return tuple(found)


def _changes(e: Explanation) -> tuple[Change, ...]:
    if e.counterfactual is None or e.distance == 0:
        return ()
    moved = e.changes().set_index("feature")
    return tuple(
        Change(
            feature=str(line["feature"]),
            depends_on=str(line["depends on"]),
            start=number(line["from"]),
            end=number(line["to"]),
            difference=_signed(line["to"] - line["from"]),
            deviations=f"{moved.loc[line['feature'], 'in standard deviations']:+.2f}",
            size=float(moved.loc[line["feature"], "in standard deviations"]),
            expected_before=number(line["expected before"]),
            expected_after=number(line["expected after"]),
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
            ("coverage", f"{e.coverage:.1%}"),
            ("violation", f"{e.violation:.2e}"),
            ("rounds", str(len(e.iterations))),
        ]
    return (*facts, ("seconds", f"{e.seconds:.3f}"), ("model", e.model))


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + number(value)
