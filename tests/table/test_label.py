"""Labels that are none are refused in one line, doubtful ones are cautioned."""

import numpy as np
import pandas as pd
import pytest

from surefoot.exceptions import DataError
from surefoot.table.label import label_cautions
from surefoot.table.labelled import missing_label_faults

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (RNG.integers(18, 86, 1000), "68 different numbers, from 18 to 85: that is a number, not a class"),
        (RNG.normal(size=200), "200 different numbers"),
        ([f"C{k}" for k in range(50)], "50 different values in 50 rows: names of rows or text"),
        (pd.date_range("2021", periods=30), "holds dates, not classes"),
        (pd.date_range("2021-01-20", periods=30).strftime("%d.%m.%Y"), "holds dates, not classes"),
        (["a"] * 30, "one class only, 'a'"),
        ([None] * 3, "holds nothing"),
    ],
)
def test_no_label(labels, message):
    with pytest.raises(DataError) as error:
        label_cautions(pd.Series(labels), "y")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_cautions():
    rare = pd.Series(["no"] * 9995 + ["yes"] * 5)
    assert label_cautions(rare, "y") == [
        "99.95 % of the labels are 'no': 5 rows of anything else are too few to learn much from"
    ]
    twelve = pd.Series(np.arange(1200) % 12)
    assert label_cautions(twelve, "month") == ["the label 'month' has 12 classes; is it a number?"]
    letters = pd.Series(np.arange(26_000) % 26)  # letters of the alphabet in numbers
    assert label_cautions(letters, "letter") == ["the label 'letter' has 26 classes; is it a number?"]


@pytest.mark.parametrize("labels", [["a", "b"] * 10, [0, 1, 2] * 20, [True, False] * 5, ["x", "y", "z"]])
def test_labels(labels):
    assert label_cautions(pd.Series(labels), "y") == []


def test_decimals_as_written_are_numbers():
    labels = pd.Series([f"{k / 7:.3f}" for k in range(200)])
    with pytest.raises(DataError, match=r"holds 200 different numbers, from 0 to 28.429: that is a number"):
        label_cautions(labels, "rate")
    assert label_cautions(pd.Series(["1.5", "2.5"] * 30), "rate") == []


def test_classes_that_differ_in_capitals_only_are_cautioned():
    labels = pd.Series(["Good", "good", "bad"] * 20)
    assert label_cautions(labels, "risk") == [
        "the label 'risk' has classes that differ in capitals only: 'Good' and 'good'"
    ]


def test_labels_missing_at_the_end_are_perhaps_no_rows():
    end = "; at the end of a table that is a line of totals, or an empty one: take it out"
    assert missing_label_faults(pd.Series(["a", "b", None, None]), "y")[0].endswith(f"rows 2, 3{end}")
    assert missing_label_faults(pd.Series(["a", None, "b"]), "y")[0].endswith("row 1")
