"""The file that says what letters call things."""

import tomllib

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, datasets
from surefoot.exceptions import DataError
from surefoot.ui.letters.labels import Label, Labels, OwnNames, labels_template, own_units, read_labels
from surefoot.ui.letters.language import language
from surefoot.ui.letters.writer import Writer
from tests.ui.mixed import toy_model


@pytest.fixture(scope="module")
def clf():
    return toy_model()


@pytest.fixture(scope="module")
def names(clf):
    """A number and a category with one of its values."""
    category = next(iter(clf.categories_))
    return (
        next(n for n in clf.feature_labels_ if n not in clf.categories_),
        category,
        clf.categories_[category][0],
    )


def test_what_the_template_says_changes_nothing_but_underscores(clf, tmp_path):
    path = tmp_path / "labels.toml"
    path.write_text(labels_template(clf), "utf-8")
    found = read_labels(path, clf)
    assert {name: found.of(name).label for name in clf.feature_labels_} == {
        name: Labels().of(name).label for name in clf.feature_labels_
    }
    assert found.decisions == {str(c): str(c) for c in clf.classes_.tolist()}
    assert set(found.slots.values()) == {""}
    assert set(tomllib.loads(labels_template(clf))) == {*map(str, clf.feature_labels_), "letter"}


def test_labels_units_decimals_and_values(clf, names):
    number, category, value = names
    found = read_labels(
        {
            number: {"label": "what you earn", "unit": "€", "decimals": 2},
            category: {"values": {str(value): "the first"}},
            "letter": {"decisions": {str(clf.classes_[0]): "refused"}},
        },
        clf,
    )
    writer = Writer(language("de"), found)
    assert writer.name(number) == "what you earn"
    assert writer.value(number, 1900.0) == "1.900,00\N{NO-BREAK SPACE}€"
    assert writer.value(number, 1900.125) == "1.900,125\N{NO-BREAK SPACE}€"  # never rounded
    assert writer.value(category, value) == "the first"
    assert writer.decision(clf.classes_[0]) == "„refused“"
    assert writer.value(number, float("nan")) == "fehlt"


@pytest.mark.parametrize(
    ("code", "unit", "text"),
    [
        ("en", "$", "-$1,900.50"),
        ("de", "$", "-1.900,50_$"),
        ("en", "%", "-1,900.5%"),
        ("de", "%", "-1.900,5_%"),
        ("en", "months", "-1,900.5_months"),
        ("de", "{0}#0", "-1.900,5_{0}#0"),
    ],
)
def test_units_stand_where_readers_expect_them(clf, names, code, unit, text):
    writer = Writer(language(code), read_labels({names[0]: {"label": "x", "unit": unit}}, clf))
    assert writer.value(names[0], -1900.5) == text.replace("_", "\N{NO-BREAK SPACE}")  # no line breaks there


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = ", "is not TOML"),
        ("nobody = 'a'", "'nobody' is not a feature of the model"),
        ("{number} = 3", "{number}: must be a text or a table, not 3"),
        ("{number} = {{ lable = 'a' }}", "'lable' is unknown.*did you mean 'label'"),
        ("{number} = {{ decimals = -1 }}", "decimals must be an integer from 0 to 9, not -1"),
        ("{number} = {{ decimals = true }}", "decimals must be an integer"),
        ("{number} = {{ unit = 3 }}", "unit must be a text, not 3"),
        ("{number} = {{ values = {{ a = 'b' }} }}", "is a number, and has no values"),
        ("{category} = {{ values = {{ zzz = 'b' }} }}", "'zzz' is not one of its values"),
        ("[letter]\nsendr = 'a'", "'sendr' is not a slot of a letter; did you mean 'sender'"),
        ("[letter.decisions]\nzzz = 'a'", "'zzz' is not a class of the model"),
        ("letter = 3", "must be a table, not 3"),
    ],
)
def test_bad_files_get_one_clear_line(clf, names, tmp_path, text, complaint):
    number, category, _ = names
    path = tmp_path / "labels.toml"
    path.write_text(text.format(number=number, category=category) if "{" in text else text, "utf-8")
    with pytest.raises(DataError, match=complaint.format(number=number)) as raised:
        read_labels(path, clf)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_files_that_cannot_be_read(clf, tmp_path):
    (tmp_path / "latin").write_bytes(b"x = '\xff'")
    with pytest.raises(DataError, match="is not UTF-8 text"):
        read_labels(tmp_path / "latin", clf)
    with pytest.raises(DataError, match="cannot be read"):
        read_labels(tmp_path / "missing", clf)
    with pytest.raises(DataError, match="cannot be read"):
        read_labels(tmp_path, clf)


def test_a_label_is_said_of_any_kind_of_name():
    assert Labels({"3": Label("third")}).of(3).label == "third"
    assert Labels().of("  _ ").label == "-"


def test_money_has_cents_where_the_data_have():
    """Unless the sender says otherwise; amounts in rules are as they were written."""
    rng = np.random.default_rng(0)
    rows = {
        "pay": [f"{v:.2f} €" for v in rng.normal(2000, 300, 80)],
        "fee": [f"{v} €" for v in rng.integers(10, 99, 80)],
        "load": [f"{v:.1f} kg" for v in rng.normal(50, 9, 80)],
    }
    table = datasets.read_table(pd.DataFrame(rows | {"y": ["a", "b"] * 40}), label="y")
    money = ConditionalGaussianNetworkClassifier("naive").fit(table.X, table.y)
    money.recipe_ = table.recipe
    own = Writer(language("en"), read_labels(None, money))
    assert [own.value("pay", v) for v in (1468.4, 1900.0)] == ["€1,468.40", "€1,900.00"]
    assert (own.value("fee", 12.0), own.value("load", 12.5)) == ("€12", "12.5\N{NO-BREAK SPACE}kg")
    assert own.number("pay", 100.0) == "€100"
    assert 'pay = { label = "pay", unit = "€", decimals = 2 }' in labels_template(money)
    assert 'load = { label = "load", unit = "kg" }' in labels_template(money)
    said = read_labels({"pay": {"unit": "$"}, "load": {"unit": "€", "decimals": 0}}, money)
    assert (said.of("pay").decimals, said.of("load").decimals) == (2, 0)
    assert OwnNames(own_units(money)).of("pay").decimals == 2


def test_an_estimate_is_rounded_and_said_to_be_one():
    writer = Writer(language("en"), Labels({"pay": Label(unit="€", decimals=2)}), estimated=("pay",))
    assert writer.own("pay", 3041.021688096822) == "about €3,041"
    assert writer.own("pay", 3041.0) == "€3,041.00"
    assert writer.own("fee", 3041.021688096822) == "3,041.021688096822"


def test_names_that_are_numbers():
    """A table without names has columns 0, 1, ...; a dict of labels may call them so, and classes too."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    clf = ConditionalGaussianNetworkClassifier("naive").fit(
        pd.DataFrame({0: rng.normal(y), 1: rng.normal(y)}), y
    )
    found = read_labels({0: "what you earn", "letter": {"decisions": {1: "granted"}}}, clf)
    assert (found.of(0).label, found.decisions["1"]) == ("what you earn", "granted")
    with pytest.raises(DataError, match="'2' is not a feature"):
        read_labels({2: "a"}, clf)
