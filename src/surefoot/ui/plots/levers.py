"""Levers and consequences along the graph: what is moved on purpose, and what follows."""

from __future__ import annotations

from typing import Any

from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.levers import Levers, levers_of
from surefoot.model.dag import Dag
from surefoot.ui.plots.dag import Positions, arrows, box, frame, graph_axes, layers
from surefoot.ui.plots.style import (
    INK,
    MINUS,
    MUTED,
    NEGLIGIBLE,
    SHADE,
    SMALL,
    legend_below,
    shortened,
    unnoticed,
)
from surefoot.ui.plots.values import Values

PULLED = "#F5C77E"
# Of a change, the part that is a pull: with less it mostly follows. Ten times as much, and every lever would.
MOSTLY = 0.5
LOOKS: dict[str, dict[str, Any]] = {
    "lever": {"boxstyle": "round,pad=0.4", "facecolor": PULLED, "linewidth": 1.6},
    "held": {"boxstyle": "round,pad=0.4", "facecolor": "white", "linewidth": 1.6, "linestyle": "--"},
    "follows": {"boxstyle": "round,pad=0.4", "facecolor": SHADE, "linewidth": 0.8},
}
LEGEND = {
    "lever": "lever, and its pull in standard deviations",
    "held": "held where it is",
    "follows": "follows, about as expected",
}


def plot_levers(explanation: Explanation, *, ax: Any = None) -> Any:
    """Draw the features that move along the graph: levers, and what follows from them.

    Each box has the values from and to; of a lever also how far it moves beyond what the features before it
    make expected, in conditional standard deviations. Arrows are how features go together in the data, not
    what causes what.

    Parameters
    ----------
    explanation : Explanation
        Asked with ``whitening="dag"``; with ``norm=1`` there are few levers.
    ax : matplotlib Axes, optional
        Drawn into a new figure of fitting size when left out.

    Returns
    -------
    matplotlib Axes
    """
    found, left_out = noticeable(explanation)
    names = list(explanation.factual.index)
    shown = [j for j, name in enumerate(names) if name in found.pulled or name in found.following]
    dag = _among(explanation.parents, shown)
    places = _places(dag)
    labels = [_label(explanation, found, names[j]) for j in shown]
    if ax is None:
        ax = graph_axes(places, max((len(line) for label in labels for line in label.split("\n")), default=0))
    roles = [_role(explanation, found, names[j]) for j in shown]
    nodes = {k: box(ax, places[k], labels[k], LOOKS[role]) for k, role in enumerate(roles)}
    arrows(ax, dag, nodes)
    frame(ax, places)
    if left_out:
        ax.set_title(unnoticed(left_out), fontsize=SMALL, color=MUTED)
    _legend(ax, roles)
    return ax


def noticeable(explanation: Explanation) -> tuple[Levers, int]:
    """Levers and consequences that a reader would notice, and the number of features left out.

    What moves mostly because others do, and not half of it by a pull of its own, counts as a consequence.
    """
    found = levers_of(explanation)
    changes = explanation.changes().set_index("feature")["in standard deviations"].abs()
    seen = {name for name, size in changes.items() if not size < NEGLIGIBLE}  # a category has no size
    pulls = list(zip(found.pulled, found.pulls, found.own, strict=False))  # categories come last without
    kept = [one for one in pulls if abs(one[1]) >= NEGLIGIBLE and abs(one[2]) >= MOSTLY]
    pulled = tuple(name for name, *_ in kept) + found.pulled[len(pulls) :]
    weak = tuple(name for name, *_ in pulls if name not in pulled)
    following = tuple(name for name in (*found.following, *weak) if name in seen)
    left_out = len(found.pulled) + len(found.following) - len(pulled) - len(following)
    own = tuple(part for *_, part in kept)
    return Levers(pulled, following, tuple(pull for _, pull, _ in kept), own), left_out


def _among(parents: tuple[tuple[int, ...], ...], shown: list[int]) -> Dag:
    """The graph among some features, numbered in their order."""
    place = {j: k for k, j in enumerate(shown)}
    return Dag(tuple(tuple(place[parent] for parent in parents[j] if parent in place) for j in shown))


def _places(dag: Dag) -> Positions:
    """Parents above their children; boxes of three lines need some room."""
    found = layers(dag) if dag.n_features else {}
    return {k: (x, 1.5 * y) for k, (x, y) in found.items() if k >= 0}


def _role(explanation: Explanation, found: Levers, name: Any) -> str:
    if name not in found.pulled:
        return "follows"
    return "lever" if name in explanation.changed else "held"


def _label(explanation: Explanation, found: Levers, name: Any) -> str:
    values = Values(explanation)
    start = values.today(name)
    end = values.reached.get(name, start)
    moved = f"{shortened(start)} → {shortened(end)}" if start != end else f"stays {shortened(start)}"
    lines = [shortened(name), moved.replace("-", MINUS) if name not in values.choices else moved]
    pulls = dict(zip(found.pulled, found.pulls, strict=False))  # categories come last and have none
    if name in pulls:
        lines.append(f"pull {pulls[name]:+.2f}".replace("-", MINUS))
    return "\n".join(lines)


def _legend(ax: Any, roles: list[str]) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(
            facecolor=look["facecolor"],
            edgecolor=INK,
            linestyle=look.get("linestyle", "-"),
            label=LEGEND[role],
        )
        for role, look in LOOKS.items()
        if role in roles
    ]
    if handles:
        legend_below(ax, handles)
