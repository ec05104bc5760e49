"""Dates as people write them, read as days since 1970-01-01."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from surefoot.days import EPOCH

ORDERS = {"ymd": "year first", "dmy": "day first", "mdy": "month first"}
FIRST_SHORT = 1969  # years of two digits: 69 is 1969, 68 is 2068, as in POSIX
CENTURY = 100
USUAL_YEARS = (1900, 2100)  # of eight digits in a row: other numbers are hardly dates
SAMPLE = 200
NEARLY_ALL = 0.95
LONGEST_MONTH = 31  # days
LONGEST_YEAR = 53  # weeks
FEWEST = 3  # different months that four decimals must make before numbers are called months
# Different dates that so many digits must make before numbers are called dates: amounts of six digits end
# otherwise, too. Ten times larger, and no table of five years has so many months.
FEWEST_DIGITS = {8: 3, 6: 6}

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
QUARTER = re.compile(rf"{USUAL}[-/ ]?[Qq](?P<q>[1-4])|[Qq](?P<r>[1-4])[-/ ]?(?P<z>(?:19|20)\d{{2}})")
WEEK = re.compile(rf"{USUAL}[-/ ]?[Ww](?P<w>\d{{2}})")
POINTED_MONTH = re.compile(r"(?:0?[1-9]|1[0-2])\.(?:19|20)\d{2}")
# May-85 is a month; May-15 may be a day, unless another value of the column or the last table says otherwise.
SHORT_MONTH = re.compile(r"(?P<m>[^\W\d_]{3,10})\.?[- /']+(?P<y>\d{2})")
DIGITS = re.compile(r"(?P<y>\d{4})(?P<a>\d{2})(?P<b>\d{2})?")  # 20210301, or 202103 for a month
CLOCK_TIME = re.compile(
    r"(?P<h>\d{1,3})[:h](?P<m>[0-5]\d)(?::(?P<s>[0-5]\d(?:\.\d+)?))?\s*(?:(?P<half>[ap])\.?m\.?)?", re.I
)
YEARS = r"(?:years?|yrs?|y|jahre?|ans?|años?|anni)\.?"
MONTHS_LONG = r"(?:months?|mons?|mths?|mo|m|monate?|mois|meses|mes|mesi)\.?"
DURATION = re.compile(
    rf"(?:(?P<y>\d+)\s*{YEARS})?[\s,]*(?:(?:and|und|et|y|e)\s)?\s*(?:(?P<m>\d+)\s*{MONTHS_LONG})?"
    r"|P(?=\d)(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?",
    re.IGNORECASE,
)
EXCEL_EPOCH = 25_569  # 1970-01-01 as Excel counts days
EXCEL_DAYS = (1, 80_000)  # as Excel counts: 1900 to 2119
# Days of 1982 to 2064 as Excel counts them: nothing else that stands for a date is a number like that. Ten
# times larger, and days counted from the year 1 would pass.
PLAIN_EXCEL_DAYS = (30_000, 60_000)
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
    span : str
        "month", "quarter" or "week", which are read as their first day; "" for a day.
    """

    year: int
    first: int
    second: int
    order: str
    separator: str
    clock: bool
    span: str = ""


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
        return Written(_year(found["y"]), 1, MONTHS[found["m"].casefold()], "named", " ", False, "month")
    found = QUARTER.fullmatch(text)
    if found:
        month = 3 * int(found["q"] or found["r"]) - 2
        return Written(int(found["y"] or found["z"]), 1, month, "named", "", False, "quarter")
    found = WEEK.fullmatch(text)
    if found and 1 <= int(found["w"]) <= LONGEST_YEAR:
        return _week(int(found["y"]), int(found["w"]))
    found = MONTH_IN_DIGITS.fullmatch(text)
    if found is None:
        return None
    return Written(
        int(found["y"] or found["z"]), 1, int(found["a"] or found["b"]), "named", "", False, "month"
    )


def _week(year: int, week: int) -> Written | None:
    """The Monday of a week, which may be in the year before."""
    try:
        day = dt.date.fromisocalendar(year, week, 1)
    except ValueError:
        return None
    return Written(day.year, day.day, day.month, "named", "", False, "week")


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else _in_century(int(text), FIRST_SHORT)


