"""The methods: from a RobustProblem to a point with everything that is known about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.proof.worst_case import Worst, certified_radius, worst_perturbation
from surefoot.search.certified import certified_search
from surefoot.search.paper.backends import choose_backend
from surefoot.search.paper.cutting_set import Iteration, cutting_set
from surefoot.search.paper.formulations import MilpFormulation, QcqpFormulation
from surefoot.search.paper.formulations.formulation import Formulation
from surefoot.search.paper.program import Options
from surefoot.search.paper.rays import ray_point
from surefoot.status import Status
from surefoot.waist.geometry import dual_exponent, lp_norm
from surefoot.waist.problem import RobustProblem

Array = NDArray[np.float64]

GAPS = {"certified": 1e-3, "qcqp": 1e-2, "milp": 1e-2}
PATIENCE = 2.0  # seconds for the radius of a factual about which nothing was searched


@dataclass(frozen=True, eq=False)
class Settings:
    """What a method may be told.

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


@dataclass(frozen=True, eq=False)
class Found:
    """What a method found: a point or none, what is proven about it, and how it came about."""

    status: Status
    point: Array | None
    lower_bound: float
    worst: Worst | None
    radius: float
    rounds: list[Iteration] = field(default_factory=list)
    backend: str = ""
    message: str = ""
    seconds: float = 0.0
    certificate: dict[str, Any] | None = None


def search(method: str, problem: RobustProblem, settings: Settings) -> Found:
    """Run a method."""
    return METHODS[method](problem, settings)


def at_factual(problem: RobustProblem, time_limit: float) -> Found:
    """The answer where nothing needs to change.

    Whether the factual withstands the budget is asked first; how much more it withstands is not asked,
    since with dozens of features that takes seconds, and half of a batch may be such rows.
    """
    worst = worst_perturbation(problem, problem.factual)
    if worst.violation_bound <= 0:
        return Found(Status.ALREADY_TARGET, problem.factual, 0.0, worst, float(problem.budget))
    return _judged(problem, Status.ALREADY_TARGET, problem.factual, 0.0, patience=min(PATIENCE, time_limit))


def _certified(problem: RobustProblem, settings: Settings) -> Found:
    options = settings.options
    answer = certified_search(problem, options.gap, options.time_limit)
    rounds = [
        Iteration(
            number,
            None,
            None if r.u is None else problem.factual + problem.whitening.inverse @ r.u,
            r.distance,
            r.bound,
            None if r.perturbation is None else problem.whitening.inverse @ r.perturbation,
            -r.margin,
            r.seconds,
            r.adversary_seconds,
        )
        for number, r in enumerate(answer.rounds, 1)
    ]
    worst = None
    if answer.point is not None and answer.perturbation is not None:
        violation = float(problem.violation(answer.point, answer.perturbation)[0])
        worst = Worst(answer.perturbation, violation, violation)
    return Found(
        answer.status,
        answer.point,
        answer.lower_bound,
        worst,
        answer.radius,
        rounds,
        "clarabel",
        certificate=answer.certificate,
    )


def _qcqp(problem: RobustProblem, settings: Settings) -> Found:
    backend = choose_backend("qcqp", settings.backend)
    tol = _tolerance(problem, settings.tol)
    return _cutting(problem, settings, QcqpFormulation(problem, backend, settings.options, tol), tol)


def _milp(problem: RobustProblem, settings: Settings) -> Found:
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


METHODS: dict[str, Callable[[RobustProblem, Settings], Found]] = {
    "certified": _certified,
    "qcqp": _qcqp,
    "milp": _milp,
}


def _cutting(problem: RobustProblem, settings: Settings, formulation: Formulation, tol: float) -> Found:
    """The paper's cutting-set procedure; an interrupt keeps the rounds that are done."""
    rounds: list[Iteration] = []
    limit = settings.options.time_limit
    try:
        rounds.extend(
            cutting_set(
                problem, formulation, tol=tol, time_limit=limit, max_iterations=settings.max_iterations
            )
        )
    except KeyboardInterrupt:
        bound = rounds[-1].lower_bound if rounds else 0.0
        rounds.append(
            Iteration(len(rounds) + 1, Status.INTERRUPTED, None, np.inf, bound, None, np.inf, 0.0, 0.0)
        )
    status, final = _result(problem, rounds, settings.tol)
    point = None if final is None else final.candidate
    patience = 10.0 if status is Status.OPTIMAL else 1.0
    bound, backend = rounds[-1].lower_bound, formulation.backend
    return _judged(problem, status, point, bound, rounds=rounds, backend=backend, patience=patience)


def _judged(
    problem: RobustProblem,
    status: Status,
    point: Array | None,
    bound: float,
    *,
    rounds: list[Iteration] | None = None,
    backend: str = "",
    patience: float = 1.0,
) -> Found:
    """A point of another method's making with its worst perturbation and certified radius.

    Whoever stopped the search does not want to wait for the last digit of a radius; an interrupt leaves
    the point with nothing proven.
    """
    worst, radius = None, 0.0
    if point is not None:
        try:
            worst = worst_perturbation(problem, point)
            radius = certified_radius(problem, point, time_limit=patience)
        except KeyboardInterrupt:
            status, worst, radius = Status.INTERRUPTED, None, 0.0
    message = rounds[-1].message if rounds and point is None else ""
    return Found(status, point, bound, worst, radius, rounds or [], backend, message)


def _tolerance(problem: RobustProblem, tol: float) -> float:
    """The paper's epsilon, lowered where it would cost more than a hundredth of the ball.

    Across a small ball H changes little: with a budget of 0.01 a violation of 0.001 may be two per
    cent of that. Exact masters leave violations far below it anyway; relaxed ones use up what they get.
    """
    near = ray_point(problem, [np.zeros(problem.n_features)])
    point = problem.factual if near is None else near
    slopes = [H.gradient(point) @ problem.whitening.inverse for H in problem.margins]
    steepest = min(float(lp_norm(slope, dual_exponent(problem.norm))) for slope in slopes)
    change = problem.budget * steepest
    return min(tol, 0.01 * change) if change > 0 else tol


def _result(problem: RobustProblem, rounds: list[Iteration], tol: float) -> tuple[Status, Iteration | None]:
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
        (worst_perturbation(problem, r.candidate).violation, r)
        for r in rounds
        if r.candidate is not None and problem.margin(r.candidate) >= -tol
    ]
    if not reached:
        return status.without_point, None
    return status.with_point, min(reached, key=lambda pair: pair[0])[1]
