"""Models that decide by linear or quadratic scores: each decides as scikit-learn does."""

import numpy as np
import pandas as pd
import pytest
from sklearn import calibration
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, PowerTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from surefoot import ConditionalGaussianNetworkClassifier, adopt
from surefoot.exceptions import DataError, SurefootWarning
from surefoot.model.adopted import AdoptedClassifier

NAMES = ["age", "income", "ratio"]
LABELS = np.array(["bad", "good", "unsure"])


def draw(n_classes=2, rows=150, seed=3):
    """Overlapping classes in units in which scikit-learn's solvers converge without scalers."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % n_classes
    X = rng.normal(size=(rows, 3)) @ (np.eye(3) + 0.3 * rng.normal(size=(3, 3)))
    X += 0.9 * rng.normal(size=(n_classes, 3))[y]
    return pd.DataFrame(np.add(X, [1, 2, 0]) * [1.0, 3.0, 0.4], columns=NAMES), LABELS[y]


def agrees(model, clf, rows):
    """Scores, labels and, where there are any, probabilities are scikit-learn's."""
    np.testing.assert_array_equal(clf.predict(rows), model.predict(rows))
    np.testing.assert_array_equal(clf.classes_, model.classes_)
    if hasattr(model, "decision_function"):
        ours, theirs = clf.decision_function(rows), np.asarray(model.decision_function(rows))
        if ours.ndim == 2:
            ours, theirs = ours - ours[:, :1], theirs - theirs[:, :1]
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    if clf.has_probability:
        np.testing.assert_allclose(clf.predict_proba(rows), model.predict_proba(rows), atol=1e-9)
        np.testing.assert_allclose(np.exp(clf.predict_log_proba(rows)), clf.predict_proba(rows))
    else:
        assert not hasattr(clf, "predict_proba")


# Newer versions of scikit-learn warn where these are left out, older ones do not know them.
CV_OPTIONS = {"l1_ratios": (0,), "use_legacy_attributes": False, "scoring": "neg_log_loss"}
CV_OPTIONS = {k: v for k, v in CV_OPTIONS.items() if k in LogisticRegressionCV().get_params()}
CALIBRATED = CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3)
MODELS = {
    "logistic": (LogisticRegression(), {2, 3}),
    "logistic, l1": (LogisticRegression(l1_ratio=1.0, solver="saga", C=0.05, max_iter=10_000), {2, 3}),
    "logistic, no intercept": (LogisticRegression(fit_intercept=False), {2, 3}),
    "logistic, chosen": (
        LogisticRegressionCV(Cs=2, cv=2, **CV_OPTIONS),
        {2, 3},
    ),
    "svm": (LinearSVC(), set()),
    "svm, all at once": (LinearSVC(multi_class="crammer_singer", max_iter=20_000), set()),
    "ridge": (RidgeClassifier(), set()),
    "ridge, chosen": (RidgeClassifierCV(), set()),
    "sgd, hinge": (SGDClassifier(random_state=0), set()),
    "sgd, log": (SGDClassifier(loss="log_loss", random_state=0), {2}),
    "sgd, huber": (SGDClassifier(loss="modified_huber", random_state=0), set()),
    "perceptron": (Perceptron(random_state=0), set()),
    "one against rest": (OneVsRestClassifier(LogisticRegression()), {2}),
    "calibrated": (CALIBRATED, {2}),
    "polynomial": (make_pipeline(PolynomialFeatures(2), LogisticRegression(max_iter=5000)), {2, 3}),
    "products": (
        make_pipeline(PolynomialFeatures(2, interaction_only=True, include_bias=False), RidgeClassifier()),
        set(),
    ),
    "bent, naive Bayes": (make_pipeline(PowerTransformer(), GaussianNB()), {2, 3}),
    "bent, qda": (make_pipeline(PowerTransformer(), QuadraticDiscriminantAnalysis()), {2, 3}),
    "bent, lda": (make_pipeline(PowerTransformer(), LinearDiscriminantAnalysis()), {2, 3}),
}


