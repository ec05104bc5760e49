"""The page and the pictures of an audit."""

import base64
import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from surefoot import write_report
from surefoot.exceptions import DataError
from surefoot.explain.population.cases import Cases
from surefoot.ui.plots.audit import plot_audit
from surefoot.ui.report.audit_words import answer_of, cost_words, group_lines
from tests.asking import CounterfactualExplainer
from tests.ui.mixed import toy_model, toy_table

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def explainer():
    kept = ["cards", "years", "housing", "member"]
    return CounterfactualExplainer(toy_model(), immutable=kept, bounds={"income": (0, 2500)}, budget=0)


@pytest.fixture(scope="module")
def audit(explainer):
    X = toy_table(30)[0]
    who = pd.Series(np.where(np.arange(30) % 2, EVIL, "=1+1"), name="$who$ <b>")
    return explainer.audit(X, "yes", by=who, progress=False)


@pytest.fixture(scope="module")
def page(audit, tmp_path_factory):
    return write_report(audit, tmp_path_factory.mktemp("page") / "a.html").read_text(encoding="utf-8")


def test_it_opens_with_the_answer(audit, page):
    body = page[page.index("<main") :]
    first = re.search(r'<p class="headline">(.*?)</p>', body, re.S)[1]
    assert first.startswith(f"{audit.overall['asked']} of 30 rows are not decided yes; for ")
    assert body.index('class="headline"') < body.index("<h2>")
    assert len(answer_of(audit)) == 3


def test_groups_figures_and_method_are_there(audit, page):
    assert audit.overall["none"] > 0
    for words in ("stands in the way", "Principal reasons", "How this was done", "What this does not show"):
        assert words in page
    for value in audit.about.values():
        assert value.split()[0] in page
    assert page.count("data:image/svg+xml") == 2
    assert "surefoot verify MODEL.json" in page


def test_names_are_text(page):
    assert EVIL not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_tables_can_be_taken_from_the_page(audit, page):
    links = re.findall(r'download="(\w+\.csv)" href="data:text/csv;charset=utf-8;base64,([^"]*)"', page)
    files = {name: base64.b64decode(text).decode("utf-8") for name, text in links}
    assert set(files) >= {"groups.csv", "blame.csv", "reasons.csv"}
    groups = pd.read_csv(io.StringIO(files["groups.csv"]))
    assert groups.iloc[:, 0].tolist() == ["(all)", EVIL, "'=1+1"]
    assert groups["asked"].tolist()[0] == audit.overall["asked"]


def test_nobody_asked_is_a_page_too(explainer, tmp_path):
    X = toy_table(30)[0]
    accepted = X[explainer.classifier.predict(X) == "yes"]
    audit = explainer.audit(accepted, "yes", progress=False)
    text = write_report(audit, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "there is nobody to ask about" in text
    assert "data:image" not in text
    assert "nobody to ask about" in audit._repr_html_()


def test_pictures(audit):
    panels = audit.plot(max_groups=1)
    labels = [text.get_text() for text in panels[0].get_yticklabels()]
    assert labels[0] == f"all ({audit.overall['asked']})"
    assert len(labels) == 2
    assert [text.get_text() for text in panels[1].get_xticklabels()][-1] == "no way"
    with pytest.raises(DataError, match="2 axes, not 1"):
        plot_audit(audit, axes=panels[:1])
    with pytest.raises(DataError, match="max_groups"):
        audit.plot(max_groups=0)
    panels[0].figure.clear()


def test_a_notebook_shows_the_table(audit):
    text = audit._repr_html_()
    assert "share without a way" in text
    assert EVIL not in text


def with_kinds(audit, found, none, undecided):
    """The same audit, its first rows found at the costs 1, 2, 3 ..., then none, then undecided."""
    kinds = ["found"] * found + ["none"] * none + ["undecided"] * undecided
    kinds += ["accepted"] * (len(audit.frame) - len(kinds))
    costs = np.where(np.array(kinds) == "found", np.arange(1.0, len(kinds) + 1), np.inf)
    low = np.where(np.array(kinds) == "undecided", 0.5, costs)
    cases = replace(audit.cases, kind=np.array(kinds, dtype=object), low=low, high=costs)
    return replace(audit, cases=cases)


def test_where_everybody_has_a_way_the_answer_says_so(audit):
    assert answer_of(with_kinds(audit, 20, 0, 0))[0] == (
        "20 of 30 rows are not decided yes; for each of them an allowed change is enough (share without a "
        "way: 0.0 %, 95 % interval 0.0 % to 16.8 %)."
    )
    assert answer_of(with_kinds(audit, 12, 0, 8))[0] == (
        "20 of 30 rows are not decided yes; for 12 of them an allowed change is enough, 8 are undecided, and "
        "nobody is proven to have no way (share without a way: 0.0 %, 95 % interval 0.0 % to 63.9 %)."
    )


def test_no_way_is_said_only_where_that_is_proven(audit):
    """Of 20 asked, half are the first 10 and nine tenths the first 18."""
    for counts, median, interval, far in (
        ((20, 0, 0), "10.00", "6.000 to 14.00", "18.00"),
        ((17, 3, 0), "10.00", "6.000 to 14.00", "no way"),
        ((17, 2, 1), "10.00", "5.000 to 14.00", "not known"),
        ((9, 11, 0), "no way", "6.000 to no way", "no way"),
        ((9, 10, 1), "not known", "5.000 to not known", "no way"),
        ((1, 19, 0), "no way", "no way", "no way"),
    ):
        overall = group_lines(with_kinds(audit, *counts), "all")[0]
        assert overall[8:11] == [median, interval, far], counts


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "in standard deviations from what the other features lead to expect, added up; each category"),
        ({"norm": 2}, "as the root of their squares"),
        (
            {"norm": np.inf, "distance": "cost"},
            "in standard deviations times their prices, the largest alone",
        ),
    ],
)
def test_how_costs_are_counted(settings, words):
    explainer = CounterfactualExplainer(toy_model(), **{"norm": 1, **settings})
    found = explainer.audit(toy_table(4)[0], "yes", progress=False)
    assert words in cost_words(found.question)


