"""What may change: read by name, turned into a domain, printed as it was said, and never violated."""

import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    Explanation,
    Rule,
    Status,
    verify,
)
from surefoot.exceptions import DataError, ProblemError, SurefootWarning
from surefoot.explain.constraints.constraint import Constraint, Today
from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.explain.constraints.document import read_constraints
from surefoot.explain.diagnose.relaxations import relaxations, without
from surefoot.explain.result.words import allowed_words, question_words
from tests.asking import CounterfactualExplainer
from tests.thinning import covering, only

NAMES = ["age", "income", "cards"]
RANGE = [[18.0, 0.0, 0.0], [90.0, 9000.0, 8.0]]


@pytest.fixture(scope="module")
def pima(bundled):
    return bundled["pima"]


@pytest.fixture(scope="module")
def clf(pima):
    return ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)


def stated(actions=None, bounds=None, rules=(), links=(), at_most_of=(), **kinds):
    said = Actions(actions or {}, rules=rules, links=links, at_most_of=at_most_of)
    return ConstraintSet.by_name(NAMES, actions=said, bounds=bounds, observed_range=RANGE, **kinds)


def ends(actions, factual, bounds=None, feature=1):
    domain = stated(actions, bounds).domain(factual)
    return domain.low[feature], domain.high[feature]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Action("jump"), "'jump' is none of these"),
        (lambda: Action(low=2, high=1), "exclude each other: at least 2 and at most 1"),
        (lambda: Action(low="a"), "must be numbers or None, not 'a'"),
        (lambda: Action(low=True), "must be numbers or None, not True"),
        (lambda: Action(high=math.nan), "must be numbers or None, not nan"),
        (lambda: Action(whole="yes"), "whole must be True, False or None"),
        (lambda: Action(values=3), "values must be a list, not 3"),
        (lambda: Action(values="12"), "values must be a list, not '12'"),
        (lambda: Action(values=[]), "values must name at least one"),
        (lambda: Action(moves=1), "moves must be a dict of value -> list of values, not 1"),
        (lambda: Action(moves={"rent": "own"}), "moves must be a dict of value -> list of values"),
        (lambda: Action(cost=-1), "a price must be a finite number of at least 0, not -1"),
        (lambda: Action(cost={"own": math.inf}), "a price must be a finite number of at least 0, not inf"),
        (lambda: stated({"age": Action(moves={1: [2]})}), "'age' is a number; moves is for categories"),
        (
            lambda: stated({"age": Action(cost={"old": 2})}),
            "'age' is a number; its price is one number, or a",
        ),
        (
            lambda: stated({"age": Action(cost=(0, 2))}),
            "the price of a number must be above 0; that of 'age' is",
        ),
        (
            lambda: stated({"age": Action(cost=0)}),
            "the price of a number must be above 0; that of 'age' is not",
        ),
        (lambda: Action(low=math.inf), "the ends of an action leave no number: at least inf"),
        (lambda: Action(high=-math.inf), "the ends of an action leave no number"),
        (lambda: Action(cost=(1, 2, 3)), r"cost must be a number, a pair \(up, down\) or a dict"),
        (lambda: Action(cost=(1, math.nan)), "a price must be a finite number of at least 0, not nan"),
        (lambda: Action(cost=True), "a price must be a finite number of at least 0, not True"),
        (lambda: Actions(at_most=0), "at_most must be a positive integer, not 0"),
        (lambda: Actions(at_most=True), "at_most must be a positive integer, not True"),
        (lambda: Actions(at_most="3"), "at_most must be a positive integer, not '3'"),
        (lambda: Actions(at_most_of=[(1, "age")]), r"at_most_of must list pairs \(count, features\)"),
        (lambda: stated(at_most_of=[(1, ["height"])]), "at_most_of: unknown feature 'height'"),
        (lambda: stated(at_most_of=[(1, ["age", 0])]), "at_most_of names a feature twice"),
        (lambda: Actions(when=("age rises", "income rises")), "an if-then rule must be .condition, conseq"),
        (lambda: Actions(when=[("age rises",)]), "an if-then rule must be .condition, consequence."),
        (lambda: Actions(when=[("age rises", 3)]), "a condition must be text, not 3"),
        (lambda: Actions(when=[("age rises", "age > 3")]), "the condition cannot be read at character 5"),
        (lambda: Actions(when="age rises"), "when must be a list, not 'age rises'"),
        (lambda: Action(most=0), "most must be a finite number above 0, not 0"),
        (lambda: Action(most=math.inf), "most must be a finite number above 0, not inf"),
        (lambda: Action(most=True), "most must be a finite number above 0, not True"),
        (lambda: Action(step=-1), "step must be a finite number above 0, not -1"),
        (lambda: Action(step="1"), "step must be a finite number above 0, not '1'"),
        (lambda: Action(step=1, whole=True), "give one of step, whole and values"),
        (lambda: Action(step=1, values=[1]), "give one of step, whole and values"),
        (lambda: Action(protected="yes"), "protected must be True or False, not 'yes'"),
        (lambda: Actions(links=[("age", "income")]), r"a link must be \(feature, leader, factor\)"),
        (lambda: Actions(links=[("age", "income", "1")]), "the factor of a link must be a finite number"),
        (lambda: Actions(links=[("age", "income", math.nan)]), "the factor of a link must be a finite"),
        (lambda: Actions(links=[("age", "age", 1)]), "'age' is linked to itself"),
        (lambda: Actions(links=3), "links must be a list, not 3"),
        (lambda: stated(links=[("age", "height", 1)]), "unknown feature 'height'"),
        (lambda: Actions(rules="age <= 3"), "rules must be a list, not 'age <= 3'"),
        (lambda: Actions(rules=["age <"]), "the rule cannot be read at character 5, age .<: write <="),
        (lambda: Rule({"age": 1}, high=1, now=3), "now must be a dict"),
        (lambda: Rule({"age": 1}, high=1, now={"age": math.inf}), "must be finite numbers"),
        (lambda: Rule({"age": 1}, high=1, name=3), "the name of a rule must be text, not 3"),
        (lambda: stated(rules=["age <= height.now"]), "the rule 'age <= height.now': unknown feature"),
        (
            lambda: stated({"age": Action(values=["old"])}),
            "values of 'age' must be finite numbers, not 'old'",
        ),
        (lambda: Action(values=[1, math.inf]), "values must be finite numbers"),
        (lambda: Action(values=[1], whole=True), "give one of whole and values"),
        (lambda: Actions(["age"]), "must be a dict"),
        (lambda: Actions({"age": 3}), "the action of 'age' must be an Action or a word"),
        (lambda: Actions({"age": "stray"}), "'age': a feature may"),
        (lambda: Actions(rules=[3]), "a rule must be text or a surefoot.Rule, not 3"),
        (lambda: Rule({}, high=1), "needs a dict"),
        (lambda: Rule({"age": math.nan}, high=1), "must be finite numbers"),
        (lambda: Rule({"age": 0}, high=1), "not zero"),
        (lambda: Rule({"age": 1}), "needs an end"),
        (lambda: stated({"height": "stay"}), "actions: unknown feature 'height'"),
        (lambda: stated({"age": "stay", 0: "rise"}), "'age' has two actions"),
        (lambda: stated(rules=[Rule({"height": 1}, high=1)]), "unknown feature 'height'"),
        (
            lambda: stated({"age": "rise"}, immutable=["age"]),
            "'age' may only rise, and is listed as immutable",
        ),
        (lambda: stated(increasing=["age"], decreasing=["age"]), "and is listed as decreasing as well"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(make, message):
    with pytest.raises(ProblemError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_actions_are_kept_as_given():
    values = [9, 12, 16]
    action = Action("rise", values=values)
    assert action.given() == {"may": "rise", "values": values}
    assert (action.may, action.low, action.most, action.protected) == ("rise", None, None, False)
    assert Actions({"age": "stay"}).features["age"] == Action("stay")


def test_directions_are_those_of_the_shorthands():
    factual = [30.0, 2000.0, 3.0]
    long = stated({"age": "stay", "income": "rise", "cards": "fall"}, "data").domain(factual)
    short = stated(None, "data", immutable=["age"], increasing=["income"], decreasing=["cards"]).domain(
        factual
    )
    for domain in (long, short):
        assert domain.low.tolist() == [30, 2000, 0]
        assert domain.high.tolist() == [30, 9000, 3]
    assert stated({"age": "stay"}).kept == (0,)


def test_todays_value_is_always_allowed():
    assert ends({"income": Action(low=3000)}, [30, 2000, 3]) == (2000, math.inf)
    assert ends({"income": Action(high=1000)}, [30, 2000, 3]) == (-math.inf, 2000)
    assert ends({"income": Action("stay", low=3000)}, [30, 2000, 3]) == (2000, 2000)
    domain = stated({"cards": Action(whole=True), "age": Action(values=[40, 50])}).domain([30.5, 0, 2.5])
    assert domain.contains([30.5, 0, 2.5])
    assert domain.contains([40, 0, 3])
    assert not domain.contains([45, 0, 3])
    assert not domain.contains([40, 0, 3.5])
    assert domain.low[0] == 30.5
    assert domain.high[0] == 50


def test_what_lies_between_today_and_the_ends_is_not_allowed():
    apart = stated({"cards": Action(whole=True, low=5, high=7), "age": Action(values=[40, 50, 60], low=45)})
    domain = apart.domain([30, 0, 2])
    assert [v for v in range(10) if domain.contains([30, 0, v])] == [2, 5, 6, 7]
    assert [v for v in range(80) if domain.contains([v, 0, 2])] == [30, 50, 60]
    nothing = stated({"age": Action(values=[40], high=35)}).domain([30, 0, 2])
    assert (nothing.low[0], nothing.high[0], nothing.sets) == (30, 30, ())
    near = stated({"cards": Action(whole=True, low=1, high=7)}).domain([30, 0, 2])
    assert "values=None" in repr(near.sets[0])


def test_an_action_overrides_the_range_seen_in_training_and_not_the_bounds():
    factual = [30, 2000, 3]
    assert ends({"income": Action(high=20_000)}, factual, "data") == (0, 20_000)
    assert ends({"income": Action(high=20_000)}, factual, {"income": (100, 5000)}) == (100, 5000)
    assert ends({"income": Action(low=500)}, factual, {"income": (100, 5000)}) == (500, 5000)
    assert ends({}, [30, 12_000, 3], "data") == (0, 12_000)
    assert ends({}, [30, 12_000, 3], {"income": (0, 9000)}) == (0, 9000)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            ({"income": "stay"}, {"income": (0, 1000)}),
            "'income' must not change, but its value 2000 lies out",
        ),
        (({"income": "rise"}, {"income": (0, 1000)}), "'income' may only rise, but its value 2000"),
        (({"income": "fall"}, {"income": (3000, 4000)}), "'income' may only fall, but its value 2000"),
        (
            ({"income": Action(values=[5, 6])}, {"income": (10, 20)}),
            "no allowed value of 'income' lies within",
        ),
        (({"income": Action(high=500)}, {"income": (3000, 4000)}), "at least 3000 and at most 2000"),
    ],
)
def test_contradictions_are_named(said, message):
    asked = stated(*said)
    with pytest.raises(ProblemError, match=message):
        asked.domain([30, 2000, 3])


