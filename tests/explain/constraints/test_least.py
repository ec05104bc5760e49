"""The smallest worthwhile change: a number keeps today's value, or changes by at least so much."""

import itertools

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, Explanation, datasets, verify
from surefoot.exceptions import DataError, ProblemError
from surefoot.proof import exact
from tests.asking import CounterfactualExplainer
from tests.thinning import covering, only


@pytest.fixture(scope="module")
def bank():
    data = datasets.load_banknote()
    return data.X, ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)


def explained(clf, row, features, **settings):
    settings = {"norm": 1, "whole": False, **settings}
    explainer = CounterfactualExplainer(clf, actions=Actions(features), **settings)
    return explainer.explain(row, on_failure="return")


@pytest.mark.parametrize(("budget", "norm"), covering([0.0, 0.05], [1, 2, np.inf]))
def test_no_change_is_smaller(bank, norm, budget):
    X, clf = bank
    least = {"variance": 1.0, "skewness": 2.0, "curtosis": 1.5, "entropy": 0.5}
    features = {name: Action(least=size) for name, size in least.items()}
    for position in (0, 3, 900):
        e = explained(clf, X.iloc[position], features, norm=norm, budget=budget)
        assert e.status == "optimal"
        moved = (e.counterfactual - e.factual).abs()
        assert all(moved[name] == 0 or moved[name] >= size * (1 - 1e-12) for name, size in least.items())
        assert verify(e, clf).ok, str(verify(e, clf))
        assert e.distance >= explained(clf, X.iloc[position], {}, norm=norm, budget=budget).lower_bound


@pytest.mark.parametrize("seed", range(6))
def test_brute_force_on_a_grid(seed):
    """Two numbers in steps of a tenth: every combination is tried."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 80)
    X = pd.DataFrame({name: (rng.normal(size=80) + y).round(1) for name in "ab"})
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
    row, least = X.iloc[seed], {"a": 0.7, "b": 1.1}
    steps = {name: Action(step=0.1, most=3, least=size) for name, size in least.items()}
    e = explained(clf, row, steps, norm=2)
    explainer = CounterfactualExplainer(clf, norm=2, whole=False)
    problem = explainer.problem(row, e.target)
    grid = [
        [v for k in range(-30, 31) if k == 0 or abs(k) >= 10 * least[n] for v in [round(row[n] + k / 10, 1)]]
        for n in "ab"
    ]
    points = np.array(list(itertools.product(*grid)))
    inside = (points >= problem.domain.low) & (points <= problem.domain.high)
    points = points[inside.all(axis=1)]
    valid = points[[problem.margin(x) >= 0 for x in points]]
    best = min((problem.distance(x) for x in valid), default=np.inf)
    assert e.distance == pytest.approx(best, rel=2e-3) if np.isfinite(best) else e.status == "infeasible"


@pytest.mark.parametrize("seed", only([0], [0, 12, 33]))
def test_the_largest_change_counts(seed):
    """Two numbers that take any value: the search ends, and no point of a fine grid is nearer."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 150)
    X = pd.DataFrame({"a": rng.normal(10, 4, 150) + 4 * y, "b": rng.normal(30, 6, 150) + 5 * y})
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
    row, least = X.iloc[np.flatnonzero(clf.predict(X) == 0)[6]], np.array([4.7, 6.1])
    actions = Actions({name: Action(least=size) for name, size in zip("ab", least, strict=True)})
    for whitening in ("cholesky", "zca"):
        e = CounterfactualExplainer(clf, actions=actions, norm=np.inf, whitening=whitening).explain(row, 1)
        assert e.status == "optimal"
        problem = CounterfactualExplainer(clf, norm=np.inf, whitening=whitening).problem(row, 1)
        ends = zip(problem.domain.low, problem.domain.high, row, least, strict=True)
        sides = [np.r_[np.linspace(low, high, 400), now, now - d, now + d] for low, high, now, d in ends]
        points = np.array(list(itertools.product(*sides)))
        moved = np.abs(points - row.to_numpy())
        inside = (points >= problem.domain.low) & (points <= problem.domain.high)
        allowed = points[(inside & ((moved == 0) | (moved >= least * (1 - 1e-12)))).all(axis=1)]
        valid = allowed[np.asarray(problem.margins[0](allowed)) >= 0]
        best = min(problem.distance(x) for x in valid)
        assert e.lower_bound <= best
        assert e.distance <= best * 1.01  # the gap that was asked for; the grid is no better than that


def test_curved_scales_and_whole_numbers():
    pima = datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier("naive", marginals="power").fit(pima.X, pima.y)
    features = {name: Action(least=float(round(pima.X[name].std()))) for name in ("plas", "mass", "age")}
    for position in range(3):
        e = CounterfactualExplainer(clf, actions=Actions(features)).explain(pima.X.iloc[position])
        moved = (e.counterfactual.astype(float) - e.factual.astype(float)).abs()
        assert all(moved[n] == 0 or moved[n] >= action.least - 1e-9 for n, action in features.items())
        assert verify(e, clf).ok


def test_sums_are_as_they_are_written():
    X = pd.DataFrame({"a": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6] * 10})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, [0, 0, 1, 1, 1, 1] * 10)
    only = Actions({"a": Action(values=[0.3], least=0.2)})
    e = CounterfactualExplainer(clf, actions=only).explain(X.iloc[0])
    assert e.counterfactual["a"] == 0.3


def test_the_conflict_of_least_and_most_is_named(bank):
    X, clf = bank
    stays = dict.fromkeys(("skewness", "curtosis", "entropy"), "stay")
    e = explained(clf, X.iloc[97], {"variance": Action(least=10, most=5), **stays}, bounds=None)
    assert e.status == "infeasible"
    both = {"'variance' changes by at least 10, or not at all", "'variance' changes by at most 5"}
    assert both <= set(e.answer.conflict)
    alone = explained(clf, X.iloc[0], {"variance": Action(least=100), **stays})
    assert "'variance' changes by at least 100, or not at all" in alone.answer.conflict
    assert "'variance' may change by less than 100" in alone.advice


def test_words_files_and_the_standalone_checker(bank, tmp_path):
    X, clf = bank
    said = Actions({"variance": Action("fall", least=2.5)})
    assert Actions.from_toml(said.to_toml()) == said
    assert "least = 2.5" in said.to_toml()
    assert "most, least, step" in Actions.template(clf)
    e = CounterfactualExplainer(clf, actions=said).explain(X.iloc[0])
    assert "variance changes by 2.5 at least, or not at all" in str(e)
    again = Explanation.from_json(e.to_json())
    assert verify(again, clf).ok
    clf.save(tmp_path / "model.json")
    (tmp_path / "e.json").write_text(e.to_json())
    assert exact.main([str(tmp_path / "model.json"), str(tmp_path / "e.json")]) == 0
    forged = e.to_json().replace('"least": 2.5', '"least": 0.5')
    with pytest.raises(DataError, match="not what the declared constraints say"):
        Explanation.from_json(forged)


@pytest.mark.parametrize("size", [0, -1, np.nan, np.inf, True, "2"])
def test_sizes_that_make_no_sense(size):
    with pytest.raises(ProblemError, match="least must be a finite number above 0"):
        Action(least=size)


def test_a_category_has_no_least_change():
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0] * 5, "c": ["u", "v"] * 10})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, [0, 0, 1, 1] * 5)
    with pytest.raises(ProblemError, match="'c' is a category; least is for numbers"):
        CounterfactualExplainer(clf, actions=Actions({"c": Action(least=1)}))
