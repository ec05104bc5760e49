import functools
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import ConditionalGaussianNetworkClassifier, Quadratic, Whitening
from surefoot.exceptions import ProblemError
from surefoot.problem.domain import Domain
from surefoot.problem.geometry import lp_norm
from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.paper.backends import solve
from surefoot.search.paper.cutting_set import cutting_set
from surefoot.search.paper.formulations import MilpFormulation, QcqpFormulation
from surefoot.search.paper.formulations.mccormick import add_products
from surefoot.search.paper.formulations.qcqp import adversary_program, adversary_view, master_program
from surefoot.search.paper.formulations.tightening import Tightening, within
from surefoot.search.paper.program import Options, ProgramBuilder
from surefoot.search.paper.rays import ray_point, reach
from surefoot.status import Status
from tests.problems import grid_points, paper_problem, random_problem, rough_problem
from tests.thinning import covering, only

EXACT = Options(gap=1e-4, absolute_gap=1e-6, threads=1)  # the workers of a test run share the cores
NORMS = [1, 2, np.inf]


def literal_margin(clf, x, delta):
    """The paper's expanded constraint, term by term: sum over classes and features of D_i^c."""
    total = 0.0
    for c in (0, 1):
        network = clf.networks_[c]
        part = np.log(clf.class_prior_[c])
        for i, parents in enumerate(clf.dag_.parents):
            family = [i, *parents]
            a = {j: 1.0 if j == i else -network.weights[i, j] for j in family}
            xi = sum(a[k] * delta[k] for k in family) - network.intercepts[i]
            D = sum(a[j] * a[k] * x[j] * x[k] for j in family for k in family)
            D += 2 * xi * sum(a[j] * x[j] for j in family) + xi**2
            part -= 0.5 * np.log(network.variances[i]) + D / (2 * network.variances[i])
        total += (2 * c - 1) * part
    return total


@pytest.mark.parametrize("coordinates", ["features", "principal"])
@pytest.mark.parametrize("structure", ["naive", "tan", "ban"])
def test_shared_quadratic_plus_linear_rows_is_the_papers_expansion(bundled, structure, coordinates, rng):
    data = bundled["pima"]
    clf = ConditionalGaussianNetworkClassifier(structure).fit(data.X, data.y)
    x0 = data.X.iloc[1].to_numpy()
    problem = paper_problem(x0, (clf.decision_quadratic(1, 0),), clf.networks_[0].whitening(), budget=0.05)
    scenarios = [np.zeros(8), *problem.ball.sample(3, rng)]
    program = master_program(problem, scenarios, coordinates)
    row, n = program.quadratic_rows[0], 8
    rows = program.rows.toarray()
    w = row.linear[-1]
    axes = {} if coordinates == "features" else {y: np.flatnonzero(rows[:, y])[0] for y in row.variables}
    for _ in range(20):
        z = rng.uniform(-1, 1, n)
        x = x0 + problem.unit * z
        point = np.zeros(program.n_variables)
        point[:n] = z
        for y, r in axes.items():
            point[y] = rows[r, :n] @ z
        for s, delta in enumerate(scenarios):
            # With w at scenario s's own limit, the quadratic row reads H(x + delta) >= tau'.
            scenario_rows = np.flatnonzero(rows[:, w] == 1.0)
            r = scenario_rows[s]
            point[w] = program.row_high[r] - rows[r, :n] @ z
            assert row.value(point) - row.low == pytest.approx(literal_margin(clf, x, delta), abs=1e-8)


@pytest.mark.parametrize(
    ("seed", "p", "backend", "coordinates"),
    covering([0, 3], NORMS, ["scip", "gurobi"], ["features", "principal"]),
)
def test_qcqp_in_two_dimensions_by_brute_force(backend, p, seed, coordinates):
    problem = random_problem(2, seed, norm=p, budget=0.1)
    check_against_grid(problem, QcqpFormulation(problem, backend, EXACT, 1e-4, coordinates), tol=1e-4)


