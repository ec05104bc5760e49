"""The certified search over categories, against every state by itself."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from surefoot import Status
from surefoot.problem.either import Limit
from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.certified import certified_search, certified_states, refuted_at_once, states
from surefoot.search.certified.clock import Clock, OutOfTimeError
from tests.families import all_states, random_family
from tests.thinning import covering

GAP = 1e-3
ROUNDING = 2e-6  # gaps are not told apart below this
SIZES = [(2,), (3, 2), (2, 3, 2)]


def family(norm, budget, n_requirements, whole):
    """Every kind of family by its settings: one to three categories, one number or two."""
    rng = np.random.default_rng([int(min(norm, 9)), int(100 * budget), n_requirements, whole])
    sizes = SIZES[int(rng.integers(3))]
    return random_family(
        rng,
        n=int(rng.integers(1, 3)),
        sizes=sizes,
        n_shaping=int(rng.integers(len(sizes) + 1)),
        n_requirements=n_requirements,
        norm=norm,
        budget=budget,
        whole=whole,
        price=[(0.2, 0.6), (0.05, 0.1), (1.0, 1.0)][int(rng.integers(3))],
        concave=bool(rng.integers(2)),
    )


def nearest(posed):
    """The least distance over all states, each searched by itself; infinite if there is none."""
    best = np.inf
    for state in sorted(all_states(posed), key=posed.price):
        if posed.price(state) >= best:
            break
        found = certified_search(posed.problem(state), 1e-4, 30)
        assert found.status in (Status.OPTIMAL, Status.INFEASIBLE)
        if found.point is not None:
            best = min(best, posed.distance(state, found.point))
    return best


def check_point(posed, found):
    """Allowed, robust, and as far away as the search says."""
    assert len(found.state) == len(posed.choices)
    assert all(v in choice.allowed for v, choice in zip(found.state, posed.choices, strict=True))
    assert posed.price(found.state) < np.inf
    problem = posed.problem(found.state)
    assert problem.domain.contains(found.point)
    assert worst_perturbation(problem, found.point).violation <= 1e-9
    assert found.radius >= problem.budget


def check(posed, found, best):
    """A finished search, held against the least distance over all states."""
    assert found.certificate["bound"] is None
    assert set(found.certificate["states"]) == {"trades", "proofs"}
    if best == np.inf:
        assert found.status is Status.INFEASIBLE
        assert found.point is None
        assert found.lower_bound == np.inf
        return
    assert found.status is Status.OPTIMAL
    check_point(posed, found)
    distance = posed.distance(found.state, found.point)
    room = GAP * distance + ROUNDING
    assert distance - found.lower_bound <= room
    assert abs(distance - best) <= 1.2 * room
    assert found.lower_bound <= best * (1 + 1e-9)
    assert all(r.lower_bound <= found.lower_bound for r in found.rounds)


@pytest.mark.parametrize(
    ("norm", "budget", "n_requirements", "whole"), covering([np.inf, 2, 1], [0.0, 0.05], [1, 2], [0, 1])
)
def test_the_nearest_of_all_states(norm, budget, n_requirements, whole):
    posed = family(norm, budget, n_requirements, whole)
    check(posed, certified_states(posed, GAP, 30), nearest(posed))


def lowered(posed, by):
    """The same family with all requirements harder to meet."""
    harder = tuple(replace(r, margin=r.margin.shifted(-by)) for r in posed.requirements)
    return replace(posed, requirements=harder, _bases={})


@pytest.mark.parametrize("is_open", [False, True])
def test_what_is_refuted_at_once_has_no_answer(is_open):
    """And most of what has none far and wide is refuted so; what has one never is."""
    refuted = without = 0
    for number, (norm, n_requirements, whole) in enumerate(product([np.inf, 2, 1], [1, 2], [0, 1])):
        posed = family(norm, [0.0, 0.05][number % 2], n_requirements, whole)
        if is_open:
            ends = np.full(len(posed.factual), np.inf)
            posed = replace(posed, domain=replace(posed.domain, low=-ends, high=ends))
        for by in (0.0, 2.0, 4.0, 8.0, 16.0, 32.0):
            harder = lowered(posed, by)
            at_once = refuted_at_once(harder, 30)
            nothing = certified_states(harder, GAP, 30).status is Status.INFEASIBLE
            assert nothing or not at_once
            refuted, without = refuted + at_once, without + nothing
    assert refuted >= 0.8 * without > 0


def test_limits_hold_where_a_refutation_does_without_them():
    posed = lowered(family(2, 0.05, 1, 0), 50.0)
    numbers, categories = tuple(range(len(posed.factual))), tuple(range(len(posed.choices)))
    limited = replace(posed, limits=(Limit(1, numbers, tuple(posed.factual), categories),))
    assert refuted_at_once(limited, 30)
    assert certified_states(limited, GAP, 30).status is Status.INFEASIBLE
    assert not refuted_at_once(limited, 0.0)  # in no time nothing is proven


def test_the_walk_over_states_looks_at_the_clock_itself(monkeypatch):
    """Of many states most are covered by the proofs of others: then no search looks at it."""
    monkeypatch.setattr(states._States, "_refute_at_once", lambda *_: True)
    posed = family(2, 0.0, 1, 0)
    assert refuted_at_once(posed, 30)
    assert not refuted_at_once(posed, -1.0)


@pytest.fixture(scope="module")
def moving():
    """A family whose nearest point has another state than today's, and that point."""
    for seed in range(100):
        posed = random_family(np.random.default_rng(seed), n=2, sizes=(3, 3), price=(0.05, 0.1), budget=0.05)
        found = certified_states(posed, GAP, 30)
        if found.state and found.state != posed.today:
            return posed, found
    raise AssertionError("no such family")


