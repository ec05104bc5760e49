"""What is enough: every combination in the region keeps the decision, and it is as large as it can be."""

import itertools
import math
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    Explanation,
    datasets,
    verify,
)
from surefoot.exceptions import DataError
from surefoot.explain.answer.decimals import count_decimals, rounded_inwards, short_between
from surefoot.explain.answer.enough import what_is_enough
from tests.mixed_tables import lender, lending, refused_rows


def rows_in(region, answer, count, seed=0):
    """Rows drawn from a region, its corners first."""
    rng = np.random.default_rng(seed)
    corners = list(itertools.islice(itertools.product(*(one.proven for one in region.numbers)), count))
    frame = pd.DataFrame([answer.to_dict()] * count)
    for i, one in enumerate(region.numbers):
        drawn = rng.uniform(*one.proven, count)
        drawn[: len(corners)] = [corner[i] for corner in corners]
        frame[one.feature] = drawn
    for name, values in region.categories.items():
        frame[name] = [values[k] for k in rng.integers(0, len(values), count)]
    return frame


def check(e, clf, count=2000):
    region = e.enough()
    assert region.contains(e.counterfactual)
    rows = rows_in(region, e.counterfactual, count)
    assert (clf.predict(rows) == e.target).all()
    assert region.contains(rows.iloc[7])
    verdicts = {claim.name: claim.verdict for claim in verify(e, clf).claims}
    assert verdicts["enough"] == "holds"
    if e.not_enough:
        row = e.counterfactual.copy()
        row[region.example.feature] = region.example.value
        assert clf.predict(pd.DataFrame([row.to_dict()]))[0] == region.example.decision != e.target
        assert not region.contains(row)
    return region


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ({}, {}),
        ({"marginals": "power", "calibration": "temperature"}, {}),
        ({}, {"preset": "paper", "budget": 0.05}),
        ({}, {"budget": 0.0}),
        ({}, {"threshold": 0.7, "norm": 2}),
        ({}, {"plausible": 0.2}),
    ],
)
def test_every_combination_keeps_the_decision(settings, asked):
    clf = lender(**settings)
    explainer = CounterfactualExplainer(clf, **asked)
    regions = [check(explainer.explain(row, "good"), clf) for row in refused_rows(clf, 4)]
    assert any(region.numbers for region in regions)
    assert any(region.not_enough for region in regions)


def test_tables_of_numbers(bundled):
    for name, rows in (("banknote", (0, 3)), ("pima", (0, 3))):
        data = bundled[name]
        clf = ConditionalGaussianNetworkClassifier().fit(data.X, data.y)
        explainer = CounterfactualExplainer(clf)
        for k in rows:
            e = explainer.explain(data.X.iloc[k])
            region = check(e, clf)
            assert region.table["feature"].tolist() == [n for n in data.X.columns if n in e.changed]


def test_an_open_end_is_where_the_data_or_a_bound_ends():
    clf = lender()
    ends = dict(zip(clf.feature_labels_, clf.feature_range_.T.tolist(), strict=True))
    seen = set()
    for bounds in ("data", {"debt": (0, 4000), "income": (0, 9000)}):
        explainer = CounterfactualExplainer(
            clf, bounds=bounds, immutable=["housing", "savings", "phone"], at_most=2
        )
        for row in refused_rows(clf, 6):
            region = explainer.explain(row, "good").enough()
            for one in region.numbers:
                low, high = (
                    ends[one.feature] if bounds == "data" else bounds.get(one.feature, ends[one.feature])
                )
                assert (one.low == -math.inf) == (one.proven[0] <= low)
                assert (one.high == math.inf) == (one.proven[1] >= high)
                seen |= {one.low == -math.inf, one.high == math.inf}
    assert seen == {True, False}


