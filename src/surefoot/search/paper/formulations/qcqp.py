"""The paper's nonconvex QCQP: master and adversary, stated so that scenarios cost one linear row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

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
from surefoot.search.paper.program import Index, Options, Program, ProgramBuilder, QuadraticRow
from surefoot.search.paper.rays import ray_point, reach
from surefoot.waist.geometry import dual_exponent, lp_norm
from surefoot.waist.problem import RobustProblem
from surefoot.waist.quadratic import Quadratic

Array = NDArray[np.float64]
Coordinates = Literal["features", "principal"]

# benchmarks/coordinates.py measures what they do. With products of features SCIP finishes few of the runs
# on Ionosphere. Gurobi would be faster there too, but gets the program as the paper prints it, to compare.
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
        It is the same program in other variables. Default: ``"principal"`` for SCIP, else ``"features"``.
    """

    problem: RobustProblem
    backend: str
    options: Options
    tol: float = 1e-3
    coordinates: Coordinates | None = None

    def __post_init__(self) -> None:
        if self.coordinates not in (None, *get_args(Coordinates)):
            raise ProblemError(f"coordinates must be 'features' or 'principal', not {self.coordinates!r}")

    @property
    def written_in(self) -> Coordinates:
        """The coordinates, chosen or by default."""
        return self.coordinates or COORDINATES.get(self.backend, "features")

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
            view = adversary_view(self.problem, rival, self.written_in)
            program = adversary_program(self.problem, candidate, rival, view)
            left = time_limit - sum(seconds for _, _, seconds, _ in answers)
            outcome = solve(program, within_time(self.options, left, 0.1 * self.tol), self.backend)
            e = None if outcome.values is None else outcome.values[: self.problem.n_features]
            delta = None if e is None else view.basis @ e
            answers.append((outcome.status, delta, outcome.seconds, outcome.message))
        return worst_of(self.problem, candidate, answers)


def master_program(problem: RobustProblem, scenarios: Sequence[Array], coordinates: Coordinates) -> Program:
    """MP over the scenarios, in z = (x - factual) / unit."""
    builder = ProgramBuilder()
    most = distance_bound(problem, ray_point(problem, scenarios))
    farthest = reach(problem, most) / problem.unit
    low = np.maximum((problem.domain.low - problem.factual) / problem.unit, -farthest)
    high = np.minimum((problem.domain.high - problem.factual) / problem.unit, farthest)
    z = builder.variables(problem.n_features, low, high)
    add_norm(builder, scaled_metric(problem), z, problem.norm, most)
    for margin in problem.margins:
        H = margin.in_coordinates(np.diag(problem.unit), problem.factual)
        products = z, H.matrix
        if coordinates == "principal":
            axes = _principal_axes(problem, H, most, (low, high))
            # An open end would leave a solver nothing to branch on; products of features at least are sparse.
            products = _squares(builder, z, axes) if np.isfinite([axes.low, axes.high]).all() else products
        _margin_rows(builder, problem, z, scenarios, H, products)
    return builder.build()


class _Axes(NamedTuple):
    """y = directions z with z'Qz = sum_i curvature_i y_i^2, and how far y can go."""

    directions: Array
    curvatures: Array
    low: Array
    high: Array


def _principal_axes(problem: RobustProblem, H: Quadratic, most: float, box: tuple[Array, Array]) -> _Axes:
    """Eigenvectors V of H in whitened space: y = V'Mz.

    Within the distance ``most`` y_i reaches most ||v_i||_dual; within the box of z, each term its end.
    """
    M = scaled_metric(problem)
    B = np.linalg.inv(M)
    curvatures, V = np.linalg.eigh(B.T @ H.matrix @ B)
    bent = np.abs(curvatures) > FLAT * np.abs(curvatures).max(initial=0.0)
    directions = V.T[bent] @ M
    extent = most * np.asarray(lp_norm(V.T[bent], dual_exponent(problem.norm)))
    with np.errstate(invalid="ignore"):  # 0 times an open end
        ends = np.sort([np.where(directions == 0, 0.0, directions * end) for end in box], axis=0).sum(axis=2)
    low, high = np.maximum(-extent, ends[0]), np.minimum(extent, ends[1])
    return _Axes(directions, curvatures[bent], low, high)


def _squares(builder: ProgramBuilder, z: Index, axes: _Axes) -> tuple[Index, Array]:
    """Variables for the axes, and the matrix of their squares."""
    n = len(axes.curvatures)
    y = builder.variables(n, axes.low, axes.high)
    builder.linear(np.hstack([axes.directions, -np.eye(n)]), np.append(z, y), 0.0, 0.0)
    return y, np.diag(axes.curvatures)


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


class AdversaryView(NamedTuple):
    """The adversary's variables e: d = basis e, ||M d||_p = budget ||metric e||_p, d'Qd = e' matrix e.

    Metric and matrix are what they are by construction; multiplied out, their zeros would be rounding
    errors, each of which costs a solver a term.
    """

    basis: Array
    metric: Array
    matrix: Array


def adversary_view(problem: RobustProblem, rival: int, coordinates: Coordinates) -> AdversaryView:
    """Features in steps of the budget, or whitened coordinates."""
    Q = problem.margins[rival].matrix
    if coordinates == "features":
        step = problem.budget * problem.unit
        return AdversaryView(np.diag(step), scaled_metric(problem), Q * np.outer(step, step))
    B, identity = problem.budget * problem.whitening.inverse, np.eye(problem.n_features)
    if problem.norm != 2:
        return AdversaryView(B, identity, B.T @ Q @ B)
    # A round ball looks the same from every side; from this one only squares are left.
    curvatures, V = np.linalg.eigh(B.T @ Q @ B)
    return AdversaryView(B @ V, identity, np.diag(curvatures))


def adversary_program(problem: RobustProblem, candidate: Array, rival: int, view: AdversaryView) -> Program:
    """AP: min h  s.t.  H(candidate + d) - tau' <= h,  ||M d||_p <= budget."""
    builder = ProgramBuilder()
    H = problem.margins[rival].recentered(candidate)
    slope = view.basis.T @ H.vector
    extent = np.asarray(lp_norm(np.linalg.inv(view.metric), dual_exponent(problem.norm)))
    e = builder.variables(problem.n_features, -extent, extent)
    spread = np.abs(slope) @ extent + extent @ np.abs(view.matrix) @ extent
    at_rest = H.constant - problem.log_odds_threshold
    h = builder.variables(1, at_rest - spread, at_rest + spread, cost=1.0)
    add_unit_ball(builder, view.metric, e, problem.norm)
    builder.quadratic(QuadraticRow(e, view.matrix, np.append(e, h), np.append(slope, -1.0), high=-at_rest))
    return builder.build()
