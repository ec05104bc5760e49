"""What bounds and points of a search over allowed values share: directions, scenarios, one quadratic."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.geometry import lp_norm
from surefoot.problem.quadratic import Quadratic
from surefoot.search.certified import kernel, peak
from surefoot.search.certified.majorant import Bends, Majorant, at_least, cheaper, cheapest
from surefoot.search.certified.peak import Columns, Peak
from surefoot.search.certified.points import Points

Array = NDArray[np.float64]
Gaps = dict[int, tuple[float, float]]  # set direction -> the allowed values around a place

WHOLE = 1e-5  # of a direction's reach; a value this near to an allowed one counts as allowed
OUTSIDE = 1e-4  # of the level: how far beyond it a peak may be
TANGENTS = 8  # planes that are put around the ball for one peak, p = 2
FLAT = 0.05  # of a slab's squared width: its cost where the peak is at one of its ends, which it may leave
NARROW = 0.03  # of the widest range: slabs count as at least so wide, or their weights would grow too large
AT_END = 1e-3  # of its range: a direction this near to an end is at it
BENT = 1e-4  # of the slope over a distance: the least curvature of a majorant
BENT_BY_ITSELF = 0.01  # of a margin's own curvature: what makes no difference beside it
ORTHANTS = 10  # that are looked at one by one, p = 1
THIN = 1e-6  # of the curvature: what the parts of the norm get, so that their peak is one point, p = 1

_SETTINGS = kernel.PeakSettings(
    *(peak.EXCLUDED, peak.DOUBTFUL, peak.OUTSIDE, peak.FAR, OUTSIDE, THIN, peak.ROUNDS, ORTHANTS, TANGENTS)
)
_SETTINGS_POINTER = ctypes.byref(_SETTINGS)


class Top(NamedTuple):
    """Constant + slope'u - u'Ku, in one scenario."""

    slope: Array
    constant: float
    base: int


class Found(NamedTuple):
    """A peak: what prices prove it to be at most, and where it is.

    Parameters
    ----------
    value : float
    u : array of shape (n,)
    places : array
        Of the directions: where they are at u.
    prices : array
        Of the directions' ends: above zero of the upper one, below zero of the lower one.
    shares : array
        The other scenarios' weights.
    push : array of shape (n,) or None
        The norm's part: level times its dual norm was added, push'u taken off.
    size : float
        Of what adds up to the value, for a judgement of its rounding.
    missing : float
        By how much the ends exclude each other, at these prices; zero where they do not.
    ends, paid : array
        The upper ends, the lower ones with the opposite sign, and the price of each.
    level : float
    """

    value: float
    u: Array
    places: Array
    prices: Array
    shares: Array
    push: Array | None
    size: float
    missing: float
    ends: Array
    paid: Array
    level: float


class Frame:
    """Coordinates, features and rows in units of their reach, and the scenarios of one requirement.

    H(u + v) for another scenario v differs from that of a base scenario by an affine function: where it is
    lower its weight grows, up to one for all. It enters as one more direction, whose price is that weight.

    Parameters
    ----------
    points : Points
    scenarios : list of int
        One or more, all of one requirement.
    """

    def __init__(self, points: Points, scenarios: list[int]) -> None:
        space = points.space
        self.points, self.space, self.scenarios = points, space, scenarios
        self.requirement = points.scenarios[scenarios[0]][0]
        self._foreign: list[int] = []
        self.H: Quadratic = space.margins[self.requirement]
        self.Q, self._q = self.H.matrix, self.H.gradient(np.zeros(space.n))
        self.bulge = self.Q + self._least_bend() * np.eye(space.n)
        m = sum(function[0] != "d" for function in space.functions)
        self.reach = space.reach[:m]
        self.slopes = space.directions[:m] / self.reach[:, None]
        self.low, self.high = space.low[:m] / self.reach, space.high[:m] / self.reach
        below, above = space.level_ends(1.0)
        self.below, self.above = -below[:m] / self.reach, above[:m] / self.reach  # 1 but for prices
        self._edges = np.concatenate([self.above, self.below])
        self._table = np.zeros(0), np.zeros((0, space.n))
        self._contrasts: dict[tuple[int, int], tuple[Array, Array]] = {}
        self._upper = np.arange(space.n)
        self._signs = np.where(self.H.vector < 0, -1.0, 1.0)  # of the orthant where the last peak was, p = 1

    def _least_bend(self) -> float:
        """What majorants bend more than a nearly linear margin: else rounding carries their peaks away."""
        least = BENT * self.space.slope / max(self.space.typical_distance, 1e-300)
        return least if float(np.abs(self.Q).max()) < least / BENT_BY_ITSELF else 0.0

    def bends(self, subgradient: Array) -> Bends:
        """Slabs, and for p = 1 and 2 the norm: level^2 - u'Au with the A that costs least at a point.

        For p = 1 no entry of A exceeds one, and u'Au is the norm's square wherever the subgradient is one.
        """
        m, n = self.slopes.shape
        if self.space.norm == np.inf:
            return Bends(self.slopes, np.arange(m), m)
        rows = np.eye(n)
        if self.space.norm == 1:
            s = np.clip(subgradient, -1.0, 1.0)
            rows = np.vstack([s, np.diag(np.sqrt(1 - s**2))])
        owner = np.concatenate([np.arange(m), np.full(len(rows), m)])
        return Bends(np.vstack([self.slopes, rows]), owner, m)

    def first_majorant(self, found: Found, ends: tuple[Array, Array], level: float) -> Majorant:
        """The one that costs least at a local optimum, and not much elsewhere."""
        u = found.u if found.push is None else found.u * (level / max(self.space.size(found.u), 1e-300))
        strength = 1.0 if found.push is None else self.strength(found.push)
        bends = self.bends(
            np.zeros(self.space.n) if found.push is None else found.push / max(strength, 1e-300)
        )
        return cheapest(bends, self._prospects(bends, u, ends, level), self.bulge)

    def majorants(
        self, found: Found, major: Majorant, ends: tuple[Array, Array], level: float
    ) -> Iterator[Majorant]:
        """Others that may cost less around a peak."""
        yield cheaper(major, self._prospects(major.bends, found.u, ends, level), self.bulge)
        if self.space.norm != np.inf:
            yield self.stationary(found, major, ends, level)

    def stationary(self, found: Found, major: Majorant, ends: tuple[Array, Array], level: float) -> Majorant:
        """The one with which a peak stays where it is: prices of ends as slabs, the norm's as its bend.

        What is missing to make it concave is added as cheaply as can be there, and not dear elsewhere.
        """
        m, y, (low, high) = len(self.slopes), found.places, ends
        w, round_ = major.weights[:m], float(major.weights[m:].sum())
        width = np.maximum(high - low, 0.0)
        least = NARROW * float(width.max())
        at_end = np.minimum(y - low, high - y) <= AT_END * np.maximum(width, least)
        known = np.where(at_end, w + np.abs(found.prices) / np.maximum(width, least), 0.0)
        rows = major.bends.rows[m:]
        push = 2 * round_ * (rows.T @ (rows @ found.u)) + (0.0 if found.push is None else found.push)
        strength = self.strength(push)
        bends = self.bends(push / max(strength, 1e-300))
        known = np.append(known, strength / (2 * level))
        return at_least(bends, known, self._prospects(bends, found.u, ends, level), self.bulge)

    def _prospects(self, bends: Bends, u: Array, ends: tuple[Array, Array], level: float) -> Array:
        """What a unit of each weight costs at u, and a bit of what it may cost elsewhere."""
        low, high = ends
        y, width = self.slopes @ u, np.maximum(high - low, 0.0)
        least = NARROW * float(width.max())
        costs = np.maximum((y - low) * (high - y), 0.0) + FLAT * (width**2 + least**2)
        if self.space.norm == np.inf:
            return costs
        return np.append(costs, max(level**2 - bends.round(u), 0.0) + FLAT * level**2)

    def costs(self, found: Found, major: Majorant, ends: tuple[Array, Array], level: float) -> Array:
        """What each weight adds to the margin at a peak."""
        y, m = found.places, len(self.slopes)
        costs = major.weights[:m] * np.maximum((y - ends[0]) * (ends[1] - y), 0.0)
        if self.space.norm == np.inf:
            return costs
        return np.append(costs, major.weights[m] * max(level**2 - major.bends.round(found.u), 0.0))

    @property
    def known(self) -> list[int]:
        """The scenarios, and those of other requirements that points had to withstand."""
        return self.scenarios + self._foreign

    def learn(self, s: int) -> bool:
        """Take one more scenario; whether it is a new one, and of this requirement."""
        own = self.points.scenarios[s][0] == self.requirement
        scenarios = self.scenarios if own else self._foreign
        if s in scenarios:
            return False
        scenarios.append(s)
        return own

    def scenario(self, b: int) -> Array:
        """A scenario's shift."""
        return self.points.scenarios[self.scenarios[b]][1]

    def lowest(self, u: Array) -> float:
        """The lowest scenario's margin at u."""
        slope, constant, _ = self.in_scenario(self.worst(u))
        return constant + float(u.dot(slope + self.Q.dot(u)))

    def in_scenario(self, b: int) -> Top:
        """The margin in one scenario: constant + slope'u + u'Qu."""
        values, slopes = self.table
        return Top(self._q + slopes[b], float(values[b]), b)

    @property
    def table(self) -> tuple[Array, Array]:
        """For each scenario the margin's value at the factual, and the slope that its shift adds."""
        if len(self._table[0]) != len(self.scenarios):
            V = np.array([self.scenario(b) for b in range(len(self.scenarios))])
            self._table = np.asarray(self.H(V)), 2 * V @ self.H.matrix
        return self._table

    def contrast(self, b: int) -> tuple[Array, Array]:
        """By how much the others differ from one scenario: in the value at the factual, and in slope."""
        key = b, len(self.scenarios)
        if key not in self._contrasts:
            values, slopes = self.table
            self._contrasts[key] = values - values[b], slopes[b] - slopes
        return self._contrasts[key]

    def worst(self, u: Array) -> int:
        """The scenario in which the margin is lowest at u."""
        values, slopes = self.table
        return int((values + slopes.dot(u)).argmin())

    def within(self, low: Array, high: Array, level: float) -> tuple[Array, Array]:
        """Ends of directions, which the level moves inwards."""
        return np.maximum(low, -level * self.below), np.minimum(high, level * self.above)

    def peak(
        self, major: Majorant, top: Top, ends: tuple[Array, Array], level: float, near: Found | None = None
    ) -> Found:
        """The peak of constant + slope'u - u'Ku between ends and within a level, and where it is.

        ``near``: another peak that is not far away, by default the last one.
        """
        if near is not None and near.push is not None and self.space.norm == 1:
            self._signs = np.where(np.where(near.push, near.push, near.u) < 0, -1.0, 1.0)
        found = None
        if kernel.LIBRARY is not None and self.space.n <= kernel.SMALL:
            found = self._compiled(kernel.LIBRARY, major, top, ends, level)
        return self._interpreted(major, top, ends, level) if found is None else found

    def _compiled(
        self, library: ctypes.CDLL, major: Majorant, top: Top, ends: tuple[Array, Array], level: float
    ) -> Found | None:
        """The compiled form of what follows; None where that has to look."""
        n, m, k = self.space.n, len(self.slopes), len(self.scenarios)
        posed = self._posed(major, top.base)
        given = posed.held["given"]
        given[:m], given[m : 2 * m] = ends
        given[2 * m : 2 * m + n], given[2 * m + n : -2] = top.slope, self._signs
        given[-2], given[-1] = top.constant, level
        fine = library.frame_peak(posed.pointer, _SETTINGS_POINTER)
        out = posed.held["out"].copy()
        after, (value, size, missing, pushed) = n + 4 * m + k, out[-4:].tolist()
        self._signs = out[after + n : -4]
        if not fine:
            return None
        return Found(
            value,
            out[:n],
            out[n : n + m],
            out[n + m : n + 2 * m],
            out[n + 4 * m : after],
            out[after : after + n] if pushed else None,
            size,
            missing,
            np.concatenate([ends[1], -ends[0]]),
            out[n + 2 * m : n + 4 * m],
            level,
        )

    def _posed(self, major: Majorant, b: int) -> kernel.Posed:
        """What peaks of a majorant have in common, with one scenario as the base."""
        key = b, len(self.scenarios)
        if key not in major.posed:
            n, m, k = self.space.n, len(self.slopes), len(self.scenarios)
            (apart, contrast), columns = self.contrast(b), self._columns_of(major, b).matrix.T
            made = kernel.Posed(n, m, k, 0 if self.space.norm == np.inf else int(self.space.norm))
            made.round_weight = major.round_weight
            made.hold(slopes=self.slopes, inverse=major.inverse, half=major.half, columns=columns)
            made.hold(apart=apart, contrast=contrast)
            made.hold(given=np.empty(2 * m + 2 * n + 2), out=np.empty(3 * n + 4 * m + k + 4))
            major.posed[key] = made
        return major.posed[key]

    def _interpreted(self, major: Majorant, top: Top, ends: tuple[Array, Array], level: float) -> Found:
        """The peak by numpy: the definition of what is compiled."""
        limits = np.concatenate([ends[1], -ends[0], self.contrast(top.base)[0]])
        if self.space.norm == 1:
            return self._within_orthants(major, top, limits, level)
        columns, free = self._columns_of(major, top.base), top.slope.dot(major.half)
        found = self._found(major, top, limits, level, columns.peak(free, limits))
        return found if self.space.norm != 2 else self._inside(major, top, limits, level, found)

    def _inside(self, major: Majorant, top: Top, limits: Array, level: float, found: Found) -> Found:
        """For p = 2: planes that touch the ball, until the peak is hardly outside."""
        columns = self._columns_of(major, top.base).matrix
        rays, free = np.zeros((0, self.space.n)), top.slope.dot(major.half)
        ends = limits
        for _ in range(TANGENTS):
            size = math.sqrt(found.u.dot(found.u))
            if found.missing or size <= level * (1 + OUTSIDE):
                break
            rays = np.vstack([rays, found.u / size])
            columns = np.column_stack([columns, rays[-1].dot(major.half)])
            ends = np.append(ends, level)
            solved = Columns(columns).peak(free, ends)
            found = self._found(major, top, limits, level, solved, solved.prices[len(limits) :].dot(rays))
        return found

    def _within_orthants(self, major: Majorant, top: Top, limits: Array, level: float) -> Found:
        """For p = 1: the ball is one plane in each orthant; from one to the next while peaks rise.

        A coordinate that is held at zero, on the edge of an orthant, at more than twice the norm's price
        would rather be on the other side. Where an orthant is empty, all are looked at together.
        """
        n, m, free = self.space.n, len(self.slopes), top.slope.dot(major.half)
        within = np.empty(len(limits) + 1)
        within[:-1], within[-1] = limits, level
        told = np.ones(len(within), dtype=bool)
        told[: 2 * m] = limits[: 2 * m] < level  # what the norm says is not said once more
        within[~told] = 2 * level
        signs = self._side_of(limits[:n], limits[m : m + n])
        for _ in range(ORTHANTS):
            self._signs, edges, held = signs, self._upper + m * (signs > 0), within.copy()
            own, stated = limits[edges], told.copy()
            held[edges], stated[edges] = np.minimum(own, 0.0), True
            columns = self._columns_of(major, top.base, signs)
            solved = columns.peak(free, held, stated.nonzero()[0])
            price, at_zero = float(solved.prices[-1]), solved.prices[edges] * (own > 0)
            beyond = at_zero > 2 * price * (1 + 1e-9)
            if not beyond[beyond.argmax()]:
                solved.prices[edges] -= at_zero
                return self._found(major, top, limits, level, solved, signs * (price - at_zero))
            if solved.excluded:
                break
            signs = np.where(beyond, -signs, signs)
        solved = self._columns_with_parts(major, top.base).peak(
            np.append(free, np.zeros(n)), np.concatenate([within[:-1], np.zeros(2 * n), [level]])
        )
        parts = solved.prices[len(limits) : -1]
        return self._found(major, top, limits, level, solved, parts[:n] - parts[n:])

    def _side_of(self, high: Array, minus_low: Array) -> Array:
        """The last orthant, or the side that the ends of a coordinate leave."""
        if high[high.argmin()] >= 0 and minus_low[minus_low.argmin()] >= 0:
            return self._signs
        return np.where(minus_low < 0, 1.0, np.where(high < 0, -1.0, self._signs))

    def _columns_with_parts(self, major: Majorant, b: int) -> Columns:
        """For p = 1: u_i <= r_i, -u_i <= r_i and sum r <= level, the r_i in units of their own."""
        n, half, ends = self.space.n, major.half, self._columns_of(major, b).matrix
        unit, k = float(np.abs(half).max()) / np.sqrt(THIN), ends.shape[1]
        columns = np.zeros((2 * n, k + 2 * n + 1))
        columns[:n, :-1] = np.hstack([ends, half.T, -half.T])
        own = np.arange(n)
        columns[n + own, k + own] = columns[n + own, k + n + own] = -unit
        columns[n:, -1] = unit
        return Columns(columns)

    def _columns_of(self, major: Majorant, b: int, ray: Array | None = None) -> Columns:
        """What prices act through: of upper ends, lower ends, other scenarios and a plane around the ball."""
        key = b, len(self.scenarios), None if ray is None else ray.tobytes()
        if key not in major.columns:
            half = major.half
            root = self.slopes.dot(half)
            rows = [root, -root, self.contrast(b)[1].dot(half)]
            rows += [] if ray is None else [ray.dot(half)[None]]
            major.columns[key] = Columns(np.ascontiguousarray(np.concatenate(rows).T))
        return major.columns[key]

    def _found(
        self,
        major: Majorant,
        top: Top,
        limits: Array,
        level: float,
        solved: Peak,
        push: Array | None = None,
    ) -> Found:
        """Prices by what they belong to; the value anew, without the large numbers of a flat majorant."""
        raw, missing = solved.prices, 0.0
        if solved.excluded:  # prices may rise without end, and the peak is below anything
            missing = 2 * (abs(top.constant) + float(top.slope @ major.inverse @ top.slope))
            more = missing / max(solved.missing, 1e-300)
            raw, push = raw * more, None if push is None else push * more
        m, k = len(self.slopes), len(self.scenarios)
        ends, own, shares = limits[: 2 * m], raw[: 2 * m], raw[2 * m : 2 * m + k]
        prices = own[:m] - own[m:]
        cost, size = float(own.dot(ends)), float(own.dot(np.abs(ends)))
        left = top.slope - prices.dot(self.slopes)
        if k > 1:
            left -= shares.dot(self.contrast(top.base)[1])
            cost += float(shares.dot(limits[2 * m : 2 * m + k]))
        if push is not None:
            left -= push
            cost += level * self.strength(push)
        u = 0.5 * major.inverse.dot(left)
        fixed = top.constant + major.round_weight * level**2
        value = fixed + cost + 0.5 * float(left.dot(u))
        size += abs(top.constant) + major.round_weight * level**2
        return Found(value, u, self.slopes.dot(u), prices, shares, push, size, missing, ends, own, level)

    def rise(self, found: Found, major: Majorant) -> float:
        """What one more unit of level adds to a peak, by prices and by wider slabs."""
        m, y, ends, level = len(self.slopes), found.places, found.ends, found.level
        moving = (ends >= level * self._edges) * self._edges  # by how much more level widens them
        rise = float(found.paid.dot(moving)) + 2 * level * major.round_weight
        if found.push is not None:
            rise += self.strength(found.push)
        if not major.plain:
            wider = (y + ends[m:]) * moving[:m] + (ends[:m] - y) * moving[m:]
            rise += float(major.weights[:m].dot(wider))
        return rise

    def strength(self, push: Array) -> float:
        """The norm's price, of which a push is a part for each coordinate."""
        return float(np.abs(push).max()) if self.space.norm == 1 else float(lp_norm(push, 2))

    def between(self, places: Array, low: Array, high: Array, tolerance: float = WHOLE) -> Gaps:
        """Open set directions off their allowed values: the two around."""
        found = {}
        changes = (np.minimum(np.maximum(places, low), high) * self.reach).tolist()
        is_open, off = (high > low).tolist(), (tolerance * self.reach).tolist()
        for k, (values, offset) in self.space.sets.items():
            if is_open[k]:
                value = changes[k] + offset
                a, b = values.at_most(value), values.at_least(value)
                if min(value - a, b - value) > off[k]:
                    found[k] = a - offset, b - offset
        return found

    def allowed(self, k: int, u: Array) -> float:
        """The allowed value of a set direction that is nearest to a point's."""
        values, offset = self.space.sets[k]
        place = float(self.space.directions[k] @ u) + offset
        return values.nearest(place, *self.space.value_ends(k)) - offset
