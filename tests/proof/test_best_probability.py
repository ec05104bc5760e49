"""The bound on the probability that any allowed change reaches: honest files pass, and no lie does."""

import copy
import json
import math

import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.model.content import classifier_content
from surefoot.proof import exact
from tests.asking import CounterfactualExplainer

NAME = "best probability"


@pytest.fixture(scope="module")
def files(bundled):
    """A model, a file without an answer, one of another row, and one with an answer."""
    bank = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(bank.X, bank.y)
    explainer = CounterfactualExplainer(clf, budget=0.05, immutable=["variance", "skewness", "curtosis"])
    found = [explainer.explain(bank.X.iloc[i], 1, on_failure="return").to_dict() for i in range(3)]
    none = [json.loads(json.dumps(e)) for e in found if e["best_probability"]]
    answer = CounterfactualExplainer(clf, budget=0.05).explain(bank.X.iloc[0], 1).to_dict()
    none.sort(key=lambda e: -e["best_probability_bound"])
    return classifier_content(clf), none[0], none[1], json.loads(json.dumps(answer))


def claim(model, e, name=NAME):
    return next((one for one in exact.check([model], e) if one.name == name), None)


def test_an_honest_file_passes(files):
    model, e, *_ = files
    found = claim(model, e)
    assert found.verdict == exact.HOLDS
    assert found.reason.startswith(
        f"claimed at most {e['best_probability_bound']:.9g}; with that threshold: "
    )
    assert all(one.verdict == exact.HOLDS for one in exact.check([model], e))


def test_a_lower_bound_is_not_proved(files):
    model, e, *_ = files
    for bound in (0.999 * e["best_probability"], 1e-9, math.nextafter(0.0, 1.0)):
        assert (
            claim(model, e | {"best_probability": 0.0, "best_probability_bound": bound}).verdict
            != exact.HOLDS
        )


def test_the_threshold_itself_needs_no_further_proof(files):
    model, e, *_ = files
    held = {**e["certificate"], "best": None}
    for bound, verdict in ((0.5, exact.HOLDS), (e["best_probability_bound"], exact.NOT_PROVED)):
        forged = e | {"certificate": held, "best_probability_bound": bound}
        assert claim(model, forged).verdict == verdict


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        ({"best_probability": 0.4}, "the probability exceeds its bound"),
        ({"best_probability": -0.1}, "the probability exceeds its bound"),
        ({"best_probability": None}, "the probability exceeds its bound"),
        ({"best_probability": "inf", "best_probability_bound": "inf"}, "the bound is not a probability"),
        ({"best_probability_bound": None}, "the bound is not a probability"),
        ({"best_probability_bound": 0.0}, "the bound is not a probability"),
        ({"best_probability_bound": 1.0}, "the bound is not a probability"),
    ],
)
def test_numbers_that_are_none(files, lie, reason):
    model, e, *_ = files
    assert claim(model, e | lie) == (NAME, exact.FAILS, reason)


def test_a_proof_without_a_bound_is_a_claim(files):
    model, e, *_ = files
    nothing = e | {"best_probability": None, "best_probability_bound": None}
    assert claim(model, nothing).verdict == exact.FAILS
    nothing["certificate"] = {**e["certificate"], "best": None}
    assert claim(model, nothing) is None


def test_not_beside_a_counterfactual(files):
    model, _, _, answer = files
    assert claim(model, answer) is None
    forged = answer | {"best_probability": 0.1, "best_probability_bound": 0.5}
    assert claim(model, forged) == (NAME, exact.FAILS, "there is a counterfactual")


def test_the_proof_of_another_row(files):
    model, e, other, _ = files
    assert e["factual"] != other["factual"]
    forged = copy.deepcopy(e)
    forged["certificate"]["best"] = other["certificate"]["best"]
    forged |= {key: other[key] for key in ("best_probability", "best_probability_bound")}
    assert other["best_probability_bound"] < e["best_probability"]
    assert claim(model, forged).verdict == exact.NOT_PROVED


def test_a_question_without_probabilities(files):
    model, e, *_ = files
    forged = copy.deepcopy(e)
    decision = {"kind": "decision", "model": 0, "target": 1, "rival": 0, "value": 0.0, "robust": True}
    forged["question"]["requirements"] = [decision]
    found = exact.best_claim(exact.read_case([model], forged))
    assert found == (NAME, exact.FAILS, "the question is not about probabilities")


def test_odds_of_another_class_keep_their_threshold(files):
    """Only the target's odds are asked about: a question that also wants the rival proves nothing of it."""
    model, e, *_ = files
    case = exact.read_case([model], e)
    rival = case.question.requirements[0]._replace(label=0, rival=1)
    forged = exact.replace(case, question=exact.replace(case.question, requirements=[rival]))
    assert exact.best_claim(forged).reason == "the question is not about probabilities"


def test_files_of_the_earlier_version(files):
    model, e, _, answer = files
    for file in (e, answer):
        with pytest.raises(exact.UnreadableError, match="unknown key search_seconds"):
            exact.check([model], file | {"version": 4})
    older = {key: value for key, value in answer.items() if key not in exact.LATER_KEYS} | {"version": 4}
    assert all(one.verdict == exact.HOLDS for one in exact.check([model], older))
    forged = copy.deepcopy(e)
    forged["certificate"]["version"] = 3
    with pytest.raises(exact.UnreadableError, match="unknown key best"):
        exact.check([model], forged)
    del forged["certificate"]["best"]
    forged["certificate"]["version"] = 4
    with pytest.raises(exact.UnreadableError, match="lacks the key best"):
        exact.check([model], forged)


def test_a_refused_request_states_none(files):
    model, e, *_ = files
    blank = {"counterfactual", "decision", "factual_class", "expected_before", "expected_after", "z_score"}
    refused = e | dict.fromkeys(blank) | {"status": "refused", "message": exact.SENTENCES["refused"]}
    refused |= {"question": None, "lower_bound": 0.0, "factual_probability": None, "certificate": None}
    assert claim(model, refused, "refusal").verdict == exact.FAILS
    refused |= {"best_probability": None, "best_probability_bound": None}
    assert claim(model, refused, "refusal").verdict == exact.NOT_PROVED
