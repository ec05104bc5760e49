"""Weights that refuted some slices: they often do for the next ones too, and save the search for better."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.stacks import LARGEST, Multipliers, judged

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Typical:
    """The mean weight of each direction's slab, over the slices that it bounds, and of each margin.

    Parameters
    ----------
    n_directions, n_margins : int
    """

    def __init__(self, n_directions: int, n_margins: int) -> None:
        self.counts, self.slabs = np.zeros(n_directions), np.zeros(n_directions)
        self.margins, self.number = np.zeros(n_margins), 0

    def tried(self, terms: Array, names: Indices) -> Multipliers:
        """What these weights prove of slices; ``names``: the directions of their slabs."""
        return judged(terms, len(self.margins), self.weights(names))

    def weights(self, names: Indices) -> Array:
        """The mean weights, for slabs of these names and the margins."""
        slabs, margins = self.slabs / np.maximum(self.counts, 1.0), self.margins / max(self.number, 1)
        return np.concatenate([slabs[names], np.broadcast_to(margins, (len(names), len(margins)))], axis=1)

    def learn(self, found: Multipliers, names: Indices) -> None:
        """Note the weights of some slices, where they refute them and not ends by themselves."""
        some = found.refuted & (found.weights <= LARGEST).all(axis=1)
        weights, names = found.weights[some], names[some]
        slabs, margins = np.split(weights, [names.shape[1]], axis=1)
        self.counts += np.bincount(names.ravel(), minlength=len(self.counts))
        self.slabs += np.bincount(names.ravel(), slabs.ravel(), minlength=len(self.slabs))
        self.margins, self.number = self.margins + margins.sum(axis=0), self.number + len(weights)
