import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.exceptions import DataError, ProblemError
from surefoot.model.network import theorem_lipschitz_constant
from surefoot.waist.geometry import lp_norm
from surefoot.waist.problem import Constraints, Domain, RobustProblem
from tests.problems import random_problem

NAMES = ("age", "income", "debt")


def test_domain_from_names():
    domain = Constraints.by_name(
        NAMES,
        bounds={"income": (1, None), "debt": (None, 7.0)},
        immutable=["age"],
        increasing=["income"],
        decreasing=["debt"],
    ).domain([30.0, 2.0, 5.0])
    np.testing.assert_array_equal(domain.low, [30, 2, -np.inf])
    np.testing.assert_array_equal(domain.high, [30, np.inf, 5])
    assert domain.contains([30, 2.5, 1])
    assert not domain.contains([30, 1.5, 1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"immutable": ["height"]}, "immutable: unknown feature 'height'"),
        ({"immutable": "age"}, "immutable must be a list"),
        ({"bounds": {"age": (3, 1)}}, "bounds of 'age' are empty"),
        ({"bounds": {"age": 3}}, "must be a pair"),
        ({"bounds": {"age": (np.nan, 1)}}, "must be numbers or None"),
        (
            {"bounds": {"age": (40, 50)}, "immutable": ["age"]},
            "'age' is immutable and its value 30 lies outside",
        ),
        ({"bounds": {"age": (None, 20)}, "increasing": ["age"]}, "'age' is increasing"),
        ({"bounds": {"age": (40, None)}, "decreasing": ["age"]}, "'age' is decreasing"),
    ],
)
def test_contradictions_are_named(settings, message):
    with pytest.raises(ProblemError, match=message):
        Constraints.by_name(NAMES, **settings).domain([30.0, 2.0, 5.0])


@pytest.mark.parametrize("threshold", [0, 1, -0.1, 1.1, np.nan])
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
        RobustProblem([np.nan, 0.0], problem.margins, problem.whitening)
    with pytest.raises(ProblemError, match="differ in size"):
        RobustProblem([0.0, 0.0, 0.0], problem.margins, problem.whitening)
    with pytest.raises(ProblemError, match="one pair for each feature"):
        Domain([0.0], [np.nan])


def test_log_odds_threshold():
    assert random_problem(2, 0).log_odds_threshold == 0
    assert random_problem(2, 0, threshold=0.8).log_odds_threshold == pytest.approx(np.log(4))


@given(seed=st.integers(0, 100), p=st.sampled_from([1, 2, np.inf]))
def test_lipschitz_bound_holds(seed, p):
    problem = random_problem(4, seed, norm=p)
    G = problem.lipschitz_bound(2.0)
    rng = np.random.default_rng(seed)
    inside = problem.ball.__class__(problem.whitening, p, 2.0).sample(40, rng) + problem.factual
    H = problem.margins[0]
    for x, y in zip(inside[::2], inside[1::2], strict=True):
        assert abs(H(x) - H(y)) <= G * problem.whitening.distance(x, y, p) + 1e-9
    assert np.isfinite(problem.iteration_bound(2.0, 1e-3))


@pytest.mark.parametrize("p", [1, 2, np.inf])
def test_our_lipschitz_bound_is_not_larger_than_the_theorems(bundled, p):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("ban").fit(data.X, data.y)
    whitening = clf.networks_[0].whitening()
    factual = data.X.iloc[0].to_numpy()
    problem = RobustProblem(factual, (clf.decision_quadratic(1, 0),), whitening, norm=p)
    radius = 2.0
    around_origin = radius + lp_norm(whitening.apply(factual), p)
    theorem = theorem_lipschitz_constant(clf.networks_, whitening, p, around_origin)
    assert problem.lipschitz_bound(radius) <= theorem
