"""Short decimals between two numbers."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal


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
