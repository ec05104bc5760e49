"""What is usual in a class and how many cases have a value, against the rows themselves."""

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, adopt
from surefoot.exceptions import ModelFileError
from surefoot.model.class_values import ClassValues, values_of_model
from tests.mixed_tables import lender, lending


def test_shares_are_those_of_the_rows():
    clf, (X, y) = lender(), lending()
    good = X[(y == "good").to_numpy()]
    values, names = clf.class_values_, [clf.schema_.names[j] for j in clf.schema_.numbers]
    for i, name in enumerate(names):
        column = good[name]
        assert values.median(1, i) == column.quantile(0.5, interpolation="lower")
        for x in column.iloc[:20]:
            tail = (column >= x).mean() if x >= values.median(1, i) else (column <= x).mean()
            assert values.tail(1, i, x) == pytest.approx(tail, abs=0.0101)
    housing = [clf.schema_.names[j] for j in clf.schema_.categories].index("housing")
    counts = good["housing"].value_counts(normalize=True)
    assert clf.schema_.category_values[housing][values.most_frequent(1, housing)] == counts.idxmax()
    for code, name in enumerate(clf.schema_.category_values[housing]):
        assert values.shares[housing][1, code] == pytest.approx(counts[name])


def test_values_beyond_all_rows_are_had_by_none():
    values = lender().class_values_
    low, high = values.percentiles[1, 0, 0], values.percentiles[1, -1, 0]
    assert values.tail(1, 0, high + 1) == 0
    assert values.tail(1, 0, low - 1) == 0
    assert 0 < values.tail(1, 0, high) <= 0.02
    assert values.tail(1, 0, values.median(1, 0)) == pytest.approx(0.5, abs=0.02)


def test_values_that_many_share_count_all_of_them():
    rows = np.array([0.0] * 70 + [1.0] * 20 + [5.0] * 10)
    X = pd.DataFrame({"a": np.tile(rows, 2), "b": np.random.default_rng(0).normal(size=200)})
    clf = ConditionalGaussianNetworkClassifier().fit(X, np.repeat([0, 1], 100))
    values = clf.class_values_
    assert values.median(0, 0) == 0
    assert values.tail(0, 0, 0.0) == 1
    assert values.tail(0, 0, 1.0) == pytest.approx(0.3, abs=0.0101)
    assert values.tail(0, 0, 5.0) == pytest.approx(0.1, abs=0.0101)


def test_holes_and_weights_are_seen_to():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, np.nan, 10.0, 11.0, 12.0, 13.0], "b": np.arange(8.0)})
    weights = [1, 1, 8, 1, 1, 1, 1, 1]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, [0] * 4 + [1] * 4, sample_weight=weights)
    assert clf.class_values_.median(0, 0) == 3
    assert not np.isnan(clf.class_values_.percentiles).any()


def test_they_survive_a_file(tmp_path):
    clf = lender()
    clf.save(tmp_path / "m.json")
    again = ConditionalGaussianNetworkClassifier.load(tmp_path / "m.json")
    assert again.class_values_.percentiles.tobytes() == clf.class_values_.percentiles.tobytes()
    assert again.fingerprint_ == clf.fingerprint_


@pytest.mark.parametrize(
    "wrong",
    [
        {"percentiles": [[[1.0]]], "shares": []},
        {"percentiles": "x", "shares": []},
        {"shares": []},
        [],
        {"percentiles": [[[float(101 - k)] * 3 for k in range(101)]] * 2, "shares": [[[0.5, 0.5]] * 2] * 3},
        {"percentiles": [[[float(k)] * 3 for k in range(101)]] * 2, "shares": [[[2.0, 0.5]] * 2] * 3},
    ],
)
def test_a_file_with_other_values_is_refused(wrong):
    from surefoot.exceptions import SurefootError

    with pytest.raises((ModelFileError, SurefootError)):
        ClassValues.from_content(wrong, lender().schema_, 2)


def test_models_without_rows_draw_their_own():
    from sklearn.naive_bayes import GaussianNB

    X, y = lending()
    numbers = X[["income", "debt", "months"]]
    clf = adopt(GaussianNB().fit(numbers, y))
    assert clf.class_values_ is None
    values = values_of_model(clf)
    means = numbers[(y == "good").to_numpy()].mean().to_numpy()
    deviations = numbers[(y == "good").to_numpy()].std().to_numpy()
    assert np.abs((values.percentiles[1, 50] - means) / deviations).max() < 0.1
    assert values_of_model(clf) is values
    given = adopt(GaussianNB().fit(numbers, y), (numbers, y))
    assert (
        given.class_values_.median(1, 2)
        == np.sort(numbers["months"][(y == "good").to_numpy()])[(int((y == "good").sum()) - 1) // 2]
    )
