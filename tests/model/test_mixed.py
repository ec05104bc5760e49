import itertools

import numpy as np
import pytest
from scipy.stats import norm

from surefoot import Dag
from surefoot.exceptions import DataError, StructureError
from surefoot.model.decision import log_density_quadratic
from surefoot.model.mixed import Cells, MixedNetwork
from surefoot.model.schema import Schema

# a number, a category of two values, a number, a category of three, a number
SCHEMA = Schema(("x", "a", "y", "b", "z"), (None, ("p", "q"), None, ("u", "v", "w"), None))
DAG = Dag([(1, 3), (), (0, 1), (1,), (0, 2)])


def log_table(network, state):
    """Log probability of a state of the categories."""
    return log_density_quadratic(network).constant(state)


def random_mixed_network(seed=0):
    rng = np.random.default_rng(seed)
    tables = (rng.dirichlet([2, 2]), rng.dirichlet([1, 2, 3], size=2))

    def cells(parents, given, *grid):
        shapes = [grid, (*grid, len(parents)), (*grid, len(parents))]
        return Cells(parents, given, *(rng.standard_normal(s) for s in shapes), rng.random(grid) + 0.5)

    return MixedNetwork(
        DAG, SCHEMA, tables, (cells((), (0, 1), 2, 3), cells((0,), (0,), 2), cells((0, 1), ()))
    )


def states():
    return itertools.product(range(2), range(3))


def reference(network, z, state):
    """Straight from the formula, one row at a time."""
    a, b = state
    x, y, w = network.cells
    total = np.log(network.tables[0][a]) + np.log(network.tables[1][a, b])
    total += norm.logpdf(z[0], x.mean[a, b], np.sqrt(x.variance[a, b]))
    mean = y.mean[a] + y.weights[a, 0] * (z[0] - y.at[a, 0])
    total += norm.logpdf(z[1], mean, np.sqrt(y.variance[a]))
    mean = w.mean + w.weights @ (z[:2] - w.at)
    return total + norm.logpdf(z[2], mean, np.sqrt(w.variance))


def test_density_is_the_formula():
    network = random_mixed_network()
    numbers, codes = network.sample(50, 1)
    expected = [reference(network, z, tuple(s)) for z, s in zip(numbers, codes, strict=True)]
    np.testing.assert_allclose(network.log_density(numbers, codes), expected, rtol=1e-12)
    quadratic = log_density_quadratic(network)
    for z, s, value in zip(numbers, codes, expected, strict=True):
        given = network.given(tuple(s)).log_density(z[None])[0]
        assert given + log_table(network, tuple(s)) == pytest.approx(value, rel=1e-10)
        assert quadratic.at(tuple(s))(z) == pytest.approx(value, rel=1e-10)


def test_probabilities_sum_to_one():
    network = random_mixed_network()
    assert sum(np.exp(log_table(network, s)) for s in states()) == pytest.approx(1)
    assert network.shaping == (0, 1)
    assert network.family(1) == (0, 1)
    assert [factor.categories for factor in network.factors] == [(0,), (0, 1)]


def test_the_same_network_comes_back():
    network = random_mixed_network()
    assert network.given((1, 2)) is network.given((1, 2))
    assert network.given((1, 1)) is not network.given((1, 2))


def test_samples_come_from_the_network():
    network = random_mixed_network()
    numbers, codes = network.sample(200_000, 0)
    for s in states():
        own = (codes == s).all(axis=1)
        assert own.mean() == pytest.approx(np.exp(log_table(network, s)), abs=0.01)
        np.testing.assert_allclose(numbers[own].mean(axis=0), network.given(s).means, atol=0.15)


def test_expectations():
    network = random_mixed_network()
    numbers, codes = network.sample(20, 0)
    expected, chances = network.expected(numbers, codes)
    for i, s in enumerate(map(tuple, codes)):
        np.testing.assert_allclose(expected[i], network.given(s).expected(numbers[i]))
        assert chances[i].tolist() == [network.tables[0][s[0]], network.tables[1][s]]
    spread = [np.sqrt(network.given(tuple(s)).variances) for s in codes]
    np.testing.assert_allclose(network.deviations(numbers, codes), (numbers - expected) / spread)


def test_wrong_parts_are_refused():
    network = random_mixed_network()
    x, y, z = network.cells
    with pytest.raises(StructureError, match="edge 'x' -> 'a' leads from a number to a category"):
        MixedNetwork(Dag([(), (0,), (), (), ()]), SCHEMA, network.tables, network.cells)
    for tables, cells in (
        (network.tables[:1], network.cells),
        (network.tables, (x, y)),
        (network.tables, (y, x, z)),
        (([0.5, 0.6], network.tables[1]), network.cells),
        (([0.0, 1.0], network.tables[1]), network.cells),
        ((network.tables[1], network.tables[1]), network.cells),
    ):
        with pytest.raises(DataError):
            MixedNetwork(DAG, SCHEMA, tables, cells)
    for mean, variance in ((np.nan, 1.0), (0.0, 0.0), ([0.0, 1.0], 1.0)):
        with pytest.raises(DataError):
            Cells((), (), mean, [], [], variance)


def test_only_categories_and_only_numbers():
    schema = Schema(("a", "b"), (("p", "q"), ("u", "v", "w")))
    rng = np.random.default_rng(0)
    network = MixedNetwork(Dag([(), (0,)]), schema, (rng.dirichlet([1, 1]), rng.dirichlet([1] * 3, 2)), ())
    numbers, codes = network.sample(10, 0)
    assert numbers.shape == (10, 0)
    values = [log_density_quadratic(network).at(tuple(s))([]) for s in codes]
    np.testing.assert_allclose(network.log_density(numbers, codes), values)
