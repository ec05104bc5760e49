"""Printable values: the counterfactual as short decimals, with everything proven for exactly these."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.answer import Answer
from surefoot.problem.family import Family
from surefoot.problem.question import Question
from surefoot.problem.robust_problem import RobustProblem
from surefoot.problem.row import Row
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.robustness import BreachError, Robustness, prove, worst_perturbation
from surefoot.search.certified.search import ABSOLUTE_GAP
from surefoot.status import Status

Array = NDArray[np.float64]

# Share of the allowed gap that the search leaves to rounding. A tenth of it, and most answers need a digit
# more; ten times as much is more than there is.
SPARE = 0.3
FIRST = 2  # digits of a change that are tried first. Ten times as many would try nothing short.
FINEST = 18  # digits of a change that are tried last; a double has no more
# Proofs that are tried before the point stays as it was found. Ten times as many take ten times as long.
ATTEMPTS = 4
# Share of the found point's own margin that the decimals keep, so that they can be proven as well. Ten times
# as much would need more digits; a tenth would fail more proofs.
KEPT = 0.1
SHORT = 6  # significant digits: an end of the domain that has more is not taken for a short value


def in_decimals(question: Question, family: Family, answer: Answer, seconds: float) -> Answer:
    """The answer with each changed number as a short decimal, inside the domain and proven again.

    The distance stays within the gap that was asked for; where few digits are too coarse for that, more are
    taken. Where no others can be proven, the values stay as they were found: they are proven as they are. A
    point of the paper's methods may miss by a tolerance; where no decimals nearby do better, its status says
    so.

    Parameters
    ----------
    question : Question
    family : Family
        Of that question.
    answer : Answer
        Its point in the features' own units.
    seconds : float
        That are left.
    """
    if answer.point is None or answer.certificate is None or answer.status is Status.ALREADY_TARGET:
        return answer
    state = answer.state or question.state
    rounding = _Rounding(question, family.problem(state), answer, family.price(state))
    if not rounding.moved and not rounding.followers:
        return answer
    found = _proven_decimals(rounding, Clock(seconds)) or answer
    missed = found is answer and rounding.misses
    return replace(answer, status=Status.PRECISION_LIMIT) if missed else found


def _proven_decimals(rounding: _Rounding, clock: Clock) -> Answer | None:
    """The answer with a point of short decimals that is proven; None where there is none in time."""
    for _ in range(ATTEMPTS):
        point = rounding.shortest()
        if point is None or (point == rounding.found).all():
            return None
        try:
            return _with_point(rounding.answer, point, rounding.proven(point, clock))
        except BreachError as breach:
            rounding.learn(breach.perturbation)
        except OutOfTimeError:
            return None
    return None


def _with_point(answer: Answer, point: Array, robust: Robustness) -> Answer:
    """The same answer with another point and what is proven of it."""
    assert answer.certificate is not None
    held = {**answer.certificate, "robustness": robust.to_dict(), "worst": robust.worst.tolist()}
    return replace(answer, point=point, radius=robust.radius, worst=robust.worst, certificate=held)


@dataclass(eq=False)
class _Rounding:
    """Looks for short decimals near a point: first inwards, then back as far as the requirements allow.

    Parameters
    ----------
    question : Question
    problem : RobustProblem
        In the answer's state.
    answer : Answer
    price : float
        Of its categories.
    """

    question: Question
    problem: RobustProblem
    answer: Answer
    price: float
    scenarios: list[Array] = field(init=False)
    first: int = FIRST

    def __post_init__(self) -> None:
        self.scenarios = [np.zeros(self.problem.n_features)]
        if self.answer.worst is not None:
            self.scenarios.append(np.asarray(self.answer.worst, dtype=float))

    def learn(self, perturbation: Array) -> None:
        """Add a perturbation to withstand, and allow one more digit from now on."""
        self.first += 1
        self.scenarios.append(np.asarray(perturbation, dtype=float))

    def proven(self, x: Array, clock: Clock) -> Robustness:
        """What is proven of a point: as much as of the one that was found; else `BreachError`."""
        z, radius = self.question.warped(x), min(self.answer.radius, self.problem.budget)
        if radius <= 0:
            return Robustness(0.0, 0.0, *worst_perturbation(self.problem, z)[:2])
        return prove(self.problem, z, radius, clock)

    @cached_property
    def found(self) -> Array:
        """The point as it was found."""
        return np.asarray(self.answer.point, dtype=float)

    @cached_property
    def moved(self) -> list[int]:
        """The numbers that changed and may take any value, apart from those that follow others."""
        on_lists = {one.feature for one in self.question.domain.sets} - self.whole
        changed = np.flatnonzero(self.found != self.question.factual).tolist()
        return [j for j in changed if j not in on_lists and j not in self.followers]

    @cached_property
    def whole(self) -> set[int]:
        """The numbers that take any whole value; in an equation they have to stay where they are."""
        equations = [row.coefficients for row in self.question.domain.rows if row.low == row.high]
        tied = set(np.flatnonzero(np.any(equations, axis=0)).tolist()) if equations else set()
        return {one.feature for one in self.question.domain.sets if one.values is None} - tied

    @cached_property
    def followers(self) -> dict[int, Row]:
        """Numbers that equations settle, each with its own: no equation has two, nor one of an earlier."""
        found: dict[int, Row] = {}
        on_lists = {one.feature for one in self.question.domain.sets}
        taken = set(on_lists)
        for row in self.question.domain.rows:
            used = np.flatnonzero(row.coefficients).tolist()
            free = [j for j in used if j not in taken and self.found[j] != self.question.factual[j]]
            if row.low == row.high and free:
                found[min(free, key=lambda j: abs(abs(row.coefficients[j]) - 1))] = row
                taken.update(used)
        return found

    @property
    def misses(self) -> bool:
        """Whether the point that was found misses a requirement."""
        return self.problem.margin(self.question.warped(self.found)) < 0

    @cached_property
    def needed(self) -> float:
        """The margin that decimals must have."""
        return KEPT * max(self._margin(self.found), 0.0)

    @cached_property
    def farthest(self) -> float:
        """How far away decimals may lie: within the gap, or little farther where the bound is not near."""
        gap, distance = self.question.gap, self._distance(self.found)
        bound, near = min(self.answer.lower_bound, distance), distance * (1 + SPARE * gap)
        within = max(bound / (1 - gap), bound + ABSOLUTE_GAP)  # what an optimum may be away from its bound
        return min(within, near) if within >= distance else near

    @cached_property
    def inwards(self) -> NDArray[np.bool_]:
        """For each number whether the tightest margin grows with it."""
        z = self.question.warped(self.found)
        pairs = [
            (r.margin, d if r.robust else 0 * d) for r in self.problem.requirements for d in self.scenarios
        ]
        g, d = min(pairs, key=lambda pair: float(pair[0](z + pair[1])))
        return np.asarray(g.gradient(z + d) >= 0)

    def _margin(self, x: Array) -> float:
        z = self.question.warped(x)
        return -float(self.problem.violation(z, np.array(self.scenarios)).max())

    def _distance(self, x: Array) -> float:
        return self.price + self.problem.distance(self.question.warped(x))

    def _fits(self, x: Array) -> bool:
        """Whether a point may take the place of the one that was found."""
        return (
            self._distance(x) <= self.farthest
            and self._margin(x) >= self.needed
            and self.question.allows(x, self.answer.state or self.question.state)
        )

    def shortest(self) -> Array | None:
        """The point with as few digits as possible; None where nothing but the point itself fits."""
        for digits in range(self.first, FINEST):
            places = {j: self._place(j, digits) for j in self.moved}
            x = self._rounded(places)
            if x is not None:
                return self._coarsened(x, places)
        return None

    def _place(self, j: int, digits: int) -> int:
        """The power of ten of the last digit of a number whose change has so many digits.

        No finer than the decimals that the feature has anyway, as long as few digits are tried.
        """
        place = self._size(j) + 1 - digits
        ends = (self.question.factual[j], self.question.domain.low[j], self.question.domain.high[j])
        known = 0 if j in self.whole else min(_last_place(float(v)) for v in ends if math.isfinite(v))
        return max(place, min(known, 0)) if digits <= FIRST + 1 or j in self.whole else place

    def _size(self, j: int) -> int:
        """The power of ten of a number's change."""
        return math.floor(math.log10(abs(float(self.found[j] - self.question.factual[j]))))

    def _rounded(self, places: dict[int, int]) -> Array | None:
        """Each number on a decimal, inwards; then one after the other outwards where that is nearer."""
        inner = self._followed(self.found, set(self.followers))
        for j, place in places.items():
            options = self._options(j, place)
            if not options:
                return None
            inner = self._replaced(inner, j, options[-1] if self.inwards[j] else options[0])
        best = inner if self._fits(inner) else None
        for j, place in places.items():
            for value in self._options(j, place):
                tried = self._replaced(inner, j, value)
                if self._distance(tried) < self._distance(inner) and self._margin(tried) >= self.needed:
                    inner = tried
                    best = inner if self._fits(inner) else best
        return best

    def _options(self, j: int, place: int) -> list[float]:
        """The decimals around a number within its ends, today's value left out; an end where it is short."""
        low, high = float(self.question.domain.low[j]), float(self.question.domain.high[j])
        value, today = float(self.found[j]), float(self.question.factual[j])
        around = [_decimal(value, place, ROUND_FLOOR), _decimal(value, place, ROUND_CEILING)]
        allowed = [v for v in around if low <= v <= high and v != today]
        near = 10.0**place
        ends = [end for end in (low, high) if abs(end - value) <= near and end != today and _is_short(end)]
        return sorted(v for v in {*allowed, *ends} if j not in self.whole or v.is_integer())

    def _coarsened(self, x: Array, places: dict[int, int]) -> Array:
        """Drop digits of one number at a time where possible; keep today's value where it need not change."""
        for j in sorted(places, key=lambda j: places[j]):
            for values in self._coarser(j, places[j]):
                fitting = [t for t in (self._replaced(x, j, v) for v in values) if self._fits(t)]
                if not fitting:
                    break
                x = min(fitting, key=self._distance)
        return x

    def _coarser(self, j: int, place: int) -> Iterator[list[float]]:
        """Values with ever fewer digits; the last is that of today."""
        for coarse in range(place + 1, self._size(j) + 2):
            yield self._options(j, coarse)
        yield [float(self.question.factual[j])]

    def _replaced(self, x: Array, j: int, value: float) -> Array:
        """The point with another value of one number, and of those that follow it."""
        found = x.copy()
        found[j] = value
        return self._followed(found, {k for k, row in self.followers.items() if row.coefficients[j]})

    def _followed(self, x: Array, followers: set[int]) -> Array:
        """The point with some followers where their equations put them."""
        found = x.copy()
        for j in followers:
            found[j] = _following(self.followers[j], j, found)
        return found


