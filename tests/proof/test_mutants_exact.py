"""Small faults of the exact checker that no other test would notice; benchmarks/mutants.py puts them in.

Most of it is about one file that can be checked in the head: two features, two classes with the means
(-1, 0) and (1, 0) and variances of one. The log-odds are 2 x_0, and the whitening is the identity.
"""

import copy
import decimal
import io
import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, Dyadic, Enclosure, UnreadableError
from tests.proof.handmade import majorant

INF = math.inf
ONE = [[1.0, 0.0], [0.0, 1.0]]


# ----- the file ---------------------------------------------------------------------------------------------


def network(*means, variances=(1.0, 1.0), weight=0.0):
    return {"weights": [[0.0, 0.0], [weight, 0.0]], "means": list(means), "variances": list(variances)}


def content(**changes):
    found = {
        "features": {"labels": ["a", "b"]},
        "classes": {"labels": [0, 1]},
        "class_prior": [0.5, 0.5],
        "parents": [[], [0]],
        "networks": [network(-1.0, 0.0), network(1.0, 0.0)],
        "feature_range": [[-4.0, -4.0], [4.0, 4.0]],
        "density_percentiles": [[k - 101.0 for k in range(101)]] * 2,
    }
    return copy.deepcopy(found | changes)


def values(*numbers):
    return {"names": ["a", "b"], "values": list(numbers)}


def chance(odds):
    return 1 / (1 + math.exp(-odds))


def odds(**changes):
    return {"kind": "odds", "model": 0, "target": 1, "rival": 0, "threshold": 0.5, "robust": True} | changes


def density(**changes):
    return {"kind": "density", "model": 0, "class": 1, "floor": -9.0, "robust": False} | changes


def leaf(level, norm, requirements):
    return {"level": level, "norm": norm, "cross": [], "products": [], "requirements": requirements,
            "between": []}  # fmt: skip


def proof(tree, scenarios=()):
    return {"directions": [], "scenarios": [list(d) for d in scenarios], "tree": tree}


def answer(model=None):
    """From (-1, 0) to (0.3, 0): 1.3 away, robust within 0.25, and nothing nearer than 1.2 is."""
    fingerprint = exact.read_model(model or content()).fingerprint
    there = 0.3 - 0.25
    percentile = 101 - math.log(2 * math.pi) - (0.3 - 1) ** 2 / 2
    question = {
        "format": "surefoot-question", "version": 3, "models": [fingerprint], "features": ["a", "b"],
        "factual": [-1.0, 0.0], "factual_class": 0, "target": 1,
        "distance": {"kind": "mahalanobis", "whitening": "cholesky", "norm": 2, "prices": None},
        "ball": {"norm": 2, "budget": 0.25, "exact": []}, "requirements": [odds()],
        "domain": domain(["-inf"] * 2, ["inf"] * 2),
        "choices": [], "warps": None, "gap": 0.1,
    }  # fmt: skip
    certificate = {
        "format": "surefoot-certificate", "version": 3, "metric": ONE, "ball": None, "states": None,
        "bound": proof(leaf(1.2, [0.8], [[1.0, 0, 0]]), [[-0.25, 0.0]]),
        "robustness": {
            "radius": 0.25, "slack": 0.09375, "proofs": [proof(leaf(0.25, [4.0], [[1.0, 0, -1]]))],
        },
        "worst": [-0.25, 0.0],
    }  # fmt: skip
    found = {
        "format": "surefoot-explanation", "version": 4, "question": question, "certificate": certificate,
        "status": "optimal", "message": exact.SENTENCES["optimal"], "factual": values(-1.0, 0.0),
        "counterfactual": values(0.3, 0.0), "factual_class": 0, "target": 1, "decision": 1,
        "factual_probability": chance(-2.0), "probability": chance(0.6),
        "worst_probability": chance(2 * there), "distance": 1.3, "lower_bound": 1.2, "gap": 1 - 1.2 / 1.3,
        "budget": 0.25, "norm": 2, "whitening": "cholesky", "threshold": 0.5, "certified_radius": 0.25,
        "coverage": 1.0, "violation": -2 * there, "early_stop": False, "tol": 0.001, "unit": values(1.0, 1.0),
        "parents": [[], [0]], "expected_before": values(-1.0, 0.0), "expected_after": values(1.0, 0.0),
        "z_score": values(0.3 - 1, 0.0), "density_percentile": percentile, "model": fingerprint,
        "method": "certified", "backend": "", "seconds": 0.1, "iterations": [], "row": None, "advice": "",
        "conflict": [], "cautions": [], "model_share": None,
    }  # fmt: skip
    return copy.deepcopy(found)


def without_point(e, status="undecided"):
    """The file of an answer that found nothing."""
    e |= {"status": status, "message": exact.SENTENCES[status]}
    e |= dict.fromkeys(("counterfactual", "decision", "expected_after", "z_score", "probability",
                        "worst_probability", "density_percentile"))  # fmt: skip
    e |= {"distance": "inf", "violation": "inf", "gap": "inf", "coverage": 0.0, "certified_radius": 0.0}
    e["certificate"] |= {"robustness": None, "worst": None}
    return e


def claims(e, *models):
    """What the checker says, by name."""
    return {claim.name: claim for claim in exact.check(list(models) or [content()], e)}


def verdict(e, name, *models):
    return claims(e, *models)[name].verdict


def case_of(e=None, model=None):
    return exact.read_case([model or content()], e or answer())


def changed(**changes):
    return answer() | changes


def asked(**changes):
    e = answer()
    e["question"] |= changes
    return e


