"""The paper's methods beyond the paper: rows, whole numbers, allowed values, other balls and requirements."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import ConditionalGaussianNetworkClassifier, Quadratic, Whitening
from surefoot.exceptions import BackendError, ProblemError
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.geometry import Ball, dual_exponent, lp_norm
from surefoot.problem.robust_problem import RobustProblem
from surefoot.problem.row import Row
from surefoot.problem.warp import Warp
from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.paper.backends import solve
from surefoot.search.paper.cutting_set import cutting_set
from surefoot.search.paper.formulations import MilpFormulation, QcqpFormulation, qcqp
from surefoot.search.paper.formulations.domain import values_between
from surefoot.search.paper.formulations.formulation import in_ball
from surefoot.search.paper.formulations.qcqp import adversary_program, adversary_view, master_program
from surefoot.search.paper.landing import landed
from surefoot.search.paper.program import Options
from surefoot.search.paper.rays import ray_point
from surefoot.status import Status
from tests.brute import nearest_by_trying
from tests.problems import NORMS, mixed_problem, paper_problem, random_problem
from tests.thinning import covering, only

EXACT = Options(gap=1e-4, absolute_gap=1e-7)
INF = np.inf


def formulations(problem, milp=True):
    """All that can be asked, each with a solver of its own."""
    yield QcqpFormulation(problem, "scip", EXACT, 1e-4)
    yield QcqpFormulation(problem, "gurobi", EXACT, 1e-4)
    if milp and problem.norm != 2 and problem.ball.norm != 2:
        low, high = problem.factual - 9 * problem.unit, problem.factual + 9 * problem.unit
        yield MilpFormulation(problem, "highs", EXACT, low, high, tol=1e-4)


def last_round(problem, formulation, **settings):
    *_, last = cutting_set(problem, formulation, **({"tol": 1e-4, "time_limit": 20} | settings))
    return last


def is_small(problem):
    """Whether brute force needs one fine axis at most, and none that is finer than its grid."""
    free = ~problem.domain.fixed
    free[[s.feature for s in problem.domain.sets]] = False
    few = problem.n_features <= 4 and free.sum() <= 1
    return few and np.linalg.cond(problem.whitening.matrix * problem.unit) < 300


SMALL = [seed for seed in range(130) if is_small(mixed_problem(seed))]
LINEAR = [seed for seed in SMALL if 2 not in (mixed_problem(seed).norm, mixed_problem(seed).ball.norm)]


@pytest.mark.parametrize("seed", SMALL)
def test_qcqp_by_trying(seed):
    problem = mixed_problem(seed)
    backend = ("scip", "gurobi")[seed % 2]
    last = last_round(problem, QcqpFormulation(problem, backend, EXACT, 1e-4))
    assert last.status in (Status.OPTIMAL, Status.INFEASIBLE)
    if last.status is Status.INFEASIBLE:
        assert nearest_by_trying(problem, 6.0) == INF
        return
    assert problem.domain.contains(last.candidate)
    assert worst_perturbation(problem, last.candidate).violation <= 1e-4 + 1e-6
    best = nearest_by_trying(problem, 1.05 * last.distance + 0.05)
    assert last.distance <= best * 1.001 + 1e-4
    assert last.lower_bound <= best * (1 + 1e-6) + 1e-6
    assert best <= last.distance * 1.03 + 0.01


@pytest.mark.parametrize("seed", only([seed for seed in LINEAR if seed not in (77, 107)], LINEAR))
def test_milp_by_trying(seed):
    """Segments that shrink may lose the optimum, but never claim a point or a bound that is not there."""
    problem = mixed_problem(seed)
    low, high = problem.factual - 3 * problem.unit, problem.factual + 3 * problem.unit
    last = last_round(problem, MilpFormulation(problem, "highs", EXACT, low, high, tol=1e-4), time_limit=5)
    if last.status is Status.INFEASIBLE:
        assert nearest_by_trying(problem, 6.0) == INF
    if last.status is not Status.OPTIMAL:
        return
    assert problem.domain.contains(last.candidate)
    assert worst_perturbation(problem, last.candidate).violation <= 1e-4 + 1e-6
    best = nearest_by_trying(problem, 1.05 * last.distance + 0.05)
    assert last.lower_bound <= best * (1 + 1e-6) + 1e-6
    assert last.distance >= best * 0.96 - 0.01 or best == INF


def line(slope, need, factual=(0.0, 0.0), *, domain=None, norm=INF, ball=None, budget=0.0):
    """g(x) = slope'(x - factual) - need, independent features of unit variance."""
    x0 = np.array(factual, dtype=float)
    g = Quadratic(np.zeros((len(x0), len(x0))), slope, -need, x0)
    return paper_problem(x0, (g,), Whitening(np.eye(len(x0))), norm, budget, domain=domain, ball=ball)


