"""Audits: figures by group equal to those counted by hand from the table of explanations."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, datasets
from surefoot import CounterfactualExplainer as Practical
from surefoot.exceptions import ProblemError
from surefoot.explain.population.audit import Audit
from surefoot.explain.population.cases import COLUMNS, Cases, cases_of
from surefoot.explain.population.groups import grouped
from tests.asking import CounterfactualExplainer
from tests.ui.mixed import toy_model, toy_table

HARD = Actions({"income": Action("rise", most=400), "cards": "stay", "years": "stay", "housing": "stay"})


@pytest.fixture(scope="module")
def explainer():
    return CounterfactualExplainer(toy_model(), actions=HARD, budget=0.05)


@pytest.fixture(scope="module")
def rows():
    X = toy_table(60)[0].astype(object)
    X.loc[3, "income"] = math.nan
    region = np.where(np.arange(60) % 3 == 0, "north", "south").astype(object)
    region[7] = None
    return X.assign(region=region)


@pytest.fixture(scope="module")
def audit(explainer, rows):
    return explainer.audit(rows, "yes", by=["region", {"cards": [3]}], progress=False)


@pytest.fixture(scope="module")
def german():
    data = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    kept = ["credit_amount", "duration_months", "checking_account", "purpose", "housing", "property"]
    rows = data.X.iloc[12::52].assign(sex=data.X["personal_status"].str.split(" ").str[0])
    explainer = Practical(clf, immutable=kept)
    return explainer.audit(rows, "good", by=["sex", {"age": [25, 40, 60]}], progress=False)


def by_hand(table, cap):
    """The figures of some lines of the table of explanations, written down once more."""
    asked = table[table["factual_class"] != table["target"]]
    none = int((asked["status"] == "infeasible").sum())
    costs = np.sort(np.where(asked["status"] == "infeasible", math.inf, asked["distance"]))
    n = len(asked)
    if not n:
        return {"rows": len(table), "asked": 0, "none": 0, "none_share": math.nan, "cost_median": math.nan}
    low = stats.beta.ppf(0.025, none, n - none + 1) if none else 0.0
    high = stats.beta.ppf(0.975, none + 1, n - none) if none < n else 1.0
    return {
        "rows": len(table),
        "asked": n,
        "found": n - none,
        "none": none,
        "undecided": 0,
        "none_share": none / n,
        "none_share_low": low,
        "none_share_high": high,
        "cost_median": costs[(n + 1) // 2 - 1],
        "cost_90": costs[math.ceil(0.9 * n) - 1],
        "burden": np.minimum(costs, cap).mean(),
    }


def test_german_credit_by_sex_and_age_is_what_the_table_says(german):
    table, again = german.explained, german.explainer.explain_table(german.frame.iloc[:4], "good")
    timed = ["seconds", "conflict", "advice", "reason"]  # what stands in the way is looked for some seconds
    pd.testing.assert_frame_equal(table.iloc[:4].drop(columns=timed), again.drop(columns=timed))
    found = table[(table["status"] == "optimal") & (table["factual_class"] == "bad")]["distance"]
    cap = np.sort(found)[math.ceil(0.9 * len(found)) - 1]
    age = german.frame["age"]
    bands = {
        "below 25": age < 25, "25 to below 40": (age >= 25) & (age < 40),
        "40 to below 60": (age >= 40) & (age < 60), "60 and above": age >= 60,
    }  # fmt: skip
    seen = 0
    for (sex, band), figures in german.by_group.iterrows():
        part = table[((german.frame["sex"] == sex) & bands[band]).to_numpy()]
        seen += len(part)
        for name, value in by_hand(part, cap).items():
            assert figures[name] == pytest.approx(value, nan_ok=True), (sex, band, name)
    assert seen == german.overall["rows"] == 19
    assert german.overall["none"] > 0
    for name, value in by_hand(table, cap).items():
        assert german.overall[name] == pytest.approx(value), name


def test_every_row_without_recourse_has_a_reason_and_nothing_kept_is_proposed(german):
    table = german.table
    none = table[table["status"] == "infeasible"]
    assert len(none) > 0
    assert set(none["reason"]) <= {"constraints", "no_allowed_change"}
    for name in german.explainer.asker.unchangeable:
        there = table[table["reason"] == ""]
        assert (there[f"factual: {name}"] == there[f"counterfactual: {name}"]).all()
        assert name not in set(german.changes["feature"])
    # Each one without recourse is blamed on something: on what its line says, or on no single restriction.
    for key, count in german.by_group["none"].items():
        blamed = german.blame.loc[[key]]["rows"].sum() if count else 0
        assert blamed >= count
    assert german.reasons["rows"].sum() > 0


def test_columns_are_the_contract(audit):
    assert list(audit.by_group.columns) == list(audit.overall.index) == list(COLUMNS)
    assert isinstance(audit.by_group.index, pd.MultiIndex)
    assert audit.by_group.index.names == ["region", "cards"]
    assert audit.table["group: region"].isna().sum() == 0
    assert audit.table.columns[:3].tolist() == ["row", "group: region", "group: cards"]
    counts = audit.by_group[["found", "none", "undecided"]].sum(axis=1)
    assert (counts == audit.by_group["asked"]).all()
    assert audit.by_group["rows"].sum() == 60


@pytest.mark.slow
def test_jobs_do_not_matter(explainer, rows):
    one, two = (explainer.audit(rows.head(9), "yes", "region", n_jobs=n, progress=False) for n in (1, 2))
    same = list(COLUMNS[:-1])  # what is blamed may depend on how busy the machine is
    pd.testing.assert_frame_equal(one.by_group[same], two.by_group[same])
    pd.testing.assert_frame_equal(one.changes, two.changes)
    assert one.about == two.about


def test_rows_without_a_group_or_a_value_are_said(audit):
    assert "missing" in audit.by_group.index.get_level_values("region")
    assert any("1 row without a value of 'region'" in note for note in audit.notes)
    unread = "1 of 60 rows cannot be read by the model, and are not asked: they have holes, which impute="
    assert any(note.startswith(unread) for note in audit.notes)
    assert audit.overall["rows"] - audit.overall["asked"] > 1
    assert (audit.table.loc[3, "reason"], audit.cases.kind[3]) == ("invalid_row", "unread")


def test_differences(audit):
    shares = audit.by_group["none_share"].dropna()
    assert audit.difference()["none_share"] == pytest.approx(shares.max() - shares.min())
    to_all = (shares - audit.overall["none_share"]).abs().max()
    assert audit.difference("to_overall")["none_share"] == pytest.approx(to_all)
    with pytest.raises(ProblemError, match="between_groups, to_overall"):
        audit.difference("ratio")


def test_a_row_that_could_be_safer_is_not_asked():
    clf = toy_model()
    explainer = CounterfactualExplainer(clf, budget=0.4)
    X = toy_table()[0]
    decided = clf.predict(X) == "yes"
    audit = explainer.audit(X.head(60), "yes", progress=False)
    made_safer = (audit.table["status"] == "optimal") & (audit.table["factual_class"] == "yes")
    assert made_safer.any()
    assert audit.overall["asked"] == (~decided[:60]).sum()


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        (None, ["everybody"]),
        ("member", [False, True]),
        ({"cards": [3]}, ["below 3", "3 and above"]),
        ([pd.Series(["b"] * 30 + ["a"] * 30, name="wave")], ["a", "b"]),
        (np.repeat([2, 10], 30), [2, 10]),
        ({"wave": np.repeat(["x", None], 30)}, ["x", "missing"]),
        (pd.Series(["missing"] * 59 + [None], name="w"), ["missing", "missing (no value)"]),
        ({"years": [1000, 2000]}, ["below 1000"]),
    ],
)
def test_ways_to_say_groups(rows, by, groups):
    assert [key[0] for key in grouped(rows, by).places()] == groups


def test_bands_of_large_numbers_stay_apart():
    frame = pd.DataFrame({"amount": [1_000_000, 1_000_001, 1_000_002.5, 1_000_003]})
    found = grouped(frame, {"amount": [1_000_001, 1_000_002, 1_000_003]}).places()
    assert [key[0] for key in found] == [
        "below 1000001", "1000001 to below 1000002", "1000002 to below 1000003", "1000003 and above"
    ]  # fmt: skip
    assert [rows.tolist() for rows in found.values()] == [[0], [1], [2], [3]]


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("regio", "no column 'regio'; did you mean 'region'"),
        ({"region": [1, 2]}, "bands are for numbers, and 'north' is none"),
        ({"cards": [4, 2]}, "must rise"),
        ({"cards": []}, "must be numbers"),
        ({"cards": ["a"]}, "must be numbers, not 'a'"),
        ({"cards": [math.nan]}, "must be numbers"),
        (["region", "region"], "given twice"),
        (pd.Series([1, 2], name="w"), "2 values for 60 rows"),
        (pd.Series(range(60), index=range(59, -1, -1), name="w"), "another index than the rows"),
        ({"w": pd.Series(range(60), index=range(1, 61))}, "another index than the rows"),
        ([["region"]], "no column"),
    ],
)
def test_groups_that_cannot_be(rows, by, message):
    with pytest.raises(ProblemError, match=message):
        grouped(rows, by)


def test_more_groups_than_anybody_reads():
    with pytest.raises(ProblemError, match="600 groups, and 500 are the most; numbers are grouped by bands"):
        grouped(pd.DataFrame({"a": np.arange(600)}), "a")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"target": None}, "needs a target; the classes are 'no', 'yes'"),
        ({"target": ["yes", "no"]}, "one target"),
        ({"target": "perhaps"}, "unknown target"),
        ({"ci": 95}, "between 0 and 1"),
        ({"n_jobs": 0}, "other than 0"),
        ({"frame": [1]}, "takes a DataFrame"),
        ({"frame": pd.DataFrame()}, "has none"),
    ],
)
def test_what_cannot_be_asked(explainer, rows, given, message):
    settings = {"frame": rows, "target": "yes", "progress": False, **given}
    with pytest.raises(ProblemError, match=message):
        explainer.audit(settings.pop("frame"), **settings)


def test_nobody_asked(explainer, rows):
    decided = explainer.classifier.predict(rows.drop(index=3)[list(explainer.classifier.feature_labels_)])
    accepted = rows.drop(index=3)[decided == "yes"]
    audit = explainer.audit(accepted, "yes", by="region", progress=False)
    assert (audit.by_group["asked"] == 0).all()
    assert audit.by_group["none_share"].isna().all()
    assert audit.by_group["burden"].isna().all()
    assert audit.difference().isna().all()
    assert len(audit.blame) == len(audit.changes) == 0
    assert "nobody to ask about" in str(audit)


def stopped(statuses, distances, bounds):
    """An audit's cases of rows that ended like this."""
    table = pd.DataFrame({
        "status": statuses, "distance": distances, "lower_bound": bounds, "cautions": "",
        "factual: a": 0.0, "counterfactual: a": 1.0, "blamed": "[]", "principal": "[]",
    })  # fmt: skip
    return cases_of(table, [False] * len(table), ["a"], "no single restriction")


