"""The paper's programs know one matrix: prices of features enter it where they do not depend on a sign."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.exceptions import ProblemError
from surefoot.problem.geometry import Metric, Whitening
from surefoot.problem.robust_problem import RobustProblem


def in_one_matrix(problem: RobustProblem, method: str) -> RobustProblem:
    """The same problem with its prices in the metric's matrix; refused where a feature's two sides differ."""
    metric, domain, x0 = problem.metric, problem.domain, problem.factual
    if not metric.is_cost:
        return problem
    rises, falls = domain.low >= x0, domain.high <= x0
    if not (rises | falls | (metric.up == metric.down)).all():
        raise ProblemError(
            f"method={method!r} cannot take prices that differ up and down; use method='certified'"
        )
    price = np.where(rises, metric.up, metric.down)
    return replace(problem, metric=Metric(Whitening(np.diag(price), "cholesky"), metric.norm))
