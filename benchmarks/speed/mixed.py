"""German credit with its thirteen categories: refused applicants, answered and compared.

For each structure, budget and price of a change of category: how many answers are finished, whether every
category and every whole number is one, whether the checker accepts, and the median time against that of the
seven numbers alone (all categories kept) in the same run. Times are processor time, so that other work on the
machine does not enter; the solvers have one thread, as the search has. On a model of the seven numbers and
six categories the distance is compared with a search in every state by itself, and with a solver on one
mixed-integer program with binaries: Gurobi, or SCIP for trees, whose programs are too large for the licence
that comes with Gurobi.

usage: python benchmarks/run.py [--resume] mixed     (ROWS=100, ENUMERATED=10 and LIMIT=30 in the environment)
"""

import os
import time
from itertools import product

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
    "structure", "budget", "price", "rows", "finished", "valid", "accepted",
    "median s", "slowest s", "numbers alone: median s", "ratio", "enumerated", "equal to enumeration",
    "solver", "by solver", "equal to solver", "solver / certified",
]  # fmt: skip
KEY = COLUMNS[:3]
ROWS, LIMIT = int(os.environ.get("ROWS", 100)), float(os.environ.get("LIMIT", 30))
ENUMERATED = int(os.environ.get("ENUMERATED", 10))
KEPT = ["age", "personal_status"]
SUBSET = 6
GAP = 1e-3
SOLVERS = {"naive": "gurobi", "tan": "scip"}


def rows(done=()):
    data = datasets.load_german_credit()
    names = [name for name in data.X if data.X[name].dtype.kind not in "iuf"]
    some = [name for name in names if name not in KEPT][:SUBSET]
    small = data.X[[name for name in data.X if name not in names or name in some]]
    for structure in SOLVERS:
        clf = ConditionalGaussianNetworkClassifier(structure).fit(data.X, data.y)
        part = ConditionalGaussianNetworkClassifier(structure).fit(small, data.y)
        for budget, price in product((0.0, 0.05), (1.0, 0.3)):
            if (structure, str(budget), str(price)) not in done:
                yield {
                    "structure": structure,
                    "budget": budget,
                    "price": price,
                    **answered(clf, data, names, budget, price),
                    **compared(part, small, some, budget, price, SOLVERS[structure]),
                }


def refused(clf, X, count):
    return [int(i) for i in np.flatnonzero(clf.predict(X) == "bad")[:count]]


def explainer(clf, names, budget, price, kept):
    actions = Actions({name: Action(cost=price) for name in names})
    return CounterfactualExplainer(
        clf, budget=budget, actions=actions, immutable=kept, gap=GAP, time_limit=LIMIT
    )


def answered(clf, data, names, budget, price):
    every = explainer(clf, names, budget, price, KEPT)
    alone = explainer(clf, [], budget, price, [*dict.fromkeys([*KEPT, *names])])
    times, seconds, counts = [], [], dict.fromkeys(("finished", "valid", "accepted"), 0)
    chosen = refused(clf, data.X, ROWS)
    for i in chosen:
        start = time.process_time()
        e = every.explain(data.X.iloc[i], "good", on_failure="return")
        times.append(time.process_time() - start)
        start = time.process_time()
        alone.explain(data.X.iloc[i], "good", on_failure="return")
        seconds.append(time.process_time() - start)
        counts["finished"] += str(e.status) in ("optimal", "infeasible", "already_target")
        counts["valid"] += valid(e, clf)
        counts["accepted"] += verify(e, clf).ok
    return {
        "rows": len(chosen),
        "finished": counts["finished"],
        "valid": counts["valid"],
        "accepted": counts["accepted"],
        "median s": f"{np.median(times):.3f}",
        "slowest s": f"{max(times):.2f}",
        "numbers alone: median s": f"{np.median(seconds):.3f}",
        "ratio": f"{np.median(times) / np.median(seconds):.1f}",
    }


def valid(e, clf):
    """Categories that exist, whole numbers that are whole, and nothing kept that moved."""
    if e.counterfactual is None:
        return True
    kinds = clf.feature_kinds_
    named = all(e.counterfactual[name] in clf.categories_[name] for name in clf.categories_)
    whole = all(float(e.counterfactual[name]).is_integer() for name, kind in kinds.items() if kind == "whole")
    return named and whole and all(e.counterfactual[name] == e.factual[name] for name in KEPT)


def compared(clf, X, names, budget, price, solver):
    """Against a search in every state by itself, and against one program with binaries."""
    asked = explainer(clf, names, budget, price, KEPT[:1])
    equal = by_solver = same = 0
    chosen, ratios = refused(clf, X, ENUMERATED), []
    for i in chosen:
        start = time.process_time()
        e = asked.explain(X.iloc[i], "good", on_failure="return")
        own = time.process_time() - start
        family = e.question.family(clf)
        equal += close(e.distance, enumerated(family, e.distance))
        start = time.process_time()
        finished, found = solved(solver, family, GAP, LIMIT, 1e-6)
        if finished:
            by_solver, same = by_solver + 1, same + close(e.distance, found)
            ratios.append((time.process_time() - start) / own)
    return {
        "enumerated": len(chosen),
        "equal to enumeration": equal,
        "solver": solver,
        "by solver": by_solver,
        "equal to solver": same,
        "solver / certified": f"{np.median(ratios):.1f}" if ratios else "",
    }


def close(one, other):
    return bool(abs(one - other) <= 2.2 * GAP * max(one, other) + 2e-6) or one == other


def enumerated(family, ceiling):
    """The least distance over all states; those whose price alone is larger than the answer are left out."""
    best = np.inf
    for state in product(*(choice.allowed for choice in family.choices)):
        price = family.price(state)
        if price >= min(best, ceiling * (1 + 1e-6)):
            continue
        problem = family.problem(state)
        found = certified_search(problem, GAP, LIMIT)
        if found.point is not None:
            best = min(best, price + problem.distance(found.point))
    return best
