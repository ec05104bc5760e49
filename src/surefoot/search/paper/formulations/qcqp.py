"""The paper's nonconvex QCQP: master and adversary, stated so that scenarios cost one linear row each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.problem.geometry import dual_exponent, lp_norm
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.paper.formulations.domain import add_domain
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
from surefoot.search.paper.pricing import in_one_matrix
from surefoot.search.paper.program import Index, Options, Program, ProgramBuilder, QuadraticRow
from surefoot.search.paper.rays import ray_point, reach, seen_by

Array = NDArray[np.float64]
Coordinates = Literal["features", "principal"]

# benchmarks/speed/coordinates.py measures what they do. With products of features SCIP finishes few of the
# runs on Ionosphere. Gurobi would be faster there too, but gets the program as the paper prints it.
COORDINATES: dict[str, Coordinates] = {"scip": "principal", "gurobi": "features"}
FLAT = 1e-14  # curvature, as a share of the largest, below which a direction counts as straight


@dataclass(frozen=True)
class QcqpFormulation:
    """min ||M (x - factual)||_p  s.t.  g(x) + w >= 0,  w <= l_d(x) for every scenario d.

    g(x + d) = g(x) + l_d(x) with l_d affine, so all scenarios share one quadratic. Variables are
    changes in units of standard deviations, which is the paper's program up to units. Rows and sets of
    values in the domain are further rows and integer variables of the master.

    Parameters
    ----------
    problem : RobustProblem
    backend : str
    options : Options
    tol : float
        The paper's epsilon; the adversary need not be more exact than a tenth of it.
    coordinates : {"features", "principal"}, optional
        How the products in g are written. ``"features"``: x_i x_j, as in the paper. ``"principal"``: in
        the master as squares along the principal axes of g in whitened space, of which only the few that
        curve upwards are hard; in the adversary by whitened coordinates, in which a cube needs no rows.
        It is the same program in other variables. Default: ``"principal"`` for SCIP, else ``"features"``.
    """

    problem: RobustProblem
    backend: str
    options: Options
    tol: float = 1e-3
    coordinates: Coordinates | None = None

    def __post_init__(self) -> None:
        refuse_unknown(self.problem, "qcqp")
        object.__setattr__(self, "problem", in_one_matrix(self.problem, "qcqp"))
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
        deadline = time.perf_counter() + time_limit
        state = partial(master_program, self.problem, scenarios, self.written_in)
        outcome = in_time(state, self.backend, self.options, deadline)
        return master_answer(self.problem, outcome, norm_bound(outcome.bound, self.problem.norm))

    def adversary(self, candidate: Array, time_limit: float) -> AdversaryAnswer:
        """Solve the adversary of every robust requirement and take the worst."""
        deadline = time.perf_counter() + time_limit
        answers = [self._attack(candidate, number, deadline) for number in attacked(self.problem)]
        return worst_of(self.problem, candidate, answers)

    def _attack(self, candidate: Array, number: int, deadline: float) -> Solved:
        ball = self.problem.ball
        view = adversary_view(self.problem, number, self.written_in)
        state = partial(adversary_program, self.problem, candidate, number, view)
        outcome = in_time(state, self.backend, replace(self.options, absolute_gap=0.1 * self.tol), deadline)
        delta = None
        if outcome.values is not None:
            delta = in_ball(ball, ball.radius * (view.turn @ outcome.values[: len(view.turn)]))
        return Solved(outcome.status, delta, outcome.seconds, outcome.message)


def master_program(
    problem: RobustProblem,
    scenarios: Sequence[Array],
    coordinates: Coordinates,
    builder: ProgramBuilder | None = None,
) -> Program:
    """MP over the scenarios, in z = (x - factual) / unit."""
    builder = builder or ProgramBuilder()
    most = distance_bound(problem, ray_point(problem, scenarios))
    farthest, domain = reach(problem, most), problem.domain
    low = np.maximum((domain.low - problem.factual) / problem.unit, -farthest / problem.unit)
    high = np.minimum((domain.high - problem.factual) / problem.unit, farthest / problem.unit)
    z = builder.variables(problem.n_features, low, high)
    add_norm(builder, scaled_metric(problem), z, problem.norm, most)
    for requirement in problem.requirements:
        H = requirement.margin.in_coordinates(np.diag(problem.unit), problem.factual)
        products = z, H.matrix
        if coordinates == "principal":
            axes = _principal_axes(problem, H, most, (low, high))
            # An open end would leave a solver nothing to branch on; products of features at least are sparse.
            products = _squares(builder, z, axes) if np.isfinite([axes.low, axes.high]).all() else products
        _margin_rows(builder, z, seen_by(requirement, scenarios) / problem.unit, H, products)
    nearest, last = problem.factual - farthest, problem.factual + farthest
    add_domain(builder, problem, z, np.maximum(domain.low, nearest), np.minimum(domain.high, last))
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
    builder: ProgramBuilder, z: Index, steps: Array, H: Quadratic, products: tuple[Index, Array]
) -> None:
    """One quadratic for all scenarios, and for each of them (in units) a linear row."""
    slopes = 2 * steps @ H.matrix
    offsets = np.einsum("ij,ij->i", steps @ H.matrix + H.vector, steps)
    w = builder.variables(1, -np.inf, np.inf)
    columns = np.append(z, w)
    builder.linear(np.column_stack([-slopes, np.ones(len(steps))]), columns, -np.inf, offsets)
    builder.quadratic(QuadraticRow(*products, columns, np.append(H.vector, 1.0), low=-H.constant))


class AdversaryView(NamedTuple):
    """The adversary's variables e: d = r c + basis e, ||metric e||_q <= 1 in the ball, d'Qd = e' matrix e.

    The ball's own coordinates are w = r turn e. Metric and matrix are what they are by construction;
    multiplied out, their zeros would be rounding errors, each of which costs a solver a term.
    """

    basis: Array
    metric: Array
    matrix: Array
    turn: Array


def adversary_view(problem: RobustProblem, rival: int, coordinates: Coordinates) -> AdversaryView:
    """The features that do not land exactly in steps of the budget, or the ball's own coordinates."""
    Q, ball = problem.margins[rival].matrix, problem.ball
    if coordinates == "features":
        unit = noise_unit(ball)
        step, metric = ball.radius * unit, ball.matrix * unit
        basis = np.zeros(ball.basis.shape)
        basis[ball.noisy] = np.diag(step)
        Q = Q[np.ix_(ball.noisy, ball.noisy)]
        return AdversaryView(basis, metric, Q * np.outer(step, step), metric)
    B, identity = ball.radius * ball.basis, np.eye(ball.basis.shape[1])
    if ball.norm != 2:
        return AdversaryView(B, identity, B.T @ Q @ B, identity)
    # A round ball looks the same from every side; from this one only squares are left.
    curvatures, V = np.linalg.eigh(B.T @ Q @ B)
    return AdversaryView(B @ V, identity, np.diag(curvatures), V)


def adversary_program(
    problem: RobustProblem,
    candidate: Array,
    rival: int,
    view: AdversaryView,
    builder: ProgramBuilder | None = None,
) -> Program:
    """AP: min h  s.t.  g(candidate + d) <= h  for d in the ball."""
    builder = builder or ProgramBuilder()
    ball = problem.ball
    H = problem.margins[rival].recentered(candidate + ball.radius * ball.centre)
    slope = view.basis.T @ H.vector
    extent = np.asarray(lp_norm(np.linalg.inv(view.metric), dual_exponent(ball.norm)))
    e = builder.variables(len(extent), -extent, extent)
    spread = np.abs(slope) @ extent + extent @ np.abs(view.matrix) @ extent
    h = builder.variables(1, H.constant - spread, H.constant + spread, cost=1.0)
    add_unit_ball(builder, view.metric, e, ball.norm)
    columns, row = np.append(e, h), np.append(slope, -1.0)
    builder.quadratic(QuadraticRow(e, view.matrix, columns, row, high=-H.constant))
    return builder.build()
