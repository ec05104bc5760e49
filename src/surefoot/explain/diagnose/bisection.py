"""The highest value that can be reached: bisection with proofs on both sides."""

from __future__ import annotations

import math
from collections.abc import Callable

from surefoot.problem.answer import Answer
from surefoot.problem.family import Family
from surefoot.search.certified import certified_states
from surefoot.search.certified.clock import Clock
from surefoot.status import Status

# Whether there is a point at all matters here, not how near it is: so a rough gap first. But points step
# inside by a share of the gap, and near the highest value there is little room: then a fine one.
GAPS = {0.5: 0.5, 0.001: 2.0}  # each with its seconds
BESIDE = (0.5, 0.25, 0.75)  # where the middle cannot be decided, what lies beside it often can

NONE = -math.inf  # what `reaches` returns where it is proved that nothing reaches the value
Reaches = Callable[[float], float | None]


def narrowed(
    low: float, high: float, reaches: Reaches, is_close: Callable[[float, float], bool]
) -> tuple[float, float]:
    """The interval that the highest reachable value lies in, made as narrow as needed or possible.

    Parameters
    ----------
    low : float
        Can be reached.
    high : float
        Cannot.
    reaches : callable
        From a value to one at least as high that can be reached; ``NONE`` where it is proved that there is
        none, None where that cannot be decided.
    is_close : callable
        Whether two values are close enough.

    Examples
    --------
    >>> narrowed(0.0, 8.0, lambda value: value if value <= 3.3 else NONE, lambda a, b: b - a <= 1)
    (3.0, 4.0)
    """
    while not is_close(low, high):
        for part in BESIDE:
            between = low + part * (high - low)
            found = reaches(between)
            if found is not None:
                break
        else:
            break
        low, high = (low, between) if found == NONE else (max(low, found), high)
        if high <= low:  # rounding put a point beside a proof
            return high, high
    return low, high


def answered(posed: Family, clock: Clock) -> Answer | None:
    """The answer to a problem whose distance does not matter: a point, or a proof that there is none.

    None where neither was found in time.
    """
    for gap, seconds in GAPS.items():
        left = min(seconds, clock.left)
        if left <= 0:
            return None
        found = certified_states(posed, gap, left)
        if found.status.with_point is Status.INTERRUPTED:
            raise KeyboardInterrupt  # the search took the signal; nothing may be concluded from it
        if found.point is not None or found.status is Status.INFEASIBLE:
            return found
    return None
