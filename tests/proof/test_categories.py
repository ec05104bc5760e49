"""Claims about an answer with categories, on a file in the head."""

import math

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS
from tests.proof.two_categories import answer, bound, case_of, changed, claims, content, refuted, values


def test_the_file_holds():
    found = claims(answer())
    assert {claim.verdict for claim in found.values()} == {HOLDS}, found
    assert found["lower bound"].reason == "claimed 0.74, proven for all states by 2 proofs"
    alone = bound(proofs=[refuted(0.5, 0.49)], level=0.49)
    assert (alone.verdict, alone.reason) == (HOLDS, "claimed 0.49, proven for all states by one proof")


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
