"""At most so many changes: against every choice of features by itself, and by the checker."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, Status, datasets, verify
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.either import Limit
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.problem.row import Row
from surefoot.search.certified import certified_search, changes, subsets
from surefoot.search.certified.changes import Choice, Cut, Limits
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.grafting import Member, Shared
from surefoot.search.certified.narrowing import narrowed
from surefoot.search.certified.settling import Open, choose_cuts, settled_points
from surefoot.search.certified.slices import Boxes, Slices, _factors, _products
from surefoot.search.certified.space import decided_rows, whitened
from surefoot.search.certified.stacks import cholesky, first_weights, minimise, of_points
from surefoot.search.certified.subsets import Subsets
from surefoot.threads import one_blas_thread
from tests.asking import CounterfactualExplainer
from tests.problems import mixed_problem, random_problem
from tests.search.certified.cost_problems import cost_problem
from tests.thinning import covering, only

GAP = 1e-2
KEPT = [0, 5, 8, 15, 20, 30, 33, 36, 41, 44, 57, 60, 95]
NORMS = (np.inf, 2.0, 1.0)
FINISHED = (Status.OPTIMAL, Status.INFEASIBLE)


@pytest.fixture(autouse=True)
def one_thread():
    with one_blas_thread():
        yield


def limit(problem, count, features=None):
    who = tuple(range(problem.n_features)) if features is None else tuple(features)
    return Limit(count, who, tuple(float(problem.factual[j]) for j in who))


def limited(problem, *limits):
    """The problem with limits, each a count or a count and features."""
    pairs = [(entry, None) if isinstance(entry, int) else entry for entry in limits]
    made = tuple(limit(problem, *pair) for pair in pairs)
    return replace(problem, domain=replace(problem.domain, limits=made))


def largest_choices(n, limits):
    """The sets of features that may change together and to which none can be added."""
    some = [
        frozenset(chosen)
        for size in range(n + 1)
        for chosen in combinations(range(n), size)
        if all(len(set(chosen) & set(one.numbers)) <= one.count for one in limits)
    ]
    return [chosen for chosen in some if not any(chosen < other for other in some)]


def one_by_one(problem):
    """The least distance over all choices, each a problem of its own in which the others are fixed.

    And what was proved of it, which is less where one of them takes too long.
    """
    domain, best, bound = problem.domain, np.inf, np.inf
    for chosen in largest_choices(problem.n_features, domain.limits):
        kept = [j for j in range(problem.n_features) if j not in chosen]
        low, high = domain.low.copy(), domain.high.copy()
        if ((problem.factual < low) | (problem.factual > high))[kept].any():
            continue
        low[kept] = high[kept] = problem.factual[kept]
        alone = replace(problem, domain=replace(domain, low=low, high=high, limits=()))
        found = certified_search(alone, GAP, 1.0)
        best = best if found.point is None else min(best, problem.distance(found.point))
        bound = min(bound, found.lower_bound)
    return best, bound


def check(problem, seconds=20.0):
    """The answer keeps the limits and is as near as the best choice."""
    found, (best, bound) = certified_search(problem, GAP, seconds), one_by_one(problem)
    assert found.status in FINISHED
    assert found.lower_bound <= best * (1 + 1e-9)
    if found.point is not None:
        assert problem.domain.contains(found.point)
        assert found.radius >= problem.budget or problem.ball.is_point
        assert bound * (1 - 1e-9) <= problem.distance(found.point) <= best * (1 + 1.5 * GAP)
    return found


@pytest.mark.parametrize(("chosen", "budget", "norm"), covering([[4, 1], [5, 2], [6, 3]], [0.0, 0.05], NORMS))
def test_the_nearest_of_all_choices(norm, budget, chosen):
    n, count = chosen
    check(limited(random_problem(n, 3, norm=norm, budget=budget), count))


def within(problem, width):
    """The problem with all features within so many deviations of today."""
    low, high = problem.factual - width * problem.unit, problem.factual + width * problem.unit
    domain = problem.domain
    narrow = replace(domain, low=np.maximum(domain.low, low), high=np.minimum(domain.high, high))
    return replace(problem, domain=narrow)


def shared_leaves(monkeypatch):
    """What is refuted in bunches from now on; bunches are made however few choices there are."""
    monkeypatch.setattr(subsets, "AT_ONCE", 0)
    monkeypatch.setattr("surefoot.search.certified.bunches.FEWER", 1)
    found, proven = [], Choice.proven

    def noted(choice, bound, proof):
        found.extend([choice] if isinstance(proof, Shared) else [])
        proven(choice, bound, proof)

    monkeypatch.setattr(Choice, "proven", noted)
    return found


@pytest.mark.parametrize(
    ("limits", "width", "seed"),
    covering([(2,), (1,), ((2, [0, 1, 2, 3]), (1, [2, 3, 4]))], [0.3, 1.0, np.inf], range(6)),
)
def test_what_bunches_refute_holds_no_point(seed, width, limits, monkeypatch):
    bunches = shared_leaves(monkeypatch)
    problem = limited(within(random_problem(5, seed, budget=0.05), width), *limits)
    found = check(problem)
    assert found.point is not None or bunches or width == np.inf
    for choice in bunches:
        kept = list(choice.kept)
        low, high = problem.domain.low.copy(), problem.domain.high.copy()
        low[kept] = high[kept] = problem.factual[kept]
        alone = replace(problem, domain=replace(problem.domain, low=low, high=high, limits=()))
        assert certified_search(alone, GAP, 5.0).status is Status.INFEASIBLE


@pytest.mark.parametrize("seed", [5, 8, 15, 20, 33, 36, 41])
def test_bunches_with_whole_numbers_rows_and_all_else(seed, monkeypatch):
    shared_leaves(monkeypatch)
    problem = mixed_problem(seed)
    check(limited(within(problem, 0.5), 2) if seed % 2 else limited(problem, 2))


@pytest.mark.parametrize("seed", [2, 7, 21, 36])
def test_bunches_with_prices(seed, monkeypatch):
    shared_leaves(monkeypatch)
    check(limited(within(cost_problem(seed), 0.5), 2))


def test_choices_that_a_rule_excludes_do_not_spoil_the_weights_of_others():
    """Ends that exclude each other are refuted by ever larger weights: they are no example for others."""
    data = datasets.load_ionosphere()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    row, rule = data.X.iloc[344], "Attribute26 + Attribute13 <= 0.5"
    assert row["Attribute26"] + row["Attribute13"] > 0.8  # one of both must change
    settings = {"budget": 0.05, "norm": 1, "whole": False, "gap": 0.5, "time_limit": 2.0}
    explainer = CounterfactualExplainer(clf, actions=Actions(at_most=2, rules=[rule]), **settings)
    assert verify(explainer.explain(row, on_failure="return"), clf).ok


def test_bunches_where_nothing_else_may_change(monkeypatch):
    """One feature has a single value, which is not today's, and that is all the change there may be."""
    shared_leaves(monkeypatch)
    problem = within(random_problem(5, 3), 0.3)
    low, high = problem.domain.low.copy(), problem.domain.high.copy()
    low[2] = high[2] = problem.factual[2] + 0.1 * problem.unit[2]
    check(limited(replace(problem, domain=replace(problem.domain, low=low, high=high)), 1))