def test_rules_are_rows():
    domain = stated(rules=[Rule({"income": 1, "cards": -100}, low=0, high=5000)]).domain([30, 2000, 3])
    (row,) = domain.rows
    assert row.coefficients.tolist() == [0, 1, -100]
    assert row.name == "0 <= income - 100 cards <= 5000"
    assert domain.contains([30, 2000, 3])
    assert not domain.contains([30, 5400, 3])


def test_rules_with_todays_values_are_rows_of_a_factual():
    asked = stated(rules=["income >= 1.5 * income.now + 100", "age - age.now = 2 * (cards - cards.now)"])
    first, second = asked.domain([30, 2000, 3]).rows
    assert (first.coefficients.tolist(), first.low, first.high) == ([0, 1, 0], 3100, math.inf)
    assert (second.coefficients.tolist(), second.low, second.high) == ([1, 0, -2], 24, 24)
    assert first.name == "income >= 1.5 * income.now + 100"
    assert asked.domain([30, 1000, 3]).rows[0].low == 1600


def test_most_is_the_largest_change():
    assert ends({"income": Action(most=500)}, [30, 2000, 3]) == (1500, 2500)
    assert ends({"income": Action("rise", most=500)}, [30, 2000, 3]) == (2000, 2500)
    assert ends({"income": Action(most=500, low=1800)}, [30, 2000, 3]) == (1800, 2500)
    assert ends({"income": Action(most=500)}, [30, 8800, 3], "data") == (8300, 9000)
    assert ends({"cards": Action(most=1.5, whole=True)}, [30, 1, 3], feature=2) == (2, 4)
    assert ends({"income": Action(most=50, low=3000)}, [30, 2000, 3]) == (2000, 2050)
    with pytest.raises(ProblemError, match="'income' exclude each other: at least 1990 and at most 1000"):
        ends({"income": Action(most=10)}, [30, 2000, 3], {"income": (0, 1000)})
    rng = np.random.default_rng(0)
    for x, most in rng.uniform(0.1, 100, (200, 2)):
        low, high = ends({"income": Action(most=most)}, [30, x, 3])
        assert Fraction(x) - Fraction(low) <= Fraction(most)
        assert Fraction(high) - Fraction(x) <= Fraction(most)


