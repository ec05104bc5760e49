"""The training rows of a model that is adopted, as the model saw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length, column_or_1d

from surefoot.exceptions import DataError
from surefoot.model.adoption.wrappers import unwrapped
from surefoot.model.rows import refuse_duplicate_names
from surefoot.table.labelled import plain_labels


class Data(NamedTuple):
    """Rows and labels.

    Parameters
    ----------
    frame : DataFrame
        The rows, columns in the order that the model knows.
    named : bool
        Whether the model knows its columns by name; otherwise by position.
    absent : frozenset of int
        Columns that the user left out; the pipeline must drop them.
    labels : array
        Of the model's own type.
    """

    frame: pd.DataFrame
    named: bool
    absent: frozenset[int]
    labels: NDArray[Any]

    def for_model(self, rows: pd.DataFrame) -> Any:
        """Rows of this frame in the form that the model was fitted on."""
        present = [j for j in range(rows.shape[1]) if j not in self.absent]
        return rows.iloc[:, present] if self.named else rows.to_numpy()


def read_data(estimator: Any, data: Any) -> Data:
    """Check the pair (X, y) against the fitted model."""
    X, y = pair(data)
    names = _seen_names(estimator)
    if names is None:
        frame = pd.DataFrame(np.asarray(X)).infer_objects()
        absent = frozenset[int]()
    else:
        frame, absent = _by_name(X, names)
    n = getattr(estimator, "n_features_in_", frame.shape[1])
    if frame.shape[1] != n:
        raise DataError(f"data: X has {frame.shape[1]} features, but {type(estimator).__name__} expects {n}")
    classes = np.asarray(estimator.classes_)
    return Data(_widened(frame), names is not None, absent, classes[class_codes(classes.tolist(), y, frame)])


def pair(data: Any) -> tuple[Any, Any]:
    """The two parts of data."""
    if not (isinstance(data, tuple | list) and len(data) == 2):
        raise DataError("data must be the pair (X, y) that the estimator was fitted on")
    return data[0], data[1]


def class_codes(classes: Sequence[Any], y: Any, rows: Any) -> NDArray[np.intp]:
    """The position of the label of each row among the classes, all of which must occur."""
    try:
        labels = column_or_1d(plain_labels(y)).tolist()
        check_consistent_length(rows, labels)
    except ValueError as error:
        raise DataError(f"data: {error}") from None
    position = {label: c for c, label in enumerate(classes)}
    strange = sorted({repr(label) for label in labels if label not in position})
    if strange:
        raise DataError(f"data has the label {strange[0]}, but the classes are {classes}")
    absent = sorted(position.keys() - set(labels), key=classes.index)
    if absent:
        raise DataError(f"data has no row of class {absent[0]!r}")
    return np.array([position[label] for label in labels], dtype=np.intp)


def _seen_names(estimator: Any) -> list[Any] | None:
    """The names of the columns that the first step which looks at them was fitted on."""
    estimator = unwrapped(estimator)
    if isinstance(estimator, Pipeline):
        parts = [step for _, step in estimator.steps if step is not None and not isinstance(step, str)]
        return _seen_names(parts[0])
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else list(names)


def _by_name(X: Any, names: list[Any]) -> tuple[pd.DataFrame, frozenset[int]]:
    if not isinstance(X, pd.DataFrame):
        table = pd.DataFrame(np.asarray(X)).infer_objects()
        if table.shape[1] != len(names):
            raise DataError(f"data: X has {table.shape[1]} features, but the model expects {len(names)}")
        return table.set_axis(names, axis=1), frozenset()
    refuse_duplicate_names(X)
    absent = frozenset(j for j, name in enumerate(names) if name not in X.columns)
    return X.reindex(columns=names), absent


def _widened(frame: pd.DataFrame) -> pd.DataFrame:
    """Single precision as double, in which all else is computed."""
    narrow = [j for j, dtype in enumerate(frame.dtypes) if dtype in (np.float32, np.float16)]
    return frame.astype({frame.columns[j]: np.float64 for j in narrow})
