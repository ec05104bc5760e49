"""The exact checker: honest files hold, and every condition of the page is needed."""

import ast
import copy
import decimal
import functools
import itertools
import json
import math
import os
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.explain.result import document as written
from surefoot.proof import exact
from surefoot.status import _WITH_POINT, Status
from tests.proof import handmade
from tests.proof.handmade import (
    INF,
    banknote,
    banknote_row,
    explained,
    leaf_holds,
    majorant,
    mean_of,
    question,
    small,
)
from tests.thinning import only

FILE = Path(exact.__file__)


def start(n=3):
    return mean_of(small(n), "a")


def asked(n=3, **options):
    return question(small(n), start(n), "b", **options)


def unit(n=3):
    return np.sqrt(np.diag(small(n).networks_[0].covariance))


def density(floor, robust):
    return {"kind": "density", "model": 0, "class": "b", "floor": floor, "robust": robust}


def honest_bank(norm, whitening, structure="tan", **options):
    clf = banknote(structure)
    return clf, explained(clf, question(clf, banknote_row(), 1, norm=norm, whitening=whitening, **options))


def honest(**options):
    first = {key: options.pop(key) for key in ("first", "robust_first", "directions") if key in options}
    return small(3), explained(small(3), asked(**options), **first)


def by_feature():
    s = unit()
    budget = {0: (0.1 * s[0], 0.05 * s[0]), 2: (0.0, 0.1 * s[2])}
    return honest(norm=2, budget=budget)


def three_classes():
    clf = small(2, 3)
    return clf, explained(clf, question(clf, mean_of(clf, "a"), "c", norm=1))


def kept(**options):
    low, high = np.full(3, -INF), np.full(3, INF)
    low[0] = high[0] = start()[0]
    return honest(low=low, high=high, **options)


def set_to_another_value():
    low, high = np.full(3, -INF), np.full(3, INF)
    low[1] = high[1] = start()[1] + 0.3
    return honest(low=low, high=high, norm=2)


def with_sets(**options):
    m = start()
    values = sorted(float(m[1] + step * unit()[1]) for step in (-2.5, -1, 0.7, 3))
    return honest(norm=2, budget=0.02, sets=[(0, None), (1, values)], **options)


def with_rows(equal=False):
    m = start()
    middle = float(m[0] - m[1])
    ends = (middle, middle) if equal else (middle - 0.2, middle + 0.2)
    return honest(rows=[([1.0, -1.0, 0.0], *ends)])


def cut_everywhere():
    """A tree that cuts every kind of function; the last two cuts fix a feature."""
    m, row = start(), ([1.0, 1.0, 0.0], -INF, 50.0)
    first = [
        ("cut", [["u", 0], 0.1]),
        ("cut", [["r", 0], float(m[0] + m[1])]),
        ("cut", [["d", 0], 0.05]),
        ("cut", [["x", 1], float(m[1]) + 0.25]),
        ("cut", [["x", 1], float(m[1]) + 0.25]),
    ]
    return honest(
        rows=[row], first=first, directions=[[1.0, -0.5, 0.25]], robust_first=[("cut", [["u", 1], 0.01])]
    )


def nothing_exists():
    m = start()
    return small(3), handmade.impossible(small(3), asked(low=m - 0.1, high=m + 0.1))


def already_there():
    clf = small(3)
    return clf, handmade.unchanged(clf, question(clf, mean_of(clf, "b"), "b", norm=1))


def stopped_without_point():
    clf = small(3)
    geo = handmade.Geometry((clf,), asked())
    bound = handmade.bound_proof(geo, 0.5, [])
    e = handmade.document((clf,), asked(), bound=bound, lower_bound=0.5, status="time_limit_no_point")
    return clf, e


# Of three whitenings and three norms, three pairs are enough for most changes.
SLOW = ("cholesky 2", "dag 1", "dag inf", "zca 1", "zca 2", "exactly zca")
HONEST = {
    **{
        f"{w} {p:g}": functools.partial(honest_bank, p, w)
        for w in ("cholesky", "dag", "zca")
        for p in (1.0, 2.0, INF)
    },
    "naive": functools.partial(honest_bank, INF, "cholesky", "naive"),
    "exactly one": functools.partial(honest_bank, INF, "cholesky", exact=[1]),
    "exactly dag": functools.partial(honest_bank, 1.0, "dag", exact=[1]),
    "exactly zca": functools.partial(honest_bank, 2.0, "zca", exact=[0, 3]),
    "all exactly": functools.partial(honest_bank, 2.0, "cholesky", exact=[0, 1, 2, 3]),
    "two norms": functools.partial(honest_bank, 1.0, "cholesky", ball_norm=2.0),
    "no budget": functools.partial(honest_bank, INF, "cholesky", budget=0.0),
    "threshold": functools.partial(honest_bank, 2.0, "cholesky", threshold=0.9),
    "by feature": by_feature,
    "three classes": three_classes,
    "kept": kept,
    "set": set_to_another_value,
    "values": with_sets,
    "rows": with_rows,
    "equation": functools.partial(with_rows, True),
    "density": functools.partial(honest, extra=[density(-6.0, True)]),
    "density at the point": functools.partial(honest, extra=[density(-5.5, False)]),
    "cuts": cut_everywhere,
    "infeasible": nothing_exists,
    "already": already_there,
    "stopped": stopped_without_point,
}


@functools.cache
def made(name):
    clf, e = HONEST[name]()
    return json.dumps(handmade.model_document(clf)), json.dumps(e)


def files(name="cholesky inf"):
    """Model and explanation of an honest file, fresh."""
    return tuple(json.loads(text) for text in made(name))


def verdicts(model, e):
    return {claim.name: claim.verdict for claim in exact.check([model], e)}


def reason(model, e, name):
    return next(claim.reason for claim in exact.check([model], e) if claim.name == name)


def leaf_of(e):
    node = e["certificate"]["bound"]["tree"]
    while "below" in node:
        node = node["below"]
    return node


# ----- honest files ------------------------------


@pytest.mark.parametrize("name", only([name for name in HONEST if name not in SLOW], HONEST))
def test_an_honest_file_holds(name):
    found = verdicts(*files(name))
    assert set(found.values()) == {exact.HOLDS}, exact.check([files(name)[0]], files(name)[1])
    assert {"model", "question", "geometry", "status", "lower bound", "gap", "context"} <= set(found)


def test_claims_come_in_a_fixed_order():
    assert list(verdicts(*files())) == [
        "model",
        "question",
        "geometry",
        "status",
        "probabilities",
        "distance",
        "domain",
        "validity",
        "robustness",
        "worst case",
        "lower bound",
        "gap",
        "context",
    ]


def test_contents_do_as_well_as_documents():
    model, e = files()
    assert exact.check([model["model"]], e) == exact.check([model], e)


def test_a_point_that_was_stopped_claims_what_it_proves():
    model, e = files()
    e["status"], e["message"] = "time_limit", Status.TIME_LIMIT.sentence
    e["lower_bound"] *= 0.5
    e["gap"] = 1 - e["lower_bound"] / e["distance"]
    e["certified_radius"], e["coverage"] = 0.02, 0.4
    assert set(verdicts(model, e).values()) == {exact.HOLDS}


def test_statuses_and_keys_are_the_packages():
    assert {str(status): status.sentence for status in Status} == exact.SENTENCES
    assert set(exact.WITH_POINT) == {str(status) for status in _WITH_POINT}
    assert written.KEYS == exact.KEYS
    assert written.CERTIFICATE_KEYS == exact.CERTIFICATE_KEYS


@pytest.mark.parametrize(
    "labels", [[0, 1], ["ä", "b"], [False, True], [1.0, 2.0], np.array([1, 2], dtype=np.float32)]
)
def test_fingerprints_are_the_classifiers(labels):
    codes = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, 3)) + codes[:, None]
    clf = ConditionalGaussianNetworkClassifier().fit(X, np.array(labels)[codes])
    model = json.loads(json.dumps(handmade.model_document(clf)))
    assert exact.read_model(model).fingerprint == clf.fingerprint_


# ----- every condition of a proof ------------------------------


def lower_bound_of(model, e):
    found = {claim.name: claim for claim in exact.check([model], e)}
    return found["lower bound"]


def assert_not_proved(model, e, text):
    claim = lower_bound_of(model, e)
    assert claim.verdict == exact.NOT_PROVED
    assert text in claim.reason, claim.reason


def blank(level, **entries):
    return {
        "level": level,
        "norm": [],
        "cross": [],
        "products": [],
        "requirements": [],
        "between": [],
        **entries,
    }


WITHOUT_WEIGHT = {
    "split that is not there": ("cholesky inf", "products", [0.0, ["c", 0], ["1"]], "no number 0"),
    "split counted from the end": ("cuts", "products", [0.0, ["c", -1], ["1"]], "no number -1"),
    "infinite end": ("cholesky inf", "products", [0.0, ["x", 0, "low"], ["1"]], "is infinite"),
    "infinite end of a row": ("cuts", "products", [0.0, ["r", 0, "low"], ["1"]], "is infinite"),
    "no such feature": ("cholesky inf", "products", [0.0, ["x", 4, "low"], ["1"]], "no number 4"),
    "feature from the end": ("cholesky inf", "products", [0.0, ["x", -1, "low"], ["1"]], "no number -1"),
    "no such row": ("rows", "products", [0.0, ["r", 1, "low"], ["1"]], "no number 1"),
    "no such side": ("rows", "products", [0.0, ["r", 0, "left"], ["1"]], "is not known"),
    "no such function": ("rows", "products", [0.0, ["y", 0, "low"], ["1"]], "is not known"),
    "negative constant": ("cholesky inf", "products", [0.0, ["a", -1e-300, []], ["1"]], "may be negative"),
    "negative slope": ("cholesky inf", "products", [0.0, ["1"], ["a", 0.0, [[0, 1.0]]]], "may be negative"),
    "no such slope": ("cholesky inf", "products", [0.0, ["a", 9.0, [[4, 1.0]]], ["1"]], "no number 4"),
    "slope twice": ("cholesky inf", "products", [0.0, ["a", 9.0, [[0, 1.0], [0, 1.0]]], ["1"]], "twice"),
    "no such requirement": ("cholesky inf", "requirements", [0.0, 1, -1], "no number 1"),
    "requirement from the end": ("cholesky inf", "requirements", [0.0, -1, -1], "no number -1"),
    "no such scenario": ("cholesky inf", "requirements", [0.0, 0, 99], "no scenario"),
    "scenario from the end": ("cholesky inf", "requirements", [0.0, 0, -2], "no scenario"),
    "not robust": ("density at the point", "requirements", [0.0, 1, 0], "not robust"),
    "value between": ("values", "between", [0.0, 0, -0.5, 0.5], "may lie between"),
    "no set": ("values", "between", [0.0, 2, -0.5, 0.5], "may lie between"),
    "between in the wrong order": ("values", "between", [0.0, 0, 1.0, 0.0], "may lie between"),
    "cross for p = 2": ("cholesky 2", "cross", [0, 1, 0.0], "do not fit"),
    "cross for p = inf": ("cholesky inf", "cross", [0, 1, 0.0], "do not fit"),
    "cross in the wrong order": ("cholesky 1", "cross", [1, 0, 0.0], "not in order"),
    "cross with itself": ("cholesky 1", "cross", [1, 1, 0.0], "not in order"),
    "cross from the end": ("cholesky 1", "cross", [-1, 1, 0.0], "no number -1"),
}


