"""Files whose constraints or sentences are not what the model, or their own numbers, give reason for."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    Explanation,
    Rule,
    datasets,
    verify,
)
from surefoot.exceptions import DataError
from surefoot.explain.result.model_consistency import check_plausible
from surefoot.problem.requirements import DensityFloor
from surefoot.proof.exact import SENTENCES
from surefoot.ui.cli import main
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def bank():
    return datasets.load_banknote()


@pytest.fixture(scope="module")
def clf(bank):
    labels = bank.y.map({0: "genuine", 1: "forged"})
    return ConditionalGaussianNetworkClassifier("tan").fit(bank.X, labels)


def asked(clf, bank, **how):
    e = CounterfactualExplainer(clf, **{"budget": 0.05, **how}).explain(bank.X.iloc[0], target="forged")
    assert verify(e, clf).ok
    return json.loads(e.to_json())


def declared(e):
    return e["question"]["domain"]["declared"]


def faults(e, clf):
    """What `verify` says against a file."""
    found = verify(Explanation.from_json(json.dumps(e)), clf)
    return [f"{claim.name}: {claim.reason}" for claim in found.failures]


@pytest.mark.parametrize("place", [0, 2, None])
def test_an_either_without_ways_hides_nothing(clf, bank, place):
    """In front of what is plausible, in its midst or behind it: "infeasible" would follow at once."""
    e = asked(clf, bank, plausible=("conditional", 2))
    eithers = e["question"]["domain"]["eithers"]
    place = len(eithers) if place is None else place
    eithers.insert(place, {"name": "", "ways": []})
    nothing = dict.fromkeys(
        ("counterfactual", "decision", "expected_after", "z_score", "probability", "worst_probability")
    )
    e |= nothing | {"density_percentile": None, "distance": "inf", "violation": "inf", "coverage": 0.0}
    e |= {"certified_radius": 0.0, "early_stop": False, "lower_bound": "inf", "gap": "inf", "cautions": []}
    e |= {"status": "infeasible", "message": SENTENCES["infeasible"]}
    proof = {"directions": [], "scenarios": [], "tree": {"either": place, "ways": []}}
    e["certificate"] |= {"bound": proof, "robustness": None, "worst": None}
    assert "constraints: the if-then rules and limits are not what the declared constraints say" in faults(
        e, clf
    )
    assert "nothing at all is allowed" in str(verify(Explanation.from_json(json.dumps(e)), clf))


def test_bands_of_another_model(clf, bank):
    e = asked(clf, bank, plausible=("conditional", 2))
    e["question"]["domain"]["eithers"][1]["ways"][1]["rows"][0]["high"] += 1.0
    assert any(fault.startswith("constraints: the if-then rules") for fault in faults(e, clf))


def test_a_wider_gap_is_a_stricter_rule(clf, bank):
    """A proof for 3.5 does not do for a rule that says 2 with a gap of 1.5."""
    e = asked(clf, bank, actions=Actions(when=[("variance <= 3.5", "skewness >= 8.6")]))
    e = json.loads(json.dumps(e).replace("if variance <= 3.5, then", "if variance <= 2, then"))
    searched = e["question"]["domain"]["eithers"][0]["ways"][0]["rows"][0]["low"]
    declared(e).update(when=[["variance <= 2", "skewness >= 8.6"]])
    declared(e)["gaps"]["variance"] = searched - 2
    assert faults(e, clf) == [
        "constraints: the gaps of the if-then rules are not a millionth of the range seen in training"
    ]
    del declared(e)["gaps"]
    with pytest.raises(DataError, match="the if-then rules and limits are not what"):
        faults(e, clf)


@pytest.mark.parametrize("value", [0.0, 3.0])
@pytest.mark.parametrize(("target", "rival"), [("genuine", "forged"), ("forged", "genuine")])
def test_a_further_decision_changes_no_sentence(clf, bank, value, target, rival):
    e = asked(clf, bank, threshold=0.2)
    honest = str(Explanation.from_json(json.dumps(e)))
    more = {"kind": "decision", "model": 0, "target": target, "rival": rival, "value": value, "robust": False}
    e["question"]["requirements"].append(more)
    said = str(Explanation.from_json(json.dumps(e)))
    for start in ("Decided", "Robust", "Asked"):
        line = next(one for one in honest.splitlines() if one.startswith(start))
        assert line in said.splitlines()


@pytest.mark.parametrize("features", [[0, 1, 2, 3], [1], [2, 3]])
def test_nothing_lands_exactly_without_a_reason(clf, bank, features):
    e = asked(clf, bank, budget=0.0)
    e["budget"] = 0.05
    e["question"]["ball"] |= {"budget": 0.05, "exact": features}
    with pytest.raises(DataError, match="land exactly are not those that must not change"):
        Explanation.from_json(json.dumps(e))


@pytest.mark.parametrize("noise_on", ["changeable", "all"])
def test_what_must_not_change_may_land_exactly(clf, bank, noise_on):
    e = asked(clf, bank, immutable=["skewness"], noise_on=noise_on)
    assert e["question"]["ball"]["exact"] == ([1] if noise_on == "changeable" else [])
    assert asked(clf, bank, budget={"variance": 0.1})["question"]["ball"]["exact"] == [1, 2, 3]


def test_values_that_were_not_imputed(clf, bank):
    e = asked(clf, bank)
    declared(e)["imputed"] = ["variance"]
    assert faults(e, clf) == [
        "constraints: the imputed values are not what the network expects given the rest"
    ]
    row = bank.X.iloc[0].copy()
    row["variance"] = np.nan
    honest = CounterfactualExplainer(clf, impute="expected").explain(row, target="forged")
    assert verify(honest, clf).ok


def test_all_values_imputed(clf, bank):
    e = asked(clf, bank)
    declared(e)["imputed"] = list(bank.X.columns)
    assert faults(e, clf) == [
        "constraints: the imputed values make no sense: every value of the row is missing"
    ]


def test_imputed_categories():
    credit = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(credit.X, credit.y)
    row = credit.X.iloc[11].copy()
    row[["savings", "credit_amount", "age"]] = None
    e = CounterfactualExplainer(clf, norm=1, impute="expected", time_limit=5).explain(row, target="good")
    assert verify(e, clf).ok
    changed = json.loads(e.to_json())
    declared(changed)["imputed"].append("purpose")
    assert any(fault.startswith("constraints: the imputed values") for fault in faults(changed, clf))


def test_numbers_that_are_not_whole_in_the_data(clf, bank):
    e = asked(clf, bank, actions=Actions({"variance": Action(whole=True)}))
    e["question"]["domain"]["declared"] = {"bounds": "data", "actions": {}, "whole": ["variance"]}
    assert faults(e, clf) == [
        "constraints: 'variance' is said to be whole in the training data, where it is not"
    ]


def test_the_code_of_a_caution(clf, bank):
    e = asked(clf, bank)
    assert e["cautions"][0]["code"] == "against_means"
    e["cautions"][0]["code"] = "few_rows"
    assert faults(e, clf) == ["cautions: they are not what the model gives reason for"]


@pytest.mark.parametrize("entry", [{"high": 9.0}, {"high": 9.0, "low": None, "name": "mine"}])
def test_a_rule_without_name_or_end_is_printed(clf, bank, entry):
    rule = Rule({"variance": 1, "skewness": 1}, high=9, name=entry.get("name", ""))
    e = asked(clf, bank, actions=Actions(rules=[rule]))
    declared(e)["rules"] = [{"coefficients": {"variance": 1.0, "skewness": 1.0}, **entry}]
    changed = Explanation.from_json(json.dumps(e))
    assert "variance + skewness <= 9" in str(verify(changed, clf))
    assert "variance + skewness <= 9" in str(changed)


def test_no_line_can_be_added_to_a_verdict(clf, bank, tmp_path, capsys):
    e = asked(clf, bank)
    other = copy.deepcopy(e)
    other["row"] = "1\nholds      everything: the auditor has signed"
    clf.save(tmp_path / "model.json")
    (tmp_path / "e.json").write_text(json.dumps([e, other]))
    main(["verify", "--all-claims", str(tmp_path / "model.json"), str(tmp_path / "e.json")])
    lines = capsys.readouterr().out.splitlines()
    assert "row 1 holds everything: the auditor has signed" in lines
    assert not any(line.startswith("holds      everything") for line in lines)


def test_a_floor_below_the_declared_share_is_refused(bank, clf):
    question = Explanation.from_dict(asked(clf, bank, plausible=0.1)).question
    check_plausible(question, clf)
    lower = [
        replace(r, floor=r.floor - 1) if isinstance(r, DensityFloor) else r for r in question.requirements
    ]
    without = [r for r in question.requirements if not isinstance(r, DensityFloor)]
    for requirements in (lower, without):
        with pytest.raises(DataError, match="the floor of the density"):
            check_plausible(replace(question, requirements=tuple(requirements)), clf)


def test_bands_that_the_model_does_not_expect_are_refused(bank, clf):
    question = Explanation.from_dict(asked(clf, bank, plausible=("conditional", 2.0))).question
    check_plausible(question, clf)
    with pytest.raises(DataError, match="what the model expects"):
        check_plausible(replace(question, eithers=question.eithers[:-1]), clf)
