"""The largest box around a point on which quadratics stay above zero: side by side, as far as each goes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import SurefootError
from surefoot.problem.geometry import Ball
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified.adversary import lowest
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.robustness import BreachError, box_proofs

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Share of the point's own margin that the whole box keeps, so that it can be proven. Ten times as much costs
# a hundredth of the width; a tenth, and more proofs fail.
KEPT = 1e-3
# Relative width of the interval that a bisection ends with, and by how much a side must be able to grow by
# itself to grow on with the others. Ten times as much gives away more than the rounding to decimals does.
FINE, GROWS = 1e-3, 1e-2
SMALLEST = 1e-9  # standard deviations: less than that is nothing


@dataclass(frozen=True, eq=False)
class Sides:
    """How far a box reaches from a point: downwards and upwards in each coordinate.

    Parameters
    ----------
    below, above : arrays of shape (k,)
        Not negative.
    """

    below: Array
    above: Array

    @property
    def both(self) -> Array:
        """All sides in one array: downwards first."""
        return np.concatenate([self.below, self.above])

    @classmethod
    def of(cls, both: Array) -> Sides:
        """From one array."""
        k = len(both) // 2
        return cls(both[:k], both[k:])

    def scaled(self, factor: float) -> Sides:
        """The same box, smaller or larger."""
        return Sides(factor * self.below, factor * self.above)


@dataclass(frozen=True, eq=False)
class Growing:
    """What a box must keep and where it ends.

    Parameters
    ----------
    margins : sequence of Quadratic
        Functions of the steps away from the point; all above zero at the point itself.
    limits : Sides
        Where the box ends at the latest.
    units : array of shape (k,)
        The standard deviation of each coordinate.
    clock : Clock
    """

    margins: Sequence[Quadratic]
    limits: Sides
    units: Array
    clock: Clock

    @property
    def needed(self) -> Array:
        """What each margin must keep."""
        return KEPT * np.array([float(G.constant) for G in self.margins])

    def lowest(self, sides: Sides) -> float:
        """The least that is left of any margin on a box, above what it must keep."""
        centre, half = 0.5 * (sides.above - sides.below), 0.5 * (sides.above + sides.below)
        left = np.inf
        for G, needed in zip(self.margins, self.needed, strict=True):
            H = G.in_coordinates(np.diag(half), centre)
            w, _ = lowest(H.matrix, H.vector, np.inf, 1.0)
            left = min(left, float(H(w)) - float(needed))
        return left

    def holds(self, both: Array) -> bool:
        """Whether nothing was found in a box that violates a margin."""
        return self.lowest(Sides.of(both)) >= 0

    def largest(self, least: Sides) -> Sides:
        """The box that contains ``least`` and whose sides grow evenly, each as far as it goes.

        All sides grow at the same rate in standard deviations. One that is at its limit, or cannot grow by
        itself, stays; the others go on. So the shortest side is as long as it can be, then the next, and so
        on.
        """
        units, limits = np.tile(self.units, 2), np.maximum(self.limits.both, least.both)
        sides, free = least.both.copy(), limits > least.both
        level = 0.0
        while free.any():
            self.clock.check()
            level = self._level(sides, free, limits, level)
            sides = np.where(free, np.clip(level * units, sides, limits), sides)
            free &= sides < limits
            free &= ~self._stuck(sides, free, limits, units, level)
        return Sides.of(sides)

    def level(self, least: Sides) -> float:
        """How far all sides that can grow go together from ``least``, in standard deviations."""
        limits = np.maximum(self.limits.both, least.both)
        free = limits > least.both
        return self._level(least.both, free, limits, 0.0) if free.any() else math.inf

    def _level(self, sides: Array, free: Mask, limits: Array, start: float) -> float:
        """How far the free sides go together, in standard deviations."""
        units = np.tile(self.units, 2)

        def at(level: float) -> Array:
            return np.where(free, np.clip(level * units, sides, limits), sides)

        low, high = start, float((limits / units)[free].max())
        if self.holds(at(high)):
            return high
        while high - low > max(FINE * high, SMALLEST):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.holds(at(middle)) else (low, middle)
        return low

    def _stuck(self, sides: Array, free: Mask, limits: Array, units: Array, level: float) -> Mask:
        """The free sides that cannot grow by themselves; if each can, but not all, the costliest."""
        left = np.full(len(sides), np.inf)
        for s in np.flatnonzero(free):
            longer = sides.copy()
            longer[s] = min(sides[s] + max(GROWS * level, 10 * SMALLEST) * units[s], limits[s])
            left[s] = self.lowest(Sides.of(longer))
        stuck = free & (left < 0)
        if free.any() and not stuck.any():
            stuck[int(np.argmin(left))] = True
        return stuck


def around_point(problem: RobustProblem, z: Array, moving: Sequence[int]) -> list[Quadratic]:
    """The margins of a problem as functions of steps of some coordinates away from a point."""
    basis = np.eye(len(z))[:, list(moving)]
    return [g.in_coordinates(basis, z) for g in problem.margins]


def proven_box(
    problem: RobustProblem, z: Array, low: Array, high: Array, clock: Clock
) -> list[dict[str, Any]] | None:
    """Proofs that every requirement holds from ``low`` to ``high``; None where none was found in time.

    Without any width the value at the point itself decides, and there is nothing to write down.
    """
    if (low == high).all():
        return [] if problem.margin(z) >= 0 else None
    ball = Ball.box(z - low, high - z)
    posed = replace(problem, ball=ball)
    try:
        return box_proofs(posed, z, clock)
    except (BreachError, OutOfTimeError, SurefootError):
        return None
