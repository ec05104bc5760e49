"""Answer: what any method found for a problem; Round: one step on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.status import Status

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Round:
    """Where a search stood after one round.

    Parameters
    ----------
    distance : float
        Of the best point, or of this round's candidate; infinite without one.
    lower_bound : float
        Proven by then.
    violation : float
        The paper's phi: how much the worst perturbation known violates; infinite without a point.
    perturbation : array or None
        That perturbation, in the features' units.
    master_seconds, adversary_seconds : float
        Spent on points and bounds, and on perturbations.
    candidate : array or None
        The point.
    status : Status or None
        Why the search ends with this round; None when it goes on.
    message : str
        The solver's own words.
    """

    distance: float
    lower_bound: float
    violation: float
    perturbation: Array | None
    master_seconds: float
    adversary_seconds: float
    candidate: Array | None = None
    status: Status | None = None
    message: str = ""


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method found: a point or none, what is proven about it, and how it came about.

    Parameters
    ----------
    status : Status
    point : array or None
        The numbers of the counterfactual.
    state : tuple of int
        Its categories, as positions of their values.
    lower_bound : float
        No allowed point is closer; infinite where there is none at all.
    radius : float
        Every perturbation within this radius of the ball's shape keeps all robust requirements; proven.
    worst : array or None
        The worst perturbation known within the budget, in the features' units.
    rounds : tuple of Round
    certificate : dict or None
        What proves lower bound and radius, as `docs/certificate.md` defines it.
    backend : str
        The solver.
    seconds : float
        For all of it.
    search_seconds : float
        For the search alone, without the reasons why there is nothing.
    advice : str
        What else a person should know: the solver's words, or what would have to be given up.
    conflict : tuple of str
        Where there is no point: constraints that together leave no point, in words.
    best_probability, best_probability_bound : float
        Where there is no point: the highest probability of the target that some allowed change reaches, and
        a proven bound on that of all of them; not a number where they are not known.
    """

    status: Status
    point: Array | None = None
    lower_bound: float = 0.0
    radius: float = 0.0
    worst: Array | None = None
    rounds: tuple[Round, ...] = ()
    certificate: dict[str, Any] | None = None
    backend: str = ""
    seconds: float = 0.0
    advice: str = ""
    state: tuple[int, ...] = ()
    conflict: tuple[str, ...] = ()
    best_probability: float = math.nan
    best_probability_bound: float = math.nan
    search_seconds: float = 0.0
