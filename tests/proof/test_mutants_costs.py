"""Small faults in how questions with costs, ways and limits are read, and in the products of a leaf."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from surefoot.proof import exact
from surefoot.proof.exact import Either, FaultError, Row, UnreadableError, Way
from surefoot.proof.pieces import Pieces
from surefoot.proof.products import Products, Slope, UndecidedError
from surefoot.proof.rounding import Rounded, bordered, joined, listed, stacked
from tests.proof import test_mutants_exact as plain
from tests.proof.test_fast import scaled_proof, way_of

INF = math.inf
REFUSED = (UndecidedError, FaultError, UnreadableError, ValueError, TypeError)


def table_of(proof, level=1.0, path=()):
    return Products(Pieces(proof).base, exact.Piece(proof, level, path), Pieces(proof).end)


def priced(*prices):
    proof = scaled_proof(half=[Fraction(1)] * 3)
    return replace(proof, setting=replace(proof.setting, half=None, prices=list(prices)))


# ----- products ---------------------------------------------------------------------------------------------


def test_splits_of_u_and_of_features():
    """A cut of u is a function of u, a cut of a feature one of z: they are not the same where D is not 1."""
    proof = scaled_proof()
    path = way_of(proof, [(("u", 0), 0.5, "below"), (("x", 1), 9.0, "below")])
    table = table_of(proof, path=path)
    assert table.number(["c", 1]) == -1
    assert table.number(["c", 0]) > 0
    assert (table._slopes[0].constant, [*table._slopes[0].slopes]) == (0.5, [-1.0])
    assert len(table._rows) == 1


@pytest.mark.parametrize(
    "entry", [["1", 0], ["1", "low"], ["x"], ["c"], ["r"], ["y"], ["c", 0], ["c", 0, 0, "low"]]
)
def test_functions_that_are_none(entry):
    proof = scaled_proof()
    with pytest.raises(REFUSED):
        table_of(proof).number(entry)
    with pytest.raises((FaultError, UnreadableError)):
        exact.product_term(exact.Piece(proof, 1.0, []), [1.0, ["1"], entry])


@pytest.mark.parametrize(
    "listed_",
    [
        [[True, 1.0]], [[0, 1.0], [True, 1.0]], [[0.0, 1.0]], [[0, 1]], [[0, 1.0], [1, True]], [[-1, 1.0]],
        [[0, 1.0], [-1, 1.0]], [[3, 1.0]], [[0, 1.0], [3, 1.0]], [[0, INF]], [[0, 1.0], [1, -INF]],
        [[0, math.nan]], [[1, 1.0], [1, 1.0]], [[0, 1.0, 1.0]], [[0]], ["01"], [], [[]], None,
    ],
)  # fmt: skip
def test_slopes_that_are_none(listed_):
    """Whatever constant comes with them: the place after the last slope is the constant's own."""
    with pytest.raises(REFUSED):
        table_of(scaled_proof()).number(["a", 9.0, listed_])


def test_ends_by_prices_are_rounded_outward():
    """A third, a fifth and a tenth are no doubles: a constant that is a little too small shows nothing."""
    proof = priced((3.0, 3.0), (5.0, 5.0), (10.0, 10.0))
    table = table_of(proof)
    for i, end in enumerate((Fraction(1, 3), Fraction(1, 5), Fraction(1, 10))):
        for sign in (1.0, -1.0):
            for c in (float(end), np.nextafter(float(end), 1.0), np.nextafter(float(end), 0.0)):
                table._slopes[:] = [Slope(float(c), [i], [sign], ["a", float(c), [[i, sign]]])]
                if Fraction(float(c)) >= end:
                    table._show_not_negative(table._table())
                else:
                    with pytest.raises(FaultError):
                        table._show_not_negative(table._table())


def test_slopes_over_their_prices():
    """A rise has the price of a fall in the way of y_i > 0, and the other way round; none is too small."""
    table = table_of(priced((2.0, 4.0), (2.0, 4.0), (3.0, 7.0)))
    rows = np.array([[0.0, 1.0, -2.0, 9.0], [1.0, 0.0, 0.0, -9.0], [-1.0, 0.0, 7.0, 0.0]])
    found = table._shared(rows)
    exactly = [[0, Fraction(1, 4), Fraction(2, 3)], [Fraction(1, 4), 0, 0], [Fraction(1, 2), 0, 1]]
    assert (found[:, -1] == rows[:, -1]).all()
    for row, wanted in zip(found[:, :-1].tolist(), exactly, strict=True):
        for share, least in zip(row, wanted, strict=True):
            assert least <= Fraction(share) <= least * (1 + Fraction(1, 10**15))