def open_domain(n=2, rows=(), sets=()):
    return Domain(np.full(n, -INF), np.full(n, INF), tuple(rows), tuple(sets))


@pytest.mark.parametrize(
    ("today", "need", "values", "budget", "expected"),
    [
        (3.0, 1.3, None, 0.0, 5.0),
        (3.0, 1.3, None, 0.9, 6.0),
        (2.6, 0.2, None, 0.0, 3.0),  # today is not whole, the next whole number is
        (2.6, 1.0, None, 0.5, 5.0),
        (2.6, 30.0, None, 0.0, 33.0),  # more values than have a binary each
        (2.6, 1.3, (0.5, 3.0, 4.25, 9.0), 0.0, 4.25),
        (2.6, 1.3, (0.5, 3.0, 4.25, 9.0), 0.5, 9.0),
        (2.6, 1.3, (4.0,), 0.0, 4.0),
    ],
)
def test_values_of_one_feature(today, need, values, budget, expected):
    domain = open_domain(1, sets=[ValueSet(0, values, today)])
    problem = line([1.0], need, [today], domain=domain, budget=budget)
    for formulation in formulations(problem):
        last = last_round(problem, formulation)
        assert last.status is Status.OPTIMAL
        assert last.candidate.tolist() == [expected]


@pytest.mark.parametrize("ends", [(-INF, INF), (-40.0, INF), (-40.0, 40.0)])
def test_a_value_of_today_that_is_not_whole_may_be_kept(ends):
    """The other feature is the cheaper way, so this one keeps a value that is not whole."""
    g = Quadratic(np.diag([0.0, -0.001]), [0.1, 1.0], -2.0, [2.6, 0.0])
    domain = Domain([ends[0], -INF], [ends[1], INF], (), (ValueSet(0, None, 2.6),))
    problem = paper_problem([2.6, 0.0], (g,), Whitening(np.eye(2)), 1, domain=domain)
    for formulation in formulations(problem):
        last = last_round(problem, formulation)
        assert last.status is Status.OPTIMAL
        assert last.candidate[0] == 2.6
        assert last.distance == pytest.approx(2.004, abs=2e-3)


@pytest.mark.parametrize("backend", ["scip", "gurobi"])
@pytest.mark.parametrize("high", [INF, 50.0])
def test_whole_numbers_without_a_known_point(backend, high, monkeypatch):
    """Nothing bounds them then; products take the place of coefficients, and the answer is the same."""
    monkeypatch.setattr(qcqp, "ray_point", lambda *_: None)
    near = Quadratic(-np.eye(2), [0.0, 0.0], 0.1, [6.3, 2.0])
    domain = Domain([-INF, -INF], [high, high], (), (ValueSet(0, None, 0.3), ValueSet(1, None, 0.5)))
    problem = paper_problem([0.3, 0.5], (near,), Whitening(np.eye(2)), 1, domain=domain)
    assert len(master_program(problem, [np.zeros(2)], "features").quadratic_rows) == 3
    last = last_round(problem, QcqpFormulation(problem, backend, EXACT))
    assert last.candidate.tolist() == [6.0, 2.0]


def test_today_outside_the_ends_is_not_kept():
    domain = Domain([3.2, -INF], [9.0, INF], (), (ValueSet(0, None, 2.6),))
    problem = line([0.0, 1.0], 1.0, [2.6, 0.0], domain=domain, norm=1)
    for formulation in formulations(problem):
        assert last_round(problem, formulation).candidate[0] == 4.0


def test_rows():
    """The first feature pays twice, but together they may not change by more than one."""
    rule = Row([1.0, 1.0], -INF, 1.0, "together")
    problem = line([2.0, 1.0], 1.5, norm=1, domain=open_domain(rows=[rule]), budget=0.1)
    for formulation in formulations(problem):
        last = last_round(problem, formulation)
        assert last.candidate == pytest.approx([0.85, 0.0], abs=2e-3)
    problem = line([1.0, 0.0], 1.5, norm=1, domain=open_domain(rows=[rule]), budget=0.1)
    for formulation in formulations(problem):
        last = last_round(problem, formulation)
        assert last.candidate == pytest.approx([1.6, -0.6], abs=2e-3)
        assert problem.domain.contains(last.candidate)
    linked = Row([1.0, -2.0], 0.0, 0.0, "the first follows the second")
    problem = line([1.0, 0.0], 1.0, domain=open_domain(rows=[linked]))
    for formulation in formulations(problem):
        last = last_round(problem, formulation)
        assert last.candidate == pytest.approx([1.0, 0.5], abs=2e-3)
        assert problem.domain.contains(last.candidate)


