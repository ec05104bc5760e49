"""Explanations with categories, curved scales, calibration and adopted decisions, checked and forged."""

import copy
import math

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from surefoot import Action, Actions, adopt, verify
from surefoot.model.content import classifier_content
from surefoot.proof import exact
from tests.asking import CounterfactualExplainer
from tests.mixed_tables import lender, lending, refused_rows
from tests.thinning import covering

CHEAP = Actions({name: Action(cost=0.2) for name in ("housing", "savings", "phone")})
MODELS = {
    "naive": {"structure": "naive"},
    "tan": {"structure": "tan"},
    "curved": {"structure": "tan", "marginals": "power"},
    "calibrated": {"structure": "tan", "calibration": "temperature", "shrinkage": 0.3},
    "all": {"structure": "tan", "marginals": "auto", "calibration": "temperature"},
}


def model(name):
    return lender(**MODELS[name])


def explained(clf, row, **options):
    options = {"budget": 0.05, "actions": CHEAP, **options}
    return CounterfactualExplainer(clf, **options).explain(row, "good", on_failure="return")


def verdicts(clf, document):
    """The checker's verdicts by claim."""
    return {claim.name: claim.verdict for claim in exact.check([classifier_content(clf)], document)}


@pytest.mark.parametrize(("name", "norm"), covering(list(MODELS), [np.inf, 2, 1]))
def test_honest_answers_are_accepted(name, norm):
    clf = model(name)
    for row in refused_rows(clf, 3):
        e = explained(clf, row, norm=norm, whole=False)
        assert str(e.status) == "optimal"
        assert set(verdicts(clf, e.to_dict()).values()) == {"holds"}


@pytest.mark.parametrize("name", ["tan", "all"])
def test_whole_numbers_on_any_scale_are_accepted(name):
    clf = model(name)
    e = explained(clf, refused_rows(clf, 1)[0], norm=2)
    assert float(e.counterfactual["months"]).is_integer()
    assert verify(e, clf).ok


def adopted(estimator):
    X, y = lending()
    numbers = ["income", "debt", "months"]
    columns = ColumnTransformer(
        [("names", OneHotEncoder(), ["housing", "savings", "phone"]), ("numbers", StandardScaler(), numbers)]
    )
    return adopt(make_pipeline(columns, estimator).fit(X, y), data=(X, y))


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC()], ids=["logistic", "svc"])
def test_adopted_decisions_are_accepted(estimator):
    clf = adopted(estimator)
    for row in refused_rows(clf, 2):
        e = explained(clf, row, whole=False)
        assert set(verdicts(clf, e.to_dict()).values()) == {"holds"}
        assert math.isnan(e.probability) == isinstance(estimator, LinearSVC)


@pytest.fixture(scope="module")
def honest():
    """A document whose bound needs several proofs, and its classifier."""
    clf = model("tan")
    for row in refused_rows(clf, 30):
        document = explained(clf, row, whole=False).to_dict()
        if len(document["certificate"]["states"]["proofs"]) > 2:
            return clf, document
    raise AssertionError("no row needs several proofs")


def test_the_honest_document_holds(honest):
    clf, document = honest
    assert set(verdicts(clf, document).values()) == {"holds"}


def test_every_proof_is_needed(honest):
    clf, document = honest
    for k in range(len(document["certificate"]["states"]["proofs"])):
        forged = copy.deepcopy(document)
        del forged["certificate"]["states"]["proofs"][k]
        assert verdicts(clf, forged)["lower bound"] == "not proved"


def test_constants_cannot_be_raised_without_a_proof(honest):
    clf, document = honest
    for k in range(len(document["certificate"]["states"]["proofs"])):
        forged = copy.deepcopy(document)
        forged["certificate"]["states"]["proofs"][k]["constants"][0] += 50.0
        assert verdicts(clf, forged)["lower bound"] == "not proved"


def test_constants_cannot_be_lowered(honest):
    clf, document = honest
    forged = copy.deepcopy(document)
    for proof in forged["certificate"]["states"]["proofs"]:
        proof["constants"][0] -= 5.0
    assert verdicts(clf, forged)["lower bound"] == "not proved"


def test_a_bound_cannot_be_raised(honest):
    clf, document = honest
    forged = copy.deepcopy(document)
    forged["lower_bound"] = document["distance"]
    forged["gap"] = 0.0
    assert verdicts(clf, forged)["lower bound"] == "not proved"


def test_a_shape_cannot_be_exchanged(honest):
    clf, document = honest
    proofs = document["certificate"]["states"]["proofs"]
    shapes = [proof["shape"] for proof in proofs]
    assert len({str(shape) for shape in shapes}) > 1
    forged = copy.deepcopy(document)
    for proof in forged["certificate"]["states"]["proofs"]:
        proof["shape"] = shapes[0]
    assert verdicts(clf, forged)["lower bound"] == "not proved"