@pytest.mark.filterwarnings("ignore:overflow")  # scikit-learn's search for the power
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_decisions_are_those_of_scikit_learn(name, n_classes):
    (X, y), new = draw(n_classes), draw(n_classes, seed=9)[0]
    X, new = (X + 3) * [1.0, 250.0, 1e-3], (new + 3) * [1.0, 250.0, 1e-3]
    model = make_pipeline(StandardScaler(), clone(MODELS[name][0])).fit(X, y)
    clf = adopt(model, (X, y))
    assert isinstance(clf, AdoptedClassifier)
    assert clf.has_probability == (n_classes in MODELS[name][1])
    agrees(model, clf, new)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_decision_is_a_quadratic_in_the_units_of_the_table(n_classes):
    X, y = draw(n_classes)
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=5000)).fit(
        X, y
    )
    clf = adopt(model, (X, y))
    H = clf.decision("good", "bad").at(())
    log_odds = np.diff(clf.predict_log_proba(X)[:, :2])[:, 0]
    np.testing.assert_allclose(H(X.to_numpy()), log_odds, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(clf.decision_quadratic("good", "bad")(X.to_numpy()), log_odds, atol=1e-8)


def test_warped_decisions_live_among_the_warped_numbers():
    X, y = draw()
    X["income"] = np.exp(X["income"] / 4)
    model = make_pipeline(PowerTransformer(), LogisticRegression()).fit(X, y)
    clf = adopt(model, (X, y))
    assert not any(warp.is_identity for warp in clf.warps_)
    Z = np.column_stack([warp(X[name]) for warp, name in zip(clf.warps_, NAMES, strict=True)])
    np.testing.assert_allclose(
        clf.decision("good", "bad").at(())(Z), model.decision_function(X), rtol=1e-9, atol=1e-9
    )
    good = clf.classes_.tolist().index("good")
    own = Z[y == "good"]
    np.testing.assert_allclose(clf.networks_[good].means, own.mean(axis=0), rtol=1e-6)
    np.testing.assert_array_equal(clf.feature_range_, [X.min(), X.max()])
    np.testing.assert_array_equal(
        clf.feature_percentiles_, ConditionalGaussianNetworkClassifier().fit(X, y).feature_percentiles_
    )
    assert clf.density_percentiles_.shape == (2, 101)


def test_the_network_is_that_of_the_data():
    X, y = draw()
    clf, own = adopt(LogisticRegression().fit(X, y), (X, y)), ConditionalGaussianNetworkClassifier().fit(X, y)
    assert clf.dag_ == own.dag_
    for name in ("class_prior_", "feature_range_", "feature_percentiles_", "density_percentiles_", "means_"):
        np.testing.assert_array_equal(getattr(clf, name), getattr(own, name), err_msg=name)
    assert clf.feature_labels_ == tuple(NAMES)
    assert clf.fingerprint_ != own.fingerprint_


def test_fingerprints_cover_the_decision():
    X, y = draw()
    prints = {
        adopt(model.fit(X, y), (X, y)).fingerprint_
        for model in (LogisticRegression(), LogisticRegression(C=0.5), RidgeClassifier())
    }
    assert len(prints) == 3


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV])
def test_searches(search):
    X, y = draw()
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    options = {"n_iter": 2, "random_state": 0} if search is RandomizedSearchCV else {}
    model = search(inner, {"logisticregression__C": [0.1, 1.0]}, cv=2, **options).fit(X, y)
    agrees(model, adopt(model, (X, y)), X)


def test_a_search_over_a_gaussian_model_gives_its_network():
    X, y = draw()
    model = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, cv=2).fit(X, y)
    clf = adopt(model)
    assert type(clf) is ConditionalGaussianNetworkClassifier
    np.testing.assert_allclose(clf.predict_proba(X), model.predict_proba(X), rtol=1e-8)


def test_a_search_over_networks_gives_the_best_network():
    X, y = draw()
    model = GridSearchCV(ConditionalGaussianNetworkClassifier(), {"structure": ["naive", "tan"]}, cv=2)
    assert adopt(model.fit(X, y)) is model.best_estimator_


@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibration_of_a_frozen_model(n_classes):
    X, y = draw(n_classes)
    model = CalibratedClassifierCV(FrozenEstimator(LinearSVC().fit(X, y))).fit(X, y)
    clf = adopt(model, (X, y))
    agrees(model, clf, X)
    assert clf.has_probability == (n_classes == 2)


