import itertools
import time

import clarabel
import numpy as np
import pytest
from scipy import sparse

from surefoot import ConditionalGaussianNetworkClassifier, Qcqp, Quadratic, Status, verify
from surefoot.problem.domain import Domain
from surefoot.problem.geometry import Whitening, lp_norm
from surefoot.proof.worst_case import lowest_in_ball, worst_perturbation
from surefoot.search.certified import bounds as bounding
from surefoot.search.certified import certified_search
from surefoot.search.certified.adversary import lowest_corner
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.interior import _reach, minimise
from surefoot.search.certified.lagrangian import Lagrangian
from surefoot.search.certified.local import Columns, ConvexConcave
from surefoot.search.certified.noise import Noise
from surefoot.search.certified.region import Region, monotone_corners, piece
from surefoot.search.certified.rows import first_multipliers, lagrangian
from surefoot.search.certified.space import whitened
from surefoot.search.certified.sphere import nearest_robust
from surefoot.search.paper.cutting_set import cutting_set
from surefoot.search.paper.formulations import QcqpFormulation
from surefoot.search.paper.program import Options
from tests.asking import CounterfactualExplainer
from tests.problems import paper_problem, random_problem, rough_problem
from tests.thinning import only

NORMS = [np.inf, 2, 1]
DATA_SETS = list(itertools.product([1, 0], ["naive", "tan", "ban"], ["banknote", "pima", "ionosphere"]))
UNFINISHED = (13, 32)  # seeds of problems that SCIP does not finish: its bound is all there is to compare


def plain_noise(n, norm, radius):
    return Noise(None, np.zeros(n), norm, radius)


def scip(problem, time_limit=2.0):
    formulation = QcqpFormulation(problem, "scip", Options(time_limit=time_limit, gap=1e-4), 1e-4)
    *_, last = cutting_set(problem, formulation, tol=1e-4, time_limit=time_limit, max_iterations=100)
    return last


def check_against_scip(problem, found, other, gap=1e-3):
    """Robust, inside its gap, and neither point nor bound contradicts SCIP."""
    if found.status is Status.INFEASIBLE:
        assert other.status is not Status.OPTIMAL
        return
    assert found.status is Status.OPTIMAL
    distance = problem.distance(found.point)
    assert worst_perturbation(problem, found.point).violation <= 1e-9
    assert problem.domain.contains(found.point)
    assert found.radius >= problem.budget
    assert (distance - found.lower_bound) / distance <= gap
    if other.status is Status.OPTIMAL:
        assert found.lower_bound <= other.distance * (1 + 1e-3) + 1e-4 / whitened(problem).slope
        assert distance <= other.distance * (1 + 2e-3) + 1e-7
    assert distance >= other.lower_bound * (1 - 1e-3)


@pytest.mark.parametrize("seed", only((0, 1, 6, 9, 11, 13, 17, 20, 24, 29, 31), range(33)))
def test_rough_problems_agree_with_scip(seed):
    _, problem = rough_problem(seed)
    found = certified_search(problem, 1e-3, 60.0)
    other = scip(problem, 0.5 if seed in UNFINISHED else 2.0)
    check_against_scip(problem, found, other)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("budget", [0.0, 0.1])
def test_two_dimensions_by_brute_force(norm, budget):
    """A fine grid around the factual holds no robust point nearer than the bound."""
    problem = random_problem(2, 5, norm=norm, budget=budget)
    found = certified_search(problem, 1e-4, 10.0)
    distance = problem.distance(found.point)
    side = np.linspace(-1.05, 1.05, 161) * distance
    robust = problem.factual + problem.whitening.undo(np.stack(np.meshgrid(side, side), -1).reshape(-1, 2))
    ball = problem.ball.sample(400, 0) if budget else np.zeros((1, 2))
    for d in ball:
        robust = robust[problem.violation(robust, d) <= 0]
    distances = problem.whitening.distance(robust, problem.factual, norm)
    assert distances.min() >= found.lower_bound * (1 - 5e-3)  # the sample misses the ball's very edge
    assert distance <= distances.min() * (1 + 0.02)


