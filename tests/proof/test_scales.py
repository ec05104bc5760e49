"""Scores that are stated, curved scales, calibration, and means of a cell."""

import json
import math
from fractions import Fraction

import pytest

from surefoot import (
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    Explanation,
    datasets,
    verify,
)
from surefoot.proof import exact
from surefoot.proof.exact import Enclosure, Scale
from tests.proof.handmade import majorant
from tests.proof.two_categories import (
    INF,
    UNIT,
    answer,
    case_of,
    chance,
    content,
    density,
    odds,
    shaped_content,
)


def test_scores_that_are_stated():
    """1/2 + 3 z + 5 z^2 and a table, exactly."""
    explicit = exact.Explicit([3.0, -1.0], [[5.0, 1.0], [0.0, 0.5]])
    for z in ([0.0, 0.0], [1.0, 0.0], [0.5, -2.0], [-0.125, 3.0]):
        value = 3 * z[0] - z[1] + 5 * z[0] ** 2 + z[0] * z[1] + 0.5 * z[1] ** 2
        whole = Fraction(2 * value) * UNIT
        assert explicit.twice_value(exact.dyadic(z)) == Enclosure(whole, whole)
        moved = majorant(exact.Requirement([(1, explicit)], 0, True), exact.dyadic(z), [1])
        for step in (-1, 2):
            there = [z[0], z[1] + step]
            value = 3 * there[0] - there[1] + 5 * there[0] ** 2 + there[0] * there[1] + 0.5 * there[1] ** 2
            found = moved.rows[0][0] * step**2 + 2 * moved.rows[1][0] * step + moved.rows[1][1]
            assert Fraction(found, 1 << moved.shift) == 2 * Fraction(value)
    fine = exact.Explicit([2.0**-9, 2.0**-7], [[1.0, 0.0], [0.0, 3.0]])
    for z in ([1.0, 2.0], [-3.0, 0.5]):
        value = z[0] * 2.0**-9 + z[1] * 2.0**-7 + z[0] ** 2 + 3 * z[1] ** 2
        assert fine.twice_value(exact.dyadic(z)) == Enclosure(*[Fraction(2 * value) * UNIT] * 2)
    tiny = exact.Explicit([2.0**-140], None).twice_value(exact.dyadic([1.0]))
    assert tiny == Enclosure(0, 1)
    assert exact.Explicit([-(2.0**-140)], None).twice_value(exact.dyadic([1.0])) == Enclosure(-1, 0)


