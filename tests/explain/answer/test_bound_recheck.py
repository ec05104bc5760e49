"""Where rounding is large, nothing is claimed that the checkers would refuse."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, make_classification

import surefoot
from surefoot import Actions, ConditionalGaussianNetworkClassifier, verify
from surefoot.explain.answer.bound_recheck import FAR, FEW, LARGE, UNEVEN, _without_bound, is_doubtful
from surefoot.problem.answer import Answer
from surefoot.problem.row import Row
from surefoot.status import Status
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def repeated():
    """Two columns that repeat two others: what is left of their variances is what smoothing leaves."""
    X = np.random.default_rng(1).normal(size=(200, 4))
    X = pd.DataFrame(np.c_[X, X[:, :2]], columns=[f"f{i}" for i in range(6)])
    return X, ConditionalGaussianNetworkClassifier("tan").fit(X, X.f0**2 + X.f1 > 1)


@pytest.mark.parametrize("row", [8, 17, 20, 27])
@pytest.mark.parametrize("how", [{"immutable": ["f0", "f1"]}, {"distance": "cost"}])
def test_columns_that_repeat_each_other(repeated, row, how):
    """Scores of -1e8 in both classes: what is said of their difference is computed with whole numbers."""
    X, clf = repeated
    e = CounterfactualExplainer(clf, budget=0.05, time_limit=5, **how).explain(X.iloc[row])
    assert verify(e, clf).ok


@pytest.mark.parametrize("distance", ["mahalanobis", "cost"])
def test_a_bound_that_rounding_undoes_is_not_claimed(distance):
    """A million standard deviations off in some features, and the answer has to be typical."""
    data = load_diabetes()
    X = pd.DataFrame(data.data, columns=[f"f{i}" for i in range(10)])
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, data.target > 140)
    rng, seen = np.random.default_rng(0), set()
    for _ in range(6):
        near = X.iloc[int(rng.integers(len(X)))]
        row = near + 1e6 * X.std() * rng.choice([-1, 1], size=10) * (rng.random(10) < 0.3)
        asked = CounterfactualExplainer(
            clf, norm=2, budget=0.05, bounds=None, plausible=0.5, distance=distance, time_limit=5
        )
        e = asked.explain(row, on_failure="return")
        assert verify(e, clf).ok
        seen.add(str(e.status))
        if e.status == "precision_limit":
            assert e.lower_bound == 0
            assert e.certificate["bound"] is None
            assert e.counterfactual is not None
    assert seen == {"optimal", "precision_limit"}


def proof(nodes):
    """A certificate whose tree has so many nodes, an odd number."""
    tree = "leaf"
    for _ in range(nodes // 2):
        tree = {"below": tree, "above": "leaf"}
    return {"bound": {"tree": tree}, "states": None}


ASKED = SimpleNamespace(matrix=None, domain=SimpleNamespace(rows=()))
UNIT, SMALL = np.ones(2), np.array([[LARGE, -LARGE]])


@pytest.mark.parametrize(
    ("distance", "bound", "scores", "nodes", "doubtful"),
    [
        (FAR, FAR, SMALL, 3, False),
        (1.01 * FAR, 0.0, SMALL, 3, True),
        (np.inf, 1.01 * FAR, SMALL, 3, True),
        (np.inf, np.inf, SMALL, 3, False),
        (1.0, 1.0, -1.01 * SMALL, 3, True),
        (1.01 * FAR, 0.0, SMALL, FEW - 1, True),
        (1.01 * FAR, 0.0, SMALL, FEW + 1, False),
        (1.01 * FAR, 0.0, SMALL, 0, False),
    ],
)
def test_which_bounds_are_checked_again(distance, bound, scores, nodes, doubtful):
    """Far away or with large scores, where there is a proof, and a short one."""
    certificate = proof(nodes) if nodes else {"bound": None}
    answer = Answer(Status.OPTIMAL, np.zeros(2), bound, certificate=certificate)
    assert is_doubtful(ASKED, answer, distance, UNIT, scores) is doubtful


@pytest.mark.parametrize(("ratio", "scores", "doubtful"), [(1, 1, False), (1.01, 1, True), (1, 1.01, True)])
def test_a_given_matrix_is_doubted_where_it_is_uneven(ratio, scores, doubtful):
    asked = SimpleNamespace(matrix=np.diag([ratio * UNEVEN, 2.0, 1.0]))
    answer = Answer(Status.OPTIMAL, np.zeros(3), 0.0)
    assert is_doubtful(asked, answer, 1.0, np.ones(3), scores * SMALL) is doubtful


@pytest.mark.parametrize(("ratio", "doubtful"), [(1, False), (1.01, True), (0, False)])
def test_rules_over_features_of_very_different_sizes_are_doubted(ratio, doubtful):
    rule = Row(np.array([-ratio * UNEVEN, 1.0]), 0.0, 0.0)
    asked = SimpleNamespace(matrix=None, domain=SimpleNamespace(rows=(rule,)))
    answer = Answer(Status.OPTIMAL, np.zeros(2), 1.0, certificate=proof(3))
    assert is_doubtful(asked, answer, 1.0, UNIT, SMALL) is doubtful
    assert not is_doubtful(asked, answer, 1.0, np.array([1.0, max(ratio, 1.0) * UNEVEN]), SMALL)


def test_an_answer_tied_to_features_of_very_different_sizes_claims_only_what_holds():
    """One feature in millionths follows another in hundred thousands."""
    X, y = make_classification(200, 6, n_informative=4, random_state=3)
    X = pd.DataFrame(X * np.array([1e-6, 1e7, 1.0, 1e3, 1e-3, 1e5]), columns=list("abcdef"))
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
    explainer = surefoot.CounterfactualExplainer(clf, actions=Actions(links=[("a", "f", -1.0)]))
    for _, row in X.head(12).iterrows():
        assert verify(explainer.explain(row, on_failure="return"), clf).ok


def test_probabilities_on_curved_scales_are_exact_where_scores_are_large():
    """Other features nearly settle the last: both classes' scores are huge, and hardly differ."""
    X, y = make_classification(400, 6, n_informative=4, random_state=3)
    X = X * np.array([1e-6, 1e7, 1.0, 1e3, 1e-3, 1e5]) + np.array([0.0, 5e7, 0.0, -1e4, 0.0, 0.0])
    X = pd.DataFrame(X, columns=list("abcdef"))
    parents = {"c": ["b"], "d": ["b", "c", "e"], "f": list("abcde")}
    clf = ConditionalGaussianNetworkClassifier(parents, marginals="auto", shrinkage="auto").fit(X, y)
    explainer = surefoot.CounterfactualExplainer(clf, distance="cost", norm=2, time_limit=3)
    for _, row in X.iloc[[4, 5, 7, 10]].iterrows():
        assert verify(explainer.explain(row), clf).ok


@pytest.mark.parametrize("status", [Status.INFEASIBLE, Status.TIME_LIMIT_NO_POINT])
def test_reasons_why_there_is_nothing_go_with_the_proof(status):
    told = Answer(status, lower_bound=5.0, certificate=proof(1), conflict=("age stays",), advice="Why.")
    left = _without_bound(told)
    assert (left.lower_bound, left.certificate["bound"]) == (0.0, None)
    gone = status is Status.INFEASIBLE
    assert (left.conflict, left.advice) == (((), "") if gone else (("age stays",), "Why."))
