import io
import json
import os
import subprocess
import sys
import warnings

import pytest

from surefoot import ConditionalGaussianNetworkClassifier, __version__
from surefoot.datasets import load_german_credit
from surefoot.datasets.bundled import FOLDER
from surefoot.ui.cli import main
from surefoot.ui.cli.main import say
from surefoot.ui.cli.parser import parser
from surefoot.ui.report.demo import MAY_CHANGE


@pytest.fixture
def fit(tmp_path, capsys):
    """Run ``surefoot fit`` on Pima and return (exit status, model, stdout, stderr)."""

    def run(
        *flags, data=str(FOLDER / "pima.csv"), label="class", model=("--structure", "tan", "--folds", "0")
    ):
        output = tmp_path / "model.json"
        status = main(["fit", str(data), "--label", label, "--output", str(output), *model, *flags])
        model = ConditionalGaussianNetworkClassifier.load(output) if status == 0 else None
        return status, model, *capsys.readouterr()

    return run


def test_demo(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--html", "elsewhere.html"]) == 0
    out, err = capsys.readouterr()
    assert "1,000 people who applied for a loan (300 bad, 700 good risks)" in out
    assert "Predicts as well as gradient boosting" in out
    assert "is refused: the probability" in " ".join(out.split())
    assert "Decided bad: the probability of good is" in out
    assert "below 0 DM -> 200 DM or more" in out
    assert "this is proven" in " ".join(out.split())
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "wrote elsewhere.html" in err
    assert "<img " in (tmp_path / "elsewhere.html").read_text(encoding="utf-8")


def test_the_demo_writes_a_report_beside_the_user():
    assert parser().parse_args(["demo"]).html == "report.html"


def test_the_demo_keeps_what_cannot_change():
    german = load_german_credit()
    assert not {"age", "personal_status", "foreign_worker"} & set(MAY_CHANGE)
    for name, action in MAY_CHANGE.items():
        assert set(action.values or ()) <= set(german.X[name])


def test_fit_prints_the_model_and_says_where_it_is(fit):
    status, model, out, err = fit()
    assert status == 0
    shown, _, rest = out.partition("\n\n")
    assert shown.splitlines()[0].split() == ["column", "read", "as", "why", "to", "change"]
    assert rest.startswith("Conditional Gaussian network, tree (TAN)")
    assert "7: " in out
    assert "wrote" in err
    assert model.dag_.n_edges == 7


def test_every_flag_changes_something(fit, tmp_path):
    assert fit("--structure", "naive")[1].dag_.n_edges == 0
    ban = fit("--structure", "ban")[1]
    capped = fit("--structure", "ban", "--max-parents", "1")[1]
    assert max(len(p) for p in capped.dag_.parents) == 1 < max(len(p) for p in ban.dag_.parents)
    names = list(ban.feature_names_in_)
    assert fit("--root", "age")[1].dag_.parents[names.index("age")] == ()
    assert fit("--root", "plas")[1].dag_.parents[names.index("age")] != ()
    guided = fit("--require", "age", "pedi", "--require", "pedi", "mass", "--forbid", "age", "preg")[1]
    edges = {(names[i], names[j]) for i, j in guided.dag_.edges}
    assert {("age", "pedi"), ("pedi", "mass")} <= edges
    assert ("age", "preg") not in edges
    assert list(fit("--drop", "age", "--drop", "preg")[1].feature_names_in_) == [
        n for n in names if n not in ("age", "preg")
    ]
    semicolons = tmp_path / "semicolons.csv"
    semicolons.write_text(
        (FOLDER / "pima.csv").read_text(encoding="utf-8").replace(",", ";"), encoding="utf-8"
    )
    assert fit("--separator", ";", data=str(semicolons))[0] == 0
    assert fit("--separator", ",", data=str(semicolons))[0] == 2
    assert fit("--drop", "age", "preg")[1].n_features_in_ == len(names) - 2


@pytest.mark.parametrize(
    ("flags", "options", "message"),
    [
        ((), {"label": "diagnosis"}, "no label column 'diagnosis'"),
        ((), {"data": "nowhere.csv"}, "nowhere.csv: cannot be read"),
        (("--root", "height"), {}, "unknown feature 'height'"),
        (("--drop", "height"), {}, "no column to drop 'height'"),
        (("--require", "age", "preg", "--forbid", "age", "preg"), {}, "both required and forbidden"),
        (("--structure", "ban", "--max-parents", "-1"), {}, "--max-parents must be a whole number"),
    ],
)
def test_bad_input_is_one_line_and_status_2(fit, flags, options, message):
    status, _, out, err = fit(*flags, **options)
    assert status == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert err.startswith("surefoot: error: ")


def test_debug_shows_the_traceback(fit):
    assert "Traceback" in fit("--debug", label="diagnosis")[3]


def test_unwritable_output(capsys, tmp_path):
    arguments = [
        "fit",
        str(FOLDER / "pima.csv"),
        "--label",
        "class",
        "--output",
        str(tmp_path / "no" / "m.json"),
    ]
    assert main(arguments) == 2
    assert "no/m.json: No such file or directory" in capsys.readouterr().err


def test_usage_errors(capsys):
    for arguments in (
        [],
        ["fit"],
        ["fit", "x.csv", "--label", "y", "--output", "m", "--structure", "forest"],
    ):
        with pytest.raises(SystemExit) as exit_:
            main(arguments)
        assert exit_.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("surefoot: error: ")
        assert line.endswith(f"see surefoot{''.join(' fit' for _ in arguments[:1])} --help")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["explain", "m", "d", "--row", "0", "--imutable", "age"],
            "unknown flag --imutable (did you mean --immutable?)",
        ),
        (
            ["explain", "m", "d", "--row", "0", "--budgets=3"],
            "unknown flag --budgets (did you mean --budget?)",
        ),
        (["explain", "m", "d", "--row", "0", "--zzz"], "unknown flag --zzz"),
        (["explain", "m", "d", "e", "--row", "0"], "unexpected argument 'e'"),
    ],
)
def test_unknown_flags_come_with_the_one_that_may_be_meant(capsys, arguments, message):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    assert capsys.readouterr().err == f"surefoot: error: {message}; see surefoot explain --help\n"


