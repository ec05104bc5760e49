"""Claims about the radius, the coverage and the worst case, on a file in the head."""

import math

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED
from tests.proof.two_numbers import (
    INF,
    answer,
    asked,
    case_of,
    chance,
    changed,
    claims,
    content,
    density,
    leaf,
    odds,
    proof,
    values,
    verdict,
    without_point,
)


@pytest.mark.parametrize(
    ("radius", "coverage", "found"),
    [
        (0.25, 1.0, HOLDS), (0.125, 0.5, HOLDS), (0.125, 0.5 + 0.9e-12, HOLDS), (0.125, 0.5 - 0.9e-12, HOLDS),
        (0.125, 0.5 + 1.1e-12, FAILS), (0.125, 0.5 - 1.1e-12, FAILS), (math.nextafter(0.25, 0.0), 1.0, FAILS),
        (math.nextafter(0.25, 0.0), math.nextafter(1.0, 0.0), HOLDS), (0.25, math.nextafter(1.0, 0.0), FAILS),
        (0.25, math.nextafter(1.0, 2.0), HOLDS), (0.0, 0.0, HOLDS), (-5e-324, 0.0, FAILS), (None, 0.0, FAILS),
        (0.25, None, FAILS), (0.25, "inf", FAILS), (math.nextafter(0.25, 1.0), 1.0, NOT_PROVED),
        ("inf", 1.0, NOT_PROVED),
    ],
)  # fmt: skip
def test_radius_and_coverage(radius, coverage, found):
    assert verdict(changed(certified_radius=radius, coverage=coverage), "robustness") == found


def test_why_a_radius_is_not_proved():
    far = claims(changed(certified_radius="inf", coverage=1.0))["robustness"]
    assert far == ("robustness", NOT_PROVED, "claimed inf; proven 0.25 only")
    e = answer()
    e["certificate"]["robustness"] = None
    assert "only" not in claims(e)["robustness"].reason


def test_a_radius_of_zero_needs_no_proof():
    e = changed(certified_radius=0.0, coverage=0.0)
    e["certificate"]["robustness"] = None
    assert claims(e)["robustness"] == ("robustness", HOLDS, "a radius of zero claims nothing beyond validity")
    e["certified_radius"], e["coverage"] = 5e-324, 0.0
    assert verdict(e, "robustness") == NOT_PROVED


@pytest.mark.parametrize(
    ("radius", "slack", "level", "found"),
    [
        (0.25, 0.09375, 0.25, HOLDS), (0.25, 0.0, 0.25, HOLDS), (0.25, 0.09375, 0.24, NOT_PROVED),
        (0.25, 0.11, 0.25, NOT_PROVED), (0.26, 0.07, 0.26, HOLDS), (0.24, 0.09375, 0.25, NOT_PROVED),
        (-0.25, 0.09375, 0.25, NOT_PROVED), (0.25, -5e-324, 0.25, NOT_PROVED),
        (0.25, 0.09375, 0.27, NOT_PROVED),
    ],
)  # fmt: skip
def test_proofs_of_robustness(radius, slack, level, found):
    """With the slack s the weights prove 1/16 w + 1/w + s < 0.6, for w = 4: s < 0.1."""
    e = answer()
    held = e["certificate"]["robustness"]
    held |= {"radius": radius, "slack": slack}
    held["proofs"][0]["tree"]["level"] = level
    assert verdict(e, "robustness") == found


def worst_case(proven=(0.25, 0.09375, ""), worst=(-0.25, 0.0), **changes):
    e = changed(**changes)
    e["certificate"]["worst"] = list(worst)
    case = case_of(e)
    case.__dict__["proven"] = proven
    return exact.worst_case_claim(case)


def test_the_worst_case_needs_slack_radius_and_proof():
    """The odds are 0.6 at the point and 0.1 at the worst: 2 % of the 0.5 between are 0.01."""
    assert worst_case().verdict == HOLDS
    least = -answer()["violation"] - 0.01
    for slack, found in ((least + 1e-9, HOLDS), (least - 1e-9, NOT_PROVED), (0.0, NOT_PROVED), (0.1, HOLDS)):
        assert worst_case((0.25, slack, "")).verdict == found
    assert worst_case((math.nextafter(0.25, 0.0), 0.1, "")).verdict == NOT_PROVED
    assert worst_case((INF, 0.1, "")).verdict == HOLDS
    assert worst_case((0.25, 0.1, "why")).verdict == NOT_PROVED
    assert "nothing is worse by more than 0.01 in log-odds" in worst_case().reason
    less = worst_case((0.0, 0.0, "why"), certified_radius=math.nextafter(0.25, 0.0))
    assert (less.verdict, less.reason.split("; ")[1]) == (
        HOLDS,
        "worse ones are not excluded, and the file does not say so",
    )


