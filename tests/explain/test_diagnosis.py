import numpy as np
import pytest

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    Rule,
    Status,
)


@pytest.fixture(scope="module")
def bank(bundled):
    return bundled["banknote"]


@pytest.fixture(scope="module")
def clf(bank):
    return ConditionalGaussianNetworkClassifier("naive").fit(bank.X, bank.y)


def reason(clf, row, **constraints):
    e = CounterfactualExplainer(clf, budget=0.05, **constraints).explain(row, target=1, on_failure="return")
    assert e.status is Status.INFEASIBLE
    assert e.message == Status.INFEASIBLE.sentence
    return e.advice


def test_the_one_constraint_is_named_and_is_the_one(clf, bank):
    row = bank.X.iloc[0]
    fixed = list(bank.feature_names)
    message = reason(clf, row, immutable=fixed)
    named = [name for name in fixed if f"{name!r} may change" in message]
    assert named
    for name in fixed:
        rest = [other for other in fixed if other != name]
        e = CounterfactualExplainer(clf, budget=0.05, immutable=rest).explain(
            row, target=1, on_failure="return"
        )
        assert (e.counterfactual is not None) == (name in named), name


def test_bounds_are_named(clf, bank):
    row = bank.X.iloc[0]
    tight = {name: (row[name] - 0.01, row[name] + 0.01) for name in bank.feature_names}
    message = reason(clf, row, bounds=tight)
    assert "'variance' may leave its bounds 3.6116 to 3.6316" in message


def test_directions_are_named(clf, bank):
    row = bank.X.iloc[0]
    message = reason(clf, row, increasing=["variance"], immutable=["skewness", "curtosis", "entropy"])
    assert "'variance' may fall" in message


def test_kinds_are_named_where_no_single_one_suffices(clf, bank):
    row = bank.X.iloc[0]
    wide = {"variance": (row["variance"] - 0.2, None)}
    message = reason(clf, row, immutable=["skewness", "curtosis", "entropy"], bounds=wide)
    assert "There is one if" in message


def test_nothing_is_named_where_nothing_helps():
    """A class that is a little narrower than its rival in every direction never reaches 99.9 %."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1.3, (200, 2)), rng.normal(0, 1, (200, 2))])
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, np.repeat([0, 1], 200))
    explainer = CounterfactualExplainer(clf, threshold=0.999, bounds=None)
    e = explainer.explain([4.0, 4.0], target=1, on_failure="return")
    assert e.status is Status.INFEASIBLE
    assert e.advice == ""


def test_values_and_rules_are_named(clf, bank):
    row = bank.X.iloc[0]
    others = ["skewness", "curtosis", "entropy"]
    values = Actions({"variance": Action(values=[row["variance"] + 0.1, row["variance"] - 0.1])})
    assert "'variance' may take other values" in reason(clf, row, immutable=others, actions=values)
    ends = Actions({"variance": Action(low=row["variance"] - 0.1)})
    assert "'variance' may leave the ends of its action" in reason(clf, row, immutable=others, actions=ends)
    rule = Actions(rules=[Rule({"variance": 1, "entropy": 1}, low=row["variance"] + row["entropy"])])
    assert "the rule 'variance + entropy >= 3.17461' is lifted" in reason(
        clf, row, immutable=others, actions=rule
    )
