import itertools
import pickle
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from surefoot import ConditionalGaussianNetworkClassifier, Dag
from surefoot.exceptions import DataError, SurefootWarning
from surefoot.model.fitting import warped
from tests.model.test_cells import GRAPH, people
from tests.thinning import covering

FULL = {"marginals": "auto", "shrinkage": "auto", "calibration": "temperature"}

# Of tables of numbers alone, from before there were categories: fingerprint, then digests of probabilities
# and of density percentiles.
FORMER = {
    ("banknote", "naive"): ("97cbf1c8c17220ea", "b12cf85efb5eeb03", "891e13d6cc17f760"),
    ("banknote", "tan"): ("773f5d15d725cb70", "a1f6942da59c7605", "27a4d706ba181afb"),
    ("banknote", "ban"): ("f6fab9a83e0d8a97", "7e607ef5315efc56", "407e07d832a360e4"),
    ("pima", "naive"): ("ef2ab429d91cbe44", "4d6e8550d15b487c", "7f6057aecf6c9ed9"),
    ("pima", "tan"): ("bd2ae9775f776909", "06cf114ef26aa6d8", "439cde9b9430b036"),
    ("pima", "ban"): ("eaa097a8088dadd6", "67f1aca6906a9fdb", "23c9d4c4c1fe8b9f"),
    ("ionosphere", "naive"): ("8d09af1b088f5bc8", "6b787462a0042887", "0e5052e5001a8f8d"),
    ("ionosphere", "tan"): ("41b5a32f9603381a", "7e4d73c14533c024", "a9ccccf8ad72ec4c"),
    ("ionosphere", "ban"): ("e46a474ce006f1bc", "df4770461b7dd706", "95e8e4417ef6e6e7"),
}
SAME_ARITHMETIC = "2d525230c96615b8"


def digest(array):
    return sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def arithmetic(X):
    """Digest of sums, products, exponentials and inverses: libraries and processors round differently."""
    gram = X.T @ X
    return digest(np.concatenate([gram, np.exp(X[:8] / 1e3).T @ X[:8], np.linalg.inv(gram), np.log1p(gram)]))


@pytest.mark.parametrize("name", ["banknote", "pima", "ionosphere"])
def test_tables_of_numbers_are_what_they_were(bundled, name):
    if arithmetic(bundled["pima"].X.to_numpy()) != SAME_ARITHMETIC:
        pytest.skip("another processor or linear algebra library rounds differently")
    data = bundled[name]
    for structure in ("naive", "tan", "ban"):
        clf = ConditionalGaussianNetworkClassifier(structure).fit(data.X, data.y)
        found = (clf.fingerprint_, digest(clf.predict_proba(data.X)), digest(clf.density_percentiles_))
        assert found == FORMER[name, structure]


