"""Model share: under how many refits of the model an answer holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.ask.refits import RefittedModels
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.problem.mixed import State
from surefoot.problem.requirements import Decision, Odds

Array = NDArray[np.float64]

CONFIDENCE = 0.95  # of the bound on a share of refits; a tenth of the doubt lowers it by 2 to 5 points


class ModelShare(NamedTuple):
    """Under how many refits of the model an answer holds: how many decide as was asked, at that point.

    Parameters
    ----------
    share : float
        Of the refits.
    bound : float
        The share of all such refits is at least this (Clopper and Pearson, 95 %, one-sided), as far as refits
        tell that the search has not seen; 0 where it has seen all of them.
    refits : int
        How many were asked.
    kept : bool, default=False
        Whether they are those that the model keeps, so that anybody can count again. Otherwise they were
        fitted for this.

    Examples
    --------
    >>> str(ModelShare(0.55, 0.34, 20, kept=True))
    '11 of 20 models fitted to slightly different data'
    """

    share: float
    bound: float
    refits: int
    kept: bool = False

    @property
    def agreeing(self) -> int:
        """How many of them do."""
        return round(self.share * self.refits)

    def __str__(self) -> str:
        fresh = "" if self.kept else "fresh "
        return f"{self.agreeing} of {self.refits} {fresh}models fitted to slightly different data"


def fresh_share(
    refits: RefittedModels, asked: Sequence[Odds | Decision], z: Array, state: State, among_all: bool = False
) -> ModelShare:
    """How many fresh refits satisfy what is asked of the explained model, at one point on its scales.

    ``among_all``: against all rivals together, not against each by itself.
    """
    fresh = refits.fresh
    agree = sum(_holds(asked, model, z, state, among_all) for model in fresh)
    return ModelShare(agree / len(fresh), lower_bound(agree, len(fresh)), len(fresh))


def kept_share(agree: Sequence[bool], seen: Sequence[bool]) -> ModelShare | None:
    """What the refits that a model keeps say; those that the search has seen tell nothing about others.

    Examples
    --------
    >>> kept_share([True, True, False, True], [True, True, False, False])
    ModelShare(share=0.75, bound=0.02532056..., refits=4, kept=True)
    """
    if not agree:
        return None
    fresh = [one for one, known in zip(agree, seen, strict=True) if not known]
    return ModelShare(sum(agree) / len(agree), lower_bound(sum(fresh), len(fresh)), len(agree), kept=True)


def lower_bound(hits: int, trials: int) -> float:
    """The least share that is not refuted by so many hits, after Clopper and Pearson.

    Examples
    --------
    >>> round(lower_bound(100, 100), 4), lower_bound(0, 100)
    (0.9705, 0.0)
    """
    from scipy.stats import beta

    return float(beta.ppf(1 - CONFIDENCE, hits, trials - hits + 1)) if hits else 0.0


def _holds(
    asked: Sequence[Odds | Decision],
    model: ConditionalGaussianNetworkClassifier,
    z: Array,
    state: State,
    among_all: bool,
) -> bool:
    """Whether a model gives the target the odds against each rival, or against all of them together."""
    required = [r.requirement([model]) for r in asked]
    lacking = [-float(r.margin.at(state)(z)) / r.heat for r in required]
    return float(np.logaddexp.reduce(lacking)) <= 0 if among_all else max(lacking) <= 0