def test_the_file_holds():
    assert {claim.verdict for claim in claims(answer()).values()} == {HOLDS}
    assert len(claims(answer())) == 13
    assert {claim.verdict for claim in claims(without_point(changed(lower_bound=0.0))).values()} == {HOLDS}


# ----- text and numbers -------------------------------------------------------------------------------------


def test_values_are_shown_shortly():
    for value, text in (
        (10**40, str(10**40)), (-(10**40), str(-(10**40))), (10**40 + 1, "a huge number"),
        (-(10**40) - 1, "a huge number"), (True, "True"), ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 77 + "..."), ("a\nb", "'a\\nb'"), ("ä", "ä"), (0.5, "0.5"), (None, "None"),
        ([10**5000], "something too large to show"), ("", ""),
    ):  # fmt: skip
        assert exact.shown(value) == text


def test_whole_numbers_that_a_double_holds():
    for value in (2**53, -(2**53), 0, 1.5):
        assert exact._number(value, "x") == value
    for value in (2**53 + 1, -(2**53) - 1, True, False, INF, -INF, math.nan, "1", None, [1.0]):
        with pytest.raises(UnreadableError, match="x is not a finite number"):
            exact._number(value, "x")
    assert exact._wide("inf", "x") == INF
    assert exact._wide("-inf", "x") == -INF
    assert exact._index(0, "x", 2) == 0
    assert exact._index(1, "x", 2) == 1
    for value in (2, -1):
        with pytest.raises(UnreadableError, match="no number"):
            exact._index(value, "x", 2)


def test_sums_of_dyadic_numbers():
    one, other = Dyadic([3, -1], 1), Dyadic([1, 5], 3)
    assert one.plus(other) == Dyadic([13, 1], 3)
    assert one.plus(other, -1) == Dyadic([11, -9], 3)
    assert other.plus(one, -1) == Dyadic([-11, 9], 3)
    assert exact.dyadic([0.75, -2.0]) == Dyadic([3, -8], 2)
    assert exact.dyadic([]) == Dyadic([], 0)
    assert exact.dyadic([3.0]) == Dyadic([3], 0)
    assert exact.grid([[1.0, 0.5], [0.0, 2.0]]).times(Dyadic([1, 1], 2)) == Dyadic([3, 4], 3)
    for p in (1.0, INF):
        assert exact.p_norm(Dyadic([], 0), p) == 0
    root = exact.p_norm(Dyadic([1, 1], 3), 2.0) * 8
    assert root**2 < 2 < (root + Fraction(1, 2**99)) ** 2


def test_numbers_agree_to_the_last_digit():
    billionth = Fraction(1, 10**9)
    for stated, value in ((0.0, 0), (0.5, Fraction(1, 2)), (1.0, 1), (-4.0, -4), (64.0, 64)):
        room = billionth * max(1, abs(Fraction(stated)))
        for sign in (1, -1):
            edge = Fraction(stated) + sign * room * (1 if abs(value) <= 1 else Fraction(999, 1000))
            assert exact.agree(stated, edge)
            assert not exact.agree(stated, Fraction(stated) + sign * room * Fraction(1002, 1000))
    assert exact.agree(0.0, billionth, 1)
    assert not exact.agree(0.0, billionth * Fraction(1001, 1000), 1)
    assert exact.agree(0.0, billionth * 5, 5)
    assert not exact.agree(0.0, billionth, Fraction(1, 2))
    assert exact.agree(0.0, billionth * 3, 1, 2 * billionth)
    assert not exact.agree(0.0, billionth * 3, 1, billionth)
    for wrong in (math.nan, INF, -INF):
        assert not exact.agree(wrong, Fraction(0))
    assert exact.near(Fraction(10) ** 400) == INF
    assert exact.near(-(Fraction(10) ** 400)) == -INF
    assert exact.near(Fraction(1, 2)) == 0.5


