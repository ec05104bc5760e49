"""If-then rules, limits and prices over numbers and categories, against every state and a grid of numbers."""

import itertools

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, Explanation, Status, verify
from tests.asking import CounterfactualExplainer
from tests.thinning import covering, only

FEATURES = ["income", "age", "housing", "schooling"]
SCHOOLING = ["basic", "high school", "university"]
ROW = {"income": 2.0, "age": 30, "housing": "rent", "schooling": "basic"}


@pytest.fixture(scope="module")
def clf():
    rng = np.random.default_rng(8)
    y = np.repeat(["bad", "good"], 200)
    good = y == "good"
    frame = pd.DataFrame(
        {
            "income": rng.normal(2.5 + 1.5 * good, 1.0),
            "age": rng.integers(20, 60, 400) + 6 * good,
            "housing": np.where(rng.random(400) < 0.3 + 0.4 * good, "own", "rent"),
            "schooling": [SCHOOLING[min(2, int(3 * v))] for v in rng.random(400) ** np.where(good, 0.6, 1.5)],
        }
    )
    return ConditionalGaussianNetworkClassifier("naive", ordered={"schooling": SCHOOLING}).fit(frame, y)


# What is said, and whether a change of income and age and a state (housing, schooling) keeps it.
SAID = {
    "a number after a category": (
        Actions({"schooling": Action(cost=0.1)}, when=[("schooling rises", "age >= age.now + 16")]),
        lambda i, a, h, s: (s == 0) | (a >= 46),
    ),
    "a category after a number": (
        Actions(when=[("income rises", "housing is own")]),
        lambda i, a, h, s: (i <= 2) | (h == 1),
    ),
    "a category after a category": (
        Actions(when=[("housing changes", "schooling is university"), ("income changes", "age <= 29")]),
        lambda i, a, h, s: ((h == 0) | (s == 2)) & ((i == 2) | (a <= 29)),
    ),
    "at most one": (
        Actions(at_most=1),
        lambda i, a, h, s: (i != 2) * 1 + (a != 30) + (h != 0) + (s != 0) <= 1,
    ),
    "at most two of three": (
        Actions({"age": "stay"}, at_most_of=[(1, ["housing", "schooling", "income"])]),
        lambda i, a, h, s: (a == 30) & ((i != 2) * 1 + (h != 0) + (s != 0) <= 1),
    ),
    "all of it": (
        Actions(
            {"housing": Action(cost=0.25), "schooling": Action(cost=0.1), "income": Action("rise")},
            when=[("schooling rises", "age >= age.now + 2"), ("housing is own", "income >= 2.5")],
            at_most=3,
        ),
        lambda i, a, h, s: (
            (i >= 2)
            & ((s == 0) | (a >= 32))
            & ((h == 0) | (i >= 2.5))
            & ((i != 2) * 1 + (a != 30) + (h != 0) + (s != 0) <= 3)
        ),
    ),
}


def best(clf, e, allowed):
    """The nearest of many points that the actions allow."""
    incomes = np.concatenate([[2.0, 2.5], np.arange(-40, 700) * 0.0125])
    ages = np.arange(20, 66).astype(float)
    income, age = (grid.ravel() for grid in np.meshgrid(incomes, ages))
    metric, found = e.question.family(clf).metric, np.inf
    for h, s in itertools.product(range(2), range(3)):
        frame = pd.DataFrame({"income": income, "age": age})
        frame["housing"], frame["schooling"] = ["rent", "own"][h], SCHOOLING[s]
        keep = allowed(income, age, h, s) & (clf.predict_proba(frame)[:, 1] >= 0.5)
        codes = (clf.categories_["housing"].index(["rent", "own"][h]), s)
        price = sum(choice.prices[v] for choice, v in zip(e.question.choices, codes, strict=True))
        change = np.column_stack([income - 2, age - 30])[keep]
        if not len(change):
            continue
        if metric.is_cost:
            size = np.maximum(change * metric.up, -change * metric.down)
        else:
            size = np.abs(change @ metric.matrix.T)
        found = min(found, price + float(size.max(axis=1).min()))
    return found


@pytest.mark.parametrize(("kind", "distance"), covering(SAID, ["mahalanobis", "cost"]))
def test_the_optimum_is_that_of_trying_everything(clf, kind, distance):
    actions, allowed = SAID[kind]
    explainer = CounterfactualExplainer(clf, actions=actions, distance=distance, gap=1e-3)
    e = explainer.explain(ROW, target="good")
    assert e.status is Status.OPTIMAL
    x = e.counterfactual
    h, s = ["rent", "own"].index(x["housing"]), SCHOOLING.index(x["schooling"])
    assert allowed(x["income"], x["age"], h, s)
    assert x["age"] % 1 == 0
    nearest = best(clf, e, allowed)
    assert e.lower_bound <= nearest * (1 + 1e-9)
    assert nearest - 0.02 <= e.distance <= nearest * (1 + 1e-3)
    again = Explanation.from_json(e.to_json())
    for exact in (False, True):
        assert verify(again, clf, exact=exact).ok, str(verify(again, clf, exact=exact))