@pytest.mark.parametrize(
    ("structure", "settings"),
    covering(["naive", "tan", "ban", GRAPH], [{}, FULL, {"marginals": "power", "shrinkage": 0.3}]),
)
def test_decisions_are_one_quadratic_for_each_state(structure, settings):
    frame, labels = people(300)
    clf = ConditionalGaussianNetworkClassifier(structure, **settings).fit(frame, labels)
    H, joint = clf.decision_function(frame), clf.predict_joint_log_proba(frame)
    proba = clf.predict_proba(frame)
    np.testing.assert_allclose(np.log(proba[:, 1] / proba[:, 0]), H, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(clf.predict(frame), clf.classes_[(H > 0).astype(int)])
    numbers, codes = clf.schema_.encode(frame)
    Z = warped(numbers, clf.warps_)
    decision = pickle.loads(pickle.dumps(clf.decision("good", "bad")))
    density = clf.log_density_quadratic("good")
    slopes = np.sum([w.log_slope(x) for w, x in zip(clf.warps_, numbers.T, strict=True)], axis=0)
    for i in range(0, 300, 7):
        state = tuple(codes[i])
        assert decision.at(state)(Z[i]) == pytest.approx(H[i], rel=1e-9, abs=1e-9)
        by_row = clf.decision_quadratic("good", "bad", state=frame.iloc[i])
        assert by_row(Z[i]) == pytest.approx(H[i], rel=1e-9, abs=1e-9)
        value = density.at(state)(Z[i]) + np.log(clf.class_prior_[1]) + slopes[i]
        assert value == pytest.approx(joint[i, 1], rel=1e-9, abs=1e-9)
    assert set(decision.shaping) <= set(range(clf.schema_.n_categories))


def test_only_shaping_categories_shape():
    frame, labels = people(300)
    clf = ConditionalGaussianNetworkClassifier({"income": ["housing"]}).fit(frame, labels)
    decision = clf.decision("good", "bad")
    assert decision.shaping == (0,)
    for a in range(3):
        one, other = (decision.given((a, b)) for b in range(2))
        np.testing.assert_array_equal(one.matrix, other.matrix)
        assert one.constant == other.constant
    total = 0.0
    for s in itertools.product(range(3), range(2)):
        total += np.exp(clf.log_density_quadratic("bad").constant(s))
    assert total == pytest.approx(1)


def test_what_fit_leaves_behind():
    frame, labels = people(300)
    clf = ConditionalGaussianNetworkClassifier("naive").fit(frame, labels)
    assert clf.feature_kinds_ == {
        "age": "number",
        "housing": "category",
        "income": "number",
        "car": "category",
        "debt": "number",
    }
    assert clf.categories_ == {"housing": ("free", "own", "rent"), "car": (False, True)}
    assert clf.calibration_ is None
    assert all(warp.is_identity for warp in clf.warps_)
    assert np.isnan(clf.feature_range_).tolist() == [[False, True, False, True, False]] * 2
    assert clf.feature_range_[1, 0] == frame["age"].max()
    assert (np.diff(clf.density_percentiles_) >= 0).all()
    assert clf.feature_names_in_.tolist() == list(frame.columns)
    for name in ("means_", "weights_", "variances_", "intercepts_"):
        with pytest.raises(AttributeError, match=f"{name} is for tables without categories"):
            getattr(clf, name)
    plain = ConditionalGaussianNetworkClassifier("naive").fit(frame[["age", "debt"]].round(), labels)
    assert plain.feature_kinds_ == {"age": "whole", "debt": "whole"}
    assert plain.network("good") is plain.networks_[1]


def test_states_by_name_and_wrong_states():
    frame, labels = people(200)
    clf = ConditionalGaussianNetworkClassifier(GRAPH).fit(frame, labels)
    by_name = clf.network("good", {"housing": "own", "car": True})
    assert by_name is clf.network("good", (1, 1))
    for call, message in (
        (lambda: clf.decision_quadratic("good", "bad"), "needs state"),
        (lambda: clf.network("good"), "a state has 2 values"),
        (lambda: clf.network("good", {"housing": "own"}), "value of category 'car' is needed"),
        (lambda: clf.network("good", {"housing": "own", "cat": 1}), "there is no feature 'cat'"),
        (lambda: clf.network("good", {"housing": "owns", "car": True}), "did you mean 'own'"),
        (lambda: clf.decision("good", "ugly"), "unknown class 'ugly'"),
    ):
        with pytest.raises(DataError, match=message):
            call()


def test_tables_in_odd_containers():
    frame, labels = people(200)
    clf = ConditionalGaussianNetworkClassifier("tan").fit(frame, labels)
    expected = clf.predict_proba(frame)
    objects = frame.astype(object)
    np.testing.assert_array_equal(clf.predict_proba(objects), expected)
    text = frame.assign(age=frame["age"].map(repr), car=frame["car"].map(str))
    np.testing.assert_array_equal(clf.predict_proba(text), expected)
    pandas_own = frame.convert_dtypes().astype({"housing": "category"})
    np.testing.assert_array_equal(clf.predict_proba(pandas_own), expected)
    for table in (objects.to_numpy(), objects.to_numpy().tolist()):
        nameless = ConditionalGaussianNetworkClassifier("tan").fit(table, labels)
        np.testing.assert_array_equal(nameless.predict_proba(table), expected)
        assert nameless.feature_labels_ == (0, 1, 2, 3, 4)
        assert not hasattr(nameless, "feature_names_in_")
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="features"):
        nameless.predict([["own", 1.0]])


