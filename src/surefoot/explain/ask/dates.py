"""Features that are dates: numbers of days for search and proof, dates wherever a person reads them."""

from __future__ import annotations

import datetime as dt
from typing import Any

from surefoot.days import as_date, as_days, date_text
from surefoot.problem.question import Question


def date_names(question: Any) -> frozenset[str]:
    """Names of the features that are dates, as the question declares them."""
    declared = question.declared.get("dates") if isinstance(question, Question) else None
    return frozenset(map(str, declared or ()))


def with_dates(question: Any, row: list[Any]) -> list[Any]:
    """A row by feature with dates in the place of days."""
    return _each(question, row, as_date)


def with_date_texts(question: Any, row: list[Any]) -> list[Any]:
    """The same with text such as 2024-03-01, for documents."""
    return _each(question, row, date_text)


def with_days(question: Any, row: list[Any]) -> list[Any]:
    """Back to numbers of days; text that `with_date_texts` does not write stays, for the reader to refuse."""
    return _each(
        question, row, lambda value: value if isinstance(value, str) and len(value) != 10 else as_days(value)
    )


def plain_cell(value: Any) -> Any:
    """A cell of a row that could not be asked about, dates as text."""
    if isinstance(value, dt.date) and value == value:  # a missing datetime is not itself
        return (value.date() if isinstance(value, dt.datetime) else value).isoformat()
    return float("nan") if isinstance(value, dt.date) else value


def _each(question: Any, row: list[Any], form: Any) -> list[Any]:
    names = date_names(question)
    if not names:
        return row
    return [form(v) if str(f) in names else v for f, v in zip(question.features, row, strict=True)]
