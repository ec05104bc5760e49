"""The nearest of several targets: what a file says of the others, and files that were forged."""

import copy
import math

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, UnreadableError
from tests.proof.three_classes import answer, claims, content
from tests.proof.two_numbers import density, leaf, odds, proof


def other(**changes):
    """Class 2 is nowhere more likely than class 0: nothing within 9 leads to it."""
    e = answer()
    question = e["question"] | {"target": 2, "requirements": [odds(target=2), odds(target=2, rival=1)]}
    certificate = e["certificate"] | {
        "version": 3, "bound": proof(leaf(9.0, [1e-4], [[1.0, 0, -1]])), "robustness": None, "worst": None,
    }  # fmt: skip
    del certificate["mixtures"]
    return copy.deepcopy({"question": question, "certificate": certificate, "lower_bound": 9.0} | changes)


def several(*others, **changes):
    later = dict.fromkeys(exact.LATER_KEYS)
    return answer() | later | {"version": 5, "others": list(others) or [other()]} | changes


def asked(**changes):
    found = other()
    found["question"] |= changes
    return found


def claim(*others, **changes):
    return claims(several(*others, **changes))["target 2"]


def test_every_claim_holds():
    found = claims(several())
    assert {one.verdict for one in found.values()} == {HOLDS}
    assert list(found)[-1] == "target 2"
    assert len(found) == len(claims(answer())) + 1


@pytest.mark.parametrize(
    ("bound", "found"),
    [("inf", NOT_PROVED), (1.4, HOLDS), (9.0, HOLDS), (math.nextafter(1.4, 0.0), FAILS), (0.0, FAILS)],
)
def test_no_other_target_may_be_nearer(bound, found):
    """The file's own bound, 1.4, is one for all targets."""
    assert claim(other(lower_bound=bound)).verdict == found


def test_a_bound_that_does_not_exist_fails():
    assert claim(other(lower_bound=None)).verdict == FAILS


def test_the_bound_of_another_target_must_be_proved():
    bare = other()
    bare["certificate"]["bound"] = None
    assert claim(bare).verdict == NOT_PROVED
    weak = other(lower_bound=2.0)
    weak["certificate"]["bound"] = proof(leaf(1.5, [1e-4], [[1.0, 0, -1]]))
    assert claim(weak).verdict == NOT_PROVED
    weak["lower_bound"] = 1.5
    assert claim(weak).verdict == HOLDS
    of_another = other()
    of_another["certificate"]["bound"]["tree"]["requirements"] = [[1.0, 1, -1]]
    assert claim(of_another).verdict == NOT_PROVED


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"factual": [-1.5, 0.0]}, "factual"), ({"gap": 0.2}, "gap"), ({"factual_class": 2}, "factual_class"),
        ({"distance": {"kind": "mahalanobis", "whitening": "cholesky", "norm": 1, "prices": None}}, "norm"),
        ({"ball": {"norm": 2, "budget": 0.5, "exact": []}}, "budget"),
        ({"ball": {"norm": 2, "budget": 0.25, "exact": [1]}}, "exact"),
        ({"domain": answer()["question"]["domain"] | {"low": [-5.0, "-inf"]}}, "low"),
        ({"domain": answer()["question"]["domain"] | {"high": [5.0, "inf"]}}, "high"),
        ({"domain": answer()["question"]["domain"] | {"sets": [{"feature": 1, "values": None}]}}, "sets"),
    ],
)  # fmt: skip
def test_the_same_must_be_asked_of_every_target(changes, named):
    found = claim(asked(**changes))
    assert (found.verdict, f"its {named} " in found.reason) == (FAILS, True)


def test_the_same_distance_for_every_target():
    bent = other()
    bent["certificate"]["metric"] = [[1.0 + 1e-9, 0.0], [0.0, 1.0]]
    assert "metric" in claim(bent).reason


def test_odds_of_the_other_target_are_needed():
    """With the odds of class 1 in their place, a bound would say nothing about class 2."""
    assert claim(asked(requirements=[odds(), odds(rival=2)])).verdict == FAILS
    assert claim(asked(requirements=[odds(target=2)])).verdict == FAILS


def test_targets_are_named_once():
    assert "twice" in claim(other(), other()).reason
    own = copy.deepcopy({k: answer()[k] for k in ("question", "certificate", "lower_bound")})
    assert claims(several(own))["target 1"].verdict == FAILS


def test_geometry_of_another_target_is_checked():
    tight = other()
    tight["certificate"]["ball"] = [[0.5, 0.0], [0.0, 0.5]]
    assert claim(tight).verdict != HOLDS


@pytest.mark.parametrize(
    "others",
    [
        None,
        [],
        {},
        [None],
        [{}],
        [3],
        [other() | {"more": 1}],
        [other(question=None)],
        [other(certificate=None)],
    ],
)
def test_others_that_cannot_be_read(others):
    with pytest.raises(UnreadableError):
        exact.check([content()], answer() | {"version": 5, "others": others})


def test_versions():
    with pytest.raises(UnreadableError):
        exact.check([content()], several(version=4))
    with pytest.raises(UnreadableError):
        exact.check([content()], several(version=6))


def test_an_invalid_request_has_no_targets():
    with pytest.raises(UnreadableError):
        exact.check([content()], several(status="invalid"))


def test_what_is_asked_of_the_others_is_said():
    lines = exact.words([content()], several())
    assert "Or the target: 2, against each rival by at least 0.5" in lines
    strict = asked(requirements=[*other()["question"]["requirements"], density()])
    assert any(
        line.startswith("Or the target: 2") and "log density" in line
        for line in exact.words([content()], several(strict))
    )
