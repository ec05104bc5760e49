import itertools

import numpy as np
import pytest
from scipy.linalg import expm
from sklearn.linear_model import Lasso

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.datasets import random_dag
from surefoot.exceptions import StructureError
from surefoot.model.structure import ConvergenceWarning, Knowledge, learn_notears
from surefoot.model.structure.notears import acyclicity
from surefoot.model.structure.ordered_lasso import OrderedLasso
from tests.thinning import only


def linear_sem(n, density, seed, rows=1000):
    """Data from x = W'x + noise of equal variance, the setting in which NOTEARS is right."""
    rng = np.random.default_rng(seed)
    dag = random_dag(n, density, rng)
    W = np.where(dag.adjacency(), rng.uniform(0.5, 2, (n, n)) * rng.choice((-1, 1), (n, n)), 0.0)
    X = np.linalg.solve(np.eye(n) - W, rng.standard_normal((n, rows))).T
    return dag, np.cov(X.T, bias=True)


def hamming(found, true):
    """Edges to add, remove or reverse."""
    a, b = found.adjacency(), true.adjacency()
    return int(np.triu((a != b) | (a != b).T).sum())


def objective(W, S, penalty):
    residual = np.eye(len(S)) - W
    return 0.5 * np.trace(residual.T @ S @ residual) + penalty * np.abs(W).sum()


def best_over_all_orders(S, penalty):
    n = len(S)
    free = OrderedLasso(S, penalty, ~np.eye(n, dtype=bool), np.zeros((n, n), dtype=bool))
    return min(free.fit(order, np.zeros((n, n)))[1].sum() for order in itertools.permutations(range(n)))


def test_direction_of_the_edge():
    rng = np.random.default_rng(0)
    parent = rng.standard_normal(2000)
    child = 2 * parent + rng.standard_normal(2000)
    report = learn_notears(np.cov([child, parent], bias=True))
    assert report.dag.parents == ((1,), ())
    assert report.scores[0, 1] == pytest.approx(2, abs=0.1)  # [child, parent]


@pytest.mark.parametrize("seed", only([0], range(6)))
def test_sparse_graphs_are_found(seed):
    true, S = linear_sem(20, 0.1, seed)
    assert hamming(learn_notears(S).dag, true) <= 1


@pytest.mark.parametrize(
    ("penalty", "seed"), only([(0.01, 0), (0.1, 0)], itertools.product([0.01, 0.1], range(4)))
)
def test_objective_is_near_the_best_over_all_orders(seed, penalty):
    _, S = linear_sem(6, 0.5, seed)
    report = learn_notears(S, l1_penalty=penalty)
    W = report.scores.T
    assert report.objective == pytest.approx(objective(W, S, penalty))
    assert acyclicity(W)[0] == pytest.approx(0, abs=1e-9)
    assert report.objective <= best_over_all_orders(S, penalty) * 1.001


def test_lasso_of_one_feature_equals_coordinate_descent(rng):
    X = rng.standard_normal((400, 5)) @ rng.standard_normal((5, 5))
    X -= X.mean(axis=0)
    S, n = np.cov(X.T, bias=True), 5
    allowed, none = ~np.eye(n, dtype=bool), np.zeros((n, n), dtype=bool)
    w, _ = OrderedLasso(S, 0.3, allowed, none).fit_child(4, [0, 1, 2, 3], np.zeros(n))
    reference = Lasso(alpha=0.3, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(X[:, :4], X[:, 4])
    np.testing.assert_allclose(w[:4], reference.coef_, atol=1e-7)


def test_required_parents_carry_no_penalty(rng):
    """Compared with minimising the same objective by brute force."""
    from scipy.optimize import minimize

    X = rng.standard_normal((400, 4)) @ rng.standard_normal((4, 4))
    S, n = np.cov(X.T, bias=True), 4
    required = np.zeros((n, n), dtype=bool)
    required[1, 3] = True
    lasso = OrderedLasso(S, 0.4, ~np.eye(n, dtype=bool), required)
    w, share = lasso.fit_child(3, [0, 1, 2], np.zeros(n))

    def value(v):
        r = np.append(-v, 1.0)
        return 0.5 * r @ S @ r + 0.4 * np.abs(v[[0, 2]]).sum()

    best = min(
        minimize(
            value, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 9999}
        ).fun
        for start in (np.zeros(3), w[:3])
    )
    assert share == pytest.approx(value(w[:3]))
    assert share <= best + 1e-7


