"""The counterfactual, both classes and the decision boundary in one plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.result.explanation import Explanation
from surefoot.model.adoption import adopt
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.ui.plots.section import Section, feature_section, whitened_section
from surefoot.ui.plots.style import (
    FACTUAL,
    INK,
    MUTED,
    SHADE,
    SMALL,
    TARGET,
    label_axes,
    legend_below,
    new_axes,
    own_ticks,
    shortened,
)

Array = NDArray[np.float64]
Window = tuple[Array, Array]  # lower left and upper right corner

DEVIATIONS = (1.0, 2.0, 3.0)
GRID = 301
SMALL_BALL = 0.15  # share of the axes below which the ball is shown enlarged
ROOM = 0.97  # share of the figure's width that is laid out
CORNERS = np.array([(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)])
INSET = (1.04, 0.62, 0.35, 0.38)  # the enlargement, beside the axes where it covers nothing


def plot_plane(
    explanation: Explanation,
    classifier: ConditionalGaussianNetworkClassifier,
    *,
    features: Sequence[Any] | None = None,
    ax: Any = None,
) -> Any:
    """Draw a slice through the counterfactual along two features, the others held at its values.

    Contours of both classes lie 1, 2 and 3 standard deviations from the peak of the class's density
    within the slice. The uncertainty ball is cut by the slice too; where the worst perturbation leaves
    the slice, the cut stays clear of the boundary although the whole ball touches it. A feature that the
    model measures on a curved scale is drawn on that scale; the ticks are in its own units.

    Parameters
    ----------
    explanation : Explanation
        With a counterfactual.
    classifier : ConditionalGaussianNetworkClassifier
        The one that was explained.
    features : two names or positions, optional
        Numbers; default: the two that change most, in standard deviations. Categories are held as in the
        counterfactual.
    ax : matplotlib Axes, optional
        Drawn into a new figure when left out.

    Returns
    -------
    matplotlib Axes
    """
    section = feature_section(explanation, adopt(classifier), features)
    return _draw(new_axes((7.2, 5.2)) if ax is None else ax, section)


def plot_whitened_plane(
    explanation: Explanation,
    classifier: ConditionalGaussianNetworkClassifier,
    *,
    coordinates: Sequence[int] | None = None,
    ax: Any = None,
) -> Any:
    """Draw the slice along two whitened coordinates u = M (x - factual), in which balls are plain.

    The uncertainty ball is a square, circle or diamond, and the contours of the factual class are
    circles. A second ball around the factual has the radius of the distance: no smaller change is enough.

    Parameters
    ----------
    explanation : Explanation
        With a counterfactual.
    classifier : ConditionalGaussianNetworkClassifier
        The one that was explained.
    coordinates : two int, optional
        Rows of the whitening matrix, counted from 0. Default: the two in which the counterfactual moves
        most.
    ax : matplotlib Axes, optional
        Drawn into a new figure when left out.

    Returns
    -------
    matplotlib Axes
    """
    section = whitened_section(explanation, adopt(classifier), coordinates)
    ax = new_axes((7.2, 5.6)) if ax is None else ax
    ax.set_aspect("equal")
    distance_ball = section.distance_ball()
    handle = _outline(
        ax,
        distance_ball,
        color=INK,
        linestyle=(0, (6, 3)),
        linewidth=0.9,
        label=f"cut of the distance ball (radius {section.distance_radius:.4g})",
    )
    return _draw(ax, section, distance_ball, [handle])


def _draw(ax: Any, section: Section, also_shown: Array | None = None, handles: Sequence[Any] = ()) -> Any:
    """Everything that both kinds of planes show."""
    window = _window(section, also_shown)
    drawn = [
        *_regions(ax, section, window),
        *_densities(ax, section),
        *_points(ax, section),
        *_ball(ax, section),
        *handles,
    ]
    ax.set(xlim=(window[0][0], window[1][0]), ylim=(window[0][1], window[1][1]))
    for axis, scale in zip((ax.xaxis, ax.yaxis), section.scales, strict=True):
        own_ticks(axis, scale)
    for axis, scale, feature in zip(
        (ax.xaxis, ax.yaxis), section.scales, section.features or (), strict=False
    ):
        if scale.is_identity and section.classifier.schema_.whole[feature]:
            axis.get_major_locator().set_params(integer=True)
    label_axes(ax, *section.labels)
    if section.explanation.asks_for_robustness:
        _enlargement(ax, section, window)
    legend_below(ax, drawn)
    return ax


def _window(section: Section, also_shown: Array | None) -> Window:
    """Around both points and the middle of both classes, which may not push the points to the edge."""
    points = np.array([section.center, section.factual])
    if also_shown is not None:
        points = np.vstack([points, also_shown])
    kernels = [section.ellipse(label, 2.0) for label in _classes(section)]
    unit = np.min([np.ptp(kernel, axis=0) for kernel in kernels], axis=0)
    reach = np.maximum(1.5 * np.ptp(points, axis=0), 0.5 * unit)
    low, high = points.min(axis=0), points.max(axis=0)
    around = np.vstack([*kernels, section.ball()])
    low = np.maximum(np.minimum(low, around.min(axis=0)), low - reach)
    high = np.minimum(np.maximum(high, around.max(axis=0)), high + reach)
    half = 0.58 * (high - low)
    if also_shown is not None:  # whitened coordinates have one unit, so a square shows circles as circles
        half = np.full(2, half.max())
    least, most = section.possible()
    return np.maximum((low + high) / 2 - half, least), np.minimum((low + high) / 2 + half, most)


def _classes(section: Section) -> list[Any]:
    return [section.explanation.factual_class, section.explanation.target]


def _regions(ax: Any, section: Section, window: Window) -> list[Any]:
    """The decision boundary, and the target's side of it shaded."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    sides = [np.linspace(low, high, GRID) for low, high in zip(*window, strict=True)]
    X, Y = np.meshgrid(*sides)
    margin = section.margin(np.column_stack([X.ravel(), Y.ravel()])).reshape(X.shape)
    if margin.max() > 0:
        ax.contourf(X, Y, margin, levels=[0.0, margin.max()], colors=[SHADE], zorder=0)
    if margin.min() < 0 < margin.max():
        ax.contour(X, Y, margin, levels=[0.0], colors=INK, linewidths=1.8, zorder=2)
    name = shortened(section.explanation.target, 16)
    return [
        Line2D([], [], color=INK, linewidth=1.8, label="decision boundary"),
        Patch(facecolor=SHADE, label=f"decided as class {name}"),
    ]


