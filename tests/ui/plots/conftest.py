"""Small classifiers and explanations to draw."""

import builtins

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Status
from tests.asking import CounterfactualExplainer
from tests.edited import edited

AWKWARD = ["$x^{2$ & $\\frac", "<b>bold</b>", '"it\'s" größer', "a very long name " * 8]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def classifiers(bundled):
    """A fitted tree for each data set, and one with awkward feature names and labels."""
    fitted = {
        name: ConditionalGaussianNetworkClassifier().fit(data.X, data.y) for name, data in bundled.items()
    }
    bank = bundled["banknote"]
    labels = np.where(bank.y == 1, "$forged$ <i>and a long word more</i>", "_true$")
    fitted["awkward"] = ConditionalGaussianNetworkClassifier().fit(bank.X.set_axis(AWKWARD, axis=1), labels)
    return fitted


@pytest.fixture(scope="session")
def explain(classifiers, bundled):
    """Explain the first row of a data set; the same question is asked only once."""
    answers = {}

    def ask(name, norm=np.inf, budget=0.05):
        if (name, norm, budget) not in answers:
            clf = classifiers[name]
            row = bundled.get(name, bundled["banknote"]).X.iloc[0].to_numpy()
            predicted = clf.predict(pd.DataFrame([row], columns=clf.feature_labels_))[0]
            target = next(c for c in clf.classes_.tolist() if c != predicted)
            explainer = CounterfactualExplainer(clf, norm=norm, budget=budget)
            answers[name, norm, budget] = explainer.explain(row, target=target)
        return answers[name, norm, budget]

    return ask


@pytest.fixture
def failed(explain):
    """An explanation without a counterfactual."""
    return edited(explain("banknote"), counterfactual=None, status=Status.UNDECIDED)


@pytest.fixture
def _no_matplotlib(monkeypatch):
    """As if matplotlib were not installed."""
    original = builtins.__import__

    def no_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_matplotlib)
