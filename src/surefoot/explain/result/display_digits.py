"""Numbers of a counterfactual as text: what is read back is the value itself, to the last digit."""

from __future__ import annotations

from surefoot.formats import exact
from surefoot.problem.question import Question

LONGEST = 9  # significant digits of a value of today that is shown in full; ten times as many is all of them


def whole_numbers(question: Question) -> tuple[int, ...]:
    """The numbers that are whole today and in every answer: declared whole, or kept at a whole number."""
    unlisted = {one.feature for one in question.domain.sets if one.values is None}
    declared = set(question.declared.get("whole") or ())
    domain, start = question.domain, question.factual
    kept = (domain.low == domain.high) & (domain.low == start) & (start % 1 == 0)
    named = enumerate(question.number_names)
    return tuple(j for j, name in named if j in unlisted or str(name) in declared or kept[j])


def today_text(value: float, reached: str = "") -> str:
    """A value of today: in full where that is short, else with at least the decimals of what is reached.

    Nobody has to type it: the row has it already.

    Examples
    --------
    >>> today_text(23.0), today_text(1 / 3, "0.52"), today_text(0.1, "0.25")
    ('23', '0.33333333', '0.1')
    """
    text = exact(value)
    digits = sum(c.isdigit() for c in text.partition("e")[0])
    if digits <= LONGEST or "e" in text:
        return text
    decimals = max(len(reached.partition(".")[2]), LONGEST - len(text.partition(".")[0]), 0)
    return f"{value:.{decimals}f}"
