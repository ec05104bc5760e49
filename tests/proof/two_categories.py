"""A file that can be checked in the head: two categories and one number.

The odds of class 1 are ``a`` plus 1/2 if k is "y" plus 1/4 if m is true. From a = -1, k = "x" and m = False
there are 1 to go; to change k costs 1/4, to change m 1/2. So the best is to change k and to go 1/2: 3/4
altogether.
"""

import copy
import math

from surefoot.proof import exact

INF = math.inf
UNIT = 1 << exact.PLACES


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
