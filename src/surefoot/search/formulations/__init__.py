"""The paper's two formulations: each turns a RobustProblem into Programs."""

from surefoot.search.formulations.milp import MilpFormulation
from surefoot.search.formulations.qcqp import QcqpFormulation

__all__ = ["MilpFormulation", "QcqpFormulation"]