def test_rows_that_leave_nothing():
    rows = [Row([1.0, 1.0], 2.0, INF), Row([1.0, 1.0], -INF, 1.0)]
    domain = Domain([-9.0, -9.0], [9.0, 9.0], tuple(rows))
    problem = line([1.0, 0.0], 1.0, domain=domain)
    for formulation in formulations(problem):
        assert last_round(problem, formulation).status is Status.INFEASIBLE


def test_a_factual_that_breaks_a_row():
    problem = line([1.0, 0.0], 0.5, domain=open_domain(rows=[Row([0.0, 1.0], 2.0, INF)]), norm=1)
    for formulation in formulations(problem):
        assert last_round(problem, formulation).candidate == pytest.approx([0.5, 2.0], abs=2e-3)


@pytest.mark.parametrize(("p", "q"), covering(NORMS, NORMS))
def test_distance_and_ball_of_different_norms(p, q):
    """For a linear margin the ball costs its dual norm, and the distance to a half space is known too."""
    base = random_problem(3, 4)
    slope = np.array([1.0, -0.5, 2.0]) / base.unit
    g = Quadratic(np.zeros((3, 3)), slope, -1.0, base.factual)
    for exact in ((), (1,)):
        ball = Ball.whitened(base.whitening, q, 0.2, exact)
        problem = paper_problem(base.factual, (g,), base.whitening, p, ball=ball)
        need = 1 + 0.2 * lp_norm(ball.basis.T @ slope, dual_exponent(q))
        expected = need / lp_norm(base.whitening.inverse.T @ slope, dual_exponent(p))
        for formulation in formulations(problem):
            assert last_round(problem, formulation).distance == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("slope", "expected"), [([1.0, 0.0], 1.25), ([-1.0, 0.0], 3.0), ([0.0, 1.0], 1.0)])
def test_a_budget_by_feature(slope, expected):
    """Missed downwards by 0.25, upwards by 2; the second feature downwards not at all."""
    problem = line(slope, 1.0, ball=Ball.box([0.25, 0.0], [2.0, 1.0]), norm=2)
    for formulation in formulations(problem):
        last = last_round(problem, formulation)
        assert last.distance == pytest.approx(expected, abs=1e-3)
    problem = line(slope, 1.0, ball=Ball.box([0.25, 0.0], [2.0, 1.0]), norm=INF)
    for formulation in formulations(problem):
        last = last_round(problem, formulation)
        assert last.distance == pytest.approx(expected, abs=1e-3)
        assert problem.ball.contains(last.perturbation)


@settings(max_examples=12)
@given(seed=st.integers(0, 500))
def test_adversaries_of_any_ball(seed):
    """Both ways to write the adversary, and the relaxed one, against the proof's own search."""
    problem = mixed_problem(seed)
    robust = [r for r, requirement in enumerate(problem.requirements) if requirement.robust]
    if problem.ball.is_point or not robust:
        return
    ball, x, worst = problem.ball, problem.factual, []
    for r in robust:
        alone = RobustProblem(x, (problem.requirements[r],), problem.metric, ball, problem.domain)
        worst.append(worst_perturbation(alone, x).violation)
    size = max(1.0, *map(abs, worst))
    for coordinates in ("features", "principal"):
        for r, expected in zip(robust, worst, strict=True):
            view = adversary_view(problem, r, coordinates)
            program = adversary_program(problem, x, r, view)
            outcome = solve(program, Options(gap=1e-7, absolute_gap=1e-7, time_limit=20), "scip")
            assert -outcome.objective == pytest.approx(expected, abs=1e-4 * size)
            e = outcome.values[: view.basis.shape[1]]
            delta = in_ball(ball, ball.radius * (view.turn @ e))
            np.testing.assert_allclose(
                delta, ball.radius * ball.centre + view.basis @ e, atol=1e-5 * ball.feature_extent().max()
            )
            assert ball.contains(delta)
            assert (delta[~ball.noisy] == 0).all()


