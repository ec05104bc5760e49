"""Language: messages, numbers, dates and lists as readers of one language write them.

Messages are written in English where they are used. Every other language is one file of translations
(``languages/de.po``), read as it is; numbers and dates come from Babel.
"""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from surefoot.exceptions import ProblemError
from surefoot.formats import NO_BREAK, one_line, suggestion

SOURCE = "en"
# Characters of a name that are shown. Ten times as many, and one name fills a page.
LONGEST = 60
TAIL = 15  # characters of its end that stay; ten times as many would leave nothing of its beginning
DIGITS = re.compile("[#0,.]+")  # of a number, in the patterns of Babel
RIGHT_TO_LEFT = ("R", "AL", "AN")
FIRST_STRONG, POP = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"


def mark(message: str) -> str:
    """A message that is said later: translators find it here."""
    return message


@dataclass(frozen=True)
class Language:
    """Says things in one language.

    Parameters
    ----------
    code : str
        As in ``lang="de"``.
    messages : dict
        Translations by message, or by (message, its plural); empty for English.

    Examples
    --------
    >>> language("de").number(1234.5), language("en").number(1234.5)
    ('1.234,5', '1,234.5')
    >>> language("en").any_of(["own", "rent"])
    'own or rent'
    """

    code: str
    messages: dict[Any, Any]

    def say(self, message: str, **values: Any) -> str:
        """A message with its values; these are put in once, so braces in names mean nothing."""
        return str(self.messages.get(message) or message).format(**values)

    def number(self, value: float, decimals: int = 0) -> str:
        """A number to its last digit, with at least so many decimals.

        Examples
        --------
        >>> language("en").number(1900, 2), language("en").number(0.125, 2), language("en").number(3.0)
        ('1,900.00', '0.125', '3')
        """
        from babel.numbers import format_decimal, format_scientific

        if not math.isfinite(value):
            return "-"
        written = Decimal(repr(float(value)))
        if abs(written) >= Decimal("1e15") or 0 < abs(written) < Decimal("1e-9"):
            return str(format_scientific(written, "0.#################E0", locale=self.code))
        form = "#,##0" + ("." + "0" * decimals if decimals else "")
        return str(format_decimal(written, form, locale=self.code, decimal_quantization=False))

    def percent(self, share: float) -> str:
        """A share in per cent, to its last digit.

        Examples
        --------
        >>> language("en").percent(0.28), language("en").percent(0.0725)
        ('28%', '7.25%')
        """
        return self.with_unit(self.number(float(Decimal(repr(float(share))) * 100)), "%")

    def with_unit(self, number: str, unit: str) -> str:
        """A number's text and its unit, which no line break parts; signs of money and % where they belong.

        Examples
        --------
        >>> language("en").with_unit("-1,900", "$"), language("en").with_unit("5", "%")
        ('-$1,900', '5%')
        """
        from babel import Locale

        locale = Locale.parse(self.code)
        before, after = "", f"{NO_BREAK}{unit}"
        if len(unit) == 1 and unicodedata.category(unit) == "Sc":
            positive = locale.currency_formats["standard"].pattern.split(";")[0]  # some say negative apart
            form = positive.replace("\N{CURRENCY SIGN}", unit)
            before, after = DIGITS.split(form, maxsplit=1)
        elif unit == "%":
            before, after = DIGITS.split(locale.percent_formats[None].pattern, maxsplit=1)
        sign = "-" if number.startswith("-") else ""
        return f"{sign}{before}{number.removeprefix(sign)}{after}"

    def date(self, day: datetime.date) -> str:
        """A day, written out."""
        from babel.dates import format_date

        return str(format_date(day, "long", locale=self.code))

    def all_of(self, names: list[str]) -> str:
        """Names with the word for "and"."""
        return self._list(names, "standard")

    def any_of(self, names: list[str]) -> str:
        """Names with the word for "or"."""
        return self._list(names, "or")

    def _list(self, names: list[str], style: Any) -> str:
        from babel.lists import format_list

        return str(format_list(names, style=style, locale=self.code))


@cache
def language(code: str) -> Language:
    """The language with this code."""
    if code not in languages():
        known = ", ".join(languages())
        raise ProblemError(
            f"there are no letters in {code!r:.60}; there are {known}{suggestion(str(code), languages())}"
        )
    return Language(code, {} if code == SOURCE else _messages(code))


@cache
def languages() -> tuple[str, ...]:
    """The codes of all languages: English, and one for each file of translations."""
    found = (path.name for path in files(f"{__package__}.languages").iterdir())
    return (SOURCE, *sorted(name.removesuffix(".po") for name in found if name.endswith(".po")))


def _messages(code: str) -> dict[Any, Any]:
    from babel.messages.pofile import read_po

    with (files(f"{__package__}.languages") / f"{code}.po").open("rb") as file:
        return {message.id: message.string for message in read_po(file) if message.id and message.string}


def harmless(text: Any) -> str:
    """A name from outside on one line, not too long, and without effect on the text around it.

    Examples
    --------
    >>> harmless("a" + chr(10) + "b"), len(harmless("x" * 300))
    ('a b', 60)
    """
    line = " ".join(one_line(str(text)).split())
    if len(line) > LONGEST:
        line = f"{line[: LONGEST - TAIL - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}{line[-TAIL:]}"
    if any(unicodedata.bidirectional(c) in RIGHT_TO_LEFT for c in line):
        return f"{FIRST_STRONG}{line}{POP}"
    return line
