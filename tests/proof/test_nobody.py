"""Nobody in a region: files that can be checked in the head, and files that were forged.

The log-odds are 2 a (see `two_numbers`): whoever has an a below zero, and may raise it by less than that, has
no way to class 1.
"""

import copy
import math
from fractions import Fraction

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, UnreadableError
from tests.proof import two_categories
from tests.proof.two_numbers import ONE, answer, content, domain, leaf, odds, proof, row, without_point

ANY = ["-inf", "inf"]
# Both numbers between their ends: what rounding leaves of the squares of both classes is small beside it.
ROUNDING = [[1e-3, ["x", j, "low"], ["x", j, "high"]] for j in (0, 1)]


def move(may="change", **changes):
    return {"may": may, "bounds": ANY, "ends": [-4.0, 4.0], "most": None, "least": None, "step": None,
            "values": None} | changes  # fmt: skip


def persons(low, high, values=None):
    return {"low": low, "high": high, "values": values}


def refutation(high=-1.0, low=-4.0, **changes):
    """No point with a from low to high < 0 has class 1: 2 a + 2 (high - a) is negative."""
    asked = answer()["question"] | {
        "factual": [-3.0, 0.0], "ball": {"norm": 2, "budget": 0.0, "exact": []},
        "domain": domain([low, -4.0], [high, 4.0]),
    } | changes  # fmt: skip
    ends = leaf("inf", [], [[1.0, 0, -1]]) | {"products": [[2.0, ["1"], ["x", 0, "high"]], *ROUNDING]}
    certificate = {"format": "surefoot-certificate", "version": 3, "metric": ONE, "ball": None,
                   "bound": proof(ends), "states": None, "robustness": None, "worst": None}  # fmt: skip
    return {"question": asked, "certificate": certificate}


def nobody(a=None, b=None, first=None, second=None, rows=(), limits=(), **changes):
    """Persons with a from -4 to -2, who may raise it by 1 at most."""
    found = {
        "format": "surefoot-nobody", "version": 1, "models": [exact.read_model(content()).fingerprint],
        "features": ["a", "b"], "target": 1, "holds": True,
        "region": [a or persons(-4.0, -2.0), b or persons(-4.0, 4.0)],
        "declared": {"features": [first or move(most=1.0), second or move()], "rows": list(rows),
                     "limits": list(limits)},
        "requirements": [odds()], "tree": 0, "proofs": [refutation()], "explanation": None,
        "context": {"named": [0], "dates": [], "left_out": [], "accepted": False, "why": "", "seconds": 0.1},
    }  # fmt: skip
    return copy.deepcopy(found | changes)


def claims(document, model=None):
    return {claim.name: claim for claim in exact.check([model or content()], document)}


def verdict(document, name="nobody"):
    return claims(document)[name].verdict


def test_an_honest_proof_holds():
    assert {claim.verdict for claim in exact.check([content()], nobody())} == {HOLDS}
    assert list(claims(nobody())) == ["model", "region", "nobody"]


