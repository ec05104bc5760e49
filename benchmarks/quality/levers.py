"""Levers: few of them with distances along the graph and norm 1, and what that does to plausibility.

The tables, halves, classifiers (tree) and rows of the benchmark "worth"; budget 0.05, gap 1 %, whole=False,
10 seconds for a row. A lever is a feature that moves more than 0.005 standard deviations away from what its
parents predict in the factual's class, or a category that changes. "changed": features that change by more
than 0.005 standard deviations. "pulled": all pulls together, in conditional standard deviations, and 1 for
each changed category. "distance" is the default one (Mahalanobis, norm inf). "density percentile" is the
model's: the share of the target's training rows that are less typical; "density share", "10-LOF" and
"isolation forest" are those of the half that the model has not seen, as in "worth". Medians over the rows,
but for "isolation forest", a share; seconds are of CPU.

usage: python benchmarks/run.py [--resume] levers      (ROWS=25 and TABLES=Pima,WDBC in the environment)
"""

import os
import time

import numpy as np
import pandas as pd

from benchmarks.quality.worth import TABLES, Case, cpu_limits

KEY = ["table", "asked"]
COLUMNS = [
    *KEY, "rows", "found", "finished", "levers", "changed", "pulled", "distance", "density percentile",
    "density share", "10-LOF", "isolation forest", "seconds",
]  # fmt: skip
ASKED = {
    "default": {},
    "norm=1": {"norm": 1},
    'norm=1, whitening="dag"': {"norm": 1, "whitening": "dag"},
    'norm=1, whitening="dag", plausible=0.5': {"norm": 1, "whitening": "dag", "plausible": 0.5},
}
MOVED = 0.005


def rows(done=frozenset()):
    cpu_limits()
    for table in os.environ.get("TABLES", ",".join(TABLES)).split(","):
        left = [asked for asked in ASKED if (table, asked) not in done]
        case = Case(table, "tree") if left else None
        for asked in left:
            yield line(case, asked)


def line(case, asked):
    explainer = case.explainer.copy(**ASKED[asked])
    es, seconds = [], []
    for _, row in case.factuals.iterrows():
        start = time.process_time()
        es.append(explainer.explain(row, case.target, on_failure="return"))
        seconds.append(time.process_time() - start)
    found = [e for e in es if e.counterfactual is not None]
    counted = pd.DataFrame([counts(case, e) for e in found]).median()
    points = pd.DataFrame([e.counterfactual.to_list() for e in found], columns=case.X.columns)
    points = points.astype({c: t for c, t in case.X.dtypes.items() if t.kind not in "iuf"})
    judged = case.judges(points)
    return {
        "table": case.table,
        "asked": asked,
        "rows": len(es),
        "found": len(found),
        "finished": sum(e.status in ("optimal", "infeasible") for e in es),
        "levers": f"{counted['levers']:.0f}",
        "changed": f"{counted['changed']:.0f}",
        "pulled": f"{counted['pulled']:.2f}",
        "distance": f"{counted['distance']:.2f}",
        "density percentile": f"{counted['percentile']:.0f}",
        **{name: judged[name] for name in ("density share", "10-LOF", "isolation forest")},
        "seconds": f"{np.median(seconds):.3f}",
    }


def counts(case, e):
    """Levers by the factual class's own regressions, however the answer was asked for."""
    q = e.question
    network = case.clf.network(q.factual_class, q.state)
    moved = e.answer.point - q.factual
    pull = (moved - network.weights @ moved) / np.sqrt(network.variances)
    turned = sum(now != then for now, then in zip(e.answer.state, q.state, strict=True))
    unit = np.sqrt(np.diag(np.linalg.inv(network.precision)))
    return {
        "levers": (np.abs(pull) > MOVED).sum() + turned,
        "changed": (np.abs(moved) / unit > MOVED).sum() + turned,
        "pulled": np.abs(pull).sum() + turned,
        "distance": case.distance(e.factual, e.counterfactual),
        "percentile": e.density_percentile,
    }