@pytest.mark.parametrize("case", WITHOUT_WEIGHT)
def test_an_entry_that_is_not_allowed_spoils_a_leaf_even_without_weight(case):
    name, key, entry, text = WITHOUT_WEIGHT[case]
    model, e = files(name)
    leaf = leaf_of(e)
    if leaf == blank(leaf["level"]):
        pytest.fail("the leaf must not be empty")
    leaf[key].append(entry)
    assert_not_proved(model, e, text)


@pytest.mark.parametrize("weight", [-5e-324, -1.0, -1e300])
@pytest.mark.parametrize("key", ["norm", "products", "requirements", "between"])
def test_no_weight_may_be_negative(key, weight):
    model, e = files("values")
    entry = {
        "products": [weight, ["1"], ["1"]],
        "requirements": [weight, 0, -1],
        "between": [weight, 0, 1000.0, 1001.0],
    }
    for node in leaves_of(e):
        node[key] = [weight] if key == "norm" else [*node[key], entry[key]]
    assert_not_proved(model, e, "negative")


def leaves_of(e):
    stack, found = [e["certificate"]["bound"]["tree"]], []
    while stack:
        node = stack.pop()
        if "below" in node:
            stack += [node["below"], node["above"]]
        else:
            found.append(node)
    return found


FATAL = {
    "a negative weight": [-1e3, ["1"], ["1"]],
    "a negative constant": [1e3, ["1"], ["a", -1.0, []]],
    "negative functions": [1e3, ["a", -1.0, []], ["a", 1.0, []]],
}


@pytest.mark.parametrize("name", ["cholesky 1", "cholesky 2", "cholesky inf"])
@pytest.mark.parametrize("product", FATAL)
def test_what_would_refute_everything_is_refused(name, product):
    """Each of these makes the matrix definite at any level."""
    model, e = files(name)
    count = 4 if name == "cholesky inf" else 1
    e["certificate"]["bound"]["tree"] = blank(9.0, norm=[1.0] * count, products=[FATAL[product]])
    e["lower_bound"] = 9.0
    assert_not_proved(model, e, "negative")


def test_an_affine_function_is_exact_to_the_last_digit():
    model, e = files("cholesky inf")
    leaf = leaf_of(e)
    for slopes in ([[0, 1.0]], [[0, 1.0], [2, -0.25]]):
        reach = leaf["level"] * sum(abs(y) for _, y in slopes)
        size = math.nextafter(reach, math.inf)
        leaf["products"].append([0.0, ["a", size, slopes], ["1"]])
        assert lower_bound_of(model, e).verdict == exact.HOLDS
        leaf["products"][-1][1][1] = math.nextafter(size, 0) if Fraction(size) > reach else reach
        leaf["products"][-1][1][1] = math.nextafter(reach * (1 - 1e-15), 0)
        assert_not_proved(model, e, "may be negative")
        leaf["products"].pop()


@pytest.mark.parametrize("name", ["cholesky 1", "cholesky 2", "cholesky inf", "by feature"])
def test_dual_norms_bound_affine_functions(name):
    """c = level times the dual norm of (3, 4) does, a little less does not."""
    model, e = files(name)
    case = exact.read_case([model], e)
    setting = exact.bound_setting(case)
    proof = exact.read_proof(setting, e["certificate"]["bound"])
    piece = exact.Piece(proof, 2.0, [])
    dual = {1.0: 4.0, 2.0: 5.0, INF: 7.0}[setting.norm]
    slopes = [[0, 3.0], [1, -4.0]]
    assert exact.sloped(piece, ["a", 2 * dual, slopes])
    with pytest.raises(exact.FaultError):
        exact.sloped(piece, ["a", 2 * dual * (1 - 1e-15), slopes])


def test_cuts_of_u_bound_affine_functions():
    model, e = files("cholesky inf")
    proof = exact.read_proof(exact.bound_setting(exact.read_case([model], e)), e["certificate"]["bound"])
    node = {"cut": [["u", 0], -0.5], "below": None, "above": None}
    above, below = (exact.Piece(proof, 2.0, [exact.step(proof, node, side)]) for side in ("above", "below"))
    assert exact.sloped(above, ["a", 0.5, [[0, 1.0]]])
    assert exact.sloped(below, ["a", -0.5, [[0, -1.0]]])
    for piece, entry in ((below, ["a", 0.5, [[0, 1.0]]]), (above, ["a", -0.5, [[0, -1.0]]])):
        with pytest.raises(exact.FaultError):
            exact.sloped(piece, entry)


def test_what_holds_at_one_level_is_not_taken_for_another():
    """Functions that the dual norm showed are kept with their level, for the same proof."""
    model, e = files("cholesky inf")
    proof = exact.read_proof(exact.bound_setting(exact.read_case([model], e)), e["certificate"]["bound"])
    entry = ["a", 2.0, [[0, 1.0]]]
    for level, shown in ((1.0, True), (3.0, False), (2.0, True), (1.0, True)):
        piece = exact.Piece(proof, level, [])
        if shown:
            assert exact.sloped(piece, entry).entries == [(0, 1), (4, 2)]
        else:
            with pytest.raises(exact.FaultError):
                exact.sloped(piece, entry)
    with pytest.raises(exact.UnreadableError):  # true is no number, whatever equals it
        exact.sloped(exact.Piece(proof, 1.0, []), ["a", 2.0, [[0, True]]])


def test_an_infinite_level_bounds_nothing():
    model, e = files("cholesky inf")
    proof = exact.read_proof(exact.bound_setting(exact.read_case([model], e)), e["certificate"]["bound"])
    piece = exact.Piece(proof, math.inf, [])
    assert exact.sloped(piece, ["a", 0.0, [[0, 0.0]]])
    with pytest.raises(exact.FaultError):
        exact.sloped(piece, ["a", 1e300, [[0, 1e-300]]])
    e["certificate"]["bound"]["tree"] = blank("inf", norm=[1.0] * 4)
    assert_not_proved(model, e, "do not fit")


@pytest.mark.parametrize(
    ("name", "norm"),
    [("cholesky 1", [1.0] * 4), ("cholesky 2", []), ("cholesky inf", [1.0]), ("dag 2", [1.0, 1.0])],
)
def test_the_norm_has_as_many_weights_as_it_needs(name, norm):
    model, e = files(name)
    leaf_of(e)["norm"] = norm
    leaf_of(e)["cross"] = []
    assert lower_bound_of(model, e).verdict == exact.NOT_PROVED


@functools.cache
def crossed_files():
    """A leaf for p = 1 beyond the distance of the point, with a cross weight that is too large.

    Ends of the domain keep the point off the axes, where the cross weights matter.
    """
    clf = small(2, seed=1)
    m = mean_of(clf, "a")
    far = np.array(explained(clf, question(clf, m, "b", norm=2, budget=0.0))["counterfactual"]["values"])
    low, high = np.minimum(m, far) - 0.02, np.maximum(m, far) + 0.02
    posed = question(clf, m, "b", norm=1, budget=0.0, low=low, high=high)
    e = explained(clf, posed)
    geo = handmade.Geometry((clf,), posed)
    matrix = geo.homogeneous(geo.g[0], geo.factual, np.eye(2))
    prover = handmade.Prover(geo.D, 1, [(0, -1, matrix)], geo=geo, cross_limit=1.9)
    for share in (1.2, 1.1, 1.05, 1.02, 1.01):
        leaf = prover.leaf(share * e["distance"], ())
        if leaf is not None:
            e["certificate"]["bound"]["tree"], e["lower_bound"] = leaf, leaf["level"]
            return json.dumps(handmade.model_document(clf)), json.dumps(e)
    raise AssertionError("no forgery was found")


def crossed():
    model, e = map(json.loads, crossed_files())
    return model, e, e["certificate"]["bound"]["tree"]


def test_a_cross_weight_may_not_exceed_the_norms():
    model, e, leaf = crossed()
    assert abs(leaf["cross"][0][2]) > leaf["norm"][0]
    assert_not_proved(model, e, "exceeds")


def test_a_pair_of_cross_comes_once():
    """Twice the same pair within the limit is as much as once beyond it."""
    model, e, leaf = crossed()
    i, j, x = leaf["cross"][0]
    leaf["cross"] = [[i, j, x / 2], [i, j, x / 2]]
    assert_not_proved(model, e, "twice")
    leaf["cross"] = [[i, j, x / 2], [j, i, x / 2]]
    assert_not_proved(model, e, "not in order")


@pytest.mark.parametrize("side", ["below", "above"])
def test_both_sides_of_a_cut_are_looked_at(side):
    """The other side is empty for every level; this one is not proved at all."""
    model, e = files("cholesky inf")
    other = "above" if side == "below" else "below"
    at = 100.0 if side == "below" else -100.0
    level = leaf_of(e)["level"]
    e["certificate"]["bound"]["tree"] = {"cut": [["u", 0], at], side: blank(level), other: blank(level)}
    assert_not_proved(model, e, "not negative everywhere")
    e["certificate"]["bound"]["tree"][side] = None
    assert_not_proved(model, e, "left open")
    honest_leaf = leaf_of(files("cholesky inf")[1])
    e["certificate"]["bound"]["tree"][side] = honest_leaf
    assert lower_bound_of(model, e).verdict == exact.HOLDS


def test_the_sides_of_a_cut_are_not_exchanged():
    model, e = files("cuts")
    tree = e["certificate"]["bound"]["tree"]
    tree["below"], tree["above"] = tree["above"], tree["below"]
    assert lower_bound_of(model, e).verdict == exact.NOT_PROVED


def test_the_least_level_counts():
    model, e = files("cuts")
    leaves_of(e)[3]["level"] *= 0.5
    assert_not_proved(model, e, "claimed")
    e["lower_bound"] *= 0.5
    assert lower_bound_of(model, e).verdict == exact.HOLDS


def stretched(entry, factor):
    """A product whose constants are large enough for a level that is larger by this factor."""
    forms = [["a", f[1] * factor, f[2]] if f[0] == "a" else f for f in entry[1:]]
    return [entry[0], *forms]


@pytest.mark.parametrize("name", ["cholesky 1", "cholesky 2", "cholesky inf"])
def test_a_level_beyond_the_proof_is_not_proved(name):
    model, e = files(name)
    leaf_of(e)["level"] = e["lower_bound"] = 1.3 * e["distance"]
    leaf_of(e)["products"] = [stretched(entry, 1.5) for entry in leaf_of(e)["products"]]
    assert_not_proved(model, e, "not negative everywhere")
    leaf_of(e)["level"] = -1.3 * e["distance"]
    assert_not_proved(model, e, "level is negative")


def test_a_bound_above_the_proven_level_is_not_proved():
    model, e = files("cholesky inf")
    e["lower_bound"] = math.nextafter(e["lower_bound"], 9)
    assert_not_proved(model, e, "claimed")


