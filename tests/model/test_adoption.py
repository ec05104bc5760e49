import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)

from surefoot import ConditionalGaussianNetworkClassifier, Dag, LinearGaussianNetwork
from surefoot.exceptions import DataError
from surefoot.model.adoption import adopt
from surefoot.model.adoption.gaussian import _in_units_before
from surefoot.model.scalers import Affine
from tests.asking import CounterfactualExplainer
from tests.thinning import every

UNITS = np.array([1.0, 250.0, 0.2, 40.0])
CENTRE = np.array([3.0, 20.0, 0.0, -5.0])
NAMES = ["age", "income", "ratio", "score"]
LABELS = np.array(["bad", "good", "unsure"])


def draw(n_classes, rows=240, seed=3):
    """Correlated, overlapping classes of different shapes, in different units and away from zero."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % n_classes
    y[: rows // 6] = 0
    X = np.empty((rows, 4))
    for c in range(n_classes):
        own = y == c
        shape = np.eye(4) + 0.4 * rng.normal(size=(4, 4))
        X[own] = rng.normal(size=(own.sum(), 4)) @ shape + 0.8 * rng.normal(size=4)
    return (X + CENTRE) * UNITS, y


def in_form(X, y, form):
    return {
        "numpy": (X, y),
        "frame": (pd.DataFrame(X, columns=NAMES), y),
        "strings": (pd.DataFrame(X, columns=NAMES), pd.Series(LABELS[y])),
    }[form]


MODELS = {
    "nb": GaussianNB(),
    "nb priors": GaussianNB(priors=[0.2, 0.8]),
    "qda": QuadraticDiscriminantAnalysis(),
    "qda regularised": QuadraticDiscriminantAnalysis(reg_param=0.1, priors=[0.2, 0.8], store_covariance=True),
    "lda": LinearDiscriminantAnalysis(),
    "lda stored": LinearDiscriminantAnalysis(store_covariance=True),
    "lda priors": LinearDiscriminantAnalysis(priors=[0.2, 0.8], n_components=1),
    "lda lsqr": LinearDiscriminantAnalysis(solver="lsqr", priors=[0.2, 0.8]),
    "lda shrunk": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "lda eigen": LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1),
    "network": ConditionalGaussianNetworkClassifier("tan"),
}
NEEDS_DATA = {"lda", "lda priors"}
SCALERS = {
    "plain": [],
    "standard": [StandardScaler()],
    "standard, no mean": [StandardScaler(with_mean=False)],
    "standard, no std": [StandardScaler(with_std=False)],
    "minmax": [MinMaxScaler(feature_range=(-1, 3))],
    "maxabs": [MaxAbsScaler()],
    "robust": [RobustScaler()],
    "robust, no centre": [RobustScaler(with_centering=False)],
    "robust, no scale": [RobustScaler(with_scaling=False)],
    "nothing": ["passthrough", FunctionTransformer()],
    "two": [RobustScaler(), MinMaxScaler()],
    "nested": [make_pipeline(StandardScaler(), "passthrough"), MaxAbsScaler()],
}

FORMS = [(2, "numpy"), (3, "numpy"), (2, "frame"), (3, "strings")]
ALL = [(model, scalers, *form) for model in MODELS for scalers in SCALERS for form in FORMS]


def fitted(model, scalers, X, y):
    model = clone(MODELS[model])
    if getattr(model, "priors", None) is not None and len(np.unique(y)) == 3:
        model.set_params(priors=[0.2, 0.5, 0.3])
    steps = [step if isinstance(step, str) else clone(step) for step in SCALERS[scalers]]
    return (make_pipeline(*steps, model) if steps else model).fit(X, y)


@pytest.mark.parametrize(("model", "scalers", "n_classes", "form"), every(5, ALL))
def test_probabilities_are_those_of_scikit_learn(model, scalers, n_classes, form):
    X, y = in_form(*draw(n_classes), form)
    estimator = fitted(model, scalers, X, y)
    clf = adopt(estimator, data=(X, y) if model in NEEDS_DATA else None)
    new = in_form(*draw(n_classes, seed=8), form)[0]
    np.testing.assert_allclose(clf.predict_proba(new), estimator.predict_proba(new), rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(clf.predict(new), estimator.predict(new))
    np.testing.assert_array_equal(clf.classes_, estimator.classes_)
    log_proba = clf.predict_log_proba(new)
    for c in range(1, n_classes):
        H = clf.decision_quadratic(clf.classes_[c], clf.classes_[0])
        np.testing.assert_allclose(
            H(np.asarray(new)), log_proba[:, c] - log_proba[:, 0], rtol=1e-7, atol=1e-7
        )


def test_a_network_comes_back_as_it_is():
    clf = ConditionalGaussianNetworkClassifier().fit(*draw(2))
    assert adopt(clf) is clf


def test_a_network_behind_scalers_remembers_its_data():
    X, y = draw(2)
    clf = adopt(make_pipeline(StandardScaler(), ConditionalGaussianNetworkClassifier("tan")).fit(X, y))
    raw = ConditionalGaussianNetworkClassifier(clf.dag_).fit(X, y)
    assert clf.structure_report_.method == "tan"
    assert clf.n_rows_ == len(X)
    np.testing.assert_allclose(clf.feature_range_, raw.feature_range_)
    np.testing.assert_allclose(clf.feature_percentiles_, raw.feature_percentiles_)
    np.testing.assert_allclose(clf.density_percentiles_, raw.density_percentiles_, rtol=1e-6)


@pytest.mark.parametrize("form", ["numpy", "frame"])
def test_pipelines_that_put_out_frames(form):
    X, y = in_form(*draw(2), form)
    model = make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis()).set_output(transform="pandas")
    clf = adopt(model.fit(X, y))
    np.testing.assert_allclose(clf.predict_proba(X), model.predict_proba(X), rtol=1e-8, atol=1e-12)
    assert clf.feature_labels_ == (tuple(NAMES) if form == "frame" else (0, 1, 2, 3))
    assert hasattr(clf, "feature_names_in_") == (form == "frame")


def test_a_pipeline_whose_last_step_is_a_pipeline():
    X, y = draw(2)
    model = Pipeline([("a", None), ("b", make_pipeline(MinMaxScaler(), GaussianNB()))]).fit(X, y)
    np.testing.assert_allclose(adopt(model).predict_proba(X), model.predict_proba(X), rtol=1e-8)


@pytest.mark.parametrize("model", ["nb", "qda", "lda stored", "lda lsqr"])
def test_single_precision(model):
    X, y = draw(2)
    estimator = fitted(model, "standard", X.astype(np.float32), y)
    np.testing.assert_allclose(adopt(estimator).predict_proba(X), estimator.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("model", ["qda", "lda"])
def test_units_may_differ_by_many_orders_of_magnitude(model):
    X, y = draw(2)
    X = X * [1e9, 1e-9, 1.0, 1e5]
    estimator = fitted(model, "standard", X, y)
    clf = adopt(estimator, (X, y))
    np.testing.assert_allclose(clf.predict_proba(X), estimator.predict_proba(X), rtol=1e-7, atol=1e-9)


def test_the_divisor_of_the_scatter_is_found():
    """Versions of scikit-learn differ in it: rows, or rows less classes."""
    X, y = draw(2)
    model = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    log_prior = np.log(model.priors_[1] / model.priors_[0])
    model.coef_, model.intercept_ = 0.9 * model.coef_, 0.9 * (model.intercept_ - log_prior) + log_prior
    for data in (None, (X, y)):
        np.testing.assert_allclose(adopt(model, data).predict_proba(X), model.predict_proba(X), rtol=1e-8)


@pytest.mark.skipif("solver" not in QuadraticDiscriminantAnalysis().get_params(), reason="newer scikit-learn")
def test_quadratic_discriminant_analysis_by_eigenvalues():
    X, y = draw(3)
    model = QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(X, y)
    np.testing.assert_allclose(adopt(model).predict_proba(X), model.predict_proba(X), rtol=1e-8, atol=1e-12)


@pytest.mark.skipif("clip" not in MaxAbsScaler().get_params(), reason="newer scikit-learn")
def test_clipping_by_the_largest_value_is_refused():
    model = make_pipeline(MaxAbsScaler(clip=True), GaussianNB()).fit(*draw(2))
    with pytest.raises(DataError, match="step 'maxabsscaler'"):
        adopt(model, draw(2))


def test_one_feature():
    X, y = draw(2)
    model = QuadraticDiscriminantAnalysis().fit(X[:, :1], y)
    clf = adopt(model)
    assert clf.structure_report_.method == "naive"
    np.testing.assert_allclose(clf.predict_proba(X[:, :1]), model.predict_proba(X[:, :1]), rtol=1e-9)


# --- what a fitted classifier has


def test_graphs():
    X, y = draw(2)
    naive, full = adopt(GaussianNB().fit(X, y)), adopt(QuadraticDiscriminantAnalysis().fit(X, y))
    assert (naive.dag_, naive.structure_report_.method) == (Dag.empty(4), "naive")
    assert (full.dag_, full.structure_report_.method) == (Dag.complete(4), "given")
    assert full.structure == full.dag_


def test_discriminant_analysis_is_maximum_likelihood_on_the_complete_graph():
    X, y = draw(3)
    clf = adopt(QuadraticDiscriminantAnalysis().fit(X, y), (X, y))
    own = ConditionalGaussianNetworkClassifier(Dag.complete(4), var_smoothing=0).fit(X, y)
    for name in ("weights_", "means_", "variances_", "class_prior_", "class_count_", "density_percentiles_"):
        np.testing.assert_allclose(getattr(clf, name), getattr(own, name), rtol=1e-8, err_msg=name)
    np.testing.assert_array_equal(clf.feature_range_, own.feature_range_)
    np.testing.assert_array_equal(clf.feature_percentiles_, own.feature_percentiles_)
    assert clf.n_rows_ == own.n_rows_
    assert set(vars(own)) <= set(vars(clf))


def test_linear_discriminant_analysis_shares_one_covariance():
    X, y = draw(3)
    stored = adopt(LinearDiscriminantAnalysis(store_covariance=True).fit(X, y))
    recomputed = adopt(LinearDiscriminantAnalysis().fit(X, y), (X, y))
    for network in recomputed.networks_:
        np.testing.assert_allclose(network.covariance, stored.networks_[0].covariance, rtol=1e-8)


def test_without_data_the_range_is_the_models_own():
    X, y = draw(2)
    model = make_pipeline(StandardScaler(), GaussianNB()).fit(X, y)
    clf = adopt(model)
    sd = np.sqrt(clf.variances_)
    np.testing.assert_allclose(clf.feature_range_[0], (clf.means_ - 3 * sd).min(axis=0))
    np.testing.assert_allclose(clf.feature_percentiles_[1], (clf.means_ + 1.645 * sd).max(axis=0))
    np.testing.assert_array_equal(clf.class_count_, np.bincount(y))
    assert clf.n_rows_ == len(X)


def test_without_data_densities_are_those_of_gaussian_rows():
    clf = adopt(QuadraticDiscriminantAnalysis().fit(*draw(2)))
    assert clf.density_percentiles_.shape == (2, 101)
    assert np.isfinite(clf.density_percentiles_).all()
    assert (np.diff(clf.density_percentiles_) > 0).all()
    for network, levels in zip(clf.networks_, clf.density_percentiles_, strict=True):
        density = network.log_density(network.sample(20_000, random_state=0))
        np.testing.assert_allclose(np.quantile(density, [0.1, 0.5, 0.9]), levels[[10, 50, 90]], atol=0.1)
        np.testing.assert_allclose(network.log_density(network.means[None])[0], levels[100])


def test_without_counts_each_class_is_one_row():
    clf = adopt(QuadraticDiscriminantAnalysis().fit(*draw(3)))
    np.testing.assert_array_equal(clf.class_count_, [1, 1, 1])
    assert clf.n_rows_ == 3


@pytest.mark.parametrize("with_data", [False, True])
@pytest.mark.parametrize("model", ["nb", "qda", "lda stored", "network"])
def test_save_load_and_clone(model, with_data, tmp_path):
    X, y = in_form(*draw(3), "strings")
    clf = adopt(fitted(model, "two", X, y), (X, y) if with_data else None)
    clf.save(tmp_path / "model.json")
    again = ConditionalGaussianNetworkClassifier.load(tmp_path / "model.json")
    assert again.predict_proba(X).tobytes() == clf.predict_proba(X).tobytes()
    assert list(again.feature_names_in_) == NAMES
    np.testing.assert_array_equal(again.feature_range_, clf.feature_range_)
    assert clone(clf).fit(X, y).dag_ == clf.dag_


def test_an_adopted_model_can_be_explained():
    X, y = in_form(*draw(2), "strings")
    model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()).fit(X, y)
    factual = X[model.predict(X) == "bad"].iloc[0]
    explanation = CounterfactualExplainer(adopt(model, (X, y))).explain(factual, target="good")
    moved = pd.DataFrame([np.asarray(explanation.counterfactual)], columns=NAMES)
    assert model.predict(moved)[0] == "good"


positive = st.floats(1e-3, 1e3)


@given(st.lists(positive, min_size=3, max_size=3), st.lists(st.floats(-50, 50), min_size=3, max_size=3))
def test_a_change_of_units_multiplies_the_density_by_its_determinant(scale, offset):
    a, b = np.array(scale), np.array(offset)
    W = np.array([[0, 0, 0], [0.7, 0, 0], [-1.2, 0.4, 0]])
    network = LinearGaussianNetwork(Dag.complete(3), W, [1, -2, 0.5], [0.5, 2, 1])
    X = network.sample(5, random_state=1)
    before = _in_units_before(network, Affine(a, b))
    expected = network.log_density(X) + np.log(a).sum()
    np.testing.assert_allclose(before.log_density((X - b) / a), expected, rtol=1e-7, atol=1e-7)
    there_and_back = _in_units_before(before, Affine(1 / a, -b / a))
    np.testing.assert_allclose(there_and_back.weights, W, rtol=1e-9, atol=1e-12)


# --- refusals


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (MinMaxScaler(clip=True), r"step 'minmaxscaler', MinMaxScaler\(clip=True\)"),
        (FunctionTransformer(np.abs), "step 'functiontransformer'"),
        (make_pipeline(StandardScaler(), Normalizer()), "step 'pipeline__normalizer'"),
        (KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), r"step 'kbinsdiscretizer', KBins"),
    ],
)
def test_other_steps_are_refused_by_name(step, words):
    model = make_pipeline(StandardScaler(), step, GaussianNB()).fit(*draw(2))
    with pytest.raises(DataError, match=words + ".* cannot be taken"):
        adopt(model, draw(2))


@pytest.mark.parametrize("step", [PCA(2), PowerTransformer(), PolynomialFeatures()])
def test_steps_beside_scalers_need_data(step):
    model = make_pipeline(StandardScaler(), step, GaussianNB()).fit(*draw(2))
    with pytest.raises(DataError, match=r"Pipeline has no density of its own: pass data=\(X, y\)"):
        adopt(model)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (RandomForestClassifier(n_estimators=2).fit(*draw(2)), "RandomForestClassifier"),
        (make_pipeline(StandardScaler(), RandomForestClassifier(2)).fit(*draw(2)), "RandomForestClassifier"),
        (make_pipeline(StandardScaler()), "StandardScaler"),
        (Pipeline([("a", "passthrough")]), "str"),
        ("model.json", "str"),
    ],
)
def test_other_models_are_refused(model, name):
    with pytest.raises(DataError, match=f"not {name}; accepted are .*GaussianNB, .*Pipeline"):
        adopt(model)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        ConditionalGaussianNetworkClassifier(),
        make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
        Pipeline([("scale", StandardScaler()), ("nb", GaussianNB().fit(*draw(2)))]),
    ],
)
def test_unfitted_models_are_refused(model):
    with pytest.raises(NotFittedError):
        adopt(model)


def test_default_linear_discriminant_analysis_says_what_it_needs():
    with pytest.raises(DataError, match=r"fit it with store_covariance=True, or pass data=\(X, y\)"):
        adopt(LinearDiscriminantAnalysis().fit(*draw(2)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_stored_covariance_that_does_not_decide_is_not_used(n_classes):
    X, y = draw(n_classes)
    priors = [0.2, 0.5, 0.3] if n_classes == 3 else [0.2, 0.8]
    model = LinearDiscriminantAnalysis(store_covariance=True, priors=priors).fit(X, y)
    with pytest.raises(DataError, match="priors of your own"):
        adopt(model)
    np.testing.assert_allclose(adopt(model, (X, y)).predict_proba(X), model.predict_proba(X), rtol=1e-8)


def test_other_rows_than_the_training_rows():
    X, y = draw(2)
    with pytest.raises(DataError, match="exactly the rows it was fitted on"):
        adopt(LinearDiscriminantAnalysis().fit(X, y), (X[:150], y[:150]))
    stored = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    np.testing.assert_array_equal(adopt(stored, (X[:150], y[:150])).feature_range_[0], X[:150].min(axis=0))


@pytest.mark.filterwarnings("ignore")  # scikit-learn warns about, or refuses, collinear features itself
def test_singular_models_are_refused():
    X, y = draw(2)
    double = np.column_stack([X, X[:, 0]])
    with pytest.raises(DataError, match="LinearDiscriminantAnalysis is singular"):
        adopt(LinearDiscriminantAnalysis(store_covariance=True).fit(double, y))
    with pytest.raises(DataError, match="LinearDiscriminantAnalysis is singular"):
        adopt(LinearDiscriminantAnalysis().fit(X * [1, 1, 0, 1], y), (X * [1, 1, 0, 1], y))
    # Older versions of scikit-learn keep fewer axes than features where rows are few.
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    model.rotations_ = [rotation[:, :3] for rotation in model.rotations_]
    model.scalings_ = [s[:3] for s in model.scalings_]
    with pytest.raises(DataError, match=r"QuadraticDiscriminantAnalysis is singular .* reg_param"):
        adopt(model)


class Cautious(GaussianNB):
    def predict(self, X):
        return np.where(super().predict_proba(X)[:, 1] > 0.9, 1, 0)


class Tempered(GaussianNB):
    def predict_log_proba(self, X):
        return 0.5 * super().predict_log_proba(X)


class Blunt(LinearDiscriminantAnalysis):
    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


@pytest.mark.parametrize("model", [Cautious(), Tempered(), Blunt(solver="lsqr")])
def test_subclasses_that_decide_differently_are_refused(model):
    with pytest.raises(DataError, match="does not decide as the network with its parameters does"):
        adopt(model.fit(*draw(2)))


def test_models_changed_after_fitting_are_refused():
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(*draw(2))
    model.intercept_ = model.intercept_ + 0.1
    with pytest.raises(DataError, match="log-odds differ by"):
        adopt(model)


def test_a_class_without_prior_probability_is_refused():
    with pytest.raises(DataError, match="class 0 has prior probability 0"):
        adopt(GaussianNB(priors=[0.0, 1.0]).fit(*draw(2)))


def test_a_single_class_is_refused():
    X, _ = draw(2)
    with pytest.raises(DataError, match="two classes or more, not 1"):
        adopt(GaussianNB().fit(X, np.zeros(len(X))))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: X, r"the pair \(X, y\)"),
        (lambda X, y: (X[:, :3], y), "data: .*3 features"),
        (lambda X, y: (X, y[1:]), "data: .*inconsistent"),
        (lambda X, y: (X, y + 1), r"data has the label 2, but the classes are \[0, 1\]"),
        (lambda X, y: (X, 0 * y), "data has no row of class 1"),
        (lambda X, y: (np.where(X[0, 0] == X, np.nan, X), y), "data: .*NaN"),
    ],
)
def test_faulty_data_are_refused(change, words):
    X, y = draw(2)
    with pytest.raises(DataError, match=words):
        adopt(GaussianNB().fit(X, y), change(X, y))