def test_whole_numbers_and_lists_stay_what_they_are():
    clf = lender()
    actions = Actions({"debt": Action("fall", values=[0, 250, 500, 1000, 1500, 2500]), "income": "stay"})
    explainer = CounterfactualExplainer(clf, actions=actions, immutable=["housing", "savings", "phone"])
    found = set()
    for row in refused_rows(clf, 8):
        e = explainer.explain(row, "good", on_failure="return")
        if e.counterfactual is None:
            continue
        for one in check(e, clf).numbers:
            finite = [x for x in (one.low, one.high) if math.isfinite(x)]
            if one.feature == "months":
                assert all(x == int(x) for x in finite)
            else:
                assert all(x in (0, 250, 500, 1000, 1500, 2500, row["debt"]) for x in finite)
            found.add(one.feature)
    assert found == {"months", "debt"}


def test_it_holds_the_budget_of_a_box():
    clf = lender()
    explainer = CounterfactualExplainer(clf, budget={"income": (40, 60), "debt": 35}, immutable=["housing"])
    checked = 0
    for row in refused_rows(clf, 8):
        e = explainer.explain(row, "good")
        for one in check(e, clf).numbers:
            if one.feature in ("income", "debt"):
                down, up = e.budget[one.feature]
                x = e.counterfactual[one.feature]
                assert one.proven[0] <= x - down + 1e-9
                assert one.proven[1] >= x + up - 1e-9
                checked += 1
    assert checked > 4


def test_it_holds_what_one_number_may_miss():
    clf = lender("naive")
    kept = ["housing", "savings", "phone", "months", "debt"]
    explainer = CounterfactualExplainer(clf, immutable=kept, budget=0.1)
    for row in refused_rows(clf, 8):
        e = explainer.explain(row, "good", on_failure="return")
        if e.counterfactual is None:
            continue
        one, x = check(e, clf).numbers[0], e.counterfactual["income"]
        assert one.proven[0] <= x - 0.1 * e.unit["income"]
        assert one.proven[1] >= x + 0.1 * e.unit["income"]
        assert all(len(f"{end:g}") >= len(repr(end)) - 2 for end in (one.low, one.high) if math.isfinite(end))


def far_out():
    """A table with one number of a tail so long that its scale hardly tells the far values apart."""
    rng = np.random.default_rng(3)
    good = rng.random(400) < 0.5
    wealth = 1e5 / rng.normal(np.where(good, 0.6, 1.0), 0.12).clip(0.1)
    wealth[good.argmax()] = 5e7
    return pd.DataFrame({"wealth": wealth, "other": rng.normal(size=400)}), np.where(good, "good", "bad")


def test_on_a_scale_that_is_nearly_flat_it_ends_where_the_data_end():
    X, y = far_out()
    clf = ConditionalGaussianNetworkClassifier("naive", marginals="power").fit(X, y)
    row = pd.Series({"wealth": 8e4, "other": 0.0})
    question = CounterfactualExplainer(clf, immutable=["other"]).explain(row, "good").question
    region = what_is_enough(clf, (), question, np.array([5e7 - 1, 0.0]), (), 10.0)
    (one,) = region.numbers
    assert (one.high, one.proven[1]) == (math.inf, 5e7)
    # Rounding gives away little of the other side, measured on the scale and not in the number's own unit.
    warp = question.warps[0]
    z = warp.exactly(5e7 - 1)
    farther = float(warp.inverse(z - 1.05 * (z - warp.exactly(one.low))))
    assert clf.predict(pd.DataFrame({"wealth": [one.low, farther], "other": 0.0})).tolist() == ["good", "bad"]


def where_the_decision_ends(e, clf, name, x, wrong):
    """The last value on the way from one that is enough to one that is not, by bisection."""
    for _ in range(60):
        middle = (x + wrong) / 2
        row = pd.DataFrame([{**e.counterfactual.to_dict(), name: middle}])
        x, wrong = (middle, wrong) if clf.predict(row)[0] == e.target else (x, middle)
    return x


