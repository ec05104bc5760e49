import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Quadratic, Whitening
from surefoot.problem.geometry import Ball, lp_norm
from surefoot.proof.worst_case import (
    _between,
    _nowhere_negative,
    certified_radius,
    coverage,
    holds_everywhere,
    lowest_in_ball,
    worst_perturbation,
)
from surefoot.search.paper.backends import solve
from surefoot.search.paper.formulations.qcqp import adversary_program, adversary_view
from surefoot.search.paper.program import Options
from tests.problems import grid_points, mixed_problem, paper_problem, random_problem
from tests.thinning import only

NORMS = [1, 2, np.inf]
ZERO = np.zeros((2, 2))


def random_quadratic(n, seed):
    rng = np.random.default_rng(seed)
    kind = seed % 4
    Q = rng.standard_normal((n, n))
    Q = {0: Q + Q.T, 1: Q @ Q.T, 2: -Q @ Q.T, 3: np.zeros((n, n))}[kind]
    q = rng.standard_normal(n) * (0 if seed % 5 == 0 else 1)
    return Quadratic(Q, q, rng.standard_normal())


@pytest.mark.parametrize("p", NORMS)
@settings(max_examples=20)
@given(seed=st.integers(0, 500), radius=st.floats(0.01, 3))
def test_two_dimensions_by_brute_force(p, seed, radius):
    G = random_quadratic(2, seed)
    v, value, bound = lowest_in_ball(G, p, radius)
    grid = grid_points([-radius] * 2, [radius] * 2, 201)
    grid = grid[lp_norm(grid, p) <= radius]
    assert lp_norm(v, p) <= radius * (1 + 1e-9)
    assert bound <= value + 1e-12
    assert value - bound <= 1e-6 * max(1, abs(value))
    assert value <= G(grid).min() + 1e-9
    assert bound <= G(grid).min() + 1e-9


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("seed", only([3], [3, *range(20, 30)]))
def test_equal_to_scip(p, seed):
    problem = random_problem(5, seed, norm=p, budget=0.5)
    worst = worst_perturbation(problem, problem.factual)
    options = Options(gap=1e-7, absolute_gap=1e-7)
    for coordinates in ("features", "principal"):
        view = adversary_view(problem, 0, coordinates)
        outcome = solve(adversary_program(problem, problem.factual, 0, view), options, "scip")
        assert worst.violation == pytest.approx(-outcome.objective, abs=1e-5)
        delta = view.basis @ outcome.values[:5]
        assert problem.ball.contains(delta, tol=1e-6)
        assert worst.violation == pytest.approx(problem.violation(problem.factual, delta)[0], abs=1e-5)


@pytest.mark.parametrize("p", NORMS)
def test_random_perturbations_never_do_worse(bundled, p):
    from surefoot import ConditionalGaussianNetworkClassifier

    for name in ("banknote", "pima"):
        data = bundled[name]
        clf = ConditionalGaussianNetworkClassifier("ban").fit(data.X, data.y)
        whitening = clf.networks_[0].whitening()
        for row in data.X.to_numpy()[:3]:
            problem = paper_problem(row, (clf.decision_quadratic(1, 0),), whitening, p, 0.05)
            worst = worst_perturbation(problem, row)
            tried = problem.ball.sample(2000, 0)
            if p != 2:
                tried = np.vstack([tried, problem.ball.vertices()])
            assert problem.violation(row, tried).max() <= worst.violation + 1e-8
            assert worst.violation_bound - worst.violation <= 1e-6


@pytest.mark.parametrize("p", NORMS)
def test_certified_radius_is_the_distance_to_the_boundary(p):
    """For a linear margin that is known: margin / dual norm of the slope."""
    problem = random_problem(3, 1, norm=p, budget=0.1)
    slope = np.array([1.0, -2.0, 0.5])
    linear = Quadratic(np.zeros((3, 3)), slope, 1.0)
    linear_problem = paper_problem(problem.factual * 0, (linear,), problem.whitening, p, 0.1)
    dual = {1: np.inf, 2: 2, np.inf: 1}[p]
    expected = 1.0 / lp_norm(problem.whitening.inverse.T @ slope, dual)
    assert certified_radius(linear_problem, np.zeros(3)) == pytest.approx(expected, rel=1e-5)


