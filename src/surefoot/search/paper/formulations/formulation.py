"""What a formulation offers to the cutting-set loop, whatever it is made of."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.problem.geometry import Ball, lp_norm
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.paper.backends import solve
from surefoot.search.paper.landing import landed
from surefoot.search.paper.program import Index, Options, Outcome, Program, ProgramBuilder, QuadraticRow
from surefoot.status import Status

Array = NDArray[np.float64]


class Solved(NamedTuple):
    """What one adversary found."""

    status: Status
    perturbation: Array | None
    seconds: float
    message: str


@dataclass(frozen=True, eq=False)
class MasterAnswer:
    """A candidate and a bound on what any candidate for these scenarios can reach."""

    status: Status
    candidate: Array | None
    lower_bound: float
    seconds: float
    message: str


@dataclass(frozen=True, eq=False)
class AdversaryAnswer:
    """The perturbation that violates most, its violation on the true g, and what the solver says of it."""

    status: Status
    perturbation: Array
    violation: float
    seconds: float
    message: str


class Formulation(Protocol):
    """Solves the paper's MP and AP in some way."""

    @property
    def backend(self) -> str:
        """Name of the solver."""

    def master(
        self, scenarios: Sequence[Array], previous: Array | None, iteration: int, time_limit: float
    ) -> MasterAnswer:
        """Solve the master problem over the scenarios."""

    def adversary(self, candidate: Array, time_limit: float) -> AdversaryAnswer:
        """Find the worst perturbation of a candidate."""


def add_norm(
    builder: ProgramBuilder, matrix: Array, variables: Index, p: float, most: float = np.inf
) -> None:
    """Minimise ||matrix x||_p <= most; for p = 2 its square, which keeps the program quadratic."""
    n = len(matrix)
    if p == 2:
        y = builder.variables(n, -np.inf, np.inf)
        builder.linear(np.hstack([matrix, -np.eye(n)]), np.append(variables, y), 0.0, 0.0)
        square = builder.variables(1, 0.0, most**2, cost=1.0)
        builder.quadratic(QuadraticRow(y, np.eye(n), square, np.array([-1.0]), high=0.0))
        return
    size = builder.variables(1 if p == np.inf else n, 0.0, most, cost=1.0)
    if p == 1 and np.isfinite(most):
        builder.linear(np.ones((1, n)), size, -np.inf, most)
    spread = np.ones((n, 1)) if p == np.inf else np.eye(n)
    columns = np.append(variables, size)
    builder.linear(np.hstack([matrix, -spread]), columns, -np.inf, 0.0)
    builder.linear(np.hstack([matrix, spread]), columns, 0.0, np.inf)


def add_unit_ball(builder: ProgramBuilder, matrix: Array, variables: Index, p: float) -> None:
    """||matrix x||_p <= 1, of variables that are bounded by what that implies for each."""
    n = len(matrix)
    plain = np.array_equal(matrix, np.eye(n))
    if p == np.inf:
        if not plain:  # else the bounds say it all
            builder.linear(matrix, variables, -1.0, 1.0)
        return
    if p == 2 and plain:
        builder.quadratic(QuadraticRow(variables, np.eye(n), np.zeros(0, dtype=int), np.zeros(0), high=1.0))
        return
    if p == 2:
        y = builder.variables(n, -1.0, 1.0)
        builder.linear(np.hstack([matrix, -np.eye(n)]), np.append(variables, y), 0.0, 0.0)
        builder.quadratic(QuadraticRow(y, np.eye(n), np.zeros(0, dtype=int), np.zeros(0), high=1.0))
        return
    size = builder.variables(n, 0.0, 1.0)
    columns = np.append(variables, size)
    builder.linear(np.hstack([matrix, -np.eye(n)]), columns, -np.inf, 0.0)
    builder.linear(np.hstack([matrix, np.eye(n)]), columns, 0.0, np.inf)
    builder.linear(np.ones((1, n)), size, -np.inf, 1.0)


def refuse_unknown(problem: RobustProblem, method: str) -> None:
    """Refuse what the paper's programs cannot say."""
    asked = {
        "if-then rules": problem.domain.eithers,
        "limits on how many features change": problem.domain.limits,
    }
    for name, there in asked.items():
        if there:
            raise ProblemError(f"method='{method}' cannot take {name}; use method='certified'")


def attacked(problem: RobustProblem) -> list[int]:
    """The numbers of the requirements that a perturbation can violate."""
    if problem.ball.is_point:
        return []
    return [r for r, requirement in enumerate(problem.requirements) if requirement.robust]


def worst_of(problem: RobustProblem, candidate: Array, answers: Sequence[Solved]) -> AdversaryAnswer:
    """Of all adversaries' perturbations the one that violates most, judged on the true g."""
    found = [answer.perturbation for answer in answers if answer.perturbation is not None]
    found.append(np.zeros(problem.n_features))
    violations = problem.violation(candidate, np.array(found))
    worst = int(violations.argmax())
    status = next((a.status for a in answers if a.status is not Status.OPTIMAL), Status.OPTIMAL)
    message = "; ".join(answer.message for answer in answers)
    seconds = sum(answer.seconds for answer in answers)
    return AdversaryAnswer(status, found[worst], float(violations[worst]), seconds, message)


def in_ball(ball: Ball, w: Array) -> Array:
    """The perturbation of the ball's coordinates w, which a solver may leave outside by its tolerance."""
    if ball.norm == np.inf:
        return ball.perturbation(np.clip(w, -ball.radius, ball.radius))
    size = float(lp_norm(w, ball.norm))
    return ball.perturbation(w * (ball.radius / size) if size > ball.radius else w)


def master_answer(problem: RobustProblem, outcome: Outcome, bound: float) -> MasterAnswer:
    """The master's answer from its program's: the point put exactly into the domain, or a failure."""
    answer = MasterAnswer(outcome.status, None, bound, outcome.seconds, outcome.message)
    if outcome.values is None:
        return answer
    x = landed(problem, problem.factual + problem.unit * outcome.values[: problem.n_features])
    if not problem.domain.contains(x):
        return replace(answer, status=Status.FAILED, message="the solver's point misses a row of the domain")
    return replace(answer, candidate=x)


def norm_bound(bound: float, p: float) -> float:
    """Bound on the distance from a bound on what `add_norm` minimises."""
    floor = max(bound, 0.0)
    return float(np.sqrt(floor)) if p == 2 else floor


def scaled_metric(problem: RobustProblem) -> Array:
    """M in units of the features' standard deviations."""
    return problem.whitening.matrix * problem.unit


def distance_bound(problem: RobustProblem, point: Array | None) -> float:
    """Distance of a known feasible point, with some room for solvers' tolerances, or infinity."""
    return np.inf if point is None else 1.001 * problem.distance(point) + 1e-6


def noise_unit(ball: Ball) -> Array:
    """Length of the ball's rows: the natural unit of each feature that does not land exactly."""
    return np.asarray(lp_norm(ball.basis[ball.noisy], 2))


def in_time(
    state: Callable[[ProgramBuilder], Program], backend: str, options: Options, deadline: float
) -> Outcome:
    """State a program and solve it, both before the deadline."""
    try:
        program = state(ProgramBuilder(deadline))
    except TimeoutError as error:
        return Outcome.out_of_time(0.0, str(error))
    left = max(0.0, min(options.time_limit, deadline - time.perf_counter()))
    return solve(program, replace(options, time_limit=left), backend)
