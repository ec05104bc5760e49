"""A probability among all classes: Jensen's inequality, mixtures, and what a question makes of it."""

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Question
from surefoot.exceptions import DataError, ProblemError
from surefoot.problem.requirements import Odds, Probability
from surefoot.problem.share import Share, entropy
from tests.asking import CounterfactualExplainer
from tests.mixed_tables import lending


@pytest.mark.parametrize("heat", [1.0, 0.4, 3.0])
def test_every_mixture_is_implied_and_one_is_active(heat):
    rng = np.random.default_rng(0)
    share = Share((0, 1, 2), heat)
    for _ in range(200):
        g = rng.normal(1.0, 2.0, 3)
        margin = float(share.margin(g))
        assert np.isclose(margin, -heat * np.log(np.exp(-g / heat).sum()))
        weights = rng.dirichlet([0.5] * 3)
        assert weights @ g - heat * entropy(weights) >= margin - 1e-12
        own = share.weights(g)
        assert np.isclose(own @ g - heat * entropy(own), margin)


def test_entropy_divides_the_sum_out():
    w = np.array([0.2, 0.3, 0.0])
    assert np.isclose(entropy(3 * w), 3 * entropy(w))
    assert np.isclose(entropy(w / w.sum()), -np.sum([p * np.log(p) for p in (0.4, 0.6)]))


def test_far_values_do_not_overflow():
    share = Share((0, 1))
    assert share.margin([-1e6, -1e6 + 1]) == pytest.approx(-1e6 - np.log1p(np.exp(-1)))
    assert share.margin([1e6, 2e6]) == 1e6


@pytest.fixture(scope="module")
def asked():
    X = lending(150)[0]
    rng = np.random.default_rng(1)
    y = rng.choice(["a", "b", "c"], len(X))
    clf = ConditionalGaussianNetworkClassifier(calibration="temperature").fit(X, y)
    explainer = CounterfactualExplainer(clf, against="all", threshold=0.6)
    target = next(c for c in "abc" if c != clf.predict(X.head(1))[0])
    return clf, explainer.asker.asked(explainer.asker.first, X.iloc[0], target, None)


def test_the_family_measures_the_probability(asked):
    """In any state: the sum is 1 exactly where the classifier's own probability is the threshold."""
    clf, posed = asked
    family, question = posed.problem, posed.question
    rng = np.random.default_rng(2)
    for _ in range(30):
        state = tuple(int(rng.integers(len(choice.values))) for choice in family.choices)
        x = family.factual + rng.normal(0, 1, len(family.factual)) * family.metric.unit
        scores = clf.scaled_scores(x[None], np.array([state]))[0]
        chance = np.exp(scores - np.logaddexp.reduce(scores))[clf.classes_.tolist().index(question.target)]
        problem = family.here if not family.allows(state) else family.problem(state)
        problem = family.problem(state, domain=family.domain)
        needed = np.log(chance / (1 - chance)) - np.log(0.6 / 0.4)
        assert np.isclose(problem.margin(x), clf.calibration_.temperature * needed, atol=1e-9)
        assert np.isclose(problem.violation(x, np.zeros(len(x)))[0], -problem.margin(x))


def test_mixtures_of_a_family_add_up(asked):
    """A mixture is the weighted sum in every state, with what the categories add."""
    family = asked[1].problem
    weights = [0.25, 0.75]
    mixed = family.relaxed([(0, weights)])
    rng = np.random.default_rng(3)
    for _ in range(10):
        state = tuple(int(rng.integers(len(choice.values))) for choice in family.choices)
        x = family.factual + rng.normal(0, 1, len(family.factual)) * family.metric.unit
        values = [float(r.margin.at(state)(x)) for r in mixed.requirements]
        members = [values[r] for r in family.shares[0].members]
        expected = np.dot(weights, members) - family.shares[0].heat * entropy(weights)
        assert np.isclose(values[-1], expected)
        table = family.constants_of(np.array([state]))[0]
        assert np.isclose(
            mixed.constants_of(np.array([state]))[0][-1],
            np.dot(weights, table[list(family.shares[0].members)]),
        )


def test_a_question_goes_to_json_and_back(asked):
    question = asked[1].question
    again = Question.from_dict(question.to_dict())
    assert again == question
    assert (again.against, len(again.rivals)) == ("all", 2)
    entry = question.to_dict()["requirements"][-1]
    assert entry == {
        "kind": "probability",
        "model": 0,
        "target": question.target,
        "threshold": 0.6,
        "robust": True,
    }
    for wrong in ({"threshold": 1.0}, {"threshold": "inf"}, {"model": 1}, {"robust": 1}, {"more": 1}):
        values = question.to_dict()
        values["requirements"][-1] = entry | wrong
        with pytest.raises(DataError):
            Question.from_dict(values)


def test_a_probability_needs_the_odds_against_every_rival(asked):
    clf, posed = asked
    odds = [Odds(posed.question.target, c, 0.6) for c in clf.classes_.tolist() if c != posed.question.target]
    chance = Probability(posed.question.target, 0.6)
    assert chance.share([clf], odds).members == (0, 1)
    for short in (odds[:1], [], [Odds(o.target, o.rival, 0.5) for o in odds]):
        with pytest.raises(ProblemError, match="every rival"):
            chance.share([clf], short)
