import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Quadratic
from surefoot.proof.worst_case import certified_radius, coverage, lowest_in_ball, worst_perturbation
from surefoot.search.paper.backends import solve
from surefoot.search.paper.formulations.qcqp import adversary_program, adversary_view
from surefoot.search.paper.program import Options
from surefoot.waist.geometry import lp_norm
from tests.problems import grid_points, paper_problem, random_problem

NORMS = [1, 2, np.inf]


def random_quadratic(n, seed):
    rng = np.random.default_rng(seed)
    kind = seed % 4
    Q = rng.standard_normal((n, n))
    Q = {0: Q + Q.T, 1: Q @ Q.T, 2: -Q @ Q.T, 3: np.zeros((n, n))}[kind]
    q = rng.standard_normal(n) * (0 if seed % 5 == 0 else 1)
    return Quadratic(Q, q, rng.standard_normal())


@pytest.mark.parametrize("p", NORMS)
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
@settings(max_examples=10)
@given(seed=st.integers(0, 100))
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
