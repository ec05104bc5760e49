"""Refused rows of a lender's table with actions: an earlier checkout next to this one.

German credit, resampled with noise; most features must stay, amount and duration may fall a little. Rows of
both checkouts are explained in turn, in portions, so that a busy machine slows both; seconds are of CPU, and
limits count in them. "same" says whether statuses, distances and counterfactuals are equal.

What is said of rows without an answer is not the same, and that is where the time goes: the earlier checkout
looks for an irreducible conflict (up to five seconds a row), this one only for constraints that stand in the
way by themselves; most of those that do not are ruled out by one bound for each state of the categories,
without a search. The searches for answers are not faster.

usage: BEFORE=CHECKOUT/src ROWS=2000 python benchmarks/run.py population
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

COLUMNS = ["who", "rows", "without an answer", "seconds of CPU", "times faster", "same"]
PORTION = 50
STAY = (
    "age", "personal_status", "foreign_worker", "residence_since", "dependents", "credit_history", "purpose",
    "employed_since", "job", "housing", "property", "loans_here", "telephone", "other_plans",
    "checking_account", "installment_rate",
)  # fmt: skip


def portion(start, count):
    """What a process of its own does: explain some rows, print what came of it."""
    time.perf_counter = time.process_time  # before anything takes it along
    import numpy as np

    import surefoot
    from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, datasets

    data = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(data.X, data.y)
    rng = np.random.default_rng(0)
    table = data.X.sample(8 * (start + count), replace=True, random_state=0).reset_index(drop=True)
    for name in ("credit_amount", "duration_months", "age"):
        noise = np.exp(rng.normal(0, 0.1, 200_000))[: len(table)]
        table[name] = (table[name] * noise).round().astype(int)
    rows = table[clf.predict(table) == "bad"].iloc[start : start + count]
    amounts = {
        "credit_amount": Action("fall", most=1000, step=100),
        "duration_months": Action("fall", most=12),
        "savings": Action(moves={"below 100 DM": ["100 to 500 DM"]}),
    }
    actions = Actions({**dict.fromkeys(STAY, "stay"), **amounts}, at_most=3)
    asked = {"budget": 0.05, "norm": 1, "whitening": "dag", "bounds": "data", "gap": 0.01, "actions": actions}
    is_new = hasattr(surefoot, "PRESETS")
    more = {"preset": "paper", "whole": None, "noise_on": "changeable"} if is_new else {}
    explainer = surefoot.CounterfactualExplainer(clf, **asked, **more)
    begun = time.process_time()
    if is_new:
        found = explainer.explain_table(rows, "good")
    else:
        found = explainer.explain_batch(rows, "good", progress=False).to_frame()
    seconds = time.process_time() - begun
    points = found[[name for name in found if name.startswith("counterfactual")]]
    told = points.astype(object).where(points.notna(), None).map(lambda v: float(v) if _is_number(v) else v)
    lines = [found["status"].tolist(), found["distance"].round(9).tolist(), told.to_numpy().tolist()]
    sys.stdout.write(json.dumps([seconds, lines]))


def _is_number(value):
    return isinstance(value, int | float) or hasattr(value, "dtype")


def explained(source, start, count):
    code = f"from benchmarks.speed.population import portion; portion({start}, {count})"
    env = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}.", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def rows():
    count = int(os.environ.get("ROWS", "2000"))
    sources = {"before": os.environ["BEFORE"], "now": str(Path("src").absolute())}
    totals, lines = dict.fromkeys(sources, 0.0), {who: [] for who in sources}
    for start in range(0, count, PORTION):
        for who, source in sources.items():
            seconds, found = explained(source, start, min(PORTION, count - start))
            totals[who] += seconds
            lines[who].append(found)
    without = sum(status == "infeasible" for found in lines["now"] for status in found[0])
    for who in sources:
        yield {
            "who": who,
            "rows": count,
            "without an answer": without,
            "seconds of CPU": f"{totals[who]:.1f}",
            "times faster": f"{totals['before'] / totals[who]:.2f}",
            "same": lines[who] == lines["before"],
        }
