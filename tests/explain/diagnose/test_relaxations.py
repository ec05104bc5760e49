"""Constraints one by one: what each says, what is left without it, and which may be proposed."""

import math

import numpy as np
import pytest

from surefoot import Action, Actions
from surefoot.exceptions import DataError
from surefoot.explain.constraints.category import Category
from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.explain.constraints.document import read_constraints
from surefoot.explain.diagnose.relaxations import beyond_training, relaxations, without

NAMES = ["age", "income", "cards", "housing"]
RANGE = [[18.0, 0.0, 0.0, np.nan], [90.0, 9000.0, 8.0, np.nan]]
CATEGORIES = [Category(3, "housing", ("free", "own", "rent"))]
FACTUAL = [30.0, 2000.0, 2.0]


def stated(actions, bounds="data", **more):
    return ConstraintSet.by_name(
        NAMES, actions=actions, bounds=bounds, observed_range=RANGE, categories=CATEGORIES, whole=[2], **more
    )


EVERYTHING = Actions(
    {
        "age": Action("stay", low=18),
        "income": Action("rise", high=5000.5, most=3000, step=0.5),
        "cards": Action(values=[0, 1, 2]),
        "housing": Action(moves={"rent": ["own"]}),
    },
    rules=["income >= 100 * cards"],
    when=[("housing changes", "income rises")],
    links=[("income", "age", 50)],
    at_most=2,
    at_most_of=[(1, ["age", "cards"])],
)


def test_every_wish_is_named_once():
    named = [(part.words, part.lifted) for part in relaxations(stated(EVERYTHING, {"age": (20, None)}))]
    assert named == [
        ("'cards' takes only the values 0, 1, 2", "'cards' may take other values"),
        ("'income' changes in steps of 0.5", "'income' may change by other amounts than steps of 0.5"),
        ("'income' changes by at most 3000", "'income' may change by more than 3000"),
        ("'age' is at least 18", "'age' may be less than 18"),
        ("'income' is at most 5000.5", "'income' may be more than 5000.5"),
        ("'housing' moves only where its action says", "'housing' may move elsewhere"),
        ("'age' is at least 20", "'age' may be less than 20"),
        ("'age' must not change", "'age' may change"),
        ("'income' may only rise", "'income' may fall"),
        (
            "'income changes by 50 times the change of age'",
            "'income changes by 50 times the change of age' is lifted",
        ),
        ("at most 2 features change", "more than 2 features may change"),
        ("at most 1 of age, cards changes", "more than 1 of age, cards may change"),
        (
            "'if housing changes, then income rises'",
            "the rule 'if housing changes, then income rises' is lifted",
        ),
        ("the rule 'income >= 100 * cards'", "the rule 'income >= 100 * cards' is lifted"),
    ]
    whole = [part.words for part in relaxations(stated(Actions()))]
    assert whole == ["'cards' stays a whole number, as in the training data"]
    assert [part.words for part in relaxations(stated(Actions({"cards": Action(whole=True)})))] == [
        "'cards' takes whole numbers only"
    ]


def test_without_all_of_them_nothing_is_left():
    asked = stated(EVERYTHING, {"age": (20, None)})
    free = without(asked, relaxations(asked))
    assert free.domain(FACTUAL).sets[0].values is None  # as in the training data, which is another constraint
    again = without(free, relaxations(free))
    allowed = again.allowed(FACTUAL, (2,))
    assert allowed.domain.is_box
    assert np.isinf([allowed.domain.low, allowed.domain.high]).all()
    assert allowed.choices[0].allowed == (2, 0, 1)
    assert (allowed.eithers, allowed.limits) == ((), ())
    assert relaxations(again) == ()


@pytest.mark.parametrize("k", range(14))
def test_giving_up_one_leaves_the_others(k):
    asked = stated(EVERYTHING, {"age": (20, None)})
    every = relaxations(asked)
    left = relaxations(without(asked, [every[k]]))
    others = [part.words for part in every if part is not every[k]]
    assert [part.words for part in left if "training data" not in part.words] == others