def _in_century(year: int, first: int) -> int:
    """The year with the same last two digits in the century that begins with this one."""
    return (year - first) % CENTURY + first


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
    short : int
        The first year that two digits can mean; 0 where all years have four.
    span : str
        "month", "quarter" or "week" where some are one, read as their first day.
    """

    order: str
    why: str
    days: Mapping[str, int | None] = field(repr=False)
    clock: bool = False
    unclear: bool = False
    short: int = 0
    span: str = ""

    @property
    def wrong(self) -> tuple[str, ...]:
        """Texts that look like dates and are none."""
        return tuple(text for text, day in self.days.items() if day is None and text not in NO_DATES)


def dates(
    texts: Sequence[str], order: str | None = None, day_first: bool = False, first_short: int | None = None
) -> Dates | None:
    """Read texts as dates; None where they are something else.

    Parameters
    ----------
    texts : sequence of str
        Different from each other, without blanks at their ends.
    order : str, optional
        What is known. Default: found out.
    day_first : bool
        Whether the rest of the table is written where days come first: with decimal commas.
    first_short : int, optional
        The first year that two digits can mean. Default: the years lie as close together as they can.

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
    two_digits = {text for text, one in known.items() if str(one.year) not in text and one.span != "week"}
    first = 0
    if two_digits:
        first = first_short or _first_short({known[text].year for text in two_digits})
        known |= {
            text: known[text]._replace(year=_in_century(known[text].year, first)) for text in two_digits
        }
    days = {text: days_of(one, found) for text, one in known.items()}
    if sum(day is not None for day in days.values()) < NEARLY_ALL * len(days):
        return None
    clock = any(one.clock for one in known.values())
    every = {**days, **{text: None for text in texts if text in NO_DATES}}
    span = next((one.span for one in known.values() if one.span), "")
    return Dates(found, why, every, clock, unclear, first, span)


def _first_short(years: Iterable[int]) -> int:
    """The first year that two digits can mean: years of birth from 35 to 89 are those before 1990.

    It is the usual one where the longest gap between the years is there.
    """
    taken = sorted(years)
    gaps = [after - before for before, after in pairwise([*taken, taken[0] + CENTURY])]
    return FIRST_SHORT if gaps[-1] == max(gaps) else taken[gaps.index(max(gaps))] + 1 - CENTURY


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
        span = next(((text, one.span) for text, one in parts.items() if one.span), None)
        if named and span is not None:
            return "dmy", f"{span[1]}s: {span[0]!r}", False
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
    """Whole numbers such as 20240301, or 202403, as days, if every one of them is a usual date."""
    found: dict[Any, int] = {}
    for number in numbers:
        day = digits_as_day(number)
        if day is None:
            return None
        found[number] = day
    lengths = {len(str(int(number))) for number in found}
    return found if len(found) >= FEWEST_DIGITS[min(lengths, default=8)] and len(lengths) == 1 else None


def digits_as_day(number: Any) -> int | None:
    """A whole number such as 20240301, or 202403 for the first day of a month, as a day; None for others."""
    parts = DIGITS.fullmatch(str(int(number))) if float(number).is_integer() else None
    if parts is None or not USUAL_YEARS[0] <= int(parts["y"]) <= USUAL_YEARS[1]:
        return None
    year, month, day = int(parts["y"]), int(parts["a"]), int(parts["b"] or 1)
    return days_of(Written(year, month, day, "ymd", "", False), "ymd")


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


def months(text: Any) -> float | None:
    """How long something took, in months; None where a text says something else.

    Examples
    --------
    >>> months("3 years 2 months"), months("1yrs 11mon"), months("2 Jahre"), months("P1Y6M"), months("soon")
    (38.0, 23.0, 24.0, 18.0, None)
    """
    found = DURATION.fullmatch(text.strip()) if isinstance(text, str) else None
    parts = (found["y"] or found["years"], found["m"] or found["months"]) if found else (None, None)
    return 12.0 * int(parts[0] or 0) + int(parts[1] or 0) if any(parts) else None


def excel_days(numbers: pd.Series) -> pd.Series:
    """Days as Excel counts them as a column of datetimes."""
    return as_days(numbers.astype(float) // 1 - EXCEL_EPOCH)


def are_plain_excel_days(numbers: pd.Series) -> bool:
    """Whether all are whole numbers that are days of our time as Excel counts them."""
    return bool((numbers.between(*PLAIN_EXCEL_DAYS) & (numbers % 1 == 0)).all())


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
