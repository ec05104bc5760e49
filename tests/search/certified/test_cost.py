"""Distances that are prices: against all orthants one by one, against SCIP, sparse, and proved."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, verify
from surefoot.exceptions import ProblemError
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.certified import certified_search, certified_states
from surefoot.search.certified.answer import certificate
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.lattice import fits
from surefoot.search.certified.prices import Prices
from surefoot.search.certified.proof import proof_of
from surefoot.search.certified.region import Cut, Region
from surefoot.search.certified.search import Search
from surefoot.search.certified.space import whitened
from surefoot.search.certified.units import in_units
from surefoot.search.paper.cutting_set import cutting_set
from surefoot.search.paper.formulations import MilpFormulation, QcqpFormulation
from surefoot.search.paper.program import Options
from surefoot.status import Status
from tests.asking import CounterfactualExplainer
from tests.families import all_states, random_family
from tests.mixed_tables import lender, refused_rows
from tests.search.certified.cost_problems import NORMS, cost_problem
from tests.thinning import covering

GAP = 1e-3


def by_orthants(problem, gap=4e-4):
    """Least distance and bound over the orthants, in each of which every feature has one price."""
    metric, domain, x0 = problem.metric, problem.domain, problem.factual
    best, bound = np.inf, np.inf
    for signs in itertools.product((1, -1), repeat=problem.n_features):
        rises = np.array(signs) > 0
        low, high = np.where(rises, np.maximum(domain.low, x0), domain.low), domain.high
        high = np.where(rises, high, np.minimum(high, x0))
        if (low > high).any():
            continue
        plain = Metric(Whitening(np.diag(np.where(rises, metric.up, metric.down)), "cholesky"), metric.norm)
        part = replace(problem, metric=plain, domain=replace(domain, low=low, high=high))
        found = certified_search(part, gap, 20.0)
        best = best if found.point is None else min(best, problem.distance(found.point))
        bound = min(bound, found.lower_bound)
    return best, bound


def check(problem, found):
    """A point that is allowed, robust and inside its gap."""
    assert found.status is Status.OPTIMAL
    assert problem.domain.contains(found.point)
    assert worst_perturbation(problem, found.point).violation <= 1e-9
    assert found.radius >= problem.budget or problem.ball.is_point
    distance = problem.distance(found.point)
    assert distance - found.lower_bound <= max(GAP * distance, 1e-6) * (1 + 1e-9)
    return distance


@pytest.mark.parametrize(("seed", "norm"), covering([0, 1, 2, 4, 5, 6], NORMS))
def test_prices_agree_with_the_orthants(seed, norm):
    problem = cost_problem(seed, norm=norm, n=2 + seed % 2)
    found = certified_search(problem, GAP, 30.0)
    best, bound = by_orthants(problem)
    if found.status is Status.INFEASIBLE:
        assert best == np.inf
        return
    distance = check(problem, found)
    assert found.lower_bound <= best * (1 + 1e-9)
    assert bound * (1 - 1e-9) <= distance <= best * (1 + 1.2 * GAP) + 1e-6


@pytest.mark.parametrize("norm", NORMS)
def test_four_features_with_a_budget(norm):
    problem = cost_problem(
        3, norm=norm, n=4, budget=0.05, kind="general", box=norm == 2, whole=norm == np.inf
    )
    distance = check(problem, certified_search(problem, GAP, 60.0))
    best, bound = by_orthants(problem)
    assert bound * (1 - 1e-9) <= distance <= best * (1 + 1.2 * GAP) + 1e-6


def scip_distance(problem):
    """The optimum of a problem without noise, from SCIP: a rise and a fall of each feature as variables."""
    scip = pytest.importorskip("pyscipopt")
    model, n = scip.Model(), problem.n_features
    model.hideOutput()
    model.setParam("limits/gap", 1e-5)
    model.setParam("limits/time", 10)
    whole = {s.feature for s in problem.domain.sets}
    d, cost = [], []
    for j in range(n):
        ends = problem.domain.low[j] - problem.factual[j], problem.domain.high[j] - problem.factual[j]
        low, high = (None if np.isinf(end) else float(end) for end in ends)
        d.append(model.addVar(vtype="I" if j in whole else "C", lb=low, ub=high))
        cost.append(model.addVar(lb=0.0))
        model.addCons(cost[j] >= float(problem.metric.up[j]) * d[j])
        model.addCons(cost[j] >= -float(problem.metric.down[j]) * d[j])
    for row in problem.domain.rows:
        value = scip.quicksum(float(a) * v for a, v in zip(row.coefficients, d, strict=True))
        model.addCons(value <= row.high - float(row.coefficients @ problem.factual))
    for g in problem.margins:
        slope, at = g.gradient(problem.factual), float(g(problem.factual))
        terms = [float(g.matrix[i, j]) * d[i] * d[j] for i in range(n) for j in range(n)]
        model.addCons(scip.quicksum(terms + [float(s) * v for s, v in zip(slope, d, strict=True)]) >= -at)
    total = model.addVar(lb=0.0)
    if problem.norm == np.inf:
        for c in cost:
            model.addCons(total >= c)
    elif problem.norm == 1:
        model.addCons(total >= scip.quicksum(cost))
    else:
        model.addCons(total * total >= scip.quicksum(c * c for c in cost))
    model.setObjective(total)
    model.optimize()
    return model.getObjVal() if model.getNSols() else np.inf, model.getDualbound()


@pytest.mark.parametrize(("seed", "norm"), covering(range(101, 104), NORMS))
def test_prices_agree_with_scip(seed, norm):
    problem = cost_problem(seed, norm=norm, n=3 + seed % 2, budget=0.0, kind="general")
    found = certified_search(problem, GAP, 30.0)
    value, bound = scip_distance(problem)
    if found.status is Status.INFEASIBLE:
        assert value == np.inf
        return
    distance = check(problem, found)
    assert found.lower_bound <= value * (1 + 1e-4) + 1e-6
    assert bound * (1 - 1e-4) - 1e-6 <= distance <= value * (1 + 1.2 * GAP) + 1e-5


@pytest.mark.parametrize("seed", range(200, 212))
def test_the_total_price_changes_few_features(seed):
    """Features that do not change have today's value to the last digit; none changes by next to nothing."""
    problem = cost_problem(seed, norm=1.0, n=5)
    found = certified_search(problem, GAP, 30.0)
    if found.point is None:
        return
    change = found.point - problem.factual
    costs = np.maximum(problem.metric.up * change, -problem.metric.down * change)
    assert (costs[change != 0] > 1e-6 * costs.sum()).all()
    assert (change == 0).any()


