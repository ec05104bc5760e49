"""Tables and labels as arrays that a classifier can learn from; complaints name column and row."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from surefoot.defaults import LARGEST_CATEGORY
from surefoot.exceptions import DataError, SurefootWarning
from surefoot.formats import listed
from surefoot.model.columns import Lookup, are_whole
from surefoot.model.schema import Schema, as_frame
from surefoot.table.labelled import column_faults, duplicate_names, joined, plain_labels
from surefoot.table.rare import RARE as RARE_NAME

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

LEAST_ROWS = 100  # on which models are compared, at least; with ten times fewer, chance would choose
RARE = (
    10  # rows of a rare class that are drawn in any case; ten times more would change its share of the rows
)
# Values with fewer rows on average name rows; with ten times more, large categories would be called names.
ROWS_OF_A_VALUE = 2
# With fewer rows values differ by chance; with ten times more, the identifier of a small table is not seen.
FEW_ROWS = 20
NUMERIC = {"dtype": "numeric", "ensure_all_finite": "allow-nan"}


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What `fit` learns from.

    Parameters
    ----------
    schema : Schema
    numbers : array of shape (rows, n_numbers)
        Of any numeric type: integers and single precision are widened chunk by chunk.
    codes : array of shape (rows, n_categories)
    classes : array
        The labels, each once, sorted.
    labels : array of int
        Position of each row's label among the classes.
    weights : array, optional
    """

    schema: Schema
    numbers: NDArray[Any]
    codes: Codes
    classes: NDArray[Any]
    labels: Codes
    weights: Array | None

    def part(self, rows: Any) -> TrainingRows:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(
            self,
            numbers=self.numbers[rows],
            codes=self.codes[rows],
            labels=self.labels[rows],
            weights=weights,
        )


def drawn_rows(labels: Codes, n_classes: int, most: Any, random_state: int | None) -> Codes:
    """At most so many rows, as large a share of every class; of rare classes at least ten rows.

    Parameters
    ----------
    labels : array of int
    n_classes : int
    most : int or None
        None takes all rows.
    random_state : int or None
    """
    if most is None:
        return np.arange(len(labels))
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < LEAST_ROWS:
        raise DataError(
            f"rows to compare models on must be a whole number from {LEAST_ROWS} on, or None, not {most!r}"
        )
    if len(labels) <= most:
        return np.arange(len(labels))
    rng, share, taken = np.random.default_rng(random_state), most / len(labels), []
    for c in range(n_classes):
        own = np.flatnonzero(labels == c)
        taken.append(rng.choice(own, max(min(len(own), RARE), int(share * len(own))), replace=False))
    return np.sort(np.concatenate(taken))


def training_rows(
    clf: Any, X: Any, y: Any, sample_weight: Any, least_classes: int = 2, reset: bool = True
) -> TrainingRows:
    """Check data as scikit-learn does, and find out what each column holds.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
        Its settings; it learns the names of the features.
    X, y, sample_weight
        As in `fit`.
    least_classes : int
        Fewer labels are refused.
    reset : bool
        Whether these are the first rows; otherwise the features must be those that it knows.
    """
    refuse_duplicate_names(X)
    if _may_hold_categories(X, clf.categorical, clf.ordered):
        schema = Schema.learned(X, clf.categorical, clf.ordered, feature_labels(X, as_frame(X).shape[1]))
        refuse_many_values(schema)
        if not schema.is_plain:
            found = _mixed_rows(clf, X, y, sample_weight, (schema, reset))
            return _with_enough_classes(found, least_classes)
    return _with_enough_classes(_numeric_rows(clf, X, y, sample_weight, reset), least_classes)


def _with_enough_classes(rows: TrainingRows, least: int) -> TrainingRows:
    if len(rows.classes) < least:
        label = rows.classes.tolist()[0]
        raise DataError(f"needs at least two classes, but y holds one class only: {label!r}")
    return rows


