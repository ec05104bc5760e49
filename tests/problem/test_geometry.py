import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Ball, LinearGaussianNetwork, Whitening
from surefoot.datasets import random_dag
from surefoot.exceptions import DataError
from surefoot.problem.geometry import Metric, dual_exponent, lp_norm, rotated

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
            Ball(np.eye(1), 2, radius)


def test_norm_duality(rng):
    U, V = rng.standard_normal((2, 200, 5))
    for p in NORMS:
        inner = np.abs(np.einsum("ij,ij->i", U, V))
        assert (inner <= lp_norm(U, p) * lp_norm(V, dual_exponent(p)) + 1e-12).all()


@pytest.mark.parametrize("p", NORMS)
def test_ball(p):
    ball = Ball.whitened(random_network(4, 3).whitening(), p, 0.3)
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
        Ball(np.eye(21), np.inf, 1.0).vertices()


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


def test_metric():
    metric = Metric(random_network(3, 1).whitening(), 1)
    x, y = np.random.default_rng(0).normal(size=(2, 3))
    assert metric.distance(x, y) == pytest.approx(np.abs(metric.matrix @ (x - y)).sum())
    np.testing.assert_allclose(metric.inverse @ metric.matrix, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(metric.unit**2, np.diag(random_network(3, 1).covariance))
    with pytest.raises(DataError, match="norm must be 1, 2"):
        Metric(metric.whitening, 3)


@given(n=st.integers(1, 6), seed=st.integers(0, 500))
def test_rotations_keep_the_product_and_have_their_shape(n, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n + int(rng.integers(3)), n))
    order = rng.permutation(n)
    for kind in ("cholesky", "dag", "zca"):
        M = rotated(root, kind, order)
        np.testing.assert_allclose(M.T @ M, root.T @ root, atol=1e-10)
        if kind == "zca":
            np.testing.assert_allclose(M, M.T, atol=1e-10)
        else:
            wrong = np.tril(M, -1) if kind == "cholesky" else np.triu(M[np.ix_(order, order)], 1)
            assert (wrong == 0).all()
            assert (np.diag(M) > 0).all()
    with pytest.raises(DataError, match="needs the order"):
        rotated(root, "dag")


@given(seed=st.integers(0, 200), p=st.sampled_from(NORMS), kind=st.sampled_from(["cholesky", "dag", "zca"]))
def test_the_ball_of_features_given_those_that_land_exactly(seed, p, kind):
    network = random_network(5, seed)
    exact = [1, 3] if seed % 2 else [0]
    noisy = [j for j in range(5) if j not in exact]
    ball = Ball.whitened(network.whitening(kind), p, 0.3, exact, network.dag.smallest_first_order)
    samples = ball.sample(50, seed)
    assert (samples[:, exact] == 0).all()
    assert ball.contains(samples).all()
    assert ball.noisy.tolist() == [j in noisy for j in range(5)]
    # The block of the precision is the precision given the others.
    block = network.precision[np.ix_(noisy, noisy)]
    np.testing.assert_allclose(ball.matrix.T @ ball.matrix, block, atol=1e-8)
    np.testing.assert_allclose(ball.matrix @ ball.basis[noisy], np.eye(len(noisy)), atol=1e-9)
    moved = samples[0].copy()
    moved[exact[0]] = 1e-9
    assert ball.size(moved) == np.inf
    if p == 2:  # then it is the slice of the whole ball
        whole = Ball.whitened(network.whitening(kind), 2, 0.3)
        np.testing.assert_allclose(ball.size(samples), whole.size(samples), rtol=1e-8)


def test_a_known_matrix_is_kept():
    """Inverted twice, the zeros of a triangle would be rounding errors."""
    whitening = random_network(5, 2).whitening("dag")
    assert Ball.whitened(whitening, np.inf, 0.1).matrix is whitening.matrix
    np.testing.assert_allclose(Ball(whitening.inverse, np.inf, 0.1).matrix, whitening.matrix, atol=1e-12)


def test_a_budget_by_feature():
    ball = Ball.box([1.0, 0.0, 0.0, 2.0], [3.0, 0.5, 0.0, 2.0])
    assert (ball.radius, ball.norm) == (1.0, np.inf)
    assert ball.noisy.tolist() == [True, True, False, True]
    corners = ball.vertices()
    assert len(corners) == 8
    np.testing.assert_array_equal(corners.min(axis=0), [-1, 0, 0, -2])
    np.testing.assert_array_equal(corners.max(axis=0), [3, 0.5, 0, 2])
    assert ball.contains(corners).all()
    samples = ball.sample(500, 0)
    assert ball.contains(samples).all()
    assert (samples[:, 1] >= 0).all()
    np.testing.assert_allclose(ball.size([-0.5, 0.0, 0.0, 1.0]), 0.5)
    np.testing.assert_allclose(ball.size([[6.0, 0, 0, 0], [0, 0.25, 0, 0], [0, 0, 0, 0]]), [2, 0.5, 0])
    for outside in ([0, -1e-9, 0, 0], [0, 0, 1e-9, 0], [-1.1, 0, 0, 0], [np.nan, 0, 0, 0], [0, 0, np.nan, 0]):
        assert not ball.contains(outside)
    assert (np.abs(samples) <= ball.feature_extent() + 1e-12).all()
    half = ball.perturbation([1.0, -1.0, 0.0], radius=0.5)  # twice as far as the corner of that radius
    assert ball.size(half) > 0.5
    for bad in (([-1.0], [1.0]), ([1.0], [np.inf]), ([np.nan], [1.0])):
        with pytest.raises(DataError, match="finite numbers >= 0"):
            Ball.box(*bad)


def test_a_ball_of_nothing():
    for ball in (Ball.box([0.0, 0.0], [0.0, 0.0]), Ball.whitened(Whitening(np.eye(2)), 1, 0.5, [0, 1])):
        assert ball.is_point
        assert (ball.sample(3, 0) == 0).all()
        assert (ball.vertices() == 0).all()
        assert ball.size([0.0, 0.0]) == 0
        assert not ball.contains([1e-300, 0.0])
        assert (ball.feature_extent() == 0).all()
    assert Ball.whitened(Whitening(np.eye(2)), 1, 0.0).is_point


def test_bad_balls():
    with pytest.raises(DataError, match="differ"):
        Ball(np.eye(2), 2, 1.0, [0.0])
    with pytest.raises(DataError, match="must be finite"):
        Ball(np.full((1, 1), np.nan), 2, 1.0)
    with pytest.raises(DataError, match="norm infinity can have a centre"):
        Ball(np.eye(2), 2, 1.0, [0.5, 0.0])
    with pytest.raises(DataError, match="numbers from 0 to 1"):
        Ball.whitened(Whitening(np.eye(2)), 2, 1.0, [2])
