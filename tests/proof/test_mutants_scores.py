"""Small faults in stated scores, in numbers far out and in limits that the format fixes."""

import copy
import math

import pytest

from surefoot.proof import exact
from tests.proof import test_mutants_exact as plain
from tests.proof import test_mutants_states as mixed
from tests.proof.test_conditions import disk, leaf, proven, setting

INF = math.inf


# ----- scores that are stated -------------------------------------------------------------------------------


def test_a_leaf_about_a_stated_score():
    """Twice x_0 - x_0^2 - x_1^2 - 8 is the disk around (3, 0) once its slope is six."""
    bowl = exact.Requirement(
        [(1, exact.Explicit([3.0, 0.0], [[-0.5, 0.0], [0.0, -0.5]]))], -8 << exact.PLACES, True
    )
    for need in (bowl, disk(3.0, 0.0, 1)):
        where = setting(requirement=need)
        for level, holds in ((1.0, True), (1.9, True), (2.0, False), (2.5, False)):
            assert (proven(where, leaf(level, [0.25])) is not None) == holds, level


def test_scores_have_matrices_for_every_class_or_for_none():
    """Else a matrix could move from one class to the other, and the fingerprint would not change."""
    none, one = mixed.content()["decision"]["scores"], {"matrix": [[1.0]]}
    for scores in ([none[0] | one, none[1]], [none[0], none[1] | one]):
        decision = {"kind": "scores", "probability": True, "scores": scores}
        with pytest.raises(exact.UnreadableError, match="some scores have a matrix, others have none"):
            exact.read_model(mixed.content(decision=decision))
    bent = [score | one for score in none]
    decision = {"kind": "scores", "probability": True, "scores": bent}
    names = {exact.read_model(mixed.content(**d)).fingerprint for d in ({}, {"decision": decision})}
    assert [len(name) for name in names] == [16, 16]


# ----- numbers far out --------------------------------------------------------------------------------------


def test_expectations_on_a_scale_are_not_told_in_units():
    """One of two numbers is on a curved scale; what the file tells on the scale is told wrongly."""
    curved, straight = {"power": 0.5, "shift": 0.0, "scale": 1.0}, {"power": None, "shift": 0.0, "scale": 1.0}
    model = plain.content(warps=[curved, straight])
    e = plain.answer(model)
    e["question"]["warps"] = [[0.5, 0.0, 1.0], [None, 0.0, 1.0]]
    known = exact.read_model(model)
    point = known.scales[0](0.3)
    percentile = 101 - math.log(2 * math.pi) - (point - 1) ** 2 / 2
    on_scale = {"z_score": plain.values(point - 1, 0.0), "density_percentile": percentile}
    case = exact.read_case([known], e | on_scale)
    assert exact.context_claim(case).verdict == exact.FAILS


# ----- what the format fixes --------------------------------------------------------------------------------


def test_limits_of_the_format():
    """docs/certificate.md states them: another checker must stop where this one does."""
    assert (exact.DEPTH, exact.MOST_STEPS, exact.ROOM) == (900, 2_000_000, 10**6)
    assert (exact.MOST_TRADES, exact.LEAST_WORK, exact.MORE_WORK) == (100, 10**8, 10)
    assert [1 / exact.SMALLEST_POWER, 1 / exact.AGREE] == [10**20, 10**9]
    assert (exact.MOST_TOL, exact.NEAR_WORST, exact.SHARE_WORST) == (0.01, 0.01, 0.02)
    assert exact.DIGITS.prec == 80


def test_a_level_of_zero():
    """The factual itself is refuted as well."""
    assert proven(setting(), leaf(0.0, [0.25])) == 0.0
    assert proven(setting(requirement=disk(3.0, 0.0, 9)), leaf(0.0, [0.25])) is None


def test_a_bound_needs_a_metric():
    e = plain.answer()
    e["certificate"]["metric"] = None
    with pytest.raises(exact.FaultError, match="the certificate states no metric"):
        exact.bound_setting(plain.case_of(e))


@pytest.mark.parametrize("value", [[], ["format"], "format", None, 3])
def test_files_that_are_no_object(value):
    with pytest.raises(exact.UnreadableError, match="is JSON, but not a surefoot explanation"):
        exact.read_answer(value)


@pytest.mark.parametrize("value", [0, 1, "false", None])
def test_to_stop_early_is_true_or_false(value):
    with pytest.raises(exact.UnreadableError, match="early_stop is neither true nor false"):
        exact.read_answer(plain.changed(early_stop=value))


@pytest.mark.parametrize("names", [["a", "c"], ["c", "b"], ["b", "a"]])
@pytest.mark.parametrize("key", ["factual", "counterfactual", "unit", "z_score"])
def test_series_name_the_features(key, names):
    e = plain.answer()
    e[key]["names"] = names
    with pytest.raises(exact.UnreadableError, match=f"{key} names other features than the question"):
        plain.case_of(e)


@pytest.mark.parametrize("side", [True, False])
def test_the_inverse_covariance_is_rounded_against_the_claimant_on_both_sides(side, monkeypatch):
    """If it were coarse on one side alone, no metric could be told to be right either."""
    case, squares = plain.case_of(), exact.Network.squares

    def coarse(self, up):
        sign = (1 if up else -1) * (up == side)
        return [[v + sign * (v >> 16) for v in row] for row in squares(self, up)]

    monkeypatch.setattr(exact.Network, "squares", coarse)
    assert exact.geometry_claim(case).verdict == exact.FAILS


def test_files_are_left_as_they_are():
    e = plain.answer()
    before = copy.deepcopy(e)
    plain.claims(e)
    assert e == before
