"""Gurobi: mixed-integer linear and nonconvex quadratic programs. Commercial, with a small free licence."""

from __future__ import annotations

import threading
import time
from typing import Any

import gurobipy
import numpy as np
from gurobipy import GRB, GurobiError

from surefoot.exceptions import BackendTooLargeError, BackendUnlicensedError
from surefoot.search.paper.program import Options, Outcome, Program, QuadraticRow
from surefoot.status import Status

STATUS = {
    GRB.OPTIMAL: Status.OPTIMAL,
    GRB.INFEASIBLE: Status.INFEASIBLE,
    GRB.UNBOUNDED: Status.UNBOUNDED,
    GRB.TIME_LIMIT: Status.TIME_LIMIT,
    GRB.INTERRUPTED: Status.INTERRUPTED,
}
TOO_LARGE, NO_LICENCE = GRB.Error.SIZE_LIMIT_EXCEEDED, GRB.Error.NO_LICENSE


def licence() -> tuple[bool, str]:
    """Whether an environment can be started, that is, whether there is a valid licence."""
    version = ".".join(str(part) for part in gurobipy.gurobi.version())
    try:
        _environment()
    except GurobiError as error:
        return False, f"Gurobi {version}: {error}"
    return True, f"Gurobi {version}, commercial (the licence in its package is limited in size)"


def solve(program: Program, options: Options) -> Outcome:
    """Solve to the gap or the time limit."""
    start = time.perf_counter()
    try:
        with gurobipy.Model(env=_environment()) as model:
            model.Params.OutputFlag = int(options.verbose)
            model.Params.MIPGap = float(options.gap)
            model.Params.MIPGapAbs = float(options.absolute_gap)
            model.Params.Threads = int(options.threads)
            x = _build(model, program)
            model.Params.TimeLimit = options.time_left(start)
            model.optimize()
            return _outcome(model, x, program, start)
    except GurobiError as error:
        if error.errno == TOO_LARGE:
            raise BackendTooLargeError(
                f"the program ({program.n_variables} variables, {program.rows.shape[0]} rows) is too large "
                "for the Gurobi licence that is installed; use another backend or a full licence"
            ) from None
        if error.errno == NO_LICENCE:
            raise BackendUnlicensedError(f"Gurobi has no valid licence: {error}") from None
        return Outcome(Status.FAILED, None, np.inf, -np.inf, time.perf_counter() - start, f"Gurobi: {error}")


_LOCAL = threading.local()  # Gurobi's environments must not be shared between threads


def _environment() -> Any:
    if not hasattr(_LOCAL, "environment"):
        environment = gurobipy.Env(empty=True)
        environment.setParam("OutputFlag", 0)
        environment.start()
        _LOCAL.environment = environment
    return _LOCAL.environment


def _build(model: Any, program: Program) -> Any:
    kinds = np.where(program.integer, GRB.INTEGER, GRB.CONTINUOUS)
    x = model.addMVar(program.n_variables, lb=program.low, ub=program.high, vtype=kinds, obj=program.cost)
    rows, low, high = program.rows, program.row_low, program.row_high
    equal = low == high
    for chosen, sense, side in (
        (equal, "=", low),
        (~equal & (low > -np.inf), ">", low),
        (~equal & (high < np.inf), "<", high),
    ):
        if chosen.any():
            model.addMConstr(rows[np.flatnonzero(chosen)], x, sense, side[chosen])
    for row in program.quadratic_rows:
        _quadratic(model, x, row)
    return x


def _quadratic(model: Any, x: Any, row: QuadraticRow) -> None:
    linear = x[row.linear]
    z = x[row.variables]
    if row.low > -np.inf:
        model.addMQConstr(row.matrix, row.coefficients, ">", row.low, z, z, linear)
    if row.high < np.inf:
        model.addMQConstr(row.matrix, row.coefficients, "<", row.high, z, z, linear)


def _outcome(model: Any, x: Any, program: Program, start: float) -> Outcome:
    status = STATUS.get(model.Status, Status.FAILED)
    if model.Status == GRB.INF_OR_UNBD and program.is_bounded_below:
        status = Status.INFEASIBLE
    has_point = status.has_point and model.SolCount > 0
    if not has_point:
        status = status.without_point
    values = np.array(x.X) if has_point else None
    objective = float(program.cost @ values) if values is not None else np.inf
    # Continuous programs that were cut short have no bound.
    bound = np.inf if status is Status.INFEASIBLE else float(getattr(model, "ObjBound", -np.inf))
    seconds = time.perf_counter() - start
    return Outcome(status, values, objective, bound, seconds, f"Gurobi status {model.Status}")