def test_enclosures():
    one, other = Enclosure(3, 5), Enclosure(-2, 7)
    assert one.plus(other) == Enclosure(1, 12)
    assert one.minus(other) == Enclosure(-4, 7)
    assert one.half() == Fraction(2, 1 << exact.PLACES)
    unit = 1 << exact.PLACES
    assert exact.twice(0.75) == Enclosure(3 * unit // 2, 3 * unit // 2)
    assert exact.twice(-0.75) == Enclosure(-3 * unit // 2, -3 * unit // 2)
    assert exact.twice(5e-324) == Enclosure(0, 1)
    assert exact.twice(-5e-324) == Enclosure(-1, 0)
    assert exact.enclosed(decimal.Decimal("0.5"), 3) == Enclosure(3 * unit // 2 - 1, 3 * unit // 2 + 1)
    assert exact.enclosed_log(1, 1, 2) == Enclosure(-1, 1)
    assert exact.enclosed_log(7, 7) == Enclosure(-1, 1)
    ln2 = Fraction("0.693147180559945309417232121458176568075500134360255254120680")
    for above, below, times in ((2, 1, 1), (1, 2, 1), (4, 1, 2), (2, 1, -3)):
        found = exact.enclosed_log(above, below, times)
        value = times * {(2, 1): 1, (1, 2): -1, (4, 1): 2}[above, below] * ln2 * unit
        assert found.low < value < found.high
        assert found.high - found.low == 2


def test_densities_are_enclosed_tightly():
    """Variances of one: twice the log density is -2 log(2 pi) - |x - mean|^2."""
    net = exact.Network([[0.0, 0.0], [0.5, 0.0]], [1.0, 2.0], [0.5, 3.0])
    two_pi = exact.enclosed(exact.LOG_TWO_PI, -2)
    peak = two_pi.plus(exact.enclosed_log(3, 2, -1))
    assert net.twice_log_peak == peak
    assert net.volume == (3, 2)
    found = net.twice_log_density(exact.dyadic([2.0, 3.5]))  # deviations 1 and 1.5 - 0.5 = 1
    third = (1 << exact.PLACES) // 3
    assert found == peak.minus(
        Enclosure(2 * (1 << exact.PLACES) + third, 2 * (1 << exact.PLACES) + third + 2)
    )
    assert net.expected([2.0, 3.5]) == [1, Fraction(5, 2)]
    assert net.spreads([0, 1])[1] ** 2 == pytest.approx(3 + 0.25 * 0.5, rel=1e-15)


@pytest.mark.parametrize(
    "variances", [(1.0, 1.0), (1e300, 1e-300), (5e-324, 3.0), (1e-200, 1e-200), (7.0, 1e200)]
)
def test_one_over_a_variance_has_many_digits(variances):
    net = exact.Network([[0.0, 0.0], [0.0, 0.0]], [0.0, 0.0], list(variances))
    inverse = net.inverse
    assert inverse.shift >= 0
    for whole, variance in zip(inverse.whole, variances, strict=True):
        assert whole <= 2**inverse.shift / Fraction(variance) < whole + 1
        assert whole.bit_length() >= exact.SHARP
    assert min(whole.bit_length() for whole in inverse.whole) <= exact.SHARP + 1 or inverse.shift == 0


def test_squares_are_rounded_by_one():
    net = exact.Network([[0.0, 0.0], [0.5, 0.0]], [0.0, 0.0], [3.0, 5.0])
    up, down = net.squares(True), net.squares(False)
    scale = 2**net.squares_shift
    exactly = [[Fraction(1, 3) + Fraction(1, 20)], [Fraction(-1, 10), Fraction(1, 5)]]
    for i in range(2):
        assert down[i][i] < exactly[i][i] * scale < up[i][i]
        assert up[i][i] - down[i][i] <= 5
    assert net.squares(True) is up


def test_the_order_of_features():
    assert exact.topological([[2], [], [], [0, 1]]) == [1, 2, 0, 3]
    assert exact.topological([[], [], []]) == [0, 1, 2]
    assert exact.topological([[1], [2], []]) == [2, 1, 0]
    assert exact.topological([[3], [3], [], []]) == [2, 3, 0, 1]
    for cycle in ([[1], [0]], [[0]], [[], [2], [1]]):
        with pytest.raises(UnreadableError, match="cycle"):
            exact.topological(cycle)


def test_a_model_has_a_class_or_has_not():
    model = exact.read_model(content())
    assert [model.position(label) for label in (0, 1, True, 1.0, "1", 2)] == [0, 1, -1, -1, -1, -1]
    text = exact.read_model(content(classes={"labels": ["no", "yes"]}))
    assert [text.position(label) for label in ("no", "yes", "maybe")] == [0, 1, -1]


def test_probabilities_far_out():
    model = exact.read_model(content())
    for x, odds_ in ((0.25, 0.5), (3.0, 6.0), (-3.0, -6.0), (0.0, 0.0)):
        assert float(model.probability([x, 7.0], (), 1)) == pytest.approx(chance(odds_), rel=1e-14)
        assert float(model.probability([x, 7.0], (), 0)) == pytest.approx(chance(-odds_), rel=1e-14)
    assert model.probability([1e6, 0.0], (), 1) == 1
    assert 0 < model.probability([1e6, 0.0], (), 0) < Fraction(1, 10**4000)
    assert 0 < model.probability([5000.0, 0.0], (), 0) < Fraction(1, 10**4000)


# ----- the model and the question ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"class_prior": [0.5, 0.0]}, {"class_prior": [-0.5, 0.5]}, {"feature_range": [[0.0, 0.0]]},
        {"density_percentiles": [[0.0] * 101]}, {"density_percentiles": [[0.0] * 100] * 2},
        {"density_percentiles": [[0.0] * 102] * 2}, {"parents": [[], [0, 0]]}, {"parents": [[]]},
        {"classes": {"labels": [0]}}, {"classes": {"labels": [0, 1, 2]}}, {"classes": {"labels": [0, 0]}},
        {"classes": {"labels": [0, None]}}, {"features": {"labels": ["a", 0.5]}},
        {"features": {"labels": ["a", "a"]}}, {"features": {"labels": ["a"]}}, {"features": ["a", "b"]},
        {"networks": [network(-1.0, 0.0)]}, {"networks": [network(-1.0, 0.0)] * 3},
        {"networks": [network(-1.0, 0.0), network(1.0, 0.0, variances=(1.0, 0.0))]},
        {"networks": [network(-1.0, 0.0), network(1.0, 0.0, variances=(-1.0, 1.0))]},
        {"parents": [[], []], "networks": [network(-1.0, 0.0), network(1.0, 0.0, weight=0.5)]},
    ],
)  # fmt: skip
def test_models_that_are_none(change):
    exact.read_model(content())
    with pytest.raises(UnreadableError):
        exact.read_model(content(**change))


def other_model():
    """Another classifier of the same features, with the classes 5 and 6."""
    return content(classes={"labels": [5, 6]}, networks=[network(-2.0, 0.0), network(1.0, 0.0)])


def test_the_models_of_a_question():
    second = other_model()
    name = exact.read_model(second).fingerprint
    e = answer()
    e["question"]["models"].append(name)
    assert {claim.verdict for claim in claims(e, content(), second).values()} == {HOLDS}
    assert claims(e, content(), second)["model"].reason == f"fingerprint {e['model']}, {name}"
    missing = claims(e, content())
    assert missing == {"model": ("model", FAILS, f"no file was given for model {name}")}
    assert (
        claims(e, second, content())["model"].reason
        == f"this is model {name}, the file is about {e['model']}"
    )
    saved = {"format": "surefoot-model", "version": 1, "sha256": exact._checksum(second), "model": second}
    assert verdict(e, "model", content(), saved) == HOLDS
    for wrong in ("0" * 64, None, 5):
        found = claims(e, content(), saved | {"sha256": wrong})
        assert found == {"model": ("model", FAILS, "a model was changed after it was saved")}
    assert claims(asked(models=[]))["model"].reason == "the question names no model"


@pytest.mark.parametrize(
    ("requirement", "text"),
    [
        (odds(model=2), "a requirement names a model that is not there"),
        (odds(model=-1), "a requirement names a model that is not there"),
        (odds(model=1), "a requirement names a class that its model does not have"),
        (odds(rival=5), "a requirement names a class that its model does not have"),
        (odds(target=5), "a requirement names a class that its model does not have"),
        (odds(model=1, target=6, rival=5, robust=False), ""),
        (odds(model=1, target=6, rival=0), "a requirement names a class that its model does not have"),
        (odds(rival=1), "a requirement of odds has one class only"),
        (odds(threshold=0.0), "a requirement of odds has a threshold outside of 0 to 1"),
        (odds(threshold=1.0), "a requirement of odds has a threshold outside of 0 to 1"),
        (odds(threshold=5e-324, robust=False), ""),
        (odds(threshold=math.nextafter(1.0, 0.0), robust=False), ""),
        (density(), ""),
        (density(floor=3.0), ""),
        (density(**{"class": 2}), "a requirement names a class that its model does not have"),
        (density(model=1, **{"class": 6}), ""),
        (density(model=1), "a requirement names a class that its model does not have"),
    ],
)  # fmt: skip
def test_requirements_fit_their_models(requirement, text):
    second = other_model()
    e = asked(requirements=[odds(), requirement])
    e["question"]["models"].append(exact.read_model(second).fingerprint)
    found = exact.check([content(), second], e)[1]
    assert found.name == "question"
    assert (found.verdict, found.reason) == ((FAILS, text) if text else (HOLDS, found.reason))


def test_a_second_model_has_the_same_features():
    for labels in (["a", "c"], ["b", "a"], ["a", "b"]):
        second = other_model() | {"features": {"labels": labels}}
        e = asked()
        e["question"]["models"].append(exact.read_model(second).fingerprint)
        assert (verdict(e, "question", content(), second) == HOLDS) == (labels == ["a", "b"])
    for key in ("factual_class", "target"):
        e = asked(**{key: 7})
        assert claims(e)["question"].reason == "the model has no such class"


def row(low, high, coefficients=(1.0, 0.0)):
    return {"coefficients": list(coefficients), "low": low, "high": high, "name": "r"}


def domain(low=("-inf", "-inf"), high=("inf", "inf"), rows=(), sets=()):
    named = {"rows": list(rows), "sets": list(sets), "eithers": [], "limits": [], "declared": {}}
    return {"low": list(low), "high": list(high), **named}


EXCEEDS, EXCLUDES = "a lower end exceeds its upper end", "an end excludes every number"
UNSORTED = "a set of values is empty or not sorted"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (domain(low=(-4.0, 0.0), high=(4.0, 0.0)), ""),
        (domain(low=("-inf", 5e-324), high=("inf", 0.0)), EXCEEDS),
        (domain(low=("inf", "-inf"), high=("inf", "inf")), EXCLUDES),
        (domain(low=("-inf", "-inf"), high=("inf", "-inf")), EXCLUDES),
        (domain(rows=[row(0.3, 0.3)]), ""),
        (domain(rows=[row(-1.0, 2.0), row(2.0, 1.0)]), EXCEEDS),
        (domain(rows=[row("inf", "inf")]), EXCLUDES),
        (domain(rows=[row("-inf", "-inf")]), EXCLUDES),
        (domain(sets=[{"feature": 0, "values": [0.3]}]), ""),
        (domain(sets=[{"feature": 1, "values": None}]), ""),
        (domain(sets=[{"feature": 0, "values": []}]), UNSORTED),
        (domain(sets=[{"feature": 0, "values": [0.1, 0.3, 0.3]}]), UNSORTED),
        (domain(sets=[{"feature": 0, "values": [0.3, 0.1]}]), UNSORTED),
        (domain(sets=[{"feature": 0, "values": [0.3]}, {"feature": 1, "values": [1.0, 0.0]}]), UNSORTED),
    ],
)
def test_domains_of_a_question(given, text):
    found = claims(asked(domain=given))["question"]
    assert (found.verdict, found.reason) == ((FAILS, text) if text else (HOLDS, found.reason))


