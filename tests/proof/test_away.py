"""Answers that stay away from a point, on the file of `two_numbers`."""

import math
from fractions import Fraction

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, UnreadableError
from tests.proof import two_categories as states
from tests.proof.two_numbers import answer, away, case_of, content, leaf, proof


def asked(point, distance, **more):
    e = answer()
    e["question"]["requirements"].append({"kind": "away", "point": list(point), "distance": distance, **more})
    return e


def verdicts(e):
    return {claim.name: claim.verdict for claim in exact.check([content()], e)}


def wrong(e):
    return {name: verdict for name, verdict in verdicts(e).items() if verdict != HOLDS}


def test_the_point_stays_away():
    """From (0.3, 0) to (0.3, 2) there are 2, whatever the bound is about."""
    for distance, holds in (
        (0.0, True),
        (1.0, True),
        (math.nextafter(2.0, 0), True),
        (math.nextafter(2.0, 3), False),
        (9.0, False),
    ):
        found = wrong(asked((0.3, 2.0), distance))
        assert found == ({} if holds else {"validity": FAILS})


def test_both_coordinates_count():
    for point, distance in (((0.3 + 3.0, 4.0), 5.0), ((0.3, -4.0), 4.0), ((-2.7, 4.0), 5.0)):
        assert "validity" not in wrong(asked(point, distance * (1 - 1e-9)))
        assert wrong(asked(point, distance * (1 + 1e-9)))["validity"] == FAILS


def test_a_bound_by_staying_away():
    """Nothing within 1.2 of the factual is 1.25 away from it."""
    e = asked((-1.0, 0.0), 1.25)
    assert not wrong(e)
    e["certificate"]["bound"] = proof(leaf(1.2, [0.51], [[1.0, 1, -1]]))
    assert not wrong(e)
    for distance in (1.19, 1.2):
        e["question"]["requirements"][1]["distance"] = distance
        assert wrong(e) == {"lower bound": NOT_PROVED}
    e = asked((-1.0, 0.5), 1.25)
    e["certificate"]["bound"] = proof(leaf(1.2, [0.51], [[1.0, 1, -1]]))
    assert wrong(e)["lower bound"] == NOT_PROVED


def test_no_perturbation_has_a_part_in_it():
    e = asked((-1.0, 0.0), 1.25)
    e["certificate"]["bound"] = proof(leaf(1.2, [0.51], [[1.0, 1, 0]]), [[0.0, 0.0]])
    assert wrong(e) == {"lower bound": NOT_PROVED}


def test_points_that_are_none():
    for point, distance in (((0.0,), 1.0), ((0.0, 0.0, 0.0), 1.0), ((0.0, 0.0), -1.0), ((0.0, 0.0), -5e-324)):
        assert wrong(asked(point, distance)) == {"question": FAILS}
    for point, distance in (
        ((0.0, None), 1.0),
        ((0.0, 0.0), None),
        ((0.0, 0.0), "inf"),
        ((math.nan, 0.0), 1.0),
    ):
        with pytest.raises(UnreadableError):
            exact.check([content()], asked(point, distance))
    with pytest.raises(UnreadableError, match="robust"):
        exact.check([content()], asked((0.0, 0.0), 1.0, robust=False))


def test_words():
    assert "Required: numbers at least 1.5 away from 0.25, 3" in exact.words(
        [content()], asked((0.25, 3.0), 1.5)
    )


@pytest.mark.parametrize("distance", [1e-20, 1e-25, 0.1, 3.0])
def test_a_distance_to_keep_is_enclosed_tightly(distance):
    """Minus its square: only what has more than 128 binary places is rounded."""
    found = case_of().twice_base(away(distance, (0.0, 0.0)), ())
    value = -(Fraction(distance) ** 2) * 2**exact.PLACES
    assert found.low <= value <= found.high == found.low + 1


def test_categories_add_nothing_to_a_distance():
    model = states.content(decision=None)
    case = states.case_of(states.answer(model), model)
    assert case.twice_gain(away(1.0, (0.0,)), (1, 0)) == exact.NOTHING
