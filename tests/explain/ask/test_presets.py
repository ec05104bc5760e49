"""Presets: what they stand for, what is said of them, and what gives way before there is no answer."""

import numpy as np
import pandas as pd
import pytest

from surefoot import (
    PRESETS,
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    Explanation,
)
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.result.words import preset_words
from surefoot.ui.report.fragment import batch_fragment
from surefoot.ui.report.page import report_page
from surefoot.ui.report.summary import summary_of


@pytest.fixture(scope="module")
def person():
    return people(160)


def people(n):
    rng = np.random.default_rng(1)
    y = np.repeat(["no", "yes"], n // 2)
    shift = 1.2 * (y == "yes")
    X = pd.DataFrame(
        {
            "age": np.round(40 + 9 * rng.normal(size=n) + 9 * shift),
            "income": np.round(2000 + 500 * rng.normal(size=n) + 400 * shift),
            "debt": np.round(900 + 300 * rng.normal(size=n) - 200 * shift),
        }
    )
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
    return clf, X[clf.predict(X) == "no"]


def test_presets_are_plain_data_with_the_same_names():
    assert list(PRESETS) == ["practical", "paper"]
    assert PRESETS["practical"].keys() == PRESETS["paper"].keys()
    with pytest.raises(TypeError):
        PRESETS["paper"]["norm"] = 1


def test_what_is_given_wins(person):
    clf, _ = person
    plain, given = CounterfactualExplainer(clf), CounterfactualExplainer(clf, norm=2, at_most=None, budget=0)
    assert (plain.norm, plain.at_most, plain.budget, plain.printable) == (1, 3, 0.05, True)
    assert (given.norm, given.at_most, given.budget, given.whitening) == (2, None, 0, "dag")
    paper = CounterfactualExplainer(clf, preset="paper", budget=0.1)
    assert (paper.norm, paper.whitening, paper.bounds, paper.whole, paper.noise_on) == (
        np.inf, "cholesky", None, False, "all",
    )  # fmt: skip
    assert (paper.printable, paper.at_most, paper.budget, paper.options.gap) == (False, None, 0.1, 1e-3)
    assert CounterfactualExplainer(clf, actions=Actions(at_most=2)).at_most == 2
    again = CounterfactualExplainer(clf, norm=2).copy(budget=0.1)
    assert (again.norm, again.at_most, again.budget) == (2, 3, 0.1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"preset": "practicle"}, "did you mean 'practical'"),
        ({"preset": None}, "preset must be 'practical' or 'paper', not None"),
        ({"printable": 1}, "printable must be True or False, not 1"),
        ({"at_most": 2, "actions": Actions(at_most=3)}, "at_most is given twice"),
        ({"at_most": -1}, "at_most"),
    ],
)
def test_what_makes_no_sense_is_refused(person, given, message):
    with pytest.raises(ProblemError, match=message):
        CounterfactualExplainer(person[0], **given)


def test_every_face_says_what_the_preset_means(person):
    clf, X = person
    e = CounterfactualExplainer(clf, norm=2).explain(X.iloc[0], "yes")
    words = "Preset practical: an answer to act on, few features change, none that a person cannot change"
    assert words in str(e)
    assert "Given otherwise: norm." in str(e)
    batch = CounterfactualExplainer(clf, norm=2).explain_batch(X.head(2), "yes", progress=False)
    for page in (report_page(e), report_page(batch), e._repr_html_(), batch_fragment(batch)):
        assert words in page
    assert Explanation.from_json(e.to_json()).question == e.question
    assert preset_words(Explanation.from_json(e.to_json()).question) in str(e)
    paper = CounterfactualExplainer(clf, preset="paper").explain(X.iloc[0], "yes")
    assert "Preset paper: the question of the paper, features may take any value" in str(paper)


def test_what_a_person_cannot_change_is_kept_and_that_is_said(person):
    clf, X = person
    e = CounterfactualExplainer(clf).explain(X.iloc[0], "yes")
    said = "Kept: age, since by its name a person cannot change it. To free a feature, name it in actions: "
    for face in (str(e), report_page(e).replace("&#34;", '"')):
        assert f'{said}Actions({{"age": "change"}}).' in face
    assert e.counterfactual["age"] == e.factual["age"]
    free = CounterfactualExplainer(clf, actions=Actions({"age": "change"}))
    assert free.explain(X.iloc[0], "yes").question.domain.high[0] > e.question.domain.high[0]
    assert "Kept:" not in str(free.explain(X.iloc[0], "yes"))
    for own in (
        {"immutable": ["age"]}, {"increasing": ["age"]}, {"bounds": {"age": (20, 70)}},
        {"actions": Actions(links=[("debt", "age", 1.0)])},
        {"actions": Actions(when=[("income rises", "age >= age.now + 2")])},
    ):  # fmt: skip
        assert CounterfactualExplainer(clf, **own).kept.features == {}
    kept = {"age": Action("stay", protected=True)}
    assert CounterfactualExplainer(clf, actions=Actions(rules=["age <= 90"])).kept.features == kept
    assert CounterfactualExplainer(clf, bounds={"age": "data", "debt": (0, 9)}).kept.features == kept
    stuck = CounterfactualExplainer(clf, immutable=["income", "debt"]).explain(X.iloc[0], "yes", "return")
    assert "Kept: age" in str(stuck)


def test_forged_presets_are_refused(person):
    clf, X = person
    content = CounterfactualExplainer(clf).explain(X.iloc[0], "yes").to_dict()
    for preset in (
        "paper",
        {"name": "paper"},
        {"name": 1, "given": [], "kept": []},
        {"name": "paper", "given": [2], "kept": []},
        {"name": "x", "given": [], "kept": ["y"]},
    ):
        content["question"]["domain"]["declared"]["preset"] = preset
        with pytest.raises(DataError):
            Explanation.from_dict(content)
    content["question"]["domain"]["declared"]["preset"] = {"name": "other", "given": [], "kept": []}
    assert summary_of(Explanation.from_dict(content)).preset == ""


def test_the_order_of_an_answer(person):
    clf, X = person
    e = CounterfactualExplainer(clf, budget=5).explain(X.iloc[0], "yes", on_failure="return")
    assert "Caution: The budget is an error of up to 5 standard deviations" in str(e)
    clf, X = people(40)
    found = CounterfactualExplainer(clf).explain(X.iloc[0], "yes")
    text = str(found)
    places = [
        text.index(word) for word in ("feature  ", "Caution: ", "Robust: ", "Smallest: ", "Kept: ", "Asked: ")
    ]
    assert places == sorted(places)
    page = report_page(found)
    places = [
        page.index(word) for word in ('class="changes"', "To do: ", 'class="caution"', "What was asked")
    ]
    assert places == sorted(places)


def test_a_row_that_has_the_target_but_breaks_a_rule_says_so_first(person):
    clf, X = person
    row = X.iloc[0]
    rule = f"income >= {row['income'] + 50}"
    e = CounterfactualExplainer(clf, actions=Actions(rules=[rule])).explain(row, "no")
    lines = str(e).splitlines()
    assert lines[0].startswith("Decided no: the probability of no is ")
    assert "but the row does not meet all that was asked. With the change below it is" in lines[0]
    assert any(line.startswith("Broken by the row today: ") for line in lines)
