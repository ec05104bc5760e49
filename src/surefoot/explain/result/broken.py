"""Rules that a row breaks: as it is today, where an answer has to mend that, or with other values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.days import as_days
from surefoot.explain.constraints.constraint import Constraint
from surefoot.explain.constraints.document import read_actions
from surefoot.problem.question import Question

if TYPE_CHECKING:
    import pandas as pd


def broken_rules(question: Any, changed: Mapping[str, Any] | None = None) -> tuple[Constraint, ...]:
    """The rules over several features that the factual, with some values changed, does not keep to.

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
    for name, value in (changed or {}).items():
        today[name] = [value]
    return tuple(rule for rule in rules if any(rule.broken(today)))


def is_forbidden(question: Any, feature: Any, value: Any) -> bool:
    """Whether a rule over several features forbids a value of one of them beside today's others."""
    found = broken_rules(question, {str(feature): as_days(value)})
    return any(str(feature) in map(str, rule.named()) for rule in found)


def breaks_a_rule(question: Any, row: pd.Series) -> bool:
    """Whether today's row with other values breaks a rule over several features."""
    if not isinstance(question, Question):
        return False
    numbers = np.array([float(as_days(row[name])) for name in question.number_names])
    state = tuple(
        next(v for v, value in enumerate(one.values) if value == row[question.features[one.feature]])
        for one in question.choices
    )
    return not question.keeps_rules(numbers, state)


def broken_words(question: Any, is_answered: bool) -> str:
    """Which rules today's row breaks, as sentences; "" for none."""
    found = [rule.words() for rule in broken_rules(question)]
    if not found:
        return ""
    one = "it" if len(found) == 1 else "them"
    then = f" The answer keeps to {one}, which may take more than the decision does." if is_answered else ""
    return f"Broken by the row today: {'; '.join(found)}.{then}"
