"""The search over allowed values: majorants, peaks, rounded points and the tree."""

import itertools

import numpy as np
import pytest
from scipy import optimize

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, CounterfactualExplainer, verify
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.lattice import fits
from surefoot.search.certified.majorant import cheapest
from surefoot.search.certified.peak import peak
from surefoot.search.certified.search import Search
from surefoot.search.certified.space import whitened
from surefoot.status import Status
from tests.problems import mixed_problem


def random_problem(rng, n=4, m=9):
    Q = rng.normal(size=(n, n))
    slopes = np.vstack([np.eye(n), rng.normal(size=(m - n, n))])
    return (Q + Q.T) / 2, slopes


@pytest.mark.parametrize("seed", range(20))
def test_majorants_are_concave_and_cheap(seed):
    rng = np.random.default_rng(seed)
    Q, slopes = random_problem(rng)
    costs = rng.uniform(0.1, 4.0, len(slopes))
    major = cheapest(slopes, costs, Q)
    K = (slopes.T * major.weights) @ slopes - Q
    assert np.linalg.eigvalsh(K)[0] > 0
    plain = max(np.linalg.eigvalsh(Q)[-1], 0.0) * costs[: len(Q)].sum()
    assert costs @ major.weights <= 1.1 * plain + 1e-2 * costs.sum()
    narrow = cheapest(slopes, 0.5 * costs, Q, major)
    assert np.linalg.eigvalsh((slopes.T * narrow.weights) @ slopes - Q)[0] > 0


@pytest.mark.parametrize("seed", range(30))
def test_peaks_between_ends(seed):
    rng = np.random.default_rng(seed)
    Q, slopes = random_problem(rng)
    major = cheapest(slopes, np.ones(len(slopes)), Q)
    K = np.linalg.inv(major.inverse)
    h, c = 3 * rng.normal(size=4), float(rng.normal())
    at = slopes @ rng.normal(size=4) * 0.3
    low, high = at - rng.uniform(0, 1, 9), at + rng.uniform(0, 1, 9)
    low[5] = high[5] = at[5]
    start = np.where(rng.uniform(size=9) < 0.3, rng.normal(size=9), 0.0)
    found = peak(major.root, h @ major.half, c, low, high, start, -np.inf)
    rows = [{"type": "ineq", "fun": lambda u: np.concatenate([slopes @ u - low, high - slopes @ u])}]
    known = optimize.minimize(
        lambda u: u @ K @ u - h @ u, np.zeros(4), constraints=rows, method="SLSQP", options={"ftol": 1e-12}
    )
    assert found.value == pytest.approx(c - known.fun, abs=1e-5 * (1 + abs(known.fun)))
    ends = np.where(found.prices > 0, high, low)
    left = h - found.prices @ slopes  # whatever the method did, its prices prove its value
    assert found.value >= c + found.prices @ ends + 0.25 * left @ major.inverse @ left - 1e-8


def test_ends_that_exclude_each_other():
    G = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    low, high = np.array([-1.0, -1.0, 3.0]), np.array([1.0, 1.0, 4.0])
    found = peak(G, np.array([0.2, 0.1]), 0.0, low, high, np.zeros(3), -np.inf)
    assert found.ray is not None
    assert found.missing == pytest.approx(1.0)
    assert found.value < 0


def lattice_problems():
    for seed in itertools.count():
        problem = mixed_problem(seed)
        if fits(whitened(problem)):
            yield problem


@pytest.mark.parametrize("number", range(12))
def test_the_tree_agrees_with_semidefinite_bounds(number, monkeypatch):
    problem = next(itertools.islice(lattice_problems(), number, None))

    def bounds():
        search = Search(whitened(problem), 1e-3, Clock(20.0))
        return search.run(), search.points.distance, search.bound

    status, distance, bound = bounds()
    monkeypatch.setattr("surefoot.search.certified.search.fits", lambda space: False)
    other, known, least = bounds()
    if Status.OPTIMAL in (status, other):
        assert bound <= known * (1 + 1e-9)
        assert least <= distance * (1 + 1e-9)
    if status is other is Status.OPTIMAL:
        assert distance == pytest.approx(known, rel=2e-3, abs=2e-6)


@pytest.mark.parametrize("row", [3, 18, 409])
def test_whole_numbers_are_proved_for_both_checkers(bundled, row):
    data = bundled["pima"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    whole = [name for name in data.X if (data.X[name] % 1 == 0).all()]
    explainer = CounterfactualExplainer(
        clf, budget=0.05, actions=Actions({name: Action(whole=True) for name in whole})
    )
    e = explainer.explain(data.X.iloc[row])
    assert e.status is Status.OPTIMAL
    assert e.gap <= 1e-3
    assert verify(e, clf).ok
    assert verify(e, clf, exact=True).ok