def test_the_gap_of_a_question():
    for gap, holds in ((0.0, True), (math.nextafter(1.0, 0.0), True), (1.0, False), (-5e-324, False)):
        assert (verdict(asked(gap=gap), "question") == HOLDS) == holds


def ball(budget=0.25, norm=2, exact=()):
    e = changed(budget=budget)
    e["question"]["ball"] = {"norm": norm, "budget": budget, "exact": list(exact)}
    return e


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (ball(0.0), ""),
        (ball(-5e-324), "the budget is negative"),
        (ball(exact=[0, 1]), ""),
        (ball(exact=[1, 0]), "the exact features are not sorted"),
        (ball(exact=[1, 1]), "the exact features are not sorted"),
        (ball({"0": [0.1, 0.0]}, "inf", [1]), ""),
        (ball({"0": [0.1, 0.2], "1": [0.0, 0.0]}, "inf"), ""),
        (ball({"0": [0.1, 0.0]}, 2, [1]), "a budget by feature goes with the norm inf"),
        (ball({"0": [0.1, 0.0]}, "inf"), "a feature must have a budget or land exactly"),
        (ball({"0": [0.1, 0.0]}, "inf", [0, 1]), "a feature must have a budget or land exactly"),
        (ball({"0": [0.1, -5e-324]}, "inf", [1]), "the budget is negative"),
        (ball({"0": [-5e-324, 0.1]}, "inf", [1]), "the budget is negative"),
        (ball({"0": [0.1, 0.1], "1": [0.1, -0.1]}, "inf"), "the budget is negative"),
    ],
)
def test_balls_of_a_question(e, text):
    e["certificate"] |= {"robustness": None, "worst": None}
    found = {claim.name: claim for claim in exact.check([content()], e)}["question"]
    assert (found.verdict, found.reason) == ((FAILS, text) if text else (HOLDS, found.reason))