def shortest_decimal(least, most, sign):
    """Of the decimals with the fewest digits behind the point that lie between two numbers, the farthest."""
    for digits in range(12):
        last = math.floor(sign * most * 10**digits) / 10**digits
        if last >= sign * least:
            return sign * last
    raise AssertionError("there is none")


@pytest.mark.parametrize("number", [330, 332, 1100, 200, 1000])
def test_what_it_must_hold_is_rounded_by_less_where_there_is_little_room(bundled, number):
    """Not below what the budget reaches, not beyond the boundary, as far as it goes, in the fewest digits."""
    bank = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(bank.X, bank.y)
    e = CounterfactualExplainer(clf, budget=0.05).explain(bank.X.iloc[number])
    (one,) = check(e, clf).numbers
    assert one.feature == "variance"
    today, x = bank.X["variance"].iloc[number], e.counterfactual["variance"]
    sign = 1 if today > x else -1
    reached = x + sign * 0.05 * e.unit["variance"]
    boundary = where_the_decision_ends(e, clf, "variance", x, today)
    assert one.proven[sign > 0] == pytest.approx(shortest_decimal(reached, boundary, sign), abs=1e-12)


def test_it_cannot_be_enlarged_by_much():
    """With one number that changes the boundary is known: the region goes there up to rounding."""
    clf = lender("naive")
    explainer = CounterfactualExplainer(clf, immutable=["housing", "savings", "phone", "months", "debt"])
    checked = 0
    for row in refused_rows(clf, 12):
        e = explainer.explain(row, "good", on_failure="return")
        if e.counterfactual is None:
            continue
        one, x = e.enough().numbers[0], e.counterfactual["income"]
        for sign, end, stated in ((-1, one.proven[0], one.low), (1, one.proven[1], one.high)):
            if math.isinf(stated):
                continue
            grid = np.linspace(x, x + sign * 1.05 * abs(end - x) + sign * 1e-6, 400)
            rows = pd.DataFrame([e.counterfactual.to_dict()] * 400).assign(income=grid)
            assert (clf.predict(rows) != "good").any()
            checked += 1
    assert checked > 4


