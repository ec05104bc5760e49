"""The search over allowed values: majorants, peaks, rounded points and the tree."""

import itertools

import numpy as np
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, Qcqp, verify
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.geometry import Ball, Metric, Whitening, dual_exponent, lp_norm
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.search.certified import certified_search
from surefoot.search.certified.bounds import Bounds
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.frame import Top
from surefoot.search.certified.lattice import fits
from surefoot.search.certified.majorant import Bends, _made, at_least, cheaper, cheapest
from surefoot.search.certified.peak import Columns
from surefoot.search.certified.search import Search
from surefoot.search.certified.space import whitened
from surefoot.status import Status
from tests.asking import CounterfactualExplainer
from tests.problems import mixed_problem
from tests.thinning import covering, only


def random_problem(rng, n=4, m=9):
    Q = rng.normal(size=(n, n))
    slopes = np.vstack([np.eye(n), rng.normal(size=(m - n, n))])
    return (Q + Q.T) / 2, slopes


@pytest.mark.parametrize("seed", range(20))
def test_majorants_are_concave_and_cheap(seed):
    rng = np.random.default_rng(seed)
    Q, slopes = random_problem(rng)
    bends = Bends(slopes, np.arange(9), 9)
    costs = rng.uniform(0.1, 4.0, len(slopes))
    major = cheapest(bends, costs, Q)
    assert np.linalg.eigvalsh(bends.curvature(major.weights) - Q)[0] > 0
    plain = max(np.linalg.eigvalsh(Q)[-1], 0.0) * costs[: len(Q)].sum()
    assert costs @ major.weights <= 1.1 * plain + 1e-2 * costs.sum()
    other = rng.uniform(0.1, 4.0, len(slopes))
    moved = cheaper(major, other, Q)
    assert np.linalg.eigvalsh(bends.curvature(moved.weights) - Q)[0] > 0
    assert other @ moved.weights <= other @ major.weights


@pytest.mark.parametrize("seed", range(20))
def test_a_norm_pays_for_curvature_too(seed):
    rng = np.random.default_rng(seed)
    Q, slopes = random_problem(rng)
    s = rng.uniform(-1, 1, 4)
    rows = np.vstack([slopes, s, np.diag(np.sqrt(1 - s**2))])
    bends = Bends(rows, np.concatenate([np.arange(9), np.full(5, 9)]), 9)
    A = rows[9:].T @ rows[9:]
    w = rng.uniform(0.1, 1.0, 10)
    assert bends.curvature(w) == pytest.approx((slopes.T * w[:9]) @ slopes + w[9] * A)
    u = rng.normal(size=4)
    assert bends.round(u) == pytest.approx(u @ A @ u)
    major = at_least(bends, w, np.ones(10), 10 * Q)
    assert (major.weights >= w).all()
    K = bends.curvature(major.weights) - 10 * Q
    assert np.linalg.eigvalsh(K)[0] > 1e-4 * np.abs(10 * Q).max()  # some room
    assert major.inverse == pytest.approx(np.linalg.inv(K), rel=1e-6)  # which costs nothing


@pytest.mark.parametrize("seed", range(10))
def test_weights_that_leave_nothing_definite_are_replaced(seed):
    """Rounding may hide what very large weights leave: then plain ones are taken, and nothing stops."""
    rng = np.random.default_rng(seed)
    Q, slopes = random_problem(rng)
    bends = Bends(slopes, np.arange(9), 9)
    for useless in (np.zeros(9), -np.ones(9)):
        major = _made(bends, useless, Q)
        K = bends.curvature(major.weights) - Q
        assert np.linalg.eigvalsh(K)[0] > 0
        assert major.inverse == pytest.approx(np.linalg.inv(K), rel=1e-6)


def test_ends_that_are_immensely_far_away_have_no_price():
    """What they lack, in units of what is lacking, is beyond doubles."""
    columns = np.hstack([np.eye(2), -np.eye(2)])
    found = Columns(columns).peak(np.array([1e-280, 0.0]), np.array([0.0, 1e50, 1e50, 1e50]))
    assert not found.excluded
    assert 0 < found.prices[0] < 1e-279
    assert not found.prices[1:].any()


def test_no_end_may_have_a_price():
    """Nothing is asked of a solver that does not survive a matrix without columns."""
    found = Columns(np.eye(3)).peak(np.ones(3), np.zeros(3), np.zeros(0, dtype=np.intp))
    assert not found.excluded
    assert not found.prices.any()


