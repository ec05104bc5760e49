"""What is enough: the largest box of values around an answer that keeps the decision, proven."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.explain.answer.decimals import cents, rounded_inwards, short_between
from surefoot.explain.answer.outside import not_enough
from surefoot.explain.answer.region import Interval, Region
from surefoot.explain.ask.dates import with_dates
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.problem.domain import ValueSet
from surefoot.problem.family import Family
from surefoot.problem.geometry import Ball, lp_norm
from surefoot.problem.mixed import State
from surefoot.problem.question import Question
from surefoot.problem.requirements import Decision, Odds
from surefoot.problem.robust_problem import RobustProblem
from surefoot.problem.row import Row
from surefoot.search.certified.boxes import Growing, Sides, around_point, proven_box
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.threads import one_blas_thread

Array = NDArray[np.float64]

# Share of a side that may be given away for a shorter decimal. Ten times as much would give away a third of
# what is enough; a tenth would take a digit more.
ROUNDED = 0.03
# What the budget reaches is rounded outwards by the first of these shares that costs the shortest side, which
# makes room for it, at most COSTS. Each takes a digit more than the one before.
OUTWARDS = (ROUNDED, ROUNDED / 10, ROUNDED / 100)
# Ten times as much would leave regions a tenth narrower than they can be; a tenth would take digits in vain.
COSTS = 0.01
# How much of each side is kept, one try after the other, where a box cannot be proven. More steps would keep
# a little more of the few boxes that need them.
SHRUNK = (1.0, 0.99, 0.95, 0.85, 0.7, 0.5, 0.25, 0.1, 0.0)
# Where neither the data nor a bound ends a number, its interval ends so many standard deviations away.
FARTHEST = 3.0
# Combinations of the categories' values that are proven, each by itself. Ten times as many take ten times as
# long to prove and to check.
COMBINATIONS = 32
WITHIN = 1 - 1e-9  # of what a rule leaves; rounding may take the rest, ten times as much of it too
UNCHANGED = 1e-6  # standard deviations; what changes less is kept exactly as in the answer


def what_is_enough(
    clf: ConditionalGaussianNetworkClassifier,
    others: Sequence[Any],
    question: Question,
    point: Array,
    state: State,
    seconds: float,
    decimals: Mapping[Any, int] | None = None,
) -> Region:
    """The region around an answer in which every combination keeps the decision.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
    others : sequence of classifiers
        Further models that the question names.
    question : Question
    point : array
        The numbers of the answer, in their own units.
    state : tuple of int
        Its categories.
    seconds : float
        For all of it.
    decimals : dict of feature -> int, optional
        How many decimals ends may have, where there are such ends. Default: 2 for amounts of money.
    """
    if question.against == "all":
        enough = _against_each(question.threshold, len(clf.classes_) - 1)
        raise DataError(
            f"what is enough is known with against='each' alone; threshold={enough} against each class "
            f"implies {question.threshold} among all"
        )
    with one_blas_thread():
        family, clock = question.family(clf, *others), Clock(seconds)
        known = {**cents(clf, clf.units_), **(decimals or {})}
        most = {j: known[str(n)] for j, n in enumerate(question.number_names) if str(n) in known}
        return _Enough(clf, family, question, point, state, clock, most).region()


def _against_each(threshold: float, rivals: int) -> float:
    """A threshold against each of some rivals that implies one among all classes.

    With odds of t / (1 - t) against each of k rivals, P(target) is at least 1 / (1 + k (1 - t) / t).
    """
    odds = rivals * threshold / (1 - threshold)
    return short_between(odds / (1 + odds), (1 + odds) / (2 + odds))


def own_reach(ball: Ball) -> tuple[Array, Array]:
    """How far down and up a perturbation of the ball can move each number if it moves no other."""
    if ball.is_box:
        reach = np.abs(ball.basis).sum(axis=1)
        return reach - ball.centre, reach + ball.centre
    found = np.zeros(len(ball.basis))
    if not ball.is_point:
        found[ball.noisy] = ball.radius / np.asarray(lp_norm(ball.matrix.T, ball.norm))
    return found, found


def _shortest_first(lengths: Array) -> tuple[float, ...]:
    """What makes one box larger than another: its shortest side, then the next; two digits of each count."""
    return tuple(float(f"{x:.2g}") for x in np.sort(lengths))


@dataclass(frozen=True, eq=False)
class _Enough:
    """One answer on the way to its region; coordinates are those of the moving numbers, on their scales."""

    clf: ConditionalGaussianNetworkClassifier
    family: Family
    question: Question
    point: Array
    state: State
    clock: Clock
    decimals: Mapping[int, int] = field(default_factory=dict)

    def region(self) -> Region:
        """The largest box that can be proven, and what lies outside."""
        if not self._problem(self.state).margin(self.z) >= 0:
            raise DataError("the answer misses the target by a solver's tolerance, so that nothing is proven")
        sides = self._sides()
        for share in SHRUNK:
            low, high = self._ends(sides, share)
            proofs = self._proofs(self.state, low, high)
            if proofs is not None:
                break
        else:
            raise DataError("rounding leaves no room around the answer: nothing is proven to be enough")
        values, every = self._categories(low, high, proofs)
        names, choices = self.question.number_names, self.question.choices
        row_now = with_dates(self.question, self.question.row(self.point, self.state))
        row = dict(zip(self.question.features, row_now, strict=True))
        categories = {
            self.question.features[choices[k].feature]: tuple(choices[k].values[v] for v in codes)
            for k, codes in values.items()
        }
        ends = {j: (float(low[i]), float(high[i])) for i, j in enumerate(self.moving)}
        intervals = tuple(self._interval(j, names[j], *pair) for j, pair in ends.items())
        example = not_enough(self.clf, self.question, self.point, self.state, ends, self.decimals)
        return Region(row, intervals, categories, every, example)

    @cached_property
    def z(self) -> Array:
        """The answer on the scales on which distances are measured."""
        return self.question.warped(self.point)

    @cached_property
    def moving(self) -> list[int]:
        """The numbers that change."""
        steps = (self.z - self.question.warped(self.question.factual)) / self.family.metric.unit
        return np.flatnonzero(np.abs(steps) > UNCHANGED).tolist()

    def _problem(self, state: State) -> RobustProblem:
        """What must hold in the region: the decision, under every model that was asked for."""
        problem = self.family.problem(state, domain=self.family.domain)
        pairs = zip(problem.requirements, self.question.requirements, strict=True)
        kept = tuple(r for r, asked in pairs if isinstance(asked, Odds | Decision) and asked.robust)
        return replace(problem, requirements=kept)

    @cached_property
    def _limits(self) -> list[tuple[float, float]]:
        """Where each moving number ends: at a bound, or else where the data end; open if neither ends it."""
        domain, places = self.question.domain, self.question.numbers
        found = []
        for j in self.moving:
            low, high = float(domain.low[j]), float(domain.high[j])
            seen = self.clf.feature_range_[:, places[j]]
            low = float(seen[0]) if low == -math.inf and seen[0] <= self.point[j] else low
            high = float(seen[1]) if high == math.inf and seen[1] >= self.point[j] else high
            found.append((low, high))
        return found

    @cached_property
    def _reach(self) -> list[tuple[float, float]]:
        """How far each moving number may go so that every combination keeps to the rules, too.

        What is left of a rule is shared out evenly among the numbers that move in it.
        """
        found = list(self._limits)
        for row in self._rules():
            moving = [(i, j) for i, j in enumerate(self.moving) if row.coefficients[j]]
            value = float(row.coefficients @ self.point)
            for i, j in moving:
                a, x = float(row.coefficients[j]), float(self.point[j])
                room = sorted(((row.low - value) / a, (row.high - value) / a))
                below, above = (WITHIN * step / len(moving) for step in room)
                found[i] = max(found[i][0], x + min(below, 0.0)), min(found[i][1], x + max(above, 0.0))
        return [
            (self._inside(j, found[i][0], ends[0]), self._inside(j, found[i][1], ends[1]))
            for i, (j, ends) in enumerate(zip(self.moving, self._limits, strict=True))
        ]

    def _rules(self) -> Iterator[Row]:
        """The rules that the answer keeps: linear ones, and of each disjunction those of the way it takes."""
        yield from self.question.domain.rows
        for either in self.question.eithers:
            taken = (way for way in either.ways if way.allows(self.state) and way.contains(self.point))
            yield from next((way.rows for way in taken), ())

    def _inside(self, j: int, end: float, limit: float) -> float:
        """An end that a rule sets, rounded inwards; the limit where no rule does."""
        x, one = float(self.point[j]), self._set_of(j)
        if end in (limit, x):
            return end
        if one is not None:
            inner = one.at_least(end) if end < x else one.at_most(end)
            return inner if min(x, end) <= inner <= max(x, end) else x
        return short_between(end, end + ROUNDED * (x - end))

    def _far(self, j: int, end: float, sign: int) -> float:
        """An end on the scale; a few standard deviations away where there is none."""
        away = float(self.z[j] + sign * FARTHEST * self.family.metric.unit[j])
        return self._scaled(j, end) if math.isfinite(end) else away

    def _scaled(self, j: int, value: float) -> float:
        return self.question.warps[j].exactly(value) if self.question.warps else value

    def _own(self, j: int, z: float) -> float:
        return float(self.question.warps[j].inverse(z)) if self.question.warps else z

    def _sides(self) -> Sides:
        """How far the box reaches on each side before it is rounded, on the scales."""
        if not self.moving:
            return Sides(np.zeros(0), np.zeros(0))
        least = self._steps(self._needed)
        try:
            return self._on_values(least)
        except OutOfTimeError:
            return least

    def _on_values(self, least: Sides) -> Sides:
        """The largest box, in which numbers that take some values only end at one wherever that costs much.

        Their shortest side comes first. It ends at the last value before where it went or at the first one
        beyond, whichever leaves the larger box; the other sides take what is left.
        """
        growing, units = self._growing, np.tile(self._growing.units, 2)
        fixed, limits = least.both, np.maximum(growing.limits.both, least.both)
        best = growing.largest(least).both
        for s in np.argsort(best / units):
            boxes = []
            for step in self._values_around(int(s), float(best[s])) if best[s] < limits[s] else ():
                low, high = fixed.copy(), limits.copy()
                low[s] = high[s] = step
                if fixed[s] <= step <= limits[s] and growing.holds(low):
                    found = replace(growing, limits=Sides.of(high)).largest(Sides.of(low)).both
                    boxes.append((low, high, found))
            if boxes:
                fixed, limits, best = max(boxes, key=lambda box: _shortest_first(box[2] / units))
        return Sides.of(best)

    def _values_around(self, s: int, step: float) -> tuple[float, ...]:
        """Of a side the steps to the last value on it and the first one beyond; none if little is lost."""
        i, sign = s % len(self.moving), -1 if s < len(self.moving) else 1
        j = self.moving[i]
        one, z = self._set_of(j), float(self.z[j])
        if one is None:
            return ()
        end = self._own(j, z + sign * step)
        values = (one.at_most(end), one.at_least(end))
        steps = [max(sign * (self._scaled(j, x) - z), 0.0) for x in values[::sign] if math.isfinite(x)]
        return tuple(steps) if step - steps[0] > ROUNDED * step else ()

    @cached_property
    def _growing(self) -> Growing:
        """What the box must keep, and where it ends at the latest."""
        pairs = list(zip(self.moving, self._reach, strict=True))
        z, units = self.z[self.moving], self.family.metric.unit[self.moving]
        below = np.array([max(z[i] - self._far(j, low, -1), 0.0) for i, (j, (low, _)) in enumerate(pairs)])
        above = np.array([max(self._far(j, high, 1) - z[i], 0.0) for i, (j, (_, high)) in enumerate(pairs)])
        margins = around_point(self._problem(self.state), self.z, self.moving)
        return Growing(margins, Sides(below, above), np.asarray(units), self.clock)

    @cached_property
    def _needed(self) -> list[tuple[float, float]]:
        """What the box must hold: every error within the budget that moves one number alone, if that holds.

        Rounded outwards to short values where that takes little of the rest, or else as it is; or nothing but
        the answer.
        """
        exact = self._errors(0.0)
        least = self._steps(exact)
        if not self._growing.holds(least.both):
            return [(float(self.point[j]), float(self.point[j])) for j in self.moving]
        enough = (1 - COSTS) * self._growing.level(least)
        for rounded in map(self._errors, OUTWARDS):
            least = self._steps(rounded)
            if self._growing.holds(least.both) and self._growing.level(least) >= enough:
                return rounded
        return exact

    def _errors(self, room: float) -> list[tuple[float, float]]:
        """Where errors within the budget that move one number alone lead it, rounded outwards."""
        below, above = own_reach(self.family.ball)
        return [
            (max(self._missed(j, -below[j], room), low), min(self._missed(j, above[j], room), high))
            for j, (low, high) in zip(self.moving, self._reach, strict=True)
        ]

    def _missed(self, j: int, step: float, room: float) -> float:
        """Where an error leads a number; of some values only, the last one that it can reach."""
        x, end = float(self.point[j]), self._own(j, float(self.z[j] + step))
        one = self._set_of(j)
        if one is not None:
            return one.at_least(end) if step < 0 else one.at_most(end)
        if not step:
            return x
        return short_between(end, end + room * (end - x)) if math.isfinite(end) else end

    def _steps(self, ends: list[tuple[float, float]]) -> Sides:
        """Ends in the features' own units as steps on the scales."""
        scaled = [
            (self._scaled(j, a), self._scaled(j, b)) for j, (a, b) in zip(self.moving, ends, strict=True)
        ]
        low, high = np.array(scaled).T
        z = self.z[self.moving]
        return Sides(np.maximum(z - low, 0.0), np.maximum(high - z, 0.0))

    def _set_of(self, j: int) -> ValueSet | None:
        return next((one for one in self.question.domain.sets if one.feature == j), None)

    def _ends(self, sides: Sides, share: float) -> tuple[Array, Array]:
        """The box in the features' own units, rounded inwards to short values."""
        low, high = np.empty(len(self.moving)), np.empty(len(self.moving))
        for i, j in enumerate(self.moving):
            ends = self._reach[i]
            low[i] = self._end(j, -float(sides.below[i]) * share, ends[0], self._needed[i][0])
            high[i] = self._end(j, float(sides.above[i]) * share, ends[1], self._needed[i][1])
        return low, high

    def _end(self, j: int, step: float, limit: float, missed: float) -> float:
        """One end: the limit where it is reached, else the shortest value a little further in.

        Where it lies beyond what the budget reaches, it is not rounded to less than that.
        """
        x = float(self.point[j])
        if not step:
            return x
        z = float(self.z[j]) + step
        sign = math.copysign(1.0, step)
        if math.isfinite(limit) and sign * limit >= sign * x:
            short_of = sign * (self._scaled(j, limit) - z)
            if short_of <= UNCHANGED * self.family.metric.unit[j]:
                return limit
        if abs(step) <= UNCHANGED * self.family.metric.unit[j]:
            return x
        outer = self._own(j, z)
        one = self._set_of(j)
        if one is not None:
            outer = self._own(j, z + sign * UNCHANGED * self.family.metric.unit[j])  # z may be a value itself
            inner = one.at_least(outer) if sign < 0 else one.at_most(outer)
            return inner if sign * x <= sign * inner <= sign * outer else x
        inner = self._own(j, z - ROUNDED * step)  # a share of the side on the scale that measures it
        if sign * (outer - missed) >= -UNCHANGED * abs(outer - x) and sign * missed >= sign * inner:
            return missed if sign * outer <= sign * missed else short_between(outer, missed)
        return short_between(outer, inner)

    def _proofs(self, state: State, low: Array, high: Array) -> list[Any] | None:
        """Proofs for a box in the features' own units and a state of the categories."""
        z_low, z_high = self.z.copy(), self.z.copy()
        for i, j in enumerate(self.moving):
            z_low[j], z_high[j] = self._scaled(j, float(low[i])), self._scaled(j, float(high[i]))
        if not ((z_low <= self.z) & (self.z <= z_high)).all():
            return None
        return proven_box(self._problem(state), self.z, z_low, z_high, Clock(max(self.clock.left, 1.0)))

    def _categories(
        self, low: Array, high: Array, proofs: list[Any]
    ) -> tuple[dict[int, list[int]], list[Any]]:
        """For each category that changes the values that are enough; and the proofs of all combinations."""
        choices, today = self.question.choices, self.question.state
        values = {k: [v] for k, v in enumerate(self.state) if v != today[k]}
        known: dict[State, list[Any]] = {self.state: proofs}
        for k in values:
            for v in choices[k].allowed:
                if v in (today[k], self.state[k]):
                    continue
                tried = {**values, k: [*values[k], v]}
                states = [state for state in self._states(tried) if state not in known]
                if len(known) + len(states) > COMBINATIONS or self.clock.left < 0:
                    continue
                found = {state: self._proofs(state, low, high) for state in states}
                held = {state: proof for state, proof in found.items() if proof is not None}
                if len(held) == len(states):
                    values, known = tried, {**known, **held}
        return values, [known[state] for state in self._states(values)]

    def _states(self, values: dict[int, list[int]]) -> list[State]:
        """Every combination of the categories' values, in the order in which proofs are listed."""
        return [tuple(s) for s in product(*(values.get(k, [v]) for k, v in enumerate(self.state)))]

    def _interval(self, j: int, name: Any, low: float, high: float) -> Interval:
        least, most = self._limits[self.moving.index(j)]
        stated = rounded_inwards(low, high, self.decimals.get(j))
        open_low, open_high = low <= least, high >= most
        return Interval(
            name, -math.inf if open_low else stated[0], math.inf if open_high else stated[1], (low, high)
        )
