"""Whole files with ways, limits and prices: honest ones hold, and whatever is changed in them does not."""

import copy
import functools
import json
import math

import numpy as np
import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, UnreadableError
from tests.proof import handmade, two_numbers
from tests.proof.handmade import INF, explained, mean_of, question, small
from tests.thinning import only as at_once

PRICES = [(1.0, 2.0), (0.5, 3.0), (2.0, 0.25)]


def start():
    return mean_of(small(3), "a")


def unit():
    return np.sqrt(np.diag(small(3).networks_[0].covariance))


def asked(**options):
    return question(small(3), start(), "b", **options)


def only(j, low=-INF, high=INF):
    return [float(i == j) for i in range(3)], low, high


def ways():
    """The second feature falls far, or the first does, and the sum of the others rises."""
    m, s = start(), unit()
    return [
        [only(1, high=float(m[1] - 2.2 * s[1]))],
        [only(0, high=float(m[0] - 0.5 * s[0])), ([0.0, 1.0, 1.0], float(m[1] + m[2]) - 0.5, INF)],
    ]


def set_or_kept():
    """The second feature keeps its value, or has another one."""
    now, other = float(start()[1]), float(start()[1] + 0.5 * unit()[1])
    return [[only(1, now, now)], [only(1, other, other)]]


def nothing_exists():
    m = start()
    limits = asked(limits=[(1, [0, 1, 2])], low=m - 0.9, high=m + 0.9, norm=2)
    return handmade.impossible(small(3), limits)


def nothing_is_cheap():
    m = start()
    return handmade.impossible(small(3), asked(prices=PRICES, low=m - 0.1, high=m + 0.1, norm=1))


def made_by(**options):
    return lambda: explained(small(3), asked(**options))


MADE = {
    **{f"one change, {p:g}": made_by(norm=p, limits=[(1, [0, 1, 2])]) for p in (1.0, 2.0, INF)},
    **{f"cost {p:g}": made_by(norm=p, prices=PRICES) for p in (1.0, 2.0, INF)},
    **{f"ways {p:g}": made_by(norm=p, eithers=[ways()]) for p in (1.0, 2.0, INF)},
    "two limits": made_by(norm=2, limits=[(2, [0, 1, 2]), (1, [0, 1])]),
    "a value": made_by(eithers=[set_or_kept()]),
    "everything": made_by(norm=2, eithers=[ways()], limits=[(2, [0, 1, 2])], prices=PRICES),
    "exactly": made_by(norm=1, prices=PRICES, exact=[1]),
    "all exactly": made_by(norm=2, prices=PRICES, exact=[0, 1, 2]),
    "by feature": made_by(norm=2, prices=PRICES, budget={0: (0.02, 0.01)}),
    "dag": made_by(prices=PRICES, whitening="dag"),
    "zca": made_by(prices=PRICES, whitening="zca", norm=2),
    "infeasible": nothing_exists,
    "infeasible cost": nothing_is_cheap,
}


@functools.cache
def made(name):
    return json.dumps(handmade.model_document(small(3))), json.dumps(MADE[name]())


SLOW = ("one change, 1", "one change, inf", "everything", "two limits")


def files(name):
    return tuple(map(json.loads, made(name)))


def wrong(model, e):
    return {claim.name: claim.verdict for claim in exact.check([model], e) if claim.verdict != HOLDS}


def reason(model, e, name):
    return next(claim.reason for claim in exact.check([model], e) if claim.name == name)


@pytest.mark.parametrize("name", at_once([name for name in MADE if name not in SLOW], MADE))
def test_honest_files_hold(name):
    model, e = files(name)
    assert not wrong(model, e)
    assert e == files(name)[1]
    assert exact.words([model], e)


def splits(node, kind):
    """All nodes of a kind, with a function that puts something in their place."""
    found, stack = [], [(node, None)]
    while stack:
        node, put = stack.pop()
        if kind in node:
            found.append((node, put))
        inner = [(node, side) for side in ("below", "above", "no", "yes") if side in node]
        inner += [(node["ways"], k) for k in range(len(node.get("ways", [])))]
        stack += [(group[key], functools.partial(group.__setitem__, key)) for group, key in inner]
    return found


