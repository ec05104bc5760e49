"""Which rows are explained, what is said of those without an answer, and what ``surefoot verify`` counts."""

import json

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Explanations, datasets
from surefoot.proof import exact
from surefoot.ui.cli import main

QUICK = ("--preset", "paper", "--bounds", "data", "--quiet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model and a table of ten rows with names; four have the target 0 already, one has a hole."""
    folder, pima = tmp_path_factory.mktemp("rows"), datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier("naive").fit(pima.X, pima.y)
    clf.save(folder / "model.json")
    decided = clf.predict(pima.X)
    rows = [*np.flatnonzero(decided == 1)[:6], *np.flatnonzero(decided == 0)[:4]]
    table = pima.X.iloc[rows].assign(patient=[f"P-{k}" for k in range(9)] + ["P-1"], number=range(100, 110))
    table.astype({"pres": object}).to_csv(folder / "rows.csv", index=False)
    table.loc[table.index[0], "pres"] = None
    table.to_csv(folder / "holes.csv", index=False)
    return folder


@pytest.fixture
def run(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)

    def ran(*arguments):
        status = main([str(a) for a in arguments])
        return status, *capsys.readouterr()

    return ran


def explain(run, *flags, data="rows.csv"):
    return run("explain", "model.json", data, "--target", "0", *QUICK, *flags)


def test_a_row_by_its_name(run):
    _, by_name, _ = explain(run, "--row", "P-3", "--id", "patient")
    _, by_number, _ = explain(run, "--row", "103", "--id", "number")
    _, by_place, _ = explain(run, "--row", "3")
    assert by_name == by_number == by_place
    _, counted, _ = explain(run, "--row", "3", "--id", "patient")  # no name is a number
    assert counted == by_place


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--row", "P-33", "--id", "patient"), "no row of rows.csv has this patient; did you mean 'P-3'?"),
        (("--row", "P-1", "--id", "patient"), "2 rows of rows.csv have this patient"),
        (("--row", "3", "--id", "number"), "--row 3: no row of rows.csv has this number"),
        (("--row", "P-3"), "--row P-3: is not a number; --id COLUMN says which column names the rows"),
        (("--row", "10"), "--row 10: rows.csv has rows 0 to 9"),
        (("--row", "-1"), "--row -1: rows.csv has rows 0 to 9"),
    ],
)
def test_rows_that_are_not_there(run, flags, said):
    status, out, err = explain(run, *flags)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_rows_that_have_the_target_are_counted(run):
    status, out, err = explain(run, "--all", "--json", "-")
    assert status == 0
    assert len(json.loads(out)) == 6
    assert "4 of 10 rows have the target already; --no-skip-accepted lists them" in err
    status, out, err = explain(run, "--all", "--json", "-", "--no-skip-accepted")
    assert status == 0
    assert [e["status"] for e in json.loads(out)].count("already_target") == 4
    assert "already; --no" not in err


def test_where_all_have_the_target_there_is_no_page(run, folder):
    lines = (folder / "rows.csv").read_text().splitlines()
    (folder / "accepted.csv").write_text("\n".join([lines[0], *lines[7:]]) + "\n")
    flags = ("--all", "--json", "-", "--html", "page.html")
    status, out, err = explain(run, *flags, data="accepted.csv")
    assert (status, json.loads(out)) == (0, [])
    assert "there is no row to explain, so page.html is not written" in err
    assert not (folder / "page.html").exists()


def test_a_threshold_decides_who_has_the_target(run):
    _, out, _ = explain(run, "--all", "--json", "-", "--threshold", "0.99", "--skip-accepted")
    assert len(json.loads(out)) > 6


