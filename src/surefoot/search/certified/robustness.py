"""Proofs that no perturbation within a radius undoes a point, and the largest radius that has one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from surefoot.problem.geometry import Ball
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.problem.share import Share
from surefoot.search.certified.adversary import deepened, lowest
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.interior import SAFETY
from surefoot.search.certified.local import Step
from surefoot.search.certified.proof import SPARE, affine, proof_of, slopes_to_corners
from surefoot.search.certified.region import MONOTONE
from surefoot.search.certified.search import Search
from surefoot.search.certified.shares import WorstShare, floors_for, mixture, worst_of_share
from surefoot.search.certified.space import Space, around
from surefoot.search.certified.units import in_units

Array = NDArray[np.float64]

NUDGES = (1e-6, 1e-3, 0.05)  # shares added to the multipliers of the worst perturbation, to make them strict
# How near the proven margin must come to the worst one found: in log-odds, or as a share of what the ball
# takes away.
NEARLY, SHARE = 1e-2, 0.02
WIDEST = 400  # coordinates: for p = 1 with more of them one product takes the place of all cross terms
HALVINGS = 30
MISSES = 5  # errors that an adversary missed and a proof found, before floors are given up
MOST = 1e6  # radii beyond this many standard deviations are not told apart from infinite ones


@dataclass(frozen=True, eq=False)
class Robustness:
    """What is proven about the perturbations of a point.

    Parameters
    ----------
    radius : float
        Within it every robust requirement is kept; proven by ``proofs``.
    slack : float
        And the margins of odds stay at least so far above zero.
    worst : array
        The worst perturbation found within the budget, in the features' units.
    violation : float
        How much it violates: -g there, over all robust requirements.
    proofs : list of dict
    floors : list of float, optional
        With shares: what each proof shows to be the least of its requirement.
    mixtures : list of (int, list of float)
        With shares: what the last of the proofs are about, each a share's number with weights.
    """

    radius: float
    slack: float
    worst: Array
    violation: float
    proofs: list[dict[str, Any]] = field(default_factory=list)
    floors: list[float] | None = None
    mixtures: list[tuple[int, list[float]]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any] | None:
        """The certificate's part; None where nothing is proven."""
        if self.radius <= 0:
            return None
        found = {"radius": self.radius, "slack": self.slack, "proofs": self.proofs}
        if self.floors is None:
            return found
        return {**found, "floors": self.floors, "mixtures": mixture_entries(self.mixtures)}


def mixture_entries(mixtures: Sequence[tuple[int, Sequence[float]]]) -> list[dict[str, Any]]:
    """Mixtures as the certificate lists them."""
    return [{"share": number, "weights": [float(w) for w in weights]} for number, weights in mixtures]


class BreachError(Exception):
    """A perturbation within the radius violates a requirement.

    Parameters
    ----------
    requirement : int
    perturbation : array
        In the features' units.
    """

    def __init__(self, requirement: int, perturbation: Array) -> None:
        super().__init__(f"requirement {requirement} is violated")
        self.requirement, self.perturbation = requirement, perturbation


class _Worst(NamedTuple):
    """The lowest margin found of a requirement within a radius, and where: as d, and as w in the ball."""

    value: float
    perturbation: Array
    margin: Quadratic
    w: Array
    radius: float


def worst_perturbation(problem: RobustProblem, x: Array) -> tuple[Array, float, int]:
    """The worst perturbation found within the budget, what it violates by, and which requirement."""
    found = _worst_of_each(problem, x)
    r = min(range(len(found)), key=lambda r: found[r].value)
    return found[r].perturbation, -found[r].value, r


def worst_margins(problem: RobustProblem, x: Array) -> Array:
    """The lowest margin found within the budget, of each requirement."""
    return np.array([found.value for found in _worst_of_each(problem, x)])


def _worst_of_each(problem: RobustProblem, x: Array) -> list[_Worst]:
    radii = [problem.radius_of(requirement) for requirement in problem.requirements]
    return [_worst(problem, r, x, radius) for r, radius in enumerate(radii)]


def _worst(problem: RobustProblem, r: int, x: Array, radius: float) -> _Worst:
    G = _margin(problem, r, x, radius)
    w = _lowest(G, problem.ball, radius)
    d = problem.ball.perturbation(w, radius)
    return _Worst(float(problem.requirements[r].margin(x + d)), d, G, w, radius)


