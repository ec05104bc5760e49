"""That fewer changes are not enough: honest files pass, and no lie does."""

import copy
import json

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, CounterfactualExplainer
from surefoot.model.content import classifier_content
from surefoot.proof import exact

NAME = "fewer changes"


@pytest.fixture(scope="module")
def file():
    """A file in which more than three features have to change; one number only rises, one only falls."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 100)
    X = pd.DataFrame(rng.normal(size=(300, 8)) + 0.6 * y[:, None], columns=list("abcdefgh"))
    for name in "kl":
        X[name] = np.where(rng.random(300) < 0.3 + 0.2 * y, "yes", "no")
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    said = {name: Action(most=0.7) for name in "abcdef"}
    said |= {"g": Action("rise", most=0.7), "h": Action("fall", most=0.7), "f": "stay", "l": "stay"}
    actions = Actions(said, at_most_of=[(1, ["a", "k"])])
    explainer = CounterfactualExplainer(clf, actions=actions, diagnose=False)
    refused = X[clf.predict(X) == 0]
    found = (explainer.explain(row, [1, 2], on_failure="return") for _, row in refused.iterrows())
    few = next(e for e in found if "are needed, and this is proven" in e.advice)
    return classifier_content(clf), json.loads(few.to_json())


def claim(file, e, name=NAME):
    return next((one for one in exact.check([file[0]], e) if one.name == name), None)


def forged(file, change):
    """The file with another proof that fewer changes are not enough."""
    e = copy.deepcopy(file[1])
    change(e["certificate"]["fewer"], e)
    return e


def test_an_honest_file_passes(file):
    most = len(changed(file[1])) - 1
    assert claim(file, file[1]).reason.startswith(f"no answer changes at most {most} features: ")
    assert all(one.verdict == exact.HOLDS for one in exact.check([file[0]], file[1]))


def changed(e):
    pairs = zip(e["factual"]["values"], e["counterfactual"]["values"], strict=True)
    return [j for j, (now, then) in enumerate(pairs) if now != then]


def smaller(fewer):
    """The limit over all features."""
    return max(fewer["limits"], key=lambda limit: len(limit["numbers"]))


def raised(fewer, _):
    smaller(fewer)["count"] += 1


def without_one_that_falls(fewer, _):
    smaller(fewer)["numbers"].remove(7)


def without_one_that_rises(fewer, _):
    smaller(fewer)["numbers"].remove(6)


def without_a_category(fewer, _):
    smaller(fewer)["categories"].pop()


def twice(fewer, _):
    fewer["limits"].append({**smaller(fewer), "count": 1})


def nothing_more(fewer, e):
    fewer["limits"] = e["question"]["domain"]["limits"]


def unproven(fewer, _):
    fewer["states"] = None


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (raised, exact.NOT_PROVED),
        (without_one_that_falls, exact.FAILS),
        (without_one_that_rises, exact.FAILS),
        (without_a_category, exact.FAILS),
        (twice, exact.FAILS),
        (nothing_more, exact.FAILS),
        (unproven, exact.NOT_PROVED),
    ],
)
def test_lies_do_not_pass(file, change, verdict):
    assert claim(file, forged(file, change)).verdict == verdict


def test_every_target_is_ruled_out(file):
    e = copy.deepcopy(file[1])
    other = e["others"][0]
    name = f"target {other['question']['target']}"
    assert claim(file, e, name).verdict == exact.HOLDS
    raised(other["certificate"]["fewer"], e)
    assert claim(file, e, name).verdict == exact.FAILS
    raised(e["certificate"]["fewer"], e)
    assert claim(file, e, name).verdict == exact.NOT_PROVED
    del other["certificate"]["fewer"]
    other["certificate"]["version"] = 3
    assert claim(file, e, name).verdict == exact.FAILS


def test_what_is_no_such_proof_is_unreadable(file):
    for value in ({}, [], 3, {"limits": 1, "bound": None, "states": None, "mixtures": []}):
        e = copy.deepcopy(file[1])
        e["certificate"]["fewer"] = value
        with pytest.raises(exact.UnreadableError):
            exact.check([file[0]], e)
