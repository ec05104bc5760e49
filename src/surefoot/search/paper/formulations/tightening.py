"""The paper's bound tightening: segments and bounds shrink around the last candidate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tightening:
    """Bounds nu^(t-1) init + (1 - nu^(t-1)) candidate and ceil(nu^(t-1) m) segments in iteration t.

    Parameters
    ----------
    low, high : arrays
        Initial bounds.
    n_segments : int
        The paper's m.
    contraction : float
        The paper's nu in (0, 1).
    """

    low: Array
    high: Array
    n_segments: int = 20
    contraction: float = 0.5

    def grids(self, iteration: int, centre: Array | None) -> list[Array]:
        """Ends of the uniform segments of every feature."""
        share = self.contraction ** (iteration - 1) if centre is not None else 1.0
        middle = np.zeros_like(self.low) if centre is None else centre
        low = share * self.low + (1 - share) * middle
        high = share * self.high + (1 - share) * middle
        m = int(np.ceil(share * self.n_segments - 1e-9))
        return [np.linspace(a, b, m + 1) for a, b in zip(low, high, strict=True)]


def within(grid: Array, low: float, high: float) -> Array:
    """The segments of a grid that meet [low, high], cut to it; none are moved."""
    low, high = max(low, grid[0]), min(high, grid[-1])
    if low >= high:
        return np.array([low, high])
    inner = grid[(grid > low) & (grid < high)]
    return np.concatenate([[low], inner, [high]])
