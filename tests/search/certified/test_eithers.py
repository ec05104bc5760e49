"""If-then rules in the certified search, against every combination of ways by itself."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot import Quadratic, Status
from surefoot.problem.choice import Choice
from surefoot.problem.domain import Domain
from surefoot.problem.either import Either, Way
from surefoot.problem.family import Family, MixedRequirement
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.mixed import Factor, MixedQuadratic
from surefoot.problem.row import Row
from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.certified import certified_search, certified_states
from surefoot.search.certified.branching import choose_fork
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.cover import Leave
from surefoot.search.certified.decided import changes_decided, eithers_decided, eithers_renumbered
from surefoot.search.certified.region import Region, Taken
from surefoot.search.certified.search import Search
from surefoot.search.certified.space import whitened
from surefoot.search.certified.ways import Ways, within
from tests.eithers import combinations, either_problem, random_case
from tests.families import all_states
from tests.problems import paper_problem
from tests.thinning import covering, only

GAP = 1e-3
ROUNDING = 2e-6  # gaps are not told apart below this
NORMS = [np.inf, 2.0, 1.0]
FAR = 1e3  # beyond this nothing is near, also where an open domain leaves it undecided
FINISHED = (Status.OPTIMAL, Status.INFEASIBLE)


def nearest_in_ways(problem, gap=GAP):
    """The least distance over all combinations of ways, each a plain problem."""
    best = np.inf
    for plain in combinations(problem):
        found = certified_search(plain, gap, 30.0)
        assert found.status in FINISHED or found.lower_bound > FAR
        if found.point is not None:
            best = min(best, problem.distance(found.point))
    return best


def check(problem, found, best):
    """The answer is allowed and robust, and its bound and distance enclose the best."""
    assert found.status in FINISHED
    if found.point is None:
        assert found.status is Status.INFEASIBLE
        assert best == np.inf
        return
    assert problem.domain.contains(found.point)
    assert worst_perturbation(problem, found.point).violation <= 0
    assert found.lower_bound <= best * (1 + 1e-9) + ROUNDING
    assert problem.distance(found.point) <= best * (1 + 2 * GAP) + ROUNDING


@pytest.mark.parametrize(("seed", "budget", "norm"), covering([3, 5, 19, 21, 37], [0.0, 0.05], NORMS))
def test_the_nearest_of_all_ways(seed, norm, budget):
    problem = either_problem(seed, norm, budget)
    check(problem, certified_search(problem, GAP, 30.0), nearest_in_ways(problem))


@pytest.mark.parametrize(("seed", "norm"), covering([9, 0, 17, 19, 57], NORMS))
def test_whole_numbers_in_ways(seed, norm):
    problem = either_problem(seed, norm, 0.05 * (seed % 2), whole=True)
    check(problem, certified_search(problem, GAP, 30.0), nearest_in_ways(problem))


@pytest.mark.parametrize("seed", only((0, 14, 17, 33, 54, 58), [0, 6, 8, 14, 17, 19, 33, 37, 45, 46, 54, 58]))
def test_categories_and_numbers(seed):
    posed = random_case(seed)
    found = certified_states(posed, GAP, 30.0)
    best = np.inf
    for state in sorted(filter(posed.allows, all_states(posed)), key=posed.price):
        if posed.price(state) < best:
            best = min(best, posed.price(state) + nearest_in_ways(posed.problem(state), 1e-4))
    assert found.status in FINISHED
    if found.point is None:
        assert best == np.inf
        return
    problem = posed.problem(found.state)
    assert posed.allows(found.state)
    assert problem.domain.contains(found.point)
    assert worst_perturbation(problem, found.point).violation <= 1e-9
    assert found.lower_bound <= best * (1 + 1e-9) + ROUNDING
    assert posed.distance(found.state, found.point) <= best * (1 + 2 * GAP) + ROUNDING
    for entry in found.certificate["states"]["proofs"]:
        check_entry(posed, entry)


def check_entry(posed, entry):
    """A proof lists the ways of the eithers that it takes, and of no others; each has a node."""
    taken = eithers_decided(entry["proof"]["tree"])
    assert {e for e, ways in enumerate(entry["ways"]) if ways is not None} == taken
    assert len(entry["ways"]) == len(posed.eithers)
    stack = [entry["proof"]["tree"]]
    while stack:
        node = stack.pop()
        if "either" in node:
            assert len(node["ways"]) == len(entry["ways"][node["either"]])
            stack += node["ways"]
        elif "below" in node:
            stack += [node["below"], node["above"]]


def interval(n, j, low=-np.inf, high=np.inf):
    a = np.zeros(n)
    a[j] = 1.0
    return Row(a, low, high)


def linear(eithers, n=2, norm=2.0, slope=(1.0, 0.0), sets=(), **more):
    """The nearest point with slope'x >= 1, in units of one."""
    H = Quadratic(np.zeros((n, n)), np.array(slope), -1.0)
    domain = Domain(np.full(n, -9.0), np.full(n, 9.0), (), sets, tuple(eithers))
    return paper_problem(np.zeros(n), (H,), Whitening(np.eye(n), "cholesky"), norm, domain=domain, **more)


