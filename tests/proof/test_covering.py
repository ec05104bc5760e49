"""States of the categories with ways and limits, on a file in the head.

Two categories and one number as in `two_categories`: the odds of class 1 are ``a`` plus 1/2 if k is "y"
plus 1/4 if m is true; today a = -1, k = "x" and m = False. To change k costs 1/4, to change m 1/2.
"""

import copy
import math
import random
from fractions import Fraction

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, UnreadableError
from tests.proof import two_categories as plain
from tests.proof.two_categories import chance, content, values
from tests.proof.two_numbers import away

INF = math.inf


def leaf(level, norm=(), requirements=((1.0, 0, -1),), products=()):
    return {
        "level": level, "norm": list(norm), "cross": [], "products": [list(p) for p in products],
        "between": [],
        "requirements": [list(r) for r in requirements],
    }  # fmt: skip


def refuted(gain, tree, ways=(), left=()):
    """A proof for every state that adds at most the gain."""
    proof = {"directions": [], "scenarios": [], "tree": tree}
    return {"shape": [], "constants": [gain], "ways": list(ways), "left": list(left), "proof": proof}


def within(gain, level, **more):
    """Nothing lies within the level where the categories add so much: level + gain < 1."""
    return refuted(gain, leaf(level, [0.5 / level]), **more)


def answer(proofs, level=0.99, a=0.0625, eithers=(), limits=(), prices=((0.0, 0.25), (0.0, 0.5)), **changes):
    """The categories stay, the number goes a little beyond zero."""
    e = plain.answer(proofs=list(proofs), prices=prices)
    distance = a + 1
    e |= {
        "counterfactual": values("x", False, a), "probability": chance(a), "worst_probability": chance(a),
        "violation": -a, "distance": distance, "lower_bound": level, "gap": 1 - level / distance,
        "z_score": values(None, None, a - 1),
        "density_percentile": 101 - math.log(2 * math.pi) / 2 - 2 * math.log(2) - (a - 1) ** 2 / 2,
    }  # fmt: skip
    e["question"]["domain"] |= {"eithers": list(eithers), "limits": list(limits)}
    return copy.deepcopy(e | changes)


def limit(count, numbers=(0,), categories=(0, 1)):
    return {"name": "few", "count": count, "numbers": list(numbers), "categories": list(categories)}


def way(rows=(), **categories):
    """Rows (low, high) of a, and codes of k and m."""
    listed = [{"coefficients": [1.0], "low": low, "high": high, "name": ""} for low, high in rows]
    codes = [["km".index(name), list(codes)] for name, codes in sorted(categories.items())]
    return {"rows": listed, "values": codes}


def either(*ways):
    return {"name": "then", "ways": list(ways)}


def found(e):
    return {claim.name: claim for claim in exact.check([content()], e)}


def verdicts(e):
    return {name: claim.verdict for name, claim in found(e).items() if claim.verdict != HOLDS}


def assert_open(e, text=""):
    claim = found(e)["lower bound"]
    assert claim.verdict == NOT_PROVED
    assert text in claim.reason, claim.reason


# ----- limits -----------------------------------------------------------------------------------------------

STILL = leaf("inf")  # the number keeps -1: not enough, whatever the categories add


def limited(count=1, **options):
    """With one change only the number can do it: it has to go all the way."""
    proofs = [within(0.0, 0.99, left=[1]), refuted(0.75, STILL, left=[0])]
    return answer(options.pop("proofs", proofs), limits=[limit(count)], **options)


def test_one_change():
    assert not verdicts(limited())
    assert not verdicts(limited(proofs=[within(0.0, 0.99, left=[1]), refuted(0.5, STILL, left=[0])]))


def test_two_changes():
    """Then k and the number may change; both together cost 3/4."""
    assert_open(limited(2), "nothing covers")
    more = [within(0.0, 0.99, left=[2]), refuted(0.75, STILL, left=[0]), within(0.5, 0.49, left=[1])]
    assert_open(limited(2, proofs=more))
    stopped = {"status": "time_limit", "message": exact.SENTENCES["time_limit"]}
    assert not verdicts(limited(2, proofs=more, level=0.73, **stopped))