@pytest.mark.parametrize("n", [4, 9])
def test_the_bound_is_the_semidefinite_one(n):
    """The interior-point method against Clarabel on the lifted problem."""
    problem = random_problem(n, 3, budget=0.05)
    space = whitened(problem)
    level, scenarios = 0.8, [(0, np.zeros(n)), (0, 0.05 * np.ones(n))]
    part = piece(space, Region(scenarios=[0, 1]), level, use_corners=False)
    form = lagrangian(part, scenarios)
    found = minimise(form, first_multipliers(part, form), 1e-7, 1e-9, Clock(60))
    expected = lifted_optimum(space.margins[0], [v for _, v in scenarios], level)
    if found.refuted:
        assert expected < 0
    else:
        assert found.value == pytest.approx(expected, rel=1e-4, abs=1e-6)


def lifted_optimum(H, scenarios, level):
    """max m  s.t.  <Q, U> + g'u + c >= m for all scenarios,  U_ii <= level^2,  [[1, u'], [u, U]] >= 0."""
    n = H.n_features
    corner = {pair: k for k, pair in enumerate((i, j) for j in range(n + 1) for i in range(j + 1))}
    size = len(corner)
    rows, ends = [], []

    def row(entries, free=0.0):
        out = np.zeros(size + 1)
        for (i, j), value in entries.items():
            out[corner[min(i, j), max(i, j)]] += value if i == j else value / np.sqrt(2)
        out[-1] = free
        return out

    for v in scenarios:
        slope = H.gradient(v)
        entries = {
            (i + 1, j + 1): (1 if i == j else 2) * H.matrix[i, j] for i in range(n) for j in range(i + 1)
        }
        entries |= {(0, i + 1): slope[i] for i in range(n)}
        rows.append(-row(entries, -1.0))
        ends.append(float(H(v)))
    for i in range(n):
        rows.append(row({(i + 1, i + 1): 1.0}))
        ends.append(level**2)
    A = np.vstack([row({(0, 0): 1.0}), *rows, np.hstack([-np.eye(size), np.zeros((size, 1))])])
    b = np.concatenate([[1.0], ends, np.zeros(size)])
    kinds = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(len(ends)), clarabel.PSDTriangleConeT(n + 1)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cost = np.append(np.zeros(size), -1.0)
    empty = sparse.csc_matrix((size + 1, size + 1))
    solver = clarabel.DefaultSolver(empty, cost, sparse.csc_matrix(A), b, kinds, settings)
    return -solver.solve().obj_val


def test_rows_of_the_lagrangian(rng):
    n, m = 4, 6
    left, right = rng.normal(size=(m, n + 1)), rng.normal(size=(m, n + 1))
    curvatures = rng.normal(size=(2, n, n))
    curvatures = curvatures + curvatures.transpose(0, 2, 1)
    form = Lagrangian(left, right, curvatures, np.array([-1, 0, -1, 1, 0, 1]), 2, 2)
    matrices = np.array([0.5 * (np.outer(f, g) + np.outer(g, f)) for f, g in zip(left, right, strict=True)])
    for j, k in enumerate(form.kind):
        if k >= 0:
            matrices[j, :n, :n] += curvatures[k]
    x = rng.uniform(size=m)
    np.testing.assert_allclose(form.matrix(x), np.tensordot(x, matrices, 1))
    Y, W = (A @ A.T for A in rng.normal(size=(2, n + 1, n + 1)))
    np.testing.assert_allclose(form.products(Y), [np.trace(A @ Y) for A in matrices])
    expected = np.array([[np.trace(A @ Y @ B @ W) for B in matrices] for A in matrices])
    np.testing.assert_allclose(form.gram(Y, W), 0.5 * (expected + expected.T))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", only((0, 2, 3, 6), range(8)))
