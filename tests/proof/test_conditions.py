"""Every condition of a leaf at its very edge, on proofs that can be done in the head.

The requirement is a disk of radius 1 around (3, 0): its nearest point to the origin is (2, 0). With the right
weights a leaf proves every level below 2, and must not prove 2 itself.
"""

import contextlib
import math
import random
from fractions import Fraction

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import (
    Ball,
    Dyadic,
    FaultError,
    Network,
    Question,
    Requirement,
    Row,
    Setting,
    dyadic,
)

INF = math.inf
BELOW, ABOVE = math.nextafter(2.0, 0.0), math.nextafter(2.0, 3.0)


def disk(x, y, square, robust=True):
    """2 g = square - (distance to (x, y))^2."""
    network = Network([[0.0, 0.0], [0.0, 0.0]], [x, y], [1.0, 1.0])
    return Requirement([(-1, network)], round(Fraction(square) * 2**exact.PLACES), robust)


def question(low=(-INF, -INF), high=(INF, INF), rows=(), sets=None, factual=(0.0, 0.0), budget=0.5, norm=2.0):
    return Question(
        ["m"], ["a", "b"], [], None, list(factual), 0, 1, "cholesky", norm, norm, budget, [], [],
        list(low), list(high), list(rows), sets or {}, 0.0,
    )  # fmt: skip


def setting(norm=2.0, requirement=None, metric=((1.0, 0.0), (0.0, 1.0)), half=None, **options):
    asked = question(**options)
    matrix = [list(row) for row in metric]
    return Setting(
        norm, matrix, half, dyadic(asked.factual), [0, 1], [requirement or disk(3.0, 0.0, 1)], asked,
        Ball(asked, matrix),
    )  # fmt: skip


def leaf(level, norm=(), products=(), cross=(), requirements=((1.0, 0, -1),), between=()):
    entries = {"norm": norm, "cross": cross, "products": products, "between": between}
    entries["requirements"] = requirements
    return {"level": level, **{key: _lists(value) for key, value in entries.items()}}


def _lists(value):
    return [_lists(item) for item in value] if isinstance(value, tuple | list) else value


def proof(where, tree=None, directions=(), scenarios=()):
    document = {"directions": _lists(directions), "scenarios": _lists(scenarios), "tree": tree}
    return exact.read_proof(where, document)


def proven(where, tree, **options):
    """The level that a proof reaches; None where it proves nothing."""
    try:
        return exact.proven_level(proof(where, tree, **options))
    except FaultError:
        return None


def sharp(where, make, **options):
    """A leaf proves what lies just below 2, and neither 2 nor more."""
    assert proven(where, make(BELOW), **options) == BELOW
    for level in (2.0, ABOVE, 2.001, 3.0, 1e6):
        assert proven(where, make(level), **options) is None


# ----- the distance -----------------------------------------------------------------------------------------


def test_the_norm_two():
    sharp(setting(), lambda level: leaf(level, [0.25]))


def test_the_norm_inf():
    sharp(setting(INF), lambda level: leaf(level, [0.25, 0.0]))
    sharp(setting(INF, disk(0.0, 3.0, 1)), lambda level: leaf(level, [0.0, 0.25]))
    assert proven(setting(INF), leaf(1.9, [0.0, 0.25])) is None


def test_the_norm_one():
    sharp(setting(1.0), lambda level: leaf(level, [0.25]))
    sharp(setting(1.0, disk(2.0, 2.0, 2)), lambda level: leaf(level, [0.25], cross=[(0, 1, 0.25)]))
    sharp(setting(1.0, disk(-2.0, 2.0, 2)), lambda level: leaf(level, [0.25], cross=[(0, 1, -0.25)]))
    assert proven(setting(1.0, disk(2.0, 2.0, 2)), leaf(1.9, [0.25])) is None
    assert proven(setting(1.0, disk(2.0, 2.0, 2)), leaf(1.9, [0.25], cross=[(0, 1, -0.25)])) is None


def test_a_metric_that_scales():
    where = setting(metric=((0.5, 0.0), (0.0, 1.0)), requirement=disk(5.0, 0.0, 1))
    sharp(where, lambda level: leaf(level, [0.5]))


