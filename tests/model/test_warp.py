import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from surefoot.exceptions import DataError
from surefoot.model.warp import IDENTITY, Warp, fit_warp

POWERS = [-3.0, -1.0, -1e-9, 0.0, 1e-25, 1e-9, 0.3, 1.0, 1.7, 2 - 1e-12, 2.0, 2 + 1e-9, 3.5, 5.0]
ONE_CLASS = 1


def one_class(column):
    return np.zeros(len(column), dtype=np.intp)


@pytest.mark.parametrize("power", POWERS)
def test_it_is_yeo_johnsons_map(power):
    x = np.linspace(-4, 6, 41)
    np.testing.assert_allclose(Warp(power)(x), stats.yeojohnson(x, power), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("power", POWERS)
def test_the_inverse_is_exact(power):
    warp = Warp(power, 1.5, 2.5)
    x = np.concatenate([np.linspace(-10, 15, 101), [1.5, 1.5 + 1e-12, 1.5 - 1e-12]])
    z = warp(x)
    # What one rounding of z means for x: nobody can do better than that.
    unit = np.spacing(np.abs(z)) / warp.slope(x) + np.spacing(np.abs(x)) + 1e-15
    assert (np.abs(warp.inverse(z) - x) <= 8 * unit).all()


@pytest.mark.parametrize("power", POWERS)
def test_the_slope_is_the_derivative(power):
    warp = Warp(power, -1.0, 3.0)
    x, step = np.linspace(-8, 9, 18), 1e-5
    np.testing.assert_allclose(warp.slope(x), (warp(x + step) - warp(x - step)) / (2 * step), rtol=1e-6)
    np.testing.assert_allclose(np.exp(warp.log_slope(x)), warp.slope(x))


@given(st.floats(-3, 5), st.floats(-50, 50), st.floats(1e-3, 10))
def test_it_rises_and_stays_in_its_range(power, x, step):
    warp = Warp(power, 0.5, 2.0)
    low, high = warp.range
    assert low <= warp(x) <= warp(x + step) <= high


def test_the_range_is_bounded_for_powers_below_zero_and_above_two():
    assert Warp(-0.5).range == (-np.inf, 2.0)
    assert Warp(4.0).range == (-0.5, np.inf)
    assert Warp(0.0).range == Warp(2.0).range == Warp(1.3).range == IDENTITY.range == (-np.inf, np.inf)
    assert Warp(-0.5).inverse(2.0) == Warp(-0.5).inverse(7.0) == np.inf
    assert Warp(4.0).inverse(-0.5) == -np.inf
    assert Warp(-0.5)(1e30) == pytest.approx(2.0)


def test_the_identity_changes_no_bit(rng):
    x = rng.standard_normal(50) * 1e6
    assert IDENTITY.is_identity
    assert (IDENTITY(x) == x).all()
    assert (IDENTITY.inverse(x) == x).all()
    assert (IDENTITY.slope(x) == 1).all()
    assert (IDENTITY.log_slope(x) == 0).all()


def test_holes_stay_holes():
    for warp in (IDENTITY, Warp(0.3)):
        assert np.isnan(warp(np.array([np.nan, 1.0]))).tolist() == [True, False]


def test_impossible_warps():
    for wrong in ({"scale": 0.0}, {"scale": -1.0}, {"shift": np.nan}, {"power": np.inf}):
        with pytest.raises(DataError, match="must be finite, the scale positive"):
            Warp(**{"power": 1.0} | wrong)


def test_a_skewed_column_becomes_symmetric(rng):
    amounts = np.exp(rng.normal(7, 0.8, 3000))
    warp = fit_warp(amounts, one_class(amounts), ONE_CLASS, choose=True)
    assert abs(stats.skew(warp(amounts))) < 0.2 < stats.skew(amounts)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_do_not_matter(rng, scale):
    amounts = np.exp(rng.normal(0, 0.7, 1000))
    warp, other = (fit_warp(column, one_class(column), 1) for column in (amounts, scale * amounts))
    np.testing.assert_allclose(warp(amounts), other(scale * amounts), rtol=0.05)


def test_gaussian_columns_are_left_alone_when_there_is_a_choice(rng):
    columns = rng.normal(3, 2, (20, 500))
    chosen = [fit_warp(column, one_class(column), ONE_CLASS, choose=True) for column in columns]
    assert sum(warp.is_identity for warp in chosen) >= 18
    assert not fit_warp(columns[0], one_class(columns[0]), ONE_CLASS).is_identity


def test_classes_are_gaussian_each_not_together(rng):
    """Two normal classes of unequal size are a skewed column, but each is Gaussian."""
    column = np.concatenate([rng.normal(0, 1, 900), rng.normal(6, 1, 100)])
    codes = np.repeat([0, 1], [900, 100])
    assert fit_warp(column, codes, 2, choose=True).is_identity
    assert not fit_warp(column, one_class(column), ONE_CLASS, choose=True).is_identity


def test_columns_far_from_zero(rng):
    years = 2000 + np.round(rng.gamma(2.0, 3.0, 1000))
    warp = fit_warp(years, one_class(years), ONE_CLASS)
    z = warp(years)
    assert np.isfinite(z).all()
    assert abs(stats.skew(z)) < 0.3 < stats.skew(years)
    np.testing.assert_allclose(warp.inverse(z), years, rtol=1e-12)


def test_weights_are_repetitions(rng):
    column, w = rng.gamma(2.0, 1.0, 200), rng.integers(0, 4, 200)
    codes = rng.integers(0, 2, 200)
    weighted = fit_warp(column, codes, 2, weights=w.astype(float))
    repeated = fit_warp(np.repeat(column, w), np.repeat(codes, w), 2)
    assert weighted.power == pytest.approx(repeated.power, abs=0.05)


def test_columns_that_cannot_be_warped_stay_as_they_are(rng):
    codes = np.arange(100) % 2
    for column in (np.ones(100), np.arange(100) % 2, np.full(100, np.nan)):
        assert fit_warp(column, codes, 2) == IDENTITY
    holes = np.where(rng.random(100) < 0.2, np.nan, rng.gamma(2.0, 1.0, 100))
    assert np.isfinite(fit_warp(holes, codes, 2).power)
    constant_in_a_class = np.where(codes == 0, 5.0, rng.gamma(2.0, 1.0, 100))
    assert np.isfinite(fit_warp(constant_in_a_class, codes, 2).power)
    tails = rng.standard_cauchy(2000)
    assert np.isfinite(fit_warp(tails, np.arange(2000) % 2, 2)(tails)).all()
