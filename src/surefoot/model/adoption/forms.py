"""Form: what a column inside a pipeline is, written in the columns that go into the pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.model.warp import IDENTITY, Warp

Array = NDArray[np.float64]


class NotQuadraticError(DataError):
    """A product of columns is neither linear nor quadratic, nor a table of one category."""


class Atom(NamedTuple):
    """One number of the table, by position, after its warp."""

    feature: int
    warp: Warp = IDENTITY


Term = tuple[Atom, ...]


@dataclass(frozen=True, eq=False)
class Form:
    """constant + sum of a * z_i + sum of q * z_i z_j + sum over categories of one number per value.

    Terms are kept also where their factor is zero: a model that gives no weight to a feature has seen it.

    Parameters
    ----------
    constant : float
    terms : mapping from one or two atoms to a factor
    tables : mapping from the position of a category to an array, one number for each of its values
    """

    constant: float = 0.0
    terms: Mapping[Term, float] = field(default_factory=dict)
    tables: Mapping[int, Array] = field(default_factory=dict)

    @classmethod
    def of_number(cls, atom: Atom) -> Form:
        """The number itself."""
        return cls(terms={(atom,): 1.0})

    def scaled(self, scale: float, offset: float = 0.0) -> Form:
        """Scale * form + offset."""
        return combined([(scale, self)], offset)

    def __mul__(self, other: Form) -> Form:
        """The product, where it is of the same kind: at most quadratic, and no category times another."""
        if not (other.terms or other.tables):
            return self.scaled(other.constant)
        if not (self.terms or self.tables):
            return other.scaled(self.constant)
        if not (self.tables or other.tables):
            return self._polynomial_product(other)
        one_category = set(self.tables) == set(other.tables) and len(self.tables) == 1
        if self.terms or other.terms or not one_category:
            raise NotQuadraticError("it multiplies a category by another feature")
        (feature, u), (v,) = next(iter(self.tables.items())), other.tables.values()
        product = (self.constant + u) * (other.constant + v)
        return Form(tables={feature: product})

    def _polynomial_product(self, other: Form) -> Form:
        found: dict[Term, float] = {}
        for s, a in [((), self.constant), *self.terms.items()]:
            for t, b in [((), other.constant), *other.terms.items()]:
                term = tuple(sorted((*s, *t), key=_order))
                found[term] = found.get(term, 0.0) + a * b
        if any(len(term) > 2 for term in found):
            raise NotQuadraticError("it multiplies more than two numbers")
        constant = found.pop((), 0.0)
        return Form(constant, found)


def combined(parts: Iterable[tuple[float, Form]], constant: float = 0.0) -> Form:
    """Constant + sum of factor * form."""
    total, terms, tables = constant, dict[Term, float](), dict[int, Array]()
    for factor, form in parts:
        total += factor * form.constant
        for term, a in form.terms.items():
            terms[term] = terms.get(term, 0.0) + factor * a
        for feature, table in form.tables.items():
            tables[feature] = tables.get(feature, 0.0) + factor * table
    return Form(float(total), terms, tables)


def warped(form: Form, power: float) -> Form:
    """The power transform of Yeo and Johnson, where the form is a single number or a single category."""
    if power == 1.0:
        return form
    if not form.terms and len(form.tables) <= 1:
        tables = {j: Warp(power)(form.constant + table) for j, table in form.tables.items()}
        return Form(0.0 if tables else float(Warp(power)(form.constant)), {}, tables)
    single = len(form.terms) == 1 and not form.tables
    (term, a), *_ = form.terms.items()
    if not (single and len(term) == 1 and term[0].warp.is_identity and a > 0):
        raise DataError("it bends what is not one number by itself, or is bent already")
    warp = Warp(power, 0.0 - form.constant / a, 1.0 / a)
    return Form.of_number(Atom(term[0].feature, warp))


def _order(atom: Atom) -> tuple[int, str]:
    return atom.feature, repr(atom.warp)
