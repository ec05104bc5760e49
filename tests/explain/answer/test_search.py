"""What is proven of a point when its time is up."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, datasets, verify
from surefoot.explain.answer import search
from surefoot.problem.answer import Round
from surefoot.status import Status
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def bank():
    data = datasets.load_banknote()
    return data, ConditionalGaussianNetworkClassifier("naive").fit(data.X, data.y)


def test_judging_many_candidates_takes_no_longer_than_what_is_left(bank, monkeypatch):
    """Each round that reached the target took two seconds, however little time was left."""
    data, clf = bank
    explainer = CounterfactualExplainer(clf, budget=0.05)
    row = data.X.iloc[0]
    point = explainer.explain(row, target=1).counterfactual.to_numpy(dtype=float)
    rounds = [Round(1.0, 0.0, 0.1, None, 0.0, 0.0, point, Status.TIME_LIMIT) for _ in range(3)]
    limits, real = [], search.worst_perturbation

    def noted(problem, x, time_limit):
        limits.append(time_limit)
        return real(problem, x, time_limit=time_limit)

    monkeypatch.setattr(search, "worst_perturbation", noted)
    status, chosen = search._result(explainer.problem(row, 1), rounds, 1e-3, 0.3)
    assert (status, chosen) == (Status.TIME_LIMIT, rounds[0])
    assert limits == pytest.approx([0.1] * 3)


def test_a_point_at_which_time_was_up_keeps_time_for_its_proof(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = pd.DataFrame(rng.normal(size=(200, 6)) + 0.8 * y[:, None], columns=list("abcdef"))
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
    searched = search.certified_states

    def cut_short(problem, gap, time_limit):
        """As if time had been up when the point was found."""
        assert time_limit <= 0.9 * 5
        found = searched(problem, gap, time_limit)
        held = {**found.certificate, "robustness": None, "worst": None}
        return replace(found, status=Status.TIME_LIMIT, radius=0.0, worst=None, certificate=held)

    monkeypatch.setattr(search, "certified_states", cut_short)
    explainer = CounterfactualExplainer(clf, preset="paper", budget=0.05, time_limit=5)
    e = explainer.explain(X[clf.predict_proba(X)[:, 1] < 0.2].iloc[0], 1)
    assert e.status is Status.TIME_LIMIT
    assert e.coverage == 1
    assert verify(e, clf, exact=True).ok
