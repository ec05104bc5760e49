import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, datasets
from surefoot import CounterfactualExplainer as Practical
from surefoot.exceptions import DataError
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def bank():
    data = datasets.load_banknote()
    return data, ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)


def along_the_graph(bank, row=0, **settings):
    data, clf = bank
    return CounterfactualExplainer(clf, norm=1, whitening="dag", **settings).explain(data.X.iloc[row], 1)


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
    assert "To do: lower variance to" in text
    assert "(more than expected)" in str(along_the_graph(bank, row=3))
    assert "not what causes what" in text
    assert "To do" not in str(CounterfactualExplainer(bank[1]).explain(bank[0].X.iloc[0], 1))


def test_other_distances_have_none(bank):
    e = CounterfactualExplainer(bank[1], norm=1).explain(bank[0].X.iloc[0], 1)
    with pytest.raises(DataError, match="along the graph"):
        e.levers()


def test_without_a_counterfactual_there_is_nothing_to_look_at(bank):
    data, clf = bank
    explainer = CounterfactualExplainer(clf, norm=1, whitening="dag", immutable=list(data.X.columns))
    with pytest.raises(DataError, match="no counterfactual"):
        explainer.explain(data.X.iloc[0], 1, on_failure="return").levers()


@pytest.fixture(scope="module")
def tenants():
    """A table in which the rent follows the income."""
    rng = np.random.default_rng(0)
    income = rng.normal(2500, 600, 800).round(0)
    rent = (0.3 * income + rng.normal(0, 80, 800)).round(0)
    debt = (rng.normal(3000, 900, 800) - 0.2 * income).round(0)
    score = 0.002 * income - 0.001 * debt - 0.001 * rent + rng.normal(0, 0.5, 800)
    X = pd.DataFrame({"income": income, "rent": rent, "debt": debt})
    return X, ConditionalGaussianNetworkClassifier("tan").fit(X, np.where(score > 2.1, "good", "bad"))


def test_what_mostly_follows_is_not_among_what_to_do(tenants):
    X, clf = tenants
    e = Practical(clf).explain(X.iloc[12], "good")
    found = e.levers()
    assert "rent" in found.pulled  # a little
    assert abs(dict(zip(found.pulled, found.own, strict=True))["rent"]) < 0.1
    to_do, _, follows = next(line for line in str(e).splitlines() if "To do" in line).partition(". What foll")
    assert "raise income to" in to_do
    assert "rent" not in to_do
    assert "rent to" in follows
    assert "than expected" not in follows


def test_what_is_held_back_is_not_called_raised(tenants):
    """Where the income rises and the rent less than that lets expect, nobody has to raise the rent."""
    _, clf = tenants
    bounds = {"income": (0, 9000), "rent": (0, 600), "debt": (0, 9000)}
    actions = Actions({"income": Action("rise", least=800), "debt": "stay"})
    row = pd.Series({"income": 2000.0, "rent": 580.0, "debt": 2600.0})
    e = Practical(clf, actions=actions, bounds=bounds).explain(row, "good")
    assert e.counterfactual["rent"] > row["rent"]
    assert dict(zip(e.levers().pulled, e.levers().own, strict=True))["rent"] < -0.5
    text = str(e)
    assert "let rent rise only to 600" in text
    assert "raise rent" not in text
