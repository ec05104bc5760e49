"""Proofs where changes have prices, at their very edge and against the page in fractions.

The requirement is a disk of radius 1 around (3, 0) whose nearest point to today, the origin, is (2, 0).
"""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from surefoot.proof import exact
from surefoot.proof.exact import Row
from tests.proof.test_conditions import INF, disk, leaf, proof, proven
from tests.proof.test_conditions import setting as plain
from tests.proof.test_leaves import assert_proportional, fractions, matrix_of

FREE = (1.0, 1.0)
LEAST = 5e-324


def setting(norm, *prices, **options):
    return exact.replace(plain(norm, **options), prices=[tuple(map(float, pair)) for pair in prices])


def edge(where, make, level, room=1e-9):
    """A leaf proves what lies just below a level, and nothing from it on."""
    assert proven(where, make(level * (1 - room))) == level * (1 - room)
    for more in (level * (1 + room), 1.001 * level, 2 * level):
        assert proven(where, make(more)) is None


def sides(below, above, j=0, at=0.0):
    return {"cut": [["x", j], at], "below": below, "above": above}


# ----- p = inf ----------------------------------------------------------------------------------------------


def largest(where, level, weight=None):
    """With the best weight of the first feature: (level / down + d)(level / up - d) at d = level / up."""
    up, down = where.prices[0]
    scale = where.metric[0][0]
    best = 1 / (level / (up * scale) + level / (down * scale))
    return leaf(level, [best if weight is None else weight, 0.0])


@pytest.mark.parametrize(("up", "down"), [(2.0, 1.0), (1.0, 2.0), (1.0, 1.0), (0.3, 7.0), (5.0, 0.125)])
def test_the_dearest_change(up, down):
    where = setting(INF, (up, down), FREE)
    edge(where, lambda level: largest(where, level), 2 * up)
    mirrored = setting(INF, (up, down), FREE, requirement=disk(-3.0, 0.0, 1))
    turned = setting(INF, (down, up), FREE)
    edge(mirrored, lambda level: largest(turned, level), 2 * down)


def test_prices_are_of_standard_deviations():
    """With D = 1/4 a rise by 2 is half a standard deviation."""
    for scale in (0.25, 3.0, 0.1):
        where = setting(INF, (3.0, 1.5), FREE, metric=((scale, 0.0), (0.0, 1.0)))
        edge(where, lambda level: largest(where, level), 6 * scale, 1e-8)  # noqa: B023


def test_a_feature_without_weight_proves_nothing():
    where = setting(INF, FREE, (1.0, 3.0))
    assert proven(where, leaf(1.9, [0.0, 0.25])) is None
    assert proven(where, leaf(1.9, [0.25])) is None
    assert proven(where, leaf(1.9, [0.25, -LEAST])) is None
    assert proven(where, leaf(1.9, [0.25, LEAST])) == 1.9
    other = setting(INF, FREE, (3.0, 1.0), requirement=disk(0.0, 3.0, 1))
    assert proven(other, leaf(5.9, [0.0, 1 / (5.9 / 3 + 5.9)])) == 5.9
    assert proven(other, leaf(6.1, [0.0, 1 / (6.1 / 3 + 6.1)])) is None


def test_reaches_are_rounded_up():
    """The functions are nowhere below those of the page, and equal to them up to some 40 digits."""
    rng = random.Random(0)
    for _ in range(200):
        level, up, down, scale = (rng.choice((1.0, 3.0, 1e-9, 1e200, rng.random())) for _ in range(4))
        where = setting(INF, (up, down), FREE, metric=((scale, 0.0), (0.0, 1.0)))
        forms = exact._between_ends(where, 0, level)
        for form, price, sign in zip(forms, (down, up), (1, -1), strict=True):
            assert form.space == "z"
            (i, slope), (last, constant) = form.entries
            assert (i, last, Fraction(slope, 1 << form.shift)) == (0, 2, sign)
            true = Fraction(level) / (Fraction(price) * Fraction(scale))
            found = Fraction(constant, 1 << form.shift)
            assert true <= found <= true * (1 + Fraction(1, 2**150))
    assert exact._rounded_up(0.375) == (3, 3)
    assert exact._rounded_up(Fraction(0)) == (0, 0)
    assert exact._rounded_up(Fraction(7)) == (7, 0)
    above, shift = exact._rounded_up(Fraction(1, 3))
    assert above == (1 << shift) // 3 + 1


