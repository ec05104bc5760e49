"""Values that have an order by themselves: intervals, ranks, and words of a scale."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

SCALES = tuple(
    tuple(scale.split())
    for scale in (
        "none low medium high",
        "very_low low medium high very_high",
        "low moderate high",
        "low med high",
        "negative trace 1+ 2+ 3+ 4+",
        "i ii iii iv v vi vii viii",
        "stage_i stage_ii stage_iii stage_iv",
        "minimal mild moderate severe",
        "small medium large",
        "xs s m l xl xxl",
        "never rarely sometimes often always",
        "none mild moderate severe",
        "none minor major",
        "poor fair good very_good excellent",
        "bad average good",
        "bad medium good",
        "niedrig mittel hoch",
        "gering mittel hoch",
        "klein mittel groß",
        "nie selten manchmal oft immer",
        "strongly_disagree disagree neutral agree strongly_agree",
        "very_dissatisfied dissatisfied neutral satisfied very_satisfied",
        "primary secondary tertiary",
        "freshman sophomore junior senior",
        "bronze silver gold platinum",
    )
)
DASH = "[-\N{EN DASH}\N{EM DASH}]"
NUMBER = r"-?\d+(?:[.,]\d+)?"
BETWEEN = re.compile(
    rf"[\[(]?\s*(?P<low>{NUMBER})\s*(?:{DASH}|to|bis|\.\.+|,|<= ?[a-z]* ?<)\s*(?P<high>{NUMBER})\s*[\])]?",
    re.IGNORECASE,
)
BELOW_WORDS = "under|below|less than|up to|unter|bis"
ABOVE_WORDS = "over|above|more than|at least|über|ab"
BELOW = re.compile(
    rf"(?:<=?|≤|{BELOW_WORDS})\s*(?P<high>{NUMBER})"
    rf"|(?P<most>{NUMBER})\s*(?:and|or) (?:less|under|below|younger)",
    re.IGNORECASE,
)
ABOVE = re.compile(
    rf"(?:>=?|≥|{ABOVE_WORDS})\s*(?P<low>{NUMBER})"
    rf"|(?P<plus>{NUMBER})\s*(?:\+|(?:and|or) (?:more|over|above|older))",
    re.IGNORECASE,
)

# Bands of money: signs and groups of digits do not matter for their order.
MONEY = re.compile(r"[$€£₹]|\b(?:USD|EUR|GBP|CHF)\b")
GROUP = re.compile(r"(?<=\d)[,.'\s](?=\d{3}(?!\d))")
THOUSANDS = re.compile(r"(?<=\d)k\b", re.IGNORECASE)
# "1 - never", "2: rarely", "5 (always)", and 3 alone.
NUMBERED = re.compile(rf"(?P<number>\d{{1,2}})(?:\s*(?:{DASH}|[:.)=(])\s*(?P<word>[^\d\s].*?)\)?)?")
UNIT = re.compile(r"[\d+]\s*([^\W\d_]+)$")


def natural_order(texts: Sequence[str]) -> tuple[str, ...] | None:
    """The values in their order, if all of them are intervals or words of one scale.

    Examples
    --------
    >>> natural_order(["high", "low", "medium"]), natural_order(["25-40", "< 25", "> 40"])
    (('low', 'medium', 'high'), ('< 25', '25-40', '> 40'))
    >>> natural_order(["10+ years", "2 years", "< 1 year", "1 year"]), natural_order(["3+", "0", "2", "1"])
    (('< 1 year', '1 year', '2 years', '10+ years'), ('0', '1', '2', '3+'))
    >>> natural_order(["own", "rent"]), natural_order(["1", "2", "3"])
    (None, None)
    >>> natural_order(["2 - often", "1 - sometimes", "0 - never"])
    ('0 - never', '1 - sometimes', '2 - often')
    """
    if len(texts) < 3:
        return None
    return _on_a_scale(texts) or _intervals(texts) or _numbered(texts)


def _on_a_scale(texts: Sequence[str]) -> tuple[str, ...] | None:
    plain = {re.sub(r"[\s-]+", "_", text.strip().casefold()): text for text in texts}
    if len(plain) < len(texts):
        return None
    for scale in SCALES:
        if set(plain) <= set(scale):
            return tuple(plain[word] for word in scale if word in plain)
    return None


def _numbered(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Numbers with words of one scale, or without gaps and with words for the lowest and the highest alone.

    Other words with numbers are lists: 1. single, 2. married; 9 (unknown).
    """
    found = {text: match for text in texts if (match := NUMBERED.fullmatch(text.strip()))}
    if len(found) < len(texts) or len({int(match["number"]) for match in found.values()}) < len(texts):
        return None
    order = sorted(found, key=lambda text: int(found[text]["number"]))
    words = {found[text]["word"]: text for text in order if found[text]["word"]}
    if len(words) == len(texts):
        ranked = _on_a_scale(list(words))
        steps = [words[word] for word in ranked or ()]
        return tuple(steps) if steps in (order, order[::-1]) else None
    numbers = [int(found[text]["number"]) for text in order]
    without_gaps = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return tuple(order) if without_gaps and set(words.values()) == {order[0], order[-1]} else None


def _intervals(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Intervals that do not overlap, lowest first; whole numbers too, if one of them is open: 0, 1, 2, 3+."""
    ends = {}
    units, money = _units(texts), any(map(MONEY.search, texts))
    for text in texts:
        plain = THOUSANDS.sub("", _without(units, text.strip()))
        found = _ends(GROUP.sub("", MONEY.sub("", plain)).strip() if money else plain)
        if found is None or found[0] > found[1]:
            return None
        ends[text] = found
    order = sorted(texts, key=lambda text: ends[text])
    pairs = pairwise(order)
    apart = all(ends[one][1] <= ends[next_][0] and ends[one] != ends[next_] for one, next_ in pairs)
    single = any(low == high for low, high in ends.values())
    is_open = any(math.isinf(end) for pair in ends.values() for end in pair)
    return tuple(order) if apart and (is_open or not single) else None


def _units(texts: Sequence[str]) -> set[str]:
    """The word behind the numbers, in singular and plural; nothing where there are several."""
    found = {match[1] for text in texts if (match := UNIT.search(text.strip()))}
    shortest = min(found, key=len, default="")
    return found if all(unit.startswith(shortest) for unit in found) else set()


def _without(units: set[str], text: str) -> str:
    match = UNIT.search(text)
    return text[: match.start(1)].strip() if match and match[1] in units else text


def _ends(text: str) -> tuple[float, float] | None:
    if found := BETWEEN.fullmatch(text):
        return _value(found["low"]), _value(found["high"])
    if found := BELOW.fullmatch(text):
        return -math.inf, _value(found["high"] or found["most"])
    if found := ABOVE.fullmatch(text):
        return _value(found["low"] or found["plus"]), math.inf
    if text.isdecimal() and (text == "0" or text[0] != "0"):
        return _value(text), _value(text)
    return None


def _value(text: str) -> float:
    return float(text.replace(",", "."))
