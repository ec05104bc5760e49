"""``surefoot audit``: groups as text, CSV and a page; what is wrong is one line."""

import pandas as pd
import pytest

from surefoot.explain.population.row_job import Job
from surefoot.ui.cli import main
from tests.ui.mixed import toy_model, toy_table

ASK = ("audit", "m.json", "d.csv", "--target", "yes", "--quiet", "--preset", "practical")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    X, y = toy_table(16)
    code = [f"0{k % 2}" if k else "" for k in range(16)]
    X.assign(y=y, code=code, name=[f"=n{k}" for k in range(16)]).to_csv(folder / "d.csv", index=False)
    toy_model().save(folder / "m.json")
    return folder


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def test_everything_is_written(here, capsys):
    outputs = ("--html", "a.html", "--output", "a.csv", "--table", "t.csv", "--id", "name")
    assert main([*ASK, "--by", "code", "--by", "cards:3,5", "--ci", "0.9", *outputs]) == 0
    said = capsys.readouterr()
    assert "of 16 rows are not decided yes" in said.out
    assert "90 % interval" in said.out
    assert "1 row without a value of 'code'" in said.out
    assert "groups are combinations of 'code' and 'cards'; those by one of them alone come first" in said.out
    assert [line for line in said.err.splitlines() if "wrote" in line] == [
        "surefoot: wrote a.csv", "surefoot: wrote t.csv", "surefoot: wrote a.html",
    ]  # fmt: skip
    groups = pd.read_csv("a.csv", dtype=str)
    assert groups.columns[:4].tolist() == ["code", "cards", "rows", "asked"]
    assert groups["code"].tolist()[0] == "(all)"
    assert set(groups["code"][1:]) == {"00", "01", "missing"}  # as it is written, no number
    assert groups["rows"].astype(int).tolist()[0] == groups["rows"].astype(int)[1:].sum() == 16
    table = pd.read_csv("t.csv", dtype=str)
    assert table["row"].tolist() == [f"'=n{k}" for k in range(16)]
    assert "What this does not show" in (here / "a.html").read_text(encoding="utf-8")


def test_of_many_groups_the_text_says_where_all_are(here, capsys):
    flags = ["--html", "many.html", "--by"]
    for by, groups in ((["name"], 16), (["name", "--by", "code"], 16 + 3 + 16)):
        assert main([*ASK, *flags, *by]) == 0
        last = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")][-1]
        assert (last == f"  and {1 + groups - 30} more groups (--html FILE shows them)") == (groups > 29)
        assert "=n15" in (here / "many.html").read_text(encoding="utf-8")


def test_groups_to_standard_output(here, capsys):
    assert main([*ASK, "--output", "-"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("group,rows,asked,found,none")
    assert len(lines) == 2


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--by", "cod"], "there is no column 'cod' (--by); did you mean 'code'?"),
        (["--by", "cards:5,3"], "must rise"),
        (["--by", "cards:a,3"], "must be numbers, not 'a,3'"),
        (["--by", "housing:3"], "bands are for numbers"),
        (["--by", "code", "--by", "code"], "given twice"),
        (["--ci", "95"], "between 0 and 1"),
        (["--jobs", "0"], "--jobs must be"),
        (["--alternatives", "2"], "about one row"),
        (["--save-models", "there"], "writes no proofs"),
        (["--target", "no"], "one target"),
        (["--html", "-"], "cannot go to standard output"),
        (["--html", "a.html", "--output", "a.html"], "same place"),
        (["--by", "a:b"], "no column 'a:b'"),
        (["--restart"], "--restart goes with --output, --table or --html and a file"),
    ],
)
def test_what_is_wrong_is_one_line(here, capsys, flags, message):
    assert main([*ASK, *flags]) == 2
    said = [line for line in capsys.readouterr().err.strip().splitlines() if "read as" not in line]
    assert len(said) == 1
    assert message in said[0]


def test_rows_with_holes_are_told_which_flag_fills_them(here, capsys):
    table = pd.read_csv("d.csv").astype({"income": float})
    table.loc[2, "income"] = float("nan")
    table.to_csv("holes.csv", index=False)
    ask = ["holes.csv" if text == "d.csv" else text for text in ASK]
    assert main([*ask, "--html", "h.html"]) == 0
    said = (
        "1 of 16 rows cannot be read by the model, and are not asked: they have holes, which --impute fills"
    )
    assert said in " ".join(capsys.readouterr().out.split())
    assert said in (here / "h.html").read_text(encoding="utf-8")


OUTPUTS = ("--output", "g.csv", "--html", "page.html", "--table", "lines.csv")


def stopped_after(monkeypatch, count, flags):
    """Stop an audit as Ctrl-C does, after so many rows; which rows it began."""
    done, begun = Job.done, []

    def stop(self, row):
        if len(begun) == count:
            raise KeyboardInterrupt
        begun.append(row.number)
        return done(self, row)

    with monkeypatch.context() as patch:
        patch.setattr(Job, "done", stop)
        assert main([*ASK, *flags]) == 130
    return begun


@pytest.fixture
def undisturbed(here):
    assert main([*ASK, "--by", "cards:3,5", "--output", "w.csv", "--table", "x.csv"]) == 0
    return here


def test_an_audit_that_was_stopped_goes_on(undisturbed, capsys, monkeypatch):
    """Also by other groups: what was searched does not depend on them."""
    before, flags = set(undisturbed.iterdir()), ["--by", "cards:3,5", *OUTPUTS]
    begun = stopped_after(monkeypatch, 5, ["--by", "code", *OUTPUTS])
    begun += stopped_after(monkeypatch, 4, flags)
    assert "finished rows are kept in g.csv.parts, and the same command goes on" in capsys.readouterr().err
    assert begun == list(range(9))
    assert set(undisturbed.iterdir()) - before == {undisturbed / "g.csv.parts"}
    assert main([*ASK, *flags]) == 0
    assert pd.read_csv("g.csv").equals(pd.read_csv("w.csv"))
    assert (
        pd.read_csv("lines.csv").drop(columns="seconds").equals(pd.read_csv("x.csv").drop(columns="seconds"))
    )
    assert set(undisturbed.iterdir()) - before == {undisturbed / name for name in OUTPUTS[1::2]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["--immutable", "income"], "the question"),
        (["--time-limit", "7"], "the time limit has changed since this run began"),
        (["--id", "name"], "the table has changed"),
    ],
)
def test_an_audit_goes_on_only_with_what_it_began_with(here, capsys, monkeypatch, changed, message):
    stopped_after(monkeypatch, 5, ["--html", "g.html"])
    capsys.readouterr()
    assert main([*ASK, "--html", "g.html", *changed]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "--restart" in said
    assert main([*ASK, "--html", "g.html", *changed, "--restart"]) == 0
    assert not (here / "g.html.parts").exists()
