"""Quadratics that depend on categories: one for each state, most of them alike but for a constant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.quadratic import Quadratic

Array = NDArray[np.float64]
State = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Factor:
    """A number for each combination of values of some categories.

    Parameters
    ----------
    categories : tuple of int
        Which of the categories, counted among the categories alone.
    table : array
        One axis for each of them.
    """

    categories: tuple[int, ...]
    table: Array

    def __call__(self, state: State) -> float:
        """The number for one state."""
        return float(self.table[tuple(state[k] for k in self.categories)])


@dataclass(frozen=True, eq=False)
class Same:
    """One quadratic for all states; unlike a closure it can be sent elsewhere."""

    quadratic: Quadratic

    def __call__(self, _: State) -> Quadratic:
        """The quadratic, whatever the state."""
        return self.quadratic


@dataclass(frozen=True, eq=False)
class MixedQuadratic:
    """factor * (q_s(z) + sum_f f(s)) + offset: a quadratic in the numbers for every state s.

    Parameters
    ----------
    given : callable from a state to a Quadratic
        q_s, which depends on the shaping categories alone.
    shaping : tuple of int
        Categories that change more than the constant.
    factors : tuple of Factor
    factor, offset : float
        A scale and a constant for all states.
    """

    given: Callable[[State], Quadratic]
    shaping: tuple[int, ...] = ()
    factors: tuple[Factor, ...] = ()
    factor: float = 1.0
    offset: float = 0.0

    def constant(self, state: State) -> float:
        """What the categories add."""
        return self.factor * float(sum(factor(state) for factor in self.factors))

    def constants(self, states: NDArray[np.intp]) -> Array:
        """The same for many states, one in each row."""
        found = np.zeros(len(states))
        for factor in self.factors:
            found += factor.table[tuple(states[:, k] for k in factor.categories)]
        return self.factor * found

    def shape(self, state: State) -> Quadratic:
        """The quadratic of a state without what the categories add."""
        H = self.given(state)
        return (H if self.factor == 1 else H.scaled(self.factor)) + self.offset

    def at(self, state: State) -> Quadratic:
        """All of it for one state."""
        return self.shape(state) + self.constant(state)

    def tables(self) -> tuple[Factor, ...]:
        """What the categories add, as factors."""
        return tuple(Factor(f.categories, self.factor * f.table) for f in self.factors)

    def shifted(self, constant: float) -> MixedQuadratic:
        """The same with a constant added."""
        return replace(self, offset=self.offset + constant)

    def scaled(self, factor: float) -> MixedQuadratic:
        """The same times a positive number."""
        return replace(self, factor=factor * self.factor, offset=factor * self.offset)


@dataclass(frozen=True, eq=False)
class Blend:
    """A weighted sum for every state, without what the categories add; it can be sent elsewhere."""

    parts: tuple[tuple[float, MixedQuadratic], ...]

    def __call__(self, state: State) -> Quadratic:
        """The sum of a state."""
        first, *others = (part.shape(state).scaled(weight) for weight, part in self.parts)
        return sum(others, first)


def blended(parts: Sequence[tuple[float, MixedQuadratic]]) -> MixedQuadratic:
    """The sum of quadratics times positive weights; what the same categories add is one factor."""
    tables: dict[tuple[int, ...], Array] = {}
    for weight, part in parts:
        for factor in part.tables():
            tables[factor.categories] = tables.get(factor.categories, 0.0) + weight * factor.table
    shaping = tuple(sorted({k for _, part in parts for k in part.shaping}))
    factors = tuple(Factor(categories, table) for categories, table in tables.items())
    return MixedQuadratic(Blend(tuple(parts)), shaping, factors)
