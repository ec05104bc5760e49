"""Refits that a model keeps: what they share with it, what they do not, and their place in its file."""

import base64
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from surefoot import ConditionalGaussianNetworkClassifier, datasets, select
from surefoot.exceptions import DataError, ModelFileError
from surefoot.model.calibration import fit_calibration
from surefoot.model.content import classifier_content
from surefoot.model.file import write_model
from surefoot.model.refits import Bootstrap, Kept, drawn_weights, keep_refits, time_for_refits
from tests.thinning import covering
from tests.ui.mixed import toy_table

SETTINGS = [
    {},
    {"marginals": "auto"},
    {"marginals": "power", "calibration": "temperature", "shrinkage": "auto"},
    {"structure": "ban", "max_parents": 1, "cell_smoothing": 40.0},
    {"structure": "naive", "priors": {"no": 0.3, "yes": 0.7}},
]


def with_holes():
    X, y = toy_table(80)
    X.iloc[::7, 1], X.iloc[::5, 0] = np.nan, None
    return X, y


def keeping(table, settings, count=4):
    clf = ConditionalGaussianNetworkClassifier(**settings).fit(*table)
    keep_refits(clf, *table, count)
    return clf


@pytest.mark.parametrize(("table", "settings"), covering([toy_table, with_holes, "numbers"], SETTINGS))
def test_refits_share_graph_and_scales_and_survive_the_file(table, settings, tmp_path):
    X, y = toy_table() if table == "numbers" else table()
    if table == "numbers":
        X = X[["income", "cards", "years"]]
    clf = keeping((X, y), settings)
    assert len(clf.refits_) == 4
    assert len({refit.fingerprint_ for refit in (clf, *clf.refits_)}) == 5
    for refit in clf.refits_:
        assert (refit.dag_, refit.warps_, refit.schema_) == (clf.dag_, clf.warps_, clf.schema_)
        assert (refit.calibration_ is None) == (clf.calibration_ is None)
        assert refit.shrinkage_ == clf.shrinkage_
        assert refit.refits_ == ()
        assert (refit.predict(X) == clf.predict(X)).mean() > 0.6
    clf.save(tmp_path / "model.json")
    again = ConditionalGaussianNetworkClassifier.load(tmp_path / "model.json")
    assert [r.fingerprint_ for r in again.refits_] == [r.fingerprint_ for r in clf.refits_]
    for one, other in zip(again.refits_, clf.refits_, strict=True):
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_a_refit_is_the_model_fitted_to_the_drawn_rows():
    X, y = toy_table()
    clf = ConditionalGaussianNetworkClassifier("tan", calibration="temperature").fit(X, y)
    keep_refits(clf, X, y, 2, random_state=3)
    assert all(refit.calibration_ != clf.calibration_ for refit in clf.refits_)
    rng = np.random.default_rng(3)
    for refit in clf.refits_:
        codes = np.unique(y, return_inverse=True)[1]
        weights = drawn_weights(codes, 2, rng)
        same = clone(clf).set_params(structure=clf.dag_, calibration=None).fit(X, y, sample_weight=weights)
        joint = same.predict_joint_log_proba(X)
        np.testing.assert_allclose(refit.predict_joint_log_proba(X), joint, rtol=1e-9)
        left_out = weights == 0
        assert refit.calibration_ == fit_calibration(joint[left_out], codes[left_out])


def test_structure_is_learned_anew_only_where_that_is_asked_for():
    X, y = toy_table(60)
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
    rng = np.random.default_rng(0)
    anew = [Bootstrap(clf, X, y, structure=True).refit(rng) for _ in range(6)]
    assert any(refit.dag_ != clf.dag_ for refit in anew)


def test_a_value_that_is_not_drawn_is_still_known():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=40), "kind": ["a", "b"] * 19 + ["a", "rare"]})
    clf = keeping((X, (X["size"] > 0).astype(int)), {"structure": "naive"}, 12)
    assert {refit.schema_.category_values for refit in clf.refits_} == {(("a", "b", "rare"),)}
    assert all(np.isfinite(refit.predict_log_proba(X)).all() for refit in clf.refits_)


def test_a_new_fit_forgets_them():
    X, y = toy_table()
    clf = keeping((X, y), {}, 2)
    assert clone(clf).fit(X, y).refits_ == ()
    assert clf.fit(X, y).refits_ == ()


def test_select_keeps_refits_and_says_what_they_took():
    X, y = toy_table(120)[0][["income", "years"]], toy_table(120)[1]
    chosen = select(X, y, cv=3, refits=3)
    assert len(chosen.classifier.refits_) == chosen.kept.count == 3
    assert str(chosen.kept).endswith("every answer says under how many of them it holds.")
    assert "3 kept" in chosen.classifier.summary()
    none = select(X, y, cv=3, refits=0)
    assert none.classifier.refits_ == ()
    assert str(none.kept) == "No refits of the model are kept."
    assert "refits" not in classifier_content(none.classifier)
    for wrong in (-1, True, 2.5, "many"):
        with pytest.raises(DataError, match="refits must be a whole number"):
            select(X, y, cv=3, refits=wrong)


