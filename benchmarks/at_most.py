"""At most k features change: against the same question without the limit, and against Gurobi and SCIP.

For Pima, German credit (20 features, 13 of them categories, each changed one counts) and Ionosphere (32
features, all C(32, 3) = 4,960 choices of three), TAN networks, budget 0.05, gap 1 %. Seconds are CPU time on
one thread; a search that is stopped counts with what it took. The solvers get one mixed-integer program with
an indicator for each feature (it changes, or it has today's value) and perturbations as they are violated;
"equal" counts the rows on which distances differ by no more than both gaps allow, or neither finds a point.

usage: python benchmarks/run.py [--resume] at_most
       (ROWS=10, LIMIT=30 and SOLVERS=gurobi,scip in the environment)
"""

import os
import time

import numpy as np

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    datasets,
    verify,
)
from surefoot.proof.worst_case import worst_perturbation

COLUMNS = [
    "data", "norm", "whole numbers", "at most", "rows", "finished", "within the limit", "accepted: fast",
    "accepted: exact", "median s", "slowest s", "without limit: median s", "ratio",
    "gurobi: finished", "gurobi: median s", "gurobi: equal",
    "scip: finished", "scip: median s", "scip: equal",
]  # fmt: skip
KEY = COLUMNS[:4]
ROWS, LIMIT = int(os.environ.get("ROWS", 10)), float(os.environ.get("LIMIT", 30))
SOLVERS = [name for name in os.environ.get("SOLVERS", "gurobi,scip").split(",") if name]
GAP, BUDGET = 1e-2, 0.05
MOST_SCENARIOS = 60

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