def linear_problem(norm, prices, slope, **extra):
    """A rise of slope'd above 1, without noise."""
    n = len(slope)
    whitening = Whitening(np.eye(n), "cholesky")
    margin = Quadratic(np.zeros((n, n)), np.array(slope), -1.0, np.zeros(n))
    ball = Ball.whitened(whitening, norm, 0.0)
    return RobustProblem(np.zeros(n), (Requirement(margin),), Metric(whitening, norm, prices), ball, **extra)


PRICES = np.array([[1.0, 5.0], [2.0, 0.5], [3.0, 3.0]])
SLOPE = [1.0, -1.0, 2.0]  # the best directions cost 1, 0.5 and 1.5 for each unit of the margin


@pytest.mark.parametrize(
    ("norm", "expected"),
    [(1.0, 0.5), (2.0, (1 + 1 / 0.25 + 1 / 2.25) ** -0.5), (np.inf, 1 / (1 + 2 + 2 / 3))],
)
def test_linear_margins_are_proved_at_once(norm, expected):
    problem = linear_problem(norm, PRICES, SLOPE)
    search = Search(whitened(problem), GAP, Clock(10.0))
    assert search.run() is Status.OPTIMAL
    assert search.points.distance == pytest.approx(expected, rel=GAP)
    assert not search.root.children
    found = certified_search(problem, GAP, 10.0)
    if norm == 1:
        assert np.array_equal(found.point != 0, [False, True, False])


