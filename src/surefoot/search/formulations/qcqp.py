"""The paper's nonconvex QCQP: master and adversary, stated so that scenarios cost one linear row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.problem import RobustProblem
from surefoot.search.backends import solve
from surefoot.search.formulations.formulation import (
    AdversaryAnswer,
    MasterAnswer,
    Solved,
    add_norm,
    add_unit_ball,
    distance_bound,
    norm_bound,
    scaled_metric,
    within_time,
    worst_of,
)
from surefoot.search.program import Index, Options, Program, ProgramBuilder, QuadraticRow
from surefoot.search.rays import ray_point, reach

Array = NDArray[np.float64]


@dataclass(frozen=True)
class QcqpFormulation:
    """min ||M (x - factual)||_p  s.t.  H(x) + w >= tau',  w <= l_d(x) for every scenario d.

    H(x + d) = H(x) + l_d(x) with l_d affine, so all scenarios share one quadratic. Variables are
    changes in units of standard deviations, which is the paper's program up to units.

    Parameters
    ----------
    problem : RobustProblem
    backend : str
    options : Options
    tol : float
        The paper's epsilon; the adversary need not be more exact than a tenth of it.
    """

    problem: RobustProblem
    backend: str
    options: Options
    tol: float = 1e-3

    def master(
        self, scenarios: Sequence[Array], previous: Array | None, iteration: int, time_limit: float
    ) -> MasterAnswer:
        """Solve the master problem; neither previous candidate nor iteration matter here."""
        del previous, iteration
        program = master_program(self.problem, scenarios)
        outcome = solve(program, within_time(self.options, time_limit), self.backend)
        values = outcome.values
        candidate = None
        if values is not None:
            x = self.problem.factual + self.problem.unit * values[: self.problem.n_features]
            candidate = np.clip(x, self.problem.domain.low, self.problem.domain.high)
        bound = norm_bound(outcome.bound, self.problem.norm)
        return MasterAnswer(outcome.status, candidate, bound, outcome.seconds, outcome.message)

    def adversary(self, candidate: Array, time_limit: float) -> AdversaryAnswer:
        """Solve the adversary for every rival and take the worst."""
        answers: list[Solved] = []
        for rival in range(len(self.problem.margins)) if self.problem.budget > 0 else ():
            program = adversary_program(self.problem, candidate, rival)
            left = time_limit - sum(seconds for _, _, seconds, _ in answers)
            outcome = solve(program, within_time(self.options, left, 0.1 * self.tol), self.backend)
            delta = None
            if outcome.values is not None:
                delta = self.problem.budget * self.problem.unit * outcome.values[: self.problem.n_features]
            answers.append((outcome.status, delta, outcome.seconds, outcome.message))
        return worst_of(self.problem, candidate, answers)


def master_program(problem: RobustProblem, scenarios: Sequence[Array]) -> Program:
    """MP over the scenarios, in z = (x - factual) / unit."""
    builder = ProgramBuilder()
    low = (problem.domain.low - problem.factual) / problem.unit
    high = (problem.domain.high - problem.factual) / problem.unit
    most = distance_bound(problem, ray_point(problem, scenarios))
    farthest = reach(problem, most) / problem.unit
    z = builder.variables(problem.n_features, np.maximum(low, -farthest), np.minimum(high, farthest))
    add_norm(builder, scaled_metric(problem), z, problem.norm, most)
    for rival in range(len(problem.margins)):
        _margin_rows(builder, problem, z, scenarios, rival)
    return builder.build()


def _margin_rows(
    builder: ProgramBuilder, problem: RobustProblem, z: Index, scenarios: Sequence[Array], rival: int
) -> None:
    H = problem.margins[rival].in_coordinates(np.diag(problem.unit), problem.factual)
    steps = np.array(scenarios) / problem.unit
    slopes = 2 * steps @ H.matrix
    offsets = np.einsum("ij,ij->i", steps @ H.matrix + H.vector, steps)
    w = builder.variables(1, -np.inf, np.inf)
    columns = np.append(z, w)
    builder.linear(np.column_stack([-slopes, np.ones(len(steps))]), columns, -np.inf, offsets)
    row = QuadraticRow(
        z, H.matrix, columns, np.append(H.vector, 1.0), low=problem.log_odds_threshold - H.constant
    )
    builder.quadratic(row)


def adversary_program(problem: RobustProblem, candidate: Array, rival: int) -> Program:
    """AP: min h  s.t.  H(candidate + d) - tau' <= h  in e = d / (budget * unit), ||M d||_p <= budget."""
    builder = ProgramBuilder()
    step = problem.budget * problem.unit
    H = problem.margins[rival].in_coordinates(np.diag(step), candidate)
    extent = problem.ball.feature_extent() / step
    e = builder.variables(problem.n_features, -extent, extent)
    spread = np.abs(H.vector) @ extent + extent @ np.abs(H.matrix) @ extent
    at_rest = H.constant - problem.log_odds_threshold
    h = builder.variables(1, at_rest - spread, at_rest + spread, cost=1.0)
    add_unit_ball(builder, scaled_metric(problem), e, problem.norm)
    builder.quadratic(QuadraticRow(e, H.matrix, np.append(e, h), np.append(H.vector, -1.0), high=-at_rest))
    return builder.build()