def allowed(domain, j=1):
    """The listed values of a feature within its ends."""
    listed = {s.feature: list(vars(s)["values"]) for s in domain.sets}
    return [v for v in listed.get(j, []) if domain.low[j] <= v <= domain.high[j]]


def step_values(action, x, bounds=None):
    return allowed(stated({"income": action}, bounds).domain([30, x, 3]))


def test_steps_count_from_today():
    assert step_values(Action(step=100, low=1750, high=2200), 2010) == [1810, 1910, 2010, 2110]
    assert step_values(Action(step=0.1, most=0.2), 0.3) == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert step_values(Action("rise", step=4000), 2000, "data") == [2000, 6000]
    assert step_values(Action("fall", step=400, most=1000), 2000) == [1200, 1600, 2000]
    assert step_values(Action(step=4, low=60, high=70), 50) == [62, 66, 70]
    assert step_values(Action(step=100, low=2050, high=2080), 2000) == []
    apart = stated({"income": Action(step=4, low=60, high=70)}).domain([30, 50, 3])
    assert apart.contains([30, 50, 3])
    assert not apart.contains([30, 54, 3])
    whole = ConstraintSet.by_name(NAMES, whole=[2], actions=Actions({"cards": Action(step=0.5, most=1)}))
    assert allowed(whole.domain([30, 1, 3]), 2) == [2, 2.5, 3, 3.5, 4]
    assert "whole" not in whole.declared()


