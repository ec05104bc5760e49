"""Claims about status, probabilities, distance, domain, validity, bounds and gaps, on a file in the head."""

import math
from fractions import Fraction

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, Enclosure
from tests.proof.two_numbers import (
    INF,
    ONE,
    answer,
    asked,
    case_of,
    chance,
    changed,
    claims,
    density,
    domain,
    odds,
    row,
    values,
    verdict,
    without_point,
)


def test_the_file_holds():
    assert {claim.verdict for claim in claims(answer()).values()} == {HOLDS}
    assert len(claims(answer())) == 13
    assert {claim.verdict for claim in claims(without_point(changed(lower_bound=0.0))).values()} == {HOLDS}


def test_a_status_and_its_sentence():
    for status, sentence in exact.SENTENCES.items():
        if status in exact.WITH_POINT and status != "already_target":
            assert verdict(changed(status=status, message=sentence), "status") == HOLDS
            assert verdict(changed(status=status, message=sentence + " "), "status") == FAILS
        elif status not in (*exact.WITH_POINT, "invalid", "infeasible"):
            e = without_point(changed(lower_bound=0.0), status)
            assert verdict(e, "status") == HOLDS
            e = changed(status=status, message=sentence)
            assert claims(e)["status"].reason == "status and counterfactual do not go together"
    assert claims(changed(status="fine"))["status"].reason == "the status is not known"


def test_what_an_empty_answer_may_not_say():
    for key, value in (
        ("decision", 1), ("expected_after", values(1.0, 0.0)), ("z_score", values(0.0, 0.0)),
        ("probability", 0.5), ("worst_probability", 0.5), ("density_percentile", 0.0), ("distance", 1.0),
        ("violation", 0.0), ("coverage", 5e-324), ("certified_radius", 5e-324), ("early_stop", True),
    ):  # fmt: skip
        found = claims(without_point(answer()) | {key: value})["status"]
        assert found.reason == f"there is no counterfactual, but the file says {key}"
    for key, value in (("worst", [0.0, 0.0]), ("robustness", {"radius": 0.0, "slack": 0.0, "proofs": []})):
        e = without_point(answer())
        e["certificate"][key] = value
        assert claims(e)["status"].reason == f"there is no counterfactual, but the file says {key}"
    for status, bound in (("infeasible", 1.2), ("undecided", "inf")):
        e = without_point(changed(lower_bound=bound), status)
        assert claims(e)["status"].reason == "status and lower bound do not go together"


def test_stopping_early():
    """Only where a point moved and its violation is positive but not above the tolerance."""
    early, late = "early_stop does not follow from violation and tol", ""
    for violation, tol, distance, stated, text in (
        (0.001, 0.001, 1.3, True, late), (0.001, 0.001, 1.3, False, early), (0.0011, 0.001, 1.3, True, early),
        (0.0, 0.001, 1.3, True, early), (0.0, 0.001, 1.3, False, late), (5e-324, 0.001, 1.3, True, late),
        (0.001, 0.001, 0.0, True, early), (0.001, 0.001, 0.0, False, late), (-0.1, 0.001, 1.3, True, early),
        (0.001, 0.001, 5e-324, True, late),
    ):  # fmt: skip
        e = changed(violation=violation, tol=tol, distance=distance, early_stop=stated)
        assert exact._full_fault(case_of(e)) == text


def test_a_point_that_did_not_move():
    e = changed(status="already_target", message=exact.SENTENCES["already_target"], distance=0.0)
    for point, distance, holds in (
        ((-1.0, 0.0), 0.0, True), ((-1.0, -0.0), 0.0, False), ((-1.0, 0.0), 5e-324, False),
        ((math.nextafter(-1.0, 0.0), 0.0), 0.0, False),
    ):  # fmt: skip
        e |= {"counterfactual": values(*point), "distance": distance}
        assert (exact._full_fault(case_of(e)) == "") == holds


