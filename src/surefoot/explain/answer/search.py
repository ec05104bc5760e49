"""A search by one of the methods: from a problem to an Answer."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.ask.methods import Settings
from surefoot.problem.answer import Answer, Round
from surefoot.problem.family import Family
from surefoot.problem.geometry import dual_exponent, lp_norm
from surefoot.problem.robust_problem import RobustProblem
from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.certified import certificate, certified_states, proven_robustness
from surefoot.search.certified.clock import Clock
from surefoot.search.paper.backends import choose_backend
from surefoot.search.paper.cutting_set import cutting_set
from surefoot.search.paper.enumeration import each_state, each_way
from surefoot.search.paper.formulations import MilpFormulation, QcqpFormulation
from surefoot.search.paper.formulations.formulation import Formulation
from surefoot.search.paper.rays import ray_point
from surefoot.status import Status

Array = NDArray[np.float64]

PATIENCE = 2.0  # seconds for the radius of a factual about which nothing was searched
# Seconds for what is said of a point although the time is over. Ten times as long would overrun every limit.
GRACE = 0.25
# Share of the time that is kept for the proof that a point withstands the budget, where time is up. Ten times
# as much would leave nothing to search with; a tenth, and such points are said to withstand nothing.
KEPT = 0.1
# Seconds that such a proof usually takes with dozens of features, and the share that may be kept for them.
# With a tenth, few changes found in little time are not shown to be enough; more than half is not needed.
USUAL, MOST_KEPT = 1.0, 0.5


def search(method: str, problem: Family, settings: Settings) -> Answer:
    """Run a method."""
    limit = settings.options.time_limit
    if method == "certified":
        clock, proves = Clock(limit), not (problem.ball.is_point or problem.shares)
        kept = max(KEPT * limit, min(MOST_KEPT * limit, USUAL)) if proves else 0.0
        found = certified_states(problem, settings.options.gap, limit - kept)
        return _withstanding(problem, found, max(clock.left, GRACE))

    def run(posed: RobustProblem, seconds: float) -> Answer:
        return each_way(posed, lambda case, left: _paper(method, case, settings.within(left)), seconds)

    found = each_state(problem, run, limit) if problem.choices else run(problem.problem(), limit)
    return found if found.certificate is not None else replace(found, certificate=certificate(problem.here))


def _withstanding(family: Family, found: Answer, seconds: float) -> Answer:
    """A point at which time was up, with as much of the budget as can be proved in the seconds left."""
    if found.point is None or found.certificate is None or found.status is not Status.TIME_LIMIT:
        return found
    posed = family.problem(found.state or None)
    if found.radius >= posed.budget or posed.ball.is_point or posed.shares:
        return found
    robust = proven_robustness(posed, found.point, seconds)
    if robust.radius <= found.radius:
        return found
    held = {**found.certificate, "robustness": robust.to_dict(), "worst": robust.worst.tolist()}
    return replace(found, radius=robust.radius, worst=robust.worst, certificate=held)


def at_factual(problem: RobustProblem, time_limit: float) -> Answer:
    """The answer where nothing needs to change, with the largest radius that can be proved in time."""
    return _judged(problem, Answer(Status.ALREADY_TARGET, problem.factual), min(PATIENCE, time_limit))


def _paper(method: str, problem: RobustProblem, settings: Settings) -> Answer:
    """One of the paper's methods."""
    paper = settings.paper
    backend, tol = choose_backend(method, paper.backend), _tolerance(problem, paper.tol)
    place = (problem, backend, settings.options)
    if method == "qcqp":
        return _cutting(problem, settings, QcqpFormulation(*place, tol), tol)
    segments = (paper.n_segments, paper.contraction)
    return _cutting(problem, settings, MilpFormulation(*place, *settings.percentiles, *segments, tol), tol)


def _cutting(problem: RobustProblem, settings: Settings, formulation: Formulation, tol: float) -> Answer:
    """The paper's cutting-set procedure; an interrupt keeps the rounds that are done."""
    rounds: list[Round] = []
    limit, start = settings.options.time_limit, time.perf_counter()
    most = settings.paper.max_iterations
    try:
        rounds.extend(cutting_set(problem, formulation, tol=tol, time_limit=limit, max_iterations=most))
    except KeyboardInterrupt:
        bound = rounds[-1].lower_bound if rounds else 0.0
        rounds.append(Round(np.inf, bound, np.inf, None, 0.0, 0.0, status=Status.INTERRUPTED))
    left = max(limit - (time.perf_counter() - start), GRACE)
    status, final = _result(problem, rounds, settings.paper.tol, left)
    point = None if final is None else final.candidate
    answer = Answer(
        status,
        point,
        rounds[-1].lower_bound,
        rounds=tuple(rounds),
        backend=formulation.backend,
        advice=f"Solver: {rounds[-1].message}" if point is None and rounds[-1].message else "",
    )
    return _judged(problem, answer, patience=min(10.0 if status is Status.OPTIMAL else 1.0, left))


def _judged(problem: RobustProblem, answer: Answer, patience: float) -> Answer:
    """An answer with a point of the paper's methods, and what can be proved about its perturbations.

    An interrupt leaves the point without a proof, so that nobody waits for the last digit of a radius.
    """
    if answer.point is None:
        return replace(answer, certificate=certificate(problem))
    try:
        robust = proven_robustness(problem, answer.point, patience)
    except KeyboardInterrupt:
        return replace(answer, status=Status.INTERRUPTED, certificate=certificate(problem))
    proof = certificate(problem, robustness=robust)
    return replace(answer, radius=robust.radius, worst=robust.worst, certificate=proof)


def _tolerance(problem: RobustProblem, tol: float) -> float:
    """The paper's epsilon, lowered where it would cost more than a hundredth of the ball.

    Across a small ball H changes little: with a budget of 0.01 a violation of 0.001 may be two per
    cent of that. Exact masters leave violations far below it anyway; relaxed ones use up what they get.
    """
    if problem.ball.is_point:
        return tol
    near = ray_point(problem, [np.zeros(problem.n_features)])
    point = problem.factual if near is None else near
    slopes = [r.margin.gradient(point) @ problem.ball.basis for r in problem.requirements if r.robust]
    sizes = [float(lp_norm(slope, dual_exponent(problem.ball.norm))) for slope in slopes]
    change = problem.budget * min(sizes, default=0.0)
    return min(tol, max(0.01 * change, 1e-3 * tol)) if change > 0 else tol


def _result(
    problem: RobustProblem, rounds: list[Round], tol: float, seconds: float
) -> tuple[Status, Round | None]:
    """The status and the round whose candidate is returned.

    A finished search returns its last candidate. One that was cut short returns the least violated
    candidate that does reach the target, if there is one: a point of a relaxation need not.
    """
    last = rounds[-1]
    status = last.status or Status.FAILED
    if status is Status.OPTIMAL:
        return status, last
    if not status.is_cut_short:
        return status, None
    reached = [r for r in rounds if r.candidate is not None and problem.margin(r.candidate) >= -tol]
    if not reached:
        return status.without_point, None
    each = min(PATIENCE, seconds / len(reached))

    def violation(r: Round) -> float:
        assert r.candidate is not None
        return worst_perturbation(problem, r.candidate, time_limit=each).violation

    return status.with_point, min(reached, key=violation)
