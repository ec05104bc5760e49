"""AtMost: a limit on how many features change."""

from __future__ import annotations

from collections import Counter
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.constraint import Constraint, Features, Place
from surefoot.problem.either import Limit


class _Fields(NamedTuple):
    most: int
    features: tuple[Any, ...] | None = None


class AtMost(_Fields, Constraint):
    """A limit on how many of some features change, categories included; None stands for all features."""

    __slots__ = ()
    key = "at_most_of"
    document_key = "at_most"
    example = 'at_most_of = [[1, ["loan a", "loan b"]]]'
    says = 2

    @property
    def name(self) -> str:
        """In words."""
        verb = "changes" if self.most == 1 else "change"
        if self.features is None:
            return f"at most {self.most} feature{'' if self.most == 1 else 's'} {verb}"
        return f"at most {self.most} of {', '.join(str(name) for name in self.features)} {verb}"

    @classmethod
    def of_all(cls, count: Any) -> AtMost:
        """A limit on all features, from a count."""
        _check_count(count, "at_most")
        return cls(count)

    @classmethod
    def read(cls, entry: Any) -> AtMost:
        """From (count, features)."""
        if not isinstance(entry, list | tuple) or len(entry) != 2 or not isinstance(entry[1], list | tuple):
            raise ProblemError(f"at_most_of must list pairs (count, features), not {entry!r:.80}")
        count, features = entry
        _check_count(count, "a count of at_most_of")
        wrong = [name for name in features if not isinstance(name, str | Integral)]
        if wrong or not features:
            raise ProblemError(f"at_most_of must name features, not {wrong[0] if wrong else features!r:.60}")
        twice = [name for name, times in Counter[Any](features).items() if times > 1]
        if twice:
            raise ProblemError(f"at_most_of names {twice[0]!r} twice")
        return cls(count, tuple(features))

    @classmethod
    def from_document(cls, entry: Any) -> AtMost:
        """From a count and names, or None for all features."""
        if isinstance(entry, list | tuple) and len(entry) == 2 and entry[1] is None:
            return cls.of_all(entry[0])
        return cls.read(entry)

    def plain(self) -> list[Any]:
        """The count, and the names or None."""
        return [int(self.most), None if self.features is None else [str(name) for name in self.features]]

    def to_toml(self) -> list[Any]:
        """The same, as it was given."""
        return list(self)

    def check(self, features: Features) -> None:
        """Refuse features that do not exist, and two names of the same feature."""
        if len(self.concerned(features)) < len(self.named()):
            raise ProblemError(f"at_most_of names a feature twice: {self.name}")

    def named(self) -> tuple[Any, ...]:
        """The features that it names; none where it is about all."""
        return self.features or ()

    def most_changes(self) -> int:
        """The limit."""
        return int(self.most)

    def limits(self, place: Place) -> tuple[Limit, ...]:
        """A limit over the features that can change at all; nothing where it lets all of them change."""
        x0, domain = place.now[place.numbers], place.domain
        moves = (domain.low < x0) | (domain.high > x0)
        named = range(len(place.names)) if self.features is None else self.concerned(place)
        numbers = [k for k, i in enumerate(place.numbers) if i in named and moves[k]]
        categories = [k for k, c in enumerate(place.choices) if c.feature in named and c.is_open]
        if self.most >= len(numbers) + len(categories):
            return ()
        today = tuple(np.asarray(x0)[numbers].tolist())
        return (Limit(self.most, tuple(numbers), today, tuple(categories), self.name),)

    def relaxation(self) -> tuple[str, str]:
        """How a conflict names it, and that more may change."""
        who = "features" if self.features is None else f"of {', '.join(map(str, self.features))}"
        return self.name, f"more than {self.most} {who} may change"


def _check_count(count: Any, what: str) -> None:
    if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
        raise ProblemError(f"{what} must be a positive integer, not {count!r:.60}")
