"""Domains that allow nothing are recognised before anything is searched, others never."""

import itertools

import numpy as np
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, datasets, verify
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.either import Either, Way
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.problem.row import Row
from surefoot.search.certified import emptiness
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.emptiness import allows_nothing
from surefoot.search.certified.region import Region
from surefoot.search.certified.space import whitened
from surefoot.status import Status
from tests.asking import CounterfactualExplainer
from tests.thinning import every, only


def random_domain(rng):
    """Three features between -4 and 4, all of them whole numbers, some rules and if-then rules."""
    n = 3
    low, high = np.full(n, -4.0), np.full(n, 4.0)
    sets = tuple(ValueSet(j, None, 0.0) for j in range(n))

    def row():
        a = rng.integers(-3, 4, n).astype(float)
        while np.count_nonzero(a) < 2:
            a = rng.integers(-3, 4, n).astype(float)
        least = float(rng.integers(-6, 7)) + rng.choice([0.0, 0.3])
        return Row(a, least, least + rng.choice([0.4, 1.0, 20.0]), "rule")

    rows = tuple(row() for _ in range(rng.integers(1, 4)))
    eithers = tuple(Either((Way((row(),)), Way((row(),))), "then") for _ in range(rng.integers(0, 3)))
    return Domain(low, high, rows, sets, eithers)


def space_of(domain):
    n = domain.n_features
    whitening = Whitening(np.diag(np.arange(1.0, n + 1)), "cholesky")
    margin = Requirement(Quadratic(np.eye(n), np.ones(n), -1.0))
    problem = RobustProblem(
        np.zeros(n), (margin,), Metric(whitening, 2.0), Ball.whitened(whitening, 2, 0.0), domain
    )
    return whitened(problem)


@pytest.mark.parametrize("seed", every(4, range(150)))
def test_against_all_points(seed, monkeypatch):
    """Given time it is always found out; otherwise the search goes on."""
    domain = random_domain(np.random.default_rng(seed))
    points = itertools.product(range(-4, 5), repeat=3)
    something = any(domain.contains(np.array(x, dtype=float)) for x in points)
    if something:
        assert not allows_nothing(space_of(domain), Region(), Clock(60.0))
    monkeypatch.setattr(emptiness, "MOST_PARTS", 5_000)
    whole = Region()
    nothing = allows_nothing(space_of(domain), whole, Clock(60.0))
    assert nothing == (not something)
    if nothing:
        assert all(leaf.bound == np.inf and leaf.leaf is not None for leaf in whole.leaves())


@pytest.fixture(scope="module")
def credit():
    data = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    long = (clf.predict(data.X) == "bad") & (data.X["housing"] == "own") & (data.X["duration_months"] > 41)
    return clf, data.X[long].iloc[0]


SHORT, LONG = "duration_months <= 20", "duration_months >= 60"
DEAR, CHEAP = "credit_amount >= 100 * duration_months", "credit_amount <= 500"
OWNERS = ("housing is own", "duration_months >= 40")
CONFLICTS = {
    "rules": (Actions(rules=[CHEAP, LONG, DEAR]), 3),
    "rules, few changes": (Actions(rules=[CHEAP, DEAR, LONG], at_most=2), 3),
    "if-then": (Actions(rules=[SHORT], when=[("credit_amount >= 0", "duration_months >= 40")]), 2),
    "if a category, then": (Actions({"housing": "stay"}, rules=[SHORT], when=[OWNERS]), 3),
    "a link": (
        Actions(
            {"age": "stay"},
            rules=["duration_months <= duration_months.now - 3"],
            links=[("duration_months", "age", 1.0)],
        ),
        3,
    ),
    "nothing whole between": (Actions(rules=["duration_months >= 20.2", "duration_months <= 20.8"]), 3),
    "no value between": (
        Actions(
            {"duration_months": Action(values=[12, 24])},
            rules=["duration_months >= 30", "duration_months <= 40"],
        ),
        3,
    ),
    "odd and even": (Actions(rules=["2 * duration_months + 4 * age = 101"]), 3),
}


@pytest.mark.parametrize(
    "name",
    only([name for name in CONFLICTS if name not in ("rules, few changes", "odd and even")], CONFLICTS),
)
def test_conflicts_are_named_whatever_the_categories_are(credit, name):
    """The tree has 250 shapes of densities: one proof does for all; just these constraints are named."""
    clf, row = credit
    actions, count = CONFLICTS[name]
    e = CounterfactualExplainer(clf, budget=0.05, actions=actions).explain(row, "good", on_failure="return")
    assert e.status is Status.INFEASIBLE
    assert len(e.certificate["states"]["proofs"]) == 1
    assert e.certificate["states"]["proofs"][0]["shape"] is None
    assert verify(e, clf).ok
    assert len(e.conflict) == count
    assert "time was over" not in e.advice


def test_where_another_category_helps_there_is_an_answer(credit):
    """The rule binds only those who own: whoever may move is not refuted by the same proof."""
    clf, row = credit
    actions = Actions(rules=[SHORT], when=[OWNERS])
    e = CounterfactualExplainer(clf, actions=actions).explain(row, "good")
    assert e.counterfactual["housing"] != "own"
    assert e.counterfactual["duration_months"] <= 20
    assert verify(e, clf).ok
