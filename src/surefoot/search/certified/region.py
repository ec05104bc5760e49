"""A region of the search: a level of the norm and slabs of some directions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefoot.search.certified.fork import Ends, Fork
from surefoot.search.certified.lagrangian import Indices
from surefoot.search.certified.leaf import Leaf
from surefoot.search.certified.space import MAX_CROSS, Space

Array = NDArray[np.float64]
Scenario = tuple[int, Array]  # rival, perturbation

FLAT = 1e-9  # share of a direction's reach at which it counts as constant
MONOTONE = 1 + 1e-9  # slopes must exceed what rounding could take from them


class Split(NamedTuple):
    """One side of a cut: direction'u >= at if ``above``, else <= at."""

    direction: int
    above: bool
    at: float

    def sets(self, direction: int, above: bool, end: float) -> list[Any] | None:
        """What certificates add to ["c", k] for the distance from an end; None where it is not set here."""
        own = self.direction == direction and self.above != above and self.at == end
        return [] if own else None


class Taken(NamedTuple):
    """A way of a fork: the ends that its rows set."""

    fork: int
    way: int
    ends: tuple[Ends, ...]

    def sets(self, direction: int, above: bool, end: float) -> list[Any] | None:
        """Likewise: the row that sets the end, and which of its ends that is."""
        for i, (k, low, high) in enumerate(self.ends):
            if k == direction and (high if above else low) == end:
                return [i, "high" if above else "low"]
        return None


class Pair(NamedTuple):
    """(end of d_i'u - d_i'u)(end of d_j'u - d_j'u), at upper ends or at lower ones; never negative."""

    i: int
    above_i: bool
    j: int
    above_j: bool


class Wedge(NamedTuple):
    """(end of d_k'u - d_k'u)(L - y'u), at the upper end or at the lower one; y is a slope of the norm."""

    k: int
    above: bool
    slope: tuple[float, ...]


class Cut(NamedTuple):
    """Where a region is split: direction'u <= below or >= above; between them nothing is allowed."""

    direction: int
    below: float
    above: float


