"""Small faults of the fast checker that no other test would notice; benchmarks/mutants.py puts them in."""

import copy
import functools
import math
from fractions import Fraction

import numpy as np
import pytest

from surefoot.proof import exact, fast, products, rounding
from surefoot.proof.fast import FastCase
from surefoot.proof.pieces import Pieces
from surefoot.proof.products import UndecidedError
from surefoot.proof.rounding import Rounded, given
from tests.proof.handmade import majorant
from tests.proof.test_conditions import INF, by_floats, disk, leaf, proven, setting
from tests.proof.test_exact import files
from tests.proof.test_fast import assert_bounded, plain_leaf, scaled_proof, value_of, way_of


@functools.cache
def read(name):
    model, e = files(name)
    return exact.read_model(model), e


def case_of(name, change=None):
    """A file after a change, read by the fast checker."""
    model, e = read(name)
    e = copy.deepcopy(e)
    if change is not None:
        change(e)
    return FastCase.of(exact.read_case([model], e))


def both(claim, case):
    """The verdict of both checkers on a claim; they must agree."""
    found, exactly = (getattr(checker, claim)(case) for checker in (fast, exact))
    assert found.verdict == exactly.verdict
    return found


# ----- the words of a claim ---------------------------------------------------------------------------------


def test_pieces_are_counted():
    case = case_of("cholesky inf")
    exactly = exact.lower_bound_claim(exact.read_case([read("cholesky inf")[0]], read("cholesky inf")[1]))
    text = "pieces decided in floating point: 1, exactly: 0"
    assert fast.lower_bound_claim(case).reason == f"{exactly.reason} ({text})"
    assert text in fast.robustness_claim(case).reason
    fast.robustness_claim(case)
    assert text in fast.lower_bound_claim(case).reason  # each claim counts its own proofs


def test_a_claim_without_proofs_counts_nothing():
    def unproved(e):
        e["certificate"]["bound"] = None
        e["certified_radius"] = e["coverage"] = 0.0

    case = case_of("cholesky inf", unproved)
    for claim in ("lower_bound_claim", "robustness_claim"):
        assert both(claim, case).reason == getattr(exact, claim)(case).reason


def test_a_piece_that_floats_leave_open_is_counted_once():
    where = setting()
    read_proof = exact.read_proof(where, {"directions": [], "scenarios": [], "tree": None})
    judge = Pieces(read_proof)
    for number in (1, 2):
        assert judge.fault(leaf(3.0, [0.25]), ())
        assert (judge.floating, judge.exact) == (0, number)
    assert not judge.fault(leaf(1.0, [0.25]), ())
    assert (judge.floating, judge.exact) == (1, 2)


def test_floats_know_the_level_inf():
    where = setting(high=(1.0, INF))
    assert by_floats(where, leaf("inf", products=[(1.0, ("x", 0, "high"), ("1",))]))


# ----- geometry ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cholesky inf", "zca 2"])
@pytest.mark.parametrize("excess", [0.9e-6, -0.9e-6, 1.5e-6, -1.5e-6, 1.9e-6, -1.9e-6])
def test_the_room_of_a_metric(name, excess):
    """D'D may be larger or smaller than P by one part in a million, and by no more."""

    def scaled(e):
        metric = np.array(e["certificate"]["metric"]) * math.sqrt(1 + excess)
        e["certificate"]["metric"] = metric.tolist()

    assert both("geometry_claim", case_of(name, scaled)).verdict == (
        exact.HOLDS if abs(excess) < 1e-6 else exact.FAILS
    )


def test_a_metric_of_the_dag_has_the_parents_alone():
    """An entry that the order of the features allows, but the graph does not."""
    model, e = read("dag 1")
    place = {j: k for k, j in enumerate(model.order)}
    wrong = 0
    for i in range(4):
        for j in range(4):
            if place[j] < place[i] and j not in model.parents[i]:
                changed = case_of(
                    "dag 1", lambda e, i=i, j=j: e["certificate"]["metric"][i].__setitem__(j, 1e-12)
                )
                assert both("geometry_claim", changed).verdict == exact.FAILS
                wrong += 1
    assert wrong
    assert e["certificate"]["metric"] == files("dag 1")[1]["certificate"]["metric"]


# ----- context ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["unit", "expected_before", "expected_after", "z_score"])
@pytest.mark.parametrize("j", [0, 3])
def test_numbers_of_the_context_agree_to_their_size(key, j):
    """What is off by less than 1e-9 of value or unit holds, what is off by more does not."""
    e = read("cholesky inf")[1]
    value, unit = e[key]["values"][j], e["unit"]["values"][j]
    size = {"unit": value, "z_score": max(1.0, abs(value))}.get(key, max(abs(value), unit))
    for step in (0.7e-9, -0.7e-9, 1.2e-9, -1.2e-9, 1.7e-9, -1.7e-9, 1e-6, -1.0):
        case = case_of("cholesky inf", lambda e, s=step: e[key]["values"].__setitem__(j, value + s * size))
        assert both("context_claim", case).verdict == (exact.HOLDS if abs(step) < 1e-9 else exact.FAILS), step