@pytest.mark.parametrize(
    ("action", "bounds", "message"),
    [
        (Action(step=1), None, "the step of 'income' needs ends: give low and high, most, or bounds"),
        (Action("rise", step=1, low=0), None, "the step of 'income' needs ends"),
        (Action(step=0.1), "data", "leads to more than 10,000 values from 0 to 9000"),
        (Action(step=1e-300, most=1), None, "leads to more than 10,000 values"),
        (Action(step=50), {"income": (2010, 2020)}, "no allowed value of 'income' lies within its bounds"),
    ],
)
def test_steps_that_lead_nowhere(action, bounds, message):
    with pytest.raises(ProblemError, match=message):
        step_values(action, 2000, bounds)


def test_as_many_steps_as_possible():
    assert len(step_values(Action(step=0.001, low=0, high=9.999), 5)) == 10_000
    assert step_values(Action(step=1e-9, most=1e-9), 1e9) == [1e9]  # smaller than a double can tell


def test_links_are_equations_between_changes():
    domain = stated(links=[("income", "age", 50)]).domain([30, 2000, 3])
    (row,) = domain.rows
    assert (row.coefficients.tolist(), row.low, row.high) == ([-50, 1, 0], 500, 500)
    assert row.name == "income changes by 50 times the change of age"
    assert domain.contains([32, 2100, 1])
    assert not domain.contains([32, 2101, 1])
    assert Actions(links=[["a", "b", 2]]).links == (("a", "b", 2),)


def test_what_was_declared_gives_the_domain_again():
    said = {
        "age": Action("rise", whole=True, high=60),
        "cards": Action(values=[0, 1, 2], protected=True),
        "income": Action(step=50, most=400),
    }
    for bounds in (None, "data", {"income": (100, None)}, {"income": "data", "age": (0, 90)}):
        first = stated(said, bounds)
        again = read_constraints(first.declared(), tuple(NAMES), RANGE)
        for factual in ([30, 2000, 3], [70.5, 12_000, 1]):
            a, b = first.domain(factual), again.domain(factual)
            np.testing.assert_array_equal([a.low, a.high], [b.low, b.high])
            assert a.sets == b.sets


def test_whole_numbers_are_the_best_whole_numbers(clf, pima):
    """Against every whole number tried by itself."""
    row = pima.X.iloc[3]
    settings = {"budget": 0.05, "gap": 1e-4, "whole": False}
    free = CounterfactualExplainer(clf, **settings).explain(row)
    actions = Actions({"plas": Action(whole=True)})
    e = CounterfactualExplainer(clf, actions=actions, **settings).explain(row)
    assert e.counterfactual["plas"] % 1 == 0
    near = round(free.counterfactual["plas"])
    tried = []
    for value in range(near - 6, near + 7):
        bounds = {**dict.fromkeys(pima.X.columns, "data"), "plas": (value, value)}
        fixed = CounterfactualExplainer(clf, bounds=bounds, **settings).explain(row, on_failure="return")
        tried.append(fixed.distance)
    assert e.distance == pytest.approx(min(tried), rel=2e-4)
    assert e.lower_bound <= min(tried)


PLANE = ["x", "y"]
SAID = {
    "a rule": (
        Actions(rules=["x - y >= x.now - y.now + 0.3"]),
        lambda d: d[:, 0] - d[:, 1] >= 0.3,
    ),
    "an equation": (
        Actions(rules=["2 * x - y = 2 * x.now - y.now + 1"]),
        lambda d: d[:, 1] == 2 * d[:, 0] - 1,
    ),
    "most": (Actions({"x": Action(most=0.8)}), lambda d: np.abs(d[:, 0]) <= 0.8),
    "step": (Actions({"x": Action(step=0.75, low=-9, high=9)}), lambda d: d[:, 0] % 0.75 == 0),
    "most and step": (
        Actions({"y": Action(step=0.4, most=1)}),
        lambda d: np.isin(d[:, 1], np.arange(-2, 3) * 0.4),
    ),
    "a link": (Actions(links=[("y", "x", 0.2)]), lambda d: d[:, 1] == 0.2 * d[:, 0]),
    "another link and step": (
        Actions({"x": Action(step=0.7, low=-9, high=9)}, links=[("y", "x", 0.2)]),
        lambda d: np.isin(d[:, 0], np.arange(-5, 6) * 0.7) & (d[:, 1] == 0.2 * d[:, 0]),
    ),
    "a link and a step": (
        Actions({"x": Action(step=0.75, low=-9, high=9)}, links=[("y", "x", 1)]),
        lambda d: (d[:, 0] % 0.75 == 0) & (d[:, 1] == d[:, 0]),
    ),
    "if it rises": (
        Actions(when=[("x rises", "y >= y.now + 2")]),
        lambda d: (d[:, 0] <= 0) | (d[:, 1] >= 2),
    ),
    "if it changes": (
        Actions(when=[("y changes", "y = y.now + 2"), ("x >= x.now + 1.5", "y stays")]),
        lambda d: ((d[:, 1] == 0) | (np.abs(d[:, 1] - 2) < 1e-9)) & ((d[:, 0] < 1.5) | (d[:, 1] == 0)),
    ),
    "if a sum": (
        Actions(when=[("x + y >= x.now + y.now + 0.5", "x - y >= x.now - y.now + 0.8")]),
        lambda d: (d[:, 0] + d[:, 1] < 0.5) | (d[:, 0] - d[:, 1] >= 0.8),
    ),
    "at most one": (Actions(at_most=1), lambda d: (d == 0).any(axis=1)),
    "at most one of two": (Actions(at_most_of=[(1, ["y", "x"])]), lambda d: (d == 0).any(axis=1)),
    "steps, if-then and at most": (
        Actions({"x": Action(step=0.75, low=-9, high=9)}, when=[("x rises", "x >= x.now + 2")], at_most=1),
        lambda d: (d == 0).any(axis=1) & (d[:, 0] % 0.75 == 0) & ((d[:, 0] <= 0) | (d[:, 0] >= 2)),
    ),
}


