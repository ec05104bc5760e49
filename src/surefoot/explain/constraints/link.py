"""Link: a feature that changes by a factor of the change of another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.arithmetic import is_number
from surefoot.explain.constraints.constraint import Array, Broken, Constraint, Features, Today
from surefoot.explain.constraints.linear import Rule, check_sum

if TYPE_CHECKING:
    import pandas as pd


class _Fields(NamedTuple):
    feature: Any
    leader: Any
    factor: float


class Link(_Fields, Constraint):
    """A feature that changes by a factor of the change of another, its leader."""

    __slots__ = ()
    key = "links"
    example = 'links = [["tenure", "age", 1.0]]     # tenure changes by 1.0 times the change of age'
    says = 1
    frees = True

    @property
    def name(self) -> str:
        """In words."""
        return f"{self.feature} changes by {self.factor:g} times the change of {self.leader}"

    @classmethod
    def read(cls, entry: Any) -> Link:
        """From (feature, leader, factor)."""
        if not isinstance(entry, list | tuple) or len(entry) != 3:
            raise ProblemError(f"a link must be (feature, leader, factor), not {entry!r:.80}")
        found = cls(*entry)
        if not is_number(found.factor) or not math.isfinite(found.factor):
            raise ProblemError(f"the factor of a link must be a finite number, not {found.factor!r:.80}")
        wrong = [name for name in found[:2] if not isinstance(name, str | Integral)]
        if wrong:
            raise ProblemError(f"a link is between features by name, not {wrong[0]!r:.60}")
        if found.feature == found.leader:
            raise ProblemError(f"{found.feature!r} is linked to itself")
        return found

    def plain(self) -> list[Any]:
        """Both names and the factor."""
        return [str(self.feature), str(self.leader), float(self.factor)]

    def to_toml(self) -> list[Any]:
        """The same, as it was given."""
        return list(self)

    def rule(self) -> Rule:
        """The equation between both, with today's values."""
        terms = {self.feature: 1.0, self.leader: -float(self.factor)}
        return Rule(terms, 0.0, 0.0, self.name, {name: -a for name, a in terms.items()})

    def check(self, features: Features) -> None:
        """Refuse a link between anything but numbers."""
        check_sum(self.rule(), features, f"the rule {self.name!r}")

    def named(self) -> tuple[Any, ...]:
        """Both features."""
        return self[:2]

    def rules(self) -> tuple[Rule, ...]:
        """The equation between both."""
        return (self.rule(),)

    def broken(self, frame: pd.DataFrame) -> Iterator[Broken]:  # noqa: ARG002
        """No row breaks it as it is today: nothing has changed yet."""
        return iter(())

    @classmethod
    def presolve(cls, own: Sequence[Link], today: Today, low: Array, high: Array) -> Sequence[Link]:
        """Keep what is linked to a feature that stays as it is; such links say no more.

        A value that cannot change is far easier to search and to prove with than an equation.
        """
        now, left = today.now, [(link, link.concerned(today)) for link in own]
        while True:
            stays, inside = (low == now) & (high == now), (low <= now) & (now <= high)
            idle = [one for one in left if one[0].factor and stays[one[1]].any() and inside[one[1]].all()]
            if not idle:
                return [link for link, _ in left]
            left = [one for one in left if one not in idle]
            for _, pair in idle:
                low[pair] = high[pair] = now[pair]
