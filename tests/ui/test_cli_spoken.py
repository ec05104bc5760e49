"""Messages of the command line name flags, not arguments of Python."""

import ast
import json
import sys
from functools import cache
from pathlib import Path

import pytest
from sklearn.svm import LinearSVC

import surefoot
from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, adopt
from surefoot.exceptions import SurefootError
from surefoot.ui.cli import main
from surefoot.ui.cli.spoken import WHOLE_PHRASES, spoken
from tests.asking import CounterfactualExplainer
from tests.ui.mixed import toy_model, toy_table


@cache
def messages():
    """All texts of the library, each as one even where it is written over several lines."""
    files = (path for path in Path(surefoot.__file__).parent.rglob("*.py") if path.name != "spoken.py")
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    plain = [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
    return [*plain, *(ast.unparse(node) for node in nodes if isinstance(node, ast.JoinedStr))]


@pytest.mark.parametrize("phrase", WHOLE_PHRASES)
def test_every_phrase_is_one_of_the_library(phrase):
    assert any(phrase in text for text in messages())


def test_a_rule_on_a_curved_scale(tmp_path, capsys):
    toy_model("power").save(tmp_path / "model.json")
    toy_table()[0].to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "a.toml").write_text('rules = ["income <= 900 * years"]\n')
    flags = ["--row", "0", "--actions", str(tmp_path / "a.toml"), "--quiet"]
    status = main(["explain", str(tmp_path / "model.json"), str(tmp_path / "rows.csv"), *flags])
    assert status == 2
    assert "make the model with surefoot fit --actions FILE, the same file" in capsys.readouterr().err


def test_the_template_says_which_features_rules_cannot_add_up():
    assert "curved scales: income, cards, years." in Actions.template(toy_model("power"))
    assert "curved" not in Actions.template(toy_model())
    assert Actions.from_toml(Actions.template(toy_model("power"))) == Actions()


@pytest.mark.parametrize(
    ("actions", "hint"),
    [
        ({"features": {"Income": "stay"}}, "'income'"),
        ({"rules": ["incom <= 3"]}, "'income'"),
        ({"when": [("yeers rises", "income rises")]}, "'years'"),
        ({"when": [("years rises", "incomes rises")]}, "'income'"),
        ({"links": [("yeers", "income", 1.0)]}, "'years'"),
        ({"at_most_of": [(1, ["yeers", "income"])]}, "'years'"),
        ({"features": {"housing": Action(values=["a house or a flat in the city center"])}}, "city centre'"),
    ],
)
def test_names_that_nearly_exist(actions, hint):
    clf = toy_model()
    with pytest.raises(SurefootError, match="did you mean") as error:
        CounterfactualExplainer(clf, actions=Actions(**actions)).explain(toy_table()[0].iloc[0])
    assert hint in str(error.value).rpartition("did you mean")[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[features]\nage = "stays"\n', "did you mean 'stay'?"),
        ("[features]\nage = { moost = 3 }\n", "did you mean 'most'?"),
        ("[feature]\n\n", "did you mean 'features'?"),
        ('[features]\nage = { whole = "yes" }\n', "whole must be true or false, not 'yes'"),
        ("[features]\nage = stay\n", "words stand in quotes"),
    ],
)
def test_files_with_slips(text, message):
    with pytest.raises(SurefootError) as error:
        Actions.from_toml(text)
    assert message in str(error.value)


def test_marginals_alone_leave_the_rest_to_be_chosen(tmp_path, capsys):
    X, y = toy_table()
    X.assign(paid=y).to_csv(tmp_path / "rows.csv", index=False)
    model = tmp_path / "model.json"
    flags = ["--label", "paid", "--marginals", "gaussian", "--folds", "2", "--output", str(model)]
    assert main(["fit", str(tmp_path / "rows.csv"), *flags]) == 0
    assert "models by log loss" in capsys.readouterr().out
    assert all(warp.is_identity for warp in ConditionalGaussianNetworkClassifier.load(model).warps_)


def test_decision_values(tmp_path, capsys, bundled):
    """Models without probabilities have them in the place of thresholds."""
    X, y = bundled["pima"].X / bundled["pima"].X.std(), bundled["pima"].y
    clf = adopt(LinearSVC().fit(X, y), data=(X, y))
    clf.save(tmp_path / "model.json")
    X.head(1).to_csv(tmp_path / "rows.csv", index=False)
    ask = ["explain", str(tmp_path / "model.json"), str(tmp_path / "rows.csv"), "--row", "0", "--json", "-"]
    distances = []
    for value in ("0", "0.2"):
        assert main([*ask, "--decision", value]) == 0
        distances.append(json.loads(capsys.readouterr().out)["distance"])
    assert distances[0] < distances[1]
    assert main([*ask, "--threshold", "0.7"]) == 2
    assert "so that --threshold 0.7 cannot be reached; use --decision, a value" in capsys.readouterr().err


def test_shares():
    assert spoken("with plausible=0.5 there is none") == "with --plausible 0.5 there is none"


def test_a_target_that_nearly_exists():
    with pytest.raises(SurefootError, match=r"unknown target 'Yes'; .*; did you mean 'yes'\?"):
        CounterfactualExplainer(toy_model()).explain(toy_table()[0].iloc[0], "Yes")


def test_names_with_commas_stand_in_quotes(tmp_path, capsys):
    X, y = toy_table()
    X = X.rename(columns={"housing": "rent, own; or free"}).assign(paid=y)
    X.to_csv(tmp_path / "rows.csv", index=False)
    flags = ["--label", "paid", "--structure", "naive", "--folds", "0", "--output", str(tmp_path / "m.json")]
    assert main(["fit", str(tmp_path / "rows.csv"), *flags]) == 0
    assert "rent, own; or free  category" in capsys.readouterr().out


def test_a_label_that_is_a_number(tmp_path, capsys):
    X, _ = toy_table()
    X.assign(age=[18 + k % 24 for k in range(len(X))]).to_csv(tmp_path / "rows.csv", index=False)
    flags = ["--structure", "naive", "--folds", "0", "--output", str(tmp_path / "m.json")]
    assert main(["fit", str(tmp_path / "rows.csv"), "--label", "age", *flags]) == 2
    assert "'age' holds 24 different numbers, from 18 to 41: that is a number" in capsys.readouterr().err
    assert main(["fit", str(tmp_path / "rows.csv"), "--label", "housing", *flags]) == 0
    assert "is a number" not in capsys.readouterr().err


def test_sentences_are_broken_between_words_in_a_terminal_only(monkeypatch, capsys):
    main = sys.modules["surefoot.ui.cli.main"]

    text = "Asked: " + "a long sentence with -0.837 in it; " * 5 + "\n  a table  " + "1 " * 60 + "\n"
    main.show_sentences(text)
    assert capsys.readouterr().out == text
    monkeypatch.setattr(main.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    main.show_sentences(text)
    *sentence, table, _ = capsys.readouterr().out.split("\n")
    assert max(map(len, sentence)) <= 60
    assert " ".join(" ".join(sentence).split()) == text.split("\n")[0].strip()
    assert table == text.split("\n")[1]
