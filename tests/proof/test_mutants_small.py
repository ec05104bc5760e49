"""Small faults that otherwise only slow tests notice."""

import json
import math
from fractions import Fraction

import pytest

from surefoot.proof import exact
from tests.proof import test_mutants_states as states
from tests.proof.test_conditions import leaf, proof, setting
from tests.proof.test_mutants_exact import answer, asked, case_of, content, domain, row


@pytest.mark.parametrize("value", [3, 0, 1.5, -2.0, "-inf"])
def test_norms(value):
    with pytest.raises(exact.UnreadableError, match="not 1, 2 or inf"):
        exact._norm(value, "the norm")


@pytest.mark.parametrize("key", exact.MODEL_KEYS)
def test_a_model_lacks_a_key(key):
    rest = {name: value for name, value in content().items() if name != key}
    with pytest.raises(exact.UnreadableError, match=f"lacks the key {key}"):
        exact.read_model(rest)


def test_names_beyond_ascii():
    """The checksum is that of the text with escapes."""
    named = content(features={"labels": ["\u00e4", "\u4e16"]})
    document = {"format": "surefoot-model", "version": 2, "model": named, "sha256": exact._checksum(named)}
    assert exact.read_model(document).intact
    assert exact._checksum(named) == exact._checksum(json.loads(json.dumps(named)))
    assert not exact.read_model(document | {"sha256": exact._checksum(content())}).intact


def test_matrices_that_need_more_bits():
    """Off by one part in 2^130: 96 bits cannot tell, 256 can."""
    near = 2**200 - 2**70
    assert not exact._definite_at([[2**200], [near, 2**200]], 96)
    assert exact.definite([[2**200], [near, 2**200]])
    assert not exact.definite([[2**200], [2**200, 2**200]])


@pytest.mark.parametrize("kind", ["q", 5, [], {}, None, ["u"]])
def test_functions_that_are_not_known(kind):
    tree = {"cut": [[kind, 0], 0.0], "below": leaf(1.0), "above": leaf(1.0)}
    with pytest.raises(exact.FaultError, match="of the kind"):
        exact.proven_level(proof(setting(), tree))


def away(distance, point):
    return exact.Asked("away", 0, None, None, distance, False, point)


@pytest.mark.parametrize("distance", [1e-20, 1e-25, 0.1, 3.0])
def test_a_distance_to_keep_is_enclosed_tightly(distance):
    """Minus its square: only what has more than 128 binary places is rounded."""
    found = case_of().twice_base(away(distance, (0.0, 0.0)), ())
    value = -(Fraction(distance) ** 2) * 2**exact.PLACES
    assert found.low <= value <= found.high == found.low + 1


def test_categories_add_nothing_to_a_distance():
    model = states.content(decision=None)
    case = states.case_of(states.answer(model), model)
    assert case.twice_gain(away(1.0, (0.0,)), (1, 0)) == exact.NOTHING


@pytest.mark.parametrize("key", ["status", "message", "model", "method", "backend", "advice"])
def test_texts(key):
    with pytest.raises(exact.UnreadableError, match=f"{key} is not a text"):
        exact.read_answer(answer() | {key: 5})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"iterations": 5}, "iterations is not a list"),
        ({"cautions": [{"code": 5, "text": "x"}]}, "a caution is not a text"),
        ({"cautions": [{"code": "x", "text": 5}]}, "a caution is not a text"),
        ({"conflict": [5]}, "conflict is not a text"),
    ],
)
def test_context_that_cannot_be_read(changes, text):
    with pytest.raises(exact.UnreadableError, match=text):
        exact.read_answer(answer() | changes)


def test_a_refused_request_without_a_model():
    with pytest.raises(exact.UnreadableError, match="there is no model"):
        exact.check([], answer() | {"status": "refused"})


def curved(power=0.5, **of_domain):
    """A case whose first number is measured on a curved scale."""
    scales = [{"power": power, "shift": 0.0, "scale": 1.0}, {"power": None, "shift": 0.0, "scale": 1.0}]
    stated = [list(scale.values()) for scale in scales]
    return case_of(asked(warps=stated, domain=domain() | of_domain), content(warps=scales))


def way(*coefficients):
    return [{"name": "e", "ways": [{"rows": [row(-1.0, 2.0, coefficients)], "values": []}]}]


