"""Where a category may go, and at what price: from an action to a choice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.prices import PRICE
from surefoot.formats import first_names, suggestion
from surefoot.problem.choice import Choice
from surefoot.table.rare import RARE

if TYPE_CHECKING:
    from surefoot.explain.constraints.feature import Action


@dataclass(frozen=True)
class Category:
    """What is known of a category."""

    feature: int  # its position
    name: Any
    values: tuple[Any, ...]
    ordered: bool = False  # whether its values have an order

    def check(self, action: Action) -> None:
        """Refuse values that do not exist."""
        moves = action.moves or {}
        prices = action.cost if isinstance(action.cost, Mapping) else {}
        for value in [*(action.values or ()), *moves, *(v for to in moves.values() for v in to), *prices]:
            self.code(value)

    def code(self, value: Any) -> int:
        """Position of a value."""
        found = [k for k, known in enumerate(self.values) if same_value(known, value)]
        if not found:
            names = [str(v) for v in self.values]
            hint = suggestion(str(value), names)
            raise ProblemError(
                f"{self.name!r} has no value {value!r}; its values are {', '.join(names)}{hint}"
            )
        return found[0]

    def choice(self, action: Action, today: int) -> Choice:
        """The values that may be taken, with their prices."""
        named: dict[int, float] = {}
        price = PRICE
        if isinstance(action.cost, Mapping):
            named = {self.code(value): float(cost) for value, cost in action.cost.items()}
        elif action.cost is not None:
            price = float(action.cost)
        prices = [math.inf] * len(self.values)
        for code in self._reached(action, today):
            prices[code] = named.get(code, price)
        prices[today] = 0.0
        return Choice(self.feature, self.values, tuple(prices), today)

    def _reached(self, action: Action, today: int) -> set[int]:
        """The codes that it may go to from today's."""
        if action.may == "stay":
            return set()
        start = today if action.may == "rise" else 0
        found = set(range(start, today if action.may == "fall" else len(self.values)))
        if action.values is not None:
            found &= self._codes(action.values)
        if action.moves is not None:
            here = [ends for value, ends in action.moves.items() if self.code(value) == today]
            found &= {code for ends in here for code in self._codes(ends)}
        if action.values is None and action.moves is None:
            # Nobody can be told to become one of the rare; an action that lists it may mean something by it.
            found -= {code for code in found if self.values[code] == RARE}
        return found

    def _codes(self, values: Iterable[Any]) -> set[int]:
        return {self.code(value) for value in values}


def same_value(known: Any, value: Any) -> bool:
    """Whether a user names a value: as it is, or as it is written."""
    if isinstance(known, bool) != isinstance(value, bool | np.bool_):
        return bool(str(known) == value)
    return bool(known == value or (isinstance(value, str) and str(known) == value))


def check_moves(moves: Any) -> None:
    """Refuse what does not say where a category may go from which value."""
    if moves is not None and not (
        isinstance(moves, Mapping) and all(isinstance(to, list | tuple) for to in moves.values())
    ):
        raise ProblemError(f"moves must be a dict of value -> list of values, not {moves!r}")


def move_words(moves: Mapping[Any, Any] | None) -> list[str]:
    """Where a category may go from each value, in words."""
    named = (moves or {}).items()
    return [f"may go from {start} to {first_names([str(v) for v in ends])}" for start, ends in named]
