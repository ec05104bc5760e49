import numpy as np
import pytest

from surefoot.model import moments
from surefoot.model.moments import class_moments


@pytest.fixture(params=[7, 1000])
def chunk(request, monkeypatch):
    monkeypatch.setattr(moments, "ROWS_PER_CHUNK", request.param)


@pytest.mark.usefixtures("chunk")
def test_moments_equal_numpys(rng):
    X, c = rng.standard_normal((200, 3)) * [1, 10, 0.1] + [0, 5, 1e6], rng.integers(0, 3, 200)
    c.sort()  # rows sorted by class are the hard case for running means
    found = class_moments(X, c, 3)
    for k in range(3):
        np.testing.assert_allclose(found.means[k], X[c == k].mean(axis=0), rtol=1e-13)
        np.testing.assert_allclose(found.covariances[k], np.cov(X[c == k].T, bias=True), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.pooled_covariance(), np.cov(X.T, bias=True), rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(found.low, X.min(axis=0))
    np.testing.assert_array_equal(found.high, X.max(axis=0))


@pytest.mark.usefixtures("chunk")
def test_a_weight_is_a_number_of_repetitions(rng):
    X, c, w = rng.standard_normal((60, 2)), rng.integers(0, 2, 60), rng.integers(0, 4, 60)
    weighted = class_moments(X, c, 2, w.astype(float))
    repeated = class_moments(np.repeat(X, w, axis=0), np.repeat(c, w), 2)
    np.testing.assert_allclose(weighted.totals, repeated.totals)
    np.testing.assert_allclose(weighted.means, repeated.means)
    np.testing.assert_allclose(weighted.covariances, repeated.covariances)
    np.testing.assert_array_equal(weighted.low, repeated.low)


def test_single_precision_input_is_summed_in_double():
    X = np.full((100_000, 1), 0.1, dtype=np.float32)
    X[::2] += np.float32(1e-3)
    found = class_moments(X, np.zeros(len(X), dtype=int), 1)
    assert found.means[0, 0] == pytest.approx(X.astype(float).mean(), rel=1e-12)
