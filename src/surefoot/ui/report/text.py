"""An explanation in words: a sentence, a small table, and how sure we are."""

from __future__ import annotations

from surefoot.explain.result.explanation import Explanation
from surefoot.ui.report.summary import Summary, summary_of

WIDTH = 80  # of a line


def explanation_text(explanation: Explanation) -> str:
    """Read it aloud: what to change, what to be careful of, what is proven, what was asked."""
    summary = summary_of(explanation)
    parts = [summary.headline]
    if explanation.counterfactual is None:
        parts.append(summary.outcome)
    parts += [*_moves(summary), _table(summary), summary.to_do, _enough(explanation), summary.note]
    parts += [f"Caution: {caution}" for caution in summary.cautions]
    parts += [*summary.assurances, summary.kept]
    if summary.allowed:
        parts += [f"Asked: {summary.question}", f"Allowed: {'; '.join(summary.allowed)}.", summary.preset]
    return "\n".join(part for part in parts if part)


def _enough(explanation: Explanation) -> str:
    """What else is enough, where that is known, and a value that is not."""
    region = explanation.region
    return "" if region is None else f"Enough: {region.words} (proven). {region.not_enough}".rstrip()


def _moves(summary: Summary) -> list[str]:
    """The categories that change: two lines each or three, since their names are long."""
    return [
        f"  {m.feature}: {m.start} -> {m.end} (price {m.price})\n"
        + _shares(f"    ({m.expected_before} have {m.counted_as},", f"{m.expected_after} have {m.end})")
        for m in summary.moves
    ]


def _shares(before: str, after: str) -> str:
    """How many have the value of today and the one that is reached, in one line if that is short."""
    return f"{before} {after}" if len(before) + 1 + len(after) <= WIDTH else f"{before}\n     {after}"


def _table(summary: Summary) -> str:
    if not summary.changes:
        return ""
    head = ("feature", "from", "(expected)", "to", "(expected)", "in sd", "z")
    lines = [
        (
            c.name,
            c.start,
            f"({c.expected_before})",
            c.end,
            f"({c.expected_after})",
            c.deviations,
            c.z_score,
        )
        for c in summary.changes
    ]
    widths = [max(len(line[k]) for line in [head, *lines]) for k in range(len(head))]
    rows = [
        f"  {line[0]:<{widths[0]}}" + "".join(f"  {line[k]:>{widths[k]}}" for k in range(1, len(head)))
        for line in [head, *lines]
    ]
    return "\n".join(rows)
