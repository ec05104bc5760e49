"""Are three changes enough, and where they are not, how many are?

Every refused row of the bundled tables (tree, practical preset, budgets 0.05 and 0). "at most 3": answered
with so few; "more": proven that three are not enough; "undecided": neither, in 10 s. Of the rows that need
more, SAMPLE are asked about as a user would: "changes" is the number that change (median), "at least" the
number that is proven to be needed (median), "proven fewest" how often they are the same, and seconds the
median of all that the answer took.

usage: python benchmarks/run.py [--resume] fewest      (SAMPLE=20 in the environment)
"""

import os
import re
import time

import numpy as np

from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, Status, datasets

KEY = ["table", "budget"]
COLUMNS = [
    "table", "budget", "rows", "at most 3", "more", "undecided", "sample", "answers", "changes", "at least",
    "proven fewest", "seconds",
]  # fmt: skip
SAMPLE = int(os.environ.get("SAMPLE", 20))
TABLES = {
    "Banknote": (datasets.load_banknote, 1),
    "Pima": (datasets.load_pima, 0),
    "German credit": (datasets.load_german_credit, "good"),
    "Ionosphere": (datasets.load_ionosphere, 1),
}


def proven(e):
    """How many changes are needed at least, as the answer says."""
    said = re.search(r"(?:at least|:) (\d+) are needed", e.advice)
    return int(said.group(1)) if said else 4


def measured(name, budget):
    load, wanted = TABLES[name]
    data = load()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    rows_ = data.X[clf.predict(data.X) != wanted]
    brief = CounterfactualExplainer(clf, budget=budget, at_most=3, diagnose=False, time_limit=10)
    status = np.array([brief.explain(row, wanted, "return").status.value for _, row in rows_.iterrows()])
    more = rows_[status == Status.INFEASIBLE.value]
    few = int((status == Status.OPTIMAL.value).sum())
    some = more.iloc[np.linspace(0, len(more) - 1, min(SAMPLE, len(more))).astype(int)]
    explainer = CounterfactualExplainer(clf, budget=budget, diagnose=False)
    found, seconds = [], []
    for _, row in some.iterrows():
        start = time.perf_counter()
        found.append(explainer.explain(row, wanted, "return"))
        seconds.append(time.perf_counter() - start)
    answers = [e for e in found if e.counterfactual is not None]
    numbers = [(len(e.changed), proven(e)) for e in answers]
    return {
        "table": name, "budget": f"{budget:g}", "rows": len(rows_), "at most 3": few, "more": len(more),
        "undecided": len(rows_) - few - len(more), "sample": len(some), "answers": len(answers),
        "changes": f"{np.median([a for a, _ in numbers]):g}" if numbers else "-",
        "at least": f"{np.median([b for _, b in numbers]):g}" if numbers else "-",
        "proven fewest": sum(a == b for a, b in numbers),
        "seconds": f"{np.median(seconds):.1f}" if seconds else "-",
    }  # fmt: skip


def rows(done=frozenset()):
    for name in TABLES:
        for budget in (0.05, 0.0):
            if (name, f"{budget:g}") not in done:
                yield measured(name, budget)