@given(seed=st.integers(0, 60), p=st.sampled_from(NORMS))
@settings(max_examples=15)
def test_certified_radius_is_right_on_both_sides(seed, p):
    problem = random_problem(3, seed, norm=p, budget=0.1)
    inside = (
        problem.factual
        + 3
        * (
            np.linalg.lstsq(
                problem.margins[0].matrix * 2, -problem.margins[0].gradient(problem.factual), rcond=None
            )[0]
        )
    )
    radius = certified_radius(problem, inside)
    if problem.margin(inside) < 0:
        assert radius == 0
    elif np.isfinite(radius):
        assert worst_perturbation(problem, inside, radius).violation <= 1e-9
        assert worst_perturbation(problem, inside, radius * (1 + 1e-4) + 1e-9).violation >= -1e-7


def test_coverage():
    assert coverage(0.05, 0.05) == 1
    assert coverage(0.1, 0.05) == 1
    assert coverage(0.04, 0.05) == pytest.approx(0.8)
    assert coverage(0.0, 0.0) == 1


def test_zero_radius(rng):
    problem = random_problem(3, 0, budget=0.0)
    worst = worst_perturbation(problem, problem.factual)
    assert (worst.perturbation == 0).all()
    assert worst.violation == pytest.approx(-problem.margin(problem.factual))


def test_worst_of_several_rivals():
    problem = random_problem(3, 0, budget=0.3)
    easy = problem.margins[0] + 100.0
    both = paper_problem(problem.factual, (easy, problem.margins[0]), problem.whitening, budget=0.3)
    assert worst_perturbation(both, problem.factual).violation == pytest.approx(
        worst_perturbation(problem, problem.factual).violation
    )


def one(margin, ball, robust=True, factual=(0.0, 0.0), norm=2):
    whitening = Whitening(np.eye(len(factual)))
    return paper_problem(factual, (margin,), whitening, norm, robust=robust, ball=ball)


@given(seed=st.integers(0, 400))
def test_no_perturbation_of_a_mixed_ball_does_worse(seed):
    """Any norm, budgets by feature, features that land exactly, requirements that are not robust."""
    problem = mixed_problem(seed)
    rng = np.random.default_rng(seed)
    x = problem.factual + problem.metric.inverse @ rng.normal(size=problem.n_features)
    worst = worst_perturbation(problem, x)
    tried = problem.ball.sample(300, seed)
    if problem.ball.norm != 2:
        tried = np.vstack([tried, problem.ball.vertices()])
    size = max(1.0, abs(worst.violation), *(abs(g(x)) for g in problem.margins))
    assert problem.violation(x, tried).max() <= worst.violation_bound + 1e-9 * size
    assert problem.ball.contains(worst.perturbation)
    assert (worst.perturbation[~problem.ball.noisy] == 0).all()
    assert worst.violation == pytest.approx(problem.violation(x, worst.perturbation)[0], abs=1e-7 * size)
    assert 0 <= worst.violation_bound - worst.violation + 1e-12 * size <= 1e-6 * size


@given(seed=st.integers(0, 300))
@settings(max_examples=10)
def test_the_radius_of_a_mixed_ball(seed):
    problem = mixed_problem(seed)
    rng = np.random.default_rng(seed)
    x = problem.factual + problem.metric.inverse @ rng.normal(size=problem.n_features)
    robust = [r.margin for r in problem.requirements if r.robust]
    radius = certified_radius(problem, x)
    if not robust:
        assert radius == np.inf
    elif min(g(x) for g in robust) < 0:
        assert radius == 0
    elif np.isfinite(radius) and radius < 1e6:
        ball = replace(problem.ball, radius=radius)
        assert min(g(x + ball.sample(300, 0)).min() for g in robust) >= -1e-7
        wider = max(-_lowest(g, problem.ball, x, 1.001 * radius + 1e-9) for g in robust)
        assert wider >= -1e-6


def _lowest(g, ball, x, radius):
    return lowest_in_ball(g.in_coordinates(ball.basis, x + radius * ball.centre), ball.norm, radius)[1]


