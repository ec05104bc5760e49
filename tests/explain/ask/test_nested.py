"""A question asks for more than another only where nothing else differs."""

import pytest

from surefoot import Actions, ConditionalGaussianNetworkClassifier
from surefoot.explain.ask.nested import asks_for_more
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def bank(bundled):
    return bundled["banknote"]


@pytest.fixture(scope="module")
def clf(bank):
    return ConditionalGaussianNetworkClassifier("naive").fit(bank.X, bank.y)


def question(clf, bank, i=0, **settings):
    return CounterfactualExplainer(clf, **settings).explain(bank.X.iloc[i], 1, on_failure="return").question


def test_what_asks_for_more(clf, bank):
    plain = question(clf, bank)
    more = {
        "budget": question(clf, bank, budget=0.1),
        "plausible": question(clf, bank, plausible=0.1),
        "threshold": question(clf, bank, threshold=0.7),
    }
    for asked in more.values():
        assert asks_for_more(asked, asked)
        assert asks_for_more(asked, plain)
        assert not asks_for_more(plain, asked)
    assert asks_for_more(question(clf, bank, plausible=0.2), more["plausible"])
    assert not asks_for_more(more["budget"], more["threshold"])


@pytest.mark.parametrize(
    "settings",
    [
        {"norm": 2.0},
        {"whitening": "zca"},
        {"immutable": ["entropy"]},
        {"actions": Actions(at_most=2)},
        {"bounds": None},
        {"i": 1},
        {"distance": "cost"},
        {"budget": {"entropy": 0.1}},
    ],
)
def test_whatever_else_differs(clf, bank, settings):
    plain, other = question(clf, bank), question(clf, bank, **settings)
    assert not asks_for_more(other, plain)
    assert not asks_for_more(plain, other)
