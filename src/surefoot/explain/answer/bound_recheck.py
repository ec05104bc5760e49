"""Bounds that rounding may have undone: they are checked before they are shown, and withdrawn if need be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.result.explanation import Explanation
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.content import classifier_content
from surefoot.problem.answer import Answer
from surefoot.problem.question import Question
from surefoot.status import Status

Array = NDArray[np.float64]

LARGE = 1e5  # scores beyond which rounding shows in what is said of their differences
FAR = 1e3  # standard deviations, beyond which rounding may undo a proof
# How many times as long as another a change by a standard deviation may be in a given matrix. Ten times more
# would let bounds pass that rounding has undone; ten times fewer would check many that it has not.
UNEVEN = 1e4
BOUNDS = ("lower bound", "best probability", "verification")  # claims that rest on such proofs
FEW = 200  # nodes of a proof that is checked before it is shown
# Seconds for that check, after which the bound is not claimed. Ten times as long would keep some more bounds
# of models with hundreds of features, and answers would take that much longer.
PATIENCE = 10.0
# And even if the time of the whole answer is over. Ten times as long would overrun every short limit.
AT_LEAST = 0.25


def is_unproved(
    e: Explanation, scores: Array, clf: ConditionalGaussianNetworkClassifier, seconds: float = PATIENCE
) -> bool:
    """Whether the lower bound is doubtful, and the checker does not accept it in time.

    Parameters
    ----------
    e : Explanation
    scores : array
        Those of the classes where it speaks of them.
    clf : ConditionalGaussianNetworkClassifier
    seconds : float
        That are left for the whole answer.
    """
    if not _is_doubtful(e, scores):
        return False
    from surefoot.proof import exact  # lazily: most answers need no check

    limit = min(PATIENCE, max(seconds, AT_LEAST))
    models = [classifier_content(one) for one in (clf, *e.searched_with)]
    claims = {claim.name: claim.verdict for claim in exact.check(models, e.to_dict(), limit)}
    return any(claims.get(name, exact.HOLDS) != exact.HOLDS for name in BOUNDS)


def without_bound(answer: Answer) -> Answer:
    """The same point with nothing claimed about others."""
    assert answer.certificate is not None
    finished = answer.status in (Status.OPTIMAL, Status.INFEASIBLE)
    status = Status.PRECISION_LIMIT if finished else answer.status
    nothing = answer.status is Status.INFEASIBLE  # and why that would be
    best = {"best": None} if "best" in answer.certificate else {}
    return replace(
        answer,
        status=status if answer.point is not None else status.without_point,
        lower_bound=0.0,
        certificate={**answer.certificate, "bound": None, "states": None} | best,
        best_probability=math.nan,
        best_probability_bound=math.nan,
        conflict=() if nothing else answer.conflict,
        advice="" if nothing else answer.advice,
    )


def _is_doubtful(e: Explanation, scores: Array) -> bool:
    """Whether its bound may not withstand a check: far from the data, or where features hardly differ."""
    if isinstance(e.question, Question) and e.question.matrix is not None:
        lengths = np.linalg.svd(e.question.matrix * e.context.unit, compute_uv=False)
        return bool(lengths[0] > UNEVEN * lengths[-1] or np.abs(scores).max() > LARGE)
    far = FAR < e.distance < np.inf or FAR < e.lower_bound < np.inf
    if not (far or np.abs(scores).max() > LARGE):
        return False
    trees = list(_trees(e.answer.certificate or {}))
    return bool(trees) and sum(map(_n_nodes, trees)) <= FEW


def _trees(certificate: dict[str, Any]) -> Iterator[Any]:
    """The trees that prove a bound: of the numbers, and of the states of categories."""
    if certificate.get("bound"):
        yield certificate["bound"]["tree"]
    for entry in (certificate.get("states") or {}).get("proofs", ()):
        if entry["proof"]:
            yield entry["proof"]["tree"]


def _n_nodes(tree: Any) -> int:
    if not isinstance(tree, dict):
        return 1
    below = [tree[name] for name in ("below", "above", "no", "yes") if name in tree]
    return 1 + sum(map(_n_nodes, (*below, *tree.get("ways", ()))))
