"""The robust problem in the metric's coordinates u = D (x - factual), with the directions to cut."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.geometry import dual_exponent, lp_norm
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified.fork import Fork, forks, rows_of_ways
from surefoot.search.certified.noise import Noise
from surefoot.search.certified.prices import Prices, coordinates

Array = NDArray[np.float64]
Terms = list[list[float]]  # of an affine function: [i, slope]
Function = list[Any]  # a function of a point as certificates name it: ["u", i], ["x", j], ["r", k], ["d", k]

ROUNDINGS = 4  # of an end of a set of values; ten times as many would still tell any two values apart
SNAP = 1e-7  # standard deviations; a value this near to an allowed one is that one
DUST = 1e-13  # of what a feature could change within the largest coordinate: rounding, not a change
MAX_CROSS = 40  # coordinates whose cross terms enter the bound for p = 1
WIDE = 150  # coordinates beyond which a single convex program takes so long that each must be worth it
ODD = 20  # powers of two: of features so much larger or smaller than coordinates, products would dwarf others
HUGE = 1e150  # coefficients whose squares no double holds
MANY = 6  # margins beyond this number are a crowd, of which few decide


@dataclass(frozen=True, eq=False)
class Space:
    """min ||u||_p  s.t.  margins[r](u + v) >= 0 for v in the noise,  low <= directions u <= high.

    Directions are, in this order, the coordinates themselves, the features and rows of the domain, further
    rows of its eithers' ways ("w", listed among the certificate's directions), and eigenvectors along which
    some margin is convex; of a crowd of margins, along which their mean is.

    Parameters
    ----------
    margins : tuple of Quadratic
        The requirements as functions of u.
    robust : tuple of bool
        Which of them must hold under noise.
    norm : float
        The p.
    noise : Noise
        The ball of perturbations in these coordinates.
    directions, low, high : arrays
        Domain of the directions; infinite where there is none.
    convexity : array
        Curvature along each direction: of the eigenvectors their eigenvalue, of the others zero.
    functions : tuple
        What certificates call each direction.
    exact_ends : array of bool
        Directions that may be fixed by their ends: features and rows.
    sets : dict of int -> (ValueSet, float)
        Directions whose values are confined, and what must be added to a direction to get the value.
    problem : RobustProblem or None
        Where the space comes from; None for the space of perturbations around a point.
    forks : tuple of Fork
        The domain's eithers.
    """

    margins: tuple[Quadratic, ...]
    robust: tuple[bool, ...]
    norm: float
    noise: Noise
    directions: Array
    low: Array
    high: Array
    convexity: Array
    functions: tuple[Function, ...]
    exact_ends: NDArray[np.bool_]
    sets: dict[int, tuple[ValueSet, float]]
    problem: RobustProblem | None = None
    forks: tuple[Fork, ...] = ()

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return int(self.directions.shape[1])

    @cached_property
    def prices(self) -> Prices | None:
        """What coordinates cost, where distances are prices."""
        return None if self.problem is None else Prices.of(self.problem.metric)

    @cached_property
    def fixed(self) -> NDArray[np.bool_]:
        """Directions with one value only."""
        return np.asarray((self.low == self.high) & self.exact_ends)

    @cached_property
    def reach(self) -> Array:
        """Largest |d'u| over ||u||_p <= 1, for each direction."""
        return np.asarray(lp_norm(self.directions, dual_exponent(self.norm)))

    @cached_property
    def grains(self) -> Array:
        """What features and rows in odd units are divided by in bounds, powers of two; 1 for all others."""
        power = np.round(np.log2(self.reach, out=np.zeros(len(self.reach)), where=self.reach > 0))
        return np.where(self.exact_ends & (np.abs(power) > ODD), 2.0**power, 1.0)

    def level_ends(self, level: float) -> tuple[Array, Array]:
        """The least and the largest d'u within a distance, for each direction."""
        if self.prices is None or self.prices.even:
            return -level * self.reach, level * self.reach
        below, above = self._reaches
        return -level * below, level * above

    @cached_property
    def _reaches(self) -> tuple[Array, Array]:
        """The largest -d'u and d'u within a price of one, for each direction."""
        assert self.prices is not None
        return self.prices.reaches(self.directions)

    @property
    def dearest(self) -> float:
        """The highest price of one unit of a coordinate."""
        return 1.0 if self.prices is None else float(np.maximum(self.prices.up, self.prices.down).max())

    @cached_property
    def lopsided(self) -> bool:
        """Whether some feature may rise and fall, at different prices."""
        if self.prices is None:
            return False
        own = slice(self.n, 2 * self.n)
        return bool(((self.low[own] < 0) & (self.high[own] > 0) & self.prices.undecided).any())

    @cached_property
    def curvatures(self) -> Array:
        """Matrices of the margins, shape (r, n, n)."""
        return np.array([H.matrix for H in self.margins])

    @cached_property
    def bent(self) -> Array:
        """The same as functions of the features' changes."""
        return np.array([self.matrix.T @ H.matrix @ self.matrix for H in self.margins])

    @cached_property
    def sizes(self) -> Array:
        """Absolute values of the matrices, for bounds on the slopes."""
        return np.abs(self.curvatures)

    @property
    def wide(self) -> bool:
        """Whether there are so many coordinates that points are also found without programs."""
        return self.n > WIDE

    @cached_property
    def crowded(self) -> bool:
        """Whether there are so many margins that only those enter a bound or a step that are violated."""
        return len(self.margins) > MANY

    @cached_property
    def lifts(self) -> tuple[Array, Array]:
        """Slopes and constants of the margins, shapes (r, n) and (r,)."""
        return np.array([H.vector for H in self.margins]), np.array([H.constant for H in self.margins])

    @cached_property
    def bends(self) -> Array:
        """The most that curvature can take from each margin within the noise."""
        extent = self.noise.extent
        return np.asarray(np.where(self.robust, (self.sizes @ extent) @ extent, 0.0))

    @cached_property
    def is_convex(self) -> bool:
        """Whether no margin curves upwards anywhere: then a local optimum is the optimum."""
        return self.most_convex <= 0

    @cached_property
    def cross(self) -> list[tuple[int, int]]:
        """Pairs of coordinates whose cross terms enter the bound for p = 1: the steepest ones."""
        steep = np.abs(np.sum([H.vector for H in self.margins], axis=0))
        kept = sorted(int(i) for i in np.argsort(-steep, kind="stable")[:MAX_CROSS])
        return [(i, j) for k, j in enumerate(kept) for i in kept[:k]]

    @cached_property
    def slope(self) -> float:
        """Steepest margin at the factual, in the dual norm: a unit for log-odds per distance."""
        steep = max(float(lp_norm(H.vector, dual_exponent(self.norm))) for H in self.margins)
        return max(steep, float(np.abs(self.curvatures).max(initial=0.0)), 1e-300)

    @cached_property
    def typical_distance(self) -> float:
        """A bit more than the way to the boundary in the steepest direction."""
        radius = self.noise.radius if self.prices is None else float(self.noise.extent.max())
        return 1.2 * (crossing(self.margins, self.norm) + radius) + 1e-9

    @cached_property
    def farthest(self) -> float:
        """No point of the domain is farther away; infinite if the domain is open."""
        if self.problem is None:
            return np.inf
        domain, x0 = self.problem.domain, self.problem.factual
        ends = np.maximum(np.abs(domain.low - x0), np.abs(domain.high - x0))
        if not np.isfinite(ends).all():
            return np.inf
        if self.prices is None:
            ends = np.abs(self.problem.metric.matrix) @ ends
        else:
            rise, fall = domain.high - x0, x0 - domain.low
            ends = np.maximum(self.problem.metric.up * rise, self.problem.metric.down * fall)
        return float(lp_norm(ends, self.norm)) * (1 + 1e-9) + 1e-300

    @cached_property
    def bounded(self) -> bool:
        """Whether there is any domain at all."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    @property
    def most_convex(self) -> float:
        """The largest positive curvature."""
        return float(self.convexity.max(initial=0.0))

    def size(self, u: Array) -> float:
        """||u||_p, or the price."""
        return float(lp_norm(u, self.norm)) if self.prices is None else self.prices.size(u)

    def sizes_of(self, points: Array) -> Array:
        """The same of each row of a matrix."""
        if self.prices is None:
            return np.asarray(lp_norm(points, self.norm))
        return np.array([self.prices.size(u) for u in points], dtype=float)

    def terms(self, k: int, opposite: bool) -> Terms:
        """A direction as certificates list it, or the opposite one."""
        if (k, opposite) not in self._terms:
            self._terms[k, opposite] = terms(-self.directions[k] if opposite else self.directions[k])
        return self._terms[k, opposite]

    @cached_property
    def _terms(self) -> dict[tuple[int, bool], Terms]:
        return {}

    @cached_property
    def matrix(self) -> Array:
        """From changes of features to coordinates."""
        return np.eye(self.n) if self.problem is None else coordinates(self.problem.metric)[0]

    @cached_property
    def inverse(self) -> Array:
        """From coordinates to changes of features."""
        return np.eye(self.n) if self.problem is None else coordinates(self.problem.metric)[1]

    def x(self, u: Array) -> Array:
        """Point in feature space: inside its ends, and on allowed values, to the last digit."""
        assert self.problem is not None
        change = self.inverse @ u
        change[np.abs(change) <= DUST * float(np.abs(u).max()) * self.reach[self.n : 2 * self.n]] = 0.0
        point = self.problem.factual + change
        point = np.clip(point, self.problem.domain.low, self.problem.domain.high)
        for k, (values, _) in self.sets.items():
            j = values.feature
            nearest = values.nearest(float(point[j]))
            if abs(nearest - point[j]) <= SNAP * self.reach[k]:
                point[j] = nearest
        return np.asarray(point)

    def value_ends(self, k: int) -> tuple[float, float]:
        """Between which values a feature with a set of values lies, in its own units.

        Its ends are kept as changes from today's value. Adding that value back may round an end past the
        allowed value it stands for, which would leave no value at all: the ends are a few roundings wider.
        """
        today = self.sets[k][1]
        low, high = float(self.low[k]) + today, float(self.high[k]) + today
        return low - ROUNDINGS * _ulp(low, today), high + ROUNDINGS * _ulp(high, today)

    def u(self, x: Array) -> Array:
        """Coordinates of a point."""
        assert self.problem is not None
        return np.asarray(self.matrix @ (x - self.problem.factual))

    def into_domain(self, u: Array) -> Array:
        """The point inside the features' ends that u stands for: solvers' tolerances are taken back."""
        return self.u(self.x(u)) if self.bounded and self.problem is not None else u

    def allows(self, u: Array) -> bool:
        """Whether the point is in the domain: its ends, rows and sets of values."""
        if self.problem is None or self.problem.domain.is_box:
            return True
        return self.problem.domain.contains(self.x(u))

    def radius(self, r: int) -> float:
        """How far noise reaches for a requirement."""
        return self.noise.radius if self.robust[r] else 0.0


def _ulp(*values: float) -> float:
    """The distance to the next double at the largest of some values."""
    return math.ulp(max(map(abs, values)))


def terms(slopes: Array) -> Terms:
    """[i, slope] for every slope that is not zero."""
    return [[i, slope] for i, slope in enumerate(slopes.tolist()) if slope]


def decided_rows(domain: Domain) -> NDArray[np.intp]:
    """Rows whose features have one value each, and that hold there: they say no more.

    Where such a row is met at its very end, programs and bounds would take rounding for a breach.
    """
    fixed = domain.fixed
    at = np.where(fixed, domain.low, 0.0)  # what moves is not in these rows
    return np.flatnonzero([not row.coefficients[~fixed].any() and row.contains(at) for row in domain.rows])


def whitened(problem: RobustProblem) -> Space:
    """The problem in the metric's coordinates."""
    _, B = coordinates(problem.metric)
    margins = tuple(H.in_coordinates(B, problem.factual) for H in problem.margins)
    if not all(np.abs(H.matrix).max(initial=0.0) < HUGE for H in margins):
        raise ProblemError("the coefficients of the decision are too large to compute with")
    A, low, high = problem.domain.linear()
    decided = problem.n_features + decided_rows(problem.domain)
    low[decided], high[decided] = -np.inf, np.inf
    further = rows_of_ways(problem.domain)
    A, open_ = np.vstack([A, *further]) if further else A, np.full(len(further), np.inf)
    at = A @ problem.factual
    functions = [["x", j] for j in range(problem.n_features)]
    functions += [["r", k] for k in range(len(problem.domain.rows))]
    functions += [["w", k] for k in range(len(further))]
    n = problem.n_features
    known = [row.coefficients for row in problem.domain.rows]
    space = _space(
        margins,
        tuple(r.robust for r in problem.requirements),
        problem.norm,
        Noise.of(problem),
        (A @ B, np.append(low, -open_) - at, np.append(high, open_) - at, functions),
        {n + s.feature: (s, float(problem.factual[s.feature])) for s in problem.domain.sets},
        problem,
    )
    return (
        replace(space, forks=forks(problem.domain, known + further, at)) if problem.domain.eithers else space
    )


