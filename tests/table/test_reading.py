"""Every way in which people have their tables."""

import gzip
import io
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from surefoot import datasets
from surefoot.exceptions import DataError, MissingDependencyError
from surefoot.table.labelled import feature_table, table
from surefoot.table.reading import Form, read_table
from surefoot.table.stream import streamed


@pytest.fixture
def file(tmp_path):
    """Write a file and return its path."""

    def write(content, encoding="utf-8", name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


def read(path, **form):
    return read_table(path, Form(**form))


def test_a_plain_table_needs_no_word(file):
    reading = read(file("age,housing,y\n31,rent,a\n45,own,b\n"))
    assert reading.assumed == ()
    assert reading.frame.columns.tolist() == ["age", "housing", "y"]
    assert reading.frame["housing"].tolist() == ["rent", "own"]
    assert str(reading).endswith("data.csv read as: comma; 2 rows, 3 columns")


@pytest.mark.parametrize(
    ("separator", "word"), [(";", "semicolon"), ("\t", "tab"), ("|", "vertical bar"), (",", None)]
)
def test_separators(file, separator, word):
    text = "age,income,y\n31,2.5,a\n45,1,b\n".replace(",", separator)
    reading = read(file(text))
    assert reading.frame["income"].tolist() == [2.5, 1]
    assert reading.assumed == ((word,) if word else ())


def test_a_separator_that_also_stands_in_names_or_text(file):
    assert read(file("size, cm;y\n1,5;0\n2,5;1\n")).frame.columns.tolist() == ["size, cm", "y"]
    reading = read(file('note,age,y\n"a;b",1,0\n"c;d",2,1\n'))
    assert reading.frame["note"].tolist() == ["a;b", "c;d"]
    assert read(file("sep=;\na;y\n1;2\n")).frame.columns.tolist() == ["a", "y"]


def test_decimal_commas(file):
    reading = read(file("size;weight;y\n1,5;3;a\n2;4;b\n-0,25;1,5e2;b\n"))
    assert reading.frame["size"].tolist() == [1.5, 2, -0.25]
    assert reading.frame["weight"].tolist() == [3, 4, 150]
    assert reading.assumed == ("semicolon", "decimal comma")


def test_decimal_commas_that_begin_late(file):
    rows = "".join(f"{i};{i % 7};x\n" for i in range(3000))
    reading = read(file(f"a;b;y\n{rows}1,5;1;x\n"))
    assert reading.frame["a"].iloc[-1] == 1.5
    assert reading.frame["a"].dtype == float


def test_decimal_commas_in_quotes(file):
    assert read(file('a,y\n"1,5",0\n"2,25",1\n')).frame["a"].tolist() == [1.5, 2.25]


def test_grouped_digits(file):
    reading = read(file("income;y\n1.234,50;a\n12.345.678,00;b\n5;b\n"))
    assert reading.frame["income"].tolist() == [1234.5, 12345678, 5]
    reading = read(file('income,rate,y\n"1,234",0.5,a\n"12,345",1,b\n'))
    assert reading.frame["income"].tolist() == [1234, 12345]


def test_numbers_that_can_be_read_in_two_ways_are_refused(file):
    path = file("income;y\n1,234;a\n2,345;b\n")
    with pytest.raises(DataError, match="column 'income': '1,234' can be read in two ways; say --decimal"):
        read(path)
    assert read(path, decimal=",").frame["income"].tolist() == [1.234, 2.345]
    assert read(path, decimal=".").frame["income"].tolist() == [1234, 2345]


def test_decimal_commas_beside_points_that_group_digits(file):
    path = file("a;b;y\n1,5;1.234;x\n2,5;2.345;z\n")
    assert read(path).frame["b"].tolist() == [1234, 2345]
    assert read(path, decimal=",").frame["b"].tolist() == [1234, 2345]
    with pytest.raises(DataError, match="but the decimal sign is a point"):
        read(path, decimal=".")


@pytest.mark.parametrize(
    ("encoding", "word"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("latin-1", "latin-1"),
        ("cp1252", "windows-1252"),
        ("utf-16", "utf-16"),
    ],
)
def test_encodings(file, encoding, word):
    euro = "€" if encoding != "latin-1" else "ü"
    reading = read(file(f"größe,währung\n1,{euro}\n2,DM\n", encoding))
    assert reading.frame.columns.tolist() == ["größe", "währung"]
    assert reading.frame["währung"].tolist() == [euro, "DM"]
    assert reading.assumed == ((word,) if word else ())


def test_bytes_that_windows_does_not_know_either(file):
    assert read(file(b"a,y\n\xff\x81,1\n")).assumed == ("latin-1",)


def test_gzip(file):
    packed = gzip.compress(b"a;y\n1,5;0\n2,5;1\n")
    for name in ("data.csv.gz", "data.csv"):
        reading = read(file(packed, name=name))
        assert reading.frame["a"].tolist() == [1.5, 2.5]


def test_lines_end_as_they_like(file):
    for end in ("\n", "\r\n", "\r"):
        assert read(file(f"a,y{end}1,x{end}2,z{end}")).frame["y"].tolist() == ["x", "z"]


def test_names_of_rows_are_left_out(file):
    frame = pd.DataFrame({"age": [31, 45], "y": ["a", "b"]})
    for index in ([0, 1], ["ann", "bob"]):
        reading = read(file(frame.set_axis(index).to_csv()))
        assert reading.frame.columns.tolist() == ["age", "y"]
        assert reading.frame["age"].tolist() == [31, 45]
        assert reading.notes == ("column 1 left out: it has no name and differs in every row",)
    assert read(file('"";"age";"y"\n"7";1,5;"a"\n"8";2,5;"b"\n')).frame["age"].tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    "text", [",age\n1,2\n1,3\n", ",age\n1.5,2\n2.5,3\n", ",age\n1,2\n,3\n", "age,\n1,2\n3,4\n", '""\n1\n2\n']
)
def test_other_columns_need_a_name(file, text):
    with pytest.raises(DataError, match=r"column [12] has no name"):
        read(file(text))