def test_what_is_left_must_not_be_too_little():
    """A proof about fewer changes than a state leaves says nothing about it."""
    still = refuted(0.75, STILL, left=[0])
    assert_open(limited(proofs=[still]), "nothing covers the categories ['x', False]")
    assert_open(limited(proofs=[refuted(0.0, STILL, left=[0]), still]))
    assert found(limited(0, proofs=[still]))["lower bound"].verdict == HOLDS


def test_what_is_left_may_be_more():
    """A proof about more changes holds for fewer; but it has to prove more."""
    assert not verdicts(limited(proofs=[within(0.0, 0.99, left=[9]), refuted(0.75, STILL, left=[0])]))
    assert_open(limited(proofs=[within(0.0, 0.99, left=[1]), refuted(0.75, STILL, left=[1])]), "leaf at")
    assert not verdicts(limited(proofs=[within(0.0, 0.99, left=[1]), within(0.5, 0.49, left=[1]),
                                                 refuted(0.5, STILL, left=[0])]))  # fmt: skip


@pytest.mark.parametrize("left", [[-1], [1, 1], [], [True], [1.0], ["1"], [None], None, {"0": 1}])
def test_what_is_left_that_makes_no_sense(left):
    e = limited()
    e["certificate"]["states"]["proofs"][0]["left"] = left
    try:
        assert_open(e)
    except UnreadableError:
        assert left != [-1]


@pytest.mark.parametrize("row", [
    ("y", False, -0.4375), ("y", False, 0.0), ("y", True, -1.0), ("x", True, 0.0),
    ("y", False, math.nextafter(-1.0, 0)), ("x", True, -1.0 - 2**-52),
])  # fmt: skip
def test_too_many_changes_of_the_point(row):
    claim = found(limited(counterfactual=values(*row)))["domain"]
    assert (claim.verdict, claim.reason) == (FAILS, "outside: few")
    assert found(limited(2, counterfactual=values(*row)))["domain"].verdict == (
        FAILS if row[1] and row[2] != -1.0 and row[0] == "y" else HOLDS
    )


def test_categories_alone():
    """A limit of categories; one of numbers says nothing about categories."""
    case = exact.read_case([content()], answer([], limits=[limit(1, numbers=[])]))
    cover = exact.Cover(case, [], [0.0], INF)
    assert not cover.forbidden(())
    assert not cover.forbidden((1,))
    assert not cover.forbidden((1, 0))
    assert cover.forbidden((1, 1))
    for limits in (
        [limit(1, categories=[0])],
        [limit(0, categories=[1])],
        [limit(9), limit(1, categories=[0])],
    ):
        case = exact.read_case([content()], answer([], limits=limits))
        cover = exact.Cover(case, [], [0.0], INF)
        assert cover.forbidden((1, 1)) == (limits[0]["count"] == 0)


# ----- ways -------------------------------------------------------------------------------------------------

AND_THEN = either(way(k=[0]), way(rows=[(0.25, "inf")]))  # if k changes, a must be at least 1/4
FAR = leaf(1.2, [1 / 2.4], (), [[1.0, ["1"], ["c", 0, 0, "low"]]])


def known(*more):
    """Where k stays the either is not asked for; m is dear."""
    return [within(0.0, 0.99, ways=[None]), within(0.25, 0.74, ways=[None]), *more]


def taken(*nodes, ways=(1,), gain=0.75):
    return refuted(gain, {"either": 0, "ways": list(nodes)}, ways=[list(ways)])


def ruled(proofs, rule=AND_THEN, **options):
    return answer(proofs, eithers=[rule], **options)