@pytest.fixture(scope="module")
def plane():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(
        np.vstack([rng.normal(0, 1, (80, 2)), rng.normal([2, 1.5], [1, 0.7], (80, 2))]), columns=PLANE
    )
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, np.repeat([0, 1], 80))
    return clf, pd.Series([-0.5, -0.25], index=PLANE)


def tried(clf, e, allowed):
    """The nearest of many points that the actions allow: on a grid, on steps and on lines."""
    fine = np.arange(-400, 401) * 0.01
    steps = np.array([-1.5, -0.75, 0.75, 1.5, 2.25, 3.0, -0.8, 0.8, 0.4, -0.4, *(np.arange(-5, 6) * 0.7)])
    side = np.unique(np.concatenate([fine, steps]))
    change = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    line = np.concatenate([np.arange(-4000, 4001) * 0.001, side])
    lines = [np.column_stack([line, f]) for f in (2 * line - 1, 0.2 * line, line)]
    change = np.vstack([change, *lines])
    change = change[allowed(change)]
    points = pd.DataFrame(e.factual.to_numpy() + change, columns=PLANE)
    good = clf.predict_proba(points)[:, 1] >= 0.5
    assert good.any()
    metric = e.question.family(clf).problem().metric
    return float(np.max(np.abs(metric.matrix @ change[good].T), axis=0).min())


@pytest.mark.parametrize("kind", SAID)
def test_the_optimum_is_that_of_trying_everything(plane, kind):
    clf, row = plane
    actions, allowed = SAID[kind]
    settings = {"bounds": None, "whole": False, "gap": 1e-4}
    free = CounterfactualExplainer(clf, **settings).explain(row, target=1)
    change = (free.counterfactual - row).to_numpy()[None]
    assert not allowed(change)[0]  # what is asked for matters
    e = CounterfactualExplainer(clf, actions=actions, **settings).explain(row, target=1)
    assert e.status is Status.OPTIMAL
    best = tried(clf, e, allowed)
    assert e.lower_bound <= best * (1 + 1e-9)
    assert e.distance <= best * (1 + 1e-4)
    assert e.distance >= best - 0.03
    assert free.distance < e.distance * (1 - 1e-3)


@pytest.mark.parametrize("kind", SAID)
def test_both_checkers_accept_every_kind(plane, kind):
    clf, row = plane
    explainer = CounterfactualExplainer(
        clf, budget=0.05, actions=SAID[kind][0], bounds=dict.fromkeys(PLANE, (-9, 9))
    )
    e = explainer.explain(row, target=1)
    again = Explanation.from_json(e.to_json())
    for exact in (False, True):
        found = verify(again, clf, exact=exact)
        assert found.ok, str(found)
    content = e.to_json()
    declared = e.question.declared
    said = [key for key in ("actions", "rules", "links", "when", "at_most") if declared.get(key)]
    assert said
    for key in said:  # what was searched must be what is said to have been asked
        forged = json.loads(content)
        del forged["question"]["domain"]["declared"][key]
        with pytest.raises(DataError, match=r"(is|are) not what the declared constraints say"):
            Explanation.from_json(json.dumps(forged))


PRICES = {
    "dear to raise": Actions({"x": Action(cost=(4, 1)), "y": Action(cost=(1, 4))}),
    "cheap": Actions({"x": Action(cost=0.25)}),
    "none said": Actions(),
    "if-then": Actions({"y": Action(cost=(3, 1))}, when=[("x rises", "y >= y.now + 1")]),
    "at most one": Actions({"x": Action(cost=2)}, at_most=1),
}
KEPT = {
    "if-then": lambda d: (d[:, 0] <= 0) | (d[:, 1] >= 1),
    "at most one": lambda d: (d == 0).any(axis=1),
}