def test_calibration_around_a_pipeline_and_within_one():
    X, y = draw()
    around = CalibratedClassifierCV(make_pipeline(StandardScaler(), LinearSVC()), ensemble=False).fit(X, y)
    within = make_pipeline(StandardScaler(), clone(CALIBRATED)).fit(X, y)
    for model in (around, within):
        agrees(model, adopt(model, (X, y)), X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibration_by_a_temperature(n_classes):
    X, y = draw(n_classes)
    model = CalibratedClassifierCV(LogisticRegression(), method="temperature", ensemble=False)
    if not hasattr(calibration, "_TemperatureScaling"):
        pytest.skip("newer scikit-learn")
    clf = adopt(model.fit(X, y), (X, y))
    assert clf.has_probability
    agrees(model, clf, X)


@pytest.mark.parametrize("form", ["array", "frame"])
def test_a_linear_support_vector_machine(form):
    X, y = draw()
    X = X.to_numpy() if form == "array" else X
    model = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X, y)
    clf = adopt(model, (X, y))
    agrees(model, clf, X)
    assert clf.feature_labels_ == ((0, 1, 2) if form == "array" else tuple(NAMES))


def test_sparse_coefficients():
    X, y = draw()
    model = make_pipeline(StandardScaler(), SGDClassifier(penalty="l1", random_state=0)).fit(X, y)
    model[-1].sparsify()
    agrees(model, adopt(model, (X, y)), X)


def test_single_precision():
    X, y = draw()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X.astype(np.float32), y)
    agrees(model, adopt(model, (X.astype(np.float32), y)), X)


def test_labels_of_other_kinds():
    X, y = draw()
    for labels in (y == "good", np.where(y == "good", 1.0, -1.0), pd.Series(y, dtype="category")):
        model = LogisticRegression(max_iter=1000).fit(X, labels)
        agrees(model, adopt(model, (X, labels)), X)


def test_years_keep_their_digits():
    X, y = draw()
    X["year"] = 2000 + np.arange(len(X)) % 9
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=5000)).fit(
        X, y
    )
    agrees(model, adopt(model, (X, y)), X)


# --- refusals


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(2),
        HistGradientBoostingClassifier(max_iter=2),
        MLPClassifier((2,), solver="lbfgs", max_iter=10_000),
        SVC(),
        VotingClassifier([("a", LogisticRegression())]),
        FixedThresholdClassifier(LogisticRegression(), threshold=0.3),
    ],
)
def test_other_models_are_refused_in_one_sentence(model):
    X, y = draw()
    model = make_pipeline(StandardScaler(), model).fit(X, y)
    with pytest.raises(
        DataError, match=r"linear or quadratic, not \w+; accepted are .*LogisticRegression"
    ) as e:
        adopt(model, (X, y))
    assert "\n" not in str(e.value)
    assert type(model[-1]).__name__ in str(e.value)


def test_a_linear_kernel_with_three_classes_is_refused():
    X, y = draw(3)
    with pytest.raises(DataError, match="SVC with two classes"):
        adopt(SVC(kernel="linear").fit(X, y), (X, y))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (CalibratedClassifierCV(LinearSVC(), cv=3), "mean of 3 calibrated models"),
        (CalibratedClassifierCV(LinearSVC(), method="isotonic", ensemble=False), "method='sigmoid'"),
        (CalibratedClassifierCV(GaussianNB(), ensemble=False), "works on probabilities"),
        (CalibratedClassifierCV(RandomForestClassifier(2), ensemble=False), "not RandomForestClassifier"),
        (OneVsRestClassifier(GaussianNB()), "works on probabilities"),
    ],
)
def test_calibration_that_is_not_quadratic_is_refused(model, words):
    X, y = draw()
    with pytest.raises(DataError, match=words):
        adopt(model.fit(X, y), (X, y))


def test_data_is_needed():
    X, y = draw()
    with pytest.raises(DataError, match=r"LogisticRegression has no density of its own: pass data=\(X, y\)"):
        adopt(LogisticRegression().fit(X, y))


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [1.0]}),
        CalibratedClassifierCV(LinearSVC()),
        OneVsRestClassifier(LinearSVC()),
    ],
)
def test_unfitted_models_are_refused(model):
    with pytest.raises(NotFittedError):
        adopt(model, draw())