@dataclass(eq=False)
class Region:
    """A node of the search tree.

    Parameters
    ----------
    path : tuple of Split or Taken
        The cuts and ways that lead here.
    splits : dict
        Direction -> (low, high), what the path says of each.
    scenarios : list of int
        Those that matter here.
    idle : frozenset of int
        Domain rows that do not matter here, left out of the bound to make it cheaper.
    pairs : frozenset of Pair or Wedge
        Products of two directions' distances from their ends that tighten the bound here.
    gaps : dict of int -> (low, high)
        Neighbouring allowed values of a direction, between which nothing is allowed.
    bound : float
        Proven: no robust counterfactual of the region is closer.
    leaf : Leaf
        What proves the bound.
    before, before_pairs : float
        What was left to refute at the last try, and before pairs were added.
    rays : tuple of array
        Slopes y of the price that tighten the bound here: y'u is within the level.
    cut, children
        Once it is split: where, the part below and the part above; or a fork, and a part for each way.
    """

    path: tuple[Split | Taken, ...] = ()
    splits: dict[int, tuple[float, float]] = field(default_factory=dict)
    scenarios: list[int] = field(default_factory=list)
    idle: frozenset[int] = frozenset()
    pairs: frozenset[Pair | Wedge] = frozenset()
    gaps: dict[int, tuple[float, float]] = field(default_factory=dict)
    bound: float = 0.0
    leaf: Leaf | None = None
    before: float = np.inf
    before_pairs: float = np.inf
    rays: tuple[Array, ...] = ()
    cut: Cut | Fork | None = None
    children: list[Region] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """How many cuts lead here."""
        return len(self.path)

    @property
    def ways(self) -> dict[int, int]:
        """The ways that were taken, by their forks."""
        return {step.fork: step.way for step in self.path if isinstance(step, Taken)}

    @property
    def is_whole(self) -> bool:
        """Whether no cut leads here, but for ways that were taken."""
        return all(isinstance(step, Taken) for step in self.path)

    def proven(self) -> float:
        """The least bound of its leaves."""
        return min(child.proven() for child in self.children) if self.children else self.bound

    def leaves(self) -> Iterator[Region]:
        """The regions that are not split."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def ends(self, space: Space, level: float = np.inf) -> tuple[Array, Array]:
        """Between what the directions lie, by domain, level and cuts."""
        below, above = space.level_ends(level)
        low, high = np.maximum(space.low, below), np.minimum(space.high, above)
        for k, (a, b) in self.splits.items():
            low[k], high[k] = max(low[k], a), min(high[k], b)
        return low, high

    def rates(self, space: Space) -> Array | None:
        """For p = 1 and 2: the price of each coordinate on its side, or the lower one; None if all are 1."""
        if space.norm == np.inf or space.prices is None or space.prices.even:
            return None
        low, high = self.ends(space)
        features = slice(space.n, 2 * space.n)
        return space.prices.scales(low[features], high[features])

    def split(self, cut: Cut) -> list[Region]:
        """The part below the cut and the part above it."""
        k, self.cut = cut.direction, cut
        self.children = [
            self._part(Split(k, False, cut.below), (Ends(k, -np.inf, cut.below),)),
            self._part(Split(k, True, cut.above), (Ends(k, cut.above, np.inf),)),
        ]
        return self.children

    def take(self, fork: Fork) -> list[Region]:
        """A part for each way."""
        self.cut = fork
        self.children = [
            self._part(Taken(fork.number, way, ends), ends) for way, ends in enumerate(fork.ways)
        ]
        return self.children

    def _part(self, step: Split | Taken, narrower: Sequence[Ends]) -> Region:
        """What is left of the region after a step that sets some ends."""
        splits = dict(self.splits)
        for k, least, most in narrower:
            low, high = splits.get(k, (-np.inf, np.inf))
            splits[k] = max(low, least), min(high, most)
        changed = {k for k, _, _ in narrower}
        return Region(
            (*self.path, step),
            splits,
            list(self.scenarios),
            self.idle,
            self.pairs,
            {j: gap for j, gap in self.gaps.items() if j not in changed},
            self.bound,
            self.leaf,
            rays=self.rays,
        )


@dataclass(frozen=True, eq=False)
class Piece:
    """A region at one level: ranges of the directions, and u = origin + basis z within it.

    Features and rows with one value and monotone coordinates that sit in a corner are what is eliminated.
    Directions that are *settled* have one value then, too.
    """

    space: Space
    region: Region
    level: float
    low: Array
    high: Array
    corners: dict[int, float]
    corner_ends: dict[int, tuple[float, float]]
    fixed: NDArray[np.bool_]
    origin: Array
    basis: Array | None
    settled: dict[int, float]
    rays: tuple[Array, ...] = ()

    @cached_property
    def free(self) -> list[int]:
        """Coordinates that do not sit in a corner."""
        return [i for i in range(self.space.n) if i not in self.corners]

    @cached_property
    def scales(self) -> Array | None:
        """The region's rates."""
        return self.region.rates(self.space)

    @cached_property
    def undecided(self) -> NDArray[np.bool_]:
        """Coordinates that may rise and fall in the piece, at different prices."""
        prices, own = self.space.prices, slice(self.space.n, 2 * self.space.n)
        if prices is None:
            return np.zeros(self.space.n, dtype=bool)
        return np.asarray((self.low[own] < 0) & (self.high[own] > 0) & prices.undecided)

    @cached_property
    def stated(self) -> Indices:
        """Directions whose range is more than what the level says, without the idle ones."""
        space, region = self.space, self.region
        below, above = space.level_ends(self.level)
        stated = (space.low > below) | (space.high < above)
        stated[list(region.idle)] = False
        stated[list(region.splits)] = True
        stated &= ~self.fixed
        stated[[*self.corners, *self.settled]] = False
        return np.flatnonzero(stated)

    @cached_property
    def pairs(self) -> list[Pair]:
        """The region's pairs of directions that are free here and do not depend on a corner."""
        if not self.region.pairs:
            return []
        held = list(self.corners)
        free = ~self.fixed & ~self.space.directions[:, held].any(axis=1)
        free[list(self.settled)] = False
        pairs = [p for p in self.region.pairs if isinstance(p, Pair)]
        return sorted(p for p in pairs if free[p.i] and free[p.j])

    @cached_property
    def wedges(self) -> list[Wedge]:
        """The region's wedges of directions that are free here."""
        wedges = [w for w in self.region.pairs if isinstance(w, Wedge)]
        if not wedges:
            return []
        held = {*np.flatnonzero(self.fixed).tolist(), *self.settled}
        return sorted(w for w in wedges if np.isfinite(self.level) and w.k not in held)

    @cached_property
    def gaps(self) -> list[tuple[int, tuple[float, float]]]:
        """The region's gaps within the piece, of directions that do not depend on a corner."""
        held = list(self.corners)
        return [
            (k, (a, b))
            for k, (a, b) in sorted(self.region.gaps.items())
            if not self.fixed[k]
            and a < self.high[k]
            and b > self.low[k]
            and not self.space.directions[k, held].any()
            and self._tells(k, a, b)
        ]

    def _tells(self, k: int, a: float, b: float) -> bool:
        """Whether a gap says anything: of a direction that is settled, where it is strictly between."""
        room = FLAT * self.space.reach[k]
        return k not in self.settled or a + room < self.settled[k] < b - room

    @cached_property
    def cross(self) -> list[tuple[int, int]]:
        """Pairs of coordinates with cross terms: with very many features a ray takes their place."""
        wide = self.space.wide or (bool(self.rays) and self.space.n > MAX_CROSS)
        return self.space.cross if self.space.norm == 1 and not wide else []

    @cached_property
    def ray_ends(self) -> list[tuple[Array, tuple[float, float]]]:
        """The rays y with the least and the largest y'u within the level."""
        prices = self.space.prices
        if prices is None or prices.even:
            return [(y, (-self.level, self.level)) for y in self.rays]
        reaches = [prices.reaches(y) for y in self.rays]
        return [
            (y, (-self.level * float(below), self.level * float(above)))
            for y, (below, above) in zip(self.rays, reaches, strict=True)
        ]

    @property
    def is_point(self) -> bool:
        """Whether every feature has one value."""
        return self.basis is not None and not self.basis.shape[1] and not self.corners

    @property
    def empty(self) -> bool:
        """Whether some direction has no value left: level, domain and splits exclude each other."""
        return bool((self.low > self.high + 1e-11 * (np.abs(self.low) + np.abs(self.high))).any())

    def reduced(self, slopes: Array) -> Array:
        """Slopes in u as slopes in z."""
        return slopes if self.basis is None else slopes @ self.basis

    @cached_property
    def equations(self) -> list[int]:
        """Rows with one value, of the domain and of ways."""
        return [int(k) for k in np.flatnonzero(self.fixed) if self.space.functions[k][0] in ("r", "w")]

    def with_equations(self) -> Piece:
        """The same piece in coordinates in which its equations are not eliminated."""
        fixed = self.fixed.copy()
        fixed[self.equations] = False
        origin, basis = _affine_hull(self.space, fixed, self.corners, self.low)
        return replace(self, origin=origin, basis=basis)

    def lifted(self, z: Array) -> Array:
        """The u of a z."""
        return z if self.basis is None else np.asarray(self.origin + self.basis @ z)

    def lifted_spread(self, spread: Array) -> Array:
        """Second moments in u of those in z."""
        return spread if self.basis is None else np.asarray(self.basis @ spread @ self.basis.T)


