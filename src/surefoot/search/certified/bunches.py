"""Bunches of choices refuted at any distance: by weights that are the same for all of them.

A leaf in which many features move refutes every choice among them, and its weights serve any part of it,
too: what does not move is left out of the sum. So where limits leave nothing anywhere, the tree of choices
need not be split down to single ones. With K the curvature of minus the sum and h half its slope, features F
that move make its peak c + sum of their slabs' constants + h_F' inv(K_FF) h_F: one small system for each
bunch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf

from surefoot.search.certified.changes import Choice
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.grafting import Shared
from surefoot.search.certified.narrowing import ends
from surefoot.search.certified.slices import Boxes, Slices
from surefoot.search.certified.stacks import SAFETY

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

SAMPLE = 32  # choices whose weights are averaged
MOST_FREE = 8  # features that move in one of them
FEWER, MOST = 5, 2_000  # bunches that are looked at: so many times fewer than choices, and at most
OPEN = 10  # single choices that are not refuted before the rest is left as it is
LEAST, MORE, TRIES = 1e-5, 2.0, 20  # what is added to the slabs' weights until the sum is concave
ROOM = 1.25  # and how much more, for rounding


def refute_in_bunches(slices: Slices, root: Choice, clock: Clock) -> None:
    """Refute what can be of a choice, at any distance; what is left of it may be split in part.

    Parameters
    ----------
    slices : Slices
        At an infinite level.
    root : Choice
    clock : Clock
    """
    box = Boxes.between(slices.space, *ends(slices.space, [root]))
    weights = _typical_weights(slices, root, box)
    if weights is not None:
        _shared_sum(slices, box, weights).refute(root, clock)


@dataclass(frozen=True, eq=False)
class _SharedSum:
    """A sum of what is not negative, as a function of all features' changes.

    Parameters
    ----------
    curvature, slope, constant
        It is constant + 2 slope'z - z'curvature z, but for slabs.
    slabs : array of shape (d,)
        The constant that the slab of each feature adds where it moves.
    places : array of int of shape (n,)
        The number of each feature among those that move.
    proof : Shared
    """

    curvature: Array
    slope: Array
    constant: float
    slabs: Array
    places: Indices
    proof: Shared

    def refute(self, root: Choice, clock: Clock) -> None:
        """Split choices, those that gain most first, until the sum refutes them."""
        looks, opened = min(root.size // FEWER, MOST), 0
        stack: list[tuple[Choice, Array | None]] = [(root, None)]
        while stack and looks and opened < OPEN:
            choice, gains = stack.pop()
            if choice.empty:
                continue
            if gains is None:
                looks -= 1
                clock.check()
                peak, gains = self._peak(self.places[list(choice.free)])
                if peak < 0:
                    choice.proven(np.inf, self.proof)
                    continue
            feature = self._most_gaining(choice, gains)
            if feature is None:
                opened += 1
                continue
            moving, parts = choice.free, choice.split(feature)
            if not parts:
                opened += 1
                continue
            kept, counted = parts
            known = gains if counted.free == moving else None
            stack += [(kept, None), (counted, known)]  # what gains most is looked at first

    def _peak(self, moving: Indices) -> tuple[float, Array]:
        """The peak of the sum where some features move, and about what each of them adds to it.

        Where it has none: how much each has to do with that.
        """
        gains = np.full(len(self.slope), -np.inf)
        bent = self.curvature[np.ix_(moving, moving)]
        if not _is_definite(bent):
            gains[moving] = np.linalg.eigh(bent)[1][:, 0] ** 2
            return np.inf, gains
        inverse = np.linalg.inv(bent)
        slope, slabs = self.slope[moving], self.slabs[moving]
        z = inverse @ slope
        gains[moving] = slabs + z**2 / inverse.diagonal()
        rise, fixed = float(slope @ z), self.constant + float(slabs.sum())
        size = abs(self.constant) + float(np.abs(slabs).sum()) + rise
        return fixed + rise + SAFETY * size, gains

    def _most_gaining(self, choice: Choice, gains: Array) -> int | None:
        """The feature to decide next; one that cannot stay as it is comes before all others."""
        features = choice.contested
        forced = [j for j in features if j in choice.limits.forced]
        if forced or not features:
            return forced[0] if forced else None
        return features[int(gains[self.places[list(features)]].argmax())]


def _typical_weights(slices: Slices, root: Choice, box: Boxes) -> Array | None:
    """The mean weights of some choices, for everything in a box; None unless all of them are refuted."""
    order, apart = root.undecided, 1 + len(root.undecided) // SAMPLE
    samples = [root.filled_in((*order[i:], *order[:i])) for i in range(0, len(order), apart)]
    low, high = ends(slices.space, samples)
    sizes = (low < high).sum(axis=1)
    if sizes.max() > MOST_FREE or sizes.min() == 0:
        return None
    for size in np.unique(sizes):
        some = sizes == size
        if not slices.learn(Boxes.between(slices.space, low[some], high[some])):
            return None
    return slices.typical_weights(box)


def _shared_sum(slices: Slices, box: Boxes, weights: Array) -> _SharedSum:
    """The sum with such weights, those of the slabs raised until it is concave if that is possible."""
    (left, right, margins), d = slices.factored(box), box.free.shape[1]
    m = len(left)
    slabs, own = slice(0, m), slice(m - d, m)
    total = _added_up(left, right, weights[slabs]) + np.tensordot(weights[m:], margins, 1)
    weights[slabs] += _lacking(total, _added_up(left, right, np.ones(m)))
    weights[slabs] *= left[:, :-1].any(axis=1) | right[:, :-1].any(axis=1)  # else there is only a constant
    total = _added_up(left, right, weights[slabs]) + np.tensordot(weights[m:], margins, 1)
    heights = weights[slabs] * left[:, -1] * right[:, -1]
    places = np.zeros(slices.space.n, dtype=np.intp)
    places[box.free[0]] = np.arange(d)
    (leaf,) = slices.leaves(box, [weights], [np.zeros((0, d, d))], [{}])
    return _SharedSum(
        -total[:-1, :-1],
        total[:-1, -1],
        float(total[-1, -1] - heights[own].sum()),
        heights[own],
        places,
        Shared(leaf),
    )


def _added_up(left: Array, right: Array, weights: Array) -> Array:
    """The sum of weighted products left'y right'y, as a matrix."""
    half = 0.5 * (left * weights[:, None]).T @ right
    return np.asarray(half + half.T)


def _lacking(total: Array, slabs: Array) -> float:
    """How often slabs must be added to a sum to make it concave; zero if that is of no use."""
    for step in range(TRIES):
        more = LEAST * MORE**step
        if _is_definite(-(total + more * slabs)[:-1, :-1]):
            return ROOM * more
    return 0.0


def _is_definite(matrix: Array) -> bool:
    return bool(dpotrf(matrix, lower=1)[1] == 0)
