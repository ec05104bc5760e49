import numpy as np
import pytest

from surefoot import Actions, ConditionalGaussianNetworkClassifier, Explanation, datasets, verify
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.ask.plausible import checked_plausible
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def pima():
    data = datasets.load_pima()
    return data, ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)


def first_of(clf, data, label, k=0):
    return data.X.iloc[int(np.flatnonzero(clf.predict(data.X) == label)[k])]


def density_on_ball(e, clf, problem, samples=2000):
    """The least percentile of the target's density over the ball, by sampling."""
    x = e.counterfactual.to_numpy(float)
    around = x + problem.ball.sample(samples, 0)
    t = clf.classes_.tolist().index(e.target)
    values = clf.networks_[t].log_density(np.vstack([around, x]))
    return float(np.interp(values.min(), clf.density_percentiles_[t], np.arange(101.0)))


@pytest.mark.parametrize("norm", [np.inf, 2, 1])
def test_the_floor_holds_on_the_whole_ball(pima, norm):
    data, clf = pima
    explainer = CounterfactualExplainer(clf, budget=0.05, norm=norm, whole=False, plausible=0.5)
    row = first_of(clf, data, 1, 2)
    plain = CounterfactualExplainer(clf, budget=0.05, norm=norm, whole=False).explain(row, 0)
    e = explainer.explain(row, 0)
    assert density_on_ball(e, clf, explainer.problem(row, 0)) >= 50 - 1e-6
    assert density_on_ball(plain, clf, explainer.problem(row, 0)) < 50
    assert e.distance > plain.distance
    assert verify(e, clf).ok
    assert verify(Explanation.from_json(e.to_json()), clf).ok


def test_a_floor_that_is_not_the_models_is_refused(pima):
    data, clf = pima
    e = CounterfactualExplainer(clf, plausible=0.3).explain(first_of(clf, data, 1), 0)
    values = e.to_dict()
    values["question"]["domain"]["declared"]["plausible"] = 0.6
    forged = Explanation.from_dict(values)
    assert [claim.name for claim in verify(forged, clf).failures] == ["plausible"]


def test_no_changed_number_is_far_from_what_its_parents_predict(pima):
    data, clf = pima
    row = first_of(clf, data, 1, 2)
    e = CounterfactualExplainer(clf, plausible=("conditional", 1.5), whole=False).explain(row, 0)
    scores = e.z_score[e.changed].abs()
    assert (scores <= 1.5 + 1e-9).all()
    plain = CounterfactualExplainer(clf, whole=False).explain(row, 0)
    assert plain.z_score[plain.changed].abs().max() > 1.5
    assert e.distance >= plain.distance * (1 - 1e-3)
    assert verify(e, clf).ok


def test_bands_that_are_not_the_models_are_refused(pima):
    data, clf = pima
    e = CounterfactualExplainer(clf, plausible=("conditional", 2.0), whole=False).explain(
        first_of(clf, data, 1), 0
    )
    values = e.to_dict()
    values["question"]["domain"]["declared"]["plausible"] = ["conditional", 1.0]
    assert "plausible" in [c.name for c in verify(Explanation.from_dict(values), clf).failures]


def test_categories_have_bands_of_their_own():
    german = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(german.X, german.y)
    row = german.X.iloc[int(np.flatnonzero(clf.predict(german.X) == "bad")[0])]
    kept = Actions(dict.fromkeys(("age", "personal_status", "foreign_worker"), "stay"))
    explainer = CounterfactualExplainer(
        clf, plausible=("conditional", 2.0), actions=kept, whole=False, time_limit=60
    )
    e = explainer.explain(row, "good")
    changed = [name for name in e.changed if not np.isnan(e.z_score[name])]
    assert (e.z_score[changed].abs() <= 2.0 + 1e-9).all()
    assert verify(e, clf).ok


@pytest.mark.parametrize("wrong", [0, 1, -0.1, True, "high", ("conditional",), ("conditional", 0), [0.5]])
def test_what_makes_no_sense_is_refused(pima, wrong):
    with pytest.raises(ProblemError, match="plausible"):
        CounterfactualExplainer(pima[1], plausible=wrong)


def test_curved_scales_take_a_share_but_no_bands():
    bank = datasets.load_banknote()
    clf = ConditionalGaussianNetworkClassifier("naive", marginals="power").fit(bank.X, bank.y)
    e = CounterfactualExplainer(clf, plausible=0.3).explain(bank.X.iloc[0], 1)
    assert verify(e, clf).ok
    with pytest.raises(ProblemError, match="straight scales"):
        CounterfactualExplainer(clf, plausible=("conditional", 2)).explain(bank.X.iloc[0], 1)


def test_files_that_declare_nonsense_are_refused(pima):
    data, clf = pima
    values = CounterfactualExplainer(clf, plausible=0.3).explain(first_of(clf, data, 1), 0).to_dict()
    values["question"]["domain"]["declared"]["plausible"] = {"much": 1}
    with pytest.raises(DataError, match="constraints make no sense"):
        Explanation.from_dict(values)


def test_none_is_nothing():
    assert checked_plausible(None) is None
