"""Dates as people write them, read as days since 1970-01-01."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from surefoot.days import EPOCH

ORDERS = {"ymd": "year first", "dmy": "day first", "mdy": "month first"}
FIRST_SHORT = 1969  # years of two digits: 69 is 1969, 68 is 2068, as in POSIX
USUAL_YEARS = (1900, 2100)  # of eight digits in a row: other numbers are hardly dates
SAMPLE = 200
NEARLY_ALL = 0.95
LONGEST_MONTH = 31  # days
FEWEST = 3  # different days that eight digits must make before a number is called a date

MONTH_NAMES = (
    "jan january januar janvier janv enero ene gennaio gen januari janeiro",
    "feb february februar février févr fevr fev febrero febbraio februari fevereiro",
    "mar march mär märz mrz mars marzo maart mrt março",
    "apr april avril avr abril abr aprile",
    "may mai mayo maggio mag mei maio",
    "jun june juni juin junio giugno giu junho",
    "jul july juli juillet juil julio luglio lug lug julho",
    "aug august août agosto ago augustus",
    "sep sept september septembre septiembre settembre set setembro",
    "oct october okt oktober octobre octubre ottobre ott outubro",
    "nov november novembre noviembre novembro",
    "dec december dez dezember décembre déc diciembre dicembre dic dezembro",
)
MONTHS = {name: k for k, names in enumerate(MONTH_NAMES, start=1) for name in names.split()}
ZONE = r"(Z|UTC|GMT|[+-]\d{2}(:?\d{2})?)"
CLOCK = rf"(?P<clock>[T ]\s*\d{{1,2}}:\d{{2}}(:\d{{2}}([.,]\d+)?)?\s*([AaPp]\.?[Mm]\.?)?\s*{ZONE}?)?"
YEAR_FIRST = re.compile(rf"(?P<y>\d{{4}})(?P<s>[-/.])(?P<a>\d{{1,2}})(?P=s)(?P<b>\d{{1,2}}){CLOCK}")
YEAR_LAST = re.compile(rf"(?P<a>\d{{1,2}})(?P<s>[-/.])(?P<b>\d{{1,2}})(?P=s)(?P<y>\d{{4}}|\d{{2}}){CLOCK}")
WEEKDAY = r"(?:[^\W\d_]{2,10}\.?, ?)?"
DAY_MONTH = re.compile(
    rf"{WEEKDAY}(?P<a>\d{{1,2}})(?:\.|er)?[- /]?(?:de )?(?P<m>[^\W\d_]{{3,10}})"
    rf"\.?[-, /]*(?:de )?(?P<y>\d{{4}}|\d{{2}}){CLOCK}"
)
MONTH_DAY = re.compile(
    rf"{WEEKDAY}(?P<m>[^\W\d_]{{3,10}})\.? ?(?P<a>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>\d{{4}}){CLOCK}"
)
# Months of a year. Of two digits the year would be a day.
USUAL = r"(?P<y>(?:19|20)\d{2})"
MONTH_YEAR = re.compile(rf"(?P<m>[^\W\d_]{{3,10}})\.?[- /,]*{USUAL}")
MONTH_IN_DIGITS = re.compile(rf"{USUAL}[-/](?P<a>\d{{2}})|(?P<b>\d{{1,2}})[-/.](?P<z>(?:19|20)\d{{2}})")
POINTED_MONTH = re.compile(r"(?:0?[1-9]|1[0-2])\.(?:19|20)\d{2}")
# May-85 is a month; May-15 may be a day, unless another value of the column or the last table says otherwise.
SHORT_MONTH = re.compile(r"(?P<m>[^\W\d_]{3,10})\.?[- /']+(?P<y>\d{2})")
DIGITS = re.compile(r"(?P<y>\d{4})(?P<a>\d{2})(?P<b>\d{2})")
CLOCK_TIME = re.compile(
    r"(?P<h>\d{1,3}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d(?:\.\d+)?))?\s*(?:(?P<half>[ap])\.?m\.?)?", re.I
)
NO_DATES = ("0000-00-00", "00.00.0000", "00/00/0000")  # how databases write that there is none


class Written(NamedTuple):
    """A date as its parts stand in the text.

    Parameters
    ----------
    year : int
    first, second : int
        The other two numbers, in the order in which they stand.
    order : str
        ``"ymd"``, ``"named"`` (first is the day, second the month), or "" where it is to be found out.
    separator : str
    clock : bool
        Whether a time of day follows.
    is_month : bool
        Whether it is a month, which is read as its first day.
    """

    year: int
    first: int
    second: int
    order: str
    separator: str
    clock: bool
    is_month: bool = False


def written(text: str, short: bool = False) -> Written | None:
    """The parts of a date; None where the text is none.

    Parameters
    ----------
    text : str
    short : bool
        Whether a month and two digits are a month of a year.

    Examples
    --------
    >>> written("2024-03-01")[:4], written("soon")
    ((2024, 3, 1, 'ymd'), None)
    """
    for pattern, order in ((YEAR_FIRST, "ymd"), (YEAR_LAST, "")):
        found = pattern.fullmatch(text)
        if found:
            parts = int(found["a"]), int(found["b"]), order, found["s"], bool(found["clock"])
            return Written(_year(found["y"]), *parts)
    for pattern in (DAY_MONTH, MONTH_DAY):
        found = pattern.fullmatch(text)
        if found and found["m"].casefold() in MONTHS:
            month = MONTHS[found["m"].casefold()]
            return Written(_year(found["y"]), int(found["a"]), month, "named", " ", bool(found["clock"]))
    return _month(text, short)


def _month(text: str, short: bool) -> Written | None:
    """The first day of a month that is written without a day."""
    found = MONTH_YEAR.fullmatch(text) or (SHORT_MONTH.fullmatch(text) if short else None)
    if found and found["m"].casefold() in MONTHS:
        return Written(_year(found["y"]), 1, MONTHS[found["m"].casefold()], "named", " ", False, True)
    found = MONTH_IN_DIGITS.fullmatch(text)
    if found is None:
        return None
    return Written(int(found["y"] or found["z"]), 1, int(found["a"] or found["b"]), "named", "", False, True)


def _year(text: str) -> int:
    year = int(text)
    return year if len(text) == 4 else (year - FIRST_SHORT) % 100 + FIRST_SHORT


def days_of(parts: Written, order: str) -> int | None:
    """Days since 1970-01-01 when day and month stand in this order; None for a day that there is not."""
    if parts.order == "ymd" or (not parts.order and order == "mdy"):
        month, day = parts.first, parts.second
    else:
        day, month = parts.first, parts.second
    try:
        return dt.date(parts.year, month, day).toordinal() - EPOCH
    except ValueError:
        return None


@dataclass(frozen=True)
class Dates:
    """Texts as days.

    Parameters
    ----------
    order : str
        One of `ORDERS`.
    why : str
        What decides the order.
    days : dict
        Of each text; None for what is no day that there is.
    clock : bool
        Whether a time of day was left out.
    unclear : bool
        Whether the order is a guess.
    short : bool
        Whether some years have two digits.
    months : bool
        Whether some are months, read as their first day.
    """

    order: str
    why: str
    days: Mapping[str, int | None] = field(repr=False)
    clock: bool = False
    unclear: bool = False
    short: bool = False
    months: bool = False

    @property
    def wrong(self) -> tuple[str, ...]:
        """Texts that look like dates and are none."""
        return tuple(text for text, day in self.days.items() if day is None and text not in NO_DATES)


def dates(texts: Sequence[str], order: str | None = None, day_first: bool = False) -> Dates | None:
    """Read texts as dates; None where they are something else.

    Parameters
    ----------
    texts : sequence of str
        Different from each other, without blanks at their ends.
    order : str, optional
        What is known. Default: found out.
    day_first : bool
        Whether the rest of the table is written where days come first: with decimal commas.

    Examples
    --------
    >>> dates(["27.03.2021", "04.05.2021"]).order, dates(["3/27/2021", "4/5/2021"]).why
    ('dmy', "month first: '3/27/2021'")
    """
    real = [text for text in texts if text not in NO_DATES]
    short = order is not None or _has_short_years(real)
    sample = real[:: max(1, len(real) // SAMPLE)][:SAMPLE]
    if not real or not all(written(text, short) for text in sample):
        return None
    parts = {text: written(text, short) for text in real}
    if any(one is None for one in parts.values()):
        return None
    known = {text: one for text, one in parts.items() if one is not None}
    found, why, unclear = _order(known, day_first) if order is None else (order, ORDERS[order], False)
    if not found:
        return None
    days = {text: days_of(one, found) for text, one in known.items()}
    if sum(day is not None for day in days.values()) < NEARLY_ALL * len(days):
        return None
    clock = any(one.clock for one in known.values())
    short = any(str(one.year) not in text for text, one in known.items())
    every = {**days, **{text: None for text in texts if text in NO_DATES}}
    months = any(one.is_month for one in known.values())
    return Dates(found, why, every, clock, unclear, short, months)


def _has_short_years(texts: Iterable[str]) -> bool:
    """Whether two digits behind a month are a year somewhere: no month has so many days."""
    found = (SHORT_MONTH.fullmatch(text) for text in texts)
    return any(one is not None and int(one["y"]) > LONGEST_MONTH for one in found)


def are_months(texts: Sequence[str]) -> bool:
    """Whether what could be numbers with four decimals, such as 03.2012, are months."""
    return len(texts) >= FEWEST and all(map(POINTED_MONTH.fullmatch, texts))


def _order(parts: Mapping[str, Written], day_first: bool) -> tuple[str, str, bool]:
    """In which order days and months stand, and what says so; "" where the dates contradict each other."""
    open_ones = {text: one for text, one in parts.items() if not one.order}
    if not open_ones:
        named = all(one.order == "named" for one in parts.values())
        month = next((text for text, one in parts.items() if one.is_month), None)
        if named and month is not None:
            return "dmy", f"months: {month!r}", False
        return ("dmy", "the month is a word", False) if named else ("ymd", "year first", False)
    days = [text for text, one in open_ones.items() if one.first > 12 >= one.second]
    months = [text for text, one in open_ones.items() if one.second > 12 >= one.first]
    if days and months:
        return "", "", True
    if days:
        return "dmy", f"day first: {days[0]!r}", False
    if months:
        return "mdy", f"month first: {months[0]!r}", False
    text, one = next(iter(open_ones.items()))
    unclear = f"{text!r} can be read in two ways;"
    if one.separator != "/":
        return "dmy", f"{unclear} day first because of the {SIGNS[one.separator]}", True
    if day_first:
        return "dmy", f"{unclear} day first because the table has decimal commas", True
    return "mdy", f"{unclear} month first because of the slashes", True


SIGNS = {".": "dots", "-": "dashes"}


def digits_as_days(numbers: Iterable[Any]) -> dict[Any, int] | None:
    """Whole numbers such as 20240301 as days, if every one of them is a usual date."""
    found: dict[Any, int] = {}
    for number in numbers:
        parts = DIGITS.fullmatch(str(int(number))) if float(number).is_integer() else None
        if parts is None or not USUAL_YEARS[0] <= int(parts["y"]) <= USUAL_YEARS[1]:
            return None
        day = days_of(Written(int(parts["y"]), int(parts["a"]), int(parts["b"]), "ymd", "", False), "ymd")
        if day is None:
            return None
        found[number] = day
    return found if len(found) >= FEWEST else None


def minutes(text: Any) -> float | None:
    """A time of day, or how long something took, in minutes; None where a text is neither.

    Examples
    --------
    >>> minutes("13:45"), minutes("1:45 pm"), minutes("0:00:30"), minutes("13.45")
    (825.0, 825.0, 0.5, None)
    """
    found = CLOCK_TIME.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    hours = int(found["h"])
    if found["half"]:
        hours = hours % 12 + 12 * (found["half"] in "pP")
    return 60.0 * hours + int(found["m"]) + float(found["s"] or 0) / 60


def as_days(column: pd.Series) -> pd.Series:
    """Days since 1970-01-01 as a column of datetimes without a time of day."""
    values = column.to_numpy(dtype=float, na_value=np.nan)
    known = ~np.isnan(values)
    days = np.full(len(values), np.datetime64("NaT", "D"), dtype="datetime64[D]")
    days[known] = values[known].astype(np.int64).astype("datetime64[D]")
    return pd.Series(days.astype("datetime64[s]"), index=column.index, name=column.name)


def without_clock(column: pd.Series) -> tuple[pd.Series, bool]:
    """A column of datetimes as days, and whether a time of day was left out; time zones do not matter."""
    plain = column.dt.tz_localize(None) if column.dt.tz is not None else column
    days = plain.dt.floor("D")
    return days.astype("datetime64[s]"), bool((days != plain)[plain.notna()].any())