def measured(name, norm, whole, k):
    clf, X, chosen = LOADERS[name]()
    names = [feature for feature in X if X[feature].dtype.kind not in "iuf"]
    prices = {feature: Action(cost=1.0) for feature in names}
    settings = {"budget": BUDGET, "norm": norm, "gap": GAP, "time_limit": LIMIT}
    settings["whole"] = None if whole == "yes" else False
    free = CounterfactualExplainer(clf, actions=Actions(prices), **settings)
    held = CounterfactualExplainer(clf, actions=Actions(prices, at_most=k), **settings)
    solvers = SOLVERS if norm == np.inf and not names else []
    times = {method: [] for method in ("held", "free", *solvers)}
    counts = dict.fromkeys(("finished", "kept", "fast", "exact"), 0)
    solved, equal = dict.fromkeys(solvers, 0), dict.fromkeys(solvers, 0)
    for i, target in chosen:
        e, seconds = timed(held.explain, X.iloc[i], target, on_failure="return")
        times["held"].append(seconds)
        times["free"].append(timed(free.explain, X.iloc[i], target, on_failure="return")[1])
        counts["finished"] += str(e.status) in ("optimal", "infeasible")
        counts["kept"] += e.counterfactual is None or int((e.counterfactual != e.factual).sum()) <= k
        counts["fast"] += verify(e, clf).ok
        counts["exact"] += verify(e, clf, exact=True).ok
        for solver in solvers:
            problem = held.problem(X.iloc[i], target)
            (finished, distance), seconds = timed(PROGRAMS[solver], problem, k)
            times[solver].append(seconds)
            solved[solver] += finished
            equal[solver] += finished and close(e.distance, distance)
        print(name, norm, k, i, e.status, {m: f"{t[-1]:.2f} s" for m, t in times.items()}, flush=True)
    median = {method: float(np.median(t)) for method, t in times.items()}
    return {
        "rows": len(chosen),
        "finished": counts["finished"],
        "within the limit": counts["kept"],
        "accepted: fast": counts["fast"],
        "accepted: exact": counts["exact"],
        "median s": f"{median['held']:.3f}",
        "slowest s": f"{max(times['held']):.2f}",
        "without limit: median s": f"{median['free']:.3f}",
        "ratio": f"{median['held'] / median['free']:.1f}",
        **{f"{solver}: finished": solved[solver] for solver in solvers},
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


def by_gurobi(problem, k):
    """Cutting sets over one program: whether it is finished, and its distance (infinite without a point)."""
    import gurobipy as gp
    from gurobipy import GRB

    params = {"OutputFlag": 0, "MIPGap": GAP / 2, "NonConvex": 2, "Threads": 1}
    with gp.Env(params=params) as env, gp.Model(env=env) as model:
        y = model.addMVar(problem.n_features, **bounds(problem, "lb", "ub"))
        for j, kind in enumerate(kinds(problem)):
            if kind is not None:  # a whole number: today's value and so many steps
                steps = model.addVar(lb=-GRB.INFINITY, vtype=GRB.INTEGER)
                model.addConstr(y[j] * problem.unit[j] == steps + kind)
        far, slack = model.addVar(obj=1.0), model.addVar(lb=-GRB.INFINITY)
        way = (problem.metric.matrix * problem.unit) @ y
        model.addConstr(way <= far)
        model.addConstr(-way <= far)
        changed = model.addMVar(problem.n_features, vtype=GRB.BINARY)
        for j in range(problem.n_features):
            model.addConstr((changed[j].item() == 0) >> (y[j].item() == 0))
        model.addConstr(changed.sum() <= k)
        Q, q, c = scaled(problem)
        model.addConstr(y @ Q @ y + q @ y + c + slack >= 0)

        def cut(d):
            a, b = shifted(problem, d)
            model.addConstr(slack <= a @ y + b)

        def solve(seconds):
            model.Params.TimeLimit = max(seconds, 0.0)
            model.optimize()
            known = {GRB.OPTIMAL: True, GRB.INFEASIBLE: False, GRB.INF_OR_UNBD: False}
            if model.Status not in known:
                return None
            return (y.X, model.ObjVal) if known[model.Status] else (None, np.inf)

        return cutting_sets(problem, cut, solve)


def by_scip(problem, k):
    """The same for SCIP."""
    from pyscipopt import Model, quicksum

    n = problem.n_features
    model = Model()
    model.hideOutput()
    model.setParam("limits/gap", GAP / 2)
    ends = bounds(problem, "lb", "ub")
    y = [
        model.addVar(lb=None if np.isinf(a) else a, ub=None if np.isinf(b) else b)
        for a, b in zip(ends["lb"], ends["ub"], strict=True)
    ]
    for j, kind in enumerate(kinds(problem)):
        if kind is not None:
            model.addCons(y[j] * problem.unit[j] == model.addVar(lb=None, vtype="I") + kind)
    far, slack = model.addVar(lb=0.0), model.addVar(lb=None)
    model.setObjective(far)
    for row in problem.metric.matrix * problem.unit:
        way = quicksum(a * v for a, v in zip(row, y, strict=True) if a)
        model.addCons(way <= far)
        model.addCons(-way <= far)
    kept = [model.addVar(vtype="B") for _ in range(n)]
    for v, binary in zip(y, kept, strict=True):
        model.addConsIndicator(v <= 0, binary)
        model.addConsIndicator(-v <= 0, binary)
    model.addCons(quicksum(kept) >= n - k)
    Q, q, c = scaled(problem)
    square = quicksum(Q[i, j] * y[i] * y[j] for i in range(n) for j in range(n) if Q[i, j])
    model.addCons(square + quicksum(a * v for a, v in zip(q, y, strict=True)) + c + slack >= 0)

    def cut(d):
        model.freeTransform()
        a, b = shifted(problem, d)
        model.addCons(slack <= quicksum(x * v for x, v in zip(a, y, strict=True)) + b)

    def solve(seconds):
        model.setParam("limits/time", max(seconds, 0.0))
        model.optimize()
        if model.getStatus() == "infeasible":
            return None, np.inf
        if model.getStatus() not in ("optimal", "gaplimit"):
            return None
        return np.array([model.getVal(v) for v in y]), model.getObjVal()

    return cutting_sets(problem, cut, solve)


PROGRAMS = {"gurobi": by_gurobi, "scip": by_scip}


def cutting_sets(problem, cut, solve):
    """Master and adversary in turn, until nothing is violated or time is up."""
    end = time.perf_counter() + LIMIT
    cut(np.zeros(problem.n_features))
    for _ in range(MOST_SCENARIOS):
        found = solve(end - time.perf_counter())
        if found is None:
            return False, np.nan
        if found[0] is None:
            return True, np.inf
        worst = worst_perturbation(problem, problem.factual + found[0] * problem.unit)
        if worst.violation <= 1e-5:
            return True, found[1]
        cut(worst.perturbation)
    return False, np.nan


def bounds(problem, low, high):
    """Ends of the features' changes in standard deviations."""
    ends = (problem.domain.low, problem.domain.high)
    return {name: (end - problem.factual) / problem.unit for name, end in zip((low, high), ends, strict=True)}


def kinds(problem):
    """For each feature None, or what must be added to a whole number to get a change."""
    whole = {s.feature for s in problem.domain.sets}
    now = problem.factual
    return [float(np.floor(now[j]) - now[j]) if j in whole else None for j in range(problem.n_features)]


def scaled(problem):
    """The one margin in changes, in units of standard deviations."""
    (H,) = (g.in_coordinates(np.diag(problem.unit), problem.factual) for g in problem.margins)
    return H.matrix, H.vector, H.constant


def shifted(problem, d):
    """What a perturbation adds to the margin: slopes and constant."""
    Q, q, _ = scaled(problem)
    v = d / problem.unit
    return 2 * Q @ v, float(v @ Q @ v + q @ v)
