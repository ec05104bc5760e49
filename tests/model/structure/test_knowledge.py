import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Dag
from surefoot.exceptions import StructureError
from surefoot.model.structure import Knowledge


@pytest.mark.parametrize(
    ("required", "forbidden", "message"),
    [
        ([("a", "b")], [("a", "b")], "'a' -> 'b' is both required and forbidden"),
        ([("a", "b"), ("b", "c"), ("c", "a")], [], "required_edges has a cycle"),
        ([("a", "x")], [], "unknown feature 'x'"),
        ([], [("a", "a")], "forbidden_edges joins 'a' to itself"),
        (["ab"], [], "must hold \\(parent, child\\) pairs"),
        ([("a", "b", "c")], [], "must hold \\(parent, child\\) pairs"),
    ],
)
def test_contradictions(required, forbidden, message):
    with pytest.raises(StructureError, match=message):
        Knowledge.from_names("abc", required, forbidden)


def test_edges_against_a_required_path_are_ruled_out():
    allowed = Knowledge.from_names("abcd", [("a", "b"), ("b", "c")]).allowed(4)
    assert not allowed[2, 0]
    assert allowed[0, 2]
    assert allowed[3, 0]


def test_naive_and_given_graphs_take_no_knowledge(bundled):
    X, y = bundled["banknote"].X, bundled["banknote"].y
    edge = [("variance", "entropy")]
    with pytest.raises(StructureError, match="'naive' has no edges"):
        ConditionalGaussianNetworkClassifier("naive", required_edges=edge).fit(X, y)
    ConditionalGaussianNetworkClassifier("naive", forbidden_edges=edge).fit(X, y)
    for guide in ({"required_edges": edge}, {"forbidden_edges": edge}, {"max_parents": 1}):
        with pytest.raises(StructureError, match="a given graph is taken as it is"):
            ConditionalGaussianNetworkClassifier(Dag.empty(4), **guide).fit(X, y)


@pytest.mark.parametrize("structure", ["tan", "ban"])
def test_by_feature_name_through_the_classifier(bundled, structure):
    X, y = bundled["pima"].X, bundled["pima"].y
    required, forbidden = [("age", "insu"), ("pedi", "preg")], [("age", "preg"), ("plas", "insu")]
    clf = ConditionalGaussianNetworkClassifier(
        structure, required_edges=required, forbidden_edges=forbidden
    ).fit(X, y)
    names = bundled["pima"].feature_names
    edges = {(names[parent], names[child]) for parent, child in clf.dag_.edges}
    assert set(required) <= edges
    assert not set(forbidden) & edges