def test_an_optimum_has_the_gap_that_was_asked_for():
    """Or a distance that is close to the bound, for what is nearly zero."""
    for gap, distance, bound, close in (
        (0.1, 1.3, 1.0, True), (math.nextafter(0.1, 1.0), 1.3, 1.0, False), (0.5, 2e-6, 1e-6, True),
        (0.5, 2.1e-6, 1e-6, False), (0.5, 1e-6, 0.0, True), (0.0, 1.3, 1.3, True),
    ):  # fmt: skip
        e = changed(gap=gap, distance=distance, lower_bound=bound)
        assert (exact._unproved_optimum(case_of(e)) == "") == close
    assert exact._unproved_optimum(case_of(changed(coverage=0.5))) == "the budget is not covered"
    assert exact._unproved_optimum(case_of(changed(coverage=1.5))) == "the budget is not covered"
    for method, found in (("qcqp", NOT_PROVED), ("milp", NOT_PROVED), ("certified", FAILS)):
        assert verdict(changed(method=method, gap=0.5, lower_bound=0.65), "status") == found
        assert verdict(changed(method=method), "status") == HOLDS
        assert verdict(changed(method=method, message="x"), "status") == FAILS


def test_probabilities():
    for key, true in (("factual_probability", chance(-2.0)), ("probability", chance(0.6))):
        for step, holds in ((0.9e-9, True), (-0.9e-9, True), (1.1e-9, False), (-1.1e-9, False)):
            assert (verdict(changed(**{key: true + step}), "probabilities") == HOLDS) == holds
        assert verdict(changed(**{key: None}), "probabilities") == FAILS
    for decision, holds in ((1, True), (0, False), (True, False), (None, False), (2, False)):
        assert (verdict(changed(decision=decision), "probabilities") == HOLDS) == holds
    e = without_point(changed(factual_probability=0.2))
    assert verdict(e, "probabilities") == FAILS


def test_decisions_that_are_close():
    """Where two classes differ by less than rounding, either may be named."""
    for x, decision, holds in (
        (0.0, 0, True),
        (0.0, 1, True),
        (1.4e-9, 0, True),
        (1.6e-9, 0, False),
        (1.6e-9, 1, True),
    ):
        e = changed(counterfactual=values(x, 0.0), decision=decision, probability=chance(2 * x))
        assert (exact.probabilities_claim(case_of(e)).verdict == HOLDS) == holds, (x, decision)


def test_the_distance():
    for step, holds in ((1.2e-9, True), (-1.2e-9, True), (1.4e-9, False), (-1.4e-9, False)):
        assert (exact.distance_claim(case_of(changed(distance=1.3 + step))).verdict == HOLDS) == holds
    for norm, length in ((1, 1.8), ("inf", 1.3), (2, math.hypot(1.3, 0.5))):
        e = changed(counterfactual=values(0.3, 0.5), distance=length, norm=norm)
        e["question"]["distance"]["norm"] = norm
        assert exact.distance_claim(case_of(e)).verdict == HOLDS


@pytest.mark.parametrize(
    ("given", "out"),
    [
        (domain(low=(0.3, 0.0), high=(0.3, 0.0)), ""),
        (domain(low=(math.nextafter(0.3, 1.0), "-inf")), "outside: a"),
        (domain(high=("inf", -5e-324)), "outside: b"),
        (domain(high=(math.nextafter(0.3, 0.0), "inf")), "outside: a"),
        (domain(low=("-inf", 5e-324)), "outside: b"),
        (domain(rows=[row(0.3, 1.0)]), ""),
        (domain(rows=[row(0.0, 0.3)]), ""),
        (domain(rows=[row(math.nextafter(0.3, 1.0), 1.0)]), "outside: r"),
        (domain(rows=[row(0.0, math.nextafter(0.3, 0.0))]), "outside: r"),
        (domain(rows=[row(0.3 + 2e-10, 0.3 + 2e-10)]), ""),
        (domain(rows=[row(0.3 - 2e-10, 0.3 - 2e-10)]), ""),
        (domain(rows=[row(0.3 + 4e-10, 0.3 + 4e-10)]), "outside: r"),
        (domain(rows=[row(0.3 - 4e-10, 0.3 - 4e-10)]), "outside: r"),
        (domain(rows=[row(0.0, 0.0, (0.0, 1.0))]), ""),
        (domain(rows=[row(5e-324, 5e-324, (0.0, 1.0))]), "outside: r"),
        (domain(rows=[row(-1.0, 0.0, (0.0, 0.0))]), ""),
        (domain(rows=[row(0.1, 1.0, (0.0, 0.0))]), "outside: r"),
        (domain(sets=[{"feature": 0, "values": [0.1, 0.3]}, {"feature": 1, "values": None}]), ""),
        (domain(sets=[{"feature": 0, "values": None}]), "outside: a"),
        (domain(sets=[{"feature": 0, "values": [0.2, 0.4]}]), "outside: a"),
        (domain(sets=[{"feature": 1, "values": [7.0]}]), ""),
    ],
)
def test_the_domain(given, out):
    found = exact.domain_claim(case_of(asked(domain=given)))
    assert (found.verdict, found.reason) == ((FAILS, out) if out else (HOLDS, "the counterfactual is inside"))


