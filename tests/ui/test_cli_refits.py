"""Refits that the model file keeps, and plain scales for rules, from the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.ui.cli import main
from surefoot.ui.cli.spoken import spoken
from tests.ui.mixed import toy_table

RULE = 'rules = ["debt <= 0.3 * income"]\n'


@pytest.fixture(scope="module")
def lender(tmp_path_factory):
    """A lender's table: incomes and debts are lognormal."""
    rng, n = np.random.default_rng(5), 400
    income, debt = np.exp(rng.normal(7.9, 0.6, n)).round(2), np.exp(rng.normal(6.3, 0.9, n)).round(2)
    good = np.log(income) - np.log(debt) + rng.normal(0, 0.5, n) > 1.6
    folder = tmp_path_factory.mktemp("lender")
    table = pd.DataFrame({"income": income, "debt": debt, "repaid": np.where(good, "yes", "no")})
    table.to_csv(folder / "lender.csv", index=False)
    (folder / "rules.toml").write_text(RULE)
    return folder


def test_debt_to_income_with_two_commands(lender, capsys):
    table, rules, model = (str(lender / name) for name in ("lender.csv", "rules.toml", "model.json"))
    frame = pd.read_csv(table)
    row = str(int(np.flatnonzero((frame["repaid"] == "no") & (frame["debt"] > 0.5 * frame["income"]))[0]))
    flags = ["--label", "repaid", "--folds", "2", "--refits", "5", "--output", model]
    assert main(["fit", table, *flags]) == 0
    assert main(["explain", model, table, "--row", row, "--target", "yes", "--actions", rules]) == 2
    error = capsys.readouterr().err
    assert "'debt <= 0.3 * income' adds up 'income', 'debt'" in error
    assert "make the model with surefoot fit --actions FILE, the same file" in error
    assert main(["fit", table, *flags, "--actions", rules]) == 0
    said = spoken(capsys.readouterr().err)
    assert "plain scales for what rules add up: debt, income" in said
    assert "surefoot: next, explain a row:" in said
    assert f"surefoot explain {model} {table} --row 0 --actions {rules}" in said
    out = str(lender / "e.json")
    asked = ["--row", row, "--target", "yes", "--actions", rules, "--json", out]
    assert main(["explain", model, table, *asked]) == 0
    assert "models fitted to slightly different data" in capsys.readouterr().out
    values = json.loads((lender / "e.json").read_text())["counterfactual"]
    found = dict(zip(values["names"], values["values"], strict=True))
    assert found["debt"] <= 0.3 * found["income"]
    assert main(["verify", model, out, "--all-claims"]) == 0
    assert "it holds under" in capsys.readouterr().out


def test_rules_about_columns_that_are_not_there(lender, capsys):
    (lender / "wrong.toml").write_text('rules = ["debts <= 0.3 * income"]\n')
    table, model = str(lender / "lender.csv"), str(lender / "none.json")
    wrong = ["--actions", str(lender / "wrong.toml")]
    assert main(["fit", table, "--label", "repaid", "--output", model, *wrong]) == 2
    assert "debts" in capsys.readouterr().err
    assert main(["fit", table, "--label", "repaid", "--output", model, "--plain", "repaid"]) == 2
    assert "repaid" in capsys.readouterr().err


