"""Where hardly anything is allowed: no point stands as far inside as points should, and one is found."""

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, datasets, verify
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.certified import certified_search
from surefoot.status import Status
from tests.asking import CounterfactualExplainer

GAP = 1e-3


def thin_problem(norm, room, radius, whole, fixed):
    """A margin that only x_1 near 0.5 meets, by ``room`` at most, while x_2 is 2 (or takes whole numbers).

    It is not concave, though it is in what is not fixed.
    """
    peak = np.array([0.5, 2.0, 0.25])
    curvature = np.diag([-4.0, -1.0 if whole else 0.0, 1.0])
    exact = [0, 1, 2] if radius == 0 else [1, 2]
    worst = 4.0 * radius**2
    margin = Quadratic(curvature, np.zeros(3), room + worst, peak)
    low, high = np.array([-5.0, 0.0, 0.25]), np.array([5.0, 5.0, 0.25])
    if fixed:
        low[1] = high[1] = 2.0
    sets = (ValueSet(1, None, 0.0),) if whole else ()
    whitening = Whitening(np.eye(3), "cholesky")
    ball = Ball.whitened(whitening, norm, radius, exact)
    return RobustProblem(
        np.zeros(3), (Requirement(margin),), Metric(whitening, norm), ball, Domain(low, high, sets=sets)
    )


@pytest.mark.parametrize("norm", [1, 2, np.inf])
@pytest.mark.parametrize("room", [1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("radius", [0.0, 0.05])
@pytest.mark.parametrize(("whole", "fixed"), [(False, True), (True, False)])
def test_a_thin_place_is_found(norm, room, radius, whole, fixed):
    problem = thin_problem(norm, room, radius, whole, fixed)
    found = certified_search(problem, GAP, 20.0)
    assert found.status is Status.OPTIMAL
    near = np.array([0.5 + radius - np.sqrt(radius**2 + room / 4), 2.0, 0.25])  # its near end
    assert found.lower_bound <= problem.distance(near) <= problem.distance(found.point)
    assert problem.distance(found.point) <= problem.distance(near) / (1 - GAP)
    assert worst_perturbation(problem, found.point).violation <= 0
    assert found.radius >= radius


@pytest.mark.parametrize("room", [-1e-4, -1e-6])
@pytest.mark.parametrize("whole", [False, True])
def test_a_place_that_is_just_not_there(room, whole):
    problem = thin_problem(np.inf, room, 0.0, whole, fixed=True)
    assert certified_search(problem, GAP, 20.0).status is Status.INFEASIBLE


def test_a_loan_that_is_granted_at_one_amount_alone():
    """At the nearest whole numbers the odds reach one half within an interval of some 30 of 18,000 marks."""
    credit = datasets.load_german_credit()
    X = credit.X.copy()
    X["credit_amount"] += 0.25  # no longer whole
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, credit.y)
    asked = CounterfactualExplainer(clf, immutable=["age", "purpose"], time_limit=20)
    e = asked.explain(X.iloc[11], target="good")
    assert e.status == "optimal"
    assert e.counterfactual["duration_months"] == 36
    assert verify(e, clf).ok
    shown = clf.predict_proba(e.counterfactual.to_frame().T)[0]
    assert 0.5 < shown[list(clf.classes_).index("good")] < 0.50002