@pytest.mark.parametrize("kind", SAID)
def test_what_is_said_matters(clf, kind):
    """The test above would not notice an ignored constraint, if the answer without it kept it."""
    actions, allowed = SAID[kind]
    e = CounterfactualExplainer(clf, actions=Actions(actions.features), gap=1e-3).explain(ROW, target="good")
    x = e.counterfactual
    h, s = ["rent", "own"].index(x["housing"]), SCHOOLING.index(x["schooling"])
    assert not allowed(x["income"], x["age"], h, s)


@pytest.mark.parametrize(("norm", "shrinkage"), covering([np.inf, 1, 2], [0.0, 1.0]))
def test_whole_numbers_and_several_classes_equal_brute_force(rng, shrinkage, norm):
    """Three classes are two requirements; with one covariance for all their margins are linear."""
    y = rng.integers(0, 3, 300)
    centre = np.array([[20, 30], [34, 28], [30, 44]])
    X = np.rint(centre[y] + rng.normal(size=(300, 2)) @ [[5, 2], [0, 4]])
    clf = ConditionalGaussianNetworkClassifier("tan", shrinkage=shrinkage).fit(X, y)
    low, high = X.min(axis=0), X.max(axis=0)
    every = np.array([(a, b) for a in np.arange(low[0], high[0] + 1) for b in np.arange(low[1], high[1] + 1)])
    for row in X[clf.predict(X) == 0][:4]:
        e = CounterfactualExplainer(clf, norm=norm).explain(row, 2)
        met = every[(clf.predict_joint_log_proba(every)[:, [2]] >= clf.predict_joint_log_proba(every)).all(1)]
        problem = e.question.problem(clf)
        best = min(problem.distance(point) for point in met)
        assert e.distance == pytest.approx(best, rel=1.01e-3)
        assert e.counterfactual.to_numpy().tolist() in met.tolist()
        assert verify(e, clf).ok
        assert verify(e, clf, exact=True).ok


@pytest.mark.parametrize(
    ("factor", "norm", "rows"),
    only(
        [(0.5, np.inf, 20), (1.0, 2, 6), (-1.0, 1, 20)],
        [*itertools.product([0.5, 1.0, -1.0], [np.inf, 1, 2], [20]), (1.0, 2, 6)],
    ),
)
def test_links_of_whole_numbers_equal_brute_force(rng, norm, factor, rows):
    """Equations and cuts may leave a single point, on an allowed value: only its margin refutes that."""
    y = rng.integers(0, 2, 400)
    X = np.rint(np.array([[0, 0], [3, -4]])[y] + rng.normal(size=(400, 2)) * [[3, 2]])
    names = ["x0", "x1"]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(pd.DataFrame(X, columns=names), y)
    low, high = X.min(axis=0), X.max(axis=0)
    asked = CounterfactualExplainer(clf, norm=norm, actions=Actions(links=[("x1", "x0", factor)]))
    answered = 0
    for row in X[:rows]:
        target = 1 - clf.predict(pd.DataFrame([row], columns=names))[0]
        points = [np.add(row, (k, factor * k)) for k in range(-40, 41) if float(factor * k).is_integer()]
        points = [p for p in points if (p >= low).all() and (p <= high).all()]
        chances = clf.predict_proba(pd.DataFrame(points, columns=names))[:, target]
        e = asked.explain(pd.Series(row, names), target, on_failure="return")
        enough = [p for p, chance in zip(points, chances, strict=True) if chance >= 0.5]
        assert (e.counterfactual is not None) == bool(enough)
        if enough:
            answered += 1
            best = min(e.question.problem(clf).distance(p) for p in enough)
            assert e.distance == pytest.approx(best, rel=1.01e-3)
        assert verify(e, clf).ok
    assert answered >= 2


@pytest.mark.parametrize("norm", [np.inf, 1, 2])
def test_categories_alone(rng, norm):
    X = pd.DataFrame({"a": rng.choice(list("xyz"), 300), "b": rng.choice(["p", "q"], 300)})
    y = np.where((X["a"] == "x") ^ (rng.random(300) < 0.1), "no", "yes")
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    e = CounterfactualExplainer(clf, norm=norm, budget=0.05).explain(X[X["a"] == "x"].iloc[0], "yes")
    assert (e.status, e.distance, e.changed) == (Status.OPTIMAL, 1.0, ["a"])
    assert verify(e, clf).ok
    assert verify(e, clf, exact=True).ok


@pytest.mark.parametrize("action", [{"moves": {np.False_: [np.True_]}}, {"values": [np.True_]}])
def test_truth_values_as_rows_have_them(action):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = pd.DataFrame({"insured": rng.random(200) < 0.2 + 0.6 * y})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    e = CounterfactualExplainer(clf, actions=Actions({"insured": Action(**action)})).explain([False], 1)
    assert e.counterfactual["insured"] is True
    assert verify(e, clf).ok