def prove(problem: RobustProblem, x: Array, radius: float, clock: Clock) -> Robustness:
    """Prove that a point withstands a radius; raises `BreachError` or `OutOfTimeError` where it does not."""
    if problem.shares:
        return _prove_shares(problem, x, radius, clock)
    worst, violation, found = _worst_decision(problem, x)
    lowest_of_all = min(range(len(found)), key=lambda r: found[r].value)
    if found[lowest_of_all].value < 0 and radius >= problem.budget:
        raise BreachError(lowest_of_all, found[lowest_of_all].perturbation)
    lost = _odds_margin(problem, x) + violation
    allowed = max(NEARLY * _heat(problem), SHARE * lost)
    slack = 0.0 if -violation <= allowed else -violation - 0.9 * allowed
    robust = [r for r, requirement in enumerate(problem.requirements) if requirement.robust]
    worsts = {r: found[r] if found[r].radius == radius else _worst(problem, r, x, radius) for r in robust}
    for aim in (slack, 0.0) if slack > 0 else (0.0,):
        try:
            proofs = [
                _proof(problem, r, known, aim if problem.requirements[r].decides else 0.0, clock)
                for r, known in worsts.items()
            ]
            return Robustness(radius, aim, worst, violation, proofs)
        except BreachError:
            if aim == 0:
                raise
    raise AssertionError("unreachable")


def _prove_shares(problem: RobustProblem, x: Array, radius: float, clock: Clock) -> Robustness:
    """The same where probabilities among all classes are asked for: each requirement has its own floor."""
    found = _worst_of_each(problem, x)
    worsts = [(share, _worst_share(problem, share, x)) for share in problem.shares]
    breach = min((one for _, one in worsts), key=lambda one: one.margin)
    if min(breach.margin, *(one.value for one in found)) < 0 and radius >= problem.budget:
        raise BreachError(-1, breach.perturbation)
    share, worst = min(
        (pair for pair in worsts if pair[0].decides), key=lambda pair: pair[1].margin, default=worsts[0]
    )
    here = [float(problem.requirements[r].margin(x)) for r in share.members]
    lost = float(share.margin(here)) - worst.margin
    allowed = max(NEARLY * share.heat, SHARE * lost)
    slack = 0.0 if worst.margin <= allowed else worst.margin - 0.9 * allowed
    for aim in (slack, 0.0) if slack > 0 else (0.0,):
        try:
            proved = _proved_floors(problem, x, radius, aim, clock)
        except BreachError:
            proved = None
        if proved is not None:
            return Robustness(radius, aim, worst.perturbation, -worst.margin, *proved)
    raise OutOfTimeError


def _worst_share(problem: RobustProblem, share: Share, x: Array) -> WorstShare:
    """The worst found within the budget."""
    return worst_of_share(problem, share, x, problem.ball.radius if share.robust else 0.0)[0]


Proved = tuple[list[dict[str, Any]], list[float], list[tuple[int, list[float]]]]


def _proved_floors(
    problem: RobustProblem, x: Array, radius: float, aim: float, clock: Clock, known: tuple[Array, ...] = ()
) -> Proved | None:
    """Proofs of floors that prove every share, with these floors; and the mixtures that some are about.

    Where a floor is too high since the adversary missed an error, the search for its proof finds that error.
    """
    try:
        return _floors_and_proofs(problem, x, radius, aim, clock, known)
    except BreachError as breach:
        if len(known) >= MISSES:
            raise
        return _proved_floors(problem, x, radius, aim, clock, (*known, breach.perturbation))


def _floors_and_proofs(
    problem: RobustProblem, x: Array, radius: float, aim: float, clock: Clock, known: tuple[Array, ...]
) -> Proved | None:
    floors = dict.fromkeys((r for r, one in enumerate(problem.requirements) if one.robust), 0.0)
    mixtures: list[tuple[int, list[float]]] = []
    lows: list[float] = []
    for number, share in enumerate(problem.shares):
        if not share.robust:
            continue
        plan = floors_for(problem, share, x, radius, aim if share.decides else 0.0, clock, known)
        if plan is None:
            return None
        floors |= dict(zip(share.members, plan.members.tolist(), strict=True))
        mixtures += [(number, weights.tolist()) for weights, _ in plan.mixtures]
        lows += [low for _, low in plan.mixtures]
    blends = tuple(Requirement(mixture(problem, problem.shares[n], np.array(w))) for n, w in mixtures)
    posed = replace(problem, requirements=(*problem.requirements, *blends), shares=())
    listed = [*floors.items(), *enumerate(lows, len(problem.requirements))]
    proofs = [_proof(posed, r, _worst(posed, r, x, radius), floor, clock) for r, floor in listed]
    return proofs, [floor for _, floor in listed], mixtures


