import re

import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Explanations, write_report
from surefoot.exceptions import DataError, MissingDependencyError
from surefoot.ui.report import pictures
from surefoot.ui.report.page import report_page
from tests.asking import CounterfactualExplainer

NASTY = [
    "a b",
    "c,d",
    'q"uote',
    "<b>bold</b>",
    "größe 体重",
    "<script>alert(1)</script>",
    "{{ 7*7 }}",
    "$x^2$",
]


@pytest.fixture(scope="module")
def nasty(bundled):
    """Pima with names that a careless page would choke on; labels too."""
    pima = bundled["pima"]
    X = pima.X.set_axis(NASTY, axis=1)
    return X, pima.y.map({0: "<i>no</i>", 1: "yes & more"})


@pytest.fixture(scope="module")
def clf(nasty):
    return ConditionalGaussianNetworkClassifier("tan").fit(*nasty)


@pytest.fixture(scope="module")
def explainer(clf):
    return CounterfactualExplainer(clf, budget=0.05, whole=False)


def test_one_explanation(explainer, nasty, clf, tmp_path):
    e = explainer.explain(nasty[0].iloc[0])
    path = write_report(e, tmp_path / "report.html", clf)
    page = path.read_text(encoding="utf-8")
    assert page.count("<img ") == 4
    assert "Decided yes &amp; more: the probability of &lt;i&gt;no&lt;/i&gt; is" in page
    assert all_names_are_text(page)
    assert "49" not in re.findall(r"<th scope=.row.>(.*?)</th>", page)


def all_names_are_text(page):
    no_markup = not any(text in page for text in ("<script", "<b>bold", "<i>no"))
    return no_markup and "&lt;b&gt;bold&lt;/b&gt;" in page and "größe 体重" in page and "{{ 7*7 }}" in page


def test_nothing_comes_from_outside(explainer, nasty, clf):
    page = report_page(explainer.explain(nasty[0].iloc[0]), clf)
    sources = re.findall(r"(?:src|href)=.([^\"\']*)", page)
    assert sources
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert "url(" not in page
    assert "@import" not in page


def test_the_same_explanation_gives_the_same_page(explainer, nasty, clf):
    e = explainer.explain(nasty[0].iloc[0])
    assert report_page(e, clf) == report_page(e, clf)


def test_without_a_classifier_there_is_only_what_the_explanation_knows(explainer, nasty):
    assert report_page(explainer.explain(nasty[0].iloc[0])).count("<img ") == 1


def test_the_trace_is_shown_where_there_is_one(clf, nasty):
    e = CounterfactualExplainer(clf, budget=0.05, method="qcqp", bounds=None).explain(nasty[0].iloc[0])
    assert len(e.iterations) > 1
    assert "How the search went" in report_page(e)


def test_title(explainer, nasty):
    page = report_page(explainer.explain(nasty[0].iloc[0]), title="Mrs <Smith>")
    assert page.count("Mrs &lt;Smith&gt;") == 2


def test_a_failure_says_why(clf, nasty):
    explainer = CounterfactualExplainer(clf, immutable=NASTY)
    page = report_page(explainer.explain(nasty[0].iloc[0], on_failure="return"), clf)
    assert "No allowed change leads to the target" in page
    assert "may change" in page
    assert "change in standard deviations</th>" not in page


def test_batch(explainer, nasty):
    rows = nasty[0].head(12).copy()
    rows.iloc[4, 0] = float("nan")
    batch = explainer.explain_batch(rows, progress=False)
    page = report_page(batch)
    assert page.count("<article>") == 12
    assert page.count("<img ") == 2  # distances and features; every answer covers all of the budget
    assert "is not a finite number: nan" in page
    assert "median distance" in page
    assert all_names_are_text(page)


def test_many_rows_that_need_no_change_are_folded_away(explainer, nasty, clf):
    rows = nasty[0][clf.predict(nasty[0]) == clf.classes_[0]].head(25)
    wanted = CounterfactualExplainer(clf).explain_batch(rows, clf.classes_[0], progress=False)
    page = report_page(wanted)
    assert '<details class="note">' in page
    assert "nothing needs to change (25 rows)</summary>" in page
    assert "All 25 rows are decided as wanted already." in page
    assert "<img " not in page


def test_batches_without_any_change(explainer, nasty):
    rows = nasty[0].head(2) * float("nan")
    page = report_page(explainer.explain_batch(rows, progress=False))
    assert "<img " not in page
    with pytest.raises(DataError, match="no explanations"):
        report_page(Explanations())


def test_without_matplotlib_the_page_says_so(explainer, nasty, monkeypatch):
    def missing(*_, **__):
        raise MissingDependencyError("drawing needs matplotlib")

    monkeypatch.setattr(pictures.plots, "plot_changes", missing)
    page = report_page(explainer.explain(nasty[0].iloc[0]))
    assert "matplotlib is not installed" in page
    assert "<img " not in page


def test_notebook_fragment_escapes(explainer, nasty):
    html = explainer.explain(nasty[0].iloc[0])._repr_html_()
    assert "<b>bold" not in html
    assert "&lt;b&gt;bold" in html


def test_several_answers_about_one_row_make_a_page_of_their_own(explainer, nasty):
    found = explainer.alternatives(nasty[0].iloc[0], n=3)
    page = report_page(found)
    assert f"{len(found)} ways for row {nasty[0].index[0]} to be decided" in page
    assert [f"Answer {k} of {len(found)}" in page for k in range(1, len(found) + 1)] == [True] * len(found)
    assert page.count("What was allowed</h2>") == 1
    assert page.count("Besides what was allowed: ") == len(found) - 1
    assert "median distance" not in page
    assert all_names_are_text(page)


def test_rows_that_are_equal_but_named_apart_are_a_batch(explainer, nasty):
    rows = nasty[0].iloc[[0, 0]].set_axis(["first", "second"])
    batch = explainer.explain_batch(rows, progress=False)
    assert not batch.about_one_row
    assert "2 rows" in report_page(batch)
    assert not Explanations().about_one_row


def test_one_row_that_stands_twice_in_a_table_is_a_batch(explainer, nasty):
    batch = explainer.explain_batch(nasty[0].iloc[[0, 0]], progress=False)
    assert batch[0].row == batch[1].row
    assert not batch.about_one_row


def test_several_classes_are_explained_where_there_are_some(explainer, nasty, clf):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True, as_frame=True)
    three = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    page = report_page(CounterfactualExplainer(three).explain(X.iloc[0], target=1))
    assert "<b>Against each other class</b>" in page
    assert "Its probability among all classes" in page
    assert "Against each other class" not in report_page(explainer.explain(nasty[0].iloc[0]), clf)


def test_a_page_of_an_answer_that_holds_under_refits(clf, nasty):
    """Its plane shows the errors, for which the other models are not needed."""
    e = CounterfactualExplainer(clf, budget=0.05, models=[clf]).explain(nasty[0].iloc[0])
    assert report_page(e, clf).count("data:image/") == report_page(e.from_json(e.to_json()), clf).count(
        "data:image/"
    )