def test_a_search_that_was_stopped_counts_with_what_is_proven():
    statuses = ["optimal"] * 8 + ["time_limit", "time_limit_no_point", "failed"]
    cases = stopped(statuses, [1.0] * 8 + [5.0, math.inf, math.nan], [0.99] * 8 + [2.0, 3.0, math.nan])
    assert isinstance(cases, Cases)
    assert cases.low.tolist() == [1.0] * 8 + [2.0, 3.0, 0.0]
    assert cases.high.tolist() == [1.0] * 8 + [5.0, math.inf, math.inf]
    figures = cases.figures(np.arange(11), 0.95, cases.cap)
    assert (figures["found"], figures["none"], figures["undecided"]) == (9, 0, 2)
    assert figures["none_share"] == 0
    assert figures["none_share_high"] == pytest.approx(stats.beta.ppf(0.975, 3, 9))
    few = stopped(["time_limit"] * 9, [5.0] * 9, [2.0] * 9).figures(np.arange(9), 0.95, 5.0)
    assert (few["cost_median"], few["cost_median_low"], few["cost_median_high"]) == (5.0, 2.0, 5.0)


def test_no_way_is_an_infinite_cost_and_a_burden_of_what_nine_in_ten_stay_below():
    cases = stopped(["optimal"] * 10 + ["infeasible"] * 10, [*range(1, 11), *[math.inf] * 10], [0.0] * 20)
    assert cases.cap == 9
    figures = cases.figures(np.arange(20), 0.95, cases.cap)
    assert (figures["cost_median"], figures["cost_90"]) == (10.0, math.inf)
    assert figures["burden"] == pytest.approx((sum(range(1, 10)) + 9 + 10 * 9) / 20)
    assert figures["blamed"] == "no single restriction (10)"
    alone = stopped(["infeasible"], [math.inf], [math.inf])
    assert math.isnan(alone.figures(np.arange(1), 0.95, alone.cap)["burden"])


