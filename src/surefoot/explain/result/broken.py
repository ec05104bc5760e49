"""Rules that the row breaks as it is today: an answer has to mend that, too."""

from __future__ import annotations

from typing import Any

from surefoot.explain.constraints.constraint import Constraint
from surefoot.explain.constraints.document import read_actions
from surefoot.problem.question import Question


def broken_rules(question: Any) -> tuple[Constraint, ...]:
    """The rules over several features that the factual does not keep to.

    What is said of one feature is not among them, since today's value is always allowed.
    """
    if not isinstance(question, Question):
        return ()
    rules = read_actions(question.declared).over_several
    if not rules:
        return ()
    import pandas as pd  # processes that only search start without it

    row = question.row(question.factual, question.state)
    names = pd.Index([str(name) for name in question.features], tupleize_cols=False)
    today = pd.DataFrame([row], columns=names).infer_objects()
    return tuple(rule for rule in rules if any(rule.broken(today)))


def broken_words(question: Any, is_answered: bool) -> str:
    """Which rules today's row breaks, as sentences; "" for none."""
    found = [rule.words() for rule in broken_rules(question)]
    if not found:
        return ""
    one = "it" if len(found) == 1 else "them"
    then = f" The answer keeps to {one}, which may take more than the decision does." if is_answered else ""
    return f"Broken by the row today: {'; '.join(found)}.{then}"