def test_an_end_that_today_is_beyond_allows_to_stay():
    actions = Actions({"age": Action(low=80), "income": Action(high=1000), "cards": Action(low=1)})
    said = [part.words for part in relaxations(stated(actions), FACTUAL) if part.kind in ("low", "high")]
    assert said == [
        "'age' is at least 80, or as it is",
        "'cards' is at least 1",
        "'income' is at most 1000, or as it is",
    ]


def test_the_range_seen_in_training_can_be_left():
    asked = stated(Actions({"age": Action(protected=True), "income": Action(high=5000)}))
    beyond = beyond_training(asked).domain(FACTUAL)
    assert beyond.low.tolist() == [18, -math.inf, -math.inf]
    assert beyond.high.tolist() == [90, 5000, math.inf]


def test_what_guards_a_protected_feature_is_not_proposed():
    actions = Actions(
        {"age": Action("stay", protected=True), "income": "rise"},
        rules=["income <= 9", "age + income <= 99", "income <= age.now"],
        when=[("age rises", "income rises"), ("income changes", "cards rises")],
        links=[("cards", "age", 1), ("income", "cards", 1)],
        at_most=2,
        at_most_of=[(1, ["age", "cards"]), (1, ["income", "cards"])],
    )
    proposed = [part.lifted for part in relaxations(stated(actions)) if part.proposed]
    assert proposed == [
        "'cards' may take any number",
        "'income' may fall",
        "'income changes by 1 times the change of cards' is lifted",
        "more than 2 features may change",
        "more than 1 of income, cards may change",
        "the rule 'if income changes, then cards rises' is lifted",
        "the rule 'income <= 9' is lifted",
    ]


def test_what_was_declared_gives_the_same_again():
    for bounds in ("data", None, {"age": (20, None)}):
        first = stated(EVERYTHING, bounds)
        declared = first.declared()
        assert declared["at_most"] == [[2, None], [1, ["age", "cards"]]]
        assert declared["gaps"] == {"income": pytest.approx(9e-3)}
        again = read_constraints(declared, tuple(NAMES), RANGE, CATEGORIES)
        assert again.declared() == declared
        a, b = (said.allowed(FACTUAL, (2,)) for said in (first, again))
        assert repr(a) == repr(b)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": "a <= 1"}, "rules must be a list"),
        ({"rules": [3]}, "must be text or a table, not 3"),
        ({"rules": ["height <= 1"]}, "unknown feature 'height'"),
        ({"rules": [{"coefficients": {"age": "x"}, "low": 1}]}, "must be finite numbers"),
        ({"links": [["age"]]}, "a link must be"),
        ({"when": [["age rises"]]}, "an if-then rule must be"),
        ({"when": [["age rises", "age"]]}, "the condition cannot be read"),
        ({"when": {"a": 1}}, "when must be a list"),
        ({"at_most": [3]}, "at_most_of must list pairs (count, features), not 3"),
        ({"at_most": [[2, None], [3, None]]}, "at_most is given twice"),
        ({"at_most": [[0, None]]}, "at_most must be a positive integer"),
        ({"at_most": [[1, ["height"]]]}, "unknown feature 'height'"),
        ({"at_most": [[1, "age"]]}, "at_most_of must list pairs"),
        ({"gaps": {"income": 0}}, "a gap must be above 0"),
        ({"gaps": {"income": "x"}}, "a gap must be a number"),
        ({"gaps": {"height": 1.0}}, "unknown feature 'height'"),
        ({"gaps": 3}, "the declared gaps must be an object, not 3"),
        ({"actions": {"income": {"cost": [1, 2, 3]}}}, "a pair"),
        ({"actions": {"income": {"cost": [0, 1]}}}, "above 0"),
        ({"more": 1}, "unknown key 'more'"),
    ],
)
def test_declared_constraints_are_read_strictly(change, message):
    declared = {**stated(EVERYTHING).declared(), **change}
    with pytest.raises((DataError, ValueError)) as error:
        read_constraints(declared, tuple(NAMES), RANGE, CATEGORIES)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
