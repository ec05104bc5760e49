"""Leaves whose sum depends on some features only, or on none: what holds at any distance, and what is forged.

Rows a_k'x <= b_k exclude each other if weights make their sum a negative constant (Farkas). Nothing but that
proves a leaf of an infinite level without requirements.
"""

import copy
import math
import random

import pytest
from scipy.optimize import linprog

from surefoot.proof import exact
from surefoot.proof.exact import HOLDS, Row, depended_on
from tests.proof import two_categories as mixed
from tests.proof import two_numbers as plain
from tests.proof.test_conditions import disk, leaf, proven, setting

INF = math.inf
TINY = 5e-324


def rowed(*rows, **options):
    """Rows (coefficients, low, high) of an open domain."""
    return setting(rows=[Row(list(a), low, high, "") for a, low, high in rows], **options)


def summed(*entries, level="inf"):
    """A leaf of rows alone: (weight, row, side)."""
    products = [[weight, ["r", k, side], ["1"]] for weight, k, side in entries]
    return leaf(level, requirements=(), products=products)


# ----- the matrix -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "left"),
    [
        ([[5]], [[5]]),
        ([[0]], [[0]]),  # the constant is never left out
        ([[0], [0, 0]], [[0]]),
        ([[0], [0, 7]], [[7]]),
        ([[0], [3, 7]], [[0], [3, 7]]),
        ([[4], [0, 7]], [[4], [0, 7]]),
        ([[0], [0, 5], [0, 6, 7]], [[5], [6, 7]]),
        ([[5], [0, 0], [6, 0, 7]], [[5], [6, 7]]),
        ([[0], [0, 0], [0, 0, 7]], [[7]]),
        ([[0], [1, 5], [0, 6, 7]], [[0], [1, 5], [0, 6, 7]]),
        ([[5], [1, 0], [6, 0, 7]], [[5], [1, 0], [6, 0, 7]]),
        ([[0], [0, 5], [1, 0, 5], [0, 0, 0, 5]], [[0], [0, 5], [1, 0, 5], [0, 0, 0, 5]]),
        ([[0], [0, 0], [0, 0, 5], [0, 1, 0, 5]], [[0], [0, 5], [1, 0, 5]]),
    ],
)
def test_features_that_a_sum_does_not_depend_on(rows, left):
    assert depended_on(copy.deepcopy(rows)) == left


# ----- rows that exclude each other -------------------------------------------------------------------------

EACH_OTHER = (((1.0, 1.0), 3.0, INF), ((1.0, 1.0), -INF, 2.0))


@pytest.mark.parametrize("weight", [1.0, TINY, 1e308, 0.1])
def test_two_rows_exclude_each_other_whatever_the_weight(weight):
    where = rowed(*EACH_OTHER)
    assert proven(where, summed((weight, 0, "low"), (weight, 1, "high"))) == INF
    assert proven(where, summed((weight, 0, "low"), (weight, 1, "high"), level=2.5)) == 2.5


@pytest.mark.parametrize(
    "entries",
    [
        (),
        [(1.0, 0, "low")],
        [(0.0, 0, "low"), (0.0, 1, "high")],
        [(1.0, 0, "low"), (0.0, 1, "high")],
        [(1.0, 0, "low"), (math.nextafter(1.0, 2.0), 1, "high")],
        [(1.0, 0, "low"), (1.0, 1, "high"), (TINY, 1, "high")],  # off by the last digit of all
        [(1e308, 0, "low"), (1e308, 1, "high"), (TINY, 0, "low")],
        [(-1.0, 0, "low"), (-1.0, 1, "high")],
        [(1.0, 0, "high"), (1.0, 1, "high")],  # that end is open
        [(1.0, 0, "low"), (1.0, 1, "low")],
        [(True, 0, "low"), (True, 1, "high")],
    ],
)
def test_weights_that_do_not_cancel(entries):
    where = rowed(*EACH_OTHER)
    if any(type(weight) is bool for weight, _, _ in entries):
        with pytest.raises(exact.UnreadableError):
            proven(where, summed(*entries))
    else:
        assert proven(where, summed(*entries)) is None


def test_weights_may_be_sums_of_doubles():
    where = rowed(*EACH_OTHER)
    parts = [(1.0, 0, "low"), (TINY, 0, "low"), (1.0, 1, "high")]
    assert proven(where, summed(*parts)) is None
    assert proven(where, summed(*parts, (TINY, 1, "high"))) == INF


@pytest.mark.parametrize("gap", [0.0, 0.5, TINY, 1e300])
def test_rows_that_have_a_point_in_common(gap):
    """Ends that touch, or leave room: the sum is a constant, but not a negative one."""
    where = rowed(((1.0, 1.0), 3.0, INF), ((1.0, 1.0), -INF, 3.0 + gap))
    for weight in (1.0, TINY, 1e308):
        assert proven(where, summed((weight, 0, "low"), (weight, 1, "high"))) is None