def test_the_relaxed_adversary_of_a_box_with_exact_features():
    problem = random_problem(4, 3)
    down, up = np.array([[0.0, 0.1, 0.3, 0.0], [0.0, 0.4, 0.0, 0.2]]) * problem.unit
    problem = paper_problem(problem.factual, problem.margins, problem.whitening, ball=Ball.box(down, up))
    low, high = problem.factual - 3 * problem.unit, problem.factual + 3 * problem.unit
    answer = MilpFormulation(problem, "highs", EXACT, low, high, tol=1e-4).adversary(problem.factual, 20.0)
    assert answer.violation == pytest.approx(worst_perturbation(problem, problem.factual).violation, abs=1e-3)
    assert answer.perturbation[0] == 0
    assert problem.ball.contains(answer.perturbation)


def test_only_robust_requirements_are_attacked():
    """A requirement of today's values only: no scenario is made for it, and none tightens it."""
    g = Quadratic(np.zeros((2, 2)), [1.0, 0.0], -1.0)
    h = Quadratic(np.zeros((2, 2)), [0.0, 1.0], -1.0)
    for flags, expected in (
        ((True, False), [1.5, 1.0]),
        ((False, False), [1.0, 1.0]),
        ((True, True), [1.5, 1.5]),
    ):
        problem = paper_problem([0.0, 0.0], (g, h), Whitening(np.eye(2)), 1, 0.5, robust=flags)
        for formulation in formulations(problem):
            assert last_round(problem, formulation).candidate == pytest.approx(expected, abs=2e-3)


def test_thresholds_of_their_own_and_a_density_floor(bundled):
    """Odds of a half in the whole ball, and a point that is not too unlikely."""
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    x0 = data.X.to_numpy()[5]
    odds, density = clf.decision_quadratic(1, 0), clf.networks_[1].log_density_quadratic()
    plain = paper_problem(x0, (odds,), clf.networks_[0].whitening(), INF, 0.05)
    near = last_round(plain, QcqpFormulation(plain, "gurobi", EXACT))
    floor = density(near.candidate) + 0.7
    problem = paper_problem(
        x0, (odds, density - floor), clf.networks_[0].whitening(), INF, 0.05, robust=(True, False)
    )
    found = [last_round(problem, f) for f in formulations(problem, milp=False)]
    for last in found:
        assert last.distance > near.distance * 1.001
        assert density(last.candidate) >= floor - 1e-3
        assert worst_perturbation(problem, last.candidate).violation <= 2e-3
    assert found[0].distance == pytest.approx(found[1].distance, rel=1e-3)


def test_what_the_milp_refuses():
    problem = random_problem(2, 0, norm=2)
    ends = problem.factual, problem.factual
    with pytest.raises(ProblemError, match="needs norm 1 or infinity; the 2-norm is not linear"):
        MilpFormulation(problem, "highs", EXACT, *ends)
    round_ball = Ball.whitened(problem.whitening, 2, 0.1)
    mixed = paper_problem(problem.factual, problem.margins, problem.whitening, 1, ball=round_ball)
    with pytest.raises(
        ProblemError, match=r"needs a ball of norm 1 or infinity.*use method='certified' or 'qcqp'"
    ):
        MilpFormulation(mixed, "highs", EXACT, *ends)
    calm = paper_problem(
        problem.factual, problem.margins, problem.whitening, 1, ball=round_ball, robust=False
    )
    MilpFormulation(calm, "highs", EXACT, *ends)  # nothing is perturbed


@given(seed=st.integers(0, 2000))
def test_landing(seed):
    """Whatever a solver misses by, ends, sets and rows hold to the last digit afterwards, and nearby."""
    problem = mixed_problem(seed)
    start = landed(problem, problem.factual)
    if not problem.domain.contains(start):
        return  # rows that exclude each other, or the values
    off = start + 1e-7 * problem.metric.inverse @ np.random.default_rng(seed).normal(size=problem.n_features)
    point = landed(problem, off)
    assert problem.domain.contains(point)
    assert problem.metric.distance(point, off) <= 1e-4 + 2 * problem.metric.distance(
        problem.domain.clipped(off), off
    )
    np.testing.assert_array_equal(landed(problem, start), start)


def test_landing_leaves_what_cannot_be_mended():
    domain = Domain([0.0, 0.0], [0.0, 1.0], (Row([1.0, 1.0], 5.0, INF),))
    problem = line([1.0, 0.0], 0.5, domain=domain)
    assert landed(problem, np.array([0.3, 0.5])).tolist() == [0.0, 1.0]


@given(seed=st.integers(0, 1000))
def test_points_on_rays_are_allowed(seed):
    problem = mixed_problem(seed)
    scenarios = [np.zeros(problem.n_features), *problem.ball.sample(3, seed)]
    point = ray_point(problem, scenarios)
    if point is not None:
        assert problem.domain.contains(landed(problem, point))
        assert problem.violation(point, scenarios).max() <= 1e-6 * max(
            1.0, abs(problem.margin(problem.factual))
        )


