"""Draw how honest a classifier's probabilities are, and how Gaussian its residuals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from surefoot.model.diagnosis import calibration_curve
from surefoot.ui.plots.style import (
    FACTUAL,
    FAINT,
    INK,
    MUTED,
    RISING,
    SMALL,
    TARGET,
    label_axes,
    pyplot,
    shortened,
)

if TYPE_CHECKING:
    from surefoot.model.diagnosis import Diagnosis

NAMED = (TARGET, FACTUAL, RISING)  # colours of the numbers that depart most
REACH = 3.5  # standard deviations that are shown


def plot_diagnosis(diagnosis: Diagnosis, *, axes: Any = None) -> Any:
    """Calibration on the left, quantiles of the residuals given their parents on the right.

    Parameters
    ----------
    diagnosis : Diagnosis
    axes : two matplotlib Axes, optional
        Drawn into a new figure when left out.

    Returns
    -------
    array of two matplotlib Axes
    """
    if axes is None:
        axes = pyplot().subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")[1]
    plot_calibration(diagnosis, axes[0])
    plot_residuals(diagnosis, axes[1])
    return axes


def plot_calibration(diagnosis: Diagnosis, ax: Any) -> None:
    """Observed shares against predicted probabilities, in ten bins of equal mass, with 90 % intervals."""
    ax.set_title("Calibration", fontsize=10, color=INK, loc="left")
    if diagnosis.probabilities is None:
        ax.text(0.5, 0.5, "this model has no probabilities", ha="center", va="center", color=MUTED)
        ax.set_axis_off()
        return
    classes = range(len(diagnosis.classes)) if len(diagnosis.classes) > 2 else [1]
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1.0, linestyle=(0, (4, 3)))
    colours = pyplot().get_cmap("viridis")(np.linspace(0.0, 0.85, len(classes)))
    for c, colour in zip(classes, colours if len(classes) > 1 else [TARGET], strict=True):
        curve = calibration_curve(diagnosis.probabilities[:, c], diagnosis.labels == c)
        rows = curve["rows"].to_numpy(dtype=float)
        happened = np.round(curve["observed"].to_numpy(dtype=float) * rows)
        spread = stats.beta(happened + 0.5, rows - happened + 0.5)
        low, high = spread.ppf(0.05), spread.ppf(0.95)
        ax.vlines(curve["predicted"], low, high, color=colour, linewidth=1.2, alpha=0.5)
        name = shortened(diagnosis.classes[c])
        ax.plot(curve["predicted"], curve["observed"], "o-", color=colour, markersize=4, label=name)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    what = f"'{shortened(diagnosis.classes[1])}'" if len(classes) == 1 else "the class"
    label_axes(ax, f"predicted probability of {what}", "observed share")
    if len(classes) > 1:
        _legend(ax)


def plot_residuals(diagnosis: Diagnosis, ax: Any) -> None:
    """Quantiles of each number's residuals against those of a normal distribution."""
    ax.plot([-REACH, REACH], [-REACH, REACH], color=FAINT, linewidth=1.0, linestyle=(0, (4, 3)))
    curves = {name: _quantiles(diagnosis.residuals[name].to_numpy()) for name in diagnosis.residuals}
    curves = {name: curve for name, curve in curves.items() if len(curve[0])}
    departures = {name: float(np.mean((x - y) ** 2)) for name, (x, y) in curves.items()}
    worst = sorted(departures, key=departures.__getitem__, reverse=True)[: len(NAMED)]
    for name, (x, y) in curves.items():
        if name not in worst:
            ax.plot(x, y, color=FAINT, linewidth=0.9)
    for name, colour in zip(worst, NAMED, strict=False):
        ax.plot(*curves[name], color=colour, linewidth=1.6, label=shortened(name))
    ax.set(xlim=(-REACH, REACH), ylim=(-REACH - 1.5, REACH + 1.5))
    label_axes(ax, "normal quantiles", "residuals given parents and class")
    ax.set_title("Residuals (straight if Gaussian)", fontsize=10, color=INK, loc="left")
    if worst:
        _legend(ax)


def _quantiles(residuals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normal and observed quantiles, at most 200 of them."""
    values = np.sort(residuals[np.isfinite(residuals)])
    levels = (np.arange(1, min(len(values), 200) + 1) - 0.5) / max(min(len(values), 200), 1)
    return stats.norm.ppf(levels), np.quantile(values, levels) if len(values) else values


def _legend(ax: Any) -> None:
    legend = ax.legend(frameon=False, fontsize=SMALL, loc="upper left")
    for text in legend.get_texts():
        text.set_parse_math(False)
