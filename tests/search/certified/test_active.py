"""Many requirements, of which few decide: the same answer as with all of them at once."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot.search.certified import answer as answering
from surefoot.search.certified import certified_search
from surefoot.search.certified.active import MANY, renumbered
from surefoot.waist.problem import Requirement
from surefoot.waist.quadratic import Quadratic
from tests.problems import random_problem


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
    found = certified_search(problem, 1e-3, 30)
    monkeypatch.setattr(answering, "MANY", 1000)
    every = certified_search(problem, 1e-3, 30)
    assert found.status == every.status
    if found.point is not None:
        assert problem.distance(found.point) == pytest.approx(problem.distance(every.point), rel=2.5e-3)
        worst = problem.ball.sample(500, 0)
        assert problem.violation(found.point, worst).max() <= 0
        assert len(found.certificate["robustness"]["proofs"]) == len(problem.requirements)


def test_more_may_matter_than_enter_at_once(monkeypatch):
    monkeypatch.setattr(answering, "MANY", 1)
    problem = many(2, np.inf, count=6)
    found = certified_search(problem, 1e-3, 30)
    assert found.status == "optimal"


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
