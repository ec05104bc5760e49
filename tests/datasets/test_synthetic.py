import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.datasets import random_dag, random_tree, synthetic
from surefoot.exceptions import DataError


def test_truth_comes_with_the_data():
    data = synthetic(5000, 6, edge_density=0.4, n_classes=3, random_state=1)
    assert data.X.shape == (5000, 6)
    assert sorted(data.y.unique()) == [0, 1, 2]
    assert len(data.networks) == 3
    assert data.dag.n_features == 6
    assert sum(data.class_prior) == pytest.approx(1)


def test_same_seed_same_data():
    first, second = (synthetic(50, 4, random_state=3) for _ in range(2))
    assert first.X.equals(second.X)
    assert first.dag == second.dag


def test_fitting_the_true_graph_finds_the_true_parameters():
    data = synthetic(200_000, 5, edge_density=0.5, random_state=2)
    clf = ConditionalGaussianNetworkClassifier(structure=data.dag).fit(data.X, data.y)
    for fitted, true in zip(clf.networks_, data.networks, strict=True):
        np.testing.assert_allclose(fitted.weights, true.weights, atol=0.02)
        np.testing.assert_allclose(fitted.means, true.means, atol=0.02)
        np.testing.assert_allclose(fitted.variances, true.variances, rtol=0.03)


@pytest.mark.parametrize("separation", [0.5, 3.0])
def test_separation_is_the_mahalanobis_distance_of_the_means(separation):
    data = synthetic(100, 30, class_separation=separation, random_state=0)
    zero, one = data.networks
    assert one.whitening().distance(one.means, zero.means, 2) == pytest.approx(separation)


def test_variances_do_not_explode_with_size():
    data = synthetic(10, 200, edge_density=0.05, random_state=0)
    assert max(network.covariance.diagonal().max() for network in data.networks) < 10


def test_density_zero_and_one():
    assert random_dag(6, 0.0, 0).n_edges == 0
    assert random_dag(6, 1.0, 0).n_edges == 15


def test_tree_is_a_tree():
    tree = random_tree(20, 0)
    assert tree.n_edges == 19
    assert sorted(len(group) for group in tree.parents) == [0] + [1] * 19


def test_bad_sizes():
    with pytest.raises(DataError, match="at least one feature"):
        synthetic(10, 0)
    with pytest.raises(DataError, match="edge_density"):
        synthetic(10, 3, edge_density=1.5)
    with pytest.raises(DataError, match="dag has 4 features"):
        synthetic(10, 3, dag=random_tree(4, 0))
