"""A matrix that the question states: nothing else may be the metric, or the ball, of a certificate."""

import copy
import json

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Explanation
from surefoot.exceptions import DataError
from surefoot.model.content import classifier_content
from surefoot.proof import exact
from tests.asking import CounterfactualExplainer

NORMS = [np.inf, 2, 1]
M = np.array([[1.0, 0.4, 0, 0], [-0.3, 0.5, 0.1, 0], [0, 0.2, 0.6, -0.5], [0.1, 0, 0.3, 0.9]])


@pytest.fixture(scope="module")
def bank(bundled):
    return bundled["banknote"]


@pytest.fixture(scope="module")
def clf(bank):
    return ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)


def document(bank, clf, **asked):
    e = CounterfactualExplainer(clf, whitening=M, budget=0.05, **asked).explain(bank.X.iloc[0], target=1)
    return json.loads(e.to_json())


def verdicts(clf, values):
    try:
        return {claim.name: claim.verdict for claim in exact.check([classifier_content(clf)], values)}
    except exact.UnreadableError as error:
        return str(error)


def changed(values, place, value):
    """A copy of a document with one entry replaced."""
    found = copy.deepcopy(values)
    *way, last = place
    part = found
    for name in way:
        part = part[name]
    part[last] = value
    return found


@pytest.mark.parametrize("norm", NORMS)
def test_another_metric_than_the_stated_one_is_refused(bank, clf, norm):
    values = document(bank, clf, norm=norm)
    assert set(verdicts(clf, values).values()) == {exact.HOLDS}
    whitening = clf.network(0).whitening("cholesky").matrix
    nudged = M.copy()
    nudged[2, 1] = np.nextafter(nudged[2, 1], 1)
    for other in (whitening, 1.0000001 * M, M[::-1], -M, M.T, nudged, np.eye(4)):
        forged = changed(values, ("certificate", "metric"), other.tolist())
        assert verdicts(clf, forged)["geometry"] == exact.FAILS
    # The question's own matrix changed with it: the claims about distance and bound no longer hold.
    both = changed(values, ("certificate", "metric"), (0.5 * M).tolist())
    both = changed(both, ("question", "distance", "matrix"), (0.5 * M).tolist())
    assert verdicts(clf, both)["distance"] == exact.FAILS


@pytest.mark.parametrize(
    "wrong",
    [
        [[1, 1, 1, 1]] * 4,
        np.diag([1.0, 1, 1, 0]).tolist(),
        np.outer([1, 2, 3, 4.0], [1, 1, 2, 2.0]).tolist(),
    ],
)
def test_a_singular_matrix_is_refused(bank, clf, wrong):
    """Distances would be zero along some change: both the reader and the checker say so."""
    values = document(bank, clf)
    forged = changed(values, ("question", "distance", "matrix"), wrong)
    forged["certificate"]["metric"] = wrong
    assert verdicts(clf, forged)["geometry"] == exact.FAILS
    with pytest.raises(DataError, match="singular"):
        Explanation.from_dict(forged)


@pytest.mark.parametrize("wrong", ["inf", "nan", None, True, "1", [1.0], float("nan"), float("inf")])
def test_entries_that_are_no_numbers_are_refused(bank, clf, wrong):
    values = document(bank, clf)
    forged = changed(values, ("question", "distance", "matrix", 1, 2), wrong)
    assert isinstance(verdicts(clf, forged), str)
    with pytest.raises(DataError):
        Explanation.from_dict(forged)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("question", "version"), 3),
        (("question", "version"), 5),
        (("question", "distance", "whitening"), "cholesky"),
        (("question", "distance", "matrix"), None),
        (("question", "distance", "matrix"), np.eye(3).tolist()),
    ],
)
def test_a_matrix_goes_with_its_name_and_version(bank, clf, place, value):
    forged = changed(document(bank, clf), place, value)
    assert isinstance(verdicts(clf, forged), str)
    with pytest.raises(DataError):
        Explanation.from_dict(forged)


@pytest.mark.parametrize("name", ["cholesky", "given"])
def test_a_question_without_a_matrix_cannot_name_one(bank, clf, name):
    """Version 3 knows no matrix, whatever it calls its whitening."""
    e = CounterfactualExplainer(clf).explain(bank.X.iloc[0], target=1)
    values = json.loads(e.to_json())
    forged = changed(values, ("question", "distance", "whitening"), name)
    if name == "given":
        assert isinstance(verdicts(clf, forged), str)
    forged["question"]["distance"]["matrix"] = M.tolist()
    assert isinstance(verdicts(clf, forged), str)


BLOCKS = np.array([[1.0, 0.5, 0, 0], [-0.5, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]])


