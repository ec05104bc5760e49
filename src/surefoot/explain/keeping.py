"""That one of some features keeps its value of today, as an either."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.waist.either import Either, Way
from surefoot.waist.mixed import State
from surefoot.waist.row import Row

Array = NDArray[np.float64]


def keeping_one(
    features: Sequence[Any], names: Sequence[Any], numbers: Sequence[int], factual: Array, state: State
) -> Either:
    """One of some features keeps its value of today.

    Parameters
    ----------
    features : sequence of names
    names : sequence
        Of all features.
    numbers : sequence of int
        Which of them are numbers.
    factual : array
        The numbers.
    state : tuple of int
        The categories.
    """
    categories = [j for j in range(len(names)) if j not in numbers]
    ways = []
    for name in features:
        if name not in names:
            raise DataError(f"{name!r} is no feature of the model")
        j = list(names).index(name)
        if j in categories:
            k = categories.index(j)
            ways.append(Way(values={k: frozenset({state[k]})}))
        else:
            i = list(numbers).index(j)
            ways.append(Way((Row(np.eye(len(factual))[i], float(factual[i]), float(factual[i])),)))
    listed = ", ".join(str(name) for name in features)
    return Either(tuple(ways), f"one of these stays: {listed}")
