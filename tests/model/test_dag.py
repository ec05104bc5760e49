import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Dag
from surefoot.datasets import random_dag
from surefoot.exceptions import StructureError


def test_empty_and_complete():
    assert Dag.empty(3).n_edges == 0
    assert Dag.complete(4).n_edges == 6
    assert Dag.complete(3).order == (0, 1, 2)


@given(n=st.integers(1, 12), density=st.floats(0, 1), seed=st.integers(0, 1000))
def test_order_puts_parents_first_and_edges_rebuild_the_graph(n, density, seed):
    dag = random_dag(n, density, seed)
    position = {feature: k for k, feature in enumerate(dag.order)}
    assert sorted(dag.order) == list(range(n))
    assert all(position[parent] < position[child] for parent, child in dag.edges)
    assert Dag.from_edges(n, dag.edges) == dag
    assert dag.adjacency().sum() == dag.n_edges
    assert all(dag.depths[child] > dag.depths[parent] for parent, child in dag.edges)


def test_cycle_is_refused_and_spelled_out():
    with pytest.raises(StructureError, match=r"cycle: (0 -> 1 -> 0|1 -> 0 -> 1)"):
        Dag([(1,), (0,)])
    with pytest.raises(StructureError, match=r"cycle: (a -> b -> a|b -> a -> b)"):
        Dag.from_mapping({"a": ["b"], "b": ["a"]}, ["a", "b"])


def test_cycle_is_spelled_out_in_the_direction_of_its_edges():
    names = ["age", "income", "debt"]
    mapping = {"income": ["age"], "debt": ["income"], "age": ["debt"]}
    with pytest.raises(StructureError) as error:
        Dag.from_mapping(mapping, names)
    cycle = str(error.value).split(": ")[1].split(" -> ")
    assert all(parent in mapping[child] for parent, child in itertools.pairwise(cycle))


def test_a_feature_is_not_its_own_parent():
    with pytest.raises(StructureError, match="cycle"):
        Dag([(0,)])


def test_parent_out_of_range():
    with pytest.raises(StructureError, match="parent 2, but there are only features 0 to 1"):
        Dag([(), (2,)])
    with pytest.raises(StructureError, match="edge to feature 5"):
        Dag.from_edges(2, [(0, 5)])


def test_unknown_feature_lists_the_known_ones():
    with pytest.raises(StructureError, match="unknown feature 'heigth'; the features are 'height', 'weight'"):
        Dag.from_mapping({"weight": ["heigth"]}, ["height", "weight"])
    with pytest.raises(StructureError, match="unknown feature 7"):
        Dag.from_mapping({7: [0]}, ["height", "weight"])


def test_parents_must_be_a_list():
    with pytest.raises(StructureError, match="must be a list of features, not 'height'"):
        Dag.from_mapping({"weight": "height"}, ["height", "weight"])


def test_networkx_and_mapping_agree():
    graph = nx.DiGraph([("a", "b"), ("a", "c"), ("b", "c")])
    names = ["c", "b", "a", "alone"]
    expected = Dag.from_mapping({"b": ["a"], "c": ["a", "b"]}, names)
    assert Dag.from_networkx(graph, names) == expected
    graph.add_node("stranger")
    with pytest.raises(StructureError, match="unknown feature 'stranger'"):
        Dag.from_networkx(graph, names)


def test_duplicate_parents_count_once():
    assert Dag([(), (0, 0)]).parents == ((), (0,))


def test_is_hashable_and_frozen():
    dag = Dag([(), (np.int64(0),)])
    assert hash(dag) == hash(Dag([[], [0]]))
    with pytest.raises(AttributeError):
        dag.parents = ()