def test_declared_kinds():
    frame, labels = people(200)
    frame["children"] = np.arange(200) % 3
    by_name = ConditionalGaussianNetworkClassifier("naive", categorical=["children"]).fit(frame, labels)
    assert by_name.categories_["children"] == (0, 1, 2)
    assert by_name.feature_kinds_["car"] == "whole"
    order = {"housing": ["free", "rent", "own"]}
    ordered = ConditionalGaussianNetworkClassifier("naive", ordered=order).fit(frame, labels)
    assert ordered.categories_["housing"] == ("free", "rent", "own")
    assert ordered.schema_.ordered[1]
    assert clone(ordered).get_params()["ordered"] == order


def test_only_categories():
    frame, labels = people(200)
    clf = ConditionalGaussianNetworkClassifier("tan").fit(frame[["housing", "car"]], labels)
    assert clf.predict_proba(frame[["housing", "car"]]).shape == (200, 2)
    H = clf.decision_quadratic("good", "bad", state={"housing": "own", "car": True})
    row = pd.DataFrame({"housing": ["own"], "car": [True]})
    assert H([]) == pytest.approx(clf.decision_function(row)[0])


def test_unknown_values_are_summed_out():
    frame, labels = people(300)
    clf = ConditionalGaussianNetworkClassifier(GRAPH).fit(frame, labels)
    row = frame.iloc[[0]]
    with pytest.warns(SurefootWarning, match="column 'housing' holds 'castle'"):
        found = clf.predict_joint_log_proba(row.assign(housing="castle"))
    each = [clf.predict_joint_log_proba(row.assign(housing=v)) for v in ("free", "own", "rent")]
    np.testing.assert_allclose(found, np.logaddexp.reduce(each), rtol=1e-9)
    missing = clf.predict_joint_log_proba(row.assign(housing=None))
    np.testing.assert_allclose(missing, found)


@pytest.mark.parametrize("structure", ["naive", "tan", "ban", GRAPH])
def test_holes(structure):
    frame, labels = people(300)
    rng = np.random.default_rng(3)
    gaps = frame.astype(object).mask(rng.random(frame.shape) < 0.1).infer_objects()
    clf = ConditionalGaussianNetworkClassifier(structure).fit(gaps, labels)
    assert "missing values, converged after" in clf.completion_
    assert clf.feature_kinds_["car"] == "category"
    assert np.isfinite(clf.predict_proba(gaps)).all()
    whole = ConditionalGaussianNetworkClassifier(structure).fit(frame, labels)
    assert whole.completion_ is None
    assert clf.score(frame, labels) > whole.score(frame, labels) - 0.06
    with pytest.raises(DataError, match=r"column 'age' is missing .* in every row"):
        clf.fit(gaps.assign(age=np.nan), labels)


def test_a_full_model_is_not_worse():
    frame, labels = people(400, seed=5)
    frame["debt"] = np.exp(frame["debt"] / 300)
    plain, full = (
        cross_val_score(
            ConditionalGaussianNetworkClassifier("tan", **settings), frame, labels, scoring="neg_log_loss"
        ).mean()
        for settings in ({}, FULL)
    )
    assert full > plain


def test_calibration_is_left_out_of_densities():
    frame, labels = people(300)
    plain = ConditionalGaussianNetworkClassifier("tan").fit(frame, labels)
    calibrated = ConditionalGaussianNetworkClassifier("tan", calibration="temperature").fit(frame, labels)
    np.testing.assert_array_equal(
        calibrated.predict_joint_log_proba(frame), plain.predict_joint_log_proba(frame)
    )
    np.testing.assert_array_equal(calibrated.density_percentiles_, plain.density_percentiles_)
    T, shift = calibrated.calibration_.temperature, calibrated.calibration_.shifts[1]
    np.testing.assert_allclose(
        calibrated.decision_function(frame), plain.decision_function(frame) / T + shift, atol=1e-9
    )
    assert calibrated.fingerprint_ != plain.fingerprint_