@pytest.mark.parametrize("norm", NORMS)
def test_one_way_features_have_one_price(norm):
    """Without the cheap fall of the second feature, whose rise does not help, the others are left."""
    domain = Domain([-np.inf, 0.0, -np.inf], [np.inf] * 3)
    found = certified_search(linear_problem(norm, PRICES, SLOPE, domain=domain), GAP, 10.0)
    expected = {1.0: 1.0, 2.0: (1 + 1 / 2.25) ** -0.5, np.inf: 1 / (1 + 2 / 3)}[norm]
    assert found.status is Status.OPTIMAL
    assert found.lower_bound <= expected * (1 + 1e-9)
    assert found.lower_bound >= expected * (1 - GAP)
    assert found.point[1] == 0


@pytest.mark.parametrize("norm", NORMS)
def test_prices_of_one_are_standard_deviations(norm):
    """With uncorrelated features the price is the Mahalanobis distance, to the last digit of the search."""
    rng = np.random.default_rng(5)
    whitening = Whitening(np.diag([0.5, 2.0, 0.1]), "cholesky")
    A = rng.normal(size=(3, 3))
    M = whitening.matrix
    margin = Requirement(Quadratic(M @ (A + A.T) @ M, M @ rng.normal(size=3), -1.0, np.ones(3)))
    ball = Ball.whitened(whitening, norm, 0.05)
    plain = RobustProblem(np.ones(3), (margin,), Metric(whitening, norm), ball)
    priced = replace(plain, metric=Metric(whitening, norm, np.ones((3, 2))))
    one, other = (certified_search(problem, GAP, 20.0) for problem in (plain, priced))
    assert one.status is other.status is Status.OPTIMAL
    assert plain.distance(other.point) == priced.distance(other.point)
    assert plain.distance(one.point) == pytest.approx(plain.distance(other.point), rel=GAP)


def test_whole_numbers_that_nothing_can_move_farther_inside():
    """The second is allowed by a hair, less than points are meant to keep; there is no other."""
    today = (ValueSet(0, None, 0.0),)
    domain = Domain([-10.0], [10.0], sets=today)
    margin = Quadratic(np.zeros((1, 1)), np.array([1.0]), -2.0 + 1e-5, np.zeros(1))
    whitening = Whitening(np.eye(1), "cholesky")
    for norm in NORMS:
        metric = Metric(whitening, norm, np.array([[0.7, 0.1]]))
        ball = Ball.whitened(whitening, norm, 0.0)
        found = certified_search(
            RobustProblem(np.zeros(1), (Requirement(margin),), metric, ball, domain), GAP, 9.0
        )
        assert found.status is Status.OPTIMAL
        assert found.point.tolist() == [2.0]
        assert found.lower_bound >= 1.4 * (1 - GAP)


@pytest.mark.parametrize("seed", range(301, 306))
@pytest.mark.parametrize("even", [True, False])
def test_the_lattice_agrees_with_semidefinite_bounds(seed, even, monkeypatch):
    problem = cost_problem(seed, norm=np.inf, n=4, even=even, whole=True)
    problem = replace(problem, requirements=problem.requirements[:1])
    assert fits(whitened(problem))
    found = certified_search(problem, GAP, 30.0)
    monkeypatch.setattr("surefoot.search.certified.search.fits", lambda space: False)
    other = certified_search(problem, GAP, 30.0)
    assert found.status is other.status
    if found.point is not None:
        one, two = check(problem, found), check(problem, other)
        assert max(found.lower_bound, other.lower_bound) <= min(one, two) * (1 + 1e-9)


