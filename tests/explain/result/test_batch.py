import json

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Explanations
from surefoot.exceptions import DataError
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def pima(bundled):
    return bundled["pima"]


@pytest.fixture(scope="module")
def clf(pima):
    return ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)


@pytest.fixture(scope="module")
def explainer(clf):
    return CounterfactualExplainer(clf, budget=0.05, whole=False)


def test_table_and_json(explainer, pima):
    batch = explainer.explain_batch(pima.X.head(3), progress=False)
    frame = batch.to_frame()
    assert frame.index.name == "row"
    assert frame["counterfactual: plas"].tolist() == [e.counterfactual["plas"] for e in batch]
    assert len(json.loads(batch.to_json())) == 3
    assert len(Explanations.from_json(batch[0].to_json())) == 1
    with pytest.raises(DataError, match="not JSON"):
        Explanations.from_json("{")
    assert Explanations().to_frame().empty
    assert str(Explanations()) == "0 explanations: none"


def test_what_a_notebook_shows(explainer, pima):
    batch = explainer.explain_batch(pima.X.head(25), progress=False)
    html = batch._repr_html_()
    assert "median distance" in html
    assert "and 5 more" in html


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_tuples([("a", 1), ("b", 2), ("c", 3)]),
        pd.date_range("2024-01-01", periods=3),
        ["x", "y", "z"],
        [1.5, 2.5, np.inf],
        pd.period_range("2024-01", periods=3, freq="M"),
    ],
    ids=["tuples", "dates", "text", "floats", "periods"],
)
def test_rows_of_any_name(explainer, pima, index):
    batch = explainer.explain_batch(pima.X.head(3).set_axis(index, axis=0), progress=False)
    assert len(batch.to_frame()) == 3
    batch._repr_html_()
    assert len(Explanations.from_json(batch.to_json()).to_frame()) == 3


def test_labels_stay_what_they_are_beside_a_refused_row(explainer, pima):
    rows = pima.X.head(3).copy()
    rows.iloc[1, 0] = np.nan
    frame = explainer.explain_batch(rows, progress=False).to_frame()
    assert [type(value) for value in frame["factual_class"]] == [int, type(None), int]


def test_slices_are_explanations(explainer, pima):
    batch = explainer.explain_batch(pima.X.head(3), progress=False)
    assert isinstance(batch[:2], Explanations)
    assert batch[0].row == 0
    assert repr(batch) == "<3 explanations: 3 optimal>"
    bank = ConditionalGaussianNetworkClassifier("naive").fit(pima.X[["plas", "mass"]], pima.y)
    other = CounterfactualExplainer(bank).explain(pima.X[["plas", "mass"]].iloc[0])
    with pytest.raises(DataError, match="different features"):
        Explanations([*batch, other]).to_frame()