def test_densities_of_warped_numbers_are_densities():
    """Integrated over x, they give one."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.gamma(2, 2, 300), rng.gamma(4, 2, 300)])
    labels = np.repeat([0, 1], 300)
    clf = ConditionalGaussianNetworkClassifier("naive", marginals="power").fit(x[:, None], labels)
    grid = np.linspace(-10, 80, 200_001)
    density = np.exp(clf.predict_joint_log_proba(grid[:, None]).clip(-700))
    np.testing.assert_allclose(density.sum(axis=0) * (grid[1] - grid[0]), 0.5, rtol=1e-3)
    assert clf.feature_range_[:, 0].tolist() == [x.min(), x.max()]


@pytest.mark.parametrize("settings", [{}, FULL])
def test_samples(settings):
    frame, labels = people(400)
    clf = ConditionalGaussianNetworkClassifier(GRAPH, **settings).fit(frame, labels)
    X, y = clf.sample(20_000, random_state=0)
    assert list(X.columns) == list(frame.columns)
    assert X["car"].dtype == bool
    assert set(X["housing"]) == {"free", "own", "rent"}
    assert (y == "good").mean() == pytest.approx(0.5, abs=0.02)
    assert X["income"].mean() == pytest.approx(frame["income"].mean(), rel=0.03)
    assert clf.score(X, y) > 0.7
    again = clone(clf).fit(X, y)
    assert (again.predict(frame) == clf.predict(frame)).mean() > 0.9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cell_smoothing": -1}, "cell_smoothing must be a number >= 0"),
        ({"cell_smoothing": None}, "cell_smoothing must be a number >= 0"),
        ({"marginals": "log"}, "marginals must be 'gaussian', 'power' or 'auto'"),
        ({"shrinkage": 1.5}, "shrinkage must be a number from 0 to 1 or 'auto'"),
        ({"shrinkage": "some"}, "shrinkage must be a number from 0 to 1 or 'auto'"),
        ({"calibration": "isotonic"}, "calibration must be None or 'temperature'"),
        ({"categorical": "all"}, "categorical must be 'auto' or a list"),
        ({"structure": Dag.empty(2)}, "the graph has 2 features"),
    ],
)
def test_bad_settings(settings, message):
    frame, labels = people(50)
    with pytest.raises(ValueError, match=message):
        ConditionalGaussianNetworkClassifier(**settings).fit(frame, labels)


def test_bad_tables():
    frame, labels = people(50)
    clf = ConditionalGaussianNetworkClassifier("naive")
    for X, y, message in (
        (frame, labels[:-1], "inconsistent numbers of samples"),
        (frame.iloc[:0], labels[:0], "0 sample"),
        (frame, None, "requires y"),
        (frame.assign(housing=None), labels, "housing"),
        (frame.assign(age=np.inf), labels, "column 'age' is infinite"),
        (frame.set_axis(["a", "a", "b", "c", "d"], axis=1), labels, "occurs more than once"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.fit(X, y)


@pytest.mark.parametrize("structure", ["naive", "tan"])
def test_a_class_with_a_single_row_has_the_spread_of_the_others(structure):
    frame, labels = people(60)
    lone = np.where(np.arange(60) == 7, "odd", labels)
    clf = ConditionalGaussianNetworkClassifier(structure, cell_smoothing=0.0)
    with pytest.warns(SurefootWarning, match="class 'odd' has a single row"):
        clf.fit(frame, lone)
    odd, *others = (clf.networks_[c] for c in (clf.classes_ == "odd").argsort()[::-1])
    for own, *theirs in zip(odd.cells, *(network.cells for network in others), strict=True):
        assert own.variance.min() > 0.1 * min(cell.variance.min() for cell in theirs)
    assert np.isfinite(clf.predict_joint_log_proba(frame)).all()


def test_too_few_rows_to_hold_out():
    frame, _ = people(20)
    labels = np.repeat(["a", "b"], [18, 2])
    for setting in ({"calibration": "temperature"}, {"shrinkage": "auto"}):
        with pytest.raises(DataError, match="needs at least three rows of every class"):
            ConditionalGaussianNetworkClassifier("naive", **setting).fit(frame, labels)