# ----- p = 1 and 2 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_the_side_tells_the_price(norm):
    """w (level^2 - (2 u)^2) with w = 1/16 at u = 2; below today's value there is nothing of the disk."""
    below = leaf("inf", products=[(1.0, ("1",), ("c", 0))])
    where = setting(norm, (2.0, 1.0), (2.0, 2.0))
    edge(where, lambda level: leaf(level, [0.25]), 2.0)
    for level, holds in ((4 - 1e-9, 4 - 1e-9), (4 + 1e-9, None), (8.0, None)):
        assert proven(where, sides(below, leaf(level, [0.0625]))) == holds
    mirrored = setting(norm, (1.0, 2.0), (2.0, 2.0), requirement=disk(-3.0, 0.0, 1))
    for level, holds in ((4 - 1e-9, 4 - 1e-9), (4 + 1e-9, None), (8.0, None)):
        assert proven(mirrored, sides(leaf(level, [0.0625]), below)) == holds


@pytest.mark.parametrize("norm", [1.0, 2.0])
@pytest.mark.parametrize(("low", "high", "rate"), [
    (0.0, INF, 4.0), (LEAST, INF, 4.0), (-LEAST, INF, 0.5), (-0.0, INF, 4.0), (-INF, INF, 0.5),
    (1.0, INF, 4.0),
    (-INF, 0.0, 0.5), (-INF, -0.0, 0.5), (-INF, -1.0, 0.5), (-INF, LEAST, 0.5), (0.0, 0.0, 4.0),
])  # fmt: skip
def test_the_rate_of_a_piece(norm, low, high, rate):
    piece = exact.Piece(proof(setting(norm, (4.0, 0.5), FREE, low=(low, -INF), high=(high, INF))), 1.0, ())
    assert piece.rate(0) == rate
    assert piece.rate(1) == 1.0
    turned = exact.Piece(proof(setting(norm, (0.5, 4.0), FREE, low=(low, -INF), high=(high, INF))), 1.0, ())
    assert turned.rate(0) == (4.0 if high <= 0 and low < 0 else 0.5)
    assert exact.Piece(proof(plain(norm, low=(low, -INF), high=(high, INF))), 1.0, ()).rate(0) == 1.0


@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_every_end_of_a_feature_tells_its_side(norm):
    """Of the domain, a cut, a choice or a way; a cut of u does not."""
    dear, cheap = leaf(3.9, [0.0625]), leaf(1.9, [0.25])
    below = leaf("inf", products=[(1.0, ("1",), ("c", 0))])
    prices = (2.0, 1.0), (2.0, 2.0)
    assert proven(setting(norm, *prices, low=(0.0, -INF)), dear) == 3.9
    assert proven(setting(norm, *prices, low=(-LEAST, -INF)), dear) is None
    assert proven(setting(norm, *prices, low=(-LEAST, -INF)), cheap) == 1.9
    where = setting(norm, *prices)
    assert proven(where, sides(below, dear)) == 3.9
    assert proven(where, sides(below, dear, at=-LEAST)) is None
    assert proven(where, sides(below, dear, j=1)) is None
    assert proven(where, {"cut": [["u", 0], 0.0], "below": below, "above": dear}) is None
    assert proven(where, {"cut": [["u", 0], 0.0], "below": below, "above": cheap}) == 1.9
    whole = setting(norm, *prices, sets={0: None})
    assert proven(whole, {"choice": [0, -1.0, 0.0], "below": below, "above": dear}) == 3.9
    assert proven(whole, {"choice": [0, 0.0, 1.0], "below": below, "above": dear}) == 3.9
    assert proven(whole, {"choice": [0, -2.0, -1.0], "below": below, "above": dear}) is None
    for low, holds in ((0.0, 3.9), (1.0, 3.9), (-LEAST, None)):
        way = exact.replace(where, ways=[[[Row([1.0, 0.0], low, INF, "r")]]])
        assert proven(way, {"either": 0, "ways": [dear]}) == holds


def test_today_is_not_zero():
    where = setting(2.0, (2.0, 1.0), FREE, factual=(1.0, 0.0), requirement=disk(4.0, 0.0, 1))
    below = leaf("inf", products=[(1.0, ("1",), ("c", 0))])
    assert proven(where, sides(below, leaf(3.9, [0.0625]), at=1.0)) == 3.9
    assert proven(where, sides(below, leaf(4.1, [0.0625]), at=1.0)) is None
    assert proven(where, sides(below, leaf(3.9, [0.0625]), at=math.nextafter(1.0, 0))) is None
    assert proven(where, sides(below, leaf(3.9, [0.0625]), at=0.0)) is None


