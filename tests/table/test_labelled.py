import numpy as np
import pandas as pd
import pytest

from surefoot.datasets import table
from surefoot.exceptions import DataError, MissingDependencyError


@pytest.fixture
def frame():
    return pd.DataFrame({"age": [31, 45, 28], "income": [2.5, 1.0, 1.9], "risk": ["low", "high", "low"]})


def test_frame(frame):
    data = table(frame, "risk")
    assert data.feature_names == ("age", "income")
    assert data.y.tolist() == ["low", "high", "low"]
    assert data.class_names == ("high", "low")
    assert data.X.dtypes.tolist() == [float, float]


def test_csv_with_awkward_names(tmp_path):
    path = tmp_path / "awkward.csv"
    path.write_text('\ufeff"Größe, cm","<b>""x""</b>",y\n1.5,2,a\n2.5,3,b\n', encoding="utf-8")
    data = table(path, "y")
    assert data.feature_names == ("Größe, cm", '<b>"x"</b>')
    assert data.X.iloc[1].tolist() == [2.5, 3]


def test_all_faults_in_one_message(frame):
    bad = pd.concat([frame] * 5, ignore_index=True).astype({"age": object, "income": object})
    bad.loc[1, "age"] = "forty"
    bad.loc[[2, 3, 4, 5, 6], "income"] = "none"
    bad["rate"] = [1.0, np.inf, 1, 1, 1, 1, 1, -np.inf, *range(7)]
    bad["site"] = 7
    bad["empty"] = np.nan
    bad.loc[4, "risk"] = None
    with pytest.raises(DataError) as error:
        table(bad, "risk")
    message = str(error.value)
    assert "column 'age' is not a number in row 1: 'forty'" in message
    assert (
        "column 'income' is not a number in rows 2, 3, 4 and 2 more: 'none' (if it is a category, " in message
    )
    assert "column 'rate' is infinite (inf) in rows 1, 7" in message
    assert "column 'site' is constant (7 in every row)" in message
    assert "column 'empty' is missing in every row; drop it" in message
    assert "label column 'risk' is missing (NaN) in row 4" in message
    assert message.endswith(" (all of these: drop=['site', 'empty'])")
    assert "\n" not in message


def test_every_useless_column_is_named_in_what_to_say(frame):
    """However many there are: nobody wants to be told of eight at a time."""
    names = [f"pixel {i}" for i in range(12)]
    with pytest.raises(DataError) as error:
        table(frame.assign(**dict.fromkeys(names, 0)), "risk")
    assert "; and 4 more (all of these: drop=['pixel 0', 'pixel 1', " in str(error.value)
    assert all(f"'{name}'" in str(error.value) for name in names)
    with pytest.raises(DataError, match=r"column 'site' is constant \(0 in every row\); drop it$"):
        table(frame.assign(site=0), "risk")


def test_dropping_the_faulty_columns_helps(frame):
    frame["note"] = ["x", "y", "z"]
    assert table(frame, "risk", drop=["note"]).feature_names == ("age", "income")


def test_missing_columns(frame):
    with pytest.raises(DataError, match="no label column 'Risk'; the columns are 'age', 'income', 'risk'"):
        table(frame, "Risk")
    with pytest.raises(DataError, match="no column to drop 'id'"):
        table(frame, "risk", drop=["id"])


def test_duplicate_names(frame, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,a,y\n1,2,0\n3,4,1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"twice.csv: column name 'a' occurs more than once"):
        table(path, "y")
    frame.columns = ["a", "a", "risk"]
    with pytest.raises(DataError, match="column name 'a' occurs more than once"):
        table(frame, "risk")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"a,y\n", "there are no rows"),
        (b"y\n1\n2\n", "no feature columns"),
        (b"a,y\n\x00\x01,1\n", "neither text nor a table"),
        (b"\x1f\x8b\x08\x00broken", "not a whole gzip file"),
        (b"PAR1 is not enough", "Parquet"),
        (b"PK\x03\x04 is not enough", "Excel"),
        (b"a,b,y\n1,2,3\n4\n5,6,7\n", "row 1 has 1 field, but the header has 3"),
        (b"a,y\n1,2\n3,4,5\n", r"row 1 has 3 fields, but the header has 2 \(line 3 of the file; text that"),
        (b'a,y\n"1\n",2\n\n3,4,5\n', r"row 1 has 3 fields, but the header has 2 \(line 5 of the file"),
        (b"sep=;\na;y\n1;2\n3;4;5\n", r"row 1 has 3 fields, but the header has 2 \(line 4 of the file"),
        (b"a,y\n1,2,9\n3,4,9\n", "row 0 has 3 fields, but the header has 2"),
        (b"a,y\n1,2,\n3,4,\n", "row 0 has 3 fields"),
        (b",a,y\n0,1,2\n0,3,4\n", "column 1 has no name"),
        (b"\na,a,y\n0,1,2\n1,3,4\n", "column name 'a' occurs more than once"),
    ],
)
def test_broken_files(tmp_path, content, message):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises((DataError, MissingDependencyError), match=message) as error:
        table(path, "y")
    assert str(path) in str(error.value)


