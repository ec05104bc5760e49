"""Commas and points in numbers: proven, taken with a reason that is said, or asked about."""

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.datasets import read_table
from surefoot.exceptions import DataError
from surefoot.table.again import read_like
from surefoot.table.reading import Form
from surefoot.table.reading import read_table as read_file
from surefoot.table.stream import streamed

RNG = np.random.default_rng(3)
N = 40
SMALL_AND_LARGE = [int(v) for v in RNG.permutation([*range(7, 900, 45), *range(1003, 90_000, 4451)])]
LARGE = [int(v) for v in RNG.permutation(range(1003, 9_999, 223))]
ROUND = [v // 100 * 100 for v in LARGE]


def commas(values):
    return [f"{v:,}" for v in values]


def points(values):
    return [text.replace(",", ".") for text in commas(values)]


def table(path, separator, **columns):
    """A file with these columns and a whole number beside them."""
    frame = pd.DataFrame({**columns, "cards": [k % 7 for k in range(len(next(iter(columns.values()))))]})
    frame.to_csv(path, index=False, sep=separator)
    return path


# What a column holds, the separator, its first number, and a part of what is said.
CASES = {
    "commas, small ones have none": (commas(SMALL_AND_LARGE), ";", 1, "numbers below 1000 have none"),
    "points, small ones have none": (points(SMALL_AND_LARGE), ";", 1, "numbers below 1000 have none"),
    "commas throughout": (commas(LARGE), ",", 1, "three digits follow every comma"),
    "commas, rounded": (commas(ROUND), ";", 1, "most of such numbers end in a zero"),
    "points, rounded": (points(ROUND), ";", 1, "most of such numbers end in a zero"),
    "points throughout": (points(LARGE), ";", 1000, "nothing says that points group digits"),
    "commas, dollars": ([f"${v}" for v in commas(LARGE)], ";", 1, "$ has no three decimals"),
    "points, euros": ([f"{v} €" for v in points(LARGE)], ";", 1, "€ has no three decimals"),
}
VALUES = {"small": SMALL_AND_LARGE, "rounded": ROUND}


@pytest.mark.parametrize("case", CASES)
def test_what_is_assumed_has_a_reason_and_is_said_in_one_line(tmp_path, case):
    texts, separator, over, why = CASES[case]
    found = read_table(table(tmp_path / "t.csv", separator, amount=texts))
    whole = next((values for part, values in VALUES.items() if part in case), LARGE)
    assert found.frame["amount"].tolist() == [v / over for v in whole]
    said = [note for note in found.notes if why in note]
    assert len(said) == 1
    assert said[0].startswith("'amount': ")
    assert said[0].endswith("says otherwise)")
    # The flag that the note names does what it says.
    commas_flag = "(--decimal-comma amount says otherwise)" in said[0]
    assert commas_flag or "(--decimal-point amount says otherwise)" in said[0]
    turned = read_table(
        tmp_path / "t.csv", **{"decimal_comma" if commas_flag else "decimal_point": ["amount"]}
    )
    assert not any(why in note for note in turned.notes)
    assert turned.frame["amount"].tolist() != found.frame["amount"].tolist()


def test_other_columns_prove_it_and_nothing_needs_to_be_said(tmp_path):
    rate = [f"{v:.1f}" for v in RNG.uniform(0, 9, len(LARGE))]
    proven = read_table(table(tmp_path / "t.csv", ";", amount=points(LARGE), rate=rate))
    assert proven.frame["amount"].iloc[0] == LARGE[0] / 1000
    written = [v.replace(".", ",") for v in rate]
    proven = read_table(table(tmp_path / "t.csv", ";", amount=points(LARGE), rate=written))
    assert proven.frame["amount"].tolist() == LARGE
    assert not any("is read as" in note for note in proven.notes)


def test_dates_with_points_speak_for_decimal_commas(tmp_path):
    days = [f"{1 + k % 28:02}.03.2021" for k in range(len(LARGE))]
    found = read_table(table(tmp_path / "t.csv", ";", amount=points(LARGE), day=days))
    assert found.frame["amount"].tolist() == LARGE
    assert any("who writes '01.03.2021' writes decimal commas" in note for note in found.notes)


@pytest.mark.parametrize("texts", [["1,234", "2,345"] * 20, commas(LARGE), ["1,234", "12345", "3,456"] * 9])
def test_what_nothing_decides_is_asked(tmp_path, texts):
    path = table(tmp_path / "t.csv", ";", amount=texts)
    with pytest.raises(DataError, match="two ways; say --decimal-comma amount or --decimal-point amount"):
        read_table(path)
    assert read_table(path, decimal_comma=["amount"]).frame["amount"].iloc[0] < 100
    assert read_table(path, decimal=".").frame["amount"].iloc[0] >= 1000


def test_columns_with_different_signs_are_each_read_by_their_own(tmp_path):
    rate, size = [f"{k / 4:.2f}" for k in range(N)], [f"{k / 8:.3f}".replace(".", ",") for k in range(N)]
    found = read_table(table(tmp_path / "t.csv", ";", rate=rate, size=size))
    assert found.frame["rate"].tolist() == [k / 4 for k in range(N)]
    assert found.frame["size"].tolist() == [k / 8 for k in range(N)]
    note = "column 'size' has decimal commas ('0,000'), others have points: each is read by its own"
    assert note in found.notes
    with pytest.raises(DataError, match="but the decimal sign is a point"):
        read_table(tmp_path / "t.csv", decimal=".")


def test_groups_as_in_india():
    texts = ["₹ 1,23,456", "₹ 12,34,567", "₹ 45,678", "₹ 5,000"] * 10
    found = read_table(pd.DataFrame({"amount": texts, "x": RNG.normal(size=N)}))
    assert found.frame["amount"].tolist()[:4] == [123456, 1234567, 45678, 5000]


def test_the_next_table_is_read_with_the_signs_of_the_first(tmp_path):
    path = table(tmp_path / "t.csv", ";", amount=points(SMALL_AND_LARGE), y=["a", "b"] * 20)
    first = read_table(path, "y")
    clf = ConditionalGaussianNetworkClassifier("naive").fit(first.X, first.y)
    clf.recipe_ = type(first.recipe).read(first.recipe.plain())
    assert clf.recipe_.usual == {"amount": "whole", "cards": "whole"}
    form = Form(usual=clf.recipe_.usual)
    single = table(tmp_path / "next.csv", ";", amount=["1.234"])
    assert read_like(read_file(single, form), clf).frame["amount"].tolist() == [1234]
    assert read_file(single, form).notes == ()
    chunk = next(iter(streamed(single, form).chunks(10)))
    assert chunk.reading.frame["amount"].tolist() == [1234]
    # A decimal that was proven is one again, whatever stands around it.
    days = ["27.03.2021"] * 3
    decimals = read_file(
        table(tmp_path / "d.csv", ";", rate=["1.234"] * 3, day=days), Form(usual={"rate": "."})
    )
    assert decimals.frame["rate"].tolist() == [1.234] * 3


def test_a_sign_that_changes_on_the_way_is_refused_in_a_stream(tmp_path):
    texts = [*(f"{k / 4:.2f}" for k in range(1500)), "1,5"]
    path = table(tmp_path / "t.csv", ";", rate=texts)
    with pytest.raises(DataError, match=r"from row 1500 on column 'rate' has decimal commas \('1,5'\)"):
        list(streamed(path).chunks(100))


def test_in_a_table_of_both_signs_it_is_said_how_an_unclear_number_is_read(tmp_path):
    rate, size = [f"{k / 4:.2f}" for k in range(N)], [f"{k / 8:.2f}".replace(".", ",") for k in range(N)]
    path = table(tmp_path / "t.csv", ";", rate=rate, size=size, weight=["3.504 lbs", "2.130 lbs"] * (N // 2))
    notes = read_table(path).notes
    assert any(note.startswith("'weight': 2.130 is read as 2.13, since others have") for note in notes)


def test_one_column_has_the_sign_that_the_user_says(tmp_path):
    rate = [f"{k / 4:.2f}" for k in range(len(LARGE) + 1)]
    mass = ["1.234"] * len(rate)
    path = table(tmp_path / "t.csv", ";", rate=rate, size=["1,234", *commas(LARGE)], mass=mass)
    assert read_table(path).frame["size"].iloc[0] == 1234
    found = read_table(path, decimal_comma=["size", "mass"])
    assert found.frame["size"].iloc[0] == 1.234
    assert "1234 in every row" in found.kinds.loc["mass", "why"]
    form = Form(own_decimals={"size": ",", "mass": ","})
    chunk = next(iter(streamed(path, form).chunks(10))).reading.frame
    assert chunk["size"].iloc[0] == 1.234
    assert chunk["mass"].iloc[0] == 1234
    assert found.recipe.steps["size"].decimal == ","


def test_a_sign_for_a_column_beside_one_for_the_table(tmp_path):
    rate, size = [f"{k / 4:.2f}" for k in range(N)], [f"{k / 8:.2f}".replace(".", ",") for k in range(N)]
    path = table(tmp_path / "t.csv", ";", rate=rate, size=size)
    with pytest.raises(DataError, match="is a point; say --decimal-comma size if that column alone has it"):
        read_table(path, decimal=".")
    found = read_table(path, decimal=".", decimal_comma="size").frame
    assert found["rate"].tolist() == [k / 4 for k in range(N)]
    assert found["size"].iloc[2] == 0.25


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"decimal_comma": "siez"}, "there is no column 'siez'; did you mean 'size'?"),
        ({"decimal_comma": "rate"}, "'rate' has decimal points ..0.00'., but the decimal sign is a comma"),
        ({"decimal_point": "word"}, "column 'word': 'high' is no number with a decimal point"),
        ({"decimal_point": "size", "decimal_comma": "size"}, "'size' cannot have both a decimal comma and"),
    ],
)
def test_a_sign_that_a_column_cannot_have_is_refused(tmp_path, said, message):
    rate = [f"{k / 4:.2f}" for k in range(N)]
    path = table(tmp_path / "t.csv", ";", rate=rate, size=["1,234"] * N, word=["high", "low"] * 20)
    with pytest.raises(DataError, match=message):
        read_table(path, **said)


