"""Numbers as the checker holds them: shown, dyadic, enclosed and rounded against the claimant."""

import decimal
import math
from fractions import Fraction

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, Dyadic, Enclosure, UnreadableError
from tests.proof.two_numbers import INF, case_of, chance, content


def test_values_are_shown_shortly():
    for value, text in (
        (10**40, str(10**40)), (-(10**40), str(-(10**40))), (10**40 + 1, "a huge number"),
        (-(10**40) - 1, "a huge number"), (True, "True"), ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 77 + "..."), ("a\nb", "'a\\nb'"), ("ä", "ä"), (0.5, "0.5"), (None, "None"),
        ([10**5000], "something too large to show"), ("", ""),
    ):  # fmt: skip
        assert exact.shown(value) == text


def test_whole_numbers_that_a_double_holds():
    for value in (2**53, -(2**53), 0, 1.5):
        assert exact._number(value, "x") == value
    for value in (2**53 + 1, -(2**53) - 1, True, False, INF, -INF, math.nan, "1", None, [1.0]):
        with pytest.raises(UnreadableError, match="x is not a finite number"):
            exact._number(value, "x")
    assert exact._wide("inf", "x") == INF
    assert exact._wide("-inf", "x") == -INF
    assert exact._index(0, "x", 2) == 0
    assert exact._index(1, "x", 2) == 1
    for value in (2, -1):
        with pytest.raises(UnreadableError, match="no number"):
            exact._index(value, "x", 2)


def test_sums_of_dyadic_numbers():
    one, other = Dyadic([3, -1], 1), Dyadic([1, 5], 3)
    assert one.plus(other) == Dyadic([13, 1], 3)
    assert one.plus(other, -1) == Dyadic([11, -9], 3)
    assert other.plus(one, -1) == Dyadic([-11, 9], 3)
    assert exact.dyadic([0.75, -2.0]) == Dyadic([3, -8], 2)
    assert exact.dyadic([]) == Dyadic([], 0)
    assert exact.dyadic([3.0]) == Dyadic([3], 0)
    assert exact.grid([[1.0, 0.5], [0.0, 2.0]]).times(Dyadic([1, 1], 2)) == Dyadic([3, 4], 3)
    for p in (1.0, INF):
        assert exact.p_norm(Dyadic([], 0), p) == 0
    root = exact.p_norm(Dyadic([1, 1], 3), 2.0) * 8
    assert root**2 < 2 < (root + Fraction(1, 2**99)) ** 2


def test_numbers_agree_to_the_last_digit():
    billionth = Fraction(1, 10**9)
    for stated, value in ((0.0, 0), (0.5, Fraction(1, 2)), (1.0, 1), (-4.0, -4), (64.0, 64)):
        room = billionth * max(1, abs(Fraction(stated)))
        for sign in (1, -1):
            edge = Fraction(stated) + sign * room * (1 if abs(value) <= 1 else Fraction(999, 1000))
            assert exact.agree(stated, edge)
            assert not exact.agree(stated, Fraction(stated) + sign * room * Fraction(1002, 1000))
    assert exact.agree(0.0, billionth, 1)
    assert not exact.agree(0.0, billionth * Fraction(1001, 1000), 1)
    assert exact.agree(0.0, billionth * 5, 5)
    assert not exact.agree(0.0, billionth, Fraction(1, 2))
    assert exact.agree(0.0, billionth * 3, 1, 2 * billionth)
    assert not exact.agree(0.0, billionth * 3, 1, billionth)
    for wrong in (math.nan, INF, -INF):
        assert not exact.agree(wrong, Fraction(0))
    assert exact.near(Fraction(10) ** 400) == INF
    assert exact.near(-(Fraction(10) ** 400)) == -INF
    assert exact.near(Fraction(1, 2)) == 0.5


