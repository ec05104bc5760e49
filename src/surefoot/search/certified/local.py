"""Convex-concave procedure: from any start to a nearby local optimum of the scenario problem."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.geometry import dual_exponent, lp_norm
from surefoot.problem.quadratic import Quadratic
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.space import Space, crossing

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

ROW_MARGIN = 1e-7  # standard deviations that points keep from rows: solvers stop at tolerances of their own
LONG = 1e3  # standard deviations; on longer ways programs are counted from where a step starts
COARSE = 1e-3  # of that way: the least unit there


@dataclass(frozen=True, eq=False)
class CurvatureParts:
    """Q = convex - root'root, both parts positive semidefinite."""

    convex: Array
    root: Array


def curvature_parts(H: Quadratic) -> CurvatureParts:
    """Split a margin's curvature by the signs of its eigenvalues."""
    values, vectors = H.spectrum
    up, down = values > 0, values < -1e-14 * np.abs(values).max(initial=1e-300)
    convex = (vectors[:, up] * values[up]) @ vectors[:, up].T
    return CurvatureParts(convex, (vectors[:, down] * np.sqrt(-values[down])).T)


class Columns(NamedTuple):
    """A matrix column by column, with the names that scipy's csc_matrix has and Clarabel reads.

    Making one of scipy's takes longer than solving a small program, and lists are read faster than arrays.
    """

    shape: tuple[int, int]
    data: list[float]
    indices: list[int]
    indptr: list[int]
    has_canonical_format: bool = True  # the rows of each column in their order, none of them twice

    @classmethod
    def of(cls, A: Array) -> Columns:
        """The entries of a dense matrix that are not zero."""
        columns, rows = A.T.nonzero()
        ends = np.bincount(columns, minlength=A.shape[1]).cumsum()
        return cls(A.shape, A[rows, columns].tolist(), rows.tolist(), [0, *ends.tolist()])


class Step(NamedTuple):
    """A solution: the point, how far it misses, and what each margin, the norm and the domain cost.

    Dual variables are distances for one unit of log-odds. ``subgradient``: the one of the norm at the point
    that the optimum's conditions hold with.
    """

    u: Array
    slack: float
    margins: Array
    norm: Array
    domain: Array
    subgradient: Array


