"""Options of the paper's methods are said with the method; their old names still work, with a warning."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Milp, Qcqp, Refits, datasets, verify
from surefoot.exceptions import ProblemError
from surefoot.explain.answer import methods
from surefoot.problem.answer import Round
from surefoot.status import Status
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


def test_judging_many_candidates_takes_no_longer_than_what_is_left(bank, monkeypatch):
    """Each round that reached the target took two seconds, however little time was left."""
    data, clf = bank
    explainer = CounterfactualExplainer(clf, budget=0.05)
    row = data.X.iloc[0]
    point = explainer.explain(row, target=1).counterfactual.to_numpy(dtype=float)
    rounds = [Round(1.0, 0.0, 0.1, None, 0.0, 0.0, point, Status.TIME_LIMIT) for _ in range(3)]
    limits, real = [], methods.worst_perturbation

    def noted(problem, x, time_limit):
        limits.append(time_limit)
        return real(problem, x, time_limit=time_limit)

    monkeypatch.setattr(methods, "worst_perturbation", noted)
    status, chosen = methods._result(explainer.problem(row, 1), rounds, 1e-3, 0.3)
    assert (status, chosen) == (Status.TIME_LIMIT, rounds[0])
    assert limits == pytest.approx([0.1] * 3)


def test_a_point_at_which_time_was_up_keeps_time_for_its_proof(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = pd.DataFrame(rng.normal(size=(200, 6)) + 0.8 * y[:, None], columns=list("abcdef"))
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
    searched = methods.certified_states

    def cut_short(problem, gap, time_limit):
        """As if time had been up when the point was found."""
        assert time_limit <= 0.9 * 5
        found = searched(problem, gap, time_limit)
        held = {**found.certificate, "robustness": None, "worst": None}
        return replace(found, status=Status.TIME_LIMIT, radius=0.0, worst=None, certificate=held)

    monkeypatch.setattr(methods, "certified_states", cut_short)
    explainer = CounterfactualExplainer(clf, preset="paper", budget=0.05, time_limit=5)
    e = explainer.explain(X[clf.predict_proba(X)[:, 1] < 0.2].iloc[0], 1)
    assert e.status is Status.TIME_LIMIT
    assert e.coverage == 1
    assert verify(e, clf, exact=True).ok