def test_whole_numbers_waste_no_room(bundled):
    """One glucose more leaves room for the weight, too: the shortest side must not be rounded to nothing."""
    table = bundled["pima"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(table.X, table.y)
    e = CounterfactualExplainer(clf, at_most=2).explain(table.X.iloc[598])
    plas, mass = check(e, clf).numbers
    deviations = np.sqrt(np.diag(clf.network(e.factual_class, ()).covariance))
    unit = dict(zip(table.X, deviations, strict=True))
    x = e.counterfactual

    def room(more):
        """How far up the mass can go beside so many more of plas."""
        grid = np.linspace(x["mass"], x["mass"] + 3, 20_000)
        rows = pd.DataFrame([x.to_dict()] * len(grid)).assign(plas=x["plas"] + more, mass=grid)
        refused = np.flatnonzero(clf.predict(rows) != e.target)
        return grid[refused[0]] - x["mass"] if len(refused) else 3.0

    best = max(min(more / unit["plas"], room(more) / unit["mass"]) for more in range(5))
    sides = (
        (plas.proven[1] - x["plas"]) / unit["plas"],
        (mass.proven[1] - x["mass"]) / unit["mass"],
    )
    assert min(sides) >= 0.95 * best > 0


@pytest.mark.parametrize("number", [53, 70, 75])
def test_the_coarser_of_two_whole_numbers_is_settled_first(bundled, number):
    """One glucose is worth several insulins: the shortest side is as long as whole numbers let it be."""
    table = bundled["pima"]
    clf = ConditionalGaussianNetworkClassifier().fit(table.X, table.y)
    e = CounterfactualExplainer(clf).explain(table.X.iloc[number])
    region, x = check(e, clf), e.counterfactual
    sides = {
        (one.feature, sign): abs(end - x[one.feature]) / e.unit[one.feature]
        for one in region.numbers
        for sign, end in zip((-1, 1), one.proven, strict=True)
    }
    short = sorted(sides, key=sides.get)[:2]
    (a, up), (b, along) = sorted(short, key=lambda side: -1 / e.unit[side[0]])

    def holds(p, q):
        """Whether whole numbers up to so many steps along both sides, and some behind, keep it."""
        steps = itertools.product(range(-1, p + 1), range(-2, q + 1))
        rows = pd.DataFrame([x.to_dict() | {a: x[a] + up * i, b: x[b] + along * j} for i, j in steps])
        return bool((clf.predict(rows) == e.target).all())

    lengths = {(p, q): min(p / e.unit[a], q / e.unit[b]) for p in range(4) for q in range(12) if holds(p, q)}
    assert min(sides.values()) >= 0.95 * max(lengths.values()) > 0


def test_categories_are_listed_where_others_do_as_well():
    clf = lender()
    actions = Actions(dict.fromkeys(("income", "debt", "months"), "stay"))
    explainer = CounterfactualExplainer(clf, actions=actions)
    several = 0
    for row in refused_rows(clf, 12):
        e = explainer.explain(row, "good", on_failure="return")
        if e.counterfactual is None:
            continue
        region = check(e, clf, 200)
        assert not region.numbers
        for name, values in region.categories.items():
            assert row[name] not in values
            assert e.counterfactual[name] in values
            several += len(values) > 1
            for other in set(clf.categories_[name]) - {*values, row[name]}:
                tried = pd.DataFrame([{**e.counterfactual.to_dict(), name: other}])
                assert len(region.categories) > 1 or clf.predict(tried)[0] != "good"
    assert several > 0


def test_refits_must_agree_in_it():
    X, y = lending()
    clf = lender("naive")
    explainer = CounterfactualExplainer(clf, models=2, data=(X, y))
    e = explainer.explain(refused_rows(clf, 1)[0], "good")
    region = check(e, clf)
    rows = rows_in(region, e.counterfactual, 500)
    for model in explainer.refits.searched:
        assert (model.predict(rows) == "good").all()
    with pytest.raises(DataError, match="further models"):
        Explanation.from_json(
            CounterfactualExplainer(clf, models=2, data=(X, y))
            .explain(refused_rows(clf, 1)[0], "good")
            .to_json()
        ).enough(clf)


def test_an_answer_from_a_file_needs_its_classifier():
    clf, row = lender(), refused_rows(lender(), 1)[0]
    e = CounterfactualExplainer(clf).explain(row, "good")
    again = Explanation.from_json(e.to_json())
    with pytest.raises(DataError, match=r"read from a file: pass its classifier"):
        again.enough()
    with pytest.raises(DataError, match="another classifier"):
        again.enough(lender("naive"))
    assert again.enough(clf).words == e.enough().words
    assert "enough" in again.to_dict()
    third = Explanation.from_json(e.to_json())
    assert third.enough().words == e.enough().words
    assert third.not_enough == e.not_enough
    assert third.to_json() == e.to_json()


def test_nothing_is_enough_where_there_is_no_answer():
    clf, row = lender(), refused_rows(lender(), 1)[0]
    e = CounterfactualExplainer(clf, immutable=list(clf.feature_labels_)).explain(
        row, "good", on_failure="return"
    )
    with pytest.raises(DataError, match="no counterfactual"):
        e.enough()


def test_nothing_has_to_change_where_the_target_is_there():
    clf, (X, _) = lender(), lending()
    row = X.iloc[int(np.argmax(clf.predict_proba(X)[:, 1]))]
    e = CounterfactualExplainer(clf).explain(row, "good")
    assert e.enough().words == "nothing has to change"
    assert e.not_enough == ""
    assert verify(e, clf).ok


def test_with_no_time_left_it_is_the_answer_itself_or_little_more():
    clf = lender()
    e = CounterfactualExplainer(clf).explain(refused_rows(clf, 1)[0], "good")
    assert e.enough(time_limit=-1.0).contains(e.counterfactual)
    assert verify(e, clf).ok


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_short_decimals_lie_between(outer, inner):
    found = short_between(outer, inner)
    assert min(outer, inner) <= found <= max(outer, inner)
    assert len(repr(found)) <= max(len(repr(outer)), len(repr(inner)))


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.integers(0, 9))
def test_ends_rounded_inwards_lie_inside(one, other, most):
    low, high = sorted((one, other))
    found = rounded_inwards(low, high, most)
    assert low <= found[0] <= found[1] <= high
    step = 10.0**-most
    if high - low > 3 * step + 1e-5:
        assert found[0] < low + 1.01 * step + 1e-6
        assert found[1] > high - 1.01 * step - 1e-6
        assert all(count_decimals(x) <= most for x in found)