def test_in_a_table_of_both_signs_a_column_decides_by_itself_where_it_can(tmp_path):
    rate, size = [f"{k / 4:.2f}" for k in range(N)], [f"{k / 8:.2f}".replace(".", ",") for k in range(N)]
    pence = ["£1.234", "£2.345"] * 20
    found = read_table(
        table(tmp_path / "t.csv", ";", rate=rate, size=size, pence=pence, mass=["2.5", *["1.234"] * (N - 1)])
    )
    assert found.frame["pence"].iloc[0] == 1234
    assert any("(--decimal-point pence says otherwise)" in note for note in found.notes)
    assert found.frame["mass"].iloc[1] == 1.234


def test_in_a_table_of_both_signs_numbers_with_points_are_said_where_they_may_be_groups(tmp_path):
    rate, size = [f"{k / 4:.2f}" for k in range(N)], [f"{k / 8:.2f}".replace(".", ",") for k in range(N)]
    path = table(tmp_path / "t.csv", ";", rate=rate, size=size, mass=["1.234", "2.345"] * 20)
    note = "'mass': 1.234 is read as 1.234, since others have points (--decimal-comma mass says"
    assert any(said.startswith(note) for said in read_table(path).notes)


def test_in_a_table_of_both_signs_most_columns_decide(tmp_path):
    rent = [f"{k / 4:.2f}".replace(".", ",") for k in range(N)]
    tax, north = rent[::-1], [f"{52 + k / 9:.4f}" for k in range(N)]
    found = read_table(
        table(tmp_path / "t.csv", ";", rent=rent, tax=tax, north=north, mass=["1.234", *["2.345"] * (N - 1)])
    )
    assert found.frame["mass"].iloc[0] == 1234
    assert found.frame["north"].iloc[0] == 52
    assert any("since most others have commas (--decimal-point mass" in note for note in found.notes)