def test_the_adversary_is_as_bad_as_it_gets(norm, seed):
    problem = random_problem(5, seed, norm=norm)
    H = problem.margins[0].in_coordinates(problem.whitening.inverse, problem.factual)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        u, radius = rng.normal(size=5), float(rng.uniform(0.01, 1.0))
        found = plain_noise(5, norm, radius).harm(H, u)
        assert lp_norm(found.perturbation, norm) <= radius * (1 + 1e-9)
        _, value, bound = lowest_in_ball(H.in_coordinates(np.eye(5), u), norm, radius)
        assert found.value >= bound - 1e-9
        if found.exact:
            assert found.value == pytest.approx(value, abs=1e-7)


def test_columns_are_those_of_scipy(rng):
    A = np.where(rng.random((7, 4)) < 0.5, 0.0, rng.normal(size=(7, 4)))
    A[:, 2] = 0.0
    ours, theirs = Columns.of(A), sparse.csc_matrix(A)
    assert ours.shape == theirs.shape
    for name in ("data", "indices", "indptr"):
        assert getattr(ours, name) == getattr(theirs, name).tolist()


def test_lowest_corner_by_enumeration(rng):
    for n in (1, 3, 9, 11):
        A = rng.normal(size=(n, n))
        Q, g = A + A.T, rng.normal(size=n)
        corners = 0.3 * np.array(list(itertools.product((-1.0, 1.0), repeat=n)))
        heights = corners @ g + np.einsum("ij,ij->i", corners @ Q, corners)
        v, sure = lowest_corner(Q, g, 0.3, corners[0])
        assert sure
        assert v @ g + v @ Q @ v == pytest.approx(heights.min())
        assert not lowest_corner(Q, g, 0.3, corners[heights.argmax()], effort=0)[1]


@pytest.mark.parametrize("seed", range(6))
def test_the_s_lemma_agrees_with_the_search(seed):
    problem = random_problem(5, seed, norm=2, budget=0.1)
    H = whitened(problem).margins[0]
    u = nearest_robust(H, 0.1, 0.0)
    found = certified_search(problem, 1e-4, 20.0)
    assert np.linalg.norm(u) == pytest.approx(problem.distance(found.point), rel=2e-4)
    assert plain_noise(5, 2.0, 0.1).harm(H, u).value >= -1e-6


def test_the_s_lemma_in_its_hard_case_and_without_a_solution():
    hard = Quadratic(np.diag([1.0, -1.0]), [0.0, 1.0], -2.0)  # no slope along the only way up
    u = nearest_robust(hard, 0.1, 0.0)
    assert plain_noise(2, 2.0, 0.1).harm(hard, u).value == pytest.approx(0, abs=1e-6)
    hopeless = Quadratic(-np.eye(2), [1.0, 0.0], -2.0)
    assert nearest_robust(hopeless, 0.1, 0.0) is None
    assert nearest_robust(hopeless, 0.0, 0.0) is None


def test_convex_concave_steps_are_feasible_and_never_worse():
    problem = random_problem(6, 2, budget=0.0)
    space = whitened(problem)
    steps, scenarios = ConvexConcave(space), [(0, np.zeros(6))]
    u, size = np.ones(6), np.inf
    for k in range(6):
        u, slack, *_ = steps.step(u, scenarios, 0.0, 1e3, Clock(60))
        if k:
            assert slack <= 1e-6
            assert space.margins[0](u) >= -1e-6
            assert space.size(u) <= size + 1e-6
        size = space.size(u) if k else np.inf


def test_monotone_corners_are_where_the_margin_is_highest(rng):
    problem = random_problem(5, 1, budget=0.05)
    space = whitened(problem)
    region = Region(scenarios=[0])
    level = 0.2
    box = np.full(len(space.directions), level) * space.reach
    corners = monotone_corners(space, region, level, -box, box)
    assert corners
    for _ in range(200):
        u = rng.uniform(-level, level, 5)
        moved = u.copy()
        moved[list(corners)] = list(corners.values())
        v = rng.uniform(-0.05, 0.05, 5)
        assert space.margins[0](moved + v) >= space.margins[0](u + v) - 1e-12


