"""HiGHS: mixed-integer linear programs."""

from __future__ import annotations

import time

import highspy
import numpy as np

from surefoot.search.paper.program import Options, Outcome, Program
from surefoot.status import Status

MODEL_STATUS = highspy.HighsModelStatus
STATUS = {
    MODEL_STATUS.kOptimal: Status.OPTIMAL,
    MODEL_STATUS.kInfeasible: Status.INFEASIBLE,
    MODEL_STATUS.kUnbounded: Status.UNBOUNDED,
    MODEL_STATUS.kTimeLimit: Status.TIME_LIMIT,
    MODEL_STATUS.kInterrupt: Status.INTERRUPTED,
}
NOTHING = (MODEL_STATUS.kInfeasible, MODEL_STATUS.kUnboundedOrInfeasible)


def licence() -> tuple[bool, str]:
    """HiGHS is free software."""
    return True, f"HiGHS {_highs().version()}, open source"


def solve(program: Program, options: Options) -> Outcome:
    """Solve a linear program, some variables integer.

    That nothing is feasible is only believed without presolve: with it, HiGHS (1.15.1 among others) has
    found small feasible programs infeasible.
    """
    start = time.perf_counter()
    solver = _run(program, options, start)
    if program.integer.any() and solver.getModelStatus() in NOTHING:
        solver = _run(program, options, start, presolve="off")
    return _outcome(solver, program, time.perf_counter() - start)


def _run(program: Program, options: Options, start: float, presolve: str = "choose") -> highspy.Highs:
    solver = _highs()
    settings: dict[str, bool | float | str] = {
        "output_flag": options.verbose,
        "mip_rel_gap": float(options.gap),
        "mip_abs_gap": float(options.absolute_gap),
        "threads": int(options.threads),
        "presolve": presolve,
    }
    for name, value in settings.items():
        solver.setOptionValue(name, value)
    solver.HandleKeyboardInterrupt = True
    solver.passModel(_model(program))
    solver.setOptionValue("time_limit", options.time_left(start))
    solver.solve()
    return solver


def _model(program: Program) -> highspy.HighsLp:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = program.n_variables, program.rows.shape[0]
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = program.cost, program.low, program.high
    lp.row_lower_, lp.row_upper_ = program.row_low, program.row_high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = program.rows.indptr
    lp.a_matrix_.index_ = program.rows.indices
    lp.a_matrix_.value_ = program.rows.data
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[int(flag)] for flag in program.integer]
    return lp


def _outcome(solver: highspy.Highs, program: Program, seconds: float) -> Outcome:
    model_status, info = solver.getModelStatus(), solver.getInfo()
    status = STATUS.get(model_status, Status.FAILED)
    if model_status == MODEL_STATUS.kUnboundedOrInfeasible and program.is_bounded_below:
        status = Status.INFEASIBLE
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        status = status.without_point
    bound = info.mip_dual_bound
    if not program.integer.any():  # HiGHS gives no dual bound for a linear program that was cut short
        bound = info.objective_function_value if status is Status.OPTIMAL else -np.inf
    if status is Status.INFEASIBLE:
        bound = np.inf
    values = np.array(solver.getSolution().col_value) if status.has_point else None
    objective = float(program.cost @ values) if values is not None else np.inf
    return Outcome(status, values, objective, float(bound), seconds, solver.modelStatusToString(model_status))


def _highs() -> highspy.Highs:
    return highspy.Highs()  # type: ignore[no-untyped-call]
