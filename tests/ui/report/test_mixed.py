"""What a reader sees of a table with categories, whole numbers and curved scales."""

import io
import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import LinearSVC

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    Explanation,
    Explanations,
    adopt,
    datasets,
    write_report,
)
from surefoot.ui.report.page import report_page
from surefoot.ui.report.summary import summary_of
from tests.asking import CounterfactualExplainer
from tests.edited import edited
from tests.thinning import only
from tests.ui.mixed import FLAT, refused_rows, toy_explainer, toy_model

RENT = "<b>rent</b> & $more$"


@pytest.fixture(scope="module")
def clf():
    return toy_model()


@pytest.fixture(scope="module")
def e(clf):
    return toy_explainer(clf).explain(refused_rows(clf).iloc[0], "yes")


@pytest.fixture(scope="module")
def curved():
    clf = toy_model("power")
    return toy_explainer(clf).explain(refused_rows(clf).iloc[0], "yes"), clf


@pytest.fixture(scope="module")
def german():
    data = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    actions = Actions({"savings": Action(cost=0.3)})
    explainer = CounterfactualExplainer(
        clf, budget=0.05, immutable=["age", "personal_status"], actions=actions, whole=False
    )
    return explainer.explain(data.X.iloc[1], "good"), clf


def test_text_names_the_category_its_values_and_its_price(e):
    lines = str(e).splitlines()
    assert f"  housing: {RENT} -> {FLAT} (price 0.1)" in lines
    before, after = (f"{100 * x['housing']:.1f} %" for x in (e.expected_before, e.expected_after))
    assert f"    ({before} of class no have {RENT}," in lines
    assert f"     {after} of class yes have {FLAT})" in lines


def test_the_distance_says_what_is_price(e):
    assert "(0.1000 of it the price of the changed category), and no change" in str(e)


def test_whole_numbers_are_written_as_such(e):
    change = next(c for c in summary_of(e).changes if c.feature == "cards")
    assert float(change.start) == e.factual["cards"]
    assert "." not in change.start + change.end
    assert "." in change.expected_after


def test_whole_numbers_that_are_none_today_keep_their_decimals(clf):
    row = refused_rows(clf).iloc[0].copy()
    row["cards"] = 4.5
    text = str(toy_explainer(clf).explain(row, "yes"))
    assert re.search(r"cards +4\.5 ", text)


def test_numbers_near_a_whole_one_are_written_as_they_are(e):
    near = edited(e, counterfactual=e.answer.point + np.array([0.0, 8e-10, 0.0]))
    change = next(c for c in summary_of(near).changes if c.feature == "cards")
    assert float(change.end) == near.counterfactual["cards"] != round(near.counterfactual["cards"])


def test_a_category_that_changes_for_nothing(clf):
    explainer = toy_explainer(clf, housing=0.0)
    found = explainer.explain(refused_rows(clf).iloc[0], "yes")
    assert "(price 0)" in str(found)
    assert "(the changed category costs nothing)" in str(found)


def test_a_free_change_alone_is_a_change(e):
    choice = replace(e.question.choices[0], prices=(0.0, 0.0))
    free = edited(
        e, choices=(choice, *e.question.choices[1:]), counterfactual=e.question.factual, distance=0.0
    )
    assert f"-> {FLAT} (price 0)" in str(free)
    assert "Robust: " in str(free)
    assert "<strong>" in free._repr_html_()


def test_budget_in_own_units(curved):
    e, _ = curved
    line = next(line for line in str(e).splitlines() if line.startswith("In own units: 0.05 standard"))
    down, up = re.search(r"income (-[\d.,]+) to \+([\d.,]+)", line).groups()
    question, j = e.question, e.question.number_names.index("income")
    warp, size = question.warps[j], 0.05 * e.context.unit[j]
    x = e.counterfactual["income"]
    ends = warp.inverse(warp(x) + np.array([-size, size])) - x
    assert [float(down.replace(",", "")), float(up.replace(",", ""))] == pytest.approx(ends, rel=0.01)
    assert "cards" in line


def test_an_end_beyond_the_scale_is_unbounded(curved):
    e, _ = curved
    assert "unbounded" in str(edited(e, unit=e.context.unit * 1e6))


def test_no_own_units_on_straight_scales_or_without_a_budget(e, curved):
    assert "In own units" not in str(e)
    assert "In own units" not in str(edited(curved[0], budget=0.0))


