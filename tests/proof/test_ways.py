"""Trees that split along eithers and changes, at their very edge: proofs that can be done in the head.

The requirement is a disk of radius 1 around (3, 0) or (3, 3), and today is the origin, but where it is said.
"""

import contextlib

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FaultError, Row, UnreadableError
from tests.proof.handmade import leaf_holds
from tests.proof.test_conditions import ABOVE, BELOW, INF, disk, leaf, proof, proven
from tests.proof.test_conditions import setting as plain


def setting(ways=(), limits=(), **options):
    found = plain(**options)
    return exact.replace(
        found, ways=list(ways), limits=[(count, frozenset(numbers)) for count, numbers in limits]
    )


def row(coefficients, low=-INF, high=INF):
    return Row(list(coefficients), low, high, "r")


def at_most(j, high):
    return row([float(j == 0), float(j == 1)], high=high)


def at_least(j, low):
    return row([float(j == 0), float(j == 1)], low=low)


def either(*ways, number=0):
    return {"either": number, "ways": list(ways)}


def changed(j, no, yes):
    return {"changed": j, "no": no, "yes": yes}


def by_row(k, i, side):
    """Proves that a row of a way excludes the disk: x_0 <= h does so for h < 2."""
    return leaf("inf", products=[(1.0, ("1",), ("c", k, i, side))])


BARE = leaf("inf", requirements=())
NEEDS = leaf("inf")  # proves where the disk's other coordinates are fixed far away


def refused(where, tree):
    """The checker does not accept it, however it says so."""
    with contextlib.suppress(UnreadableError):
        assert proven(where, tree) is None


# ----- ways -------------------------------------------------------------------------------------------------


def test_a_row_of_the_way_taken():
    for high, holds in ((BELOW, INF), (2.0, None), (ABOVE, None)):
        where = setting([[[at_most(0, high)]]])
        assert proven(where, either(by_row(0, 0, "high"))) == holds
        where = setting([[[at_least(0, -high)]]], requirement=disk(-3.0, 0.0, 1))
        assert proven(where, either(by_row(0, 0, "low"))) == holds


def test_a_row_that_adds_up():
    """2 x_0 + x_1 <= h and x_1 >= 0: the least of 2 x_0 + x_1 on the disk is 6 - sqrt 5."""
    edge = 6 - 5**0.5
    for high, holds in ((edge - 1e-9, INF), (edge + 1e-9, None)):
        where = setting([[[at_least(1, -9.0), row([2.0, 1.0], high=high)]]])
        one = leaf("inf", products=[(5**-0.5, ("1",), ("c", 0, 1, "high"))])
        assert proven(where, either(one)) == holds


def test_every_way_is_looked_at():
    """Way 0 excludes the disk, way 1 does not, way 2 does."""
    ways = [[at_most(0, 1.0)], [at_most(0, 4.0)], [at_least(1, 1.5)]]
    low, high = by_row(0, 0, "high"), by_row(0, 0, "low")
    assert proven(setting([[ways[0], ways[2]]]), either(low, high)) == INF
    refused(setting([[ways[0], ways[1], ways[2]]]), either(low, high))
    refused(setting([[ways[0], ways[1]]]), either(low))
    refused(setting([[ways[0]]]), either())
    refused(setting([[ways[0]]]), either(low, low))
    refused(setting([[ways[0]]]), either(low, None))
    refused(setting([[ways[0], ways[2]]]), either(low, None))


def test_ways_come_in_their_order():
    one, two = [at_most(0, 1.0)], [at_least(1, 1.5)]
    low, high = by_row(0, 0, "high"), by_row(0, 0, "low")
    assert proven(setting([[one, two]]), either(low, high)) == INF
    refused(setting([[two, one]]), either(low, high))
    refused(setting([[one, two]]), either(high, low))


def test_which_either():
    free, narrow = [[]], [[at_most(0, 1.0)]]
    where, tree = setting([free, narrow]), by_row(0, 0, "high")
    assert proven(where, either(tree, number=1)) == INF
    for number in (0, 2, -1, True, 1.0, "1", None, [1]):
        refused(where, either(tree, number=number))
    refused(setting([None, narrow]), either(tree, number=0))
    refused(setting([narrow, None]), either(tree, number=1))
    refused(plain(), either(tree))


def test_one_either_after_the_other():
    where = setting([[[at_most(0, 1.0)]], [[at_most(0, 4.0)], [at_least(1, 5.0)]]])
    far = by_row(0, 0, "low")
    assert proven(where, either(either(by_row(1, 0, "high"), number=0), far, number=1)) == INF
    refused(where, either(by_row(0, 0, "high"), far, number=1))
    refused(where, either(either(by_row(0, 0, "high"), number=0), far, number=1))