def test_acyclicity_is_the_trace_exponential(rng):
    W = rng.standard_normal((4, 4)) * 0.3
    h, gradient = acyclicity(W)
    assert h == pytest.approx(np.trace(expm(W * W)) - 4)
    step = 1e-6 * np.eye(16).reshape(16, 4, 4)
    numeric = [(acyclicity(W + s)[0] - acyclicity(W - s)[0]) / 2e-6 for s in step]
    np.testing.assert_allclose(gradient.ravel(), numeric, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "max_parents", "low", "high"),
    only(
        [("banknote", None, 5, 5), ("pima", None, 16, 19), ("pima", 2, 10, 13)],
        [("banknote", None, 5, 5), ("pima", None, 16, 19), ("pima", 2, 10, 13), ("ionosphere", 2, 21, 29)],
    ),
)
def test_edge_counts_are_near_the_papers(bundled, name, max_parents, low, high):
    data = bundled[name]
    clf = ConditionalGaussianNetworkClassifier("ban", max_parents=max_parents).fit(data.X, data.y)
    assert low <= clf.dag_.n_edges <= high
    if max_parents:
        assert max(len(group) for group in clf.dag_.parents) <= max_parents


def test_max_parents_keeps_the_strongest(bundled):
    X, y = bundled["pima"].X, bundled["pima"].y
    full, capped = (ConditionalGaussianNetworkClassifier("ban", max_parents=k).fit(X, y) for k in (None, 2))
    strength = np.abs(full.structure_report_.scores)
    for child, parents in enumerate(full.dag_.parents):
        assert set(capped.dag_.parents[child]) == set(sorted(parents, key=lambda j: -strength[child, j])[:2])


def test_tan_on_ionosphere_has_31_edges(bundled):
    data = bundled["ionosphere"]
    assert ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y).dag_.n_edges == 31


def test_knowledge_is_honoured_exactly():
    _, S = linear_sem(8, 0.4, 1)
    free = learn_notears(S).dag
    forbidden = frozenset(free.edges[:3])
    (parent, child), (other, _) = free.edges[3], free.edges[-1]
    required = frozenset({(child, parent), (parent, other)})  # against the data
    known = Knowledge(required, forbidden)
    found = set(learn_notears(S, knowledge=known).dag.edges)
    assert required <= found
    assert not forbidden & found
    capped = learn_notears(S, knowledge=known, max_parents=1).dag
    assert required <= set(capped.edges)
    assert max(len(group) for group in capped.parents) <= 1


def test_required_edges_beyond_max_parents():
    known = Knowledge.from_names("abc", [("a", "c"), ("b", "c")])
    with pytest.raises(StructureError, match="give 'c' 2 parents, but max_parents is 1"):
        learn_notears(np.eye(3), max_parents=1, knowledge=known)


def test_warns_when_stopped_early_and_is_acyclic_all_the_same(bundled):
    data = bundled["pima"]
    with pytest.warns(ConvergenceWarning, match="stopped after 2 iterations"):
        clf = ConditionalGaussianNetworkClassifier("ban", max_iter=2).fit(data.X, data.y)
    report = clf.structure_report_
    assert not report.converged
    assert report.n_iter == clf.n_iter_ == 2
    assert report.acyclicity > 1e-3
    assert "NOT converged" in str(report)


def test_deterministic(bundled):
    X = bundled["pima"].X.to_numpy()
    first, second = (learn_notears(np.cov(X.T, bias=True)) for _ in range(2))
    assert first.dag == second.dag
    assert first.objective == second.objective


def test_standardised_graph_does_not_depend_on_units(bundled):
    S = np.cov(bundled["pima"].X.to_numpy().T, bias=True)
    units = np.geomspace(0.01, 100, 8)
    rescaled = learn_notears(S * np.outer(units, units), standardize=True)
    assert rescaled.dag == learn_notears(S, standardize=True).dag


def test_constant_and_duplicated_columns_do_no_harm(rng):
    X = rng.standard_normal((200, 3))
    X = np.column_stack([X, X[:, 0], np.ones(200)])
    report = learn_notears(np.cov(X.T, bias=True))
    assert np.isfinite(report.scores).all()
    assert report.dag.parents[4] == ()


def test_bad_settings(bundled):
    X, y = bundled["banknote"].X, bundled["banknote"].y
    for bad in (
        {"max_parents": -1},
        {"l1_penalty": -1},
        {"edge_threshold": -0.1},
        {"max_iter": 0},
        {"n_bins": 1},
    ):
        with pytest.raises(StructureError, match=f"{next(iter(bad))} must be a"):
            ConditionalGaussianNetworkClassifier("ban", **bad).fit(X, y)
    with pytest.raises(StructureError, match="structure must be 'naive', 'tan', 'ban' or a graph"):
        ConditionalGaussianNetworkClassifier("bayes").fit(X, y)
    with pytest.raises(StructureError, match="not int"):
        ConditionalGaussianNetworkClassifier(5).fit(X, y)


def test_hopelessly_mixed_units_end_with_a_warning(bundled):
    units = np.geomspace(1e-4, 1e5, 8)
    S = np.cov(bundled["pima"].X.to_numpy().T, bias=True) * np.outer(units, units)
    with pytest.warns(ConvergenceWarning, match="standardize=True helps"):
        report = learn_notears(S)
    assert np.isfinite(report.scores).all()
    assert not report.converged
