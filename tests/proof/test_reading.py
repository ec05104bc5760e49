"""What is read: models, questions and answers that are none, one small fault at a time."""

import copy
import json
import math
from dataclasses import replace

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, UnreadableError
from tests.proof import two_numbers as plain
from tests.proof.two_numbers import (
    answer,
    asked,
    ball,
    case_of,
    changed,
    claims,
    content,
    density,
    domain,
    network,
    odds,
    other_model,
    priced,
    row,
    values,
    verdict,
    without_point,
)


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


@pytest.mark.parametrize("value", [3, 0, 1.5, -2.0, "-inf"])
def test_norms(value):
    with pytest.raises(exact.UnreadableError, match="not 1, 2 or inf"):
        exact._norm(value, "the norm")


@pytest.mark.parametrize("key", exact.MODEL_KEYS)
def test_a_model_lacks_a_key(key):
    rest = {name: value for name, value in content().items() if name != key}
    with pytest.raises(exact.UnreadableError, match=f"lacks the key {key}"):
        exact.read_model(rest)


def test_names_beyond_ascii():
    """The checksum is that of the text with escapes."""
    named = content(features={"labels": ["\u00e4", "\u4e16"]})
    document = {"format": "surefoot-model", "version": 2, "model": named, "sha256": exact._checksum(named)}
    assert exact.read_model(document).intact
    assert exact._checksum(named) == exact._checksum(json.loads(json.dumps(named)))
    assert not exact.read_model(document | {"sha256": exact._checksum(content())}).intact


@pytest.mark.parametrize("key", ["status", "message", "model", "method", "backend", "advice"])
def test_texts(key):
    with pytest.raises(exact.UnreadableError, match=f"{key} is not a text"):
        exact.read_answer(answer() | {key: 5})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"iterations": 5}, "iterations is not a list"),
        ({"cautions": [{"code": 5, "text": "x"}]}, "a caution is not a text"),
        ({"cautions": [{"code": "x", "text": 5}]}, "a caution is not a text"),
        ({"conflict": [5]}, "conflict is not a text"),
    ],
)
def test_context_that_cannot_be_read(changes, text):
    with pytest.raises(exact.UnreadableError, match=text):
        exact.read_answer(answer() | changes)


def test_a_refused_request_without_a_model():
    with pytest.raises(exact.UnreadableError, match="there is no model"):
        exact.check([], answer() | {"status": "invalid"})


def curved(power=0.5, **of_domain):
    """A case whose first number is measured on a curved scale."""
    scales = [{"power": power, "shift": 0.0, "scale": 1.0}, {"power": None, "shift": 0.0, "scale": 1.0}]
    stated = [list(scale.values()) for scale in scales]
    return case_of(asked(warps=stated, domain=domain() | of_domain), content(warps=scales))


def way(*coefficients):
    return [{"name": "e", "ways": [{"rows": [row(-1.0, 2.0, coefficients)], "values": []}]}]


@pytest.mark.parametrize(
    ("of_domain", "fault"),
    [
        ({}, False),
        ({"rows": [row(-1.0, 2.0, (0.0, 1.0))]}, False),
        ({"rows": [row(-1.0, 2.0, (1.0, 0.0))]}, True),
        ({"rows": [row(-1.0, 2.0, (0.5, -1.0))]}, True),
        ({"eithers": way(1.0, 0.0)}, False),
        ({"eithers": way(0.0, 1.0)}, False),
        ({"eithers": way(0.0, 2.0)}, False),
        ({"eithers": way(2.0, 0.0)}, True),
        ({"eithers": way(1.0, 1.0)}, True),
    ],
)
def test_rows_add_up_nothing_that_is_curved(of_domain, fault):
    """On the scale they would mean something else; the interval of one number is taken there and back."""
    expected = "a row of the domain adds up numbers on curved scales" if fault else ""
    assert exact._scales_misfit(curved(**of_domain)) == expected


def test_a_matrix_in_own_units_goes_with_no_curved_scale():
    expected = "the question's matrix is in the features' own units, but a number has a curved scale"
    for case, fault in ((curved(), expected), (case_of(), "")):
        assert exact._scales_misfit(case) == ""
        stated = replace(case, question=replace(case.question, matrix=[[1.0, 0.0], [0.0, 1.0]]))
        assert exact._scales_misfit(stated) == fault


def test_numbers_beyond_their_scale():
    expected = "a number lies beyond what its scale can hold"
    assert exact._scales_misfit(curved(2.0, high=[1e300, "inf"])) == expected
    assert exact._scales_misfit(curved(2.0, high=["inf", 1e300])) == ""


@pytest.mark.parametrize("pair", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (-1.0, 1.0), (1.0, -1.0)])
def test_prices_of_numbers_are_positive(pair):
    assert exact._domain_fault(priced((1.0, 2.0), pair)) == "a price of a number is not positive"
    assert exact._domain_fault(priced((1.0, 2.0), (2.0, 1.0))) == ""


def test_limits_of_the_format():
    """docs/certificate.md states them: another checker must stop where this one does."""
    assert (exact.DEPTH, exact.MOST_STEPS, exact.ROOM) == (900, 2_000_000, 10**6)
    assert (exact.MOST_TRADES, exact.LEAST_WORK, exact.MORE_WORK) == (100, 10**8, 10)
    assert [1 / exact.SMALLEST_POWER, 1 / exact.AGREE] == [10**20, 10**9]
    assert (exact.MOST_TOL, exact.NEAR_WORST, exact.SHARE_WORST) == (0.01, 0.01, 0.02)
    assert exact.DIGITS.prec == 80


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


def test_files_are_left_as_they_are():
    e = plain.answer()
    before = copy.deepcopy(e)
    plain.claims(e)
    assert e == before
