"""Small faults in what the checkers know of categories, scales and calibration, on a file in the head.

Two categories and one number. The odds of class 1 are ``a`` plus 1/2 if k is "y" plus 1/4 if m is true. From
a = -1, k = "x" and m = False there are 1 to go; to change k costs 1/4, to change m 1/2. So the best is to
change k and to go 1/2: 3/4 altogether.
"""

import copy
import math
from fractions import Fraction

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, Enclosure, Scale, UnreadableError
from tests.proof.handmade import majorant

INF = math.inf
UNIT = 1 << exact.PLACES


# ----- the file ---------------------------------------------------------------------------------------------


def cells(mean, variance=1.0):
    return {"mean": mean, "at": [], "weights": [], "variance": variance}


def score(*tables, constant=0.0, linear=0.0, matrix=None):
    return {"constant": constant, "linear": [linear], "matrix": matrix, "tables": [list(t) for t in tables]}


def content(probability=True, **changes):
    even = [[0.5, 0.5], [0.5, 0.5]]
    scores = [score((0.0, 0.0), (0.0, 0.0)), score((0.0, 0.5), (0.0, 0.25), linear=1.0)]
    kinds = [{"kind": "category", "values": ["x", "y"]}, {"kind": "category", "values": [False, True]}]
    found = {
        "features": {"labels": ["k", "m", "a"]},
        "classes": {"labels": [0, 1]},
        "class_prior": [0.5, 0.5],
        "parents": [[], [], []],
        "kinds": [*kinds, {"kind": "number"}],
        "networks": [{"tables": even, "cells": [cells(mean)]} for mean in (-1.0, 1.0)],
        "feature_range": [[None, None, -4.0], [None, None, 4.0]],
        "density_percentiles": [[k - 101.0 for k in range(101)]] * 2,
        "decision": {"kind": "scores", "probability": probability, "scores": scores},
    }
    return copy.deepcopy(found | changes)


def chance(odds):
    return 1 / (1 + math.exp(-odds))


def values(*row):
    return {"names": ["k", "m", "a"], "values": list(row)}


def odds(**changes):
    return {"kind": "odds", "model": 0, "target": 1, "rival": 0, "threshold": 0.5, "robust": True} | changes


def density(**changes):
    return {"kind": "density", "model": 0, "class": 1, "floor": -9.0, "robust": False} | changes


def refuted(gain, level, shape=(), weight=None):
    """Nothing lies within the level where the categories add so much: level + gain < 1."""
    tree = {"level": level, "norm": [weight or 0.5 / level], "cross": [], "products": [], "between": [],
            "requirements": [[1.0, 0, -1]]}  # fmt: skip
    gains = list(gain) if isinstance(gain, tuple) else [gain]
    proof = {"directions": [], "scenarios": [], "tree": tree}
    named = {"shape": [list(pair) for pair in shape], "constants": gains}
    return {**named, "ways": [], "left": [], "proof": proof}


def answer(model=None, proofs=None, trades=(), level=0.74, prices=((0.0, 0.25), (0.0, 0.5))):
    """With k changed, from -1 to -0.4375: the odds are 1/16, and the distance 13/16."""
    fingerprint = exact.read_model(model or content()).fingerprint
    listed = (["x", "y"], [False, True])
    question = {
        "format": "surefoot-question", "version": 3, "models": [fingerprint], "features": ["k", "m", "a"],
        "factual": ["x", False, -1.0], "factual_class": 0, "target": 1,
        "distance": {"kind": "mahalanobis", "whitening": "cholesky", "norm": 2, "prices": None},
        "ball": {"norm": 2, "budget": 0.0, "exact": []}, "requirements": [odds()],
        "domain": {
            "low": ["-inf"], "high": ["inf"], "rows": [], "sets": [], "eithers": [], "limits": [],
            "declared": {},
        },
        "choices": [
            {"feature": j, "values": v, "prices": list(p)}
            for j, (v, p) in enumerate(zip(listed, prices, strict=True))
        ],
        "warps": None, "gap": 0.1,
    }  # fmt: skip
    known = [refuted(0.0, 0.74), refuted(0.5, 0.49)] if proofs is None else proofs
    certificate = {
        "format": "surefoot-certificate", "version": 3, "metric": [[1.0]], "ball": None, "bound": None,
        "states": {"trades": list(trades), "proofs": known}, "robustness": None, "worst": [0.0],
    }  # fmt: skip
    percentile = 101 - math.log(2 * math.pi) / 2 - 2 * math.log(2) - 1.4375**2 / 2
    found = {
        "format": "surefoot-explanation", "version": 4, "question": question, "certificate": certificate,
        "status": "optimal", "message": exact.SENTENCES["optimal"], "factual": values("x", False, -1.0),
        "counterfactual": values("y", False, -0.4375), "factual_class": 0, "target": 1, "decision": 1,
        "factual_probability": chance(-1.0), "probability": chance(0.0625),
        "worst_probability": chance(0.0625), "distance": 0.8125, "lower_bound": level,
        "gap": 1 - level / 0.8125, "budget": 0.0, "norm": 2, "whitening": "cholesky", "threshold": 0.5,
        "certified_radius": 0.0, "coverage": 1.0, "violation": -0.0625, "early_stop": False, "tol": 0.001,
        "unit": values(None, None, 1.0), "parents": [[], [], []], "expected_before": values(0.5, 0.5, -1.0),
        "expected_after": values(0.5, 0.5, 1.0), "z_score": values(None, None, -1.4375),
        "density_percentile": percentile, "model": fingerprint, "method": "certified", "backend": "",
        "seconds": 0.1, "iterations": [], "row": None, "advice": "", "conflict": [],
        "cautions": [], "model_share": None,
    }  # fmt: skip
    return copy.deepcopy(found)