def test_hostile_names_are_harmless(tmp_path):
    X, y = toy_table(40)
    X = X.rename(columns={"income": "=cmd('x')"})[["=cmd('x')", "years"]]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    explainer = CounterfactualExplainer(clf, immutable=["=cmd('x')"], budget=0)
    evil = pd.Series(["=1+1", "<script>alert(1)</script>"] * 20, name="@sum")
    audit = explainer.audit(X, "yes", by=evil, progress=False)
    for which in ("groups", "blame", "changes", "reasons", "cautions", "table"):
        audit.to_csv(tmp_path / "a.csv", which)
        cells = (
            pd.read_csv(tmp_path / "a.csv", header=None, dtype=str, keep_default_na=False).to_numpy().ravel()
        )
        bad = [c for c in cells if c.startswith(("=", "@", "+"))]
        assert not bad
    with pytest.raises(ProblemError, match="which must be one of"):
        audit.to_csv(which="letters")


def test_an_audit_says_itself(audit):
    text = str(audit)
    assert str(pickle.loads(pickle.dumps(audit))) == text
    assert "it is proven that no allowed change is enough" in text
    assert "Note: " in text
    assert repr(audit) == f"<Audit of 60 rows in {len(audit.by_group)} groups for yes>"
    assert isinstance(audit, Audit)
    assert set(audit.about) >= {"model", "question", "actions", "rows and groups", "surefoot"}


