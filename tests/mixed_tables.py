"""A small table with numbers and categories, and classifiers of it."""

from functools import cache

import numpy as np
import pandas as pd

from surefoot import ConditionalGaussianNetworkClassifier


@cache
def lending(n_rows=600, seed=0):
    """A made-up table of loans: X and y."""
    rng = np.random.default_rng(seed)
    good = rng.random(n_rows) < 0.6
    housing = np.where(good, rng.choice(["own", "rent", "free"], n_rows, p=[0.6, 0.3, 0.1]), "rent")
    housing = np.where(rng.random(n_rows) < 0.2, "free", housing)
    savings = np.where(good ^ (rng.random(n_rows) < 0.3), "much", "little")
    phone = rng.random(n_rows) < np.where(good, 0.7, 0.4)
    income = rng.gamma(4, 500, n_rows) + 600 * good + 300 * (housing == "own")
    debt = rng.gamma(2, 800, n_rows) * np.where(good, 0.7, 1.2)
    months = rng.integers(6, 60, n_rows) + np.where(good, 0, 8)
    X = pd.DataFrame(
        {"income": income.round(2), "housing": housing, "debt": debt.round(2), "savings": savings,
         "months": months, "phone": phone}
    )  # fmt: skip
    return X, pd.Series(np.where(good, "good", "bad"), name="decision")


@cache
def lender(structure="tan", **settings):
    """A classifier of the loans; settings as in `ConditionalGaussianNetworkClassifier`."""
    return ConditionalGaussianNetworkClassifier(structure, **dict(settings)).fit(*lending())


def refused_rows(clf, count):
    """Rows of the table that the classifier calls bad."""
    X, _ = lending()
    return [X.iloc[int(i)] for i in np.flatnonzero(clf.predict(X) == "bad")[:count]]
