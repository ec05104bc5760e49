"""The paper's MILP: every product in H replaced by its piecewise McCormick envelope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.search.paper.backends import solve
from surefoot.search.paper.formulations.formulation import (
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
from surefoot.search.paper.formulations.mccormick import Pair, add_products
from surefoot.search.paper.formulations.tightening import Tightening, within
from surefoot.search.paper.program import Index, Options, Program, ProgramBuilder
from surefoot.search.paper.rays import ray_point, reach
from surefoot.status import Status
from surefoot.waist.problem import RobustProblem
from surefoot.waist.quadratic import Quadratic

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MilpFormulation:
    """Relaxed master with bound tightening, relaxed adversary with fixed segments.

    Parameters
    ----------
    problem : RobustProblem
        With norm 1 or infinity; the 2-norm is not linear.
    backend : str
    options : Options
    low, high : arrays
        Initial bounds of the features where no counterfactual is known yet (the paper: 5th and 95th
        percentiles), widened to hold the factual.
    n_segments, contraction : int, float
        The paper's m and nu.
    tol : float
        The paper's epsilon.
    """

    problem: RobustProblem
    backend: str
    options: Options
    low: Array
    high: Array
    n_segments: int = 20
    contraction: float = 0.5
    tol: float = 1e-3

    def __post_init__(self) -> None:
        if self.problem.norm == 2:
            raise ProblemError("method='milp' needs norm 1 or infinity; the 2-norm is not linear")
        if not 0 < self.contraction < 1:
            raise ProblemError(f"contraction must lie strictly between 0 and 1, not {self.contraction!r}")
        if self.n_segments < 1:
            raise ProblemError(f"n_segments must be at least 1, not {self.n_segments!r}")

    def aim(self, level: int) -> float:
        """How far above the threshold the master aims: not at all at first, then half the tolerance.

        Envelopes err on the lenient side. This way what is left of their error mostly costs distance,
        and that only a hair, instead of coverage. The first master must prove something about the
        problem as it was posed.
        """
        return 0.0 if level == 1 else 0.5 * self.tol

    def master(
        self, scenarios: Sequence[Array], previous: Array | None, iteration: int, time_limit: float
    ) -> MasterAnswer:
        """Solve the relaxed master in this iteration's bounds.

        They shrink around a point that satisfies all scenarios (found on the ray through the last
        candidate) rather than around the candidate itself, which may not: so the master stays feasible.
        """
        level = 1 if previous is None else iteration
        known = ray_point(self.problem, scenarios, previous, above=self.aim(level))
        centre = previous if known is None else known
        program = self.master_program(scenarios, distance_bound(self.problem, known), centre, level)
        outcome = solve(program, within_time(self.options, time_limit), self.backend)
        candidate = None
        if outcome.values is not None:
            x = self.problem.factual + self.problem.unit * outcome.values[: self.problem.n_features]
            candidate = np.clip(x, self.problem.domain.low, self.problem.domain.high)
        # Only bounds that hold everything nearer than a known point prove anything about the optimum.
        bound = norm_bound(outcome.bound, self.problem.norm) if level == 1 and known is not None else 0.0
        status, message = outcome.status, outcome.message
        proved = level == 1 and known is None and self._bounds_are_the_domain()
        if status is Status.INFEASIBLE and not proved:
            status, message = Status.FAILED, "the relaxation is empty within its bounds, which proves nothing"
        return MasterAnswer(status, candidate, bound, outcome.seconds, message)

    def _bounds_are_the_domain(self) -> bool:
        return bool(np.isfinite([self.problem.domain.low, self.problem.domain.high]).all())

    def adversary(self, candidate: Array, time_limit: float) -> AdversaryAnswer:
        """Solve the relaxed adversary for every rival; its perturbation is judged on the true H.

        A perturbation that does no harm on the true H proves nothing: other ones might. Then the relaxed
        bound must be small as well, or the segments are halved until it is.
        """
        answers: list[Solved] = []
        undecided = 0.0
        for rival in range(len(self.problem.margins)) if self.problem.budget > 0 else ():
            for m in (self.n_segments * 2**k for k in range(5)):
                left = time_limit - sum(seconds for _, _, seconds, _ in answers)
                program = self.adversary_program(candidate, rival, m)
                outcome = solve(program, within_time(self.options, left, 0.1 * self.tol), self.backend)
                delta = None
                if outcome.values is not None:
                    delta = (
                        self.problem.budget * self.problem.unit * outcome.values[: self.problem.n_features]
                    )
                answers.append((outcome.status, delta, outcome.seconds, outcome.message))
                found = -np.inf if delta is None else float(self.problem.violation(candidate, delta)[0])
                if delta is None or found > self.tol or -outcome.bound <= self.tol:
                    break
            else:
                undecided = max(undecided, -outcome.bound)
        answer = worst_of(self.problem, candidate, answers)
        return replace(answer, violation=max(answer.violation, undecided)) if undecided > 0 else answer

    def master_program(
        self, scenarios: Sequence[Array], most: float, centre: Array | None, level: int
    ) -> Program:
        """Relaxed MP in z = (x - factual) / unit, within the distance ``most``."""
        problem = self.problem
        grids = self._master_grids(most, centre, level)
        builder = ProgramBuilder()
        z = builder.variables(
            problem.n_features, np.array([g[0] for g in grids]), np.array([g[-1] for g in grids])
        )
        add_norm(builder, scaled_metric(problem), z, problem.norm, most)
        for H in problem.margins:
            G = H.in_coordinates(np.diag(problem.unit), problem.factual)
            products, factors = _product_terms(builder, z, grids, G, sign=1.0)
            steps = np.array(scenarios) / problem.unit
            slopes = 2 * steps @ G.matrix + G.vector
            offsets = np.einsum("ij,ij->i", steps @ G.matrix + G.vector, steps) + G.constant
            rows = np.hstack([slopes, np.broadcast_to(factors, (len(steps), len(factors)))])
            needed = problem.log_odds_threshold + self.aim(level) - offsets
            builder.linear(rows, np.concatenate([z, products]), needed, np.inf)
        return builder.build()

    def adversary_program(self, candidate: Array, rival: int, n_segments: int) -> Program:
        """Relaxed AP in e = d / (budget * unit): min H(candidate + d) - tau'."""
        problem = self.problem
        builder = ProgramBuilder()
        step = problem.budget * problem.unit
        G = problem.margins[rival].in_coordinates(np.diag(step), candidate)
        extent = problem.ball.feature_extent() / step
        e = builder.variables(problem.n_features, -extent, extent)
        h = builder.variables(1, -np.inf, np.inf, cost=1.0)
        add_unit_ball(builder, scaled_metric(problem), e, problem.norm)
        grids = [np.linspace(-a, a, n_segments + 1) for a in extent]
        products, factors = _product_terms(builder, e, grids, G, sign=-1.0)
        row = np.concatenate([[1.0], -G.vector, -factors])[None]
        at_rest = G.constant - problem.log_odds_threshold
        builder.linear(row, np.concatenate([h, e, products]), at_rest, np.inf)
        return builder.build()

    def _master_grids(self, most: float, centre: Array | None, iteration: int) -> list[Array]:
        """Segments of this iteration, in z.

        With a counterfactual in hand, nothing farther than it is of interest: the box around the factual
        that holds everything nearer also holds the optimum, so it takes the place of the percentiles.
        """
        problem = self.problem
        if np.isfinite(most):
            low, high = problem.factual - reach(problem, most), problem.factual + reach(problem, most)
        elif self._bounds_are_the_domain():
            low, high = problem.domain.low, problem.domain.high
        else:
            low, high = np.minimum(self.low, problem.factual), np.maximum(self.high, problem.factual)
        grids = Tightening(low, high, self.n_segments, self.contraction).grids(iteration, centre)
        return [
            (within(grid, problem.domain.low[j], problem.domain.high[j]) - problem.factual[j])
            / problem.unit[j]
            for j, grid in enumerate(grids)
        ]


def _product_terms(
    builder: ProgramBuilder, x: Index, grids: Sequence[Array], G: Quadratic, sign: float
) -> tuple[Index, Array]:
    """Variables for all products of G, and their coefficients; ``sign`` is that of G in a ">=" row."""
    i, j = np.nonzero(np.triu(G.matrix))
    factors = np.where(i == j, 1.0, 2.0) * G.matrix[i, j]
    pairs: list[Pair] = [(int(a), int(b)) for a, b in zip(i, j, strict=True)]
    wanted = {pair: sign * factor for pair, factor in zip(pairs, factors, strict=True)}
    products = add_products(builder, x, grids, wanted)
    return np.array([products[pair] for pair in pairs], dtype=int), factors
