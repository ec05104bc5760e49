"""The paper's preset against an earlier checkout: distances of the same rows, in the paper's setting.

The other checkout runs in a process of its own with its settings written out (the whole space, any value,
norm inf, Cholesky coordinates). Structure TAN, 100 rows of each of the paper's data sets that are decided as
class 0, budgets 0 and 0.05. Different: rows whose distance or bound differs by more than 1e-9 of it.

usage: BEFORE=CHECKOUT python benchmarks/run.py paper_preset
"""

import json
import os
import subprocess
import sys

KEY = ["data", "budget"]
COLUMNS = ["data", "budget", "rows", "different", "largest difference"]
DATA, BUDGETS, ROWS, LIMIT = ("Banknote", "Pima", "Ionosphere"), (0.0, 0.05), 100, 1e-9
CODE = """
import json, sys
from surefoot import CounterfactualExplainer
from surefoot.experiments.settings import classifier, data_set, factuals
data, budget, rows, asked = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
explainer = CounterfactualExplainer(classifier(data, "TAN"), budget=budget, **asked)
X = data_set(data).X
found = [explainer.explain(X.iloc[k], 1, on_failure="return") for k in factuals(data, "TAN", rows)]
print(json.dumps([[e.distance, e.lower_bound] for e in found]))
"""
THEN, NOW = {"bounds": None, "whole": False, "noise_on": "all"}, {"preset": "paper"}


def distances(source, data, budget, asked):
    """Distances and bounds by the code of one checkout."""
    command = [sys.executable, "-c", CODE, data, str(budget), str(ROWS), json.dumps(asked)]
    own = {**os.environ, "PYTHONPATH": source}
    return json.loads(subprocess.run(command, capture_output=True, check=True, env=own).stdout)


def rows(done=frozenset()):
    before = os.environ.get("BEFORE")
    if not before:
        raise SystemExit("set BEFORE to the folder of the earlier checkout")
    for data in DATA:
        for budget in BUDGETS:
            if (data, f"{budget:g}") in done:
                continue
            then = distances(os.path.join(before, "src"), data, budget, THEN)
            now = distances("src", data, budget, NOW)
            off = [
                max(abs(a - b) / max(a, 1e-300) for a, b in zip(*pair, strict=True))
                for pair in zip(then, now, strict=True)
            ]
            yield {
                "data": data, "budget": f"{budget:g}", "rows": len(off),
                "different": sum(not one <= LIMIT for one in off), "largest difference": f"{max(off):.1e}",
            }  # fmt: skip
