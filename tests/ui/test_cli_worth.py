"""``surefoot explain``: answers worth acting on."""

import json

import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Explanations, datasets
from surefoot.ui.cli import main


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bank")
    data = datasets.load_banknote()
    ConditionalGaussianNetworkClassifier("naive").fit(data.X, data.y).save(folder / "model.json")
    data.X.assign(forged=data.y, page=1).iloc[::4].to_csv(folder / "train.csv", index=False)
    data.X.head(5).to_csv(folder / "rows.csv", index=False)
    return folder


@pytest.fixture
def run(bank, capsys):
    def explain(*flags):
        status = main(["explain", str(bank / "model.json"), str(bank / "rows.csv"), "--row", "0", *flags])
        return status, *capsys.readouterr()

    return explain


def answers(text):
    return Explanations.from_json(text)


def test_plausible(run):
    plain, typical, near = (
        answers(run("--json", "-", *flags)[1])[0]
        for flags in ((), ("--plausible", "0.5"), ("--plausible", "conditional", "1.5"))
    )
    assert typical.density_percentile >= 50 > plain.density_percentile
    assert near.z_score[near.changed].abs().max() <= 1.5 + 1e-9


def test_models_are_fitted_to_the_training_table_and_can_be_kept(run, bank, capsys):
    out = bank / "out.json"
    refits = ("--models", "3", "--data", str(bank / "train.csv"))
    status, text, _ = run(*refits, "--json", str(out), "--save-models", str(bank / "refits"))
    assert status == 0
    assert "fresh models fitted to slightly different data" in text
    files = sorted((bank / "refits").glob("*.json"))
    assert len(files) == 3
    assert main(["verify", str(bank / "model.json"), str(out), "--models", *map(str, files)]) == 0
    for given, missing in (((), "3 of the 3 refits that it names were"), (files[:2], "1 of the 3 refits")):
        models = ["--models", *map(str, given)] if given else []
        assert main(["verify", str(bank / "model.json"), str(out), *models]) == 2
        printed, err = capsys.readouterr()
        assert f"surefoot: error: {out}: {missing}" in err
        assert "add --models FOLDER/*.json" in err
        assert "FAILS" not in printed
    other = json.loads(run(*refits, "--seed", "7", "--json", "-")[1])
    assert other["question"]["models"] != json.loads(out.read_text())["question"]["models"]


def test_a_page_of_an_answer_that_refits_agree_on(run, bank):
    """The pictures need the explained model alone."""
    page = bank / "page.html"
    refits = ("--models", "2", "--data", str(bank / "train.csv"))
    status, _, err = run(*refits, "--budget", "0.05", "--html", str(page))
    assert (status, err) == (0, f"surefoot: wrote {page}\n")
    assert page.read_text(encoding="utf-8").count("<img ") > 1


def test_the_label_column_is_found_or_asked_for(run, bank):
    table = pd.read_csv(bank / "train.csv")
    table.assign(also=table["forged"]).to_csv(bank / "two.csv", index=False)
    flags = ("--models", "2", "--data", str(bank / "two.csv"))
    status, _, err = run(*flags)
    assert status == 2
    assert "'forged', 'also' would do" in err
    assert "--label" in err
    assert run(*flags, "--label", "also")[0] == 0
    status, _, err = run(*flags, "--label", "page")
    assert status == 2
    assert "'page' does not hold the model's classes" in err
    assert run(*flags, "--label", "forgd")[0] == 2


def test_alternatives(run):
    status, out, _ = run("--alternatives", "2", "--norm", "1")
    assert status == 0
    assert "Answer 1 of 2" in out
    assert "Answer 2 of 2" in out
    found = answers(run("--alternatives", "2", "--differ", "distance", "--apart", "0.8", "--json", "-")[1])
    assert len(found) == 2
    assert found[0].distance <= found[1].distance


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--models", "3"), "--models needs --data"),
        (("--data", "x.csv"), "--data is for --models"),
        (("--label", "x"), "--label is for --models"),
        (("--save-models", "x"), "--save-models is for --models"),
        (("--plausible", "much"), "not a number"),
        (("--plausible", "0.1", "0.2"), "--plausible takes a share"),
        (("--plausible", "2"), "plausible must be a share"),
        (("--alternatives", "0"), "--alternatives must be at least 1, not 0"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(run, flags, message):
    status, out, err = run(*flags)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_what_more_safety_costs_is_a_page(run, bank, capsys):
    page = bank / "costs.html"
    status, _, said = run("--trade-off", str(page))
    assert status == 0
    assert f"wrote {page}" in said
    html = page.read_text()
    assert "Errors withstood" in html
    assert "How typical" in html
    assert "Refitted models" not in html
    run("--models", "2", "--data", str(bank / "train.csv"), "--trade-off", str(page))
    assert "2 refits" in page.read_text()
    table = [str(bank / "model.json"), str(bank / "rows.csv"), "--all"]
    assert main(["explain", *table, "--trade-off", str(page)]) == 2
    assert "goes with --row" in capsys.readouterr().err
