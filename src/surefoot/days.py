"""Dates as numbers: days since 1970-01-01, and back."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

ISO = re.compile(r"(\d{4}-\d\d-\d\d)([T ].*)?")
EPOCH = dt.date(1970, 1, 1).toordinal()
LAST = dt.date.max.toordinal() - EPOCH
FIRST = dt.date.min.toordinal() - EPOCH


class Day(int):
    """Days since 1970-01-01 that somebody wrote as a date: a number to calculate with, a date in words.

    Examples
    --------
    >>> Day(19783), str(Day(19783)), Day(19783) + 1
    (datetime.date(2024, 3, 1), '2024-03-01', 19784)
    """

    def __repr__(self) -> str:
        return repr(dt.date.fromordinal(self + EPOCH))

    def __str__(self) -> str:
        return dt.date.fromordinal(self + EPOCH).isoformat()


def as_day(value: Any) -> Any:
    """A `Day` from a date, a datetime or a text such as 2024-03-01; anything else as it is.

    Examples
    --------
    >>> as_day("2024-03-01") == as_day(dt.datetime(2024, 3, 1, 12)) == 19783, as_day(7), as_day("soon")
    (True, 7, 'soon')
    """
    if not isinstance(value, str | dt.date) and type(value).__name__ != "datetime64":
        return value
    days = as_days(value)
    return Day(days) if isinstance(days, float) and days == days else value


def as_date(value: Any) -> Any:
    """The day that a number of days stands for; what is no whole number of days stays as it is.

    Examples
    --------
    >>> as_date(19783.0), as_date(0.5)
    (datetime.date(2024, 3, 1), 0.5)
    """
    if not isinstance(value, int | float) or value != value or not FIRST <= value <= LAST or value % 1:
        return value
    return dt.date.fromordinal(int(value) + EPOCH)


def date_text(value: Any) -> Any:
    """The same as text, such as 2024-03-01.

    Examples
    --------
    >>> date_text(19783.0)
    '2024-03-01'
    """
    found = as_date(value)
    return found.isoformat() if isinstance(found, dt.date) else found


def as_days(value: Any) -> Any:
    """Days since 1970-01-01 of a date, a datetime or a text such as 2024-03-01; anything else as it is.

    Examples
    --------
    >>> as_days(dt.date(2024, 3, 1)), as_days("2024-03-01"), as_days(3.5), as_days("soon")
    (19783.0, 19783.0, 3.5, 'soon')
    """
    if isinstance(value, str):
        found = ISO.fullmatch(value.strip())
        try:
            value = dt.date.fromisoformat(found[1]) if found else value
        except ValueError:
            return value
    if type(value).__name__ == "datetime64":  # numpy's, which not every process has loaded
        value = value.item()
    if isinstance(value, dt.datetime):
        return float("nan") if value != value else float(value.date().toordinal() - EPOCH)
    return float(value.toordinal() - EPOCH) if isinstance(value, dt.date) else value
