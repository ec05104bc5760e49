"""Bounds that rounding may have invalidated: checked before they are shown, and withdrawn if they fail."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.answer.claims import claims
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier as Classifier
from surefoot.model.content import classifier_content
from surefoot.problem.answer import Answer
from surefoot.problem.question import Question
from surefoot.status import Status

Array = NDArray[np.float64]

LARGE = 1e5  # scores beyond which rounding shows in what is said of their differences
FAR = 1e3  # standard deviations, beyond which rounding may undo a proof
# How many times as much as another a standard deviation may count in a given matrix or in a rule. Ten times
# more would let bounds pass that rounding has undone; ten times fewer would check many that it has not.
UNEVEN = 1e4
BOUNDS = ("lower bound", "best probability", "verification")  # claims that rest on such proofs
FEW = 200  # nodes of a proof that is checked before it is shown
# Seconds for that check, after which the bound is not claimed. Ten times as long would keep some more bounds
# of models with hundreds of features, and answers would take that much longer.
PATIENCE = 10.0
# And even if the time of the whole answer is over. Ten times as long would overrun every short limit.
AT_LEAST = 0.25


def is_doubtful(question: Question, answer: Answer, distance: float, unit: Array, scores: Array) -> bool:
    """Whether a bound may not withstand a check: far from the data, or where features hardly differ.

    ``scores`` are those of the classes wherever the answer speaks of them.
    """
    large = np.abs(scores).max() > LARGE
    if question.matrix is not None:
        lengths = np.linalg.svd(question.matrix * unit, compute_uv=False)
        return bool(large or lengths[0] > UNEVEN * lengths[-1])
    far = FAR < distance < np.inf or FAR < answer.lower_bound < np.inf
    uneven = any(_is_uneven(row.coefficients * unit) for row in question.domain.rows)
    if not (far or large or uneven):
        return False
    trees = list(_trees(answer.certificate or {}))
    return bool(trees) and sum(map(_n_nodes, trees)) <= FEW


def _is_uneven(weights: Array) -> bool:
    """Whether rounding one feature of a rule may hide what another one adds to it."""
    sizes = np.abs(weights[weights != 0])
    return bool(sizes.size and sizes.max() > UNEVEN * sizes.min())


def rechecked(question: Question, answer: Answer, models: Sequence[Classifier], seconds: float) -> Answer:
    """The answer, without its bound where the checker does not accept that in the seconds that are left.

    ``models`` are those that the question names.
    """
    from surefoot.proof import exact  # lazily: most answers need no check

    limit = min(PATIENCE, max(seconds, AT_LEAST))
    found = exact.check([classifier_content(one) for one in models], claims(question, answer), limit)
    verdicts = {claim.name: claim.verdict for claim in found}
    holds = all(verdicts.get(name, exact.HOLDS) == exact.HOLDS for name in BOUNDS)
    return answer if holds else _without_bound(answer)


def _without_bound(answer: Answer) -> Answer:
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
