"""Changes of categories one after the other, each time the one that gains most for its price.

No proof rests on them. They lead to a first state with a point, which bounds what all other states may cost:
without one, nearly every assignment of dozens of categories would have to be looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.family import Family
from surefoot.problem.geometry import dual_exponent, lp_norm
from surefoot.problem.mixed import State
from surefoot.search.certified.clock import Clock

Array = NDArray[np.float64]

CHEAP = 1e-3  # of the dearest change: what costs less counts as so much, or it would be taken for nothing
# Values of a category that shapes the numbers' part; ten times as many take ten times as long in each step.
MOST_SHAPES = 30


class Uphill:
    """How much states lack with the numbers as they are, and the way to one that lacks nothing.

    Parameters
    ----------
    family : Family
    clock : Clock
        Asked before every step.
    """

    def __init__(self, family: Family, clock: Clock) -> None:
        self.family, self.clock = family, clock
        self._least: dict[State, Array] = {}
        self._units = np.maximum(np.abs(self._heights([family.today], 1.0)[0]), 1e-9)
        finite = [p for choice in family.choices for p in choice.prices if 0 < p < np.inf]
        self._cheap = CHEAP * max(finite, default=1.0)

    def way(self, caution: float) -> list[State]:
        """States from today's on, each with one more change, until one lacks nothing or no change helps.

        ``caution``: how many times what errors may take at first order is to be left over.
        """
        state, found = self.family.today, [self.family.today]
        lacks = float(self.lacks([state], caution)[0])
        while lacks > 0:
            near = self._neighbours(state)
            if not near:
                break
            left, price = self.lacks(near, caution), self.family.price(state)
            dearer = np.array([self.family.price(other) for other in near]) - price
            rate = (lacks - left) / np.maximum(dearer, self._cheap)
            best = int(np.lexsort((left, -rate))[0]) if lacks < np.inf else int(left.argmin())
            if not left[best] < lacks:
                break
            state, lacks = near[best], float(left[best])
            found.append(state)
        return found

    def trimmed(self, state: State, caution: float) -> State:
        """The same without changes that it can do without, the dearest first."""
        family, today = self.family, self.family.today
        for k in sorted(range(len(state)), key=lambda k: -family.choices[k].prices[state[k]]):
            self.clock.check()
            back = (*state[:k], today[k], *state[k + 1 :])
            if back != state and family.allows(back) and not self.lacks([back], caution)[0]:
                state = back
        return state

    def lacks(self, states: list[State], caution: float) -> Array:
        """How much of all requirements each state lacks, in units of what today's lacks."""
        return np.asarray((np.maximum(-self._heights(states, caution), 0.0) / self._units).sum(axis=1))

    def _neighbours(self, state: State) -> list[State]:
        """The allowed states that differ in one category."""
        found = []
        for k, choice in enumerate(self.family.choices):
            self.clock.check()
            most = MOST_SHAPES if k in self.family.shaping else len(choice.values)
            others = [v for v in choice.allowed[:most] if v != state[k]]
            found += [(*state[:k], v, *state[k + 1 :]) for v in others]
        return [other for other in found if self.family.allows(other)]

    def _heights(self, states: list[State], caution: float) -> Array:
        """The requirements in each state, less what errors may take; one row for each state."""
        shapes = np.array([self._shape(state, caution) for state in states])
        return np.asarray(shapes + self.family.constants_of(np.array(states, dtype=np.intp)))

    def _shape(self, state: State, caution: float) -> Array:
        """The requirements at the factual without what the categories add, less what errors may take."""
        key = tuple(state[k] for k in self.family.shaping)
        if key not in self._least:
            self.clock.check()
            family, n = self.family, len(self.family.requirements)
            problem = family.problem(state, [0.0] * n, family.domain)
            ball, dual = problem.ball, dual_exponent(problem.ball.norm)
            harm = [
                problem.radius_of(r) * float(lp_norm(r.margin.gradient(problem.factual) @ ball.basis, dual))
                for r in problem.requirements
            ]
            self._least[key] = np.array([[float(g(problem.factual)) for g in problem.margins], harm])
        here, harm = self._least[key]
        return np.asarray(here - caution * harm)
