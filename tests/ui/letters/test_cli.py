"""``surefoot letter`` and ``surefoot labels``."""

import json

import pytest

from surefoot.explain.result.batch import Explanations
from surefoot.ui.cli import main
from tests.ui.mixed import refused_rows, toy_model


@pytest.fixture
def folder(tmp_path, monkeypatch):
    clf = toy_model()
    clf.save(tmp_path / "model.json")
    rows = refused_rows(clf, 2)
    rows.loc[:, "income"] = [rows["income"].iloc[0], float("nan")]
    rows.to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def letter(*flags):
    return main(["letter", "model.json", "rows.csv", *flags])


def test_labels_then_a_letter(folder, capsys):
    assert main(["labels", "model.json", "--output", "labels.toml"]) == 0
    text = (folder / "labels.toml").read_text("utf-8").replace('"income"', '"what you earn"')
    (folder / "labels.toml").write_text(text, "utf-8")
    assert main(["labels", "model.json", "--output", "labels.toml"]) == 2  # somebody's words are not lost
    flags = [
        "--row",
        "0",
        "--target",
        "yes",
        "--labels",
        "labels.toml",
        "--language",
        "de",
        "--to",
        "Frau M.",
    ]
    assert letter(*flags, "--output", "a.html", "--json", "a.json") == 0
    assert letter(*flags, "--output", "a.txt") == 0
    assert "what you earn" in (folder / "a.html").read_text("utf-8")
    assert "Für: Frau M." in (folder / "a.txt").read_text("utf-8")
    assert Explanations.from_json((folder / "a.json").read_text("utf-8")).about_one_row
    assert main(["verify", "model.json", "a.json"]) == 0
    assert main(["labels", "model.json"]) == 0
    assert "income = {" in capsys.readouterr().out


def test_a_letter_is_no_pdf(folder, capsys):
    assert letter("--row", "0", "--target", "yes", "--output", "a.pdf") == 2
    assert "a.pdf: letters are HTML (.html) or plain text (.txt)" in capsys.readouterr().err
    assert not (folder / "a.pdf").exists()


def test_a_row_with_a_hole_gets_a_letter_too(folder):
    assert letter("--row", "1", "--target", "yes", "--output", "a.txt") == 0
    assert "- income: missing" in (folder / "a.txt").read_text("utf-8")


def test_all_as_text_by_two_processes(folder, capsys):
    assert letter("--all", "--target", "yes", "--output", "all", "--text", "--jobs", "2", "--quiet") == 0
    assert "2 letters in all: 1 optimal, 1 invalid" in capsys.readouterr().err
    found = {path.name for path in (folder / "all").iterdir()}
    assert found == {"letter-0.txt", "letter-1.txt", "index.html", "journal.jsonl", "request.json", "proofs"}
    assert letter("--all", "--target", "no", "--output", "all", "--text", "--quiet") == 2
    assert "letters of another request (other: --target)" in capsys.readouterr().err
    assert letter("--all", "--target", "no", "--output", "all", "--restart", "--quiet") == 0
    assert json.loads((folder / "all" / "request.json").read_text())["form"] == ".html"
    assert not (folder / "all" / "letter-0.txt").exists()


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--row", "0", "--output", "-"], "cannot go to standard output"),
        (["--row", "0", "--output", "a.html", "--restart"], "--restart goes with --all"),
        (["--all", "--output", "a", "--to", "x"], "--to is about one letter"),
        (["--all", "--output", "model.json"], "not a folder"),
        (["--row", "0", "--output", "model.json"], "is read, so it cannot be written"),
        (["--row", "9", "--output", "a.html"], "has rows 0 to 1"),
        (["--row", "0", "--output", "a.html", "--language", "xx"], "there are no letters in 'xx'"),
        (["--row", "0", "--output", "a.html", "--template", "xx"], "there is no template 'xx'"),
        (["--row", "0", "--output", "a.html", "--labels", "rows.csv"], "rows.csv: is not TOML"),
        (["--row", "0", "--output", "a.html", "--target", "maybe"], "unknown class"),
        (["--row", "0", "--output", "nowhere/a.html"], "No such file or directory"),
    ],
)
def test_what_is_wrong_is_one_line(folder, capsys, flags, complaint):
    assert letter(*flags) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert len(said) == 1
    assert complaint in said[0]
    assert not (folder / "a.html").exists()


def test_a_day_that_is_none(folder, capsys):
    with pytest.raises(SystemExit):
        letter("--row", "0", "--output", "a.html", "--date", "tomorrow")
    assert "must be a day such as 2026-03-31" in capsys.readouterr().err


def test_what_letters_are_made_of_is_printed_too(folder, capsys):
    flags = ["--row", "0", "--target", "yes", "--reasons", "--enough"]
    assert main(["explain", "model.json", "rows.csv", *flags]) == 0
    said = capsys.readouterr().out
    assert "Reasons for no rather than yes" in said
    assert "Enough: " in said
