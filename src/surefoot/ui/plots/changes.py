"""What has to change, feature by feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from surefoot.explain.result.explanation import Explanation
from surefoot.ui.plots.style import (
    CHOSEN,
    FALLING,
    INK,
    MINUS,
    MUTED,
    RISING,
    SMALL,
    bars_by_name,
    checked_count,
    found_point,
    legend_below,
    new_axes,
    shortened,
)
from surefoot.ui.plots.values import Values

SIZE = "in standard deviations"


def plot_changes(explanation: Explanation, *, ax: Any = None, max_features: int = 20) -> Any:
    """Draw the change of each feature as a bar, the largest on top, with its values from and to.

    Of a category that changes the bar is its price, which counts as much in the distance as that many
    standard deviations; these bars are grey and come first.

    Parameters
    ----------
    explanation : Explanation
        With a counterfactual.
    ax : matplotlib Axes, optional
        Drawn into a new figure of fitting size when left out.
    max_features : int, default=20
        At most that many bars; a note counts what is left out.

    Returns
    -------
    matplotlib Axes
    """
    found_point(explanation)
    values = Values(explanation)
    table = _table(explanation, values)
    changed = table[table["feature"].isin(explanation.changed)]
    shown = changed.head(checked_count("max_features", max_features))
    # Names of categories leave little width.
    between = "\n" if shown["chosen"].any() else "; "
    note = _note(len(changed) - len(shown), len(table) - len(changed), between)
    if ax is None:
        # Names of categories take two lines.
        ax = new_axes((6.4, 1.5 + (0.38 if shown["chosen"].any() else 0.3) * max(len(shown), 2)))
    _bars(ax, shown)
    _values(ax, shown, values)
    what = "change in standard deviations of the factual class"
    lines = [
        f"{what}; of a category: its price" if shown["chosen"].any() else what,
        *([note] if note else []),
    ]
    ax.set_xlabel("\n".join(lines), parse_math=False)
    _legend(ax, shown)
    return ax


def _table(explanation: Explanation, values: Values) -> pd.DataFrame:
    """The changes; categories that change are ``chosen``, their price is their size."""
    table = explanation.changes()
    table["chosen"] = table["feature"].isin(values.moved_categories)
    prices = [values.price(feature) for feature in table["feature"]]
    return table.assign(**{SIZE: table[SIZE].where(table[SIZE].notna(), prices)})


def _note(smaller: int, still: int, between: str) -> str:
    """What has no bar: smaller changes, and features that stay as they are."""
    parts = []
    if smaller:
        parts.append(f"{smaller} smaller change{'s' if smaller > 1 else ''} not shown")
    if still:
        parts.append("1 feature stays as it is" if still == 1 else f"{still} features stay as they are")
    return between.join(parts)


def _bars(ax: Any, shown: pd.DataFrame) -> None:
    places, sizes = np.arange(len(shown)), shown[SIZE].to_numpy()
    bars = ax.barh(places, sizes, height=0.62, edgecolor=INK, linewidth=0.6, zorder=2)
    for bar, size in zip(bars, sizes, strict=True):
        bar.set(facecolor=RISING if size > 0 else FALLING, hatch="" if size > 0 else "////")
    for bar in np.array(bars, dtype=object)[shown["chosen"].to_numpy()]:
        bar.set(facecolor=CHOSEN, hatch="")
    bars_by_name(ax, [shortened(name) for name in shown["feature"]])
    ax.locator_params(axis="x", nbins=6)


def _values(ax: Any, shown: pd.DataFrame, values: Values) -> None:
    """A column beside the axes: there a number meets neither bars nor other numbers."""
    if shown.empty:
        ax.text(0.5, 0.5, "no feature changes", transform=ax.transAxes, ha="center", va="center")
        ax.set_xlim(-1, 1)
        return
    across = {"transform": ax.get_yaxis_transform(), "fontsize": SMALL, "va": "center", "parse_math": False}
    ax.text(1.02, -0.6, "from → to", color=MUTED, **{**across, "va": "bottom"})
    for place, (_, line) in enumerate(shown.iterrows()):
        start = values.today(line["feature"])
        end = values.reached.get(line["feature"], start)
        if line["chosen"]:
            text = f"{shortened(start)} →\n{shortened(end)}"
        else:
            text = f"{start} → {end}".replace("-", MINUS)
        ax.text(1.02, place, text, **across)


def _legend(ax: Any, shown: pd.DataFrame) -> None:
    from matplotlib.patches import Patch

    line: dict[str, Any] = {"edgecolor": INK, "linewidth": 0.6}
    handles = []
    if shown["chosen"].any():
        handles.append(Patch(facecolor=CHOSEN, label="category changes", **line))
    if ((shown[SIZE] > 0) & ~shown["chosen"]).any():
        handles.append(Patch(facecolor=RISING, label="rises", **line))
    if (shown[SIZE] < 0).any():
        handles.append(Patch(facecolor=FALLING, hatch="////", label="falls", **line))
    if handles:
        legend_below(ax, handles)
