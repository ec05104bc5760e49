"""What more safety costs one row: distance against budget, plausibility, number of models."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.exceptions import DataError
from surefoot.explain.rows.trade_off import TradeOff
from surefoot.problem.question import Question
from surefoot.ui.plots.style import FACTUAL, MUTED, TARGET, hide_frame, label_axes, pyplot

TITLES = {
    "budget": "error that it withstands\n(budget{unit})",
    "plausible": "as typical of the target\nas this share of its rows",
    "models": "refitted models\nunder which it holds",
}


def plot_trade_off(found: TradeOff, *, axes: Any = None) -> Any:
    """Draw distance and proven bound against each thing that was varied.

    Parameters
    ----------
    found : TradeOff
    axes : sequence of matplotlib Axes, optional
        One for each thing; drawn into a new figure when left out.

    Returns
    -------
    array of matplotlib Axes
    """
    asked = list(dict.fromkeys(found.table["asked"]))
    if not asked:
        raise DataError("there is nothing to draw: no question was asked")
    if axes is None:
        size = (3.1 * len(asked) + 0.6, 3.3)
        axes = pyplot().subplots(1, len(asked), figsize=size, layout="constrained", sharey=True)[1]
    panels = list(np.ravel(axes))
    if len(panels) != len(asked):
        raise DataError(f"this trade-off needs {len(asked)} axes, not {len(panels)}")
    questions = [e.question for e in found.explanations if isinstance(e.question, Question)]
    priced = any(question.prices is not None for question in questions)
    counted = "" if any(question.matrix is not None for question in questions) else "standard deviations"
    unit = "cost" if priced else f"distance ({counted})" if counted else "distance"
    for k, (ax, name) in enumerate(zip(panels, asked, strict=True)):
        _panel(ax, found.table[found.table["asked"] == name], name, unit if k == 0 else "", counted)
    _from_zero(panels, found)
    return np.array(panels)


def _panel(ax: Any, lines: Any, name: str, unit: str, counted: str) -> None:
    x, y, bound = (lines[column].to_numpy(dtype=float) for column in ("value", "distance", "lower_bound"))
    some = np.isfinite(y)
    ax.vlines(x[some], bound[some], y[some], color=FACTUAL, linewidth=3, alpha=0.7)
    ax.plot(x[some], y[some], color=TARGET, marker="o", markersize=4.5, linewidth=1.3, label="distance")
    for value, proven in zip(x[~some], bound[~some] == np.inf, strict=True):
        ax.axvline(value, color=MUTED, linestyle=":", linewidth=1)
        text = "no answer" if proven else "no answer found"
        ax.annotate(
            text, (value, 0.98), xycoords=("data", "axes fraction"), rotation=90, fontsize=8,
            color=MUTED, ha="right", va="top",
        )  # fmt: skip
    label_axes(ax, TITLES[name].format(unit=counted and f", {counted}"), unit)
    hide_frame(ax)


def _from_zero(panels: list[Any], found: TradeOff) -> None:
    """Distances start at zero, so that a curve that looks steep is steep."""
    finite = found.table["distance"][np.isfinite(found.table["distance"])]
    for ax in panels:
        ax.set_ylim(0, 1.12 * float(finite.max()) if len(finite) else 1.0)
