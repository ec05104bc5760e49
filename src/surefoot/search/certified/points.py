"""Points from above: the best one known, and the steps that look for a better one."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.answer import Round
from surefoot.problem.geometry import dual_exponent, lp_norm
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.local import LONG, ConvexConcave, Step
from surefoot.search.certified.noise import Harm
from surefoot.search.certified.region import Scenario
from surefoot.search.certified.space import Space, steepest
from surefoot.search.certified.sphere import nearest_robust

Array = NDArray[np.float64]

WIDEST = 0.01  # gap: however wide it may be, there may be no points that lie deeper inside
INSIDE = 0.1  # share of the gap by which points step inside, so that what they claim can be proved
DEEP = 0.01  # of the way on which slopes double: far from the factual, points step inside a share of that
CLOSE = 0.05  # steps that gain a smaller share of the gap are the last
STRETCHED = 0.2  # likewise with very many features, where a step that lacks a little is stretched
LOCAL_STEPS = 15
NEARING = 0.7  # steps that leave at most such a share of what a far point misses go on, however short
DOUBLINGS = 10
DIVE_STEPS = 3  # while some features are not on allowed values yet
AT_END = 0.99  # of the largest price: so much is at the end of what it allows
HALVINGS = 8
FLAT = 1e-12  # of the slope at the factual: a margin that rises less counts as rising so much
SETTLED = 1e-3  # standard deviations; features this near to an allowed value take it together
LOCAL_EFFORT = 5_000  # corners an adversary may look at in passing; at the end it may look at all it needs
REACHES = 12  # points on the way to one that is robust, where programs would take long
FIRST = 2  # margins of a crowd to begin with; the others enter when a point violates them


class Points:
    """The nearest point known that withstands everything known, and how to find nearer ones.

    Parameters
    ----------
    space : Space
    gap : float
    clock : Clock
    """

    def __init__(self, space: Space, gap: float, clock: Clock) -> None:
        self.space, self.gap, self.clock = space, min(gap, WIDEST), clock
        self.scenarios: list[Scenario] = [(r, np.zeros(space.n)) for r in _first(space)]
        self.best: Array | None = None
        self.distance = np.inf
        self.within = np.inf
        self.local_optimum: tuple[Step, list[int]] | None = None
        self.last: tuple[Step, list[int]] | None = None  # the last step that was robust, sets aside
        self.dives = True  # whether features are put on allowed values here; `rounding` has a faster way
        self.rounds: list[Round] = []
        steepness = min(abs(H.constant) for H in space.margins) / space.typical_distance
        self._rate: float | None = steepness if steepness > 0 else None
        self._breaches: list[int] = []
        self._worst: tuple[float, Array | None] = (-np.inf, None)
        self._caution = 1.0
        self._adversary_seconds = 0.0
        self._moment = time.perf_counter()
        self._programs: dict[tuple[Space, tuple[int, ...]], ConvexConcave] = {}
        self._home = space

    @property
    def suffice(self) -> bool:
        """Whether it was asked only if anything lies within a level, and something does."""
        return self.best is not None and bool(np.isfinite(self.within))

    @property
    def point(self) -> Array | None:
        """The best point in feature space."""
        return None if self.best is None else self._home.x(self.best)

    @contextmanager
    def inside(self, space: Space) -> Iterator[None]:
        """Look for points in a part of the space alone."""
        whole, self.space = self.space, space
        try:
            yield
        finally:
            self.space = whole

    def _program(self, pinned: tuple[int, ...]) -> ConvexConcave:
        """The convex programs in which some directions are held at given values."""
        key = self.space, pinned
        if key not in self._programs:
            self._programs[key] = ConvexConcave(self.space, pinned)
        return self._programs[key]

    def begin(self, active: list[int], level: float, start: Array | None) -> Array:
        """Take the first point for what it is (for p = 2 mostly the optimum); where to look around."""
        self.clock.check()
        u = self.space.into_domain(self.first_point(level) if start is None else start)
        margin, s = self.harm(u, active, LOCAL_EFFORT)
        if start is None:
            self.accept(u, margin, s)
        if s not in active:  # what harms here mostly harms at the optimum too
            active.append(s)
        return u

    def reach(self, active: list[int], level: float) -> None:
        """A point without any program: so far up the steepest slope, clipped to the domain, as it takes.

        With very many features every program takes its time, and a point should be there before.
        """
        slope = np.sum([H.vector for H in self.space.margins], axis=0)
        up = level * steepest(slope, max(self.space.norm, 2.0))  # p = 1 would take one feature alone
        low, high, missed = 0.0, np.inf, active[0]
        for _ in range(REACHES):
            self.clock.check()
            share = 0.5 * (low + high) if np.isfinite(high) else max(2 * low, 1.0)
            u = self.space.into_domain(share * up)
            margin, s = self.harm(u, active, 0)
            if margin >= self.enough(u):
                high = share
                self.accept(u, *self.harm(u, active, LOCAL_EFFORT))
            else:
                low, missed = share, s
        if missed not in active:
            active.append(missed)

    def harm(self, u: Array, active: list[int], effort: int) -> tuple[float, int]:
        """Lowest margin around u and the scenario that shows it, an active one if that does."""
        start = time.perf_counter()
        space = self.space
        r, (margin, v, _) = self._worst_margin(u, effort)
        active = active + [s for s in self._breaches if s not in active]
        known = self._margins(u, active)
        s = active[int(known.argmin())]
        if margin < known.min() - 1e-9 * space.slope * max(space.size(u), space.noise.radius):
            self.scenarios.append((r, v))
            s = len(self.scenarios) - 1
        self._adversary_seconds += time.perf_counter() - start
        return min(margin, float(known.min())), s

    def missed(self, u: Array, spread: Array, least: float, active: list[int], most: int) -> list[int]:
        """New scenarios in which a mixture of points is, on average, below a value.

        A margin is higher on average than at the mixture's mean u by what its own curvature makes of the
        spread: so what harms u most need not be what the mixture misses.
        """
        space = self.space
        gained = space.curvatures.reshape(len(space.margins), -1) @ spread.ravel()
        known = np.full(len(space.margins), np.inf)
        np.minimum.at(known, [self.scenarios[s][0] for s in active], self._margins(u, active))
        room = 1e-9 * space.slope * max(space.size(u), space.noise.radius)
        before = len(self.scenarios)
        for r in np.argsort(_at_least(space, u) + gained, kind="stable")[:most].tolist():
            value, v, _ = space.noise.harm(space.margins[r], u, 0, space.radius(r))
            if value < min(least - gained[r], known[r]) - room:
                self.scenarios.append((r, v))
        return list(range(before, len(self.scenarios)))

    def telling(self, most: int) -> list[int]:
        """The scenarios; of more than so many those without errors, and those that are hardest to withstand.

        That is judged where the best point is.
        """
        every = list(range(len(self.scenarios)))
        if len(every) <= most or self.best is None:
            return every
        order = np.argsort(self._margins(self.best, every), kind="stable").tolist()
        first = [s for s in every if not self.scenarios[s][1].any()]
        return sorted({*first, *order[:most]})

    def _worst_margin(self, u: Array, effort: int) -> tuple[int, Harm]:
        """The margin that is lowest within the noise around u."""
        space = self.space
        if len(space.margins) == 1:
            return 0, space.noise.harm(space.margins[0], u, effort, space.radius(0))
        worst = 0, Harm(np.inf, np.zeros_like(u), False)
        least = _at_least(space, u) if space.crowded else np.full(len(space.margins), -np.inf)
        for r in np.argsort(least, kind="stable").tolist():
            if least[r] > worst[1].value:
                break
            found = space.noise.harm(space.margins[r], u, effort, space.radius(r))
            worst = (r, found) if found.value < worst[1].value else worst
        return worst

    def improve_from(self, u: Array, active: list[int]) -> None:
        """Convex-concave steps from u; scenarios that a point does not withstand become active."""
        if not self.space.sets:
            self._steps(self._program(()), u, active, None)
            return
        squeezes, end = self.space.prices is not None and self.space.norm == np.inf, None
        if self.local_optimum is None:
            end = self._steps(self._program(()), u, active, None)
        if self.dives or self.local_optimum is None:
            if squeezes:
                self._squeeze(u if end is None else end, active)
            if self.best is None or not squeezes:
                self.dive(u, active)

    def descend(self, u: Array, active: list[int]) -> Array | None:
        """Where steps from u lead with sets of values left aside; None if that is nowhere."""
        self.last = None
        return self._steps(self._program(()), u, active, None)

    def dive(self, u: Array, active: list[int]) -> None:
        """Put feature after feature on an allowed value, the nearest to one first, and solve for the rest."""
        pins: dict[int, float] = {}
        while len(pins) < len(self.space.sets):
            choices = self._choices(u, pins)
            if not choices:
                return
            settled = [k for k, (off, *_) in choices.items() if off <= SETTLED]
            for k in settled or [min(choices, key=lambda j: choices[j][0])]:
                pins[k] = choices[k][1]
            found = self._steps(self._program(tuple(sorted(pins))), u, active, pins)
            if found is None and not settled:
                pins[k] = choices[k][2]
                found = self._steps(self._program(tuple(sorted(pins))), u, active, pins)
            if found is None:
                return
            u = found
        self._move_values(pins, active)

    def _squeeze(self, u: Array, active: list[int]) -> None:
        """The largest price may be used up by every feature: each goes as far in u's direction as it allows.

        Within a level that is the last allowed value; the least level that does is found by halving.
        """
        low = self.space.size(u)
        high = min(self.distance, 4 * low)
        pins: dict[int, float] = {}
        for _ in range(HALVINGS):
            level, before = 0.5 * (low + high), self.distance
            tried = self._inward(u, level)
            self._steps(self._program(tuple(sorted(tried))), u, active, tried)
            if self.distance < before:
                high, pins = self.distance, tried
            else:
                low = level
        if pins:
            self._move_values(pins, active)

    def _inward(self, u: Array, level: float) -> dict[int, float]:
        """Set directions at the last allowed value within a level, or near u where that is not at its end."""
        space, n = self.space, self.space.n
        size, (below, above) = space.size(u), space.level_ends(level)
        pins = {}
        for k, (values, offset) in space.sets.items():
            at, (low, high) = float(space.directions[k] @ u), space.value_ends(k)
            if space.size(np.where(np.arange(n) == k - n, u, 0.0)) < AT_END * size:
                pins[k] = values.nearest(at + offset, low, high) - offset
            elif at > 0:
                pins[k] = values.at_most(min(float(above[k]) + offset, high)) - offset
            else:
                pins[k] = values.at_least(max(float(below[k]) + offset, low)) - offset
        return pins

    def _move_values(self, pins: dict[int, float], active: list[int]) -> None:
        """From allowed values to neighbouring ones, one feature at a time, for as long as one helps.

        Values that lie closer together than the gap (amounts of money) cannot help.
        """
        program = self._program(tuple(sorted(pins)))
        improved = True
        while improved and self.best is not None:
            improved = False
            for k in self.coarse(pins):
                for value in self.neighbours(k, pins[k]):
                    before, moved = self.distance, {**pins, k: value}
                    self._steps(program, self.best, active, moved)
                    if self.distance < before * (1 - 0.1 * self.gap):
                        pins, improved = moved, True
                        break

    def coarse(self, pins: dict[int, float]) -> list[int]:
        """The features whose next values are farther away than the gap allows."""
        least = self.gap * self.distance
        return [
            k
            for k, value in pins.items()
            if any(abs(v - value) > least * self.space.reach[k] for v in self.neighbours(k, value))
        ]

    def neighbours(self, k: int, value: float) -> list[float]:
        """The allowed values next to one."""
        values, offset = self.space.sets[k]
        at, (low, high) = values.nearest(value + offset), self.space.value_ends(k)
        near = values.at_most(math.nextafter(at, -math.inf)), values.at_least(math.nextafter(at, math.inf))
        return [v - offset for v in near if low <= v <= high]

    def discard(self, requirement: int, perturbation: Array) -> int:
        """Forget the best point, which does not withstand a perturbation; the new scenario's number."""
        self._caution = min(8.0, 2 * self._caution)
        self.scenarios.append((requirement, perturbation))
        self.best, self.distance, self.local_optimum = None, np.inf, None
        self._breaches.append(len(self.scenarios) - 1)
        return len(self.scenarios) - 1

    def record(self, bound: float) -> None:
        """Note where the search stands."""
        now = time.perf_counter()
        adversary = self._adversary_seconds - sum(r.adversary_seconds for r in self.rounds)
        margin, v = self._worst
        self.rounds.append(
            Round(
                distance=self.distance,
                lower_bound=min(bound, self.distance),
                violation=-margin,
                perturbation=v,
                master_seconds=now - self._moment - adversary,
                adversary_seconds=adversary,
                candidate=self.best,
            )
        )
        self._moment = now

    def _steps(
        self, program: ConvexConcave, u: Array, active: list[int], pins: dict[int, float] | None
    ) -> Array | None:
        """Steps of one program until they no longer help; the last point, None where there is none."""
        size, missing, price = np.inf, np.inf, 100.0 * self.space.dearest / self.space.slope
        if pins is not None and self.space.prices is not None:
            price *= 100.0  # what misses at such a price surely leads nowhere
        whole = len(program.pinned) == len(self.space.sets)
        values = None if pins is None else np.array([pins[k] for k in program.pinned])
        for _ in range(LOCAL_STEPS if whole else DIVE_STEPS):
            self.clock.check()
            safety = self.safety_margin(u)
            if program.is_far:  # slopes there are not those at the factual
                price = max(price, 100.0 / max(self._steepest(u), 1e-9 * self.space.slope))
            chosen = [self.scenarios[s] for s in active]
            near = program.among({r for r, _ in chosen}).near(u)
            solved = near.step(u, chosen, safety, price, self.clock, values)
            if solved is None:
                return None
            before, lacks = u, solved.slack > safety
            u = self.on_values(solved.u) if whole and pins else self.space.into_domain(solved.u)
            if program.is_far and lacks and pins is None:
                u = self._further(before, u, active)
            length = self.space.size(u)
            if self._learn_rate(solved, safety):  # aimed too high or too low: once more
                size = length
                continue
            margin, s = self.harm(u, active, LOCAL_EFFORT)
            enough = self.enough(u)
            fresh = margin < enough and s not in active
            stretched = fresh and self.space.wide and pins is None and self._stretched(solved, margin, active)
            if margin >= enough:
                nearer = whole and self.accept(u, margin, s)
                if (nearer or self.local_optimum is None) and pins is None:
                    self.local_optimum = solved, list(active)
                if pins is None:
                    self.last = solved, list(active)
            elif fresh:
                active.append(s)
            nearing = program.is_far and lacks and solved.slack < NEARING * missing
            if lacks and not nearing:
                price *= 10
            if pins is not None and (length > self.distance or solved.slack > 1e3 * safety):
                return None  # this way leads nowhere
            gain = abs(length - size)
            if margin >= 0:  # what is left above the aim can be turned into so much distance
                gain = min(gain, abs(margin - safety) * float(solved.margins.sum()))
            timid = 0 <= margin < enough  # aimed as if it had stayed where it started
            if stretched and gain <= STRETCHED * self.gap * length:
                break
            if not (fresh or nearing or timid) and gain <= CLOSE * self.gap * length:
                break
            size, missing = length, solved.slack
        return u

    def _stretched(self, solved: Step, margin: float, active: list[int]) -> bool:
        """Whether a step that lacks a little is robust a little farther on; the point is taken."""
        size = self.space.size(solved.u)
        lacking = (self.safety_margin(solved.u) - margin) * float(np.maximum(solved.margins, 0.0).sum())
        u = self.space.into_domain((1 + lacking / max(size, 1e-300)) * solved.u)
        margin, s = self.harm(u, active, LOCAL_EFFORT)
        fine = margin >= self.enough(u)
        if fine and self.accept(u, margin, s):
            self.local_optimum = solved, list(active)
        return fine and self.space.size(u) <= size + STRETCHED * self.gap * size

    def _further(self, before: Array, u: Array, active: list[int]) -> Array:
        """Longer steps in the same direction for as long as they miss less: single ones may be too short."""
        best = float(self._margins(u, active).min())
        for _ in range(DOUBLINGS):
            further = self.space.into_domain(2 * u - before)
            margin = float(self._margins(further, active).min())
            if margin <= best:
                break
            u, best = further, margin
        return u

    def accept(self, u: Array, margin: float, s: int, as_it_is: bool = False) -> bool:
        """Keep a point if it is allowed, stands safely inside and is the nearest so far.

        ``as_it_is``: it cannot be moved farther inside; that rounding does not carry it out is enough.
        """
        size = self.space.size(u)
        least = self._surplus + 1e-7 * self.space.slope * size
        enough = min(self.enough(u), least) if as_it_is else self.enough(u)
        nearer = size < min(self.distance, self.within) and margin >= enough and self.space.allows(u)
        if nearer:
            self.best, self.distance, self._home = u, size, self.space
            self._worst = margin, self.scenarios[s][1]
        return nearer

    def replace(self, u: Array, most: float) -> bool:
        """Take a point in the place of the best if it is as safe, allowed and at most so far away."""
        with self.inside(self._home):
            size = self.space.size(u)
            fine = size <= most and self.space.allows(u)
            margin, s = self.harm(u, list(range(len(self.scenarios))), LOCAL_EFFORT) if fine else (-np.inf, 0)
            fine = fine and margin >= self.enough(u)
        if fine:
            self.best, self.distance, self._worst = u, size, (margin, self.scenarios[s][1])
        return fine

    def _margins(self, u: Array, active: list[int]) -> Array:
        """The margins at u in some scenarios."""
        points = u + np.array([self.scenarios[s][1] for s in active])
        if len(self.space.margins) == 1:
            return np.asarray(self.space.margins[0](points))
        which = np.array([self.scenarios[s][0] for s in active])
        values = np.empty(len(points))
        for r in set(which.tolist()):
            values[which == r] = self.space.margins[r](points[which == r])
        return values

    def safety_margin(self, u: Array, share: float = 1.0) -> float:
        """How far above zero points are aimed: this share of the depth, above what is added to margins."""
        return self._surplus + share * self._depth(u)

    @property
    def _surplus(self) -> float:
        problem = self.space.problem
        return 0.0 if problem is None else problem.surplus

    def _depth(self, u: Array) -> float:
        """How far inside points are aimed: what costs a small share of the gap in distance."""
        size = max(self.space.size(u), 1e-9)
        if self._rate is None or np.isfinite(self.within):
            return 1e-7 * self.space.slope * size
        if size <= LONG:
            return self._caution * INSIDE * self.gap * self._rate * size
        # Far from the factual the rate may be another one, and such a depth more than there is room for.
        steep = self._steepest(u)
        depth = min(self.gap * size, DEEP * steep / max(float(self.space.sizes.max()), 1e-300))
        return self._caution * INSIDE * depth * min(self._rate, steep)

    def enough(self, u: Array) -> float:
        """The margin a point must have."""
        return self._surplus + 0.3 * self._depth(u) if math.isinf(self.within) else self._surplus

    def _learn_rate(self, solved: Step, safety: float) -> bool:
        """Log-odds per distance at the optimum, the inverse of the margins' price; whether it is news."""
        price = float(np.maximum(solved.margins, 0.0).sum())
        before = self._rate
        if solved.slack <= safety:
            self.learn_rate(1 / max(price, 1e-300), solved.u)
        elif before is None:
            self._rate = 1e-3 * self.space.slope
        return np.isinf(self.within) and (before is None or not 0.3 < cast(float, self._rate) / before < 3)

    def _steepest(self, u: Array) -> float:
        """The steepest margin at u, in the dual norm."""
        dual = dual_exponent(self.space.norm)
        return max(float(lp_norm(H.gradient(u), dual)) for H in self.space.margins)

    @property
    def rate(self) -> float:
        """Log-odds per distance, as far as known."""
        return self.space.slope if self._rate is None else self._rate

    def learn_rate(self, rate: float, u: Array) -> None:
        """Log-odds per distance at a local optimum; never zero, whatever is left of it by rounding."""
        slope = self.space.slope
        self._rate = max(min(rate, max(self._steepest(u), 1e-9 * slope)), FLAT * slope)

    def first_point(self, level: float) -> Array:
        """Where the first local search starts: for p = 2 at the optimum, else up the steepest slope."""
        space, margins = self.space, self.space.margins
        plain = space.noise.frame is None and not space.noise.centre.any() and space.noise.norm == 2
        if space.norm == 2 and len(margins) == 1 and (plain or space.noise.radius == 0):
            u = nearest_robust(margins[0], space.radius(0), 1e-9 * space.slope * level)
            if u is not None:
                self._rate = float(lp_norm(margins[0].gradient(u), dual_exponent(2)))
                return u * (1 + INSIDE * self.gap)
        return level * steepest(np.sum([H.vector for H in margins], axis=0), space.norm)

    def _choices(self, u: Array, pins: dict[int, float]) -> dict[int, tuple[float, float, float]]:
        """For every open set direction: how far off its nearest allowed value is, that value, the next."""
        found = {}
        for k, (values, offset) in self.space.sets.items():
            if k in pins:
                continue
            low, high = self.space.value_ends(k)
            at = min(max(float(self.space.directions[k] @ u) + offset, low), high)
            value = values.nearest(at, low, high)
            if np.isnan(value):
                return {}
            other = values.at_least(at) if value <= at else values.at_most(at)
            other = other if low <= other <= high else value
            found[k] = (abs(value - at) / float(self.space.reach[k]), value - offset, other - offset)
        return found

    def on_values(self, u: Array) -> Array:
        """The point with every set feature exactly on its allowed value."""
        assert self.space.problem is not None
        return self.space.u(self.space.problem.domain.clipped(self.space.x(u)))


def _first(space: Space) -> list[int]:
    """The margins that a search begins with: of a crowd those with the longest way to where they hold."""
    if not space.crowded:
        return list(range(len(space.margins)))
    slopes, constants = space.lifts
    steep = np.asarray(lp_norm(slopes, dual_exponent(space.norm)))
    return sorted(int(r) for r in np.argsort(-constants / np.maximum(steep, 1e-300))[-FIRST:])


def _at_least(space: Space, u: Array) -> Array:
    """No margin is lower than this within the noise around u: its slope at u, and the most it can bend."""
    slopes, constants = space.lifts
    bent = space.curvatures @ u
    values, gradients = constants + (slopes + bent) @ u, slopes + 2 * bent
    noise, radius = space.noise, np.where(space.robust, space.noise.radius, 0.0)
    along = gradients if noise.frame is None else gradients @ noise.frame
    reach = np.asarray(lp_norm(along, dual_exponent(noise.norm)))
    return np.asarray(values + radius * (gradients @ noise.centre - reach) - space.bends)
