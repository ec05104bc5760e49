"""A proof in other units of its coordinates: those of the certificate need not be those of the search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Node = dict[str, Any]

ROUND_UP = 1 + 1e-12  # constants that must not be too small are rounded up by this


def in_units(proof: dict[str, Any], factors: Array, norm: Array | None) -> dict[str, Any]:
    """The proof for coordinates that are so many times the search's.

    Parameters
    ----------
    proof : dict
        As `proof_of` makes it.
    factors : array of shape (n,)
    norm : array of shape (n,) or None
        What the weight of each coordinate's norm is multiplied by (p = infinity); None if nothing changes.
    """
    return {
        **proof,
        "directions": [(np.array(y) / factors).tolist() for y in proof["directions"]],
        "tree": _Units(factors, norm).node(proof["tree"], ()),
    }


class _Units:
    """The tree in other units; ``steps`` are the factors of the functions cut on the way to a node."""

    def __init__(self, factors: Array, norm: Array | None) -> None:
        self.factors, self.norm = factors.tolist(), norm

    def node(self, node: Node | None, steps: tuple[float, ...]) -> Node | None:
        """A node with everything below it."""
        if node is None:
            return None
        if "level" in node:
            return self._leaf(node, steps)
        found, step = dict(node), 1.0
        if "cut" in node:
            (kind, i), at = node["cut"]
            step = self.factors[i] if kind == "u" else 1.0
            found["cut"] = [[kind, i], at * step]
        for name in ("below", "above", "no", "yes"):
            if name in node:
                found[name] = self.node(node[name], (*steps, step))
        if "ways" in node:
            found["ways"] = [self.node(way, (*steps, step)) for way in node["ways"]]
        return found

    def _leaf(self, leaf: Node, steps: tuple[float, ...]) -> Node:
        norm = leaf["norm"]
        if norm and self.norm is not None:
            norm = (np.array(norm) * self.norm).tolist()
        products = [
            [weight / (self._factor(f, steps) * self._factor(g, steps)), self._affine(f), self._affine(g)]
            for weight, f, g in leaf["products"]
        ]
        return {**leaf, "norm": norm, "products": products}

    def _factor(self, f: list[Any], steps: tuple[float, ...]) -> float:
        """How many times its value in the search a function has: that of a cut has the coordinate's units.

        Cuts that come before the tree are cuts of features.
        """
        return steps[f[1]] if f[0] == "c" and len(f) == 2 and f[1] < len(steps) else 1.0

    def _affine(self, f: list[Any]) -> list[Any]:
        if f[0] != "a":
            return f
        _, constant, slopes = f
        up = ROUND_UP if constant > 0 else 1 / ROUND_UP
        return ["a", constant * up, [[i, y / self.factors[i]] for i, y in slopes]]
