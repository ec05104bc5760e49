"""Intervals of shares and quantiles, next to other ways to them."""

import math

import numpy as np
import pytest
from scipy import stats

from surefoot.explain.population.intervals import quantile, quantile_interval, share_interval


@pytest.mark.parametrize(("count", "rows"), [(0, 5), (2, 10), (10, 10), (30, 200)])
def test_shares_are_clopper_and_pearson(count, rows):
    low, high = share_interval(count, count, rows, 0.9)
    # By their definition: at its ends what was seen is as unlikely as it may be.
    assert low == (0 if not count else pytest.approx(stats.beta.ppf(0.05, count, rows - count + 1)))
    if count:
        assert stats.binom.sf(count - 1, rows, low) == pytest.approx(0.05)
    if count < rows:
        assert stats.binom.cdf(count, rows, high) == pytest.approx(0.05)


def test_what_is_undecided_widens_a_share():
    assert share_interval(2, 5, 20, 0.95)[0] == share_interval(2, 2, 20, 0.95)[0]
    assert share_interval(2, 5, 20, 0.95)[1] == share_interval(5, 5, 20, 0.95)[1]
    assert all(map(math.isnan, share_interval(0, 0, 0, 0.95)))


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_quantiles_are_those_of_many_resamples(level):
    rng = np.random.default_rng(5)
    values = np.concatenate([rng.exponential(size=45), [np.inf] * 4])
    drawn = rng.choice(values, size=(40_000, len(values)))
    drawn.sort(axis=1)
    resampled = np.sort(drawn[:, math.ceil(level * len(values)) - 1])
    low, high = quantile_interval(values, values, level, 0.9)
    # Between the neighbours of the simulated ends: 40,000 resamples know them that well.
    assert resampled[int(0.045 * 40_000)] <= low <= resampled[int(0.055 * 40_000)]
    assert resampled[int(0.945 * 40_000)] <= high <= resampled[int(0.955 * 40_000)]
    assert quantile(values, level) == np.sort(values)[math.ceil(level * len(values)) - 1]


def test_few_rows_have_no_interval():
    values = np.arange(7.0)
    assert all(map(math.isnan, quantile_interval(values, values, 0.5, 0.95)))
    assert math.isnan(quantile(np.array([]), 0.5))
    low, high = quantile_interval(np.arange(8.0), np.arange(8.0), 0.5, 0.95)
    assert 0 <= low < 3 < high <= 7