@pytest.mark.parametrize("norm", NORMS)
def test_the_ball_of_features_with_coordinates_of_their_own_is_the_slice(bank, clf, norm):
    """What must not change has its own coordinates: the others' are measured as they were."""
    asked = {"norm": norm, "budget": 0.05, "whitening": BLOCKS, "immutable": ["curtosis"]}
    explainer = CounterfactualExplainer(clf, **asked)
    ball = explainer.problem(bank.X.iloc[0], 1).ball
    np.testing.assert_array_equal(ball.matrix, BLOCKS[np.ix_([0, 1, 3], [0, 1, 3])])
    e = explainer.explain(bank.X.iloc[0], 1)
    values = json.loads(e.to_json())
    assert set(verdicts(clf, values).values()) == {exact.HOLDS}
    turned = np.linalg.qr(ball.matrix)[1]
    for other in (turned, 1.001 * ball.matrix, np.eye(3)):
        forged = changed(values, ("certificate", "ball"), other.tolist())
        assert verdicts(clf, forged)["geometry"] == exact.FAILS


@pytest.mark.parametrize("norm", NORMS)
def test_a_forged_ball_of_mixed_coordinates_is_refused(bank, clf, norm):
    """Where coordinates mix what lands exactly with the rest, the ball is the triangular root."""
    values = document(bank, clf, norm=norm, immutable=["entropy"])
    N = np.array(values["certificate"]["ball"])
    np.testing.assert_allclose(N.T @ N, (M.T @ M)[:3, :3], atol=1e-15)
    assert (np.tril(N, -1) == 0).all()
    assert set(verdicts(clf, values).values()) == {exact.HOLDS}
    half = np.sqrt(0.5)
    turn = np.array([[half, half, 0], [-half, half, 0], [0, 0, 1]])  # keeps N'N, and a positive diagonal
    slightly = np.array([[1, 0, 0], [1e-9, 1, 0], [0, 0, 1]])
    flipped = np.diag([1.0, 1, -1])
    wrong = (2 * N, N * (1 + 7e-7), N * (1 - 7e-7), -N, flipped @ N, turn @ N, slightly @ N, np.eye(3), 0 * N)
    for other in (N * (1 + 4e-7), N * (1 - 4e-7)):
        nearly = changed(values, ("certificate", "ball"), other.tolist())
        assert verdicts(clf, nearly)["geometry"] == exact.HOLDS
    for other in wrong:
        forged = changed(values, ("certificate", "ball"), other.tolist())
        assert verdicts(clf, forged)["geometry"] == exact.FAILS
    assert verdicts(clf, changed(values, ("certificate", "ball"), None))["geometry"] == exact.FAILS


def test_a_curved_scale_is_no_place_for_a_matrix(bank):
    """The checker refuses a question that states a matrix for a model with curved scales."""
    bent = ConditionalGaussianNetworkClassifier(marginals="power").fit(bank.X, bank.y)
    e = CounterfactualExplainer(bent).explain(bank.X.iloc[0], target=1)
    values = json.loads(e.to_json())
    values["question"]["version"] = 4
    values["whitening"] = values["question"]["distance"]["whitening"] = "given"
    values["question"]["distance"]["matrix"] = values["certificate"]["metric"]
    assert verdicts(bent, values)["question"] == exact.FAILS


def test_words_of_the_checker(bank, clf):
    """The matrix is spelled out: nothing else in the words says how far a change is."""
    for asked, said in [
        ({}, "Distance: norm inf with the given coordinates +1 variance +0.4 skewness; -0.3 variance"),
        ({"distance": "cost"}, "Budget: 0.05 in the norm inf with the given coordinates +1 variance +0.4"),
    ]:
        values = document(bank, clf, **asked)
        assert any(line.startswith(said) for line in exact.words([classifier_content(clf)], values))
    claims = exact.check([classifier_content(clf)], values)
    words = {claim.name: claim.reason for claim in claims}["geometry"]
    assert words == "standard deviations, and the question's matrix"


def test_prices_with_a_forged_matrix(bank, clf):
    """Where changes have prices the matrix is that of the errors alone, and is compared all the same."""
    values = document(bank, clf, distance="cost")
    assert set(verdicts(clf, values).values()) == {exact.HOLDS}
    assert values["certificate"]["ball"] == M.tolist()
    forged = changed(values, ("certificate", "ball"), (1.5 * M).tolist())
    assert verdicts(clf, forged)["geometry"] == exact.FAILS


def test_version_four_without_a_matrix(bank, clf):
    e = CounterfactualExplainer(clf).explain(bank.X.iloc[0], target=1)
    forged = changed(json.loads(e.to_json()), ("question", "version"), 4)
    assert verdicts(clf, forged) == "the distance lacks the key matrix"
    with pytest.raises(DataError, match="lacks 'matrix'"):
        Explanation.from_dict(forged)
