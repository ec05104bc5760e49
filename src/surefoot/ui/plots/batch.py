"""What the explanations of a batch have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.explain.result.explanation import Explanation
from surefoot.ui.plots.style import (
    CHOSEN,
    INK,
    MUTED,
    NEGLIGIBLE,
    RISING,
    SMALL,
    TARGET,
    hide_frame,
    new_axes,
    shortened,
)
from surefoot.ui.plots.values import Values, is_change, is_cost, is_given


def plot_distances(explanations: Iterable[Explanation], *, ax: Any = None) -> Any:
    """Draw how the distances of a batch are distributed, with their median.

    Parameters
    ----------
    explanations : iterable of Explanation
        At least one with a counterfactual that is not the factual.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    moved = _moved(explanations)
    ax = new_axes((5.2, 3.2)) if ax is None else ax
    distances = np.array([e.distance for e in moved])
    what = f"Mahalanobis distance (p = {moved[0].norm:g}, standard deviations)"
    what = f"cost (p = {moved[0].norm:g})" if is_cost(moved[0]) else what
    what = f"distance by the given matrix (p = {moved[0].norm:g})" if is_given(moved[0]) else what
    _histogram(ax, distances, f"{what}\nand prices of changed categories" if _categories(moved) else what)
    median = float(np.median(distances))
    ax.axvline(median, color=INK, linestyle="--", linewidth=1.2)
    ax.set_title(f"median {median:.3g} (dashed)", fontsize=SMALL, color=MUTED)
    return ax


def plot_coverage(explanations: Iterable[Explanation], *, ax: Any = None) -> Any:
    """Draw how much of the budget is proven to keep the decision, over a batch.

    Parameters
    ----------
    explanations : iterable of Explanation
        At least one with a counterfactual that is not the factual.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    moved = _moved(explanations)
    ax = new_axes((5.2, 3.2)) if ax is None else ax
    covered = 100 * np.array([e.coverage for e in moved])
    low = min(90.0, np.floor(covered.min() / 10) * 10)
    _histogram(ax, covered, "certified coverage (% of the budget)", np.linspace(low, 100, 21))
    whole = int(np.sum(covered >= 100))
    ax.set_title(f"{whole} of {len(covered)} fully covered", fontsize=SMALL, color=MUTED)
    return ax


def plot_feature_shares(
    explanations: Iterable[Explanation], *, ax: Any = None, max_features: int = 20
) -> Any:
    """Draw in how many rows of a batch each feature changes, and by how much there, the most frequent on top.

    Bars are medians over the rows in which the feature changes. Of a category the size of a change is its
    price; those bars are grey. Features that change in no row are left out.

    Parameters
    ----------
    explanations : iterable of Explanation
        At least one with a counterfactual that is not the factual.
    ax : matplotlib Axes, optional
    max_features : int, default=20

    Returns
    -------
    matplotlib Axes
    """
    moved = _moved(explanations)
    sizes, categories = pd.DataFrame([_sizes(e) for e in moved]), _categories(moved)
    changed = _changed(moved, sizes)
    shares, sizes = changed.mean() * 100, sizes.where(changed)
    order = _order(sizes, shares)[:max_features]
    ax = new_axes((5.2, 1.2 + 0.28 * max(len(order), 2))) if ax is None else ax
    places = np.arange(len(order))
    quartiles = sizes[order].quantile([0.25, 0.5, 0.75]).to_numpy()
    colours = [CHOSEN if name in categories else RISING for name in order]
    ax.barh(places, quartiles[1], height=0.6, color=colours, edgecolor=INK, linewidth=0.6)
    ax.hlines(places, quartiles[0], quartiles[2], color=INK, linewidth=1.4)
    ax.set_yticks(places, [shortened(name) for name in order], parse_math=False)
    for place, name in enumerate(order):
        ax.text(
            1.02,
            place,
            "below 1 %" if shares[name] < 1 else f"{shares[name]:.0f} %",
            transform=ax.get_yaxis_transform(),
            fontsize=SMALL,
            va="center",
        )
    ax.text(1.02, -0.6, "rows", transform=ax.get_yaxis_transform(), fontsize=SMALL, color=MUTED, va="bottom")
    ax.set_ylim(len(order) - 0.4, -0.6)
    units = "standard deviations;\ngrey: price of a category" if categories else "standard deviations"
    lines = [f"size of the change ({units})", "where it changes; bar: median, line: quartiles"]
    still = int((shares == 0).sum())
    lines += [f"{still} feature{' changes' if still == 1 else 's change'} in no row"] if still else []
    ax.set_xlabel("\n".join(lines))
    hide_frame(ax)
    return ax


def _order(sizes: pd.DataFrame, shares: pd.Series) -> pd.Index:
    """Features that change, by how often and then by how much in the median."""
    found = pd.DataFrame({"share": shares, "median": sizes.median()})[shares > 0]
    return found.sort_values(["share", "median"], ascending=False, kind="stable").index


def _moved(explanations: Iterable[Explanation]) -> list[Explanation]:
    moved = [e for e in explanations if is_change(e)]
    if not moved:
        raise DataError("no explanation of this batch has a counterfactual that differs from its factual")
    return moved


def _categories(moved: list[Explanation]) -> frozenset[Any]:
    """Names of the categories."""
    return frozenset(Values(moved[0]).choices)


def _sizes(e: Explanation) -> pd.Series:
    """How far each number moves, and the price of each category that changes."""
    values = Values(e)
    sizes = e.changes().set_index("feature")["in standard deviations"].abs()[e.factual.index]
    return sizes.fillna({name: values.price(name) for name in values.choices})


def _changed(moved: list[Explanation], sizes: pd.DataFrame) -> pd.DataFrame:
    """Which features change in which rows; a category may change for nothing."""
    changed = sizes >= NEGLIGIBLE
    for name in _categories(moved):
        changed[name] = [name in Values(e).moved_categories for e in moved]
    return changed


def _histogram(
    ax: Any, values: NDArray[np.float64], label: str, bins: NDArray[np.float64] | None = None
) -> None:
    edges = np.histogram_bin_edges(values, bins=min(30, max(5, len(values) // 5))) if bins is None else bins
    ax.hist(values, bins=edges, color=TARGET, edgecolor="white", linewidth=0.6)
    ax.set_xlabel(label)
    ax.set_ylabel("rows")
    ax.yaxis.get_major_locator().set_params(integer=True)
    hide_frame(ax)