def claims(e, model=None):
    """What the checker says, by name."""
    return {claim.name: claim for claim in exact.check([model or content()], e)}


def bound(**options):
    return claims(answer(**options))["lower bound"]


def case_of(e=None, model=None):
    return exact.read_case([model or content()], e or answer())


def changed(**changes):
    return answer() | changes


def test_the_file_holds():
    found = claims(answer())
    assert {claim.verdict for claim in found.values()} == {HOLDS}, found
    assert found["lower bound"].reason == "claimed 0.74, proven for all states by 2 proofs"
    alone = bound(proofs=[refuted(0.5, 0.49)], level=0.49)
    assert (alone.verdict, alone.reason) == (HOLDS, "claimed 0.49, proven for all states by one proof")


# ----- all states -------------------------------------------------------------------------------------------


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
    assert [cover.most(0, Fraction(0), v) for v in ((), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1))] == [
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


# ----- shapes: categories on which the densities depend -----------------------------------------------------


def shaped_content(**changes):
    """Without scores of its own; the mean of a in class 1 is 1, or 2 if k is "y"."""
    networks = [
        {"tables": [[0.5, 0.5], [[0.5, 0.5], [0.25, 0.75]]], "cells": [cells([m, n], [1.0, 1.0])]}
        for m, n in ((-1.0, -1.0), (1.0, 2.0))
    ]
    for network in networks:
        network["cells"][0] |= {"at": [[], []], "weights": [[], []]}
    networks[0]["tables"] = [[0.75, 0.25], [[0.5, 0.5], [0.5, 0.5]]]
    return content(decision=None, parents=[[], [0], [0]], networks=networks, **changes)


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
    assert model.gain_categories(1) == [0, 1]
    assert model.gain_categories(0) == [0]
    assert exact.read_model(content()).gain_categories(1) == [1]
    stated = shaped_content() | {"decision": content()["decision"]}
    assert exact.read_model(stated).shaping == []
    assert exact.read_model(stated).gain_categories(1) == [1]
    assert exact.read_model(stated).gain_categories(1, True) == [0, 1]
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


# ----- reading ----------------------------------------------------------------------------------------------


KINDS = [{"kind": "category", "values": ["x", "y"]}, {"kind": "category", "values": [False, True]}]

SCORES, NULL = {"kind": "scores", "probability": True, "scores": []}, score((0.0, 0.0), (0.0, 0.0))
NUMBER = {"kind": "number"}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kinds": [*KINDS]}, "2 entries"),
        ({"kinds": [*KINDS, {"kind": "word"}]}, "kinds are wrong"),
        ({"kinds": [*KINDS, None]}, "kinds are wrong"),
        ({"kinds": [KINDS[0], {"kind": "category", "values": []}, {"kind": "number"}]}, "differ"),
        ({"kinds": [KINDS[0], {"kind": "category", "values": ["z", "z"]}, {"kind": "number"}]}, "differ"),
        ({"kinds": [KINDS[0], {"kind": "category", "values": None}, {"kind": "number"}]}, "kinds"),
        ({"kinds": [KINDS[0], {"kind": "category", "values": [[], 1]}, {"kind": "number"}]}, "label"),
        ({"kinds": [{"kind": "category", "values": ["z", "w", "z"]}, KINDS[1], NUMBER]}, "differ"),
        ({"parents": [[2], [], []]}, "depends on a number"),
        ({"parents": [[1], [0], []]}, "cycle"),
        ({"calibration": {"temperature": 0.0, "shifts": [0.0, 0.0]}}, "temperature is not positive"),
        ({"calibration": {"temperature": -1.0, "shifts": [0.0, 0.0]}}, "temperature is not positive"),
        ({"calibration": {"temperature": 1.0, "shifts": [0.0]}}, "1 entries"),
        ({"warps": [{"power": 1.0, "shift": 0.0, "scale": 0.0}]}, "scale of a warp is not positive"),
        ({"warps": [{"power": 1.0, "shift": 0.0, "scale": -1.0}]}, "scale of a warp is not positive"),
        ({"warps": []}, "0 entries"),
        ({"decision": {"kind": "other", "probability": True, "scores": []}}, "no known kind"),
        ({"decision": {"kind": "scores", "probability": True, "scores": []}}, "0 entries"),
        ({"decision": SCORES | {"probability": 1, "scores": [NULL] * 2}}, "true"),
        ({"decision": SCORES | {"scores": [score((0.0,) * 2)] * 2}}, "1 entries"),
        ({"decision": {"kind": "scores", "probability": True, "scores": [score((0.0,),
        (0.0, 0.0))] * 2}}, "1 entries"),
        ({"networks": [{"tables": [[0.5, 0.5]], "cells": [cells(0.0)]}] * 2}, "1 entries"),
        ({"networks": [{"tables": [[0.5, 0.5]] * 2, "cells": []}] * 2}, "0 entries"),
        ({"networks": [{"tables": [[0.5, 0.5], [1.0, 0.0]], "cells": [cells(0.0)]}] * 2}, "not positive"),
        ({"networks": [{"tables": [[0.5, 0.5], [1.5, -0.5]], "cells": [cells(0.0)]}] * 2}, "not positive"),
        ({"networks": [{"tables": [[0.5, 0.5]] * 2, "cells": [cells(0.0, 0.0)]}] * 2}, "variance"),
        ({"networks": [{"tables": [[0.5, 0.5]] * 2, "cells": [cells(0.0, -1.0)]}] * 2}, "variance"),
        ({"networks": [{"tables": [[0.5, 0.5]] * 2, "cells": [cells([0.0])]}] * 2}, "finite number"),
        ({"feature_range": [[None, None, None], [None, None, 4.0]]}, "feature_range"),
        ({"feature_range": [[None, -4.0], [None, None, 4.0]]}, "feature_range"),
    ],
)  # fmt: skip
def test_models_that_are_none(change, text):
    exact.read_model(content())
    with pytest.raises(UnreadableError, match=text):
        exact.read_model(content(**change))


