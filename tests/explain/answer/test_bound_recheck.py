"""Where rounding is large, nothing is claimed that the checkers would refuse."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

from surefoot import ConditionalGaussianNetworkClassifier, verify
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def repeated():
    """Two columns that repeat two others: what is left of their variances is what smoothing leaves."""
    X = np.random.default_rng(1).normal(size=(200, 4))
    X = pd.DataFrame(np.c_[X, X[:, :2]], columns=[f"f{i}" for i in range(6)])
    return X, ConditionalGaussianNetworkClassifier("tan").fit(X, X.f0**2 + X.f1 > 1)


@pytest.mark.parametrize("row", [8, 17, 20, 27])
@pytest.mark.parametrize("how", [{"immutable": ["f0", "f1"]}, {"distance": "cost"}])
def test_columns_that_repeat_each_other(repeated, row, how):
    """Scores of -1e8 in both classes: what is said of their difference is computed with whole numbers."""
    X, clf = repeated
    e = CounterfactualExplainer(clf, budget=0.05, time_limit=5, **how).explain(X.iloc[row])
    assert verify(e, clf).ok


@pytest.mark.parametrize("distance", ["mahalanobis", "cost"])
def test_a_bound_that_rounding_undoes_is_not_claimed(distance):
    """A million standard deviations off in some features, and the answer has to be typical."""
    data = load_diabetes()
    X = pd.DataFrame(data.data, columns=[f"f{i}" for i in range(10)])
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, data.target > 140)
    rng, seen = np.random.default_rng(0), set()
    for _ in range(6):
        near = X.iloc[int(rng.integers(len(X)))]
        row = near + 1e6 * X.std() * rng.choice([-1, 1], size=10) * (rng.random(10) < 0.3)
        asked = CounterfactualExplainer(
            clf, norm=2, budget=0.05, bounds=None, plausible=0.5, distance=distance, time_limit=5
        )
        e = asked.explain(row, on_failure="return")
        assert verify(e, clf).ok
        seen.add(str(e.status))
        if e.status == "precision_limit":
            assert e.lower_bound == 0
            assert e.certificate["bound"] is None
            assert e.counterfactual is not None
    assert seen == {"optimal", "precision_limit"}