FORGED = {
    "the region is widened": nobody(a=persons(-4.0, -1.9)),
    "the region is widened by a list": nobody(a=persons(-4.0, -1.0, [-4.0, -1.0])),
    "the other number is widened": nobody(b=persons(-4.0, 5.0)),
    "the other number is open": nobody(b=persons(-4.0, "inf")),
    "most is more": nobody(first=move(most=1.1)),
    "most is dropped": nobody(first=move()),
    "the domain is narrowed above": nobody(proofs=[refutation(high=-1.5)]),
    "the domain is narrowed below": nobody(proofs=[refutation(low=-3.5)]),
    "the other number's domain is narrowed": nobody(
        proofs=[refutation(domain=domain([-4.0, -3.0], [-1.0, 4.0]))]
    ),
    "it has an end of its own": nobody(second=move(ends=[-4.0, 6.0])),
    "it has a bound of its own": nobody(second=move(bounds=[-6.0, 9.0], ends=ANY)),
    "a rule is invented": nobody(
        proofs=[refutation(domain=domain([-4.0, -4.0], [-1.0, 4.0], rows=[row(-9.0, 0.0)]))]
    ),
    "a set is invented": nobody(
        proofs=[refutation(domain=domain([-4.0, -4.0], [-1.0, 4.0], sets=[{"feature": 1, "values": None}]))]
    ),
    "a list is invented": nobody(
        proofs=[refutation(domain=domain([-4.0, -4.0], [-1.0, 4.0], sets=[{"feature": 1, "values": [0.0]}]))]
    ),
    "the target is another one": nobody(target=0),
    "another threshold": nobody(requirements=[odds(threshold=0.4)]),
    "more is required": nobody(proofs=[refutation(requirements=[odds(), odds(threshold=0.9)])]),
    "a safety margin": nobody(proofs=[refutation(ball={"norm": 2, "budget": 0.25, "exact": []})]),
    "a limit of one person": nobody(
        proofs=[
            refutation(
                domain=domain([-4.0, -4.0], [-1.0, 4.0])
                | {"limits": [{"name": "", "count": 1, "numbers": [0, 1], "categories": []}]}
            )
        ]
    ),
    "an either of one person": nobody(
        proofs=[
            refutation(
                domain=domain([-4.0, -4.0], [-1.0, 4.0])
                | {"eithers": [{"name": "", "ways": [{"rows": [row(-4.0, -1.0)], "values": []}]}]}
            )
        ]
    ),
    "the factual's class is wrong": nobody(proofs=[refutation(factual_class=1)]),
    "no proof for the part": nobody(tree=None),
    "a proof that proves nothing": nobody(
        proofs=[refutation() | {"certificate": refutation()["certificate"] | {"bound": None}}]
    ),
    "no metric": nobody(
        proofs=[refutation() | {"certificate": refutation()["certificate"] | {"metric": None}}]
    ),
    "another model": nobody(proofs=[refutation(models=["0123456789abcdef"])]),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_files_are_refused(name):
    found = exact.check([content()], FORGED[name])
    assert any(claim.verdict != HOLDS for claim in found)


def test_a_proof_that_a_zero_leaf_pretends():
    forged = refutation(high=0.5)
    assert verdict(nobody(first=move(most=2.5), proofs=[forged])) == NOT_PROVED


@pytest.mark.parametrize(
    "first",
    [
        move("stay"),
        move("fall"),
        move(most=1.0, values=[-4.0, -3.0]),
        move(values=[-3.0, -1.0]),
        move("rise", ends=[-4.0, -1.0]),
        move(bounds=[-4.0, -1.0], ends=ANY),
        move(most=0.5, step=0.5),
    ],
)
def test_every_kind_of_action_is_followed(first):
    assert verdict(nobody(first=first)) == HOLDS


@pytest.mark.parametrize(
    "first",
    [
        move("rise"),
        move("change", ends=[-4.0, -0.5]),
        move(bounds=[-4.0, -0.5], ends=ANY),
        move(most=1.0, ends=[-5.0, 4.0], bounds=["-inf", "inf"]),
        move(values=[-3.0, 0.5]),
        move(values=[-4.5, -3.0], ends=[-9.0, 4.0]),
        move("fall", ends=[-5.0, 4.0]),
        move(most=1.5, step=0.5),
        move(values="whole"),
    ],
)
def test_an_action_that_allows_more_is_not_proved(first):
    assert verdict(nobody(first=first)) == NOT_PROVED


def test_a_list_of_values_counts_only_where_the_question_has_it():
    values = {"feature": 0, "values": [-3.0, -1.0]}
    listed = [refutation(domain=domain([-4.0, -4.0], [-1.0, 4.0], sets=[values]))]
    single = persons(-3.0, -3.0)
    assert verdict(nobody(a=single, first=move(values=[-3.0, -1.0]), proofs=listed)) == HOLDS
    assert verdict(nobody(a=single, first=move(values=[-3.0, -2.0, -1.0]), proofs=listed)) == NOT_PROVED
    assert verdict(nobody(a=single, first=move(values="whole"), proofs=listed)) == NOT_PROVED
    assert verdict(nobody(first=move(values=[-3.0, -1.0]), proofs=listed)) == NOT_PROVED


def test_values_at_the_ends_count():
    single = {"a": persons(-3.0, -3.0), "first": move(most=1.0, values=[-4.0, -2.0])}
    for values, found in (
        ([-4.0, -3.0, -2.0], HOLDS),
        ([-4.0, -3.0], NOT_PROVED),
        ([-3.0, -2.0], NOT_PROVED),
    ):
        listed = domain([-4.0, -4.0], [-1.0, 4.0], sets=[{"feature": 0, "values": values}])
        assert verdict(nobody(proofs=[refutation(domain=listed)], **single)) == found
    for value in (-4.0, -2.0):
        assert verdict(nobody(a=persons(-4.0, -2.0, [value]))) == HOLDS


def test_whole_numbers_count_only_for_whole_persons():
    whole = {"feature": 1, "values": None}
    listed = [refutation(domain=domain([-4.0, -4.0], [-1.0, 4.0], sets=[whole]))]
    ints = move(values="whole")
    assert verdict(nobody(b=persons(-4.0, 4.0, "whole"), second=ints, proofs=listed)) == HOLDS
    assert verdict(nobody(b=persons(-4.0, 4.0, [-1.0, 2.0]), second=ints, proofs=listed)) == HOLDS
    assert verdict(nobody(b=persons(-4.0, 4.0, [-1.0, 2.5]), second=ints, proofs=listed)) == NOT_PROVED
    assert verdict(nobody(b=persons(-4.0, 4.0), second=ints, proofs=listed)) == NOT_PROVED
    assert verdict(nobody(b=persons(-4.0, 4.0, "whole"), proofs=listed)) == NOT_PROVED
    assert verdict(nobody(b=persons(2.0, 2.0), second=ints, proofs=listed)) == HOLDS
    assert verdict(nobody(b=persons(2.5, 2.5), second=ints, proofs=listed)) == NOT_PROVED


def test_whole_ends_are_moved_inwards():
    narrow = [refutation(domain=domain([-4.0, -3.0], [-1.0, 3.0]))]
    place = {"b": persons(-3.5, 3.5, "whole"), "proofs": narrow}
    assert verdict(nobody(second=move("stay"), **place)) == HOLDS
    assert verdict(nobody(second=move(ends=[-3.5, 3.5], values="whole"), **place)) == HOLDS
    assert verdict(nobody(second=move(ends=[-3.5, 4.0], values="whole"), **place)) == NOT_PROVED


def test_steps_lead_from_single_persons():
    listed = {"feature": 0, "values": [-3.3, -3.0, -2.7]}
    proofs = [refutation(domain=domain([-4.0, -4.0], [-1.0, 4.0], sets=[listed]))]
    single = persons(-3.0, -3.0)
    assert verdict(nobody(a=single, first=move(step=0.3, most=0.5), proofs=proofs)) == HOLDS
    assert verdict(nobody(a=single, first=move(step=0.3, most=0.61), proofs=proofs)) == NOT_PROVED
    assert verdict(nobody(a=single, first=move(step=0.1, most=0.3), proofs=proofs)) == NOT_PROVED
    wide = [refutation(domain=domain([-4.0, -4.0], [-1.0, 4.0], sets=[{"feature": 0, "values": None}]))]
    few = persons(-4.0, -2.0, "whole")
    assert verdict(nobody(a=few, first=move(step=1.0, most=1.0), proofs=wide)) == HOLDS
    assert verdict(nobody(a=few, first=move(step=0.5, most=1.0), proofs=wide)) == NOT_PROVED
    assert verdict(nobody(first=move(step=1.0, most=1.0), proofs=wide)) == NOT_PROVED
    up = by_change(no=1, down=1, up=0)
    assert (
        verdict(nobody(tree=up, first=move(step=1.0, most=1.0), proofs=[*wide, refutation()])) == NOT_PROVED
    )


@pytest.mark.parametrize(
    ("values", "found"),
    [([1.5, 2.0, 2.5], HOLDS), ([2.0, 2.5], NOT_PROVED), ([1.5, 2.0], NOT_PROVED), ([1.5, 2.5], HOLDS)],
)
def test_every_step_is_listed(values, found):
    sets = [{"feature": 1, "values": values}]
    proofs = [refutation(factual=[-3.0, 2.0], domain=domain([-4.0, -4.0], [-1.0, 4.0], sets=sets))]
    place = {"b": persons(2.0, 2.0), "second": move(step=0.5, most=0.5), "proofs": proofs}
    assert verdict(nobody(**place)) == found


@pytest.mark.parametrize("ends", [ANY, ["-inf", 4.0], [-4.0, "inf"]])
def test_steps_without_ends_are_any_number(ends):
    said = exact.read_nobody(
        exact.read_model(content()), nobody(a=persons(-3.0, -3.0), first=move(step=0.5, ends=ends))
    )
    assert said.number_reach(said.persons, 0).values is None


def test_too_many_steps_are_any_number(monkeypatch):
    single = nobody(a=persons(-3.0, -3.0), first=move(step=0.5, most=1.0))
    said = exact.read_nobody(exact.read_model(content()), single)
    assert said.number_reach(said.persons, 0).values == (-4.0, -3.5, -3.0, -2.5, -2.0)
    monkeypatch.setattr(exact, "MOST_VALUES", 1)
    assert said.number_reach(said.persons, 0).values is None
    for side in ("down", "up"):
        assert exact.moved(said.moves[0], said.persons, 0, side).values is None


# Splits


def halves(at=-3.0, below=0, above=1, to=None):
    return {"at": [0, at, at if to is None else to], "below": below, "above": above}


def in_two(tree, low=-2.0, **changes):
    """Below -3 up to -2 is enough, above it up to -1."""
    return nobody(tree=tree, proofs=[refutation(high=low), refutation(low=-4.0)], **changes)


def test_persons_are_split_by_value():
    assert verdict(in_two(halves())) == HOLDS
    assert verdict(in_two(halves(below=1, above=0))) == NOT_PROVED
    assert verdict(in_two(halves(at=-2.9))) == NOT_PROVED
    assert verdict(in_two(halves(above=None))) == NOT_PROVED
    assert verdict(in_two(halves(at=-2.0, below=1, above=None))) == NOT_PROVED
    assert verdict(in_two(halves(at=-1.0, below=1, above=None))) == HOLDS
    assert verdict(in_two(halves(at=-5.0, below=None, above=1))) == HOLDS


def test_a_split_leaves_nobody_out():
    assert verdict(in_two(halves(to=-2.5))) == NOT_PROVED
    assert verdict(in_two(halves(at=-2.5, to=-3.0))) == NOT_PROVED
    whole = persons(-4.0, -2.0, "whole")
    assert verdict(in_two(halves(at=-3.0, to=-2.0), a=whole)) == HOLDS
    assert verdict(in_two(halves(at=-4.0, to=-2.0), a=whole)) == NOT_PROVED
    assert verdict(in_two(halves(at=-3.5, to=-2.5), a=whole)) == NOT_PROVED
    listed = persons(-4.0, -2.0, [-4.0, -3.5, -2.0])
    assert verdict(in_two(halves(at=-3.5, to=-2.0), a=listed)) == HOLDS
    assert verdict(in_two(halves(at=-4.0, to=-2.0), a=listed)) == NOT_PROVED
    assert verdict(in_two(halves(at=-2.0, to=-3.5, below=1), a=listed)) == NOT_PROVED
    assert verdict(in_two(halves(), a=listed)) == HOLDS
    other = {"at": [1, 0.0, 0.0], "below": 1, "above": 1}
    assert verdict(in_two(other)) == HOLDS
    assert "in 2 parts, by 2 proofs" in claims(in_two(other))["nobody"].reason
    assert "in 1 part, by 1 proof" in claims(nobody())["nobody"].reason


def test_a_split_is_about_a_number_that_is_there():
    for node in (halves() | {"at": [2, -3.0, -3.0]}, halves() | {"at": [True, -3.0, -3.0]}, {}, "0", [0]):
        assert verdict(in_two(node)) == NOT_PROVED
    for node in (halves() | {"at": [0, -3.0]}, halves() | {"also": 0}, {"at": [0, -3.0, -3.0]}, 7, -1):
        with pytest.raises(UnreadableError):
            claims(in_two(node))


def by_change(no=0, down=0, up=0, feature=0):
    return {"changes": feature, "no": no, "down": down, "up": up}


def test_persons_are_split_by_what_changes():
    assert verdict(in_two(by_change(no=0, down=0, up=1))) == HOLDS
    assert verdict(in_two(by_change(no=0, down=0, up=0))) == NOT_PROVED
    assert verdict(in_two(by_change(no=0, down=0, up=None))) == NOT_PROVED
    assert verdict(in_two(by_change(no=None, down=0, up=1))) == NOT_PROVED
    stays = in_two(by_change(no=0, down=None, up=None), first=move("stay"))
    assert verdict(stays) == HOLDS
    rises = in_two(by_change(no=0, down=None, up=1), first=move("rise", most=1.0))
    assert verdict(rises) == HOLDS
    falls = in_two(by_change(no=0, down=0, up=None), first=move("fall", most=1.0))
    assert verdict(falls) == HOLDS
    assert verdict(in_two(by_change(no=0, down=None, up=1), first=move("fall", most=1.0))) == NOT_PROVED
    single = {"a": persons(-3.0, -3.0), "first": move(most=1.0)}
    proofs = [refutation(), refutation(low=-2.5), refutation(high=-3.5)]
    assert verdict(nobody(tree=by_change(), proofs=proofs, **single)) == HOLDS
    assert verdict(nobody(tree=by_change(up=1), proofs=proofs, **single)) == NOT_PROVED
    assert verdict(nobody(tree=by_change(down=2), proofs=proofs, **single)) == NOT_PROVED
    assert verdict(nobody(tree=None, a=persons(-3.0, -3.0), first=move("stay"))) == NOT_PROVED


def test_the_least_change_counts():
    single = {"a": persons(-3.0, -3.0), "first": move(least=2.0, most=2.0)}
    up = [refutation(high=-2.5, low=-5.0), refutation(low=-1.0)]
    assert verdict(nobody(tree=by_change(no=0, down=0, up=1), proofs=up, **single)) == HOLDS
    single["first"] = move(least=1.9, most=2.0)
    assert verdict(nobody(tree=by_change(no=0, down=0, up=1), proofs=up, **single)) == NOT_PROVED
    down = [refutation(high=-1.0), refutation(high=-5.0, low=-9.0)]
    single["first"] = move(least=2.0, ends=[-9.0, -1.0])
    assert verdict(nobody(tree=by_change(no=0, down=1, up=0), proofs=down, **single)) == HOLDS
    single["first"] = move(least=1.9, ends=[-9.0, -1.0])
    assert verdict(nobody(tree=by_change(no=0, down=1, up=0), proofs=down, **single)) == NOT_PROVED


def limit(count=1, features=(0, 1)):
    return {"count": count, "features": list(features)}


def test_where_a_limit_is_used_up_the_rest_stays():
    narrow = domain([-4.0, 1.0], [-1.0, 2.0])
    proofs = [refutation(high=-2.0), refutation(domain=narrow)]
    place = {"b": persons(1.0, 2.0), "proofs": proofs}
    tree = by_change(no=0, down=1, up=1)
    assert verdict(nobody(tree=tree, limits=[limit()], **place)) == HOLDS
    assert verdict(nobody(tree=tree, **place)) == NOT_PROVED
    assert verdict(nobody(tree=tree, limits=[limit(2)], **place)) == NOT_PROVED
    assert verdict(nobody(tree=tree, limits=[limit(features=[0])], **place)) == NOT_PROVED
    both = by_change(no=0, down=1, up=by_change(feature=1, no=1, down=None, up=None))
    assert verdict(nobody(tree=both, limits=[limit()], **place)) == HOLDS
    assert verdict(nobody(tree=both, limits=[limit(2)], **place)) == NOT_PROVED


def rule(low, high, coefficients=(1.0, 0.0), now=(0.0, 0.0)):
    return {"coefficients": list(coefficients), "now": list(now), "low": low, "high": high, "name": "r"}


def with_row(low, high, coefficients=(1.0, 0.0)):
    """A proof that rests on a row alone: a is below zero."""
    found = refutation(domain=domain([-4.0, -4.0], [4.0, 4.0], rows=[row(low, high, coefficients)]))
    found["certificate"]["bound"]["tree"]["products"] = [[2.0, ["1"], ["r", 0, "high"]], *ROUNDING]
    return found


def test_rules_over_several_features_are_followed():
    free = {"first": move(), "proofs": [with_row("-inf", -1.0)]}
    assert verdict(nobody(rows=[rule("-inf", -1.0)], **free)) == HOLDS
    assert verdict(nobody(rows=[rule("-inf", -1.5)], **free)) == HOLDS
    assert verdict(nobody(rows=[rule("-inf", -0.5)], **free)) == NOT_PROVED
    assert verdict(nobody(rows=[rule("-inf", -1.0, (1.0, 1.0))], **free)) == NOT_PROVED
    assert verdict(nobody(**free)) == NOT_PROVED


def test_rules_with_what_persons_are_hold_for_all_of_them():
    """a is at most 1 more than today, which is -2 at most."""
    place = {"first": move(), "proofs": [with_row("-inf", -1.0)]}
    assert verdict(nobody(rows=[rule("-inf", 1.0, now=(-1.0, 0.0))], **place)) == HOLDS
    assert verdict(nobody(rows=[rule("-inf", 1.1, now=(-1.0, 0.0))], **place)) == NOT_PROVED
    assert verdict(nobody(rows=[rule("-inf", -5.0, now=(1.0, 0.0))], **place)) == HOLDS
    assert verdict(nobody(rows=[rule("-inf", -4.9, now=(1.0, 0.0))], **place)) == NOT_PROVED
    both = {"first": move(), "proofs": [with_row(-9.0, -1.0)]}
    assert verdict(nobody(rows=[rule(-5.0, 1.0, now=(-1.0, 0.0))], **both)) == HOLDS
    assert verdict(nobody(rows=[rule(-5.1, 1.0, now=(-1.0, 0.0))], **both)) == NOT_PROVED
    open_ = nobody(b=persons("-inf", 4.0), rows=[rule("-inf", 1.0, now=(0.0, -1.0))], **place)
    open_["proofs"][0]["question"]["domain"]["low"][1] = "-inf"
    assert verdict(open_) == NOT_PROVED


# Reading


def test_a_region_without_persons_is_refused():
    assert verdict(nobody(a=persons(-2.0, -4.0)), "region") == FAILS
    assert verdict(nobody(a=persons("inf", "inf")), "region") == FAILS
    assert verdict(nobody(a=persons("-inf", "-inf")), "region") == FAILS
    assert verdict(nobody(a=persons(-4.0, -2.0, [-1.0])), "region") == FAILS
    assert "nobody" not in claims(nobody(a=persons(-2.0, -4.0)))


def test_what_else_is_wrong_with_a_region():
    assert verdict(nobody(target=5), "region") == FAILS
    assert verdict(nobody(requirements=[]), "region") == FAILS
    assert verdict(nobody(requirements=[odds(target=0, rival=1)]), "region") == FAILS
    assert verdict(nobody(rows=[rule(2.0, 1.0)]), "region") == FAILS
    assert verdict(nobody(rows=[rule(1.0, 1.0)]), "region") == HOLDS
    with pytest.raises(UnreadableError):
        exact.check([], nobody())
    assert verdict(nobody(models=["0"]), "model") == FAILS
    assert list(claims(nobody(models=["0"]))) == ["model"]


def edited(*path, value):
    found = nobody()
    place = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return found


@pytest.mark.parametrize(
    "document",
    [
        edited("version", value=2),
        edited("features", value=["a", "c"]),
        edited("features", value=["a"]),
        edited("region", value=[persons(-4.0, -2.0)]),
        edited("region", 0, "low", value=math.nan),
        edited("region", 0, "low", value=None),
        edited("region", 0, "values", value="any"),
        edited("region", 0, "values", value=[math.nan]),
        edited("region", 0, "more", value=1),
        edited("declared", "features", 0, "most", value=-1.0),
        edited("declared", "features", 0, "most", value=0.0),
        edited("declared", "features", 0, "most", value=math.nan),
        edited("declared", "features", 0, "may", value="jump"),
        edited("declared", "features", 0, "bounds", value=[0.0]),
        edited("declared", "features", 0, "values", value=3.0),
        edited("declared", "limits", value=[limit(features=[1, 0])]),
        edited("declared", "limits", value=[limit(features=[2])]),
        edited("declared", "limits", value=[limit(1.0)]),
        edited("declared", "rows", value=[rule(0.0, 1.0, now=(0.0,))]),
        edited("holds", value=1),
        edited("proofs", value={}),
        edited("proofs", value=[{"question": refutation()["question"]}]),
        edited("proofs", value=[{"question": {}, "certificate": {}}]),
        edited("requirements", value=[{}]),
        {key: value for key, value in nobody().items() if key != "tree"},
    ],
)
def test_what_cannot_be_read_is_refused(document):
    with pytest.raises(UnreadableError):
        exact.check([content()], document)


def test_a_deep_tree_ends():
    tree = 0
    for _ in range(exact.DEPTH + 2):
        tree = {"at": [1, -5.0, -5.0], "below": None, "above": tree}
    assert "too deep" in claims(nobody() | {"tree": tree})["nobody"].reason
    assert "too deep" in claims(nobody() | {"tree": tree["above"]})["nobody"].reason
    assert verdict(nobody() | {"tree": tree["above"]["above"]}) == HOLDS


def test_undecided_claims_nothing():
    assert verdict(nobody(holds=None, tree=None, proofs=[])) == NOT_PROVED


# Somebody


def somebody(first=None, second=None, rows=(), limits=(), **changes):
    later = dict.fromkeys(exact.LATER_KEYS) | {"version": 5}
    held = {"holds": False, "tree": None, "proofs": [], "explanation": answer() | later}
    return (
        nobody(a=persons(-2.0, 0.0), first=first or move(), second=second, rows=rows, limits=limits, **held)
        | changes
    )


def test_a_person_who_has_a_way():
    assert {claim.verdict for claim in exact.check([content()], somebody())} == {HOLDS}


def test_a_person_elsewhere_proves_nothing():
    here = [persons(-2.0, 0.0), persons(-4.0, 4.0)]
    for region in (
        [persons(-2.0, -1.5), here[1]],
        [persons(-0.5, 0.0), here[1]],
        [persons(-2.0, 0.0, [-2.0, 0.0]), here[1]],
        [here[0], persons(1.0, 2.0)],
    ):
        assert verdict(somebody(region=region)) == FAILS
    for one in (
        persons(-2.0, 0.0, "whole"),
        persons(-2.0, 0.0, [-1.0]),
        persons(-1.0, 0.0),
        persons(-2.0, -1.0),
    ):
        assert verdict(somebody(region=[one, here[1]])) == HOLDS
    assert verdict(somebody(target=0, requirements=[odds(target=0, rival=1)])) == FAILS
    nothing = somebody()
    without_point(nothing["explanation"])
    assert verdict(nothing) == FAILS


def test_a_change_that_is_not_declared_proves_nothing():
    (x, _), (y, _) = (answer()[key]["values"] for key in ("factual", "counterfactual"))
    rise = {"coefficients": [1.0, 0.0], "now": [-1.0, 0.0], "low": "-inf", "name": "rise"}
    for allowed in (
        somebody(move("rise")),
        somebody(move(most=y - x)),
        somebody(move(least=y - x)),
        somebody(second=move("stay")),
        somebody(rows=[rise | {"high": y - x}]),
        somebody(limits=[{"count": 1, "features": [0, 1]}]),
        somebody(requirements=[odds(threshold=0.4)]),
    ):
        assert verdict(allowed) == HOLDS
    for forged in (
        somebody(move("stay")),
        somebody(move("fall")),
        somebody(move(most=(y - x) / 2)),
        somebody(move(least=(y - x) * 2)),
        somebody(move(values=[x, y + 1.0])),
        somebody(rows=[rise | {"high": (y - x) / 2}]),
        somebody(limits=[{"count": 0, "features": [0]}]),
        somebody(requirements=[odds(threshold=0.6)]),
        somebody(requirements=[odds(), odds(robust=False)]),
    ):
        assert verdict(forged) == FAILS


def test_a_person_is_decided_by_the_models_of_the_file():
    found = somebody()
    found["explanation"]["question"]["models"] = ["0123456789abcdef"]
    assert verdict(found) == FAILS


def test_a_rule_is_kept_up_to_rounding():
    """Explanations keep equations up to a billionth of their terms, on either side, and of nothing else."""
    ends = exact.Sum([1.0, -1.0], [0.0, 0.0], 0.0, 0.0, "")
    said = exact.read_nobody(exact.read_model(content()), nobody())
    one = exact.Persons((0.0, 0.0), (0.0, 0.0), (None, None), (), {})
    room = 2**-29  # of two terms of one: a little less than two billionths
    for kept in ((1.0, 1.0), (1.0 + room, 1.0), (1.0, 1.0 + room), (0.0, 0.0)):
        assert exact._adds_up(said, one, ends, kept)
    for broken in ((1.0 + 2 * room, 1.0), (1.0, 1.0 + 2 * room), (room / 4, 0.0), (0.0, room / 4)):
        assert not exact._adds_up(said, one, ends, broken)


def test_a_whole_person_has_whole_numbers():
    reach = exact.Reach(-2.0, 0.0, exact.WHOLE)
    assert exact.is_in(reach, -1.0)
    assert not exact.is_in(reach, -1.5)
    assert not exact.is_in(reach, 1.0)


# Categories


def test_what_categories_may_become():
    model = exact.read_model(two_categories.content())
    own = model.values[model.categories[0]]
    features = [move() if values is None else {"moves": [[] for _ in values]} for values in model.values]
    features[model.categories[0]] = {"moves": [own[1:2], *([] for _ in own[1:])]}
    region = [persons(0.0, 1.0) if values is None else {"among": values[:1]} for values in model.values]
    document = nobody(features=model.features, region=region) | {
        "declared": {"features": features, "rows": [], "limits": []}, "target": model.labels[0],
    }  # fmt: skip
    said = exact.read_nobody(model, document)
    first = model.categories[0]
    assert said.category_reach(said.persons, 0) == {0, 1}
    assert said.category_reach(said.persons._replace(sides={first: "no"}), 0) == {0}
    assert said.category_reach(said.persons._replace(sides={first: "yes"}), 0) == {1}
    assert said.category_reach(said.persons._replace(sides={model.categories[1]: "yes"}), 1) == set()
    assert said.is_vacuous(said.persons._replace(sides={model.categories[1]: "yes"}))
    parts = exact.split_persons(said, said.persons, {"changes": first, "no": 0, "yes": 1})
    assert [part.sides for _, part in parts] == [{first: "no"}, {first: "yes"}]
    for wrong in (["nothing"], ["nothing", own[0]], own[::-1], [own[0], own[0]], "u"):
        bad = copy.deepcopy(document)
        bad["region"][first] = {"among": wrong}
        with pytest.raises(UnreadableError):
            exact.read_nobody(model, bad)


def test_ends_of_a_sum():
    said = exact.read_nobody(exact.read_model(content()), nobody(rows=[rule(0.0, 1.0, now=(2.0, -1.0))]))
    assert said.sum_ends(said.persons, said.sums[0]) == (Fraction(0) - (-4 + 4), Fraction(1) - (-8 - 4))
    for ends in ((-math.inf, 4.0), (-4.0, math.inf), (-math.inf, math.inf)):
        open_ = said.persons._replace(low=(-4.0, ends[0]), high=(-2.0, ends[1]))
        assert said.sum_ends(open_, said.sums[0]) == (-math.inf, math.inf)


def test_long_lists_and_deep_trees_take_effort():
    said = exact.read_nobody(
        exact.read_model(content()),
        nobody(
            first=move(values=[-3.0] * 50), a=persons(-3.0, -3.0), second=move(step=0.01), b=persons(0.0, 0.0)
        ),
    )
    plain = exact.read_nobody(exact.read_model(content()), nobody())
    case = exact.read_case([content()], exact._infeasible(*refutation().values()))
    for work in (
        lambda: said.number_reach(said.persons, 0),
        lambda: said.number_reach(said.persons, 1),
        lambda: exact.covered_persons(plain, [case]),
        lambda: exact._within_set(case.question, 0, exact.Reach(0.0, 1.0, (0.0, 1.0, 2.0, 3.0))),
    ):
        with exact.limited(exact.Effort(3)), pytest.raises(exact.EffortError):
            work()


def test_the_words_say_everything():
    lines = exact.words([content()], nobody(rows=[rule("-inf", 1.0, now=(-1.0, 0.0))], limits=[limit()]))
    assert lines == [
        "Target: 1",
        "Persons: a from -4 to -2",
        "Changes: a may rise and fall, within -4 to 4 or as far as it is today, by at most 1",
        "Persons: b from -4 to 4",
        "Changes: b may rise and fall, within -4 to 4 or as far as it is today",
        "Rule r: a - a today <= 1",
        "At most 1 of these change: a, b",
        "Required by model 0: probability of 1 against 0 at least 0.5",
    ]
    listed = nobody(first=move("rise", bounds=[-4.0, 1.0], ends=ANY, least=0.5, step=0.25, values=[1.0]))
    text = "Changes: a may rise, within -4 to 1, by at least 0.5, in steps of 0.25, to [1.0] only"
    assert text in exact.words([content()], listed)
    one_side = nobody(first=move("rise", bounds=["-inf", 1.0]), second=move(ends=[0.5, "inf"]))
    lines = exact.words([content()], one_side)
    assert "Changes: a may rise, within -inf to 1, within -4 to 4 or as far as it is today" in lines
    assert "Changes: b may rise and fall, within 0.5 to inf or as far as it is today" in lines
    whole = nobody(a=persons(-4.0, -2.0, "whole"), first=move("stay"), second=move(values="whole"))
    assert "Persons: a from -4 to -2, whole" in exact.words([content()], whole)
    assert "Changes: a stays" in exact.words([content()], whole)
