import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, datasets
from surefoot.exceptions import DataError
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def bank():
    data = datasets.load_banknote()
    return data, ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)


def along_the_graph(bank, **settings):
    data, clf = bank
    return CounterfactualExplainer(clf, norm=1, whitening="dag", **settings).explain(data.X.iloc[0], 1)


def test_what_is_pulled_and_what_follows(bank):
    e = along_the_graph(bank)
    found = e.levers()
    network = bank[1].network(0)
    moved = (e.counterfactual - e.factual).to_numpy(float)
    expected = network.weights @ moved
    beyond = (moved - expected) / np.sqrt(network.variances)
    names = list(bank[0].X.columns)
    assert {names[k] for k in np.flatnonzero(np.abs(beyond) > 1e-6)} == set(found.pulled)
    assert set(found.pulled) | set(found.following) == set(e.changed)
    assert found.following
    assert sum(abs(pull) for pull in found.pulls) == pytest.approx(e.distance)


def test_the_text_says_it_and_says_what_it_is_not(bank):
    text = str(along_the_graph(bank))
    assert "Levers: " in text
    assert "not what causes what" in text
    assert "Levers" not in str(CounterfactualExplainer(bank[1]).explain(bank[0].X.iloc[0], 1))


def test_other_distances_have_none(bank):
    e = CounterfactualExplainer(bank[1], norm=1).explain(bank[0].X.iloc[0], 1)
    with pytest.raises(DataError, match="along the graph"):
        e.levers()


def test_without_a_counterfactual_there_is_nothing_to_look_at(bank):
    data, clf = bank
    explainer = CounterfactualExplainer(clf, norm=1, whitening="dag", immutable=list(data.X.columns))
    with pytest.raises(DataError, match="no counterfactual"):
        explainer.explain(data.X.iloc[0], 1, on_failure="return").levers()
