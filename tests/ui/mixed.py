"""A small table with categories, whole numbers and a skewed number, and explanations of it."""

import numpy as np
import pandas as pd

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier
from tests.asking import CounterfactualExplainer

FLAT = "a house or a flat in the city centre"


def toy_table(n=240, seed=3):
    """Rows and labels: housing and member are categories, cards are whole, income is skewed."""
    rng = np.random.default_rng(seed)
    good = rng.random(n) < 0.5
    housing = np.where(rng.random(n) < np.where(good, 0.75, 0.25), FLAT, "<b>rent</b> & $more$")
    X = pd.DataFrame(
        {
            "housing": housing,
            "income": np.exp(rng.normal(np.where(good, 8.3, 7.7), 0.4)),
            "cards": rng.poisson(np.where(good, 2, 4)).astype(float),
            "member": rng.random(n) < np.where(good, 0.6, 0.4),
            "years": rng.normal(10, 3, n) + good,
        }
    )
    return X, np.where(good, "yes", "no")


def toy_model(marginals="gaussian"):
    """A classifier of the table."""
    return ConditionalGaussianNetworkClassifier("tan", marginals=marginals).fit(*toy_table())


def refused_rows(clf, n=1):
    """Rows that are decided no, from renters."""
    X = toy_table()[0]
    return X[(clf.predict(X) == "no") & (X["housing"] != FLAT)].head(n)


def toy_explainer(clf, housing=0.1, **options):
    """An explainer for which a move costs little and a membership is out of reach."""
    actions = Actions({"housing": Action(cost=housing), "member": "stay"})
    return CounterfactualExplainer(clf, actions=actions, **{"budget": 0.05, "threshold": 0.98, **options})
