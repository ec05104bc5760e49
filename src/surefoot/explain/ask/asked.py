"""Asked: a row about which something can be asked, and what its constraints are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.ask.task import Task
from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.problem.family import Family
from surefoot.problem.question import Question

Array = NDArray[np.float64]


class Noise(NamedTuple):
    """What the ball under other constraints depends on: a budget, and features, parents before children."""

    budget: float
    order: tuple[int, ...]


class Asked(NamedTuple):
    """A row about which something can be asked.

    Parameters
    ----------
    label : Any
        What the row is called.
    task : Task
    constraints : ConstraintSet
        Where there is no answer, they say what stands in the way.
    noise : Noise or None
        Where features that must not change land exactly: lifting such a constraint changes the ball too.
        None where the ball does not depend on the constraints.
    percentiles : array or None
        Of the target's own log densities, where answers must be typical of it.
    """

    label: Any
    task: Task
    constraints: ConstraintSet
    noise: Noise | None
    percentiles: Array | None

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.task.question

    @property
    def problem(self) -> Family:
        """The problem that it poses."""
        return self.task.problem