def test_if_then():
    assert not verdicts(ruled(known(taken(FAR))))
    assert_open(ruled(known()), "nothing covers the categories ['y'")
    assert_open(ruled(known(taken(FAR, gain=0.5))), "nothing covers the categories ['y', True]")


def test_a_way_left_out():
    """In the tree, or in what the proof is about."""
    for proof in (taken(), taken(ways=()), taken(FAR, FAR), taken(None), taken(FAR, ways=(0,))):
        assert_open(ruled(known(proof)))
    assert verdicts(ruled(known(taken(ways=())))) == {"lower bound": NOT_PROVED}
    rule = either(way(k=[0]), way(rows=[(0.25, "inf")]), way(rows=[("-inf", -0.75)]))
    near = leaf(0.74, [0.01], products=[[1.0, ["1"], ["c", 0, 0, "high"]]])
    assert not verdicts(ruled(known(taken(FAR, near, ways=(1, 2), gain=0.5)),
                                       rule, prices=((0.0, 0.25), (0.0, "inf"))))  # fmt: skip
    for proof in (
        taken(FAR, ways=(1,)), taken(near, ways=(2,)), taken(near, FAR, ways=(1, 2)), taken(FAR, ways=(1, 2)),
    ):  # fmt: skip
        assert_open(ruled(known(proof), rule, prices=((0.0, 0.25), (0.0, "inf"))))


def test_ways_that_a_state_leaves():
    """A proof about some ways holds for no state that leaves another."""
    proofs = [taken(FAR)]  # about k = "y"; nothing about k = "x"
    assert_open(ruled(proofs), "nothing covers the categories ['x'")
    assert_open(ruled([taken(FAR, gain=0.75), within(0.25, 0.74, ways=[[0]])]))
    both = either(way(k=[0, 1]), way(rows=[(0.25, "inf")]))
    assert_open(ruled(known(taken(FAR)), both), "nothing covers the categories ['y'")


def test_a_way_without_rows_may_be_listed():
    """Its child is about all points."""
    proofs = [taken(leaf(0.74, [0.5 / 0.74]), FAR, ways=(0, 1), gain=0.25), within(0.0, 0.99, ways=[None])]
    assert not verdicts(ruled([*proofs, taken(FAR)]))
    proofs[0] = taken(leaf(0.74), FAR, ways=(0, 1), gain=0.25)
    assert_open(ruled([*proofs, taken(FAR)]), "leaf 0")


def test_a_way_that_contradicts_its_state():
    """k = "y" is not a value of the first way: as soon as it is, it must be looked at."""
    proofs = known(taken(FAR))
    for codes, holds in (([0], True), ([], True), ([0, 1], False), ([1], False)):
        e = ruled(proofs, either(way(k=codes), way(rows=[(0.25, "inf")])))
        assert ("lower bound" not in verdicts(e)) == holds


def test_values_that_may_not_be_taken():
    """m cannot change: a way that needs it is closed from the start."""
    rule = either(way(k=[0]), way(m=[1]), way(rows=[(0.25, "inf")]))
    proofs = known(taken(FAR, ways=(2,), gain=0.5))
    assert not verdicts(ruled(proofs, rule, prices=((0.0, 0.25), (0.0, "inf"))))
    assert_open(ruled(proofs, rule))


def test_no_way_at_all():
    """k must stay: where it does not, nothing has to be proved."""
    proofs = known()
    assert not verdicts(ruled(proofs, either(way(k=[0]))))
    assert_open(ruled(proofs, either(way(k=[0]), way())))
    assert_open(ruled(proofs, either(way(k=[0, 1]))))
    nothing = ruled([], either(), status="infeasible", message=exact.SENTENCES["infeasible"])
    assert found(nothing)["lower bound"].verdict == HOLDS
    assert found(nothing)["domain"].verdict == FAILS


def test_dropped_eithers_are_not_split():
    e = ruled(known(refuted(0.75, {"either": 0, "ways": [FAR]}, ways=[None])))
    assert_open(e, "not asked for")


