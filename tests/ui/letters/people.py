"""Letters to people of German credit, one for each way that a request can end."""

import datetime
from functools import cache

import numpy as np

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
from surefoot.ui.letters.folder import Mailing
from surefoot.ui.letters.labels import read_labels

DAY = datetime.date(2026, 11, 18)
KINDS = ("found", "there", "none", "not_found", "invalid")
# The sender's words, so that parts that only a sender fills in are read, too.
LABELS = {
    "credit_amount": {"label": "amount of the loan", "unit": "DM"},
    "duration_months": {"label": "duration of the loan", "unit": "months"},
    "letter": {
        "sender": "Example Bank\nHigh Street 1",
        "contact": "Ms Miller",
        "rights": "Ask for a copy.",
        "decisions": {"good": "loan granted", "bad": "loan refused"},
    },
}


@cache
def people():
    """A classifier, and for each kind of letter explainers with rows."""
    credit = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier().fit(credit.X, credit.y)
    decided = clf.predict(credit.X)
    bad, good = np.flatnonzero(decided == "bad"), np.flatnonzero(decided == "good")
    free = CounterfactualExplainer(clf)
    kept = {name: "stay" for name in credit.X if name not in ("credit_amount", "duration_months")}
    strict = Actions(
        {**kept, "credit_amount": Action(most=10), "duration_months": "rise"}
        | {"age": Action("stay", protected=True)},
        rules=["credit_amount >= 10 * duration_months"],
    )
    holes = credit.X.iloc[bad[16]].copy()
    holes[["age", "housing"]] = np.nan
    rows = {
        "found": [(free, credit.X.iloc[k]) for k in bad[:4]],
        "there": [(free, credit.X.iloc[k]) for k in good[:1]],
        "none": [(CounterfactualExplainer(clf, actions=strict), credit.X.iloc[bad[10]])],
        "not_found": [(CounterfactualExplainer(clf, time_limit=1e-9), credit.X.iloc[bad[14]])],
        "invalid": [(free, holes)],
    }
    return clf, rows


def mailing(explainer, language="en", template="neutral", labels=None, form=".html", target="good"):
    """What letters have in common, for the tests."""
    return Mailing(explainer, target, read_labels(labels, explainer.classifier), language, template, form)
