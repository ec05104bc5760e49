"""Proofs that need no requirements hold for every shape, on a file in the head.

The question is that of `test_covering`: odds of a plus what k and m add, today a = -1.
"""

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import HOLDS, NOT_PROVED, UnreadableError
from tests.proof.test_covering import answer, assert_open, either, found, leaf, limit, way, within
from tests.proof.two_categories import content

ONE = ["1"]


def everywhere(tree, ways=(), left=(), constants=(), shape=None):
    proof = {"directions": [], "scenarios": [], "tree": tree}
    listed = {"constants": list(constants), "ways": list(ways), "left": list(left)}
    return {"shape": shape, **listed, "proof": proof}


def with_rows(e, *ends):
    """The file with rules low <= a <= high."""
    e["question"]["domain"]["rows"] = [
        {"coefficients": [1.0], "low": low, "high": high, "name": f"rule {k}"}
        for k, (low, high) in enumerate(ends)
    ]
    return e


def excluded(least=5.0, most=3.0, tree=None, **more):
    """Claims that a >= least and a <= most exclude each other, whatever the categories are."""
    proofs = [everywhere(EMPTY if tree is None else tree, **more.pop("entry", {}))]
    return with_rows(answer(proofs, **more), (least, "inf"), ("-inf", most))


EMPTY = leaf("inf", requirements=(), products=[(1.0, ["r", 0, "low"], ONE), (1.0, ["r", 1, "high"], ONE)])


def bound(e):
    return found(e)["lower bound"]


def test_rules_that_exclude_each_other_cover_all_states():
    claim = bound(excluded())
    assert claim.verdict == HOLDS
    assert claim.reason.startswith("claimed 0.99, proven for all states by one proof")


@pytest.mark.parametrize(("least", "most"), [(3.0, 5.0), (4.0, 4.0)])
def test_rules_that_leave_something(least, most):
    assert_open(excluded(least, most), "leaf")


def test_requirements_may_not_be_used():
    """They differ from shape to shape: a proof that uses one must name its shape."""
    tree = leaf(0.99, [0.5 / 0.99])
    assert bound(answer([within(0.75, 0.2), within(0.0, 0.99)], level=0.2)).verdict == HOLDS
    assert_open(answer([everywhere(tree)]), "requirements")
    used = leaf("inf", requirements=[(1.0, 0, -1)], products=EMPTY["products"])
    assert_open(excluded(tree=used), "requirements")


@pytest.mark.parametrize("constants", [[0.0], [9.0], [0.0, 0.0]])
def test_nothing_is_added_to_requirements_that_are_not_there(constants):
    with pytest.raises(UnreadableError, match="constants"):
        exact.check([content()], excluded(entry={"constants": constants}))


def test_a_shape_that_is_there_needs_its_constants():
    with pytest.raises(UnreadableError, match="constants"):
        exact.check([content()], excluded(entry={"shape": []}))


@pytest.mark.parametrize("shape", [False, 0, "", {}, [[0, 0]]])
def test_other_words_for_all_shapes(shape):
    try:
        claim = bound(excluded(entry={"shape": shape}))
    except UnreadableError:
        return
    assert claim.verdict == NOT_PROVED


def near(level):
    """Nothing with a >= 0 lies within the level of -1; no requirement is needed for that."""
    return leaf(level, [1.0], requirements=(), products=[(2.0, ["r", 0, "low"], ONE)])


def at_least_zero(proofs, level):
    return with_rows(answer(proofs, level=level), (0.0, "inf"))


@pytest.mark.parametrize(
    ("radius", "level", "holds"), [(0.5, 0.5, True), (0.5, 0.51, False), (0.9, 0.9, True)]
)
def test_the_radius_counts(radius, level, holds):
    e = at_least_zero([everywhere(near(radius))], level)
    assert bound(e).verdict == (HOLDS if holds else NOT_PROVED)


def test_dear_states_are_covered_and_cheap_ones_need_more():
    """A change of k costs 1/4: with the radius that is enough, today's categories need another proof."""
    everywhere_ = everywhere(near(0.5))
    assert_open(at_least_zero([everywhere_], 0.74), "nothing covers the categories ['x', False]")
    assert bound(at_least_zero([everywhere_, within(0.0, 0.74)], 0.74)).verdict == HOLDS
    assert_open(at_least_zero([everywhere_, within(0.0, 0.76)], 0.76), "['y', False]")


@pytest.mark.parametrize(("left", "holds"), [(0, False), (1, True), (5, True)])
def test_limits_must_leave_no_more_than_was_proved(left, holds):
    e = excluded(entry={"left": [left]}, limits=[limit(1)])
    if holds:
        assert bound(e).verdict == HOLDS
    else:
        assert_open(e, "nothing covers the categories ['x', False]")


@pytest.mark.parametrize(
    ("ways", "holds"), [([0, 1], True), (None, True), ([0], False), ([1], False), ([], False)]
)
def test_every_way_must_have_been_looked_at(ways, holds):
    both = either(way(rows=[(0.0, 1.0)]), way(rows=[(2.0, 9.0)]))
    e = excluded(entry={"ways": [ways]}, eithers=[both])
    assert bound(e).verdict == (HOLDS if holds else NOT_PROVED)


def test_ways_of_categories_that_are_not_there():
    """With k = x one way is open, with k = y the other: a proof about the first covers half of the states."""
    both = either(way(rows=[(0.0, 1.0)], k=[0]), way(rows=[(2.0, 9.0)], k=[1]))
    e = excluded(entry={"ways": [[0]]}, eithers=[both])
    assert_open(e, "['y', True]")
    e["certificate"]["states"]["proofs"].append(everywhere(EMPTY, ways=[[1]]))
    assert bound(e).verdict == HOLDS
