"""What the compiled loops save: the same questions with them and in Python alone, row by row in turn.

Seconds of CPU on one thread for a whole `explain`, medians. "As near" counts the rows on which both end with
the same status, at distances that differ by no more than both gaps allow. Gap 1 %, budget 0.05. "Whole": Pima
with its six whole-number features. "At most 3": whole numbers and no more than three changes; the German
credit data have categories as well. In the others every number takes any value.

usage: python benchmarks/run.py [--resume] kernel      (ROWS=20 in the environment)
"""

import os

import numpy as np

from benchmarks import cpu_clock  # noqa: F401
from benchmarks.asking import CounterfactualExplainer
from benchmarks.speed.at_most import close, timed
from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, datasets
from surefoot.search.certified import kernel

COLUMNS = ["data", "question", "norm", "rows", "compiled s", "Python s", "as near", "Python / compiled"]
KEY = COLUMNS[:3]
ROWS = int(os.environ.get("ROWS", 20))
GAP = 1e-2
CASES = [
    (data, question, norm)
    for data, question in [
        ("banknote", "plain"), ("pima", "plain"), ("pima", "whole"), ("pima", "at most 3"),
        ("german credit", "at most 3"), ("ionosphere", "plain"),
    ]
    for norm in (np.inf, 1.0, 2.0)
]  # fmt: skip
TABLES = {
    "banknote": datasets.load_banknote,
    "pima": datasets.load_pima,
    "german credit": datasets.load_german_credit,
    "ionosphere": datasets.load_ionosphere,
}


def rows(done=()):
    if kernel.LIBRARY is None:
        raise SystemExit("the loops are not compiled here: install surefoot with a C compiler at hand")
    for data, question, norm in CASES:
        if (data, question, str(norm)) not in done:
            yield {"data": data, "question": question, "norm": norm, **measured(data, question, norm)}


def measured(name, question, norm):
    data, compiled = TABLES[name](), kernel.LIBRARY
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    decided = clf.predict(data.X)
    asked = CounterfactualExplainer(
        clf, budget=0.05, norm=norm, gap=GAP, time_limit=20, actions=actions(data.X, question)
    )
    seconds, same = {True: [], False: []}, 0
    chosen = np.random.default_rng(0).choice(len(data.X), ROWS, replace=False).tolist()
    asked.explain(data.X.iloc[chosen[0]], decided[chosen[0]], on_failure="return")  # what rows share is made
    for number, i in enumerate(chosen):
        target, found = next(c for c in clf.classes_ if c != decided[i]), {}
        for on in (True, False) if number % 2 else (False, True):  # who comes first pays for what both need
            kernel.LIBRARY = compiled if on else None
            try:
                found[on], t = timed(asked.explain, data.X.iloc[i], target, on_failure="return")
            finally:
                kernel.LIBRARY = compiled
            seconds[on].append(t)
        same += found[True].status == found[False].status and close(*(found[on].distance for on in found))
    ours, theirs = (float(np.median(seconds[on])) for on in (True, False))
    return {
        "rows": ROWS,
        "compiled s": f"{ours:.4f}",
        "Python s": f"{theirs:.4f}",
        "as near": same,
        "Python / compiled": f"{theirs / ours:.1f}",
    }


def actions(X, question):
    numbers = [feature for feature in X if X[feature].dtype.kind in "iuf"]
    if question == "plain":
        return Actions({feature: Action(whole=False) for feature in numbers})
    return Actions(at_most=3) if question == "at most 3" else None
