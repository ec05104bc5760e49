"""Combined actions against Gurobi and SCIP: whole numbers, categories, two rules, at most three changes.

German credit (7 whole numbers and 13 categories, of which purpose, personal status and foreign worker stay)
and Pima (8 numbers, 6 of them whole), budget 0.05, gap 1 %; a change of category costs 1. The rules: an
instalment of 80 to 400 a month; glucose falls by no more than 20 and 3 for each unit of body mass lost, skin
folds stay within 1.5 times the body mass. The solvers get one mixed-integer program (`programs.py`).
Seconds are CPU time on one thread, for the solvers with what looking for violated perturbations takes; a
search that is stopped counts with what it took. "Equal" counts rows on which the distances differ by no more
than both gaps allow, or neither finds a point; "binding" those whose answer without the rules breaks one.
Where SCIP differs, its distance is the larger one, and the checker accepts the nearer point. Our limit
counts CPU time, the solvers' is wall clock: on a busy machine one may be stopped after far fewer seconds of
its own.

usage: python benchmarks/run.py [--resume] combined
       (ROWS=25, LIMIT=60 and SOLVERS=gurobi,scip in the environment)
"""

import os

import numpy as np

from benchmarks import cpu_clock  # noqa: F401
from benchmarks.asking import CounterfactualExplainer
from benchmarks.speed.at_most import close, timed
from benchmarks.speed.programs import solved
from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    datasets,
    verify,
)

COLUMNS = [
    "data", "structure", "norm", "rows", "binding", "finished", "accepted",
    "median s", "slowest s",
    "gurobi: finished", "gurobi: median s", "gurobi: equal", "gurobi / certified",
    "scip: finished", "scip: median s", "scip: equal", "scip / certified",
]  # fmt: skip
KEY = COLUMNS[:3]
ROWS, LIMIT = int(os.environ.get("ROWS", 25)), float(os.environ.get("LIMIT", 60))
SOLVERS = [name for name in os.environ.get("SOLVERS", "gurobi,scip").split(",") if name]
GAP, BUDGET, MOST = 1e-2, 0.05, 3
RULES = {
    "german credit": ["credit_amount >= 80 * duration_months", "credit_amount <= 400 * duration_months"],
    "pima": ["plas >= plas.now - 20 - 3 * mass.now + 3 * mass", "skin <= 1.5 * mass"],
}
MODELS = [("german credit", "naive"), ("pima", "tan"), ("german credit", "tan")]
CASES = [(*model, norm) for norm in (np.inf, 1.0) for model in MODELS]
KEPT = ("purpose", "personal_status", "foreign_worker")
TABLES = {"german credit": (datasets.load_german_credit, "good"), "pima": (datasets.load_pima, 0)}


def rows(done=()):
    for data, structure, norm in CASES:
        if (data, structure, str(norm)) not in done:
            yield {"data": data, "structure": structure, "norm": norm, **measured(data, structure, norm)}


def measured(name, structure, norm):
    load, target = TABLES[name]
    data = load()
    clf, X = ConditionalGaussianNetworkClassifier(structure).fit(data.X, data.y), data.X
    asked, ruleless = (explainer(clf, X, rules, norm) for rules in (RULES[name], []))
    chosen = np.flatnonzero(clf.predict(X) != target)[:ROWS].tolist()
    times = {method: [] for method in ("own", *SOLVERS)}
    counts = dict.fromkeys(("finished", "binding", "accepted"), 0)
    finished, equal = dict.fromkeys(SOLVERS, 0), dict.fromkeys(SOLVERS, 0)
    for i in chosen:
        e, seconds = timed(asked.explain, X.iloc[i], target, on_failure="return")
        times["own"].append(seconds)
        counts["finished"] += str(e.status) in ("optimal", "infeasible")
        counts["binding"] += breaks(ruleless.explain(X.iloc[i], target, on_failure="return"), e)
        counts["accepted"] += verify(e, clf).ok
        for solver in SOLVERS:
            (done, distance), seconds = timed(solved, solver, e.question.family(clf), GAP, LIMIT)
            times[solver].append(seconds)
            finished[solver] += done
            same = done and close(e.distance, distance)
            equal[solver] += same
            if done and not same:
                print(f"row {i}: {e.distance} is not {solver}'s {distance}", flush=True)
        print(name, structure, norm, i, e.status, {m: f"{t[-1]:.2f} s" for m, t in times.items()}, flush=True)
    median = {method: float(np.median(t)) for method, t in times.items()}
    return {
        "rows": len(chosen),
        "binding": counts["binding"],
        "finished": counts["finished"],
        "accepted": counts["accepted"],
        "median s": f"{median['own']:.3f}",
        "slowest s": f"{max(times['own']):.2f}",
        **{f"{solver}: finished": finished[solver] for solver in SOLVERS},
        **{f"{solver}: median s": f"{median[solver]:.2f}" for solver in SOLVERS},
        **{f"{solver}: equal": equal[solver] for solver in SOLVERS},
        **{f"{solver} / certified": f"{median[solver] / median['own']:.1f}" for solver in SOLVERS},
    }


def explainer(clf, X, rules, norm):
    names = [feature for feature in X if X[feature].dtype.kind not in "iuf"]
    features = {feature: "stay" if feature in KEPT else Action(cost=1.0) for feature in names}
    actions = Actions(features, rules=rules, at_most=MOST)
    return CounterfactualExplainer(clf, budget=BUDGET, norm=norm, gap=GAP, time_limit=LIMIT, actions=actions)


def breaks(free, ruled):
    """Whether the answer to the question without rules breaks a rule of the other."""
    if free.counterfactual is None:
        return False
    point = free.counterfactual[[name for name in free.counterfactual.index if name in numbers(free)]]
    return not all(row.contains(point.to_numpy(dtype=float)) for row in ruled.question.domain.rows)


def numbers(e):
    return [name for name in e.factual.index if not isinstance(e.factual[name], str)]
