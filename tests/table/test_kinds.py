"""Columns as people have them, each with the kind that it gets, its reason and what it holds then."""

import datetime as dt
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from surefoot.datasets import read_table
from surefoot.exceptions import DataError
from surefoot.table import rare
from surefoot.table.kinds import KINDS, LEFT_OUT
from surefoot.table.kinds_text import WIDTH, kinds_text

N = 60
DAYS = pd.date_range("2021-01-25", periods=N)


def repeated(*values):
    return [values[k % len(values)] for k in range(N)]


def german(value):
    return f"{value:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


RNG = np.random.default_rng(0)
AMOUNTS = RNG.lognormal(8, 1, N).round(2)
# What a column holds, its kind, a part of the reason, and its first value when it is kept.
GROUPED = [f"{1234567 + 1000 * k:,}" for k in RNG.permutation(N)]
LONG = RNG.permutation(range(40_000_000, 40_000_000 + 977 * N, 977))
DOTS, SLASHES = repeated("03.04.2021", "05.06.2021"), repeated("3/4/2021", "5/6/2021")
COLUMNS = {
    "numbers": (AMOUNTS, "number", "numbers with decimals", AMOUNTS[0]),
    "whole numbers": (RNG.integers(18, 80, N) * 7 % 61, "whole", "whole numbers", None),
    "few whole numbers": (repeated(3, 6, 7), "whole", "3 values: may also be a category", 3.0),
    "two numbers": (repeated(0, 1), "category", "two values, 0 and 1", 0),
    "text": (repeated("own", "rent"), "category", "text, 2 values", "own"),
    "truth values": (repeated(True, False), "category", "truth values", True),
    "TRUE and FALSE": (repeated("TRUE", "FALSE"), "category", "2 values", "TRUE"),
    "yes in four spellings": (repeated("Y", "No", "yes", "N"), "category", "text, 2 values", "yes"),
    "plus and minus": (repeated("+", "-"), "category", "text, 2 values", "+"),
    "a dash for a hole": (repeated("own", "-", "rent"), "category", "text, 2 values", "own"),
    "a dash among numbers": (repeated("12", "-", "7", "99"), "whole", "whole numbers", 12.0),
    "n/a among numbers": (repeated("1.5", "n/a", "2.5", "3.0"), "number", "numbers with decimals", 1.5),
    "a question mark": (repeated("1.5", "?", "2.5", "7.25"), "number", "numbers with decimals", 1.5),
    "euros, German": ([f"{german(v)} €" for v in AMOUNTS], "number", "in €", AMOUNTS[0]),
    "dollars in front": ([f"${v:,.2f}" for v in AMOUNTS], "number", "in $", AMOUNTS[0]),
    "per cent": ([f"{k % 37} %" for k in range(N)], "whole", "in %", 0.0),
    "grouped digits": (GROUPED, "whole", "whole numbers", None),
    "Swiss groups": ([f"{v:,.2f}".replace(",", "'") for v in AMOUNTS], "number", "decimals", AMOUNTS[0]),
    "groups by blanks": ([f"{v:,.2f}".replace(",", " ") for v in AMOUNTS], "number", "decimals", AMOUNTS[0]),
    "losses in brackets": ([f"({v:.2f})" for v in AMOUNTS], "number", "decimals", -AMOUNTS[0]),
    "a minus behind": ([f"{v:.2f}-" for v in AMOUNTS], "number", "decimals", -AMOUNTS[0]),
    "months with a word": ([f"{12 * (1 + k % 15)} months" for k in range(N)], "whole", "in months", 12.0),
    "ISO dates": (DAYS.strftime("%Y-%m-%d"), "date", "year first", DAYS[0]),
    "dates with a clock": (DAYS.strftime("%Y-%m-%dT%H:%M:%S"), "date", "year first", DAYS[0]),
    "day first": (DAYS.strftime("%d.%m.%Y"), "date", "day first: '25.01.2021'", DAYS[0]),
    "month first": (DAYS.strftime("%m/%d/%Y"), "date", "month first: '01/25/2021'", DAYS[0]),
    "either, dots": (DOTS, "date", "two ways; day first", pd.Timestamp("2021-04-03")),
    "either, slashes": (SLASHES, "date", "two ways; month first", pd.Timestamp("2021-03-04")),
    "months in words": (DAYS.strftime("%d %b %Y"), "date", "the month is a word", DAYS[0]),
    "years of two digits": (DAYS.strftime("%d/%m/%y"), "date", "day first", DAYS[0]),
    "digits": ([int(d) for d in DAYS.strftime("%Y%m%d")], "date", "in digits", DAYS[0]),
    "datetimes": (DAYS, "date", "dates", DAYS[0]),
    "Python's dates": ([d.date() for d in DAYS], "date", "dates", DAYS[0]),
    "a day that is none": ([*DAYS.strftime("%d.%m.%Y")[:-1], "31.02.2021"], "date", "day first", DAYS[0]),
    "postcode": ([f"{1067 + 13 * (k % 9):05}" for k in range(N)], "code", "begins with a zero", "01067"),
    "zip_code": (RNG.integers(10_000, 10_030, N), "code", "its name says so", None),
    "identifiers": ([f"C-{k:04}" for k in RNG.permutation(N)], "identifier", "nearly every row", None),
    "a count": (range(N), "identifier", "name or count the rows", None),
    "long numbers": (LONG, "identifier", "name or count", None),
    "remarks": ([f"called {k} times, wants more" for k in range(N)], "text", "nearly every row", None),
    "one value": (["EUR"] * N, "constant", "EUR in every row", None),
    "nothing": ([None] * N, "constant", "missing in every row", None),
    "a scale": (repeated("low", "high", "medium"), "ordered", "low < ... < high", "low"),
    "intervals": (repeated("25-40", "< 25", "> 40"), "ordered", "< 25 < ... < > 40", "25-40"),
    "durations": (pd.to_timedelta(np.arange(N) % 7 * 1.5, unit="D"), "number", "in days", 0.0),
}  # fmt: skip