def test_the_features_that_are_perturbed():
    for e, perturbed, radius in (
        (ball(), [0, 1], 0.25), (ball(exact=[0]), [1], 0.25), (ball(exact=[0, 1]), [], 0.0),
        (ball(0.0), [0, 1], 0.0), (ball({"1": [0.0, 0.1], "0": [0.0, 0.0]}, "inf"), [1], 1.0),
        (ball({"0": [0.0, 0.0]}, "inf", [1]), [], 0.0),
        (ball({"1": [0.2, 0.0], "0": [0.1, 0.0]}, "inf"), [0, 1], 1.0),
    ):  # fmt: skip
        question = case_of(e).question
        assert (question.perturbed, question.radius) == (perturbed, radius)


def test_the_odds_that_must_be_required():
    fine = [odds(), density()]
    assert verdict(asked(requirements=fine), "question") == HOLDS
    for wrong in (odds(threshold=0.4), odds(robust=False), odds(target=0, rival=1), density()):
        found = claims(asked(requirements=[wrong]))["question"]
        assert found.reason == "the odds against 0 are not required"
    assert verdict(changed(threshold=0.25), "question") == FAILS
    second = content()
    e = asked(requirements=[odds(model=1)])
    e["question"]["models"] *= 2
    assert exact.check([second], e)[1].reason == "the odds against 0 are not required"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("factual", values(-1.0, 1e-300)), ("factual_class", 1), ("factual_class", 0.0), ("target", 0),
        ("target", True), ("budget", 0.5), ("budget", {"0": [0.25, 0.25]}), ("norm", 1), ("norm", "inf"),
        ("whitening", "zca"), ("model", "another"),
    ],
)  # fmt: skip
def test_what_is_repeated(key, value):
    found = claims(changed(**{key: value}))
    assert found["question"].reason == f"the file's {key} is not the question's"
    assert list(found) == ["model", "question"]


def test_the_class_of_the_factual():
    """In the middle it cannot be told; on the wrong side it is another one."""
    for x, found in (
        (-1e-30, HOLDS),
        (0.0, NOT_PROVED),
        (1e-30, FAILS),
        (-1e-60, NOT_PROVED),
        (1e-60, NOT_PROVED),
    ):
        e = without_point(changed(lower_bound=0.0, factual=values(x, 0.0)))
        e["question"]["factual"] = [x, 0.0]
        e["certificate"]["bound"] = None
        assert exact.check([content()], e)[1].verdict == found, x


# ----- geometry ---------------------------------------------------------------------------------------------


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


# ----- status, numbers, domain ------------------------------------------------------------------------------


def test_a_status_and_its_sentence():
    for status, sentence in exact.SENTENCES.items():
        if status in exact.WITH_POINT and status != "already_target":
            assert verdict(changed(status=status, message=sentence), "status") == HOLDS
            assert verdict(changed(status=status, message=sentence + " "), "status") == FAILS
        elif status not in (*exact.WITH_POINT, "refused", "infeasible"):
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


# ----- robustness and the worst case ------------------------------------------------------------------------


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


# ----- bounds and gaps --------------------------------------------------------------------------------------


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


# ----- context ----------------------------------------------------------------------------------------------


def test_percentiles():
    table = [k - 101.0 for k in range(101)]
    for value, found in (
        (-102, 0), (-101, 0), (Fraction(-201, 2), Fraction(1, 2)), (-100, 1), (-1, 100), (0, 100),
        (Fraction(-3, 2), Fraction(199, 2)), (-2, 99),
    ):  # fmt: skip
        assert exact._percentile(Fraction(value), table) == found
    steps = [0.0] * 50 + [4.0] * 51
    for value, found in ((-1, 0), (0, 49), (1, Fraction(197, 4)), (4, 100), (5, 100)):
        assert exact._percentile(Fraction(value), steps) == found


def test_the_percentile_of_the_point():
    true = answer()["density_percentile"]
    for step, holds in ((0.0, True), (2.9e-9, True), (-2.9e-9, True), (3.3e-9, False), (-3.3e-9, False)):
        assert (verdict(changed(density_percentile=true + step), "context") == HOLDS) == holds, step


