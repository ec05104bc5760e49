"""What features add to the log-odds, against brute force over the joint density."""

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.model.evidence import evidence
from surefoot.model.mixed import log_density
from tests.mixed_tables import lender, lending


def row_of(clf, row, holes=()):
    numbers, state = clf.schema_.encode_row([row[name] for name in clf.schema_.names])
    codes = np.array(state, dtype=np.intp)
    for name in holes:
        j = clf.schema_.names.index(name)
        if j in clf.schema_.numbers:
            numbers[clf.schema_.numbers.index(j)] = np.nan
        else:
            codes[clf.schema_.categories.index(j)] = -1
    return numbers, codes


def conditional(network, Z, C, feature):
    """log p(x_i | all features before it in the order of the graph), by summing and integrating the joint.

    A number by a fine grid, a category by all of its values; every later feature likewise, so that nothing
    of how the network is put together is used.
    """
    schema, order = network.schema, list(network.dag.order)
    later = order[order.index(feature) + 1 :]
    return _total(network, schema, Z, C, later) - _total(network, schema, Z, C, [feature, *later])


def _total(network, schema, Z, C, free):
    """Log of the joint density, summed over every combination of values of some features."""
    if not free:
        return log_density(network, Z[None], C[None])[0]
    grids = [GRID if j in schema.numbers else np.arange(2) for j in free]
    every = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, len(free))
    z, c = np.tile(Z, (len(every), 1)), np.tile(C, (len(every), 1))
    for column, j in zip(every.T, free, strict=True):
        if j in schema.numbers:
            z[:, schema.numbers.index(j)] = column
        else:
            c[:, schema.categories.index(j)] = column
    step = np.log(GRID[1] - GRID[0]) * sum(j in schema.numbers for j in free)
    return np.logaddexp.reduce(log_density(network, z, c)) + step


GRID = np.linspace(-45, 55, 201)  # an eighth of the numbers' deviations from each to the next


@pytest.fixture(scope="module")
def small():
    """Two categories and two numbers, each depending on others; few enough for sums over everything."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 300)
    a = np.where(rng.random(300) < 0.3 + 0.4 * y, "p", "q")
    b = np.where((a == "p") ^ (rng.random(300) < 0.3), "u", "w")
    s = 3.0 * y + 2.0 * (a == "p") + rng.normal(size=300) * 4
    t = 0.6 * s + rng.normal(size=300) * 4 + y
    X = pd.DataFrame({"a": a, "s": s, "b": b, "t": t})
    graph = {"b": ["a"], "s": ["a"], "t": ["s"]}
    return X, ConditionalGaussianNetworkClassifier(graph).fit(X, y)


def test_weights_are_those_of_the_joint_density(small):
    X, clf = small
    numbers, codes = row_of(clf, X.iloc[5])
    found = evidence(clf, numbers, codes, 1, 0, 0)
    for j in range(4):
        one, other = (
            conditional(network, numbers, codes, j) for network in (clf.networks_[1], clf.networks_[0])
        )
        assert found.weights[j] == pytest.approx(one - other, abs=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"marginals": "power"},
        {"calibration": "temperature"},
        {"marginals": "auto", "calibration": "temperature", "shrinkage": 0.3},
        {"structure": "naive"},
    ],
)
def test_they_add_up_to_the_log_odds(settings):
    clf, (X, _) = lender(**settings), lending()
    odds = clf.decision_function(X.head(30))
    for k in range(30):
        found = evidence(clf, *row_of(clf, X.iloc[k]), 1, 0, 0)
        assert found.prior + found.weights.sum() == pytest.approx(odds[k], abs=1e-9)


@pytest.mark.parametrize(
    "holes", [("income",), ("housing",), ("income", "housing", "phone"), ("months", "savings")]
)
def test_with_holes_too(holes):
    clf, (X, _) = lender(calibration="temperature"), lending()
    for k in range(8):
        row = X.iloc[k].astype(object).copy()
        numbers, codes = row_of(clf, row, holes)
        odds = np.diff(clf.class_scores(numbers[None], codes[None])[0])[0]
        found = evidence(clf, numbers, codes, 1, 0, 0)
        assert found.prior + found.weights.sum() == pytest.approx(odds, abs=1e-9)
        places = [clf.schema_.names.index(name) for name in holes]
        assert (found.weights[places] == 0).all()


def test_a_hole_that_nothing_depends_on_leaves_the_others_as_they_were():
    clf, (X, _) = lender("naive"), lending()
    whole = evidence(clf, *row_of(clf, X.iloc[0]), 1, 0, 0)
    holed = evidence(clf, *row_of(clf, X.iloc[0], ("income",)), 1, 0, 0)
    place = clf.schema_.names.index("income")
    np.testing.assert_allclose(np.delete(whole.weights, place), np.delete(holed.weights, place), atol=1e-9)


def test_holes_in_a_network_of_numbers(bundled):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier().fit(data.X, data.y)
    numbers = data.X.to_numpy()[3].copy()
    numbers[[0, 2]] = np.nan
    nothing = np.zeros(0, dtype=np.intp)
    odds = np.diff(clf.class_scores(numbers[None], nothing[None])[0])[0]
    found = evidence(clf, numbers, nothing, 1, 0, 0)
    assert found.prior + found.weights.sum() == pytest.approx(odds, abs=1e-9)
    assert found.weights[0] == found.weights[2] == 0
