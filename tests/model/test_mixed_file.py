import json

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.exceptions import ModelFileError
from surefoot.model.content import classifier_content
from tests.model.test_cells import GRAPH, people
from tests.model.test_mixed_classifier import FULL
from tests.model.test_model_file import load, refused, with_content
from tests.thinning import covering


@pytest.fixture(scope="module")
def fitted():
    frame, labels = people(200)
    clf = ConditionalGaussianNetworkClassifier(
        GRAPH, marginals="power", calibration="temperature", ordered={"housing": ["free", "rent", "own"]}
    )
    return clf.fit(frame, labels), frame


@pytest.fixture
def saved(fitted, tmp_path):
    clf, frame = fitted
    clf.save(tmp_path / "model.json")
    return clf, tmp_path / "model.json", frame


@pytest.mark.parametrize(
    ("settings", "structure"),
    covering([{}, FULL, {"cell_smoothing": 3.0, "categorical": ["housing"]}], ["naive", "tan", "ban", GRAPH]),
)
def test_round_trip_is_bit_identical(tmp_path, structure, settings):
    frame, labels = people(200)
    clf = ConditionalGaussianNetworkClassifier(structure, **settings).fit(frame, labels)
    clf.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert again.predict_proba(frame).tobytes() == clf.predict_proba(frame).tobytes()
    assert again.fingerprint_ == clf.fingerprint_
    assert again.schema_ == clf.schema_
    assert again.get_params() == clf.get_params()
    assert (again.warps_, again.calibration_, again.shrinkage_) == (
        clf.warps_,
        clf.calibration_,
        clf.shrinkage_,
    )
    np.testing.assert_array_equal(again.feature_range_, clf.feature_range_)
    np.testing.assert_array_equal(again.density_percentiles_, clf.density_percentiles_)
    again.save(tmp_path / "n.json")
    assert (tmp_path / "n.json").read_bytes() == (tmp_path / "m.json").read_bytes()


def test_versions(tmp_path, bundled):
    frame, labels = people(200)
    numbers = frame[["age", "income"]]
    for X, settings, version in (
        (numbers, {}, 1),
        (numbers, {"shrinkage": 0.5}, 1),
        (numbers, {"marginals": "power"}, 2),
        (numbers, {"calibration": "temperature"}, 2),
        (frame, {}, 2),
    ):
        clf = ConditionalGaussianNetworkClassifier("naive", **settings).fit(X, labels)
        clf.save(tmp_path / "m.json")
        document = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
        assert document["version"] == version
        assert ("warps" in document["model"]) == (version == 2)
        again = load(tmp_path / "m.json")
        assert again.predict_proba(X).tobytes() == clf.predict_proba(X).tobytes()
        assert again.shrinkage_ == clf.shrinkage_


def test_a_model_of_numbers_is_written_as_before(bundled):
    data = bundled["banknote"]
    content = classifier_content(ConditionalGaussianNetworkClassifier().fit(data.X, data.y))
    assert content["kinds"] == [{"kind": "number"}] * 4
    assert "categorical" not in content["settings"]
    assert not {"warps", "calibration", "decision", "shrinkage"} & content.keys()
    new = ("kinds", "class_values")
    old = {name: part for name, part in content.items() if name not in new}
    assert len(old) == 12


def test_a_file_without_kinds_is_read(bundled, tmp_path):
    data, path = bundled["pima"], tmp_path / "m.json"
    clf = ConditionalGaussianNetworkClassifier().fit(data.X, data.y)
    clf.save(path)
    with_content(path, lambda m: m.pop("kinds"))
    again = load(path)
    assert again.fingerprint_ == clf.fingerprint_
    assert set(again.feature_kinds_.values()) == {"number"}