def test_open_ends_have_no_part_in_shared_leaves():
    data = datasets.load_ionosphere()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    actions = Actions({"Attribute10": Action(low=0.05)}, at_most=4)  # today it is 0
    settings = {"budget": 0.0, "norm": 1, "whole": False, "bounds": None}
    e = CounterfactualExplainer(clf, actions=actions, **settings).explain(data.X.iloc[192], 1, "return")
    assert e.status is Status.INFEASIBLE
    assert verify(e, clf).ok
    products = [one for leaf in leaves_of(e.certificate["bound"]["tree"]) for one in leaf["products"]]
    assert products
    assert all(one[1:] != [["1"], ["1"]] for one in products)


@pytest.mark.parametrize(("bounds", "norm"), covering(["data", None], NORMS))
def test_few_leaves_refute_thousands_of_choices(norm, bounds):
    data = datasets.load_ionosphere()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    settings = {"budget": 0.05, "norm": norm, "whole": False, "bounds": bounds}
    explainer = CounterfactualExplainer(clf, actions=Actions({}, at_most=3), **settings)
    e = explainer.explain(data.X.iloc[218], 1, on_failure="return")
    assert e.status is Status.INFEASIBLE
    assert verify(e, clf).ok
    assert 1 < len(list(leaves_of(e.certificate["bound"]["tree"]))) < 200  # of C(32, 3) choices


def leaves_of(node):
    if "level" in node:
        yield node
    else:
        yield from leaves_of(node["no"])
        yield from leaves_of(node["yes"])


@pytest.mark.parametrize("norm", NORMS)
def test_two_limits_that_overlap(norm):
    problem = limited(random_problem(5, 8, norm=norm), (2, [0, 1, 2, 3]), (1, [2, 3, 4]))
    point = check(problem).point
    assert problem.factual[np.flatnonzero(point == problem.factual)].size >= 2  # to the last digit


