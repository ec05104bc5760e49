"""Questions that ask for more than others: whatever answers them answers the others too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from surefoot.problem.question import Question
from surefoot.problem.requirements import Away, Decision, DensityFloor, Odds, Probability, Required

MARKS = {
    Odds: "threshold",
    Decision: "value",
    DensityFloor: "floor",
    Away: "distance",
    Probability: "threshold",
}


def asks_for_more(one: Question, other: Question) -> bool:
    """Whether every answer to one question is an answer to another, and as far.

    Then a bound on the distance of the other's answers holds for the one's. Recognised are larger budgets,
    further requirements and higher ones; False wherever anything else differs.
    """
    if _setting(one) != _setting(other) or not _withstands_more(one, other):
        return False
    asked = other.requirements
    return all(any(_implies(one, mine, other, less) for mine in one.requirements) for less in asked)


def _setting(question: Question) -> dict[str, Any]:
    """What has to be the same: row, distance, ball but for its size, and what is allowed."""
    found = question.to_dict()
    ball, domain = dict(found["ball"]), dict(found["domain"])
    del ball["budget"], domain["declared"]
    kept = ("features", "factual", "factual_class", "target", "distance", "choices", "warps")
    return {name: found[name] for name in kept} | {
        "ball": ball,
        "domain": domain,
        "model": found["models"][0],
    }


def _withstands_more(one: Question, other: Question) -> bool:
    """Whether the errors of one question include those of another."""
    a, b = one.budget, other.budget
    if isinstance(a, float | int) and isinstance(b, float | int):
        return a >= b
    return a == b


def _implies(one: Question, mine: Required, other: Question, asked: Required) -> bool:
    """Whether a requirement of one question is the same as one of another, with a mark at least as high."""
    if type(mine) is not type(asked) or one.models[mine.model] != other.models[asked.model]:
        return False
    mark = MARKS[type(asked)]
    same = replace(mine, **{mark: getattr(asked, mark), "model": asked.model}) == asked
    return same and getattr(mine, mark) >= getattr(asked, mark)
