"""If-then rules from words to a verified answer."""

import numpy as np
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, verify
from surefoot.datasets import load_pima
from tests.asking import CounterfactualExplainer
from tests.mixed_tables import lender, refused_rows
from tests.thinning import covering

NORMS = [np.inf, 2, 1]
CHEAP = {name: Action(cost=0.3) for name in ("housing", "savings", "phone")}
RULES = [
    [("income rises", "months >= months.now + 6")],
    [("housing is own", "debt falls"), ("savings changes", "income + debt <= 6000")],
    [("debt falls", "housing changes"), ("income rises", "debt stays"), ("phone changes", "months stays")],
    [("months <= 24", "income >= income.now + 500"), ("debt = debt.now", "months <= 24")],
]
SPOKEN = {
    "income rises": lambda now, x: x.income > now.income,
    "months >= months.now + 6": lambda now, x: x.months >= now.months + 6,
    "housing is own": lambda now, x: x.housing == "own",
    "debt falls": lambda now, x: x.debt < now.debt,
    "savings changes": lambda now, x: x.savings != now.savings,
    "income + debt <= 6000": lambda now, x: x.income + x.debt <= 6000,
    "housing changes": lambda now, x: x.housing != now.housing,
    "debt stays": lambda now, x: x.debt == now.debt,
    "phone changes": lambda now, x: x.phone != now.phone,
    "months stays": lambda now, x: x.months == now.months,
    "months <= 24": lambda now, x: x.months <= 24,
    "income >= income.now + 500": lambda now, x: x.income >= now.income + 500,
    "debt = debt.now": lambda now, x: x.debt == now.debt,
}


def holds(words, now, x):
    return bool(SPOKEN[words](now, x))


@pytest.mark.parametrize(("number", "norm"), covering(range(len(RULES)), NORMS))
def test_rules_of_numbers_and_categories(norm, number):
    clf, rules = lender(), RULES[number]
    row = refused_rows(clf, 12)[3 * number]
    free = CounterfactualExplainer(clf, norm=norm, actions=Actions(CHEAP)).explain(row, target="good")
    ruled = CounterfactualExplainer(
        clf, norm=norm, budget=0.05 * (number % 2), actions=Actions(CHEAP, when=rules)
    ).explain(row, target="good")
    for condition, consequence in rules:
        kept = holds(consequence, ruled.factual, ruled.counterfactual)
        assert kept or not holds(condition, ruled.factual, ruled.counterfactual)
    assert ruled.distance >= free.lower_bound
    assert verify(ruled, clf).ok
    assert verify(ruled, clf, exact=True).ok


@pytest.mark.parametrize("norm", NORMS)
def test_rules_of_whole_numbers(norm):
    data = load_pima()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    row = data.X.iloc[int(np.flatnonzero(clf.predict(data.X) == clf.classes_[1])[1])]
    actions = Actions(
        {"age": "stay"}, when=[("plas falls", "mass - pres >= 0"), ("skin changes", "insu rises")]
    )
    e = CounterfactualExplainer(clf, norm=norm, gap=0.01, actions=actions).explain(
        row, target=clf.classes_[0]
    )
    assert e.counterfactual.plas >= row.plas or e.counterfactual.mass >= e.counterfactual.pres
    assert e.counterfactual.skin == row.skin or e.counterfactual.insu > row.insu
    assert verify(e, clf).ok
    assert verify(e, clf, exact=True).ok
