"""What choices of features promise: before any of them is searched, and where one was not refuted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.region import Scenario
from surefoot.search.certified.slices import Attempt
from surefoot.search.certified.space import Space

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Promise:
    """How far each feature takes a point uphill, alone and with others.

    Parameters
    ----------
    space : Space
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        n, M = space.n, space.matrix
        lacking = [H for H in space.margins if H.constant < 0] or list(space.margins)
        slope = np.sum([H.vector / max(abs(H.constant), 1e-300) for H in lacking], axis=0) @ M
        low, high = space.low[n : 2 * n], space.high[n : 2 * n]
        barred = ((slope < 0) & (low >= 0)) | ((slope > 0) & (high <= 0))
        self.slope = np.where(barred, 0.0, slope)
        self.gram = M.T @ M
        single = self.slope**2 / self.gram.diagonal()
        self.order = [int(j) for j in np.argsort(-single, kind="stable")]

    def scores(self, free: Indices) -> Array:
        """Of sets of features, one in each row: how fast a step of length one goes uphill, squared."""
        slope = self.slope[free]
        gram = self.gram[free[:, :, None], free[:, None, :]]
        return np.asarray(np.einsum("nd,nd->n", slope, np.linalg.solve(gram, slope[..., None])[..., 0]))

    def gain(self, free: tuple[int, ...]) -> float:
        """The same of one set."""
        return float(self.scores(np.array([free], dtype=np.intp))[0])

    def scenarios(self) -> list[Scenario]:
        """What every point has to withstand, seen from the factual: first all requirements without noise."""
        space, start = self.space, np.zeros(self.space.n)
        found = [(r, start) for r in range(len(space.margins))]
        for r, H in enumerate(space.margins):
            if space.radius(r) > 0:
                found.append((r, space.noise.harm(H, start, 0, space.radius(r)).perturbation))
        return found


def crossings(attempt: Attempt, some: Indices) -> tuple[Array, Array]:
    """The changes at which ways to relaxed solutions first withstand the scenarios, and about how far it is.

    Infinitely far where they never do; the changes are then those of the relaxed solutions.
    """
    slices, space, origin = attempt.slices, attempt.slices.space, attempt.boxes.origin[some]
    ways = attempt.changes[some] @ space.matrix.T - origin
    steps = np.zeros(len(some))
    for r, v in slices.scenarios:
        H, at = space.margins[r], origin + v
        bend = np.einsum("ni,ni->n", ways @ H.matrix, ways)
        slope = np.einsum("ni,ni->n", ways, H.gradient(at))
        steps = np.maximum(steps, _first_roots(bend, slope, np.asarray(H(at))))
    ends = origin + np.where(np.isfinite(steps), np.minimum(steps, 1e9), 1.0)[:, None] * ways
    far = np.where(np.isfinite(steps), space.sizes_of(ends), np.inf)
    return ends @ space.inverse.T, far


def _first_roots(a: Array, b: Array, c: Array) -> Array:
    """The least t >= 0 with a t^2 + b t + c >= 0; infinite if there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        half = -0.5 * (b + np.copysign(np.sqrt(b * b - 4 * a * c), b))
        roots = np.stack([half / a, c / half])
    return np.where(c >= 0, 0.0, np.where(roots > 0, roots, np.inf).min(axis=0))
