"""Learning from rows that are seen only once: batches of `partial_fit`, and the parts of a Dask table."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import update_wrapper
from importlib import import_module
from types import MethodType
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from surefoot.exceptions import DataError
from surefoot.model.fitting import (
    Gathered,
    Learned,
    check_settings,
    class_priors,
    fitted_warps,
    learned_structure,
    refuse_unusable,
)
from surefoot.model.moments import class_moments
from surefoot.model.rows import TrainingRows, refuse_holes, refuse_many_values, training_rows
from surefoot.model.stream import Stream

Array = NDArray[np.float64]


class SecondPassError(DataError, AttributeError):
    """Settings need more than one look at the rows: `partial_fit` is then as good as absent."""


class OnePassMethod:
    """A method that an object only has while its settings need no second look at the rows.

    Parameters
    ----------
    function : function
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(cast("Callable[..., Any]", self), function)
        self.function = function

    def __get__(self, clf: Any, owner: type) -> Any:
        """The method, or an error that says which setting is in the way."""
        if clf is None:
            return self.function
        refuse_second_pass(clf, self.function.__name__)
        return MethodType(self.function, clf)


def refuse_second_pass(clf: Any, what: str) -> None:
    """Refuse settings that need to look at rows more than once."""
    needs = {
        "structure must be 'naive' or a graph": isinstance(clf.structure, str) and clf.structure != "naive",
        "marginals must be 'gaussian'": clf.marginals != "gaussian",
        "shrinkage must be a number": isinstance(clf.shrinkage, str),
        "calibration must be None": clf.calibration is not None,
    }
    for message, wrong in needs.items():
        if wrong:
            raise SecondPassError(f"{what} sees each row only once, so {message}")


def next_stream(clf: Any, seen: Stream | None, batch: tuple[Any, Any, Any], classes: Any) -> Stream:
    """What was seen before, and what one more batch says.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
    seen : Stream, optional
        None before the first batch.
    batch : (X, y, sample_weight)
    classes : array, optional
        All labels that are to come.
    """
    check_settings(clf)
    if seen is None:
        stream = batch_stream(clf, *batch)
        return stream if classes is None else with_classes(stream, classes)
    reader = copy(clf)
    if seen.schema.n_categories:  # a category stays one, whatever this batch looks like by itself
        reader.categorical = [seen.schema.names[j] for j in seen.schema.categories]
    stream = batch_stream(reader, *batch, seed=int(seen.moments.rows.sum()), reset=False)
    return seen.merged(stream if classes is None else with_classes(stream, classes))


def batch_stream(clf: Any, X: Any, y: Any, sample_weight: Any, seed: int = 0, reset: bool = True) -> Stream:
    """What one batch says; one class may be all there is.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
        Its settings, and what it knows about the features already.
    X, y, sample_weight
        As in `fit`.
    seed : int
        For the sample.
    reset : bool
        Whether this is the first batch.
    """
    rows = training_rows(clf, X, y, sample_weight, least_classes=1, reset=reset)
    try:
        refuse_holes(rows.schema, rows.numbers, rows.codes)
    except DataError as error:
        raise DataError(f"holes need more than one pass over the rows, as fit makes: {error}") from None
    moments = class_moments(rows.numbers, rows.labels, len(rows.classes), rows.weights)
    return Stream.of(rows, learned_structure(clf, rows, moments).dag, moments, seed)


def with_classes(stream: Stream, classes: Any) -> Stream:
    """The same, with the labels that are to come."""
    announced = np.unique(np.asarray(classes))
    strange = [label for label in stream.classes.tolist() if label not in announced.tolist()]
    if strange:
        raise DataError(f"label {strange[0]!r} is not among the classes {announced.tolist()}")
    return replace(stream.widened(stream.schema, announced), announced=True)


def streamed(clf: Any, stream: Stream, complete: bool = False) -> tuple[TrainingRows, Learned] | None:
    """Sample and model from all that was seen; None while a class has fewer than two rows.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
    stream : Stream
    complete : bool
        Whether that was all, so that too few rows are an error.
    """
    rows, moments = stream.sample.weighted(stream.moments), stream.moments
    classes = rows.classes.tolist()
    few = len(classes) < 2 or bool(moments.single.any())
    if few and not complete:
        return None
    if len(classes) < 2:
        raise DataError(f"needs at least two classes, but y holds one class only: {classes[0]!r}")
    refuse_many_values(rows.schema)
    refuse_unusable(moments, rows.schema, classes)
    report = learned_structure(clf, rows, moments)
    statistics = stream.statistics if rows.schema.n_categories else None
    found = Gathered(report.dag, rows.schema, moments, statistics, classes)
    share = float(clf.shrinkage)
    prior = class_priors(clf.priors, moments.totals, classes)
    warps = fitted_warps(clf, rows)  # all identities: see `refuse_second_pass`
    return rows, Learned(warps, report, found, share, found.networks(clf, share), prior)


def is_partitioned(X: Any) -> bool:
    """Whether a table comes in parts that are computed when asked for, as Dask's do."""
    return hasattr(X, "to_delayed") and hasattr(X, "npartitions")


def partitioned_stream(clf: Any, X: Any, y: Any, sample_weight: Any) -> Stream:
    """One pass over the parts of a Dask table, merged in pairs on the workers."""
    check_settings(clf)
    refuse_second_pass(clf, "fit of a Dask table")
    dask = import_module("dask")  # whoever has such a table has it
    columns = [X, y] if sample_weight is None else [X, y, sample_weight]
    if not all(is_partitioned(column) for column in columns):
        raise DataError("labels and weights of a Dask table must be Dask Series with the same partitions")
    parts = [column.to_delayed() for column in columns]
    if len({len(part) for part in parts}) != 1:
        raise DataError("table, labels and weights must have the same partitions")
    validate_data(clf, pd.DataFrame(columns=list(X.columns)), skip_check_array=True)
    blank = clone(clf)
    streams = [
        dask.delayed(_part_stream)(blank, group[0], group[1], group[2] if len(group) > 2 else None, seed)
        for seed, group in enumerate(zip(*parts, strict=True))
    ]
    while len(streams) > 1:
        pairs = [streams[i : i + 2] for i in range(0, len(streams), 2)]
        streams = [dask.delayed(_merged)(*pair) if len(pair) > 1 else pair[0] for pair in pairs]
    found: Stream | None = dask.compute(streams[0])[0]
    if found is None:
        raise DataError("there are no rows")
    return found


def _part_stream(clf: Any, X: Any, y: Any, sample_weight: Any, seed: int) -> Stream | None:
    return batch_stream(clone(clf), X, y, sample_weight, seed) if len(X) else None


def _merged(a: Stream | None, b: Stream | None) -> Stream | None:
    if a is None or b is None:
        return a or b
    return a.merged(b)
