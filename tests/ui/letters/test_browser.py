"""Letters in a real browser, on paper and on a telephone; skipped where there is none."""

import re

import pytest

from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, write_letter
from tests.thinning import only
from tests.ui.letters.people import DAY, LABELS, mailing, people
from tests.ui.report.test_browser import BROWSER, browser

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium here")
__all__ = ["browser"]


@pytest.fixture(scope="module")
def letters(bundled, tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("letters"), []
    for kind, rows in people()[1].items():
        for k, (explainer, row) in enumerate(rows):
            answers = mailing(explainer).answers(row, row.name)
            for code, template, labels in (("en", "neutral", None), ("de", "us", LABELS)):
                path = folder / f"{kind}-{k}-{code}.html"
                path.write_text(
                    mailing(explainer, code, template, labels).about(answers, DAY).letter, "utf-8"
                )
                found.append(path)
    path = folder / "many.html"
    found.append(write_letter(_many_changes(bundled["ionosphere"]), path, None))
    return found


def _many_changes(table):
    """An answer that changes nearly every feature, its values as the search found them."""
    clf = ConditionalGaussianNetworkClassifier("naive").fit(table.X, table.y)
    e = CounterfactualExplainer(clf, preset="paper", bounds="data", budget=0.05).explain(table.X.iloc[1])
    assert len(e.changed) > 30
    return e


@pytest.mark.parametrize("step", only([5], [5, 1]))
def test_one_page_of_either_paper_and_nothing_beyond_a_telephone(browser, letters, step):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    for path in letters[::-step]:  # the last has most changes
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        for paper in ("A4", "Letter"):
            document = page.pdf(format=paper)
            assert len(re.findall(rb"/Type\s*/Page\b", document)) == 1, (path, paper)
    page.close()


def test_long_words_of_the_senders_are_broken_on_a_telephone(browser, letters, tmp_path):
    labels = {**LABELS, "letter": {**LABELS["letter"], "valid_until": "Q" * 300, "contact": "Q" * 300}}
    explainer, row = people()[1]["found"][0]
    path = tmp_path / "long.html"
    path.write_text(mailing(explainer, "en", "us", labels).written(row, 1, DAY).letter, "utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
