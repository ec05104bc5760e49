"""A decision of one's own: stated, explained, kept in a file, checked; and every way to state it wrongly."""

import copy
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from surefoot import (
    AdoptedClassifier,
    ConditionalGaussianNetworkClassifier,
    Quadratic,
    QuadraticModel,
    adopt,
    verify,
    write_report,
)
from surefoot.exceptions import DataError
from surefoot.model.content import classifier_content
from surefoot.proof import exact
from tests.asking import CounterfactualExplainer
from tests.brute import nearest_by_trying
from tests.mixed_tables import lending
from tests.thinning import covering

NORMS = [np.inf, 2, 1]
FLAT = np.zeros((2, 2))
SCORES = {
    "low": Quadratic([[-0.6, 0.1], [0.1, -0.3]], [0.0, 0.2], 0.5),
    "mid": Quadratic(FLAT, [0.3, 0.5], -0.2),
    "high": Quadratic([[0.2, -0.1], [-0.1, -0.4]], [0.0, 0.0], 1.0, [1.0, 2.0]),
}
MOMENTS = {
    "means": {"low": [0.0, 0.0], "mid": [1.0, 1.0], "high": [2.0, 1.0]},
    "covariance": {"low": [[1.0, 0.4], [0.4, 2.0]], "mid": np.eye(2), "high": [[2.0, 0.0], [0.0, 1.0]]},
}


def model(**changes):
    return QuadraticModel(**{"scores": SCORES, "features": ["x", "y"], **MOMENTS, **changes})


def verdicts(clf, e):
    claims = exact.check([classifier_content(clf)], json.loads(e.to_json()))
    return {claim.name: claim.verdict for claim in claims}


def test_it_decides_by_its_scores():
    clf = adopt(model(log_probabilities=True))
    points = np.random.default_rng(0).normal(size=(50, 2)) * 3
    X = pd.DataFrame(points, columns=["x", "y"])
    expected = np.array([SCORES[label](points) for label in clf.classes_]).T
    assert clf.classes_.tolist() == ["high", "low", "mid"]
    assert (clf.predict(X) == clf.classes_[expected.argmax(axis=1)]).all()
    np.testing.assert_allclose(clf.predict_proba(X), softmax(expected, axis=1), rtol=1e-12)
    assert not hasattr(adopt(model()), "predict_proba")


def test_pairs_of_classes_say_the_same():
    less = {("mid", "low"): SCORES["mid"] - SCORES["low"], ("mid", "high"): SCORES["mid"] - SCORES["high"]}
    one, other = adopt(model()), adopt(model(scores=less))
    points = np.random.default_rng(1).normal(size=(20, 2))
    for a in SCORES:
        for b in SCORES:
            H, G = one.decision(a, b).at(()), other.decision(a, b).at(())
            np.testing.assert_allclose(H(points), G(points), atol=1e-12)


@pytest.mark.parametrize(("target", "budget", "norm"), covering(["low", "high"], [0.0, 0.1], NORMS))
def test_the_optimum_is_the_one_of_a_grid(norm, budget, target):
    explainer = CounterfactualExplainer(model(), norm=norm, budget=budget)
    row = {"x": 0.4, "y": 2.4}
    assert explainer.classifier.predict(pd.DataFrame([row]))[0] == "mid"
    e = explainer.explain(row, target=target)
    assert e.status == "optimal"
    best = nearest_by_trying(explainer.problem(row, target), 1.3 * e.distance, 601)
    assert e.lower_bound <= best * (1 + 1e-9)
    assert best <= 1.02 * e.distance
    assert set(verdicts(explainer.classifier, e).values()) == {exact.HOLDS}


