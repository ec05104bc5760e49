"""The proof that no person of a region has a way to the target, or a person who has one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from surefoot.exceptions import ProblemError
from surefoot.explain.ask.target import chosen_target
from surefoot.explain.population.nobody import KEYS, Nobody
from surefoot.explain.population.region_search import search_region
from surefoot.plain import plain

if TYPE_CHECKING:
    from surefoot.explain.explainer import CounterfactualExplainer


def nobody(
    explainer: CounterfactualExplainer,
    region: Mapping[Any, Any],
    target: Any = None,
    time_limit: float | None = None,
) -> Nobody:
    """Prove that nobody in a region has the target or a way to it; or find somebody who has.

    It is about every person whose features lie in the region, seen or not: none of them is decided as
    the target (threshold included), and none of them gets there by an allowed change. Allowed is what
    `explain` allows after all that comes from the preset has given way. A proof does without errors
    (``budget``), if-then rules and what is plausible of single features: what is proven without them
    holds with them; where it cannot be proven without them, ``holds`` may be None.

    Parameters
    ----------
    region : dict of feature -> values
        A pair (low, high) of a number, where None is the end of the range seen in training and an
        infinite end is open; a single value; or a list of values. A feature that is left out may be
        anything: a number within the range seen in training, whole where it was whole there, and every
        value of a category.
    target : label, optional
        Default: the class that is wanted (``classifier.wanted_``).
    time_limit : float, optional
        Seconds for all of it. Default: that of the explainer.

    Returns
    -------
    Nobody
        ``holds`` is True (proven; ``certificate`` is what `verify` checks), False (``person`` has a way,
        and ``explanation`` says which) or None (undecided in time; ``words`` says why).

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    >>> explainer = CounterfactualExplainer(clf, immutable=bank.feature_names)
    >>> region = {"variance": (3, None), "skewness": (2, 8), "curtosis": (-2, 2), "entropy": (-3, None)}
    >>> explainer.nobody(region, target=1).holds
    True
    """
    seconds = explainer.options.time_limit if time_limit is None else time_limit
    if not seconds > 0 or math.isnan(seconds):
        raise ProblemError(f"time_limit must be a positive number of seconds, not {time_limit!r}")
    found, explanation = search_region(explainer, region, wanted_class(explainer, target), seconds)
    return Nobody({key: plain(found[key]) for key in KEYS}, explanation)


def wanted_class(explainer: CounterfactualExplainer, target: Any) -> Any:
    """The one class that is asked about, whoever it is for."""
    labels = explainer.classifier.classes_.tolist()
    wanted = explainer.asker.wanted(target)
    if wanted is None:
        raise ProblemError(f"name the target: one of the classes {labels}")
    return chosen_target(wanted, labels, 0)
