"""The next table is read as the first one was; a column of another kind is named in one line."""

import warnings

import numpy as np
import pandas as pd
import pytest

from surefoot.exceptions import DataError, SurefootWarning
from surefoot.table.again import chunk_reader, read_again
from surefoot.table.rare import as_text
from surefoot.table.reading import Form, framed
from surefoot.table.recipe import Recipe, Step
from surefoot.table.stream import streamed

RECIPE = Recipe(
    {
        "applied": Step("date", "dmy"),
        "seen": Step("date", "excel"),
        "income": Step("number", "", ("999",)),
        "cards": Step("whole"),
        "housing": Step("category"),
        "smoker": Step("category"),
    }
)
DAYS = (18_000, 18_900)  # 2019 to 2021, as days since 1970
CATEGORIES = {"housing": ("own", "rent"), "smoker": ("no", "yes")}


def again(frame):
    return read_again(framed(pd.DataFrame(frame), Form()), RECIPE, CATEGORIES, {"applied": DAYS})


def test_the_order_of_dates_is_that_of_the_first_table():
    found = again({"applied": ["03.04.2021"], "seen": [44_000.0]})
    assert found.frame["applied"].iloc[0] == pd.Timestamp("2021-04-03")
    assert found.frame["seen"].iloc[0] == pd.Timestamp("2020-06-18")
    assert found.notes == ()
    slashes = again({"applied": ["3/4/2021"]})  # that a slash means the month first elsewhere does not matter
    assert slashes.frame["applied"].iloc[0] == pd.Timestamp("2021-04-03")


def test_dates_that_can_only_be_in_another_order_are_read_so_and_named():
    found = again({"applied": ["3/27/2021", "4/5/2021"]})
    assert found.frame["applied"].tolist() == [pd.Timestamp("2021-03-27"), pd.Timestamp("2021-04-05")]
    assert found.notes == ("'applied' is written month first here and was day first when the model was made",)
    assert again({"applied": pd.date_range("2021", periods=2)}).frame["applied"].iloc[0].year == 2021
    digits = again({"applied": [20210403, 20210404]})
    assert digits.frame["applied"].iloc[0] == pd.Timestamp("2021-04-03")


@pytest.mark.parametrize("days", [[44_256.0, 44_300.0], ["44256", "14.04.2021"], [44_256.75, None]])
def test_dates_that_a_spreadsheet_made_numbers_are_read_and_said(days):
    found = again({"applied": days})
    assert found.frame["applied"].iloc[0] == pd.Timestamp("2021-03-01")
    assert found.frame["applied"].isna().tolist() == [day is None for day in days]
    assert pd.isna(days[1]) or found.frame["applied"].iloc[1] == pd.Timestamp("2021-04-14")
    assert found.notes[-1].startswith("'applied' holds days as Excel counts them here: 44256")
    assert found.notes[-1].endswith(" is read as 2021-03-01")


# Days since 1970 would be days of 1951 as Excel counts them; the model knows 2019 to 2021. A year is no day.
@pytest.mark.parametrize("days", [[18_700.0, 18_800.0], [2019.0, 2020.0], [44_256.0, 18_700.0]])
def test_numbers_that_may_be_other_days_are_refused(days):
    with pytest.raises(DataError, match=r"'applied' held dates \(day first\) when the model was made; row 0"):
        again({"applied": days})


# Far from the dates that the model knows; days since 1970 are below 30,000 until 2052.
def test_all_of_a_column_as_days_of_excel_are_read_and_said_however_far_they_lie():
    found = again({"applied": [55_000.0, 30_001.0]})
    assert found.frame["applied"].tolist() == [pd.Timestamp("2050-07-31"), pd.Timestamp("1982-02-19")]
    assert found.notes == ("'applied' holds days as Excel counts them here: 55000 is read as 2050-07-31",)


@pytest.mark.parametrize("days", [[55_000.5, 55_001.0], [55_000.0, 29_999.0], ["55000", "03.04.2021"]])
def test_numbers_of_which_some_are_no_days_of_excel_are_refused_with_their_cell(days):
    with pytest.raises(DataError, match=rf"'applied' held dates .*; row 0 has '{as_text(days[0])}"):
        again({"applied": days})