def test_a_rule_that_does_not_matter_is_not_split():
    rule = Either((Way((interval(2, 1, high=5.0),)), Way((interval(2, 0, high=-3.0),))))
    found = certified_search(linear([rule]), GAP, 5.0)
    assert found.point == pytest.approx([1.0, 0.0], abs=2e-3)
    assert "level" in found.certificate["bound"]["tree"]


@pytest.mark.parametrize("norm", NORMS)
def test_when_the_first_rises_the_second_must(norm):
    """x0 <= 0 or x1 >= 2: the second way is the only one that leads anywhere."""
    rule = Either((Way((interval(2, 0, high=0.0),)), Way((interval(2, 1, low=2.0),))))
    found = certified_search(linear([rule], norm=norm), GAP, 5.0)
    assert found.point[1] >= 2.0
    assert found.point[1] == pytest.approx(2.0, rel=2e-3)
    tree = found.certificate["bound"]["tree"]
    assert tree["either"] == 0
    assert [set(node) for node in tree["ways"]] == [set(tree["ways"][0])] * 2


def test_ends_of_ways_are_met_to_the_last_digit():
    """A third is no double, and neither is its image in whitened coordinates."""
    third = 1 / 3
    rule = Either((Way((interval(2, 1, third, third), interval(2, 0, low=1 + third))),))
    H = Quadratic(np.zeros((2, 2)), np.array([1.0, 0.3]), -1.0)
    M = Whitening(np.array([[1.7, 0.3], [0.0, 0.9]]), "cholesky")
    domain = Domain(np.full(2, -9.0), np.full(2, 9.0), (), (), (rule,))
    found = certified_search(paper_problem(np.zeros(2), (H,), M, domain=domain), GAP, 5.0)
    assert found.point[1] == third
    assert found.point[0] >= 1 + third


@pytest.mark.parametrize("norm", NORMS)
def test_rules_that_nothing_can_keep(norm):
    """Each way is empty by itself, or excludes the way of the other rule."""
    low, high = Way((interval(2, 0, high=0.5),)), Way((interval(2, 1, high=-1.0), interval(2, 0, high=0.0)))
    found = certified_search(linear([Either((low, high))], norm=norm), GAP, 5.0)
    assert found.status is Status.INFEASIBLE
    assert found.certificate["bound"]["tree"]["either"] == 0
    against = Either((Way((interval(2, 1, low=1.0),)),)), Either((Way((interval(2, 1, high=0.9),)),))
    assert certified_search(linear(against, norm=norm), GAP, 5.0).status is Status.INFEASIBLE