def test_a_first_row_of_data_is_refused_unless_said(file):
    path = file("31,rent,good\n45,own,bad\n")
    message = "the first row looks like data, not like names: '31', 'rent', 'good'; say --no-header"
    with pytest.raises(DataError, match=message):
        read(path)
    reading = read(path, header=False)
    assert reading.frame.columns.tolist() == ["column_1", "column_2", "column_3"]
    assert reading.frame["column_1"].tolist() == [31, 45]
    assert reading.assumed == ("no header",)
    assert read(path, header=True).frame.columns.tolist() == ["31", "rent", "good"]
    assert table(path, "column_3", header=False).class_names == ("bad", "good")
    with pytest.raises(DataError, match="row 1 has 2 fields, but the first row has 3"):
        read(file("1,2,3\n4,5\n"), header=False)


def test_numbers_are_names_where_the_table_is_known_to_have_them(file):
    path = file("0,1,2,class\n5,6,7,a\n6,7,8,b\n")
    with pytest.raises(DataError, match="looks like data"):
        read(path)
    assert table(path, "class").feature_names == ("0", "1", "2")
    assert feature_table(path, [0, 1, 2]).columns.tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="looks like data"):
        table(file("1,2,8\n3,4,9\n"), "8")


def test_blanks_around_names_labels_and_values(file):
    path = file("age , housing,y \n31, rent ,bus \n 45,own,opel\n28,rent,bus\n")
    data = table(path, "y")
    assert data.feature_names == ("age", "housing")
    assert data.X["age"].tolist() == [31, 45, 28]
    assert data.X["housing"].tolist() == ["rent", "own", "rent"]
    assert data.y.tolist() == ["bus", "opel", "bus"]
    (note,) = read(path, as_written=["y"]).notes
    assert note == "blanks removed around values of 'housing' and 1 more column"


@pytest.mark.parametrize("hole", ["", "NA", "?", "nan", " ? ", "n/a"])
def test_holes(file, hole):
    path = file(f"age,housing,y\n31,rent,a\n{hole},{hole},b\n28,own,b\n")
    X = table(path, "y").X
    np.testing.assert_array_equal(X["age"], [31, np.nan, 28])
    assert X["housing"].isna().tolist() == [False, True, False]
    assert X["housing"].dropna().tolist() == ["rent", "own"]
    assert "2 missing values in 'age' and 1 more column" in read(path).notes