def test_an_asymmetric_box():
    """g = 1 + x_0 falls when x_0 is missed downwards, by 0.25 at most; upwards it may be missed by 2."""
    ball = Ball.box([0.25, 1.0], [2.0, 1.0])
    rising = Quadratic(np.zeros((2, 2)), [1.0, 0.0], 1.0)
    assert worst_perturbation(one(rising, ball), [0.0, 0.0]).violation == pytest.approx(-0.75)
    assert certified_radius(one(rising, ball), [0.0, 0.0]) == pytest.approx(4.0)
    falling = Quadratic(np.zeros((2, 2)), [-1.0, 0.0], 1.0)
    worst = worst_perturbation(one(falling, ball), [0.0, 0.0])
    assert worst.violation == pytest.approx(1.0)
    assert worst.perturbation[0] == 2.0
    assert certified_radius(one(falling, ball), [0.0, 0.0]) == pytest.approx(0.5)
    never = Ball.box([0.0, 1.0], [2.0, 1.0])
    assert certified_radius(one(rising, never), [0.0, 0.0], time_limit=2.0) >= 1e6


def test_features_that_land_exactly_are_never_perturbed():
    g = Quadratic(np.diag([1.0, 0.0]), [0.0, 100.0], 1.0)
    ball = Ball.whitened(Whitening(np.eye(2)), 2, 0.5, [1])
    problem = one(g, ball)
    assert worst_perturbation(problem, [0.0, 0.0]).violation == pytest.approx(-1.0)
    assert certified_radius(problem, [0.0, 0.0]) == np.inf
    assert holds_everywhere(problem, [0.0, 0.0])
    assert not holds_everywhere(problem)  # at other points it does not
    assert not holds_everywhere(problem, [0.0, -1.0])
    flat = one(Quadratic(np.zeros((2, 2)), [0.0, 100.0], 1.0), ball)
    assert certified_radius(flat, [0.0, 0.0]) == np.inf
    point = one(g, Ball.whitened(Whitening(np.eye(2)), 2, 0.5, [0, 1]))
    assert certified_radius(point, [0.0, 0.0]) == np.inf
    assert certified_radius(point, [0.0, -1.0]) == 0


def test_what_is_not_robust_counts_at_the_point_only():
    g = Quadratic(np.zeros((2, 2)), [1.0, 0.0], 1.0)
    ball = Ball.whitened(Whitening(np.eye(2)), 2, 5.0)
    problem = one(g, ball, robust=False)
    worst = worst_perturbation(problem, [0.5, 0.0])
    assert (worst.violation, worst.violation_bound) == (-1.5, -1.5)
    assert (worst.perturbation == 0).all()
    assert certified_radius(problem, [0.5, 0.0]) == np.inf
    assert worst_perturbation(problem, [-2.0, 0.0]).violation == 1.0


def test_time_runs_out_but_what_is_said_stays_proven():
    rng = np.random.default_rng(1)
    n = 25
    A = rng.normal(size=(n, n))
    G = Quadratic(A + A.T, rng.normal(size=n), 0.0)
    for p in (1, np.inf):
        start = time.perf_counter()
        v, value, bound = lowest_in_ball(G, p, 1.0, start + 0.2)
        assert time.perf_counter() - start < 1.5
        tried = Ball(np.eye(n), p, 1.0).sample(2000, 0)
        assert bound <= min(value, G(tried).min())
        assert lp_norm(v, p) <= 1 + 1e-9


def problem(*margins, norm=np.inf, budget=0.5, robust=True):
    return paper_problem([0.0, 0.0], margins, Whitening(np.eye(2)), norm, budget, robust=robust)


def test_coverage_of_a_budget_of_one():
    assert coverage(0.5, 1.0) == 0.5
    assert coverage(1.0, 1.0) == coverage(np.inf, 1.0) == coverage(0.0, 0.0) == 1.0