def test_a_shape_must_name_what_the_densities_depend_on(honest):
    clf, document = honest
    forged = copy.deepcopy(document)
    for proof in forged["certificate"]["states"]["proofs"]:
        proof["shape"] = []
    with pytest.raises(exact.UnreadableError):
        exact.check([classifier_content(clf)], forged)


def test_trades_must_not_be_negative(honest):
    clf, document = honest
    forged = copy.deepcopy(document)
    forged["certificate"]["states"]["trades"].append(-1.0)
    assert verdicts(clf, forged)["lower bound"] == "not proved"


def test_states_that_are_forbidden_only_in_the_file_change_the_question(honest):
    """Prices are part of the question that is printed; a price that is missing there cannot be hidden."""
    clf, document = honest
    forged = copy.deepcopy(document)
    choice = forged["question"]["choices"][0]
    today = choice["prices"].index(0.0)
    choice["prices"][today] = 0.1
    assert verdicts(clf, forged)["question"] == "FAILS"


def test_a_negative_price_is_refused(honest):
    clf, document = honest
    forged = copy.deepcopy(document)
    prices = forged["question"]["choices"][0]["prices"]
    prices[next(k for k, price in enumerate(prices) if price)] = -0.5
    assert verdicts(clf, forged)["question"] == "FAILS"


def test_a_category_that_does_not_exist_is_unreadable(honest):
    clf, document = honest
    forged = copy.deepcopy(document)
    forged["counterfactual"]["values"][1] = "castle"
    with pytest.raises(exact.UnreadableError):
        exact.check([classifier_content(clf)], forged)


def test_a_forbidden_category_is_outside():
    clf = model("naive")
    row = refused_rows(clf, 1)[0]
    document = explained(clf, row, immutable=["housing"], whole=False).to_dict()
    other = next(v for v in clf.categories_["housing"] if v != row["housing"])
    document["counterfactual"]["values"][1] = other
    found = verdicts(clf, document)
    assert found["domain"] == "FAILS"
    assert found["distance"] == "FAILS"


def test_the_price_belongs_to_the_distance(honest):
    clf, document = honest
    changed = [
        (k, a, b)
        for k, (a, b) in enumerate(
            zip(document["factual"]["values"], document["counterfactual"]["values"], strict=True)
        )
        if isinstance(a, str | bool) and a != b
    ]
    forged = copy.deepcopy(document)
    for k, a, _ in changed:
        forged["counterfactual"]["values"][k] = a
    if not changed:
        forged["counterfactual"]["values"][3] = next(
            v for v in clf.categories_["savings"] if v != document["factual"]["values"][3]
        )
    assert verdicts(clf, forged)["distance"] == "FAILS"


@pytest.mark.parametrize("key", ["expected_before", "expected_after"])
def test_chances_of_categories_are_computed_again(honest, key):
    clf, document = honest
    forged = copy.deepcopy(document)
    forged[key]["values"][1] = 0.5 * forged[key]["values"][1]
    assert verdicts(clf, forged)["context"] == "FAILS"


def test_scales_are_the_models():
    clf = model("curved")
    document = explained(clf, refused_rows(clf, 1)[0], whole=False).to_dict()
    assert set(verdicts(clf, document).values()) == {"holds"}
    forged = copy.deepcopy(document)
    forged["question"]["warps"][0][0] += 0.1
    assert verdicts(clf, forged)["question"] == "FAILS"


def test_the_temperature_is_the_models():
    clf = model("calibrated")
    document = explained(clf, refused_rows(clf, 1)[0], whole=False).to_dict()
    content = classifier_content(clf)
    hotter = {**content, "calibration": {**content["calibration"], "temperature": 0.1}}
    found = {claim.name: claim.verdict for claim in exact.check([hotter], document)}
    assert found == {"model": "FAILS"}


def test_the_nearest_double_of_a_scale_is_the_same_everywhere():
    from surefoot.problem.warp import Warp

    rng = np.random.default_rng(0)
    for _ in range(300):
        power, shift, scale = rng.uniform(-3, 5), rng.normal(), rng.uniform(0.1, 100)
        power = float(rng.choice([0.0, 2.0, power, 1.0, 1e-12]))
        x = float(rng.normal() * rng.choice([1e-9, 1, 1e3]))
        here = Warp(power, float(shift), float(scale))
        there = exact.Scale(power, float(shift), float(scale))
        assert there(x) == here.exactly(x)
        assert abs(there(x) - float(here(x))) <= 1e-13 * max(1.0, abs(there(x)))


def test_a_decision_cannot_borrow_a_probability():
    clf = adopted(LinearSVC())
    document = explained(clf, refused_rows(clf, 1)[0], whole=False).to_dict()
    forged = copy.deepcopy(document)
    forged["probability"] = 0.9
    assert verdicts(clf, forged)["probabilities"] == "FAILS"
