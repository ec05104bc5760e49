"""A table of rows in, a table of explanations out: one pure function for whatever runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from surefoot.explain.population.columns import (
    NUMBERS,
    Column,
    arrow_schema,
    as_frame,
    fitting,
    result_columns,
)
from surefoot.explain.result.batch import entry
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.rows.batch_explainer import explain_rows
from surefoot.status import Status

if TYPE_CHECKING:
    from surefoot.explain.explainer import CounterfactualExplainer

# Why there is no counterfactual, as a word that programs can read.
REASONS = {
    Status.INVALID: "invalid_row",
    Status.FAILED: "search_failed",
    Status.UNBOUNDED: "search_failed",
    Status.UNDECIDED: "undecided",
    Status.TIME_LIMIT_NO_POINT: "time_limit",
    Status.ITERATION_LIMIT_NO_POINT: "iteration_limit",
    Status.INTERRUPTED_NO_POINT: "interrupted",
    Status.PRECISION_LIMIT_NO_POINT: "precision_limit",
    Status.BOUND_LIMIT_NO_POINT: "bound_limit",
}
BLOCKED, IMPLAUSIBLE, UNREACHABLE = "constraints", "plausible", "no_allowed_change"
ENOUGH = ("enough", "not_enough")


def explain_table(explainer: CounterfactualExplainer, frame: Any, target: Any = None) -> Any:
    """Explain the rows of a frame: one line for each, in order, with columns and types that are fixed.

    A function of its arguments alone, and the explainer can be pickled: it is what Spark's
    ``DataFrame.mapInPandas``, Ray's ``Dataset.map_batches`` and Dask's ``map_partitions`` take. A row
    without a counterfactual keeps its place: ``status`` and ``reason`` say why in words that programs
    can read.

    Parameters
    ----------
    frame : DataFrame
        Its index names the rows (the column ``row``, as text), and is the index of the result.
    target : label, or a list, array or Series of labels, optional
        As in `explain_batch`.

    Returns
    -------
    DataFrame
        With the columns of `table_schema`: ``row``, ``status``, ``reason`` and so on, and for each
        feature ``factual: NAME`` and ``counterfactual: NAME``.

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    >>> explainer = CounterfactualExplainer(clf)
    >>> explainer.explain_table(bank.X.head(2), target=1)[["row", "status", "distance"]].round(3)
      row   status  distance
    0   0  optimal     3.232
    1   1  optimal     3.676
    """
    explanations = explain_rows(explainer, frame, target, brief=True)
    columns = result_columns(explainer.classifier)
    index = frame.index if isinstance(frame, pd.DataFrame) else None
    return as_frame(columns, [line(e, columns) for e in explanations], index)


def table_schema(explainer: CounterfactualExplainer) -> Any:
    """The columns of `explain_table` and their types, as a ``pyarrow.Schema``.

    Text for names and sentences, doubles for numbers, and for classes and categories the type of their
    values.
    """
    return arrow_schema(result_columns(explainer.classifier))


def reason(e: Explanation) -> str:
    """Why there is no counterfactual, as one of a few words; empty where there is one."""
    if e.answer.point is not None:
        return ""
    if e.status is Status.INFEASIBLE:
        if not e.conflict:
            return UNREACHABLE
        return IMPLAUSIBLE if e.conflict == ("plausible",) else BLOCKED
    return REASONS.get(e.status, str(e.status))


def line(e: Explanation, columns: Sequence[Column], more: Mapping[str, str] | None = None) -> list[Any]:
    """The values of one line of the table, and of further columns; infinite numbers stay, unknown is None."""
    known: dict[str, Any] = {name: entry(e, name) for name in (*NUMBERS, "message", "advice", "reasons")}
    known |= {"row": e.row, "status": str(e.status), "reason": reason(e)}
    known |= {"factual_class": e.factual_class, "target": e.target}
    known["conflict"] = "; ".join(e.conflict)
    known["cautions"] = " ".join(dict.fromkeys(caution.code for caution in e.cautions))
    region = e.region
    known |= {"enough": region.words if region else "", "not_enough": region.not_enough if region else ""}
    names = len(e.question.features)
    after = [None] * names if e.counterfactual is None else e.counterfactual.tolist()
    values = [*e.factual.tolist(), *after]
    known |= more or {}
    head = [known[about.name] for about in columns[: -2 * names]]
    pairs = zip([*head, *values], columns, strict=True)
    return [fitting(_shown(value), about.kind) for value, about in pairs]


def _shown(value: Any) -> Any:
    """A cell of a refused row that holds something other than one value, as text."""
    return value if np.ndim(value) == 0 else repr(value)
