"""Proofs for all states of the categories: prices, trades, stairs and shapes."""

import math
from fractions import Fraction

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import HOLDS, NOT_PROVED, UnreadableError
from tests.proof.two_categories import (
    INF,
    UNIT,
    answer,
    bound,
    case_of,
    changed,
    content,
    density,
    odds,
    refuted,
    shaped_content,
)


@pytest.mark.parametrize(
    ("proofs", "verdict"),
    [
        ([refuted(0.0, 0.74), refuted(0.5, 0.49)], HOLDS),
        ([refuted(0.5, 0.49), refuted(0.0, 0.74)], HOLDS),
        ([refuted(0.0, 0.74), refuted(0.5, math.nextafter(0.49, 0.0))], NOT_PROVED),
        ([refuted(0.0, math.nextafter(0.74, 0.0)), refuted(0.5, 0.49)], NOT_PROVED),
        ([refuted(0.0, 0.74), refuted(math.nextafter(0.5, 0.0), 0.49)], NOT_PROVED),
        ([refuted(math.nextafter(0.0, -1.0), 0.74), refuted(0.5, 0.49)], NOT_PROVED),
        ([refuted(0.0, 0.74)], NOT_PROVED),
        ([refuted(0.5, 0.49)], NOT_PROVED),
        ([], NOT_PROVED),
        ([refuted(0.0, 0.74), refuted(0.5, 0.5)], NOT_PROVED),  # the leaf does not hold
        ([refuted(0.0, 0.74), refuted(0.5, 0.49), refuted(0.1, 0.1)], HOLDS),
        ([refuted(0.0, 0.74), refuted(0.5, 0.49), refuted(2.0, 0.1)], NOT_PROVED),  # one that is false
    ],
)
def test_proofs_for_all_states(proofs, verdict):
    assert bound(proofs=proofs).verdict == verdict


def test_a_state_that_is_open_is_named():
    found = bound(proofs=[refuted(0.0, 0.74)]).reason
    assert found == "claimed 0.74; nothing covers the categories ['y', False]"
    found = bound(proofs=[refuted(0.5, 0.49)]).reason
    assert found == "claimed 0.74; nothing covers the categories ['x', False]"
    three = bound(proofs=[refuted(0.0, 0.74), refuted(0.5, 0.49)], prices=((0.0, 0.25), (0.0, 0.1)))
    assert three.reason == "claimed 0.74; nothing covers the categories ['y', True]"
    assert bound(proofs=[], level=0.0).verdict == HOLDS


@pytest.mark.parametrize(
    ("prices", "verdict"),
    [
        (((0.0, 0.25), (0.0, 0.49)), HOLDS),  # both cost just the bound
        (((0.0, 0.25), (0.0, 0.48)), NOT_PROVED),
        (((0.0, 0.25), (0.0, "inf")), HOLDS),
        (((0.0, "inf"), (0.0, 0.0)), NOT_PROVED),
        (((0.0, "inf"), (0.0, 0.25)), HOLDS),
        (((0.0, "inf"), (0.0, 0.24)), NOT_PROVED),
        (((0.0, 0.74), (0.0, 0.74)), HOLDS),
        (((0.0, 0.2499), (0.0, 0.5)), NOT_PROVED),
    ],
)
def test_prices_of_states(prices, verdict):
    """The second proof needs a price of 0.25 in every state that adds something."""
    assert exact.covered_claim(case_of(answer(prices=prices)), 0.74).verdict == verdict


def test_no_state_at_all():
    """Nothing is near enough anywhere: the domain ends before."""
    e = answer(proofs=[refuted(0.75, 0.125)]) | {"status": "infeasible", "lower_bound": "inf"}
    e["question"]["domain"] |= {"low": [-1.125], "high": [-0.875]}
    case = case_of(e)
    assert exact.covered_claim(case, INF).verdict == HOLDS
    e["certificate"]["states"]["proofs"] = [refuted(0.75, 0.12)]
    assert exact.covered_claim(case_of(e), INF).verdict == NOT_PROVED
    e["certificate"]["states"]["proofs"] = [refuted(0.7, 0.125)]
    assert exact.covered_claim(case_of(e), INF).verdict == NOT_PROVED
    e["certificate"]["states"] = {"trades": [1.0], "proofs": [refuted(0.7, 0.125), refuted(0.75, 0.1)]}
    assert exact.covered_claim(case_of(e), INF).verdict == NOT_PROVED


