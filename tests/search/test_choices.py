"""Requirements, rows and sets of values in the certified search, against brute force."""

import time

import numpy as np
import pytest

from surefoot import Quadratic, Status
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.problem.row import Row
from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.certified import certified_search, search
from surefoot.search.certified.branching import violated_pairs
from surefoot.search.certified.region import Region, piece
from surefoot.search.certified.rows import first_multipliers, lagrangian
from surefoot.search.certified.search import Search
from surefoot.search.certified.space import whitened
from tests.brute import nearest_by_trying
from tests.problems import mixed_problem, paper_problem, random_problem

NORMS = [np.inf, 2.0, 1.0]


def solved(problem, gap=1e-3, seconds=20.0):
    """The answer, after what must hold for every answer was checked."""
    found = certified_search(problem, gap, seconds)
    assert found.status in (Status.OPTIMAL, Status.INFEASIBLE)
    if found.point is not None:
        assert problem.domain.contains(found.point)
        assert worst_perturbation(problem, found.point).violation <= 0
        distance = problem.distance(found.point)
        assert distance - found.lower_bound <= max(gap * distance, 1e-6)
        assert problem.ball.is_point or found.radius == problem.budget
    return found


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("budget", [0.0, 0.1])
def test_whole_numbers_by_trying_all(norm, budget):
    base = random_problem(2, 5, norm=norm, budget=budget)
    x0 = np.round(base.factual)
    sets = tuple(ValueSet(j, None, float(x0[j])) for j in range(2))
    domain = Domain(np.full(2, -np.inf), np.full(2, np.inf), (), sets)
    problem = paper_problem(x0, base.margins, base.whitening, norm, budget, domain=domain)
    found = solved(problem)
    assert problem.distance(found.point) == pytest.approx(nearest_by_trying(problem, 30.0), rel=1e-3)
    assert (found.point == np.round(found.point)).all()


@pytest.mark.parametrize("norm", NORMS)
def test_allowed_values_and_todays_value(norm):
    base = random_problem(2, 7, norm=norm, budget=0.02)
    x0 = base.factual
    steps = x0[0] + base.unit[0] * np.array([-3.0, -1.1, 0.9, 2.3, 4.0])
    domain = Domain(np.full(2, -np.inf), np.full(2, np.inf), (), (ValueSet(0, tuple(steps), float(x0[0])),))
    problem = RobustProblem(x0, base.requirements, base.metric, base.ball, domain)
    found = solved(problem)
    assert found.point[0] in (*steps, x0[0])
    assert problem.distance(found.point) <= nearest_by_trying(problem, 5.0) * (1 + 1e-3)
    assert found.lower_bound <= nearest_by_trying(problem, 5.0)


@pytest.mark.parametrize("norm", NORMS)
def test_a_row_over_two_features(norm):
    base = random_problem(2, 3, norm=norm, budget=0.05)
    free = solved(base)
    a = np.array([1.0, 1.0]) / base.unit
    cut = float(a @ (0.5 * (free.point + base.factual)))
    row = Row(a, -np.inf, cut, "sum") if a @ (free.point - base.factual) > 0 else Row(a, cut, np.inf, "sum")
    problem = RobustProblem(
        base.factual, base.requirements, base.metric, base.ball, Domain(*free_ends(2), (row,))
    )
    found = solved(problem)
    assert problem.distance(found.point) >= base.distance(free.point) * (1 - 1e-3)
    grid = nearest_by_trying(problem, 1.5 * problem.distance(found.point), count=601)
    assert found.lower_bound <= grid
    assert problem.distance(found.point) <= grid * 1.01


def free_ends(n):
    return np.full(n, -np.inf), np.full(n, np.inf)


def test_an_equation_between_features():
    base = random_problem(3, 1, budget=0.05)
    a = np.array([1.0, -0.5, 0.0])
    value = float(a @ base.factual)
    domain = Domain(*free_ends(3), (Row(a, value, value, "link"),))
    problem = RobustProblem(base.factual, base.requirements, base.metric, base.ball, domain)
    found = solved(problem)
    change = found.point - base.factual
    assert change[0] == pytest.approx(0.5 * change[1], abs=1e-9 * np.abs(found.point).sum())
    assert problem.distance(found.point) >= base.distance(solved(base).point) * (1 - 1e-3)


def test_requirements_that_are_not_robust_are_asked_of_the_point_alone():
    base = random_problem(3, 2, budget=0.2)
    plain = RobustProblem(base.factual, (Requirement(base.margins[0], False),), base.metric, base.ball)
    nearer, farther = (p.distance(solved(p).point) for p in (plain, base))
    assert nearer < farther
    alone = paper_problem(base.factual, base.margins, base.whitening, budget=0.0)
    assert nearer == pytest.approx(alone.distance(solved(alone).point), rel=2e-3)