@pytest.mark.parametrize("coordinates", ["features", "principal"])
@pytest.mark.parametrize("backend", ["scip", "gurobi"])
def test_qcqp_without_any_curvature(backend, coordinates):
    """H(x) = x_1 - 1, two independent features: the nearest robust point is 1 + budget along the first."""
    H = Quadratic(np.zeros((2, 2)), [1.0, 0.0], -1.0)
    problem = paper_problem(np.zeros(2), (H,), Whitening(np.eye(2)), budget=0.25)
    *_, last = cutting_set(problem, QcqpFormulation(problem, backend, EXACT, 1e-4, coordinates))
    assert last.status is Status.OPTIMAL
    assert last.distance == pytest.approx(1.25, abs=1e-4)


@pytest.mark.parametrize("p", NORMS)
def test_the_adversary_in_whitened_coordinates_has_no_superfluous_terms(p):
    """Rounding errors in place of zeros are terms that a solver has to branch on."""
    problem = random_problem(6, 1, norm=p, budget=0.1)
    view = adversary_view(problem, 0, "principal")
    program = adversary_program(problem, problem.factual, 0, view)
    assert program.rows.shape[0] == (13 if p == 1 else 0)
    assert program.rows.nnz == (5 * 6 if p == 1 else 0)
    if p == 2:
        assert np.count_nonzero(view.matrix) == 6
        assert [row.variables.size for row in program.quadratic_rows] == [6, 6]
    M = problem.whitening.matrix @ view.basis / problem.budget
    np.testing.assert_allclose(M.T @ M, view.metric.T @ view.metric, atol=1e-12)
    np.testing.assert_allclose(view.basis.T @ problem.margins[0].matrix @ view.basis, view.matrix, atol=1e-12)


@pytest.mark.parametrize("seed", [64, 196, 868])
def test_no_counterfactual_in_an_open_domain(seed):
    """No ray finds a point, so nothing bounds the principal axes; SCIP sees it from the features."""
    _, problem = rough_problem(seed)
    *_, last = cutting_set(problem, QcqpFormulation(problem, "scip", Options(gap=1e-4)), time_limit=20)
    assert last.status is Status.INFEASIBLE


def test_unknown_coordinates():
    problem = random_problem(2, 0)
    with pytest.raises(ProblemError, match="coordinates must be 'features' or 'principal', not 'princpal'"):
        QcqpFormulation(problem, "scip", EXACT, coordinates="princpal")


@pytest.mark.parametrize(("seed", "p", "backend"), covering([0, 3], [1, np.inf], ["highs", "scip", "gurobi"]))
def test_milp_in_two_dimensions_by_brute_force(backend, p, seed):
    problem = random_problem(2, seed, norm=p, budget=0.1)
    low, high = problem.factual - 3 * problem.unit, problem.factual + 3 * problem.unit
    check_against_grid(problem, MilpFormulation(problem, backend, EXACT, low, high, tol=1e-3), tol=1e-3)


def check_against_grid(problem, formulation, tol):
    rounds = list(cutting_set(problem, formulation, tol=tol))
    assert rounds[-1].status is Status.OPTIMAL
    found = rounds[-1]
    # Masters, adversaries and the whole search against a fine grid.
    size = 1.3 * reach(problem, found.distance) + 1e-6
    points = grid_points(problem.factual - size, problem.factual + size, 401)
    distances = problem.whitening.distance(points, problem.factual, problem.norm)
    spacing = float(np.max(lp_norm(problem.whitening.matrix * (2 * size / 400), problem.norm)))
    good = problem.violation(points, np.zeros(2)) <= 0
    for r in rounds:
        assert r.distance <= distances[good].min() * 1.001 + 1e-3  # no grid point beats the master
        good &= problem.margins[0](points + r.perturbation) >= 0
    ball = problem.ball.sample(4000, 0)
    if problem.norm != 2:
        ball = np.vstack([ball, problem.ball.vertices()])
    assert problem.violation(found.candidate, ball).max() <= found.violation + 1e-6
    edge = ball[np.argsort(-problem.ball.size(ball))[:300]]
    nearer = points[distances < found.distance * 0.999 - 2 * spacing]
    for d in edge:
        nearer = nearer[problem.margins[0](nearer + d) >= tol]
    assert not len(nearer)  # nothing clearly nearer is robust