def test_labels_are_never_holes(file):
    assert table(file("a,y\n1,NA\n2,?\n"), "y").y.tolist() == ["NA", "?"]


def test_named_categories_keep_what_is_written(file):
    path = file("zip,code,a,y\n01234,1,3,x\n98765,2,4,z\n?,1,5,x\n")
    X = table(path, "y", categorical=["zip", "code"]).X
    assert X["zip"].dropna().tolist() == ["01234", "98765"]
    assert X["zip"].isna().tolist() == [False, False, True]
    assert X["code"].tolist() == [1, 2, 1]
    assert table(path, "y").X["zip"].iloc[0] == 1234


def test_booleans_are_kept(file):
    X = table(file("member,sure,y\nTrue,TRUE,a\nFalse,?,b\n"), "y", drop="sure").X
    assert X["member"].tolist() == [True, False]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a;y\n1;x\n2;z\n")))
    reading = read("-")
    assert str(reading) == "standard input read as: semicolon; 2 rows, 2 columns"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(DataError, match="standard input: the file is empty"):
        read("-")


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "german.parquet"
    german = datasets.load_german_credit()
    german.X.assign(risk=german.y).to_parquet(path)
    data = table(path, "risk")
    assert data.feature_names == german.feature_names
    assert data.X["housing"].tolist() == german.X["housing"].tolist()
    assert data.X["age"].tolist() == german.X["age"].tolist()
    assert data.y.tolist() == german.y.tolist()
    assert read(path).assumed == ("Parquet",)
    german.X.head(3).set_axis(pd.Index(["x", "y", "z"], name="customer")).to_parquet(path)
    assert feature_table(path, ["age"], label="customer").index.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ("Loans 2021\n\n", ""),
        ("Loans 2021\n", "1 line above the names left out"),
        ("Person,,\n", "1 line above the names left out"),
        ("Loans 2021,,\n,,\n", "2 lines above the names left out"),
        (
            "# from the register\nLoans 2021\n",
            "1 line of comments at its top left out, 1 line above the names ",
        ),
    ],
)
def test_lines_above_the_names_are_left_out_where_the_names_are_known(file, above, said):
    path = file(f"{above}age,housing,y\n31,rent,a\n45,own,b\n")
    whole, chunks = read(path, expected=["y"]), streamed(path, Form(expected=["age", "housing"]))
    assert whole.frame.columns.tolist() == ["age", "housing", "y"]
    assert said in str(whole)
    assert said in chunks.said
    pd.testing.assert_frame_equal(next(chunks.chunks(9)).reading.frame, whole.frame)
    with pytest.raises(DataError):
        read(path)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"age": 31, "y": 1}', "JSON"),
        ('[{"age": 31}]', "JSON"),
        ('[\n  {\n    "age": 31\n  }\n]', "JSON"),
        ("\n<HTML><table>", "a web page"),
        ("<?xml v", "XML"),
    ],
)
def test_what_is_no_table_is_called_what_it_is(file, text, what):
    for reader in (read, streamed):
        with pytest.raises(DataError, match=f"data.csv: is {what}, which is not read; write the table"):
            reader(file(text))


def test_a_remark_below_the_table_is_called_one(file):
    with pytest.raises(
        DataError, match=r"row 1 has 1 field, .* \(line 4 of the file; if it is a remark, leave"
    ):
        read(file("a,b,c\n1,2,3\n\nSource: our own\n"))


def test_a_class_in_the_place_of_the_label_is_no_line_of_names(file):
    path = file("housing,risk\nrent,good\nown,bad\n")
    assert read(path, expected=["good"]).frame.columns.tolist() == ["housing", "risk"]


