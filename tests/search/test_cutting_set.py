import numpy as np
import pytest

from surefoot.search.paper.cutting_set import cutting_set
from surefoot.search.paper.formulations.formulation import AdversaryAnswer, MasterAnswer
from surefoot.status import Status
from tests.problems import random_problem


class Script:
    """A formulation that plays back prepared answers; no solver involved."""

    backend = "script"

    def __init__(self, problem, violations, master_status=Status.OPTIMAL, adversary_status=Status.OPTIMAL):
        self.problem, self.violations = problem, violations
        self.master_status, self.adversary_status = master_status, adversary_status
        self.seen = []

    def master(self, scenarios, previous, iteration, time_limit):
        self.seen.append((len(scenarios), previous, iteration))
        candidate = (
            None
            if self.master_status in (Status.INFEASIBLE, Status.TIME_LIMIT_NO_POINT)
            else np.full(2, iteration)
        )
        return MasterAnswer(self.master_status, candidate, float(iteration), 0.1, "m")

    def adversary(self, candidate, time_limit):
        violation = self.violations[int(candidate[0]) - 1]
        return AdversaryAnswer(self.adversary_status, np.full(2, violation), violation, 0.2, "a")


@pytest.fixture
def problem():
    return random_problem(2, 0)


def test_stops_when_the_violation_is_small(problem):
    script = Script(problem, [1.0, 0.5, 0.0005])
    rounds = list(cutting_set(problem, script, tol=1e-3))
    assert [r.status for r in rounds] == [None, None, Status.OPTIMAL]
    assert [r.violation for r in rounds] == [1.0, 0.5, 0.0005]
    assert [seen[0] for seen in script.seen] == [1, 2, 3]  # scenarios accumulate
    assert script.seen[0][1] is None
    assert rounds[-1].lower_bound == 3.0


def test_is_a_generator(problem):
    loop = cutting_set(problem, Script(problem, [1.0] * 9))
    assert next(loop).candidate[0] == 1
    assert next(loop).candidate[0] == 2


def test_iteration_limit(problem):
    rounds = list(cutting_set(problem, Script(problem, [1.0] * 9), max_iterations=4))
    assert len(rounds) == 4
    assert rounds[-1].status is Status.ITERATION_LIMIT


@pytest.mark.parametrize("status", [Status.INFEASIBLE, Status.TIME_LIMIT_NO_POINT])
def test_a_master_without_a_point_ends_the_search(problem, status):
    rounds = list(cutting_set(problem, Script(problem, [1.0], master_status=status)))
    assert [r.status for r in rounds] == [status]
    assert rounds[0].candidate is None


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Status.TIME_LIMIT, Status.TIME_LIMIT),
        (Status.TIME_LIMIT_NO_POINT, Status.TIME_LIMIT),
        (Status.INTERRUPTED, Status.INTERRUPTED),
        (Status.FAILED, Status.FAILED),
        (Status.INFEASIBLE, Status.FAILED),
        (Status.UNBOUNDED, Status.FAILED),
    ],
)
def test_an_adversary_cut_short_proves_nothing(problem, part, expected):
    rounds = list(cutting_set(problem, Script(problem, [0.0], adversary_status=part)))
    assert rounds[-1].status is expected


@pytest.mark.parametrize("status", [Status.TIME_LIMIT, Status.INTERRUPTED])
def test_a_master_cut_short_keeps_its_point_and_asks_for_nothing_more(problem, status):
    script = Script(problem, [], master_status=status)  # an adversary would raise IndexError
    rounds = list(cutting_set(problem, script))
    assert [r.status for r in rounds] == [status]
    assert rounds[0].candidate is not None
    assert rounds[0].violation == np.inf


def test_a_solver_that_repeats_itself_is_stopped(problem):
    """A point that a solver calls feasible and that is not will not get better by asking again."""

    class Stubborn(Script):
        def master(self, scenarios, previous, iteration, time_limit):
            return MasterAnswer(Status.OPTIMAL, np.ones(2), 0.0, 0.0, "m")

    rounds = list(cutting_set(problem, Stubborn(problem, [1.0])))
    assert len(rounds) < 20
    assert rounds[-1].status is Status.FAILED
    assert "violates a scenario that it was given" in rounds[-1].message