@pytest.mark.parametrize(
    ("x", "changes", "found"),
    [
        (0.0, {}, NOT_PROVED),  # neither met nor missed for certain
        (1e-30, {}, HOLDS),
        (-1e-30, {}, FAILS),
        (-1e-30, {"method": "qcqp"}, NOT_PROVED),
        (-1e-30, {"method": "qcqp", "tol": 0.0}, FAILS),
        (-1e-30, {"method": "qcqp", "tol": None}, FAILS),
        (-1e-30, {"method": "qcqp", "tol": -0.001}, FAILS),
        (-1e-30, {"method": "certified"}, FAILS),
        (-1e-30, {"method": "qcqp", "status": "time_limit"}, FAILS),
        (-0.00049, {"method": "milp"}, NOT_PROVED),
        (-0.00051, {"method": "milp"}, FAILS),
        (-0.0049, {"method": "milp", "tol": 0.01}, NOT_PROVED),
        (-0.0049, {"method": "milp", "tol": math.nextafter(0.01, 1.0)}, FAILS),
    ],
)
def test_validity(x, changes, found):
    e = changed(counterfactual=values(x, 0.0), **changes)
    assert exact.validity_claim(case_of(e)).verdict == found


def test_the_least_requirement_counts():
    e = asked(requirements=[odds(), density(floor=-1.0), odds(threshold=0.25)])
    found = exact.validity_claim(case_of(e))
    assert found.verdict == FAILS
    assert found.reason == "the least requirement is met by -1.08288"


def test_lower_bounds():
    assert claims(answer())["lower bound"].reason == "claimed 1.2, proven 1.2"
    for bound, found in (
        (1.2, HOLDS),
        (math.nextafter(1.2, 2.0), NOT_PROVED),
        (1.1, HOLDS),
        (0.0, HOLDS),
        (-1.0, HOLDS),
    ):
        assert verdict(changed(lower_bound=bound), "lower bound") == found
    assert claims(changed(lower_bound=0.0))["lower bound"].reason == "zero needs no proof"
    assert claims(changed(lower_bound=-1.0))["lower bound"].reason == "zero needs no proof"
    assert verdict(changed(lower_bound=None), "lower bound") == FAILS
    e = answer()
    e["certificate"]["bound"] = None
    assert claims(e)["lower bound"].reason == "claimed 1.2; no certificate comes with it"
    assert verdict(e | {"lower_bound": 0.0}, "lower bound") == HOLDS
    assert verdict(e | {"lower_bound": 5e-324}, "lower bound") == NOT_PROVED


def exceeds(level, norm=2, low=(-1.5, -2.0), high=(2.0, 0.5), metric=ONE):
    e = asked(domain=domain(low=low, high=high))
    e["question"]["distance"]["norm"] = e["norm"] = norm
    e["certificate"]["metric"] = metric
    return exact._exceeds_domain(case_of(e), level)


def test_how_far_the_domain_reaches():
    """From (-1, 0) to the corner (2, -2): 3 and 2."""
    for norm, reach in ((1, 5.0), ("inf", 3.0), (2, math.sqrt(13))):
        assert exceeds(math.nextafter(reach, 9.0), norm)
        assert not exceeds(math.nextafter(reach, 0.0), norm)
    assert exceeds(5.0, 1)
    assert exceeds(3.0, "inf")
    for low, high in (((-4.0, -2.0), (-1.0, 0.5)), ((-1.0, -0.5), (2.0, 2.0)), ((-4.0, -2.0), (2.0, 0.0))):
        assert exceeds(5.0, 1, low, high)
        assert not exceeds(math.nextafter(5.0, 0.0), 1, low, high)
    assert exceeds(INF, high=("inf", "inf"))
    assert not exceeds(1e300, high=("inf", 1.0))
    assert not exceeds(1e300, low=("-inf", 1.0))
    assert not exceeds(1e300, metric=None)
    assert exceeds(INF, metric=None)
    turned = [[1.0, -1.0], [0.0, 1.0]]  # the signs of a metric do not help
    assert exceeds(7.0, 1, metric=turned)
    assert not exceeds(6.9, 1, metric=turned)


