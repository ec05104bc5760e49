"""Numbers beyond all doubles, rows that cannot be read, data that is none: one line, no other row lost."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from surefoot import (
    Action,
    ConditionalGaussianNetworkClassifier,
    Milp,
    Qcqp,
    QuadraticModel,
    Refits,
    datasets,
)
from surefoot.exceptions import DataError, ProblemError
from tests.asking import CounterfactualExplainer

HUGE = 10**400


@pytest.fixture(scope="module")
def bank():
    data = datasets.load_banknote()
    return data, ConditionalGaussianNetworkClassifier("naive").fit(data.X, data.y)


@pytest.mark.parametrize("field", ["low", "high", "most", "least", "step", "cost"])
def test_actions_with_numbers_beyond_all_doubles(field):
    with pytest.raises(ProblemError, match=f"{field} holds a number of more than 300 digits"):
        Action(**{field: HUGE})


@pytest.mark.parametrize(
    "settings",
    [
        {"budget": HUGE},
        {"budget": {"variance": (1, HUGE)}},
        {"threshold": HUGE},
        {"decision": -HUGE},
        {"gap": HUGE},
        {"time_limit": HUGE},
        {"bounds": {"variance": (0, HUGE)}},
        {"plausible": ("conditional", HUGE)},
    ],
)
def test_explainers_with_numbers_beyond_all_doubles(bank, settings):
    with pytest.raises(ProblemError, match="more than 300 digits"):
        CounterfactualExplainer(bank[1], **settings)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Qcqp(tol=HUGE), "more than 300 digits"),
        (lambda: Qcqp(tol=1e300), "tol must be at most 1"),
        (lambda: Qcqp(threads=10**12), "threads must be an integer from 0 to 1024"),
        (lambda: Milp(n_segments=HUGE), "more than 300 digits"),
    ],
)
def test_methods_with_options_beyond_all_reason(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


def test_a_row_that_cannot_be_read_takes_no_other_along(bank):
    data, clf = bank
    explainer = CounterfactualExplainer(clf)
    rows = [dict(data.X.iloc[i]) for i in range(3)]
    for cell in (HUGE, Decimal("sNaN"), object()):
        rows[1]["variance"] = cell
        statuses = [e.status for e in explainer.explain_batch(rows, target=1, progress=False)]
        assert statuses == ["optimal", "invalid", "optimal"]
        with pytest.raises(ProblemError):
            explainer.explain(rows[1], target=1)
    with pytest.raises(ProblemError, match="more than 300 digits"):
        explainer.alternatives(rows[0], target=1, differ="distance", apart=HUGE)


def test_refits_keep_the_scales_of_the_model():
    """Left to choose, a draw takes a curved scale where the model has none."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.normal(size=60) for name in "abc"} | {"k": rng.choice(["u", "v", "w"], 60)})
    y = np.where(X.a + X.c > 0, "yes", "no")
    clf = ConditionalGaussianNetworkClassifier(marginals="auto").fit(X, y)
    assert CounterfactualExplainer(clf, models=Refits(2, data=(X, y))).explain(X.iloc[0]).model_share


def test_refits_of_data_that_is_none(bank):
    data, clf = bank
    for wrong, message in (
        (data.X, "data must be a pair"),
        ((data.X, data.y.iloc[:5]), "rows and as many labels, not 1372 and 5"),
        ((data.X.iloc[:0], data.y.iloc[:0]), "rows and as many labels, not 0 and 0"),
    ):
        with pytest.raises(ProblemError, match=message):
            CounterfactualExplainer(clf, models=Refits(2, data=wrong))
    with pytest.raises(ProblemError, match="Refits needs a number of refits"):
        Refits([clf], data=(data.X, data.y))


def test_tables_of_a_model_of_ones_own():
    with pytest.raises(DataError, match="tables must be a dict"):
        QuadraticModel({}, ["x"], tables=5)