def _densities(ax: Any, section: Section) -> list[Any]:
    handles = []
    for label, color, line in zip(_classes(section), (FACTUAL, TARGET), ("--", "-"), strict=True):
        for k in DEVIATIONS:
            handle = _outline(
                ax, section.ellipse(label, k), color=color, linestyle=line, linewidth=1.5 - 0.3 * k, zorder=1
            )
        handle = _outline(ax, np.empty((0, 2)), color=color, linestyle=line, linewidth=1.0)
        handle.set_label(f"class {shortened(label, 16)}: 1, 2, 3 standard deviations")
        handles.append(handle)
    return handles


def _points(ax: Any, section: Section) -> list[Any]:
    """Factual (hollow if it lies outside of the plane), counterfactual, and the way between them."""
    start, end = section.factual, section.center
    face = "white" if section.projected else FACTUAL
    dot = {"linestyle": "none", "markeredgecolor": INK, "zorder": 6}
    name = "factual (projected)" if section.projected else "factual"
    factual = ax.plot(*start, marker="o", markersize=8, markerfacecolor=face, label=name, **dot)[0]
    factual.set_markeredgecolor(FACTUAL if section.projected else INK)
    factual.set_markeredgewidth(1.8 if section.projected else 1.0)
    found = ax.plot(*end, marker="D", markersize=7, markerfacecolor=TARGET, label="counterfactual", **dot)[0]
    if not np.array_equal(start, end):
        arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.2, "shrinkA": 5, "shrinkB": 5}
        ax.annotate("", xy=end, xytext=start, arrowprops=arrow, zorder=5)
    return [factual, found]


def _ball(ax: Any, section: Section) -> list[Any]:
    if not section.explanation.asks_for_robustness:
        return []
    budget = section.explanation.budget
    size = "budget by feature" if isinstance(budget, dict) else f"radius {budget:g}"
    label = f"cut of the uncertainty ball ({size})"
    return [_outline(ax, section.ball(), color=INK, linewidth=1.2, linestyle=":", zorder=4, label=label)]


def _outline(ax: Any, outline: Array, **style: Any) -> Any:
    return ax.plot(outline[:, 0], outline[:, 1], **style)[0]


def _enlargement(ax: Any, section: Section, window: Window) -> None:
    """Ball and boundary once more beside the axes, if the ball is too small to be seen."""
    half = np.ptp(section.ball(), axis=0) / 2
    if not half.all() or (2 * half > SMALL_BALL * (window[1] - window[0])).any():
        return
    inset = ax.inset_axes(INSET)
    layout = ax.figure.get_layout_engine()
    if type(layout).__name__ == "ConstrainedLayoutEngine":
        layout.set(rect=(0.0, 0.0, ROOM, 1.0))  # constrained layout stops a step short of an inset's edge
    inset.set_title("enlarged", fontsize=SMALL, color=MUTED)
    near = _near(section, half)
    _regions(inset, section, near)
    _ball(inset, section)
    inset.plot(*section.center, marker="D", markersize=6, markerfacecolor=TARGET, markeredgecolor=INK)
    inset.set(xlim=(near[0][0], near[1][0]), ylim=(near[0][1], near[1][1]), xticks=[], yticks=[])
    indicator = ax.indicate_inset_zoom(inset, edgecolor=MUTED, alpha=1.0)
    for connector in indicator.connectors or ():
        connector.set_visible(False)  # the lines would cross the plot and look like data


def _near(section: Section, half: Array) -> Window:
    """Around the ball, and wider if that brings the boundary into sight."""
    for scale in (2.2, 3.5, 5.0):
        window = section.center - scale * half, section.center + scale * half
        frame = section.center + scale * half * CORNERS
        if section.margin(frame).min() < 0:
            return window
    return section.center - 2.2 * half, section.center + 2.2 * half