@pytest.mark.parametrize("norm", [1.0, np.inf])
@pytest.mark.parametrize("row", [18, 40])
def test_whole_numbers_with_prices_are_proved(bundled, norm, row):
    pima = bundled["pima"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)
    prices = np.exp(0.7 * np.random.default_rng(0).normal(size=(8, 2)))
    actions = Actions(
        {name: Action(cost=tuple(pair)) for name, pair in zip(pima.X, prices.tolist(), strict=True)}
    )
    e = CounterfactualExplainer(clf, norm=norm, distance="cost", actions=actions).explain(pima.X.iloc[row])
    assert e.status is Status.OPTIMAL
    assert verify(e, clf).ok


@pytest.mark.parametrize("norm", NORMS)
def test_categories_are_added(norm):
    family = random_family(np.random.default_rng(2), sizes=(2, 3), norm=norm, budget=0.05)
    prices = np.array([[1.0, 2.0], [0.5, 3.0], [1.5, 1.5]])
    family = replace(family, metric=Metric(family.metric.whitening, norm, prices), _bases={})
    found = certified_states(family, GAP, 30.0)
    each = []
    for state in all_states(family):
        alone = certified_search(family.problem(state), 1e-4, 20.0)
        if alone.point is not None:
            each.append(family.distance(state, alone.point))
    distance = family.distance(found.state, found.point)
    assert found.status is Status.OPTIMAL
    assert distance <= min(each) * (1 + 1.2 * GAP)
    assert found.lower_bound <= min(each) * (1 + 1e-9)


def actions_of(names, uneven):
    prices = [(1.0, 3.0), (0.5, 0.2), (2.0, 2.0), (1.0, 0.7)] if uneven else [1.0, 0.5, 2.0, 0.7]
    return Actions({name: Action(cost=price) for name, price in zip(names, prices, strict=True)})


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("budget", [0.0, 0.05])
@pytest.mark.parametrize("uneven", [True, False])
def test_the_checker_accepts_the_proofs(bundled, norm, budget, uneven):
    bank = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)
    explainer = CounterfactualExplainer(
        clf, norm=norm, budget=budget, distance="cost", actions=actions_of(bank.X.columns, uneven)
    )
    for row in (0, 50):
        e = explainer.explain(bank.X.iloc[row], target=1)
        assert e.status is Status.OPTIMAL
        assert verify(e, clf).ok


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("factor", [1e4, 1e-4])
def test_any_currency_will_do(bundled, norm, factor):
    """Dear and cheap prices lead to the same point, to the last digit where they differ by a power of two."""
    problem = cost_problem(2, norm=norm, n=3)
    one = certified_search(problem, GAP, 20.0)
    other = replace(problem, metric=Metric(problem.whitening, norm, factor * problem.metric.prices))
    distance = check(problem, replace(certified_search(other, GAP, 20.0), lower_bound=one.lower_bound))
    assert distance == pytest.approx(problem.distance(one.point), rel=GAP)
    bank = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)
    actions = Actions({name: Action(cost=(2 * factor, factor)) for name in bank.X})
    e = CounterfactualExplainer(clf, norm=norm, distance="cost", actions=actions).explain(bank.X.iloc[0])
    assert e.status is Status.OPTIMAL
    assert verify(e, clf).ok


@pytest.mark.parametrize("norm", [1.0, np.inf])
def test_dear_categories_are_proved(norm):
    table = lender()
    actions = Actions({name: Action(cost=2000.0) for name in table.feature_labels_})
    row = refused_rows(table, 1)[0]
    e = CounterfactualExplainer(table, norm=norm, distance="cost", actions=actions).explain(row)
    assert e.status is Status.OPTIMAL
    assert e.distance > 100
    assert verify(e, table).ok


