"""Numbers as people write them: with units and currency signs, groups of digits, a minus behind."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from surefoot.table.scales import ABOVE_WORDS, BELOW_WORDS

CURRENCIES = (
    "€", "US$", "A$", "C$", "R$", "$", "£", "¥", "₹", "₽", "₩", "₺", "₴", "zł", "kr", "Kč", "Ft", "Fr.", "Rs",
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "AUD", "CAD",
    "BRL", "RUB", "TRY", "ZAR", "DEM", "DM",
)  # fmt: skip
# Units that may stand right behind a number. Others, of any kind, must keep a blank between: "10a" is a name.
UNITS = (
    "%", "‰", "°", "°C", "°F", "kg", "g", "mg", "µg", "lb", "lbs", "oz", "km", "m", "cm", "mm", "mi", "ft",
    "in",
    "m²", "m2", "qm", "sqm", "l", "ml", "dl", "h", "hrs", "min", "sec", "ms", "yrs", "yr", "years", "months",
    "days", "k", "kW", "kWh", "Hz", "bpm", "mmHg", "kcal", "mg/dl", "mmol/l", "km/h", "mph",
    "kg/m2", "kg/m²",
)  # fmt: skip
APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"
EITHER = "|".join(re.escape(sign) for sign in sorted(CURRENCIES, key=len, reverse=True))
ATTACHED = "|".join(re.escape(unit) for unit in sorted((*UNITS, *CURRENCIES), key=len, reverse=True))
# Of at most 13 letters, or two with a slash between, such as mg/l or t/m3: a longer word is a remark.
WORD = r"[^\W\d_][^\W\d_²³/.%]{0,11}[²³.]?(?:/[^\W\d_²³/.%]{1,8}[²³23.]?)?"
QUANTITY = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+\-\N{{MINUS SIGN}}])?\s*(?:(?P<before>{EITHER})\s*)?"
    rf"(?P<inner>[+\-\N{{MINUS SIGN}}])?"
    rf"(?P<number>(?:\d[\d.,{APOSTROPHES}\s]*|[.,])?\d[.,]?(?:[eE][+-]?\d+)?)"
    rf"(?:(?<=[.,])(?P<even>--?|[\N{{EN DASH}}\N{{EM DASH}}])|(?P<behind>-))?"
    rf"(?:\s*(?P<attached>{ATTACHED})|\s+(?P<word>{WORD}))?\s*(?P<close>\))?",
    re.IGNORECASE,
)
# "<0.1", "> 200 mg/l" and "90+": what lies beyond what was measured or asked; also "~5" and "12*".
BEYOND = re.compile(
    rf"(?:[<>]=?|[≤≥~≈]|ca\.|(?:{BELOW_WORDS}|{ABOVE_WORDS})\s)\s*(?P<behind>.+)|(?P<before>[\d.,]+)\s*[+*](?P<unit>.*)",
    re.IGNORECASE,
)
KNOWN = {word.casefold() for word in (*UNITS, *CURRENCIES)}
THOUSANDS = {"k"}
FLAGS = {"h", "l"}  # of laboratories, high and low
GROUPS = re.compile(rf"\d{{1,3}}([\s{APOSTROPHES}])\d{{3}}(?:\1\d{{3}})*(?:[.,]\d*)?")
BETWEEN_DIGITS = re.compile(rf"[\s{APOSTROPHES}]")


class Quantity(NamedTuple):
    """A number in plain digits, and its unit ("" where it has none)."""

    number: str
    unit: str


def quantity(text: str) -> Quantity | None:
    """What a text says if it is a number with or without a unit; decimal signs are left as they are.

    Examples
    --------
    >>> [tuple(quantity(text)) for text in ("1.234,50 €", "($1,200)", "1 234.5", "12 %")]
    [('1.234,50', '€'), ('-1,200', '$'), ('1234.5', ''), ('12', '%')]
    >>> quantity("1'065 mg/l"), quantity("€12,50")
    (Quantity(number='1065', unit='mg/l'), Quantity(number='12,50', unit='€'))
    >>> quantity("CHF 1'200.-"), quantity("€ 1.200,--")  # without cents, as prices are written
    (Quantity(number='1200.0', unit='CHF'), Quantity(number='1.200,0', unit='€'))
    >>> quantity("23.5 kg/m2").unit, quantity("7 t/m3").unit, quantity("7 t3")
    ('kg/m2', 't/m3', None)
    >>> quantity("A12"), quantity("12b"), quantity("1-2")
    (None, None, None)
    """
    found = QUANTITY.fullmatch(text)
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    minuses = [sign for sign in (found["sign"], found["inner"], found["behind"]) if sign]
    if len(minuses) + bool(found["open"]) > 1 or (found["before"] and (found["attached"] or found["word"])):
        return None
    number = found["number"].strip()
    if found["word"] and number[-1] in ".,":
        return None  # an item of a list, such as "2. Married"
    number += "0" if found["even"] else ""
    if BETWEEN_DIGITS.search(number):
        if not GROUPS.fullmatch(number):
            return None
        number = BETWEEN_DIGITS.sub("", number)
    negative = bool(found["open"]) or any(sign != "+" for sign in minuses)
    unit = found["before"] or found["attached"] or found["word"] or ""
    return Quantity(f"-{number}" if negative else number, unit)


def is_unit(word: str) -> bool:
    """Whether a word behind a number is known to be a unit: in "1004 AB" it is a part of a name."""
    return word.casefold() in KNOWN


def bound(text: str) -> Quantity | None:
    """The number in a value beyond what was measured, as laboratories and surveys write it.

    Examples
    --------
    >>> bound("<0.1"), bound("> 200 mg/l").unit, bound("90+").number, bound("0.1")
    (Quantity(number='0.1', unit=''), 'mg/l', '90', None)
    """
    found = BEYOND.fullmatch(text)
    return None if found is None else quantity(found["behind"] or f"{found['before']}{found['unit']}")


def is_quantity(text: str) -> bool:
    """Whether a text is a number, with or without a unit, or the bound of one."""
    return (quantity(text) or bound(text)) is not None


def plain_unit(unit: str) -> str:
    """A unit in singular: 1 year and 2 years are in one.

    Examples
    --------
    >>> plain_unit("Years"), plain_unit("kr."), plain_unit("ms")
    ('year', 'kr', 'ms')
    """
    plain = unit.casefold().removesuffix(".")
    return plain.removesuffix("s") if len(plain) > len("hrs") else plain


def is_one_unit(one: str, other: str) -> bool:
    """Whether numbers with the one unit and numbers with the other are in one; "" is none.

    Examples
    --------
    >>> is_one_unit("kg", "KG"), is_one_unit("kg", ""), is_one_unit("kg", "lb"), is_one_unit("k", "")
    (True, True, False, False)
    """
    units = {plain_unit(unit) for unit in (one, other)}
    return len(units) == 1 or units <= FLAGS or ("" in units and not units & THOUSANDS)


def quantities(texts: Iterable[str]) -> dict[str, Quantity] | None:
    """All texts as numbers with one unit between them; None where one of them is something else.

    Of a value beyond what was measured, such as <0.1, it is the bound.

    Examples
    --------
    >>> quantities(["12 kg", "8", "9 KG"])["12 kg"], quantities(["12 kg", "3 lb"])
    (Quantity(number='12', unit='kg'), None)
    """
    found: dict[str, Quantity] = {}
    units: set[str] = set()
    for text in texts:
        one = quantity(text) or bound(text)
        if one is None:
            return None
        units |= {plain_unit(one.unit)} if one.unit else set()
        if len(units) > 1 and not units <= FLAGS:
            return None
        found[text] = one
    everywhere = all(one.unit for one in found.values())
    if units == FLAGS or (units == {"h"} and not everywhere):
        found = {text: one._replace(unit="") for text, one in found.items()}
    # 950 and 1.2k are not in one unit; 12 and 13 % are, as nobody has to write it everywhere.
    return None if units & THOUSANDS and not everywhere else found
