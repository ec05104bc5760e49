"""The report in a real browser; skipped where there is none."""

import shutil

import pytest

from surefoot import ConditionalGaussianNetworkClassifier, write_report
from tests.asking import CounterfactualExplainer

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip

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


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("kind", ["one", "batch"])
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
def test_on_a_small_screen_the_table_of_changes_scrolls_and_says_so(browser, pages, kind):
    page = browser.new_page(viewport={"width": 420, "height": 800})
    page.goto(pages[kind].as_uri())
    box = "document.querySelector('.scroll:has(.changes)')"
    assert page.evaluate(f"{box}.scrollWidth > {box}.clientWidth")
    hint = f"getComputedStyle({box}, '::before').content"
    assert "Scroll sideways" in page.evaluate(hint)
    page.evaluate(f"{box}.scrollLeft = 1000")
    assert page.evaluate(f"{box}.scrollLeft") > 0
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.evaluate(hint) == "none"
    page.close()


def test_it_prints(browser, pages):
    page = browser.new_page()
    page.goto(pages["batch"].as_uri())
    assert page.pdf()[:5] == b"%PDF-"
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