def leaves(node):
    if "level" in node:
        return [node]
    sides = [node[side] for side in ("below", "above", "no", "yes") if side in node]
    return [one for child in [*sides, *node.get("ways", [])] for one in leaves(child)]


# ----- trees ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["one change, 1", "one change, 2", "one change, inf", "two limits", "everything"]
)
def test_no_side_of_a_change_may_be_left_out(name):
    model, e = files(name)
    number = len(splits(e["certificate"]["bound"]["tree"], "changed"))
    assert number
    open_ones = 0
    for k in range(number):
        for side in ("no", "yes"):
            model, e = files(name)
            proof = e["certificate"]["bound"]
            node, put = splits(proof["tree"], "changed")[k]
            if put is None:
                proof["tree"] = node[side]
            else:
                put(node[side])
            open_ones += wrong(model, e) == {"lower bound": NOT_PROVED}
    assert open_ones >= number


@pytest.mark.parametrize("name", ["ways 1", "ways 2", "ways inf", "everything"])
def test_no_way_may_be_left_out(name):
    for change in (
        lambda node: node["ways"].pop(),
        lambda node: node["ways"].pop(0),
        lambda node: node["ways"].append(node["ways"][0]),
        lambda node: node["ways"].reverse(),
        lambda node: node.update(either=1),
        lambda node: node.update(either=-1),
        lambda node: node["ways"].__setitem__(0, None),
        lambda node: node["ways"].__setitem__(1, node["ways"][0]),
        lambda node: node["ways"].__setitem__(0, node["ways"][1]),
    ):
        model, e = files(name)
        change(splits(e["certificate"]["bound"]["tree"], "either")[0][0])
        assert wrong(model, e) == {"lower bound": NOT_PROVED}


@pytest.mark.parametrize("name", ["one change, 2", "two limits", "everything"])
def test_counts_are_the_questions(name):
    """With one more change allowed the proof does not hold, with one less it holds all the more."""
    model, e = files(name)
    for limit in e["question"]["domain"]["limits"]:
        limit["count"] += 1
    assert wrong(model, e) == {"lower bound": NOT_PROVED}
    model, e = files(name)
    e["question"]["domain"]["limits"][0]["count"] -= 1
    assert wrong(model, e).get("domain") == FAILS


def test_numbers_are_the_questions():
    """A limit about fewer features keeps fewer of them."""
    model, e = files("one change, 2")
    for j in range(3):
        model, e = files("one change, 2")
        e["question"]["domain"]["limits"][0]["numbers"].remove(j)
        assert wrong(model, e) == {"lower bound": NOT_PROVED}
    model, e = files("one change, 2")
    e["question"]["domain"]["limits"] = []
    assert wrong(model, e) == {"lower bound": NOT_PROVED}


@pytest.mark.parametrize("name", ["ways 2", "a value"])
def test_rows_of_ways_are_the_questions(name):
    """Ways that allow more are not covered by the proof."""
    for k in range(2):
        model, e = files(name)
        e["question"]["domain"]["eithers"][0]["ways"][k]["rows"] = []
        assert wrong(model, e) == {"lower bound": NOT_PROVED}
    model, e = files(name)
    e["question"]["domain"]["eithers"][0]["ways"].append({"rows": [], "values": []})
    assert wrong(model, e) == {"lower bound": NOT_PROVED}


@pytest.mark.parametrize("name", [name for name in MADE if "infeasible" not in name])
def test_no_level_above_the_distance(name):
    """Whatever the weights are."""
    for weight in (None, 0.0, 1e-9, 1e9):
        model, e = files(name)
        e["lower_bound"] = 1.01 * e["distance"]
        for leaf in leaves(e["certificate"]["bound"]["tree"]):
            leaf["level"] = e["lower_bound"]
            if weight is not None:
                leaf["norm"] = [weight] * len(leaf["norm"])
                leaf["cross"] = []
        assert wrong(model, e)["lower bound"] == NOT_PROVED