def test_values_on_a_curved_scale_are_written_in_full(curved):
    change = next(c for c in summary_of(curved[0]).changes if c.feature == "income")
    assert float(change.end) == curved[0].counterfactual["income"]


def test_page(e, clf):
    page = report_page(e, clf)
    assert page.count("<img ") >= 4
    assert "&lt;b&gt;rent&lt;/b&gt; &amp; $more$" in page
    assert f"<strong>{FLAT}</strong>" in page
    assert "% of class no)" in page  # housing depends on nothing
    assert "% of class yes)" in page
    assert "<b>rent" not in page
    assert "<b>Price</b>" in page
    assert "<b>In own units</b>" not in page
    assert "plus the prices of changed categories" in page


def test_page_with_curved_scales(curved):
    assert "<b>In own units</b>" in report_page(*curved)


def test_rare_categories_are_marked(e):
    rare = edited(e, chance_after=np.full(2, 0.01))
    assert "(1.0\N{NO-BREAK SPACE}% of class yes) !" in rare._repr_html_()  # no line ends before the sign
    assert " !" not in edited(e, chance_after=np.full(2, 0.5))._repr_html_().split("z-score")[0]


def test_pages_about_numbers_alone_say_nothing_of_categories(bundled):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier().fit(data.X, data.y)
    page = report_page(CounterfactualExplainer(clf, budget=0.05).explain(data.X.iloc[0]), clf)
    assert "categor" not in page
    assert "own units" not in page
    assert 'class="wide"' not in page


def test_table_of_a_batch(clf):
    rows = refused_rows(clf, 3).copy()
    rows.loc[rows.index[1], "housing"] = None
    batch = toy_explainer(clf).explain_batch(rows, "yes", progress=False)
    table = batch.to_frame()
    assert table["counterfactual: housing"].iloc[0] == FLAT
    assert table["status"].iloc[1] == "invalid"
    assert table["counterfactual: member"].iloc[0] is False
    assert pd.isna(table["counterfactual: member"].iloc[1])
    assert table["counterfactual: income"].dtype == float
    read = pd.read_csv(io.StringIO(table.to_csv()))
    assert read["counterfactual: housing"].iloc[0] == FLAT
    assert "housing is missing" in report_page(batch)
    assert "invalid" in batch._repr_html_()


def test_text_and_page_survive_json(e, clf):
    again = Explanation.from_json(e.to_json())
    assert str(again) == str(e)
    alone = replace(e, made_by=None)  # a file does not know who made it
    assert Explanations([again]).to_frame().equals(Explanations([alone]).to_frame())
    assert again._repr_html_() == alone._repr_html_()


def test_german_credit(german):
    e, clf = german
    assert re.search(r"  savings: below 100 DM -> .+ \(price 0.3\)", str(e))
    assert "(all of it the price of the changed category)" in str(e)
    assert "% of such cases of class good have" in str(e)
    page = report_page(e, clf)
    assert "below 100 DM" in page
    assert "The plane" not in page  # no number moves
    assert 'class="wide"' in page


def test_models_without_probabilities_are_not_given_any(bundled):
    data = bundled["banknote"]
    clf = adopt(LinearSVC().fit(data.X, data.y), data=(data.X, data.y))
    found = CounterfactualExplainer(clf, budget=0.05).explain(data.X.iloc[0], 1)
    assert str(found).startswith("Decided 0. With the change below the decision is 1.")
    assert "the decision stays 1; this is proven." in str(found)
    assert "a decision value of 0" in report_page(found, clf)
    assert "least probability" not in report_page([found])


BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.mark.skipif(BROWSER is None, reason="no chromium here")
@pytest.mark.parametrize("width", only([390], [390, 1280]))
def test_nothing_sticks_out_in_a_browser(e, clf, german, tmp_path, width):
    playwright = pytest.importorskip("playwright.sync_api")
    pages = [
        write_report(e, tmp_path / "toy.html", clf),
        write_report(german[0], tmp_path / "german.html", german[1]),
        write_report([e], tmp_path / "batch.html"),
    ]
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        for path in pages:
            page = browser.new_page(viewport={"width": width, "height": 800})
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert all(page.evaluate("[...document.images].map(image => image.naturalWidth)"))
            page.close()
        browser.close()