def piece(
    space: Space,
    region: Region,
    level: float,
    *,
    use_corners: bool,
    rays: tuple[Array, ...] = (),
    rivals: Collection[int] | None = None,
) -> Piece:
    """The region at a level; with ``use_corners`` monotone coordinates sit at their better end.

    ``rivals``: the margins that the bound is about, by default all.

    ``rays``: slopes y of dual norm 1 at most, whose products (level - y'u)(level + y'u) enter the bound;
    where prices differ up and down, with the least that y'u can be in the place of -level.
    """
    low, high = region.ends(space, level)
    fixed = _fixed(space, region)
    corners = monotone_corners(space, region, level, low, high, rivals) if use_corners else {}
    ends = {i: (float(low[i]), float(high[i])) for i in corners}
    for i, end in corners.items():
        low[i] = high[i] = end
    origin, basis = _affine_hull(space, fixed, corners, low)
    settled = _settled(space, fixed, origin, basis, (low, high))
    return Piece(space, region, level, low, high, corners, ends, fixed, origin, basis, settled, rays)


def _settled(
    space: Space, fixed: NDArray[np.bool_], origin: Array, basis: Array | None, ends: tuple[Array, Array]
) -> dict[int, float]:
    """Directions that equations leave one value, within their ends: products with these say nothing.

    Their weights would mean nothing either, and grow beyond all that equations can make up for.
    """
    equations = any(space.functions[k][0] in ("r", "w") for k in np.flatnonzero(fixed))
    if not equations or basis is None:
        return {}
    (low, high), room = ends, FLAT * space.reach
    flat = np.abs(space.directions @ basis).max(axis=1, initial=0.0) <= room
    at = space.directions @ origin
    inside = (at >= low - room) & (at <= high + room)
    return {int(k): float(at[k]) for k in np.flatnonzero(flat & inside)}


