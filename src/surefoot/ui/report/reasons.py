"""Reasons in words: a line of what adds up, and a small table of what speaks against and for a person."""

from __future__ import annotations

import math

from surefoot.explain.result.reasons import Reason, Reasons
from surefoot.formats import number, one_line, value_text
from surefoot.ui.plots.style import shortened

# Lines on each side. Ten times as many would print every feature of a wide table.
SHOWN = 4


def reasons_text(reasons: Reasons) -> str:
    """What was decided, what speaks against the person and what for them, and how it adds up."""
    sign = -1 if reasons.decided == reasons.wanted else 1
    ranked = sorted(reasons.each, key=lambda r: -sign * r.weight)
    against = [r for r in ranked if sign * r.weight > 0]
    others = [r for r in reversed(ranked) if sign * r.weight < 0]
    head = f"Reasons for {reasons.decided} rather than {reasons.other} (the largest first)"
    lines = [head, *_part(f"against {reasons.wanted}", against, reasons)]
    lines += _part(f"for {reasons.wanted}", others, reasons)
    total, prior = number(reasons.log_odds), number(reasons.prior)
    what = f"the log-odds of {reasons.decided} against {reasons.other}"
    lines.append(
        f"The weights of all {len(reasons.each)} features, with {prior} to begin with, are {total}: {what}."
    )
    return "\n".join(one_line(line) if not line.startswith("  ") else line for line in lines)


def _part(title: str, shown: list[Reason], reasons: Reasons) -> list[str]:
    if not shown:
        return [f"  nothing speaks {title}"]
    head = (f"speaks {title}", "value", f"usual for {reasons.wanted}", "in 100 cases of it", "weight")
    rows = [_cells(reason, reason.feature in reasons.kept) for reason in shown[:SHOWN]]
    texts = [tuple(shortened(cell, 40) for cell in row) for row in (head, *rows)]
    widths = [max(len(row[k]) for row in texts) for k in range(len(head))]
    lines = [
        f"  {row[0]:<{widths[0]}}" + "".join(f"  {row[k]:>{widths[k]}}" for k in range(1, len(head)))
        for row in texts
    ]
    more = len(shown) - SHOWN
    return [*lines, *([f"  and {more} more"] if more > 0 else [])]


def _cells(reason: Reason, kept: bool) -> tuple[str, ...]:
    name = f"{reason.feature} (cannot be changed)" if kept else str(reason.feature)
    usual = value_text(reason.usual)
    return name, value_text(reason.value), usual, in_hundred(reason.share), f"{reason.weight:+.2f}"


def in_hundred(share: float) -> str:
    """A share as a number of cases in 100.

    Examples
    --------
    >>> in_hundred(0.034), in_hundred(0.001), in_hundred(0.0), in_hundred(float("nan"))
    ('3', 'below 1', 'none', '-')
    """
    if math.isnan(share):
        return "-"
    if share == 0:
        return "none"
    return "below 1" if share < 0.01 else f"{math.floor(100 * share + 0.5)}"
