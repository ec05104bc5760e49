"""Reasons as a claim: what the checkers make of forged ones."""

import copy
import json

import pytest
from sklearn.linear_model import LogisticRegression

from surefoot import CounterfactualExplainer, Explanation, verify
from surefoot.exceptions import DataError
from surefoot.model.content import classifier_content
from surefoot.proof import exact
from tests.mixed_tables import lender, lending, refused_rows

ONLY_BY_VERIFY = (14, 15)  # what is usual, and how many have it


def forged(document, *path, by=None, to=None):
    found = copy.deepcopy(document)
    place = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to if by is None else place[path[-1]] + by
    return found


def test_forged_reasons_fail():
    clf = lender(calibration="temperature")
    document = json.loads(
        CounterfactualExplainer(clf).explain(refused_rows(clf, 1)[0], reasons=True).to_json()
    )
    model, place = classifier_content(clf), ("reasons", "features")
    assert [c.verdict for c in exact.check([model], document) if c.name == "reasons"] == ["holds"]
    swapped = forged(forged(document, *place, 0, "weight", by=0.5), *place, 2, "weight", by=-0.5)
    wrong = [
        forged(document, "reasons", "prior", by=1e-6),
        forged(document, "reasons", "prior", by=-1e-6),
        forged(forged(document, *place, 0, "weight", by=-1e-6), *place, 2, "weight", by=1e-6),
        forged(document, *place, 0, "weight", by=1e-6),
        forged(forged(document, *place, 1, "weight", by=0.5), *place, 3, "weight", by=-0.5),  # categories
        swapped,
        forged(forged(document, *place, 2, "weight", by=0.5), "reasons", "prior", by=-0.5),
        forged(document, *place, 0, "value", by=1.0),
        forged(document, *place, 0, "feature", to="age"),
        forged(document, *place, to=document["reasons"]["features"][:-1]),
        forged(document, "reasons", "decided", to="good"),
        forged(document, "reasons", "wanted", to="bad"),
        forged(document, "reasons", "other", to="bad"),
        forged(document, "reasons", "other", to="nobody"),
        forged(document, *place, 0, "usual", by=1.0),
        forged(document, *place, 0, "share", to=0.999),
    ]
    for k, forgery in enumerate(wrong):
        verdicts = [
            c.verdict for c in verify(Explanation.from_dict(forgery), clf).claims if c.name == "reasons"
        ]
        assert "FAILS" in verdicts, k
        by_itself = [c.verdict for c in exact.check([model], forgery) if c.name == "reasons"]
        assert by_itself == ["holds" if k in ONLY_BY_VERIFY else "FAILS"], k
    for nonsense in (forged(document, "reasons", to=[]), forged(document, *place, 0, "share", to=2.0)):
        with pytest.raises(DataError):
            Explanation.from_dict(nonsense)


def test_a_row_that_has_the_target_is_compared_with_another_class():
    clf, (X, _) = lender(), lending()
    row = X[clf.predict(X) == "good"].iloc[0]
    e = CounterfactualExplainer(clf).explain(row, "good", reasons=True)
    assert (e.stated_reasons.decided, e.stated_reasons.other) == ("good", "bad")
    assert verify(e, clf).ok
    document = json.loads(e.to_json())
    document["reasons"]["other"] = "good"
    claims = {c.name: c.verdict for c in exact.check([classifier_content(clf)], document)}
    assert claims["reasons"] == "FAILS"


def test_an_adopted_model_adds_up():
    X, y = lending()
    numbers = X[["income", "debt", "months"]]
    explainer = CounterfactualExplainer(LogisticRegression(max_iter=5000).fit(numbers, y), data=(numbers, y))
    document = json.loads(explainer.explain(numbers.iloc[0], reasons=True).to_json())
    model = classifier_content(explainer.classifier)
    assert [c.verdict for c in exact.check([model], document) if c.name == "reasons"] == ["holds"]
    wrong = forged(document, "reasons", "prior", by=1e-6)
    assert [c.verdict for c in exact.check([model], wrong) if c.name == "reasons"] == ["FAILS"]


def test_numbers_that_are_none_are_not_read():
    clf = lender()
    document = json.loads(
        CounterfactualExplainer(clf).explain(refused_rows(clf, 1)[0], reasons=True).to_json()
    )
    for wrong in (None, "1", True, 10**400):
        for path in (("prior",), ("features", 0, "weight")):
            forgery = forged(document, "reasons", *path, to=wrong)
            with pytest.raises(exact.UnreadableError):
                exact.check([classifier_content(clf)], forgery)
    huge = forged(document, "reasons", "features", 0, "value", to=10**400)
    with pytest.raises(exact.UnreadableError):
        exact.check([classifier_content(clf)], huge)
