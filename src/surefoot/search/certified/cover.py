"""Which states of the categories are done with: proofs about one state that hold for many.

A proof that nothing lies within a radius when the categories add certain constants to the requirements holds
for every state of the same shape that adds no more. So a few proofs cover all states: each is too dear by
itself, or has such a proof whose radius and price together reach the level.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.family import Family
from surefoot.problem.mixed import Factor, State

Array = NDArray[np.float64]
Shape = tuple[int, ...]

MOST_TRADES = 8  # rates at which gain is traded for price in bounds over many states


class Leave(NamedTuple):
    """What states leave to the numbers.

    Parameters
    ----------
    ways : tuple of (frozenset of int or None)
        For each either the ways that are open; None where the categories alone may take one.
    left : tuple of int
        For each limit how many numbers may change.
    """

    ways: tuple[frozenset[int] | None, ...] = ()
    left: tuple[int, ...] = ()

    def holds_for(self, other: Leave) -> bool:
        """Whether the numbers are left no more elsewhere: what is refuted here is refuted there."""
        return all(
            mine is None or (theirs is not None and theirs <= mine)
            for mine, theirs in zip(self.ways, other.ways, strict=True)
        ) and all(mine >= theirs for mine, theirs in zip(self.left, other.left, strict=True))


NOTHING = Leave()  # there are neither eithers nor limits


@dataclass(frozen=True, eq=False)
class Refuted:
    """Nothing lies within ``radius`` in states of a shape that add at most ``constants``.

    The states must leave the numbers no more than ``leave``, in which eithers that the proof does without
    are None. Without a shape the proof needs no requirements, and holds for all of them.
    """

    shape: Shape | None
    constants: Array
    radius: float
    proof: dict[str, Any] | None
    leave: Leave = NOTHING


@dataclass(frozen=True, eq=False)
class Bound:
    """The largest sums of some tables, given the values of the first categories: one for each trade.

    Parameters
    ----------
    rest : array of shape (t,)
        From tables about which nothing is known yet.
    tables : list of (positions, table)
        Tables of the values at these positions, at their largest over all values that are still open; their
        last axis is that of the trades.
    """

    rest: Array
    tables: list[tuple[tuple[int, ...], Array]]

    def __call__(self, values: tuple[int, ...]) -> Array:
        """The bounds."""
        found = self.rest
        for at, table in self.tables:
            found = found + table[tuple([values[p] for p in at])]
        return found


class Cover:
    """The proofs so far, and bounds on what unfinished assignments can still gain.

    Parameters
    ----------
    family : Family
    """

    def __init__(self, family: Family) -> None:
        self.family, self.shaping = family, family.shaping
        others = [k for k in range(len(family.choices)) if k not in self.shaping]
        self.order = (*self.shaping, *others)
        self.refuted: dict[Shape | None, list[Refuted]] = {}
        self._place = place = {k: p for p, k in enumerate(self.order)}
        self._known: dict[int, list[Bound]] = {}
        self._reduced: dict[tuple[int, int, tuple[int, ...]], Array] = {}
        self._ways = [
            [
                (number, bool(way.rows), [(place[k], codes) for k, codes in way.values.items()])
                for number, way in enumerate(either.ways)
            ]
            for either in family.eithers
        ]
        self._limits = [
            (limit.count, [(place[k], family.today[k]) for k in limit.categories]) for limit in family.limits
        ]
        self.trades = self._trades() if len(family.requirements) == 1 else (0.0,)

    def add(self, entry: Refuted) -> None:
        """Keep a proof; those it makes superfluous go."""
        entries = self.refuted.setdefault(entry.shape, [])
        entries[:] = [
            e
            for e in entries
            if e.radius > entry.radius
            or (e.constants > entry.constants).any()
            or not entry.leave.holds_for(e.leave)
        ]
        entries.append(entry)

    def state(self, values: tuple[int, ...]) -> State:
        """A full assignment, in the order of the categories."""
        found = dict(zip(self.order, values, strict=True))
        return tuple(found[k] for k in range(len(self.order)))

    def most(self, values: tuple[int, ...]) -> Array:
        """Upper bounds on what completions add to each requirement, less each trade's rate times the price.

        One row for each requirement; the first trade's rate is zero.
        """
        return np.array([bound(values) for bound in self._bounds(len(values))])

    def covers(self, price: float, values: tuple[int, ...], level: float) -> bool:
        """Whether every completion of an assignment is known to reach a level."""
        if price >= level:
            return True
        leave = self.leave(values)
        if leave is None:
            return True
        if any(price + e.radius >= level and e.leave.holds_for(leave) for e in self.refuted.get(None, ())):
            return True
        if len(values) < len(self.shaping):
            return False
        entries = [e for e in self.refuted.get(values[: len(self.shaping)], []) if e.leave.holds_for(leave)]
        if not entries:
            return False
        most = self.most(values)
        if any(price + e.radius >= level and (most[:, 0] <= e.constants).all() for e in entries):
            return True
        return len(self.trades) > 1 and level < math.inf and self._staircase(price, most[0], level, entries)

    def leave(self, values: tuple[int, ...]) -> Leave | None:
        """What completions of an assignment may leave to the numbers; None where none is allowed."""
        depth, ways, left = len(values), [], []
        for either in self._ways:
            open_ = [
                (number, rows)
                for number, rows, wanted in either
                if all(p >= depth or values[p] in codes for p, codes in wanted)
            ]
            if not open_:
                return None
            ways.append(frozenset(number for number, _ in open_) if all(rows for _, rows in open_) else None)
        for count, members in self._limits:
            left.append(count - sum(p < depth and values[p] != today for p, today in members))
            if left[-1] < 0:
                return None
        return Leave(tuple(ways), tuple(left))

    def _staircase(self, price: float, most: Array, level: float, entries: list[Refuted]) -> bool:
        """One requirement: the dearer a state, the more it may gain; every step of that stair is tested."""
        steps = sorted((max(level - e.radius, 0.0), float(e.constants[0])) for e in entries)
        first = bisect_right([start for start, _ in steps], price)
        if not first:
            return False
        bounds = list(zip(self.trades, most.tolist(), strict=True))
        allowed = max(gain for _, gain in steps[:first])
        for end, gain in [*steps[first:], (level, math.inf)]:
            if not any(rate * end + added <= allowed for rate, added in bounds):
                return False
            allowed = max(allowed, gain)
        return True

    def _trades(self) -> tuple[float, ...]:
        """Rates of gain for price that single categories offer."""
        factors = self._priced(self.family.requirements[0].margin.tables(), 0.0)
        rates = []
        for choice, factor in zip(self.family.choices, self._own(factors), strict=True):
            gain = 0.0 if factor is None else float(np.ptp(factor.table[np.isfinite(factor.table)]))
            dear = [p for p in choice.prices if 0 < p < math.inf]
            rates += [gain / p for p in sorted(set(dear)) if gain > 0]
        rates = sorted(set(rates))
        picked = np.linspace(0, len(rates) - 1, min(len(rates), MOST_TRADES)).round().astype(int)
        return (0.0, *(rates[i] for i in picked))

    def _own(self, factors: list[Factor]) -> list[Factor | None]:
        """For each category the factor in which it comes last: that of the category itself."""
        return [
            next((f for f in factors if f.categories[-1] == k), None) for k in range(len(self.family.choices))
        ]

    def _priced(self, factors: tuple[Factor, ...], rate: float) -> list[Factor]:
        """The factors without values that must not be taken, less a rate times the price."""
        found, priced = [], set()
        for factor in factors:
            table = np.array(factor.table)
            for axis, k in enumerate(factor.categories):
                own = k == factor.categories[-1] and k not in priced
                cost = self._costs(k, rate if own else 0.0)
                table = table - cost.reshape([-1 if a == axis else 1 for a in range(table.ndim)])
            priced.add(factor.categories[-1])
            found.append(Factor(factor.categories, table))
        rest = (k for k in range(len(self.family.choices)) if k not in priced)
        return found + [Factor((k,), -self._costs(k, rate)) for k in rest]

    def _costs(self, k: int, rate: float) -> Array:
        """A rate times the prices of a category; infinite where it must not go."""
        return np.array([rate * p if p < math.inf else math.inf for p in self.family.choices[k].prices])

    @cached_property
    def _factors(self) -> list[list[Factor]]:
        """The requirements' factors, less each trade's rate times the price: the tables' last axis."""
        found = []
        for requirement in self.family.requirements:
            traded = [self._priced(requirement.margin.tables(), rate) for rate in self.trades]
            alike = zip(*traded, strict=True)
            found.append([Factor(f[0].categories, np.stack([g.table for g in f], axis=-1)) for f in alike])
        return found

    def _bounds(self, depth: int) -> list[Bound]:
        """Bounds on what the requirements' factors add when so many categories have values; made once."""
        if depth not in self._known:
            self._known[depth] = [self._bound(r, depth) for r in range(len(self._factors))]
        return self._known[depth]

    def _bound(self, r: int, depth: int) -> Bound:
        """A bound on a requirement's factors when so many categories have values."""
        rest, tables = np.zeros(len(self.trades)), []
        for number, factor in enumerate(self._factors[r]):
            at = [self._place[k] for k in factor.categories]
            table = self._largest(r, number, tuple(axis for axis, p in enumerate(at) if p >= depth))
            known = tuple(p for p in at if p < depth)
            if known:
                tables.append((known, table))
            else:
                rest = rest + table
        return Bound(rest, tables)

    def _largest(self, r: int, number: int, free: tuple[int, ...]) -> Array:
        """A factor's table at its largest over some axes; the same ones are open at many depths."""
        key = (r, number, free)
        if key not in self._reduced:
            table = self._factors[r][number].table
            self._reduced[key] = np.asarray(table.max(axis=free)) if free else table
        return self._reduced[key]
