"""A file that can be checked in the head: two numbers.

Two features, two classes with the means (-1, 0) and (1, 0) and variances of one. The log-odds are 2 x_0, and
the whitening is the identity.
"""

import copy
import math

from surefoot.proof import exact

INF = math.inf
ONE = [[1.0, 0.0], [0.0, 1.0]]


def network(*means, variances=(1.0, 1.0), weight=0.0):
    return {"weights": [[0.0, 0.0], [weight, 0.0]], "means": list(means), "variances": list(variances)}


def content(**changes):
    found = {
        "features": {"labels": ["a", "b"]},
        "classes": {"labels": [0, 1]},
        "class_prior": [0.5, 0.5],
        "parents": [[], [0]],
        "networks": [network(-1.0, 0.0), network(1.0, 0.0)],
        "feature_range": [[-4.0, -4.0], [4.0, 4.0]],
        "density_percentiles": [[k - 101.0 for k in range(101)]] * 2,
    }
    return copy.deepcopy(found | changes)


def values(*numbers):
    return {"names": ["a", "b"], "values": list(numbers)}


def chance(odds):
    return 1 / (1 + math.exp(-odds))


def odds(**changes):
    return {"kind": "odds", "model": 0, "target": 1, "rival": 0, "threshold": 0.5, "robust": True} | changes


def density(**changes):
    return {"kind": "density", "model": 0, "class": 1, "floor": -9.0, "robust": False} | changes


def leaf(level, norm, requirements):
    return {"level": level, "norm": norm, "cross": [], "products": [], "requirements": requirements,
            "between": []}  # fmt: skip


def proof(tree, scenarios=()):
    return {"directions": [], "scenarios": [list(d) for d in scenarios], "tree": tree}


def answer(model=None):
    """From (-1, 0) to (0.3, 0): 1.3 away, robust within 0.25, and nothing nearer than 1.2 is."""
    fingerprint = exact.read_model(model or content()).fingerprint
    there = 0.3 - 0.25
    percentile = 101 - math.log(2 * math.pi) - (0.3 - 1) ** 2 / 2
    question = {
        "format": "surefoot-question", "version": 3, "models": [fingerprint], "features": ["a", "b"],
        "factual": [-1.0, 0.0], "factual_class": 0, "target": 1,
        "distance": {"kind": "mahalanobis", "whitening": "cholesky", "norm": 2, "prices": None},
        "ball": {"norm": 2, "budget": 0.25, "exact": []}, "requirements": [odds()],
        "domain": domain(["-inf"] * 2, ["inf"] * 2),
        "choices": [], "warps": None, "gap": 0.1,
    }  # fmt: skip
    certificate = {
        "format": "surefoot-certificate", "version": 3, "metric": ONE, "ball": None, "states": None,
        "bound": proof(leaf(1.2, [0.8], [[1.0, 0, 0]]), [[-0.25, 0.0]]),
        "robustness": {
            "radius": 0.25, "slack": 0.09375, "proofs": [proof(leaf(0.25, [4.0], [[1.0, 0, -1]]))],
        },
        "worst": [-0.25, 0.0],
    }  # fmt: skip
    found = {
        "format": "surefoot-explanation", "version": 4, "question": question, "certificate": certificate,
        "status": "optimal", "message": exact.SENTENCES["optimal"], "factual": values(-1.0, 0.0),
        "counterfactual": values(0.3, 0.0), "factual_class": 0, "target": 1, "decision": 1,
        "factual_probability": chance(-2.0), "probability": chance(0.6),
        "worst_probability": chance(2 * there), "distance": 1.3, "lower_bound": 1.2, "gap": 1 - 1.2 / 1.3,
        "budget": 0.25, "norm": 2, "whitening": "cholesky", "threshold": 0.5, "certified_radius": 0.25,
        "coverage": 1.0, "violation": -2 * there, "early_stop": False, "tol": 0.001, "unit": values(1.0, 1.0),
        "parents": [[], [0]], "expected_before": values(-1.0, 0.0), "expected_after": values(1.0, 0.0),
        "z_score": values(0.3 - 1, 0.0), "density_percentile": percentile, "model": fingerprint,
        "method": "certified", "backend": "", "seconds": 0.1, "iterations": [], "row": None, "advice": "",
        "conflict": [], "cautions": [], "model_share": None,
    }  # fmt: skip
    return copy.deepcopy(found)


def without_point(e, status="undecided"):
    """The file of an answer that found nothing."""
    e |= {"status": status, "message": exact.SENTENCES[status]}
    e |= dict.fromkeys(("counterfactual", "decision", "expected_after", "z_score", "probability",
                        "worst_probability", "density_percentile"))  # fmt: skip
    e |= {"distance": "inf", "violation": "inf", "gap": "inf", "coverage": 0.0, "certified_radius": 0.0}
    e["certificate"] |= {"robustness": None, "worst": None}
    return e


def claims(e, *models):
    """What the checker says, by name."""
    return {claim.name: claim for claim in exact.check(list(models) or [content()], e)}


def verdict(e, name, *models):
    return claims(e, *models)[name].verdict


def case_of(e=None, model=None):
    return exact.read_case([model or content()], e or answer())


def changed(**changes):
    return answer() | changes


def asked(**changes):
    e = answer()
    e["question"] |= changes
    return e


def other_model():
    """Another classifier of the same features, with the classes 5 and 6."""
    return content(classes={"labels": [5, 6]}, networks=[network(-2.0, 0.0), network(1.0, 0.0)])


def row(low, high, coefficients=(1.0, 0.0)):
    return {"coefficients": list(coefficients), "low": low, "high": high, "name": "r"}


def domain(low=("-inf", "-inf"), high=("inf", "inf"), rows=(), sets=()):
    named = {"rows": list(rows), "sets": list(sets), "eithers": [], "limits": [], "declared": {}}
    return {"low": list(low), "high": list(high), **named}


def ball(budget=0.25, norm=2, exact=()):
    e = changed(budget=budget)
    e["question"]["ball"] = {"norm": norm, "budget": budget, "exact": list(exact)}
    return e


def away(distance, point):
    return exact.Asked("away", 0, None, None, distance, False, point)


def priced(*prices):
    distance = {"kind": "cost", "whitening": "cholesky", "norm": 2, "prices": [list(pair) for pair in prices]}
    return case_of(asked(distance=distance)).question
