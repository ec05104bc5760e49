"""A probability among all classes: against SCIP with exponentials, and against "each" in time.

usage: python benchmarks/audit/among_all.py [ROWS]

Wine (178 rows, 3 classes), with all 13 features and with the first four, where the classes overlap; naive and
TAN networks, thresholds 0.5 and 0.8. SCIP gets the same question (norm 2, the range seen in training, no
errors) with the exponentials of the log-odds as they are and a gap of 0.1 %. A disagreement is a distance
below the other side's proven bound. Every answer is checked exactly. The ratio of times is the median over
rows, "all" and "each" measured in turns.
"""

from __future__ import annotations

import statistics
import sys
import time
from itertools import product

import numpy as np
from sklearn.datasets import load_wine

from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, verify

ROOM = 1e-5  # of the distance: SCIP's tolerances


def scip_distance(clf, problem, target, threshold, seconds=60.0):
    """Distance and bound by SCIP: min ||D (x - x0)|| with sum exp(-H_k(x)) <= (1 - tau) / tau."""
    import pyscipopt

    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("limits/time", seconds)
    model.setParam("limits/gap", 1e-3)
    model.setParam("numerics/feastol", 1e-8)
    low, high = problem.domain.low, problem.domain.high
    x0 = problem.factual
    u = [model.addVar(f"u{i}", lb=-50, ub=50) for i in range(len(x0))]
    x = [
        x0[j] + pyscipopt.quicksum(problem.metric.inverse[j, i] * u[i] for i in range(len(x0)))
        for j in range(len(x0))
    ]
    for j, xj in enumerate(x):
        model.addCons(xj >= low[j])
        model.addCons(xj <= high[j])
    terms = []
    for rival in (c for c in clf.classes_.tolist() if c != target):
        H = clf.decision(target, rival).at(()).in_coordinates(problem.metric.inverse, x0)
        t = model.addVar(f"t{rival}", lb=-60, ub=60)
        square = pyscipopt.quicksum(
            H.matrix[i, j] * u[i] * u[j] for i in range(len(u)) for j in range(len(u)) if H.matrix[i, j]
        )
        model.addCons(
            t >= -(square + pyscipopt.quicksum(H.vector[i] * u[i] for i in range(len(u))) + H.constant)
        )
        terms.append(pyscipopt.exp(t))
    model.addCons(pyscipopt.quicksum(terms) <= (1 - threshold) / threshold)
    square = model.addVar("square", lb=0)
    model.addCons(square >= pyscipopt.quicksum(v * v for v in u))
    model.setObjective(square)
    model.optimize()
    best = model.getObjVal() if model.getNSols() else np.inf
    return best**0.5, max(model.getDualbound(), 0.0) ** 0.5, model.getStatus()


def main(rows=20):
    """Compare and print."""
    wine = load_wine(as_frame=True)
    wrong = unchecked = compared = undecided = 0
    ratios, slower = [], []
    for structure, columns in product(("naive", "tan"), (13, 4)):
        X = wine.data.iloc[:, :columns]
        clf = ConditionalGaussianNetworkClassifier(structure=structure).fit(X, wine.target)
        predicted = clf.predict(X)
        for threshold in (0.5, 0.8):
            settings = {"preset": "paper", "norm": 2, "bounds": "data", "threshold": threshold}
            both = {a: CounterfactualExplainer(clf, against=a, **settings) for a in ("each", "all")}
            for i in np.linspace(0, len(X) - 1, rows).astype(int).tolist():
                row, target = X.iloc[i], (int(predicted[i]) + 1 + i % 2) % 3
                seconds = {}
                for against, explainer in both.items():
                    start = time.perf_counter()
                    found = explainer.explain(row, target)
                    seconds[against] = time.perf_counter() - start
                ratios.append(seconds["all"] / seconds["each"])
                unchecked += not verify(found, clf).ok
                problem = both["all"].problem(row, target)
                start = time.perf_counter()
                distance, bound, status = scip_distance(clf, problem, target, threshold)
                slower.append((time.perf_counter() - start) / seconds["all"])
                compared += 1
                undecided += status not in ("optimal", "gaplimit")
                if distance < found.lower_bound * (1 - ROOM) or found.distance < bound * (1 - ROOM):
                    wrong += 1
                    print(
                        structure,
                        columns,
                        threshold,
                        i,
                        found.distance,
                        found.lower_bound,
                        distance,
                        bound,
                        status,
                    )
    print(f"{compared} questions, {wrong} wrong, {unchecked} not accepted by the checker")
    print(f"SCIP did not finish {undecided}; its time over ours: median {statistics.median(slower):.0f}")
    print(f'time of "all" over "each": median {statistics.median(ratios):.1f}, largest {max(ratios):.1f}')


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
