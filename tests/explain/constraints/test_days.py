"""Dates in actions and rules: written as dates, days for the search, dates again in words and files."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import surefoot
from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, CounterfactualExplainer, Rule
from surefoot.days import Day, as_day
from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.grammar import parse_condition, parse_rule

MAY = dt.date(2024, 5, 1)


@pytest.fixture(scope="module")
def asked():
    rng = np.random.default_rng(0)
    days = rng.integers(0, 700, 300)
    income = rng.normal(3000, 500, 300).round()
    applied = pd.Timestamp("2023-01-01") + pd.to_timedelta(days, unit="D")
    odds = 0.002 * (income - 3000) + 0.01 * (days - 350) + 0.5 * rng.logistic(size=300)
    X = pd.DataFrame({"applied": applied, "income": income})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, np.where(odds > 0, "yes", "no"))
    refused = X[(clf.predict(X) == "no") & (X["applied"] < pd.Timestamp("2023-09-01"))]
    return clf, refused.iloc[0], X


def explained(asked, actions, **settings):
    clf, row, _ = asked
    e = CounterfactualExplainer(clf, budget=0, actions=actions, **settings).explain(row, "yes")
    again = surefoot.Explanation.from_json(e.to_json())
    assert str(again) == str(e)
    assert surefoot.verify(e, clf).ok
    return e


@pytest.mark.parametrize("end", ["2024-05-01", MAY, pd.Timestamp("2024-05-01"), np.datetime64("2024-05-01")])
def test_ends_may_be_dates_of_any_sort(end):
    assert Action(low=end) == Action(low=19844)
    assert repr(Action(low=end)) == "Action(low=datetime.date(2024, 5, 1))"
    assert Rule({"applied": 1}, low=end).name == "applied >= 2024-05-01"


def test_rules_and_conditions_have_dates():
    rule = parse_rule("applied >= 2024-05-01")
    assert (rule.low, rule.name) == (19844, "applied >= 2024-05-01")
    assert parse_rule("2024-01-01 <= applied <= 2024-05-01 + 30").high == Day(19874)
    assert parse_rule("applied >= 1969-12-31").low == -1
    assert parse_condition("applied is 2024-05-01").value == 19844
    assert parse_rule("income >= 2024 - 5 - 1").low == 2018  # a sum is one still
    for text in ("applied >= 2024-13-01", "applied is 2023-02-29"):
        with pytest.raises(ProblemError, match="there is no such day"):
            parse_condition(text)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"rules": ["applied >= 2024-05-01"]}, "applied >= 2024-05-01"),
        ({"rules": [Rule({"applied": 1}, low=MAY)]}, "applied >= 2024-05-01"),
        (
            {"when": [("applied rises", "applied >= 2024-05-01")]},
            "if applied rises, then applied >= 2024-05-01",
        ),
    ],
)
def test_rules_hold_and_are_said_as_dates(asked, rules, words):
    e = explained(asked, Actions({"applied": "change", "income": "stay"}, **rules))
    assert e.counterfactual["applied"] >= MAY
    assert words in str(e)


def test_values_and_sizes_of_dates(asked):
    text = Actions({"applied": Action(values=["2024-05-01", "2024-12-01"]), "income": "stay"})
    dates = Actions({"applied": Action(values=[MAY, dt.date(2024, 12, 1)]), "income": "stay"})
    for actions in (text, dates):
        e = explained(asked, actions)
        assert e.counterfactual["applied"] == MAY
        assert "applied takes only the values 2024-05-01, 2024-12-01, or stays as it is" in str(e)
    weeks = Actions({"applied": Action(most=dt.timedelta(days=400), step=7), "income": "stay"})
    e = explained(asked, weeks)
    assert "applied changes by 400 days at most; applied changes in steps of 7 days" in str(e)


def test_a_conflict_names_dates(asked):
    clf, row, _ = asked
    actions = Actions({"applied": Action(high="2023-05-01"), "income": "stay"})
    explainer = CounterfactualExplainer(clf, budget=0, actions=actions)
    e = explainer.explain_batch([row], "yes")[0]
    assert "2023-05-01" in f"{e.conflict} {e.message} {e.advice}"


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (Actions({"income": Action(low="2024-05-01")}), "'income' is a number, 2024-05-01 is a date"),
        (Actions(rules=["income >= 2024-05-01"]), "has a date, and 'income' is none"),
        (
            Actions(when=[("income is 2024-05-01", "applied rises")]),
            "2024-05-01 is a date, and 'income' a number",
        ),
        (
            Actions({"applied": Action(values=["soon"])}),
            "values of 'applied' must be dates such as 2024-03-01",
        ),
    ],
)
def test_dates_about_numbers_are_refused(asked, actions, message):
    clf, row, _ = asked
    with pytest.raises(ProblemError) as error:
        CounterfactualExplainer(clf, actions=actions).explain(row, "yes")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_bounds_of_numbers_are_no_dates(asked):
    clf, row, _ = asked
    with pytest.raises(ProblemError, match="bounds of 'income': it is a number, 2024-05-01 is a date"):
        CounterfactualExplainer(clf, bounds={"income": (MAY, None)}).explain(row, "yes")


@pytest.mark.parametrize(
    "text",
    [
        "[features]\napplied = { low = 2024-05-01, values = [2024-06-01, 2024-11-01] }\n",
        'rules = [\n    "applied >= 2024-05-01",\n]\n',
        'rules = [{ coefficients = { applied = 1 }, low = 2024-05-01, name = "not before May" }]\n',
        'when = [{ if = "income rises", then = "applied is 2024-12-01" }]\n',
    ],
)
def test_files_have_dates_and_give_them_back(text):
    actions = Actions.from_toml(text)
    written = actions.to_toml()
    assert Actions.from_toml(written) == actions
    assert "198" not in written
    assert "2024-" in written


def test_a_table_is_checked_by_dates(asked):
    _, _, X = asked
    early = int((X["applied"] < pd.Timestamp("2024-05-01")).sum())
    for actions in (Actions({"applied": Action(low=MAY)}), Actions(rules=["applied >= 2024-05-01"])):
        assert len(actions.check(X)) == early
    assert "2024-05-01" in str(Actions({"applied": Action(low=MAY)}).check(X).iloc[0].to_dict())
    assert len(Actions({"applied": Action(values=[MAY])}).check(X)) == len(X) - int(
        (X["applied"] == "2024-05-01").sum()
    )


def test_what_is_no_date_stays_as_it_is():
    assert [as_day(v) for v in ("soon", 7, None, pd.NaT)][:3] == ["soon", 7, None]
    assert as_day(pd.NaT) is pd.NaT