def test_half_widths():
    where = Setting(INF, [[1.0, 0.0], [0.0, 1.0]], [Fraction(1, 2), Fraction(3)], dyadic([0.0, 0.0]), [0, 1],
                    [disk(2.0, 0.0, 1)])  # fmt: skip
    assert proven(where, leaf(BELOW, [0.5, 0.0])) == BELOW  # abs(u_0) <= level / 2 < 1
    assert proven(where, leaf(2.0, [0.5, 0.0])) is None
    step = [1.0, ["a", 0.0, [[0, -1.0]]], ["1"]]
    for level, c, holds in (
        (BELOW, BELOW / 2, True),
        (1.9, 0.95, True),
        (1.9, 0.9, False),
        (2.0, 1.0, False),
    ):
        step[1][1] = c
        found = proven(where, leaf(level, products=[step]))
        assert (found is not None) == holds


@pytest.mark.parametrize(
    ("norm", "weights", "cross"),
    [
        (2.0, [0.25, 0.25], []), (2.0, [0.25], [(0, 1, 0.0)]), (INF, [0.25], []), (INF, [0.25, 0.0, 0.0], []),
        (1.0, [0.25, 0.25], []), (1.0, [], [(0, 1, 0.0)]), (1.0, [0.25], [(1, 0, 0.1)]),
        (1.0, [0.25], [(0, 0, 0.1)]), (1.0, [0.25], [(0, 2, 0.1)]), (1.0, [0.25], [(-1, 1, 0.1)]),
        (1.0, [0.25], [(0, 1, 0.1), (0, 1, 0.1)]), (1.0, [0.25], [(0, 1, math.nextafter(0.25, 1))]),
        (1.0, [0.25], [(0, 1, -math.nextafter(0.25, 1))]), (2.0, [-0.25], []), (INF, [0.25, -5e-324], []),
    ],
)  # fmt: skip
def test_weights_of_the_norm_that_do_not_fit(norm, weights, cross):
    assert proven(setting(norm), leaf(1.0, weights, cross=cross)) is None


def test_levels():
    assert proven(setting(), leaf("inf", [0.25])) is None
    for level in (-1.0, "-inf", -5e-324):
        assert proven(setting(), leaf(level, [0.25])) is None
    assert proven(setting(), leaf(0.0, [0.25])) == 0.0
    assert proven(setting(high=(1.0, INF)), leaf("inf", products=[(1.0, ("x", 0, "high"), ("1",))])) == INF


# ----- affine functions -------------------------------------------------------------------------------------

PUSH = (1.0, ("1",))


def test_ends_of_features_and_rows():
    """x_0 <= h excludes the disk for h < 2; with the weight 1 exactly then."""
    for h, holds in ((BELOW, True), (2.0, False), (2.5, False)):
        row = Row([1.0, 0.0], -INF, h, "r")
        mirror = Row([-1.0, 0.0], -h, INF, "r")
        for where, entry in (
            (setting(high=(h, INF)), ("x", 0, "high")),
            (setting(low=(-h, -INF), requirement=disk(-3.0, 0.0, 1)), ("x", 0, "low")),
            (setting(rows=[row]), ("r", 0, "high")),
            (setting(rows=[mirror]), ("r", 0, "low")),
        ):
            found = proven(where, leaf("inf", products=[(*PUSH, entry)]))
            assert found == (INF if holds else None)


@pytest.mark.parametrize(
    "entry",
    [
        ("x", 0, "low"), ("x", 1, "high"), ("x", 2, "high"), ("x", -1, "high"), ("r", 0, "high"), ("c", 0),
        ("c", -1), ("1", 1), ("x", 0), ("y", 0, "high"), ("x", 0, "middle"), ("a", -1e-9, ()), (), None, "1",
        ("a", 1.0), ("a", 1.0, ((0, -1.0), (0, 1.0))), ("a", 1.0, ((2, -1.0),)), ("a", 1.0, ((-1, 1.0),)),
    ],
)  # fmt: skip
def test_affine_functions_that_are_not_allowed(entry):
    """Even with a weight of zero, beside others that prove the leaf."""
    where = setting(high=(1.0, INF))
    fine = (*PUSH, ("x", 0, "high"))
    assert proven(where, leaf("inf", products=[fine])) == INF
    with contextlib.suppress(exact.UnreadableError):
        assert proven(where, leaf("inf", products=[fine, (0.0, ("1",), entry)])) is None


