"""The decision function over two features: neither convex nor concave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surefoot.exceptions import DataError
from surefoot.faces.plots.section import feature_pair
from surefoot.faces.plots.style import INK, label_axes, legend_below, new_axes, shortened
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier

Array = NDArray[np.float64]
GRID = 61


def plot_surface(
    classifier: ConditionalGaussianNetworkClassifier,
    target: Any,
    *,
    features: Sequence[Any] | None = None,
    at: Any = None,
    other: Any = None,
    ax: Any = None,
) -> Any:
    """Draw H, the log-odds of the target against another class, as a surface over two features.

    Parameters
    ----------
    classifier : ConditionalGaussianNetworkClassifier
        Fitted.
    target : label
    features : two names or positions, optional
        Default: the first two. They run over the range seen by ``fit``.
    at : Series, dict or array, optional
        Where the other features are held. Default: the mean of the target class.
    other : label, optional
        Default: the first of the other classes.
    ax : matplotlib Axes with ``projection="3d"``, optional
        Drawn into a new figure when left out.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(classifier)
    names = classifier.feature_labels_
    rivals = [label for label in classifier.classes_.tolist() if label != target]
    H = classifier.decision_quadratic(target, rivals[0] if other is None else other)
    i, j = feature_pair((0, 1) if features is None else features, names)
    row = classifier.means_[classifier.classes_.tolist().index(target)] if at is None else _row(at, names)
    ax = _three_dimensional(ax)
    X, Y = np.meshgrid(*(_range(classifier.feature_range_[:, k]) for k in (i, j)))
    points = np.tile(row, (X.size, 1))
    points[:, i], points[:, j] = X.ravel(), Y.ravel()
    label_axes(ax, shortened(names[i]), shortened(names[j]))
    ax.set_zlabel("H (log-odds)")
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.labelpad = 8
    ax.locator_params(nbins=5)
    _draw(ax, X, Y, np.asarray(H(points)).reshape(X.shape))
    return ax


def _row(at: Any, names: Sequence[Any]) -> Array:
    if isinstance(at, Mapping | pd.Series):
        missing = [name for name in names if name not in at]
        if missing:
            raise DataError(f"'at' has no value for {missing[0]!r}")
        at = [at[name] for name in names]
    row = np.ravel(np.asarray(at, dtype=float))
    if row.size != len(names) or not np.isfinite(row).all():
        raise DataError(f"'at' must be a row of {len(names)} finite numbers")
    return row


def _three_dimensional(ax: Any) -> Any:
    if ax is None:
        return new_axes((6.0, 5.2), subplot_kw={"projection": "3d"})
    if not hasattr(ax, "plot_surface"):
        raise DataError("a surface needs axes made with projection='3d'")
    return ax


def _range(ends: Array) -> Array:
    low, high = ends
    slack = 0.0 if high > low else 0.5 * max(abs(low), 1.0)  # a constant feature has no range
    return np.linspace(low - slack, high + slack, GRID)


def _draw(ax: Any, X: Array, Y: Array, Z: Array) -> None:
    from matplotlib.lines import Line2D

    ax.computed_zorder = False  # else the surface is drawn over the line that lies on it
    # The dark end of the colours is left out: the line would not be seen on it.
    shades = {"cmap": "cividis", "vmin": Z.min() - 0.6 * np.ptp(Z), "antialiased": False}
    ax.plot_surface(X, Y, Z, rcount=GRID, ccount=GRID, zorder=1, **shades)
    floor = Z.min() - 0.25 * (np.ptp(Z) or 1.0)
    ax.set_zlim(floor, Z.max())
    ax.view_init(elev=28, azim=-55)
    if not Z.min() < 0 < Z.max():
        return
    ax.contour(X, Y, Z, levels=[0.0], colors=INK, linewidths=1.6, zorder=5)
    ax.contour(X, Y, Z, levels=[0.0], colors=INK, linewidths=1.2, linestyles="--", offset=floor, zorder=0)
    handles = [
        Line2D([], [], color=INK, label="H = 0 on the surface"),
        Line2D([], [], color=INK, linestyle="--", label="the same on the floor"),
    ]
    legend_below(ax, handles)
