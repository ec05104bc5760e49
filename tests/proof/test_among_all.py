"""A probability among all classes: claims on a file in the head, and files that were forged."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.model.content import classifier_content
from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, FaultError, UnreadableError
from tests.asking import CounterfactualExplainer
from tests.mixed_tables import lending
from tests.proof.three_classes import (
    THIRD,
    answer,
    case_of,
    chance,
    claims,
    content,
    mixture,
    probability,
    verdict,
)
from tests.proof.two_numbers import leaf, odds, proof, values

NEED = math.log(1.5)  # of 2 x_0


def certified(part=None, **changes):
    e = answer()
    (e["certificate"] if part is None else e["certificate"][part]).update(changes)
    return e


def required(*requirements):
    e = answer()
    e["question"]["requirements"] = list(requirements)
    return e


def moved(x):
    """The same file with another point, about which nothing else is said."""
    return answer() | {"counterfactual": values(x, 0.0), "probability": chance(x)}


def test_every_claim_holds():
    found = claims(answer())
    assert len(found) == 13
    assert {claim.verdict for claim in found.values()} == {HOLDS}


@pytest.mark.parametrize(("x", "found"), [(NEED / 2 + 1e-12, HOLDS), (NEED / 2 - 1e-12, FAILS), (0.1, FAILS)])
def test_the_point_reaches_the_probability(x, found):
    """At 0.1 the target is the most likely class with 44 %: enough against each, but not among all."""
    assert verdict(moved(x), "validity") == found


def test_what_is_too_close_to_tell_is_not_proved(monkeypatch):
    monkeypatch.setattr(exact, "exp_below", lambda value: exact.exp_above(value) - 1)
    assert verdict(moved(NEED / 2 - 1e-12), "validity") == NOT_PROVED


def test_odds_that_fail_are_said_first():
    assert "least requirement" in claims(moved(-0.1))["validity"].reason


@pytest.mark.parametrize(
    ("level", "found"), [(1.4, HOLDS), (1.4526, HOLDS), (1.4528, NOT_PROVED), (1.5, NOT_PROVED)]
)
def test_the_mixture_proves_the_bound(level, found):
    bound = proof(leaf(level, [1 / level], [[1.0, 2, 0]]), [[-0.25, 0.0]])
    assert (
        verdict(certified(bound=bound) | {"lower_bound": level, "gap": 1 - level / 1.5}, "lower bound")
        == found
    )


@pytest.mark.parametrize(
    ("weights", "level", "found"),
    [
        ((0.5, 0.5), 1.423, HOLDS), ((0.5, 0.5), 1.424, NOT_PROVED), ((1.0, 0.0), 1.249, HOLDS),
        ((1.0, 0.0), 1.251, NOT_PROVED), ((0.5, 0.25), 1.4526, HOLDS), ((0.02, 0.01), 1.4526, HOLDS),
    ],
)  # fmt: skip
def test_other_weights_prove_what_they_imply(weights, level, found):
    """Weights need not sum to one: the sum is divided out."""
    whole = sum(weights)
    bound = proof(leaf(level, [whole / level], [[1.0, 2, 0]]), [[-0.25, 0.0]])
    e = certified(bound=bound, mixtures=[mixture(*weights)])
    assert verdict(e | {"lower_bound": level, "gap": 1 - level / 1.5}, "lower bound") == found


def test_odds_alone_prove_less():
    e = certified(bound=proof(leaf(1.4, [1 / 1.4], [[1.0, 0, 0]]), [[-0.25, 0.0]]))
    assert verdict(e, "lower bound") == NOT_PROVED


def test_numbers_of_requirements_skip_the_probability():
    """The odds come first, wherever the probability is listed; then the mixtures."""
    e = required(probability(), odds(), odds(rival=2))
    assert {claim.verdict for claim in claims(e).values()} == {HOLDS}
    e["certificate"]["bound"]["tree"]["requirements"] = [[1.0, 3, 0]]
    assert verdict(e, "lower bound") == NOT_PROVED


def test_a_probability_at_the_point_alone_says_nothing_about_scenarios():
    e = required(odds(), odds(rival=2), probability(robust=False))
    assert "not robust" in claims(e)["lower bound"].reason
    e["certificate"]["bound"]["tree"]["requirements"] = [[1.0, 2, -1]]
    assert verdict(e | {"lower_bound": 1.2}, "lower bound") == NOT_PROVED
    e["certificate"]["bound"] = proof(leaf(1.2, [1 / 1.2], [[1.0, 2, -1]]))
    assert verdict(e | {"lower_bound": 1.2}, "lower bound") == HOLDS
    assert verdict(e, "robustness") == HOLDS  # of the odds
    assert any("at the point alone" in line for line in exact.words([content()], e))


@pytest.mark.parametrize(
    "weights", [(0.0, 0.0), (-0.5, 0.5), (1e-10, 0.5), (0.5, 1.5), (5e-324, 1.0), (-0.0, 0.0)]
)
def test_weights_that_are_none(weights):
    for e in (certified(mixtures=[mixture(*weights)]), certified("robustness", mixtures=[mixture(*weights)])):
        named = (
            "robustness"
            if e["certificate"]["mixtures"] == answer()["certificate"]["mixtures"]
            else "lower bound"
        )
        claim = claims(e)[named]
        assert (claim.verdict, "weights of a mixture" in claim.reason) == (NOT_PROVED, True)


@pytest.mark.parametrize(
    "listed",
    [
        None, {}, 3, [None], [{}], [mixture(0.5)], [mixture(0.5, 0.5, 0.5)], [mixture(0.5, None)],
        [mixture(0.5, "inf")], [mixture(True, 0.5)], [mixture(0.5, 0.5, share=1)],
        [mixture(0.5, 0.5, share=-1)], [mixture(0.5, 0.5, share=0.0)], [mixture(0.5, 0.5) | {"more": 1}],
        [mixture(math.nan, 0.5)], [mixture(math.inf, 0.5)],
    ],
)  # fmt: skip
def test_mixtures_that_cannot_be_read(listed):
    for e in (certified(mixtures=listed), certified("robustness", mixtures=listed)):
        with pytest.raises(UnreadableError):
            exact.check([content()], e)


def test_versions_go_with_the_question():
    for version in (3, 5, 4.0, True, None):
        with pytest.raises(UnreadableError):
            exact.check([content()], certified(version=version))
    e = required(odds(), odds(rival=2))
    with pytest.raises(UnreadableError):
        exact.check([content()], e)
    e["certificate"] |= {"version": 3}
    with pytest.raises(UnreadableError, match="mixtures"):
        exact.check([content()], e)
    e = certified()
    del e["certificate"]["mixtures"]
    with pytest.raises(UnreadableError):
        exact.check([content()], e)
    for name in ("floors", "mixtures"):
        e = answer()
        del e["certificate"]["robustness"][name]
        with pytest.raises(UnreadableError):
            exact.check([content()], e)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"target": 5}, "no"), ({"threshold": 0.0}, "threshold"), ({"threshold": 1.0}, "threshold"),
        ({"threshold": -0.5}, "threshold"), ({"model": 1}, "model"),
    ],
)  # fmt: skip
def test_probabilities_that_make_no_sense(change, fault):
    claim = claims(required(odds(), odds(rival=2), probability(**change)))["question"]
    assert (claim.verdict, fault in claim.reason) == (FAILS, True)


@pytest.mark.parametrize("key", ["kind", "model", "target", "threshold", "robust"])
def test_a_probability_needs_every_key(key):
    entry = probability()
    del entry[key]
    with pytest.raises(UnreadableError):
        exact.check([content()], required(odds(), odds(rival=2), entry))


def test_a_model_without_probabilities_has_none_to_ask_for():
    case = case_of()
    assert exact._misfit(case) == ""
    silent = replace(case, models=[replace(case.model, has_probability=False)])
    silent.question.requirements[:] = [
        entry for entry in silent.question.requirements if entry.kind != "odds"
    ]
    assert exact._misfit(silent) == "a requirement asks for a probability that its model does not have"


def floors(*stated, slack=0.0, mixtures=None, n=None):
    """The file with other floors on the ball; the claim about the worst case needs more slack."""
    listed = [mixture(2 * THIRD, THIRD)] if mixtures is None else mixtures
    steep = proof(leaf(0.25, [4.0], [[1.0, 0, -1]]))
    count = len(stated) if n is None else n
    return certified("robustness", floors=list(stated), slack=slack, mixtures=listed, proofs=[steep] * count)


@pytest.mark.parametrize(
    ("file", "found"),
    [
        (floors(0.499, 1.19, mixtures=[]), HOLDS),
        (floors(0.499, 1.19, slack=0.092, mixtures=[]), HOLDS),
        (floors(0.499, 1.19, slack=0.094, mixtures=[]), NOT_PROVED),
        (floors(0.4, 1.0, mixtures=[]), NOT_PROVED),  # exp(-0.4) + exp(-1) = 1.04
        (floors(0.4, 1.15, mixtures=[]), HOLDS),
        (floors(0.4, 1.0, 0.09), HOLDS),  # the mixture takes that corner away
        (floors(0.0, 0.0, 0.094), NOT_PROVED),
        (floors(0.3, 1.19, 0.0), NOT_PROVED),
        (floors(0.501, 1.19, 0.094), NOT_PROVED),  # more than is so
        (floors(0.499, 1.194, 0.094), NOT_PROVED),
        (floors(0.499, 1.19, 0.095), NOT_PROVED),
        (floors(-0.1, 1.19, 0.094), NOT_PROVED),
        (floors(0.499, 1.19, -1e-9), NOT_PROVED),
    ],
)
def test_floors_prove_the_probability_on_the_ball(file, found):
    assert verdict(file, "robustness") == found


@pytest.mark.parametrize(
    "file",
    [
        floors(0.499, 1.19, n=3), floors(0.499, 1.19, 0.094, 0.0, n=3), floors(0.499, None, 0.094),
        floors(0.499, 1.19, "inf"), floors(0.499, 1.19, 0.094, n=2), floors(0.499, 1.19, math.nan),
    ],
)  # fmt: skip
def test_floors_that_cannot_be_read(file):
    with pytest.raises(UnreadableError):
        exact.check([content()], file)


def test_every_rival_needs_a_floor():
    e = required(odds(), odds(rival=2, threshold=0.4), odds(rival=2), probability())
    steep = proof(leaf(0.25, [4.0], [[1.0, 0, -1]]))
    held = e["certificate"]["robustness"]
    held |= {"proofs": [steep] * 4, "floors": [0.499, 1.19, 1.19, 0.094]}
    assert verdict(e, "robustness") == HOLDS
    e["question"]["requirements"][2]["robust"] = False
    held |= {"proofs": [steep] * 3, "floors": [0.499, 1.19, 0.094]}
    case = case_of(e)
    with pytest.raises(FaultError, match="against 2 have no floor"):
        exact.proven_robustness(case)


def test_the_worst_case_is_that_of_the_probability():
    for wrong in (-0.5, NEED - 0.5 + 1e-7):
        assert verdict(answer() | {"violation": wrong}, "worst case") == FAILS
    assert verdict(floors(0.499, 1.19, slack=0.08, mixtures=[]), "worst case") == NOT_PROVED
    assert verdict(answer() | {"worst_probability": 0.6}, "worst case") == FAILS


def test_a_violation_is_measured_whatever_its_size():
    case = case_of()
    assert abs(float(case.violation([-1e6, 0.0])) - (2e6 + NEED)) < 1e-6


def test_other_models_are_asked_as_well():
    """A second model with a higher prior of class 2 has the probability nowhere near."""
    second = content(class_prior=[0.4, 0.4, 0.2], networks=content()["networks"][::-1])
    name = exact.read_model(second).fingerprint
    e = required(odds(), odds(rival=2), probability(), probability(model=1))
    e["question"]["models"] = [e["model"], name]
    found = claims(e, content(), second)
    assert found["validity"].verdict == HOLDS  # the same classes the other way round
    assert found["robustness"].verdict == NOT_PROVED
    assert "have no floor" in found["robustness"].reason
    lines = exact.words([content(), second], e)
    assert any("model 1" in line and "among all classes" in line for line in lines)


def test_what_is_asked_is_said():
    assert "among all classes" in exact.words([content()], answer())[1]
    lower = required(odds(), odds(rival=2), probability(threshold=0.3))
    assert "against each rival" in exact.words([content()], lower)[1]
    assert any(
        "probability of 1 among all classes at least 0.3" in w for w in exact.words([content()], lower)
    )
    of_another = required(odds(), odds(rival=2), probability(target=2))
    assert "against each rival" in exact.words([content()], of_another)[1]


def corners(least, rows, ends):
    as_fractions = [[Fraction(v) for v in row] for row in rows]
    return [
        [float(v) for v in corner]
        for corner in exact.corners([Fraction(v) for v in least], as_fractions, [Fraction(v) for v in ends])
    ]


def test_corners():
    assert corners([1, 2], [], []) == [[1, 2]]
    assert sorted(corners([0, 0], [[1, 1]], [1])) == [[0, 1], [1, 0]]
    assert corners([1, 1], [[1, 1]], [1]) == [[1, 1]]
    assert corners([0, 5, 0], [[1, 0, 1]], [2]) in ([[0, 5, 2], [2, 5, 0]], [[2, 5, 0], [0, 5, 2]])
    both = corners([0, 0], [[2, 1], [1, 2]], [2, 2])
    assert sorted(both) == [[0, 2], [2 / 3, 2 / 3], [2, 0]]
    assert sorted(corners([0, 0], [[1, 1], [2, 2]], [1, 2])) == sorted([[0, 1], [1, 0]] * 2)  # parallel


def test_too_many_corners(monkeypatch):
    monkeypatch.setattr(exact, "MOST_CORNERS", 3)
    assert len(corners([0, 0], [[1, 1]], [1])) == 2
    with pytest.raises(FaultError, match="corners"):
        corners([0, 0], [[1, 1], [1, 2]], [1, 1])


def test_too_many_mixtures(monkeypatch):
    monkeypatch.setattr(exact, "MOST_REQUIREMENTS", 3)
    e = certified(mixtures=[mixture(0.5, 0.5)] * 3)
    e["certificate"]["bound"]["tree"]["requirements"] = [[1.0, 2, 0]]
    assert "more than" not in claims(e)["lower bound"].reason
    e["certificate"]["mixtures"] *= 2
    assert "more than 3 mixtures" in claims(e)["lower bound"].reason


@pytest.mark.parametrize("value", [0.0, -0.5, 1.0, -37.25, 100.0, -19_999.5])
def test_exponentials_are_enclosed(value):
    below, above = exact.exp_below(Fraction(value)), exact.exp_above(Fraction(value))
    true = Fraction(exact.decimal.Context(prec=120).exp(exact.Decimal(value)))
    assert below < true < above
    assert above - below <= 3 * true / 10**60


def test_exponentials_of_what_is_far_off():
    assert exact.exp_below(Fraction(-(10**6))) == 0
    assert 0 < exact.exp_above(Fraction(-(10**6))) < Fraction(1, 10**8000)
    assert exact.exp_below(Fraction(10**6)) > 1
    assert exact.exp_above(Fraction(10**6)) > 1


def test_entropy_is_enclosed():
    found = exact.twice_entropy([0.5, 0.25, 0.0, 0.25])
    true = 3 * Fraction(exact.DIGITS.ln(exact.Decimal(2))) * 2**exact.PLACES
    assert found.low <= true <= found.high
    assert 0 < found.high - found.low < 20
    scaled = exact.twice_entropy([1.0, 0.5, 0.5])
    assert abs(scaled.half() - 2 * found.half()) < Fraction(1, 10**30)


def test_the_smallest_weight_and_the_smallest_floor():
    assert "weights" not in claims(certified(mixtures=[mixture(1e-9, 0.5)]))["lower bound"].reason
    assert verdict(floors(0.499, 1.19, 0.0), "robustness") == HOLDS


def test_the_highest_of_several_floors_counts():
    """The same odds twice: what the one proves, the other need not."""
    e = required(odds(), odds(), odds(rival=2), probability())
    steep = proof(leaf(0.25, [4.0], [[1.0, 0, -1]]))
    for stated in ([0.0, 0.499, 1.19], [0.499, 0.0, 1.19]):
        held = {"proofs": [steep] * 3, "floors": stated, "mixtures": [], "slack": 0.0}
        e["certificate"]["robustness"] |= held
        assert verdict(e, "robustness") == HOLDS


def test_the_slack_is_that_of_the_explained_model():
    """Of another model it is enough that the probability is reached."""
    models = [content(), content(class_prior=[0.4, 0.4 - 1e-9, 0.2 + 1e-9])]
    both = [odds(), odds(rival=2), odds(model=1), odds(model=1, rival=2), probability(), probability(model=1)]
    e = required(*both)
    e["question"]["models"] = [exact.read_model(model).fingerprint for model in models]
    steep = proof(leaf(0.25, [4.0], [[1.0, 0, -1]]))
    held = e["certificate"]["robustness"]
    held |= {"proofs": [steep] * 4, "floors": [0.499, 1.19, 0.4, 1.15], "mixtures": []}
    assert verdict(e, "robustness", *models) == HOLDS
    held["floors"] = [0.4, 1.15, 0.499, 1.19]
    assert verdict(e, "robustness", *models) == NOT_PROVED


def test_the_sum_is_enclosed():
    case = case_of()
    below, above = case.sum_of_odds(case.shares[0], [0.25, 0.0])
    assert below < above
    assert abs(float(below) - 1.5 * math.exp(-0.5)) < 1e-12
    assert above - below < Fraction(1, 10**30)


def test_corners_of_rows_with_zeros():
    assert sorted(corners([0, 0], [[1, 0], [1, 1]], [1, 2])) == [[1, 1], [2, 0]]


def test_exponentials_and_corners_are_work():
    with exact.limited(exact.Effort(99)), pytest.raises(exact.EffortError):
        exact.exp_above(Fraction(1))
    with exact.limited(exact.Effort(100)):
        assert exact.exp_above(Fraction(0)) > 1
    least, rows = [Fraction(0)] * 2, [[Fraction(1)] * 2]
    one = 20 * 27 + 10 * 3 * 2  # of a candidate: the equations of two faces, and three to compare with
    with exact.limited(exact.Effort(3 * one)):
        assert len(list(exact.corners(least, rows, [Fraction(1)]))) == 2
    with exact.limited(exact.Effort(3 * one - 1)), pytest.raises(exact.EffortError):
        list(exact.corners(least, rows, [Fraction(1)]))


def test_what_categories_add_to_a_mixture():
    """With all values given it is the mixed gain of the state, rounded up; with none, no state adds more."""
    X = lending(150)[0]
    y = np.random.default_rng(1).choice(["a", "b", "c"], len(X))
    clf = ConditionalGaussianNetworkClassifier().fit(X, y)
    target = next(c for c in "abc" if c != clf.predict(X.head(1))[0])
    e = CounterfactualExplainer(clf, against="all").explain(X.iloc[0], target, on_failure="return").to_dict()
    e["certificate"]["mixtures"] = [mixture(0.75, 0.25), mixture(0.0, 1.0)]
    case = exact.read_case([classifier_content(clf)], e)
    cover = exact.Cover(case, [], [0.0], 1.0)
    n = len(case.quadratics)
    for r in (n, n + 1):
        most = cover.most(r, 0, ())
        for state in product(*(range(len(choice.values)) for choice in case.question.choices)):
            gain = case.twice_gain(case.numbered[r], state)
            values = tuple(state[k] for k in cover.order)
            assert 0 <= cover.most(r, 0, values) - gain.low < 100
            assert most >= gain.low
