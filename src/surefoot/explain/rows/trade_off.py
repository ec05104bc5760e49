"""What it costs: the distance of one row's answer against budget, plausibility and number of models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from surefoot.explain.ask.nested import asks_for_more
from surefoot.explain.result.explanation import Explanation
from surefoot.problem.question import Question
from surefoot.views import view

if TYPE_CHECKING:
    from surefoot.explain.explainer import CounterfactualExplainer

VALUES: dict[str, tuple[Any, ...]] = {
    "budget": (0.0, 0.01, 0.02, 0.05, 0.1, 0.2),
    "plausible": (None, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9),
    "models": (None, 5, 10, 20, 50),
}
COLUMNS = [
    "asked", "value", "distance", "lower_bound", "status", "probability", "density_percentile", "model_share",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class TradeOff:
    """What more safety costs one row; print ``table``, draw it with `plot`, or write it with `write_report`.

    Parameters
    ----------
    table : DataFrame
        One line for each question: what was asked for, how much of it, the distance of the answer, and the
        bound below which it is proved that there is none: by its own proof, or by that of a question that
        asks for less. Infinite where there is no answer; not a number where a solver's word is all there is.
    explanations : tuple of Explanation
        The answer of each line, with its own proof.
    """

    table: pd.DataFrame
    explanations: tuple[Explanation, ...]

    def plot(self, axes: Any = None) -> Any:
        """Draw one panel for each thing asked for; returns the matplotlib Axes."""
        return view("trade-off plot", self, axes=axes)

    def _repr_html_(self) -> str:
        return str(self.table.to_html(index=False, na_rep="-"))

    def __str__(self) -> str:
        return self.table.to_string(index=False, na_rep="-")


def trade_off(
    explainer: CounterfactualExplainer,
    row: Any,
    target: Any = None,
    *,
    budget: Sequence[float] = VALUES["budget"],
    plausible: Sequence[float | None] = VALUES["plausible"],
    models: Sequence[int | None] = (),
) -> TradeOff:
    """What more safety costs one row: its distance against each of these, varied one at a time.

    Parameters
    ----------
    row, target
        As in `explain`.
    budget, plausible, models : sequences
        Values to ask for; an empty one leaves the thing out. ``models`` needs ``data``.

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    >>> found = CounterfactualExplainer(clf).trade_off(bank.X.iloc[0], 1, budget=(0, 0.1), plausible=())
    >>> found.table[["asked", "value", "distance"]].round(2)
        asked  value  distance
    0  budget    0.0      3.18
    1  budget    0.1      3.29
    """
    asked: dict[str, Sequence[Any]] = {"budget": budget, "plausible": plausible, "models": models}
    lines, found = [], []
    for name, values in asked.items():
        for value in values:
            e = explainer.copy(**{name: value}).explain(row, target, on_failure="return")
            lines.append(_line(name, value, e))
            found.append(e)
    bounds = _bounds(found)
    lines = [{**line, "lower_bound": bound} for line, bound in zip(lines, bounds, strict=True)]
    return TradeOff(pd.DataFrame(lines, columns=COLUMNS), tuple(found))


def _bounds(found: Sequence[Explanation]) -> list[float]:
    """What is proven of each: its own bound, or that of a question that asks for less, if that is higher."""
    proven = [e for e in found if e.method == "certified" and isinstance(e.question, Question)]
    bounds = []
    for e in found:
        known = [o.lower_bound for o in proven if e in proven and asks_for_more(_question(e), _question(o))]
        bounds.append(min(max(known, default=math.nan), e.distance))
    return bounds


def _question(e: Explanation) -> Question:
    assert isinstance(e.question, Question)
    return e.question


def _line(name: str, value: Any, e: Explanation) -> dict[str, Any]:
    read = ("distance", "lower_bound", "probability", "density_percentile")
    return {
        "asked": name,
        "value": 0.0 if value is None else float(value),
        "status": str(e.status),
        "model_share": None if e.model_share is None else e.model_share.share,
        **{column: getattr(e, column) for column in read},
    }