def sloped(c, *slopes):
    return (1.0, ("1",), ("a", c, tuple(slopes)))


@pytest.mark.parametrize("norm", [1.0, 2.0, INF])
def test_a_slope_by_the_dual_norm(norm):
    """level - u_0 >= 0; with a weight of 1 it excludes the disk below 2."""
    sharp(setting(norm), lambda level: leaf(level, products=[sloped(level, (0, -1.0))]))
    for level in (1.0, 1.5):
        short = math.nextafter(level, 0.0)
        assert proven(setting(norm), leaf(level, products=[sloped(short, (0, -1.0))])) is None


def test_a_slope_in_two_directions():
    """The dual norm of (3, 4) is 7, 5 or 4."""
    for norm, dual in ((INF, 7.0), (2.0, 5.0), (1.0, 4.0)):
        where = setting(norm)
        for c, holds in ((dual, True), (math.nextafter(dual, 0.0), False), (dual + 1, True), (1.0, False)):
            read = proof(where)
            piece = exact.Piece(read, 1.0, ())
            slopes = {0: 3.0, 1: -4.0}
            assert (exact._by_dual_norm(piece, c, slopes) or exact._by_ends(piece, c, slopes)) == holds
    piece = exact.Piece(proof(setting()), INF, ())
    assert exact._by_dual_norm(piece, 0.0, {0: 0.0})
    assert not exact._by_dual_norm(piece, -5e-324, {})
    assert not exact._by_dual_norm(piece, 1.0, {0: 5e-324})
    assert not exact._by_dual_norm(exact.Piece(proof(setting()), 1.0, ()), -1.0, {0: 0.0})
    assert not exact._by_ends(piece, 1e300, {0: 5e-324})
    assert exact._by_ends(piece, 0.0, {0: 0.0})


def test_every_slope_counts():
    at_one, anywhere = exact.Piece(proof(setting()), 1.0, ()), exact.Piece(proof(setting()), INF, ())
    for y in (0.5, 1.0, -0.5, 5e-324):
        assert exact._by_ends(at_one, abs(y), {0: y})
        assert not exact._by_ends(at_one, math.nextafter(abs(y), -1.0), {0: y})
    assert not exact._by_ends(at_one, -0.5, {0: 0.0, 1: 0.0})
    assert not exact._by_dual_norm(anywhere, 1.0, {0: 0.0, 1: 1.0})
    assert exact._by_dual_norm(exact.Piece(proof(setting()), 0.125, ()), 0.625, {0: 3.0, 1: 4.0})
    wide = Setting(INF, [[1.0, 0.0], [0.0, 1.0]], [Fraction(1), Fraction(3)], dyadic([0.0, 0.0]), [0, 1], [])
    piece = exact.Piece(proof(wide), 1.0, ())
    assert not exact._by_dual_norm(piece, 1.0, {1: 1.0})
    assert exact._by_dual_norm(piece, 3.0, {1: 1.0})
    assert not exact._by_ends(piece, 2.9, {1: 1.0})


def test_slopes_are_never_shown_too_generously():
    """By the ends of u or by the dual norm: exactly those that are not negative."""
    rng = random.Random(0)
    for _ in range(300):
        y = [rng.choice([0.0, 1.0, -1.0, rng.uniform(-3, 3), 1e-300, 5e-324]) for _ in range(2)]
        level = rng.choice([1.0, 0.1, rng.uniform(0, 3), 1e-300])
        sizes = [abs(Fraction(v)) for v in y]
        near = float(Fraction(level) * sum(sizes))
        c = rng.choice([near, math.nextafter(near, INF), math.nextafter(near, -INF), near + 1e-9])
        for norm, square in ((1.0, max(sizes) ** 2), (2.0, sum(v**2 for v in sizes)), (INF, sum(sizes) ** 2)):
            piece = exact.Piece(proof(setting(norm)), level, ())
            shown = c >= 0 and Fraction(c) ** 2 >= Fraction(level) ** 2 * square
            assert exact._by_dual_norm(piece, c, dict(enumerate(y))) == shown
            assert exact._by_ends(piece, c, dict(enumerate(y))) == (c >= Fraction(level) * sum(sizes))


# ----- splits -----------------------------------------------------------------------------------------------


def cut(function, at, below, above):
    return {"cut": [function, at], "below": below, "above": above}


