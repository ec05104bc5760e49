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

from surefoot.proof.exact import (
    LEAF_KEYS,
    PLACES,
    Dyadic,
    Explicit,
    FaultError,
    Form,
    Network,
    Piece,
    Proof,
    Step,
    between_term,
    dyadic,
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
from surefoot.proof.rounding import Array, Rounded, given, positive_definite

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
        self._requirements: dict[tuple[int, int], Rounded] = {}
        self._ends: dict[tuple[str, int, str], Array] = {}
        self._matrices: dict[Network, Array] = {}

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
        """The matrix of -F."""
        products = Products(self.base, piece, self.end)
        products.add_norm(leaf["norm"], leaf["cross"])
        for entry in leaf["products"]:
            weight, one, other = filled(entry)
            products.add(checked_weight(weight), products.number(one), products.number(other))
        for entry in leaf["between"]:
            term = between_term(self.proof, entry)
            products.add(term.weight, *(products.of_z(self._row(form)) for form in (term.one, term.other)))
        total = -products.matrix()
        return total - self._weighted(leaf["requirements"]) if leaf["requirements"] else total

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

    def _weighted(self, entries: list[Any]) -> Rounded:
        """The weighted sum of requirements."""
        weights, parts = [], []
        for entry in entries:
            weight, r, s = filled(entry)
            weights.append(checked_weight(weight))
            parts.append(self.requirement(r, s))
        shape = (self.size + 1, self.size + 1)
        total = given(weights) @ Rounded(
            np.array([part.value.ravel() for part in parts]),
            np.array([part.size.ravel() for part in parts]),
            max(part.roundings for part in parts),
        )
        return Rounded(total.value.reshape(shape), total.size.reshape(shape), total.roundings)

    def requirement(self, r: Any, s: Any) -> Rounded:
        """The matrix of requirement r in scenario s (-1: at the point itself), its constant rounded up."""
        demand(type(r) is int and type(s) is int)
        if (r, s) not in self._requirements:
            demand(0 <= r < len(self.proof.setting.requirements) and -1 <= s < len(self.proof.scenarios))
            demand(s < 0 or self.proof.setting.requirements[r].robust)
            self._requirements[r, s] = self._quadratic(r, s)
        return self._requirements[r, s]

    def _quadratic(self, r: int, s: int) -> Rounded:
        setting = self.proof.setting
        origin = setting.origin if s < 0 else setting.origin.plus(dyadic(self.proof.scenarios[s]))
        constant = np.zeros((self.size + 1, self.size + 1))
        constant[-1, -1] = setting.requirements[r].twice_constant / (1 << PLACES)
        total = given(constant, 1)
        for sign, network in setting.requirements[r].parts:
            if isinstance(network, Explicit):
                total = total + given(float(sign)) * self._explicit(network, origin)
                continue
            offset = network.deviations(origin)
            last = [w / (1 << offset.shift) for w in offset.whole]
            rows = given(np.column_stack([self._deviation_matrix(network)[:, setting.moving], last]), 1)
            inverse = given(sign / np.array(network.variances), 1)
            total = total + (rows.transposed * inverse) @ rows
        return given(0.5) * total

    def _explicit(self, score: Explicit, origin: Dyadic) -> Rounded:
        """A score that is stated as it is, in (z, 1): computed with whole numbers and rounded once."""
        whole = score.sum_of_squares(origin, self.proof.setting.moving, True)
        found = np.zeros((self.size + 1, self.size + 1))
        for i, row in enumerate(whole.rows):
            for j, entry in enumerate(row):
                found[i, j] = found[j, i] = entry / (1 << whole.shift)
        return given(found, 1)

    def _deviation_matrix(self, network: Network) -> Array:
        if network not in self._matrices:
            self._matrices[network] = deviation_matrix(network)
        return self._matrices[network]

    def on_free_features(self, matrix: Rounded, piece: Piece) -> Rounded:
        """The matrix where features whose ends are equal have their values."""
        fixed, changes = piece.fixed()
        if not fixed:
            return matrix
        free = [i for i in range(self.size) if i not in fixed]
        if not any(changes.whole):
            keep = [*free, self.size]
            return matrix.take(np.ix_(keep, keep))
        lift = np.zeros((self.size + 1, len(free) + 1))
        lift[free, range(len(free))] = 1.0
        lift[fixed, -1] = [w / (1 << changes.shift) for w in changes.whole]
        lift[-1, -1] = 1.0
        return given(lift.T, 1) @ matrix @ given(lift, 1)


def deviation_matrix(network: Network) -> Array:
    """I - W: row i maps x - means to the deviation of feature i from what is expected."""
    return np.asarray(np.eye(len(network.means)) - np.array(network.weights))