@pytest.mark.parametrize(
    ("target", "structure", "name"),
    only(
        [each for each in DATA_SETS if each[1] == "naive" or each[2] != "ionosphere"],
        DATA_SETS,
    ),
)
def test_data_sets(bundled, name, structure, target):
    data = bundled[name]
    settings = {"max_parents": 2} if structure == "ban" else {}
    clf = ConditionalGaussianNetworkClassifier(structure, **settings).fit(data.X, data.y)
    rows = data.X.iloc[np.flatnonzero(clf.predict(data.X) == 1 - target)[[3, 20]]]
    for bounds in (None, "data"):
        explainer = CounterfactualExplainer(clf, budget=0.05, bounds=bounds, whole=False, time_limit=60)
        for _, row in rows.iterrows():
            e = explainer.explain(row, target=target)
            assert e.status is Status.OPTIMAL
            assert e.gap <= 1e-3
            assert e.coverage == 1
            assert e.violation <= 0
            problem = explainer.problem(row.to_numpy(), target)
            tried = problem.ball.sample(2_000, 0)
            assert problem.violation(e.counterfactual.to_numpy(), tried).max() <= 0
            assert verify(e, clf), verify(e, clf)


@pytest.mark.parametrize("norm", [2, 1])
def test_other_norms_agree_with_gurobi_and_scip(bundled, norm):
    for name in ("banknote", "pima") if norm == 1 else ("banknote",):  # Pima takes Gurobi a minute
        data = bundled[name]
        clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
        row = data.X.iloc[np.flatnonzero(clf.predict(data.X) == 0)[7]]
        settings = {"budget": 0.05, "norm": norm, "bounds": None, "whole": False}
        e = CounterfactualExplainer(clf, **settings, gap=1e-5).explain(row, target=1)
        backend = "gurobi" if norm == 2 else "scip"
        other = CounterfactualExplainer(
            clf, **settings, method=Qcqp(backend=backend, tol=1e-6), gap=1e-5
        ).explain(row, target=1)
        assert e.distance == pytest.approx(other.distance, rel=1e-4)
        assert verify(e, clf)


def test_infeasible_is_proved():
    peak = Quadratic(-np.eye(3), np.ones(3), -1.0)  # at most -1/4 anywhere
    base = random_problem(3, 0)
    plain = paper_problem(np.zeros(3), (peak,), base.whitening)
    found = certified_search(plain, 1e-3, 10.0)
    assert found.status is Status.INFEASIBLE
    assert found.point is None
    assert found.lower_bound == np.inf
    reachable = random_problem(3, 0, budget=0.05)
    tight = Domain(reachable.factual - 1e-3, reachable.factual + 1e-3)
    boxed = paper_problem(
        reachable.factual, reachable.margins, reachable.whitening, budget=0.05, domain=tight
    )
    assert certified_search(boxed, 1e-3, 10.0).status is Status.INFEASIBLE


@pytest.mark.parametrize("n", [1, 2])
def test_a_factual_outside_its_bounds_is_led_back(n):
    """The domain alone asks for most of the way."""
    H = Quadratic(-np.eye(n), np.zeros(n), 4.0)  # the target's side is the ball of radius 2
    x0, whitening = np.full(n, 5.0), Whitening(np.eye(n), "cholesky")
    outside = paper_problem(x0, (H,), whitening, budget=0.1, domain=Domain(np.full(n, -3.0), np.ones(n)))
    found = certified_search(outside, 1e-3, 10.0)
    assert found.status is Status.OPTIMAL
    assert outside.distance(found.point) == pytest.approx(4.0, rel=2e-3)
    assert found.lower_bound >= 4 * (1 - 1e-3) - 1e-9
    pinned = paper_problem(x0, (H,), whitening, domain=Domain(np.ones(n), np.ones(n)))
    assert outside.distance(certified_search(pinned, 1e-3, 10.0).point) == pytest.approx(4.0)
    hopeless = paper_problem(x0, (H,), whitening, domain=Domain(np.full(n, 3.0), np.full(n, 4.0)))
    assert certified_search(hopeless, 1e-3, 10.0).status is Status.INFEASIBLE


