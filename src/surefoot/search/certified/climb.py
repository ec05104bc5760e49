"""Few features that are enough: moved one at a time, each to its best value, and exchanged for better ones.

No proof rests on them. Where millions of choices of features are left, they say which one to search first,
and how many changes may be enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.family import Family
from surefoot.search.certified.promise import Promise
from surefoot.search.certified.region import Scenario
from surefoot.search.certified.space import Space, whitened

Array = NDArray[np.float64]

# How often each feature that has moved may be moved again before the next one joins. Ten times as often takes
# ten times as long, nearly always for the same features.
AGAIN = 3
# Of a margin's height; a step that lifts it by less is none. Ten times larger, and climbs end a little early.
LIFT = 1e-6
# Moves after which no more features are exchanged; with ten times as many a climb among hundreds of features
# would take seconds.
MOVES = 3_000


class Climb:
    """The scenarios' margins as functions of the features' changes c, and how far they have been lifted.

    A margin is constant + slope'c + c'bend c; a climb lifts the lowest one.

    Parameters
    ----------
    space : Space
    scenarios : sequence of Scenario
    """

    def __init__(self, space: Space, scenarios: Sequence[Scenario]) -> None:
        M, ends = space.matrix, slice(space.n, 2 * space.n)
        margins = [(space.margins[r], v) for r, v in scenarios]
        self.low, self.high = space.low[ends].copy(), space.high[ends].copy()
        self.changes, self._made = np.zeros(space.n), [0]  # moves made, counted by all copies together
        self.heights = np.array([float(H(v)) for H, v in margins])
        self.slopes = np.array([H.gradient(v) @ M for H, v in margins])
        self.bends = np.array([M.T @ H.matrix @ M for H, _ in margins])

    def order(self) -> list[int]:
        """Features in the order in which they join; it ends once nothing is lacking, or nothing helps."""
        found: list[int] = []
        while self.lacking and (joined := self._moved(self._others(found))) is not None:
            found.append(joined)
            self._settle(found)
        while not self.lacking and (fewer := self._without_one(found)) is not None:
            found = fewer
        return found

    @property
    def lacking(self) -> bool:
        """Whether some margin is below zero."""
        return bool(self.heights.min() < 0)

    def _others(self, found: Sequence[int]) -> list[int]:
        """Features that may move and have not."""
        return [int(j) for j in np.flatnonzero(self.low < self.high) if j not in found]

    def _settle(self, found: list[int]) -> None:
        """Move features again that have moved, and exchange them, as long as that helps."""
        self._move_again(found)
        while self.lacking and self._exchanged(found):
            pass

    def _move_again(self, found: Sequence[int]) -> None:
        for _ in range(AGAIN * len(found)):
            if self._moved(found) is None:
                break

    def _without_one(self, found: Sequence[int]) -> list[int] | None:
        """The features of a way that does with one less, if there is one."""
        for j in found:
            if self._made[0] > MOVES:
                break
            climb, fewer = self._back(j), [k for k in found if k != j]
            climb._settle(fewer)
            if not climb.lacking:
                vars(self).update(vars(climb))
                return fewer
        return None

    def _back(self, j: int) -> Climb:
        """The same with one feature as it is today."""
        climb = copy(self)
        climb.low, climb.high, climb.changes = self.low.copy(), self.high.copy(), self.changes.copy()
        climb._move(j, -float(self.changes[j]))
        return climb

    def _exchanged(self, found: list[int]) -> bool:
        """Put one feature back and move another in its place, if that lifts the lowest margin."""
        lowest = float(self.heights.min())
        for k, j in enumerate(found):
            if self._made[0] > MOVES:
                break
            climb, rest = self._back(j), [*found[:k], *found[k + 1 :]]
            if (joined := climb._moved(climb._others(found))) is None:
                continue
            climb._move_again([*rest, joined])
            if climb.heights.min() > lowest + LIFT * abs(lowest):
                vars(self).update(vars(climb))
                found[k] = joined
                return True
        return False

    def _moved(self, features: Sequence[int]) -> int | None:
        """Move the one of some features that lifts the lowest margin most; None if none does."""
        if not features:
            return None
        self._made[0] += 1
        some = np.array(features)
        steps = self._steps(some)
        slopes, bends = self.slopes[:, some, None], self.bends[:, some, some][..., None]
        lifted = (self.heights[:, None, None] + (slopes + bends * steps) * steps).min(axis=0)
        lifted[np.isnan(lifted)] = -np.inf
        best, lowest = int(lifted.argmax()), float(self.heights.min())
        if not lifted.flat[best] > lowest + LIFT * abs(lowest):
            return None
        place, _ = np.unravel_index(best, steps.shape)
        self._move(int(some[place]), float(steps.flat[best]))
        return int(some[place])

    def _steps(self, some: NDArray[np.intp]) -> Array:
        """Steps worth a look, in a row for each feature: to its ends, and to where a margin is highest."""
        low, high = self.low[some], self.high[some]
        with np.errstate(divide="ignore", invalid="ignore"):
            tops = -self.slopes[:, some] / (2 * self.bends[:, some, some])
        steps = np.concatenate([[low, high], np.clip(tops, low, high)]).T
        return np.where(np.isfinite(steps), steps, 0.0)

    def _move(self, j: int, step: float) -> None:
        self.heights = self.heights + (self.slopes[:, j] + self.bends[:, j, j] * step) * step
        self.slopes = self.slopes + 2 * step * self.bends[:, j]
        self.low[j], self.high[j] = self.low[j] - step, self.high[j] - step
        self.changes[j] += step


def few_enough(family: Family) -> int | None:
    """About how many changes are enough, rules and sets of values aside; None if that is not known.

    Parameters
    ----------
    family : Family
    """
    if family.choices or family.shares:
        return None
    space = whitened(family.problem())
    climb = Climb(space, Promise(space).scenarios())
    found = climb.order()
    return None if climb.lacking else len(found)
