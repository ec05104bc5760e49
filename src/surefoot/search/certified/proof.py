"""A finished tree of regions as plain numbers."""

from __future__ import annotations

from typing import Any

from surefoot.search.certified.region import Leaf, Region
from surefoot.search.certified.search import Search


def proof_of(search: Search) -> dict[str, Any]:
    """The tree with its leaves' multipliers, and the scenarios and directions they refer to.

    Everything is in whitened coordinates around the point the search started from. Directions 0 to n - 1
    are these coordinates, n to 2n - 1 the features; the others are listed.
    """
    used = sorted({s for leaf in _leaves(search.proof) for s in leaf.margins})
    place = {s: i for i, s in enumerate(used)}
    n = search.space.n
    return {
        "scenarios": [[search.scenarios[s][0], search.scenarios[s][1].tolist()] for s in used],
        "directions": search.space.directions[2 * n :].tolist() if _uses_listed(search.proof, n) else [],
        "cross": [list(pair) for pair in search.space.cross] if search.space.norm == 1 else [],
        "tree": _node(search.proof, place),
    }


def _leaves(region: Region) -> list[Leaf]:
    if region.children:
        return [leaf for child in region.children for leaf in _leaves(child)]
    return [region.leaf] if region.leaf is not None else []


def _uses_listed(region: Region, n: int) -> bool:
    own = region.cut is not None and region.cut[0] >= 2 * n
    return own or any(_uses_listed(child, n) for child in region.children)


def _node(region: Region, place: dict[int, int]) -> dict[str, Any] | None:
    if region.cut is not None and region.children:
        below, above = (_node(child, place) for child in region.children)
        return {"cut": list(region.cut), "below": below, "above": above}
    leaf = region.leaf
    if leaf is None:
        return None
    return {
        "level": leaf.level,
        "bound": leaf.bound,
        "depth": leaf.depth,
        "corners": [[i, end] for i, end in leaf.corners.items()],
        "norm": leaf.norm.tolist(),
        "cross": leaf.cross.tolist(),
        "slabs": [[k, x] for k, x in leaf.slabs.items() if x > 0],
        "margins": [[place[s], x] for s, x in leaf.margins.items() if x > 0],
    }
