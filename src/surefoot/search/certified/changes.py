"""Which features may change, and between which ends: the tree of all choices that limits leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import comb, prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified.clock import Clock

LOOK_UP = 500  # splits between two looks at the clock
# Splits on one way: with ten times as many, files would be nested too deeply to be read.
DEEPEST = 330


class Limits:
    """The limits of a problem and the features that they are about.

    Parameters
    ----------
    problem : RobustProblem
    order : sequence of int
        Features in the order in which they are decided; those that cannot stay as they are come first.
    """

    def __init__(self, problem: RobustProblem, order: Sequence[int]) -> None:
        domain, today = problem.domain, problem.factual
        outside = (today < domain.low) | (today > domain.high)
        moving = (domain.low < domain.high) | outside
        self.counts = tuple(limit.count for limit in domain.limits)
        named = [frozenset(limit.numbers) for limit in domain.limits]
        self.of = {
            int(j): tuple(number for number, members in enumerate(named) if j in members)
            for j in np.flatnonzero(moving)
        }
        limited = [j for j in order if self.of.get(j)]
        self.forced = frozenset(j for j in limited if outside[j])
        self.order = tuple(sorted(limited, key=lambda j: j not in self.forced))
        self.unlimited = tuple(j for j, numbers in self.of.items() if not numbers)
        self.fixed = frozenset(int(j) for j in np.flatnonzero(domain.low == domain.high))

    def root(self) -> Choice:
        """The choice in which nothing is decided."""
        return self.choice((), self.order, self.counts, 0)

    def choice(
        self, counted: tuple[int, ...], rest: Sequence[int], left: tuple[int, ...], depth: int
    ) -> Choice:
        """Some features count as changed, the rest is undecided as far as limits leave it."""
        if left == (0,):
            rest = ()
        elif 0 in left:
            rest = [j for j in rest if all(left[number] > 0 for number in self.of[j])]
        undecided = tuple(rest)
        empty = bool(self.forced) and not self.forced <= {*counted, *undecided}
        return Choice(self, counted, undecided, left, depth, empty, bound=np.inf if empty else 0.0)


class End(NamedTuple):
    """An end of a feature's change, and the number of the split that set it."""

    at: float
    split: int


class Cut(NamedTuple):
    """A feature's change is at most ``below`` or at least ``above``; nothing is allowed between them."""

    feature: int
    below: float
    above: float


NO_ENDS: Mapping[int, End] = MappingProxyType({})  # one for all: there are thousands of choices