@pytest.mark.parametrize("p", NORMS)
def test_budget_zero_is_the_plain_counterfactual(p):
    problem = random_problem(4, 2, norm=p, budget=0.0)
    rounds = list(cutting_set(problem, QcqpFormulation(problem, "scip", EXACT)))
    assert len(rounds) == 1
    assert rounds[0].violation <= 1e-3


@settings(max_examples=8)
@given(n=st.integers(2, 8), seed=st.integers(0, 50), p=st.sampled_from([2, np.inf]))
def test_properties_of_the_loop(n, seed, p):
    problem = random_problem(n, seed, norm=p, budget=0.05, density=0.3)
    formulation = QcqpFormulation(problem, "gurobi", Options(gap=1e-3))
    rounds = list(cutting_set(problem, formulation, time_limit=60))
    assert rounds[-1].status is Status.OPTIMAL
    distances = [r.distance for r in rounds]
    assert all(b >= a * (1 - 2e-3) for a, b in itertools.pairwise(distances))  # masters never come closer
    for k, r in enumerate(rounds):
        met = [rounds[i].perturbation for i in range(k)]
        if met:
            assert problem.violation(r.candidate, met).max() <= 1e-4  # every scenario stays satisfied
    last = rounds[-1].candidate
    assert problem.violation(last, problem.ball.sample(10_000, 0)).max() <= rounds[-1].violation + 1e-6
    assert worst_perturbation(problem, last).violation <= 1e-3 + 1e-6


@settings(max_examples=4)
@given(seed=st.integers(0, 30))
def test_distance_grows_with_the_budget(seed):
    found = []
    for budget in (0.0, 0.05, 0.2):
        problem = random_problem(4, seed, budget=budget)
        rounds = list(cutting_set(problem, QcqpFormulation(problem, "gurobi", Options(gap=1e-4)), tol=1e-4))
        found.append(rounds[-1].distance)
    assert found[0] <= found[1] * 1.001
    assert found[1] <= found[2] * 1.001


@pytest.mark.parametrize("seed", only([2], [1, 2]))
def test_units_and_order_of_columns_do_not_matter_for_p_2(bundled, seed):
    data = bundled["banknote"]
    rng = np.random.default_rng(seed)
    units, order = rng.uniform(0.01, 100, 4), rng.permutation(4)

    def distance(X):
        clf = ConditionalGaussianNetworkClassifier(structure).fit(X, data.y)
        x0 = np.asarray(X)[5 + seed]
        problem = paper_problem(
            x0, (clf.decision_quadratic(1, 0),), clf.networks_[0].whitening(), norm=2, budget=0.05
        )
        return list(cutting_set(problem, QcqpFormulation(problem, "gurobi", EXACT), tol=1e-5))[-1].distance

    structure = {"entropy": ["variance"], "curtosis": ["skewness", "variance"]}
    plain = distance(data.X)
    assert distance(data.X * units) == pytest.approx(plain, rel=1e-3)
    assert distance(data.X.iloc[:, order]) == pytest.approx(plain, rel=1e-3)