def test_missing_file(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        table(tmp_path / "nowhere.csv", "y")


def test_other_separator(tmp_path):
    path = tmp_path / "semicolons.csv"
    path.write_text("a;y\n1;0\n2;1\n", encoding="utf-8")
    assert table(path, "y", separator=";").X["a"].tolist() == [1, 2]
    with pytest.raises(DataError, match="'a;y' \\(another separator\\?\\)"):
        table(path, "y", separator="|")
    with pytest.raises(DataError, match="single character"):
        table(path, "y", separator=";;")
    path.write_text("a\ty\n1\t0\n2\t1\n", encoding="utf-8")
    assert table(path, "y", separator="\\t").X["a"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["01", "1"], ["01", "1"]),
        (["None", "NA"], ["None", "NA"]),
        (["2", "10"], [2, 10]),
        (["True", "False"], [True, False]),
        (["0", "-3"], [0, -3]),
    ],
)
def test_labels_are_read_as_written(tmp_path, labels, expected):
    path = tmp_path / "labels.csv"
    path.write_text("a,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)), encoding="utf-8")
    data = table(path, "y")
    assert data.y.tolist() == expected
    assert data.class_names == tuple(str(c) for c in sorted(expected))


def test_missing_label_in_a_file(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("a,y\n1,x\n2,\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"label column 'y' is missing \(NaN\) in row 1"):
        table(path, "y")


def test_categories_and_holes(frame):
    frame["housing"] = ["rent", None, "own"]
    frame["member"] = [True, False, True]
    frame["zone"] = pd.Categorical(["a", "b", "a"])
    frame["age"] = [31, None, 28]
    X = table(frame, "risk").X
    assert X["housing"].isna().tolist() == X["age"].isna().tolist() == [False, True, False]
    assert X["age"].dtype == float
    assert X["member"].dtype == bool
    assert X["zone"].dtype == "category"


def test_numbers_among_text_are_names_and_text_among_numbers_is_a_fault(frame):
    frame["flat"] = ["A1", "B", "3"]
    assert table(frame, "risk").X["flat"].tolist() == ["A1", "B", "3"]
    frame["flat"] = ["1", "B", "3"]
    with pytest.raises(DataError, match=r"'flat' is not a number in row 1: 'B' \(if it is a category"):
        table(frame, "risk")
    assert table(frame, "risk", categorical=["flat"]).X["flat"].tolist() == ["1", "B", "3"]


def test_text_that_names_the_rows_is_a_fault():
    frame = pd.DataFrame({"age": range(30), "name": [f"Jo {i}" for i in range(30)], "y": ["a", "b"] * 15})
    message = (
        r"'name' holds text that differs in nearly every row \(30 values in 30 rows\); datasets.read_table"
    )
    with pytest.raises(DataError, match=message):
        table(frame, "y")
    assert table(frame, "y", drop="name").feature_names == ("age",)


def test_did_you_mean(frame):
    with pytest.raises(DataError, match=r"no label column 'Risk '.*; did you mean 'risk'"):
        table(frame, "Risk ")
    with pytest.raises(DataError, match=r"no column to drop 'incom'.*; did you mean 'income'"):
        table(frame, "risk", drop="incom")


def test_odd_columns(frame):
    frame["when"] = pd.date_range("2020", periods=3)
    with pytest.raises(DataError, match="column 'when' is not a number"):
        table(frame, "risk")
    frame["when"] = [1 + 2j, 3, 4]
    with pytest.raises(DataError, match="column 'when' is not a number"):
        table(frame, "risk")
    assert table(frame, "risk", drop="when").feature_names == ("age", "income")
    with pytest.raises(DataError, match="label column 'risk' cannot be dropped"):
        table(frame, "risk", drop=["risk"])


def test_whole_numbers_beyond_all_doubles_are_refused_by_row():
    frame = pd.DataFrame({"a": pd.Series([1, 2, 10**400], dtype=object), "y": ["no", "yes", "no"]})
    with pytest.raises(DataError, match=r"'a' is infinite \(inf\) in row 2"):
        table(frame, "y")
