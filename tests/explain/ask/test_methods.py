"""Options of the paper's methods are said with the method; their old names still work, with a warning."""

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Milp, Qcqp, Refits, datasets
from surefoot.exceptions import ProblemError
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def bank():
    data = datasets.load_banknote()
    return data, ConditionalGaussianNetworkClassifier("naive").fit(data.X, data.y)


def test_old_names_give_a_warning_that_says_the_new_one(bank):
    data, clf = bank
    with pytest.warns(DeprecationWarning, match=r"write method=Qcqp\(backend='scip', tol=0\.01\)"):
        old = CounterfactualExplainer(clf, method="qcqp", backend="scip", tol=0.01, budget=0.05)
    new = CounterfactualExplainer(clf, method=Qcqp(backend="scip", tol=0.01), budget=0.05)
    first, second = (one.explain(data.X.iloc[0], target=1) for one in (old, new))
    assert (first.method, first.backend, first.distance) == ("qcqp", "scip", second.distance)
    assert old.copy(budget=0.0).paper == old.paper  # without a warning


def test_words_and_options_are_the_same_method(bank):
    _, clf = bank
    assert CounterfactualExplainer(clf, method="milp").paper == Milp()
    assert CounterfactualExplainer(clf, method=Milp(n_segments=5)).paper.n_segments == 5
    assert CounterfactualExplainer(clf, method=Qcqp()).method == "qcqp"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Qcqp(tol=0), "tol must be a positive number, not 0"),
        (lambda: Qcqp(tol=np.nan), "tol must be a positive number"),
        (lambda: Milp(n_segments=1.5), "n_segments must be a positive integer, not 1.5"),
        (lambda: Milp(contraction=1.0), "contraction must lie between 0 and 1"),
        (lambda: Milp(max_iterations=True), "max_iterations must be a positive integer, not True"),
    ],
)
def test_options_that_make_no_sense(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


def test_unknown_arguments_are_named(bank):
    with pytest.raises(TypeError, match="unexpected keyword argument 'backends'"):
        CounterfactualExplainer(bank[1], backends="scip")
    with pytest.raises(ProblemError, match="method must be one of 'certified', 'qcqp', 'milp', or a Qcqp or"):
        CounterfactualExplainer(bank[1], method="best")


def test_refits_are_said_in_one_argument(bank):
    data, clf = bank
    said = CounterfactualExplainer(clf, models=Refits(3, data=(data.X, data.y), random_state=1))
    same = CounterfactualExplainer(clf, models=3, data=(data.X, data.y), random_state=1)
    first, second = (one.explain(data.X.iloc[0]) for one in (said, same))
    assert (first.distance, first.model_share) == (second.distance, second.model_share)
    with pytest.raises(ProblemError, match="models must be at least 1"):
        CounterfactualExplainer(clf, models=Refits(0, data=(data.X, data.y)))
