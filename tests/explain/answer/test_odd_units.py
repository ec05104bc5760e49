"""Units of features are the user's: an answer must not depend on them, nor the time that it takes."""

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, datasets, verify
from surefoot.exceptions import ProblemError
from surefoot.model.columns import LAST_WHOLE
from tests.asking import CounterfactualExplainer

ROW = 545
UNITS = {
    "as they are": [0] * 8,
    "all huge": [13] * 8,
    "all tiny": [-13] * 8,
    "apart": [-7, -6, -12, -10, 8, 10, -10, 12],
}
ASKED = {
    "within the data": {},
    "anywhere": {"bounds": None},
    "some stay": {"immutable": ["preg", "age", "pedi", "insu"], "norm": 2},
    "few change": {"actions": Actions({}, at_most=2)},
    "typical": {"plausible": 0.2, "norm": 2},
    "in total": {"norm": 1, "increasing": ["mass"]},
    "at a price": {"distance": "cost", "norm": 1},
}


@pytest.fixture(scope="module")
def pima():
    """Pima with decimals, so that no column is one of whole numbers."""
    table = datasets.load_pima()
    return table.X + np.random.default_rng(5).normal(scale=1e-6, size=table.X.shape), table.y


def explained(X, y, asked):
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
    asked = {"budget": 0.05, "time_limit": 30, **asked}
    return CounterfactualExplainer(clf, **asked).explain(X.iloc[ROW], target=0), clf


@pytest.fixture(scope="module")
def usual(pima):
    return {name: explained(*pima, asked)[0] for name, asked in ASKED.items()}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("units", list(UNITS)[1:])
def test_the_answer_is_the_same_in_all_units(pima, usual, asked, units):
    (X, y), factors = pima, 10.0 ** np.array(UNITS[units])
    e, clf = explained(X * factors, y, ASKED[asked])
    assert e.status == "optimal"
    assert e.distance == pytest.approx(usual[asked].distance, rel=1e-3)
    assert e.lower_bound == pytest.approx(usual[asked].lower_bound, rel=1e-3)
    assert verify(e, clf).ok


def test_no_warning_is_about_units(pima, recwarn):
    X, y = pima
    explained(X * 10.0 ** np.array(UNITS["apart"]), y, {})
    assert not recwarn.list


def test_categories_beside_balance_sheets():
    credit = datasets.load_german_credit()
    X, y = credit.X.copy(), credit.y
    distances = []
    for factor in (1.0, 1e13):
        X["credit_amount"] = credit.X["credit_amount"] * factor + 0.25 * factor
        clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
        e = CounterfactualExplainer(clf, immutable=["age", "purpose"]).explain(X.iloc[11], target="good")
        assert e.status == "optimal"
        assert verify(e, clf).ok
        distances.append(e.distance)
    assert distances[1] == pytest.approx(distances[0], rel=2e-3)


# ----- whole numbers that no double holds -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_numbers_beyond_all_whole_ones_are_numbers(dtype):
    """Every double beyond 2^53 is whole, which says nothing of it: times in nanoseconds, say."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 200)
    when = (1.7e18 + 3e15 * y + 1e15 * rng.normal(size=200)).astype(dtype)
    X = pd.DataFrame({"when": when, "cards": rng.integers(0, 9, 200), "x": y + rng.normal(size=200)})
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
    assert clf.feature_kinds_ == {"when": "number", "cards": "whole", "x": "number"}
    e = CounterfactualExplainer(clf, budget=0.05).explain(X.iloc[0], target=1 - y[0])
    assert e.status == "optimal"
    assert verify(e, clf).ok


@pytest.mark.parametrize("value", [LAST_WHOLE, -LAST_WHOLE])
def test_the_last_whole_number_is_one(value):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, float(value)], "b": [0.5, 1.5, 0.25, 3.0]})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, [0, 1, 0, 1])
    assert clf.feature_kinds_ == {"a": "whole", "b": "number"}
    X.loc[3, "a"] = 2.0 * value
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, [0, 1, 0, 1])
    assert clf.feature_kinds_ == {"a": "number", "b": "number"}


def test_whole_numbers_that_cannot_be_told_apart_are_refused(pima):
    X, y = pima
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X * 1e18, y)
    explainer = CounterfactualExplainer(clf, actions=Actions({"insu": Action(whole=True)}))
    with pytest.raises(ProblemError, match=r"'insu' takes whole numbers, but it is .* cannot be told apart"):
        explainer.explain(X.iloc[3] * 1e18, target=0)


def test_a_value_whose_square_is_infinite_is_refused_by_name():
    pima = datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)
    row = pima.X.iloc[0].copy()
    row["mass"] = -1e300
    with pytest.raises(ProblemError, match=r"value of 'mass' is too large: -1e\+300"):
        CounterfactualExplainer(clf).explain(row, 0)