def far_scenario(name, move):
    """A leaf that uses a requirement under a huge perturbation: it holds nowhere near the factual."""
    model, e = files(name)
    clf, posed = (banknote(), e["question"])
    geo = handmade.Geometry((clf,), posed)
    d = np.asarray(move(geo), dtype=float)
    matrix = geo.homogeneous(geo.g[0], geo.factual + d, np.eye(geo.n))
    prover = handmade.Prover(geo.D, geo.p, [(0, 0, matrix)], scenarios=[d], geo=geo)
    level = 1.5 * e["distance"]
    leaf = prover.leaf(level, ())
    assert leaf is not None
    e["certificate"]["bound"], e["lower_bound"] = prover.document(leaf), level
    return model, json.loads(json.dumps(handmade.plain(e)))


def away(geo):
    return -3.0 * (geo.clf.networks_[1].means - geo.factual)


def test_a_scenario_outside_the_ball_proves_nothing():
    model, e = far_scenario("cholesky inf", away)
    assert_not_proved(model, e, "outside the ball")


def test_a_scenario_may_not_move_an_exact_feature():
    def move(geo):
        return np.where(np.arange(4) == 1, -400.0, 0.0)

    model, e = far_scenario("exactly one", move)
    assert_not_proved(model, e, "outside the ball")


@pytest.mark.parametrize("name", ["cholesky 1", "cholesky 2", "cholesky inf", "exactly zca", "by feature"])
def test_the_ball_is_exact_to_the_last_digit(name):
    model, e = files(name)
    ball = exact.read_case([model], e).perturbations
    geo = handmade.Geometry((small(3) if name == "by feature" else banknote(),), e["question"])
    k = len(geo.free)
    w = np.eye(k)[0] * geo.budget
    if name == "by feature":
        inside = geo.embed(w)
        inside[0] = e["question"]["ball"]["budget"]["0"][1]
        assert ball.contains(inside.tolist())
        inside[0] = math.nextafter(inside[0], 9)
        assert not ball.contains(inside.tolist())
        return
    d = geo.embed(w)
    assert ball.contains((d * (1 - 1e-14)).tolist())
    assert not ball.contains((d * (1 + 1e-14)).tolist())
    assert ball.contains((d * (1 + 1e-14)).tolist(), exact.AGREE)


def choice_everywhere(e, j, reach=100.0):
    """A choice whose two sides lie far beyond the level: it excludes everything."""
    level, now = 1.5 * e["distance"], e["question"]["factual"][j]
    a, b = now - reach, now + reach
    leaf = blank(level, norm=[1.0], products=[[10.0, ["c", 0], ["1"]]])
    e["certificate"]["bound"]["tree"] = {"choice": [j, a, b], "below": leaf, "above": leaf}
    e["lower_bound"] = level
    return e


@pytest.mark.parametrize("j", [0, 1, 2])
def test_a_choice_may_not_skip_what_the_feature_may_be(j):
    """Whole numbers, listed values, and a feature without a set."""
    model, e = files("values")
    assert_not_proved(model, choice_everywhere(e, j), "skips")


def test_a_choice_would_exclude_everything_if_it_could():
    """The forgery above is a good one: only the choice is wrong with it."""
    model, e = files("values")
    choice_everywhere(e, 1)
    now = e["question"]["factual"][1]
    domain = e["question"]["domain"]
    domain["sets"][1]["values"] = [now - 100, now + 100]
    e["question"]["factual"][1] = e["factual"]["values"][1] = now
    case = exact.read_case([model], e)
    proof = exact.read_proof(exact.bound_setting(case), e["certificate"]["bound"])
    with pytest.raises(exact.FaultError, match="skips"):  # today's value lies between
        exact.proven_level(proof)
    object.__setattr__(
        case.question, "factual", [*case.question.factual[:1], now - 200, *case.question.factual[2:]]
    )
    assert exact.proven_level(proof) == e["lower_bound"]


def test_nothing_between_looks_at_all_of_a_set():
    _, e = files("values")
    e["question"]["factual"][0] = 0.5
    e["question"]["domain"]["sets"][1]["values"] = [-1.0, 0.25, 2.0]
    e["question"]["factual"][1] = 0.25
    asked_ = exact.read_question(e["question"])
    assert asked_.nothing_between(0, 1.0, 2.0)
    assert asked_.nothing_between(0, 0.5, 1.0)
    assert asked_.nothing_between(0, 1.25, 1.75)
    assert not asked_.nothing_between(0, 0.0, 1.0)  # today's value
    assert not asked_.nothing_between(0, 0.75, 1.25)
    assert not asked_.nothing_between(0, 2.0, 1.0)
    assert not asked_.nothing_between(0, 2.0, 2.0)
    assert asked_.nothing_between(1, -1.0, 0.25)
    assert not asked_.nothing_between(1, -1.0, 2.0)
    assert not asked_.nothing_between(2, 0.1, 0.2)
    assert asked_.allows(0, 3.0)
    assert asked_.allows(0, 0.5)
    assert not asked_.allows(0, 0.75)
    assert asked_.allows(1, 2.0)
    assert not asked_.allows(1, 1.0)


def test_between_would_exclude_everything_if_it_could():
    model, e = files("values")
    now, level = e["question"]["factual"][1], 1.5 * e["distance"]
    leaf = blank(level, norm=[1.0], between=[[1.0, 1, now - 100.0, now + 100.0]])
    e["certificate"]["bound"]["tree"], e["lower_bound"] = leaf, level
    assert_not_proved(model, e, "may lie between")


def test_a_feature_is_fixed_only_where_its_ends_are_equal():
    """A proof for a kept feature says nothing once the feature may move."""
    clf, m = small(3), start()
    geo = handmade.Geometry((clf,), asked())
    free, _ = handmade.robust_point(geo)
    j = int(np.argmax((free - m) / unit()))
    low, high = np.full(3, -INF), np.full(3, INF)
    low[j] = high[j] = m[j]
    held = asked(low=low, high=high)
    high[j] += 9
    rising = asked(low=low, high=high)
    x, scenarios = handmade.robust_point(handmade.Geometry((clf,), held))
    nearer, farther = geo.distance(free), geo.distance(x)
    assert farther > nearer * 1.01
    level = nearer + 0.7 * (farther - nearer)
    proof = handmade.bound_proof(handmade.Geometry((clf,), held), level, scenarios)
    model, found = json.loads(json.dumps(handmade.model_document(clf))), []
    for posed in (held, asked(), rising):
        e = handmade.document((clf,), posed, x=x, bound=proof, lower_bound=level, status="time_limit")
        found.append(lower_bound_of(model, json.loads(json.dumps(e))).verdict)
    assert found == [exact.HOLDS, exact.NOT_PROVED, exact.NOT_PROVED]


def test_infeasible_needs_a_level_beyond_the_domain():
    model, e = files("infeasible")
    leaf_of(e)["level"] *= 0.99
    assert_not_proved(model, e, "reaches farther")
    model, e = files("infeasible")
    e["question"]["domain"]["high"][0] = "inf"
    leaf = leaf_of(e)
    leaf["products"] = [entry for entry in leaf["products"] if ["x", 0, "high"] not in entry]
    assert lower_bound_of(model, e).verdict == exact.NOT_PROVED


def test_weights_of_any_size_are_taken_exactly():
    model, e = files("cholesky inf")
    for node in leaves_of(e):
        node["products"] += [[5e-324, ["1"], ["1"]], [5e-324, ["a", 1e300, []], ["a", 5e-324, []]]]
    assert lower_bound_of(model, e).verdict == exact.HOLDS
    for node in leaves_of(e):
        node["norm"] = [w * 1e300 for w in node["norm"]]
        for key in ("products", "requirements"):
            node[key] = [[entry[0] * 1e300, *entry[1:]] for entry in node[key]]
    assert lower_bound_of(model, e).verdict == exact.HOLDS
    leaves_of(e)[0]["products"].append([1e300, ["1"], ["1"]])
    assert_not_proved(model, e, "not negative everywhere")


def test_trees_may_be_deep_but_not_endless():
    model, e = files("cholesky inf")
    leaf, level = leaf_of(e), leaf_of(e)["level"]

    def chain(depth):
        node = leaf
        for _ in range(depth):
            node = {"cut": [["u", 0], 100.0], "below": node, "above": blank(level)}
        return node

    e["certificate"]["bound"]["tree"] = chain(60)
    assert lower_bound_of(model, e).verdict == exact.HOLDS
    e["certificate"]["bound"]["tree"] = chain(5000)
    with pytest.raises(exact.UnreadableError, match="splits"):
        exact.check([model], e)


def test_a_leaf_can_be_decided_alone():
    model, e = files("cuts")
    case = exact.read_case([model], e)
    proof = exact.read_proof(exact.bound_setting(case), case.bound)
    path, node = [], case.bound["tree"]
    for side in ("below", "above", "below", "below", "above"):
        path.append((node, side))
        node = node[side]
    assert leaf_holds(proof, node, path)
    worse = copy.deepcopy(node)
    worse["level"] *= 3
    assert not leaf_holds(proof, worse, path)
    assert not leaf_holds(proof, blank(0.1, products=[[-1.0, ["1"], ["1"]]]), [])
    assert not leaf_holds(proof, node, [({"choice": [0, 1.0, 2.0], "below": 0, "above": 0}, "below"), *path])
    assert exact.proven_level(proof, decide=lambda leaf, way: "") == leaf_of(e)["level"]


# ----- robustness ------------------------------


def robustness_of(model, e):
    return next(claim for claim in exact.check([model], e) if claim.name == "robustness")


def robust_leaf(e, number=0):
    return e["certificate"]["robustness"]["proofs"][number]["tree"]


def assert_not_robust(model, e, text, verdict=exact.NOT_PROVED):
    claim = robustness_of(model, e)
    assert claim.verdict == verdict
    assert text in claim.reason, claim.reason


def larger(e, factor, levels=True):
    proof = e["certificate"]["robustness"]
    proof["radius"] *= factor
    e["certified_radius"] *= factor
    for tree in proof["proofs"] if levels else []:
        leaf = tree["tree"]
        leaf["level"] *= factor
        leaf["products"] = [stretched(entry, factor * 1.0001) for entry in leaf["products"]]
    return e


@pytest.mark.parametrize("name", ["cholesky 1", "cholesky 2", "cholesky inf", "exactly dag", "by feature"])
def test_a_radius_must_be_proved(name):
    model, e = files(name)
    assert_not_robust(model, larger(e, 1.01), "not negative everywhere")
    model, e = files(name)
    assert_not_robust(model, larger(e, 1.01, False), "not negative" if name == "by feature" else "only")
    model, e = files(name)
    e["certified_radius"] = math.nextafter(e["certified_radius"], 9)
    assert_not_robust(model, e, "only")
    model, e = files(name)
    e["certificate"]["robustness"] = None
    assert_not_robust(model, e, "no certificate")


def test_slack_must_be_proved():
    model, e = files()
    e["certificate"]["robustness"]["slack"] += 0.005
    assert_not_robust(model, e, "not negative everywhere")
    e["certificate"]["robustness"]["slack"] = -1.0
    assert_not_robust(model, e, "negative")