def test_enclosures():
    one, other = Enclosure(3, 5), Enclosure(-2, 7)
    assert one.plus(other) == Enclosure(1, 12)
    assert one.minus(other) == Enclosure(-4, 7)
    assert one.half() == Fraction(2, 1 << exact.PLACES)
    unit = 1 << exact.PLACES
    assert exact.twice(0.75) == Enclosure(3 * unit // 2, 3 * unit // 2)
    assert exact.twice(-0.75) == Enclosure(-3 * unit // 2, -3 * unit // 2)
    assert exact.twice(5e-324) == Enclosure(0, 1)
    assert exact.twice(-5e-324) == Enclosure(-1, 0)
    assert exact.enclosed(decimal.Decimal("0.5"), 3) == Enclosure(3 * unit // 2 - 1, 3 * unit // 2 + 1)
    assert exact.enclosed_log(1, 1, 2) == Enclosure(-1, 1)
    assert exact.enclosed_log(7, 7) == Enclosure(-1, 1)
    ln2 = Fraction("0.693147180559945309417232121458176568075500134360255254120680")
    for above, below, times in ((2, 1, 1), (1, 2, 1), (4, 1, 2), (2, 1, -3)):
        found = exact.enclosed_log(above, below, times)
        value = times * {(2, 1): 1, (1, 2): -1, (4, 1): 2}[above, below] * ln2 * unit
        assert found.low < value < found.high
        assert found.high - found.low == 2


def test_densities_are_enclosed_tightly():
    """Variances of one: twice the log density is -2 log(2 pi) - |x - mean|^2."""
    net = exact.Network([[0.0, 0.0], [0.5, 0.0]], [1.0, 2.0], [0.5, 3.0])
    two_pi = exact.enclosed(exact.LOG_TWO_PI, -2)
    peak = two_pi.plus(exact.enclosed_log(3, 2, -1))
    assert net.twice_log_peak == peak
    assert net.volume == (3, 2)
    found = net.twice_log_density(exact.dyadic([2.0, 3.5]))  # deviations 1 and 1.5 - 0.5 = 1
    third = (1 << exact.PLACES) // 3
    assert found == peak.minus(
        Enclosure(2 * (1 << exact.PLACES) + third, 2 * (1 << exact.PLACES) + third + 2)
    )
    assert net.expected([2.0, 3.5]) == [1, Fraction(5, 2)]
    assert net.spreads([0, 1])[1] ** 2 == pytest.approx(3 + 0.25 * 0.5, rel=1e-15)


@pytest.mark.parametrize(
    "variances", [(1.0, 1.0), (1e300, 1e-300), (5e-324, 3.0), (1e-200, 1e-200), (7.0, 1e200)]
)
def test_one_over_a_variance_has_many_digits(variances):
    net = exact.Network([[0.0, 0.0], [0.0, 0.0]], [0.0, 0.0], list(variances))
    inverse = net.inverse
    assert inverse.shift >= 0
    for whole, variance in zip(inverse.whole, variances, strict=True):
        assert whole <= 2**inverse.shift / Fraction(variance) < whole + 1
        assert whole.bit_length() >= exact.SHARP
    assert min(whole.bit_length() for whole in inverse.whole) <= exact.SHARP + 1 or inverse.shift == 0


def test_squares_are_rounded_by_one():
    net = exact.Network([[0.0, 0.0], [0.5, 0.0]], [0.0, 0.0], [3.0, 5.0])
    up, down = net.squares(True), net.squares(False)
    scale = 2**net.squares_shift
    exactly = [[Fraction(1, 3) + Fraction(1, 20)], [Fraction(-1, 10), Fraction(1, 5)]]
    for i in range(2):
        assert down[i][i] < exactly[i][i] * scale < up[i][i]
        assert up[i][i] - down[i][i] <= 5
    assert net.squares(True) is up


def test_the_order_of_features():
    assert exact.topological([[2], [], [], [0, 1]]) == [1, 2, 0, 3]
    assert exact.topological([[], [], []]) == [0, 1, 2]
    assert exact.topological([[1], [2], []]) == [2, 1, 0]
    assert exact.topological([[3], [3], [], []]) == [2, 3, 0, 1]
    for cycle in ([[1], [0]], [[0]], [[], [2], [1]]):
        with pytest.raises(UnreadableError, match="cycle"):
            exact.topological(cycle)


def test_a_model_has_a_class_or_has_not():
    model = exact.read_model(content())
    assert [model.position(label) for label in (0, 1, True, 1.0, "1", 2)] == [0, 1, -1, -1, -1, -1]
    text = exact.read_model(content(classes={"labels": ["no", "yes"]}))
    assert [text.position(label) for label in ("no", "yes", "maybe")] == [0, 1, -1]


def test_probabilities_far_out():
    model = exact.read_model(content())
    for x, odds_ in ((0.25, 0.5), (3.0, 6.0), (-3.0, -6.0), (0.0, 0.0)):
        assert float(model.probability([x, 7.0], (), 1)) == pytest.approx(chance(odds_), rel=1e-14)
        assert float(model.probability([x, 7.0], (), 0)) == pytest.approx(chance(-odds_), rel=1e-14)
    assert model.probability([1e6, 0.0], (), 1) == 1
    assert 0 < model.probability([1e6, 0.0], (), 0) < Fraction(1, 10**4000)
    assert 0 < model.probability([5000.0, 0.0], (), 0) < Fraction(1, 10**4000)


def test_enclosures_that_touch(monkeypatch):
    """The class of the factual is decided where enclosures do not overlap; a common end is no overlap."""
    for own, other, found in (
        ((0, 2), (3, 4), FAILS), ((0, 2), (2, 4), NOT_PROVED), ((0, 2), (1, 4), NOT_PROVED),
        ((2, 4), (0, 3), NOT_PROVED), ((2, 4), (0, 2), HOLDS), ((2, 4), (0, 1), HOLDS),
    ):  # fmt: skip
        scores = [Enclosure(*own), Enclosure(*other)]
        monkeypatch.setattr(exact.Model, "twice_scores", lambda *_, scores=scores: list(scores))
        assert exact.question_claim(case_of()).verdict == found


def test_an_equation_with_infinity_never_holds():
    for end in (INF, -INF):
        assert not exact._row_holds(exact.Row([1.0], end, end, "r"), [0.5])


def test_matrices_that_need_more_bits():
    """Off by one part in 2^130: 96 bits cannot tell, 256 can."""
    near = 2**200 - 2**70
    assert not exact._definite_at([[2**200], [near, 2**200]], 96)
    assert exact.definite([[2**200], [near, 2**200]])
    assert not exact.definite([[2**200], [2**200, 2**200]])