@dataclass(frozen=True, eq=False)
class ConvexConcave:
    """The family of convex programs that replace the margins by what is linear or concave in them.

    min ||u||_p + price * slack  s.t.  H's convex part linearised at the current point: the feasible set
    lies inside the true one, so every step is feasible and never worse (Clarabel solves each).
    Variables: u, one or n entries of the norm (n + 1 for p = 2 where prices differ up and down), per margin
    a bound on its concave part, and the slack.

    Parameters
    ----------
    space : Space
    pinned : tuple of int
        Directions whose values are given with each step.
    centre : array of shape (n,) or None
        Where u is counted from, in units that fit there; None for the factual.
    rivals : tuple of int or None
        The margins that take part; None for all.
    """

    space: Space
    pinned: tuple[int, ...] = ()
    centre: Array | None = None
    rivals: tuple[int, ...] | None = None

    @cached_property
    def is_far(self) -> bool:
        """Whether the way is so long that a solver's tolerances on it are too coarse for its end."""
        return self.space.typical_distance > LONG

    def near(self, u: Array) -> ConvexConcave:
        """The same programs, counted from u where that is far away."""
        return replace(self, centre=u) if self.is_far else self

    def among(self, rivals: Collection[int]) -> ConvexConcave:
        """The same programs with some margins alone, where there is a crowd: each costs a cone."""
        chosen = tuple(sorted(rivals))
        if not self.space.crowded or self.rivals is not None:
            return self
        if chosen not in self._parts:
            self._parts[chosen] = replace(self, rivals=chosen)
        return self._parts[chosen]

    @cached_property
    def _parts(self) -> dict[tuple[int, ...], ConvexConcave]:
        return {}

    @cached_property
    def _own(self) -> tuple[Quadratic, ...]:
        """The margins that take part."""
        margins = self.space.margins
        return margins if self.rivals is None else tuple(margins[r] for r in self.rivals)

    @cached_property
    def _margins(self) -> tuple[Quadratic, ...]:
        """They, around the centre."""
        if self.centre is None:
            return self._own
        return tuple(Quadratic(H.matrix, H.gradient(self.centre), float(H(self.centre))) for H in self._own)

    @cached_property
    def _from(self) -> Array:
        """The centre as a point."""
        return np.zeros(self.space.n) if self.centre is None else self.centre

    @cached_property
    def length(self) -> float:
        """The unit of u in the programs: a typical distance, so that far and near factuals are alike."""
        if self.centre is None:
            return self.space.typical_distance
        return max(crossing(self._margins, self.space.norm), COARSE * self.space.size(self.centre))

    @cached_property
    def height(self) -> float:
        """The unit of the margins in the programs: what they change by over that distance."""
        steep = self.space.slope
        if self.centre is not None:
            steep = max(float(lp_norm(H.vector, dual_exponent(self.space.norm))) for H in self._margins)
        return max(steep * self.length, *(abs(H.constant) for H in self._margins))

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """Directions with one value."""
        held = self.space.fixed.copy()
        held[list(self.pinned)] = True
        return np.asarray(held)

    @cached_property
    def _n_held(self) -> int:
        return int(self.held.sum())

    @cached_property
    def _is_row(self) -> NDArray[np.bool_]:
        """Rows of the domain over several features, which no clipping of a point can restore."""
        return np.array([function[0] == "r" for function in self.space.functions])

    @cached_property
    def splits(self) -> list[CurvatureParts]:
        """The margins' parts."""
        return [curvature_parts(H) for H in self._own]

    @cached_property
    def n_norm(self) -> int:
        """Number of variables that carry the norm."""
        entries = self.space.n if self._by_entry else 0
        return entries if self.space.norm == 1 else entries + 1 if self.space.norm == 2 else 1

    @cached_property
    def _by_entry(self) -> bool:
        """Whether every coordinate has a variable for its part of the norm."""
        prices = self.space.prices
        return self.space.norm == 1 or (self.space.norm == 2 and prices is not None and not prices.even)

    @cached_property
    def _sides(self) -> tuple[Array, Array]:
        """What a rise and a fall of each coordinate cost, both as slopes."""
        prices, one = self.space.prices, np.ones(self.space.n)
        return (one, -one) if prices is None else (prices.up, -prices.down)

    @cached_property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.space.n + self.n_norm + len(self._own) + 1

    @cached_property
    def _constant(self) -> tuple[Array, Array, list[Any]]:
        """The rows that do not depend on the scenarios: A y + s = b with s in cones."""
        import clarabel  # lazily: importing surefoot loads no solver

        s, N = self.space, self.n_variables
        unit = s.reach[self.held]
        zero = _padded(s.directions[self.held] / unit[:, None], N)
        zero_ends = (s.low[self.held] - s.directions[self.held] @ self._from) / (unit * self.length)
        plain, ends = self._plain_rows()
        cones, sides = self._cone_rows()
        kinds = [clarabel.ZeroConeT(len(zero))] if len(zero) else []
        kinds.append(clarabel.NonnegativeConeT(len(plain)))
        kinds += [clarabel.SecondOrderConeT(len(C)) for C in cones]
        return np.concatenate([zero, plain, *cones]), np.concatenate([zero_ends, ends, *sides]), kinds

    def _plain_rows(self) -> tuple[Array, Array]:
        """Norm, slack >= 0 and domain: A y <= b."""
        s, n, N = self.space, self.space.n, self.n_variables
        slack = np.zeros((1, N))
        slack[0, -1] = -1.0
        A, b = [slack], [np.zeros(1)]
        if s.norm != 2 or self._by_entry:
            for side in self._sides:
                rows = _padded(np.diag(side), N)
                rows[:, n : n + self.n_norm] = -1.0 if s.norm == np.inf else -np.eye(n, self.n_norm)
                A.append(rows)
                b.append((self._norm_before - side * self._from) / self.length)
        for sign, ends, bounded in zip((1.0, -1.0), (s.high, s.low), self._bounded, strict=True):
            unit = s.reach[bounded]  # features come in units of their own, tolerances do not
            A.append(_padded(sign * s.directions[bounded] / unit[:, None], N))
            room = sign * (ends[bounded] - s.directions[bounded] @ self._from)
            b.append((room / unit - ROW_MARGIN * self._is_row[bounded]) / self.length)
        return np.concatenate(A), np.concatenate(b)

    @cached_property
    def _bounded(self) -> tuple[Indices, Indices]:
        """The directions with an upper end and those with a lower one, without those that are held."""
        s, free = self.space, ~self.held
        return np.flatnonzero(np.isfinite(s.high) & free), np.flatnonzero(np.isfinite(s.low) & free)

    @cached_property
    def _norm_before(self) -> Array:
        """What the norm's variables are counted from: the centre's own norm."""
        if self._by_entry:
            return np.maximum(*(side * self._from for side in self._sides))
        return np.full(self.space.n, self.space.size(self._from))

    def _cone_rows(self) -> tuple[list[Array], list[Array]]:
        """||u|| <= t for p = 2, and |root u|^2 <= w for each margin, as |(w - 1, 2 root u)| <= w + 1."""
        n, N = self.space.n, self.n_variables
        cones, sides = [], []
        if self.space.norm == 2:
            first = n if self._by_entry else 0  # its entries are u, or what each coordinate costs
            C = np.zeros((n + 1, N))
            C[0, n + self.n_norm - 1] = -1
            C[1:, first : first + n] = -np.eye(n)
            cones.append(C)
            before = self._norm_before if self._by_entry else self._from
            sides.append(np.append(self.space.size(self._from), before) / self.length)
        for r, part in enumerate(self.splits):
            k = len(part.root)
            C = np.zeros((k + 2, N))
            C[:2, n + self.n_norm + r] = -1
            C[2:, :n] = -2 * part.root * (self.length / np.sqrt(self.height))
            cones.append(C)
            sides.append(np.concatenate([[1.0, -1.0], np.zeros(k)]))
        return cones, sides

    def step(
        self,
        start: Array,
        scenarios: Sequence[tuple[int, Array]],
        safety_margin: float,
        price: float,
        clock: Clock,
        pins: Array | None = None,
    ) -> Step | None:
        """Solve the convex program linearised at ``start``; None where that failed."""
        import clarabel

        s, n, N = self.space, self.space.n, self.n_variables
        A, b, kinds = self._constant
        if pins is not None:
            b = self._with_pins(b, pins)
        rows, ends = self._scenario_rows(start, scenarios, safety_margin)
        rate = self.length / self.height
        if rate == 0:  # margins beyond any double
            return None
        self._settings.time_limit = max(clock.left, 0.01)
        cost = np.zeros(N)
        cost[n + self.n_norm - 1 if s.norm == 2 else n : n + self.n_norm] = 1.0
        cost[-1] = price / rate
        solver = clarabel.DefaultSolver(
            self._no_curvature,
            cost.tolist(),
            Columns.of(np.concatenate([A, rows])),
            np.concatenate([b, ends]).tolist(),
            [*kinds, clarabel.NonnegativeConeT(len(rows))],
            self._settings,
        )
        solved = solver.solve()
        y = np.array(solved.x)
        if str(solved.status) not in ("Solved", "AlmostSolved") or not np.isfinite(y).all():
            return None
        u = self._from + y[:n] * self.length
        margins, *rest = self._prices(u, np.array(solved.z), len(rows))
        return Step(u, float(y[-1]) * self.height, margins * rate, *rest)

    def _with_pins(self, b: Array, pins: Array) -> Array:
        """The right-hand side with the values of the pinned directions."""
        place = {int(k): i for i, k in enumerate(np.flatnonzero(self.held))}
        b = b.copy()
        for k, value in zip(self.pinned, pins, strict=True):
            room = value - float(self.space.directions[k] @ self._from)
            b[place[k]] = room / (self.space.reach[k] * self.length)
        return b

    def _prices(self, u: Array, z: Array, n_scenarios: int) -> tuple[Array, Array, Array, Array]:
        """Dual variables of margins, norm and domain, from those of all rows in their order."""
        s, n = self.space, self.space.n
        place = self._n_held + 1
        norm, subgradient = np.ones(1), u / max(float(np.linalg.norm(u)), 1e-300)
        if s.norm != 2 or self._by_entry:
            up, down = z[place : place + n], z[place + n : place + 2 * n]
            up, down = self._sides[0] * up, -self._sides[1] * down
            norm, subgradient = up + down if s.norm != 2 else norm, up - down
            place += 2 * n
        domain = np.zeros(len(s.directions))
        for bounded in self._bounded:
            domain[bounded] += z[place : place + len(bounded)] / s.reach[bounded]
            place += len(bounded)
        return z[len(z) - n_scenarios :], norm, domain, subgradient

    @cached_property
    def _no_curvature(self) -> Columns:
        return Columns((self.n_variables, self.n_variables), [], [], [0] * (self.n_variables + 1))

    @cached_property
    def _settings(self) -> Any:
        import clarabel

        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.direct_solve_method = "qdldl"  # the default takes twice the time on these dense programs
        return settings

    def _scenario_rows(
        self, start: Array, scenarios: Sequence[tuple[int, Array]], safety_margin: float
    ) -> tuple[Array, Array]:
        """The margins with their convex part linearised: w - slope'u - slack <= constant."""
        n = self.space.n
        rivals = np.array([r for r, _ in scenarios])
        V = np.array([v for _, v in scenarios])
        rows, ends = np.zeros((len(V), self.n_variables)), np.zeros(len(V))
        moved, alone = start - self._from, len(self._margins) == 1
        for r, (H, part) in enumerate(zip(self._margins, self.splits, strict=True)):
            own = slice(None) if alone else rivals == (r if self.rivals is None else self.rivals[r])
            bend = part.convex @ moved
            rows[own, :n] = -(2 * bend + H.gradient(V[own])) * (self.length / self.height)
            rows[own, n + self.n_norm + r] = 1.0
            ends[own] = (H(V[own]) - float(moved @ bend) - safety_margin) / self.height
        rows[:, -1] = -1.0
        return rows, ends


def _padded(rows: Array, width: int) -> Array:
    found = np.zeros((len(rows), width))
    found[:, : rows.shape[1]] = rows
    return found