@pytest.mark.parametrize(
    ("trades", "proofs", "verdict"),
    [
        ((-5e-324,), [refuted(0.0, 0.74), refuted(0.5, 0.49)], NOT_PROVED),
        ((-1.0,), [refuted(0.0, 0.74), refuted(0.5, 0.49)], NOT_PROVED),
        ((0.0,), [refuted(0.0, 0.74), refuted(0.5, 0.49)], HOLDS),
        ((2.0, 1.0), [refuted(0.0, 0.74), refuted(0.5, 0.49)], HOLDS),
        ((2.0,), [refuted(0.0, 0.74)], NOT_PROVED),
        ((2.0,), [], NOT_PROVED),
    ],
)
def test_trades(trades, proofs, verdict):
    assert bound(trades=trades, proofs=proofs).verdict == verdict


def stair(price, known, rates, level=0.74, prices=((0.0, 0.25), (0.0, 0.5))):
    """Whether proofs (gain, radius) cover what costs at least a price, given the rates."""
    e = answer(prices=prices)
    proofs = [exact.Refuted((), [exact.twice(g).low], r if r == INF else Fraction(r)) for g, r in known]
    cover = exact.Cover(case_of(e), proofs, sorted({0.0, *rates}), level)
    return cover._stair(Fraction(price), (), cover.holding((), ()))


def test_stairs_of_proofs():
    """No state adds more than twice its price: within 1/4 of it that is 1/2, within 3/8 3/4."""
    whole = [(0.5, 0.74), (0.75, 0.5), (1.5, 0.375)]
    assert stair(0.0, [(0.75, 0.74)], [])  # no state adds more than that
    assert not stair(0.0, [(math.nextafter(0.75, 0.0), 0.74)], [])
    assert not stair(0.0, [(0.75, math.nextafter(0.74, 0.0))], [])  # begins too late
    assert stair(Fraction(1, 10**20), [(0.75, math.nextafter(0.74, 0.0))], []) is False
    assert stair(0.24, [(0.75, 0.5)], []) or Fraction(0.74) - Fraction(0.5) > Fraction(0.24)
    assert stair(0.0, whole, [2.0])
    assert not stair(0.0, whole, [])
    assert not stair(0.0, [(0.25, 0.74), (0.75, 0.5), (1.5, 0.375)], [2.0])
    assert not stair(0.0, [(0.5, 0.74), (0.7, 0.5)], [2.0])
    assert stair(0.0, [(0.5, 0.74), (0.75, 0.5)], [2.0])  # at last what any state adds
    assert not stair(0.0, [(0.5, 0.74), (0.75, 0.48)], [2.0])
    assert not stair(0.0, [(0.75, 0.5)], [2.0])
    assert stair(0.3, [(0.75, 0.5)], [2.0])
    assert stair(0.0, [(0.75, INF)], [2.0])
    assert stair(0.0, [(0.5, 0.74), (0.1, 0.7), (0.75, 0.5)], [2.0])  # a lower step takes nothing away
    assert not stair(0.0, whole, [4.0])
    assert stair(0.0, [(0.5, 0.75), (0.75, 0.5)], [2.0], 0.75)
    assert not stair(0.0, [(math.nextafter(0.5, 0.0), 0.75), (0.75, 0.5)], [2.0], 0.75)
    assert stair(0.25, [(0.75, 0.5)], [], 0.75)
    assert not stair(Fraction(1, 4) - Fraction(1, 10**20), [(0.75, 0.5)], [], 0.75)
    assert stair(0.0, whole, [1.0, 2.0, 4.0])


def test_stairs_are_climbed_before_states_are_looked_at():
    e = answer()
    proofs = [exact.Refuted((), [exact.twice(g).low], Fraction(r)) for g, r in ((0.5, 0.75), (0.75, 0.5))]
    for rates, covered in (([0.0, 2.0], True), ([0.0], False), ([0.0, 1.0, 2.0], True), ([0.0, 9.0], False)):
        cover = exact.Cover(case_of(e), proofs, rates, 0.75)
        assert cover.covers(Fraction(0), ()) == covered
        assert cover.uncovered() is None
    assert stair(0.0, [(0.75, 0.74), (0.1, 0.74)], [])  # the better one counts
    assert stair(0.0, [(0.1, 0.74), (0.75, 0.74)], [])


