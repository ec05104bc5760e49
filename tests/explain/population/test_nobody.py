"""Nobody in this region: against trying every person and every change, and what it says."""

import itertools
import json
import math
import subprocess
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import surefoot
from surefoot import Action, Actions, CounterfactualExplainer, Nobody, datasets, verify
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.population.regions import regions
from surefoot.proof import exact
from surefoot.ui.cli.main import main
from tests.mixed_tables import lender, lending
from tests.regions import judged
from tests.thinning import only

STAYS = dict.fromkeys(["debt", "savings", "housing"], "stay")
NO_WAY = {"debt": (4000, None), "savings": "little", "housing": ["rent", "free"]}


@cache
def explainer(**settings):
    actions = Actions({**STAYS, "income": Action("rise", most=300)})
    return CounterfactualExplainer(lender(), actions=actions, **settings)


@cache
def proven():
    return explainer().nobody(NO_WAY, "good")


@pytest.mark.parametrize("seed", only([*range(1, 7), *range(10, 20)], range(40)))
def test_equal_to_trying_everything(seed):
    _, found, verdict, wrong = judged(seed)
    assert not wrong
    assert verdict != "undecided", found.words


def test_what_is_proven():
    found = proven()
    assert found.holds is True
    assert found.person is found.explanation is None
    assert 0 < found.seconds < 30
    assert str(found) == (
        "Nobody in the region (housing free or rent, debt 4000 to 7633.39, savings little) can get to good "
        "by an allowed change, and nobody is there already. This is proven, by 1 proof."
    )
    assert verify(found, lender()).ok
    assert verify(found.certificate, lender()).ok
    json.dumps(found.certificate, allow_nan=False)


def test_no_row_of_the_region_has_a_way():
    X, _ = lending()
    rows = X[(X["debt"] >= 4000) & (X["savings"] == "little") & X["housing"].isin(["rent", "free"])]
    assert len(rows)
    found = explainer(diagnose=False).explain_batch(rows, "good", progress=False)
    assert {e.status for e in found} == {"infeasible"}


def test_somebody_is_refused_and_has_a_way():
    found = explainer().nobody({"debt": (4000, None)}, "good")
    assert found.holds is False
    assert found.person["debt"] >= 4000
    assert not explainer().accepted([found.person], "good")[0]
    assert explainer().explain(found.person, "good").counterfactual is not None
    assert found.explanation.counterfactual["income"] <= found.person["income"] + 300
    assert found.words.startswith("Somebody in the region (debt 4000 to 7633.39) can get to good")
    assert verify(found, lender()).ok


def test_somebody_who_has_the_target_is_said_so():
    stays = dict.fromkeys(lender().feature_labels_, "stay")
    found = CounterfactualExplainer(lender(), actions=Actions(stays)).nobody({}, "good")
    assert found.holds is False
    assert found.explanation.status == "already_target"
    assert "is decided as good already; nobody who is refused and has a way was found" in found.words


def test_what_comes_from_the_preset_gives_way():
    """Three changes are not enough for some, but more are: the preset's limit must not make a proof."""
    X, y = _sums(5)
    clf = surefoot.ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    region = dict.fromkeys(X.columns, (-2.0, -1.0))
    most = Actions({name: Action(most=1.4) for name in X})
    free, limited = (CounterfactualExplainer(clf, actions=most, **some) for some in ({}, {"at_most": 2}))
    assert free.nobody(region, "yes").holds is False
    found = limited.nobody(region, "yes")
    assert found.holds is True
    assert verify(found, clf).ok
    assert "changes" in json.dumps(found.certificate["tree"])


def _sums(n):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, n)), columns=[f"x{i}" for i in range(n)])
    return X, np.where(X.sum(axis=1) > 0, "yes", "no")


def test_rules_over_what_persons_are():
    """With the sum of both held below today's, nobody below the line gets over it."""
    X, y = _sums(2)
    clf = LogisticRegression().fit(X, y)
    kept = Actions(rules=["x0 + x1 <= x0.now + x1.now + 0.5"])
    asked = CounterfactualExplainer(clf, actions=kept, data=(X, y))
    found = asked.nobody({"x0": (-1.5, -0.6), "x1": (-1.5, -0.6)}, "yes")
    assert found.holds is True
    assert verify(found, asked.classifier).ok
    met = asked.nobody({"x0": (-1.5, -0.2), "x1": (-1.5, -0.2)}, "yes")
    assert met.holds is False
    assert met.person["x0"] + met.person["x1"] >= -0.6