def test_regions_and_one_action_are_those_of_the_rows_that_were_asked(explainer, rows):
    audit = explainer.audit(rows.head(24), "yes", by="member", progress=False)
    found = audit.one_action(True)
    asked = audit.frame[(audit.frame["member"] == True) & audit.cases.asked]  # noqa: E712
    assert list(found.served.index) == list(asked.index)
    with pytest.raises(ProblemError, match="no group 'perhaps'; the groups are False, True"):
        audit.one_action("perhaps")
    boxes = audit.regions(depth=1, most=2, time_limit=20)
    assert {"words", "rows", "asked", "proof"} <= set(boxes.columns)
    assert (boxes["rows"] == boxes["asked"]).all()


def test_holes_are_told_from_what_nothing_fills(rows):
    """One row has a hole, another a value that is no number; with holes filled only the other is left."""
    odd = rows.head(16).copy()
    odd.loc[5, "income"] = math.inf
    for impute, said in (
        (None, "2 of 16 rows cannot be read by the model, and are not asked: 1 of them"),
        ("expected", "1 of 16 rows cannot be read by the model, and are not asked"),
    ):
        explainer = CounterfactualExplainer(toy_model(), actions=HARD, impute=impute)
        notes = explainer.audit(odd, "yes", progress=False).notes
        assert [note for note in notes if note.startswith(said)], notes
        assert any("fills" in note for note in notes) == (impute is None)
