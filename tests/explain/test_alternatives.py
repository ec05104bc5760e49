from itertools import combinations

import numpy as np
import pytest

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    datasets,
    verify,
)
from surefoot.exceptions import ProblemError


@pytest.fixture(scope="module")
def bank():
    data = datasets.load_banknote()
    return data, ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)


def best_without(clf, row, keeping, **settings):
    """The least distance over all ways to keep one feature of each group, by brute force."""
    best = np.inf
    groups = [[name] for name in keeping[0]] if len(keeping) == 1 else None
    choices = groups if groups is not None else [[a, b] for a in keeping[0] for b in keeping[1]]
    for kept in choices:
        e = CounterfactualExplainer(clf, noise_on="all", immutable=kept, **settings).explain(
            row, 1, on_failure="return"
        )
        best = min(best, e.distance)
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
    assert all(verify(e, clf).ok and verify(e, clf, exact=True).ok for e in es)


def test_by_distance_they_lie_apart(bank):
    data, clf = bank
    es = CounterfactualExplainer(clf).alternatives(data.X.iloc[0], 1, n=3, differ="distance", apart=0.7)
    P = clf.network(0).precision
    points = [e.counterfactual.to_numpy(float) for e in es]
    assert len(points) == 3
    for a, b in combinations(points, 2):
        assert np.sqrt((a - b) @ P @ (a - b)) >= 0.7 * (1 - 1e-9)
    assert all(verify(e, clf).ok and verify(e, clf, exact=True).ok for e in es)


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
    assert second.advice == f"Without {kept} the least is {second.distance:.3f}."
    assert second.advice in str(second)


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