def test_who_has_the_target_and_breaks_a_rule_is_not_counted_and_that_is_said():
    X, y = _sums(2)
    clf = LogisticRegression().fit(X, y)
    values = clf.decision_function(X)
    there = X.iloc[int(np.flatnonzero((values > 0.1) & (values < 1))[0])]
    region = there.to_dict()
    stays = dict.fromkeys(X, "stay")
    asked = CounterfactualExplainer(clf, actions=Actions(stays), data=(X, y))
    assert asked.nobody(region, "yes").holds is False
    ruled = CounterfactualExplainer(clf, actions=Actions(stays, rules=["x0 + x1 <= -9"]), data=(X, y))
    found = ruled.nobody(region, "yes")
    assert found.holds is True
    assert found.words.endswith("Persons who are decided as yes but break a rule do not count as there.")
    strict = CounterfactualExplainer(clf, actions=Actions(stays), threshold=0.9, data=(X, y))
    assert "but are below the threshold do not count" in strict.nobody(region, "yes").words


def test_logistic_regression():
    """A region of an adopted linear model: what is known as confined for such models, without a solver."""
    table = datasets.load_pima()
    X, y = table.X, table.y
    clf = LogisticRegression(max_iter=1000).fit(X, y)
    kept = Actions({**dict.fromkeys(["preg", "age", "pedi"], "stay"), "plas": Action(most=10)})
    asked = CounterfactualExplainer(
        clf, actions=kept, data=(X, y), immutable=["mass", "pres", "skin", "insu"]
    )
    region = {"plas": (190, None), "mass": (45, None), "preg": (6, None), "pres": (None, 80)}
    found = asked.nobody(region, asked.classifier.classes_[0])
    assert found.holds is True
    assert verify(found, asked.classifier, time_limit=20).ok
    met = asked.nobody({"plas": (120, None)}, asked.classifier.classes_[0])
    assert met.holds is False
    assert asked.explain(met.person, met.target).counterfactual is not None


@cache
def scored():
    """Loans by logistic regression; duration and amount may fall a little, all else stays."""
    credit = datasets.load_german_credit()
    X, names = credit.X[["checking_account", "savings", "duration_months", "credit_amount"]], FALLS
    encoder = make_column_transformer(
        (OneHotEncoder(), ["checking_account", "savings"]), ("passthrough", [*names])
    )
    model = make_pipeline(encoder, StandardScaler(), LogisticRegression()).fit(X, credit.y)
    actions = {name: Action("fall", most=most) for name, most in names.items()}
    stays = dict.fromkeys(["checking_account", "savings"], "stay")
    return model, X, CounterfactualExplainer(model, actions=Actions({**stays, **actions}), data=(X, credit.y))


FALLS = {"duration_months": 6, "credit_amount": 1000}


def best_score(model, X, account, savings, months):
    """The highest score that anybody gets to: a sum of a part for each feature, each at its best."""
    every = pd.DataFrame(
        itertools.product(account, savings, months, X["credit_amount"].agg(["min", "max"])), columns=X.columns
    )
    some = itertools.chain.from_iterable(itertools.combinations(FALLS, k) for k in range(len(FALLS) + 1))
    tables = [
        every.assign(**{n: np.maximum(every[n] - FALLS[n], X[n].min()) for n in names}) for names in some
    ]
    return max(model.decision_function(table).max() for table in tables)


@pytest.mark.parametrize("months", only([25, 37], range(7, 73, 3)))
@pytest.mark.parametrize("savings", [["below 100 DM"], ["below 100 DM", "100 to 500 DM"], None])
def test_a_region_of_three_features_is_decided_without_a_solver(months, savings):
    """Everybody who has no money in the account and asks for a long loan, as ReVer (ICML 2025) asks."""
    model, X, asked = scored()
    region = {"checking_account": "below 0 DM", "duration_months": (months, None)}
    found = asked.nobody({**region, "savings": savings} if savings else region, "good")
    ends = months, X["duration_months"].max()
    best = best_score(model, X, ["below 0 DM"], savings or X["savings"].unique(), ends)
    assert found.holds is bool(best < 0)
    assert verify(found, asked.classifier).ok
    if not found.holds:
        assert model.predict(found.person.to_frame().T)[0] == "bad"
        assert model.predict(found.explanation.counterfactual.to_frame().T)[0] == "good"
        assert asked.explain(found.person, "good").counterfactual is not None


def test_ends_beyond_the_data():
    X, y = _sums(2)
    asked = CounterfactualExplainer(LogisticRegression().fit(X, y), immutable=["x0", "x1"], data=(X, y))
    region = {"x0": (-50.0, -1.0), "x1": (-50.0, 0.5)}
    assert asked.nobody(region, "yes").holds is True
    assert asked.nobody({**region, "x1": (-math.inf, math.inf)}, "yes").holds is False


