"""Functions in the cuts and products of a leaf: those that are none, and what a leaf proves of them."""

import math
from fractions import Fraction

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FaultError, UnreadableError
from tests.proof.test_conditions import disk, leaf, proof, proven, setting
from tests.proof.test_leaves import scaled_proof


@pytest.mark.parametrize("kind", ["q", 5, [], {}, None, ["u"]])
def test_functions_that_are_not_known(kind):
    tree = {"cut": [[kind, 0], 0.0], "below": leaf(1.0), "above": leaf(1.0)}
    with pytest.raises(exact.FaultError, match="of the kind"):
        exact.proven_level(proof(setting(), tree))


def test_a_leaf_about_a_stated_score():
    """Twice x_0 - x_0^2 - x_1^2 - 8 is the disk around (3, 0) once its slope is six."""
    bowl = exact.Requirement(
        [(1, exact.Explicit([3.0, 0.0], [[-0.5, 0.0], [0.0, -0.5]]))], -8 << exact.PLACES, True
    )
    for need in (bowl, disk(3.0, 0.0, 1)):
        where = setting(requirement=need)
        for level, holds in ((1.0, True), (1.9, True), (2.0, False), (2.5, False)):
            assert (proven(where, leaf(level, [0.25])) is not None) == holds, level


def test_a_level_of_zero():
    """The factual itself is refuted as well."""
    assert proven(setting(), leaf(0.0, [0.25])) == 0.0
    assert proven(setting(requirement=disk(3.0, 0.0, 9)), leaf(0.0, [0.25])) is None


@pytest.mark.parametrize(
    ("r", "s"), [(True, -1), (0, False), (0.0, -1), (0, -1.0), (False, True), (2, -1), (0, 9)]
)
def test_requirements_are_named_by_whole_numbers(r, s):
    """Truth values and doubles are none."""
    with pytest.raises((exact.FaultError, exact.UnreadableError)):
        exact.requirement_term(scaled_proof(), [1.0, r, s])


def test_the_ends_of_a_level():
    """Of a budget by feature they are as wide as the feature's part, wider or narrower than the level."""
    half = [Fraction(3), Fraction(1, 3), Fraction(1)]
    for about, reach in (
        (scaled_proof(half=half), [6, Fraction(2, 3), 2]),
        (scaled_proof(), [2.0, 2.0, 2.0]),
    ):
        piece = exact.Piece(about, 2.0, [])
        assert [piece.ends(i) for i in range(3)] == [(-end, end) for end in reach]


INF = math.inf


@pytest.mark.parametrize(
    "entry", [["1", 0], ["1", "low"], ["x"], ["c"], ["r"], ["y"], ["c", 0], ["c", 0, 0, "low"]]
)
def test_functions_that_are_none(entry):
    with pytest.raises((FaultError, UnreadableError)):
        exact.product_term(exact.Piece(scaled_proof(), 1.0, []), [1.0, ["1"], entry])


@pytest.mark.parametrize(
    "slopes",
    [
        [[True, 1.0]], [[0, 1.0], [True, 1.0]], [[0.0, 1.0]], [[0, 1.0], [1, True]], [[-1, 1.0]],
        [[0, 1.0], [-1, 1.0]], [[3, 1.0]], [[0, 1.0], [3, 1.0]], [[0, INF]], [[0, 1.0], [1, -INF]],
        [[0, math.nan]], [[1, 1.0], [1, 1.0]], [[0, 1.0, 1.0]], [[0]], ["01"], [[]], None,
    ],
)  # fmt: skip
def test_slopes_that_are_none(slopes):
    """Whatever constant comes with them: the place after the last slope is the constant's own."""
    with pytest.raises((FaultError, UnreadableError)):
        exact.affine(exact.Piece(scaled_proof(), 1.0, []), ["a", 9.0, slopes])