def test_rows_in_utf_8_and_rows_as_windows_writes_them_are_both_read(file):
    text = "city,y\n" + "Köln,1\nZürich,0\nMalmö „x“,1\n" * 9
    lines = text.encode().splitlines(keepends=True)
    path = file(
        b"".join(lines[:9]) + text.encode("cp1252").splitlines(keepends=True)[9] * 30 + b"\xc9\x81t\xe9,0\n"
    )
    found = read(path)
    assert set(found.frame["city"]) == {"Köln", "Zürich", "Malmö „x“", "\u0241té"}
    assert found.assumed == ("utf-8 and windows-1252",)
    chunks = streamed(path)
    assert chunks.assumed == found.assumed
    pd.testing.assert_frame_equal(next(chunks.chunks(99)).reading.frame, found.frame)
    assert read(
        file(
            "city,y\nÉCOLE CAFÉ”,1\nété à la plage près du café, 0\n".replace(", 0", ",0").encode("cp1252")
            + "pâté frappé pêché,1\n".encode("cp1252") * 3
        )
    ).assumed == ("windows-1252",)


def test_merged_cells_have_their_value_and_the_sheet_with_the_names_is_read(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["Read me"])
    sheet = book.create_sheet("loans")
    for row in (
        ["Loans", None, None],
        ["age", "city", "y"],
        [31, "Köln", 1],
        [45, None, 0],
        [28, "Bonn", 1, None, 9],
    ):
        sheet.append(row)
    for cells in ("A1:C1", "B3:B4", "H8:H9"):
        sheet.merge_cells(cells)
    book.save(tmp_path / "t.xlsx")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match="has no name"):
            read(tmp_path / "t.xlsx", expected=["y"])
    sheet.cell(5, 5).value = None
    book.save(tmp_path / "t.xlsx")
    found = read(tmp_path / "t.xlsx", expected=["y"])
    assert found.frame["city"].tolist() == ["Köln", "Köln", "Bonn"]
    how = ("Excel", "sheet 'loans' of 2", "merged cells as their value", "1 line above the names left out")
    assert found.assumed == how


def test_lists_name_rows_as_text(tmp_path):
    pd.DataFrame({"age": [1.0, 2.0], "who": [[7], [8, 9]]}).to_parquet(tmp_path / "t.parquet")
    assert feature_table(tmp_path / "t.parquet", ["age"], label="who").index.tolist() == ["[7]", "[8 9]"]


def test_excel(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "loans.xlsx"
    frame = pd.DataFrame({"age": [31, None, 28], "housing": ["rent ", "own", "?"], "y": ["NA", "b", "b"]})
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="loans", index=False)
        frame.to_excel(book, sheet_name="other", index=False)
    data = table(path, "y")
    np.testing.assert_array_equal(data.X["age"], [31, np.nan, 28])
    assert data.X["housing"].dropna().tolist() == ["rent", "own"]
    assert data.y.tolist() == ["NA", "b", "b"]
    assert read(path).assumed[:2] == ("Excel", "sheet 'loans' of 2")
    frame.to_excel(path, index=False, header=False)
    with pytest.raises(DataError, match="looks like data"):
        read(path)
    assert read(path, header=False).frame.columns.tolist() == ["column_1", "column_2", "column_3"]


@pytest.mark.parametrize(
    ("content", "package"), [(b"PAR1....PAR1", "pyarrow"), (b"PK\x03\x04....", "openpyxl")]
)
def test_a_missing_reader_is_answered_with_the_pip_line(file, monkeypatch, content, package):
    for module in (package, f"{package}.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingDependencyError, match=f"data.csv: .*files need {package}: pip install {package}"
    ):
        read(file(content))


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"decimal": ":"}, "decimal must be ',' or '.'"),
        ({"decimal": ",", "separator": ","}, "cannot separate both"),
        ({"separator": ";;"}, "single character"),
    ],
)
def test_forms_that_make_no_sense(form, message):
    with pytest.raises(DataError, match=message):
        Form(**form)


def test_missing_features_and_names_of_rows(file):
    path = file("Age,sex,name\n1,m,x\n2,f,z\n")
    with pytest.raises(DataError, match="no column 'age', which the model needs; did you mean 'Age'"):
        feature_table(path, ["age", "sex"])
    with pytest.raises(DataError, match="no column 'Name' to name the rows by; did you mean 'name'"):
        feature_table(path, ["sex"], label="Name")
    with pytest.raises(DataError, match=r"\(another separator\?\)"):
        feature_table(file("a b c\n1 2 3\n"), ["a", "b"])