@pytest.fixture(scope="module")
def other():
    return RNG.normal(size=N)


@pytest.mark.parametrize("name", COLUMNS)
def test_each_column(name, other):
    values, kind, why, first = COLUMNS[name]
    found = read_table(pd.DataFrame({"other": other, name: values}))
    row = found.kinds.loc[name]
    assert row["kind"] == kind
    assert why in row["why"]
    assert (name in found.frame.columns) == (kind not in LEFT_OUT)
    if first is not None:
        assert found.frame[name].iloc[0] == first


def test_there_are_thirty_of_every_kind():
    assert len(COLUMNS) >= 30
    assert {kind for _, kind, _, _ in COLUMNS.values()} == set(KINDS) - {"copy"}


def test_notes_say_what_was_taken_as_a_hole_or_left_out(other):
    clock = pd.date_range("2021-01-25 08:30", periods=N, freq="25h").strftime("%Y-%m-%d %H:%M")
    frame = pd.DataFrame({"seen": clock, "debt": COLUMNS["a dash among numbers"][0]})
    notes = read_table(frame.assign(other=other)).notes
    assert "'seen': the time of day is left out" in notes
    assert "'debt': '-' is taken as missing" in notes
    short = read_table(pd.DataFrame({"day": COLUMNS["years of two digits"][0]})).notes
    assert short == ("'day': years of two digits are read as 1969 to 2068",)
    wrong = read_table(pd.DataFrame({"day": COLUMNS["a day that is none"][0]})).notes
    assert any("'31.02.2021' is no date; 1 row has such a value" in note for note in wrong)


def test_999_is_suspected_not_assumed(other):
    income = np.where(np.arange(N) % 10 == 0, 999, RNG.integers(18, 80, N))
    found = read_table(pd.DataFrame({"age": income, "other": other}))
    assert "'age': 999 in 6 rows looks like a hole; say --missing age 999 if it is one" in found.notes
    assert found.frame["age"].isna().sum() == 0
    told = read_table(pd.DataFrame({"age": income, "other": other}), missing={"age": [999]})
    assert told.frame["age"].isna().sum() == 6
    assert told.recipe.steps["age"].missing == ("999",)
    fine = read_table(pd.DataFrame({"age": [990, 995, 999] * 20, "other": other}))
    assert not any("looks like a hole" in note for note in fine.notes)


def test_dates_that_contradict_each_other_are_no_dates(other):
    mixed = repeated("27.03.2021", "03.27.2021")
    assert read_table(pd.DataFrame({"day": mixed, "other": other})).kinds.loc["day", "kind"] == "category"


def test_different_units_are_no_numbers(other):
    weights = repeated("12 kg", "30 lb", "14 kg")
    assert (
        read_table(pd.DataFrame({"weight": weights, "other": other})).kinds.loc["weight", "kind"]
        == "category"
    )


