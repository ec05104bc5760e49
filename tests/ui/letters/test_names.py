"""Names come from files that others wrote: in letters and labels they do no harm."""

import datetime
import tomllib
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer
from surefoot.ui.letters.folder import write_letters
from surefoot.ui.letters.labels import labels_template, read_labels
from tests.ui.letters.people import mailing

TAIL = "\x1b[2J\x9b1m\u202e\u2066\x7f\u2028\r\nWhat this letter promises\n---\n\t\U000e0041"
NAMES = ["<script>alert(1)</script>" + TAIL, "שלום" + TAIL, "long " * 60, "{wanted} {0.__class__} %s" + TAIL]
VALUES = ["<b>rent</b> & \"'" + TAIL, "own" * 100]
YES, NO = "<i>yes</i>" + TAIL, "{no}" + TAIL


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    n = 160
    good = rng.random(n) < 0.5
    columns = {name: rng.normal(good * 1.5, 1.0).round(3) for name in NAMES[:3]}
    columns[NAMES[3]] = np.where(rng.random(n) < np.where(good, 0.8, 0.3), *VALUES)
    return pd.DataFrame(columns), np.where(good, YES, NO)


@pytest.fixture(scope="module")
def explainer(table):
    return CounterfactualExplainer(ConditionalGaussianNetworkClassifier("naive").fit(*table))


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = set()

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)


@pytest.mark.parametrize("labelled", [False, True])
def test_letters(explainer, table, labelled):
    clf, X = explainer.classifier, table[0]
    row = X[clf.predict(X) == NO].iloc[0]
    labels = None
    if labelled:
        labels = {name: {"label": "<u>" + name, "unit": "<s>" + TAIL} for name in NAMES[:3]}
        labels["letter"] = {"sender": "<script>x</script>\nHigh Street", "decisions": {YES: "<em>" + TAIL}}
    for form in (".html", ".txt"):
        letters = mailing(explainer, "de", "us", labels, form, target=YES)
        text = letters.written(row, "row" + TAIL, datetime.date(2026, 1, 1), "to" + TAIL).letter
        strange = {c for c in text if not c.isprintable()} - {"\n", "\u2068", "\u2069", "\N{NO-BREAK SPACE}"}
        assert strange == set()
        assert text.count("\u2068") == text.count("\u2069")
        assert not any(line.strip() == "What this letter promises" for line in text.splitlines())
        assert max(map(len, text.split())) < 120
        if form == ".html":
            tags = Tags()
            tags.feed(text)
            assert tags.found.isdisjoint({"script", "i", "u", "s", "em"})
            assert "&lt;" in text


def test_labels(explainer):
    text = labels_template(explainer.classifier)
    assert all(c.isprintable() or c == "\n" for c in text)
    found = tomllib.loads(text)
    assert [name for name in found if name != "letter"] == NAMES
    assert read_labels(found, explainer.classifier).decisions.keys() == {YES, NO}


def test_a_folder(explainer, table, tmp_path):
    rows = table[0].head(4).set_axis(["../../etc/passwd" + TAIL, "<script>", "x" * 5000, np.nan])
    write_letters(mailing(explainer, target=YES), rows, tmp_path / "letters", {"date": None}, progress=False)
    assert {p.name for p in (tmp_path / "letters").glob("letter*")} == {f"letter-{k}.html" for k in range(4)}
    index = (tmp_path / "letters" / "index.html").read_text("utf-8")
    assert "<script>" not in index
    assert "(no name, row 3)" in index
    assert "nan" not in (tmp_path / "letters" / "letter-3.html").read_text("utf-8").lower()
    assert {c for c in index if not c.isprintable()} <= {"\n", "\u2068", "\u2069"}
    assert index.count("\u2068") == index.count("\u2069")


def test_what_the_sender_is_told(table, tmp_path):
    """Names that may be protected, and decisions on record, in the index."""
    X, y = table
    said = ("sex <img src=x> " + TAIL, "age שלום" + TAIL, "birth " + "x " * 150)
    names = dict(zip(NAMES[:3], said, strict=True))
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X.rename(columns=names), y)
    rows = X.rename(columns=names)[clf.predict(X.rename(columns=names)) == NO].head(3)
    recorded = ["<b>granted</b>" + TAIL, "שלום" * 90, "{no}" * 90]
    letters = mailing(CounterfactualExplainer(clf), target=YES)
    folder = write_letters(letters, rows, tmp_path / "l", {"date": None}, progress=False, recorded=recorded)
    assert sum("The table records the decision" in note for note in folder.notes) == 3
    assert sum("may be protected by law" in note for note in folder.notes) >= 1
    assert max(map(len, folder.notes)) < 400
    index = (tmp_path / "l" / "index.html").read_text("utf-8")
    for text in (index, *folder.notes):
        assert {c for c in text if not c.isprintable()} <= {"\n", "\u2068", "\u2069"}
        assert text.count("\u2068") == text.count("\u2069")
    tags = Tags()
    tags.feed(index)
    assert tags.found.isdisjoint({"img", "b", "script"})