@pytest.mark.parametrize(("kind", "norm"), covering(PRICES, [1, 2, np.inf]))
def test_the_cheapest_change_is_that_of_trying_everything(plane, kind, norm):
    clf, row = plane
    actions = PRICES[kind]
    settings = {"distance": "cost", "norm": norm, "bounds": dict.fromkeys(PLANE, (-5, 5)), "whole": False}
    e = CounterfactualExplainer(clf, actions=actions, gap=1e-3, **settings).explain(row, target=1)
    assert e.status is Status.OPTIMAL
    side = np.arange(-400, 401) * 0.01
    change = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    change = change[KEPT[kind](change)] if kind in KEPT else change
    points = pd.DataFrame(row.to_numpy() + change, columns=PLANE)
    good = change[clf.predict_proba(points)[:, 1] >= 0.5]
    sigma = np.sqrt(np.diag(clf.network(0).covariance))
    pairs = [_pair(actions.features.get(name, Action()).cost) for name in PLANE]
    up, down = (np.array(side) for side in zip(*pairs, strict=True))
    costs = np.linalg.norm(np.where(good > 0, up, down) * np.abs(good) / sigma, ord=norm, axis=1)
    assert e.lower_bound <= costs.min() * (1 + 1e-9)
    assert costs.min() - 0.1 <= e.distance <= costs.min() * (1 + 1e-3)
    moved = (e.counterfactual - row).to_numpy()
    own = np.linalg.norm(np.where(moved > 0, up, down) * np.abs(moved) / sigma, ord=norm)
    assert e.distance == pytest.approx(own, rel=1e-6)
    assert e.question.prices == tuple(map(tuple, zip(up, down, strict=True)))
    again = Explanation.from_json(e.to_json())
    assert verify(again, clf).ok, str(verify(again, clf))


def _pair(cost):
    return (1.0, 1.0) if cost is None else cost if isinstance(cost, tuple) else (cost, cost)


def test_prices_belong_to_the_cost(clf, pima):
    priced = Actions({"plas": Action(cost=(1, 3))})
    with pytest.warns(SurefootWarning, match="'plas' has a price, which counts with distance='cost' only"):
        e = CounterfactualExplainer(clf, actions=priced).explain(pima.X.iloc[0])
    plain = CounterfactualExplainer(clf).explain(pima.X.iloc[0])
    assert (e.distance, e.lower_bound) == (plain.distance, plain.lower_bound)
    assert "cost" not in " ".join(allowed_words(e.question))
    assert verify(Explanation.from_json(e.to_json()), clf).ok
    for wrong in ("euclidean", None, ["cost"]):
        with pytest.raises(ProblemError, match="distance must be 'mahalanobis' or 'cost', not"):
            CounterfactualExplainer(clf, distance=wrong)
    e = CounterfactualExplainer(clf, actions=priced, distance="cost", norm=1).explain(pima.X.iloc[3])
    assert "plas costs 1 up and 3 down for each standard deviation" in allowed_words(e.question)
    assert question_words(e.question).startswith("What is the cheapest change that gives ")
    assert "Cheapest: the cost is" in str(e)
    forged = json.loads(e.to_json())
    forged["question"]["distance"]["prices"][1] = [3.0, 1.0]
    with pytest.raises(
        DataError, match="the prices of the numbers are not what the declared constraints say"
    ):
        Explanation.from_json(json.dumps(forged))


def test_numbers_that_were_whole_stay_whole(clf, pima):
    """Unless an action of the feature, or the explainer, says otherwise."""
    row, whole = pima.X.iloc[3], ["preg", "plas", "pres", "skin", "insu", "age"]
    e = CounterfactualExplainer(clf, norm=2).explain(row)
    assert [pima.X.columns[s.feature] for s in e.question.domain.sets] == whole
    assert (e.counterfactual[whole] % 1 == 0).all()
    assert e.counterfactual["mass"] % 1 != 0
    lifted = CounterfactualExplainer(clf, norm=2, actions=Actions({"plas": Action(whole=False)})).explain(row)
    assert lifted.counterfactual["plas"] % 1 != 0
    assert (lifted.counterfactual[[name for name in whole if name != "plas"]] % 1 == 0).all()
    free = CounterfactualExplainer(clf, norm=2, whole=False).explain(row)
    assert free.question.domain.sets == ()
    assert free.lower_bound <= lifted.distance
    assert lifted.lower_bound <= e.distance
    with pytest.raises(ProblemError, match="whole must be None or False, not True"):
        CounterfactualExplainer(clf, whole=True)


def test_whole_numbers_from_the_data_are_declared_and_can_be_given_up():
    asked = ConstraintSet.by_name(NAMES, whole=[0, 2], actions=Actions({"age": Action(values=[40, 50])}))
    assert asked.declared()["whole"] == ["cards"]
    domain = asked.domain([30, 1, 2.5])
    assert [s.feature for s in domain.sets] == [0, 2]
    assert domain.contains([40, 1.5, 7])
    assert not domain.contains([41, 1.5, 7])
    assert not domain.contains([40, 1.5, 7.5])
    (given_up,) = [part for part in relaxations(asked) if part.lifted == "'cards' may take any number"]
    assert [s.feature for s in without(asked, [given_up]).domain([30, 1, 2.5]).sets] == [0]
    assert ConstraintSet.by_name(NAMES, whole=[0], immutable=["age"]).declared() == {
        "bounds": None,
        "actions": {"age": {"may": "stay"}},
    }