@dataclass(eq=False, slots=True)
class Choice:
    """A node of the tree: some features count as changed, some are undecided, the others are kept.

    Parameters
    ----------
    limits : Limits
    counted, undecided : tuple of int
    left : tuple of int
        For each limit how many of the undecided features may change.
    depth : int
        How many splits lead here.
    empty : bool
        Whether a feature is kept that cannot stay as it is.
    low, high : dict of int -> End
        Ends that cuts gave to features.
    bound : float
        Proven: no robust counterfactual of this kind is closer.
    proof : object
        What proves it; see `Subsets`.
    stuck : bool
        Whether no more can be proved.
    split_by : int or Cut or None
        The feature that is decided, or the cut, once there are ``parts``: without it and with it, or below
        and above.
    """

    limits: Limits
    counted: tuple[int, ...]
    undecided: tuple[int, ...]
    left: tuple[int, ...]
    depth: int
    empty: bool
    low: Mapping[int, End] = field(default_factory=lambda: NO_ENDS)
    high: Mapping[int, End] = field(default_factory=lambda: NO_ENDS)
    bound: float = 0.0
    proof: Any = None
    stuck: bool = False
    split_by: int | Cut | None = None
    parts: tuple[Choice, ...] = ()
    _free: tuple[int, ...] | None = None

    @property
    def free(self) -> tuple[int, ...]:
        """The features that move, within ends that differ in the domain."""
        if self._free is None:
            moving = (*self.limits.unlimited, *self.counted, *self.undecided)
            self._free = tuple(sorted(j for j in moving if j not in self.limits.fixed))
        return self._free

    @property
    def kept(self) -> frozenset[int]:
        """The features that could move but have their values of today."""
        return frozenset(self.limits.of).difference(self.limits.unlimited, self.counted, self.undecided)

    @property
    def cut_ends(self) -> dict[tuple[int, bool], End]:
        """The ends that cuts set, by feature and whether they are upper ones."""
        if not self.low and not self.high:
            return {}
        low = {(j, False): end for j, end in self.low.items()}
        return low | {(j, True): end for j, end in self.high.items()}

    @property
    def contested(self) -> tuple[int, ...]:
        """The undecided features of limits that do not let all of theirs change."""
        if len(self.left) == 1:  # thousands of choices are split by one limit
            return self.undecided if len(self.undecided) > self.left[0] else ()
        binding = {number for number, (size, left) in enumerate(self._sizes()) if size > left}
        return tuple(j for j in self.undecided if binding.intersection(self.limits.of[j]))

    @property
    def feature(self) -> int | None:
        """The feature to decide next, unless another one is asked for; None where each may change."""
        return next(iter(self.contested), None)

    @property
    def size(self) -> int:
        """An upper bound on how many choices this one falls into."""
        return prod(comb(size, left) for size, left in self._sizes() if size > left)

    def _sizes(self) -> list[tuple[int, int]]:
        """For each limit how many of its features are undecided, and how many of these may change."""
        of = self.limits.of
        if len(self.left) == 1:
            return [(len(self.undecided), self.left[0])]
        return [(sum(k in of[j] for j in self.undecided), left) for k, left in enumerate(self.left)]

    def split(self, feature: int | None = None) -> tuple[Choice, ...]:
        """The choices in which a feature is kept, and counts as changed; none if all are decided.

        None either where splits are `DEEPEST`.
        """
        j = self.feature if feature is None else feature
        if j is not None and not self.empty and self.depth < DEEPEST:
            self.split_by = j
            self.parts = (
                self.limits.choice(self.counted, self._rest(j), self.left, self.depth + 1),
                self._counting(j, self.depth + 1),
            )
            self._forget()
        return self.parts

    def _forget(self) -> None:
        """A choice that is split stands for its parts: its own lists would take gigabytes.

        The root is asked again.
        """
        if self.depth:
            self.undecided, self._free = (), None

    def _rest(self, j: int) -> tuple[int, ...]:
        place = self.undecided.index(j)
        return self.undecided[:place] + self.undecided[place + 1 :]

    def _counting(self, j: int, depth: int) -> Choice:
        """The choice in which one more feature counts as changed."""
        return self.limits.choice((*self.counted, j), self._rest(j), self._left_with(j), depth)

    def _left_with(self, j: int) -> tuple[int, ...]:
        of = self.limits.of[j]
        return tuple([left - (k in of) for k, left in enumerate(self.left)])

    def cut(self, cut: Cut) -> tuple[Choice, ...]:
        """The parts in which a feature's change is below or above a cut."""
        kind = (self.limits, self.counted, self.undecided, self.left, self.depth + 1, self.empty)
        high = {**self.high, cut.feature: End(cut.below, self.depth)}
        low = {**self.low, cut.feature: End(cut.above, self.depth)}
        self.split_by = cut
        self.parts = (
            Choice(*kind, self.low, high, self.bound, self.proof),
            Choice(*kind, low, self.high, self.bound, self.proof),
        )
        return self.parts

    def proven(self, bound: float, proof: Any) -> None:
        """Nothing of this kind is closer than a bound: there is nothing left to split."""
        self.bound, self.proof, self.split_by, self.parts = bound, proof, None, ()

    def filled(self, gain: Callable[[tuple[int, ...]], float]) -> Choice:
        """The choice in which features count as changed one by one, always the one that gains most."""
        choice = self
        while choice.feature is not None:
            choice = choice._counting(max(choice.undecided, key=lambda j: gain((*choice.counted, j))), 0)
        return choice

    def filled_in(self, order: Sequence[int]) -> Choice:
        """The choice in which features count as changed in an order."""
        choice = self
        for j in order:
            if choice.feature is None:
                break
            if j in choice.undecided:
                choice = choice._counting(j, 0)
        return choice

    def grow(self, clock: Clock | None = None) -> None:
        """Split until nothing is left to decide, or time is up."""
        stack = [self]
        for k in count():
            if not stack:
                return
            if clock is not None and k % LOOK_UP == 0:
                clock.check()
            stack += stack.pop().split()

    def leaves(self) -> Iterator[Choice]:
        """The choices that are not split."""
        stack = [self]
        while stack:
            choice = stack.pop()
            if choice.parts:
                stack += choice.parts
            else:
                yield choice