def test_rows_that_nearly_touch():
    where = rowed(((1.0, 1.0), TINY, INF), ((1.0, 1.0), -INF, 0.0))
    assert proven(where, summed((TINY, 0, "low"), (TINY, 1, "high"))) == INF
    where = rowed(((1.0, 1.0), math.nextafter(3.0, 4.0), INF), ((1.0, 1.0), -INF, 3.0))
    assert proven(where, summed((1e308, 0, "low"), (1e308, 1, "high"))) == INF


def test_coefficients_that_differ_in_the_last_digit():
    for a in (math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)):
        where = rowed(((1.0, 1.0), 3.0, INF), ((1.0, a), -INF, 2.0))
        assert proven(where, summed((1.0, 0, "low"), (1.0, 1, "high"))) is None


def test_a_row_of_zeros():
    assert proven(rowed(((0.0, 0.0), 1.0, INF)), summed((1.0, 0, "low"))) == INF  # 0 >= 1
    assert proven(rowed(((0.0, 0.0), 0.0, INF)), summed((1.0, 0, "low"))) is None  # 0 >= 0
    assert proven(rowed(((0.0, 0.0), -1.0, INF)), summed((1.0, 0, "low"))) is None


@pytest.mark.parametrize("idle", [0, 1])
def test_a_square_of_one_feature(idle):
    """x >= 3 and x <= 2: their product has its top, 1/4, at 2.5; half of their sum takes 1/2 away."""
    a = [0.0, 0.0]
    a[1 - idle] = 1.0
    where = rowed((a, 3.0, INF), (a, -INF, 2.0))
    square = [1.0, ["r", 0, "low"], ["r", 1, "high"]]
    for weight, level in ((0.5, INF), (0.25, None), (0.0, None)):
        linear = [[weight, ["r", 0, "low"], ["1"]], [weight, ["r", 1, "high"], ["1"]]]
        assert proven(where, leaf("inf", requirements=(), products=[square, *linear])) == level


def test_a_mixed_term_without_squares():
    """x_0 x_1 has neither a greatest value nor zero entries."""
    where = rowed(((1.0, 0.0), 0.0, INF), ((0.0, 1.0), 0.0, INF), ((1.0, 0.0), -INF, -1.0))
    saddle = [1.0, ["r", 0, "low"], ["r", 1, "low"]]
    constant = [[4.0, ["r", 0, "low"], ["1"]], [4.0, ["r", 2, "high"], ["1"]]]
    assert proven(where, leaf("inf", requirements=(), products=constant)) == INF
    assert proven(where, leaf("inf", requirements=(), products=[*constant, saddle])) is None


@pytest.mark.parametrize("seed", range(20))
def test_no_weights_prove_what_a_linear_program_refutes(seed):
    """Random rows with small whole coefficients; weights from what nearly excludes them."""
    rng = random.Random(seed)
    rows = [[float(rng.randint(-2, 2)), float(rng.randint(-2, 2))] for _ in range(4)]
    ends = [float(rng.randint(-2, 2)) for _ in rows]
    where = rowed(*((a, -INF, b) for a, b in zip(rows, ends, strict=True)))
    feasible = linprog([0.0, 0.0], rows, ends, bounds=[(None, None)] * 2).status == 0
    held = []
    for _ in range(30):
        weights = [rng.choice([0.0, 1.0, 1.0, 2.0, 3.0, 4.0, TINY, 1e308, 0.5]) for _ in rows]
        found = proven(where, summed(*((w, k, "high") for k, w in enumerate(weights))))
        pulled = [sum(exact.Fraction(w) * exact.Fraction(a[j]) for w, a in zip(weights, rows, strict=True))
                  for j in (0, 1)]  # fmt: skip
        room = sum(exact.Fraction(w) * exact.Fraction(b) for w, b in zip(weights, ends, strict=True))
        assert (found == INF) == (not any(pulled) and room < 0)
        held.append(found)
    assert not (feasible and INF in held)


# ----- together with what else a leaf has -------------------------------------------------------------------


def test_a_feature_that_is_set_and_one_that_is_idle():
    """x_0 is 5 by its ends: only then is the sum 2 - 5 = -3, whatever x_1 is."""
    for low, high, level in (((5.0, -INF), (5.0, INF), INF), ((4.0, -INF), (5.0, INF), None)):
        where = rowed(((1.0, 0.0), -INF, 2.0), low=low, high=high)
        assert proven(where, summed((1.0, 0, "high"))) == level