def test_no_way_at_all():
    assert proven(setting([[]]), either()) == INF
    assert (
        proven(setting([[]]), {"cut": [["x", 0], 1.0], "below": leaf(1.0, [0.25]), "above": either()}) == 1.0
    )


def test_a_way_without_rows_is_everything():
    assert proven(setting([[[]]]), either(leaf(1.9, [0.25]))) == 1.9
    for one in (BARE, leaf(2.1, [0.25]), by_row(0, 0, "high")):
        refused(setting([[[]]]), either(one))


def test_intervals_narrow_features():
    """A feature whose ends are equal cannot move; ends that exclude each other leave nothing."""
    for value, holds in ((0.5, INF), (BELOW, INF), (2.0, None), (3.0, None), (4.0, None), (5.0, INF)):
        fixed = [row([1.0, 0.0], value, value)]
        assert proven(setting([[fixed]]), either(NEEDS)) == holds
    both = [at_least(0, 1.0), at_most(0, 1.0)]
    assert proven(setting([[both]]), either(NEEDS)) == INF
    assert (
        proven(setting([[[at_least(0, 1.0)]], [[at_most(0, 1.0)]]]), either(either(NEEDS), number=1)) == INF
    )
    for low, holds in ((ABOVE, INF), (2.0, None)):
        assert proven(setting([[[at_most(0, 2.0)]]], low=(low, -INF)), either(BARE)) == holds
        assert proven(setting([[[at_least(0, low), at_most(0, 2.0)]]]), either(BARE)) == holds
        assert proven(setting([[[at_least(0, low)]]], high=(2.0, INF)), either(BARE)) == holds
    cut = {"cut": [["x", 0], 1.0], "below": NEEDS, "above": leaf(1.9, [0.25])}
    assert proven(setting([[[at_least(0, 1.0)]]]), either(cut)) == 1.9
    refused(setting([[[at_least(0, 0.5)]]]), either(cut))
    refused(setting([[[at_least(1, 1.0)]]]), either(cut))


def test_other_rows_narrow_nothing():
    """Two times a feature, or none at all, is no interval; what is left to its ends may be named."""
    twice = [row([2.0, 0.0], 1.0, 1.0)]
    refused(setting([[twice]]), either(NEEDS))
    half = leaf("inf", products=[(0.5, ("1",), ("c", 0, 0, "high"))])
    assert proven(setting([[[row([2.0, 0.0], high=3.9)]]]), either(half)) == INF
    refused(setting([[[row([2.0, 0.0], high=4.1)]]]), either(half))
    for coefficients in ([0.0, 0.0], [1.0, 1.0], [-1.0, 0.0], [1.0, 5e-324]):
        refused(setting([[[row(coefficients, 0.5, 0.5)]]]), either(NEEDS))
        refused(setting([[[row(coefficients, 3.0, 2.0)]]]), either(BARE))


@pytest.mark.parametrize(
    "entry",
    [
        ("c", 0), ("c", 0, 0), ("c", 0, 0, "low"), ("c", 0, 1, "high"), ("c", 0, -1, "high"),
        ("c", -1, 0, "high"),
        ("c", 1, 0, "high"), ("c", 0, 0, "left"), ("c", 0, 0, "high", 0), ("c", 0, True, "high"),
        ("c", False, 0, "high"), ("c", 0, 0.0, "high"), ("c", 0, "0", "high"), ("c", 0, None, "high"), ("c",),
        ("c", 0, 0, None), ("c", 0, 0, ("high",)),
    ],
)  # fmt: skip
def test_functions_of_ways_that_are_not_allowed(entry):
    where = setting([[[at_most(0, 1.0)]]])
    fine = (1.0, ("1",), ("c", 0, 0, "high"))
    assert proven(where, either(leaf("inf", products=[fine]))) == INF
    refused(where, either(leaf("inf", products=[fine, (0.0, ("1",), entry)])))


def test_rows_belong_to_ways_alone():
    where = setting([[[at_most(0, 1.0)]]], limits=[(1, [1])])
    far = leaf(8.0, [0.0625], products=[(1.0, ("1",), ("c", 0))], requirements=())
    cut = {"cut": [["x", 1], 9.0], "below": by_row(0, 0, "high"), "above": far}
    refused(where, cut)
    assert proven(where, cut | {"below": either(by_row(1, 0, "high"))}) == 8.0
    refused(where, cut | {"below": either(by_row(0, 0, "high"))})
    refused(where, changed(1, by_row(0, 0, "high"), either(by_row(1, 0, "high"))))
    once = leaf("inf", products=[(1.0, ("1",), ("c", 1, 0, "high")), (0.0, ("1",), ("c", 0))])
    refused(where, changed(1, either(by_row(1, 0, "high")), either(once)))


