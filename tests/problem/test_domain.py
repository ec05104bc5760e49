import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.exceptions import ProblemError
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.row import Row
from surefoot.problem.warp import IDENTITY, Warp

numbers = st.floats(-50, 50)
POWERS = [-0.6, 0.0, 0.3, 1.0, 2.0, 2.4]


@given(value=numbers, today=numbers, values=st.lists(numbers, max_size=6, unique=True) | st.none())
def test_neighbours_in_a_set(value, today, values):
    s = ValueSet(0, None if values is None else tuple(sorted(values)), today)
    allowed = np.append(np.arange(-60.0, 61.0) if values is None else values, today)
    below, above = allowed[allowed <= value], allowed[allowed >= value]
    assert s.at_most(value) == (below.max() if below.size else -math.inf)
    assert s.at_least(value) == (above.min() if above.size else math.inf)
    assert s.contains(value) == (value in allowed)
    assert s.contains(today)
    assert abs(s.nearest(value) - value) == np.abs(allowed - value).min()


@given(value=numbers, low=numbers, width=st.floats(0, 3), today=numbers)
def test_the_nearest_value_between_ends(value, low, width, today):
    s, high = ValueSet(0, None, today), low + width
    allowed = np.append(np.arange(-60.0, 61.0), today)
    inside = allowed[(allowed >= low) & (allowed <= high)]
    found = s.nearest(value, low, high)
    if not inside.size:
        assert math.isnan(found)
    else:
        assert low <= found <= high
        assert abs(found - value) == np.abs(inside - value).min()


@given(
    value=numbers,
    today=numbers,
    values=st.lists(numbers, max_size=6, unique=True) | st.none(),
    power=st.sampled_from(POWERS),
)
def test_neighbours_in_a_set_on_a_curved_scale(value, today, values, power):
    warp = Warp(power, shift=1.0, scale=3.0)
    s = ValueSet(0, None if values is None else tuple(sorted(values)), today, warp)
    own = np.append(np.arange(-60.0, 61.0) if values is None else values, today)
    allowed, z = np.array([warp.exactly(v) for v in own]), warp.exactly(value)
    below, above = allowed[allowed <= z], allowed[allowed >= z]
    assert s.now == warp.exactly(today)
    assert s.at_most(z) == (below.max() if below.size else -math.inf)
    assert s.at_least(z) == (above.min() if above.size else math.inf)
    assert s.contains(s.now)
    assert s.contains(z) == (z in allowed)


@pytest.mark.parametrize("power", POWERS)
def test_open_ends_on_a_curved_scale(power):
    """Open ends are those of the scale; a set that has no such value says so."""
    warp = Warp(power, shift=1.0, scale=3.0)
    domain = Domain(np.full(2, -np.inf), np.full(2, np.inf), sets=(ValueSet(0, None, 4.5),))
    bent = domain.warped((warp, warp))
    for j in range(2):
        assert (bent.low[j], bent.high[j]) == pytest.approx(warp.range)
    for values in (None, (1.0, 2.5)):
        s = ValueSet(0, values, 4.5, warp)
        assert s.at_least(math.inf) == math.inf
        assert s.at_most(-math.inf) == -math.inf
    assert s.at_least(warp.exactly(9.0)) == math.inf
    assert s.at_most(warp.exactly(-9.0)) == -math.inf
    assert not s.contains(math.nan)


def test_rows_stay_on_scales_that_are_straight():
    rows = (Row(np.array([0.0, 2.0]), -1.0, 1.0, "b"),)
    domain = Domain(np.full(2, -5.0), np.full(2, 5.0), rows)
    assert domain.warped((Warp(0.5), IDENTITY)).rows == rows
    with pytest.raises(ProblemError, match=r"the rule 'b' adds up features .* on a curved scale"):
        domain.warped((IDENTITY, Warp(0.5)))


def test_open_ends_of_a_set():
    whole, listed = ValueSet(0, None, 0.5), ValueSet(0, (1.0, 2.0), 0.5)
    assert whole.at_least(-math.inf) == -math.inf
    assert listed.at_least(-math.inf) == 0.5
    assert listed.at_most(math.inf) == 2.0
    assert listed.at_least(2.5) == math.inf
    assert whole.nearest(math.inf, 0.0, 7.9) == 7.0
    assert not whole.contains(math.nan)
    assert not listed.contains(math.nan)


@pytest.mark.parametrize("values", [(2.0, 1.0), (1.0, 1.0), (0.0, math.inf), (math.nan,)])
def test_a_bad_list_of_values(values):
    with pytest.raises(ProblemError, match="finite, different and in ascending order"):
        ValueSet(0, values, 0.0)


def test_a_row_is_exact():
    row = Row(np.array([0.1, 0.2]), -math.inf, 0.3)
    assert row.contains(np.array([1.0, 0.999]))
    assert not row.contains(np.array([1.0, 1.0]))  # in doubles 0.1 + 0.2 > 0.3
    assert not row.contains(np.array([math.nextafter(1.0, 2.0), 1.0]))
    equal = Row(np.array([0.1, 0.2]), 0.3, 0.3)
    assert equal.contains(np.array([1.0, 1.0]))  # an equation only up to rounding
    assert not equal.contains(np.array([1.0, 1.0 + 1e-7]))


