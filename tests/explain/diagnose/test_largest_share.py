"""The largest share of training rows that an answer can be as typical as, where a floor is too high."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, datasets
from surefoot.explain.diagnose.largest_share import Reachable
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def pima():
    data = datasets.load_pima()
    return data, ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)


def first_of(clf, data, label, k=0):
    return data.X.iloc[int(np.flatnonzero(clf.predict(data.X) == label)[k])]


def test_the_largest_share_is_named_and_right(pima):
    data, clf = pima
    row, kept = first_of(clf, data, 1), ["plas", "mass", "insu"]
    settings = {"budget": 0.1, "whole": False, "immutable": kept}
    e = CounterfactualExplainer(clf, plausible=0.9, **settings).explain(row, 0, on_failure="return")
    assert e.status == "infeasible"
    words = e.advice.split()
    reached, beyond = (
        float(words[words.index("about") + 1].rstrip(":")),
        float(e.advice.split("=")[1].split()[0]),
    )
    assert 0 < beyond - reached < 0.01
    near = CounterfactualExplainer(clf, plausible=reached - 0.005, **settings)
    assert near.explain(row, 0, on_failure="return").counterfactual is not None
    far = CounterfactualExplainer(clf, plausible=beyond + 0.005, **settings)
    assert far.explain(row, 0, on_failure="return").status == "infeasible"


def named_share(e):
    """What the advice says: a share that can be reached, and one that cannot."""
    said, proved = e.advice.split(": with plausible=")
    return float(said.split()[-1]), float(proved.split()[0])


@pytest.mark.parametrize(
    ("name", "target", "row", "may_change"),
    [
        ("pima", 0, 2, ["plas", "age", "mass", "preg", "insu"]),
        ("pima", 0, 1, ["plas", "age", "mass"]),  # a small share
        ("banknote", 1, 2, ["variance", "skewness"]),  # so little room that points must not step far inside
        ("banknote", 1, 9, ["variance", "skewness"]),
    ],
)
def test_the_largest_share_is_that_of_an_independent_solver(name, target, row, may_change):
    most_typical = pytest.importorskip("benchmarks.quality.most_typical")
    data = getattr(datasets, f"load_{name}")()
    X, _, y, _ = train_test_split(data.X, data.y, test_size=0.5, stratify=data.y, random_state=0)
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
    kept = [feature for feature in X if feature not in may_change]
    explainer = CounterfactualExplainer(clf, plausible=0.95, budget=0.1, whole=False, immutable=kept)
    factual = X[clf.predict(X) != target].iloc[row]
    e = explainer.explain(factual, target, on_failure="return")
    reached, beyond = named_share(e)
    best = most_typical.largest_share(clf, explainer.problem(factual, target), target)
    assert reached * 0.999 <= best <= beyond * 1.001
    assert abs(reached - best) <= 0.01 * best


@pytest.mark.parametrize(
    ("share", "beyond", "shown"),
    [
        (0.19251, 0.19301, ("about 0.192", "plausible=0.194")),
        (0.6259, 0.6262, ("about 0.625", "plausible=0.627")),
        (0.0, 0.00049999, ("about 0", "plausible=0.0005")),
        (0.25, 0.5, ("at least 0.25", "plausible=0.5")),
        (0.99949, 0.99981, ("about 0.999", "plausible=1 ")),
    ],
)
def test_digits_are_cut_on_the_true_side(share, beyond, shown):
    words = Reachable(share, beyond).words()
    assert all(text in words for text in shown), words


def test_where_the_floor_is_not_to_blame_the_constraints_are_named(pima):
    data, clf = pima
    actions = Actions(dict.fromkeys(data.X.columns[1:], "stay") | {"preg": Action(most=1)})
    e = CounterfactualExplainer(clf, plausible=0.2, actions=actions).explain(
        first_of(clf, data, 1), 0, on_failure="return"
    )
    assert e.status == "infeasible"
    assert "largest share" not in e.advice
