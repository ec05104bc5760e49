import json
import os

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone

from surefoot import ConditionalGaussianNetworkClassifier, Dag
from surefoot.exceptions import ModelFileError
from surefoot.model.file import _checksum


@pytest.fixture(scope="module")
def fitted(bundled):
    return ConditionalGaussianNetworkClassifier("ban", max_parents=2).fit(
        bundled["pima"].X, bundled["pima"].y
    )


@pytest.fixture
def saved(fitted, bundled, tmp_path):
    path = tmp_path / "model.json"
    fitted.save(path)
    return fitted, path, bundled["pima"].X


def load(path):
    return ConditionalGaussianNetworkClassifier.load(path)


def test_round_trip_is_bit_identical(saved):
    clf, path, X = saved
    again = load(path)
    assert again.predict_proba(X).tobytes() == clf.predict_proba(X).tobytes()
    assert again.decision_quadratic(1, 0)(X).tobytes() == clf.decision_quadratic(1, 0)(X).tobytes()
    assert again.dag_ == clf.dag_
    assert again.get_params() == clf.get_params()
    assert list(again.feature_names_in_) == list(X.columns)
    np.testing.assert_array_equal(again.feature_range_, clf.feature_range_)
    assert again.structure_report_.objective == clf.structure_report_.objective
    clone(again).fit(X, clf.predict(X))


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        [False, True],
        [1.0, 2.0],
        [3, 4],
        np.array(["ü", "ß"], dtype=object),
        np.array([1, 2], "u1"),
    ],
)
def test_labels_keep_their_kind(bundled, tmp_path, labels):
    X, y = bundled["banknote"].X.to_numpy(), np.asarray(labels)[bundled["banknote"].y]
    clf = ConditionalGaussianNetworkClassifier().fit(X, y)
    clf.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert again.classes_.dtype == clf.classes_.dtype
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    assert not hasattr(again, "feature_names_in_")


@pytest.mark.parametrize(
    "settings",
    [
        {"structure": Dag([(), (0,), (), (1, 2)])},
        {"structure": {"entropy": ["variance"]}},
        {"structure": nx.DiGraph([("variance", "entropy")])},
        {"structure": "tan", "required_edges": [("variance", "entropy")], "root": "variance"},
        {"priors": {0: 0.3, 1: 0.7}},
        {"priors": np.array([0.3, 0.7])},
    ],
)
def test_settings_survive(bundled, tmp_path, settings):
    X, y = bundled["banknote"].X, bundled["banknote"].y
    clf = ConditionalGaussianNetworkClassifier(**settings).fit(X, y)
    clf.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    refitted = clone(again).fit(X, y)
    assert refitted.dag_ == clf.dag_
    assert refitted.predict_proba(X).tobytes() == clf.predict_proba(X).tobytes()


def test_the_file_is_readable_text(saved):
    _, path, _ = saved
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["format"] == "surefoot-model"
    assert document["version"] == 1
    assert document["model"]["features"]["labels"][0] == "preg"


def refused(path, message):
    with pytest.raises(ModelFileError, match=message) as error:
        load(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_truncated(saved, share):
    _, path, _ = saved
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: int(share * len(text))], encoding="utf-8")
    refused(path, "cut off or is not JSON")


def test_edited(saved):
    _, path, _ = saved
    document = json.loads(path.read_text(encoding="utf-8"))
    document["model"]["networks"][0]["weights"][3][1] += 0.01
    path.write_text(json.dumps(document), encoding="utf-8")
    refused(path, "changed after it was saved")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1}', "not a surefoot model"),
        (b"[1, 2]", "not a surefoot model"),
        (b"\x80\x04\x95pickle", "not UTF-8 text"),
        (b"cos\nsystem\n(S'echo hello'\ntR.", "not JSON"),
        (b'{"format": "surefoot-model", "version": 99}', "format version 99"),
        (b'{"format": "surefoot-model", "version": 1}', "changed after it was saved"),
        (b'{"format": NaN}', "NaN is not a number"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"format": "surefoot-model", "version": 1, "model": {"a": 1e999}}', "changed after it was saved"),
    ],
)
def test_foreign(tmp_path, content, message):
    path = tmp_path / "foreign.json"
    path.write_bytes(content)
    refused(path, message)


