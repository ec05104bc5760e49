"""Files that hold more than they seem to, or have no end: one line, soon."""

import gzip
import io
import os
import subprocess
import sys
import time
import zipfile

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, files
from surefoot.exceptions import DataError, ModelFileError
from surefoot.table.reading import Form, read_table
from surefoot.ui.cli import commands, main
from tests.thinning import only
from tests.ui.mixed import toy_model, toy_table


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a model, its table, an explanation and bombs."""
    folder = tmp_path_factory.mktemp("bombs")
    X, y = toy_table(60)
    X.assign(y=y).to_csv(folder / "d.csv", index=False)
    toy_model().save(folder / "m.json")
    (folder / "bomb.csv.gz").write_bytes(gzip.compress(b"0," * 60_000_000, compresslevel=9))
    with zipfile.ZipFile(folder / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", b" " * 80_000_000)
    os.mkfifo(folder / "pipe")
    return folder


@pytest.fixture
def there(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def refused(capsys, *arguments):
    """The one line with which a command is refused, before long."""
    start = time.process_time()
    assert main(list(arguments)) == 2
    assert time.process_time() - start < 10
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1, err
    return err


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/urandom", "pipe", ".", "/dev/null"])
def test_what_has_no_end_is_not_read(there, capsys, place):
    what = "Is a directory" if place == "." else "Is not a regular file"
    for arguments in (
        ("predict", "m.json", place),
        ("predict", place, "d.csv"),
        ("fit", place, "--label", "y", "--output", "x.json"),
        ("explain", "m.json", "d.csv", "--row", "0", "--actions", place),
        ("explain", "m.json", "d.csv", "--row", "0", "--models", "2", "--data", place),
        ("verify", "m.json", place),
        ("verify", "m.json", "m.json", "--models", place),
        ("actions", place),
    ):
        if arguments == ("verify", "m.json", "m.json", "--models", place):
            continue  # the explanation comes first
        if arguments == ("verify", "m.json", "."):
            continue  # the explanations in a folder are read
        err = refused(capsys, *arguments)
        assert f"{place}: cannot be read" in err
        assert what in err


@pytest.mark.parametrize("name", only(["/dev/stdin"], ["-", "/dev/stdin"]))
def test_standard_input_may_be_a_pipe_but_no_device(there, name):
    command = [sys.executable, "-m", "surefoot", "predict", "m.json"]
    table = (there / "d.csv").read_bytes()
    found = subprocess.run([*command, name], input=table, capture_output=True, check=False)
    assert (found.returncode, found.stdout[:14]) == (0, b"row,predicted\n"), found.stderr
    with open("/dev/zero", "rb") as zero:
        found = subprocess.run([*command, name], stdin=zero, capture_output=True, check=False, timeout=60)
    assert found.returncode == 2
    assert found.stderr.count(b"\n") == 1


@pytest.mark.parametrize("bomb", ["bomb.csv.gz", "bomb.xlsx"])
def test_bombs(there, capsys, bomb):
    err = refused(capsys, "predict", "m.json", bomb)
    assert f"{bomb}: " in err
    assert "it unpacks to more than " in err
    assert "times its size; --max-size (max_size=) sets another limit" in err
    err = refused(capsys, "predict", "m.json", bomb, "--max-size", "70M")
    assert "unpacked, it has more than 70,000,000 bytes" in err


def test_a_limit_that_is_set_lifts_that_of_the_ratio(there, capsys):
    err = refused(capsys, "predict", "m.json", "bomb.xlsx", "--max-size", "200M")
    assert "bytes" not in err  # read, and found to be no workbook


def test_a_cell_far_off_makes_no_table_of_billions(there, capsys):
    book, content = io.BytesIO(), {}
    pd.DataFrame({"a": [1], "b": [2]}).to_excel(book, index=False)
    with zipfile.ZipFile(book) as packed:
        content = {name: packed.read(name) for name in packed.namelist()}
    sheet = content["xl/worksheets/sheet1.xml"]
    for row in (b"1048576", b"99999999999"):
        far = sheet.replace(b'r="2"', b'r="%s"' % row).replace(b'r="B2"', b'r="XFD1048576"')
        content["xl/worksheets/sheet1.xml"] = far
        with zipfile.ZipFile("far.xlsx", "w") as packed:
            for name, part in content.items():
                packed.writestr(name, part)
        assert "sheet 'Sheet1' has cells too far off" in refused(capsys, "predict", "m.json", "far.xlsx")


def test_a_column_that_repeats_one_value(there, capsys):
    """Half a megabyte of Parquet is a gigabyte of rows."""
    table = pd.DataFrame({"a": np.zeros(1_000_000), "b": np.zeros(1_000_000)})
    table.to_parquet("zeros.parquet")
    err = refused(capsys, "predict", "m.json", "zeros.parquet", "--max-size", "10M")
    assert "unpacked, it has more than 10,000,000 bytes" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "d.csv", "--label", "y", "--output", "x.json"),
        ("predict", "m.json", "d.csv"),
        ("diagnose", "m.json", "d.csv", "--label", "y"),
        ("actions", "m.json"),
        ("explain", "m.json", "d.csv", "--row", "0"),
        ("verify", "m.json", "d.csv"),
    ],
)
def test_every_file_has_a_limit(there, capsys, arguments):
    err = refused(capsys, *arguments, "--max-size", "1K")
    assert "cannot be read (it has more than 1,000 bytes; --max-size (max_size=) sets another limit)" in err


@pytest.mark.parametrize("size", ["0", "-1", "x", "1.5G", "", "G", "9" * 40, "\u0663"])
def test_sizes_that_are_none(capsys, size):
    with pytest.raises(SystemExit, match="2"):
        main(["actions", "m.json", f"--max-size={size}"])
    assert "such as 500M or 4G" in capsys.readouterr().err


def test_limits_of_the_library(there, monkeypatch):
    with pytest.raises(DataError, match="more than 100 bytes"):
        read_table("d.csv", Form(max_size=100))
    with pytest.raises(ModelFileError, match="more than 100 bytes"):
        ConditionalGaussianNetworkClassifier.load("m.json", max_size=100)
    monkeypatch.setattr(files, "LARGEST", 1000)
    with pytest.raises(ModelFileError, match="more than 1,000 bytes"):
        ConditionalGaussianNetworkClassifier.load("m.json")
    # What packs well is read all the same while it is small.
    with gzip.open("same.csv.gz", "wt") as file:
        file.write("a,b\n" + "1,2\n" * 100_000)
    monkeypatch.setattr(files, "LARGEST", 2_000_000_000)
    assert len(read_table("same.csv.gz").frame) == 100_000


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "surefoot: error: not enough memory\n"),
        (
            RecursionError("too deep"),
            "surefoot: error: unexpected RecursionError: too deep; --debug shows where",
        ),
        (KeyError("a\nb"), "surefoot: error: unexpected KeyError: 'a\\nb'; --debug shows where"),
        (AssertionError(), "surefoot: error: unexpected AssertionError: ; --debug shows where"),
        (OSError("no number"), "surefoot: error: no number\n"),
    ],
)
def test_whatever_is_unforeseen_ends_in_a_line(capsys, monkeypatch, error, line):
    def fails(_):
        raise error

    monkeypatch.setitem(commands.COMMANDS, "backends", fails)
    assert main(["backends"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(line)
    assert err.count("\n") == 1
    assert main(["backends", "--debug"]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err
