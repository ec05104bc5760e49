"""One row in, one row out: columns and types that depend on the explainer alone."""

import math
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier
from surefoot.exceptions import ProblemError
from surefoot.explain.population.columns import fitting, kind_of
from tests.asking import CounterfactualExplainer
from tests.ui.mixed import toy_model, toy_table


@pytest.fixture(scope="module")
def explainer():
    actions = Actions(
        {"income": Action("rise", most=400), "cards": "stay", "years": "stay", "housing": "stay"}
    )
    return CounterfactualExplainer(toy_model(), actions=actions, budget=0.05)


@pytest.fixture(scope="module")
def rows():
    X = toy_table(12)[0].astype(object)
    X.loc[3, "income"] = math.nan
    X.loc[5, "housing"] = "=cmd()"
    return X.set_axis([f"r{k}" for k in range(12)])


def test_every_row_has_its_line_in_order(explainer, rows):
    table = explainer.explain_table(rows, "yes")
    assert table["row"].tolist() == list(rows.index) == list(table.index)
    one_by_one = explainer.explain_batch(rows, "yes", progress=False)
    assert table["status"].tolist() == [str(e.status) for e in one_by_one]
    assert table["distance"].tolist() == [e.distance for e in one_by_one]
    assert (table["reason"] == "").tolist() == [e.counterfactual is not None for e in one_by_one]
    assert table.loc["r3", "reason"] == table.loc["r5", "reason"] == "invalid_row"
    assert table.loc["r5", "factual: housing"] == "=cmd()"
    blocked = table[table["status"] == "infeasible"]
    assert len(blocked) > 0
    assert set(blocked["reason"]) <= {"constraints", "no_allowed_change"}
    assert (blocked.loc[blocked["reason"] == "constraints", "conflict"] != "").all()


def test_types_do_not_depend_on_rows(explainer, rows):
    schema = explainer.table_schema()
    whole = explainer.explain_table(rows, "yes")
    for part in (rows.iloc[:0], rows.iloc[3:4], rows.iloc[:1]):
        table = explainer.explain_table(part, "yes")
        assert table.dtypes.equals(whole.dtypes)
        assert pa.Table.from_pandas(table, schema=schema, preserve_index=False).num_rows == len(part)
    assert schema.names == list(whole.columns)
    assert schema.field("factual: member").type == pa.bool_()


def test_parts_of_a_table_make_the_whole(explainer, rows):
    copy = pickle.loads(pickle.dumps(explainer))
    parts = pd.concat([copy.explain_table(rows.iloc[k : k + 5], "yes") for k in range(0, 12, 5)])
    whole = explainer.explain_table(rows, "yes")
    pd.testing.assert_frame_equal(parts.drop(columns="seconds"), whole.drop(columns="seconds"))


def test_labels_keep_their_type():
    X, y = toy_table()
    numbers = X[["income", "years"]]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(numbers, (y == "yes").astype(int))
    explainer = CounterfactualExplainer(clf, budget=0)
    bad = numbers.head(2).astype(object)
    bad.iloc[0, 0] = "?"
    table = explainer.explain_table(bad, 1)
    assert table["target"].tolist() == [1, 1]
    assert table["factual_class"].isna().tolist() == [True, False]
    assert explainer.table_schema().field("factual_class").type == pa.int64()


@pytest.mark.parametrize("odd", [None, {"income": [1.0]}, pd.Series([1.0])])
def test_what_is_no_table_is_refused_whatever_function_was_called(explainer, odd):
    for ask in (explainer.explain_table, explainer.explain_batch):
        with pytest.raises(ProblemError, match="the rows must be a table: a frame"):
            ask(odd, "yes")


def test_what_is_wrong_with_the_whole_table_is_an_error(explainer, rows):
    with pytest.raises(ProblemError, match="no column 'income'"):
        explainer.explain_table(rows.drop(columns="income"), "yes")
    with pytest.raises(ProblemError, match="unknown target"):
        explainer.explain_table(rows, "perhaps")


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("\ud800x", "text", "\\ud800x"),
        (np.float64("nan"), "number", None),
        (10**400, "number", None),
        (2.5, "whole", None),
        (np.int64(3), "whole", 3),
        (True, "whole", None),
        (1, "truth", None),
        (pd.NA, "text", None),
    ],
)
def test_values_fit_or_are_holes(value, kind, expected):
    assert fitting(value, kind) == expected


def test_kinds():
    assert [kind_of(v) for v in ([1, 2], [True], [1.5], ["a"], [1, "a"], [1, 2.5])] == [
        "whole", "truth", "number", "text", "text", "text",
    ]  # fmt: skip
