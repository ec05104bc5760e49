"""Very many features: a point before any program, a bound before time is up."""

import numpy as np
import pytest

from surefoot import Status
from surefoot.problem.domain import Domain
from surefoot.search.certified import certified_search
from surefoot.search.certified import space as spaces
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.interior import minimise
from surefoot.search.certified.local import ConvexConcave
from surefoot.search.certified.region import Region, piece
from surefoot.search.certified.rows import first_multipliers, lagrangian
from surefoot.search.certified.space import whitened
from tests.problems import random_problem


def boxed(n, norm, seed=0):
    problem = random_problem(n, seed, norm=norm, density=0.05, separation=1.0)
    spread = 3 * np.abs(problem.metric.inverse).sum(axis=1)
    domain = Domain(problem.factual - spread, problem.factual + spread)
    return random_problem(n, seed, norm=norm, density=0.05, separation=1.0, domain=domain)


@pytest.mark.parametrize("norm", [np.inf, 2, 1])
def test_a_point_comes_without_a_program(norm, monkeypatch):
    def no_time(*_):
        raise OutOfTimeError

    problem = boxed(spaces.WIDE + 1, norm)
    assert whitened(problem).wide
    monkeypatch.setattr(ConvexConcave, "step", no_time)
    found = certified_search(problem, 1e-3, 60)
    assert found.point is not None
    assert found.radius >= problem.budget
    assert problem.domain.contains(found.point)
    assert problem.violation(found.point, problem.ball.sample(500, 0)).max() <= 0


@pytest.mark.parametrize("norm", [np.inf, 2])  # for p = 1 very many features have another bound
@pytest.mark.parametrize("seed", range(3))
def test_few_features_treated_as_very_many_have_the_same_answer(seed, norm, monkeypatch):
    problem = boxed(6, norm, seed)
    plain = certified_search(problem, 1e-3, 30)
    monkeypatch.setattr(spaces, "WIDE", 3)
    wide = certified_search(problem, 1e-3, 30)
    assert wide.status is plain.status is Status.OPTIMAL
    distance = problem.distance(plain.point)
    assert problem.distance(wide.point) == pytest.approx(distance, rel=1.5e-3)
    assert wide.lower_bound <= distance * (1 + 1e-9)
    assert problem.violation(wide.point, problem.ball.sample(500, 0)).max() <= 0


def test_multipliers_prove_something_when_time_is_up():
    space = whitened(boxed(12, np.inf))
    part = piece(space, Region(scenarios=[0]), space.typical_distance, use_corners=False)
    form = lagrangian(part, [(0, np.zeros(12))])
    x = first_multipliers(part, form)
    found = minimise(form, x, 0.02, 0.0, Clock(-1.0))
    assert found.steps == 0
    assert np.array_equal(found.x, x)
    assert np.isfinite(found.value)


def test_a_bound_far_off_is_still_raised():
    problem = boxed(60, 1)
    found = certified_search(problem, 1e-3, 60)
    assert found.status is Status.BOUND_LIMIT
    assert 0.25 * problem.distance(found.point) < found.lower_bound
