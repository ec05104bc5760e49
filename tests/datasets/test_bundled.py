import hashlib

import pytest

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


@pytest.mark.parametrize("name", ["banknote", "pima", "ionosphere"])
def test_files_are_the_recorded_ones(name):
    content = (FOLDER / f"{name}.csv").read_bytes()
    assert hashlib.sha256(content).hexdigest() == about()[name]["sha256"]


def test_known_rows(bundled):
    assert bundled["banknote"].X.iloc[0].tolist() == [3.6216, 8.6661, -2.8073, -0.44699]
    assert bundled["pima"].X.iloc[0].tolist() == [6, 148, 72, 35, 0, 33.6, 0.627, 50]
    assert bundled["ionosphere"].X.iloc[0, :3].tolist() == [0.99539, -0.05889, 0.85243]
    assert bundled["ionosphere"].feature_names[0] == "Attribute3"
