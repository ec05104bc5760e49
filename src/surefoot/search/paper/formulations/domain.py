"""The domain in a program: linear rows as they are, sets of values as integer variables."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import BackendError
from surefoot.problem.domain import ValueSet
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.paper.program import Index, ProgramBuilder, QuadraticRow

Array = NDArray[np.float64]

FEW = 8  # values up to which each has a binary of its own, whole numbers too
MANY = 1000  # the same on a curved scale, where whole numbers are not evenly spaced


def add_domain(builder: ProgramBuilder, problem: RobustProblem, z: Index, low: Array, high: Array) -> None:
    """Rows and sets of the domain, for z = (x - factual) / unit with x between ``low`` and ``high``."""
    _add_rows(builder, problem, z)
    for s in problem.domain.sets:
        j = s.feature
        _add_set(builder, s, int(z[j]), float(problem.unit[j]), (float(low[j]), float(high[j])))


def values_between(s: ValueSet, low: float, high: float, most: int) -> list[float] | None:
    """The allowed values between two ends, in ascending order; None if there are more than ``most``."""
    values: list[float] = []
    value = s.at_least(low)
    while value <= high and value < math.inf:
        if len(values) == most or value == -math.inf:
            return None
        values.append(value)
        value = s.at_least(math.nextafter(value, math.inf))
    return values


def _add_rows(builder: ProgramBuilder, problem: RobustProblem, z: Index) -> None:
    """Rows low <= a'x <= high, in units of the row's largest term."""
    for row in problem.domain.rows:
        terms = row.coefficients * problem.unit
        size, today = np.abs(terms).max(), row.coefficients @ problem.factual
        builder.linear(terms / size, z, (row.low - today) / size, (row.high - today) / size)


def _add_set(builder: ProgramBuilder, s: ValueSet, z: int, unit: float, ends: tuple[float, float]) -> None:
    most = FEW if s.warp.is_identity else MANY
    few = values_between(s, *ends, most=most if s.values is None else len(s.values) + 1)
    if few is not None:
        _add_pick(builder, z, (np.array(few) - s.now) / unit)
    elif s.warp.is_identity:
        _add_whole(builder, s, z, unit, ends)
    else:
        raise BackendError(
            f"feature {s.feature} takes more than {MANY} whole numbers on a curved scale, which is too many "
            "for a solver; use method='certified', or whole=False"
        )


def _add_pick(builder: ProgramBuilder, z: int, values: Array) -> None:
    """Z is one of the values; none at all is a row that nothing satisfies."""
    if len(values) == 1:
        builder.linear([1.0], np.array([z]), values, values)
        return
    pick = builder.variables(max(1, len(values)), 0.0, 1.0 if len(values) else 0.0, integer=True)
    builder.linear(np.ones(len(pick)), pick, 1.0, 1.0)
    if len(values):
        builder.linear(np.append(1.0, -values), np.append(z, pick), 0.0, 0.0)


def _add_whole(builder: ProgramBuilder, s: ValueSet, z: int, unit: float, ends: tuple[float, float]) -> None:
    """Today + unit z is a whole number, or z is 0.

    With today = base + part the point is base + k + part keep: k is an integer, and 0 where the value of
    today is kept. The row is divided so that neither z nor k has a coefficient below one.
    """
    base = float(math.floor(s.today))
    part, scale = s.today - base, min(unit, 1.0)
    least, most = np.ceil(ends[0]) - base, np.floor(ends[1]) - base
    if part == 0:
        k = builder.variables(1, least, most, integer=True)
        builder.linear(np.array([unit, -1.0]) / scale, np.append(z, k), 0.0, 0.0)
        return
    k = builder.variables(1, min(least, 0.0), max(most, 0.0), integer=True)
    keep = builder.variables(1, 0.0, 1.0 if ends[0] <= s.today <= ends[1] else 0.0, integer=True)
    row = np.array([unit, -1.0, -part]) / scale
    builder.linear(row, np.concatenate([[z], k, keep]), -part / scale, -part / scale)
    _switch_off(builder, k, keep, least, most)


def _switch_off(builder: ProgramBuilder, k: Index, keep: Index, least: float, most: float) -> None:
    """Least <= k <= most, but k = 0 with keep; an open end leaves no coefficient but a product."""
    both = np.append(k, keep)
    if np.isfinite(least):
        builder.linear([1.0, least], both, least, np.inf)
    if np.isfinite(most):
        builder.linear([1.0, most], both, -np.inf, most)
    if not np.isfinite([least, most]).all():
        product = np.array([[0.0, 0.5], [0.5, 0.0]])
        builder.quadratic(QuadraticRow(both, product, np.zeros(0, dtype=int), np.zeros(0), low=0.0, high=0.0))