def refuse_many_values(schema: Schema) -> None:
    """Refuse a category that is hardly one: text, a date, an identifier."""
    for j, values in zip(schema.categories, schema.category_values, strict=True):
        if len(values) > LARGEST_CATEGORY:
            raise DataError(
                f"column {schema.names[j]!r} is a category of {len(values):,} values, but a category has at "
                f"most {LARGEST_CATEGORY:,}: leave the column out if it holds text, dates or identifiers, or "
                "put its rare values together"
            )


def warn_of_names(rows: TrainingRows, categorical: Any) -> None:
    """Say which categories name single rows, but for those that ``categorical`` lists."""
    meant = () if categorical is None or isinstance(categorical, str) else tuple(categorical)
    schema, known = rows.schema, (rows.codes >= 0).sum(axis=0).tolist()
    found = [
        schema.names[j]
        for j, size, count in zip(schema.categories, schema.sizes, known, strict=True)
        if FEW_ROWS <= count < ROWS_OF_A_VALUE * size and schema.names[j] not in meant
    ]
    if found:
        message = (
            f"values of {listed(found)} have fewer than {ROWS_OF_A_VALUE} rows on average: text, dates and "
            "identifiers are no categories; leave such columns out, or let "
            "surefoot.datasets.read_table read the table"
        )
        warnings.warn(message, SurefootWarning, stacklevel=3)


def known_rows(clf: Any, X: Any) -> tuple[NDArray[Any], Codes]:
    """Numbers and codes of a table, read by the kinds that `fit` saw."""
    refuse_duplicate_names(X)
    if not clf.schema_.is_plain or (isinstance(X, pd.DataFrame) and not _are_plain(X)):
        frame = as_frame(X)
        validate_data(clf, frame, reset=False, skip_check_array=True)
        return clf.schema_.encode(frame)  # type: ignore[no-any-return]
    try:
        found = np.asarray(validate_data(clf, X, reset=False, **NUMERIC))
    except (TypeError, ValueError) as error:
        raise _located(error, X) from None
    return found, np.zeros((len(found), 0), dtype=np.intp)


def with_rare_together(clf: Any, X: Any) -> Any:
    """The table with values that the model counts as rare under their common name, as `fit` saw it."""
    names = [name for name, values in clf.categories_.items() if RARE_NAME in values]
    if not names:
        return X
    found = as_frame(X).copy(deep=False)
    for name in names:
        values = clf.categories_[name]
        lookup = Lookup(name, values)
        shown = {value: values[lookup.code(value)] for value in found[name].dropna().unique()}
        found[name] = found[name].astype(object).map(shown, na_action="ignore")
    return found


def with_plain_numbers(clf: Any, X: Any, numbers: NDArray[Any]) -> Any:
    """The table with the model's numbers as numbers where they are text or truth values, as `fit` saw it."""
    if not isinstance(X, pd.DataFrame) or _are_plain(X):
        return X
    found = X.copy(deep=False)
    for i, j in enumerate(clf.schema_.numbers):
        if found.dtypes.iloc[j].kind in "ObS":
            found[found.columns[j]] = np.asarray(numbers[:, i], dtype=float)
    return found


def refuse_holes(schema: Schema, numbers: NDArray[Any], codes: Codes) -> None:
    """Refuse missing values by column and row, for whoever cannot do with them."""
    holes = {j: np.isnan(numbers[:, i]) for i, j in enumerate(schema.numbers)}
    holes |= {j: codes[:, k] < 0 for k, j in enumerate(schema.categories)}
    faults = [
        f"column {name!r} is missing (NaN){' or unknown' * (j in schema.categories)} in row "
        f"{int(np.argmax(holes[j]))}"
        for j, name in enumerate(schema.names)
        if holes[j].any()
    ]
    if faults:
        raise DataError(joined(faults))


def feature_labels(X: Any, n_features: int) -> tuple[Any, ...]:
    """Column names of a frame (strings or whole numbers), or positions where there are none."""
    names = X.columns.tolist() if isinstance(X, pd.DataFrame) else []
    alike = {type(name) for name in names} in ({str}, {int})
    return tuple(names) if alike else tuple(range(n_features))


