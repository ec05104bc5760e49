"""Changes that many rows share: moves of categories and steps of numbers, and a grid of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.mixed import State
from surefoot.problem.question import Question

Array = NDArray[np.float64]
MOVE, STEP, RELATIVE = "move", "step", "relative"
# Of each kind in one change. Were it ten times larger, nothing would be left of a change that is easy to say.
MOST_OF_A_KIND = 2
# Steps of a number in each direction, absolute and relative; the first that fits is taken. Ten times larger,
# and the grid never fits; one alone, and the best step is missed.
FINENESS = (12, 8, 5, 3, 2, 1)
# Pairs of a change and a row that are looked at. Ten times larger, and that takes ten times as long (seconds)
# and a gigabyte.
LARGEST = 6_000_000
DIGITS = 2  # of a step. Ten times as many would be steps that nobody remembers.
# Times the largest step of an individual answer: one step that is larger than all of them. Ten times larger,
# and hardly anybody is allowed to take it.
BEYOND = 1.5


class Part(NamedTuple):
    """What happens to one feature.

    Parameters
    ----------
    feature : int
        Its position.
    kind : {"move", "step", "relative"}
    by : float
        What is added to a number; for ``"relative"``, to 1, and the number is multiplied by that.
    to : int
        The code that a category gets.
    """

    feature: int
    kind: str
    by: float = math.nan
    to: int = -1

    def applied(self, question: Question) -> float | None:
        """The number or code that a row gets; None where that is not allowed of the feature by itself.

        Sums and products are taken as they are written: 0.1 and 0.2 make 0.3. Where a number takes some
        values alone, a relative step goes on to the next of these.
        """
        if self.kind == MOVE:
            choice = next(c for c in question.choices if c.feature == self.feature)
            return self.to if math.isfinite(choice.prices[self.to]) else None
        j = question.numbers.index(self.feature)
        allowed = next((s for s in question.domain.sets if s.feature == j), None)
        today = float(question.factual[j])
        value = self._added(today)
        if allowed is not None and self.kind == RELATIVE:
            value = allowed.at_least(value) if value > today else allowed.at_most(value)
        inside = question.domain.low[j] <= value <= question.domain.high[j]
        return value if inside and (allowed is None or allowed.contains(value)) else None

    def _added(self, today: float) -> float:
        x, by = Fraction(repr(today)), Fraction(repr(self.by))
        try:
            return float(x + by if self.kind == STEP else x * (1 + by))
        except OverflowError:
            return math.inf


class Individual(NamedTuple):
    """What is known of one row: its question, a point that answers it, and a bound on all of them."""

    question: Question
    point: Array | None
    state: State
    lower_bound: float

    @property
    def found(self) -> bool:
        """Whether some change of its own is known."""
        return self.point is not None


def parts_that_fit(individuals: Sequence[Individual], most: int) -> list[Part]:
    """Moves and steps that individual answers suggest; as many as can be tried with every row.

    Moves: every value to which some row may go; where these are too many, those of individual answers. Steps:
    quantiles of individual changes, up and down, as short decimals, and one that is larger than all of them.
    """
    every, used = _moves(individuals), _used_moves(individuals)
    parts: list[Part] = []
    for fineness, moves in itertools.product(FINENESS, (every, used)):
        parts = [*moves, *_steps(individuals, fineness)]
        if count_of(parts, most) * len(individuals) <= LARGEST:
            break
    return parts


def count_of(parts: Sequence[Part], most: int) -> int:
    """How many changes can be made of some parts."""
    numbers, moves = (_subsets(parts, is_move) for is_move in (False, True))
    sizes = itertools.product(range(MOST_OF_A_KIND + 1), repeat=2)
    return sum(numbers[a] * moves[b] for a, b in sizes if 0 < a + b <= most)


def _subsets(parts: Sequence[Part], is_move: bool) -> list[int]:
    """How many sets of 0, 1 and 2 parts of a kind there are, no two of the same feature."""
    counts = [sum(1 for _ in some) for _, some in _by_feature(p for p in parts if _is_move(p) == is_move)]
    total = sum(counts)
    return [1, total, (total**2 - sum(n**2 for n in counts)) // 2]


def _by_feature(parts: Iterable[Part]) -> Iterator[tuple[int, Iterator[Part]]]:
    return itertools.groupby(sorted(parts), key=lambda part: part.feature)


def _is_move(part: Part) -> bool:
    return part.kind == MOVE


def changes_of(parts: Sequence[Part], most: int) -> NDArray[np.intp]:
    """Every change of at most so many parts, by position: a line for each, filled up with -1."""
    found: list[tuple[int, ...]] = []
    for size in range(1, most + 1):
        found += [c for c in itertools.combinations(range(len(parts)), size) if _is_change(parts, c)]
    lines = [[*one, *[-1] * (most - len(one))] for one in found]
    return np.array(lines, dtype=np.intp).reshape(-1, most)


def _is_change(parts: Sequence[Part], chosen: tuple[int, ...]) -> bool:
    features = {parts[p].feature for p in chosen}
    moves = sum(_is_move(parts[p]) for p in chosen)
    return len(features) == len(chosen) and max(moves, len(chosen) - moves) <= MOST_OF_A_KIND


def _moves(individuals: Sequence[Individual]) -> list[Part]:
    """To every value to which some row may go."""
    choices = (choice for one in individuals for choice in one.question.choices)
    return sorted({Part(c.feature, MOVE, 0.0, v) for c in choices for v in c.allowed if v != c.today})


def _used_moves(individuals: Sequence[Individual]) -> list[Part]:
    """To the values of individual answers."""
    found = set()
    for one in individuals:
        codes = zip(one.question.choices, one.state, strict=True) if one.found else ()
        found |= {Part(choice.feature, MOVE, 0.0, v) for choice, v in codes if v != choice.today}
    return sorted(found)


def _steps(individuals: Sequence[Individual], fineness: int) -> list[Part]:
    """Quantiles of individual changes."""
    known = [one for one in individuals if one.point is not None]
    parts: list[Part] = []
    for j, feature in enumerate(known[0].question.numbers if known else ()):
        listed = any(_is_listed(one.question, j) for one in known)
        today = np.array([float(one.question.factual[j]) for one in known])
        changes = np.array([_written_change(one, j) for one in known])
        parts += [Part(feature, STEP, by) for by in _quantiles(changes, fineness, short=not listed)]
        if (today > 0).all():
            shares = _quantiles(changes / today, fineness, short=True)
            parts += [Part(feature, RELATIVE, by) for by in shares if by > -1]
    return parts


def _is_listed(question: Question, j: int) -> bool:
    """Whether a number takes the values of a list, and not just any, or any whole number."""
    return any(s.feature == j and s.values is not None for s in question.domain.sets)


def _written_change(one: Individual, j: int) -> float:
    """By how much a number changes in an individual answer, decimals taken as they are written."""
    assert one.point is not None
    after, before = (Fraction(repr(float(x[j]))) for x in (one.point, one.question.factual))
    return float(after - before)


def _quantiles(changes: Array, fineness: int, short: bool) -> list[float]:
    """So many of the rises, and of the falls; short ones are decimals of few digits that are not smaller."""
    found: set[float] = set()
    for sign in (1.0, -1.0):
        sizes = sign * changes[sign * changes > 0]
        if not len(sizes):
            continue
        levels = np.linspace(0, 1, fineness + 1)[1:]
        steps = np.quantile(sizes, levels, method="inverted_cdf").tolist()
        if short:
            more = [math.ceil(BEYOND * steps[-1])] if (sizes % 1 == 0).all() else [BEYOND * steps[-1]]
            steps = [shortened(size) for size in (*steps, *(more if fineness > 1 else []))]
        found |= {sign * size for size in steps}
    return sorted(found)


def shortened(size: float) -> float:
    """A positive number rounded up to few digits; exact, so that whole numbers stay whole.

    Examples
    --------
    >>> shortened(1234.5), shortened(0.1301), shortened(7.0), shortened(12.0)
    (1300.0, 0.14, 7.0, 12.0)
    """
    place = math.floor(math.log10(size)) + 1 - DIGITS
    step = Decimal(1).scaleb(place)
    rounded = (Decimal(repr(size)) / step).to_integral_value(ROUND_CEILING) * step
    return float(rounded)


def part_line(part: Part, question: Question) -> dict[str, Any]:
    """A part as a line of a table: feature, kind, by, to."""
    to = None
    if part.kind == MOVE:
        to = next(c.values[part.to] for c in question.choices if c.feature == part.feature)
    by = math.nan if part.kind == MOVE else part.by
    return {"feature": question.features[part.feature], "kind": part.kind, "by": by, "to": to}