@pytest.mark.parametrize("name", ["infeasible", "infeasible cost"])
def test_what_reaches_beyond_the_level(name):
    model, e = files(name)
    for end, sign in (("low", -1), ("high", 1)):
        model, e = files(name)
        e["question"]["domain"][end] = [v + sign * 0.001 for v in e["question"]["domain"][end]]
        assert wrong(model, e) == {"lower bound": NOT_PROVED}
    if name == "infeasible cost":
        for k in range(2):
            model, e = files(name)
            e["question"]["distance"]["prices"] = [
                [v * (1.001 if i == k else 1) for i, v in enumerate(pair)] for pair in PRICES
            ]
            assert wrong(model, e) in ({"lower bound": NOT_PROVED}, {})


def test_how_far_the_domain_reaches():
    """The norm of what the dearer end of each feature costs, exactly."""
    model, e = files("infeasible cost")
    for norm in (1, 2, "inf"):
        e["question"]["distance"]["norm"] = e["norm"] = norm
        case = exact.read_case([model], e)
        D, m = np.diag(case.metric), np.array(case.question.factual)
        up, down = np.array(PRICES).T
        low, high = np.array(case.question.low), np.array(case.question.high)
        reach = np.maximum(up * D * (high - m), down * D * (m - low))
        size = float(np.linalg.norm(reach, ord=float(norm)))
        assert exact._exceeds_domain(case, size * (1 + 1e-12))
        assert not exact._exceeds_domain(case, size * (1 - 1e-12))
        assert exact._exceeds_domain(case, INF)


# ----- points -----------------------------------------------------------------------------------------------


def moved(name, j, value):
    model, e = files(name)
    e["counterfactual"]["values"][j] = value
    return model, e


def test_one_change_too_many():
    """However small it is."""
    name = "one change, 2"
    e = files(name)[1]
    now, then = e["factual"]["values"], e["counterfactual"]["values"]
    assert sum(a != b for a, b in zip(now, then, strict=True)) == 1
    for j in range(3):
        if now[j] == then[j]:
            for value in (math.nextafter(now[j], INF), math.nextafter(now[j], -INF), now[j] + 1.0):
                found = wrong(*moved(name, j, value))
                assert found["domain"] == FAILS
                assert reason(*moved(name, j, value), "domain") == "outside: limit 0"


def test_a_change_of_next_to_nothing():
    """From 0 to 1e-300 is a change, to -0.0 it is none."""
    model, e = two_numbers.content(), two_numbers.answer()
    e["question"]["domain"]["limits"] = [{"name": "few", "count": 1, "numbers": [0, 1], "categories": []}]
    for value, verdict in ((0.0, HOLDS), (-0.0, HOLDS), (1e-300, FAILS), (-5e-324, FAILS), (0, HOLDS)):
        e["counterfactual"]["values"][1] = value
        assert {c.name: c.verdict for c in exact.check([model], e)}["domain"] == verdict
    for value in (math.nan, None, "0", True, INF):
        e["counterfactual"]["values"][1] = value
        with pytest.raises(UnreadableError):
            exact.check([model], e)


@pytest.mark.parametrize("name", ["ways 1", "ways 2", "ways inf", "a value"])
def test_the_point_takes_a_way(name):
    """Intervals hold to the last digit, also those of one value."""
    model, e = files(name)
    case = exact.read_case([model], e)
    taken = [way for way in case.question.eithers[0].ways if exact._taken(way, case.counterfactual, ())]
    assert len(taken) == 1
    found = 0
    for row in taken[0].rows:
        for end, away in ((row.low, -INF), (row.high, INF)):
            if row.feature is None or not math.isfinite(end):
                continue
            found += wrong(*moved(name, row.feature, math.nextafter(end, away))).get("domain") == FAILS
            x = list(case.counterfactual)
            x[row.feature] = end
            assert exact._way_row_holds(row, x)
    assert found