def test_z_scores():
    case = case_of()
    assert exact._after_fault(case, case.point, [Fraction(1), Fraction(1)]) == ""
    for stated, x, expected, variance, holds in (
        (2.0, 1.0, 0, 0.25, True), (2.0 + 1.9e-9, 1.0, 0, 0.25, True), (2.0 + 2.1e-9, 1.0, 0, 0.25, False),
        (-2.0, -1.0, 0, 0.25, True), (0.5, 1.0, 0, 0.25, False), (0.0, 1e7, 10**7, 1.0, True),
        (2e-8, 1e7, 10**7, 1.0, True), (2.2e-8, 1e7, 10**7, 1.0, False),
        (2e-8, -1e7, -(10**7), 1.0, True), (2.2e-8, -1e7, -(10**7), 1.0, False), (-2.0, 1.0, 0, 0.25, False),
    ):  # fmt: skip
        assert exact._score_agrees(stated, x, Fraction(expected), variance) == holds, stated


# ----- words ------------------------------------------------------------------------------------------------


def test_the_question_in_words():
    e = asked(
        requirements=[
            odds(), odds(robust=False), density(floor=-3.5, robust=True),
            odds(target=0, rival=1, threshold=0.25),
        ],
        domain=domain(
            low=(-1.0, -2.0), high=(-1.0, "inf"),
            rows=[row("-inf", 2.0, (0.0, 0.0)), row(-1.0, 2.5, (0.5, -1.0))],
            sets=[{"feature": 0, "values": None}, {"feature": 1, "values": [0.0, 1.5]}],
        ),
    )  # fmt: skip
    assert exact.words([content()], e) == [
        "Factual: a -1.0, b 0.0; decided 0",
        "Target: 1, against each rival by at least 0.5",
        "Distance: norm 2 with cholesky whitening; allowed gap 0.1",
        "Budget: 0.25 in the norm 2",
        "Kept: a",
        "Bounded: b to -2 .. inf (the data had -4 .. 4)",
        "Row r: 0 <= 2",
        "Row r: -1 <= 0.5 a - b <= 2.5",
        "Values: a is a whole number, or stays",
        "Values: b is one of [0.0, 1.5], or stays",
        "Required by model 0, at the point alone: 1 against 0 0.5",
        "Required by model 0: log density of 1 at least -3.5",
        "Required by model 0: 0 against 1 0.25",
        "Made by certified  (this claims nothing)",
    ]


@pytest.mark.parametrize(
    ("low", "high", "factors", "said"),
    [
        (1.0, "inf", (1.0, 0.0), "a >= 1"),
        ("-inf", 1.0, (-1.0, 0.0), "-a <= 1"),
        ("-inf", "inf", (0.0, 2.0), "2 b <= inf"),
        (0.5, 0.5, (-2.0, 1.0), "-2 a + b = 0.5"),
        (-0.5, 0.5, (-1.0, -3.0), "-0.5 <= -a - 3 b <= 0.5"),
        (0.0, "inf", (0.25, 1.5), "0.25 a + 1.5 b >= 0"),
    ],
)
def test_rows_in_words(low, high, factors, said):
    e = asked(domain=domain(rows=[row(low, high, factors)]))
    assert f"Row r: {said}" in exact.words([content()], e)


def test_bounds_in_words():
    def lines(low, high):
        found = exact.words([content()], asked(domain=domain(low=(low, "-inf"), high=(high, "inf"))))
        return found[4:-1]

    assert lines("-inf", "inf") == lines(-4.0, 4.0) == lines(-5.0, 4.0) == []
    assert lines(-3.0, 5.0) == ["Bounded: a to -3 .. 5 (the data had -4 .. 4)"]
    assert lines("-inf", 3.0) == ["Bounded: a to -inf .. 3 (the data had -4 .. 4)"]
    assert lines(2.0, 2.0) == ["Set: a to 2"]
    assert lines(-1.0, -1.0) == ["Kept: a"]
    by = {"0": [0.5, 0.25]}
    assert exact.words([content()], ball(by, "inf", [1]))[3] == "Budget: a -0.5 to +0.25; landing exactly: b"
    assert exact.words([content()], ball(0.5, 1, [0]))[3] == "Budget: 0.5 in the norm 1; landing exactly: a"


def test_a_refused_request_in_words():
    e = without_point(answer(), "refused")
    assert exact.words([content()], e) == ["The request was refused."]


def test_lines_that_a_stream_cannot_show():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", newline="")
    exact._write(stream, "größer")
    stream.flush()
    assert raw.getvalue() == b"gr\\xf6\\xdfer\n"
    free = io.StringIO()
    exact._write(free, "größer \ud800")
    assert free.getvalue() == "größer \\ud800\n"


def test_the_command_and_its_arguments(tmp_path, monkeypatch, capsys):
    paths = [str(tmp_path / name) for name in ("model.json", "e.json")]
    for path, value in zip(paths, (content(), answer()), strict=True):
        Path(path).write_text(json.dumps(value), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["exact.py", *paths])
    assert exact.main() == 0
    assert capsys.readouterr().out.splitlines()[:2] == exact.words([content()], answer())[:2]
    monkeypatch.setattr(sys, "argv", ["exact.py"])
    assert exact.main() == 2
    for given, status in (
        (["--help", paths[1]], 0),
        (["-h", paths[1]], 0),
        (["-v", paths[1]], 2),
        (["-h"], 0),
    ):
        assert exact.main(given) == status
        assert capsys.readouterr().err.splitlines()[-1].startswith("usage: ")
    assert exact.main([paths[0], "-h"]) == 2
    assert capsys.readouterr().err == "-h: cannot be read (No such file or directory)\n"


