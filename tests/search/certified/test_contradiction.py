"""Rows that exclude each other where the domain has no ends: proved at any distance."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, verify
from surefoot.problem.domain import Domain
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.problem.row import Row
from surefoot.proof import exact
from surefoot.search.certified.contradiction import _dependence, _doubles, _written, contradiction
from surefoot.search.certified.region import Region
from surefoot.search.certified.space import whitened
from surefoot.status import Status
from tests.asking import CounterfactualExplainer
from tests.mixed_tables import lender, refused_rows
from tests.proof import handmade

CONFLICTS = [
    ["plas + mass >= 300", "plas + mass <= 200"],
    ["plas + mass >= 300", "plas - mass <= 10", "mass <= 40"],
    ["0.247 * plas + mass >= 100", "mass + 0.31 * age <= 40", "0.247 * plas - 0.31 * age <= 20"],
]


@pytest.fixture(scope="module")
def pima(bundled):
    data = bundled["pima"]
    return data, ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)


def answered(pima, norm=np.inf, **said):
    data, clf = pima
    loose = Actions({name: Action(whole=False) for name in data.X}, **said)
    explainer = CounterfactualExplainer(clf, actions=loose, bounds=None, norm=norm)
    return explainer.explain(data.X.iloc[3], on_failure="return")


def assert_infeasible(e, clf):
    assert e.status is Status.INFEASIBLE
    assert e.lower_bound == math.inf
    assert verify(e, clf).ok


@pytest.mark.parametrize("norm", [np.inf, 1, 2])
@pytest.mark.parametrize("rules", CONFLICTS)
def test_rules_that_exclude_each_other(pima, norm, rules):
    e = answered(pima, norm, rules=rules)
    assert_infeasible(e, pima[1])
    assert len(e.conflict) == len(rules)


def test_rules_that_leave_little(pima):
    e = answered(pima, rules=["plas + mass >= 200", "plas + mass <= 201"])
    assert e.status is Status.OPTIMAL


def test_ways_that_exclude_the_rules(pima):
    """Either way contradicts a rule: the proof takes both."""
    e = answered(
        pima,
        rules=["plas + mass >= 300", "plas + 2 * age <= 100", "mass - 2 * age <= 10"],
        when=[("preg rises", "insu falls")],
    )
    assert_infeasible(e, pima[1])


def test_whole_numbers_limits_and_prices(pima):
    data, clf = pima
    row, rules = data.X.iloc[3], CONFLICTS[1]
    for said in ({}, {"at_most": 2}, {"links": [("pres", "mass", 2.0)]}):
        explainer = CounterfactualExplainer(clf, actions=Actions(rules=rules, **said), bounds=None)
        assert_infeasible(explainer.explain(row, on_failure="return"), clf)
    priced = Actions({"plas": Action(cost=(2.0, 1.0))}, rules=rules)
    for norm in (np.inf, 1):
        explainer = CounterfactualExplainer(clf, actions=priced, bounds=None, norm=norm, distance="cost")
        assert_infeasible(explainer.explain(row, on_failure="return"), clf)


def test_every_state_of_categories():
    table = lender()
    row = refused_rows(table, 1)[0]
    first, second = [n for n, kind in table.feature_kinds_.items() if kind != "category"][:2]
    rules = [f"`{first}` + `{second}` >= 9", f"`{first}` + `{second}` <= 5"]
    e = CounterfactualExplainer(table, actions=Actions(rules=rules), bounds=None).explain(
        row, on_failure="return"
    )
    assert_infeasible(e, table)


def open_space(rows, low, high):
    n = len(low)
    whitening = Whitening(np.diag(np.arange(1.0, n + 1)), "cholesky")
    margin = Requirement(Quadratic(np.eye(n), np.ones(n), -1.0))
    domain = Domain(low, high, tuple(Row(a, -np.inf, b, str(k)) for k, (a, b) in enumerate(rows)))
    ball = Ball.whitened(whitening, 2, 0.0)
    return whitened(RobustProblem(np.zeros(n), (margin,), Metric(whitening, 2.0), ball, domain))


@pytest.mark.parametrize("seed", range(40))
def test_weights_cancel_to_the_last_digit(seed):
    """Against a linear program: there are weights where nothing is allowed; their sum depends on nothing."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(3, 9))
    A, b = np.round(rng.normal(size=(m, n)), 3), np.round(rng.normal(size=m) + 0.3, 3)
    ends = np.where(rng.uniform(size=n) < 0.3, -1.0, -np.inf), np.full(n, np.inf)
    space = open_space(list(zip(A, b, strict=True)), *ends)
    feasible = linprog(np.zeros(n), A, b, bounds=list(zip(*ends, strict=True))).status == 0
    leaf = contradiction(space, Region())
    assert (leaf is None) == feasible
    if leaf is None:
        return
    total, constant = [Fraction(0)] * n, Fraction(0)
    for weight, (kind, k, _), one in leaf.products:
        assert weight > 0
        assert one == ["1"]
        slopes, end = (-A[k], b[k]) if kind == "r" else (np.eye(n)[k], 1.0)
        total = [t + Fraction(weight) * Fraction(float(a)) for t, a in zip(total, slopes, strict=True)]
        constant += Fraction(weight) * Fraction(float(end))
    assert not any(total)
    assert constant < 0


