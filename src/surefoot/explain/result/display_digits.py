"""Numbers of a counterfactual as text: as few digits as matter, but enough to break no constraint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot.formats import number
from surefoot.problem.mixed import State
from surefoot.problem.question import Question
from surefoot.problem.row import Row

Array = NDArray[np.float64]

MOST_DIGITS = 17  # more than a double has


def whole_numbers(question: Question) -> tuple[int, ...]:
    """The numbers that are whole today and in every answer: declared whole, or kept at a whole number."""
    unlisted = {one.feature for one in question.domain.sets if one.values is None}
    declared = set(question.declared.get("whole") or ())
    domain, start = question.domain, question.factual
    kept = (domain.low == domain.high) & (domain.low == start) & (start % 1 == 0)
    named = enumerate(question.number_names)
    return tuple(j for j, name in named if j in unlisted or str(name) in declared or kept[j])


def readable(question: Question, point: Array, state: State, units: Sequence[float]) -> tuple[str, ...]:
    """Text for each number of a counterfactual, such that what is read back is allowed.

    Ends, sets of values, rules and if-then rules hold for the numbers as they are written; an equation over
    several features holds up to the digits shown. A number that changes does not read as today's. ``units``
    are what counts as a noticeable step of each number.
    """
    more = [0] * len(point)
    while True:
        texts = [_text(float(v), unit, k) for v, unit, k in zip(point, units, more, strict=True)]
        short = [j for j in _misread(question, point, state, texts) if more[j] < MOST_DIGITS]
        if not short:
            return tuple(texts)
        for j in short:
            more[j] += 1


def _text(value: float, unit: float, more: int) -> str:
    """A number with some digits more than matter; all that it has in the end."""
    if more == 0:
        return number(value, unit)
    if more >= MOST_DIGITS or not (1e-6 < unit < 1e9 and abs(value) < 1e12):
        return f"{value:,}".removesuffix(".0")
    short = number(value, unit)
    decimals = len(short.partition(".")[2]) + more
    text = f"{value:,.{decimals}f}"
    return text if _read(text) != value else f"{value:,}".removesuffix(".0")


def _read(text: str) -> float:
    return float(text.replace(",", ""))


def _misread(question: Question, point: Array, state: State, texts: Sequence[str]) -> list[int]:
    """The numbers whose text has too few digits: what is read breaks a constraint that the point keeps."""
    start, domain = question.factual, question.domain
    x = np.array([_read(text) if v != now else now for text, v, now in zip(texts, point, start, strict=True)])
    wrong = (x < domain.low) | (x > domain.high) | ((x == start) & (point != start))
    wrong |= np.array([_read(text) == now != v for text, v, now in zip(texts, point, start, strict=True)])
    for one in domain.sets:
        wrong[one.feature] |= not one.contains(float(x[one.feature]))
    for row in domain.rows:
        if not _holds(row, x):
            wrong |= row.coefficients != 0
    for either in question.eithers:
        taken = [way for way in either.ways if way.allows(state) and way.contains(point)]
        if taken and not any(all(_holds(row, x) for row in way.rows) for way in taken):
            wrong |= np.any([row.coefficients != 0 for row in taken[0].rows], axis=0)
    return np.flatnonzero(wrong & (point != start)).tolist()


def _holds(row: Row, x: Array) -> bool:
    """Whether a row holds for what is read; an equation over several features holds up to its digits."""
    if row.feature is not None:
        return bool(row.low <= x[row.feature] <= row.high)
    return row.low == row.high or row.contains(x)