def _may_hold_categories(X: Any, categorical: Any, ordered: Any) -> bool:
    """Whether columns have to be looked at; plain arrays and frames of numbers need not be."""
    declared = ordered is not None or not (isinstance(categorical, str) and categorical == "auto")
    if isinstance(X, pd.DataFrame):
        if X.empty:  # scikit-learn complains
            return False
        return declared or not _are_plain(X)
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths, which scikit-learn complains about
        return False
    return array.ndim == 2 and array.size > 0 and (declared or array.dtype.kind in "OU")


def _are_plain(frame: pd.DataFrame) -> bool:
    """Whether all columns are plain numbers, at which nobody has to look."""
    return all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in frame.dtypes)


def _numeric_rows(clf: Any, X: Any, y: Any, sample_weight: Any, reset: bool) -> TrainingRows:
    labels = plain_labels(y)
    try:
        # Integers and single precision stay what they are: rows are widened chunk by chunk.
        X_, y_ = validate_data(clf, X, labels, reset=reset, **NUMERIC)
    except (TypeError, ValueError) as error:
        raise _located(error, X) from None
    classes, codes = _classes(y_)
    weights = _weights(sample_weight, X_)
    schema = Schema.of_numbers(feature_labels(X, X_.shape[1]), whole_columns(X_, weights))
    _refuse_empty_columns(schema, X_ if weights is None else X_[weights > 0])
    return TrainingRows(schema, X_, np.zeros((len(X_), 0), dtype=np.intp), classes, codes, weights)


def _mixed_rows(clf: Any, X: Any, y: Any, sample_weight: Any, known: tuple[Schema, bool]) -> TrainingRows:
    frame, labels, (schema, reset) = as_frame(X), plain_labels(y), known
    validate_data(clf, frame, labels, reset=reset, skip_check_array=True)
    labels = column_or_1d(labels, warn=True)
    check_consistent_length(frame, labels)
    classes, codes = _classes(labels)
    weights = _weights(sample_weight, frame)
    if weights is not None and not (weights > 0).all():  # a row without weight has not been seen
        rows = np.flatnonzero(weights > 0)
        frame, codes, weights = frame.iloc[rows], codes[rows], weights[rows]
        schema = Schema.learned(frame, clf.categorical, clf.ordered, schema.names)
    numbers, states = schema.encode(frame)
    _refuse_empty_columns(schema, numbers)
    return TrainingRows(schema, numbers, states, classes, codes, weights)


def _classes(y: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    try:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:
        raise DataError("labels must all be of one kind (all numbers or all strings)") from None
    except ValueError as error:
        raise DataError(str(error)) from None
    return classes, codes


def _weights(sample_weight: Any, X: Any) -> Array | None:
    if sample_weight is None:
        return None
    weights: Array = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return weights


def whole_columns(X: NDArray[Any], weights: Array | None = None) -> tuple[bool, ...]:
    """Whether each column holds whole numbers only, missing ones aside."""
    seen = X if weights is None else X[weights > 0]
    return tuple(are_whole(column) for column in seen.T)


def _refuse_empty_columns(schema: Schema, numbers: NDArray[Any]) -> None:
    for i, j in enumerate(schema.numbers):
        if np.isnan(numbers[:, i]).all() and len(numbers):
            raise DataError(f"column {schema.names[j]!r} is missing (NaN) in every row; drop it")


def refuse_duplicate_names(X: Any) -> None:
    """Refuse a table with two columns of one name."""
    twice = duplicate_names(list(X.columns)) if isinstance(X, pd.DataFrame) else []
    if twice:
        raise DataError(f"column name {twice[0]!r} occurs more than once")


def _located(error: Exception, X: Any) -> Exception:
    """The same complaint with the columns and rows it is about, where they can be found."""
    if "Complex" in str(error) or (isinstance(error, TypeError) and not isinstance(X, pd.DataFrame)):
        return error
    try:
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
        faults = [fault for fault in column_faults(frame) if " is missing " not in fault]
    except (TypeError, ValueError):  # not a table at all; scikit-learn's own words will do
        return error
    return DataError(joined(faults)) if faults else error