@given(
    pairs=st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=1, max_size=6),
    power=st.sampled_from([0, -160, 150]),
    steps=st.integers(-3, 3),
    above=st.booleans(),
)
def test_a_row_next_to_its_end(pairs, power, steps, above):
    """Where rounding decides, fractions do: an end some doubles away from the sum that doubles give."""
    a, x = (np.array(v) * 10.0**power for v in zip(*pairs, strict=True))
    if not a.any():
        return
    end = float(sum((a * x).tolist()))
    for _ in range(abs(steps)):
        end = math.nextafter(end, math.copysign(math.inf, steps))
    if not math.isfinite(end):
        return
    value = sum(Fraction(p) * Fraction(q) for p, q in zip(a.tolist(), x.tolist(), strict=True))
    row = Row(a, end, math.inf) if above else Row(a, -math.inf, end)
    assert row.contains(x) == (value >= Fraction(end) if above else value <= Fraction(end))


@pytest.mark.parametrize(
    ("coefficients", "ends", "message"),
    [
        ([0.0, 0.0], (0, 1), "not all of them zero"),
        ([np.nan, 1.0], (0, 1), "finite coefficients"),
        ([1.0, 1.0], (1, 0), "is empty: 1 to 0"),
        ([1.0, 1.0], (np.nan, 0), "is empty"),
    ],
)
def test_bad_rows(coefficients, ends, message):
    with pytest.raises(ProblemError, match=message):
        Row(coefficients, *ends, name="rule")


def test_bad_domains():
    with pytest.raises(ProblemError, match="one pair for each feature"):
        Domain([0.0], [np.nan])
    with pytest.raises(ProblemError, match="ends of feature 1 are empty: 3 to 2"):
        Domain([0.0, 3.0], [1.0, 2.0])
    with pytest.raises(ProblemError, match="another number of features"):
        Domain([0.0], [1.0], (Row([1.0, 1.0], 0, 1),))
    for sets in ([ValueSet(0, None, 0.0)] * 2, [ValueSet(1, None, 0.0)]):
        with pytest.raises(ProblemError, match="one set of values at most"):
            Domain([0.0], [1.0], (), sets)


def example():
    rows = (Row([1.0, 1.0, 0.0], -math.inf, 4.0),)
    return Domain([0.0, -np.inf, 1.0], [np.inf, 5.0, 1.0], rows, (ValueSet(0, None, 2.5),))


def test_what_a_domain_contains():
    domain = example()
    for inside in ([2.0, 2.0, 1.0], [2.5, 1.5, 1.0], [0.0, -100.0, 1.0]):
        assert domain.contains(inside)
    for outside in ([2.2, 1.0, 1.0], [3.0, 1.1, 1.0], [2.0, 2.0, 1.1], [-1.0, 0.0, 1.0], [np.nan, 0.0, 1.0]):
        assert not domain.contains(outside)
    assert not domain.is_box
    assert domain.fixed.tolist() == [False, False, True]
    assert Domain.whole_space(2).is_box
    assert np.isinf([Domain.whole_space(2).low, Domain.whole_space(2).high]).all()


def test_up_to_a_slack():
    domain = example()
    assert domain.within([2.0, 2.0 + 1e-7, 1.0], 1e-6)
    assert domain.within([2.0 + 1e-7, 1.0, 1.0 - 1e-7], 1e-6)
    assert not domain.within([2.0 + 1e-5, 1.0, 1.0], 1e-6)
    assert not domain.within([2.0, 2.1, 1.0], 1e-6)
    assert not domain.within([2.0, 2.0, 1.1], [1.0, 1.0, 0.01])


def test_clipping_and_other_ends():
    domain = example()
    np.testing.assert_array_equal(domain.clipped([2.3, 9.0, 7.0]), [2.5, 5.0, 1.0])
    np.testing.assert_array_equal(domain.clipped([-3.0, 0.0, 1.0]), [0.0, 0.0, 1.0])
    narrow = domain.with_ends(np.array([0.2, 0.0, 1.0]), np.array([1.8, 1.0, 1.0]))
    assert (narrow.low[0], narrow.high[0]) == (1.0, 1.0)  # ends move onto allowed values
    with pytest.raises(ProblemError, match=r"no allowed value of feature 0 lies within 0.2 to 0.8"):
        domain.with_ends(np.array([0.2, 0.0, 1.0]), np.array([0.8, 1.0, 1.0]))
    relaxed = domain.relaxed()
    assert relaxed.contains([2.2, 1.0, 1.0])
    assert not relaxed.contains([3.0, 1.1, 1.0])


def test_everything_linear():
    A, low, high = example().linear()
    np.testing.assert_array_equal(A, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    np.testing.assert_array_equal(low, [0, -np.inf, 1, -np.inf])
    np.testing.assert_array_equal(high, [np.inf, 5, 1, 4])


@pytest.mark.parametrize("values", [None, (-2.5, -1.0, 0.25, 3.0), (7.0,)])
@pytest.mark.parametrize("today", [0.0, 0.4, -3.7])
@pytest.mark.parametrize("warp", [IDENTITY, Warp(0.5, 0.3, 2.0)])
def test_many_numbers_at_once(values, today, warp):
    allowed = ValueSet(0, values, today, warp)
    edges = [today, -1.0, 0.25, 3.0, 2.0, -2.0]
    numbers = np.array([*np.linspace(-4, 4, 81), *map(warp.exactly, edges)])
    below, above = allowed.around(numbers)
    assert below.tolist() == [allowed.at_most(number) for number in numbers.tolist()]
    assert above.tolist() == [allowed.at_least(number) for number in numbers.tolist()]
    assert all(part.shape == (0,) for part in allowed.around(np.zeros(0)))
