"""Draw a graph over features, with the class node that all of them depend on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import cos, pi, sin
from typing import Any

from surefoot.model.dag import Dag
from surefoot.ui.plots.style import FAINT, INK, new_axes, shortened

CLASS_NODE = -1
Positions = dict[int, tuple[float, float]]

NUMBER = {"boxstyle": "round,pad=0.35", "facecolor": "white", "linestyle": "-"}
CATEGORY = {"boxstyle": "square,pad=0.35", "facecolor": "#dce9f5", "linestyle": "-"}


def plot_dag(
    dag: Dag,
    names: Sequence[Any],
    *,
    ax: Any = None,
    class_name: str = "class",
    categories: Collection[int] = (),
) -> Any:
    """Draw features as boxes, solid arrows from parent to child, dashed arrows from the class.

    Numbers have round corners; categories have square ones and are shaded.

    Parameters
    ----------
    dag : Dag
    names : sequence
        Feature names.
    ax : matplotlib Axes, optional
        Drawn into a new figure of fitting size when left out.
    class_name : str
        What to write into the class node.
    categories : collection of int
        Positions of the features that are categories.

    Returns
    -------
    matplotlib Axes
    """
    places = layers(dag) if dag.n_edges else _circle(dag.n_features)
    labels = [shortened(name) for name in names]
    if ax is None:
        ax = graph_axes(places, max(len(label) for label in labels))
    nodes = {
        node: box(ax, place, class_name if node == CLASS_NODE else labels[node], _look(node, categories))
        for node, place in places.items()
    }
    for child in range(dag.n_features):
        arrow(ax, nodes[CLASS_NODE], nodes[child], linestyle=(0, (4, 3)), color=FAINT, linewidth=0.8)
    arrows(ax, dag, nodes)
    _legend(ax, bool(dag.n_edges), len(categories), dag.n_features)
    frame(ax, places)
    return ax


def layers(dag: Dag) -> Positions:
    """Rows by depth, the class on top; each feature sits near the middle of its neighbours."""
    rows: list[list[int]] = [[] for _ in range(max(dag.depths) + 1)]
    for feature in dag.order:
        rows[dag.depths[feature]].append(feature)
    neighbours: list[list[int]] = [list(group) for group in dag.parents]
    for parent, child in dag.edges:
        neighbours[parent].append(child)
    x = {feature: float(k) for row in rows for k, feature in enumerate(row)}
    for _ in range(12):
        for row in rows:
            row.sort(key=lambda f: sum(x[j] for j in neighbours[f]) / max(len(neighbours[f]), 1))
            for k, feature in enumerate(row):
                x[feature] = k - (len(row) - 1) / 2
    places: Positions = {
        f: (x[f] + 0.25 * (depth % 2), -1.0 - depth) for depth, row in enumerate(rows) for f in row
    }
    places[CLASS_NODE] = (0.0, 0.3)
    return places


def _circle(n: int) -> Positions:
    """Features around the class, as in the paper's figure of naive Bayes."""
    radius = max(1.0, n * 0.9 / (2 * pi))
    places = {i: (radius * sin(2 * pi * i / n), radius * cos(2 * pi * i / n)) for i in range(n)}
    return {**places, CLASS_NODE: (0.0, 0.0)}


def graph_axes(places: Positions, longest_name: int) -> Any:
    """Axes in a new figure in which boxes with names of that many letters do not touch."""
    xs, ys = zip(*places.values(), strict=True)
    column = 0.7 + 0.09 * max(longest_name, 6)
    size = (column * (max(xs) - min(xs) + 1.2), 0.85 * (max(ys) - min(ys) + 1.4))
    return new_axes((max(size[0], 4.0), max(size[1], 3.0)))


def _look(node: int, categories: Collection[int]) -> dict[str, Any]:
    """Shape and shade of a node."""
    if node == CLASS_NODE:
        return {"boxstyle": "circle,pad=0.3", "facecolor": "#eeeeee", "linestyle": "--"}
    return CATEGORY if node in categories else NUMBER


def box(ax: Any, place: tuple[float, float], label: str, look: dict[str, Any]) -> Any:
    """A node: its label in a box."""
    style = {"edgecolor": INK, **look}
    return ax.text(
        *place, label, ha="center", va="center", fontsize=9, bbox=style, zorder=4, parse_math=False
    )


def arrows(ax: Any, dag: Dag, nodes: Mapping[int, Any]) -> None:
    """An arrow for each edge of the graph."""
    for parent, child in dag.edges:
        span = dag.depths[child] - dag.depths[parent]
        # An arrow that skips a row bends, so that it does not run through the nodes between.
        arrow(ax, nodes[parent], nodes[child], color=INK, linewidth=1.3, bend=0.0 if span == 1 else 0.18)


def arrow(ax: Any, start: Any, end: Any, bend: float = 0.0, **style: Any) -> None:
    """An arrow between two nodes that stops at the edges of their boxes."""
    shape = {"arrowstyle": "-|>", "shrinkA": 1, "shrinkB": 1, "connectionstyle": f"arc3,rad={bend}"}
    boxes = {"patchA": start.get_bbox_patch(), "patchB": end.get_bbox_patch()}
    arrow = {**shape, **boxes, **style}
    ax.annotate("", xy=end.get_position(), xytext=start.get_position(), arrowprops=arrow, zorder=2)


def _legend(ax: Any, has_edges: bool, n_categories: int, n_features: int) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=FAINT, linestyle="--", label="depends on the class")]
    if has_edges:
        handles.insert(0, Line2D([], [], color=INK, label="depends on the feature"))
    if n_categories:
        box: dict[str, Any] = {"linestyle": "none", "markeredgecolor": INK, "markersize": 8}
        shade = str(CATEGORY["facecolor"])
        handles.append(Line2D([], [], marker="s", markerfacecolor=shade, label="category", **box))
        if n_categories < n_features:
            handles.append(Line2D([], [], marker="o", markerfacecolor="white", label="number", **box))
    ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False, fontsize=8
    )


def frame(ax: Any, places: Positions) -> None:
    """Limits that leave room for the boxes; no axes."""
    xs, ys = zip(*places.values(), strict=True)
    ax.set_xlim(min(xs) - 0.6, max(xs) + 0.6)
    ax.set_ylim(min(ys) - 0.5, max(ys) + 0.5)
    ax.set_axis_off()