def in_two_groups(audit, costs, names):
    """An audit in which all have a way at these costs, or none where infinite, in groups of these names."""
    n = len(costs)
    frame = pd.concat([audit.frame] * n, ignore_index=True).head(n)
    kind, nothing = np.where(np.isinf(costs), "none", "found").astype(object), [()] * n
    cases = Cases(kind, np.array(costs), np.array(costs), nothing, nothing, nothing, nothing)
    found = replace(audit, frame=frame, cases=cases)
    return found.regrouped(pd.Series(names, name="who"))


def test_a_clear_difference_of_costs_is_said(audit):
    """Nobody is without a way in either group, so that shares say nothing."""
    names = ["one"] * 40 + ["other"] * 40
    apart = in_two_groups(audit, [*np.linspace(1, 2, 40), *np.linspace(3, 4, 40)], names)
    assert "the share without a way is 0.0 % in every group" in answer_of(apart)[1]
    assert answer_of(apart)[2] == (
        "For half of those asked a change that costs 2.000 or less is enough; by who, the median cost is "
        "larger for other (3.487, 3.333 to 3.641) than for one (1.487, 1.333 to 1.641), and these intervals "
        "do not overlap."
    )
    alike = in_two_groups(audit, [*np.linspace(1, 2, 40), *np.linspace(1.1, 2.1, 40)], names)
    assert "overlap" not in answer_of(alike)[2]


def test_a_group_of_one_is_listed_and_not_judged(audit):
    """However far away its cost is, the sentences do without it; tables keep its figures."""
    found = in_two_groups(audit, [*np.linspace(1, 2, 40), 99.0], ["one"] * 40 + ["other"])
    assert "only one group has 30 rows asked or more" in answer_of(found)[1]
    assert "99" not in " ".join(answer_of(found))
    assert [line[0] for line in group_lines(found, "all")] == ["all", "one", "other (few)"]
    assert group_lines(found, "all")[2][8] == "99.00"
    assert any("in 1 of 2 groups fewer than 30 rows are asked, too few to judge" in n for n in found.notes)


def test_groups_by_two_things_say_that_they_are_combinations(audit):
    both = audit.regrouped(["member", {"cards": [3]}])
    assert both.notes[0] == (
        "groups are combinations of 'member' and 'cards'; those by one of them alone come first, and each "
        "row counts in several lines"
    )
    alone = both.regrouped("member")
    pd.testing.assert_frame_equal(both.alone[0].by_group, alone.by_group)
    assert alone.alone == ()
    names = [line[0].removesuffix(" (few)") for line in group_lines(both, "all")]
    assert names == [
        "all", "member: False", "member: True", "cards: below 3", "cards: 3 and above",
        "False, below 3", "False, 3 and above", "True, below 3", "True, 3 and above",
    ]  # fmt: skip
    assert alone.by_group["asked"].sum() == both.by_group["asked"].sum()
    assert not any("combination" in note for note in alone.notes)
    again = audit.explainer.audit(audit.frame, "yes", by="member", progress=False)
    pd.testing.assert_frame_equal(alone.by_group, again.by_group)


def test_a_difference_by_one_thing_alone_is_said_where_combinations_are_small(audit):
    """Twenty of each combination are too few to compare; forty by one thing are not."""
    costs = np.where(np.arange(80) < 40, np.linspace(1, 2, 80), np.inf)
    who, when = ["one"] * 40 + ["other"] * 40, ["then", "now"] * 40
    found = in_two_groups(audit, costs, who).regrouped({"who": np.array(who), "when": np.array(when)})
    assert answer_of(found)[1] == (
        "By who, the share without a way is largest for other (100.0 %, 91.2 % to 100.0 %) and smallest for "
        "one (0.0 %, 0.0 % to 8.8 %); these intervals do not overlap."
    )
    assert "; by who, the median cost is larger for other (no way) than for one" in answer_of(found)[2]


def test_groups_that_differ_are_named_though_the_extremes_overlap(audit):
    """Largest and smallest are groups of 30; of the two large ones in between it is clear."""
    sizes, none = {"a": 30, "b": 600, "c": 600, "d": 30}, {"a": 5, "b": 90, "c": 30, "d": 1}
    costs = np.concatenate([np.where(np.arange(n) < none[k], np.inf, 1.0) for k, n in sizes.items()])
    found = in_two_groups(audit, costs, np.repeat(list(sizes), list(sizes.values())))
    assert answer_of(found)[1] == (
        "By who, the share without a way is larger for b (15.0 %, 12.2 % to 18.1 %) than for c (5.0 %, "
        "3.4 % to 7.1 %), and these intervals do not overlap."
    )


def test_an_interval_that_says_nothing_says_so(audit):
    """Of one row, of nine half of whom have a way, and of forty."""
    costs = np.concatenate([[1.0], np.tile([1.0, np.inf], 5)[:9], np.linspace(1, 2, 40)])
    found = in_two_groups(audit, costs, ["alone"] + ["few"] * 9 + ["many"] * 40)
    lines = group_lines(found, "all")
    assert {line[0]: (line[7], line[9]) for line in lines[1:]} == {
        "alone (few)": ("too few to tell", "too few to tell"),
        "few (few)": ("too few to tell", "1.000 to no way"),
        "many": ("0.0 % to 8.8 %", "1.333 to 1.641"),
    }
