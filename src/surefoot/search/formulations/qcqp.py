"""The paper's nonconvex QCQP: master and adversary, stated so that scenarios cost one linear row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from surefoot.geometry import dual_exponent, lp_norm
from surefoot.problem import RobustProblem
from surefoot.quadratic import Quadratic
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
Coordinates = Literal["features", "principal"]

# What measurement says (benchmarks/coordinates.py): SCIP solves Ionosphere in principal coordinates only.
# Gurobi is the paper's solver and gets the paper's program.
COORDINATES: dict[str, Coordinates] = {"scip": "principal", "gurobi": "features"}
FLAT = 1e-14  # curvature, as a share of the largest, below which a direction counts as straight


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
    coordinates : {"features", "principal"}, optional
        How the products in H are written. ``"features"``: x_i x_j, as in the paper. ``"principal"``: in
        the master as squares along the principal axes of H in whitened space, of which only the few that
        curve upwards are hard; in the adversary by whitened coordinates, in which a cube needs no rows.
        It is the same program in other variables. Default: what suits the backend.
    """

    problem: RobustProblem
    backend: str
    options: Options
    tol: float = 1e-3
    coordinates: Coordinates | None = None

    @property
    def written_in(self) -> Coordinates:
        """The coordinates, chosen or by default."""
        return self.coordinates or COORDINATES[self.backend]

    def master(
        self, scenarios: Sequence[Array], previous: Array | None, iteration: int, time_limit: float
    ) -> MasterAnswer:
        """Solve the master problem; neither previous candidate nor iteration matter here."""
        del previous, iteration
        program = master_program(self.problem, scenarios, self.written_in)
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
            basis = perturbation_basis(self.problem, rival, self.written_in)
            program = adversary_program(self.problem, candidate, rival, basis)
            left = time_limit - sum(seconds for _, _, seconds, _ in answers)
            outcome = solve(program, within_time(self.options, left, 0.1 * self.tol), self.backend)
            delta = None if outcome.values is None else basis @ outcome.values[: self.problem.n_features]
            answers.append((outcome.status, delta, outcome.seconds, outcome.message))
        return worst_of(self.problem, candidate, answers)


def master_program(problem: RobustProblem, scenarios: Sequence[Array], coordinates: Coordinates) -> Program:
    """MP over the scenarios, in z = (x - factual) / unit."""
    builder = ProgramBuilder()
    low = (problem.domain.low - problem.factual) / problem.unit
    high = (problem.domain.high - problem.factual) / problem.unit
    most = distance_bound(problem, ray_point(problem, scenarios))
    farthest = reach(problem, most) / problem.unit
    z = builder.variables(problem.n_features, np.maximum(low, -farthest), np.minimum(high, farthest))
    add_norm(builder, scaled_metric(problem), z, problem.norm, most)
    for margin in problem.margins:
        H = margin.in_coordinates(np.diag(problem.unit), problem.factual)
        curved, matrix = z, H.matrix
        if coordinates == "principal":
            curved, matrix = _principal_axes(builder, problem, z, H, most)
        _margin_rows(builder, problem, z, scenarios, H, (curved, matrix))
    return builder.build()


def _principal_axes(
    builder: ProgramBuilder, problem: RobustProblem, z: Index, H: Quadratic, most: float
) -> tuple[Index, Array]:
    """Variables y = V' M z with z'Qz = sum_i curvature_i y_i^2, where y_i reaches most ||v_i||_dual."""
    M = scaled_metric(problem)
    B = np.linalg.inv(M)
    curvatures, V = np.linalg.eigh(B.T @ H.matrix @ B)
    bent = np.abs(curvatures) > FLAT * np.abs(curvatures).max(initial=0.0)
    axes = V.T[bent]
    extent = most * np.asarray(lp_norm(axes, dual_exponent(problem.norm)))
    y = builder.variables(len(axes), -extent, extent)
    builder.linear(np.hstack([axes @ M, -np.eye(len(axes))]), np.append(z, y), 0.0, 0.0)
    return y, np.diag(curvatures[bent])


def _margin_rows(
    builder: ProgramBuilder,
    problem: RobustProblem,
    z: Index,
    scenarios: Sequence[Array],
    H: Quadratic,
    products: tuple[Index, Array],
) -> None:
    steps = np.array(scenarios) / problem.unit
    slopes = 2 * steps @ H.matrix
    offsets = np.einsum("ij,ij->i", steps @ H.matrix + H.vector, steps)
    w = builder.variables(1, -np.inf, np.inf)
    columns = np.append(z, w)
    builder.linear(np.column_stack([-slopes, np.ones(len(steps))]), columns, -np.inf, offsets)
    low = problem.log_odds_threshold - H.constant
    builder.quadratic(QuadraticRow(*products, columns, np.append(H.vector, 1.0), low=low))


def perturbation_basis(problem: RobustProblem, rival: int, coordinates: Coordinates) -> Array:
    """B with d = B e for the adversary's variables e, whose ball has radius 1."""
    if coordinates == "features":
        return np.diag(problem.budget * problem.unit)
    B = problem.budget * problem.whitening.inverse
    if problem.norm != 2:
        return B
    # A round ball looks the same from every side; this side leaves squares only.
    return np.asarray(B @ np.linalg.eigh(B.T @ problem.margins[rival].matrix @ B)[1])


def adversary_program(problem: RobustProblem, candidate: Array, rival: int, basis: Array) -> Program:
    """AP: min h  s.t.  H(candidate + d) - tau' <= h  in d = basis e, ||M d||_p <= budget."""
    builder = ProgramBuilder()
    H = problem.margins[rival].in_coordinates(basis, candidate)
    metric = problem.whitening.matrix @ basis / problem.budget
    extent = np.asarray(lp_norm(np.linalg.inv(metric), dual_exponent(problem.norm)))
    e = builder.variables(problem.n_features, -extent, extent)
    spread = np.abs(H.vector) @ extent + extent @ np.abs(H.matrix) @ extent
    at_rest = H.constant - problem.log_odds_threshold
    h = builder.variables(1, at_rest - spread, at_rest + spread, cost=1.0)
    add_unit_ball(builder, metric, e, problem.norm)
    builder.quadratic(QuadraticRow(e, H.matrix, np.append(e, h), np.append(H.vector, -1.0), high=-at_rest))
    return builder.build()
