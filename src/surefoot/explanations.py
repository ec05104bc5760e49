"""Explanations: those of a batch, in the order of its rows."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pandas as pd

from surefoot.exceptions import DataError
from surefoot.explanation import Explanation

COLUMNS = (
    "status", "factual_class", "target", "factual_probability", "probability", "worst_probability",
    "distance", "lower_bound", "gap", "coverage", "certified_radius",
    "density_percentile", "seconds", "message",
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

    def to_frame(self) -> pd.DataFrame:
        """One line for each row: how it went, and the counterfactual, a column for each feature."""
        lines = [{name: getattr(e, name) for name in COLUMNS} for e in self]
        table = pd.DataFrame(lines, columns=list(COLUMNS), index=pd.Index([e.row for e in self], name="row"))
        table["status"] = [str(e.status) for e in self]
        points = [e.counterfactual for e in self]
        names = list(self[0].factual.index) if self else []
        for k, name in enumerate(names):
            table[f"counterfactual: {name}"] = [
                float("nan") if point is None else point.iloc[k] for point in points
            ]
        return table

    def to_json(self) -> str:
        """A JSON array of what `Explanation.to_json` gives."""
        return "[\n" + ",\n".join(e.to_json() for e in self) + "\n]"

    @classmethod
    def from_json(cls, text: str) -> Explanations:
        """Read what `to_json` wrote, or one explanation."""
        try:
            content: Any = json.loads(text)
        except ValueError as error:
            raise DataError(f"this is not JSON ({error})") from None
        entries = content if isinstance(content, list) else [content]
        return cls(Explanation.from_dict(entry) for entry in entries)

    def __str__(self) -> str:
        counts = ", ".join(f"{n} {status}" for status, n in self.counts().items())
        return f"{len(self)} explanations: {counts or 'none'}"

    def _repr_html_(self) -> str:
        from surefoot.report.fragment import batch_fragment

        return batch_fragment(self)
