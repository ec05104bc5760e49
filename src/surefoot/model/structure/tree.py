"""TAN: the tree over the features that carries the most conditional mutual information."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree

from surefoot.exceptions import StructureError
from surefoot.model.dag import Dag
from surefoot.model.structure.knowledge import Edge, Knowledge
from surefoot.model.structure.mutual_information import (
    conditional_mutual_information,
    corrected_mutual_information,
    equal_frequency_codes,
    feature_codes,
)
from surefoot.model.structure.report import StructureReport

Array = NDArray[np.float64]

SHOWN_NAMES = 8


def learn_tree(
    X: NDArray[np.floating],
    classes: NDArray[np.intp],
    *,
    n_bins: int = 8,
    root: int | None = None,
    knowledge: Knowledge | None = None,
    weights: Array | None = None,
) -> StructureReport:
    """Maximise sum I(X_i; X_parent(i) | Y) over trees (Friedman, Geiger and Goldszmidt, 1997).

    Parameters
    ----------
    X : array of shape (rows, n)
    classes : array of int
        Class of each row.
    n_bins : int
        Number of equal-frequency bins per feature.
    root : int, optional
        The feature without a parent; default: the first that prior knowledge permits.
    knowledge : Knowledge, optional
        Required and forbidden edges. Where forbidden edges cut the features apart, the result is the
        best forest.
    weights : array, optional
        Weight of each row.
    """
    n = X.shape[1]
    known = knowledge or Knowledge()
    _refuse_impossible(known, root)
    if n == 1:
        return StructureReport("tan", Dag.empty(1), scores=np.zeros((1, 1)))
    codes = equal_frequency_codes(X, n_bins, weights)
    information = conditional_mutual_information(codes, classes, weights)
    edges = _best_branching(information, known, root) if known else _spanning_tree(information, root or 0)
    objective = sum(information[edge] for edge in edges)
    return StructureReport("tan", Dag.from_edges(n, edges), objective=float(objective), scores=information)


def learn_mixed_tree(
    X: NDArray[np.floating],
    categories: NDArray[np.intp],
    positions: Sequence[int],
    classes: NDArray[np.intp],
    *,
    n_bins: int = 8,
    edge_penalty: float = 0.0,
    root: int | None = None,
    knowledge: Knowledge | None = None,
    weights: Array | None = None,
) -> StructureReport:
    """The same for tables with categories or holes: no edge leads from a number to a category.

    Informations are corrected for chance (`corrected_mutual_information`) and lowered by what the parameters
    of an edge cost: edges that are not worth it are left out, so the tree may fall into several.

    Parameters
    ----------
    X : array of shape (rows, n_numbers)
        Numbers; nan where missing.
    categories : array of shape (rows, n_categories)
        Codes of the categories' values; -1 where missing.
    positions : sequence of int
        Positions of the categories among all features.
    classes : array of int
    edge_penalty : float, default=0.0
        What each parameter of an edge costs, in nats for the whole table.
    n_bins, root, knowledge, weights
        As in `learn_tree`. The root must be a category if there is one; default: the first.
    """
    n = X.shape[1] + len(positions)
    known = Knowledge() if knowledge is None else knowledge
    kinds = known.respecting_kinds(n, positions)
    _refuse_impossible(known, root)
    _refuse_number_as_root(known, root, positions)
    codes = feature_codes(X, categories, positions, n_bins, weights)
    information = corrected_mutual_information(codes, classes, weights)
    if edge_penalty:
        costs = edge_penalty * edge_parameters(codes, positions, classes, weights)
        information = np.maximum(information - costs, 0.0)
    edges = _best_branching(information, kinds, root) if known else _two_trees(information, positions, root)
    edges = [edge for edge in edges if information[edge] > 0 or edge in known.required]
    objective = sum(information[edge] for edge in edges)
    return StructureReport("tan", Dag.from_edges(n, edges), objective=float(objective), scores=information)


def edge_parameters(
    codes: NDArray[np.intp],
    positions: Sequence[int],
    classes: NDArray[np.intp],
    weights: Array | None = None,
) -> Array:
    """The parameters that each edge adds, for each of the rows that tell about it.

    In each class, an edge from a category of ``a`` values to one of ``b`` values has ``(a - 1)(b - 1)``
    parameters, and a number counts as two values: a slope, or a mean for each value.

    Parameters
    ----------
    codes : array of shape (rows, n_features)
        What `feature_codes` returns.
    positions : sequence of int
        Positions of the categories among the features.
    classes : array of shape (rows,)
    weights : array of shape (rows,), optional
    """
    w = np.ones(len(codes)) if weights is None else weights
    freedom = np.ones(codes.shape[1])
    freedom[list(positions)] = np.maximum(codes.max(axis=0)[list(positions)], 0)  # -1: only holes are seen
    known = codes >= 0
    together = (known * w[:, None]).T @ known
    count = len(np.unique(classes[w > 0]))
    return np.asarray(count * np.outer(freedom, freedom) / np.maximum(together, 1.0))


def _two_trees(information: Array, positions: Sequence[int], root: int | None) -> list[Edge]:
    """Best tree over the categories, then best tree over the numbers that grows out of it.

    Categories have no numbers as parents, so theirs is a tree of its own; seen from the numbers it is one
    node, at the distance of the nearest category. Informations are symmetric, so both are spanning trees
    whose edges are pointed away from the root afterwards.
    """
    numbers = [i for i in range(len(information)) if i not in set(positions)]
    if not positions:
        return _spanning_tree(information, root or 0)
    if not numbers:
        return _spanning_tree(information, positions[0] if root is None else root)
    chosen = list(positions)
    start = 0 if root is None else chosen.index(root)
    within = _spanning_tree(information[np.ix_(chosen, chosen)], start)
    edges = [(chosen[parent], chosen[child]) for parent, child in within]
    nearest = information[np.ix_(chosen, numbers)]
    inner = np.zeros((len(numbers) + 1,) * 2)
    inner[1:, 1:] = information[np.ix_(numbers, numbers)]
    inner[0, 1:] = inner[1:, 0] = nearest.max(axis=0)
    for parent, child in _spanning_tree(inner, 0):
        category = chosen[int(nearest[:, child - 1].argmax())]
        edges.append((numbers[parent - 1] if parent else category, numbers[child - 1]))
    return edges


def _spanning_tree(information: Array, root: int) -> list[Edge]:
    """Maximum spanning tree, its edges pointing away from the root."""
    # Negated, because scipy minimises; below zero, because it reads zero as "no edge".
    cost = -1.0 - information
    np.fill_diagonal(cost, 0.0)
    tree = minimum_spanning_tree(cost).tocoo()
    neighbours: list[list[int]] = [[] for _ in range(len(information))]
    for i, j in zip(tree.row, tree.col, strict=True):
        neighbours[int(i)].append(int(j))
        neighbours[int(j)].append(int(i))
    edges: list[Edge] = []
    seen, queue = {root}, deque([root])
    while queue:
        parent = queue.popleft()
        for child in sorted(set(neighbours[parent]) - seen):
            edges.append((parent, child))
            seen.add(child)
            queue.append(child)
    return edges


def _best_branching(information: Array, known: Knowledge, root: int | None) -> list[Edge]:
    """Best forest of directed trees that keeps every required and no forbidden edge.

    A virtual source that may point at any feature makes a spanning arborescence always exist; its
    edges cost more than any information, so there are as few roots as possible.
    """
    import networkx as nx

    n = len(information)
    graph = nx.DiGraph()
    allowed = known.allowed(n)
    fixed_children = {child for _, child in known.required}
    price = 1.0 + information.sum()
    for child in range(n):
        # Among equally good roots the first is taken.
        graph.add_edge(n, child, weight=price if child == root else -price * (1 + 1e-9 * child))
    for parent, child in zip(*np.nonzero(allowed), strict=True):
        required = (parent, child) in known.required
        if child != root and (required or child not in fixed_children):
            graph.add_edge(
                int(parent), int(child), weight=price * n if required else information[parent, child]
            )
    tree = nx.maximum_spanning_arborescence(graph)
    return sorted((int(i), int(j)) for i, j in tree.edges if i != n)


def _refuse_impossible(known: Knowledge, root: int | None) -> None:
    parents = Counter(child for _, child in known.required)
    crowded = [child for child, count in parents.items() if count > 1]
    if crowded:
        raise StructureError(
            f"structure='tan' gives every feature one parent, but required_edges give "
            f"{known.name(crowded[0])} {parents[crowded[0]]}; use 'ban'"
        )
    if root is not None and root in parents:
        raise StructureError(f"{known.name(root)} is the root, but required_edges give it a parent")


def _refuse_number_as_root(known: Knowledge, root: int | None, positions: Sequence[int]) -> None:
    if root is None or not positions or root in positions:
        return
    names = ", ".join(known.name(position) for position in positions[:SHOWN_NAMES])
    more = ", ..." if len(positions) > SHOWN_NAMES else ""
    raise StructureError(
        f"the root must be a category, because no category can have a number as its parent; "
        f"{known.name(root)} is a number, and the categories are {names}{more}"
    )
