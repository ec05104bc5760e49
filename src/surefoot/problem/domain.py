"""Domain: where a counterfactual may lie, as rows and choices of one factual."""

from __future__ import annotations

import math
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.exceptions import ProblemError
from surefoot.problem.either import Either, Limit
from surefoot.problem.row import Row
from surefoot.problem.warp import IDENTITY, Warp

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ValueSet:
    """The values that one feature may take: whole numbers or a list, and always its value of today.

    Parameters
    ----------
    feature : int
        Its position.
    values : tuple of float or None
        In ascending order; None for whole numbers.
    today : float
    warp : Warp, optional
        The scale on which the feature is measured: values and today's are in its own units, what goes in
        and out of the methods is on that scale.
    """

    feature: int
    values: tuple[float, ...] | None
    today: float
    warp: Warp = IDENTITY

    def __post_init__(self) -> None:
        if self.values is not None:
            listed = tuple(float(v) for v in self.values)
            if list(listed) != sorted(set(listed)) or not all(map(math.isfinite, listed)):
                raise ProblemError("allowed values must be finite, different and in ascending order")
            object.__setattr__(self, "values", listed)

    @property
    def now(self) -> float:
        """Today's value on the scale."""
        return self.warp.exactly(self.today)

    def at_most(self, value: float) -> float:
        """The largest allowed number that is not above ``value``; -inf if there is none."""
        if self.warp.power is None or (self.values is None and math.isinf(value)):
            return self._below(value)
        x = self._above(float(self.warp.inverse(value)))  # rounding may put it on the wrong side
        while x > -math.inf and (x == math.inf or self.warp.exactly(x) > value):
            x = self._below(math.nextafter(min(x, sys.float_info.max), -math.inf))
        return self.warp.exactly(x) if x > -math.inf else x

    def at_least(self, value: float) -> float:
        """The smallest allowed number that is not below ``value``; inf if there is none."""
        if self.warp.power is None or (self.values is None and math.isinf(value)):
            return self._above(value)
        x = self._below(float(self.warp.inverse(value)))
        while x < math.inf and (x == -math.inf or self.warp.exactly(x) < value):
            x = self._above(math.nextafter(max(x, -sys.float_info.max), math.inf))
        return self.warp.exactly(x) if x < math.inf else x

    def around(self, values: Array) -> tuple[Array, Array]:
        """`at_most` and `at_least` of many numbers."""
        if self.warp.power is not None:
            pairs = [(self.at_most(value), self.at_least(value)) for value in values.tolist()]
            found = np.array(pairs, dtype=float).reshape(-1, 2)
            return found[:, 0], found[:, 1]
        if self.values is None:
            below, above = np.floor(values) + 0.0, np.ceil(values) + 0.0  # no negative zero
        else:
            listed = np.array((-np.inf, *self.values, np.inf))
            below = listed[np.searchsorted(listed[1:-1], values, side="right")]
            above = listed[np.searchsorted(listed[1:-1], values, side="left") + 1]
        return (
            np.where(self.today <= values, np.maximum(below, self.today), below),
            np.where(self.today >= values, np.minimum(above, self.today), above),
        )

    def _below(self, value: float) -> float:
        """The largest allowed number that is not above one, in the feature's own units."""
        if self.values is None:
            found = float(math.floor(value)) if math.isfinite(value) else value
        else:
            k = bisect_right(self.values, value)
            found = self.values[k - 1] if k else -math.inf
        return max(found, self.today) if self.today <= value else found

    def _above(self, value: float) -> float:
        """The smallest allowed number that is not below one, in the feature's own units."""
        if self.values is None:
            found = float(math.ceil(value)) if math.isfinite(value) else value
        else:
            k = bisect_left(self.values, value)
            found = self.values[k] if k < len(self.values) else math.inf
        return min(found, self.today) if self.today >= value else found

    def contains(self, value: float) -> bool:
        """Whether a number is allowed, without any tolerance."""
        return self.at_most(value) == value

    def nearest(self, value: float, low: float = -math.inf, high: float = math.inf) -> float:
        """The allowed number nearest to ``value`` within ``low`` to ``high``; nan if there is none."""
        at = min(max(value, low), high)
        below, above = self.at_most(at), self.at_least(at)
        fits_below = low <= below <= high and math.isfinite(below)
        if low <= above <= high and math.isfinite(above):
            return below if fits_below and value - below <= above - value else above
        return below if fits_below else math.nan


