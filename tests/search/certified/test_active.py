"""Many requirements, of which few decide: the same answer as with all of them at once."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.geometry import Ball
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement
from surefoot.search.certified import answer as answering
from surefoot.search.certified import certified_search
from surefoot.search.certified import space as spaces
from surefoot.search.certified.active import renumbered
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.lagrangian import Lagrangian
from surefoot.search.certified.local import ConvexConcave
from surefoot.search.certified.points import FIRST, Points, _at_least
from surefoot.search.certified.space import MANY, whitened
from tests.problems import random_problem
from tests.thinning import only


def many(seed, norm, count=20):
    """A problem with a crowd of requirements near to each other, as refits are."""
    problem = random_problem(4, seed, norm=norm)
    rng, (first,) = np.random.default_rng(seed), problem.requirements[:1]
    crowd = []
    for _ in range(count):
        H = first.margin
        noise = rng.normal(size=H.matrix.shape) * 0.05 * np.abs(H.matrix).max()
        shaken = Quadratic(
            H.matrix + noise + noise.T,
            H.vector * (1 + 0.05 * rng.normal(size=len(H.vector))),
            H.constant - 0.2 * abs(H.constant) * rng.random(),
            H.center,
        )
        crowd.append(Requirement(shaken, decides=False))
    return replace(problem, requirements=(*problem.requirements, *crowd))


@pytest.mark.parametrize("norm", [np.inf, 2, 1])
@pytest.mark.parametrize("seed", range(4))
def test_the_answer_is_that_of_all_requirements_at_once(seed, norm, monkeypatch):
    problem = many(seed, norm)
    assert whitened(problem).crowded
    found = certified_search(problem, 1e-3, 30)
    monkeypatch.setattr(spaces, "MANY", 1000)
    assert not whitened(problem).crowded
    every = certified_search(problem, 1e-3, 30)
    assert found.status == every.status
    if found.point is not None:
        assert problem.distance(found.point) == pytest.approx(problem.distance(every.point), rel=2.5e-3)
        worst = problem.ball.sample(500, 0)
        assert problem.violation(found.point, worst).max() <= 0
        assert len(found.certificate["robustness"]["proofs"]) == len(problem.requirements)


@pytest.mark.parametrize("seed", only([0, 1], range(3)))
def test_with_allowed_values_the_answer_is_that_of_all_at_once(seed, monkeypatch):
    problem = many(seed, np.inf, count=8)
    now, unit = problem.factual, problem.unit
    steps = [ValueSet(j, tuple(now[j] + 0.25 * unit[j] * np.arange(-24, 25)), now[j]) for j in (0, 1)]
    problem = replace(problem, domain=Domain(now - 6 * unit, now + 6 * unit, sets=tuple(steps)))
    found = certified_search(problem, 1e-3, 30)
    monkeypatch.setattr(answering, "MANY", 1000)
    monkeypatch.setattr(spaces, "MANY", 1000)
    every = certified_search(problem, 1e-3, 30)
    assert found.status == every.status == "optimal"
    assert problem.distance(found.point) == pytest.approx(problem.distance(every.point), rel=2.5e-3)


def test_a_crowd_that_leaves_nothing_is_proved_to():
    problem = many(1, np.inf)
    never = Requirement(Quadratic(-np.eye(4), np.zeros(4), -1.0))
    found = certified_search(replace(problem, requirements=(*problem.requirements, never)), 1e-3, 30)
    assert found.status == "infeasible"
    assert found.point is None


def test_requirements_keep_their_numbers_in_the_proof():
    leaf = {"requirements": [[1.0, 0, -1], [2.0, 1, 3]], "level": 1.0}
    tree = {"cut": [["x", 0], 1.0], "below": leaf, "above": {"either": 0, "ways": [leaf, None]}}
    again = renumbered({"tree": tree, "scenarios": []}, [4, 9])["tree"]
    assert again["below"]["requirements"] == [[1.0, 4, -1], [2.0, 9, 3]]
    assert again["above"]["ways"][0]["requirements"] == [[1.0, 4, -1], [2.0, 9, 3]]
    assert again["above"]["ways"][1] is None
    assert again["cut"] == [["x", 0], 1.0]
    assert MANY < 20


@pytest.mark.parametrize("norm", [np.inf, 2, 1])
@pytest.mark.parametrize("moved", [False, True])
def test_margins_that_noise_cannot_lower_enough_are_left_out_for_good_reason(norm, moved):
    problem = many(3, norm)
    if moved:  # a ball that is not the metric's; where it can be, around another centre
        centre = np.array([0.1, 0.0, -0.2, 0.05]) * (norm == np.inf)
        problem = replace(problem, ball=Ball(0.2 * np.triu(np.ones((4, 4))), norm, 0.3, centre))
    space, rng = whitened(problem), np.random.default_rng(0)
    points = Points(space, 1e-3, Clock(30))
    for u in rng.normal(size=(20, 4)):
        each = [space.noise.harm(H, u).value for H in space.margins]
        assert (_at_least(space, u) <= np.array(each) + 1e-9).all()
        r, found = points._worst_margin(u, 5_000)
        assert found.value == pytest.approx(min(each), abs=1e-9)
        assert found.value == pytest.approx(each[r], abs=1e-9)


def test_few_of_a_crowd_are_there_from_the_beginning_and_few_enter():
    space = whitened(many(0, np.inf))
    points = Points(space, 1e-3, Clock(30))
    assert len(points.scenarios) == FIRST
    points.improve_from(points.begin([0, 1], 1.0, None), active := [0, 1])
    assert points.best is not None
    assert len({points.scenarios[s][0] for s in active}) < len(space.margins) / 2
    assert min(float(H(points.best)) for H in space.margins) > 0


def test_a_step_among_some_margins_is_that_of_all_where_the_others_are_not_asked():
    space = whitened(many(1, np.inf))
    every, start = ConvexConcave(space), np.zeros(space.n)
    asked = [(2, np.zeros(space.n)), (7, np.full(space.n, 0.01))]
    some = every.among({7, 2})
    assert some is every.among([2, 7])
    assert some.n_variables < every.n_variables
    one, other = (program.step(start, asked, 0.0, 1e3, Clock(30)) for program in (some, every))
    assert one.u == pytest.approx(other.u, abs=1e-5)
    assert one.margins == pytest.approx(other.margins, abs=1e-4)


def test_a_crowd_is_cut_along_the_eigenvectors_of_its_mean():
    problem = many(0, np.inf)
    space = whitened(problem)
    mean = np.mean([H.matrix for H in space.margins], axis=0)
    own = space.directions[[function[0] == "d" for function in space.functions]]
    assert 0 < len(own) <= space.n
    assert own @ mean @ own.T == pytest.approx(np.diag(space.convexity[-len(own) :]), abs=1e-9)


@pytest.mark.parametrize("k", [1, 3])
def test_sums_of_rows_with_several_curvatures_are_those_of_their_matrices(k):
    rng, n, m = np.random.default_rng(k), 4, 9
    left, right = rng.normal(size=(2, m, n + 1))
    curvatures = rng.normal(size=(k, n, n))
    curvatures += curvatures.transpose(0, 2, 1)
    kind = np.array([-1] * 4 + [i % k for i in range(5)])
    form = Lagrangian(left, right, curvatures, kind, 5, 4)
    rows = 0.5 * (left[:, :, None] * right[:, None, :] + right[:, :, None] * left[:, None, :])
    for A, c in zip(rows, kind, strict=True):
        A[:n, :n] += curvatures[c] if c >= 0 else 0.0
    Y, W = (B @ B.T for B in rng.normal(size=(2, n + 1, n + 1)))
    x = rng.random(m)
    assert form.matrix(x) == pytest.approx(np.tensordot(x, rows, 1))
    assert form.products(Y) == pytest.approx(np.einsum("jab,ab->j", rows, Y))
    gram = np.einsum("iab,bc,jcd,da->ij", rows, Y, rows, W)
    assert form.gram(Y, W) == pytest.approx(0.5 * (gram + gram.T))


@pytest.mark.parametrize("norm", [np.inf, 2, 1])
def test_scenarios_are_taken_in_that_a_mixture_misses_on_average(norm):
    space, rng = whitened(many(2, norm)), np.random.default_rng(0)
    points = Points(space, 1e-3, Clock(30))
    u, root = rng.normal(size=space.n), rng.normal(size=(space.n, space.n))
    atoms = u + np.sqrt(space.n) * np.concatenate([root.T, -root.T])  # with the covariance root root'
    averages = [float(np.mean(H(atoms))) for H in space.margins]
    least = float(np.median(averages))
    known = list(range(len(points.scenarios)))
    entered = points.missed(u, root @ root.T, least, known, most=5)
    assert 0 < len(entered) <= 5
    for r, v in (points.scenarios[s] for s in entered):
        assert np.mean(space.margins[r](atoms + v)) < least
    assert not points.missed(u, root @ root.T, least, known + entered, most=5)


def test_what_harms_the_mean_most_is_not_what_the_mixture_misses():
    problem = many(0, np.inf)
    flat = Requirement(Quadratic(np.zeros((4, 4)), np.zeros(4), 1.0, problem.factual))
    hollow = Requirement(Quadratic(1e3 * np.eye(4), np.zeros(4), -1.0, problem.factual))
    space = whitened(replace(problem, requirements=(flat, hollow)))
    points, mean, spread = Points(space, 1e-3, Clock(30)), np.zeros(4), np.eye(4)
    margin, s = points.harm(mean, [0], effort=0)
    assert margin < 0
    assert points.scenarios[s][0] == 1
    assert not points.missed(mean, spread, 0.0, [0], most=2)
    (alone,) = points.missed(mean, 0 * spread, 0.0, [0], most=2)
    assert points.scenarios[alone][0] == 1