def test_each_requirement_has_its_own_threshold():
    base = random_problem(3, 4, budget=0.05)
    stricter = Requirement(base.margins[0] - 1.0)
    both = RobustProblem(base.factual, (base.requirements[0], stricter), base.metric, base.ball)
    strict = RobustProblem(base.factual, (stricter,), base.metric, base.ball)
    assert both.distance(solved(both).point) == pytest.approx(strict.distance(solved(strict).point), rel=2e-3)
    floor = Requirement(Quadratic(-np.eye(3) / base.unit**2, np.zeros(3), 4.0, base.factual))
    near = RobustProblem(base.factual, (base.requirements[0], floor), base.metric, base.ball)
    found = certified_search(near, 1e-3, 20.0)
    assert found.point is None or worst_perturbation(near, found.point).violation <= 0


def test_many_requirements_enter_as_they_are_violated():
    base = random_problem(4, 6, budget=0.05)
    rng = np.random.default_rng(0)
    others = [Requirement(base.margins[0] - float(rng.uniform(-1, 0.5))) for _ in range(30)]
    problem = RobustProblem(base.factual, (base.requirements[0], *others), base.metric, base.ball)
    strictest = min((base.requirements[0], *others), key=lambda r: float(r.margin(base.factual)))
    alone = RobustProblem(base.factual, (strictest,), base.metric, base.ball)
    assert problem.distance(solved(problem).point) == pytest.approx(
        alone.distance(solved(alone).point), rel=2e-3
    )


@pytest.mark.parametrize("norm", NORMS)
def test_a_budget_by_feature_and_features_that_land_exactly(norm):
    base = random_problem(3, 8, norm=norm)
    down, up = np.array([0.1, 0.0, 0.3]) * base.unit, np.array([0.2, 0.0, 0.0]) * base.unit
    problem = RobustProblem(base.factual, base.requirements, base.metric, Ball.box(down, up))
    found = solved(problem)
    assert found.radius == 1
    for shift in (-down, up, np.where([1, 0, 0], up, -down)):
        assert problem.margins[0](found.point + shift) >= 0
    exact = paper_problem(base.factual, base.margins, base.whitening, norm, 0.1, exact=(0, 2))
    perturbation = solved(exact).worst
    assert perturbation[[0, 2]].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [6, 58])
def test_linear_margins_are_never_branched(norm, n, monkeypatch):
    rng = np.random.default_rng(n)
    M = np.triu(rng.normal(size=(n, n))) + 4 * np.eye(n)
    H = Quadratic(np.zeros((n, n)), rng.normal(size=n), -3.0)
    domain = Domain(np.full(n, -2.0), np.full(n, 2.0))
    for ends in (None, domain):
        problem = paper_problem(np.zeros(n), (H,), Whitening(M, "cholesky"), norm, 0.05, domain=ends)
        monkeypatch.setattr(search, "choose_cut", lambda *_: pytest.fail("branched"))
        found = solved(problem, seconds=60.0)
        assert found.status is Status.OPTIMAL
    plain = paper_problem(np.zeros(n), (H,), Whitening(M, "cholesky"), 2.0, 0.0)
    closed = 3.0 / np.linalg.norm(np.linalg.solve(M.T, H.vector))
    assert plain.distance(solved(plain).point) == pytest.approx(closed, rel=1e-3)


@pytest.mark.parametrize("norm", NORMS)
def test_a_factual_a_million_deviations_away(norm):
    refused = 0
    for seed in (0, 4, 6, 7):
        base = random_problem(4, seed, norm=norm)
        far = base.factual + 1e6 * base.unit * np.array([1.0, 0.0, 0.0, 0.0])
        problem = paper_problem(far, base.margins, base.whitening, norm, 0.05)
        if problem.margin(far) < 0:
            refused += 1
            assert solved(problem).point is not None
    assert refused >= 2


def test_distances_near_zero_are_closed_by_the_absolute_gap():
    H = Quadratic(np.zeros((2, 2)), np.array([1.0, 0.0]), -1e-8)
    problem = paper_problem(np.zeros(2), (H,), Whitening(np.eye(2), "cholesky"))
    found = certified_search(problem, 1e-3, 5.0)
    assert found.status is Status.OPTIMAL
    assert problem.distance(found.point) - found.lower_bound <= 1e-6