def test_cross_weights_have_rates_too():
    """The disk around (2, 2) with its nearest point (1, 1), which costs 2 + 4."""
    where = setting(1.0, (2.0, 0.5), (4.0, 0.5), low=(0.0, 0.0), requirement=disk(2.0, 2.0, 2))
    best = 1.0 / 36  # of the quadratic functions alone: (2 u_0 + 4 u_1)^2 <= level^2
    one = lambda level, x=1.0: leaf(level, [best], cross=[(0, 1, best * x)])  # noqa: E731
    levels = [level for level in np.arange(2.5, 6.5, 0.1).tolist() if proven(where, one(level)) is not None]
    assert levels
    assert max(levels) < 6 < max(levels) + 6  # and none that is wrong
    assert proven(where, one(3.0)) == 3.0
    assert proven(where, one(3.0, math.nextafter(1.0, 2))) is None
    turned = setting(1.0, (0.5, 2.0), (0.5, 4.0), low=(0.0, 0.0), requirement=disk(2.0, 2.0, 2))
    assert proven(turned, one(3.0)) is None


# ----- affine functions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [1.0, 2.0, INF])
def test_slopes_by_the_ends_of_the_level(norm):
    """u_0 lies in [-level / down, level / up]."""
    where = setting(norm, (3.0, 0.7), FREE)
    piece = exact.Piece(proof(where), 2.0, ())
    assert piece.ends(0) == (-Fraction(2) / Fraction(0.7), Fraction(2, 3))
    for y, true in ((-1.0, Fraction(2, 3)), (1.0, 2 / Fraction(0.7)), (-0.3, Fraction(0.3) * Fraction(2, 3))):
        near = float(true)
        for c in (near, math.nextafter(near, 9), math.nextafter(near, 0)):
            assert exact._by_ends(piece, c, {0: y}) == (Fraction(c) >= true)
            slope = (0.0, ("1",), ("a", c, ((0, y),)))
            held = leaf(2.0, [1e-3] if norm != INF else [1e-3, 1e-3], [slope], requirements=())
            fits = exact._by_ends(piece, c, {0: y}) or exact._by_dual_norm(piece, c, {0: y})
            if not fits:
                assert proven(where, held) is None


@pytest.mark.parametrize(("norm", "dual"), [(1.0, 8.0), (2.0, 10.0), (INF, 14.0)])
def test_slopes_by_the_dual_norm(norm, dual):
    """A fall makes 3 u_0 small and a rise -4 u_1: over their prices (6, 8), whose dual norm counts."""
    piece = exact.Piece(proof(setting(norm, (2.0, 0.5), (0.5, 3.0))), 2.0, ())
    slopes = {0: 3.0, 1: -4.0}
    assert exact._by_dual_norm(piece, 2 * dual, slopes)
    assert not exact._by_dual_norm(piece, math.nextafter(2 * dual, 0), slopes)
    assert not exact._by_dual_norm(piece, -2 * dual, slopes)
    other = {0: -12.0, 1: 24.0}  # a rise at 2 and a fall at 3
    assert exact._by_dual_norm(piece, 2 * dual, other)
    assert not exact._by_dual_norm(piece, math.nextafter(2 * dual, 0), other)
    assert not exact._by_dual_norm(piece, 2 * dual, {0: 12.0, 1: -24.0})
    assert not exact._by_dual_norm(piece, -LEAST, {})
    assert exact._by_dual_norm(piece, 0.0, {0: 0.0})
    anywhere = exact.Piece(proof(setting(norm, (2.0, 0.5), (0.5, 3.0))), INF, ())
    assert not exact._by_dual_norm(anywhere, 1e300, {0: LEAST})
    assert not exact._by_ends(anywhere, 1e300, {0: LEAST})
    assert exact._by_dual_norm(anywhere, 0.0, {0: 0.0})


# ----- a whole leaf, against the page -----------------------------------------------------------------------


def random_setting(rng, norm):
    where = setting(
        norm, *(rng.choice([0.5, 1.0, 3.0, rng.random() + 0.1], 2) for _ in range(2)),
        metric=((float(rng.choice([0.5, 1.3])), 0.0), (0.0, float(rng.choice([2.0, 0.7])))),
        factual=(0.25, float(rng.normal())), rows=[Row([1.0, -2.0], -9.0, 9.0, "r")],
        low=(float(rng.choice([-INF, -3.0, 0.25])), -50.0),
    )  # fmt: skip
    ways = [[[Row([1.0, 3.0], -40.0, 41.0, "w"), Row([0.0, 1.0], -20.0, INF, "w")]]]
    return exact.replace(where, ways=ways)


def random_leaf(rng, norm, level):
    weight = lambda: float(rng.choice([0.0, 1.0, rng.random()]))  # noqa: E731
    forms = [("1",), ("c", 0, 0, "low"), ("c", 0, 0, "high"), ("c", 0, 1, "low"), ("r", 0, "high"),
             ("x", 1, "low"),
             ("a", 99.0, ((0, 1.5), (1, -0.25))), ("a", 50.0, ((1, 1.0),))]  # fmt: skip
    pick = lambda: forms[rng.integers(len(forms))]  # noqa: E731
    norms = [weight(), weight()] if norm == INF else [1.0]
    cross = [(0, 1, float(rng.uniform(-1, 1)))] if norm == 1 else []
    products = [(weight(), pick(), pick()) for _ in range(4)]
    return leaf(level, norms, products, cross, [(weight(), 0, -1), (weight(), 0, 0)])


