"""The parts of a model file that say how its table is read, and which class is wanted."""

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.exceptions import ModelFileError
from surefoot.model.content import classifier_content
from surefoot.model.file import read_model, write_model
from surefoot.table.recipe import Recipe, Step


@pytest.fixture
def clf(rng):
    frame = pd.DataFrame(
        {
            "applied": pd.date_range("2021", periods=60),
            "income": rng.normal(size=60),
            "postcode": rng.choice(["(rare)", "01067"], 60),
        }
    )
    found = ConditionalGaussianNetworkClassifier("naive").fit(frame, np.arange(60) % 2)
    found.wanted_ = 1
    found.recipe_ = Recipe(
        {"applied": Step("date", "dmy"), "note": Step("text"), "income": Step("number")}, "y"
    )
    return found


def test_they_survive_the_file_and_decide_nothing(clf, tmp_path):
    clf.save(tmp_path / "m.json")
    again = ConditionalGaussianNetworkClassifier.load(tmp_path / "m.json")
    assert (again.wanted_, again.recipe_) == (1, clf.recipe_)
    bare = ConditionalGaussianNetworkClassifier.load(tmp_path / "m.json")
    bare.wanted_ = bare.recipe_ = None
    assert bare.fingerprint_ == clf.fingerprint_
    assert "wanted" not in classifier_content(bare)
    assert "table" not in classifier_content(bare)


def test_a_new_fit_forgets_what_was_said_of_the_old_one(clf, rng):
    clf.fit(pd.DataFrame({"x": rng.normal(size=20)}), ["a", "b"] * 10)
    assert clf.wanted_ is None
    assert clf.recipe_ is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("wanted", 2),
        ("wanted", True),
        ("wanted", "1"),
        ("wanted", [1]),
        ("table", 3),
        ("table", {"label": "y"}),
        ("table", {"label": "y", "columns": [{"name": "a", "kind": "money", "order": "", "missing": []}]}),
        ("table", {"label": "y", "columns": [{"name": "a", "kind": "date", "order": "", "missing": []}]}),
        ("kinds", [{"kind": "date"}, {"kind": "date", "order": "dmy"}, {"kind": "number"}]),
        ("kinds", [{"kind": "day"}] * 3),
    ],
)
def test_forged_parts_are_refused(clf, tmp_path, key, value):
    clf.save(tmp_path / "m.json")
    content = read_model(tmp_path / "m.json")
    content[key] = value
    write_model(tmp_path / "m.json", content)
    with pytest.raises(ModelFileError, match="not a usable model"):
        ConditionalGaussianNetworkClassifier.load(tmp_path / "m.json")


def test_a_value_that_was_never_seen_is_rare(clf):
    rows = pd.DataFrame({"applied": ["2021-01-05"] * 3, "income": 0.0, "postcode": ["99999", "(rare)", 1067]})
    first, second, third = clf.predict_proba(rows)[:, 0]
    assert first == second == third
    known = clf.predict_proba(rows.assign(postcode="01067"))[0, 0]
    assert known != first
