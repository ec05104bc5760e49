"""Where no answer is as typical as asked: the largest share that is named, next to Gurobi's.

The tables, halves, classifiers (tree) and rows of the benchmark "worth", numbers only; budget 0.1,
whole=False, plausible=0.95, and only the features in whose means the classes differ most may change, so that
rows are refused. Gurobi maximises the least log density over the ball (most_typical.py), global within 1e-6.
"named" and "proved that none" are medians of what the advice says; "largest difference" is that of Gurobi's
share from the one named; "within": rows in which that is at most 1 % of the share (or 0.0005, if that is
more). "left open": rows in which time ran out before the share was known so well. Seconds are of CPU.

usage: python benchmarks/run.py [--resume] largest_share      (ROWS=25, TABLES=Pima,WDBC in the environment)
"""

import os
import re
import time

import numpy as np

from benchmarks.quality.most_typical import largest_share
from benchmarks.quality.worth import Case, cpu_limits

KEY = ["table", "may change"]
COLUMNS = [
    *KEY, "rows", "refused", "left open", "named", "proved that none", "Gurobi", "largest difference",
    "within", "seconds",
]  # fmt: skip
FREE = {"Pima": (3, 5), "Banknote": (2, 3), "Ionosphere": (5, 8), "WDBC": (5, 8)}
SHARE, BUDGET = 0.95, 0.1


def rows(done=frozenset()):
    cpu_limits()
    for table in os.environ.get("TABLES", ",".join(FREE)).split(","):
        case = Case(table, "tree")
        for free in FREE[table]:
            if (table, str(free)) not in done:
                yield line(case, free)


def line(case, free):
    means = case.X.groupby(np.asarray(case.y)).mean()
    apart = ((means.iloc[0] - means.iloc[1]) / case.X.std()).abs().sort_values()
    kept = list(apart.index[:-free])
    explainer = case.explainer.copy(plausible=SHARE, budget=BUDGET, immutable=kept)
    named, beyond, found, seconds, left_open = [], [], [], [], 0
    for _, row in case.factuals.iterrows():
        start = time.process_time()
        e = explainer.explain(row, case.target, on_failure="return")
        seconds.append(time.process_time() - start)
        words = re.search(r"reached is ([a-z ]+) ([\d.e-]+).*with plausible=([\d.e-]+) ", e.advice or "")
        if e.status == "infeasible" and words:
            left_open += words[1] == "at least"
            named.append(float(words[2]))
            beyond.append(float(words[3]))
            found.append(largest_share(case.clf, explainer.problem(row, case.target), case.target))
    named, beyond, found = map(np.array, (named, beyond, found))
    entry = {"table": case.table, "may change": free, "rows": len(case.factuals), "refused": len(named)}
    if not len(named):
        return dict.fromkeys(COLUMNS, "") | entry
    within = np.abs(found - named) <= np.maximum(0.01 * found, 0.0005)
    return entry | {
        "left open": left_open,
        "named": f"{np.median(named):.3f}",
        "proved that none": f"{np.median(beyond):.3f}",
        "Gurobi": f"{np.median(found):.3f}",
        "largest difference": f"{np.abs(found - named).max():.4f}",
        "within": f"{within.sum()} of {len(within)}",
        "seconds": f"{np.median(seconds):.3f}",
    }