# ----- proofs -----------------------------------------------------------------------------------------------


def test_the_depth_of_a_tree():
    """900 splits on one way are read, 901 are not."""
    proof_ = exact.read_proof(exact.bound_setting(case_of()), answer()["certificate"]["bound"])

    def level(depth):
        node = {"stop": True}
        for _ in range(depth):
            node = {"cut": [["u", 0], 0.0], "below": node, "above": {"stop": True, "level": 1.0}}
        object.__setattr__(proof_, "tree", node)
        return exact.proven_level(proof_, lambda leaf, way: leaf.setdefault("level", 2.0) and "")

    assert level(900) == 1.0
    with pytest.raises(UnreadableError, match="more than 900 splits"):
        level(901)


def test_leaves_are_named_by_their_way():
    e = answer()
    tree = e["certificate"]["bound"]["tree"]
    e["certificate"]["bound"]["tree"] = {"cut": [["u", 0], 9.0], "below": tree, "above": None}
    assert claims(e)["lower bound"].reason.startswith("claimed 1.2; leaf a: the piece was left open")
    e["certificate"]["bound"]["tree"] = {"cut": [["u", 0], 9.0], "below": None, "above": tree}
    assert (
        claims(e)["lower bound"].reason.startswith("claimed 1.2; leaf a: ")
        or "leaf b: " in claims(e)["lower bound"].reason
    )
    e["certificate"]["bound"]["tree"] = None
    assert claims(e)["lower bound"].reason.startswith(
        "claimed 1.2; leaf at the root: the piece was left open"
    )


def test_a_box_moved_to_its_middle():
    origin = exact.dyadic([1.0, 2.0])
    moved = exact._middle(origin, {0: (0.5, 0.25), 1: (0.0, 1.0)}, 2.0)
    assert [Fraction(w, 1 << moved.shift) for w in moved.whole] == [Fraction(3, 4), 3]
    moved = exact._middle(origin, {1: (1.0, 0.0)}, 0.5)
    assert [Fraction(w, 1 << moved.shift) for w in moved.whole] == [1, Fraction(7, 4)]
    assert exact._middle(origin, {1: (1.0, 0.0)}, INF) == origin


def test_a_refusal_names_what_is_claimed():
    model = content()
    blank = without_point(changed(lower_bound=0.0), "refused")
    blank |= dict.fromkeys(("question", "factual_class", "factual_probability", "expected_before"))
    blank["certificate"] = dict.fromkeys(blank["certificate"]) | {
        "format": "surefoot-certificate",
        "version": 1,
    }
    assert verdict(blank, "refusal", model) == NOT_PROVED
    for certificate in (None, {}):
        assert verdict(blank | {"certificate": certificate}, "refusal", model) == NOT_PROVED
    for key, value in (
        ("counterfactual", 1), ("decision", 1), ("factual_class", 0), ("expected_before", 1),
        ("expected_after", 1),
        ("z_score", 1), ("factual_probability", 0.5), ("probability", 0.5), ("worst_probability", 0.5),
        ("density_percentile", 5.0), ("distance", 1.0), ("violation", 1.0), ("coverage", 1.0),
        ("certified_radius", 1.0), ("early_stop", True), ("gap", 1.0), ("lower_bound", -1.0),
        ("certificate", []),
    ):  # fmt: skip
        found = claims(blank | {key: value}, model)["refusal"]
        assert found == ("refusal", FAILS, f"the request was refused, but the file claims {key}")
    held = blank["certificate"] | {"worst": [0.0]}
    found = claims(blank | {"certificate": held}, model)["refusal"]
    assert found == ("refusal", FAILS, "the request was refused, but the file claims worst")
    assert verdict(blank | {"message": "no"}, "refusal", model) == FAILS


def test_the_majorant_of_a_requirement():
    """Its constant alone; and one over a variance is rounded up where it adds, down where it takes away."""
    net = exact.Network([[0.0, 0.0], [0.0, 0.0]], [0.0, 0.0], [3.0, 7.0])
    nowhere = exact.dyadic([0.0, 0.0])
    bare = exact.Requirement([], 5, True)
    assert bare.block([0, 1]).rows == [[0], [0, 0]]
    assert bare.line(nowhere, [0, 1]) == exact.Dyadic([0, 0, 5], exact.PLACES)
    for sign in (1, -1):
        for origin in ([0.0, 0.0], [2.0, -3.0]):
            found = majorant(exact.Requirement([(sign, net)], 0, True), exact.dyadic(origin), [0, 1])
            for z in ((1, 1), (-1, 2), (5, -7)):
                x = [Fraction(a) + b for a, b in zip(origin, z, strict=True)]
                y = [*z, 1]
                value = sum(
                    (1 if i == j else 2) * v * y[i] * y[j]
                    for i, r in enumerate(found.rows)
                    for j, v in enumerate(r)
                )
                assert Fraction(value, 1 << found.shift) > sign * (x[0] ** 2 / 3 + x[1] ** 2 / 7)


def test_enclosures_that_touch(monkeypatch):
    """The class of the factual is decided where enclosures do not overlap; a common end is no overlap."""
    for own, other, found in (
        ((0, 2), (3, 4), FAILS), ((0, 2), (2, 4), NOT_PROVED), ((0, 2), (1, 4), NOT_PROVED),
        ((2, 4), (0, 3), NOT_PROVED), ((2, 4), (0, 2), HOLDS), ((2, 4), (0, 1), HOLDS),
    ):  # fmt: skip
        scores = [Enclosure(*own), Enclosure(*other)]
        monkeypatch.setattr(exact.Model, "twice_scores", lambda *_, scores=scores: list(scores))
        assert exact.question_claim(case_of()).verdict == found


