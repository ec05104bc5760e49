import itertools

import numpy as np
import pytest

from surefoot.exceptions import StructureError
from surefoot.model.dag import Dag
from surefoot.model.moments import class_moments
from surefoot.model.structure import (
    Knowledge,
    TrainingData,
    choose_structure,
    conditional_mutual_information,
    corrected_mutual_information,
    equal_frequency_codes,
    feature_codes,
    learn_greedy,
    learn_mixed_tree,
    learn_tree,
)
from tests.model.mixed_trees import random_mixed_tree


def undirected(edges):
    return {frozenset(edge) for edge in edges}


def training_data(tree, n_rows, seed=0):
    X, codes, classes = tree.sample(n_rows, np.random.default_rng(seed))
    names = [f"f{i}" for i in range(tree.dag.n_features)]
    return TrainingData(X, classes, None, class_moments(X, classes, 2), names, codes, tree.categories)


def strong_edges(tree):
    """Edges of the truth whose conditional mutual information is 0.05 or more."""
    X, codes, classes = tree.sample(60_000, np.random.default_rng(99))
    information = corrected_mutual_information(feature_codes(X, codes, tree.categories, 16), classes)
    return {edge for edge in tree.dag.edges if information[edge] >= 0.05}


@pytest.mark.parametrize("seed", range(4))
def test_a_random_mixed_tree_is_found(seed):
    tree = random_mixed_tree(20, seed)
    strong = undirected(strong_edges(tree))
    assert len(strong) >= 10
    found = choose_structure("tan", training_data(tree, 5000, seed)).dag
    assert len(undirected(found.edges) & strong) >= 0.9 * len(strong)
    assert not impossible_edges(found, tree)


@pytest.mark.parametrize("seed", range(2))
def test_greedy_search_finds_it_too(seed):
    tree = random_mixed_tree(12, 10 + seed)
    strong = undirected(strong_edges(tree))
    found = choose_structure("ban", training_data(tree, 4000, seed))
    assert found.method == "ban"
    assert len(undirected(found.dag.edges) & strong) >= 0.9 * len(strong)
    assert found.dag.n_edges <= 1.5 * tree.dag.n_edges
    assert not impossible_edges(found.dag, tree)


def impossible_edges(dag, tree):
    return [(j, i) for j, i in dag.edges if i in tree.categories and j not in tree.categories]


def test_the_tree_is_the_best_of_all(rng):
    """Against brute force over all trees of five features, two of them categories."""
    tree = random_mixed_tree(5, 3, share=0.4)
    data = training_data(tree, 400)
    found = learn_mixed_tree(data.X, data.codes, data.categories, data.classes)
    names = range(5)
    best = 0.0
    for choice in itertools.product([None, *names], repeat=5):
        edges = [(parent, child) for child, parent in enumerate(choice) if parent is not None]
        if any(c in data.categories and p not in data.categories for p, c in edges):
            continue
        if is_forest(edges, 5):
            best = max(best, sum(found.scores[edge] for edge in edges))
    assert found.objective == pytest.approx(best)


def is_forest(edges, n):
    if any(parent == child for parent, child in edges):
        return False
    try:
        Dag.from_edges(n, edges)
    except StructureError:
        return False
    return True


def test_tables_of_numbers_are_learned_from_as_before(rng):
    X = rng.standard_normal((300, 5)) @ rng.standard_normal((5, 5))
    classes = rng.integers(0, 2, 300)
    data = TrainingData(X, classes, None, class_moments(X, classes, 2), "abcde")
    report = choose_structure("tan", data)
    expected = learn_tree(X, classes)
    assert report.dag == expected.dag
    assert (report.scores == expected.scores).all()
    assert choose_structure("ban", data).acyclicity != 0  # NOTEARS


def test_the_correction_takes_chance_away(rng):
    """Independent features, some with many values: raw information is large, corrected nearly none."""
    codes, classes = rng.integers(0, [2, 30, 40, 3], (1000, 4)), rng.integers(0, 2, 1000)
    raw = conditional_mutual_information(codes.astype(np.uint8), classes)
    corrected = corrected_mutual_information(codes, classes)
    assert raw[1, 2] > 0.5
    assert corrected[1, 2] < 0.15
    assert corrected[0, 3] < 0.005
    assert (corrected == corrected.T).all()


