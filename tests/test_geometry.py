import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Ball, LinearGaussianNetwork, Whitening
from surefoot.datasets import random_dag
from surefoot.exceptions import DataError
from surefoot.waist.geometry import dual_exponent, lp_norm

NORMS = (1, 2, np.inf)


def random_network(n, seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(n, 0.5, rng)
    W = np.where(dag.adjacency(), rng.standard_normal((n, n)), 0.0)
    return LinearGaussianNetwork(dag, W, rng.standard_normal(n), rng.uniform(0.2, 2, n))


@given(n=st.integers(1, 6), seed=st.integers(0, 1000))
def test_every_whitening_whitens_and_all_agree_for_p_2(n, seed):
    network = random_network(n, seed)
    difference = np.random.default_rng(seed).standard_normal(n)
    distances = []
    for kind in ("cholesky", "dag", "zca"):
        whitening = network.whitening(kind)
        assert whitening.kind == kind
        M = whitening.matrix
        np.testing.assert_allclose(M @ network.covariance @ M.T, np.eye(n), atol=1e-8)
        np.testing.assert_allclose(whitening.undo(whitening.apply(difference)), difference, atol=1e-8)
        distances.append(whitening.distance(difference, np.zeros(n), 2))
    np.testing.assert_allclose(distances, np.sqrt(difference @ network.precision @ difference), rtol=1e-8)


def test_the_papers_whitening_is_the_transposed_cholesky_factor():
    covariance = np.array([[2.0, 0.8], [0.8, 1.0]])
    L = np.linalg.cholesky(np.linalg.inv(covariance))
    np.testing.assert_allclose(Whitening.from_covariance(covariance).matrix, L.T)
    # The untransposed factor is not a whitening matrix at all.
    assert not np.allclose(L @ covariance @ L.T, np.eye(2))


def test_dag_whitening_moves_one_lever():
    network = LinearGaussianNetwork(random_dag(2, 0.0), np.zeros((2, 2)), [0, 0], [4, 9])
    np.testing.assert_allclose(network.whitening("dag").matrix, np.diag([0.5, 1 / 3]))


def test_singular_covariance_is_refused():
    with pytest.raises(DataError, match="not positive definite"):
        Whitening.from_precision(np.diag([1.0, -1.0]))
    with pytest.raises(DataError, match="not positive definite"):
        Whitening.from_precision(np.diag([1.0, 0.0]), "zca")
    with pytest.raises(DataError, match="not positive definite"):
        Whitening.from_covariance(np.ones((2, 2)))
    with pytest.raises(DataError, match="'cholesky' or 'zca'"):
        Whitening.from_precision(np.eye(2), "dag")
    with pytest.raises(DataError, match="whitening must be one of"):
        Whitening(np.eye(2), "pca")


def test_unknown_norm_and_bad_radius():
    with pytest.raises(DataError, match=r"norm must be 1, 2 or numpy.inf, not 3"):
        lp_norm([1.0], 3)
    for radius in (-0.1, np.nan, np.inf):
        with pytest.raises(DataError, match="budget must be a finite number >= 0"):
            Ball(Whitening(np.eye(1)), 2, radius)


def test_norm_duality(rng):
    U, V = rng.standard_normal((2, 200, 5))
    for p in NORMS:
        inner = np.abs(np.einsum("ij,ij->i", U, V))
        assert (inner <= lp_norm(U, p) * lp_norm(V, dual_exponent(p)) + 1e-12).all()


@pytest.mark.parametrize("p", NORMS)
def test_ball(p):
    ball = Ball(random_network(4, 3).whitening(), p, 0.3)
    points = ball.sample(4000, random_state=0)
    assert ball.contains(points).all()
    assert not ball.contains(points * 1.0 + 10).any()
    extent = ball.feature_extent()
    assert (np.abs(points) <= extent * (1 + 1e-9)).all()
    if p != 2:
        corners = ball.vertices()
        assert len(corners) == (8 if p == 1 else 16)
        np.testing.assert_allclose(ball.size(corners), 0.3)
        np.testing.assert_allclose(np.abs(corners).max(axis=0), extent)  # the extent is reached
    else:
        with pytest.raises(DataError, match="no vertices"):
            ball.vertices()


def test_too_many_corners():
    with pytest.raises(DataError, match="too many vertices"):
        Ball(Whitening(np.eye(21)), np.inf, 1.0).vertices()


@pytest.mark.parametrize("kind", ["cholesky", "dag", "zca"])
def test_whitening_with_wildly_different_units(kind):
    network = random_network(5, 2)
    units = np.geomspace(1e-6, 1e6, 5)
    rescaled = LinearGaussianNetwork(
        network.dag,
        network.weights * np.outer(units, 1 / units),
        network.means * units,
        network.variances * units**2,
    )
    B = np.linalg.inv(rescaled.deviation_matrix) * np.sqrt(rescaled.variances)  # covariance is BB'
    product = rescaled.whitening(kind).matrix @ B
    np.testing.assert_allclose(product @ product.T, np.eye(5), atol=1e-6)
