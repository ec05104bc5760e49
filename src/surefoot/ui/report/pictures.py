"""The pictures of a report, as data that a page can hold."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from surefoot import plots
from surefoot.exceptions import DataError, MissingDependencyError
from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.rows.trade_off import TradeOff
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.ui.plots.style import NEGLIGIBLE
from surefoot.ui.plots.values import Values, is_change, is_cost
from surefoot.ui.report.lever_words import few_levers

MANY_NODES = 10  # a graph with more features is too small to read in one column
MOST_NODES = 40  # a graph with more features is not readable on a page


@dataclass(frozen=True)
class Picture:
    """One picture and what it shows; a wide one takes the width of the page."""

    source: str
    caption: str
    wide: bool = False


def case_pictures(e: Explanation, clf: ConditionalGaussianNetworkClassifier | None) -> list[Picture] | None:
    """The pictures of one explanation; None where matplotlib is missing."""
    drawings: list[tuple[Callable[[], Any], str]] = []
    if is_change(e):
        mixed = bool(Values(e).choices)
        drawings.append((lambda: plots.plot_changes(e), MIXED_CHANGES if mixed else CHANGES))
        if clf is not None and clf.schema_.n_numbers > 1 and (not mixed or _a_number_moves(e)):
            drawings.append((lambda: plots.plot_plane(e, clf), MIXED_PLANE if mixed else PLANE))
            if not is_cost(e):
                drawings.append((lambda: plots.plot_whitened_plane(e, clf), WHITENED))
        if few_levers(e):
            drawings.append((lambda: plots.plot_levers(e), LEVERS))
        if len(e.iterations) > 1:
            drawings.append((lambda: plots.plot_trace(e), TRACE))
    if clf is not None and clf.n_features_in_ <= MOST_NODES:
        drawings.append((lambda: _graph(clf), GRAPH))
    found = drawn(drawings)
    if found and clf is not None and clf.schema_.n_categories and clf.n_features_in_ > MANY_NODES:
        found = [replace(picture, wide=picture.caption == GRAPH) for picture in found]
    return found


def _a_number_moves(e: Explanation) -> bool:
    """Whether a plane of numbers has anything to show."""
    return bool((e.changes()["in standard deviations"].abs() >= NEGLIGIBLE).any())


def batch_pictures(batch: Explanations) -> list[Picture] | None:
    """The pictures of a batch; None where matplotlib is missing."""
    if not any(is_change(e) for e in batch.found):
        return []
    moved = [e for e in batch.found if is_change(e)]
    drawings: list[tuple[Callable[[], Any], str]] = []
    if len({e.distance for e in moved}) > 2:  # one or two bars say nothing
        drawings.append((lambda: plots.plot_distances(batch), DISTANCES))
    if any(e.asks_for_robustness and e.coverage < 1 for e in moved):  # else it is all of it, everywhere
        drawings.append((lambda: plots.plot_coverage(batch), COVERAGE))
    drawings.append((lambda: plots.plot_feature_shares(batch), SHARES))
    return drawn(drawings)


def trade_off_pictures(found: TradeOff) -> list[Picture] | None:
    """The curves of a trade-off; None where matplotlib is missing."""
    return drawn([(lambda: plots.plot_trade_off(found), COSTS)], wide=True)


CHANGES = (
    "The change of each feature, in standard deviations among the cases that are decided the same way now."
)
MIXED_CHANGES = (
    "The change of each number, in standard deviations among the cases that are decided the same way now; "
    "and the price of each category that changes."
)
PLANE = (
    "The plane of the two largest changes, all other features as in the counterfactual: where each class is "
    "dense, where the decision turns, and the ball of errors that the budget allows."
)
MIXED_PLANE = (
    "The plane of the two numbers that change most, all other features as in the counterfactual: where each "
    "class is dense, where the decision turns, and the ball of errors that the budget allows."
)
WHITENED = "The same in whitened coordinates, in which distances are measured."
LEVERS = (
    "What to move, and what follows from it along the graph, with the values from and to. The arrows are how "
    "features go together in the data, not what causes what."
)
TRACE = "How the search went: distance, proven bound and violation, round by round."
GRAPH = "Which feature depends on which, as the classifier learned it."
COSTS = (
    "The distance of the answer against what is asked of it, one thing at a time. An orange line below a "
    "point reaches down to what is proven; where none is seen, the two are nearly the same."
)
DISTANCES = "How far the rows are from the other decision."
COVERAGE = "How much of the budget is proven to keep the decision."
SHARES = "How often each feature changes, and by how much where it does."


def _graph(clf: ConditionalGaussianNetworkClassifier) -> Any:
    return plots.plot_dag(clf.dag_, clf.feature_labels_, categories=clf.schema_.categories)


def drawn(drawings: list[tuple[Callable[[], Any], str]], wide: bool = False) -> list[Picture] | None:
    """Pictures with their captions; None where matplotlib is missing."""
    with warnings.catch_warnings():
        # Text stays text in the page: a letter that matplotlib's font lacks is drawn by the reader's browser.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # numbers near the end of what a double holds
        try:
            found = [_picture(draw, caption) for draw, caption in drawings]
        except MissingDependencyError:
            return None
    return [replace(picture, wide=wide) for picture in found if picture is not None]


def _picture(draw: Callable[[], Any], caption: str) -> Picture | None:
    """A picture; None where the numbers of an explanation cannot be drawn, such as distances of 1e300."""
    try:
        return Picture(as_source(draw()), caption)
    except DataError:
        raise
    except (ArithmeticError, ValueError):
        return None


def as_source(axes: Any) -> str:
    """The figure as an SVG image that the page holds itself; the figure is closed."""
    import matplotlib.pyplot as plt
    import numpy as np

    figure = np.ravel(np.asarray(axes, dtype=object))[0].figure
    buffer = io.BytesIO()
    # Fixed identifiers and no date, so that the same explanation gives the same page.
    with plt.rc_context({"svg.hashsalt": "surefoot", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
