"""From the prior to the log-odds: what each feature adds."""

from __future__ import annotations

from typing import Any, NamedTuple

from surefoot.explain.result.reasons import Reason, Reasons
from surefoot.formats import value_text
from surefoot.ui.plots.style import (
    FACTUAL,
    INK,
    MINUS,
    MUTED,
    SMALL,
    TARGET,
    bars_by_name,
    checked_count,
    legend_below,
    new_axes,
    shortened,
)


class _Step(NamedTuple):
    name: str
    start: float
    end: float
    note: str = ""


def plot_reasons(reasons: Reasons, *, ax: Any = None, max_features: int = 12) -> Any:
    """Draw the way from the prior to the log-odds as bars, each beginning where the one above it ends.

    Parameters
    ----------
    reasons : Reasons
    ax : matplotlib Axes, optional
        Drawn into a new figure of fitting size when left out.
    max_features : int, default=12
        At most that many bars of single features, the largest; the others share one.

    Returns
    -------
    matplotlib Axes
    """
    steps = _steps(reasons, checked_count("max_features", max_features))
    if ax is None:
        ax = new_axes((6.4, 1.6 + 0.3 * len(steps)))
    _bars(ax, steps)
    _labels(ax, steps)
    ax.set_xlabel(
        f"log-odds of {shortened(reasons.decided)} against {shortened(reasons.other)}", parse_math=False
    )
    _legend(ax, reasons)
    return ax


def _steps(reasons: Reasons, most: int) -> list[_Step]:
    """Prior, features in the order of their weights, what is left over, and where it ends."""
    weighing = [r for r in reasons.each if r.weight != 0]
    largest = sorted(weighing, key=lambda r: -abs(r.weight))[:most]
    rest = [r for r in weighing if r not in largest]
    found = [_Step("prior", 0.0, reasons.prior)]
    for reason in sorted(largest, key=lambda r: -r.weight):
        found.append(
            _Step(
                _name(reason, reasons), found[-1].end, found[-1].end + reason.weight, value_text(reason.value)
            )
        )
    if rest:
        words = "1 more feature" if len(rest) == 1 else f"{len(rest)} more features"
        found.append(_Step(words, found[-1].end, found[-1].end + sum(r.weight for r in rest)))
    return [*found, _Step("log-odds", 0.0, reasons.log_odds)]


def _name(reason: Reason, reasons: Reasons) -> str:
    return shortened(reason.feature) + (" *" if reason.feature in reasons.kept else "")


def _bars(ax: Any, steps: list[_Step]) -> None:
    for place, step in enumerate(steps):
        width = step.end - step.start
        total = place in (0, len(steps) - 1)
        colour = "#BBBBBB" if total else (FACTUAL if width > 0 else TARGET)
        hatch = "" if total or width > 0 else "////"
        ax.barh(
            place,
            width,
            left=step.start,
            height=0.62,
            facecolor=colour,
            edgecolor=INK,
            linewidth=0.6,
            hatch=hatch,
            zorder=2,
        )
        if place + 1 < len(steps):
            ax.plot([step.end] * 2, [place - 0.31, place + 1.31], color=MUTED, linewidth=0.6, zorder=1)
    bars_by_name(ax, [step.name for step in steps])
    ax.use_sticky_edges = False  # otherwise the farthest bar touches the column beside the axes
    ax.margins(x=0.04)
    ax.locator_params(axis="x", nbins=max(2, min(6, round(ax.figure.get_figwidth() - 1.5))))


def _labels(ax: Any, steps: list[_Step]) -> None:
    """Values and weights in a column beside the axes: there they meet no bar."""
    across = {"transform": ax.get_yaxis_transform(), "fontsize": SMALL, "va": "center", "parse_math": False}
    ax.text(1.02, -0.6, "weight, value", color=MUTED, **{**across, "va": "bottom"})
    for place, step in enumerate(steps):
        weight = f"{step.end - step.start:+.2f}".replace("-", MINUS)
        note = f"  {shortened(step.note, 22)}" if step.note else ""
        ax.text(1.02, place, f"{weight}{note}", **across)


def _legend(ax: Any, reasons: Reasons) -> None:
    from matplotlib.patches import Patch

    line: dict[str, Any] = {"edgecolor": INK, "linewidth": 0.6}
    decided, other = (shortened(name) for name in (reasons.decided, reasons.other))
    handles = [
        Patch(facecolor=FACTUAL, label=f"speaks for {decided}", **line),
        Patch(facecolor=TARGET, hatch="////", label=f"speaks for {other}", **line),
    ]
    if any(r.feature in reasons.kept for r in reasons.each):
        handles.append(Patch(facecolor="none", edgecolor="none", label="* cannot be changed"))
    legend_below(ax, handles)