def test_codes_that_look_like_quantities_stay_codes(other):
    found = read_table(pd.DataFrame({"code": repeated("A11", "A12", "A13"), "other": other}))
    assert found.frame["code"].iloc[0] == "A11"


def test_what_the_user_says_wins(other):
    frame = pd.DataFrame(
        {"id": range(N), "day": DAYS.strftime("%d.%m.%Y"), "thal": repeated(3, 6, 7), "other": other}
    )
    found = read_table(frame, numeric="id", categorical=["thal", "day"], text=["other"])
    assert found.kinds["kind"].to_dict() == {
        "id": "whole",
        "day": "category",
        "thal": "category",
        "other": "text",
    }
    said = read_table(frame.assign(day=repeated("03.04.2021", "05.06.2021")), month_first="day")
    assert said.frame["day"].iloc[0] == pd.Timestamp("2021-03-04")
    excel = read_table(frame.assign(day=44_000 + np.arange(N) % 9), date=["day"])
    assert excel.frame["day"].iloc[0] == pd.Timestamp("2020-06-18")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"numeric": ["housing"]}, "column 'housing' cannot be numbers: it holds text, 'own'"),
        ({"date": ["housing"]}, "column 'housing' cannot be dates of one order: it holds 'own'"),
        ({"date": ["other"]}, "column 'other' cannot be dates: it holds numbers"),
        ({"text": ["hous"]}, "there is no column 'hous'; did you mean 'housing'?"),
        ({"text": ["housing"], "date": ["housing"]}, "'housing' cannot be both date and text"),
        ({"day_first": "housing", "month_first": "housing"}, "both the day and the month first"),
        ({"most_values": 2}, "most_values must be an integer of at least 3, not 2"),
        ({"label": "risk"}, "there is no label column 'risk'"),
    ],
)
def test_what_cannot_be_is_refused(other, said, message):
    frame = pd.DataFrame({"housing": repeated("own", "rent"), "other": other})
    with pytest.raises(DataError) as error:
        read_table(frame, **said)
    assert message in str(error.value)


def test_text_among_numbers_is_a_slip_and_is_named():
    frame = pd.DataFrame({"age": [*RNG.integers(20, 40, 20), "unkn"], "x": RNG.normal(size=21)})
    with pytest.raises(DataError, match=r"'age' is not a number in row 20: 'unkn'.*say --missing"):
        read_table(frame)
    assert read_table(frame, missing={"age": ["unkn"]}).frame["age"].isna().sum() == 1


def test_the_cell_that_is_no_number_is_named_and_not_one_with_a_unit_before_it():
    cells = ["1.5 mg", "2.5 mg", "<0.5 mg", "n.d.", *RNG.normal(size=17).round(2).astype(str)]
    with pytest.raises(DataError, match=r"^column 'dose' is not a number in row 3: 'n\.d\.' .*--missing"):
        read_table(pd.DataFrame({"dose": cells, "x": RNG.normal(size=21)}))


@pytest.mark.parametrize(("row", "what"), [(0, "names of columns or units"), (20, "totals or a remark")])
def test_a_row_of_text_among_numbers_is_named_as_one(row, what):
    frame = pd.DataFrame({"age": RNG.integers(20, 40, 21), "x": RNG.normal(size=21)}).astype(object)
    frame.loc[row] = ["years", "[EUR]"]
    message = f"row {row} holds text among numbers ('years', '[EUR]'); if these are {what}, leave the row out"
    with pytest.raises(DataError) as error:
        read_table(frame)
    assert str(error.value) == message


def test_a_total_in_a_single_column_is_named_as_one():
    frame = pd.DataFrame({"age": [*RNG.integers(20, 40, 20), "Total"], "x": RNG.normal(size=21)})
    with pytest.raises(DataError, match=r"^row 20 holds text among numbers \('Total'\); if these are totals"):
        read_table(frame)


def many_codes(rng):
    """Ten codes of at least 20 rows, and fifty of a few."""
    return rng.permutation(
        [*(f"K{k}" for k in range(10) for _ in range(25 + k)), *(f"R{k % 50}" for k in range(80))]
    )