def test_two_digits_are_years_around_the_dates_that_the_model_knows():
    reading = framed(pd.DataFrame({"born": ["12.05.35"], "month": [202103]}), Form(as_text=["born"]))
    recipe = Recipe({"born": Step("date", "dmy"), "month": Step("date", "digits")})
    found = read_again(reading, recipe, {}, {"born": (-12_000, 7_000), "month": DAYS}).frame
    assert found.iloc[0].tolist() == [pd.Timestamp("1935-05-12"), pd.Timestamp("2021-03-01")]
    later = read_again(reading, recipe, {}, {"born": DAYS}).frame
    assert later["born"].iloc[0] == pd.Timestamp("2035-05-12")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["3 years 2 months"], 38),
        (["2 years"], 24),
        (["5 months"], 5),
        (["1yrs 11mon", None], 23),
        ([30], 30),
    ],
)
def test_durations_are_months_in_the_next_table_too_whatever_its_rows_say(cells, expected):
    recipe = Recipe({"since": Step("number", unit="months")})
    found = read_again(framed(pd.DataFrame({"since": cells}), Form(numbers=["since"])), recipe, {})
    assert found.frame["since"].iloc[0] == expected
    assert not [note for note in found.notes if "was in" in note]


LIMITS = Recipe({"crp": Step("number", decimal=","), "age": Step("whole"), "rate": Step("number", unit="%")})


def limits(frame, **ranges):
    return read_again(
        framed(pd.DataFrame(frame), Form(usual=LIMITS.usual, numbers=LIMITS.numbers)), LIMITS, {}, ranges
    )


def test_values_beyond_a_limit_are_read_in_the_next_table_too_even_alone():
    found = limits({"crp": ["<0,125"], "age": ["90+"]})
    assert found.frame.iloc[0].tolist() == [0.125, 90.0]
    assert found.notes == ("'crp': '<0,125' is read as 0.125", "'age': '90+' is read as 90")
    with pytest.raises(DataError, match="'crp' held numbers when the model was made; row 1 has 'high' here"):
        limits({"crp": ["<0,1", "high"], "age": [3, 4]})


def test_shares_among_per_cent_are_said_in_the_next_table_too():
    notes = limits({"rate": ["12 %", "0.5"]}, rate=(0.0, 90.0)).notes
    assert notes[-1].startswith("'rate': 12 % in row 0, but 0.5 in row 1: shares or per cent?")
    notes = limits({"rate": [0.12, 0.5]}, rate=(0.0, 90.0)).notes
    assert notes == (
        "'rate' was 0 to 90 % when the model was made and is 0.12 to 0.5 here: shares? Taken as it is",
    )
    assert limits({"rate": [0.12, 0.5]}, rate=(0.0, 0.9)).notes == ()
    assert limits({"rate": [12.0, 0.5]}, rate=(0.0, 90.0)).notes == ()


@pytest.mark.parametrize("cells", [["x", None], ["X", "-"], ["yes", "no"], [1, 0], [True, False]])
def test_marks_and_empty_cells_are_the_values_that_the_model_knows(cells):
    recipe = Recipe({"urgent": Step("category", missing=("-",))})
    reading = framed(pd.DataFrame({"urgent": cells}), Form(as_text=["urgent"]))
    found = read_again(reading, recipe, {"urgent": ("(blank)", "x")})
    assert (found.frame["urgent"].tolist(), found.notes[len(reading.notes) :]) == (["x", "(blank)"], ())


def test_marks_units_and_spellings():
    found = again(
        {"income": ["1.234,50 €", "-", "999"], "smoker": ["Y", "No", None], "housing": ["own", "rent", "?"]}
    )
    assert found.frame["income"].iloc[0] == 1234.5
    assert found.frame["income"].isna().tolist() == [False, True, True]
    assert found.frame["smoker"].tolist()[:2] == ["yes", "no"]


@pytest.mark.parametrize("values", [(False, True), ("nein", "ja"), ("0", "1"), (0, 1)])
@pytest.mark.parametrize(
    "cells", [["FALSCH", "WAHR", None], ["n", "Y", ""], ["False", "True", "?"], [False, True, None]]
)
def test_yes_and_no_in_other_words_are_the_two_values_that_the_model_knows(values, cells):
    reading = framed(pd.DataFrame({"smoker": cells}), Form())
    found = read_again(reading, RECIPE, {"smoker": values}).frame["smoker"]
    assert [as_text(cell) for cell in found[:2]] == [as_text(value) for value in values]
    assert found.isna().tolist() == [False, False, True]


