"""Which rows a shared change serves, and what it costs them: guessed for many changes, proven for few.

A change serves a row where the row after it is allowed, and is decided as the target at every point of the
budget's ball. For thousands of changes a necessary condition is looked at, all at once: no rule is clearly
broken, and neither the point nor the worst error of the linearised decision undoes it. What is left is proven
row by row, for those changes alone that would otherwise be the best ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.ask.asked import Asked
from surefoot.explain.population.shared_change import MOVE, Part
from surefoot.problem.either import Either, Way
from surefoot.problem.family import MixedRequirement
from surefoot.problem.geometry import Ball
from surefoot.problem.mixed import State
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.question import Question
from surefoot.problem.row import Row
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.robustness import BreachError, prove

Array = NDArray[np.float64]
Truth = NDArray[np.bool_]
Codes = NDArray[np.intp]

# Seconds for the proof that one row withstands the ball; most take a thousandth of that. Ten times larger,
# and a row on the edge holds up all others for that long.
PATIENCE = 1.0
# Of the absolute terms of a rule, and in log-odds: what lies so near an end is not clearly beyond it, and is
# judged exactly. Ten times larger, and some more rows wait for the exact look.
NEAR = 1e-8


@dataclass(eq=False)
class Serving:
    """What shared changes cost the rows that they serve: infinite where they do not.

    Parameters
    ----------
    asked : sequence of Asked
        The rows.
    parts : sequence of Part
    changes : array of shape (changes, most)
        Parts by position, filled up with -1.
    """

    asked: Sequence[Asked]
    parts: Sequence[Part]
    changes: Codes
    proven: set[int] = field(default_factory=set)
    undecided: int = 0  # pairs of a change and a row for which there was no proof in time

    def __post_init__(self) -> None:
        self._shapes: dict[Any, Quadratic] = {}
        self._rows = [_Row(one.question, self.parts) for one in self.asked]
        columns = [self._guessed(n) for n in range(len(self.asked))]
        self.costs = np.column_stack(columns) if columns else np.zeros((len(self.changes), 0))
        self.ranked = np.sort(self.costs, axis=1)

    def cheapest(self, count: int) -> int | None:
        """The change that serves so many rows at the lowest price, proven; None where there is none."""
        return self._first_proven(lambda: self.ranked[:, count - 1])

    def largest(self, price: float) -> int | None:
        """The change that serves most rows at a price, proven; the cheapest of several. None if none do."""

        def order() -> Array:
            served = (np.isfinite(self.ranked) & (self.ranked <= price)).sum(axis=1)
            best = int(served.max(initial=0))
            return np.where(served == best, self.ranked[:, best - 1], np.inf) if best else np.full(1, np.inf)

        return self._first_proven(order)

    def _first_proven(self, order: Any) -> int | None:
        """Prove the change that comes first, until one that is proven does."""
        while len(self.changes):
            values = order()
            first = int(values.argmin())
            if not math.isfinite(values[first]):
                return None
            if first in self.proven:
                return first
            self._prove(first)
        return None

    def _prove(self, change: int) -> None:
        """Put what is proven of a change in the place of what was guessed."""
        for n in np.flatnonzero(np.isfinite(self.costs[change])).tolist():
            x, state = self._rows[n].point(self.changes[change])
            if not self._is_served(self.asked[n], x, state):
                self.costs[change, n] = np.inf
        self.proven.add(change)
        self.ranked[change] = np.sort(self.costs[change])

    def _is_served(self, one: Asked, x: Array, state: State) -> bool:
        """Whether a point is allowed to the last digit, and withstands the budget by a proof."""
        if not one.question.allows(x, state):
            return False
        problem, z = one.problem.problem(state), one.question.warped(x)
        if problem.ball.is_point:
            return problem.margin(z) >= 0
        try:
            prove(problem, z, problem.budget, Clock(PATIENCE))
        except BreachError:
            return False
        except OutOfTimeError:
            self.undecided += 1
            return False
        return True

    def _guessed(self, n: int) -> Array:
        """What every change costs one row: infinite where it clearly does not serve it."""
        one, row = self.asked[n], self._rows[n]
        found = np.full(len(self.changes), np.inf)
        open_ = np.flatnonzero(row.allowed[self.changes].all(axis=1))
        X, S = row.points(self.changes[open_], row.values)
        kept = may_be_allowed(one.question, X, S)
        open_, S = open_[kept], S[kept]
        Z = row.points(self.changes[open_], row.scaled)[0]
        kept = self._may_decide(one, Z, S)
        open_, S, Z = open_[kept], S[kept], Z[kept]
        metric = np.asarray(one.problem.metric.distances(Z, one.problem.factual))
        prices = [np.asarray(c.prices)[S[:, k]] for k, c in enumerate(one.question.choices)]
        found[open_] = metric + sum(prices, np.zeros(len(S)))
        return found

    def _may_decide(self, one: Asked, Z: Array, S: Codes) -> Truth:
        """Whether no requirement is clearly missed, at the point or with the worst linearised error."""
        family, kept = one.problem, np.ones(len(Z), dtype=bool)
        values = np.zeros((len(Z), len(family.requirements)))
        for r, requirement in enumerate(family.requirements):
            values[:, r], worst = self._margins(requirement, Z, S, family.ball)
            kept &= np.minimum(values[:, r], worst if requirement.robust else np.inf) >= -NEAR
        for share in family.shares:
            kept &= share.margin(values[:, list(share.members)]) >= -NEAR
        return kept

    def _margins(self, requirement: MixedRequirement, Z: Array, S: Codes, ball: Ball) -> tuple[Array, Array]:
        """The margin at each point, and at its worst linearised error."""
        g = requirement.margin
        added, found = g.constants(S), np.zeros((2, len(Z)))
        for some in _alike(S[:, list(g.shaping)]):
            Q = self._shape(requirement, tuple(S[some[0]].tolist()))
            found[0, some] = Q(Z[some])
            found[1, some] = Q(Z[some] + worst_linear(Q, Z[some], ball))
        return found[0] + added, found[1] + added

    def _shape(self, requirement: MixedRequirement, state: State) -> Quadratic:
        g = requirement.margin
        place = (id(requirement), *(state[k] for k in g.shaping))
        if place not in self._shapes:
            self._shapes[place] = g.shape(state)
        return self._shapes[place]


def _alike(codes: Codes) -> list[Codes]:
    """The lines of a table in groups of equal ones."""
    sizes = [int(column.max(initial=0)) + 1 for column in codes.T]
    keys = np.ravel_multi_index(tuple(codes.T), sizes) if sizes else np.zeros(len(codes), dtype=np.intp)
    order = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.diff(keys[order])) + 1
    return [some for some in np.split(order, ends) if len(some)]


class _Row:
    """What each part makes of one row."""

    def __init__(self, question: Question, parts: Sequence[Part]) -> None:
        self.question = question
        applied = [part.applied(question) for part in parts]
        # One entry more, for the place of a part that is not there.
        self.allowed = np.array([value is not None for value in applied] + [True])
        self.values = np.array([0.0 if value is None else float(value) for value in applied] + [0.0])
        numbers = {j: k for k, j in enumerate(question.numbers)}
        categories = {choice.feature: k for k, choice in enumerate(question.choices)}
        moves = [part.kind == MOVE for part in parts]
        self.is_move = np.array([*moves, False])
        self.is_step = np.array([*(not move for move in moves), False])
        places = [(categories if move else numbers)[p.feature] for p, move in zip(parts, moves, strict=True)]
        self.places = np.array([*places, 0], dtype=np.intp)

    @cached_property
    def scaled(self) -> Array:
        """The values on the scales on which distances are measured."""
        warps = self.question.warps
        if not warps:
            return self.values
        steps = zip(self.values, self.places, self.is_step & self.allowed, strict=True)
        return np.array([warps[j].exactly(float(v)) if counts else v for v, j, counts in steps])

    def points(self, changes: Codes, values: Array) -> tuple[Array, Codes]:
        """The row after each of some changes: its numbers, with these values, and its categories."""
        now = self.question.factual
        start = now if values is self.values else self.question.warped(now)
        X = np.tile(start, (len(changes), 1))
        S = np.tile(np.array(self.question.state, dtype=np.intp), (len(changes), 1))
        for parts in changes.T:
            for table, chosen in ((X, self.is_step[parts]), (S, self.is_move[parts])):
                at = np.flatnonzero(chosen)
                table[at, self.places[parts[at]]] = values[parts[at]]
        return X, S

    def point(self, change: Codes) -> tuple[Array, State]:
        """The row after one change, in the features' own units."""
        X, S = self.points(change[None], self.values)
        return X[0], tuple(S[0].tolist())


