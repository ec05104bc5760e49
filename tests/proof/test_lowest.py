"""The least value of a quadratic in a ball: spheres, corners, boxes, and their bounds."""

import functools
import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.optimize import linprog

from surefoot.problem.quadratic import Quadratic
from surefoot.proof import lowest
from surefoot.proof.lowest import lowest_in_ball

INF = math.inf
PAST, NEVER = -INF, INF  # deadlines


def symmetric(n, seed, kind="any"):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return {"any": A + A.T, "convex": A @ A.T, "concave": -A @ A.T}[kind]


def quadratic(n, seed, kind="any", constant=0.0):
    slopes = np.random.default_rng(seed + 1000).normal(size=n)
    return Quadratic(symmetric(n, seed, kind), slopes, constant)


def flat(*slopes, constant=0.0):
    return Quadratic(np.zeros((len(slopes), len(slopes))), slopes, constant)


def corners(low, high):
    return np.array(list(itertools.product(*zip(low, high, strict=True))))


# ----- which way --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 2, INF])
def test_a_ball_that_is_a_point(p):
    for G, radius in ((quadratic(3, 0, constant=2.0), 0.0), (Quadratic(np.zeros((0, 0)), [], 2.0), 1.0)):
        v, value, bound = lowest_in_ball(G, p, radius)
        assert (v.tolist(), value, bound) == ([0.0] * G.n_features, 2.0, 2.0)


@pytest.mark.parametrize("radius", [0.5, 1.0, 4.0])
def test_a_bound_at_a_corner_of_the_cross_is_a_little_lower(radius):
    """By more than rounding may change the value, and by little more."""
    for G, least in (
        (flat(3.0, -4.0, constant=-5.0), -5.0 - 4.0 * radius),
        (flat(4.0, -3.0, constant=1e-3), 1e-3 - 4.0 * radius),
        (Quadratic(-np.diag([3.0, 7.0]), [0.0, 0.0], 0.0), -7.0 * radius**2),
    ):
        v, value, bound = lowest_in_ball(G, 1, radius)
        assert value == G(v) == pytest.approx(least, rel=1e-15)
        assert 5e-14 * abs(least) < value - bound < 5e-13 * max(1.0, abs(least))
        assert np.abs(v).sum() == radius


@pytest.mark.parametrize("seed", range(6))
def test_the_largest_norm(seed):
    """Concave, convex and neither; each with and without sides along which the function only rises."""
    G = quadratic(2, seed, ("concave", "convex", "any")[seed % 3])
    for steep in (0.0, 50.0):
        H = Quadratic(G.matrix, G.vector + np.array([steep, 0.0]), 1.0)
        least = least_in(H, lowest._Cube(1.5), INF)
        v, value, bound = lowest_in_ball(H, INF, 1.5)
        assert np.abs(v).max() <= 1.5
        assert bound <= value == H(v) <= least + 1e-9
        assert bound > least - 1e-6 * max(1.0, abs(least)) - (1e-3 if seed % 3 == 1 else 0.0)


def test_a_gentle_bowl_is_lowest_inside():
    for p in (1, INF):
        _, value, bound = lowest_in_ball(Quadratic(0.25 * np.eye(2), [0.0, 0.0], 1.0), p, 1.5)
        assert 1.0 - 1e-6 < bound <= value < 1.0 + 1e-6


@pytest.mark.parametrize(
    ("matrix", "concave"),
    [
        ([[-1.0, 0.0], [0.0, -1.0]], True), ([[0.0, 0.0], [0.0, 0.0]], True),
        ([[-1.0, 1.0], [1.0, -1.0]], True), ([[-1.0, 0.9], [0.9, -1.0]], True),
        ([[-1.0, -0.9], [-0.9, -1.0]], True), ([[-1.0, 1.01], [1.01, -1.0]], False),
        ([[-1.0, -1.01], [-1.01, -1.0]], False), ([[0.4, 0.0], [0.0, 0.4]], False),
        ([[1.0, 0.0], [0.0, -3.0]], False), ([[0.0, 0.1], [0.1, 0.0]], False),
    ],
)  # fmt: skip
def test_what_is_least_at_a_corner_of_the_cross(matrix, concave):
    assert lowest._concave_along_edges(np.array(matrix)) == concave


