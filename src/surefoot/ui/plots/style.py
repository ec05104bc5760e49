"""What all figures share: colours, new axes, names as text, legends below the axes."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError, MissingDependencyError
from surefoot.formats import one_line
from surefoot.problem.question import Question
from surefoot.problem.warp import Warp

if TYPE_CHECKING:
    from surefoot.explain.result.explanation import Explanation

# Okabe and Ito's colours, which most colour-blind people can tell apart.
TARGET, FACTUAL = "#0072B2", "#D55E00"
RISING, FALLING = "#56B4E9", "#E69F00"
CHOSEN = "#BBBBBB"  # a category that changes, which neither rises nor falls
SHADE = "#DCE9F2"
INK, MUTED, FAINT = "#1a1a1a", "#5a5a5a", "#9a9a9a"

NEGLIGIBLE = 0.005  # standard deviations; a smaller change counts as none
LONGEST_NAME = 28
SMALL = 8.0
MINUS = "\N{MINUS SIGN}"


def pyplot() -> Any:
    """matplotlib.pyplot, or how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingDependencyError("drawing needs matplotlib: pip install 'surefoot[plots]'") from None
    return plt


def new_axes(size: tuple[float, float], rows: int = 1, **options: Any) -> Any:
    """Axes (an array of them if there are rows) in a new figure of that many inches."""
    return pyplot().subplots(rows, figsize=size, layout="constrained", **options)[1]


def shortened(name: Any, longest: int = LONGEST_NAME) -> str:
    """The name on one line; the middle of a long one is left out, since beginnings are often alike."""
    text = " ".join(one_line(str(name)).split())
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 3
    return text[: longest - 1 - tail].rstrip() + "…" + text[-tail:].lstrip()


def unnoticed(count: int) -> str:
    """What is said of features whose change is too small to be drawn."""
    who = "1 more feature changes" if count == 1 else f"{count} more features change"
    return f"{who} by less than {NEGLIGIBLE} standard deviations"


def label_axes(ax: Any, x: str, y: str) -> None:
    """Axis labels in which a dollar sign is a dollar sign."""
    ax.set_xlabel(x, parse_math=False)
    ax.set_ylabel(y, parse_math=False)


def hide_frame(ax: Any, *sides: str) -> None:
    """Take lines of the frame away: at the top and the right, or at other sides."""
    for side in sides or ("top", "right"):
        ax.spines[side].set_visible(False)


def bars_by_name(ax: Any, names: Sequence[str]) -> None:
    """Axes for a horizontal bar for each name, the first on top, around a line at zero."""
    ax.axvline(0, color=INK, linewidth=0.9, zorder=3)
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(len(names), 1) - 0.4, -0.6)
    ax.grid(axis="x", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    hide_frame(ax, "top", "right", "left")


def checked_count(name: str, most: Any) -> int:
    """How many things are drawn at most."""
    if not isinstance(most, Integral) or isinstance(most, bool) or most < 1:
        raise DataError(f"{name} must be a positive integer, not {most!r}")
    return int(most)


def legend_below(ax: Any, handles: Sequence[Any]) -> None:
    """A legend under the axis label, where it covers no data; in two columns if they are not too wide."""
    legend = _legend(ax, handles, columns=2)
    # Axes take about three quarters of their share of the figure.
    if legend.get_window_extent().width > ax.get_position().width / 0.775 * ax.figure.bbox.width:
        _legend(ax, handles, columns=1)


def _legend(ax: Any, handles: Sequence[Any], columns: int) -> Any:
    from matplotlib import rcParams
    from matplotlib.transforms import ScaledTranslation

    # Ticks, their labels and the axis label lie between; their height depends on the font, not on the axes.
    lines = 1 + len(ax.get_xlabel().splitlines())
    drop = ScaledTranslation(0, -(10 + 1.3 * rcParams["font.size"] * lines) / 72, ax.figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": ax.transAxes + drop}
    legend = ax.legend(handles=handles, ncols=columns, frameon=False, fontsize=SMALL, **place)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def own_ticks(axis: Any, scale: Warp) -> None:
    """Ticks in a feature's own units on an axis that shows its curved scale; they are spread evenly on it."""
    if scale.is_identity:
        return
    low, high = axis.get_view_interval()
    values = {_rounded(float(x)) for x in scale.inverse(np.linspace(low, high, 6)) if np.isfinite(x)}
    places = {x: float(scale(x)) for x in sorted(values)}
    inside = {x: z for x, z in places.items() if low <= z <= high}
    axis.set_ticks(list(inside.values()), [f"{x:,.12g}" for x in inside])


def _rounded(value: float) -> float:
    """The value with two digits."""
    return float(f"{value:.1e}")


def found_point(explanation: Explanation) -> NDArray[np.float64]:
    """The numbers of the counterfactual, on the scales on which distances are measured.

    An explanation without one cannot be drawn.
    """
    question, point = explanation.question, explanation.answer.point
    if point is None or not isinstance(question, Question):
        raise DataError(f"there is no counterfactual to draw: {explanation.message}")
    return question.warped(point)
