"""Where there is no answer: is the highest probability that is named the highest, by SCIP's?

Rows of bundled tables, of which only some features may change, so that there is no answer: tree models, whole
numbers, categories, the range seen in training. SCIP maximises the log-odds over the numbers for each allowed
state of the categories (enumerated), global within 1e-6; with a budget (norm inf) the least of them over a
grid of five errors in each noisy direction, which can only be too high. What it finds is compared as the
classifier itself predicts it. "within": rows in which SCIP's probability lies between the one named and the
proven bound, up to 1e-4 (with a budget up to 1e-3: a grid is not the ball). "gap" is the largest difference
between the two; "accepted": files whose bound the exact checker accepts. Seconds are of CPU, medians: all of
`explain`, and the part of it that was the search.

usage: python benchmarks/run.py [--resume] best_probability      (ROWS=7 in the environment: of each kind)
"""

import itertools
import math
import os
import time
import warnings

import numpy as np

from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets, verify

KEY = ["table", "budget"]
COLUMNS = [*KEY, "rows", "within", "gap", "accepted", "largest difference", "seconds", "search seconds"]
TABLES = {
    "Pima": (datasets.load_pima, 4),
    "Banknote": (datasets.load_banknote, 2),
    "Ionosphere": (datasets.load_ionosphere, 4),
    "German credit": (datasets.load_german_credit, 3),
}
BUDGETS = (0.0, 0.05)
ROWS = int(os.environ.get("ROWS", 7))
MOST_STATES = 200
ROOM = {0.0: 1e-4, 0.05: 1e-3}


def rows(done=frozenset()):
    warnings.simplefilter("ignore")
    for table, (load, free) in TABLES.items():
        data = load()
        clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
        for budget in BUDGETS:
            if (table, str(budget)) not in done:
                yield {"table": table, "budget": budget, **line(data.X, clf, free, budget, ROWS)}


def line(X, clf, free, budget, count, seed=0):
    """What is said of some rows without an answer, and what SCIP says of them."""
    found = list(itertools.islice(compared(X, clf, free, budget, seed), count))
    named, bound, by_scip = (np.array([one[key] for one in found]) for key in ("named", "bound", "scip"))
    within = (named - ROOM[budget] <= by_scip) & (by_scip <= bound + ROOM[budget])
    return {
        "rows": len(found),
        "within": int(within.sum()),
        "gap": f"{(bound - named).max():.4f}",
        "accepted": sum(one["accepted"] for one in found),
        "largest difference": f"{np.abs(by_scip - named).max():.4f}",
        "seconds": f"{np.median([one['seconds'] for one in found]):.3f}",
        "search seconds": f"{np.median([one['search'] for one in found]):.3f}",
    }


def compared(X, clf, free, budget, seed):
    """Rows without an answer, one after the other."""
    rng, decided = np.random.default_rng(seed), clf.predict(X)
    for i in rng.permutation(len(X)):
        some = {str(name) for name in rng.permutation(list(X))[: rng.integers(1, free + 1)]}
        kept = [name for name in X if str(name) not in some]
        explainer = CounterfactualExplainer(
            clf, preset="paper", bounds="data", whole=None, noise_on="changeable", budget=budget,
            immutable=kept,
        )  # fmt: skip
        target = next(label for label in clf.classes_.tolist() if label != decided[i])
        start = time.process_time()
        e = explainer.explain(X.iloc[i], target, on_failure="return")
        seconds = time.process_time() - start
        if e.status != "infeasible" or math.isnan(e.best_probability):
            continue
        yield {
            "named": e.best_probability,
            "bound": e.best_probability_bound,
            "scip": highest(e.question, clf),
            "accepted": verify(e, clf).ok,
            "seconds": seconds,
            "search": e.search_seconds,
        }


def highest(question, clf):
    """The highest probability by SCIP, over all states of the categories; as the classifier predicts it."""
    family = question.family(clf)
    allowed = [choice.allowed for choice in question.choices]
    if math.prod(map(len, allowed)) > MOST_STATES:
        raise SystemExit("too many states of the categories to enumerate")
    best = 0.0
    for state in itertools.product(*allowed):
        if family.allows(state):
            best = max(best, predicted(question, clf, family.problem(state), state))
    return best


def predicted(question, clf, problem, state):
    """P(target) at SCIP's point, at the worst error of the grid."""
    errors, t = grid(problem), clf.classes_.tolist().index(question.target)
    point = maximised(problem, errors)
    codes = np.array([state] * len(errors), dtype=np.intp).reshape(len(errors), -1)
    scores = clf.scaled_scores(point + errors, codes)
    ahead = scores[:, t] - np.delete(scores, t, axis=1).max(axis=1)
    return float(1 / (1 + np.exp(-ahead.min())))


def grid(problem):
    """Errors of the ball: five in each direction."""
    steps = itertools.product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=problem.ball.basis.shape[1])
    if problem.ball.is_point:
        return np.zeros((1, problem.n_features))
    return np.array([problem.ball.radius * problem.ball.basis @ np.array(step) for step in steps])


def maximised(problem, errors):
    """SCIP's point: the largest least margin over the errors."""
    from pyscipopt import Model, quicksum

    model, domain = Model(), problem.domain
    model.hideOutput()
    model.setParam("limits/gap", 1e-6)
    whole = {s.feature for s in domain.sets if s.values is None}
    x = [
        model.addVar(f"x{j}", "I" if j in whole else "C", lb=float(domain.low[j]), ub=float(domain.high[j]))
        for j in range(problem.n_features)
    ]
    least = model.addVar("least", lb=None)
    for requirement, d in itertools.product(problem.requirements, errors):
        g = requirement.margin
        z = [x[j] + float(d[j] - g.center[j]) for j in range(len(x))]
        square = quicksum(
            float(g.matrix[i, j]) * z[i] * z[j] for i, j in zip(*np.nonzero(g.matrix), strict=True)
        )
        model.addCons(
            quicksum(float(v) * zj for v, zj in zip(g.vector, z, strict=True)) + square + g.constant >= least
        )
    model.setObjective(least, "maximize")
    model.optimize()
    return np.array([model.getVal(v) for v in x])
