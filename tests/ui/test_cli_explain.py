"""``surefoot explain``: every flag changes something."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Explanation, Explanations, datasets, verify
from surefoot.datasets.bundled import FOLDER
from surefoot.ui.cli import main
from surefoot.ui.cli.parser import parser
from tests.asking import PLAIN_FLAGS

DATA = str(FOLDER / "pima.csv")
WHOLE = ("preg", "plas", "pres", "skin", "insu", "age")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    pima = datasets.load_pima()
    ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y).save(path)
    return str(path)


def plain(flags, model_file):
    """The settings of most tests, whatever presets say; flags that come later win."""
    exact = [] if "--budget-of" in flags else ["--budget", "0"]
    kept = ["--free", "preg", "pedi", "age"] if model_file.endswith("model.json") else []
    return [*PLAIN_FLAGS, *exact, *kept]


@pytest.fixture
def explain(model, capsys):
    """Run ``surefoot explain`` and return (exit status, stdout, stderr)."""

    def run(*flags, data=DATA, model_file=model):
        status = main(["explain", model_file, data, *plain(flags, model_file), *flags])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def explanation(explain):
    """The explanation of row 0 under some flags."""

    def run(*flags, row="0"):
        status, out, err = explain("--row", row, "--json", "-", *flags)
        assert status in (0, 1), err
        return Explanation.from_json(out)

    return run


def test_one_row(explain):
    status, out, err = explain("--row", "0", "--budget", "0.05")
    assert status == 0
    assert out.startswith("Decided 1: the probability of 0 is")
    assert err == ""


def test_json_and_html(explain, tmp_path, model):
    page, file = tmp_path / "report.html", tmp_path / "e.json"
    status, out, err = explain("--row", "3", "--json", str(file), "--html", str(page))
    assert status == 0
    assert "Decided" in out
    assert err.count("wrote") == 2
    e = Explanation.from_json(file.read_text(encoding="utf-8"))
    assert e.row == 3
    assert verify(e, ConditionalGaussianNetworkClassifier.load(model)).ok
    assert page.read_text(encoding="utf-8").count("<img ") >= 4
    assert main(["verify", model, str(file)]) == 0


def test_what_the_question_flags_change(explanation):
    plain = explanation()
    assert plain.budget == 0
    robust = explanation("--budget", "0.1")
    assert robust.distance > plain.distance
    assert robust.certified_radius >= 0.1
    assert explanation("--norm", "2").norm == 2
    assert explanation("--norm", "1").distance > explanation("--norm", "2").distance > plain.distance
    assert explanation("--threshold", "0.8").probability >= 0.8
    assert explanation("--whitening", "dag").whitening == "dag"
    assert explanation("--target", "1").status == "already_target"
    assert explanation("--target", "0").target == 0


def test_what_the_action_flags_change(explanation):
    plain = explanation()
    assert explanation("--immutable", "plas").counterfactual["plas"] == plain.factual["plas"]
    assert plain.counterfactual["plas"] < plain.factual["plas"]
    assert explanation("--increasing", "plas").counterfactual["plas"] >= plain.factual["plas"]
    assert plain.counterfactual["insu"] > plain.factual["insu"]
    assert explanation("--decreasing", "insu").counterfactual["insu"] <= plain.factual["insu"]
    held = explanation("--bound", "plas", "140", "-", "--bound", "mass", "-", "33")
    assert held.counterfactual["plas"] >= 140
    assert held.counterfactual["mass"] <= 33
    free = explanation("--bounds", "none", row="3")
    assert np.isinf(free.low).all()
    assert free.distance < explanation(row="3").lower_bound


def test_whole_numbers_and_values(explanation):
    plain = explanation()
    assert plain.counterfactual["plas"] % 1 == 0
    assert plain.counterfactual["mass"] % 1 != 0
    assert explanation("--fractional", *WHOLE).counterfactual["plas"] % 1 != 0
    whole = explanation("--whole", "mass", "pedi").counterfactual
    assert whole["mass"] % 1 == 0 or whole["mass"] == plain.factual["mass"]
    listed = explanation("--values", "plas", "100", "120.5", "130", "--values", "insu", "0")
    assert listed.counterfactual["plas"] in (100, 120.5, 130, plain.factual["plas"])
    assert listed.counterfactual["insu"] in (0, plain.factual["insu"])


def test_presets(explanation, explain):
    paper = explanation("--preset", "paper", "--no-printable")
    assert paper.question.declared["preset"]["name"] == "paper"
    assert explanation("--free", "insu").question.declared["preset"]["kept"] == []
    assert explanation("--printable").counterfactual["mass"] == round(
        explanation("--printable").counterfactual["mass"], 3
    )
    assert len(explanation("--at-most", "2").changed) <= 2
    status, out, _ = explain("--row", "0", "--budget", "50")
    assert status == 1
    assert "Caution: The budget is an error of up to 50 standard deviations" in out


def test_how_far_features_may_miss(explanation, explain):
    noisy = explanation("--budget-of", "plas", "5", "--budget-of", "mass", "0.5")
    assert noisy.budget == {"plas": (5.0, 5.0), "mass": (0.5, 0.5)}
    assert noisy.coverage == 1
    exact = explanation("--budget", "0.1", "--immutable", "age")
    assert exact.question.exact == (list(exact.factual.index).index("age"),)
    assert explanation("--budget", "0.1", "--immutable", "age", "--noise-on", "all").question.exact == ()


def test_what_the_solving_flags_change(explanation):
    assert explanation("--method", "qcqp").backend == "scip"
    assert explanation("--method", "qcqp", "--backend", "gurobi").backend == "gurobi"
    coarse, fine = (
        explanation(
            "--fractional",
            *WHOLE,
            "--method",
            "milp",
            "--budget",
            "0.05",
            "--segments",
            m,
            "--time-limit",
            "60",
            "--gap",
            "0.2",
        )
        for m in ("4", "12")
    )
    assert coarse.method == fine.method == "milp"
    assert coarse.iterations != fine.iterations
    quick = explanation(
        "--fractional",
        *WHOLE,
        "--method",
        "milp",
        "--budget",
        "0.05",
        "--contraction",
        "0.9",
        "--segments",
        "4",
        "--gap",
        "0.2",
    )
    assert quick.iterations != coarse.iterations
    loose = explanation(
        "--fractional",
        *WHOLE,
        "--method",
        "milp",
        "--budget",
        "0.05",
        "--segments",
        "4",
        "--gap",
        "0.2",
        "--tol",
        "0.5",
    )
    assert loose.violation > coarse.violation
    assert explanation("--gap", "0.5").gap > explanation("--gap", "0.00001").gap
    assert explanation("--time-limit", "0").status.with_point == "time_limit"


def test_all_rows(explain, tmp_path, model):
    data = tmp_path / "rows.csv"
    datasets.load_pima().X.head(12).to_csv(data, index=False)
    table, file, page = tmp_path / "out.csv", tmp_path / "out.json", tmp_path / "out.html"
    flags = ("--all", "--output", str(table), "--json", str(file), "--html", str(page), "--jobs", "2")
    flags += ("--fractional", *WHOLE)
    status, out, err = explain(*flags, data=str(data))
    assert status == 0
    assert out == ""
    assert "explaining: 100%" in err
    assert "12 explanations: 12 optimal" in err
    frame = pd.read_csv(table)
    explanations = Explanations.from_json(file.read_text(encoding="utf-8"))
    assert frame["row"].tolist() == [e.row for e in explanations] == list(range(12))
    assert frame["counterfactual: plas"].tolist() == [e.counterfactual["plas"] for e in explanations]
    assert page.read_text(encoding="utf-8").count("<article>") == 12
    _, out, err = explain("--all", "--quiet", "--fractional", *WHOLE, data=str(data))
    assert "explaining" not in err
    assert "12 explanations: 12 optimal" in err
    assert len(list(csv.reader(io.StringIO(out)))) == 13
    _, out, _ = explain("--all", "--quiet", "--json", "-", "--fractional", *WHOLE, data=str(data))
    assert len(json.loads(out)) == 12
    assert main(["verify", model, str(file)]) == 0


def test_rows_that_fail_are_kept_and_said(explain, tmp_path):
    data = tmp_path / "rows.csv"
    X = datasets.load_pima().X.head(4).astype(object)
    X.iloc[1, 0] = "many"
    X.iloc[2, 5] = None
    X.to_csv(data, index=False)
    status, out, err = explain("--all", data=str(data))
    assert status == 1
    frame = pd.read_csv(io.StringIO(out))
    assert frame["status"].tolist() == ["optimal", "invalid", "invalid", "optimal"]
    assert "row 1: The request is invalid. The row's value of 'preg' is not a finite number: 'many'." in err
    assert "'preg' is not a finite number" in frame["advice"][1]
    assert "row 2" in err
    assert "--impute fills holes" in frame["advice"][2]
    assert "impute=" not in out


def test_rows_can_be_named(explain, tmp_path):
    data = tmp_path / "rows.csv"
    pima = datasets.load_pima()
    pima.X.head(3).assign(patient=["007", "b", "c"]).to_csv(data, index=False)
    _, out, _ = explain("--all", "--quiet", "--id", "patient", data=str(data))
    assert pd.read_csv(io.StringIO(out), dtype={"row": str})["row"].tolist() == ["007", "b", "c"]
    status, _, err = explain("--all", "--id", "name", data=str(data))
    assert status == 2
    assert "no column 'name' to name the rows by" in err


def test_bounds_of_one_number_beside_categories(tmp_path, capsys):
    credit = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("naive").fit(credit.X, credit.y)
    clf.save(tmp_path / "m.json")
    credit.X.iloc[11:12].to_csv(tmp_path / "row.csv", index=False)
    asked = ["explain", str(tmp_path / "m.json"), str(tmp_path / "row.csv"), "--row", "0", "--json", "-"]
    assert main([*asked, "--bound", "credit_amount", "1000", "6000"]) == 0
    e = Explanation.from_json(capsys.readouterr().out)
    assert 1000 <= e.counterfactual["credit_amount"] <= 6000
    assert verify(e, clf).ok
    assert main([*asked, "--bound", "housing", "0", "1"]) == 2
    assert "'housing' is a category and has no bounds; see --values" in capsys.readouterr().err


def test_bounds_of_one_feature_leave_the_others_their_range(explanation):
    e = explanation("--bound", "plas", "-1e3", "130")
    pima = datasets.load_pima().X
    assert e.low["plas"] == -1000
    assert e.high["plas"] == 130
    assert e.high["age"] == pima["age"].max()
    free = explanation("--bound", "plas", "-", "130", "--bounds", "none")
    assert free.high["age"] == np.inf


def test_a_pipe_that_closes_is_no_error(model, tmp_path):
    data = tmp_path / "rows.csv"
    datasets.load_pima().X.head(8).to_csv(data, index=False)
    command = f"{sys.executable} -m surefoot explain {model} {data} --all --quiet | head -1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("row,status")
    assert "error:" not in result.stderr


def test_no_counterfactual_is_status_1(explain):
    status, out, err = explain("--row", "0", "--immutable", *datasets.load_pima().X.columns)
    assert status == 1
    assert "No allowed change leads to the target" in out
    assert "may change" in out
    assert err == ""


def test_a_cautious_word(explain, tmp_path):
    data = tmp_path / "rows.csv"
    datasets.load_pima().X.iloc[450:456].to_csv(data, index=False)
    status, _, err = explain("--all", "--quiet", "--bounds", "none", "--fractional", *WHOLE, data=str(data))
    assert status == 0
    assert "with a caution (see the column 'cautions' of the output; --html writes them out)" in err


def test_where_cautions_are(explain, tmp_path):
    data, table, file = tmp_path / "rows.csv", tmp_path / "out.csv", tmp_path / "out.json"
    datasets.load_pima().X.iloc[450:456].to_csv(data, index=False)
    ask = ("--all", "--quiet", "--bounds", "none", "--fractional", *WHOLE)
    _, _, err = explain(*ask, "--output", str(table), "--json", str(file), data=str(data))
    assert f"(see the column 'cautions' of {table}; --html writes them out)" in err
    assert pd.read_csv(table)["cautions"].notna().any()
    assert f"(see 'cautions' in {file})" in explain(*ask, "--json", str(file), data=str(data))[2]
    page = tmp_path / "page.html"
    assert f"(see {page})" in explain(*ask, "--html", str(page), data=str(data))[2]


@pytest.mark.parametrize(
    ("flags", "options", "message"),
    [
        (("--row", "9999"), {}, "has rows 0 to 767"),
        (("--row", "0", "--target", "ill"), {}, "--target ill: unknown class; the classes are '0', '1'"),
        (("--row", "0", "--immutable", "height"), {}, "immutable: unknown feature 'height'"),
        (("--row", "0", "--bound", "plas", "x", "3"), {}, "--bound plas: 'x' is neither a number"),
        (("--row", "0", "--bound", "plas", "5", "3"), {}, "bounds of 'plas' are empty"),
        (("--row", "0", "--budget", "-1"), {}, "budget must be a finite number >= 0"),
        (("--row", "0", "--budget-of", "plas", "x"), {}, "--budget-of plas: 'x' is not a number"),
        (("--row", "0", "--budget-of", "height", "1"), {}, "--budget-of: unknown feature 'height'"),
        (("--row", "0", "--budget", "1", "--budget-of", "plas", "1"), {}, "either --budget or --budget-of"),
        (("--row", "0", "--values", "plas"), {}, "--values plas: needs at least one value"),
        (("--row", "0", "--values", "plas", "x"), {}, "--values plas: 'x' is not a number"),
        (("--row", "0", "--whole", "plas", "--values", "plas", "1"), {}, "--values plas: has been given"),
        (("--row", "0", "--whole", "height"), {}, "--whole: unknown feature 'height'"),
        (
            ("--row", "0", "--whole", "age", "--fractional", "age"),
            {},
            "cannot be both --whole and --fractional",
        ),
        (("--row", "0", "--immutable", "plass"), {}, "unknown feature 'plass'; did you mean 'plas'?"),
        (
            ("--row", "0", "--budget-of", "PLASS", "1"),
            {},
            "--budget-of: unknown feature 'PLASS'; did you mean",
        ),
        (("--row", "0", "--backend", "scip"), {}, "certified method needs no backend"),
        (("--row", "0", "--output", "x.csv"), {}, "--output is the table of all rows"),
        (("--row", "0"), {"data": "nowhere.csv"}, "nowhere.csv: cannot be read"),
        (
            ("--row", "0"),
            {"data": str(FOLDER / "banknote.csv")},
            "no column 'preg' (and 7 more), which the model needs",
        ),
        (("--row", "0"), {"model_file": DATA}, "(the model comes first, then the data)"),
        (("--row", "0", "--json", "/nowhere/x.json"), {}, "/nowhere/x.json: No such file or directory"),
        (("--all", "--json", "-", "--output", "-"), {}, "cannot go to the same place"),
        (("--row", "0", "--threshold", "2"), {}, "error: threshold must lie strictly between 0 and 1"),
        (("--all", "--jobs", "0"), {}, "error: --jobs must be an integer other than 0"),
        (("--row", "0", "--jobs", "0"), {}, "error: --jobs must be an integer other than 0"),
        (("--all", "--alternatives", "3"), {}, "--alternatives are about one row; they go with --row"),
    ],
)
def test_bad_input_is_one_line_and_status_2(explain, flags, options, message):
    status, _, err = explain(*flags, **options)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
    assert err.startswith("surefoot: error: ")


def test_a_refused_request_leaves_no_file_behind(explain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert explain("--row", "0", "--output", "x.csv")[0] == 2
    assert explain("--row", "9999", "--json", "x.json", "--html", "x.html")[0] == 2
    assert list(tmp_path.iterdir()) == []
    assert explain("--all", "--output", str(tmp_path))[0] == 2


def test_debug(explain):
    assert "Traceback" in explain("--row", "9999", "--debug")[2]


def test_separator(explain, tmp_path):
    data = tmp_path / "semicolons.csv"
    datasets.load_pima().X.head(2).to_csv(data, index=False, sep=";")
    assert explain("--row", "1", "--separator", ";", data=str(data))[0] == 0
    status, _, err = explain("--row", "1", data=str(data))
    assert status == 0
    assert err == f"surefoot: {data} read as: semicolon; 2 rows, 8 columns\n"
    assert explain("--row", "1", "--separator", ",", data=str(data))[0] == 2


def test_row_and_all_exclude_each_other(model, capsys):
    for flags in ([], ["--row", "1", "--all"]):
        with pytest.raises(SystemExit) as exit_:
            main(["explain", model, DATA, *flags])
        assert exit_.value.code == 2
    assert "--row" in capsys.readouterr().err


def test_more_than_two_classes_need_a_target(tmp_path, capsys):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True, as_frame=True)
    model, data = tmp_path / "m.json", tmp_path / "iris.csv"
    ConditionalGaussianNetworkClassifier().fit(X, y.map(dict(enumerate("abc")))).save(model)
    X.head(3).to_csv(data, index=False)
    assert main(["explain", str(model), str(data), "--row", "0"]) == 2
    assert "--target is needed; the classes are 'a', 'b', 'c'" in capsys.readouterr().err
    assert main(["explain", str(model), str(data), "--row", "0", "--target", "b"]) == 0


def test_several_explanations_are_verified_together(explain, model, tmp_path, capsys):
    data, file = tmp_path / "rows.csv", tmp_path / "all.json"
    datasets.load_pima().X.head(3).to_csv(data, index=False)
    explain("--all", "--quiet", "--json", str(file), data=str(data))
    entries = json.loads(file.read_text(encoding="utf-8"))
    entries[1]["distance"] *= 0.9
    file.write_text(json.dumps(entries), encoding="utf-8")
    assert main(["verify", model, str(file)]) == 1
    out, err = capsys.readouterr()
    assert "row 1" in out
    assert "FAILS" in out
    assert err.splitlines()[-1] == "surefoot: every claim holds for 2 of 3 explanations; not for row 1"


def test_verify_takes_several_files_and_folders(explain, model, tmp_path, capsys):
    """The worst verdict counts, wherever it comes."""
    folder = tmp_path / "proofs"
    folder.mkdir()
    explain("--row", "0", "--json", str(folder / "a.json"))
    (folder / "notes.txt").write_text("no explanation")
    capsys.readouterr()
    assert main(["verify", model, str(folder)]) == 0
    assert "claims hold" in capsys.readouterr().out
    false = json.loads((folder / "a.json").read_text()) | {"distance": 0.001}
    (folder / "b.json").write_text(json.dumps(false))
    (folder / "c.json").write_text((folder / "a.json").read_text())
    for given in ([str(folder)], [str(folder / f"{name}.json") for name in "bac"]):
        assert main(["verify", model, *given]) == 1
        out = capsys.readouterr().out
        assert all(f"{name}.json" in out for name in "abc")
        assert "FAILS" in out
    (tmp_path / "empty").mkdir()
    assert main(["verify", model, str(tmp_path / "empty")]) == 2
    assert "empty: this folder holds no .json file" in capsys.readouterr().err


def test_verify_names_the_first_rows_that_fail(explain, model, tmp_path, capsys):
    data, file = tmp_path / "rows.csv", tmp_path / "all.json"
    datasets.load_pima().X.head(12).to_csv(data, index=False)
    explain("--all", "--quiet", "--json", str(file), data=str(data))
    entries = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps([{**entry, "distance": 9.5} for entry in entries]), encoding="utf-8")
    assert main(["verify", model, str(file)]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith("0 of 12 explanations; not for rows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more")


def test_answers_about_one_row_are_verified_by_number(explain, model, tmp_path, capsys):
    file = tmp_path / "answers.json"
    explain("--row", "0", "--norm", "1", "--alternatives", "2", "--json", str(file))
    entries = json.loads(file.read_text(encoding="utf-8"))
    entries[1]["distance"] *= 0.9
    file.write_text(json.dumps(entries), encoding="utf-8")
    assert main(["verify", model, str(file)]) == 1
    out, err = capsys.readouterr()
    assert "answer 2\n" in out
    assert err.splitlines()[-1].endswith("1 of 2 explanations; not for answer 2")


def test_verify_exactly_and_nothing(explain, model, tmp_path, capsys):
    file = tmp_path / "e.json"
    explain("--row", "0", "--budget", "0.05", "--json", str(file))
    assert main(["verify", "--exact", "--all-claims", model, str(file)]) == 0
    assert "holds      lower bound" in capsys.readouterr().out
    file.write_text("[]", encoding="utf-8")
    assert main(["verify", model, str(file)]) == 2
    assert "holds no explanation" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "--immutable" in script
    assert "surefoot" in script


def test_bash_completes(tmp_path, capsys):
    main(["completion", "bash"])
    script = tmp_path / "completion.bash"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    words = "COMP_WORDS=(surefoot explain --imm); COMP_CWORD=2"
    ask = f"source {script}; {words}; _shtab_surefoot; echo ${{COMPREPLY[@]}}"
    result = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=False)
    assert "--immutable" in result.stdout, result.stderr


def test_help_is_quick_to_load():
    """Asking for help loads neither scikit-learn nor pandas."""
    heavy = "print([m for m in ('sklearn', 'pandas') if m in sys.modules])"
    code = f"import sys, surefoot.ui.cli.parser as p; p.parser(); {heavy}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def flags_of(command):
    subparsers = next(a for a in parser()._actions if a.choices and "fit" in a.choices)
    return {flag for action in subparsers.choices[command]._actions for flag in action.option_strings}


def test_reasons_and_what_is_enough(model, tmp_path, capsys):
    out, few = tmp_path / "e.json", tmp_path / "few.csv"
    datasets.load_pima().X.head(3).to_csv(few, index=False)
    files = (model, str(few))
    assert main(["explain", *files, "--row", "0", "--reasons", "--enough", "--json", str(out)]) == 0
    text = capsys.readouterr().out
    assert "Reasons for" in text
    assert "Enough: " in text
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["reasons"]["decided"] == document["factual_class"]
    assert document["enough"]["numbers"]
    assert main(["verify", files[0], str(out), "--all-claims"]) == 0
    checked = capsys.readouterr().out
    assert "holds      enough" in checked
    assert "holds      reasons" in checked
    table = ["--output", str(tmp_path / "t.csv")]
    assert main(["explain", *files, "--all", "--enough", "--quiet", *table]) == 0
    header = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert {"reasons", "enough", "not_enough"} <= set(header)


def test_one_row_says_what_is_enough_and_its_file_only_where_asked(model, tmp_path, capsys):
    out, few = tmp_path / "e.json", tmp_path / "few.csv"
    datasets.load_pima().X.head(3).to_csv(few, index=False)
    files = (model, str(few))
    for flags in ((), ("--alternatives", "2")):
        assert main(["explain", *files, "--row", "0", "--json", str(out), *flags]) == 0
        lines = capsys.readouterr().out.splitlines()
        said = [k for k, line in enumerate(lines) if line.startswith("Enough: ") and "(proven)." in line]
        assert len(said) == int(*flags[1:] or "1")
        assert all(lines[k - 1].startswith(("To do: ", "  ")) for k in said)
        found = json.loads(out.read_text(encoding="utf-8"))
        assert not any(one.get("enough") for one in (found if isinstance(found, list) else [found]))


def test_every_flag_is_in_a_test_of_this_suite():
    """A flag that nobody tests is found here."""
    from pathlib import Path

    tests = "".join(
        (Path(__file__).parent / name).read_text(encoding="utf-8")
        for name in (
            "test_cli.py",
            "test_cli_audit.py",
            "test_cli_bombs.py",
            "test_cli_explain.py",
            "test_cli_run.py",
            "test_cli_spoken.py",
            "test_cli_tables.py",
            "test_cli_worth.py",
            "test_cli_refits.py",
            "test_cli_rows.py",
            "../explain/test_against.py",
            "../experiments/test_reproduction.py",
            "../explain/constraints/test_file.py",
            "letters/test_cli.py",
            "letters/test_folder.py",
        )
    )
    for command in (
        "demo",
        "fit",
        "predict",
        "diagnose",
        "actions",
        "explain",
        "audit",
        "letter",
        "labels",
        "verify",
        "backends",
        "reproduce",
        "completion",
    ):
        for flag in flags_of(command) - {"-h", "--help"}:
            assert f'"{flag}"' in tests, (command, flag)
