"""The methods: from a RobustProblem to an Answer."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.formats import suggestion
from surefoot.plain import refuse_huge
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
from surefoot.search.paper.program import Options
from surefoot.search.paper.rays import ray_point
from surefoot.status import Status

Array = NDArray[np.float64]

GAPS = {"certified": 1e-3, "qcqp": 1e-2, "milp": 1e-2}
SMALLEST_GAP = 1e-6  # of the certified method; ten times less is what rounding leaves of its bounds
PATIENCE = 2.0  # seconds for the radius of a factual about which nothing was searched
# Seconds for what is said of a point although the time is over. Ten times as long would overrun every limit.
GRACE = 0.25
# Share of the time that is kept for the proof that a point withstands the budget, where time is up. Ten times
# as much would leave nothing to search with; a tenth, and such points are said to withstand nothing.
KEPT = 0.1
# Seconds that such a proof usually takes with dozens of features, and the share that may be kept for them.
# With a tenth, few changes found in little time are not shown to be enough; more than half is not needed.
USUAL, MOST_KEPT = 1.0, 0.5
MOST_THREADS = 1024  # of a solver; ten times as many help nobody


@dataclass(frozen=True)
class Qcqp:
    """The paper's nonconvex QCQP, as a method of `CounterfactualExplainer`.

    Parameters
    ----------
    backend : {"scip", "gurobi"}, optional
        Default: the best open-source solver that is installed.
    tol : float, default=0.001
        The paper's epsilon: largest violation accepted at the end. Lowered by itself where it would cost
        more than a hundredth of the ball.
    max_iterations : int, default=200
    threads : int, default=0
        0 leaves the choice to the solver.
    verbose : bool, default=False
        Show the solver's log.

    Examples
    --------
    >>> Qcqp(backend="scip").name
    'qcqp'
    """

    backend: str | None = None
    tol: float = 1e-3
    max_iterations: int = 200
    threads: int = 0
    verbose: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            refuse_huge(field.name, getattr(self, field.name), ProblemError)
        check_positive("tol", self.tol)
        check_positive("max_iterations", self.max_iterations, whole=True)
        if not self.tol <= 1:
            raise ProblemError(f"tol must be at most 1 in log-odds, not {self.tol!r}")
        if not isinstance(self.threads, Integral) or not 0 <= self.threads <= MOST_THREADS:
            raise ProblemError(f"threads must be an integer from 0 to {MOST_THREADS}, not {self.threads!r}")

    name: ClassVar[str] = "qcqp"  # the method in one word


@dataclass(frozen=True)
class Milp(Qcqp):
    """The paper's piecewise McCormick MILP, as a method of `CounterfactualExplainer`.

    Parameters
    ----------
    backend : {"highs", "scip", "gurobi"}, optional
    tol, max_iterations, threads, verbose
        As in `Qcqp`.
    n_segments, contraction : int, float
        The paper's m and nu.

    Examples
    --------
    >>> Milp(n_segments=10).name
    'milp'
    """

    name: ClassVar[str] = "milp"
    n_segments: int = 20
    contraction: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("n_segments", self.n_segments, whole=True)
        check_positive("contraction", self.contraction)
        if not self.contraction < 1:
            raise ProblemError(f"contraction must lie between 0 and 1, not {self.contraction!r}")


def chosen_method(method: Any, old: Mapping[str, Any]) -> tuple[str, Milp]:
    """The method in one word, and options of the paper's methods; old names of these give a warning."""
    known = {field.name for field in fields(Milp)}
    wrong = [name for name in old if name not in known]
    if wrong:
        hint = suggestion(wrong[0], sorted(known))
        raise TypeError(f"CounterfactualExplainer got an unexpected keyword argument {wrong[0]!r}{hint}")
    own, word = (vars(method), method.name) if isinstance(method, Qcqp) else ({}, method)
    if not isinstance(word, str) or word not in GAPS:
        words = ", ".join(map(repr, GAPS))
        raise ProblemError(f"method must be one of {words}, or a Qcqp or Milp, not {method!r}")
    if word == "certified" and old.get("backend") is not None:
        raise ProblemError(
            f"the certified method needs no backend; {old['backend']!r} is for 'qcqp' or 'milp'"
        )
    if old:
        say = "Milp" if word == "milp" else "Qcqp"
        listed = ", ".join(f"{name}={value!r}" for name, value in old.items())
        warnings.warn(f"write method={say}({listed})", DeprecationWarning, stacklevel=4)
    return word, Milp(**{**own, **old})


def as_method(word: str, options: Milp) -> str | Qcqp:
    """The inverse of `chosen_method`, with current names."""
    if word == "qcqp":
        return Qcqp(**{field.name: getattr(options, field.name) for field in fields(Qcqp)})
    return word if word == "certified" else options


def check_positive(name: str, value: Any, whole: bool = False) -> None:
    """Refuse what is no positive number."""
    kind = Integral if whole else Real
    if not isinstance(value, kind) or isinstance(value, bool) or not float(value) > 0:
        raise ProblemError(f"{name} must be a positive {'integer' if whole else 'number'}, not {value!r}")


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of a method."""

    options: Options  # time limit, gap, threads and verbosity
    paper: Milp  # options of the paper's methods
    percentiles: tuple[Array, Array]  # 5th and 95th, of the features: where the MILP starts to look

    def within(self, seconds: float) -> Settings:
        """The same with so many seconds."""
        return replace(self, options=replace(self.options, time_limit=max(seconds, 0.0)))


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
