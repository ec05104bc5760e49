"""Probabilities among all classes: against brute force, and floors that prove them on a ball."""

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Status, verify
from surefoot.problem.geometry import lp_norm
from surefoot.problem.share import Share
from surefoot.search.certified import among_all
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.shares import Floors, floors_for, worst_of_share
from tests.asking import CounterfactualExplainer
from tests.thinning import only

NORMS = (1, 2, np.inf)


def drawn(rng, n_classes, n_features=2, whole=False):
    """A classifier of some overlapping classes, and its rows."""
    y = np.repeat(np.arange(n_classes), 40)
    shapes, means = (
        rng.normal(0, 0.7, (n_classes, n_features, n_features)),
        rng.normal(0, 1.5, (n_classes, n_features)),
    )
    X = np.concatenate([rng.normal(0, 1, (40, n_features)) @ shapes[c] + means[c] for c in range(n_classes)])
    X = np.round(4 * X) if whole else X
    structure = ("naive", "tan")[int(rng.integers(2))]
    calibration = (None, "temperature")[int(rng.integers(2))]
    clf = ConditionalGaussianNetworkClassifier(structure=structure, calibration=calibration).fit(X, y)
    return clf, X


def by_grid(clf, problem, norm, target, threshold, whole):
    """The least distance on a grid over the range: exact for whole numbers, an upper bound for others."""
    low, high = problem.domain.low, problem.domain.high
    axes = [np.arange(a, b + 1) if whole else np.linspace(a, b, 301) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    fine = clf.predict_proba(points)[:, clf.classes_.tolist().index(target)] >= threshold
    sizes = np.asarray(lp_norm((points - problem.factual) @ problem.metric.matrix.T, norm))
    return sizes[fine].min(initial=np.inf)


@pytest.mark.parametrize("seed", only(range(1, 8), range(12)))
def test_against_brute_force(seed):
    rng = np.random.default_rng(seed)
    whole, norm = bool(seed % 2), NORMS[seed % 3]
    threshold = (0.5, 0.35, 0.8)[int(rng.integers(3))]
    clf, X = drawn(rng, 3 + seed % 2, whole=whole)
    row, target = X[int(rng.integers(len(X)))], int(rng.integers(len(clf.classes_)))
    explainer = CounterfactualExplainer(clf, against="all", norm=norm, threshold=threshold)
    e = explainer.explain(row, target, on_failure="return")
    best = by_grid(clf, explainer.problem(row, target), norm, target, threshold, whole)
    assert verify(e, clf).ok
    assert best >= e.lower_bound - 1e-9
    if e.status is Status.OPTIMAL:
        assert clf.predict_proba([e.counterfactual])[0, target] >= threshold
        assert e.distance <= best * (1 + 1.1e-3)
    else:
        assert e.status in (Status.ALREADY_TARGET, Status.INFEASIBLE)
        assert np.isinf(best) == (e.status is Status.INFEASIBLE)


@pytest.mark.parametrize("seed", only([0, 2, 5], range(6)))
def test_no_error_within_the_budget_undoes_it(seed):
    rng = np.random.default_rng(200 + seed)
    clf, X = drawn(rng, 4, n_features=3)
    norm, target = NORMS[seed % 3], int(rng.integers(4))
    rows = X[clf.predict(X) != target]
    explainer = CounterfactualExplainer(clf, against="all", norm=norm, budget=0.15, gap=0.01)
    e = explainer.explain(rows[0], target)
    assert (e.status, e.coverage) == (Status.OPTIMAL, 1.0)
    assert verify(e, clf).ok
    problem = explainer.problem(rows[0], target)
    w = rng.normal(size=(3000, 3))
    w[:1000] = np.sign(w[:1000])
    w *= 0.15 / np.asarray(lp_norm(w, norm))[:, None]
    chances = clf.predict_proba(e.counterfactual.to_numpy() + w @ problem.ball.basis.T)[:, target]
    assert chances.min() >= 0.5 - 1e-9
    assert chances.min() >= e.worst_probability - 0.01


def test_two_classes_are_asked_the_same():
    rng = np.random.default_rng(7)
    clf, X = drawn(rng, 2)
    row = X[clf.predict(X) == 0][0]
    each, both = (
        CounterfactualExplainer(clf, against=a, budget=0.1).explain(row, 1) for a in ("each", "all")
    )
    assert each.question == both.question
    assert (each.distance, each.lower_bound) == (both.distance, both.lower_bound)


def test_among_all_is_never_nearer_than_against_each():
    rng = np.random.default_rng(8)
    clf, X = drawn(rng, 4)
    for row in X[clf.predict(X) != 2][::25]:
        each, both = (CounterfactualExplainer(clf, against=a).explain(row, 2) for a in ("each", "all"))
        assert both.distance >= each.lower_bound
        assert both.probability >= 0.5


def test_a_short_time_keeps_what_is_proven():
    rng = np.random.default_rng(9)
    clf, X = drawn(rng, 5, n_features=4)
    row = X[clf.predict(X) != 1][3]
    explainer = CounterfactualExplainer(clf, against="all", budget=0.2, time_limit=0.02)
    e = explainer.explain(row, 1, on_failure="return")
    assert verify(e, clf).ok
    assert e.lower_bound <= CounterfactualExplainer(clf, against="all", budget=0.2).explain(row, 1).distance


@pytest.fixture(scope="module")
def around():
    """A problem with errors, a point of it that has the probability, and its share."""
    rng = np.random.default_rng(10)
    clf, X = drawn(rng, 4, n_features=3)
    explainer = CounterfactualExplainer(clf, against="all", budget=0.3, gap=0.01)
    row = X[clf.predict(X) != 0][0]
    e = explainer.explain(row, 0)
    return explainer.problem(row, 0), e.answer.point


def test_the_worst_error_is_worst(around):
    problem, x = around
    (share,) = problem.shares
    worst = worst_of_share(problem, share, x, 0.3)[0]
    assert problem.ball.size(worst.perturbation) <= 0.3 * (1 + 1e-9)
    there = [float(problem.requirements[r].margin(x + worst.perturbation)) for r in share.members]
    assert np.isclose(share.margin(there), worst.margin)
    w = np.random.default_rng(0).uniform(-0.3, 0.3, (5000, 3))
    w[:2500] = 0.3 * np.sign(w[:2500])
    assert -problem.violation(x, w @ problem.ball.basis.T).max() >= worst.margin - 1e-9


def test_floors_hold_and_prove_the_aim(around):
    problem, x = around
    (share,) = problem.shares
    worst = worst_of_share(problem, share, x, 0.3)[0].margin
    for aim in (0.0, 0.5 * worst):
        floors = floors_for(problem, share, x, 0.3, aim, Clock(5.0))
        assert share.margin(share.heat * floors.corners(exactly=True)).min() >= aim
        w = 0.3 * np.sign(np.random.default_rng(1).normal(size=(200, 3)))
        points = x + w @ problem.ball.basis.T
        values = np.array([problem.requirements[r].margin(points) for r in share.members])
        assert (values.min(axis=1) >= floors.members).all()
    assert floors_for(problem, share, x, 0.3, worst + 1e-6, Clock(5.0)) is None


def test_corners_of_nearly_parallel_faces():
    """Doubles drop the corner where they meet, fractions find it."""
    near = [(np.array([0.5, 0.5]), 1.0), (np.array([0.5, 0.5 + 1e-10]), 1.0 + 1e-10)]
    floors = Floors(Share((0, 1)), np.zeros(2), near)
    found, exactly = floors.corners(), floors.corners(exactly=True)
    between = [((corners > 1).all(axis=1)).any() for corners in (found, exactly)]
    assert between == [False, True]
    assert Floors(Share(tuple(range(12))), np.zeros(12), [(np.full(12, 1 / 12), 1.0)] * 9).corners() is None


def test_an_interrupt_between_searches_keeps_what_is_proven(monkeypatch):
    """Whoever stops it while a point is judged gets the bound, and a file that holds."""
    rng = np.random.default_rng(11)
    clf, X = drawn(rng, 3)
    row = X[clf.predict(X) == 0][0]

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(among_all, "worst_of_share", stopped)
    e = CounterfactualExplainer(clf, against="all").explain(row, 1, on_failure="return")
    assert e.status is Status.INTERRUPTED_NO_POINT
    assert e.lower_bound > 0
    assert verify(e, clf).ok


def test_a_row_that_has_the_target_for_sure():
    """Where the probability is nearly one, the worst case is proven as exactly as near the threshold."""
    rng = np.random.default_rng(12)
    clf, X = drawn(rng, 4, n_features=3)
    chances = clf.predict_proba(X)
    k, target = np.unravel_index(chances.argmax(), chances.shape)
    e = CounterfactualExplainer(clf, against="all", budget=0.05).explain(X[k], int(target))
    assert (e.status, e.coverage) == (Status.ALREADY_TARGET, 1.0)
    assert e.violation < -3
    assert verify(e, clf).ok