def test_rare_values_are_put_together_and_the_choice_does_not_depend_on_the_order_of_rows():
    codes = many_codes(np.random.default_rng(3))
    frame = pd.DataFrame({"branch": codes, "other": np.arange(len(codes)) % 7.5})
    found = read_table(frame)
    assert sorted(found.frame["branch"].unique()) == sorted(["(rare)", *(f"K{k}" for k in range(10))])
    assert "the 50 rarest are put together as (rare), 80 of 375 rows" in found.kinds.loc["branch", "why"]
    assert found.kinds.loc["branch", "change"] == "--most-values 60"
    assert read_table(frame, most_values=60).kinds.loc["branch", "why"] == "letters and digits; 60 values"
    order = RNG.permutation(len(codes))
    shuffled = read_table(frame.iloc[order]).frame["branch"]
    assert shuffled.tolist() == found.frame["branch"].iloc[order].tolist()
    few = read_table(frame, most_values=5).frame["branch"]
    assert sorted(few.unique()) == ["(rare)", "K6", "K7", "K8", "K9"]
    tiny = read_table(frame.iloc[::5], most_values=8).frame["branch"]
    assert tiny.nunique() == 3  # no code has 20 rows: two of them stay


def test_known_labels_choose_how_many_rows_a_value_needs_for_a_name():
    rng = np.random.default_rng(5)
    codes = pd.Series([f"K{k}" for k in rng.integers(0, 120, 3000)])
    own = codes.map({f"K{k}": float(k % 2) for k in range(120)})
    for strength, rows in ((0.95, 5), (0.0, 80)):
        y = np.where(rng.random(len(codes)) < 0.5 + strength * (own - 0.5), "b", "a")
        frame = pd.DataFrame({"branch": codes, "other": rng.normal(size=len(codes)), "y": y})
        found = read_table(frame, "y").frame["branch"]
        assert found.nunique() == (50 if rows == 5 else 3)
        order = rng.permutation(len(codes))
        shuffled = read_table(frame.iloc[order], "y").frame["branch"]
        assert shuffled.tolist() == found.iloc[order].tolist()


def test_rows_without_a_label_and_labels_that_are_none_choose_nothing():
    codes = pd.Series(many_codes(np.random.default_rng(3)))
    plain, _ = rare.together(codes, 50)
    for labels in (pd.Series([None] * len(codes)), pd.Series(np.linspace(0, 1, len(codes)))):
        with mock.patch.object(rare, "MOST_CELLS", 1000):
            assert rare.together(codes, 50, labels)[0].tolist() == plain.tolist()


def test_categories_that_differ_in_names_alone_are_copies(other):
    codes = RNG.integers(0, 3, N)
    names, letters = np.array(["north", "south", "west"])[codes], np.array(["S", "N", "W"])[codes]
    found = read_table(pd.DataFrame({"other": other, "region": names, "r": letters}))
    assert found.kinds.loc["r", "why"] == "other names for 'region' in every row: left out"
    letters[0] = "N" if letters[0] != "N" else "W"
    assert read_table(pd.DataFrame({"other": other, "region": names, "r": letters})).left_out == []


def test_items_of_a_list_are_no_numbers_with_units(other):
    found = read_table(pd.DataFrame({"other": other, "status": repeated("1. Married", "2. Single")}))
    assert found.kinds.loc["status", "kind"] == "category"
    assert found.notes == ()


def test_a_row_of_totals_is_said():
    income = [*AMOUNTS, AMOUNTS.sum().round(2)]
    frame = pd.DataFrame({"income": income, "place": [*repeated("a", "b"), None]})
    note = f"row {N} looks like a total: 'income' is the sum of all other rows there; leave it out if"
    assert read_table(frame).notes[-1].startswith(note)
    assert not any("total" in one for one in read_table(frame.iloc[:-1]).notes)
    zeros = pd.DataFrame({"late": [0] * (N - 3) + [1, 0, 1], "income": AMOUNTS})
    assert not any("total" in one for one in read_table(zeros).notes)


def test_copies_are_left_out_but_not_by_chance(other):
    frame = pd.DataFrame({"a": other, "b": other, "c": repeated("x", "y"), "d": repeated("x", "y")})
    frame["y"] = frame["c"]
    found = read_table(frame, "y")
    assert found.kinds["kind"].to_dict() == {
        "a": "number",
        "b": "copy",
        "c": "copy",
        "d": "copy",
        "y": "category",
    }
    assert "the same as the label 'y'" in found.kinds.loc["c", "why"]
    assert read_table(frame[["a", "b"]].head(5)).left_out == []