def test_the_certificate_states_deviations_and_ball():
    problem = cost_problem(5, norm=1.0, n=3, budget=0.05, box=False)
    held = certificate(problem)
    assert np.array_equal(held["metric"], np.diag(1 / problem.metric.unit))
    assert np.array_equal(held["ball"], problem.whitening.matrix)
    still = replace(problem, ball=Ball.whitened(problem.whitening, 1.0, 0.05, range(3)))
    assert certificate(still)["ball"] is None
    box = replace(problem, ball=Ball.box(np.ones(3), np.ones(3)))
    assert certificate(box)["ball"] is None


def test_what_prices_reach():
    rng = np.random.default_rng(0)
    for norm in NORMS:
        prices = Prices.of(Metric(Whitening(np.eye(3), "cholesky"), norm, np.exp(rng.normal(size=(3, 2)))))
        u = rng.normal(size=(20_000, 3))
        u /= np.array([prices.size(v) for v in u])[:, None]
        y = rng.normal(size=3)
        below, above = prices.reaches(y)
        assert (u @ y).max() <= above * (1 + 1e-9)
        assert (u @ y).max() >= 0.97 * above
        assert (u @ y).min() >= -below * (1 + 1e-9)
        if norm < np.inf:
            at = u[0]
            slope = prices.slope(at)
            assert slope @ at == pytest.approx(1.0)
            assert (u @ slope).max() <= 1 + 1e-9


def test_functions_in_other_units():
    """Cuts of coordinates scale with them; products keep their values."""
    leaf = {
        "level": 1.0,
        "norm": [2.0, 3.0],
        "cross": [],
        "products": [[5.0, ["c", 0], ["c", 1]], [7.0, ["a", 1.0, [[0, 2.0], [1, -4.0]]], ["c", 0, 1, "low"]]],
        "requirements": [],
        "between": [],
    }
    inner = {"cut": [["x", 1], 2.5], "below": leaf, "above": None}
    proof = {
        "directions": [[1.0, 8.0]],
        "scenarios": [],
        "tree": {"cut": [["u", 1], 3.0], "below": inner, "above": None},
    }
    found = in_units(proof, np.array([2.0, 4.0]), np.array([10.0, 100.0]))
    assert found["directions"] == [[0.5, 2.0]]
    assert found["tree"]["cut"] == [["u", 1], 12.0]
    assert found["tree"]["below"]["cut"] == [["x", 1], 2.5]
    changed = found["tree"]["below"]["below"]
    assert changed["norm"] == [20.0, 300.0]
    assert changed["products"][0] == [1.25, ["c", 0], ["c", 1]]
    weight, (_, constant, slopes), other = changed["products"][1]
    assert (weight, slopes, other) == (7.0, [[0, 1.0], [1, -1.0]], ["c", 0, 1, "low"])
    assert 1.0 <= constant <= 1.0 + 1e-11
    ways = {"either": 0, "ways": [None, {"changed": 0, "no": leaf, "yes": None}]}
    again = in_units({**proof, "tree": ways}, np.array([2.0, 4.0]), None)["tree"]["ways"]
    assert again[0] is None
    assert again[1]["no"]["norm"] == [2.0, 3.0]


@pytest.mark.parametrize("method", ["qcqp", "milp"])
def test_the_papers_methods_take_even_prices(method):
    problem = cost_problem(1, norm=np.inf, n=2, even=True, budget=0.0, whole=False, kind="concave")
    low, high = problem.factual - 9 * problem.unit, problem.factual + 9 * problem.unit
    options = Options(time_limit=20, gap=1e-4)
    if method == "milp":
        formulation = MilpFormulation(problem, "highs", options, low, high)
    else:
        formulation = QcqpFormulation(problem, "scip", options, 1e-4)
    *_, last = cutting_set(problem, formulation, tol=1e-4, time_limit=20)
    best = problem.distance(certified_search(problem, 1e-4, 20.0).point)
    assert last.distance == pytest.approx(best, rel=0.02)