def test_a_unit_is_positive():
    def turned(*features):
        def change(e):
            for j in features:
                e["unit"]["values"][j] *= -1

        return case_of("cholesky inf", change)

    for features in ((0,), (3,), (0, 1, 2, 3)):
        assert both("context_claim", turned(*features)).verdict == exact.FAILS


@pytest.mark.parametrize(
    "change",
    [
        lambda e: e.update(parents=[[], [], [], []]),
        lambda e: e.update(unit=None),
        lambda e: e.update(expected_before=None),
        lambda e: e.update(expected_after=None),
        lambda e: e.update(z_score=None),
        lambda e: e.update(density_percentile=None),
        lambda e: e.update(density_percentile=e["density_percentile"] + 1e-5),
        lambda e: e.update(density_percentile=e["density_percentile"] - 1e-5),
    ],
)
def test_one_wrong_thing_spoils_the_context(change):
    assert both("context_claim", case_of("cholesky inf")).verdict == exact.HOLDS
    assert both("context_claim", case_of("cholesky inf", change)).verdict == exact.FAILS


def test_variances_along_two_ways():
    """What reaches a feature along two ways adds up."""
    network = exact.Network([[0.0] * 3, [0.5, 0.0, 0.0], [0.25, 0.75, 0.0]], [0.0] * 3, [1.0, 2.0, 4.0])
    found = fast.variances(network)
    assert found.value.tolist() == [1.0, 2.25, 0.625**2 + 2 * 0.75**2 + 4]
    assert (found.error() < 1e-12).all()


# ----- requirements and fixed features of a leaf ------------------------------------------------------------


def test_a_requirement_is_the_exact_ones():
    """At the point itself and in every scenario, up to the error that is stated."""
    proof = scaled_proof()
    proof.scenarios.append([0.25, -0.5, 0.125])
    judge = Pieces(proof)
    for r, s in ((0, -1), (0, 0), (0, 1), (1, -1)):
        found = rounding.bordered(judge.block(r), judge.line(r, s))
        exactly = majorant(proof.setting.requirements[r], proof.origin(s), [0, 1, 2])
        rows = [[exactly.rows[max(i, j)][min(i, j)] for j in range(4)] for i in range(4)]
        assert_bounded(found, [[Fraction(v, 2 << exactly.shift) for v in row] for row in rows])
        assert (found.error() < 1e-9 * np.abs(found.value).max()).all()


def test_a_sum_of_requirements_is_rounded_as_often_as_the_worst_of_them():
    judge, every = Pieces(scaled_proof()), np.arange(4)
    parts = [rounding.bordered(judge.block(r), judge.line(r, -1)) for r in (0, 1)]
    assert parts[0].roundings != parts[1].roundings
    total = judge._weighted([[1.0, 0, -1], [1.0, 1, -1]], every)
    assert total.roundings > max(part.roundings for part in parts)


def test_several_features_that_are_fixed():
    """One of them keeps its value, the other does not."""
    proof = scaled_proof()
    judge, f = Pieces(proof), proof.setting.domain.factual
    for fixed in ({0: 0.0, 1: 0.25}, {0: 0.5, 1: 0.0}, {0: 0.0, 1: 0.0}, {0: 0.5, 1: -0.25}):
        ends = {j: f[j] + step for j, step in fixed.items()}
        path = [(("x", j), end, side) for j, end in ends.items() for side in ("below", "above")]
        way = way_of(proof, path)
        piece = exact.Piece(proof, 1.0, way)
        one = {"level": 1.0, "norm": [1.0, 2.0, 3.0], "cross": [], "products": [], "between": [],
               "requirements": [[0.5, 0, -1]]}  # fmt: skip
        found = judge.on_free_features(judge.negated(one, piece), piece)
        assert found.value.shape == (2, 2)
        change = [Fraction(end) - Fraction(f[j]) for j, end in ends.items()]

        def form(z, change=change, one=one, path=path):
            return -value_of(proof, one, path, [*change, z])

        at = [form(Fraction(k)) for k in (0, 1, -1)]
        slope = (at[1] - at[2]) / 4
        assert_bounded(found, [[(at[1] + at[2]) / 2 - at[0], slope], [slope, at[0]]])
        assert (found.error() < 1e-9 * np.abs(found.value).max()).all()


