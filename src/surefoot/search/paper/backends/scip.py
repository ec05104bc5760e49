"""SCIP: mixed-integer linear and nonconvex quadratic programs, with global bounds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from pyscipopt import Model, quicksum

from surefoot.search.paper.program import Options, Outcome, Program, QuadraticRow
from surefoot.status import Status

STATUS = {
    "optimal": Status.OPTIMAL,
    "gaplimit": Status.OPTIMAL,
    "infeasible": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
    "timelimit": Status.TIME_LIMIT,
    "userinterrupt": Status.INTERRUPTED,
}


def licence() -> tuple[bool, str]:
    """SCIP is free software."""
    model = Model()
    return True, f"SCIP {model.getMajorVersion()}.{model.getMinorVersion()}, open source"


def solve(program: Program, options: Options) -> Outcome:
    """Solve to the gap or the time limit."""
    start = time.perf_counter()
    model = Model()
    if not options.verbose:
        model.hideOutput()
    model.setParam("limits/gap", float(options.gap))
    model.setParam("limits/absgap", float(options.absolute_gap))
    if options.threads:
        model.setParam("lp/threads", int(options.threads))
    variables = _build(model, program, start + options.time_limit)
    model.setParam("limits/time", min(options.time_left(start), 1e20))
    try:
        model.optimize()
    except Exception as error:  # PySCIPOpt raises nothing narrower when SCIP gives up in the middle
        if not str(error).startswith("SCIP"):
            raise
        return Outcome(Status.FAILED, None, np.inf, -np.inf, time.perf_counter() - start, str(error))
    return _outcome(model, variables, program, time.perf_counter() - start)


def _build(model: Model, program: Program, deadline: float) -> list[Any]:
    ends = zip(program.low, program.high, program.integer, strict=True)
    variables = [
        model.addVar(
            vtype="I" if integer else "C",
            lb=None if low == -np.inf else float(low),
            ub=None if high == np.inf else float(high),
        )
        for low, high, integer in ends
    ]
    rows = program.rows
    for r in range(rows.shape[0]):
        if time.perf_counter() > deadline:  # a hundred thousand rows take seconds
            raise TimeoutError("no time was left")
        part = slice(rows.indptr[r], rows.indptr[r + 1])
        terms = zip(rows.data[part], rows.indices[part], strict=True)
        _add(
            model,
            quicksum(float(a) * variables[j] for a, j in terms),
            program.row_low[r],
            program.row_high[r],
        )
    for row in program.quadratic_rows:
        _add(model, _quadratic(row, variables), row.low, row.high)
    costs = zip(program.cost, variables, strict=True)
    model.setObjective(quicksum(float(c) * v for c, v in costs if c), "minimize")
    return variables


def _quadratic(row: QuadraticRow, variables: list[Any]) -> Any:
    z = [variables[j] for j in row.variables]
    i, j = np.nonzero(np.triu(row.matrix))
    factor = np.where(i == j, 1.0, 2.0) * row.matrix[i, j]
    products = [float(a) * z[p] * z[q] for a, p, q in zip(factor, i, j, strict=True)]
    linear = [float(a) * variables[v] for a, v in zip(row.coefficients, row.linear, strict=True) if a]
    return quicksum(products + linear)


def _add(model: Model, expression: Any, low: float, high: float) -> None:
    if low == high:
        model.addCons(expression == float(low))
        return
    if low > -np.inf:
        model.addCons(expression >= float(low))
    if high < np.inf:
        model.addCons(expression <= float(high))


def _outcome(model: Model, variables: list[Any], program: Program, seconds: float) -> Outcome:
    name = model.getStatus()
    status = STATUS.get(name, Status.FAILED)
    if name == "inforunbd" and program.is_bounded_below:
        status = Status.INFEASIBLE
    has_point = status.has_point and model.getNSols() > 0
    if not has_point:
        status = status.without_point
    values = None
    if has_point:
        best = model.getBestSol()
        values = np.array([model.getSolVal(best, v) for v in variables])
    objective = float(program.cost @ values) if values is not None else np.inf
    bound = np.inf if status is Status.INFEASIBLE else float(model.getDualbound())
    return Outcome(status, values, objective, bound, seconds, f"SCIP: {name}")