def test_two_currencies_with_different_signs(tmp_path):
    path = table(tmp_path / "t.csv", ";", home=["$1,234", "$2,345"] * 20, away=[*["1.234 €"] * 39, "3.456 €"])
    found = read_table(path)
    assert found.frame["home"].iloc[0] == found.frame["away"].iloc[0] == 1234
    assert sum("has no three decimals" in note for note in found.notes) == 2


def test_groups_of_the_first_table_are_groups_in_the_next_whatever_others_prove(tmp_path):
    path = table(tmp_path / "t.csv", ";", amount=["1.234", "2.345"] * 20, rate=["0.5"] * N)
    form = Form(usual={"amount": "whole", "rate": "."})
    assert read_file(path, form).frame["amount"].iloc[0] == 1234
    assert next(iter(streamed(path, form).chunks(10))).reading.frame["amount"].iloc[0] == 1234


def test_a_column_that_shows_groups_by_itself_is_read_so_beside_columns_that_prove_a_decimal_point(tmp_path):
    path = table(
        tmp_path / "t.csv",
        ",",
        amount=points(SMALL_AND_LARGE),
        rate=[k / 8 for k in range(len(SMALL_AND_LARGE))],
    )
    found = read_file(path)
    assert found.frame["amount"].tolist() == SMALL_AND_LARGE
    assert "since numbers below 1000 have none (--decimal-point amount says otherwise)" in str(found)
    assert read_file(path, Form(own_decimals={"amount": "."})).frame["amount"].min() < 7.1
    lengths = [f"{3 + v / 1000:.3f}" for v in LARGE[:19]] + ["12"]
    path = table(tmp_path / "t.csv", ",", length=lengths, rate=[k / 8 for k in range(20)])
    assert read_file(path).frame["length"].max() < 100
