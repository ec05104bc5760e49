import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from surefoot import Dag, LinearGaussianNetwork
from surefoot.exceptions import DataError
from tests.problem.test_geometry import random_network


@given(n=st.integers(1, 6), seed=st.integers(0, 1000))
def test_density_is_the_multivariate_normal(n, seed):
    network = random_network(n, seed)
    X = network.sample(20, seed)
    expected = multivariate_normal(network.means, network.covariance).logpdf(X)
    np.testing.assert_allclose(network.log_density(X), np.atleast_1d(expected), rtol=1e-8)
    np.testing.assert_allclose(network.log_density_quadratic()(X), network.log_density(X), rtol=1e-9)


@given(n=st.integers(1, 6), seed=st.integers(0, 1000))
def test_moments_of_a_network_give_it_back(n, seed):
    network = random_network(n, seed)
    again = LinearGaussianNetwork.from_moments(network.dag, network.means, network.covariance)
    np.testing.assert_allclose(again.weights, network.weights, atol=1e-7)
    np.testing.assert_allclose(again.variances, network.variances, rtol=1e-7)
    np.testing.assert_allclose(again.intercepts, network.intercepts, atol=1e-6)


def test_regression_is_least_squares(rng):
    X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 3)) + 5
    dag = Dag([(), (0,), (0, 1)])
    network = LinearGaussianNetwork.from_moments(dag, X.mean(axis=0), np.cov(X.T, bias=True))
    design = np.column_stack([X[:, :2], np.ones(300)])
    coefficients, residue, *_ = np.linalg.lstsq(design, X[:, 2])
    np.testing.assert_allclose(network.weights[2, :2], coefficients[:2])
    assert network.intercepts[2] == pytest.approx(coefficients[2])
    assert network.variances[2] == pytest.approx(residue[0] / 300)
    np.testing.assert_allclose(network.expected(X)[:, 2], design @ coefficients)


def test_samples_have_the_networks_moments():
    network = random_network(4, 1)
    X = network.sample(200_000, 0)
    np.testing.assert_allclose(X.mean(axis=0), network.means, atol=0.05)
    np.testing.assert_allclose(np.cov(X.T), network.covariance, rtol=0.1, atol=0.05)


def test_zero_variance_is_refused_unless_there_is_noise():
    collinear = np.array([[1.0, 2.0], [2.0, 4.0]])
    dag = Dag([(), (0,)])
    with pytest.raises(DataError, match="feature 1 has no variance left"):
        LinearGaussianNetwork.from_moments(dag, [0, 0], collinear)
    network = LinearGaussianNetwork.from_moments(dag, [0, 0], collinear, [1e-9, 1e-9])
    assert (network.variances >= 1e-9).all()
    assert np.isfinite(network.precision).all()


def test_noise_is_added_to_the_covariance():
    dag, S, noise = Dag.complete(3), np.diag([1.0, 2.0, 3.0]) + 0.5, [0.1, 0.2, 0.3]
    network = LinearGaussianNetwork.from_moments(dag, np.zeros(3), S, noise)
    np.testing.assert_allclose(network.covariance, S + np.diag(noise))


def test_bad_parameters():
    dag = Dag([(), (0,)])
    with pytest.raises(DataError, match="variances must be positive"):
        LinearGaussianNetwork(dag, np.zeros((2, 2)), [0, 0], [1, 0])
    with pytest.raises(DataError, match="no edge"):
        LinearGaussianNetwork(dag, [[0, 1], [0, 0]], [0, 0], [1, 1])
    with pytest.raises(DataError, match="means of a network with 2 features"):
        LinearGaussianNetwork(dag, np.zeros((2, 2)), [0, np.nan], [1, 1])