def test_the_correction_is_the_documented_one(rng):
    X, classes = rng.standard_normal((500, 3)), np.arange(500) % 2
    X[:, 1] += X[:, 0]
    X[:, 2] -= X[:, 0]
    bins = equal_frequency_codes(X, 5)
    raw = conditional_mutual_information(bins, classes)
    corrected = corrected_mutual_information(bins.astype(np.intp), classes)
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(corrected[off], np.maximum(raw[off] - 2 * 4 * 4 / (2 * 500), 0), atol=1e-9)


def test_an_edge_without_information_is_left_out(rng):
    codes = np.column_stack([rng.integers(0, 2, 400), rng.integers(0, 12, 400)])
    codes[:, 1] = rng.permutation(np.arange(400) % 12)
    report = learn_mixed_tree(np.empty((400, 0)), codes, (0, 1), np.arange(400) % 2)
    assert report.dag.n_edges == (1 if report.scores[0, 1] > 0 else 0)
    independent = np.column_stack([np.arange(400) // 2 % 2, np.arange(400) // 4 % 2])
    assert learn_mixed_tree(np.empty((400, 0)), independent, (0, 1), np.arange(400) % 2).dag.n_edges == 0


def test_a_code_that_tells_nothing_is_nobodys_parent():
    """Chance alone gives many pairs some information; a parent of many values costs more than that."""
    rng = np.random.default_rng(2)
    code, answers = rng.integers(0, 12, 1500), rng.integers(0, 2, (1500, 3))
    numbers = rng.normal(size=(1500, 8))
    classes = rng.integers(0, 2, 1500)
    codes = np.column_stack([code, answers])
    information = corrected_mutual_information(feature_codes(numbers, codes, (0, 1, 2, 3), 8), classes)
    assert (information[0, 4:] > 0).any()
    report = learn_mixed_tree(numbers, codes, (0, 1, 2, 3), classes, edge_penalty=0.5)
    assert not [edge for edge in report.dag.edges if 0 in edge]


def test_a_category_without_a_known_value_is_nobodys_parent(rng):
    codes = np.column_stack([np.full(300, -1), rng.integers(0, 3, (300, 4))])
    report = learn_mixed_tree(np.empty((300, 0)), codes, range(5), np.arange(300) % 2, edge_penalty=0.5)
    assert not [edge for edge in report.dag.edges if 0 in edge]


def test_a_code_that_tells_much_is_a_parent(rng):
    code = rng.integers(0, 12, 1500)
    numbers = (rng.normal(size=12)[code] + 0.5 * rng.normal(size=1500))[:, None]
    report = learn_mixed_tree(numbers, code[:, None], (0,), np.arange(1500) % 2, edge_penalty=0.5)
    assert list(report.dag.edges) == [(0, 1)]


def test_weights_are_repetitions():
    tree = random_mixed_tree(6, 1)
    X, codes, classes = tree.sample(200, np.random.default_rng(0))
    w = np.random.default_rng(1).integers(0, 4, 200)
    weighted = learn_mixed_tree(X, codes, tree.categories, classes, weights=w.astype(float))
    repeated = [np.repeat(part, w, axis=0) for part in (X, codes, classes)]
    again = learn_mixed_tree(repeated[0], repeated[1], tree.categories, repeated[2])
    np.testing.assert_allclose(weighted.scores, again.scores, atol=1e-9)
    assert weighted.dag == again.dag
    greedy = learn_greedy(X, codes, tree.categories, classes, weights=w.astype(float))
    assert greedy.dag == learn_greedy(repeated[0], repeated[1], tree.categories, repeated[2]).dag


def test_holes_are_left_out_pair_by_pair():
    tree = random_mixed_tree(10, 2)
    X, codes, classes = tree.sample(4000, np.random.default_rng(0))
    full = learn_mixed_tree(X, codes, tree.categories, classes)
    holes = np.random.default_rng(1).random((4000, 10)) < 0.1
    X[holes[:, list(tree.numbers)]] = np.nan
    codes[holes[:, list(tree.categories)]] = -1
    report = learn_mixed_tree(X, codes, tree.categories, classes)
    np.testing.assert_allclose(report.scores, full.scores, atol=0.05)
    data = TrainingData(X, classes, None, class_moments(X, classes, 2), range(10), codes, tree.categories)
    for structure in ("naive", "tan", "ban"):
        assert choose_structure(structure, data).dag.n_features == 10


def test_numbers_with_holes_and_no_category(rng):
    X, classes = rng.standard_normal((500, 4)), np.arange(500) % 2
    X[:, 1] += 2 * X[:, 0]
    X[:, 3] += X[:, 2]
    X[rng.random(X.shape) < 0.1] = np.nan
    data = TrainingData(X, classes, None, class_moments(X, classes, 2), "abcd")
    assert {(0, 1), (2, 3)} <= {tuple(sorted(edge)) for edge in choose_structure("tan", data).dag.edges}
    assert choose_structure("ban", data, l1_penalty=0.1).dag.n_edges >= 1


def test_knowledge_is_honoured():
    tree = random_mixed_tree(8, 5)
    data = training_data(tree, 500)
    category, number = tree.categories[0], tree.numbers[0]
    required = [(f"f{category}", f"f{number}")]
    forbidden = [(f"f{j}", f"f{tree.numbers[1]}") for j in range(8) if j != tree.numbers[1]]
    for structure in ("tan", "ban"):
        found = choose_structure(structure, data, required_edges=required, forbidden_edges=forbidden).dag
        assert (category, number) in found.edges
        assert found.parents[tree.numbers[1]] == ()
        assert not impossible_edges(found, tree)


def test_the_root_is_a_category():
    tree = random_mixed_tree(8, 6)
    data = training_data(tree, 2000)
    for root in tree.categories:
        dag = choose_structure("tan", data, root=f"f{root}").dag
        assert dag.parents[root] == ()
    names = ", ".join(repr(f"f{i}") for i in tree.categories)
    number = tree.numbers[0]
    with pytest.raises(StructureError, match=rf"'f{number}' is a number, and the categories are {names}"):
        choose_structure("tan", data, root=number)


def test_a_number_is_never_the_parent_of_a_category():
    tree = random_mixed_tree(4, 7)
    data = training_data(tree, 100)
    number, category = tree.numbers[0], tree.categories[0]
    edge = (f"f{number}", f"f{category}")
    reason = f"'f{number}' -> 'f{category}', but a number cannot be the parent of a category"
    for structure in ("tan", "ban"):
        with pytest.raises(StructureError, match=f"required_edges has {reason}"):
            choose_structure(structure, data, required_edges=[edge])
    with pytest.raises(StructureError, match=f"the graph has {reason}"):
        choose_structure({edge[1]: [edge[0]]}, data)
    turned = choose_structure({edge[0]: [edge[1]]}, data).dag
    assert turned.edges == ((category, number),)


def test_max_parents_limits_the_greedy_search():
    tree = random_mixed_tree(8, 8)
    data = training_data(tree, 2000)
    dag = choose_structure("ban", data, max_parents=1).dag
    assert max(len(group) for group in dag.parents) == 1
    assert choose_structure("ban", data, max_parents=0).dag.n_edges == 0
    known = [("f0", "f1"), ("f2", "f1")]
    numbers = TrainingData(data.X, data.classes, None, data.moments, ["f0", "f1", "f2", "f3"])
    with pytest.raises(StructureError, match="'f1' 2 parents, but max_parents is 1"):
        choose_structure("ban", numbers, max_parents=1, required_edges=known)


def test_greedy_steps_never_lower_the_score_and_edges_can_turn():
    tree = random_mixed_tree(7, 9)
    data = training_data(tree, 1500)
    found = learn_greedy(data.X, data.codes, data.categories, data.classes)
    empty = learn_greedy(data.X, data.codes, data.categories, data.classes, max_parents=0)
    assert found.objective > empty.objective
    adjacency = found.dag.adjacency()
    assert (found.scores[adjacency] > 0).all()
    assert (found.scores[~adjacency] == 0).all()


def test_naive_has_no_edges():
    data = training_data(random_mixed_tree(5, 1), 50)
    assert choose_structure("naive", data).dag.n_edges == 0
    with pytest.raises(StructureError, match="'naive' has no edges"):
        choose_structure("naive", data, required_edges=[("f0", "f1")])


def test_one_feature_of_each_kind():
    X, codes, classes = np.empty((40, 0)), np.arange(40)[:, None] % 3, np.arange(40) % 2
    assert learn_mixed_tree(X, codes, (0,), classes).dag.n_edges == 0
    number = np.arange(40.0)[:, None]
    assert learn_mixed_tree(number, codes[:, :0], (), classes).dag.n_edges == 0
    both = learn_mixed_tree(np.repeat(codes, 1, axis=1).astype(float), codes, (1,), classes)
    assert both.dag.edges == ((1, 0),)
    assert learn_mixed_tree(number, codes, (1,), classes, knowledge=Knowledge()).dag.n_features == 2
