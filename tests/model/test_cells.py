"""Tables and cells against a plain reference, cell by cell and row by row."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.exceptions import DataError, StructureError

GRAPH = {
    "income": ["age", "housing"],
    "car": ["housing"],
    "debt": ["income", "age"],
    "age": ["car", "housing"],
}


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    housing = rng.choice(["free", "own", "rent"], n, p=[0.1, 0.4, 0.5])
    car = rng.random(n) < np.where(housing == "own", 0.8, 0.4)
    age = rng.normal(40, 8, n) + 5 * car
    income = 50 * age + 500 * (housing == "own") + rng.normal(0, 300, n)
    debt = 0.3 * income + rng.normal(0, 200, n)
    frame = pd.DataFrame({"age": age, "housing": housing, "income": income, "car": car, "debt": debt})
    score = income - debt + 300 * car + rng.normal(0, 300, n)
    return frame, np.where(score > np.median(score), "good", "bad")


def weighted_regression(X, y, w):
    design = np.column_stack([np.ones(len(y)), X])
    root = np.sqrt(w)
    coefficients, *_ = np.linalg.lstsq(design * root[:, None], y * root)
    return coefficients, np.average((y - design @ coefficients) ** 2, weights=w)


def reference_log_density(frame, labels, label, m):
    """Each cell regressed on its own rows and on the class's, which weigh m in all."""
    own = frame[labels == label]
    total = np.zeros(len(frame))
    parents = {name: GRAPH.get(name, []) for name in frame.columns}
    for name in frame.columns:
        given = [p for p in parents[name] if p in ("housing", "car")]
        numbers = [p for p in parents[name] if p not in given]
        for cell in itertools.product(*(frame[g].unique() for g in given)):
            here = np.ones(len(own), dtype=bool)
            rows = np.ones(len(frame), dtype=bool)
            for g, value in zip(given, cell, strict=True):
                here &= (own[g] == value).to_numpy()
                rows &= (frame[g] == value).to_numpy()
            extra = m if m or here.any() else 1.0
            weights = here + (extra / len(own) if given else 0.0)
            if name in ("housing", "car"):
                chances = class_shares(frame, own, name, m) if given and m else None
                for value in frame[name].unique():
                    hit = ((own[name] == value) & here).sum()
                    if not given:
                        p = class_shares(frame, own, name, m)[value]
                    elif m:
                        p = (hit + m * chances[value]) / (here.sum() + m)
                    else:
                        p = hit / here.sum()
                    total[rows & (frame[name] == value).to_numpy()] += np.log(p)
                continue
            coefficients, variance = weighted_regression(
                own[numbers].to_numpy(), own[name].to_numpy(), weights.astype(float)
            )
            mean = coefficients[0] + frame[numbers].to_numpy() @ coefficients[1:]
            total[rows] += norm.logpdf(frame[name], mean, np.sqrt(variance))[rows]
    return total


def class_shares(frame, own, name, m):
    values = frame[name].unique()
    everywhere = {v: (frame[name] == v).sum() + 1 / len(values) for v in values}
    overall = sum(everywhere.values())
    return {v: ((own[name] == v).sum() + m * everywhere[v] / overall) / (len(own) + m) for v in values}


@pytest.mark.parametrize("m", [0.0, 1.0, 10.0])
def test_every_cell_is_its_own_regression(m):
    frame, labels = people()
    clf = ConditionalGaussianNetworkClassifier(GRAPH, cell_smoothing=m, var_smoothing=0).fit(frame, labels)
    joint = clf.predict_joint_log_proba(frame) - np.log(clf.class_prior_)
    for c, label in enumerate(clf.classes_):
        expected = reference_log_density(frame, labels, label, m)
        np.testing.assert_allclose(joint[:, c], expected, rtol=1e-9, atol=1e-9)


