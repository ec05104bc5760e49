"""Levers and consequences as a sentence."""

from __future__ import annotations

from typing import Any

from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.levers import levers_of
from surefoot.formats import in_a_row
from surefoot.problem.question import Question
from surefoot.ui.plots.levers import noticeable
from surefoot.ui.plots.values import Values

MOST_NAMED = 8  # features of a list; ten times as many would fill a page
# Of the change of one that follows, the part that is a pull and is said; ten times as much is all of it.
NOTED = 0.1
FOLLOWS = "What follows, as far as the network expects"
STAYS = "What stays, though the network expects it to follow"
NO_CAUSE = (
    "That is how features go together in the data, not what causes what; the answer counts on what follows, "
    "too."
)


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
    every = levers_of(e)
    own = dict(zip(every.pulled, every.own, strict=False))  # categories come last and have none
    to_do = [_moved(e, values, name, own.get(name, 1.0)) for name in found.pulled if name in e.changed]
    held = [f"{name} at {values.today(name)}" for name in found.pulled if name not in e.changed]
    followers = [
        f"{name} to {_reached(values, name)}{_beyond(own.get(name, 0.0))}" for name in found.following
    ]
    if not followers and not held:
        return f"To do: {in_a_row(to_do)}; nothing else changes{' noticeably' if left_out else ''}."
    lines = {"To do": to_do, FOLLOWS: followers, STAYS: held}
    said = (f"{title}: {in_a_row(_first(names))}." for title, names in lines.items() if names)
    return f"{' '.join(said)} {NO_CAUSE}"


def _moved(e: Explanation, values: Values, name: Any, own: float) -> str:
    """A lever as something to do; one that moves less than others would move it is held back."""
    if name in values.choices:
        return f"change {name} to {values.reached[name]}"
    assert e.counterfactual is not None
    rises = e.counterfactual[name] > e.factual[name]
    if own < 0:
        return f"let {name} {'rise' if rises else 'fall'} only to {_reached(values, name)}"
    return f"{'raise' if rises else 'lower'} {name} to {_reached(values, name)}"


def _first(names: list[str]) -> list[str]:
    more = len(names) - MOST_NAMED
    return [*names[:MOST_NAMED], f"{more} more"] if more > 0 else names


def _beyond(own: float) -> str:
    """That something mostly follows and is pulled as well, if by more than rounding may take."""
    return f" ({'more' if own > 0 else 'less'} than expected)" if abs(own) >= NOTED else ""


def _reached(values: Values, name: Any) -> str:
    return f"{values.reached[name]} {values.unit(name)}".rstrip()