def test_requirements_that_do_not_depend_on_a_feature():
    """A disk depends on both: no feature of it is idle, however small its weight."""
    where = rowed(*EACH_OTHER, requirement=disk(3.0, 0.0, 1))
    both = [[1.0, ["r", 0, "low"], ["1"]], [1.0, ["r", 1, "high"], ["1"]]]
    assert proven(where, leaf("inf", requirements=[[TINY, 0, -1]], products=both)) == INF
    assert proven(where, leaf("inf", requirements=[[1e308, 0, -1]], products=both)) is None
    far = [[1.0, ["r", 0, "low"], ["1"]]]
    assert proven(where, leaf("inf", requirements=[[TINY, 0, -1]], products=far)) is None


def infeasible(rows, tree, low=("-inf", "-inf"), high=("inf", "inf"), **named):
    """A whole file that claims: nothing is allowed."""
    e = plain.without_point(plain.answer() | {"lower_bound": "inf"}, "infeasible")
    e["question"]["domain"] = plain.domain(low, high, rows) | named
    e["certificate"]["bound"] = plain.proof(tree)
    return e


def accepted(e):
    return all(claim.verdict == HOLDS for claim in plain.claims(e).values())


def test_whole_files():
    rows = [plain.row(3.0, "inf", (1.0, 1.0)), plain.row("-inf", 2.0, (1.0, 1.0))]
    tree = summed((1.0, 0, "low"), (1.0, 1, "high"))
    assert accepted(infeasible(rows, tree))
    assert not accepted(infeasible(rows, summed()))
    assert not accepted(infeasible(rows, None))
    assert not accepted(infeasible(rows[:1], tree))
    assert not accepted(infeasible([rows[0], plain.row("-inf", 3.0, (1.0, 1.0))], tree))
    assert not accepted(infeasible([plain.row(3.0, 2.0, (1.0, 1.0))] * 2, tree))  # a row of no numbers
    assert not accepted(infeasible([], summed(), low=(1.0, 0.0), high=(0.0, 0.0)))
    assert not accepted(infeasible(rows, {**tree, "level": 1e300}))  # farther points are not refuted


def test_ways_and_limits_around_such_leaves():
    rows = [plain.row(3.0, "inf", (1.0, 1.0))]
    excluded, allowed = plain.row("-inf", 2.0, (1.0, 1.0)), plain.row("-inf", 4.0, (1.0, 1.0))
    first = leaf("inf", requirements=(), products=[
        [1.0, ["r", 0, "low"], ["1"]], [1.0, ["c", 0, 0, "high"], ["1"]],
    ])  # fmt: skip
    for ways, nodes, holds in (
        ([excluded], [first], True),
        ([excluded, excluded], [first, first], True),
        ([excluded, allowed], [first, first], False),
        ([excluded, allowed], [first], False),
        ([allowed], [first], False),
        ([], [], True),
    ):
        listed = [{"rows": [row], "values": []} for row in ways]
        e = infeasible(rows, {"either": 0, "ways": nodes}, eithers=[{"name": "", "ways": listed}])
        assert accepted(e) == holds
    limits = [{"name": "", "count": 1, "numbers": [0, 1], "categories": []}]
    both = summed((1.0, 0, "low"), (1.0, 1, "high"))
    named = [rows[0], excluded]
    assert accepted(infeasible(named, {"changed": 0, "no": both, "yes": both}, limits=limits))
    assert not accepted(infeasible(named, {"changed": 0, "no": both, "yes": summed()}, limits=limits))


def test_every_state_has_its_proof():
    """One number, two categories; the rows leave no number in any state."""
    rows = [{"coefficients": [1.0], "low": low, "high": high, "name": ""}
            for low, high in ((3.0, "inf"), ("-inf", 2.0))]  # fmt: skip
    tree = summed((1.0, 0, "low"), (1.0, 1, "high"))
    listed = {"shape": [], "constants": [0.75], "ways": [], "left": []}
    proof = {"directions": [], "scenarios": [], "tree": tree}

    def file(constant=0.75, end=2.0, leaf=tree):
        e = plain.without_point(mixed.answer() | {"lower_bound": "inf"}, "infeasible")
        e["question"]["domain"]["rows"] = copy.deepcopy(rows)
        e["question"]["domain"]["rows"][1]["high"] = end
        entry = listed | {"constants": [constant], "proof": proof | {"tree": leaf}}
        e["certificate"]["states"] = {"trades": [], "proofs": [entry]}
        return all(claim.verdict == HOLDS for claim in mixed.claims(e).values())

    assert file()
    assert not file(constant=0.5)  # says nothing of the state that gains 3/4
    assert not file(end=3.0)
    assert not file(leaf=summed())
