"""The metric of a cost, and balls along a graph."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot.proof import exact
from tests.proof import two_numbers as plain

WEIGHTS = {"two": [[0.0, 0.0], [0.5, 0.0]], "three": [[0.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.7, 0.0]]}


def case_of(name, metric, ball, **changes):
    """A question about a model with these weights, and variances of one."""
    case, weights = plain.case_of(), WEIGHTS[name]
    n = len(weights)
    parents = [[j for j, w in enumerate(row) if w] for row in weights]
    networks = [exact.Network(weights, [mean] * n, [1.0] * n) for mean in (-1.0, 1.0)]
    features, zeros = list("abc"[:n]), [0.0] * n
    model = replace(case.model, features=features, values=[None] * n, parents=parents, networks=networks)
    asked = replace(case.question, features=features, factual=zeros, low=zeros, high=zeros, **changes)
    metric = np.asarray(metric).tolist()
    ball = None if ball is None else np.asarray(ball).tolist()
    return replace(case, models=[model], question=asked, metric=metric, ball=ball)


def inverse_covariance(name):
    deviations = np.eye(len(WEIGHTS[name])) - np.array(WEIGHTS[name])
    return deviations.T @ deviations


def verdict(*arguments, **changes):
    return exact.geometry_claim(case_of(*arguments, **changes)).verdict


def test_the_metric_of_a_cost():
    """One over each standard deviation: neither twice that nor a root of the inverse covariance."""
    root, spread = np.linalg.cholesky(inverse_covariance("two")).T, np.diag([1.0, 1 / np.sqrt(1.25)])
    cost = {"prices": [(1.0, 1.0), (2.0, 0.5)]}
    assert verdict("two", spread, root, **cost) == exact.HOLDS
    for wrong in (2 * spread, root, np.diag([1.0, 1.0]), spread + 1e-9 * np.eye(2, k=1), -spread):
        assert verdict("two", wrong, root, **cost) == exact.FAILS
    assert verdict("two", spread, None, **cost) == exact.FAILS  # its ball is not its metric
    assert verdict("two", root, None) == exact.HOLDS
    assert verdict("two", spread, None) == exact.FAILS


def test_the_ball_of_a_graph_goes_by_the_order_of_its_features():
    """The second feature comes before the third: the matrix of both is lower triangular."""
    root, block = np.eye(3) - np.array(WEIGHTS["three"]), inverse_covariance("three")[1:, 1:]
    upper = np.linalg.cholesky(block).T
    lower = np.linalg.cholesky(block[::-1, ::-1]).T[::-1, ::-1]
    assert np.allclose(upper.T @ upper, block)
    assert np.allclose(lower.T @ lower, block)
    asked = {"whitening": "dag", "exact": [0]}
    assert verdict("three", root, lower, **asked) == exact.HOLDS
    assert verdict("three", root, upper, **asked) == exact.FAILS


@pytest.mark.parametrize("excess", [0.9e-6, -0.9e-6, 1.5e-6, -1.5e-6, -0.5])
def test_the_room_of_the_metric_of_a_cost(excess):
    """Too small is as wrong as too large: it would make every distance smaller."""
    root, spread = np.linalg.cholesky(inverse_covariance("two")).T, np.array([1.0, 1 / np.sqrt(1.25)])
    for j in (0, 1):
        scaled = spread.copy()
        scaled[j] *= np.sqrt(1 + excess)
        found = verdict("two", np.diag(scaled), root, prices=[(1.0, 1.0)] * 2)
        assert found == (exact.HOLDS if abs(excess) < 1e-6 else exact.FAILS)


@pytest.mark.parametrize(
    ("metric", "diagonal"),
    [
        ([[1.0, 0.0], [0.0, 2.0]], True), ([[1.0, 0.0], [0.0, 0.0]], False),
        ([[0.0, 0.0], [0.0, 1.0]], False),
        ([[1.0, 1e-300], [0.0, 1.0]], False), ([[1.0, 0.0], [-1e-300, 1.0]], False),
        ([[-1.0, 0.0], [0.0, 1.0]], False), ([[0.5]], True),
    ],
)  # fmt: skip
def test_matrices_that_are_diagonal(metric, diagonal):
    assert exact._diagonal(metric) == diagonal


def test_a_bound_on_a_cost_needs_a_diagonal_metric():
    root = np.linalg.cholesky(inverse_covariance("two")).T
    with pytest.raises(exact.FaultError, match="the metric of a cost is not diagonal"):
        exact.bound_setting(case_of("two", root, root, prices=[(1.0, 1.0)] * 2, requirements=[]))
    diagonal = case_of("two", np.eye(2), root, prices=[(1.0, 2.0)] * 2, requirements=[])
    assert exact.bound_setting(diagonal).prices == [(1.0, 2.0)] * 2
    assert exact.bound_setting(case_of("two", root, None, requirements=[])).prices is None
