"""The paper's MILP: every product in g replaced by its piecewise McCormick envelope."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.problem.geometry import dual_exponent, lp_norm
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.paper.formulations.domain import add_domain, values_between
from surefoot.search.paper.formulations.formulation import (
    AdversaryAnswer,
    MasterAnswer,
    Solved,
    add_norm,
    add_unit_ball,
    attacked,
    distance_bound,
    in_ball,
    in_time,
    master_answer,
    noise_unit,
    norm_bound,
    refuse_unknown,
    scaled_metric,
    worst_of,
)
from surefoot.search.paper.formulations.mccormick import Pair, add_products
from surefoot.search.paper.formulations.tightening import Tightening, within
from surefoot.search.paper.pricing import in_one_matrix
from surefoot.search.paper.program import Index, Options, Outcome, Program, ProgramBuilder
from surefoot.search.paper.rays import ray_point, reach, seen_by
from surefoot.status import Status

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MilpFormulation:
    """Relaxed master with bound tightening, relaxed adversary with fixed segments.

    Parameters
    ----------
    problem : RobustProblem
        With norms 1 or infinity, of distance and ball; the 2-norm is not linear.
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
        refuse_unknown(self.problem, "milp")
        object.__setattr__(self, "problem", in_one_matrix(self.problem, "milp"))
        if self.problem.norm == 2:
            raise ProblemError("method='milp' needs norm 1 or infinity; the 2-norm is not linear")
        if self.problem.ball.norm == 2 and attacked(self.problem):
            raise ProblemError(
                "method='milp' needs a ball of norm 1 or infinity, or a budget by feature; "
                "use method='certified' or 'qcqp' for the 2-norm, which is not linear"
            )
        if not 0 < self.contraction < 1:
            raise ProblemError(f"contraction must lie strictly between 0 and 1, not {self.contraction!r}")
        if self.n_segments < 1:
            raise ProblemError(f"n_segments must be at least 1, not {self.n_segments!r}")

    def aim(self, level: int) -> float:
        """How far above the threshold the master aims: not at all at first, then half the tolerance.

        Envelopes err on the lenient side. This way what is left of their error mostly costs a very small
        distance, and not coverage. The first master must prove something about the
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
        deadline = time.perf_counter() + time_limit
        level = 1 if previous is None else iteration
        known = self._known(scenarios, previous, self.aim(level))
        centre = previous if known is None else known
        most = distance_bound(self.problem, known)
        state = partial(self.master_program, scenarios, most, centre, level)
        outcome = in_time(state, self.backend, self.options, deadline)
        # Only bounds that hold everything nearer than a known point prove anything about the optimum.
        bound = norm_bound(outcome.bound, self.problem.norm) if level == 1 and known is not None else 0.0
        answer = master_answer(self.problem, outcome, bound)
        proved = level == 1 and known is None and self._bounds_are_the_domain()
        if answer.status is Status.INFEASIBLE and not proved:
            message = "the relaxation is empty within its bounds, which proves nothing"
            return replace(answer, status=Status.FAILED, lower_bound=0.0, message=message)
        return answer

    def _known(self, scenarios: Sequence[Array], previous: Array | None, above: float) -> Array | None:
        """The nearest known point that satisfies all scenarios, on rays with any values or with the last."""
        domain = self.problem.domain
        found = [ray_point(self.problem, scenarios, previous, above)]
        if previous is not None and domain.sets:
            chosen = [s.feature for s in domain.sets]
            low, high = domain.low.copy(), domain.high.copy()
            low[chosen] = high[chosen] = previous[chosen]
            near = replace(self.problem, domain=domain.with_ends(low, high))
            found.append(ray_point(near, scenarios, previous, above))
        return min((x for x in found if x is not None), key=self.problem.distance, default=None)

    def _bounds_are_the_domain(self) -> bool:
        return bool(np.isfinite([self.problem.domain.low, self.problem.domain.high]).all())

    def adversary(self, candidate: Array, time_limit: float) -> AdversaryAnswer:
        """Solve the relaxed adversary of every robust requirement; it is judged on the true g.

        A perturbation that does no harm on the true g proves nothing: other ones might. Then the relaxed
        bound must be small as well, or the segments are halved until it is.
        """
        deadline = time.perf_counter() + time_limit
        attacks = [self._attack(candidate, number, deadline) for number in attacked(self.problem)]
        answer = worst_of(self.problem, candidate, [solved for found, _ in attacks for solved in found])
        undecided = max((left for _, left in attacks), default=0.0)
        return replace(answer, violation=max(answer.violation, undecided)) if undecided > 0 else answer

    def _attack(self, candidate: Array, number: int, deadline: float) -> tuple[list[Solved], float]:
        """Everything that was tried on a requirement, and the violation that is left undecided."""
        tried: list[Solved] = []
        options = replace(self.options, absolute_gap=0.1 * self.tol)
        for m in (self.n_segments * 2**k for k in range(5)):
            state = partial(self.adversary_program, candidate, number, m)
            outcome = in_time(state, self.backend, options, deadline)
            delta = self._perturbation(outcome)
            tried.append(Solved(outcome.status, delta, outcome.seconds, outcome.message))
            found = -np.inf if delta is None else float(self.problem.violation(candidate, delta)[0])
            if delta is None or found > self.tol or -outcome.bound <= self.tol:
                return tried, 0.0
        return tried, max(0.0, -outcome.bound)

    def _perturbation(self, outcome: Outcome) -> Array | None:
        if outcome.values is None:
            return None
        ball = self.problem.ball
        step = ball.radius * noise_unit(ball)
        return in_ball(ball, ball.matrix @ (step * outcome.values[: len(step)]))

    def master_program(
        self,
        scenarios: Sequence[Array],
        most: float,
        centre: Array | None,
        level: int,
        builder: ProgramBuilder | None = None,
    ) -> Program:
        """Relaxed MP in z = (x - factual) / unit, within the distance ``most``."""
        problem = self.problem
        in_features = self._master_grids(most, centre, level)
        grids = [(grid - problem.factual[j]) / problem.unit[j] for j, grid in enumerate(in_features)]
        builder = builder or ProgramBuilder()
        z = builder.variables(
            problem.n_features, np.array([g[0] for g in grids]), np.array([g[-1] for g in grids])
        )
        add_norm(builder, scaled_metric(problem), z, problem.norm, most)
        for requirement in problem.requirements:
            G = requirement.margin.in_coordinates(np.diag(problem.unit), problem.factual)
            products, factors = _product_terms(builder, z, grids, G, sign=1.0)
            steps = seen_by(requirement, scenarios) / problem.unit
            slopes = 2 * steps @ G.matrix + G.vector
            offsets = np.einsum("ij,ij->i", steps @ G.matrix + G.vector, steps) + G.constant
            rows = np.hstack([slopes, np.broadcast_to(factors, (len(steps), len(factors)))])
            builder.linear(rows, np.concatenate([z, products]), self.aim(level) - offsets, np.inf)
        ends = np.array([[grid[0], grid[-1]] for grid in in_features]).T
        add_domain(builder, problem, z, *ends)
        return builder.build()

    def adversary_program(
        self, candidate: Array, rival: int, n_segments: int, builder: ProgramBuilder | None = None
    ) -> Program:
        """Relaxed AP in e, the noisy features' d - r c in units of the ball: min g(candidate + d)."""
        ball, builder = self.problem.ball, builder or ProgramBuilder()
        unit = noise_unit(ball)
        step = ball.radius * unit
        basis = np.zeros(ball.basis.shape)
        basis[ball.noisy] = np.diag(step)
        middle = candidate + ball.radius * ball.centre
        G = self.problem.margins[rival].in_coordinates(basis, middle)
        extent = ball.radius * np.asarray(lp_norm(ball.basis[ball.noisy], dual_exponent(ball.norm))) / step
        e = builder.variables(len(step), -extent, extent)
        h = builder.variables(1, -np.inf, np.inf, cost=1.0)
        add_unit_ball(builder, ball.matrix * unit, e, ball.norm)
        grids = [np.linspace(-a, a, n_segments + 1) for a in extent]
        products, factors = _product_terms(builder, e, grids, G, sign=-1.0)
        row = np.concatenate([[1.0], -G.vector, -factors])[None]
        builder.linear(row, np.concatenate([h, e, products]), G.constant, np.inf)
        return builder.build()

    def _master_grids(self, most: float, centre: Array | None, iteration: int) -> list[Array]:
        """Segments of this iteration, in the features' units.

        With a counterfactual in hand, nothing farther than it is of interest: the box around the factual
        that holds everything nearer also holds the optimum, so it takes the place of the percentiles.
        Where a feature takes few values, these are the ends of its segments, where products are exact.
        """
        problem = self.problem
        if np.isfinite(most):
            low, high = problem.factual - reach(problem, most), problem.factual + reach(problem, most)
        elif self._bounds_are_the_domain():
            low, high = problem.domain.low, problem.domain.high
        else:
            low, high = np.minimum(self.low, problem.factual), np.maximum(self.high, problem.factual)
        grids = Tightening(low, high, self.n_segments, self.contraction).grids(iteration, centre)
        low, high = np.maximum(low, problem.domain.low), np.minimum(high, problem.domain.high)
        for s in problem.domain.sets:
            j = s.feature
            values = values_between(s, float(low[j]), float(high[j]), 2 * self.n_segments)
            if values:
                grids[j] = np.array(values if len(values) > 1 else 2 * values)
        return [within(grid, problem.domain.low[j], problem.domain.high[j]) for j, grid in enumerate(grids)]


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
