"""One number of one row: the ends and the values that follow from its action."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.arithmetic import ContradictionError, open_ends, rounded_down, rounded_up
from surefoot.explain.constraints.constraint import Place
from surefoot.explain.constraints.feature import SAID, Action
from surefoot.formats import exact
from surefoot.model.columns import LAST_WHOLE
from surefoot.problem.domain import ValueSet
from surefoot.problem.either import Either, Way
from surefoot.problem.row import Row

MOST_LISTED = 1000  # whole numbers that are listed one by one where today's value lies apart from them
MOST_STEPS = 10_000  # values that a step may lead to


class Number(NamedTuple):
    """What is known of a number before its action is looked at."""

    feature: int
    name: Any
    today: float
    whole: bool  # it takes whole numbers, by its action or because it did in training
    observed: bool  # its bounds are only the range seen in training, which gives way to ends of an action

    def ends(self, action: Action, low: float, high: float) -> tuple[float, float, list[ValueSet]]:
        """Ends within bounds, and the set of values if there is one; contradictions are named."""
        x, name = self.today, self.name
        low, high = self._own_ends(action, low, high)
        if low > high:
            raise ContradictionError(
                f"action and bounds of {name!r} exclude each other: "
                f"at least {exact(low)} and at most {exact(high)}"
            )
        low, high = self._one_way(action.may, low, high)
        if action.step is not None:
            listed: tuple[float, ...] | None = self._steps(action, low, high)
        elif self.whole or action.values is not None:
            listed = self._values(action)
        else:
            return low, high, []
        if listed == () and low <= x <= high:
            return (*self._one_way("stay", low, high), [])
        allowed = ValueSet(self.feature, listed, x)
        least, most = allowed.at_least(low), allowed.at_most(high)
        if not least <= most:
            raise ContradictionError(
                f"no allowed value of {name!r} lies within its bounds {exact(low)} to {exact(high)}"
            )
        return least, most, [allowed]

    def _own_ends(self, action: Action, low: float, high: float) -> tuple[float, float]:
        """The ends of an action within the bounds; the range seen in training gives way to them."""
        x = self.today
        if action.low is not None:
            own = min(float(action.low), x)
            low = own if self.observed else max(low, own)
        if action.high is not None:
            own = max(float(action.high), x)
            high = own if self.observed else min(high, own)
        if action.most is not None:
            most = Fraction(float(action.most))
            low, high = max(low, rounded_up(Fraction(x) - most)), min(high, rounded_down(Fraction(x) + most))
        return low, high

    def _one_way(self, may: str, low: float, high: float) -> tuple[float, float]:
        """Ends of a feature that stays, rises or falls."""
        x = self.today
        below = may in ("stay", "fall") and x < low
        above = may in ("stay", "rise") and x > high
        if below or above:
            raise ContradictionError(
                f"{self.name!r} {SAID[may]}, but its value {exact(x)} lies outside its bounds "
                f"{exact(low)} to {exact(high)}"
            )
        least = max(low, x) if may in ("stay", "rise") else low
        most = min(high, x) if may in ("stay", "fall") else high
        return least, most

    def _values(self, action: Action) -> tuple[float, ...] | None:
        """The values within an action's own ends; None for all whole numbers between the ends."""
        if self.whole and abs(self.today) > LAST_WHOLE:  # neither the search nor a proof could say a thing
            raise ProblemError(
                f"{self.name!r} takes whole numbers, but it is {exact(self.today)} today, and beyond "
                f"{LAST_WHOLE:,} they cannot be told apart; use whole=False, or another unit"
            )
        low, high = open_ends(action.low, action.high)
        if action.values is not None:
            return tuple(sorted({float(v) for v in action.values if low <= v <= high}))
        if low <= self.today <= high or high - low > MOST_LISTED:
            return None
        return tuple(float(v) for v in range(math.ceil(low), math.floor(high) + 1))

    def _steps(self, action: Action, low: float, high: float) -> tuple[float, ...]:
        """Today's value and steps up and down within the ends, as they are written: 0.1 and 0.2 make 0.3."""
        if not (math.isfinite(low) and math.isfinite(high)):
            raise ProblemError(f"the step of {self.name!r} needs ends: give low and high, most, or bounds")
        start, step = (Fraction(repr(v)) for v in (self.today, float(action.step or 1)))
        first, last = math.ceil((Fraction(low) - start) / step), math.floor((Fraction(high) - start) / step)
        if last - first >= MOST_STEPS:
            raise ProblemError(
                f"the step of {self.name!r} leads to more than {MOST_STEPS:,} values from {exact(low)} to "
                f"{exact(high)}; make it larger, or the ends narrower"
            )
        found = {float(start + k * step) for k in range(first - 1, last + 2)}  # rounding may let one more in
        least, most = open_ends(action.low, action.high)
        return tuple(sorted(v for v in found if max(low, least) <= v <= min(high, most)))


def worthwhile(least: float, i: int, place: Place) -> tuple[Either, ...]:
    """A number stays, falls by at least so much, or rises by at least so much.

    Sums are taken as they are written: from 0.1 to 0.3 is a change by 0.2, whatever doubles make of it.
    """
    unit, today = np.eye(len(place.names))[i, place.numbers], float(place.now[i])
    x, size = (Fraction(repr(float(v))) for v in (today, least))
    said = f"{place.names[i]} changes by at least {exact(least)}, or not at all"
    intervals = [(today, today), (-math.inf, float(x - size)), (float(x + size), math.inf)]
    return place.disjunction([Way((Row(unit, low, high, said),)) for low, high in intervals], said)
