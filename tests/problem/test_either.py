import math

import numpy as np
import pytest

from surefoot.exceptions import DataError, ProblemError
from surefoot.problem.domain import Domain
from surefoot.problem.either import Either, Limit, Way
from surefoot.problem.geometry import Metric, Whitening
from surefoot.problem.row import Row
from surefoot.problem.warp import IDENTITY, Warp

INF = math.inf


def interval(j, low, high, n=3):
    return Row(np.eye(n)[j], low, high)


def test_a_way_asks_for_rows_and_for_values():
    way = Way((interval(0, 1.0, 2.0),), {1: {0, 2}})
    assert way.allows((5, 2))
    assert not way.allows((5, 1))
    assert way.contains(np.array([1.0, 0.0, 0.0]))
    assert not way.contains(np.array([np.nextafter(1.0, 0), 0.0, 0.0]))


def test_an_interval_is_kept_to_the_last_digit_even_where_it_is_one_value():
    stays = Way((interval(0, 0.3, 0.3),))
    assert stays.contains(np.array([0.3, 0, 0]))
    assert not stays.contains(np.array([0.1 + 0.2, 0, 0]))


def test_categories_alone_may_take_a_way():
    either = Either((Way(values={0: {1}}), Way((interval(0, 1.0, INF),))))
    assert either.open_ways((1,)) is None
    assert either.given((1,)) is None
    assert either.open_ways((0,)) == (1,)
    assert either.contains(np.zeros(3), (1,))
    assert not either.contains(np.zeros(3), (0,))


def test_a_state_may_leave_no_way():
    either = Either((Way((interval(0, 1.0, INF),), {0: {1}}),))
    assert either.open_ways((0,)) == ()
    assert not either.contains(np.array([5.0, 0, 0]), (0,))


def test_a_row_about_one_feature_is_an_interval():
    with pytest.raises(ProblemError, match="coefficient 1"):
        Way((Row([2.0, 0.0], 0, 1),))


def test_a_limit_counts_numbers_and_categories_that_differ_at_all():
    limit = Limit(2, (0, 2), (1.0, 5.0), (0, 1))
    assert limit.left((0, 3), (0, 0)) == 1
    assert limit.left((1, 3), (0, 0)) == 0
    assert limit.changed(np.array([1.0, 9.0, 5.0])) == 0
    assert limit.changed(np.array([np.nextafter(1.0, 2), 9.0, 5.0])) == 1
    assert limit.given(1).contains(np.array([1.0, 0.0, 4.0]))
    assert not limit.given(0).contains(np.zeros(3))


@pytest.mark.parametrize("wrong", [{"today": (1.0,)}, {"numbers": (2, 0)}, {"categories": (1, 1)}])
def test_limits_that_make_no_sense(wrong):
    with pytest.raises(ProblemError):
        Limit(**({"count": 1, "numbers": (0, 2), "today": (1.0, 2.0)} | wrong))


def test_a_domain_holds_eithers_and_limits():
    either = Either((Way((interval(0, -INF, 0.0),)), Way((interval(1, 1.0, INF),))))
    domain = Domain([-5.0] * 3, [5.0] * 3, (), (), (either,), (Limit(2, (0, 1, 2), (0.0,) * 3),))
    assert domain.contains([1.0, 1.0, 0.0])
    assert not domain.is_box
    assert not domain.contains([1.0, 0.5, 0.0])
    assert not domain.contains([1.0, 1.0, 1e-300])
    with pytest.raises(ProblemError, match="another number"):
        Domain([0.0], [1.0], (), (), (either,))
    with pytest.raises(ProblemError, match="not there"):
        Domain([0.0], [1.0], (), (), (), (Limit(1, (1,), (0.0,)),))


def test_on_other_scales_intervals_and_values_of_today_are_mapped():
    warp = Warp(0.5, 0.0, 1.0)
    either = Either((Way((interval(0, 1.0, 3.0, 2),)),))
    domain = Domain([-1.0, -1.0], [4.0, 4.0], (), (), (either,), (Limit(1, (0, 1), (2.0, 2.0)),))
    curved = domain.warped((warp, IDENTITY))
    row = curved.eithers[0].ways[0].rows[0]
    assert (row.low, row.high) == (warp.exactly(1.0), warp.exactly(3.0))
    assert curved.limits[0].today == (warp.exactly(2.0), 2.0)
    several = Either((Way((Row([1.0, 1.0], 0.0, 1.0, "sum"),)),))
    with pytest.raises(ProblemError, match="curved scale"):
        Domain([-1.0, -1.0], [4.0, 4.0], (), (), (several,)).warped((warp, IDENTITY))


def test_a_price_counts_in_its_own_direction():
    whitening = Whitening.from_covariance([[4.0, 1.0], [1.0, 9.0]])
    prices = np.array([[1.0, 3.0], [2.0, 0.5]])
    metric = Metric(whitening, 1, prices)
    assert metric.is_cost
    assert metric.distance([2.0, -3.0], [0.0, 0.0]) == pytest.approx(1.0 + 0.5)
    assert metric.distance([-2.0, 3.0], [0.0, 0.0]) == pytest.approx(3.0 + 2.0)
    assert Metric(whitening, np.inf, prices).distance([-2.0, 3.0], [0.0, 0.0]) == pytest.approx(3.0)
    np.testing.assert_allclose(metric.matrix, np.diag([0.5, 1 / 3]))


@pytest.mark.parametrize("prices", [[[1.0, 1.0]], [[0.0, 1.0], [1, 1]], [[np.inf, 1.0], [1, 1]]])
def test_prices_are_above_zero(prices):
    with pytest.raises(DataError, match="price"):
        Metric(Whitening.from_covariance(np.eye(2)), 1, prices)
