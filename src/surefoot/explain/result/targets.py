"""Several targets: the explanation of the nearest, with what proves that no other one is nearer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from surefoot.explain.result.context import OtherTarget
from surefoot.explain.result.explanation import Explanation
from surefoot.problem.question import Question
from surefoot.status import Status


def nearest(found: Sequence[Explanation]) -> Explanation:
    """The nearest of the explanations of one row, one for each target.

    Its lower bound is the least of all: no allowed change that is smaller leads to any of the targets. Where
    none has a counterfactual it is the one of which least is proven, so that nothing is called impossible
    that is merely not found.

    Parameters
    ----------
    found : sequence of Explanation
        In the order in which the targets were named; the earlier one is taken where two are equally near.
    """
    best = min(found, key=lambda e: (e.distance, e.lower_bound))
    if len(found) == 1 or not isinstance(best.question, Question):
        return best
    others = [e for e in found if e is not best]
    bound = min(e.lower_bound for e in found)
    gap = (best.distance - bound) / best.distance if 0 < best.distance < float("inf") else best.gap
    answer = replace(best.answer, lower_bound=bound, status=_status(best, others, gap))
    if best.answer.point is None:
        advice = [f"{e.target}: {e.advice}" for e in found if e.advice]
        answer = replace(answer, advice=" ".join(advice))
    listed = tuple(_other(e) for e in others)
    return replace(best, answer=answer, context=replace(best.context, gap=gap), others=listed)


def _other(e: Explanation) -> OtherTarget:
    """What is kept of the explanation of another target: what proves that nothing nearer leads to it."""
    assert isinstance(e.question, Question)
    held = {**(e.answer.certificate or {}), "robustness": None, "worst": None}
    return OtherTarget(e.question, e.answer.lower_bound, held)


def _status(best: Explanation, others: Sequence[Explanation], gap: float) -> Status:
    """The status of the nearest, unless the search for another target was cut short before it was as far."""
    assert isinstance(best.question, Question)
    if best.status is not Status.OPTIMAL or gap <= best.question.gap or best.distance * gap <= 1e-6:
        return best.status
    stopped = min(others, key=lambda e: e.lower_bound).status.with_point
    return stopped if stopped.is_cut_short else Status.BOUND_LIMIT
