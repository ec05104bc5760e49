"""What an explanation holds beside question and answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.result.cautions import Caution
from surefoot.explain.result.model_share import ModelShare
from surefoot.problem.question import Question

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Context:
    """What follows from question, answer and classifier, as far as it is known; and where the row comes from.

    Most names are those of `Explanation`, which says what they are.
    """

    tol: float
    unit: Array
    parents: tuple[tuple[int, ...], ...]
    factual_probability: float = math.nan
    probability: float = math.nan
    worst_probability: float = math.nan
    distance: float = math.inf
    gap: float = math.inf
    coverage: float = 0.0
    violation: float = math.inf
    early_stop: bool = False
    decision: Any = None
    expected_before: Array | None = None  # of the numbers, as the next two
    expected_after: Array | None = None
    z_score: Array | None = None
    chance_before: Array | None = None  # of the categories: the probability of their values, given parents
    chance_after: Array | None = None
    density_percentile: float = math.nan
    method: str = "certified"
    row: Any = None
    cautions: tuple[Caution, ...] = ()  # those that need the model
    model_share: ModelShare | None = None


@dataclass(frozen=True, eq=False)
class OtherTarget:
    """Another target of a row of which the nearest was asked for: no smaller change leads to it.

    Parameters
    ----------
    question : Question
    lower_bound : float
        Infinite where nothing that is allowed leads to it.
    certificate : dict
        What proves that.
    """

    question: Question
    lower_bound: float
    certificate: dict[str, Any]
