"""Which states of the categories are done with: proofs about one state that hold for many.

A proof that nothing lies within a radius when the categories add certain constants to the requirements holds
for every state of the same shape that adds no more. So a few proofs cover all states: each is too dear by
itself, or has such a proof whose radius and price together reach the level.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.waist.family import Family
from surefoot.waist.mixed import Factor, State

Array = NDArray[np.float64]
Shape = tuple[int, ...]

MOST_TRADES = 8  # rates at which gain is traded for price in bounds over many states


@dataclass(frozen=True, eq=False)
class Refuted:
    """Nothing lies within ``radius`` in states of a shape that add at most ``constants``."""

    shape: Shape
    constants: Array
    radius: float
    proof: dict[str, Any] | None


@dataclass(frozen=True, eq=False)
class Bound:
    """The largest sum of some tables, given the values of the first categories.

    Parameters
    ----------
    rest : float
        From tables about which nothing is known yet.
    tables : list of (positions, table)
        Tables of the values at these positions, at their largest over all values that are still open.
    """

    rest: float
    tables: list[tuple[tuple[int, ...], Array]]

    def __call__(self, values: tuple[int, ...]) -> float:
        """The bound."""
        return self.rest + sum(float(table[tuple(values[p] for p in at)]) for at, table in self.tables)


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
        self.refuted: dict[Shape, list[Refuted]] = {}
        self.trades = self._trades() if len(family.requirements) == 1 else (0.0,)
        self._bounds = [
            [self._by_depth(self._priced(r.margin.tables(), rate)) for r in family.requirements]
            for rate in self.trades
        ]

    def add(self, entry: Refuted) -> None:
        """Keep a proof; those it makes superfluous go."""
        entries = self.refuted.setdefault(entry.shape, [])
        entries[:] = [e for e in entries if e.radius > entry.radius or (e.constants > entry.constants).any()]
        entries.append(entry)

    def state(self, values: tuple[int, ...]) -> State:
        """A full assignment, in the order of the categories."""
        found = dict(zip(self.order, values, strict=True))
        return tuple(found[k] for k in range(len(self.order)))

    def most(self, values: tuple[int, ...], trade: int = 0) -> Array:
        """Upper bounds on what completions add to each requirement, less the trade's rate times the price."""
        return np.array([bounds[len(values)](values) for bounds in self._bounds[trade]])

    def covers(self, price: float, values: tuple[int, ...], level: float) -> bool:
        """Whether every completion of an assignment is known to reach a level."""
        if price >= level:
            return True
        if len(values) < len(self.shaping):
            return False
        entries = self.refuted.get(values[: len(self.shaping)], [])
        if not entries:
            return False
        most = self.most(values)
        if any(price + e.radius >= level and (most <= e.constants).all() for e in entries):
            return True
        return len(self.trades) > 1 and level < math.inf and self._staircase(price, values, level)

    def _staircase(self, price: float, values: tuple[int, ...], level: float) -> bool:
        """One requirement: the dearer a state, the more it may gain; every step of that stair is tested."""
        entries = self.refuted[values[: len(self.shaping)]]
        steps = sorted((max(level - e.radius, 0.0), float(e.constants[0])) for e in entries)
        first = bisect_right([start for start, _ in steps], price)
        if not first:
            return False
        bounds = [(rate, float(self.most(values, t)[0])) for t, rate in enumerate(self.trades)]
        allowed = max(gain for _, gain in steps[:first])
        for end, gain in [*steps[first:], (level, math.inf)]:
            if not any(rate * end + most <= allowed for rate, most in bounds):
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

    def _by_depth(self, factors: list[Factor]) -> list[Bound]:
        """Bounds on the factors' sum when so many categories have values."""
        place = {k: p for p, k in enumerate(self.order)}
        found = []
        for depth in range(len(self.order) + 1):
            rest, tables = 0.0, []
            for factor in factors:
                at = [place[k] for k in factor.categories]
                free = tuple(axis for axis, p in enumerate(at) if p >= depth)
                table = factor.table.max(axis=free) if free else factor.table
                known = tuple(p for p in at if p < depth)
                if known:
                    tables.append((known, table))
                else:
                    rest += float(table)
            found.append(Bound(rest, tables))
        return found
