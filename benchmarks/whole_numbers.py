"""Pima with its six whole-number features: the certified search against SCIP and Gurobi.

The same mixed-integer program for all, with a gap of 1 %, budget 0.05, within the range seen in training.
Times are medians in one run; a solver that is stopped counts with its limit. "Equal" counts the rows on which
distances differ by no more than both gaps allow.

usage: python benchmarks/run.py [--resume] whole_numbers     (ROWS=50 and LIMIT=30 in the environment)
"""

import os
import time

import numpy as np

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets

COLUMNS = [
    "norm", "rows", "certified: finished", "certified: median s", "gurobi: finished", "gurobi: median s",
    "gurobi: equal", "scip: finished", "scip: median s", "scip: equal", "faster solver / certified",
]  # fmt: skip
KEY = COLUMNS[:1]
ROWS, LIMIT = int(os.environ.get("ROWS", 50)), float(os.environ.get("LIMIT", 30))
GAP = 1e-2


def explained(clf, row, target, norm, actions, **method):
    explainer = CounterfactualExplainer(
        clf, budget=0.05, norm=norm, actions=actions, gap=GAP, time_limit=LIMIT, **method
    )
    start = time.perf_counter()
    e = explainer.explain(row, target=target, on_failure="return")
    return e, time.perf_counter() - start


def rows(done=()):
    data = datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    whole = [name for name in data.X if (data.X[name] % 1 == 0).all()]
    actions = Actions({name: Action(whole=True) for name in whole})
    decided = clf.predict(data.X)
    rng = np.random.default_rng(0)
    drawn = {c: rng.choice(np.flatnonzero(decided == c), ROWS // 2, replace=False) for c in (0, 1)}
    chosen = [(int(i), 1 - c) for c, some in drawn.items() for i in some]
    for norm in (np.inf, 2.0, 1.0):
        if (str(norm),) in done:
            continue
        yield compared(clf, data, chosen, norm, actions)


def compared(clf, data, chosen, norm, actions):
    times = {name: [] for name in ("certified", "gurobi", "scip")}
    finished, equal = dict.fromkeys(times, 0), dict.fromkeys(times, 0)
    for i, target in chosen:
        distances = {}
        for name in times:
            method = {} if name == "certified" else {"method": "qcqp", "backend": name}
            e, seconds = explained(clf, data.X.iloc[i], target, norm, actions, **method)
            times[name].append(seconds)
            finished[name] += str(e.status) in ("optimal", "infeasible")
            distances[name] = e.distance if str(e.status) == "optimal" else np.nan
        for name in ("gurobi", "scip"):
            equal[name] += abs(distances[name] / distances["certified"] - 1) <= 2 * GAP
        print(i, target, {k: f"{v[-1]:.2f} s" for k, v in times.items()}, distances, flush=True)
    median = {name: float(np.median(t)) for name, t in times.items()}
    return {
        "norm": norm,
        "rows": len(chosen),
        "certified: finished": finished["certified"],
        "certified: median s": f"{median['certified']:.3f}",
        **{
            f"{name}: {what}": value
            for name in ("gurobi", "scip")
            for what, value in (
                ("finished", finished[name]),
                ("median s", f"{median[name]:.2f}"),
                ("equal", equal[name]),
            )
        },
        "faster solver / certified": f"{min(median['gurobi'], median['scip']) / median['certified']:.1f}",
    }