def test_times_and_months_stay_what_they_were_in_a_table_of_one_row():
    recipe = Recipe({"at": Step("number", unit="min"), "since": Step("date", "dmy")})
    form = Form(as_text=recipe.written_dates)
    reading = framed(pd.DataFrame({"at": ["13:45"], "since": ["May-15"]}), form)
    found = read_again(reading, recipe, {}).frame
    assert found.iloc[0].tolist() == [825.0, pd.Timestamp("2015-05-01")]
    with pytest.raises(DataError, match="'at' held numbers when the model was made; row 0 has 'noon'"):
        read_again(framed(pd.DataFrame({"at": ["noon"]}), form), recipe, {})


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"income": [2.0, "high"]}, "column 'income' held numbers WHEN; row 1 has 'high' here"),
        ({"applied": ["03.04.2021", "soon"]}, "'applied' held dates (day first) WHEN; row 1 has 'soon' here"),
        ({"applied": [3.5, 2.0]}, "'applied' held dates (day first) WHEN; row 0 has '3.5' here"),
    ],
)
def test_a_column_that_cannot_be_what_it_was_is_refused(frame, message):
    with pytest.raises(DataError) as error:
        again(frame)
    assert message.replace("WHEN", "when the model was made") in str(error.value)


def test_a_column_of_another_kind_is_named():
    notes = again({"cards": [1.0, 2.5], "housing": ["castle", "tent"]}).notes
    assert "'cards' held whole numbers when the model was made, and has decimals in 1 row here" in notes
    assert (
        "'housing' was a category (own, rent), and mostly holds other values here: 'castle', 'tent'" in notes
    )


def test_unknown_values_stay_as_written_where_the_model_counts_them_as_rare():
    reading = framed(pd.DataFrame({"housing": ["own", "castle", None, 7.0]}), Form())
    found = read_again(reading, RECIPE, {"housing": ("(rare)", "7", "own")}).frame["housing"]
    assert found.tolist()[:2] == ["own", "castle"]
    assert found.isna().tolist() == [False, False, True, False]
    assert found.iloc[3] == "7"


def test_a_date_that_is_none_is_missing_and_said():
    days = [*pd.date_range("2021-01-01", periods=40).strftime("%d.%m.%Y"), "31.02.2021"]
    found = again({"applied": days})
    assert found.frame["applied"].isna().sum() == 1
    assert "'31.02.2021' is no date" in found.notes[-1]


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.update(more=1),
        lambda plain: plain["columns"][0].update(kind="number"),  # with an order
        lambda plain: plain["columns"][0].update(order="ydm"),
        lambda plain: plain["columns"][1].update(name="applied"),
        lambda plain: plain["columns"][2].update(missing=[999]),
        lambda plain: plain.update(label=3),
        lambda plain: plain.update(columns={}),
    ],
)
def test_a_recipe_is_read_strictly(change):
    plain = RECIPE.plain()
    assert Recipe.read(plain) == RECIPE
    change(plain)
    with pytest.raises(DataError):
        Recipe.read(plain)


def test_truth_values_beside_a_mark_stay_truth_values():
    recipe = Recipe({"smoker": Step("category", "", ("-",))})
    reading = framed(
        pd.DataFrame({"smoker": ["True", "False", "-"]}), Form(as_text=["smoker"], missing={"smoker": "-"})
    )
    found = read_again(reading, recipe, {"smoker": ("False", "True")})
    assert found.notes == reading.notes
    assert [str(value) for value in found.frame["smoker"]][:2] == ["True", "False"]
    assert pd.isna(found.frame["smoker"].iloc[2])


def test_numbers_that_are_truth_values_stay_numbers():
    assert again({"cards": np.array([True, False])}).frame["cards"].tolist() == [1.0, 0.0]


class Model:
    """What `chunk_reader` asks of a classifier."""

    recipe_, categories_ = RECIPE, CATEGORIES
    feature_labels_ = tuple(RECIPE.steps)
    feature_range_ = np.array([[DAYS[0], 0, 0, 0, 0, 0], [DAYS[1], 9, 9, 9, 9, 9]])


def in_chunks(frame, size):
    """All chunks of a table, read again, and what was warned of."""
    table = streamed(pd.DataFrame(frame))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SurefootWarning)
        read = chunk_reader(table, Model)
        parts = [read(chunk.reading).frame for chunk in table.chunks(size)]
    return pd.concat(parts), [str(warning.message) for warning in caught]