def test_rows_of_ways_that_add_up():
    """To the last digit, but for equations."""
    inequality, equation = (exact.Row([1.0, 1.0], low, 1.0, "r") for low in (-INF, 1.0))
    for x, holds, close in (
        ((0.5, 0.5), True, True),
        ((0.5, math.nextafter(0.5, 1)), False, True),
        ((0.5, math.nextafter(0.5, 0)), True, True),
        ((0.5, 0.5 + 1e-8), False, False),
        ((0.5, 0.5 - 1e-8), True, False),
    ):
        assert exact._way_row_holds(inequality, x) == holds
        assert exact._way_row_holds(equation, x) == close
    value = exact.Row([0.0, 1.0], 0.5, 0.5, "r")
    assert exact._way_row_holds(value, (9.0, 0.5))
    assert not exact._way_row_holds(value, (9.0, math.nextafter(0.5, 1)))
    twice = exact.Row([0.0, 2.0], 1.0, 1.0, "r")
    assert exact._way_row_holds(twice, (9.0, math.nextafter(0.5, 1)))


# ----- prices -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cost 1", "cost 2", "cost inf"])
def test_prices_belong_to_their_directions(name):
    model, e = files(name)
    e["question"]["distance"]["prices"] = [pair[::-1] for pair in e["question"]["distance"]["prices"]]
    assert wrong(model, e)["distance"] == FAILS
    for j in range(3):
        for k in range(2):
            model, e = files(name)
            e["question"]["distance"]["prices"][j][k] *= 0.5
            assert wrong(model, e)  # the point is cheaper, or another one is


@pytest.mark.parametrize("name", ["cost 1", "cost 2", "cost inf"])
def test_a_distance_without_prices(name):
    model, e = files(name)
    case = exact.read_case([model], e)
    change = np.array(case.counterfactual) - np.array(case.question.factual)
    e["distance"] = float(np.linalg.norm(np.array(case.metric) @ change, ord=case.question.norm))
    e["gap"] = 1 - e["lower_bound"] / e["distance"]
    assert wrong(model, e)["distance"] == FAILS
    model, e = files(name)
    e["question"]["distance"] |= {"kind": "mahalanobis", "prices": None}
    assert {"distance", "geometry"} <= wrong(model, e).keys()


@pytest.mark.parametrize("pair", [[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0], [1.0, -1.0], [-5e-324, 1.0]])
def test_prices_are_positive(pair):
    model, e = files("cost 2")
    e["question"]["distance"]["prices"][1] = pair
    assert wrong(model, e) == {"question": FAILS}
    assert reason(model, e, "question") == "a price of a number is not positive"


@pytest.mark.parametrize("prices", [
    None, [], [[1.0, 1.0]] * 2, [[1.0, 1.0]] * 4, [[1.0]] * 3, [[1.0, 1.0, 1.0]] * 3, [1.0] * 3,
    [[1.0, "inf"]] * 3, [[1.0, math.inf]] * 3, [[math.nan, 1.0]] * 3, [["1", 1.0]] * 3, [[True, 1.0]] * 3,
    [[None, 1.0]] * 3, {"0": 1}, [[10**400, 1.0]] * 3,
])  # fmt: skip
def test_prices_that_are_none(prices):
    model, e = files("cost 2")
    e["question"]["distance"]["prices"] = prices
    with pytest.raises(UnreadableError):
        exact.check([model], e)


@pytest.mark.parametrize(("kind", "prices"), [
    ("mahalanobis", PRICES), ("mahalanobis", []), ("cost", None), ("price", PRICES), (None, None),
    (["cost"], PRICES),
])  # fmt: skip
def test_kinds_of_distances(kind, prices):
    model, e = files("cost 2")
    e["question"]["distance"] |= {"kind": kind, "prices": prices}
    with pytest.raises(UnreadableError):
        exact.check([model], e)


