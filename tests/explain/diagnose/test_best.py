"""Where there is no answer: the highest probability that any allowed change reaches, against brute force."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, Explanation, Status, verify
from surefoot.explain.diagnose import best
from surefoot.explain.diagnose.bisection import NONE, narrowed
from surefoot.problem.question import Question
from surefoot.problem.requirements import DensityFloor
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def pima(bundled):
    return bundled["pima"]


@pytest.fixture(scope="module")
def clf(pima):
    return ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)


def asked(clf, X, i, free, target, **settings):
    kept = [name for name in X if name not in free]
    explainer = CounterfactualExplainer(clf, immutable=kept, **settings)
    return explainer.explain(X.iloc[i], target, on_failure="return")


def by_enumeration(clf, X, i, free, target, errors=(0.0,)):
    """The highest P(target), at the worst of some errors, over all values of one or two whole features."""
    ranges = [np.arange(X[name].min(), X[name].max() + 1) for name in free]
    values = list(itertools.product(*ranges))
    every = pd.DataFrame(np.tile(X.iloc[i].to_numpy(dtype=float), (len(values), 1)), columns=X.columns)
    every[free] = values
    t, worst = clf.classes_.tolist().index(target), np.inf
    for error in errors:
        moved = every.copy()
        moved[free] += error
        worst = np.minimum(worst, clf.predict_proba(moved)[:, t])
    return float(worst.max())


@pytest.mark.parametrize(("i", "free"), [(292, ["preg"]), (209, ["preg"]), (395, ["insu", "preg"])])
def test_whole_numbers_against_enumeration(clf, pima, i, free):
    target = 1 - int(clf.predict(pima.X.iloc[[i]])[0])
    e = asked(clf, pima.X, i, free, target)
    assert e.status is Status.INFEASIBLE
    highest = by_enumeration(clf, pima.X, i, free, target)
    assert e.best_probability <= highest * (1 + 1e-9) < e.best_probability_bound
    assert e.best_probability_bound - e.best_probability <= best.CLOSE


def test_with_a_budget_it_is_the_worst_error_that_counts(clf, pima):
    i, free = 292, ["preg"]
    target = 1 - int(clf.predict(pima.X.iloc[[i]])[0])
    plain = asked(clf, pima.X, i, free, target)
    robust = asked(clf, pima.X, i, free, target, budget={"preg": 0.5})
    errors = np.linspace(-0.5, 0.5, 21)
    highest = by_enumeration(clf, pima.X, i, free, target, errors)
    assert robust.best_probability <= highest * (1 + 1e-9) < robust.best_probability_bound
    assert robust.best_probability_bound < plain.best_probability
    assert "keeps despite an error of up to 0.5 in preg" in robust.outcome
    assert "that any allowed change reaches is" in plain.outcome


def test_categories_against_enumeration():
    rng = np.random.default_rng(3)
    y = np.arange(400) % 2
    colour = np.where(y, rng.choice(3, 400, p=[0.5, 0.3, 0.2]), rng.choice(3, 400, p=[0.3, 0.3, 0.4]))
    X = pd.DataFrame({"x": rng.normal(size=400) + 3 * y, "colour": [f"c{c}" for c in colour]})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    row = pd.Series({"x": -0.5, "colour": "c2"})
    e = CounterfactualExplainer(clf, immutable=["x"]).explain(row, 1, on_failure="return")
    every = pd.DataFrame({"x": [-0.5] * 3, "colour": ["c0", "c1", "c2"]})
    highest = clf.predict_proba(every)[:, 1].max()
    assert e.best_probability == pytest.approx(highest)
    assert highest < e.best_probability_bound
    assert verify(e, clf).ok


def test_it_is_written_read_and_checked(clf, pima):
    target = 1 - int(clf.predict(pima.X.iloc[[292]])[0])
    e = asked(clf, pima.X, 292, ["preg"], target, budget=0.05)
    again = Explanation.from_json(e.to_json())
    for name in ("best_probability", "best_probability_bound"):
        assert getattr(again, name) == getattr(e, name)
    assert again.search_seconds == e.search_seconds <= e.seconds
    claims = {claim.name: claim for claim in verify(again, clf).claims}
    assert claims["best probability"].holds
    assert e.outcome in str(e)
    lower = json.loads(e.to_json()) | {"best_probability": 0.0}
    lower["best_probability_bound"] = 0.99 * e.best_probability
    claims = {claim.name: claim for claim in verify(Explanation.from_dict(lower), clf).claims}
    assert claims["best probability"].verdict == "not proved"


def test_other_requirements_hold_there(clf, pima):
    """At least as typical as half of the rows: the highest probability is lower than without that."""
    target = 1 - int(clf.predict(pima.X.iloc[[209]])[0])
    free = asked(clf, pima.X, 209, ["mass", "preg"], target)
    typical = asked(clf, pima.X, 209, ["mass", "preg"], target, plausible=0.2)
    assert isinstance(typical.question, Question)
    assert any(isinstance(r, DensityFloor) for r in typical.question.requirements)
    if not math.isnan(typical.best_probability):
        assert typical.best_probability <= free.best_probability_bound
    assert verify(typical, clf).ok


def test_tiny_probabilities_have_a_bound(clf, pima):
    target = 1 - int(clf.predict(pima.X.iloc[[13]])[0])
    e = asked(clf, pima.X, 13, ["plas", "skin"], target)
    assert 0 <= e.best_probability < e.best_probability_bound == pytest.approx(best.LOWEST)
    assert "is below 0.0001 % (proven)" in e.outcome
    assert verify(e, clf).ok


def test_where_constraints_exclude_each_other_nothing_is_reached(clf, pima):
    actions = Actions({"preg": Action(low=5), "age": "stay"}, rules=["preg <= 4", "preg >= 6"])
    e = CounterfactualExplainer(clf, actions=actions).explain(pima.X.iloc[0], 0, on_failure="return")
    assert math.isnan(e.best_probability)
    assert math.isnan(e.best_probability_bound)
    assert "highest probability" not in str(e)


def test_the_why_can_be_left_out(clf, pima):
    target = 1 - int(clf.predict(pima.X.iloc[[292]])[0])
    e = asked(clf, pima.X, 292, ["preg"], target, diagnose=False)
    assert e.status is Status.INFEASIBLE
    assert (e.conflict, e.advice) == ((), "")
    assert math.isnan(e.best_probability_bound)
    assert verify(e, clf).ok


def test_no_time_for_it_leaves_the_threshold(clf, pima, monkeypatch):
    """The certificate of the question itself bounds it then."""
    monkeypatch.setattr(best, "narrowed", lambda low, high, *_: (low, high))
    target = 1 - int(clf.predict(pima.X.iloc[[292]])[0])
    e = asked(clf, pima.X, 292, ["preg"], target)
    assert e.best_probability_bound == 0.5
    assert e.certificate["version"] == 3
    assert "is at least" in e.outcome
    assert "(proven: at most 50.0 %)" in e.outcome
    assert verify(e, clf).ok


def test_what_cannot_be_decided_is_passed_by():
    """The middle is not decided; a quarter is, three quarters would be."""
    asked_for = []

    def reaches(value):
        asked_for.append(value)
        return None if value == 0.5 else NONE if value > 0.3 else value

    low, high = narrowed(0.0, 1.0, reaches, lambda a, b: b - a < 0.3)
    assert (low, high) == (0.25, 0.4375)
    assert asked_for == [0.5, 0.25, 0.625, 0.4375]
    assert narrowed(0.0, 1.0, lambda _: None, lambda a, b: b - a < 0.3) == (0.0, 1.0)
    assert narrowed(0.0, 1.0, lambda _: 0.9, lambda a, b: b - a < 0.3) == (0.9, 1.0)


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
@pytest.mark.parametrize("budget", [0.0, 0.1])
def test_categories_alone_that_are_not_enough(norm, budget):
    """There is no number to move, in whichever norm."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    shares = np.array([[0.6, 0.4], [0.4, 0.6]])
    X = pd.DataFrame({name: [f"v{rng.choice(2, p=shares[label])}" for label in y] for name in "abcd"})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    row = pd.Series(dict.fromkeys("abcd", "v0"))
    explainer = CounterfactualExplainer(clf, norm=norm, budget=budget, immutable=["a", "b", "c"])
    e = explainer.explain(row, 1, on_failure="return")
    changed = pd.DataFrame([{**row, "d": value} for value in ("v0", "v1")])
    assert e.status is Status.INFEASIBLE
    assert e.best_probability == pytest.approx(clf.predict_proba(changed)[:, 1].max())
    assert verify(e, clf).ok


def test_odds_of_any_size_are_probabilities():
    """Warnings are errors here: numbers that no double can be raised to do not overflow."""
    assert [best._probability(v) for v in (-1e4, 0.0, 1e4)] == [0.0, 0.5, 1.0]
