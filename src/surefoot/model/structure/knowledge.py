"""Knowledge: edges that an expert requires or forbids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import StructureError
from surefoot.model.dag import feature_index, refuse_cycle

Edge = tuple[int, int]

NUMBER_TO_CATEGORY = "but a number cannot be the parent of a category; turn the edge around or leave it out"


@dataclass(frozen=True)
class Knowledge:
    """Prior knowledge as ``(parent, child)`` index pairs; checked for contradictions.

    Parameters
    ----------
    required, forbidden : frozenset of (int, int)
        Edges that must and must not be in the graph, direction included.
    names : tuple
        Names of the features, for messages; default: their indices.
    """

    required: frozenset[Edge] = frozenset()
    forbidden: frozenset[Edge] = frozenset()
    names: tuple[Any, ...] = ()

    @classmethod
    def from_names(
        cls,
        names: Sequence[Any],
        required: Iterable[tuple[Any, Any]] | None = None,
        forbidden: Iterable[tuple[Any, Any]] | None = None,
    ) -> Knowledge:
        """Translate pairs of feature names and refuse what contradicts itself.

        Examples
        --------
        >>> Knowledge.from_names(["age", "income"], required=[("age", "income")]).required
        frozenset({(0, 1)})
        """
        need = _pairs(required, names, "required_edges")
        ban = _pairs(forbidden, names, "forbidden_edges")
        for parent, child in sorted(need & ban):
            raise StructureError(f"edge {names[parent]!r} -> {names[child]!r} is both required and forbidden")
        refuse_cycle(sorted(need), names, "required_edges")
        return cls(need, ban, tuple(names))

    def __bool__(self) -> bool:
        return bool(self.required or self.forbidden)

    def name(self, feature: int) -> str:
        """What to call a feature in a message."""
        return repr(self.names[feature]) if self.names else str(feature)

    def respecting_kinds(self, n_features: int, categories: Sequence[int]) -> Knowledge:
        """The same knowledge, with every edge from a number to a category forbidden.

        Raises
        ------
        StructureError
            When such an edge is required.
        """
        kinds = set(categories)
        numbers = [i for i in range(n_features) if i not in kinds]
        impossible = frozenset((number, category) for number in numbers for category in categories)
        for parent, child in sorted(self.required & impossible):
            raise StructureError(
                f"required_edges has {self.name(parent)} -> {self.name(child)}, {NUMBER_TO_CATEGORY}"
            )
        return Knowledge(self.required, self.forbidden | impossible, self.names)

    def refuse_crowded(self, max_parents: int | None) -> None:
        """Raise a StructureError if required edges give a feature more parents than it may have."""
        children = [child for _, child in self.required]
        for child in sorted(set(children)):
            if max_parents is not None and children.count(child) > max_parents:
                raise StructureError(
                    f"required_edges give {self.name(child)} {children.count(child)} parents, "
                    f"but max_parents is {max_parents}"
                )

    def allowed(self, n_features: int) -> NDArray[np.bool_]:
        """Matrix ``[parent, child]`` of edges that may be learned.

        An edge against a path of required edges would close a cycle, so it is ruled out as well.
        """
        reach = np.eye(n_features, dtype=bool)
        for parent, child in self.required:
            reach |= np.outer(reach[:, parent], reach[child])
        allowed = ~reach.T
        for edge in self.forbidden:
            allowed[edge] = False
        return allowed


def _pairs(edges: Iterable[tuple[Any, Any]] | None, names: Sequence[Any], what: str) -> frozenset[Edge]:
    pairs = set()
    for edge in _listed(() if edges is None else edges, what):
        pair = () if isinstance(edge, str) else tuple(_listed(edge, what))
        if len(pair) != 2:
            raise StructureError(f"{what} must hold (parent, child) pairs, not {edge!r}")
        parent, child = (feature_index(feature, names) for feature in pair)
        if parent == child:
            raise StructureError(f"{what} joins {pair[0]!r} to itself")
        pairs.add((parent, child))
    return frozenset(pairs)


def _listed(value: Any, what: str) -> list[Any]:
    try:
        return list(value)
    except TypeError:
        raise StructureError(f"{what} must hold (parent, child) pairs, not {value!r}") from None
