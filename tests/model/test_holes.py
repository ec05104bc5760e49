import itertools

import numpy as np
import pytest
from scipy.integrate import nquad

from surefoot.datasets import random_dag
from surefoot.model.dag import Dag
from surefoot.model.decision import log_density_quadratic
from surefoot.model.holes import expected_values, has_holes, marginal_log_density, mixed_gaps
from surefoot.model.mixed import Cells, MixedNetwork, split_parents
from surefoot.model.network import LinearGaussianNetwork
from surefoot.model.schema import Schema
from tests.thinning import covering


def log_table(network, state):
    """Log probability of a state of the categories."""
    return log_density_quadratic(network).constant(state)


def gaussian_network(n, seed, density=0.6):
    rng = np.random.default_rng(seed)
    dag = random_dag(n, density, rng)
    W = np.where(dag.adjacency(), rng.normal(0, 0.7, (n, n)), 0.0)
    return LinearGaussianNetwork(dag, W, rng.normal(0, 3, n), rng.uniform(0.3, 2.0, n))


def mixed_network(dag, sizes, seed):
    """A random network over a graph; ``sizes`` is None for a number."""
    rng = np.random.default_rng(seed)
    values = tuple(None if size is None else tuple("abcdefgh"[:size]) for size in sizes)
    schema = Schema(tuple(f"f{i}" for i in range(len(sizes))), values)
    tables, cells = [], []
    for position in schema.categories:
        given = split_parents(dag, schema, position)[1]
        tables.append(rng.dirichlet(np.ones(sizes[position]), [schema.sizes[k] for k in given]))
    for position in schema.numbers:
        parents, given = split_parents(dag, schema, position)
        grid = tuple(schema.sizes[k] for k in given)
        wide = (*grid, len(parents))
        arrays = rng.normal(0, 2, grid), rng.normal(0, 1, wide), rng.normal(0, 0.8, wide)
        cells.append(Cells(parents, given, *arrays, rng.uniform(0.3, 1.5, grid)))
    return MixedNetwork(dag, schema, tuple(tables), tuple(cells))


# Categories 0, 1, 4; numbers 2, 3, 5, 6: a chain of numbers under a chain of categories, and a collider.
SIZES = (3, 2, None, None, 4, None, None)
GRAPHS = {
    "tree": Dag([(), (0,), (1,), (2,), (1,), (3,), (0,)]),
    "collider": Dag([(), (), (0, 1), (1, 2), (0,), (2, 3), (4, 5, 0)]),
    "naive": Dag.empty(7),
}


def brute_force(network, numbers, codes):
    """Log density of what is known: sums over all categories, quadrature over one missing number."""
    holes = np.flatnonzero(np.isnan(numbers))
    total = 0.0
    for values in itertools.product(*(range(size) for size in network.schema.sizes)):
        if any(known >= 0 and known != value for known, value in zip(codes, values, strict=True)):
            continue
        total += integral(network, numbers, holes, values)
    return np.log(total)


def integral(network, numbers, holes, state):
    def density(*values):
        full = numbers.copy()
        full[holes] = values
        return float(np.exp(network.log_density(full[None], np.array([state]))[0]))

    if holes.size == 0:
        return density()
    # Well within the tails of every cell: standard deviations are at most a few units.
    centre = network.given(state).means[holes]
    width = 9 * np.sqrt(np.diag(network.given(state).covariance)[holes])
    ranges = [(m - w, m + w) for m, w in zip(centre, width, strict=True)]
    return nquad(density, ranges, opts={"epsabs": 1e-13, "epsrel": 1e-8})[0]


@pytest.mark.parametrize(
    ("holes", "graph"),
    covering([(0,), (4,), (0, 1, 4), (2,), (3,), (0, 2), (1, 4, 5), (6, 1), (4, 6)], GRAPHS),
)
def test_densities_equal_brute_force(graph, holes):
    network = mixed_network(GRAPHS[graph], SIZES, 3)
    numbers, codes = network.sample(2, 1)
    missing = np.isin(np.arange(7), holes)
    numbers[:, missing[list(network.schema.numbers)]] = np.nan
    codes[:, missing[list(network.schema.categories)]] = -1
    found = marginal_log_density(network, numbers, codes)
    for row in range(2):
        assert found[row] == pytest.approx(brute_force(network, numbers[row], codes[row]), abs=1e-6)


@pytest.mark.parametrize("graph", GRAPHS)
def test_two_and_three_missing_numbers_against_the_gaussian(graph):
    """With the categories known a row is Gaussian, and holes drop dimensions."""
    network = mixed_network(GRAPHS[graph], SIZES, 4)
    numbers, codes = network.sample(30, 2)
    for holes in ([0, 1], [0, 2], [1, 3], [0, 1, 2], [0, 1, 2, 3]):
        gappy = numbers.copy()
        gappy[:, holes] = np.nan
        found = marginal_log_density(network, gappy, codes)
        expected = [
            marginal_log_density(network.given(tuple(state)), row[None])[0] + log_table(network, tuple(state))
            for row, state in zip(gappy, codes, strict=True)
        ]
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_gaussian_holes_drop_dimensions(seed, rng):
    network = gaussian_network(5, seed)
    Z = network.sample(20, seed)
    Z[rng.random(Z.shape) < 0.4] = np.nan
    found = marginal_log_density(network, Z)
    S = network.covariance
    for row, value in zip(Z, found, strict=True):
        known = np.flatnonzero(~np.isnan(row))
        d, part = row[known] - network.means[known], S[np.ix_(known, known)]
        expected = -0.5 * (d @ np.linalg.solve(part, d) + np.linalg.slogdet(2 * np.pi * part)[1])
        assert value == pytest.approx(expected, abs=1e-9)


