from itertools import combinations, product

import numpy as np
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, datasets, verify
from surefoot.exceptions import ProblemError
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def bank():
    data = datasets.load_banknote()
    return data, ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)


def best_without(clf, row, keeping, target=1, **settings):
    """The least distance over all ways to keep one feature of each group, by brute force."""
    best = np.inf
    for kept in {frozenset(kept) for kept in product(*keeping)}:
        explainer = CounterfactualExplainer(clf, noise_on="all", immutable=sorted(kept), **settings)
        best = min(best, explainer.explain(row, target, on_failure="return").distance)
    return best


@pytest.mark.parametrize("norm", [1, 2, np.inf])
def test_each_is_the_best_that_keeps_one_feature_of_each_earlier_one(bank, norm):
    data, clf = bank
    row = data.X.iloc[0]
    es = CounterfactualExplainer(clf, norm=norm, noise_on="all").alternatives(row, 1, n=3)
    assert len(es) == 3
    assert [e.distance for e in es] == sorted(e.distance for e in es)
    changed = [e.changed for e in es]
    for k in (1, 2):
        assert all(set(group) - set(changed[k]) for group in changed[:k])
        least = best_without(clf, row, changed[:k], norm=norm)
        assert es[k].distance == pytest.approx(least, rel=3e-3)
    assert all(verify(e, clf).ok for e in es)


@pytest.mark.parametrize("norm", [1, np.inf])
def test_five_within_a_limit_and_with_categories(norm):
    german = datasets.load_german_credit()
    features = ["duration_months", "credit_amount", "age", "checking_account", "savings", "purpose"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(german.X[features], german.y)
    row = german.X[features].iloc[int(np.flatnonzero(clf.predict(german.X[features]) == "bad")[2])]
    words = {name: Action(cost=1.0) for name in features[3:]}
    settings = {"norm": norm, "gap": 1e-2, "actions": Actions(words, at_most=3)}
    es = CounterfactualExplainer(clf, noise_on="all", **settings).alternatives(row, "good", n=5)
    assert len(es) > 2
    changed = [e.changed for e in es]
    for k in range(1, len(es)):
        assert all(set(group) - set(changed[k]) for group in changed[:k])
        least = best_without(clf, row, changed[:k], "good", **settings)
        assert es[k].distance == pytest.approx(least, rel=2e-2)
    assert all(verify(e, clf).ok for e in es)


def test_by_distance_they_lie_apart(bank):
    data, clf = bank
    es = CounterfactualExplainer(clf).alternatives(data.X.iloc[0], 1, n=3, differ="distance", apart=0.7)
    P = clf.network(0).precision
    points = [e.counterfactual.to_numpy(float) for e in es]
    assert len(points) == 3
    for a, b in combinations(points, 2):
        assert np.sqrt((a - b) @ P @ (a - b)) >= 0.7 * (1 - 1e-9)
    assert all(verify(e, clf).ok for e in es)


def test_with_categories_a_value_of_today_counts_as_kept():
    german = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("naive").fit(german.X, german.y)
    row = german.X.iloc[int(np.flatnonzero(clf.predict(german.X) == "bad")[0])]
    free = ["checking_account", "savings", "duration_months"]
    actions = Actions({name: "stay" for name in german.X.columns if name not in free})
    es = CounterfactualExplainer(clf, norm=1, actions=actions, time_limit=60).alternatives(row, "good", n=4)
    changed = [frozenset(e.changed) for e in es]
    assert len(set(changed)) == len(changed)
    assert len(es) >= 2
    assert all(verify(e, clf).ok for e in es)


def test_each_says_what_it_leaves_alone(bank):
    data, clf = bank
    first, second = CounterfactualExplainer(clf, norm=1).alternatives(data.X.iloc[0], 1, n=2)
    kept = next(iter(set(first.changed) - set(second.changed)))
    assert first.advice == ""
    assert second.advice == f"Unlike the first answer, this one leaves {kept} as it is."
    assert second.advice in str(second)


def test_a_later_answer_says_among_which_it_is_the_smallest(bank):
    data, clf = bank
    first, second = CounterfactualExplainer(clf, norm=1).alternatives(data.X.iloc[0], 1, n=2)
    assert "among those" not in str(first)
    (kept,) = second.question.declared["keeping"]
    named = kept[0] if len(kept) == 1 else f"at least one of {', '.join(kept)}"
    assert f"is enough among those that leave {named} as it is (gap" in str(second)
    third = CounterfactualExplainer(clf, norm=1).alternatives(data.X.iloc[0], 1, n=3)[2]
    assert third.question.declared["keeping"] == [["variance", "skewness"], ["variance"]]
    assert "is enough among those that leave variance as it is (gap" in str(third)
    _, second = CounterfactualExplainer(clf).alternatives(data.X.iloc[0], 1, 2, "distance", 0.8)
    assert "is enough among those at least 0.8 away from each earlier answer (gap" in str(second)
    assert "This answer is at least 0.8 away from the first answer." in str(second)


def test_fewer_come_back_where_nothing_else_is_allowed(bank):
    data, clf = bank
    kept = Actions({"skewness": "stay", "curtosis": "stay", "entropy": "stay"})
    es = CounterfactualExplainer(clf, actions=kept).alternatives(data.X.iloc[0], 1, n=3)
    assert len(es) == 1


def test_where_there_is_none_at_all_the_first_says_why(bank):
    data, clf = bank
    kept = Actions({name: Action("stay") for name in data.X.columns})
    (e,) = CounterfactualExplainer(clf, actions=kept).alternatives(data.X.iloc[0], 1)
    assert e.counterfactual is None


@pytest.mark.parametrize(
    "wrong", [{"n": 0}, {"n": 1.5}, {"differ": "looks"}, {"apart": 0}, {"apart": np.nan}]
)
def test_what_makes_no_sense_is_refused(bank, wrong):
    data, clf = bank
    with pytest.raises(ProblemError, match=next(iter(wrong))):
        CounterfactualExplainer(clf).alternatives(data.X.iloc[0], 1, **wrong)
