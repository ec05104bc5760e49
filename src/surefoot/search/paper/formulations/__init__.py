"""The paper's two formulations: each turns a RobustProblem into Programs."""

from surefoot.search.paper.formulations.milp import MilpFormulation
from surefoot.search.paper.formulations.qcqp import QcqpFormulation

__all__ = ["MilpFormulation", "QcqpFormulation"]
