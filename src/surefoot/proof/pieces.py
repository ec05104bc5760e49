"""The pieces of a proof in floating point, with every rounding bounded.

A leaf holds if the matrix of -F in (z, 1) is positive definite: see docs/certificate.md, and `leaf_fault` of
`surefoot.proof.exact`, which decides whatever is too close for floating point. Ends, deviations and constants
are computed with whole numbers and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.proof.exact import (
    LEAF_KEYS,
    PLACES,
    Explicit,
    FaultError,
    Form,
    Network,
    Piece,
    Proof,
    Step,
    between_term,
    end_form,
    leaf_fault,
)
from surefoot.proof.products import (
    Products,
    UndecidedError,
    as_row,
    checked_weight,
    demand,
    double,
    filled,
    rounded_entries,
)
from surefoot.proof.rounding import Array, Rounded, bordered, given, joined, listed, positive_definite

LISTS = [key for key in LEAF_KEYS if key != "level"]


class Pieces:
    """Decides the leaves of one proof and counts those that needed whole numbers.

    Parameters
    ----------
    proof : Proof
        From `surefoot.proof.exact.read_proof`.
    """

    def __init__(self, proof: Proof) -> None:
        self.proof, self.size = proof, proof.setting.size
        self.floating, self.exact = 0, 0
        rows = np.eye(self.size + 1)
        rows[:-1, :-1] = np.reshape(proof.setting.metric, (self.size, self.size))
        self.base = given(rows)  # the entries of u, then 1
        self._blocks: dict[int, Rounded] = {}
        self._lines: dict[tuple[int, int], Rounded] = {}
        self._ends: dict[tuple[str, int, str], Array] = {}
        self._pulls: dict[Network, tuple[Rounded, Rounded]] = {}

    def fault(self, leaf: Any, path: Sequence[Step]) -> str:
        """Why a leaf does not hold; empty if it does."""
        try:
            with np.errstate(all="ignore"):
                proven = self.proven(leaf, path)
        except (UndecidedError, FaultError, ValueError, TypeError, ArithmeticError):
            proven = False
        if proven:
            self.floating += 1
            return ""
        self.exact += 1
        return leaf_fault(self.proof, leaf, path)

    def proven(self, leaf: Any, path: Sequence[Step]) -> bool:
        """Whether floating point proves a leaf; raises or is False where it cannot tell."""
        demand(type(leaf) is dict and leaf.keys() == {*LEAF_KEYS})
        demand(all(type(leaf[key]) is list for key in LISTS))
        stated = leaf["level"]
        level = math.inf if type(stated) is str and stated == "inf" else double(stated)
        piece = Piece(self.proof, level, path)
        if piece.empty():
            return True
        return positive_definite(self.on_free_features(self.negated(leaf, piece), piece))

    def negated(self, leaf: dict[str, Any], piece: Piece) -> Rounded:
        """The matrix of -F in the coordinates that move on the piece, and 1."""
        products = Products(self.base, piece, self.end)
        products.add_norm(leaf["norm"], leaf["cross"])
        for entry in leaf["products"]:
            weight, one, other = filled(entry)
            products.add(checked_weight(weight), products.number(one), products.number(other))
        for entry in leaf["between"]:
            term = between_term(self.proof, entry)
            products.add(term.weight, *(products.of_z(self._row(form)) for form in (term.one, term.other)))
        total = -products.matrix()
        return total - self._weighted(leaf["requirements"], products.keep) if leaf["requirements"] else total

    def _row(self, form: Form) -> Array:
        """An affine function of z as a row over (z, 1)."""
        demand(form.space == "z")
        return as_row(rounded_entries(form), self.size)

    def end(self, entry: list[Any]) -> Array:
        """What is left to an end of a feature, or of a row of the domain, as a row."""
        kind, k, side = entry
        demand(type(kind) is str and type(k) is int and type(side) is str)
        if (kind, k, side) not in self._ends:
            self._ends[kind, k, side] = self._row(end_form(self.proof, entry))
        return self._ends[kind, k, side]

    def _weighted(self, entries: list[Any], keep: NDArray[np.intp]) -> Rounded:
        """The weighted sum of requirements; what is square in z is the same in every scenario."""
        by_number: dict[int, tuple[list[float], list[Rounded]]] = {}
        for entry in entries:
            weight, r, s = filled(entry)
            line = self.line(r, s)
            weights, lines = by_number.setdefault(r, ([], []))
            weights.append(checked_weight(weight))
            lines.append(line)
        total = given(np.zeros((len(keep), len(keep))))
        for r, (weights, lines) in by_number.items():
            block = self.block(r).take(np.ix_(keep[:-1], keep[:-1]))
            whole = given(np.ones(len(weights))) @ given(weights)
            line = given(weights) @ listed(lines).take(np.s_[:, keep])
            total = total + bordered(whole * block, line)
        return total

    def block(self, r: int) -> Rounded:
        """The matrix of requirement r in z, the same in every scenario."""
        if r not in self._blocks:
            total = given(np.zeros((self.size, self.size)))
            for sign, part in self.proof.setting.requirements[r].parts:
                if isinstance(part, Explicit):
                    square = self._square(part)
                else:
                    rows, pulled = self._pulled(part)
                    square = pulled @ rows
                total = total + given(float(sign)) * square
            self._blocks[r] = given(0.5) * total
        return self._blocks[r]

    def line(self, r: Any, s: Any) -> Rounded:
        """The last row of the matrix of requirement r in scenario s (-1: at the point itself).

        Its constant is rounded up.
        """
        demand(type(r) is int and type(s) is int)
        if (r, s) not in self._lines:
            demand(0 <= r < len(self.proof.setting.requirements) and -1 <= s < len(self.proof.scenarios))
            demand(s < 0 or self.proof.setting.requirements[r].robust)
            self._lines[r, s] = self._last_row(r, s)
        return self._lines[r, s]

    def _last_row(self, r: int, s: int) -> Rounded:
        setting, origin = self.proof.setting, self.proof.origin(s)
        constant = np.zeros(self.size + 1)
        constant[-1] = setting.requirements[r].twice_constant / (1 << PLACES)
        total = given(constant, 1)
        for sign, part in setting.requirements[r].parts:
            if isinstance(part, Explicit):  # stated as it is: computed with whole numbers, rounded once
                whole = part.line(origin, setting.moving, True)
                line = given([w / (1 << whole.shift) for w in whole.whole], 1)
            else:
                offset, (_, pulled) = part.deviations(origin), self._pulled(part)
                last = given([w / (1 << offset.shift) for w in offset.whole], 1)
                inverse = given(1 / np.array(part.variances), 1)
                line = joined(pulled @ last, (last * inverse) @ last)
            total = total + given(float(sign)) * line
        return given(0.5) * total

    def _square(self, score: Explicit) -> Rounded:
        """What is square in a score that is stated as it is."""
        whole, found = score.block(self.proof.setting.moving, True), np.zeros((self.size, self.size))
        for i, row in enumerate(whole.rows):
            for j, entry in enumerate(row):
                found[i, j] = found[j, i] = entry / (1 << whole.shift)
        return given(found, 1)

    def _pulled(self, network: Network) -> tuple[Rounded, Rounded]:
        """The rows of I - W over the features that move; and transposed, each over its variance."""
        if network not in self._pulls:
            rows = given(deviation_matrix(network)[:, self.proof.setting.moving], 1)
            inverse = given(1 / np.array(network.variances), 1)
            self._pulls[network] = rows, rows.transposed * inverse
        return self._pulls[network]

    def on_free_features(self, matrix: Rounded, piece: Piece) -> Rounded:
        """The matrix where features whose ends are equal have their values."""
        moved, changes = piece.moved()
        if not moved:
            return matrix
        size, fixed = len(piece.moving), [piece.moving.index(j) for j in moved]
        free = [i for i in range(size) if i not in fixed]
        lift = np.zeros((size + 1, len(free) + 1))
        lift[free, range(len(free))] = 1.0
        lift[fixed, -1] = [w / (1 << changes.shift) for w in changes.whole]
        lift[-1, -1] = 1.0
        return given(lift.T, 1) @ matrix @ given(lift, 1)


def deviation_matrix(network: Network) -> Array:
    """I - W: row i maps x - means to the deviation of feature i from what is expected."""
    return np.asarray(np.eye(len(network.means)) - np.array(network.weights))