def test_an_unseen_combination_is_its_class():
    frame, labels = people()
    frame.loc[(frame["housing"] == "free") & (labels == "bad"), "housing"] = "rent"
    for m in (0.0, 10.0):
        clf = ConditionalGaussianNetworkClassifier(GRAPH, cell_smoothing=m).fit(frame, labels)
        cells = clf.networks_[0].cells[1]  # income, given age and housing
        own = frame[labels == "bad"]
        free = clf.schema_.category_values[0].index("free")
        assert cells.mean[free] == pytest.approx(own["income"].mean())
        slope = np.cov(own["age"], own["income"])[0, 1] / own["age"].var()
        assert cells.weights[free, 0] == pytest.approx(slope, rel=1e-6)
        assert np.isfinite(clf.predict_joint_log_proba(frame)).all()
        assert (np.concatenate([t.ravel() for n in clf.networks_ for t in n.tables]) > 0).all()


def test_without_any_smoothing_a_cell_without_variance_is_named():
    frame, labels = people()
    frame.loc[(frame["housing"] == "free") & (labels == "bad"), "age"] = 40.0
    with pytest.raises(DataError, match=r"feature 'age' is constant.*in class 'bad' where housing is 'free'"):
        ConditionalGaussianNetworkClassifier({"age": ["housing"]}, cell_smoothing=0, var_smoothing=0).fit(
            frame, labels
        )


def test_weights_are_repetitions():
    frame, labels = people(200)
    w = np.random.default_rng(1).integers(0, 3, len(frame))
    clf = ConditionalGaussianNetworkClassifier(GRAPH)
    again = np.repeat(np.arange(len(frame)), w)
    weighted = clf.fit(frame, labels, sample_weight=w).predict_log_proba(frame)
    repeated = clf.fit(frame.iloc[again], labels[again]).predict_log_proba(frame)
    np.testing.assert_allclose(weighted, repeated, atol=1e-8)


def test_a_number_cannot_be_the_parent_of_a_category():
    frame, labels = people(50)
    with pytest.raises(StructureError, match="'age' -> 'housing'"):
        ConditionalGaussianNetworkClassifier({"housing": ["age"]}).fit(frame, labels)


def test_isolated_categories_leave_the_numbers_alone():
    frame, labels = people()
    graph = {"income": ["age"], "debt": ["income", "age"]}
    mixed = ConditionalGaussianNetworkClassifier(graph).fit(frame, labels)
    plain = ConditionalGaussianNetworkClassifier(graph).fit(frame[["age", "income", "debt"]], labels)
    for label in plain.classes_:
        found, wanted = mixed.network(label, (0, 0)), plain.network(label)
        np.testing.assert_allclose(found.means, wanted.means)
        np.testing.assert_allclose(found.weights, wanted.weights, rtol=1e-9)
        np.testing.assert_allclose(found.variances, wanted.variances, rtol=1e-9)


def test_shrinkage_moves_classes_towards_each_other():
    frame, labels = people()
    clf = ConditionalGaussianNetworkClassifier(GRAPH, shrinkage=1.0).fit(frame, labels)
    a, b = (clf.network(label, (1, 1)) for label in clf.classes_)
    np.testing.assert_allclose(a.variances, b.variances)
    np.testing.assert_allclose(a.weights, b.weights)
    plain = ConditionalGaussianNetworkClassifier("tan", shrinkage=1.0).fit(frame[["age", "debt"]], labels)
    np.testing.assert_allclose(plain.networks_[0].covariance, plain.networks_[1].covariance)
    within = sum(
        frame.loc[labels == c, ["age", "debt"]].cov(ddof=0) * (labels == c).mean() for c in ("good", "bad")
    )
    np.testing.assert_allclose(plain.networks_[0].covariance, within, rtol=1e-6)


@pytest.mark.parametrize("structure", ["naive", "tan"])
def test_a_number_that_is_never_known_in_a_class_says_nothing_about_it(structure):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=200), "b": rng.normal(size=200), "c": rng.choice(["x", "y"], 200)}
    )
    y = np.where(rng.random(200) < 0.5, "p", "q")
    frame.loc[y == "q", "b"] = np.nan
    clf = ConditionalGaussianNetworkClassifier(structure).fit(frame, y)
    assert np.isfinite(clf.predict_proba(frame)).all()
