"""Probabilities among all classes: the error that lowers one most, and the floors that prove it on a ball.

With a_r = g_r / heat a share holds where sum exp(-a_r) <= 1. If it is proved that ``w'a >= c`` on the whole
ball, for each rival alone (w a unit vector) and for some mixtures w, then a lies in a polyhedron. The sum is
convex in a and falls with each a_r: on the polyhedron it is largest at a corner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import RobustProblem
from surefoot.problem.share import Share, entropy
from surefoot.search.certified.adversary import lowest
from surefoot.search.certified.clock import Clock

Array = NDArray[np.float64]

LIKELIEST = 4  # rivals whose pairs are starts. Ten times as many take as long as a search.
STEPS = 30  # from an error to a worse one; each step is an ascent, and few are needed
NEGLIGIBLE = 1e-6  # weights below this are left out of a mixture. Ten times larger, and bounds get coarser.
ROOM = 0.25  # share of what is left over that floors stay below the lowest value, so that they can be proved
GENEROUS = 0.8  # of its lowest value is a floor enough for a rival that hardly counts
HARDLY = 0.02  # of that room: so little of the sum hardly counts
LITTLE = 0.1  # of that room: with so little of the sum, a rival needs no part in mixtures
# Candidates for corners of a polyhedron. A checker takes ten times as many; each takes it half a millisecond.
MOST_CORNERS = 500
SPARE = 1e-9  # of log-odds: what rounding of doubles may do to a corner


class WorstShare(NamedTuple):
    """The lowest margin of a share that was found on a ball, where, and the weights that matter there."""

    margin: float
    perturbation: Array
    weights: Array


def worst_of_share(problem: RobustProblem, share: Share, x: Array, radius: float) -> list[WorstShare]:
    """The worst errors from several starts, the worst first.

    The mixture that matters at an error is a lower bound of the share's margin that touches it there: what is
    worst for the mixture is worse for the share.
    """
    ball, members = problem.ball, _around(problem, share, x, radius)
    flat = radius == 0 or ball.basis.shape[1] == 0
    starts = [np.zeros(ball.basis.shape[1])]
    if not flat:
        blends = [*np.eye(len(members)), *_pairs(share.weights([float(G(starts[0])) for G in members]))]
        mixed = (_mixed(members, weights) for weights in blends)
        starts += [lowest(G.matrix, G.vector, ball.norm, radius)[0] for G in mixed]
    found = []
    for start in starts:
        w, margin = start, _margin(share, members, start)
        for _ in range(0 if flat else STEPS):
            G = _mixed(members, share.weights([float(one(w)) for one in members]))
            there = lowest(G.matrix, G.vector, ball.norm, radius)[0]
            worse = _margin(share, members, there)
            if worse >= margin - 1e-12 * max(1.0, abs(margin)):
                break
            w, margin = there, worse
        weights = share.weights([float(one(w)) for one in members])
        found.append(WorstShare(margin, ball.perturbation(w, radius), weights))
    return sorted(found, key=lambda one: one.margin)


def _pairs(weights: Array) -> list[Array]:
    """The likeliest rivals in pairs, half and half: what harms both may harm neither most."""
    first = np.argsort(-weights)[:LIKELIEST]
    return [0.5 * (np.eye(len(weights))[i] + np.eye(len(weights))[j]) for i, j in combinations(first, 2)]


def mixture(problem: RobustProblem, share: Share, weights: Sequence[float] | Array) -> Quadratic:
    """The quadratic sum w_r g_r - heat * entropy(w)."""
    margins = [problem.requirements[r].margin for r in share.members]
    return _mixed(margins, np.asarray(weights)) + -share.heat * entropy(weights)


def truncated(weights: Array) -> Array:
    """The weights without negligible ones."""
    return np.asarray(np.where(weights < NEGLIGIBLE, 0.0, weights))


@dataclass(eq=False)
class Floors:
    """What is to be proved of each rival and of some mixtures on a ball, in the units of g.

    Parameters
    ----------
    share : Share
    members : array
        A floor for each rival.
    mixtures : list of (weights, floor)
        The floor is one of ``sum w_r g_r - heat * entropy(w)``.
    """

    share: Share
    members: Array
    mixtures: list[tuple[Array, float]] = field(default_factory=list)

    def corners(self, exactly: bool = False) -> Array | None:
        """The corners of the polyhedron in a = g / heat, one in each row; None where they are too many.

        Nearly parallel faces meet far away, at corners that only fractions find.
        """
        low = self.members / self.share.heat
        weights = np.array([w for w, _ in self.mixtures]).reshape(len(self.mixtures), len(low))
        open_ = np.flatnonzero((weights > 0).any(axis=0))
        if math.comb(len(open_) + len(weights), len(open_)) > MOST_CORNERS:
            return None
        if not len(open_):
            return low[None]
        ends = [floor / self.share.heat + entropy(w) for w, floor in self.mixtures]
        rows, rhs = np.vstack([np.eye(len(open_)), weights[:, open_]]), np.concatenate([low[open_], ends])
        found = _solutions(rows, rhs) if exactly else _most_solutions(rows, rhs)
        corners = np.tile(low, (len(found), 1))
        corners[:, open_] = found
        return corners


def _most_solutions(rows: Array, rhs: Array) -> Array:
    """The corners of {a : rows a >= rhs}, but for those of nearly parallel rows."""
    some = np.array(list(combinations(range(len(rows)), rows.shape[1])))
    some = some[np.abs(np.linalg.det(rows[some])) > SPARE]
    found = np.linalg.solve(rows[some], rhs[some][..., None])[..., 0]
    return np.asarray(found[(found @ rows.T >= rhs - SPARE * (1 + np.abs(rhs))).all(axis=1)])


def _solutions(rows: Array, rhs: Array) -> Array:
    """The corners of {a : rows a >= rhs}, by fractions."""
    lines = [[Fraction(v) for v in (*row, end)] for row, end in zip(rows.tolist(), rhs.tolist(), strict=True)]
    found = []
    for some in combinations(lines, rows.shape[1]):
        at = _solved([list(line) for line in some])
        if at is not None and all(sum(map(mul, line, at)) >= line[-1] for line in lines):
            found.append([float(v) for v in at])
    return np.array(found).reshape(len(found), rows.shape[1])


def _solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """The solution of equations with their right sides last; None where there is not exactly one."""
    for i in range(len(rows)):
        pivot = next((k for k in range(i, len(rows)) if rows[k][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for k in range(len(rows)):
            if k != i and rows[k][i]:
                factor = rows[k][i]
                rows[k] = [v - factor * top for v, top in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


def _lowest_corner(floors: Floors, aim: float) -> Array | None:
    """The corner with the lowest probability; None where there are too many to look at."""
    share = floors.share
    for exactly in (False, True):
        corners = floors.corners(exactly)
        if corners is None:
            return None
        if len(corners):
            lowest_one = corners[int(share.margin(share.heat * corners).argmin())]
            if exactly or float(share.margin(share.heat * lowest_one)) < aim:
                return np.asarray(lowest_one)
    return None


def floors_for(
    problem: RobustProblem,
    share: Share,
    x: Array,
    radius: float,
    aim: float,
    clock: Clock,
    known: Sequence[Array] = (),
) -> Floors | None:
    """Floors that prove a margin of at least ``aim`` on the ball; None where none were found.

    ``known``: errors that floors have to allow for, though an adversary may miss them.
    """
    ball, members = problem.ball, _around(problem, share, x, radius)
    there = [[float(problem.requirements[r].margin(x + d)) for r in share.members] for d in known]
    worst = min([worst_of_share(problem, share, x, radius)[0].margin, *map(float, map(share.margin, there))])
    if not worst > aim:
        return None

    def least(weights: Array) -> float:
        G = _mixed(members, weights)
        value = float(G(lowest(G.matrix, G.vector, ball.norm, radius)[0]))
        return min([value, *(float(weights @ np.array(values)) for values in there)])

    room = ROOM * (worst - aim)
    values = np.array([least(unit) for unit in np.eye(len(members))])
    little = np.log(room / share.heat)  # compared with the sum that is allowed, exp(-aim / heat)
    idle = (aim - GENEROUS * values) / share.heat <= np.log(HARDLY) + little
    found = Floors(share, np.where(idle, GENEROUS * values, np.maximum(values - room, 0.0)))
    counts = (aim - found.members) / share.heat > np.log(LITTLE) + little
    while True:
        corner = _lowest_corner(found, aim)
        if corner is None:
            return None
        if float(share.margin(share.heat * corner)) >= aim + SPARE * share.heat:
            return found
        clock.check()
        weights = truncated(np.where(counts, share.weights(share.heat * corner), 0.0))
        floor = least(weights) - room if weights.any() else -np.inf
        above = floor - share.heat * entropy(weights)
        if above < 0 or weights @ corner * share.heat >= floor - 0.01 * room:
            return None  # an error was missed, or the mixture would not take the corner away
        found.mixtures.append((weights, above))


def _around(problem: RobustProblem, share: Share, x: Array, radius: float) -> list[Quadratic]:
    """The members as functions of the ball's own coordinates, around a point."""
    ball = problem.ball
    at = x + radius * ball.centre
    return [problem.requirements[r].margin.in_coordinates(ball.basis, at) for r in share.members]


def _margin(share: Share, members: Sequence[Quadratic], w: Array) -> float:
    return float(share.margin([float(G(w)) for G in members]))


def _mixed(members: Sequence[Quadratic], weights: Array) -> Quadratic:
    some = [G.scaled(float(w)) for G, w in zip(members, weights, strict=True) if w > 0]
    return sum(some[1:], some[0])