@pytest.mark.parametrize("seed", only(KEPT, [1, *KEPT]))
def test_whole_numbers_rows_and_all_else(seed):
    problem = mixed_problem(seed)
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, problem.n_features + 1))
    some = np.sort(rng.permutation(problem.n_features)[: 1 + problem.n_features // 2]).tolist()
    check(limited(problem, count, (1, some)))


@pytest.mark.parametrize("seed", [2, 7, 21, 36, 52, 86, 98, 118])
def test_prices(seed):
    check(limited(cost_problem(seed), 2))


def test_equations():
    problem = random_problem(4, 2)
    row = Row(np.array([1.0, 2.0, 0.0, 0.0]), *[float(problem.factual[0] + 2 * problem.factual[1])] * 2)
    check(limited(replace(problem, domain=replace(problem.domain, rows=(row,))), 3))


def test_features_that_cannot_stay_as_they_are():
    problem = random_problem(4, 6)
    low, high = problem.domain.low.copy(), problem.domain.high.copy()
    low[2] = problem.factual[2] + 0.1 * problem.unit[2]
    low[3] = high[3] = problem.factual[3] - 0.2 * problem.unit[3]
    domain = Domain(low, high)
    point = check(limited(replace(problem, domain=domain), 3)).point
    assert point[3] == low[3]
    assert point[2] >= low[2]
    assert check(limited(replace(problem, domain=domain), 1)).status is Status.INFEASIBLE


@pytest.mark.parametrize("norm", NORMS)
def test_nothing_may_change(norm):
    problem = limited(random_problem(3, 1, norm=norm), 0)
    assert certified_search(problem, GAP, 5.0).status is Status.INFEASIBLE
    held = replace(problem.requirements[0], margin=problem.requirements[0].margin + 1e3)
    found = certified_search(replace(problem, requirements=(held,)), GAP, 5.0)
    assert found.status is Status.OPTIMAL
    assert np.array_equal(found.point, problem.factual)


def test_a_limit_that_does_not_matter():
    problem = random_problem(4, 3)
    free, found = (certified_search(p, GAP, 5.0) for p in (problem, limited(problem, 4)))
    assert problem.distance(found.point) == pytest.approx(problem.distance(free.point), rel=GAP)
    assert "changed" not in found.certificate["bound"]["tree"]


@pytest.mark.parametrize("norm", NORMS)
def test_a_level_is_refuted_below_the_distance_and_not_above(norm):
    problem = limited(random_problem(5, 3, norm=norm), 2)
    distance = problem.distance(certified_search(problem, 1e-3, 5.0).point)
    below, above = (Subsets(problem, GAP, Clock(5.0)) for _ in range(2))
    assert below.refute(0.98 * distance)
    assert below.bound >= 0.98 * distance
    assert not above.refute(1.02 * distance)
    free = certified_search(replace(problem, domain=Domain.whole_space(5)), GAP, 5.0)
    nearby = Subsets(problem, GAP, Clock(5.0))
    assert nearby.refute(0.8 * problem.distance(free.point))  # nothing is nearer without a limit either
    assert nearby.bound >= 0.8 * problem.distance(free.point)


@pytest.mark.parametrize("norm", NORMS)
def test_very_many_choices_are_refuted_together(norm, monkeypatch):
    problem = limited(random_problem(6, 5, norm=norm), 2)
    best = problem.distance(certified_search(problem, GAP, 5.0).point)
    monkeypatch.setattr(subsets, "MANY", 3)
    monkeypatch.setattr(subsets, "BUNCH", 4)
    found = check(problem)
    assert problem.distance(found.point) == pytest.approx(best, rel=1.5 * GAP)


def test_slices_with_many_features_are_searched(monkeypatch):
    monkeypatch.setattr(subsets, "MOST_FREE", 1)
    check(limited(random_problem(4, 3), 2))


@pytest.mark.parametrize("norm", NORMS)
def test_what_stacks_refute_is_not_searched(norm, monkeypatch):
    """Where nothing is allowed that would do, stacks say so before any search for points."""
    problem = random_problem(6, 5, norm=norm)
    box = Domain(problem.factual - 0.01, problem.factual + 0.01)
    posed = limited(replace(problem, domain=box), 2)
    assert check(posed).status is Status.INFEASIBLE
    monkeypatch.setattr(subsets.Search, "run", lambda *_: pytest.fail("points were looked for"))
    assert certified_search(posed, GAP, 5.0).status is Status.INFEASIBLE


@pytest.mark.parametrize("norm", NORMS)
def test_a_rule_that_kept_features_meet_at_its_end(norm):
    """It says no more of the others, and rounding there is no breach."""
    problem = random_problem(5, 3, norm=norm)
    a = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    end = float(np.nextafter(a @ problem.factual, np.inf))
    domain = Domain(problem.factual - 40.0, problem.factual + 40.0, (Row(a, -np.inf, end),))
    posed = limited(replace(problem, domain=domain), 1)
    assert check(posed).status is Status.OPTIMAL
    assert decided_rows(
        narrowed(Subsets(posed, GAP, Clock(5.0)).whole, _choice(posed, 4)).problem.domain
    ) == [0]


def _choice(posed, feature):
    """The choice in which one feature alone may change."""
    root = Limits(posed, range(posed.n_features)).root()
    root.grow()
    return next(choice for choice in root.leaves() if choice.free == (feature,))


def test_the_bound_without_limits_when_time_is_up(monkeypatch):
    problem = limited(random_problem(6, 3), 2)
    search = Subsets(problem, GAP, Clock(20.0))
    search._first_point()
    monkeypatch.setattr(search, "clock", Clock(-1.0))
    assert search.run() is Status.TIME_LIMIT
    assert 0 < search.bound <= search.points.distance
    assert search.proof(lambda v: v)["tree"] is not None
    nothing = Subsets(problem, GAP, Clock(-1.0))
    assert nothing.run() is Status.TIME_LIMIT.without_point


@pytest.mark.parametrize(("most", "status"), [(2, Status.TIME_LIMIT), (1, Status.TIME_LIMIT.without_point)])
def test_what_is_not_written_in_time_is_not_claimed(monkeypatch, most, status):
    """The proof is that without any limit then, and both the status and the bound say so."""
    bank = datasets.load_banknote()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)
    settings = {"norm": 1, "budget": 0.02, "bounds": "data", "diagnose": False}
    settings |= {"actions": Actions({"variance": Action("stay")}, at_most=most)}
    explainer = CounterfactualExplainer(clf, **settings)
    full = explainer.explain(bank.X.iloc[0], 1, on_failure="return")
    assert full.status in (Status.OPTIMAL, Status.INFEASIBLE)
    monkeypatch.setattr(Subsets, "_writing", -1.0)
    e = explainer.explain(bank.X.iloc[0], 1, on_failure="return")
    assert e.status is status
    assert 0 < e.lower_bound < full.lower_bound
    assert [claim.name for claim in verify(e, clf).claims if claim.verdict == "FAILS"] == []


def test_choices_that_time_left_together_are_all_there(monkeypatch):
    """Listing them stops half-way; what is listed by then still covers everything, and so does the proof."""
    posed = limited(random_problem(12, 3), 4)
    root = Limits(posed, range(12)).root()
    looks = iter([None] * 3)

    def check(_):
        if next(looks, OutOfTimeError) is OutOfTimeError:
            raise OutOfTimeError

    monkeypatch.setattr(changes, "LOOK_UP", 10)
    monkeypatch.setattr(Clock, "check", check)
    with pytest.raises(OutOfTimeError):
        root.grow(Clock(60.0))
    left = list(root.leaves())
    assert any(choice.feature is not None for choice in left)
    assert sum(choice.size for choice in left) == root.size


def test_a_point_that_does_not_withstand_is_discarded():
    problem = limited(random_problem(5, 4, budget=0.0), 2)
    search = Subsets(problem, GAP, Clock(20.0))
    assert search.run() is Status.OPTIMAL
    before, start = search.points.distance, search.points.best
    H = search.whole.margins[0]
    shift = -0.05 * np.sign(H.gradient(start))
    search.discard(0, shift)
    assert search.run(start) is Status.OPTIMAL
    assert search.points.distance > before
    assert H(search.points.best + shift) >= 0


def test_rounds_say_where_the_search_stood():
    found = certified_search(limited(random_problem(5, 3), 2), GAP, 5.0)
    assert all(r.lower_bound <= r.distance for r in found.rounds)
    assert np.array_equal(found.rounds[-1].candidate, found.point)
    distances = [r.distance for r in found.rounds]
    assert distances == sorted(distances, reverse=True)


# --- the tree of choices ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "limits"), [(6, [2]), (5, [5]), (6, [(2, [0, 1, 2, 3]), (1, [3, 4])]), (4, [0])]
)
def test_the_choices_are_the_largest_ones(n, limits):
    problem = limited(random_problem(n, 0), *limits)
    root = Limits(problem, range(n)).root()
    root.grow()
    found = [frozenset(choice.free) for choice in root.leaves()]
    largest = largest_choices(n, problem.domain.limits)
    assert len(set(found)) == len(found)
    assert all(any(chosen <= other for other in found) for chosen in largest)
    assert all(any(other <= chosen for chosen in largest) for other in found)
    assert len(found) <= Limits(problem, range(n)).root().size


