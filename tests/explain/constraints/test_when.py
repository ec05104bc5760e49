"""If-then rules and limits of one row, against everything tried: a grid of numbers and all states."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from surefoot import Action, Actions
from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.category import Category
from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.problem.warp import Warp

NAMES = ["income", "housing", "cards", "loan", "schooling", "floor"]
HOUSING, SCHOOLING = ("free", "own", "rent"), ("basic", "high school", "university")
CATEGORIES = [
    Category(1, "housing", HOUSING),
    Category(4, "schooling", SCHOOLING, ordered=True),
    Category(5, "floor", (1, 2, 3)),
]
RANGE = [[0.0, np.nan, 0.0, 0.0, np.nan, np.nan], [10.0, np.nan, 8.0, 4.0, np.nan, np.nan]]
FACTUAL, STATE = np.array([5.0, 3.0, 1.0]), (2, 1, 0)  # income, cards, loan; rent, high school, floor 1
GAP = 1e-5  # of income
INCOME = [4.5, 5 - 1.01 * GAP, 5.0, 5 + 1.01 * GAP, 5.5, 7.0]
CARDS = [2.0, 3.0, 4.0, 6.0]
LOAN = [0.5, 1.0, 1.5, 4.0]
STATES = [(2, 1, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 2, 0), (2, 1, 1), (2, 1, 2), (1, 2, 2)]


def stated(said=(), bounds="data", features=None, **more):
    actions = Actions({"loan": Action(values=[0.5, 1.5, 4]), **(features or {})}, when=list(said), **more)
    return ConstraintSet.by_name(
        NAMES, actions=actions, bounds=bounds, observed_range=RANGE, categories=CATEGORIES, whole=[2]
    )


def points():
    for numbers in itertools.product(INCOME, CARDS, LOAN):
        for state in STATES:
            yield np.array(numbers), state


# The condition, and whether it holds at a point (income, cards, debt = loan, housing, schooling, floor).
CONDITIONS = {
    "income rises": lambda i, c, d, h, s, f: i > 5,
    "income falls": lambda i, c, d, h, s, f: i < 5,
    "income changes": lambda i, c, d, h, s, f: i != 5,
    "income stays": lambda i, c, d, h, s, f: i == 5,
    "cards rises": lambda i, c, d, h, s, f: c > 3,
    "cards falls": lambda i, c, d, h, s, f: c < 3,
    "cards changes": lambda i, c, d, h, s, f: c != 3,
    "cards stays": lambda i, c, d, h, s, f: c == 3,
    "loan rises": lambda i, c, d, h, s, f: d > 1,
    "loan is 1.5": lambda i, c, d, h, s, f: d == 1.5,
    "loan is 2": lambda i, c, d, h, s, f: False,
    "cards is 2": lambda i, c, d, h, s, f: c == 2,
    "income is 4.5": lambda i, c, d, h, s, f: i == 4.5,
    "cards >= 3": lambda i, c, d, h, s, f: c >= 3,
    "2 * cards >= 7": lambda i, c, d, h, s, f: 2 * c >= 7,
    "-2 * cards >= -7": lambda i, c, d, h, s, f: c <= 3.5,
    "loan <= 1": lambda i, c, d, h, s, f: d <= 1,
    "loan >= 1.2": lambda i, c, d, h, s, f: d >= 1.2,
    "income >= income.now + 0.5": lambda i, c, d, h, s, f: i >= 5.5,
    "4 <= income <= 6": lambda i, c, d, h, s, f: 4 <= i <= 6,
    "income = 7": lambda i, c, d, h, s, f: i == 7,
    "2 <= cards <= 3": lambda i, c, d, h, s, f: 2 <= c <= 3,
    "income + cards >= 8.5": lambda i, c, d, h, s, f: i + c >= 8.5,
    "cards + loan <= 5": lambda i, c, d, h, s, f: c + d <= 5,
    "cards - loan = 2": lambda i, c, d, h, s, f: c - d == 2,
    "cards + loan <= cards.now + 2 * loan.now": lambda i, c, d, h, s, f: c + d <= 5,
    "housing is own": lambda i, c, d, h, s, f: h == 1,
    "housing changes": lambda i, c, d, h, s, f: h != 2,
    "housing stays": lambda i, c, d, h, s, f: h == 2,
    "schooling rises": lambda i, c, d, h, s, f: s > 1,
    "schooling falls": lambda i, c, d, h, s, f: s < 1,
    "schooling is `high school`": lambda i, c, d, h, s, f: s == 1,
    "floor is 3": lambda i, c, d, h, s, f: f == 2,
    "floor changes": lambda i, c, d, h, s, f: f != 0,
}
CASES = [
    (first, then)
    for k, first in enumerate(CONDITIONS)
    for step in (1, 12)
    for then in [list(CONDITIONS)[(k + step) % len(CONDITIONS)]]
]


@pytest.mark.parametrize(("first", "then"), CASES)
def test_an_if_then_rule_allows_what_logic_allows(first, then):
    allowed = stated([(first, then)]).allowed(FACTUAL, STATE)
    condition, consequence = CONDITIONS[first], CONDITIONS[then]
    assert all(allowed.domain.contains(x) for x, _ in points())
    for x, state in points():
        meant = not condition(*x, *state) or consequence(*x, *state)
        assert all(one.contains(x, state) for one in allowed.eithers) == meant, (x, state)


def test_the_grid_can_tell_rules_apart():
    """The test above could not fail on conditions that hold everywhere or nowhere on the grid."""
    held = {name: np.array([test(*x, *state) for x, state in points()]) for name, test in CONDITIONS.items()}
    for name, values in held.items():
        assert (0 < values.mean() < 1) or name == "loan is 2", name


@pytest.mark.parametrize(
    ("first", "inside", "outside"),
    [
        ("income >= 4", 4 - GAP, 4 - GAP / 2),
        ("income <= 4", 4 + GAP, 4 + GAP / 2),
        ("income rises", 5.0, 5 + GAP / 2),
        ("income falls", 5.0, 5 - GAP / 2),
        ("3 <= income <= 4", 3 - GAP, 3 - GAP / 2),
        ("income = 4", 4 + GAP, 4 + GAP / 2),
        ("3 * income >= 10", 10 / 3 - 1.01 * GAP, 10 / 3 - GAP / 2),
        ("income + 2 * income.now >= 14", 4 - GAP, 4 - GAP / 2),
        ("income + loan >= 6", 5 - 1.6 * GAP, 5 - GAP / 2),
    ],
)
def test_what_lies_beyond_an_end_begins_a_gap_away(first, inside, outside):
    """So that no rounding on a page blurs on which side a value is."""
    (one,) = stated([(first, "cards is 8")]).allowed(FACTUAL, STATE).eithers
    assert one.contains(np.array([inside, 3, 1]), STATE)
    assert not one.contains(np.array([outside, 3, 1]), STATE)


def test_a_consequence_must_be_visible():
    (one,) = stated([("cards stays", "income rises")]).allowed(FACTUAL, STATE).eithers
    assert one.contains(np.array([5 + GAP * (1 + 1e-9), 3, 1]), STATE)
    assert not one.contains(np.array([5 + GAP / 2, 3, 1]), STATE)
    assert not one.contains(np.array([5.0, 3, 1]), STATE)


def test_rows_about_one_feature_are_intervals():
    for first, then in CASES:
        for one in stated([(first, then)]).allowed(FACTUAL, STATE).eithers:
            rows = [row for way in one.ways for row in way.rows]
            assert all(row.feature is not None or np.count_nonzero(row.coefficients) > 1 for row in rows)


def test_rules_that_hold_anyway_are_left_out():
    def left(first, then, **features):
        return stated([(first, then)], features=features).allowed(FACTUAL, STATE).eithers

    assert left("income rises", "cards rises", income="fall") == ()
    assert left("cards stays", "housing stays", housing="stay") == ()
    assert left("income falls", "income <= 10") == ()
    assert left("schooling rises", "cards rises", schooling=Action(values=["basic"])) == ()
    (one,) = left("income rises", "cards rises", cards="fall")
    assert len(one.ways) == 1  # what cannot happen is no way
    assert one.name == "if income rises, then cards rises"
    (nothing,) = left("housing stays", "cards is 7", housing="stay", cards="fall")
    assert not any(nothing.contains(x, state) for x, state in points() if x[1] <= 3 and state[0] == 2)


def test_a_rule_that_no_row_could_meet_is_named():
    asked = stated([("loan stays", "cards is 2.5")], features={"loan": Action(values=[1])})
    with pytest.raises(ProblemError, match=r"'if loan stays, then cards is 2.5': the row can neither break"):
        asked.allowed(FACTUAL, STATE)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (("height rises", "cards rises"), "unknown feature 'height'"),
        (("cards rises", "cards >= height"), "unknown feature 'height'"),
        (("cards rises", "cards >= height.now"), "unknown feature 'height'"),
        (("housing rises", "cards rises"), "'housing' has no order, so it neither rises nor falls"),
        (("housing is rented", "cards rises"), "'housing' has no value 'rented'; its values are free, own"),
        (("floor is 7", "cards rises"), "'floor' has no value 7; its values are 1, 2, 3"),
        (("cards is two", "cards rises"), "'cards' is a number, and 'two' is none"),
        (("housing + cards <= 3", "cards rises"), "adds up 'housing', which is a category"),
        (("cards rises", "cards <= floor.now"), "adds up 'floor', which is a category"),
    ],
)  # fmt: skip
def test_rules_that_make_no_sense(rule, message):
    with pytest.raises(ProblemError) as error:
        stated([rule])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("limit", "features", "most"),
    [
        ({"at_most": 2}, NAMES, 2),
        ({"at_most": 1}, NAMES, 1),
        ({"at_most_of": [(1, ["income", "housing", "cards"])]}, ["income", "housing", "cards"], 1),
        ({"at_most_of": [(2, ["loan", "schooling", "floor"])]}, ["loan", "schooling", "floor"], 2),
    ],
)
def test_limits_allow_what_counting_allows(limit, features, most):
    allowed = stated(**limit).allowed(FACTUAL, STATE)
    (one,) = allowed.limits
    counted = [NAMES.index(name) for name in features]
    refused = 0
    for x, state in points():
        row = [x[0], state[0], x[1], x[2], state[1], state[2]]
        now = [FACTUAL[0], STATE[0], FACTUAL[1], FACTUAL[2], STATE[1], STATE[2]]
        meant = sum(row[i] != now[i] for i in counted) <= most
        assert (one.changed(x) <= one.left(state, STATE)) == meant
        refused += not meant
    assert refused


def test_limits_count_only_what_can_change():
    found = stated(at_most=2, features={"income": "stay", "housing": "stay"}).allowed(FACTUAL, STATE).limits
    assert [(one.count, one.numbers, one.categories) for one in found] == [(2, (1, 2), (1, 2))]
    assert found[0].today == (3.0, 1.0)
    assert found[0].name == "at most 2 features change"
    assert stated(at_most=6).allowed(FACTUAL, STATE).limits == ()
    kept = dict.fromkeys(["income", "housing", "cards", "loan"], "stay")
    assert stated(at_most=2, features=kept).allowed(FACTUAL, STATE).limits == ()


def test_sets_and_whole_numbers_take_the_next_value():
    (one,) = stated([("cards >= 3", "loan rises")]).allowed(FACTUAL, STATE).eithers
    first, second = (way.rows[0] for way in one.ways)
    assert (first.feature, first.low, first.high) == (1, -math.inf, 2)
    assert (second.feature, second.low, second.high) == (2, 1.5, math.inf)
    (other,) = stated([("loan >= 1", "cards >= 2.5")]).allowed(FACTUAL, STATE).eithers
    assert [(way.rows[0].low, way.rows[0].high) for way in other.ways] == [(-math.inf, 0.5), (3, math.inf)]


def test_on_a_curved_scale_intervals_are_fine():
    """Sums of several features are refused there, as rules are."""
    warps = [Warp(0.5), Warp(), Warp()]
    allowed = stated([("income >= 4", "cards rises")]).allowed(FACTUAL, STATE)
    mapped = allowed.domain.warped(warps)
    (one,) = replace(allowed.domain, eithers=allowed.eithers).warped(warps).eithers
    assert one.ways[0].rows[0].high == warps[0].exactly(4 - GAP)
    assert mapped.low[0] == 0
    sums = stated([("income + cards >= 4", "cards rises")]).allowed(FACTUAL, STATE)
    with pytest.raises(
        ProblemError, match=r"if income . cards >= 4, then cards rises' adds up features that"
    ):
        replace(sums.domain, eithers=sums.eithers).warped(warps)