@pytest.mark.parametrize("given", [None, [[1.0, 0.5], [-0.5, 0.7]]])
def test_the_optimum_is_that_of_an_independent_solver(given):
    """SLSQP from many starts, on the quadratics as they were given, with metric and model of one's own."""
    explainer = CounterfactualExplainer(
        model(), norm=2, bounds=None, **({} if given is None else {"whitening": given})
    )
    row = np.array([0.4, 2.4])
    e = explainer.explain(row, target="high")
    P = np.linalg.inv(MOMENTS["covariance"]["mid"]) if given is None else np.transpose(given) @ given
    others = [
        {"type": "ineq", "fun": lambda x, c=c: SCORES["high"](x) - SCORES[c](x)} for c in ("low", "mid")
    ]
    starts = np.random.default_rng(0).normal(size=(40, 2)) * 3
    found = [
        minimize(lambda x: (x - row) @ P @ (x - row), s, constraints=others, method="SLSQP") for s in starts
    ]
    best = np.sqrt(min(f.fun for f in found if f.success))
    assert e.lower_bound <= best * (1 + 1e-6)
    assert e.distance == pytest.approx(best, rel=2e-3)
    assert verify(e, explainer.classifier).ok


def test_files_keep_it(tmp_path):
    explainer = CounterfactualExplainer(model(log_probabilities=True), budget=0.05, threshold=0.6)
    e = explainer.explain({"x": 0.4, "y": 2.4}, target="low")
    assert "few_rows" not in [caution.code for caution in e.cautions]
    explainer.classifier.save(tmp_path / "model.json")
    again = AdoptedClassifier.load(tmp_path / "model.json")
    assert again.fingerprint_ == explainer.classifier.fingerprint_
    assert verify(e, again).ok
    assert verify(e, model(log_probabilities=True)).ok
    assert (
        CounterfactualExplainer(again, budget=0.05, threshold=0.6)
        .explain({"x": 0.4, "y": 2.4}, target="low")
        .to_dict()["counterfactual"]
        == e.to_dict()["counterfactual"]
    )
    write_report(e, tmp_path / "e.html", again)
    (tmp_path / "e.json").write_text(e.to_json(), encoding="utf-8")
    command = [sys.executable, "-I", exact.__file__, str(tmp_path / "model.json"), str(tmp_path / "e.json")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stdout + found.stderr


def test_another_decision_is_refused():
    """An answer about these scores does not pass with a model whose scores differ, whatever the name."""
    explainer = CounterfactualExplainer(model(), budget=0.05)
    e = explainer.explain({"x": 0.4, "y": 2.4}, target="low")
    content = classifier_content(explainer.classifier)
    for part, place in (("linear", 0), ("matrix", 0), ("constant", None)):
        forged = copy.deepcopy(content)
        entry = forged["decision"]["scores"][1]
        if place is None:
            entry[part] -= 0.1
        else:
            entry[part][place] = np.multiply(entry[part][place], 1.5).tolist()
            entry[part][place] = (
                np.add(entry[part][place], 0.1).tolist() if part == "linear" else entry[part][place]
            )
        claims = {claim.name: claim.verdict for claim in exact.check([forged], json.loads(e.to_json()))}
        assert claims == {"model": exact.FAILS}
    moved = json.loads(e.to_json())
    moved["counterfactual"]["values"] = moved["factual"]["values"]
    claims = {c.name: c.verdict for c in exact.check([content], moved)}
    assert exact.FAILS in claims.values()


def test_data_in_the_place_of_moments(bundled):
    bank = bundled["banknote"]
    H = Quadratic(np.diag([-0.2, 0, 0, 0]), [-1.0, -0.6, -0.7, 0.0], 3.0)
    mine = QuadraticModel({(1, 0): H}, list(bank.X.columns), log_probabilities=True)
    explainer = CounterfactualExplainer(mine, data=(bank.X, bank.y), budget=0.05)
    e = explainer.explain(bank.X.iloc[0], target=1)
    assert H(e.counterfactual.to_numpy(dtype=float)) >= 0
    assert set(verdicts(explainer.classifier, e).values()) == {exact.HOLDS}
    assert explainer.classifier.class_count_.sum() == len(bank.X)
    by_array = adopt(mine, (bank.X.to_numpy(), bank.y))
    assert by_array.fingerprint_ == explainer.classifier.fingerprint_


def loans():
    X, y = lending()
    numbers = ["income", "debt", "months"]
    score = Quadratic(np.diag([0, -1e-8, 0]), [8e-4, -5e-4, -0.03], -0.5)
    tables = {
        "savings": {"much": {"good": 0.8}, "little": {"good": -0.4, "bad": 0.2}},
        "housing": {"own": {"good": 0.5}, "rent": {}, "free": {"good": -0.1}},
    }
    return X, y, {"scores": {("good", "bad"): score}, "features": numbers, "tables": tables}


def test_tables_of_categories():
    X, y, stated = loans()
    mine = QuadraticModel(**stated, log_probabilities=True)
    explainer = CounterfactualExplainer(mine, data=(X, y), budget=0.05)
    clf = explainer.classifier
    numbers = X[stated["features"]].to_numpy(dtype=float)
    expected = stated["scores"]["good", "bad"](numbers)
    for name, table in stated["tables"].items():
        expected += [table[v].get("good", 0) - table[v].get("bad", 0) for v in X[name]]
    odds = clf.predict_log_proba(X) @ [-1, 1]
    np.testing.assert_allclose(odds, expected, atol=1e-9)
    rows = X[clf.predict(X) == "bad"]
    for k in range(3):
        e = explainer.explain(rows.iloc[k])
        assert e.status == "optimal"
        assert set(verdicts(clf, e).values()) == {exact.HOLDS}


def test_ranges_are_where_answers_lie():
    explainer = CounterfactualExplainer(model(ranges={"y": (0.0, 3.0)}))
    np.testing.assert_array_equal(explainer.classifier.feature_range_[:, 1], [0.0, 3.0])
    e = explainer.explain({"x": 0.4, "y": 2.4}, target="low")
    assert 0 <= e.counterfactual["y"] <= 3


S2 = [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scores": {}}, "scores must be a dict of class, or pair of classes, -> Quadratic"),
        ({"scores": {"a": SCORES["low"]}}, "two classes or more, not 1"),
        ({"scores": {"a": SCORES["low"], "b": 3}}, "the score of 'b' must be a Quadratic, not int"),
        ({"scores": {"a": SCORES["low"], 2: SCORES["mid"]}}, "classes must all be strings, all numbers"),
        ({"scores": {"a": SCORES["low"], ("a", "b"): SCORES["mid"]}}, "by class or by pair"),
        ({"scores": {("a", "b", "c"): SCORES["mid"]}}, "by pair of two classes"),
        ({"scores": {("a", "b"): SCORES["mid"], ("c", "d"): SCORES["mid"]}}, "must connect all classes"),
        (
            {"scores": {("a", "b"): SCORES["mid"], ("b", "a"): SCORES["mid"], ("c", "d"): SCORES["mid"]}},
            "must connect all classes",
        ),
        ({"features": ["x"]}, "the score of 'low' has 2 variables, but there are 1 features"),
        ({"features": ["x", "x"]}, "features must be different names"),
        ({"features": "xy"}, "features must be a list of names, not 'xy'"),
        (
            {"scores": {"a": Quadratic(FLAT, [np.nan, 0], 0.0), "b": SCORES["mid"]}},
            "the score of 'a' has a number that is not finite",
        ),
        (
            {"scores": {"a": Quadratic(FLAT, [0, 0], np.inf), "b": SCORES["mid"]}},
            "the score of 'a' has a number that is not finite",
        ),
        ({"means": None}, "covariance is given without means"),
        ({"covariance": None}, "means is given without covariance"),
        ({"means": [0, 0, 0]}, r"means must have the shape \(2,\), not \(3,\)"),
        ({"means": ["a", "b"]}, "means must consist of numbers"),
        ({"means": {"low": [0, 0], "mid": [0, 0]}}, "means lacks class 'high'"),
        ({"means": {**MOMENTS["means"], "top": [0, 0]}}, "means names class 'top', but the classes are"),
        ({"covariance": [[1.0]]}, r"covariance must have the shape \(2, 2\), not \(1, 1\)"),
        ({"covariance": [[1.0, np.nan], [0, 1]]}, "covariance has a number that is not finite"),
        ({"covariance": [[1.0, 0.5], [0, 1]]}, "covariance is not symmetric: 0.5 and 0 for 'x' and 'y'"),
        ({"covariance": [[1.0, 2.0], [2.0, 1.0]]}, "covariance is not positive definite"),
        ({"covariance": [[1.0, 1.0], [1.0, 1.0]]}, "covariance is not positive definite"),
        ({"covariance": [[1.0, 0], [0, -1]]}, "gives 'y' the variance -1; it must be positive"),
        (
            {"covariance": {**MOMENTS["covariance"], "mid": [[0.0, 0], [0, 1]]}},
            "the covariance of class 'mid' gives 'x' the variance 0",
        ),
        ({"ranges": {"z": (0, 1)}}, "ranges names 'z', which is none of the features"),
        ({"ranges": {"x": (1, 1)}}, "the range of 'x' must go from a lower to a higher number"),
        ({"ranges": {"x": (0, np.inf)}}, "the range of 'x' has a number that is not finite"),
        ({"tables": {"x": {"a": {}, "b": {}}}}, "'x' is both a number"),
        ({"tables": {"k": {"a": {}}}}, "the table of 'k' must have two values or more"),
        ({"tables": {"k": {"a": {}, "b": 3}}}, "the table of 'k' at 'b' must be a dict of class -> score"),
        ({"tables": {"k": {"a": {}, "b": {"top": 1.0}}}}, "the table of 'k' at 'b' names class 'top'"),
        ({"tables": {"k": {"a": {}, "b": {"low": np.nan}}}}, "the table of 'k' at 'b' has a number"),
        ({"log_probabilities": 1}, "log_probabilities must be True or False, not 1"),
    ],
)
def test_models_stated_wrongly(changes, said):
    with pytest.raises(DataError, match=said):
        model(**changes)


