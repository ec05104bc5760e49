"""What the QCQP's coordinates buy: the same cutting sets with products of features, as in the paper, and with
squares along principal axes (master) and whitened coordinates (adversary). Budget 0.05, gap 0.01, medians of
three runs; one that is stopped at its limit of 20 s counts as 20 s.

usage: python benchmarks/run.py coordinates
"""

from unittest import mock

import numpy as np

from benchmarks.asking import CounterfactualExplainer
from surefoot.experiments.settings import classifier, data_set, factuals
from surefoot.search.paper.formulations import qcqp

COLUMNS = [
    "data", "structure", "p", "solver",
    "features: seconds", "features: unfinished", "principal: seconds", "principal: unfinished", "ratio",
    "largest difference",
]  # fmt: skip
CASES = (
    ("Banknote", "BAN", np.inf),
    ("Pima", "BAN", np.inf),
    ("Ionosphere", "TAN", np.inf),
    ("Ionosphere", "BAN, 2 parents", np.inf),
    ("Banknote", "BAN", 2.0),
    ("Pima", "BAN", 2.0),
    ("Ionosphere", "TAN", 2.0),
)
COUNT = 3
TIME_LIMIT = 20.0


def rows():
    for data, structure, p in CASES:
        for solver in ("scip", "gurobi"):
            values = [data, structure, f"{p:g}", solver, *compared(data, structure, p, solver)]
            yield dict(zip(COLUMNS, values, strict=True))


def compared(data, structure, p, solver):
    found = [cutting_sets(data, structure, p, solver, where) for where in ("features", "principal")]
    times = [float(np.median([min(e.seconds, TIME_LIMIT) for e in es])) for es in found]
    late = [sum(e.status != "optimal" for e in es) for es in found]
    both = [pair for pair in zip(*found, strict=True) if all(e.status == "optimal" for e in pair)]
    stopped = [seconds == TIME_LIMIT for seconds in times]
    ratio = f"{'at least ' if stopped[0] else ''}{times[0] / times[1]:.1f}"
    off = max((abs(a.distance / b.distance - 1) for a, b in both), default=np.nan)
    return (
        f"{times[0]:.2f}", late[0], f"{times[1]:.2f}", late[1],
        "" if stopped[1] else ratio, f"{off:.2%}" if both else "",
    )  # fmt: skip


def cutting_sets(data, structure, p, solver, coordinates):
    explainer = CounterfactualExplainer(
        classifier(data, structure),
        budget=0.05,
        norm=p,
        method="qcqp",
        backend=solver,
        bounds=None,
        whole=False,
        time_limit=TIME_LIMIT,
    )
    table = data_set(data).X
    with mock.patch.dict(qcqp.COORDINATES, {solver: coordinates}):
        return [
            explainer.explain(table.iloc[i], target=1, on_failure="return")
            for i in factuals(data, structure, COUNT)
        ]
