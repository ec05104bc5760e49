"""Reasons: do they add up, and do the principal ones stay when the model is fitted again?

Every row of each table: the largest difference between prior plus weights and the log-odds of the model.
Stability: the principal reasons (four at most) of ROWS rows that are not decided as the class that most have,
by the model and by REFITS models fitted to rows drawn with replacement, structure learned anew. "kept" is the
share of names that are among the principal ones of the refit too, "first kept" that of the first name, and
"same decision" the share of refits that do not decide the row as the wanted class either; of the others
nothing is counted.

usage: python benchmarks/run.py [--resume] reasons
       (ROWS=100 and REFITS=20 in the environment)
"""

import os

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from surefoot import (
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    Quadratic,
    QuadraticModel,
    datasets,
)

COLUMNS = ["table", "model", "rows", "off by", "refit rows", "kept", "first kept", "same decision"]
KEY = COLUMNS[:2]
ROWS, REFITS = int(os.environ.get("ROWS", 100)), int(os.environ.get("REFITS", 20))
NETWORKS = {
    "network": {},
    "curved and calibrated": {"marginals": "auto", "calibration": "temperature"},
}


def rows(done=()):
    for table in ("banknote", "pima", "ionosphere", "german_credit"):
        data = getattr(datasets, f"load_{table}")()
        for model, settings in NETWORKS.items():
            if (table, model) not in done:
                explainer = CounterfactualExplainer(fitted(data.X, data.y, settings))
                line = {"table": table, "model": model, **added_up(explainer, data.X)}
                yield {**line, **stability(explainer, data.X, data.y, settings)}
    data = datasets.load_pima()
    for model, explainer in adopted(data.X, data.y):
        if ("pima", model) not in done:
            yield {"table": "pima", "model": model, **added_up(explainer, data.X)}


def fitted(X, y, settings):
    return ConditionalGaussianNetworkClassifier(**settings).fit(X, y)


def adopted(X, y):
    """Three models of others: log-odds, a decision value, and a quadratic."""
    for name, model in (("logistic regression", LogisticRegression()), ("support vectors", LinearSVC())):
        yield name, CounterfactualExplainer(make_pipeline(StandardScaler(), model).fit(X, y), data=(X, y))
    mean, spread = X.mean().to_numpy(), X.std().to_numpy()
    rng = np.random.default_rng(0)
    A = rng.normal(size=(X.shape[1],) * 2) / np.outer(spread, spread) / 10
    Q = Quadratic(A + A.T, rng.normal(size=X.shape[1]) / spread, 0.0, mean)
    model = QuadraticModel({(1, 0): Q}, list(X.columns), log_probabilities=True)
    yield "quadratic", CounterfactualExplainer(model, data=(X, y))


def added_up(explainer, X):
    clf, worst = explainer.classifier, 0.0
    scores, labels = clf._scores(X), clf.classes_.tolist()
    for k in range(len(X)):
        reasons = explainer.reasons(X.iloc[k])
        one, other = (scores[k, labels.index(c)] for c in (reasons.decided, reasons.other))
        worst = max(worst, abs(reasons.prior + reasons.table["weight"].sum() - (one - other)))
    return {"rows": len(X), "off by": f"{worst:.1e}"}


def stability(explainer, X, y, settings):
    """How many of the principal reasons a refit gives as well."""
    clf, rng, found = explainer.classifier, np.random.default_rng(1), []
    decided = clf.predict(X)
    wanted = pd.Series(decided).mode()[0]  # the class that most have
    asked = X[decided != wanted].head(ROWS)
    before = [
        explainer.reasons(asked.iloc[k], wanted).principal(4)["feature"].tolist() for k in range(len(asked))
    ]
    for number in range(REFITS):
        drawn = rng.integers(0, len(X), len(X))
        again = fitted(X.iloc[drawn].reset_index(drop=True), np.asarray(y)[drawn], settings)
        refit = CounterfactualExplainer(again)
        for k, names in enumerate(before):
            reasons = refit.reasons(asked.iloc[k], wanted)
            same = reasons.decided != wanted
            now = reasons.principal(4)["feature"].tolist()
            if same and names and now:
                found.append((True, len(set(now) & set(names)) / len(names), names[0] in now))
            else:
                found.append((same, np.nan, np.nan))
        print(number, np.nanmean(np.array(found, dtype=float), axis=0), flush=True)
    same, kept, first = np.nanmean(np.array(found, dtype=float), axis=0).round(3)
    return {"refit rows": len(asked), "kept": kept, "first kept": first, "same decision": same}