@pytest.mark.parametrize("norm", NORMS)
def test_nothing_at_any_distance_where_the_domain_is_open(norm):
    """The target is a disk around (5, 0); the first number is 0 or 9."""
    H = Quadratic(-np.diag([1.0, 0.01]), np.zeros(2), 1.0, np.array([5.0, 0.0]))
    rule = Either((Way((interval(2, 0, 0.0, 0.0),)), Way((interval(2, 0, 9.0, 9.0),))))
    domain = Domain(np.full(2, -np.inf), np.full(2, np.inf), eithers=(rule,))
    found = certified_search(
        paper_problem(np.zeros(2), (H,), Whitening(np.eye(2), "cholesky"), norm, domain=domain), GAP, 5.0
    )
    assert found.status is Status.INFEASIBLE
    assert [node["level"] for node in found.certificate["bound"]["tree"]["ways"]] == [np.inf, np.inf]


def test_rows_of_the_domain_and_of_ways_share_a_direction():
    row = Row(np.array([1.0, 1.0]), -8.0, 8.0)
    both = Either((Way((Row(np.array([1.0, 1.0]), 3.0, 8.0),)), Way((Row(np.array([1.0, -1.0]), 3.0, 8.0),))))
    problem = linear([both])
    space = whitened(replace(problem, domain=replace(problem.domain, rows=(row,))))
    assert [function[0] for function in space.functions] == ["u", "u", "x", "x", "r", "w"]
    assert [ends[0].direction for ends in space.forks[0].ways] == [4, 5]
    assert np.isinf(space.low[5])
    found = certified_search(replace(problem, domain=replace(problem.domain, rows=(row,))), GAP, 5.0)
    assert problem.distance(found.point) == pytest.approx(3 / np.sqrt(2), rel=2e-3)


def test_the_fork_that_is_missed_most_comes_first():
    near = Either((Way((interval(2, 0, high=-0.1),)), Way((interval(2, 0, low=0.1),))))
    far = Either((Way((interval(2, 1, high=-3.0),)), Way((interval(2, 1, low=2.0),))))
    taken = Either((Way((interval(2, 1, high=0.5),)), Way((interval(2, 1, low=2.0),))))
    space, u = whitened(linear([near, far, taken])), np.zeros(2)
    ends = space.low, space.high
    assert choose_fork(space, Region(), 1.0, u, ends) is space.forks[1]
    assert choose_fork(space, Region((Taken(1, 0, ()),)), 1.0, u, ends) is space.forks[0]
    low = space.low.copy()
    low[2] = 0.2  # the ends leave one way of the first
    assert choose_fork(space, Region((Taken(1, 0, ()),)), 1.0, u, (low, space.high)) is None
    deep = Region(tuple(Taken(e, 0, ()) for e in (0, 1)) * 10)
    assert choose_fork(space, deep, 1.0, u, ends) is space.forks[2]


def test_the_space_of_some_ways():
    rule = Either(
        (Way((interval(2, 0, low=1.5), interval(2, 1, high=0.25))), Way((interval(2, 0, 9.5, 10.0),)))
    )
    space = whitened(linear([rule]))
    inner = within(space, {0: 0}, kept=[1])
    assert inner.problem.domain.low.tolist() == [1.5, 0.0]
    assert inner.problem.domain.high.tolist() == [9.0, 0.0]
    assert inner.x(np.array([0.0, 3.0])).tolist() == [1.5, 0.0]
    assert within(space, {0: 1}) is None


def test_local_searches_go_on_in_the_nearest_way():
    rule = Either((Way((interval(2, 1, high=-3.0),)), Way((interval(2, 1, low=0.5),))))
    run = Search(whitened(linear([rule])), GAP, Clock(5.0))
    ways = Ways(run.points)
    assert ways.nearest(np.zeros(2)) == [{0: 1}, {0: 0}]
    ways.improve_from(np.array([1.0, 0.0]), [0], {})
    assert run.points.point == pytest.approx([1.0, 0.5], abs=2e-3)
    assert ways.seen({0: 1})
    assert not ways.seen({0: 0})
    assert ways.start({0: 1}, np.zeros(2)) == pytest.approx([1.0, 0.5], abs=2e-3)