def test_values_between():
    whole, listed = ValueSet(0, None, 2.5), ValueSet(0, (1.0, 4.0), 2.5)
    assert values_between(whole, 0.5, 4.0, 9) == [1.0, 2.0, 2.5, 3.0, 4.0]
    assert values_between(whole, 0.5, 4.0, 4) is None
    assert values_between(whole, -INF, 4.0, 9) is None
    assert values_between(whole, 0.0, INF, 9) is None
    assert values_between(listed, -INF, INF, 3) == [1.0, 2.5, 4.0]
    assert values_between(listed, 1.5, 2.0, 3) == []


def curved_problem(today, high, values=None, norm=INF, need=2.9):
    """Two features, the first of them whole (or listed) and measured on the scale of logarithms."""
    warp, H = Warp(0.0, scale=2.0), Quadratic(np.zeros((2, 2)), np.array([1.0, 0.4]), -need)
    allowed = ValueSet(0, values, today, warp)
    domain = Domain([0.0, -0.3], [warp.exactly(high), 0.3], sets=(allowed,))
    factual = np.array([warp.exactly(today), 0.0])
    return paper_problem(factual, (H,), Whitening(np.diag([1.0, 1.5]), "cholesky"), norm, 0.01, domain=domain)


@pytest.mark.parametrize(
    ("today", "values", "norm"), covering([7.0, 7.5], [None, (1.0, 16.0, 33.5, 34.5)], NORMS)
)
def test_values_on_a_curved_scale(today, values, norm):
    """Whole numbers are whole in the feature's own units, not on the scale."""
    problem = curved_problem(today, 60.0, values, norm)
    tried = []
    for value in values_between(problem.domain.sets[0], problem.domain.low[0], problem.domain.high[0], 99):
        rest = max(0.0, 2.9 - value) / 0.4
        tried.append(rest <= 0.3 and max(abs(value - problem.factual[0]), 1.5 * rest))
    nearest = min(distance for distance in tried if distance is not False)
    for formulation in formulations(problem):
        last = last_round(problem, formulation)
        assert last.status is Status.OPTIMAL
        assert problem.domain.contains(last.candidate)
        assert worst_perturbation(problem, last.candidate).violation <= 1e-3
        if norm == INF:
            assert nearest - 1e-3 <= last.distance <= nearest + 0.05


def test_too_many_whole_numbers_on_a_curved_scale():
    problem = curved_problem(7.0, 1e6, need=8.0)
    with pytest.raises(BackendError, match="more than 1000 whole numbers on a curved scale"):
        last_round(problem, QcqpFormulation(problem, "scip", EXACT, 1e-4))


def test_a_plain_problem_has_neither_integers_nor_rows_of_a_domain():
    problem = random_problem(4, 1)
    box = Domain(problem.factual - problem.unit, problem.factual + problem.unit)
    for domain in (None, box):
        plain = paper_problem(problem.factual, problem.margins, problem.whitening, INF, 0.1, domain=domain)
        program = master_program(plain, [np.zeros(4)], "features")
        assert not program.integer.any()
        assert program.rows.shape[0] == 2 * 4 + 1


@pytest.mark.parametrize(("limit", "kind"), covering([0.0, 0.3], ["scip", "gurobi", "highs"]))
def test_the_time_limit_is_kept(bundled, kind, limit):
    data = bundled["ionosphere"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    x0 = data.X.to_numpy()[np.flatnonzero(clf.predict(data.X) == 0)[0]]
    problem = paper_problem(x0, (clf.decision_quadratic(1, 0),), clf.networks_[0].whitening(), INF, 0.05)
    formulation = QcqpFormulation(problem, kind, Options(gap=1e-6))
    if kind == "highs":
        formulation = MilpFormulation(problem, kind, Options(gap=1e-6), *clf.feature_percentiles_)
    start = time.perf_counter()
    last = last_round(problem, formulation, time_limit=limit, tol=1e-6)
    assert time.perf_counter() - start < limit + 2.0  # 0.5 s on a machine of one's own
    assert last.status.is_cut_short


def test_stating_a_program_takes_part_in_the_time():
    problem = random_problem(12, 1, density=1.0)
    formulation = MilpFormulation(
        problem, "scip", EXACT, problem.factual - 3 * problem.unit, problem.factual + 3 * problem.unit, 2000
    )
    start = time.perf_counter()
    answer = formulation.adversary(problem.factual, 0.2)
    assert time.perf_counter() - start < 2.0
    assert answer.status is Status.TIME_LIMIT_NO_POINT
    assert answer.message == "no time was left"