def on_split(level="inf", weight=1.0):
    return leaf(level, products=[(weight, ("c", 0), ("1",))])


@pytest.mark.parametrize("function", [["u", 0], ["x", 0], ["r", 0], ["d", 0]])
def test_a_split_is_used_on_its_own_side(function):
    """Below a cut of x_0 at less than 2 the disk is excluded; above it is not, but beyond 4 it is."""
    where = setting(rows=[Row([1.0, 0.0], -INF, INF, "r")])
    options = {"directions": [[1.0, 0.0]]}
    rest = leaf(1.5, [0.25])
    for at, holds in ((BELOW, True), (2.0, False), (3.0, False)):
        found = proven(where, cut(function, at, on_split(), rest), **options)
        assert found == (1.5 if holds else None)
        assert proven(where, cut(function, at, rest, on_split()), **options) is None
    for at, holds in ((math.nextafter(4.0, 5.0), True), (4.0, False)):
        found = proven(where, cut(function, at, rest, on_split()), **options)
        assert found == (1.5 if holds else None)


def test_ends_that_exclude_each_other():
    empty = leaf("inf", requirements=[])
    deep = cut(["x", 0], 1.0, cut(["x", 0], 1.5, leaf(1.5, [0.25]), empty), leaf(1.5, [0.25]))
    assert proven(setting(), deep) == 1.5  # x_0 <= 1 and x_0 >= 1.5
    deep["below"]["cut"][1] = 1.0  # then x_0 = 1 is left, and F is zero there
    assert proven(setting(), deep) is None
    of_u = cut(["u", 1], 5.0, leaf(1.5, [0.25]), leaf(1.5, [0.0], requirements=[]))
    assert proven(setting(), of_u) == 1.5  # u_1 >= 5 is not within 1.5
    of_u["cut"][1] = 1.5
    assert proven(setting(), of_u) is None
    assert proven(setting(low=(1.0, -INF), high=(0.5, INF)), empty) == INF


def test_the_tree_proves_its_least_level():
    tree = cut(["u", 1], 0.0, leaf(1.5, [0.25]), leaf(1.0, [0.25]))
    assert proven(setting(), tree) == 1.0
    tree["above"] = None
    assert proven(setting(), tree) is None


def test_ends_of_u_come_from_the_cuts():
    """After u_0 <= 1, 1 - u_0 >= 0 needs no more; before, it does."""
    low = leaf(1.9, products=[(1.0, ("a", 1.0, ((0, -1.0),)), ("1",))])
    assert proven(setting(), cut(["u", 0], 1.0, low, leaf(1.9, [0.25]))) == 1.9
    assert proven(setting(), cut(["u", 0], 1.0 + 1e-9, low, leaf(1.9, [0.25]))) is None
    assert proven(setting(), cut(["u", 1], 1.0, low, leaf(1.9, [0.25]))) is None
    assert proven(setting(), low) is None


def test_a_fixed_feature_has_its_value():
    """F need not be negative elsewhere: x_1 = 5 is far from the disk."""
    fixed = setting(low=(-INF, 5.0), high=(INF, 5.0))
    assert proven(fixed, leaf("inf")) == INF
    for value, holds in ((1.0, False), (math.nextafter(1.0, 2.0), True), (0.5, False), (-1.5, True)):
        where = setting(low=(-INF, value), high=(INF, value))
        assert proven(where, leaf("inf")) == (INF if holds else None)
    nearly = setting(low=(-INF, 5.0), high=(INF, 6.0))
    assert proven(nearly, leaf("inf")) is None
    by_cuts = cut(["x", 1], 5.0, cut(["x", 1], 5.0, leaf(1.5, [0.25]), leaf("inf")), leaf(1.5, [0.25]))
    assert proven(setting(), by_cuts) == 1.5


def test_choices_of_whole_numbers():
    where = setting(sets={0: None}, requirement=disk(2.5, 0.0, 0.2))
    tree = {"choice": [0, 2.0, 3.0], "below": on_split(), "above": on_split()}
    tree["below"]["products"][0][0] = tree["above"]["products"][0][0] = 0.5
    assert proven(where, tree) == INF
    for a, b in ((2.0, 3.5), (1.5, 3.0), (2.0, 2.0), (3.0, 2.0), (1.0, 3.0)):
        tree["choice"] = [0, a, b]
        assert proven(where, tree) is None
    tree["choice"] = [1, 2.0, 3.0]
    assert proven(where, tree) is None


