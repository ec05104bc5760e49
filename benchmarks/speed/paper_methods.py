"""The paper's MILP, and its QCQP as printed, on open-source solvers and Gurobi: runtime, rounds, coverage.

usage: python benchmarks/run.py paper_methods      (MILP on Pima's full graph with two factuals)
"""

import warnings
from unittest import mock

import numpy as np

from benchmarks.asking import CounterfactualExplainer
from surefoot import ConditionalGaussianNetworkClassifier, datasets
from surefoot.search.paper.formulations import qcqp

COLUMNS = [
    "data", "structure", "budget", "method", "solver", "runs", "seconds", "(s.e.)", "iterations", "(s.e.) ",
    "early stops", "mean coverage", "least coverage", "timeouts", "largest excess over Gurobi's distance",
    "own share of time",
]  # fmt: skip
STRUCTURES = {
    "NB": {"structure": "naive"},
    "TAN": {"structure": "tan"},
    "BAN, 2 parents": {"structure": "ban", "max_parents": 2},
    "BAN": {"structure": "ban"},
}
METHODS = [("qcqp", "gurobi"), ("qcqp", "scip"), ("milp", "highs")]
# The program as the paper prints it; what other coordinates do for it is measured in coordinates.py.
AS_PRINTED = mock.patch.dict(qcqp.COORDINATES, scip="features", gurobi="features")


def factuals(clf, data, count, seed=0):
    """Rows that are classified as class 0, drawn with a seed."""
    rows = np.flatnonzero(clf.predict(data.X) == 0)
    return data.X.iloc[np.sort(np.random.default_rng(seed).choice(rows, count, replace=False))]


def standard_error(values):
    return np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0


def measure(clf, rows, budget, method, solver, time_limit):
    explainer = CounterfactualExplainer(
        clf, budget=budget, method=method, backend=solver, bounds=None, whole=False, time_limit=time_limit
    )
    with warnings.catch_warnings(), AS_PRINTED:
        warnings.simplefilter("error")
        return [explainer.explain(row, target=1, on_failure="return") for _, row in rows.iterrows()]


def summary(found, best):
    done = [e for e in found if e.status == "optimal"]
    seconds = [sum(r.master_seconds + r.adversary_seconds for r in e.iterations) for e in done]
    rounds = [len(e.iterations) for e in done]
    early = [e for e in done if e.early_stop]
    covered = [e.coverage for e in done] or [np.nan]
    excess = [e.distance / best[i] - 1 for i, e in enumerate(found) if e.status == "optimal"] or [np.nan]
    own = 1 - sum(seconds) / sum(e.seconds for e in done)
    total = [e.seconds for e in done]
    return [
        len(found), f"{np.mean(total):.3f}", f"{standard_error(total):.3f}",
        f"{np.mean(rounds):.2f}", f"{standard_error(rounds):.2f}",
        len(early), f"{np.mean([e.coverage for e in early]):.2%}" if early else "",
        f"{min(covered):.2%}", len(found) - len(done), f"{max(excess):.3%}", f"{own:.1%}",
    ]  # fmt: skip


def rows(count=25, slow_count=2, time_limit=3600.0):
    for load, title in ((datasets.load_banknote, "Banknote"), (datasets.load_pima, "Pima")):
        data = load()
        for name, settings in STRUCTURES.items():
            if title == "Banknote" and name == "BAN, 2 parents":
                continue  # no feature has more than two parents there anyway
            clf = ConditionalGaussianNetworkClassifier(**settings).fit(data.X, data.y)
            for budget in (0.01, 0.05):
                chosen, best = factuals(clf, data, count), None
                for method, solver in METHODS:
                    slow = method == "milp" and title == "Pima" and name == "BAN"
                    part = chosen.iloc[:slow_count] if slow else chosen
                    found = measure(clf, part, budget, method, solver, time_limit)
                    if best is None:
                        best = [e.distance for e in found]
                    head = [title, name, budget, method, solver]
                    yield dict(zip(COLUMNS, head + summary(found, best), strict=True))
