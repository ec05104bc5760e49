"""How a search went, round by round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.exceptions import DataError
from surefoot.explain.result.explanation import Explanation
from surefoot.ui.plots.style import FACTUAL, INK, TARGET, hide_frame, label_axes, legend_below, new_axes
from surefoot.ui.plots.values import is_given

MANY = 40
# Differences below these are not worth a whole axis: a share of the distance, and the paper's epsilon.
SMALLEST_RANGE, SMALLEST_VIOLATION = 0.05, 1e-3


def plot_trace(explanation: Explanation, *, axes: Any = None) -> Any:
    """Draw distance and proven bound, and below them the violation, against the round.

    Parameters
    ----------
    explanation : Explanation
        With at least one round; a counterfactual is not needed.
    axes : sequence of two matplotlib Axes, optional
        Drawn into a new figure when left out. Entries that are infinite or not a number are skipped.

    Returns
    -------
    array of two matplotlib Axes
    """
    records = explanation.iterations
    if not records:
        raise DataError("there are no rounds to draw: the search ended before its first one")
    upper, lower = _two_axes(axes)
    distances = _line(upper, [r.distance for r in records], "distance", color=TARGET, marker="o")
    # Hollow and larger: where the two meet, both are seen.
    hollow = {"marker": "s", "markersize": 8, "markerfacecolor": "none", "linestyle": "--"}
    bounds = _line(upper, [r.lower_bound for r in records], "proven bound", color=FACTUAL, **hollow)
    _line(lower, [r.violation for r in records], "violation", color=INK, marker="D")
    lower.axhline(0, color=INK, linewidth=0.8, linestyle=":")
    label_axes(upper, "", "distance" if is_given(explanation) else "distance\n(standard deviations)")
    label_axes(lower, "round", "violation\n(log-odds)")
    for ax in (upper, lower):
        _whole_rounds(ax, len(records))
    _widen(upper, SMALLEST_RANGE * max(upper.get_ylim()))
    _widen(lower, 2 * SMALLEST_VIOLATION)
    legend_below(lower, [distances, bounds])
    return np.array([upper, lower])


def _two_axes(axes: Any) -> tuple[Any, Any]:
    if axes is None:
        axes = new_axes((6.4, 4.2), rows=2, sharex=True)
    pair = list(np.ravel(axes))
    if len(pair) != 2:
        raise DataError(f"the trace needs two axes, not {len(pair)}")
    return pair[0], pair[1]


def _line(ax: Any, values: ArrayLike, label: str, **style: Any) -> Any:
    numbers = np.asarray(values, dtype=float)
    if len(numbers) > MANY:
        style["markevery"] = max(len(numbers) // MANY, 2)
    rounds = np.arange(1, len(numbers) + 1)
    seen = np.isfinite(numbers)
    style = {"markersize": 4.5, "linewidth": 1.3, **style}
    return ax.plot(rounds[seen], numbers[seen], label=label, **style)[0]


def _widen(ax: Any, smallest: float) -> None:
    """Keep the axis from magnifying differences that do not matter."""
    low, high = ax.get_ylim()
    missing = max(smallest - (high - low), 0.0) / 2
    ax.set_ylim(low - missing, high + missing)
    ax.ticklabel_format(axis="y", useOffset=False)


def _whole_rounds(ax: Any, n_rounds: int) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlim(0.5, n_rounds + 0.5)
    ax.margins(y=0.12)
    hide_frame(ax)