@given(seed=st.integers(0, 200))
def test_envelopes_contain_the_products(seed):
    """Every true point x, z = x x' satisfies the piecewise McCormick rows, whatever the signs."""
    rng = np.random.default_rng(seed)
    n, m = 3, int(rng.integers(1, 6))
    low, high = -rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, n)
    grids = [np.linspace(a, b, m + 1) for a, b in zip(low, high, strict=True)]
    pairs = [(j, k) for j in range(n) for k in range(j, n)]
    coefficients = {pair: float(rng.choice((-1, 1))) for pair in pairs}
    x_true = rng.uniform(low, high)
    builder = ProgramBuilder()
    x = builder.variables(n, x_true, x_true)
    products = add_products(builder, x, grids, coefficients)
    shortfall = builder.variables(1, -100, 100, cost=-1.0)
    columns = np.append([products[pair] for pair in pairs], shortfall)
    row = np.append([coefficients[pair] for pair in pairs], -1.0)
    builder.linear(row, columns, 0.0, np.inf)
    outcome = solve(builder.build(), Options(gap=0.0), "highs")
    true = sum(c * x_true[j] * x_true[k] for (j, k), c in coefficients.items())
    width = float(np.max(high - low))
    assert -outcome.objective >= true - 1e-7  # a relaxation never loses a point
    assert -outcome.objective <= true + len(pairs) * width**2 / (4 * m) + 1e-6  # and tightens with m


def test_tightening_is_the_papers_formula():
    tightening = Tightening(np.array([-4.0]), np.array([8.0]), n_segments=20, contraction=0.5)
    assert [len(tightening.grids(t, np.array([2.0]))[0]) - 1 for t in range(1, 8)] == [20, 10, 5, 3, 2, 1, 1]
    third = tightening.grids(3, np.array([2.0]))[0]
    assert third[0] == pytest.approx(0.25 * -4 + 0.75 * 2)
    assert third[-1] == pytest.approx(0.25 * 8 + 0.75 * 2)
    np.testing.assert_allclose(np.diff(third), np.diff(third)[0])
    np.testing.assert_allclose(within(np.linspace(0, 10, 6), 3, 7), [3, 4, 6, 7])


@pytest.mark.parametrize("structure", only(["tan"], ["naive", "tan", "ban"]))
def test_milp_equals_qcqp_on_banknote(bundled, structure):
    data = bundled["banknote"]
    row = data.X.iloc[100].to_numpy()
    clf = ConditionalGaussianNetworkClassifier(structure).fit(data.X, data.y)
    problem = paper_problem(row, (clf.decision_quadratic(1, 0),), clf.networks_[0].whitening(), budget=0.05)
    low, high = clf.feature_percentiles_
    milp = list(cutting_set(problem, MilpFormulation(problem, "highs", Options(), low, high)))[-1]
    qcqp = list(cutting_set(problem, QcqpFormulation(problem, "scip", Options(gap=1e-3))))[-1]
    assert milp.distance == pytest.approx(qcqp.distance, rel=0.02)
    assert milp.lower_bound <= qcqp.distance * 1.001


def test_the_2_norm_is_not_linear():

    problem = random_problem(2, 0, norm=2)
    with pytest.raises(ProblemError, match="2-norm is not linear"):
        MilpFormulation(problem, "highs", Options(), problem.factual, problem.factual)
    linear = random_problem(2, 0)
    for bad, message in (({"contraction": 1.0}, "contraction must"), ({"n_segments": 0}, "n_segments must")):
        with pytest.raises(ProblemError, match=message):
            MilpFormulation(linear, "highs", Options(), linear.factual, linear.factual, **bad)


@given(seed=st.integers(0, 100), p=st.sampled_from(NORMS))
def test_ray_points_are_feasible(seed, p):
    problem = random_problem(5, seed, norm=p, budget=0.1)
    scenarios = [np.zeros(5), *problem.ball.sample(4, seed)]
    point = ray_point(problem, scenarios)
    if point is not None:
        assert problem.violation(point, scenarios).max() <= 1e-6
    fixed = paper_problem(
        problem.factual,
        problem.margins,
        problem.whitening,
        norm=p,
        budget=0.1,
        domain=Domain(
            np.append(problem.factual[0], [-np.inf] * 4), np.append(problem.factual[0], [np.inf] * 4)
        ),
    )
    point = ray_point(fixed, scenarios)
    if point is not None:
        assert fixed.domain.contains(point)


