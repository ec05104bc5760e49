"""Explanations: those of a batch, in the order of its rows."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pandas as pd

from surefoot.exceptions import DataError
from surefoot.explain.result.display_digits import whole_numbers
from surefoot.explain.result.explanation import Explanation
from surefoot.plain import parsed
from surefoot.problem.question import Question
from surefoot.views import view

COLUMNS = (
    "status", "factual_class", "target", "factual_probability", "probability", "worst_probability",
    "distance", "lower_bound", "gap", "coverage", "certified_radius",
    "density_percentile", "model_share", "refits", "seconds", "message", "advice", "cautions", "reasons",
    "kept", "preset",
)  # fmt: skip


class Explanations(list[Explanation]):
    """A list of explanations that can be turned into a table and into JSON.

    Examples
    --------
    >>> from surefoot import Explanations
    >>> Explanations().counts()
    {}
    """

    def counts(self) -> dict[str, int]:
        """How many ended with each status."""
        return dict(Counter(str(e.status) for e in self))

    @property
    def found(self) -> Explanations:
        """Those with a counterfactual."""
        return Explanations(e for e in self if e.counterfactual is not None)

    @property
    def about_one_row(self) -> bool:
        """Whether these are answers to several questions about one row and one class."""
        if len(self) < 2 or not all(_same_row(e, self[0]) for e in self):
            return False
        questions = {e.question for e in self}
        return len(questions) == len(self) and None not in questions

    def to_frame(self) -> pd.DataFrame:
        """One line for each row: how it went, the factual and the counterfactual, a column a feature each.

        Categories come by name, whole numbers as integers. The principal reasons are those against the
        target, where the row is not decided so already; what is enough has a column where it was asked for.
        """
        lines = [{name: entry(e, name) for name in COLUMNS} for e in self]
        rows = pd.Index([e.row for e in self], name="row", tupleize_cols=False)
        table = pd.DataFrame(lines, columns=list(COLUMNS), index=rows)
        table["status"] = [str(e.status) for e in self]
        table["cautions"] = [" ".join(dict.fromkeys(caution.code for caution in e.cautions)) for e in self]
        table["reasons"] = table["reasons"].astype(object)
        if any(e.region is not None for e in self):
            regions = [e.region for e in self]
            table["enough"] = pd.Series([r.words if r else "" for r in regions], rows, dtype=object)
            table["not_enough"] = pd.Series([r.not_enough if r else "" for r in regions], rows, dtype=object)
        for name in ("factual_class", "target"):  # a row without one must not turn 1 into 1.0
            table[name] = pd.Series([getattr(e, name) for e in self], rows, dtype=object)
        points = [e.counterfactual for e in self]
        names = list(self[0].factual.index) if self else []
        if any(list(e.factual.index) != names for e in self):
            raise DataError("these explanations are about different features; they make no common table")
        columns = {f"factual: {name}": [e.factual.iloc[k] for e in self] for k, name in enumerate(names)}
        columns |= {
            f"counterfactual: {name}": [math.nan if x is None else x.iloc[k] for x in points]
            for k, name in enumerate(names)
        }
        features = pd.DataFrame({name: _column(values, rows) for name, values in columns.items()}, index=rows)
        asked = [e.question for e in self if isinstance(e.question, Question)]
        whole = [{question.numbers[j] for j in whole_numbers(question)} for question in asked]
        categories = {choice.feature for question in asked for choice in question.choices}
        for side in ("factual", "counterfactual"):
            for which in (f"{side}: {names[k]}" for k in set.intersection(*whole or [set()])):
                features[which] = _as_whole(features[which])
            for which in (f"{side}: {names[k]}" for k in categories):
                # A row without a counterfactual must not turn 1 into 1.0.
                features[which] = pd.Series(columns[which], rows, dtype=object)
        return pd.concat([table, features], axis=1)

    def to_json(self) -> str:
        """A JSON array of what `Explanation.to_json` gives, with the reasons that the table names."""
        stated = (e.with_reasons() if _has_reasons(e) else e for e in self)
        return "[\n" + ",\n".join(e.to_json() for e in stated) + "\n]"

    @classmethod
    def from_json(cls, text: str) -> Explanations:
        """Read what `to_json` wrote, or one explanation."""
        return cls(Explanation.from_dict(entry) for entry in documents_of(text))

    def __getitem__(self, index: Any) -> Any:
        """One explanation, or for a slice explanations."""
        found = super().__getitem__(index)
        return Explanations(found) if isinstance(index, slice) else found

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        counts = ", ".join(f"{n} {status}" for status, n in self.counts().items())
        return f"{len(self)} explanations: {counts or 'none'}"

    def _repr_html_(self) -> str:
        return str(view("batch page", self))


def principal_reasons(e: Explanation) -> str:
    """The principal reasons against the target; nothing where it is decided, or nobody can say."""
    return e.reasons.words if _has_reasons(e) else ""


def principal_features(e: Explanation) -> tuple[Any, ...]:
    """The features of these reasons, the strongest first."""
    return e.reasons.principal_features if _has_reasons(e) else ()


def _has_reasons(e: Explanation) -> bool:
    """Whether there is something to say against the row: it is not decided as the target."""
    known = e.stated_reasons is not None or e.made_by is not None
    return known and isinstance(e.question, Question) and e.factual_class != e.target


def _lines(text: str) -> list[Any]:
    """What is on each line, where a line is a document of its own; nothing where it is not."""
    first, _, more = text.partition("\n")
    if not (first.startswith("{") and first.rstrip().endswith("}") and more.strip()):
        return []
    return [parsed(line) for line in text.split("\n") if line.strip()]


def documents_of(text: str) -> list[Any]:
    """The documents of a file, one for each explanation or line, not yet checked."""
    try:
        content: Any = _lines(text) or parsed(text)
    except DataError as error:
        raise DataError(f"this is not JSON ({error})") from None
    return content if isinstance(content, list) else [content]


def entry(e: Explanation, name: str) -> Any:
    """What a line of the table says."""
    if name in ("model_share", "refits"):
        found = e.model_share
        return math.nan if found is None else found.share if name == "model_share" else found.refits
    if name == "reasons":
        return principal_reasons(e)
    return getattr(e, name)


def _column(values: list[Any], rows: pd.Index) -> pd.Series:
    """Text as Python has it: pandas' own kind of text cannot hold every string that a file may have."""
    text = any(isinstance(value, str) for value in values)
    return pd.Series(values, rows, dtype=object) if text else pd.Series(values, rows)


def _as_whole(column: pd.Series) -> pd.Series:
    """A column of whole numbers as integers, holes kept; as it is where something else is in it."""
    known = pd.to_numeric(column, errors="coerce")
    there = known.dropna()
    if len(there) < column.notna().sum() or not ((there % 1 == 0) & (there.abs() < 2**53)).all():
        return column
    return known.astype("Int64" if known.isna().any() else "int64")


def _same_row(one: Explanation, other: Explanation) -> bool:
    return one.row == other.row and one.target == other.target and one.factual.equals(other.factual)
