"""From what a user says about structure to a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import StructureError
from surefoot.model.dag import Dag, feature_index
from surefoot.model.moments import ClassMoments
from surefoot.model.structure.knowledge import Knowledge
from surefoot.model.structure.naive import learn_naive
from surefoot.model.structure.notears import learn_notears
from surefoot.model.structure.report import StructureReport
from surefoot.model.structure.tree import learn_tree


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What structure learners may look at.

    Parameters
    ----------
    X : array of shape (rows, n)
    classes : array of int
        Class number of each row.
    weights : array, optional
        Weight of each row.
    moments : ClassMoments
    names : sequence
        Feature names, or their indices where they have none.
    """

    X: NDArray[np.floating]
    classes: NDArray[np.intp]
    weights: NDArray[np.float64] | None
    moments: ClassMoments
    names: Sequence[Any]


def choose_structure(
    structure: Any,
    data: TrainingData,
    *,
    max_parents: int | None = None,
    root: Any = None,
    n_bins: int = 8,
    l1_penalty: float = 0.01,
    edge_threshold: float = 0.3,
    standardize: bool = False,
    max_iter: int = 100,
    required_edges: Any = None,
    forbidden_edges: Any = None,
) -> StructureReport:
    """Learn the named structure, or take the user's own graph as it is."""
    _check_options(max_parents, n_bins, l1_penalty, edge_threshold, max_iter)
    knowledge = Knowledge.from_names(data.names, required_edges, forbidden_edges)
    if not isinstance(structure, str):
        if knowledge or max_parents is not None or root is not None:
            raise StructureError(
                "required_edges, forbidden_edges, max_parents and root guide a learner; "
                "a given graph is taken as it is"
            )
        return StructureReport("given", given_dag(structure, data.names))
    if root is not None and structure != "tan":
        raise StructureError(f"root is for structure='tan', not {structure!r}")
    if structure == "tan" and max_parents == 0:
        raise StructureError("structure='tan' gives features a parent, but max_parents is 0; use 'naive'")
    if structure == "naive":
        return learn_naive(len(data.names), knowledge)
    if structure == "tan":
        return learn_tree(
            data.X,
            data.classes,
            n_bins=n_bins,
            root=None if root is None else feature_index(root, data.names),
            knowledge=knowledge,
            weights=data.weights,
        )
    if structure == "ban":
        return learn_notears(
            data.moments.pooled_covariance(),
            l1_penalty=l1_penalty,
            edge_threshold=edge_threshold,
            max_parents=max_parents,
            standardize=standardize,
            knowledge=knowledge,
            max_iter=max_iter,
        )
    raise StructureError(
        "structure must be 'naive', 'tan', 'ban' or a graph "
        f"(Dag, networkx.DiGraph or {{child: [parents]}}), not {structure!r}"
    )


def given_dag(structure: Any, names: Sequence[Any]) -> Dag:
    """A Dag from a Dag, a networkx DiGraph or a mapping by feature name."""
    if isinstance(structure, Dag):
        if structure.n_features != len(names):
            raise StructureError(f"the graph has {structure.n_features} features, the data have {len(names)}")
        return structure
    if isinstance(structure, Mapping):
        return Dag.from_mapping(structure, names)
    if hasattr(structure, "predecessors") and hasattr(structure, "nodes"):
        return Dag.from_networkx(structure, names)
    raise StructureError(
        f"a graph must be a Dag, a networkx.DiGraph or {{child: [parents]}}, not {type(structure).__name__}"
    )


def _check_options(
    max_parents: int | None, n_bins: int, l1_penalty: float, edge_threshold: float, max_iter: int
) -> None:
    for name, value, least, kind in (
        ("max_parents", 0 if max_parents is None else max_parents, 0, Integral),
        ("n_bins", n_bins, 2, Integral),
        ("max_iter", max_iter, 1, Integral),
        ("l1_penalty", l1_penalty, 0, Real),
        ("edge_threshold", edge_threshold, 0, Real),
    ):
        if not isinstance(value, kind) or not least <= value < np.inf:
            what = "a whole number" if kind is Integral else "a number"
            raise StructureError(f"{name} must be {what} of at least {least}, not {value!r}")
