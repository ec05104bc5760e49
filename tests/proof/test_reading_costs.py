"""What is read of questions with costs, ways and limits."""

from dataclasses import replace

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import Either, Row, UnreadableError, Way
from tests.proof import two_numbers as plain


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
