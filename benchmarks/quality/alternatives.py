"""Several answers for each refused applicant of German credit: whether they differ, and what they take.

TAN network, 20 features of which 13 are categories, budget 0.05, gap 1 %; categories and whole numbers as by
default. Three and five answers that differ by what they leave alone: each later one keeps at least one
feature that each earlier one changed. Seconds are CPU time on one thread of three answers and of the first
alone, in the same run. "as asked" counts applicants all of whose pairs of answers differ so. The checker
sees every answer.

usage: python benchmarks/run.py [--resume] alternatives
       (ROWS=50 and LIMIT=30 in the environment)
"""

import os
import time

import numpy as np

from benchmarks import cpu_clock  # noqa: F401
from benchmarks.asking import CounterfactualExplainer
from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    datasets,
    verify,
)

COLUMNS = [
    "asked", "rows", "with five", "as asked", "answers", "optimal", "accepted",
    "one: median s", "three: median s", "ratio of medians",
    "median ratio", "largest ratio", "five: median s", "distance: first", "distance: fifth",
]  # fmt: skip
KEY = COLUMNS[:1]
ROWS, LIMIT = int(os.environ.get("ROWS", 50)), float(os.environ.get("LIMIT", 30))
CASES = {"norm 1": (1.0, None), "norm inf, at most 3": (np.inf, 3)}


def rows(done=()):
    for asked, (norm, at_most) in CASES.items():
        if (asked,) not in done:
            yield {"asked": asked, **measured(asked, norm, at_most)}


def measured(asked, norm, at_most):
    data = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    words = [name for name in data.X if data.X[name].dtype.kind not in "iuf"]
    actions = Actions({name: Action(cost=1.0) for name in words}, at_most=at_most)
    explainer = CounterfactualExplainer(
        clf, budget=0.05, norm=norm, gap=0.01, time_limit=LIMIT, actions=actions
    )
    refused = data.X[clf.predict(data.X) == "bad"].head(ROWS)
    explainer.explain(refused.iloc[0], "good")  # what is loaded once is not counted
    found, times = [], []
    for label, row in refused.iterrows():
        times.append([timed(explainer.alternatives, row, "good", n=n)[1] for n in (1, 3)])
        es, seconds = timed(explainer.alternatives, row, "good", n=5)
        times[-1].append(seconds)
        found.append(es)
        print(asked, label, [f"{e.distance:.3f}" for e in es], [f"{t:.2f} s" for t in times[-1]], flush=True)
    one, three, five = np.median(times, axis=0)
    ratios = np.array([t[1] / t[0] for t in times])
    every = [e for es in found for e in es]
    return {
        "rows": len(found),
        "with five": sum(len(es) == 5 for es in found),
        "as asked": sum(differ(es) for es in found),
        "answers": len(every),
        "optimal": sum(str(e.status) == "optimal" for e in every),
        "accepted": sum(verify(e, clf).ok for e in every),
        "one: median s": f"{one:.3f}",
        "three: median s": f"{three:.3f}",
        "ratio of medians": f"{three / one:.1f}",
        "median ratio": f"{np.median(ratios):.1f}",
        "largest ratio": f"{ratios.max():.1f}",
        "five: median s": f"{five:.3f}",
        "distance: first": f"{np.median([es[0].distance for es in found]):.3f}",
        "distance: fifth": f"{np.median([es[4].distance for es in found if len(es) == 5]):.3f}",
    }


def differ(es):
    """Whether every answer leaves alone something that each earlier one changes."""
    changed = [set(e.changed) for e in es]
    return all(earlier - later for i, later in enumerate(changed) for earlier in changed[:i])


def timed(call, *arguments, **options):
    start = time.process_time()
    return call(*arguments, **options), time.process_time() - start