def test_every_row_counts_for_the_order_of_dates_in_a_stream():
    days = ["3/4/2021", "5/6/2021", "3/27/2021", "7/8/2021", "9/10/2021"]
    found, said = in_chunks({"applied": days, "cards": [1, 2, 3, 4.5, 5.5]}, 1)
    assert found["applied"].dt.month.tolist() == [3, 5, 3, 7, 9]
    assert said == [
        "'applied' is written month first here and was day first when the model was made",
        "'cards' held whole numbers when the model was made, and has decimals in 1 row here",
    ]
    with pytest.raises(DataError, match="'applied': some dates begin with the day and others with the month"):
        in_chunks({"applied": ["27/3/2021", "3/27/2021"]}, 1)


@pytest.mark.parametrize(
    ("amounts", "words"),
    [
        (["70 kg", "71", "150 lb"], "'income': some numbers are in kg and others in lb"),
        (["1.2k", "950"], "'income': some numbers are in k and others without a unit"),
        (["950", "", "1.2k"], "'income': some numbers are without a unit and others in k"),
        (["70 kg", "", "71", "72 KG"], ""),
        (["7.4 H", "7.4 L", "7.4"], ""),
    ],
)
@pytest.mark.filterwarnings("ignore::surefoot.exceptions.SurefootWarning")
def test_every_row_counts_for_the_unit_of_numbers_in_a_stream(tmp_path, amounts, words):
    path = tmp_path / "next.csv"
    path.write_text("income,cards\n" + "".join(f"{amount},1\n" for amount in amounts))
    table = streamed(path)

    def rows(size):
        read = chunk_reader(table, Model)
        return [value for chunk in table.chunks(size) for value in read(chunk.reading).frame["income"]]

    if not words:
        np.testing.assert_array_equal(rows(1), rows(100))
        return
    for size in (1, 100):
        with pytest.raises(DataError, match=words if size == 1 else "income"):
            rows(size)


def test_whole_numbers_beyond_all_doubles_are_infinite(tmp_path):
    path = tmp_path / "next.csv"
    path.write_text(f"cards,applied\n1,2021-03-04\n{10**400},2021-03-05\n")
    table = streamed(path)
    read = chunk_reader(table, Model)
    for size in (1, 100):
        found = pd.concat([read(chunk.reading).frame for chunk in table.chunks(size)])
        assert found["cards"].tolist() == [1.0, np.inf]
    column = pd.Series(["2021-03-04", -(10**400)], dtype=object)
    with pytest.raises(DataError, match="'applied'"):
        again({"applied": column})


def test_dates_that_were_clear_and_are_not_any_more_are_said():
    found = again({"seen": ["3/4/2021", "5/6/2021"]})
    assert found.frame["seen"].dt.month.tolist() == [3, 5]
    assert found.notes == ("'seen': '3/4/2021' can be read in two ways; month first because of the slashes",)


def test_another_unit_is_said():
    recipe = Recipe({"income": Step("number", unit="€")})
    for unit, notes in ((" USD", 1), (" €", 0), ("", 0)):
        reading = framed(pd.DataFrame({"income": [f"1.234,50{unit}", f"900,00{unit}"]}), Form())
        found = read_again(reading, recipe, {})
        assert found.frame["income"].tolist() == [1234.5, 900]
        assert len(found.notes) == notes
    assert "'income' was in € when the model was made and is in USD here" in in_usd(recipe)


def in_usd(recipe):
    return read_again(framed(pd.DataFrame({"income": ["1.5 USD", "2.5 USD"]}), Form()), recipe, {}).notes[0]


@pytest.mark.parametrize("rare", [(), ("(rare)",)])
def test_zeros_that_a_spreadsheet_took_from_codes_are_put_back(rare):
    recipe, known = Recipe({"zip": Step("code")}), {"zip": ("01067", "80331", *rare)}
    found = read_again(framed(pd.DataFrame({"zip": [1067, 80331, None]}), Form()), recipe, known)
    assert found.frame["zip"].tolist()[:2] == ["01067", "80331"]
    assert found.frame["zip"].isna().tolist() == [False, False, True]
    assert found.notes[1:] == ("'zip' has lost zeros in front here: they are put back",)
    mixed = read_again(framed(pd.DataFrame({"zip": ["01067", "1067"]}), Form()), recipe, known)
    assert mixed.frame["zip"].tolist() == ["01067", "01067"]  # as two chunks of one row would be read