@pytest.mark.parametrize("end", [",,\n", ",\t,\n"])
def test_empty_columns_without_a_name_are_left_out(file, end):
    path = file("a,y" + ",,\n" + "".join(f"{k},x{end}" for k in range(5)))
    assert read(path).frame.columns.tolist() == ["a", "y"]
    assert next(iter(streamed(path).chunks(2))).reading.frame.columns.tolist() == ["a", "y"]


def test_a_value_in_a_column_without_a_name_is_named(file):
    path = file("a,,y\n1,,x\n2,7,x\n")
    with pytest.raises(DataError, match="column 2 has no name, and row 1 holds '7'"):
        read(path)
    with pytest.raises(DataError, match="column 2 has no name, and row 1 holds '7'"):
        list(streamed(path).chunks(1))


@pytest.mark.parametrize(
    ("head", "count"), [("# exported, today\n#\n", 2), ("#end of month\r\n", 1), ("sep=,\n# all\n", 1)]
)
def test_comments_at_the_top_are_left_out_and_that_is_said(file, head, count):
    path = file(f"{head}age,y\n31,a\n45,b\n47\n")
    with pytest.raises(DataError, match=f"line {head.count(chr(10)) + 4} of the file"):
        read(path)
    path = file(f"{head}age,y\n31,a\n45,b\n")
    reading = read(path)
    assert reading.frame["age"].tolist() == [31, 45]
    said = f"{count} line{'s' * (count > 1)} of comments at its top left out"
    assert reading.notes == (said,)
    assert said in streamed(path).said
    assert next(iter(streamed(path).chunks(9))).reading.frame["age"].tolist() == [31, 45]


def test_a_name_may_begin_with_a_number_sign(file):
    assert read(file("#,age\n1,31\n2,45\n")).frame.columns.tolist() == ["#", "age"]
    wheels = read(file("# of wheels,color,label\nfour,red,yes\ntwo,blue,no\n"))
    assert wheels.frame.columns.tolist() == ["# of wheels", "color", "label"]
    assert len(wheels.frame) == 2
    by_numpy = read(file("# made today\n# beds,# baths,price\n3,2,100\n4,1,90\n"))
    assert by_numpy.frame.columns.tolist() == ["# beds", "# baths", "price"]


def test_titles_and_open_quotes_are_told_from_other_faults(file):
    with pytest.raises(DataError, match="the header has 1; if it is a title, leave it out"):
        read(file("Loans in 2024\nage,y\n31,a\n"))
    with pytest.raises(DataError, match=r"lines 3 to 5 of the file; is a quote not closed"):
        read(file('age,y\n31,a\n"45,b\n47,a\n48,b\n'))
    with pytest.raises(DataError, match=r"a quote is not closed; it begins in line 3 of the file"):
        read(file('age,y\n31,a\n45,"b\n47,a\n48,b'))


def test_months_with_a_point_are_no_decimals(tmp_path):
    path = tmp_path / "cars.csv"
    path.write_text("first;price\n03.2012;1,5\n11.2013;2,5\n10.2010;4\n")
    table = read_table(path)
    assert table.frame["first"].tolist() == ["03.2012", "11.2013", "10.2010"]
    assert table.frame["price"].tolist() == [1.5, 2.5, 4.0]
    path.write_text("first,price\n3.2012,1.5\n11.2013,2.5\n10.2010,4\n")
    assert read_table(path).frame["first"].tolist() == ["3.2012", "11.2013", "10.2010"]
    path.write_text("share,price\n3.2012,1.5\n11.2013,2.5\n10.2510,4\n")  # no month of a year
    assert read_table(path).frame["share"].tolist() == [3.2012, 11.2013, 10.251]
    path.write_text("first,price\n3.2012,1.5\n")
    assert read_table(path, Form(as_text=["first"])).frame["first"].tolist() == ["3.2012"]
