"""What a proof's tree decides on its way: the eithers whose ways it takes, the features it counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

Node = dict[str, Any]


def eithers_renumbered(node: Node | None, numbers: Sequence[int]) -> Node | None:
    """A tree with other numbers for its eithers."""
    if node is None or "level" in node:
        return node
    found = dict(node)
    for key in ("below", "above", "no", "yes"):
        if key in node:
            found[key] = eithers_renumbered(node[key], numbers)
    if "either" in node:
        found["either"] = numbers[node["either"]]
        found["ways"] = [eithers_renumbered(child, numbers) for child in node["ways"]]
    return found


def eithers_decided(tree: Node | None) -> set[int]:
    """The eithers whose ways a tree takes."""
    return {node["either"] for node in _nodes(tree) if "either" in node}


def changes_decided(tree: Node | None) -> set[int]:
    """The features that a tree counts as changed or not."""
    return {node["changed"] for node in _nodes(tree) if "changed" in node}


def _nodes(tree: Node | None) -> Iterator[Node]:
    """All nodes but leaves."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if node is not None and "level" not in node:
            yield node
            stack += [node[key] for key in ("below", "above", "no", "yes") if key in node]
            stack += node.get("ways", [])