def test_a_time_limit_leaves_it_undecided():
    found = explainer().nobody(NO_WAY, "good", time_limit=1e-9)
    assert found.holds is None
    assert found.words.endswith("The time limit was reached.")
    assert not verify(found, lender()).ok


def test_if_then_rules_are_left_out_of_proofs():
    actions = Actions({**STAYS, "income": Action("rise", most=300)}, when=[("income rises", "months >= 10")])
    found = CounterfactualExplainer(lender(), actions=actions).nobody(NO_WAY, "good")
    assert found.holds is True
    assert len(found.certificate["context"]["left_out"]) == 1


def test_an_if_then_rule_alone_proves_nothing():
    X, y = _sums(2)
    clf = surefoot.ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    never = Actions({"x0": "stay"}, when=[("x1 rises", "x0 >= 50"), ("x1 falls", "x0 >= 50")])
    region = {"x0": (0.0, 0.1), "x1": (-1.5, -1.0)}
    found = CounterfactualExplainer(clf, actions=never).nobody(region, "yes")
    assert found.holds is None
    assert "Proofs about regions do without errors, the rule" in found.words


def test_json_both_ways(tmp_path):
    for found in (proven(), explainer().nobody({"debt": (4000, None)}, "good")):
        found.save(tmp_path / "nobody.json")
        again = Nobody.from_json((tmp_path / "nobody.json").read_text())
        assert again.certificate == json.loads(found.to_json())
        assert (again.words, again.holds, again.target) == (found.words, found.holds, found.target)
        assert verify(again, lender()).ok
        assert (again.person is None) == (found.person is None)


def test_words_that_were_forged_are_refused():
    document = json.loads(proven().to_json())
    context, region = document["context"], document["region"]
    number = document["features"].index("debt")
    whole = [*region[:number], {**region[number], "values": "whole"}, *region[number + 1 :]]
    for forged in (
        {"context": {**context, "named": []}},
        {"context": {**context, "named": context["named"][1:]}},
        {"context": {**context, "dates": [number]}},
        {"region": whole},
    ):
        again = Nobody.from_dict({**document, **forged})
        assert [claim.name for claim in verify(again, lender()).failures] == ["words"]
    met = json.loads(explainer().nobody({"debt": (3000, None), "housing": ["own", "rent"]}, "good").to_json())
    met["context"]["accepted"] = True
    assert not verify(Nobody.from_dict(met), lender()).ok


def test_listed_values_beyond_the_ends_are_not_named():
    document = json.loads(proven().to_json())
    number = document["features"].index("debt")
    document["region"][number] = {"low": 5000.0, "high": 6000.0, "values": [100.0, 5000.0, 6000.0]}
    assert "debt 5000 or 6000" in Nobody.from_dict(document).words


@pytest.mark.parametrize(
    "change",
    [{"version": 2}, {"holds": "yes"}, {"holds": False}, {"context": {}}, {"region": []}, {"more": 1},
     {"format": "surefoot-explanation"}],
)  # fmt: skip
def test_what_is_no_file_about_a_region_is_refused(change):
    with pytest.raises(DataError):
        Nobody.from_dict({**proven().certificate, **change})
    with pytest.raises(DataError):
        Nobody.from_json("{")


@pytest.mark.parametrize(
    ("region", "said"),
    [
        ({"debts": 3}, "debts"),
        ({"debt": (5, 4)}, "'debt' is empty: 5 to 4"),
        ({"debt": (9000, None)}, r"9000 to 7633.39 \(where the training data end\)"),
        ({"debt": "much"}, "'debt' must hold numbers, not 'much'"),
        ({"debt": (math.nan, None)}, "must hold numbers"),
        ({"debt": [math.inf]}, "must hold numbers"),
        ({"debt": (1, 2, 3)}, "a pair"),
        ({"debt": []}, "lists no value of 'debt'"),
        ({"months": 1.5}, "whole numbers, but the region has 1.5"),
        ({"housing": "hut"}, "no value 'hut'"),
        ({"housing": []}, "lists no value of 'housing'"),
        (["debt"], "must be a dict"),
    ],
)
def test_a_region_that_makes_no_sense_is_refused(region, said):
    with pytest.raises(ProblemError, match=said):
        explainer().nobody(region, "good")


def test_a_target_is_named():
    with pytest.raises(ProblemError, match="name the target"):
        explainer().nobody(NO_WAY)
    with pytest.raises(ProblemError, match="unknown target"):
        explainer().nobody(NO_WAY, "great")
    with pytest.raises(ProblemError, match="time_limit"):
        explainer().nobody(NO_WAY, "good", time_limit=0)


def test_dates_and_listed_numbers_read_well():
    found = explainer().nobody(
        {"debt": [6000, 7000], "months": 40, "savings": "little", "housing": "rent"}, "good"
    )
    assert found.holds is True
    assert "(housing rent, debt 6000 or 7000, savings little, months 40)" in found.words