def test_scores_of_states():
    model = exact.read_model(content())
    for state, z, found in (
        ((0, 0), -1.0, -1.0),
        ((1, 0), -0.5, 0.0),
        ((0, 1), 0.0, 0.25),
        ((1, 1), 0.25, 1.0),
    ):
        zero, one = model.twice_scores([z], state)
        assert zero == Enclosure(0, 0)
        assert one == Enclosure(found * 2 * UNIT, found * 2 * UNIT)
        assert float(model.probability([z], state, 1)) == pytest.approx(chance(found), rel=1e-14)
    assert model.twice_gain(1, 0, (1, 1), 0) == Enclosure(UNIT, UNIT)
    assert model.twice_gain(0, 1, (1, 1), 1) == Enclosure(-UNIT // 2, -UNIT // 2)
    assert model.twice_gain(1, None, (1, 1), 0) == exact.enclosed_log(1, 2, 2)


@pytest.mark.parametrize("temperature", [0.5, 2.0, 3.0])
def test_calibration(temperature):
    """Odds are divided by the temperature, and shifted."""
    shifts = [0.25, -0.5]
    model = exact.read_model(shaped_content(calibration={"temperature": temperature, "shifts": shifts}))
    plain = exact.read_model(shaped_content())
    for z, state in (([0.5], (0, 0)), ([-1.0], (1, 0)), ([2.0], (1, 1))):
        zero, one = (float(score.half()) for score in plain.twice_scores(z, state))
        expected = (one - zero) / temperature - 0.75
        assert float(model.probability(z, state, 1)) == pytest.approx(chance(expected), rel=1e-13)
    found, base = model.twice_base(1), plain.twice_base(1)
    shift = 2 * Fraction(temperature) * Fraction(-0.5) * UNIT
    assert found.low <= base.low + shift + 1 <= found.high + 1
    assert found.high - found.low == 3
    assert Enclosure(3, 5).times(Fraction(1, 2)) == Enclosure(1, 3)
    assert Enclosure(-3, -1).times(Fraction(3, 2)) == Enclosure(-5, -1)


def test_heat():
    model = shaped_content(calibration={"temperature": 4.0, "shifts": [0.0, 0.0]})
    e = answer(model)
    e["question"]["requirements"] = [odds(threshold=0.75), density(), odds(threshold=0.5)]
    case = exact.read_case([model], e)
    asked, dense, even = case.question.requirements
    assert (case.heat(asked), case.heat(dense)) == (4, 1)
    gap = case.twice_base(even, (0, 0)).half() - case.twice_base(asked, (0, 0)).half()
    assert float(gap) == pytest.approx(4 * math.log(3), rel=1e-14)


def psi(u, p):
    if u >= 0:
        return math.log1p(u) if p == 0 else ((1 + u) ** p - 1) / p
    return -math.log1p(-u) if p == 2 else -((1 - u) ** (2 - p) - 1) / (2 - p)


@pytest.mark.parametrize("power", [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 1e-30])
def test_scales(power):
    scale = Scale(power, 2.0, 0.5)
    for x in (-3.0, 1.0, 1.5, 2.0, 2.5, 3.0, 40.0):
        assert scale(x) == pytest.approx(psi((x - 2) / 0.5, power if abs(power) > 1e-20 else 0.0), rel=1e-14)
    assert scale(2.0) == 0
    assert scale(INF) == (1.0 if power == -1 else INF)
    assert scale(-INF) == (-1.0 if power == 3 else -INF)
    if power == 1:
        assert [scale(x) for x in (-1.0, 2.25, 7.0)] == [-6.0, 0.5, 10.0]


def test_whole_numbers_on_a_scale():
    """Between the scale's values of 3 and 4 lies no whole number."""
    scale = Scale(0.0, 0.0, 1.0)
    asked = case_of().question
    for sets, scales in (({0: None}, [scale]), ({0: [3.0, 4.0]}, [scale])):
        object.__setattr__(asked, "sets", sets)
        object.__setattr__(asked, "scales", scales)
        three, four = scale(3.0), scale(4.0)
        assert asked.nothing_between(0, three, four)
        assert asked.nothing_between(0, math.nextafter(three, 9.0), math.nextafter(four, 0.0))
        assert not asked.nothing_between(0, math.nextafter(three, 0.0), four)
        assert not asked.nothing_between(0, three, math.nextafter(four, 9.0))
        assert not asked.nothing_between(0, four, three)
    assert exact._last_whole(scale, three) == 3
    assert exact._last_whole(scale, math.nextafter(three, 0.0)) == 2
    assert exact._last_whole(scale, scale(-7.0)) == -7
    assert exact._last_whole(Scale(1.0, 0.0, 1.0), -(2.0**53)) == -(2.0**53)
    assert exact._last_whole(Scale(1.0, 0.0, 1.0), math.nextafter(-(2.0**53), -INF)) is None
    assert exact._last_whole(Scale(1.0, 0.0, 1.0), 1e300) == 2.0**53 - 1


def test_questions_on_scales():
    asked, scale = case_of().question, Scale(0.0, -2.0, 1.0)
    assert asked.on_scales([None]) is asked
    bent = asked.on_scales([scale])
    assert (bent.factual, bent.low, bent.high) == ([scale(-1.0)], [-INF], [INF])
    assert bent.scales == [scale]


def test_deviations_from_means_of_the_cell():
    """x_1 is 2 + 3 (x_0 - 5), though x_0 has the mean 1."""
    net = exact.Network([[0.0, 0.0], [3.0, 0.0]], [1.0, 2.0], [1.0, 1.0], [[0.0, 0.0], [5.0, 0.0]])
    for x, left in (([1.0, 2.0], (0, 12)), ([5.0, 2.0], (4, 0)), ([0.5, -1.25], (-0.5, 10.25))):
        found = net.deviations(exact.dyadic(x))
        assert [Fraction(w, 1 << found.shift) for w in found.whole] == list(map(Fraction, left))
    assert net.expected([5.0, 7.0]) == [1, 2]
    plain = exact.Network([[0.0, 0.0], [3.0, 0.0]], [1.0, 2.0], [1.0, 1.0])
    assert plain.expected([5.0, 7.0]) == [1, 14]
    odd = exact.Network([[0.0, 0.0], [0.1, 0.0]], [0.3, 0.7], [1.0, 1.0], [[0.0, 0.0], [0.9, 0.0]])
    start = [Fraction(0.3), Fraction(0.7) - Fraction(0.1) * Fraction(0.9)]
    assert [Fraction(w, 1 << odd.start.shift) for w in odd.start.whole] == start


@pytest.mark.parametrize(
    ("power", "low", "high"),
    [
        (-0.5, -math.inf, 2.0),
        (2.5, -2.0, math.inf),
        (0.0, -math.inf, math.inf),
        (2.0, -math.inf, math.inf),
        (1.0, -math.inf, math.inf),
        (-1e-310, -math.inf, math.inf),  # a logarithm, which has no end; no double holds the one of a power
        (-5e-324, -math.inf, math.inf),
        (-1e-21, -math.inf, math.inf),
        (-1e-19, -math.inf, 1e19),
        (math.nextafter(2.0, 3.0), -1 / (math.nextafter(2.0, 3.0) - 2), math.inf),
    ],
)
def test_the_ends_of_a_scale(power, low, high):
    scale = exact.Scale(power, 0.25, 3.0)
    assert scale(-math.inf) == pytest.approx(low)
    assert scale(math.inf) == pytest.approx(high)


@pytest.fixture(scope="module")
def beyond():
    """An answer about a row of which more is expected than its curved scale can hold."""
    pima = datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier("tan", marginals="power").fit(pima.X, pima.y)
    e = CounterfactualExplainer(clf, budget=0, diagnose=False).explain(pima.X.loc[579], 0)
    assert e.expected_before["insu"] == math.inf
    return clf, e


def test_what_is_expected_beyond_the_end_of_a_scale_is_infinite(beyond):
    clf, e = beyond
    again = Explanation.from_json(e.to_json())
    assert again.expected_before["insu"] == math.inf
    assert verify(again, clf).ok


@pytest.mark.parametrize(
    ("feature", "stated"), [("insu", "-inf"), ("insu", 1e300), ("plas", "inf"), ("skin", "-inf")]
)
def test_other_infinite_expectations_are_refused(beyond, feature, stated):
    clf, e = beyond
    content = json.loads(e.to_json())
    place = content["expected_before"]["names"].index(feature)
    content["expected_before"]["values"][place] = stated
    found = verify(Explanation.from_dict(content), clf, exact=True)
    assert [claim.name for claim in found.claims if not claim.holds] == ["context"]


def test_on_plain_scales_nothing_expected_is_infinite():
    pima = datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier("naive").fit(pima.X, pima.y)
    content = json.loads(CounterfactualExplainer(clf, budget=0).explain(pima.X.loc[579], 0).to_json())
    content["expected_before"]["values"][0] = "inf"
    assert not verify(Explanation.from_dict(content), clf, exact=True).ok


@pytest.mark.parametrize(
    ("power", "stated", "expected", "found"),
    [
        (-0.5, INF, 2, 2.0),  # this scale ends at 2 above, and nowhere below
        (-0.5, INF, 3, 3.0),
        (-0.5, INF, Fraction(199, 100), None),
        (-0.5, -INF, -3, None),
        (3.0, -INF, -1, -1.0),  # and this one at -1 below
        (3.0, -INF, -2, -2.0),
        (3.0, -INF, Fraction(-99, 100), None),
        (3.0, INF, 5, None),
        (1.0, INF, 5, None),
    ],
)
def test_beyond_the_end_of_a_scale_alone_infinite_is_right(power, stated, expected, found):
    value = exact._expected_on_scale(stated, Scale(power, 0.0, 1.0), Fraction(expected))
    assert value == found if found is not None else math.isnan(value)
