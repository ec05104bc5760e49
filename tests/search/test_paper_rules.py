"""The paper's methods with if-then rules: one combination of ways after the other."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, verify
from surefoot.exceptions import ProblemError
from surefoot.problem.answer import Answer
from surefoot.problem.either import Either, Limit, Way
from surefoot.problem.row import Row
from surefoot.search.paper.enumeration import MOST_STATES, each_state, each_way, states_by_price
from surefoot.search.paper.formulations import MilpFormulation, QcqpFormulation
from surefoot.search.paper.program import Options
from surefoot.status import Status
from tests.asking import CounterfactualExplainer
from tests.eithers import either_problem, random_case
from tests.families import all_states

RULE = [("variance rises", "skewness falls")]


@pytest.fixture(scope="module")
def banknotes(bundled):
    data = bundled["banknote"]
    return data, ConditionalGaussianNetworkClassifier("naive").fit(data.X, data.y)


def test_milp_and_certified_agree_about_a_rule(banknotes):
    data, clf = banknotes
    row = data.X.iloc[int(np.flatnonzero(clf.predict(data.X) == 1)[0])]
    found = {
        method: CounterfactualExplainer(clf, method=method, actions=Actions(when=RULE), gap=1e-3).explain(
            row, target=0
        )
        for method in ("certified", "milp")
    }
    assert found["milp"].distance == pytest.approx(found["certified"].distance, rel=0.03)
    for method, e in found.items():
        change = e.counterfactual - e.factual
        assert change["variance"] <= 0 or change["skewness"] < 0
        assert method == "milp" or verify(e, clf).ok


def run_by(distances, statuses=None):
    """A method that finds the points (d, 0, ...) one after the other; None: nothing."""
    cases = []

    def run(posed, seconds):
        assert not posed.domain.eithers
        k = len(cases)
        cases.append((posed, seconds))
        d = distances[k]
        point = None if d is None else posed.factual + d * np.eye(posed.n_features)[0]
        status = (statuses or {}).get(k, Status.INFEASIBLE if d is None else Status.OPTIMAL)
        return Answer(status, point, 0.0 if d is None else 0.9 * posed.distance(point))

    return run, cases


def ways_of(n, *numbers):
    """An either with a way for each number: the first feature is not above it."""
    return Either(tuple(Way((Row(np.eye(n)[0], -np.inf, number),)) for number in numbers))


def test_the_best_of_all_combinations():
    base = either_problem(1)
    n, high = base.n_features, float(base.domain.high[0])
    problem = replace(
        base, domain=replace(base.domain, eithers=(ways_of(n, 0.5, high), ways_of(n, 0.25, high)))
    )
    run, cases = run_by([3.0, None, 1.0, 2.0])
    found = each_way(problem, run, 10.0)
    assert [float(case.domain.high[0]) for case, _ in cases] == [0.25, 0.5, 0.25, high]
    assert found.status is Status.OPTIMAL
    assert found.point[0] == base.factual[0] + 1.0
    assert found.lower_bound == pytest.approx(0.9 * problem.distance(found.point))
    nothing, _ = run_by([None] * 4)
    assert each_way(problem, nothing, 10.0).status is Status.INFEASIBLE
    late, _ = run_by([3.0, None, 1.0, None], {3: Status.TIME_LIMIT_NO_POINT})
    assert each_way(problem, late, 10.0).status is Status.TIME_LIMIT
    assert each_way(problem, late, 10.0 - 10.0).status is Status.TIME_LIMIT_NO_POINT
    stopped, cases = run_by([3.0, 1.0], {1: Status.INTERRUPTED})
    assert each_way(problem, stopped, 10.0).status is Status.INTERRUPTED
    assert len(cases) == 2


def test_ways_that_exclude_each_other_are_left_out():
    base = either_problem(1)
    n = base.n_features
    against = Either((Way((Row(np.eye(n)[0], 0.75, np.inf),)),))
    problem = replace(base, domain=replace(base.domain, eithers=(ways_of(n, 0.5), against)))
    run, cases = run_by([])
    assert each_way(problem, run, 10.0).status is Status.INFEASIBLE
    assert cases == []


def test_too_many_combinations_are_refused():
    base = either_problem(1)
    rule = ways_of(base.n_features, 0.5, 1.0)
    problem = replace(base, domain=replace(base.domain, eithers=(rule,) * 10))
    assert MOST_STATES < 2**10
    with pytest.raises(ProblemError, match="if-then rules, and here are 1,024; use method='certified'"):
        each_way(problem, lambda *_: pytest.fail("tried"), 10.0)


def test_states_that_rules_do_not_allow_are_left_out():
    posed = random_case(6)
    posed = replace(posed, eithers=(*posed.eithers, Either((Way((), {1: frozenset({0, 1})}),))))
    assert set(states_by_price(posed)) == set(filter(posed.allows, all_states(posed)))
    assert len(states_by_price(posed)) < len(all_states(posed))
    tried = []
    each_state(posed, lambda problem, _: tried.append(problem) or Answer(Status.INFEASIBLE), 10.0)
    assert len(tried) == len(states_by_price(posed))


@pytest.mark.parametrize("method", ["milp", "qcqp"])
def test_programs_refuse_what_they_cannot_say(method):
    base = either_problem(1)
    limited = replace(base.domain, eithers=(), limits=(Limit(1, (0, 1), tuple(base.factual[:2])),))
    made = {
        "milp": lambda posed: MilpFormulation(
            posed, "highs", Options(), posed.factual - 1, posed.factual + 1
        ),
        "qcqp": lambda posed: QcqpFormulation(posed, "scip", Options()),
    }
    for domain, words in ((base.domain, "if-then rules"), (limited, "limits on how many features change")):
        said = f"method='{method}' cannot take {words}; use method='certified'"
        with pytest.raises(ProblemError, match=said):
            made[method](replace(base, domain=domain))


@pytest.mark.parametrize("limits", [{"at_most": 2}, {"at_most_of": [(1, ["variance", "skewness"])]}])
def test_milp_and_certified_agree_about_limits(banknotes, limits):
    data, clf = banknotes
    row = data.X.iloc[int(np.flatnonzero(clf.predict(data.X) == 1)[0])]
    actions = Actions({"entropy": Action(low=-9)}, **limits)
    by_method = {
        method: CounterfactualExplainer(clf, method=method, actions=actions).explain(row, target=0)
        for method in ("certified", "milp")
    }
    assert by_method["milp"].distance == pytest.approx(by_method["certified"].distance, rel=0.03)
    changed = set(by_method["milp"].changed)
    assert len(changed) <= 2 if "at_most" in limits else not {"variance", "skewness"} <= changed


def test_milp_and_certified_agree_about_alternatives(banknotes):
    data, clf = banknotes
    row = data.X.iloc[int(np.flatnonzero(clf.predict(data.X) == 1)[0])]
    proved, found = (
        CounterfactualExplainer(clf, method=method).alternatives(row, 0, n=2)
        for method in ("certified", "milp")
    )
    assert [e.distance for e in found] == pytest.approx([e.distance for e in proved], rel=0.03)
    assert set(found[0].changed) - set(found[1].changed)


def test_every_choice_that_limits_leave_is_tried():
    base = either_problem(1)
    n, now, high = base.n_features, base.factual, float(base.domain.high[0])
    limits = (Limit(1, (0, 1), tuple(now[:2])), Limit(n - 1, tuple(range(n)), tuple(now)))
    domain = replace(base.domain, eithers=(ways_of(n, 0.5, high),), limits=limits)
    run, cases = run_by([1.0] * 4 * n)
    each_way(replace(base, domain=domain), run, 10.0)
    kept = [tuple(np.flatnonzero(case.domain.low == case.domain.high)) for case, _ in cases]
    assert all(not case.domain.limits for case, _ in cases)
    assert {frozenset({one, other}) for one in (0, 1) for other in range(n)} == {*map(frozenset, kept)}


def test_too_many_choices_are_refused(banknotes):
    base = either_problem(1)
    n = base.n_features
    half = Limit(n // 2, tuple(range(n)), tuple(base.factual))
    problem = replace(base, domain=replace(base.domain, eithers=(), limits=(half,) * 8))
    with pytest.raises(ProblemError, match="try every way to keep limits and if-then rules"):
        each_way(problem, lambda *_: pytest.fail("tried"), 10.0)