def _heat(problem: RobustProblem) -> float:
    """How much of the decision's margins is one unit of log-odds."""
    return min((r.heat for r in problem.requirements if r.decides), default=1.0)


def _odds_margin(problem: RobustProblem, x: Array) -> float:
    """The lowest margin of the decision at the point itself."""
    return min((float(r.margin(x)) for r in problem.requirements if r.robust and r.decides), default=0.0)


def worst_decision(problem: RobustProblem, x: Array) -> tuple[Array, float]:
    """The worst perturbation found within the budget for the decision, and what it violates by."""
    if not problem.shares:
        return _worst_decision(problem, x)[:2]
    shares = [s for s in problem.shares if s.decides] or list(problem.shares)
    worst = min((_worst_share(problem, share, x) for share in shares), key=lambda one: one.margin)
    return worst.perturbation, -worst.margin


def _worst_decision(problem: RobustProblem, x: Array) -> tuple[Array, float, list[_Worst]]:
    """The worst perturbation found for the decision, what it violates by; and the worst of each."""
    found = _worst_of_each(problem, x)
    pairs = zip(found, problem.requirements, strict=True)
    worst = min((f for f, r in pairs if r.decides), key=lambda f: f.value, default=found[0])
    return worst.perturbation, -worst.value, found


def largest(problem: RobustProblem, x: Array, clock: Clock, below: float = np.inf) -> Robustness:
    """The largest radius that can be proved in the time, up to a small share of it."""
    worst, violation = worst_decision(problem, x)
    best = Robustness(0.0, 0.0, worst, violation)
    if problem.ball.basis.shape[1] == 0:
        return best
    low, high = 0.0, min(below, problem.budget if problem.budget > 0 else 0.01)
    try:
        while high < min(below, MOST) or low == 0:
            proved = _attempted(problem, x, high, clock)
            if proved is None:
                break
            low, best, high = high, proved, min(2 * high, below)
            if low >= min(below, MOST):
                return best
        for _ in range(HALVINGS):
            if high - low <= 1e-4 * high:
                break
            middle = 0.5 * (low + high)
            proved = _attempted(problem, x, middle, clock)
            low, high, best = (middle, high, proved) if proved else (low, middle, best)
    except OutOfTimeError:
        pass
    return best


def _attempted(problem: RobustProblem, x: Array, radius: float, clock: Clock) -> Robustness | None:
    try:
        return prove(problem, x, radius, Clock(min(clock.left, 1.0)))
    except BreachError:
        return None
    except OutOfTimeError:
        clock.check()
        return None


def _margin(problem: RobustProblem, r: int, x: Array, radius: float) -> Quadratic:
    """Requirement r as a function of the ball's own coordinates w, around a point."""
    ball = problem.ball
    return problem.requirements[r].margin.in_coordinates(ball.basis, x + radius * ball.centre)


def _lowest(G: Quadratic, ball: Ball, radius: float) -> Array:
    if radius == 0 or G.n_features == 0:
        return np.zeros(G.n_features)
    return lowest(G.matrix, G.vector, ball.norm, radius)[0]


def _proof(problem: RobustProblem, r: int, known: _Worst, slack: float, clock: Clock) -> dict[str, Any]:
    """A tree that refutes every perturbation of the radius at which requirement r is below the slack."""
    ball, radius, w = problem.ball, known.radius, known.w
    G = known.margin - slack if slack else known.margin
    if G(w) < 0:
        raise BreachError(r, ball.perturbation(w, radius))
    proof = _at_once(G, w, ball.norm, radius)
    if proof is None:
        space = around(G, ball.norm)
        search = Search(space, 1e-6, clock)
        if ball.norm == np.inf:  # with monotone coordinates at their ends the same multipliers may do
            search.points.local_optimum = _stationary(space, G, w, radius), [0]
        if not search.refute(radius):
            if search.points.best is None:
                raise OutOfTimeError
            w = deepened(G.matrix, G.vector, search.points.best, ball.norm, radius)
            raise BreachError(r, ball.perturbation(w, radius))
        proof = proof_of(space, search.root, [(0, np.zeros(space.n))])
    return _in_features(proof, problem)


