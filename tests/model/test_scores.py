import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.exceptions import DataError
from surefoot.model.scores import Scores


def drawn(seed=0, n_classes=3, quadratic=True):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n_classes, 2, 2)) if quadratic else None
    tables = (rng.normal(size=(n_classes, 3)), rng.normal(size=(n_classes, 2)))
    return Scores(rng.normal(size=n_classes), rng.normal(size=(n_classes, 2)), matrix, tables)


@given(st.integers(0, 10_000), st.booleans())
def test_the_decision_is_the_difference_of_two_scores(seed, quadratic):
    scores, rng = drawn(seed, quadratic=quadratic), np.random.default_rng(seed)
    z, state = rng.normal(size=2), (int(rng.integers(3)), int(rng.integers(2)))
    values = scores([z], [state])[0]
    decision = scores.decision(2, 0)
    assert decision.shaping == ()
    assert decision.at(state)(z) == pytest.approx(values[2] - values[0])
    assert decision.given(state)(z) + decision.constant(state) == pytest.approx(values[2] - values[0])


def test_the_formula():
    scores = drawn()
    z, s = np.array([0.3, -1.2]), (2, 1)
    by_hand = [
        scores.constant[c]
        + scores.linear[c] @ z
        + z @ scores.matrix[c] @ z
        + sum(table[c, code] for table, code in zip(scores.tables, s, strict=True))
        for c in range(3)
    ]
    np.testing.assert_allclose(scores([z], [s])[0], by_hand)


def test_a_decision_can_be_sent_to_another_process():
    decision = pickle.loads(pickle.dumps(drawn().decision(1, 0)))
    assert decision.at((0, 0))([1.0, 2.0]) == drawn().decision(1, 0).at((0, 0))([1.0, 2.0])


@pytest.mark.parametrize("quadratic", [False, True])
def test_there_and_back(quadratic):
    scores = drawn(quadratic=quadratic)
    again = Scores.from_content(scores.content(), 3, 2, (3, 2))
    assert again.bytes() == scores.bytes()


def test_categories_alone():
    scores = Scores([0.0, 1.0], np.zeros((2, 0)), tables=([[0.0, 0.0], [2.0, 3.0]],))
    again = Scores.from_content(scores.content(), 2, 0, (2,))
    np.testing.assert_array_equal(again(np.zeros((1, 0)), [[1]]), [[0.0, 4.0]])


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (([0.0, 1.0], [[1.0], [2.0], [3.0]]), "same shape"),
        (([0.0, np.nan], [[1.0], [2.0]]), "finite"),
        (([0.0, 1.0], [[1.0], [2.0]], np.zeros((2, 2, 2))), "same shape"),
        (([0.0, 1.0], [[1.0], [2.0]], None, ([[1.0, 2.0]],)), "same shape"),
        (([0.0, 1.0], [[1.0], [2.0]], None, (np.zeros((2, 0)),)), "same shape"),
    ],
)
def test_wrong_parts_are_refused(parts, words):
    with pytest.raises(DataError, match=words):
        Scores(*parts)


@pytest.mark.parametrize(
    "change",
    [
        lambda entries: entries[:2],
        lambda entries: [{**entries[0], "extra": 1}, *entries[1:]],
        lambda entries: [{**entries[0], "constant": "0"}, *entries[1:]],
        lambda entries: [{**entries[0], "constant": True}, *entries[1:]],
        lambda entries: [{**entries[0], "linear": ["1", "2"]}, *entries[1:]],
        lambda entries: [{**entry, "linear": [1.0, 2.0, 3.0], "matrix": None} for entry in entries],
        lambda entries: [{**entry, "tables": entry["tables"][::-1]} for entry in entries],
        lambda entries: [{**entry, "tables": []} for entry in entries],
        lambda entries: [{**entry, "matrix": [[1.0]]} for entry in entries],
        lambda entries: [{**entries[0], "constant": 10**400}, *entries[1:]],
        lambda entries: [{**entries[0], "linear": [1.0]}, *entries[1:]],
        lambda entries: [{**entries[0], "matrix": None}, *entries[1:]],
        lambda entries: [{**entries[0], "tables": None}, *entries[1:]],
    ],
)
def test_hostile_content_is_refused(change):
    with pytest.raises((DataError, ValueError, TypeError, OverflowError)):
        Scores.from_content(change(drawn().content()), 3, 2, (3, 2))