@dataclass(frozen=True, eq=False)
class Domain:
    """Where counterfactuals of one factual may lie: ends of features, linear rows, sets of values.

    Parameters
    ----------
    low, high : arrays of shape (n,)
        Ends of each feature; infinite ones are open.
    rows : tuple of Row
    sets : tuple of ValueSet
        At most one for a feature.
    eithers : tuple of Either
        Disjunctions over the numbers alone.
    limits : tuple of Limit
        How many of the numbers change at most.
    """

    low: Array
    high: Array
    rows: tuple[Row, ...] = ()
    sets: tuple[ValueSet, ...] = ()
    eithers: tuple[Either, ...] = ()
    limits: tuple[Limit, ...] = ()

    def __post_init__(self) -> None:
        low, high = np.array(self.low, dtype=float), np.array(self.high, dtype=float)
        if low.shape != high.shape or np.isnan(low).any() or np.isnan(high).any():
            raise ProblemError("the ends of the domain must be numbers, one pair for each feature")
        if (low > high).any():
            j = int(np.argmax(low > high))
            raise ProblemError(f"the ends of feature {j} are empty: {low[j]:g} to {high[j]:g}")
        self._check_sizes(len(low))
        features = [s.feature for s in self.sets]
        if len(set(features)) < len(features) or any(not 0 <= j < len(low) for j in features):
            raise ProblemError("each feature has one set of values at most")
        for s in self.sets:
            low[s.feature], high[s.feature] = _onto_values(s, low[s.feature], high[s.feature])
        for name, value in (("low", low), ("high", high)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        for name in ("rows", "sets", "eithers", "limits"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def _check_sizes(self, n: int) -> None:
        """Rows and limits must be about these features."""
        taken = [row for either in self.eithers for way in either.ways for row in way.rows]
        if any(len(row.coefficients) != n for row in (*self.rows, *taken)):
            raise ProblemError("a row of the domain has another number of features")
        if any(not 0 <= j < n for limit in self.limits for j in limit.numbers):
            raise ProblemError("a limit names a feature that is not there")

    @classmethod
    def whole_space(cls, n_features: int) -> Domain:
        """No restriction at all."""
        return cls(np.full(n_features, -np.inf), np.full(n_features, np.inf))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.low.size

    @property
    def is_box(self) -> bool:
        """Whether ends are all there is."""
        return not (self.rows or self.sets or self.eithers or self.limits)

    @property
    def fixed(self) -> NDArray[np.bool_]:
        """Features with one value only."""
        return np.asarray(self.low == self.high)

    def linear(self) -> tuple[Array, Array, Array]:
        """All linear restrictions as (A, low, high): the features first, then the rows."""
        A = np.vstack([np.eye(self.n_features), *(row.coefficients[None] for row in self.rows)])
        low = np.concatenate([self.low, [row.low for row in self.rows]])
        high = np.concatenate([self.high, [row.high for row in self.rows]])
        return A, low, high

    def contains(self, x: ArrayLike) -> bool:
        """Whether a point is allowed, without any tolerance."""
        point = np.asarray(x, dtype=float)
        inside = bool((point >= self.low).all() and (point <= self.high).all())
        return (
            inside
            and all(s.contains(float(point[s.feature])) for s in self.sets)
            and all(row.contains(point) for row in self.rows)
            and all(either.contains(point) for either in self.eithers)
            and all(limit.contains(point) for limit in self.limits)
        )

    def linear_holds(self, x: ArrayLike) -> bool:
        """Whether a point satisfies all rows and disjunctions; sets and limits are not looked at.

        Today's values are within the ends and sets of every domain.
        """
        point = np.asarray(x, dtype=float)
        return all(row.contains(point) for row in self.rows) and all(e.contains(point) for e in self.eithers)

    def within(self, x: ArrayLike, slack: ArrayLike) -> bool:
        """Whether a point satisfies ends, rows and sets up to a slack in each feature's units.

        For points of solvers, which stop at tolerances of their own.
        """
        point = np.asarray(x, dtype=float)
        room = np.broadcast_to(np.asarray(slack, dtype=float), self.low.shape)
        A, low, high = self.linear()
        spread = np.abs(A) @ room
        values = A @ point
        close = [abs(s.nearest(float(point[s.feature])) - point[s.feature]) for s in self.sets]
        near = all(c <= room[s.feature] for c, s in zip(close, self.sets, strict=True))
        return bool((values >= low - spread).all() and (values <= high + spread).all()) and near

    def clipped(self, x: ArrayLike) -> Array:
        """The point with every feature inside its ends, and on the nearest allowed value of its set."""
        point = np.clip(np.asarray(x, dtype=float), self.low, self.high)
        for s in self.sets:
            j = s.feature
            nearest = s.nearest(float(point[j]), float(self.low[j]), float(self.high[j]))
            point[j] = point[j] if math.isnan(nearest) else nearest
        return np.asarray(point)

    def with_ends(self, low: Array, high: Array) -> Domain:
        """The same domain with other ends."""
        return replace(self, low=low, high=high)

    def warped(self, warps: Sequence[Warp]) -> Domain:
        """The same domain on other scales; rows over several features need those that stay on their own."""
        low = [warp.exactly(float(v)) for warp, v in zip(warps, self.low, strict=True)]
        high = [warp.exactly(float(v)) for warp, v in zip(warps, self.high, strict=True)]
        sets = tuple(replace(s, warp=warps[s.feature]) for s in self.sets)
        for row in self.rows:
            _refuse_curved(row, warps)
        combined = warped_together(self.eithers, self.limits, warps)
        return Domain(np.array(low), np.array(high), self.rows, sets, *combined)

    def relaxed(self) -> Domain:
        """The same domain without its sets of values."""
        return replace(self, sets=())


def _onto_values(s: ValueSet, low: float, high: float) -> tuple[float, float]:
    """The ends of a feature moved inwards onto its allowed values."""
    first, last = s.at_least(low), s.at_most(high)
    if not first <= last:
        raise ProblemError(f"no allowed value of feature {s.feature} lies within {low:g} to {high:g}")
    return first, last


def warped_together(
    eithers: Iterable[Either], limits: Iterable[Limit], warps: Sequence[Warp]
) -> tuple[tuple[Either, ...], tuple[Limit, ...]]:
    """Disjunctions and limits on other scales."""
    curved = tuple(either.mapped(lambda row: _warped_row(row, warps)) for either in eithers)
    return curved, tuple(_warped_limit(limit, warps) for limit in limits)


def _warped_row(row: Row, warps: Sequence[Warp]) -> Row:
    """A row on other scales: the interval of one feature is mapped, others must stay on their own."""
    if row.feature is None:
        _refuse_curved(row, warps)
        return row
    warp = warps[row.feature]
    return replace(row, low=warp.exactly(row.low), high=warp.exactly(row.high))


def _warped_limit(limit: Limit, warps: Sequence[Warp]) -> Limit:
    """A limit whose values of today are on other scales."""
    return replace(
        limit, today=tuple(warps[j].exactly(v) for j, v in zip(limit.numbers, limit.today, strict=True))
    )


def _refuse_curved(row: Row, warps: Sequence[Warp]) -> None:
    if any(a and not warp.is_identity for a, warp in zip(row.coefficients, warps, strict=True)):
        raise ProblemError(
            f"the rule {row.name!r} adds up features that the model measures on a curved scale; "
            "fit the model with marginals='gaussian' to use it"
        )
