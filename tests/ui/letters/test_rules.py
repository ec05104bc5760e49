"""Rules in letters: over several features, over dates, and those that today's row breaks."""

import datetime as dt
import json
import re

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
from tests.ui.letters.numbers import known_days, known_numbers, numbers_of, split_days
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
    said = "This does not change the decision: the rule is only for changes that we suggest."
    assert f"at most 20% of what you earn. {said}" in text


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_no_example_of_what_is_not_enough_lies_beyond_a_rule(clf, table, share):
    """A limit of a rule and one of the decision side by side would be two limits of one thing."""
    kept, kinds = dict.fromkeys(("income", "since", "housing"), "stay"), set()
    for k in range(16):
        row = refused(clf, table, k)
        kind, text = text_of(clf, row, Actions(kept, rules=[f"debt <= {share} * income"]))
        example = re.search(r"Not enough, for example: what you owe €([\d,]+\.\d\d)\. ", text)
        if kind == "found":
            kinds.add(bool(example))
            assert not example or float(example[1].replace(",", "")) <= share * row["income"]
    assert kinds == {False, True}


@pytest.mark.parametrize(("code", "words"), [("en", "in your case: "), ("de", "bei Ihnen: ")])
def test_the_date_of_a_person_is_not_called_today(clf, table, code, words):
    kept = dict.fromkeys(("debt", "income", "housing"), "stay")
    explainer = CounterfactualExplainer(clf, actions=Actions({**kept, "since": "change"}))
    letters = mailing(explainer, code, labels=LABELS, form=".txt", target="yes")
    rows = (refused(clf, table, k) for k in range(20))
    row, written = next((row, one) for row in rows if (one := letters.written(row, 1, DAY)).kind == "found")
    assert f"({words}{language(code).date(row['since'])})" in " ".join(written.letter.split())
    assert written.advised == ("since: earlier",)


@pytest.mark.parametrize("code", ["en", "de"])
def test_every_number_and_day_is_one_of_the_file(clf, table, code):
    """Money with the decimals of its label, dates, a rule and a hole."""
    labels = {**LABELS, "income": {**LABELS["income"], "decimals": 0}}
    actions, seen = Actions({"since": "change"}, rules=["debt <= 0.3 * income"]), 0
    explainer = CounterfactualExplainer(clf, actions=actions, impute="expected")
    letters = mailing(explainer, code, labels=labels, form=".txt", target="yes")
    for k in range(8):
        row = refused(clf, table, k).copy()
        row["debt"] = row["debt"] if k % 2 else np.nan
        written = letters.written(row, "C", DAY)
        text = " ".join(written.letter.partition("===")[2].split())
        text = text.partition({"en": "Is something wrong", "de": "Ist etwas falsch"}[code])[0]
        text = re.sub(r"((than|als) 1 )?(of|von) 100\b|(way|Way|Weg) \d", "", text.replace("-€", "-"))
        text, days = split_days(text, code)
        documents = json.loads(written.proof)
        known = {30.0}.union(*map(known_numbers, documents))
        assert [x for x in numbers_of(text, code) if x not in known] == [], text
        assert {*days} <= {DAY}.union(*map(known_days, documents))
        seen += len(numbers_of(text, code)) + len(days)
    assert seen > 100


def test_no_usual_value_is_named_that_a_rule_forbids(clf, table):
    """Beside a rule that asks for less debt than today's, that more is usual would lead the wrong way."""
    kept, named = dict.fromkeys(("income", "since", "housing"), "stay"), set()
    for k in range(16):
        row = refused(clf, table, k)
        usual = table[0]["debt"][table[1] == "yes"].median()
        for share in (0.1, 0.9):
            actions = Actions({**kept, "debt": Action(most=1)}, rules=[f"debt <= {share} * income"])
            kind, text = text_of(clf, row, actions)
            reason = re.search(
                r"- what you owe: €[\d,.]+ (.*?)(?= - |What|Why)", text.partition("Why ---")[2]
            )
            if kind == "none" and reason:
                is_named = reason[1].startswith("Usual")
                assert not is_named or usual <= share * row["income"]
                named.add((share, is_named))
    assert (0.1, False) in named
    assert (0.9, True) in named


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
        ("en", "December 31, 2021", "had a day as late or later."),
        ("de", "31. Dezember 2021", "hatten einen ebenso späten oder späteren Tag."),
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