@pytest.mark.parametrize("norm", NORMS)
def test_time_limits_hold_in_every_phase(bundled, norm):
    from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer

    data = bundled["ionosphere"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    row = data.X.iloc[np.flatnonzero(clf.predict(data.X) == 1)[2]]
    explainer = CounterfactualExplainer(clf, budget=0.05, norm=norm, time_limit=0.05)
    explainer.explain(row, target=0, on_failure="return")
    start = time.process_time()  # what others do on the machine does not count
    explainer.explain(row, target=0, on_failure="return")
    assert time.process_time() - start < 0.55


@pytest.mark.parametrize("seed", [5, 6, 7, 9, 14, 16, 19, 21, 22])  # of three numbers at most
def test_a_bit_of_everything_by_trying(seed):
    """Nothing on a grid is nearer than the bound, and the point holds (10,000 of them: benchmarks)."""
    problem = mixed_problem(seed)
    found = certified_search(problem, 1e-3, 5.0)
    if found.point is not None and problem.ball.is_point:
        assert problem.margin(found.point) >= 0
    reached = min(found.lower_bound if np.isfinite(found.lower_bound) else 5.0, 1e3)
    nearest = nearest_by_trying(problem, max(reached, 1e-3), count=41)
    assert nearest >= found.lower_bound * (1 - 1e-9)


def test_a_level_that_runs_away_while_rounding():
    """Its square overflowed; the answer is Gurobi's (benchmarks/audit/agreement.py)."""
    found = certified_search(mixed_problem(718), 1e-3, 20.0)
    assert str(found.status) == "optimal"
    assert found.lower_bound == pytest.approx(1.2705, rel=1.1e-3)


def test_a_margin_that_rounding_leaves_flat():
    """Something was divided by the rate of log-odds for distance; Gurobi finds the same point."""
    found = certified_search(mixed_problem(700637), 1e-3, 20.0)
    assert str(found.status) == "optimal"
    assert mixed_problem(700637).distance(found.point) == pytest.approx(1787.878, rel=1e-3)


def test_multipliers_beside_a_very_high_peak():
    """Rounding left nothing of what a bound at any distance starts with: it is no bound, and no error."""
    found = certified_search(mixed_problem(707204), 1e-3, 5.0)
    assert found.point is None or mixed_problem(707204).margin(found.point) >= 0


def test_first_multipliers_of_very_many_scenarios():
    """Scenarios of one requirement share its weight, however many they are."""
    problem = mixed_problem(146)
    space, rng = whitened(problem), np.random.default_rng(0)
    counts = (1, 20, 2000)
    scenarios = [(r, 0.01 * rng.normal(size=space.n)) for r, count in enumerate(counts) for _ in range(count)]
    part = piece(space, Region(scenarios=list(range(len(scenarios)))), np.inf, use_corners=False)
    form = lagrangian(part, scenarios)
    x = first_multipliers(part, form)
    assert x is not None
    shares = x[form.margins]
    assert shares.sum() == pytest.approx(1.0)
    for r in range(3):
        assert np.ptp(shares[form.kind[form.margins] == r]) == 0
    assert (np.linalg.eigvalsh(form.matrix(x)[:-1, :-1]) < 0).all()


def test_pairs_are_products_that_the_relaxed_solution_violates():
    problem = random_problem(6, 11, budget=0.0)
    space = whitened(problem)
    from surefoot.search.certified.clock import Clock

    run = Search(space, 1e-3, Clock(10))
    part, _, found = run.bounds.attempt(run.root, 1.5)
    for pair in violated_pairs(part, found, 20):
        ends = [
            (part.high if above else part.low)[k]
            for k, above in ((pair.i, pair.above_i), (pair.j, pair.above_j))
        ]
        u = part.lifted(found.z)
        covariance = found.spread if part.basis is None else part.basis @ found.spread @ part.basis.T
        signs = [1.0 if above else -1.0 for above in (pair.above_i, pair.above_j)]
        product = signs[0] * (ends[0] - u[pair.i]) * signs[1] * (ends[1] - u[pair.j])
        product += signs[0] * signs[1] * covariance[pair.i, pair.j]
        assert product < 0


def test_metric_and_ball_may_differ():
    base = random_problem(3, 9)
    box = Ball.whitened(base.whitening, 1.0, 0.2)
    problem = RobustProblem(base.factual, base.requirements, Metric(base.whitening, 2.0), box)
    found = solved(problem)
    for vertex in box.vertices():
        assert problem.margins[0](found.point + vertex) >= 0


def test_scenarios_of_certificates_lie_in_the_ball(monkeypatch):
    """Also those that came from a point that did not withstand the last look."""
    from surefoot.search.certified.noise import Noise

    problem = random_problem(5, 4, budget=0.3)
    look, calls = Noise.harm, []

    def careless(self, H, u, effort=1, radius=None):
        calls.append(1)
        found = look(self, H, u, effort, radius)
        return found if len(calls) > 60 else found._replace(value=float(H(u)), perturbation=0 * u)

    monkeypatch.setattr(Noise, "harm", careless)
    found = certified_search(problem, 1e-3, 10.0)
    scenarios = found.certificate["bound"]["scenarios"]
    assert any(np.any(d) for d in scenarios)
    assert all(problem.ball.size(d) <= problem.budget for d in scenarios)
