"""Reasons: what they add up to, whom they speak against, and what they look like elsewhere."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from surefoot import (
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    Explanation,
    Explanations,
    Quadratic,
    QuadraticModel,
    Reasons,
    datasets,
    verify,
)
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.result.reasons import NOTICEABLE
from tests.mixed_tables import lender, lending, refused_rows


def log_odds(clf, row, reasons):
    frame = pd.DataFrame([row]) if isinstance(row, pd.Series) else row
    scores = clf._scores(frame)[0]
    labels = clf.classes_.tolist()
    return scores[labels.index(reasons.decided)] - scores[labels.index(reasons.other)]


@pytest.mark.parametrize("name", ["banknote", "pima", "ionosphere", "german_credit"])
def test_they_add_up_on_every_bundled_table(name):
    data = getattr(datasets, f"load_{name}")()
    clf = ConditionalGaussianNetworkClassifier().fit(data.X, data.y)
    explainer = CounterfactualExplainer(clf)
    for k in range(0, len(data.X), len(data.X) // 12):
        reasons = explainer.reasons(data.X.iloc[k])
        expected = log_odds(clf, data.X.iloc[[k]], reasons)
        assert reasons.table["weight"].sum() + reasons.prior == pytest.approx(expected, abs=1e-9)
        assert reasons.log_odds == pytest.approx(expected, abs=1e-9)
        assert expected >= 0
        assert list(reasons.table.columns) == ["feature", "value", "weight", "usual", "share"]
        assert reasons.table["weight"].is_monotonic_decreasing


def adopted():
    X, y = lending()
    numbers = X[["income", "debt", "months"]]
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(numbers, y)
    yield CounterfactualExplainer(logistic, data=(numbers, y)), numbers
    machine = make_pipeline(StandardScaler(), LinearSVC()).fit(numbers, y)
    yield CounterfactualExplainer(machine, data=(numbers, y)), numbers
    Q = Quadratic([[-1e-7, 2e-8, 0], [2e-8, 1e-8, 1e-7], [0, 1e-7, -3e-4]], [1e-3, -1e-3, 0.01], 0.5)
    model = QuadraticModel({("good", "bad"): Q}, list(numbers.columns), log_probabilities=True)
    yield CounterfactualExplainer(model, data=(numbers, y)), numbers


def test_adopted_models_add_up_their_own_terms():
    kinds = 0
    for explainer, numbers in adopted():
        clf, kinds = explainer.classifier, kinds + 1
        for k in range(12):
            reasons = explainer.reasons(numbers.iloc[k])
            expected = log_odds(clf, numbers.iloc[[k]], reasons)
            assert reasons.table["weight"].sum() + reasons.prior == pytest.approx(expected, abs=1e-9)
            assert verify(explainer.explain(numbers.iloc[k], reasons=True), clf).ok
    assert kinds == 3


OTHERS = [
    make_pipeline(StandardScaler(), LogisticRegression()),
    LinearDiscriminantAnalysis(store_covariance=True),
    QuadraticDiscriminantAnalysis(store_covariance=True),
    make_pipeline(StandardScaler(), LinearSVC()),
]


@pytest.mark.parametrize("model", OTHERS, ids=lambda m: type(m).__name__)
def test_they_add_up_to_what_scikit_learn_says_itself(model):
    table = load_wine(as_frame=True)
    X, labels = table.data.iloc[:, :6], [0, 1, 2]
    explainer = CounterfactualExplainer(clone(model).fit(X, table.target), data=(X, table.target))
    fitted = clone(model).fit(X, table.target)
    score = getattr(fitted, "predict_log_proba", fitted.decision_function)
    for k in range(0, len(X), 20):
        reasons = explainer.reasons(X.iloc[k], k % 3)
        scores = score(X.iloc[[k]])[0]
        expected = scores[labels.index(reasons.decided)] - scores[labels.index(reasons.other)]
        assert reasons.log_odds == pytest.approx(expected, abs=1e-9)


def test_a_linear_weight_is_counted_from_the_mean_of_the_wanted_class():
    X, y = lending()
    numbers = X[["income", "debt", "months"]]
    model = LogisticRegression(max_iter=5000).fit(numbers, y)
    explainer = CounterfactualExplainer(model, data=(numbers, y))
    bad = numbers[model.predict(numbers) == "bad"].iloc[0]
    reasons = explainer.reasons(bad).table.set_index("feature")["weight"]
    mean = numbers[(y == "good").to_numpy()].mean()
    coefficients = dict(zip(numbers.columns, model.coef_[0], strict=True))  # for good
    for name in numbers.columns:
        assert reasons[name] == pytest.approx(
            -coefficients[name] * (bad[name] - mean[name]), rel=1e-6, abs=1e-9
        )


def test_categories_of_an_adopted_model_are_counted_from_their_shares():
    X, y = lending()
    tables = {"housing": {"own": {"good": 1.0}, "rent": {"good": -1.0}, "free": {"good": 0.25}}}
    Q = Quadratic([[0.0]], [1e-3], -2.0)
    model = QuadraticModel({("good", "bad"): Q}, ["income"], tables=tables, log_probabilities=True)
    explainer = CounterfactualExplainer(model, data=(X[["income", "housing"]], y))
    row = X[["income", "housing"]].iloc[3]
    reasons = explainer.reasons(row)
    scores = explainer.classifier._scores(pd.DataFrame([row]))[0]
    assert reasons.log_odds == pytest.approx(abs(scores[1] - scores[0]), abs=1e-9)
    wanted = X.loc[(y == reasons.wanted).to_numpy(), "housing"]
    sign = 1 if reasons.decided == "good" else -1
    gains = {name: entry["good"] for name, entry in tables["housing"].items()}
    weight = reasons.table.set_index("feature").loc["housing", "weight"]
    usual = wanted.map(gains).mean()
    assert weight == pytest.approx(sign * (gains[row["housing"]] - usual), abs=0.02)  # shares are smoothed


def test_several_classes_are_compared_with_the_wanted_one():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    y = np.repeat(["x", "y", "z"], 100)
    X.loc[100:199, "a"] += 2
    X.loc[200:, "b"] += 2
    clf = ConditionalGaussianNetworkClassifier().fit(X, y)
    explainer = CounterfactualExplainer(clf)
    row = X.iloc[5]
    decided = clf.predict(X.iloc[[5]])[0]
    others = [c for c in "xyz" if c != decided]
    for wanted in others:
        reasons = explainer.reasons(row, wanted)
        assert (reasons.decided, reasons.other, reasons.wanted) == (decided, wanted, wanted)
        assert reasons.log_odds == pytest.approx(log_odds(clf, X.iloc[[5]], reasons), abs=1e-9)
    there = explainer.reasons(row, decided)
    assert there.other == max(others, key=lambda c: clf.predict_proba(X.iloc[[5]])[0][list("xyz").index(c)])
    with pytest.raises(ProblemError, match="target"):
        explainer.reasons(row)


def test_principal_reasons_speak_against_the_person():
    clf = lender()
    explainer = CounterfactualExplainer(clf, immutable=["months"])
    for row in refused_rows(clf, 20):
        reasons = explainer.reasons(row, "good")
        principal = reasons.principal(4)
        assert len(principal) <= 4
        assert (principal["weight"] > 0).all()
        others = reasons.table[~reasons.table["feature"].isin(principal["feature"])]["weight"]
        speaking = reasons.table["weight"].clip(lower=0).sum()
        assert len(principal) == 4 or (others < NOTICEABLE * speaking).all()
        assert principal["weight"].min() >= others.max() or len(principal) < 4
        assert reasons.kept == ("months",)
    X, _ = lending()
    good = X[clf.predict(X) == "good"].iloc[0]
    already = explainer.reasons(good, "good")
    assert (already.principal(6)["weight"] < 0).all()
    with pytest.raises(DataError, match="positive integer"):
        already.principal(0)


def test_features_that_must_stay_are_named_too():
    clf = lender()
    explainer = CounterfactualExplainer(
        clf, immutable=["income", "debt"], actions=Actions({"months": "stay"})
    )
    for row in refused_rows(clf, 12):
        if "income" in explainer.reasons(row, "good").principal(4)["feature"].tolist():
            break
    else:
        pytest.fail("income never spoke against anybody")
    assert set(explainer.reasons(row, "good").kept) == {"income", "debt", "months"}


def test_holes_weigh_nothing_and_are_named():
    clf, (X, _) = lender(), lending()
    row = X.iloc[0].astype(object).copy()
    row["income"], row["housing"] = None, None
    reasons = CounterfactualExplainer(clf).reasons(row)
    table = reasons.table.set_index("feature")
    assert (table.loc[["income", "housing"], "weight"] == 0).all()
    assert table.loc[["income", "housing"], "share"].isna().all()
    assert "missing" in str(reasons) or "income" not in reasons.words
    again = Reasons.from_json(reasons.to_json())
    assert again.to_json() == reasons.to_json()
    filled = CounterfactualExplainer(clf, impute="expected").reasons(row)
    assert filled.table["share"].notna().all()
    with pytest.raises(ProblemError, match="every value"):
        CounterfactualExplainer(clf).reasons([None] * 6)
    with pytest.raises(ProblemError, match="income"):
        CounterfactualExplainer(clf).reasons({**X.iloc[0], "income": "much"})


def test_an_adopted_model_does_not_allow_holes():
    explainer, numbers = next(iter(adopted()))
    row = numbers.iloc[0].copy()
    row["debt"] = np.nan
    with pytest.raises(ProblemError, match="'debt' is missing"):
        explainer.reasons(row)


def test_an_explanation_has_them_and_its_file_where_asked():
    clf = lender(calibration="temperature")
    explainer = CounterfactualExplainer(clf)
    row = refused_rows(clf, 1)[0]
    plain, told = explainer.explain(row), explainer.explain(row, reasons=True)
    assert plain.reasons.to_dict() == told.reasons.to_dict() == explainer.reasons(row).to_dict()
    assert "reasons" not in plain.to_dict()
    again = Explanation.from_json(told.to_json())
    assert again.to_json() == told.to_json()
    assert again.reasons.to_dict() == told.reasons.to_dict()
    assert verify(again, clf).ok
    with pytest.raises(DataError, match="comes without reasons"):
        _ = Explanation.from_json(plain.to_json()).reasons
    for copied in (pickle.loads(pickle.dumps(plain)), copy.copy(plain)):
        assert copied.made_by is None


def test_a_batch_has_a_column_of_them():
    clf, (X, _) = lender(), lending()
    table = CounterfactualExplainer(clf).explain_batch(X.head(8), "good", progress=False).to_frame()
    decided = table["factual_class"] == "good"
    assert (table.loc[decided, "reasons"] == "").all()
    assert table.loc[~decided, "reasons"].str.contains(": ").all()
    row = table[~decided].index[0]
    assert table.loc[row, "reasons"] == CounterfactualExplainer(clf).reasons(X.loc[row], "good").words
    found = CounterfactualExplainer(clf).explain_batch(X.head(4), "good", progress=False)
    pd.testing.assert_frame_equal(Explanations.from_json(found.to_json()).to_frame(), found.to_frame())


def test_the_top_four_stay_under_refits():
    clf, (X, y) = lender(), lending()
    rng, rows, same = np.random.default_rng(0), refused_rows(clf, 10), []
    before = [set(CounterfactualExplainer(clf).reasons(row, "good").principal(4)["feature"]) for row in rows]
    for _ in range(4):
        drawn = rng.integers(0, len(X), len(X))
        refit = CounterfactualExplainer(
            ConditionalGaussianNetworkClassifier().fit(
                X.iloc[drawn].reset_index(drop=True), y.iloc[drawn].to_numpy()
            )
        )
        for row, names in zip(rows, before, strict=True):
            now = set(refit.reasons(row, "good").principal(4)["feature"])
            same.append(len(now & names) / max(len(names), 1))
    assert np.mean(same) > 0.75


def test_they_are_read_and_drawn():
    clf = lender()
    reasons = CounterfactualExplainer(clf, immutable=["income"]).reasons(refused_rows(clf, 1)[0], "good")
    text = str(reasons)
    assert text.startswith("Reasons for bad rather than good")
    assert "income (cannot be changed)" in text
    ax = reasons.plot(max_features=3)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths[0] == pytest.approx(reasons.prior)
    assert sum(widths[1:-1]) == pytest.approx(reasons.log_odds - reasons.prior)
    assert widths[-1] == pytest.approx(reasons.log_odds)
    assert len(widths) == 6
    starts = [bar.get_x() for bar in ax.patches]
    assert starts[2] == pytest.approx(starts[1] + widths[1])
    with pytest.raises(DataError, match="max_features"):
        reasons.plot(max_features=0)
