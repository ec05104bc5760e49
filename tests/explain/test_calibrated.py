"""Answers of calibrated models: what is proved is proved in units of the probabilities that are shown."""

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, verify
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def underconfident():
    """A model whose log-odds are too small, so that its temperature is below one, and its rows."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300)
    X = pd.DataFrame(
        {
            "k": np.where(rng.random(300) < 0.2 + 0.6 * y, "a", "b"),
            "z": rng.normal(size=300) + y,
            "w": rng.normal(size=300) * np.where(y, 0.3, 2),
        }
    )
    clf = ConditionalGaussianNetworkClassifier("naive", calibration="temperature", shrinkage=1.0).fit(X, y)
    assert clf.calibration_.temperature < 0.9
    return clf, X


@pytest.mark.parametrize("norm", [1, 2, np.inf])
def test_the_worst_case_is_proved_below_a_temperature_of_one(underconfident, norm):
    """A cheap change of category leaves an answer far inside, where nothing but the worst case is near."""
    clf, X = underconfident
    asked = CounterfactualExplainer(clf, budget=0.3, norm=norm, actions=Actions({"k": Action(cost=0.01)}))
    found = [asked.explain(X.iloc[i], on_failure="return") for i in range(12)]
    assert any(e.distance == pytest.approx(0.01) for e in found)
    for e in found:
        assert verify(e, clf).ok, str(verify(e, clf))
