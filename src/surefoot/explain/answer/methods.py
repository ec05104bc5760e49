"""The methods: from a RobustProblem to an Answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.answer import Answer, Round
from surefoot.problem.family import Family
from surefoot.problem.geometry import dual_exponent, lp_norm
from surefoot.problem.robust_problem import RobustProblem
from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.certified import certificate, certified_search, certified_states, proven_robustness
from surefoot.search.paper.backends import choose_backend
from surefoot.search.paper.cutting_set import cutting_set
from surefoot.search.paper.enumeration import each_state, each_way
from surefoot.search.paper.formulations import MilpFormulation, QcqpFormulation
from surefoot.search.paper.formulations.formulation import Formulation
from surefoot.search.paper.program import Options
from surefoot.search.paper.rays import ray_point
from surefoot.status import Status

Array = NDArray[np.float64]

GAPS = {"certified": 1e-3, "qcqp": 1e-2, "milp": 1e-2}
PATIENCE = 2.0  # seconds for the radius of a factual about which nothing was searched


@dataclass(frozen=True, eq=False)
class Settings:
    """What a method has to go by.

    Parameters
    ----------
    options : Options
        Time limit, gap, threads and verbosity.
    backend : str, optional
    tol : float
        The paper's epsilon.
    n_segments, contraction : int, float
        The paper's m and nu.
    max_iterations : int
    percentiles : pair of arrays
        5th and 95th percentiles of the features, where the MILP starts to look.
    """

    options: Options
    backend: str | None
    tol: float
    n_segments: int
    contraction: float
    max_iterations: int
    percentiles: tuple[Array, Array]


def search(method: str, problem: RobustProblem | Family, settings: Settings) -> Answer:
    """Run a method."""
    limit = settings.options.time_limit
    if method == "certified":
        if isinstance(problem, Family):
            return certified_states(problem, settings.options.gap, limit)
        return METHODS[method](problem, settings)

    def run(posed: RobustProblem, seconds: float) -> Answer:
        return each_way(posed, lambda case, left: METHODS[method](case, _within(settings, left)), seconds)

    found = each_state(problem, run, limit) if isinstance(problem, Family) else run(problem, limit)
    if found.certificate is not None:
        return found
    here = problem.problem(domain=problem.domain) if isinstance(problem, Family) else problem
    return replace(found, certificate=certificate(here))


def _within(settings: Settings, seconds: float) -> Settings:
    return replace(settings, options=replace(settings.options, time_limit=seconds))


def at_factual(problem: RobustProblem, time_limit: float) -> Answer:
    """The answer where nothing needs to change, with the largest radius that can be proved in time."""
    return _judged(problem, Answer(Status.ALREADY_TARGET, problem.factual), min(PATIENCE, time_limit))


def _certified(problem: RobustProblem, settings: Settings) -> Answer:
    return certified_search(problem, settings.options.gap, settings.options.time_limit)


def _qcqp(problem: RobustProblem, settings: Settings) -> Answer:
    backend = choose_backend("qcqp", settings.backend)
    tol = _tolerance(problem, settings.tol)
    return _cutting(problem, settings, QcqpFormulation(problem, backend, settings.options, tol), tol)


def _milp(problem: RobustProblem, settings: Settings) -> Answer:
    backend = choose_backend("milp", settings.backend)
    tol = _tolerance(problem, settings.tol)
    formulation = MilpFormulation(
        problem,
        backend,
        settings.options,
        *settings.percentiles,
        settings.n_segments,
        settings.contraction,
        tol,
    )
    return _cutting(problem, settings, formulation, tol)


METHODS: dict[str, Callable[[RobustProblem, Settings], Answer]] = {
    "certified": _certified,
    "qcqp": _qcqp,
    "milp": _milp,
}


def _cutting(problem: RobustProblem, settings: Settings, formulation: Formulation, tol: float) -> Answer:
    """The paper's cutting-set procedure; an interrupt keeps the rounds that are done."""
    rounds: list[Round] = []
    limit = settings.options.time_limit
    try:
        rounds.extend(
            cutting_set(
                problem, formulation, tol=tol, time_limit=limit, max_iterations=settings.max_iterations
            )
        )
    except KeyboardInterrupt:
        bound = rounds[-1].lower_bound if rounds else 0.0
        rounds.append(Round(np.inf, bound, np.inf, None, 0.0, 0.0, status=Status.INTERRUPTED))
    status, final = _result(problem, rounds, settings.tol)
    point = None if final is None else final.candidate
    answer = Answer(
        status,
        point,
        rounds[-1].lower_bound,
        rounds=tuple(rounds),
        backend=formulation.backend,
        advice=f"Solver: {rounds[-1].message}" if point is None and rounds[-1].message else "",
    )
    return _judged(problem, answer, patience=10.0 if status is Status.OPTIMAL else 1.0)


def _judged(problem: RobustProblem, answer: Answer, patience: float) -> Answer:
    """An answer whose point is of another making, with what can be proved about its perturbations.

    Whoever stopped the search does not want to wait for the last digit of a radius; an interrupt leaves
    the point with nothing proven.
    """
    if answer.point is None:
        return replace(answer, certificate=certificate(problem))
    try:
        robust = proven_robustness(problem, answer.point, patience)
    except KeyboardInterrupt:
        return replace(answer, status=Status.INTERRUPTED, certificate=certificate(problem))
    return replace(
        answer,
        radius=robust.radius,
        worst=robust.worst,
        certificate=certificate(problem, robustness=robust),
    )


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


def _result(problem: RobustProblem, rounds: list[Round], tol: float) -> tuple[Status, Round | None]:
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
    reached = [
        (worst_perturbation(problem, r.candidate, time_limit=PATIENCE).violation, r)
        for r in rounds
        if r.candidate is not None and problem.margin(r.candidate) >= -tol
    ]
    if not reached:
        return status.without_point, None
    return status.with_point, min(reached, key=lambda pair: pair[0])[1]
