"""The decision function over two features: neither convex nor concave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surefoot.exceptions import DataError
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.network import LinearGaussianNetwork
from surefoot.problem.mixed import State
from surefoot.ui.plots.section import number_pair
from surefoot.ui.plots.style import INK, label_axes, legend_below, new_axes, shortened

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
        Numbers; default: the first two. They run over the range seen by ``fit``.
    at : Series, dict or array, optional
        Where the other features are held. Default: the mean of the target class; with categories, those that
        are most probable in it, each given those it depends on, and the mean of the numbers given them.
    other : label, optional
        Default: the first of the other classes.
    ax : matplotlib Axes with ``projection="3d"``, optional
        Drawn into a new figure when left out.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(classifier)
    names, numbers = classifier.feature_labels_, classifier.schema_.numbers
    rivals = [label for label in classifier.classes_.tolist() if label != target]
    H = classifier.decision(target, rivals[0] if other is None else other)
    row, state = _held(classifier, target) if at is None else _row(at, classifier)
    i, j = _first_two(classifier) if features is None else number_pair(features, classifier)
    ax = _three_dimensional(ax)
    X, Y = np.meshgrid(*(_range(classifier.feature_range_[:, numbers[k]]) for k in (i, j)))
    points = np.tile(row, (X.size, 1))
    points[:, i], points[:, j] = classifier.warps_[i](X.ravel()), classifier.warps_[j](Y.ravel())
    label_axes(ax, shortened(names[numbers[i]]), shortened(names[numbers[j]]))
    ax.set_zlabel("H (log-odds)")
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.labelpad = 8
    ax.locator_params(nbins=5)
    _draw(ax, X, Y, np.asarray(H.at(state)(points)).reshape(X.shape))
    return ax


def _first_two(classifier: ConditionalGaussianNetworkClassifier) -> list[int]:
    if classifier.schema_.n_numbers < 2:
        raise DataError(f"a surface needs two numbers; this table has {classifier.schema_.n_numbers}")
    return [0, 1]


def _held(classifier: ConditionalGaussianNetworkClassifier, target: Any) -> tuple[Array, State]:
    """Typical of a class: its most probable categories, and the mean of the (warped) numbers given them."""
    network = classifier.networks_[classifier.classes_.tolist().index(target)]
    if isinstance(network, LinearGaussianNetwork):
        return network.means, ()
    schema, state = classifier.schema_, [0] * classifier.schema_.n_categories
    for k in (schema.categories.index(j) for j in network.dag.order if j in schema.categories):
        given = tuple(state[parent] for parent in network.family(k)[:-1])
        state[k] = int(network.tables[k][given].argmax())
    return network.given(tuple(state)).means, tuple(state)


def _row(at: Any, classifier: ConditionalGaussianNetworkClassifier) -> tuple[Array, State]:
    """The (warped) numbers and the categories of a row."""
    names = classifier.feature_labels_
    if isinstance(at, Mapping | pd.Series):
        missing = [name for name in names if name not in at]
        if missing:
            raise DataError(f"'at' has no value for {missing[0]!r}")
        at = [at[name] for name in names]
    if classifier.schema_.n_categories:
        numbers, state = classifier.schema_.encode_row(list(at))
    else:
        numbers, state = np.ravel(np.asarray(at, dtype=float)), ()
    if numbers.size != classifier.schema_.n_numbers or not np.isfinite(numbers).all():
        raise DataError(f"'at' must be a row of {classifier.schema_.n_numbers} finite numbers")
    return np.array([warp(x) for warp, x in zip(classifier.warps_, numbers, strict=True)]), state


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