def test_what_data_must_be():
    X, y, stated = loans()
    mine = QuadraticModel(**stated)
    for data, said in [
        (None, "give it means and covariance, or pass data"),
        ((X.drop(columns="debt"), y), "data must have exactly one column 'debt'"),
        ((X, y.head(3)), "data: .*inconsistent numbers of samples"),
        ((X, y.replace("good", "fine")), "data has the label 'fine', but the classes are"),
        ((X[y == "good"], y[y == "good"]), "data has no row of class 'bad'"),
        ((X.replace({"housing": {"free": "none"}}), y), "data has the value 'none' of 'housing'"),
        ((X.replace({"housing": {"free": "rent"}}), y), "has the value 'free', which data does not have"),
        ((np.ones((4, 2)), [0, 1, 0, 1]), "X must have a column for each of"),
        ("rows", "data must be the pair"),
    ]:
        with pytest.raises(DataError, match=said):
            adopt(mine, data)
    moments = {"means": [0, 0, 0], "covariance": np.eye(3)}
    with pytest.raises(DataError, match="the category 'savings' needs data"):
        adopt(QuadraticModel(**stated, **moments))
    plain = QuadraticModel(stated["scores"], stated["features"], **moments)
    with pytest.raises(DataError, match="a covariance of its own: leave that out, or data"):
        adopt(plain, (X, y))