def _fixed(space: Space, region: Region) -> NDArray[np.bool_]:
    """Features and rows with one value in the region."""
    fixed = space.fixed
    for k, (a, b) in region.splits.items():
        if space.exact_ends[k] and max(a, space.low[k]) == min(b, space.high[k]) and not fixed[k]:
            fixed = fixed.copy() if fixed is space.fixed else fixed
            fixed[k] = True
    return fixed


def _affine_hull(
    space: Space, fixed: NDArray[np.bool_], corners: dict[int, float], values: Array
) -> tuple[Array, Array | None]:
    """Origin and orthonormal basis of what is left when the fixed directions have their values."""
    origin = np.zeros(space.n)
    if not fixed.any():
        if not corners:
            return origin, None
        origin[list(corners)] = list(corners.values())
        return origin, np.delete(np.eye(space.n), list(corners), axis=1)
    held = fixed.copy()
    held[list(corners)] = True
    rows, at = space.directions[held] / space.grains[held, None], values[held] / space.grains[held]
    if at.any():
        origin = np.asarray(linalg.lstsq(rows, at)[0])
    return origin, linalg.null_space(rows)


def monotone_corners(
    space: Space,
    region: Region,
    level: float,
    low: Array,
    high: Array,
    rivals: Collection[int] | None = None,
) -> dict[int, float]:
    """Coordinates along which every margin rises all over the region, with the end where it is highest.

    With such a coordinate at that end the margins are no lower, so what refutes them there refutes them
    all over the region (p = infinity only: other balls are no boxes). A coordinate that a domain row or a
    split direction depends on stays free, since the products of their ends would lose their use.
    """
    if space.norm != np.inf or not np.isfinite(level):
        return {}
    n = space.n
    below, above = space.level_ends(level)
    bounded = (space.low > below) | (space.high < above)
    bounded[[k for k in region.splits if k >= n]] = True
    open_ = ~space.directions[bounded].any(axis=0)
    a, b = low[:n].copy(), high[:n].copy()
    corners: dict[int, float] = {}
    while open_.any():
        middle, half = 0.5 * (a + b), (0.5 * (b - a) + space.noise.extent) * MONOTONE
        up, down = open_.copy(), open_.copy()
        for r in range(len(space.margins)) if rivals is None else rivals:
            slope, spread = space.margins[r].gradient(middle), 2 * space.sizes[r] @ half
            up &= slope > spread
            down &= slope < -spread
        if not (up | down).any():
            break
        a[up], b[down] = b[up], a[down]
        corners |= {int(i): float(a[i]) for i in np.flatnonzero(up | down)}
        open_ &= ~(up | down)
    return corners