def test_a_disk_with_a_fixed_feature():
    """Both checkers, with one feature kept and one set."""
    for value, holds in ((1.5, True), (1.0, False), (0.5, False)):
        where = setting(
            low=(3.0, value), high=(3.0, value), factual=(3.0, 0.0), requirement=disk(3.0, 0.0, 1)
        )
        assert proven(where, leaf("inf")) == (INF if holds else None)


# ----- products ---------------------------------------------------------------------------------------------


WRONG = {
    "cross from the end beside another": (1.0, {"cross": [[-1, 1, 1e-3], [0, 1, 1e-3]]}),
    "cross of the constant beside another": (1.0, {"cross": [[0, 3, 1e-3], [0, 1, 1e-3]]}),
    "a feature without a side": (INF, {"products": [[1e-9, ["1"], ["x", 0]]]}),
    "a split with a side": (INF, {"products": [[1e-9, ["1"], ["c", 0, "low"]]]}),
    "a slope without a constant": (INF, {"products": [[1e-9, ["1"], ["a", [[0, 1.0]]]]]}),
    "a slope with one more entry": (INF, {"products": [[1e-9, ["1"], ["a", 9.0, [[0, 1.0]], 1.0]]]}),
    "a product of one": (INF, {"products": [[1e-9, ["1"]]]}),
    "a product of three": (INF, {"products": [[1e-9, ["1"], ["1"], ["1"]]]}),
    "an empty function": (INF, {"products": [[1e-9, ["1"], []]]}),
    "a pair of three": (INF, {"products": [[1e-9, ["1"], ["a", 9.0, [[0, 1.0, 0]]]]]}),
    "a requirement without a scenario": (INF, {"requirements": [[1.0, 1]]}),
}


@pytest.mark.parametrize("name", WRONG)
def test_entries_that_are_not_plain(name):
    """The exact checker refuses each of them, and floats must not accept it before."""
    norm, changes = WRONG[name]
    proof, one, way = plain_leaf(norm)
    judge = Pieces(proof)
    with np.errstate(all="ignore"):
        assert judge.proven(one, way)
        with pytest.raises((UndecidedError, exact.FaultError, ValueError, TypeError)):
            judge.proven(one | changes, way)
    with pytest.raises((UndecidedError, exact.FaultError, ValueError, AssertionError)):
        assert not judge.fault(one | changes, way)


def test_ends_that_are_no_doubles_are_rounded_outward_on_both_sides():
    proof = scaled_proof(half=[Fraction(1, 3), Fraction(1, 5), Fraction(1, 10)])
    table = products.Products(Pieces(proof).base, exact.Piece(proof, 1.0, []), None)
    for i, half in enumerate((Fraction(1, 3), Fraction(1, 5), Fraction(1, 10))):
        for sign in (1.0, -1.0):
            for c in (float(half), math.nextafter(float(half), 1), math.nextafter(float(half), 0)):
                table._slopes[:] = [products.Slope(c, [i], [sign], ["a", c, [[i, sign]]])]
                row = [0.0, 0.0, 0.0, c]
                row[i] = sign
                if Fraction(c) >= half:
                    table._show_not_negative(np.array([row]))
                else:
                    with pytest.raises(exact.FaultError):
                        table._show_not_negative(np.array([row]))


def test_slopes_with_nothing_to_spare():
    """One slope of one needs no room, any other a unit in the last place."""
    low, high = np.array([-1.0, -2.0, -0.7]), np.array([0.5, 3.0, 0.7])
    for y, c, certain in (
        ((1.0, 0.0, 0.0), 1.0, True), ((1.0, 0.0, 0.0), math.nextafter(1.0, 0), False),
        ((-1.0, 0.0, 0.0), 0.5, True),
        ((-1.0, 0.0, 0.0), math.nextafter(0.5, 0), False), ((0.0, -1.0, 0.0), 3.0, True),
        ((0.0, 1.0, 0.0), 2.0, True),
        ((0.0, 1.0, 0.0), math.nextafter(2.0, 0), False),
        ((0.0, 0.0, 0.3), math.nextafter(0.3 * 0.7, 1), True),
        ((0.0, 0.0, 0.3), 0.3 * 0.7, False), ((0.0, 2.0, 0.0), 4.0, False),
        ((0.0, 2.0, 0.0), math.nextafter(4.0, 5), True),
        ((1.0, 1.0, 0.0), 3.0, False), ((1.0, 1.0, 0.0), 3.0 + 1e-13, True),
        ((1.0, 1.0, 0.0), 3.0 - 1e-13, False),
        ((1.0, 0.0, 0.0), -1.0, False), ((0.0, 0.0, 0.0), 1e-200, True), ((0.0, 0.0, 0.0), -1e-200, False),
        ((1.0, -1.0, 0.0), 4.0 + 1e-13, True), ((1.0, -1.0, 0.0), 4.0 - 1e-13, False),
    ):  # fmt: skip
        assert products.above_by_ends(np.array([[*y, c]]), low, high)[0] == certain, (y, c)
    two = np.array([[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.9], [0.0, 0.0, 0.3, 0.5]])
    assert products.above_by_ends(two, low, high).tolist() == [True, False, True]