def choice(feature, values, prices):
    return {"feature": feature, "values": values, "prices": prices}


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ([choice(1, [False, True], [0.0, 0.5]), choice(0, ["x"], [0.0])], "not sorted"),
        ([{"feature": 0, "values": ["x"], "prices": [0.0]}] * 2, "not sorted"),
        ([{"feature": 3, "values": ["x"], "prices": [0.0]}], "no number 3"),
        ([{"feature": 0, "values": ["x", "y"], "prices": [0.0]}], "1 entries"),
        ([{"feature": 0, "values": ["y"], "prices": [0.0]}], "not one of its values"),
        ([{"feature": 0, "values": ["x", "x"], "prices": [0.0, 0.0]}], "not one of its values"),
        ([choice(0, ["x"], [0.0]), choice(1, [0, 1], [0.0, 0.0])], "not one of its values"),
        ([{"feature": 0, "values": ["x"], "prices": [None]}], "price"),
    ],
)  # fmt: skip
def test_choices_that_are_none(choices, text):
    e = answer()
    e["question"]["choices"] = choices
    with pytest.raises(UnreadableError, match=text):
        case_of(e)


def test_rows_with_categories_that_are_none():
    for key in ("factual", "counterfactual"):
        e = answer()
        e[key]["values"][0] = "z"
        with pytest.raises(UnreadableError, match=f"the {key} has a category without such a value"):
            case_of(e)
    for idle, value in (("bound", {}), ("bound", [])):
        e = answer()
        e["certificate"][idle] = value
        with pytest.raises(UnreadableError, match="which does not go with its question"):
            case_of(e)


