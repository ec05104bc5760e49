"""The report in a real browser; skipped where there is none."""

import re
import shutil

import pytest

from surefoot import ConditionalGaussianNetworkClassifier, write_report
from tests.asking import CounterfactualExplainer
from tests.thinning import only

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip

PAGES = [("one", 390), ("batch", 1280), ("one", 1280), ("batch", 390)]
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium here")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(bundled, tmp_path_factory):
    """A report of one explanation and one of a batch, about data with names that look like markup."""
    pima = bundled["pima"]
    X = pima.X.rename(columns={"plas": '<b>plas</b> & "more"', "age": "<img src=http://127.0.0.1:9/x.png>"})
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, pima.y)
    explainer = CounterfactualExplainer(clf, budget=0.05, whole=False)
    folder = tmp_path_factory.mktemp("reports")
    return {
        "one": write_report(explainer.explain(X.iloc[0]), folder / "one.html", clf),
        "batch": write_report(explainer.explain_batch(X.head(30), progress=False), folder / "batch.html"),
    }


@pytest.mark.parametrize(("kind", "width"), only(PAGES[:2], PAGES))
def test_no_errors_no_requests_and_nothing_sticks_out(browser, pages, kind, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    requests, troubles = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(pages[kind].as_uri())
    assert troubles == []
    assert [url for url in requests if not url.startswith("data:")] == [pages[kind].as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    widths = page.evaluate("[...document.images].map(image => image.naturalWidth)")
    assert len(widths) == (4 if kind == "one" else 2)
    assert all(widths)
    assert '<b>plas</b> & "more"' in page.inner_text("body")
    page.close()


@pytest.mark.parametrize("kind", ["one", "batch"])
def test_on_a_small_screen_nothing_scrolls_sideways_and_names_stay_whole(browser, pages, kind):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(pages[kind].as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    wide = "[...document.querySelectorAll('*')].filter(one => one.scrollWidth > one.clientWidth + 1 && "
    wide += "getComputedStyle(one).overflowX !== 'visible').map(one => one.className)"
    assert page.evaluate(wide) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # A word that was broken would have more than one box.
    broken = """() => {
      const found = [];
      for (const cell of document.querySelectorAll('.changes th[scope=row]')) {
        const text = cell.firstChild, range = document.createRange();
        for (const word of text.data.matchAll(/[\\w-]+/g)) {
          range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
          if (range.getClientRects().length > 1) found.push(word[0]);
        }
      }
      return found;
    }"""
    assert page.evaluate(broken) == []
    page.close()


def test_it_prints_on_two_pages(browser, pages):
    page = browser.new_page()
    page.goto(pages["batch"].as_uri())
    assert page.pdf()[:5] == b"%PDF-"
    page.goto(pages["one"].as_uri())
    for paper in ("A4", "Letter"):
        assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format=paper))) <= 2
    page.close()


def test_a_page_with_a_script_would_be_caught(browser, tmp_path):
    """The watch above is not blind."""
    path = tmp_path / "bad.html"
    path.write_text("<img src='http://127.0.0.1:9/x.png'><script>nonsense()</script>", encoding="utf-8")
    page = browser.new_page()
    requests, troubles = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(path.as_uri())
    assert "http://127.0.0.1:9/x.png" in requests
    assert troubles
    page.close()


def test_a_long_name_does_not_widen_the_page_of_a_batch(browser, bundled, tmp_path):
    pima = bundled["pima"]
    X = pima.X.rename(columns={"plas": "x" * 300})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, pima.y)
    batch = CounterfactualExplainer(clf, budget=0.05).explain_batch(X.head(12), progress=False)
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(write_report(batch, tmp_path / "long.html", clf).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
