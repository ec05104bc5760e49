import json
import math

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.exceptions import DataError, ProblemError
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.either import Either, Limit, Way
from surefoot.problem.question import Question
from surefoot.problem.requirements import DensityFloor, Odds
from surefoot.problem.row import Row

EITHER = Either(
    (Way((Row([1.0, 0, 0, 0], -math.inf, 3.6),)), Way((Row([0, 1.0, 0, 1.0], 9.0, math.inf, "sum"),))),
    "if variance rises, then skewness + entropy >= 9",
)
LIMIT = Limit(2, (0, 1, 3), (3.6, 8.7, -0.4), name="at most 2 change")
NAMES = ("variance", "skewness", "curtosis", "entropy")


@pytest.fixture(scope="module")
def clf(bundled):
    data = bundled["banknote"]
    return ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)


def asked(clf, **changes):
    factual = np.array([3.6, 8.7, -2.8, -0.4])
    rows = (Row([1.0, 0.0, -1.0, 0.0], -math.inf, 9.0, "variance - curtosis <= 9"),)
    sets = (ValueSet(1, None, 8.7), ValueSet(3, (-1.0, 0.25), -0.4))
    values = {
        "models": (clf.fingerprint_,),
        "features": NAMES,
        "factual": factual,
        "factual_class": 0,
        "target": 1,
        "norm": np.inf,
        "whitening": "dag",
        "budget": 0.05,
        "exact": (2,),
        "requirements": (Odds(1, 0, 0.7), DensityFloor(1, -12.5, robust=False)),
        "domain": Domain([-10.0, -np.inf, -2.8, -9.0], [10.0, np.inf, 9.0, np.inf], rows, sets),
        "declared": {"whole": ["skewness"]},
    }
    return Question(**(values | changes))


def through_json(question):
    return Question.from_dict(json.loads(json.dumps(question.to_dict(), allow_nan=False)))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": 2, "whitening": "zca", "exact": ()},
        {"budget": {0: (0.1, 0.2), 2: (0.0, 1.0 / 3)}, "exact": (1, 3), "norm": 1},
        {"domain": Domain.whole_space(4)},
        {"eithers": (EITHER,), "limits": (LIMIT,)},
        {"prices": ((1.0, 2.0), (0.5, 0.5), (3.0, 1.0), (1.0, 1.0)), "norm": 1},
    ],
)
def test_there_and_back_through_json(clf, changes):
    question = asked(clf, **changes)
    again = through_json(question)
    assert again.to_dict() == question.to_dict()
    assert again == question
    assert hash(again) == hash(question)
    first, second = question.problem(clf), again.problem(clf)
    for name in ("basis", "centre", "radius", "norm"):
        np.testing.assert_array_equal(getattr(first.ball, name), getattr(second.ball, name))
    np.testing.assert_array_equal(first.domain.linear()[0], second.domain.linear()[0])
    assert first.domain.sets == second.domain.sets
    x = first.factual + 0.1
    assert first.distance(x) == second.distance(x)
    assert [r.margin(x) for r in first.requirements] == [r.margin(x) for r in second.requirements]
    assert [r.robust for r in second.requirements] == [True, False]


def test_the_problem_of_a_question(clf):
    problem = asked(clf).problem(clf)
    x = np.array([1.0, 2.0, 3.0, 0.0])
    odds, density = problem.requirements
    assert odds.margin(x) == pytest.approx(clf.decision_quadratic(1, 0)(x) - np.log(7 / 3))
    assert density.margin(x) == pytest.approx(clf.networks_[1].log_density(x[None])[0] + 12.5)
    assert problem.metric.whitening.kind == "dag"
    assert problem.ball.noisy.tolist() == [True, True, False, True]
    box = asked(clf, budget={0: (0.1, 0.2)}, exact=(1, 2, 3)).problem(clf).ball
    np.testing.assert_allclose(box.vertices(), [[-0.1, 0, 0, 0], [0.2, 0, 0, 0]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"factual": [1.0, 2.0]}, "row of finite numbers"),
        ({"domain": Domain.whole_space(3)}, "another number of features"),
        ({"exact": (4,)}, "no feature of that number"),
        ({"budget": {7: (0.1, 0.1)}}, "no feature of that number"),
        ({"requirements": (Odds(1, 0, 0.5, model=1),)}, "model that the question does not have"),
        ({"prices": ((1.0, 1.0),)}, "prices for each number"),
        ({"limits": (Limit(1, (0,), (3.5,)),)}, "belongs to another factual"),
        ({"limits": (Limit(1, (4,), (3.5,)),)}, "not there"),
        ({"eithers": (Either((Way(values={0: {1}}),)),)}, "category or a value that is not there"),
    ],
)
def test_questions_that_make_no_sense(clf, changes, message):
    with pytest.raises(ProblemError, match=message):
        asked(clf, **changes)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "question"),
        (("version",), 4),
        (("distance", "kind"), "cost"),
        (("distance", "prices"), [[1, 1]] * 4),
        (("domain", "eithers"), [{"name": "", "ways": [{"rows": [], "values": [[0, [0]]]}]}]),
        (("domain", "eithers"), [{"name": "", "ways": [{"rows": []}]}]),
        (("domain", "limits"), [{"name": "", "count": -1, "numbers": [0], "categories": []}]),
        (("domain", "limits"), [{"name": "", "count": True, "numbers": [0], "categories": []}]),
        (("domain", "limits"), [{"name": "", "count": 1, "numbers": [1, 0], "categories": []}]),
        (("domain", "limits"), [{"name": "", "count": 1, "numbers": [0], "categories": [0]}]),
        (("factual",), [1.0]),
        (("factual",), [1.0, "x", 2.0, 3.0]),
        (("distance", "norm"), 3),
        (("ball", "budget"), -1),
        (("ball", "budget"), "much"),
        (("ball", "budget"), {"9": [0.0, 1.0]}),
        (("requirements",), []),
        (("requirements", 0, "kind"), "wish"),
        (("requirements", 0, "threshold"), 1.5),
        (("requirements", 0, "model"), 3),
        (("domain", "low"), ["x", 0, 0, 0]),
        (("domain", "sets", 0, "feature"), 8),
        (("domain", "sets", 1, "values"), [2, 1]),
        (("domain", "rows", 0, "coefficients"), [1.0]),
        (("gap",), None),
    ],
)
def test_files_that_cannot_be_read(clf, path, value):
    values = json.loads(json.dumps(asked(clf).to_dict()))
    place = values
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(DataError):
        Question.from_dict(values)
