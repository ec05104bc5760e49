"""Claims about percentiles, z-scores and expectations."""

import math
from fractions import Fraction

import numpy as np

from surefoot.proof import exact
from surefoot.proof.exact import HOLDS
from tests.proof import two_numbers as plain
from tests.proof.test_exact import files
from tests.proof.two_numbers import answer, case_of, changed, content, network, values, verdict


def test_percentiles():
    table = [k - 101.0 for k in range(101)]
    for value, found in (
        (-102, 0), (-101, 0), (Fraction(-201, 2), Fraction(1, 2)), (-100, 1), (-1, 100), (0, 100),
        (Fraction(-3, 2), Fraction(199, 2)), (-2, 99),
    ):  # fmt: skip
        assert exact._percentile(Fraction(value), table) == found
    steps = [0.0] * 50 + [4.0] * 51
    for value, found in ((-1, 0), (0, 49), (1, Fraction(197, 4)), (4, 100), (5, 100)):
        assert exact._percentile(Fraction(value), steps) == found


def test_the_percentile_of_the_point():
    true = answer()["density_percentile"]
    for step, holds in ((0.0, True), (2.9e-9, True), (-2.9e-9, True), (3.3e-9, False), (-3.3e-9, False)):
        assert (verdict(changed(density_percentile=true + step), "context") == HOLDS) == holds, step


def test_z_scores():
    case = case_of()
    assert exact._after_fault(case, case.point, [Fraction(1), Fraction(1)]) == ""
    for stated, x, expected, variance, holds in (
        (2.0, 1.0, 0, 0.25, True), (2.0 + 1.9e-9, 1.0, 0, 0.25, True), (2.0 + 2.1e-9, 1.0, 0, 0.25, False),
        (-2.0, -1.0, 0, 0.25, True), (0.5, 1.0, 0, 0.25, False), (0.0, 1e7, 10**7, 1.0, True),
        (2e-8, 1e7, 10**7, 1.0, True), (2.2e-8, 1e7, 10**7, 1.0, False),
        (2e-8, -1e7, -(10**7), 1.0, True), (2.2e-8, -1e7, -(10**7), 1.0, False), (-2.0, 1.0, 0, 0.25, False),
    ):  # fmt: skip
        assert exact._score_agrees(stated, x, Fraction(expected), variance) == holds, stated


def test_the_percentile_of_a_likely_point():
    """A log density of -1.43 may be off by 1.43e-9; the table has 50 percent for each unit."""
    table = [k / 50 - 2 for k in range(101)]
    networks = [network(-1.0, 0.0), network(1.0, 0.0, variances=(0.25, 0.25))]
    model = content(networks=networks, density_percentiles=[table] * 2)
    percentile = 50 * (2 - math.log(2 * math.pi) - math.log(0.25) - 0.98)
    for step, holds in ((0.0, True), (6.5e-8, True), (-6.5e-8, True), (8.5e-8, False), (-8.5e-8, False)):
        e = answer(model) | {"density_percentile": percentile + step, "z_score": values(-1.4, 0.0)}
        case = case_of(e, model)
        assert (exact._after_fault(case, case.point, [Fraction(1), Fraction(1)]) == "") == holds, step


def test_one_of_two_numbers_on_a_curved_scale():
    curved, straight = {"power": 0.5, "shift": 0.0, "scale": 1.0}, {"power": None, "shift": 0.0, "scale": 1.0}
    models = [content(), content(warps=[curved, straight]), content(warps=[straight, curved])]
    assert len({exact.read_model(model).fingerprint for model in models}) == 3
    assert (
        exact.read_model(content(warps=[straight] * 2)).fingerprint == exact.read_model(content()).fingerprint
    )
    scale = exact.read_model(models[1]).scales[0]
    bent = case_of().question.on_scales([scale, None])
    assert (bent.factual, bent.scales) == ([scale(-1.0), 0.0], [scale, None])


def test_expectations_on_a_scale_are_not_told_in_units():
    """One of two numbers is on a curved scale; what the file tells on the scale is told wrongly."""
    curved, straight = {"power": 0.5, "shift": 0.0, "scale": 1.0}, {"power": None, "shift": 0.0, "scale": 1.0}
    model = plain.content(warps=[curved, straight])
    e = plain.answer(model)
    e["question"]["warps"] = [[0.5, 0.0, 1.0], [None, 0.0, 1.0]]
    known = exact.read_model(model)
    point = known.scales[0](0.3)
    percentile = 101 - math.log(2 * math.pi) - (point - 1) ** 2 / 2
    on_scale = {"z_score": plain.values(point - 1, 0.0), "density_percentile": percentile}
    case = exact.read_case([known], e | on_scale)
    assert exact.context_claim(case).verdict == exact.FAILS


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