def test_between_two_values():
    def one(a=2.0, b=3.0, j=0):
        return leaf("inf", requirements=[(1.0, 0, -1)], between=[(0.4, j, a, b)])

    near = disk(2.5, 0.0, 0.1)
    assert proven(setting(sets={0: None}, requirement=near), one()) == INF
    assert proven(setting(sets={0: [2.0, 3.0]}, requirement=near), one()) == INF
    assert proven(setting(sets={0: [2.0, 2.5, 3.0]}, requirement=near), one()) is None
    assert proven(setting(sets={0: None}, requirement=near, factual=(2.5, 0.0)), one()) is None
    assert proven(setting(sets={1: None}, requirement=near), one()) is None
    assert proven(setting(sets={0: None}, requirement=near), one(1.0, 3.0)) is None
    assert proven(setting(requirement=near), one()) is None


def test_nothing_lies_between():
    whole, listed = question(sets={0: None}), question(sets={0: [1.0, 2.5]}, factual=(7.25, 0.0))
    for asked, a, b, empty in (
        (whole, 1.0, 2.0, True), (whole, 1.0, 2.0000001, False), (whole, 0.9999999, 2.0, False),
        (whole, 1.2, 1.8, True), (whole, -2.0, -1.0, True), (whole, -1.5, -0.5, False),
        (whole, 2.0, 1.0, False),
        (whole, 1.0, 1.0, False), (listed, 1.0, 2.5, True), (listed, 0.0, 2.5, False),
        (listed, 2.5, 7.25, True),
        (listed, 2.5, 8.0, False), (listed, 7.25, 9.0, True), (listed, 7.0, 7.25, True),
    ):  # fmt: skip
        assert asked.nothing_between(0, a, b) == empty
        assert not asked.nothing_between(1, a, b)


# ----- requirements and scenarios ---------------------------------------------------------------------------


def test_scenarios():
    """In the scenario (-0.5, 0) the point must lie within the disk around (3.5, 0): beyond 2.5."""
    where = setting()
    shifted = [[-0.5, 0.0]]
    tree = leaf(2.4, [0.2], requirements=[(0.5, 0, 0), (0.5, 0, -1)])
    assert proven(where, leaf(2.4, [0.4], requirements=[(2.0, 0, 0)]), scenarios=shifted) == 2.4
    assert proven(where, leaf(2.6, [0.4], requirements=[(2.0, 0, 0)]), scenarios=shifted) is None
    assert proven(where, tree, scenarios=shifted) is None
    plain = setting(requirement=disk(3.0, 0.0, 1, robust=False))
    assert proven(plain, leaf(1.9, [0.25])) == 1.9
    assert proven(plain, leaf(1.9, [0.25], requirements=[(1.0, 0, 0)]), scenarios=[[0.0, 0.0]]) is None
    for r, s in ((0, 1), (0, -2), (1, -1), (-1, -1)):
        tree = leaf(1.9, [0.25], requirements=[(1.0, 0, -1), (0.0, r, s)])
        assert proven(where, tree, scenarios=shifted) is None
    assert proven(where, leaf(1.9, [0.25], requirements=[(1.0, 0, -1), (-5e-324, 0, -1)])) is None


def test_scenarios_lie_in_the_ball():
    for norm, d, inside in (
        (2.0, [0.3, 0.4], True), (2.0, [0.3, 0.4000000000000001], False), (INF, [0.5, -0.5], True),
        (INF, [0.5, 0.5000000000000001], False), (1.0, [0.25, -0.25], True),
        (1.0, [0.25, 0.2500000000000001], False),
    ):  # fmt: skip
        where = setting(norm)
        asked = question(norm=norm)
        assert Ball(asked, where.metric).contains(d) == inside or (norm == 2.0 and d == [0.3, 0.4])
    box = question(budget={0: (0.25, 0.5)})
    for d, inside in (([0.5, 0.0], True), ([-0.25, 0.0], True), ([0.51, 0.0], False), ([-0.26, 0.0], False),
                      ([0.0, 5e-324], False)):  # fmt: skip
        assert Ball(box, None).contains(d) == inside
    both = question(budget={0: (0.25, 0.5), 1: (0.25, 0.5)})
    assert not Ball(both, None).contains([0.0, 1.0])
    assert not Ball(both, None).contains([1.0, 0.0])
    square = Ball(question(norm=INF), [[1.0, 0.0], [0.0, 1.0]])
    assert square.contains([0.501, 0.0], Fraction(1, 100))
    assert not square.contains([0.51, 0.0], Fraction(1, 100))
    assert Ball(question(), None).contains([0.0, 0.0])
    assert not Ball(question(), None).contains([5e-324, 0.0])
    with pytest.raises(FaultError):
        proof(setting(norm=INF), scenarios=[[0.6, 0.0]])


