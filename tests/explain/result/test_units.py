"""Units and rare values as people wrote them: kept with the model, shown in answers, checked in files."""

import json

import numpy as np
import pandas as pd
import pytest

import surefoot
from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
from surefoot.exceptions import DataError
from surefoot.table.again import read_like
from surefoot.table.reading import Reading
from surefoot.ui.letters.labels import labels_template, read_labels


def lender(n=600):
    rng = np.random.default_rng(1)
    income, rate = rng.normal(3000, 400, n).round(2), rng.uniform(1, 9, n).round(2)
    odds = 0.004 * (income - 3000) - 0.5 * (rate - 5)
    branch = rng.choice([f"{v:05}" for v in range(1000, 1300)], n)
    branch[: n // 2] = rng.choice(["01067", "20095"], n // 2)
    odds += 2.0 * (branch == "20095")
    return pd.DataFrame(
        {
            "income": [f"{v:,.2f} €".translate(str.maketrans(",.", ".,")) for v in income],
            "rate": [f"{v:.2f} %".replace(".", ",") for v in rate],
            "branch": branch,
            "repaid": np.where(odds + rng.logistic(size=n) > 0, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    path = tmp_path_factory.mktemp("units") / "model.json"
    table = datasets.read_table(lender(), "repaid")
    clf = ConditionalGaussianNetworkClassifier("naive").fit(table.X, table.y)
    clf.recipe_ = table.recipe
    clf.save(path)
    return ConditionalGaussianNetworkClassifier.load(path)


@pytest.fixture(scope="module")
def answer(fitted):
    row = {"income": 2700.0, "rate": 6.5, "branch": "99999"}
    explainer = CounterfactualExplainer(fitted, budget=0, actions=surefoot.Actions({"branch": "change"}))
    return explainer.explain(row, "yes")


def test_units_are_in_the_model_file_and_in_answers(fitted, answer):
    assert fitted.units_ == {"income": "€", "rate": "%"}
    assert answer.question.declared["units"] == {"income": "€", "rate": "%"}
    alone = CounterfactualExplainer(fitted, budget=0, immutable=["branch"])
    text = str(alone.explain({"income": 2700.0, "rate": 6.5, "branch": "01067"}, "yes"))
    assert "income (€)" in text or "rate (%)" in text


def test_a_person_sees_the_own_value_which_the_model_counts_as_rare(fitted, answer):
    assert answer.factual["branch"] == "(rare)"
    assert answer.question.declared["written"] == {"branch": "99999"}
    assert "branch: 99999 (rare) -> 20095" in str(answer)
    assert "of class no have (rare)," in str(answer).replace("'", "")  # of all rare ones
    assert str(surefoot.Explanation.from_json(answer.to_json())) == str(answer)
    assert surefoot.verify(answer, fitted).ok


def test_the_next_table_keeps_the_own_value(fitted):
    reading = Reading(pd.DataFrame({"income": [1.0], "rate": [2.0], "branch": ["99999"]}), "next.csv")
    assert read_like(reading, fitted).frame["branch"].tolist() == ["99999"]


def with_declared(answer, key, value):
    document = json.loads(answer.to_json())
    document["question"]["domain"]["declared"][key] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("units", {"nothing": "€"}, "is not a feature"),
        ("units", {"income": 3}, "units"),
        ("units", ["€"], "must be an object"),
        ("written", {"branch": ["99999"]}, "written"),
    ],
)
def test_malformed_units_and_values_are_refused(answer, key, value, message):
    with pytest.raises(DataError, match=message):
        surefoot.Explanation.from_json(with_declared(answer, key, value))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("units", {"income": "$"}, "units of the features are not those of the model"),
        ("units", {}, "units of the features are not those of the model"),
        ("written", {"income": "7"}, "is said to be a rare value"),
        ("written", {"branch": "20095"}, "is said to be a rare value"),
    ],
)
def test_forged_units_and_values_do_not_hold(fitted, answer, key, value, message):
    found = surefoot.verify(surefoot.Explanation.from_json(with_declared(answer, key, value)), fitted)
    assert not found.ok
    assert any(message in str(claim) for claim in found.failures)


def test_letters_have_the_units_unless_labels_say_otherwise(fitted):
    assert read_labels(None, fitted).of("income").unit == "€"
    assert 'rate = { label = "rate", unit = "%" }' in labels_template(fitted)


def test_the_page_and_the_letter_show_units_and_the_own_value(answer, fitted, tmp_path):
    surefoot.write_report(answer, tmp_path / "page.html", fitted)
    surefoot.write_letter(answer, tmp_path / "letter.txt", fitted)
    page, letter = ((tmp_path / name).read_text(encoding="utf-8") for name in ("page.html", "letter.txt"))
    for text in (page, letter):
        assert "99999" in text
    assert "€2,700.00" in letter
