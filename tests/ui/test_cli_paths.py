"""No output destroys an input, or another output; refused before anything is read."""

import os
import subprocess
import sys

import pytest

from surefoot.ui.cli import main
from tests.thinning import only
from tests.ui.mixed import toy_model, toy_table


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model, its table and a file of actions, as bytes."""
    folder = tmp_path_factory.mktemp("made")
    X, y = toy_table(60)
    X.assign(y=y).to_csv(folder / "d.csv", index=False)
    toy_model().save(folder / "m.json")
    return {name: (folder / name).read_bytes() for name in ("d.csv", "m.json")} | {"a.toml": b"at_most = 2\n"}


@pytest.fixture
def there(made, tmp_path, monkeypatch):
    """A folder with the three files, the working one."""
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys, *arguments):
    """The one line with which a command is refused."""
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1, err
    return err


ROW = ("explain", "m.json", "d.csv", "--row", "0")
ALL = ("explain", "m.json", "d.csv", "--all")


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ((*ROW, "--json", "m.json"), "m.json"),
        ((*ROW, "--html", "d.csv"), "d.csv"),
        ((*ROW, "--html", "./d.csv"), "./d.csv"),
        ((*ROW, "--trade-off", "sub/../m.json"), "sub/../m.json"),
        ((*ROW, "--actions", "a.toml", "--json", "a.toml"), "a.toml"),
        ((*ROW, "--models", "2", "--data", "hard.csv", "--json", "d.csv"), "d.csv"),
        ((*ALL, "--output", "link.csv"), "link.csv"),
        ((*ALL, "--output", "hard.csv"), "hard.csv"),
        (("predict", "m.json", "d.csv", "--output", "d.csv"), "d.csv"),
        (("predict", "m.json", "link.csv", "--output", "d.csv"), "d.csv"),
        (("predict", "m.json", "/dev/fd/0", "--output", "d.csv"), "d.csv"),
        (("fit", "d.csv", "--label", "y", "--output", "d.csv"), "d.csv"),
        (("diagnose", "m.json", "d.csv", "--label", "y", "--html", "m.json"), "m.json"),
        (("actions", "m.json", "--output", "m.json"), "m.json"),
    ],
)
def test_what_is_read_is_not_written(there, made, capsys, arguments, output, monkeypatch):
    os.link("d.csv", "hard.csv")
    os.symlink("d.csv", "link.csv")
    os.mkdir("sub")
    with open("d.csv", encoding="utf-8") as stdin:
        before = os.dup(0)
        os.dup2(stdin.fileno(), 0)
        try:
            err = refused(capsys, *arguments)
        finally:
            os.dup2(before, 0)
            os.close(before)
    assert err.startswith(f"surefoot: error: {output}: is ")
    assert err.endswith("so it cannot be written; give another name\n")
    assert {name: (there / name).read_bytes() for name in made} == made


@pytest.mark.parametrize(
    ("first", "second"),
    [("x.out", "./x.out"), ("x.out", "sub/../x.out"), ("dangling", "x.out"), ("-", "-"), ("old", "hard")],
)
def test_two_outputs_do_not_share_a_file(there, capsys, first, second):
    """Also before the file is there, and where a link will lead to it."""
    os.mkdir("sub")
    os.symlink("x.out", "dangling")
    (there / "old").write_text("old")
    os.link("old", "hard")
    err = refused(capsys, *ROW, "--json", first, "--html", second)
    assert "two outputs cannot go to the same place" in err
    assert not (there / "x.out").exists()


def test_standard_streams_are_files_too(there, made):
    """``surefoot predict m.json - --output d.csv < d.csv``, and what a shell sends to an input."""
    command = [sys.executable, "-m", "surefoot", "predict", "m.json"]
    with open("d.csv", "rb") as table:
        found = subprocess.run(
            [*command, "-", "--output", "d.csv"], stdin=table, capture_output=True, check=False
        )
    assert found.returncode == 2
    assert b"d.csv: is the same file as standard input" in found.stderr
    with open("d.csv", "ab") as table:
        found = subprocess.run([*command, "d.csv"], stdout=table, stderr=subprocess.PIPE, check=False)
    assert found.returncode == 2
    assert b"d.csv: is read, so standard output cannot go there" in found.stderr
    assert (there / "d.csv").read_bytes() == made["d.csv"]
    both = subprocess.run(
        [*command, "-", "--output", "-"], input=made["d.csv"], capture_output=True, check=False
    )
    assert (both.returncode, both.stdout[:14]) == (0, b"row,predicted\n")


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("new/", "new/: is a directory; give the name of a file"),
        ("sub", "sub: cannot be written (is a directory)"),
        ("", "an output needs the name of a file"),
        ("no/where.csv", "no/where.csv: No such file or directory"),
        ("m.json/x", "m.json/x: No such file or directory"),
        ("x" * 300, "File name too long"),
    ],
)
def test_outputs_that_cannot_be_are_refused_at_once(there, capsys, output, message):
    os.mkdir("sub")
    assert message in refused(capsys, "predict", "no model.json", "d.csv", "--output", output)


def test_refits_do_not_overwrite_what_is_read(there, capsys):
    os.mkdir("refits")
    os.rename("m.json", "refits/refit-001.json")
    given = ("--models", "2", "--data", "d.csv", "--save-models", "refits/.")
    err = refused(capsys, "explain", "refits/refit-001.json", "d.csv", "--row", "0", *given)
    assert "refits/refit-001.json: would be overwritten by a refit" in err
    given = ("--save-models", "d.csv")
    assert "d.csv: cannot be written (not a folder)" in refused(capsys, *ROW, *given)


def test_standard_input_is_read_once(there, capsys):
    err = refused(capsys, "explain", "m.json", "-", "--row", "0", "--models", "2", "--data", "-")
    assert "standard input can be read only once" in err


def test_a_link_is_replaced(there, capsys):
    (there / "precious").write_text("precious")
    os.symlink("precious", "out.csv")
    assert main(["predict", "m.json", "d.csv", "--output", "out.csv"]) == 0
    assert (there / "precious").read_text() == "precious"
    assert not (there / "out.csv").is_symlink()
    assert (there / "out.csv").read_text().startswith("row,predicted\n")
    assert sorted(os.listdir()) == ["a.toml", "d.csv", "m.json", "out.csv", "precious"]


@pytest.mark.parametrize(
    "redirected",
    only([">/dev/full", "<&- >&- 2>&-"], [">/dev/full", "2>/dev/full >/dev/full", ">&-", "<&- >&- 2>&-"]),
)
def test_streams_that_are_full_or_closed(there, redirected):
    """One line at most, and never into a file that happens to be opened in the place of a stream."""
    script = f'"{sys.executable}" -m surefoot predict m.json d.csv --output out.csv {redirected}'
    found = subprocess.run(["sh", "-c", script], capture_output=True, check=False, text=True)
    assert found.returncode == 0, found.stderr
    assert (there / "out.csv").read_text().startswith("row,predicted\n0,")
    printed = script.replace("--output out.csv", "")
    found = subprocess.run(["sh", "-c", printed], capture_output=True, check=False, text=True)
    assert found.returncode == (2 if "full" in redirected else 0)
    assert "Traceback" not in found.stderr
    assert "Exception ignored" not in found.stderr
    help_ = f'"{sys.executable}" -m surefoot --help {redirected}'
    assert subprocess.run(["sh", "-c", help_], capture_output=True, check=False).returncode in (0, 2)


def test_a_pipe_that_nobody_reads_is_refused(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    assert main(["fit", "x.csv", "--label", "y", "--output", str(tmp_path / "pipe")]) == 2
    assert "is a pipe that nobody reads" in capsys.readouterr().err


def test_standard_error_does_not_go_into_an_input(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,y\n1,0\n2,1\n")
    before = table.read_bytes()
    command = [sys.executable, "-m", "surefoot", "fit", str(table), "--label", "y"]
    command += ["--output", str(tmp_path / "m.json")]
    with table.open("r+b") as file:
        done = subprocess.run(command, stderr=file, stdout=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert b"so standard error cannot go there" in done.stdout
    assert table.read_bytes() == before


@pytest.mark.parametrize("flag", ["--html", "--trade-off"])
def test_a_page_does_not_go_to_standard_output(tmp_path, monkeypatch, capsys, flag):
    """It went into a file named "-"."""
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "m.json", "d.csv", "--row", "0", flag, "-"]) == 2
    assert "a page cannot go to standard output" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