def test_features_that_are_fixed_anyway_do_not_count():
    problem = random_problem(4, 0)
    low, high = problem.domain.low.copy(), problem.domain.high.copy()
    low[1] = high[1] = problem.factual[1]
    root = Limits(limited(replace(problem, domain=Domain(low, high)), 2), range(4)).root()
    root.grow()
    assert {choice.free for choice in root.leaves()} == {(0, 2), (0, 3), (2, 3)}


def test_cuts_set_ends():
    problem = random_problem(3, 0)
    choice = Limits(limited(problem, 2), range(3)).root()
    below, above = choice.cut(Cut(0, 1.0, 2.0))
    assert below.cut_ends == {(0, True): (1.0, 0)}
    assert above.cut_ends == {(0, False): (2.0, 0)}
    assert below.depth == above.depth == 1
    choice.proven(1.0, "reason")
    assert not choice.parts


def test_the_space_of_a_choice_has_cut_ends_and_allowed_values():
    problem = random_problem(3, 0)
    today = float(problem.factual[0])
    domain = replace(problem.domain, sets=(ValueSet(0, (today - 2, today + 1.5, today + 4), today),))
    search = Subsets(limited(replace(problem, domain=domain), 2), GAP, Clock(5.0))
    choice = next(choice for choice in search.choices if 0 in choice.free)
    _, above = choice.cut(Cut(0, 0.0, 1.5))
    space = narrowed(search.whole, above)
    assert space.problem.domain.low[0] == today + 1.5
    assert narrowed(search.whole, above, {0: 4.0}).sets == {}
    assert space.farthest == search.whole.farthest