def test_what_a_density_gains_depends_on_parents():
    """Also where the odds are scores, which depend on nothing else."""
    model = shaped_content() | {"decision": content()["decision"]}
    e = answer(model)
    e["question"]["requirements"] = [odds(), density()]
    case = exact.read_case([model], e)
    cover = exact.Cover(case, [], [0.0], 0.74)
    scored, dense = (gains[1] for gains in cover.gains)
    assert (scored.categories, scored.entries) == ([1], exact.Wholes([0, UNIT // 2]))
    assert dense.categories == [0, 1]
    for known, chance_ in ((((0, 1), (1, 0)), (1, 4)), (((0, 0), (1, 0)), (1, 2)), (((0, 1),), (3, 4))):
        assert dense.most(known, Fraction(0)) == exact.enclosed_log(*chance_, 2).high


def test_without_a_point_there_is_no_state():
    case = case_of(changed(counterfactual=None))
    assert case.state == (-1, -1)
    assert case.point is case.counterfactual is None


def test_gains_less_a_rate_times_their_price():
    case = case_of(answer(prices=((0.0, 0.1), (0.0, "inf"))))
    cover = exact.Cover(case, [], [0.0, 3.0], 0.74)
    first, second = cover.gains[0]
    taken = 6 * Fraction(0.1) * UNIT
    assert [first.most(((0, v),), Fraction(0)) for v in (0, 1)] == [0, UNIT]
    assert first.most(((0, 0),), Fraction(3)) == 0
    assert UNIT - taken <= first.most(((0, 1),), Fraction(3)) < UNIT - taken + 1
    assert first.most((), Fraction(3)) == first.most(((0, 1),), Fraction(3))
    assert first.most((), Fraction(6)) == 0  # then staying is better
    assert second.most((), Fraction(0)) == 0  # what is not allowed is left out
    assert cover.allowed == [[0, 1], [0]]
    assert cover.trades == [0.0, 3.0]


def test_the_most_that_completions_add():
    case = case_of()
    (asked,) = case.question.requirements
    cover = exact.Cover(case, [], [0.0], 0.74)
    assert cover.order == [0, 1]
    assert [cover.most(0, 0, v) for v in ((), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1))] == [
        3 * UNIT // 2, UNIT // 2, 3 * UNIT // 2, 0, UNIT // 2, UNIT, 3 * UNIT // 2,
    ]  # fmt: skip
    assert cover.uncovered() == (0, 0) or cover.uncovered() is not None
    several = case_of(answer() | {"threshold": 0.5})
    object.__setattr__(several.question, "requirements", [asked, asked])
    assert exact.Cover(several, [], [0.0, 2.0], 0.74).trades == [0.0]


def test_several_requirements_must_all_be_covered():
    """One of them asks for more: with its own constant."""
    e = answer()
    e["question"]["requirements"] = [odds(), odds(threshold=0.75, robust=False)]
    for gains, verdict in (
        (((0.0, 0.0), (0.5, 0.5)), HOLDS), (((0.0, 0.0), (0.5, 0.4)), NOT_PROVED),
        (((0.0, 0.0), (0.4, 0.5)), NOT_PROVED), (((0.0, -0.1), (0.5, 0.5)), NOT_PROVED),
        (((0.0, 0.0), (0.5, 9.0)), HOLDS),
    ):  # fmt: skip
        e["certificate"]["states"]["proofs"] = [refuted(gains[0], 0.74), refuted(gains[1], 0.49)]
        assert exact.covered_claim(case_of(e), 0.74).verdict == verdict
    e["certificate"]["states"]["proofs"] = [refuted(0.0, 0.74)]
    with pytest.raises(UnreadableError, match="1 entries, not 2"):
        exact.covered_claim(case_of(e), 0.74)


def test_too_many_states(monkeypatch):
    """The root, both values of k, and below each of them both of m, beside two proofs.

    Seven looks, one of them at what is too dear; those before the last one see two proofs each.
    """
    monkeypatch.setattr(exact, "MOST_STEPS", 7 + 2 * 5)
    assert exact.covered_claim(case_of(), 0.74).verdict == HOLDS
    monkeypatch.setattr(exact, "MOST_STEPS", 16)
    with pytest.raises(exact.FaultError, match="more than 16 looks at proofs and partial assignments"):
        exact.covered_claim(case_of(), 0.74)


def test_every_cell_has_a_variance():
    for wrong in ([1.0, 0.0], [0.0, 1.0]):
        model = shaped_content()
        model["networks"][1]["cells"][0]["variance"] = wrong
        with pytest.raises(UnreadableError, match="a variance that is not positive"):
            exact.read_model(model)


def shaped_case(e=None):
    model = shaped_content()
    e = e or answer(model)
    e |= {"parents": [[], [0], [0]]}
    return exact.read_case([model], e)


def test_the_shape_of_a_model():
    model = exact.read_model(shaped_content())
    assert model.shaping == [0]
    assert exact.read_model(content()).shaping == []
    assert exact.shaping_categories(shaped_case()) == [0]
    assert exact.shaping_categories(case_of()) == []
    e = answer()
    e["question"]["requirements"].append(density())
    assert exact.shaping_categories(case_of(e)) == []
    stated = shaped_content() | {"decision": content()["decision"]}
    assert exact.read_model(stated).shaping == []
    assert model.tables[1][1].at((1, 0)) == 0.25
    assert model.tables[1][1].at((1, 1)) == 0.75
    assert model.network(1, (0, 1)).means == [1.0]
    assert model.network(1, (1, 0)).means == [2.0]
    assert model.network(1, (1, 0)) is model.network(1, (1, 1))


def test_densities_of_states():
    model = exact.read_model(shaped_content())
    for state, c, chance_, mean in (
        ((0, 0), 1, 0.25, 1.0),
        ((1, 0), 1, 0.125, 2.0),
        ((1, 1), 0, 0.125, -1.0),
    ):
        found = float(model.twice_log_density([0.5], state, c).half())
        assert found == pytest.approx(math.log(chance_) - math.log(2 * math.pi) / 2 - (0.5 - mean) ** 2 / 2)
    log2 = exact.enclosed_log(1, 2, 2)
    assert model.twice_gain(1, None, (0, 0), 0) == log2
    assert model.twice_gain(1, 0, (0, 0), 0) == exact.enclosed_log(2, 3, 2)
    assert model.twice_gain(1, 0, (1, 0), 0) == exact.enclosed_log(2, 1, 2)
    assert model.twice_gain(1, 0, (1, 0), 1) == log2
    assert model.twice_log_tables(1, (0, 0)) == log2.plus(log2)


def test_proofs_are_about_one_shape():
    """Odds are 2 a + log 2/3 for "x", and (3 a + 3/2 ...) for "y": a proof of one says nothing of another."""
    case = shaped_case()
    for shape, text in (
        ((), "2 entries|0 entries"), (((1, 0),), "does not name"), (((0, 2),), "no number 2"),
        (((0, -1),), "no number -1"),
        (((0, 0), (1, 0)), "2 entries"),
    ):  # fmt: skip
        with pytest.raises((UnreadableError, exact.FaultError), match=text):
            exact._refuted(case, refuted(0.0, 0.5, shape))
    # Nothing adds more than log 2 in one state; then (z - 1) 2 + gain < 0, and with "y" the squares differ.
    found = exact._refuted(case, refuted(0.25, 0.5, ((0, 0),), 2.0))
    assert (found.shape, found.twice_gains, found.radius) == ((0,), [UNIT // 2], Fraction(1, 2))
    cover = exact.Cover(case, [found], [0.0], 0.5)
    assert cover.order == [0, 1]
    assert not cover.covers(Fraction(0), ())
    assert cover.covers(Fraction(0), (0,))  # log 2/3 + 0 <= 1/4
    assert not cover.covers(Fraction(0), (1,))
    assert cover.uncovered() == (1, 0) or cover.uncovered() == (1, 1)
    less = exact._refuted(case, refuted(-0.5, 0.5, ((0, 0),), 2.0))
    assert not exact.Cover(case, [less], [0.0], 0.5).covers(Fraction(0), (0,))
    enough = exact._refuted(case, refuted(-0.4, 0.5, ((0, 0),), 2.0))
    assert exact.Cover(case, [enough], [0.0], 0.5).covers(Fraction(0), (0,))