def test_far_from_the_edge_the_worst_case_has_more_room():
    """At (1.3, 0) the odds are 2.6; the ball of radius 1 takes 2 of them, 2 % of which are 0.04."""

    def at(slack, x=1.3, budget=1.0):
        e = changed(counterfactual=values(x, 0.0), certified_radius=budget, budget=budget)
        e |= {"worst_probability": chance(2 * (x - budget)), "violation": -2 * (x - budget)}
        e["question"]["ball"]["budget"] = budget
        e["certificate"]["worst"] = [-budget, 0.0]
        case = case_of(e)
        case.__dict__["proven"] = (budget, slack, "")
        return exact.worst_case_claim(case)

    assert at(0.561).verdict == HOLDS
    assert at(0.559).verdict == NOT_PROVED
    assert "by more than 0.04 in" in at(0.6).reason


def test_a_worst_case_that_undoes_the_decision():
    """Where the odds are just zero, the decision is undone."""
    e = changed(counterfactual=values(0.25, 0.0), worst_probability=0.5, violation=0.0)
    case = case_of(e)
    case.__dict__["proven"] = (0.0, 0.0, "why")
    found = exact.worst_case_claim(case)
    assert (found.verdict, found.reason) == (
        HOLDS,
        "P(target) is 0.5 there, which undoes the decision; others may be worse",
    )


def test_the_worst_case_is_computed_again():
    for key in ("worst_probability", "violation"):
        true = answer()[key]
        for step, holds in ((0.9e-9, True), (-0.9e-9, True), (1.1e-9, False), (-1.1e-9, False)):
            assert (worst_case(**{key: true + step}).verdict == HOLDS) == holds
    for worst in ((-0.25 - 1e-9, 0.0), (-0.2, 0.2), (-0.25, 1e-4)):
        assert worst_case(worst=worst).reason == "the perturbation lies outside the ball"
    assert worst_case(worst=(-0.25 - 2e-10, 0.0)).verdict == HOLDS  # rounding


def test_a_worst_case_that_is_missing():
    def without(**changes):
        e = changed(**changes)
        e["certificate"]["worst"] = None
        return exact.worst_case_claim(case_of(e))

    assert without(worst_probability=None, violation="inf") is None
    for changes in ({"worst_probability": None}, {"violation": "inf"}, {}):
        assert without(**changes) == ("worst case", FAILS, "no perturbation comes with it")


def test_nothing_is_perturbed():
    e = changed(budget=0.0, certified_radius=0.0, worst_probability=chance(0.6), violation=-0.6)
    e["question"]["ball"]["budget"] = 0.0
    e["certificate"] |= {"worst": [0.0, 0.0], "robustness": None}
    found = claims(e)
    assert found["worst case"].reason == "P(target) is 0.645656 there; nothing is perturbed"
    assert found["worst case"].verdict == found["robustness"].verdict == HOLDS


def test_what_a_perturbation_must_reach_to_violate():
    """Odds have to fall below the slack; a density below its floor, whatever the slack."""
    case = case_of(asked(requirements=[odds(), density(robust=True)]))
    for entry, room in zip(case.question.requirements, (0.25, 0.0), strict=True):
        breach = case.breach(entry, 0.25)
        assert breach.twice_constant == exact.twice(room).minus(case.twice_constant(entry, ())).high
        assert [sign for sign, _ in breach.parts] == ([1, -1] if entry.kind == "odds" else [1])
        need = case.requirement(entry, ())
        assert need.twice_constant == case.twice_constant(entry, ()).high
        assert [sign for sign, _ in need.parts] == ([-1, 1] if entry.kind == "odds" else [-1])
        assert need.parts[0][1] is breach.parts[0][1] is case.model.networks[1]


def test_robustness_needs_a_point():
    with pytest.raises(exact.FaultError, match="there is no counterfactual"):
        exact.robustness_settings(case_of(without_point(answer())), 0.25, 0.0)


