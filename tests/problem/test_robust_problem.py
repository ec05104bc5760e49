import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import ConditionalGaussianNetworkClassifier, Quadratic, Whitening
from surefoot.exceptions import DataError, ProblemError
from surefoot.model.network import theorem_lipschitz_constant
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.geometry import Ball, Metric, lp_norm
from surefoot.problem.robust_problem import Requirement, RobustProblem, log_odds
from tests.problems import mixed_problem, paper_problem, random_problem, rough_problem


@pytest.mark.parametrize("threshold", [0, 1, -0.1, 1.1, np.nan, "0.5"])
def test_threshold(threshold):
    with pytest.raises(ProblemError, match="strictly between 0 and 1"):
        random_problem(2, 0, threshold=threshold)


def test_bad_settings():
    with pytest.raises(DataError, match="budget must be a finite number >= 0"):
        random_problem(2, 0, budget=-1)
    with pytest.raises(DataError, match="norm must be 1, 2"):
        random_problem(2, 0, norm=3)
    problem = random_problem(2, 0)
    with pytest.raises(ProblemError, match="row of finite numbers"):
        paper_problem([np.nan, 0.0], problem.margins, problem.whitening)
    with pytest.raises(ProblemError, match="differ in size"):
        paper_problem([0.0, 0.0, 0.0], problem.margins, problem.whitening)
    with pytest.raises(ProblemError, match="needs a requirement"):
        paper_problem([0.0, 0.0], (), problem.whitening)
    other = Domain([-9.0] * 2, [9.0] * 2, (), (ValueSet(0, None, 1.5),))
    with pytest.raises(ProblemError, match="belongs to another factual"):
        paper_problem([0.0, 0.0], problem.margins, problem.whitening, domain=other)


def test_the_threshold_is_part_of_the_margin():
    plain, strict = random_problem(2, 0), random_problem(2, 0, threshold=0.8)
    assert log_odds(0.5) == 0
    assert plain.margin(plain.factual) - strict.margin(plain.factual) == pytest.approx(np.log(4))


def test_what_is_not_robust_sees_no_perturbation():
    g, h = (Quadratic(np.zeros((2, 2)), slope, 1.0) for slope in ([1.0, 0.0], [0.0, 1.0]))
    metric = Metric(Whitening(np.eye(2)), 2)
    problem = RobustProblem(
        np.zeros(2),
        (Requirement(g, robust=False), Requirement(h)),
        metric,
        Ball.whitened(metric.whitening, 2, 5.0),
    )
    shifts = np.array([[-3.0, 0.0], [0.0, -3.0], [0.0, 0.0]])
    np.testing.assert_allclose(problem.violation(np.zeros(2), shifts), [-1.0, 2.0, -1.0])
    assert [problem.radius_of(r) for r in problem.requirements] == [0.0, 5.0]
    assert problem.margin([-3.0, 0.0]) == -2.0


@given(seed=st.integers(0, 100), p=st.sampled_from([1, 2, np.inf]))
def test_lipschitz_bound_holds(seed, p):
    problem = random_problem(4, seed, norm=p)
    G = problem.lipschitz_bound(2.0)
    rng = np.random.default_rng(seed)
    inside = Ball.whitened(problem.whitening, p, 2.0).sample(40, rng) + problem.factual
    H = problem.margins[0]
    for x, y in zip(inside[::2], inside[1::2], strict=True):
        assert abs(H(x) - H(y)) <= G * problem.metric.distance(x, y) + 1e-9
    assert np.isfinite(problem.iteration_bound(2.0, 1e-3))


@pytest.mark.parametrize("p", [1, 2, np.inf])
def test_our_lipschitz_bound_is_not_larger_than_the_theorems(bundled, p):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("ban").fit(data.X, data.y)
    whitening = clf.networks_[0].whitening()
    factual = data.X.iloc[0].to_numpy()
    problem = paper_problem(factual, (clf.decision_quadratic(1, 0),), whitening, p)
    radius = 2.0
    around_origin = radius + lp_norm(whitening.apply(factual), p)
    theorem = theorem_lipschitz_constant(clf.networks_, whitening, p, around_origin)
    assert problem.lipschitz_bound(radius) <= theorem


def test_random_problems_have_a_bit_of_everything():
    mixed = [mixed_problem(seed) for seed in range(200)]
    assert {p.n_features for p in mixed} == set(range(1, 7))
    assert {(p.norm, p.ball.norm) for p in mixed} == {(a, b) for a in (1, 2, np.inf) for b in (1, 2, np.inf)}
    assert {len(p.requirements) for p in mixed} == {1, 2, 3}
    assert {r.robust for p in mixed for r in p.requirements} == {True, False}
    for part in (
        [bool(p.domain.rows) for p in mixed],
        [bool(p.domain.sets) for p in mixed],
        [p.domain.contains(p.factual) for p in mixed],
        [p.ball.is_point for p in mixed],
        [p.ball.noisy.all() for p in mixed],
        [p.ball.centre.any() for p in mixed],
        [np.linalg.cond(p.whitening.matrix * p.unit) > 100 for p in mixed],
        [np.abs(p.factual / p.unit).max() > 1000 for p in mixed],
    ):
        assert 5 <= np.sum(part) <= 195
    again = mixed_problem(7)
    np.testing.assert_array_equal(again.factual, mixed[7].factual)


def test_rough_problems_are_the_ones_they_always_were():
    """Results that were measured with them stay comparable."""
    drawn = [
        (0, 2, 0.05, 0.0, -1.420323734051946),
        (9, np.inf, 0.3, 186.4092963316357, -1.8557385065239695),
        (21, np.inf, 0.01, -326.5770509460417, -2.626553926889742),
    ]
    for seed, norm, budget, total, margin in drawn:
        _, problem = rough_problem(seed)
        assert (problem.norm, problem.budget) == (norm, budget)
        assert problem.factual.sum() == pytest.approx(total)
        assert problem.margin(problem.factual) == pytest.approx(margin)