def test_every_robust_requirement_has_its_proof():
    model, e = files("three classes")
    proofs = e["certificate"]["robustness"]["proofs"]
    proofs.reverse()
    assert_not_robust(model, e, "not negative everywhere")
    proofs.pop()
    with pytest.raises(exact.UnreadableError, match="entries"):
        exact.check([model], e)


def test_a_budget_by_feature_is_a_box_off_centre():
    model, e = files("by feature")
    for ends in (e["question"]["ball"]["budget"]["0"], e["budget"]["0"]):
        ends.reverse()
    assert_not_robust(model, e, "not negative everywhere")


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"cut": [["x", 0], 100.0]}, "not known here"),
        ({"cut": [["r", 0], 100.0]}, "not known here"),
        ({"choice": [0, 1.0, 2.0]}, "not known here"),
    ],
)
def test_robustness_knows_no_domain(entry, text):
    model, e = files("values")
    tree = e["certificate"]["robustness"]["proofs"][0]["tree"]
    e["certificate"]["robustness"]["proofs"][0]["tree"] = {**entry, "below": tree, "above": tree}
    assert_not_robust(model, e, text)


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("products", [0.0, ["x", 0, "low"], ["1"]]),
        ("products", [0.0, ["r", 0, "low"], ["1"]]),
        ("between", [0.0, 0, 1.0, 2.0]),
        ("requirements", [0.0, 0, 0]),
        ("requirements", [0.0, 1, -1]),
    ],
)
def test_robustness_has_one_requirement_and_nothing_else(key, entry):
    model, e = files("values")
    robust_leaf(e)[key].append(entry)
    assert robustness_of(model, e).verdict == exact.NOT_PROVED


def test_robustness_has_no_scenarios():
    model, e = files()
    proof = e["certificate"]["robustness"]["proofs"][0]
    proof["scenarios"] = [[0.0] * 4]
    assert robustness_of(model, e).verdict == exact.HOLDS
    proof["scenarios"] = [[1e-300, 0.0, 0.0, 0.0]]
    assert_not_robust(model, e, "outside the ball")


@pytest.mark.parametrize("budget", [0.1, {0: (0.1, 0.3)}])
def test_an_infinite_radius_can_be_proved(budget):
    """A requirement that holds everywhere: a threshold that no point can miss."""
    clf = copy.deepcopy(small(2, seed=3, structure="naive"))
    wide = clf.networks_[0]
    clf.networks_ = tuple(type(wide)(wide.dag, wide.weights, wide.means, np.full(2, v)) for v in (0.5, 1.0))
    posed = question(clf, wide.means, "b", threshold=1e-6, budget=budget, norm=2)
    geo = handmade.Geometry((clf,), posed)
    robustness = handmade.robustness_proof(geo, geo.factual, INF, 0.0, first=[("cut", [["u", 0], 0.0])])
    e = handmade.document(
        (clf,), posed, x=geo.factual, robustness=robustness, radius=INF, status="already_target"
    )
    model, e = (json.loads(json.dumps(d)) for d in (handmade.model_document(clf), e))
    assert e["certified_radius"] == "inf"
    assert set(verdicts(model, e).values()) == {exact.HOLDS}
    assert "worst case" not in verdicts(model, e)
    robust_leaf(e)["below"]["level"] = 1e300
    assert robustness_of(model, e).verdict == exact.NOT_PROVED


@pytest.mark.parametrize(
    ("radius", "coverage", "verdict"),
    [
        (0.05, 0.9, exact.FAILS),
        (0.025, 1.0, exact.FAILS),
        (0.025, 0.5, exact.HOLDS),
        (-0.01, 0.0, exact.FAILS),
        (None, 1.0, exact.FAILS),
        (0.0, 0.0, exact.HOLDS),
        (0.05, None, exact.FAILS),
        ("inf", 1.0, exact.NOT_PROVED),
    ],
)
def test_coverage_follows_from_the_radius(radius, coverage, verdict):
    model, e = files()
    e["certified_radius"], e["coverage"] = radius, coverage
    assert robustness_of(model, e).verdict == verdict


# ----- the worst case ------------------------------


def worst_of(model, e):
    return {claim.name: claim for claim in exact.check([model], e)}.get("worst case")


def test_the_worst_case_is_computed_again():
    for key in ("worst_probability", "violation"):
        for value in (None, 0.7, "inf", 1e300):
            model, e = files()
            e[key] = value
            assert worst_of(model, e).verdict == exact.FAILS


def test_the_worst_perturbation_lies_in_the_ball():
    for name in ("cholesky 1", "cholesky 2", "cholesky inf", "exactly one", "by feature"):
        model, e = files(name)
        e["certificate"]["worst"] = [2 * d for d in e["certificate"]["worst"]]
        assert "outside the ball" in worst_of(model, e).reason
    model, e = files("exactly one")
    e["certificate"]["worst"][1] = 1e-300
    assert "outside the ball" in worst_of(model, e).reason
    model, e = files()
    e["certificate"]["worst"] = [1e308] * 4
    e["counterfactual"]["values"] = [1.7e308] * 4
    assert "outside the ball" in worst_of(model, e).reason


def test_that_nothing_is_worse_needs_the_slack():
    model, e = files("already")
    e["certificate"]["robustness"]["slack"] = 0.0
    assert e["violation"] < -1
    assert robustness_of(model, e).verdict == exact.HOLDS
    assert worst_of(model, e).verdict == exact.NOT_PROVED


def test_that_nothing_is_worse_needs_the_whole_budget():
    model, e = files("already")
    e["certificate"]["robustness"]["radius"] *= 0.9
    assert worst_of(model, e).verdict == exact.NOT_PROVED
    e["certified_radius"], e["coverage"] = 0.01, 0.2
    assert robustness_of(model, e).verdict == exact.HOLDS
    assert "not excluded" in worst_of(model, e).reason


def test_no_worst_case_is_none():
    model, e = files()
    e["certificate"]["worst"] = None
    assert worst_of(model, e).verdict == exact.FAILS
    e["worst_probability"], e["violation"] = None, "inf"
    assert worst_of(model, e) is None


def test_a_perturbation_that_undoes_the_decision_is_told():
    clf, posed = banknote(), files()[1]["question"]
    geo = handmade.Geometry((clf,), posed)
    x = np.array(files("no budget")[1]["counterfactual"]["values"])
    e = handmade.document((clf,), posed, x=x, worst=handmade.worst_of(geo, x), status="time_limit")
    model, e = files()[0], json.loads(json.dumps(e))
    assert e["violation"] > 0
    assert "undoes" in worst_of(model, e).reason
    assert worst_of(model, e).verdict == exact.HOLDS


# ----- model, question, geometry ------------------------------


def test_another_model_is_not_the_one():
    model, e = files()
    other = files("kept")[0]
    assert verdicts(other, e) == {"model": exact.FAILS}
    changed = copy.deepcopy(model)
    changed["model"]["networks"][0]["means"][0] += 1e-9
    assert "changed after" in reason(changed, e, "model")
    assert verdicts(changed["model"], e) == {"model": exact.FAILS}
    changed = copy.deepcopy(model)
    changed["model"]["feature_range"][0][0] -= 1
    assert verdicts(changed, e) == {"model": exact.FAILS}
    assert verdicts(changed["model"], e)["model"] == exact.HOLDS


def test_other_models_are_needed_if_requirements_name_them():
    one, two = banknote("tan"), banknote("naive")
    odds = {"kind": "odds", "model": 1, "target": 1, "rival": 0, "threshold": 0.5, "robust": True}
    posed = question(one, banknote_row(), 1, norm=2, extra=[odds], others=[two])
    e = json.loads(json.dumps(explained(one, posed, others=[two])))
    first, second = (json.loads(json.dumps(handmade.model_document(clf))) for clf in (one, two))
    assert {claim.verdict for claim in exact.check([first, second], e)} == {exact.HOLDS}
    assert [claim.verdict for claim in exact.check([first], e)] == [exact.FAILS]
    assert [claim.verdict for claim in exact.check([second, first], e)] == [exact.FAILS]
    e["question"]["requirements"][1]["model"] = 2
    assert [claim.verdict for claim in exact.check([first, second], e)] == [exact.HOLDS, exact.FAILS]


def set_in(e, path, value):
    *way, last = path
    for key in way:
        e = e[key]
    e[last] = value


QUESTIONS = {
    "other features": (["features"], ["a", "b", "c", "d"]),
    "no such class": (["target"], 7),
    "bool is no label": (["target"], True),
    "another class": (["factual_class"], 1),
    "another factual": (["factual", 0], 3.0),
    "low above high": (
        ["domain"],
        {
            "low": [9.0] * 4,
            "high": [8.0] * 4,
            "rows": [],
            "sets": [],
            "eithers": [],
            "limits": [],
            "declared": {},
        },
    ),
    "infinite low": (["domain", "low", 0], "inf"),
    "gap of one": (["gap"], 1.0),
    "negative gap": (["gap"], -0.1),
    "negative budget": (["ball", "budget"], -0.05),
    "another budget": (["ball", "budget"], 0.06),
    "another norm": (["distance", "norm"], 2),
    "another whitening": (["distance", "whitening"], "dag"),
    "a threshold that is lower": (["requirements", 0, "threshold"], 0.4),
    "a threshold of one": (["requirements", 0, "threshold"], 1.0),
    "not robust": (["requirements", 0, "robust"], False),
    "another target": (["requirements", 0, "target"], 0),
    "no rival": (["requirements", 0, "rival"], 1),
    "no such rival": (["requirements", 0, "rival"], 2),
    "no requirement": (["requirements"], []),
    "no such model": (["requirements", 0, "model"], -1),
    "exact features unsorted": (["ball", "exact"], [2, 1]),
    "a budget by feature for some": (["ball", "budget"], {"0": [1.0, 1.0]}),
    "values unsorted": (["domain", "sets"], [{"feature": 0, "values": [2.0, 1.0]}]),
    "values repeated": (["domain", "sets"], [{"feature": 0, "values": [2.0, 2.0]}]),
    "no values": (["domain", "sets"], [{"feature": 0, "values": []}]),
    "an empty row": (["domain", "rows"], [{"coefficients": [1.0] * 4, "low": 1.0, "high": 0.0, "name": ""}]),
}


@pytest.mark.parametrize("case", QUESTIONS)
def test_a_question_that_is_wrong_fails(case):
    path, value = QUESTIONS[case]
    model, e = files()
    set_in(e["question"], path, value)
    if case == "other features":
        for key in ("factual", "counterfactual", "unit", "expected_before", "expected_after", "z_score"):
            e[key]["names"] = value
    assert verdicts(model, e) == {"model": exact.HOLDS, "question": exact.FAILS}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("factual_class", 1),
        ("factual_class", False),
        ("target", 0),
        ("budget", 0.04),
        ("norm", 2),
        ("whitening", "zca"),
        ("threshold", 0.6),
        ("threshold", None),
        ("model", "0123456789abcdef"),
        ("budget", {}),
    ],
)
def test_what_the_file_repeats_is_the_questions(key, value):
    model, e = files()
    e[key] = value
    assert verdicts(model, e)["question"] == exact.FAILS


