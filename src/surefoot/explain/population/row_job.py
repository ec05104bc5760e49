"""What is done with one row of a table: its line, its proof, what stands in the way."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from surefoot.explain.population.columns import Column, fitting, valid
from surefoot.explain.population.pool import LOSSES
from surefoot.explain.population.table import line
from surefoot.explain.result.batch import principal_features
from surefoot.explain.rows.batch_explainer import explain_rows
from surefoot.formats import escaped
from surefoot.status import Status

if TYPE_CHECKING:
    from surefoot.explain.explainer import CounterfactualExplainer

LOST = "worker_lost"
# Columns of an audit, as JSON: one by one what the line has in one cell, what stands in the way and the
# features of the principal reasons, by position.
SEVERAL = BLAMED, PRINCIPAL = "blamed", "principal"


class Row(NamedTuple):
    """A row that is to be explained: its number in the table, its name, the values of its features."""

    number: int
    label: Any
    cells: list[Any]


class Done(NamedTuple):
    """A row that is explained.

    Its line of the table, and its proof if that is wanted.
    """

    number: int
    cells: list[Any]
    line: list[Any]
    proof: bytes | None
    interrupted: bool = False


class Job(NamedTuple):
    """What is done with each row.

    Parameters
    ----------
    explainer : CounterfactualExplainer
    target : label or None
    columns : sequence of Column
    proofs : bool
        Whether the whole explanation is kept too, with its certificate.
    enough : bool
        Whether to say what else is enough.
    """

    explainer: CounterfactualExplainer
    target: Any
    columns: Sequence[Column]
    proofs: bool = False
    enough: bool = False

    def done(self, row: Row) -> Done:
        """Explain one row; errors are stated in its line."""
        names = list(self.explainer.classifier.feature_labels_)
        label, *cells = [valid(one) if isinstance(one, str) else one for one in (row.label, *row.cells)]
        frame = pd.DataFrame([cells], pd.Index([label], dtype=object), names, dtype=object)
        wanted = [self.target] if isinstance(self.target, list) else self.target
        e = explain_rows(self.explainer, frame, wanted, brief=True)[0]
        stopped = e.status.with_point is Status.INTERRUPTED
        if self.enough and e.answer.point is not None and not stopped:
            e.enough()
        proof = None
        if self.proofs:
            text = json.dumps(e.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            proof = gzip.compress(escaped(text).encode("utf-8") + b"\n", mtime=0)
        principal = [names.index(name) for name in principal_features(e)]
        several = {BLAMED: json.dumps(e.conflict), PRINCIPAL: json.dumps(principal)}
        return Done(row.number, row.cells, line(e, self.columns, several), proof, stopped)

    def given_up(self, row: Row) -> Done:
        """The line of a row whose processes were lost."""
        known = {
            "row": row.label,
            "status": str(Status.FAILED),
            "reason": LOST,
            "target": None if isinstance(self.target, list) else self.target,
            "message": Status.FAILED.sentence,
            "advice": f"The process that worked on it was lost {LOSSES} times, perhaps for want of memory.",
            "conflict": "",
            "cautions": "",
            "reasons": "",
            **dict.fromkeys(SEVERAL, "[]"),
        }
        values = [known.get(about.name) for about in self.columns[: -2 * len(row.cells)]]
        values += [*row.cells, *[None] * len(row.cells)]
        pairs = zip(values, self.columns, strict=True)
        found = [fitting(value, about.kind) for value, about in pairs]
        return Done(row.number, row.cells, found, None)
