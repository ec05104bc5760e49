"""Levers and consequences as a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.explain.result.explanation import Explanation
from surefoot.problem.question import Question
from surefoot.ui.plots.levers import noticeable
from surefoot.ui.plots.values import Values

MOST_NAMED = 8  # features that follow


def few_levers(e: Explanation) -> bool:
    """Whether an answer was asked to pull few levers, and does."""
    question = e.question
    if not isinstance(question, Question) or question.prices is not None or e.answer.point is None:
        return False
    return question.whitening == "dag" and question.norm == 1 and bool(e.changed)


def lever_words(e: Explanation) -> str:
    """What to move and what follows; "" where the distance does not tell them apart."""
    if not few_levers(e):
        return ""
    (found, left_out), values = noticeable(e), Values(e)
    if not found.pulled:
        return ""
    pulled = f"Levers: {_joined([_moved(e, values, name) for name in found.pulled])}"
    if not found.following:
        return f"{pulled}; nothing else changes{' noticeably' if left_out else ''}."
    names = [str(name) for name in found.following[:MOST_NAMED]]
    more = len(found.following) - len(names)
    followers = _joined([*names, f"{more} more"] if more else names)
    verb = "follows" if len(found.following) == 1 else "follow"
    return (
        f"{pulled}; then {followers} {verb}, as far as the network expects. That is how features go together "
        "in the data, not what causes what."
    )


def _moved(e: Explanation, values: Values, name: Any) -> str:
    """A lever as something to do; one that stays is held back where others would move it."""
    if name not in e.changed:
        return f"keep {name} at {values.today(name)}"
    if name in values.choices:
        return f"change {name} to {values.reached[name]}"
    assert e.counterfactual is not None
    verb = "raise" if e.counterfactual[name] > e.factual[name] else "lower"
    return f"{verb} {name} to {values.reached[name]} {values.unit(name)}".rstrip()


def _joined(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