def test_a_search_that_keeps_no_model_is_refused():
    X, y = draw()
    model = GridSearchCV(LogisticRegression(), {"C": [1.0]}, refit=False, cv=2).fit(X, y)
    with pytest.raises(DataError, match="refit=True"):
        adopt(model, (X, y))


def test_several_labels_for_a_row_are_refused():
    X, y = draw()
    model = OneVsRestClassifier(LogisticRegression()).fit(X, np.column_stack([y == "good", y == "bad"]))
    with pytest.raises(DataError, match="several labels"):
        adopt(model, (X, y))


def test_models_changed_after_fitting_are_refused():
    class Stubborn(LogisticRegression):
        def decision_function(self, X):
            return super().decision_function(X) + 1e-6

    X, y = draw()
    with pytest.raises(DataError, match=r"Stubborn is not adopted: its decisions differ by \de-0"):
        adopt(Stubborn().fit(X, y), (X, y))


def test_labels_of_its_own_are_refused():
    class Cautious(LogisticRegression):
        def predict(self, X):
            return np.where(super().predict_proba(X)[:, 1] > 0.9, "good", "bad")

    X, y = draw()
    with pytest.raises(DataError, match="labels differ"):
        adopt(Cautious().fit(X, y), (X, y))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: X, r"the pair \(X, y\)"),
        (lambda X, y: (X.drop(columns="ratio"), y), "data has no column 'ratio'"),
        (lambda X, y: (X.to_numpy()[:, :2], y), "data: X has 2 features, but the model expects 3"),
        (lambda X, y: (X, y[1:]), "data: .*inconsistent"),
        (lambda X, y: (X, np.where(y == "bad", "poor", y)), r"data has the label 'poor'"),
        (lambda X, y: (X, np.full(len(y), "bad")), "data has no row of class 'good'"),
        (lambda X, y: (X.assign(age=np.inf), y), "'age' is infinite"),
        (lambda X, y: (pd.concat([X, X], axis=1), y), "occurs more than once"),
    ],
)
def test_data_that_does_not_fit_is_refused(change, words):
    X, y = draw()
    with pytest.raises(DataError, match=words):
        adopt(LogisticRegression().fit(X, y), change(X, y))


def test_an_adopted_model_is_not_fitted_again():
    X, y = draw()
    clf = adopt(LogisticRegression().fit(X, y), (X, y))
    with pytest.raises(DataError, match="adopt it again"):
        clf.fit(X, y)
    assert adopt(clf) is clf


def test_a_network_behind_other_steps_is_refused():
    X, y = draw()
    model = make_pipeline(PowerTransformer(), ConditionalGaussianNetworkClassifier()).fit(X, y)
    with pytest.raises(DataError, match="behind nothing but scalers"):
        adopt(model, (X, y))


def test_a_model_that_multiplies_too_much_is_named(rng):
    y = np.repeat([0, 1], 40)
    X = pd.DataFrame(rng.normal(size=(80, 2)) + y[:, None], columns=["a", "b"])
    behind = make_pipeline(PolynomialFeatures(2), GaussianNB()).fit(X, y)
    with pytest.raises(DataError, match="GaussianNB behind these steps cannot be taken: it multiplies more"):
        adopt(behind, (X, y))


def test_values_that_no_row_had(rng):
    y = np.repeat([0, 1], 40)
    X = pd.DataFrame({"a": rng.normal(size=80) + y, "k": np.where(rng.random(80) < 0.5, "u", "v")})
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["k"]), remainder="passthrough"
    )
    clf = adopt(make_pipeline(encoder, LogisticRegression()).fit(X, y), (X, y))
    with (
        pytest.warns(SurefootWarning),
        pytest.raises(DataError, match=r"column 'k' is missing \(NaN\) or unknown in row 0"),
    ):
        clf.predict(X.assign(k="new"))


def test_own_classifiers_have_probabilities(bundled):
    X, y = bundled["pima"].X, bundled["pima"].y
    assert adopt(GaussianNB().fit(X, y), (X, y)).has_probability
    assert ConditionalGaussianNetworkClassifier("naive").fit(X, y).has_probability