def worst_linear(Q: Quadratic, Z: Array, ball: Ball) -> Array:
    """The error of the ball that is worst for the linearised quadratic, at each point."""
    if ball.is_point:
        return np.zeros_like(Z)
    slope = Q.gradient(Z + ball.radius * ball.centre) @ ball.basis
    if ball.norm == 1:
        at = np.abs(slope).argmax(axis=1)[:, None]
        w = np.zeros_like(slope)
        np.put_along_axis(w, at, np.sign(np.take_along_axis(slope, at, axis=1)), axis=1)
    elif ball.norm == 2:
        size = np.linalg.norm(slope, axis=1, keepdims=True)
        w = slope / np.where(size > 0, size, 1.0)
    else:
        w = np.sign(slope)
    return ball.perturbation(-ball.radius * w)


def may_be_allowed(question: Question, X: Array, S: Codes) -> Truth:
    """Whether points break no rule and no limit clearly; ends and values of single features are not asked."""
    kept = np.ones(len(X), dtype=bool)
    for row in question.domain.rows:
        kept &= _near(row, X)
    for either in question.eithers:
        kept &= _takes_a_way(either, X, S)
    today = np.array(question.state)
    for limit in question.limits:
        numbers, categories = list(limit.numbers), list(limit.categories)
        changed = (X[:, numbers] != np.array(limit.today)).sum(axis=1)
        kept &= changed + (S[:, categories] != today[categories]).sum(axis=1) <= limit.count
    return kept


def _takes_a_way(either: Either, X: Array, S: Codes) -> Truth:
    def takes(way: Way) -> Truth:
        kept = np.ones(len(X), dtype=bool)
        for k, codes in way.values.items():
            kept &= np.isin(S[:, k], sorted(codes))
        for row in way.rows:
            kept &= _near(row, X)
        return kept

    return np.asarray(np.any([takes(way) for way in either.ways], axis=0))


def _near(row: Row, X: Array) -> Truth:
    """Whether points lie within a row, or so near that rounding may decide."""
    values, slack = X @ row.coefficients, NEAR * (np.abs(X) @ np.abs(row.coefficients))
    return np.asarray((values >= row.low - slack) & (values <= row.high + slack))
