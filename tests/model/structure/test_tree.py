import itertools

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.datasets import random_tree, synthetic
from surefoot.exceptions import StructureError
from surefoot.model.structure import (
    Knowledge,
    conditional_mutual_information,
    equal_frequency_codes,
    learn_tree,
)


def undirected(dag):
    return {frozenset(edge) for edge in dag.edges}


@pytest.mark.parametrize("seed", range(5))
def test_a_random_tree_is_found(seed):
    tree = random_tree(20, seed)
    data = synthetic(5000, 20, dag=tree, random_state=seed)
    found = learn_tree(data.X.to_numpy(), data.y.to_numpy())
    assert len(undirected(found.dag) & undirected(tree)) >= 0.95 * 19


def test_information_equals_scikit_learns(rng):
    X, c = rng.standard_normal((500, 3)), rng.integers(0, 2, 500)
    X[:, 1] += X[:, 0]
    codes = equal_frequency_codes(X, 5)
    found = conditional_mutual_information(codes, c)
    for i, j in itertools.combinations(range(3), 2):
        expected = sum(
            (c == k).mean() * mutual_info_score(codes[c == k, i], codes[c == k, j]) for k in (0, 1)
        )
        assert found[i, j] == pytest.approx(expected)
        assert found[i, j] == found[j, i]


def test_bins_hold_equal_counts_and_ties_stay_together(rng):
    codes = equal_frequency_codes(rng.standard_normal((1000, 2)), 8)
    assert {tuple(np.bincount(codes[:, j])) for j in range(2)} == {(125,) * 8}
    tied = np.repeat([0.0, 1.0], [900, 100])[:, None]
    codes = equal_frequency_codes(tied, 8)
    assert all(len(np.unique(codes[tied == v])) == 1 for v in (0.0, 1.0))


def test_weights_are_repetitions(rng):
    X, c, w = rng.standard_normal((80, 4)), rng.integers(0, 2, 80), rng.integers(0, 4, 80)
    weighted = learn_tree(X, c, weights=w.astype(float))
    repeated = learn_tree(np.repeat(X, w, axis=0), np.repeat(c, w))
    np.testing.assert_allclose(weighted.scores, repeated.scores, atol=1e-12)
    assert weighted.dag == repeated.dag


def test_the_tree_is_the_best_of_all(rng):
    X, c = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 4)), rng.integers(0, 2, 300)
    found = learn_tree(X, c)
    pairs = list(itertools.combinations(range(4), 2))

    def is_tree(edges):
        reached = {0}
        for _ in range(4):
            reached |= {j for e in edges if set(e) & reached for j in e}
        return len(reached) == 4

    best = max(
        sum(found.scores[e] for e in edges) for edges in itertools.combinations(pairs, 3) if is_tree(edges)
    )
    assert found.objective == pytest.approx(best)


@pytest.mark.parametrize("root", [0, 3, None])
def test_root_is_the_feature_without_a_parent(bundled, root):
    names = bundled["banknote"].feature_names
    clf = ConditionalGaussianNetworkClassifier("tan", root=None if root is None else names[root])
    dag = clf.fit(bundled["banknote"].X, bundled["banknote"].y).dag_
    assert dag.parents[root or 0] == ()
    assert dag.n_edges == 3


def test_knowledge_is_honoured_exactly(rng):
    """Against brute force over all forests of four features."""
    X, c = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 4)), rng.integers(0, 2, 300)
    names = "abcd"
    free = learn_tree(X, c).scores
    for required, forbidden in [
        ([("c", "a")], []),
        ([], [("a", "b"), ("b", "a"), ("a", "c")]),
        ([("d", "b"), ("b", "a")], [("a", "c"), ("d", "c")]),
        ([], [("a", x) for x in "bcd"] + [(x, "a") for x in "bcd"]),
    ]:
        known = Knowledge.from_names(names, required, forbidden)
        found = learn_tree(X, c, knowledge=known)
        assert known.required <= set(found.dag.edges)
        assert not known.forbidden & set(found.dag.edges)
        assert found.objective == pytest.approx(best_forest(free, known))


def best_forest(scores, known):
    """Most edges first, then the most information."""
    best = (0, 0.0)
    for choice in itertools.product([None, 0, 1, 2, 3], repeat=4):
        edges = {(parent, child) for child, parent in enumerate(choice) if parent is not None}
        if not known.required <= edges or known.forbidden & edges or has_cycle(choice):
            continue
        best = max(best, (len(edges), sum(scores[e] for e in edges)))
    return best[1]


def has_cycle(choice):
    for start in range(4):
        node, steps = start, 0
        while node is not None and steps <= 4:
            node, steps = choice[node], steps + 1
        if node is not None:
            return True
    return False


def test_impossible_knowledge():
    X, c = np.random.default_rng(0).standard_normal((20, 3)), np.arange(20) % 2
    two = Knowledge.from_names("abc", [("a", "c"), ("b", "c")])
    with pytest.raises(StructureError, match="one parent, but required_edges give 'c' 2; use 'ban'"):
        learn_tree(X, c, knowledge=two)
    with pytest.raises(StructureError, match="'c' is the root, but required_edges give it a parent"):
        learn_tree(X, c, root=2, knowledge=Knowledge.from_names("abc", [("a", "c")]))


def test_root_with_knowledge():
    X, c = np.random.default_rng(0).standard_normal((50, 4)), np.arange(50) % 2
    known = Knowledge.from_names("abcd", forbidden=[("a", "b")])
    for root in range(4):
        dag = learn_tree(X, c, root=root, knowledge=known).dag
        assert dag.parents[root] == ()
        assert dag.n_edges == 3


def test_one_feature():
    assert learn_tree(np.arange(6.0)[:, None], np.arange(6) % 2).dag.n_edges == 0