@pytest.mark.parametrize(
    ("prices", "fault"),
    [
        (((0.0, 0.25), (0.0, 0.0)), False), (((0.0, -5e-324), (0.0, 0.5)), True), (((5e-324, 0.25),
        (0.0, 0.5)), True),
        (((0.0, 0.25), (0.5, 0.5)), True), (((-0.0, 0.25), (0.0, "inf")), False), (((0.0, 0.25),
        (0.0, "-inf")), True),
        (((0.0, 0.25), ("inf", 0.5)), True),
    ],
)  # fmt: skip
def test_prices_of_a_question(prices, fault):
    found = exact._domain_fault(case_of(answer(prices=prices)).question)
    assert found == ("a price of a category is negative, or staying costs something" if fault else "")


def test_the_price_of_a_state():
    asked = case_of(answer(prices=((0.0, 0.25), (0.0, "inf")))).question
    assert [asked.price(state) for state in ((0, 0), (1, 0), (0, 1), (1, 1))] == [0, Fraction(1, 4), INF, INF]
    assert (asked.numbers, asked.names, asked.state, asked.n) == ([2], ["a"], (0, 0), 1)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kinds": [KINDS[0], {"kind": "number"}, {"kind": "number"}]}, "the model has other categories"),
        ({"kinds": [KINDS[0], {"kind": "category", "values": [0, 1]}, NUMBER]}, "has other values"),
        ({"kinds": [{"kind": "category", "values": ["y", "x"]}, KINDS[1], NUMBER]}, "has other values"),
        ({"features": {"labels": ["k", "n", "a"]}}, "the model has other features"),
        ({"warps": [{"power": None, "shift": 0.0, "scale": 1.0}]}, "on other scales than the model's"),
    ],
)  # fmt: skip
def test_models_that_do_not_fit(change, text):
    if change.get("kinds", [None])[1:2] == [{"kind": "number"}]:
        change |= {"decision": None, "feature_range": [[None, 0.0, -4.0], [None, 1.0, 4.0]],
                   "networks": [{"tables": [[0.5, 0.5]], "cells": [cells(0.0)] * 2}] * 2}  # fmt: skip
    case = case_of(answer(), content())
    other = exact.read_model(content(**change))
    object.__setattr__(case, "models", [other])
    case.__dict__.pop("posed", None)
    assert text in exact._misfit(case)


def test_decisions_without_probabilities():
    """A value of the decision is asked for, no threshold, and no probability is stated."""
    model = content(False)
    decision = {"kind": "decision", "model": 0, "target": 1, "rival": 0, "value": 0.0, "robust": True}
    e = answer(model) | dict.fromkeys(
        ("threshold", "factual_probability", "probability", "worst_probability")
    )
    e["question"]["requirements"] = [decision]
    assert {claim.verdict for claim in claims(e, model).values()} == {HOLDS}, claims(e, model)
    for key in ("factual_probability", "probability", "worst_probability"):
        assert FAILS in {claim.verdict for claim in claims(e | {key: 0.5}, model).values()}
    assert "and no threshold" in claims(e | {"threshold": 0.5}, model)["question"].reason
    for requirements, text in (
        ([decision, decision | {"value": 0.25}], "one value of the decision"),
        ([odds()], "a probability that its model"),
        ([density()], "one value of the decision"), ([decision | {"robust": False}], "the odds against 0"),
        ([decision | {"rival": 1}], "one class only"), ([decision, decision], ""),
        ([decision | {"value": 5.0}], ""),
    ):  # fmt: skip
        e["question"]["requirements"] = requirements
        found = exact.question_claim(case_of(e, model))
        assert (text in found.reason) if text else found.verdict == HOLDS, requirements
    e["question"]["requirements"] = [decision | {"value": 0.0625}]
    assert exact.validity_claim(case_of(e, model)).verdict == HOLDS
    e["question"]["requirements"] = [decision | {"value": math.nextafter(0.0625, 1.0)}]
    assert exact.validity_claim(case_of(e, model)).verdict == FAILS
    assert exact._asked_for(case_of(e, model)) == math.nextafter(0.0625, 1.0)
    plain = answer()
    plain["question"]["requirements"] = [odds(), decision]
    assert exact.question_claim(case_of(plain)).verdict == HOLDS


# ----- scores, scales, calibration --------------------------------------------------------------------------


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


# ----- networks whose parents have means of their own -------------------------------------------------------


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


