"""What letters say, for every way that a request can end, in every language."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from surefoot import (
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    Explanation,
    Status,
    datasets,
    verify,
    write_letter,
)
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.answer.region import Interval, Region
from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.model_share import ModelShare
from surefoot.ui.letters.labels import Labels, read_labels
from surefoot.ui.letters.language import language, languages
from surefoot.ui.letters.slots import TEMPLATES
from surefoot.ui.letters.ways import found_ways, needed, ways_of
from surefoot.ui.letters.why import reason_lines
from surefoot.ui.letters.writer import Writer
from tests.ui.letters.people import DAY, KINDS, LABELS, mailing, people
from tests.ui.mixed import refused_rows, toy_model

# Words of those who know the method. None of them may be in a letter.
FORBIDDEN = (
    "whitened", "whitening", "mahalanobis", "counterfactual", "robust", "percentile", "z-score",
    "classifier", "log-odds", "odds", "standard deviation", "covariance", "gaussian", "quantile",
    "feature", "norm", "infeasible", "optimal", "bound", "epsilon", "certificate", "density",
    "likelihood", "posterior", "prior", "nan", "inf", "none found", "budget", "threshold",
    "kontrafaktisch", "klassifikator", "perzentil", "standardabweichung", "wahrscheinlichkeitsdichte",
    "merkmal", "schwellenwert", "optimum",
)  # fmt: skip


@pytest.fixture(scope="module")
def cases():
    return people()


@pytest.fixture(scope="module")
def letters(cases):
    """Kind, language and form -> letters with what proves them."""
    found = {}
    for kind, rows in cases[1].items():
        for explainer, row in rows:
            answers = mailing(explainer).answers(row, row.name)
            for code, template, labels in (("en", "us", LABELS), ("de", "eu", None)):
                for form in (".html", ".txt"):
                    one = mailing(explainer, code, template, labels, form).about(answers, DAY)
                    found.setdefault((kind, code, form), []).append(one)
    return found


def test_every_kind_is_what_it_is_called(letters):
    assert {key[0] for key in letters} == set(KINDS)
    assert all(one.kind == key[0] for key, several in letters.items() for one in several)


def test_no_letter_has_a_word_of_the_method(letters):
    for key, several in letters.items():
        for one in several:
            text = re.sub(r"<style>.*?</style>|<[^>]*>", " ", one.letter, flags=re.DOTALL).lower()
            said = [word for word in FORBIDDEN if re.search(rf"\b{re.escape(word)}s?\b", text)]
            assert said == [], (key, said)


def test_parts_of_a_letter(letters):
    text = letters["found", "en", ".txt"][1].letter
    heads = re.findall(r"^(.+)\n[-=]+$", text, flags=re.MULTILINE)
    assert heads == [
        "The decision in your case, and what would change it",
        "Why",
        "What would change the decision",
        "How exact it has to be",
        "What this letter does not promise",
        "Which data were used",
        "Your rights and whom to ask",
        "How to check this letter",
    ]
    assert "From: Example Bank, High Street 1" in text
    assert "Contact: Ms Miller" in text
    assert "Date: November 18, 2026" in text
    assert "The decision in your case is “loan refused”" in text
    assert "amount of the loan: from 3,307 DM to 6,267 DM (today: 7,882 DM)" in text.replace("\n ", "")
    assert "Signature" in text


def test_in_german(letters):
    text = " ".join(letters["found", "de", ".txt"][1].letter.split())
    assert "Datum: 18. November 2026" in text
    assert "Die Entscheidung in Ihrem Fall lautet „bad“." in text
    assert "credit amount: 3.307 bis 6.267 (heute: 7.882)" in text


def test_at_most_four_reasons_and_three_ways(letters):
    for several in (letters["found", code, ".html"] for code in languages()):
        for one in several:
            assert 1 <= one.letter.count("<li>") <= 4
            assert 1 <= one.letter.count('<div class="way">') <= 3


def test_what_other_ends_say(letters):
    said = {kind: " ".join(letters[kind, "en", ".txt"][0].letter.split()) for kind in KINDS}
    assert "Nothing has to change." in said["there"]
    assert "This is proven, not only tried." in said["none"]
    assert "found none in the time that was available. This does not mean" in said["not_found"]
    assert "age: missing - housing: missing" in said["invalid"]
    for kind in ("there", "none", "not_found", "invalid"):
        assert "Signature" not in said[kind]  # nothing that a signature could promise
        assert "What would change the decision" not in said[kind]


def test_rules_in_the_way_are_named_but_none_that_guards_a_protected_feature(letters):
    for code, words in (("en", "may only rise"), ("de", "darf nur steigen")):
        text = letters["none", code, ".txt"][0].letter
        rules = text.partition({"en": "Why no change", "de": "Warum keine"}[code])[2]
        rules = " ".join(rules.partition({"en": "Which data", "de": "Welche Daten"}[code])[0].split())
        assert words in rules
        assert "age" not in re.findall(r"\w+", rules)
        assert "personal status" not in rules
        assert "foreign worker" not in rules
        assert {"en": "are protected", "de": "sind geschützt"}[code] in rules


def _numbers(text, code):
    group, point = {"en": (",", "."), "de": (".", ",")}[code]
    found = re.findall(rf"(?<![\w.,])-?\d+(?:\{group}\d{{3}})*(?:\{point}\d+)?(?![\w])", text)
    return [float(one.replace(group, "").replace(point, ".")) for one in found]


def _of_file(document):
    """Every number of a file that a letter may print, reasons as a letter rounds them."""
    known = {float(v) for v in document["factual"]["values"] if isinstance(v, int | float)}
    known |= {
        float(v)
        for v in (document["counterfactual"] or {"values": ()})["values"]
        if isinstance(v, int | float)
    }
    for one in (document.get("enough") or {}).get("numbers", ()):
        known |= {float(v) for v in (one["low"], one["high"]) if isinstance(v, float)}
    known |= set(_numbers(" ".join(document["conflict"]), "en"))  # of rules in the way
    example = (document.get("enough") or {}).get("not_enough")
    known |= {float(example["value"])} if example and isinstance(example["value"], int | float) else set()
    for reason in (document.get("reasons") or {}).get("features", ()):
        known |= {float(v) for v in (reason["value"], reason["usual"]) if isinstance(v, int | float)}
        known |= {np.floor(100 * reason["share"] + 0.5)} if reason["share"] is not None else set()
    return known


def _without_names(text, documents, code):
    """The body of a letter without the values of categories, dates and counts of ways."""
    names = [v for d in documents for v in d["factual"]["values"]]
    names += [
        v for d in documents for c in (d.get("enough") or {}).get("categories", ()) for v in c["values"]
    ]
    names += [r["usual"] for r in (documents[0].get("reasons") or {}).get("features", ())]
    body = " ".join(text.partition("===\n")[2].split())
    body = body.partition({"en": "How to check", "de": "Wie sich dieser"}[code])[0]
    for name in sorted({n for n in names if isinstance(n, str)}, key=len, reverse=True):
        body = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "", body)
    fixed = r"((than|als) 1 )?(of|von) 100\b|(way|Way|Weg) \d|November 18, 2026|18\. November 2026"
    return re.sub(fixed, "", body)


def test_every_number_of_a_letter_is_one_of_its_file(letters):
    seen = 0
    for (_, code, form), several in letters.items():
        for one in several if form == ".txt" else ():
            documents = json.loads(one.proof)
            known = set().union(*map(_of_file, documents))
            words = _without_names(one.letter, documents, code)
            numbers = _numbers(words, code)
            seen += len(numbers)
            assert [x for x in numbers if x not in known] == [], words
    assert seen > 100


def test_a_proof_of_each_letter_holds(cases, letters):
    one = letters["found", "en", ".txt"][1]
    found = Explanations.from_json(one.proof)
    assert 1 < len(found) <= 3
    assert all(verify(e, cases[0]).ok for e in found)
    assert all(e.region is not None for e in found)


def test_a_letter_from_a_file_is_the_letter_itself(cases, tmp_path):
    clf, rows = cases
    explainer, row = rows["found"][0]
    e = explainer.explain(row, "good")
    first = write_letter(e, tmp_path / "a.html", clf, date=DAY).read_text("utf-8")
    read = Explanation.from_json(e.to_json())
    assert write_letter(read, tmp_path / "b.html", clf, date=DAY).read_text("utf-8") == first
    assert "Way 1" not in first  # one answer is not called a way among others


def test_estimated_values_are_said_so(cases):
    clf, rows = cases
    explainer = CounterfactualExplainer(clf, impute="expected")
    text = mailing(explainer, form=".txt").written(rows["invalid"][0][1], 1, DAY).letter
    assert "(was missing, and was estimated)" in " ".join(text.split())


@pytest.mark.parametrize(
    ("code", "said"), [("en", "was missing, and was estimated: "), ("de", "fehlte und wurde geschätzt: ")]
)
def test_a_way_calls_no_estimated_value_todays(cases, code, said):
    clf, rows = cases
    explainer, row = rows["found"][0]
    found = found_ways([explainer.explain(row, "good")], clf, Labels())
    everything = Writer(language(code), Labels(), {}, tuple(row.index))
    assert all(one.today.startswith(said) for one in ways_of(found, everything)[0].needed)


def test_a_decision_that_is_close_has_nothing_to_change(cases):
    clf, rows = cases
    explainer, row = rows["found"][0]
    e = explainer.explain(row, "good")
    just = replace(e, question=replace(e.question, factual_class="good"))
    assert mailing(explainer).explainer is explainer
    from surefoot.ui.letters.content import letter_of
    from surefoot.ui.letters.page import letter_request

    letter = letter_of(letter_request(just, clf, language="en", template="neutral", labels=None))
    assert letter.kind == "there"
    assert "It is close" in letter.decision


def test_what_can_stay_is_not_asked_for_and_no_two_ways_change_the_same(cases):
    table = load_wine(as_frame=True)
    clf = ConditionalGaussianNetworkClassifier("tan").fit(table.data, table.target)
    answers = CounterfactualExplainer(clf).alternatives(table.data.iloc[100], 0, n=3)
    assert all(len(e.changed) > 1 for e in answers)
    found = found_ways(answers, clf, Labels())
    assert [needed(*one) for one in found] == [["proline"]]
    e, region = found[0]
    low = next(one.low for one in region.numbers if one.feature == "proline")
    row = e.factual.copy()
    for value in (low, low + 100):  # with everything else as it is today
        row["proline"] = value
        assert region.contains(row)
        assert clf.predict(row.to_frame().T)[0] == 0
    assert e.region.example.feature == "proline"
    text = mailing(CounterfactualExplainer(clf), form=".txt", target=0).about(answers, DAY).letter
    assert "Way 2" not in text
    assert f"- proline: at least {low:,.0f} (today: 710)" in text
    said = re.search(r"Not enough, for example: (.*?)\. The decision then stays", " ".join(text.split()))[1]
    row["proline"] = float(
        said.removeprefix("proline ").replace(",", "")
    )  # of what can stay nothing is said: it stays
    assert clf.predict(row.to_frame().T)[0] != 0


def way_to(low, values):
    """A stand-in for an answer that asks for income of at least ``low`` and one of these values of city."""
    income = () if low is None else (Interval("income", low, math.inf, (low, 9.0)),)
    cities = {"city": values} if values else {}
    names = [one.feature for one in income] + list(cities)
    region = Region({}, income, cities)
    return SimpleNamespace(
        factual={"income": 1.0, "city": "a"}, counterfactual={}, changed=names, enough=lambda *_, **__: region
    )


@pytest.mark.parametrize(
    ("answers", "shown"),
    [
        ([way_to(None, ("b", "c")), way_to(3.0, ("b",))], [0]),  # moving to b is enough by itself
        ([way_to(3.0, ("b",)), way_to(None, ("b", "c"))], [1]),
        ([way_to(None, ("b",)), way_to(3.0, ("b", "c"))], [0, 1]),
        ([way_to(3.0, ()), way_to(4.0, ("b",))], [0]),
        ([way_to(3.0, ()), way_to(2.0, ("b",))], [0, 1]),
        ([way_to(3.0, ()), way_to(None, ("b",))], [0, 1]),
    ],
)
def test_no_way_asks_for_all_of_another_and_more(answers, shown):
    found = [e for e, _ in found_ways(answers, None, Labels())]
    assert found == [answers[k] for k in shown]


def test_that_today_is_not_enough_is_not_said_again(cases):
    clf, rows = cases
    kept = {name: "stay" for name in clf.feature_labels_ if name != "checking_account"}
    explainer = CounterfactualExplainer(clf, actions=Actions(kept))
    row = rows["found"][1][1]
    letter = mailing(explainer, form=".txt").written(row, 1, DAY).letter
    assert "- checking account: “200 DM or more” or “none”" in letter
    assert explainer.explain(row, "good").enough().example.value == row["checking_account"]
    assert "Not enough" not in letter


def _shared(answers, shares):
    """Answers that hold under so many of twenty refits."""
    return [
        replace(e, context=replace(e.context, model_share=share and ModelShare(share, 0.0, 20)))
        for e, share in zip(answers, shares, strict=True)
    ]


@pytest.mark.parametrize(
    ("shares", "english", "german"),
    [
        ((0.2,), "This is less certain than usual:", "Dies ist weniger sicher als sonst:"),
        ((0.9, 0.2), "Less certain than the rest: way 2.", "Weniger sicher als der Rest: Weg 2."),
        ((0.9, 0.5), "", ""),
        ((None, None), "", ""),
    ],
)
def test_answers_that_small_changes_of_the_model_undo(cases, tmp_path, shares, english, german):
    clf, rows = cases
    explainer, row = rows["found"][0]
    answers = _shared(explainer.alternatives(row, "good", n=len(shares)), shares)
    for code, words, sign in (("en", english, "ess certain"), ("de", german, "niger sicher")):
        text = write_letter(answers, tmp_path / "a.txt", clf, language=code).read_text("utf-8")
        text = " ".join(text.split())
        assert (words in text) if words else (sign not in text)
        assert not re.search("refit|share|stab", text.lower())


def test_limits_are_enough_as_they_are_printed(letters):
    for code, words in (("en", "Limits count exactly as printed"), ("de", "Grenzen gelten genau so")):
        for one in letters["found", code, ".txt"]:
            ways = [(e, e.region) for e in Explanations.from_json(one.proof)]
            ends = [x for w in ways for i in w[1].numbers if i.feature in needed(*w) for x in (i.low, i.high)]
            text = " ".join(one.letter.split())
            assert (words in text) == bool(np.isfinite(ends).any())
            only = {"en": "Where only one limit", "de": "Wo nur eine Grenze"}[code]
            assert (only in text) == bool(np.isinf(ends).any())


def test_rare_values_are_called_so_and_ones_own_is_printed():
    rng = np.random.default_rng(2)
    good = rng.random(300) < 0.5
    places = np.where(rng.random(300) < 0.3 + 0.4 * good, "10115", "(rare)")
    table = pd.DataFrame({"place": places, "income": rng.normal(2.0 * good, 1.0).round(2)})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(table, np.where(good, "yes", "no"))
    explainer = CounterfactualExplainer(clf, actions=Actions({"place": "stay"}))
    for place, words in (
        ("(rare)", "place: one of the less common values"),
        ("99998", "place: “99998” (one of the less common values)"),
    ):
        row = pd.Series({"place": place, "income": -1.0})
        text = mailing(explainer, form=".txt", target="yes").written(row, 1, DAY).letter
        text = " ".join(text.split())
        assert text.count(words) == 2  # as a reason, and among the data
        assert "(rare)" not in text
    named = {"place": {"values": {"(rare)": "elsewhere"}}}
    text = mailing(explainer, labels=named, form=".txt", target="yes").written(row, 1, DAY).letter
    assert "place: “elsewhere”" in text


def test_a_category_of_numbers_is_the_same_or_not():
    rng = np.random.default_rng(4)
    good = rng.random(300) < 0.5
    kids = np.where(good, rng.choice([0, 1, 2], 300, p=[0.6, 0.3, 0.1]), rng.choice([0, 1, 2], 300))
    table = pd.DataFrame({"kids": kids, "income": rng.normal(1.0 * good, 1.0).round(2)})
    clf = ConditionalGaussianNetworkClassifier("naive", categorical=["kids"])
    clf.fit(table, np.where(good, "yes", "no"))
    row = pd.Series({"kids": 2, "income": -2.0})
    text = mailing(CounterfactualExplainer(clf), form=".txt", target="yes").written(row, 1, DAY).letter
    text = " ".join(text.split())
    few = round(100 * np.mean(kids[good] == 2))
    assert f"kids: 2 Usual in earlier cases of “yes”: 0. The same as you: only {few} of 100." in text


def test_a_mistake_of_the_sender_is_not_told_to_the_person(cases, tmp_path):
    table = datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier("naive", marginals="power").fit(table.X, table.y)
    one, other = clf.feature_labels_[:2]
    explainer = CounterfactualExplainer(clf, actions=Actions(rules=[f"{one} <= 2 * {other}"]))
    target = clf.classes_[1 - int(clf.predict(table.X.head(1))[0] == clf.classes_[1])]
    letters = mailing(explainer, target=target)
    with pytest.raises(ProblemError, match=r"the request is invalid.*curved scale"):
        letters.written(table.X.iloc[0], 0, DAY)
    holes = table.X.iloc[0].astype(object)
    holes[one] = np.inf
    assert f"{one}: cannot be read" in letters.written(holes, 0, DAY).letter


def test_templates_differ_in_their_slots(cases, tmp_path):
    clf, rows = cases
    explainer, row = rows["found"][0]
    e = explainer.explain(row, "good")
    texts = {
        name: write_letter(e, tmp_path / f"{name}.txt", clf, template=name).read_text("utf-8")
        for name in TEMPLATES
    }
    assert "Authority that oversees us" in texts["us"]
    assert "Questions on data protection" in texts["eu"]
    assert "Where you can complain" not in texts["neutral"]
    assert not any(re.search("compl(y|iant|iance)|GDPR|ECOA", text) for text in texts.values())


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"language": "fr"}, "there are no letters in 'fr'; there are en, de"),
        ({"template": "uss"}, "there is no template 'uss'.*did you mean 'us'"),
        ({"date": "2026-01-01"}, "date must be a datetime.date"),
        ({"labels": 3}, "labels must be the path of a file or a dict"),
    ],
)
def test_bad_requests(cases, tmp_path, given, complaint):
    clf, rows = cases
    explainer, row = rows["there"][0]
    e = explainer.explain(row, "good")
    with pytest.raises(ProblemError, match=complaint):
        write_letter(e, tmp_path / "a.html", clf, **given)
    assert list(tmp_path.iterdir()) == []


def test_letters_about_another_model_or_several_people_are_refused(cases, tmp_path):
    clf, rows = cases
    (explainer, one), (_, other) = rows["found"][:2]
    e, f = explainer.explain(one, "good"), explainer.explain(other, "good")
    with pytest.raises(DataError, match="about one person"):
        write_letter([e, f], tmp_path / "a.html", clf)
    with pytest.raises(DataError, match="another classifier"):
        write_letter(replace(e, question=replace(e.question, models=("x",))), tmp_path / "a.html", clf)
    with pytest.raises(DataError, match="no explanation"):
        write_letter([], tmp_path / "a.html", clf)


def test_the_example_of_the_docs_is_what_is_written(tmp_path, monkeypatch):
    docs = Path(__file__).parents[3] / "docs" / "howto"
    block = re.search(r"```python\n(.*?)```", (docs / "letters.md").read_text("utf-8"), re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    exec("\n".join(line[4:] for line in block.splitlines()), {})
    assert (tmp_path / "letter.txt").read_text("utf-8") == (docs / "letter.txt").read_text("utf-8")


@pytest.mark.parametrize("status", [Status.FAILED, Status.UNBOUNDED])
def test_a_search_that_failed_makes_no_letter(cases, status):
    """It would say that something was looked for, and not found."""
    explainer, row = cases[1]["not_found"][0]
    answers = mailing(explainer).answers(row, row.name)
    said = replace(answers[0], answer=replace(answers[0].answer, status=status, advice="A solver stopped."))
    with pytest.raises(ProblemError, match=r"nothing to tell the person: .* A solver stopped\."):
        mailing(explainer).about(Explanations([said]), DAY)


@pytest.mark.parametrize("mended", [True, False])
def test_who_is_there_reads_which_rule_is_not_met(cases, mended):
    """The decision stands; the rule is the reason why an answer is looked for, not that it is close."""
    explainer, row = cases[1]["there"][0]
    rule = f"credit_amount >= {float(row['credit_amount']) + 100}"
    actions = Actions({} if mended else {"credit_amount": "stay"}, rules=[rule])
    explainer = CounterfactualExplainer(explainer.classifier, actions=actions)
    written = mailing(explainer, form=".txt").written(row, row.name, DAY)
    said = " ".join(written.letter.split())
    assert written.kind == "there"
    assert "For this decision nothing has to change. Your details do not meet this rule today: credit" in said
    assert "It is close" not in said
    assert "stand in the way" not in said


def test_a_rule_over_a_protected_detail_is_not_named_to_who_is_there(cases):
    explainer, row = cases[1]["there"][0]
    actions = Actions(rules=[f"credit_amount >= {float(row['credit_amount']) + 100 - row['age']} + age"])
    explainer = CounterfactualExplainer(explainer.classifier, actions=actions)
    said = " ".join(mailing(explainer, form=".txt").written(row, row.name, DAY).letter.split())
    assert "Nothing has to change." in said
    assert "It is close" not in said
    assert "rule today" not in said


@pytest.mark.parametrize(("code", "about"), [("en", "about"), ("de", "etwa")])
def test_estimates_are_rounded_wherever_a_letter_shows_them(code, about):
    clf = toy_model()
    hole = refused_rows(clf).iloc[0].copy()
    hole["income"] = np.nan
    explainer = CounterfactualExplainer(clf, impute="expected")
    letters = mailing(explainer, code, form=".txt", target="yes")
    answers = letters.answers(hole, 1)
    today = float(answers[0].factual["income"])
    text = " ".join(letters.about(answers, DAY, row=hole).letter.split())
    assert not today.is_integer()
    assert f"income: {about} " in text
    assert str(today).partition(".")[2] not in text


def test_a_usual_value_is_named_only_where_it_would_help():
    """A low rent beside a low income counts against somebody; a usual rent would count even more."""
    credit = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier().fit(credit.X, credit.y)
    explainer, writer = CounterfactualExplainer(clf), Writer(language("en"), read_labels(None, clf))
    good, together = clf.classes_.tolist().index("good"), 0
    for _, row in credit.X[clf.predict(credit.X) == "bad"].head(25).iterrows():
        reasons = explainer.reasons(row, "good")
        names, usual = reasons.principal(4)["feature"], reasons.table.set_index("feature")["usual"]
        for name, line in zip(names, reason_lines(reasons, writer, clf), strict=True):
            rows = pd.DataFrame([row, row]).astype(credit.X.dtypes)
            rows[name] = pd.Series([row[name], usual[name]], index=rows.index, dtype=rows[name].dtype)
            now, then = clf.predict_proba(rows)[:, good]
            assert line.usual.startswith("Usual") <= (then >= now)
            together += line.usual == "Together with your other details, this counted against you."
    assert together


def test_a_reason_that_was_estimated_says_so():
    credit = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier().fit(credit.X, credit.y)
    row = credit.X[clf.predict(credit.X) == "bad"].iloc[0]
    reasons = CounterfactualExplainer(clf).reasons(row, "good")
    name = reasons.principal(1)["feature"].iloc[0]
    writer = Writer(language("en"), read_labels(None, clf), {}, (str(name),))
    assert reason_lines(reasons, writer, clf)[0].fact.endswith("(was missing, and was estimated)")
