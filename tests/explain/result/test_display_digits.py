"""What a page, a table or a file says of an answer breaks no constraint when it is read back."""

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, Explanations, write_report
from surefoot.ui.report.summary import summary_of
from tests.asking import CounterfactualExplainer

SAID = {
    "ends": Actions({"x": Action(high=0.3456789)}),
    "rise": Actions({"x": "rise", "y": "rise"}),
    "most": Actions({"x": Action(most=0.7654321)}),
    "values": Actions(
        {"x": Action(values=[1.2345, 2.3456, -7.77777]), "y": Action(values=[0.33333, 1.11111])}
    ),
    "step": Actions({"x": Action(step=0.123456, most=9)}),
    "whole": Actions({"x": Action(whole=True)}),
    "rule": Actions(rules=["1.23 * x + 0.321 * y <= 1.23 * x.now + 0.321 * y.now + 1.7777777"]),
    "if-then": Actions(when=[("x rises", "y >= y.now + 1.9876543"), ("y rises", "x rises")]),
    "two rules": Actions(rules=["x - y <= 0.1234567", "x + 1.234 * y >= 2.7654321"]),
}


@pytest.fixture(scope="module")
def plane():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(
        np.vstack([rng.normal(0, 1, (80, 2)), rng.normal([2, 1.5], [1, 0.7], (80, 2))]), columns=["x", "y"]
    )
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, np.repeat([0, 1], 80))
    return clf, pd.DataFrame([[-0.512345, -0.254321]], columns=["x", "y"])


def allowed(e, values):
    """Whether numbers by name are allowed, the others as they are today."""
    question = e.question
    x = np.array([values.get(name, e.factual[name]) for name in question.number_names])
    return question.allows(x, e.answer.state)


@pytest.mark.parametrize("kind", SAID)
@pytest.mark.parametrize(("norm", "printable"), [(1, True), (np.inf, False), (np.inf, True)])
def test_what_is_written_is_the_value_itself(plane, tmp_path, kind, norm, printable):
    clf, rows = plane
    explainer = CounterfactualExplainer(clf, actions=SAID[kind], norm=norm, gap=0.05, printable=printable)
    batch = explainer.explain_batch(rows, target=1, progress=False)
    assert len(batch.found) == len(rows)
    for e in batch:
        changes = summary_of(e).changes
        assert changes
        point = {name: e.counterfactual[name] for name in e.changed}
        assert allowed(e, point)
        assert {change.feature: float(change.end) for change in changes} == point
        shown = re.findall(r"^  (x|y) .*?\)\s+(\S+)", str(e), flags=re.MULTILINE)
        assert {name: float(text) for name, text in shown} == point
        table = e.changes().set_index("feature")["to"]
        assert table.to_dict() == e.counterfactual.to_dict()
        content = json.loads(e.to_json())["counterfactual"]
        assert dict(zip(content["names"], content["values"], strict=True)) == e.counterfactual.to_dict()
        if kind not in ("ends", "values", "step"):
            continue
        path = tmp_path / "page.html"
        write_report(e, path)
        page = path.read_text(encoding="utf-8")
        assert all(f"<strong>{change.end}</strong>" in page for change in changes)
    written = batch.to_frame().to_csv()
    for e, line in zip(batch, csv.DictReader(io.StringIO(written)), strict=True):
        assert all(float(line[f"counterfactual: {name}"]) == e.counterfactual[name] for name in ("x", "y"))


def test_few_digits_would_break_constraints(plane):
    """The test above could not fail, if plain rounding never broke anything."""
    clf, rows = plane
    broken = set()
    for kind, actions in SAID.items():
        e = CounterfactualExplainer(clf, actions=actions, gap=0.05).explain(rows.iloc[0], target=1)
        short = {name: round(e.counterfactual[name], 2) for name in e.changed}
        broken |= {kind} if not allowed(e, short) else set()
    assert {"values", "step", "ends"} <= broken


def test_whole_numbers_are_written_as_such(bundled):
    pima = bundled["pima"]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(pima.X, pima.y)
    explainer = CounterfactualExplainer(clf, immutable=["age"])
    batch = explainer.explain_batch(pima.X.head(3), target=0, progress=False)
    frame = batch.to_frame()
    whole = ["preg", "plas", "pres", "skin", "insu", "age"]
    assert {
        str(frame[f"{which}: {name}"].dtype) for which in ("factual", "counterfactual") for name in whole
    } == {"int64"}
    assert frame["counterfactual: mass"].dtype == float
    assert all(
        "." not in change.end for e in batch for change in summary_of(e).changes if change.feature in whole
    )
    lines = list(csv.DictReader(io.StringIO(frame.to_csv())))
    assert all("." not in line[f"counterfactual: {name}"] for line in lines for name in whole)
    again = Explanations.from_json(batch.to_json())
    pd.testing.assert_frame_equal(again.to_frame(), frame)
    stuck = CounterfactualExplainer(clf, immutable=list(pima.X.columns)).explain_batch(
        pima.X.head(2), target=[0, 1], progress=False
    )
    assert stuck.to_frame()["counterfactual: preg"].dtype in ("Int64", "int64", float, object)


def test_steps_count_from_what_is_shown_of_today():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.normal(2000, 500, 200), "age": rng.normal(40, 9, 200)})
    y = (X["income"] + rng.normal(0, 100, 200) > 2000).astype(int)
    clf = ConditionalGaussianNetworkClassifier().fit(X, y)
    row = pd.Series({"income": 1234.5678, "age": 40.0})
    actions = Actions({"income": Action(step=100), "age": "stay"})
    change = summary_of(CounterfactualExplainer(clf, actions=actions).explain(row, 1)).changes[0]
    assert change.start == "1234.5678"
    steps = (float(change.end) - 1234.5678) / 100
    assert abs(steps - round(steps)) < 1e-9
    row["income"] = 1234 + 1 / 3
    free = summary_of(
        CounterfactualExplainer(clf, immutable=["age"], printable=True).explain(row, 1)
    ).changes[0]
    assert free.start == "1234.33333"
