import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, datasets, diagnose, select
from tests.thinning import only


def with_holes(frame, share, seed):
    holes = np.random.default_rng(seed).random(frame.shape) < share
    return frame.astype(object).where(~holes).infer_objects() if mixed(frame) else frame.mask(holes)


def mixed(frame):
    return any(not pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes)


def accuracy(settings, train, test):
    return ConditionalGaussianNetworkClassifier(**settings).fit(*train).score(*test)


def halves(X, y):
    odd = np.arange(len(X)) % 2 == 1
    return (X[odd], y[odd]), (X[~odd], y[~odd])


@pytest.mark.parametrize("structure", only(["naive", "tan"], ["naive", "tan", "ban"]))
def test_a_tenth_of_the_values_missing_costs_little_accuracy(bundled, structure):
    pima = bundled["pima"]
    settings = {"structure": structure, "standardize": True}
    train, test = halves(pima.X, pima.y)
    full = (accuracy(settings, train, test) + accuracy(settings, test, train)) / 2
    lost = []
    for seed in range(3):
        train, test = halves(with_holes(pima.X, 0.1, seed), pima.y)
        lost.append(full - (accuracy(settings, train, test) + accuracy(settings, test, train)) / 2)
    assert np.mean(lost) < 0.02


@pytest.fixture(scope="module")
def gappy_credit():
    data = datasets.load_german_credit()
    return with_holes(data.X.iloc[:200], 0.1, 0), data.y.iloc[:200]


def test_categories_with_holes(gappy_credit):
    X, y = gappy_credit
    data = datasets.load_german_credit()
    test = slice(200, 1000)
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
    full = ConditionalGaussianNetworkClassifier("tan").fit(data.X.iloc[:200], y)
    held = data.X.iloc[test], data.y.iloc[test]
    assert clf.score(*held) > full.score(*held) - 0.06
    assert clf.schema_.n_categories == full.schema_.n_categories


def test_choosing_with_holes(gappy_credit):
    X, y = gappy_credit
    chosen = select(X.iloc[:, :7], y, cv=2)
    assert chosen.table["log_loss"].iloc[0] < 0.63
    assert chosen.classifier.predict_proba(X.iloc[:, :7]).shape == (200, 2)


def test_diagnosing_with_holes_and_values_that_a_fold_never_saw(gappy_credit):
    X, y = gappy_credit
    X = X.assign(colour=["red", *["blue", "green"] * 99, "green"])
    report = diagnose(ConditionalGaussianNetworkClassifier("naive").fit(X, y), X, y, cv=2)
    assert np.isfinite(report.to_frame().to_numpy()).all()
    assert report.residuals.notna().any().all()


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_variances_of_a_column_that_is_mostly_missing(share):
    """For naive networks the maximum likelihood is the variance of what is known."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 3000)
    t = pd.Series(5 + y + 2 * rng.normal(size=3000)).mask(rng.random(3000) < share)
    X = pd.DataFrame({"a": rng.normal(size=3000) + y, "t": t})
    clf = ConditionalGaussianNetworkClassifier("naive", var_smoothing=0).fit(X, y)
    known = [t[y == c].var(ddof=0) for c in (0, 1)]
    assert clf.variances_[:, 1] == pytest.approx(known, rel=1e-9)
    assert "converged after 2 rounds" in clf.completion_


@pytest.mark.parametrize("structure", ["naive", "tan"])
@pytest.mark.parametrize("known", [0, 1])
def test_a_column_that_a_class_lacks(structure, known):
    """It tells nothing about the classes, instead of excluding one of them."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    a = rng.normal(size=400) + 2 * y
    X = pd.DataFrame({"a": a, "t": 5 + a + rng.normal(size=400)})
    gaps = X.copy()
    gaps.loc[np.flatnonzero(y)[known:], "t"] = np.nan
    clf = ConditionalGaussianNetworkClassifier(structure).fit(gaps, y)
    said = "; class 1 has no value of 't': taken as in the other classes"
    assert clf.completion_.endswith(said) == (known == 0)
    assert clf.variances_[1, 1] > 0.5
    assert clf.score(X, y) > 0.7