def three_classes():
    networks = [network(-1.0, 0.0), network(1.0, 0.0), network(0.0, 8.0)]
    return content(classes={"labels": [0, 1, 2]}, class_prior=[0.25] * 3, networks=networks,
                   density_percentiles=content()["density_percentiles"][:1] * 3)  # fmt: skip


def test_the_class_of_the_factual_among_three():
    """One class that is far does not decide between the other two."""
    model = three_classes()
    for x, stated, found in (
        ((-1.0, 0.0), 0, HOLDS), ((0.0, 0.0), 0, NOT_PROVED), ((0.5, 0.0), 0, FAILS), ((0.5, 0.0), 1, HOLDS),
        ((-1.0, 9.0), 0, FAILS), ((0.5, 0.0), 2, FAILS), ((-1.0, 9.0), 2, HOLDS),
    ):  # fmt: skip
        e = answer(model)
        e["question"] |= {
            "factual": list(x),
            "factual_class": stated,
            "requirements": [odds(), odds(rival=2)],
        }
        e |= {"factual": values(*x), "factual_class": stated}
        assert exact.question_claim(case_of(e, model)).verdict == found, (x, stated)
    e["question"]["requirements"] = [odds()]
    assert exact.question_claim(case_of(e, model)).reason == "the odds against 2 are not required"


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


def test_files_without_a_model_and_of_the_first_version():
    for reader in (exact.read_case, exact.words, exact.check):
        with pytest.raises(UnreadableError, match="there is no model"):
            reader([], answer())
    old = {"status": "optimal", "factual": {}, "certified_radius": 0.0}
    for value in (old, old | {"more": 1}):
        with pytest.raises(UnreadableError, match=r"surefoot 0\.1"):
            exact.read_answer(value)
    for value in ({"status": "optimal", "factual": {}}, old | {"format": "x"}):
        with pytest.raises(UnreadableError, match="format"):
            exact.read_answer(value)


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


def test_an_equation_with_infinity_never_holds():
    for end in (INF, -INF):
        assert not exact._row_holds(exact.Row([1.0], end, end, "r"), [0.5])


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


def test_the_percentile_of_a_likely_point():
    """A log density of -1.43 may be off by 1.43e-9; the table has 50 percent for each unit."""
    table = [k / 50 - 2 for k in range(101)]
    networks = [network(-1.0, 0.0), network(1.0, 0.0, variances=(0.25, 0.25))]
    model = content(networks=networks, density_percentiles=[table] * 2)
    percentile = 50 * (2 - math.log(2 * math.pi) - math.log(0.25) - 0.98)
    for step, holds in ((0.0, True), (6.5e-8, True), (-6.5e-8, True), (8.5e-8, False), (-8.5e-8, False)):
        e = answer(model) | {"density_percentile": percentile + step, "z_score": values(-1.4, 0.0)}
        case = case_of(e, model)
        assert (exact._after_fault(case, case.point, [Fraction(1), Fraction(1)]) == "") == holds, step


def test_one_of_two_numbers_on_a_curved_scale():
    curved, straight = {"power": 0.5, "shift": 0.0, "scale": 1.0}, {"power": None, "shift": 0.0, "scale": 1.0}
    models = [content(), content(warps=[curved, straight]), content(warps=[straight, curved])]
    assert len({exact.read_model(model).fingerprint for model in models}) == 3
    assert (
        exact.read_model(content(warps=[straight] * 2)).fingerprint == exact.read_model(content()).fingerprint
    )
    scale = exact.read_model(models[1]).scales[0]
    bent = case_of().question.on_scales([scale, None])
    assert (bent.factual, bent.scales) == ([scale(-1.0), 0.0], [scale, None])


def test_models_on_different_scales():
    curved, straight = {"power": 0.5, "shift": 0.0, "scale": 1.0}, {"power": None, "shift": 0.0, "scale": 1.0}
    second = content(warps=[curved, straight], networks=[network(-2.0, 0.0), network(1.0, 0.0)])
    e = asked()
    e["question"]["models"].append(exact.read_model(second).fingerprint)
    assert claims(e, content(), second)["question"].reason == "the models measure numbers on different scales"


def test_budgets_on_curved_scales():
    """A budget in one direction is one as well; a number that lands exactly may be on any scale."""
    curved, straight = {"power": 0.5, "shift": 0.0, "scale": 1.0}, {"power": None, "shift": 0.0, "scale": 1.0}
    model = content(warps=[curved, straight])
    for ends, wrong in (([0.0, 0.5], True), ([0.5, 0.0], True), ([0.0, 0.0], False), (None, False)):
        budget = {"1": [0.5, 0.5]} | ({} if ends is None else {"0": ends})
        e = answer(model) | {"budget": budget}
        e["question"] |= {
            "ball": {"norm": "inf", "budget": budget, "exact": [0] if ends is None else []},
            "warps": [[0.5, 0.0, 1.0], [None, 0.0, 1.0]],
        }
        assert (exact._scales_misfit(exact.read_case([model], e)) != "") == wrong


def test_a_wrong_violation_is_named():
    assert worst_case(violation=-0.2).reason == "the violation is another one (-0.1)"
    assert worst_case(worst_probability=0.2).reason == "the worst_probability is 0.524979187 (-0.1)"