def value_of(where, one, z, scenario):
    """F at the point with changes z, in fractions, as the page defines it."""
    D, (up, down) = fractions(where.metric), zip(*fractions(where.prices), strict=True)
    u = [D[i][i] * z[i] for i in range(2)]
    x = [Fraction(f) + c for f, c in zip(where.domain.factual, z, strict=True)]
    level, ways = Fraction(one["level"]), where.ways[0][0]

    def affine(entry):
        if entry[0] == "1":
            return Fraction(1)
        if entry[0] == "a":
            return Fraction(entry[1]) + sum(Fraction(y) * u[i] for i, y in entry[2])
        if entry[0] == "x":
            return x[1] - Fraction(where.domain.low[1])
        row = where.domain.rows[0] if entry[0] == "r" else ways[entry[2]]
        at = sum(Fraction(a) * v for a, v in zip(row.coefficients, x, strict=True))
        return at - Fraction(row.low) if entry[-1] == "low" else Fraction(row.high) - at

    def needed(point):
        return (1 - (point[0] - 3) ** 2 - point[1] ** 2) / 2

    if where.norm == INF:
        ends = [(level / (down[i] * D[i][i]), level / (up[i] * D[i][i])) for i in range(2)]
        total = sum(
            Fraction(w) * (a + c) * (b - c) for w, (a, b), c in zip(one["norm"], ends, z, strict=True)
        )
    else:
        rates = [up[0] if where.domain.low[0] >= where.domain.factual[0] else min(up[0], down[0])]
        rates.append(min(up[1], down[1]))
        paid = [rate * v for rate, v in zip(rates, u, strict=True)]
        total = Fraction(one["norm"][0]) * (level**2 - sum(v * v for v in paid))
        total -= sum(2 * Fraction(w) * paid[i] * paid[j] for i, j, w in one["cross"])
    total += sum(Fraction(w) * affine(f) * affine(g) for w, f, g in one["products"])
    for w, _, s in one["requirements"]:
        total += Fraction(w) * needed([a + Fraction(d) * (s >= 0) for a, d in zip(x, scenario, strict=True)])
    return total


@pytest.mark.parametrize("norm", [1.0, 2.0, INF])
def test_a_leaf_is_the_sum_of_its_entries(norm):
    rng, scenario = np.random.default_rng(3), [0.1, -0.05]
    for _ in range(25):
        where, level = random_setting(rng, norm), 1.5
        one, read = random_leaf(rng, norm, level), proof(where, scenarios=[scenario])
        path = [exact.step(read, {"either": 0, "ways": [None]}, 0)]
        piece = exact.Piece(read, level, path)
        matrix = matrix_of(lambda z: -value_of(where, one, z, scenario), 2)  # noqa: B023
        terms = [
            *exact.norm_terms(piece, one),
            *(exact.product_term(piece, entry) for entry in one["products"]),
        ]
        needs = [exact.requirement_term(read, entry) for entry in one["requirements"]]
        rows = exact.negated(read, terms, needs, piece.moving)
        assert_proportional(rows, matrix)


def test_a_leaf_with_a_feature_that_is_fixed():
    """With the second feature kept, or set to another value at its own price."""
    for value, cost in ((0.0, 0.0), (0.5, 1.5), (-0.5, 0.5)):
        where = setting(
            1.0, (2.0, 1.0), (3.0, 1.0), low=(0.0, value), high=(INF, value), requirement=disk(3.0, value, 1)
        )
        piece = exact.Piece(proof(where), 1.0, ())
        assert piece.moving == ([0] if value == 0 else [0, 1])
        total = 4 + cost
        levels = np.arange(3.7, 8, 0.2)
        best = [level for level in levels.tolist() for w in (0.01, 0.03, 0.0625, 0.1)
                for x in ({0.0, w, -w} if cost else {0.0})
                if proven(where, leaf(level, [w], cross=[(0, 1, x)])) is not None]  # fmt: skip
        assert best
        assert max(best) <= total
        assert max(best) >= 3.9


def test_prices_that_differ_by_hundreds_of_digits():
    """Nothing overflows, and the edge stays where it is."""
    where = setting(INF, (1e-150, 1e150), (1e150, 1e-150))
    for level in (0.0, 1e-150, 1.0, 1e150):
        proven(where, leaf(level, [1.0, 1.0]))
        proven(where, leaf(level, [1e-300, 0.0]))
    assert proven(where, largest(where, 1.9e-150)) == 1.9e-150
    assert proven(where, largest(where, 2.1e-150)) is None
