"""The certified search from a problem to an answer: a point, its bound, and what proves both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.answer import Answer, Round
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified.active import renumbered, searched_by_need
from surefoot.search.certified.changes import DEEPEST
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.currency import exchanged_search
from surefoot.search.certified.noise import INSIDE
from surefoot.search.certified.polish import polish
from surefoot.search.certified.prices import coordinates
from surefoot.search.certified.proof import proof_of
from surefoot.search.certified.robustness import (
    BreachError,
    Robustness,
    largest,
    prove,
    worst_decision,
    worst_perturbation,
)
from surefoot.search.certified.search import Search, allowance
from surefoot.search.certified.space import MANY, MAX_CROSS, whitened
from surefoot.search.certified.subsets import Subsets
from surefoot.status import Status
from surefoot.threads import one_blas_thread

Array = NDArray[np.float64]

WEAK = (
    f"With norm 1 and more than {MAX_CROSS} features whose odds bend there is no bound that comes near: ask "
    "with norm 2 or inf, or let fewer features change."
)
DEEP = (
    f"A proof of at most so many changes among more than {DEEPEST} features may be nested too deeply to be "
    "written: let fewer features change."
)
GRACE = 0.25  # seconds that proofs of robustness may take after the time limit, all points together
SHORTEST = 0.05  # and one of them at least
LAST = 0.1  # and those for a bound that leaves sets of values aside


def certified_search(problem: RobustProblem, gap: float, time_limit: float) -> Answer:
    """Nearest robust counterfactual with a proof, up to a relative gap.

    Parameters
    ----------
    problem : RobustProblem
    gap : float
        Relative, between the distance of the point and the proven bound.
    time_limit : float
        Seconds; then the best point and bound so far are returned.
    """
    clock = Clock(time_limit)
    with one_blas_thread():
        return exchanged_search(problem, gap, lambda posed: searched(posed, gap, clock))


def proven_robustness(problem: RobustProblem, point: Array, time_limit: float) -> Robustness:
    """What is proven about the perturbations of any point: the budget, or the largest radius that can be.

    Parameters
    ----------
    problem : RobustProblem
    point : array of shape (n,)
    time_limit : float
        Seconds.
    """
    with one_blas_thread():
        clock = Clock(time_limit)
        if problem.ball.is_point:
            return Robustness(0.0, 0.0, *_worst(problem, point))
        try:
            return prove(problem, point, problem.budget, Clock(0.8 * time_limit))
        except BreachError as breach:
            return largest(problem, point, clock, below=float(problem.ball.size(breach.perturbation)))
        except OutOfTimeError:
            return largest(problem, point, clock, below=problem.budget)


def is_robust(problem: RobustProblem, point: Array, time_limit: float) -> bool:
    """Whether it is proven that a point of the domain is a robust counterfactual.

    Parameters
    ----------
    problem : RobustProblem
    point : array of shape (n,)
    time_limit : float
        Seconds.
    """
    if problem.margin(point) < 0 or problem.ball.is_point:
        return problem.margin(point) >= 0
    with one_blas_thread():
        try:
            return prove(problem, point, problem.budget, Clock(time_limit)).radius >= problem.budget
        except (BreachError, OutOfTimeError):
            return False


def certificate(
    problem: RobustProblem, bound: dict[str, Any] | None = None, robustness: Robustness | None = None
) -> dict[str, Any]:
    """What proves an answer, in the format of docs/certificate.md."""
    ball = problem.ball
    same = ball.basis.shape == problem.metric.matrix.shape and bool(ball.noisy.all())
    if problem.metric.is_cost:  # D belongs to single features: it is never the ball's
        same = not ball.noisy.any()
    held = {
        "format": "surefoot-certificate",
        "version": 4 if problem.shares else 3,
        "metric": problem.metric.matrix.tolist(),
        "ball": None if same or ball.is_box else ball.matrix.tolist(),
        "bound": bound,
        "states": None,
        "robustness": None if robustness is None else robustness.to_dict(),
        "worst": None if robustness is None else robustness.worst.tolist(),
    }
    return {**held, "mixtures": []} if problem.shares else held


def searched(
    problem: RobustProblem,
    gap: float,
    clock: Clock,
    judged: RobustProblem | None = None,
    known: Subsets | None = None,
) -> Answer:
    """The answer to a problem; robustness is proved for ``judged``, by default the same problem.

    ``known``: a search of the problem that goes on where it ended.
    """
    posed = problem if judged is None else judged
    discrete = problem.domain.sets or problem.domain.limits
    if discrete and len(problem.requirements) > MANY:
        return _by_need(problem, gap, clock, posed)
    return _searched_with_all(problem, gap, clock, posed, known)


def _searched_with_all(
    problem: RobustProblem, gap: float, clock: Clock, posed: RobustProblem, known: Subsets | None = None
) -> Answer:
    """The answer to a problem with all its requirements at once."""
    search = search_of(problem, gap, clock) if known is None else known
    robust = None
    try:
        status = search.run()
        while search.points.best is not None:
            polish(search.points, search.bound + allowance(gap, search.points.distance))
            point = cast(Array, search.points.point)
            try:
                robust = _robust(posed, point, clock)
                break
            except BreachError as breach:
                start, robust = search.points.best, None
                inside = INSIDE * breach.perturbation  # certificates allow no scenario outside the ball
                search.discard(breach.requirement, search.space.matrix @ inside)
                status = search.run(start)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED if search.points.best is not None else Status.INTERRUPTED.without_point
    found = _answer(problem, search, status, robust)
    return _at_least_relaxed(found, problem, gap) if status.is_cut_short and problem.domain.sets else found


def _at_least_relaxed(found: Answer, problem: RobustProblem, gap: float) -> Answer:
    """An answer that ran out of time, with the bound of the same problem without sets where that is more.

    Whatever is proved without sets holds with them; and while regions are open, a tree proves little. What
    can be proved without limits is known by then, with sets; without either it takes little time.
    """
    relaxed = replace(problem, domain=replace(problem.domain.relaxed(), limits=()))
    search = search_of(relaxed, gap, Clock(LAST))
    try:
        search.run()
    except KeyboardInterrupt:
        return found
    if not search.bound > found.lower_bound or found.certificate is None:
        return found
    held = {**found.certificate, "bound": bound_document(relaxed, search)}
    return replace(found, lower_bound=search.bound, certificate=held)


def as_it_is(problem: RobustProblem, clock: Clock) -> Answer | None:
    """The answer that the numbers may stay as they are; None where that is not proved."""
    now = problem.factual
    if problem.margin(now) < 0 or not problem.domain.contains(now):
        return None
    try:
        robust = _robust(problem, now, clock)
    except BreachError:
        return None
    if robust.radius < problem.budget and not problem.ball.is_point:
        return None
    return Answer(
        status=Status.OPTIMAL,
        point=now,
        radius=robust.radius,
        worst=robust.worst,
        certificate=certificate(problem, None, robust),
        backend="clarabel",
    )


def _by_need(problem: RobustProblem, gap: float, clock: Clock, posed: RobustProblem) -> Answer:
    """The answer to a problem with many requirements, few of which decide."""
    found, active, spare = searched_by_need(problem, gap, clock, posed, _searched_with_all)
    assert found.certificate is not None
    bound = renumbered(found.certificate["bound"], active)
    if found.status is not Status.INFEASIBLE:
        for point in (found.point, spare):
            try:
                if point is not None:
                    return _with_point(found, point, problem, bound, _robust(posed, point, clock))
            except BreachError:  # time was up before it was known which requirements decide
                found = replace(found, status=Status.TIME_LIMIT)
    status = found.status.without_point if found.status is not Status.INFEASIBLE else found.status
    return replace(
        found, status=status, point=None, radius=0.0, worst=None, certificate=certificate(problem, bound)
    )


def _with_point(
    found: Answer, point: Array, problem: RobustProblem, bound: dict[str, Any] | None, robust: Robustness
) -> Answer:
    complete = found.point is point and (robust.radius >= problem.budget or problem.ball.is_point)
    return replace(
        found,
        status=found.status.with_point if complete else Status.TIME_LIMIT,
        point=point,
        lower_bound=min(found.lower_bound, problem.distance(point)),
        radius=robust.radius,
        worst=robust.worst,
        certificate=certificate(problem, bound, robust),
    )


def _robust(problem: RobustProblem, point: Array, clock: Clock) -> Robustness:
    """The budget, proved; where time is short, the largest radius that can be."""
    if problem.ball.is_point:
        return Robustness(0.0, 0.0, *_worst(problem, point))
    left = max(clock.left, GRACE + min(clock.left, 0.0), SHORTEST)
    try:
        return prove(problem, point, problem.budget, Clock(0.7 * left))
    except OutOfTimeError:
        return largest(problem, point, Clock(0.3 * left), below=problem.budget)


def _worst(problem: RobustProblem, point: Array) -> tuple[Array, float]:
    """The worst perturbation found, and what it violates by; with shares that of the decision."""
    return worst_decision(problem, point) if problem.shares else worst_perturbation(problem, point)[:2]


def robust_or_none(problem: RobustProblem, point: Array, clock: Clock) -> Robustness | None:
    """What is proven about the perturbations of a point; None where one undoes it."""
    try:
        return _robust(problem, point, clock)
    except BreachError:
        return None


def search_of(problem: RobustProblem, gap: float, clock: Clock) -> Search | Subsets:
    """The search for a problem: with limits over all choices of features that may change."""
    limited = problem.domain.limits
    return Subsets(problem, gap, clock) if limited else Search(whitened(problem), gap, clock)


def _answer(
    problem: RobustProblem, search: Search | Subsets, status: Status, robust: Robustness | None
) -> Answer:
    points = search.points
    rounds = _rounds(search)
    proof = bound_document(problem, search)  # first: what is not written in time is not proven
    if isinstance(search, Subsets) and search.unwritten and not status.is_cut_short:
        found = points.best is not None
        status = Status.TIME_LIMIT if found else Status.TIME_LIMIT.without_point
    bound = np.inf if status is Status.INFEASIBLE else search.bound
    point = points.point
    radius = 0.0 if robust is None else robust.radius
    if (
        point is not None
        and radius < problem.budget
        and not problem.ball.is_point
        and status is Status.OPTIMAL
    ):
        status = Status.TIME_LIMIT  # the bound is proven, the robustness is not
    if status is Status.OPTIMAL and bound < points.distance - 1.01 * allowance(search.gap, points.distance):
        status = Status.PRECISION_LIMIT  # whatever the search thinks: the numbers say that it is not done
    return Answer(
        status=status,
        point=point,
        lower_bound=bound,
        radius=radius,
        worst=None if robust is None else robust.worst,
        rounds=rounds,
        certificate=certificate(problem, proof, robust),
        backend="clarabel",
        advice=_advice(search) if status.with_point is Status.BOUND_LIMIT else "",
    )


def _advice(search: Search | Subsets) -> str:
    """Why the bound cannot be raised any further, and what may help."""
    return DEEP if isinstance(search, Subsets) and search.too_deep else WEAK


def bound_document(problem: RobustProblem, search: Search | Subsets) -> dict[str, Any]:
    """What proves the bound of a search, in the format of docs/certificate.md."""
    if isinstance(search, Subsets):
        return search.proof(lambda v: _perturbation(problem, v))
    return proof_of(search.space, search.proof, search.scenarios, lambda v: _perturbation(problem, v))


def _perturbation(problem: RobustProblem, v: Array) -> Array:
    """A scenario's shift of u in features: to the last digit zero if they land exactly, and inside a box."""
    ball = problem.ball
    found = np.where(ball.noisy, coordinates(problem.metric)[1] @ v, 0.0)
    if not ball.is_box:
        return found
    middle, half = ball.radius * ball.centre, ball.radius * np.abs(ball.basis).sum(axis=1)
    return np.clip(found, middle - half, middle + half)


def _rounds(search: Search | Subsets) -> tuple[Round, ...]:
    """All rounds with the last one, in the features' units."""
    if isinstance(search, Subsets):
        search.record()
        return tuple(search.rounds)
    search.points.record(search.bound)
    return tuple(_in_features(r, search) for r in search.points.rounds)


def _in_features(r: Round, search: Search) -> Round:
    """A round of the search with its point and perturbation in the features' units."""
    return replace(
        r,
        candidate=None if r.candidate is None else search.space.x(r.candidate),
        perturbation=None if r.perturbation is None else search.space.inverse @ r.perturbation,
    )
