"""Short decimals between two numbers, and decimals of which there are at most so many."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.table.quantities import CURRENCIES

CENTS = 2  # decimals of money: 12.50 is read as an amount, 12.5 as a number; ten times as many are no amount


def cents(clf: ConditionalGaussianNetworkClassifier, units: Mapping[str, str]) -> dict[str, int]:
    """The features that are amounts of money whose data have decimals, with how many they are written."""
    kinds = {str(name): kind for name, kind in clf.feature_kinds_.items()}
    money = (name for name, unit in units.items() if unit.strip() in CURRENCIES)
    return {name: CENTS for name in money if kinds[name] == "number"}


def short_between(outer: float, inner: float) -> float:
    """The decimal with the fewest digits from one number to another; of several the nearest to the first.

    Examples
    --------
    >>> short_between(1893.217, 1899.4), short_between(-0.123456, -0.12), short_between(0.3, 0.3)
    (1894.0, -0.12, 0.3)
    """
    if not (math.isfinite(outer) and math.isfinite(inner)) or outer == inner:
        return outer if outer == inner else inner
    low, high = sorted((outer, inner))
    rising = inner > outer
    place = math.ceil(math.log10(max(abs(low), abs(high)))) + 1
    for exponent in range(place, place - 40, -1):
        step = Decimal(1).scaleb(exponent)
        whole = (Decimal(outer) / step).to_integral_value(ROUND_CEILING if rising else ROUND_FLOOR)
        value = float(whole * step) + 0.0
        if low <= value <= high:
            return value
    return inner


def rounded(value: float, most: int, up: bool) -> float:
    """A number rounded up or down to at most so many decimals.

    Examples
    --------
    >>> rounded(3.1251, 2, up=True), rounded(-3.1251, 2, up=True), rounded(1893.2, 0, up=False)
    (3.13, -3.12, 1893.0)
    """
    step = Decimal(1).scaleb(-most)
    whole = (Decimal(repr(value)) / step).to_integral_value(ROUND_CEILING if up else ROUND_FLOOR)
    return float(whole * step) + 0.0


def count_decimals(value: float) -> int:
    """How many decimals a number has, as it is written.

    Examples
    --------
    >>> count_decimals(3.125), count_decimals(1900.0), count_decimals(1e-7), count_decimals(1e22)
    (3, 0, 7, 0)
    """
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def rounded_inwards(low: float, high: float, most: int | None) -> tuple[float, float]:
    """Ends with at most so many decimals, both within those given; those given where there are none.

    Examples
    --------
    >>> rounded_inwards(3.1117, 3.29, 2), rounded_inwards(3.1117, 3.1154, 2), rounded_inwards(2.0, 3.5, None)
    ((3.12, 3.29), (3.1117, 3.1154), (2.0, 3.5))
    """
    if most is None:
        return low, high
    inner = rounded(low, most, up=True), rounded(high, most, up=False)
    return inner if low <= inner[0] <= inner[1] <= high else (low, high)


def rounded_outwards(value: float, sign: int, most: int | None) -> float:
    """A number rounded to at most so many decimals, up (1) or down (-1)."""
    return value if most is None else rounded(value, most, up=sign > 0)
