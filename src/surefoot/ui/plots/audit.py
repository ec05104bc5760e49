"""Groups of an audit side by side: the share without a way, and what a way costs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from surefoot.exceptions import DataError
from surefoot.explain.population.audit import Audit
from surefoot.ui.plots.style import (
    FACTUAL,
    INK,
    MUTED,
    TARGET,
    checked_count,
    hide_frame,
    label_axes,
    new_axes,
    pyplot,
    shortened,
)

MORE = "#ffffff"  # inside of the mark for nine tenths
ROOM = 1.15  # of the largest cost, beyond which marks for no way are
# Of the axis, beyond which figures would run into the words at its end. A tenth of it, and there are none.
LAST = 0.75


def plot_audit(audit: Audit, *, axes: Any = None, max_groups: int = 24) -> Any:
    """Draw, for each group, the share without a way and the median cost, with their intervals.

    Dots are the figures and lines their intervals; triangles are what nine tenths of those asked stay below.
    A mark at the right edge, in the grey band, is an infinite cost: no way.

    Parameters
    ----------
    audit : Audit
    axes : pair of matplotlib Axes, optional
        Drawn into a new figure when left out.
    max_groups : int, default=24
        At most that many groups, those with most rows asked.

    Returns
    -------
    array of two matplotlib Axes
    """
    figures = _shown(audit, max_groups)
    if axes is None:
        size = (8.6, _height(figures))
        axes = pyplot().subplots(1, 2, figsize=size, layout="constrained", sharey=True)[1]
    panels = list(np.ravel(axes))
    if len(panels) != 2:
        raise DataError(f"an audit needs 2 axes, not {len(panels)}")
    _shares(panels[0], figures, audit)
    _costs(panels[1], figures)
    return np.array(panels)


def plot_shares(audit: Audit, max_groups: int = 24) -> Any:
    """The first half of `plot_audit` by itself, narrow enough for a phone."""
    figures = _shown(audit, max_groups)
    ax = new_axes((5.2, _height(figures)))
    _shares(ax, figures, audit)
    return ax


def plot_costs(audit: Audit, max_groups: int = 24) -> Any:
    """The second half."""
    figures = _shown(audit, max_groups)
    ax = new_axes((5.2, _height(figures)))
    _costs(ax, figures)
    return ax


def _height(figures: pd.DataFrame) -> float:
    return 1.5 + 0.3 * len(figures)


def _shown(audit: Audit, most: int) -> pd.DataFrame:
    """The figures of all rows and of the groups with most rows asked, by name."""
    table = audit.by_group if audit.is_grouped else audit.by_group[:0]
    large = np.argsort(-table["asked"].to_numpy(), kind="stable")[: checked_count("max_groups", most)]
    table = table.iloc[sorted(large)]
    keys = [key if isinstance(key, tuple) else (key,) for key in table.index]
    names = ["all", *(shortened(", ".join(map(str, key))) for key in keys)]
    every = pd.concat([audit.overall.to_frame().T, table], ignore_index=True)
    return every.set_axis([f"{a} ({n:,})" for a, n in zip(names, every["asked"], strict=True)], axis=0)


def _shares(ax: Any, figures: pd.DataFrame, audit: Audit) -> None:
    places = _rows(ax, figures)
    low, middle, high = (100 * figures[f"none_share{end}"].to_numpy(float) for end in ("_low", "", "_high"))
    ax.hlines(places, low, high, color=INK, linewidth=1.4)
    ax.plot(middle, places, "o", color=FACTUAL, markeredgecolor=INK, markersize=6)
    ax.axvline(middle[0], color=MUTED, linestyle=(0, (4, 3)), linewidth=0.9)
    ax.set_xlim(-2, min(102.0, max(10.0, 1.05 * np.nanmax([*high, 0.0]))))
    words = "proven: no way (% of those asked)\nin brackets: how many are asked\nline:"
    label_axes(ax, f"{words} {100 * audit.ci:g} % interval", "")


def _costs(ax: Any, figures: pd.DataFrame) -> None:
    places = _rows(ax, figures)
    columns = ("cost_median_low", "cost_median", "cost_median_high", "cost_90")
    low, middle, high, far = (figures[name].to_numpy(float) for name in columns)
    known = [x for x in (*low, *middle, *high, *far) if math.isfinite(x)]
    edge = ROOM * (max(known) if known else 1.0)
    ends = [np.where(np.isinf(values), edge, values) for values in (low, middle, high, far)]
    ax.axvspan(edge * 0.95, edge * 1.05, color="#e8e8e8", linewidth=0)
    ax.hlines(places, ends[0], ends[2], color=INK, linewidth=1.4)
    ax.plot(ends[3], places, "^", color=MORE, markeredgecolor=INK, markersize=6, label="90 %")
    ax.plot(ends[1], places, "o", color=TARGET, markeredgecolor=INK, markersize=6, label="median")
    ax.set_xlim(-0.02 * edge, edge * 1.05)
    ticks = [x for x in ax.get_xticks() if 0 <= x < edge * LAST]
    end = "none known" if figures["undecided"].any() else "no way"
    ax.set_xticks([*ticks, edge], [*(f"{x:g}" for x in ticks), end])
    label_axes(ax, "cost: dot, median with its interval;\ntriangle, nine tenths of those asked", "")


def _rows(ax: Any, figures: pd.DataFrame) -> Any:
    """A line for each group, from top to bottom."""
    places = np.arange(len(figures))
    ax.set_yticks(places, list(figures.index), parse_math=False)
    ax.set_ylim(len(figures) - 0.4, -0.6)
    ax.grid(axis="y", color="#eeeeee")
    ax.set_axisbelow(True)
    hide_frame(ax)
    return places