def test_the_papers_methods_refuse_uneven_prices():
    problem = cost_problem(2, norm=np.inf, n=3, budget=0.0)
    ends = problem.factual - problem.unit, problem.factual + problem.unit
    for method, make in {
        "qcqp": lambda: QcqpFormulation(problem, "scip", Options()),
        "milp": lambda: MilpFormulation(problem, "highs", Options(), *ends),
    }.items():
        with pytest.raises(
            ProblemError, match=f"method='{method}' cannot take prices that differ up and down"
        ):
            make()


def norm_part(node, rates, u):
    """``w L^2 - w sum (s_i u_i)^2 - 2 sum x_ij s_i u_i s_j u_j`` of a leaf."""
    v = rates * u
    pairs = sum(x * v[i] * v[j] for i, j, x in node["cross"])
    return node["norm"][0] * (node["level"] ** 2 - float(v @ v)) - 2 * pairs


@pytest.mark.parametrize("feature", range(3))
def test_parts_that_inherit_a_bound_state_it_at_their_own_prices(feature):
    """The sum of a leaf is to be no larger where a cut says on which side of today's value a feature is."""
    whitening = Whitening(np.eye(3), "cholesky")
    margin = Quadratic(np.array([[0.3, 0.5, 0.0], [0.5, 0.0, 0.4], [0.0, 0.4, -0.2]]), np.ones(3), -2.0)
    prices = np.array([[1.0, 2.0], [3.0, 1.0], [1.0, 1.5]])
    problem = RobustProblem(
        np.zeros(3), (Requirement(margin),), Metric(whitening, 1.0, prices), Ball.whitened(whitening, 1, 0.0)
    )
    search = Search(whitened(problem), GAP, Clock(10.0))
    search.run()
    space, root = search.space, Region(scenarios=[0])
    search.bounds.attempt(root, 1.1 * search.points.distance)
    assert 0 < root.bound < search.points.distance
    whole = proof_of(space, root, search.scenarios)["tree"]
    assert any(abs(x) > 0.1 * whole["norm"][0] for _, _, x in whole["cross"])
    parts = root.split(Cut(space.n + feature, 0.0, 0.0))
    tree = proof_of(space, root, search.scenarios)["tree"]
    for u in np.random.default_rng(0).normal(size=(200, 3)):
        inherited = norm_part(whole, prices.min(axis=1), u)
        for part, name in zip(parts, ("below", "above"), strict=True):
            rates = prices.min(axis=1)
            rates[feature] = prices[feature, int(name == "below")]
            assert np.array_equal(part.rates(space), rates / prices.min(axis=1))
            assert norm_part(tree[name], rates, u) <= inherited + 1e-12


@pytest.mark.parametrize("time_limit", [0.2, 20.0])
def test_bounds_that_parts_inherit_are_proved(bundled, time_limit):
    """Whole numbers and sets of values at uneven prices: cuts come in quick succession, some without gain."""
    pima = bundled["pima"]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(pima.X, pima.y)
    actions = Actions(
        {
            "preg": Action(values=[0.0, 3.0, 6.0, 10.0]),
            "plas": Action(may="rise", cost=(1.0, 0.5)),
            "pres": Action(values=[64.0, 68.0, 74.0]),
            "skin": Action(values=[0.0, 20.0, 22.0, 29.0], cost=(2.0, 0.5)),
            "insu": Action(most=576.2, step=28.81, cost=(3.0, 1.0)),
            "mass": Action(whole=True, cost=(0.5, 3.0)),
            "pedi": Action(cost=(3.0, 2.0)),
            "age": Action(cost=(3.0, 2.0)),
        },
        rules=["mass + 0.247 * plas >= 57.88", "pres + 5.744 * preg <= 104.58"],
    )
    row = pima.X.iloc[668]
    settings = {"norm": 1, "gap": 0.02, "budget": 0.05, "time_limit": time_limit}
    e = CounterfactualExplainer(clf, distance="cost", actions=actions, **settings).explain(
        row, on_failure="return"
    )
    assert verify(e, clf).ok
