"""Random requests about what may change are never violated (2,000 of them: benchmarks/audit/requests.py)."""

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from tests.asking import CounterfactualExplainer
from tests.thinning import only

KINDS = ["free", "immutable", "increasing", "decreasing", "bounded"]


def random_request(rng, X):
    kinds = dict(zip(X.columns, rng.choice(KINDS, X.shape[1], p=[0.5, 0.1, 0.12, 0.12, 0.16]), strict=True))
    said = {kind: [n for n, k in kinds.items() if k == kind] for kind in KINDS[1:4]}
    bounds = {}
    for name in (n for n, k in kinds.items() if k == "bounded"):
        low, high = np.sort(rng.choice(X[name], 2))
        bounds[name] = (float(low), float(high) + 1e-6)
    return {**said, "bounds": bounds or "data"}


@pytest.mark.parametrize(
    ("data", "method", "count"),
    only(
        [
            ("banknote", "certified", 30),
            ("pima", "certified", 20),
            ("banknote", "qcqp", 8),
            ("banknote", "milp", 2),
        ],
        [
            ("banknote", "certified", 30),
            ("banknote", "certified", 60),
            ("pima", "certified", 20),
            ("pima", "certified", 40),
            ("ionosphere", "certified", 5),
            ("banknote", "qcqp", 8),
            ("pima", "qcqp", 4),
            ("banknote", "milp", 2),
            ("banknote", "milp", 4),
        ],
    ),
)
def test_never_violated(bundled, data, method, count):
    rng = np.random.default_rng(count)
    X = bundled[data].X
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, bundled[data].y)
    found = 0
    for _ in range(count):
        request = random_request(rng, X)
        budget, row = rng.choice([0.0, 0.05]), X.iloc[rng.integers(len(X))]
        explainer = CounterfactualExplainer(
            clf, method=method, budget=budget, whole=False, time_limit=3, **request
        )
        e = explainer.explain(row, on_failure="return")
        if e.counterfactual is None:
            continue
        found += 1
        x = e.counterfactual
        assert (x[request["immutable"]] == row[request["immutable"]]).all()
        assert (x >= row)[request["increasing"]].all()
        assert (x <= row)[request["decreasing"]].all()
        assert (x >= e.low).all()
        assert (x <= e.high).all()
        for name, (low, high) in request["bounds"].items() if request["bounds"] != "data" else ():
            assert low <= x[name] <= high
    assert found > count / 3