def test_digits_that_are_lost_far_from_zero():
    """Around a centre all is well; written out around zero the squares drown what decides."""
    far = Quadratic(np.eye(2), [1.0, 0.0], 0.0, [1e9, 0.0])
    mine = model(scores={("a", "b"): far}, means=[1e9, 0.0], covariance=np.eye(2))
    with pytest.raises(DataError, match="digits are lost; measure them from a nearer point"):
        adopt(mine)


def test_it_cannot_be_fitted_again(bundled):
    bank = bundled["banknote"]
    mine = QuadraticModel({(1, 0): Quadratic(np.zeros((4, 4)), [-1.0, 0, 0, 0], 0.0)}, list(bank.X.columns))
    with pytest.raises(DataError, match="a QuadraticModel cannot be fitted again"):
        CounterfactualExplainer(mine, data=(bank.X, bank.y), models=2)
    other = QuadraticModel(
        {(1, 0): Quadratic(np.zeros((4, 4)), [-1.0, -0.1, 0, 0], 0.0)}, list(bank.X.columns)
    )
    e = CounterfactualExplainer(mine, data=(bank.X, bank.y), models=[other]).explain(bank.X.iloc[0], 1)
    assert other.scores[1, 0](e.counterfactual.to_numpy(dtype=float)) >= -1e-9


def test_a_network_is_still_itself(bundled):
    bank = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    assert adopt(clf) is clf