def forbidding(posed, where):
    """The same family with infinite prices at some (category, value)."""
    choices = list(posed.choices)
    for k, v in where:
        prices = [np.inf if u == v else price for u, price in enumerate(choices[k].prices)]
        choices[k] = replace(choices[k], prices=tuple(prices))
    return replace(posed, choices=tuple(choices))


def test_what_is_forbidden_is_not_taken(moving):
    """The best change is forbidden: the next best is found, and the bound rises to it."""
    posed, found = moving
    changed = [k for k, v in enumerate(found.state) if v != posed.today[k]]
    narrow = forbidding(posed, [(k, found.state[k]) for k in changed])
    again = certified_states(narrow, GAP, 30)
    check(narrow, again, nearest(narrow))
    assert again.lower_bound > found.lower_bound
    assert all(again.state[k] != found.state[k] for k in changed) if again.state else True


def test_categories_that_stay_leave_one_problem(moving):
    posed, _ = moving
    fixed = forbidding(posed, [(k, v) for k, c in enumerate(posed.choices) for v in range(3) if v != c.today])
    found, alone = certified_states(fixed, GAP, 30), certified_search(posed.problem(), GAP, 30)
    check(fixed, found, nearest(fixed))
    assert found.status is alone.status
    assert found.state in ((), posed.today)


def test_prices_count(moving):
    """Dearer changes never make the answer nearer; free ones reach the nearest point of all."""
    posed, found = moving

    def priced(factor):
        dearer = (
            replace(c, prices=tuple(factor * p for p in c.prices)) for c in forbidden_free(posed).choices
        )
        return replace(posed, choices=tuple(dearer))

    free, dear = priced(0.0), priced(50.0)
    least, most = certified_states(free, GAP, 30), certified_states(dear, GAP, 30)
    check(free, least, nearest(free))
    check(dear, most, nearest(dear))
    reached = posed.distance(found.state, found.point)
    assert least.lower_bound <= reached * (1 + GAP)
    assert most.lower_bound * (1 + GAP) + ROUNDING >= reached


def forbidden_free(posed):
    """The same family with a price of 1 where a value was forbidden."""
    prices = [tuple(p if p < np.inf else 1.0 for p in c.prices) for c in posed.choices]
    choices = (replace(c, prices=p) for c, p in zip(posed.choices, prices, strict=True))
    return replace(posed, choices=tuple(choices))


@pytest.fixture(scope="module")
def long():
    """A family with many states, and its answer."""
    posed = random_family(np.random.default_rng(5), n=2, sizes=(3,) * 5, n_shaping=2, price=(0.1, 0.3))
    found = certified_states(posed, GAP, 30)
    assert found.status is Status.OPTIMAL
    return posed, posed.distance(found.state, found.point)


