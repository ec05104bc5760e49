"""Naive Bayes: no edges, nothing to learn."""

from __future__ import annotations

from surefoot.exceptions import StructureError
from surefoot.model.dag import Dag
from surefoot.model.structure.knowledge import Knowledge
from surefoot.model.structure.report import StructureReport


def learn_naive(n_features: int, knowledge: Knowledge | None = None) -> StructureReport:
    """Graph without edges; required edges are refused, for it cannot have any.

    Parameters
    ----------
    n_features : int
    knowledge : Knowledge, optional
    """
    if knowledge is not None and knowledge.required:
        raise StructureError(
            "structure='naive' has no edges, so required_edges cannot be met; use 'tan' or 'ban'"
        )
    return StructureReport("naive", Dag.empty(n_features))