@pytest.mark.parametrize(
    ("matrix", "vector", "constant", "found"),
    [
        (ZERO, [0.0, 0.0], 0.0, True), (ZERO, [0.0, 0.0], 0.5, True), (ZERO, [0.0, 0.0], -1e-300, False),
        (ZERO, [1.0, 0.0], 9.0, False), (np.eye(2), [0.0, 0.0], 0.0, True),
        (np.eye(2), [0.0, 0.0], -1e-9, False), (np.eye(2), [2.0, -2.0], 2.0, True),
        (np.eye(2), [2.0, -2.0], 1.999, False), (np.eye(2), [2.0, -2.0], 2.5, True),
        (np.diag([1.0, 0.0]), [0.0, 1.0], 9.0, False), (np.diag([1.0, -1.0]), [0.0, 0.0], 9.0, False),
        (np.diag([1.0, 0.25]), [1.0, 1.0], 1.25, True), (np.diag([1.0, 0.25]), [1.0, 1.0], 1.24, False),
    ],
)  # fmt: skip
def test_quadratics_that_are_nowhere_negative(matrix, vector, constant, found):
    assert _nowhere_negative(Quadratic(matrix, vector, constant)) == found


def test_every_requirement_must_hold_everywhere():
    bowl, dip = Quadratic(np.eye(2), [0.0, 0.0], 1.0), Quadratic(np.eye(2), [0.0, 0.0], -1.0)
    for margins in ((bowl, dip), (dip, bowl)):
        assert not holds_everywhere(problem(*margins))
        assert not holds_everywhere(problem(*margins), [5.0, 5.0])
    assert holds_everywhere(problem(bowl, bowl))
    assert holds_everywhere(problem(bowl, dip, robust=[True, False]))


@pytest.mark.parametrize("norm", [1, np.inf])
def test_the_radius_of_what_never_changes(norm):
    """A margin of just zero holds, whatever is missed; so does one of just zero at its lowest."""
    assert certified_radius(problem(Quadratic(ZERO, [0.0, 0.0], 0.0), norm=norm), [0.0, 0.0]) == np.inf
    assert certified_radius(problem(Quadratic(ZERO, [0.0, 0.0], -1e-9), norm=norm), [0.0, 0.0]) == 0.0


@pytest.mark.parametrize("budget", [0.0, 0.25, 1.0, 3.0])
def test_the_radius_is_not_that_of_the_budget(budget):
    """The nearer edge counts: a distance of 2 along the first feature."""
    margins = Quadratic(ZERO, [-1.0, 0.0], 2.0), Quadratic(ZERO, [0.0, 1.0], 3.0)
    found = certified_radius(problem(*margins, budget=budget), [0.0, 0.0])
    assert 2.0 * (1 - 1e-6) < found <= 2.0
    assert certified_radius(problem(*margins[::-1], budget=budget), [0.0, 0.0]) == pytest.approx(
        2.0, rel=1e-6
    )
    assert certified_radius(problem(*margins, budget=budget), [2.5, 0.0]) == 0.0
    assert certified_radius(problem(*margins, budget=budget), [0.0, 0.0], time_limit=-1.0) == 0.0


def test_where_a_line_vanishes():
    assert _between(1.0, -1.0, 3.0, 1.0) == 2.0
    assert _between(1.0, -1.0, 3.0, 3.0) == 1.5
    assert _between(1.0, -0.5, 3.0, 0.25) == pytest.approx(1.0 + 2 * 2 / 3)
    for above in (np.inf, -1.0, -2.0):  # unknown, or no higher
        assert _between(1.0, -1.0, 3.0, above) == 2.0
    assert _between(1.0, 0.0, 3.0, 0.0) == 2.0
    for near in (_between(1.0, 0.0, 3.0, 1.0) - 1.0, 3.0 - _between(1.0, -1.0, 3.0, 0.0)):
        assert 1e-7 < near < 3e-7  # both ends are kept away from


def test_the_worst_of_several_requirements():
    slow, fast = Quadratic(ZERO, [1.0, 0.0], 1.0), Quadratic(ZERO, [0.0, 8.0], 4.5)
    for margins in ((slow, fast), (fast, slow)):
        for radius, violation in ((0.25, -0.75), (0.5, -0.5), (1.0, 3.5)):
            worst = worst_perturbation(problem(*margins), [0.0, 0.0], radius)
            assert worst.violation == pytest.approx(violation)
            assert worst.violation <= worst.violation_bound <= violation + 1e-9
            assert np.abs(worst.perturbation).max() == pytest.approx(radius)
    assert worst_perturbation(problem(slow, fast), [0.0, 0.0]).violation == pytest.approx(-0.5)