@pytest.mark.parametrize("ways", [
    [[1, 0]], [[0, 0]], [[2]], [[-1]], [[True]], [["1"]], [[1.0]], [], [None, None], None, [1], [{"1": 1}],
])  # fmt: skip
def test_ways_that_make_no_sense(ways):
    e = ruled(known(taken(FAR)))
    e["certificate"]["states"]["proofs"][-1]["ways"] = ways
    with pytest.raises(UnreadableError):
        exact.check([content()], e)


def test_keys_of_states():
    for key in ("ways", "left"):
        e = ruled(known(taken(FAR)))
        del e["certificate"]["states"]["proofs"][0][key]
        with pytest.raises(UnreadableError, match=key):
            exact.check([content()], e)


@pytest.mark.parametrize(("row", "holds"), [
    (("x", False, 0.0625), True), (("x", True, -0.25), True), (("y", False, -0.5), False),
    (("y", True, 0.25), True),
    (("y", False, math.nextafter(0.25, 0)), False), (("y", False, math.nextafter(0.25, 1)), True),
])  # fmt: skip
def test_the_point_takes_a_way(row, holds):
    claim = found(ruled(known(taken(FAR)), counterfactual=values(*row)))["domain"]
    assert claim.verdict == (HOLDS if holds else FAILS)
    assert holds or claim.reason == "outside: then"


# ----- partial assignments ----------------------------------------------------------------------------------


def cover_of(e, *proofs, level=0.74, trades=()):
    case = exact.read_case([content()], e)
    listed = [exact.Refuted((), [exact.twice(g).low], Fraction(r), ways, left) for g, r, ways, left in proofs]
    return exact.Cover(case, listed, sorted({0.0, *trades}), level)


def test_what_may_still_hold():
    """Ways whose categories are not yet contradicted; changes so far."""
    e = answer(
        [], eithers=[either(way(k=[0]), way(m=[1]), way(rows=[(0.0, 1.0)], k=[1], m=[0]))], limits=[limit(2)]
    )
    cover = cover_of(e)
    for known_, ways, left in (
        ((), {0, 1, 2}, 2), ((0,), {0, 1}, 2), ((1,), {1, 2}, 1), ((0, 0), {0}, 2), ((0, 1), {0, 1}, 1),
        ((1, 0), {2}, 1), ((1, 1), {1}, 0),
    ):  # fmt: skip
        state = cover._known(known_)
        assert cover._open_ways(state) == [ways]
        assert cover._left(state) == [left]
        for kept in (None, {0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}, set()):
            for most in (0, 1, 2, 3):
                one = cover_of(e, (0.0, 1.0, [kept], [most]))
                holds = (kept is None or ways <= kept) and left <= most
                assert bool(one.holding(known_, ())) == holds


def test_stairs_are_made_of_proofs_that_hold():
    """Of two proofs that make a stair together, one is about another way: then they do not."""
    e = answer([], level=0.74, eithers=[either(way(rows=[(0.0, 1.0)]), way(rows=[(5.0, 6.0)]))])
    steps = [(0.0, 0.74), (0.5, 0.49)]
    fine = cover_of(e, *((g, r, [{0, 1}], []) for g, r in steps), trades=[2.0])
    assert fine.covers(Fraction(0), ()) or fine.uncovered() is None
    for k in range(2):
        narrow = [(g, r, [{0}] if i == k else [{0, 1}], []) for i, (g, r) in enumerate(steps)]
        assert cover_of(e, *narrow, trades=[2.0]).uncovered() is not None
    limited_ = answer([], level=0.74, limits=[limit(2)])
    fine = cover_of(limited_, *((g, r, [], [2]) for g, r in steps), trades=[2.0])
    assert fine.uncovered() is None
    for k in range(2):
        fewer = [(g, r, [], [0 if i == k else 2]) for i, (g, r) in enumerate(steps)]
        assert cover_of(limited_, *fewer, trades=[2.0]).uncovered() is not None


