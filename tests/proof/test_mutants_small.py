"""Small faults that otherwise only slow tests notice."""

import json
from fractions import Fraction

import pytest

from surefoot.proof import exact
from tests.proof import test_mutants_states as states
from tests.proof.test_conditions import leaf, proof, setting
from tests.proof.test_mutants_exact import case_of, content


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
