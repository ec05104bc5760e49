"""Logistic regression explained: for numbers alone and p = 2 the optimum has a closed form."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from surefoot import ConditionalGaussianNetworkClassifier, datasets
from surefoot.exceptions import ProblemError
from surefoot.search.certified.search import Search
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def explainer():
    data = datasets.load_german_credit()
    numbers = [name for name in data.X if data.X[name].dtype.kind in "iuf"]
    X = data.X[numbers]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, data.y)
    return (
        X,
        model,
        CounterfactualExplainer(model, data=(X, data.y), norm=2, bounds=None, whole=False, gap=1e-6),
    )


def test_the_optimum_is_the_closed_form(explainer):
    X, model, asked = explainer
    clf = asked.classifier
    rows = np.flatnonzero(model.predict(X) == "bad")[:10]
    assert len(rows) == 10
    for i in rows:
        e = asked.explain(X.iloc[i], "good")
        H = clf.decision_quadratic("good", "bad")
        slope = H.gradient(X.iloc[i].to_numpy(dtype=float))
        covariance = clf.network("bad").covariance
        closed = -H(X.iloc[i].to_numpy(dtype=float)) / np.sqrt(slope @ covariance @ slope)
        assert e.distance == pytest.approx(closed, rel=1e-5)
        assert e.lower_bound <= closed * (1 + 1e-9)


def test_a_linear_decision_is_never_branched(explainer, monkeypatch):
    X, model, asked = explainer
    cuts = []
    monkeypatch.setattr("surefoot.search.certified.search.choose_cut", lambda *parts: cuts.append(parts))
    monkeypatch.setattr(Search, "_tightened", lambda *_: False)
    for i in np.flatnonzero(model.predict(X) == "bad")[:5]:
        asked.explain(X.iloc[i], "good")
    assert cuts == []


def test_a_threshold_or_decision_that_would_be_ignored_is_refused(bundled):
    data = bundled["pima"]
    unsure = LinearSVC().fit(data.X / data.X.std(), data.y)
    with pytest.raises(
        ProblemError, match=r"no probabilities, so that threshold=0.7 cannot be reached; use dec"
    ):
        CounterfactualExplainer(unsure, data=(data.X / data.X.std(), data.y), threshold=0.7)
    sure = ConditionalGaussianNetworkClassifier().fit(data.X, data.y)
    with pytest.raises(ProblemError, match="decision is for models without probabilities"):
        CounterfactualExplainer(sure, decision=0.5)