def test_what_can_neither_be_found_nor_excluded_is_undecided():
    """Two rivals that exclude each other, on an open domain where nothing bounds the search."""
    saddle = np.diag([1.0, -1.0])
    margins = Quadratic(saddle, np.zeros(2), -1.0), Quadratic(-saddle, np.zeros(2), -1.0)
    problem = paper_problem(np.zeros(2), margins, random_problem(2, 0).whitening)
    found = certified_search(problem, 1e-3, 5.0)
    assert found.point is None
    assert found.status in (Status.INFEASIBLE, Status.UNDECIDED, Status.TIME_LIMIT_NO_POINT)
    assert found.lower_bound > 1


def hard_problem(bundled, **settings):
    data = bundled["ionosphere"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    rows = np.flatnonzero(clf.predict(data.X) == 1)
    row = data.X.iloc[np.sort(np.random.default_rng(0).choice(rows, 8, replace=False))[1]]
    return clf, row, CounterfactualExplainer(clf, budget=0.05, bounds=None, whole=False, **settings)


def test_a_time_limit_brings_point_and_bound(bundled):
    clf, row, explainer = hard_problem(bundled, time_limit=0.4, gap=1e-5)
    start = time.perf_counter()
    e = explainer.explain(row, target=0)
    assert time.perf_counter() - start < 5
    assert e.status is Status.TIME_LIMIT
    assert 0 < e.lower_bound < e.distance
    assert 1e-5 < e.gap < 0.05
    assert e.coverage == 1
    assert verify(e, clf), verify(e, clf)


def test_how_far_a_step_may_go():
    factor, change = np.diag([1.0, 2.0, 3.0]), np.diag([1.0, -2.0, -1.0])
    assert _reach(factor, change) == pytest.approx(2.0)
    assert _reach(factor, np.abs(change)) == np.inf
    change[2, 1] = np.nan
    assert _reach(factor, change) == 0  # where there are no eigenvalues there is no step


def test_an_interrupt_brings_point_and_bound(bundled, monkeypatch):
    _, row, explainer = hard_problem(bundled)
    calls = []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return minimise(*arguments)

    monkeypatch.setattr(bounding, "minimise", interrupted)
    e = explainer.explain(row, target=0)
    assert e.status is Status.INTERRUPTED
    assert 0 < e.lower_bound < e.distance


def test_a_point_that_breaks_under_the_exact_adversary_is_given_up(monkeypatch):
    """The search may look at perturbations as carelessly as it likes; the last look is exact."""
    problem = random_problem(6, 4, budget=0.3)
    honest = certified_search(problem, 1e-3, 10.0)
    calls = []

    def careless(self, H, u, effort=1, radius=None):
        calls.append(1)
        found = honest_look(self, H, u, effort, radius)
        return found if len(calls) > 60 else found._replace(value=float(H(u)), perturbation=0 * u)

    honest_look = Noise.harm
    monkeypatch.setattr(Noise, "harm", careless)
    found = certified_search(problem, 1e-3, 10.0)
    assert found.radius >= 0.3
    assert problem.distance(found.point) == pytest.approx(problem.distance(honest.point), rel=2e-3)
    assert worst_perturbation(problem, found.point).violation <= 1e-9


def test_room_to_spare_is_said():
    """A factual outside its domain has to move further than the decision asks for."""
    base = random_problem(3, 0, budget=0.01)
    found = certified_search(base, 1e-3, 10.0)
    step = found.point - base.factual
    far = base.factual + 3 * step
    low = np.where(step > 0, far, -np.inf)
    high = np.where(step < 0, far, np.inf)
    pushed = paper_problem(base.factual, base.margins, base.whitening, budget=0.01, domain=Domain(low, high))
    wide = certified_search(pushed, 1e-3, 10.0)
    assert wide.status is Status.OPTIMAL
    assert wide.radius == 0.01
    worst = worst_perturbation(pushed, wide.point)
    assert worst.violation < -0.1
    slack = wide.certificate["robustness"]["slack"]
    assert 0 < slack <= -worst.violation_bound + 1e-9
    assert slack > -worst.violation - 0.05