def _at_once(G: Quadratic, w: Array, norm: float, radius: float) -> dict[str, Any] | None:
    """A single leaf with the multipliers of the worst perturbation, or None where they do not do.

    For p = infinity they may do where monotone coordinates sit in their worst corner.
    """
    found = _strict(G, w, norm, radius)
    if found is not None:
        return _leaf(radius, found.weights, found.cross if norm == 1 else None, G.gradient(w))
    return _in_corners(G, w, radius) if norm == np.inf else None


class _Strict(NamedTuple):
    """Weights of the norm, A, and what is left of -G: negative everywhere, at most ``most``."""

    weights: Array
    cross: Array
    most: float


def _strict(G: Quadratic, w: Array, norm: float, radius: float) -> _Strict | None:
    """Multipliers of the worst perturbation, nudged until they are strict; None where that does not do.

    With A >= 0 from the optimum's conditions, G(w) + w'Aw - radius^2 sum A is lowest at the worst
    perturbation; where that is positive and Q + A definite, so is G within the radius.
    """
    slope = G.gradient(w)
    A, weights, cost = _multipliers(slope, w, norm, radius)
    size = float(np.abs(G.matrix).sum(axis=1).max(initial=0.0)) + float(np.abs(slope).max()) / radius
    half, n_norm = 0.5 * G.vector, len(weights)
    for nudge in (*NUDGES, None):
        if nudge is None:  # what the multipliers lack, paid for by the whole norm
            lacking = max(-float(np.linalg.eigvalsh(G.matrix + A)[0]), 0.0)
            extra = np.full(n_norm, 1.001 * lacking + 1e-6 * size)
        else:
            extra = nudge * (weights + 1e-3 * size)
        factor, info = dpotrf(G.matrix + A + np.diag(np.broadcast_to(extra, len(w))), lower=1)
        if info:
            continue
        spent = cost + radius**2 * float(extra.sum())
        most = spent - G.constant + float(half @ dpotrs(factor, half, lower=1)[0])
        if most < -SAFETY * (spent + abs(G.constant)):
            return _Strict(weights + extra, A, most)
    return None


def _in_corners(G: Quadratic, w: Array, radius: float) -> dict[str, Any] | None:
    """The same for p = infinity with every monotone coordinate at its worst end, by one product for each.

    Where that does not do, products of two others' distances from their worst ends may help.
    """
    corners = _worst_ends(G, radius)
    at = np.zeros(len(w))
    at[list(corners)] = list(corners.values())
    free = np.flatnonzero(at == 0)
    rest = Quadratic(G.matrix[np.ix_(free, free)], G.gradient(at)[free], float(G(at)))
    nothing_left = _Strict(np.zeros(0), rest.matrix, -rest.constant)
    found = _strict(rest, w[free], np.inf, radius) if len(free) else nothing_left
    P = np.zeros((len(free), len(free)))
    if found is None:
        P = _pairs(rest, w[free], radius)
        found = _strict(rest - _paired(P, w[free], radius), w[free], np.inf, radius)
    if found is None or not found.most < -SAFETY * (abs(G.constant) + abs(rest.constant)):
        return None
    weights = np.full(len(w), SPARE * abs(found.most) / (max(len(corners), 1) * radius**2))
    weights[free] = found.weights
    ends = {**corners, **dict(zip(free.tolist(), w[free].tolist(), strict=True))}
    room = {k: ["a", radius, [[k, -math.copysign(1.0, end)]]] for k, end in ends.items()}  # up to its end
    products: list[list[Any]] = []
    for k, constant, slopes in slopes_to_corners(-G.matrix, -G.vector, corners):
        sign = math.copysign(1.0, ends[k])
        products.append([1.0, room[k], affine(sign * constant, sign * slopes)])
    for i, j in np.argwhere(np.triu(P)).tolist():
        products.append([2 * float(P[i, j]), room[int(free[i])], room[int(free[j])]])
    return _tree(radius, weights, products=products)


def _pairs(G: Quadratic, w: Array, radius: float) -> Array:
    """What pulls coordinates away from the corner w together, and helps without being definite.

    With t = radius - sign(w) w, G has the mixed terms M_ij t_i t_j; where M_ij > 0 it may be left out.
    """
    signs = np.sign(w)
    M = np.outer(signs, signs) * G.matrix
    np.fill_diagonal(M, 0.0)
    return np.maximum(M, 0.0) if (np.abs(w) >= radius * (1 - 1e-9)).all() else np.zeros_like(M)