# ----- claims about categories ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, ""), ({"expected_before": values(0.5, 0.25, -1.0)}, "expected_before"),
        ({"expected_before": values(None, 0.5, -1.0)}, "expected_before"),
        ({"expected_after": values(0.5, math.nextafter(0.5, 1), 1.0)}, "expected_after"),
        ({"expected_after": values(0.5, 0.5, 1.1)}, "expected_after"),
        ({"unit": values(1.0, None, 1.0)}, "a category has no unit"),
        ({"unit": values(None, 0.0, 1.0)}, "a category has no unit"),
        ({"unit": values(None, None, 1.1)}, "unit is another one"),
        ({"z_score": values(0.0, None, -1.4375)}, "z_score"),
        ({"z_score": values(None, 1.0, -1.4375)}, "z_score"),
        ({"z_score": values(None, None, -1.4)}, "z_score"),
        ({"parents": [[], [0], []]}, "the parents"),
    ],
)  # fmt: skip
def test_the_context_of_categories(changes, fault):
    found = claims(changed(**changes))["context"]
    assert (found.verdict == FAILS and fault in found.reason) if fault else found.verdict == HOLDS


def test_distance_and_domain_of_categories():
    for price, distance, verdict in (
        (0.25, 0.8125, HOLDS),
        (0.5, 0.8125, FAILS),
        (0.5, 1.0625, HOLDS),
        ("inf", 0.8125, FAILS),
    ):
        e = answer(prices=((0.0, price), (0.0, 0.5))) | {"distance": distance}
        assert exact.distance_claim(case_of(e)).verdict == verdict
        found = exact.domain_claim(case_of(e))
        assert found.verdict == (FAILS if price == "inf" else HOLDS)
        assert price != "inf" or found.reason == "outside: k"
    assert exact.domain_claim(case_of(changed(counterfactual=values("x", True, 0.0)))).verdict == HOLDS


def test_a_state_that_did_not_change():
    e = changed(status="already_target", message=exact.SENTENCES["already_target"], distance=0.0)
    for row, same in ((("x", False, -1.0), True), (("y", False, -1.0), False), (("x", True, -1.0), False)):
        e["counterfactual"] = values(*row)
        assert (exact._full_fault(case_of(e)) == "") == same


def test_categories_in_words():
    lines = exact.words([content()], answer(prices=((0.0, 0.25), (0.0, "inf"))))
    assert lines[0] == "Factual: k x, m False, a -1.0; decided 0"
    assert lines[4:6] == [
        "Category: k is x; may become y at 0.25",
        "Category: m is False; may become nothing else",
    ]


def test_fingerprints_know_everything_that_decides():
    """Any change of what decides changes the fingerprint, and what does not decide does not."""

    def name(**changes):
        return exact.read_model(content(**changes)).fingerprint

    def decided(**changes):
        scores = content()["decision"]["scores"]
        scores[1] |= changes
        return name(decision={"kind": "scores", "probability": True, "scores": scores})

    networks = content()["networks"]
    networks[1]["tables"][0] = [0.25, 0.75]
    moved = content()["networks"]
    moved[1]["cells"][0]["mean"] = 1.5
    wider = content()["networks"]
    wider[1]["cells"][0]["variance"] = 1.5
    found = [
        name(), name(decision=None), name(decision=None, networks=networks),
        name(decision=None, networks=moved),
        name(decision=None, networks=wider), name(class_prior=[0.25, 0.75]), decided(constant=1.0),
        decided(linear=[2.0]), decided(tables=[[0.0, 0.5], [0.0, 0.5]]),
        exact.read_model(content(False)).fingerprint,
        name(calibration={"temperature": 1.0, "shifts": [0.0, 0.0]}),
        name(calibration={"temperature": 2.0, "shifts": [0.0, 0.0]}),
        name(calibration={"temperature": 1.0, "shifts": [0.0, 1.0]}),
        name(warps=[{"power": 0.5, "shift": 0.0, "scale": 1.0}]),
        name(warps=[{"power": 0.5, "shift": 1.0, "scale": 1.0}]),
        name(kinds=[{"kind": "category", "values": ["x", "w"]}, KINDS[1], {"kind": "number"}]),
        name(classes={"labels": [0, 2]}),
    ]  # fmt: skip
    both = content()["decision"]["scores"]
    for k in (0, 1, 2):
        scores = [both[0] | {"matrix": [[float(k)]]}, both[1] | {"matrix": [[1.0]]}]
        found.append(name(decision={"kind": "scores", "probability": True, "scores": scores}))
    assert len(set(found)) == len(found)
    assert name(feature_range=[[None, None, -5.0], [None, None, 5.0]]) == name()