def test_a_proof_of_nothing_proves_the_radius_zero():
    e = answer()
    e["certificate"]["robustness"] |= {"radius": 0.0, "slack": 0.0}
    assert exact.proven_robustness(case_of(e)) == (0.0, 0.0)
    e["certificate"]["robustness"]["radius"] = -5e-324
    with pytest.raises(exact.FaultError, match="negative"):
        exact.proven_robustness(case_of(e))


def test_a_coverage_that_is_off_by_just_so_much():
    """One in 10^12 is allowed, and no more."""
    for budget, holds in ((1e12, True), (1e12 - 1, False)):
        e = changed(budget=budget, certified_radius=1.0, coverage=0.0)
        e["question"]["ball"]["budget"] = budget
        assert (exact.robustness_claim(case_of(e)).verdict != FAILS) == holds


def test_a_perturbation_beyond_all_numbers():
    e = changed(counterfactual=values(1.7e308, 0.0), budget=1.5e308)
    e["question"]["ball"]["budget"] = 1.5e308
    e["certificate"]["worst"] = [1e308, 0.0]
    assert exact.worst_case_claim(case_of(e)).reason == "the perturbation lies outside the ball"


def small_ball(slack, requirements=None, budget=0.125):
    e = changed(budget=budget, certified_radius=budget)
    e["question"] |= {
        "ball": {"norm": 2, "budget": budget, "exact": []},
        "requirements": requirements or [odds()],
    }
    e |= {"violation": -2 * (0.3 - budget), "worst_probability": chance(2 * (0.3 - budget))}
    e["certificate"]["worst"] = [-budget, 0.0]
    case = case_of(e)
    case.__dict__["proven"] = (budget, slack, "")
    return exact.worst_case_claim(case).verdict


def test_the_room_of_the_worst_case():
    least = 2 * (0.3 - 0.125) - 0.01
    assert small_ball(least) == HOLDS
    assert small_ball(math.nextafter(least, 0.0)) == NOT_PROVED
    several = [odds(), odds(threshold=0.25)]  # the least of them at the point says what the ball takes
    assert small_ball(2 * (0.3 - 0.25) - 0.011, several, 0.25) == NOT_PROVED
    assert small_ball(2 * (0.3 - 0.25) - 0.009, several, 0.25) == HOLDS


def test_a_wrong_violation_is_named():
    assert worst_case(violation=-0.2).reason == "the violation is another one (-0.1)"
    assert worst_case(worst_probability=0.2).reason == "the worst_probability is 0.524979187 (-0.1)"


def test_the_worst_case_knows_the_temperature_of_its_model():
    """A model that measures odds in sixteenths: a slack of 0.9 leaves it 0.056, and not 0.375.

    From (3, 0) the ball of radius 2.5 takes the odds from 6 to 1. No error at all is sold as the worst.
    A second model that measures them as they are has no part in it.
    """
    hot = content(calibration={"temperature": 16.0, "shifts": [0.0, 0.0]})
    e = answer(hot) | {"status": "time_limit", "message": exact.SENTENCES["time_limit"], "distance": 4.0}
    e |= {"lower_bound": 0.0, "gap": 1.0, "budget": 2.5, "certified_radius": 2.5}
    e |= {"counterfactual": values(3.0, 0.0), "z_score": values(2.0, 0.0), "probability": chance(0.375)}
    e["density_percentile"] = 99 - math.log(2 * math.pi)
    e["factual_probability"] = chance(-0.125)
    e["question"]["models"].append(exact.read_model(content()).fingerprint)
    e["question"]["requirements"] = [odds(), odds(model=1)]
    e["question"]["ball"]["budget"] = 2.5
    proofs = [proof(leaf(2.5, [0.4], [[1.0, 0, -1]]))] * 2
    e["certificate"] |= {"bound": None, "robustness": {"radius": 2.5, "slack": 0.9, "proofs": proofs}}

    def verdicts(d):
        e["certificate"]["worst"] = [-d, 0.0]
        e["violation"], e["worst_probability"] = (d - 3) / 8, chance((3 - d) / 8)
        return {claim.name: claim.verdict for claim in exact.check([hot, content()], e)}

    assert set(verdicts(2.5).values()) == {exact.HOLDS}
    assert {name for name, found in verdicts(0.0).items() if found != exact.HOLDS} == {"worst case"}