@pytest.mark.parametrize(
    ("of_domain", "fault"),
    [
        ({}, False),
        ({"rows": [row(-1.0, 2.0, (0.0, 1.0))]}, False),
        ({"rows": [row(-1.0, 2.0, (1.0, 0.0))]}, True),
        ({"rows": [row(-1.0, 2.0, (0.5, -1.0))]}, True),
        ({"eithers": way(1.0, 0.0)}, False),
        ({"eithers": way(0.0, 1.0)}, False),
        ({"eithers": way(0.0, 2.0)}, False),
        ({"eithers": way(2.0, 0.0)}, True),
        ({"eithers": way(1.0, 1.0)}, True),
    ],
)
def test_rows_add_up_nothing_that_is_curved(of_domain, fault):
    """On the scale they would mean something else; the interval of one number is taken there and back."""
    expected = "a row of the domain adds up numbers on curved scales" if fault else ""
    assert exact._scales_misfit(curved(**of_domain)) == expected


def test_numbers_beyond_their_scale():
    expected = "a number lies beyond what its scale can hold"
    assert exact._scales_misfit(curved(2.0, high=[1e300, "inf"])) == expected
    assert exact._scales_misfit(curved(2.0, high=["inf", 1e300])) == ""


def priced(*prices):
    distance = {"kind": "cost", "whitening": "cholesky", "norm": 2, "prices": [list(pair) for pair in prices]}
    return case_of(asked(distance=distance)).question


@pytest.mark.parametrize("pair", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (-1.0, 1.0), (1.0, -1.0)])
def test_prices_of_numbers_are_positive(pair):
    assert exact._domain_fault(priced((1.0, 2.0), pair)) == "a price of a number is not positive"
    assert exact._domain_fault(priced((1.0, 2.0), (2.0, 1.0))) == ""


def test_the_geometry_in_words():
    plain = "the cholesky whitening of the factual's class"
    assert exact.geometry_words(case_of().question) == plain
    assert exact.geometry_words(priced((1.0, 2.0), (2.0, 1.0))) == f"standard deviations, and {plain}"


def covering(eithers=(), limits=(), **options):
    """All states of two categories with two values each."""
    model = states.content(decision=None)
    e = states.answer(model, **options)
    e["question"]["domain"] |= {"eithers": list(eithers), "limits": list(limits)}
    return exact.Cover(states.case_of(e, model), [], [0.0], 1.0)


def limited(count, numbers, categories):
    return {"name": "l", "count": count, "numbers": numbers, "categories": categories}


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
    few = covering(limits=[limited(count, [], [k]) for k, count in counts.items()])
    assert [few.forbidden(values) for values in ((), (0, 1), (1, 0), (1, 1))] == [False, False, True, True]


def test_less_than_nothing_is_left():
    model = states.content()
    proof = states.refuted(0.0, 0.74) | {"left": [-1]}
    e = states.answer(model, [proof])
    e["question"]["domain"] |= {"limits": [limited(1, [0], [0])]}
    with pytest.raises(exact.FaultError, match="less than nothing"):
        exact._refuted(states.case_of(e, model), proof)
    assert exact._refuted(states.case_of(e, model), proof | {"left": [1]}).left == [1]


def test_ways_in_words():
    def said(rows=(), values=None):
        return exact._way_words(states.case_of().question, exact.Way(list(rows), values or {}), ["a"])

    assert said() == "anything"
    assert said(values={0: [0, 1]}) == "k is x or y"
    assert said(values={0: []}) == "k is nothing"
    assert said([exact.Row([1.0], 0.0, 2.0, "")], {0: [1], 1: [0]}) == "0 <= a <= 2 and k is y and m is False"


@pytest.mark.parametrize(
    ("power", "low", "high"),
    [
        (-0.5, -math.inf, 2.0),
        (2.5, -2.0, math.inf),
        (0.0, -math.inf, math.inf),
        (2.0, -math.inf, math.inf),
        (1.0, -math.inf, math.inf),
        (-1e-310, -math.inf, math.inf),  # a logarithm, which has no end; no double holds the one of a power
        (-5e-324, -math.inf, math.inf),
        (-1e-21, -math.inf, math.inf),
        (-1e-19, -math.inf, 1e19),
        (math.nextafter(2.0, 3.0), -1 / (math.nextafter(2.0, 3.0) - 2), math.inf),
    ],
)
def test_the_ends_of_a_scale(power, low, high):
    scale = exact.Scale(power, 0.25, 3.0)
    assert scale(-math.inf) == pytest.approx(low)
    assert scale(math.inf) == pytest.approx(high)
