import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Quadratic
from surefoot.exceptions import DataError


def random_quadratic(n, rng):
    return Quadratic(
        rng.standard_normal((n, n)), rng.standard_normal(n), rng.standard_normal(), rng.standard_normal(n)
    )


cases = given(n=st.integers(1, 6), seed=st.integers(0, 10_000))


@cases
def test_value_is_the_formula(n, seed):
    rng = np.random.default_rng(seed)
    Q, q, r, c, x = (
        rng.standard_normal((n, n)),
        rng.standard_normal(n),
        0.7,
        rng.standard_normal(n),
        rng.random(n),
    )
    expected = (x - c) @ Q @ (x - c) + q @ (x - c) + r
    assert Quadratic(Q, q, r, c)(x) == pytest.approx(expected)


@cases
def test_gradient_by_differences(n, seed):
    rng = np.random.default_rng(seed)
    H, x, step = random_quadratic(n, rng), rng.standard_normal(n), 1e-6
    numeric = [(H(x + step * e) - H(x - step * e)) / (2 * step) for e in np.eye(n)]
    np.testing.assert_allclose(H.gradient(x), numeric, atol=1e-6)


@cases
def test_recentring_shifting_and_coordinates(n, seed):
    rng = np.random.default_rng(seed)
    H, x, d, o = random_quadratic(n, rng), *rng.standard_normal((3, n))
    B = rng.standard_normal((n, n))
    assert H.recentered(o)(x) == pytest.approx(H(x))
    assert H.shifted(d)(x) == pytest.approx(H(x + d))
    assert H.in_coordinates(B, o)(d) == pytest.approx(H(o + B @ d))


@cases
def test_arithmetic(n, seed):
    rng = np.random.default_rng(seed)
    H, G, x = random_quadratic(n, rng), random_quadratic(n, rng), rng.standard_normal(n)
    assert (H + G)(x) == pytest.approx(H(x) + G(x))
    assert (H - G)(x) == pytest.approx(H(x) - G(x))
    assert (H + 2.5)(x) == pytest.approx(H(x) + 2.5)
    assert (-H)(x) == pytest.approx(-H(x))


def test_rows_at_once(rng):
    H, X = random_quadratic(3, rng), rng.standard_normal((5, 3))
    np.testing.assert_allclose(H(X), [H(x) for x in X])
    np.testing.assert_allclose(H.gradient(X), [H.gradient(x) for x in X])


def test_keeps_its_digits_far_from_the_origin():
    H = Quadratic(np.eye(1), [0.0], 0.0, [1.7e9])
    assert H([1.7e9 + 0.001]) == pytest.approx(1e-6, rel=1e-3)


def test_shapes_are_checked_and_arrays_are_frozen():
    with pytest.raises(DataError, match="n x n matrix"):
        Quadratic(np.eye(2), np.zeros(3), 0.0)
    H = Quadratic(np.eye(2), np.zeros(2), 0.0)
    with pytest.raises(ValueError, match="read-only"):
        H.matrix[0, 0] = 5
