"""Refusal: what is known of a row about which nothing can be asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surefoot.problem.question import Budget


@dataclass(frozen=True, eq=False)
class Refusal:
    """What a request that is invalid says about its question; names as in `Question`.

    Parameters
    ----------
    models : tuple of str
        Fingerprint of the classifier.
    features : tuple
    factual : array of shape (n,)
        Not a number where the row has none.
    target : label
    budget, norm, whitening, threshold
    factual_class : None
        Unknown.
    """

    models: tuple[str, ...]
    features: tuple[Any, ...]
    factual: Any
    target: Any
    budget: Budget
    norm: float
    whitening: str
    threshold: float
    factual_class: None = None

    @property
    def number_names(self) -> tuple[Any, ...]:
        """Names of the features that a budget may name: which are numbers, only a question knows."""
        return self.features
