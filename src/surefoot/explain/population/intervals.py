"""Shares and quantiles of a population, with intervals, from a sample of it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
# Rows below which a quantile has no interval: with fewer, a bootstrap interval of 95 % covers less than
# nine times in ten. Ten times larger, and groups of fifty would go without.
LEAST = 8
SAME = 1e-9  # rounding of a number of rows; ten times larger changes nothing below a hundred million rows


def share_interval(least: int, most: int, rows: int, ci: float) -> tuple[float, float]:
    """Clopper and Pearson's interval for a share, where at least and at most so many of the rows have it.

    Examples
    --------
    >>> [round(end, 3) for end in share_interval(2, 2, 10, 0.95)]
    [0.025, 0.556]
    """
    if not rows:
        return math.nan, math.nan
    ends = [stats.binomtest(count, rows).proportion_ci(ci, "exact") for count in (least, most)]
    return float(ends[0].low), float(ends[1].high)


def quantile(values: Array, level: float) -> float:
    """The smallest value that at least this share of the values does not exceed; never a mean of two.

    Examples
    --------
    >>> quantile(np.array([3.0, 1.0, 2.0, np.inf]), 0.5), quantile(np.array([1.0, np.inf]), 0.9)
    (2.0, inf)
    """
    if not len(values):
        return math.nan
    return float(np.sort(values)[rank(level, len(values)) - 1])


def quantile_interval(low: Array, high: Array, level: float, ci: float) -> tuple[float, float]:
    """Percentile bootstrap interval of a quantile, where each value lies between ``low`` and ``high``.

    The quantile of a resample is one of the values, and how often it is which follows from the binomial
    distribution: this is the interval of infinitely many resamples, without a seed.

    Parameters
    ----------
    low, high : arrays
        What is proven about each value; the ends of the interval are quantiles of these.
    level, ci : float

    Examples
    --------
    >>> values = np.arange(1.0, 101.0)
    >>> quantile_interval(values, values, 0.5, 0.95)
    (40.0, 60.0)
    """
    n = len(low)
    if n < LEAST:
        return math.nan, math.nan
    places = np.arange(1, n + 1)
    reached = stats.binom.sf(rank(level, n) - 1, n, places / n)  # P(quantile of a resample <= that value)
    first = int(np.searchsorted(reached, (1 - ci) / 2))
    last = min(int(np.searchsorted(reached, (1 + ci) / 2)), n - 1)
    return float(np.sort(low)[first]), float(np.sort(high)[last])


def rank(share: float, rows: int) -> int:
    """The least number of rows that is at least a share of all: the place, from 1, of that quantile."""
    return max(1, math.ceil(share * rows - SAME))
