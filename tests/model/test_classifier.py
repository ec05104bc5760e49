import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from surefoot import ConditionalGaussianNetworkClassifier, Dag
from surefoot.datasets import synthetic
from surefoot.exceptions import DataError, StructureError, SurefootWarning
from surefoot.model.network import LinearGaussianNetwork
from tests.thinning import only

STRUCTURES = ("naive", "tan", "ban")


class OfNumbers(ConditionalGaussianNetworkClassifier):
    """As if it took numbers only: scikit-learn then does not round the numbers that it tests with."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = False
        return tags


@pytest.mark.filterwarnings("ignore:class .* has a single row")  # labels made of rounded numbers
@parametrize_with_checks([ConditionalGaussianNetworkClassifier("tan"), OfNumbers("ban")])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:class .* has a single row")
@parametrize_with_checks(
    [*map(ConditionalGaussianNetworkClassifier, ("naive", "ban")), *map(OfNumbers, ("naive", "tan"))]
)
def test_scikit_learns_own_checks_of_other_structures(estimator, check):
    check(estimator)


def test_scikit_learn_is_told_what_is_taken():
    tags = get_tags(ConditionalGaussianNetworkClassifier()).input_tags
    assert tags.allow_nan
    assert tags.categorical
    assert tags.string


FITTED = {}


def learned(structure, X, y):
    """A classifier of one of the tables, fitted once."""
    if (structure, X.shape) not in FITTED:
        FITTED[structure, X.shape] = ConditionalGaussianNetworkClassifier(structure).fit(X, y)
    return FITTED[structure, X.shape]


@pytest.fixture(params=["banknote", "pima", "ionosphere", "iris", "wine"])
def real_data(request, bundled):
    if request.param in bundled:
        data = bundled[request.param]
        return data.X.to_numpy(), data.y.to_numpy()
    return (load_iris if request.param == "iris" else load_wine)(return_X_y=True)


def log_odds(joint):
    return joint - joint[:, :1]


def test_empty_graph_is_gaussian_naive_bayes(real_data):
    X, y = real_data
    ours = ConditionalGaussianNetworkClassifier("naive", var_smoothing=0).fit(X, y)
    theirs = GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(
        log_odds(ours.predict_joint_log_proba(X)),
        log_odds(theirs.predict_joint_log_proba(X)),
        rtol=1e-8,
        atol=1e-8,
    )


def test_complete_graph_is_quadratic_discriminant_analysis(real_data):
    X, y = real_data
    ours = ConditionalGaussianNetworkClassifier(Dag.complete(X.shape[1]), var_smoothing=0).fit(X, y)
    theirs = QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(
        log_odds(ours.predict_joint_log_proba(X)),
        log_odds(qda_log_joint(theirs, X)),
        rtol=1e-8,
        atol=1e-8,
    )


def qda_log_joint(qda, X):
    if len(qda.classes_) > 2:
        return qda.decision_function(X)
    return np.column_stack([np.zeros(len(X)), qda.decision_function(X)])


@pytest.mark.parametrize("structure", STRUCTURES)
def test_class_density_is_the_multivariate_normal_of_the_network(real_data, structure):
    X, y = real_data
    clf = learned(structure, X, y)
    joint = clf.predict_joint_log_proba(X)
    for c, network in enumerate(clf.networks_):
        expected = multivariate_normal(network.means, network.covariance).logpdf(X)
        np.testing.assert_allclose(joint[:, c] - np.log(clf.class_prior_[c]), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_decision_quadratic_is_the_decision_function(real_data, structure, rng):
    X, y = real_data
    clf = learned(structure, X, y)
    far = X.mean(axis=0) + X.std(axis=0) * rng.standard_normal((200, X.shape[1])) * 50
    points = np.vstack([X, far, np.zeros((1, X.shape[1]))])
    joint = clf.predict_joint_log_proba(points)
    for (t, target), (o, other) in itertools.permutations(enumerate(clf.classes_), 2):
        H = clf.decision_quadratic(target, other)(points)
        scale = np.abs(joint[:, t]) + np.abs(joint[:, o])
        assert (np.abs(H - (joint[:, t] - joint[:, o])) <= 1e-9 * scale).all()
    if len(clf.classes_) == 2:
        expected = clf.decision_quadratic(*clf.classes_[::-1])(points)
        np.testing.assert_allclose(clf.decision_function(points), expected, rtol=1e-9, atol=1e-9)


def test_decision_quadratic_far_from_the_origin():
    data = synthetic(400, 4, random_state=0)
    stamps = data.X * 1e3 + 1.7e9  # like time stamps in seconds
    clf = ConditionalGaussianNetworkClassifier().fit(stamps, data.y)
    plain = ConditionalGaussianNetworkClassifier().fit(data.X, data.y)
    np.testing.assert_allclose(clf.decision_quadratic(1, 0)(stamps), clf.decision_function(stamps), atol=1e-6)
    np.testing.assert_allclose(clf.decision_function(stamps), plain.decision_function(data.X), atol=1e-4)


@pytest.mark.parametrize(
    "labels", [["yes", "no"], [True, False], [1.0, 2.0], [7, -3], np.array(["ä", "ö"], dtype=object)]
)
def test_labels_of_any_kind(bundled, labels):
    X = bundled["banknote"].X
    y = np.asarray(labels)[bundled["banknote"].y]
    clf = ConditionalGaussianNetworkClassifier().fit(X, y)
    assert set(clf.predict(X)) == set(y.tolist())
    H = clf.decision_quadratic(labels[0], labels[1])
    sign = 1 if clf.classes_[1] == labels[0] else -1
    np.testing.assert_allclose(H(X), sign * clf.decision_function(X))


def test_ways_to_give_a_graph(bundled):
    data = bundled["banknote"]
    mapping = {"skewness": ["variance"], "entropy": ["skewness", "variance"]}
    graph = nx.DiGraph([(parent, child) for child, group in mapping.items() for parent in group])
    dag = Dag([(), (0,), (), (0, 1)])
    for structure in (mapping, graph, dag):
        clf = ConditionalGaussianNetworkClassifier(structure).fit(data.X, data.y)
        assert clf.dag_ == dag
        assert clf.structure_report_.method == "given"
    clf = ConditionalGaussianNetworkClassifier({1: [0], 3: [0, 1]}).fit(data.X.to_numpy(), data.y)
    assert clf.dag_ == dag
    with pytest.raises(StructureError, match="has a cycle"):
        ConditionalGaussianNetworkClassifier({"variance": ["skewness"], "skewness": ["variance"]}).fit(
            data.X, data.y
        )
    with pytest.raises(StructureError, match="unknown feature 'colour'"):
        ConditionalGaussianNetworkClassifier({"variance": ["colour"]}).fit(data.X, data.y)
    with pytest.raises(StructureError, match="graph has 3 features, the data have 4"):
        ConditionalGaussianNetworkClassifier(Dag.empty(3)).fit(data.X, data.y)


@pytest.mark.parametrize("structure", [*STRUCTURES, "complete"])
def test_degenerate_columns_give_no_nan(structure, rng):
    y = np.repeat([0, 1], 30)
    a = rng.standard_normal(60) + y
    X = np.column_stack(
        [a, a, 3 * a + 2, np.ones(60), np.where(y == 0, 5.0, rng.standard_normal(60)), 1e-12 * a]
    )
    clf = ConditionalGaussianNetworkClassifier(Dag.complete(6) if structure == "complete" else structure).fit(
        X, y
    )
    assert (clf.variances_ > 0).all()
    assert np.isfinite(clf.predict_proba(X)).all()
    assert clf.score(X, y) > 0.5


def test_without_smoothing_a_constant_column_is_named(rng):
    y = np.repeat(["a", "b"], 20)
    X = pd.DataFrame(
        {"fine": rng.standard_normal(40), "flat": np.where(y == "a", 1.0, rng.standard_normal(40))}
    )
    with pytest.raises(
        DataError, match="feature 'flat' is constant, or determined by its parents, in class 'a'"
    ):
        ConditionalGaussianNetworkClassifier("naive", var_smoothing=0).fit(X, y)


def test_smoothing_does_not_depend_on_units(bundled):
    X, y = bundled["pima"].X, bundled["pima"].y
    units = np.geomspace(1e-6, 1e6, 8)
    plain, scaled = (
        ConditionalGaussianNetworkClassifier("tan", var_smoothing=0.01).fit(Z, y).predict_proba(Z)
        for Z in (X, X * units)
    )
    np.testing.assert_allclose(plain, scaled, atol=1e-9)


def test_sample_weight_is_repetition(bundled, rng):
    X, y = bundled["pima"].X.to_numpy(), bundled["pima"].y.to_numpy()
    w = rng.integers(0, 3, len(X))
    for structure in STRUCTURES:
        clf = ConditionalGaussianNetworkClassifier(structure)
        weighted = clone(clf).fit(X, y, sample_weight=w).predict_log_proba(X)
        repeated = clone(clf).fit(np.repeat(X, w, axis=0), np.repeat(y, w)).predict_log_proba(X)
        np.testing.assert_allclose(weighted, repeated, atol=1e-7)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        clf.fit(X, y, sample_weight=-np.ones(len(X)))


def test_priors(bundled):
    X, y = bundled["banknote"].X, bundled["banknote"].y
    even = ConditionalGaussianNetworkClassifier(priors=[0.5, 0.5]).fit(X, y)
    named = ConditionalGaussianNetworkClassifier(priors={0: 0.5, 1: 0.5}).fit(X, y)
    learned = ConditionalGaussianNetworkClassifier().fit(X, y)
    np.testing.assert_array_equal(even.predict_proba(X), named.predict_proba(X))
    shift = np.log(610 / 762)
    np.testing.assert_allclose(learned.decision_function(X), even.decision_function(X) + shift)
    for bad in ([0.5, 0.6], [0.0, 1.0], [1.0], {0: 0.5, 2: 0.5}, {0: 1.0}):
        with pytest.raises(DataError, match="priors must"):
            ConditionalGaussianNetworkClassifier(priors=bad).fit(X, y)


def test_one_pass_equals_many_chunks(monkeypatch, bundled):
    X, y = bundled["pima"].X, bundled["pima"].y
    whole = ConditionalGaussianNetworkClassifier("ban").fit(X, y).predict_log_proba(X)
    monkeypatch.setattr("surefoot.model.moments.ROWS_PER_CHUNK", 50)
    pieces = ConditionalGaussianNetworkClassifier("ban").fit(X, y).predict_log_proba(X)
    np.testing.assert_allclose(whole, pieces, atol=1e-7)


def test_samples_come_from_the_model(bundled):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("ban").fit(data.X, data.y)
    X, y = clf.sample(100_000, random_state=0)
    assert tuple(X.columns) == data.feature_names
    np.testing.assert_allclose(np.bincount(y) / len(y), clf.class_prior_, atol=0.01)
    again = ConditionalGaussianNetworkClassifier(clf.dag_).fit(X, y)
    np.testing.assert_allclose(again.weights_, clf.weights_, atol=0.05)
    np.testing.assert_allclose(again.variances_, clf.variances_, rtol=0.05)
    assert isinstance(
        ConditionalGaussianNetworkClassifier().fit(data.X.to_numpy(), data.y).sample(3)[0], np.ndarray
    )


def test_probabilities_are_consistent(real_data):
    X, y = real_data
    clf = learned("ban", X, y)
    proba = clf.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(
        np.log(proba[proba > 1e-200]), clf.predict_log_proba(X)[proba > 1e-200], atol=1e-9
    )
    np.testing.assert_array_equal(clf.classes_[proba.argmax(axis=1)], clf.predict(X))


def test_parameters_are_the_papers(bundled):
    """mu_i = sum_j w_ij x_j + b_i, from the public attributes alone."""
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("ban").fit(data.X, data.y)
    X = data.X.to_numpy()
    log_h = np.log(clf.class_prior_) + np.stack(
        [
            (-0.5 * np.log(2 * np.pi * v) - (X - X @ W.T - b) ** 2 / (2 * v)).sum(axis=1)
            for W, b, v in zip(clf.weights_, clf.intercepts_, clf.variances_, strict=True)
        ],
        axis=1,
    )
    np.testing.assert_allclose(clf.decision_function(data.X), log_h[:, 1] - log_h[:, 0], rtol=1e-9, atol=1e-9)


def test_feature_range(bundled):
    X = bundled["pima"].X
    clf = ConditionalGaussianNetworkClassifier().fit(X, bundled["pima"].y)
    np.testing.assert_array_equal(clf.feature_range_, [X.min(), X.max()])


def test_pipelines_clone_and_grid_search(bundled):
    X, y = bundled["banknote"].X, bundled["banknote"].y
    pipeline = make_pipeline(StandardScaler(), ConditionalGaussianNetworkClassifier("ban", max_parents=2))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(ConditionalGaussianNetworkClassifier(), {"structure": list(STRUCTURES)}, cv=3).fit(
        X, y
    )
    assert search.best_params_["structure"] in ("tan", "ban")
    fitted = ConditionalGaussianNetworkClassifier("ban", max_parents=1).fit(X, y)
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "networks_")


# Bad input: one clear message each.


def fit_error(X, y, **settings):
    with pytest.raises((DataError, ValueError)) as error:
        ConditionalGaussianNetworkClassifier(**settings).fit(X, y)
    return str(error.value)


def test_no_rows():
    assert "0 sample(s)" in fit_error(np.empty((0, 2)), np.empty(0))


def test_one_class():
    assert "two classes, but y holds one class only: 'a'" in fit_error(np.eye(3), ["a"] * 3)


def test_classes_of_single_rows_alone():
    assert "class 'a' has a single row" in fit_error(np.eye(2), ["a", "b"])


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_class_with_a_single_row_has_the_spread_of_the_others(rng, structure):
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 3))
    y = np.repeat([0, 1, 2], [19, 40, 1])
    clf = ConditionalGaussianNetworkClassifier(structure, var_smoothing=0)
    with pytest.warns(SurefootWarning, match="class 2 has a single row: its spread is taken from the other"):
        clf.fit(X, y)
    spread = (19 * np.cov(X[:19].T, bias=True) + 40 * np.cov(X[19:59].T, bias=True)) / 59
    alone = LinearGaussianNetwork.from_moments(clf.dag_, X[59], spread, np.zeros(3))
    assert clf.predict_joint_log_proba(X)[:, 2] == pytest.approx(np.log(1 / 60) + alone.log_density(X))


def test_every_class_with_a_single_row_is_named(rng):
    X, y = rng.standard_normal((30, 2)), np.repeat(["a", "b", "c"], [28, 1, 1])
    with pytest.warns(SurefootWarning, match="classes 'b', 'c' have a single row each: their spread"):
        ConditionalGaussianNetworkClassifier().fit(X, y)


def test_infinite_numbers_are_located():
    X = pd.DataFrame({"age": [1.0, np.nan, 3.0, 4.0], "income": [1.0, 2.0, 3.0, -np.inf]})
    assert fit_error(X, [0, 0, 1, 1]) == "column 'income' is infinite (inf) in row 3"
    assert "column 1 is infinite (inf) in row 3" in fit_error(X.to_numpy(), [0, 0, 1, 1])
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X.clip(-5, 5), [0, 0, 1, 1])
    assert clf.completion_.startswith("1 missing value")
    with pytest.raises(DataError, match="column 'income' is infinite"):
        clf.predict(X)


def test_strings_are_located():
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "job": [1, "clerk", "2", 3]})
    assert fit_error(X, [0, 0, 1, 1]) == "column 'job' is not a number in row 1: 'clerk'"


def test_missing_labels_are_located():
    y = pd.Series(["a", None, "b", "a"], name="risk")
    assert fit_error(np.eye(4), y.astype(object)) == "label column 'risk' is missing (NaN) in row 1"
    assert "missing (NaN) in row 1" in fit_error(np.eye(4), y)


def test_mixed_labels():
    assert "labels must all be of one kind" in fit_error(np.eye(4), np.array(["a", 1, "b", 2], dtype=object))


def test_duplicate_column_names(rng):
    X = pd.DataFrame(rng.standard_normal((6, 2)), columns=["a", "a"])
    assert fit_error(X, [0, 1] * 3) == "column name 'a' occurs more than once"


def test_wrong_number_of_columns(bundled):
    clf = ConditionalGaussianNetworkClassifier().fit(bundled["banknote"].X.to_numpy(), bundled["banknote"].y)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
        clf.predict(np.zeros((1, 3)))


def test_wrong_column_names(bundled):
    clf = ConditionalGaussianNetworkClassifier().fit(bundled["banknote"].X, bundled["banknote"].y)
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(bundled["banknote"].X.rename(columns={"entropy": "Entropy"}))


def test_unknown_class_and_bad_smoothing(bundled):
    X, y = bundled["banknote"].X, bundled["banknote"].y
    clf = ConditionalGaussianNetworkClassifier().fit(X, y)
    with pytest.raises(DataError, match=r"unknown class 2; the classes are \[0, 1\]"):
        clf.decision_quadratic(2, 0)
    for bad in (-1, np.nan):
        assert "var_smoothing must be a number >= 0" in fit_error(X, y, var_smoothing=bad)


def test_values_too_large_to_square(bundled):
    X, y = bundled["banknote"].X.copy(), bundled["banknote"].y
    X.loc[3, "entropy"] = 1e200
    assert "column 'entropy' holds values too large to square" in fit_error(X, y)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_absurdly_far_points_get_probabilities_all_the_same(bundled, structure):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier(structure).fit(data.X, data.y)
    for scale in (1e100, 1e200, 1e300):
        proba = clf.predict_proba(data.X * scale)
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1)


@pytest.mark.parametrize("value", [1.0, 0.1, 1234.567])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_constant_column_changes_nothing(structure, value, rng):
    y = np.repeat([0, 1], [31, 62])
    X = rng.standard_normal((93, 2)) + y[:, None]
    plain = ConditionalGaussianNetworkClassifier(structure).fit(X, y).decision_function(X)
    padded = np.column_stack([X, np.full(93, value)])
    with_constant = ConditionalGaussianNetworkClassifier(structure).fit(padded, y).decision_function(padded)
    np.testing.assert_allclose(with_constant, plain, atol=1e-8)


@pytest.mark.parametrize("constant", only([0.3, 1e-6], [0.1, 0.3, 0.7, 1e-6]))
def test_equal_weights_are_no_weights(bundled, constant):
    X, y = bundled["pima"].X, bundled["pima"].y
    weights = np.full(len(X), constant)
    for structure in STRUCTURES:
        clf = ConditionalGaussianNetworkClassifier(structure)
        weighted = clone(clf).fit(X, y, sample_weight=weights)
        assert weighted.dag_ == clf.fit(X, y).dag_


def test_a_failed_refit_leaves_an_unfitted_model(bundled):
    X, y = bundled["banknote"].X, bundled["banknote"].y
    clf = ConditionalGaussianNetworkClassifier().fit(X, y)
    with pytest.raises(DataError, match="one class only"):
        clf.fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="not fitted"):
        clf.predict(X)


def test_whole_numbers_as_column_names(rng):
    X, y = pd.DataFrame(rng.standard_normal((20, 3)), columns=[2, 1, 0]), np.arange(20) % 2
    clf = ConditionalGaussianNetworkClassifier({0: [2]}).fit(X, y)  # by name: column 0 is the last one
    assert clf.dag_.parents == ((), (), (0,))
    with pytest.raises(StructureError, match="unknown feature True"):
        ConditionalGaussianNetworkClassifier({True: [0]}).fit(X, y)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (pd.Series([True, False] * 5, dtype="boolean"), "b"),
        (pd.Series([3, 4] * 5, dtype="Int64"), "i"),
        (pd.Series([3, 4] * 5, dtype=object), "i"),
        (pd.Series(["a", "b"] * 5, dtype="category"), "O"),
        (np.array([True, False] * 5, dtype=object), "b"),
        (["a", "b"] * 5, "O"),
    ],
)
def test_labels_in_odd_containers(labels, kind, rng):
    clf = ConditionalGaussianNetworkClassifier("naive").fit(rng.standard_normal((10, 2)), labels)
    assert clf.classes_.dtype.kind in (kind, "U" if kind == "O" else kind)
    assert len(clf.classes_) == 2


@pytest.mark.parametrize(
    "labels", [[0.0, np.nan, 1.0, 1.0], pd.Series([0, None, 1, 1], dtype="Int64"), ["a", None, "b", "b"]]
)
def test_missing_labels_of_any_kind_are_located(labels):
    assert "label column 'y' is missing (NaN) in row 1" in fit_error(np.eye(4), labels)


def test_durations_and_continuous_labels():
    X = pd.DataFrame({"when": pd.timedelta_range("1 day", periods=4), "x": [1.0, 2, 3, 4]})
    assert "column 'when' is not a number in rows 0, 1, 2 and 1 more" in fit_error(X, [0, 0, 1, 1])
    assert "Unknown label type: continuous" in fit_error(np.eye(4), [0.5, 0.6, 0.7, 0.8])


def test_options_of_another_structure(bundled):
    X, y = bundled["banknote"].X, bundled["banknote"].y
    for settings in ({"structure": "ban", "root": "entropy"}, {"structure": "tan", "max_parents": 0}):
        with pytest.raises(StructureError, match="structure='tan'"):
            ConditionalGaussianNetworkClassifier(**settings).fit(X, y)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, bool])
def test_other_number_types(dtype, rng):
    X = rng.integers(0, 2 if dtype is bool else 50, (60, 3)).astype(dtype)
    y = np.arange(60) % 2
    for structure in STRUCTURES:
        clf = ConditionalGaussianNetworkClassifier(structure)
        wide = clone(clf).fit(X.astype(float), y).predict_proba(X.astype(float))
        np.testing.assert_allclose(clf.fit(X, y).predict_proba(X), wide, rtol=1e-6)