def test_missing(tmp_path):
    refused(tmp_path / "nowhere.json", "cannot be read")


def with_content(path, change):
    """Tamper and mend the checksum, as a determined editor could."""
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document["model"])
    document["sha256"] = _checksum(document["model"])
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("networks"),
        lambda m: m["networks"].pop(),
        lambda m: m["networks"][0].update(variances=[-1.0] * 8),
        lambda m: m["networks"][0].update(weights=[[1.0] * 8] * 8),
        lambda m: m["networks"][0].update(surprise=1),
        lambda m: m.update(parents=[[1], [0], [], [], [], [], [], []]),
        lambda m: m.update(class_prior=[0.5, -0.5]),
        lambda m: m.update(class_prior="many"),
        lambda m: m["features"].update(labels=["a"]),
        lambda m: m["features"].update(labels=[None, 1, [2], "a", "b", "c", "d", "e"]),
        lambda m: m.update(class_prior=[5.0, 9.0]),
        lambda m: m.update(class_count=[-1.0, 1.0]),
        lambda m: m.update(rows=2.5),
        lambda m: m.update(parents=[[1.9], [], [], [], [], [], [], []]),
        lambda m: m["classes"].update(labels=[1, 1]),
        lambda m: m["classes"].update(labels=[2**70, 1]),
        lambda m: m["structure"].update(method="x"),
        lambda m: m["structure"].update(objective="y"),
        lambda m: m["classes"].update(dtype="V8"),
        lambda m: m["classes"].update(dtype=None),
        lambda m: m["settings"].update(colour="red"),
        lambda m: m["settings"].update(structure={"x": 1}),
        lambda m: m.update(structure=[]),
        lambda m: m.update(feature_range=[[1.0] * 8, [0.0] * 8]),
    ],
)
def test_every_piece_is_checked(saved, change):
    _, path, _ = saved
    with_content(path, change)
    refused(path, "not a usable model")


def test_unfitted_and_unwritable(bundled, tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        ConditionalGaussianNetworkClassifier().save(tmp_path / "m.json")
    clf = ConditionalGaussianNetworkClassifier().fit(bundled["banknote"].X, bundled["banknote"].y)
    with pytest.raises(ModelFileError, match="cannot be written"):
        clf.save(tmp_path / "no" / "such" / "folder.json")


def test_a_failed_save_keeps_the_old_file(bundled, tmp_path):
    path = tmp_path / "m.json"
    clf = ConditionalGaussianNetworkClassifier().fit(bundled["banknote"].X, bundled["banknote"].y)
    clf.save(path)
    before = path.read_bytes()
    clf.set_params(structure=object())
    with pytest.raises(ModelFileError, match="cannot be saved"):
        clf.save(path)
    assert path.read_bytes() == before


def test_links_are_replaced_and_other_things_refused(bundled, tmp_path):
    clf = ConditionalGaussianNetworkClassifier().fit(bundled["banknote"].X, bundled["banknote"].y)
    clf.save(tmp_path / "model.json")
    (tmp_path / "link.json").symlink_to(tmp_path / "model.json")
    clf.set_params(n_bins=9).save(tmp_path / "link.json")
    assert not (tmp_path / "link.json").is_symlink()
    assert load(tmp_path / "link.json").n_bins == 9
    assert load(tmp_path / "model.json").n_bins != 9
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path, tmp_path / "pipe", ""):
        with pytest.raises(ModelFileError, match="cannot be written"):
            clf.save(target)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.json", "model.json", "pipe"]


def test_labels_that_json_cannot_hold(tmp_path, rng):
    X, days = rng.standard_normal((6, 2)), np.array(["2020-01-01", "2020-01-02"] * 3, dtype="M8[D]")
    clf = ConditionalGaussianNetworkClassifier().fit(X, days)
    with pytest.raises(ModelFileError, match="cannot be saved"):
        clf.save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())