def _paired(P: Array, w: Array, radius: float) -> Quadratic:
    """The sum t'Pt as a function of the coordinates."""
    signs = np.sign(w)
    pulled = P.sum(axis=1)
    return Quadratic(np.outer(signs, signs) * P, -2 * radius * signs * pulled, radius**2 * pulled.sum())


def _worst_ends(G: Quadratic, radius: float) -> dict[int, float]:
    """The ends at which coordinates are worst wherever those not named before them are."""
    at, free = np.zeros(G.n_features), np.ones(G.n_features, dtype=bool)
    sizes = 2 * MONOTONE * radius * np.abs(G.matrix)
    corners: dict[int, float] = {}
    while free.any():
        slope = G.gradient(at)
        settled = free & (np.abs(slope) > sizes @ free)
        if not settled.any():
            break
        at[settled] = -radius * np.sign(slope[settled])
        free &= ~settled
        corners |= {int(k): float(at[k]) for k in np.flatnonzero(settled)}
    return corners


def _multipliers(slope: Array, w: Array, norm: float, radius: float) -> tuple[Array, Array, float]:
    """A, the norm's weights, and what the level costs, for which the worst perturbation is stationary."""
    n = len(w)
    if norm == np.inf:
        at_edge = np.abs(w) >= radius * (1 - 1e-9)
        a = np.where(at_edge, np.maximum(-slope * np.sign(w), 0.0), 0.0) / (2 * radius)
        return np.diag(a), a, radius**2 * float(a.sum())
    if norm == 2:
        a = np.array([max(0.0, -float(slope @ w)) / (2 * radius**2)])
        return float(a[0]) * np.eye(n), a, radius**2 * float(a[0])
    steepest = float(np.abs(slope).max(initial=0.0))
    inside = np.abs(w).sum() < radius * (1 - 1e-9) or steepest == 0
    weight = 0.0 if inside else steepest / (2 * radius)
    s = np.zeros(n) if inside else -slope / steepest
    A = weight * np.outer(s, s)
    if n <= WIDEST:  # every diagonal entry may be as large as the norm's weight
        np.fill_diagonal(A, weight)
    return A, np.array([weight if n <= WIDEST else 0.0]), radius**2 * weight


def _stationary(space: Space, G: Quadratic, w: Array, radius: float) -> Step:
    """The worst perturbation as a local optimum of the search for one at which G is not above zero."""
    _, weights, _ = _multipliers(G.gradient(w), w, np.inf, radius)
    nothing = np.zeros(len(space.directions))
    return Step(w, 0.0, np.ones(1), 2 * radius * weights, nothing, np.zeros(len(w)))


def _leaf(radius: float, weights: Array, A: Array | None, slope: Array) -> dict[str, Any]:
    """The certificate's leaf: for p = 1 with cross terms, or with one product instead of too many."""
    n = len(slope)
    if A is not None and n <= WIDEST:
        return _tree(
            radius, weights, cross=[[i, j, float(A[i, j])] for j in range(n) for i in range(j) if A[i, j]]
        )
    if A is not None and A.any():
        s = -slope / float(np.abs(slope).max())
        largest_product = [float(A.diagonal().max()), affine(radius, s), affine(radius, -s)]
        return _tree(radius, weights, products=[largest_product])
    return _tree(radius, weights)


def _tree(
    radius: float, weights: Array, cross: Sequence[Any] = (), products: Sequence[Any] = ()
) -> dict[str, Any]:
    """A certificate's tree of a single leaf."""
    leaf = {
        "level": radius,
        "norm": weights.tolist(),
        "cross": list(cross),
        "products": list(products),
        "requirements": [[1.0, 0, -1]],
        "between": [],
    }
    return {"directions": [], "scenarios": [], "tree": leaf}


def _in_features(proof: dict[str, Any], problem: RobustProblem) -> dict[str, Any]:
    """The proof in the certificate's coordinates: for a budget by feature, the features themselves."""
    ball = problem.ball
    if not ball.is_box:
        return proof
    half = ball.basis[ball.noisy].diagonal()
    return {**in_units(proof, half, 1 / half**2), "scenarios": []}


def box_proofs(problem: RobustProblem, x: Array, clock: Clock) -> list[dict[str, Any]]:
    """A proof for each requirement that it holds on a whole box around a point: the problem's ball.

    Raises `BreachError` or `OutOfTimeError` where there is none.
    """
    every = range(len(problem.requirements))
    return [_proof(problem, r, _worst(problem, r, x, problem.budget), 0.0, clock) for r in every]
