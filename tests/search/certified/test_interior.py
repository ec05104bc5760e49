"""Multipliers of semidefinite bounds: that a sum is concave must not be a matter of rounding."""

import numpy as np
import pytest

from surefoot.search.certified.interior import Multipliers, firm
from surefoot.search.certified.lagrangian import Lagrangian

BULGE = 0.3  # of the margin; the norm has to pay for it
LEVEL = 2.0


def sum_of_norm_and_margin():
    """x0 (4 - z^2) + x1 (0.3 z^2 + z - 5), z one number."""
    left = np.array([[0.0, 1.0], [0.0, 1.0]])
    right = np.array([[0.0, LEVEL**2], [1.0, -5.0]])
    curvatures = np.array([[[-1.0]], [[BULGE]]])
    return Lagrangian(left, right, curvatures, np.array([0, 1]), 1, 1)


def multipliers(norm):
    return Multipliers(np.array([norm, 1.0]), -1.0, True, np.zeros(1), np.zeros((1, 1)), 3)


@pytest.mark.parametrize("beyond", [np.nextafter(BULGE, 1), BULGE, BULGE * (1 - 1e-15)])
def test_what_rounding_hides_is_made_concave(beyond):
    found = firm(sum_of_norm_and_margin(), multipliers(beyond), np.array([2 * BULGE, 1.0]))
    assert found.x[0] - BULGE > 1e-11  # of curvature 0.3, far more than rounding
    assert found.x[0] < 1.01 * BULGE  # and not more than it takes
    peak = max(found.x @ [4 - z**2, BULGE * z**2 + z - 5] for z in _around(found.x))
    assert found.value == pytest.approx(peak, rel=1e-6)
    assert not found.refuted  # its peak is far away, and high


def _around(x):
    top = 0.5 / (x[0] - BULGE)
    return np.linspace(0.999 * top, 1.001 * top, 2001)


def test_what_is_concave_stays_as_it_is():
    given = multipliers(1.1 * BULGE)
    assert firm(sum_of_norm_and_margin(), given, np.array([2 * BULGE, 1.0])) is given


def test_where_nothing_helps_nothing_is_claimed():
    found = firm(sum_of_norm_and_margin(), multipliers(0.5 * BULGE), np.array([0.6 * BULGE, 1.0]))
    assert found.value == np.inf
    assert not found.refuted
