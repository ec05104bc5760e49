"""Rules in letters: over several features, over dates, and those that today's row breaks."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, CounterfactualExplainer
from surefoot.explain.answer.region import Interval
from surefoot.explain.constraints.at_most import AtMost
from surefoot.explain.constraints.if_then import When
from surefoot.explain.constraints.linear import Rule
from surefoot.explain.constraints.link import Link
from surefoot.explain.result.broken import broken_rules
from surefoot.ui.letters.labels import Label, Labels
from surefoot.ui.letters.language import language
from surefoot.ui.letters.rule_words import rule_words
from surefoot.ui.letters.writer import Writer
from tests.ui.letters.people import DAY, mailing

LABELS = {
    "income": {"label": "what you earn", "unit": "€"},
    "debt": {"label": "what you owe", "unit": "€"},
    "since": "customer since",
}
TODAY = {"income": 2000.0, "debt": 900.0, "since": 18000.0, "housing": "rent"}
KNOWN = Labels(
    {
        "income": Label("what you earn", "€", 2),
        "debt": Label("what you owe", "€"),
        "since": Label("customer since"),
    }
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    good = rng.random(240) < 0.5
    days = rng.integers(17000, 19000, 240) - 300 * good
    return pd.DataFrame(
        {
            "income": rng.normal(2000 + 700 * good, 350).round(2),
            "debt": rng.normal(900 - 300 * good, 250).round(2),
            "since": pd.to_datetime(days, unit="D"),
            "housing": np.where(rng.random(240) < 0.3 + 0.4 * good, "own", "rent"),
        }
    ), np.where(good, "yes", "no")


@pytest.fixture(scope="module")
def clf(table):
    return ConditionalGaussianNetworkClassifier("naive").fit(*table)


def refused(clf, table, k=0):
    return table[0][clf.predict(table[0]) == "no"].iloc[k]


def text_of(clf, row, actions, code="en", **asked):
    explainer = CounterfactualExplainer(clf, actions=actions, **asked)
    found = mailing(explainer, code, labels=LABELS, form=".txt", target="yes").written(row, 1, DAY)
    return found.kind, " ".join(found.letter.split())


@pytest.mark.parametrize(
    ("rule", "english", "german"),
    [
        (
            Rule.read("debt <= 0.4 * income"),
            "what you owe has to be at most 40% of what you earn",
            "what you owe darf höchstens 40\N{NO-BREAK SPACE}% von what you earn betragen",
        ),
        (
            Rule.read("income >= income.now + 1000.5"),
            "what you earn has to be at least €3,000.50",
            "what you earn muss mindestens 3.000,50\N{NO-BREAK SPACE}€ betragen",
        ),
        (
            Rule.read("debt + 100 <= income"),
            "what you owe + €100 has to be at most what you earn",
            "what you owe + 100\N{NO-BREAK SPACE}€ darf höchstens what you earn betragen",
        ),
        (
            Rule({"income": -1.0}, low=-3000),
            "what you earn has to be at most €3,000",
            "what you earn darf höchstens 3.000\N{NO-BREAK SPACE}€ betragen",
        ),
        (
            Rule.read("since >= since.now + 2"),
            "customer since must not be earlier than April 16, 2019",
            "customer since darf nicht vor dem 16. April 2019 liegen",
        ),
        (
            Rule({"debt": 1.0, "income": -0.4}, high=0, name="burden"),
            "the rule “burden”",
            "die Regel „burden“",
        ),
        (
            When("housing is own", "debt falls"),
            "if housing is “own”, then what you owe falls",
            "wenn gilt: housing ist „own“, dann muss gelten: what you owe sinkt",
        ),
        (
            Link("debt", "income", -1.5),
            "what you owe changes by -1.5 times the change of what you earn",
            "what you owe ändert sich um das -1,5-Fache der Änderung von what you earn",
        ),
        (
            AtMost(1, ("income", "debt")),
            "of what you earn and what you owe, at most 1 may change",
            "von what you earn und what you owe dürfen sich höchstens 1 ändern",
        ),
    ],
)
def test_rules_in_words(rule, english, german):
    for code, words in (("en", english), ("de", german)):
        assert rule_words(rule, TODAY, frozenset(["since"]), Writer(language(code), KNOWN)) == words


def test_a_rule_that_today_breaks_is_named_with_the_way(clf, table):
    row = refused(clf, table)
    actions = Actions({"since": "stay"}, rules=["debt <= 0.2 * income"])
    assert row["debt"] > 0.2 * row["income"]
    kind, text = text_of(clf, row, actions)
    assert kind == "found"
    said = "Your details do not meet this rule today: what you owe has to be at most 20% of what you earn."
    assert f"{said} What is stated above meets this, too." in text
    e = CounterfactualExplainer(clf, actions=actions).explain(row, "yes")
    assert [rule.name for rule in broken_rules(e.question)] == ["debt <= 0.2 * income"]
    assert "Broken by the row today: debt <= 0.2 * income. The answer keeps to it" in str(e)


def test_a_rule_that_today_breaks_is_named_once_where_there_is_no_way(clf, table):
    row = refused(clf, table)
    kept = dict.fromkeys(("debt", "since", "housing"), "stay")
    actions = Actions({**kept, "income": Action(most=1)}, rules=["debt <= 0.2 * income"])
    for code, rule, said in (
        ("en", "what you owe has to be at most 20% of what you earn", "(your details do not"),
        ("de", "what you owe darf höchstens 20 % von what you earn betragen", "(mit Ihren Angaben"),
    ):
        kind, text = text_of(clf, row, actions, code)
        assert kind == "none"
        assert text.count(rule) == 1
        assert f"- {rule} {said}" in text


def test_a_rule_that_today_breaks_does_not_change_a_decision_that_is_there(clf, table):
    X = table[0]
    row = X[(clf.predict(X) == "yes") & (X["debt"] > 0.2 * X["income"])].iloc[0]
    actions = Actions({"since": "stay"}, rules=["debt <= 0.2 * income"])
    kind, text = text_of(clf, row, actions)
    assert kind == "there"
    assert "at most 20% of what you earn. This does not change the decision" in text


def test_rules_that_hold_are_not_named(clf, table):
    actions = Actions({"since": "stay"}, rules=["debt <= 20 * income"])
    row = refused(clf, table)
    assert "do not meet" not in text_of(clf, row, actions)[1]
    assert "Broken" not in str(CounterfactualExplainer(clf, actions=actions).explain(row, "yes"))


def test_a_broken_rule_over_a_protected_feature_is_not_named(clf, table):
    row = refused(clf, table)
    actions = Actions({"since": "stay", "income": Action(protected=True)}, rules=["debt <= 0.2 * income"])
    assert "do not meet" not in text_of(clf, row, actions)[1]


@pytest.mark.parametrize("code", ["en", "de"])
def test_dates_and_lists_among_the_rules_in_the_way(clf, table, code):
    row = refused(clf, table)
    actions = Actions(
        {
            "income": Action(values=[1000.5, 1100]),
            "debt": "stay",
            "housing": "stay",
            "since": Action("rise", high=18100, most=30),
        }
    )
    kind, text = text_of(clf, row, actions, code)
    assert kind == "none"
    found = {
        "en": "what you earn can only take certain values: €1,000.50 and €1,100.00",
        "de": "what you earn kann nur bestimmte Werte annehmen: 1.000,50 € und 1.100,00 €",
    }
    assert found[code] in text


def test_every_phrase_about_a_date_can_be_said(clf, table):
    from surefoot.ui.letters.rules import _line

    e = CounterfactualExplainer(clf, actions=Actions({"since": "change"})).explain(refused(clf, table), "yes")
    writer = Writer(language("en"), KNOWN)
    said = {
        "is at least 2019-04-14": "customer since must not be earlier than April 14, 2019",
        "is at most 2019-04-14, or as it is": "customer since must not be later than April 14, 2019",
        "may only rise": "customer since may only become later",
        "changes by at most 30": "customer since may change by at most 30 days",
        "changes in steps of 7": "customer since changes in steps of 7 days",
    }
    assert {phrase: _line("", "since", phrase, e, writer) for phrase in said} == said


def test_more_is_asked_for_than_the_decision(clf, table):
    kept = dict.fromkeys(("debt", "since", "housing"), "stay")
    _, plain = text_of(clf, refused(clf, table), Actions({**kept, "income": Action(most=1)}))
    _, strict = text_of(clf, refused(clf, table), Actions({**kept, "income": Action(most=1)}), budget=0.1)
    assert "as surely as we ask for" not in plain
    assert "leads to the decision “yes” as surely as we ask for" in strict


def test_dates_in_reasons_and_ranges(clf, table):
    row = refused(clf, table).copy()
    row["since"] = pd.Timestamp("2021-12-31")
    for code, day, later in (
        ("en", "December 31, 2021", "As late or later:"),
        ("de", "31. Dezember 2021", "Ebenso spät oder später:"),
    ):
        _, text = text_of(clf, row, Actions({"since": "change", "housing": "stay"}), code)
        assert f"customer since: {day}" in text
        assert later in text
        assert "2021-12-31" not in text
    assert isinstance(row["since"], dt.date)
    ends = (17000.0, 18000.0)
    before, after = Interval("since", -np.inf, 18000.0, ends), Interval("since", 17000.0, np.inf, ends)
    writer = Writer(language("en"), KNOWN)
    assert writer.range(before, is_date=True) == "no later than April 14, 2019"
    assert writer.range(after, is_date=True) == "no earlier than July 18, 2016"
