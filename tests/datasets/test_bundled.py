import hashlib

import pytest

from surefoot import datasets
from surefoot.datasets.bundled import FOLDER, about


@pytest.mark.parametrize(
    ("name", "shape", "counts", "classes"),
    [
        ("banknote", (1372, 4), [762, 610], ("genuine", "forged")),
        ("pima", (768, 8), [500, 268], ("negative", "positive")),
        ("ionosphere", (351, 32), [126, 225], ("bad", "good")),
    ],
)
def test_size_and_classes(bundled, name, shape, counts, classes):
    data = bundled[name]
    assert data.X.shape == shape
    assert data.y.value_counts().sort_index().tolist() == counts
    assert data.class_names == classes
    assert data.feature_names == tuple(data.X.columns) == tuple(data.descriptions)
    assert data.X.notna().all(axis=None)
    assert data.origin
    assert data.licence


@pytest.mark.parametrize("name", list(about()))
def test_files_are_the_recorded_ones(name):
    content = (FOLDER / f"{name}.csv").read_bytes()
    assert hashlib.sha256(content).hexdigest() == about()[name]["sha256"]


def test_known_rows(bundled):
    assert bundled["banknote"].X.iloc[0].tolist() == [3.6216, 8.6661, -2.8073, -0.44699]
    assert bundled["pima"].X.iloc[0].tolist() == [6, 148, 72, 35, 0, 33.6, 0.627, 50]
    assert bundled["ionosphere"].X.iloc[0, :3].tolist() == [0.99539, -0.05889, 0.85243]
    assert bundled["ionosphere"].feature_names[0] == "Attribute3"


@pytest.fixture(scope="module")
def german():
    return datasets.load_german_credit()


def test_german_credit_is_in_words(german):
    assert german.X.shape == (1000, 20)
    assert german.y.value_counts().to_dict() == {"good": 700, "bad": 300}
    assert german.class_names == ("bad", "good")
    assert german.feature_names == tuple(german.descriptions)
    assert german.X.notna().all(axis=None)
    assert german.licence == "CC BY 4.0"
    assert german.origin
    numbers = german.X.select_dtypes("number")
    assert numbers.shape[1] == 7
    assert {dtype.kind for dtype in numbers.dtypes} == {"i"}
    words = german.X.drop(columns=numbers.columns)
    assert not any(value.startswith("A") for name in words for value in words[name])
    assert german.X["checking_account"].value_counts().to_dict() == {
        "none": 394,
        "below 0 DM": 274,
        "0 to 200 DM": 269,
        "200 DM or more": 63,
    }
    first = german.X.iloc[0]
    assert first["checking_account"] == "below 0 DM"
    assert first["personal_status"] == "man single"
    assert first[["duration_months", "credit_amount", "age"]].tolist() == [6, 1169, 67]
    assert german.y[0] == "good"


def test_german_credit_has_a_word_for_every_value(german):
    for name, words in about()["german_credit"]["categories"].items():
        values = german.y if name == "class" else german.X[name]
        assert set(values) <= set(words.values()), name
