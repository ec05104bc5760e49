"""Few features that are enough, one at a time, beside trying all sets of features."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from surefoot.search.certified import certified_search
from surefoot.search.certified.climb import Climb
from surefoot.search.certified.promise import Promise
from surefoot.search.certified.space import whitened
from surefoot.status import Status
from tests.problems import random_problem
from tests.search.certified.test_subsets import limited, within


def climb_of(problem):
    space = whitened(problem)
    return space, Climb(space, Promise(space).scenarios())


def fewest(problem):
    """The smallest number of features that is enough, by trying all sets."""
    low, high, today = problem.domain.low, problem.domain.high, problem.factual
    for count in range(1, len(today) + 1):
        for free in combinations(range(len(today)), count):
            still = [j for j in range(len(today)) if j not in free]
            lower, upper = low.copy(), high.copy()
            lower[still] = upper[still] = today[still]
            posed = replace(problem, domain=replace(problem.domain, low=lower, high=upper))
            if certified_search(posed, 0.5, 5.0).point is not None:
                return count
    return len(today) + 1


@pytest.mark.parametrize("seed", range(8))
def test_climbs_end_where_nothing_is_lacking_or_nothing_helps(seed):
    problem = within(random_problem(5, seed, budget=0.05), 0.9)
    space, climb = climb_of(problem)
    start = climb.heights.min()
    found = climb.order()
    assert len(set(found)) == len(found)
    # What is left to the ends of features says where the climb stands: the margins there are its heights.
    changes = space.low[space.n : 2 * space.n] - climb.low
    heights = [space.margins[r](space.matrix @ changes + v) for r, v in Promise(space).scenarios()]
    np.testing.assert_allclose(climb.heights, heights, atol=1e-9)
    assert climb.heights.min() > start or not found
    assert (climb.low <= 1e-12).all()
    assert (climb.high >= -1e-12).all()
    least = fewest(problem)
    if climb.heights.min() >= 0:  # errors elsewhere may still undo it
        assert len(found) >= least - 1
        assert len(found) <= least + 1
    else:
        assert least >= len(found)


@pytest.mark.parametrize("seed", range(6))
def test_exchanged_features_are_the_fewest(seed):
    """Without errors nothing undoes what a climb finds; features that lead uphill first need not stay."""
    problem = within(random_problem(6, seed + 20, budget=0.0), 0.9)
    climb = climb_of(problem)[1]
    found = climb.order()
    assert not climb.lacking
    assert len(found) == fewest(problem)


def test_what_leads_uphill_first_is_exchanged():
    """The first feature alone lifts most; the second and third are enough, once both move."""
    problem = within(random_problem(4, 1, budget=0.0), 1.0)
    matrix = np.zeros((4, 4))
    matrix[1, 2] = matrix[2, 1] = 0.5
    margin = replace(
        problem.requirements[0].margin,
        matrix=matrix,
        vector=np.array([0.6, 0.5, 0.1, 0.05]),
        constant=-1.2,
        center=np.zeros(4),
    )
    domain = replace(problem.domain, low=np.zeros(4), high=np.ones(4))
    needs = replace(problem.requirements[0], margin=margin)
    climb = climb_of(replace(problem, requirements=(needs,), factual=np.zeros(4), domain=domain))[1]
    assert sorted(climb.order()) == [1, 2]


def test_exchanges_end(monkeypatch):
    """A wide table with much to exchange; what joins first is found all the same."""
    monkeypatch.setattr("surefoot.search.certified.climb.MOVES", 0)
    monkeypatch.setattr(Climb, "_back", lambda *_: pytest.fail("a feature was put back"))
    problem = within(random_problem(6, 20, budget=0.0), 0.9)
    climb = climb_of(problem)[1]
    assert climb.order()
    assert not climb.lacking


def test_of_millions_of_choices_few_features_are_found_at_once():
    """One feature far away is enough, but near by eleven others lead uphill faster."""
    n = 40
    problem = within(random_problem(n, 1, budget=0.0), 1.0)
    slope = np.full(n, 1.0)
    slope[-1] = 0.5
    high = np.full(n, 0.1)
    high[-1] = 100.0
    margin = replace(problem.requirements[0].margin, matrix=np.zeros((n, n)), vector=slope, constant=-20.0)
    low, today = np.zeros(n), np.zeros(n)
    domain = replace(problem.domain, low=low, high=high)
    needs = replace(problem.requirements[0], margin=margin)
    posed = limited(replace(problem, requirements=(needs,), factual=today, domain=domain), 6)
    assert climb_of(posed)[1].order() == [n - 1]
    answer = certified_search(posed, 0.01, 2.0)
    assert answer.status.with_point in (Status.OPTIMAL, Status.TIME_LIMIT)
    assert answer.point[-1] > 35
