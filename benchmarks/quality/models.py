"""One answer for fifty refits as well: against the plain search in the same run.

TAN networks, norm inf, budget 0.05, whole=False, ends of the data; the first rows that the model puts into
the other class. Seconds are CPU time of `explain` on one thread, without the fresh refits that judge. The
fifty refits are made once for all rows: their time stands in a column of its own. "finished" counts answers
that are optimal within the gap; one that is stopped by the limit (CPU time too) counts with what it took.
"holds" is the mean share of 100 fresh refits under which answers hold. The checker is given the models
and must accept every answer.

usage: python benchmarks/run.py [--resume] models
       (ROWS=10, LIMIT=60 and GAPS=0.01,0.001 in the environment)
"""

import os
import time

import numpy as np
import pandas as pd

from benchmarks import cpu_clock  # noqa: F401
from benchmarks.asking import CounterfactualExplainer
from surefoot import ConditionalGaussianNetworkClassifier, datasets, verify

COLUMNS = [
    "data", "towards", "asked", "gap", "rows", "finished", "accepted",
    "plain: median s", "models: median s", "slowest s", "ratio of medians", "median ratio", "largest ratio",
    "plain: holds", "models: holds", "plain: distance", "models: distance", "50 refits: s",
]  # fmt: skip
KEY = COLUMNS[:4]
ROWS, LIMIT = int(os.environ.get("ROWS", 10)), float(os.environ.get("LIMIT", 60))
GAPS = [float(gap) for gap in os.environ.get("GAPS", "0.01,0.001").split(",")]
REFITS, BUDGET = 50, 0.05
ASKED = {"models=50": {}, "models=50, plausible=0.5": {"plausible": 0.5}}

SIDES = [(data, k) for data in ("pima", "ionosphere") for k in (0, 1)]
CASES = [
    *((*side, asked, GAPS[0]) for asked in ASKED for side in SIDES),
    *((*side, "models=50", gap) for gap in GAPS[1:] for side in SIDES),
]
LOADERS = {"pima": datasets.load_pima, "ionosphere": datasets.load_ionosphere}


def rows(done=()):
    tables = {}
    for data, k, asked, gap in CASES:
        if (data, str(k), asked, str(gap)) in done:
            continue
        if data not in tables:
            tables[data] = Table(data)
        yield {"data": data, "towards": k, "asked": asked, "gap": gap, **tables[data].line(k, asked, gap)}


class Table:
    """A table, its classifier, and refits that all rows share."""

    def __init__(self, name):
        data = LOADERS[name]()
        self.X, self.data = data.X, (data.X, data.y)
        self.clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
        made, self.seconds = timed(self.explainer, models=REFITS)
        self.refits, self.fresh = made.refits.searched, made.refits.fresh

    def explainer(self, **settings):
        known = {"budget": BUDGET, "whole": False, "time_limit": LIMIT, "data": self.data}
        return CounterfactualExplainer(self.clf, **(known | settings))

    def line(self, k, asked, gap):
        target = self.clf.classes_[k]
        plain = self.explainer(gap=gap)
        many = self.explainer(gap=gap, models=list(self.refits), **ASKED[asked])
        many.refits.__dict__["fresh"] = ()  # judged here, apart from the search
        chosen = np.flatnonzero(self.clf.predict(self.X) != target)[:ROWS]
        plain.explain(self.X.iloc[chosen[0]], target)  # what is loaded once is not counted
        found = [self.pair(plain, many, self.X.iloc[i], target) for i in chosen]
        times = np.array([seconds for _, _, seconds in found])
        ratios = times[:, 1] / times[:, 0]
        median = np.median(times, axis=0)
        return {
            "rows": len(found),
            "finished": sum(str(e.status) in ("optimal", "infeasible") for _, e, _ in found),
            "accepted": sum(self.accepted(e) for _, e, _ in found),
            "plain: median s": f"{median[0]:.3f}",
            "models: median s": f"{median[1]:.3f}",
            "slowest s": f"{times[:, 1].max():.1f}",
            "ratio of medians": f"{median[1] / median[0]:.1f}",
            "median ratio": f"{np.median(ratios):.1f}",
            "largest ratio": f"{ratios.max():.1f}",
            "plain: holds": f"{self.holds([e for e, _, _ in found], target):.3f}",
            "models: holds": f"{self.holds([e for _, e, _ in found], target):.3f}",
            "plain: distance": f"{np.median([e.distance for e, _, _ in found]):.3f}",
            "models: distance": f"{np.median([e.distance for _, e, _ in found]):.3f}",
            "50 refits: s": f"{self.seconds:.2f}",
        }

    def pair(self, plain, many, row, target):
        e, one = timed(plain.explain, row, target, on_failure="return")
        f, other = timed(many.explain, row, target, on_failure="return")
        assert len(f.question.models) == 1 + REFITS, "the search must be about all refits"
        print(target, row.name, f"{f.status} {f.distance:.4f}", f"{one:.3f} s, {other:.3f} s", flush=True)
        return e, f, (one, other)

    def accepted(self, e):
        return verify(e, self.clf, models=self.refits).ok

    def holds(self, explanations, target):
        points = pd.DataFrame([e.counterfactual for e in explanations if e.counterfactual is not None])
        shares = [np.mean(model.predict(points) == target) for model in self.fresh]
        return float(np.mean(shares))


def timed(call, *arguments, **options):
    start = time.process_time()
    return call(*arguments, **options), time.process_time() - start
