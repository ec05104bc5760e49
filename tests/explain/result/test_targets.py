"""The nearest of several targets: found, proven, written, refused where it makes no sense."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

import surefoot
from surefoot import ConditionalGaussianNetworkClassifier, Explanation, NoCounterfactualError, Status, verify
from surefoot.exceptions import DataError, ProblemError
from surefoot.ui.cli.main import main
from tests.asking import CounterfactualExplainer

BOTH = ["paid", "late"]


@pytest.fixture(scope="module")
def loans():
    """Rows of which none has one of the two targets."""
    table = load_wine(as_frame=True)
    X, y = table.data.iloc[:, :4], np.array(["paid", "late", "gone"])[table.target]
    clf = ConditionalGaussianNetworkClassifier(structure="naive").fit(X, y)
    return clf, X[clf.predict(X) == "gone"].head(8)


@pytest.mark.parametrize(
    "settings", [{}, {"against": "all", "budget": 0.1}, {"plausible": ("conditional", 2.0)}]
)
def test_the_nearest_is_found_and_proven(loans, settings):
    clf, X = loans
    explainer = CounterfactualExplainer(clf, **settings)
    for _, row in X.head(4).iterrows():
        e = explainer.explain(row, BOTH)
        alone = {target: explainer.explain(row, target) for target in BOTH}
        assert e.target == min(BOTH, key=lambda target: alone[target].distance)
        assert e.distance == alone[e.target].distance
        assert e.lower_bound == min(one.lower_bound for one in alone.values())
        assert set(e.targets) == set(BOTH)
        assert verify(e, clf).ok


def test_json_and_back(loans):
    clf, X = loans
    e = surefoot.CounterfactualExplainer(clf).explain(X.iloc[0], BOTH)
    assert len(e.to_dict()["others"]) == 1
    again = Explanation.from_json(e.to_json())
    assert again.to_dict() == e.to_dict()
    assert again.targets == e.targets
    assert verify(again, clf).ok
    assert "others" not in surefoot.CounterfactualExplainer(clf).explain(X.iloc[0], BOTH[:1]).to_dict()


def test_files_that_were_changed(loans):
    clf, X = loans
    e = CounterfactualExplainer(clf).explain(X.iloc[0], BOTH)
    text = e.to_json()
    for change in ({"others": []}, {"others": None}, {"others": [{}]}, {"others": 3}):
        with pytest.raises(DataError):
            Explanation.from_json(json.dumps(json.loads(text) | change))
    values = json.loads(text)
    values["others"][0]["lower_bound"] += 0.1
    assert not verify(Explanation.from_json(json.dumps(values)), clf).ok
    values = json.loads(text)
    values["others"][0]["certificate"]["bound"] = None
    assert not verify(Explanation.from_json(json.dumps(values)), clf).ok
    values = json.loads(text)
    values["others"][0]["question"]["domain"]["low"][0] += 1.0
    assert not verify(Explanation.from_json(json.dumps(values)), clf).ok


def test_what_is_plausible_of_the_others_is_checked_by_the_model(loans):
    """A forged file may not hide the other target behind rules that the model does not give reason for."""
    clf, X = loans
    e = CounterfactualExplainer(clf, plausible=("conditional", 2.0)).explain(X.iloc[0], BOTH)
    values = json.loads(e.to_json())
    values["others"][0]["question"]["domain"]["eithers"] = []
    assert not verify(Explanation.from_json(json.dumps(values)), clf).ok


def test_words(loans):
    clf, X = loans
    e = CounterfactualExplainer(clf).explain(X.iloc[0], BOTH)
    assert f"is enough for {e.targets[0]} or {e.targets[1]}" in str(e)
    assert f"one of the classes {e.targets[0]}, {e.targets[1]}" in str(e)
    assert f"target {e.targets[1]}: claimed" in str(verify(e, clf))


def test_a_row_that_has_one_of_them_already(loans):
    clf, X = loans
    e = CounterfactualExplainer(clf).explain(X.iloc[0], ["paid", "gone"])
    assert (e.status, e.target, e.distance) == (Status.ALREADY_TARGET, "gone", 0)
    assert verify(e, clf).ok


def test_none_of_them_can_be_reached(loans):
    clf, X = loans
    ends = {name: (X.iloc[0][name] - 1e-3, X.iloc[0][name] + 1e-3) for name in X}
    with pytest.raises(NoCounterfactualError) as error:
        CounterfactualExplainer(clf, bounds=ends, time_limit=0.5).explain(X.iloc[0], BOTH)
    e = error.value.explanation
    assert (e.status, e.lower_bound, len(e.others)) == (Status.INFEASIBLE, np.inf, 1)
    assert all(f"{target}: " in e.advice for target in BOTH)
    assert verify(e, clf).ok


def test_one_of_them_can_be_reached(loans):
    """Impossible for one, and a way to the other."""
    clf, X = loans
    row = X.iloc[0]
    explainer = CounterfactualExplainer(clf)
    far = max(BOTH, key=lambda target: explainer.explain(row, target).distance)
    near = next(target for target in BOTH if target != far)
    there = explainer.explain(row, near).counterfactual
    ends = {name: tuple(sorted((row[name], there[name]))) for name in X}
    e = CounterfactualExplainer(clf, bounds=ends).explain(row, [far, near])
    assert (e.target, e.others[0].lower_bound) == (near, np.inf)
    assert verify(e, clf).ok


def test_short_time_is_shared(loans):
    clf, X = loans
    e = CounterfactualExplainer(clf, budget=0.1, time_limit=1e-3).explain(
        X.iloc[0], BOTH, on_failure="return"
    )
    assert verify(e, clf).ok
    assert e.seconds < 1.5


def test_a_batch_has_the_same_answers(loans):
    clf, X = loans
    explainer = surefoot.CounterfactualExplainer(clf)
    batch = explainer.explain_batch(X, [BOTH] * len(X), progress=False)
    mixed = explainer.explain_batch(X.head(3), ["paid", BOTH, "late"], progress=False)
    assert [len(e.others) for e in mixed] == [0, 1, 0]
    for e, (_, row) in zip(batch, X.iterrows(), strict=True):
        assert (e.target, e.distance) == ((one := explainer.explain(row, BOTH)).target, one.distance)
        assert verify(e, clf).ok


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (["paid", "lat"], r"unknown target 'lat'; .*did you mean 'late'"), ([], "empty list"),
        (["paid", "paid"], "names 'paid' twice"), ([["paid"]], "unknown target"), (["paid", None], "target"),
        ([BOTH], "unknown target"),
    ],
)  # fmt: skip
def test_targets_that_make_no_sense(loans, target, said):
    clf, X = loans
    with pytest.raises(ProblemError, match=said):
        CounterfactualExplainer(clf).explain(X.iloc[0], target)
    with pytest.raises(ProblemError, match=said):
        CounterfactualExplainer(clf).explain_batch(X.head(2), [target, target], progress=False)


def test_alternatives_are_about_one_target(loans):
    clf, X = loans
    with pytest.raises(ProblemError, match="one target"):
        CounterfactualExplainer(clf).alternatives(X.iloc[0], BOTH)


def test_command_line(loans, tmp_path, capsys):
    clf, X = loans
    clf.save(tmp_path / "model.json")
    X.head(3).to_csv(tmp_path / "rows.csv", index=False)
    files = [str(tmp_path / "model.json"), str(tmp_path / "rows.csv")]
    both = ["--target", "paid", "--target", "late"]
    assert main(["explain", *files, "--row", "0", *both, "--json", str(tmp_path / "e.json")]) == 0
    assert "one of the classes" in capsys.readouterr().out
    assert main(["verify", files[0], str(tmp_path / "e.json")]) == 0
    assert main(["explain", *files, "--all", *both, "--output", str(tmp_path / "all.csv"), "--quiet"]) == 0
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 4
    assert main(["explain", *files, "--row", "0", "--target", "paid", "--target", "paid"]) == 2
    assert "--target paid is given twice" in capsys.readouterr().err
    assert main(["explain", *files, "--row", "0", "--target", "paid", "--target", "lat"]) == 2
    assert "did you mean 'late'" in capsys.readouterr().err