def test_a_budget_by_feature_is_well_formed():
    def changed(change):
        model, e = files("by feature")
        change(e["question"]["ball"])
        e["budget"] = e["question"]["ball"]["budget"]
        return verdicts(model, e)["question"]

    assert changed(lambda ball: None) == exact.HOLDS
    assert changed(lambda ball: ball.update(norm=2)) == exact.FAILS
    assert changed(lambda ball: ball.update(exact=[])) == exact.FAILS
    assert changed(lambda ball: ball["budget"].update({"1": [0.1, 0.1]})) == exact.FAILS
    assert changed(lambda ball: ball["budget"].update({"0": [-0.1, 0.1]})) == exact.FAILS


def test_a_factual_of_another_class_is_found():
    model, e = files()
    e["factual_class"] = e["question"]["factual_class"] = 1
    assert reason(model, e, "question") == "the factual belongs to another class"
    assert verdicts(model, e)["question"] == exact.FAILS


def test_a_factual_between_two_classes_is_not_decided():
    """Two equal classes: no enclosure can tell them apart."""
    clf = copy.deepcopy(small(2))
    clf.networks_, clf.class_prior_ = (clf.networks_[0], clf.networks_[0]), np.array([0.5, 0.5])
    posed = question(clf, clf.networks_[0].means, "b", budget=0.0)
    e = handmade.document((clf,), posed, status="undecided")
    model, e = (json.loads(json.dumps(d)) for d in (handmade.model_document(clf), e))
    assert verdicts(model, e)["question"] == exact.NOT_PROVED


def geometry_of(model, e):
    return {claim.name: claim for claim in exact.check([model], e)}["geometry"]


def turned(D, angle):
    turn = np.eye(4)
    turn[:2, :2] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    return turn @ D


@pytest.mark.parametrize("whitening", ["cholesky", "dag", "zca"])
@pytest.mark.parametrize(
    "change",
    [
        lambda D: turned(D, 0.3),
        lambda D: turned(D, 1e-12),
        lambda D: -D,
        lambda D: D * (1 + 1e-6),
        lambda D: D * (1 - 1e-6),
        lambda D: D * 0,
        lambda D: np.diag(np.diag(D)),
        lambda D: D + 1e-5 * np.eye(4),
        lambda D: D[::-1],
    ],
)
def test_a_metric_is_what_its_name_says(whitening, change):
    model, e = files(f"{whitening} inf")
    e["certificate"]["metric"] = np.asarray(change(np.array(e["certificate"]["metric"]))).tolist()
    assert geometry_of(model, e).verdict == exact.FAILS


def test_a_metric_may_be_rounded():
    for whitening in ("cholesky", "dag", "zca"):
        model, e = files(f"{whitening} inf")
        D = np.array(e["certificate"]["metric"]) * (1 + 1e-8)
        e["certificate"]["metric"] = D.tolist()
        assert geometry_of(model, e).verdict == exact.HOLDS


@pytest.mark.parametrize("name", ["exactly one", "exactly dag", "exactly zca"])
def test_a_ball_is_what_its_name_says(name):
    model, e = files(name)
    N = np.array(e["certificate"]["ball"])
    for changed in (None, N * (1 + 1e-6), N * (1 - 1e-6), -N, N.T + 0.1, N[::-1]):
        e["certificate"]["ball"] = None if changed is None else changed.tolist()
        assert geometry_of(model, e).verdict == exact.FAILS
    e["certificate"]["ball"] = [[1.0]]
    with pytest.raises(exact.UnreadableError, match="ball"):
        exact.check([model], e)


def test_without_a_ball_nothing_is_robust():
    model, e = files("exactly one")
    e["certificate"]["ball"] = None
    assert robustness_of(model, e).verdict == exact.NOT_PROVED
    assert worst_of(model, e).verdict == exact.FAILS


def test_without_a_metric_nothing_is_measured():
    model, e = files()
    e["certificate"] = written.blank_certificate()
    e["worst_probability"], e["violation"], e["early_stop"] = None, "inf", False
    found = verdicts(model, e)
    missing = {name for name, verdict in found.items() if verdict == exact.NOT_PROVED}
    assert missing == {"geometry", "distance", "robustness", "lower bound"}
    model, e = files("stopped")
    e["certificate"], e["lower_bound"] = written.blank_certificate(), 0.0
    assert "geometry" not in verdicts(model, e)
    assert set(verdicts(model, e).values()) == {exact.HOLDS}


# ----- status and numbers ------------------------------


STATUSES = {
    "unknown": ("cholesky inf", {"status": "fine"}),
    "another sentence": ("cholesky inf", {"message": "All is well."}),
    "no point though it says so": ("cholesky inf", {"counterfactual": None}),
    "a point though it says none": (
        "cholesky inf",
        {"status": "undecided", "message": Status.UNDECIDED.sentence},
    ),
    "a gap too large": ("cholesky inf", {"gap": 0.5, "lower_bound": 0.6}),
    "not covered": ("cholesky inf", {"coverage": 0.5, "certified_radius": 0.025}),
    "early stop": ("cholesky inf", {"early_stop": True}),
    "not the factual": (
        "cholesky inf",
        {"status": "already_target", "message": Status.ALREADY_TARGET.sentence},
    ),
    "moved": ("already", {"distance": 1e-300}),
    "finite": ("infeasible", {"lower_bound": 3.0}),
    "infinite": ("stopped", {"lower_bound": "inf"}),
    **{
        f"without a point: {key}": ("infeasible", {key: value})
        for key, value in (
            ("decision", "b"),
            ("probability", 0.5),
            ("worst_probability", 0.5),
            ("distance", 1.0),
            ("violation", 0.0),
            ("coverage", 1.0),
            ("certified_radius", 0.1),
            ("early_stop", True),
            ("density_percentile", 50.0),
        )
    },
}


@pytest.mark.parametrize("case", STATUSES)
def test_a_status_goes_with_the_other_fields(case):
    name, changes = STATUSES[case]
    model, e = files(name)
    e.update(changes)
    assert verdicts(model, e)["status"] == exact.FAILS


def test_minus_zero_is_not_zero_bit_for_bit():
    clf = copy.deepcopy(small(2))
    point = mean_of(clf, "b")
    point[0] = 0.0
    posed = question(clf, point, "b", budget=0.0)
    assert posed["factual_class"] == "b"
    e = json.loads(json.dumps(handmade.unchanged(clf, posed)))
    model = json.loads(json.dumps(handmade.model_document(clf)))
    assert verdicts(model, e)["status"] == exact.HOLDS
    e["counterfactual"]["values"][0] = -0.0
    assert verdicts(model, e)["status"] == exact.FAILS


NUMBERS = {
    "factual_probability": "probabilities",
    "probability": "probabilities",
    "distance": "distance",
    "gap": "gap",
    "violation": "worst case",
    "worst_probability": "worst case",
    "density_percentile": "context",
}


@pytest.mark.parametrize("key", NUMBERS)
def test_numbers_are_computed_again(key):
    model, e = files()
    value = e[key]
    for wrong in (
        value + 3e-9 * max(1, abs(value)) + 1e-6 * (key == "density_percentile"),
        None,
        "inf",
        "-inf",
        -value - 1,
    ):
        e[key] = wrong
        assert verdicts(model, e)[NUMBERS[key]] == exact.FAILS, wrong
    e[key] = value + 3e-10
    assert verdicts(model, e)[NUMBERS[key]] == exact.HOLDS


@pytest.mark.parametrize("key", ["unit", "expected_before", "expected_after", "z_score"])
def test_series_are_computed_again(key):
    model, e = files()
    e[key]["values"][2] *= 1 + 1e-7
    assert verdicts(model, e)["context"] == exact.FAILS
    e[key] = None
    assert verdicts(model, e)["context"] == exact.FAILS


def test_parents_and_decision_are_the_models():
    model, e = files()
    e["parents"] = [[], [], [], []]
    assert verdicts(model, e)["context"] == exact.FAILS
    for wrong in (0, None, True, "1", 7):
        model, e = files()
        e["decision"] = wrong
        assert verdicts(model, e)["probabilities"] == exact.FAILS


def test_data_far_from_zero_agree():
    """Sums of doubles lose digits there; the package's own numbers must still do."""
    rng = np.random.default_rng(1)
    codes = np.arange(200) % 2
    X = rng.normal(size=(200, 2)) * [1.0, 1e-6] + np.outer(codes, [3.0, 2e-6]) + [1e7, 5.0]
    clf = ConditionalGaussianNetworkClassifier().fit(X, codes)
    posed = question(clf, clf.networks_[0].means, 1, budget=0.0, norm=2)
    x = clf.networks_[1].means
    e = handmade.document((clf,), posed, x=x, worst=np.zeros(2), status="time_limit")
    model, e = (json.loads(json.dumps(d)) for d in (handmade.model_document(clf), e))
    found = verdicts(model, e)
    assert {name for name, verdict in found.items() if verdict != exact.HOLDS} == set()


def test_the_domain_is_exact():
    model, e = files("rows")
    row = e["question"]["domain"]["rows"][0]
    x = e["counterfactual"]["values"]
    value = Fraction(x[0]) - Fraction(x[1])
    for end, step_ in (("low", 1), ("high", -1)):
        here = copy.deepcopy(e)
        here["question"]["domain"]["rows"][0][end] = math.nextafter(float(value), step_ * math.inf)
        if not row["low"] <= here["question"]["domain"]["rows"][0][end] <= row["high"]:
            continue
        here["question"]["domain"]["rows"][0][end] = math.nextafter(
            float(value) + step_ * 1e-15, step_ * math.inf
        )
        assert verdicts(model, here)["domain"] == exact.FAILS
    e["question"]["domain"]["high"][2] = math.nextafter(x[2], -math.inf)
    assert reason(model, e, "domain") == "outside: x2"


def test_an_equation_holds_up_to_rounding():
    model, e = files("equation")
    row = e["question"]["domain"]["rows"][0]
    row["low"] = row["high"] = row["low"] + 1e-10
    assert verdicts(model, e)["domain"] == exact.HOLDS
    row["low"] = row["high"] = row["low"] + 1e-6
    assert verdicts(model, e)["domain"] == exact.FAILS


def test_values_are_exact():
    model, e = files("values")
    e["counterfactual"]["values"][0] += 1e-12
    assert verdicts(model, e)["domain"] == exact.FAILS


def weakened(method, excess, tol=1e-3):
    """A point that misses its requirement by a little."""
    clf, posed = banknote(), question(banknote(), banknote_row(), 1, norm=2, budget=0.0)
    geo = handmade.Geometry((clf,), posed)
    x, low, high = np.array(files("no budget")[1]["counterfactual"]["values"]), 0.5, 1.0
    for _ in range(80):
        middle = (low + high) / 2
        value = float(geo.g[0](geo.factual + middle * (x - geo.factual)))
        low, high = (middle, high) if value < -excess else (low, middle)
    x = geo.factual + high * (x - geo.factual)
    e = handmade.document(
        (clf,), posed, x=x, worst=np.zeros(4), method=method, tol=tol, lower_bound=geo.distance(x)
    )
    return files()[0], json.loads(json.dumps(e))