# --- stacks -------------------------------------------------------------------------------------------------


def test_factors_of_stacks():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 4, 4))
    K = A @ np.swapaxes(A, 1, 2)
    K[3] -= 100 * np.eye(4)
    L, definite = cholesky(K)
    assert definite.tolist() == [i != 3 for i in range(20)]
    assert np.allclose((L @ np.swapaxes(L, 1, 2))[definite], K[definite])
    some = np.delete(K, 3, axis=0)
    assert np.allclose(cholesky(some)[0], np.linalg.cholesky(some))
    some[5] = np.diag([1.0, 1.0, 1.0, 1e-14 / 2])
    some[6] = np.ones((4, 4)) + 1e-15 * np.eye(4)  # definite by rounding at most
    assert cholesky(some)[1].tolist() == [i != 6 for i in range(19)]


@pytest.mark.parametrize("seed", range(5))
def test_multipliers_refute_what_is_refutable(seed):
    """Balls around zero and a margin that is positive only outside or also inside of them."""
    rng = np.random.default_rng(seed)
    terms = np.zeros((30, 2, 4, 4))
    terms[:, 0] = np.diag([-1.0, -1, -1, 1])
    A = rng.normal(size=(30, 3, 3))
    Q = 0.5 * (A + np.swapaxes(A, 1, 2))
    q, c = rng.normal(size=(30, 3)), -rng.exponential(size=30) * 3
    terms[:, 1, :3, :3], terms[:, 1, 3, 3] = Q, c
    terms[:, 1, :3, 3] = terms[:, 1, 3, :3] = 0.5 * q
    weights, concave = first_weights(terms, 1)
    assert concave.all()
    found = minimise(terms, 1, weights)
    for i in range(30):  # one ball: the relaxation is exact
        directions = rng.normal(size=(4000, 3))
        points = directions / np.linalg.norm(directions, axis=1)[:, None] * rng.uniform(size=(4000, 1)) ** 0.3
        most = (np.einsum("ni,ij,nj->n", points, Q[i], points) + points @ q[i] + c[i]).max()
        assert not (found.refuted[i] and most >= 0)
        assert found.refuted[i] or most > -0.1
        total = np.einsum("m,mij->ij", found.weights[i], terms[i])
        assert not found.refuted[i] or np.linalg.eigvalsh(total)[-1] < 0
    assert (found.refuted ^ found.relaxed).mean() > 0.9


