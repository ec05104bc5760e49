"""That one of some features keeps its value of today, as a limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.problem.either import Limit

Array = NDArray[np.float64]


def keeping_one(
    features: Sequence[Any], names: Sequence[Any], numbers: Sequence[int], factual: Array
) -> Limit:
    """One of some features keeps its value of today: all but one of them change at most.

    Parameters
    ----------
    features : sequence of names
    names : sequence
        Of all features.
    numbers : sequence of int
        Which of them are numbers.
    factual : array
        The numbers.
    """
    unknown = [name for name in features if name not in names]
    if unknown:
        raise DataError(f"{unknown[0]!r} is no feature of the model")
    named = {list(names).index(name) for name in features}
    categories = [j for j in range(len(names)) if j not in numbers]
    own = tuple(i for i, j in enumerate(numbers) if j in named)
    listed = ", ".join(str(name) for name in features)
    return Limit(
        len(named) - 1,
        own,
        tuple(float(factual[i]) for i in own),
        tuple(k for k, j in enumerate(categories) if j in named),
        f"one of these stays: {listed}",
    )
