"""The first part of a report is what the person concerned would be told."""

import re

import numpy as np
import pandas as pd
import pytest

from surefoot import (
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    Explanation,
    plots,
    write_report,
)
from surefoot.explain.result.batch import Explanations
from surefoot.ui.report.page import report_page
from surefoot.ui.report.person import person_of
from tests.ui.mixed import refused_rows, toy_model, toy_table


@pytest.fixture(scope="module")
def clf():
    return toy_model()


@pytest.fixture(scope="module")
def e(clf):
    return CounterfactualExplainer(clf).explain(refused_rows(clf).iloc[0], "yes")


def test_the_person_comes_first_then_the_analyst_then_what_is_folded_away(e, clf, tmp_path):
    page = write_report(e, tmp_path / "a.html", clf).read_text("utf-8")
    places = [
        page.index(text) for text in ("For the person concerned", "For the analyst", "<details>", "<img ")
    ]
    assert places == sorted(places)
    assert page.index("What would change the decision") < page.index("For the analyst")
    assert "<img " not in re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)


def test_what_is_enough_is_in_the_page_but_not_in_the_file(e, clf):
    before = e.to_json()
    one = e.enough().numbers[0] if e.enough().numbers else None
    fresh = Explanation.from_json(before)
    page = report_page(fresh, clf)
    assert fresh.to_json() == before
    if one is not None:
        assert str(one.feature) in page
    assert "For the person concerned" in page


def test_without_its_classifier_a_page_has_the_analysts_part_alone(e):
    fresh = Explanation.from_json(e.to_json())
    assert person_of([fresh]) is None
    assert person_of([fresh], ConditionalGaussianNetworkClassifier("naive").fit(*toy_table())) is None
    page = report_page(fresh)
    assert "For the person concerned" not in page
    assert "Decided no" in page


def test_a_notebook_shows_the_short_report(e):
    html = e._repr_html_()
    assert "For the person concerned" in html
    assert html.index("For the analyst") < html.index("Decided no")
    assert "<img" not in html


def test_the_table_of_a_batch_has_neither_nan_nor_inf(clf):
    rows = refused_rows(clf, 3).astype(object)
    rows.iloc[1, 1] = float("nan")
    found = CounterfactualExplainer(clf).explain_batch(rows, "yes", progress=False)
    none = CounterfactualExplainer(clf, immutable=list(rows)).explain(
        rows.iloc[0], "yes", on_failure="return"
    )
    html = Explanations([*found, none])._repr_html_()
    assert "infeasible" in html
    assert "invalid" in html
    assert re.findall(r">\s*-?(nan|inf)\s*<", html) == []


def test_axes_stay_within_what_is_possible(bundled):
    pima = bundled["pima"]
    model = ConditionalGaussianNetworkClassifier().fit(pima.X, pima.y)
    found = CounterfactualExplainer(model).explain(pima.X.iloc[0])
    ax = plots.plot_plane(found, model, features=["plas", "insu"])
    for name, (low, high) in (("plas", ax.get_xlim()), ("insu", ax.get_ylim())):
        assert pima.X[name].min() <= low < high <= pima.X[name].max()
    assert all(float(tick).is_integer() for tick in np.concatenate([ax.get_xticks(), ax.get_yticks()]))


def test_the_page_says_why_limits_and_values_differ(clf):
    """With a margin for errors the proposed values lie inside the limits of what is enough; else nothing."""
    row = refused_rows(clf).iloc[0]
    for budget in (0.05, 0.0):
        e = CounterfactualExplainer(clf, budget=budget).explain(row, "yes")
        said = "with a margin for errors: that is why they differ"
        assert (said in report_page(e, clf)) == (budget > 0)
        for one in e.enough().numbers:
            assert one.low <= e.counterfactual[one.feature] <= one.high


def test_where_categories_alone_change_there_are_no_limits_to_explain(clf):
    numbers = [name for name in clf.feature_labels_ if name not in clf.categories_]
    explainer = CounterfactualExplainer(clf, immutable=numbers)
    found = explainer.explain_batch(refused_rows(clf, 4), "yes", progress=False).found
    assert found
    for e in found:
        assert "with a margin for errors" not in report_page(e, clf)


def test_numbers_beside_names_from_right_to_left_stay_in_place():
    rng = np.random.default_rng(0)
    good = rng.random(80) < 0.5
    X = pd.DataFrame({"\u05d0\u05d1": rng.normal(2.0 * good), "b\u2068": rng.normal(2.0 * good)})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, np.where(good, "yes", "no"))
    row = pd.Series({"\u05d0\u05d1": -1.5, "b\u2068": -1.0})
    page = report_page(CounterfactualExplainer(clf).explain(row, "yes"), clf)
    assert "\u2068\u05d0\u05d1\u2069: -1.5" in page
    assert page.count("\u2068") == page.count("\u2069")  # half of a pair in a name is replaced