def test_the_metric_of_a_cost():
    """One over each standard deviation to 1e-6, and nothing beside the diagonal."""
    close, far = (1 + 4e-7, 1 - 4e-7), (1 + 6e-7, 1 - 6e-7, -1.0, 0.0, 2.0)
    for factor, fine in [*((factor, True) for factor in close), *((factor, False) for factor in far)]:
        for j in range(3):
            model, e = files("cost 2")
            e["certificate"]["metric"][j][j] *= factor
            found = wrong(model, e)
            assert ("geometry" not in found) == fine
            assert factor > 0.9 or found["lower bound"] == NOT_PROVED
    for i, j in ((0, 1), (1, 0), (2, 1)):
        model, e = files("cost 2")
        e["certificate"]["metric"][i][j] = 5e-324
        assert wrong(model, e) == {"geometry": FAILS, "lower bound": NOT_PROVED}
    model, e = files("cost 2")
    e["certificate"]["metric"] = e["certificate"]["ball"]
    assert wrong(model, e)["geometry"] == FAILS
    e["certificate"]["metric"] = None
    assert wrong(model, e)["geometry"] == NOT_PROVED


@pytest.mark.parametrize("name", ["cost 1", "exactly", "dag", "zca"])
def test_the_ball_of_a_cost_is_stated(name):
    model, e = files(name)
    size = len(e["certificate"]["ball"])
    e["certificate"]["ball"] = None
    found = wrong(model, e)
    assert found["geometry"] == FAILS
    assert found["robustness"] == NOT_PROVED
    model, e = files(name)
    e["certificate"]["ball"] = [row[:size] for row in e["certificate"]["metric"][:size]]
    assert wrong(model, e)["geometry"] == FAILS
    model, e = files(name)
    e["certificate"]["ball"][0][0] *= 1.001
    assert wrong(model, e)["geometry"] == FAILS


def test_balls_that_are_not_stated():
    for name in ("all exactly", "by feature"):
        model, e = files(name)
        assert e["certificate"]["ball"] is None
    e["certificate"]["ball"] = [[1.0]]
    assert wrong(model, e)["geometry"] == FAILS


def test_variances_are_exact():
    """Along two ways, with weights of many digits; roots to 79 digits."""
    network = exact.Network([[0.0] * 3, [0.5, 0.0, 0.0], [0.25, 0.75, 0.0]], [0.0] * 3, [1.0, 2.0, 4.0])
    assert network.squared_spreads([0, 1, 2]) == [1, 2.25, 0.625**2 + 2 * 0.75**2 + 4]
    own = small(3).networks_[0]
    net = exact.Network(own.weights.tolist(), own.means.tolist(), own.variances.tolist())
    order = handmade.topological(small(3).dag_.parents)
    squares = net.squared_spreads(order)
    assert np.allclose(np.array(squares, dtype=float), np.diag(own.covariance), rtol=1e-13)
    for square, root in zip(squares, net.spreads(order), strict=True):
        assert abs(root * root / square - 1) < 1e-70


# ----- the question -----------------------------------------------------------------------------------------


def fresh():
    return files("everything")


