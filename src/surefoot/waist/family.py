"""Family: one robust problem for every state of the categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.waist.choice import Choice
from surefoot.waist.domain import Domain
from surefoot.waist.geometry import Ball, Metric
from surefoot.waist.mixed import MixedQuadratic, State
from surefoot.waist.problem import Requirement, RobustProblem

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MixedRequirement:
    """A requirement for every state.

    Parameters
    ----------
    margin : MixedQuadratic
        g: not negative where the requirement holds.
    robust : bool, default=True
    """

    margin: MixedQuadratic
    robust: bool = True


@dataclass(frozen=True, eq=False)
class Family:
    """min c(s) + ||D (z - factual)||_p over states s and numbers z, with g_r(s, z) >= 0.

    For a fixed state this is a `RobustProblem`; metric, ball and domain are the same for all of them.

    Parameters
    ----------
    factual : array of shape (n,)
        The numbers.
    requirements : tuple of MixedRequirement
    metric : Metric
    ball : Ball
    domain : Domain
    choices : tuple of Choice
        One for each category; none where the table holds numbers alone.
    """

    factual: Array
    requirements: tuple[MixedRequirement, ...]
    metric: Metric
    ball: Ball
    domain: Domain
    choices: tuple[Choice, ...] = ()
    _bases: dict[Any, tuple[Requirement, ...]] = field(default_factory=dict, repr=False)

    @property
    def today(self) -> State:
        """The factual's state."""
        return tuple(choice.today for choice in self.choices)

    @property
    def shaping(self) -> tuple[int, ...]:
        """The categories that change more than the constants of the requirements."""
        return tuple(sorted({k for r in self.requirements for k in r.margin.shaping}))

    def price(self, state: State) -> float:
        """What the changed categories cost."""
        return float(sum(choice.prices[v] for choice, v in zip(self.choices, state, strict=True)))

    def constants(self, state: State) -> Array:
        """What the categories add to each requirement."""
        return np.array([r.margin.constant(state) for r in self.requirements])

    def problem(self, state: State | None = None, constants: Sequence[float] | None = None) -> RobustProblem:
        """The problem over the numbers in one state.

        Parameters
        ----------
        state : tuple of int, optional
            Default: the factual's.
        constants : sequence of float, optional
            Taken in the place of what the categories add: what is proved with larger ones holds for all
            states of the same shape with smaller ones.
        """
        at = self.today if state is None else state
        added = self.constants(at) if constants is None else constants
        bases = self._base(at)
        requirements = tuple(
            replace(base, margin=base.margin + float(more)) if self.choices else base
            for base, more in zip(bases, added, strict=True)
        )
        return RobustProblem(self.factual, requirements, self.metric, self.ball, self.domain)

    def distance(self, state: State, x: Array) -> float:
        """Price of the state and way of the numbers together."""
        return self.price(state) + self.metric.distance(x, self.factual)

    def _base(self, state: State) -> tuple[Requirement, ...]:
        """The requirements of a shape, without what the categories add; made once."""
        key = tuple(state[k] for k in self.shaping)
        if key not in self._bases:
            self._bases[key] = tuple(Requirement(r.margin.shape(state), r.robust) for r in self.requirements)
        return self._bases[key]
