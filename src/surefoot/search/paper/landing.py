"""A solver's point put exactly into the domain: solvers stop at tolerances of their own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefoot.problem.domain import Domain
from surefoot.problem.robust_problem import RobustProblem
from surefoot.problem.row import Row

Array = NDArray[np.float64]

TRIES = 20
INSIDE = 1e-14  # of a row's absolute terms: how far inside a point is put, which beats rounding


def landed(problem: RobustProblem, x: Array, tries: int = TRIES) -> Array:
    """The point of the domain next to x: ends and sets to the last digit, then rows by its free features.

    Where rows leave no way, the point is outside of them; `Domain.contains` tells.
    """
    domain, point = problem.domain, problem.domain.clipped(x)
    free, held = _free(domain), [row for row in domain.rows if row.low == row.high]
    for _ in range(tries if domain.rows else 0):
        missed = [row for row in domain.rows if not row.contains(point)]
        held += [row for row in missed if row not in held]
        step = _step(problem, point, held, free) if missed and free.any() else None
        if step is None:
            break
        aim = point + step
        point = domain.clipped(aim)
        free = free & (point == aim)  # an end has stopped the others
    return point


def _free(domain: Domain) -> NDArray[np.bool_]:
    free = ~domain.fixed
    free[[s.feature for s in domain.sets]] = False
    return free


def _step(problem: RobustProblem, point: Array, rows: list[Row], free: NDArray[np.bool_]) -> Array | None:
    """The least change of free features, in the metric, that mends the rows; what holds stays as it is.

    With D_f = QR, columns of the free features, the change is inv(R) y with the least y. None where no
    change mends them all.
    """
    R = np.linalg.qr(problem.metric.matrix[:, free])[1]
    A = linalg.solve_triangular(R, np.array([row.coefficients[free] for row in rows]).T, trans="T").T
    size = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
    A, gaps = A / size[:, None], np.array([_gap(row, point) for row in rows]) / size
    y = np.linalg.lstsq(A, gaps, rcond=1e-12)[0]
    if np.abs(A @ y - gaps).max() > 1e-3 * np.abs(gaps).max():
        return None
    change = np.zeros(len(point))
    change[free] = linalg.solve_triangular(R, y)
    return change


def _gap(row: Row, point: Array) -> float:
    """How much the row's value must grow."""
    value, inside = float(row.coefficients @ point), INSIDE * float(np.abs(row.coefficients) @ np.abs(point))
    inside = min(inside, 0.5 * (row.high - row.low))
    return min(max(value, row.low + inside), row.high - inside) - value
