"""The metric and the ball of a file, at the edge of what may differ."""

import math

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED
from tests.proof import two_numbers as plain
from tests.proof.two_numbers import (
    ONE,
    answer,
    ball,
    case_of,
    changed,
    claims,
    content,
    verdict,
    without_point,
)


def test_a_metric_that_is_missing():
    e = answer()
    e["certificate"]["metric"] = None
    found = claims(e)
    for name in ("geometry", "distance", "robustness", "lower bound"):
        assert found[name].verdict == NOT_PROVED, name
    assert found["geometry"].reason == "the certificate states no metric"
    e = without_point(answer())
    e["certificate"]["metric"] = None
    assert verdict(e, "geometry") == NOT_PROVED  # the bound is about distances
    e["lower_bound"] = 0.0
    assert "geometry" not in claims(e)


def test_a_ball_where_none_is_needed():
    e = answer()
    for matrix, holds in (
        (ONE, True),
        ([[1.0, 0.0], [0.0, 1.01]], False),
        ([[-1.0, 0.0], [0.0, 1.0]], False),
    ):
        e["certificate"]["ball"] = matrix
        assert (verdict(e, "geometry") == HOLDS) == holds
    e = ball({"0": [0.1, 0.1], "1": [0.1, 0.1]}, "inf")
    e["certificate"]["ball"] = ONE
    assert claims(e)["geometry"].reason == "a budget by feature has no matrix"
    e = ball(exact=[0])
    assert claims(e)["geometry"].reason == "the matrix of the ball is missing"
    e["certificate"]["ball"] = [[1.0]]
    assert verdict(e, "geometry") == HOLDS
    e["certificate"]["ball"] = [[1.01]]
    assert claims(e)["geometry"].reason == "the ball is no root of the inverse covariance"
    e = ball(exact=[0, 1])
    assert verdict(e, "geometry") == HOLDS
    e["certificate"]["ball"] = []
    assert verdict(e, "geometry") == HOLDS


SHAPES = {
    "cholesky": ([[1.0, 1e-9], [0.0, 1.0]], [[1.0, 0.0], [1e-9, 1.0]]),
    "dag": ([[1.0, 0.0], [1e-9, 1.0]], [[1.0, 1e-9], [0.0, 1.0]]),
    "zca": ([[1.0, 1e-9], [1e-9, 1.0]], [[1.0, 1e-9], [0.0, 1.0]]),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_the_shape_of_a_metric(kind):
    e = changed(whitening=kind)
    e["question"]["distance"]["whitening"] = kind
    right, wrong = SHAPES[kind]
    for key in ("metric", "ball"):
        for matrix, holds in ((right, True), (wrong, False), ([[1.0, 0.0], [0.0, -1.0]], False), (ONE, True)):
            e["certificate"][key] = matrix
            assert (verdict(e, "geometry") == HOLDS) == holds, matrix
        e["certificate"][key] = ONE


def test_a_metric_of_the_dag_knows_its_parents():
    """Without an edge nothing may be below the diagonal, though the order would allow it."""
    model = content(parents=[[], []])
    e = answer(model) | {"whitening": "dag", "parents": [[], []]}
    e["question"]["distance"]["whitening"] = "dag"
    assert verdict(e, "geometry", model) == HOLDS
    e["certificate"]["metric"] = [[1.0, 0.0], [1e-9, 1.0]]
    assert verdict(e, "geometry", model) == FAILS
    e["certificate"] |= {"metric": ONE, "ball": [[1.0, 0.0], [1e-9, 1.0]]}
    assert verdict(e, "geometry", model) == HOLDS
    e["certificate"]["ball"] = [[1.0, 1e-9], [0.0, 1.0]]
    assert verdict(e, "geometry", model) == FAILS


@pytest.mark.parametrize(
    ("excess", "holds"), [(0.99e-6, True), (-0.99e-6, True), (1.01e-6, False), (-1.01e-6, False)]
)
def test_the_room_of_a_metric(excess, holds):
    e = answer()
    e["certificate"]["metric"] = [[math.sqrt(1 + excess), 0.0], [0.0, 1.0]]
    assert (verdict(e, "geometry") == HOLDS) == holds


def test_a_small_bound_needs_a_metric_as_well():
    e = without_point(changed(lower_bound=0.5))
    e["certificate"]["metric"] = None
    assert verdict(e, "geometry") == NOT_PROVED


def test_the_rounding_of_the_inverse_covariance_counts_against_the_claimant(monkeypatch):
    """If it were coarse, no metric could be told to be right."""
    case, squares = case_of(), exact.Network.squares
    assert exact.geometry_claim(case).verdict == HOLDS

    def coarse(self, up):
        return [[v + (v >> 16 if up else -(v >> 16)) for v in row] for row in squares(self, up)]

    monkeypatch.setattr(exact.Network, "squares", coarse)
    assert exact.geometry_claim(case).verdict == FAILS


def test_a_diagonal_is_positive():
    e = answer()
    for kind in ("cholesky", "dag"):
        e["question"]["distance"]["whitening"] = e["whitening"] = kind
        for value in (0.0, -1.0):
            e["certificate"]["metric"] = [[1.0, 0.0], [0.0, value]]
            assert claims(e)["geometry"].reason == "the metric has a diagonal that is not positive"


def test_a_bound_needs_a_metric():
    e = plain.answer()
    e["certificate"]["metric"] = None
    with pytest.raises(exact.FaultError, match="the certificate states no metric"):
        exact.bound_setting(plain.case_of(e))


@pytest.mark.parametrize("side", [True, False])
def test_the_inverse_covariance_is_rounded_against_the_claimant_on_both_sides(side, monkeypatch):
    """If it were coarse on one side alone, no metric could be told to be right either."""
    case, squares = plain.case_of(), exact.Network.squares

    def coarse(self, up):
        sign = (1 if up else -1) * (up == side)
        return [[v + sign * (v >> 16) for v in row] for row in squares(self, up)]

    monkeypatch.setattr(exact.Network, "squares", coarse)
    assert exact.geometry_claim(case).verdict == exact.FAILS
