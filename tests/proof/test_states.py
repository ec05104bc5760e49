"""Categories and curved scales: what is honest holds, what is changed does not."""

import copy
import functools
import json

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, datasets
from surefoot.model.content import classifier_content
from surefoot.proof import exact
from tests.asking import CounterfactualExplainer

SETTINGS = {
    "plain": {},
    "curved": {"marginals": "power"},
    "calibrated": {"marginals": "power", "calibration": "temperature"},
    "naive": {"structure": "naive", "calibration": "temperature"},
}
ASKED = {
    "plain": {"budget": 0.05},
    "curved": {"budget": 0.05, "norm": 2},
    "calibrated": {"budget": 0.05, "threshold": 0.6},
    "naive": {"norm": 1, "bounds": None, "actions": Actions({"job": Action(cost=0.1)})},
}


@functools.cache
def table():
    """Two skewed numbers, one that is whole, and two categories: of words and of truth values."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    names = np.where(rng.random(400) < 0.3 + 0.4 * y, "own", np.where(rng.random(400) < 0.5, "rent", "free"))
    columns = {
        "house": names,
        "income": np.exp(rng.normal(7 + 0.6 * y, 0.5)),
        "job": rng.random(400) < 0.3 + 0.4 * y,
        "age": rng.integers(20, 70, 400) + 5.0 * y,
        "debt": rng.gamma(2, 2.0 - y),
    }
    return pd.DataFrame(columns), y


@functools.cache
def answered(name):
    X, y = table()
    clf = ConditionalGaussianNetworkClassifier(**SETTINGS[name], categorical=["house", "job"]).fit(X, y)
    asked = X.iloc[int(np.flatnonzero(clf.predict(X) == 0)[0])]
    e = CounterfactualExplainer(clf, **ASKED[name]).explain(asked, target=1)
    return json.dumps(classifier_content(clf)), e.to_json()


def files(name):
    return tuple(map(json.loads, answered(name)))


def verdicts(content, e):
    return {claim.name: claim.verdict for claim in exact.check([content], e)}


def faults(content, e):
    return {name for name, verdict in verdicts(content, e).items() if verdict != exact.HOLDS}


def reason(content, e, name):
    return next(claim.reason for claim in exact.check([content], e) if claim.name == name)


@pytest.mark.parametrize("name", SETTINGS)
def test_honest_answers_hold(name):
    content, e = files(name)
    assert not faults(content, e)
    assert e == files(name)[1]  # a checker leaves the file as it is
    assert e["certificate"]["bound"] is None
    assert e["certificate"]["states"]["proofs"]


@pytest.mark.parametrize("name", SETTINGS)
def test_every_proof_is_needed_for_its_shape(name):
    """Without all proofs of a shape that is not too dear, its states are open."""
    content, e = files(name)
    proofs = e["certificate"]["states"]["proofs"]
    for shape in {json.dumps(entry["shape"]) for entry in proofs}:
        left = copy.deepcopy(e)
        left["certificate"]["states"]["proofs"] = [p for p in proofs if json.dumps(p["shape"]) != shape]
        assert faults(content, left) == {"lower bound"}
        assert "nothing covers the categories" in reason(content, left, "lower bound")


def test_cheaper_changes_are_not_covered():
    """The proof is about the prices of the question: with lower ones the bound does not follow."""
    open_ones = set()
    for name in SETTINGS:
        content, e = files(name)
        now, then = e["factual"]["values"], e["counterfactual"]["values"]
        for choice in e["question"]["choices"]:
            j = choice["feature"]
            if now[j] == then[j]:
                choice["prices"] = [0.0] * len(choice["prices"])
        open_ones |= faults(content, e)
    assert open_ones == {"lower bound"}


def test_staying_costs_nothing():
    content, e = files("plain")
    for choice in e["question"]["choices"]:
        choice["prices"] = [1.0] * len(choice["prices"])
    assert "staying costs something" in reason(content, e, "question")


def test_another_category_in_the_answer():
    """Price, chances and proofs of robustness belong to the state."""
    content, e = files("plain")
    house = e["question"]["choices"][0]["values"]
    e["counterfactual"]["values"][0] = next(v for v in house if v != e["counterfactual"]["values"][0])
    assert {"probabilities", "context"} <= faults(content, e)


def test_true_is_not_one():
    content, e = files("plain")
    job = e["question"]["choices"][1]
    assert job["values"] == [False, True]
    for key in ("factual", "counterfactual"):
        e[key]["values"][2] = int(e[key]["values"][2])
    e["question"]["factual"][2] = int(e["question"]["factual"][2])
    job["values"] = [0, 1]
    assert "has other values" in reason(content, e, "question")


def test_the_bound_of_a_single_problem_does_not_count():
    content, e = files("plain")
    e["certificate"]["bound"] = e["certificate"]["states"]["proofs"][0]["proof"]
    with pytest.raises(exact.UnreadableError, match="has bound, which does not go with its question"):
        exact.check([content], e)


def test_a_file_about_another_model():
    """Other categories, or none: named, whatever else is in the file."""
    _, e = files("plain")
    bank = datasets.load_banknote()
    clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    e["question"]["models"], e["model"] = [clf.fingerprint_], clf.fingerprint_
    assert reason(classifier_content(clf), e, "question") == "the model has other features"
    X, y = table()
    clf = ConditionalGaussianNetworkClassifier(categorical=["house"]).fit(X.assign(job=X["job"] * 1.0), y)
    _, e = files("plain")
    e["question"]["models"], e["model"] = [clf.fingerprint_], clf.fingerprint_
    assert reason(classifier_content(clf), e, "question") == "the model has other categories"


# ----- curved scales ------------------------------


def test_scales_are_those_of_the_model():
    content, e = files("curved")
    e["question"]["warps"][0][0] += 1e-9
    assert "on other scales than the model's" in reason(content, e, "question")
    e["question"]["warps"] = None
    assert "on other scales than the model's" in reason(content, e, "question")
    content, e = files("plain")
    e["question"]["warps"] = [[None, 0.0, 1.0]] * 3
    assert "question" in faults(content, e)


def test_rows_over_curved_scales_are_refused():
    """A proof would read them on the scale, the domain in the feature's own units."""
    content, e = files("curved")
    row = {"coefficients": [1.0, 0.0, 0.0], "low": "-inf", "high": 1e6, "name": "rich"}
    e["question"]["domain"]["rows"] = [row]
    assert "on curved scales" in reason(content, e, "question")


