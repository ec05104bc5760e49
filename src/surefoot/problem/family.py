"""Family: one robust problem for every state of the categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.problem.choice import Choice
from surefoot.problem.domain import Domain
from surefoot.problem.either import Either, Limit
from surefoot.problem.geometry import Ball, Metric
from surefoot.problem.mixed import MixedQuadratic, State, blended
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.problem.share import Share, entropy

Array = NDArray[np.float64]

# Entries of the matrices that are remembered; ten times as many take gigabytes for thousands of shapes.
KEPT_ENTRIES = 4_000_000


@dataclass(frozen=True, eq=False)
class MixedRequirement:
    """A requirement for every state.

    Parameters
    ----------
    margin : MixedQuadratic
        g: not negative where the requirement holds.
    robust : bool, default=True
    decides : bool, default=True
        Whether it is about the decision that is explained.
    heat : float, default=1.0
        How much of g is one unit of log-odds: a calibrated model's temperature.
    """

    margin: MixedQuadratic
    robust: bool = True
    decides: bool = True
    heat: float = 1.0


@dataclass(frozen=True, eq=False)
class Family:
    """min c(s) + ||D (z - factual)||_p over states s and numbers z, with g_r(s, z) >= 0.

    For a fixed state this is a `RobustProblem`. Metric and ball are the same for all of them, and so is the
    domain but for disjunctions and limits that ask something of the categories too.

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
    eithers : tuple of Either
        Disjunctions over numbers and categories.
    limits : tuple of Limit
        How many numbers and categories change at most.
    shares : tuple of Share
        Probabilities among all classes, over requirements that are named by number.
    """

    factual: Array
    requirements: tuple[MixedRequirement, ...]
    metric: Metric
    ball: Ball
    domain: Domain
    choices: tuple[Choice, ...] = ()
    eithers: tuple[Either, ...] = ()
    limits: tuple[Limit, ...] = ()
    shares: tuple[Share, ...] = ()
    _bases: dict[Any, tuple[Requirement, ...]] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """With a copy of what families share: one thread adds to it while another pickles a family."""
        kept = {name: value for name, value in self.__dict__.items() if name != "here"}
        return {**kept, "_bases": dict(self._bases)}

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

    def constants_of(self, states: NDArray[np.intp]) -> Array:
        """What the categories add to each requirement, for many states: one in each row."""
        return np.column_stack([r.margin.constants(states) for r in self.requirements])

    def open_ways(self, state: State) -> tuple[tuple[int, ...] | None, ...]:
        """For each either the ways that a state leaves; None where its categories alone take one."""
        return tuple(either.open_ways(state) for either in self.eithers)

    def left(self, state: State) -> tuple[int, ...]:
        """For each limit how many numbers may still change in a state."""
        return tuple(limit.left(state, self.today) for limit in self.limits)

    def allows(self, state: State) -> bool:
        """Whether disjunctions and limits leave anything in a state."""
        return () not in self.open_ways(state) and min(self.left(state), default=0) >= 0

    def domain_at(self, state: State) -> Domain | None:
        """Where the numbers may lie in a state; None where it is not allowed."""
        return self.narrowed(self.open_ways(state), self.left(state)) if self.allows(state) else None

    def narrowed(self, ways: Sequence[tuple[int, ...] | None], left: Sequence[int]) -> Domain:
        """Where the numbers may lie when these ways are open, and so many numbers may change.

        Limits that let all of their numbers change are left out.
        """
        if not self.eithers and not self.limits:
            return self.domain
        narrow = (either.narrowed(kept) for either, kept in zip(self.eithers, ways, strict=True))
        limits = (limit.given(most) for limit, most in zip(self.limits, left, strict=True))
        return replace(
            self.domain,
            eithers=tuple(either for either in narrow if either is not None),
            limits=tuple(limit for limit in limits if limit.count < len(limit.numbers)),
        )

    def problem(
        self,
        state: State | None = None,
        constants: Sequence[float] | None = None,
        domain: Domain | None = None,
    ) -> RobustProblem:
        """The problem over the numbers in one state, which must be allowed.

        Parameters
        ----------
        state : tuple of int, optional
            Default: the factual's.
        constants : sequence of float, optional
            Taken in the place of what the categories add: what is proved with larger ones holds for all
            states of the same shape with smaller ones.
        domain : Domain, optional
            Taken in the place of the state's own.
        """
        as_it_is = state is None and constants is None and domain is None
        if as_it_is and not (self.eithers or self.limits):
            return self.here
        at = self.today if state is None else state
        added = self.constants(at) if constants is None else constants
        bases = self._base(at)
        requirements = tuple(
            replace(base, margin=base.margin + float(more)) if self.choices else base
            for base, more in zip(bases, added, strict=True)
        )
        where = self.domain_at(at) if domain is None else domain
        if where is None:
            raise ProblemError("if-then rules and limits allow nothing in this state of the categories")
        return RobustProblem(self.factual, requirements, self.metric, self.ball, where, self.shares)

    def mixture(self, share: Share, weights: Sequence[float]) -> MixedRequirement:
        """What a share implies: sum w_r g_r - heat * entropy(w) >= 0 over its members."""
        pairs = zip(share.members, weights, strict=True)
        parts = [(float(w), self.requirements[r].margin) for r, w in pairs if w > 0]
        margin = blended(parts).shifted(-share.heat * entropy(weights))
        return MixedRequirement(margin, share.robust, share.decides, share.heat)

    def relaxed(self, mixtures: Sequence[tuple[int, Sequence[float]]]) -> Family:
        """The same with some mixtures, each of a share by its number, in the place of all of them."""
        more = (self.mixture(self.shares[number], weights) for number, weights in mixtures)
        return replace(self, requirements=(*self.requirements, *more), shares=(), _bases={})

    @cached_property
    def here(self) -> RobustProblem:
        """The problem in the factual's state, whatever if-then rules and limits say of it."""
        return self.problem(domain=self.domain)

    def distance(self, state: State, x: Array) -> float:
        """Price of the state and way of the numbers together."""
        return self.price(state) + self.metric.distance(x, self.factual)

    def _base(self, state: State) -> tuple[Requirement, ...]:
        """The requirements of a shape, without what the categories add; made once while there is room."""
        key = tuple(state[k] for k in self.shaping)
        if key not in self._bases:
            entries = max(len(self.requirements) * len(self.factual) ** 2, 1)
            if len(self._bases) > KEPT_ENTRIES // entries:
                self._bases.pop(next(iter(self._bases)))
            self._bases[key] = tuple(
                Requirement(r.margin.shape(state), r.robust, r.decides, r.heat) for r in self.requirements
            )
        return self._bases[key]