def test_parts_are_rounded_as_often_as_the_worst_of_them():
    few, many = (Rounded(np.array([1.0, 2.0]), np.array([3.0, 4.0]), k) for k in (2, 5))
    one, block = Rounded(np.array(7.0), np.array(8.0), 5), Rounded(np.eye(1), np.eye(1), 5)
    early, coarse = replace(one, roundings=2), replace(block, roundings=2)
    for found in (
        listed([few, many]), listed([many, few]), joined(few, one), joined(many, early), bordered(block, few),
        bordered(coarse, many), stacked([coarse, block]), stacked([block, coarse]),
    ):  # fmt: skip
        assert found.roundings == 5
    assert joined(few, one).value.tolist() == [1.0, 2.0, 7.0]
    assert joined(few, one).size.tolist() == [3.0, 4.0, 8.0]
    assert bordered(block, few).value.tolist() == [[1.0, 1.0], [1.0, 2.0]]
    assert bordered(block, few).size.tolist() == [[1.0, 3.0], [3.0, 4.0]]


# ----- questions --------------------------------------------------------------------------------------------


def test_intervals_of_ways_on_a_scale():
    scale = exact.Scale(0.5, 0.0, 1.0)
    for row, bent in (
        (Row([1.0, 0.0], 1.0, 3.0, "r"), (scale(1.0), scale(3.0))),
        (Row([0.0, 1.0], 1.0, 3.0, "r"), (1.0, 3.0)),
        (Row([2.0, 0.0], 1.0, 3.0, "r"), (1.0, 3.0)),
        (Row([1.0, 1.0], 1.0, 3.0, "r"), (1.0, 3.0)),
    ):
        assert exact._on_scale(row, [scale, None])[1:3] == bent
    way = Way([Row([1.0, 0.0], 2.0, 5.0, "r")], {})
    asked = replace(plain.case_of().question, eithers=[Either("e", [way])])
    assert asked.stated_numbers()[-2:] == [2.0, 5.0]
    assert asked.on_scales([scale, None]).stated_numbers()[-2:] == [scale(2.0), scale(5.0)]


def test_a_way_allows_some_values():
    way = Way([], {0: [1, 2], 2: [0]})
    for state, allowed in (((1, 9, 0), True), ((2, 0, 0), True), ((0, 9, 0), False), ((1, 9, 1), False)):
        assert way.allows(state) == allowed
    assert Way([], {}).allows((5, 5, 5))
    assert not Way([], {1: []}).allows((0, 0, 0))


def distance(**changes):
    return plain.asked(distance=plain.answer()["question"]["distance"] | changes)


def domain(**changes):
    return plain.asked(domain=plain.domain() | changes)


LIMIT = {"name": "few", "count": 1, "numbers": [0, 1], "categories": []}


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (plain.asked(version=2), "the question has format version 2"),
        (plain.asked(format="surefoot"), "the question"),
        (distance(whitening="pca"), "the question's distance is not known"),
        (distance(kind="euclidean"), "the question's distance is not known"),
        (distance(kind="mahalanobis", prices=[[1.0, 1.0]] * 2), "the question's distance is not known"),
        (distance(kind="cost"), "the prices of numbers"),
        (distance(kind="cost", prices=[[1.0, 1.0]]), "the prices of numbers"),
        (distance(kind="cost", prices=[[1.0, 1.0], [1.0]]), "the prices of numbers"),
        (distance(kind="cost", prices=[[1.0, 1.0], [1.0, 1.0, 1.0]]), "the prices of numbers"),
        (domain(declared=[]), "the domain's declared is not an object"),
        (domain(limits=[LIMIT | {"count": -1}]), "the count of a limit is negative"),
        (domain(limits=[LIMIT | {"numbers": [1, 0]}]), "the numbers of a limit are not in ascending order"),
        (domain(limits=[LIMIT | {"numbers": [0, 0]}]), "the numbers of a limit are not in ascending order"),
    ],
)  # fmt: skip
def test_questions_that_are_none(e, text):
    with pytest.raises(UnreadableError, match=text):
        exact.read_question(e["question"])


def test_questions_with_costs_and_limits():
    assert exact.read_question(distance()["question"]).prices is None
    cost = exact.read_question(distance(kind="cost", prices=[[1.0, 2.0], [3.0, 4.0]])["question"])
    assert cost.prices == [(1.0, 2.0), (3.0, 4.0)]
    few = exact.read_question(domain(limits=[LIMIT, LIMIT | {"count": 0}])["question"])
    assert [limit.most for limit in few.limits] == [1, 0]