def test_rows_without_holes_are_as_ever(rng):
    gaussian, mixed = gaussian_network(4, 1), mixed_network(GRAPHS["tree"], SIZES, 1)
    Z = gaussian.sample(10, 0)
    assert (marginal_log_density(gaussian, Z) == gaussian.log_density(Z)).all()
    numbers, codes = mixed.sample(10, 0)
    np.testing.assert_allclose(
        marginal_log_density(mixed, numbers, codes), mixed.log_density(numbers, codes), rtol=1e-13
    )
    assert not has_holes(numbers, codes)
    filled = expected_values(mixed, numbers, codes)
    assert (filled[0] == numbers).all()
    assert (filled[1] == codes).all()


def test_a_row_of_holes_has_density_one():
    mixed = mixed_network(GRAPHS["collider"], SIZES, 1)
    numbers, codes = np.full((1, 4), np.nan), np.full((1, 3), -1)
    assert has_holes(numbers, codes)
    assert marginal_log_density(mixed, numbers, codes)[0] == pytest.approx(0.0, abs=1e-9)
    gaussian = gaussian_network(3, 1)
    assert marginal_log_density(gaussian, np.full((1, 3), np.nan))[0] == 0.0


def test_many_missing_categories_are_summed_along_the_tree():
    """Twenty missing categories of eight values: 10^18 combinations, so nobody counted them."""
    sizes = (8,) * 20 + (None,)
    dag = Dag([(), *((i,) for i in range(19)), (19,)])
    network = mixed_network(dag, sizes, 5)
    numbers, codes = network.sample(5, 0)
    codes[:, 1:] = -1
    belief = network.tables[0][codes[:, 0]]
    assert np.isfinite(marginal_log_density(network, numbers, codes)).all()
    forward = np.eye(8)[codes[:, 0]]
    for table in network.tables[1:]:
        forward = forward @ table
    cells = network.cells[0]
    densities = np.exp(-0.5 * (numbers - cells.mean) ** 2 / cells.variance) / np.sqrt(
        2 * np.pi * cells.variance
    )
    expected = np.log(belief * (forward * densities).sum(axis=1))
    np.testing.assert_allclose(marginal_log_density(network, numbers, codes), expected, atol=1e-9)


def test_what_nothing_depends_on_is_left_out():
    """Rows that differ only in missing features without known children are done together."""
    network = mixed_network(GRAPHS["naive"], SIZES, 2)
    numbers, codes = network.sample(50, 0)
    numbers[np.random.default_rng(0).random(numbers.shape) < 0.3] = np.nan
    codes[np.random.default_rng(1).random(codes.shape) < 0.3] = -1
    assert list(mixed_gaps(network, numbers, codes)) == []
    assert len(list(mixed_gaps(network, numbers, codes, everything=True))) > 20
    collider = mixed_network(GRAPHS["collider"], SIZES, 2)
    every = [gaps for _, gaps in mixed_gaps(collider, numbers, codes, everything=True)]
    assert len(list(mixed_gaps(collider, numbers, codes))) < len(every)


def test_expected_numbers_are_conditional_means():
    network = gaussian_network(4, 2)
    Z = network.sample(6, 0)
    gappy = Z.copy()
    gappy[:, [1, 3]] = np.nan
    S, m = network.covariance, network.means
    filled, _ = expected_values(network, gappy)
    expected = m[[1, 3]] + (Z[:, [0, 2]] - m[[0, 2]]) @ np.linalg.solve(
        S[np.ix_([0, 2], [0, 2])], S[np.ix_([0, 2], [1, 3])]
    )
    np.testing.assert_allclose(filled[:, [1, 3]], expected, atol=1e-9)
    assert (filled[:, [0, 2]] == Z[:, [0, 2]]).all()


@pytest.mark.parametrize("graph", GRAPHS)
def test_expected_values_equal_brute_force(graph):
    network = mixed_network(GRAPHS[graph], SIZES, 6)
    numbers, codes = network.sample(3, 3)
    full, states = numbers.copy(), codes.copy()
    numbers[:, 1], codes[:, [0, 2]] = np.nan, -1
    filled, values = expected_values(network, numbers, codes)
    for row in range(3):
        chances, mean = np.zeros((3, 4)), 0.0
        for a, b in itertools.product(range(3), range(4)):
            state = (a, int(states[row, 1]), b)
            given = network.given(state)
            weight = np.exp(marginal_log_density(given, numbers[row][None])[0] + log_table(network, state))
            chances[a, b] = weight
            mean += weight * expected_values(given, numbers[row][None])[0][0, 1]
        assert filled[row, 1] == pytest.approx(mean / chances.sum(), abs=1e-9)
        assert values[row, 0] == chances.sum(axis=1).argmax()
        assert values[row, 2] == chances.sum(axis=0).argmax()
        assert values[row, 1] == states[row, 1]
        assert (np.delete(filled[row], 1) == np.delete(full[row], 1)).all()


def test_far_rows_and_mixed_units_stay_finite():
    dag = Dag([(), (0,), (1,)])
    network = LinearGaussianNetwork(
        dag, [[0, 0, 0], [1e-9, 0, 0], [0, 1e9, 0]], [1e9, 1.0, 2000.0], [1e18, 0.5, 25.0]
    )
    gappy = np.array([[2.5e9, np.nan, 1.5e9], [1e9, np.nan, 2e3], [np.nan, 1.0, 2e3]])
    assert np.isfinite(marginal_log_density(network, gappy)).all()
    gappy[0, 0] = 1e300
    assert np.isfinite(marginal_log_density(network, gappy)).all()