def test_no_reasons_where_none_are_wanted(run):
    kept = ("--immutable", "plas", "mass", "pedi", "age", "insu", "skin")
    found = {}
    for flags in ((), ("--no-diagnosis",)):
        status, out, _ = explain(run, "--row", "0", "--json", "-", *kept, *flags)
        assert status == 1
        found[flags] = json.loads(out)
    assert found[()]["advice"]
    assert found[()]["best_probability_bound"] < 0.5
    assert found["--no-diagnosis",]["advice"] == ""
    assert found["--no-diagnosis",]["best_probability_bound"] is None


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("explian", "Unknown command 'explian'. Did you mean 'explain'?"),
        ("verfy", "Unknown command 'verfy'. Did you mean 'verify'?"),
        ("frobnicate", "Unknown command 'frobnicate'. Commands: demo, fit,"),
        ("no\nline", "Unknown command 'no\\nline'."),
    ],
)
def test_a_misspelt_command(capsys, word, said):
    with pytest.raises(SystemExit) as stopped:
        main([word, "model.json"])
    assert stopped.value.code == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_what_holds_is_counted(run, folder):
    explain(run, "--all", "--json", "all.json", data="holes.csv")
    status, out, err = run("verify", "model.json", "all.json")
    assert status == 0
    assert len(out.splitlines()) == 1
    assert out.startswith("All ")
    assert out.endswith(" claims hold.\n")
    assert "every claim holds for 5 of 6 explanations; 1 claims nothing: invalid requests" in err
    status, everything, _ = run("verify", "--all-claims", "model.json", "all.json")
    assert status == 0
    held = sum(line.startswith("holds ") for line in everything.splitlines())
    refused = [
        e for e in Explanations.from_json((folder / "all.json").read_text()) if e.factual_class is None
    ]
    assert out == f"All {held - len(refused):,} claims hold.\n"
    assert exact.main(["model.json", "all.json"]) == 0


def test_what_does_not_hold_is_shown_in_full(run, folder):
    explain(run, "--all", "--json", "all.json")
    documents = json.loads((folder / "all.json").read_text())
    documents[2]["lower_bound"] = 0.999 * documents[2]["distance"] + 1e-9
    documents[2]["distance"] *= 1.001
    (folder / "forged.json").write_text(json.dumps(documents))
    status, out, err = run("verify", "model.json", "forged.json")
    assert status == 1
    lines = out.splitlines()
    assert lines[0].endswith("claims hold.")
    assert not lines[0].startswith("All ")
    assert lines[1] == "row 2"
    assert lines[2].startswith("What is the smallest change")
    assert any(line.startswith("FAILS      distance: ") for line in lines)
    assert not any(line.startswith("holds ") for line in lines)
    assert "every claim holds for 5 of 6 explanations; not for row 2" in err
    (folder / "one.json").write_text(json.dumps(documents[2]))
    status, out, _ = run("verify", "model.json", "one.json")
    assert status == 1
    assert "FAILS      distance: " in out
    assert " claims hold.\n" in out


def test_a_single_invalid_request_claims_nothing(run, folder):
    explain(run, "--all", "--json", "all.json", data="holes.csv")
    documents = json.loads((folder / "all.json").read_text())
    refused = next(e for e in documents if e["status"] == "invalid")
    (folder / "refused.json").write_text(json.dumps(refused))
    status, out, _ = run("verify", "model.json", "refused.json")
    assert status == 0
    assert out.endswith("It claims nothing.\n")
    (folder / "refused.json").write_text(json.dumps(refused | {"probability": 0.9}))
    status, out, _ = run("verify", "model.json", "refused.json")
    assert status == 1
    assert "FAILS      refusal: " in out


def test_models_read_once_give_the_same_verdicts(run, folder):
    """What is kept from one file for the next changes nothing: also in the opposite order."""
    explain(run, "--all", "--json", "all.json", "--budget", "0.05")
    documents = json.loads((folder / "all.json").read_text())
    content = json.loads((folder / "model.json").read_text())
    alone = [exact.check([content], e) for e in documents]
    for order in (documents, documents[::-1]):
        model = exact.read_model(content)
        together = [exact.check([model], e) for e in order]
        assert together == (alone if order is documents else alone[::-1])