def test_kept_refits_need_no_data(tmp_path, capsys):
    X, y = toy_table()
    X.assign(label=y).to_csv(tmp_path / "t.csv", index=False)
    table, model, out = (str(tmp_path / name) for name in ("t.csv", "m.json", "e.json"))
    flags = ["--label", "label", "--structure", "tan", "--folds", "0", "--output", model]
    assert main(["fit", table, *flags, "--refits", "6"]) == 0
    assert "Kept 6 refits of the model (" in capsys.readouterr().out
    clf = ConditionalGaussianNetworkClassifier.load(model)
    row = str(int(np.flatnonzero(clf.predict(X) == "no")[2]))
    asked = ["explain", model, table, "--row", row, "--json", out]
    assert main([*asked, "--models", "6"]) == 0
    said = "6 of 6 models fitted to slightly different data, all of which the search had to satisfy"
    assert said in capsys.readouterr().out
    assert main(["verify", model, out]) == 0
    assert main([*asked, "--models", "7"]) == 2
    error = capsys.readouterr().err
    assert "--models 7 asks for more refits than the 6 that the model keeps" in error
    assert "give the training table with --data" in error
    assert main([*asked, "--models", "2", "--label", "label"]) == 2
    assert "--label is for --data" in capsys.readouterr().err
    assert main(["fit", table, *flags, "--refits", "0"]) == 0
    assert "No refits of the model are kept." in capsys.readouterr().out
    assert main([*asked, "--models", "2"]) == 2
    assert "--models needs --data" in capsys.readouterr().err
    assert main(["fit", table, *flags, "--refits", "-1"]) == 2
    assert "refits must be a whole number" in capsys.readouterr().err


def test_names_with_brackets_do_no_harm():
    said = "fit the model with plain=['a b', 'c']"
    assert spoken(said) == "make the model with surefoot fit --plain 'a b' c"
    assert spoken("fit the model with plain=['a]b']") == "make the model with surefoot fit --plain 'ab']"


def test_an_answer_that_few_refits_share_is_a_caution(tmp_path):
    X, y = toy_table(60)
    X.assign(label=y).to_csv(tmp_path / "t.csv", index=False)
    table, model, out = (str(tmp_path / name) for name in ("t.csv", "m.json", "all.csv"))
    flags = ["--label", "label", "--structure", "tan", "--folds", "0", "--output", model]
    assert main(["fit", table, *flags]) == 0
    flags = ["--target", "yes", "--budget", "0", "--output", out, "--quiet"]
    main(["explain", model, table, "--all", *flags])
    found = pd.read_csv(out)
    few = found[found["model_share"] < 0.5]
    assert len(few) > 0
    assert few["cautions"].str.contains("unstable").all()
    steady = found[found["model_share"] >= 0.5]
    assert not steady["cautions"].fillna("").str.contains("unstable").any()


def test_the_best_single_guess_and_fewer_rows_to_choose_on(lender, capsys):
    table, model = str(lender / "lender.csv"), str(lender / "fast.json")
    flags = ["--label", "repaid", "--refits", "0", "--output", model]
    assert main(["fit", table, *flags, "--fast"]) == 0
    assert main(["fit", table, *flags, "--folds", "2", "--choose-on", "200"]) == 0
    assert main(["fit", table, *flags, "--choose-on", "0"]) == 2
    assert "surefoot: error: " in capsys.readouterr().err


def test_the_label_of_the_table_for_refits_is_the_one_of_the_model(tmp_path, capsys):
    """Another column that says yes and no, in other words, is left aside."""
    X, y = toy_table()
    staff = np.where(np.arange(len(y)) % 2, "Y", "N")
    X.assign(label=y, staff=staff).to_csv(tmp_path / "t.csv", index=False)
    table, model = str(tmp_path / "t.csv"), str(tmp_path / "m.json")
    flags = [
        "--label",
        "label",
        "--drop",
        "staff",
        "--structure",
        "tan",
        "--folds",
        "0",
        "--refits",
        "0",
        "--output",
        model,
    ]
    assert main(["fit", table, *flags]) == 0
    row = str(int(np.flatnonzero(ConditionalGaussianNetworkClassifier.load(model).predict(X) == "no")[2]))
    asked = ["explain", model, table, "--row", row, "--models", "2", "--data"]
    assert main([*asked, table]) == 0, capsys.readouterr().err
    X.assign(decided=y, staff=staff).to_csv(tmp_path / "other.csv", index=False)
    assert main([*asked, str(tmp_path / "other.csv")]) == 2
    assert "which column holds the labels? 'decided', 'staff' would do" in capsys.readouterr().err