def around(margin: Quadratic, norm: float) -> Space:
    """All perturbations w of a point, those being sought at which a margin is not above zero."""
    nothing: tuple[Array, Array, Array, list[Function]]
    nothing = np.zeros((0, margin.n_features)), np.zeros(0), np.zeros(0), []
    return _space((-margin,), (False,), norm, Noise.none(margin.n_features), nothing, {}, None)


def _space(
    margins: tuple[Quadratic, ...],
    robust: tuple[bool, ...],
    norm: float,
    noise: Noise,
    rows: tuple[Array, Array, Array, Sequence[Function]],
    sets: dict[int, tuple[ValueSet, float]],
    problem: RobustProblem | None,
) -> Space:
    A, low, high, functions = rows
    n = margins[0].n_features
    values, vectors = zip(*(_convex_part(H) for H in _that_bend(margins)), strict=True)
    extra = np.concatenate(vectors)
    first, last = np.full(n, np.inf), np.full(len(extra), np.inf)
    listed = sum(function[0] == "w" for function in functions)
    names = [["u", i] for i in range(n)] + list(functions) + [["d", listed + k] for k in range(len(extra))]
    return Space(
        margins,
        robust,
        norm,
        noise,
        np.concatenate([np.eye(n), A, extra]),
        np.concatenate([-first, low, -last]),
        np.concatenate([first, high, last]),
        np.concatenate([np.zeros(n + len(A)), *values]),
        tuple(names),
        np.repeat([False, True, False], [n, len(A), len(extra)]),
        sets,
        problem,
    )