def test_infeasible_domains_are_proved(bundled):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    x0 = data.X.iloc[0].to_numpy()
    domain = Domain(x0 - 1e-3, x0 + 1e-3)
    problem = paper_problem(
        x0, (clf.decision_quadratic(1, 0),), clf.networks_[0].whitening(), budget=0.05, domain=domain
    )
    low, high = clf.feature_percentiles_
    for formulation in (
        QcqpFormulation(problem, "scip", Options()),
        QcqpFormulation(problem, "gurobi", Options()),
        MilpFormulation(problem, "highs", Options(), low, high),
    ):
        assert list(cutting_set(problem, formulation))[-1].status is Status.INFEASIBLE


def test_a_factual_outside_its_bounds():
    """Rays that leave a feature alone would never lead back inside."""
    H = Quadratic(np.diag([-1e-3, 0.0]), [0.0, 1.0], -1.0)
    for high in (20.0, np.inf):
        domain = Domain([5.0, -20.0], [high, 20.0])
        problem = paper_problem([0.0, 0.0], (H,), Whitening(np.eye(2)), budget=0.0, domain=domain)
        for formulation in (
            QcqpFormulation(problem, "scip", EXACT),
            QcqpFormulation(problem, "gurobi", EXACT),
            MilpFormulation(problem, "highs", EXACT, np.array([-9.0, -9.0]), np.array([9.0, 9.0])),
        ):
            last = list(cutting_set(problem, formulation))[-1]
            assert last.status is Status.OPTIMAL
            assert last.distance == pytest.approx(5, rel=1e-3)


@functools.cache
def boxed(seed):
    """A problem in a box and what Gurobi says of it."""
    problem = random_problem(3, seed, budget=0.5)
    box = Domain(problem.factual - 4 * problem.unit, problem.factual + 4 * problem.unit)
    problem = paper_problem(problem.factual, problem.margins, problem.whitening, budget=0.5, domain=box)
    *_, exact = cutting_set(problem, QcqpFormulation(problem, "gurobi", Options(gap=1e-4)), time_limit=20)
    return problem, exact


@pytest.mark.parametrize("n_segments", [1, 3, 20])
@pytest.mark.parametrize("seed", only([11, 18], [11, 12, 18, 25]))
def test_milp_never_claims_a_robustness_that_is_not_there(n_segments, seed):
    problem, exact = boxed(seed)
    low, high = problem.domain.low, problem.domain.high
    formulation = MilpFormulation(problem, "highs", Options(), low, high, n_segments=n_segments)
    last = list(cutting_set(problem, formulation, max_iterations=15, time_limit=0.7))[-1]
    if last.status is Status.OPTIMAL:
        assert worst_perturbation(problem, last.candidate).violation <= 1e-3 + 1e-9
    assert last.status is not Status.INFEASIBLE or exact.status is Status.INFEASIBLE
    if exact.status is Status.OPTIMAL:
        assert last.lower_bound <= exact.distance * (1 + 1e-6)


def test_the_first_milp_bound_is_for_the_problem_as_posed():
    H = Quadratic(np.zeros((1, 1)), [1.0], -0.01)
    problem = paper_problem([0.0], (H,), Whitening(np.eye(1)), budget=0.0)
    formulation = MilpFormulation(problem, "highs", EXACT, np.array([-1.0]), np.array([1.0]))
    first = next(iter(cutting_set(problem, formulation)))
    assert first.lower_bound <= 0.01 + 1e-9
    tight = paper_problem([0.0], (H,), Whitening(np.eye(1)), domain=Domain([-1.0], [0.0101]))
    formulation = MilpFormulation(tight, "highs", EXACT, np.array([-1.0]), np.array([1.0]))
    assert next(iter(cutting_set(tight, formulation))).status is Status.OPTIMAL
