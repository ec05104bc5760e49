"""Candidates race each other over folds; the choice is bounded in rows, memory and time."""

import io
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, select
from surefoot.exceptions import DataError, StructureError, SurefootWarning
from surefoot.model import race, statistics
from surefoot.model.rows import drawn_rows
from surefoot.model.structure.mutual_information import (
    _excess_information,
    _pair_counts,
    corrected_mutual_information,
)


def table(n=400, seed=0):
    """A skewed number, a plain one that goes with it, and a category; the class hangs on all of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    skewed = np.exp(rng.normal(0.8 * y, 0.7))
    X = pd.DataFrame({"skewed": skewed, "plain": rng.normal(y, 1.5) + 0.3 * skewed})
    X["colour"] = np.where(rng.random(n) < 0.3 + 0.3 * y, "red", "blue")
    return X, y


def test_those_that_drop_out_are_those_that_are_behind(monkeypatch):
    X, y = table(1500)
    X = X[["skewed", "plain"]]
    every = select(X, y, cv=3, refits=0)
    monkeypatch.setattr(race, "ENOUGH", 100)
    raced = select(X, y, cv=3, refits=0)
    assert every.judged.dropped == 0
    assert 0 < raced.judged.dropped < len(raced.table)
    assert f"{raced.judged.dropped} of them dropped out" in str(raced)
    assert len(raced.table) == len(every.table)
    assert raced.table["log_loss"].is_monotonic_increasing
    pd.testing.assert_series_equal(raced.table.iloc[0], every.table.iloc[0])
    settings = ["structure", "marginals", "shrinkage", "calibration", "cell_smoothing"]
    both = every.table.merge(raced.table, on=settings)
    estimated = both["log_loss_x"] != both["log_loss_y"]  # of those that dropped out
    assert estimated.sum() == raced.judged.dropped
    assert (both["log_loss_x"][estimated] > both["log_loss_x"].min()).all()


def test_scales_are_fitted_to_some_rows_only_while_racing(monkeypatch):
    monkeypatch.setattr(race, "ROWS_FOR_SCALES", 150)
    X, y = table(600)
    assert select(X, y, cv=2, refits=0).classifier.marginals == "auto"


def test_models_are_compared_on_some_rows_and_fitted_to_all():
    X, y = table(900)
    chosen = select(X, y, cv=2, refits=0, choose_on=300)
    assert chosen.judged.rows <= 300
    assert chosen.classifier.n_rows_ == 900
    assert "Compared on 299 rows drawn at random; the best is fitted to 900." in str(chosen)
    for wrong in (10, True, 2.5, "all"):
        with pytest.raises(DataError, match="must be a whole number from 100 on"):
            select(X, y, choose_on=wrong)
    assert select(X, y, cv=2, refits=0, choose_on=None).judged.rows == 900


def test_rare_classes_are_drawn():
    labels = np.repeat([0, 1, 2], [9000, 990, 12])
    rows = drawn_rows(labels, 3, 1000, 0)
    assert len(rows) <= 1010
    assert np.bincount(labels[rows]).tolist() == [899, 98, 10]
    assert len(set(rows.tolist())) == len(rows)
    assert (drawn_rows(labels, 3, 1000, 0) == rows).all()


def test_the_fast_guess_compares_nothing(monkeypatch):
    monkeypatch.setattr(race.Race, "run", lambda _: pytest.fail("models were compared"))
    X, y = table()
    chosen = select(X, y, fast=True, refits=2)
    assert len(chosen.table) == 1
    assert chosen.classifier.structure == "ban"
    assert chosen.classifier.calibration == "temperature"
    assert chosen.classifier.shrinkage == chosen.classifier.shrinkage_ == chosen.table["shrinkage"].item()
    assert len(chosen.classifier.refits_) == 2
    assert str(chosen).startswith("Taken without a comparison:")
    numbers = select(X[["skewed"]], y, fast=True, marginals="gaussian", refits=0).classifier
    assert (numbers.structure, numbers.marginals) == ("naive", "gaussian")


def wide(values, rows=1200):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({f"c{k}": rng.integers(0, values, rows).astype(str) for k in range(2)})
    return X.assign(z=rng.normal(size=rows)), rng.integers(0, 2, rows)


def test_a_category_of_too_many_values_is_refused_in_one_line():
    X, y = wide(10)
    X["note"] = [f"text {k}" for k in range(len(X))]
    message = (
        r"column 'note' is a category of 1,200 values, but a category has at most 1,000: leave the column"
    )
    for refused in (lambda: select(X, y), lambda: ConditionalGaussianNetworkClassifier("naive").fit(X, y)):
        with pytest.raises(DataError, match=message) as error:
            refused()
        assert "\n" not in str(error.value)
    stream = ConditionalGaussianNetworkClassifier("naive")
    stream.partial_fit(X.iloc[:700], y[:700])
    with pytest.raises(DataError, match="is a category of 1,200 values"):
        stream.partial_fit(X.iloc[700:], y[700:])
    X["note"] = [f"text {k % 1000}" for k in range(len(X))]
    clf = ConditionalGaussianNetworkClassifier("naive")
    with pytest.warns(SurefootWarning, match="values of 'note' have fewer than 2 rows on average"):
        assert clf.fit(X, y).categories_["note"][0] == "text 0"
    clf.set_params(categorical=["note"]).fit(X, y)  # meant to be one: no warning
    X["note"] = [f"text {k % 600}" for k in range(len(X))]
    clf.set_params(categorical="auto").fit(X, y)


def test_tables_are_refused_before_they_are_made(monkeypatch):
    X, y = wide(300)
    graph = {"z": ["c0", "c1"], "c1": ["c0"]}
    monkeypatch.setattr(statistics, "MOST_NUMBERS", 400_000)
    tracemalloc.start()
    with pytest.raises(StructureError, match=r"would have .* most of them as 'z' depends on categories"):
        ConditionalGaussianNetworkClassifier(graph).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6


def test_a_candidate_that_is_too_large_is_left_out(monkeypatch):
    X, y = wide(40, rows=4000)  # with 1,200 rows such an edge is not worth its parameters
    X["c1"] = X["c0"] + "x"  # a tree needs a table of 40 x 40 for each class
    monkeypatch.setattr(statistics, "MOST_NUMBERS", 1500)
    chosen = select(X, y, cv=2, refits=0)
    assert "tan" not in set(chosen.table["structure"])
    monkeypatch.setattr(statistics, "MOST_NUMBERS", 10)
    with pytest.raises(StructureError, match="leave columns out"):
        select(X, y, cv=2, refits=0)


def test_pairs_of_wide_categories_have_the_same_information(monkeypatch):
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(-1, 5, 500), rng.integers(0, 30, 500), rng.integers(-1, 3, 500)])
    codes[:, 2] = np.where(rng.random(500) < 0.5, np.minimum(codes[:, 1] // 10, 2), codes[:, 2])
    classes, weights = rng.integers(0, 2, 500), rng.integers(0, 3, 500).astype(float)
    expected = corrected_mutual_information(codes, classes, weights)
    monkeypatch.setattr("surefoot.model.structure.mutual_information.WIDE", 4)
    monkeypatch.setattr("surefoot.model.structure.mutual_information.INDICATORS", 64)
    np.testing.assert_allclose(corrected_mutual_information(codes, classes, weights), expected, atol=1e-12)
    assert _excess_information(_pair_counts(np.full((3, 2), -1), np.ones(3))) == 0


def test_wide_categories_take_little_memory():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 1000, (4000, 3))
    tracemalloc.start()
    corrected_mutual_information(codes, rng.integers(0, 2, 4000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # one product of indicators took 2000 x 3000 doubles, and 3000 x 3000 counts


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_on_a_terminal_alone(monkeypatch, terminal):
    monkeypatch.setattr("surefoot.bars.PATIENCE", 0.0)
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    X, y = table(120)
    select(X, y, cv=2, refits=2)
    shown = stream.getvalue()
    for what in ("choosing the model", "learning the graph", "fitting the model again"):
        assert (what in shown) == terminal
