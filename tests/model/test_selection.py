from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import surefoot
from surefoot import ConditionalGaussianNetworkClassifier, datasets
from surefoot.exceptions import DataError
from surefoot.model.selection import select

SETTINGS = ["structure", "marginals", "shrinkage", "calibration", "cell_smoothing"]


@pytest.fixture(scope="module")
def credit():
    data = datasets.load_german_credit()
    return data.X.iloc[:400], data.y.iloc[:400]


@pytest.fixture(scope="module")
def chosen(credit):
    return surefoot.select(*credit, cv=3)


def test_one_row_for_each_candidate_best_first(chosen):
    table = chosen.table
    assert table.columns.tolist() == [*SETTINGS, "log_loss", "accuracy"]
    assert len(table) == 3 * 2 * 4 * 2 * 2
    assert not table.duplicated(SETTINGS).any()
    assert table["log_loss"].is_monotonic_increasing
    assert table["accuracy"].between(0, 1).all()


def test_the_best_is_fitted_on_all_rows(chosen, credit):
    best = chosen.table.iloc[0]
    for name in SETTINGS:
        setting = getattr(chosen.classifier, name)
        assert setting == best[name] or (setting is None and pd.isna(best[name]))
    assert chosen.classifier.n_rows_ == 400
    assert chosen.classifier.predict_proba(credit[0]).shape == (400, 2)


def test_no_calibration_is_called_none(bundled):
    """Whatever pandas makes of a missing value in that column."""
    data = bundled["pima"]
    chosen = select(data.X.iloc[:200, :2], data.y[:200], cv=3)
    for shown in (str(replace(chosen, table=chosen.table.tail(8))), chosen._repr_html_()):
        assert "none" in shown
        assert "NaN" not in shown


def test_two_valued_numbers_are_categories_and_that_is_said(chosen, credit):
    assert chosen.classifier.feature_kinds_["dependents"] == "category"
    assert chosen.notes[0] == "1 column holds two values only and is taken as a category: dependents."
    assert str(chosen).startswith(chosen.notes[0])
    assert "96 models by log loss" in str(chosen)
    assert "... and 88 more" in str(chosen)
    assert "dependents" in chosen._repr_html_()


def test_what_the_user_says_about_categories_is_taken_as_it_is(bundled):
    pima = bundled["pima"]
    frame = pima.X.iloc[:120, [1, 5, 7]].assign(old=lambda x: (x["age"] > 30).astype(float))
    y = pima.y.iloc[:120]
    by_itself = select(frame, y, cv=2)
    assert by_itself.classifier.feature_kinds_["old"] == "category"
    told = select(frame, y, cv=2, categorical=[])
    assert told.classifier.feature_kinds_["old"] == "whole"
    assert told.notes == ()


def test_figures_are_those_of_cross_validation(bundled):
    """Without calibration there is nothing in them but fit and predict."""
    pima = bundled["pima"]
    X, y = pima.X.iloc[:200, [1, 4, 5, 7]], pima.y.iloc[:200]
    table = select(X, y, cv=3, random_state=4).table
    assert len(table) == 3 * 2 * 4 * 2  # no categories, no cells
    folds = list(StratifiedKFold(3, shuffle=True, random_state=4).split(X, y))
    for settings in (
        {"structure": "naive", "marginals": "auto", "shrinkage": 0.3},
        {"structure": "tan", "marginals": "gaussian", "shrinkage": 0.0},
    ):
        p = np.empty((200, 2))
        for train, test in folds:
            clf = ConditionalGaussianNetworkClassifier(**settings).fit(X.iloc[train], y.iloc[train])
            p[test] = clf.predict_proba(X.iloc[test])
        row = table[table["calibration"].isna()]
        for name, value in settings.items():
            row = row[row[name] == value]
        assert row["log_loss"].item() == pytest.approx(log_loss(y, p))
        assert row["accuracy"].item() == pytest.approx((p.argmax(axis=1) == y).mean())


def test_calibration_helps_where_features_repeat_each_other(rng):
    """Eight copies of one feature: naive Bayes counts the same evidence eight times."""
    y = np.arange(300) % 2
    X = (rng.standard_normal(300) + y)[:, None] + 0.2 * rng.standard_normal((300, 8))
    table = select(X, y, cv=3).table
    naive = table[(table["structure"] == "naive") & (table["shrinkage"] == 0.0)]
    by_kind = naive.groupby(naive["calibration"].fillna("none"))["log_loss"].min()
    assert by_kind["temperature"] < 0.9 * by_kind["none"]


def test_tables_of_categories_alone_and_of_one_column(rng):
    y = np.arange(90) % 3
    colours = pd.DataFrame({"colour": np.where(rng.random(90) < 0.7, y, rng.integers(0, 3, 90)).astype(str)})
    table = select(colours, y, cv=3).table
    assert set(table["structure"]) == {"naive"}
    assert set(table["shrinkage"]) == {0.0}
    assert len(table) == 2 * 2


def test_denser_graphs_are_tried_where_that_is_quick(rng):
    y = np.arange(60) % 2
    numbers = rng.standard_normal((60, 11)) + y[:, None]
    assert set(select(numbers[:, :10], y, cv=2).table["structure"]) == {"naive", "tan", "ban"}
    assert set(select(numbers, y, cv=2).table["structure"]) == {"naive", "tan"}
    mixed = (
        pd.DataFrame(numbers).rename(columns=str).assign(colour=np.where(numbers[:, 0] > 0, "red", "blue"))
    )
    assert set(select(mixed, y, cv=2).table["structure"]) == {"naive", "tan", "ban"}


def test_it_can_be_repeated(bundled):
    pima = bundled["pima"]
    first, second = (select(pima.X.iloc[:100, [1, 4, 5, 7]], pima.y.iloc[:100], cv=2) for _ in range(2))
    pd.testing.assert_frame_equal(first.table, second.table)


def test_impossible_requests(bundled):
    X, y = bundled["pima"].X.iloc[:50], bundled["pima"].y.iloc[:50]
    for cv in (1, 2.5, True):
        with pytest.raises(DataError, match="cv must be a whole number of at least 2"):
            select(X, y, cv=cv)
    rare = np.where(np.arange(50) < 2, "rare", "frequent")
    with pytest.raises(DataError, match="class 'rare' has 2 rows; choosing a model needs at least three"):
        select(X, rare)


def test_marginals_that_are_said_are_the_only_ones(bundled):
    pima = bundled["pima"]
    X, y = pima.X.iloc[:100, [1, 5]], pima.y.iloc[:100]
    table, some = select(X, y, cv=2).table, select(X, y, cv=2, marginals="gaussian").table
    same = table[table["marginals"] == "gaussian"].reset_index(drop=True)
    pd.testing.assert_frame_equal(some, same)
    with pytest.raises(DataError, match="marginals must be"):
        select(X, y, cv=2, marginals="straight")


def test_names_that_occur_twice(credit):
    X, y = credit
    twice = pd.concat([X[["age"]], X[["age"]]], axis=1)
    with pytest.raises(DataError, match="column name 'age' occurs more than once"):
        select(twice, y)
