"""What a notebook shows: the words and tables of the report, without a page around them."""

from __future__ import annotations

import math
from typing import Any

from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.explanation import Explanation
from surefoot.formats import number
from surefoot.ui.report.person import person_of
from surefoot.ui.report.summary import overview_of, presets_of, summary_of
from surefoot.ui.report.templates import rendered

MOST_LINES = 20


def explanation_fragment(explanation: Explanation) -> str:
    """The short report of one explanation: what the person is told, and the change with what is proven."""
    return rendered("fragment.html", person=person_of([explanation]), case=summary_of(explanation))


def batch_fragment(batch: Explanations) -> str:
    """The overview of a batch and its first rows."""
    table = Explanations(batch[:MOST_LINES]).to_frame()
    columns = ["status", "target", "probability", "distance", "coverage"]
    cells = table[columns].assign(status=table["status"].str.replace("_", " ")).to_numpy()
    lines = [[row, *map(_cell, values)] for row, values in zip(table.index, cells, strict=True)]
    left = len(batch) - len(lines)
    return rendered(
        "batch_fragment.html",
        overview=overview_of(batch),
        presets=presets_of(batch),
        columns=["row", *columns],
        lines=lines,
        left=left,
    )


def _cell(value: Any) -> Any:
    """A number with four digits; a dash where there is none."""
    if not isinstance(value, float):
        return value
    return number(value) if math.isfinite(value) else "-"
