"""Slices of a problem in which few features move: what refutes many of them side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.changes import End
from surefoot.search.certified.leaf import Affine, Leaf
from surefoot.search.certified.proof import Ends, side
from surefoot.search.certified.region import Region, Scenario
from surefoot.search.certified.space import Space
from surefoot.search.certified.stacks import Multipliers, from_scratch, of_points
from surefoot.search.certified.typical import Typical

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
CutEnds = Mapping[tuple[int, bool], End]  # (feature, above) -> the end that a cut set

SAMPLE = 64  # slices whose weights are tried for all others
SAMPLED = 256  # slices from which on that is worth its while
STIFF = 1e5  # weight of an equation, in units of the margins' height
LOST = 1e-6  # what rounding may do to such a sum: margins must be so far below zero
CUTS = 8  # for p = 1: how often the signs of the norm's cross terms are chosen
CROSSED = 1e-4  # relative excess of the norm at which they are chosen anew
NARROW = 1e-9  # ends nearer to each other than this leave nothing to scale by


@dataclass(frozen=True, eq=False)
class Boxes:
    """Slices by the ends of their features' changes; as many features move in each.

    Parameters
    ----------
    low, high : arrays of shape (N, n)
        Equal for features that do not move.
    free : array of int of shape (N, d)
        The features that move.
    origin : array of shape (N, n)
        The coordinates u where these have not moved.
    touched : array of int of shape (N, c)
        The coordinates of u that are not zero throughout a slice, filled up to as many in each.
    """

    low: Array
    high: Array
    free: Indices
    origin: Array
    touched: Indices

    @classmethod
    def between(cls, space: Space, low: Array, high: Array, width: int = 0) -> Boxes:
        """The slices of a space between ends; ``width``: of ``touched``, at least."""
        moving = low < high
        free: Indices = np.nonzero(moving)[1].reshape(len(low), int(moving[:1].sum()))
        origin: Array = np.where(moving, 0.0, low) @ space.matrix.T
        touched = _touched_first((space.matrix[:, free] != 0).any(axis=2).T | (origin != 0), width)
        return cls(low, high, free, origin, touched)

    def of(self, some: Indices) -> Boxes:
        """Some of the slices."""
        return Boxes(self.low[some], self.high[some], self.free[some], self.origin[some], self.touched[some])

    def ends(self, below: Array, above: Array) -> tuple[Array, Array]:
        """Of the features that move, no wider than what a level allows unless that leaves nothing."""
        low, high = (np.take_along_axis(end, self.free, axis=1) for end in (self.low, self.high))
        least, most = np.maximum(low, below[self.free]), np.minimum(high, above[self.free])
        some = least < most
        return np.where(some, least, low), np.where(some, most, high)


@dataclass(eq=False)
class Attempt:
    """Where the search for multipliers ended, for each slice.

    Parameters
    ----------
    slices : Slices
    boxes : Boxes
    refuted : array of bool of shape (N,)
    moments : array of shape (N, d + 1, d + 1)
        Of the relaxed solutions (z, 1).
    weights : list of array
    signs : list of array of shape (c, t, t)
        For p = 1: those of the touched coordinates' cross terms that go with each of the first c weights.
    """

    slices: Slices
    boxes: Boxes
    refuted: Mask
    moments: Array
    weights: list[Array]
    signs: list[Array]

    def put(self, places: Indices, found: Multipliers, signs: Array) -> None:
        """Take over what is known of some of the slices."""
        self.refuted[places], self.moments[places] = found.refuted, found.moments
        for i, weights, own in zip(places, found.weights, signs, strict=True):
            self.weights[i], self.signs[i] = weights, own

    @cached_property
    def changes(self) -> Array:
        """The features' changes in the relaxed solutions, shape (N, n)."""
        boxes, moved = self.boxes, self.moments[:, :-1, -1] * self.slices.unit[self.boxes.free]
        found = np.where(boxes.low < boxes.high, 0.0, boxes.low)
        np.put_along_axis(found, boxes.free, moved, axis=1)
        return found

    @cached_property
    def spread(self) -> Array:
        """The variances of the features around them, shape (N, n)."""
        variances = np.einsum("nii->ni", self.moments[:, :-1, :-1]) - self.moments[:, :-1, -1] ** 2
        found = np.zeros_like(self.boxes.low)
        scale = self.slices.unit[self.boxes.free] ** 2
        np.put_along_axis(found, self.boxes.free, np.maximum(variances, 0.0) * scale, axis=1)
        return found