def test_german_credit_reads_well():
    data = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier().fit(data.X, data.y)
    e = CounterfactualExplainer(clf).explain(data.X.iloc[3])
    region = check(e, clf)
    assert region.words == str(region) == "duration_months of 21 to 38 and credit_amount of 3,307 to 6,267"
    assert e.not_enough == "With credit_amount 6,268 instead the decision stays bad."


def test_every_combination_keeps_to_the_rules():
    """What is enough obeys linear rules at every corner, also where the decision would allow more."""
    clf = lender()
    explainer = CounterfactualExplainer(
        clf, actions=Actions(rules=["debt <= 0.4 * income", "income + debt <= 4000"])
    )
    seen = 0
    for row in refused_rows(clf, 14):
        e = explainer.explain(row, "good", on_failure="return")
        if e.counterfactual is None or not {"income", "debt"} & set(e.changed):
            continue
        region, seen = e.enough(), seen + 1
        ends = {one.feature: one.proven for one in region.numbers}
        incomes, debts = (ends.get(name, (e.counterfactual[name],) * 2) for name in ("income", "debt"))
        assert all(debt <= 0.4 * income for income in incomes for debt in debts)
        assert all(income + debt <= 4000 for income in incomes for debt in debts)
        assert verify(e, clf).ok
    assert seen >= 3


def test_what_is_not_enough_keeps_to_the_rules():
    """Beyond a rule's limit nothing is allowed, whatever the decision is there."""
    clf, seen = lender(), set()
    for share in (0.1, 0.25):
        rule = Actions(rules=[f"debt <= {share} * income"])
        explainer = CounterfactualExplainer(clf, actions=rule, immutable=["housing", "savings", "phone"])
        for row in refused_rows(clf, 12):
            e = explainer.explain(row, "good", on_failure="return")
            if e.counterfactual is None or not e.not_enough:
                continue
            tried = e.counterfactual.copy()
            tried[e.region.example.feature] = e.region.example.value
            assert tried["debt"] <= share * tried["income"] * (1 + 1e-9)
            seen.add(e.region.example.feature)
    assert "income" in seen or "debt" in seen


def test_a_region_that_breaks_a_rule_is_refused(monkeypatch):
    """The checker looks at the corners of a region where a rule's sum is extreme."""
    clf = lender()
    explainer = CounterfactualExplainer(clf, actions=Actions(rules=["debt <= 0.2 * income"]))
    monkeypatch.setattr("surefoot.explain.answer.enough._Enough._rules", lambda _: iter(()))
    found = []
    for row in refused_rows(clf, 12):
        e = explainer.explain(row, "good", on_failure="return")
        if e.counterfactual is not None and "debt" in e.changed:
            ends = {one.feature: one.proven for one in e.enough().numbers}
            income, debt = (ends.get(name, (e.counterfactual[name],) * 2) for name in ("income", "debt"))
            found.append((debt[1] <= 0.2 * income[0], verify(e, clf).ok))
    assert all(keeps == accepted for keeps, accepted in found)
    assert not all(keeps for keeps, _ in found)


