"""What a page, a table or a file says of an answer breaks no wish when it is read back."""

import csv
import io
import json
import random
import re

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, Explanations, write_report
from surefoot.explain.result.display_digits import readable
from surefoot.ui.plots.values import Values
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


def read(text):
    return float(text.replace(",", "").replace("\N{MINUS SIGN}", "-"))


def allowed(e, values):
    """Whether numbers by name are allowed, the others as they are today."""
    question = e.question
    x = np.array([values.get(name, e.factual[name]) for name in question.number_names])
    return question.allows(x, e.answer.state)


@pytest.mark.parametrize("kind", SAID)
@pytest.mark.parametrize("norm", [1, np.inf])
def test_nothing_that_is_written_breaks_a_wish(plane, tmp_path, kind, norm):
    clf, rows = plane
    explainer = CounterfactualExplainer(clf, actions=SAID[kind], norm=norm, gap=0.05)
    batch = explainer.explain_batch(rows, target=1, progress=False)
    assert len(batch.found) == len(rows)
    for e in batch:
        changes = summary_of(e).changes
        assert changes
        small = {name for name in e.changed if name not in [c.feature for c in changes]}
        rest = {name: e.counterfactual[name] for name in small}
        assert allowed(e, {**rest, **{change.feature: read(change.end) for change in changes}})
        shown = re.findall(r"^  (x|y) .*?\)\s+([-\d.,]+)", str(e), flags=re.MULTILINE)
        assert shown
        assert allowed(e, {**rest, **{name: read(text) for name, text in shown}})
        table = e.changes().set_index("feature")["to"]
        assert allowed(e, table.to_dict())
        content = json.loads(e.to_json())["counterfactual"]
        assert allowed(e, dict(zip(content["names"], content["values"], strict=True)))
        if kind not in ("ends", "values", "step"):
            continue
        path = tmp_path / "page.html"
        write_report(e, path)
        page = path.read_text(encoding="utf-8")
        assert all(
            change.end.replace("-", "\N{MINUS SIGN}") in page or change.end in page for change in changes
        )
    written = batch.to_frame().to_csv()
    for e, line in zip(batch, csv.DictReader(io.StringIO(written)), strict=True):
        assert allowed(e, {name: float(line[f"counterfactual: {name}"]) for name in ("x", "y")})


def test_few_digits_break_wishes(plane):
    """The test above could not fail, if plain rounding never broke anything."""
    clf, rows = plane
    broken = set()
    for kind, actions in SAID.items():
        e = CounterfactualExplainer(clf, actions=actions, gap=0.05).explain(rows.iloc[0], target=1)
        values = Values(e)
        plain = {name: read(values.value(name, e.counterfactual[name])) for name in e.changed}
        broken |= {kind} if not allowed(e, plain) else set()
    assert {"values", "step", "ends"} <= broken


def test_random_points_are_written_with_enough_digits(plane):
    clf, rows = plane
    rng, start = random.Random(0), rows.iloc[0].to_numpy()
    longer = 0
    for _ in range(200):
        scale, low, high = 10 ** rng.uniform(-3, 6), rng.uniform(-3, -1), rng.uniform(0, 3)
        rules = [f"x + {rng.uniform(0.1, 3)!r} * y <= {rng.uniform(-3, 3)!r}"]
        explainer = CounterfactualExplainer(
            clf, actions=Actions({"x": Action(low=low, high=high)}, rules=rules), bounds=None
        )
        asked = explainer._current_builder().asked(explainer._read(rows.iloc[0]), 1, None).question
        (rule,) = asked.domain.rows
        x = rng.choice([low, high, rng.uniform(low, high)])
        point = np.array([x, (rule.high - x) / rule.coefficients[1]])
        while not rule.contains(point):
            point[1] = np.nextafter(point[1], -np.inf)
        texts = readable(asked, point, (), [scale, scale])
        assert asked.allows(np.array([read(text) for text in texts]), ())
        assert all(point != start)
        longer += len("".join(texts)) > 12
    assert 0 < longer < 200


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
    assert change.start == "1,234.5678"
    steps = (float(change.end.replace(",", "")) - 1234.5678) / 100
    assert abs(steps - round(steps)) < 1e-9
    free = summary_of(CounterfactualExplainer(clf, immutable=["age"]).explain(row, 1)).changes[0]
    assert free.start == "1,235"