@pytest.mark.parametrize("seed", range(30))
def test_peaks_between_ends(seed):
    rng = np.random.default_rng(seed)
    columns, free = rng.normal(size=(4, 9)), 3 * rng.normal(size=4)
    inside = 0.3 * rng.normal(size=4)
    at = inside @ columns
    ends = at + rng.uniform(0, 1, 9)
    ends[5] = at[5]
    columns, ends = np.hstack([columns, -columns[:, 5:6]]), np.append(ends, -at[5])  # an equation
    found = Columns(columns).peak(free, ends)
    assert not found.excluded
    z = free - columns @ found.prices  # the nearest place: inside, and priced where it touches alone
    assert (z @ columns <= ends + 1e-9).all()
    assert (found.prices >= 0).all()
    assert found.prices @ (ends - z @ columns) == pytest.approx(0.0, abs=1e-9)


def test_a_peak_inside_has_no_prices():
    found = Columns(np.eye(2)).peak(np.array([0.2, 0.1]), np.ones(2))
    assert not found.prices.any()
    assert not found.excluded


def test_ends_that_exclude_each_other():
    columns = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]).T
    ends = np.array([1.0, 1.0, -3.0])
    found = Columns(columns).peak(np.array([0.2, 0.1]), ends)
    assert columns @ found.prices == pytest.approx(0.0, abs=1e-6)
    assert found.prices @ ends < 0
    assert found.missing == pytest.approx(-(found.prices @ ends), rel=1e-6)


def lattice_problems():
    for seed in itertools.count():
        problem = mixed_problem(seed)
        if fits(whitened(problem)):
            yield problem