def test_the_fingerprint_covers_everything_that_decides(saved):
    clf, path, _ = saved
    seen = {clf.fingerprint_}
    changes = [
        lambda m: m["networks"][0]["tables"][0].reverse(),
        lambda m: m["networks"][1]["cells"][0]["mean"][0].reverse(),
        lambda m: m["networks"][1]["cells"][1]["variance"].reverse(),
        lambda m: m["warps"][1].update(power=0.25),
        lambda m: m["calibration"].update(temperature=7.5),
        lambda m: m["calibration"].update(shifts=[0.0, 9.0]),
        lambda m: m["kinds"][1].update(values=["free", "rent", "bought"]),
    ]
    for change in changes:
        clf.save(path)
        with_content(path, change)
        seen.add(load(path).fingerprint_)
    assert len(seen) == 1 + len(changes)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["kinds"].pop(),
        lambda m: m.update(kinds="many"),
        lambda m: m["kinds"].__setitem__(0, {"kind": "colour"}),
        lambda m: m["kinds"].__setitem__(0, "number"),
        lambda m: m["kinds"][0].update(values=[1]),
        lambda m: m["kinds"][1].pop("values"),
        lambda m: m["kinds"][1].update(values=[]),
        lambda m: m["kinds"][1].update(values=["free", "rent"]),
        lambda m: m["kinds"][1].update(values=["free", "rent", "rent"]),
        lambda m: m["kinds"][1].update(values=["free", "rent", ["own"]]),
        lambda m: m["kinds"][1].update(values=["free", "rent", None]),
        lambda m: m["kinds"][1].update(values=["1", 1, "own"]),
        lambda m: m["kinds"][1].update(ordered="yes"),
        lambda m: m["kinds"][1].update(surprise=1),
        lambda m: m["kinds"].reverse(),
        lambda m: m["warps"].pop(),
        lambda m: m["warps"][0].update(scale=0.0),
        lambda m: m["warps"][0].update(power="1"),
        lambda m: m["warps"][0].pop("shift"),
        lambda m: m["calibration"].update(temperature=0.0),
        lambda m: m["calibration"].update(temperature=True),
        lambda m: m["calibration"].update(shifts=[0.0]),
        lambda m: m["calibration"].update(shifts=[1.0, 0.0]),
        lambda m: m["networks"][0].pop("cells"),
        lambda m: m["networks"][0]["cells"].pop(),
        lambda m: m["networks"][0]["tables"].pop(),
        lambda m: m["networks"][0].update(means=[0.0]),
        lambda m: m["networks"][0]["tables"].__setitem__(0, [0.5, 0.6, 0.1]),
        lambda m: m["networks"][0]["tables"].__setitem__(0, ["0.5", "0.3", "0.2"]),
        lambda m: m["networks"][0]["tables"].__setitem__(0, [1.0, 0.0, 0.0]),
        lambda m: m["networks"][0]["tables"].__setitem__(0, [[0.5, 0.5], [1.0]]),
        lambda m: m["networks"][0]["cells"][0].update(variance=-1.0),
        lambda m: m["networks"][0]["cells"][0].update(mean=[1.0]),
        lambda m: m["networks"][0]["cells"][1].update(weights=[[1.0], [2.0]]),
        lambda m: m["networks"][0]["cells"][1].update(at=None),
        lambda m: m["networks"][0]["cells"][1].update(surprise=1),
        lambda m: m["parents"].__setitem__(1, [0]),
        lambda m: m["feature_range"][0].__setitem__(1, 3.0),
        lambda m: m["feature_range"][0].__setitem__(0, None),
        lambda m: m["feature_range"].pop(),
        lambda m: m.update(shrinkage=2.0),
        lambda m: m.update(decision={"kind": "guess"}),
        lambda m: m.update(decision=[]),
        lambda m: m["settings"].update(ordered={"x": 1}),
    ],
)
def test_every_piece_is_checked(saved, change):
    clf, path, _ = saved
    assert load(path).fingerprint_ == clf.fingerprint_
    with_content(path, change)
    refused(path, "not a usable model")


def test_a_version_says_what_is_inside(saved):
    clf, path, _ = saved
    assert load(path).fingerprint_ == clf.fingerprint_
    document = json.loads(path.read_text(encoding="utf-8"))
    for version, message in ((1, "not that of version 1"), (True, "true"), (2.0, "2.0"), ("2", "'2'")):
        path.write_text(json.dumps(document | {"version": version}), encoding="utf-8")
        refused(path, message)


def test_values_that_utf_8_cannot_hold(tmp_path):
    frame, labels = people(50)
    frame["housing"] = frame["housing"].astype(object).replace("own", "\ud800")
    clf = ConditionalGaussianNetworkClassifier("naive").fit(frame, labels)
    with pytest.raises(ModelFileError, match="cannot be written"):
        clf.save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())