def test_a_proof_holds_where_no_more_is_left():
    both, first = Leave((frozenset({0, 1}),), (2,)), Leave((frozenset({0}),), (1,))
    without, satisfied = Leave((None,), (2,)), Leave((None,), (1,))
    assert both.holds_for(first)
    assert not first.holds_for(both)
    assert without.holds_for(both)
    assert without.holds_for(satisfied)
    assert not both.holds_for(satisfied)
    assert not first.holds_for(first._replace(left=(2,)))


def test_numbers_of_eithers_and_changes_in_a_tree():
    leaf = {"level": 1.0}
    tree = {"changed": 3, "no": {"either": 1, "ways": [leaf, None]}, "yes": {"cut": [], "below": leaf,
            "above": {"either": 0, "ways": [leaf]}}}  # fmt: skip
    assert eithers_decided(tree) == {0, 1}
    assert changes_decided(tree) == {3}
    assert eithers_decided(eithers_renumbered(tree, [4, 7])) == {4, 7}
    assert eithers_decided(tree) == {0, 1}
    assert eithers_decided(None) == set()


def many_valued(size=40):
    """One category with very many values, none of which adds anything, and a rule about half of them."""
    factor = Factor((0,), np.linspace(0.0, 1e-3, size))
    quadratic = Quadratic(np.zeros((2, 2)), np.array([1.0, 0.0]), -1.0)
    margin = MixedQuadratic(lambda state: quadratic, (), (factor,))
    half = frozenset(range(size // 2))
    rule = Either((Way((), {0: half}), Way((interval(2, 1, low=2.0),)), Way((interval(2, 0, high=0.0),))))
    M = Whitening(np.eye(2), "cholesky")
    choice = Choice(2, tuple(range(size)), tuple(0.3 * (v != size - 1) for v in range(size)), size - 1)
    return Family(
        np.zeros(2), (MixedRequirement(margin),), Metric(M, 2.0), Ball.whitened(M, 2.0, 0.0, (), (0, 1)),
        Domain(np.full(2, -9.0), np.full(2, 9.0)), (choice,), (rule,),
    )  # fmt: skip


def test_proofs_are_as_many_as_groups_of_ways_not_values():
    """Half of the values keep the rule by themselves, the others need x1 >= 2: two proofs do."""
    posed = many_valued()
    found = certified_states(posed, GAP, 20.0)
    assert found.state[0] < 20
    assert posed.distance(found.state, found.point) == pytest.approx(1.3, rel=2e-3)
    assert len(found.certificate["states"]["proofs"]) <= 3


def test_rules_that_no_value_of_a_category_can_keep():
    posed = many_valued(6)
    impossible = Either((Way((), {0: frozenset()}),))
    found = certified_states(replace(posed, eithers=(impossible,)), GAP, 5.0)
    assert found.status is Status.INFEASIBLE
    assert found.certificate["states"]["proofs"] == []
    only = Either((Way((), {0: frozenset({1})}),))
    found = certified_states(replace(posed, eithers=(only,)), GAP, 5.0)
    assert found.state == (1,)


def finished_tree(problem):
    run = Search(whitened(problem), GAP, Clock(30.0))
    assert run.run() is Status.OPTIMAL
    return run


def test_no_cut_is_made_twice_on_one_way():
    """A feature whose range holds one allowed value is put on it, not cut beside it again and again."""
    run = finished_tree(either_problem(0, np.inf, 0.05, whole=True))
    for leaf in run.root.leaves():
        assert len(set(leaf.path)) == len(leaf.path)


def test_a_peak_that_hides_a_lower_scenario_is_left_to_other_bounds():
    posed = random_case(82)
    run = finished_tree(posed.problem(domain=posed.domain))
    assert run.bounds.nodes < 200