@pytest.mark.parametrize("looks", [0, 20, 40, 50, 60])
def test_a_search_that_is_stopped_says_what_is_true(monkeypatch, long, looks):
    """Time runs out at a certain look at the clock: point and bound hold, whatever is known by then."""

    class Stopping(Clock):
        remaining = looks

        def check(self):
            if self.left > 1:  # the clock of the search, not that of the bound afterwards
                Stopping.remaining -= 1
                if Stopping.remaining < 0:
                    raise OutOfTimeError
            super().check()

    posed, best = long
    monkeypatch.setattr(states, "Clock", Stopping)
    found = certified_states(posed, GAP, 3600)
    assert found.status in (Status.TIME_LIMIT, Status.TIME_LIMIT_NO_POINT, Status.OPTIMAL)
    assert 0 <= found.lower_bound <= best * (1 + 1e-9)
    if found.point is None:
        assert found.status is Status.TIME_LIMIT_NO_POINT
        return
    check_point(posed, found)
    assert posed.distance(found.state, found.point) >= best * (1 - 1.2 * GAP) - ROUNDING


def test_no_time_at_all(long):
    posed, best = long
    found = certified_states(posed, GAP, 0.0)
    assert found.status in (Status.TIME_LIMIT, Status.TIME_LIMIT_NO_POINT)
    assert 0 <= found.lower_bound <= best


@pytest.mark.parametrize(
    ("radius", "status"), [(None, Status.OPTIMAL), (0.0, Status.TIME_LIMIT)], ids=["robust", "not robust"]
)
def test_a_state_that_ran_out_of_time_with_bound_enough(monkeypatch, moving, radius, status):
    """Searches of single states aim at less than the gap: what they reach may do for all."""
    searched = states.searched

    def stopped(*posed):
        found = searched(*posed)
        kept = found.radius if radius is None else radius
        return replace(found, status=Status.TIME_LIMIT, radius=kept) if found.point is not None else found

    monkeypatch.setattr(states, "searched", stopped)
    posed, best = moving
    assert posed.problem().budget > 0
    found = certified_states(posed, GAP, 30)
    assert found.status is status
    assert found.lower_bound == pytest.approx(best.lower_bound, rel=2 * GAP)


@pytest.fixture
def gaps(monkeypatch):
    """The gaps with which single states are searched, as they are asked for."""
    asked, searched = [], states.searched

    def noted(problem, gap, clock, judged):
        asked.append((judged, gap))
        return searched(problem, gap, clock, judged)

    monkeypatch.setattr(states, "searched", noted)
    return asked


def test_states_in_which_the_numbers_may_stay_are_not_searched(monkeypatch, gaps):
    """Also where they are met on the way, and not tried at first."""
    monkeypatch.setattr(states, "MOST_TRIED", 0)
    stayed = 0
    for seed in range(12):
        posed = random_family(np.random.default_rng(seed), n=2, sizes=(3, 2, 2), price=(0.05, 0.2), whole=1)
        found = certified_states(posed, GAP, 30)
        check(posed, found, nearest(posed))
        stayed += found.state is not None and posed.distance(found.state, found.point) == posed.price(
            found.state
        )
    assert stayed > 3
    assert all(problem.margin(problem.factual) < 0 for problem, _ in gaps)


def test_dear_states_are_searched_to_a_share_of_their_whole_distance(gaps):
    """Roughly first; that may be enough or not, and the answer is as near as it has to be."""
    enough = finer = 0
    for seed in range(25):
        posed = random_family(np.random.default_rng(seed), n=2, sizes=(3, 2), price=(0.6, 1.2), concave=True)
        gaps.clear()
        check(posed, certified_states(posed, GAP, 30), nearest(posed))
        rough = [k for k, (_, gap) in enumerate(gaps) if gap > 5 * GAP]
        again = sum(k + 1 < len(gaps) and gaps[k][0] is gaps[k + 1][0] for k in rough)
        enough, finer = enough + len(rough) - again, finer + again
    assert enough > 0
    assert finer > 0


def test_constants_of_many_states_are_those_of_each():
    posed = family(2.0, 0.0, 3, whole=False)
    every = list(all_states(posed))
    together = posed.constants_of(np.array(every))
    assert together == pytest.approx(np.array([posed.constants(state) for state in every]), rel=1e-12)
