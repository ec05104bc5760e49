"""Against each class or among all of them: what is asked, refused, said and drawn."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.svm import LinearSVC

import surefoot
from surefoot import ConditionalGaussianNetworkClassifier, Explanation, verify
from surefoot.exceptions import ProblemError
from surefoot.ui.cli.main import main
from surefoot.ui.plots.section import whitened_section
from surefoot.ui.report.page import report_page
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def wine():
    table = load_wine(as_frame=True)
    X, y = table.data.iloc[:, :4], np.array(["barolo", "grignolino", "barbera"])[table.target]
    return X, y, ConditionalGaussianNetworkClassifier(structure="naive").fit(X, y)


@pytest.fixture(scope="module")
def answers(wine):
    """The same row against each class, where no class has a majority, and among all."""
    X, _, clf = wine
    chosen = {a: surefoot.CounterfactualExplainer(clf, against=a, budget=0) for a in ("each", "all")}
    return {a: explainer.explain(X.iloc[70], "barolo") for a, explainer in chosen.items()}


def test_among_all_reaches_the_threshold(answers, wine):
    assert (answers["each"].against, answers["all"].against) == ("each", "all")
    assert answers["each"].probability < 0.5 <= answers["all"].probability
    assert answers["each"].distance < answers["all"].lower_bound
    for e in answers.values():
        assert verify(e, wine[2]).ok
        again = Explanation.from_json(e.to_json())
        assert again.to_dict() == e.to_dict()
        assert verify(again, wine[2]).ok


def test_less_than_one_half_is_never_read_as_a_majority(answers, wine):
    each, among_all = answers["each"], answers["all"]
    words = "the highest of 3 classes but not a majority"
    assert f"{100 * each.probability:.1f} %, {words}" in str(each)
    assert words in report_page(each, wine[2])
    assert "against each other class" in str(each)
    assert "majority" not in str(among_all)
    assert "among all 3 classes" in str(among_all)
    assert "0.5 among all classes" in report_page(among_all, wine[2])
    assert "among all 3 classes" in str(verify(among_all, wine[2]))


def test_a_row_that_has_the_target_without_a_majority(wine):
    X, _, clf = wine
    chances = clf.predict_proba(X)
    k = int(np.flatnonzero(chances.max(axis=1) < 0.5)[0])
    label = clf.classes_[chances[k].argmax()]
    e = CounterfactualExplainer(clf).explain(X.iloc[k], label)
    assert (str(e.status), "not a majority" in str(e)) == ("already_target", True)
    among_all = CounterfactualExplainer(clf, against="all").explain(X.iloc[k], label)
    assert among_all.distance > 0
    assert among_all.probability >= 0.5


def test_robustness_is_that_of_the_probability(wine):
    X, _, clf = wine
    e = surefoot.CounterfactualExplainer(clf, against="all", budget=0.1).explain(X.iloc[70], "barolo")
    assert e.worst_probability >= 0.5
    assert "the probability of barolo stays at least 50.0 %; this is proven" in str(e)
    assert verify(e, clf).ok


def test_every_model_has_the_probability(wine):
    X, y, clf = wine
    explainer = CounterfactualExplainer(clf, against="all", models=2, data=(X, y))
    e = explainer.explain(X.iloc[70], "barolo")
    for model in (clf, *e.searched_with):
        assert model.predict_proba(e.counterfactual.to_frame().T)[0, 1] >= 0.5
    assert clf.classes_[1] == "barolo"
    assert verify(e, clf).ok
    assert any("among all classes, under" in line for line in str(e).split(";"))


def test_what_cannot_be_asked(wine):
    X, y, clf = wine
    with pytest.raises(ProblemError, match="against must be 'each' or 'all', not 'al'; did you mean 'all'"):
        CounterfactualExplainer(clf, against="al")
    with pytest.raises(ProblemError, match="against must be"):
        CounterfactualExplainer(clf, against=["all"])
    with pytest.raises(ProblemError, match="against='all' needs method='certified'"):
        CounterfactualExplainer(clf, against="all", method="qcqp")
    machine = LinearSVC(dual=False).fit(X, y)
    with pytest.raises(ProblemError, match="needs probabilities"):
        CounterfactualExplainer(machine, against="all", data=(X, y))


def test_nothing_leads_to_a_high_probability(wine):
    """Within a small range nothing reaches it: proven, and said why."""
    X, _, clf = wine
    ends = {name: (X.iloc[70][name] - 1e-3, X.iloc[70][name] + 1e-3) for name in X}
    explainer = CounterfactualExplainer(clf, against="all", bounds=ends, time_limit=1)
    e = explainer.explain(X.iloc[70], "barolo", on_failure="return")
    assert (str(e.status), e.lower_bound) == ("infeasible", np.inf)
    assert e.conflict
    assert verify(e, clf).ok


def test_the_boundary_that_is_drawn(answers, wine):
    """The margin of a picture changes its sign where the probability passes the threshold."""
    e, (X, _, clf) = answers["all"], wine
    section = whitened_section(e, clf)
    t = np.random.default_rng(0).normal(0, 2, (200, 2))
    chances = clf.predict_proba(pd.DataFrame(section.points(t), columns=X.columns))[:, 1]
    assert ((section.margin(t) >= 0) == (chances >= 0.5)).all()


def test_command_line(wine, tmp_path, capsys):
    X, _, clf = wine
    clf.save(tmp_path / "model.json")
    X.iloc[70:74].to_csv(tmp_path / "rows.csv", index=False)
    files = [str(tmp_path / "model.json"), str(tmp_path / "rows.csv")]
    asked = ["--row", "0", "--target", "barolo", "--against", "all", "--json", str(tmp_path / "e.json")]
    assert main(["explain", *files, *asked]) == 0
    assert "among all 3 classes" in capsys.readouterr().out
    kinds = [r["kind"] for r in json.loads((tmp_path / "e.json").read_text())["question"]["requirements"]]
    assert kinds.count("probability") == 1
    assert main(["verify", files[0], str(tmp_path / "e.json")]) == 0


def test_more_safety_costs_more_among_all(wine):
    X, _, clf = wine
    explainer = surefoot.CounterfactualExplainer(clf, against="all")
    table = explainer.trade_off(X.iloc[70], "barolo", budget=(0, 0.1), plausible=()).table
    assert table["distance"].is_monotonic_increasing
    assert table["lower_bound"].is_monotonic_increasing
