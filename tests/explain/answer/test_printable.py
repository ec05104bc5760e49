"""Short decimals: allowed, proven for these very values, within the gap; whatever the request."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from benchmarks.audit import typed_back

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    Explanation,
    Explanations,
    verify,
)
from surefoot.explain.answer import printable
from surefoot.problem.answer import Answer
from surefoot.status import Status
from tests.thinning import covering


def table(scale=(1.0, 1.0, 1.0), seed=3, decimals=None):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 150)
    X = rng.normal(size=(300, 3)) + np.outer(y, [1.5, 1.0, 0.5])
    X[:, 2] += 0.5 * X[:, 0]
    X = pd.DataFrame(X * np.array(scale), columns=["a", "b", "c"])
    return (X if decimals is None else X.round(decimals)), y


def model(scale=(1.0, 1.0, 1.0), **settings):
    X, y = table(scale)
    return ConditionalGaussianNetworkClassifier("tan", **settings).fit(X, y), X


@pytest.fixture(scope="module")
def plain():
    return model()


def refused(clf, X, count=2):
    """Rows that are decided 0, and not nearly 1."""
    return np.flatnonzero(clf.predict_proba(X)[:, 1] < 0.2)[:count]


def digits(value):
    return len(Decimal(repr(float(value))).normalize().as_tuple().digits)


def proven(e, clf):
    """Typed back from the text, the decision turns, and both checkers accept these very values."""
    assert e.counterfactual is not None
    read = typed_back.typed(e, typed_back.from_text(e))
    assert (read == e.counterfactual).all()
    assert clf.predict(read.to_frame().T.astype(float))[0] == e.target
    assert e.question.allows(e.answer.point, e.answer.state)
    assert verify(e, clf).ok
    assert verify(e, clf, exact=True).ok
    assert e.gap <= e.question.gap * (1 + 1e-12) or e.status is not Status.OPTIMAL
    return e


SCALES = [(1e-9, 1.0, 1e12), (1e12, 1e12, 1e12), (1e-9, 1e-9, 1e-9), (3.7, 1234.5, 0.01)]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("budget", [0.0, 0.05])
def test_sizes_of_features_do_not_matter(scale, budget):
    clf, X = model(scale)
    for k in range(2):
        e = proven(CounterfactualExplainer(clf, budget=budget).explain(X.iloc[k], 1), clf)
        assert max(digits(e.counterfactual[name]) for name in e.changed) <= 6


@pytest.mark.parametrize("gap", [0.05, 1e-3, 1e-6])
def test_the_narrower_the_gap_the_more_digits(plain, gap):
    clf, X = plain
    e = proven(CounterfactualExplainer(clf, gap=gap).explain(X.iloc[0], 1), clf)
    assert max(digits(e.counterfactual[name]) for name in e.changed) <= {0.05: 3, 1e-3: 5, 1e-6: 9}[gap]


REQUESTS = {
    "a single point": {"actions": Actions({"a": Action(low=2.1234567890123457, high=2.1234567890123457)})},
    "seventeen digits": {"bounds": {"a": (None, 1.2345678901234567), "b": (-0.1234567890123456, 1.1)}},
    "an equation": {"actions": Actions(rules=["a + b = a.now + b.now + 1.7"])},
    "a third": {"actions": Actions(rules=["3 * a - b = 3 * a.now - b.now + 2.5"])},
    "two equations": {"actions": Actions(rules=["a + b = a.now + b.now + 2", "b - c = b.now - c.now + 0.3"])},
    "a link": {"actions": Actions(links=[("c", "a", 0.7)])},
    "a link by a third": {"actions": Actions(links=[("c", "a", 1 / 3)])},
    "a rule": {"actions": Actions(rules=["a + 0.7 * b <= a.now + 0.7 * b.now + 2.0000001"])},
    "an if-then rule": {"actions": Actions(when=[("a rises", "b >= b.now + 0.333333")])},
    "least": {"actions": Actions({"a": Action(least=0.1234567)})},
    "steps": {"actions": Actions({"a": Action(step=0.123), "b": Action(values=[0.25, 1.75, 2.5])})},
    "whole": {"actions": Actions({"a": Action(whole=True)})},
    "a budget by feature": {"budget": {"a": 0.01, "b": (0.02, 0.1)}},
    "prices": {"distance": "cost", "actions": Actions({"a": Action(cost=(2, 1))})},
    "plausible": {"plausible": 0.3},
    "norm 2": {"norm": 2, "whitening": "zca", "at_most": None},
    "norm inf": {"norm": np.inf, "whitening": "cholesky", "at_most": None},
}


# Ends and equations of long numbers need them: the values of today have seventeen digits.
LONG = {"a single point", "an equation", "a third", "two equations", "a link", "a link by a third", "steps"}


@pytest.mark.parametrize("name", REQUESTS)
def test_whatever_is_asked_for(plain, name):
    clf, X = plain
    for k in refused(clf, X):
        e = proven(CounterfactualExplainer(clf, **REQUESTS[name]).explain(X.iloc[k], 1), clf)
        if name not in LONG:
            assert max(digits(e.counterfactual[j]) for j in e.changed) <= 8


def test_equations_hold_for_what_is_written(plain):
    clf, X = plain
    row = X.iloc[0].round(2)
    e = proven(CounterfactualExplainer(clf, **REQUESTS["an equation"]).explain(row, 1), clf)
    a, b = (Decimal(repr(float(e.counterfactual[n]))) - Decimal(repr(float(row[n]))) for n in "ab")
    assert a + b == Decimal("1.7")
    assert max(digits(e.counterfactual[n]) for n in e.changed) <= 5
    e = proven(CounterfactualExplainer(clf, **REQUESTS["a link"]).explain(row, 1), clf)
    a, c = (Decimal(repr(float(e.counterfactual[n]))) - Decimal(repr(float(row[n]))) for n in "ac")
    assert c == a * Decimal("0.7")


def test_curved_scales():
    X, y = table()
    X = np.exp(X)
    clf = ConditionalGaussianNetworkClassifier("tan", marginals="power").fit(X, y)
    for budget in (0.0, 0.05):
        e = proven(CounterfactualExplainer(clf, budget=budget).explain(X.iloc[1], 1), clf)
        assert max(digits(e.counterfactual[name]) for name in e.changed) <= 5


def test_answers_that_ran_out_of_time_are_printable_too(plain):
    clf, X = plain
    e = CounterfactualExplainer(clf, time_limit=0.0).explain(X.iloc[0], 1, on_failure="return")
    if e.counterfactual is not None:
        assert e.status is Status.TIME_LIMIT
        assert max(digits(e.counterfactual[name]) for name in e.changed) <= 6
    found = CounterfactualExplainer(clf).alternatives(X.iloc[0], 1)
    assert len(found) > 1
    for one in found:
        assert max(digits(proven(one, clf).counterfactual[name]) for name in one.changed) <= 6


def test_values_as_they_were_found_are_printed_in_full(plain):
    clf, X = plain
    e = proven(CounterfactualExplainer(clf, printable=False).explain(X.iloc[0], 1), clf)
    assert max(digits(e.counterfactual[name]) for name in e.changed) > 12


def test_a_forged_digit_is_found(plain):
    """Values a little nearer than those that are printed are refused: what is proven is proven of these."""
    clf, X = plain
    e = CounterfactualExplainer(clf, budget=0.05).explain(X.iloc[0], 1)
    content = json.loads(e.to_json())
    j = content["counterfactual"]["names"].index(e.changed[0])
    step = 0.2 * (content["factual"]["values"][j] - content["counterfactual"]["values"][j])
    content["counterfactual"]["values"][j] += step
    assert not verify(Explanation.from_dict(content), clf).ok


def test_where_nothing_short_can_be_proven_the_point_stays(plain, monkeypatch):
    clf, X = plain

    def never(*_):
        raise printable.BreachError(0, np.zeros(3))

    monkeypatch.setattr(printable, "prove", never)
    e = proven(CounterfactualExplainer(clf, budget=0.05).explain(X.iloc[0], 1), clf)
    assert max(digits(e.counterfactual[name]) for name in e.changed) > 12

    def slow(*_):
        raise printable.OutOfTimeError

    monkeypatch.setattr(printable, "prove", slow)
    proven(CounterfactualExplainer(clf, budget=0.05).explain(X.iloc[0], 1), clf)


def test_answers_without_a_point_are_left_alone(plain):
    clf, X = plain
    asker = CounterfactualExplainer(clf).asker
    question = asker.asked(asker.first, X.iloc[0], 1, None)
    nothing = Answer(Status.INFEASIBLE)
    assert printable.in_decimals(question.question, question.problem, nothing, 1.0) is nothing


@pytest.mark.parametrize(("name", "budget"), [("Banknote", 0.0), ("Pima", 0.05)])
def test_typed_back(name, budget):
    """A small part of benchmarks/audit/typed_back.py."""
    found = typed_back.measured(name, typed_back.TABLES[name], budget, count=3)
    assert found["answers"] == 3
    assert found["wrong"] == 0
    assert found["longest digits"] <= 6


def test_the_audit_can_fail(plain):
    clf, X = plain
    e = CounterfactualExplainer(clf).explain(X.iloc[0], 1)
    short = {name: f"{float(text):.1g}" for name, text in typed_back.from_text(e).items()}
    assert (typed_back.typed(e, short) != e.counterfactual).any()
    again = typed_back.with_values(Explanations([e]), [short])
    assert not verify(again[0], clf).ok


def lender():
    rng = np.random.default_rng(5)
    y = np.arange(400) % 2
    X = pd.DataFrame(
        {
            "income": (np.exp(rng.normal(10 + 0.4 * y, 0.5, 400)) * 1e6).round(),
            "cards": rng.poisson(3 - y, 400),
            "job": np.where(rng.random(400) < 0.4 + 0.3 * y, "fixed", "temporary"),
        }
    )
    return ConditionalGaussianNetworkClassifier("tan").fit(X, y), X


def below_the_threshold(clf, X, missing):
    """The first row, with an income at which so much of the log-odds is missing."""
    low, high = 1e9, 1e11
    for _ in range(200):
        middle = (low + high) / 2
        row = X.iloc[[0]].assign(income=middle, job="fixed")
        lacks = clf.decision_function(row)[0] < -missing
        low, high = (middle, high) if lacks else (low, middle)
    return row.assign(income=np.floor(low)).iloc[0]


@pytest.mark.parametrize(("printable", "missing"), covering([True, False], [1e-3, 1e-5, 1e-7]))
def test_a_row_just_below_the_threshold_is_decided_as_the_answer_says(missing, printable):
    """What a search over categories adds to margins may be more than such a row lacks."""
    clf, X = lender()
    row = below_the_threshold(clf, X, missing)
    for whole in (True, False):
        actions = Actions({"income": Action(whole=whole)})
        e = CounterfactualExplainer(clf, actions=actions, budget=0, printable=printable).explain(row, 1)
        assert clf.predict(pd.DataFrame([e.counterfactual]))[0] == 1
        assert verify(e, clf, exact=True).ok


def test_whole_numbers_have_few_digits_too():
    clf, X = lender()
    for k in np.flatnonzero(clf.predict(X) == 0)[:4]:
        explainers = [CounterfactualExplainer(clf, at_most=2, printable=p) for p in (True, False)]
        e, found = (one.explain(X.iloc[k], 1) for one in explainers)
        assert verify(e, clf, exact=True).ok
        assert clf.predict(pd.DataFrame([e.counterfactual]))[0] == 1
        assert all(float(e.counterfactual[name]).is_integer() for name in ("income", "cards"))
        if "income" in e.changed:
            assert digits(e.counterfactual["income"]) <= 5 < digits(found.counterfactual["income"])
