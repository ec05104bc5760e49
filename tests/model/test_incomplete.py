import numpy as np
import pytest

from surefoot.model.cells import Smoothing, mixed_networks
from surefoot.model.dag import Dag
from surefoot.model.incomplete import expected_statistics, first_statistics, learn_with_holes
from surefoot.model.moments import class_moments
from surefoot.model.network import LinearGaussianNetwork
from surefoot.model.rows import TrainingRows
from surefoot.model.schema import Schema
from surefoot.model.statistics import gathered
from tests.model.test_holes import GRAPHS, SIZES, gaussian_network, mixed_network

LABELS = ["no", "yes"]


def maximum_likelihood(dag, schema):
    """Networks from statistics, with next to no smoothing: every round must then gain."""

    def networks(moments, statistics):
        if statistics is None:
            pairs = zip(moments.means, moments.covariances, strict=True)
            return [LinearGaussianNetwork.from_moments(dag, mean, S) for mean, S in pairs]
        noise = np.full(schema.n_numbers, 1e-12)
        return mixed_networks(dag, schema, statistics, Smoothing(0.0, noise), LABELS)

    return networks


def mixed_rows(graph, n_rows, share, seed=0):
    dag = GRAPHS[graph]
    parts = [mixed_network(dag, SIZES, seed + c).sample(n_rows // 2, seed + c) for c in (0, 1)]
    numbers, codes = (np.concatenate([part[a] for part in parts]) for a in (0, 1))
    schema = mixed_network(dag, SIZES, 0).schema
    labels = np.repeat([0, 1], n_rows // 2)
    rows = TrainingRows(schema, numbers, codes, np.array(LABELS), labels, None)
    return with_holes(rows, share, seed), rows


def gaussian_rows(n_rows, share, seed=0):
    numbers = np.concatenate([gaussian_network(4, 7).sample(n_rows // 2, seed + c) + c for c in (0, 1)])
    schema, labels = Schema.of_numbers("abcd"), np.repeat([0, 1], n_rows // 2)
    codes = np.empty((n_rows, 0), dtype=np.intp)
    rows = TrainingRows(schema, numbers, codes, np.array(LABELS), labels, None)
    return with_holes(rows, share, seed), rows


def with_holes(rows, share, seed):
    rng = np.random.default_rng(seed)
    numbers, codes = rows.numbers.copy(), rows.codes.copy()
    numbers[rng.random(numbers.shape) < share] = np.nan
    codes[rng.random(codes.shape) < share] = -1
    return TrainingRows(rows.schema, numbers, codes, rows.classes, rows.labels, rows.weights)


@pytest.mark.parametrize("graph", GRAPHS)
def test_every_round_gains_likelihood(graph):
    """Only exact expectations guarantee that."""
    gappy, _ = mixed_rows(graph, 120, 0.2)
    networks = maximum_likelihood(GRAPHS[graph], gappy.schema)
    found = learn_with_holes(gappy, GRAPHS[graph], networks, max_rounds=5)
    gains = np.diff(found.log_likelihoods)
    assert len(gains) >= 2
    assert (gains > -1e-9).all()
    assert str(found).startswith(f"{found.holes} missing values, ")


def test_every_round_gains_likelihood_with_numbers_alone():
    gappy, _ = gaussian_rows(200, 0.25)
    dag = gaussian_network(4, 7).dag
    found = learn_with_holes(gappy, dag, maximum_likelihood(dag, gappy.schema))
    assert (np.diff(found.log_likelihoods) > -1e-9).all()
    assert found.statistics is None


@pytest.mark.parametrize("weighted", [False, True])
def test_without_holes_nothing_is_expected_that_is_not_there(weighted, rng):
    _, rows = mixed_rows("collider", 100, 0.0)
    weights = rng.uniform(0.5, 2.0, 100) if weighted else None
    rows = TrainingRows(rows.schema, rows.numbers, rows.codes, rows.classes, rows.labels, weights)
    dag = GRAPHS["collider"]
    expected = gathered(rows.numbers, rows.codes, rows.labels, 2, weights, (dag, rows.schema))
    networks = maximum_likelihood(dag, rows.schema)(None, expected)
    plain = class_moments(rows.numbers, rows.labels, 2, weights)
    moments, found, _ = expected_statistics(networks, rows, plain, dag)
    for a, b in zip(found.counts, expected.counts, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    for a, b in zip(found.families, expected.families, strict=True):
        np.testing.assert_allclose(a.scatter, b.scatter, atol=1e-9)
    assert moments is plain


def test_weights_are_repetitions():
    gappy, _ = mixed_rows("tree", 60, 0.2)
    w = np.random.default_rng(1).integers(1, 4, 60)
    weighted = TrainingRows(
        gappy.schema, gappy.numbers, gappy.codes, gappy.classes, gappy.labels, w.astype(float)
    )
    repeated = gappy.part(np.repeat(np.arange(60), w))
    dag = GRAPHS["tree"]
    networks = [mixed_network(dag, SIZES, c) for c in (0, 1)]
    for a, b in zip(
        expected_statistics(networks, weighted, None, dag).statistics.families,
        expected_statistics(networks, repeated, None, dag).statistics.families,
        strict=True,
    ):
        np.testing.assert_allclose(a.totals, b.totals, atol=1e-9)
        np.testing.assert_allclose(a.scatter, b.scatter, atol=1e-8)


def test_holes_bias_neither_means_nor_variances():
    gappy, full = gaussian_rows(2000, 0.2)
    dag = gaussian_network(4, 7).dag
    found = learn_with_holes(gappy, dag, maximum_likelihood(dag, gappy.schema)).moments
    plain = class_moments(full.numbers, full.labels, 2)
    spread = np.sqrt(np.diagonal(plain.covariances, axis1=1, axis2=2))
    assert (np.abs(found.means - plain.means) / spread < 0.1).all()
    scale = spread[:, :, None] * spread[:, None, :]
    # Pairs of features that the graph does not join follow from it, not from the rows.
    joined = dag.adjacency() | dag.adjacency().T | np.eye(4, dtype=bool)
    assert (np.abs(found.covariances - plain.covariances)[:, joined] / scale[:, joined] < 0.1).all()
    guessed = np.abs(first_statistics(gappy, dag).moments.covariances)
    assert np.diagonal(guessed, axis1=1, axis2=2) == pytest.approx(spread**2, rel=0.1)
    pairs = joined & ~np.eye(4, dtype=bool)
    assert (guessed[:, pairs] < 0.9 * np.abs(plain.covariances)[:, pairs]).all()  # as the first guess has it


def test_ranges_are_those_of_values_that_were_there():
    gappy, _ = gaussian_rows(100, 0.3)
    dag = Dag.empty(4)
    found = learn_with_holes(gappy, dag, maximum_likelihood(dag, gappy.schema)).moments
    assert (found.low == np.nanmin(gappy.numbers, axis=0)).all()
    assert (found.high == np.nanmax(gappy.numbers, axis=0)).all()


def test_rounds_are_limited():
    gappy, _ = mixed_rows("tree", 100, 0.3)
    networks = maximum_likelihood(GRAPHS["tree"], gappy.schema)
    found = learn_with_holes(gappy, GRAPHS["tree"], networks, max_rounds=1)
    assert found.rounds == 1
    assert not found.converged
    assert "NOT converged after 1 rounds" in str(found)
