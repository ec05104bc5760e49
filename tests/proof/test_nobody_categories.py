"""Nobody in a region of numbers and categories: real proofs, and what was forged of them."""

import copy
from functools import cache

import pytest

from surefoot import Action, Actions, CounterfactualExplainer
from surefoot.model.content import classifier_content
from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, UnreadableError
from tests.mixed_tables import lender


@cache
def explainer():
    stays = dict.fromkeys(["debt", "savings", "housing"], "stay")
    return CounterfactualExplainer(
        lender(), actions=Actions({**stays, "income": Action("rise", most=300)}, at_most=2)
    )


@cache
def proven():
    found = explainer().nobody(
        {"debt": (4000, None), "savings": "little", "housing": ["rent", "free"]}, "good"
    )
    assert found.holds
    return found.certificate


@cache
def met():
    found = explainer().nobody({"debt": (3000, None), "housing": ["own", "rent"]}, "good")
    assert found.holds is False
    return found.certificate


@cache
def model():
    return exact.read_model(classifier_content(lender()))


def claims(document):
    return {claim.name: claim.verdict for claim in exact.check([model()], document)}


def edited(document, *path, value):
    found = copy.deepcopy(document)
    place = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return found


def test_proofs_and_persons_hold():
    assert set(claims(proven()).values()) == {HOLDS}
    assert set(claims(met()).values()) == {HOLDS}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("region", 1, "among"), ["free", "own", "rent"]),
        (("region", 3, "among"), ["little", "much"]),
        (("region", 2, "low"), 2000.0),
        (("declared", "features", 1, "moves"), [["own"], [], []]),
        (("declared", "features", 3, "moves"), [["much"], []]),
        (("declared", "features", 0, "ends"), [0.0, 20000.0]),
        (("proofs", 0, "question", "choices", 1, "prices"), ["inf", 0.0]),
        (("proofs", 0, "question", "choices", 2, "prices"), [0.0, "inf"]),
        (("proofs", 0, "question", "domain", "low", 1), 4000.5),
        (("proofs", 0, "certificate", "states"), None),
        (("proofs", 0, "certificate", "states", "proofs"), []),
        (("tree",), None),
        (("target",), "bad"),
    ],
)
def test_forged_regions_are_refused(path, value):
    try:
        found = claims(edited(proven(), *path, value=value))
    except UnreadableError:
        return
    assert set(found.values()) != {HOLDS}


def test_somebody_elsewhere_is_refused():
    assert claims(edited(met(), "region", 1, "among", value=["free"]))["nobody"] == FAILS
    own = dict(zip(met()["features"], met()["explanation"]["factual"]["values"], strict=True))
    others = [value for value in ("little", "much") if value != own["savings"]]
    assert claims(edited(met(), "region", 3, "among", value=others))["nobody"] == FAILS


def test_a_category_that_stays_does_not_change():
    stays = dict.fromkeys(["income", "debt", "housing"], "stay")
    region = {"savings": "little", "income": 2000, "debt": 2000, "housing": "rent"}
    found = CounterfactualExplainer(lender(), actions=Actions(stays)).nobody(region, "good")
    document = found.certificate
    pair = found.explanation.factual["savings"], found.explanation.counterfactual["savings"]
    assert pair == ("little", "much")
    assert set(claims(document).values()) == {HOLDS}
    forged = edited(document, "declared", "features", 3, "moves", value=[[], ["little"]])
    assert claims(forged)["nobody"] == FAILS
    forged = edited(document, "declared", "limits", value=[{"count": 0, "features": [3]}])
    assert claims(forged)["nobody"] == FAILS


def test_words_of_categories():
    lines = exact.words([model()], proven())
    assert "Persons: housing is free or rent" in lines
    assert "Changes: housing may go from rent to nothing else" in lines
    assert "Changes: phone may go from False to True" in lines
    assert "At most 2 of these change: income, housing, debt, savings, months, phone" in lines