def test_nodes_with_other_keys():
    where, one = setting([[[at_most(0, 1.0)]]], limits=[(2, [0, 1])]), by_row(0, 0, "high")
    for node in (
        {"either": 0}, {"either": 0, "ways": {}}, {"either": 0, "ways": None},
        {"either": 0, "ways": [one], "x": 1},
        {"either": 0, "ways": [one], "cut": [["x", 0], 1.0]}, {"changed": 0, "no": one},
        {"changed": 0, "no": one, "yes": one, "below": one}, {"changed": 0, "below": one, "above": one},
        {"changed": 0, "no": one, "yes": one, "either": 0}, {"ways": [one]}, {"either": 0, "ways": (one,)},
    ):  # fmt: skip
        with pytest.raises(UnreadableError):
            proven(where, node)


def test_ways_and_changes_count_as_splits():
    """At most 900 on the way to a leaf."""
    for make in (either, lambda tree: {"cut": [["u", 0], 9.0], "below": tree, "above": tree}):
        tree = leaf(1.0, [0.25])
        for _ in range(exact.DEPTH):
            tree = either(tree)
        assert proven(setting([[[]]]), tree) == 1.0
        with pytest.raises(UnreadableError):
            exact.proven_level(proof(setting([[[]]]), make(tree)))


# ----- changes ----------------------------------------------------------------------------------------------


def both(limits, **options):
    """The disk around (3, 3): neither feature may keep today's value."""
    return setting(limits=limits, requirement=disk(3.0, 3.0, 1), **options)


def test_one_change_is_not_enough():
    tree = changed(0, NEEDS, NEEDS)
    assert proven(both([(1, [0, 1])]), tree) == INF
    refused(both([(2, [0, 1])]), tree)  # the limit is not used up
    refused(both([(1, [0])]), tree)  # nor is it about the other feature
    refused(both([]), tree)
    refused(both([(1, [0, 1])]), changed(0, NEEDS, BARE))
    refused(both([(1, [0, 1])]), changed(0, BARE, NEEDS))
    refused(both([(1, [0, 1])]), changed(0, None, NEEDS))
    refused(both([(1, [0, 1])]), changed(0, NEEDS, None))
    assert proven(both([(2, [0, 1])]), changed(0, NEEDS, changed(1, NEEDS, leaf(2.8, [0.5])))) == 2.8


def test_what_one_change_reaches_is_not_excluded():
    """(2, 0) is two away, and one feature changed."""
    where = setting(limits=[(1, [0, 1])])
    assert proven(where, changed(0, NEEDS, leaf(BELOW, [0.25]))) == BELOW
    for level in (2.0, ABOVE, "inf"):
        refused(where, changed(0, NEEDS, leaf(level, [0.25] if level != "inf" else ())))
    refused(where, changed(1, leaf(2.5, [0.25]), NEEDS))
    assert proven(where, changed(1, leaf(BELOW, [0.25]), NEEDS)) == BELOW


def test_numbers_of_no_limit():
    where = both([(1, [0])])
    for j in (1, 2, -1, True, 0.0, "0", None):
        refused(where, changed(j, NEEDS, NEEDS))
    refused(both([]), changed(0, NEEDS, leaf(2.0, [0.5])))
    assert proven(both([(1, [1]), (0, [0])]), changed(1, NEEDS, NEEDS)) == INF


def test_a_number_counts_once():
    """Counted twice, it would use up what is left for the other."""
    twice = changed(0, NEEDS, changed(0, NEEDS, NEEDS))
    refused(both([(2, [0, 1])]), twice)
    refused(both([(2, [0, 1])]), changed(0, NEEDS, changed(0, leaf(2.0, [0.5]), leaf(2.0, [0.5]))))
    refused(both([(2, [0, 1])]), changed(0, changed(0, NEEDS, NEEDS), leaf(2.0, [0.5])))
    refused(both([(1, [0, 1])]), changed(0, NEEDS, changed(1, NEEDS, NEEDS)))  # kept by the limit
    refused(both([(0, [0, 1])]), changed(0, NEEDS, NEEDS))