BROKEN = {
    "count is negative": (("limits", 0, "count"), -1),
    "count is true": (("limits", 0, "count"), True),
    "count is no whole number": (("limits", 0, "count"), 1.0),
    "numbers out of order": (("limits", 0, "numbers"), [1, 0]),
    "a number twice": (("limits", 0, "numbers"), [0, 0]),
    "no such number": (("limits", 0, "numbers"), [3]),
    "a number from the end": (("limits", 0, "numbers"), [-1]),
    "no such category": (("limits", 0, "categories"), [0]),
    "a name that is none": (("limits", 0, "name"), 1),
    "limits are no list": (("limits",), {}),
    "a limit is no object": (("limits", 0), 1),
    "eithers are no list": (("eithers",), None),
    "ways are no list": (("eithers", 0, "ways"), {}),
    "an either without a name": (("eithers", 0, "name"), None),
    "a way is no object": (("eithers", 0, "ways", 0), []),
    "rows are no list": (("eithers", 0, "ways", 0, "rows"), None),
    "coefficients of other features": (("eithers", 0, "ways", 0, "rows", 0, "coefficients"), [1.0]),
    "an end that is none": (("eithers", 0, "ways", 0, "rows", 0, "low"), None),
    "an end that is no number": (("eithers", 0, "ways", 0, "rows", 0, "high"), math.nan),
    "values of no category": (("eithers", 0, "ways", 0, "values"), [[0, [0]]]),
    "values are no pairs": (("eithers", 0, "ways", 0, "values"), [[0]]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_questions_that_cannot_be_read(name):
    way, value = BROKEN[name]
    model, e = fresh()
    place = e["question"]["domain"]
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] = value
    with pytest.raises(UnreadableError):
        exact.check([model], e)


def test_keys_that_are_missing_or_unknown():
    for way in (
        (),
        ("limits", 0),
        ("eithers", 0),
        ("eithers", 0, "ways", 0),
        ("eithers", 0, "ways", 0, "rows", 0),
    ):
        model, e = fresh()
        place = e["question"]["domain"]
        for key in way:
            place = place[key]
        for key in list(place):
            kept = place.pop(key)
            with pytest.raises(UnreadableError):
                exact.check([model], e)
            place[key] = kept
        place["more"] = 1
        with pytest.raises(UnreadableError, match="more"):
            exact.check([model], e)


@pytest.mark.parametrize(("low", "high", "text"), [
    (1.0, 0.5, "a lower end exceeds its upper end"), ("inf", "inf", "an end excludes every number"),
    ("-inf", "-inf", "an end excludes every number"), (0.0, "-inf", "a lower end exceeds its upper end"),
])  # fmt: skip
def test_ends_of_ways_make_sense(low, high, text):
    model, e = fresh()
    e["question"]["domain"]["eithers"][0]["ways"][1]["rows"][0] |= {"low": low, "high": high}
    assert reason(model, e, "question") == text


def test_older_and_newer_files():
    for place, versions in (((), (3, 6)), (("question",), (2, 5)), (("certificate",), (2, 5))):
        for version in versions:
            model, e = fresh()
            entry = e
            for key in place:
                entry = entry[key]
            entry["version"] = version
            with pytest.raises(UnreadableError, match=f"has format version {version}"):
                exact.check([model], e)


def test_words():
    """Everything that restricts the answer is said."""
    model, e = fresh()
    text = "\n".join(exact.words([model], e))
    names = [exact.shown(name) for name in e["question"]["features"]]
    assert f"At most 2 of these change: {', '.join(names)}" in text
    assert "Either either 0: " in text
    assert "; or " in text
    assert f"{names[0]} +1 -2, {names[1]} +0.5 -3, {names[2]} +2 -0.25" in text


# ----- scales -----------------------------------------------------------------------------------------------


def bent(power=0.5):
    """A question over two numbers, the first on a curved scale; its ways are intervals and a sum."""
    rows = [
        exact.Row([1.0, 0.0], 3.0, INF, "a"),
        exact.Row([0.0, 1.0], 3.0, 8.0, "b"),
        exact.Row([0.0, 2.0], 3.0, 8.0, "c"),
    ]
    return exact.Question(
        ["m"], ["a", "b"], [], None, [0.0, 1.0], 0, 1, "cholesky", 2.0, 2.0, 0.0, [], [], [-INF] * 2,
        [INF] * 2, [], {}, 0.0, eithers=[exact.Either("e", [exact.Way(rows, {})])],
    ), [exact.Scale(power, 0.0, 1.0), None]  # fmt: skip


def test_intervals_are_mapped_to_their_scales():
    asked_, scales = bent()
    posed = asked_.on_scales(scales)
    found = posed.eithers[0].ways[0].rows
    assert found[0] == exact.Row([1.0, 0.0], 2.0, INF, "a")  # 2 (sqrt(1 + x) - 1)
    assert found[1:] == asked_.eithers[0].ways[0].rows[1:]
    asked_, scales = bent(-0.5)
    assert asked_.on_scales(scales).way_rows[0][1:3] == (1.0, 2.0)  # the scale ends at 2
    assert asked_.on_scales([None, None]) is asked_
    assert asked_.stated_numbers()[-6:] == [3.0, INF, 3.0, 8.0, 3.0, 8.0]


def test_copies():
    """A checker leaves the file as it is."""
    model, e = fresh()
    before = copy.deepcopy(e)
    exact.check([model], e)
    assert e == before
