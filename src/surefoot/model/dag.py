"""Dag: the parents of every feature, acyclic by construction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import StructureError
from surefoot.formats import listed, suggestion


@dataclass(frozen=True)
class Dag:
    """A directed acyclic graph over features, ``parents[i]`` being the paper's P_i.

    Parameters
    ----------
    parents : sequence of sequences of int
        For each feature, the indices of its parents. Kept sorted.

    Examples
    --------
    >>> dag = Dag([(), (0,), (0, 1)])
    >>> dag.edges
    ((0, 1), (0, 2), (1, 2))
    >>> dag.order
    (0, 1, 2)
    """

    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        n = len(self.parents)
        parents = tuple(tuple(sorted({int(j) for j in group})) for group in self.parents)
        for child, group in enumerate(parents):
            for parent in group:
                if not 0 <= parent < n:
                    raise StructureError(
                        f"feature {child} has parent {parent}, but there are only features 0 to {n - 1}"
                    )
        object.__setattr__(self, "parents", parents)
        _ = self.order  # refuses cycles

    @classmethod
    def empty(cls, n_features: int) -> Dag:
        """Graph without edges (naive Bayes)."""
        return cls(((),) * n_features)

    @classmethod
    def complete(cls, n_features: int) -> Dag:
        """Graph in which every feature has all earlier ones as parents."""
        return cls(tuple(tuple(range(i)) for i in range(n_features)))

    @classmethod
    def from_edges(cls, n_features: int, edges: Iterable[tuple[int, int]]) -> Dag:
        """Graph with the given ``(parent, child)`` pairs."""
        parents: list[list[int]] = [[] for _ in range(n_features)]
        for parent, child in edges:
            if not 0 <= child < n_features:
                raise StructureError(f"edge to feature {child}, but there are only {n_features} features")
            parents[child].append(parent)
        return cls(tuple(tuple(group) for group in parents))

    @classmethod
    def from_mapping(cls, mapping: Mapping[Any, Iterable[Any]], names: Sequence[Any]) -> Dag:
        """Graph from ``{child: [parents]}`` by feature name; features left out have no parents.

        Examples
        --------
        >>> Dag.from_mapping({"income": ["age", "education"]}, ["age", "education", "income"]).parents
        ((), (), (0, 1))
        """
        edges = []
        for child, group in mapping.items():
            if isinstance(group, str) or not isinstance(group, Iterable):
                raise StructureError(f"the parents of {child!r} must be a list of features, not {group!r}")
            position = feature_index(child, names)
            edges += [(feature_index(parent, names), position) for parent in group]
        refuse_cycle(edges, names)
        return cls.from_edges(len(names), edges)

    @classmethod
    def from_networkx(cls, graph: Any, names: Sequence[Any]) -> Dag:
        """Graph from a networkx ``DiGraph`` whose nodes are feature names."""
        return cls.from_mapping({node: list(graph.predecessors(node)) for node in graph.nodes}, names)

    @property
    def n_features(self) -> int:
        """Number of nodes."""
        return len(self.parents)

    @property
    def n_edges(self) -> int:
        """Number of edges between features (the class node's are not counted)."""
        return sum(len(group) for group in self.parents)

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """All ``(parent, child)`` pairs, sorted."""
        return tuple(sorted((j, i) for i, group in enumerate(self.parents) for j in group))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """A topological order: every feature comes after its parents."""
        sorter = TopologicalSorter(dict(enumerate(self.parents)))
        try:
            return tuple(sorter.static_order())
        except CycleError as error:
            raise StructureError(cycle_message(error, range(self.n_features))) from None

    @cached_property
    def smallest_first_order(self) -> tuple[int, ...]:
        """The topological order that takes, of all features that may come next, the first in the table."""
        waiting = [len(group) for group in self.parents]
        ready = [i for i, count in enumerate(waiting) if count == 0]
        order = []
        while ready:
            first = heappop(ready)
            order.append(first)
            for child in (i for i, group in enumerate(self.parents) if first in group):
                waiting[child] -= 1
                if waiting[child] == 0:
                    heappush(ready, child)
        return tuple(order)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Length of the longest path that ends in each feature."""
        depths = [0] * self.n_features
        for child in self.order:
            depths[child] = max((depths[j] + 1 for j in self.parents[child]), default=0)
        return tuple(depths)

    def adjacency(self) -> NDArray[np.bool_]:
        """Matrix with ``[child, parent]`` true where there is an edge."""
        matrix = np.zeros((self.n_features, self.n_features), dtype=bool)
        for child, group in enumerate(self.parents):
            matrix[child, list(group)] = True
        return matrix


def feature_index(feature: Any, names: Sequence[Any]) -> int:
    """Position of a feature given by its name or by its position, or an error that lists the names."""
    names = list(names)
    if not isinstance(feature, bool):  # True would pass for 1
        if feature in names:
            return names.index(feature)
        if isinstance(feature, int | np.integer) and 0 <= feature < len(names):
            return int(feature)
    hint = suggestion(str(feature), names)
    raise StructureError(f"unknown feature {feature!r}; the features are {listed(names)}{hint}")


def refuse_cycle(edges: Iterable[tuple[int, int]], names: Sequence[Any], what: str = "the graph") -> None:
    """Raise a StructureError that spells out a cycle by feature names, if there is one."""
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for parent, child in edges:
        sorter.add(child, parent)
    try:
        sorter.prepare()
    except CycleError as error:
        raise StructureError(cycle_message(error, names, what)) from None


def cycle_message(error: CycleError, names: Sequence[Any], what: str = "the graph") -> str:
    """Spell out the cycle that graphlib found (it lists each node before the one that depends on it)."""
    return f"{what} has a cycle: " + " -> ".join(str(names[i]) for i in error.args[1])