class Slices:
    """Slices of a space at a level: a few features move, all others have one value.

    Variables are the changes of the features that move, in units of what the level allows.

    Parameters
    ----------
    space : Space
    level : float
    scenarios : sequence of Scenario
    numbers : sequence of int
        What the scenarios are called in leaves.
    cut : bool
        Whether cuts may have set ends.
    """

    def __init__(
        self,
        space: Space,
        level: float,
        scenarios: Sequence[Scenario],
        numbers: Sequence[int],
        cut: bool = False,
    ) -> None:
        self.space, self.level = space, level
        self.scenarios, self.numbers = list(scenarios), list(numbers)
        n = space.n
        below, above = space.level_ends(level)
        self.low, self.high = np.maximum(space.low, below), np.minimum(space.high, above)
        self._below, self._above = below[n : 2 * n], above[n : 2 * n]
        self.unit = space.reach[n : 2 * n] * (level if np.isfinite(level) else 1.0)
        stated = (space.low > below) | (space.high < above)
        self._with_ends = cut or bool((stated & ~space.fixed)[n : 2 * n].any()) or not np.isfinite(level)
        self._with_norm = space.norm == np.inf and bool(np.isfinite(level))
        rows = [k for k, function in enumerate(space.functions) if function[0] == "r" and stated[k]]
        self._rows = np.array([k for k in rows if not space.fixed[k]], dtype=int)
        self._equations = [k for k in rows if space.fixed[k]]
        self._height = max(*(abs(H.constant) for H in space.margins), 1e-9 * space.slope)
        self._typical = Typical(len(space.functions), len(self.scenarios))
        self._named: dict[tuple[int, bool, float], Affine] = {}

    def refute(self, boxes: Boxes) -> Attempt:
        """Try to refute slices."""
        N, t, D = len(boxes.low), boxes.touched.shape[1], boxes.free.shape[1] + 1
        attempt = Attempt(
            self, boxes, np.zeros(N, dtype=bool), np.zeros((N, D, D)), [np.zeros(0)] * N, [np.zeros(0)] * N
        )
        every = np.arange(N)
        if self.space.norm == np.inf or not np.isfinite(self.level):
            attempt.put(every, self._minimised(boxes, every, None), np.zeros((N, 0, t, t)))
            return attempt
        signs = np.broadcast_to(np.eye(t), (N, 1, t, t))
        attempt.put(every, self._minimised(boxes, every, signs), signs)
        if self.space.norm == 1:
            self._cross(attempt)
        return attempt

    def _cross(self, attempt: Attempt) -> None:
        """For p = 1: L^2 - u'Au, with the signs A that the relaxed solutions show to matter."""
        rows = self._priced(self.coordinates(attempt.boxes), attempt.boxes)
        live = np.flatnonzero(~attempt.refuted)
        for _ in range(CUTS):
            outer = rows[live] @ attempt.moments[live] @ np.swapaxes(rows[live], 1, 2)
            exceeded = np.abs(outer).sum(axis=(1, 2)) > self.level**2 * (1 + CROSSED)
            if not exceeded.any():
                break
            live, chosen = live[exceeded], np.sign(outer[exceeded])
            signs = np.concatenate([np.array([attempt.signs[i] for i in live]), chosen[:, None]], axis=1)
            attempt.put(live, self._minimised(attempt.boxes, live, signs), signs)
            live = live[~attempt.refuted[live]]

    def _minimised(self, boxes: Boxes, some: Indices, signs: Array | None) -> Multipliers:
        """Multipliers for some slices, where there are any to start with."""
        part = boxes if len(some) == len(boxes.low) else boxes.of(some)
        (names, terms), count = self.terms(part, signs), len(self.scenarios)
        if terms.shape[2] == 1:
            return of_points(terms[..., 0, 0])
        if signs is not None or len(terms) < SAMPLED:
            return from_scratch(terms, count)
        if not self._typical.number:
            sample = slice(None, None, len(terms) // SAMPLE)
            self._typical.learn(from_scratch(terms[sample], count, exactly=True), names[sample])
        found = self._typical.tried(terms, names)
        if not found.refuted.all():
            found.put(~found.refuted, from_scratch(terms[~found.refuted], count))
        return found

    def learn(self, boxes: Boxes) -> bool:
        """Note the weights that refute some slices; whether all of them are refuted."""
        names, terms = self.terms(boxes)
        found = from_scratch(terms, len(self.scenarios), exactly=True)
        self._typical.learn(found, names)
        return bool(found.refuted.all())

    def typical_weights(self, box: Boxes) -> Array:
        """The mean weights of slices that are refuted, for what is known in one box."""
        names = self._slabs(box, self.coordinates(box))[0]
        weights: Array = self._typical.weights(names)[0]
        return weights

    def factored(self, box: Boxes) -> tuple[Array, Array, Array]:
        """Of one box the slabs as products left'y right'y of y = (z, 1), and the margins as matrices.

        Where hundreds of features move, the slabs' own matrices would take gigabytes.
        """
        rows = self.coordinates(box)
        slopes, low, high = (part[0] for part in self._slabs(box, rows)[1:])
        left, right = _sides(slopes, low, high)
        left *= _factors(slopes, low, high)[:, None]
        return left, right, self._margins(box, rows)[0]

    def coordinates(self, boxes: Boxes) -> Array:
        """The coordinates u as functions of (z, 1), shape (N, n, d + 1)."""
        moved = np.moveaxis(self.space.matrix[:, boxes.free], 1, 0) * self.unit[boxes.free][:, None, :]
        return np.concatenate([moved, boxes.origin[:, :, None]], axis=2)

    def terms(self, boxes: Boxes, signs: Array | None = None) -> tuple[Indices, Array]:
        """What is not negative in each slice, in units of its height: norm, slabs, margins.

        Before it come the names of the slabs.
        """
        rows = self.coordinates(boxes)
        terms = [] if signs is None else [self._round(self._priced(rows, boxes)[:, None], signs)]
        names, slopes, low, high = self._slabs(boxes, rows)
        terms.append(_products(slopes, low, high) * _factors(slopes, low, high)[..., None, None])
        return names, np.concatenate([*terms, self._margins(boxes, rows)], axis=1)

    def _round(self, rows: Array, signs: Array) -> Array:
        """1 - u'Au / L^2 for some A."""
        bent = -np.swapaxes(rows, 2, 3) @ signs @ rows / self.level**2
        bent[..., -1, -1] += 1.0
        return np.asarray(bent)

    def _priced(self, rows: Array, boxes: Boxes) -> Array:
        """For p = 1 and 2: touched coordinates times the price of their side, or the cheaper one."""
        rows = np.take_along_axis(rows, boxes.touched[..., None], axis=1)
        if self.space.prices is None or self.space.prices.even:
            return rows
        scales = self.space.prices.scales(boxes.low, boxes.high)
        return np.asarray(np.take_along_axis(scales, boxes.touched, axis=1)[:, :, None] * rows)

    def _slabs(self, boxes: Boxes, rows: Array) -> tuple[Indices, Array, Array, Array]:
        """Directions with ends, what they are as functions of (z, 1), and their ends."""
        n, (N, d) = self.space.n, boxes.free.shape
        low, high = boxes.ends(self._below, self._above)
        names, slopes = [], []
        if self._with_norm:
            names.append(boxes.touched)
            slopes.append(np.take_along_axis(rows, boxes.touched[..., None], axis=1))
        if len(self._rows):
            names.append(np.broadcast_to(self._rows, (N, len(self._rows))))
            slopes.append(self.space.directions[self._rows] @ rows)
        lows, highs = [self.low[k] for k in names], [self.high[k] for k in names]
        if self._with_ends or not names:
            names.append(n + boxes.free)
            slopes.append(self.unit[boxes.free][..., None] * np.eye(d, d + 1))
            lows.append(low)
            highs.append(high)
        return (
            np.concatenate(names, axis=1),
            np.concatenate(slopes, axis=1),
            np.concatenate(lows, axis=1),
            np.concatenate(highs, axis=1),
        )

    def _margins(self, boxes: Boxes, rows: Array) -> Array:
        """The requirements in all scenarios, with equations that hold in each of them."""
        free, scale, (N, _, D) = boxes.free, self.unit[boxes.free], rows.shape
        found = np.empty((N, len(self.scenarios), D, D))
        for s, (r, v) in enumerate(self.scenarios):
            H, at = self.space.margins[r], boxes.origin + v
            bent = self.space.bent[r][free[:, :, None], free[:, None, :]]
            found[:, s, :-1, :-1] = scale[:, :, None] * bent * scale[:, None, :]
            slope = 0.5 * np.take_along_axis(H.gradient(at) @ self.space.matrix, free, axis=1) * scale
            found[:, s, :-1, -1] = found[:, s, -1, :-1] = slope
            found[:, s, -1, -1] = H(at)
        found /= self._height
        for k in self._equations:
            row = self.space.directions[k] @ rows
            row[:, -1] -= self.low[k]
            found -= (self._stiffness(k) * row[:, :, None] * row[:, None, :])[:, None]
        found[:, :, -1, -1] += LOST if self._equations else 0.0
        return found

    def _stiffness(self, k: int) -> float:
        """The weight of an equation."""
        level = self.level if np.isfinite(self.level) else 1.0
        return STIFF / float(self.space.reach[k] * level) ** 2

    def leaves(
        self, boxes: Boxes, weights: Sequence[Array], signs: Sequence[Array], cuts: Sequence[CutEnds]
    ) -> list[Leaf]:
        """The entries of a certificate that refute slices; ``cuts``: the ends of each that cuts set."""
        rows, count = self.coordinates(boxes), len(self.scenarios)
        names, slopes, low, high = self._slabs(boxes, rows)
        rest = np.array([own[len(some) :] for own, some in zip(weights, signs, strict=True)])
        slabs = rest[:, :-count] * _factors(slopes, low, high) * self._height
        moves: Mask = np.abs(rows).max(axis=2) > 0
        first = boxes.touched.shape[1] if self._with_norm else 0
        norms = self._norms(boxes.touched[:, :first], slabs[:, :first], moves)
        ends = (part[:, first:].tolist() for part in (slabs, names, low, high))
        found = []
        for i, (margins, *own) in enumerate(zip(rest[:, -count:].tolist(), *ends, strict=True)):
            norm: list[float] = norms[i]
            cross: list[tuple[int, int, float]] = []
            if len(signs[i]):
                norm, cross = self._crosses(weights[i], signs[i], boxes.touched[i], moves[i])
            products = [
                (w, self._side(k, False, a, cuts[i]), self._side(k, True, b, cuts[i]))
                for w, k, a, b in zip(*own, strict=True)
                if w > 0
            ]
            shares = {s: w for s, w in zip(self.numbers, margins, strict=True) if w > 0}
            found.append(Leaf(self.level, norm, cross, products + self._equal_rows, shares))
        return found

    def _norms(self, touched: Indices, slabs: Array, moves: Mask) -> list[list[float]]:
        """For p = inf: the weights of the norm in each slice."""
        if not self._with_norm:
            return [[] for _ in slabs]
        weights = np.zeros(moves.shape)
        np.put_along_axis(weights, touched, slabs, axis=1)
        found: list[list[float]] = np.where(moves, weights, 0.0).tolist()
        return found

    @cached_property
    def _equal_rows(self) -> list[tuple[float, Affine, Affine]]:
        """What equations add to every leaf."""
        return [
            (
                self._stiffness(k) * self._height,
                self._side(k, False, float(self.low[k]), {}),
                self._side(k, True, float(self.high[k]), {}),
            )
            for k in self._equations
        ]

    def _side(self, k: int, above: bool, end: float, cuts: CutEnds) -> Affine:
        """The distance of a direction from an end: one that a cut set, the domain's or the level's."""
        cut = cuts.get((k - self.space.n, above)) if cuts else None
        if cut is not None and cut.at == end:
            return ["c", cut.split]
        key = (k, above, end)
        if key not in self._named:
            low, high = self.low.copy(), self.high.copy()
            (high if above else low)[k] = end
            self._named[key] = side(Ends(self.space, Region(), low, high), k, above)
        return self._named[key]

    def _crosses(
        self, weights: Array, signs: Array, touched: Indices, moves: Mask
    ) -> tuple[list[float], list[tuple[int, int, float]]]:
        """For p = 1 and 2: the weight of the norm and of its cross terms."""
        single, moving = weights[: len(signs)] * self._height / self.level**2, np.flatnonzero(moves[touched])
        total = float(single.sum())
        A = np.clip(np.einsum("c,cij->ij", single, signs), -total, total)
        pairs = [(i, j) for place, j in enumerate(moving) for i in moving[:place] if A[i, j]]
        return [total], [(int(touched[i]), int(touched[j]), float(A[i, j])) for i, j in pairs]


def _touched_first(touched: Mask, width: int) -> Indices:
    """In each row the places that are true, and as many others as the longest needs.

    In sparse networks a few features move few coordinates, and what does not move bounds nothing.
    """
    most = int(touched.sum(axis=1).max(initial=width))
    return np.argsort(~touched, axis=1, kind="stable")[:, :most]


def _factors(slopes: Array, low: Array, high: Array) -> Array:
    """What makes the products of the ends' distances one at most; of an open end nearly so.

    Ends that exclude each other leave a product that is negative, wherever it is: of about minus one then.
    """
    half, open_ = 0.5 * (high - low), np.abs(slopes).sum(axis=-1)
    wide = np.isfinite(half) & (half > NARROW)
    ends = np.where(np.isfinite(low), np.abs(low), 0.0) + np.where(np.isfinite(high), np.abs(high), 0.0)
    size = np.maximum(np.maximum(open_, ends), NARROW)
    return np.where(wide, 1 / np.maximum(half, NARROW) ** 2, 1 / np.where(np.isfinite(half), size**2, size))


def _products(slopes: Array, low: Array, high: Array) -> Array:
    """(slope'y - low)(high - slope'y) as matrices in y = (z, 1)."""
    left, right = _sides(slopes, low, high)
    half = 0.5 * left[..., :, None] * right[..., None, :]
    return np.asarray(half + np.swapaxes(half, -1, -2))


def _sides(slopes: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """The vectors of slope'y - low and high - slope'y; an open side is the constant 1."""
    left, right = slopes.copy(), -slopes
    left[..., -1] -= np.where(np.isinf(low), 0.0, low)
    right[..., -1] += np.where(np.isinf(high), 0.0, high)
    one = np.zeros(slopes.shape[-1])
    one[-1] = 1.0
    left[np.isinf(low)], right[np.isinf(high)] = one, one
    return left, right
