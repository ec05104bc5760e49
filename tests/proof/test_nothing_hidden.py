"""A question must not be stricter than its words: then a proof of the strict one would pass for the other."""

import math

import pytest

from surefoot.proof import exact
from tests.proof import two_categories as adopted
from tests.proof import two_numbers as plain

DECISION = {"kind": "decision", "model": 0, "target": 1, "rival": 0, "value": 0.5, "robust": True}


def more_words(e, model):
    return [line for line in exact.words([model], e) if line.startswith("Required")]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (plain.odds(threshold=0.9), "Required by model 0: 1 against 0 0.9"),
        (plain.odds(threshold=math.nextafter(0.5, 1.0)), "Required by model 0: 1 against 0 0.5"),
        (plain.odds(robust=False), "Required by model 0, at the point alone: 1 against 0 0.5"),
        (plain.odds(target=0, rival=1), "Required by model 0: 0 against 1 0.5"),
        (plain.odds(model=1), "Required by model 1: 1 against 0 0.5"),
        (DECISION, "Required by model 0: 1 against 0 0.5"),
    ],
)
def test_further_requirements_are_said(entry, said):
    e = plain.asked(requirements=[plain.odds(), entry])
    assert more_words(e, plain.content()) == [said]


def test_what_every_question_asks_for_is_said_once():
    assert more_words(plain.asked(requirements=[plain.odds(), plain.odds()]), plain.content()) == []


@pytest.mark.parametrize(("entry", "more"), [(DECISION, 0), (DECISION | {"robust": False}, 1)])
def test_a_model_without_probabilities(entry, more):
    model = adopted.content(False)
    e = adopted.answer(model) | {"threshold": None}
    e["question"]["requirements"] = [DECISION, entry]
    assert len(more_words(e, model)) == more
    assert "Target: 1, against each rival by at least 0.5" in exact.words([model], e)


def test_a_threshold_must_be_stated():
    """Where the model has probabilities, the first of the requirements does not stand in for it."""
    claim = exact.question_claim(plain.case_of(plain.changed(threshold=None)))
    assert (claim.verdict, claim.reason) == (exact.FAILS, "the odds against 0 are not required")


def test_rows_beyond_all_doubles():
    """An equation whose terms are huge is judged like any other."""

    def holds(x, y, end=0.0):
        return exact._row_holds(exact.Row([1e308, -1e308], end, end, "r"), [x, y])

    assert holds(1e300, 1e300)
    assert not holds(1e300, -1e300)
    assert not holds(1e300, 0.9e300)
    assert not holds(0.0, 0.0, math.inf)


def test_the_room_of_an_equation_is_exact():
    """1e-9 of the terms, to the last digit."""
    row = exact.Row([1.0], 1.0, 1.0, "r")
    edge = 1 / (1 - 1e-9)
    inside, outside = (edge + k * 2**-50 for k in (-64, 64))
    assert exact._row_holds(row, [inside])
    assert not exact._row_holds(row, [outside])