def test_a_table_of_which_nothing_is_left_is_refused():
    frame = pd.DataFrame({"id": range(N), "y": repeated("a", "b")})
    with pytest.raises(DataError, match="no column is left to learn from: 'id'"):
        read_table(frame, "y")


def test_the_frame_is_ready_for_a_classifier(other):
    from surefoot import ConditionalGaussianNetworkClassifier

    frame = pd.DataFrame({name: COLUMNS[name][0] for name in ("day first", "two numbers", "a scale")})
    found = read_table(frame.assign(other=other, y=repeated(0, 1, 1)), "y")
    clf = ConditionalGaussianNetworkClassifier("naive").fit(found.X, found.y)
    assert clf.feature_kinds_ == {
        "day first": "date",
        "two numbers": "category",
        "a scale": "category",
        "other": "number",
    }
    assert clf.schema_.ordered == (False, False, True, False)


def test_the_table_of_kinds_fits_80_columns_whatever_the_names(other):
    points = {name for name in COLUMNS if "German" in name}  # one decimal sign for a table
    frame = pd.DataFrame({name: values for name, (values, *_) in COLUMNS.items() if name not in points})
    found = read_table(frame.assign(**{"a name " * 12: other}))
    lines = kinds_text(found.kinds).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert lines[0].split() == ["column", "read", "as", "why", "to", "change"]
    assert str(found).startswith(lines[0])


def test_the_source_is_not_changed():
    frame = pd.DataFrame({"day": [dt.date(2021, 1, 1), dt.date(2021, 3, 1)], "x": ["1,5", "2,5"]})
    before = frame.copy()
    read_table(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_laboratory_values_are_no_codes(other):
    """CD4 cells are counted; a code is called cd only at the end of a name."""
    frame = pd.DataFrame(
        {"cd40": np.arange(200, 200 + 7 * N, 7), "region_cd": repeated(11, 12, 13), "other": other}
    )
    assert read_table(frame).kinds["kind"].to_dict() == {
        "cd40": "whole",
        "region_cd": "code",
        "other": "number",
    }


def test_the_flag_beside_a_code_of_numbers_makes_it_a_number(other):
    frame = pd.DataFrame({"zip": np.arange(N) * 37 + 10_000, "other": other})
    kinds = read_table(frame).kinds
    assert (kinds.loc["zip", "kind"], kinds.loc["zip", "change"]) == ("code", "--numeric zip")


@pytest.mark.parametrize("ids", [[f"N{k // 2}A" for k in range(N)], [7 * (k // 2) for k in range(N)]])
def test_names_of_patients_who_come_twice_are_identifiers(other, ids):
    found = read_table(pd.DataFrame({"Patient ID": ids, "visits": repeated(1, 2, 3), "other": other}))
    assert found.kinds.loc["Patient ID", "kind"] == "identifier"


def test_why_text_is_no_number_or_date_is_said(other):
    amounts = [f"{k} {'USD' if k % 2 else 'EUR'}" for k in range(N)]
    days = repeated("27.03.2021", "03.27.2021", *(f"{k:02}.01.2020" for k in range(1, 25)))
    notes = read_table(pd.DataFrame({"paid": amounts, "day": days, "other": other})).notes
    assert "'paid': numbers in several units (EUR, USD); write them in one to have them as numbers" in notes
    assert any(note.startswith("'day': some dates begin with the day and others with") for note in notes)


def test_a_word_among_dates_is_a_slip_and_is_named(other):
    days = pd.Series(pd.date_range("2021-01-01", periods=N).strftime("%d.%m.%Y"))
    days[7] = "next week"
    frame = pd.DataFrame({"seen": days, "other": other})
    with pytest.raises(
        DataError, match=r"'seen' is not a date in row 7: 'next week' \(if that means"
    ) as error:
        read_table(frame)
    assert "--missing seen 'next week'" in str(error.value)
    found = read_table(frame, missing={"seen": ["next week"]})
    assert (found.kinds.loc["seen", "kind"], found.frame["seen"].isna().sum()) == ("date", 1)
    assert read_table(frame, categorical="seen").kinds.loc["seen", "kind"] == "category"


def test_a_table_of_labels_alone_is_refused():
    with pytest.raises(DataError, match="no columns to learn from beside the label 'y'"):
        read_table(pd.DataFrame({"y": ["a", "b"]}), "y")
