"""What a formulation offers to the cutting-set loop, whatever it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from surefoot.search.paper.program import Index, Options, ProgramBuilder, QuadraticRow
from surefoot.status import Status
from surefoot.waist.problem import RobustProblem

Array = NDArray[np.float64]
Solved = tuple[Status, Array | None, float, str]  # status, perturbation, seconds, message


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
    """The perturbation that violates most, its violation on the true H, and what the solver says of it."""

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


def worst_of(problem: RobustProblem, candidate: Array, answers: Sequence[Solved]) -> AdversaryAnswer:
    """Of the rivals' adversaries the one that violates most, judged on the true H inside the ball."""
    statuses = [status for status, _, _, _ in answers]
    seconds = sum(part for _, _, part, _ in answers)
    found = [_into_ball(problem, delta) for _, delta, _, _ in answers if delta is not None]
    found.append(np.zeros(problem.n_features))
    violations = problem.violation(candidate, np.array(found))
    worst = int(violations.argmax())
    status = next((s for s in statuses if s is not Status.OPTIMAL), Status.OPTIMAL)
    message = "; ".join(text for _, _, _, text in answers)
    return AdversaryAnswer(status, found[worst], float(violations[worst]), seconds, message)


def _into_ball(problem: RobustProblem, delta: Array) -> Array:
    """Pull a point that a solver left outside by its tolerance back onto the ball."""
    size = float(problem.ball.size(delta))
    return delta * (problem.budget / size) if size > problem.budget else delta


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


def within_time(options: Options, time_limit: float, absolute_gap: float | None = None) -> Options:
    """The options with at most this much time, and another absolute gap if one is given."""
    gap = options.absolute_gap if absolute_gap is None else absolute_gap
    return replace(options, time_limit=max(0.0, min(options.time_limit, time_limit)), absolute_gap=gap)