def test_time_and_size_are_limits(monkeypatch):
    X, y = toy_table(120)
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    kept = keep_refits(clf, X, y, 20, seconds=0.0)
    assert (kept.count, kept.reason) == (1, "more would take too long")
    monkeypatch.setattr("surefoot.model.refits.MOST_NUMBERS", 0)
    assert str(keep_refits(clf, X, y, 20)) == (
        "No refits of the model are kept: more would make the file too large."
    )
    assert time_for_refits(100.0) == 50.0
    assert time_for_refits(0.01) == 2.0
    assert "of 20: more would take too long (1.0 s, 2.5 MB" in str(
        Kept(7, 20, 1.0, 2_500_000, "more would take too long")
    )


def test_a_class_of_a_single_row_keeps_the_model_without_refits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1, 2], [20, 19, 1])
    with pytest.warns(match="single row"):
        clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    kept = keep_refits(clf, X, y)
    assert kept.count == 0
    assert "too few rows" in str(kept)


def test_labels_that_the_model_does_not_have_are_refused():
    X, y = toy_table()
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    with pytest.raises(DataError, match="the label 'maybe'"):
        Bootstrap(clf, X, np.where(y == "no", "maybe", y), structure=False)
    with pytest.raises(DataError, match="no row has the label 'no'"):
        Bootstrap(clf, X, np.full(len(X), "yes"), structure=False)


def packed(numbers):
    return base64.b64encode(np.asarray(numbers, dtype="<f8").tobytes()).decode()


def unpacked(entry):
    return np.frombuffer(base64.b64decode(entry["parameters"]), dtype="<f8").copy()


LIES = {
    "no list": lambda c: c.update(refits={"a": 1}),
    "too many": lambda c: c.update(refits=c["refits"] * 600),
    "not base64": lambda c: c["refits"][0].update(parameters="not base64!"),
    "no text": lambda c: c["refits"][0].update(parameters=[1.0]),
    "short": lambda c: c["refits"][0].update(parameters=packed(unpacked(c["refits"][0])[:-1])),
    "long": lambda c: c["refits"][0].update(parameters=packed([*unpacked(c["refits"][0]), 1.0])),
    "nan": lambda c: c["refits"][0].update(parameters=packed(unpacked(c["refits"][0]) * np.nan)),
    "infinite": lambda c: c["refits"][0].update(parameters=packed([*unpacked(c["refits"][0])[:-1], np.inf])),
    "negative": lambda c: c["refits"][0].update(parameters=packed(-unpacked(c["refits"][0]))),
    "no prior": lambda c: c["refits"][0].update(class_prior=[1.0]),
    "prior of nothing": lambda c: c["refits"][0].update(class_prior=[0.0, 1.0]),
    "calibrated": lambda c: c["refits"][0].update(calibration={"temperature": 2.0, "shifts": [0.0, 1.0]}),
    "cold": lambda c: c["refits"][0].update(calibration={"temperature": 0.0, "shifts": [0.0, 1.0]}),
    "more": lambda c: c["refits"][0].update(more=1),
    "less": lambda c: c["refits"][0].pop("class_prior"),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("columns", [["income", "years"], ["housing", "income", "cards"]])
def test_hostile_files_are_refused(lie, columns, tmp_path):
    X, y = toy_table()
    content = json.loads(json.dumps(classifier_content(keeping((X[columns], y), {}, 2))))
    LIES[lie](content)
    write_model(tmp_path / "model.json", content)
    with pytest.raises(ModelFileError, match="is not a usable model"):
        ConditionalGaussianNetworkClassifier.load(tmp_path / "model.json")


def test_an_adopted_decision_has_no_refits(tmp_path):
    from sklearn.linear_model import LogisticRegression

    from surefoot import adopt

    bank = datasets.load_banknote()
    model = adopt(LogisticRegression().fit(bank.X, bank.y), (bank.X, bank.y))
    content = classifier_content(model)
    assert "refits" not in content
    own = ConditionalGaussianNetworkClassifier(model.dag_).fit(bank.X, bank.y)
    keep_refits(own, bank.X, bank.y, 1)
    write_model(tmp_path / "model.json", {**content, "refits": classifier_content(own)["refits"]})
    with pytest.raises(ModelFileError, match="'refits' is wrong"):
        ConditionalGaussianNetworkClassifier.load(tmp_path / "model.json")