@pytest.mark.parametrize(
    ("distance", "bound", "gap", "found"),
    [
        (1.3, 1.2, 1 - 1.2 / 1.3, HOLDS), (1.3, 1.2, 1 - 1.2 / 1.3 + 0.9e-9, HOLDS),
        (1.3, 1.2, 1 - 1.2 / 1.3 + 1.1e-9, FAILS), (1.3, 1.2, 1 - 1.2 / 1.3 - 1.1e-9, FAILS),
        ("inf", 1.2, "inf", HOLDS), ("inf", 1.2, 1.0, FAILS), ("inf", "inf", "inf", HOLDS),
        (0.0, 0.0, 0.0, HOLDS),
        (0.0, 0.0, 1.0, FAILS), (0.0, 1.0, 0.0, HOLDS), (1.0, 1.0, 0.0, HOLDS), (1.0, 1 + 0.5e-9, 0.0, HOLDS),
        (1e9, 1e9 + 1, -1e-9, HOLDS), (1.0, 1 + 2e-9, -2e-9, FAILS), (1.0, 2.0, -1.0, FAILS),
        (-1.0, 0.0, 1.0, FAILS), (None, 1.0, 0.0, FAILS),
        (1.0, None, 0.0, FAILS), (1.0, "inf", "-inf", FAILS), (1.0, "-inf", "inf", FAILS),
        ("-inf", 0.0, 1.0, FAILS),
    ],
)  # fmt: skip
def test_gaps(distance, bound, gap, found):
    e = changed(distance=distance, lower_bound=bound, gap=gap)
    assert exact.gap_claim(case_of(e)).verdict == found


def test_decisions_at_the_very_edge(monkeypatch):
    unit = 2 << exact.PLACES
    for scores, holds in (
        ((-(10**9), 1 - 10**9), True), ((-(10**9), Fraction(1001, 1000) - 10**9), False),
        ((0, Fraction(9, 10**10)), True), ((0, Fraction(11, 10**10)), False),
        ((0, Fraction(19, 10**10)), False),
        ((-1, Fraction(11, 10**10) - 1), False), ((1, 0), True),
    ):  # fmt: skip
        whole = [int(score * unit) for score in scores]
        found = [Enclosure(score, score) for score in whole]
        monkeypatch.setattr(exact.Model, "twice_scores", lambda *_, found=found: found)
        e = changed(decision=0)
        e["probability"] = e["factual_probability"] = chance(float(scores[1] - scores[0]))
        assert (exact.probabilities_claim(case_of(e)).verdict == HOLDS) == holds, scores


@pytest.mark.parametrize(
    ("low", "high", "changes", "found"),
    [
        (0, 5, {}, HOLDS), (1, 5, {}, HOLDS), (-1, 5, {}, NOT_PROVED), (-1, 0, {}, NOT_PROVED),
        (-2, -1, {}, FAILS),
        (-(1 << 120), -1, {"method": "qcqp", "tol": 2.0**-9}, NOT_PROVED),
        (-(1 << 120), -1, {"method": "qcqp", "tol": 2.0**-10}, FAILS),
        (-(1 << 119), -1, {"method": "qcqp", "tol": 2.0**-10}, NOT_PROVED),
        (-(1 << 119) - 1, -1, {"method": "qcqp", "tol": 2.0**-10}, FAILS),
    ],
)  # fmt: skip
def test_validity_at_the_very_edge(low, high, changes, found, monkeypatch):
    """Margins between low and high in units of 2^-128, twice; a tolerance covers them to the last."""
    monkeypatch.setattr(exact.Case, "twice_margin", lambda *_: Enclosure(low, high))
    assert exact.validity_claim(case_of(changed(**changes))).verdict == found