def test_the_command(tmp_path, capsys):
    model, out, actions = (str(tmp_path / name) for name in ("model.json", "nobody.json", "actions.toml"))
    lender().save(model)
    (tmp_path / "actions.toml").write_text(explainer().actions.to_toml())
    asked = ["nobody", model, "--target", "good", "--actions", actions]
    place = ["--region", "debt=4000:", "--region", "savings=little", "--region", "housing=rent,free"]
    assert main([*asked, *place, "--json", out]) == 0
    assert capsys.readouterr().out.startswith("Nobody in the region (housing free or rent, debt 4000")
    assert main(["verify", model, out]) == 0
    assert "All 3 claims hold." in capsys.readouterr().out
    alone = [sys.executable, "-I", exact.__file__, model, out]
    assert subprocess.run(alone, capture_output=True, check=False).returncode == 0
    forged = json.loads((tmp_path / "nobody.json").read_text())
    forged["region"][2]["low"] = 1000.0
    (tmp_path / "nobody.json").write_text(json.dumps(forged))
    assert main(["verify", model, out]) == 1
    assert subprocess.run(alone, capture_output=True, check=False).returncode == 1
    assert main([*asked, "--region", "debt=4000:", "--json", "-"]) == 1
    assert main([*asked, "--region", "deb=4000:"]) == 2
    assert "did you mean 'debt'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("debt=a:", "'a' is not a number"),
        ("debt", "write FEATURE=VALUES\n"),
        ("debt=", "'' is not a number"),
        ("housing=hut", "no value 'hut'"),
    ],
)
def test_regions_at_the_command_line_that_make_no_sense(text, message, tmp_path, capsys):
    lender().save(tmp_path / "model.json")
    assert main(["nobody", str(tmp_path / "model.json"), "--target", "good", "--region", text]) == 2
    assert message in capsys.readouterr().err
    both = ["--region", "months=10", "--region", "months=20"]
    assert main(["nobody", str(tmp_path / "model.json"), "--target", "good", *both]) == 2


# The largest regions


@cache
def found_regions():
    X = lending()[0].head(150)
    audit = explainer(diagnose=False).audit(X, "good", n_jobs=1, progress=False)
    return audit.regions(time_limit=40)


def test_the_largest_regions_hold_their_rows():
    X = lending()[0].head(150)
    table = found_regions()
    assert len(table)
    for line in table.itertuples():
        inside = X[
            [all(_is_in(row[name], said) for name, said in line.region.items()) for _, row in X.iterrows()]
        ]
        assert len(inside) == line.rows == line.asked > 0
        assert verify(line.proof, lender()).ok
        es = explainer(diagnose=False).explain_batch(inside.head(5), "good", progress=False)
        assert {e.status for e in es} == {"infeasible"}
    assert table["rows"].is_monotonic_decreasing


def _is_in(value, said):
    if isinstance(said, list):
        return value in said
    low, high = said
    return (low is None or value >= low) and (high is None or value <= high)


def test_regions_over_one_feature():
    X, _ = _sums(2)
    X["x1"] = X["x1"].clip(-1, 1)
    y = np.where(3 * X["x0"] + X["x1"] > 0, "yes", "no")
    kept = Actions({"x0": "stay", "x1": Action(most=0.5)})
    asked = CounterfactualExplainer(LogisticRegression().fit(X, y), actions=kept, data=(X, y))
    table = regions(asked, X, "yes", depth=1)
    assert [list(region) for region in table["region"]] == [["x0"]]
    low, high = table["region"][0]["x0"]
    assert low is None
    assert asked.nobody({"x0": (None, high)}, "yes").holds is True
    assert asked.nobody({"x0": (None, high + 0.2)}, "yes").holds is False
    with pytest.raises(ProblemError, match="depth must be 1 or 2"):
        regions(asked, X, "yes", depth=3)


def test_where_everybody_has_a_way_there_is_no_region():
    X, y = _sums(2)
    clf = surefoot.ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    table = regions(CounterfactualExplainer(clf), X, "yes", depth=1)
    assert list(table.columns) == ["region", "words", "rows", "asked", "proof"]
    assert len(table) == 0


def test_a_person_who_has_the_target_though_not_safely_is_not_refused():
    """The least change that makes it safe has a distance; the sentence that the person is there is true."""
    explainer, found, verdict, fault = judged(379)
    assert (verdict, fault) == ("somebody", "")
    assert found.explanation.factual_class == found.target
    assert found.explanation.distance > 0
    assert "is decided as yes already" in found.words
    assert verify(found, explainer.classifier)