def test_single_points():
    found = of_points(np.array([[1.0, -0.5, 2.0], [1.0, 0.5, 2.0]]))
    assert found.refuted.tolist() == [True, False]
    assert found.weights[0].tolist() == [0.0, 1.0, 0.0]
    assert found.moments.tolist() == [[[1.0]], [[1.0]]]


@pytest.mark.parametrize("norm", NORMS)
def test_leaves_of_slices_are_negative(norm):
    """Every leaf's sum at random points of its slice, from the certificate's own entries."""
    problem = limited(random_problem(5, 3, norm=norm, budget=0.0), 2)
    search = Subsets(problem, GAP, Clock(5.0))
    search.run()
    stacked = [choice for choice in search.choices if isinstance(choice.proof, Member)]
    assert len(stacked) >= 5
    rng = np.random.default_rng(0)
    for choice in stacked:
        stack, number = choice.proof
        leaf = stack.leaves()[number]
        change = np.zeros((50, 5))
        change[:, list(choice.free)] = rng.normal(size=(50, 2)) * problem.unit[list(choice.free)] * 3
        u = change @ search.whole.matrix.T
        total = sum(w * search.whole.margins[0](u) for w in leaf.margins.values())
        if norm == np.inf:
            total = total + (leaf.level**2 - u**2) @ leaf.norm
        else:
            crossed = 2 * sum(w * u[:, i] * u[:, j] for i, j, w in leaf.cross)
            total = total + leaf.norm[0] * (leaf.level**2 - (u**2).sum(axis=1)) - crossed
        assert not leaf.products or norm < np.inf
        assert norm < np.inf or (total < 0).all()


def test_weights_of_a_sample_prove_what_they_claim():
    """Weights that other slices lent refute a large stack, and every leaf's sum is negative."""
    problem = limited(random_problem(13, 3, norm=np.inf, budget=0.0), 3)
    space = Subsets(problem, GAP, Clock(5.0)).whole
    slices = Slices(space, 0.2 * space.typical_distance, [(0, np.zeros(13))], [0])
    choices = [list(some) for some in combinations(range(13), 3)]
    low = np.array([[-np.inf if j in some else 0.0 for j in range(13)] for some in choices])
    attempt = slices.refute(Boxes.between(space, low, -low))
    assert attempt.refuted.all()
    assert 0 < slices._typical.number < len(low) / 2
    rng = np.random.default_rng(0)
    leaves = slices.leaves(attempt.boxes, attempt.weights, attempt.signs, [{}] * len(low))
    for some, leaf in zip(choices, leaves, strict=True):
        change = np.zeros((20, 13))
        change[:, some] = rng.normal(size=(20, 3)) * problem.unit[some] * 3
        u = change @ space.matrix.T
        total = leaf.margins[0] * space.margins[0](u) + (leaf.level**2 - u**2) @ leaf.norm
        assert (total < 0).all()
        assert not leaf.products


def test_a_slice_beyond_the_level_is_refuted():
    problem = random_problem(3, 0)
    space = Subsets(limited(problem, 2), GAP, Clock(5.0)).whole
    slices = Slices(space, 0.1, [(0, np.zeros(3))], [0], cut=True)
    unit = problem.unit
    low, high = np.array([[5 * unit[0], -unit[1], 0.0]]), np.array([[np.inf, unit[1], 0.0]])
    assert slices.refute(Boxes.between(space, low, high)).refuted.all()


# --- allowed values -----------------------------------------------------------------------------------------


def open_choice(changes, spread, low=-10.0, high=10.0):
    n = len(changes)
    changes, spread = np.array(changes, dtype=float), np.array(spread, dtype=float)
    return Open(1.0, None, changes, spread, changes, np.full(n, low), np.full(n, high))


def set_space(*features):
    problem = random_problem(3, 0)
    factual = np.round(problem.factual)
    sets = tuple(ValueSet(j, None, float(factual[j])) for j in features)
    domain = replace(problem.domain, sets=sets)
    return Subsets(limited(replace(problem, factual=factual, domain=domain), 2), GAP, Clock(5.0)).whole