@cache
def wages():
    """A table whose amounts differ by cents: three decimals would be shorter than what is given away."""
    rng = np.random.default_rng(11)
    good = rng.random(600) < 0.5
    pay = rng.normal(3.0 + 0.12 * good, 0.06).round(2)
    fee = rng.normal(0.9 - 0.05 * good, 0.04).round(2)
    return ConditionalGaussianNetworkClassifier("naive").fit(
        pd.DataFrame({"pay": pay, "fee": fee}), np.where(good, "good", "bad")
    )


def stated(region):
    """The ends that are stated."""
    return [x for one in region.numbers for x in (one.low, one.high) if math.isfinite(x)]


def refused_wages(clf):
    pays = [(2.91, 0.93), (2.99, 0.92), (3.02, 0.96), (2.84, 0.88), (3.01, 0.9), (2.95, 0.99)]
    rows = pd.DataFrame(pays, columns=["pay", "fee"])
    assert (clf.predict(rows) == "bad").all()
    return [row for _, row in rows.iterrows()]


def test_stated_ends_have_the_decimals_that_were_asked_for():
    clf = wages()
    explainer, long = CounterfactualExplainer(clf), 0
    for row in refused_wages(clf):
        free = explainer.explain(row, "good").enough()
        e = explainer.explain(row, "good")
        region = e.enough(decimals={"pay": 2, "fee": 2})
        assert check(e, clf) is region
        assert stated(region)
        assert all(x == round(x, 2) for x in stated(region))
        assert region.example.value == round(region.example.value, 2)
        long += any(x != round(x, 2) for x in stated(free))
        for one, other in zip(region.numbers, free.numbers, strict=True):
            # What is proven is the same; of it the next cent inside is stated.
            assert one.proven == other.proven
            assert one.low == -math.inf or one.low - 0.01 < one.proven[0] <= one.low
            assert one.high == math.inf or one.high <= one.proven[1] < one.high + 0.01
        assert region.words in str(Explanation.from_json(e.to_json()).enough())
    assert long > 3


def test_money_has_cents_at_most_without_being_asked(monkeypatch):
    clf = wages()
    monkeypatch.setattr(type(clf), "units_", {"pay": "€"})
    for row in refused_wages(clf)[:3]:
        region = CounterfactualExplainer(clf, immutable=["fee"]).explain(row, "good").enough()
        assert all(x == round(x, 2) for x in stated(region))


def test_ends_are_the_proven_ones_where_so_few_decimals_leave_nothing():
    clf = wages()
    e = CounterfactualExplainer(clf, immutable=["fee"]).explain(refused_wages(clf)[0], "good")
    region = e.enough(decimals={"pay": 0})
    assert check(e, clf) is region
    assert stated(region) == [region.numbers[0].proven[0]]
    assert stated(region)[0] != round(stated(region)[0])
    assert e.enough(decimals={"pay": 2}) is region  # what is known stays


@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_the_refusal_among_all_classes_names_a_threshold_that_will_do(threshold):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = pd.DataFrame(rng.normal(size=(300, 3)) + 1.5 * y[:, None], columns=["a", "b", "c"])
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    row = X[clf.predict(X) == 0].iloc[0]
    e = CounterfactualExplainer(clf, threshold=threshold, against="all").explain(row, 1)
    with pytest.raises(DataError, match=f"against each class implies {threshold} among all") as refusal:
        e.enough()
    named = float(re.search(r"threshold=([\d.]+)", str(refusal.value)).group(1))
    e = CounterfactualExplainer(clf, threshold=named).explain(row, 1)
    region = check(e, clf)
    assert (clf.predict_proba(rows_in(region, e.counterfactual, 2000))[:, 1] >= threshold).all()
