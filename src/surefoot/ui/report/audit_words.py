"""What an audit says in words: the answer in three sentences, and the table of groups."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from surefoot.explain.population.audit import FEW, Audit
from surefoot.explain.population.cases import COUNTS, FAR, MIDDLE, NONE
from surefoot.explain.population.intervals import rank
from surefoot.formats import in_a_row, number, one_line, share
from surefoot.problem.question import Question

# Groups that the text shows. Ten times larger, and a terminal shows the last of them only.
MOST_LINES = 30
NO_WAY, NOT_KNOWN, TOO_FEW = "no way", "not known", "too few to tell"
# Width of an interval of a share beyond which it says nothing. Were it ten times larger, each would do.
WIDE = 0.5
TOGETHER = {1.0: "added up", 2.0: "as the root of their squares", math.inf: "the largest alone"}


def audit_text(audit: Audit) -> str:
    """The answer, the figures of each group, and what there is to say about them."""
    lines = [" ".join(answer_of(audit)), "", *_columns(audit)]
    lines += [f"Note: {note}." for note in audit.notes]
    return "\n".join(one_line(line) if not line.startswith("  ") else line for line in lines)


def _columns(audit: Audit) -> list[str]:
    level = f"{100 * audit.ci:g} % interval"
    head = ["group", *COUNTS, "share without", level, "median cost", level, "90 %", "burden"]
    rows = [head, *group_lines(audit, "all")]
    left = len(rows) - 1 - MOST_LINES
    rows = rows[: 1 + MOST_LINES]
    widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
    lines = [
        f"  {row[0]:<{widths[0]}}" + "".join(f"  {row[k]:>{widths[k]}}" for k in range(1, len(head)))
        for row in rows
    ]
    where = "audit.by_group and audit.alone" if audit.alone else "audit.by_group"
    return [*lines, *([f"  and {left:,} more groups ({where})"] if left > 0 else [])]


def group_lines(audit: Audit, everybody: str) -> list[list[str]]:
    """The figures of all rows and of each group, as text."""
    lines = [_cells(everybody, audit.overall)]
    for one in (*audit.alone, *([audit] if audit.is_grouped else [])):
        by = f"{one.groups.names[0]}: " if one is not audit else ""
        every = zip(marked_names(one.by_group), one.by_group.to_dict("records"), strict=True)
        lines += [_cells(f"{by}{name}", figures) for name, figures in every]
    return lines


def _cells(name: str, figures: Any) -> list[str]:
    counts = [f"{figures[column]:,}" for column in COUNTS]
    shares = [share(figures["none_share"]), _told(figures, "none_share")]
    median, far = _cost(figures, "cost_median", MIDDLE), _cost(figures, "cost_90", FAR)
    burden = number(figures["burden"])
    return [one_line(name), *counts, *shares, median, _told(figures, "cost_median"), far, burden]


def _told(figures: Any, name: str) -> str:
    """The ends of an interval, or that it says nothing."""
    width = figures[f"{name}_high"] - figures[f"{name}_low"]
    nothing = width > WIDE if name == "none_share" else math.isnan(figures[f"{name}_low"])
    return TOO_FEW if figures["asked"] and nothing else interval(figures, name)


def group_names(table: pd.DataFrame) -> list[str]:
    """Groups in a word each: values with commas between them."""
    return [one_line(", ".join(map(str, key if isinstance(key, tuple) else (key,)))) for key in table.index]


def marked_names(table: pd.DataFrame) -> list[str]:
    """The same; those too small to judge say so, whatever their figures are."""
    pairs = zip(group_names(table), table["asked"], strict=True)
    return [f"{name} (few)" if asked < FEW else name for name, asked in pairs]


def _cost(figures: Any, name: str, level: float) -> str:
    """A quantile of costs: an infinite one is no way at all, if enough of those asked provably have none."""
    asked = figures["asked"]
    proven = asked - figures["none"] < rank(level, asked)
    return _finite(figures[name], NO_WAY if proven else NOT_KNOWN)


def _finite(value: float, otherwise: str) -> str:
    return otherwise if value == math.inf else number(value)


def interval(figures: Any, name: str) -> str:
    """The ends of an interval; a dash where there is none."""
    low, high = figures[f"{name}_low"], figures[f"{name}_high"]
    if math.isnan(low):
        return "-"
    if name == "none_share":
        return f"{share(low)} to {share(high)}"
    if low == math.inf:
        return NO_WAY
    return f"{number(low)} to {_finite(high, NOT_KNOWN if figures['undecided'] else NO_WAY)}"


def answer_of(audit: Audit) -> list[str]:
    """The answer in at most three sentences: how many have no way, where they are, and what it costs."""
    overall = audit.overall
    asked, none = overall["asked"], overall["none"]
    rows = f"{len(audit.frame):,} row{'s' * (len(audit.frame) != 1)}"
    if not asked:
        return [f"None of {rows} was refused {audit.target}: there is nobody to ask about."]
    refused = f"{asked:,} of {rows} {'is' if asked == 1 else 'are'} not decided {audit.target}"
    said = _with_none(audit) if none else _all_found(audit)
    return [f"{refused}; {said}.", *([_by_group(audit)] if audit.is_grouped else []), _costs(audit)]


def _judged(audit: Audit) -> pd.DataFrame:
    """The groups with enough rows to judge them by."""
    return audit.by_group[audit.by_group["asked"] >= FEW]


def _with_none(audit: Audit) -> str:
    """For how many it is proven that there is no way."""
    overall = audit.overall
    who = "it" if overall["asked"] == 1 else f"{overall['none']:,} of them ({_share(overall, audit)})"
    open_ = f", and {_undecided(overall['undecided'])}" if overall["undecided"] else ""
    return f"for {who} it is proven that no allowed change is enough{open_}"


def _all_found(audit: Audit) -> str:
    """For how many a way is known, where nobody is proven to have none."""
    overall = audit.overall
    found, open_ = overall["found"], overall["undecided"]
    who = "it" if overall["asked"] == 1 else f"{found:,} of them" if open_ else "each of them"
    known = f"for {who} an allowed change is enough" if found else "no allowed change is known for them"
    rest = f", {_undecided(open_)}, and nobody is proven to have no way" if open_ else ""
    return f"{known}{rest} (share without a way: {_share(overall, audit)})"


def _undecided(rows: int) -> str:
    return f"{rows:,} {'is' if rows == 1 else 'are'} undecided"


def _share(figures: Any, audit: Audit) -> str:
    return f"{share(figures['none_share'])}, {100 * audit.ci:g} % interval {interval(figures, 'none_share')}"


def cost_words(question: Question) -> str:
    """How the costs of changes are counted."""
    units = "standard deviations from what the other features lead to expect"
    if question.whitening == "given":
        units = "the coordinates of the given matrix"
    elif question.prices is not None:
        units = "standard deviations times their prices"
    numbers = f"changes of numbers are counted in {units}, {TOGETHER[question.norm]}"
    categories = "each category that changes costs 1, or its price if actions name one"
    parts = [*([numbers] if question.numbers else []), *([categories] if question.choices else [])]
    return f"Costs: {'; '.join(parts)}."


def _by_group(audit: Audit) -> str:
    """Which groups differ in the share without a way, among those with enough rows to say so.

    Where no combination of several things says so, one of these alone may.
    """
    every = (audit, *audit.alone)
    apart = (one for one in every if _apart(_judged(one), "none_share"))
    return _shares(next(apart, None) or next((one for one in every if len(_judged(one)) > 1), audit))


def _shares(audit: Audit) -> str:
    """The largest and the smallest share; or those that differ most clearly, where these do not."""
    large = _judged(audit)
    by = in_a_row(list(map(str, audit.groups.names)))
    if len(large) < 2:
        fewer = "no group has" if large.empty else "only one group has"
        return f"By {by}, {fewer} {FEW} rows asked or more: too few to compare groups."
    ends = int(large["none_share"].argmax()), int(large["none_share"].argmin())
    if large["none_share"].iloc[ends[0]] == large["none_share"].iloc[ends[1]]:
        same = share(large["none_share"].iloc[0])
        return f"By {by}, the share without a way is {same} in every group with {FEW} rows asked or more."
    among = "" if len(large) == len(audit.by_group) else f", among groups with {FEW} rows asked or more"
    said, clear = f"By {by}{among}, the share without a way is", _apart(large, "none_share")
    overlap = not _apart(large.iloc[list(ends)], "none_share")
    if clear and overlap:
        more, less = (_figure_words(large, place, "none_share") for place in clear)
        return f"{said} larger for {more} than for {less}, and these intervals do not overlap."
    most, least = (_figure_words(large, place, "none_share") for place in ends)
    how = "overlap" if overlap else "do not overlap"
    return f"{said} largest for {most} and smallest for {least}; these intervals {how}."


def _apart(table: pd.DataFrame, name: str) -> tuple[int, int] | None:
    """The two groups whose intervals are farthest apart, the larger first; None where all overlap."""
    if len(table) < 2:
        return None
    most, least = int(table[f"{name}_low"].argmax()), int(table[f"{name}_high"].argmin())
    return (most, least) if table[f"{name}_low"].iloc[most] > table[f"{name}_high"].iloc[least] else None


def _figure_words(table: pd.DataFrame, place: int, name: str) -> str:
    """A group with its figure and the interval of that."""
    figures = table.iloc[place]
    said = share(figures[name]) if name == "none_share" else _cost(figures, name, MIDDLE)
    known = dict.fromkeys((said, interval(figures, name)))  # where half have no way, both say so
    return f"{group_names(table)[place]} ({', '.join(known)})"


def _costs(audit: Audit) -> str:
    """What half of those asked need, and what is most often in the way."""
    middle = audit.overall["cost_median"]
    half = (
        "Half or more of those asked have no way that is known"
        if middle == math.inf
        else f"For half of those asked a change that costs {number(middle)} or less is enough"
    )
    half += _costs_apart(audit)
    counted = audit.cases.counted("blamed", (audit.cases.kind == NONE).nonzero()[0])
    if not counted:
        return f"{half}."
    what, count = counted[0]
    return f"{half}; most often in the way: {one_line(str(what))} (in {count:,} row{'s' * (count != 1)})."


def _costs_apart(audit: Audit) -> str:
    """The two groups whose median costs differ most clearly, if their intervals do not overlap."""
    for one in (audit, *audit.alone):
        large = _judged(one)
        apart = _apart(large, "cost_median")
        if apart:
            dear, cheap = (_figure_words(large, place, "cost_median") for place in apart)
            by = in_a_row(list(map(str, one.groups.names)))
            apart_words = f"is larger for {dear} than for {cheap}, and these intervals do not overlap"
            return f"; by {by}, the median cost {apart_words}"
    return ""