# ----- sphere -----------------------------------------------------------------------------------------------


def sphere(diagonal, slopes, radius):
    """The least value of a diagonal quadratic in a sphere, computed with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        d, q, r = [Decimal(2 * x) for x in diagonal], [Decimal(x) for x in slopes], Decimal(radius)

        def square(lam):
            return sum((b / (a + lam)) ** 2 for a, b in zip(d, q, strict=True) if b)

        low = max(Decimal(0), -min(d))
        if min(d) > 0 and square(Decimal(0)) <= r * r:
            lam = Decimal(0)
        else:
            high = low + sum(b * b for b in q).sqrt() / r
            for _ in range(180):
                middle = (low + high) / 2
                short = middle + min(d) <= 0 or square(middle) <= r * r
                low, high = (low, middle) if short else (middle, high)
            lam = high
        lost = sum((b * b / (a + lam) for a, b in zip(d, q, strict=True) if b), lam * r * r) / 2
        return -float(lost)


SPHERES = {
    "inside": ((1.0, 2.0), (-1.0, 0.5), 3.0),
    "on it": ((1.0, 2.0), (-1.0, 0.5), 0.25),
    "just inside": ((1.0, 1.0), (-3.0, 4.0), 2.5000001),
    "just on it": ((1.0, 1.0), (-3.0, 4.0), 2.4999999),
    "saddle": ((-1.0, 2.0), (0.5, -1.0), 1.5),
    "concave": ((-1.0, -2.0), (0.5, -1.0), 1.5),
    "hard": ((-1.0, 2.0), (0.0, 1.0), 1.5),
    "hard and concave": ((-2.0, -1.0), (0.0, 1.0), 1.5),
    "nearly hard": ((-1.0, 2.0), (1e-7, 1.0), 1.5),
    "hard and small": ((-1.0, 2.0), (0.0, 1.0), 0.9),
    "hard and gentle": ((-0.25, 2.0), (0.0, 1.0), 1.5),
    "hard to the digits": ((-1.0, 2.0), (1e-13, -1.0), 1.5),
    "hard to the digits, alone": ((-1.0, 2.0), (1e-13, 0.0), 1.5),
    "no slopes": ((-1.0, 2.0), (0.0, 0.0), 1.5),
    "linear": ((0.0, 0.0), (3.0, -4.0), 0.5),
    "flat one way": ((0.0, 1.0), (0.0, -4.0), 0.5),
    "steep": ((-3e6, 2e6), (4e6, 1e6), 1.5),
    "gentle": ((-3e-6, 2e-6), (4e-6, 1e-6), 1.5),
    "wide": ((-1.0, 2.0), (0.5, -1.0), 1e5),
    "narrow": ((-1.0, 2.0), (0.5, -1.0), 1e-5),
    "one": ((2.0,), (-1.0,), 0.1),
}


@pytest.mark.parametrize("constant", [0.0, 7.0])
@pytest.mark.parametrize("name", SPHERES)
def test_spheres(name, constant):
    diagonal, slopes, radius = SPHERES[name]
    least = sphere(diagonal, slopes, radius)
    n = len(diagonal)
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(n, n)))[0]
    for basis in (np.eye(n), turn):
        G = Quadratic(basis.T @ np.diag(diagonal) @ basis, basis.T @ slopes, constant)
        v, value, bound = lowest_in_ball(G, 2, radius)
        size = abs(least) + 1e-3 * radius * np.abs(slopes).max() + 1e-6 * constant
        assert np.linalg.norm(v) <= radius * (1 + 1e-12)
        assert value == pytest.approx(G(v))
        assert value == pytest.approx(constant + least, abs=1e-9 * size)
        assert bound <= constant + least + 1e-15 * constant + 1e-14 * size
        assert bound >= constant + least - 1e-12 * max(1.0, abs(least)) * max(1.0, radius**2) - 1e-9 * size


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_a_bound_in_a_sphere_leaves_room_for_rounding(size):
    """It is the value of the dual problem, and not that of the point."""
    _, value, bound = lowest_in_ball(Quadratic(np.diag([-3.0, 2.0]) * size, [0.0, 0.0], 5.0), 2, 1.5)
    room = 1e-12 * max(1.0, 6 * size) * 1.5**2 / 2
    assert 0.9 * room < 5.0 - 6.75 * size - bound < 1.2 * room
    assert value == pytest.approx(5.0 - 6.75 * size, rel=1e-14)


def test_the_multiplier_of_a_sphere():
    for eigenvalues, g, radius, lam in (
        ((2.0, 4.0), (1.0, 1.0), 9.0, 0.0), ((2.0, 2.0), (3.0, 4.0), 2.5, 0.0),
        ((2.0, 2.0), (3.0, 4.0), 1.0, 3.0), ((2.0, 2.0), (3.0, 4.0), 2.0, 0.5),
        ((-2.0, 2.0), (3.0, 0.0), 1.0, 5.0),
        ((-2.0, 2.0), (0.0, 1.0), 1.0, 2.0), ((0.0, 0.0), (3.0, 4.0), 0.5, 10.0),
        ((-2.0, -1.0), (0.0, 0.0), 1.0, 2.0), ((0.0, 1.0), (0.0, 0.1), 1.0, 0.0),
    ):  # fmt: skip
        found = lowest._multiplier(np.array(eigenvalues), np.array(g), radius)
        assert found == pytest.approx(lam, abs=1e-11)
        assert found >= max(0.0, -eigenvalues[0])


# ----- corners of a box -------------------------------------------------------------------------------------


def concave_box(seed, n=6):
    """A quadratic that is concave along every edge, and a box."""
    rng = np.random.default_rng(seed)
    Q = symmetric(n, seed)
    Q = Q - np.diag(Q.diagonal()) - np.diag(rng.uniform(0, 0.5, n))
    low = rng.normal(size=n)
    return Quadratic(Q, rng.normal(size=n), rng.normal()), low, low + rng.uniform(0.1, 2, n)


def corner_search(G, low, high, deadline=NEVER):
    v, value, bound = lowest._lowest_corner(G, low, high, deadline)
    assert value == G(v)
    assert ((v >= low - 1e-12) & (v <= high + 1e-12)).all()
    return value, bound


@pytest.mark.parametrize("seed", range(12))
def test_corners(seed):
    G, low, high = concave_box(seed)
    low[seed % 6] = high[seed % 6]  # one side is closed
    least = G(corners(low, high)).min()
    size = np.abs(G.matrix).sum() + np.abs(G.vector).sum()
    value, bound = corner_search(G, low, high)
    assert value == pytest.approx(least, abs=1e-12 * size)
    assert 1e-13 < least - bound < 1e-10 * size


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("visits", [0, 1, 2, 3, 5, 9])
def test_corners_that_were_not_looked_at_count(seed, visits, monkeypatch):
    monkeypatch.setattr(lowest, "MAX_CORNERS", visits)
    G, low, high = concave_box(seed)
    least = G(corners(low, high)).min()
    value, bound = corner_search(G, low, high)
    assert bound < least <= value + 1e-12
    if visits:
        _, in_no_time = corner_search(G, low, high, PAST)
        assert in_no_time <= bound + 1e-9
        assert in_no_time > least - 4 * np.abs(G.matrix).sum() * 4 - 4 * np.abs(G.vector).sum()


def test_corners_are_left_that_cannot_be_lower(monkeypatch):
    """Of a linear function the first corner is the lowest, and all others are left at once."""
    monkeypatch.setattr(lowest, "MAX_CORNERS", 13)  # down to a corner, and what was put aside on the way
    G, low, high = flat(3.0, -2.0, 1.0, 0.5, -0.25, 4.0), np.full(6, -1.0), np.full(6, 2.0)
    value, bound = corner_search(G, low, high)
    assert value == G(corners(low, high)).min() == pytest.approx(bound, abs=1e-9)


def test_the_first_corner_is_the_promising_one(monkeypatch):
    monkeypatch.setattr(lowest, "MAX_CORNERS", 0)
    G, low, high = flat(0.2, -0.2, 3.0, -3.0), np.full(4, -1.0), np.full(4, 1.0)
    value, bound = corner_search(G, low, high)
    assert value == pytest.approx(-6.4)
    assert bound == pytest.approx(-6.4)


def test_the_room_of_a_corner_counts_all_terms():
    """Slopes, curvature and constant one at a time: the bound is lower than the value by 1e-12 of them."""
    low, high, none = np.array([-1.0, -1.0]), np.array([1.0, 1.0]), [0.0, 0.0]
    bent = np.array([[0.0, 5.0], [5.0, 0.0]])
    for G, size in ((Quadratic(bent, none, 0.0), 10.0), (flat(3.0, 7.0), 10.0),
                    (flat(0.0, 0.0, constant=10.0), 10.0), (flat(0.0, 0.0, constant=-10.0), 10.0),
                    (Quadratic(bent, [3.0, 7.0], -10.0), 30.0)):  # fmt: skip
        value, bound = corner_search(G, low, high)
        assert 0.9e-12 * size < value - bound < 1.1e-12 * size + 1e-14


def test_curvature_over_signs():
    for matrix, most in (
        ([[0.0, 1.0], [1.0, 0.0]], 2.0), ([[0.0, -1.0], [-1.0, 0.0]], 2.0), ([[1.0, 0.0], [0.0, 3.0]], 0.0),
        ([[-1.0]], 1.0), (np.zeros((3, 3)), 0.0), (-np.eye(3), 3.0),
    ):  # fmt: skip
        assert lowest._curvature(np.array(matrix)) == pytest.approx(most)


# ----- balls that are cut into boxes ------------------------------------------------------------------------


def lowest_by_program(slope, low, high, radius):
    """Of a linear function in box and cross, by linear programming: v = a - b with a, b >= 0."""
    n = len(slope)
    rows = np.vstack([np.ones(2 * n), *(np.eye(n, 2 * n, k=0) - np.eye(n, 2 * n, k=n)),
                      *(np.eye(n, 2 * n, k=n) - np.eye(n, 2 * n, k=0))])  # fmt: skip
    found = linprog([*slope, *(-s for s in slope)], rows, [radius, *high, *(-x for x in low)])
    return found.fun if found.status == 0 else None


@pytest.mark.parametrize("seed", range(20))
def test_linear_functions_in_box_and_cross(seed):
    rng = np.random.default_rng(seed)
    n = 4
    low = rng.normal(size=n)
    high, slope = low + rng.uniform(0, 2, n), rng.normal(size=n) * (rng.uniform(size=n) < 0.8)
    nearest = np.abs(np.clip(0.0, low, high)).sum()
    for radius in (nearest, nearest + 0.1, nearest + 1.0, 100.0):
        ball = lowest._Cross(radius)
        v = ball.lowest_linear(slope, low, high)
        assert np.abs(v).sum() <= radius + 1e-12
        assert ((v >= low - 1e-12) & (v <= high + 1e-12)).all()
        assert slope @ v == pytest.approx(lowest_by_program(slope, low, high, radius + 1e-12), abs=1e-9)
        assert ball.reduced(flat(*slope), low, high)
        assert not lowest._Cross(0.999 * nearest).reduced(flat(*slope), low, high)
    assert lowest._Cube(9.0).lowest_linear(slope, low, high) @ slope == pytest.approx(
        (corners(low, high) @ slope).min()
    )


@pytest.mark.parametrize(
    ("slope", "point"),
    [
        ((1.0, -2.0), (0.0, 1.0)),
        ((-2.0, 1.0), (1.0, 0.0)),
        ((1.0, 0.5), (-1.0, 0.0)),
        ((0.0, 0.0), (0.0, 0.0)),
    ],
)
def test_the_radius_is_spent_where_it_pays_most(slope, point):
    ball, end = lowest._Cross(1.0), np.full(2, 5.0)
    assert ball.lowest_linear(np.array(slope), -end, end).tolist() == list(point)
    v = lowest._Cross(4.0).lowest_linear(np.array(slope), np.full(2, -3.0), np.full(2, 3.0))
    assert slope @ v == pytest.approx(-sum(sorted(map(abs, slope))[k] * (1, 3)[k] for k in (0, 1)))


def test_boxes_that_touch_the_cross_are_kept():
    low, high = np.array([0.1, 0.2]), np.array([1.0, 1.0])
    for radius, kept in ((0.30000000000000004, True), (0.3 - 1e-13, True), (0.3 - 1e-9, False)):
        assert lowest._Cross(radius).reduced(flat(1.0, 1.0), low, high) == kept
    assert (low.tolist(), high.tolist()) == ([0.1, 0.2], [1.0, 1.0])


def under_of(G):
    return lambda v: (float(G(v)), G.gradient(v))


@pytest.mark.parametrize("seed", range(8))
def test_convex_functions_in_box_and_ball(seed):
    """The point is in both, and nearly the lowest one: so says the slope there."""
    G = quadratic(4, seed, "convex")
    rng = np.random.default_rng(seed)
    low = rng.uniform(-1, 0.2, 4)
    high = low + rng.uniform(0.5, 1, 4)
    radius = np.abs(np.clip(0.0, low, high)).sum() + 0.7
    for ball, room in ((lowest._Cube(9.0), 1e-6), (lowest._Cross(radius), 0.5)):
        v = ball.lowest_convex(under_of(G), low, high)
        assert ((v >= low - 1e-12) & (v <= high + 1e-12)).all()
        slope = G.gradient(v)
        assert slope @ (v - ball.lowest_linear(slope, low, high)) < room
    assert np.abs(v).sum() <= radius + 1e-9


# ----- branch and bound -------------------------------------------------------------------------------------


def least_in(G, ball, p, n=161):
    """The least value of a quadratic of two numbers in a ball and on its edge, on a fine grid."""
    grid = np.linspace(-ball.radius, ball.radius, n)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    if p == 1:
        inner = points[np.abs(points).sum(axis=1) <= ball.radius]
        edge = ball.radius - np.abs(grid)
        points = np.vstack([inner, np.column_stack([grid, edge]), np.column_stack([grid, -edge])])
    return float(G(points).min())


@pytest.mark.parametrize("p", [1, INF])
@pytest.mark.parametrize("seed", range(6))
def test_branch_and_bound(seed, p):
    ball = (lowest._Cross if p == 1 else lowest._Cube)(1.5)
    G = quadratic(2, seed, ("any", "convex", "concave")[seed % 3], constant=(seed - 2.0) * 3)
    least = least_in(G, ball, p)
    v, value, bound = lowest._branch_and_bound(G, ball, NEVER)
    assert value == G(v)
    assert np.linalg.norm(v, p) <= 1.5 * (1 + 1e-9)
    assert value <= least + 1e-9
    assert bound < value
    assert value - bound < 1e-6 * max(1.0, abs(value))


@functools.cache
def least_of(seed, ball):
    return lowest._branch_and_bound(quadratic(2, seed), ball, NEVER)[1]


@pytest.mark.parametrize("p", [1, INF])
@pytest.mark.parametrize("nodes", [1, 2, 4, 7])
def test_boxes_that_were_not_looked_at_count(nodes, p, monkeypatch):
    ball = (lowest._Cross if p == 1 else lowest._Cube)(1.5)
    for seed in range(4):
        G, least = quadratic(2, seed), least_of(seed, ball)
        with monkeypatch.context() as context:
            context.setattr(lowest, "MAX_NODES", nodes)
            _, value, bound = lowest._branch_and_bound(G, ball, NEVER)
        assert bound < least + 1e-8
        assert value >= least - 1e-9
        if nodes == 1:
            _, value, in_no_time = lowest._branch_and_bound(G, ball, PAST)
            assert in_no_time < least + 1e-8
            assert value >= least - 1e-9


@pytest.mark.parametrize("constant", [-20.0, 0.0, 20.0])
@pytest.mark.parametrize("ball", [lowest._Cross(1.0), lowest._Cube(1.0)])
def test_the_room_of_branch_and_bound(ball, constant):
    """A linear function is bounded sharply: what is left is what rounding is given."""
    _, value, bound = lowest._branch_and_bound(flat(3.0, -4.0, constant=constant), ball, NEVER)
    sharp = isinstance(ball, lowest._Cube)  # its box shrinks to a point
    room = abs(constant) + 7.0 + (0.0 if sharp else abs(value))
    assert 0.95e-13 * room < value - bound < 1.4e-13 * room


def test_boxes_that_are_dropped_count(monkeypatch):
    """A box whose bound comes near enough is not cut further, but its bound is the proven one."""
    bounds = iter([-1.0, -0.5e-9, INF])
    monkeypatch.setattr(lowest, "_bounded", lambda *_: (next(bounds), np.zeros(2)))
    found = lowest._branch_and_bound(flat(0.0, 0.0), lowest._Cube(1.0), NEVER)
    assert found[1:] == (0.0, -0.5e-9)


@pytest.mark.parametrize("seed", range(20))
def test_a_box_with_many_low_corners(seed):
    """Whatever corner the search runs into, the bound is below all of them."""
    G, low, high = concave_box(seed, 5)
    assert lowest._bounded(G, low, high, lowest._Cube(9.0))[0] <= G(corners(low, high)).min() + 1e-12


def test_what_is_put_below_a_quadratic_is_convex():
    slopes = []

    class Ball(lowest._Cube):
        def reduced(self, G, low, high):
            return True

        def lowest_convex(self, under, low, high):
            slopes.append(under(high)[1] - under(low)[1])
            return low

    for matrix in (np.diag([-1.0, 2.0]), np.diag([-1.0, -3.0]), np.eye(2)):
        least = np.linalg.eigvalsh(matrix)[0]
        lowest._bounded(Quadratic(matrix, [0.0, 0.0], 0.0), np.full(2, -1.0), np.ones(2), Ball(1.0))
        bent = slopes.pop() / 4
        assert (bent > 0).all()
        assert bent == pytest.approx(matrix.diagonal() + max(0.0, -least), abs=1e-11)


def test_a_box_is_halved_where_it_bends_most():
    G = Quadratic(np.diag([1.0, -3.0]), [5.0, 5.0], 0.0)
    for low, high, k in (
        ((-1.0, -1.0), (1.0, 1.0), 1),
        ((-1.0, 0.0), (1.0, 0.5), 0),
        ((0.0, 1.0), (4.0, 4.0), 1),
    ):
        first, second = lowest._split(G, np.array(low), np.array(high))
        middle = (low[k] + high[k]) / 2
        left, right = list(high), list(low)
        left[k] = right[k] = middle
        assert [part.tolist() for part in (*first, *second)] == [list(low), left, right, list(high)]
    first, _ = lowest._split(flat(1.0, 1.0), np.array([0.0, 0.0]), np.array([1.0, 2.0]))
    assert first[1].tolist() == [1.0, 1.0]  # nothing bends: the longest side


@pytest.mark.parametrize("seed", range(12))
def test_a_box_is_bounded_from_below(seed):
    rng = np.random.default_rng(seed)
    G = quadratic(2, seed, ("any", "convex", "concave")[seed % 3], constant=rng.normal())
    low = rng.uniform(-1, 0, 2)
    high = low + rng.uniform(0.2, 1, 2)
    if seed % 4 == 0:
        high[0] = low[0]
    grid = np.stack(np.meshgrid(*(np.linspace(a, b, 101) for a, b in zip(low, high, strict=True))), axis=-1)
    points = grid.reshape(-1, 2)
    radius = np.abs(np.clip(0.0, low, high)).sum() + 0.3
    for ball, inside in ((lowest._Cube(9.0), points), (lowest._Cross(radius), points)):
        if ball.radius == radius:
            inside = points[np.abs(points).sum(axis=1) <= radius]
        bound, v = lowest._bounded(G, low, high, ball)
        least, width = G(inside).min(), high - low
        assert bound <= least + 1e-12
        assert bound >= least - 2.0 * np.abs(G.matrix).sum() * (width @ width) - 0.02
        assert ((v >= low - 1e-12) & (v <= high + 1e-12)).all()
        if ball.radius == radius:
            assert np.abs(v).sum() <= radius * (1 + 1e-9)
    assert lowest._bounded(G, low + 3.0, high + 3.0, lowest._Cross(1.0)) == (INF, pytest.approx([0.0, 0.0]))


def test_a_box_that_is_a_point():
    G, at = quadratic(2, 1), np.array([0.25, -0.5])
    for ball in (lowest._Cube(1.0), lowest._Cross(1.0)):
        bound, v = lowest._bounded(G, at, at, ball)
        assert (bound, v.tolist()) == (G(at), at.tolist())


def test_coordinates_along_which_the_function_rises():
    for G, found_low, found_high in (
        (flat(1.0, -1.0, 0.0), [-1.0, 2.0, -1.0], [-1.0, 2.0, 2.0]),
        (Quadratic(np.diag([1.0, 1.0]), [4.1, -4.1], 0.0), [-1.0, 2.0], [-1.0, 2.0]),
        (Quadratic(np.diag([1.0, 1.0]), [1.9, -3.9], 0.0), [-1.0, -1.0], [2.0, 2.0]),
        (Quadratic(np.diag([-1.0, -1.0]), [3.9, 1.9], 0.0), [-1.0, -1.0], [2.0, 2.0]),
        # Once the first is set, the slope of the second has one sign as well.
        (Quadratic([[0.0, 1.0], [1.0, 0.0]], [9.0, 1.0], 0.0), [-1.0, 2.0], [-1.0, 2.0]),
        (Quadratic([[0.0, 1.0], [1.0, 0.0]], [-9.0, 1.0], 0.0), [2.0, -1.0], [2.0, -1.0]),
    ):  # fmt: skip
        low, high = np.full(G.n_features, -1.0), np.full(G.n_features, 2.0)
        lowest._fix_monotone(G, low, high)
        assert (low.tolist(), high.tolist()) == (found_low, found_high), G


def test_narrow_boxes_shrink_as_well():
    low, high = np.array([0.0, 0.0]), np.array([0.5, 0.5])
    lowest._fix_monotone(flat(1.0, -1.0), low, high)
    assert (low.tolist(), high.tolist()) == ([0.0, 0.5], [0.0, 0.5])


@pytest.mark.parametrize("seed", range(8))
def test_a_point_is_made_lower(seed):
    G, low, high = concave_box(seed, 3)
    start = (low + high) / 2
    v = lowest._polished(G, start, low, high, lowest._Cube(9.0))
    assert ((v >= low - 1e-12) & (v <= high + 1e-12)).all()
    assert G(v) < G(start)
    slope = G.gradient(v)
    assert slope @ v == pytest.approx((corners(low, high) @ slope).min())  # no side leads down
    bowl = Quadratic(np.eye(3), -2 * start, 0.0)
    assert lowest._polished(bowl, low, low, high, lowest._Cube(9.0)) @ np.ones(3) > low.sum()


def test_the_length_of_a_step():
    for slope, curvature, length in (
        (-1.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, -2.0, 1.0), (2.0, -1.0, 0.0),
        (1.0, -1.0, 0.0), (-1.0, 1.0, 0.5), (-1.0, 2.0, 0.25), (-4.0, 1.0, 1.0), (1.0, 1.0, 0.0),
        (-2.0, 1.0, 1.0), (-0.5, -0.25, 1.0), (-1.0, 0.5, 1.0), (-1.0, 0.8, 0.625), (0.75, -0.5, 0.0),
    ):  # fmt: skip
        assert lowest._step_length(slope, curvature) == length
