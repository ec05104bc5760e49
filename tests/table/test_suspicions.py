import numpy as np
import pandas as pd
import pytest

from surefoot import datasets
from surefoot.table.suspicions import data_warnings


@pytest.fixture
def clean(rng):
    """Two hundred rows that nobody has anything against, and their labels."""
    frame = pd.DataFrame(
        {
            "income": rng.gamma(3.0, 500.0, 200),
            "age": rng.integers(18, 80, 200),
            "housing": rng.choice(["own", "rent", "free"], 200),
            "employed": rng.random(200) < 0.8,
        }
    )
    return frame, np.where(rng.random(200) < 0.4, "bad", "good")


def about(frame, y, what, label="class"):
    return [warning for warning in data_warnings(frame, y, label) if warning.startswith(what + ":")]


def test_a_clean_table_has_no_warnings(clean):
    assert data_warnings(*clean) == []


def test_a_constant_column(clean):
    frame, y = clean
    for value in (3.0, "yes", np.nan):
        found = about(frame.assign(country=value), y, "Constant")
        assert found == ["Constant: 'country' (the same value in every row; best left out)."]
    assert about(frame, y, "Constant") == []


def test_a_column_that_is_constant_in_a_class(clean):
    frame, y = clean
    arrears = np.where(y == "good", 0.0, frame["income"] // 100)
    arrears[np.flatnonzero(y == "bad")[:5]] = 0.0
    found = about(frame.assign(arrears=arrears), y, "Constant in a class")
    assert found == ["Constant in a class: 'arrears' (a single value in all rows of 'good')."]
    arrears[np.flatnonzero(y == "good")[0]] = 2.0
    assert about(frame.assign(arrears=arrears), y, "Constant in a class") == []


def test_identifiers(clean):
    frame, y = clean
    for values in ([f"C-{i}" for i in range(200)], np.arange(1000, 1200), np.arange(0, 2000, 10)[::-1]):
        found = about(frame.assign(customer=values), y, "Identifier")
        assert found == ["Identifier: 'customer' (names or counts the rows; best left out)."]
    shuffled = np.random.default_rng(0).permutation(200)
    assert about(frame.assign(customer=shuffled), y, "Identifier")
    distinct = np.random.default_rng(0).permutation(np.arange(200) ** 2)  # amounts may well be all different
    for values in (distinct, frame["income"], np.repeat([f"C-{i}" for i in range(100)], 2)):
        assert about(frame.assign(customer=values), y, "Identifier") == []


def test_what_is_called_an_identifier_may_repeat(clean):
    frame, y = clean
    numbers = np.random.default_rng(0).integers(1_000_000, 9_999_999, 150).tolist()
    visits = numbers + numbers[:50]
    for name in ("ID", "id", "patient_id", "customerId", "Patient ID"):
        assert about(frame.assign(**{name: visits}), y, "Identifier")
        assert about(frame.assign(**{name: frame["age"] // 2}), y, "Identifier") == []
    for name in ("paid", "acid", "amount"):
        assert about(frame.assign(**{name: visits}), y, "Identifier") == []


def test_labels_that_read_like_missing_ones(clean):
    frame, y = clean
    votes = np.where(np.arange(200) < 30, "NA", y)
    (found,) = about(frame, votes, "Missing label", "vote")
    assert found.startswith(
        "Missing label: 'vote' is 'NA' in 30 rows, which are taken as a class of their own"
    )
    assert about(frame, np.arange(200) % 2, "Missing label") == []


def test_tables_of_many_columns_are_looked_at_without_complaint(clean):
    """Pandas warns of slow steps in tables of more than a hundred blocks."""
    frame, y = clean
    wide = pd.concat([frame, *(frame["income"].rename(f"again {i}") for i in range(150))], axis=1)
    wide = wide.astype({f"again {i}": "float32" if i % 2 else float for i in range(150)})
    assert len(about(wide, y, "Duplicates")) == 0


def test_dates(clean):
    frame, y = clean
    days = pd.date_range("2020-01-01", periods=200, freq="D")
    assert about(frame.assign(opened=days), y, "Date") == []  # a column of dates is a number of days
    for values in (
        days.strftime("%d.%m.%Y"),
        days.strftime("%Y-%m-%d %H:%M:%S"),
        days.strftime("%m/%d/%y"),
    ):
        found = about(frame.assign(opened=values), y, "Date")
        assert found == ["Date: 'opened' (best turned into a number, such as an age, or left out)."]
        assert about(frame.assign(opened=values), y, "Identifier") == []
    for values in (days.year, days.strftime("%B"), days.strftime("room %d")):
        assert about(frame.assign(opened=values), y, "Date") == []


def test_categories_with_many_values(clean):
    frame, y = clean
    towns = [f"town {i % 60}" for i in range(200)]
    found = about(frame.assign(town=towns), y, "Many values")
    assert found == ["Many values: 'town' (60 different values; put rare ones together)."]
    few = [f"town {i % 12}" for i in range(200)]
    assert about(frame.assign(town=few), y, "Many values") == []
    assert about(frame.assign(number=np.arange(200) % 60), y, "Many values") == []


def test_duplicates(clean):
    frame, y = clean
    twice = pd.concat([frame, frame.iloc[:10]])
    found = about(twice, [*y, *y[:10]], "Duplicates")
    assert found == ["Duplicates: 10 rows repeat an earlier one, which makes a model look better than it is."]
    other = ["good" if label == "bad" else "bad" for label in y[:10]]
    assert about(twice, [*y, *other], "Duplicates") == []  # the same person may be decided differently
    assert about(pd.concat([frame, frame.iloc[:1]]), [*y, y[0]], "Duplicates") == []


def test_columns_that_give_the_label_away(clean):
    frame, y = clean
    bad = y == "bad"
    giveaways = {
        "paid back": np.where(bad, "no", "yes"),
        "days late": np.where(bad, 30.0, 0.0) + frame["income"] / 1e4,
        "closed on": np.where(bad, np.nan, 1.0) * frame["age"],  # missing only where it went wrong
    }
    for name, values in giveaways.items():
        found = about(frame.assign(**{name: values}), y, "Gives the label away", label="loan")
        remark = "tells 'loan' in nearly every row; is it known beforehand?"
        assert found == [f"Gives the label away: {name!r} ({remark})."]
    strong = np.where(np.random.default_rng(1).random(200) < 0.9, bad, ~bad)
    assert about(frame.assign(strong=strong), y, "Gives the label away") == []
    assert about(frame.assign(note=[f"n{i}" for i in range(200)]), y, "Gives the label away") == []


def test_small_classes(clean):
    frame, y = clean
    few = np.where(np.arange(200) < 7, "fraud", y)
    found = about(frame, few, "Small class", label="outcome")
    assert found == ["Small class: 'outcome' has few rows of 'fraud' (7 rows)."]
    numbers = about(frame, np.where(np.arange(200) < 7, 2, 1), "Small class")
    assert numbers == ["Small class: 'class' has few rows of 2 (7 rows)."]
    assert about(frame, y, "Small class") == []


def test_more_columns_than_rows(rng):
    wide = pd.DataFrame(rng.standard_normal((40, 50)))
    y = np.arange(40) % 2
    assert about(wide, y, "More columns than rows") == ["More columns than rows: 50 columns, 40 rows."]
    assert about(wide.iloc[:, :39], y, "More columns than rows") == []


def test_the_label_is_no_feature(clean):
    frame, y = clean
    assert data_warnings(frame.assign(loan=y), y, "loan") == []


def test_many_names_are_cut_short(clean):
    frame, y = clean
    frame = frame.assign(**{f"c{i}": 1 for i in range(8)})
    (found,) = about(frame, y, "Constant")
    assert found.startswith("Constant: 'c0', 'c1', 'c2', 'c3', 'c4' and 3 more (")


def test_bundled_data():
    assert data_warnings(datasets.load_german_credit().X, datasets.load_german_credit().y) == []
    ionosphere = datasets.load_ionosphere()
    assert data_warnings(ionosphere.X, ionosphere.y) == []
    (found,) = data_warnings(datasets.load_banknote().X, datasets.load_banknote().y)
    assert found.startswith("Duplicates: 24 rows")