def test_validity_is_exact_and_a_solvers_word_proves_nothing():
    for method, excess, verdict in (
        ("certified", 1e-9, exact.FAILS),
        ("other", 1e-9, exact.FAILS),
        ("qcqp", 9e-4, exact.NOT_PROVED),
        ("milp", 9e-4, exact.NOT_PROVED),
        ("qcqp", 1.1e-3, exact.FAILS),
    ):
        model, e = weakened(method, excess)
        assert verdicts(model, e)["validity"] == verdict
    assert "within the tolerance" in reason(*weakened("qcqp", 9e-4), "validity")
    model, e = weakened("milp", 9e-4)
    e["lower_bound"], e["gap"] = e["distance"] / 2, 0.5
    assert verdicts(model, e)["status"] == exact.NOT_PROVED
    e["method"] = "another"
    assert verdicts(model, e)["status"] == exact.FAILS
    model, e = weakened("qcqp", 9e-4)
    assert verdicts(model, e)["lower bound"] == exact.NOT_PROVED
    e["status"], e["message"] = "time_limit", Status.TIME_LIMIT.sentence
    assert verdicts(model, e)["validity"] == exact.FAILS


def test_the_gap_follows():
    model, e = files()
    e["gap"] = e["gap"] / 2
    assert verdicts(model, e)["gap"] == exact.FAILS
    e["lower_bound"], e["gap"] = 2 * e["distance"], -1.0
    assert verdicts(model, e)["gap"] == exact.FAILS
    e["lower_bound"] = None
    assert verdicts(model, e)["gap"] == exact.FAILS
    assert verdicts(model, e)["lower bound"] == exact.FAILS


# ----- refused requests ------------------------------


def refused():
    model, e = files("stopped")
    blanks = ("question", "expected_before", "factual_class", "factual_probability")
    e.update(dict.fromkeys(blanks), status="invalid", message=Status.INVALID.sentence, lower_bound=0.0)
    e["unit"]["values"], e["factual"]["values"] = [None] * 3, [None] * 3
    e["certificate"] = written.blank_certificate()
    return model, e


def test_a_refused_request_proves_nothing():
    model, e = refused()
    assert verdicts(model, e) == {"model": exact.HOLDS, "refusal": exact.NOT_PROVED}
    e["model"] = "another"
    assert verdicts(model, e)["model"] == exact.FAILS


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("lower_bound", 1.0),
        ("lower_bound", None),
        ("distance", 0.0),
        ("coverage", 1.0),
        ("certified_radius", "inf"),
        ("probability", 0.9),
        ("factual_probability", 0.9),
        ("gap", 0.0),
        ("violation", -1.0),
        ("early_stop", True),
        ("counterfactual", {}),
        ("decision", "b"),
        ("certificate", {"bound": {}}),
        ("certificate", []),
        ("message", ""),
    ],
)
def test_a_refused_request_claims_nothing(key, value):
    model, e = refused()
    e[key] = value
    assert verdicts(model, e)["refusal"] == exact.FAILS


# ----- numbers ------------------------------


def minors(rows):
    """Leading minors of a symmetric matrix of whole numbers, by fractions."""
    size = len(rows)
    M = [[Fraction(rows[max(i, j)][min(i, j)]) for j in range(size)] for i in range(size)]
    found, total = [], Fraction(1)
    for k in range(size):
        if M[k][k] == 0:
            return [*found, Fraction(0)]
        total *= M[k][k]
        found.append(total)
        for i in range(k + 1, size):
            factor = M[i][k] / M[k][k]
            for j in range(k, size):
                M[i][j] -= factor * M[k][j]
    return found


