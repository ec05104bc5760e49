"""The largest box on which quadratics stay above zero, against a search over grids."""

import itertools

import numpy as np
import pytest

from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.search.certified.boxes import Growing, Sides, around_point, proven_box
from surefoot.search.certified.clock import Clock, OutOfTimeError
from tests.thinning import every


def growing(margins, below, above, units=None, seconds=10.0):
    k = len(below)
    units = np.ones(k) if units is None else np.array(units, dtype=float)
    return Growing(margins, Sides(np.array(below, float), np.array(above, float)), units, Clock(seconds))


def nothing(k):
    return Sides(np.zeros(k), np.zeros(k))


def least_on(G, below, above, steps=9):
    """The least value on a grid over a box, its corners included."""
    axes = [np.linspace(-b, a, steps) for b, a in zip(below, above, strict=True)]
    points = np.array(list(itertools.product(*axes)))
    return float(np.min(G(points)))


def test_a_half_space_is_filled_up_to_its_limits():
    G = Quadratic(np.zeros((2, 2)), [1.0, -2.0], 3.0)  # falls where the first falls and the second rises
    found = growing([G], [9, 9], [9, 9]).largest(nothing(2))
    assert found.above[0] == 9
    assert found.below[1] == 9
    assert found.below[0] == pytest.approx(1.0, rel=0.01)  # 3 = 1 t + 2 t
    assert found.above[1] == pytest.approx(1.0, rel=0.01)


def test_sides_grow_in_units_and_contain_what_they_must():
    G = Quadratic(np.zeros((2, 2)), [1.0, -2.0], 3.0)
    found = growing([G], [9, 9], [9, 9], units=[1.0, 0.25]).largest(nothing(2))
    assert found.below[0] == pytest.approx(2.0, rel=0.01)  # 3 = t + 2 t / 4
    assert found.above[1] == pytest.approx(0.5, rel=0.01)
    least = Sides(np.array([2.5, 0.0]), np.array([0.0, 0.0]))
    found = growing([G], [9, 9], [9, 9]).largest(least)
    assert found.below[0] == pytest.approx(2.5, rel=0.01)
    assert found.above[1] == pytest.approx(0.25, rel=0.02)


def test_how_far_all_sides_go_together():
    G = Quadratic(np.zeros((2, 2)), [1.0, -2.0], 3.0)
    assert growing([G], [9, 9], [9, 9]).level(nothing(2)) == pytest.approx(1.0, rel=0.01)  # 3 = t + 2 t
    least = Sides(np.array([2.0, 0.0]), np.array([0.0, 0.0]))
    assert growing([G], [9, 9], [9, 9]).level(least) == pytest.approx(0.5, rel=0.01)  # 3 = 2 + 2 t
    assert growing([G], [0, 0], [0, 0]).level(nothing(2)) == np.inf


@pytest.mark.parametrize("seed", every(2, range(12)))
def test_it_cannot_be_enlarged(seed):
    """What is maximised: the shortest side that is not at its limit, then the next; no side grows alone."""
    rng = np.random.default_rng(seed)
    k = 1 + seed % 3
    margins = []
    for _ in range(1 + seed % 2):
        A = rng.normal(size=(k, k))
        margins.append(Quadratic(A + A.T, rng.normal(size=k) * 2, 0.5 + rng.random()))
    limits = 0.5 + 2 * rng.random((2, k))
    found = growing(margins, *limits).largest(nothing(k))
    assert min(least_on(G, found.below, found.above) for G in margins) >= 0
    both, most = found.both, limits.ravel()
    free = both < most
    if not free.any():
        return
    shortest = both[free].min()
    # No box whose sides are all longer than the shortest by a twentieth holds: such boxes contain this one.
    longer = np.minimum(1.05 * shortest + 1e-6, most)
    assert min(least_on(G, longer[:k], longer[k:], 41) for G in margins) < 0
    for side in np.flatnonzero(free):
        alone = both.copy()
        alone[side] = min(1.05 * both[side] + 1e-6, most[side])
        if alone[side] < most[side]:
            assert min(least_on(G, alone[:k], alone[k:], 41) for G in margins) < 1e-3


def test_time_runs_out():
    G = Quadratic(np.zeros((2, 2)), [1.0, -2.0], 3.0)
    with pytest.raises(OutOfTimeError):
        growing([G], [9, 9], [9, 9], seconds=-1).largest(nothing(2))


def posed(G):
    n = G.n_features
    metric = Metric(Whitening(np.eye(n)), 2)
    return RobustProblem(np.zeros(n), (Requirement(G),), metric, Ball(np.eye(n), np.inf, 0.0))


def test_proofs_are_found_where_there_are_any():
    G = Quadratic([[-1.0, 0.2], [0.2, -0.5]], [1.0, 0.3], 2.0)
    problem, z = posed(G), np.zeros(2)
    assert around_point(problem, z, [1])[0]([0.5]) == pytest.approx(G([0.0, 0.5]))
    low, high = np.array([-0.5, -1.0]), np.array([1.0, 1.0])
    assert len(proven_box(problem, z, low, high, Clock(5.0))) == 1
    assert proven_box(problem, z, np.array([-3.0, -1.0]), high, Clock(5.0)) is None
    assert proven_box(problem, z, z, z, Clock(5.0)) == []
    assert proven_box(posed(G - 3.0), z, z, z, Clock(5.0)) is None
