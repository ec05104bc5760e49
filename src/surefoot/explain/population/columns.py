"""The columns of a table of explanations: names and types that depend on the explainer alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from surefoot.exceptions import MissingDependencyError

TEXT, NUMBER, WHOLE, TRUTH = "text", "number", "whole", "truth"
PREFIXES = ("factual", "counterfactual")


class Column(NamedTuple):
    """A column of a table of explanations.

    Parameters
    ----------
    name : str
    kind : {"text", "number", "whole", "truth"}
        Text, doubles, 64-bit integers or truth values; each column may have holes.
    """

    name: str
    kind: str


def result_columns(classifier: Any, more: Sequence[str] = ()) -> list[Column]:
    """The columns of every table that an explainer of this classifier makes.

    Parameters
    ----------
    classifier : ConditionalGaussianNetworkClassifier
    more : sequence of str
        Further columns of text, before those of the features.
    """
    label = kind_of(classifier.classes_.tolist())
    found = [Column(name, TEXT) for name in ("row", "status", "reason")]
    found += [Column("factual_class", label), Column("target", label)]
    found += [Column(name, NUMBER) for name in NUMBERS]
    found += [Column(name, TEXT) for name in (*WORDS, *more)]
    schema = classifier.schema_
    for prefix in PREFIXES:
        for name, values, is_date in zip(schema.names, schema.values, schema.dates, strict=True):
            number = TEXT if is_date else NUMBER  # dates as text: 2024-03-01
            found.append(Column(valid(f"{prefix}: {name}"), number if values is None else kind_of(values)))
    return found


NUMBERS = (
    "factual_probability", "probability", "worst_probability", "distance", "lower_bound", "gap", "coverage",
    "certified_radius", "density_percentile", "model_share", "refits", "seconds",
)  # fmt: skip
WORDS = ("message", "advice", "conflict", "cautions", "reasons")


def kind_of(values: Iterable[Any]) -> str:
    """The type that holds all of these values."""
    types = {type(value.item() if isinstance(value, np.generic) else value) for value in values}
    return {frozenset({bool}): TRUTH, frozenset({int}): WHOLE, frozenset({float}): NUMBER}.get(
        frozenset(types), TEXT
    )


def valid(value: Any) -> str:
    """Text that every file can hold: half of a surrogate pair, which UTF-8 has no form for, is escaped."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def fitting(value: Any, kind: str) -> Any:
    """A value of a column, or None where it is missing or of another type.

    Examples
    --------
    >>> fitting(3, "text"), fitting("3", "whole"), fitting(True, "number"), fitting(float("nan"), "text")
    ('3', None, None, None)
    """
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value is pd.NA or value != value:
        return None
    if kind == TEXT:
        return valid(value)
    if isinstance(value, bool) != (kind == TRUTH):
        return None
    return _CONVERTED[kind](value)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _whole(value: Any) -> int | None:
    number = _number(value) if not isinstance(value, str) else None
    return int(number) if number is not None and number.is_integer() and abs(number) < 2**63 else None


_CONVERTED: dict[str, Callable[[Any], Any]] = {NUMBER: _number, WHOLE: _whole, TRUTH: lambda value: value}


def as_frame(columns: Sequence[Column], lines: Sequence[Sequence[Any]], index: Any = None) -> pd.DataFrame:
    """Lines of fitting values as a frame whose types do not depend on them."""
    text = pd.Series(["a"]).dtype  # the type that this pandas has for text
    types = {TEXT: text, NUMBER: "float64", WHOLE: "Int64", TRUTH: "boolean"}
    values = list(zip(*lines, strict=True)) if lines else [()] * len(columns)
    found = [
        pd.Series(list(column), index, dtype=types[about.kind])
        for about, column in zip(columns, values, strict=True)
    ]
    frame = pd.concat(found, axis=1) if found else pd.DataFrame()
    return frame.set_axis([about.name for about in columns], axis=1)


def arrow_schema(columns: Sequence[Column]) -> Any:
    """The same columns as a ``pyarrow.Schema``."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingDependencyError("a schema needs pyarrow: pip install pyarrow") from None
    types = {TEXT: pa.string(), NUMBER: pa.float64(), WHOLE: pa.int64(), TRUTH: pa.bool_()}
    return pa.schema([pa.field(about.name, types[about.kind]) for about in columns])
