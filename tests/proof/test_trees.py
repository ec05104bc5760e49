"""Trees of cuts and leaves: their depth, their names, their boxes, what a refusal names."""

from fractions import Fraction

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, NOT_PROVED, UnreadableError
from tests.proof.handmade import majorant
from tests.proof.two_numbers import INF, answer, case_of, changed, claims, content, verdict, without_point


def test_the_depth_of_a_tree():
    """900 splits on one way are read, 901 are not."""
    proof_ = exact.read_proof(exact.bound_setting(case_of()), answer()["certificate"]["bound"])

    def level(depth):
        node = {"stop": True}
        for _ in range(depth):
            node = {"cut": [["u", 0], 0.0], "below": node, "above": {"stop": True, "level": 1.0}}
        object.__setattr__(proof_, "tree", node)
        return exact.proven_level(proof_, lambda leaf, way: leaf.setdefault("level", 2.0) and "")

    assert level(900) == 1.0
    with pytest.raises(UnreadableError, match="more than 900 splits"):
        level(901)


def test_leaves_are_named_by_their_way():
    e = answer()
    tree = e["certificate"]["bound"]["tree"]
    e["certificate"]["bound"]["tree"] = {"cut": [["u", 0], 9.0], "below": tree, "above": None}
    assert claims(e)["lower bound"].reason.startswith("claimed 1.2; leaf a: the piece was left open")
    e["certificate"]["bound"]["tree"] = {"cut": [["u", 0], 9.0], "below": None, "above": tree}
    assert (
        claims(e)["lower bound"].reason.startswith("claimed 1.2; leaf a: ")
        or "leaf b: " in claims(e)["lower bound"].reason
    )
    e["certificate"]["bound"]["tree"] = None
    assert claims(e)["lower bound"].reason.startswith(
        "claimed 1.2; leaf at the root: the piece was left open"
    )


def test_a_box_moved_to_its_middle():
    origin = exact.dyadic([1.0, 2.0])
    moved = exact._middle(origin, {0: (0.5, 0.25), 1: (0.0, 1.0)}, 2.0)
    assert [Fraction(w, 1 << moved.shift) for w in moved.whole] == [Fraction(3, 4), 3]
    moved = exact._middle(origin, {1: (1.0, 0.0)}, 0.5)
    assert [Fraction(w, 1 << moved.shift) for w in moved.whole] == [1, Fraction(7, 4)]
    assert exact._middle(origin, {1: (1.0, 0.0)}, INF) == origin


def test_a_refusal_names_what_is_claimed():
    model = content()
    blank = without_point(changed(lower_bound=0.0), "invalid")
    blank |= dict.fromkeys(("question", "factual_class", "factual_probability", "expected_before"))
    blank["certificate"] = dict.fromkeys(blank["certificate"]) | {
        "format": "surefoot-certificate",
        "version": 1,
    }
    assert verdict(blank, "refusal", model) == NOT_PROVED
    for certificate in (None, {}):
        assert verdict(blank | {"certificate": certificate}, "refusal", model) == NOT_PROVED
    for key, value in (
        ("counterfactual", 1), ("decision", 1), ("factual_class", 0), ("expected_before", 1),
        ("expected_after", 1),
        ("z_score", 1), ("factual_probability", 0.5), ("probability", 0.5), ("worst_probability", 0.5),
        ("density_percentile", 5.0), ("distance", 1.0), ("violation", 1.0), ("coverage", 1.0),
        ("certified_radius", 1.0), ("early_stop", True), ("gap", 1.0), ("lower_bound", -1.0),
        ("certificate", []),
    ):  # fmt: skip
        found = claims(blank | {key: value}, model)["refusal"]
        assert found == ("refusal", FAILS, f"the request was refused, but the file claims {key}")
    held = blank["certificate"] | {"worst": [0.0]}
    found = claims(blank | {"certificate": held}, model)["refusal"]
    assert found == ("refusal", FAILS, "the request was refused, but the file claims worst")
    assert verdict(blank | {"message": "no"}, "refusal", model) == FAILS


def test_the_majorant_of_a_requirement():
    """Its constant alone; and one over a variance is rounded up where it adds, down where it takes away."""
    net = exact.Network([[0.0, 0.0], [0.0, 0.0]], [0.0, 0.0], [3.0, 7.0])
    nowhere = exact.dyadic([0.0, 0.0])
    bare = exact.Requirement([], 5, True)
    assert bare.block([0, 1]).rows == [[0], [0, 0]]
    assert bare.line(nowhere, [0, 1]) == exact.Dyadic([0, 0, 5], exact.PLACES)
    for sign in (1, -1):
        for origin in ([0.0, 0.0], [2.0, -3.0]):
            found = majorant(exact.Requirement([(sign, net)], 0, True), exact.dyadic(origin), [0, 1])
            for z in ((1, 1), (-1, 2), (5, -7)):
                x = [Fraction(a) + b for a, b in zip(origin, z, strict=True)]
                y = [*z, 1]
                value = sum(
                    (1 if i == j else 2) * v * y[i] * y[j]
                    for i, r in enumerate(found.rows)
                    for j, v in enumerate(r)
                )
                assert Fraction(value, 1 << found.shift) > sign * (x[0] ** 2 / 3 + x[1] ** 2 / 7)