def _that_bend(margins: tuple[Quadratic, ...]) -> tuple[Quadratic, ...]:
    """The margins to whose eigenvectors regions are cut: of a crowd, which is much alike, the mean.

    Cuts along nearly parallel directions would make slabs that do not add up.
    """
    if len(margins) <= MANY:
        return margins
    return (Quadratic(np.mean([H.matrix for H in margins], axis=0), np.zeros(margins[0].n_features), 0.0),)


def _convex_part(H: Quadratic) -> tuple[Array, Array]:
    """Positive eigenvalues and their eigenvectors as rows."""
    values, vectors = H.spectrum
    convex = values > 1e-9 * np.abs(values).max(initial=1e-300)
    return values[convex], vectors[:, convex].T


def steepest(q: Array, p: float) -> Array:
    """The direction of unit length in which q'u grows fastest."""
    if p == np.inf:
        return np.where(q >= 0, 1.0, -1.0)
    if p == 2:
        return np.asarray(q / max(float(np.linalg.norm(q)), 1e-300))
    d = np.zeros(len(q))
    for i in np.abs(q).argsort()[-1:]:  # none where no number moves
        d[i] = 1.0 if q[i] >= 0 else -1.0
    return d


def crossing(margins: Sequence[Quadratic], norm: float) -> float:
    """How far it is from zero to where the last margin becomes zero, each in its steepest direction."""
    return max(_first_root(H, steepest(H.vector, norm)) for H in margins)


def _first_root(H: Quadratic, d: Array) -> float:
    """First step along d at which H becomes zero; where it never does, one at which it would have bent."""
    a, b, c = float(d @ H.matrix @ d), float(H.vector @ d), H.constant
    disc = b * b - 4 * a * c
    if disc < 0:
        return max(1.0, float(np.sqrt(abs(c / a))))
    half = -0.5 * (b + np.copysign(np.sqrt(disc), b))
    roots = [x for x in (half / a if a else np.inf, c / half if half else np.inf) if 0 < x < np.inf]
    return min(roots, default=1.0)