def test_a_limit_with_nothing_left():
    for limits in ([(0, [0, 1])], [(0, [0])], [(0, [1])], [(5, [0]), (0, [1])]):
        assert proven(both(limits), NEEDS) == INF
    refused(both([(1, [0, 1])]), NEEDS)
    refused(both([(0, [])]), NEEDS)


def test_every_limit_of_a_number_counts():
    tree = changed(0, NEEDS, NEEDS)
    for limits in ([(2, [0, 1]), (1, [0, 1])], [(1, [0, 1]), (2, [0, 1])], [(9, [0]), (1, [0, 1])]):
        assert proven(both(limits), tree) == INF
    refused(both([(1, [0]), (2, [0, 1])]), tree)
    refused(both([(1, [0]), (1, [1])]), tree)
    three = changed(1, NEEDS, changed(0, NEEDS, leaf(2.8, [0.5])))
    assert proven(both([(1, [0]), (1, [1])]), three) == 2.8


def test_today_is_the_factual():
    """Where today is (1, 3) one change is enough, where it is (1, 1) it is not."""
    tree = changed(0, NEEDS, NEEDS)
    assert proven(both([(1, [0, 1])], factual=(1.0, 1.0)), tree) == INF
    refused(both([(1, [0, 1])], factual=(1.0, 3.0)), tree)
    refused(both([(1, [0, 1])], factual=(3.0, 1.0)), tree)
    assert proven(both([(1, [0, 1])], factual=(-0.0, 0.0)), tree) == INF


def test_what_must_change_and_may_not():
    """The domain excludes today's value: keeping it leaves nothing."""
    where = setting(limits=[(1, [0, 1])], low=(1.0, 1.0))
    assert proven(where, changed(0, BARE, BARE)) == INF
    refused(setting(limits=[(1, [0, 1])], low=(1.0, 0.0)), changed(0, BARE, BARE))
    refused(setting(limits=[(2, [0, 1])], low=(1.0, 1.0)), changed(0, BARE, BARE))
    assert proven(setting(limits=[(1, [0, 1])], high=(-1.0, -1.0)), changed(1, BARE, BARE)) == INF


def test_changes_and_ways_together():
    """A way that moves the second feature uses up the limit; the first keeps today's value."""
    where = setting([[[at_least(1, 0.5)], [at_most(0, 1.0)]]], limits=[(1, [0, 1])])
    empty = changed(1, BARE, NEEDS)
    assert proven(where, either(empty, by_row(0, 0, "high"))) == INF
    refused(where, either(changed(0, NEEDS, leaf(1.0, [0.25])), changed(1, BARE, BARE)))
    assert proven(where, either(changed(0, NEEDS, BARE), by_row(0, 0, "high"))) == INF


def test_today_moves_with_the_kept_features():
    """Values other than today's, by intervals, beside features that are kept."""
    for value, holds in ((2.5, None), (1.5, INF)):
        where = setting([[[row([0.0, 1.0], value, value)]]], limits=[(1, [0])], requirement=disk(0.0, 3.0, 1))
        tree = either(changed(0, NEEDS, leaf("inf")))
        assert proven(where, tree) == holds
    where = setting([[[row([0.0, 1.0], 1.5, 1.5)]]], limits=[(1, [0])], requirement=disk(3.0, 1.5, 1))
    assert proven(where, either(changed(0, NEEDS, leaf(1.9, [0.25])))) == 1.9
    refused(where, either(changed(0, NEEDS, leaf(2.6, [0.25]))))


def test_places_of_leaves():
    where = setting([[[at_most(0, 1.0)], [at_most(0, 4.0)]]], limits=[(2, [0, 1])])
    tree = either(by_row(0, 0, "high"), changed(0, NEEDS, changed(1, leaf(1.0, [0.25]), BARE)))
    with pytest.raises(FaultError, match=r"^leaf 1aa: "):
        exact.proven_level(proof(where, tree))


def test_a_leaf_by_itself():
    """The way to it is as the file has it."""
    where = both([(1, [0, 1])])
    read, node = proof(where), changed(0, None, None)
    assert leaf_holds(read, NEEDS, [(node, "yes")])
    assert leaf_holds(read, NEEDS, [(node, "no")])
    assert not leaf_holds(read, BARE, [(node, "no")])
    read = proof(setting([[[at_most(0, 4.0)], [at_most(0, 1.0)]]]))
    assert leaf_holds(read, by_row(0, 0, "high"), [(either(None, None), 1)])
    assert not leaf_holds(read, by_row(0, 0, "high"), [(either(None, None), 0)])