def test_budgets_by_feature_on_curved_scales_are_refused():
    """They are in the feature's own units, and perturbations on the scale."""
    content, e = files("curved")
    budget = {"0": [1.0, 1.0], "1": [0.0, 0.0], "2": [0.0, 0.0]}
    e["question"]["ball"] = {"norm": "inf", "budget": budget, "exact": []}
    e["budget"] = budget
    assert "in units of its own" in reason(content, e, "question")


@pytest.mark.parametrize("place", ["factual", "counterfactual", "low", "high"])
def test_numbers_beyond_their_scale(place):
    content, e = files("curved")
    beyond = -1.7e308
    if place in ("low", "high"):
        e["question"]["domain"]["low"][0] = beyond
        e["question"]["domain"][place][0] = beyond
    else:
        e[place]["values"][1] = beyond
        e["question"]["factual"][1] = e["factual"]["values"][1]
    assert "beyond what its scale can hold" in reason(content, e, "question")


def test_slack_and_violation_are_divided_by_the_temperature():
    """Scores are multiplied by the temperature in proofs, but not in what the file says."""
    content, e = files("calibrated")
    assert content["calibration"]["temperature"] != 1
    e["violation"] *= content["calibration"]["temperature"]
    assert "worst case" in faults(content, e)


def test_whole_numbers_are_whole_in_their_own_units():
    content, e = files("curved")
    assert [entry["feature"] for entry in e["question"]["domain"]["sets"]] == [1]
    assert e["counterfactual"]["values"][3] % 1 == 0
    e["counterfactual"]["values"][3] += 0.5
    assert "domain" in faults(content, e)