def test_cuts_between_allowed_values():
    space = set_space(0, 1)
    reach = space.reach[3:6]
    cuts = choose_cuts(space, open_choice([0.5, 1.0, 0.3], [0, 0, 0]), 1.0)
    assert cuts == [Cut(0, 0.0, 1.0)]
    cuts = choose_cuts(space, open_choice([2.0, 1.0, 0.3], [0, reach[1] ** 2, 0]), 1.0)
    assert cuts == [Cut(1, 1.0, 2.0)]
    cuts = choose_cuts(space, open_choice([2.0, 1.0, 0.3], [0, 0, reach[2] ** 2]), 1.0)
    assert cuts == [Cut(2, 0.3, 0.3)]
    cuts = choose_cuts(space, open_choice([0.0, 1.0, 0.3], [reach[0] ** 2, 0, 0], low=0.0, high=1.0), 1.0)
    assert cuts == [Cut(0, 0.0, 1.0)]
    assert choose_cuts(set_space(), open_choice([0.5, 1.0, 0.3], [1, 1, 1]), 1.0) == []


def test_every_feature_between_allowed_values_is_cut_the_farthest_first():
    space = set_space(0, 1)
    reach = space.reach[3:6]
    cuts = choose_cuts(space, open_choice([0.25, 1.5, 0.3], [0, 0, 0]), 1.0)
    off = {0: 0.25 / reach[0], 1: 0.5 / reach[1]}
    every = {0: Cut(0, 0.0, 1.0), 1: Cut(1, 1.0, 2.0)}
    assert cuts == [every[j] for j in sorted(off, key=lambda j: -off[j])]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("norm", NORMS)
def test_points_on_lines_are_where_the_margin_changes_sign(seed, norm):
    """One feature is whole, one takes any value: of each whole value the crossing of the margin is found."""
    problem = random_problem(3, seed, norm=norm)
    factual = np.round(problem.factual)
    sets = (ValueSet(0, None, float(factual[0])),)
    posed = replace(problem, factual=factual, domain=replace(problem.domain, sets=sets))
    search = Subsets(limited(posed, 2), GAP, Clock(5.0))
    space, H, scenarios = search.whole, search.whole.margins[0], [(0, np.zeros(3))]
    at = np.array([0.4, 0.0, 0.0])
    low, high = np.array([-5.0, -5 * posed.unit[1], 0.0]), np.array([5.0, 5 * posed.unit[1], 0.0])
    found = settled_points(space, scenarios, Open(1.0, None, at, 0 * at, at, low, high), 1e-9)
    sizes = [size for size, _, _ in found]
    assert sizes == sorted(sizes)
    changes = [space.inverse @ u for _, u, _ in found]
    for change, (_, u, values) in zip(changes, found, strict=True):
        assert H(u) >= -1e-9
        assert (change >= low - 1e-9).all()
        assert (change <= high + 1e-9).all()
        assert values == {0: pytest.approx(round(change[0]))}
    for whole in (0.0, 1.0):
        steps = np.linspace(low[1], high[1], 20001)
        line = np.column_stack([np.full_like(steps, whole), steps, 0 * steps]) @ space.matrix.T
        fine = H(line) >= 0
        own = [c[1] for c in changes if c[0] == pytest.approx(whole, abs=1e-9)]
        for crossing in steps[1:][fine[1:] != fine[:-1]]:
            assert np.abs(np.array(own) - crossing).min() <= 2 * (steps[1] - steps[0])


# --- answers that the checker accepts -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def pima():
    data = datasets.load_pima()
    return ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y), data.X


def accepted(e, clf):
    verdict = verify(e, clf)
    assert verdict.ok, verdict.failures


@pytest.mark.parametrize(("whole", "count", "norm"), covering([None, False], [1, 2, 3], NORMS))
def test_pima(pima, norm, count, whole):
    clf, X = pima
    explainer = CounterfactualExplainer(
        clf, budget=0.05, norm=norm, gap=GAP, actions=Actions(at_most=count), whole=whole
    )
    for i in (3, 10):
        e = explainer.explain(X.iloc[i], 1 - clf.predict(X.iloc[[i]])[0], on_failure="return")
        assert e.status in FINISHED
        assert e.counterfactual is None or (e.counterfactual != e.factual).sum() <= count
        accepted(e, clf)


def test_groups_and_prices(pima):
    clf, X = pima
    actions = Actions({"plas": Action(cost=(1.0, 3.0))}, at_most=3, at_most_of=[(1, ["plas", "mass", "age"])])
    for norm in NORMS:
        explainer = CounterfactualExplainer(clf, budget=0.02, norm=norm, distance="cost", actions=actions)
        e = explainer.explain(X.iloc[0], 0, on_failure="return")
        assert e.status in FINISHED
        accepted(e, clf)
        changed = e.counterfactual != e.factual
        assert changed[["plas", "mass", "age"]].sum() <= 1


