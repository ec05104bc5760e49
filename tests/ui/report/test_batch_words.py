"""The page of many rows opens with the answer."""

import re
from types import SimpleNamespace

import pytest

from surefoot import Actions, write_report
from surefoot.ui.report.batch_words import batch_answer
from surefoot.ui.report.summary import presets_of
from tests.asking import CounterfactualExplainer
from tests.ui.mixed import toy_model, toy_table


@pytest.fixture(scope="module")
def batch():
    names = ("housing", "income", "cards", "member", "years")
    explainer = CounterfactualExplainer(
        toy_model(), budget=0, actions=Actions({**dict.fromkeys(names, "stay"), "income": "rise"})
    )
    rows = toy_table(40)[0]
    rows.loc[3, "years"] = float("nan")
    return explainer.explain_batch(rows, "yes", progress=False)


def asked_row(batch):
    """The place of the first row that is not decided as wanted."""
    return next(k for k, e in enumerate(batch) if e.factual_class == "no")


def test_the_page_opens_with_the_answer(batch, tmp_path):
    counts = batch.counts()
    asked = 40 - counts["already_target"]
    changed = len(batch.found) - counts["already_target"]
    page = write_report(batch, tmp_path / "p.html").read_text()
    first = page.index('<p class="answer">')
    assert f"For {changed} of the {asked} others a change is enough." in page[first:]
    assert first < page.index("In numbers") < page.index("Each row")
    assert "Already decided as wanted, nothing needs to change (" in page[page.index("<details") :]
    assert "The row cannot be read" in page
    reasons = page[page.index("Principal reasons for the decisions") : page.index("In numbers")]
    assert f"<tr><td>{batch[asked_row(batch)].reasons.principal_features[0]}</td>" in reasons
    if "infeasible" in counts:
        assert f"For {counts['infeasible']} it is proven that no allowed change is enough." in page
        assert "in the way: " in page
        assert "with one of these restrictions lifted, others may still stand in the way" in page
    assert page.count("<article>") == asked
    assert '<th>why</th><th class="number">rows</th>' in page


def test_every_row_is_counted_in_the_answer(batch):
    said = " ".join(batch_answer(batch))
    found = re.findall(r"^(\d+) of 40|For (\d+) |rest, (\d+) cannot", said)
    assert sum(int(n) for some in found for n in some if n) == 40, said
    rows = toy_table(40)[0]
    hurried = CounterfactualExplainer(toy_model(), budget=0, time_limit=1e-9)
    stopped = hurried.explain_batch(rows, "yes", progress=False)
    assert (open_ := len(stopped) - len(stopped.found)) > 1
    assert " ".join(batch_answer(stopped)).endswith(f"Of the rest, {open_} are undecided.")


def test_many_rows_are_folded(batch, tmp_path):
    many = type(batch)(list(batch) * 8)
    page = write_report(many, tmp_path / "p.html").read_text()
    assert "rows that are not decided as wanted (not printed while this is closed)" in page
    assert '<section class="folded">' in page  # and so without a heading above nothing in print
    assert '<section class="folded">' not in write_report(batch, tmp_path / "p.html").read_text()


def test_one_feature_reads_well(batch):
    single = [e for e in batch if len(e.changed) == 1]
    assert single
    more = CounterfactualExplainer(toy_model(), budget=0).explain(single[0].factual, "yes")
    assert len(more.changed) > 1
    said = batch_answer(type(batch)(single))
    assert said[1].startswith("All of them change a single feature; most often: income (")
    said = batch_answer(type(batch)([*single, more]))
    assert said[1].startswith("Half of them or more change a single feature; most often: income (")


def test_presets_that_differ_say_of_how_many_rows():
    few, all_ = SimpleNamespace(preset="Few features change."), SimpleNamespace(preset="All may change.")
    assert presets_of([few, few]) == ["Few features change."]
    assert presets_of([few, all_, few, SimpleNamespace(preset="")]) == [
        "Asked of 2 rows. Few features change.",
        "Asked of 1 row. All may change.",
    ]