def _following(row: Row, j: int, x: Array) -> float:
    """The value of one number that solves an equation, decimals taken as they are written.

    A third is written with as many digits as the equation, which holds up to rounding, needs.
    """
    a = [_written(value) for value in row.coefficients]
    others = sum((c * _written(x[k]) for k, c in enumerate(a) if c and k != j), Fraction(0))
    value = float((_written(row.low) - others) / a[j])
    found = x.copy()
    for digits in range(SHORT, FINEST) if value else ():
        found[j] = _decimal(value, math.floor(math.log10(abs(value))) + 1 - digits, ROUND_HALF_EVEN)
        if row.contains(found):
            return float(found[j])
    return value


def _written(value: float) -> Fraction:
    """A double as the fraction that its shortest text states: 0.1 is a tenth."""
    return Fraction(repr(float(value)))


def _decimal(value: float, place: int, rounding: str) -> float:
    """A number rounded to a power of ten.

    Examples
    --------
    >>> _decimal(0.123456, -3, ROUND_CEILING), _decimal(-1234.5, 2, ROUND_FLOOR)
    (0.124, -1300.0)
    """
    step = Decimal(1).scaleb(place)
    return float((Decimal(value) / step).to_integral_value(rounding) * step) + 0.0


def _last_place(value: float) -> int:
    """The power of ten of the last digit of the shortest text of a number.

    Examples
    --------
    >>> _last_place(0.25), _last_place(1300.0), _last_place(0.0)
    (-2, 2, 0)
    """
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent


def _is_short(value: float) -> bool:
    """Whether a number has few digits.

    Examples
    --------
    >>> _is_short(17.99), _is_short(1 / 3), _is_short(float("inf"))
    (True, False, False)
    """
    return math.isfinite(value) and len(Decimal(repr(value)).normalize().as_tuple().digits) <= SHORT
