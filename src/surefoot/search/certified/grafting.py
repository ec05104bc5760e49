"""One proof of many: trees of single choices as branches of the tree of all of them."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.changes import Choice, Cut
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.leaf import Affine, Leaf
from surefoot.search.certified.narrowing import ends
from surefoot.search.certified.proof import leaf_node, proof_of, without_prices
from surefoot.search.certified.region import Region, Scenario
from surefoot.search.certified.search import Search
from surefoot.search.certified.slices import Boxes, CutEnds, Slices
from surefoot.search.certified.space import Space

Array = NDArray[np.float64]
Node = dict[str, Any]

EMPTY: Node = {"level": np.inf, "norm": [], "cross": [], "products": [], "requirements": [], "between": []}


class Tree(NamedTuple):
    """A tree of regions with the space that they are in and the scenarios that they refer to."""

    space: Space
    region: Region
    scenarios: Sequence[Scenario]


class Searched(NamedTuple):
    """A search of a choice, by itself."""

    search: Search
    choice: Choice

    @property
    def tree(self) -> Tree:
        """What it proved."""
        return Tree(self.search.space, self.search.proof, self.search.scenarios)


class AtOnce(NamedTuple):
    """One leaf that refutes a choice with all that it falls into."""

    tree: Tree
    choice: Choice


class Shared(NamedTuple):
    """A leaf about all features that refutes choices in which some of them are kept."""

    leaf: Leaf


class Together(NamedTuple):
    """Choices that were looked at in one stack, with the weights that refute them.

    Where the choices lie is found out again when they are written: to keep it would take gigabytes.
    """

    slices: Slices
    weights: Sequence[Array]
    signs: Sequence[Array]
    choices: Sequence[Choice]
    width: int  # of what was touched in the stack

    def leaves(self) -> list[Leaf]:
        """What refutes each of them."""
        space = self.slices.space
        boxes = Boxes.between(space, *ends(space, self.choices), self.width)
        cuts = [choice.cut_ends for choice in self.choices]
        return self.slices.leaves(boxes, self.weights, self.signs, cuts)


class Member(NamedTuple):
    """One of those."""

    stack: Together
    number: int


class Graft:
    """Collects trees into one proof.

    Parameters
    ----------
    perturbation : callable
        Turns a scenario's shift of u into features.
    clock : Clock, optional
        When it runs out, `node` raises `OutOfTimeError`.
    """

    def __init__(self, perturbation: Callable[[Array], Array], clock: Clock | None = None) -> None:
        self._perturbation, self._clock = perturbation, clock or Clock(np.inf)
        self._shifts: dict[bytes, Array] = {}
        self._numbers: dict[tuple[float, ...], int] = {}
        self._directions: list[list[float]] = []
        self._stacks: dict[int, list[Node]] = {}
        self._shared: dict[int, Node] = {}

    def proof(self, tree: Node | None) -> dict[str, Any]:
        """The proof with everything that its branches refer to."""
        return {"directions": self._directions, "scenarios": [list(v) for v in self._numbers], "tree": tree}

    def branch(
        self, tree: Tree, depth: int = 0, kept: Container[int] = (), cuts: CutEnds | None = None
    ) -> Node | None:
        """A tree as it is below ``depth`` splits, where some features are kept and cuts set some ends."""
        proof = proof_of(*tree, self._shifted)
        self._directions = self._directions or proof["directions"]
        numbers = [self._number(shift) for shift in proof["scenarios"]]
        return _Move(numbers, depth, kept, cuts or {})(proof["tree"])

    def node(self, space: Space, choice: Choice, scenarios: Sequence[Scenario]) -> Node | None:
        """All choices below one, with what refutes each of them.

        Parameters
        ----------
        space : Space
            Of all choices.
        choice : Choice
        scenarios : sequence of Scenario
            What the leaves of stacks refer to.
        """
        self._clock.check()
        if choice.parts:
            first = self.node(space, choice.parts[0], scenarios)
            second = self.node(space, choice.parts[1], scenarios)
            if isinstance(choice.split_by, Cut):
                return {**_cut(space, choice.split_by), "below": first, "above": second}
            return {"changed": choice.split_by, "no": first, "yes": second}
        proof = choice.proof
        if choice.empty:
            return dict(EMPTY)
        if isinstance(proof, Member):
            return self._leaves(space, proof.stack, scenarios)[proof.number]
        if isinstance(proof, Shared):
            return self._without(choice.kept, self._whole_leaf(space, proof, scenarios))
        if proof is None:
            return None
        return self.branch(proof.tree, choice.depth, proof.choice.kept, proof.choice.cut_ends)

    def _leaves(self, space: Space, stack: Together, scenarios: Sequence[Scenario]) -> list[Node]:
        """The leaves of a stack, which are made all at once."""
        if id(stack) not in self._stacks:
            self._stacks[id(stack)] = self._written(space, stack.leaves(), scenarios)
        return self._stacks[id(stack)]

    def _whole_leaf(self, space: Space, proof: Shared, scenarios: Sequence[Scenario]) -> Node:
        """A leaf that many choices share, which is made once."""
        if id(proof) not in self._shared:
            (self._shared[id(proof)],) = self._written(space, [proof.leaf], scenarios)
        return self._shared[id(proof)]

    def _written(self, space: Space, leaves: Sequence[Leaf], scenarios: Sequence[Scenario]) -> list[Node]:
        used = {s for leaf in leaves for s in leaf.margins}
        place = {s: self._number(self._shifted(scenarios[s][1]).tolist()) for s in used}
        nodes = [leaf_node(space, leaf, place, scenarios) for leaf in leaves]
        written = without_prices(space, {"directions": [], "tree": {"either": 0, "ways": nodes}})
        found: list[Node] = written["tree"]["ways"]
        return found

    def _without(self, kept: Container[int], leaf: Node) -> Node:
        """A leaf without the products of features that are kept: they are zero."""
        return {**leaf, "products": [one for one in leaf["products"] if not _is_of(one, kept)]}

    def _shifted(self, v: Array) -> Array:
        """A scenario in features; the same ones occur in many trees."""
        key = v.tobytes()
        if key not in self._shifts:
            self._shifts[key] = self._perturbation(v)
        return self._shifts[key]

    def _number(self, shift: list[float]) -> int:
        return self._numbers.setdefault(tuple(shift), len(self._numbers)) if any(shift) else -1


class _Move(NamedTuple):
    """From a tree of its own to a branch: scenarios have other numbers, and further splits come before.

    The ends of a feature in the tree's space may be those of a cut, or today's value if it is kept; then what
    is multiplied by its distance from them is zero. In the question it has wider ends.
    """

    numbers: list[int]
    depth: int
    kept: Container[int]
    cuts: CutEnds

    def __call__(self, node: Node | None) -> Node | None:
        """The branch."""
        if node is None:
            return None
        if "level" in node:
            return {
                **node,
                "products": self._products(node["products"]),
                "requirements": [[w, r, s if s < 0 else self.numbers[s]] for w, r, s in node["requirements"]],
            }
        if "either" in node:
            return {**node, "ways": [self(child) for child in node["ways"]]}
        return {**node, **{side: self(node[side]) for side in ("below", "above")}}

    def _products(self, products: list[Any]) -> list[Any]:
        if not (self.depth or self.kept or self.cuts):  # as with all leaves of stacks: nothing is renamed
            return products
        return [
            [w, self._renamed(a), self._renamed(b)]
            for w, a, b in products
            if not _is_of((w, a, b), self.kept)
        ]

    def _renamed(self, affine: Affine) -> Affine:
        if affine[0] == "c":
            return ["c", affine[1] + self.depth, *affine[2:]]
        end = self.cuts.get((affine[1], affine[2] == "high")) if affine[0] == "x" else None
        return affine if end is None else ["c", end.split]


def _is_of(product: Sequence[Any], features: Container[int]) -> bool:
    """Whether a product has a factor that is the distance of one of some features from an end."""
    return any(affine[0] == "x" and affine[1] in features for affine in product[1:])


def _cut(space: Space, cut: Cut) -> Node:
    """A cut by the feature's values."""
    assert space.problem is not None
    j, now = cut.feature, float(space.problem.factual[cut.feature])
    if cut.below == cut.above:
        return {"cut": [["x", j], cut.below + now]}
    values, today = space.sets[space.n + j]
    return {"choice": [j, values.nearest(today + cut.below), values.nearest(today + cut.above)]}