@pytest.mark.parametrize(
    ("arguments", "example"),
    [
        (["--help"], "surefoot fit loans.csv"),
        (["fit", "--help"], "surefoot fit loans.csv"),
        (["explain", "--help"], "surefoot explain model.json loans.csv --row 3"),
    ],
)
def test_help_has_examples(capsys, arguments, example):
    with pytest.raises(SystemExit):
        main(arguments)
    assert example in capsys.readouterr().out


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"surefoot {__version__}\n"


def test_model_file_is_json(fit, tmp_path):
    fit()
    assert json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))["format"] == "surefoot-model"


def test_names_that_the_terminal_cannot_show(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("größe,y\n1,a\n2,b\n3,a\n4,b\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "surefoot",
        "fit",
        str(path),
        "--label",
        "y",
        "--output",
        str(tmp_path / "m.json"),
        "--structure",
        "naive",
        "--folds",
        "0",
    ]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 0, result.stderr


def test_warnings_are_one_line_and_handlers_are_put_back():
    before = warnings.showwarning
    main(["backends"])
    assert warnings.showwarning is before


def test_backends(capsys):
    assert main(["backends"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert [line.split()[0] for line in lines] == ["gurobi", "highs", "scip"]
    assert all("ready" in line for line in lines)
    assert "inner loops are compiled" in printed.err or "inner loops are in Python" in printed.err


def test_lines_are_broken_between_words_in_a_terminal_only(monkeypatch):
    words = "surefoot: " + "long words " * 20
    for terminal in (True, False):
        stream = io.StringIO()
        stream.isatty = lambda terminal=terminal: terminal
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("COLUMNS", "80")
        say(words)
        lines = stream.getvalue().splitlines()
        assert " ".join(line.strip() for line in lines) == words.strip()
        assert (max(map(len, lines)) <= 80) == terminal


def test_the_next_step_is_a_command_of_its_own(fit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    *_, err = fit()
    assert err.splitlines()[-1] == f"surefoot actions {tmp_path / 'model.json'} --output actions.toml"