def test_dependences():
    def found(*rows):
        return _dependence([[Fraction(v) for v in row] for row in rows])

    assert found((1, 0), (-2, 0)) == [2, 1]
    assert found((1, 2), (1, -1), (-3, 0)) == [1, 2, 1]
    assert found((1, 0), (2, 0)) == []  # a weight would be negative
    assert found((1, 0), (0, 1)) == []  # independent
    assert found((1, 0), (-1, 0), (-1, 0)) == []  # more than one
    assert found((0, 0)) == []


def test_weights_are_sums_of_doubles():
    for whole in (1, 3 << 60, (1 << 200) + 1, 7**100):
        parts = _doubles(whole, 300)
        assert sum(map(Fraction, parts)) == Fraction(whole, 1 << 300)
        assert min(parts) > 0
    assert _written([Fraction(1, 3), Fraction(1)]) == [[0.25], [0.75]]
    assert _written([Fraction(1), Fraction(1 << 1000)]) == []


# ----- what checkers must not accept ------------------------------------------------------------------------


def verdict(clf, e, edit):
    """What the checker says of the lower bound when the leaf's products are others."""
    model, document = handmade.model_document(clf), json.loads(e.to_json())
    leaf = document["certificate"]["bound"]["tree"]
    leaf["products"] = edit(leaf["products"])
    return next(claim.verdict for claim in exact.check([model], document) if claim.name == "lower bound")


def test_forged_weights(pima):
    e, clf = answered(pima, rules=CONFLICTS[2]), pima[1]
    assert verdict(clf, e, lambda products: products) == "holds"
    assert verdict(clf, e, lambda products: []) == "not proved"  # zero is not negative
    weight = json.loads(e.to_json())["certificate"]["bound"]["tree"]["products"][0][0]
    for other in (math.nextafter(weight, 0), math.nextafter(weight, 9), 2 * weight):
        assert verdict(clf, e, lambda p, w=other: [[w, *p[0][1:]], *p[1:]]) == "not proved"
    # A product of two rows bends the sum upwards, and one that adds a slope makes it positive somewhere.
    assert verdict(clf, e, lambda p: [*p, [1e-9, ["r", 0, "low"], ["r", 0, "low"]]]) == "not proved"
    assert verdict(clf, e, lambda p: [*p, [1e-9, ["r", 0, "low"], ["1"]]]) == "not proved"
    assert verdict(clf, e, lambda p: [*p, [1e9, ["1"], ["1"]]]) == "not proved"


def full(rows):
    return np.array([[rows[max(i, j)][min(i, j)] for j in range(len(rows))] for i in range(len(rows))])


def test_only_coordinates_that_nothing_depends_on_are_left_out():
    """All matrices of three coordinates and 1 with entries -1, 0 and 1 in some places."""
    for a, b, c, d, e, f in itertools.product((-1, 0, 1), repeat=6):
        rows = [[a], [b, c], [0, 0, 0], [d, e, 0, f]]
        left = exact.depended_on(rows)
        whole = full(rows)
        kept = [i for i in range(4) if i == 3 or whole[i].any()]
        assert np.array_equal(full(left), whole[np.ix_(kept, kept)])
        # Minus the function is above zero everywhere if it is above some positive number everywhere.
        assert exact.definite(left) == bool((np.linalg.eigvalsh(full(left)) > 1e-9).all())
    assert exact.depended_on([[0]]) == [[0]]
    assert not exact.definite(exact.depended_on([[0], [0, 0]]))