@pytest.mark.parametrize("seed", range(30))
def test_peaks_within_a_cross_polytope(seed):
    """What prices prove is attained between the ends and within the level: neither can be better."""
    rng = np.random.default_rng(seed)
    n, x0 = 5, np.zeros(5)
    Q = rng.normal(size=(n, n))
    margin = Quadratic(Q + Q.T, rng.normal(size=n), -1.0)
    whitening = Whitening(np.eye(n) + 0.3 * np.triu(rng.normal(size=(n, n)), 1), "cholesky")
    domain = Domain(x0 - rng.uniform(0, 3, n), x0 + rng.uniform(0, 3, n), (), (ValueSet(1, None, 0.0),))
    ball = Ball.whitened(whitening, 1.0, 0.0)
    problem = RobustProblem(x0, (Requirement(margin),), Metric(whitening, 1.0), ball, domain)
    rounding = Search(whitened(problem), 1e-3, Clock(5.0))._lattice(x0).rounding
    rounding.bend(1.0, 1.0)
    K = np.linalg.inv(rounding.bent.inverse)
    for level in rng.uniform(0.1, 4.0, 20):
        ends = rounding.frame.within(rounding.frame.low, rounding.frame.high, level)
        top = Top(20 * rng.normal(size=n), 0.0, 0)
        found = rounding.frame.peak(rounding.bent, top, ends, level)
        u, y = found.u, rounding.frame.slopes @ found.u
        assert np.abs(u).sum() <= level * (1 + 1e-6)
        assert (y >= ends[0] - 1e-6 * level).all()
        assert (y <= ends[1] + 1e-6 * level).all()
        assert found.value == pytest.approx(top.slope @ u - u @ K @ u, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("number", only([0, 2, 3, 4, 5, 6, 7, 8, 10, 11], range(12)))
def test_the_tree_agrees_with_semidefinite_bounds(number, monkeypatch):
    problem = next(itertools.islice(lattice_problems(), number, None))

    def bounds():
        search = Search(whitened(problem), 1e-3, Clock(0.7))
        return search.run(), search.points.distance, search.bound

    status, distance, bound = bounds()
    monkeypatch.setattr("surefoot.search.certified.search.fits", lambda space: False)
    other, known, least = bounds()
    if Status.OPTIMAL in (status, other):
        assert bound <= known * (1 + 1e-9)
        assert least <= distance * (1 + 1e-9)
    if status is other is Status.OPTIMAL:
        assert distance == pytest.approx(known, rel=2e-3, abs=2e-6)


@pytest.mark.parametrize("norm", [np.inf, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(6))
def test_a_linear_margin_in_an_open_domain(seed, norm):
    """The steeper feature may only move the wrong way: without curvature peaks lie far away there."""
    rng = np.random.default_rng(seed)
    x0, gains = np.round(10 * rng.normal(size=2)), np.array([-rng.uniform(2, 5), rng.uniform(0.1, 0.3)])
    whitening, radius = Whitening(np.diag([1.3, 0.06]), "cholesky"), 0.05
    domain = Domain(np.full(2, -np.inf), x0, (), (ValueSet(1, None, float(x0[1])),))  # both may only fall
    margin = Quadratic(np.zeros((2, 2)), -gains, float(gains @ x0) - rng.uniform(0.5, 5))
    ball = Ball.whitened(whitening, norm, radius)
    problem = RobustProblem(x0, (Requirement(margin),), Metric(whitening, norm), ball, domain)
    found = certified_search(problem, 1e-3, 20.0)
    assert found.status is Status.OPTIMAL
    lacking = radius * lp_norm(gains / np.diag(whitening.matrix), dual_exponent(norm)) - margin(x0)
    best = 0.06 * np.ceil(lacking / gains[1])
    assert problem.distance(found.point) == pytest.approx(best, rel=1.2e-3)
    assert found.lower_bound <= best * (1 + 1e-9)


def test_margins_that_nothing_changes_are_bent_too():
    """With a slope of zero there is nothing to measure curvature by; peaks must not overflow."""
    whitening, x0 = Whitening(np.eye(2), "cholesky"), np.zeros(2)
    margin = Requirement(Quadratic(np.zeros((2, 2)), np.zeros(2), 1.0))
    ball, domain = Ball.whitened(whitening, 2.0, 0.0), Domain(x0 - 4, x0 + 4, (), (ValueSet(1, None, 0.0),))
    problem = RobustProblem(x0, (margin,), Metric(whitening, 2.0), ball, domain)
    bent = Search(whitened(problem), 1e-3, Clock(5.0))._lattice(x0).rounding.concave
    assert np.isfinite(np.linalg.inv(bent) ** 2).all()


SCALES = np.array([13.3, 3530.0, 1.09, 0.56, 0.36])  # months, an amount, a rate, loans and people


def loan(gains, bends, constant, today=(30.0, 8072.0, 2.0, 3.0, 1.0), budget=0.0):
    """Whole numbers of very different sizes: a month is a step of its own, an amount next to none."""
    low, high = np.array([4.0, 250.0, 1.0, 1.0, 1.0]), np.array([72.0, 18_000.0, 4.0, 4.0, 2.0])
    x0, whitening = np.array(today), Whitening(np.diag(1 / SCALES), "cholesky")
    margin = Quadratic(np.diag(np.array(bends) / SCALES**2), np.array(gains) / SCALES, constant, x0)
    domain = Domain(low, high, (), tuple(ValueSet(k, None, float(x0[k])) for k in range(5)))
    ball = Ball.whitened(whitening, np.inf, budget)
    return RobustProblem(x0, (Requirement(margin),), Metric(whitening, np.inf), ball, domain)


def nearest_loan(problem, most):
    """By all values within a distance; no perturbations."""
    x0, (low, high) = problem.factual, (problem.domain.low, problem.domain.high)
    ranges = [
        np.arange(max(low[k], x0[k] - np.floor(most * s)), min(high[k], x0[k] + np.floor(most * s)) + 1)
        for k, s in enumerate(SCALES)
    ]
    every = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, 5)
    sizes = np.abs((every - x0) / SCALES).max(axis=1)
    return float(sizes[problem.requirements[0].margin(every) >= 0].min())


GAINS, BENDS = (-0.62, -0.57, -0.2, 0.75, 0.02), (-0.22, -0.58, 0.036, 0.043, 0.006)


@pytest.mark.parametrize("gap", [9e-3, 3e-3, 9e-4])
def test_a_point_that_cannot_step_inside_counts_where_it_is(gap):
    """One month and 410 less turn the decision by a hair; what is nearer does not."""
    step = loan(GAINS, BENDS, 0.0).requirements[0].margin(np.array([29.0, 7662.0, 2.0, 3.0, 1.0]))
    problem = loan(GAINS, BENDS, 1e-5 - float(step))
    search = Search(whitened(problem), gap, Clock(20.0))
    assert search.run() is Status.OPTIMAL
    assert search.points.distance == pytest.approx(nearest_loan(problem, 0.2), rel=gap)
    assert search.bounds.nodes < 100


@pytest.mark.parametrize("lacking", np.linspace(0.02, 0.4, 12).tolist())
def test_points_come_nearer_by_halves_not_by_gaps(lacking):
    problem = loan(GAINS, BENDS, -lacking)
    search = Search(whitened(problem), 1e-4, Clock(20.0))
    assert search.run() is Status.OPTIMAL
    assert search.points.distance == pytest.approx(nearest_loan(problem, 0.7), rel=1e-4)
    assert search.bounds.nodes < 100


@pytest.mark.parametrize("share", [0.7, 0.98, 1.02, 1.5, 5.0])
@pytest.mark.parametrize("lacking", [0.05, 0.15, 0.3])
def test_levels_are_refuted_over_values(lacking, share, monkeypatch):
    semidefinite, attempt = [], Bounds.attempt
    monkeypatch.setattr(Bounds, "attempt", lambda *told: semidefinite.append(1) or attempt(*told))
    problem = loan(GAINS, BENDS, -lacking)
    search = Search(whitened(problem), 1e-3, Clock(20.0))
    assert search.refute(share * nearest_loan(problem, 0.7)) == (share < 1)
    assert len(semidefinite) <= 1


@pytest.fixture(scope="module")
def pima(bundled):
    data = bundled["pima"]
    whole = [name for name in data.X if (data.X[name] % 1 == 0).all()]
    actions = Actions({name: Action(whole=True) for name in whole})
    return data, ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y), actions


