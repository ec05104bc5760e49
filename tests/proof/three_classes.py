"""A file that can be checked in the head: a probability among three classes.

As in `two_numbers`, with a third class that has the mean of the first and half of its prior. The log-odds of
class 1 are 2 x_0 against class 0 and 2 x_0 + log 2 against class 2: its probability is at least one half
where 1.5 exp(-2 x_0) <= 1, that is from x_0 = log(1.5) / 2 = 0.203 on, and its weights there are 2/3 and 1/3.
Class 2 is nowhere more likely than class 0.
"""

import copy
import math

from surefoot.proof import exact
from tests.proof import two_numbers
from tests.proof.two_numbers import leaf, network, odds, proof, values

THIRD = 1 / 3


def content(**changes):
    networks = [network(-1.0, 0.0), network(1.0, 0.0), network(-1.0, 0.0)]
    found = two_numbers.content(
        classes={"labels": [0, 1, 2]},
        class_prior=[0.4, 0.4, 0.2],
        networks=networks,
        density_percentiles=[[k - 101.0 for k in range(101)]] * 3,
    )
    return copy.deepcopy(found | changes)


def probability(**changes):
    return {"kind": "probability", "model": 0, "target": 1, "threshold": 0.5, "robust": True} | changes


def mixture(*weights, share=0):
    return {"share": share, "weights": list(weights)}


def chance(x):
    """P(class 1) at x_0 = x."""
    return 1 / (1 + 1.5 * math.exp(-2 * x))


def answer(model=None):
    """From (-1, 0) to (0.5, 0): 1.5 away, robust within 0.25, and nothing nearer than 1.4 is."""
    fingerprint = exact.read_model(model or content()).fingerprint
    e = two_numbers.answer()
    e["question"] |= {
        "models": [fingerprint], "requirements": [odds(), odds(rival=2), probability()], "gap": 0.1,
    }  # fmt: skip
    steep = proof(leaf(0.25, [4.0], [[1.0, 0, -1]]))
    e["certificate"] |= {
        "version": 4, "mixtures": [mixture(2 * THIRD, THIRD)],
        "bound": proof(leaf(1.4, [1 / 1.4], [[1.0, 2, 0]]), [[-0.25, 0.0]]),
        "robustness": {
            "radius": 0.25, "slack": 0.09, "proofs": [steep] * 3, "floors": [0.499, 1.19, 0.094],
            "mixtures": [mixture(2 * THIRD, THIRD)],
        },
    }  # fmt: skip
    e |= {
        "counterfactual": values(0.5, 0.0), "factual_probability": chance(-1.0), "probability": chance(0.5),
        "worst_probability": chance(0.25), "distance": 1.5, "lower_bound": 1.4, "gap": 1 - 1.4 / 1.5,
        "violation": math.log(1.5) - 0.5, "z_score": values(-0.5, 0.0), "model": fingerprint,
        "density_percentile": 101 - math.log(2 * math.pi) - 0.125,
    }  # fmt: skip
    return copy.deepcopy(e)


def claims(e, *models):
    """What the checker says, by name."""
    return {claim.name: claim for claim in exact.check(list(models) or [content()], e)}


def verdict(e, name, *models):
    return claims(e, *models)[name].verdict


def case_of(e=None):
    return exact.read_case([content()], e or answer())