@pytest.mark.parametrize(
    ("method", "seconds"), only([("certified", 5), ("qcqp", 2)], [("certified", 5), ("qcqp", 2), ("milp", 5)])
)
def test_actions_are_never_violated(clf, pima, method, seconds):
    row = pima.X.iloc[8]
    actions = Actions(
        {
            "age": "stay",
            "preg": Action("rise", whole=True),
            "plas": Action(values=[100, 110.5, 150], low=90),
            "mass": Action("fall", low=25),
        },
        rules=[Rule({"mass": 1, "skin": 0.5}, high=50)],
    )
    # Whether the optimum is proven in time does not matter here.
    explainer = CounterfactualExplainer(clf, budget=0.02, actions=actions, method=method, time_limit=seconds)
    e = explainer.explain(row, target=0, on_failure="return")
    assert e.counterfactual is not None, e
    x = e.counterfactual
    assert x["age"] == row["age"]
    assert x["preg"] >= row["preg"]
    assert x["preg"] % 1 == 0
    assert x["plas"] in (100, 110.5, 150, row["plas"])
    assert 25 <= x["mass"] <= row["mass"]
    assert x["mass"] + 0.5 * x["skin"] <= 50
    assert e.question.domain.contains(x)


def test_what_must_not_change_lands_exactly(clf, pima):
    row = pima.X.iloc[3]
    exact = CounterfactualExplainer(clf, budget=0.1, immutable=["age"]).explain(row)
    noisy = CounterfactualExplainer(clf, budget=0.1, immutable=["age"], noise_on="all").explain(row)
    age = list(pima.X.columns).index("age")
    assert exact.question.exact == (age,)
    assert noisy.question.exact == ()
    assert exact.answer.worst[age] == 0
    assert noisy.answer.worst[age] != 0
    assert "no error in age" in question_words(exact.question)


def test_a_budget_by_feature(clf, pima):
    row = pima.X.iloc[3]
    e = CounterfactualExplainer(clf, budget={"plas": 5, "mass": (0.5, 1)}).explain(row)
    assert e.budget == {"plas": (5.0, 5.0), "mass": (0.5, 1.0)}
    assert e.coverage == 1
    assert e.certified_radius >= 1
    names = list(pima.X.columns)
    rng = np.random.default_rng(0)
    points = np.tile(e.counterfactual.to_numpy(), (2000, 1))
    points[:, names.index("plas")] += rng.uniform(-5, 5, 2000)
    points[:, names.index("mass")] += rng.uniform(-0.5, 1, 2000)
    assert (clf.predict(pd.DataFrame(points, columns=names)) == e.target).all()
    assert "an error of up to 5 in plas, 0.5 below or 1 above in mass" in str(e)


@pytest.mark.parametrize(
    ("budget", "error", "message"),
    [
        ({"height": 1}, ProblemError, "budget: unknown feature 'height'"),
        ({"plas": -1}, DataError, "the budget of 'plas' must be a finite number >= 0"),
        ({"plas": (1, 2, 3)}, DataError, "a number or a pair"),
        ({"plas": "a"}, DataError, "must be a finite number"),
        ({"plas": 1, 1: 2}, ProblemError, "names 'plas' twice"),
        (5e-324, DataError, "budget must be 0 or at least 1e-09, not 5e-324"),
        (math.inf, DataError, "budget must be a finite number"),
        (True, DataError, "budget must be a finite number"),
    ],
)
def test_budgets_are_checked(clf, budget, error, message):
    with pytest.raises(error, match=message):
        CounterfactualExplainer(clf, budget=budget)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (Actions({"plas": Action(cost=1e308)}), "a price of 'plas' is 1e.308; it must be 0, or of a size"),
        (Actions({"plas": Action(cost=(1e-20, 1))}), "a price of 'plas' is 1e-20"),
        (Actions(links=[("plas", "mass", 1e308)]), "the coefficient of 'mass' in the rule 'plas changes by"),
        (Actions(rules=["1e300*plas - 1e300*mass = 0"]), "the coefficient of 'plas' in the rule '1e300"),
        (
            Actions(rules=["1e-11*plas >= 1"]),
            "the coefficient of 'plas' in the rule '1e-11.plas >= 1' is 1e-11",
        ),
    ],
)
def test_numbers_with_which_nothing_can_be_proved(clf, actions, message):
    with pytest.raises(ProblemError, match=message):
        CounterfactualExplainer(clf, actions=actions, distance="cost")


def test_nothing_can_miss(clf, pima):
    row = pima.X.iloc[3]
    assert CounterfactualExplainer(clf, budget={"plas": 0}).explain(row).budget == 0
    e = CounterfactualExplainer(clf, budget=0.5, immutable=list(pima.X.columns)).explain(
        row, target=clf.predict(pima.X)[3]
    )
    assert e.status is Status.ALREADY_TARGET
    assert e.coverage == 1


