import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, datasets, verify
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def pima():
    data = datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    return data, clf, clf.predict_proba(data.X)[:, 0]


@pytest.mark.parametrize("norm", [np.inf, 2, 1])
def test_a_row_that_is_good_but_not_safe_gets_the_least_change_that_makes_it_safe(pima, norm):
    data, clf, good = pima
    row = data.X.iloc[int(np.argmin(np.where(good > 0.5, good, 9)))]
    e = CounterfactualExplainer(clf, budget=0.1, norm=norm, whole=False).explain(row, 0)
    assert (e.status, e.factual_class, e.decision, e.coverage) == ("optimal", 0, 0, 1.0)
    assert 0 < e.distance < 0.5
    assert e.worst_probability >= 0.5
    assert "has the target already" in str(e)
    assert "this small change makes it safe" in e.advice
    assert verify(e, clf).ok


def test_a_row_that_is_safe_stays_as_it_is(pima):
    data, clf, good = pima
    e = CounterfactualExplainer(clf, budget=0.1).explain(data.X.iloc[int(np.argmax(good))], 0)
    assert e.status == "already_target"
    assert e.distance == 0


def test_where_nothing_may_change_it_is_said_that_it_is_not_safe(pima):
    data, clf, good = pima
    row = data.X.iloc[int(np.argmin(np.where(good > 0.5, good, 9)))]
    explainer = CounterfactualExplainer(clf, budget=0.1, immutable=list(data.X.columns), noise_on="all")
    e = explainer.explain(row, 0)
    assert e.status == "already_target"
    assert "not_safe" in [caution.code for caution in e.cautions]


def test_without_a_budget_nothing_needs_to_be_safe(pima):
    data, clf, good = pima
    row = data.X.iloc[int(np.argmin(np.where(good > 0.5, good, 9)))]
    assert CounterfactualExplainer(clf).explain(row, 0).status == "already_target"
