"""What all engines explain: one table, one explainer, and the answer of this process."""

import pyarrow as pa
import pytest

from surefoot import CounterfactualExplainer
from tests.ui.mixed import toy_model, toy_table

ROWS = 500


@pytest.fixture(scope="session")
def explainer():
    return CounterfactualExplainer(toy_model(), budget=0.05)


@pytest.fixture(scope="session")
def rows():
    table = toy_table(ROWS)[0].assign(id=[f"=c{k}" for k in range(ROWS)])
    table.loc[7, "years"] = float("nan")
    return table


@pytest.fixture(scope="session")
def expected(explainer, rows):
    """By joblib, two processes."""
    found = explainer.explain_batch(rows.set_index("id"), "yes", n_jobs=2, progress=False)
    table = explainer.explain_table(rows.set_index("id"), "yes").reset_index(drop=True)
    assert table["status"].tolist() == [str(e.status) for e in found]
    assert table["distance"].tolist() == [e.distance for e in found]
    return table


@pytest.fixture(scope="session")
def same(explainer, expected):
    """Whether a table is the one expected, in the types of the schema: engines have holes of their own."""

    def typed(table):
        return pa.Table.from_pandas(table, schema=explainer.table_schema(), preserve_index=False)

    def compared(table):
        table = table.sort_values("row", key=lambda ids: ids.str[2:].astype(int)).reset_index(drop=True)
        left, right = (typed(frame).drop_columns("seconds").to_pylist() for frame in (table, expected))
        assert left == right
        return True

    return compared