def test_norms():
    values = Dyadic([3, -4], 1)
    for p, size in ((1.0, Fraction(7, 2)), (2.0, Fraction(5, 2)), (INF, Fraction(2))):
        assert exact.within(values, p, size)
        assert not exact.within(values, p, size - Fraction(1, 10**30))
        assert exact.p_norm(values, p) == size
    assert not exact.within(Dyadic([0], 0), 2.0, Fraction(-1))
    assert exact.within(Dyadic([0], 0), 2.0, Fraction(0))
    root = Dyadic([1, 1], 0)  # the norm is rounded down, the comparison is not
    assert not exact.within(root, 2.0, exact.p_norm(root, 2.0))


# ----- definiteness -----------------------------------------------------------------------------------------


def test_small_matrices():
    assert exact.definite([[1], [0, 1]])
    assert exact.definite([[2], [1, 1]])
    for rows in ([[1], [1, 1]], [[1], [-1, 1]], [[1], [2, 1]], [[0]], [[-1]], [[1], [0, 0]], [[0], [0, 1]]):
        assert not exact.definite(rows)
    assert not exact.definite([[1], [1, 2], [1, 0, 1]])


def test_pivots():
    assert exact._pivots_positive([[1]])
    assert exact._pivots_positive([[1], [0, 2]])
    for rows in ([[0]], [[0], [0, 5]], [[-1], [0, 5]], [[1], [0, 1]], [[1], [0, 0]]):
        assert not exact._pivots_positive(rows)  # what remains is lowered by its size


@pytest.mark.parametrize("bits", [60, 150, 400])
def test_matrices_that_are_just_not_definite(bits):
    """The determinant is negative by less than rounding: what was rounded must be taken off."""
    rng = random.Random(bits)
    for _ in range(50):
        a, c = rng.getrandbits(bits) | 1 << bits - 1, rng.getrandbits(bits) | 1 << bits - 1
        b = math.isqrt(a * c) + 1
        assert not exact.definite([[a], [b, c]])
        assert not exact.definite([[a], [-b, c]])
        assert not exact.definite([[1], [0, a], [0, b, c]])
        if bits < 80:
            assert exact.definite([[a], [b - 2, c]])


def test_matrices_of_three_rows_that_are_just_not_definite():
    """Elimination rounds as well."""
    rng = random.Random(0)
    for _ in range(50):
        v = [[rng.randint(-(10**40), 10**40) for _ in range(2)] for _ in range(3)]
        rows = [[sum(p * q for p, q in zip(v[i], v[j], strict=True)) for j in range(i + 1)] for i in range(3)]
        assert not exact.definite(rows)  # of rank two
        lifted = [[x + (10**76 if i == j else 0) for j, x in enumerate(row)] for i, row in enumerate(rows)]
        assert exact.definite(lifted)


def test_a_feature_that_is_fixed_in_a_matrix():
    rows = [[2], [3, 5], [7, 11, 13]]
    # x_0 = 1/2 times the last: in (x_1, 1), doubled
    assert exact.restricted(rows, {0: 1}, 2) == [[5], [3 + 22, 2 + 2 * 2 * 7 + 4 * 13]]
    assert exact.restricted(rows, {}, 1) == rows
    assert exact.restricted(rows, {0: 0, 1: 0}, 1) == [[13]]


def test_a_disk_with_a_fixed_feature():
    """One feature is kept and one is set."""
    for value, holds in ((1.5, True), (1.0, False), (0.5, False)):
        where = setting(
            low=(3.0, value), high=(3.0, value), factual=(3.0, 0.0), requirement=disk(3.0, 0.0, 1)
        )
        assert proven(where, leaf("inf")) == (INF if holds else None)