@pytest.mark.parametrize("norm", [np.inf, 1.0, 2.0])
@pytest.mark.parametrize("row", [3, 18, 409])
def test_whole_numbers_are_proved(pima, row, norm):
    data, clf, actions = pima
    explainer = CounterfactualExplainer(clf, budget=0.05, norm=norm, gap=5e-3, actions=actions)
    e = explainer.explain(data.X.iloc[row])
    assert e.status is Status.OPTIMAL
    assert e.gap <= 5e-3
    assert verify(e, clf).ok


FEW = 12  # regions that rounding may leave to semidefinite bounds, of hundreds
LINKS = [("pedi", "plas", -1.0), ("plas", "pedi", -96.0), ("pres", "mass", 2.0), ("skin", "pres", 1.0)]


@pytest.mark.parametrize(("link", "norm"), covering(LINKS, [np.inf, 1.0, 2.0]))
def test_linked_whole_numbers_are_proved(pima, link, norm, monkeypatch):
    """An equation is a slab without width; the bounds are those of the search that eliminates it."""
    data, clf, _ = pima
    asked = CounterfactualExplainer(clf, budget=0.05, norm=norm, gap=0.02, actions=Actions(links=[link]))
    semidefinite, attempt = [], Bounds.attempt
    with monkeypatch.context() as patched:
        patched.setattr(Bounds, "attempt", lambda *told: semidefinite.append(1) or attempt(*told))
        e = asked.explain(data.X.iloc[18])
    assert e.status is Status.OPTIMAL
    assert verify(e, clf).ok
    assert norm != np.inf or len(semidefinite) <= FEW
    monkeypatch.setattr("surefoot.search.certified.search.fits", lambda space: False)
    other = asked.explain(data.X.iloc[18])
    assert e.lower_bound <= other.distance * (1 + 1e-9)
    assert other.lower_bound <= e.distance * (1 + 1e-9)


def test_the_tree_goes_on_once_another_search_finds_a_point(pima, monkeypatch):
    """The link leaves three values of the first feature: rounding finds none of them within its few tries."""
    data, clf, _ = pima
    semidefinite, attempt = [], Bounds.attempt
    monkeypatch.setattr(Bounds, "attempt", lambda *told: semidefinite.append(1) or attempt(*told))
    asked = CounterfactualExplainer(clf, budget=0.05, gap=0.02, actions=Actions(links=LINKS[:1]))
    e = asked.explain(data.X.iloc[100])
    assert e.status is Status.OPTIMAL
    assert verify(e, clf).ok
    assert len(semidefinite) <= FEW


@pytest.mark.parametrize(
    ("row", "norm"), only([(548, 1.0), (642, np.inf)], itertools.product([548, 642, 239], [np.inf, 1.0]))
)
def test_distances_are_those_of_a_mixed_integer_program(pima, row, norm):
    data, clf, actions = pima
    asked = {"budget": 0.05, "norm": norm, "gap": 1e-2, "actions": actions, "time_limit": 30}
    e = CounterfactualExplainer(clf, **asked).explain(data.X.iloc[row])
    assert e.status is Status.OPTIMAL
    other = CounterfactualExplainer(clf, method=Qcqp(backend="scip"), **asked).explain(
        data.X.iloc[row], on_failure="return"
    )
    if other.status is Status.OPTIMAL:
        assert e.distance == pytest.approx(other.distance, rel=2e-2)


def test_a_search_over_values_that_gives_up_leaves_the_rest_to_semidefinite_bounds(pima, monkeypatch):
    data, clf, actions = pima
    monkeypatch.setattr("surefoot.search.certified.lattice.MOST_ROUND", 2)
    monkeypatch.setattr("surefoot.search.certified.lattice.MOST", 2)
    for norm in (1.0, np.inf):
        explainer = CounterfactualExplainer(clf, budget=0.0, norm=norm, gap=2e-2, actions=actions)
        e = explainer.explain(data.X.iloc[200])
        assert e.status is Status.OPTIMAL
        assert verify(e, clf).ok


def test_no_region_is_looked_at_once_time_is_up():
    """A search that goes on after a breach may have thousands of open regions left."""
    search = Search(whitened(loan(GAINS, BENDS, -0.15)), 1e-3, Clock(60.0))
    start = search.points.first_point(search.level)
    lattice = search._lattice(start)
    found = lattice.rounding.start(start)
    search.points.clock = lattice.clock = Clock(-1.0)
    with pytest.raises(OutOfTimeError):
        lattice._begun(1000 * [search.root], found)
    assert lattice.nodes == 0