def test_slopes_with_nothing_to_spare_by_the_dual_norm():
    for norm, y, c, certain in (
        (1.0, (1.0, -1.0, 0.5), 2.0, True), (1.0, (1.0, 0.0, 0.0), math.nextafter(2.0, 0), False),
        (1.0, (0.3, -0.1, 0.0), 0.6, False), (1.0, (0.3, -0.1, 0.0), math.nextafter(0.6, 1), True),
        (1.0, (2.0, 1.0, 0.0), 4.0, False), (1.0, (-1.0, 0.0, 0.0), 2.0, True),
        (1.0, (0.5, 0.0, 0.0), 2.0, True),
        (2.0, (3.0, -4.0, 0.0), 10.0, False), (2.0, (3.0, -4.0, 0.0), 10.0 + 1e-13, True),
        (2.0, (3.0, -4.0, 0.0), 10.0 - 1e-13, False), (2.0, (0.0, 0.0, -1.0), 2.1, True),
        (2.0, (0.0, 0.0, -1.0), 1.9, False),
    ):  # fmt: skip
        with np.errstate(all="ignore"):
            assert products.above_by_dual_norm(np.array([[*y, c]]), 2.0, norm)[0] == certain, (norm, y, c)


def test_doubles_and_weights():
    for value in (1.0, 0.0, 5e-324, 1e308):
        assert products.double(value) == products.checked_weight(value) == value
    assert products.double(-1.0) == -1.0
    for wrong in (INF, math.nan, 1, True, "1", None):
        for read_ in (products.double, products.checked_weight):
            with pytest.raises(UndecidedError):
                read_(wrong)
    with pytest.raises(UndecidedError):
        products.checked_weight(-5e-324)


# ----- rounding ---------------------------------------------------------------------------------------------


def test_sizes_and_roundings():
    one, two = (
        Rounded(np.array([[2.0]]), np.array([[3.0]]), 4),
        Rounded(np.array([[-5.0]]), np.array([[7.0]]), 2),
    )
    for found, value, size, roundings in (
        (one + two, -3.0, 10.0, 5), (two + one, -3.0, 10.0, 5), (one - two, 7.0, 10.0, 5),
        (one * two, -10.0, 21.0, 7),
        (one @ two, -10.0, 21.0, 8), (-one, -2.0, 3.0, 4),
    ):  # fmt: skip
        assert (found.value[0, 0], found.size[0, 0], found.roundings) == (value, size, roundings)
    assert one.error()[0, 0] == 3.0 * 5 * 2.0**-52
    assert rounding.share(0) == 2.0**-52
    assert given([0.0]).size[0] == rounding.TINY
    row = given(np.ones((1, 5)))
    assert (row @ given(np.ones((5, 1)))).roundings == 6
    assert (given([[0.0]]) * given([[0.0]])).size[0, 0] == rounding.TINY
    assert (given([[0.0]]) @ given([[0.0]])).size[0, 0] == rounding.TINY


@pytest.mark.parametrize(
    ("kept", "found"), [([1, 1], True), ([1, 0], False), ([0, 1], False), ([0, 0], False)]
)
def test_a_processor_that_drops_small_numbers(kept, found, monkeypatch):
    """A number below the smallest normal one is multiplied by one, and two normal ones by each other."""
    least, seen = Fraction(2) ** -1022, []

    class Processor:
        def __init__(self, numbers):
            self.numbers = numbers

        def __mul__(self, others):
            seen.extend((Fraction(a), Fraction(b)) for a, b in zip(self.numbers, others, strict=True))
            return np.asarray([a * b * k for a, b, k in zip(self.numbers, others, kept, strict=True)])

    with monkeypatch.context() as patch:
        patch.setattr(rounding.np, "array", Processor)
        assert rounding.gradual_underflow() == found
    assert all(0 < a * b < least for a, b in seen)
    assert seen[0][0] < least < min(seen[1])
    assert rounding.gradual_underflow()


def test_a_diagonal_must_exceed_the_rest_of_its_row(monkeypatch):
    """Whatever factor is proposed: what remains decides, and 1 does not exceed 0.9 + 0.9."""
    for off, n, holds in (
        (-0.9, 3, False),
        (0.9, 3, False),
        (-0.6, 3, False),
        (0.4, 3, True),
        (0.9, 2, True),
        (1.1, 2, False),
    ):
        matrix = np.full((n, n), off) + (1 - off) * np.eye(n)
        monkeypatch.setattr(rounding.lapack, "dpotrf", lambda _, n=n: (np.zeros((n, n)), 0))
        assert rounding.positive_definite(given(matrix)) == holds
