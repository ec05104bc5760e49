"""Rules that leave no choice: opposite ones make an equation, and a row may hold features at their ends."""

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, Explanation, Rule, Status, verify
from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.explain.constraints.presolve import held, joined
from surefoot.problem.row import Row
from tests.asking import CounterfactualExplainer

INF = np.inf


@pytest.mark.parametrize(
    ("rows", "ends"),
    [
        ([([1, 1], 2, INF), ([1, 1], -INF, 2)], [(2, 2)]),
        ([([1, 1], -INF, 2), ([1, 1], 2, INF)], [(2, 2)]),
        ([([1, 1], 2, INF), ([-3, -3], -6, INF)], [(2, 2)]),
        ([([1, 0], 0, INF), ([1, 1], 2, INF), ([2, 2], -INF, 4)], [(0, INF), (2, 2)]),
        ([([1, 1], 2, INF), ([1, 1], -INF, 3)], [(2, INF), (-INF, 3)]),
        ([([1, 1], 2, INF), ([1, 2], -INF, 2)], [(2, INF), (-INF, 2)]),
        ([([1, 1], 2, INF), ([1, 1], 2, INF)], [(2, INF), (2, INF)]),
        ([([1, 1], 2, INF), ([-1, -1], -INF, -2)], [(2, INF), (-INF, -2)]),
        ([([1, 0], 2, INF), ([0, 1], -INF, 2)], [(2, INF), (-INF, 2)]),
        ([([1, 1], 2, 5), ([1, 1], -INF, 2)], [(2, 5), (-INF, 2)]),
    ],
)
def test_opposite_rows_with_one_end_are_an_equation(rows, ends):
    found = joined([Row(a, float(low), float(high)) for a, low, high in rows])
    assert [(row.low, row.high) for row in found] == ends


def test_features_are_held_one_after_the_other():
    rows = [Row([0, 1, 1], 3.0, INF), Row([1, -1, 0], -INF, -2.0), Row([1, 1, 1], -INF, 9.0)]
    low, high, left = held(np.zeros(3), np.array([5.0, 2.0, 1.0]), rows)
    assert low.tolist() == high.tolist() == [0, 2, 1]
    assert left == (rows[2],)  # it leaves room
    assert held(np.zeros(3), np.array([5.0, INF, 1.0]), rows)[2] == tuple(rows)


def test_ends_that_are_held_already_hold_again():
    """A file is read without the range seen in training: from the ends that presolve has left."""
    rows = [Row([1, 7.9], 47.8, INF), Row([1, 1], -INF, 90.0)]
    low, high, left = held(np.array([32.0, 0.0]), np.array([32.0, 2.0]), rows)
    again = held(low, high, rows)
    assert left == again[2] == (rows[1],)
    assert again[0].tolist() == again[1].tolist() == [32, 2]


def test_a_rule_that_holds_features_where_they_are_can_be_read_again():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = pd.DataFrame(
        {"age": rng.integers(20, 60, 60), "belief": rng.integers(0, 5, 60), "x": y + rng.random(60)}
    )
    X.iloc[0] = [32, 2, 0.2]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    actions = Actions({"age": "stay", "belief": "fall"}, rules=["age + 7.9 * belief >= 47.8"])
    e = CounterfactualExplainer(clf, actions=actions).explain(X.iloc[0], 1)
    assert verify(Explanation.from_json(e.to_json()), clf).ok


def test_rounding_does_not_exclude_today():
    """0.1 + 0.2 is no double: the end of a sum that today's values meet is rounded to their side."""
    for today in ({"a": 0.1, "b": 0.2}, {"a": 2.994, "b": 7.2011}):
        row = [today["a"], today["b"]]
        for may, rule in (("rise", "a + b <= a.now + b.now"), ("fall", "a + b >= a.now + b.now")):
            domain = ConstraintSet.by_name(["a", "b"], actions=Actions(rules=[rule])).domain(row)
            assert domain.contains(row)
            actions = Actions({"a": may, "b": may}, rules=[rule])
            domain = ConstraintSet.by_name(["a", "b"], actions=actions).domain(row)
            assert domain.low.tolist() == domain.high.tolist() == row
    _, high = Rule({"a": 1}, high=0, now={"a": -1, "b": -0.1}).ends({"a": 0.2, "b": 0.1})
    assert high <= 0.2 + 0.1 * 0.1  # elsewhere an end is never wider than it is


def test_a_feature_that_has_to_change_counts():
    """Held at another value than today's, it is one of those that change."""
    actions = Actions(rules=["a + b >= 5"], at_most=1)
    bounds = {"a": (0, 3), "b": (0, 2), "c": (0, 9)}
    allowed = ConstraintSet.by_name(["a", "b", "c"], actions=actions, bounds=bounds).allowed([0.0, 2.0, 1.0])
    assert allowed.domain.fixed.tolist() == [True, True, False]
    assert allowed.limits[0].numbers == (0, 2)


@pytest.mark.parametrize("norm", [1, 2, np.inf])
def test_opposite_rules_are_answered_like_an_equation(bundled, norm):
    pima = bundled["pima"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)
    row = pima.X.iloc[int(np.argmax(clf.predict_proba(pima.X)[:, 1] > 0.7))]
    distances = []
    for rules in (["plas + mass >= 140", "plas + mass <= 140"], ["plas + mass = 140"]):
        explainer = CounterfactualExplainer(clf, norm=norm, budget=0.05, actions=Actions(rules=rules))
        e = explainer.explain(row, 0)
        assert e.status is Status.OPTIMAL
        assert verify(e, clf).ok
        assert verify(e, clf, exact=True).ok
        distances.append(e.distance)
    assert distances[0] == pytest.approx(distances[1])


def test_a_rule_that_holds_features_at_their_ends(bundled):
    """What may only rise may not rise together: both stay, and the others decide."""
    bank = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(bank.X, bank.y)
    row = bank.X.iloc[17]
    both = ["variance", "skewness"]
    rules = ["variance + skewness <= variance.now + skewness.now"]
    found = [
        CounterfactualExplainer(clf, budget=0.05, norm=2, actions=actions).explain(row, 1)
        for actions in (
            Actions(dict.fromkeys(both, Action("rise")), rules=rules),
            Actions({name: Action(low=row[name], high=row[name]) for name in both}),
        )
    ]
    assert [e.status for e in found] == [Status.OPTIMAL] * 2
    assert found[0].distance == pytest.approx(found[1].distance)
    assert all(verify(e, clf, exact=exact).ok for e in found for exact in (False, True))


def test_thousands_of_rows_may_be_held():
    rows = [Row([1.0, 1.0, 0.0], 0.0, float(k + 2)) for k in range(1200)] + [Row([1.0, 0.0, 1.0], 3.0, INF)]
    low, high, left = held(np.zeros(3), np.array([0.0, 0.0, 3.0]), rows)
    assert left == ()
    assert low.tolist() == high.tolist() == [0.0, 0.0, 3.0]
