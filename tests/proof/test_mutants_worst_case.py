"""Small faults of the worst case and the certified radius that no other test would notice."""

import math

import numpy as np
import pytest

from surefoot import Quadratic, Whitening
from surefoot.proof.worst_case import (
    _between,
    _nowhere_negative,
    certified_radius,
    coverage,
    holds_everywhere,
    worst_perturbation,
)
from tests.problems import paper_problem

INF = math.inf
ZERO = np.zeros((2, 2))


def problem(*margins, norm=INF, budget=0.5, robust=True):
    return paper_problem([0.0, 0.0], margins, Whitening(np.eye(2)), norm, budget, robust=robust)


def test_coverage_of_a_budget_of_one():
    assert coverage(0.5, 1.0) == 0.5
    assert coverage(1.0, 1.0) == coverage(INF, 1.0) == coverage(0.0, 0.0) == 1.0


@pytest.mark.parametrize(
    ("matrix", "vector", "constant", "found"),
    [
        (ZERO, [0.0, 0.0], 0.0, True), (ZERO, [0.0, 0.0], 0.5, True), (ZERO, [0.0, 0.0], -1e-300, False),
        (ZERO, [1.0, 0.0], 9.0, False), (np.eye(2), [0.0, 0.0], 0.0, True),
        (np.eye(2), [0.0, 0.0], -1e-9, False), (np.eye(2), [2.0, -2.0], 2.0, True),
        (np.eye(2), [2.0, -2.0], 1.999, False), (np.eye(2), [2.0, -2.0], 2.5, True),
        (np.diag([1.0, 0.0]), [0.0, 1.0], 9.0, False), (np.diag([1.0, -1.0]), [0.0, 0.0], 9.0, False),
        (np.diag([1.0, 0.25]), [1.0, 1.0], 1.25, True), (np.diag([1.0, 0.25]), [1.0, 1.0], 1.24, False),
    ],
)  # fmt: skip
def test_quadratics_that_are_nowhere_negative(matrix, vector, constant, found):
    assert _nowhere_negative(Quadratic(matrix, vector, constant)) == found


def test_every_requirement_must_hold_everywhere():
    bowl, dip = Quadratic(np.eye(2), [0.0, 0.0], 1.0), Quadratic(np.eye(2), [0.0, 0.0], -1.0)
    for margins in ((bowl, dip), (dip, bowl)):
        assert not holds_everywhere(problem(*margins))
        assert not holds_everywhere(problem(*margins), [5.0, 5.0])
    assert holds_everywhere(problem(bowl, bowl))
    assert holds_everywhere(problem(bowl, dip, robust=[True, False]))


@pytest.mark.parametrize("norm", [1, INF])
def test_the_radius_of_what_never_changes(norm):
    """A margin of just zero holds, whatever is missed; so does one of just zero at its lowest."""
    assert certified_radius(problem(Quadratic(ZERO, [0.0, 0.0], 0.0), norm=norm), [0.0, 0.0]) == INF
    assert certified_radius(problem(Quadratic(ZERO, [0.0, 0.0], -1e-9), norm=norm), [0.0, 0.0]) == 0.0


@pytest.mark.parametrize("budget", [0.0, 0.25, 1.0, 3.0])
def test_the_radius_is_not_that_of_the_budget(budget):
    """The nearer edge counts: a distance of 2 along the first feature."""
    margins = Quadratic(ZERO, [-1.0, 0.0], 2.0), Quadratic(ZERO, [0.0, 1.0], 3.0)
    found = certified_radius(problem(*margins, budget=budget), [0.0, 0.0])
    assert 2.0 * (1 - 1e-6) < found <= 2.0
    assert certified_radius(problem(*margins[::-1], budget=budget), [0.0, 0.0]) == pytest.approx(
        2.0, rel=1e-6
    )
    assert certified_radius(problem(*margins, budget=budget), [2.5, 0.0]) == 0.0
    assert certified_radius(problem(*margins, budget=budget), [0.0, 0.0], time_limit=-1.0) == 0.0


def test_where_a_line_vanishes():
    assert _between(1.0, -1.0, 3.0, 1.0) == 2.0
    assert _between(1.0, -1.0, 3.0, 3.0) == 1.5
    assert _between(1.0, -0.5, 3.0, 0.25) == pytest.approx(1.0 + 2 * 2 / 3)
    for above in (INF, -1.0, -2.0):  # unknown, or no higher
        assert _between(1.0, -1.0, 3.0, above) == 2.0
    assert _between(1.0, 0.0, 3.0, 0.0) == 2.0
    for near in (_between(1.0, 0.0, 3.0, 1.0) - 1.0, 3.0 - _between(1.0, -1.0, 3.0, 0.0)):
        assert 1e-7 < near < 3e-7  # both ends are kept away from


def test_the_worst_of_several_requirements():
    slow, fast = Quadratic(ZERO, [1.0, 0.0], 1.0), Quadratic(ZERO, [0.0, 8.0], 4.5)
    for margins in ((slow, fast), (fast, slow)):
        for radius, violation in ((0.25, -0.75), (0.5, -0.5), (1.0, 3.5)):
            worst = worst_perturbation(problem(*margins), [0.0, 0.0], radius)
            assert worst.violation == pytest.approx(violation)
            assert worst.violation <= worst.violation_bound <= violation + 1e-9
            assert np.abs(worst.perturbation).max() == pytest.approx(radius)
    assert worst_perturbation(problem(slow, fast), [0.0, 0.0]).violation == pytest.approx(-0.5)