def test_every_state_by_itself():
    """Random rules and limits: what the cover says, each state says by itself."""
    rng = random.Random(0)
    codes = lambda: rng.sample([[0], [1], [0, 1], []], 1)[0]  # noqa: E731
    for _ in range(300):
        rules = [
            either(
                *(
                    way(rows=rng.choice([[], [(0.0, 1.0)]]), k=codes(), m=codes())
                    for _ in range(rng.randint(1, 3))
                )
            )
            for _ in range(rng.randint(0, 2))
        ]
        limits = [
            limit(rng.randint(0, 2), categories=rng.choice([[0], [1], [0, 1], []]))
            for _ in range(rng.randint(0, 2))
        ]
        prices = [[0.0, rng.choice([0.25, "inf"])] for _ in range(2)]
        e = answer([], eithers=rules, limits=limits, prices=prices)
        proofs = [
            (
                1.0,
                1.0,
                [rng.choice([None, {0}, {0, 1}, {0, 1, 2}, {1}]) for _ in rules],
                [rng.randint(0, 2) for _ in limits],
            )
            for _ in range(2)
        ]
        open_state = cover_of(e, *proofs).uncovered()
        fine = all(covered(e, proofs, (k, m)) for k in range(2) for m in range(2) if "inf" not in (
            prices[0][k], prices[1][m]))  # fmt: skip
        assert (open_state is None) == fine


def covered(e, proofs, state):
    """Whether a state is not allowed, or a proof holds for it."""
    domain = e["question"]["domain"]
    listed = [
        {w for w, way_ in enumerate(rule["ways"]) if all(state[k] in codes for k, codes in way_["values"])}
        for rule in domain["eithers"]
    ]
    left = [entry["count"] - sum(state[k] for k in entry["categories"]) for entry in domain["limits"]]
    if set() in listed or min(left, default=0) < 0:
        return True
    return any(
        all(kept is None or own <= kept for kept, own in zip(ways, listed, strict=True))
        and all(own <= most for most, own in zip(more, left, strict=True))
        for _, _, ways, more in proofs
    )


def covering(eithers=(), limits=(), **options):
    """All states of two categories with two values each."""
    model = plain.content(decision=None)
    e = plain.answer(model, **options)
    e["question"]["domain"] |= {"eithers": list(eithers), "limits": list(limits)}
    return exact.Cover(plain.case_of(e, model), [], [0.0], 1.0)


def test_gains_of_a_distance_to_keep():
    for k in (0, 1):
        gain = covering()._gain(away(1.0, (0.0,)), k)
        assert (gain.categories, gain.sizes, gain.entries) == ([k], [2], exact.Wholes([0, 0]))


def test_ways_that_no_category_may_take():
    ways = [{"rows": [], "values": [[0, [1]]]}, {"rows": [], "values": [[1, [0]]]}]
    closed = covering([{"name": "e", "ways": ways}], prices=((0.0, "inf"), (0.0, 0.5)))
    assert closed.ways == [[(1, {1: {0}})]]
    assert closed.forbidden((0, 1))
    assert not closed.forbidden((0, 0))


def test_one_limit_is_enough_to_forbid():
    counts = {0: 0, 1: 1}
    few = covering(limits=[limit(count, [], [k]) for k, count in counts.items()])
    assert [few.forbidden(values) for values in ((), (0, 1), (1, 0), (1, 1))] == [False, False, True, True]


def test_less_than_nothing_is_left():
    model = plain.content()
    proof = plain.refuted(0.0, 0.74) | {"left": [-1]}
    e = plain.answer(model, [proof])
    e["question"]["domain"] |= {"limits": [limit(1, [0], [0])]}
    with pytest.raises(exact.FaultError, match="less than nothing"):
        exact._refuted(plain.case_of(e, model), proof)
    assert exact._refuted(plain.case_of(e, model), proof | {"left": [1]}).left == [1]
