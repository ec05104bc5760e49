"""What the search for faults of the checker found in the checker itself."""

import math
from fractions import Fraction

import numpy as np

from surefoot.proof import exact
from tests.proof.test_exact import files
from tests.proof.test_mutants_exact import answer, chance, content, leaf, odds, proof, values


def test_a_density_below_all_doubles_is_decided_exactly():
    """The point is 1e200 away: its log density is about -1e400, and its percentile is zero."""
    model, e = files("no budget")
    target = exact.read_model(model).networks[1]
    x = [1e200] * 4
    expected = target.expected(x)
    scores = zip(x, expected, target.variances, strict=True)
    e["counterfactual"]["values"], e["density_percentile"] = x, 0.0
    e["expected_after"]["values"] = list(map(float, expected))
    e["z_score"]["values"] = [float((Fraction(a) - b) / Fraction(float(np.sqrt(v)))) for a, b, v in scores]
    found = exact.check([model], e)
    assert {claim.name: claim.verdict for claim in found}["context"] == exact.HOLDS


def test_the_worst_case_knows_the_temperature_of_its_model():
    """A model that measures odds in sixteenths: a slack of 0.9 leaves it 0.056, and not 0.375.

    From (3, 0) the ball of radius 2.5 takes the odds from 6 to 1. No error at all is sold as the worst.
    A second model that measures them as they are has no part in it.
    """
    hot = content(calibration={"temperature": 16.0, "shifts": [0.0, 0.0]})
    e = answer(hot) | {"status": "time_limit", "message": exact.SENTENCES["time_limit"], "distance": 4.0}
    e |= {"lower_bound": 0.0, "gap": 1.0, "budget": 2.5, "certified_radius": 2.5}
    e |= {"counterfactual": values(3.0, 0.0), "z_score": values(2.0, 0.0), "probability": chance(0.375)}
    e["density_percentile"] = 99 - math.log(2 * math.pi)
    e["factual_probability"] = chance(-0.125)
    e["question"]["models"].append(exact.read_model(content()).fingerprint)
    e["question"]["requirements"] = [odds(), odds(model=1)]
    e["question"]["ball"]["budget"] = 2.5
    proofs = [proof(leaf(2.5, [0.4], [[1.0, 0, -1]]))] * 2
    e["certificate"] |= {"bound": None, "robustness": {"radius": 2.5, "slack": 0.9, "proofs": proofs}}

    def verdicts(d):
        e["certificate"]["worst"] = [-d, 0.0]
        e["violation"], e["worst_probability"] = (d - 3) / 8, chance((3 - d) / 8)
        return {claim.name: claim.verdict for claim in exact.check([hot, content()], e)}

    assert set(verdicts(2.5).values()) == {exact.HOLDS}
    assert {name for name, found in verdicts(0.0).items() if found != exact.HOLDS} == {"worst case"}
