"""What earlier answers ask of the next one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.problem.either import Limit
from surefoot.problem.requirements import Away

Array = NDArray[np.float64]


class Differing(NamedTuple):
    """What earlier answers ask of the next one."""

    keeping: tuple[tuple[Any, ...], ...] = ()  # at least one feature of each keeps its value of today
    away: tuple[Away, ...] = ()

    def declared(self) -> dict[str, Any]:
        """As files write it."""
        return {"keeping": [[str(name) for name in one] for one in self.keeping]} if self.keeping else {}


NOTHING = Differing()


def keeping_one(
    features: Sequence[Any], names: Sequence[Any], numbers: Sequence[int], factual: Array
) -> Limit:
    """At least one of some features keeps today's value, as a limit on how many change.

    The factual's values are those of the numbers, which are features by position.
    """
    unknown = [name for name in features if name not in names]
    if unknown:
        raise DataError(f"{unknown[0]!r} is no feature of the model")
    named = {list(names).index(name) for name in features}
    categories = [j for j in range(len(names)) if j not in numbers]
    own = tuple(i for i, j in enumerate(numbers) if j in named)
    today = tuple(float(factual[i]) for i in own)
    chosen = tuple(k for k, j in enumerate(categories) if j in named)
    return Limit(len(named) - 1, own, today, chosen, f"one of these stays: {', '.join(map(str, features))}")
