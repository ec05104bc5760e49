"""From what a user says about structure to a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import StructureError
from surefoot.model.completion import completed_by_class
from surefoot.model.dag import Dag, feature_index
from surefoot.model.moments import ClassMoments, class_moments
from surefoot.model.structure.greedy import learn_greedy
from surefoot.model.structure.knowledge import NUMBER_TO_CATEGORY, Knowledge
from surefoot.model.structure.naive import learn_naive
from surefoot.model.structure.notears import learn_notears
from surefoot.model.structure.report import StructureReport
from surefoot.model.structure.tree import learn_mixed_tree, learn_tree


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What structure learners may look at.

    Parameters
    ----------
    X : array of shape (rows, n_numbers)
        The numbers, in the order of the features; nan where missing.
    classes : array of int
        Class number of each row.
    weights : array, optional
        Weight of each row.
    moments : ClassMoments
        Of the numbers.
    names : sequence
        Names of all features, or their indices where they have none.
    codes : array of shape (rows, n_categories), optional
        Codes of the categories' values; -1 where missing.
    categories : tuple of int
        Positions of the categories among the features.
    """

    X: NDArray[np.floating]
    classes: NDArray[np.intp]
    weights: NDArray[np.float64] | None
    moments: ClassMoments
    names: Sequence[Any]
    codes: NDArray[np.intp] | None = None
    categories: tuple[int, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether there are numbers only, and no holes."""
        return not self.categories and not np.isnan(self.X).any()

    def completed(self) -> TrainingData:
        """The same rows, their holes filled with the means and most frequent values of their classes."""
        codes = self.category_codes()
        if not np.isnan(self.X).any() and not (codes < 0).any():
            return self
        X, codes = completed_by_class(self.X, codes, self.classes, self.weights)
        moments = class_moments(X, self.classes, len(self.moments.totals), self.weights)
        return replace(self, X=X, codes=codes, moments=moments)

    def category_codes(self) -> NDArray[np.intp]:
        """Codes of the categories; an array without columns where there are none."""
        return np.empty((len(self.classes), 0), dtype=np.intp) if self.codes is None else self.codes


# The arguments of `choose_structure` that are settings of a classifier.
STRUCTURE_SETTINGS = (
    "max_parents", "root", "n_bins", "edge_penalty", "l1_penalty", "edge_threshold", "standardize",
    "max_iter", "required_edges", "forbidden_edges",
)  # fmt: skip


def choose_structure(
    structure: Any,
    data: TrainingData,
    *,
    max_parents: int | None = None,
    root: Any = None,
    n_bins: int = 8,
    edge_penalty: float = 0.0,
    l1_penalty: float = 0.01,
    edge_threshold: float = 0.3,
    standardize: bool = False,
    max_iter: int = 100,
    required_edges: Any = None,
    forbidden_edges: Any = None,
) -> StructureReport:
    """Learn the named structure, or take the user's own graph as it is."""
    _check_options(
        max_parents=max_parents,
        n_bins=n_bins,
        edge_penalty=edge_penalty,
        l1_penalty=l1_penalty,
        edge_threshold=edge_threshold,
        max_iter=max_iter,
    )
    knowledge = Knowledge.from_names(data.names, required_edges, forbidden_edges)
    if not isinstance(structure, str):
        if knowledge or max_parents is not None or root is not None:
            raise StructureError(
                "required_edges, forbidden_edges, max_parents and root guide a learner; "
                "a given graph is taken as it is"
            )
        dag = given_dag(structure, data.names)
        _refuse_number_to_category(dag, data)
        return StructureReport("given", dag)
    if root is not None and structure != "tan":
        raise StructureError(f"root is for structure='tan', not {structure!r}")
    if structure == "tan" and max_parents == 0:
        raise StructureError("structure='tan' gives features a parent, but max_parents is 0; use 'naive'")
    if structure == "naive":
        return learn_naive(len(data.names), knowledge)
    if structure == "tan":
        return _tree(data, knowledge, root, n_bins, edge_penalty)
    if structure == "ban":
        options = {"l1_penalty": l1_penalty, "edge_threshold": edge_threshold, "standardize": standardize}
        return _sparse(data.completed(), knowledge, max_parents, {**options, "max_iter": max_iter})
    raise StructureError(
        "structure must be 'naive', 'tan', 'ban' or a graph "
        f"(Dag, networkx.DiGraph or {{child: [parents]}}), not {structure!r}"
    )


def _tree(
    data: TrainingData, knowledge: Knowledge, root: Any, n_bins: int, edge_penalty: float
) -> StructureReport:
    """TAN; tables without categories and holes are learned from as ever."""
    position = None if root is None else feature_index(root, data.names)
    options: Any = {"n_bins": n_bins, "root": position, "knowledge": knowledge, "weights": data.weights}
    if data.is_plain:
        return learn_tree(data.X, data.classes, **options)
    options["edge_penalty"] = edge_penalty
    return learn_mixed_tree(data.X, data.category_codes(), data.categories, data.classes, **options)


def _sparse(
    data: TrainingData, knowledge: Knowledge, max_parents: int | None, options: dict[str, Any]
) -> StructureReport:
    """BAN: by NOTEARS, or with categories by greedy search; without holes."""
    guided: Any = {"max_parents": max_parents, "knowledge": knowledge}
    if not data.categories:
        return learn_notears(data.moments.pooled_covariance(), **guided, **options)
    codes = data.category_codes()
    return learn_greedy(data.X, codes, data.categories, data.classes, weights=data.weights, **guided)


def _refuse_number_to_category(dag: Dag, data: TrainingData) -> None:
    for parent, child in dag.edges:
        if child in data.categories and parent not in data.categories:
            raise StructureError(
                f"the graph has {data.names[parent]!r} -> {data.names[child]!r}, {NUMBER_TO_CATEGORY}"
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


def _check_options(max_parents: int | None, **options: float) -> None:
    """Refuse options that no learner could make sense of."""
    least = {"max_parents": 0, "n_bins": 2, "max_iter": 1}  # whole numbers
    for name, value in {"max_parents": 0 if max_parents is None else max_parents, **options}.items():
        kind = Integral if name in least else Real
        if not isinstance(value, kind) or not least.get(name, 0) <= value < np.inf:
            what = "a whole number" if kind is Integral else "a number"
            raise StructureError(f"{name} must be {what} of at least {least.get(name, 0)}, not {value!r}")
