"""At most k features change: against the same question without the limit, and against Gurobi and SCIP.

For Pima, German credit (20 features, 13 of them categories, each changed one counts) and Ionosphere (32
features, all C(32, 3) = 4,960 choices of three), TAN networks, budget 0.05, gap 1 %. Seconds are CPU time on
one thread; a search that is stopped counts with what it took. The solvers get one mixed-integer program with
an indicator for each feature (it changes, or it has today's value) and perturbations as they are violated;
"equal" counts the rows on which distances differ by no more than both gaps allow, or neither finds a point.
They are compared with the search alone, proof included: it gets the same problem as they do and, where there
is no point, does not say why; "slower" counts the rows that they finish in more time than it takes.
Our limit counts CPU time, the solvers' is wall clock.

usage: python benchmarks/run.py [--resume] at_most
       (ROWS=10, LIMIT=30, SOLVER_LIMIT=30 and SOLVERS=gurobi,scip in the environment)
"""

import os
import time

import numpy as np

from benchmarks import cpu_clock  # noqa: F401
from benchmarks.asking import CounterfactualExplainer
from benchmarks.speed.programs import solved
from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    datasets,
    verify,
)
from surefoot.search.certified import certified_search

COLUMNS = [
    "data", "norm", "whole numbers", "at most", "rows", "finished", "within the limit", "accepted",
    "median s", "slowest s", "without limit: median s", "ratio",
    "search: median s", "search: slowest s",
    "gurobi: finished", "gurobi: slower", "gurobi: median s", "gurobi: equal",
    "scip: finished", "scip: slower", "scip: median s", "scip: equal",
]  # fmt: skip
KEY = COLUMNS[:4]
ROWS, LIMIT = int(os.environ.get("ROWS", 10)), float(os.environ.get("LIMIT", 30))
SOLVER_LIMIT = float(os.environ.get("SOLVER_LIMIT", LIMIT))
SOLVERS = [name for name in os.environ.get("SOLVERS", "gurobi,scip").split(",") if name]
GAP, BUDGET = 1e-2, 0.05

CASES = [
    *(("pima", norm, whole, k) for whole in ("no", "yes") for norm in (np.inf, 1.0, 2.0) for k in (1, 2, 3)),
    *(("german credit", norm, whole, 3) for whole in ("no", "yes") for norm in (np.inf, 1.0)),
    ("ionosphere", np.inf, "no", 3),
]


def rows(done=()):
    for data, norm, whole, k in CASES:
        if (data, str(norm), whole, str(k)) not in done:
            yield {
                "data": data,
                "norm": norm,
                "whole numbers": whole,
                "at most": k,
                **measured(data, norm, whole, k),
            }


def order(row):
    """Where a row stands among the others."""
    names = [tuple(str(part) for part in case) for case in CASES]
    return names.index(tuple(str(row[key]) for key in KEY))


def measured(name, norm, whole, k):
    clf, X, chosen = LOADERS[name]()
    names = [feature for feature in X if X[feature].dtype.kind not in "iuf"]
    prices = {feature: Action(cost=1.0) for feature in names}
    settings = {"budget": BUDGET, "norm": norm, "gap": GAP, "time_limit": LIMIT}
    settings["whole"] = None if whole == "yes" else False
    free = CounterfactualExplainer(clf, actions=Actions(prices), **settings)
    held = CounterfactualExplainer(clf, actions=Actions(prices, at_most=k), **settings)
    solvers = SOLVERS if norm == np.inf and not names else []
    times = {method: [] for method in ("held", "free", *(("search", *solvers) if solvers else ()))}
    counts = dict.fromkeys(("finished", "kept", "accepted"), 0)
    finished, slower, equal = (dict.fromkeys(solvers, 0) for _ in range(3))
    for i, target in chosen:
        e, seconds = timed(held.explain, X.iloc[i], target, on_failure="return")
        times["held"].append(seconds)
        times["free"].append(timed(free.explain, X.iloc[i], target, on_failure="return")[1])
        counts["finished"] += str(e.status) in ("optimal", "infeasible")
        counts["kept"] += e.counterfactual is None or int((e.counterfactual != e.factual).sum()) <= k
        counts["accepted"] += verify(e, clf).ok
        family = e.question.family(clf)
        if solvers:
            times["search"].append(timed(certified_search, family.problem(), GAP, LIMIT)[1])
        for solver in solvers:
            (done, distance), seconds = timed(solved, solver, family, GAP, SOLVER_LIMIT)
            times[solver].append(seconds)
            finished[solver] += done
            slower[solver] += done and seconds > times["search"][-1]
            equal[solver] += done and close(e.distance, distance)
        print(name, norm, k, i, e.status, {m: f"{t[-1]:.2f} s" for m, t in times.items()}, flush=True)
    median = {method: float(np.median(t)) for method, t in times.items()}
    return {
        "rows": len(chosen),
        "finished": counts["finished"],
        "within the limit": counts["kept"],
        "accepted": counts["accepted"],
        "median s": f"{median['held']:.3f}",
        "slowest s": f"{max(times['held']):.2f}",
        "without limit: median s": f"{median['free']:.3f}",
        "ratio": f"{median['held'] / median['free']:.1f}",
        **({"search: median s": f"{median['search']:.3f}"} if solvers else {}),
        **({"search: slowest s": f"{max(times['search']):.2f}"} if solvers else {}),
        **{f"{solver}: finished": finished[solver] for solver in solvers},
        **{f"{solver}: slower": slower[solver] for solver in solvers},
        **{f"{solver}: median s": f"{median[solver]:.2f}" for solver in solvers},
        **{f"{solver}: equal": equal[solver] for solver in solvers},
    }


def timed(call, *arguments, **options):
    start = time.process_time()
    return call(*arguments, **options), time.process_time() - start


def close(one, other):
    return one == other or abs(one - other) <= 2 * GAP * max(one, other)


def fitted(data):
    return ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)


def two_classes(data):
    clf = fitted(data)
    classes, decided = clf.classes_.tolist(), clf.predict(data.X)
    drawn = np.random.default_rng(0).choice(len(data.X), ROWS, replace=False)
    return clf, data.X, [(int(i), classes[1 - classes.index(decided[i])]) for i in drawn]


def german_credit():
    data = datasets.load_german_credit()
    clf = fitted(data)
    return clf, data.X, [(int(i), "good") for i in np.flatnonzero(clf.predict(data.X) == "bad")[:ROWS]]


LOADERS = {
    "pima": lambda: two_classes(datasets.load_pima()),
    "german credit": german_credit,
    "ionosphere": lambda: two_classes(datasets.load_ionosphere()),
}