@pytest.mark.parametrize("norm", [np.inf, 1.0])
def test_categories_take_from_the_count(norm):
    data = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    names = [name for name in data.X if data.X[name].dtype.kind not in "iuf"]
    actions = Actions({name: Action(cost=0.3) for name in names}, at_most=2)
    explainer = CounterfactualExplainer(clf, budget=0.05, norm=norm, gap=GAP, actions=actions)
    for i in np.flatnonzero(clf.predict(data.X) == "bad")[:2]:
        e = explainer.explain(data.X.iloc[int(i)], "good")
        assert e.status is Status.OPTIMAL
        assert (e.counterfactual != e.factual).sum() <= 2
        accepted(e, clf)


def test_ends_that_exclude_each_other_have_a_weight_of_sane_size():
    """A rule that is broken today, over features that do not move: its product is a constant below zero."""
    nothing = np.zeros((1, 1, 3))
    factor = _factors(nothing, np.array([[-2.0]]), np.array([[-5.0]]))
    product = _products(nothing, np.array([[-2.0]]), np.array([[-5.0]]))[0, 0, -1, -1] * factor[0, 0]
    assert -1 <= product < -0.01


def test_points_on_allowed_values_keep_to_equations():
    """Rounding in the coordinates must not make an equation fail that allowed values meet."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        M = np.triu(rng.normal(size=(3, 3))) + 2 * np.eye(3)
        x0 = np.round(10 * rng.normal(size=3))
        link = Row([2.0, 1.0, 0.0], float(2 * x0[0] + x0[1]), float(2 * x0[0] + x0[1]), "a link")
        sets = tuple(ValueSet(j, None, float(x0[j])) for j in range(3))
        domain = Domain(x0 - 9, x0 + 9, (link,), sets)
        whitening = Whitening(M, "cholesky")
        margin = Requirement(Quadratic(np.zeros((3, 3)), np.ones(3), 50.0, x0))
        metric, ball = Metric(whitening, 2.0), Ball.whitened(whitening, 2.0, 0.0)
        space = whitened(RobustProblem(x0, (margin,), metric, ball, domain))
        changes = np.array([3.0, -6.0, 0.4])
        open_ = Open(1.0, None, changes, np.zeros(3), changes, np.full(3, -9.0), np.full(3, 9.0))
        found = settled_points(space, [(0, np.zeros(3))], open_, 0.0)
        reached = {tuple(np.round(space.inverse @ u, 6).tolist()) for _, u, _ in found}
        assert {(3.0, -6.0, 0.0), (3.0, -6.0, 1.0)} <= reached
        assert all(2 * a + b == 0 for a, b, _ in reached)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("looks", [0, 2, 4])
def test_what_is_proved_when_time_is_up(bundled, monkeypatch, norm, looks):
    """Whole numbers and a limit: the bounds without either are looked for once each, and are bounds."""
    pima = bundled["pima"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)
    clocks, check = [], Clock.check

    def counted(clock):
        clocks.append(clock)
        if clock is clocks[0] and clocks.count(clock) > looks:
            raise OutOfTimeError
        check(clock)

    started, begin = [], Subsets.__init__
    monkeypatch.setattr(Clock, "check", counted)
    monkeypatch.setattr(Subsets, "__init__", lambda *told: started.append(told) or begin(*told))
    explainer = CounterfactualExplainer(clf, norm=norm, budget=0.05, gap=1e-3, actions=Actions(at_most=3))
    e = explainer.explain(pima.X.iloc[8], 0, on_failure="return")
    assert e.status.with_point is Status.TIME_LIMIT
    assert len(started) == 1
    assert e.lower_bound > 0
    assert verify(e, clf).ok


def test_a_choice_in_which_nothing_moves():
    """Cuts between few values may leave one of each feature: there is no point beside that one."""
    problem = random_problem(3, 2)
    today = problem.factual
    sets = tuple(ValueSet(j, tuple(today[j] + 2 * np.arange(-1, 2)), float(today[j])) for j in range(3))
    posed = replace(problem, domain=Domain(today - 4, today + 4, sets=sets))
    space = Subsets(limited(posed, 2), GAP, Clock(5.0)).whole
    for at in (np.zeros(3), np.array([2.0, 0.0, 0.0]), np.array([2.0, -2.0, 0.0])):
        found = settled_points(space, [(0, np.zeros(3))], Open(1.0, None, at, 0 * at, at, at, at), 0.0)
        reached = float(space.margins[0](space.matrix @ at)) >= 0
        assert len(found) == reached
        assert all(np.allclose(u, space.matrix @ at) for _, u, _ in found)
