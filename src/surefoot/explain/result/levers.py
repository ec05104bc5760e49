"""Levers and consequences: what is moved on purpose, and what follows through the network."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.explain.result.explanation import Explanation
from surefoot.problem.question import Question

Array = NDArray[np.float64]

UNCHANGED = 1e-6  # standard deviations; a smaller pull is rounding


class Levers(NamedTuple):
    """Which features of an answer are moved away from what their parents predict, and which just follow.

    Parameters
    ----------
    pulled : tuple of features
        The largest pull first.
    following : tuple of features
        They change as far as the network expects of them, given the change of their parents.
    pulls : tuple of float
        For each lever how far it moves beyond what is expected, in conditional standard deviations.
    own : tuple of float
        For each lever which part of its change the pull is: 1 where nothing else moves it, little where it
        mostly follows, below 0 where it is held back; minus infinity where it stays.
    """

    pulled: tuple[Any, ...]
    following: tuple[Any, ...]
    pulls: tuple[float, ...]
    own: tuple[float, ...]


def levers_of(e: Explanation) -> Levers:
    """Levers and consequences of an answer whose distance was measured along the graph.

    Parameters
    ----------
    e : Explanation
        Asked with ``whitening="dag"``: then each coordinate of the distance belongs to one feature, and says
        how far its change is from what its parents' changes make expected in the factual's class. With
        ``norm=1`` few of them are not zero.

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)
    >>> explainer = CounterfactualExplainer(clf, preset="paper", norm=1, whitening="dag")
    >>> e = explainer.explain(bank.X.iloc[0], target=1)
    >>> levers_of(e).pulled, levers_of(e).following
    (('variance', 'skewness'), ('curtosis', 'entropy'))
    """
    question = e.question
    if not isinstance(question, Question) or e.answer.point is None or e.certificate is None:
        raise DataError(f"there is no counterfactual to look at: {e.message}")
    if question.whitening != "dag" or question.prices is not None:
        raise DataError("levers need distances along the graph: whitening='dag' and distance='mahalanobis'")
    D = np.array(e.certificate["metric"], dtype=float)
    change = question.warped(e.answer.point) - question.warped(question.factual)
    pull, moved = D @ change, np.diag(D) * change
    order = [int(k) for k in np.argsort(-np.abs(pull)) if abs(pull[k]) > UNCHANGED]
    names = question.number_names
    turned = [c.feature for c, v in zip(question.choices, e.answer.state, strict=True) if v != c.today]
    pulled = tuple(names[k] for k in order) + tuple(question.features[j] for j in turned)
    following = tuple(name for name in e.changed if name not in pulled)
    own = tuple(float(pull[k] / moved[k]) if names[k] in e.changed else -math.inf for k in order)
    return Levers(pulled, following, tuple(float(pull[k]) for k in order), own)
