"""What changes, feature by feature, and what the network expects of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.formats import in_list
from surefoot.problem.question import Question

if TYPE_CHECKING:
    from surefoot.explain.result.explanation import Explanation

Array = NDArray[np.float64]


def changes_table(e: Explanation) -> pd.DataFrame:
    """See `Explanation.changes`."""
    difference, deviations = _moved(e)
    table = pd.DataFrame(
        {
            "feature": list(e.factual.index),
            "from": e.factual.to_numpy(),
            "to": _end(e).to_numpy(),
            "difference": difference,
            "in standard deviations": deviations,
        }
    )
    return table.iloc[largest_first(e)[0]].reset_index(drop=True)


def expectations_table(e: Explanation) -> pd.DataFrame:
    """See `Explanation.expectations`."""
    if e.counterfactual is None or e.z_score is None:
        raise DataError(f"there is no counterfactual to look at: {e.message}")
    names = list(e.factual.index)
    table = pd.DataFrame(
        {
            "feature": names,
            "depends on": [", ".join(in_list(names[j]) for j in group) for group in e.parents],
            "from": e.factual.to_numpy(),
            "expected before": e.expected_before.to_numpy(),  # type: ignore[union-attr]
            "to": e.counterfactual.to_numpy(),
            "expected after": e.expected_after.to_numpy(),  # type: ignore[union-attr]
            "z-score": e.z_score.to_numpy(),
        }
    )
    order, number = largest_first(e)
    return table.iloc[order[:number]].reset_index(drop=True)


def _end(e: Explanation) -> pd.Series:
    """The row after the change; the factual where there is none."""
    return e.factual if e.counterfactual is None else e.counterfactual


def largest_first(e: Explanation) -> tuple[NDArray[np.intp], int]:
    """The places of the features, the largest change first, and how many of them change."""
    pairs, deviations = zip(e.factual.tolist(), _end(e).tolist(), strict=True), _moved(e)[1]
    differs = np.array([a == a and a != b for a, b in pairs], dtype=bool)  # a hole does not
    sizes = np.where(np.isnan(deviations), np.inf, np.abs(deviations))
    return np.argsort(-np.where(differs, sizes, -1.0), kind="stable"), int(np.sum(differs))


def _moved(e: Explanation) -> tuple[Array, Array]:
    """Differences of the numbers, in their own units and in standard deviations of their scales."""
    names, question = len(e.question.features), e.question
    difference, deviations = np.full(names, np.nan), np.full(names, np.nan)
    if not isinstance(question, Question):
        return difference, deviations
    x0 = question.factual
    x = x0 if e.answer.point is None else e.answer.point
    with np.errstate(all="ignore"):
        difference[list(question.numbers)] = x - x0
        steps = question.warped(x) - question.warped(x0)
        deviations[list(question.numbers)] = steps / e.context.unit
    return difference, deviations