def test_definite_is_never_wrong():
    rng = random.Random(0)
    accepted = 0
    for _ in range(400):
        n, bits = rng.randint(1, 6), rng.choice([3, 20, 400])
        B = [
            [rng.randint(-(2**bits), 2**bits) >> rng.choice([0, 0, bits]) for _ in range(n)] for _ in range(n)
        ]
        drop = rng.choice([0, 0, 1]) * rng.randint(0, 2 ** (bits // 2))
        rows = [[sum(map(int.__mul__, B[i], B[j])) - drop * (i == j) for j in range(i + 1)] for i in range(n)]
        found = exact.definite([list(row) for row in rows])
        accepted += found
        assert not found or all(m > 0 for m in minors(rows))
    assert accepted > 100


def test_definite_refuses_what_is_singular_or_nearly_so():
    assert exact.definite([])
    assert exact.definite([[1]])
    assert not exact.definite([[0]])
    assert not exact.definite([[-1]])
    assert not exact.definite([[1], [1, 1]])
    assert not exact.definite([[2**300], [2**300, 2**300]])
    assert exact.definite([[2**100], [2**100, 2**100 + 1]])  # needs the second precision
    assert not exact.definite([[2**400], [2**400, 2**400 + 1]])
    unit = 2**304  # indefinite, but definite once its entries are rounded down to multiples of the unit
    assert not exact.definite([[2**400], [2**400 + unit - 1, 2**400 + unit]])
    assert exact.definite([[1], [10**200, 10**400 + 10**399]])
    assert not exact.definite([[0], [0, 1]])
    singular = [[1], [2, 4], [3, 6, 9 + 2**70]]
    assert not exact.definite(singular)


def test_logarithms_are_enclosed():
    sharp = decimal.Context(prec=150)
    scale = decimal.Decimal(2**exact.PLACES)
    for above, below, times in (
        (1, 3, 1),
        (5, 2**1074, 2),
        (10**300, 7, -1),
        (2**53 - 1, 2**53, 2),
        (1, 1, 1),
    ):
        ratio = sharp.divide(decimal.Decimal(above), decimal.Decimal(below))
        true = sharp.multiply(sharp.ln(ratio), sharp.multiply(times, scale))
        found = exact.enclosed_log(above, below, times)
        assert found.low <= true <= found.high
        assert found.high - found.low <= 2
    doubles = exact.twice(0.1)
    assert (
        Fraction(doubles.low, 2**exact.PLACES) <= 2 * Fraction(0.1) <= Fraction(doubles.high, 2**exact.PLACES)
    )
    assert exact.twice(-5e-324) == exact.Enclosure(-1, 0)


def test_the_constant_of_the_circle():
    """Pi by Machin's formula."""
    with decimal.localcontext(decimal.Context(prec=130)):

        def arctan(k):
            powers = (
                decimal.Decimal(-1) ** n / (2 * n + 1) / decimal.Decimal(k) ** (2 * n + 1) for n in range(95)
            )
            return sum(powers)

        pi = 4 * (4 * arctan(5) - arctan(239))
        assert abs((2 * pi).ln() - exact.LOG_TWO_PI) < decimal.Decimal(10) ** -95


def value_at(quadratic, z):
    y = [*z, Fraction(1)]
    total = sum(
        (1 if i == j else 2) * v * y[i] * y[j]
        for i, row in enumerate(quadratic.rows)
        for j, v in enumerate(row)
    )
    return total / 2**quadratic.shift


def squares_at(network, x):
    """Sum of l_i(x)^2 / v_i, exactly."""
    offset = [Fraction(v) - Fraction(m) for v, m in zip(x, network.means, strict=True)]
    total = Fraction(0)
    for i, (row, variance) in enumerate(zip(network.weights, network.variances, strict=True)):
        left = offset[i] - sum(Fraction(w) * o for w, o in zip(row, offset, strict=True))
        total += left**2 / Fraction(variance)
    return total


def constant_of(case, entry):
    """Twice the constant of a requirement, to a hundred digits."""
    model = case.models[entry.model]
    own = model.networks[model.position(entry.label)]
    with decimal.localcontext(decimal.Context(prec=110)):

        def log(value):
            return decimal.Decimal(value).ln()

        if entry.kind == "density":
            circles = len(own.means) * exact.LOG_TWO_PI
            return Fraction(-sum(map(log, own.variances)) - circles - 2 * decimal.Decimal(entry.mark))
        t, o = model.position(entry.label), model.position(entry.rival)
        odds = (
            log(model.priors[t])
            - log(model.priors[o])
            - log(entry.mark)
            + (1 - decimal.Decimal(entry.mark)).ln()
        )
        return Fraction(2 * odds + sum(map(log, model.networks[o].variances)) - sum(map(log, own.variances)))


@pytest.mark.parametrize("name", ["cholesky inf", "density", "exactly one", "three classes", "threshold"])
def test_requirements_are_rounded_against_the_claimant(name):
    """The quadratic function of a proof is nowhere below the requirement, nor far above it."""
    model, e = files(name)
    case = exact.read_case([model], e)
    x, slack = case.point, 0.25
    bound, robust = exact.bound_setting(case), exact.robustness_settings(case, 0.05, slack)
    rng, tiny = random.Random(1), Fraction(1, 2**120)
    for r, entry in enumerate(case.question.requirements):
        room = 0 if entry.kind == "density" else 2 * Fraction(slack)
        for _ in range(5):
            there = [v + rng.gauss(0, 1) * (j in case.question.perturbed) for j, v in enumerate(x)]
            parts = bound.requirements[r].parts
            squares = sum(sign * squares_at(network, there) for sign, network in parts)
            value, margin = constant_of(case, entry) + squares, case.twice_margin(entry, there)
            assert margin.low <= value * 2**exact.PLACES <= margin.high
            z = [Fraction(a) - Fraction(b) for a, b in zip(there, case.question.factual, strict=True)]
            for needs, at, true in ((bound, z, value), (robust[r], None, room - value)):
                moved = [Fraction(there[j]) - Fraction(x[j]) for j in needs.moving] if at is None else at
                need = needs.requirements[0 if at is None else r]
                found = value_at(majorant(need, needs.origin, needs.moving), moved)
                assert true < found < true + tiny
                bare = majorant(need._replace(twice_constant=0), needs.origin, needs.moving)
                assert value_at(bare, moved) > (squares if at is not None else -squares)


def test_a_leaf_is_the_sum_of_its_entries():
    """Every kind of function and product, against their definitions."""
    model, e = files("cuts")
    e["question"]["domain"]["low"], e["question"]["domain"]["high"] = (
        [-30.5, -40.25, -50.0],
        [30.0, 41.0, 52.5],
    )
    e["question"]["domain"]["rows"][0]["low"] = -99.0
    case = exact.read_case([model], e)
    proof = exact.read_proof(exact.bound_setting(case), case.bound)
    path, node = [], case.bound["tree"]
    for side in ("below", "above", "below", "above"):
        path.append(exact.step(proof, node, side))
        node = node[side]
    piece, question_, rng = exact.Piece(proof, 0.75, path), case.question, random.Random(3)
    cuts = [case.bound["tree"]["cut"][1], None, None, None]
    node = case.bound["tree"]
    for k, side in enumerate(("below", "above", "below", "above")):
        cuts[k] = Fraction(node["cut"][1])
        node = node[side]
    direction = [Fraction(y) for y in case.bound["directions"][0]]
    for _ in range(30):
        z = [Fraction(rng.gauss(0, 1)) for _ in range(3)]
        x = [a + Fraction(b) for a, b in zip(z, question_.factual, strict=True)]
        u = [sum(Fraction(d) * v for d, v in zip(row, z, strict=True)) for row in case.metric]
        forms = [
            (["1"], Fraction(1)),
            (["c", 0], cuts[0] - u[0]),
            (["c", 1], x[0] + x[1] - cuts[1]),
            (["c", 2], cuts[2] - sum(map(Fraction.__mul__, direction, u))),
            (["c", 3], x[1] - cuts[3]),
            (["x", 0, "low"], x[0] + Fraction(30.5)),
            (["x", 2, "high"], Fraction(52.5) - x[2]),
            (["r", 0, "low"], x[0] + x[1] + 99),
            (["r", 0, "high"], 50 - x[0] - x[1]),
            (
                ["a", 5.25, [[0, 1.5], [2, -0.3]]],
                Fraction(5.25) + Fraction(1.5) * u[0] - Fraction(0.3) * u[2],
            ),
        ]
        terms, total, weights = [], Fraction(0), []
        for _ in range(4):
            (one, a), (other, b), weight = rng.choice(forms), rng.choice(forms), rng.random()
            terms.append(exact.product_term(piece, [weight, one, other]))
            total += Fraction(weight) * a * b
            weights.append(weight)
        norm = [rng.random() for _ in range(3)]
        terms += exact.norm_terms(piece, {"norm": norm, "cross": []})
        total += sum(Fraction(w) * (Fraction(0.75) ** 2 - v**2) for w, v in zip(norm, u, strict=True))
        need = exact.requirement_term(proof, [0.5, 0, 0])
        stated = majorant(proof.setting.requirements[0], proof.origin(0), [0, 1, 2])
        total += Fraction(0.5) * value_at(stated, z) / 2
        found = value_at(exact.Quadratic(exact.negated(proof, terms, [need], [0, 1, 2]), 0), z)
        ratio = found / (-2 * total)
        assert ratio > 0
        assert ratio.denominator == 1
        assert ratio.numerator.bit_count() == 1  # a power of two


def test_cross_weights_are_the_pages():
    model, e = files("cholesky 1")
    case = exact.read_case([model], e)
    proof = exact.read_proof(exact.bound_setting(case), case.bound)
    z = [Fraction(v) for v in (0.5, -0.25, 2.0, 1.5)]
    u = [sum(Fraction(d) * v for d, v in zip(row, z, strict=True)) for row in case.metric]
    weights = {"norm": [2.0], "cross": [[0, 2, -1.5], [1, 3, 0.5]]}
    terms = exact.norm_terms(exact.Piece(proof, 3.0, []), weights)
    total = 2 * 9 - 2 * sum(v**2 for v in u) + 3 * u[0] * u[2] - u[1] * u[3]
    ratio = value_at(exact.Quadratic(exact.negated(proof, terms, [], range(4)), 0), z) / (-2 * total)
    assert ratio > 0
    assert ratio.numerator.bit_count() == 1


def test_fixed_features_are_substituted():
    """The matrix on the subspace is that of the function with the values put in."""
    rng = random.Random(4)
    rows = [[rng.randint(-9, 9) for _ in range(i + 1)] for i in range(5)]
    fixed, unit_ = {1: 3, 3: -5}, 4
    small_ = exact.restricted(rows, fixed, unit_)
    for _ in range(5):
        a, b = Fraction(rng.randint(-9, 9)), Fraction(rng.randint(-9, 9))
        whole = value_at(exact.Quadratic(rows, 0), [a, Fraction(3, 4), b, Fraction(-5, 4)])
        y = [a * unit_, b * unit_]
        assert value_at(exact.Quadratic(small_, 0), y) / unit_**2 == whole


def test_denormal_and_huge_models_are_taken_exactly():
    """A variance of 5e-324 and one of 1e300, means and weights to match: slow at most, never wrong."""
    model, e = files()
    content = copy.deepcopy(model["model"])
    content["networks"][0]["variances"][0] = 5e-324
    content["networks"][1]["variances"][1] = 1e300
    content["networks"][0]["means"][2] = -1e300
    content["networks"][1]["weights"][1][2] = 5e-324
    read = exact.read_model(content)
    e["question"]["models"] = [read.fingerprint]
    e["model"] = read.fingerprint
    found = {claim.name: claim.verdict for claim in exact.check([content], e)}
    assert found["model"] == exact.HOLDS
    assert exact.FAILS in found.values()


# ----- files that cannot be read ------------------------------


def broken(path, value):
    def change(e):
        set_in(e, path, value)

    return change


def without(*path):
    def change(e):
        for key in path[:-1]:
            e = e[key]
        del e[path[-1]]

    return change


UNREADABLE = {
    "an unknown key": (broken(["extra"], 1), "extra"),
    "a missing key": (without("tol"), "tol"),
    "an unknown key of the question": (broken(["question", "extra"], 1), "extra"),
    "a missing key of the question": (without("question", "gap"), "gap"),
    "an unknown key of the certificate": (broken(["certificate", "extra"], 1), "extra"),
    "a missing key of the certificate": (without("certificate", "worst"), "worst"),
    "an unknown key of a leaf": (broken(["certificate", "bound", "tree", "bound"], 1), "bound"),
    "a missing key of a leaf": (without("certificate", "bound", "tree", "cross"), "cross"),
    "a newer file": (broken(["version"], 6), "version 6"),
    "an older file": (broken(["version"], 3), "version 3"),
    "a version that is true": (broken(["question", "version"], True), "version True"),
    "another format": (broken(["format"], "surefoot-model"), "surefoot-model"),
    "a newer question": (broken(["question", "version"], 5), "version 5"),
    "an older question": (broken(["question", "version"], 2), "version 2"),
    "a newer certificate": (broken(["certificate", "version"], 5), "version 5"),
    "an older certificate": (broken(["certificate", "version"], 2), "version 2"),
    "choices that are missing": (without("question", "choices"), "choices"),
    "choices that are null": (broken(["question", "choices"], None), "choices"),
    "warps that are missing": (without("question", "warps"), "warps"),
    "too few warps": (broken(["question", "warps"], [[None, 0.0, 1.0]]), "warps"),
    "states that are missing": (without("certificate", "states"), "states"),
    "states without categories": (broken(["certificate", "states"], {"trades": [], "proofs": []}), "states"),
    "a null question": (broken(["question"], None), "question"),
    "a null certificate": (broken(["certificate"], None), "certificate"),
    "a null factual": (broken(["question", "factual"], None), "factual"),
    "a null number": (broken(["question", "factual", 0], None), "factual"),
    "a true number": (broken(["question", "factual", 0], True), "True"),
    "a word for a number": (broken(["question", "factual", 0], "1.0"), "1.0"),
    "an infinite factual": (broken(["question", "factual", 0], "inf"), "inf"),
    "not a number": (broken(["question", "factual", 0], math.nan), "nan"),
    "an infinite double": (broken(["distance"], math.inf), "inf"),
    "a huge integer": (broken(["question", "factual", 0], 2**53 + 1), "9007199254740993"),
    "an endless integer": (broken(["question", "factual", 0], 10**5000), "huge"),
    "a short row": (broken(["question", "factual"], [1.0]), "1 entries"),
    "a list for an object": (broken(["question"], []), "object"),
    "a number for a list": (broken(["question", "requirements"], 5), "list"),
    "an unknown requirement": (broken(["question", "requirements", 0, "kind"], "luck"), "luck"),
    "an unknown norm": (broken(["question", "distance", "norm"], 3), "norm"),
    "an unknown whitening": (broken(["question", "distance", "whitening"], "pca"), "distance"),
    "a label that is a list": (broken(["question", "target"], []), "label"),
    "a feature that is not there": (broken(["question", "ball", "exact"], [4]), "4"),
    "a feature from the end": (broken(["question", "ball", "exact"], [-1]), "-1"),
    "a feature that is true": (broken(["question", "ball", "exact"], [True]), "True"),
    "a budget for no feature": (broken(["question", "ball", "budget"], {"9": [1.0, 1.0]}), "9"),
    "a budget for feature 01": (broken(["question", "ball", "budget"], {"01": [1.0, 1.0]}), "01"),
    "a set twice": (broken(["question", "domain", "sets"], [{"feature": 0, "values": None}] * 2), "two sets"),
    "declared is text": (broken(["question", "domain", "declared"], "x"), "declared"),
    "other names": (broken(["factual", "names", 0], "x"), "names"),
    "a metric of words": (broken(["certificate", "metric", 0, 0], "1"), "metric"),
    "a metric that is too small": (broken(["certificate", "metric"], [[1.0]]), "metric"),
    "a null weight": (broken(["certificate", "bound", "tree", "norm", 0], None), "weight"),
    "a weight that is no number": (broken(["certificate", "bound", "tree", "norm", 0], math.nan), "weight"),
    "a true index": (broken(["certificate", "bound", "tree", "requirements"], [[1.0, False, -1]]), "False"),
    "a double for an index": (
        broken(["certificate", "bound", "tree", "requirements"], [[1.0, 0.0, -1]]),
        "0.0",
    ),
    "an entry that is too short": (
        broken(["certificate", "bound", "tree", "products"], [[1.0, ["1"]]]),
        "products",
    ),
    "a form that is text": (
        broken(["certificate", "bound", "tree", "products"], [[1.0, "1", "1"]]),
        "affine",
    ),
    "an empty form": (broken(["certificate", "bound", "tree", "products"], [[1.0, [], ["1"]]]), "affine"),
    "a leaf that is text": (broken(["certificate", "bound", "tree"], "leaf"), "leaf"),
    "a cut without sides": (broken(["certificate", "bound", "tree"], {"cut": [["u", 0], 0.0]}), "below"),
    "a cut and a choice": (
        broken(["certificate", "bound", "tree"], {"cut": 0, "choice": 0, "below": 0, "above": 0}),
        "choice",
    ),
    "a cut at infinity": (
        broken(["certificate", "bound", "tree"], {"cut": [["u", 0], "inf"], "below": None, "above": None}),
        "inf",
    ),
    "a proof that is a list": (broken(["certificate", "bound"], []), "proof"),
    "a long scenario": (broken(["certificate", "bound", "scenarios"], [[0.0] * 5]), "scenarios"),
    "a worst perturbation that is short": (broken(["certificate", "worst"], [0.0]), "worst"),
    "robustness without a slack": (without("certificate", "robustness", "slack"), "slack"),
    "a status that is a number": (broken(["status"], 1), "status"),
    "early_stop that is a number": (broken(["early_stop"], 0), "early_stop"),
    "advice that is a list": (broken(["advice"], []), "advice"),
    "iterations that are null": (broken(["iterations"], None), "iterations"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_cannot_be_read_is_named(case):
    change, text = UNREADABLE[case]
    model, e = files("cholesky inf")
    change(e)
    with pytest.raises(exact.UnreadableError) as error:
        exact.check([model], e)
    assert text in str(error.value)
    assert "\n" not in str(error.value)


MODELS = {
    "null": (lambda m: None, "object"),
    "text": (lambda m: "model", "object"),
    "another version": (lambda m: m | {"version": 3}, "version 3; this checker reads 1 and 2"),
    "a version that is true": (lambda m: m | {"version": True}, "version True"),
    "another format": (lambda m: m | {"format": "surefoot-explanation"}, "surefoot-explanation"),
    "no content": (lambda m: {"format": "surefoot-model", "version": 1}, "content"),
    "an infinite number": (lambda m: m | {"model": m["model"] | {"rows": math.inf}}, "JSON"),
    "no networks": (lambda m: {k: v for k, v in m["model"].items() if k != "networks"}, "networks"),
    "no variance": (lambda m: changed_model(m, ["networks", 0, "variances", 0], 0.0), "variance"),
    "a weight too many": (lambda m: changed_model(m, ["networks", 0, "weights", 0, 1], 1.0), "edge"),
    "a cycle": (lambda m: changed_model(m, ["parents"], [[1], [2], [0], [1]]), "cycle"),
    "a parent of its own": (lambda m: changed_model(m, ["parents"], [[0], [2], [0], [1]]), "cycle"),
    "no such parent": (lambda m: changed_model(m, ["parents", 0], [4]), "4"),
    "a parent twice": (lambda m: changed_model(m, ["parents", 1], [2, 2]), "wrong"),
    "one class": (lambda m: changed_model(m, ["classes", "labels"], [0]), "wrong"),
    "a class twice": (lambda m: changed_model(m, ["classes", "labels"], [0, 0]), "differ"),
    "labels that are lists": (lambda m: changed_model(m, ["classes", "labels"], [[], []]), "differ"),
    "no prior": (lambda m: changed_model(m, ["class_prior"], [1.0, 0.0]), "class_prior"),
    "too few features": (lambda m: changed_model(m, ["features", "labels"], ["a"]), "wrong"),
    "no features": (
        lambda m: m["model"] | {"parents": [], "features": {"labels": []}},
        "wrong",
    ),
    "features that are null": (lambda m: changed_model(m, ["features"], None), "features"),
}


def changed_model(model, path, value):
    set_in(model["model"], path, value)
    return model["model"]


@pytest.mark.parametrize("case", MODELS)
def test_a_model_that_cannot_be_read_is_named(case):
    change, text = MODELS[case]
    model, e = files("cholesky inf")
    with pytest.raises(exact.UnreadableError) as error:
        exact.check([change(model)], e)
    assert text in str(error.value)


def test_no_model_at_all():
    for e in (files()[1], refused()[1]):
        with pytest.raises(exact.UnreadableError, match="no model"):
            exact.check([], e)


def positions(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from positions(item, (*path, key))


@pytest.mark.parametrize("start", only([0], [0, 140, 280]))
def test_any_change_is_judged_or_refused_but_never_crashes(start):
    rng = random.Random(5 + start)
    junk = [
        None,
        True,
        -1,
        0,
        3,
        1e300,
        -1e300,
        5e-324,
        "inf",
        "-inf",
        "x",
        [],
        {},
        [0],
        {"a": 0},
        2**60,
        math.nan,
        [[]],
    ]
    names = ["cholesky 1", "cuts", "values", "by feature", "exactly dag", "infeasible", "density"]
    for k in range(start, start + 140):
        model, e = files(names[k % len(names)])
        target = model["model"] if k % 7 == 0 else e
        path = rng.choice([p for p in positions(target) if p])
        set_in(target, path, copy.deepcopy(rng.choice(junk)))
        assert judged(model["model"], e) <= {exact.HOLDS, exact.FAILS, exact.NOT_PROVED, "unreadable"}


def judged(model, e):
    """The verdicts on a file that may be anything."""
    try:
        exact.words([model], e)
        return {claim.verdict for claim in exact.check([model], e)}
    except exact.UnreadableError as error:
        return {"unreadable" if "\n" not in str(error) else str(error)}


def test_larger_levels_are_never_proved_by_other_weights():
    """Beyond the distance of a point that holds exactly, every accepted proof would be a mistake."""
    rng = random.Random(6)
    for name in ("cholesky 1", "cholesky 2", "cholesky inf", "cuts", "kept", "values"):
        model, e = files(name)
        case = exact.read_case([model], e)
        for _ in range(12):
            bound = copy.deepcopy(case.bound)
            factor = rng.choice([1.0, 0.5, 2.0, 10.0])
            for leaf in leaves_of({"certificate": {"bound": bound}}):
                leaf["level"] = 1.001 * e["distance"]
                leaf["norm"] = [w * rng.choice([1.0, factor]) for w in leaf["norm"]]
                for key in ("products", "requirements"):
                    leaf[key] = [[v[0] * rng.choice([1.0, factor]), *v[1:]] for v in leaf[key]]
            proof = exact.read_proof(exact.bound_setting(case), bound)
            with pytest.raises(exact.FaultError):
                exact.proven_level(proof)


# ----- the command ------------------------------


@pytest.fixture
def on_disk(tmp_path):
    def write(model, e):
        paths = tmp_path / "model.json", tmp_path / "explanation.json"
        for path, content in zip(paths, (model, e), strict=True):
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return [str(path) for path in paths]

    return write


def test_the_command_runs_without_any_package(on_disk):
    paths = on_disk(*files("kept"))
    result = subprocess.run(
        [sys.executable, "-I", "-S", str(FILE), *paths], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Factual: x0 ")
    assert "Kept: x0" in lines
    assert sum(line.startswith("holds ") for line in lines) == 13


def test_the_file_imports_the_standard_library_alone():
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names)


def test_exit_status_and_verdicts(on_disk, capsys):
    model, e = files()
    assert exact.main(on_disk(model, e)) == 0
    e["distance"] += 1
    assert exact.main(on_disk(model, e)) == 1
    assert "FAILS      distance: claimed" in capsys.readouterr().out
    model, e = files()
    e["certificate"]["bound"] = None
    assert exact.main(on_disk(model, e)) == 1
    assert "not proved lower bound: claimed" in capsys.readouterr().out


def test_the_question_is_told_in_words(on_disk, capsys):
    m = start()
    bounds = np.array(files("rows")[0]["model"]["feature_range"])
    model, e = files("rows")
    e["question"]["domain"]["low"][1] = float(bounds[0, 1] + 0.1)
    e["question"]["domain"]["low"][2] = e["question"]["domain"]["high"][2] = float(m[2]) + 1
    e["question"]["domain"]["sets"] = [{"feature": 0, "values": None}]
    exact.main(on_disk(model, e))
    out = capsys.readouterr().out
    for text in (
        "Bounded: x1 to ",
        "Set: x2 to ",
        "Row row 0: ",
        "x0 - x1",
        "Values: x0 is a whole number",
        "norm inf",
    ):
        assert text in out
    exact.main(on_disk(*files("by feature")))
    assert "landing exactly: x1" in capsys.readouterr().out
    exact.main(on_disk(*files("density at the point")))
    assert "at the point alone: log density of b at least -5.5" in capsys.readouterr().out


def test_several_explanations(on_disk, capsys):
    (model, one), (_, two) = files("kept"), files("rows")
    one["row"], two["row"] = "Ada", None
    assert exact.main(on_disk(model, [one, two])) == 0
    out = capsys.readouterr().out
    assert "--- number 0, row Ada" in out
    assert "--- number 1\n" in out
    two["distance"] = 0.0
    assert exact.main(on_disk(model, [one, two])) == 1


TEXTS = {
    "nothing": ("", "not JSON"),
    "cut off": ('{"format": ', "not JSON"),
    "no explanation": ("[]", "holds no explanation"),
    "a number": ("5", "not a surefoot explanation"),
    "a list of numbers": ("[5]", "not a surefoot explanation"),
    "an object": ("{}", "format None"),
    "not a number": ('{"a": NaN}', "NaN"),
    "infinity": ('{"a": -Infinity}', "-Infinity"),
    "a key twice": ('{"a": 1, "a": 2}', "twice"),
    "deep lists": ("[" * 100000, "nested too deeply"),
    "deep objects": ('{"a":' * 100000, "nested too deeply"),
    "an endless integer": ('{"a": ' + "1" * 5000 + "}", "not JSON"),
    "version 1": (
        '{"status": "optimal", "factual": {}, "certified_radius": 0, "certificate": {}}',
        "surefoot 0.1",
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_file_that_is_none_gives_one_line(case, on_disk, capsys):
    text, message = TEXTS[case]
    assert exact.main(on_disk(files("kept")[0], text)) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert "explanation.json: " in error


def test_a_model_that_is_none_gives_one_line(on_disk, capsys, tmp_path):
    model, e = files("kept")
    assert exact.main(on_disk("[" * 100000, e)) == 2
    assert "model.json: is nested too deeply" in capsys.readouterr().err
    paths = on_disk(model, e)
    assert exact.main([*paths, str(tmp_path / "none.json")]) == 2
    assert "none.json: cannot be read (No such file or directory)" in capsys.readouterr().err
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    assert exact.main([paths[0], str(tmp_path / "bytes.json")]) == 2
    assert "bytes.json: is not UTF-8" in capsys.readouterr().err


def test_usage(capsys):
    assert exact.main([]) == 2
    assert exact.main(["model.json"]) == 2
    assert exact.main(["--help"]) == 0
    assert capsys.readouterr().err.count("usage: exact.py MODEL.json") == 3


def test_names_cannot_fake_lines(on_disk, capsys):
    model, e = files("rows")
    fake = "x\nholds      everything: indeed"
    e["question"]["domain"]["rows"][0]["name"] = fake
    e["row"] = fake
    e["method"] = "certified\x1b[2J"
    exact.main(on_disk(model, [e]))
    out = capsys.readouterr().out
    assert "\nholds      everything" not in out
    assert "\x1b" not in out


def test_names_that_a_terminal_cannot_show(on_disk):
    model, e = files("rows")
    e["question"]["domain"]["rows"][0]["name"] = "\ud800 größer"
    paths = on_disk(model, e)
    result = subprocess.run(
        [sys.executable, "-I", str(FILE), *paths],
        capture_output=True,
        check=False,
        env={"PYTHONIOENCODING": "ascii"},
    )
    assert result.returncode == 0
    assert b"Row " in result.stdout


def test_a_reader_that_goes_away_is_no_traceback(on_disk):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-I", "-S", str(FILE), *on_disk(*files("rows"))]
    result = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (result.returncode, result.stderr) == (2, b"")


def test_what_leaves_share_depends_on_what_moves_alone(monkeypatch):
    """A proof that has seen other leaves gives every matrix that a fresh one gives, and keeps few."""
    monkeypatch.setattr(exact, "KEPT_FRAMES", 3)
    model, e = files("cholesky 1")
    case = exact.read_case([model], e)
    seen = exact.read_proof(exact.bound_setting(case), case.bound)
    weights = {"norm": [2.0], "cross": [[0, 2, -1.5]]}
    sets = [moving for k in range(1, 5) for moving in itertools.combinations(range(4), k)]
    for moving in [*sets, *reversed(sets)]:
        fresh = exact.read_proof(exact.bound_setting(case), case.bound)
        found = []
        for proof in (seen, fresh):
            piece = exact.Piece(proof, 3.0, [])
            terms = [*exact.norm_terms(piece, weights), exact.product_term(piece, [0.5, ["1"], ["1"]])]
            needs = [(0.25, 0, -1), (0.5, 0, -1)]
            found.append(exact.negated(proof, terms, needs, moving))
        assert found[0] == found[1]
        assert len(seen._frames) <= 3
