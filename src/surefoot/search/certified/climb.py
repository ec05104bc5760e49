"""Few features that are enough: moved one at a time, each to its best value.

No proof rests on them. Where millions of choices of features are left, they say which one to search first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.region import Scenario
from surefoot.search.certified.space import Space

Array = NDArray[np.float64]

# How often each feature that has moved may be moved again before the next one joins. Ten times as often takes
# ten times as long, nearly always for the same features.
AGAIN = 3
# Of a margin's height; a step that lifts it by less is none. Ten times larger, and climbs end a little early.
LIFT = 1e-6


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
        self.heights = np.array([float(H(v)) for H, v in margins])
        self.slopes = np.array([H.gradient(v) @ M for H, v in margins])
        self.bends = np.array([M.T @ H.matrix @ M for H, _ in margins])

    def order(self) -> list[int]:
        """Features in the order in which they join; it ends once nothing is lacking, or nothing helps."""
        found: list[int] = []
        movable = set(np.flatnonzero(self.low < self.high).tolist())
        while (
            self.heights.min() < 0 and (joined := self._moved(sorted(movable.difference(found)))) is not None
        ):
            found.append(joined)
            for _ in range(AGAIN * len(found)):
                if self._moved(found) is None:
                    break
        return found

    def _moved(self, features: Sequence[int]) -> int | None:
        """Move the one of some features that lifts the lowest margin most; None if none does."""
        if not features:
            return None
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
