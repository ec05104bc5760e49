"""What the sender of letters is told and the person is not: on stderr, in the index, in the report."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    write_letter,
    write_report,
)
from surefoot.exceptions import SurefootWarning
from surefoot.ui.cli import main
from surefoot.ui.letters.sender import MOST_ROWS, by_note
from tests.ui.letters.people import DAY, mailing

JOBS = ("employed", "self-employed", "unemployed")


def loans(n=500):
    """Loans with what nobody may be decided by: sex, and it counts; amounts of money to the cent."""
    rng = np.random.default_rng(7)
    sex = rng.choice(["female", "male"], n)
    job = rng.choice(JOBS, n, p=[0.7, 0.2, 0.1])
    income = rng.normal(2400, 400, n).round(2)
    fee = rng.normal(3.2, 0.05, n).round(2)
    score = 0.002 * income - 8 * (fee - 3.2) + 0.9 * (sex == "female") + 0.8 * (job != "employed")
    decided = np.where(score + rng.normal(0, 0.3, n) > np.median(score), "granted", "refused")
    return pd.DataFrame({"income": income, "fee": fee, "job": job, "sex": sex}), decided


@pytest.fixture(scope="module")
def lender():
    return ConditionalGaussianNetworkClassifier("naive").fit(*loans())


@pytest.fixture(scope="module")
def refused(lender):
    """Men who were refused."""
    X = loans()[0]
    return X[(lender.predict(X) == "refused") & (X["sex"] == "male")].reset_index(drop=True)


def test_a_reason_that_may_be_protected_is_said_to_the_sender_alone(lender, refused, tmp_path):
    e = CounterfactualExplainer(lender).explain(refused.iloc[0], "granted")
    with pytest.warns(SurefootWarning, match=r"A reason names sex, which may be protected by law: its name"):
        text = write_letter(e, tmp_path / "a.txt", lender, date=DAY).read_text("utf-8")
    assert "- sex: “male”" in text
    assert "protected" not in text
    page = write_report(e, tmp_path / "a.html").read_text("utf-8")
    person, _, analyst = page.partition("For the analyst")
    assert "may be protected by law" in analyst
    assert "may be protected by law" not in person
    named = Actions({"job": Action("stay", protected=True)})
    row = refused[refused["job"] == "employed"].iloc[0]
    found = mailing(CounterfactualExplainer(lender, actions=named), target="granted").written(row, 0, DAY)
    assert "A reason names job, which may be protected by law: its action says so." in found.notes


def test_a_way_that_changes_what_may_be_protected_is_said(lender, refused):
    free = Actions({"sex": Action(), "income": "stay", "fee": "stay", "job": "stay"})
    explainer = CounterfactualExplainer(lender, actions=free)
    letters = mailing(explainer, target="granted")
    written = (letters.written(refused.iloc[k], 0, DAY) for k in range(20))
    found = next(one for one in written if one.kind == "found")
    assert any(note.startswith("A way changes sex, which may be protected by law") for note in found.notes)
    assert found.advised == ("sex: female",)


@pytest.mark.parametrize(("recorded", "differs"), [("granted", True), (" refused ", False), (None, False)])
def test_another_decision_on_record_is_said(lender, refused, tmp_path, recorded, differs):
    e = CounterfactualExplainer(lender, immutable=["sex"]).explain(refused.iloc[0], "granted")
    with pytest.warns(SurefootWarning) as said:
        path = write_letter(e, tmp_path / "a.txt", lender, recorded=recorded)
    text = " ".join(path.read_text("utf-8").split())
    assert differs == ("Our records have another decision, “granted”: this letter is about" in text)
    assert differs == any(
        str(one.message).startswith("The table records the decision granted, but the letter states refused")
        for one in said
    )


def test_a_decision_on_record_is_named_as_the_classes_are():
    X, decided = loans()
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, (decided == "granted").astype(int))
    labels = {"letter": {"decisions": {"0": "refused", "1": "granted"}}}
    letters = mailing(CounterfactualExplainer(clf), labels=labels, form=".txt", target=1)
    row = X[clf.predict(X) == 0].iloc[0]
    said = [letters.written(row, 0, DAY, recorded=one).letter for one in (1.0, "1", 0.0)]
    named = ["another decision, “granted”:" in " ".join(text.split()) for text in said]
    assert named == [True, True, False]


def test_limits_have_the_decimals_of_their_label_or_the_sender_is_told(lender, refused):
    kept = Actions({"income": "stay", "job": "stay"})
    explainer, told, stated = CounterfactualExplainer(lender, actions=kept), 0, 0
    for number in range(12):
        row = refused.iloc[number]
        for decimals in (2, 0):
            labels = {"fee": {"label": "fee", "unit": "€", "decimals": decimals}}
            letter = mailing(explainer, labels=labels, form=".txt", target="granted").written(row, 0, DAY)
            if letter.kind != "found":
                continue
            limits = re.findall(r"- fee: [^(]*", letter.letter.partition("What would change")[2])
            long = [x for line in limits for x in re.findall(r"\d+\.(\d+)", line) if len(x) > decimals]
            assert bool(long) == any("more than the" in note for note in letter.notes)
            assert not long or decimals == 0
            told, stated = told + bool(long), stated + len(limits)
            # What is printed is what the file states, and that lies in what is proven.
            numbers = [one for d in json.loads(letter.proof) for one in d["enough"]["numbers"]]
            ends = {x for one in numbers for x in (one["low"], one["high"]) if isinstance(x, float)}
            printed = {float(x) for line in limits for x in re.findall(r"\d+\.?\d*", line)}
            assert printed <= ends
    assert told > 0
    assert stated > 10


def test_the_place_of_a_row_is_not_its_name(lender, refused, tmp_path):
    explainer = CounterfactualExplainer(lender)
    said = {"en": "Reference: row 3 of the table", "de": "Unser Zeichen: Zeile 3 der Tabelle"}
    for code, words in said.items():
        letters = mailing(explainer, code, form=".txt", target="granted")
        assert words in letters.written(refused.iloc[3], 3, DAY).letter
    named = refused.set_axis([f"C-{k}" for k in range(len(refused))])
    letters = mailing(explainer, form=".txt", target="granted")
    assert "Reference: C-3\n" in letters.written(named.iloc[3], "C-3", DAY).letter
    e = explainer.explain(refused.iloc[3], "granted")
    with pytest.warns(SurefootWarning):
        text = write_letter(e, tmp_path / "a.txt", lender, reference="10-17").read_text("utf-8")
    assert "Reference: 10-17\n" in text


def test_notes_on_many_rows_are_one_line_each():
    found = list(by_note((f"row {k}", ["Look."]) for k in range(MOST_ROWS + 3)))
    assert len(found) == 1
    assert found[0].endswith(f"row {MOST_ROWS - 1} and 3 more (the index names them): Look.")


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """`surefoot letter` about the first rows of a table whose label says otherwise twice."""
    X, decided = loans()
    X.assign(decision=decided).to_csv(tmp_path / "loans.csv", index=False)
    monkeypatch.chdir(tmp_path)
    fit = ["fit", "loans.csv", "--label", "decision", "--output", "model.json", "--refits", "0"]
    assert main(fit) == 0
    decides = ConditionalGaussianNetworkClassifier.load("model.json").predict(X.head(6))
    record = pd.Series(decides)
    record[[1, 4]] = ["granted" if one == "refused" else "refused" for one in record[[1, 4]]]
    rows = X.head(6).assign(decision=record, customer=range(700, 706))
    rows.to_csv("rows.csv", index=False)
    capsys.readouterr()

    def run(*flags):
        assert main(["letter", "model.json", "rows.csv", "--target", "granted", "--quiet", *flags]) == 0
        return " ".join(capsys.readouterr().err.split())

    return run


def test_the_command_tells_the_sender_and_names_the_rows(command, tmp_path):
    said = command("--all", "--output", "letters")
    assert "No limits were given" in said
    assert "No --labels: letters use the table's names" in said
    assert "surefoot actions MODEL.json" in said
    assert "It is nobody's customer number" in said
    rows = re.findall(r"note: ((?:row \d, )*row \d): The table records", said)
    assert sorted(re.findall(r"\d", " ".join(rows))) == ["1", "4"]
    index = (tmp_path / "letters" / "index.html").read_text("utf-8")
    assert index.count("The table records the decision") == 2
    assert "No limits were given" in index
    assert "What the letters advise" in index
    one = command("--row", "4", "--output", "a.txt")
    assert "The table records the decision" in one
    assert "The table records" not in command("--row", "0", "--output", "b.txt")


def test_the_command_with_names_and_limits(command, tmp_path):
    (tmp_path / "actions.toml").write_text('[features]\njob = "stay"\n', "utf-8")
    said = command("--all", "--output", "letters", "--id", "customer", "--actions", "actions.toml", "--text")
    assert "No limits" not in said
    assert "nobody's customer number" not in said
    assert "Review what letters advise" in said
    assert re.search(r"row 70[14]: The table records", said)
    assert "Reference: 701\n" in (tmp_path / "letters" / "letter-1.txt").read_text("utf-8")


def test_the_command_names_blanks(command, tmp_path):
    (tmp_path / "labels.toml").write_text('[letter]\nsender = "A"\nrights = "B"\nsources = " "\n', "utf-8")
    said = command("--row", "0", "--output", "a.txt", "--labels", "labels.toml", "--template", "us")
    assert "No --labels" not in said
    assert "have blanks for contact, correction, sources, notice, agency, oversight: [letter] in" in said


def test_letters_under_another_record_are_another_request(command, capsys):
    command("--all", "--output", "letters")
    table = pd.read_csv("rows.csv")
    table.assign(decision="granted").to_csv("rows.csv", index=False)
    flags = ["--target", "granted", "--quiet", "--all", "--output", "letters"]
    assert main(["letter", "model.json", "rows.csv", *flags]) == 2
    assert "other: recorded" in capsys.readouterr().err
