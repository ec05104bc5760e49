"""Pima with its six whole-number features: the certified search against SCIP and Gurobi.

The same mixed-integer program for all, with a gap of 1 %, budget 0.05, within the range seen in training.
Seconds are CPU time on one thread, medians in one run: one explainer for each method, all of them row
by row in turn. A search that is stopped counts with what it took. "Equal" counts the rows on which
distances differ by no more than both gaps allow. Our limit counts CPU time, the solvers' is wall clock: on a
busy machine one may be stopped after far fewer seconds of its own.

usage: python benchmarks/run.py [--resume] whole_numbers     (ROWS=50 and LIMIT=30 in the environment)
"""

import os

import numpy as np

from benchmarks import cpu_clock  # noqa: F401
from benchmarks.asking import CounterfactualExplainer
from benchmarks.speed.at_most import timed
from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, datasets

COLUMNS = [
    "norm", "rows", "certified: finished", "certified: median s", "gurobi: finished", "gurobi: median s",
    "gurobi: equal", "scip: finished", "scip: median s", "scip: equal", "faster solver / certified",
]  # fmt: skip
KEY = COLUMNS[:1]
ROWS, LIMIT = int(os.environ.get("ROWS", 50)), float(os.environ.get("LIMIT", 30))
GAP = 1e-2
SOLVERS = ("gurobi", "scip")


def rows(done=()):
    data = datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    whole = [name for name in data.X if (data.X[name] % 1 == 0).all()]
    actions = Actions({name: Action(whole=True) for name in whole})
    decided = clf.predict(data.X)
    rng = np.random.default_rng(0)
    drawn = {c: rng.choice(np.flatnonzero(decided == c), ROWS // 2, replace=False) for c in (0, 1)}
    chosen = [(int(i), 1 - c) for c, some in drawn.items() for i in some]
    for norm in (np.inf, 1.0, 2.0):
        if (str(norm),) in done:
            continue
        yield compared(clf, data, chosen, norm, actions)


def compared(clf, data, chosen, norm, actions):
    methods = {name: explainer(name, clf, norm, actions) for name in ("certified", *SOLVERS)}
    for asked in methods.values():  # what rows share is made once
        asked.explain(data.X.iloc[chosen[0][0]], target=chosen[0][1], on_failure="return")
    found = {name: [] for name in methods}
    for i, target in chosen:  # row by row, so that a slow minute of the machine is one for all
        for name, asked in methods.items():
            found[name].append(explained(name, asked, data.X.iloc[i], target))
    finished = {name: sum(done for done, *_ in answers) for name, answers in found.items()}
    median = {name: float(np.median([t for *_, t in answers])) for name, answers in found.items()}
    ours = np.array([distance for _, distance, _ in found["certified"]])
    equal = {
        name: int(sum(abs(np.array([distance for _, distance, _ in found[name]]) / ours - 1) <= 2 * GAP))
        for name in SOLVERS
    }
    return {
        "norm": norm,
        "rows": len(chosen),
        "certified: finished": finished["certified"],
        "certified: median s": f"{median['certified']:.4f}",
        **{f"{name}: finished": finished[name] for name in SOLVERS},
        **{f"{name}: median s": f"{median[name]:.3f}" for name in SOLVERS},
        **{f"{name}: equal": equal[name] for name in SOLVERS},
        "faster solver / certified": f"{min(median[name] for name in SOLVERS) / median['certified']:.1f}",
    }


def explainer(name, clf, norm, actions):
    method = {} if name == "certified" else {"method": "qcqp", "backend": name}
    return CounterfactualExplainer(
        clf, budget=0.05, norm=norm, actions=actions, gap=GAP, time_limit=LIMIT, **method
    )


def explained(name, asked, row, target):
    """Whether the search was finished, the distance and the seconds."""
    e, seconds = timed(asked.explain, row, target=target, on_failure="return")
    optimal = str(e.status) == "optimal"
    distance = e.distance if optimal else np.nan
    print(asked.norm, name, row.name, target, e.status, f"{seconds:.3f} s", distance, flush=True)
    return optimal or str(e.status) == "infeasible", distance, seconds
