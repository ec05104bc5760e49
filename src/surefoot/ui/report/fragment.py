"""What a notebook shows: the words and tables of the report, without a page around them."""

from __future__ import annotations

from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.explanation import Explanation
from surefoot.ui.report.summary import overview_of, presets_of, summary_of
from surefoot.ui.report.templates import rendered

MOST_LINES = 20


def explanation_fragment(explanation: Explanation) -> str:
    """One explanation."""
    return rendered("fragment.html", case=summary_of(explanation))


def batch_fragment(batch: Explanations) -> str:
    """The overview of a batch and its first rows."""
    table = Explanations(batch[:MOST_LINES]).to_frame()
    columns = ["status", "target", "probability", "distance", "coverage"]
    lines = [[row, *values] for row, values in zip(table.index, table[columns].to_numpy(), strict=True)]
    left = len(batch) - len(lines)
    return rendered(
        "batch_fragment.html",
        overview=overview_of(batch),
        presets=presets_of(batch),
        columns=["row", *columns],
        lines=lines,
        left=left,
    )
