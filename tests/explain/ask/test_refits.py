import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from surefoot import ConditionalGaussianNetworkClassifier, Explanation, datasets, verify
from surefoot.exceptions import ProblemError
from surefoot.explain.ask.refits import FRESH, RefittedModels
from surefoot.model.refits import Bootstrap
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def pima():
    data = datasets.load_pima()
    return data, ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)


@pytest.fixture(scope="module")
def robust(pima):
    data, clf = pima
    return CounterfactualExplainer(clf, budget=0.05, whole=False, models=12, data=(data.X, data.y))


def refused(clf, data, k):
    return data.X.iloc[int(np.flatnonzero(clf.predict(data.X) == 1)[k])]


def test_the_decision_turns_under_every_model(pima, robust):
    data, clf = pima
    row = refused(clf, data, 2)
    plain = CounterfactualExplainer(clf, budget=0.05, whole=False).explain(row, 0)
    e = robust.explain(row, 0)
    samples = robust.problem(row, 0).ball.sample(200, 0)
    around = pd.DataFrame(e.counterfactual.to_numpy(float) + samples, columns=data.X.columns)
    for model in (clf, *robust.refits.searched):
        assert (model.predict(around) == 0).all()
    assert any(model.predict(plain.counterfactual.to_frame().T)[0] == 1 for model in robust.refits.searched)
    assert e.distance > plain.distance
    assert e.model_share.refits == FRESH
    assert 0 <= e.model_share.bound <= e.model_share.share <= 1


def test_the_checker_follows_the_proof_when_it_is_given_the_models(pima, robust):
    data, clf = pima
    e = robust.explain(refused(clf, data, 2), 0)
    assert verify(e, clf, models=robust.refits.searched).ok
    assert verify(e, clf).ok  # it knows its models
    again = Explanation.from_json(e.to_json())
    assert again.model_share == e.model_share
    assert not verify(again, clf, models=[*robust.refits.searched[1:], robust.refits.fresh[0]]).ok
    assert not verify(again, clf).ok


def test_a_batch_shares_the_refits_and_their_order_is_that_of_the_seed(pima, robust):
    data, clf = pima
    before = robust.refits.searched
    es = robust.explain_batch(data.X.head(3), progress=False)
    assert robust.refits.searched is before
    assert all(e.question.models == es[0].question.models for e in es)
    again = RefittedModels(clf, clf, 3, (data.X, data.y))
    assert [m.fingerprint_ for m in again.searched] == [m.fingerprint_ for m in before[:3]]
    other = RefittedModels(clf, clf, 3, (data.X, data.y), random_state=1)
    assert other.searched[0].fingerprint_ != before[0].fingerprint_
    assert not {m.fingerprint_ for m in before} & {m.fingerprint_ for m in robust.refits.fresh}


def test_a_list_of_models_is_taken(pima):
    data, clf = pima
    naive = ConditionalGaussianNetworkClassifier("naive").fit(data.X, data.y)
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(data.X, data.y)
    explainer = CounterfactualExplainer(clf, whole=False, models=[naive, logistic], data=(data.X, data.y))
    e = explainer.explain(refused(clf, data, 1), 0)
    there = e.counterfactual.to_frame().T.astype(float)
    assert [model.predict(there)[0] for model in (clf, naive, logistic)] == [0, 0, 0]
    assert verify(e, clf, models=explainer.refits.searched).ok
    without = CounterfactualExplainer(clf, whole=False, models=[naive])
    assert without.explain(refused(clf, data, 1), 0).model_share is None


@pytest.mark.parametrize("settings", [{}, {"marginals": "power"}, {"calibration": "temperature"}])
def test_refits_of_tables_with_categories(settings):
    german = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("naive", **settings).fit(german.X, german.y)
    refits = RefittedModels(clf, clf, 2, (german.X, german.y))
    for model in refits.searched:
        assert model.schema_.category_values == clf.schema_.category_values
        assert tuple(model.warps_) == tuple(clf.warps_)
        assert (model.predict(german.X) == clf.predict(german.X)).mean() > 0.85


def test_a_value_that_a_draw_leaves_out_is_still_known():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=40), "kind": ["a", "b"] * 19 + ["a", "rare"]})
    y = (X["size"] + 0.5 * rng.normal(size=40) > 0).astype(int)
    for table in (X, X.to_numpy()):
        clf = ConditionalGaussianNetworkClassifier("naive").fit(table, y)
        refits = RefittedModels(clf, clf, 8, (table, y))
        assert {model.schema_.category_values for model in refits.searched} == {(("a", "b", "rare"),)}


def test_refits_of_a_pipeline(monkeypatch):
    monkeypatch.setattr("surefoot.explain.ask.refits.FRESH", 5)  # what judges is drawn in the same way
    german = datasets.load_german_credit()
    words = ["housing", "purpose"]
    X = german.X[[*words, "duration_months", "credit_amount"]].astype(dict.fromkeys(words, object))
    pipeline = make_pipeline(
        make_column_transformer((OneHotEncoder(), words), remainder=StandardScaler()), LogisticRegression()
    ).fit(X, german.y)
    explainer = CounterfactualExplainer(pipeline, data=(X, german.y), models=2)
    assert len(explainer.refits.searched) == 2
    assert explainer.refits.searched[0].fingerprint_ != explainer.classifier.fingerprint_


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"models": 5}, "needs data"),
        ({"models": 0, "data": True}, "at least 1"),
        ({"models": True, "data": True}, "at least 1"),
        ({"models": "many"}, "a number of refits or a list"),
        ({"models": []}, "a number of refits or a list"),
        ({"models": 2, "data": True, "random_state": -1}, "random_state"),
    ],
)
def test_what_makes_no_sense_is_refused(pima, settings, message):
    data, clf = pima
    if settings.get("data"):
        settings = {**settings, "data": (data.X, data.y)}
    with pytest.raises(ProblemError, match=message):
        CounterfactualExplainer(clf, **settings)


def test_models_of_other_features_are_refused(pima):
    data, clf = pima
    other = ConditionalGaussianNetworkClassifier("naive").fit(data.X.iloc[:, :4], data.y)
    with pytest.raises(ProblemError, match="same features"):
        CounterfactualExplainer(clf, models=[other])


def test_refits_are_fitted_before_any_time_limit_runs(monkeypatch):
    """The hundred that judge answers took twenty seconds after a search of one."""
    bank = datasets.load_banknote()
    clf = ConditionalGaussianNetworkClassifier("naive").fit(bank.X, bank.y)
    explainer = CounterfactualExplainer(clf, models=2, data=(bank.X, bank.y))
    assert (len(explainer.refits.searched), len(explainer.refits.fresh)) == (2, FRESH)
    fitted = "a model was fitted during an explanation"
    monkeypatch.setattr(Bootstrap, "refit", lambda *_: pytest.fail(fitted))
    assert explainer.explain(bank.X.iloc[0]).model_share is not None
    assert explainer.copy(budget=0.01).refits is explainer.refits