def test_what_is_printed_is_what_was_declared(clf, pima):
    """A feature at the end of its range is not said to move one way only."""
    row = pima.X.iloc[0].copy()
    row["insu"] = pima.X["insu"].min()
    e = CounterfactualExplainer(clf, budget=0.05).explain(row)
    assert e.low["insu"] == row["insu"]
    assert allowed_words(e.question) == (
        "every feature stays within the range seen in training",
        "preg, plas, pres, skin, insu, age stay whole numbers, as in the training data",
    )
    assert "only rise" not in str(e)
    actions = Actions({"insu": "rise", "preg": Action(whole=True)}, rules=[Rule({"mass": 1}, high=60)])
    e = CounterfactualExplainer(clf, bounds={"plas": (80, None)}, immutable=["age"], actions=actions).explain(
        row
    )
    assert allowed_words(e.question) == (
        "plas at least 80",
        "age must not change",
        "insu may only rise",
        "preg takes whole numbers only, or stays as it is",
        "plas, pres, skin, insu stay whole numbers, as in the training data",
        "mass <= 60",
    )
    assert "Allowed: plas at least 80; age must not change; insu may only rise;" in str(e)
    fractional = Actions(dict.fromkeys(("preg", "plas", "pres", "skin", "insu"), Action(whole=False)))
    e = CounterfactualExplainer(clf, actions=fractional).explain(row)
    assert "age stays a whole number, as in the training data" in allowed_words(e.question)
    assert allowed_words(CounterfactualExplainer(clf, bounds=None, whole=False).explain(row).question) == (
        "every feature may take any value",
    )


@pytest.mark.parametrize("value", [{"age": "stay"}, ["stay"], 3])
def test_only_actions_are_actions(clf, value):
    with pytest.raises(ProblemError, match="actions must be a surefoot"):
        CounterfactualExplainer(clf, actions=value)


@pytest.mark.parametrize(
    ("row", "norm", "distance", "said"),
    [
        (264, 1, "mahalanobis", {"links": [("preg", "mass", 1.0)]}),
        (367, 2, "mahalanobis", {"features": {"insu": "stay"}, "links": [("plas", "mass", 1.0)]}),
        (92, 2, "cost", {"features": {"mass": "stay"}, "links": [("insu", "plas", 0.5)]}),
        (
            737,
            2,
            "mahalanobis",
            {
                "links": [("age", "plas", 1.0)],
                "rules": ["age + pres <= age.now + pres.now"],
                "at_most": 4,
            },
        ),
    ],
)
def test_proofs_with_equations_are_accepted(clf, pima, row, norm, distance, said):
    asked = CounterfactualExplainer(
        clf, actions=Actions(**said), norm=norm, distance=distance, budget=0.05, gap=0.01
    )
    e = asked.explain(pima.X.iloc[row])
    assert e.status is Status.OPTIMAL
    assert verify(e, clf).ok, str(verify(e, clf))
    assert verify(e, clf, exact=True).ok


def test_what_is_linked_to_a_kept_feature_is_kept():
    names, today = ["age", "tenure", "rank", "income"], [40.0, 10.0, 3.0, 2.0]
    said = Actions({"age": "stay"}, links=[("rank", "tenure", 0.5), ("tenure", "age", 1.0)])
    domain = ConstraintSet.by_name(names, actions=said).domain(today)
    assert domain.low.tolist() == [40, 10, 3, -np.inf]
    assert domain.high.tolist() == [40, 10, 3, np.inf]
    assert domain.rows == ()
    free = ConstraintSet.by_name(names, actions=Actions(links=said.links)).domain(today)
    assert len(free.rows) == 2
    # Where today's value is not allowed, the link must not hide it.
    outside = ConstraintSet.by_name(names, actions=said, bounds={"tenure": (11, 20)}).domain(today)
    assert (outside.low[1], outside.high[1], len(outside.rows)) == (11, 20, 2)


def test_a_kind_that_gives_its_rules_needs_no_more():
    class Twice(Constraint):
        def rules(self):
            return (Rule({"income": 1, "cards": -2}, low=0), Rule({"age": 1, "cards": -1}, low=1))

    table = pd.DataFrame({"age": [30, 3], "income": [5, 9], "cards": [3, 3]})
    today = Today(tuple(table.columns), {}, table.loc[0].to_numpy(float), {})
    assert [row.coefficients.tolist() for row in Twice().rows(today)] == [[0, 1, -2], [1, 0, -1]]
    assert Twice().added_up() == ("income", "cards", "age")
    assert [(one.row, one.wish) for one in Twice().broken(table)] == [
        (0, "income - 2 cards >= 0"),
        (1, "age - cards >= 1"),
    ]


def test_constraints_of_any_kind_are_those_of_their_arguments():
    from surefoot.explain.constraints.at_most import AtMost
    from surefoot.explain.constraints.if_then import When
    from surefoot.explain.constraints.link import Link

    some = [AtMost(2), AtMost(1, ("a", "b")), Link("a", "b", 1.0), When("a rises", "b falls")]
    said = Actions(constraints=[*some, Rule({"a": 1}, low=0)])
    assert said == Actions(
        rules=[Rule({"a": 1}, low=0)],
        when=[("a rises", "b falls")],
        at_most=2,
        at_most_of=[(1, ["a", "b"])],
        links=[("a", "b", 1.0)],
    )
    for wrong, message in (
        (Link("a", "a", 1.0), "'a' is linked to itself"),
        (Link("a", "b", "x"), "the factor of a link must be a finite number"),
        (AtMost(0, ("a",)), "must be a positive integer"),
        (AtMost("q"), "at_most must be a positive integer"),
        (When("a", "b"), "cannot be read"),
        ("a <= 1", "constraints must hold constraints of surefoot"),
    ):
        with pytest.raises(ProblemError, match=message):
            Actions(constraints=[wrong])
